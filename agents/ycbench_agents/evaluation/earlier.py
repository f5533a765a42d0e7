"""What a folder holds of earlier commands that does not count now, in words for people, before anything is played."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.evaluation.reading import readable_run
from ycbench_agents.records.reading import RUN_FILE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from ycbench_agents.base import JsonObject
    from ycbench_agents.evaluation.episode import EpisodeKey
    from ycbench_agents.evaluation.folder import EvaluationFolder
    from ycbench_agents.evaluation.planned import PlannedEpisode
    from ycbench_agents.evaluation.player import PlayerIdentity
    from ycbench_agents.evaluation.suite import Suite
    from ycbench_agents.records import RunIdentity, RunRecord

__all__ = ["changed_models", "changed_rows", "mixed_models", "unused_runs"]

_SHOWN: Final = 6


def changed_models(before: Iterable[PlayerIdentity], now: Iterable[PlayerIdentity]) -> list[str]:
    """Return a line for each policy that another model plays now than before.

    Args:
        before: Who played.
        now: Who plays.
    """
    models = {(each.policy, each.preset): each.model for each in before}
    changes = {
        each.policy: (models[each.policy, each.preset], each.model)
        for each in now
        if models.get((each.policy, each.preset), each.model) != each.model
    }
    return [
        f"{policy}: played by the model {new or 'none'} now, by {old or 'none'} before, whose runs count no more"
        for policy, (old, new) in changes.items()
    ]


def changed_rows(before: Suite, now: Suite, asked: Collection[str]) -> list[str]:
    """Return a line for each policy that is not played now, and that a suite has otherwise than when it was played.

    Args:
        before: The suite as it was played.
        now: The suite.
        asked: Labels of the policies that are played now.
    """
    rows = {row.label: row for row in before.policies}
    return [
        f"{row.label}: the suite has it otherwise than when it was played: its episodes are missing until it is played"
        for row in now.policies
        if row.label not in asked and rows.get(row.label, row) != row
    ]


def mixed_models(suite: Suite, players: Iterable[PlayerIdentity]) -> list[str]:
    """Return a line where different models play the policies of which the suite names none: [] or one.

    Args:
        suite: The suite.
        players: Who plays.
    """
    unnamed = {row.label for row in suite.policies if row.model is None and "model" not in row.parameters}
    found: dict[str, list[str]] = {}
    for each in players:
        if each.policy in unnamed and each.model is not None:
            labels = found.setdefault(each.model, [])
            labels += [] if each.policy in labels else [each.policy]
    if len(found) <= 1:
        return []
    told = "; ".join(f"{model}: {', '.join(labels)}" for model, labels in sorted(found.items()))
    return [f"the suite names no model, and different ones play its policies: {told}"]


@attrs.frozen
class _Unused:
    """A finished run that no planned episode has, and the episode that it is closest to.

    Args:
        key: Which episode.
        differences: Names of the settings that differ.
    """

    key: EpisodeKey
    differences: tuple[str, ...]


def unused_runs(
    folder: EvaluationFolder, planned: Sequence[PlannedEpisode], left: Sequence[PlannedEpisode]
) -> list[str]:
    """Return a line for each policy of which finished runs of other settings lie there that will not be used.

    A run is one of the policy that differs from it in the fewest settings, since runs do not know labels.

    Args:
        folder: Folder of the evaluation.
        planned: All planned episodes.
        left: Those that are to be played, of policies that ask somebody, which costs money.
    """
    groups: dict[str, list[_Unused]] = {each.key.policy: [] for each in left}
    to_play, names = {each.key for each in left}, {each.name for each in planned}
    paths = sorted(path.parent for path in folder.runs.glob(f"*/{RUN_FILE}") if path.parent.name not in names)
    for record in _finished(paths if left else ()):
        closest = _closest(record, (*left, *planned))
        # A repeat that is planned no more differs in nothing.
        if closest is not None and closest.key in to_play and closest.differences:
            groups[closest.key.policy].append(closest)
    return [_told(policy, group) for policy, group in groups.items() if group]


def _finished(paths: Iterable[Path]) -> Iterator[RunRecord]:
    for path in paths:
        record = readable_run(path)
        if record is not None and record.is_finished:
            yield record


def _closest(record: RunRecord, planned: Iterable[PlannedEpisode]) -> _Unused | None:
    """Return the episode that a run is closest to, of equals the first; None where none plays the same."""
    found = [
        _Unused(each.key, tuple(dict.fromkeys(_differences(record.identity, each.identity))))
        for each in planned
        if _what_is_played(record.identity) == _what_is_played(each.identity)
    ]
    return min(found, key=lambda each: len(each.differences), default=None)


def _what_is_played(identity: RunIdentity) -> tuple[str, int, str]:
    return identity.policy, identity.seed, identity.config_digest


def _differences(recorded: RunIdentity, asked: RunIdentity) -> Iterator[str]:
    yield from (name for name in ("version", "model", "max_turns") if getattr(recorded, name) != getattr(asked, name))
    yield from _settings_that_differ(recorded.settings, asked.settings)


def _settings_that_differ(one: JsonObject, other: JsonObject, path: str = "") -> Iterator[str]:
    for name in sorted(one.keys() | other.keys()):
        first, second = one.get(name), other.get(name)
        if isinstance(first, dict) and isinstance(second, dict):
            yield from _settings_that_differ(first, second, f"{path}{name}.")
        elif (first, name in one) != (second, name in other):
            yield f"{path}{name}"


def _told(policy: str, unused: Sequence[_Unused]) -> str:
    names = [*dict.fromkeys(name for each in unused for name in each.differences)]
    told = ", ".join(names[:_SHOWN] + ["..."] * (len(names) > _SHOWN))
    runs = "1 finished run" if len(unused) == 1 else f"{len(unused)} finished runs"
    verb = "is" if len(unused) == 1 else "are"
    return f"{policy}: {runs} in runs/ {verb} of other settings and will not be used; what differs: {told}"
