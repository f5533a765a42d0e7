"""Settings that came after the first version: off by default, set from anywhere, and no trace where they are off."""

from __future__ import annotations

import json
from typing import Any

import attrs
import pytest
from hypothesis import given, settings

from ycbench_env.config import FIELDS, Config, WorldConfig, load_config
from ycbench_env.config.kind import BoolKind, CapKind, ChoiceKind
from ycbench_env.config.setting import Setting, annotation_of
from ycbench_env.errors import ConfigError
from ycbench_env.testing.config_strategies import valid_configs

DIGESTS = {
    "default": "213cda404a8a372751bb40187be8f37197f22c9bb886fbee53350480790a9304",
    "reference": "f2e11c713a910827d802634d85fb12b26f3d345d58405d8f64ca239aeef22e25",
}
"""Of the presets as they were before any setting was added; records hold them."""

LATER: dict[str, Any] = {
    field.name: setting.neutral
    for field in attrs.fields(WorldConfig)
    if isinstance(setting := annotation_of(field)[1], Setting) and setting.neutral is not ...
}

NEUTRAL: dict[str, Any] = {
    "employee_skill_sampling": "uniform",
    "skill_rates_visible": True,
    "market_prestige_ladder": (1,) * 10,
    "task_draw_order": "prestige_first",
    "task_domain_sampling": "specialty_first",
    "replacement_prestige": "same",
    "replacement_numbering": "slot",
    "refill_at": "accept",
    "prestige_gate": "required_domains",
    "min_task_qty": 200,
    "max_open_tasks": None,
    "market_browse_scope": "acceptable",
    "assign_by_employee_id": False,
    "resume_stops_at_payroll": True,
    "resume_requires_active_task": True,
    "salary_raise_basis": "tier_midpoint",
    "adversarial_inflation_passes": 1,
    "deadline_basis": "largest",
}
"""Written out here too, because a digest in a record stands on each of them."""

CHANGED = {
    "employee_skill_sampling": "gamma_budget",
    "skill_rates_visible": False,
    "market_prestige_ladder": [1, 1, 1, 1, 2, 2, 2, 3, 3, 4],
    "task_draw_order": "requirements_first",
    "task_domain_sampling": "uniform",
    "replacement_prestige": "drawn",
    "replacement_numbering": "episode",
    "refill_at": "completion",
    "prestige_gate": "highest",
    "min_task_qty": 1,
    "max_open_tasks": 7,
    "market_browse_scope": "all",
    "assign_by_employee_id": True,
    "resume_stops_at_payroll": False,
    "resume_requires_active_task": False,
    "salary_raise_basis": "current_salary",
    "adversarial_inflation_passes": 2,
    "deadline_basis": "sum",
}
"""Another value of each."""


def loaded(**world: object) -> Config:
    return load_config({"world": world}, environ={})


@pytest.mark.parametrize("name", DIGESTS)
def test_a_preset_keeps_the_digest_that_it_had_before_settings_were_added(name: str) -> None:
    assert load_config(name, environ={}).digest() == DIGESTS[name]


def test_a_later_setting_is_neutral_by_default() -> None:
    assert LATER == NEUTRAL
    assert {name: getattr(loaded().world, name) for name in LATER} == LATER
    assert {f"world.{name}" for name in LATER} <= {field.key for field in FIELDS}


def test_a_later_setting_stands_in_the_dictionary_also_where_it_is_neutral() -> None:
    assert loaded().to_dict()["world"]["max_open_tasks"] == 0
    assert loaded().to_dict()["world"]["replacement_numbering"] == "slot"
    assert load_config(loaded().to_dict(), environ={}) == loaded()


@pytest.mark.parametrize("name", NEUTRAL)
def test_a_later_setting_that_is_set_changes_the_digest_from_wherever_it_is_set(name: str) -> None:
    value = CHANGED[name]
    config = loaded(**{name: value})
    assert config.to_dict()["world"][name] == value
    assert config.digest() != DIGESTS["default"]
    text = value if isinstance(value, str) else json.dumps(value)  # which is TOML too
    told = load_config("default", environ={f"YCBENCH_WORLD__{name.upper()}": text})
    laid_over = load_config("default", overrides={"world": {name: value}}, environ={})
    assert config.digest() == told.digest() == laid_over.digest()


@pytest.mark.parametrize("value", [0, None])
def test_a_limit_of_open_tasks_that_is_zero_or_missing_is_none(value: object) -> None:
    assert loaded(max_open_tasks=value).world.max_open_tasks is None
    assert loaded(max_open_tasks=value).digest() == DIGESTS["default"]


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("max_open_tasks", -1, "expected a whole number, 0 to 1_000_000; 0 = no limit"),
        ("max_open_tasks", 2.0, "expected a whole number"),
        ("max_open_tasks", True, "expected a whole number"),
        ("adversarial_inflation_passes", 0, "expected a whole number, 1 to 10"),
        ("adversarial_inflation_passes", 11, "expected a whole number, 1 to 10"),
        ("replacement_numbering", "Episode", 'expected one of "slot", "episode"'),
        ("employee_skill_sampling", "gamma", 'expected one of "uniform", "gamma_budget"'),
        ("task_draw_order", True, 'expected one of "prestige_first", "requirements_first"'),
        ("min_task_qty", 0, "expected a whole number, 1 to 25_000"),
        # An adversarial client inflates work to 25,000 at most, which may not lie below the floor.
        ("min_task_qty", 25_001, "expected a whole number, 1 to 25_000"),
    ],
)
def test_an_illegal_value_of_a_later_setting_is_refused(name: str, value: object, expected: str) -> None:
    with pytest.raises(ConfigError, match=rf"world\.{name} = .*: {expected}"):
        loaded(**{name: value})


def test_random_legal_configurations_take_every_choice_and_do_without_clients_and_caps() -> None:
    seen: dict[str, set[object]] = {}

    @settings(max_examples=50, database=None, derandomize=True, deadline=None)
    @given(valid_configs())
    def look(config: Config) -> None:
        for field in attrs.fields(WorldConfig):
            value = getattr(config.world, field.name)
            seen.setdefault(field.name, set()).add(value)

    look()
    for field in FIELDS:
        if isinstance(field.kind, ChoiceKind | BoolKind):
            values = field.kind.choices if isinstance(field.kind, ChoiceKind) else (True, False)
            assert seen[field.key.removeprefix("world.")] == set(values)
        elif isinstance(field.kind, CapKind):
            assert "none" in (drawn := seen[field.key.removeprefix("world.")])
            assert len(drawn) > 1
    for name, neutral in (("num_clients", 0), ("market_prestige_ladder", ()), ("min_task_qty", 1)):
        assert neutral in seen[name]
        assert len(seen[name]) > 3
