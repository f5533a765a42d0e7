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

**With a number of accepts.** For policies that accept at most K tasks in all, and at most 999 in each slot,
replacements are not conceivable but known: the n-th of a slot depends on seed, slot and n alone. A slot of which p
offers are accepted can have completed any of these. With a price m for a unit of work and a price a for an accept,
weak duality gives::

    m x capacity + a x K
        + sum over slots of max over p of (sum over its first p offers of max(0, reward - m x work) - a x p)

for any m and a; the least over a search is taken. Step 7 is left out there.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import attrs
import numpy as np

from ycbench_agents.planner.capacity import capacity_of
from ycbench_agents.planner.coverage import uncovered_by_bound
from ycbench_agents.planner.foresight import PASSES_A_SLOT, Foresight
from ycbench_agents.planner.offer_limits import kinds_of, least_work_of
from ycbench_agents.planner.programme import Programme, upper_limit
from ycbench_env import initial_state

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ycbench_agents.planner.capacity import Capacity
    from ycbench_env import Config, State

__all__ = ["MOST_ACCEPTS_A_SLOT", "Bound", "BoundError", "upper_bound"]

MOST_ACCEPTS_A_SLOT: Final = PASSES_A_SLOT + 1
"""How often a slot may be accepted where the number of accepts is limited."""

_LEAST_WORK: Final = 200.0
_ROUNDED_UP: Final = 0.5e-4
_ROUNDS: Final = 60
_STEPS: Final = 26
_GOLDEN: Final = (5**0.5 - 1) / 2
_MARGIN: Final = 1e-9  # far above what doubles lose in the sums


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
    """

    cents: int
    initial_cents: int
    payroll_cents: int
    gain_cents: int
    capacity_units: float
    hours: float
    most_accepts: int | None = None


def upper_bound(config: Config, seed: int, *, most_accepts: int | None = None) -> Bound:
    """Return what no policy exceeds in one episode, whatever it sees; the module says why.

    Args:
        config: The resolved configuration.
        seed: Run seed of the episode.
        most_accepts: Bound only policies that accept at most so many tasks, and at most 999 in each slot; None for all.

    Raises:
        BoundError: A step of the argument does not hold for this configuration.
        MissingExtraError: scipy is not installed.
        SeedError: The seed is no non-negative integer.
    """
    if most_accepts is not None and most_accepts < 0:
        msg = f"most_accepts: got {most_accepts}, expected a number of at least 0, or None"
        raise ValueError(msg)
    if reason := uncovered_by_bound(config):
        raise BoundError(reason)
    start = initial_state(config, seed)
    slack = _rounding_slack(start)
    capacity = capacity_of(start, _least_of_all(start) - slack)
    if most_accepts is None:
        gain = upper_limit(_programme(start, capacity, slack))
    else:
        gain = _limited_gain(start, capacity.work[-1], slack, most_accepts)
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
    )


def _payroll(start: State) -> int:
    """Return what all payrolls take at least; nothing where an episode may be over before they are due."""
    loop = start.config.loop
    if loop.max_turns is not None or loop.auto_advance_after_turns == 0:
        return 0
    return sum([employee.salary_cents for employee in start.employees]) * len(start.calendar.payrolls_us)


def _least_of_all(start: State) -> float:
    works = [least_work_of(start, offer) for offer in start.market] + [kind.work for kind in kinds_of(start)]
    return float(min(works, default=_LEAST_WORK))


def _rounding_slack(start: State) -> float:
    """Return how much of a completed task's work may be due to rounding at most, in units.

    Every task that stops the clock, by its completion or a first milestone, has at least the work ``least`` in the
    domain that is furthest ahead; measured by that, too, nobody adds more than a best rate an hour. With n of
    them there are at most n x (milestones + 1) + payrolls + 1 stops, each of which may add half a place to each. While
    n is small that is far too little to make one more possible; so n can never grow beyond what is found here.

    Raises:
        BoundError: It might add up, which takes tiny first milestones.
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
    kinds = kinds_of(start)
    rewards = [float(offer.reward_cents) for offer in start.market] + [float(kind.reward_cents) for kind in kinds]
    works = [least_work_of(start, offer) - slack for offer in start.market] + [kind.work - slack for kind in kinds]
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


def _limited_gain(start: State, work: float, slack: float, accepts: int) -> float:
    """Return what policies with so many accepts can earn at most, by the prices of the module's last section."""
    if start.config.world.replacement_numbering != "slot":
        msg = "bound: most_accepts needs replacement_numbering = slot; else no slot's offers are known (leave it out)"
        raise BoundError(msg)
    rewards, works = _known_offers(start, min(accepts, MOST_ACCEPTS_A_SLOT), slack)
    places: NDArray[np.int64] = np.arange(1, rewards.shape[1] + 1, dtype=np.int64)

    def value(work_price: float, accept_price: float) -> float:
        gained: NDArray[np.float64] = np.cumsum(np.maximum(rewards - work_price * works, 0.0), axis=1)
        best: NDArray[np.float64] = np.max(gained - accept_price * places, axis=1, initial=0.0)
        return work_price * work + accept_price * accepts + float(best.sum())

    dearest = float((rewards / works).max(initial=0.0))

    def at_accept_price(accept_price: float) -> float:
        return _least(lambda work_price: value(work_price, accept_price), dearest)

    # The least over both prices; it is convex in each, and whatever is tried is a bound.
    return min(value(0.0, 0.0), at_accept_price(0.0), _least(at_accept_price, float(rewards.max(initial=0.0)))) + 1.0


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


def _known_offers(start: State, places: int, slack: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return rewards and least works of the first offers of every slot, one row a slot."""
    foresight = Foresight(start)
    slots = len(start.market)
    rewards, works = np.zeros((slots, places)), np.ones((slots, places))
    for slot in range(slots):
        for place in range(places):
            card = foresight.card(slot, place)
            if card is None:  # nothing beyond it can be accepted either
                break
            rewards[slot, place] = card.offer.reward_cents
            works[slot, place] = least_work_of(start, card.offer) - slack
    return rewards, works
