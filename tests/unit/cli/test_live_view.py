"""Where runs are shown: lines in a log, a screen on a terminal, and neither can disturb whoever plays."""

from __future__ import annotations

import asyncio
import io
import itertools
import os
import pty
import sys
import threading
import time
from pathlib import Path

import attrs
import pytest
from rich.console import Console
from rich.live import Live
from rich.text import Text

from ycbench_agents import make_policy
from ycbench_agents.base import Json, JsonObject, PolicyStoppedError
from ycbench_agents.cli.live import live_view
from ycbench_agents.cli.live.display import Board, _Painter, displayed
from ycbench_agents.cli.live.log import result_line, turn_line
from ycbench_agents.cli.live.state import RunView
from ycbench_agents.records import (
    RunFailure,
    RunPlan,
    RunResult,
    Runtime,
    TurnRecord,
    play_many,
    play_run_sync,
    read_run,
)
from ycbench_env import Observation

TERMINAL = {"TERM": "xterm-256color"}


def make_plan(folder: Path, seed: int = 1, **changes: object) -> RunPlan:
    plan = RunPlan(folder / f"run{seed}", "default", seed, make_policy("greedy"), "greedy", max_turns=12)
    return attrs.evolve(plan, **changes)


def make_console(file: io.StringIO | None = None) -> Console:
    """A terminal of 80 by 24."""
    return Console(file=file or io.StringIO(), width=80, height=24, force_terminal=True, _environ=TERMINAL)


def output_of(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def painters() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "ycbench-screen"]


def make_turn(number: int = 1, **changes: object) -> TurnRecord:
    results: list[Json] = [
        {"command": "sim resume", "ok": True, "output": {}},
        {"command": "x", "ok": False, "output": {"error": "no"}},
    ]
    transport: JsonObject = {"latency_s": 3.25, "attempts": 2, "faults": ["429\x1b[31m", "timed out"]}
    turn = TurnRecord(
        turn=number,
        action="",
        trace={
            "prompt_tokens": 12_345,
            "completion_tokens": 67,
            "cached_tokens": None,
            "reasoning_tokens": None,
            "cost_usd": 0.0125,
        },
        results=results,
        events=[],
        reward=0.0,
        funds_cents=14_537_771,
        funds_delta_cents=0,
        invalid_commands=0,
        forced_advance=False,
        terminated=False,
        truncated=False,
        terminal_reason=None,
        sim_time="2025-03-03T09:00:00.123456",
        state_hash="",
        notes_sha256=None,
        transport=transport,
        time="2026-11-30T04:04:52.521236+00:00",
    )
    return attrs.evolve(turn, **changes)


# ---- lines


def test_the_line_of_a_turn() -> None:
    assert turn_line("seed 1", make_turn(12)) == (
        "2026-11-30T04:04:52Z  seed 1  turn 12  2025-03-03T09:00  $145,377  1 ok, 1 refused  "
        "tokens 12,345 in (unknown cached), 67 out  cost $0.0125  3.2s  attempts 2  "
        "faults: 429\\x1b[31m; timed out"
    )


@pytest.mark.parametrize("trace", [None, {"typed": "task list"}, {"played_by": "other"}])
def test_the_line_of_a_turn_without_a_model(trace: Json) -> None:
    turn = make_turn(3, trace=trace, transport=None, forced_advance=True, terminated=True, terminal_reason="bankruptcy")
    assert turn_line("greedy", turn) == (
        "2026-11-30T04:04:52Z  greedy  turn 3  2025-03-03T09:00  $145,377  1 ok, 1 refused  "
        "time moved on by itself  over: bankruptcy"
    )


def test_the_line_of_a_turn_says_what_is_not_known() -> None:
    line = turn_line("x", make_turn(trace={"prompt_tokens": None}, transport=None))
    assert "tokens unknown in (unknown cached), unknown out  cost unknown  latency unknown" in line
    assert "attempts" not in line
    assert "faults" not in line


def test_a_line_is_one_line_whatever_stands_in_it() -> None:
    turn = make_turn(time="now\n\x1b[2J", sim_time="\n\n", transport={"faults": ["\r\n\u202e" * 10_000]})
    line = turn_line("\x1b]0;x\x07\nname", turn)
    assert line.isprintable()
    assert len(line) < 1000


