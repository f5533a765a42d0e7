"""What a turn may be: objects, separators, chains, comments, fences, prompts, backticks, limits."""

import subprocess
import sys
import time

import numpy as np
import pytest

from ycbench_env.actions import MAX_ERROR_LENGTH, MAX_WORDS, parse_turn
from ycbench_env.types.command import AcceptTask, Command, ListTasks, Resume, WriteScratchpad


def commands(action: object) -> list[Command | None]:
    """The commands of a turn, None for each error."""
    return [parsed.command for parsed in parse_turn(action)]


def chained(text: str) -> list[bool]:
    return [parsed.chained for parsed in parse_turn(text)]


def the_error(action: object) -> str:
    (parsed,) = parse_turn(action)
    assert parsed.command is None
    assert parsed.error is not None
    return parsed.error


# ---- objects


def _raise(*_: object) -> object:
    raise RuntimeError


def _hostile(base: type, *names: str) -> type:
    """A type in which these attributes raise."""
    return type("Hostile", (base,), dict.fromkeys(names, property(_raise)))


_HostileObject = _hostile(object, "__class__", "__repr__", "__str__", "__len__", "__iter__", "__eq__", "__bool__", "x")
_HostileType = _hostile(type, "__name__", "mro_entries")
_HostileList = _hostile(list, "__iter__", "__len__", "__getitem__", "copy")
_HostileText = _hostile(str, "__str__", "__len__", "__eq__", "isascii", "strip", "splitlines", "encode")


@pytest.mark.parametrize(
    ("action", "got"),
    [
        (None, "got None"),
        (3, "got int"),
        (b"task list", "got bytes"),
        ({"command": "task list"}, "got dict"),
        (np.array(["task list"]), "got ndarray"),
        ({"task list"}, "got set"),
        (["task list", 3], "got a list that holds int"),
        (("task list", None), "got a tuple that holds None"),
        ([["task list"]], "got a list that holds list"),
        (_HostileObject(), "got Hostile"),
        (_HostileType("Odd", (), {})(), "got Odd"),
    ],
    ids=lambda value: value if type(value) is str else "",
)
def test_what_is_no_text_is_answered_by_one_error_that_names_its_type(action: object, got: str) -> None:
    error = the_error(action)
    assert got in error
    assert "expected" in error


def test_subclasses_of_text_and_list_are_read_whatever_they_redefine() -> None:
    assert commands(_HostileList(["task list"])) == [ListTasks()]
    assert commands(_HostileText("task list")) == [ListTasks()]
    (parsed,) = parse_turn(np.str_("task list"))
    assert type(parsed.text) is str
    assert parsed.command == ListTasks()
    (parsed,) = parse_turn(np.str_("task accept --task-id 'T\u00e9'"))
    assert isinstance(parsed.command, AcceptTask)
    assert type(parsed.command.task_id) is str


@pytest.mark.parametrize("action", ["", "  \n\t", [], (), ["", " "], "# note", ";;\n;", "```\n```", "\\\n# x"])
def test_an_empty_turn_has_no_commands(action: object) -> None:
    assert parse_turn(action) == ()


def test_each_text_of_a_sequence_is_read_by_itself() -> None:
    parsed = parse_turn(["task list &&", "sim resume", 'scratchpad write --content "', "sim resume"])
    assert [(item.command, item.chained) for item in parsed] == [
        (ListTasks(), False),
        (None, True),
        (Resume(), False),
        (None, False),
        (Resume(), False),
    ]


# ---- separators


@pytest.mark.parametrize(
    "separator", ["\n", "\r\n", "\r", "\x85", "\u2028", "\u2029", ";", " ; ", ";;\n\n;", " # it's; a note\n"]
)
def test_commands_are_separated(separator: str) -> None:
    assert commands(f"task list{separator}sim resume") == [ListTasks(), Resume()]
    assert chained(f"task list{separator}sim resume") == [False, False]
    assert [item.text for item in parse_turn(f"task list{separator}sim resume")] == ["task list", "sim resume"]


