"""Which listed tasks prestige opens: the hopeful reading until a refusal, and markets that list everything."""

from __future__ import annotations

import json

import pytest

from ycbench_agents import make_policy, rollout
from ycbench_agents.scripted import answers
from ycbench_agents.scripted.answers import MarketGate, lists_everything
from ycbench_env import Observation, YCBenchEnv, load_config

LEVELS = {"research": 3.0, "inference": 1.0, "data_environment": 1.0, "training": 1.0}
EACH_DOMAIN = {"prestige_gate": "required_domains"}


def seen(*commands: str, world: dict[str, object] | None = None, initial: float = 1.0) -> Observation:
    overrides = {"world": {"initial_prestige_level": initial, **(world or {})}}
    env = YCBenchEnv(load_config("classic-hard", overrides=overrides, environ={}))
    env.reset(seed=1)
    return env.step("\n".join(commands))[0]


def offer(required: int, *domains: str, client: str = "") -> answers.Offer:
    return answers.Offer("Task-1", client, required, 0, 100, 0.1, 0.1, tuple((domain, 9.0) for domain in domains))


def test_the_highest_prestige_opens_a_task_until_a_refusal_shows_otherwise() -> None:
    gate = MarketGate()
    assert gate.opens(offer(3, "training"), LEVELS)
    assert gate.doubts(offer(3, "training"), LEVELS)
    assert not gate.opens(offer(4, "training"), LEVELS)
    assert not gate.doubts(offer(3, "research"), LEVELS)
    assert gate.opens(offer(9, "training"), {})
    gate.learn(refusal("Task-1", "training"))
    assert not gate.opens(offer(3, "training"), LEVELS)
    assert gate.opens(offer(3, "research"), LEVELS)


@pytest.mark.parametrize(("task_id", "domain"), [("Task-2", "training"), ("Task-1", "research")])
def test_a_refusal_for_another_reason_tells_nothing_of_the_gate(task_id: str, domain: str) -> None:
    gate = MarketGate()
    gate.learn(refusal(task_id, domain))
    assert gate.opens(offer(3, "training"), LEVELS)


def refusal(task_id: str, domain: str) -> Observation:
    """A refused accept, with a look at a market that lists Task-1 in a domain, and at prestige."""
    listed = {
        "task_id": "Task-1", "client_name": None, "required_prestige": 3, "reward_funds_cents": 100,
        "reward_prestige_delta": 0.1, "skill_boost_pct": 0.1, "requirements": [{"domain": domain, "required_qty": 9}],
    }  # fmt: skip
    results = [
        {"command": f"task accept --task-id {task_id}", "ok": False, "output": {"error": "no"}},
        {"command": "company status", "ok": True, "output": {"prestige": LEVELS}},
        {"command": "market browse", "ok": True, "output": {"tasks": [listed]}},
    ]
    return {**seen(), "results": json.dumps(results)}


def test_a_market_lists_everything_where_a_newcomer_sees_what_it_cannot_have() -> None:
    assert lists_everything([offer(1, "research")])
    assert lists_everything([offer(1, "research", client="A"), offer(2, "research", client="A")])
    assert not lists_everything([offer(1, "research", client="A")])


@pytest.mark.parametrize("name", ["greedy", "accept_all", "throughput", "prestige", "conservative", "adversary_chaser"])
def test_no_accept_is_refused_where_the_highest_prestige_counts(name: str) -> None:
    episode = rollout(YCBenchEnv("classic-hard"), make_policy(name), 1, max_turns=40)
    results = [result for info in episode.infos for result in info["results"]]
    accepts = [result["ok"] for result in results if result["command"].startswith("task accept")]
    assert accepts
    assert all(accepts)
    assert sum(info["invalid_commands"] for info in episode.infos) == 0


@pytest.mark.parametrize("name", ["greedy", "throughput", "adversary_chaser", "expert"])
def test_a_refused_accept_costs_no_time_and_teaches_the_gate(name: str) -> None:
    """Where each domain counts and everything is listed, the company goes on after the refusal and earns."""
    world = {**EACH_DOMAIN, "initial_prestige_level": 1.0}
    env = YCBenchEnv(load_config("classic-easy", overrides={"world": world}, environ={}))
    episode = rollout(env, make_policy(name), 2, max_turns=60)
    results = [result for info in episode.infos for result in info["results"]]
    accepts = [result["ok"] for result in results if result["command"].startswith("task accept")]
    assert 0 < accepts.count(False) <= 4
    assert accepts.count(True) > 5
    assert episode.final_funds_cents > 25_000_000


