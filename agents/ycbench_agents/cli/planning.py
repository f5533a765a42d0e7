"""The options and the help of ``ycbench plan`` and ``ycbench bound``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Final

from cyclopts import Parameter
from cyclopts.validators import Number

from ycbench_agents.cli.options import Files, Presets, Seeds, Settings

__all__ = ["PLANNING_COMMANDS"]

_Budget = Annotated[float | None, Parameter(validator=Number(gt=0), metavar="SECONDS")]
_Rollouts = Annotated[int | None, Parameter(validator=Number(gte=1), metavar="N")]
_Accepts = Annotated[int | None, Parameter(validator=Number(gte=0), metavar="N")]


def _plan(  # noqa: PLR0913 -- one argument an option
    *,
    preset: Presets = (),
    config: Files = (),
    settings: Settings = (),
    seeds: Seeds = ("1",),
    budget: _Budget = None,
    rollouts: _Rollouts = None,
    out: Annotated[Path, Parameter(metavar="DIR")] = Path("plans"),
) -> int:
    """Search for the best plan of each episode, knowing all that is hidden: a yardstick, no policy.

    Each is saved as a list of commands that replays to its score. Ctrl-C keeps the best so far.

    Args:
        preset: Names of presets; default where nothing is named.
        config: TOML files of configurations.
        settings: Settings that go before all else, like world.max_open_tasks=8.
        seeds: Run seeds, like 1 2 3 or 1-3.
        budget: Seconds to search for each plan, 600 where nothing is said.
        rollouts: Rollouts for each plan instead of a time, for the same plan on any machine.
        out: Folder for the plans.
    """
    from ycbench_agents.cli.plan import PlanRequest, plan  # noqa: PLC0415 -- imports rich

    return plan(PlanRequest(preset, config, settings, seeds, budget, rollouts, out))


def _bound(
    *,
    preset: Presets = (),
    config: Files = (),
    settings: Settings = (),
    seeds: Seeds = ("1",),
    most_accepts: _Accepts = None,
) -> int:
    """Print an upper bound on the final funds: no policy ends with more, whatever it sees.

    Args:
        preset: Names of presets; default where nothing is named.
        config: TOML files of configurations.
        settings: Settings that go before all else, like world.max_open_tasks=8.
        seeds: Run seeds, like 1 2 3 or 1-3.
        most_accepts: Bound only policies with at most N accepts in all, and at most 999 in one market slot.
    """
    from ycbench_agents.cli.bound import bound  # noqa: PLC0415 -- as above

    return bound(preset, config, settings, seeds, most_accepts)


PLANNING_COMMANDS: Final[tuple[tuple[Callable[..., int], str], ...]] = ((_plan, "plan"), (_bound, "bound"))
"""The functions of both commands, by the names of the commands."""
