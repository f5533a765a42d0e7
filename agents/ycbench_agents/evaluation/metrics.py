"""Metrics of a run: a flat row of named columns, and rows by month, client, failed task, command (docs/metrics.md).

A record lacks the states between commands, so its actions are played again. After each turn clock, funds, notes and
the hash of the world must be the recorded ones. Floats are quotients of whole numbers or sums by ``math.fsum``, so
every version of Python computes the same ones.
"""

# ruff: noqa: RUF009 -- a field of metrics is made by a function

from __future__ import annotations

import bisect
import datetime as dt
import hashlib
import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NoReturn, TypeAlias, TypeVar, cast

import attrs
import numpy as np

import ycbench_env
from ycbench_agents.evaluation.failures import PAPER_CAUSES, FailedTask, TaskPast, failed_task
from ycbench_agents.evaluation.notes import Attitude, attitudes
from ycbench_agents.evaluation.suite import EpisodeKey
from ycbench_agents.files import FileError, from_json, open_record, read_record, to_json, unstructure, write_file
from ycbench_agents.runs import Run, TurnRecord
from ycbench_agents.runs.run import TURNS_FILE, Tally
from ycbench_env import State, YCBenchEnv, advance, initial_state
from ycbench_env.actions import ParsedCommand, grammar_for, parse_turn
from ycbench_env.errors import needs_extra
from ycbench_env.text import shown
from ycbench_env.types import Calendar, MarketTask, Task

METRICS_FILE: Final = "metrics.json"
"""Metrics of a run, beside its record."""

METRICS_FORMAT: Final = 3
"""Version of the columns and of their definitions. 1 and 2 were measures.json, which is ignored."""

ClientPolicy: TypeAlias = Literal["both", "select", "avoid", "none"]
BankruptcyCause: TypeAlias = Literal["adversarial_client", "incapable_team", "over_committed", "no_failed_task"]
TableName: TypeAlias = Literal["months", "clients", "failures", "calls", "prestige"]

_WRITES: Final = ("scratchpad write", "scratchpad append")
_NOTES: Final = frozenset({*_WRITES, "scratchpad clear"})
_WORLD: Final = frozenset({"task accept", "task assign", "task dispatch", "task cancel", "sim resume"})
_FATES: Final = ("completed_success", "completed_fail", "cancelled")
_TOKENS: Final = ("prompt_tokens", "completion_tokens")
_STAMP_BYTES: Final = 2**16
_T = TypeVar("_T")


class MetricsError(ValueError):
    """A turn turns out otherwise than recorded; the message names the folder and the turn."""


# ---------------------------------------------------------------- columns


@attrs.frozen
class MonthRow:
    """The company at the end of a calendar month, or at the start (month 0)."""

    month: int  # 0 for the start, then 1, 2,
    label: str  # YYYY-MM; "start" for the start
    is_complete: bool  # whether the run reached the month's end; if not, the figures are those of the run's end
    funds_cents: int  # funds
    revenue_cents: int  # rewards booked within the month
    fees_cents: int  # fees for failures booked within the month
    payroll_cents: int  # salaries paid within the month
    salaries_cents: int  # sum of all monthly salaries as they stood
    prestige_milli: tuple[int, ...]  # in each domain, units of 1/1,000, as stored at the last stop of the clock


@attrs.frozen
class ClientRow:
    """One client."""

    client: str  # its name
    is_adversarial: bool  # whether it inflates work; hidden from agents
    final_trust_milli: int  # its trust at the end, units of 1/1,000
    accepted: int  # its tasks that were accepted
    succeeded: int  # those completed in time
    failed: int  # those completed late
    cancelled: int  # those given up
    trust_milli: tuple[int, ...]  # its trust in each row of ``RunMetrics.months``


@attrs.frozen
class CallRow:
    """How often one command was given."""

    command: str  # its words, such as ``task accept``; ``help`` for ``--help`` on anything
    calls: int  # how often, refused ones included
    refused: int  # how often it was refused


