"""Accepting a task. Source: Y-4.1. In the tiny world 100 units of the largest domain give a day of deadline."""

import pytest

from ycbench_env.testing.tiny import ADVERSARIAL, carried_out, tiny_client, tiny_config, tiny_state, tiny_task
from ycbench_env.transition import transition
from ycbench_env.types.command import AcceptTask
from ycbench_env.types.state import State, Task
from ycbench_env.units import iso_time


def accept(state: State, task_id: str = "Task-1") -> Task:
    return carried_out(state, AcceptTask(task_id)).tasks[-1]


def refusal(state: State, task_id: str = "Task-1") -> str:
    """Why a task is refused; a refusal must return the very same state."""
    outcome = transition(state, AcceptTask(task_id))
    assert outcome.refusal is not None
    assert outcome.state is state
    assert outcome.events == ()
    return outcome.refusal


def test_an_accepted_task_is_planned_and_costs_nothing() -> None:
    before = tiny_state()
    state = carried_out(before, AcceptTask("Task-1"))
    (task,) = state.tasks
    assert (task.status, task.accepted_us, task.team, task.completed_us) == ("planned", before.now_us, (), None)
    assert (task.required_e4, task.done_e4) == ((2_000_000,), (0,))
    assert (task.completion_us, task.milestone_us, task.milestones_reported) == (None, None, 0)
    assert task.offer is before.market[0]
    assert (state.funds_cents, state.now_us, state.ledger) == (before.funds_cents, before.now_us, ())
    assert state.slot_accepts == (1, 0, 0, 0)
    assert state.market[1:] == before.market[1:]


@pytest.mark.parametrize(
    ("now", "deadline"),
    [
        ("2025-01-01 09:00", "2025-01-02T18:00:00"),  # 200 / 100 = 2 days of 9 h: Wednesday and Thursday
        ("2025-01-01 12:00", "2025-01-03T12:00:00"),  # 6 h on Wednesday, 9 on Thursday, 3 on Friday
        ("2025-01-03 18:00", "2025-01-07T18:00:00"),  # Friday's end: Monday and Tuesday
        ("2025-01-04 13:00", "2025-01-07T18:00:00"),  # a Saturday
        ("2025-01-06 09:00", "2025-01-07T18:00:00"),
    ],
)
def test_the_deadline_is_counted_in_workdays_from_now(now: str, deadline: str) -> None:
    assert iso_time(accept(tiny_state(now=now)).deadline_us) == deadline


def test_a_deadline_has_at_least_the_fewest_days() -> None:
    state = tiny_state(tiny_config(deadline_min_biz_days=5), now="2025-01-06 09:00")
    assert iso_time(accept(state).deadline_us) == "2025-01-10T18:00:00"  # Monday to Friday


def test_trust_reduces_the_work_and_with_it_the_deadline() -> None:
    # Trust 2.5 of 5 with at most 50 % less: 800 x (1 - 0.5 x 0.5) = 600, which is 6 days: Wednesday to Wednesday.
    state = tiny_state(market=[tiny_task(1, 800)], clients=[tiny_client(trust=2.5)])
    task = accept(state)
    assert task.required_e4 == (6_000_000,)
    assert iso_time(task.deadline_us) == "2025-01-08T18:00:00"
    assert task.offer.quantities == (800,)
    assert task.offer.reward_cents == 1_000_000


def test_work_is_never_less_than_two_hundred_units() -> None:
    # Full trust would leave 350 / 2 = 175 and 120 / 2 = 60.
    state = tiny_state(market=[tiny_task(1, {"research": 350, "training": 120})], clients=[tiny_client(trust=5.0)])
    assert accept(state).required_e4 == (2_000_000, 2_000_000)


def test_an_adversarial_client_makes_more_work_once_the_deadline_is_set() -> None:
    task = accept(tiny_state(), "Task-2")
    assert task.required_e4 == (8_000_000,)  # 200 x (1 + 3)
    assert iso_time(task.deadline_us) == "2025-01-02T18:00:00"  # 2 days, as for the 200 units that were listed
    assert (task.offer.quantities, task.offer.reward_cents) == ((200,), 1_000_000)


def test_inflated_work_is_never_more_than_twenty_five_thousand_units() -> None:
    state = tiny_state(market=[tiny_task(1, {"research": 7000, "training": 6000}, client=ADVERSARIAL)])
    assert accept(state).required_e4 == (250_000_000, 240_000_000)  # 28,000 is cut, 24,000 is not


def test_work_can_be_inflated_a_second_time_with_the_deadline_still_that_of_the_listed_work() -> None:
    config = tiny_config(adversarial_inflation_passes=2)
    task = accept(tiny_state(config), "Task-2")
    assert task.required_e4 == (32_000_000,)  # 200 x 4 x 4
    assert iso_time(task.deadline_us) == "2025-01-02T18:00:00"  # 2 days, as for the 200 units that were listed
    assert accept(tiny_state(config), "Task-1").required_e4 == (2_000_000,)  # a loyal client's


# ------------------------------------------------------------------------------------------------------------- gates


@pytest.mark.parametrize("levels", [(2, 1, 1, 1), (1, 1, 1, 2), (2, 1, 1, 1.999), (1, 2, 2, 1)])
def test_the_prestige_of_every_required_domain_counts(levels: tuple[float, ...]) -> None:
    state = tiny_state(market=[tiny_task(1, {"training": 200, "research": 200}, prestige=2)], prestige=levels)
    text = refusal(state)
    assert "requires prestige 2" in text
    for domain, level in (("research", levels[0]), ("training", levels[3])):
        assert (f"{domain} {float(level)}" in text) is (level < 2)


def test_trust_with_its_client_counts() -> None:
    market = [tiny_task(1, trust=2)]
    clients = [tiny_client(trust=1.999), tiny_client("Orion Data", trust=5.0)]
    assert "requires trust 2 with Nexus AI; got 1.999" in refusal(tiny_state(market=market, clients=clients))
    assert accept(tiny_state(market=market, clients=[tiny_client(trust=2.0)])).status == "planned"


def test_what_is_not_on_the_market_is_refused() -> None:
    state = tiny_state()
    assert "Task-99" in refusal(state, "Task-99")
    assert "already accepted" in refusal(carried_out(state, AcceptTask("Task-1")), "Task-1")


def test_a_refusal_repeats_no_more_than_the_start_of_a_long_id() -> None:
    assert len(refusal(tiny_state(), "x" * 10_000)) < 200


# --------------------------------------------------------------------------------------------- a limit on tasks held


def held(most: int, number: int) -> State:
    """Return the tiny world with a limit and so many planned tasks, all of slot 3."""
    state = tiny_state(tiny_config(max_open_tasks=most))
    for _ in range(number):
        state = carried_out(state, AcceptTask(state.market[3].task_id))
    return state


@pytest.mark.parametrize("most", [1, 2, 5])
def test_as_many_tasks_as_the_limit_can_be_held_and_not_one_more(most: int) -> None:
    assert len(held(most, most).tasks) == most
    assert refusal(held(most, most)).startswith(f"{most} task{'s are' if most > 1 else ' is'} planned or active")


def test_the_refusal_says_how_many_are_held_how_many_may_be_and_what_to_do() -> None:
    assert refusal(held(2, 2)) == (
        "2 tasks are planned or active, and no more than 2 may be; "
        "dispatch and finish one, or give one up with task cancel"
    )


# ----------------------------------------------------------------------------------------------------- other workdays
