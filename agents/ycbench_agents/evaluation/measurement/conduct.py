"""What an agent said: commands, notes, concurrency, and what went wrong on the way."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from typing import TYPE_CHECKING, Final, cast

import attrs

from ycbench_agents.evaluation.measurement.client_policy import NotesReading
from ycbench_agents.evaluation.measurement.conduct_measures import (
    Behaviour,
    CommandCalls,
    NotesMeasures,
    Reliability,
    TokenUse,
    Transport,
)
from ycbench_agents.evaluation.measurement.quotient import ratio
from ycbench_agents.evaluation.measurement.replayed import ACCEPT, ACTIONS, APPEND, WRITE
from ycbench_agents.records.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ycbench_agents.base import JsonObject
    from ycbench_agents.evaluation.measurement.note_words import Attitude
    from ycbench_agents.evaluation.measurement.replayed import ReplayedTurn, SaidCommand
    from ycbench_agents.records import TurnRecord

__all__ = ["Concurrency", "Conversation", "Notes", "Requests"]

_INSPECT: Final = "task inspect"


@attrs.define
class Concurrency:
    """Counts active tasks from turn to turn."""

    _turns: int = 0
    _sum_of_peaks: int = 0
    _peak: int = 0
    _task_us: int = 0
    _time_us: int = 0

    def add(self, turn: ReplayedTurn) -> None:
        """Count the active tasks of a turn; their number changes only where the world does."""
        peak = len(turn.before.active_indices)
        for before, after in turn.steps():
            active, passed_us = len(before.active_indices), after.now_us - before.now_us
            self._task_us += active * passed_us
            self._time_us += passed_us
            peak = max(peak, len(after.active_indices))
        self._turns += 1
        self._sum_of_peaks += peak
        self._peak = max(self._peak, peak)

    @property
    def by_turn(self) -> float | None:
        """Mean over turns of the most active tasks at one moment of the turn."""
        return ratio(self._sum_of_peaks, self._turns)

    @property
    def by_time(self) -> float | None:
        """Mean number of active tasks over simulated time."""
        return ratio(self._task_us, self._time_us)

    @property
    def highest(self) -> int:
        """Most active tasks at one moment."""
        return self._peak


@attrs.define
class Conversation:
    """Counts commands from turn to turn."""

    _turns: int = 0
    _calls: Counter[str] = attrs.field(factory=Counter[str])
    _refused: Counter[str] = attrs.field(factory=Counter[str])
    _invalid: int = 0
    _skipped: int = 0
    _empty_turns: int = 0
    _forced_advances: int = 0

    def add(self, turn: ReplayedTurn) -> None:
        """Count what was said in a turn."""
        self._turns += 1
        self._empty_turns += not turn.commands
        self._forced_advances += turn.record.forced_advance
        for said in turn.commands:
            self._count(said)

    def _count(self, said: SaidCommand) -> None:
        """Count a command once: as skipped, as not grammatical, or by its name."""
        if said.skipped:
            self._skipped += 1
        elif said.name is None:
            self._invalid += 1
        else:
            self._calls[said.name] += 1
            self._refused[said.name] += not said.ok

    def calls(self) -> tuple[CommandCalls, ...]:
        """Return how often each command was said, sorted by name."""
        return tuple(CommandCalls(name, self._calls[name], self._refused[name]) for name in sorted(self._calls))

    def behaviour(self, concurrency: Concurrency) -> Behaviour:
        """Return table 3 of the run."""
        return Behaviour(
            turns=self._turns,
            commands=self._calls.total(),
            scratchpad_writes=sum(self._calls[name] - self._refused[name] for name in (WRITE, APPEND)),
            inspects=self._calls[_INSPECT],
            accepts=self._calls[ACCEPT],
            mean_concurrency_by_turn=concurrency.by_turn,
            mean_concurrency_by_time=concurrency.by_time,
            max_concurrency=concurrency.highest,
        )

    def reliability(self, totals: Mapping[str, tuple[float | None, int]]) -> Reliability:
        """Return what went wrong.

        Args:
            totals: ``Requests.totals``.
        """
        refused_actions = sum(number for name, number in self._refused.items() if name in ACTIONS)
        return Reliability(
            invalid_commands=self._invalid,
            skipped_commands=self._skipped,
            refused_actions=refused_actions,
            failed_queries=self._refused.total() - refused_actions,
            empty_turns=self._empty_turns,
            forced_advances=self._forced_advances,
            refused_calls=_whole(totals, "refused_calls"),
            unusable_replies=_whole(totals, "unusable_replies"),
        )


@attrs.define
class Notes:
    """Reads every text that the notes ever have.

    Args:
        clients: Names of the clients.
    """

    clients: Sequence[str]
    _reading: NotesReading = attrs.field(init=False)
    _writes: int = 0
    _selected: set[str] = attrs.field(factory=set[str], init=False)
    _avoided: set[str] = attrs.field(factory=set[str], init=False)

    def __attrs_post_init__(self) -> None:
        """Begin with empty notes."""
        self._reading = NotesReading.of(self.clients)

    def add(self, turn: ReplayedTurn) -> None:
        """Read what was noted in a turn."""
        for said in turn.commands:
            self._writes += said.ok and said.name in {WRITE, APPEND}
            if said.notes != self._reading.text:
                self._reading = self._reading.then(said.notes)
                self._selected.update(self._naming("select"))
                self._avoided.update(self._naming("avoid"))

    def _naming(self, attitude: Attitude) -> tuple[str, ...]:
        """Return of whom the notes say this now."""
        return tuple(name for name, said in self._reading.attitudes.items() if said == attitude)

    def measures(self) -> NotesMeasures:
        """Return what the notes said of clients up to here."""
        return NotesMeasures(
            writes=self._writes,
            final_length=len(self._reading.text),
            selected=tuple(name for name in self.clients if name in self._selected),
            avoided=tuple(name for name in self.clients if name in self._avoided),
            final_selected=self._naming("select"),
            final_avoided=self._naming("avoid"),
        )


@attrs.define
class Requests:
    """Sums up what traces and transports tell."""

    _tally: Tally = attrs.field(factory=lambda: Tally(0), init=False)
    _latency_s: list[float] = attrs.field(factory=list[float], init=False)
    _attempts: int = 0
    _asked: int = 0
    _faults: int = 0
    _first: str | None = None
    _last: str | None = None

    def add(self, turn: TurnRecord) -> None:
        """Count a turn."""
        self._tally.add(turn)
        self._first = self._first or turn.time
        self._last = turn.time
        if turn.transport is not None:
            self._add_transport(turn.transport)

    def _add_transport(self, transport: JsonObject) -> None:
        """Count how a reply came; what a policy does not tell of it is a single attempt without faults."""
        latency, attempts, faults = (transport.get(name) for name in ("latency_s", "attempts", "faults"))
        self._asked += 1
        self._attempts += attempts if isinstance(attempts, int) else 1
        self._faults += len(faults) if isinstance(faults, list) else 0
        if isinstance(latency, int | float):
            self._latency_s.append(latency)

    @property
    def totals(self) -> dict[str, tuple[float | None, int]]:
        """Sum of each count of the traces by name, None if no turn tells, and how many turns do not."""
        totals = cast("dict[str, JsonObject]", self._tally.outcome("running", "").totals)
        return {
            name: (cast("float | None", total["sum"]), cast("int", total["unknown_turns"]))
            for name, total in totals.items()
        }

    def tokens(self) -> TokenUse:
        """Return tokens and cost."""
        totals = self.totals
        cost, unknown_cost_turns = totals.get("cost_usd", (None, self._tally.turns))
        return TokenUse(
            prompt=_whole(totals, "prompt_tokens"),
            completion=_whole(totals, "completion_tokens"),
            cached=_whole(totals, "cached_tokens"),
            reasoning=_whole(totals, "reasoning_tokens"),
            unknown_turns=max(
                totals.get(name, (None, self._tally.turns))[1] for name in ("prompt_tokens", "completion_tokens")
            ),
            cost_usd=None if cost is None else float(cost),
            unknown_cost_turns=unknown_cost_turns,
        )

    def transport(self) -> Transport:
        """Return times and retries."""
        return Transport(
            latency_s=float(sum(self._latency_s)) if self._latency_s else None,
            retries=self._attempts - self._asked if self._asked else None,
            faults=self._faults if self._asked else None,
            wall_s=_seconds_between(self._first, self._last),
        )


def _whole(totals: Mapping[str, tuple[float | None, int]], name: str) -> int | None:
    number = totals.get(name, (None, 0))[0]
    return None if number is None else int(number)


def _seconds_between(first: str | None, last: str | None) -> float | None:
    """Return the seconds between two times in ISO 8601; None where there are none that can be read."""
    try:
        begun, ended = dt.datetime.fromisoformat(first or ""), dt.datetime.fromisoformat(last or "")
        return (ended - begun).total_seconds()
    except (TypeError, ValueError):  # a record made by other means may have left the times out
        return None
