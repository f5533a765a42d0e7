"""Which commands a world knows, by its rules. Source: K-1.1, K-1.2, K-3."""

from __future__ import annotations

import copy
import itertools
import pickle

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
from ycbench_env.types.command import AssignTask, BrowseMarket, Command, ListTasks

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
    assert command_list(CLASSIC).splitlines() == [
        "company status",
        "employee list",
        "market browse [--domain DOMAIN] [--reward-min-cents N] [--limit N] [--offset N] [--required-prestige-lte N]",
        "task list [--status STATUS]",
        "task inspect --task-id TASK",
        "task accept --task-id TASK",
        "task assign --task-id TASK (--employees NAMES | --employee-id NAME)",
        "task dispatch --task-id TASK",
        "task cancel --task-id TASK --reason TEXT",
        "finance ledger [--from DATE] [--to DATE] [--category CATEGORY]",
        "report monthly [--from-month MONTH] [--to-month MONTH]",
        "sim resume",
        "scratchpad read",
        "scratchpad write --content TEXT",
        "scratchpad append --content TEXT",
        "scratchpad clear",
    ]


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


@pytest.mark.parametrize(("employees", "employee_id"), [(None, None), (("A",), "B")])
def test_a_program_names_employees_in_exactly_one_way(
    employees: tuple[str, ...] | None, employee_id: str | None
) -> None:
    with pytest.raises(ValueError, match=r"AssignTask: got employees=.* and employee_id=.*; expected exactly one"):
        AssignTask("T", employees, employee_id)


def test_help_tells_that_skills_are_hidden_by_not_promising_them() -> None:
    assert "skill" in help_text(("employee", "list"))
    assert help_text(("employee", "list"), CLASSIC).startswith("employee list: The team with tiers and salaries\n")


def test_the_table_says_which_options_are_alternatives() -> None:
    assert "| `task assign` | `--employee-id NAME` | the name of an employee, like Emp_1 | one of these |" in (
        command_table(CLASSIC)
    )
