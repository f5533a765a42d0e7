"""The upper bound in worlds whose figures can be worked out by hand, and what neither it nor the planner covers."""

from __future__ import annotations

import contextlib
import sys

import numpy as np
import pytest

from ycbench_agents.planner import Foresight, PlannerError, plan, upper_bound
from ycbench_agents.planner.bound import (
    Programme,
    _extremes,
    _kinds_of,
    _least_work_of,
    capacity_of,
)
from ycbench_agents.planner.foresight import DAY_US, HOUR_US, check_covered
from ycbench_env import MissingExtraError, initial_state, load_config
from ycbench_env.config import Beta, Constant, Uniform
from ycbench_env.testing import tiny_config, tiny_state
from ycbench_env.testing.tiny import instant, tiny_employee, tiny_task

YEAR_HOURS = 261 * 9  # working days of 2025


def test_hours_of_a_calendar_are_those_of_working_days() -> None:
    calendar = tiny_state().calendar
    assert calendar.business_us(calendar.start_us, calendar.horizon_us) == YEAR_HOURS * HOUR_US
    friday, monday = instant("2025-01-03 17:00"), instant("2025-01-06 10:00")
    assert calendar.business_us(friday, monday) == 2 * HOUR_US
    assert calendar.business_us(friday, monday, DAY_US) == 8 * HOUR_US


def test_the_tiny_world_is_bounded_by_its_hours() -> None:
    found = upper_bound(tiny_config(), 1)
    # Two employees do 20 units an hour, a task of 200 pays 1,000,000; 12 x 2 salaries less one month are paid.
    assert found.capacity_units == pytest.approx(YEAR_HOURS * 20)
    assert found.payroll_cents == 11 * 200_000
    multiplied = sum(offer.reward_cents for offer in initial_state(tiny_config(), 1).market) - 4_000_000
    assert found.gain_cents == pytest.approx(YEAR_HOURS / 10 * 1_000_000 + max(0, multiplied), rel=0.01)
    assert found.cents == 10_000_000 + found.gain_cents - 2_200_000


def test_until_midnight_allows_fifteen_hours_a_day() -> None:
    assert upper_bound(tiny_config(accrual="until_midnight"), 1).hours == 261 * 15


def test_one_open_task_leaves_one_team_busy() -> None:
    config = tiny_config(num_employees=8, max_open_tasks=1, skill_rate_max=10.0)
    assert capacity_of(initial_state(config, 1), 200)[-1] == pytest.approx(YEAR_HOURS * 40)


def test_rates_grow_by_the_largest_boost_with_each_success() -> None:
    config = tiny_config(dist={"skill_boost": {"type": "constant", "value": 0.5}})
    # 20 an hour for 10 hours, 30 for 200/30, then 40 (the limit of 20 each) for good.
    expected = 400 + (YEAR_HOURS - 10 - 200 / 30) * 40
    assert capacity_of(tiny_state(config), 200)[-1] == pytest.approx(expected, rel=1e-4)


def test_what_counts_of_an_employee_is_the_best_domain() -> None:
    state = tiny_state(employees=[tiny_employee(1, [1, 2, 3, 4])])
    assert capacity_of(state, 200)[-1] == pytest.approx(YEAR_HOURS * 4)


def test_offers_are_bounded_by_trust_or_inflation() -> None:
    config = tiny_config(trust_work_reduction_max=0.5)
    state = tiny_state(config)
    assert _least_work_of(state, tiny_task(9, 1000)) == 500
    assert _least_work_of(state, tiny_task(9, {"research": 300, "training": 900})) == 450
    assert _least_work_of(state, state.market[1]) == 800
    assert _least_work_of(tiny_state(tiny_config(trust_build_rate=0.0)), tiny_task(9, 1000)) == 1000


def test_kinds_of_replacements_follow_slots() -> None:
    config = load_config("default", environ={})
    kinds = {kind.prestige: kind for kind in _kinds_of(initial_state(config, 1)) if kind.work < 800}
    assert kinds[1].reward_cents >= 1_200_000
    assert kinds[1].work == 200
    assert kinds[4].work == 380


def test_bounds_of_distributions_are_their_own() -> None:
    assert _extremes(Constant(value=3.0)) == (3.0, 3.0)
    assert _extremes(Uniform(low=1.0, high=2.0)) == (1.0, 2.0)
    assert _extremes(Beta(alpha=1.0, beta=1.0, scale=9.0, low=0.0, high=0.5)) == (0.0, 0.5)


def test_any_prices_bound_a_programme() -> None:
    programme = Programme(
        gains=np.array([3.0, 2.0]),
        rows=np.array([[1.0, 1.0], [1.0, 0.0]]),
        limits=np.array([4.0, 3.0]),
        most=np.array([10.0, 10.0]),
    )
    assert programme.limit() == pytest.approx(11.0)
    assert programme.limit() >= 11.0
    for prices in ([0.0, 0.0], [5.0, 0.0], [-3.0, 1.0], [2.0, 1.0]):
        assert programme.dual_value(np.array(prices)) >= 11.0


def test_without_scipy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(MissingExtraError, match=r"\.\[planner\]"):
        upper_bound(tiny_config(), 1)


def test_payrolls_that_may_never_come_are_left_out() -> None:
    for loop in ({"max_turns": 5}, {"auto_advance_after_turns": 0}):
        assert upper_bound(tiny_config(loop=loop), 1).payroll_cents == 0


