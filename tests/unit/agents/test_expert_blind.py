"""The expert where rates are hidden: it earns, learns the rates, keeps to its turns, and copes with other rules."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from ycbench_agents import make_policy, rollout
from ycbench_agents.scripted.expert import ExpertPolicy
from ycbench_env import YCBenchEnv, load_config
from ycbench_env.vocabulary import DOMAINS

if TYPE_CHECKING:
    from ycbench_agents import Policy, Trajectory
    from ycbench_env import State

TURNS = 40


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


@pytest.mark.parametrize(("preset", "least_cents"), [("classic-medium", 150_000_000), ("classic-hard", 250_000_000)])
def test_it_earns_more_than_greedy_in_as_many_turns(preset: str, least_cents: int) -> None:
    _, trajectory, _ = played(preset)
    greedy = play(make_policy("greedy"), {}, preset)
    assert trajectory.final_funds_cents > max(least_cents, 1.3 * greedy.final_funds_cents)
    assert completions(trajectory).count(False) <= 2


def test_it_has_learnt_the_rates_of_those_who_matter() -> None:
    """By now half of all estimates are within a hundredth of the truth; at the start they are off by about half."""
    policy, _, state = played("classic-hard")
    errors = sorted(
        abs(policy.believed_rate(employee.name, domain).rate / (rate / 10_000) - 1)
        for employee in state.employees
        for domain, rate in zip(DOMAINS, employee.rates_e4, strict=True)
    )
    assert errors[len(errors) // 2] < 0.01


def test_it_asks_for_clients_once_and_gives_no_other_invalid_command() -> None:
    _, trajectory, _ = played("classic-hard")
    assert sum(info["invalid_commands"] for info in trajectory.infos) == 1


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
def test_it_earns_where_one_of_the_classic_rules_is_another(world: dict[str, Any]) -> None:
    trajectory = play(ExpertPolicy(), world)
    assert completions(trajectory).count(True) > 10
    assert trajectory.final_funds_cents > 25_000_000


def test_a_number_of_turns_is_shared_out_over_the_year() -> None:
    few, more = (play(ExpertPolicy(turns_a_year=turns), {}, "classic-tutorial") for turns in (12, 24))
    assert few.terminal_reason == more.terminal_reason == "horizon_end"
    assert few.turns < 16 < more.turns <= 28
    assert few.final_funds_cents < more.final_funds_cents


@pytest.mark.parametrize("turns", [0, True, 2.5, "many"])
def test_what_is_no_number_of_turns_is_refused(turns: object) -> None:
    with pytest.raises(ValueError, match=r"turns_a_year: got .*, expected a whole number of at least 1"):
        make_policy("expert", turns_a_year=turns)
