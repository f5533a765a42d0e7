"""Tidy tables over many runs, one for each table or figure of the paper (docs/measurements.md).

Each function takes measures by episode and returns a frame whose first columns are ``policy``, ``preset``, ``seed`` and
``repeat``, sorted by them and then as its docstring says. The columns and their types are the same for any input, none
included: texts are ``string``, counts ``Int64``, numbers ``Float64``, truth values ``boolean``; what is missing is NA.
Money is in cents but for ``revenue_per_usd``. Nothing is filled in: a month after the end has no row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from ycbench_agents.evaluation.measurement.failed_task import FAILURE_CAUSES, PAPER_CAUSES
from ycbench_agents.evaluation.measurement.quotient import ratio
from ycbench_env import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ycbench_agents.evaluation.episode import EpisodeKey
    from ycbench_agents.evaluation.measurement.measures import RunMeasures

try:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs] -- it has none, and is typed all the same
except ImportError as error:
    _MISSING = "frames need pandas, which is not installed; install it with: pip install 'ycbench-env[evaluation]'"
    raise MissingExtraError(_MISSING) from error

__all__ = [
    "acceptance",
    "behaviour",
    "calls",
    "client_policy",
    "efficiency",
    "failed_tasks",
    "failures",
    "funds_by_month",
    "outcomes",
    "prestige",
    "prestige_by_month",
    "reliability",
    "trust",
    "trust_by_month",
]

Runs: TypeAlias = "Mapping[EpisodeKey, RunMeasures]"
"""Measures by episode."""

_Row: TypeAlias = "tuple[str | int | float | bool | None, ...]"
_Columns: TypeAlias = "Mapping[str, str]"
_TEXT: Final = "string"
_COUNT: Final = "Int64"
_NUMBER: Final = "Float64"
_TRUTH: Final = "boolean"
_MILLI: Final = 1000
_DOMAINS: Final = ("research", "inference", "data_environment", "training")  # in the order of the rules
_MONTH: Final = {"month": _COUNT, "label": _TEXT, "is_complete": _TRUTH}


def _frame(runs: Runs, columns: _Columns, rows: Callable[[RunMeasures], Iterable[_Row]]) -> pd.DataFrame:
    """Return the frame of the rows of each run."""
    keyed = [
        (key.policy, key.preset, key.seed, key.repeat, *row)
        for key in sorted(runs, key=_order)
        for row in rows(runs[key])
    ]
    types = {"policy": _TEXT, "preset": _TEXT, "seed": _TEXT, "repeat": _COUNT, **columns}
    # By column, so that None and NaN never meet in one array of objects.
    series = {
        name: pd.Series([row[place] for row in keyed], dtype=kind) for place, (name, kind) in enumerate(types.items())
    }
    return pd.DataFrame(series)


def _order(key: EpisodeKey) -> tuple[str, str, bool, int, str, int]:
    """Return what episodes are sorted by: seeds that are numbers come first, as numbers."""
    is_number = key.seed.isascii() and key.seed.isdigit()
    return key.policy, key.preset, not is_number, int(key.seed) if is_number else 0, key.seed, key.repeat


def funds_by_month(runs: Runs) -> pd.DataFrame:
    """Return funds at the start (month 0) and at each month's end, with what was booked within it (figure 8)."""
    columns = {
        **_MONTH,
        "funds_cents": _COUNT,
        "revenue_cents": _COUNT,
        "fees_cents": _COUNT,
        "payroll_cents": _COUNT,
        "salaries_cents": _COUNT,
    }
    return _frame(
        runs,
        columns,
        lambda run: (
            (
                *(one.month, one.label, one.is_complete, one.funds_cents),
                *(one.revenue_cents, one.fees_cents, one.payroll_cents, one.salaries_cents),
            )
            for one in run.months
        ),
    )


def outcomes(runs: Runs) -> pd.DataFrame:
    """Return how each run ended and what became of its tasks (figure 7, table 4's bankruptcies); one row a run."""
    columns = {
        "status": _TEXT,
        "is_complete": _TRUTH,
        "terminal_reason": _TEXT,
        "is_bankrupt": _TRUTH,
        "bankruptcy_time": _TEXT,
        "survived_months": _NUMBER,
        "horizon_months": _COUNT,
        **dict.fromkeys(
            ("initial_funds_cents", "final_funds_cents", "revenue_cents", "fees_cents", "payroll_cents"), _COUNT
        ),
        **dict.fromkeys(("accepted", "succeeded", "failed", "cancelled", "unfinished"), _COUNT),
        **dict.fromkeys(("overdue", "never_dispatched"), _COUNT),
        "win_rate_fraction": _NUMBER,
    }
    return _frame(runs, columns, lambda run: (_outcome(run),))


