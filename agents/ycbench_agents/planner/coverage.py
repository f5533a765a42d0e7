"""Which rules planner and bound know: the settings that their arguments rest on, in one list.

Both read the state, so hidden rates and any way of drawing a staff are no matter. What is listed here is what they
take for granted of replacements, gates, deadlines, payrolls and raises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable

    from ycbench_env import Config
    from ycbench_env.config import WorldConfig

__all__ = ["uncovered_by_bound", "uncovered_by_planner"]

_LEAST_WORK: Final = 200


@attrs.frozen
class _Premise:
    """A setting of ``[world]``, what is taken for granted of it, and a value that makes it so."""

    setting: str
    holds: Callable[[WorldConfig], bool]
    expected: str
    value: str


_SHARED: Final = (
    _Premise("num_clients", lambda world: world.num_clients > 0, "at least 1", "6"),
    _Premise("replacement_prestige", lambda world: world.replacement_prestige == "same", "same", "same"),
    _Premise(
        "task_draw_order", lambda world: world.task_draw_order == "prestige_first", "prestige_first", "prestige_first"
    ),
    _Premise("min_task_qty", lambda world: world.min_task_qty >= _LEAST_WORK, "at least 200", "200"),
    _Premise(
        "salary_raise_basis",
        lambda world: world.salary_raise_basis == "tier_midpoint",
        "tier_midpoint",
        "tier_midpoint",
    ),
    _Premise("resume_stops_at_payroll", lambda world: world.resume_stops_at_payroll, "true", "true"),
)
_OF_BOUND: Final = (
    *_SHARED,
    _Premise("skill_rate_max", lambda world: world.skill_rate_max != "none", "a number", "10"),
)
_OF_PLANNER: Final = (
    *_SHARED,
    _Premise("min_task_qty", lambda world: world.min_task_qty <= _LEAST_WORK, "200", "200"),
    _Premise("replacement_numbering", lambda world: world.replacement_numbering == "slot", "slot", "slot"),
    _Premise(
        "prestige_gate", lambda world: world.prestige_gate == "required_domains", "required_domains", "required_domains"
    ),
    _Premise("deadline_basis", lambda world: world.deadline_basis == "largest", "largest", "largest"),
)


def uncovered_by_bound(config: Config) -> str | None:
    """Return why the argument of the bound does not hold for a configuration, None where it does."""
    return _uncovered("bound", config, _OF_BOUND)


def uncovered_by_planner(config: Config) -> str | None:
    """Return which rules of a configuration the planner does not know, None where it knows all."""
    return _uncovered("planner", config, _OF_PLANNER)


def _uncovered(whose: str, config: Config, premises: tuple[_Premise, ...]) -> str | None:
    broken = [premise for premise in premises if not premise.holds(config.world)]
    if not broken:
        return None
    got = ", ".join(
        f"world.{premise.setting} = {_told(getattr(config.world, premise.setting))} (expected {premise.expected})"
        for premise in broken
    )
    remedy = " ".join(f"--set world.{premise.setting}={premise.value}" for premise in broken)
    return f"{whose}: it does not know the rules of {config.name!r}: got {got}; use default or reference, or {remedy}"


def _told(value: object) -> str:
    """Return a value as a configuration file has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
