"""The screen: what it shows at which size, and that no text of a model can disturb it."""

from __future__ import annotations

import io
import re
import unicodedata
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

import attrs
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from ycbench_agents import make_policy
from ycbench_agents.base import Json, JsonObject
from ycbench_agents.cli.live.chart import Axis, draw_chart, is_bankruptcy_near, sparkline
from ycbench_agents.cli.live.figures import CostTotal, TokenSum
from ycbench_agents.cli.live.funds import FundsSeries
from ycbench_agents.cli.live.glyphs import ASCII, UNICODE
from ycbench_agents.cli.live.layout import Span, fit, fit_middle, flow
from ycbench_agents.cli.live.screen import Screen
from ycbench_agents.cli.live.state import RunView, SaidCommand, told
from ycbench_agents.cli.live.table import all_left_s
from ycbench_agents.cli.live.wording import (
    cost,
    cost_total,
    dollars,
    duration,
    harmless,
    remaining,
    run_names,
    short_count,
    short_dollars,
    token_sum,
)
from ycbench_agents.cli.live.work import Task, Work
from ycbench_agents.records import RunPlan, TurnRecord

PLAN = RunPlan(Path("run"), "default", 1, make_policy("greedy"), "llm", model="acme/owl-7b:free", max_turns=100)
HOSTILE = {
    "escape sequence": "\x1b[31mred\x1b[0m\x07",
    "line breaks": "a\nb\r\nc\u2028d",
    "tab and null": "a\tb\x00c",
    "markup": "[red]x[/red] [/] [bold",
    "right to left": "\u202eevil\u202c \u200f",
    "emoji": "\U0001f680 \U0001f9d1\u200d\U0001f4bb :smile: \U0001f1e9\U0001f1ea \U0001f44d\U0001f3fd",
    "accents": "Z" + "\u0301" * 50,
    "wide": "\u6f22\u5b57" * 30,
    "fillers": "\u115f\u3164\uffa0\u1160",
    "long": "W" * 5000,
    "surrogate": "\ud800",
    "empty": "",
}


def make_turn(number: int, commands: Sequence[tuple[str, JsonObject]] = (), **changes: object) -> TurnRecord:
    """A turn of a model, whose commands are refused where their output has an error."""
    results: list[Json] = [
        {"command": command, "ok": "error" not in output, "output": output} for command, output in commands
    ]
    turn = TurnRecord(
        turn=number,
        action="",
        trace={
            "prompt_tokens": 12_000 + number,
            "completion_tokens": 345,
            "cached_tokens": None if number == 2 else 1_000,
            "reasoning_tokens": None,
            "cost_usd": None if number == 2 else 0.0125,
        },
        results=results,
        events=[],
        reward=0.0,
        funds_cents=20_000_000,
        funds_delta_cents=0,
        invalid_commands=0,
        forced_advance=False,
        terminated=False,
        truncated=False,
        terminal_reason=None,
        sim_time="2025-01-01T09:00:00",
        state_hash="",
        notes_sha256=None,
        transport={"latency_s": 2.0, "attempts": 1, "faults": []},
        time="2026-01-01T00:00:00+00:00",
    )
    return attrs.evolve(turn, **changes)


def played() -> RunView:
    """A run of four turns: a loss, a gain, a task in work, one that is planned, a refusal and a fault."""
    offers: list[Json] = [
        {"task_id": "Task-8", "client_name": "Cortex Intelligence", "reward_funds_cents": 1_853_002},
        {"task_id": "Task-9", "client_name": "Prism Analytics", "reward_funds_cents": 2_091_943},
    ]
    busy: JsonObject = {"latency_s": 9.5, "attempts": 2, "faults": ["429 Too Many Requests; waited 5 s"]}
    turns = [
        make_turn(1, [("market browse --limit 2", {"tasks": offers})]),
        make_turn(
            2,
            [
                (
                    "task accept --task-id Task-8",
                    {"task_id": "Task-8", "status": "planned", "deadline": "2025-06-09T18"},
                ),
                (
                    "task assign --task-id Task-8",
                    {"task_id": "Task-8", "status": "planned", "total_assigned": ["a", "b"]},
                ),
                ("task dispatch --task-id Task-8", {"task_id": "Task-8", "status": "active"}),
                ("sim resume", {}),
            ],
            funds_cents=8_500_050,
            sim_time="2025-03-03T09:00:00",
            events=[{"type": "task_completed", "task_id": "Task-1", "success": True}],
        ),
        make_turn(3, [("sim resume", {})], funds_cents=16_000_000, sim_time="2025-05-02T17:30:00", transport=busy),
        make_turn(
            4,
            [
                (
                    "task accept --task-id Task-9",
                    {"task_id": "Task-9", "status": "planned", "deadline": "2025-04-01T09"},
                ),
                ("task acept --task-id Task-3", {"error": 'Unknown command "task acept" (case matters).'}),
            ],
            funds_cents=16_000_000,
            sim_time="2025-05-02T17:30:00",
            invalid_commands=1,
        ),
    ]
    run = RunView.empty(PLAN, "acme/owl-7b:free, default, seed 1")
    for turn in turns:
        run = told(run, turn, 10.0 * turn.turn)
    return run


