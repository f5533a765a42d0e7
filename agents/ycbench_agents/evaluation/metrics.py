"""Metrics of a run: a flat row of named columns, and rows by month, client, failed task, command (docs/metrics.md).

A record lacks the states between commands, so its actions are played again. After each turn clock, funds, notes and
the hash of the world must be the recorded ones. Floats are quotients of whole numbers or sums by ``math.fsum``, so
every version of Python computes the same ones.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import itertools
import math
import os
import typing
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal, NoReturn, TypeAlias, cast

import attrs

import ycbench_env
from ycbench_agents.evaluation.failures import PAPER_CAUSES, FailedTask, TaskPast, failed_task
from ycbench_agents.evaluation.notes import Attitude, NotesReading
from ycbench_agents.evaluation.suite import EpisodeKey
from ycbench_agents.files import FileError, from_json, open_record, read_record, to_json, unstructure, write_file
from ycbench_agents.runs import Run, TurnRecord
from ycbench_agents.runs.run import TURNS_FILE, Tally
from ycbench_env import MissingExtraError, State, YCBenchEnv, advance, initial_state
from ycbench_env.actions import ParsedCommand, grammar_for, parse_turn
from ycbench_env.text import shown
from ycbench_env.types import Calendar, Command, MarketTask

METRICS_FILE: Final = "metrics.json"
"""Metrics of a run, beside its record."""

METRICS_FORMAT: Final = 3
"""Version of the columns and of their definitions. 1 and 2 were measures.json, which is ignored."""

ClientPolicy: TypeAlias = Literal["both", "select", "avoid", "none"]
BankruptcyCause: TypeAlias = Literal["adversarial_client", "incapable_team", "over_committed", "no_failed_task"]
TableName: TypeAlias = Literal["months", "clients", "failures", "calls", "prestige"]

_ACCEPT: Final = "task accept"
_DISPATCH: Final = "task dispatch"
_WRITE: Final = "scratchpad write"
_APPEND: Final = "scratchpad append"
_CLEAR: Final = "scratchpad clear"
_NOTES: Final = frozenset({_WRITE, _APPEND, _CLEAR})
_WORLD: Final = frozenset({_ACCEPT, "task assign", _DISPATCH, "task cancel", "sim resume"})
_HELP: Final = "help"  # no line of the grammar's table
_FATES: Final = ("completed_success", "completed_fail", "cancelled")
_EPOCH: Final = dt.datetime(1970, 1, 1)  # noqa: DTZ001 -- simulated time has no zone
_MICROSECOND: Final = dt.timedelta(microseconds=1)
_STAMP_BYTES: Final = 2**16


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


@attrs.frozen
class RunMetrics:
    """Everything that is measured of one run; None is a missing value. docs/metrics.md defines each column.

    Units stand last: cents, months, hours, characters (``length``), thousandths (``milli``).
    """

    status: str  # running, stopped or finished, as in the record
    is_complete: bool  # whether the run is finished and none of its turns is lost
    ending: str | None  # bankruptcy, horizon_end or max_turns; None when it was cut off from outside or goes on
    is_bankrupt: bool  # whether funds fell below 0
    bankruptcy_time: str | None  # simulated time of the bankruptcy, ISO 8601
    bankruptcy_cause: BankruptcyCause | None  # paper cause of the failed tasks that lost the most reward
    sim_time: str  # simulated time after the last turn, ISO 8601 without a zone
    survived_months: float  # simulated time that was played, in twelfths of a year of the horizon
    horizon_months: int  # months of the horizon
    initial_funds_cents: int  # funds at the start
    final_funds_cents: int  # funds after the last turn; negative when bankrupt
    revenue_cents: int  # rewards that were booked
    fees_cents: int  # fees for failures that were booked
    payroll_cents: int  # salaries that were paid
    tasks_accepted: int  # accepted tasks: the sum of the next four
    tasks_succeeded: int  # completed by their deadline
    tasks_failed: int  # completed after it
    tasks_cancelled: int  # given up
    tasks_unfinished: int  # planned or active at the end
    tasks_overdue: int  # unfinished tasks whose deadline was past
    tasks_never_dispatched: int  # accepted tasks of any fate on which nobody ever worked
    tasks_trusted: int  # successes whose offer required trust
    tasks_adversarial: int  # accepted tasks of adversarial clients
    win_rate_fraction: float | None  # tasks_succeeded / (tasks_succeeded + tasks_failed)
    trusted_success_fraction: float | None  # tasks_trusted / tasks_succeeded
    adversarial_fraction: float | None  # tasks_adversarial / tasks_accepted
    market_adversarial_fraction: float | None  # share of adversarial clients' tasks on the market, which never changes
    open_adversarial_fraction: float | None  # among tasks that could be accepted, mean over accepts
    failed_adversarial_client: int  # failed tasks with this cause
    failed_over_committed: int
    failed_late_dispatch: int
    failed_understaffed: int
    failed_out_of_reach: int
    failed_incapable_team: int  # the paper's cause: the sum of the three before
    client_policy: ClientPolicy | None  # which clients the notes named at any time: both, select, avoid or none
    final_client_policy: ClientPolicy | None  # the same of the notes at the end
    selected_clients: tuple[str, ...]  # clients that the notes named at any time as ones to work with
    avoided_clients: tuple[str, ...]  # clients that the notes named at any time as ones to avoid
    final_selected_clients: tuple[str, ...]  # the same of the notes at the end
    final_avoided_clients: tuple[str, ...]  # the same of the notes at the end
    notes_length: int | None  # length of the notes at the end, in characters; None without a scratchpad
    turns: int  # turns played
    commands: int  # grammatical commands, refused ones included, those skipped after ``&&`` not
    scratchpad_writes: int  # ``scratchpad write`` and ``append`` that were carried out
    inspects: int  # ``task inspect`` commands
    accepts: int  # ``task accept`` commands
    writes_per_100_turns: float | None  # scratchpad writes a hundred turns
    inspects_per_accept: float | None  # inspects / accepts
    commands_per_turn: float | None  # commands / turns
    mean_concurrency: float | None  # mean number of active tasks over the simulated time with at least one: the paper's
    mean_concurrency_by_turn: float | None  # mean over turns of the most active tasks at one moment
    mean_concurrency_by_time: float | None  # mean number of active tasks over all simulated time
    max_concurrency: int  # most tasks that were active at one moment
    invalid_commands: int  # commands that were not grammatical
    skipped_commands: int  # commands that were skipped because the one before ``&&`` failed
    refused_actions: int  # grammatical commands that act on the world or the notes and were refused
    failed_queries: int  # grammatical commands that only ask and were refused
    empty_turns: int  # turns without any command
    forced_advances: int  # turns in which the environment moved time by itself
    refused_calls: int | None  # malformed tool calls of a model's replies; None if no turn tells
    unusable_replies: int | None  # replies of which nothing was run; None if no turn tells
    prompt_tokens: int | None  # tokens of prompts; this and the next four: None if no turn tells
    completion_tokens: int | None  # tokens of replies, reasoning included where the server counts so
    cached_tokens: int | None  # prompt tokens that were cached
    reasoning_tokens: int | None  # tokens of reasoning
    total_tokens: int | None  # prompt_tokens + completion_tokens
    unknown_token_turns: int  # turns that do not tell their tokens; the sums lack those
    cost_usd: float | None  # cost, in dollars; None if no turn tells
    unknown_cost_turns: int  # turns that do not tell their cost
    revenue_per_usd: float | None  # rewards in simulated dollars a dollar of cost; None without a known cost above 0
    latency_s: float | None  # seconds of waiting for replies. This and the next three may differ between equal runs
    retries: int | None  # requests that were sent again; None for a policy that asks nobody
    faults: int | None  # faults on the way; None likewise
    wall_s: float | None  # from the end of the first turn to the end of the last, pauses included
    months: tuple[MonthRow, ...]  # the start and the end of each month
    clients: tuple[ClientRow, ...]  # each client, in the order of the world
    failures: tuple[FailedTask, ...]  # each failed task, in order of completion
    calls: tuple[CallRow, ...]  # each command that was given, sorted by name
    prestige: tuple[PrestigeRow, ...]  # prestige by turn, where it changed


def _ratio(number: float | None, of: float | None) -> float | None:
    """Return a quotient, None where there is nothing to divide or to divide by."""
    return number / of if number is not None and of else None


# ---------------------------------------------------------------- measuring


def measure_run(run: Run) -> RunMetrics:
    """Return the metrics of a run; one that is not finished is measured as far as it goes (``is_complete`` is false).

    Args:
        run: The run, as ``read_run`` returns it.

    Raises:
        MetricsError: A turn turns out otherwise than recorded; the message names it.
        RunError: The record is damaged, or its configuration cannot be used.

    Warns:
        RunWarning: The last line was cut short, or turns are lost.
    """
    meter = Meter(run)
    for turn in run.turns():
        meter.add(turn)
    return meter.metrics()


class Meter:
    """Measures a run whose turns are handed over one by one.

    Args:
        run: The run.
        hashes: Whether the hash of the world is compared after each turn; a caller that replays the run itself has
            compared it already.

    Raises:
        RunError: The run's configuration cannot be used.
    """

    def __init__(self, run: Run, *, hashes: bool = True) -> None:
        self._run = run
        self._start = self._state = initial_state(run.config(), run.identity.seed)
        self._hashing = YCBenchEnv(self._start.config) if hashes else None
        self._hash: str | None = None
        self._grammar = grammar_for(self._start.config.world)
        self._names = {spec.command_type: spec.name for spec in self._grammar.commands}
        self._turns = 0
        self._ending: str | None = None
        # notes
        self._reading = NotesReading.of([client.name for client in self._start.clients])
        self._notes = ""
        self._selected: set[str] = set()
        self._avoided: set[str] = set()
        # tasks
        self._adversarial = frozenset(client.name for client in self._start.clients if client.is_adversarial)
        self._pasts: dict[str, TaskPast] = {}
        self._failures: list[FailedTask] = []
        self._open_fractions: list[float] = []
        # time
        self._month_ends = _month_ends(self._start.calendar)
        self._at_ends: list[State] = []  # the last state within each month
        self._prestige = [PrestigeRow(0, self._start.sim_time, self._start.prestige_milli)]
        self._sum_of_peaks = self._peak = self._task_us = self._busy_us = self._time_us = 0
        # conversation
        self._calls: Counter[str] = Counter()
        self._refused: Counter[str] = Counter()
        self._invalid = self._skipped = self._empty_turns = self._forced_advances = 0
        # model
        self._tally = Tally(self._start.funds_cents)
        self._latencies_s: list[float] = []
        self._asked = self._attempts = self._faults = 0
        self._first_time: str | None = None
        self._last_time: str | None = None

    def add(self, turn: TurnRecord) -> None:
        """Play the next turn again and measure it.

        Raises:
            MetricsError: It turns out otherwise than recorded.
        """
        before, was_over = self._state, self._ending is not None
        parsed = parse_turn(turn.action, self._grammar)
        if len(parsed) != len(turn.results):
            self._refuse(turn, f"{len(turn.results)} answers are recorded, its action has {len(parsed)} commands")
        peak, failed, invalid = len(before.active_indices), False, 0
        for one, result in zip(parsed, turn.results, strict=True):
            ok = isinstance(result, dict) and result.get("ok") is True
            # In the turn that ends the episode commands are skipped as before; after it all are refused alike.
            if one.chained and failed and not was_over:
                self._skipped += 1
            elif one.command is None:
                invalid += 1
            else:
                name = self._names.get(type(one.command), _HELP)
                self._calls[name] += 1
                self._refused[name] += not ok
                if ok and name in _NOTES:
                    self._note(name, one.command)
                elif ok and name in _WORLD:
                    peak = max(peak, self._carry_out(turn, name, one))
            failed = not ok
        if invalid != turn.invalid_commands:
            self._refuse(turn, f"{invalid} of its commands are not grammatical, recorded are {turn.invalid_commands}")
        if turn.forced_advance:
            peak = max(peak, self._step(advance(self._state).state, turn))
        self._check(turn, before)
        self._turns, self._ending = turn.turn, turn.terminal_reason
        self._invalid += invalid
        self._empty_turns += not parsed
        self._forced_advances += turn.forced_advance
        self._sum_of_peaks += peak
        self._peak = max(self._peak, peak)
        if self._state.prestige_milli != self._prestige[-1].prestige_milli:
            self._prestige.append(PrestigeRow(turn.turn, self._state.sim_time, self._state.prestige_milli))
        self._follow_model(turn)

    def _carry_out(self, turn: TurnRecord, name: str, parsed: ParsedCommand) -> int:
        """Carry out a command and return how many tasks are active afterwards."""
        before, command = self._state, parsed.command
        assert command is not None  # noqa: S101 -- it is grammatical
        outcome = ycbench_env.transition(before, command)
        if outcome.refusal is not None:
            self._refuse(turn, f"{shown(parsed.text)} is recorded as carried out, now: {outcome.refusal}")
        task_id: str = getattr(command, "task_id", "")
        if name == _ACCEPT:
            if self._start.clients:
                judged = [offer.client_name in self._adversarial for offer in open_offers(before)]
                self._open_fractions.append(sum(judged) / len(judged))
            self._pasts[outcome.state.tasks[-1].task_id] = TaskPast(before.employees)
        elif name == _DISPATCH:
            self._pasts[task_id] = attrs.evolve(
                self._pasts[task_id], staff_at_dispatch=before.employees, dispatched_us=before.now_us
            )
        return self._step(outcome.state, turn)

    def _step(self, after: State, turn: TurnRecord) -> int:
        """Go on to a state and return how many tasks are active in it; judge tasks that failed on the way."""
        before, self._state = self._state, after
        active, passed_us = len(before.active_indices), after.now_us - before.now_us
        self._task_us += active * passed_us
        self._busy_us += passed_us if active else 0
        self._time_us += passed_us
        while after.now_us >= self._month_ends[len(self._at_ends)][1]:
            self._at_ends.append(before)
        if passed_us or after.ledger is not before.ledger:
            for task in [after.tasks[index] for index in before.active_indices]:
                if task.status == "completed_fail":
                    is_adversarial = task.offer.client_name in self._adversarial
                    past = self._pasts[task.task_id]
                    self._failures.append(failed_task(after, task, past, turn.turn, is_adversarial=is_adversarial))
        return len(after.active_indices)

    def _note(self, name: str, command: Command) -> None:
        """Change the notes as the scratchpad does, and read them."""
        content: str = getattr(command, "content", "")  # ``clear`` has none
        self._notes = f"{self._notes}\n{content}" if name == _APPEND and self._notes else content
        if self._notes != self._reading.text:
            self._reading = self._reading.then(self._notes)
            self._selected.update(self._naming("select"))
            self._avoided.update(self._naming("avoid"))

    def _naming(self, attitude: Attitude) -> tuple[str, ...]:
        return tuple(name for name, judged in self._reading.attitudes.items() if judged == attitude)

    def _check(self, turn: TurnRecord, before: State) -> None:
        """Refuse a turn that does not lead to the recorded world and notes."""
        reached, recorded = (self._state.sim_time, self._state.funds_cents), (turn.sim_time, turn.funds_cents)
        if reached != recorded:
            self._refuse(turn, f"clock and funds in cents are {reached}, recorded are {recorded}")
        if self._hashing is not None:
            if self._state is not before or self._hash is None:
                self._hashing.set_state(self._state)
                self._hash = self._hashing.state_hash()
            if self._hash != turn.state_hash:
                self._refuse(turn, f"the world has the hash {self._hash[:12]}, recorded is {turn.state_hash[:12]}")
        notes = hashlib.sha256(self._notes.encode("utf-8", "surrogatepass")).hexdigest() if self._notes else None
        if notes != turn.notes_sha256:
            self._refuse(turn, "the notes have another hash than recorded")

    def _refuse(self, turn: TurnRecord, why: str) -> NoReturn:
        msg = (
            f"{self._run.folder}: turn {turn.turn} is not as it was recorded: {why}; "
            "measure it with the version of ycbench-env that played it, or play the run anew"
        )
        raise MetricsError(msg)

    def _follow_model(self, turn: TurnRecord) -> None:
        """Add up what traces and transports tell; a transport that tells nothing is one attempt without faults."""
        self._tally.add(turn)
        self._first_time = self._first_time or turn.time
        self._last_time = turn.time
        if turn.transport is not None:
            latency, attempts, faults = (turn.transport.get(name) for name in ("latency_s", "attempts", "faults"))
            self._asked += 1
            self._attempts += attempts if isinstance(attempts, int) else 1
            self._faults += len(faults) if isinstance(faults, list) else 0
            if isinstance(latency, int | float):
                self._latencies_s.append(latency)

    # ---- the result

    def metrics(self) -> RunMetrics:
        """Return the metrics of the turns so far."""
        end, clients = self._state, bool(self._start.clients)
        outcome = self._run.outcome
        is_bankrupt = self._ending == "bankruptcy"
        accepted, unfinished = len(end.tasks), [task for task in end.tasks if task.status not in _FATES]
        succeeded, failed = end.status_counts["completed_success"], end.status_counts["completed_fail"]
        trusted = sum(task.status == "completed_success" and task.offer.required_trust > 0 for task in end.tasks)
        adversarial = sum(task.offer.client_name in self._adversarial for task in end.tasks)
        market = [offer.client_name in self._adversarial for offer in self._start.market]
        causes: Counter[str] = Counter(row.cause for row in self._failures)
        has_notes = self._run.identity.scratchpad
        selected, avoided = self._listed(self._selected), self._listed(self._avoided)
        final_selected, final_avoided = self._naming("select"), self._naming("avoid")
        writes = sum(self._calls[name] - self._refused[name] for name in (_WRITE, _APPEND))
        commands, inspects, accepts = self._calls.total(), self._calls["task inspect"], self._calls[_ACCEPT]
        refused_actions = sum(number for name, number in self._refused.items() if name in _WORLD | _NOTES)
        totals = cast("dict[str, dict[str, Any]]", self._tally.outcome("running", "").totals)
        sums = {name: total["sum"] for name, total in totals.items()}
        unknown = {name: total["unknown_turns"] for name, total in totals.items()}
        prompt, completion, cost = (sums.get(name) for name in ("prompt_tokens", "completion_tokens", "cost_usd"))
        calendar, horizon_months = self._start.calendar, 12 * self._start.config.sim.horizon_years
        month_states = [self._start, *self._at_ends, end]
        months = self._months(month_states)
        revenue = sum(month.revenue_cents for month in months)
        return RunMetrics(
            status=outcome.status,
            is_complete=self._run.is_finished and self._turns == outcome.turns,
            ending=self._ending,
            is_bankrupt=is_bankrupt,
            bankruptcy_time=end.sim_time if is_bankrupt else None,
            bankruptcy_cause=_bankruptcy_cause(self._failures) if is_bankrupt else None,
            sim_time=end.sim_time,
            survived_months=horizon_months
            * ((end.now_us - calendar.start_us) / (calendar.horizon_us - calendar.start_us)),
            horizon_months=horizon_months,
            initial_funds_cents=self._start.funds_cents,
            final_funds_cents=end.funds_cents,
            revenue_cents=revenue,
            fees_cents=sum(month.fees_cents for month in months),
            payroll_cents=sum(month.payroll_cents for month in months),
            tasks_accepted=accepted,
            tasks_succeeded=succeeded,
            tasks_failed=failed,
            tasks_cancelled=end.status_counts["cancelled"],
            tasks_unfinished=len(unfinished),
            tasks_overdue=sum(task.deadline_us < end.now_us for task in unfinished),
            tasks_never_dispatched=sum(past.dispatched_us is None for past in self._pasts.values()),
            tasks_trusted=trusted,
            tasks_adversarial=adversarial,
            win_rate_fraction=_ratio(succeeded, succeeded + failed),
            trusted_success_fraction=_ratio(trusted, succeeded),
            adversarial_fraction=_ratio(adversarial, accepted) if clients else None,
            market_adversarial_fraction=_ratio(sum(market), len(market)) if clients else None,
            open_adversarial_fraction=_ratio(math.fsum(self._open_fractions), len(self._open_fractions)),
            failed_adversarial_client=causes["adversarial_client"],
            failed_over_committed=causes["over_committed"],
            failed_late_dispatch=causes["late_dispatch"],
            failed_understaffed=causes["understaffed"],
            failed_out_of_reach=causes["out_of_reach"],
            failed_incapable_team=sum(row.paper_cause == "incapable_team" for row in self._failures),
            client_policy=_client_policy(selected, avoided) if has_notes and clients else None,
            final_client_policy=_client_policy(final_selected, final_avoided) if has_notes and clients else None,
            selected_clients=selected,
            avoided_clients=avoided,
            final_selected_clients=final_selected,
            final_avoided_clients=final_avoided,
            notes_length=len(self._notes) if has_notes else None,
            turns=self._turns,
            commands=commands,
            scratchpad_writes=writes,
            inspects=inspects,
            accepts=accepts,
            writes_per_100_turns=_ratio(100 * writes, self._turns),
            inspects_per_accept=_ratio(inspects, accepts),
            commands_per_turn=_ratio(commands, self._turns),
            mean_concurrency=_ratio(self._task_us, self._busy_us),
            mean_concurrency_by_turn=_ratio(self._sum_of_peaks, self._turns),
            mean_concurrency_by_time=_ratio(self._task_us, self._time_us),
            max_concurrency=self._peak,
            invalid_commands=self._invalid,
            skipped_commands=self._skipped,
            refused_actions=refused_actions,
            failed_queries=self._refused.total() - refused_actions,
            empty_turns=self._empty_turns,
            forced_advances=self._forced_advances,
            refused_calls=sums.get("refused_calls"),
            unusable_replies=sums.get("unusable_replies"),
            prompt_tokens=prompt,
            completion_tokens=completion,
            cached_tokens=sums.get("cached_tokens"),
            reasoning_tokens=sums.get("reasoning_tokens"),
            total_tokens=None if prompt is None or completion is None else prompt + completion,
            unknown_token_turns=max(unknown.get(name, self._turns) for name in ("prompt_tokens", "completion_tokens")),
            cost_usd=None if cost is None else float(cost),
            unknown_cost_turns=unknown.get("cost_usd", self._turns),
            revenue_per_usd=_ratio(revenue / 100, cost),
            latency_s=math.fsum(self._latencies_s) if self._latencies_s else None,
            retries=self._attempts - self._asked if self._asked else None,
            faults=self._faults if self._asked else None,
            wall_s=_seconds_between(self._first_time, self._last_time),
            months=months,
            clients=self._clients(month_states),
            failures=tuple(self._failures),
            calls=tuple(CallRow(name, self._calls[name], self._refused[name]) for name in sorted(self._calls)),
            prestige=tuple(self._prestige),
        )

    def _listed(self, names: set[str]) -> tuple[str, ...]:
        return tuple(client.name for client in self._start.clients if client.name in names)

    def _months(self, states: list[State]) -> tuple[MonthRow, ...]:
        """Return the rows of the months, each of which describes one of the states."""
        end = states[-1]
        booked = [Counter[str]() for _ in states]
        place = 0
        for entry in end.ledger:  # one move of the clock may pass several payrolls
            while entry.time_us >= self._month_ends[place][1]:
                place += 1
            booked[place + 1][entry.category] += entry.amount_cents
        funds = itertools.accumulate((each.total() for each in booked), initial=self._start.funds_cents)
        labels = ("start", *(label for label, _ in self._month_ends))
        return tuple(
            MonthRow(
                month=number,
                label=label,
                is_complete=number + 1 < len(states) or end.terminal_reason == "horizon_end",
                funds_cents=funds_cents,
                revenue_cents=sums["task_reward"],
                fees_cents=-sums["task_fail_penalty"],
                payroll_cents=-sums["monthly_payroll"],
                salaries_cents=state.monthly_payroll_cents,
                prestige_milli=state.prestige_milli,
            )
            for number, (label, state, sums, funds_cents) in enumerate(
                zip(labels, states, booked, itertools.islice(funds, 1, None), strict=False)
            )
        )

    def _clients(self, month_states: list[State]) -> tuple[ClientRow, ...]:
        accepted = Counter(task.offer.client_name for task in self._state.tasks)
        fates = Counter((task.offer.client_name, task.status) for task in self._state.tasks)
        return tuple(
            ClientRow(
                client.name,
                client.is_adversarial,
                client.trust_milli,
                accepted[client.name],
                *(fates[client.name, fate] for fate in _FATES),
                trust_milli=tuple(state.trust_milli[place] for state in month_states),
            )
            for place, client in enumerate(self._state.clients)
        )


def open_offers(state: State) -> list[MarketTask]:
    """Return the listed tasks that prestige and trust let be accepted; room for more tasks is not looked at.

    The same question as the simulator's own, put to 200 tasks at each accept; a test holds the two together.
    """
    levels = state.prestige_milli
    highest = max(levels) if state.config.world.prestige_gate == "highest" else None
    trust = {client.name: client.trust_milli for client in state.clients}
    return [
        offer
        for offer in state.market
        if (min([levels[domain] for domain in offer.domains]) if highest is None else highest)
        >= offer.required_prestige * 1000
        and trust.get(offer.client_name or "", 0) >= offer.required_trust * 1000
    ]


def _month_ends(calendar: Calendar) -> tuple[tuple[str, int], ...]:
    """Return label (YYYY-MM) and end, exclusive, in microseconds, of each calendar month from the start to the horizon.

    The morning of the horizon's day belongs to the day before: no work is done and no payroll paid in it, and a year
    from 1 January has twelve months. The last month ends just after the horizon.
    """
    first = _EPOCH + calendar.start_us * _MICROSECOND
    last_day = (_EPOCH + calendar.horizon_us * _MICROSECOND).date()
    year, month, months = first.year, first.month, list[tuple[str, int]]()
    while True:
        label = f"{year:04}-{month:02}"
        year, month = (year + 1, 1) if month == 12 else (year, month + 1)  # noqa: PLR2004 -- December
        if dt.date(year, month, 1) >= last_day:
            return (*months, (label, calendar.horizon_us + 1))
        months.append((label, (dt.datetime(year, month, 1) - _EPOCH) // _MICROSECOND))  # noqa: DTZ001 -- as above


def _bankruptcy_cause(failures: list[FailedTask]) -> BankruptcyCause:
    """Return the paper's cause of the failed tasks that lost the most reward; of equals the first of the paper's."""
    lost = Counter[str]()
    for row in failures:
        lost[row.paper_cause] += row.lost_cents
    return max(PAPER_CAUSES, key=lambda cause: lost[cause]) if failures else "no_failed_task"


def _client_policy(selected: tuple[str, ...], avoided: tuple[str, ...]) -> ClientPolicy:
    return "both" if selected and avoided else "select" if selected else "avoid" if avoided else "none"


def _seconds_between(first: str | None, last: str | None) -> float | None:
    """Return the seconds between two times in ISO 8601; None where there are none that can be read."""
    try:
        return (dt.datetime.fromisoformat(last or "") - dt.datetime.fromisoformat(first or "")).total_seconds()
    except (TypeError, ValueError):  # a record made by other means may have left the times out
        return None


# ---------------------------------------------------------------- the file beside a record


@attrs.frozen
class _MetricsFile:
    """Content of metrics.json; ``measured_turns`` is the stamp of the turns that were measured."""

    format: int
    measured_turns: str
    metrics: RunMetrics


def store_metrics(run: Run) -> RunMetrics:
    """Measure a run, write metrics.json beside its record and return the metrics; valid ones that are there are kept.

    Raises:
        MetricsError: A turn turns out otherwise than recorded.
        RunError: The record is damaged.
        FileError: The file cannot be written.
    """
    there = read_metrics(run.folder)
    if there is not None:
        return there
    stamp = _stamp(run.folder)
    metrics = measure_run(run)
    write_file(run.folder / METRICS_FILE, to_json(unstructure(_MetricsFile(METRICS_FORMAT, stamp, metrics))) + "\n")
    return metrics


def read_metrics(folder: Path) -> RunMetrics | None:
    """Return the metrics in the folder of a run, however it came there.

    Returns:
        The metrics; None where there are none of this format, or those of other turns: they are made again from the
        record.
    """
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


_DTYPES: Final = {str: "string", int: "Int64", float: "Float64", bool: "boolean"}
_KEY_DTYPES: Final = {"policy": "string", "preset": "string", "seed": "string", "repeat": "Int64"}
_ROW_TYPES: Final[Mapping[str, type]] = {
    "months": MonthRow,
    "clients": ClientRow,
    "failures": FailedTask,
    "calls": CallRow,
    "prestige": PrestigeRow,
}


def _dtypes_of(kind: type) -> dict[str, str]:
    """Return the pandas dtype of each field of a class."""
    hints = typing.get_type_hints(kind)
    return {field.name: _dtype(hints[field.name]) for field in attrs.fields(kind)}


def _dtype(hint: Any) -> str:  # noqa: ANN401 -- any annotation
    """Return the pandas dtype of the values of a type: that of X for X | None, object for a tuple."""
    origin = typing.get_origin(hint)
    if origin is tuple or origin is Literal:
        return "object" if origin is tuple else "string"
    return _DTYPES[hint] if hint in _DTYPES else _dtype(typing.get_args(hint)[0])


def metrics_dtypes() -> dict[str, str]:
    """Return the pandas dtype of each column of ``metrics_row``: string, Int64, Float64 or boolean."""
    columns = {name: kind for name, kind in _dtypes_of(RunMetrics).items() if name not in _ROW_TYPES}
    return {name: "string" if kind == "object" else kind for name, kind in columns.items()}


def metrics_row(metrics: RunMetrics) -> dict[str, str | int | float | bool | None]:
    """Return the columns of a run by name; names of clients are one text, with commas between them."""
    values = {name: getattr(metrics, name) for name in metrics_dtypes()}
    return {name: ", ".join(value) if isinstance(value, tuple) else value for name, value in values.items()}


def metrics_table(runs: Mapping[EpisodeKey, RunMetrics], name: TableName) -> Any:  # noqa: ANN401 -- a pandas.DataFrame, which is of an extra
    """Return the rows of many runs as a table.

    Args:
        runs: Metrics by episode.
        name: months, clients, failures, calls or prestige: the field of ``RunMetrics`` whose rows are listed.

    Returns:
        A ``pandas.DataFrame``: policy, preset, seed and repeat, then the fields of a row, episodes in the order given.
        Columns and dtypes are the same for no runs; a missing value is NA; what a row has several of is a tuple.

    Raises:
        MissingExtraError: pandas is not installed.
    """
    try:
        import pandas as pd  # noqa: PLC0415 -- of an extra, and slow to import
    except ImportError as error:
        msg = "tables of metrics need pandas: pip install '.[evaluation]' in the project's folder"
        raise MissingExtraError(msg) from error
    fields = _dtypes_of(_ROW_TYPES[name])
    rows = [
        (*attrs.astuple(key), *(getattr(row, field) for field in fields))
        for key, metrics in runs.items()
        for row in getattr(metrics, name)
    ]
    # By column, so that None and NaN never meet in one array of objects.
    return pd.DataFrame(
        {
            column: pd.Series([row[place] for row in rows], dtype=cast("Any", dtype))
            for place, (column, dtype) in enumerate({**_KEY_DTYPES, **fields}.items())
        }
    )
