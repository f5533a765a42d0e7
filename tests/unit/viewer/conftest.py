"""States to look at: the start of a small world, and the same company with work under way."""

from __future__ import annotations

import attrs
import pytest

from ycbench_env.config import load_config
from ycbench_env.generator import initial_state
from ycbench_env.transition import advance, transition
from ycbench_env.types.command import AcceptTask, AssignTask, Command, DispatchTask
from ycbench_env.types.state import State

SMALL_WORLD = {"sim": {"company_name": "Acme"}, "world": {"num_employees": 2, "num_clients": 2, "num_market_tasks": 3}}


def play(state: State, *commands: Command) -> State:
    """Return the state after commands, none of which may be refused."""
    for command in commands:
        outcome = transition(state, command)
        assert outcome.state is not state, command
        state = outcome.state
    return state


@pytest.fixture
def start() -> State:
    return initial_state(load_config(SMALL_WORLD, environ={}), 1)


@pytest.fixture
def busy(start: State) -> State:
    """Emp_1 works on Task-1, and Task-2 is planned; the first payroll is paid."""
    state = play(
        start, AcceptTask("Task-1"), AssignTask("Task-1", ("Emp_1",)), DispatchTask("Task-1"), AcceptTask("Task-2")
    )
    while state.payrolls_charged == 0:
        state = advance(state).state
    return attrs.evolve(state, turns_played=4)