def shown(screen: Screen, width: int = 80, height: int = 24, encoding: str = "utf-8") -> list[str]:
    """Return the lines of a screen without colours."""
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding, errors="backslashreplace")
    console = Console(file=file, width=width, height=height, force_terminal=False, legacy_windows=False, _environ={})
    console.print(screen)
    file.flush()
    return raw.getvalue().decode(encoding).removesuffix("\n").split("\n")


ONE = """
╭─ acme/owl-7b:free, default, seed 1: running ─────────────────────────────────╮
│ 2025-05-02 17:30  ━━━━━━━────────────────  33.2%  turn 4 of 100  left 1m 01s │
│ funds $160,000  min $85,000  max $200,000  1 done, 0 late, 0 cancelled       │
│    $200K ███████████                                                         │
│          ███████████           █                                             │
│          ███████████▂▂▂▂▂▂▂▂▂▂▂█                                             │
│          ███████████████████████                                             │
│       $0 ███████████████████████┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄ │
│ open task    status   client                     reward due         team     │
│ Task-8       active   Cortex Intelligence        $18.5K 2025-06-09     2     │
│ Task-9       planned  Prism Analytics            $20.9K 2025-04-01!    0     │
│                                                                              │
│                                                                              │
│ last commands                                                                │
│    2 ✓ task assign --task-id Task-8                                          │
│    2 ✓ task dispatch --task-id Task-8                                        │
│    2 ✓ sim resume                                                            │
│    3 ✓ sim resume                                                            │
│    4 ✓ task accept --task-id Task-9                                          │
│    4 ✗ task acept --task-id Task-3  Unknown command "task acept" (case matt… │
│ tokens  prompt 48K  cached 3K+  completion 1.38K  reasoning unknown          │
│ cost $0.0375+  (last $0.0125)  model time 15s  (last 2.0s)  this turn 2s     │
│ commands refused 1  invalid 1  retries 1  faults 1  last: 429 Too Many Requ… │
╰──────────────────────────────────────────────────────────────────────────────╯
"""

SEVERAL = """
2 runs  1 running, 1 waiting  4 turns  cost $0.0375+  left 3m 33s
run          curve      funds date        turn  tokens     cost    left status
acme/…seed 1 █▄▇        $160K 2025-05-02     4   49.4K $0.0375+  1m 01s running
acme/…seed 2 ▅          $200K 2025-01-01     0    none     none         waiting
╭─ acme/owl-7b:free, default, seed 1: running ─────────────────────────────────╮
│ 2025-05-02 17:30  ━━━━━━━────────────────  33.2%  turn 4 of 100  left 1m 01s │
│ funds $160,000  min $85,000  max $200,000  1 done, 0 late, 0 cancelled       │
│    $200K ███████████           ▃                                             │
│          ███████████▃▃▃▃▃▃▃▃▃▃▃█                                             │
│       $0 ███████████████████████┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄ │
│ open task    status   client                     reward due         team     │
│ Task-8       active   Cortex Intelligence        $18.5K 2025-06-09     2     │
│ Task-9       planned  Prism Analytics            $20.9K 2025-04-01!    0     │
│                                                                              │
│ last commands                                                                │
│    2 ✓ task dispatch --task-id Task-8                                        │
│    2 ✓ sim resume                                                            │
│    3 ✓ sim resume                                                            │
│    4 ✓ task accept --task-id Task-9                                          │
│    4 ✗ task acept --task-id Task-3  Unknown command "task acept" (case matt… │
│ tokens  prompt 48K  cached 3K+  completion 1.38K  reasoning unknown          │
│ cost $0.0375+  (last $0.0125)  model time 15s  (last 2.0s)  this turn 2s     │
│ commands refused 1  invalid 1  retries 1  faults 1  last: 429 Too Many Requ… │
╰──────────────────────────────────────────────────────────────────────────────╯
"""

