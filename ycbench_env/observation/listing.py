"""The market as an agent browses it: only what it could accept now, best paid first. Source: answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ycbench_env.vocabulary import DOMAINS

if TYPE_CHECKING:
    from ycbench_env.json_text import JsonObject
    from ycbench_env.types.command import BrowseMarket
    from ycbench_env.types.state import MarketTask, State

__all__ = ["browse_market", "market_page"]


def market_page(state: State, command: BrowseMarket) -> tuple[int, list[MarketTask]]:
    """Return how many listed tasks match and the page of them that was asked for."""
    rows = _acceptable(state)
    if command.domain is not None:
        domain = DOMAINS.index(command.domain)
        rows = [task for task in rows if domain in task.domains]
    if command.reward_min_cents is not None:
        rows = [task for task in rows if task.reward_cents >= command.reward_min_cents]
    offset, limit = page_bounds(state, command)
    return len(rows), rows[offset : offset + limit]


def page_bounds(state: State, command: BrowseMarket) -> tuple[int, int]:
    """Return offset and limit of a page, defaults filled in."""
    limit = state.config.world.market_browse_default_limit if command.limit is None else command.limit
    return command.offset or 0, limit


def _acceptable(state: State) -> list[MarketTask]:
    """Return the listed tasks that could be accepted now, best paid first."""
    trust = {client.name: client.trust_milli // 1000 for client in state.clients}
    floors = [milli // 1000 for milli in state.prestige_milli]
    return [
        task
        for _, first, others, prestige, needed_trust, client_name, task in state.gates
        if prestige <= floors[first]
        and (not needed_trust or needed_trust <= trust[client_name])
        and (not others or all(prestige <= floors[domain] for domain in others))
    ]


def browse_market(state: State, command: BrowseMarket) -> tuple[JsonObject, str]:
    """Return the answer to ``market browse``, and the same as JSON."""
    total, page = market_page(state, command)
    offset, limit = page_bounds(state, command)
    rows = ",".join([task.listing_json for task in page])
    return (
        {"total": total, "offset": offset, "limit": limit, "tasks": [task.listing() for task in page]},
        f'{{"total":{total},"offset":{offset},"limit":{limit},"tasks":[{rows}]}}',
    )
