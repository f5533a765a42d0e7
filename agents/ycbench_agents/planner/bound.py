"""An upper bound on the final funds of one episode: no policy exceeds it, whatever it sees.

The argument, to whose eight steps comments refer, is in docs/policies.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray

from ycbench_agents.planner.foresight import (
    DAY_US,
    E4,
    HOUR_US,
    LEAST_WORK,
    MOST_WORK,
    PASSES_A_SLOT,
    Foresight,
    PlannerError,
    check_covered,
    inflation,
)
from ycbench_env import Config, State, initial_state
from ycbench_env.config import Constant, Distribution, WorldConfig
from ycbench_env.errors import needs_extra
from ycbench_env.types import Client, MarketTask

MOST_ACCEPTS_A_SLOT: Final = PASSES_A_SLOT + 1
"""How often a slot may be accepted where the number of accepts is limited."""

# Rules of the world.
_MOST_TRUST: Final = 4  # levels of trust that an offer may require
_ROUNDED_UP: Final = 0.5e-4  # units that a stop of the clock adds to a task's work at most: half the last place stored
_STORED: Final = 1e-4  # units an hour, or of a boost; a stored rate may be rounded up by half of it
# Of the computation.
_MARGIN: Final = 1e-9  # share added to sums, far above what doubles lose in them
_ROUNDS: Final = 60  # most iterations for the number of tasks that rounding makes possible
_MOST_STEPS: Final = 60  # successes after which a growing rate is taken to be at its cap
_STEPS: Final = 26  # of a golden-section search
_GOLDEN: Final = (5**0.5 - 1) / 2  # its ratio


@attrs.frozen
class Bound:
    """What no policy exceeds, with its parts."""

    cents: int  # the bound on final funds
    payroll_cents: int  # what all payrolls take at least
    gain_cents: int  # what rewards, less raises, can bring at most
    capacity_units: float  # work that can be done at most
    hours: float  # hours that can count at most


def upper_bound(
    config: Config,
    seed: int,
    *,
    most_accepts: int | None = None,
    most_unfinished: int | None = None,
    foresight: Foresight | None = None,
) -> Bound:
    """Return what no policy exceeds in one episode, whatever it sees; docs/policies.md says why.

    Args:
        config: The resolved configuration.
        seed: Run seed of the episode.
        most_accepts: Bound only policies that accept at most so many tasks, and at most 999 in each slot; None for all.
        most_unfinished: Bound only policies that complete all but so many of the tasks that they accept; None for all.
        foresight: The future market of this episode, to look at it once for several bounds; None to make it.

    Raises:
        PlannerError: The argument does not hold for this configuration, a limit is negative, or both are given.
        MissingExtraError: scipy is not installed.
        SeedError: The seed is no non-negative integer.
    """
    limits = [limit for limit in (most_accepts, most_unfinished) if limit is not None]
    if len(limits) > 1 or any(limit < 0 for limit in limits):
        got = f"most_accepts={most_accepts}, most_unfinished={most_unfinished}"
        msg = f"bound: got {got}, expected at most one number, of at least 0"
        raise PlannerError(msg)
    check_covered("bound", config)
    start = initial_state(config, seed)
    kinds = _kinds_of(start)
    slack = _rounding_slack(start)
    works = [_least_work_of(start, offer) for offer in start.market] + [kind.work for kind in kinds]
    capacity = capacity_of(start, min(works, default=LEAST_WORK) - slack)
    loop = start.config.loop
    payroll = 0  # nothing where an episode may be over before payrolls are due
    if loop.max_turns is None and loop.auto_advance_after_turns:
        payroll = sum([employee.salary_cents for employee in start.employees]) * len(start.calendar.payrolls_us)
    if limits:
        market = foresight or Foresight(start)
        gain = _gain_of_known(market, start, capacity[-1], slack, limits[0], accepts=most_unfinished is None)
    else:
        rewards = [offer.reward_cents for offer in start.market] + [kind.reward_cents for kind in kinds]
        least_raise = _least_raise(start, capacity[-1]) if payroll else 0
        gain = _programme(rewards, [work - slack for work in works], len(start.market), capacity, least_raise).limit()
    gain_cents = math.ceil(gain)
    return Bound(
        cents=max(-1, start.funds_cents + gain_cents - payroll),
        payroll_cents=payroll,
        gain_cents=gain_cents,
        capacity_units=capacity[-1],
        hours=_hours(start)[-1],
    )


def _rounding_slack(start: State) -> float:
    """Return how much of a completed task's work may be due to rounding at most, in units.

    Every task that stops the clock, by its completion or a first milestone, has at least the work ``least`` in the
    domain that is furthest ahead; measured by that, too, nobody adds more than a best rate an hour. With n of
    them there are at most n x (milestones + 1) + payrolls + 1 stops, each of which may add half a place to each. While
    n is small that is far too little to make one more possible; so n can never grow beyond what is found here.
    """
    milestones = start.config.world.task_progress_milestones
    least = LEAST_WORK * min([1.0, *[fraction for fraction in milestones if fraction > 0]])
    most_work = capacity_of(start, LEAST_WORK / 2)[-1]
    extra_stops = len(start.calendar.payrolls_us) + 2
    number = 0.0
    for _ in range(_ROUNDS):
        slack = _ROUNDED_UP * ((number + 1) * (len(milestones) + 1) + extra_stops)
        if slack > least / 2:
            msg = f"bound: milestones {milestones} can stop the clock too often to bound what rounding adds (step 4)"
            raise PlannerError(msg)
        previous, number = number, most_work / (least - slack)
        if number <= previous * (1 + 1e-9):
            break
    return _ROUNDED_UP * ((number * (1 + 1e-6) + 2) * (len(milestones) + 1) + extra_stops)


def _least_raise(start: State, work: float) -> int:
    """Return by how much every success raises the payroll at least; 0 where a salary might reach its limit."""
    world = start.config.world
    raises: list[int] = []
    for employee in start.employees:
        each = int(world.tier_midpoints_cents[employee.tier] * world.salary_bump_pct)
        if employee.salary_cents + each * (work / (LEAST_WORK / 2) + 1) > world.salary_cap_cents:
            return 0
        raises.append(each)
    return min(raises, default=0)


# ---- offers at best (Y-2.4, Y-4.1)


@attrs.frozen
class _Kind:
    """Replacements that are alike: the prestige that they require, the highest reward and the least work."""

    prestige: int
    reward_cents: int
    work: int


def _extremes(spec: Distribution) -> tuple[float, float]:
    """Return the smallest and the largest value that a distribution draws."""
    return (spec.value, spec.value) if isinstance(spec, Constant) else (spec.low, spec.high)


def _kinds_of(start: State) -> list[_Kind]:
    """Return the kinds of replacements that the slots of a market bring: each keeps its client and its prestige."""
    world, clients = start.config.world, {client.name: client for client in start.clients}
    highest, lowest = math.ceil(_extremes(world.dist.reward_funds_cents)[1]), int(_extremes(world.dist.required_qty)[0])
    gated = 1 + world.trust_gated_reward_boost * (_MOST_TRUST if world.trust_gating_fraction > 0 else 0)
    kinds: dict[_Kind, None] = {}
    for offer in start.market:
        levels = offer.required_prestige - 1
        reward = int(int(highest * (1 + world.reward_prestige_scale * levels)) * gated) + 1
        quantity = int(lowest * (1 + world.prestige_qty_scale * levels))
        kinds[_Kind(levels + 1, reward, _work(world, clients[offer.client_name or ""], quantity))] = None
    return list(kinds)


def _least_work_of(start: State, offer: MarketTask) -> int:
    """Return the least work that an offer's largest domain can become when it is accepted."""
    client = next(client for client in start.clients if client.name == offer.client_name)
    return _work(start.config.world, client, max(offer.quantities))


