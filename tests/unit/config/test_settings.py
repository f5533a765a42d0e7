"""Settings as values: what each takes and refuses, what must agree, what follows from them, and their digest."""

import copy
import datetime as dt
import json
import math
import pickle
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ycbench_env.config import FIELDS, Config, Triangular, WorldConfig, load_config
from ycbench_env.config.kinds import setting_of
from ycbench_env.config.loading import VARIABLES
from ycbench_env.config.settings import DERIVED, LEAVES, NO_EFFECT, TABLES
from ycbench_env.errors import ConfigError
from ycbench_env.testing.strategies import valid_configs

DEFAULT = load_config(environ={})
SINGLE = {field.key: field for field in FIELDS if field.type != "distribution"}


def tree(key: str, value: object) -> dict[str, Any]:
    for part in reversed(key.split(".")):
        value = {part: value}
    assert isinstance(value, dict)
    return value


def error(tables: object) -> str:
    with pytest.raises(ConfigError) as caught:
        load_config(tables, environ={})  # pyright: ignore[reportArgumentType] -- wrong on purpose
    return str(caught.value)


def world(**values: object) -> WorldConfig:
    return load_config({"world": values}, environ={}).world


# ---------------------------------------------------------------------------------------------------------------- kinds

WRONG: dict[str, list[object]] = {
    "int": [True, "7", "", 7.0, math.nan, [7], {}, np.float64(7), np.True_, 10**400],
    "float": [True, "0.5", math.nan, math.inf, -math.inf, [0.5], 10**400, Fraction(1, 2), np.True_],
    "bool": [0, 1, 0.0, "true", "", None, [True], np.int64(1), np.array([True])],
    "text": [7, None, "x" * 3_000, "a\nb", "\ud800", "a\u2028b", b"x"],
    "choice": ["", "Run", 1, None, ["slot"]],
    "date": [
        *("2025-01-01T09:00:00", "20250101", "2025-W01-1", "2025-1-1", "2025-02-30", "٢٠٢٥-01-01", "1899-12-31", ""),
        *(dt.date(1899, 12, 31), dt.datetime(2025, 1, 1, tzinfo=dt.UTC), dt.time(9), 20250101, None),
    ],
    "list": [[0], [-1], [True], ["1"], [None], [[1]], [10**400], [1] * 10_001, 1, "1", None, {1}, [101]],
}


@pytest.mark.parametrize("type_", WRONG)
def test_a_setting_refuses_what_is_not_of_its_type(type_: str) -> None:
    for key, field in SINGLE.items():
        if type_ == ("list" if field.longest else field.type):
            for value in WRONG[type_]:
                with pytest.raises(ValueError, match=r"^expected "):
                    field.read(value)
            message = error(tree(key, WRONG[type_][0]))
            assert message.startswith(f"argument: {key} = ")
            assert message.endswith(field.range_text)


