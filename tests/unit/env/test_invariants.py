"""The invariants of the test kit: each of them fails where something is wrong."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from world_proofs import check_start

from ycbench_env.testing import check_state, check_turn, tiny_config, tiny_state
from ycbench_env.testing.tiny import ADVERSARIAL, LOYAL, started, tiny_client, tiny_employee, tiny_task
from ycbench_env.transition import transition
from ycbench_env.types.command import Resume
from ycbench_env.types.state import State, evolve


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


def test_a_turn_that_takes_something_back_is_refused() -> None:
    state = started(tiny_state(), "Task-1", "Emp_1")
    done = transition(state, Resume()).state
    check_turn(state, done)
    with pytest.raises(AssertionError, match="the clock went back"):
        check_turn(done, state)
    poorer = evolve(done, employees=(evolve(done.employees[0], salary_cents=1), done.employees[1]))
    with pytest.raises(AssertionError, match="Emp_1 earns less"):
        check_turn(state, poorer)


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
