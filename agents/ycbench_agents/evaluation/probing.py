"""Asking a process of its own about a policy that somebody else wrote, whose code must not run in the sweep's."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Final

from ycbench_agents.evaluation.limits import limited_memory
from ycbench_agents.evaluation.player import Player, waits_for_answers
from ycbench_agents.evaluation.worker import begin_worker
from ycbench_agents.records import RecordError
from ycbench_agents.records.strict_json import Table, decode, encode, plain
from ycbench_agents.registry import PolicyError, make_policy
from ycbench_agents.scripted.mixture import named_policies

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ycbench_agents.base import Json, JsonObject
    from ycbench_agents.evaluation.suite import Limits, Suite, SuitePolicy

__all__ = ["is_own", "main", "own_player", "own_players"]

_COMMAND: Final = (sys.executable, "-m", "ycbench_agents.evaluation.probing")
_MOST_S: Final = 60.0  # whoever needs longer to make a policy is not asked any further
_MIXTURE: Final = "mixture"


def is_own(policy: SuitePolicy) -> bool:
    """Return whether a policy is somebody's own class in a module, or a mixture that has such a one."""
    inner = named_policies(policy.parameters) if policy.name == _MIXTURE else ()
    return any(":" in name and not name.startswith("__main__:") for name in (policy.name, *inner))


def own_players(suite: Suite, import_path: Sequence[str]) -> dict[str, Player]:
    """Return who plays the rows of a suite that somebody else wrote, by label.

    Args:
        suite: The suite.
        import_path: Folders in which their modules may lie.

    Raises:
        PolicyError: There is no such policy, or it refuses a parameter.
    """
    return {policy.label: own_player(policy, import_path, suite.limits) for policy in suite.policies if is_own(policy)}


def own_player(policy: SuitePolicy, import_path: Sequence[str], limits: Limits) -> Player:
    """Return who plays a policy that somebody else wrote.

    Another process makes it once, within the limits of an episode and a minute at most. Where that gives no answer the
    policy plays all the same: what is wrong with it is told of its episodes.

    Args:
        policy: Row of the suite.
        import_path: Folders in which its module may lie.
        limits: What an episode may use.

    Raises:
        PolicyError: There is no such policy, or it refuses a parameter.
    """
    parameters = plain(policy.parameters, "parameters")
    folders: list[Json] = [*import_path]
    asked: JsonObject = {
        "name": policy.name,
        "parameters": parameters,
        "import_path": folders,
        "memory_mib": limits.memory_mib,
    }
    told = _answer(asked, min(float(limits.seconds), _MOST_S))
    if told is not None and (refused := told.optional("refused", str)) is not None:
        msg = f"policy {policy.label!r} of the suite: {refused}"
        raise PolicyError(msg)
    return Player(
        make=lambda: make_policy(policy.name, **policy.parameters),
        settings={"parameters": parameters},
        deliberates=told is not None and told.get("deliberates", bool),
    )


def _answer(asked: JsonObject, seconds: float) -> Table | None:
    """Return what another process says of a policy, None where it says nothing."""
    command = (*_COMMAND, str(os.getpid()))
    try:
        done = subprocess.run(  # noqa: S603 -- own words
            command, input=encode(asked).encode(), stdout=subprocess.PIPE, check=False, timeout=seconds
        )
        return Table.of(decode(done.stdout, "policy"), "policy")
    except (subprocess.TimeoutExpired, RecordError):
        return None


def main() -> None:
    """Make the policy that stdin tells, and say on what was stdout what came of it."""
    asked = Table.of(decode(sys.stdin.buffer.read(), "stdin"), "stdin")
    with os.fdopen(os.dup(1), "wb") as answers:
        begin_worker(int(sys.argv[1]))
        sys.path.extend(str(folder) for folder in asked.items("import_path") if folder not in sys.path)
        # Whatever it raises, its episodes will raise as well, and tell.
        with contextlib.suppress(BaseException), limited_memory(asked.get("memory_mib", int)):
            answers.write(encode(_made(asked.get("name", str), asked.table("parameters").values)).encode("ascii"))


def _made(name: str, parameters: JsonObject) -> JsonObject:
    try:
        policy = make_policy(name, **parameters)
    except PolicyError as error:
        return {"refused": None if _is_of_the_class(error) else str(error), "deliberates": False}
    return {"refused": None, "deliberates": waits_for_answers(policy)}


def _is_of_the_class(error: PolicyError) -> bool:
    """Return whether a class itself raised what a mixture tells, which is told of its episodes then."""
    cause: BaseException | None = error
    while isinstance(cause, PolicyError):
        cause = cause.__cause__
    return isinstance(cause, ValueError)


if __name__ == "__main__":
    main()
    sys.stderr.flush()
    os._exit(0)  # a thread of a policy may never end
