"""The invariants of the test kit: each of them fails where something is wrong."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from ycbench_env import YCBenchEnv
from ycbench_env.testing import (
    check_kept_figures,
    check_state,
    check_turn,
    tiny_config,
    tiny_state,
)
from ycbench_env.testing.advance_invariants import check_advance
from ycbench_env.testing.command_invariants import check_answer
from ycbench_env.testing.invariants import check_start
from ycbench_env.testing.tiny import ADVERSARIAL, LOYAL, instant, started, tiny_client, tiny_employee, tiny_task
from ycbench_env.transition import advance, transition
from ycbench_env.types.command import (
    AcceptTask,
    BrowseMarket,
    CancelTask,
    Command,
    CompanyStatus,
    ListEmployees,
    ReportMonthly,
    Resume,
)
from ycbench_env.types.state import State, evolve
from ycbench_env.units import iso_time


def spoilt(**changes: object) -> State:
    """The tiny world at its start with some fields changed."""
    return evolve(tiny_state(), **changes)


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (spoilt(funds_cents=1), "funds against initial funds and ledger"),
        (spoilt(now_us=0), "outside the episode"),
        (spoilt(now_us=tiny_state().calendar.horizon_us), "the episode goes on"),
        (spoilt(terminal_reason="bankruptcy"), "bankruptcy against negative funds"),
        (spoilt(terminal_reason="horizon_end"), "before the horizon"),
        (spoilt(market=tiny_state().market[:1] * 4), "ids are not unique"),
        (spoilt(market=tiny_state().market[:3]), "size of the market"),
        (spoilt(slot_accepts=(1, 0, 0, 0)), "replaced \\(1"),
        (spoilt(payrolls_charged=2), "payrolls charged"),
        (spoilt(prestige_milli=(1000, 1000, 999, 1000)), "prestige 999"),
        (spoilt(clients=(tiny_client(trust=5.001), tiny_client("Vertex Labs"))), "trust 5001"),
        (spoilt(employees=(tiny_employee(1, 20.5), tiny_employee(2))), "Emp_1 has the rate 205000"),
        (spoilt(market=(*tiny_state().market[:3], tiny_task(4, client="Nobody"))), "Task-4 is of Nobody"),
        (spoilt(now_us=tiny_state().calendar.payrolls_us[0], payrolls_charged=1), "payrolls booked"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_state_that_cannot_be_is_refused(state: State, message: str) -> None:
    check_state(tiny_state())
    with pytest.raises(AssertionError, match=message):
        check_state(state)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"done_e4": (3_000_000,)}, "done"),
        ({"team": ()}, None),
        ({"status": "planned"}, "it has a forecast"),
        ({"status": "completed_success"}, "time of completion"),
        ({"completion_us": 5}, "passed over"),
        ({"accepted_us": 10**18}, "accepted in the future"),
        ({"team": tuple(reversed(started(tiny_state(), "Task-1", "Emp_1", "Emp_2").tasks[0].team))}, "team"),
    ],
    ids=str,
)
def test_a_task_that_cannot_be_is_refused(change: dict[str, Any], message: str | None) -> None:
    state = started(tiny_state(), "Task-1", "Emp_1", "Emp_2")
    changed = evolve(state, tasks=(evolve(state.tasks[0], **change),))
    if message is None:
        check_state(changed)
        return
    with pytest.raises(AssertionError, match=message):
        check_state(changed)


def test_an_outdated_figure_is_found_wherever_it_is_kept() -> None:
    state = started(tiny_state(), "Task-1", "Emp_1")
    YCBenchEnv(state.config).set_state(state)
    check_kept_figures(state)
    for holder, figure in ((state, "monthly_payroll_cents"), (state.market[0], "task_id")):
        right = getattr(holder, figure)
        vars(holder)[figure] = "outdated"
        with pytest.raises(AssertionError, match=f"keeps an outdated {figure}"):
            check_kept_figures(state)
        vars(holder)[figure] = right
    check_kept_figures(state)


def test_a_turn_that_takes_something_back_is_refused() -> None:
    state = started(tiny_state(), "Task-1", "Emp_1")
    done = transition(state, Resume()).state
    check_turn(state, done)
    with pytest.raises(AssertionError, match="the clock went back"):
        check_turn(done, state)
    poorer = evolve(done, employees=(evolve(done.employees[0], salary_cents=1), done.employees[1]))
    with pytest.raises(AssertionError, match="Emp_1 earns less"):
        check_turn(state, poorer)


def test_an_advance_that_reports_another_delta_is_refused() -> None:
    state = started(tiny_state(), "Task-1", "Emp_1", "Emp_2")
    env = YCBenchEnv(state.config)
    env.set_state(state)
    events = env.step("sim resume")[4]["events"]
    after = env.get_state()
    check_advance(state, after, events)
    for key, value, message in (
        ("funds_delta", 5, "change of funds"),
        ("salary_bump_total_cents", 5, "raises reported"),
        ("trust_delta", 0.5, "trust_delta"),
        ("success", False, "status after"),
        ("employees_assigned", 1, "team of"),
        ("deadline_margin", "late by 8h", "margin of"),
        ("client_name", "Vertex Labs", "client of"),
        ("listed_reward", 1, "listed reward"),
    ):
        with pytest.raises(AssertionError, match=message):
            check_advance(state, after, [{**events[0], key: value}])
    with pytest.raises(AssertionError, match="change of funds"):
        check_advance(state, after, [])
    with pytest.raises(AssertionError, match="time stood still"):
        check_advance(state, state, [])
    paid = advance(tiny_state()).state
    payroll = [{"type": "monthly_payroll", "funds_after": paid.funds_cents}]
    check_advance(tiny_state(), paid, payroll)
    with pytest.raises(AssertionError, match="funds_after"):
        check_advance(tiny_state(), paid, [{**payroll[0], "funds_after": 0}])


def test_an_advance_that_made_something_else_of_the_world_is_refused() -> None:
    # Task-2 is done with most of Task-1 still open; its success brings prestige, trust, skill and pay.
    config = tiny_config(task_progress_milestones=[0.5], salary_bump_pct=0.1)
    market = (tiny_task(1, 900), tiny_task(2, {"inference": 200}, boost=0.5), *tiny_state().market[2:])
    fresh = tiny_state(config, market=market, employees=(tiny_employee(1), tiny_employee(2, [20.0, 19.0, 18.0, 17.0])))
    state = started(started(fresh, "Task-1", "Emp_1"), "Task-2", "Emp_2")
    env = YCBenchEnv(config)
    env.set_state(state)
    events = env.step("sim resume")[4]["events"]
    assert [event["type"] for event in events] == ["task_half"]
    halfway = env.get_state()
    check_advance(state, halfway, events)
    with pytest.raises(AssertionError, match="is not between milestones"):
        check_advance(state, halfway, [{**events[0], "milestone_pct": 51}])
    events = env.step("sim resume")[4]["events"]
    assert [event["type"] for event in events] == ["task_completed"]
    after = env.get_state()
    check_advance(halfway, after, events)
    first, second = after.employees
    tasks = (evolve(after.tasks[0], done_e4=(after.tasks[0].done_e4[0] + 1,)), after.tasks[1])
    for change, message in (
        ({"prestige_milli": (1_000, 1_101, 1_000, 1_000)}, "^prestige"),
        ({"clients": (evolve(after.clients[0], trust_milli=1), after.clients[1])}, "^trust"),
        ({"employees": (first, evolve(second, rates_e4=first.rates_e4))}, "salaries and rates"),
        ({"employees": (evolve(first, salary_cents=second.salary_cents), tiny_employee(2))}, "salaries and rates"),
        ({"tasks": tasks}, "work of Task-1"),
        ({"tasks": (after.tasks[0], halfway.tasks[1])}, "status after"),
    ):
        with pytest.raises(AssertionError, match=message):
            check_advance(halfway, evolve(after, **change), events)


def test_a_payroll_must_stop_time_or_not_as_the_rules_say() -> None:
    stopping, passing = (tiny_config(resume_stops_at_payroll=stops) for stops in (True, False))
    before = tiny_state(passing)
    after = advance(before).state
    events: list[dict[str, Any]] = [
        {"type": "monthly_payroll", "funds_after": 10_000_000 - 200_000 * n} for n in range(1, 12)
    ]
    events.append({"type": "horizon_end", "reached": True})
    check_advance(before, after, events)
    with pytest.raises(AssertionError, match="what happens with a payroll"):
        check_advance(evolve(before, config=stopping), evolve(after, config=stopping), events)
    paid = advance(tiny_state(stopping)).state
    check_advance(tiny_state(stopping), paid, events[:1])
    with pytest.raises(AssertionError, match="time stopped at a payroll"):
        check_advance(before, evolve(paid, config=passing), events[:1])
    with pytest.raises(AssertionError, match="payrolls come first"):
        check_advance(before, after, [events[-1], *events[:-1]])


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (tiny_state(market=tuple(tiny_task(n, prestige=2) for n in (1, 2, 3, 4))), "Task-1 on the ladder"),
        (tiny_state(tiny_config(market_prestige_ladder=[])), None),
        (
            tiny_state(tiny_config(market_prestige_ladder=[]), market=[tiny_task(n, prestige=2) for n in (1, 2, 3, 4)]),
            "Task-1 requires 2",
        ),
        (tiny_state(employees=(tiny_employee(1),)), "size of the staff"),
        (tiny_state(employees=(tiny_employee(1, salary_cents=1), tiny_employee(2))), "Emp_1 .* earns 1"),
        (tiny_state(employees=(tiny_employee(1), tiny_employee(2, 9.9))), "Emp_2 .* has the rates"),
        (
            tiny_state(
                tiny_config(employee_skill_sampling="gamma_budget"),
                employees=(tiny_employee(1, [0.9, 20.0, 10.0, 9.1]), tiny_employee(2)),
            ),
            "Emp_1 .* has the rates",
        ),
        (
            tiny_state(
                tiny_config(employee_skill_sampling="gamma_budget"),
                employees=(tiny_employee(1), tiny_employee(2, [10.0, 10.0, 10.1, 10.0])),
            ),
            "Emp_2 .* has the rates",
        ),
    ],
    ids=["ladder", "no ladder", "drawn", "staff", "salary", "rate", "below the floor", "above the average"],
)
def test_a_start_that_the_settings_do_not_allow_is_refused(state: State, message: str | None) -> None:
    ours = evolve(
        state,
        market=tuple(attrs.evolve(t, client_name=(LOYAL, ADVERSARIAL)[n % 2]) for n, t in enumerate(state.market)),
    )
    if message is None:
        check_start(ours)
        return
    with pytest.raises(AssertionError, match=message):
        check_start(ours)


def test_a_refusal_of_what_the_rules_allow_is_refused() -> None:
    no = {"command": "x", "ok": False, "output": {"error": "no"}}
    state = tiny_state()
    check_answer(state, Resume(), state, no)
    with pytest.raises(AssertionError, match=r"Task-1.*was refused"):
        check_answer(state, AcceptTask("Task-1"), state, no)
    free = tiny_state(tiny_config(resume_requires_active_task=False))
    with pytest.raises(AssertionError, match="a resume was refused"):
        check_answer(free, Resume(), free, no)
    high = [tiny_task(1, prestige=2), *tiny_state().market[1:]]
    for gate, levels, allowed in (
        ("required_domains", [1.0, 2.0, 2.0, 2.0], False),
        ("required_domains", [2.0, 1.0, 1.0, 1.0], True),
        ("highest", [1.0, 1.0, 1.0, 2.0], True),
        ("highest", [1.0, 1.9, 1.0, 1.0], False),
    ):
        listed = tiny_state(tiny_config(prestige_gate=gate), market=high, prestige=levels)
        if not allowed:
            check_answer(listed, AcceptTask("Task-1"), listed, no)
            continue
        with pytest.raises(AssertionError, match=r"Task-1.*was refused"):
            check_answer(listed, AcceptTask("Task-1"), listed, no)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"deadline_us": instant("2025-01-02 17:00")}, "deadline of Task-4, 3 workdays"),
        ({"required_e4": (2_000_000, 2_000_000)}, "work of Task-4"),
        ({"done_e4": (0, 1)}, "work done of Task-4"),
    ],
    ids=["deadline", "work", "done"],
)
def test_an_accept_on_other_terms_is_refused(change: dict[str, Any], message: str) -> None:
    state = tiny_state()
    env = YCBenchEnv(state.config)
    env.set_state(state)
    (result,) = env.step("task accept --task-id Task-4")[4]["results"]
    after = env.get_state()
    check_answer(state, AcceptTask("Task-4"), after, dict(result))
    other = evolve(after, tasks=(evolve(after.tasks[0], **change),))
    output = {**result["output"], "deadline": iso_time(other.tasks[0].deadline_us)}
    with pytest.raises(AssertionError, match=message):
        check_answer(state, AcceptTask("Task-4"), other, {**result, "output": output})


@pytest.mark.parametrize(
    ("command", "text", "key", "wrong"),
    [
        (BrowseMarket(), "market browse", "task_id", "Task-9"),
        (ListEmployees(), "employee list", "skill_rates", {}),
        (ListEmployees(), "employee list", "active_tasks", []),
        (ReportMonthly(), "report monthly", "revenue_cents", 1),
        (ReportMonthly(), "report monthly", "ending_funds_cents", 0),
    ],
    ids=["page", "skills", "tasks", "revenue", "funds"],
)
def test_a_question_that_is_answered_wrong_is_refused(command: Command, text: str, key: str, wrong: object) -> None:
    state = advance(started(started(tiny_state(), "Task-1", "Emp_2"), "Task-2", "Emp_1")).state
    env = YCBenchEnv(state.config)
    env.set_state(state)
    info: Any = env.step(text)[4]
    (result,) = info["results"]
    check_answer(state, command, state, result)
    (rows,) = [name for name, value in result["output"].items() if isinstance(value, list)]
    assert result["output"][rows][0][key] != wrong
    result["output"][rows][0][key] = wrong
    with pytest.raises(AssertionError):
        check_answer(state, command, state, result)


def test_an_answer_that_hides_a_change_is_refused() -> None:
    state = tiny_state()
    accepted = transition(state, AcceptTask("Task-1")).state
    refused = {"command": "x", "ok": False, "output": {"error": "no"}}
    with pytest.raises(AssertionError, match="changed the world"):
        check_answer(state, AcceptTask("Task-1"), accepted, refused)
    with pytest.raises(AssertionError, match="only asks, and changed the world"):
        check_answer(state, CompanyStatus(), accepted, {**refused, "ok": True, "output": {}})


@pytest.mark.parametrize("key", ["prestige_changes", "trust_delta", "reason", "status", "cancel_penalty_per_domain"])
def test_a_cancel_that_reports_something_else_is_refused(key: str) -> None:
    state = started(tiny_state(tiny_config(trust_fragility=0.5), prestige=3.0), "Task-1", "Emp_1")
    env = YCBenchEnv(state.config)
    env.set_state(state)
    (result,) = env.step("task cancel --task-id Task-1 --reason x")[4]["results"]
    command = CancelTask("Task-1", "x")
    check_answer(state, command, env.get_state(), dict(result))
    other = {"prestige_changes": {}, "trust_delta": -0.5, "reason": "y", "status": "active"}.get(key, 0.9)
    with pytest.raises(AssertionError):
        check_answer(state, command, env.get_state(), {**result, "output": {**result["output"], key: other}})
