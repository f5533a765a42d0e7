"""Answers as policies read them, and which listed tasks the gate takes for open."""

from __future__ import annotations

import datetime as dt
import json

from ycbench_agents.scripted import answers
from ycbench_agents.scripted.answers import MarketGate, Offer
from ycbench_env import Observation, YCBenchEnv

LEVELS = {"research": 3.0, "inference": 1.0, "data_environment": 1.0, "training": 1.0}


def look(turn: str) -> Observation:
    """Return what the first turn in the world of seed 1 shows."""
    env = YCBenchEnv()
    env.reset(seed=1)
    return env.step(turn)[0]


def test_market_reads_as_listed_each_task_once() -> None:
    offers = answers.offers(look("market browse --limit 2\nyc-bench market browse --limit 3"))
    assert len({offer.task_id for offer in offers}) == len(offers) == 3
    first = offers[0]
    assert (first.task_id, first.client, first.reward_cents) == ("Task-10", "Vanguard ML", 2_091_943)
    assert first.work == (("research", 564.0),)


def test_staff_trust_and_prestige_read_as_listed() -> None:
    observation = look("employee list\nclient list\ncompany status")
    assert answers.staff(observation)[0].rates["research"] == 2.28
    assert answers.staff(observation)[0].salary_cents == 397_260
    assert list(answers.trust(observation))[:2] == ["Cortex Intelligence", "Equinox Labs"]
    assert answers.prestige(observation) == dict.fromkeys(answers.prestige(observation), 1.0)
    assert answers.asked_at(observation) == "2025-01-01T09:00:00"


def test_inspection_shows_deadline_team_and_remaining_work() -> None:
    own = "task accept --task-id Task-10\ntask assign --task-id Task-10 --employees Emp_2,Emp_1"
    observation = look(f"{own}\ntask inspect --task-id Task-10")
    (task,) = answers.inspections(observation)
    assert (task.status, task.team, task.remaining) == ("planned", ("Emp_1", "Emp_2"), task.work)
    assert answers.accepted(observation)["Task-10"][1] == task.deadline
    assert task.deadline is not None
    assert task.deadline > dt.datetime.fromisoformat("2025-01-01T09:00")


def test_completions_show_success() -> None:
    own = "task accept --task-id Task-10\ntask assign --task-id Task-10 --employees Emp_1,Emp_2,Emp_4,Emp_6"
    observation = look(f"{own}\ntask dispatch --task-id Task-10\nsim resume")
    (done,) = answers.completions(observation)
    assert (done.task_id, done.client) == ("Task-10", "Vanguard ML")
    assert done.success == json.loads(observation["events"])[0]["success"]


def test_refused_commands_read_as_nothing() -> None:
    observation = look("task inspect --task-id Task-0\nfoo\ntask list")
    assert answers.refused(observation) == ("task inspect --task-id Task-0", "foo")
    assert answers.refused(observation, "task") == ("task inspect --task-id Task-0",)
    assert answers.inspections(observation) == answers.offers(observation) == answers.staff(observation) == ()


def test_planned_tasks_are_listed_newest_first() -> None:
    own = "\n".join(f"task accept --task-id Task-{number}" for number in (10, 4, 7))
    turn = f"{own}\ntask cancel --task-id Task-10 --reason no"
    assert answers.planned_tasks(look(f"{turn}\ntask list")) == ("Task-7", "Task-4")
    assert answers.planned_tasks(look(turn)) == ()


def test_help_is_no_answer() -> None:
    assert answers.offers(look("market browse --help")) == ()


def test_a_turn_ends_with_commands_that_were_answered_whole() -> None:
    observation = look("task list\nclient list\ncompany status")
    assert answers.ends_with(observation, ["client list", "company status"])
    assert not answers.ends_with(observation, ["task list", "company status"])
    assert not answers.ends_with(observation, [])
    assert not answers.ends_with(look("client list\nfoo"), ["client list", "foo"])


def test_cut_answers_are_noticed() -> None:
    assert answers.cut(look("market browse --limit 9999\n" * 20))
    assert answers.cut(look("company status\n" * 2_000))
    assert not answers.cut(look("market browse\nfoo"))


# ---- the gate


def offer(required: int, *domains: str, client: str = "") -> Offer:
    return Offer("Task-1", client, required, 0, 100, 0.1, 0.1, tuple((domain, 9.0) for domain in domains))


