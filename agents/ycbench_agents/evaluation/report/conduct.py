"""How policies went about it: behaviour, cost, reliability, and what may differ between equal runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ycbench_agents.evaluation.report.cell import (
    Cell,
    cost_cell,
    count_cell,
    duration_cell,
    money_cell,
    number_cell,
    percent_cell,
    text_cell,
)
from ycbench_agents.evaluation.report.part import Table, figures, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ycbench_agents.evaluation.measurement import RunMeasures
    from ycbench_agents.evaluation.report.part import Column
    from ycbench_agents.evaluation.report.result import PolicyResults, PresetResults

__all__ = ["behaviour_table", "cost_table", "reliability_table", "task_table", "transport_table"]

_HUNDRED: Final = 100
_NO_CLIENTS: Final = "the world has no clients, or no task was accepted"
_NO_MODEL: Final = "no turn tells of replies of a model"
_NOBODY: Final = "nobody was asked"
_TASKS: Final = (
    words("Policy"),
    figures("Accepted", "Mean over seeds, as are the next six"),
    figures("In time", "Completed within the deadline"),
    figures("Late", "Completed behind it"),
    figures("Cancelled", "Given up"),
    figures("Unfinished", "Planned or active at the end"),
    figures("Overdue", "Those of the unfinished whose deadline was past: lost, and in no win rate"),
    figures("Never dispatched", "Accepted tasks on which nobody ever began to work"),
    figures(
        "Win rate", "Share of the completed tasks that were in time; read it beside Overdue", "no task was completed"
    ),
    figures("Adversarial", "Share of accepted tasks that came from adversarial clients", _NO_CLIENTS),
    figures("Needed trust", "Share of the successes whose offer required trust", "no task was completed in time"),
    figures("Revenue", "Rewards that were booked"),
    figures("Fees", "Fees for failures"),
    figures("Payroll", "Salaries that were paid"),
    figures("Months survived", "Simulated time until the end"),
)
_BEHAVIOUR: Final = (
    words("Policy"),
    figures("Notes per 100 turns", "Scratchpad writes and appends that were carried out", "no turn was played"),
    figures("Inspects per accept", "task inspect commands for each task accept command", "no task accept was said"),
    figures(
        "Concurrency",
        "Mean over turns of the most tasks that were active at one moment of the turn, each turn with the same weight",
        "no turn was played",
    ),
    figures(
        "Concurrency over time",
        "Mean number of active tasks over simulated time, nights and weekends included, each hour with the same weight",
        "no simulated time passed",
    ),
    figures("Most at once", "The most tasks that were active at one moment of any episode (paper, section 5)"),
    figures("Commands per turn", "Mean over seeds, as are the next two", "no turn was played"),
    figures("Turns", "Replies of the agent"),
    figures("Commands", "Grammatical ones, refused ones included"),
)
_COST: Final = (
    words("Policy"),
    figures("Bankrupt", "Finished episodes"),
    figures("Episodes", "Finished ones"),
    figures("Cost, $", "Of an episode: mean and standard deviation over seeds", "no turn tells its cost"),
    figures("Tokens", "Of prompts and replies, an episode", "no turn tells its tokens"),
    figures("Completion tokens", "Of replies, an episode", "no turn tells its tokens"),
    figures("Revenue per $", "Simulated revenue for a dollar of cost", "the cost is not known, or it is 0"),
    figures("Turns of unknown cost", "In all; sums are too low by those"),
)
_RELIABILITY: Final = (
    words("Policy"),
    figures("Invalid commands", "Not grammatical"),
    figures("Skipped", "Not tried since the one before && failed"),
    figures("Refused actions", "Grammatical commands that act and were refused"),
    figures("Failed queries", "Grammatical commands that ask and were refused"),
    figures("Empty turns", "Without any command"),
    figures("Forced advances", "Turns in which the environment moved time by itself"),
    figures("Malformed calls", "Tool calls of a model that nobody could read", _NO_MODEL),
    figures("Unusable replies", "Replies of a model of which nothing was run", _NO_MODEL),
    figures("Commands", "Grammatical ones, to compare with"),
    figures("Turns", "To compare with"),
)
_TRANSPORT: Final = (
    words("Policy"),
    figures(
        "Runtime",
        "From the end of the first turn to the end of the last; mean and deviation over seeds",
        "no turn was played",
    ),
    figures("Waiting", "For replies, an episode; mean and deviation over seeds", _NO_MODEL),
    figures("Retries", "Requests that were sent again, in all", _NOBODY),
    figures("Faults", "On the way, in all", _NOBODY),
)


def task_table(results: PresetResults) -> Table:
    """Return what became of tasks and of money, means over seeds."""
    rows = tuple(_tasks(policy) for policy in results.policies if policy.measures)
    return Table(f"Tasks and money, preset {results.preset}", _TASKS, rows)


def _tasks(policy: PolicyResults) -> tuple[Cell, ...]:
    mean = policy.mean
    return (
        text_cell(policy.policy),
        number_cell(mean(lambda run: run.tasks.accepted), 1),
        number_cell(mean(lambda run: run.tasks.succeeded), 1),
        number_cell(mean(lambda run: run.tasks.failed), 1),
        number_cell(mean(lambda run: run.tasks.cancelled), 1),
        number_cell(mean(lambda run: run.tasks.unfinished), 1),
        number_cell(mean(lambda run: run.tasks.overdue), 1),
        number_cell(mean(lambda run: run.tasks.never_dispatched), 1),
        percent_cell(mean(lambda run: run.tasks.win_rate_fraction)),
        percent_cell(mean(lambda run: run.acceptance and run.acceptance.adversarial_fraction)),
        percent_cell(mean(lambda run: run.tasks.trusted_success_fraction)),
        money_cell(mean(lambda run: run.money.revenue_cents)),
        money_cell(mean(lambda run: run.money.fees_cents)),
        money_cell(mean(lambda run: run.money.payroll_cents)),
        number_cell(mean(lambda run: run.ending.survived_months), 1),
    )


def behaviour_table(results: PresetResults) -> Table:
    """Return how policies behaved (table 3 of the paper), means over seeds."""
    rows = tuple(_behaviour(policy) for policy in results.policies if policy.measures)
    return Table(f"Behaviour, preset {results.preset}", _BEHAVIOUR, rows)


def _behaviour(policy: PolicyResults) -> tuple[Cell, ...]:
    mean = policy.mean
    return (
        text_cell(policy.policy),
        number_cell(mean(lambda run: run.behaviour.writes_per_100_turns), 1),
        number_cell(mean(lambda run: run.behaviour.inspects_per_accept)),
        number_cell(mean(lambda run: run.behaviour.mean_concurrency_by_turn), 1),
        number_cell(mean(lambda run: run.behaviour.mean_concurrency_by_time), 1),
        count_cell(policy.most(lambda run: run.behaviour.max_concurrency)),
        number_cell(mean(lambda run: run.behaviour.commands_per_turn)),
        number_cell(mean(lambda run: run.behaviour.turns), 1),
        number_cell(mean(lambda run: run.behaviour.commands), 1),
    )


def cost_table(results: PresetResults) -> Table | None:
    """Return what models cost (table 4 of the paper), None where no run tells; runtimes are in ``transport_table``."""
    telling = [policy for policy in results.policies if (policy.mean(_cost_usd), policy.mean(_tokens)) != (None, None)]
    silent = [policy.policy for policy in results.policies if policy.measures and policy not in telling]
    if not telling:
        return None
    notes = (f"No run tells of tokens or cost: {', '.join(silent)}.",) if silent else ()
    return Table(f"Cost, preset {results.preset}", _COST, tuple(_cost(policy) for policy in telling), notes)


def _cost(policy: PolicyResults) -> tuple[Cell, ...]:
    return (
        text_cell(policy.policy),
        count_cell(policy.summary.survival.bankrupt),
        count_cell(len(policy.measures)),
        cost_cell(policy.mean(_cost_usd), policy.deviation(_cost_usd)),
        number_cell(policy.mean(_tokens), 0),
        number_cell(policy.mean(lambda run: run.tokens.completion), 0),
        money_cell(policy.mean(_revenue_per_usd)),
        count_cell(policy.total(lambda run: run.tokens.unknown_cost_turns)),
    )


def _tokens(run: RunMeasures) -> int | None:
    return run.tokens.total


def _cost_usd(run: RunMeasures) -> float | None:
    return run.tokens.cost_usd


def _revenue_per_usd(run: RunMeasures) -> float | None:
    return None if run.revenue_per_usd is None else _HUNDRED * run.revenue_per_usd


def reliability_table(presets: Sequence[PresetResults]) -> Table:
    """Return what went wrong beside the game itself, in all finished episodes of a policy; no part of the score."""
    rows = tuple(_reliability(found, results) for results in presets for found in results.policies if found.measures)
    return _with_preset("Reliability, all finished episodes", _RELIABILITY, rows, presets)


def _reliability(policy: PolicyResults, results: PresetResults) -> tuple[Cell, ...]:
    total = policy.total
    return (
        text_cell(policy.policy),
        text_cell(results.preset),
        count_cell(total(lambda run: run.reliability.invalid_commands)),
        count_cell(total(lambda run: run.reliability.skipped_commands)),
        count_cell(total(lambda run: run.reliability.refused_actions)),
        count_cell(total(lambda run: run.reliability.failed_queries)),
        count_cell(total(lambda run: run.reliability.empty_turns)),
        count_cell(total(lambda run: run.reliability.forced_advances)),
        count_cell(total(lambda run: run.reliability.refused_calls)),
        count_cell(total(lambda run: run.reliability.unusable_replies)),
        count_cell(total(lambda run: run.behaviour.commands)),
        count_cell(total(lambda run: run.behaviour.turns)),
    )


def transport_table(presets: Sequence[PresetResults]) -> Table:
    """Return times, retries and faults: the only figures that may differ between equal evaluations."""
    rows = tuple(_transport(found, results) for results in presets for found in results.policies if found.measures)
    return _with_preset("Times, retries and faults", _TRANSPORT, rows, presets)


def _transport(policy: PolicyResults, results: PresetResults) -> tuple[Cell, ...]:
    return (
        text_cell(policy.policy),
        text_cell(results.preset),
        duration_cell(policy.mean(_runtime_s), policy.deviation(_runtime_s)),
        duration_cell(policy.mean(_waiting_s), policy.deviation(_waiting_s)),
        count_cell(policy.total(lambda run: run.transport.retries)),
        count_cell(policy.total(lambda run: run.transport.faults)),
    )


def _runtime_s(run: RunMeasures) -> float | None:
    return run.transport.wall_s


def _waiting_s(run: RunMeasures) -> float | None:
    return run.transport.latency_s


def _with_preset(
    title: str, columns: Sequence[Column], rows: Sequence[tuple[Cell, ...]], presets: Sequence[PresetResults]
) -> Table:
    """Return a table whose rows name the preset in their second cell; without that where there is but one."""
    first, *others = columns
    if len(presets) == 1:
        return Table(title, tuple(columns), tuple((row[0], *row[2:]) for row in rows))
    return Table(title, (first, words("Preset"), *others), tuple(rows))
