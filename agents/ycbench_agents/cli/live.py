"""Progress on stderr: a screen of the running episodes on a terminal, lines elsewhere."""

from __future__ import annotations

import contextlib
import datetime as dt
import math
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, Final, cast

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

_BLOCKS: Final = "▁▂▃▄▅▆▇█"
_SPARKS: Final = 8  # columns of a sparkline
_COMMANDS: Final = 6  # shown of the episode in focus
_KEPT: Final = 50  # rows of episodes that are over
_OPEN: Final = frozenset({"planned", "active"})
_STYLES: Final = {"finished": "green", "failed": "bold red", "missing": "yellow"}


@attrs.define(eq=False)
class _Row:
    """What the screen shows of an episode, gathered from its turns."""

    key: EpisodeKey
    start: dt.datetime
    years: int
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

    def add(self, turn: TurnRecord) -> None:
        """Take a turn in."""
        self.is_whole = self.is_whole and turn.turn == self.turn + 1  # fast policies: some turns are left out
        self.turn, self.sim_time, self.seen_at = turn.turn, turn.sim_time, time.monotonic()
        self.funds.append(turn.funds_cents)
        for result in cast("list[dict[str, Any]]", turn.results):
            answer: dict[str, Any] = result.get("output", {})
            rows = answer.get("tasks")  # company status has their number there
            for row in (answer, *(rows if isinstance(rows, list) else ())):
                if "task_id" in row and "status" in row:
                    self.tasks[row["task_id"]] = row["status"]
            if "prestige" in answer:
                self.prestige = max(answer["prestige"].values())
            line = cell(f"{turn.turn:>5}  {result.get('command', '')}")
            if "error" in answer:
                line.append_text(cell(f"  {answer['error']}", "red"))
            line.no_wrap, line.overflow = True, "ellipsis"
            self.commands.append(line)
        for event in cast("list[dict[str, Any]]", turn.events):
            if event.get("type") == "task_completed":
                self.tasks[event["task_id"]] = "completed"
        cost = (turn.trace or {}).get("cost_usd")
        if isinstance(cost, (int, float)):
            self.cost_usd = (self.cost_usd or 0.0) + cost

    @property
    def fraction(self) -> float:
        """Part of the simulated time that is over, from 0 to 1."""
        if not self.turn:
            return 0.0
        passed = dt.datetime.fromisoformat(self.sim_time).replace(tzinfo=None) - self.start
        return min(1.0, passed / dt.timedelta(days=365 * self.years))

    @property
    def sparkline(self) -> str:
        """Funds over the turns, on a scale that shows zero."""
        step = max(1, math.ceil(len(self.funds) / _SPARKS))
        values = self.funds[step - 1 :: step]
        low, high = min([0, *values]), max([1, *values])
        return "".join(_BLOCKS[(value - low) * (len(_BLOCKS) - 1) // (high - low)] for value in values)

    def cells(self, *, has_cost: bool) -> list[Text]:
        """Return the row of the table."""
        key, tasks = self.key, self.tasks.values()
        values: list[object] = [
            f"{key.policy} {key.preset} {key.seed}" + (f" #{key.repeat}" if key.repeat > 1 else ""),
            self.turn or "-",
            self.sim_time[:10] or "-",
            dollars(self.funds[-1])[:-3] if self.funds else "-",
            self.sparkline,
            sum(status in _OPEN for status in tasks) if self.turn and self.is_whole else "-",
            "-" if self.prestige is None else f"{self.prestige:.1f}",
            *["-" if self.cost_usd is None else f"${self.cost_usd:.3f}"] * has_cost,
        ]
        return [*(cell(value) for value in values), cell(self.status, _STYLES.get(self.status, "cyan"))]


class LineProgress(Callbacks):
    """Writes a line an episode to stderr, with ``turns`` a line a turn too; if ``quiet`` nothing but warnings."""

    def __init__(self, *, quiet: bool = False, turns: bool = False) -> None:
        self._quiet = quiet
        self.wants_turns = turns and not quiet
        self._total = self._done = 0

    def begin(self, total: int, done: int) -> None:
        """Say how much there is to play."""
        self._total = total
        if not self._quiet:
            complain(f"to play: {total} episodes" + (f", {done} were finished before" if done else ""))

    def turn(self, key: EpisodeKey, turn: TurnRecord) -> None:
        """A turn was played."""
        if self.wants_turns:
            results = cast("list[dict[str, Any]]", turn.results)
            ok = sum(bool(result.get("ok")) for result in results)
            parts = (str(key), f"turn {turn.turn}", turn.sim_time[:16], dollars(turn.funds_cents))
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
    return f"{key}: {episode.status}" + (f": {episode.reason}" if episode.reason else "")


class LiveProgress(LineProgress):
    """Shows the episodes of a suite as a table on a terminal, while its ``screen`` is entered."""

    def __init__(self) -> None:
        super().__init__()
        self.wants_turns = True
        self._rows: dict[EpisodeKey, _Row] = {}
        self._console = progress_output()
        self._bar = Progress(
            TextColumn("{task.fields[place]} episodes"),
            BarColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=self._console,
        )
        self._task = self._bar.add_task("", total=None, place="")
        self.screen = Live(console=self._console, auto_refresh=False, transient=True)

    def begin(self, total: int, done: int) -> None:
        """Called first: episodes to play, and episodes that were finished before."""
        super().begin(total, done)
        self._bar.update(self._task, total=total)

    def started(self, key: EpisodeKey, run: RunIdentity) -> None:
        """An episode begins."""
        sim = cast("dict[str, Any]", run.config["sim"])
        self._rows[key] = _Row(key, dt.datetime.fromisoformat(sim["start_date"]), sim["horizon_years"])

    def turn(self, key: EpisodeKey, turn: TurnRecord) -> None:
        """A turn was played."""
        self._rows[key].add(turn)

    def finished(self, key: EpisodeKey, episode: Episode) -> None:
        """An episode is over: its row stays until rows are scarce, and a line about it stays above the screen."""
        self._done += 1
        outcome = episode.run.outcome if episode.run else None
        row = self._rows.pop(key, None)
        if row and outcome and outcome.turns is not None and outcome.final_funds_cents is not None:
            row.turn = outcome.turns  # the last turns of a fast policy were left out
            row.funds.append(outcome.final_funds_cents)
        last = f", {dollars(row.funds[-1])} after {row.turn} turns" if row and row.funds else ""
        if row:
            row.status = episode.status
            self._rows[key] = row  # among the latest, since the oldest are dropped
        for old in [other for other, each in self._rows.items() if each.status != "running"][:-_KEPT]:
            del self._rows[old]
        self._console.print(cell(f"{_outcome(key, episode)}{last}", _STYLES.get(episode.status, "")))

    def warn(self, message: str) -> None:
        """Something is odd."""
        self._console.print(cell(f"warning: {message}", "yellow"))

    def tick(self) -> None:
        """Draw the screen again; no thread does that, since episodes are forked from this process."""
        fractions = sum(row.fraction for row in self._rows.values() if row.status == "running")
        self._bar.update(self._task, completed=self._done + fractions, place=f"{self._done}/{self._total}")
        self.screen.update(self.render(), refresh=True)

    def render(self) -> Group:
        """Return the screen: the bar, a row an episode as far as there is room, and the last commands of one."""
        rows = sorted(self._rows.values(), key=lambda row: (row.status != "running", -row.seen_at))
        shown = rows[: max(1, self._console.height - _COMMANDS - 8)]
        has_cost = any(row.cost_usd is not None for row in shown)
        headings = ("turn", "date", "funds", "", "open", "prestige", *["cost"] * has_cost)
        table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), expand=True)
        table.add_column("episode", ratio=1, no_wrap=True, overflow="ellipsis")
        for heading in headings:
            table.add_column(heading, justify="left" if heading in {"", "date"} else "right", no_wrap=True)
        table.add_column("status", no_wrap=True)
        for row in self._rows.values():
            if row in shown:
                table.add_row(*row.cells(has_cost=has_cost))
        parts: list[Any] = [self._bar, table]
        if len(rows) > len(shown):
            parts.append(Text(f"{len(rows) - len(shown)} more", style="dim"))
        if rows:
            parts += [cell(f"last commands of {rows[0].key}", "bold"), *rows[0].commands]
        return Group(*parts)


@contextlib.contextmanager
def watch(*, live: bool = True, quiet: bool = False, turns: bool = False) -> Generator[LineProgress]:
    """Give the progress callbacks of an evaluation: a screen if ``live`` on a terminal, else lines."""
    if quiet or not live or not sys.stderr.isatty():
        yield LineProgress(quiet=quiet, turns=turns)
        return
    progress = LiveProgress()
    with progress.screen:
        yield progress


@contextlib.contextmanager
def counting() -> Generator[Callable[[Sequence[Any]], Iterable[Any]]]:
    """Give a function that yields the items of a sequence, with a bar where stderr is a terminal."""
    if not sys.stderr.isatty():
        yield iter
        return
    columns = (MofNCompleteColumn(), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=progress_output(), transient=True) as bar:
        yield bar.track
