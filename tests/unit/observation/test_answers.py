"""The answers to commands: keys, their order, places, sorting. Source: answers, Y-8."""

import json

import attrs
import pytest

from ycbench_env.observation import answer, encoded_answer
from ycbench_env.testing.tiny import (
    ADVERSARIAL,
    LOYAL,
    carried_out,
    instant,
    started,
    tiny_client,
    tiny_config,
    tiny_employee,
    tiny_state,
    tiny_task,
)
from ycbench_env.text import Json, JsonObject
from ycbench_env.transition import transition
from ycbench_env.types.command import (
    AcceptTask,
    AssignTask,
    BrowseMarket,
    CancelTask,
    ClientHistory,
    Command,
    CompanyStatus,
    DispatchTask,
    FinanceLedger,
    InspectTask,
    ListClients,
    ListEmployees,
    ListTasks,
    ReadScratchpad,
    ReportMonthly,
    Resume,
)
from ycbench_env.types.event import Outcome
from ycbench_env.types.state import Employee, State
from ycbench_env.vocabulary import DOMAINS

BOTH = ("Emp_1", "Emp_2")


def ask(state: State, command: Command) -> JsonObject:
    """The answer to a command; the same as JSON must be the encoded answer, to the letter."""
    outcome = transition(state, command)
    output, text = encoded_answer(state, command, outcome)
    assert output == answer(state, command, outcome)
    assert text == json.dumps(output, separators=(",", ":"), ensure_ascii=False)
    return output


def rows(output: JsonObject, key: str) -> list[JsonObject]:
    found = output[key]
    assert isinstance(found, list)
    return [row for row in found if isinstance(row, dict)]


def keys(output: Json) -> list[str]:
    assert isinstance(output, dict)
    return list(output)


# ------------------------------------------------------------------------------------------------------------ company


def test_company_status_at_the_start() -> None:
    output = ask(tiny_state(prestige=(1, 2.5, 3.125, 10)), CompanyStatus())
    assert list(output.items()) == [
        ("company_name", "BenchCo"),
        ("funds_cents", 10_000_000),
        ("prestige", {"research": 1.0, "inference": 2.5, "data_environment": 3.125, "training": 10.0}),
        ("sim_time", "2025-01-01T09:00:00"),
        ("horizon_end", "2026-01-01T09:00:00"),
        ("tasks", {"active": 0, "planned": 0, "completed": 0, "cancelled": 0}),
        ("employees", 2),
        ("next_payroll", "2025-02-03T09:00:00"),
        ("monthly_payroll_cents", 200_000),
        ("risk", {"months_runway": 50.0, "bankrupt": False}),
    ]
    assert keys(output["tasks"]) == ["active", "planned", "completed", "cancelled"]
    assert keys(output["risk"]) == ["months_runway", "bankrupt"]
    assert keys(output["prestige"]) == list(DOMAINS)


@pytest.mark.parametrize(
    ("funds", "salary", "months"),
    [(1_000_000, 150_000, 3.33), (100_000, 150_000, 0.33), (0, 100_000, 0.0), (-100_000, 100_000, -0.5)],
)
def test_the_runway_is_funds_over_payroll_with_two_places(funds: int, salary: int, months: float) -> None:
    staff = [tiny_employee(1, salary_cents=salary), tiny_employee(2, salary_cents=salary)]
    state = tiny_state(employees=staff, funds_cents=funds)
    assert ask(state, CompanyStatus())["risk"] == {"months_runway": months, "bankrupt": funds < 0}


@pytest.mark.parametrize("staff", [[], [tiny_employee(1, salary_cents=0)]])
def test_there_is_no_runway_without_a_payroll(staff: list[Employee]) -> None:
    output = ask(tiny_state(employees=staff), CompanyStatus())
    assert (output["monthly_payroll_cents"], output["risk"]) == (0, {"months_runway": None, "bankrupt": False})


