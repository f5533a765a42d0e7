"""Which offer a team of a rollout takes: the one that brings most for an hour of its time."""

from __future__ import annotations

import random
from operator import itemgetter
from typing import TYPE_CHECKING, Final, Protocol

import attrs

from ycbench_agents.planner.hours import hours_between, midnight_factor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ycbench_agents.planner.foresight import Card, Foresight
    from ycbench_agents.planner.weights import Weights
    from ycbench_env import State
    from ycbench_env.types import Employee

__all__ = ["Choice", "Chooser", "Standpoint"]

_FIRST: Final = itemgetter(0)
_TINY: Final = 1e-6  # share of work left at full trust, where that may be none
_ROUNDING: Final = 1.01  # work is truncated to whole units
_CANCEL_REACH: Final = 2
_USUAL_BOOST: Final = 0.12
_SAFETY: Final = 0.98  # of a deadline: forecasts change as teams do
_E4: Final = 10_000
_LEAST_WORK: Final = 200
_MOST_WORK: Final = 25_000
_GATE_LEVEL: Final = 5  # up to which prestige opens more offers


class Standpoint(Protocol):
    """Where a rollout stands."""

    state: State
    places: list[int]

    @property
    def passes_left(self) -> int:
        """How many more offers may be passed by."""
        ...

    @property
    def may_accept(self) -> bool:
        """Whether one more task may be open."""
        ...


@attrs.frozen
class Choice:
    """An offer, the slot that it is in, and what it brings an hour of each member of the team, in cents."""

    slot: int
    card: Card
    score: float


@attrs.frozen
class _Record:
    """An offer that beats all before it in its slot, and what accepting those takes."""

    card: Card
    value: float
    trust_milli: int
    mask: int


@attrs.frozen
class _Regard:
    """How a client is looked at in one decision: its trust, the share of work left, the factor of its rewards."""

    trust_milli: int
    work_left: float
    inflation: float
    factor: float
    pass_price: float


@attrs.frozen
class _View:
    """What a decision about a team looks at."""

    regards: list[_Regard]
    rates: list[float]
    hours_left: float
    raises: int
    most_rate: float
    heads: int
    noise: float
    growing: bool


