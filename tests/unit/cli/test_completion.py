"""Completion: from the table of commands and what has been told, and from nothing else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

from ycbench_agents.cli.play.completion import complete
from ycbench_agents.cli.play.knowledge import Knowledge
from ycbench_agents.cli.play.meta import META
from ycbench_agents.cli.play.session import Session
from ycbench_env import CommandSpace, load_config
from ycbench_env.actions import DEFAULT_GRAMMAR, grammar_for

if TYPE_CHECKING:
    from ycbench_env import Observation

SPACE = CommandSpace(task_ids=200, employees=8)
KNOWN = Knowledge(3, {"Task-5": "market", "Task-1": "planned", "Task-2": "active", "Task-3": "cancelled"})


def _words(before: str, knowledge: Knowledge = KNOWN) -> list[str]:
    return [each.text for each in complete(before, SPACE, knowledge, META)]


@pytest.mark.parametrize(
    ("before", "words"),
    [
        ("ta", ["task"]),
        ("yc-bench ta", ["task"]),
        ("task a", ["accept", "assign"]),
        ("task accept ", ["--task-id"]),
        ("sim resume ", ["--help"]),
        ("sim resume --help ", []),
        ("task accept --task-id ", ["Task-5"]),
        ("task accept --task-id=", ["Task-5"]),
        ("task dispatch --task-id T", ["Task-1"]),
        ("task cancel --task-id Task", ["Task-1", "Task-2"]),
        ("task inspect --task-id ", ["Task-5", "Task-1", "Task-2", "Task-3"]),
        ("task assign --task-id Task-1 --", ["--employees"]),
        ("task assign --employees ", ["Emp_1", "Emp_2", "Emp_3"]),
        ("task assign --employees Emp_1,", ["Emp_2", "Emp_3"]),
        ("task assign --employees=Emp_2,Emp_3,E", ["Emp_1"]),
        ("market browse --domain i", ["inference"]),
        ("task list --status completed", ["completed_success", "completed_fail"]),
        ("task list; market b", ["browse"]),
        ("task list && sim ", ["resume"]),
        ("task list\nsim ", ["resume"]),
        (":q", [":quit"]),
        (":", [name for name, _ in META]),
        ("market browse --limit ", []),
        ('task cancel --task-id Task-1 --reason "too ', []),
        ("no such thing ", []),
        ("task no ", []),
        ("market ; ", [*dict.fromkeys(spec.verb[0] for spec in DEFAULT_GRAMMAR.commands)]),
    ],
)
def test_what_may_stand_at_the_cursor_is_offered(before: str, words: list[str]) -> None:
    assert _words(before) == words


@pytest.mark.parametrize(
    ("before", "words"),
    [
        ("task assign --task-id Task-1 --", ["--employees", "--employee-id"]),
        ("task assign --task-id Task-1 --employee-id ", ["Emp_1", "Emp_2", "Emp_3"]),
        ("task assign --employee-id=Emp_2 ", ["--task-id"]),
        ("task assign --employees Emp_1,Emp_2 ", ["--task-id"]),
        ("market browse --r", ["--reward-min-cents", "--required-prestige-lte"]),
        ("cl", []),
    ],
)
def test_completion_follows_the_commands_of_the_world(before: str, words: list[str]) -> None:
    space = CommandSpace(task_ids=9, employees=3, grammar=grammar_for(load_config("classic-hard", environ={}).world))
    assert [each.text for each in complete(before, space, KNOWN, META)] == words


def test_every_command_and_option_of_the_table_can_be_completed() -> None:
    for spec in DEFAULT_GRAMMAR.commands:
        assert spec.verb[1] in _words(f"{spec.verb[0]} ")
        offered = _words(f"{spec.name} ")
        assert {option.name for option in spec.options} <= set(offered)


def test_a_completed_word_replaces_what_was_typed_of_it() -> None:
    (one,) = complete("task assign --employees Emp_1,Emp_2,Em", SPACE, KNOWN, META)
    assert (one.text, one.length, one.ends) == ("Emp_3", 2, False)


def test_a_blank_follows_a_whole_word() -> None:
    assert all(each.ends for each in complete("task accept --task-id=T", SPACE, KNOWN, META))


def _observation(results: object, events: object = (), employees: int = 8) -> Observation:
    seen = {"results": json.dumps(results), "events": json.dumps(events), "employees": np.array(employees)}
    return cast("Observation", seen)


def test_nothing_is_known_of_tasks_before_an_answer_tells() -> None:
    session = Session(load_config("default", environ={}), 1, scratchpad=True)
    assert session.knowledge == Knowledge(8, {})
    session.step("company status")
    assert session.knowledge == Knowledge(8, {})


def test_a_game_is_followed_by_its_answers_and_events() -> None:
    session = Session(load_config("default", environ={}), 1, scratchpad=True)
    session.step("market browse --limit 2")
    assert session.knowledge.tasks == {"Task-10": "market", "Task-8": "market"}
    session.step("task accept --task-id Task-8")
    assert session.knowledge.tasks == {"Task-10": "market", "Task-8": "planned", "Task-7000": "market"}
    session.step("task assign --task-id Task-8 --employees Emp_1,Emp_2,Emp_4,Emp_6; task dispatch --task-id Task-8")
    assert session.knowledge.tasks["Task-8"] == "active"
    while session.knowledge.tasks["Task-8"] == "active":
        session.step("sim resume")
    assert session.knowledge.tasks["Task-8"].startswith("completed_")


def test_refusals_and_cut_answers_tell_nothing() -> None:
    results = [
        {"command": "task inspect --task-id Task-9", "ok": False, "output": {"error": "no"}},
        {"command": "market browse", "ok": True, "output": {"cut": 300_000}},
        {"command": "x", "ok": True, "output": {"tasks": {"active": 1}}},
        {"cut_results": 5},
    ]
    assert Knowledge.of(_observation(results, [{"cut_results": 2}])) == Knowledge(8, {})


def test_a_cancelled_task_is_offered_no_more() -> None:
    told = [{"command": "task cancel", "ok": True, "output": {"task_id": "Task-1", "status": "cancelled"}}]
    knowledge = KNOWN.after(_observation(told))
    assert _words("task cancel --task-id ", knowledge) == ["Task-2"]
