"""What a report says, before it becomes HTML or Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.evaluation.measured_evaluation import without_unmeasured
from ycbench_agents.evaluation.report.cell import clean
from ycbench_agents.evaluation.report.comparison import comparison_part
from ycbench_agents.evaluation.report.conduct import (
    behaviour_table,
    cost_table,
    reliability_table,
    task_table,
    transport_table,
)
from ycbench_agents.evaluation.report.definition import DEFINITIONS
from ycbench_agents.evaluation.report.drawing import drawn_figures
from ycbench_agents.evaluation.report.ending import ENDING_READING, cut_off_texts, ending_table
from ycbench_agents.evaluation.report.leaderboard import leaderboard_table
from ycbench_agents.evaluation.report.origin import episode_part, origin_part
from ycbench_agents.evaluation.report.paid import paid_texts
from ycbench_agents.evaluation.report.part import Part, Section
from ycbench_agents.evaluation.report.reading import COMPARISON_READING, CONDUCT_READING, LEADERBOARD_READING
from ycbench_agents.evaluation.report.result import preset_results

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ycbench_agents.evaluation.episode import Episode, EpisodeKey
    from ycbench_agents.evaluation.measurement import RunMeasures
    from ycbench_agents.evaluation.old_suite import Suite
    from ycbench_agents.evaluation.reading import Evaluation
    from ycbench_agents.evaluation.report.drawing import DrawFigures
    from ycbench_agents.evaluation.report.result import PresetResults

__all__ = ["DEFAULT_BASELINE", "TIMES", "Report", "ReportError", "report_of", "require_policy"]

DEFAULT_BASELINE: Final = "greedy"
"""What the paper compares with (section 4.1)."""

TIMES: Final = "times"
"""Key of the only section that may differ between reports of equal evaluations."""

_NONE_FINISHED: Final = "No episode was played to its end, so there is nothing to show yet."


class ReportError(ValueError):
    """A report cannot be made as asked for; the message says what was got, what was expected, and how to fix it."""


@attrs.frozen
class Report:
    """What a report says.

    Args:
        title: Its title.
        sections: Its sections, in order.
        definitions: Terms and what they mean.
    """

    title: str
    sections: tuple[Section, ...]
    definitions: tuple[tuple[str, str], ...] = DEFINITIONS


def report_of(
    evaluation: Evaluation,
    measures: Mapping[EpisodeKey, RunMeasures],
    baseline: str | None = None,
    draw: DrawFigures = drawn_figures,
    remarks: Sequence[str] = (),
) -> Report:
    """Return the report of an evaluation: equal for equal ones, but for the section of times.

    Args:
        evaluation: The evaluation, finished or not.
        measures: Measures of its finished episodes, as ``evaluation.measures()`` returns them; what is finished and has
            none counts as failed.
        baseline: Label of the policy to compare with; None for greedy, as far as the suite has it.
        draw: Draws the figures.
        remarks: What is to be said before all else, such as that results.json tells otherwise.

    Raises:
        ReportError: The suite has no such baseline.
    """
    suite, episodes = evaluation.suite, without_unmeasured(evaluation.episodes, measures)
    require_policy(suite, baseline)
    presets = preset_results(suite, episodes, measures)
    sections = (
        Section("origin", "What was evaluated", _origin(evaluation, episodes, remarks)),
        Section("leaderboard", "Leaderboard", _leaderboards(presets), (*LEADERBOARD_READING, ENDING_READING)),
        Section("endings", "How episodes ended", _endings(presets)),
        Section(
            "comparison",
            f"Against {clean(baseline or DEFAULT_BASELINE)}",
            tuple(
                comparison_part(results, baseline or DEFAULT_BASELINE, _title(results, presets)) for results in presets
            ),
            COMPARISON_READING,
        ),
        Section("figures", "Figures", _figures(suite, presets, draw)),
        Section("conduct", "Tasks, behaviour and cost", _conduct(presets, episodes), CONDUCT_READING),
        Section("reliability", "Reliability", _reliability(presets)),
        Section(TIMES, "Times, retries and faults", _times(presets, _played(evaluation))),
        Section("episodes", "Failed and missing episodes", (episode_part(episodes, is_secret=suite.is_held_out),)),
    )
    return Report(f"YC-Bench evaluation: {clean(suite.name)}", sections)


def require_policy(suite: Suite, baseline: str | None) -> None:
    """Refuse a baseline that the suite does not have.

    Raises:
        ReportError: It has no such policy.
    """
    labels = [policy.label for policy in suite.policies]
    if baseline is not None and baseline not in labels:
        msg = f"--baseline: got {baseline}, expected a policy of the suite: {', '.join(labels)}"
        raise ReportError(msg)


def _leaderboards(presets: Sequence[PresetResults]) -> tuple[Part, ...]:
    return tuple(
        Part(_title(results, presets), cut_off_texts(results), (leaderboard_table(results),)) for results in presets
    )


def _endings(presets: Sequence[PresetResults]) -> tuple[Part, ...]:
    return tuple(
        Part(_title(results, presets), (), (ending_table(results),))
        if results.has_finished
        else Part(_title(results, presets), (_NONE_FINISHED,))
        for results in presets
    )


def _title(results: PresetResults, presets: Sequence[PresetResults]) -> str:
    """Return the heading of a configuration's part; nothing where there is but one."""
    return f"Preset {results.preset}" if len(presets) > 1 else ""