def test_every_number_has_a_range_whose_ends_are_legal_or_excluded() -> None:
    for leaf in LEAVES.values():
        if leaf.type in {"int", "float"} and not leaf.longest:
            for value, excluded in ((leaf.low, leaf.above), (leaf.high, leaf.below)):
                if not excluded:
                    assert (leaf.read(value) or 0) == value
                for wrong in (value, leaf.low - 1, leaf.high + 1, -(2**63) - 1, 2**200)[not excluded :]:
                    with pytest.raises(ValueError, match=r"^expected "):
                        leaf.read(wrong)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("world.num_employees", -7, "expected a whole number, 0 to 1_000"),
        ("world.deadline_qty_per_day", 0, "expected a finite number, above 0, up to 1_000_000_000"),
        ("world.prestige_min", 1.0005, "at most 3 decimals"),
        ("world.trust_build_rate", 5e-324, "at most 6 decimals"),
        ("world.skill_rate_max", 0, 'expected a finite number, above 0, up to 100; at most 4 decimals, or "none" = no'),
        ("world.efficient_team_size", 4.0, 'expected a whole number, 1 to 1_000, or "none" = no cap'),
        ("world.efficient_team_size", None, '"none" = no cap'),
        ("world.world_seed", "Run", '"run"'),
        ("world.accrual", "midnight", 'expected one of "business_hours", "until_midnight"'),
        ("world.skill_rates_visible", 1, "expected one of true, false"),
        ("loop.max_turns", -1, "expected a whole number, 0 to 1_000_000_000; 0 = no limit"),
        ("sim.company_name", "x" * 201, "expected text, 0 to 200 characters, one line"),
        ("sim.start_date", dt.datetime(2025, 1, 1, tzinfo=dt.UTC), "expected a date, YYYY-MM-DD, from 1900-01-01"),
        ("world.dist.domain_count.value", 5, "from 1 to below 5"),
        ("world.task_progress_milestones", [0.5, 0.5], "expected a list of fractions, strictly ascending, each above"),
        ("world.task_progress_milestones", [step / 10_000 for step in range(1, 102)], "at most 100 of them"),
        ("world.market_prestige_ladder", [0], "a list of whole numbers, each 1 to 100; at most 10_000 of them"),
        # An adversarial client inflates work to 25,000 at most, which may not lie below the floor.
        ("world.min_task_qty", 25_001, "expected a whole number, 1 to 25_000"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_refusal_says_what_was_expected(key: str, value: object, words: str) -> None:
    message = error(tree(key, value))
    assert message.startswith(f"argument: {key} = ")
    assert words in message


@pytest.mark.parametrize(
    ("key", "value", "read"),
    [
        ("world.num_employees", np.int64(3), 3),
        ("world.trust_max", np.uint8(3), 3.0),
        ("world.trust_fragility", np.float64(0.5), 0.5),
        ("world.world_seed", "run", "run"),
        ("world.skill_rate_max", 7, 7.0),
        ("world.salary_max_cents", "none", "none"),
        ("world.skill_rates_visible", np.False_, False),
        ("loop.max_turns", 0, None),
        ("loop.max_turns", None, None),
        ("world.max_open_tasks", None, None),
        ("world.task_progress_milestones", [0.0001, 1], (0.0001, 1.0)),
        ("world.task_progress_milestones", [], ()),
        ("world.market_prestige_ladder", [np.int64(100), 1], (100, 1)),
        ("sim.start_date", "2024-02-29", dt.date(2024, 2, 29)),
        ("sim.start_date", dt.date(1900, 1, 1), dt.date(1900, 1, 1)),
        ("sim.company_name", np.str_("x"), "x"),
        ("world.trust_fragility", -0.0, 0.0),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_legal_value_is_read_as_a_plain_one(key: str, value: object, read: object) -> None:
    got: Any = load_config(tree(key, value), environ={})
    for part in key.split("."):
        got = getattr(got, part)
    assert got == read
    assert (type(got), repr(got)) == (type(read), repr(read))  # with the types of elements, and the sign of 0.0


def test_a_value_made_by_hand_is_checked_at_once() -> None:
    with pytest.raises(ConfigError, match="num_employees = -7: expected a whole number, 0 to 1_000"):
        attrs.evolve(DEFAULT.world, num_employees=-7)
    with pytest.raises(ConfigError, match="low = nan"):
        Triangular(low=math.nan, high=1, mode=1)


# ----------------------------------------------------------------------------------------------------------- agreements


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({"prestige_min": 4, "prestige_max": 3}, "prestige_min <= initial_prestige_level <= prestige_max"),
        ({"initial_prestige_level": 0}, "prestige_min <= initial_prestige_level <= prestige_max"),
        ({"workday_start_hour": 18}, "workday_start_hour < workday_end_hour"),
        ({"salary_mid": {"min_cents": 800_001}}, "min_cents <= max_cents"),
        ({"salary_senior": {"rate_max": 6}}, "rate_min <= rate_max"),
        ({"dist": {"skill_boost": {"low": 0.5}}}, "low <= high"),
        ({"dist": {"required_qty": {"mode": 1600}}}, "low <= mode <= high"),
        ({"deadline_qty_per_day": 5e-324}, "no later than year 9999"),
        ({"deadline_qty_per_day": 0.03, "min_task_qty": 25_000}, "no later than year 9999"),
        # The ladder's 100 makes work of 4 x 1,500 x (1 + 10 x 99) units, at 2 a day nearly 3,000,000 workdays,
        ({"market_prestige_ladder": [100], "prestige_qty_scale": 10, "deadline_qty_per_day": 2}, "than year 9999"),
        # and a reward of 10^7 x (1 + 10 x 99) x (1 + 10 x 4) x 2.5 cents, just above 10^12.
        ({"market_prestige_ladder": [100], "reward_prestige_scale": 10, "trust_gated_reward_boost": 10,
          "dist": {"reward_funds_cents": {"high": 10**7}}}, "largest possible reward at most 1_000_000_000_000 cents"),
        ({"dist": {"reward_funds_cents": {"type": "constant", "value": 10**9},
                   "required_prestige": {"type": "constant", "value": 100}},
          "reward_prestige_scale": 10, "trust_gated_reward_boost": 10}, "largest possible reward"),
    ],
)  # fmt: skip
def test_settings_that_do_not_agree_are_refused_with_all_of_them(tables: object, words: str) -> None:
    message = error({"world": tables})
    assert words in message
    assert "(argument)" in message


def test_a_horizon_past_year_9999_is_refused() -> None:
    for start, years in (("9999-01-01", 1), ("9998-12-31", 1), ("9950-01-01", 50)):
        assert "year 9999" in error({"sim": {"start_date": start, "horizon_years": years}})
    assert load_config({"sim": {"start_date": "9998-06-01"}}, environ={})


def test_an_illegal_value_is_not_asked_to_agree() -> None:
    assert "\n" not in error({"world": {"workday_start_hour": 20, "workday_end_hour": 30}})
    assert "\n" not in error({"world": {"dist": {"required_qty": {"type": "unifrm", "low": 2000}}}})


def test_a_configuration_made_by_hand_must_agree_with_itself() -> None:
    with pytest.raises(ConfigError, match="workday_start_hour < workday_end_hour"):
        attrs.evolve(DEFAULT, world=attrs.evolve(DEFAULT.world, workday_end_hour=9))
    dist = attrs.evolve(DEFAULT.world.dist, required_qty=Triangular(low=0, high=1, mode=1))
    with pytest.raises(ConfigError, match=r"world\.dist\.required_qty\.low = 0\.0"):
        attrs.evolve(DEFAULT, world=attrs.evolve(DEFAULT.world, dist=dist))


# -------------------------------------------------------------------------------------------------------------- derived


def test_trust_follows_from_settings() -> None:
    assert world(trust_max=4.9, trust_build_rate=0.7).trust_gain_base == (1.6 * 4.9) / 0.7 != 1.6 * (4.9 / 0.7)
    assert world(trust_build_rate=0).trust_gain_base == 0.0
    default = DEFAULT.world
    assert (default.trust_fail_penalty, default.trust_cancel_penalty) == (0.6 * 0.3, 0.3)
    assert (default.trust_decay_per_day, default.trust_cross_decay) == (0.03 * 0.3, 0.06 * 0.3)


def test_multipliers_decay_and_milestones_have_the_ratios_that_are_written() -> None:
    for value, ratio in ((1.5, (3, 2)), (0.3, (3, 10)), (1.4, (7, 5)), (0, (0, 1)), (2, (2, 1)), (1e-06, (1, 10**6))):
        made = world(penalty_fail_multiplier=value, penalty_cancel_multiplier=value)
        assert made.penalty_fail_multiplier_ratio == made.penalty_cancel_multiplier_ratio == ratio
    made = world(prestige_decay_per_day=0.004, task_progress_milestones=[0.1, 0.25, 1])
    assert made.prestige_decay_per_day_ratio == (1, 250)
    assert made.milestone_ratios == ((1, 10), (1, 4), (1, 1))


@given(milli=st.integers(0, 100_000), e4=st.integers(1, 1_000_000))
@settings(max_examples=30)
def test_levels_and_rates_are_stored_exactly(milli: int, e4: int) -> None:
    level = milli / 1000
    made = world(prestige_min=level, initial_prestige_level=level, prestige_max=level, skill_rate_max=e4 / 10_000)
    assert (made.prestige_min_milli, made.initial_prestige_milli, made.prestige_max_milli) == (milli,) * 3
    assert made.skill_rate_max_e4 == e4


def test_without_a_cap_the_rules_get_the_largest_exact_number() -> None:
    free = world(efficient_team_size="none", salary_max_cents="none", skill_rate_max="none")
    assert (free.team_size, free.salary_cap_cents, free.skill_rate_max_e4) == (1_000, 10**15, 10**300)
    capped = world(efficient_team_size=3, salary_max_cents=500_000, skill_rate_max=12.5)
    assert (capped.team_size, capped.salary_cap_cents, capped.skill_rate_max_e4) == (3, 500_000, 125_000)


def test_derived_values_cannot_be_set() -> None:
    for key in DERIVED:
        assert f"{key} = 1.0: unknown key; it follows from other settings" in error(tree(key, 1.0))
        assert hasattr(DEFAULT.world, key.removeprefix("world."))


# ------------------------------------------------------------------------------------------- a configuration as a value


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)
@given(config=valid_configs(small=False))
def test_a_configuration_survives_json_toml_and_pickle(tmp_path: Path, config: Config) -> None:
    assert Config.from_dict(json.loads(json.dumps(config.to_dict(), allow_nan=False))) == config
    path = tmp_path / "saved.toml"
    path.write_text(config.to_toml(), encoding="utf-8", newline="\n")
    again = load_config(path, environ={})
    assert (again, hash(again), again.digest()) == (config, hash(config), config.digest())
    assert pickle.loads(pickle.dumps(config)) == copy.deepcopy(config) == config  # noqa: S301 -- made here


