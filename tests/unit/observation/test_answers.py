"""The answers to commands: values, places, sorting. Source: answers, Y-8, K-3; B26.

``ask`` compares each with its JSON; the keys and their order stand in the golden playthroughs, and ``world_proofs``
compares what a command did with its answer.
"""

import datetime as dt
from typing import Any

import attrs
import pytest
from worlds import ADVERSARIAL, BOTH, LOYAL, ask, staff

from ycbench_env.observation import answer
from ycbench_env.testing.tiny import (
    carried_out,
    instant,
    started,
    tiny_client,
    tiny_config,
    tiny_employee,
    tiny_state,
    tiny_task,
)
from ycbench_env.transition import advance, transition
from ycbench_env.types import command as c
from ycbench_env.types.command import (
    AcceptTask,
    AssignTask,
    BrowseMarket,
    CancelTask,
    DispatchTask,
    InspectTask,
    Resume,
)
from ycbench_env.types.event import Outcome
from ycbench_env.types.state import Employee, LedgerEntry, State


def ids(output: Any) -> list[str]:  # noqa: ANN401 -- JSON
    return [row["task_id"] for row in output["tasks"]]


# --------------------------------------------------------------------------------------------------- company and staff


def test_company_status_at_the_start() -> None:
    output = ask(tiny_state(prestige=(1, 2.5, 3.125, 10)), c.CompanyStatus())
    assert output["prestige"] == {"research": 1.0, "inference": 2.5, "data_environment": 3.125, "training": 10.0}
    assert (output["funds_cents"], output["monthly_payroll_cents"]) == (10_000_000, 200_000)
    assert (output["sim_time"], output["horizon_end"]) == ("2025-01-01T09:00:00", "2026-01-01T09:00:00")
    assert (output["employees"], output["next_payroll"]) == (2, "2025-02-03T09:00:00")
    assert output["risk"] == {"months_runway": 50.0, "bankrupt": False}


@pytest.mark.parametrize(
    ("funds", "people", "months"),
    [
        (1_000_000, [tiny_employee(n, salary_cents=150_000) for n in (1, 2)], 3.33),
        (100_000, [tiny_employee(n, salary_cents=150_000) for n in (1, 2)], 0.33),
        (0, staff(10, 10), 0.0),
        (-100_000, staff(10, 10), -0.5),
        (1, [], None),
        (1, [tiny_employee(1, salary_cents=0)], None),
    ],
)
def test_the_runway_is_funds_over_payroll_with_two_places(
    funds: int, people: list[Employee], months: float | None
) -> None:
    output = ask(tiny_state(employees=people, funds_cents=funds), c.CompanyStatus())
    assert output["risk"] == {"months_runway": months, "bankrupt": funds < 0}


def test_employees_show_rates_with_two_places_of_the_double_and_their_active_tasks() -> None:
    people = [tiny_employee(1, (1.005, 2.675, 10.0, 0.015)), tiny_employee(2, (3.3349, 3.335, 3.3351, 0.0))]
    state = started(started(tiny_state(employees=people), "Task-3", "Emp_2"), "Task-1", *BOTH)
    state = carried_out(state, AcceptTask("Task-4"), AssignTask("Task-4", ("Emp_1",)))  # planned, so not listed
    one, two = ask(state, c.ListEmployees())["employees"]
    # 1.005 is 1.00499999999999989, 2.675 is 2.67499999999999982, 0.015 is 0.0149999999999999.
    assert one["skill_rates"] == {"research": 1.0, "inference": 2.67, "data_environment": 10.0, "training": 0.01}
    # 3.335 is 3.33499999999999996447.
    assert two["skill_rates"] == {"research": 3.33, "inference": 3.33, "data_environment": 3.34, "training": 0.0}
    assert (one["active_tasks"], two["active_tasks"]) == (["Task-1"], ["Task-3", "Task-1"])


# ----------------------------------------------------------------------------------------------------------- the market


def test_a_line_of_the_market() -> None:
    market = [tiny_task(3, {"training": 250, "inference": 300}, delta=0.155, boost=0.1236)]
    assert ask(tiny_state(market=market), BrowseMarket()) == {
        "total": 1,
        "offset": 0,
        "limit": 50,
        "tasks": [
            {
                "task_id": "Task-3",
                "client_name": LOYAL,
                "required_prestige": 1,
                "required_trust": 0,
                "reward_funds_cents": 1_000_000,
                "reward_prestige_delta": 0.155,
                "skill_boost_pct": 0.1236,
                "requirements": [
                    {"domain": "inference", "required_qty": 300.0},
                    {"domain": "training", "required_qty": 250.0},
                ],
            }
        ],
    }


