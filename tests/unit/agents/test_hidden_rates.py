"""Hidden rates: beliefs worked out by hand, and the expert that plays by them."""

from __future__ import annotations

import datetime as dt
from functools import cache
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ycbench_agents import Policy, PolicyError, Trajectory, make_policy, rollout
from ycbench_agents.scripted.answers import Inspection
from ycbench_agents.scripted.expert import ExpertPolicy
from ycbench_agents.scripted.expert.hidden_rates import RateEstimate, counted_hours
from ycbench_env import State, YCBenchEnv, load_config
from ycbench_env.vocabulary import DOMAINS

MONDAY: Final = dt.datetime(2025, 1, 6, 9)  # noqa: DTZ001 -- simulated time
HOUR: Final = dt.timedelta(hours=1)
TURNS = 40


def task(task_id: str, status: str, left: float, *team: str, of: float = 100.0) -> Inspection:
    return Inspection(task_id, "", status, None, (("research", of),), (("research", left),), team, 0.5)


def observe(estimate: RateEstimate, units: float, hours: float, *names: str, day: int = 0) -> None:
    """Show that a team did so many units of a task in some hours."""
    since = MONDAY + dt.timedelta(days=day)
    estimate.see(since, [task(f"T-{day}", "active", 10_000, *names)], whole=False)
    estimate.see(since + hours * HOUR, [task(f"T-{day}", "active", 10_000 - units, *names)], whole=True)


def test_rate_of_one_alone_is_known_after_one_look() -> None:
    estimate = RateEstimate()
    estimate.meet("A", "junior")
    assert estimate.team(("A",), "research").rate == 2.5
    assert estimate.team(("A",), "research").deviation == 2.0
    observe(estimate, 24.0, 4.0, "A")
    assert estimate.team(("A",), "research").rate == pytest.approx(6.0, abs=0.01)
    assert estimate.team(("A",), "research").deviation < 0.01
    assert estimate.team(("A",), "training").rate == 2.5


def test_team_shows_its_sum_shared_by_uncertainty() -> None:
    # Junior and mid are 2.5 and 5.5 with variances 4 and 9; 21 instead of 8 an hour: 13 more, 4/13 and 9/13 of it each.
    estimate = RateEstimate()
    estimate.meet("A", "junior")
    estimate.meet("B", "mid")
    observe(estimate, 84.0, 4.0, "A", "B")
    assert estimate.team(("A",), "research").rate == pytest.approx(6.5, abs=0.01)
    assert estimate.team(("B",), "research").rate == pytest.approx(14.5, abs=0.01)
    assert estimate.team(("A", "B"), "research").rate == pytest.approx(21.0, abs=0.01)
    assert estimate.team(("A", "B"), "research").deviation < 0.05
    assert estimate.team(("A",), "research").deviation == pytest.approx((4 * 9 / 13) ** 0.5, abs=0.01)
    observe(estimate, 12.0, 4.0, "A", day=1)
    assert estimate.team(("A",), "research").rate == pytest.approx(3.0, abs=0.01)
    assert estimate.team(("B",), "research").rate == pytest.approx(18.0, abs=0.05)


def test_success_raises_believed_rates() -> None:
    estimate = RateEstimate()
    observe(estimate, 20.0, 4.0, "A")
    estimate.see(MONDAY + 4 * HOUR, [task("T-1", "completed_success", 0.0, "A", "B")], whole=True)
    assert estimate.team(("A",), "research").rate == pytest.approx(7.5, abs=0.01)
    assert estimate.team(("B",), "research").rate == pytest.approx(6.0)
    assert estimate.team(("B",), "research").deviation == pytest.approx(4.5)
    assert estimate.team(("B",), "training").rate == 4.0


def test_hours_until_midnight_count_but_on_the_last_day() -> None:
    friday = MONDAY + dt.timedelta(days=4)
    assert counted_hours(MONDAY, MONDAY + 4 * HOUR) == 4
    assert counted_hours(MONDAY + 8 * HOUR, MONDAY + dt.timedelta(days=1, hours=1)) == 7 + 1
    assert counted_hours(friday + 8 * HOUR, friday + dt.timedelta(days=3)) == 7
    assert counted_hours(MONDAY, MONDAY + 12 * HOUR) == 9


@pytest.mark.parametrize("late", [False, True])
def test_progress_shows_which_hours_count(late: bool) -> None:
    estimate = RateEstimate()
    for day, hours in enumerate((4.0, 25.0, 2.0)):
        since = MONDAY + dt.timedelta(days=2 * day)
        counted = counted_hours(since, since + hours * HOUR) if late else min(hours, 10.0)
        observe(estimate, 5.0 * counted, hours, "A", day=2 * day)
    assert estimate.counts_until_midnight is late
    assert estimate.team(("A",), "research").rate == pytest.approx(5.0, abs=0.05)