@attrs.frozen
class PrestigeRow:
    """Prestige at the end of a turn that changed it; turn 0 is the start."""

    turn: int  # number of the turn
    sim_time: str  # simulated time afterwards, ISO 8601
    prestige_milli: tuple[int, ...]  # prestige in each domain, units of 1/1,000


def _ratio(number: float | None, of: float | None) -> float | None:
    """Return a quotient, None where there is nothing to divide or to divide by."""
    return number / of if number is not None and of else None


def _booked(m: Meter, category: str) -> int:
    return sum(entry.amount_cents for entry in m.state.ledger if entry.category == category)


def _adversarial(m: Meter, offers: Iterable[MarketTask]) -> int:
    return sum(offer.client_name in m.adversarial for offer in offers)


def _share(m: Meter, offers: Sequence[MarketTask]) -> float | None:
    """Return the share of adversarial clients' tasks; None without any task, or in a world without clients."""
    return _ratio(_adversarial(m, offers), len(offers)) if m.start.clients else None


def _clients(m: Meter, attitude: Attitude, judged: Iterable[tuple[str, Attitude]]) -> tuple[str, ...]:
    names = {name for name, each in judged if each == attitude}
    return tuple(client.name for client in m.start.clients if client.name in names)


def _client_policy(m: Meter, judged: Iterable[tuple[str, Attitude]]) -> ClientPolicy | None:
    if not m.run.identity.scratchpad or not m.start.clients:
        return None
    kinds = {attitude for _, attitude in judged}
    return "both" if len(kinds) > 1 else "select" if "select" in kinds else "avoid" if kinds else "none"


def _bankruptcy_cause(m: Meter) -> BankruptcyCause | None:
    """Return the paper's cause of the failed tasks that lost the most reward; of equals the first of the paper's."""
    if m.ending != "bankruptcy" or not m.failures:
        return "no_failed_task" if m.ending == "bankruptcy" else None
    return max(PAPER_CAUSES, key=lambda cause: sum(row.lost_cents for row in m.failures if row.paper_cause == cause))


def _win_rate(m: Meter) -> float | None:
    succeeded, failed = (m.state.status_counts[fate] for fate in _FATES[:2])
    return _ratio(succeeded, succeeded + failed)


def _offers(m: Meter) -> list[MarketTask]:
    return [task.offer for task in m.state.tasks]


def _unfinished(m: Meter) -> list[Task]:
    return [task for task in m.state.tasks if task.status not in _FATES]


def _trusted(m: Meter) -> list[bool]:
    """Return of each task that was completed in time whether its offer required trust."""
    return [task.offer.required_trust > 0 for task in m.state.tasks if task.status == "completed_success"]


def _traced(m: Meter, name: str) -> Any:  # noqa: ANN401 -- a number of JSON, None if no turn has it
    return m.tally.total(name)[0]


def _untraced(m: Meter, *names: str) -> int | None:
    """Return how many turns lack one of the numbers; None where no model was asked, so that no turn can have them."""
    lacking = [m.tally.total(name)[1] for name in names]
    return None if m.run.identity.model is None and min(lacking) == m.tally.turns else max(lacking)


def _total_tokens(m: Meter) -> int | None:
    prompt, completion = (_traced(m, name) for name in _TOKENS)
    return None if prompt is None or completion is None else prompt + completion


def _cost_usd(m: Meter) -> float | None:
    cost = _traced(m, "cost_usd")
    return None if cost is None else float(cost)


def _seconds(first: str = "", last: str = "") -> float | None:
    """Return the seconds between two times in ISO 8601; None where there are none that can be read."""
    try:
        return (dt.datetime.fromisoformat(last or first) - dt.datetime.fromisoformat(first)).total_seconds()
    except (TypeError, ValueError):  # a record made by other means may have left the times out
        return None