def test_from_dict_reads_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("YCBENCH_WORLD__NUM_EMPLOYEES", "4")
    assert Config.from_dict(DEFAULT.to_dict()) == DEFAULT
    assert Config.from_dict({"world": {"num_clients": 3}}).world.num_clients == 3
    with pytest.raises(ConfigError, match="argument: extends = '/etc/passwd': unknown key"):
        Config.from_dict({"extends": "/etc/passwd"})


def test_equality_and_digest_do_not_depend_on_how_numbers_are_written() -> None:
    whole = {"world": {"trust_max": 4, "trust_fragility": 0, "task_progress_milestones": [1]}}
    other = {"world": {"trust_max": 4.0, "trust_fragility": -0.0, "task_progress_milestones": (1.0,)}}
    one, two = load_config(whole, environ={}), load_config(other, environ={})
    assert (one, hash(one), one.digest(), one.to_toml()) == (two, hash(two), two.digest(), two.to_toml())
    assert attrs.evolve(DEFAULT, world=attrs.evolve(DEFAULT.world, **whole["world"])) == one


def test_every_setting_changes_the_digest_but_name_and_description() -> None:
    assert attrs.evolve(DEFAULT, name="other", description="other").digest() == DEFAULT.digest()
    special = {
        "sim.start_date": "2025-01-02",
        "world.market_prestige_ladder": [2],
        "world.task_progress_milestones": [0.5],
        "world.initial_prestige_level": 2,
        "world.prestige_min": 0.5,
        "agent.top_p": 0.5,
    }
    seen = {DEFAULT.digest()}
    values = dict(flat(DEFAULT.to_dict()))
    for field in FIELDS:
        value: Any = values.get(field.key, {"type": "constant", "value": 3.125})
        if field.key in special:
            value = special[field.key]
        elif isinstance(value, bool):
            value = not value
        elif isinstance(value, str):
            value = next((word for word in field.words if word != value), "another")
        elif not isinstance(value, dict):
            value += 1 if isinstance(value, int) else 0.125
        seen.add(load_config(tree(field.key, value), environ={}).digest())
    assert len(seen) == len(FIELDS) - 1