def test_the_listing_of_employees() -> None:
    staff = [
        tiny_employee(1, (1.005, 2.675, 10.0, 0.015), salary_cents=123_456),
        tiny_employee(2, (3.3349, 3.335, 3.3351, 0.0), tier="senior"),
    ]
    state = started(started(tiny_state(employees=staff), "Task-3", "Emp_2"), "Task-1", *BOTH)
    state = carried_out(state, AcceptTask("Task-4"), AssignTask("Task-4", ("Emp_1",)))  # planned, so not listed
    output = ask(state, ListEmployees())
    assert list(output) == ["count", "employees"]
    assert output["count"] == 2
    one, two = rows(output, "employees")
    assert keys(one) == ["name", "tier", "salary_cents", "skill_rates", "active_tasks"]
    assert keys(one["skill_rates"]) == list(DOMAINS)
    assert (one["name"], one["tier"], one["salary_cents"]) == ("Emp_1", "junior", 123_456)
    # Two places of the double: 1.005 is 1.00499999999999989, 2.675 is 2.67499999999999982, 0.015 is 0.0149999999999999.
    assert one["skill_rates"] == {"research": 1.0, "inference": 2.67, "data_environment": 10.0, "training": 0.01}
    # 3.335 is 3.33499999999999996447.
    assert two["skill_rates"] == {"research": 3.33, "inference": 3.33, "data_environment": 3.34, "training": 0.0}
    assert one["active_tasks"] == ["Task-1"]
    assert two["active_tasks"] == ["Task-3", "Task-1"]


# -------------------------------------------------------------------------------------------------------------- tasks


def varied() -> State:
    """Friday 2025-01-03 11:00: a success, a failure, a cancelled, an active and a planned task, in that order."""
    config = tiny_config(deadline_min_biz_days=2)
    staff = [tiny_employee(number) for number in range(1, 4)]
    market = [tiny_task(1), tiny_task(2), tiny_task(3), tiny_task(4, {"training": 200, "research": 800}), tiny_task(5)]
    state = tiny_state(config, employees=staff, market=market)
    state = started(state, "Task-1", *BOTH)
    state = started(state, "Task-2", "Emp_3")  # 20 h: Friday 11:00, due Thursday 18:00
    state = carried_out(state, AcceptTask("Task-3"), CancelTask("Task-3", "no"))
    state = carried_out(state, Resume())  # Thursday 10:00
    state = started(state, "Task-4", *BOTH)
    state = carried_out(state, AcceptTask("Task-5"), Resume())
    assert [task.status for task in state.tasks] == [
        "completed_success",
        "completed_fail",
        "cancelled",
        "active",
        "planned",
    ]
    return state


def test_the_list_of_own_tasks_has_the_newest_first() -> None:
    output = ask(varied(), ListTasks())
    assert list(output) == ["count", "tasks"]
    assert output["count"] == 5
    listed = rows(output, "tasks")
    for row in listed:
        assert keys(row) == ["task_id", "title", "status", "client_name", "progress_pct", "deadline", "at_risk"]
        assert row["title"] == row["task_id"]
    assert [(row["task_id"], row["status"], row["progress_pct"]) for row in listed] == [
        ("Task-5", "planned", 0.0),
        ("Task-4", "active", 43.48),  # 400 of 920 units, see below
        ("Task-3", "cancelled", 0.0),
        ("Task-2", "completed_fail", 100.0),
        ("Task-1", "completed_success", 100.0),
    ]


INSPECTED = [
    "task_id", "title", "status", "client_name", "required_prestige", "required_trust", "reward_funds_cents",
    "reward_prestige_delta", "skill_boost_pct", "accepted_at", "deadline", "completed_at", "success", "progress_pct",
    "requirements", "assignments",
]  # fmt: skip


def test_inspecting_an_own_task_shows_its_real_work_and_team() -> None:
    config = tiny_config(task_progress_milestones=[0.5])
    state = carried_out(tiny_state(config), AcceptTask("Task-2"), AssignTask("Task-2", ("Emp_2",)))
    state = attrs.evolve(state, now_us=instant("2025-01-01 10:00"))
    state = carried_out(state, AssignTask("Task-2", ("Emp_1",)), DispatchTask("Task-2"), Resume())
    output = ask(state, InspectTask("Task-2"))
    assert list(output) == INSPECTED
    assert (output["status"], output["accepted_at"], output["deadline"]) == (
        "active", "2025-01-01T09:00:00", "2025-01-02T18:00:00",
    )  # fmt: skip
    assert (output["completed_at"], output["success"], output["progress_pct"]) == (None, None, 50.0)
    assert output["requirements"] == [  # 200 were listed
        {"domain": "research", "required_qty": 800.0, "completed_qty": 400.0, "remaining_qty": 400.0}
    ]
    assert output["assignments"] == [
        {"employee": "Emp_1", "assigned_at": "2025-01-01T10:00:00"},
        {"employee": "Emp_2", "assigned_at": "2025-01-01T09:00:00"},
    ]
    assert keys(rows(output, "assignments")[0]) == ["employee", "assigned_at"]