def _work(world: WorldConfig, client: Client, quantity: int) -> int:
    if client.is_adversarial:  # the more passes the more work: one is the least
        return int(min(MOST_WORK, max(LEAST_WORK, quantity * inflation(world, client))))
    saved = world.trust_work_reduction_max if world.trust_gain_base > 0 else 0.0
    return max(LEAST_WORK, int(quantity * (1 - saved)))


# ---- how much work a staff can do


def _hours(start: State) -> list[float]:
    """Return the hours that count from the start until each payroll, and until the horizon."""
    calendar = start.calendar
    # Under until_midnight no weekday counts longer than from the workday's start until midnight.
    close_us = DAY_US if start.config.world.accrual == "until_midnight" else None
    ends_us = (*calendar.payrolls_us, calendar.horizon_us)
    return [calendar.business_us(calendar.start_us, end_us, close_us) / HOUR_US for end_us in ends_us]


def capacity_of(start: State, least_work: float) -> list[float]:
    """Return the units that can be done at most until each payroll, and until the horizon, given those of a success."""
    stages = _rate_stages(start)
    capacity: list[float] = []
    for counted in _hours(start):
        work, hours = 0.0, counted
        for rate in stages[:-1]:  # stage k begins once the work of k successes is done
            if rate <= 0 or hours * rate <= least_work:
                capacity.append(work + hours * rate)
                break
            hours -= least_work / rate
            work += least_work
        else:
            capacity.append(work + hours * stages[-1])
    return capacity


