"""Playing by hand: the loop, its own commands, the screen, the prompt and the history."""

from __future__ import annotations

import io
import json
import re
import sys
from typing import TYPE_CHECKING

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from ycbench_agents.cli.failure import UsageError
from ycbench_agents.cli.play.history import TolerantHistory, history_path
from ycbench_agents.cli.play.loop import play_turns
from ycbench_agents.cli.play.meta import META
from ycbench_agents.cli.play.prompt import Prompt, SessionCompleter
from ycbench_agents.cli.play.record import read_turns, write_turns
from ycbench_agents.cli.play.screen import ColourScreen, PlainScreen, coloured
from ycbench_agents.cli.play.session import Session
from ycbench_agents.cli.play.typist import Pipe
from ycbench_env import YCBenchEnv, load_config
from ycbench_env.wrappers import ScratchpadMemory

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class Lines:
    """Types the lines that a test gives."""

    def __init__(self, *lines: str) -> None:
        self._lines = list(lines)

    def read(self, *, continued: bool) -> str | None:  # noqa: ARG002 -- the protocol's signature
        return self._lines.pop(0) if self._lines else None


class Paper:
    """Keeps what is shown."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.said: list[str] = []

    def show(self, text: str) -> None:
        self.shown.append(text)

    def say(self, message: str) -> None:
        self.said.append(message)


def _session(*, scratchpad: bool = True, **loop: object) -> Session:
    return Session(load_config("default", overrides={"loop": loop}, environ={}), 1, scratchpad=scratchpad)


def _play(session: Session, *lines: str, first: Sequence[str] = (), by_hand: bool = False) -> Paper:
    paper = Paper()
    play_turns(session, Lines(*lines), paper, first, by_hand=by_hand)
    return paper


def test_a_person_sees_the_texts_that_an_agent_would() -> None:
    turns = ["company status", "market browse --limit 2 && sim resume", "nonsense", "scratchpad write --content 'a b'"]
    env = ScratchpadMemory(YCBenchEnv("default"))
    texts = [env.reset(seed=1)[0]["text"], *(env.step(turn)[0]["text"] for turn in turns)]
    assert _play(_session(), *turns).shown == texts


def test_an_empty_line_is_no_turn() -> None:
    session = _session()
    _play(session, "", "   ", "task list")
    assert session.turns == ["task list"]


def test_lines_between_multi_and_end_are_one_turn() -> None:
    session = _session()
    _play(session, ":multi", "task list", "", ":help", ":end", "client list")
    assert session.turns == ["task list\n\n:help", "client list"]


def test_a_turn_that_is_never_ended_is_not_played() -> None:
    session = _session()
    paper = _play(session, ":multi", "task list")
    assert session.turns == []
    assert "not played" in paper.said[-1]


def test_quit_leaves_what_follows_unread() -> None:
    session = _session()
    _play(session, ":quit", "task list")
    assert session.turns == []


def test_help_names_every_command_of_the_prompt_in_80_columns() -> None:
    said = _play(_session(), ":help").said[0]
    assert all(name in said for name, _ in META)
    assert all(len(line) <= 80 for line in said.splitlines())


@pytest.mark.parametrize(
    ("line", "words"), [(":halp", "There is no :halp"), (":end", "no turn to end"), (":", ":help")]
)
def test_what_is_no_command_of_the_prompt_takes_no_turn(line: str, words: str) -> None:
    session = _session()
    assert words in _play(session, line).said[0]
    assert session.turns == []


@pytest.mark.parametrize("slip", ["exit", "quit", " Quit ", "q", "help", "?", "exit()"])
def test_a_person_who_types_a_programs_usual_words_is_told_those_of_the_prompt(slip: str) -> None:
    session = _session()
    paper = _play(session, slip, "task list", by_hand=True)
    assert session.turns == ["task list"]
    said = paper.said[1]
    assert (":help" if "h" in slip or "?" in slip else ":quit") in said
    assert "No turn was played" in said


def test_what_the_usual_words_only_begin_with_is_a_turn() -> None:
    session = _session()
    _play(session, "exit now", "help task", by_hand=True)
    assert session.turns == ["exit now", "help task"]


def test_from_a_pipe_the_usual_words_are_turns_as_an_agents_would_be() -> None:
    session = _session()
    assert _play(session, "exit", "?").said == []
    assert session.turns == ["exit", "?"]


def test_a_person_is_told_first_where_help_is() -> None:
    assert _play(_session(), by_hand=True).said[0].startswith("Each line is a turn. :help ")


def test_pretty_shows_the_last_answers_laid_out() -> None:
    session = _session()
    first, second = _play(session, "task list; what", ":pretty").said[0].split("\n\n")
    answers = [result["output"] for result in json.loads(session.observation["results"])]
    assert first.startswith("> task list\n{\n")
    assert second.startswith("> what\n{\n")
    assert [json.loads(part.partition("\n")[2]) for part in (first, second)] == answers


def test_pretty_shows_help_as_text_in_80_columns() -> None:
    session = _session()
    one, every = _play(session, "task accept --help", ":pretty", "--help", ":pretty").said
    assert one.splitlines() == [
        "> task accept --help",
        "task accept: Take a task from the market",
        "Usage: task accept --task-id TASK",
        "  --task-id TASK  Which task (the id of a task, like Task-3)",
    ]
    assert "[--limit N] [--offset N]\n    Tasks on offer\n" in every
    assert all(len(line) <= 80 for line in every.splitlines())


def test_pretty_before_any_turn_says_that_there_is_nothing_yet() -> None:
    assert "no answers yet" in _play(_session(), ":pretty").said[0]


def test_saved_turns_can_be_played_again(tmp_path: Path) -> None:
    path = tmp_path / "turns.jsonl"
    session = _session()
    said = _play(session, "task list", ":multi", "sim resume", 'x "é\u2028', ":end", f":save {path}").said
    assert said == [f"2 turns saved in {path}; play --replay {path} plays them again."]
    assert [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]] == session.turns
    again = _session()
    _play(again, first=read_turns(path))
    assert again.turns == session.turns
    assert again.observation["text"] == session.observation["text"]


@pytest.mark.parametrize(
    ("name", "words"),
    [("", "needs the name of a file"), ("/no/such/folder/x", "cannot be written: No such file"), ("a\0b", "null byte")],
)
def test_turns_that_cannot_be_saved_are_not_lost(name: str, words: str) -> None:
    session = _session()
    assert words in _play(session, "task list", f":save {name}").said[0]
    assert session.turns == ["task list"]


def test_a_surrogate_survives_the_file(tmp_path: Path) -> None:
    write_turns(tmp_path / "t", ["\ud83d"])
    assert read_turns(tmp_path / "t") == ("\ud83d",)


@pytest.mark.parametrize("line", ["task list", "1", '["a"]', "{", "[" * 100_000])
def test_a_line_that_is_no_turn_is_named(line: str, tmp_path: Path) -> None:
    path = tmp_path / "turns.jsonl"
    path.write_text(f'"task list"\n\n{line}\n', encoding="utf-8")
    with pytest.raises(UsageError, match=r"line 3 is .*expected a JSON string"):
        read_turns(path)


def test_a_file_of_turns_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        read_turns(tmp_path / "none")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="no UTF-8"):
        read_turns(tmp_path / "bytes")


def test_after_the_end_no_turn_is_played_and_turns_can_still_be_saved(tmp_path: Path) -> None:
    session = _session(max_turns=2)
    paper = _play(session, "task list", "task list", "task list", f":save {tmp_path / 't'}", first=())
    assert len(session.turns) == 2
    assert ["The episode is over." in said for said in paper.said] == [True, True, False]
    assert len(read_turns(tmp_path / "t")) == 2


def test_a_replay_ends_with_the_episode() -> None:
    session = _session(max_turns=2)
    paper = _play(session, first=["task list"] * 5)
    assert len(session.turns) == 2
    assert len(paper.said) == 1


def test_what_became_of_the_company_is_told() -> None:
    session = _session(max_turns=1)
    assert session.fate == "You left the company on 2025-01-01: after 0 turns, funds $200,000.00."
    session.step("task list")
    assert session.fate == "The episode was truncated (max_turns) on 2025-01-01: after 1 turn, funds $200,000.00."


def test_a_company_that_only_waits_goes_bankrupt() -> None:
    session = _session()
    while session.over is None:
        session.step("sim resume")
    assert session.fate.startswith("The company went bankrupt on 2025-07-01: after ")


def test_a_company_without_costs_survives() -> None:
    config = load_config("default", overrides={"world": {"num_employees": 0}}, environ={})
    session = Session(config, 1, scratchpad=False)
    while session.over is None:
        session.step("sim resume")
    assert session.fate.startswith("The company survived until 2026-01-01: after ")


def test_without_a_scratchpad_its_commands_are_refused() -> None:
    session = _session(scratchpad=False)
    session.step("scratchpad read")
    assert not json.loads(session.observation["results"])[0]["ok"]


TEXTS = [
    "Turn 2 | x",
    '> say "[red]a[/red]"\n{"error":"no \\" x"}',
    'Turn 2\n> a\n{"a":"b","c":[1,-2.5e3,true,null],"d":"\\"x"}\nEvents: [{"type":"x"}]\nScratchpad:\n:smile: {"a":1}',
    "Turn 1\nThe episode is over: max_turns.\n\n",
]


@pytest.mark.parametrize("text", TEXTS)
def test_colours_change_no_character(text: str) -> None:
    assert coloured(text).plain == text


def test_keys_values_and_errors_have_colours_of_their_own() -> None:
    text = coloured('Turn 1\n{"key":"text","n":12,"b":true}\n{"error":"x"}\n> cmd\nThe episode is over: x.')
    styles = {text.plain[span.start : span.end]: str(span.style) for span in text.spans}
    assert styles['"key"'] == "cyan"
    assert styles['"text"'] == "green"
    assert styles["12"] == "yellow"
    assert styles["true"] == "magenta"
    assert styles['{"error":"x"}'] == "red"
    assert styles["> cmd"] == "bold cyan"
    assert styles["Turn 1"] == "bold"


def test_the_colour_screen_prints_the_same_text_without_its_control_characters(
    capsys: pytest.CaptureFixture[str],
) -> None:
    screen = ColourScreen()
    screen.show("Turn 1 " + "x" * 200 + "\n> \x1b[2J[red]")
    screen.say("[b]bye\x07")
    assert capsys.readouterr().out == "Turn 1 " + "x" * 200 + "\n> \\x1b[2J[red]\n[b]bye\\x07\n"


def test_on_a_terminal_the_status_line_breaks_between_words_and_answers_stay_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Narrow(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Narrow()
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setenv("TERM", "xterm")
    status, answer = "Turn 1 | funds $200,000.00 | payroll $38,005.03 a month", '{"help":"' + "x y" * 30 + '"}'
    ColourScreen().show(f"{status}\n{answer}")
    *wrapped, whole = re.sub("\x1b\\[[0-9;]*m", "", stream.getvalue()).splitlines()
    assert whole == answer
    assert " ".join(line.rstrip() for line in wrapped) == status
    assert all(len(line) <= 30 for line in wrapped)


def test_the_plain_screen_writes_texts_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    screen = PlainScreen()
    screen.show("Turn 1 [red]")
    screen.say("bye")
    assert capsys.readouterr().out == "Turn 1 [red]\n\nbye\n"


def test_a_pipe_gives_its_lines_to_the_last_one_without_a_break(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\r\n\nb c\n\xff"), newline=None))
    pipe = Pipe()
    assert [pipe.read(continued=False) for _ in range(5)] == ["a", "", "b c", "\ufffd", None]


# ---- the prompt, with keys instead of a person


def _typed(session: Session, keys: str, history: Path, *, continued: bool = False) -> list[str | None]:
    """What the prompt gives until the keys run out (each run ends with Ctrl-D)."""
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        pipe.send_text(f"{keys}\x04")
        prompt = Prompt(session, history)
        read: list[str | None] = []
        while not read or read[-1] is not None:
            read.append(prompt.read(continued=continued))
        return read


def test_enter_plays_and_control_d_leaves(tmp_path: Path) -> None:
    assert _typed(_session(), "task list\rsim resume\r", tmp_path / "h") == ["task list", "sim resume", None]


def test_alt_enter_begins_a_new_line_of_the_same_turn(tmp_path: Path) -> None:
    assert _typed(_session(), "task list\x1b\rsim resume\r", tmp_path / "h") == ["task list\nsim resume", None]


def test_control_c_throws_away_what_was_typed(tmp_path: Path) -> None:
    assert _typed(_session(), "task\x03sim resume\r", tmp_path / "h") == ["sim resume", None]


def test_the_prompt_completes_from_what_the_game_has_told() -> None:
    session = _session()
    completer = SessionCompleter(session)

    def offered(before: str) -> list[tuple[str, int, str]]:
        completions = completer.get_completions(Document(before), CompleteEvent())
        return [(each.text, each.start_position, each.display_meta_text) for each in completions]

    assert offered("task accept --task-id T") == []
    session.step("market browse --limit 1")
    assert offered("task accept --task-id T") == [("Task-10 ", -1, "market")]
    assert offered("mar") == [("market ", -3, "browse")]


def test_up_brings_back_what_was_typed_in_an_earlier_session(tmp_path: Path) -> None:
    history = tmp_path / "new" / "folder" / "history"
    _typed(_session(), "client list\r", history)
    assert _typed(_session(), "\x1b[A\r", history) == ["client list", None]


@pytest.mark.parametrize("kind", ["folder", "below a file", "zero byte"])
def test_a_history_that_cannot_be_kept_stays_in_memory(kind: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    path = {"folder": tmp_path, "below a file": tmp_path / "file" / "h", "zero byte": tmp_path / "a\0b"}[kind]
    assert _typed(_session(), "client list\r", path) == ["client list", None]
    history = TolerantHistory(path)
    assert list(history.load_history_strings()) == []
    history.append_string("client list")
    assert history.get_strings() == ["client list"]


def test_a_history_of_any_bytes_is_read(tmp_path: Path) -> None:
    path = tmp_path / "h"
    path.write_bytes(b"\xff\xfe\n+caf\xe9\n\n+ok\n")
    assert next(iter(TolerantHistory(path).load_history_strings())) == "ok"


@pytest.mark.parametrize(
    ("platform", "variable", "place"),
    [
        ("linux", "XDG_STATE_HOME", "ycbench/history"),
        ("win32", "LOCALAPPDATA", "ycbench/history"),
    ],
)
def test_history_lies_where_the_platform_keeps_state(
    platform: str, variable: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv(variable, str(tmp_path))
    assert history_path() == tmp_path / place


@pytest.mark.parametrize(
    ("platform", "place"),
    [
        ("linux", ".local/state/ycbench/history"),
        ("darwin", "Library/Application Support/ycbench/history"),
        ("win32", "AppData/Local/ycbench/history"),
    ],
)
def test_history_lies_in_the_home_where_no_variable_says_else(
    platform: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr("pathlib.Path.home", lambda: tmp_path)
    for name in ("XDG_STATE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    assert history_path() == tmp_path / place


def test_a_user_without_a_home_has_no_history_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError

    monkeypatch.setattr("pathlib.Path.home", homeless)
    assert history_path() is None
