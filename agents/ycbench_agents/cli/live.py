"""Progress on stderr: a screen of the running episodes on a terminal, lines elsewhere."""

from __future__ import annotations

import contextlib
import datetime as dt
import itertools
import math
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, Final, cast

import attrs
from rich.console import Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from ycbench_agents.cli.output import Output, cell, print_message, warn
from ycbench_agents.evaluation.results import Episode
from ycbench_agents.evaluation.suite import EpisodeKey
from ycbench_agents.evaluation.workers import Progress as Callbacks
from ycbench_agents.runs import RunIdentity, TurnRecord
from ycbench_env.text import dollars

_BLOCKS: Final = "▁▂▃▄▅▆▇█"
_SPARKS: Final = 8  # columns of a sparkline
_COMMANDS: Final = 6  # shown of the episode in focus
_STYLES: Final = {"finished": "green", "failed": "bold red", "missing": "yellow"}


class LineProgress(Callbacks):
    """Writes a line an episode to stderr, with ``turns`` a line a turn too; if ``quiet`` nothing but warnings."""

    def __init__(self, *, quiet: bool = False, turns: bool = False) -> None:
        self._quiet = quiet
        self._turns = turns and not quiet
        self._total = self._done = 0

    def begin(self, total: int, done: int) -> None:
        """Write how much there is to play."""
        self._total = total
        if not self._quiet:
            print_message(
                f"to play: {total} episode{'' if total == 1 else 's'}"
                + (f", {done} were finished before" if done else "")
            )

    def turn(self, key: EpisodeKey, turn: TurnRecord) -> None:
        """Write a line about a turn."""
        if self._turns:
            results = cast("list[dict[str, Any]]", turn.results)
            ok = sum(bool(result.get("ok")) for result in results)
            parts = (str(key), f"turn {turn.turn}", turn.sim_time[:16], dollars(turn.funds_cents))
            print_message("  ".join([*parts, f"{ok} ok, {len(results) - ok} refused"]))

    def finished(self, key: EpisodeKey, episode: Episode) -> None:
        """Write a line about an episode that is over."""
        self._done += 1
        if not self._quiet:
            print_message(f"{self._done}/{self._total} {_outcome(key, episode)}")

    def warn(self, message: str) -> None:
        """Write a warning."""
        warn(message)


def _outcome(key: EpisodeKey, episode: Episode) -> str:
    reason = f": {episode.reason.partition(':')[0]}" if episode.reason else ""  # the end of the command has all of it
    funds = f", {dollars(episode.final_funds_cents)}" if episode.final_funds_cents is not None else ""
    return f"{key}: {episode.status}{reason}{funds}"


@attrs.define(eq=False)
class _Row:
    """What the screen shows of a running episode, gathered from its turns."""

    key: EpisodeKey
    start: dt.datetime
    years: int
    turn: int = 0
    sim_time: str = ""
    funds: list[int] = attrs.field(factory=list[int])
    prestige: float | None = None
    cost_usd: float | None = None
    commands: deque[Text] = attrs.field(factory=lambda: deque[Text](maxlen=_COMMANDS))

    def add(self, turn: TurnRecord) -> None:
        """Take a turn in."""
        self.turn, self.sim_time = turn.turn, turn.sim_time
        self.funds.append(turn.funds_cents)
        for result in cast("list[dict[str, Any]]", turn.results):
            answer: dict[str, Any] = result.get("output", {})
            if "prestige" in answer:
                self.prestige = max(answer["prestige"].values())
            line = cell(f"{turn.turn:>5}  {result.get('command', '')}")
            if "error" in answer:
                line.append_text(cell(f"  {answer['error']}", "red"))
            line.no_wrap, line.overflow = True, "ellipsis"
            self.commands.append(line)
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

    def cells(self) -> list[Text]:
        """Return the row of the table."""
        key, step = self.key, max(1, math.ceil(len(self.funds) / _SPARKS))
        values = self.funds[step - 1 :: step]
        low, high = min([0, *values]), max([1, *values])  # a scale that shows zero
        texts = (
            f"{key.policy} {key.preset} {key.seed}" + (f" #{key.repeat}" if key.repeat > 1 else ""),
            self.turn or "-",
            self.sim_time[:10] or "-",
            dollars(self.funds[-1])[:-3] if self.funds else "-",
            "".join(_BLOCKS[(value - low) * (len(_BLOCKS) - 1) // (high - low)] for value in values),
            "-" if self.prestige is None else f"{self.prestige:.1f}",
            "-" if self.cost_usd is None else f"${self.cost_usd:.3f}",
        )
        return [cell(text) for text in texts]


class LiveProgress(LineProgress):
    """Shows the running episodes of a suite as a table on a terminal, while its ``screen`` is entered."""

    def __init__(self) -> None:
        super().__init__(turns=True)
        self._rows: dict[EpisodeKey, _Row] = {}
        self._focus: _Row | None = None
        self._console = Output(sys.stderr)
        columns = (TextColumn("{task.fields[place]} episodes"), BarColumn(), TextColumn("left"), TimeRemainingColumn())
        self._bar = Progress(*columns, console=self._console)
        self._task = self._bar.add_task("", total=None, place="")
        self.screen = Live(console=self._console, auto_refresh=False, transient=True)

    def begin(self, total: int, done: int) -> None:
        """Write how much there is to play."""
        super().begin(total, done)
        self._bar.update(self._task, total=total)

    def started(self, key: EpisodeKey, run: RunIdentity) -> None:
        """Add an episode to the table."""
        sim = cast("dict[str, Any]", run.config["sim"])
        self._rows[key] = _Row(key, dt.datetime.fromisoformat(sim["start_date"]), sim["horizon_years"])

    def turn(self, key: EpisodeKey, turn: TurnRecord) -> None:
        """Take a turn in; the commands of its episode are shown."""
        self._focus = self._rows[key]
        self._focus.add(turn)

    def finished(self, key: EpisodeKey, episode: Episode) -> None:
        """Write a line about an episode that is over above the screen."""
        self._done += 1
        self._rows.pop(key, None)
        self._console.print(cell(_outcome(key, episode), _STYLES.get(episode.status, "")))

    def warn(self, message: str) -> None:
        """Write a warning above the screen."""
        self._console.print(cell(f"warning: {message}", "yellow"))

    def tick(self) -> None:
        """Draw the screen again; no thread does that, since episodes are forked from this process."""
        completed = self._done + math.fsum(row.fraction for row in self._rows.values())
        self._bar.update(self._task, completed=completed, place=f"{self._done}/{self._total}")
        self.screen.update(self.render(), refresh=True)

    def render(self) -> Group:
        """Return the screen: the bar, a row an episode as far as there is room, and the last commands of one."""
        room = max(1, self._console.height - _COMMANDS - 8)
        table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), expand=True)
        table.add_column("episode", ratio=1, no_wrap=True, overflow="ellipsis")
        for heading in ("turn", "date", "funds", "", "prestige", "cost"):
            table.add_column(heading, justify="left" if heading in {"", "date"} else "right", no_wrap=True)
        for row in itertools.islice(self._rows.values(), room):
            table.add_row(*row.cells())
        parts: list[Any] = [self._bar, table]
        if len(self._rows) > room:
            parts.append(Text(f"{len(self._rows) - room} more", style="dim"))
        if self._focus is not None:
            parts += [cell(f"last commands of {self._focus.key}", "bold"), *self._focus.commands]
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
    with Progress(*columns, console=Output(sys.stderr), transient=True) as bar:
        yield bar.track
