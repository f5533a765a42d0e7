"""What the terminal shows: one run in detail; of several runs a table, and in detail the one that moved last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs
from rich.console import Group

from ycbench_agents.cli.old_live.glyphs import ASCII, UNICODE
from ycbench_agents.cli.old_live.layout import Size
from ycbench_agents.cli.old_live.panel import run_panel
from ycbench_agents.cli.old_live.table import runs_table

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from ycbench_agents.cli.old_live.state import RunView

__all__ = ["Screen"]

_SMALLEST_PANEL: Final = 12  # lines; with less, several runs are shown in their rows alone
_LOWEST_PANEL: Final = 7
_NARROWEST_PANEL: Final = 20  # cells
_TALLEST_PANEL: Final = 46
_WISHED_PANEL: Final = 14
_SMALLEST_TABLE: Final = 4


@attrs.frozen
class Screen:
    """A rich renderable as large as the terminal at most; it keeps its size as long as the terminal does.

    Args:
        views: The runs, in the order of their plans, at least one.
        now_s: Now, by the clock that their turns were timed by, in seconds.
        began_s: When this process began to play, by the same clock.
    """

    views: tuple[RunView, ...]
    now_s: float
    began_s: float = 0.0

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield what fits on the console."""
        yield self.page(Size(options.max_width, console.height), ascii_only=options.ascii_only)

    def page(self, size: Size, *, ascii_only: bool) -> RenderableType:
        """Return what fits into a size."""
        glyphs = ASCII if ascii_only else UNICODE
        table, panel = self._lines(size)
        lines = runs_table(self.views, self.began_s, self.now_s, Size(size.width, table), glyphs) if table else []
        for line in lines:
            line.end = "\n"
        if not panel:
            return Group(*lines[: size.height])
        return Group(*lines, run_panel(self._last_moved(), self.now_s, Size(size.width, panel), glyphs))

    def _lines(self, size: Size) -> tuple[int, int]:
        """Return how many lines the table has, and how many the run in detail."""
        if size.width < _NARROWEST_PANEL:
            return max(size.height, _SMALLEST_TABLE), 0
        if len(self.views) == 1 and size.height >= _LOWEST_PANEL:
            return 0, min(size.height, _TALLEST_PANEL)
        table = min(len(self.views) + 2, max(_SMALLEST_TABLE, size.height - _WISHED_PANEL))
        rest = min(size.height - table, _TALLEST_PANEL)
        return (table, rest) if rest >= _SMALLEST_PANEL else (max(size.height, _SMALLEST_TABLE), 0)

    def _last_moved(self) -> RunView:
        """Return the run whose last turn is the latest, the first one before any turn."""
        return max(self.views, key=lambda view: view.pace.last_s if view.pace else -1.0)