# Written out, because a digest in a record stands on each of them: settings that came later, with the value that
# changes nothing, and another one.
LATER: dict[str, tuple[Any, Any]] = {
    "employee_skill_sampling": ("uniform", "gamma_budget"),
    "skill_rates_visible": (True, False),
    "market_prestige_ladder": ((1,) * 10, [1, 1, 1, 1, 2, 2, 2, 3, 3, 4]),
    "task_draw_order": ("prestige_first", "requirements_first"),
    "task_domain_sampling": ("specialty_first", "uniform"),
    "replacement_prestige": ("same", "drawn"),
    "replacement_numbering": ("slot", "episode"),
    "refill_at": ("accept", "completion"),
    "prestige_gate": ("required_domains", "highest"),
    "min_task_qty": (200, 1),
    "max_open_tasks": (None, 7),
    "market_browse_scope": ("acceptable", "all"),
    "assign_by_employee_id": (False, True),
    "resume_stops_at_payroll": (True, False),
    "resume_requires_active_task": (True, False),
    "salary_raise_basis": ("tier_midpoint", "current_salary"),
    "adversarial_inflation_passes": (1, 2),
    "deadline_basis": ("largest", "sum"),
}


def test_a_later_setting_is_neutral_by_default_and_changes_the_digest_wherever_it_is_set() -> None:
    known = {field.name: setting_of(field) for field in attrs.fields(WorldConfig)}
    later = {name: each.neutral for name, each in known.items() if each is not None and each.neutral is not ...}
    assert later == {name: neutral for name, (neutral, _) in LATER.items()}
    assert later == {name: getattr(DEFAULT.world, name) for name in LATER}
    for name, (_, value) in LATER.items():
        config = load_config({"world": {name: value}}, environ={})
        assert config.to_dict()["world"][name] == value
        text = value if isinstance(value, str) else json.dumps(value)  # which is TOML too
        by_variable = load_config("default", environ={f"YCBENCH_WORLD__{name.upper()}": text})
        by_override = load_config("default", overrides={"world": {name: value}}, environ={})
        assert config.digest() == by_variable.digest() == by_override.digest() != DEFAULT.digest()


