"""The table, what is made from it, and variants of it."""

import copy
import datetime as dt
import pickle
from pathlib import Path

import attrs
import pytest

from ycbench_env.actions import (
    DEFAULT_GRAMMAR,
    command_list,
    command_table,
    format_command,
    grammar_for,
    help_text,
    parse_turn,
)
from ycbench_env.testing.tiny import tiny_config
from ycbench_env.types.command import (
    AcceptTask,
    AssignTask,
    BrowseMarket,
    CancelTask,
    Command,
    FinanceLedger,
    Help,
    ReportMonthly,
    WriteScratchpad,
)


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
        (AcceptTask(""), '--task-id got ""'),
        (AcceptTask(3), "means another command"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        (AcceptTask(None), "needs --task-id"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        (AssignTask("T", ()), "the list is empty"),
        (AssignTask("T", ("",)), "the list is empty"),
        (AssignTask("T", ["a"]), "another command"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        (BrowseMarket("Research"), "expected one of research"),
        (BrowseMarket(limit=0), "at least 1"),
        (BrowseMarket(limit=-1), "at least 1"),
        (BrowseMarket(limit=True), '--limit got "True"'),
        (BrowseMarket(limit=10**18), "at most 18"),
        (ReportMonthly(dt.date(2025, 1, 2)), "--from-month got"),
        (FinanceLedger(dt.datetime(2025, 1, 2, tzinfo=dt.UTC)), "--from got"),
        (FinanceLedger("2025-01-02"), "another command"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        (WriteScratchpad("a\ud800"), "another command"),
        (Help(("foo",)), "Unknown command"),
        (Help(("task", "accept", "x")), "another command"),
        ("task list", "no command of type str"),
        (BrowseMarket(required_prestige_lte=3), "another command"),
        (AssignTask("T", employee_id="Emp_1"), "needs --employees"),
    ],
)
def test_a_command_that_no_text_means_is_refused_with_its_value(command: Command, shown: str) -> None:
    with pytest.raises(ValueError, match=shown):
        format_command(command)


def test_the_formatter_asks_for_exactly_one_of_the_alternatives() -> None:
    grammar = grammar_for(tiny_config(assign_by_employee_id=True).world)
    command = AssignTask("T", ("A",))
    assert format_command(command, grammar) == "task assign --task-id T --employees A"
    object.__setattr__(command, "employee_id", "B")
    with pytest.raises(ValueError, match="needs exactly one of --employees, --employee-id"):
        format_command(command, grammar)


def test_a_grammar_is_a_value() -> None:
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        DEFAULT_GRAMMAR.commands = ()  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
    assert copy.deepcopy(DEFAULT_GRAMMAR) is DEFAULT_GRAMMAR
    assert pickle.loads(pickle.dumps(DEFAULT_GRAMMAR)) == DEFAULT_GRAMMAR  # noqa: S301 -- its own bytes
