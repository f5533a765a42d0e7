"""What a configuration refuses, and what it says then."""

import datetime as dt
import math
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

from ycbench_env.config import Triangular, load_config
from ycbench_env.config.consistency import AGREEMENTS
from ycbench_env.config.kind import FloatKind, Interval, IntKind
from ycbench_env.config.schema import FIELDS, LEAVES, NO_EFFECT
from ycbench_env.errors import ConfigError, ConfigWarning


def _tree(key: str, value: object) -> dict[str, Any]:
    """Returns nested tables with one setting."""
    for part in reversed(key.split(".")):
        value = {part: value}
    assert isinstance(value, dict)
    return value


def _load(key: str, value: object) -> Any:  # noqa: ANN401 - a setting of any type
    """Returns what the setting becomes."""
    config: Any = load_config(_tree(key, value), environ={})
    for part in key.split("."):
        config = getattr(config, part)
    return config


def _error(tree: object) -> str:
    with pytest.raises(ConfigError) as caught:
        load_config(tree, environ={})  # pyright: ignore[reportArgumentType] - wrong on purpose
    return str(caught.value)


def _plain_keys(*kinds: type) -> list[str]:
    return [field.key for field in FIELDS if isinstance(field.kind, kinds) and not field.is_distribution]


@pytest.mark.parametrize(
    ("tree", "key", "meant"),
    [
        ({"world": {"num_employes": 3}}, "world.num_employes = 3", "unknown key; did you mean world.num_employees?"),
        ({"wrld": {"num_employees": 3}}, "wrld = ", "unknown table; did you mean world?"),
        ({"num_employees": 3}, "num_employees = 3", "unknown key; did you mean world.num_employees?"),
        ({"sim": {"num_employees": 3}}, "sim.num_employees = 3", "did you mean world.num_employees?"),
        ({"world": {"rate_max": 9}}, "world.rate_max = 9", "did you mean world.salary_mid.rate_max?"),
        ({"dist": {"required_qty": {}}}, "dist = ", "unknown table; did you mean world.dist?"),
        ({"world": {"dist": {"required_qty": {"lwo": 3}}}}, "required_qty.lwo = 3", "world.dist.required_qty.low?"),
        ({"world": {"dist": {"required_quantity": {}}}}, "dist.required_quantity", "world.dist.required_qty?"),
        ({"world": {"salary_junior": {"rate_mim": 3}}}, "rate_mim = 3", "world.salary_junior.rate_min?"),
        (
            {"world": {"trust_gain_base": 3}},
            "world.trust_gain_base = 3",
            "unknown key; it follows from trust_max and trust_build_rate, which can be set",
        ),
        ({"rules": {"x": 1}}, "rules = ", "unknown table"),
        ({"zzqqxx": 1}, "zzqqxx = 1", "unknown key; the settings are listed in docs/configuration.md"),
        ({"nmae": "x"}, "nmae = 'x'", "did you mean name?"),
        ({"company_nam": "x"}, "company_nam = 'x'", "did you mean sim.company_name?"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_unknown_key_is_refused_with_place_key_value_and_the_nearest_key(tree: object, key: str, meant: str) -> None:
    message = _error(tree)
    assert message.startswith("argument: ")
    assert key in message
    assert meant in message


def test_an_unknown_key_of_a_file_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text("[world]\nnum_employes = 3\n")
    assert _error(path).startswith(f"{path}: world.num_employes = 3")


def test_an_unknown_key_of_a_parent_names_the_parent(tmp_path: Path) -> None:
    parent, child = tmp_path / "parent.toml", tmp_path / "child.toml"
    parent.write_text("[world]\nnum_employes = 3\n")
    child.write_text('extends = "parent.toml"\n')
    assert _error(child).startswith(f"{parent}: world.num_employes = 3")


def test_an_unknown_key_of_a_distribution_is_refused_also_where_a_child_replaces_the_type(tmp_path: Path) -> None:
    parent, child = tmp_path / "parent.toml", tmp_path / "child.toml"
    parent.write_text("[world.dist.required_qty]\nlwo = 3\n")
    child.write_text('extends = "parent.toml"\n[world.dist.required_qty]\ntype = "constant"\nvalue = 500\n')
    assert "world.dist.required_qty.lwo" in _error(child)


@pytest.mark.parametrize("key", ["world.num_employees", 3, None, "sim.start_date"])
def test_a_dotted_or_non_text_key_is_no_way_into_a_table(key: object) -> None:
    assert "nest the tables" in _error({key: 3})


@pytest.mark.parametrize("table", ["sim", "world", "world.dist", "world.dist.required_qty", "world.salary_mid"])
@pytest.mark.parametrize("value", [3, "x", None, [], [{}]], ids=repr)
def test_a_table_must_be_a_table(table: str, value: object) -> None:
    assert f"{table} = {value!r}: expected a table" in _error(_tree(table, value))


@pytest.mark.parametrize("key", _plain_keys(IntKind))
@pytest.mark.parametrize(
    "value", [True, False, "7", "", 7.0, 7.5, math.nan, math.inf, None, [7], {}, np.float64(7), np.True_], ids=repr
)
def test_a_whole_number_is_no_bool_text_or_float(key: str, value: object) -> None:
    assert f"argument: {key} = " in (message := _error(_tree(key, value)))
    assert "expected a whole number" in message


@pytest.mark.parametrize("key", _plain_keys(FloatKind))
@pytest.mark.parametrize(
    "value",
    [True, False, "0.5", "", math.nan, math.inf, -math.inf, None, [0.5], 10**400, Fraction(1, 2), np.True_],
    ids=lambda value: repr(value)[:12],
)
def test_a_float_is_finite_and_no_bool_or_text(key: str, value: object) -> None:
    assert f"argument: {key} = " in (message := _error(_tree(key, value)))
    assert "expected a finite number" in message


def _outside(interval: Interval, step: float) -> list[float]:
    below = interval.low if interval.above else interval.low - step
    return [below, interval.high if interval.below else interval.high + step]


@pytest.mark.parametrize("key", [key for key, kind in LEAVES.items() if isinstance(kind, IntKind | FloatKind)])
def test_every_number_has_a_range(key: str) -> None:
    kind = LEAVES[key]
    assert isinstance(kind, IntKind | FloatKind)
    for value in [*_outside(kind.interval, 1), -(2**63), 2**63, 2**200]:
        message = _error(_tree(key, value))
        assert f"argument: {key} = " in message
        assert str(kind.interval) in message


@pytest.mark.parametrize("key", _plain_keys(IntKind, FloatKind))
def test_both_ends_of_every_range_are_legal_or_excluded_by_its_words(key: str) -> None:
    kind = LEAVES[key]
    assert isinstance(kind, IntKind | FloatKind)
    for value, excluded in ((kind.interval.low, kind.interval.above), (kind.interval.high, kind.interval.below)):
        if excluded:
            assert key in _error(_tree(key, value))
        else:
            assert kind.read(value) == value


@pytest.mark.parametrize(
    "key",
    [
        "loop.auto_advance_after_turns",
        "agent.retry_backoff_seconds",
        "world.num_employees",
        "world.num_market_tasks",
        "world.num_clients",
        "world.initial_funds_cents",
        "world.salary_bump_pct",
        "world.prestige_decay_per_day",
        "world.prestige_qty_scale",
        "world.reward_prestige_scale",
        "world.penalty_fail_multiplier",
        "world.penalty_fail_funds_pct",
        "world.penalty_cancel_multiplier",
        "world.trust_build_rate",
        "world.trust_fragility",
        "world.trust_focus_pressure",
        "world.trust_work_reduction_max",
        "world.trust_gating_fraction",
        "world.trust_gated_reward_boost",
        "world.task_specialty_domain_bias",
        "world.loyalty_rat_fraction",
        "world.loyalty_severity",
        "world.deadline_min_biz_days",
    ],
)
def test_zero_is_legal_where_it_means_that_the_feature_is_off(key: str) -> None:
    assert _load(key, 0) == 0


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("world.num_employees", -7, "0 to 1_000"),
        ("world.num_clients", -1, "0 to 15"),
        ("world.num_clients", 16, "0 to 15"),
        ("world.workday_end_hour", 25, "1 to 24"),
        ("world.workday_start_hour", -1, "0 to 23"),
        ("world.deadline_qty_per_day", 0, "above 0"),
        ("world.trust_max", 0, "above 0"),
        ("world.prestige_min", 1.0005, "at most 3 decimals"),
        ("world.skill_rate_max", 1.00005, "at most 4 decimals"),
        ("world.trust_build_rate", 5e-324, "at most 6 decimals"),
        ("world.penalty_fail_multiplier", 1 / 3, "at most 6 decimals"),
        ("world.initial_funds_cents", 2**63, "0 to 1_000_000_000_000_000"),
        ("world.world_seed", "Run", '"run"'),
        ("world.world_seed", -1, '"run"'),
        ("world.world_seed", 1.0, '"run"'),
        ("world.world_seed", True, '"run"'),
        ("world.accrual", "midnight", '"business_hours", "until_midnight"'),
        ("world.accrual", 1, '"business_hours", "until_midnight"'),
        ("loop.max_turns", -1, "0 = no limit"),
        ("loop.max_turns", True, "0 = no limit"),
        ("loop.max_turns", 2.0, "0 = no limit"),
        ("sim.company_name", 7, "0 to 200 characters"),
        ("sim.company_name", "x" * 201, "0 to 200 characters"),
        ("sim.company_name", "a\nb", "one line"),
        ("sim.company_name", "\ud800", "one line"),
        ("name", "", "1 to 200 characters"),
        ("world.dist.domain_count.value", 5, "below 5"),
        ("world.dist.domain_count.value", 0.99, "from 1"),
    ],
)
def test_a_value_out_of_range_is_refused_with_what_was_expected(key: str, value: object, words: str) -> None:
    tree = _tree(key, value)
    if key.startswith("world.dist.domain_count"):
        tree["world"]["dist"]["domain_count"]["type"] = "constant"
    message = _error(tree)
    assert message.startswith(f"argument: {key} = ")
    assert words in message


@pytest.mark.parametrize(
    "value",
    [
        dt.datetime(2025, 1, 1, tzinfo=dt.UTC),
        dt.time(9),
        "2025-01-01T09:00:00",
        "20250101",
        "2025-W01-1",
        "2025-1-1",
        "2025-02-30",
        "٢٠٢٥-01-01",
        "1899-12-31",
        dt.date(1899, 12, 31),
        "",
        20250101,
        None,
    ],
    ids=repr,
)
def test_a_start_date_is_a_date_and_nothing_else(value: object) -> None:
    message = _error({"sim": {"start_date": value}})
    assert message.startswith("argument: sim.start_date = ")
    assert "expected a date" in message


def test_a_moment_of_the_day_is_refused_with_the_right_form(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text("[sim]\nstart_date = 2025-01-01T09:00:00\n")
    assert "expected a date without a time of day, such as 2025-01-01" in _error(path)


@pytest.mark.parametrize(
    "value",
    [
        [0.5, 0.25],
        [0.5, 0.5],
        [0],
        [0.0, 0.5],
        [1.0001],
        [-0.5],
        [0.12345],
        [True],
        ["0.5"],
        [math.nan],
        [[0.5]],
        0.5,
        "0.5",
        None,
        {"a": 1},
        {0.5},
        [step / 10_000 for step in range(1, 102)],
    ],
    ids=lambda value: repr(value)[:20],
)
def test_milestones_ascend_strictly_between_zero_and_one(value: object) -> None:
    assert "world.task_progress_milestones" in (message := _error({"world": {"task_progress_milestones": value}}))
    assert "strictly ascending" in message


@pytest.mark.parametrize("value", [[], [1], [1.0], [0.0001], (0.25, 0.5, 0.75)], ids=repr)
def test_legal_milestones_become_a_tuple_of_floats(value: list[float] | tuple[float, ...]) -> None:
    read = _load("world.task_progress_milestones", value)
    assert read == tuple(value)
    assert all(type(each) is float for each in read)


@pytest.mark.parametrize("kind", ["Triangular", "gaussian", "", 3, None], ids=repr)
def test_a_distribution_has_a_known_type(kind: object) -> None:
    message = _error(_tree("world.dist.required_qty.type", kind))
    assert message.startswith("argument: world.dist.required_qty.type = ")
    assert '"triangular", "beta", "normal", "uniform", "constant"' in message
    assert "\n" not in message


def test_a_distribution_lacks_no_parameter() -> None:
    message = _error({"world": {"dist": {"required_qty": {"type": "uniform", "low": 3}}}})
    assert message == 'argument: world.dist.required_qty.high is missing; type = "uniform" has low, high'


def test_a_distribution_has_no_parameter_of_another_type() -> None:
    message = _error({"world": {"dist": {"domain_count": {"low": 1}}}})
    assert message == 'argument: world.dist.domain_count.low = 1.0: unknown key; type = "constant" has value'


def test_an_illegal_parameter_is_not_reported_as_missing_too() -> None:
    message = _error({"world": {"dist": {"required_qty": {"type": "uniform", "low": 0, "high": 3}}}})
    assert "missing" not in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        ({"prestige_min": 4, "prestige_max": 3}, "prestige_min <= initial_prestige_level <= prestige_max"),
        ({"initial_prestige_level": 11}, "prestige_min <= initial_prestige_level <= prestige_max"),
        ({"initial_prestige_level": 0}, "prestige_min <= initial_prestige_level <= prestige_max"),
        ({"workday_start_hour": 18}, "workday_start_hour < workday_end_hour"),
        ({"workday_start_hour": 10, "workday_end_hour": 9}, "workday_start_hour < workday_end_hour"),
        ({"salary_mid": {"min_cents": 800_001}}, "min_cents <= max_cents"),
        ({"salary_senior": {"rate_max": 6}}, "rate_min <= rate_max"),
        ({"dist": {"skill_boost": {"low": 0.5}}}, "low <= high"),
        ({"dist": {"required_qty": {"mode": 300}}}, "low <= mode <= high"),
        ({"dist": {"required_qty": {"mode": 1600}}}, "low <= mode <= high"),
        ({"deadline_qty_per_day": 0.0001}, "no later than year 9999"),
        ({"deadline_qty_per_day": 5e-324}, "no later than year 9999"),
        # Accept makes 200 units of the one.
        ({"dist": {"required_qty": {"type": "constant", "value": 1},
                   "required_prestige": {"type": "constant", "value": 1}},
          "deadline_qty_per_day": 0.0003}, "no later than year 9999"),
        ({"dist": {"reward_funds_cents": {"high": 10**9}, "required_prestige": {"high": 100}},
          "reward_prestige_scale": 10, "trust_gated_reward_boost": 10}, "largest possible reward"),
        ({"dist": {"reward_funds_cents": {"type": "constant", "value": 10**9},
                   "required_prestige": {"type": "constant", "value": 100}},
          "reward_prestige_scale": 10, "trust_gated_reward_boost": 10}, "largest possible reward"),
    ],
)  # fmt: skip
def test_settings_that_do_not_agree_are_refused_with_all_of_them(tree: object, words: str) -> None:
    message = _error({"world": tree})
    assert words in message
    assert "(preset default)" in message or message.startswith("argument: ")