def _outcome(run: RunMeasures) -> _Row:
    end, money, tasks = run.ending, run.money, run.tasks
    return (
        *(run.status, run.is_complete, end.terminal_reason, end.is_bankrupt, end.bankruptcy_time),
        *(end.survived_months, end.horizon_months),
        *(money.initial_funds_cents, money.final_funds_cents),
        *(money.revenue_cents, money.fees_cents, money.payroll_cents),
        *(tasks.accepted, tasks.succeeded, tasks.failed, tasks.cancelled, tasks.unfinished),
        *(tasks.overdue, tasks.never_dispatched, tasks.win_rate_fraction),
    )


def acceptance(runs: Runs) -> pd.DataFrame:
    """Return shares of adversarial clients' tasks, accepted and offered (figure 4a), one row a run with clients."""
    columns = {
        "accepted": _COUNT,
        "adversarial": _COUNT,
        "adversarial_fraction": _NUMBER,
        "market_adversarial_fraction": _NUMBER,
        "open_adversarial_fraction": _NUMBER,
    }
    return _frame(
        runs,
        columns,
        lambda run: (
            (
                *(one.accepted, one.adversarial, one.adversarial_fraction),
                *(one.market_adversarial_fraction, one.open_adversarial_fraction),
            )
            for one in (run.acceptance,)
            if one is not None
        ),
    )


def trust(runs: Runs) -> pd.DataFrame:
    """Return each client's trust at the end and its tasks (figure 3b), and the run's trusted successes (figure 3a).

    One row a client, in the order of the world. ``trusted_success_fraction`` is the run's, the same in all its rows.
    """
    columns = {
        "client": _TEXT,
        "is_adversarial": _TRUTH,
        "final_trust": _NUMBER,
        **dict.fromkeys(("accepted", "succeeded", "failed", "cancelled"), _COUNT),
        "trusted_successes": _COUNT,
        "trusted_success_fraction": _NUMBER,
    }
    return _frame(
        runs,
        columns,
        lambda run: (
            (
                *(one.name, one.is_adversarial, one.final_trust_milli / _MILLI),
                *(one.accepted, one.succeeded, one.failed, one.cancelled),
                *(run.tasks.trusted_successes, run.tasks.trusted_success_fraction),
            )
            for one in run.clients
        ),
    )


def trust_by_month(runs: Runs) -> pd.DataFrame:
    """Return each client's trust at the start (month 0) and at each month's end; by month, then by client."""
    columns = {**_MONTH, "client": _TEXT, "is_adversarial": _TRUTH, "trust": _NUMBER}
    return _frame(
        runs,
        columns,
        lambda run: (
            (one.month, one.label, one.is_complete, client.name, client.is_adversarial, level / _MILLI)
            for one in run.months
            for client, level in zip(run.clients, one.trust_milli, strict=True)
        ),
    )


def client_policy(runs: Runs) -> pd.DataFrame:
    """Return the client policy that the notes show (figure 4b), one row a run with a scratchpad.

    ``selected`` and ``avoided`` list clients, with commas between them.
    """
    columns = {
        "client_policy": _TEXT,
        "final_client_policy": _TEXT,
        "selected": _TEXT,
        "avoided": _TEXT,
        "writes": _COUNT,
        "final_length": _COUNT,
    }
    return _frame(
        runs,
        columns,
        lambda run: (
            (
                *(notes.client_policy, notes.final_client_policy),
                *(", ".join(notes.selected), ", ".join(notes.avoided), notes.writes, notes.final_length),
            )
            for notes in (run.notes,)
            if notes is not None and run.clients
        ),
    )


def failures(runs: Runs) -> pd.DataFrame:
    """Return how many tasks failed for each cause (figure 5a), with a row for each cause of each run, 0 included.

    ``paper_cause`` is the coarse cause; ``fraction`` the share of the run's failures, NA without failures.
    """
    columns = {"paper_cause": _TEXT, "cause": _TEXT, "failures": _COUNT, "fraction": _NUMBER}
    return _frame(runs, columns, _cause_rows)


def _cause_rows(run: RunMeasures) -> Iterable[_Row]:
    for cause in FAILURE_CAUSES:
        number = sum(task.cause == cause for task in run.failures)
        paper_cause = cause if cause in PAPER_CAUSES else "incapable_team"
        yield paper_cause, cause, number, ratio(number, len(run.failures))