def test_the_best_paid_come_first_and_equal_rewards_by_slot() -> None:
    rewards = (500, 900, 500, 900, 700)
    market = [tiny_task(number, reward_cents=cents) for number, cents in zip((9, 3, 2, 1, 5), rewards, strict=True)]
    assert ids(ask(tiny_state(market=market), BrowseMarket())) == ["Task-3", "Task-1", "Task-5", "Task-9", "Task-2"]


@pytest.mark.parametrize(
    ("command", "total", "page"),
    [
        (BrowseMarket(), 6, [6, 5, 4, 3, 2, 1]),
        (BrowseMarket(domain="training"), 3, [5, 3, 1]),
        (BrowseMarket(domain="inference"), 0, []),
        (BrowseMarket(required_prestige_lte=0), 0, []),
        (BrowseMarket(required_prestige_lte=1), 2, [6, 1]),
        (BrowseMarket(required_prestige_lte=4), 3, [6, 2, 1]),
        (BrowseMarket(required_prestige_lte=5), 4, [6, 3, 2, 1]),  # included
        (BrowseMarket(reward_min_cents=500), 2, [6, 5]),  # included
        (BrowseMarket(limit=2, offset=3), 6, [3, 2]),
        (BrowseMarket("training", 200, limit=1, offset=1, required_prestige_lte=9), 2, [3]),  # the second of 5 and 3
    ],
)
def test_the_total_counts_all_matches_of_all_filters_and_not_the_page(
    command: BrowseMarket, total: int, page: list[int]
) -> None:
    """Tasks 1 to 6 pay 100 to 600 and require prestige 1, 3, 5, 7, 9 and 1 (with trust); the company has 1 and 5."""
    market = [
        tiny_task(n, {"training": 200} if n % 2 else 200, prestige=level, reward_cents=100 * n, trust=int(n == 6))
        for n, level in enumerate((1, 3, 5, 7, 9, 1), 1)
    ]
    output = ask(tiny_state(tiny_config(market_browse_scope="all"), market=market, prestige=(1, 5, 1, 1)), command)
    assert (output["total"], ids(output)) == (total, [f"Task-{n}" for n in page])
    assert ids(ask(tiny_state(market=market), BrowseMarket())) == ["Task-1"]  # where the scope is what is within reach


def test_only_what_could_be_accepted_now_is_listed() -> None:
    market = [
        tiny_task(1, {"research": 200, "training": 200}, prestige=2),
        tiny_task(2, prestige=2),
        tiny_task(3, trust=1),
        tiny_task(4, trust=1, client=ADVERSARIAL),
        tiny_task(5, prestige=3),
    ]
    clients = [tiny_client(trust=0.999), tiny_client(ADVERSARIAL, loyalty=-1.0, trust=1.0)]
    state = tiny_state(market=market, clients=clients, prestige=(2.999, 1, 1, 1.999))
    listed = ids(ask(state, BrowseMarket()))
    assert listed == ["Task-2", "Task-4"]
    for task in market:
        assert (transition(state, AcceptTask(task.task_id)).refusal is None) is (task.task_id in listed)


# -------------------------------------------------------------------------------------------------- tasks and clients


def varied() -> State:
    """Friday 2025-01-03 11:00: a success, a failure, a cancelled, an active and a planned task, in that order."""
    market = [tiny_task(1), tiny_task(2), tiny_task(3), tiny_task(4, {"training": 200, "research": 800}), tiny_task(5)]
    state = tiny_state(tiny_config(deadline_min_biz_days=2), employees=staff(10, 10, 10), market=market)
    state = started(state, "Task-1", *BOTH)
    state = started(state, "Task-2", "Emp_3")  # 20 h: Friday 11:00, due Thursday 18:00
    state = carried_out(state, AcceptTask("Task-3"), CancelTask("Task-3", "no"))
    state = carried_out(state, Resume())  # Thursday 10:00
    state = started(state, "Task-4", *BOTH)
    return carried_out(state, AcceptTask("Task-5"), Resume())


