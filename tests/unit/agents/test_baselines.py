"""Baselines: each does what its file says, in worlds worked out by hand; what they end with is pinned."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING

import gymnasium as gym
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ycbench_agents import Policy, Trajectory, make_policy, rollout
from ycbench_agents.scripted import answers, conservative, throughput
from ycbench_agents.scripted.canaries import AcceptAllPolicy, AdversaryChaserPolicy
from ycbench_agents.scripted.conservative import ConservativePolicy
from ycbench_agents.scripted.one_at_a_time import best_team, feasible, known_staff
from ycbench_agents.scripted.throughput import PrestigePolicy, ThroughputPolicy
from ycbench_env import Config, Observation, State, YCBenchEnv, load_config
from ycbench_env.testing import hostile_texts, sample_turn, tiny_config, tiny_state, valid_configs
from ycbench_env.testing.tiny import ADVERSARIAL, tiny_employee, tiny_task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

POLICIES = ("accept_all", "adversary_chaser", "conservative", "greedy", "idle", "prestige", "throughput")
MULTI = {
    "world": {
        "num_employees": 11,
        "num_clients": 9,
        "num_market_tasks": 60,
        "task_progress_milestones": [0.25, 0.5, 0.75],
        "prestige_decay_per_day": 0.004,
        "trust_gated_reward_boost": 0.15,
        "dist": {"domain_count": {"type": "triangular", "low": 1, "high": 3, "mode": 1}},
    }
}


def played(policy: Policy, state: State, turns: int) -> list[tuple[str, Observation]]:
    """Return the turns of a policy from a state on, each with what it saw before."""
    env = YCBenchEnv(state.config)
    env.reset(seed=1)
    env.set_state(state)
    policy.reset(1)
    observation, *_ = env.step("")
    steps: list[tuple[str, Observation]] = []
    for _ in range(turns):
        turn = policy.act(observation)
        assert isinstance(turn, str)
        steps.append((turn, observation))
        observation, *_ = env.step(turn)
    steps.append(("", observation))
    return steps


def commands(steps: list[tuple[str, Observation]], verb: str) -> list[str]:
    """Return the commands of one verb that were given, without the verb."""
    lines = [line for turn, _ in steps for line in turn.splitlines()]
    return [line.removeprefix(f"{verb} --task-id ") for line in lines if line.startswith(f"{verb} ")]


def completions(trajectory: Trajectory) -> list[bool]:
    """Return whether each completed task succeeded."""
    events = [event for info in trajectory.infos for event in info["events"]]
    return [event["success"] is True for event in events if event["type"] == "task_completed"]


# ---------------------------------------------------------------- throughput


def test_throughput_takes_the_most_reward_an_hour() -> None:
    # Two at 10 units an hour: 20, 30 and 10 hours, so 100,000, 75,000 and 120,000 cents an hour.
    market = [
        tiny_task(1, 400, reward_cents=2_000_000),
        tiny_task(2, 600, reward_cents=2_250_000),
        tiny_task(3, 200, reward_cents=1_200_000),
    ]
    steps = played(ThroughputPolicy(), tiny_state(market=market), 2)
    assert commands(steps, "task accept") == ["Task-3"]
    assert commands(steps, "task assign") == ["Task-3 --employees Emp_1,Emp_2"]
    assert (steps[-1][1]["sim_time"], steps[-1][1]["funds_cents"]) == ("2025-01-02T10:00:00", 11_200_000)


def test_throughput_reckons_with_the_rates_in_each_domain() -> None:
    # 20 units an hour in research, 2 in training: 10 hours against 100.
    state = tiny_state(
        employees=[tiny_employee(number, (10.0, 10.0, 10.0, 1.0)) for number in (1, 2)],
        market=[tiny_task(1, {"training": 200}, reward_cents=5_000_000), tiny_task(2, reward_cents=1_000_000)],
    )
    assert commands(played(ThroughputPolicy(), state, 2), "task accept") == ["Task-2"]


def test_a_team_is_the_four_best_in_each_domain() -> None:
    research = [tiny_employee(number, (float(number), 5.0, 5.0, 6.0 - number)) for number in range(1, 7)]
    staff = [tiny_employee(7, (0.5, 0.5, 0.5, 9.0))]
    state = tiny_state(employees=[*research, *staff], market=[tiny_task(1)])
    steps = played(ThroughputPolicy(), state, 2)
    assert commands(steps, "task assign") == ["Task-1 --employees Emp_3,Emp_4,Emp_5,Emp_6"]
    state = tiny_state(employees=[*research, *staff], market=[tiny_task(1, {"research": 200, "training": 300})])
    steps = played(ThroughputPolicy(), state, 2)
    assert commands(steps, "task assign") == ["Task-1 --employees Emp_1,Emp_2,Emp_3,Emp_4,Emp_5,Emp_6,Emp_7"]


# ---------------------------------------------------------------- prestige


def ladder() -> State:
    """Return a world with one task that pays and three that lift prestige, two of them in one domain."""
    return tiny_state(
        tiny_config(dist={"required_qty": {"type": "constant", "value": 2_000}}),  # what comes later is no bargain
        market=[
            tiny_task(1, reward_cents=3_000_000, delta=0.05),
            tiny_task(2, {"inference": 200}, delta=0.1),
            tiny_task(3, {"inference": 200}, delta=0.15),
            tiny_task(4, {"training": 200}, delta=0.12),
        ],
    )


def test_prestige_climbs_in_one_domain_and_then_earns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throughput, "_CLIMBED", 1.2)
    # inference 1.15 after Task-3; training would lift by more than Task-2, but inference leads; then 1.25 >= 1.2.
    assert commands(played(PrestigePolicy(), ladder(), 4), "task accept") == ["Task-3", "Task-2", "Task-1"]


def test_high_prestige_plays_throughput(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throughput, "_CLIMBED", 1.0)
    steps, other = played(PrestigePolicy(), ladder(), 6), played(ThroughputPolicy(), ladder(), 6)
    assert [turn for turn, _ in steps] == [turn for turn, _ in other]
    assert commands(steps, "task accept")[0] == "Task-1"


# ---------------------------------------------------------------- conservative


def test_conservative_shuns_clients_whose_work_grew() -> None:
    market = [tiny_task(1), tiny_task(2, client=ADVERSARIAL, reward_cents=4_000_000), tiny_task(3, client=ADVERSARIAL)]
    config = tiny_config(deadline_min_biz_days=10)  # 800 units take 40 hours of 90: it would even be in time
    steps = played(ConservativePolicy(), tiny_state(config, market=market), 12)
    accepted = commands(steps, "task accept")
    assert accepted[:2] == ["Task-2", "Task-1"]
    assert "Task-3" not in accepted
    assert commands(steps, "task dispatch") == accepted[1 : 1 + len(commands(steps, "task dispatch"))]
    assert steps[-1][1]["planned_tasks"] <= 2  # the one that grew, and the one that is about to start


def test_conservative_leaves_what_would_be_late() -> None:
    # 10 units an hour: 40 hours of work, 4 days of 9 hours; the second has the 3 days that any task has, for 20 hours.
    state = tiny_state(
        tiny_config(deadline_min_biz_days=3),
        employees=[tiny_employee(number, 5.0) for number in (1, 2)],
        market=[
            tiny_task(1, 400, reward_cents=9_000_000),
            tiny_task(2, reward_cents=1_100_000),
            tiny_task(3, 500, reward_cents=11_000_000),
        ],
    )
    steps = played(ConservativePolicy(), state, 3)
    assert commands(steps, "task accept") == ["Task-1", "Task-2"]
    steps = played(ConservativePolicy(), state, 4)
    assert commands(steps, "task dispatch") == ["Task-2"]
    assert (steps[-1][1]["sim_time"], steps[-1][1]["funds_cents"]) == ("2025-01-03T11:00:00", 11_100_000)


@pytest.mark.parametrize(("margin", "dispatched"), [(0.7, ["Task-1"]), (0.9, [])])
def test_conservative_wants_its_margin(monkeypatch: pytest.MonkeyPatch, margin: float, dispatched: list[str]) -> None:
    # 10 hours of work, 18 hours to the deadline.
    monkeypatch.setattr(conservative, "_MARGIN", margin)
    steps = played(ConservativePolicy(), tiny_state(market=[tiny_task(1)]), 3)
    assert commands(steps, "task dispatch")[:1] == dispatched


def test_conservative_starts_nothing_near_the_horizon() -> None:
    late = tiny_state(market=[tiny_task(1)], now="2025-12-31 10:00")
    assert commands(played(ConservativePolicy(), late, 3), "task dispatch") == []


def test_conservative_fails_no_task() -> None:
    trajectory = rollout(gym.make("YCBench-v0"), ConservativePolicy(), 4, max_turns=80)
    assert len(completions(trajectory)) > 20
    assert all(completions(trajectory))


# ---------------------------------------------------------------- canaries


def test_accept_all_starts_everything_it_sees_with_everybody() -> None:
    steps = played(AcceptAllPolicy(), tiny_state(), 2)
    chains = commands(steps, "task accept")
    assert [chain.split()[0] for chain in chains] == ["Task-1", "Task-2", "Task-3", "Task-4"]
    assert all("--employees Emp_1,Emp_2 && task dispatch" in chain for chain in chains)
    assert steps[-1][1]["active_tasks"] == 2  # Task-1 and Task-3, the small ones, have just ended together


def test_accept_all_holds_no_more_than_a_page() -> None:
    trajectory = rollout(gym.make("YCBench-v0"), AcceptAllPolicy(), 1, max_turns=8)
    assert max(int(observation["active_tasks"]) for observation in trajectory.observations) == 50


def test_adversary_chaser_stays_with_the_client_whose_work_grows() -> None:
    market = [
        tiny_task(1, reward_cents=2_000_000),
        tiny_task(2, client=ADVERSARIAL, reward_cents=3_000_000),
        tiny_task(3, client=ADVERSARIAL, reward_cents=500_000),
    ]
    steps = played(AdversaryChaserPolicy(), tiny_state(market=market), 4)
    accepted = commands(steps, "task accept")
    assert accepted[0] == "Task-2"
    assert len(accepted) > 1
    assert "Task-1" not in accepted
    assert commands(steps, "task dispatch") == accepted


# ---------------------------------------------------------------- any world


def small_worlds() -> Iterator[tuple[str, Config]]:
    """Yield worlds at the edge of what can be configured."""
    worlds: dict[str, object] = {
        "nobody": {"num_employees": 0},
        "one employee": {"num_employees": 1},
        "empty market": {"num_market_tasks": 0, "initial_prestige_level": 1.0},
        "no time": {"workday_start_hour": 23, "workday_end_hour": 24},
        "one open task": {"max_open_tasks": 1, "num_market_tasks": 60},
    }
    for name, world in worlds.items():
        yield name, load_config({"world": world}, environ={})
    yield "several domains", load_config(MULTI, environ={})


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize(("world", "config"), [pytest.param(*each, id=each[0]) for each in small_worlds()])
def test_small_worlds_end_with_valid_commands(name: str, world: str, config: Config) -> None:
    trajectory = rollout(YCBenchEnv(config), make_policy(name), 1)
    assert trajectory.terminated
    assert sum(info["invalid_commands"] for info in trajectory.infos) == 0
    if name in {"throughput", "prestige", "adversary_chaser"}:
        assert bool(completions(trajectory)) == (world not in {"nobody", "empty market"})


@pytest.mark.parametrize("name", ["throughput", "prestige", "conservative"])
def test_staff_with_hidden_rates_counts_as_equal(name: str) -> None:
    trajectory = rollout(YCBenchEnv({"world": {"skill_rates_visible": False}}), make_policy(name), 1, max_turns=20)
    assert completions(trajectory)


def test_unlisted_staff_has_the_usual_names() -> None:
    env = YCBenchEnv()
    env.reset(seed=1)
    observation, *_ = env.step("market browse")
    staff = known_staff(observation)
    assert [member.name for member in staff] == [f"Emp_{number}" for number in range(1, 9)]
    assert len({tuple(member.rates.items()) for member in staff}) == 1
    assert [member.name for member in best_team((("research", 1.0),), staff)] == ["Emp_1", "Emp_2", "Emp_3", "Emp_4"]
    assert len(feasible(answers.offers(observation), staff)) == 50


@pytest.mark.parametrize("name", ["throughput", "prestige", "conservative", "adversary_chaser"])
def test_left_task_makes_room_under_a_limit(name: str) -> None:
    env = YCBenchEnv({"world": {"max_open_tasks": 1}})
    env.reset(seed=1)
    policy = make_policy(name)
    policy.reset(1)
    observation, *_ = env.step("task accept --task-id Task-1")
    for _ in range(5):
        observation, *_ = env.step(policy.act(observation))
    assert any(task.status == "cancelled" and task.task_id == "Task-1" for task in env.get_state().tasks)
    assert len(env.get_state().tasks) > 1


@settings(max_examples=4, suppress_health_check=[HealthCheck.too_slow])
@given(config=valid_configs(), texts=st.lists(hostile_texts(), min_size=1, max_size=5), seed=st.integers(0, 2**32))
@pytest.mark.parametrize("name", POLICIES)
def test_policies_survive_any_world_and_foreign_turns(name: str, config: Config, texts: list[str], seed: int) -> None:
    env, policy, rng = YCBenchEnv(config), make_policy(name), random.Random(seed)  # noqa: S311 -- a simulation, not a secret
    observation, _ = env.reset(seed=seed)
    policy.reset(seed)
    others: list[Callable[[], str]] = [lambda: rng.choice(texts), lambda: sample_turn(env.get_state(), rng)]
    for _ in range(15):
        observation, *_, info = env.step(policy.act(observation))
        assert info["invalid_commands"] == 0
        if rng.random() < 0.5:
            observation, *_ = env.step(rng.choice(others)())


# ---------------------------------------------------------------- random and greedy


def test_every_command_of_random_is_carried_out() -> None:
    config = {"world": {"initial_funds_cents": 10**9, "task_progress_milestones": [0.5]}}
    trajectory = rollout(YCBenchEnv(config), make_policy("random"), 0)
    results = [result for info in trajectory.infos for result in info["results"]]
    assert [result for result in results if not result["ok"]] == []
    assert sum(info["invalid_commands"] for info in trajectory.infos) == 0
    assert {" ".join(result["command"].split()[:2]) for result in results} >= {
        "market browse", "task accept", "task assign", "task dispatch", "sim resume", "task inspect"
    }  # fmt: skip


def test_random_asks_for_clients_once_where_there_are_none() -> None:
    trajectory = rollout(YCBenchEnv("classic-easy"), make_policy("random"), 3, max_turns=120)
    assert sum("client " in str(turn) for turn in trajectory.actions) == 1


# ---------------------------------------------------------------- markets that list everything


def accepts(trajectory: Trajectory) -> list[bool]:
    """Return whether each accept was carried out."""
    results = [result for info in trajectory.infos for result in info["results"]]
    return [result["ok"] is True for result in results if result["command"].startswith("task accept")]


@pytest.mark.parametrize("name", ["greedy", "accept_all", "throughput", "prestige", "conservative", "adversary_chaser"])
def test_no_accept_is_refused_where_the_highest_prestige_counts(name: str) -> None:
    trajectory = rollout(YCBenchEnv("classic-hard"), make_policy(name), 1, max_turns=15)
    assert accepts(trajectory)
    assert all(accepts(trajectory))


@pytest.mark.parametrize("name", ["greedy", "throughput", "adversary_chaser", "expert"])
def test_company_goes_on_after_a_refusal(name: str) -> None:
    """Where each domain counts and everything is listed, a refused accept costs no time."""
    world = {"prestige_gate": "required_domains", "initial_prestige_level": 1.0}
    env = YCBenchEnv(load_config("classic-easy", overrides={"world": world}, environ={}))
    trajectory = rollout(env, make_policy(name), 2, max_turns=60)
    assert 0 < accepts(trajectory).count(False) <= 4
    assert accepts(trajectory).count(True) > 5
    assert trajectory.final_funds_cents > 25_000_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "least_cents"),
    [
        ("greedy", 27_000_000),
        ("conservative", 100_000_000),
        ("throughput", 10_000_000),
        ("prestige", 25_000_000),
        ("random", -2_000_000),
    ],
)
def test_nobody_asks_forever_for_an_offer_that_trust_shuts(name: str, least_cents: int) -> None:
    """Whoever forgets refusals asks for one offer until the company is bankrupt."""
    trajectory = rollout(YCBenchEnv({"world": {"market_browse_scope": "all"}}), make_policy(name), 2)
    results = [result for info in trajectory.infos for result in info["results"]]
    refused = Counter(
        result["command"] for result in results if not result["ok"] and result["command"].startswith("task accept")
    )
    assert max(refused.values(), default=0) <= 9
    assert trajectory.final_funds_cents > least_cents