def stopped_result(folder: Path) -> RunResult:
    class Tired:
        def reset(self, seed: int) -> None:
            pass

        def act(self, observation: Observation) -> str:
            if int(observation["turn"]) == 3:
                msg = "the quota is \x1b[1mused up\nraise it"
                raise PolicyStoppedError(msg)
            return "sim resume"

    return asyncio.run(play_many([make_plan(folder, policy=Tired())]))[0]


def test_the_line_of_a_run_that_is_over(tmp_path: Path) -> None:
    plan = make_plan(tmp_path)
    played = play_run_sync(plan)
    cents = read_run(plan.folder).outcome.final_funds_cents or 0
    assert result_line("seed 1", played) == f"seed 1  finished: max_turns  12 turns  ${cents // 100:,}"
    again = play_run_sync(attrs.evolve(plan, policy=make_policy("greedy")))
    assert result_line("seed 1", again) == (
        f"seed 1  finished: max_turns, had been finished before  12 turns  ${cents // 100:,}"
    )


def test_the_line_of_a_run_that_has_stopped_or_failed(tmp_path: Path) -> None:
    assert result_line("x", stopped_result(tmp_path)) == (
        "x  stopped: the quota is \\x1b[1mused up\\nraise it  2 turns  $200,000"
    )
    failure = RunFailure(make_plan(tmp_path), ValueError("got\n3"))
    assert result_line("x", failure) == "x  failed: ValueError: got\\n3"


# ---- a log


@pytest.mark.parametrize(
    ("live", "console"),
    [
        (True, Console(file=io.StringIO(), _environ=TERMINAL)),
        (False, make_console()),
        (True, Console(file=io.StringIO(), force_terminal=True, _environ={"TERM": "dumb"})),
    ],
    ids=["no terminal", "not wanted", "a terminal that cannot move its cursor"],
)
def test_a_log_has_a_line_for_each_turn_and_each_end(live: bool, console: Console, tmp_path: Path) -> None:
    plans = [make_plan(tmp_path, seed) for seed in (1, 2)]
    with live_view(plans, live=live, quiet=False, console=console) as view:
        for result in asyncio.run(play_many(plans, 2, Runtime(on_turn=view.on_turn))):
            view.finished(result)
    lines = output_of(console).splitlines()
    turns = [line.split("  ")[1:3] for line in lines[:24]]
    assert sorted(turns) == sorted([f"seed {seed}", f"turn {number}"] for seed in (1, 2) for number in range(1, 13))
    assert [line.split("  ")[0] for line in lines[24:]] == ["seed 1", "seed 2"]
    assert "\x1b" not in output_of(console)