def test_every_agreement_speaks_of_known_settings() -> None:
    assert {key for agreement in AGREEMENTS for key in agreement.keys} <= set(LEAVES)


@pytest.mark.parametrize(("start", "years"), [("9999-01-01", 1), ("9998-12-31", 1), ("9950-01-01", 50)])
def test_a_horizon_past_year_9999_is_refused(start: str, years: int) -> None:
    assert "year 9999" in _error({"sim": {"start_date": start, "horizon_years": years}})


def test_a_horizon_within_year_9999_is_legal() -> None:
    assert load_config({"sim": {"start_date": "9998-06-01"}}, environ={}).sim.start_date.year == 9998


@pytest.mark.parametrize("date", ["2024-02-29", "2025-12-31", "1900-01-01"])
def test_any_day_of_the_year_can_be_the_first(date: str) -> None:
    assert load_config({"sim": {"start_date": date}}, environ={}).sim.start_date.isoformat() == date


def test_settings_that_do_not_agree_name_the_place_of_each(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text("[world]\nworkday_end_hour = 8\n")
    message = _error(path)
    assert message == (
        f"world.workday_start_hour = 9 (preset default), world.workday_end_hour = 8 ({path}): "
        "expected workday_start_hour < workday_end_hour"
    )


def test_all_problems_come_in_one_message() -> None:
    message = _error(
        {"world": {"num_employees": -7, "num_clients": "6", "wrkday": 3, "prestige_min": 5}, "loop": 3, "sim": {"x": 1}}
    )
    lines = message.splitlines()
    assert lines[0] == "6 problems in the configuration:"
    assert all(line.startswith("- ") for line in lines[1:])
    assert len(lines) == 7


def test_an_illegal_value_is_not_asked_to_agree() -> None:
    message = _error({"world": {"workday_start_hour": 20, "workday_end_hour": 30}})
    assert message.startswith("argument: world.workday_end_hour = 30: ")
    assert "\n" not in message


def test_parameters_of_an_unknown_type_are_not_asked_to_agree_with_the_replaced_ones() -> None:
    assert "\n" not in _error({"world": {"dist": {"required_qty": {"type": "unifrm", "low": 2000}}}})


def test_a_long_value_is_cut_in_the_message() -> None:
    assert len(_error({"world": {"num_employees": "x" * 10_000}})) < 300
    assert len(_error({"world": {"num_employees": 10**5000}})) < 300


@pytest.mark.parametrize("value", [np.int64(3), np.uint8(3), 3], ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("key", ["world.num_employees", "world.trust_max", "world.world_seed", "loop.max_turns"])
def test_numpy_integers_are_read_as_plain_numbers(key: str, value: object) -> None:
    read = _load(key, value)
    assert read == 3
    assert type(read) in {int, float}


@pytest.mark.parametrize("value", [0.5, np.float64(0.5)], ids=["float", "numpy"])
def test_floats_are_read_as_plain_floats(value: float) -> None:
    assert type(_load("world.trust_fragility", value)) is float


def test_text_is_read_as_plain_text() -> None:
    class Text(str):
        __slots__ = ()

    assert type(_load("sim.company_name", Text("x"))) is str


def test_negative_zero_is_read_as_zero() -> None:
    assert math.copysign(1, _load("world.trust_fragility", -0.0)) == 1.0


def test_a_value_made_by_hand_is_checked_at_once() -> None:
    world = load_config(environ={}).world
    with pytest.raises(ConfigError, match="num_employees = -7: expected a whole number, 0 to 1_000"):
        attrs.evolve(world, num_employees=-7)
    with pytest.raises(ConfigError, match="low = nan"):
        Triangular(low=math.nan, high=1, mode=1)


def test_a_configuration_made_by_hand_agrees_with_itself() -> None:
    config = load_config(environ={})
    with pytest.raises(ConfigError, match="workday_start_hour < workday_end_hour"):
        attrs.evolve(config, world=attrs.evolve(config.world, workday_end_hour=9))
    dist = attrs.evolve(config.world.dist, required_qty=Triangular(low=0, high=1, mode=1))
    with pytest.raises(ConfigError, match=r"world\.dist\.required_qty\.low = 0\.0"):
        attrs.evolve(config, world=attrs.evolve(config.world, dist=dist))


@pytest.mark.parametrize("key", sorted(NO_EFFECT))
def test_a_key_of_the_public_implementation_without_effect_warns_once(tmp_path: Path, key: str) -> None:
    table, _, name = key.rpartition(".")
    (tmp_path / "parent.toml").write_text(f"[{table}]\n{name} = 9.0\n")
    child = tmp_path / "child.toml"
    child.write_text(f'extends = "parent.toml"\n[{table}]\n{name} = "x"\n')
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        config = load_config(child, environ={})
    assert [warning.category for warning in caught] == [ConfigWarning]
    assert f"{key} has no effect here" in str(caught[0].message)
    assert caught[0].filename == __file__
    assert attrs.evolve(config, name="default") == load_config(environ={})


def test_a_file_for_the_public_implementation_loads_with_one_warning_for_each_key_without_effect(
    tmp_path: Path,
) -> None:
    path = tmp_path / "public.toml"
    path.write_text(
        """
        [agent]
        model = "provider/name"
        temperature = 0.5
        [world]
        work_hours_per_day = 9.0
        [world.salary_junior]
        name = "junior"
        share = 0.5
        min_cents = 150_000
        """
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        config = load_config(path, environ={})
    without_effect = [
        "agent.model",
        "world.salary_junior.name",
        "world.salary_junior.share",
        "world.work_hours_per_day",
    ]
    assert sorted(str(warning.message).split()[1] for warning in caught) == without_effect
    assert (config.agent.temperature, config.world.salary_junior.min_cents) == (0.5, 150_000)


def test_keys_without_effect_are_accepted_from_the_environment_too() -> None:
    with pytest.warns(ConfigWarning, match=r"WORK_HOURS_PER_DAY: world\.work_hours_per_day has no effect"):
        load_config(environ={"YCBENCH_WORLD__WORK_HOURS_PER_DAY": "9.0"})
