"""What a player has been told so far, for completion: from answers and events alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import attrs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ycbench_env import Observation

__all__ = ["Knowledge"]

Row = dict[str, Any]
"""An object in an answer, as JSON has it."""


@attrs.frozen
class Knowledge:
    """What observations have told.

    Args:
        employees: Number of employees.
        tasks: Status in which each task was seen last, by id; market for one on offer.
    """

    employees: int
    tasks: Mapping[str, str]

    @classmethod
    def of(cls, observation: Observation) -> Knowledge:
        """Return what one observation tells."""
        return cls(0, {}).after(observation)

    def after(self, observation: Observation) -> Knowledge:
        """Return this and what another observation tells."""
        tasks = dict(self.tasks)  # in the order first told, which is how they are offered again
        for result in cast("list[Row]", json.loads(observation["results"])):
            tasks.update(_told(result.get("output")))
        for event in cast("list[Row]", json.loads(observation["events"])):
            if event.get("type") == "task_completed":
                tasks[event["task_id"]] = "completed_success" if event["success"] else "completed_fail"
        return Knowledge(int(observation["employees"]), tasks)

    def task_ids(self, *statuses: str) -> tuple[str, ...]:
        """Return the tasks of these statuses in the order in which they were first seen; all of them for none."""
        return tuple(task_id for task_id, status in self.tasks.items() if not statuses or status in statuses)


def _told(output: object) -> dict[str, str]:
    """Return the statuses of tasks that an answer tells: of a list, of one task, of what came to the market."""
    if not isinstance(output, dict):
        return {}
    answer = cast("Row", output)
    rows = [row for row in answer.get("tasks", ()) if "task_id" in row] if isinstance(answer.get("tasks"), list) else []
    told = {row["task_id"]: row.get("status", "market") for row in rows}
    if "task_id" in answer and "status" in answer:
        told[answer["task_id"]] = answer["status"]
    if answer.get("replacement_task_id"):
        told[answer["replacement_task_id"]] = "market"
    return told
