"""The table, what is made from it, and variants of it."""

import datetime as dt
from pathlib import Path

import attrs
import pytest

from ycbench_env.actions import (
    DEFAULT_GRAMMAR,
    CommandSpec,
    Grammar,
    Kind,
    OptionSpec,
    command_list,
    command_table,
    format_command,
    help_text,
    parse_turn,
)
from ycbench_env.types.command import (
    AcceptTask,
    AssignTask,
    BrowseMarket,
    CancelTask,
    Command,
    CompanyStatus,
    FinanceLedger,
    Help,
    ListTasks,
    ReportMonthly,
    WriteScratchpad,
)


@attrs.frozen
class End:
    """A command of a variant."""


@attrs.frozen
class Either:
    """A command of a variant that takes one of two options."""

    one: str | None
    other: str | None


def option(spec_name: str, name: str) -> OptionSpec:
    (spec,) = DEFAULT_GRAMMAR.find(tuple(spec_name.split()))
    return next(option for option in spec.options if option.name == name)


def test_the_commands_and_options_are_those_of_the_rules() -> None:
    assert command_list().splitlines() == [
        "company status",
        "employee list",
        "market browse [--domain DOMAIN] [--reward-min-cents N] [--limit N] [--offset N]",
        "task list [--status STATUS]",
        "task inspect --task-id TASK",
        "task accept --task-id TASK",
        "task assign --task-id TASK --employees NAMES",
        "task dispatch --task-id TASK",
        "task cancel --task-id TASK --reason TEXT",
        "client list",
        "client history",
        "finance ledger [--from DATE] [--to DATE] [--category CATEGORY]",
        "report monthly [--from-month MONTH] [--to-month MONTH]",
        "sim resume",
        "scratchpad read",
        "scratchpad write --content TEXT",
        "scratchpad append --content TEXT",
        "scratchpad clear",
    ]


def test_the_table_in_the_docs_is_the_generated_one() -> None:
    page = (Path(__file__).parents[3] / "docs" / "commands.md").read_text(encoding="utf-8")
    assert f"<!-- table -->\n{command_table()}\n<!-- /table -->" in page


# ---- help


def test_help_lists_commands_those_of_one_word_or_the_options_of_one() -> None:
    assert all(line.split("  ")[0] in help_text(()) for line in command_list().splitlines())
    assert help_text(("client",)).splitlines()[:2] == [
        "client list     Clients with trust and specialties",
        "client history  Tasks done and failed for each client",
    ]
    assert help_text(("task", "cancel")).splitlines() == [
        "task cancel: Give up a task",
        "Usage: task cancel --task-id TASK --reason TEXT",
        "  --task-id TASK  Which task (the id of a task, like Task-3)",
        "  --reason TEXT   Why (text, in quotes unless it is one word)",
    ]
    assert help_text(("company", "status")).splitlines()[-1] == "Usage: company status"


@pytest.mark.parametrize("topic", [("foo",), ("task", "foo"), ("task", "accept", "now")])
def test_help_on_an_unknown_topic_is_a_mistake_of_the_caller(topic: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=r"no help on '.*'; there is help on company"):
        help_text(topic)


