"""The options and the help of ``ycbench evaluate``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Final, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from ycbench_agents.cli.options import NO_DEFAULT, SEVERAL, Settings

__all__ = ["EVALUATION_COMMANDS"]

_Labels = Annotated[tuple[str, ...], SEVERAL, NO_DEFAULT, Parameter(name="--policy", metavar="NAME...")]
_Processes = Annotated[int | None, Parameter(validator=Number(gte=1), metavar="N")]
_Flag = Annotated[bool, NO_DEFAULT, Parameter(negative=())]


def _evaluate(  # noqa: PLR0913 -- one argument an option
    suite: str,
    /,
    *,
    out: Annotated[Path | None, Parameter(metavar="DIR")] = None,
    policy: _Labels = (),
    settings: Settings = (),
    processes: _Processes = None,
    backend: Literal["processes", "ray", "dask"] = "processes",
    address: Annotated[str | None, Parameter(metavar="ADDRESS")] = None,
    model: Annotated[str | None, Parameter(metavar="NAME")] = None,
    base_url: Annotated[str | None, Parameter(name="--base-url", metavar="URL")] = None,
    as_json: Annotated[bool, NO_DEFAULT, Parameter(name="--json", negative=())] = False,
    quiet: _Flag = False,
) -> int:
    """Play every episode of a suite, measure it, and print the leaderboard.

    Finished episodes are kept: the same command goes on after a kill or Ctrl-C, and tries again what failed.

    Args:
        suite: TOML file of a suite, or the name of one in configs.
        out: Folder of the evaluation; out/ and the suite's name where none is named.
        policy: Labels of the policies to play now; all where none is named.
        settings: Settings that go before all else, like world.num_employees=9.
        processes: How many episodes to play at once; one a processor where nothing is said.
        backend: Where to play: processes of this machine, or a cluster of Ray or Dask.
        address: Address of the cluster; the one of the environment, or a new one here, where none is named.
        model: Model of the policies llm for which the suite names none.
        base_url: Address of its server, for those for which the suite names none.
        as_json: Print strict JSON instead of the table.
        quiet: Show no progress.
    """
    from ycbench_agents.cli.evaluate import EvaluateRequest, evaluate_suite  # noqa: PLC0415 -- slow to import

    request = EvaluateRequest(
        suite, out, policy, settings, processes, backend, address, model, base_url, as_json, quiet
    )
    return evaluate_suite(request)


EVALUATION_COMMANDS: Final[tuple[tuple[Callable[..., int], str], ...]] = ((_evaluate, "evaluate"),)
"""The functions of the commands about evaluations, by the names of the commands."""
