"""The market as an agent browses it: what it could accept now, or all of it, best paid first. Source: answers, K-3."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ycbench_env.vocabulary import DOMAINS

if TYPE_CHECKING:
    from ycbench_env.text import JsonObject
    from ycbench_env.types.command import BrowseMarket
    from ycbench_env.types.state import MarketTask, State

__all__ = ["MarketPage", "browse_market", "market_page"]


class MarketPage(NamedTuple):
    """A page of the market.

    Args:
        total: How many listed tasks match.
        offset: How many of them come before the page.
        limit: How many the page may have.
        tasks: The page.
    """

    total: int
    offset: int
    limit: int
    tasks: list[MarketTask]


def market_page(state: State, command: BrowseMarket) -> MarketPage:
    """Return the page that was asked for of the listed tasks that match, by default of those acceptable now.

    Source: answers (market browse), K-3.
    """
    shows_all = state.config.world.market_browse_scope == "all"
    rows = list(state.market_by_reward) if shows_all else _acceptable(state)
    if command.domain is not None:
        domain = DOMAINS.index(command.domain)
        rows = [task for task in rows if domain in task.domains]
    if command.reward_min_cents is not None:
        rows = [task for task in rows if task.reward_cents >= command.reward_min_cents]
    if command.required_prestige_lte is not None:
        rows = [task for task in rows if task.required_prestige <= command.required_prestige_lte]
    offset = command.offset or 0
    limit = state.config.world.market_browse_default_limit if command.limit is None else command.limit
    return MarketPage(len(rows), offset, limit, rows[offset : offset + limit])


def _acceptable(state: State) -> list[MarketTask]:
    """Return the listed tasks that could be accepted now, best paid first."""
    trust: dict[str | None, int] = {client.name: client.trust_milli // 1000 for client in state.clients}
    floors = [milli // 1000 for milli in state.counted_prestige_milli]
    return [
        task
        for _, first, others, prestige, needed_trust, client_name, task in state.gates
        if prestige <= floors[first]
        and (not needed_trust or needed_trust <= trust[client_name])
        and (not others or all(prestige <= floors[domain] for domain in others))
    ]


def browse_market(state: State, command: BrowseMarket) -> tuple[JsonObject, str]:
    """Return the answer to ``market browse``, and the same as JSON."""
    total, offset, limit, tasks = market_page(state, command)
    rows = ",".join([task.listing_json for task in tasks])
    return (
        {"total": total, "offset": offset, "limit": limit, "tasks": [task.listing() for task in tasks]},
        f'{{"total":{total},"offset":{offset},"limit":{limit},"tasks":[{rows}]}}',
    )
