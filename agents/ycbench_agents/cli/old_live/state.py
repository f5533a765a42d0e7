"""How far a run is: a frozen value, and the function that takes a turn into it."""

from __future__ import annotations

import datetime as dt
import warnings
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import attrs

from ycbench_agents.cli.old_live.fields import objects, text
from ycbench_agents.cli.old_live.figures import Totals, TurnFigures
from ycbench_agents.cli.old_live.funds import FundsSeries
from ycbench_agents.cli.old_live.work import Work
from ycbench_agents.records import RecordError, RecordWarning
from ycbench_agents.records.reading import find_run
from ycbench_agents.records.record import identity_differences
from ycbench_env.types import Calendar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ycbench_agents.records import RunPlan, RunRecord, TurnRecord
    from ycbench_agents.records.record import RunOutcome
    from ycbench_env import Config

__all__ = ["Horizon", "Pace", "RunView", "SaidCommand", "Status", "told"]

Status: TypeAlias = Literal["waiting", "running", "finished", "stopped", "failed"]
"""waiting: no turn was played in this process yet; stopped: can be resumed; failed: could not be played."""

_EPOCH: Final = dt.datetime(1970, 1, 1)  # noqa: DTZ001 -- simulated time has no zone
_MOST_COMMANDS: Final = 12
_TEXT_LENGTH: Final = 300  # what is kept of a text that a model has written


@attrs.frozen
class Horizon:
    """The simulated time of a run."""

    start: dt.datetime
    end: dt.datetime

    @classmethod
    def of(cls, config: Config) -> Horizon:
        """Return the horizon of a configuration."""
        calendar = Calendar.from_config(config)
        start, end = (_EPOCH + dt.timedelta(microseconds=time) for time in (calendar.start_us, calendar.horizon_us))
        return cls(start, end)

    def fraction(self, time: dt.datetime) -> float:
        """Return which part of it is over at a time, from 0 to 1."""
        return min(max((time - self.start) / (self.end - self.start), 0.0), 1.0)


@attrs.frozen
class SaidCommand:
    """A command, or a remark where a turn had none.

    Args:
        turn: Number of its turn.
        text: What was said, as the model wrote it, its beginning at least.
        ok: Whether it was carried out; None for a remark.
        error: Why it was not, None otherwise.
    """

    turn: int
    text: str
    ok: bool | None
    error: str | None = None


@attrs.frozen
class Pace:
    """What is timed: the part of a run that is played in this process. Times are a monotonic clock's, in seconds.

    Args:
        since_s: When it began.
        since_fraction: Which part of the horizon was over then.
        since_turn: How many turns were over then.
        last_s: When the last turn was over.
    """

    since_s: float
    since_fraction: float
    since_turn: int
    last_s: float


@attrs.frozen
class RunView:
    """How far a run is.

    Args:
        name: What it is called on the screen.
        horizon: Its simulated time.
        turn_limit: Turns after which it is cut off, None for no limit.
        funds: Funds so far.
        sim_time: Simulated time.
        turn: Turns played.
        work: Tasks.
        commands: The last commands, the latest at the end.
        invalid_commands: Commands that were not grammatical.
        totals: What the turns took.
        last: What the last turn took, None before it.
        status: What it is doing.
        reason: Why it has ended or stopped, None while it has not.
        pace: How fast it is played, None before the first turn in this process.
        recorded_turns: Turns that were in its folder before.
        recorded_progress: ``progress`` that was in its folder before.
    """

    name: str
    horizon: Horizon
    turn_limit: int | None
    funds: FundsSeries
    sim_time: dt.datetime
    turn: int = 0
    work: Work = attrs.field(factory=Work)
    commands: tuple[SaidCommand, ...] = ()
    invalid_commands: int = 0
    totals: Totals = attrs.field(factory=Totals)
    last: TurnFigures | None = None
    status: Status = "waiting"
    reason: str | None = None
    pace: Pace | None = None
    recorded_turns: int = 0
    recorded_progress: float = 0.0

    @classmethod
    def of(cls, plan: RunPlan, name: str) -> RunView:
        """Return a run before this process plays it, with what is in its folder already; never raises for that."""
        empty = cls.empty(plan, name)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RecordWarning)  # playing it will say so
                record = find_run(plan.folder)
                if record is None or identity_differences(record.identity, plan.identity):
                    return empty
                return _recorded(empty, record)
        except (RecordError, OSError, ValueError):  # playing it will say so
            return empty

    @classmethod
    def empty(cls, plan: RunPlan, name: str) -> RunView:
        """Return a run without any turn."""
        horizon = Horizon.of(plan.config)
        limits = [limit for limit in (plan.max_turns, plan.config.loop.max_turns) if limit]
        return cls(
            name=name,
            horizon=horizon,
            turn_limit=min(limits, default=None),
            funds=FundsSeries.starting_with(plan.config.world.initial_funds_cents),
            sim_time=horizon.start,
        )

    @property
    def fraction(self) -> float:
        """Which part of the simulated time is over, from 0 to 1."""
        return self.horizon.fraction(self.sim_time)

    @property
    def is_over(self) -> bool:
        """Whether nothing more will be played in this process."""
        return self.status not in {"waiting", "running"}

    @property
    def progress(self) -> float:
        """Which part of the run is over, from 0 to 1, by simulated time or by turns, whichever is nearer to its end."""
        if self.is_over:
            return 1.0
        return max(self.fraction, self.turn / self.turn_limit if self.turn_limit else 0.0)

    def left_s(self, now_s: float) -> float | None:
        """Return the estimated seconds until the end, None as long as there is nothing to judge by."""
        pace = self.pace
        if pace is None or self.is_over or pace.last_s <= pace.since_s:
            return None
        shares = [(self.fraction - pace.since_fraction, 1 - self.fraction)]
        if self.turn_limit is not None:
            shares.append((self.turn - pace.since_turn, self.turn_limit - self.turn))
        elapsed = pace.last_s - pace.since_s
        guesses = [elapsed * to_do / done for done, to_do in shares if done > 0]
        return max(0.0, min(guesses) - (now_s - pace.last_s)) if guesses else None

    def ended(self, status: Status, reason: str | None) -> RunView:
        """Return the run after its end."""
        return attrs.evolve(self, status=status, reason=None if reason is None else reason[:_TEXT_LENGTH])