def test_a_hopeless_world_is_bounded_by_bankruptcy() -> None:
    assert upper_bound(tiny_config(num_market_tasks=0, initial_funds_cents=0), 1).cents == -1


def test_too_many_milestones_are_refused() -> None:
    with pytest.raises(PlannerError, match="milestones"):
        upper_bound(tiny_config(task_progress_milestones=[0.0001, 0.0002]), 1)


def test_known_offers_bound_what_few_accepts_can_bring() -> None:
    config = tiny_config()
    start = initial_state(config, 1)
    none, one, many = (upper_bound(config, 1, most_accepts=number) for number in (0, 1, 1000))
    assert none.gain_cents <= 1
    assert one.gain_cents == pytest.approx(max(offer.reward_cents for offer in start.market), rel=0.01)
    assert many.gain_cents == pytest.approx(upper_bound(config, 1).gain_cents, rel=0.01)


def test_a_number_of_accepts_needs_slots_that_are_known() -> None:
    with pytest.raises(PlannerError, match="replacement_numbering"):
        upper_bound(tiny_config(replacement_numbering="episode"), 1, most_accepts=3)
    with pytest.raises(ValueError, match="most_accepts=-1"):
        upper_bound(tiny_config(), 1, most_accepts=-1)


def test_completing_all_that_is_accepted_lowers_the_bound() -> None:
    config = load_config("default", overrides={"world": {"num_market_tasks": 6}}, environ={})
    market = Foresight(initial_state(config, 1))
    bounds = [upper_bound(config, 1, most_unfinished=number, foresight=market).cents for number in (0, 1, 100, 10**6)]
    assert bounds == sorted(bounds)
    free = upper_bound(config, 1, most_accepts=999 * 6, foresight=market).cents
    assert bounds[0] < 0.8 * free
    assert bounds[-1] == pytest.approx(free, rel=0.01)
    with pytest.raises(ValueError, match="expected at most one number"):
        upper_bound(config, 1, most_accepts=1, most_unfinished=1)


@pytest.mark.slow
@pytest.mark.parametrize(("preset", "honest", "accepting"), [("reference", 6_130, 12_594), ("default", 4_024, 7_825)])
def test_bounds_of_the_presets(preset: str, honest: int, accepting: int) -> None:
    """In thousands of dollars, seed 1: completing all that is accepted, and 999 accepts a slot."""
    config = load_config(preset, environ={})
    market = Foresight(initial_state(config, 1))
    finishing = upper_bound(config, 1, most_unfinished=0, foresight=market).cents
    assert round(finishing / 1e5) == pytest.approx(honest, abs=2)
    assert finishing < upper_bound(config, 1, most_unfinished=10, foresight=market).cents
    assert upper_bound(config, 1, most_accepts=999 * 200, foresight=market).cents / 1e5 == pytest.approx(
        accepting, abs=9
    )


# ---- settings that planner and bound do not cover


@pytest.mark.parametrize("preset", ["default", "reference", "honest"])
def test_the_usual_presets_are_covered(preset: str) -> None:
    config = load_config(preset, environ={})
    check_covered("bound", config)
    check_covered("planner", config)


@pytest.mark.parametrize(
    ("setting", "value", "by_bound"),
    [
        ("num_clients", 0, True),
        ("replacement_prestige", "drawn", True),
        ("task_draw_order", "requirements_first", True),
        ("min_task_qty", 1, True),
        ("salary_raise_basis", "current_salary", True),
        ("resume_stops_at_payroll", False, True),
        ("min_task_qty", 300, False),
        ("replacement_numbering", "episode", False),
        ("prestige_gate", "highest", False),
        ("deadline_basis", "sum", False),
        ("refill_at", "completion", False),
    ],
)
def test_uncovered_setting_is_named_with_a_covered_value(setting: str, value: object, *, by_bound: bool) -> None:
    config = load_config("default", overrides={"world": {setting: value}}, environ={})
    shown = "false" if value is False else value
    with pytest.raises(PlannerError) as caught:
        check_covered("planner", config)
    message = str(caught.value)
    assert f"world.{setting} = {shown}" in message
    assert f"--set world.{setting}=" in message
    with pytest.raises(PlannerError, match=rf"world\.{setting}") if by_bound else contextlib.nullcontext():
        check_covered("bound", config)


def test_classic_presets_are_refused_with_all_reasons() -> None:
    config = load_config("classic-hard", environ={})
    with pytest.raises(
        PlannerError, match=r"bound: it does not know the rules of 'classic-hard': got world.num_clients = 0"
    ):
        upper_bound(config, 1)
    with pytest.raises(PlannerError, match=r"skill_rate_max = none.*--set world.skill_rate_max=10"):
        upper_bound(load_config("default", overrides={"world": {"skill_rate_max": "none"}}, environ={}), 1)
    with pytest.raises(ValueError, match="replacement_numbering = episode"):
        Foresight(initial_state(load_config("published-bot", environ={}), 1))
    with pytest.raises(PlannerError, match=r"planner: .*deadline_basis = sum.*world.deadline_basis=largest"):
        plan(config, 1, budget_rollouts=1)


def test_hidden_rates_and_uncapped_teams_are_covered() -> None:
    """Both read the state; what is not capped can only make the bound looser."""
    open_ended = {"skill_rates_visible": False, "efficient_team_size": "none", "salary_max_cents": "none"}
    config = load_config("default", overrides={"world": open_ended}, environ={})
    assert upper_bound(config, 1).cents >= upper_bound(load_config("default", environ={}), 1).cents
    check_covered("planner", config)