def _figures(suite: Suite, presets: Sequence[PresetResults], draw: DrawFigures) -> tuple[Part, ...]:
    parts: list[Part] = []
    for place, results in enumerate(presets, 1):
        drawn = draw(suite, results, place)
        parts.append(Part(_title(results, presets), (), (), drawn.drawings, drawn.omitted))
    return tuple(parts)


def _origin(evaluation: Evaluation, episodes: Sequence[Episode], remarks: Sequence[str]) -> tuple[Part, ...]:
    said = (Part("", tuple(map(clean, remarks))),) if remarks else ()
    return (*said, origin_part(evaluation.suite, evaluation.provenance, episodes, players=evaluation.players))


def _conduct(presets: Sequence[PresetResults], episodes: Sequence[Episode]) -> tuple[Part, ...]:
    parts: list[Part] = []
    for results in presets:
        title, cost = _title(results, presets), cost_table(results)
        paid = paid_texts([episode for episode in episodes if episode.key.preset == results.preset])
        if not results.has_finished:
            parts.append(Part(title, (_NONE_FINISHED, *paid)))
        elif cost is None:
            said = "No run tells of tokens or cost, as runs of language models do, so there is no table of these."
            parts.append(Part(title, paid or (said,), (task_table(results), behaviour_table(results))))
        else:
            parts.append(Part(title, paid, (task_table(results), behaviour_table(results), cost)))
    return tuple(parts)


def _reliability(presets: Sequence[PresetResults]) -> tuple[Part, ...]:
    if not any(results.has_finished for results in presets):
        return (Part("", (_NONE_FINISHED,)),)
    text = (
        "Sums over all finished episodes. None of this is part of the score; retries and faults are below, with times."
    )
    return (Part("", (text,), (reliability_table(presets),)),)


def _played(evaluation: Evaluation) -> str:
    """Return when runs were played, as their records tell: the time of the last command would say nothing of them."""
    runs = [each.record for each in evaluation.episodes if each.status == "finished" and each.record is not None]
    if not runs:
        return f"No run is finished. The evaluation was begun at {evaluation.provenance.origin.started}."
    # Times of records are all of UTC and in one form, so their texts are in the order of the clock.
    first = min(run.origin.started for run in runs)
    last = max(run.outcome.ended or run.origin.started for run in runs)
    return f"Of the finished runs the first was begun at {first}, and the last ended at {last}."


def _times(presets: Sequence[PresetResults], played: str) -> tuple[Part, ...]:
    text = "What may differ between two evaluations that are equal otherwise; nothing else in this report does."
    finished = any(results.has_finished for results in presets)
    return (Part("", (played, text), (transport_table(presets),) if finished else ()),)
