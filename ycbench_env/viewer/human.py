"""Mode "human": the dashboard on the terminal, one below the other as the turns go."""

import sys
from bisect import bisect_right
from typing import Final

from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from ycbench_env.text import short_dollars
from ycbench_env.viewer.dashboard import Bar, Dashboard, Section

_FRAME: Final = 4  # cells that a panel's border and padding take
_MOST_ROWS: Final = 12
_BAR_CELLS: Final = 12
_STEPS: Final = "▁▂▃▄▅▆▇█"


def print_dashboard(board: Dashboard) -> None:
    """Print the dashboard to standard output, as wide as the terminal."""
    console = Console(file=sys.stdout)
    lines = [Text(line, no_wrap=True, overflow="ellipsis") for line in board.facts]
    lines[1].stylize("bold red" if board.in_debt else "bold green")
    if board.ending is not None:
        lines.insert(0, Text(f" {board.ending.upper()} ", "bold reverse"))
    chart = _funds_chart(board, console.width - _FRAME)
    name = Text(board.company_name, "bold")
    head = Panel(Group(*lines, chart), title=name, title_align="left", border_style="blue")
    with console.capture() as capture:
        console.print(Group(head, *map(_panel, board.sections)))
    # A name may have signs that the output's encoding lacks; they must not end the episode.
    sys.stdout.write(capture.get().encode(console.encoding, "replace").decode(console.encoding))
    sys.stdout.flush()


def _funds_chart(board: Dashboard, width: int) -> Text:
    """Return a line of bars over the whole horizon, each the funds at its end; debt is an x, the future a dot."""
    top = max([cents for _, cents in board.funds_history] + [1])
    line = Text(f"{short_dollars(top / 100)} ", "dim", no_wrap=True)
    cells = width - len(line)
    times = [time_us for time_us, _ in board.funds_history]
    span = board.horizon_us - board.start_us
    for cell in range(cells):
        cents = board.funds_history[bisect_right(times, board.start_us + span * (cell + 1) // cells) - 1][1]
        if board.start_us + span * cell // cells > board.now_us:
            line.append("·", "dim")
        elif cents < 0:
            line.append("x", "bold red")
        else:
            line.append(_STEPS[round(cents / top * (len(_STEPS) - 1))], "green")
    return line


def _panel(section: Section) -> Panel:
    shown = section.first(_MOST_ROWS)
    table = Table(box=None, expand=True, padding=(0, 1, 0, 0), header_style="dim")
    for heading in shown.headings:
        table.add_column(heading, no_wrap=heading not in {"client", "work"})  # those two are cut first
    for row in shown.rows:
        table.add_row(*map(_cell, row))
    title = Text.assemble((section.title, "bold"), (f"  and {shown.more} more" if shown.more else "", "dim"))
    return Panel(table, title=title, title_align="left", border_style="bright_black")


def _cell(cell: str | Bar) -> Text:
    if isinstance(cell, str):
        style = "bold red" if cell.startswith("late ") else ""
        return Text(cell, style, no_wrap=True, overflow="ellipsis")  # Text: names are no markup
    filled = round(cell.share * _BAR_CELLS)
    return Text.assemble(("█" * filled, "cyan"), ("░" * (_BAR_CELLS - filled), "bright_black"), f" {cell.figure}")
