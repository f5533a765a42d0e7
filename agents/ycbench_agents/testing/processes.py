"""The same policy in several processes, which hash and keep time differently.

``python -m ycbench_agents.testing.processes`` is one of them: it plays what it reads from stdin, as JSON, and
writes the turns to stdout.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final, cast

from ycbench_agents.registry import make_policy
from ycbench_agents.testing.conformance import PolicyConformanceError, Student, play
from ycbench_env import load_config
from ycbench_env.text import shown

_TIME_ZONES: Final = ("UTC", "Pacific/Apia")
_LAST_LINES: Final = 5


def check_policy_in_processes(  # noqa: PLR0913 -- all but the first are optional
    reference: str,
    *,
    parameters: Mapping[str, object] | None = None,
    seeds: Sequence[int] = (1, 2),
    config: Any = "default",  # noqa: ANN401 -- anything that load_config takes
    max_turns: int | None = 200,
    hash_seeds: Sequence[int] = (0, 1, 4711),
) -> None:
    """Play a policy in a process for each hash seed, and raise an AssertionError where its turns differ.

    Args:
        reference: A registered name or ``module:Class``, since a process makes its own.
        parameters: Parameters of the policy, plain JSON values.
        seeds: Run seeds to play.
        config: Anything that ``load_config`` takes.
        max_turns: Turns to play of each seed, None for whole episodes.
        hash_seeds: Values of PYTHONHASHSEED, on which the order of sets of texts depends; at least two.

    Raises:
        PolicyConformanceError: Its turns differ between processes, or it breaks the contract there.
        ConfigError: The configuration cannot be used.
    """
    if len(set(hash_seeds)) < 2:  # noqa: PLR2004 -- there is nothing to compare one with
        msg = f"hash_seeds: got {hash_seeds!r}, expected at least two that differ, like (0, 1)"
        raise ValueError(msg)
    request = json.dumps(
        {
            "policy": reference,
            "parameters": dict(parameters or {}),
            "seeds": list(seeds),
            "config": load_config(config).to_dict(),
            "max_turns": max_turns,
        },
        default=str,
    )
    one, *others = [_played(request, hash_seed, _TIME_ZONES[place % 2]) for place, hash_seed in enumerate(hash_seeds)]
    for hash_seed, other in zip(hash_seeds[1:], others, strict=True):
        for seed, one_turns, other_turns in zip(seeds, one, other, strict=True):
            for number, (first, second) in enumerate(zip_longest(one_turns, other_turns), 1):
                if first != second:
                    msg = (
                        f"{reference}, seed {seed}, turn {number}: {shown(first)} with PYTHONHASHSEED={hash_seeds[0]}, "
                        f"{shown(second)} with {hash_seed}; sort a set before walking through it, and use no hash() or "
                        "id()"
                    )
                    raise PolicyConformanceError(msg)


def _played(request: str, hash_seed: int, zone: str) -> list[list[object]]:
    """Return the turns of each seed in a process of its own."""
    environ = {
        **os.environ,
        "PYTHONHASHSEED": str(hash_seed),
        "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path),  # noqa: PTH109 -- a text is wanted
        "TZ": zone,
    }
    done = subprocess.run(
        [sys.executable, "-m", "ycbench_agents.testing.processes"],
        input=request,
        capture_output=True,
        encoding="utf-8",
        env=environ,
        check=False,
    )
    if done.returncode:
        last = "\n".join(done.stderr.strip().splitlines()[-_LAST_LINES:])
        msg = f"a process with PYTHONHASHSEED={hash_seed} failed:\n{last}"
        raise PolicyConformanceError(msg)
    return cast("list[list[object]]", json.loads(done.stdout))


def _main() -> None:
    request: dict[str, Any] = json.load(sys.stdin)
    answers, sys.stdout = sys.stdout, sys.stderr  # a policy may print
    config = load_config(request["config"], environ={})
    student = Student(lambda: make_policy(request["policy"], **request["parameters"]), allow_invalid=True)
    json.dump([play(student, config, seed, request["max_turns"]).turns for seed in request["seeds"]], answers)


if __name__ == "__main__":
    _main()