def _rate_stages(start: State) -> list[float]:
    """Return the highest summed rate after 0, 1, 2... successes; the last holds for ever."""
    world = start.config.world
    cap = world.skill_rate_max_e4 / E4
    most = _extremes(world.dist.skill_boost)[1]
    boost = most + _STORED if most > 0 else 0.0
    rates = [max(employee.rates_e4) / E4 for employee in start.employees]
    # What a limit on open tasks leaves busy: of a team, so many count in a domain.
    busiest = math.inf
    if world.max_open_tasks is not None:
        busiest = world.max_open_tasks * world.team_size * max([cap, *rates])
    steps: list[list[float]] = []  # by which the best rate of each employee rises with each success, up to the cap
    for rate in rates:
        grown = [rate]
        while boost > 0 and 0 < grown[-1] < cap:
            is_last = len(grown) > _MOST_STEPS
            grown.append(cap if is_last else min(cap, grown[-1] * (1 + boost) + _STORED))
        steps.append([after - before for before, after in pairwise(grown)])
    per_success = min(len(rates), world.team_size) * len(start.prestige_milli)
    total = sum(map(len, steps))
    stages: list[float] = []
    for successes in range(total + 1):
        # Any way to hand the boosts out raises the sum by no more than the largest steps together.
        allowed = sorted([step for each in steps for step in each[:successes]], reverse=True)
        stages.append(min(busiest, math.fsum(rates) + math.fsum(allowed[: successes * per_success])))
        if successes >= max(map(len, steps), default=0) and successes * per_success >= total:
            break
    return stages


# ---- the programme of step 8


@attrs.frozen(eq=False)
class Programme:
    """Largest ``gains @ x`` with ``rows @ x <= limits`` and ``0 <= x <= most``; no row or limit is negative."""

    gains: NDArray[np.float64]
    rows: NDArray[np.float64]
    limits: NDArray[np.float64]
    most: NDArray[np.float64]

    def limit(self) -> float:
        """Return a number that no solution exceeds.

        HiGHS prices the constraints. Any prices at all make a bound by weak duality; it is worked out here, so that
        neither tolerances nor faults of the solver can make it too low.

        Raises:
            MissingExtraError: scipy is not installed.
        """
        if self.gains.size == 0:
            return 0.0
        with needs_extra("planner", "the bound needs scipy"):
            from scipy.optimize import linprog  # noqa: PLC0415 -- of an extra, and slow to import
        bounds = [(0.0, float(most)) for most in self.most]
        found = linprog(-self.gains, A_ub=self.rows, b_ub=self.limits, bounds=bounds, method="highs")
        # Without any prices the bound is loose, never wrong.
        return self.dual_value(-found.ineqlin.marginals if found.success else np.zeros_like(self.limits))

    def dual_value(self, prices: NDArray[np.float64]) -> float:
        """Return the bound that prices of the constraints make, whatever they are; negative ones count as 0."""
        valid = np.maximum(prices, 0.0)
        reduced = np.maximum(self.gains - valid @ self.rows, 0.0)
        total = float(valid @ self.limits) + float(reduced @ self.most)
        return total + _MARGIN * (total + float(np.abs(self.gains).max(initial=0.0)) + 1.0)