@pytest.mark.parametrize(
    ("task_id", "completed_at", "success", "progress"),
    [
        ("Task-1", "2025-01-02T10:00:00", True, 100.0),
        ("Task-2", "2025-01-03T11:00:00", False, 100.0),
        ("Task-3", None, None, 0.0),
        ("Task-5", None, None, 0.0),
    ],
)
def test_success_is_null_until_known_and_when_cancelled(
    task_id: str, completed_at: str | None, success: bool | None, progress: float
) -> None:
    output = ask(varied(), InspectTask(task_id))
    assert (output["completed_at"], output["success"], output["progress_pct"]) == (completed_at, success, progress)


# ------------------------------------------------------------------------------------------------------------ clients


def test_clients_are_listed_by_name() -> None:
    clients = [
        tiny_client("Zenith Technologies", trust=1.234, specialties=("training", "inference")),
        tiny_client("Atlas Computing", loyalty=-1.0),
    ]
    output = ask(tiny_state(clients=clients, market=[]), ListClients())
    assert list(output) == ["count", "clients"]
    assert output == {
        "count": 2,
        "clients": [
            {"name": "Atlas Computing", "trust_level": 0.0, "tier": "Standard", "specialties": ["research"]},
            {
                "name": "Zenith Technologies",
                "trust_level": 1.234,
                "tier": "Standard",
                "specialties": ["training", "inference"],  # as drawn
            },
        ],
    }
    assert keys(rows(output, "clients")[0]) == ["name", "trust_level", "tier", "specialties"]


def test_the_history_of_a_client_counts_successes_and_failures_and_no_cancelled_tasks() -> None:
    output = ask(varied(), ClientHistory())
    assert list(output) == ["count", "client_history"]
    assert output == {
        "count": 2,
        "client_history": [
            {
                "client_name": LOYAL,
                "trust_level": 1.0,
                "tasks_succeeded": 1,
                "tasks_failed": 1,
                "failure_rate_pct": 50.0,
            },
            {
                "client_name": ADVERSARIAL,
                "trust_level": 0.0,
                "tasks_succeeded": 0,
                "tasks_failed": 0,
                "failure_rate_pct": 0.0,
            },
        ],
    }
    assert keys(rows(output, "client_history")[0]) == [
        "client_name", "trust_level", "tasks_succeeded", "tasks_failed", "failure_rate_pct",
    ]  # fmt: skip


# ----------------------------------------------------------------------------------------------- commands that change


def test_the_answer_to_an_acceptance_names_the_replacement() -> None:
    output = ask(tiny_state(), AcceptTask("Task-3"))
    assert list(output.items()) == [
        ("task_id", "Task-3"),
        ("status", "planned"),
        ("accepted_at", "2025-01-01T09:00:00"),
        ("deadline", "2025-01-02T18:00:00"),
        ("replacement_task_id", "Task-2000"),
    ]


def test_the_answer_to_an_assignment_tells_who_is_new() -> None:
    state = carried_out(tiny_state(), AcceptTask("Task-1"), AssignTask("Task-1", ("Emp_2",)))
    output = ask(state, AssignTask("Task-1", ("Emp_2", "Emp_1", "Emp_1")))
    assert list(output.items()) == [
        ("task_id", "Task-1"),
        ("status", "planned"),
        ("newly_assigned", ["Emp_1"]),
        ("total_assigned", ["Emp_1", "Emp_2"]),
    ]
    assert ask(state, AssignTask("Task-1", ("Emp_2",)))["newly_assigned"] == []


def test_the_answer_to_a_dispatch() -> None:
    state = carried_out(tiny_state(), AcceptTask("Task-1"), AssignTask("Task-1", BOTH))
    assert list(ask(state, DispatchTask("Task-1")).items()) == [
        ("task_id", "Task-1"),
        ("status", "active"),
        ("assignment_count", 2),
        ("assigned_employees", ["Emp_1", "Emp_2"]),
    ]


