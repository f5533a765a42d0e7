"""Values that follow from settings (Y-5.6) and exact forms of settings."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ycbench_env.config import FIELDS, WorldConfig, load_config
from ycbench_env.config.schema import DERIVED


def _world(**settings: object) -> WorldConfig:
    return load_config({"world": settings}, environ={}).world


def test_the_default_presets_derived_knobs() -> None:
    world = _world()
    assert world.trust_gain_base == 1.6 * 5.0 / 5.0
    assert world.trust_fail_penalty == 0.6 * 0.3
    assert world.trust_cancel_penalty == 0.3
    assert world.trust_decay_per_day == 0.03 * 0.3
    assert world.trust_cross_decay == 0.06 * 0.3


def test_trust_gain_is_computed_from_left_to_right() -> None:
    world = _world(trust_max=4.9, trust_build_rate=0.7)
    assert world.trust_gain_base == (1.6 * 4.9) / 0.7
    assert world.trust_gain_base != 1.6 * (4.9 / 0.7)


def test_no_build_rate_means_that_trust_is_never_gained() -> None:
    assert _world(trust_build_rate=0).trust_gain_base == 0.0


@pytest.mark.parametrize(
    ("value", "ratio"), [(1.5, (3, 2)), (0.3, (3, 10)), (1.4, (7, 5)), (0, (0, 1)), (2, (2, 1)), (1e-06, (1, 10**6))]
)
def test_multipliers_have_the_ratio_that_is_written(value: float, ratio: tuple[int, int]) -> None:
    world = _world(penalty_fail_multiplier=value, penalty_cancel_multiplier=value)
    assert world.penalty_fail_multiplier_ratio == ratio
    assert world.penalty_cancel_multiplier_ratio == ratio


def test_decay_and_milestones_have_the_ratios_that_are_written() -> None:
    world = _world(prestige_decay_per_day=0.004, task_progress_milestones=[0.1, 0.25, 1])
    assert world.prestige_decay_per_day_ratio == (1, 250)
    assert world.milestone_ratios == ((1, 10), (1, 4), (1, 1))


@given(milli=st.integers(0, 100_000))
def test_prestige_in_thousandths_is_exact(milli: int) -> None:
    level = milli / 1000
    world = _world(prestige_min=level, initial_prestige_level=level, prestige_max=level)
    assert (world.prestige_min_milli, world.initial_prestige_milli, world.prestige_max_milli) == (milli,) * 3
    assert Fraction(repr(level)) * 1000 == milli


@given(e4=st.integers(1, 1_000_000))
def test_the_rate_cap_in_ten_thousandths_is_exact(e4: int) -> None:
    assert _world(skill_rate_max=e4 / 10_000).skill_rate_max_e4 == e4


def test_derived_values_are_computed_once() -> None:
    world = _world(task_progress_milestones=[0.5])
    assert world.milestone_ratios is world.milestone_ratios


@pytest.mark.parametrize("name", ["trust_gain_base", "trust_fail_penalty", "milestone_ratios", "prestige_min_milli"])
def test_derived_values_cannot_be_set(name: str) -> None:
    with pytest.raises(ValueError, match=f"world.{name} = 1.0: unknown key"):
        _world(**{name: 1.0})


def test_knobs_said_to_follow_from_settings_are_derived_from_settings_that_exist() -> None:
    keys = {field.key for field in FIELDS}
    for key, settings in DERIVED.items():
        assert isinstance(getattr(load_config(environ={}).world, key.removeprefix("world.")), float)
        assert {f"world.{name}" for name in settings.split(" and ")} <= keys
