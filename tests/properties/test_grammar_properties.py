"""Properties of the command language that hold for every text."""

from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from ycbench_env.actions import (
    DEFAULT_GRAMMAR,
    MAX_ERROR_LENGTH,
    Grammar,
    ParsedCommand,
    format_command,
    grammar_for,
    parse_turn,
)
from ycbench_env.config import load_config
from ycbench_env.testing.strategies import (
    Turn,
    any_texts,
    hostile_actions,
    hostile_texts,
    turns,
    valid_commands,
)
from ycbench_env.types.command import AppendScratchpad, ListTasks, Resume

PLAIN_FRAGMENTS = (
    *("yc-bench ", "task ", "list", "accept ", "assign ", "sim resume", "market browse ", "finance ledger "),
    *("--employee-id ", "--employee-id=Emp_1 ", "--required-prestige-lte 3 "),
    *("--task-id ", "--task-id=", "T-1 ", "--employees ", "--employees=", "Emp_1", "Emp_4,", ",", "=", "-", "--", " "),
    *("--limit 5 ", "--limit=0 ", "--from 2025-01-02 ", "--to=02/03/2025 ", "--help ", "\n", "\r\n", "\r", "x ", "1"),
)
GRAMMARS = (DEFAULT_GRAMMAR, grammar_for(load_config("classic-hard", environ={}).world))


def check_form(parsed: tuple[ParsedCommand, ...]) -> None:
    for item in parsed:
        assert (item.command is None) != (item.error is None)
        item.text.encode()
        if item.error is not None:
            assert 0 < len(item.error) <= MAX_ERROR_LENGTH
            assert "Traceback" not in item.error
            item.error.encode()


@given(hostile_actions())
def test_any_object_is_answered_and_every_answer_is_a_command_or_an_error(action: object) -> None:
    parsed = parse_turn(action)
    assert isinstance(parsed, tuple)
    check_form(parsed)


@given(st.data(), st.sampled_from(GRAMMARS))
def test_what_the_formatter_writes_the_parser_reads_back(data: st.DataObject, grammar: Grammar) -> None:
    command = data.draw(valid_commands(grammar))
    text = format_command(command, grammar)
    assert parse_turn(text, grammar) == (ParsedCommand(text, command, None, chained=False),)


@given(any_texts())
def test_no_text_in_quotes_is_altered_or_ends_the_command(content: str) -> None:
    for text in (f"scratchpad append --content={_double(content)}", f"scratchpad append --content {_double(content)}"):
        assert [item.command for item in parse_turn(text + "; sim resume")][:-1] == [AppendScratchpad(content)]


def _double(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@given(st.data(), st.sampled_from(GRAMMARS))
def test_every_spelling_of_a_command_means_the_same(data: st.DataObject, grammar: Grammar) -> None:
    turn = data.draw(turns(grammar))
    parsed = parse_turn(turn.text, grammar)
    assert tuple(item.command for item in parsed) == turn.commands, [item.error for item in parsed]


@given(turns())
def test_a_fence_around_a_turn_changes_nothing(turn: Turn) -> None:
    parsed = parse_turn(turn.text)
    for before, after in (("```\n", "\n```"), ("```bash \r\n", "\r\n```\n"), ("\n````sh\n", "\n````  ")):
        assert parse_turn(before + turn.text + after) == parsed


@given(turns())
def test_a_sequence_is_read_text_by_text(turn: Turn) -> None:
    once = parse_turn(turn.text)
    assert parse_turn([turn.text, turn.text]) == parse_turn((turn.text, turn.text)) == once + once


@given(st.lists(st.sampled_from(PLAIN_FRAGMENTS), max_size=10).map("".join), st.sampled_from(GRAMMARS))
def test_the_fast_path_and_the_slow_path_agree(text: str, grammar: Grammar) -> None:
    with mock.patch("ycbench_env.actions.parser._usual_command", return_value=None):
        slow = parse_turn([text + " #"], grammar)  # a comment needs the reader, and a list is not kept
    assert parse_turn(text, grammar) == slow


@given(st.one_of(hostile_texts(), turns().map(lambda turn: turn.text)))
def test_of_any_text(text: str) -> None:
    parsed = parse_turn(text)
    check_form(parsed)
    assert parse_turn(text) == parsed
    # The text of an understood command means that command alone, and it can be written canonically.
    for command in (item.command for item in parsed if item.command is not None):
        assert parse_turn(format_command(command)) == (
            ParsedCommand(format_command(command), command, None, chained=False),
        )
    for item in parsed:
        assert item.command is None or [again.command for again in parse_turn(item.text)] == [item.command]
    # Only a command after && is chained.
    assert not parsed or not parsed[0].chained
    assert sum(item.chained for item in parsed) <= text.count("&&")
    # Commands before it do not depend on it, unless a fence somewhere refuses the whole text.
    after = parse_turn("sim resume\ntask list\n" + text)
    assert len(after) == 1 or [item.command for item in after[:2]] == [Resume(), ListTasks()]