def row(task_id: str, trust: int = 0, domain: str = "research", prestige: int = 3) -> dict[str, object]:
    """A row of the market of client A."""
    return {
        "task_id": task_id, "client_name": "A", "required_prestige": prestige, "required_trust": trust,
        "reward_funds_cents": 100, "reward_prestige_delta": 0.1, "skill_boost_pct": 0.1,
        "requirements": [{"domain": domain, "required_qty": 9}],
    }  # fmt: skip


def shown(
    *rows: dict[str, object], refused: str = "", succeeded: bool | None = None, trust: float = 0.0
) -> Observation:
    """A market, prestige and trust, after a refused accept or a task of the client that ended."""
    results = [
        {"command": f"task accept --task-id {refused}", "ok": not refused, "output": {"error": "no", "help": ""}},
        {"command": "company status", "ok": True, "output": {"prestige": LEVELS}},
        {"command": "client list", "ok": True, "output": {"clients": [{"name": "A", "trust_level": trust}]}},
        {"command": "market browse", "ok": True, "output": {"tasks": rows}},
    ]
    done = {"type": "task_completed", "task_id": "Task-9", "client_name": "A", "success": succeeded}
    events = [] if succeeded is None else [done]
    return {**look(""), "results": json.dumps(results), "events": json.dumps(events)}


ROWS = (row("Task-1", 2), row("Task-2", 3), row("Task-3", 1), row("Task-4"))


def opened(gate: MarketGate, *rows: dict[str, object]) -> list[str]:
    return [each.task_id for each in gate.opened(shown(*(rows or ROWS)))]


def test_highest_prestige_opens_a_task_until_a_refusal() -> None:
    gate = MarketGate()
    assert gate.opens(offer(3, "training"), LEVELS)
    assert gate.doubts(offer(3, "training"), LEVELS)
    assert not gate.opens(offer(4, "training"), LEVELS)
    assert not gate.doubts(offer(3, "research"), LEVELS)
    assert gate.opens(offer(9, "training"), {})
    gate.learn(shown(row("Task-1", domain="training"), refused="Task-1"))
    assert not gate.opens(offer(3, "training"), LEVELS)
    assert gate.opens(offer(3, "research"), LEVELS)


def test_a_refusal_for_another_reason_changes_nothing() -> None:
    for refused, domain in (("Task-2", "training"), ("Task-1", "research")):
        gate = MarketGate()
        gate.learn(shown(row("Task-1", domain=domain), refused=refused))
        assert gate.opens(offer(3, "training"), LEVELS)


def test_gate_recognises_a_market_that_lists_everything() -> None:
    for rows, everything in (([row("T", prestige=1)], False), ([row("T")], True), ([row("T", 1, prestige=1)], True)):
        gate = MarketGate()
        gate.learn(shown(*rows))
        assert gate.lists_everything is everything


def test_refused_trust_reopens_after_a_success() -> None:
    gate = MarketGate()
    gate.learn(shown(*ROWS))
    assert opened(gate) == ["Task-1", "Task-2", "Task-3", "Task-4"]
    for more in ({"refused": "Task-1"}, {"refused": "Task-2"}, {"succeeded": False}):
        gate.learn(shown(*ROWS, **more))  # pyright: ignore[reportArgumentType] -- one of three keywords
        assert opened(gate) == ["Task-3", "Task-4"]
    gate.learn(shown(*ROWS, succeeded=True))
    assert opened(gate) == ["Task-1", "Task-2", "Task-3", "Task-4"]


def test_refusal_with_enough_trust_blames_prestige() -> None:
    for trust, left in ((0.0, "Task-1"), (2.0, "Task-2")):  # either trust is lacking, or each domain counts
        gate = MarketGate()
        gate.learn(shown(row("Task-1", 2, "training"), refused="Task-1", trust=trust))
        assert opened(gate, row("Task-1", 0, "training"), row("Task-2", 2)) == [left]


def test_open_market_never_blames_trust() -> None:
    gate = MarketGate()
    gate.learn(shown(row("Task-9", prestige=1)))  # the first look of a newcomer
    gate.learn(shown(*ROWS, refused="Task-1"))
    assert opened(gate) == ["Task-1", "Task-2", "Task-3", "Task-4"]