def test_a_log_goes_to_stderr(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = make_plan(tmp_path, max_turns=2)
    with live_view([plan], live=True, quiet=False) as view:
        play_run_sync(plan, Runtime(on_turn=view.on_turn))
    out, err = capsys.readouterr()
    assert out == ""
    assert [line.split("  ")[1:3] for line in err.splitlines()] == [
        ["greedy, default, seed 1", "turn 1"],
        ["greedy, default, seed 1", "turn 2"],
    ]


def test_a_log_in_a_poor_encoding_escapes_what_it_lacks(tmp_path: Path) -> None:
    raw = io.BytesIO()
    console = Console(file=io.TextIOWrapper(raw, encoding="ascii"), _environ=TERMINAL)
    plan = make_plan(tmp_path, model="owl \u00e9\U0001f989")
    with live_view([plan], live=False, quiet=False, console=console) as view:
        view.on_turn(plan, make_turn())
    assert b"owl \\xe9\\U0001f989, default, seed 1" in raw.getvalue()


class Gone(io.StringIO):
    """A terminal whose window is closed after so many writes."""

    def __init__(self, writes: int) -> None:
        super().__init__()
        self.left = writes

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.left -= 1
        if self.left < 0:
            raise BrokenPipeError
        return len(text)


@pytest.mark.parametrize("live", [True, False])
@pytest.mark.parametrize("writes", [0, 1])
def test_a_terminal_that_goes_away_ends_no_run(
    writes: int, live: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    gone, plan = Gone(writes), make_plan(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", gone)
        with live_view([plan], live=live, quiet=False) as view:
            result = play_run_sync(plan, Runtime(on_turn=view.on_turn))
            view.finished(result)
        assert sys.stderr is gone
    assert gone.left < 0
    assert result.record.is_finished
    assert painters() == []


def test_quiet_shows_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    console = make_console()
    for plans in ([make_plan(tmp_path)], []):
        with live_view(plans, live=True, quiet=True, console=console) as view:
            for plan in plans:
                view.finished(play_run_sync(plan, Runtime(on_turn=view.on_turn)))
    with live_view([], live=True, quiet=False, console=console):
        pass
    assert output_of(console) == ""
    assert capsys.readouterr() == ("", "")


# ---- a screen


def last_frame(console: Console) -> list[str]:
    """The screen as it was left behind."""
    text = output_of(console)
    frame = text[text.rindex("\x1b[2K") + 4 :]
    plain = Console(file=io.StringIO(), width=200, _environ={})
    plain.print(Text.from_ansi(frame))
    return output_of(plain).split("\n")


def test_a_screen_shows_the_run_and_stays_when_it_is_over(tmp_path: Path) -> None:
    console, plan = make_console(), make_plan(tmp_path)
    streams = sys.stdout, sys.stderr
    with live_view([plan], live=True, quiet=False, console=console) as view:
        result = play_run_sync(plan, Runtime(on_turn=view.on_turn))
        view.finished(result)
    rows = last_frame(console)
    cents = result.record.outcome.final_funds_cents or 0
    assert "greedy, default, seed 1: cut off" in rows[0]
    assert "turn 12 of 12  over" in rows[1]
    assert f"funds ${cents // 100:,}" in rows[2]
    text = output_of(console)
    assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l")  # the cursor is back
    assert (sys.stdout, sys.stderr) == streams
    assert painters() == []


def test_a_screen_of_several_runs_shows_each_end(tmp_path: Path) -> None:
    plans = [make_plan(tmp_path, seed) for seed in (1, 2, 3)]
    console = make_console()
    with live_view(plans, live=True, quiet=False, console=console) as view:
        asyncio.run(play_many(plans[:2], 2, Runtime(on_turn=view.on_turn)))
        view.finished(RunFailure(plans[2], ValueError("no such\nmodel")))
    rows = last_frame(console)
    assert rows[0].startswith("3 runs  2 cut off, 1 failed  24 turns")
    assert [row.split()[-1] for row in rows[2:5]] == ["off", "off", "failed"]


def test_a_screen_tells_why_a_run_stopped(tmp_path: Path) -> None:
    result, console = stopped_result(tmp_path), make_console()
    with live_view([make_plan(tmp_path)], live=True, quiet=False, console=console) as view:
        view.finished(result)
    assert ": stopped" in last_frame(console)[0]
    assert "the quota is \\x1b[1mused up\\nraise it" in "\n".join(last_frame(console))


def test_a_resumed_run_is_shown_from_where_it_was(tmp_path: Path) -> None:
    asked = iter([True] * 5 + [False])
    plan = make_plan(tmp_path)
    play_run_sync(plan, Runtime(keep_going=lambda: next(asked)))
    console = make_console()
    plan = attrs.evolve(plan, policy=make_policy("greedy"))
    with live_view([plan], live=True, quiet=False, console=console) as view:
        played = play_run_sync(plan, Runtime(on_turn=view.on_turn))
    assert (played.replayed_turns, played.played_turns) == (5, 7)
    rows = last_frame(console)
    assert "turn 12 of 12  over" in rows[1]
    assert "resumed after turn 5" in "\n".join(rows)


def test_what_others_write_to_stderr_is_kept_above_the_screen(tmp_path: Path) -> None:
    console = make_console()
    with live_view([make_plan(tmp_path)], live=True, quiet=False, console=console):
        print("a warning [red]\x1b[0m", file=sys.stderr)  # noqa: T201 -- as warnings do
    assert "a warning [red]" in output_of(console)
    assert "a warning" not in "\n".join(last_frame(console))


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_error_of_whoever_plays_passes_through_and_leaves_the_terminal_in_order(
    error: type[BaseException], tmp_path: Path
) -> None:
    console = make_console()
    with pytest.raises(error), live_view([make_plan(tmp_path)], live=True, quiet=False, console=console):
        raise error
    assert output_of(console).endswith("\x1b[?25h")
    assert painters() == []


def test_a_turn_of_a_run_that_nobody_announced_does_no_harm(tmp_path: Path) -> None:
    console, stranger = make_console(), make_plan(tmp_path, 9)
    with live_view([make_plan(tmp_path)], live=True, quiet=False, console=console) as view:
        view.on_turn(stranger, make_turn())
        view.finished(RunFailure(stranger, ValueError("x")))
    assert ": waiting" in last_frame(console)[0]
    with live_view([make_plan(tmp_path)], live=False, quiet=False, console=console) as view:
        view.on_turn(stranger, make_turn())
    assert "  run9  turn 1  " in output_of(console)


class Waits(threading.Event):
    """Notes how long is to be waited, and is set after so many waits."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count
        self.seconds: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.seconds.append(timeout or 0.0)
        if len(self.seconds) == self.count:
            self.set()
        return self.is_set()


@pytest.mark.parametrize(("drawing_s", "wait_s"), [(0.0, 1 / 8), (0.001, 1 / 8), (0.1, 1.5)])
def test_it_is_drawn_eight_times_a_second_at_most_and_less_often_where_that_takes_long(
    drawing_s: float, wait_s: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    console = make_console()
    board = Board([RunView.empty(make_plan(tmp_path), "x")], lambda: 0.0)
    live = Live(console=console, get_renderable=board.screen, auto_refresh=False)
    painter = _Painter(board, live)
    painter._over = waits = Waits(3)
    board.changed = idle = Waits(0)
    ticks = itertools.count()
    monkeypatch.setattr(time, "perf_counter", lambda: next(ticks) * drawing_s)
    live.start()
    painter.run()
    live.stop()
    assert waits.seconds == [pytest.approx(wait_s)] * 3
    assert idle.seconds == [1.0] * 3  # at most, where nothing happens
    assert output_of(console).count("waiting") == 4  # once more at the end


def test_the_last_turn_is_drawn_however_many_there_were(tmp_path: Path) -> None:
    console, plan = make_console(), make_plan(tmp_path, max_turns=None)
    with live_view([plan], live=True, quiet=False, console=console) as view:
        for number in range(1, 501):
            view.on_turn(plan, make_turn(number))
    assert "turn 500" in last_frame(console)[1]


def test_a_screen_that_fails_says_so_and_lets_the_run_go_on(tmp_path: Path) -> None:
    console = make_console()
    broken = attrs.evolve(RunView.empty(make_plan(tmp_path), "x"), funds=None)
    with displayed(Board([broken], lambda: 0.0), console):
        pass
    assert "no screen: AttributeError; the runs go on" in output_of(console)


def test_a_terminal_of_another_size_is_cleared_before_it_is_drawn_on(tmp_path: Path) -> None:
    console = make_console()
    board = Board([RunView.empty(make_plan(tmp_path), "x")], lambda: 0.0)
    live = Live(console=console, get_renderable=board.screen, auto_refresh=False)
    live.start()
    painter = _Painter(board, live)
    painter._draw()
    assert "\x1b[2J" not in output_of(console)
    console.size = (60, 20)
    painter._draw()
    painter._draw()
    assert output_of(console).count("\x1b[2J") == 1
    live.stop()
    assert len(last_frame(console)[0]) == 60


def test_a_real_terminal_on_stderr_gets_the_screen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    master, slave = pty.openpty()
    seen = bytearray()

    def read() -> None:
        while True:
            try:
                data = os.read(master, 65536)
            except OSError:  # the other side is closed
                return
            seen.extend(data)

    reader = threading.Thread(target=read)
    reader.start()
    monkeypatch.setenv("TERM", "xterm")
    plan = make_plan(tmp_path)
    with os.fdopen(slave, "w", encoding="utf-8") as stderr:
        monkeypatch.setattr(sys, "stderr", stderr)
        with live_view([plan], live=True, quiet=False) as view:
            play_run_sync(plan, Runtime(on_turn=view.on_turn))
    monkeypatch.undo()
    reader.join()
    os.close(master)
    assert "greedy, default, seed 1" in seen.decode()
    assert b"\x1b[?25h" in seen
