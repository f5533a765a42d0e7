"""The future market, seen through ``transition`` on imagined states: privileged knowledge that no agent has.

What a slot lists after its n-th acceptance depends on the run seed, the slot and n alone (Y-2.5). So a slot can be
walked along in a copy of the first state in which every client trusts the company and every prestige is high: the
offers that come up are those of the real episode, whatever happens in it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, cast

import attrs

import ycbench_env
from ycbench_agents.scripted import commands
from ycbench_env import Config, State
from ycbench_env.actions import parse_turn
from ycbench_env.config import WorldConfig
from ycbench_env.types import Client, Command, MarketTask

PASSES_A_SLOT: Final = 998
"""How far a slot is looked along: after 1,000 acceptances its ids meet the next slot's, and replaying takes long."""
LEAST_WORK: Final = 200
MOST_WORK: Final = 25_000
"""Units of an accepted task in each domain, at least and at most."""
E4: Final = 10_000
HOUR_US: Final = 3_600_000_000
DAY_US: Final = 24 * HOUR_US

_HIGH_MILLI: Final = 10**6


class PlannerError(ValueError):
    """A configuration is not covered, or a plan is none, or not of its score; the message shows what was expected."""


@attrs.frozen
class Card:
    """An offer and what a rollout asks about it most often."""

    offer: MarketTask
    accept: str  # the command
    place: int  # how many acceptances in its slot come before it
    home: int  # domain with the most work
    value: float  # cents of reward for each unit of work before trust reduces it
    boost: float  # skill boost, a fraction
    mask: int  # its domains, a bit each


class Foresight:
    """The offers of every slot in order, drawn from the first state of an episode when they are first asked for.

    Raises:
        PlannerError: Replacements are numbered by the episode, so what a slot will list depends on all accepts.
    """

    def __init__(self, start: State) -> None:
        world = start.config.world
        if world.replacement_numbering != "slot":
            msg = "planner: got replacement_numbering = episode, expected slot, by which coming offers are known"
            raise PlannerError(msg)
        trust_milli = round(world.trust_max * 1000)
        open_to_all = attrs.evolve(
            start,
            # Any number of tasks may be open, and what is accepted is replaced at once.
            config=attrs.evolve(start.config, world=attrs.evolve(world, max_open_tasks=None, refill_at="accept")),
            clients=tuple([attrs.evolve(client, trust_milli=trust_milli) for client in start.clients]),
            prestige_milli=tuple([max(_HIGH_MILLI, level) for level in start.prestige_milli]),
        )
        self._ahead = [open_to_all] * len(start.market)
        self._cards: list[list[Card]] = [[] for _ in start.market]

    def card(self, slot: int, place: int) -> Card | None:
        """Return what a slot lists after so many acceptances, None beyond what is looked at."""
        cards = self._cards[slot]
        while len(cards) <= place:
            if len(cards) > PASSES_A_SLOT:
                return None
            if cards:
                outcome = ycbench_env.transition(self._ahead[slot], command_of(cards[-1].accept))
                if outcome.refusal is not None:  # it requires a trust that no client can reach
                    return None
                self._ahead[slot] = outcome.state
            offer = self._ahead[slot].market[slot]
            most, last = max([(each, -domain) for domain, each in zip(offer.domains, offer.quantities, strict=True)])
            cards.append(
                Card(
                    offer=offer,
                    accept=commands.accept(offer.task_id),
                    place=len(cards),
                    home=-last,
                    value=offer.reward_cents / max(1, most),
                    boost=offer.skill_boost_e4 / E4,
                    mask=sum([1 << domain for domain in offer.domains]),
                )
            )
        return cards[place]


def command_of(text: str) -> Command:
    """Return the command that a text of this package means."""
    return cast("Command", parse_turn(text)[0].command)


# ---- the rules that planner and bound know

# A setting of [world], which values the arguments allow, and one of these.
_SHARED: Final[tuple[tuple[str, Callable[[Any], bool], str], ...]] = (
    ("num_clients", lambda value: value > 0, "6"),
    ("replacement_prestige", lambda value: value == "same", "same"),
    ("task_draw_order", lambda value: value == "prestige_first", "prestige_first"),
    ("min_task_qty", lambda value: value >= LEAST_WORK, "200"),
    ("salary_raise_basis", lambda value: value == "tier_midpoint", "tier_midpoint"),
    ("resume_stops_at_payroll", lambda value: value, "true"),
)
_KNOWN: Final = {
    "bound": (*_SHARED, ("skill_rate_max", lambda value: value != "none", "10")),
    "planner": (
        *_SHARED,
        ("min_task_qty", lambda value: value <= LEAST_WORK, "200"),
        ("replacement_numbering", lambda value: value == "slot", "slot"),
        ("prestige_gate", lambda value: value == "required_domains", "required_domains"),
        ("deadline_basis", lambda value: value == "largest", "largest"),
        ("refill_at", lambda value: value in {"accept", "dispatch"}, "accept"),
    ),
}


def check_covered(whose: Literal["bound", "planner"], config: Config) -> None:
    """Raise a PlannerError that names the rules of a configuration that planner or bound do not know."""
    broken = [(name, value) for name, holds, value in _KNOWN[whose] if not holds(getattr(config.world, name))]
    if broken:
        got = ", ".join(f"world.{name} = {str(getattr(config.world, name)).lower()}" for name, _ in broken)
        remedy = " ".join(f"--set world.{name}={value}" for name, value in broken)
        msg = (
            f"{whose}: it does not know the rules of {config.name!r}: got {got}; play default or reference, or {remedy}"
        )
        raise PlannerError(msg)


def inflation(world: WorldConfig, client: Client) -> float:
    """Return by what an adversarial client multiplies work in one pass."""
    return 1 + max(3, world.loyalty_severity * abs(client.loyalty_milli / 1000))
