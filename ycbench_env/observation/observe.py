"""The observation function: what an agent is given after a turn. Source: Y-9."""

from __future__ import annotations

from typing import Final, TypedDict

import numpy as np
from numpy.typing import NDArray

from ycbench_env.observation.info import TurnReport, cut_text
from ycbench_env.types.state import State

MAX_TEXT_LENGTH: Final = 65_536
"""Longest ``text`` of an observation, in characters."""

MAX_RUNWAY_MONTHS: Final = 1e19
"""Beyond any runway in cents; stands for one without end, in a company without payroll."""

_NO_REPORT: Final = TurnReport()
_INT64: Final = np.dtype(np.int64)  # the type itself would be looked up each time, half of an array's cost
_FLOAT64: Final = np.dtype(np.float64)


class Observation(TypedDict):
    """The observation; arrays have shape () and are fresh each time.

    Args:
        turn: Number of the turn to be played next, from 1; int64.
        sim_time: Simulated time, ISO 8601 without a zone.
        horizon_end: End of the simulated time.
        funds_cents: Funds; int64.
        monthly_payroll_cents: Sum of all salaries; int64.
        runway_months: Funds divided by payroll, 2 places, MAX_RUNWAY_MONTHS without payroll; float64.
        active_tasks: Number of tasks being worked on; int64.
        planned_tasks: Number of tasks accepted and not dispatched; int64.
        employees: Number of employees; int64.
        events: What happened during the last turn, JSON list.
        results: Answers to the last turn's commands, JSON list of {"command", "ok", "output"}.
        text: All of it for a language model to read.
    """

    turn: NDArray[np.int64]
    sim_time: str
    horizon_end: str
    funds_cents: NDArray[np.int64]
    monthly_payroll_cents: NDArray[np.int64]
    runway_months: NDArray[np.float64]
    active_tasks: NDArray[np.int64]
    planned_tasks: NDArray[np.int64]
    employees: NDArray[np.int64]
    events: str
    results: str
    text: str


def observe(state: State, report: TurnReport = _NO_REPORT) -> Observation:
    """Return what an agent may know of a state after a turn.

    Args:
        state: The state after the turn.
        report: The turn's answers and events; nothing at the start of an episode.
    """
    turn, end, runway = state.turns_played + 1, state.calendar.horizon_end, state.runway_months
    events = report.events_json()
    lines = [f"Turn {turn} | {state.sim_time} (until {end}) | {state.summary}"]
    if state.end_reason is not None:
        lines.append(f"The episode is over: {state.end_reason}.")
    if report.forced_advance:
        lines.append("Time was moved on by itself, since the clock had stood still for too many turns.")
    if report.events:
        lines.append(f"Events: {events}")
    for answer in report.answers:
        lines.extend((f"> {answer.echo}", answer.output_json))
    # One array and views of it: an array for each figure takes twice as long.
    money, counts = (state.funds_cents, state.monthly_payroll_cents), state.status_counts
    figures = np.array((turn, *money, counts["active"], counts["planned"], len(state.employees)), _INT64)
    return {
        "turn": figures[0, ...],
        "sim_time": state.sim_time,
        "horizon_end": end,
        "funds_cents": figures[1, ...],
        "monthly_payroll_cents": figures[2, ...],
        "runway_months": np.array(MAX_RUNWAY_MONTHS if runway is None else runway, _FLOAT64),
        "active_tasks": figures[3, ...],
        "planned_tasks": figures[4, ...],
        "employees": figures[5, ...],
        "events": events,
        "results": report.results_json(),
        "text": cut_text("\n".join(lines), MAX_TEXT_LENGTH),
    }
