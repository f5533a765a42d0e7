"""Playing by hand: the loop, the prompt's own commands, completion, history and the screen."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from ycbench_agents.cli import main
from ycbench_agents.cli import play as module
from ycbench_agents.cli.play import Game, complete
from ycbench_env import YCBenchEnv, load_config
from ycbench_env.wrappers import ScratchpadMemory


def _game(preset: str = "default", *, scratchpad: bool = True, **loop: object) -> Game:
    return Game(load_config(preset, overrides={"loop": loop}, environ={}), 1, scratchpad=scratchpad)


Player = Callable[..., str]  # plays lines from a pipe and returns what is printed


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Player:
    """Plays lines from a pipe and returns what is printed."""

    def run(*lines: str, options: tuple[str, ...] = ()) -> str:
        raw = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass")
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw), newline=None))
        assert main(["play", *options]) == 0
        return capsys.readouterr().out

    return run


def test_a_pipe_shows_the_texts_that_an_agent_sees(play: Player) -> None:
    turns = ["company status", "market browse --limit 2 && sim resume", "nonsense", "scratchpad write --content 'a b'"]
    env = ScratchpadMemory(YCBenchEnv("default"))
    texts = [env.reset(seed=1)[0]["text"], *(env.step(turn)[0]["text"] for turn in turns)]
    end = "You left the company on 2025-01-01: after 4 turns, funds $200,000.00.\n"
    assert play(*turns) == "".join(f"{text}\n\n" for text in texts) + end


@pytest.mark.parametrize(
    ("lines", "count"),
    [
        (["", "   ", "task list"], 1),
        ([":multi", "task list", "", ":help", ":end", "client list"], 2),
        ([":multi", "task list"], 0),
        ([":quit", "task list"], 0),
        ([":halp", ":end", ":", ":save", ":save /no/such\0", ":pretty", ":help"], 0),
        (["exit", "?"], 2),
    ],
)
def test_only_turns_are_counted(lines: list[str], count: int, play: Player) -> None:
    assert f"after {count} {'turn' if count == 1 else 'turns'}," in play(*lines)


def test_the_prompt_explains_its_own_commands(play: Player) -> None:
    text = play(":halp", ":end", ":save", ":save /dev/null/x", ":pretty", ":help", ":multi").partition("\n\n")[2]
    for words in ("There is no :halp", "There is no turn to end", "needs the name of a file", "Nothing was saved"):
        assert words in text
    assert "no answers yet" in text
    assert "that turn was not played" in text
    assert all(f"\n{name} " in text for name in (":multi", ":end", ":pretty", ":save", ":quit"))
    assert all(len(line) <= 80 for line in text.splitlines())


def test_pretty_lays_answers_and_help_out(play: Player) -> None:
    text = play("task list; what", ":pretty")
    first, second = text[text.index("> task list\n{\n") :].split("\n\n")
    assert json.loads(first.partition("\n")[2])["tasks"] == []
    assert "error" in json.loads(second.partition("\n")[2].partition("\nYou left")[0])
    text = play("task accept --help", ":pretty")
    assert "\ntask accept: Take a task from the market\nUsage: task accept --task-id TASK\n" in text


def test_saved_turns_can_be_played_again(tmp_path: Path, play: Player) -> None:
    path = tmp_path / "turns.jsonl"
    text = play("task list", ":multi", "sim resume", 'x "é\u2028', ":end", f":save {path}")
    assert f"2 turns saved in {path}; play --replay {path} plays them again.\n" in text
    assert [json.loads(line) for line in path.read_bytes().splitlines()] == ["task list", 'sim resume\nx "é\u2028']
    again = play(options=("--replay", str(path)))
    assert again == re.sub("2 turns saved.*\n", "", text)


@pytest.mark.parametrize("line", ["task list", "1", '["a"]', "{", "[" * 100_000])
def test_a_line_that_is_no_turn_is_named(line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "turns.jsonl"
    path.write_text(f'"task list"\n\n{line}\n', encoding="utf-8")
    assert main(["play", "--replay", str(path)]) == 2
    assert f"ycbench: error: {path}:3: " in capsys.readouterr().err


def test_no_turn_is_played_after_the_end(tmp_path: Path, play: Player) -> None:
    path = tmp_path / "turns"
    limit = ("--set", "loop.max_turns=2")
    text = play(*["task list"] * 4, f":save {path}", options=limit)
    assert text.count("The episode is over. :save FILE keeps the turns") == 3
    assert path.read_text(encoding="ascii") == '"task list"\n' * 2
    assert text.endswith("The episode was truncated (max_turns) on 2025-01-01: after 2 turns, funds $200,000.00.\n")


def test_the_summary_tells_bankruptcy_from_survival() -> None:
    game = _game()
    while game.reason is None:
        game.step("sim resume")
    assert game.summary.startswith("The company went bankrupt on 2025-07-01: after ")
    game = Game(load_config("default", overrides={"world": {"num_employees": 0}}, environ={}), 1)
    while game.reason is None:
        game.step("sim resume")
    assert game.summary.startswith("The company survived until 2026-01-01: after ")


def test_without_a_scratchpad_its_commands_are_refused() -> None:
    game = _game(scratchpad=False)
    game.step("scratchpad read")
    assert not json.loads(game.observation["results"])[0]["ok"]


# ---- a terminal


def _terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    stream = Terminal()
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "30")
    return stream


def _plain(stream: io.StringIO) -> list[str]:
    return re.sub("\x1b\\[[0-9;]*m", "", stream.getvalue()).splitlines()


def test_a_terminal_wraps_the_status_line_and_shows_escapes(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = _terminal(monkeypatch)
    status, answer = "Turn 1 | funds $200,000.00 | payroll $38,005.03 a month", '{"help":"' + "x\x1b y" * 30 + '"}'
    module._show(f"{status}\n{answer}\n> [red]:smile:\u202e\nThe episode is over: x.")
    *wrapped, whole, command, over = _plain(terminal)
    assert " ".join(line.rstrip() for line in wrapped) == status
    assert all(len(line) <= 30 for line in wrapped)
    assert whole == answer.replace("\x1b", "\\x1b")
    assert (command, over) == ("> [red]:smile:\\u202e", "The episode is over: x.")
    assert "\x1b[1;36m> [red]" in terminal.getvalue()


@pytest.fixture
def keyboard() -> Iterator[Callable[[str], None]]:
    """A prompt that reads keys instead of a person's."""
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        yield lambda keys: pipe.send_text(f"{keys}\x04")


