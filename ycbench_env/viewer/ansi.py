"""Mode "ansi": the dashboard as plain text, for logs, notebooks and tests."""

from typing import Final

from ycbench_env.viewer.dashboard import Bar, Dashboard

_BAR_CELLS: Final = 20
_MOST_ROWS: Final = 20


def dashboard_text(board: Dashboard) -> str:
    """Return the dashboard as lines of text; ASCII, save for names."""
    # The name is alone on its line: its width on a screen is anybody's guess.
    lines = [board.company_name, *([] if board.ending is None else [f"*** {board.ending.upper()} ***"]), *board.facts]
    for section in board.sections:
        shown = section.first(_MOST_ROWS)
        rows = [shown.headings, *([_written(cell) for cell in row] for row in shown.rows)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines += ["", section.title]
        for row in rows:
            lines.append("  " + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())
        if shown.more:
            lines.append(f"  and {shown.more} more")
    return "\n".join(lines)


def _written(cell: str | Bar) -> str:
    if isinstance(cell, str):
        return cell
    filled = round(cell.share * _BAR_CELLS)
    return f"[{'#' * filled}{'-' * (_BAR_CELLS - filled)}] {cell.figure}"
