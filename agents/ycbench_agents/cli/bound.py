"""``ycbench bound``: print what no policy can exceed, or no policy with so many accepts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ycbench_agents.cli.options import load_all, overrides_for_all, read_seeds
from ycbench_agents.cli.output import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ycbench_agents.planner import Bound
    from ycbench_env import Config

__all__ = ["bound"]


def bound(
    presets: Sequence[str], files: Sequence[Path], settings: Sequence[str], seeds: Sequence[str], accepts: int | None
) -> int:
    """Print the bounds of all configurations and seeds and return the exit code.

    Raises:
        UsageError: Something that was asked for cannot be used, or a configuration cannot be bounded.
    """
    from ycbench_agents.cli.options import print_overrides  # noqa: PLC0415 -- as above
    from ycbench_agents.cli.output import cell, dollars, new_table, print_parts  # noqa: PLC0415 -- imports rich

    configs, numbers = load_all(presets, files, settings), read_seeds(seeds)
    table = new_table("preset", ">seed", ">bound", ">rewards", ">payrolls", ">work", ">hours", gap=1)
    for label, config in configs.items():
        for seed in numbers:
            found = _bound(config, seed, accepts)
            money = (dollars(found.cents), dollars(found.gain_cents), dollars(found.payroll_cents))
            row = (label, seed, *money, f"{found.capacity_units:,.0f}", f"{found.hours:,.0f}")
            table.add_row(*[cell(value) for value in row])
    print_overrides(overrides_for_all(presets, files, settings, configs))
    whom = "no policy" if accepts is None else f"no policy that accepts at most {accepts:,} tasks, 999 in each slot,"
    print_parts(table, cell(f"{whom} ends with more, whatever it sees"))
    return 0


def _bound(config: Config, seed: int, accepts: int | None) -> Bound:
    from ycbench_agents.planner import upper_bound  # noqa: PLC0415 -- slow to import

    try:
        return upper_bound(config, seed, most_accepts=accepts)
    except ValueError as error:
        raise UsageError(str(error)) from None