# ------------------------------------------------------------------------------------------------- the list of settings


def test_every_setting_is_described_and_the_lists_fit_each_other() -> None:
    for field in FIELDS:
        assert field.description
        assert field.range_text
        assert "|" not in field.description + field.range_text
    assert {key for key, _ in flat(DEFAULT.to_dict())} <= set(LEAVES)
    assert set(VARIABLES.values()) == {key for key in {*LEAVES, *NO_EFFECT} if "." in key}
    assert not set(LEAVES) & (TABLES | set(NO_EFFECT))


def flat(table: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, object]]:
    for name, value in table.items():
        yield from flat(value, f"{prefix}{name}.") if isinstance(value, dict) else [(prefix + name, value)]


def test_random_configurations_take_every_choice_and_do_without_clients_and_caps() -> None:
    seen: dict[str, set[object]] = {}

    @settings(max_examples=40, database=None, derandomize=True, deadline=None)
    @given(valid_configs())
    def look(config: Config) -> None:
        assert config.world.num_employees <= 12
        for key, value in flat(config.to_dict()):
            if not isinstance(value, list):
                seen.setdefault(key, set()).add(value)

    look()
    for key, field in SINGLE.items():
        values = {True, False} if field.type == "bool" else set(field.words)
        assert values <= seen.get(key, values)
    assert 0 in seen["world.num_clients"]
