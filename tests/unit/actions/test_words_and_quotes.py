"""Quotes, dashes, blanks and escapes."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ycbench_env.actions import ParsedCommand, parse_turn
from ycbench_env.actions.grammar import BLANKS
from ycbench_env.actions.parser import DASHES, DOUBLE_QUOTES, LONG_DASHES, SINGLE_QUOTES, _Reader
from ycbench_env.types.command import AcceptTask, CancelTask, ListTasks, Resume, WriteScratchpad


def only(text: str) -> ParsedCommand:
    (parsed,) = parse_turn(text)
    return parsed


def written(value: str) -> str:
    """What the value of --content, as it stands in the text, is read as."""
    command = only(f"scratchpad write --content {value}").command
    assert isinstance(command, WriteScratchpad)
    return command.content


def refusal(value: str) -> str:
    error = only(f"scratchpad write --content {value}").error
    assert error is not None
    return error


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ('"it\'s fine"', "it's fine"),
        ("'say \"hi\"'", 'say "hi"'),
        ('"a \\"b\\" \\\\ c\\n"', 'a "b" \\ c\\n'),
        ("'C:\\notes\\'", "C:\\notes\\"),
        ('""', ""),
        ("''", ""),
        ('"two\nlines; a && b | c > d $(e) # f"', "two\nlines; a && b | c > d $(e) # f"),
        ('"```\ncode\n```"', "```\ncode\n```"),
        ('"\u201ccurly\u201d \u2014 it\u2019s"', "\u201ccurly\u201d \u2014 it\u2019s"),
        ('"--foo"', "--foo"),
        ("-x", "-x"),
        ("a`b", "a`b"),
        ("a#b", "a#b"),
        ("C:\\dir", "C:dir"),
        ("$5", "$5"),
        ("a\\ b\\;c\\\"d\\\\e\\'f\\|g\\&\\>", "a b;c\"d\\e'f|g&>"),
        ("\\#a", "#a"),
        ('"a\x00b"', "a\x00b"),
    ],
)
def test_a_value_is_read_as_a_shell_would_read_it(value: str, content: str) -> None:
    assert written(value) == content
    # The same after an equals sign.
    assert only(f"scratchpad write --content={value}").command == WriteScratchpad(content)


@pytest.mark.parametrize("mark", DOUBLE_QUOTES)
def test_a_typographic_double_quote_opens_and_closes_a_value(mark: str) -> None:
    assert written(f"{mark}a ; b{mark}") == "a ; b"
    assert written(f'{mark}a ; b"') == "a ; b"
    assert written(f"{mark}it\u2019s a \\{mark}quote\\{mark}{mark}") == f"it\u2019s a {mark}quote{mark}"


@pytest.mark.parametrize("mark", SINGLE_QUOTES)
def test_a_typographic_single_quote_opens_and_closes_a_value(mark: str) -> None:
    assert written(f"{mark}a ; b{mark}") == "a ; b"
    assert written(f"{mark}a \\ b'") == "a \\ b"


def test_an_ascii_quote_is_closed_by_an_ascii_quote_only() -> None:
    assert "never closes" in refusal('"a b\u201d')
    assert "never closes" in refusal("'a b\u2019")


def test_a_quote_inside_a_word_is_named_with_its_place_and_the_next_line_goes_on() -> None:
    first, second = parse_turn("scratchpad write --content client's late\nsim resume")
    assert first.text == "scratchpad write --content client's late"
    assert first.error is not None
    assert "The quote ' at character 34 stands inside a word" in first.error
    assert '--content "client\'s late"' in first.error
    assert "sim resume" not in first.error
    assert second.command == Resume()


def test_what_follows_a_misplaced_quote_on_its_line_is_never_run() -> None:
    assert len(parse_turn("scratchpad write --content client's; sim resume")) == 1
    assert len(parse_turn('scratchpad write --content "He said "hello; sim resume; bye" to me"')) == 1
    assert len(parse_turn('scratchpad write --content "a\nb"c; sim resume')) == 1
    assert len(parse_turn("task list $(x; sim resume)")) == 1


def test_a_chain_goes_on_after_a_line_with_a_misplaced_quote() -> None:
    parsed = parse_turn("scratchpad write --content client's late && \nsim resume\ntask list")
    assert [(item.error is None, item.chained) for item in parsed] == [(False, False), (True, True), (True, False)]
    assert parsed[0].text == "scratchpad write --content client's late"


@pytest.mark.parametrize(
    "text",
    [
        *('it\'s "fine"', "it's", "two\nlines, 'one' \"two\"\n", "won't; can't && 'x' | y", "\\", "", "$(x) `y` # z"),
        "a\u2019b \u201cc\u201d",
    ],
)
def test_whatever_posix_quoting_writes_is_read_back(text: str) -> None:
    assert written(shlex.quote(text)) == text
    assert only(f"scratchpad write --content={shlex.quote(text)}").command == WriteScratchpad(text)
    first, second = parse_turn(f"scratchpad write --content {shlex.quote(text)}; sim resume")
    assert (first.command, second.command) == (WriteScratchpad(text), Resume())


@pytest.mark.parametrize(
    "value",
    [
        *('"a"b', '"a""b"', "'a'\"b\"", '"a"#b', '"a"`', 'a\\,b"c"', "C:'\\My Docs'", "x'a b'y", '"a","b"'),
        *("a'b'c'd'", "a\\\nb"),
    ],
)
def test_quotes_within_a_word_are_read_as_a_shell_reads_them(value: str) -> None:
    if "\n" not in value:
        assert [written(value)] == shlex.split(value)
    assert [written(value.replace("\n", "n"))] == shlex.split(value.replace("\n", "n"))


@given(
    st.lists(
        st.sampled_from(["a", "b c", "'", '"', "\\", "--x", "=", ",", " ", "it's", '"q"', "\\'", "\t", "-"]), max_size=9
    )
)
def test_a_line_that_shlex_reads_means_what_it_means_there(pieces: list[str]) -> None:
    line = "".join(pieces)
    try:
        words = shlex.split(line)
    except ValueError:
        return
    (parsed,) = parse_turn("x " + line)  # no command of these words; what they are is seen in the reader
    assert parsed.error is not None
    assert list(_Reader("x " + line, 100).read()[0][1]) == ["x", *words]


def test_text_behind_a_closed_typographic_quote_is_refused() -> None:
    for value in ("\u201ca\u201d\u201d", "\u2018don\u2019t\u2019", "\u201ca\u201db"):
        assert "without a blank" in refusal(value)


def test_an_apostrophe_of_either_kind_within_a_word_is_text_or_an_error_but_never_cut() -> None:
    assert written("client\u2019s") == "client\u2019s"
    assert 'stray word "late"' in refusal("client\u2019s late")
    assert "stands inside a word" in refusal("client's late")
    assert written("client's; don't") == "clients; dont"  # as any shell reads it


def test_an_unbalanced_quote_takes_the_rest_of_the_text_and_commands_before_it_stand() -> None:
    first, second = parse_turn("task list\ntask cancel --task-id T --reason \"won't make it\nsim resume; task list")
    assert first.command == ListTasks()
    assert second.text == "task cancel --task-id T --reason \"won't make it\nsim resume; task list"
    assert second.error is not None
    assert 'The quote " that opens at character 34 never closes' in second.error
    assert '--reason "changed plan"' in second.error


def test_a_quote_escaped_at_the_end_does_not_close() -> None:
    assert "never closes" in refusal('"abc\\"')


@pytest.mark.parametrize("text", ["scratchpad write --content abc\\", "scratchpad write --content abc\\\n \n", "\\"])
def test_a_text_that_ends_in_a_lone_backslash_is_an_error(text: str) -> None:
    assert "lone backslash" in str(only(text).error)
    assert only(text).text == text.strip()
    assert "lone backslash" in str(only(f"```\n{text}\n```").error)


def test_a_backslash_before_a_line_break_continues_the_line() -> None:
    for line_break in ("\n", "\r\n", "\u2028"):
        assert only(f"task list \\{line_break}  --status active").command == ListTasks("active")
        assert only(f"task list\\{line_break}--status=active").command == ListTasks("active")
        assert only(f"task \\{line_break}\\{line_break} list").command == ListTasks()
    assert only("\\\ntask list").command == ListTasks()
    assert only('task cancel --reason "a"\\\n--task-id T').command == CancelTask("T", "a")
    assert only('scratchpad write --content "a"\\\n').error is not None


@pytest.mark.parametrize("dash", LONG_DASHES)
def test_a_long_dash_before_a_letter_is_two_hyphens(dash: str) -> None:
    assert only(f"task accept {dash}task-id T").command == AcceptTask("T")
    assert only(f"task accept {dash}task{dash}id=T").command == AcceptTask("T")


@pytest.mark.parametrize("dash", DASHES)
def test_every_dash_outside_quotes_is_a_hyphen(dash: str) -> None:
    assert only(f"task accept --task{dash}id Task{dash}3").command == AcceptTask("Task-3")
    assert only(f"task accept {dash}{dash}task-id Task-3").command == AcceptTask("Task-3")
    assert only(f'task accept --task-id "Task{dash}3"').command == AcceptTask(f"Task{dash}3")
    assert 'got "-3"' in str(only(f"market browse --limit {dash}3").error)


@pytest.mark.parametrize("dash", sorted(set(DASHES) - set(LONG_DASHES)))
def test_a_short_dash_alone_begins_no_option(dash: str) -> None:
    assert only(f"task accept {dash}task-id T").error is not None


@pytest.mark.parametrize("blank", BLANKS)
def test_every_blank_outside_quotes_separates_words(blank: str) -> None:
    assert only(
        f"{blank}yc-bench{blank}task{blank}cancel --task-id{blank}T{blank}{blank}--reason{blank}'a{blank}b'{blank}"
    ).command == (CancelTask("T", f"a{blank}b"))


def test_quoted_words_of_a_command_count_as_in_a_shell_but_a_quoted_option_is_a_value() -> None:
    assert only("\"task\" 'list'").command == ListTasks()
    assert "stray word" in str(only('task accept "--task-id" T').error)
    assert only('task accept --task-id "--help"').command == AcceptTask("--help")


def test_lone_surrogates_become_replacement_characters() -> None:
    parsed = only('scratchpad write --content "a\ud800b\udfff"')
    assert parsed.command == WriteScratchpad("a\ufffdb\ufffd")
    assert parsed.text == 'scratchpad write --content "a\ufffdb\ufffd"'
