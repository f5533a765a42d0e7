"""The results of recorded runs: a table for people, strict JSON for programs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ycbench_agents.cli.output import cell, complain, new_table, print_parts, printable_lines
from ycbench_agents.cli.suite import OUTCOMES, Episode, Plan, Suite
from ycbench_agents.records import RecordError
from ycbench_agents.records.tally import Tally

if TYPE_CHECKING:
    from rich.table import Table

    from ycbench_agents.base import JsonObject
    from ycbench_agents.cli.recorded.playing import PlayedRuns
    from ycbench_agents.records import RunOutcome, RunPlan, RunRecord, TurnRecord

__all__ = ["print_runs", "runs_json", "suite_of"]


def suite_of(runs: PlayedRuns) -> Suite:
    """Return the finished runs whose records are whole as a suite of episodes."""
    plans = tuple(_plan(plan) for plan in runs.plans)
    episodes = tuple(
        _episode(plan, record)
        for place, (plan, record) in enumerate(zip(plans, runs.records, strict=True))
        if record is not None and record.is_finished and place not in runs.failures
    )
    return Suite(plans, episodes, runs.interrupted)


def _outcome(record: RunRecord) -> RunOutcome:
    """Return what has become of a run; one that was interrupted is counted as far as it is on the disk."""
    if record.outcome.status != "running":
        return record.outcome
    world = record.identity.config.get("world")
    funds = world.get("initial_funds_cents") if isinstance(world, dict) else 0
    tally = Tally(funds if isinstance(funds, int) else 0)
    try:
        for turn in record.turns():
            tally.add(turn)
    except RecordError as error:
        complain(f"error: {error}")
    return tally.outcome("interrupted", "", record.outcome.reason)


def print_runs(runs: PlayedRuns) -> None:
    """Print the table of episodes, and what each run took and where it is."""
    from ycbench_agents.cli.report import print_table  # noqa: PLC0415 -- imports rich

    print_table(suite_of(runs))
    sys.stdout.write("\n")
    print_parts(_run_table(runs))
    sys.stdout.write("\n")
    for plan in runs.plans:  # not in the table: a narrow terminal would break what people want to copy
        sys.stdout.write(f"{printable_lines(str(plan.folder))}\n")


def runs_json(runs: PlayedRuns) -> list[JsonObject]:
    """Return what became of each run, as JSON values."""
    return [
        {
            "folder": str(plan.folder),
            "policy": plan.name,
            "model": plan.model,
            "preset": plan.config.name,
            "seed": plan.seed,
            "error": runs.failures.get(place),
            **(_status(record) if record is not None else {"status": "missing"}),
        }
        for place, (plan, record) in enumerate(zip(runs.plans, runs.records, strict=True))
    ]


def _status(record: RunRecord) -> JsonObject:
    outcome = _outcome(record)
    return {
        "status": outcome.status,
        "reason": outcome.reason,
        "turns": outcome.turns,
        "final_funds_cents": outcome.final_funds_cents,
        "totals": outcome.totals,
    }


def _run_table(runs: PlayedRuns) -> Table:
    table = new_table("policy", "preset", ">seed", "status", ">turns", ">prompt", ">reply", ">cost", gap=1)
    for plan, record in zip(map(_plan, runs.plans), runs.records, strict=True):
        row: list[object] = [plan.policy, plan.preset, plan.seed]
        if record is None:
            row.append("missing")
        else:
            outcome = _outcome(record)
            row.extend((outcome.status, "-" if outcome.turns is None else outcome.turns))
            row.extend(_total(outcome.totals, name) for name in ("prompt_tokens", "completion_tokens", "cost_usd"))
        table.add_row(*[cell(value) for value in row])
    return table


def _total(totals: JsonObject, name: str) -> str:
    """Return a sum for a cell; one that lacks turns is marked, and nothing known is no 0."""
    total = totals.get(name)
    amount = total.get("sum") if isinstance(total, dict) else None
    if not isinstance(total, dict) or not isinstance(amount, int | float):
        return "-" if total is None else "unknown"
    text = f"${amount:,.4f}" if name.startswith("cost") else f"{int(amount):,}"
    return f"over {text}" if total.get("unknown_turns") else text


def _plan(plan: RunPlan) -> Plan:
    policy = plan.name if plan.model is None else f"{plan.name} {plan.model}"
    return Plan(policy, plan.config.name, plan.seed)


def _episode(plan: Plan, record: RunRecord) -> Episode:
    completed = failed = cancelled = 0
    ended_at = ""
    for turn in record.turns():
        ended_at = turn.sim_time
        for event in turn.events:
            if isinstance(event, dict) and event.get("type") == "task_completed":
                completed += event.get("success") is True
                failed += event.get("success") is not True
        cancelled += _cancelled(turn)
    outcome = record.outcome
    return Episode(
        plan=plan,
        final_funds_cents=outcome.final_funds_cents or 0,
        completed=completed,
        failed=failed,
        cancelled=cancelled,
        outcome=OUTCOMES.get(outcome.terminal_reason or "", "truncated"),
        ended_at=ended_at,
        turns=outcome.turns or 0,
    )


def _cancelled(turn: TurnRecord) -> int:
    """Return how many tasks were given up in a turn: only that answer has such a penalty."""
    outputs = [result.get("output") for result in turn.results if isinstance(result, dict)]
    return sum(isinstance(output, dict) and "cancel_penalty_per_domain" in output for output in outputs)