NARROW = """
╭─ acme/owl-7b:free, default, seed 1: running ───╮
│ 2025-05-02  33.2%  turn 4 of 100  left 1m 01s  │
│ funds $160,000  min $85,000  max $200,000      │
│    $200K ██████      ▂                         │
│          ██████      █                         │
│          ██████▆▆▆▆▆▆█                         │
│       $0 █████████████┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄ │
│ open task            status   due         team │
│ Task-8               active   2025-06-09     2 │
│ Task-9               planned  2025-04-01!    0 │
│                                                │
│ last commands                                  │
│    2 ✓ task assign --task-id Task-8            │
│    2 ✓ task dispatch --task-id Task-8          │
│    2 ✓ sim resume                              │
│    3 ✓ sim resume                              │
│    4 ✓ task accept --task-id Task-9            │
│    4 ✗ task acept --task-…  Unknown command "… │
│ tokens  prompt 48K  cached 3K+                 │
│ completion 1.38K  reasoning unknown            │
│ cost $0.0375+  (last $0.0125)  model time 15s  │
│ (last 2.0s)  this turn 2s  commands refused 1  │
│ invalid 1  retries 1  faults 1  last: 429 Too… │
╰────────────────────────────────────────────────╯
"""

POOR = """
+- acme/owl-7b:free, default, seed 1: running ---------------------------------+
| 2025-05-02 17:30  =======----------------  33.2%  turn 4 of 100  left 1m 01s |
| funds $160,000  min $85,000  max $200,000  1 done, 0 late, 0 cancelled       |
|    $200K ###########           :                                             |
|          ###########:::::::::::#                                             |
|       $0 #######################-------------------------------------------- |
| open task    status   client                     reward due         team     |
| Task-8       active   Cortex Intelligence        $18.5K 2025-06-09     2     |
| Task-9       planned  Prism Analytics            $20.9K 2025-04-01!    0     |
|                                                                              |
| last commands                                                                |
|    2 + task dispatch --task-id Task-8                                        |
|    2 + sim resume                                                            |
|    3 + sim resume                                                            |
|    4 + task accept --task-id Task-9                                          |
|    4 x task acept --task-id Task-3  Unknown command "task acept" (case matt~ |
| tokens  prompt 48K  cached 3K+  completion 1.38K  reasoning unknown          |
| cost $0.0375+  (last $0.0125)  model time 15s  (last 2.0s)  this turn 2s     |
| commands refused 1  invalid 1  retries 1  faults 1  last: 429 Too Many Requ~ |
+------------------------------------------------------------------------------+
"""


def lines(text: str) -> list[str]:
    return text.removeprefix("\n").removesuffix("\n").split("\n")


# ---- what it looks like


def test_one_run_at_80_by_24() -> None:
    assert shown(Screen((played(),), 42.5)) == lines(ONE)


def test_several_runs_at_80_by_24() -> None:
    waiting = RunView.empty(PLAN, "acme/owl-7b:free, default, seed 2")
    assert shown(Screen((played(), waiting), 42.5)) == lines(SEVERAL)


def test_one_run_at_50_columns() -> None:
    assert shown(Screen((played(),), 42.5), width=50) == lines(NARROW)


def test_one_run_on_a_terminal_that_knows_ascii_only() -> None:
    assert shown(Screen((played(),), 42.5), height=20, encoding="ascii") == lines(POOR)


def test_a_wide_terminal_shows_tasks_beside_commands() -> None:
    rows = shown(Screen((played(),), 42.5), 200, 50)
    assert any("Cortex Intelligence" in row and "market browse" in row for row in rows)
    assert {cell_len(row) for row in rows} == {200}


def test_the_screen_keeps_its_height_as_a_run_goes_on() -> None:
    before, after = RunView.empty(PLAN, "x"), played()
    for size in ((80, 24), (200, 50), (50, 20), (100, 12)):
        assert len(shown(Screen((before,), 0.0), *size)) == len(shown(Screen((after,), 42.5), *size))


