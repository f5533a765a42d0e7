"""Measuring one run: one pass over its record, its actions played again on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

from ycbench_agents.evaluation.measurement.conduct import Concurrency, Conversation, Notes, Requests
from ycbench_agents.evaluation.measurement.measures import RunMeasures
from ycbench_agents.evaluation.measurement.replayed import replayed_turns, start_of
from ycbench_agents.evaluation.measurement.task_course import TaskCourse
from ycbench_agents.evaluation.measurement.timeline import Timeline

if TYPE_CHECKING:
    from ycbench_agents.records import RunRecord

__all__ = ["measure_run"]


def measure_run(record: RunRecord) -> RunMeasures:
    """Return all that is measured of a run (docs/measurements.md).

    A run that is not finished is measured as far as it goes; ``is_complete`` tells.

    Args:
        record: Its record, as ``read_run`` returns it.

    Raises:
        MeasurementError: A turn turns out otherwise than recorded; the message names it.
        RecordError: The record is damaged, or its configuration cannot be used.

    Warns:
        RecordWarning: The last line was cut short, or turns are lost.
    """
    start = end = start_of(record)
    course, timeline, requests = TaskCourse(start), Timeline(start), Requests()
    conversation, concurrency = Conversation(), Concurrency()
    notes = Notes([client.name for client in start.clients])
    turns, terminal_reason = 0, None
    for turn in replayed_turns(record, start):
        for follower in (course, timeline, conversation, concurrency, notes):
            follower.add(turn)
        requests.add(turn.record)
        end, turns, terminal_reason = turn.after, turn.record.turn, turn.record.terminal_reason
    return RunMeasures(
        status=cast("Literal['running', 'stopped', 'finished']", record.outcome.status),
        is_complete=record.is_finished and turns == record.outcome.turns,
        money=timeline.money(end),
        ending=timeline.ending(end, terminal_reason),
        tasks=course.counts(end),
        acceptance=course.acceptance(end),
        clients=course.clients(end),
        months=timeline.months(end),
        prestige=timeline.prestige,
        failures=course.failures,
        notes=notes.measures() if record.identity.scratchpad else None,
        behaviour=conversation.behaviour(concurrency),
        calls=conversation.calls(),
        reliability=conversation.reliability(requests.totals),
        tokens=requests.tokens(),
        transport=requests.transport(),
    )
