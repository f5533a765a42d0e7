"""Progress on stderr: a screen of the running episodes on a terminal, lines elsewhere."""

from __future__ import annotations

import contextlib
import datetime as dt
import sys
import time
from collections import deque
from collections.abc import Generator, Mapping
from typing import Any, Final, Self

import attrs
from rich.console import Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from ycbench_agents.cli.output import cell, complain, dollars, progress_output, warn
from ycbench_agents.evaluation.progress import Progress as Callbacks
from ycbench_agents.evaluation.results import Episode
from ycbench_agents.evaluation.suite import EpisodeKey
from ycbench_agents.runs import RunIdentity, TurnRecord

__all__ = ["Counter", "LineProgress", "LiveProgress", "counting", "watch"]

_BLOCKS: Final = "▁▂▃▄▅▆▇█"
_SPARKS: Final = 8  # columns of a sparkline
_COMMANDS: Final = 6  # shown of the episode in focus
_OPEN: Final = frozenset({"planned", "active"})
_STYLES: Final = {"finished": "green", "failed": "bold red", "missing": "yellow"}


@attrs.define
class _Row:
    """What the screen shows of an episode, gathered from its turns; a hostile record only leaves gaps."""

    key: EpisodeKey
    status: str = "running"
    turn: int = 0
    sim_time: str = ""
    funds: list[int] = attrs.field(factory=list[int])
    tasks: dict[str, str] = attrs.field(factory=dict[str, str])
    prestige: float | None = None
    cost_usd: float | None = None
    commands: deque[Text] = attrs.field(factory=lambda: deque[Text](maxlen=_COMMANDS))
    seen_at: float = 0.0
    is_whole: bool = True
    horizon: tuple[dt.datetime, dt.datetime] | None = None

    def add(self, turn: TurnRecord) -> None:
        """Take a turn in."""
        self.is_whole = self.is_whole and turn.turn == self.turn + 1  # fast policies: some turns are left out
        self.turn, self.sim_time, self.seen_at = turn.turn, turn.sim_time, time.monotonic()
        self.funds.append(turn.funds_cents)
        for result in _objects(turn.results):
            output = result.get("output")
            answer: Mapping[str, Any] = output if isinstance(output, dict) else {}
            for row in (answer, *_objects(answer.get("tasks"))):
                if isinstance(row.get("task_id"), str) and isinstance(row.get("status"), str):
                    self.tasks[row["task_id"]] = row["status"]
            prestige = answer.get("prestige")
            if isinstance(prestige, dict):
                self.prestige = max((level for level in prestige.values() if isinstance(level, float)), default=None)
            self.commands.append(_command(turn.turn, result))
        for event in _objects(turn.events):
            if event.get("type") == "task_completed":
                self.tasks[str(event.get("task_id"))] = "completed"
        cost = (turn.trace or {}).get("cost_usd")
        if isinstance(cost, (int, float)):
            self.cost_usd = (self.cost_usd or 0.0) + cost

    @property
    def open_tasks(self) -> int | None:
        """How many tasks are planned or active, None if turns were left out."""
        return sum(status in _OPEN for status in self.tasks.values()) if self.turn and self.is_whole else None

    @property
    def fraction(self) -> float:
        """Part of the simulated time that is over, from 0 to 1."""
        if self.horizon is None or not self.sim_time:
            return 0.0
        start, end = self.horizon
        try:
            now = dt.datetime.fromisoformat(self.sim_time).replace(tzinfo=None)
        except ValueError:
            return 0.0
        return min(1.0, max(0.0, (now - start) / (end - start)))

    @property
    def sparkline(self) -> str:
        """Funds over the turns, from zero or the lowest to the highest."""
        if not self.funds:
            return ""
        step = max(1, -(-len(self.funds) // _SPARKS))
        values = [*self.funds[step - 1 :: step]][-_SPARKS:]
        low, high = min(0, *values), max(1, *values)
        return "".join(_BLOCKS[(value - low) * (len(_BLOCKS) - 1) // (high - low)] for value in values)


def _horizon(config: Mapping[str, Any]) -> tuple[dt.datetime, dt.datetime] | None:
    """Return start and end of the simulated time of a configuration, None if they cannot be read."""
    try:
        start = dt.datetime.fromisoformat(config["sim"]["start_date"])
        return start, start.replace(year=start.year + config["sim"]["horizon_years"])
    except (KeyError, TypeError, ValueError):
        return None


def _objects(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _command(turn: int, result: Mapping[str, Any]) -> Text:
    """Return a line about a command and whether it was carried out."""
    output = result.get("output")
    error = output.get("error") if isinstance(output, dict) and not result.get("ok") else None
    line = cell(f"{turn:>5}  {result.get('command', '')}", "" if error is None else "red")
    return line if error is None else line.append_text(cell(f"  {error}", "dim red"))


def _name(key: EpisodeKey) -> str:
    return str(key)


class LineProgress(Callbacks):
    """Writes a line an episode to stderr, and a line a turn if asked; nothing but warnings if quiet.

    Args:
        quiet: Write warnings only.
        turns: Write a line a turn, too.
    """

    def __init__(self, *, quiet: bool = False, turns: bool = False) -> None:
        self._quiet = quiet
        self._turns = turns
        self.wants_turns = turns and not quiet
        self._total = self._done = 0

    def begin(self, total: int, done: int) -> None:
        """Called first: episodes to play, and episodes that were finished before."""
        self._total = total
        if not self._quiet:
            complain(f"to play: {total} episodes" + (f", {done} were finished before" if done else ""))

    def started(self, key: EpisodeKey, run: RunIdentity) -> None:
        """An episode begins."""

    def turn(self, key: EpisodeKey, turn: TurnRecord) -> None:
        """A turn was played."""
        if self._turns and not self._quiet:
            results = _objects(turn.results)
            ok = sum(bool(result.get("ok")) for result in results)
            parts = (_name(key), f"turn {turn.turn}", turn.sim_time[:16], dollars(turn.funds_cents))
            complain("  ".join([*parts, f"{ok} ok, {len(results) - ok} refused"]))

    def finished(self, key: EpisodeKey, episode: Episode) -> None:
        """An episode is over: finished, failed, or stopped before its end."""
        self._done += 1
        if not self._quiet:
            complain(f"{self._done}/{self._total} {_outcome(key, episode)}")

    def warn(self, message: str) -> None:
        """Something is odd."""
        warn(message)


def _outcome(key: EpisodeKey, episode: Episode) -> str:
    reason = getattr(episode, "reason", None)
    return f"{_name(key)}: {episode.status}{f': {reason}' if reason else ''}"


class LiveProgress(LineProgress):
    """Shows the episodes of a suite as a table on a terminal; use as a context manager."""

    def __init__(self) -> None:
        super().__init__()
        self.wants_turns = True
        self._rows: dict[EpisodeKey, _Row] = {}
        self._bar = Progress(
            TextColumn("{task.fields[place]} episodes"),
            BarColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=progress_output(),
        )
        self._task = self._bar.add_task("", total=None, place="")
        self._live = Live(get_renderable=self.render, console=self._bar.console, auto_refresh=False, transient=True)

    def __enter__(self) -> Self:
        """Show the screen."""
        self._live.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the screen; what was printed above it stays."""
        self._live.__exit__(None, None, None)

    def begin(self, total: int, done: int) -> None:
        """Called first: episodes to play, and episodes that were finished before."""
        super().begin(total, done)
        self._bar.update(self._task, total=total)

    def started(self, key: EpisodeKey, run: RunIdentity) -> None:
        """An episode begins."""
        self._rows[key] = _Row(key, horizon=_horizon(run.config))

    def turn(self, key: EpisodeKey, turn: TurnRecord) -> None:
        """A turn was played."""
        self._rows.setdefault(key, _Row(key)).add(turn)

    def finished(self, key: EpisodeKey, episode: Episode) -> None:
        """An episode is over: its row stays until rows are scarce, and a line about it stays above the screen."""
        self._done += 1
        row = self._rows.setdefault(key, _Row(key))
        row.status = episode.status
        last = f", {dollars(row.funds[-1])} after {row.turn} turns" if row.funds else ""
        self._live.console.print(cell(f"{_outcome(key, episode)}{last}", _STYLES.get(row.status, "")))

    def warn(self, message: str) -> None:
        """Something is odd."""
        self._live.console.print(cell(f"warning: {message}", "yellow"))

    def tick(self) -> None:
        """Draw the screen again; no thread does that, since episodes are forked from this process."""
        fractions = sum(row.fraction for row in self._rows.values() if row.status == "running")
        self._bar.update(self._task, completed=self._done + fractions, place=f"{self._done}/{self._total}")
        self._live.refresh()

    def render(self) -> Group:
        """Return the screen: the bar, a row an episode as far as there is room, and the last commands of one."""
        rows = sorted(self._rows.values(), key=lambda row: (row.status != "running", -row.seen_at))
        running = [row for row in rows if row.status == "running"]
        room = max(1, self._bar.console.height - _COMMANDS - 8)
        shown = (running or rows)[:1] if room == 1 else rows[:room]
        has_cost = any(row.cost_usd is not None for row in shown)
        headings = ("turn", "date", "funds", "", "open", "prestige", *["cost"] * has_cost)
        table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), expand=True)
        table.add_column("episode", ratio=1, no_wrap=True, overflow="ellipsis")
        for heading in headings:
            table.add_column(heading, justify="left" if heading in {"", "date"} else "right", no_wrap=True)
        table.add_column("status", no_wrap=True)
        order = {key: place for place, key in enumerate(list(self._rows))}
        for row in sorted(shown, key=lambda row: order[row.key]):
            table.add_row(*_cells(row, has_cost=has_cost))
        parts: list[Any] = [self._bar, table]
        if len(rows) > len(shown):
            parts.append(Text(f"{len(rows) - len(shown)} more", style="dim"))
        if focus := next(iter(running or rows), None):
            parts.append(cell(f"last commands of {_name(focus.key)}", "bold"))
            parts.extend(
                Text(line.plain, style=line.style, no_wrap=True, overflow="ellipsis") for line in focus.commands
            )
        return Group(*parts)


def _cells(row: _Row, *, has_cost: bool) -> list[Text]:
    funds = dollars(row.funds[-1])[:-3] if row.funds else "-"
    values: list[object] = [_name(row.key), row.turn or "-", row.sim_time[:10] or "-", funds, row.sparkline]
    cost = "-" if row.cost_usd is None else f"${row.cost_usd:.3f}"
    values += [*map(_or_dash, (row.open_tasks, row.prestige)), *[cost] * has_cost]
    return [*(cell(value) for value in values), cell(row.status, _STYLES.get(row.status, "cyan"))]


def _or_dash(value: float | None) -> str:
    return "-" if value is None else f"{value:g}"


@contextlib.contextmanager
def watch(*, live: bool = True, quiet: bool = False, turns: bool = False) -> Generator[LineProgress]:
    """Give the progress callbacks of an evaluation.

    Args:
        live: Show a screen if stderr is a terminal.
        quiet: Show warnings only.
        turns: Write a line a turn where there is no screen.
    """
    if quiet or not live or not sys.stderr.isatty():
        yield LineProgress(quiet=quiet, turns=turns)
        return
    with LiveProgress() as progress:
        yield progress


class Counter:
    """Counts things that are done, on a bar if there is one.

    Args:
        bar: The bar, None to show nothing.
    """

    def __init__(self, bar: Progress | None) -> None:
        self._bar = bar
        self._task = bar.add_task("", total=None) if bar else None

    def begin(self, plays: int) -> None:
        """So many are to be done."""
        if self._bar and self._task is not None:
            self._bar.update(self._task, total=plays)

    def play(self, key: object) -> None:
        """One is begun."""
        self.step(key)

    def step(self, name: object = "") -> None:
        """One is begun."""
        if self._bar and self._task is not None:
            self._bar.update(self._task, advance=1, description=cell(name).plain)


@contextlib.contextmanager
def counting() -> Generator[Counter]:
    """Give a counter that shows a bar where stderr is a terminal."""
    if not sys.stderr.isatty():
        yield Counter(None)
        return
    columns = (TextColumn("{task.description}", markup=False), MofNCompleteColumn(), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=progress_output(), transient=True) as bar:
        yield Counter(bar)