def _month_rows(m: Meter) -> tuple[MonthRow, ...]:
    states, funds_cents, is_over = [m.start, *m.at_ends, m.state], m.start.funds_cents, m.state.terminal_reason
    booked = [Counter[str]() for _ in states]
    for entry in m.state.ledger:  # one move of the clock may pass several payrolls
        booked[bisect.bisect(m.month_ends, entry.time_us) + 1][entry.category] += entry.amount_cents
    rows: list[MonthRow] = []
    for month, (label, state, amounts) in enumerate(zip(m.labels, states, booked, strict=False)):
        funds_cents += amounts.total()
        is_complete = month + 1 < len(states) or is_over == "horizon_end"
        sums = amounts["task_reward"], -amounts["task_fail_penalty"], -amounts["monthly_payroll"]
        levels = state.monthly_payroll_cents, state.prestige_milli
        rows.append(MonthRow(month, label, is_complete, funds_cents, *sums, *levels))
    return tuple(rows)


def _client_rows(m: Meter) -> tuple[ClientRow, ...]:
    fates = Counter((task.offer.client_name, fate) for task in m.state.tasks for fate in ("accepted", task.status))
    rows: list[ClientRow] = []
    for place, client in enumerate(m.state.clients):
        counts = [fates[client.name, fate] for fate in ("accepted", *_FATES)]
        trust = tuple(state.trust_milli[place] for state in (m.start, *m.at_ends, m.state))
        rows.append(ClientRow(client.name, client.is_adversarial, client.trust_milli, *counts, trust_milli=trust))
    return tuple(rows)


def _by(value: Callable[[Meter], _T]) -> _T:
    """Return a field of ``RunMetrics`` with the function that computes it."""
    return attrs.field(metadata={"value": value})