def test_the_run_that_moved_last_is_shown_in_detail() -> None:
    first, second = played(), attrs.evolve(played(), name="the other")
    later = told(second, make_turn(5), 50.0)
    assert "the other: running" in shown(Screen((first, later), 50.0))[4]
    assert "acme/owl" in shown(Screen((told(first, make_turn(5), 60.0), later), 60.0))[4]


def test_where_there_is_no_room_for_all_runs_those_that_run_are_shown() -> None:
    over = attrs.evolve(played(), name="over").ended("finished", "horizon_end")
    waiting = RunView.empty(PLAN, "waiting run")
    running = [attrs.evolve(played(), name=f"running {number}") for number in range(3)]
    rows = shown(Screen((*[over] * 10, *running[:2], *[waiting] * 10, running[2]), 42.5))
    assert len(rows) == 24
    assert rows[0].startswith("23 runs  10 survived, 3 running, 10 waiting  52 turns")
    assert [row[:12].strip() for row in rows[2:10]] == [
        *["running 0", "running 1"], *["waiting run"] * 4, "running 2", "and 16 more"
    ]  # fmt: skip


def test_the_lowest_panel_has_head_and_foot_alone() -> None:
    rows = shown(Screen((played(),), 42.5), height=7)
    assert [row[2:8] for row in rows[1:-1]] == ["2025-0", "funds ", "tokens", "cost $", "comman"]
    assert shown(Screen((played(),), 42.5), height=6)[2].startswith("acme/\u2026seed 1")


def test_a_low_terminal_shows_the_table_alone() -> None:
    rows = shown(Screen((played(), played(), played()), 42.5), height=10)
    assert len(rows) == 5
    assert not any("─" in row for row in rows)


def test_colours_are_left_out_where_they_are_not_wanted() -> None:
    def colours(**environ: str) -> set[str]:
        console = Console(
            file=io.StringIO(), width=80, height=24, force_terminal=True, _environ={"TERM": "xterm-256color", **environ}
        )
        with console.capture() as capture:
            console.print(Screen((played(),), 42.5))
        return set(re.findall(r"\x1b\[[0-9;]*m", capture.get()))

    assert {"\x1b[32m", "\x1b[31m", "\x1b[36m"} <= colours()
    assert colours(NO_COLOR="1") == {"\x1b[0m", "\x1b[1m", "\x1b[2m"}


# ---- what it says


def text(*views: RunView, now_s: float = 42.5, width: int = 110, height: int = 30) -> str:
    return "\n".join(shown(Screen(views, now_s), width, height))


def test_a_run_without_a_model_has_no_tokens_rather_than_none_of_them() -> None:
    run = told(RunView.empty(PLAN, "greedy"), make_turn(1, trace=None, transport=None), 1.0)
    assert "tokens none: no model has been asked" in text(run)
    assert "cost" not in text(run)
    assert "cost none" in text(run, run)


def test_what_is_unknown_is_called_so() -> None:
    run = told(RunView.empty(PLAN, "x"), make_turn(2, trace={"cost_usd": None}, transport={}), 1.0)
    seen = text(run)
    assert "prompt unknown  cached unknown  completion unknown  reasoning unknown" in seen
    assert "cost unknown  (last unknown)" in seen
    assert "(last unknown)  this turn" in seen
    assert "left unknown" in seen
    assert text(run, run).count(" unknown ") >= 6  # tokens and costs in the table


def test_a_run_that_has_stopped_says_why() -> None:
    run = played().ended("stopped", "the quota is used up; raise it and resume")
    assert "seed 1: stopped" in text(run)
    assert "the quota is used up; raise it and resume" in text(run)
    assert "over" in text(run)
    assert "this turn" not in text(run)


@pytest.mark.parametrize(
    ("reason", "word"), [("horizon_end", "survived"), ("bankruptcy", "bankrupt"), ("max_turns", "cut off")]
)
def test_a_run_that_is_over_says_how_it_ended(reason: str, word: str) -> None:
    run = played().ended("finished", reason)
    assert f"seed 1: {word}" in text(run)
    assert "all over" in text(run, run)
    assert f"2 {word}" in text(run, run)


def test_a_resumed_run_says_where_it_went_on() -> None:
    assert "resumed after turn 3" in text(attrs.evolve(played(), recorded_turns=3))
    assert "resumed" not in text(played())


