"""Answers as policies read them: typed, last one first, nothing that was refused."""

import datetime as dt
import json

from ycbench_agents.scripted import answers
from ycbench_env import Observation, YCBenchEnv


def look(turn: str) -> Observation:
    """Return what the first turn in the world of seed 1 shows."""
    env = YCBenchEnv()
    env.reset(seed=1)
    observation, *_ = env.step(turn)
    return observation


def test_the_market_reads_as_listed_each_task_once() -> None:
    offers = answers.offers(look("market browse --limit 2\nyc-bench market browse --limit 3"))
    assert len({offer.task_id for offer in offers}) == len(offers) == 3
    first = offers[0]
    assert (first.task_id, first.client, first.reward_cents) == ("Task-10", "Vanguard ML", 2_091_943)
    assert first.work == (("research", 564.0),)


def test_staff_clients_and_prestige_read_as_listed() -> None:
    observation = look("employee list\nclient list\ncompany status")
    assert answers.staff(observation)[0].rates["research"] == 2.28
    assert answers.staff(observation)[0].salary_cents == 397_260
    assert [client.name for client in answers.clients(observation)][:2] == ["Cortex Intelligence", "Equinox Labs"]
    assert answers.prestige(observation) == dict.fromkeys(answers.prestige(observation), 1.0)


def test_an_inspection_shows_deadline_team_and_what_is_left() -> None:
    own = "task accept --task-id Task-10\ntask assign --task-id Task-10 --employees Emp_2,Emp_1"
    (task,) = answers.inspections(look(f"{own}\ntask inspect --task-id Task-10"))
    assert (task.status, task.team) == ("planned", ("Emp_1", "Emp_2"))
    assert task.deadline is not None
    assert task.deadline > dt.datetime.fromisoformat("2025-01-01T09:00")
    assert task.remaining == task.work


def test_completions_tell_success() -> None:
    own = "task accept --task-id Task-10\ntask assign --task-id Task-10 --employees Emp_1,Emp_2,Emp_4,Emp_6"
    observation = look(f"{own}\ntask dispatch --task-id Task-10\nsim resume")
    (done,) = answers.completions(observation)
    assert (done.task_id, done.client) == ("Task-10", "Vanguard ML")
    assert done.success == json.loads(observation["events"])[0]["success"]


def test_refused_commands_are_told_apart_and_read_as_nothing() -> None:
    observation = look("task inspect --task-id Task-0\nfoo\ntask list")
    assert answers.refused(observation) == ("task inspect --task-id Task-0", "foo")
    assert answers.inspections(observation) == answers.offers(observation) == answers.staff(observation) == ()


def test_own_tasks_read_as_listed_newest_first() -> None:
    own = "task accept --task-id Task-10\ntask accept --task-id Task-4\ntask cancel --task-id Task-10 --reason no"
    listed = answers.own_tasks(look(f"{own}\ntask list"))
    assert [(task.task_id, task.status) for task in listed] == [("Task-4", "planned"), ("Task-10", "cancelled")]
    assert listed[1].client == "Vanguard ML"
    assert answers.own_tasks(look(own)) == ()


def test_answers_that_were_cut_read_as_nothing() -> None:
    observation = look("foo\n" + "company status\n" * 6_000 + "employee list\nbar")
    assert "cut_results" in json.loads(observation["results"])[-1]
    assert answers.refused(observation) == ("foo",)
    assert answers.staff(observation) == ()
    assert len(answers.prestige(observation)) == 4


def test_help_reads_as_nothing() -> None:
    observation = look("market browse --help\ntask inspect --help\nemployee list --help\ncompany status --help")
    assert all(result["ok"] for result in json.loads(observation["results"]))
    assert answers.offers(observation) == answers.inspections(observation) == answers.staff(observation) == ()
    assert answers.prestige(observation) == {}


def test_accepted_tasks_tell_when_they_are_due() -> None:
    observation = look("task accept --task-id Task-10\ntask accept --task-id Task-0")
    start = dt.datetime.fromisoformat("2025-01-01T09:00")
    assert answers.accepted(observation) == {"Task-10": (start, dt.datetime.fromisoformat("2025-01-09T18:00"))}
    assert answers.accepted(look("task list")) == {}


def test_a_turn_ends_with_looks_only_if_they_were_the_last_and_answered_whole() -> None:
    observation = look("client list\ncompany status\nclient list")
    assert answers.ends_with(observation, ["company status", "client list"])
    assert not answers.ends_with(observation, ["client list", "company status"])
    assert not answers.ends_with(observation, [])
    assert not answers.ends_with(look("foo"), ["foo"])


def test_answers_without_room_are_told() -> None:
    assert answers.cut(look("market browse --limit 9999\n" * 60))
    assert answers.cut(look("company status\n" * 8_000))
    assert not answers.cut(look("market browse\nfoo"))
