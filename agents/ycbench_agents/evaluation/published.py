"""Published results of language models, to set beside one's own (data/published.json has sources and caveats)."""

from __future__ import annotations

from importlib import resources

import attrs

from ycbench_agents.files import from_json


@attrs.frozen
class PublishedModel:
    """Published figures of one model, means over seeds 1 to 3; None where nothing was published."""

    name: str
    in_paper: bool  # the others were added to the public leaderboard later
    funds_usd: tuple[float, ...]  # mean funds in dollars by month, twelve values, January to December
    figure7_usd: float | None = None  # final funds in dollars as the paper's figure 7 prints them
    bankrupt: int | None = None  # bankrupt runs of 3 (table 4, as are the next five)
    cost_usd_mean: float | None = None  # cost of a run in dollars
    cost_usd_sd: float | None = None  # its standard deviation
    tokens_millions: float | None = None  # tokens of a run
    runtime_min_mean: float | None = None  # minutes of a run
    runtime_min_sd: float | None = None  # their standard deviation
    scratchpad_writes_per_100_turns: float | None = None  # table 3, as are the next three
    inspects_per_accept: float | None = None
    mean_concurrency: float | None = None
    commands_per_turn: float | None = None


@attrs.frozen
class Published:
    """Published results, where they come from, and what must be known to compare with them."""

    sources: tuple[str, ...]
    caveats: tuple[str, ...]
    models: tuple[PublishedModel, ...]  # the highest final funds first


def published() -> Published:
    """Return the published results that ship with this package."""
    path = "data/published.json"
    return from_json(resources.files("ycbench_agents.evaluation").joinpath(path).read_bytes(), Published, path)
