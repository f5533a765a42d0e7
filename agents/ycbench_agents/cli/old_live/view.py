"""``live_view``: whoever plays tells it each turn, and it shows what suits the place."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import TYPE_CHECKING, Protocol, cast

from ycbench_agents.cli.old_live.log import result_line, turn_line
from ycbench_agents.cli.old_live.state import RunView, told
from ycbench_agents.cli.old_live.wording import run_names
from ycbench_agents.records import RunFailure

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from pathlib import Path
    from typing import TextIO

    from rich.console import Console

    from ycbench_agents.cli.old_live.display import Board
    from ycbench_agents.records import RunPlan, RunResult, TurnRecord

__all__ = ["Watcher", "live_view"]


class Watcher(Protocol):
    """Is told what happens to runs; it never raises, and what it does takes no time worth mentioning."""

    def on_turn(self, plan: RunPlan, turn: TurnRecord) -> None:
        """A turn was played."""
        ...

    def finished(self, result: RunResult) -> None:
        """A run is over, or could not be played."""
        ...


@contextlib.contextmanager
def live_view(
    plans: Sequence[RunPlan],
    *,
    live: bool,
    quiet: bool,
    console: Console | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Generator[Watcher]:
    """Give a watcher that shows runs on stderr: a screen on a terminal, a line for each turn elsewhere.

    Args:
        plans: What will be played; what their folders hold already is read.
        live: Whether a screen is wanted where there is a terminal.
        quiet: Show nothing anywhere.
        console: Where to show it; None for stderr.
        clock: Monotonic, in seconds.
    """
    if quiet or not plans:
        yield _Nobody()
        return
    names = dict(zip([plan.folder for plan in plans], run_names(plans), strict=True))
    terminal = _terminal(console) if live else None
    if terminal is None:
        yield _Log(names, sys.stderr if console is None else cast("TextIO", console.file))
        return
    from ycbench_agents.cli.old_live.display import Board, displayed  # noqa: PLC0415 -- imports rich

    board = Board([RunView.of(plan, names[plan.folder]) for plan in plans], clock)
    with displayed(board, terminal):
        yield _Shown(list(names), board)


def _terminal(console: Console | None) -> Console | None:
    """Return the console of a terminal on which a cursor can be moved, None without one."""
    if console is None:
        if not sys.stderr.isatty():
            return None
        from ycbench_agents.cli.output import progress_output  # noqa: PLC0415 -- imports rich

        console = progress_output()
    return console if console.is_interactive else None


class _Nobody:
    """Shows nothing."""

    def on_turn(self, plan: RunPlan, turn: TurnRecord) -> None:
        """Show nothing."""

    def finished(self, result: RunResult) -> None:
        """Show nothing."""


def _folder(result: RunResult) -> Path:
    return result.plan.folder if isinstance(result, RunFailure) else result.record.folder


class _Log:
    """Writes lines."""

    def __init__(self, names: dict[Path, str], file: TextIO) -> None:
        self._names = names
        self._file = file

    def on_turn(self, plan: RunPlan, turn: TurnRecord) -> None:
        """Write the line of a turn."""
        with contextlib.suppress(Exception):  # nobody reads it any more; that must not end a run
            self._write(turn_line(self._names.get(plan.folder, plan.folder.name), turn))

    def finished(self, result: RunResult) -> None:
        """Write the line of a run."""
        with contextlib.suppress(Exception):  # as above
            folder = _folder(result)
            self._write(result_line(self._names.get(folder, folder.name), result))

    def _write(self, line: str) -> None:
        encoding = self._file.encoding or "utf-8"
        self._file.write(line.encode(encoding, "backslashreplace").decode(encoding) + "\n")
        self._file.flush()


class _Shown:
    """Writes on a board that is shown."""

    def __init__(self, folders: list[Path], board: Board) -> None:
        self._numbers = {folder: number for number, folder in enumerate(folders)}
        self._board = board

    def on_turn(self, plan: RunPlan, turn: TurnRecord) -> None:
        """Take a turn into the run's view."""
        with contextlib.suppress(Exception):  # a screen must not end what it shows
            now_s = self._board.clock()
            self._board.change(self._numbers[plan.folder], lambda view: told(view, turn, now_s))

    def finished(self, result: RunResult) -> None:
        """Take the end of a run into its view."""
        with contextlib.suppress(Exception):  # as above
            self._board.change(self._numbers[_folder(result)], lambda view: _ended(view, result))


def _ended(view: RunView, result: RunResult) -> RunView:
    if isinstance(result, RunFailure):
        return view.ended("failed", f"{type(result.error).__name__}: {result.error}")
    outcome = result.record.outcome
    if outcome.status == "finished":
        return view.ended("finished", outcome.terminal_reason or "max_turns")
    return view.ended("stopped", outcome.reason)
