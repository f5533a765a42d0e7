"""Pictures of a state: plain text, terminal, pixels."""

import io
import re
import subprocess
import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import attrs
import gymnasium as gym
import matplotlib as mpl
import numpy as np
import pytest
from gymnasium.wrappers import RecordVideo
from numpy.typing import NDArray

from ycbench_env import ConfigError, MissingExtraError, State, YCBenchEnv
from ycbench_env.config import load_config
from ycbench_env.generator import initial_state
from ycbench_env.viewer import render_state
from ycbench_env.viewer.ansi import dashboard_text
from ycbench_env.viewer.dashboard import Dashboard, TaskLine, dashboard, short_dollars, time_left, whole_dollars
from ycbench_env.viewer.human import print_dashboard
from ycbench_env.viewer.rgb import dashboard_pixels

DAY = 86_400_000_000
HOUR = 3_600_000_000
BUSY = """\
Acme
Turn 5 | 2025-02-03 09:00 (until 2026-01-01 09:00)
Funds $192,879 | payroll $7,120 a month, next on 2025-03-03 09:00 | runway 27.1 months
Tasks 1 active, 1 planned, 0 succeeded, 0 failed, 0 cancelled

Open tasks
  Task-1       active  [######--------------]  28.5%  due 2025-01-09 18:00 (late 24 d)  Equinox Labs, inference, 1 on it
  Task-2       planned [--------------------]   0.0%  due 2025-01-09 18:00 (late 24 d)  Vanguard ML, research, 0 on it

Trust of clients (0 to 5)
  Equinox Labs  Premium     [--------------------]  0.00  0 succeeded, 0 failed
  Vanguard ML   Premium     [--------------------]  0.00  0 succeeded, 0 failed

Prestige (up to 10)
  research          [##------------------]  1.00
  inference         [##------------------]  1.00
  data_environment  [##------------------]  1.00
  training          [##------------------]  1.00

Staff
  Emp_1     junior    $3,972 a month  on 1 active task
  Emp_2     junior    $3,147 a month  idle"""
HOSTILE = {
    "escape sequence": "\x1b[31mred\x1b[0m\x07",
    "line breaks": "a\nb\r\nc\u2028d",
    "markup": "[red]x[/red] [/] [bold",
    "mathtext": r"$\frac{1}{0}$ $mathtext$ 100% $",
    "right to left": "\u202eevil\u202c \u200f",
    "emoji": "\U0001f680 \U0001f9d1\u200d\U0001f4bb :smile:",
    "wide and long": "漢字" * 3000,
    "surrogate": "\ud800",
    "empty": "",
}


def pixels(state: State) -> NDArray[np.uint8]:
    picture = render_state(state, "rgb_array")
    assert isinstance(picture, np.ndarray)
    return picture


def printed(state: State, capsys: pytest.CaptureFixture[str]) -> str:
    assert render_state(state, "human") is None
    return capsys.readouterr().out


@pytest.fixture(autouse=True)
def plain_output(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "100")


# ---- which figures


def test_text_of_a_small_company(busy: State) -> None:
    assert render_state(busy, "ansi") == BUSY


def test_text_of_nothing(start: State) -> None:
    text = dashboard_text(attrs.evolve(dashboard(start), employees=(), clients=()))
    assert "Open tasks\n  none" in text
    assert "Staff\n  none" in text
    assert "Trust" not in text
    assert "***" not in text


