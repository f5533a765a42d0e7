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

from ycbench_env import (
    ConfigError,
    MissingExtraError,
    State,
    YCBenchEnv,
    advance,
    initial_state,
    load_config,
    transition,
)
from ycbench_env.text import short_dollars
from ycbench_env.types.command import AcceptTask, AssignTask, DispatchTask
from ycbench_env.viewer import render_state
from ycbench_env.viewer.ansi import dashboard_text
from ycbench_env.viewer.dashboard import Section, dashboard, time_left, whole_dollars
from ycbench_env.viewer.human import print_dashboard
from ycbench_env.viewer.rgb import dashboard_pixels

SMALL = {"sim": {"company_name": "Acme"}, "world": {"num_employees": 2, "num_clients": 2, "num_market_tasks": 3}}
DAY = 86_400_000_000
HOUR = 3_600_000_000
BUSY = """\
Acme
Turn 5 | 2025-02-03 09:00 (until 2026-01-01 09:00)
Funds $192,879 | runway 27.1 months
Payroll $7,120 a month, next on 2025-03-03 09:00
Tasks 1 active, 1 planned, 0 succeeded, 0 failed, 0 cancelled

Open tasks
  task    status   client        work       people  done                           due
  Task-1  active   Equinox Labs  inference  1       [######--------------]  28.5%  late 24 d
  Task-2  planned  Vanguard ML   research   0       [--------------------]   0.0%  late 24 d

Clients, trust from 0 to 5
  client        tier     trust                         done / failed
  Equinox Labs  Premium  [--------------------]  0.00  0 / 0
  Vanguard ML   Premium  [--------------------]  0.00  0 / 0

Prestige, up to 10
  domain            prestige
  research          [##------------------]  1.00
  inference         [##------------------]  1.00
  data_environment  [##------------------]  1.00
  training          [##------------------]  1.00

Staff
  name   tier    a month  active tasks
  Emp_1  junior  $3,972   1
  Emp_2  junior  $3,147   0"""
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
    assert picture.shape == (720, 1280, 3)
    return picture


def printed(state: State, capsys: pytest.CaptureFixture[str]) -> str:
    assert render_state(state, "human") is None
    return capsys.readouterr().out