def test_a_task_that_is_late_is_marked_and_tasks_without_room_are_counted() -> None:
    seen = text(played())
    assert "2025-04-01!" in seen
    assert "2025-06-09!" not in seen
    many = {f"Task-{number}": Task(f"Task-{number}", "active") for number in range(40)}
    rows = shown(Screen((attrs.evolve(played(), work=Work(many)),), 42.5))
    assert sum("Task-" in row and "active" in row for row in rows) == 3
    assert any("and 37 more" in row for row in rows)


def test_a_team_that_was_not_seen_is_unknown() -> None:
    work = Work({"Task-1": Task("Task-1", "active"), "Task-2": Task("Task-2", "planned")})
    rows = shown(Screen((attrs.evolve(played(), work=work),), 42.5))
    assert [row.split()[-2] for row in rows if "Task-1 " in row or "Task-2 " in row] == ["?", "0"]


def test_the_line_of_no_funds_is_red_when_bankruptcy_is_near() -> None:
    def label(cents: int) -> str:
        run = told(played(), make_turn(5, funds_cents=cents), 50.0)
        console = Console(file=io.StringIO(), width=80, height=24, force_terminal=True, _environ={"TERM": "xterm"})
        with console.capture() as capture:
            console.print(Screen((run,), 50.0))
        return next(line for line in capture.get().split("\n") if "$0 " in re.sub(r"\x1b\[[0-9;]*m", "", line))

    assert "\x1b[1;31m" not in label(16_000_000)
    assert "\x1b[1;31m      $0" in label(1_000_000)
    assert "\x1b[1;31m      $0" in label(-1)


def test_the_time_left_for_all_follows_from_what_all_have_played() -> None:
    half = told(RunView.empty(PLAN, ""), make_turn(50), 1.0)
    assert all_left_s((half, RunView.empty(PLAN, "")), 100.0, 130.0) == pytest.approx(90.0)
    resumed = attrs.evolve(half, recorded_progress=0.25)
    assert all_left_s((resumed,), 0.0, 10.0) == pytest.approx(20.0)
    assert all_left_s((RunView.empty(PLAN, ""),), 0.0, 10.0) is None


# ---- charts


def series(*cents: int) -> FundsSeries:
    funds = FundsSeries.starting_with(cents[0])
    for number, amount in enumerate(cents[1:], 1):
        funds = funds.plus(number / len(cents), amount)
    return funds


@pytest.mark.parametrize(
    ("cents", "axis"),
    [
        ((100, 90), Axis(90, 100)),
        ((100, 40), Axis(0, 100)),
        ((100, -20), Axis(-20, 100)),
        ((100,), Axis(94, 106)),
        ((0,), Axis(-1, 1)),
        ((-5, -7), Axis(-7, 0)),
    ],
)
def test_the_axis_shows_no_funds_where_they_are_near(cents: tuple[int, ...], axis: Axis) -> None:
    assert Axis.of(series(*cents)) == axis


def test_a_chart_rises_with_the_funds_and_leaves_the_future_empty() -> None:
    funds = FundsSeries.starting_with(0).plus(0.25, 50).plus(0.5, 100)
    chart = draw_chart(funds, Axis(0, 100), 4, 2, UNICODE)
    assert chart.rows == ("▁██ ", "███┄")
    assert chart.zero_row == 1
    assert draw_chart(funds, Axis(0, 100), 4, 2, ASCII).rows == (".## ", "###-")


def test_a_line_of_funds_is_one_row() -> None:
    assert sparkline(series(100, 0, 50), 3, ASCII) == ".||"


@given(st.lists(st.integers(-(10**15), 10**15), min_size=1, max_size=30), st.integers(1, 60), st.integers(1, 12))
def test_a_chart_has_its_size_for_any_funds(cents: list[int], cells: int, rows: int) -> None:
    funds = series(*cents)
    chart = draw_chart(funds, Axis.of(funds), cells, rows, UNICODE)
    assert [len(row) for row in chart.rows] == [cells] * rows
    assert chart.zero_row is None or 0 <= chart.zero_row < rows


def test_bankruptcy_is_near_below_a_quarter_of_the_highest_funds() -> None:
    assert not is_bankruptcy_near(series(400, 100))
    assert is_bankruptcy_near(series(400, 99))
    assert is_bankruptcy_near(series(400, -1))


