"""A configuration as a value: equality, hash, digest, copies, and its way to text and back."""

import copy
import json
import pickle
import string
import subprocess
import sys
from pathlib import Path

import attrs
import pytest
from hypothesis import HealthCheck, given, settings

from ycbench_env.config import Beta, Config, Constant, Difference, Normal, Uniform, diff_configs, load_config
from ycbench_env.config.kind import ChoiceKind
from ycbench_env.config.schema import FIELDS, LEAVES
from ycbench_env.testing.config_strategies import valid_configs

_LENIENT = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)


@_LENIENT
@given(config=valid_configs(small=False))
def test_a_configuration_survives_its_dictionary(config: Config) -> None:
    assert load_config(config.to_dict(), environ={}) == config


@_LENIENT
@given(config=valid_configs(small=False))
def test_a_configuration_survives_json(config: Config) -> None:
    assert load_config(json.loads(json.dumps(config.to_dict(), allow_nan=False)), environ={}) == config


@_LENIENT
@given(config=valid_configs(small=False))
def test_a_configuration_survives_a_file(tmp_path: Path, config: Config) -> None:
    path = tmp_path / "saved.toml"
    path.write_text(config.to_toml(), encoding="utf-8", newline="\n")
    loaded = load_config(path, environ={})
    assert loaded == config
    assert loaded.digest() == config.digest()
    assert loaded.to_toml() == config.to_toml()


@_LENIENT
@given(config=valid_configs())
def test_a_configuration_can_be_copied_pickled_and_hashed(config: Config) -> None:
    for other in (pickle.loads(pickle.dumps(config)), copy.copy(config), copy.deepcopy(config)):  # noqa: S301
        assert other == config
        assert hash(other) == hash(config)
        assert other.world.trust_gain_base == config.world.trust_gain_base


@_LENIENT
@given(config=valid_configs())
def test_small_configurations_are_small(config: Config) -> None:
    assert config.world.num_employees <= 12
    assert config.world.num_market_tasks <= 30


@_LENIENT
@given(left=valid_configs(), right=valid_configs())
def test_no_difference_is_equality_and_each_difference_is_real(left: Config, right: Config) -> None:
    differences = diff_configs(left, right)
    assert (not differences) == (left == right)
    assert all(difference.left != difference.right for difference in differences)


def test_equality_hash_and_digest_do_not_depend_on_how_numbers_are_written() -> None:
    whole = load_config({"world": {"trust_max": 4, "trust_fragility": 0, "task_progress_milestones": [1]}}, environ={})
    other = load_config(
        {"world": {"trust_max": 4.0, "trust_fragility": -0.0, "task_progress_milestones": (1.0,)}}, environ={}
    )
    assert whole == other
    assert hash(whole) == hash(other)
    assert whole.digest() == other.digest()
    assert whole.to_toml() == other.to_toml()


def test_a_configuration_made_by_hand_equals_a_loaded_one() -> None:
    config = load_config(environ={})
    assert attrs.evolve(config, world=attrs.evolve(config.world, trust_max=4)) == load_config(
        {"world": {"trust_max": 4.0}}, environ={}
    )
    assert attrs.evolve(config.loop, max_turns=0) == config.loop


def test_a_configuration_cannot_be_changed() -> None:
    config = load_config(environ={})
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        config.world.num_employees = 3  # pyright: ignore[reportAttributeAccessIssue] - wrong on purpose


def test_changing_the_dictionary_does_not_change_the_configuration() -> None:
    config = load_config({"world": {"task_progress_milestones": [0.5]}}, environ={})
    table = config.to_dict()
    table["world"]["task_progress_milestones"].append(0.75)
    table["world"]["dist"]["required_qty"]["low"] = 3
    assert config.to_dict() != table


def test_the_digest_is_hexadecimal_and_leaves_out_name_and_description() -> None:
    config = load_config(environ={})
    assert len(config.digest()) == 64
    assert set(config.digest()) <= set(string.hexdigits.lower())
    assert attrs.evolve(config, name="other", description="other").digest() == config.digest()


def test_every_setting_changes_the_digest() -> None:
    config = load_config(environ={})
    base, seen = config.to_dict(), {config.digest()}
    keys = [field.key for field in FIELDS if "." in field.key]
    for key in keys:
        *path, name = key.split(".")
        value = base
        for part in path:
            value = value[part]
        seen.add(load_config(_with(key, _changed(key, value[name])), environ={}).digest())
    assert len(seen) == len(keys) + 1


def _with(key: str, value: object) -> dict:
    for part in reversed(key.split(".")):
        value = {part: value}
    assert isinstance(value, dict)
    return value


def _changed(key: str, value: object) -> object:
    """Returns another legal value for a setting of the default preset."""
    special = {
        "sim.start_date": "2025-01-02",
        "sim.company_name": "",
        "world.market_prestige_ladder": [2],
        "world.task_progress_milestones": [0.5],
        "world.initial_prestige_level": 2,
        "world.prestige_min": 0.5,
        "agent.top_p": 0.5,
    }
    if key in special:
        return special[key]
    if isinstance(value, dict):
        low = value["low"] if "low" in value else value["value"]
        return {"type": "constant", "value": low * 1.5 + 0.125}
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        kind = LEAVES[key]
        assert isinstance(kind, ChoiceKind)
        return next(choice for choice in kind.choices if choice != value)
    assert isinstance(value, int | float)
    return value + 1 if isinstance(value, int) else value + 0.125


def test_the_digest_is_the_same_in_another_process() -> None:
    code = "from ycbench_env.config import load_config; print(load_config(environ={}).digest())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.strip() == load_config(environ={}).digest()


def test_the_dictionary_holds_no_extends_and_writes_no_limit_as_zero() -> None:
    table = load_config("reference", environ={}).to_dict()
    assert "extends" not in table
    assert table["loop"]["max_turns"] == 0
    assert table["sim"]["start_date"] == "2025-01-01"
    assert table["world"]["dist"]["domain_count"] == {"type": "constant", "value": 1.0}


def test_differences_are_dotted_keys_with_both_values() -> None:
    left = load_config(environ={})
    right = load_config({"name": "x", "world": {"dist": {"domain_count": {"type": "uniform", "low": 1, "high": 2}}}},
                        environ={})  # fmt: skip
    assert diff_configs(left, right) == (
        Difference("name", "default", "x"),
        Difference("world.dist.domain_count.type", "constant", "uniform"),
        Difference("world.dist.domain_count.low", None, 1.0),
        Difference("world.dist.domain_count.high", None, 2.0),
        Difference("world.dist.domain_count.value", 1.0, None),
    )


def test_distributions_say_their_type() -> None:
    assert [cls.type for cls in (Beta, Normal, Uniform, Constant)] == ["beta", "normal", "uniform", "constant"]
