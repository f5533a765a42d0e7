"""A progress bar with the time that is left, on a terminal's stderr."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

from ycbench_env.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from rich.progress import Progress, TaskID

    from ycbench_agents.cli.suite import Plan, Watcher

__all__ = ["CountingBar", "episode_bar", "watching", "watching_runs"]


@contextlib.contextmanager
def watching(total: int, *, quiet: bool) -> Generator[Watcher]:
    """Give a watcher that shows a progress bar; one that shows nothing where stderr is no terminal.

    Args:
        total: Number of episodes.
        quiet: Show nothing anywhere.
    """
    if quiet or not sys.stderr.isatty():
        yield _Nobody()
        return
    with episode_bar() as progress:
        yield _Bar(progress, progress.add_task("", total=total, place=""), total)


@contextlib.contextmanager
def watching_runs(total: int) -> Generator[Callable[[], None]]:
    """Give what is to be called before each of so many runs; a bar shows them where stderr is a terminal."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    with episode_bar() as progress:
        bar = CountingBar(progress)
        bar.expect(total)
        yield bar.begin


class CountingBar:
    """Shows the share of things that are over, each counted alike.

    Args:
        progress: What shows it.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task("", total=None, place="")
        self._begun = self._total = 0

    def expect(self, total: int) -> None:
        """Say how much there is to do."""
        self._total = total
        self._progress.update(self._task, total=total, place=f"0/{total}")

    def begin(self, name: str = "") -> None:
        """Go on to the next thing."""
        self._begun += 1
        place = f"{self._begun}/{self._total}"
        self._progress.update(self._task, completed=self._begun - 1, description=printable(name), place=place)


def episode_bar() -> Progress:
    """Return a bar on stderr that tells which episode is played, how far it is and how long the rest may take."""
    from rich.progress import (  # noqa: PLC0415 -- slow to import
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from ycbench_agents.cli.output import progress_output  # noqa: PLC0415 -- imports rich

    columns = (
        TextColumn("{task.fields[place]} {task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%", markup=False),
        TimeElapsedColumn(),
        TextColumn("left", markup=False),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=progress_output(), transient=True)


class _Nobody:
    """Shows nothing."""

    def begin(self, plan: Plan) -> None:
        """Show nothing."""

    def advance(self, fraction: float) -> None:
        """Show nothing."""

    def end(self) -> None:
        """Show nothing."""


class _Bar:
    """Shows the share of all episodes that is over, each counted by its simulated time."""

    def __init__(self, progress: Progress, task: TaskID, total: int) -> None:
        self._progress = progress
        self._task = task
        self._total = total
        self._done = 0

    def begin(self, plan: Plan) -> None:
        """Name the episode."""
        name = printable(f"{plan.policy}, {plan.preset}, seed {plan.seed}")
        self._progress.update(self._task, description=name, place=f"{self._done + 1}/{self._total}")

    def advance(self, fraction: float) -> None:
        """Move the bar within the episode."""
        self._progress.update(self._task, completed=self._done + fraction)

    def end(self) -> None:
        """Count the episode."""
        self._done += 1
        self._progress.update(self._task, completed=self._done)
