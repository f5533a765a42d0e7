"""What an advance of time should have made of levels, staff and work, worked out a second time from the rules pages.

Exact fractions and plain dates instead of the kernels of ``ycbench_env.rules``; slow, and independent of them. Only the
forecasts are taken as they are: when time stops is given, what happened until then is computed.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from ycbench_env.config import WorldConfig
from ycbench_env.types.state import Employee, State, Task
from ycbench_env.units import EPOCH

__all__ = ["Stretch", "levels_after", "pay_and_skills_after", "stretches", "trust_after", "work_after", "work_rates"]

_HOUR_US = 3_600_000_000
_DAY_US = 24 * _HOUR_US
_WEEKEND = 5  # the first weekday that is none


class Stretch(NamedTuple):
    """A stretch of time at the end of which figures are stored: up to a payroll, or to where time stopped."""

    start_us: int
    end_us: int


def stretches(before: State, after: State) -> list[Stretch]:
    """Returns the stretches of one advance. Source: Y-5.3, K-2.4."""
    ends = [*before.calendar.payrolls_us[before.payrolls_charged : after.payrolls_charged], after.now_us]
    return [Stretch(start, end) for start, end in zip([before.now_us, *ends[:-1]], ends, strict=True)]


def _stored(exact: Fraction, places: int) -> int:
    """Returns an exact value as it is stored, in its last place. Source: Y-7."""
    return round(Fraction(f"{float(exact):.{places}f}") * 10**places)


def _decimal(value: float) -> Fraction:
    return Fraction(repr(value))


# ---- prestige and trust


def levels_after(before: State, after: State, completed: list[Task]) -> list[int]:
    """Returns prestige in each domain, in 1/1,000, after decay and completions. Source: Y-5.3, Y-5.5, K-2.3."""
    world = before.config.world
    least, most = _decimal(world.prestige_min), _decimal(world.prestige_max)
    daily = _decimal(world.prestige_decay_per_day)
    levels = list(before.prestige_milli)
    for stretch in stretches(before, after) if daily else ():
        lost = daily * Fraction(stretch.end_us - stretch.start_us, _DAY_US)
        levels = [_stored(max(least, Fraction(level, 1000) - lost), 3) for level in levels]
    for task in completed:
        delta = Fraction(task.offer.prestige_delta_milli, 1000)
        if task.status == "completed_fail":
            delta *= -_decimal(world.penalty_fail_multiplier)
        for domain in task.offer.domains:
            levels[domain] = _stored(min(most, max(least, Fraction(levels[domain], 1000) + delta)), 3)
    return levels


def trust_after(before: State, after: State, completed: list[Task]) -> tuple[dict[str, int], list[int]]:
    """Returns the trust of each client and what each completion changed with its own, in 1/1,000. Source: Y-5.3, Y-5.5.

    In doubles, but for the loss in time, whose decimal text is subtracted exactly (Y-7).
    """
    world = before.config.world
    trust = {client.name: client.trust_milli / 1000 for client in before.clients}
    deltas: list[int] = []
    for stretch in stretches(before, after):
        lost = world.trust_decay_per_day * ((stretch.end_us - stretch.start_us) / _DAY_US)
        trust = {name: max(0.0, _stored(_decimal(level) - _decimal(lost), 3) / 1000) for name, level in trust.items()}
    for task in completed:
        own = task.offer.client_name
        old = dict(trust)
        for name, level in old.items():
            if name != own:
                now = max(0.0, level - world.trust_cross_decay)
            elif task.status == "completed_fail":
                now = max(0.0, level - world.trust_fail_penalty)
            else:
                now = min(world.trust_max, level + world.trust_gain_base * (1 - level / world.trust_max) ** 1.5)
            trust[name] = round(now, 3)
        deltas.append(0 if own is None else round(trust[own] * 1000) - round(old[own] * 1000))
    return {name: round(level * 1000) for name, level in trust.items()}, deltas


# ---- staff


def pay_and_skills_after(before: State, completed: list[Task]) -> list[tuple[int, tuple[int, ...]]]:
    """Returns salary and rates of each employee after the successes among completions. Source: Y-5.5, K-2.3."""
    world = before.config.world
    pay = [employee.salary_cents for employee in before.employees]
    rates = [list(employee.rates_e4) for employee in before.employees]
    for task in completed:
        if task.status == "completed_fail":
            continue
        team = [member.employee - 1 for member in task.team]
        for place in team:
            pay[place] = _raised(world, before.employees[place], pay[place])
        for domain in task.offer.domains if task.offer.skill_boost_e4 else ():
            ranked = sorted(team, key=lambda place, domain=domain: (-rates[place][domain], place))
            for place in ranked[: _counted(world)]:
                grown = Fraction(rates[place][domain], 10_000) * (1 + Fraction(task.offer.skill_boost_e4, 10_000))
                rates[place][domain] = _capped_rate(world, grown)
    return [(salary, tuple(row)) for salary, row in zip(pay, rates, strict=True)]


def _raised(world: WorldConfig, employee: Employee, salary: int) -> int:
    """Returns a salary after a raise."""
    tier = {"junior": world.salary_junior, "mid": world.salary_mid, "senior": world.salary_senior}[employee.tier]
    compounds = world.salary_raise_basis == "current_salary"
    raised = salary + int((salary if compounds else (tier.min_cents + tier.max_cents) // 2) * world.salary_bump_pct)
    most = 10**12 if world.salary_max_cents == "none" else world.salary_max_cents
    return max(salary, min(raised, most))


def _capped_rate(world: WorldConfig, grown: Fraction) -> int:
    most = 10**300 if world.skill_rate_max == "none" else round(_decimal(world.skill_rate_max) * 10_000)
    return min(_stored(grown, 4), most)


def _counted(world: WorldConfig) -> int | None:
    """Returns how many of a team count, None for all. Source: Y-5.1, K-2.2."""
    return None if world.efficient_team_size == "none" else world.efficient_team_size


# ---- work


def work_rates(state: State, task: Task) -> list[Fraction]:
    """Returns the rate of an active task in each of its domains, in 1/10,000 an hour. Source: Y-5.1, K-2.2."""
    busy = [member.employee for other in state.tasks if other.status == "active" for member in other.team]
    team = [(state.employees[member.employee - 1], busy.count(member.employee)) for member in task.team]
    rates: list[Fraction] = []
    for domain in task.offer.domains:
        parts = sorted((Fraction(one.rates_e4[domain], shared) for one, shared in team), reverse=True)
        rates.append(sum(parts[: _counted(state.config.world)], Fraction(0)))
    return rates


def work_after(before: State, after: State, task: Task) -> list[int]:
    """Returns the work done in each domain of an active task, in 1/10,000, when time stops. Source: Y-6, Y-7, K-2.4."""
    rates = work_rates(before, task)
    done = list(task.done_e4)
    for stretch in stretches(before, after):
        hours = Fraction(sum(_worked_us(before, stretch)), _HOUR_US)
        gained = [Fraction(part) + rate * hours for part, rate in zip(done, rates, strict=True)]
        done = [
            min(whole, _stored(part / 10_000, 4)) if part < whole else whole
            for part, whole in zip(gained, task.required_e4, strict=True)
        ]
    return done


def _worked_us(state: State, stretch: Stretch) -> Iterator[int]:
    """Yields what counts as worked on each day of a stretch. Source: Y-6."""
    calendar = state.calendar
    to_midnight = state.config.world.accrual == "until_midnight"
    for day in range(stretch.start_us // _DAY_US, stretch.end_us // _DAY_US + 1):
        midnight_us = day * _DAY_US
        if (EPOCH + dt.timedelta(days=day)).weekday() >= _WEEKEND:
            continue
        begin_us = max(stretch.start_us, midnight_us + calendar.open_us)
        whole_day = to_midnight and stretch.end_us >= midnight_us + _DAY_US
        end_us = midnight_us + _DAY_US if whole_day else min(stretch.end_us, midnight_us + calendar.close_us)
        yield max(0, end_us - begin_us)
