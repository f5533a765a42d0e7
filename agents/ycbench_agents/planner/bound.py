"""An upper bound on the final funds of one episode: no policy exceeds it, whatever it sees.

The argument, step by step; each only widens what a policy may do.

1. **Money.** Funds start at F. Besides rewards nothing ever adds to them. Every payroll takes at least the salaries
   of the start, since no salary falls. An episode that ends in bankruptcy ends below zero, so the bound is never less
   than -1. Where an episode can be cut off before its payrolls are due (``max_turns``, or no forced advances), they
   are left out.
2. **Work.** Measure the work on a task by its largest domain. All its domains progress side by side, a team member
   adds to that domain at most its own rate there, split over its tasks, and planned tasks split nobody. So one
   employee adds in all at most its best rate an hour, and all together at most the sum of best rates; at most
   ``efficient_team_size`` of them for each task where ``max_open_tasks`` limits these.
3. **Hours.** Under ``business_hours`` those of working days count. Under ``until_midnight`` the pieces of a weekday
   together never count more than from the workday's start until midnight. A forecast is made with business hours from
   the rates that hold, and made anew whenever these fall, so no task completes before its work is done, rounding
   aside.
4. **Rounding.** Stored work may be rounded up, by half of 1/10,000 unit a task at every stop of the clock. Stops are
   completions, milestones, payrolls and the end. Completions cannot be more than the work allows for tasks of 200
   units, so the sum of this is bounded and taken off the least work of a task.
5. **Growth.** Only a success raises rates: of the four best of its team in each of its domains, by the largest boost
   that is ever drawn, up to ``skill_rate_max``. The k-th success takes at least the least work of k tasks. So rates
   grow along a staircase that can be computed.
6. **Offers.** An offer of the first market pays its reward once and takes at least its quantity reduced by full
   trust, never less than 200 units; of an adversarial client, its inflated quantity. Everything else is a
   replacement. It has the client and the prestige of its slot; its reward is at most the highest that is drawn,
   without the client's multiplier, its quantity at least the lowest.
7. **Raises.** Every success raises at least one salary, which all later payrolls pay.
8. **Programme.** Maximise rewards less raises over fractions of first offers and amounts of replacements in each
   period between payrolls, so that up to each period's end no more work is completed than could be done. Its value,
   plus F, less the payrolls, is the bound.

Trust, prestige, deadlines, teams and whole tasks are relaxed away, and so is luck: replacements are taken to be the
best conceivable. That is what unlimited re-rolling approaches. ``max_open_tasks`` does not end it: a task may be
accepted and cancelled at once, which costs nothing where prestige and trust are at their lowest. So the bound with it
differs only where the limit leaves people idle.

**With known offers.** Which offer replaces the n-th of a slot depends on seed, slot and n alone. So tighter bounds hold
for some policies, all of which accept at most 999 tasks in each slot (999 x slots in all is no further limit):

- ``most_accepts``: policies that accept at most K tasks in all. With a price m for a unit of work and a price a for an
  accept, weak duality gives, for any prices::

    m x capacity + a x K
        + sum over slots of max over p of (sum over its first p offers of max(0, reward - m x work) - a x p)

- ``most_unfinished``: policies that complete all tasks that they accept but at most U (the honest game: U = 0). What is
  accepted in a slot is a prefix of its offers, and each of these is completed, or one of the U. With a price b for each
  of the U::

    m x capacity + b x U + sum over slots of max over p of (sum over its first p offers of max(-b, reward - m x work))

The least over a search for the prices is taken; whatever is tried is a bound. Step 7 is left out there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray

from ycbench_agents.planner.foresight import DAY_US, PASSES_A_SLOT, Foresight, hours_between, uncovered_by_bound
from ycbench_env import Config, MissingExtraError, State, initial_state
from ycbench_env.config import Constant, Distribution, WorldConfig
from ycbench_env.types import Client, MarketTask

MOST_ACCEPTS_A_SLOT: Final = PASSES_A_SLOT + 1
"""How often a slot may be accepted where the number of accepts is limited."""

_ROUNDED_UP: Final = 0.5e-4
_ROUNDS: Final = 60
_STEPS: Final = 26
_GOLDEN: Final = (5**0.5 - 1) / 2
_MARGIN: Final = 1e-9  # far above what doubles lose in the sums
_LEAST_WORK: Final = 200
_MOST_INFLATED: Final = 25_000
_MOST_TRUST: Final = 4
_E4: Final = 10_000
_MOST_STEPS: Final = 60
_STORED: Final = 1e-4  # a stored rate may be rounded up by half of it


class BoundError(ValueError):
    """The argument of the bound does not hold for a configuration; the message says which step or setting."""


@attrs.frozen
class Bound:
    """What no policy exceeds, with its parts; amounts in cents.

    Args:
        cents: The bound on final funds.
        initial_cents: Funds at the start.
        payroll_cents: What all payrolls take at least.
        gain_cents: What rewards, less raises, can bring at most.
        capacity_units: Work that can be done at most.
        hours: Hours that can count at most.
        most_accepts: Accepts that the policies in question may make, None for any number.
        most_unfinished: Accepted tasks that they may leave uncompleted, None for any number.
    """

    cents: int
    initial_cents: int
    payroll_cents: int
    gain_cents: int
    capacity_units: float
    hours: float
    most_accepts: int | None = None
    most_unfinished: int | None = None


def upper_bound(
    config: Config,
    seed: int,
    *,
    most_accepts: int | None = None,
    most_unfinished: int | None = None,
    foresight: Foresight | None = None,
) -> Bound:
    """Return what no policy exceeds in one episode, whatever it sees; the module says why.

    Args:
        config: The resolved configuration.
        seed: Run seed of the episode.
        most_accepts: Bound only policies that accept at most so many tasks, and at most 999 in each slot; None for all.
        most_unfinished: Bound only policies that complete all but so many of the tasks that they accept; None for all.
        foresight: The future market of this episode, to look at it once for several bounds; None to make it.

    Raises:
        BoundError: A step of the argument does not hold for this configuration, a limit is negative, or both are given.
        MissingExtraError: scipy is not installed.
        SeedError: The seed is no non-negative integer.
    """
    limits = [limit for limit in (most_accepts, most_unfinished) if limit is not None]
    if len(limits) > 1 or any(limit < 0 for limit in limits):
        got = f"most_accepts={most_accepts}, most_unfinished={most_unfinished}"
        msg = f"bound: got {got}, expected at most one number, of at least 0"
        raise BoundError(msg)
    if reason := uncovered_by_bound(config):
        raise BoundError(reason)
    start = initial_state(config, seed)
    works = [_least_work_of(start, offer) for offer in start.market] + [kind.work for kind in _kinds_of(start)]
    slack = _rounding_slack(start)
    capacity = capacity_of(start, float(min(works, default=_LEAST_WORK)) - slack)
    if not limits:
        gain = upper_limit(_programme(start, capacity, slack))
    elif config.world.replacement_numbering != "slot":
        msg = "bound: it needs replacement_numbering = slot to know what a slot will list; bound all policies instead"
        raise BoundError(msg)
    else:
        market = _Market(start, foresight or Foresight(start), capacity.work[-1], slack)
        gain = market.gain_of_accepts(limits[0]) if most_unfinished is None else market.gain_of_unfinished(limits[0])
    gain_cents = math.ceil(gain)
    payroll = _payroll(start)
    return Bound(
        cents=max(-1, start.funds_cents + gain_cents - payroll),
        initial_cents=start.funds_cents,
        payroll_cents=payroll,
        gain_cents=gain_cents,
        capacity_units=capacity.work[-1],
        hours=capacity.hours[-1],
        most_accepts=most_accepts,
        most_unfinished=most_unfinished,
    )


def _payroll(start: State) -> int:
    """Return what all payrolls take at least; nothing where an episode may be over before they are due."""
    loop = start.config.loop
    if loop.max_turns is not None or loop.auto_advance_after_turns == 0:
        return 0
    return sum([employee.salary_cents for employee in start.employees]) * len(start.calendar.payrolls_us)


def _rounding_slack(start: State) -> float:
    """Return how much of a completed task's work may be due to rounding at most, in units.

    Every task that stops the clock, by its completion or a first milestone, has at least the work ``least`` in the
    domain that is furthest ahead; measured by that, too, nobody adds more than a best rate an hour. With n of
    them there are at most n x (milestones + 1) + payrolls + 1 stops, each of which may add half a place to each. While
    n is small that is far too little to make one more possible; so n can never grow beyond what is found here.
    """
    milestones = start.config.world.task_progress_milestones
    least = _LEAST_WORK * min([1.0, *[fraction for fraction in milestones if fraction > 0]])
    most_work = capacity_of(start, _LEAST_WORK / 2).work[-1]
    extra_stops = len(start.calendar.payrolls_us) + 2
    number = 0.0
    for _ in range(_ROUNDS):
        slack = _ROUNDED_UP * ((number + 1) * (len(milestones) + 1) + extra_stops)
        if slack > least / 2:
            msg = f"bound: milestones {milestones} can stop the clock too often to bound what rounding adds (step 4)"
            raise BoundError(msg)
        previous, number = number, most_work / (least - slack)
        if number <= previous * (1 + 1e-9):
            break
    return _ROUNDED_UP * ((number * (1 + 1e-6) + 2) * (len(milestones) + 1) + extra_stops)


def _programme(start: State, capacity: Capacity, slack: float) -> Programme:
    """Return the programme of step 8: a variable for each offer, or kind of replacement, and period."""
    kinds = _kinds_of(start)
    rewards = [float(offer.reward_cents) for offer in start.market] + [float(kind.reward_cents) for kind in kinds]
    works = [_least_work_of(start, offer) - slack for offer in start.market] + [kind.work - slack for kind in kinds]
    periods = len(capacity.work)
    raises = _least_raise(start, capacity.work[-1]) * (periods - 1 - np.arange(periods))
    work = np.array(works, dtype=np.float64)
    gains = (np.array(rewards, dtype=np.float64)[:, None] - raises[None, :]).ravel()
    done_by = np.tril(np.ones((periods, periods)))
    rows = (work[None, :, None] * done_by[:, None, :]).reshape(periods, gains.size)
    # Each first offer counts once over all periods.
    once = np.zeros((len(start.market), len(rewards), periods))
    once[np.arange(len(start.market)), np.arange(len(start.market)), :] = 1.0
    most = np.ones((len(rewards), periods))
    most[len(start.market) :, :] = (capacity.work[-1] / work[len(start.market) :])[:, None] + 1.0
    return Programme(
        gains=gains,
        rows=np.vstack([rows, once.reshape(len(start.market), gains.size)]),
        limits=np.concatenate([np.array(capacity.work, dtype=np.float64), np.ones(len(start.market))]),
        most=most.ravel(),
    )


def _least_raise(start: State, work: float) -> int:
    """Return by how much every success raises the payroll at least; 0 where a salary might reach its limit."""
    world = start.config.world
    if _payroll(start) == 0:
        return 0
    raises: list[int] = []
    for employee in start.employees:
        each = int(world.tier_midpoints_cents[employee.tier] * world.salary_bump_pct)
        if employee.salary_cents + each * (work / (_LEAST_WORK / 2) + 1) > world.salary_cap_cents:
            return 0
        raises.append(each)
    return min(raises, default=0)


@attrs.frozen
class _Market:
    """The known offers of an episode, and what policies with a limit can earn from them at most."""

    start: State
    foresight: Foresight
    work: float
    slack: float

    def gain_of_accepts(self, accepts: int) -> float:
        """Return the most that policies with so many accepts can earn."""
        rewards, works = self._known_offers(min(accepts, MOST_ACCEPTS_A_SLOT), math.inf)
        places: NDArray[np.int64] = np.arange(1, rewards.shape[1] + 1, dtype=np.int64)

        def value(work_price: float, accept_price: float) -> float:
            gained = np.cumsum(np.maximum(rewards - work_price * works, 0.0), axis=1)
            best = np.max(gained - accept_price * places, axis=1, initial=0.0)
            return work_price * self.work + accept_price * accepts + float(best.sum())

        def at_accept_price(accept_price: float) -> float:
            return _least(lambda work_price: value(work_price, accept_price), _dearest(rewards, works))

        best = min(value(0.0, 0.0), at_accept_price(0.0))
        if accepts < rewards.size:  # else an accept is worth nothing
            best = min(best, _least(at_accept_price, float(rewards.max(initial=0.0))))
        return best + 1.0

    def gain_of_unfinished(self, unfinished: int) -> float:
        """Return the most that policies can earn that complete all tasks that they accept but so many."""
        rewards, works = self._known_offers(MOST_ACCEPTS_A_SLOT, self.work + unfinished * _MOST_INFLATED)

        def value(work_price: float, price: float) -> float:
            each = np.maximum(rewards - work_price * works, -price)
            best = np.max(np.cumsum(each, axis=1), axis=1, initial=0.0)
            return work_price * self.work + (price * unfinished if unfinished else 0.0) + float(best.sum())

        def at_price(price: float) -> float:
            return _least(lambda work_price: value(work_price, price), _dearest(rewards, works))

        if unfinished == 0:  # then the higher the price, the lower the bound
            return at_price(math.inf) + 1.0
        return min(at_price(0.0), _least(at_price, float(rewards.max(initial=0.0)))) + 1.0

    def _known_offers(self, places: int, most_work: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return rewards and least works of the first offers of every slot, one row a slot.

        Args:
            places: Most offers of a slot.
            most_work: Units that all offers of a slot together may take, those beyond are of no interest.
        """
        slots = len(self.start.market)
        rewards, works = np.zeros((slots, places)), np.ones((slots, places))
        for slot in range(slots):
            taken = 0.0
            for place in range(places):
                card = self.foresight.card(slot, place)
                if card is None or taken > most_work:  # nothing beyond it can be accepted, or completed, either
                    break
                rewards[slot, place] = card.offer.reward_cents
                works[slot, place] = _least_work_of(self.start, card.offer) - self.slack
                taken += works[slot, place]
        return rewards, works