@attrs.frozen
class RunMetrics:
    """Everything that is measured of one run, each column with its definition; docs/metrics.md explains them.

    None is a missing value. Units stand last: cents, months, hours, characters (``length``), thousandths (``milli``).
    """

    status: str = _by(lambda m: m.run.outcome.status)  # running, stopped or finished
    is_complete: bool = _by(lambda m: m.run.is_finished and m.tally.turns == m.run.outcome.turns)  # no turn is lost
    ending: str | None = _by(lambda m: m.ending)  # bankruptcy, horizon_end or max_turns; None when it was cut off
    is_bankrupt: bool = _by(lambda m: m.ending == "bankruptcy")
    bankruptcy_time: str | None = _by(lambda m: m.state.sim_time if m.ending == "bankruptcy" else None)  # ISO 8601
    bankruptcy_cause: BankruptcyCause | None = _by(_bankruptcy_cause)
    sim_time: str = _by(lambda m: m.state.sim_time)  # ISO 8601 without a zone
    survived_months: float = _by(lambda m: m.horizon_months * ((m.state.now_us - m.start.now_us) / m.horizon_us))
    horizon_months: int = _by(lambda m: m.horizon_months)
    initial_funds_cents: int = _by(lambda m: m.start.funds_cents)
    final_funds_cents: int = _by(lambda m: m.state.funds_cents)  # negative when bankrupt
    revenue_cents: int = _by(lambda m: _booked(m, "task_reward"))
    fees_cents: int = _by(lambda m: -_booked(m, "task_fail_penalty"))
    payroll_cents: int = _by(lambda m: -_booked(m, "monthly_payroll"))
    tasks_accepted: int = _by(lambda m: len(m.state.tasks))  # the sum of the next four
    tasks_succeeded: int = _by(lambda m: m.state.status_counts["completed_success"])  # completed by their deadline
    tasks_failed: int = _by(lambda m: m.state.status_counts["completed_fail"])  # completed after it
    tasks_cancelled: int = _by(lambda m: m.state.status_counts["cancelled"])
    tasks_unfinished: int = _by(lambda m: len(_unfinished(m)))  # planned or active at the end
    tasks_overdue: int = _by(lambda m: sum(task.deadline_us < m.state.now_us for task in _unfinished(m)))
    tasks_never_dispatched: int = _by(lambda m: sum(past.dispatched_us is None for past in m.pasts.values()))
    tasks_trusted: int = _by(lambda m: sum(_trusted(m)))  # successes whose offer required trust
    tasks_adversarial: int = _by(lambda m: _adversarial(m, _offers(m)))
    win_rate_fraction: float | None = _by(_win_rate)
    trusted_success_fraction: float | None = _by(lambda m: _ratio(sum(_trusted(m)), len(_trusted(m))))
    adversarial_fraction: float | None = _by(lambda m: _share(m, _offers(m)))
    market_adversarial_fraction: float | None = _by(lambda m: _share(m, m.start.market))
    open_adversarial_fraction: float | None = _by(lambda m: _ratio(math.fsum(m.open_shares), len(m.open_shares)))
    failed_adversarial_client: int = _by(lambda m: m.causes["adversarial_client"])
    failed_over_committed: int = _by(lambda m: m.causes["over_committed"])
    failed_late_dispatch: int = _by(lambda m: m.causes["late_dispatch"])
    failed_understaffed: int = _by(lambda m: m.causes["understaffed"])
    failed_out_of_reach: int = _by(lambda m: m.causes["out_of_reach"])
    failed_incapable_team: int = _by(lambda m: m.causes["incapable_team"])  # the paper's: the sum of those three
    client_policy: ClientPolicy | None = _by(lambda m: _client_policy(m, m.ever_judged))
    final_client_policy: ClientPolicy | None = _by(lambda m: _client_policy(m, m.judged.items()))
    selected_clients: tuple[str, ...] = _by(lambda m: _clients(m, "select", m.ever_judged))  # at any time
    avoided_clients: tuple[str, ...] = _by(lambda m: _clients(m, "avoid", m.ever_judged))
    final_selected_clients: tuple[str, ...] = _by(lambda m: _clients(m, "select", m.judged.items()))
    final_avoided_clients: tuple[str, ...] = _by(lambda m: _clients(m, "avoid", m.judged.items()))
    notes_length: int | None = _by(lambda m: len(m.notes) if m.run.identity.scratchpad else None)
    turns: int = _by(lambda m: m.tally.turns)
    commands: int = _by(lambda m: m.calls.total())  # grammatical ones, refused included, skipped ones not
    scratchpad_writes: int = _by(lambda m: m.sums["writes"])
    inspects: int = _by(lambda m: m.calls["task inspect"])
    accepts: int = _by(lambda m: m.calls["task accept"])
    writes_per_100_turns: float | None = _by(lambda m: _ratio(100 * m.sums["writes"], m.tally.turns))
    inspects_per_accept: float | None = _by(lambda m: _ratio(m.calls["task inspect"], m.calls["task accept"]))
    commands_per_turn: float | None = _by(lambda m: _ratio(m.calls.total(), m.tally.turns))
    mean_concurrency: float | None = _by(lambda m: _ratio(m.sums["task_us"], m.sums["busy_us"]))  # the paper's
    mean_concurrency_by_turn: float | None = _by(lambda m: _ratio(m.sums["peaks"], m.tally.turns))
    mean_concurrency_by_time: float | None = _by(lambda m: _ratio(m.sums["task_us"], m.sums["time_us"]))
    max_concurrency: int = _by(lambda m: m.max_concurrency)  # most tasks that were active at one moment
    invalid_commands: int = _by(lambda m: m.sums["invalid"])  # not grammatical
    skipped_commands: int = _by(lambda m: m.sums["skipped"])  # the one before ``&&`` failed
    refused_actions: int = _by(lambda m: m.sums["refused_actions"])  # commands that act on the world or the notes
    failed_queries: int = _by(lambda m: m.refused.total() - m.sums["refused_actions"])  # commands that only ask
    empty_turns: int = _by(lambda m: m.sums["empty"])
    forced_advances: int = _by(lambda m: m.sums["forced"])
    refused_calls: int | None = _by(lambda m: _traced(m, "refused_calls"))  # None if no turn has it, as below
    unusable_replies: int | None = _by(lambda m: _traced(m, "unusable_replies"))
    prompt_tokens: int | None = _by(lambda m: _traced(m, "prompt_tokens"))
    completion_tokens: int | None = _by(lambda m: _traced(m, "completion_tokens"))
    cached_tokens: int | None = _by(lambda m: _traced(m, "cached_tokens"))
    reasoning_tokens: int | None = _by(lambda m: _traced(m, "reasoning_tokens"))
    total_tokens: int | None = _by(_total_tokens)
    unknown_token_turns: int | None = _by(lambda m: _untraced(m, *_TOKENS))
    cost_usd: float | None = _by(_cost_usd)
    unknown_cost_turns: int | None = _by(lambda m: _untraced(m, "cost_usd"))
    revenue_per_usd: float | None = _by(lambda m: _ratio(_booked(m, "task_reward") / 100, _cost_usd(m)))
    latency_s: float | None = _by(lambda m: math.fsum(m.latencies_s) if m.latencies_s else None)
    retries: int | None = _by(lambda m: m.sums["attempts"] - m.sums["asked"] if m.sums["asked"] else None)
    faults: int | None = _by(lambda m: m.sums["faults"] if m.sums["asked"] else None)
    wall_s: float | None = _by(lambda m: _seconds(*m.times))  # between the ends of the first and the last turn
    months: tuple[MonthRow, ...] = _by(_month_rows)
    clients: tuple[ClientRow, ...] = _by(_client_rows)
    failures: tuple[FailedTask, ...] = _by(lambda m: tuple(m.failures))
    calls: tuple[CallRow, ...] = _by(lambda m: tuple(CallRow(n, m.calls[n], m.refused[n]) for n in sorted(m.calls)))
    prestige: tuple[PrestigeRow, ...] = _by(lambda m: tuple(m.prestige))


