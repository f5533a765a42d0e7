"""The system prompt says what is so, and nothing that an agent must not know (B28, B42, B47).

After a change that is meant: ``python tests/unit/llm/test_prompt.py`` writes the golden prompt anew; read the diff.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ycbench_agents.llm.prompt import PLACEHOLDERS, TemplateError, default_template, system_prompt, with_notes
from ycbench_env import Config, load_config, preset_names
from ycbench_env.actions import DEFAULT_GRAMMAR, command_list, grammar_for, parse_turn
from ycbench_env.testing.strategies import valid_configs

GOLDEN: Final = Path(__file__).parent / "test_prompt_default.txt"
CONFIG: Final = load_config("default", environ={})

# fmt: off
TOLD: Final[dict[str, dict[str, Any]]] = {
    "sim": {"company_name": "Other Inc.", "start_date": "2026-03-02", "horizon_years": 3},
    "loop": {"auto_advance_after_turns": 7, "max_turns": 321},
    "world": {
        "workday_start_hour": 8, "workday_end_hour": 17, "num_employees": 5, "initial_funds_cents": 12345678,
        "max_open_tasks": 6, "market_browse_default_limit": 33, "salary_bump_pct": 0.07, "salary_max_cents": 7654321,
        "prestige_min": 0.5, "prestige_max": 12.5, "prestige_decay_per_day": 2.5e-05,
        "penalty_fail_multiplier": 2.25, "penalty_fail_funds_pct": 0.29, "penalty_cancel_multiplier": 3.5,
        "trust_max": 4.0, "trust_build_rate": 3.0, "trust_fragility": 0.7, "trust_focus_pressure": 0.9,
        "trust_work_reduction_max": 0.35, "task_progress_milestones": [0.25, 0.5], "num_clients": 0,
        "skill_rates_visible": False, "prestige_gate": "highest", "market_browse_scope": "all",
        "assign_by_employee_id": True, "resume_stops_at_payroll": False, "resume_requires_active_task": False,
        "salary_raise_basis": "current_salary",
    },
}
"""Settings that an agent is told, each with another value; of clients, that there are none."""
# fmt: on


def prompt(config: Config = CONFIG, **changes: Any) -> str:  # noqa: ANN401 -- arguments of many types
    """Return a prompt that differs from the default one in the arguments named."""
    arguments: dict[str, Any] = {"keep_turns": 20, "token_budget": None, "tools": True, "notes": True, **changes}
    return system_prompt(config, **arguments)


def with_settings(changes: dict[str, Any]) -> Config:
    """Return the default configuration with some settings changed, by dotted key."""
    tables: dict[str, Any] = {}
    for key, value in changes.items():
        *path, name = key.split(".")
        table = tables
        for part in path:
            table = table.setdefault(part, {})
        table[name] = value
    return load_config("default", overrides=tables, environ={})


def test_the_default_prompt_is_the_golden_one_and_notes_follow_it_as_they_are() -> None:
    assert with_notes(prompt(), "") + "\n" == GOLDEN.read_text(encoding="utf-8")
    notes = "{company} $100 & <b>\n## Commands\n\N{GRINNING FACE}  "
    assert with_notes("system", notes) == f"system\n\n## Your notes\n\n{notes}"


@pytest.mark.parametrize(
    ("key", "value"), [(f"{table}.{name}", value) for table, told in TOLD.items() for name, value in told.items()]
)
def test_a_setting_that_is_told_changes_the_prompt(key: str, value: object) -> None:
    assert prompt(with_settings({key: value})) != prompt()


@given(valid_configs(small=False))
@settings(max_examples=20)
def test_no_other_setting_changes_the_prompt(drawn: Config) -> None:
    tables = {table: {name: getattr(getattr(CONFIG, table), name) for name in told} for table, told in TOLD.items()}
    tables["world"]["initial_prestige_level"] = 3.5
    changes = {table: attrs.evolve(getattr(drawn, table), **values) for table, values in tables.items()}
    assert prompt(attrs.evolve(drawn, **changes)) == prompt()


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("loop.auto_advance_after_turns", 9, "After 9 turns in a row"),
        ("loop.auto_advance_after_turns", 1, "After 1 turn in a row"),
        ("loop.max_turns", 1500, "cut off after 1,500 turns"),
        ("world.max_open_tasks", 4, "You can hold 4 tasks at once, planned and active ones together; more are not"),
        ("world.max_open_tasks", 1, "You can hold 1 task at once"),
        ("sim.horizon_years", 2, "ends after 2 years"),
        ("sim.start_date", "2027-05-04", "starts on 2027-05-04 at 09:00"),
        ("world.initial_funds_cents", 123_456_705, "$1,234,567.05"),
        ("world.num_employees", 1, "1 employee,"),
        ("world.num_employees", 0, "no employees"),
        ("world.workday_end_hour", 24, "from 09:00 to 24:00"),
        ("world.workday_start_hour", 7, "paid at 07:00"),
        ("world.penalty_fail_funds_pct", 0.07, "a fee of 7% of its reward"),
        ("world.penalty_fail_multiplier", 0.8, "0.8 times its prestige gain"),
        ("world.penalty_cancel_multiplier", 2.0, "costs 2 times its prestige gain"),
        ("world.salary_bump_pct", 0.29, "by 29% of the middle"),
        ("world.prestige_decay_per_day", 0.000025, "falls by 0.000025 a day"),
        ("world.trust_fragility", 0.001, "Trust falls by 0.00003 a day"),
        ("world.trust_build_rate", 3.0, "earns up to 2.667 of it"),
        ("world.task_progress_milestones", [0.25, 0.5, 1.0], "when 25%, 50% and 100% of a task's work"),
        ("sim.company_name", "", "You run a company without a name, a startup"),
        (
            "world.skill_rates_visible",
            False,
            "no command shows these: learn them from how fast a team's tasks progress",
        ),
        ("world.prestige_gate", "highest", "which your highest prestige of all domains must reach"),
        ("world.market_browse_scope", "all", "shows all its tasks, also those that you could not accept yet"),
        ("world.assign_by_employee_id", True, "give exactly one"),
        ("world.salary_raise_basis", "current_salary", "by 1% of what it is at that time, up to $100,000.00 a month"),
        ("world.salary_max_cents", "none", "by 1% of the middle of their tier's range.\n"),
        ("world.resume_requires_active_task", False, "needs no active task, and leads to the next event: a completed"),
        ("world.resume_stops_at_payroll", False, "needs an active task, pays the salaries that are due on the way"),
    ],
)
def test_a_setting_is_told_as_it_is(key: str, value: object, text: str) -> None:
    assert text in prompt(with_settings({key: value}))
    assert text not in prompt()


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"world.salary_bump_pct": 0}, "raises the salary"),
        ({"loop.auto_advance_after_turns": 0}, "moved to the next event by itself"),
        ({"world.trust_fragility": 0}, "Trust falls"),
        ({"world.trust_focus_pressure": 0}, "every other client"),
        ({"world.trust_build_rate": 0}, "A success earns"),
        ({"world.trust_work_reduction_max": 0}, "smaller"),
        ({"world.penalty_fail_funds_pct": 0}, "a fee of"),
        ({"world.task_progress_milestones": [0.5]}, "Nothing else stops it"),
        ({"world.penalty_cancel_multiplier": 0, "world.trust_fragility": 0}, "costs no money, but"),
        ({"world.skill_rates_visible": False}, "rates in each domain. Somebody"),
        ({"world.prestige_gate": "highest"}, "in all of its domains"),
        ({"world.market_browse_scope": "all"}, "only what you could accept now"),
        ({"world.resume_requires_active_task": False}, "needs an active task"),
        ({"world.resume_stops_at_payroll": False}, "a payroll or the end"),
        ({"world.salary_max_cents": "none"}, "up to $"),
    ],
)
def test_a_rule_that_does_not_hold_is_not_told(changes: dict[str, Any], text: str) -> None:
    assert text in prompt()
    assert text not in prompt(with_settings(changes))


@pytest.mark.parametrize(
    ("keep_turns", "token_budget", "text"),
    [
        (20, None, "You see your last 20 turns. Earlier ones are removed whole."),
        (1, None, "You see your last turn. Earlier"),
        (0, 500, "You see nothing of earlier turns"),
        (None, None, "You see all of your turns."),
        (None, 12_000, "You see as many of your last turns as fit, with this message, into about 12,000 tokens."),
        (30, 12_000, "your last 30 turns, fewer if they do not fit, with this message, into about 12,000 tokens."),
    ],
)
def test_the_window_is_told_as_it_is(keep_turns: int | None, token_budget: int | None, text: str) -> None:
    assert text in prompt(keep_turns=keep_turns, token_budget=token_budget)


def test_every_command_stands_in_the_prompt_and_a_model_without_notes_hears_nothing_of_them() -> None:
    assert f"\n{command_list()}\n" in prompt()
    without = prompt(notes=False)
    assert f"\n{command_list(DEFAULT_GRAMMAR.without_command('scratchpad'))}\n" in without
    assert "scratchpad" not in without.lower()
    assert "note" not in without.lower()


@pytest.mark.parametrize("preset", ["default", "classic-hard"])
def test_every_command_in_the_prompt_runs(preset: str) -> None:
    """B42: the forms of the list, with their options filled in, are commands of the environment."""
    grammar = grammar_for(load_config(preset, environ={}).world)
    values = {
        "DOMAIN": "research", "N": "1", "STATUS": "planned", "TASK": "Task-1", "NAMES": "Emp_1, Emp_2", "NAME": "Emp_1",
        "TEXT": '"some words"', "DATE": "2025-01-01", "CATEGORY": "task_reward", "MONTH": "2025-01",
    }  # fmt: skip
    listed = prompt(load_config(preset, environ={})).partition("## Commands\n\n")[2].partition("\n\n")[0]
    assert len(listed.splitlines()) == len(grammar.commands)
    filled = re.sub(r"\b[A-Z]{1,8}\b", lambda match: values[match[0]], listed)
    one_of_each = [re.sub(r"\((.*) \| (.*)\)", rf"\{number}", filled) for number in (1, 2)]
    for command in re.sub(r"[\[\]]", "", "\n".join(one_of_each)).splitlines():
        [parsed] = parse_turn(command, grammar)
        assert parsed.error is None, command


@pytest.mark.parametrize("preset", preset_names())
def test_every_preset_has_a_prompt_without_an_open_placeholder(preset: str) -> None:
    text = prompt(load_config(preset, environ={}))
    assert not re.search(r"[{}]|None|\b[0-9]e-", text)
    assert not re.search(r"[ \t]\n|  ", text)


@pytest.mark.parametrize("stops", [True, False])
@pytest.mark.parametrize("needs", [True, False])
@pytest.mark.parametrize("forced", [0, 5])
def test_what_becomes_of_an_idle_company_is_told_where_no_payroll_stops_time(
    stops: bool,
    needs: bool,
    forced: int,
) -> None:
    changes = {"world.resume_stops_at_payroll": stops, "world.resume_requires_active_task": needs}
    text = prompt(with_settings({**changes, "loop.auto_advance_after_turns": forced}))
    assert ("with nothing active runs to the end" in text) == (not stops and (not needs or forced > 0))
    assert ("moved by itself with nothing active" in text) == (not stops and needs and forced > 0)
    assert ("also when it is moved by itself" in text) == (not stops and not needs and forced > 0)


# ---------------------------------------------------------------- templates


def test_the_built_in_template_uses_every_placeholder_once() -> None:
    assert prompt(template=default_template()) == prompt()
    assert sorted(re.findall(r"\{(\w+)\}", default_template())) == sorted(PLACEHOLDERS)


@pytest.mark.parametrize("text", ["{ company }", "{}", "{0}", "{company.name}", "{company!r}", "$5 $company $$", "%s"])
def test_other_braces_and_signs_are_text(text: str) -> None:
    assert prompt(template=f"a {text} b") == f"a {text} b"


def test_a_doubled_placeholder_and_braces_in_what_one_stands_for_are_text() -> None:
    template = "{{company}} {company} {{unknown}} {{{company}}}"
    assert prompt(template=template) == "{company} BenchCo {unknown} {{company}}"
    named = with_settings({"sim.company_name": "{commands}{nothing}"})
    assert prompt(named, template="{company}") == "{commands}{nothing}"


@pytest.mark.parametrize("name", ["unknown", "Company", "__class__", "_costs", "config"])
def test_an_unknown_placeholder_is_refused_with_the_known_ones(name: str) -> None:
    with pytest.raises(TemplateError, match=rf"got \{{{name}\}}, expected one of ") as caught:
        prompt(template=f"x {{{name}}}")
    assert all(f"{{{known}}}" in str(caught.value) for known in PLACEHOLDERS)
    assert f"write {{{{{name}}}}} for the text" in str(caught.value)


@given(st.text(st.sampled_from("{}$ab_ \n"), max_size=30))
def test_any_template_gives_a_prompt_or_a_template_error(text: str) -> None:
    try:
        result = prompt(template=text)
    except TemplateError as error:
        assert str(error).startswith("template: got {")  # noqa: PT017 -- either is right, and each has its form
    else:
        assert result == re.sub(r"\{(\{\w+\})\}", r"\1", text).rstrip()


if __name__ == "__main__":
    GOLDEN.write_text(with_notes(prompt(), "") + "\n", encoding="utf-8", newline="\n")