def failed_tasks(runs: Runs) -> pd.DataFrame:
    """Return each failed task with its cause and its counterfactuals, in order of completion."""
    columns = {
        "task_id": _TEXT,
        "client": _TEXT,
        "turn": _COUNT,
        "late_hours": _NUMBER,
        "paper_cause": _TEXT,
        "cause": _TEXT,
        **dict.fromkeys(("team_alone", "team_alone_from_accept", "staff_alone", "staff_alone_from_accept"), _TRUTH),
    }
    return _frame(
        runs,
        columns,
        lambda run: (
            (
                *(one.task_id, one.client_name, one.turn, one.late_hours, one.paper_cause, one.cause),
                *(one.team_alone, one.team_alone_from_accept, one.staff_alone, one.staff_alone_from_accept),
            )
            for one in run.failures
        ),
    )


def behaviour(runs: Runs) -> pd.DataFrame:
    """Return how the agent went about it (table 3), one row a run."""
    columns = {
        **dict.fromkeys(("turns", "commands", "scratchpad_writes", "inspects", "accepts"), _COUNT),
        **dict.fromkeys(("writes_per_100_turns", "inspects_per_accept", "commands_per_turn"), _NUMBER),
        **dict.fromkeys(("mean_concurrency_by_turn", "mean_concurrency_by_time"), _NUMBER),
        "max_concurrency": _COUNT,
    }
    return _frame(
        runs,
        columns,
        lambda run: (
            (
                *(one.turns, one.commands, one.scratchpad_writes, one.inspects, one.accepts),
                *(one.writes_per_100_turns, one.inspects_per_accept, one.commands_per_turn),
                *(one.mean_concurrency_by_turn, one.mean_concurrency_by_time, one.max_concurrency),
            )
            for one in (run.behaviour,)
        ),
    )


def calls(runs: Runs) -> pd.DataFrame:
    """Return how often each command was said and refused (figure 9), by name; a command never said has no row."""
    columns = {"command": _TEXT, "calls": _COUNT, "refused": _COUNT}
    return _frame(runs, columns, lambda run: ((one.command, one.calls, one.refused) for one in run.calls))


def reliability(runs: Runs) -> pd.DataFrame:
    """Return what went wrong beside the game itself, one row a run."""
    columns = {
        **dict.fromkeys(("invalid_commands", "skipped_commands", "refused_actions", "failed_queries"), _COUNT),
        **dict.fromkeys(("empty_turns", "forced_advances", "refused_calls", "unusable_replies"), _COUNT),
        **dict.fromkeys(("retries", "faults"), _COUNT),
    }
    return _frame(
        runs,
        columns,
        lambda run: (
            (
                *(one.invalid_commands, one.skipped_commands, one.refused_actions, one.failed_queries),
                *(one.empty_turns, one.forced_advances, one.refused_calls, one.unusable_replies),
                *(run.transport.retries, run.transport.faults),
            )
            for one in (run.reliability,)
        ),
    )


def efficiency(runs: Runs) -> pd.DataFrame:
    """Return tokens, cost and time (table 4) and revenue a dollar of cost (figure 5b), one row a run."""
    columns = {
        **dict.fromkeys(("prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens"), _COUNT),
        **dict.fromkeys(("total_tokens", "unknown_token_turns"), _COUNT),
        "cost_usd": _NUMBER,
        "unknown_cost_turns": _COUNT,
        **dict.fromkeys(("revenue_per_usd", "latency_s", "wall_s"), _NUMBER),
    }
    return _frame(
        runs,
        columns,
        lambda run: (
            (
                *(one.prompt, one.completion, one.cached, one.reasoning, one.total, one.unknown_turns),
                *(one.cost_usd, one.unknown_cost_turns, run.revenue_per_usd),
                *(run.transport.latency_s, run.transport.wall_s),
            )
            for one in (run.tokens,)
        ),
    )


def prestige(runs: Runs) -> pd.DataFrame:
    """Return prestige by domain at the start (turn 0) and after each turn that changed it; by turn, then by domain."""
    columns = {"turn": _COUNT, "sim_time": _TEXT, "domain": _TEXT, "prestige": _NUMBER}
    return _frame(
        runs,
        columns,
        lambda run: (
            (point.turn, point.sim_time, domain, level / _MILLI)
            for point in run.prestige
            for domain, level in zip(_DOMAINS, point.prestige_milli, strict=True)
        ),
    )


def prestige_by_month(runs: Runs) -> pd.DataFrame:
    """Return prestige by domain at the start (month 0) and at each month's end; by month, then by domain."""
    columns = {**_MONTH, "domain": _TEXT, "prestige": _NUMBER}
    return _frame(
        runs,
        columns,
        lambda run: (
            (one.month, one.label, one.is_complete, domain, level / _MILLI)
            for one in run.months
            for domain, level in zip(_DOMAINS, one.prestige_milli, strict=True)
        ),
    )