def told(view: RunView, turn: TurnRecord, at_s: float) -> RunView:
    """Return a run after a turn that was played in this process.

    Args:
        view: The run before.
        turn: The turn.
        at_s: When it was over, by a monotonic clock, in seconds.
    """
    after = _folded(view, turn)
    pace = view.pace or _first_pace(view, after, at_s)
    is_over = turn.is_last or (view.turn_limit is not None and turn.turn >= view.turn_limit)
    return attrs.evolve(
        after,
        pace=attrs.evolve(pace, last_s=at_s),
        status="finished" if is_over else "running",
        reason=(turn.terminal_reason or "max_turns") if is_over else None,
    )


def _first_pace(before: RunView, after: RunView, at_s: float) -> Pace:
    """Return when the first turn began; where that is not known, the turn is left out of what is timed."""
    latency_s = after.last.latency_s if after.last else None
    if latency_s is None:
        return Pace(at_s, after.fraction, after.turn, at_s)
    return Pace(at_s - latency_s, before.fraction, before.turn, at_s)


def _recorded(view: RunView, record: RunRecord) -> RunView:
    """Return a run with the turns of its record, and as finished where it is."""
    for turn in record.turns():
        view = _folded(view, turn)
    outcome: RunOutcome = record.outcome
    if record.is_finished and view.turn == outcome.turns:
        view = view.ended("finished", outcome.terminal_reason or "max_turns")
    return attrs.evolve(view, recorded_turns=view.turn, recorded_progress=view.progress)


def _folded(view: RunView, turn: TurnRecord) -> RunView:
    """Return a run with a turn in it that is not timed."""
    figures = TurnFigures.of(turn)
    sim_time = _time(turn.sim_time) or view.sim_time
    return attrs.evolve(
        view,
        funds=view.funds.plus(view.horizon.fraction(sim_time), turn.funds_cents),
        sim_time=sim_time,
        turn=turn.turn,
        work=view.work.after(turn),
        commands=(*view.commands, *_said(turn))[-_MOST_COMMANDS:],
        invalid_commands=view.invalid_commands + turn.invalid_commands,
        totals=view.totals.plus(figures),
        last=figures,
    )


def _time(iso: str) -> dt.datetime | None:
    """Return simulated time; None for what an edited record may have instead."""
    try:
        return dt.datetime.fromisoformat(iso).replace(tzinfo=None)
    except ValueError:
        return None


def _said(turn: TurnRecord) -> Iterator[SaidCommand]:
    """Yield the last commands of a turn and what is remarkable about it."""
    answers = objects(turn.results[-_MOST_COMMANDS:])
    for answer in answers:
        yield _said_command(turn.turn, answer)
    if not answers:
        yield SaidCommand(turn.turn, "(no command)", None)
    if turn.forced_advance:
        yield SaidCommand(turn.turn, "(the environment moved time on by itself)", None)


def _said_command(turn: int, answer: Mapping[str, object]) -> SaidCommand:
    output, ok = answer.get("output"), answer.get("ok") is True
    errors = objects([output])
    error = text(errors[0], "error") if errors and not ok else None
    command = text(answer, "command") or ""
    return SaidCommand(turn, command[:_TEXT_LENGTH], ok, error and error[:_TEXT_LENGTH])