@pytest.mark.parametrize(
    ("keys", "turns"),
    [
        ("task list\rsim resume\r", ["task list", "sim resume"]),
        ("task list\x1b\rsim resume\r", ["task list\nsim resume"]),
        ("task\x03sim resume\r", ["sim resume"]),
        ("exit\r Quit \rhelp\r?\rexit now\r", ["exit now"]),
    ],
)
def test_a_person_plays_with_keys(
    keys: str,
    turns: list[str],
    keyboard: Callable[[str], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = _terminal(monkeypatch)
    keyboard(f"{keys}:save {tmp_path / 'turns'}\r")
    assert module.play(history=tmp_path / "history") == 0
    assert [json.loads(line) for line in (tmp_path / "turns").read_text(encoding="ascii").splitlines()] == turns
    assert _plain(terminal)[0] == "Each line is a turn. :help lists what this prompt understands, :quit leaves."


def test_what_was_typed_comes_back_in_the_next_game(keyboard: Callable[[str], None], tmp_path: Path) -> None:
    game, history = _game(), tmp_path / "state" / "history"
    keyboard("task list\r")
    read = module._prompt(game, history)
    assert [read("> "), read("> ")] == ["task list", None]
    keyboard("\x1b[A\r")
    read = module._prompt(game, history)
    assert [read("> "), read("> ")] == ["task list", None]


def test_a_history_that_cannot_be_written_is_kept_in_memory(keyboard: Callable[[str], None], tmp_path: Path) -> None:
    read = module._prompt(_game(), tmp_path)  # a folder
    for keys in ("task list\r", "\x1b[A\r"):
        keyboard(keys)
        assert read("> ") == "task list"
        assert read("> ") is None


# ---- completion


@pytest.fixture(scope="module")
def known() -> Game:
    """A game in which one task was accepted and another is on the market."""
    game = _game()
    game.step("market browse --limit 2; task accept --task-id Task-8")
    return game


@pytest.mark.parametrize(
    ("before", "words"),
    [
        (":s", [":save"]),
        ("ta", ["task"]),
        ("market ", ["browse"]),
        ("sim resume; task a", ["accept", "assign"]),
        ("sim resume && task acc", ["accept"]),
        ("task accept ", ["--task-id"]),
        ("task accept --task-id ", ["Task-10", "Task-7000"]),
        ("task accept --task-id=Task-1", ["Task-10"]),
        ("task dispatch --task-id ", ["Task-8"]),
        ("task inspect --task-id ", ["Task-10", "Task-8", "Task-7000"]),
        ("task assign --task-id Task-8 --employees Emp_1,Emp_", [f"Emp_{number}" for number in range(2, 9)]),
        ("market browse --domain re", ["research"]),
        ("company status ", ["--help"]),
        ("company status x", []),
        ("nothing here ", []),
        ("scratchpad write --content 'ta", []),
    ],
)
def test_completion_comes_from_the_grammar_and_from_answers(before: str, words: list[str], known: Game) -> None:
    assert list(complete(before, known)[1]) == words


def test_every_command_and_option_is_completed(known: Game) -> None:
    for spec in known.commands:
        assert spec.verb[1] in complete(f"{spec.verb[0]} ", known)[1]
        assert {option.name for option in spec.options} <= complete(f"{spec.name} ", known)[1].keys()


def test_a_game_follows_its_tasks(known: Game) -> None:
    game = _game()
    assert game.tasks == {}
    game.step("market browse --limit 2")
    assert game.tasks == {"Task-10": "market", "Task-8": "market"}
    game.step("task accept --task-id Task-8; task inspect --task-id Task-999; company status")
    assert game.tasks == known.tasks == {"Task-10": "market", "Task-8": "planned", "Task-7000": "market"}
    game.step("task assign --task-id Task-8 --employees Emp_1,Emp_2,Emp_4,Emp_6; task dispatch --task-id Task-8")
    assert game.tasks["Task-8"] == "active"