# ---- lines


def test_a_text_is_cut_with_a_mark_and_a_name_in_its_middle() -> None:
    assert fit("abcdef", 6, UNICODE) == "abcdef"
    assert fit("abcdef", 4, UNICODE) == "abc\u2026"
    assert fit("abcdef", 0, UNICODE) == ""
    assert fit_middle("acme/owl, seed 12", 12, ASCII) == "acme/~eed 12"
    assert fit_middle("seed 12", 12, ASCII) == "seed 12"


@given(st.text(max_size=30).map(lambda some: harmless(some, 30)), st.integers(0, 20))
def test_a_cut_text_has_no_more_cells_than_asked_for(some: str, cells: int) -> None:
    assert cell_len(fit(some, cells, UNICODE)) <= cells
    assert cell_len(fit_middle(some, cells, UNICODE)) <= cells


def test_items_flow_and_what_has_no_room_is_left_out_or_cut() -> None:
    items = [Span("aaaa"), Span("bbbb"), Span("cccc")]
    assert [line.plain for line in flow(items, 10, 3, UNICODE)] == ["aaaa  bbbb", "cccc", ""]
    assert [line.plain for line in flow(items, 10, 1, UNICODE)] == ["aaaa  bbbb"]
    long = [Span("aaaa"), Span("b" * 40, may_be_cut=True)]
    assert [line.plain for line in flow(long, 20, 1, UNICODE)] == ["aaaa  " + "b" * 13 + "\u2026"]


# ---- words


@pytest.mark.parametrize(
    ("cents", "whole", "short"),
    [
        (0, "$0", "$0"),
        (-1, "-$1", "-$0.01"),
        (123_456, "$1,234", "$1.23K"),
        (99_999_900, "$999,999", "$1M"),
        (-1_630_305, "-$16,304", "-$16.3K"),
        (10**20, "$1,000,000,000,000,000,000", "$1,000,000T"),
    ],
)
def test_amounts(cents: int, whole: str, short: str) -> None:
    assert (dollars(cents), short_dollars(cents)) == (whole, short)


@pytest.mark.parametrize(("number", "said"), [(0, "0"), (999, "999"), (12_345, "12.3K"), (1_250_000, "1.25M")])
def test_counts(number: int, said: str) -> None:
    assert short_count(number) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.4, "0s"), (59.9, "59s"), (60, "1m 00s"), (3_599, "59m 59s"), (11_100, "3h 05m"), (187_200, "2d 4h")],
)
def test_durations(seconds: float, said: str) -> None:
    assert duration(seconds) == said


def test_a_time_that_has_run_out_is_no_zero() -> None:
    assert (remaining(0.0), remaining(1.0)) == ("soon", "1s")


@pytest.mark.parametrize(
    ("usd", "said"),
    [
        (None, "unknown"),
        ("0", "$0.00"),
        ("0.00001", "<$0.0001"),
        ("0.0123", "$0.0123"),
        ("1.005", "$1.00"),
        ("1234", "$1,234.00"),
    ],
)
def test_costs(usd: str | None, said: str) -> None:
    assert cost(None if usd is None else Decimal(usd)) == said


def test_sums_that_miss_turns_are_marked() -> None:
    assert [token_sum(TokenSum(1500, unknown), 3) for unknown in (0, 1, 3)] == ["1.5K", "1.5K+", "unknown"]
    totals = [CostTotal(Decimal("0.5"), unknown) for unknown in (0, 1, 3)]
    assert [cost_total(total, 3) for total in totals] == ["$0.5000", "$0.5000+", "unknown"]


def test_names_leave_out_what_all_runs_have_in_common() -> None:
    plans = [attrs.evolve(PLAN, folder=Path(f"run{seed}"), seed=seed) for seed in (1, 2)]
    other = attrs.evolve(PLAN, folder=Path("other"), model=None, name="greedy")
    assert run_names(plans[:1]) == ["acme/owl-7b:free, default, seed 1"]
    assert run_names(plans) == ["seed 1", "seed 2"]
    assert run_names([*plans, other]) == [
        "llm acme/owl-7b:free, seed 1", "llm acme/owl-7b:free, seed 2", "greedy, seed 1"
    ]  # fmt: skip
    assert run_names([plans[0], attrs.evolve(plans[0], folder=Path("again"))]) == ["run1", "again"]


