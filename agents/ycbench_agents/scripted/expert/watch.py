"""What active tasks gained between two looks, and who learnt by a success: all that tells of hidden rates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from ycbench_agents.scripted.expert.skill import Gain, RateEstimate

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterator, Mapping, Sequence

    from ycbench_agents.scripted.answer import Inspection

__all__ = ["Watch"]

_SUCCESS = "completed_success"


@attrs.frozen
class _Look:
    """Active tasks by id at one moment."""

    at: dt.datetime
    tasks: Mapping[str, Inspection]


class Watch:
    """Turns inspections of active tasks into beliefs about rates."""

    def __init__(self) -> None:
        """Make one that has seen nothing."""
        self.estimate = RateEstimate()
        self._before: _Look | None = None
        self._boosted: set[str] = set()

    def see(self, now: dt.datetime, inspections: Sequence[Inspection], *, whole: bool) -> None:
        """Take in a look at all tasks that have been active since the look before.

        Args:
            now: When it was.
            inspections: What it showed.
            whole: Whether it is known that since the look before nothing but this policy's last turn happened.
        """
        tasks = {task.task_id: task for task in inspections}
        if self._before is not None and whole:
            for gain in _gains(self._before, now, tasks):
                self.estimate.observe(gain)
        for task_id, task in tasks.items():
            if task.status == _SUCCESS and task_id not in self._boosted:
                self._boosted.add(task_id)
                self.estimate.boost(task.team, [domain for domain, _ in task.work], task.skill_boost)
        self._before = _Look(now, tasks)


def _gains(before: _Look, now: dt.datetime, tasks: Mapping[str, Inspection]) -> Iterator[Gain]:
    """Yield what the tasks that are still active gained in the domains that are not complete."""
    loads: dict[str, int] = {}
    ended = {key for key, task in before.tasks.items() if task.status not in {"active", "planned"}}
    worked = [task for key, task in tasks.items() if key not in ended and task.status != "planned"]
    for task in worked:
        for name in task.team:
            loads[name] = loads.get(name, 0) + 1
    for task in worked:
        if task.status != "active":  # it was capped somewhere, and ended at some instant within
            continue
        shares = {name: 1 / loads[name] for name in task.team}
        # One that was not looked at before has begun right after that look, since time passes only at a turn's end.
        earlier = dict(before.tasks[task.task_id].remaining if task.task_id in before.tasks else task.work)
        for domain, left in task.remaining:
            if left > 0:
                yield Gain(domain, earlier[domain] - left, shares, before.at, now)