# ---------------------------------------------------------------- measuring


def measure_run(run: Run) -> RunMetrics:
    """Return the metrics of a run; one that is not finished is measured as far as it goes (``is_complete`` is false).

    Raises:
        MetricsError: A turn turns out otherwise than recorded; the message names it.
        RunError: The record is damaged, or its configuration cannot be used.

    Warns:
        RunWarning: The last line was cut short, or turns are lost.
    """
    meter = Meter(run)
    hasher, state, world = YCBenchEnv(meter.start.config), None, ""
    for turn in run.turns():
        meter.add(turn)
        if meter.state is not state:
            state = meter.state
            hasher.set_state(state)
            world = hasher.state_hash()
        if world != turn.state_hash:
            meter.refuse(turn, f"the world has the hash {world[:12]}, recorded is {turn.state_hash[:12]}")
    return meter.metrics()


class Meter:
    """Plays a run again, turn by turn, and holds what its metrics are computed from.

    It compares clock, funds, notes and counts with the record; the hash of the world is left to the caller.

    Raises:
        RunError: The run's configuration cannot be used.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.start = self.state = initial_state(run.config(), run.identity.seed)
        self._grammar = grammar_for(self.start.config.world)
        self._names = {spec.command_type: spec.name for spec in self._grammar.commands}
        self.labels, self.month_ends = _months(self.start.calendar)
        self.at_ends: list[State] = []  # the last state within each month
        self.adversarial = frozenset(client.name for client in self.start.clients if client.is_adversarial)
        self.horizon_months = 12 * self.start.config.sim.horizon_years
        self.horizon_us = self.start.calendar.horizon_us - self.start.now_us
        self.tally = Tally(self.start.funds_cents)
        self.ending: str | None = None
        self.sums = Counter[str]()
        self.calls, self.refused, self.causes = Counter[str](), Counter[str](), Counter[str]()
        self.max_concurrency = 0
        self.prestige = [PrestigeRow(0, self.start.sim_time, self.start.prestige_milli)]
        self.pasts: dict[str, TaskPast] = {}
        self.failures: list[FailedTask] = []
        self.open_shares: list[float] = []  # of adversarial clients among the open tasks, at each accept
        self.notes = ""
        self.judged: dict[str, Attitude] = {}  # by the notes as they stand
        self.ever_judged: set[tuple[str, Attitude]] = set()
        self.latencies_s: list[float] = []
        self.times: list[str] = []  # of the first turn and of the last

    def add(self, turn: TurnRecord) -> None:  # noqa: C901, PLR0912 -- one pass over its commands
        """Play the next turn again and measure it.

        Raises:
            MetricsError: It turns out otherwise than recorded.
        """
        was_over, sums = self.ending is not None, self.sums
        parsed = parse_turn(turn.action, self._grammar)
        if len(parsed) != len(turn.results):
            self.refuse(turn, f"{len(turn.results)} answers are recorded, its action has {len(parsed)} commands")
        peak, failed, invalid = len(self.state.active_indices), False, 0
        for one, result in zip(parsed, turn.results, strict=True):
            ok = isinstance(result, dict) and result.get("ok") is True
            # In the turn that ends the episode commands are skipped as before; after it all are refused alike.
            if one.chained and failed and not was_over:
                sums["skipped"] += 1
            elif one.command is None:
                invalid += 1
            else:
                name = self._names.get(type(one.command), "help")  # which is no line of the grammar's table
                self.calls[name] += 1
                self.refused[name] += not ok
                sums["writes"] += ok and name in _WRITES
                sums["refused_actions"] += not ok and name in _WORLD | _NOTES
                if ok and name in _NOTES:
                    content: str = getattr(one.command, "content", "")  # ``clear`` has none
                    self.notes = f"{self.notes}\n{content}" if name == "scratchpad append" and self.notes else content
                    self.judged = attitudes(self.notes, [client.name for client in self.start.clients])
                    self.ever_judged.update(self.judged.items())
                elif ok and name in _WORLD:
                    peak = max(peak, self._carry_out(turn, name, one))
            failed = not ok
        if turn.forced_advance:
            peak = max(peak, self._step(advance(self.state).state, turn))
        notes = hashlib.sha256(self.notes.encode("utf-8", "surrogatepass")).hexdigest() if self.notes else None
        for what, now, recorded in (
            ("ungrammatical commands", invalid, turn.invalid_commands),
            ("clock", self.state.sim_time, turn.sim_time),
            ("funds in cents", self.state.funds_cents, turn.funds_cents),
            ("hash of the notes", notes, turn.notes_sha256),
        ):
            if now != recorded:
                self.refuse(turn, f"{what}: got {now}, recorded {recorded}")
        self.ending = turn.terminal_reason
        self.tally.add(turn)
        self.max_concurrency = max(self.max_concurrency, peak)
        sums["peaks"] += peak
        sums["invalid"] += invalid
        sums["empty"] += not parsed
        sums["forced"] += turn.forced_advance
        if self.state.prestige_milli != self.prestige[-1].prestige_milli:
            self.prestige.append(PrestigeRow(turn.turn, self.state.sim_time, self.state.prestige_milli))
        self.times = [*self.times[:1], turn.time]
        if turn.transport is not None:  # one that holds nothing is one attempt without faults
            latency, attempts, faults = (turn.transport.get(name) for name in ("latency_s", "attempts", "faults"))
            sums["asked"] += 1
            sums["attempts"] += attempts if isinstance(attempts, int) else 1
            sums["faults"] += len(faults) if isinstance(faults, list) else 0
            if isinstance(latency, int | float) and abs(latency) < 2**63:  # 1e999 is infinity in JSON of others
                self.latencies_s.append(latency)

    def _carry_out(self, turn: TurnRecord, name: str, parsed: ParsedCommand) -> int:
        """Carry out a command and return how many tasks are active afterwards."""
        before, command = self.state, parsed.command
        assert command is not None  # noqa: S101 -- it is grammatical
        outcome = ycbench_env.transition(before, command)
        if outcome.refusal is not None:
            self.refuse(turn, f"{shown(parsed.text)} is recorded as carried out, now: {outcome.refusal}")
        if name == "task accept":
            if (share := _share(self, open_offers(before))) is not None:
                self.open_shares.append(share)
            self.pasts[outcome.state.tasks[-1].task_id] = TaskPast(before.employees)
        elif name == "task dispatch":
            past = self.pasts[getattr(command, "task_id", "")]
            past.staff_at_dispatch, past.dispatched_us = before.employees, before.now_us
        return self._step(outcome.state, turn)

    def _step(self, after: State, turn: TurnRecord) -> int:
        """Go on to a state and return how many tasks are active in it; judge tasks that failed on the way."""
        before, self.state = self.state, after
        active, passed_us = len(before.active_indices), after.now_us - before.now_us
        self.sums["task_us"] += active * passed_us
        self.sums["busy_us"] += passed_us if active else 0
        self.sums["time_us"] += passed_us
        while after.now_us >= self.month_ends[len(self.at_ends)]:
            self.at_ends.append(before)
        if passed_us or after.ledger is not before.ledger:
            for task in [after.tasks[index] for index in before.active_indices]:
                if task.status == "completed_fail":
                    is_adversarial = task.offer.client_name in self.adversarial
                    row = failed_task(after, task, self.pasts[task.task_id], turn.turn, is_adversarial=is_adversarial)
                    self.failures.append(row)
                    self.causes.update({row.cause, row.paper_cause})
        return len(after.active_indices)

    def refuse(self, turn: TurnRecord, why: str) -> NoReturn:
        """Raise MetricsError for a turn that is not as it was recorded."""
        msg = (
            f"{self.run.folder}: turn {turn.turn} is not as it was recorded: {why}; "
            "measure it with the version of ycbench-env that played it, or play the run anew"
        )
        raise MetricsError(msg)

    def metrics(self) -> RunMetrics:
        """Return the metrics of the turns so far."""
        return RunMetrics(**{field.name: field.metadata["value"](self) for field in attrs.fields(RunMetrics)})


def open_offers(state: State) -> list[MarketTask]:
    """Return the listed tasks that prestige and trust let be accepted; room for more tasks is not looked at.

    The same question as the simulator's own, put to 200 tasks at each accept; a test holds the two together.
    """
    levels, trust = state.counted_prestige_milli, {client.name: client.trust_milli for client in state.clients}
    return [
        offer
        for offer in state.market
        if min([levels[domain] for domain in offer.domains]) >= offer.required_prestige * 1000
        and trust.get(offer.client_name or "", 0) >= offer.required_trust * 1000
    ]


def _months(calendar: Calendar) -> tuple[list[str], list[int]]:
    """Return the labels of the start and of each calendar month (YYYY-MM), and the months' ends, exclusive, in us.

    The morning of the horizon's day belongs to the day before: no work is done and no payroll paid in it, and a year
    from 1 January has twelve months. The last month ends just after the horizon.
    """
    first = np.datetime64(calendar.start_us, "us").astype("datetime64[M]")
    last = (np.datetime64(calendar.horizon_us, "us").astype("datetime64[D]") - 1).astype("datetime64[M]")
    months = np.arange(first, last + 1)
    ends = (months + 1).astype("datetime64[us]").astype(int).tolist()
    return ["start", *months.astype(str).tolist()], [*ends[:-1], calendar.horizon_us + 1]


# ---------------------------------------------------------------- the file beside a record


@attrs.frozen
class _MetricsFile:
    """Content of metrics.json; ``measured_turns`` is the stamp of the turns that were measured."""

    format: int
    measured_turns: str
    metrics: RunMetrics


def store_metrics(run: Run) -> RunMetrics:
    """Return the metrics in the folder of a run; where there are none, measure it and write them.

    Raises:
        MetricsError: A turn turns out otherwise than recorded.
        RunError: The record is damaged.
        FileError: The file cannot be written.
    """
    if (there := read_metrics(run.folder)) is not None:
        return there
    stamp = _stamp(run.folder)
    metrics = measure_run(run)
    write_file(run.folder / METRICS_FILE, to_json(unstructure(_MetricsFile(METRICS_FORMAT, stamp, metrics))) + "\n")
    return metrics


def read_metrics(folder: Path) -> RunMetrics | None:
    """Return the metrics in the folder of a run; None where there are none of this format and of its turns."""
    path = folder / METRICS_FILE
    try:
        stored = from_json(read_record(path), _MetricsFile, path)
        is_of_run = stored.format == METRICS_FORMAT and stored.measured_turns == _stamp(folder)
    except (FileError, FileNotFoundError):
        return None
    return stored.metrics if is_of_run and stored.metrics.is_complete else None


def _stamp(folder: Path) -> str:
    """Return size and SHA-256 of the end of the file of turns, or raise FileError if it is no regular file."""
    try:
        descriptor = open_record(folder / TURNS_FILE)
    except FileNotFoundError:
        return "0"
    with os.fdopen(descriptor, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _STAMP_BYTES))
        return f"{size} {hashlib.sha256(file.read()).hexdigest()}"


# ---------------------------------------------------------------- tables


_DTYPES: Final = {"int": "Int64", "float": "Float64", "bool": "boolean"}
_ROW_TYPES: Final[Mapping[str, type]] = {
    "months": MonthRow,
    "clients": ClientRow,
    "failures": FailedTask,
    "calls": CallRow,
    "prestige": PrestigeRow,
}


def _dtypes_of(kind: type) -> dict[str, str]:
    """Return the pandas dtype of each field of a class, by its annotation: object for a tuple, string for a literal."""
    kinds = {name: str(annotation).removesuffix(" | None") for name, annotation in kind.__annotations__.items()}
    return {name: "object" if kind.startswith("tuple") else _DTYPES.get(kind, "string") for name, kind in kinds.items()}


def metrics_dtypes() -> dict[str, str]:
    """Return the pandas dtype of each column of ``metrics_row``: string, Int64, Float64 or boolean."""
    columns = {name: kind for name, kind in _dtypes_of(RunMetrics).items() if name not in _ROW_TYPES}
    return {name: "string" if kind == "object" else kind for name, kind in columns.items()}


def metrics_row(metrics: RunMetrics) -> dict[str, str | int | float | bool | None]:
    """Return the columns of a run by name; names of clients are one text, with commas between them."""
    values = {name: getattr(metrics, name) for name in metrics_dtypes()}
    return {name: ", ".join(value) if isinstance(value, tuple) else value for name, value in values.items()}


def metrics_table(runs: Mapping[EpisodeKey, RunMetrics], name: TableName) -> Any:  # noqa: ANN401 -- a pandas.DataFrame, which is of an extra
    """Return the rows in a field of many runs as a ``pandas.DataFrame``: the key of the episode, then the row's fields.

    Columns and dtypes are the same for no runs; a missing value is NA; what a row has several of is a tuple.

    Raises:
        MissingExtraError: pandas is not installed.
    """
    with needs_extra("evaluation", "tables of metrics need pandas"):
        import pandas as pd  # noqa: PLC0415 -- of an extra, and slow to import
    rows = [
        (*attrs.astuple(key), *attrs.astuple(row, recurse=False))
        for key, metrics in runs.items()
        for row in getattr(metrics, name)
    ]
    dtypes = {**_dtypes_of(EpisodeKey), **_dtypes_of(_ROW_TYPES[name])}
    # By column, so that None and NaN never meet in one array of objects.
    columns = [
        pd.Series([row[place] for row in rows], dtype=cast("Any", kind)) for place, kind in enumerate(dtypes.values())
    ]
    return pd.DataFrame(dict(zip(dtypes, columns, strict=True)))