# ---- formatting


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (AcceptTask("Task-3"), "task accept --task-id Task-3"),
        (AssignTask("Task-3", ("Emp_1", "Emp_4")), "task assign --task-id Task-3 --employees Emp_1,Emp_4"),
        (AssignTask("T", ("a b", "c,d")), "task assign --task-id T --employees 'a b,c\\,d'"),
        (AssignTask("T", (" a\\ ", " ")), "task assign --task-id T --employees '\\ a\\\\\\ ,\\ '"),
        (CancelTask("T", "no capacity"), 'task cancel --task-id T --reason "no capacity"'),
        (CancelTask("T", ""), 'task cancel --task-id T --reason ""'),
        (WriteScratchpad('say "hi"'), "scratchpad write --content 'say \"hi\"'"),
        (WriteScratchpad('it\'s "\\"'), 'scratchpad write --content "it\'s \\"\\\\\\""'),
        (WriteScratchpad("--x"), 'scratchpad write --content "--x"'),
        (WriteScratchpad("=x"), 'scratchpad write --content "=x"'),
        (FinanceLedger(dt.date(2025, 1, 2)), "finance ledger --from 2025-01-02"),
        (ReportMonthly(month_to=dt.date(987, 1, 1)), "report monthly --to-month 0987-01"),
        (BrowseMarket("research", limit=5, offset=0), "market browse --domain research --limit 5 --offset 0"),
        (Help(), "--help"),
        (Help(("task", "accept")), "task accept --help"),
    ],
)
def test_a_command_is_written_plainly(command: Command, text: str) -> None:
    assert format_command(command) == text
    assert [parsed.command for parsed in parse_turn(text)] == [command]


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (AcceptTask(""), "--task-id cannot say ''"),
        (AcceptTask(3), "--task-id cannot say 3"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        (AcceptTask(None), "needs --task-id, got None"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        (AssignTask("T", ()), r"--employees cannot say \(\)"),
        (AssignTask("T", ("",)), "--employees cannot say"),
        (AssignTask("T", ["a"]), "--employees cannot say"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        (BrowseMarket("Research"), "takes one of research"),
        (BrowseMarket(limit=0), "--limit cannot say 0"),
        (BrowseMarket(limit=-1), "--limit cannot say -1"),
        (BrowseMarket(limit=True), "--limit cannot say True"),
        (BrowseMarket(limit=10**18), "at most 18"),
        (ReportMonthly(dt.date(2025, 1, 2)), "--from-month cannot say"),
        (FinanceLedger(dt.datetime(2025, 1, 2, tzinfo=dt.UTC)), "--from cannot say"),
        (FinanceLedger("2025-01-02"), "--from cannot say"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        (ReportMonthly("2025-01"), "--from-month cannot say"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        (Help(("foo",)), "help topics"),
        (Help(("task", "accept", "x")), "help topics"),
        ("task list", "no command of type str"),
        (BrowseMarket(required_prestige_lte=3), "market browse has no option for required_prestige_lte=3"),
        (AssignTask("T", employee_id="Emp_1"), "task assign has no option for employee_id='Emp_1'"),
    ],
)
def test_a_command_that_no_text_means_is_refused_with_its_value(command: Command, shown: str) -> None:
    with pytest.raises(ValueError, match=shown):
        format_command(command)


# ---- grammars are values


def test_a_grammar_cannot_be_changed() -> None:
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        DEFAULT_GRAMMAR.commands = ()  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(TypeError):
        DEFAULT_GRAMMAR.entries["task"] = {}  # type: ignore[index]  # pyright: ignore[reportIndexIssue]
    with pytest.raises(TypeError):
        DEFAULT_GRAMMAR.entries["task"]["list"].options["--x"] = None  # type: ignore[index]  # pyright: ignore[reportIndexIssue]


@pytest.mark.parametrize(("one", "other", "count"), [(None, None, 0), ("A", "B", 2)])
def test_the_formatter_asks_for_exactly_one_of_the_alternatives(one: str | None, other: str | None, count: int) -> None:
    names = ("one", "other")
    options = tuple(OptionSpec(f"--{name}", name, Kind("text"), "X", "x") for name in names)
    grammar = Grammar((CommandSpec(("do", "either"), Either, "x", options, ("--one", "--other")),))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match=f"needs exactly one of --one, --other, got {count} of them"):
        format_command(Either(one, other), grammar)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("options", "one_of", "shown"),
    [
        ((OptionSpec("--x", "nothing", Kind("text"), "X", ""),), (), "--x fills 'nothing'"),
        ((OptionSpec("-x", "task_id", Kind("text"), "X", ""),), (), "named like --task-id, got '-x'"),
        ((OptionSpec("--x=", "task_id", Kind("text"), "X", ""),), (), "named like --task-id"),
        ((OptionSpec("--x", "task_id", Kind("text"), "X", ""),) * 2, (), "options must differ"),
        ((OptionSpec("--x", "task_id", Kind("text"), "X", ""),), ("--y",), "one_of must name"),
    ],
)
def test_a_line_that_cannot_work_is_refused(
    options: tuple[OptionSpec, ...], one_of: tuple[str, ...], shown: str
) -> None:
    with pytest.raises(ValueError, match=shown):
        CommandSpec(("task", "accept"), AcceptTask, "x", options, one_of)


def test_a_grammar_has_each_verb_and_each_type_once() -> None:
    first = CommandSpec(("a", "b"), CompanyStatus, "x")
    with pytest.raises(ValueError, match="each verb once"):
        Grammar((first, CommandSpec(("a", "b"), ListTasks, "x")))
    with pytest.raises(ValueError, match="each command_type once"):
        Grammar((first, CommandSpec(("a", "c"), CompanyStatus, "x")))