def _dearest(rewards: NDArray[np.float64], works: NDArray[np.float64]) -> float:
    return float((rewards / works).max(initial=0.0))


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


# ---- offers at best (Y-2.4, Y-4.1)


@attrs.frozen
class _Kind:
    """Replacements that are alike: the best of them that can ever come.

    Args:
        prestige: Prestige that they require.
        reward_cents: Highest reward.
        work: Least work of the largest domain, after trust or inflation.
    """

    prestige: int
    reward_cents: int
    work: int


def _highest(spec: Distribution) -> float:
    """Return the largest value that a distribution draws."""
    return spec.value if isinstance(spec, Constant) else spec.high


def _lowest(spec: Distribution) -> float:
    """Return the smallest value that a distribution draws."""
    return spec.value if isinstance(spec, Constant) else spec.low


def _kinds_of(start: State) -> tuple[_Kind, ...]:
    """Return the kinds of replacements that the slots of a market bring: each keeps its client and its prestige."""
    world, clients = start.config.world, {client.name: client for client in start.clients}
    kinds = {_kind(world, clients[offer.client_name or ""], offer.required_prestige): None for offer in start.market}
    return tuple(kinds)


def _kind(world: WorldConfig, client: Client, prestige: int) -> _Kind:
    most = math.ceil(_highest(world.dist.reward_funds_cents))
    gated = 1 + world.trust_gated_reward_boost * (_MOST_TRUST if world.trust_gating_fraction > 0 else 0)
    reward = int(int(most * (1 + world.reward_prestige_scale * (prestige - 1))) * gated) + 1
    least = int(int(_lowest(world.dist.required_qty)) * (1 + world.prestige_qty_scale * (prestige - 1)))
    return _Kind(prestige, reward, _work(world, client, least))