@settings(max_examples=20)
@given(data=st.data())
def test_different_teams_give_the_true_rates(data: st.DataObject) -> None:
    """Everybody alone or in a growing team, in any order: as many independent equations as there are people."""
    rates = data.draw(st.lists(st.floats(1.0, 12.0), min_size=1, max_size=7))
    names = [f"Emp_{number}" for number in range(len(rates))]
    first = data.draw(st.integers(0, len(rates)))
    teams = [names[:size] for size in range(1, first + 1)] + [[name] for name in names[first:]]
    estimate = RateEstimate()
    for day, team in enumerate(data.draw(st.permutations(teams))):
        sums = sum(rates[names.index(name)] for name in team)
        observe(estimate, sums * 6.0, 6.0, *team, day=7 * day)
    for name, rate in zip(names, rates, strict=True):
        assert estimate.team((name,), "research").rate == pytest.approx(rate, rel=0.02, abs=0.05)


def test_looks_become_rates() -> None:
    estimate = RateEstimate()
    estimate.see(MONDAY, [], whole=False)
    # 4 hours: 32 of A alone; B is on two tasks, 6 on each: 3 an hour.
    looks = [
        task("T-1", "active", 68.0, "A"),
        task("T-2", "active", 94.0, "B"),
        task("T-3", "active", 94.0, "B"),
    ]
    estimate.see(MONDAY + 4 * HOUR, looks, whole=True)
    assert estimate.team(("A",), "research").rate == pytest.approx(8.0, abs=0.02)
    assert estimate.team(("B",), "research").rate == pytest.approx(3.0, abs=0.02)
    done = [task("T-1", "completed_success", 0.0, "A"), *looks[1:]]
    estimate.see(MONDAY + 4 * HOUR, done, whole=True)
    estimate.see(MONDAY + 4 * HOUR, done, whole=True)  # seen again, it has taught nobody anew
    assert estimate.team(("A",), "research").rate == pytest.approx(12.0, abs=0.03)


def test_disturbed_looks_are_ignored() -> None:
    estimate = RateEstimate()
    estimate.see(MONDAY, [], whole=False)
    estimate.see(MONDAY + 4 * HOUR, [task("T-1", "active", 10.0, "A")], whole=False)
    assert estimate.team(("A",), "research").rate == 4.0


# ---- the expert that plays by them


def play(policy: Policy, world: dict[str, Any], preset: str = "classic-easy", seed: int = 1) -> Trajectory:
    overrides = {"world": world, "loop": {"max_turns": TURNS}}
    return rollout(YCBenchEnv(load_config(preset, overrides=overrides, environ={})), policy, seed)


@cache
def played(preset: str) -> tuple[ExpertPolicy, Trajectory, State]:
    env = YCBenchEnv(load_config(preset, overrides={"loop": {"max_turns": TURNS}}, environ={}))
    policy = ExpertPolicy(turns_a_year=TURNS - 2)
    trajectory = rollout(env, policy, 1)
    return policy, trajectory, env.get_state()


def completions(trajectory: Trajectory) -> list[bool]:
    events = [event for info in trajectory.infos for event in info["events"]]
    return [event["success"] is True for event in events if event["type"] == "task_completed"]


@pytest.mark.parametrize(("preset", "least_cents"), [("classic-hard", 250_000_000)])
def test_expert_earns_more_than_greedy_in_as_many_turns(preset: str, least_cents: int) -> None:
    _, trajectory, _ = played(preset)
    greedy = play(make_policy("greedy"), {}, preset)
    assert trajectory.final_funds_cents > max(least_cents, 1.3 * greedy.final_funds_cents)
    assert completions(trajectory).count(False) <= 2


def test_rates_are_learnt_in_play() -> None:
    """By now half of all estimates are within a hundredth of the truth; at the start they are off by about half."""
    policy, _, state = played("classic-hard")
    estimate: RateEstimate = vars(policy)["_blind"].estimate
    errors = sorted(
        abs(estimate.team((employee.name,), domain).rate / (rate / 10_000) - 1)
        for employee in state.employees
        for domain, rate in zip(DOMAINS, employee.rates_e4, strict=True)
    )
    assert errors[len(errors) // 2] < 0.01


def test_clients_are_asked_for_once() -> None:
    _, trajectory, _ = played("classic-hard")
    assert sum(info["invalid_commands"] for info in trajectory.infos) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "world",
    [
        {"accrual": "business_hours", "deadline_basis": "largest"},
        {"resume_stops_at_payroll": True, "resume_requires_active_task": True, "task_progress_milestones": []},
        {"num_clients": 5},
        {"max_open_tasks": 2},
    ],
    ids=", ".join,
)
def test_expert_earns_where_a_classic_rule_differs(world: dict[str, Any]) -> None:
    trajectory = play(ExpertPolicy(), world)
    assert completions(trajectory).count(True) > 10
    assert trajectory.final_funds_cents > 25_000_000


@pytest.mark.slow
def test_turns_are_shared_out_over_the_year() -> None:
    few, more = (play(ExpertPolicy(turns_a_year=turns), {}, "classic-tutorial") for turns in (12, 24))
    assert few.terminal_reason == more.terminal_reason == "horizon_end"
    assert few.turns < 16 < more.turns <= 28
    assert few.final_funds_cents < more.final_funds_cents


@pytest.mark.parametrize("turns", [0, True, 2.5, "many"])
def test_bad_number_of_turns_is_refused(turns: object) -> None:
    with pytest.raises(PolicyError, match=r"turns_a_year: got .*, expected a whole number of at least 1"):
        make_policy("expert", turns_a_year=turns)