def _programme(rewards: list[int], works: list[float], once: int, capacity: list[float], least_raise: int) -> Programme:
    """Return the programme with a variable for each offer, or kind of replacement, and period between payrolls.

    The first ``once`` of them are offers that pay once over all periods. Work that can be done until the end of each
    period is its capacity; a success adds the least raise to every later payroll.
    """
    work, periods = np.array(works, dtype=np.float64), len(capacity)
    raises = least_raise * (periods - 1 - np.arange(periods))
    most = np.ones(len(rewards))
    most[once:] = capacity[-1] / work[once:] + 1.0
    done_by_end = np.kron(work[None, :], np.tril(np.ones((periods, periods))))
    paid_once = np.kron(np.eye(once, len(rewards)), np.ones((1, periods)))
    return Programme(
        gains=(np.array(rewards, dtype=np.float64)[:, None] - raises[None, :]).ravel(),
        rows=np.vstack([done_by_end, paid_once]).astype(np.float64),
        limits=np.concatenate([np.array(capacity), np.ones(once)]),
        most=np.repeat(most, periods),
    )


# ---- known offers


def _gain_of_known(  # noqa: PLR0913 -- what is known, and the limit
    foresight: Foresight, start: State, work: float, slack: float, limit: int, *, accepts: bool
) -> float:
    """Return the most that policies can earn that accept so many tasks, or that complete all but so many accepted."""
    slots = len(start.market)
    places = min(limit, MOST_ACCEPTS_A_SLOT) if accepts else MOST_ACCEPTS_A_SLOT
    most_work = math.inf if accepts else work + limit * MOST_WORK  # what a slot brings beyond it is of no interest
    rewards, works = np.zeros((slots, places)), np.ones((slots, places))
    for slot in range(slots):
        taken = 0.0
        for place in range(places):
            card = foresight.card(slot, place)
            if card is None or taken > most_work:  # nothing beyond it can be accepted, or completed, either
                break
            rewards[slot, place] = card.offer.reward_cents
            works[slot, place] = _least_work_of(start, card.offer) - slack
            taken += works[slot, place]
    numbers: NDArray[np.int64] = np.arange(1, places + 1, dtype=np.int64)

    def value(work_price: float, price: float) -> float:
        surplus = rewards - work_price * works
        if accepts:
            gained = np.cumsum(np.maximum(surplus, 0.0), axis=1) - price * numbers
        else:
            gained = np.cumsum(np.maximum(surplus, -price), axis=1)
        best = np.max(gained, axis=1, initial=0.0)
        return work_price * work + (price * limit if limit else 0.0) + float(best.sum())

    dearest = float((rewards / works).max(initial=0.0))

    def at_price(price: float) -> float:
        return _least(lambda work_price: value(work_price, price), dearest)

    if not accepts and limit == 0:  # then the higher the price, the lower the bound
        return at_price(math.inf) + 1.0
    best = at_price(0.0)
    if accepts:
        best = min(best, value(0.0, 0.0))
    if not accepts or limit < rewards.size:  # else an accept is worth nothing
        best = min(best, _least(at_price, float(rewards.max(initial=0.0))))
    return best + 1.0


def _least(function: Callable[[float], float], high: float) -> float:
    """Return the least value that a search of the golden section meets between 0 and a number."""
    low, best = 0.0, math.inf
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(_STEPS):
        best = min(best, at_left, at_right)
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = function(right)
    return best * (1 + _MARGIN)