def _least_work_of(start: State, offer: MarketTask) -> int:
    """Return the least work that an offer's largest domain can become when it is accepted."""
    client = next(client for client in start.clients if client.name == offer.client_name)
    return _work(start.config.world, client, max(offer.quantities))


def _work(world: WorldConfig, client: Client, quantity: int) -> int:
    if client.is_adversarial:  # the more passes the more work: one is the least
        factor = 1 + max(3, world.loyalty_severity * abs(client.loyalty_milli / 1000))
        return int(min(_MOST_INFLATED, max(_LEAST_WORK, quantity * factor)))
    saved = world.trust_work_reduction_max if world.trust_gain_base > 0 else 0.0
    return max(_LEAST_WORK, int(quantity * (1 - saved)))


# ---- how much work a staff can do


@attrs.frozen
class Capacity:
    """Work that can be done at most.

    Args:
        ends_us: Ends of the periods that payrolls cut the episode into, the horizon last.
        hours: Counted hours from the start until each of these.
        work: Units that can be done from the start until each of these.
    """

    ends_us: tuple[int, ...]
    hours: tuple[float, ...]
    work: tuple[float, ...]


def capacity_of(start: State, least_work: float) -> Capacity:
    """Return the capacity of an episode.

    Args:
        start: Its first state.
        least_work: Units that every success takes at least, positive.
    """
    calendar = start.calendar
    # Under until_midnight no weekday counts longer than from the workday's start until midnight.
    close_us = DAY_US if start.config.world.accrual == "until_midnight" else None
    ends = (*calendar.payrolls_us, calendar.horizon_us)
    hours = [hours_between(calendar, calendar.start_us, end_us, close_us) for end_us in ends]
    stages = _rate_stages(start)
    return Capacity(ends, tuple(hours), tuple([_work_until(some, stages, least_work) for some in hours]))


