"""The recorded timelines of the classic rules, played anew by commands, to the microsecond and the cent.

Source: K-1, K-2. A record is made of what an agent is told and nothing else, in the words of the file, and compared as
a whole.
"""

# ruff: noqa: ANN401 -- answers are JSON of many shapes

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from ycbench_env import YCBenchEnv

RECORDS: Final = Path(__file__).parents[1] / "data" / "classic"
SEQUENTIAL: Final = ("sequential-hard-seed1", "sequential-medium-seed1", "sequential-tutorial-seed1")
CONCURRENT: Final = "concurrent-hard-seed3"

ONE_BY_ONE: Final = (
    "sequential; pick max (reward,title) among market tasks passing the gate of that commit; assign all employees; "
    "dispatch; resume until task_completed"
)
TWO_AT_ONCE: Final = (
    "keep 2 tasks active; pick max (reward,title) passing the gate; n-th start (0-based) assigns employees with index "
    "i (0-based) where (i+n)%3 != 0; dispatch; resume"
)
STARTS: Final = 6
WAKE_REASONS: Final = {"task_completed": "task_completed", "task_half": "task_half_progress"}


def record(name: str) -> Any:
    return json.loads((RECORDS / f"{name}.json").read_text())


def told(env: YCBenchEnv, turn: str) -> list[Any]:
    """What the commands of a turn are answered; none may be refused."""
    results = env.step(turn)[4]["results"]
    assert all(result["ok"] for result in results), results
    return [result["output"] for result in results]


def new_env(preset: str, seed: int, **world: object) -> YCBenchEnv:
    env = YCBenchEnv({"extends": f"classic-{preset}", "world": world})
    env.reset(seed=seed)
    return env


def best_offer(env: YCBenchEnv) -> Any:
    """The best paid listed task whose prestige the company has in one domain at least; of equals the last by id."""
    status, market = told(env, "company status; market browse --limit 1000")
    assert len(market["tasks"]) == market["total"] == env.config.world.num_market_tasks
    highest = max(status["prestige"].values())
    offers = [offer for offer in market["tasks"] if offer["required_prestige"] <= highest]
    return max(offers, key=lambda offer: (offer["reward_funds_cents"], offer["task_id"]))


def start(env: YCBenchEnv, task_id: str, names: list[str]) -> Any:
    """Take a task on in one turn, so that time is never moved by force; return what is told of it then."""
    one, team = f"--task-id {task_id}", ",".join(names)
    turn = f"task accept {one} && task assign {one} --employees {team} && task dispatch {one} && task inspect {one}"
    return told(env, turn)[-1]


def roster(env: YCBenchEnv) -> list[str]:
    return [employee["name"] for employee in told(env, "employee list")[0]["employees"]]


def requirements(task: Any) -> list[list[Any]]:
    """Its work as the records have it: sorted by the domain's name."""
    return sorted([need["domain"], need["required_qty"]] for need in task["requirements"])


def resumed(env: YCBenchEnv) -> tuple[Any, list[Any], Any]:
    """What a resume and the company's status after it say, with what happened apart from payrolls."""
    answer, status = told(env, "sim resume; company status")
    kinds = [event["type"] for event in answer["wake_events"]]
    assert kinds.count("monthly_payroll") == answer["payrolls_applied"]
    return answer, [event for event in answer["wake_events"] if event["type"] != "monthly_payroll"], status


# -------------------------------------------------------------------------------------------------- one task at a time


def sequential(env: YCBenchEnv, tasks: int) -> Iterator[Any]:
    """Play the policy of the sequential records and yield the steps as they have them."""
    for _ in range(tasks):
        offer = best_offer(env)
        inspected = start(env, offer["task_id"], roster(env))
        assert requirements(inspected) == requirements(offer)  # no floor, no trust, no inflation
        resumes: list[Any] = []
        status: Any = None
        while not resumes or resumes[-1][1] != "task_completed":
            answer, events, status = resumed(env)
            assert answer["terminal_reason"] is None
            resumes.append(
                [
                    answer["new_sim_time"],
                    WAKE_REASONS[answer["checkpoint_event_type"]],
                    [sequential_word(event) for event in events],
                    answer["payrolls_applied"],
                    answer["balance_delta"],
                ]
            )
        yield {
            "title": offer["task_id"],
            "req_prestige": offer["required_prestige"],
            "reward": offer["reward_funds_cents"],
            "dprestige": offer["reward_prestige_delta"],
            "boost": offer["skill_boost_pct"],
            "reqs": requirements(offer),
            "deadline": inspected["deadline"],
            "resumes": resumes,
            "funds_after": status["funds_cents"],
            "prestige_after": status["prestige"],
            "payroll_after": status["monthly_payroll_cents"],
        }


def sequential_word(event: Any) -> str:
    if event["type"] == "task_half":
        return f"task_half:{event['milestone_pct']}"
    return f"task_completed:{'ok' if event['success'] else 'late'}"


@pytest.mark.parametrize("name", SEQUENTIAL)
def test_one_task_at_a_time_goes_as_recorded(name: str) -> None:
    recorded = record(name)
    env = new_env(recorded["preset"], recorded["seed"])
    assert recorded == {
        "preset": recorded["preset"],
        "seed": recorded["seed"],
        "policy": ONE_BY_ONE,
        "terminal": None,
        "steps": list(sequential(env, len(recorded["steps"]))),
    }


# --------------------------------------------------------------------------------------------------- two tasks at once


def concurrent(env: YCBenchEnv) -> Iterator[Any]:
    """Play the policy of the concurrent record and yield the events as it has them."""
    names, numbers = roster(env), dict[str, int]()
    active = 0
    while active or len(numbers) < STARTS:
        while active < 2 and len(numbers) < STARTS:
            number, active = len(numbers), active + 1
            offer = best_offer(env)
            numbers[offer["task_id"]] = number
            team = [name for place, name in enumerate(names) if (place + number) % 3]
            inspected = start(env, offer["task_id"], team)
            assert inspected["reward_funds_cents"] == offer["reward_funds_cents"]
            yield {
                "start": f"{offer['task_id']}#{number}",
                "at": inspected["accepted_at"],
                "reqs": requirements(inspected),
                "deadline": inspected["deadline"],
                "assigned": [member["employee"] for member in inspected["assignments"]],
            }
        answer, events, status = resumed(env)
        assert answer["terminal_reason"] is None
        active -= sum(event["type"] == "task_completed" for event in events)
        yield {
            "resume": answer["new_sim_time"],
            "wake": [concurrent_word(event, numbers) for event in events],
            "payrolls": answer["payrolls_applied"],
            "funds": status["funds_cents"],
            "prestige": status["prestige"],
            "payroll": status["monthly_payroll_cents"],
        }


def concurrent_word(event: Any, numbers: dict[str, int]) -> str:
    title = f"{event['task_id']}#{numbers[event['task_id']]}"
    if event["type"] == "task_half":
        return f"{title}:half{event['milestone_pct']}"
    return f"{title}:{'ok' if event['success'] else 'late'}"


def test_two_tasks_at_once_go_as_recorded() -> None:
    recorded = record(CONCURRENT)
    env = new_env(recorded["preset"], recorded["seed"])
    assert recorded == {
        "preset": recorded["preset"],
        "seed": recorded["seed"],
        "policy": TWO_AT_ONCE,
        "terminal": None,
        "events": list(concurrent(env)),
    }