# ---- hostile text


def is_plain(line: str) -> bool:
    return all(sign == " " or (sign.isprintable() and unicodedata.category(sign)[0] not in "CMZ") for sign in line)


@given(
    st.text(st.characters(exclude_categories=[]), max_size=40) | st.sampled_from([*HOSTILE.values()]),
    st.integers(0, 60),
)
@example("\u1112\u1161\u11ab \U0001f1e9\U0001f1ea", 20)
@example("\xa0\u3000\u2028\ufeff", 20)
def test_any_text_becomes_one_plain_line_within_its_limit(some: str, limit: int) -> None:
    line = harmless(some, limit)
    assert is_plain(line)
    assert len(line) <= limit
    poor = harmless(some, limit, ascii_only=True)
    assert poor.isascii()
    assert is_plain(poor)


def test_plain_text_stays_as_it_is_and_strange_text_can_be_told() -> None:
    assert harmless("task accept --task-id Task-1 [red] \u00e9\u6f22\U0001f680", 99) == (
        "task accept --task-id Task-1 [red] \u00e9\u6f22\U0001f680"
    )
    assert harmless("a\nb\x1b[31m\ud800\u200fc", 99) == "a\\nb\\x1b[31m\\ud800?c"


def test_signs_of_which_terminals_disagree_on_the_width_are_replaced() -> None:
    assert harmless("\U0001f1e9\U0001f1ea \U0001f44d\U0001f3fd \u3164\u1160", 99) == "?? \U0001f44d? ??"


def hostile_view(some: str) -> RunView:
    """A run in which every text is hostile."""
    task = Task(some, "active", some, 5, some, 1)
    return attrs.evolve(
        played(),
        name=some,
        work=Work({"1": task, "2": attrs.evolve(task, status=some)}),
        commands=(
            SaidCommand(1, some, ok=True),
            SaidCommand(2, some, ok=False, error=some),
            SaidCommand(3, some, ok=None),
        ),
        totals=attrs.evolve(played().totals, last_fault=some),
    )


@settings(max_examples=60)
@given(
    st.text(st.characters(exclude_categories=[]), max_size=40) | st.sampled_from([*HOSTILE.values()]),
    st.sampled_from([(80, 24), (50, 24), (200, 50), (20, 10)]),
    st.sampled_from(["utf-8", "ascii"]),
)
def test_no_text_breaks_the_frame(some: str, size: tuple[int, int], encoding: str) -> None:
    stopped = hostile_view(some).ended("stopped", some)
    for views in ((hostile_view(some),), (stopped,)):
        rows = shown(Screen(views, 42.5), *size, encoding=encoding)
        assert len(rows) == len(shown(Screen((played(),), 42.5), *size))
        assert {cell_len(row) for row in rows} == {size[0]}
        assert all(is_plain(row) for row in rows)
        assert len({(row[0], row[-1]) for row in rows[1:-1]}) == 1  # the frame's sides


@pytest.mark.parametrize("some", HOSTILE.values(), ids=HOSTILE)
def test_no_text_changes_the_table(some: str) -> None:
    rows = shown(Screen((hostile_view(some), played()), 42.5))
    assert len(rows) == 24
    assert all(is_plain(row) and cell_len(row) <= 80 for row in rows)
    assert rows[3].startswith("acme/")


def test_no_text_styles_the_terminal() -> None:
    def codes(run: RunView) -> set[str]:
        console = Console(file=io.StringIO(), width=80, height=24, force_terminal=True, _environ={"TERM": "xterm"})
        with console.capture() as capture:
            console.print(Screen((run,), 42.5))
        return set(re.findall(r"\x1b[^m]*m?", capture.get()))

    assert codes(hostile_view("[red on blue]\x1b[44m\x1b]0;title\x07 https://x.y 127.0.0.1 :smile:")) == codes(
        hostile_view("x")
    )


@settings(max_examples=200)
@given(st.integers(1, 220), st.integers(1, 60), st.integers(1, 5))
@example(124, 9, 1)  # sections of a single line
def test_any_size_of_terminal_is_kept_to(width: int, height: int, count: int) -> None:
    rows = shown(Screen((played(),) * count, 42.5), width, height)
    assert len(rows) <= height
    assert max(cell_len(row) for row in rows) <= width
