"""A company's open tasks, gathered from what its agent was answered and from what happened.

Everything known of a task by its id is merged, whichever command told of it; so a list or an inspection also puts right
what was missed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

import attrs

from ycbench_agents.cli.old_live.fields import count, objects, text
from ycbench_env.actions import format_command, parse_turn

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ycbench_agents.records import TurnRecord

__all__ = ["Task", "Work"]

_NOBODY: Final = "-"
_OPEN: Final = ("planned", "active")
_OVER: Final = ("completed_success", "completed_fail", "cancelled")
_TEAMS: Final = ("total_assigned", "assigned_employees", "assignments")  # lists of who is on a task
_MEANT: Final = {"accept": "planned", "dispatch": "active", "cancel": "cancelled"}


@attrs.frozen
class Task:
    """What is known of a task; None is not known.

    Args:
        task_id: Its id.
        status: planned or active; None as long as it is on the market.
        client: Name of the client; a dash in a world without clients.
        reward_cents: Reward, in cents.
        deadline: Simulated time, ISO 8601.
        team: How many are on it.
    """

    task_id: str
    status: str | None = None
    client: str | None = None
    reward_cents: int | None = None
    deadline: str | None = None
    team: int | None = None

    def merged(self, fields: Mapping[str, object]) -> Task:
        """Return the task with what an answer says about it."""
        reward, team = count(fields, "reward_funds_cents"), _team(fields)
        return Task(
            task_id=self.task_id,
            status=text(fields, "status") or self.status,
            client=_NOBODY if fields.get("client_name", "") is None else text(fields, "client_name") or self.client,
            reward_cents=self.reward_cents if reward is None else reward,
            deadline=text(fields, "deadline") or self.deadline,
            team=self.team if team is None else team,
        )


def _team(fields: Mapping[str, object]) -> int | None:
    for key in _TEAMS:
        value = fields.get(key)
        if isinstance(value, list):
            return len(cast("list[object]", value))
    return None


@attrs.frozen
class Work:
    """Tasks that are open, what is known of the market, and how many tasks are over.

    Args:
        open: Open tasks by id, in the order in which they were accepted.
        market: Tasks that were seen on the market, by id.
        succeeded: Tasks completed in time.
        failed: Tasks completed late.
        cancelled: Tasks given up.
    """

    open: Mapping[str, Task] = attrs.field(factory=dict[str, Task])
    market: Mapping[str, Task] = attrs.field(factory=dict[str, Task])
    succeeded: int = 0
    failed: int = 0
    cancelled: int = 0

    def after(self, turn: TurnRecord) -> Work:
        """Return the work after a turn."""
        fold = _Fold(dict(self.open), dict(self.market))
        for answer in objects(turn.results):
            fold.hear(answer)
        over = [event for event in objects(turn.events) if event.get("type") == "task_completed"]
        for event in over:
            fold.open.pop(text(event, "task_id") or "", None)
        succeeded = sum([event.get("success") is True for event in over])
        return Work(
            fold.open,
            fold.market,
            self.succeeded + succeeded,
            self.failed + len(over) - succeeded,
            self.cancelled + fold.cancelled,
        )


@attrs.define
class _Fold:
    """Copies that a turn's answers are written into."""

    open: dict[str, Task]
    market: dict[str, Task]
    cancelled: int = 0

    def hear(self, answer: Mapping[str, object]) -> None:
        """Take in the answer to one command."""
        output = answer.get("output")
        if answer.get("ok") is not True or not isinstance(output, dict):
            return
        fields = cast("Mapping[str, object]", output)
        if "cut" in fields:
            self._infer(text(answer, "command") or "")
            return
        self._merge(fields)
        for row in objects(fields.get("tasks")):
            self._merge(row)

    def _infer(self, command: str) -> None:
        """Take in a command that was carried out and whose answer was left out, since the turn had too many."""
        for parsed in parse_turn(command):
            match format_command(parsed.command).split() if parsed.command else []:
                case ["task", verb, "--task-id", task_id, *_] if verb in _MEANT:
                    self._merge({"task_id": task_id, "status": _MEANT[verb]})
                case _:
                    pass

    def _merge(self, fields: Mapping[str, object]) -> None:
        task_id, status = text(fields, "task_id"), text(fields, "status")
        if task_id is None:
            return
        if status in _OVER:
            self.cancelled += self.open.pop(task_id, None) is not None and status == "cancelled"
        elif status in _OPEN:
            known = self.open.get(task_id) or self.market.pop(task_id, None) or Task(task_id)
            self.open[task_id] = known.merged(fields)
        elif task_id in self.open:
            self.open[task_id] = self.open[task_id].merged(fields)
        else:
            self.market[task_id] = (self.market.get(task_id) or Task(task_id)).merged({**fields, "status": None})
