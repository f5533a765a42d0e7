"""The state as a value. Source: Y-2, Y-7; B29."""

import copy

import attrs
import pytest

from ycbench_env.config import load_config
from ycbench_env.generator import initial_state
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
from ycbench_env.types.command import AcceptTask
from ycbench_env.types.state import Calendar, Client, Employee, State, Task, _Kept, evolve


def test_a_state_cannot_be_changed_and_a_deep_copy_is_itself() -> None:
    state = tiny_state()
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        state.funds_cents = 1  # pyright: ignore[reportAttributeAccessIssue]
    assert copy.deepcopy(state) is state
    assert copy.deepcopy({"state": state})["state"] is state


def test_what_is_not_there_is_not_found() -> None:
    state = carried_out(tiny_state(), AcceptTask("Task-1"))
    with pytest.raises(KeyError, match="Nobody"):
        state.client("Nobody")
    assert state.market_slot("Task-1") is None
    assert state.task_index("Task-1") == 0
    assert state.task_index("Task-3") is None


def test_an_id_must_be_written_exactly() -> None:
    state = carried_out(tiny_state(), AcceptTask("Task-1"))
    wrong = ["", "Task-", "Task--1", "task-3", "Task-03", "Task-3-1", "Task-3 ", "Task-٣", "Task-³", "3"]
    for task_id in (*wrong, "Task-9" + "9" * 5000):
        assert (state.market_slot(task_id), state.task_index(task_id)) == (None, None)


def test_a_listed_task_is_found_wherever_it_stands() -> None:
    market = [tiny_task(number) for number in (7, 3, 2000, 1, 9001, 2)]
    state = tiny_state(market=[*market, attrs.evolve(tiny_task(3), copy=2)])
    for slot, task in enumerate(state.market):
        assert state.market_slot(task.task_id) == slot


def test_the_calendar_follows_from_the_configuration() -> None:
    calendar = Calendar.from_config(
        tiny_config(sim={"start_date": "2024-02-29", "horizon_years": 3}, workday_start_hour=7)
    )
    assert (calendar.start_us, calendar.horizon_us) == (instant("2024-02-29 07:00"), instant("2027-02-28 07:00"))
    assert (calendar.open_us, calendar.close_us) == (7 * 3_600_000_000, 18 * 3_600_000_000)
    assert calendar.payrolls_us[0] == instant("2024-03-01 07:00")
    assert len(calendar.payrolls_us) == 36
    assert calendar.horizon_end == "2027-02-28T07:00:00"


@pytest.mark.parametrize(
    ("limit", "turns", "reason", "truncated"),
    [
        (3, 2, None, False),
        (3, 3, None, True),
        (3, 4, None, True),
        (3, 3, "bankruptcy", False),  # the world ended first
        (0, 99, None, False),  # no limit
    ],
)
def test_the_turn_limit_truncates_an_episode_that_has_not_ended(
    limit: int, turns: int, reason: str | None, truncated: bool
) -> None:
    state = attrs.evolve(tiny_state(tiny_config(loop={"max_turns": limit})), turns_played=turns, terminal_reason=reason)
    assert state.truncated is truncated
    assert state.end_reason == ("max_turns" if truncated else reason)


@pytest.mark.parametrize("cls", [Employee, Client, Task, State])
def test_kept_values_of_a_copied_class_name_its_fields(cls: type[Employee | Client | Task | State]) -> None:
    figures = {name for name, value in vars(cls).items() if isinstance(value, _Kept)}
    assert {figure for dependent in cls.dependents.values() for figure in dependent} == figures
    assert set(cls.dependents) <= {field.name for field in attrs.fields(cls)}


def test_a_copy_is_what_the_initialiser_would_make_and_leaves_its_source_alone() -> None:
    state = tiny_state()
    before = state.monthly_payroll_cents
    copied = evolve(state, employees=(tiny_employee(1, salary_cents=7),), funds_cents=3)
    assert copied == attrs.evolve(state, employees=(tiny_employee(1, salary_cents=7),), funds_cents=3)
    assert (copied.monthly_payroll_cents, state.monthly_payroll_cents) == (7, before)
    assert state == tiny_state()
    gates = state.gates
    assert evolve(state, now_us=7).gates is gates  # as long as the market stays


def test_a_state_as_text_is_one_line_without_its_hidden_seed() -> None:
    new = initial_state(load_config("default", environ={}), 314_159_265)
    assert repr(new) == (
        "<State 2025-01-01T09:00:00, funds $200,000.00, 8 employees, 6 clients, 200 tasks on the market, "
        "none of its own, turn 0>"
    )
    assert repr(attrs.evolve(new, run_seed=1)) == repr(new)
    started_one = started(tiny_state(), "Task-1", "Emp_1")
    over = attrs.evolve(started_one, terminal_reason="bankruptcy", turns_played=7, funds_cents=-1)
    assert "funds -$0.01" in repr(over)
    assert repr(over).endswith("on the market, 1 active of its own, turn 7, over: bankruptcy>")


def test_a_client_is_adversarial_below_a_loyalty_of_three_tenths_disloyal() -> None:
    for loyalty_milli, adversarial in ((-1_000, True), (-301, True), (-300, False), (1_000, False)):
        assert attrs.evolve(tiny_client(), loyalty_milli=loyalty_milli).is_adversarial is adversarial
