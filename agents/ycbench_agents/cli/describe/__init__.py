"""``ycbench describe``: a world's staff, clients and market; its secrets on request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ycbench_agents.cli.console import print_parts
from ycbench_agents.cli.describe.tables import hidden_parts, visible_parts
from ycbench_agents.cli.describe.world import look_around, reveal

if TYPE_CHECKING:
    from ycbench_env import Config

__all__ = ["describe"]


def describe(config: Config, seed: int, *, limit: int, hidden: bool) -> int:
    """Print the world of a seed at its start and return the exit code.

    Args:
        config: The configuration.
        seed: Run seed.
        limit: How many tasks of the market to list.
        hidden: Whether to show what no agent may see, too.
    """
    from ycbench_env import YCBenchEnv  # noqa: PLC0415 -- slow to import, and --help does not need it

    env = YCBenchEnv(config)
    env.reset(seed=seed)
    view = look_around(env.clone(), limit)  # a clone, since even asking takes a turn
    parts = [*visible_parts(view), *(hidden_parts(reveal(env, view)) if hidden else ())]
    print_parts(*parts)
    return 0
