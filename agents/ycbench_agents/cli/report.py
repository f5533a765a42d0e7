"""The results of a suite: as a table for people, as strict JSON for programs."""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING

from rich.text import Text

from ycbench_agents.cli.output import cell, dollars, new_table, print_parts
from ycbench_agents.cli.statistic import Group, groups

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.table import Table

    from ycbench_agents.cli.options import Override
    from ycbench_agents.cli.suite import Episode, Plan, Rules, Suite
    from ycbench_env import Config

__all__ = ["group_line", "missing_lines", "print_overrides", "print_table", "suite_json"]


def print_overrides(overrides: Sequence[Override]) -> None:
    """Print which settings options and variables decided, one a line, and an empty line; nothing for none."""
    if overrides:
        lines = [f"in force: {each.key} = {json.dumps(each.value)} ({each.place})" for each in overrides]
        print_parts(Text("\n").join(cell(line) for line in lines))
        sys.stdout.write("\n")


def print_table(suite: Suite) -> None:
    """Print the episodes and the figures over them."""
    lines = [cell(group_line(group)) for group in groups(suite)]
    lines.append(Text(f"{len(suite.episodes)} of {len(suite.plans)} episodes run"))
    print_parts(_table(suite.episodes), Text("\n").join(lines))


def _table(episodes: Sequence[Episode]) -> Table:
    headings = ("policy", "preset", ">seed", ">final funds", ">done", ">fail", ">cancel", "outcome", ">turns")
    table = new_table(*headings, gap=1)  # so that it fits into 80 columns
    for episode in episodes:
        plan = episode.plan
        figures = (dollars(episode.final_funds_cents), episode.completed, episode.failed, episode.cancelled)
        row = (plan.policy, plan.preset, plan.seed, *figures, episode.fate, episode.turns)
        table.add_row(*[cell(value) for value in row])
    return table


def group_line(group: Group) -> str:
    """Return the line about one policy under one configuration."""
    line = f"{group.policy}, {group.preset}: {group.run} of {group.planned} run"
    if group.mean_cents is None:
        return line
    deviation = "" if group.deviation_cents is None else f", sd {dollars(group.deviation_cents)}"
    return f"{line}, mean final funds {dollars(group.mean_cents)}{deviation}"


def missing_lines(missing: Sequence[Plan]) -> list[str]:
    """Return which episodes were not run, one line for each policy and configuration."""
    seeds: dict[str, list[int]] = {}
    for plan in missing:
        seeds.setdefault(f"{plan.policy}, {plan.preset}", []).append(plan.seed)
    return [f"not run: {name}: seed {_ranges(numbers)}" for name, numbers in seeds.items()]


def _ranges(numbers: Sequence[int]) -> str:
    """Return seeds as short text that ``--seeds`` takes, like 1-3 7."""
    parts: list[tuple[int, int]] = []
    for number in numbers:
        if parts and number == parts[-1][1] + 1:
            parts[-1] = (parts[-1][0], number)
        else:
            parts.append((number, number))
    return " ".join(str(first) if first == last else f"{first}-{last}" for first, last in parts)


def suite_json(suite: Suite, configs: Mapping[str, Config], rules: Rules) -> str:
    """Return a suite as JSON text, ASCII and strict: amounts are whole cents, nothing depends on the clock."""
    document = {
        "version": version("ycbench-env"),
        "planned": len(suite.plans),
        "run": len(suite.episodes),
        "interrupted": suite.interrupted,
        "stopped": None if suite.stop is None else {**_plan(suite.stop.plan), "reason": suite.stop.reason},
        "parameters": dict(rules.parameters),
        "max_turns": rules.max_turns,
        "overrides": [{"key": each.key, "value": each.value, "origin": each.place} for each in rules.overrides],
        "configurations": {label: {"digest": config.digest()} for label, config in configs.items()},
        "episodes": [_episode(episode) for episode in suite.episodes],
        "missing": [_plan(plan) for plan in suite.missing],
        "groups": [_group(group) for group in groups(suite)],
    }
    return json.dumps(document, indent=2, allow_nan=False, default=str)


def _plan(plan: Plan) -> dict[str, object]:
    return {"policy": plan.policy, "preset": plan.preset, "seed": plan.seed}


def _episode(episode: Episode) -> dict[str, object]:
    return {
        **_plan(episode.plan),
        "final_funds_cents": episode.final_funds_cents,
        "tasks_completed": episode.completed,
        "tasks_failed": episode.failed,
        "tasks_cancelled": episode.cancelled,
        "outcome": episode.outcome,
        "ended_at": episode.ended_at,
        "turns": episode.turns,
    }


def _group(group: Group) -> dict[str, object]:
    return {
        "policy": group.policy,
        "preset": group.preset,
        "planned": group.planned,
        "run": group.run,
        "mean_final_funds_cents": group.mean_cents,
        "standard_deviation_cents": group.deviation_cents,
    }
