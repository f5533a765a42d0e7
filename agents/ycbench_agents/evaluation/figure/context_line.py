"""Which policies with a context window belong together: those that differ in nothing but the window."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.evaluation.figure.wording import same_start

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ycbench_agents.base import JsonObject
    from ycbench_agents.evaluation.episode import Episode
    from ycbench_agents.evaluation.old_suite import Suite, SuitePolicy

__all__ = ["KEEP_TURNS", "context_lines"]

KEEP_TURNS: Final = "keep_turns"
"""Name of the parameter."""


@attrs.frozen
class _Row:
    """A policy: its label, turns kept, model, and all else that decides how it plays."""

    label: str
    turns: int
    model: str
    others: str

    @property
    def stem(self) -> str:
        """The label without the number of turns."""
        return re.sub(rf"(?<!\d){self.turns}(?!\d)", "", self.label)


def context_lines(suite: Suite, labels: Iterable[str], episodes: Iterable[Episode] = ()) -> dict[str, str]:
    """Return names of lines by label, of the policies with a whole number of turns to keep.

    Args:
        suite: The suite.
        labels: Its policies that were played.
        episodes: Finished ones; their records tell with which model and settings they were played.
    """
    played, shown = {each.key.policy: each for each in episodes if each.record is not None}, set(labels)
    found = [_row(policy, played.get(policy.label)) for policy in suite.policies if policy.label in shown]
    rows = [row for row in found if row is not None]
    return {row.label: name for name, line in _named(_grouped(rows)).items() for row in line}


def _row(policy: SuitePolicy, played: Episode | None) -> _Row | None:
    turns = policy.parameters.get(KEEP_TURNS)
    if not isinstance(turns, int):
        return None
    if played is None or played.record is None:
        settings: JsonObject = {**policy.to_dict(), **policy.parameters, "label": None, "parameters": None}
        model = policy.model or policy.parameters.get("model")
    else:
        settings, model = played.record.identity.settings, played.record.identity.model
    others = json.dumps([policy.name, _without_turns(settings)], sort_keys=True)
    return _Row(policy.label, turns, str(model or policy.name), others)


def _without_turns(settings: Mapping[str, object]) -> dict[str, object]:
    """Return settings without the turns kept, which own policies have among their parameters."""
    inner = settings.get("parameters")
    others = {name: value for name, value in settings.items() if name not in {KEEP_TURNS, "parameters"}}
    return {**others, "parameters": {**inner, KEEP_TURNS: None}} if isinstance(inner, dict) else others


def _grouped(rows: list[_Row]) -> list[list[_Row]]:
    """Return the rows of each line: alike but for the turns, and no two with the same number of turns."""
    lines = _split(rows, lambda row: row.others)
    # What a file of the suite no longer tells, like other prices, their labels may.
    lines = [part for line in lines for part in (_split(line, lambda row: row.stem) if _is_twofold(line) else [line])]
    return [part for line in lines for part in ([[row] for row in line] if _is_twofold(line) else [line])]


def _split(rows: list[_Row], key: Callable[[_Row], str]) -> list[list[_Row]]:
    parts: dict[str, list[_Row]] = {}
    for row in rows:
        parts.setdefault(key(row), []).append(row)
    return list(parts.values())


def _is_twofold(line: list[_Row]) -> bool:
    return len({row.turns for row in line}) < len(line)


def _named(lines: list[list[_Row]]) -> dict[str, list[_Row]]:
    """Return lines by name: that of the model, with the labels' where several have one model."""
    models = Counter(line[0].model for line in lines)
    named: dict[str, list[_Row]] = {}
    for line in lines:
        model, label = line[0].model, _common([row.label for row in line])
        name = model if models[model] == 1 else label if model in label else f"{model}, {label}"
        named[name if name not in named else f"{model}, {line[0].label}"] = line
    return named


def _common(labels: list[str]) -> str:
    """Return what labels begin with, or the first of them."""
    return (same_start(labels).rstrip(" -_,.:0123456789") if len(labels) > 1 else "") or labels[0]