@pytest.mark.parametrize("separator", ["&&", " && ", "&&\n", " && # note\n\n # note\n", "&& \\\n", "&&\r\n"])
def test_and_and_chains_commands_also_over_the_end_of_its_line(separator: str) -> None:
    text = f"task list{separator}sim resume; task list"
    assert commands(text) == [ListTasks(), Resume(), ListTasks()]
    assert chained(text) == [False, True, False]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("&& task list", [(None, False), (ListTasks(), True)]),
        ("task list &&", [(ListTasks(), False), (None, True)]),
        ("task list && # note", [(ListTasks(), False), (None, True)]),
        ("task list && && sim resume", [(ListTasks(), False), (None, True), (Resume(), True)]),
        ("task list &&; sim resume", [(ListTasks(), False), (None, True), (Resume(), False)]),
        ("task list;&& sim resume", [(ListTasks(), False), (None, False), (Resume(), True)]),
        ("task list\n&& sim resume", [(ListTasks(), False), (None, False), (Resume(), True)]),
    ],
)
def test_and_and_without_a_command_on_each_side_is_an_error(text: str, expected: list[object]) -> None:
    parsed = parse_turn(text)
    assert [(item.command, item.chained) for item in parsed] == expected
    assert all(item.error is None or 'the "&&"' in item.error for item in parsed)


@pytest.mark.parametrize("text", ["task list {} sim resume", "task list{}sim resume", "task list {}", "{} task list"])
@pytest.mark.parametrize("sign", ["|", "||", "&", ">", ">>", "<", "$("])
def test_there_is_no_shell(text: str, sign: str) -> None:
    error = the_error(text.format(sign))
    assert f'"{sign}" at character' in error
    assert "no shell" in error


def test_a_shell_sign_spoils_its_command_only() -> None:
    assert commands("task list > f; sim resume\ntask list") == [None, Resume(), ListTasks()]


# ---- fences, backticks, prompts


@pytest.mark.parametrize(
    "text",
    [
        *(
            "```\n{}\n```",
            "```bash\n{}\n```",
            "```bash  \t\n{}\n```  \n",
            "\n\n ```sh\r\n{}\r\n```\r\n",
            "````\n{}\n````",
        ),
        *("$ {}", "`{}`", "` {} `", "`$ {}`", "$ `{}`", "{} # note", "```sh\n$ `{}`\n```"),
    ],
)
@pytest.mark.parametrize("command", ["yc-bench task list", "task list", 'task list --status "active"'])
def test_a_fence_a_prompt_or_backticks_around_a_command_are_left_out(text: str, command: str) -> None:
    (parsed,) = parse_turn(text.format(command))
    assert isinstance(parsed.command, ListTasks)
    assert parsed.text == command


@pytest.mark.parametrize(
    "text",
    ["`task list; sim resume`", "`task list\nsim resume`", "`task list`\n`sim resume`", "`task list` ; `sim resume`"],
)
def test_backticks_may_surround_one_command_or_all(text: str) -> None:
    assert commands(text) == [ListTasks(), Resume()]


@pytest.mark.parametrize("text", ["`task list", "`task list\nsim resume", "`", "$ `task list; sim resume"])
def test_a_backtick_that_never_closes_refuses_all_from_it_on(text: str) -> None:
    assert "backtick" in the_error(text)
    assert commands(f"sim resume\n{text}") == [Resume(), None]


@pytest.mark.parametrize("text", ["`task list` now", "``task list``", "``", "`scratchpad write --content a`b`"])
def test_backticks_that_surround_no_command_are_an_error(text: str) -> None:
    assert "backtick" in the_error(text)


def test_a_backtick_that_never_closes_keeps_its_chain_and_the_first_mistake_after_it() -> None:
    assert chained("task list && `sim resume; task list") == [False, True]
    assert "inside a word" in the_error("`scratchpad write --content client's late\nsim resume")