def test_the_list_of_own_tasks_has_the_newest_first() -> None:
    listed = ask(varied(), c.ListTasks())["tasks"]
    assert [(row["task_id"], row["status"], row["progress_pct"]) for row in listed] == [
        ("Task-5", "planned", 0.0),
        ("Task-4", "active", 43.48),  # 400 of 920 units
        ("Task-3", "cancelled", 0.0),
        ("Task-2", "completed_fail", 100.0),
        ("Task-1", "completed_success", 100.0),
    ]
    assert ids(ask(varied(), c.ListTasks("cancelled"))) == ["Task-3"]


def test_inspecting_an_own_task_shows_its_real_work_and_team() -> None:
    config = tiny_config(task_progress_milestones=[0.5])
    state = carried_out(tiny_state(config), AcceptTask("Task-2"), AssignTask("Task-2", ("Emp_2",)))
    state = attrs.evolve(state, now_us=instant("2025-01-01 10:00"))
    state = carried_out(state, AssignTask("Task-2", ("Emp_1",)), DispatchTask("Task-2"), Resume())
    output = ask(state, InspectTask("Task-2"))
    assert (output["accepted_at"], output["deadline"]) == ("2025-01-01T09:00:00", "2025-01-02T18:00:00")
    assert (output["completed_at"], output["success"], output["progress_pct"]) == (None, None, 50.0)
    assert output["requirements"] == [  # 200 were listed
        {"domain": "research", "required_qty": 800.0, "completed_qty": 400.0, "remaining_qty": 400.0}
    ]
    assert output["assignments"] == [
        {"employee": "Emp_1", "assigned_at": "2025-01-01T10:00:00"},
        {"employee": "Emp_2", "assigned_at": "2025-01-01T09:00:00"},
    ]


@pytest.mark.parametrize(
    ("task_id", "completed_at", "success"),
    [
        ("Task-1", "2025-01-02T10:00:00", True),
        ("Task-2", "2025-01-03T11:00:00", False),
        ("Task-3", None, None),
        ("Task-5", None, None),
    ],
)
def test_success_is_null_until_known_and_when_cancelled(
    task_id: str, completed_at: str | None, success: bool | None
) -> None:
    output = ask(varied(), InspectTask(task_id))
    assert (output["completed_at"], output["success"]) == (completed_at, success)


def test_clients_are_listed_by_name_with_specialties_as_drawn() -> None:
    clients = [
        tiny_client("Zenith Technologies", trust=1.234, specialties=("training", "inference")),
        tiny_client("Atlas Computing", loyalty=-1.0),
    ]
    zenith = {"trust_level": 1.234, "tier": "Standard", "specialties": ["training", "inference"]}
    assert ask(tiny_state(clients=clients, market=[]), c.ListClients())["clients"] == [
        {"name": "Atlas Computing", "trust_level": 0.0, "tier": "Standard", "specialties": ["research"]},
        {"name": "Zenith Technologies", **zenith},
    ]


def test_the_history_of_a_client_counts_successes_and_failures_and_no_cancelled_tasks() -> None:
    rows = [list(row.values()) for row in ask(varied(), c.ClientHistory())["client_history"]]
    assert rows == [[LOYAL, 1.0, 1, 1, 50.0], [ADVERSARIAL, 0.0, 0, 0, 0.0]]


def test_the_answer_to_a_cancellation_tells_what_was_lost() -> None:
    config = tiny_config(trust_fragility=0.5, penalty_cancel_multiplier=1.5)
    market = [tiny_task(1, {"training": 200, "research": 200}, delta=0.101)]
    state = tiny_state(config, prestige=(5, 5, 5, 1.1), clients=[tiny_client(trust=0.3)], market=market)
    output = ask(carried_out(state, AcceptTask("Task-1")), CancelTask("Task-1", "it's late"))
    # 1.5 x 0.101 = 0.1515, a tie with 3 places; its double is 0.15149999999999999.
    # 5 - 0.1515 = 4.8485, a tie as well; its double is 4.84849999999999959, so 4.848 is stored and 0.152 was lost.
    assert output == {
        "task_id": "Task-1",
        "status": "cancelled",
        "reason": "it's late",
        "cancel_penalty_per_domain": 0.151,
        "prestige_changes": {
            "research": {"old": 5.0, "new": 4.848, "delta": 0.152},
            "training": {"old": 1.1, "new": 1.0, "delta": 0.1},
        },
        "trust_delta": -0.3,  # no more than there was
        "bankrupt": False,
    }


