"""Progress: a screen on a terminal, lines elsewhere."""

from __future__ import annotations

import io
import re
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from ycbench_agents.cli.live import LineProgress, LiveProgress, counting, watch
from ycbench_agents.evaluation.suite import EpisodeKey
from ycbench_env import YCBenchEnv

KEY = EpisodeKey("greedy", "default", "1", 1)
HOSTILE = EpisodeKey("mine:[red]Evil\u202e", "default", "2", 3)
RUN: Any = SimpleNamespace(config=YCBenchEnv("default").config.to_dict())


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def _turns(*texts: str, trace: object = None) -> list[Any]:
    """Turns as a run records them."""
    env = YCBenchEnv("default")
    env.reset(seed=1)
    turns: list[Any] = []
    for number, text in enumerate(texts, 1):
        observation, _, _, _, info = env.step(text)
        fields = {name: info[name] for name in ("results", "events", "terminal_reason")}
        funds, time = int(observation["funds_cents"]), observation["sim_time"]
        turns.append(SimpleNamespace(turn=number, sim_time=time, funds_cents=funds, trace=trace, **fields))
    return turns


def _episode(status: str, reason: str | None = None) -> Any:  # noqa: ANN401 -- as much of an episode as is shown
    return SimpleNamespace(status=status, reason=reason, final_funds_cents=-1_630_305 if status == "finished" else None)


WORK = (
    "market browse --limit 1; company status",
    "task accept --task-id Task-10",
    "task assign --task-id Task-10 --employees Emp_1,Emp_2; task dispatch --task-id Task-10; nonsense \u202e[red]",
)


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    for name, value in {"TERM": "xterm", "COLUMNS": "80", "LINES": "24"}.items():
        monkeypatch.setenv(name, value)
    return stream


def _frame(progress: LiveProgress) -> list[str]:
    """The screen as it is drawn now."""
    with progress._console.capture() as capture:
        progress._console.print(progress.render())
    return [line.rstrip() for line in _plain(capture.get()).splitlines()]


def _plain(text: str) -> str:
    return re.sub("\x1b\\[[0-9;?]*[a-zA-Z]", "", text)


@pytest.mark.usefixtures("screen")
def test_the_screen_shows_a_row_an_episode_and_the_last_commands() -> None:
    progress = LiveProgress()
    progress.begin(3, 1)
    for key in (KEY, HOSTILE):
        progress.started(key, RUN)
    for turn in _turns(*WORK, trace={"cost_usd": 0.002}):
        progress.turn(HOSTILE, turn)
    progress.tick()
    frame = _frame(progress)
    assert all(len(line) <= 80 for line in frame)
    assert frame[0].startswith("0/3 episodes ")
    assert frame[1].split() == ["episode", "turn", "date", "funds", "prestige", "cost"]
    assert frame[2].split() == ["greedy", "default", "1", *["-"] * 5]
    assert re.fullmatch(r"mine:\[red\]Evil.* #3 +3 2025-01-01 \$200,000 ███ +1\.0 \$0\.006", frame[3])
    assert frame[4] == "last commands of mine:[red]Evil\\u202e, default, seed 2, repeat 3"
    assert frame[5].split() == ["1", "market", "browse", "--limit", "1"]
    assert frame[-1].startswith("    3  nonsense \\u202e[red]  ")
    assert frame[-1].endswith("…")


def test_an_episode_that_ends_leaves_a_line_above_the_screen(screen: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", screen)  # again, since pytest changes it between set-up and call
    with watch() as progress:
        assert isinstance(progress, LiveProgress)
        progress.begin(2, 0)
        progress.started(KEY, RUN)
        progress.turn(KEY, _turns("sim resume")[0])
        progress.finished(KEY, _episode("failed", "[b] KeyError: reason"))
        progress.finished(HOSTILE, _episode("finished"))
        progress.warn("odd\u202e")
        progress.tick()
    text = _plain(screen.getvalue())
    assert re.search(r"greedy, default, seed 1: failed: \[b\] KeyError\s*\n", text)
    assert "mine:[red]Evil\\u202e, default, seed 2, repeat 3: finished, -$16,303.05" in text
    assert "warning: odd\\u202e" in text


@pytest.mark.usefixtures("screen")
def test_more_episodes_than_lines_are_counted() -> None:
    progress = LiveProgress()
    for seed in range(200):
        progress.started(EpisodeKey("greedy", "default", str(seed), 1), RUN)
    frame = _frame(progress)
    assert len(frame) <= 24
    assert frame[-1] == "190 more"


BEGUN, TURN, OVER, ODD = (
    "to play: 1 episode, 2 were finished before",
    "greedy, default, seed 1  turn 1  2025-01-01T09:00  $200,000.00  1 ok, 1 refused",
    "1/1 greedy, default, seed 1: finished, -$16,303.05",
    "warning: odd",
)


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        ({"quiet": True}, [ODD]),
        ({"live": False}, [BEGUN, OVER, ODD]),
        ({"live": False, "turns": True}, [BEGUN, TURN, OVER, ODD]),
    ],
)
def test_lines_replace_the_screen(options: dict[str, bool], lines: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal() if "live" in options else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with watch(**options) as progress:
        assert type(progress) is LineProgress
        progress.begin(1, 2)
        progress.started(KEY, RUN)
        progress.turn(KEY, _turns("task list; nonsense")[0])
        progress.tick()
        progress.finished(KEY, _episode("finished"))
        progress.warn("odd")
    assert stream.getvalue().splitlines() == [f"ycbench: {line}" for line in lines]


@pytest.mark.parametrize("is_terminal", [True, False])
def test_items_are_counted_on_a_terminal_only(
    screen: Terminal, monkeypatch: pytest.MonkeyPatch, is_terminal: bool
) -> None:
    stream = screen if is_terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with counting() as track:
        assert list(track(["a", "b"])) == ["a", "b"]
    assert ("2/2" in _plain(stream.getvalue())) == is_terminal