def test_a_misplaced_quote_in_backticks_is_told_and_the_next_line_goes_on() -> None:
    first, second = parse_turn("`scratchpad write --content client's late`\nsim resume")
    assert "inside a word" in str(first.error)
    assert second.command == Resume()


@pytest.mark.parametrize(
    "text",
    [
        *("```\ntask list\n```\n\n```\nsim resume\n```", "Here:\n```\nsim resume\n```", "```\nsim resume\n```\nDone."),
        *("I'll do:\n```\nsim resume\n```", "```\nsim resume", "sim resume\n```", "```sim resume```", "```\n"),
        *("```yc-bench task list\nsim resume\n```", "````\nsim resume\n```", "```\nsim resume ```"),
        '```\nsim resume\nscratchpad write --content "abc\n```\n```\nsim resume\n```',
    ],
)
def test_a_fence_that_does_not_surround_the_text_refuses_it_as_a_whole(text: str) -> None:
    assert "Nothing of this text was run" in the_error(text)


def test_a_fence_keeps_fences_inside_quoted_text() -> None:
    note = "plan:\n```\nsim resume\n```"
    assert commands(f'```\nscratchpad write --content "{note}"\nsim resume\n```') == [WriteScratchpad(note), Resume()]


def test_an_unbalanced_quote_in_a_fence_leaves_the_commands_before_it() -> None:
    assert commands('```\nsim resume\nscratchpad write --content "abc\n```') == [Resume(), None]


# ---- limits


def test_a_turn_of_too_many_words_is_refused_as_a_whole_and_a_long_one_is_not() -> None:
    half = "sim resume\n" * (MAX_WORDS // 6)
    assert len(parse_turn(half)) == MAX_WORDS // 6
    for action in ("a " * (MAX_WORDS + 1), [half] * 3, "a;" * (MAX_WORDS // 2 + 1)):
        assert "100,000" in the_error(action)


PIECES = [
    *("a ", "'a',", "'", '"', "\\", "\\\n", "\n", ";", "&&", "x", "`", "#\n", "|", "$(", "```\n", "\u201c", "\u2014"),
    *("a'b\n", "a'b'", '"a"b', "task list --a ", "\u201ca\u201d,", "sim resume\n'a','b'c\n", "--help ", "=", ",", "$ "),
]


@pytest.mark.no_cover
@pytest.mark.parametrize("start", ["", "task assign --task-id T --employees ", "```\n`"])
def test_long_texts_of_anything_are_read_in_linear_time(start: str) -> None:
    for piece in PIECES:
        took: list[float] = []
        for length in (2_000, 16_000):
            text = start + piece * (length // len(piece))
            began = time.process_time()
            for end in ("", '"'):
                parsed = parse_turn(text + end)
                assert all(item.error is None or len(item.error) <= MAX_ERROR_LENGTH for item in parsed)
            took.append(time.process_time() - began)
        # Eight times the text: linear code takes eight times as long, quadratic code 64 times; the rest is noise.
        assert took[1] < 24 * took[0] + 0.5, piece


def test_importing_the_parser_imports_nothing_heavy() -> None:
    program = (
        "import sys, types; package = types.ModuleType('ycbench_env'); package.__path__ = [sys.argv[1]];"
        "sys.modules['ycbench_env'] = package; import ycbench_env.actions as actions; actions.parse_turn('task list');"
        "print([name for name in ('difflib', 'gymnasium', 'hypothesis', 'numpy') if name in sys.modules])"
    )
    import ycbench_env.actions  # noqa: PLC0415 -- for its place

    folder = str(ycbench_env.actions.__path__[0]).removesuffix("actions")
    result = subprocess.run([sys.executable, "-c", program, folder], capture_output=True, text=True, check=True)  # noqa: S603
    assert result.stdout.strip() == "[]"
