"""The table, what is made from it, and variants of it."""

import copy
import datetime as dt
import itertools
import pickle
from pathlib import Path

import attrs
import pytest

from ycbench_env.actions import (
    DEFAULT_GRAMMAR,
    Grammar,
    command_list,
    command_table,
    format_command,
    grammar_for,
    help_text,
    parse_turn,
)
from ycbench_env.config import load_config
from ycbench_env.testing.tiny import tiny_config
from ycbench_env.types.command import (
    AcceptTask,
    AssignTask,
    BrowseMarket,
    CancelTask,
    Command,
    FinanceLedger,
    Help,
    ListTasks,
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


# ---- the commands of a world. Source: K-1.1, K-1.2, K-3.

CLASSIC = grammar_for(load_config("classic-hard", environ={}).world)


def variant(**settings: object) -> Grammar:
    return grammar_for(tiny_config(**settings).world)


def test_the_usual_rules_have_the_default_commands_themselves() -> None:
    for preset in ("default", "reference"):
        assert grammar_for(load_config(preset, environ={}).world) is DEFAULT_GRAMMAR


def test_equal_rules_share_one_grammar_whatever_else_is_configured() -> None:
    for preset in ("classic-tutorial", "classic-nightmare"):
        assert grammar_for(load_config(preset, environ={}).world) is CLASSIC
    assert variant(num_clients=1) is variant(num_clients=9, efficient_team_size=1) is DEFAULT_GRAMMAR


def test_each_rule_varies_the_table_in_its_own_place() -> None:
    switches = {
        "num_clients": 0,
        "skill_rates_visible": False,
        "market_browse_scope": "all",
        "assign_by_employee_id": True,
    }
    seen: set[str] = set()
    for chosen in itertools.product([False, True], repeat=4):
        changed = {name for name, is_changed in zip(switches, chosen, strict=True) if is_changed}
        grammar = variant(**{name: switches[name] for name in changed})
        text = help_text((), grammar)
        assert ("client list" not in text) == ("num_clients" in changed)
        assert ("skill" not in text) == ("skill_rates_visible" in changed)
        assert ("[--required-prestige-lte N]" in text) == ("market_browse_scope" in changed)
        assert ("(--employees NAMES | --employee-id NAME)" in text) == ("assign_by_employee_id" in changed)
        seen.add(text)
    assert len(seen) == 16


def test_the_classic_commands_stand_in_the_usual_order() -> None:
    usual = [line for line in command_list().splitlines() if not line.startswith("client")]
    usual[2] += " [--required-prestige-lte N]"
    usual[6] = "task assign --task-id TASK (--employees NAMES | --employee-id NAME)"
    assert command_list(CLASSIC).splitlines() == usual
    assert "| `--employee-id NAME` | the name of an employee, like Emp_1 | one of these |" in command_table(CLASSIC)
    assert help_text(("employee", "list"), CLASSIC).startswith("employee list: The team with tiers and salaries\n")


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("task assign --task-id T --employee-id Emp_1", AssignTask("T", employee_id="Emp_1")),
        ("task assign --task-id T --employees Emp_1,Emp_2", AssignTask("T", ("Emp_1", "Emp_2"))),
        ("market browse --limit 5 --required-prestige-lte 3", BrowseMarket(limit=5, required_prestige_lte=3)),
        ("task list", ListTasks()),
    ],
)
@pytest.mark.parametrize("grammar", [CLASSIC, copy.deepcopy(CLASSIC), pickle.loads(pickle.dumps(CLASSIC))])  # noqa: S301
def test_a_variant_has_its_own_commands_and_options(text: str, command: Command, grammar: Grammar) -> None:
    (parsed,) = parse_turn(text, grammar)
    (slowly,) = parse_turn(text + " #", grammar)
    assert parsed.command == slowly.command == command
    assert format_command(command, grammar) == text


@pytest.mark.parametrize("option", ["--employee-id Emp_1", "--employee-id=Emp_1"])
def test_the_usual_commands_refuse_the_options_of_other_rules(option: str) -> None:
    (parsed,) = parse_turn(f"task assign --task-id T {option}")
    assert parsed.error is not None
    assert "unknown option" in parsed.error


@pytest.mark.parametrize("text", ["client list", "client history", "client --help", "client list --help"])
def test_a_world_without_clients_lists_what_there_is_instead(text: str) -> None:
    (parsed,) = parse_turn(text, CLASSIC)
    assert "Unknown command" in str(parsed.error)
    assert "The commands are: company status, employee list" in str(parsed.error)
    assert "client" not in str(parsed.error).partition("(case matters)")[2]


@pytest.mark.parametrize("options", ["", " --employees A --employee-id B"])
def test_exactly_one_of_the_alternatives_must_be_given(options: str) -> None:
    (parsed,) = parse_turn("task assign --task-id T" + options, CLASSIC)
    assert "needs exactly one of --employees, --employee-id" in str(parsed.error)