def test_the_answer_to_a_cancellation_tells_what_was_lost() -> None:
    config = tiny_config(trust_fragility=0.5, penalty_cancel_multiplier=1.5)
    state = tiny_state(config, prestige=(5, 5, 5, 1.1), clients=[tiny_client(trust=0.3)],
                       market=[tiny_task(1, {"training": 200, "research": 200}, delta=0.101)])  # fmt: skip
    output = ask(carried_out(state, AcceptTask("Task-1")), CancelTask("Task-1", "it's late"))
    # 1.5 x 0.101 = 0.1515, a tie with 3 places; its double is 0.15149999999999999.
    # 5 - 0.1515 = 4.8485, a tie as well; its double is 4.84849999999999959, so 4.848 is stored and 0.152 was lost.
    assert list(output) == [
        "task_id", "status", "reason", "cancel_penalty_per_domain", "prestige_changes", "trust_delta", "bankrupt",
    ]  # fmt: skip
    assert (output["task_id"], output["status"], output["reason"]) == ("Task-1", "cancelled", "it's late")
    assert output["cancel_penalty_per_domain"] == 0.151
    assert output["prestige_changes"] == {
        "research": {"old": 5.0, "new": 4.848, "delta": 0.152},
        "training": {"old": 1.1, "new": 1.0, "delta": 0.1},
    }
    assert keys(output["prestige_changes"]) == ["research", "training"]
    assert (output["trust_delta"], output["bankrupt"]) == (-0.3, False)  # no more than there was


RESUMED = [
    "ok", "old_sim_time", "new_sim_time", "checkpoint_event_type", "events_processed", "payrolls_applied",
    "balance_delta", "wake_events", "bankrupt", "horizon_reached", "terminal_reason",
]  # fmt: skip


def test_the_answer_to_a_resume_that_completes_a_task() -> None:
    config = tiny_config(salary_bump_pct=0.01, task_progress_milestones=[1.0])
    output = ask(started(tiny_state(config), "Task-1", *BOTH), Resume())
    assert list(output) == RESUMED
    assert output == {
        "ok": True,
        "old_sim_time": "2025-01-01T09:00:00",
        "new_sim_time": "2025-01-02T10:00:00",
        "checkpoint_event_type": "task_half",  # the last one
        "events_processed": 2,
        "payrolls_applied": 0,
        "balance_delta": 1_000_000,
        "wake_events": [
            {
                "type": "task_completed",
                "task_id": "Task-1",
                "task_title": "Task-1",
                "client_name": LOYAL,
                "success": True,
                "funds_delta": 1_000_000,
                "listed_reward": 1_000_000,
                "trust_delta": 1.0,
                "deadline_margin": "ahead by 8h",
                "employees_assigned": 2,
                "salary_bump_total_cents": 2000,
                "bankrupt": False,
            },
            {"type": "task_half", "task_id": "Task-1", "milestone_pct": 100, "handled": True},
        ],
        "bankrupt": False,
        "horizon_reached": False,
        "terminal_reason": None,
    }


def test_the_answer_to_the_resume_that_reaches_the_horizon() -> None:
    state = started(tiny_state(employees=[tiny_employee(1, 0.0)]), "Task-1", "Emp_1")
    for _ in range(11):
        state = carried_out(state, Resume())
    output = ask(state, Resume())
    assert (output["old_sim_time"], output["new_sim_time"]) == ("2025-12-01T09:00:00", "2026-01-01T09:00:00")
    assert output["wake_events"] == [{"type": "horizon_end", "reached": True}]
    assert (output["bankrupt"], output["horizon_reached"], output["terminal_reason"]) == (False, True, "horizon_end")


@pytest.mark.parametrize(
    "command",
    [Resume(), AcceptTask("x"), InspectTask("x"), CancelTask("x", ""), DispatchTask("x"), AssignTask("x", ())],
)
def test_a_refusal_answers_an_error_and_nothing_else(command: Command) -> None:
    output = ask(tiny_state(), command)
    assert list(output) == ["error"]
    assert isinstance(output["error"], str)
    assert output["error"]


def test_a_question_about_an_unknown_task_is_an_error_even_unasked() -> None:
    assert "error" in answer(tiny_state(), InspectTask("Task-9"), Outcome(tiny_state()))


def test_commands_of_the_scratchpad_belong_to_no_world() -> None:
    assert list(ask(tiny_state(), ReadScratchpad())) == ["error"]


QUERIES = (
    CompanyStatus(), ListEmployees(), BrowseMarket(), ListTasks(), InspectTask("Task-4"), ListClients(),
    ClientHistory(), FinanceLedger(), ReportMonthly(),
)  # fmt: skip


@pytest.mark.parametrize("command", QUERIES, ids=lambda command: type(command).__name__)
def test_answers_are_fresh_objects_each_time(command: Command) -> None:
    state = varied()
    first = ask(state, command)
    text = json.dumps(first)
    spoil(first)
    assert json.dumps(ask(state, command)) == text


def spoil(value: Json) -> None:
    """Change everything that can be changed in an answer."""
    if isinstance(value, dict):
        for item in value.values():
            spoil(item)
        value.clear()
    elif isinstance(value, list):
        for item in value:
            spoil(item)
        value.clear()