def _work_until(hours: float, stages: list[float], least_work: float) -> float:
    """Return the work of so many hours, when stage k begins once the work of k successes is done."""
    work = 0.0
    for rate in stages[:-1]:
        if rate <= 0 or hours * rate <= least_work:
            return work + hours * rate
        hours -= least_work / rate
        work += least_work
    return work + hours * stages[-1]


def _rate_stages(start: State) -> list[float]:
    """Return the highest summed rate after 0, 1, 2... successes; the last holds for ever."""
    world = start.config.world
    most = _highest(world.dist.skill_boost)
    boost = most + _STORED if most > 0 else 0.0
    rates = [max(employee.rates_e4) / _E4 for employee in start.employees]
    per_success = min(len(rates), world.team_size) * len(start.prestige_milli)
    steps = [_steps(rate, boost, world.skill_rate_max_e4 / _E4) for rate in rates]
    total = sum(len(each) for each in steps)
    stages: list[float] = []
    for successes in range(total + 1):
        # Any way to hand the boosts out raises the sum by no more than the largest steps together.
        allowed = sorted([step for each in steps for step in each[:successes]], reverse=True)
        stages.append(_at_work(start, sum(rates) + sum(allowed[: successes * per_success])))
        if successes >= max(map(len, steps), default=0) and successes * per_success >= total:
            break
    return stages