def test_random_asks_for_clients_once_where_there_are_none() -> None:
    episode = rollout(YCBenchEnv("classic-easy"), make_policy("random"), 3, max_turns=120)
    results = [result for info in episode.infos for result in info["results"]]
    clients = [turn for turn in episode.actions if "client " in str(turn)]
    assert len(clients) == 1
    assert [each["command"] for each in results if each["command"].startswith("task accept") and not each["ok"]] == []


def trusting(task_id: str, required_trust: int, domain: str = "research") -> dict[str, object]:
    """A row of the market of a client, in a domain whose prestige suffices unless told otherwise."""
    return {
        "task_id": task_id, "client_name": "A", "required_prestige": 3, "required_trust": required_trust,
        "reward_funds_cents": 100, "reward_prestige_delta": 0.1, "skill_boost_pct": 0.1,
        "requirements": [{"domain": domain, "required_qty": 9}],
    }  # fmt: skip


def told(*rows: dict[str, object], refused: str = "", succeeded: bool | None = None, trust: float = 0.0) -> Observation:
    """A market, prestige and trust, after a refused accept or a task of the client that ended."""
    results = [
        {"command": f"task accept --task-id {refused}", "ok": not refused, "output": {"error": "no", "help": ""}},
        {"command": "company status", "ok": True, "output": {"prestige": LEVELS}},
        {"command": "client list", "ok": True, "output": {"clients": [
            {"name": "A", "trust_level": trust, "specialties": []}]}},
        {"command": "market browse", "ok": True, "output": {"tasks": rows}},
    ]  # fmt: skip
    done = {"type": "task_completed", "task_id": "Task-9", "client_name": "A", "success": succeeded}
    events = [] if succeeded is None else [done]
    return {**seen(), "results": json.dumps(results), "events": json.dumps(events)}


ROWS = (trusting("Task-1", 2), trusting("Task-2", 3), trusting("Task-3", 1), trusting("Task-4", 0))


def opened(gate: MarketGate) -> list[str]:
    return [each.task_id for each in gate.opened(told(*ROWS))]


def test_what_a_client_refused_for_want_of_trust_stays_shut_until_it_is_served_well() -> None:
    gate = MarketGate()
    gate.learn(told(*ROWS))
    assert opened(gate) == ["Task-1", "Task-2", "Task-3", "Task-4"]
    gate.learn(told(*ROWS, refused="Task-1"))
    assert opened(gate) == ["Task-3", "Task-4"]
    gate.learn(told(*ROWS, refused="Task-2"))  # a refusal of more tells nothing new
    assert opened(gate) == ["Task-3", "Task-4"]
    gate.learn(told(*ROWS, succeeded=False))
    assert opened(gate) == ["Task-3", "Task-4"]
    gate.learn(told(*ROWS, succeeded=True))
    assert opened(gate) == ["Task-1", "Task-2", "Task-3", "Task-4"]


def test_a_refusal_is_laid_to_prestige_where_trust_is_known_to_suffice() -> None:
    row = trusting("Task-1", 2, "training")
    offers = told(trusting("Task-1", 0, "training"), trusting("Task-2", 2, "research"))
    for trust, left in ((0.0, "Task-1"), (2.0, "Task-2")):  # either trust is lacking, or each domain counts
        gate = MarketGate()
        gate.learn(told(row, refused="Task-1", trust=trust))
        assert [each.task_id for each in gate.opened(offers)] == [left]


def test_where_only_what_can_be_had_is_listed_no_refusal_is_laid_to_trust() -> None:
    """It may have been the number of open tasks, which another turn puts right."""
    gate = MarketGate()
    gate.learn(told({**trusting("Task-9", 0), "required_prestige": 1}))  # the first look of a newcomer
    gate.learn(told(*ROWS, refused="Task-1"))
    assert opened(gate) == ["Task-1", "Task-2", "Task-3", "Task-4"]


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
    """Before refusals were remembered, all of these asked for one offer until they were bankrupt."""
    env = YCBenchEnv(load_config("default", overrides={"world": {"market_browse_scope": "all"}}, environ={}))
    episode = rollout(env, make_policy(name), 2)
    refused = [result["command"] for info in episode.infos for result in info["results"] if not result["ok"]]
    accepts = [command for command in refused if command.startswith("task accept")]
    assert max((accepts.count(command) for command in accepts), default=0) <= 9
    assert episode.final_funds_cents > least_cents
