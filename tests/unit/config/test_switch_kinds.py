"""Settings that are on or off, caps that can be taken away, and the ladder of prestige: which values they take."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ycbench_env.config import Config, load_config
from ycbench_env.config.kind import BoolKind, CapKind
from ycbench_env.config.schema import FIELDS
from ycbench_env.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

SWITCHES = [field.key.removeprefix("world.") for field in FIELDS if isinstance(field.kind, BoolKind)]
CAPS = [field.key.removeprefix("world.") for field in FIELDS if isinstance(field.kind, CapKind)]


def loaded(name: str, value: object) -> Config:
    return load_config({"world": {name: value}}, environ={})


def told(name: str, text: str) -> Any:  # noqa: ANN401 - a setting of any type
    """Return what a setting becomes when an environment variable holds it."""
    return getattr(load_config(environ={f"YCBENCH_WORLD__{name.upper()}": text}).world, name)


def refused(name: str, value: object) -> str:
    with pytest.raises(ConfigError) as caught:
        loaded(name, value)
    message = str(caught.value)
    assert message.startswith(f"argument: world.{name} = ")
    assert "\n" not in message
    return message


def saved_and_loaded(config: Config, folder: Path) -> Config:
    path = folder / "saved.toml"
    path.write_text(config.to_toml(), encoding="utf-8", newline="\n")
    return load_config(path, environ={})


# ------------------------------------------------------------------------------------------------------------ on or off


def test_the_switches_are_those_of_the_classic_rules() -> None:
    assert SWITCHES == [
        "skill_rates_visible",
        "assign_by_employee_id",
        "resume_stops_at_payroll",
        "resume_requires_active_task",
    ]


@pytest.mark.parametrize("name", SWITCHES)
@pytest.mark.parametrize("value", [True, False, np.True_, np.False_], ids=repr)
def test_a_switch_is_read_as_a_plain_bool(name: str, value: object) -> None:
    read = getattr(loaded(name, value).world, name)
    assert read is bool(value)


@pytest.mark.parametrize(
    "value", [0, 1, 0.0, "true", "", None, [], [True], {}, math.nan, np.int64(1), np.array([True])], ids=repr
)
def test_no_number_or_text_stands_for_true_or_false(value: object) -> None:
    assert refused("skill_rates_visible", value).endswith(": expected one of true, false")


def test_the_environment_switches_with_the_words_of_toml() -> None:
    assert told("skill_rates_visible", "false") is False
    assert told("assign_by_employee_id", "true") is True
    for text in ("True", "0", "no", '"false"', ""):
        with pytest.raises(ConfigError, match="expected one of true, false"):
            told("skill_rates_visible", text)


@pytest.mark.parametrize("name", SWITCHES)
def test_a_switch_survives_a_file_and_its_dictionary(tmp_path: Path, name: str) -> None:
    changed = not getattr(load_config(environ={}).world, name)
    config = loaded(name, changed)
    assert config.to_dict()["world"][name] is changed
    assert f"{name} = {str(changed).lower()}\n" in config.to_toml()
    assert saved_and_loaded(config, tmp_path).digest() == config.digest()


# ----------------------------------------------------------------------------------------------------------------- caps


def test_the_caps_are_those_that_the_classic_rules_take_away() -> None:
    assert CAPS == ["efficient_team_size", "salary_max_cents", "skill_rate_max"]


@pytest.mark.parametrize("name", CAPS)
def test_a_cap_is_a_number_or_the_word_none(tmp_path: Path, name: str) -> None:
    for value, same in ((7, np.int64(7)), ("none", "none")):
        config = loaded(name, value)
        assert getattr(config.world, name) == config.to_dict()["world"][name] == value
        assert type(getattr(config.world, name)) in {int, float, str}
        assert loaded(name, same) == config
        assert told(name, str(value)) == value
        assert saved_and_loaded(config, tmp_path).digest() == config.digest()
    assert told(name, '"none"') == "none"
    assert loaded(name, 7).digest() != loaded(name, "none").digest()


@pytest.mark.parametrize("name", CAPS)
@pytest.mark.parametrize(
    "value", [True, False, None, "None", "", "7", -1, 10**30, math.nan, math.inf, [7], {}, np.True_], ids=repr
)
def test_a_cap_is_nothing_else(name: str, value: object) -> None:
    assert refused(name, value).endswith(', or "none" = no cap')


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("efficient_team_size", 0, 'expected a whole number, 1 to 1_000, or "none" = no cap'),
        ("efficient_team_size", 1_001, 'expected a whole number, 1 to 1_000, or "none" = no cap'),
        ("efficient_team_size", 4.0, 'expected a whole number, 1 to 1_000, or "none" = no cap'),
        ("salary_max_cents", 10**10 + 1, 'expected a whole number, 0 to 10_000_000_000, or "none" = no cap'),
        ("skill_rate_max", 0, 'expected a finite number, above 0, up to 100; at most 4 decimals, or "none" = no cap'),
        ("skill_rate_max", 100.0001, "up to 100"),
        ("skill_rate_max", 1.00005, "at most 4 decimals"),
    ],
)
def test_a_cap_out_of_range_is_refused_with_what_was_expected(name: str, value: object, expected: str) -> None:
    assert expected in refused(name, value)


@pytest.mark.parametrize(("name", "value"), [("efficient_team_size", 1_000), ("salary_max_cents", 0)])
def test_the_ends_of_a_caps_range_are_legal(name: str, value: int) -> None:
    assert getattr(loaded(name, value).world, name) == value


def test_without_a_cap_the_rules_get_what_they_can_count_exactly() -> None:
    world = load_config(
        {"world": {**dict.fromkeys(CAPS, "none"), "num_employees": 9}}, environ={}
    ).world  # fmt: skip
    assert (world.team_size, world.salary_cap_cents, world.skill_rate_max_e4) == (1_000, 10**15, 10**300)


def test_with_a_cap_the_rules_get_it() -> None:
    caps = {"efficient_team_size": 3, "salary_max_cents": 500_000, "skill_rate_max": 12.5}
    world = load_config({"world": caps}, environ={}).world
    assert (world.team_size, world.salary_cap_cents, world.skill_rate_max_e4) == (3, 500_000, 125_000)


# --------------------------------------------------------------------------------------------------------------- ladder


@pytest.mark.parametrize(
    "value", [[], [1], [100, 1], (3, 2), [np.int64(5), np.uint8(6)], [2] * 10_000], ids=lambda value: repr(value)[:12]
)
def test_a_ladder_is_read_as_a_tuple_of_plain_numbers(value: list[int] | tuple[int, ...]) -> None:
    read = loaded("market_prestige_ladder", value).world.market_prestige_ladder
    assert read == tuple(value)
    assert {type(each) for each in read} <= {int}


@pytest.mark.parametrize(
    "value",
    [[0], [101], [-1], [1.0], [1, True], [np.True_], ["1"], [None], [[1]], [10**400], [1] * 10_001, 1, "1", None, {1}],
    ids=lambda value: repr(value)[:12],
)
def test_a_ladder_holds_prestige_that_a_task_can_require(value: object) -> None:
    message = refused("market_prestige_ladder", value)
    assert message.endswith("expected a list of whole numbers, each 1 to 100; at most 10_000 of them; empty = none")


def test_a_ladder_is_a_list_in_the_environment_in_files_and_in_dictionaries(tmp_path: Path) -> None:
    config = loaded("market_prestige_ladder", (3, 1, 2))
    assert told("market_prestige_ladder", "[3, 1, 2]") == (3, 1, 2)
    assert told("market_prestige_ladder", "[]") == ()
    assert config.to_dict()["world"]["market_prestige_ladder"] == [3, 1, 2]
    assert saved_and_loaded(config, tmp_path).digest() == config.digest()
    assert hash(saved_and_loaded(config, tmp_path).world) == hash(config.world)


def test_a_ladder_replaces_that_of_its_parent_whole() -> None:
    config = load_config({"extends": "classic-hard", "world": {"market_prestige_ladder": [5]}}, environ={})
    assert config.world.market_prestige_ladder == (5,)


# ------------------------------------------------------------------------------------------------------------ agreement


@pytest.mark.parametrize(
    ("world", "words"),
    [
        # The ladder's 100 makes a reward of 10^7 x (1 + 10 x 99) x (1 + 10 x 4) x 2.5, just above 10^12.
        (
            {
                "reward_prestige_scale": 10,
                "trust_gated_reward_boost": 10,
                "dist": {"reward_funds_cents": {"high": 10**7}},
            },
            "largest possible reward at most 1_000_000_000_000 cents",
        ),
        # It makes work of 4 x 1,500 x (1 + 10 x 99) units, at 2 a day nearly 3,000,000 workdays.
        ({"prestige_qty_scale": 10, "deadline_qty_per_day": 2}, "no later than year 9999"),
    ],
)
def test_the_highest_prestige_of_the_ladder_counts_like_one_that_is_drawn(world: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config({"world": {**world, "market_prestige_ladder": [1, 100]}}, environ={})
    assert "world.market_prestige_ladder = (1, 100)" in str(caught.value)
    assert words in str(caught.value)
    for ladder in ([], [1, 5]):
        assert load_config({"world": {**world, "market_prestige_ladder": ladder}}, environ={})


def test_the_least_work_of_an_accepted_task_counts_into_the_latest_deadline() -> None:
    # 4 x 25,000 units at 0.03 a day are 3,333,333 workdays; 4 x 1,500 x (1 + 0.3 x 4) units are 440,000.
    with pytest.raises(ConfigError, match=r"world\.min_task_qty = 25000 .*no later than year 9999"):
        load_config({"world": {"deadline_qty_per_day": 0.03, "min_task_qty": 25_000}}, environ={})
    assert load_config({"world": {"deadline_qty_per_day": 0.03, "min_task_qty": 1}}, environ={})