def _steps(rate: float, boost: float, limit: float) -> list[float]:
    """Return by how much the best rate of an employee rises with each success, until it is at the limit."""
    steps: list[float] = []
    while boost > 0 and 0 < rate < limit and len(steps) < _MOST_STEPS:
        raised = min(limit, rate * (1 + boost) + _STORED)
        steps.append(raised - rate)
        rate = raised
    if boost > 0 and 0 < rate < limit:
        steps.append(limit - rate)
    return steps


def _at_work(start: State, rate: float) -> float:
    """Return a summed rate, less what a limit on open tasks leaves idle: of a team, so many count in a domain."""
    world = start.config.world
    limit = world.max_open_tasks
    if limit is None:
        return rate
    best = max([max(employee.rates_e4) / _E4 for employee in start.employees], default=0.0)
    return min(rate, limit * world.team_size * max(best, world.skill_rate_max_e4 / _E4))


# ---- linear programme


@attrs.frozen(eq=False)
class Programme:
    """Largest ``gains @ x`` with ``rows @ x <= limits`` and ``0 <= x <= most``.

    Args:
        gains: Gain of each variable.
        rows: One row of coefficients, none negative, a constraint.
        limits: Right-hand sides, none negative.
        most: Largest value of each variable, finite.
    """

    gains: NDArray[np.float64]
    rows: NDArray[np.float64]
    limits: NDArray[np.float64]
    most: NDArray[np.float64]


def upper_limit(programme: Programme) -> float:
    """Return a number that no solution of a programme exceeds.

    HiGHS prices the constraints. Any prices at all make a bound by weak duality; it is worked out here, so that neither
    tolerances nor faults of the solver can make it too low.

    Raises:
        MissingExtraError: scipy is not installed.
    """
    if programme.gains.size == 0:
        return 0.0
    try:
        from scipy.optimize import linprog  # noqa: PLC0415 -- of an extra, and slow to import
    except ImportError as error:
        msg = "the bound needs scipy, which is not installed: pip install '.[planner]' in the folder of this project"
        raise MissingExtraError(msg) from error
    found = linprog(
        -programme.gains,
        A_ub=programme.rows,
        b_ub=programme.limits,
        bounds=[(0.0, float(most)) for most in programme.most],
        method="highs",
    )
    # Any prices do; without any the bound is loose, never wrong.
    return dual_value(programme, -found.ineqlin.marginals if found.success else np.zeros_like(programme.limits))


def dual_value(programme: Programme, prices: NDArray[np.float64]) -> float:
    """Return the bound that prices of the constraints make, whatever they are; negative ones count as 0."""
    valid = np.maximum(prices, 0.0)
    reduced = np.maximum(programme.gains - valid @ programme.rows, 0.0)
    total = float(valid @ programme.limits) + float(reduced @ programme.most)
    return total + _MARGIN * (total + float(np.abs(programme.gains).max(initial=0.0)) + 1.0)