@pytest.fixture(autouse=True)
def plain_output(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture
def start() -> State:
    return initial_state(load_config(SMALL, environ={}), 1)


@pytest.fixture
def busy(start: State) -> State:
    """Emp_1 works on Task-1, and Task-2 is planned; the first payroll is paid."""
    state = start
    for command in (
        AcceptTask("Task-1"), AssignTask("Task-1", ("Emp_1",)), DispatchTask("Task-1"), AcceptTask("Task-2"),
    ):  # fmt: skip
        outcome = transition(state, command)
        assert outcome.refusal is None
        state = outcome.state
    while state.payrolls_charged == 0:
        state = advance(state).state
    return attrs.evolve(state, turns_played=4)


# ---- which figures


def test_text_of_a_company(busy: State) -> None:
    assert render_state(busy, "ansi") == BUSY


def test_the_terminal_shows_the_same(busy: State, capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(busy, capsys)
    assert {len(line) for line in text.splitlines()} == {100}
    for words in (
        r"Turn 5 \| 2025-02-03 09:00",
        r"Funds \$192,879 \| runway 27.1 months",
        r"Payroll \$7,120 a month, next on 2025-03-03",
        r"\$200K [▇█]+·+",
        r"Task-1 +active +Equinox Labs +inference +1 +███░{9}  28.5% +late 24 d",
        r"Task-2 +planned +Vanguard ML +research +0 +░{12}   0.0% +late 24 d",
        r"Equinox Labs +Premium +░{12}  0.00 +0 / 0",
        r"research +█░{11}  1.00",
        r"Emp_1 +junior +\$3,972 +1",
    ):
        assert re.search(words, text), words


def test_funds_payrolls_and_end_of_a_year(capsys: pytest.CaptureFixture[str]) -> None:
    config = load_config({**SMALL, "world": {"num_employees": 3, "initial_funds_cents": 5_000_000}}, environ={})
    state = initial_state(config, 1)
    while state.terminal_reason is None:
        state = advance(state).state
    board = dashboard(state)
    assert {time_us for time_us, _ in board.funds_history[1:-1]} == set(board.payrolls_us)
    assert board.funds_history[-1] == (state.now_us, state.funds_cents)
    assert board.funds_history[0] == (board.start_us, 5_000_000)
    assert board.in_debt
    print_dashboard(board)
    for text in (dashboard_text(board), capsys.readouterr().out):
        assert " BANKRUPT " in text
        assert f"Funds {whole_dollars(state.funds_cents)}" in text
    assert re.search(r"x·", printed(state, capsys))
    assert not np.array_equal(dashboard_pixels(board), dashboard_pixels(attrs.evolve(board, ending=None)))


@pytest.mark.parametrize(("reason", "words"), [("horizon_end", "Horizon reached"), ("max_turns", "Turn limit reached")])
def test_the_end_of_an_episode_is_put_in_words(busy: State, reason: str, words: str) -> None:
    class Ended:
        """A state that is over."""

        end_reason = reason

        def __getattr__(self, name: str) -> object:
            return getattr(busy, name)

    assert dashboard(Ended()).ending == words  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_long_lists_are_cut_and_say_so(busy: State, capsys: pytest.CaptureFixture[str]) -> None:
    board = dashboard(busy)
    sections = tuple(attrs.evolve(section, rows=section.rows * 15) for section in board.sections)
    board = attrs.evolve(board, sections=sections)
    assert "\n  and 10 more" in dashboard_text(board)
    print_dashboard(board)
    assert "Staff  and 18 more" in capsys.readouterr().out
    assert dashboard_pixels(board).shape == (720, 1280, 3)
    assert sections[0].first(40) == sections[0] != Section("", (), ())


def test_open_tasks_are_active_before_planned_each_by_deadline(busy: State) -> None:
    one, other = busy.tasks
    tasks = [
        attrs.evolve(one, status=status, deadline_us=deadline_us, offer=attrs.evolve(one.offer, number=place))
        for place, (status, deadline_us) in enumerate(
            [("active", 5), ("completed_fail", 1), ("active", 9), ("planned", 1), ("cancelled", 1)]
        )
    ]
    board = dashboard(attrs.evolve(busy, tasks=(*tasks, attrs.evolve(other, status="completed_success"))))
    assert [row[0] for row in board.sections[0].rows] == ["Task-0", "Task-2", "Task-3"]
    assert board.facts[-1] == "Tasks 2 active, 1 planned, 1 succeeded, 1 failed, 1 cancelled"
    assert [row[-1] for row in board.sections[1].rows] == ["0 / 1", "1 / 0"]


def test_a_world_without_clients_has_no_section_of_clients(capsys: pytest.CaptureFixture[str]) -> None:
    env = YCBenchEnv({"extends": "classic-hard", "world": {"num_market_tasks": 12, "num_employees": 3}})
    env.reset(seed=1)
    one = "--task-id Task-1"
    env.step(f"task accept {one}; task assign {one} --employees Emp_1,Emp_2; task dispatch {one}")
    state = env.get_state()
    for text in (printed(state, capsys), str(render_state(state, "ansi"))):
        assert "Task-1" in text
        assert not re.search("client|trust|none", text, re.IGNORECASE)
    pixels(state)


def test_hidden_figures_change_no_picture_and_visible_ones_do(busy: State, capsys: pytest.CaptureFixture[str]) -> None:
    twin = attrs.evolve(
        busy,
        run_seed=busy.run_seed + 1,
        slot_accepts=tuple(count + 7 for count in busy.slot_accepts),
        clients=tuple(
            attrs.evolve(one, loyalty_milli=-one.loyalty_milli - 1, reward_multiplier_milli=7) for one in busy.clients
        ),
        tasks=tuple(attrs.evolve(task, completion_us=1, milestone_us=None) for task in busy.tasks),
    )
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
    assert len(text.split("\n")) == len(BUSY.split("\n"))
    assert len(text.split("\n", maxsplit=1)[0]) <= 60
    for shown in (text, printed(state, capsys)):
        assert not [sign for sign in shown if sign != "\n" and unicodedata.category(sign)[0] == "C"]
    pixels(state)


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
    with ThreadPoolExecutor(2) as pool:
        drawn = list(pool.map(pixels, [start, busy, start]))
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


def test_a_company_without_anything_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    world = {"num_employees": 0, "num_clients": 1, "initial_funds_cents": 0, "num_market_tasks": 0}
    config = load_config({"sim": {"horizon_years": 100, "start_date": "2025-05-15"}, "world": world}, environ={})
    state = initial_state(config, 1)
    pixels(state)
    assert "runway endless" in printed(state, capsys)


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
    env = YCBenchEnv("default", render_mode="ansi")
    env.reset(seed=1)
    assert env.render() == render_state(env.get_state(), "ansi")
    env = YCBenchEnv("default", render_mode="human")
    env.reset(seed=1)
    assert "Turn 1 |" in capsys.readouterr().out
    env.step("company status")
    assert "Turn 2 |" in capsys.readouterr().out


# ---- words


@pytest.mark.parametrize(
    ("cents", "short", "exact"),
    [
        (0, "$0", "$0"),
        (-1, "$0", "-$1"),
        (99_999, "$1K", "$999"),
        (1_250_000, "$12.5K", "$12,500"),
        (-125_000_000, "-$1.25M", "-$1,250,000"),
        (10**17 + 5, "$1,000T", "$1,000,000,000,000,000"),
    ],
)
def test_amounts_are_written_short_and_exact(cents: int, short: str, exact: str) -> None:
    assert (short_dollars(cents / 100), whole_dollars(cents)) == (short, exact)


@pytest.mark.parametrize(
    ("difference_us", "words"),
    [(0, "in <1 h"), (-1, "late <1 h"), (DAY - 1, "in 23 h"), (-DAY, "late 1 d"), (40 * DAY + HOUR, "in 40 d")],
)
def test_a_deadline_is_late_only_after_its_instant(difference_us: int, words: str) -> None:
    assert time_left(10 * DAY + difference_us, 10 * DAY) == words


def test_a_long_runway_is_cut(start: State) -> None:
    rich = attrs.evolve(start, funds_cents=10**15)
    assert dashboard(rich).facts[1] == "Funds $10,000,000,000,000 | runway 1000+ months"