@pytest.mark.parametrize(
    "command",
    [
        *(Resume(), AcceptTask("x"), InspectTask("x"), CancelTask("x", ""), DispatchTask("x"), AssignTask("x", ())),
        c.ReadScratchpad(),  # which belongs to no world
    ],
)
def test_a_refusal_answers_an_error_and_nothing_else(command: c.Command) -> None:
    output = ask(tiny_state(), command)
    assert list(output) == ["error"]
    assert output["error"]
    assert list(answer(tiny_state(), InspectTask("Task-9"), Outcome(tiny_state()))) == ["error"]


# ------------------------------------------------------------------------------------------------------------ the books


def day(text: str | None) -> dt.date | None:
    return None if text is None else dt.date.fromisoformat(text)


def with_books() -> State:
    """13 March 2025: a reward on 2 January, payrolls on 3 February and 3 March, a penalty on 13 March at 23:59."""
    state = carried_out(started(tiny_state(), "Task-1", *BOTH), Resume())
    state = advance(advance(state).state).state
    late = instant("2025-03-13 23:59:59.999999")
    entry = LedgerEntry(late, "task_fail_penalty", -300_000, "Task-1")
    return attrs.evolve(state, now_us=late, funds_cents=state.funds_cents - 300_000, ledger=(*state.ledger, entry))


def test_the_ledger_lists_every_booking_in_order() -> None:
    output = ask(with_books(), c.FinanceLedger())
    assert (output["count"], output["total_amount_cents"]) == (6, 300_000)
    assert [list(row.values()) for row in output["entries"]] == [
        ["2025-01-02T10:00:00", "task_reward", 1_000_000, "task", "Task-1"],
        ["2025-02-03T09:00:00", "monthly_payroll", -100_000, "employee", "Emp_1"],
        ["2025-02-03T09:00:00", "monthly_payroll", -100_000, "employee", "Emp_2"],
        ["2025-03-03T09:00:00", "monthly_payroll", -100_000, "employee", "Emp_1"],
        ["2025-03-03T09:00:00", "monthly_payroll", -100_000, "employee", "Emp_2"],
        ["2025-03-13T23:59:59.999999", "task_fail_penalty", -300_000, "task", "Task-1"],
    ]


@pytest.mark.parametrize(
    ("date_from", "date_to", "category", "count"),
    [
        ("2025-02-03", None, None, 5),  # the named day is included
        ("2025-02-04", None, None, 3),
        (None, "2025-02-03", None, 3),  # here as well, although the payroll is at 09:00
        (None, "2025-02-02", None, 1),
        ("2025-02-03", "2025-02-03", None, 2),
        ("2025-03-13", "2025-03-13", None, 1),  # to the last microsecond of the day
        (None, "2025-03-12", None, 5),
        ("2025-03-14", None, None, 0),
        ("2025-03-01", "2025-02-01", None, 0),
        ("1970-01-01", "2999-12-31", None, 6),
        (None, None, "monthly_payroll", 4),
        ("2025-03-04", None, "task_fail_penalty", 1),
        ("2025-03-04", None, "task_reward", 0),
    ],
)
def test_both_days_of_the_ledger_are_included(
    date_from: str | None, date_to: str | None, category: str | None, count: int
) -> None:
    output = ask(with_books(), c.FinanceLedger(day(date_from), day(date_to), category))
    assert output["count"] == count
    assert output["total_amount_cents"] == sum(row["amount_cents"] for row in output["entries"])


@pytest.mark.parametrize(
    ("first", "last", "months"),
    [
        (None, None, [1, 2, 3]),
        ("2025-02-01", None, [2, 3]),
        (None, "2025-02-01", [1, 2]),
        ("2025-02-01", "2025-02-01", [2]),
        ("2024-01-01", "2030-01-01", [1, 2, 3]),
        ("2025-03-01", "2025-02-01", []),
        ("2025-04-01", None, []),
    ],
)
def test_the_report_has_every_month_up_to_the_current_one_and_both_that_are_named(
    first: str | None, last: str | None, months: list[int]
) -> None:
    output = ask(with_books(), c.ReportMonthly(day(first), day(last)))
    rows = {
        1: ["2025-01-01", 1_000_000, 0, 1_000_000, 11_000_000],
        2: ["2025-02-01", 0, 200_000, -200_000, 10_800_000],
        3: ["2025-03-01", 0, 500_000, -500_000, 10_300_000],  # payroll and penalty
    }
    assert [list(row.values()) for row in output["months"]] == [rows[month] for month in months]
    assert output["count"] == len(months)
