"""The market as an agent browses it: only what it could accept now, best paid first. Source: answers."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from ycbench_env.vocabulary import DOMAINS

if TYPE_CHECKING:
    from ycbench_env.observation.levels import JsonObject
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
    rows.sort(key=attrgetter("reward_cents"), reverse=True)  # stable: equal rewards stay in slot order
    offset, limit = page_bounds(state, command)
    return len(rows), rows[offset : offset + limit]


def page_bounds(state: State, command: BrowseMarket) -> tuple[int, int]:
    """Return offset and limit of a page, defaults filled in."""
    limit = state.config.world.market_browse_default_limit if command.limit is None else command.limit
    return command.offset or 0, limit


def _acceptable(state: State) -> list[MarketTask]:
    """Return the listed tasks that could be accepted now, in slot order."""
    trust = {client.name: client.trust_milli // 1000 for client in state.clients}
    floors = [milli // 1000 for milli in state.prestige_milli]
    rows: list[MarketTask] = []
    for task in state.market:
        if task.required_trust > trust[task.client_name]:
            continue
        needed = task.required_prestige
        for domain in task.domains:
            if floors[domain] < needed:
                break
        else:
            rows.append(task)
    return rows


def browse_market(state: State, command: BrowseMarket) -> JsonObject:
    """Return the answer to ``market browse``."""
    total, page = market_page(state, command)
    offset, limit = page_bounds(state, command)
    return {"total": total, "offset": offset, "limit": limit, "tasks": [_row(task) for task in page]}


def _row(task: MarketTask) -> JsonObject:
    quantities = sorted(zip(task.domains, task.quantities, strict=True)) if len(task.domains) > 1 else None
    return {
        "task_id": task.task_id,
        "client_name": task.client_name,
        "required_prestige": task.required_prestige,
        "required_trust": task.required_trust,
        "reward_funds_cents": task.reward_cents,
        "reward_prestige_delta": task.prestige_delta_milli / 1000,
        "skill_boost_pct": task.skill_boost_e4 / 10_000,
        "requirements": [
            {"domain": DOMAINS[domain], "required_qty": float(units)}
            for domain, units in quantities or ((task.domains[0], task.quantities[0]),)
        ],
    }
