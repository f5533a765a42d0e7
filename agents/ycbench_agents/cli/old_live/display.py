"""A screen that is drawn again and again by a thread of its own, so that nobody who plays waits for a terminal."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from typing import TYPE_CHECKING, Final

import attrs
from rich.live import Live
from rich.segment import Segment
from rich.text import Text

from ycbench_agents.cli.old_live.screen import Screen

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from ycbench_agents.cli.old_live.state import RunView

__all__ = ["Board", "displayed"]

_SHORTEST_S: Final = 1 / 8  # between two drawings
_IDLE_S: Final = 1.0  # after which it is drawn again though nothing was told, since times go on
_SPARED: Final = 15  # between two drawings, so many times as long as one takes is left to others


class Board:
    """The runs as they are, written by who plays and read by who draws.

    Args:
        views: The runs by number, from 0.
        clock: Monotonic, in seconds.
    """

    def __init__(self, views: list[RunView], clock: Callable[[], float]) -> None:
        self._views = views
        self._began_s = clock()
        self.clock = clock
        self.changed = threading.Event()

    def change(self, number: int, new: Callable[[RunView], RunView]) -> None:
        """Replace a run by what a function makes of it."""
        self._views[number] = new(self._views[number])
        self.changed.set()

    def screen(self) -> RenderableType:
        """Return the screen of now."""
        return _Guarded(Screen(tuple(self._views), self.clock(), self._began_s))


@attrs.frozen
class _Guarded:
    """A screen; where it fails, the failure is shown instead of it."""

    screen: Screen

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        try:
            lines = console.render_lines(self.screen, options, pad=False)
        except Exception as error:  # noqa: BLE001 -- a screen must not end what it shows
            yield Text(f"no screen: {type(error).__name__}; the runs go on")
            return
        for line in lines:
            yield from line
            yield Segment.line()


@contextlib.contextmanager
def displayed(board: Board, console: Console) -> Generator[None]:
    """Show a board on a terminal for as long as the context lasts; its last state stays there."""
    live = Live(
        console=console,
        get_renderable=board.screen,
        auto_refresh=False,
        redirect_stdout=sys.stdout.isatty(),  # else stdout is for programs, and no business of this screen
    )
    painter = _Painter(board, live)
    with contextlib.suppress(Exception):  # the terminal may be gone; who plays goes on
        live.start(refresh=False)
        painter.start()
    try:
        yield
    finally:
        try:
            painter.stop()
        finally:
            with contextlib.suppress(Exception):  # as above
                live.stop()


class _Painter(threading.Thread):
    """Draws a board when it has changed, seldom enough to leave nearly all the time to others."""

    def __init__(self, board: Board, live: Live) -> None:
        super().__init__(name="ycbench-screen", daemon=True)
        self._board = board
        self._live = live
        self._size = live.console.size
        self._over = threading.Event()

    def run(self) -> None:
        """Draw until it is stopped, or until drawing fails."""
        with contextlib.suppress(Exception):  # a screen must not end what it shows
            while not self._over.is_set():
                began = time.perf_counter()
                self._draw()
                taken = time.perf_counter() - began
                self._over.wait(max(_SHORTEST_S, taken * _SPARED))
                self._board.changed.wait(_IDLE_S)

    def stop(self) -> None:
        """Draw no more, and wait for the drawing that goes on."""
        self._over.set()
        self._board.changed.set()
        if self.is_alive():
            self.join()

    def _draw(self) -> None:
        self._board.changed.clear()
        if self._live.console.size != self._size:  # lines of the old size may have been broken
            self._size = self._live.console.size
            self._live.console.clear()
        self._live.refresh()
