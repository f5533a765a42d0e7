"""Accepting a task where the settings say otherwise. Source: K-2.1.

Gate, floor and deadline each for itself, and with what the other rule set has: clients, trust and adversaries. In the
tiny world 100 units give a day of deadline, at least one.
"""

import pytest

from ycbench_env.config import Config
from ycbench_env.testing.tiny import (
    ADVERSARIAL,
    LOYAL,
    carried_out,
    instant,
    started,
    tiny_client,
    tiny_config,
    tiny_state,
    tiny_task,
)
from ycbench_env.transition import transition
from ycbench_env.types.command import AcceptTask, CancelTask, Resume
from ycbench_env.types.event import TaskCompleted
from ycbench_env.types.state import State, Task
from ycbench_env.units import iso_time

MONDAY = "2025-01-06 09:00"


def accept(state: State, task_id: str = "Task-1") -> Task:
    return carried_out(state, AcceptTask(task_id)).tasks[-1]


def refusal(state: State, task_id: str = "Task-1") -> str:
    """Why a task is refused; a refusal must return the very same state."""
    outcome = transition(state, AcceptTask(task_id))
    assert outcome.refusal is not None
    assert outcome.state is state
    return outcome.refusal


def terms(task: Task) -> tuple[list[int], str]:
    """Its work in units and its deadline."""
    return [required // 10_000 for required in task.required_e4], iso_time(task.deadline_us)[:10]


# -------------------------------------------------------------------------------------------------- the prestige gate


def gated(levels: tuple[float, ...], gate: str = "highest", *, trust: int = 0) -> State:
    """A task of research and training that needs prestige 2, and trust with a client that has 1.999."""
    market = [tiny_task(1, {"training": 200, "research": 200}, prestige=2, trust=trust)]
    clients = [tiny_client(trust=1.999)]
    return tiny_state(tiny_config(prestige_gate=gate), market=market, clients=clients, prestige=levels)


@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_the_highest_prestige_is_enough_also_in_a_domain_that_the_task_does_not_need(place: int) -> None:
    levels = (*(1.0,) * place, 2.0, *(1.0,) * (3 - place))
    assert accept(gated(levels)).status == "planned"
    assert "requires prestige 2; got" in refusal(gated(levels, "required_domains"))


# ------------------------------------------------------------------------------------------------- the floor of work


@pytest.mark.parametrize(
    ("least", "expected"),
    [
        (1, ([120, 150], "2025-01-06")),  # int(1.5) = 1 day, Monday
        (200, ([200, 200], "2025-01-07")),
        (140, ([140, 150], "2025-01-06")),
        (1000, ([1000, 1000], "2025-01-17")),  # 10 days
    ],
)
@pytest.mark.parametrize("num_clients", [0, 2])
def test_the_floor_raises_work_and_with_it_the_deadline(
    least: int, expected: tuple[list[int], str], num_clients: int
) -> None:
    config = tiny_config(min_task_qty=least, num_clients=num_clients)
    market = [tiny_task(1, {"research": 120, "training": 150}, client=LOYAL if num_clients else None)]
    assert terms(accept(tiny_state(config, market=market, now=MONDAY))) == expected


@pytest.mark.parametrize(
    ("least", "units"),
    [
        (1, 160),  # 40 x 4
        (200, 200),
        (1000, 1000),
        (25_000, 25_000),
    ],
)
def test_the_floor_of_an_adversarial_task_comes_after_its_deadline(least: int, units: int) -> None:
    market = [tiny_task(1, 40, client=ADVERSARIAL)]
    config = tiny_config(min_task_qty=least)
    assert terms(accept(tiny_state(config, market=market, now=MONDAY))) == ([units], "2025-01-06")


# --------------------------------------------------------------------------------------------------- the deadline


def sums(**settings: object) -> Config:
    return tiny_config(deadline_basis="sum", **settings)


@pytest.mark.parametrize(
    ("units", "deadline"),
    [
        ({"research": 200}, "2025-01-07"),
        ({"research": 200, "training": 300}, "2025-01-10"),  # 5 days, Monday to Friday
        ({"research": 250, "training": 249}, "2025-01-09"),  # int(4.99)
        ({"research": 200, "inference": 200, "training": 200}, "2025-01-13"),
    ],
)
@pytest.mark.parametrize("num_clients", [0, 2])
def test_the_deadline_follows_the_sum_of_all_domains(units: dict[str, int], deadline: str, num_clients: int) -> None:
    market = [tiny_task(1, units, client=LOYAL if num_clients else None)]
    task = accept(tiny_state(sums(num_clients=num_clients), market=market, now=MONDAY))
    assert terms(task) == (list(units.values()), deadline)


# ---------------------------------------------------------------------------------------------- a world of no clients

NO_CLIENTS = {"num_clients": 0, "trust_fragility": 1.0, "trust_focus_pressure": 5.0}
"""Nobody's trust, though the settings would take a lot of it."""


def test_a_task_of_nobody_is_accepted_as_listed_and_replaced_by_another_of_nobody() -> None:
    state = carried_out(tiny_state(tiny_config(**NO_CLIENTS), now=MONDAY), AcceptTask("Task-4"))
    assert terms(state.tasks[0]) == ([200, 300], "2025-01-08")
    assert (state.tasks[0].offer.client_name, state.clients) == (None, ())
    assert (state.market[3].client_name, state.market[3].required_trust) == (None, 0)


def test_a_task_of_nobody_is_done_or_late_or_cancelled_with_nobody_minding() -> None:
    state = tiny_state(tiny_config(**NO_CLIENTS), prestige=5)
    done = transition(started(state, "Task-1", "Emp_1", "Emp_2"), Resume())
    late = transition(started(state, "Task-1", "Emp_1"), Resume())  # 20 h of work and 18 until the deadline
    for outcome, success, prestige in ((done, True, 5100), (late, False, 4900)):
        (event,) = outcome.events
        assert isinstance(event, TaskCompleted)
        assert (event.client_name, event.success, event.trust_delta_milli) == (None, success, 0)
        assert outcome.state.prestige_milli == (prestige, 5000, 5000, 5000)
        assert outcome.state.trust_milli == ()
    assert late.state.now_us == instant("2025-01-03 11:00")
    cancelled = carried_out(state, AcceptTask("Task-1"), CancelTask("Task-1", ""))
    assert (cancelled.prestige_milli, cancelled.trust_milli) == ((4800, 5000, 5000, 5000), ())
