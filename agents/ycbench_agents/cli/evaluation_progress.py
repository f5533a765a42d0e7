"""How far an evaluation, its validation or its measuring is: a bar with the time that is left, on a terminal."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

from ycbench_agents.cli.output import complain
from ycbench_agents.cli.progress import CountingBar, episode_bar
from ycbench_agents.evaluation.replay_watcher import NOBODY
from ycbench_env.text import printable

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from rich.progress import Progress

    from ycbench_agents.evaluation.episode import EpisodeKey
    from ycbench_agents.evaluation.failure import EpisodeFailure
    from ycbench_agents.evaluation.replay_watcher import ReplayWatcher
    from ycbench_agents.evaluation.running import EvaluationWatcher

__all__ = ["watching_evaluation", "watching_measuring", "watching_validation"]


@contextlib.contextmanager
def watching_evaluation(*, quiet: bool) -> Generator[EvaluationWatcher]:
    """Give a watcher: a bar on a terminal, else a line an episode; a quiet one tells only what is odd."""
    if quiet:
        yield _Quiet()
        return
    if not sys.stderr.isatty():
        yield _Lines()
        return
    with episode_bar() as progress:
        yield _Bar(progress)


@contextlib.contextmanager
def watching_validation() -> Generator[ReplayWatcher]:
    """Give a watcher that shows a progress bar; one that shows nothing where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield NOBODY
        return
    with episode_bar() as progress:
        yield _ReplayBar(progress)


@contextlib.contextmanager
def watching_measuring() -> Generator[ReplayWatcher]:
    """Give a watcher that says what is to be measured, and shows a bar where stderr is a terminal."""
    with contextlib.ExitStack() as stack:
        yield _MeasuringBar(stack) if sys.stderr.isatty() else _MeasuringLine()


class _Quiet:
    """Tells what is odd."""

    def begin(self, costs: Mapping[EpisodeKey, float], *, reused: int, tried_again: int) -> None:
        """Show nothing."""

    def end(self, key: EpisodeKey, failure: EpisodeFailure | None) -> None:
        """Show nothing."""

    def tell(self, message: str) -> None:
        """Write a warning to stderr."""
        complain(f"warning: {message}")


class _Lines(_Quiet):
    """Writes a line an episode to stderr."""

    def __init__(self) -> None:
        self._total = self._done = 0

    def begin(self, costs: Mapping[EpisodeKey, float], *, reused: int, tried_again: int) -> None:
        """Say how much there is to do."""
        self._total = len(costs)
        complain(_opening(len(costs), reused, tried_again))

    def end(self, key: EpisodeKey, failure: EpisodeFailure | None) -> None:
        """Name the episode."""
        self._done += 1
        complain(f"{self._done}/{self._total} {key}: {'finished' if failure is None else f'failed: {failure}'}")


class _Bar(_Quiet):
    """Shows the share of all episodes that is over, each counted by what it is expected to take."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task("", total=None, place="")
        self._costs: Mapping[EpisodeKey, float] = {}
        self._done = 0

    def begin(self, costs: Mapping[EpisodeKey, float], *, reused: int, tried_again: int) -> None:
        """Say how much there is to do."""
        self._costs = costs
        self._progress.console.print(_opening(len(costs), reused, tried_again))
        self._progress.update(self._task, total=sum(costs.values()), place=f"0/{len(costs)}")

    def end(self, key: EpisodeKey, failure: EpisodeFailure | None) -> None:
        """Count the episode, and name it."""
        self._done += 1
        place = f"{self._done}/{len(self._costs)}"
        self._progress.update(self._task, advance=self._costs[key], description=printable(str(key)), place=place)
        if failure is not None:
            self._progress.console.print(printable(f"failed: {key}: {failure}"))


class _ReplayBar:
    """Shows the share of the runs that are played again."""

    def __init__(self, progress: Progress) -> None:
        self._bar = CountingBar(progress)

    def begin(self, plays: int) -> None:
        """Say how much there is to do."""
        self._bar.expect(plays)

    def play(self, key: EpisodeKey) -> None:
        """Name the run."""
        self._bar.begin(str(key))


class _MeasuringLine:
    """Says how many runs are to be measured."""

    def begin(self, plays: int) -> None:
        """Write it to stderr."""
        what = "1 run, which has" if plays == 1 else f"{plays} runs, which have"
        complain(f"to measure: {what} no measures of this version; ycbench evaluate writes them")

    def play(self, key: EpisodeKey) -> None:
        """Show nothing."""


class _MeasuringBar(_MeasuringLine):
    """Shows the share of the runs that are measured; nothing where there are none."""

    def __init__(self, stack: contextlib.ExitStack) -> None:
        self._stack = stack
        self._bar: CountingBar | None = None

    def begin(self, plays: int) -> None:
        """Say how much there is to do."""
        super().begin(plays)
        self._bar = CountingBar(self._stack.enter_context(episode_bar()))
        self._bar.expect(plays)

    def play(self, key: EpisodeKey) -> None:
        """Name the run."""
        if self._bar is not None:
            self._bar.begin(str(key))


def _opening(planned: int, reused: int, tried_again: int) -> str:
    again = f", {tried_again} of them failed before and are tried again" if tried_again else ""
    before = f", {reused} were finished before" if reused else ""
    return f"to play: {planned} episodes{again}{before}"
