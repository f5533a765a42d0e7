"""Published results of language models, to set beside one's own (data/published.json has sources and caveats)."""

from __future__ import annotations

from importlib import resources
from typing import Final

import attrs

from ycbench_agents.files import from_json


@attrs.frozen
class PublishedModel:
    """Published figures of one model, means over seeds 1 to 3; None where nothing was published.

    Args:
        name: Name of the model.
        in_paper: Whether it is one of the paper's; the others were added to the public leaderboard later.
        funds_usd: Mean funds in dollars by month, twelve values, January to December.
        figure7_usd: Final funds in dollars as the paper's figure 7 prints them.
        bankrupt: Bankrupt runs of 3 (table 4, as are the next five).
        cost_usd_mean: Cost of a run in dollars.
        cost_usd_sd: Its standard deviation.
        tokens_millions: Tokens of a run.
        runtime_min_mean: Minutes of a run.
        runtime_min_sd: Their standard deviation.
        scratchpad_writes_per_100_turns: See table 3, as for the next three.
        inspects_per_accept: Inspected tasks for each accepted one.
        mean_concurrency: Active tasks.
        commands_per_turn: Commands of a turn.
    """

    name: str
    in_paper: bool
    funds_usd: tuple[float, ...]
    figure7_usd: float | None = None
    bankrupt: int | None = None
    cost_usd_mean: float | None = None
    cost_usd_sd: float | None = None
    tokens_millions: float | None = None
    runtime_min_mean: float | None = None
    runtime_min_sd: float | None = None
    scratchpad_writes_per_100_turns: float | None = None
    inspects_per_accept: float | None = None
    mean_concurrency: float | None = None
    commands_per_turn: float | None = None


@attrs.frozen
class Published:
    """Published results.

    Args:
        sources: Where they come from.
        caveats: What must be known to compare with them.
        models: The models, the highest final funds first.
    """

    sources: tuple[str, ...]
    caveats: tuple[str, ...]
    models: tuple[PublishedModel, ...]


_FILE: Final = "data/published.json"


def published() -> Published:
    """Return the published results that ship with this package."""
    return from_json(resources.files("ycbench_agents.evaluation").joinpath(_FILE).read_bytes(), Published, _FILE)