@pytest.mark.parametrize(
    ("reason", "words"), [("bankruptcy", "BANKRUPT"), ("horizon_end", "HORIZON REACHED"), ("max_turns", "TURN LIMIT")]
)
def test_the_end_of_an_episode_is_shown(
    busy: State, reason: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    board = attrs.evolve(dashboard(busy), end_reason=reason, funds_cents=-1)
    print_dashboard(board)
    for text in (dashboard_text(board), capsys.readouterr().out):
        assert words in text
        assert "-$1 " in text
    assert not np.array_equal(dashboard_pixels(board), pixels(busy))


def test_the_terminal_shows_money_tasks_trust_prestige_and_staff(
    busy: State, capsys: pytest.CaptureFixture[str]
) -> None:
    text = printed(busy, capsys)
    assert {len(line) for line in text.splitlines()} == {100}
    for words in (
        r"turn 5, 2025-02-03 09:00",
        r"funds \$192,879  runway 27.1 months",
        r"payroll \$7,120 a month, next 2025-03-03",
        r"\$200K [▇█]+·+",
        r"Task-1 +Equinox Labs +inference +███░{9} +29% +late 24 d",
        r"Task-2 +Vanguard ML +research +planned +0% +late 24 d",
        r"Equinox Labs +Premium +░{12} +0.00 +0 +0",
        r"research +█░{11} +1.00",
        r"Emp_1 +junior +\$3,972 +1",
    ):
        assert re.search(words, text), words


def test_long_lists_are_cut_and_say_so(busy: State, capsys: pytest.CaptureFixture[str]) -> None:
    board = dashboard(busy)
    board = attrs.evolve(board, tasks=board.tasks * 7, employees=board.employees * 15, next_payroll_us=None)
    text = dashboard_text(board)
    assert "and 4 more" in text
    assert "and 10 more" in text
    assert "next on" not in text
    print_dashboard(board)
    shown = capsys.readouterr().out
    assert "7 active, 7 planned, the first 12 shown" in shown
    assert "30, the first 12 shown" in shown
    assert dashboard_pixels(board).shape == (720, 1280, 3)


def test_a_debt_in_the_past_is_a_cross(busy: State, capsys: pytest.CaptureFixture[str]) -> None:
    board = dashboard(busy)
    print_dashboard(attrs.evolve(board, funds_history=((board.start_us, 100), (board.start_us + DAY, -5))))
    assert re.search(r"\$1 .*x·", capsys.readouterr().out)


def test_a_world_without_clients_has_no_panel_of_clients(capsys: pytest.CaptureFixture[str]) -> None:
    env = YCBenchEnv({"extends": "classic-hard", "world": {"num_market_tasks": 12, "num_employees": 3}})
    env.reset(seed=1)
    one = "--task-id Task-1"
    env.step(f"task accept {one}; task assign {one} --employees Emp_1,Emp_2; task dispatch {one}")
    state = env.get_state()
    for text in (printed(state, capsys), str(render_state(state, "ansi"))):
        assert "Task-1" in text
        assert not re.search("client|trust|none", text, re.IGNORECASE)
    assert pixels(state).shape == (720, 1280, 3)


def _with_other_hidden_figures(state: State) -> State:
    clients = [
        attrs.evolve(one, loyalty_milli=-one.loyalty_milli - 1, reward_multiplier_milli=one.reward_multiplier_milli + 5)
        for one in state.clients
    ]
    return attrs.evolve(
        state,
        run_seed=state.run_seed + 1,
        slot_accepts=tuple(count + 7 for count in state.slot_accepts),
        clients=tuple(clients),
        tasks=tuple(attrs.evolve(task, completion_us=1, milestone_us=None) for task in state.tasks),
    )


def test_hidden_figures_change_no_picture_and_visible_ones_do(busy: State, capsys: pytest.CaptureFixture[str]) -> None:
    twin = _with_other_hidden_figures(busy)
    assert twin.digest() != busy.digest()
    assert render_state(twin, "ansi") == render_state(busy, "ansi")
    assert printed(twin, capsys) == printed(busy, capsys)
    assert np.array_equal(pixels(twin), pixels(busy))
    other = attrs.evolve(busy, clients=tuple(attrs.evolve(client, trust_milli=1000) for client in busy.clients))
    assert render_state(other, "ansi") != render_state(busy, "ansi")
    assert not np.array_equal(pixels(other), pixels(busy))


# ---- hostile names


def _named(state: State, name: str) -> State:
    """Return the state with a name for the company and all clients, past the checks of a configuration."""
    config = attrs.evolve(state.config)
    sim = attrs.evolve(state.config.sim)
    object.__setattr__(sim, "company_name", name)
    object.__setattr__(config, "sim", sim)
    tasks = tuple(attrs.evolve(task, offer=attrs.evolve(task.offer, client_name=name)) for task in state.tasks)
    clients = tuple(attrs.evolve(one, name=name) for one in state.clients)
    return attrs.evolve(state, config=config, clients=clients, tasks=tasks)


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_name_breaks_no_picture(busy: State, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    state = _named(busy, name)
    text = str(render_state(state, "ansi"))
    assert not [sign for sign in text if sign != "\n" and unicodedata.category(sign)[0] == "C"]
    assert len(text.split("\n")) == len(BUSY.split("\n"))
    assert len(text.split("\n", maxsplit=1)[0]) <= 60
    shown = printed(state, capsys)
    assert not [sign for sign in shown if sign != "\n" and unicodedata.category(sign)[0] == "C"]
    assert pixels(state).shape == (720, 1280, 3)


def test_markup_is_shown_and_not_followed(busy: State, capsys: pytest.CaptureFixture[str]) -> None:
    assert "[red]x[/red] [/] [bold" in printed(_named(busy, HOSTILE["markup"]), capsys)


def test_an_output_of_another_encoding_gets_signs_that_it_has(busy: State, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    render_state(_named(busy, "Société 漢"), "human")
    assert "Soci?t? ?" in raw.getvalue().decode("ascii")


# ---- pixels


def test_equal_states_give_equal_pictures_of_their_own_in_threads_too(start: State, busy: State) -> None:
    expected = [pixels(start), pixels(busy)]
    with ThreadPoolExecutor(4) as pool:
        drawn = list(pool.map(pixels, [start, busy] * 2))
    assert all(np.array_equal(one, expected[place % 2]) for place, one in enumerate(drawn))
    drawn[0][:] = 0
    assert drawn[2].any()


def test_the_users_style_is_neither_followed_nor_changed(busy: State) -> None:
    expected = pixels(busy)
    style = {"font.size": 40, "lines.linewidth": 20, "figure.dpi": 30, "text.usetex": True, "axes.facecolor": "black"}
    with mpl.rc_context(style):  # pyright: ignore[reportArgumentType] -- plain texts as keys
        styled = dict(mpl.rcParams)
        assert np.array_equal(pixels(busy), expected)
        assert dict(mpl.rcParams) == styled


def test_a_company_without_anything_is_drawn() -> None:
    world = {"num_employees": 0, "num_clients": 1, "initial_funds_cents": 0, "num_market_tasks": 0}
    config = load_config({"sim": {"horizon_years": 100, "start_date": "2025-05-15"}, "world": world}, environ={})
    assert pixels(initial_state(config, 1)).shape == (720, 1280, 3)


@pytest.mark.slow
def test_record_video_makes_a_film(tmp_path: Path) -> None:
    pytest.importorskip("moviepy")
    env = gym.make("YCBench-v0", render_mode="rgb_array")
    recorder = RecordVideo(env, str(tmp_path / "film"), episode_trigger=lambda _: True, disable_logger=True)
    recorder.reset(seed=1)
    for _ in range(3):
        recorder.step("task accept --task-id Task-1")
    recorder.close()
    (film,) = tmp_path.glob("film/*.mp4")
    assert film.stat().st_size > 1000


# ---- modes


@pytest.mark.parametrize(("mode", "library"), [("human", "rich"), ("rgb_array", "matplotlib")])
def test_a_missing_library_is_named_with_its_extra(
    start: State, mode: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in list(sys.modules):
        if name.partition(".")[0] == library:
            monkeypatch.setitem(sys.modules, name, None)  # None stops imports
    monkeypatch.delitem(sys.modules, "ycbench_env.viewer.human")
    monkeypatch.delitem(sys.modules, "ycbench_env.viewer.rgb")
    with pytest.raises(MissingExtraError, match=rf"needs {library} .*pip install '.\[render\]'"):
        render_state(start, mode)
    assert str(render_state(start, "ansi")).startswith("Acme\n")


def test_an_unknown_mode_is_refused_with_the_list_of_modes(start: State) -> None:
    with pytest.raises(ConfigError, match="got 'svg', expected one of ansi, human, rgb_array"):
        render_state(start, "svg")


def test_importing_the_viewer_loads_no_optional_library() -> None:
    program = (
        "import sys, ycbench_env.viewer; print({'rich', 'matplotlib'} & {name.split('.')[0] for name in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)  # noqa: S603 -- written above
    assert done.stdout == "set()\n"


def test_the_environment_renders_its_state(capsys: pytest.CaptureFixture[str]) -> None:
    for mode in ("ansi", "rgb_array"):
        env = YCBenchEnv("default", render_mode=mode)
        env.reset(seed=1)
        assert np.array_equal(env.render(), render_state(env.get_state(), mode))  # pyright: ignore[reportArgumentType] -- text or array
    env = YCBenchEnv("default", render_mode="human")
    env.reset(seed=1)
    assert "turn 1," in capsys.readouterr().out
    env.step("company status")
    assert "turn 2," in capsys.readouterr().out


# ---- words


@pytest.mark.parametrize(
    ("cents", "short", "exact"),
    [
        (0, "$0", "$0"),
        (-1, "-$0.01", "-$1"),
        (99_999, "$1K", "$999"),
        (1_250_000, "$12.5K", "$12,500"),
        (-125_000_000, "-$1.25M", "-$1,250,000"),
        (10**17 + 5, "$1,000T", "$1,000,000,000,000,000"),
    ],
)
def test_amounts_are_written_short_and_exact(cents: int, short: str, exact: str) -> None:
    assert short_dollars(cents) == short
    assert whole_dollars(cents) == exact


@pytest.mark.parametrize(
    ("difference_us", "words"),
    [(0, "in <1 h"), (-1, "late <1 h"), (DAY - 1, "in 23 h"), (-DAY, "late 1 d"), (40 * DAY + HOUR, "in 40 d")],
)
def test_a_deadline_is_late_only_after_its_instant(difference_us: int, words: str) -> None:
    assert time_left(10 * DAY + difference_us, 10 * DAY) == words


@pytest.mark.parametrize(("months", "words"), [(None, "endless"), (3.25, "3.2 months"), (1e15, "1000+ months")])
def test_a_runway_is_put_in_words(start: State, months: float | None, words: str) -> None:
    assert attrs.evolve(dashboard(start), runway_months=months).runway == words


def test_open_tasks_are_active_before_planned_each_by_deadline(start: State) -> None:
    def task(name: str, status: str, deadline_us: int = 0) -> TaskLine:
        return TaskLine(name, "Nexus AI", status, ("research",), 0.0, deadline_us, 0, ())

    tasks = (
        task("f", "cancelled"),
        task("e", "planned", 1),
        task("d", "active", 9),
        task("c", "completed_fail"),
        task("b", "active", 5),
    )
    board: Dashboard = attrs.evolve(dashboard(start), tasks=tasks)
    assert [one.task_id for one in board.open_tasks] == ["b", "d", "e"]
    assert board.count("active") == 2
