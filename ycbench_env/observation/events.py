"""Events as JSON for the agent. Source: answers (wake events)."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, assert_never

from ycbench_env.rules.clock import HOUR_US
from ycbench_env.rules.number import round_half_even
from ycbench_env.text import JsonObject, text_json, to_json
from ycbench_env.types.event import Event, HorizonEnd, MilestoneReached, PayrollPaid, TaskCompleted

_BOOL: Final = ("false", "true")


def wake_event(event: Event) -> JsonObject:
    """Return an event as a fresh JSON object."""
    match event:
        case TaskCompleted():
            return {
                "type": "task_completed",
                "task_id": event.task_id,
                "task_title": event.task_id,
                "client_name": event.client_name,
                "success": event.success,
                "funds_delta": event.funds_delta_cents,
                "listed_reward": event.listed_reward_cents,
                "trust_delta": event.trust_delta_milli / 1000,
                "deadline_margin": _margin(event.margin_us),
                "employees_assigned": event.team_size,
                "salary_bump_total_cents": event.salary_bump_cents,
                "bankrupt": event.bankrupt,
            }
        case MilestoneReached():
            return {"type": "task_half", "task_id": event.task_id, "milestone_pct": event.percent, "handled": True}
        case PayrollPaid():
            return {"type": "monthly_payroll", "funds_after": event.funds_after_cents}
        case HorizonEnd():
            return {"type": "horizon_end", "reached": True}
        case _:
            assert_never(event)


@lru_cache(maxsize=32)
def wake_json(event: Event) -> str:
    """Return an event as JSON; remembered, since both the answer and the events of a turn contain it."""
    if not isinstance(event, TaskCompleted):
        return to_json(wake_event(event))
    # Most turns end with this one; written out, it takes half the time.
    task_id, client = text_json(event.task_id), event.client_name
    return (
        f'{{"type":"task_completed","task_id":{task_id},"task_title":{task_id},'
        f'"client_name":{"null" if client is None else text_json(client)},"success":{_BOOL[event.success]},'
        f'"funds_delta":{event.funds_delta_cents},"listed_reward":{event.listed_reward_cents},'
        f'"trust_delta":{event.trust_delta_milli / 1000!r},"deadline_margin":"{_margin(event.margin_us)}",'
        f'"employees_assigned":{event.team_size},"salary_bump_total_cents":{event.salary_bump_cents},'
        f'"bankrupt":{_BOOL[event.bankrupt]}}}'
    )


def _margin(margin_us: int) -> str:
    """Return the margin to the deadline in whole hours of the calendar."""
    hours = round_half_even(abs(margin_us), HOUR_US)
    return f"late by {hours}h" if margin_us < 0 else f"ahead by {hours}h"