class Chooser:
    """Chooses offers by weights; keeps what it has found in slots that have not moved.

    Args:
        start: The first state of the episode.
        foresight: Its market.
        weights: What decides.
        seed: Seed of the noise on values.
    """

    def __init__(self, start: State, foresight: Foresight, weights: Weights, seed: int) -> None:
        world = start.config.world
        self.slots = [slot for slot in range(len(start.market)) if weights.clients[slot % len(start.clients)] > 0]
        self._world = world
        self._clients = len(start.clients)
        self._foresight = foresight
        self._weights = weights
        self._noise = random.Random(seed)  # noqa: S311 -- a search, not a secret
        self._choices = 0
        self._factor = midnight_factor(start.calendar) if world.accrual == "until_midnight" else 1.0
        self._day_hours = world.workday_end_hour - world.workday_start_hour
        self._cancels = world.max_open_tasks is not None
        self._most_delta = max([offer.prestige_delta_milli for offer in start.market], default=0) / 1000
        # Where passing by means cancelling, few offers are worth the trust that it costs.
        self._reach = min(weights.reach, _CANCEL_REACH) if self._cancels else weights.reach
        self._records: dict[tuple[int, bool], list[list[_Record]]] = {}

    def forget(self, slot: int) -> None:
        """Forget what was found in a slot, since it moves on."""
        self._records.pop((slot, False), None)
        self._records.pop((slot, True), None)

    def best(self, at: Standpoint, home: int, team: Sequence[int], *, growing: bool) -> Choice | None:
        """Return the offer that a team should take now and its score a head, None when none is worth it.

        Args:
            at: Where the rollout stands.
            home: Domain that the team works in.
            team: Places of its members.
            growing: Whether it still learns.
        """
        if not at.may_accept:
            return None
        self._choices += 1
        members = [at.state.employees[place] for place in team]
        view = self._view(at, members, growing=growing)
        best, best_score = self._best_in(at, view, home, (None, 0.0), 1.0)
        if self._weights.roam > 0:
            for domain in range(len(view.rates)):
                if domain != home:
                    best, best_score = self._best_in(at, view, domain, (best, best_score), self._weights.roam)
        return best

    def _view(self, at: Standpoint, members: list[Employee], *, growing: bool) -> _View:
        calendar = at.state.calendar
        return _View(
            regards=[self._regard(at.state, client) for client in range(self._clients)],
            rates=[self._rate(members, domain) for domain in range(len(at.state.prestige_milli))],
            hours_left=hours_between(calendar, at.state.now_us, calendar.horizon_us) * self._factor,
            raises=self._raises(at.state, members),
            most_rate=min(len(members), self._world.team_size) * self._world.skill_rate_max_e4 / _E4,
            heads=len(members),
            noise=self._weights.noise if self._choices <= self._weights.noisy_choices else 0.0,
            growing=growing,
        )

    def _best_in(
        self, at: Standpoint, view: _View, domain: int, so_far: tuple[Choice | None, float], favour: float
    ) -> tuple[Choice | None, float]:
        """Return the best offer in a domain and its score, or what was best so far when that is better."""
        best, best_score = so_far
        rate = view.rates[domain]
        if rate <= 0:
            return so_far
        headroom = max(0.0, 1 - rate / view.most_rate) if view.growing else 0.0
        noisy = view.noise
        most = rate * (1 + noisy) * self._most_worth(headroom) * favour * _ROUNDING
        limits = [most * regard.factor / (max(_TINY, regard.work_left) * regard.inflation) for regard in view.regards]
        for limit, slot in self._by_limit(at, domain, limits, growing=view.growing):
            if limit <= best_score:
                break
            client = slot % self._clients
            regard = view.regards[client]
            for record in self._in_slot(at, slot, growing=view.growing)[domain]:
                if record.value * limits[client] <= best_score:
                    continue
                passes = record.card.place - at.places[slot]
                if not self._open(at, record, regard) or passes > at.passes_left:
                    break  # the later ones of a slot take more than the earlier ones
                hours, due = self._hours(record.card, regard, view.rates)
                if hours > view.hours_left or hours > due:
                    continue
                worth = self._worth(at.state, record.card, headroom) * regard.factor
                score = favour * (worth - view.raises - regard.pass_price * passes) / hours
                if noisy:
                    score *= 1 + noisy * self._noise.random()
                if score > best_score:
                    best, best_score = Choice(slot, record.card, score / view.heads), score
        return best, best_score

    def _by_limit(self, at: Standpoint, home: int, limits: list[float], *, growing: bool) -> list[tuple[float, int]]:
        """Return the slots that offer something in a domain with what that can score at most, the highest first."""
        ordered: list[tuple[float, int]] = []
        for slot in self.slots:
            records = self._in_slot(at, slot, growing=growing)[home]
            if records:
                ordered.append((records[-1].value * limits[slot % self._clients], slot))
        ordered.sort(key=_FIRST, reverse=True)
        return ordered

    def _most_worth(self, headroom: float) -> float:
        """Return the highest factor by which an offer's worth can exceed its reward, boost of the records aside."""
        return (1 + self._weights.prestige * self._most_delta) * (1 if headroom <= 0 else max(1.0, headroom))

    def poor_slots(self, at: Standpoint, client: int) -> list[int]:
        """Return the slots of a client whose offer could be accepted and should be cleared away.

        Only those that require no prestige: cancelling lowers it, and would soon shut the others.
        """
        poor: list[int] = []
        trust_milli = at.state.clients[client].trust_milli
        for slot in range(client, len(at.places), self._clients):
            card = self._foresight.card(slot, at.places[slot])
            if card is not None and card.value < self._weights.keep:
                offer = card.offer
                if offer.required_prestige <= 1 and offer.required_trust * 1000 <= trust_milli:
                    poor.append(slot)
        return poor

    def place_to_clear_to(self, at: Standpoint, slot: int) -> int:
        """Return the place of the best offer that a slot can be brought to list now, cancelling what stands before it.

        The first one that cannot be accepted yet counts, too: it may be later.
        """
        trust_milli = at.state.clients[slot % self._clients].trust_milli
        levels = list(at.state.prestige_milli)
        place = best = at.places[slot]
        best_value = 0.0
        while (card := self._foresight.card(slot, place)) is not None:
            if card.value > best_value:
                best, best_value = place, card.value
            offer = card.offer
            allowed = offer.required_trust * 1000 <= trust_milli and all(
                levels[domain] >= offer.required_prestige * 1000 for domain in offer.domains
            )
            if not allowed or place - at.places[slot] >= self._weights.reach:
                break
            for domain in offer.domains:
                loss = int(offer.prestige_delta_milli * self._world.penalty_cancel_multiplier) + 1
                levels[domain] = max(self._world.prestige_min_milli, levels[domain] - loss)
            place += 1
        return best

    def _regard(self, state: State, place: int) -> _Regard:
        client, world, weights = state.clients[place], self._world, self._weights
        share = client.trust_milli / 1000 / world.trust_max
        price = weights.pass_price if not self._cancels else weights.cancel_price * (client.trust_milli > 0)
        bad = client.is_adversarial
        factor = 1 + max(3, world.loyalty_severity * abs(client.loyalty_milli / 1000))
        return _Regard(
            trust_milli=client.trust_milli,
            work_left=1.0 if bad else 1 - world.trust_work_reduction_max * share,
            inflation=factor**world.adversarial_inflation_passes if bad else 1.0,
            factor=weights.clients[place] * (1 + weights.trust * (1 - share) ** 1.5),
            pass_price=price,
        )

    def _rate(self, members: list[Employee], domain: int) -> float:
        best = sorted([member.rates_e4[domain] for member in members], reverse=True)
        return sum(best[: self._world.team_size]) / _E4

    def _raises(self, state: State, members: list[Employee]) -> int:
        """Return what a success of a team adds to the payrolls that are still to come, in cents."""
        world = self._world
        middles = [world.tier_midpoints_cents[member.tier] for member in members]
        months = len(state.calendar.payrolls_us) - state.payrolls_charged
        return sum([int(middle * world.salary_bump_pct) for middle in middles]) * months

    def _in_slot(self, at: Standpoint, slot: int, *, growing: bool) -> list[list[_Record]]:
        """Return the records of a slot from its present offer on, by domain."""
        found = self._records.get((slot, growing))
        if found is None:
            found = self._records[slot, growing] = self._look_along(slot, at.places[slot], growing=growing)
        return found

    def _look_along(self, slot: int, place: int, *, growing: bool) -> list[list[_Record]]:
        boost = self._weights.boost / _USUAL_BOOST if growing else 0.0
        records: list[list[_Record]] = [[], [], [], []]
        best = [0.0] * len(records)
        trust = mask = 0
        for there in range(place, place + self._reach + 1):
            card = self._foresight.card(slot, there)
            if card is None:
                break
            trust = max(trust, card.offer.required_trust * 1000)
            mask |= card.mask
            value = card.value * (1 + boost * card.boost)
            if value > best[card.home]:
                best[card.home] = value
                records[card.home].append(_Record(card, value, trust, mask))
        return records

    def _open(self, at: Standpoint, record: _Record, regard: _Regard) -> bool:
        """Return whether trust and prestige allow an offer and those before it, which require the same prestige."""
        if regard.trust_milli < record.trust_milli:
            return False
        needed = record.card.offer.required_prestige * 1000
        return needed <= 1000 or all(  # noqa: PLR2004 -- one level
            level >= needed for domain, level in enumerate(at.state.prestige_milli) if record.mask >> domain & 1
        )

    def _hours(self, card: Card, regard: _Regard, rates: list[float]) -> tuple[float, float]:
        """Return how many hours a team takes for an offer, and how many it may take."""
        offer = card.offer
        hours, listed = 0.0, 0
        for domain, quantity in zip(offer.domains, offer.quantities, strict=True):
            reduced = max(_LEAST_WORK, int(quantity * regard.work_left))
            listed = max(listed, reduced if regard.inflation == 1 else quantity)
            work = reduced if regard.inflation == 1 else min(_MOST_WORK, reduced * regard.inflation)
            hours = max(hours, work / rates[domain] if rates[domain] > 0 else float("inf"))
        days = max(self._world.deadline_min_biz_days, int(listed / self._world.deadline_qty_per_day))
        return max(hours, 1e-6), days * self._day_hours * _SAFETY

    def _worth(self, state: State, card: Card, headroom: float) -> float:
        """Return what an offer is worth in cents: its reward, what the team learns, and prestige."""
        weights, offer = self._weights, card.offer
        worth = float(offer.reward_cents)
        if headroom > 0:
            worth *= 1 + weights.boost * headroom * card.boost / _USUAL_BOOST
        if weights.prestige > 0 and state.prestige_milli[card.home] < _GATE_LEVEL * 1000:
            worth *= 1 + weights.prestige * offer.prestige_delta_milli / 1000
        return worth
