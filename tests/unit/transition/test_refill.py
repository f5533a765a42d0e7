"""When the market replaces an accepted task. Source: X-4."""

import pytest

from ycbench_env import State, transition
from ycbench_env.testing import check_state, tiny_config, tiny_state
from ycbench_env.testing.tiny import carried_out, started
from ycbench_env.types.command import AcceptTask, BrowseMarket, CancelTask, Resume

CANCEL = CancelTask("Task-1", "plans")


def world(refill_at: str) -> State:
    return tiny_state(tiny_config(refill_at=refill_at))


def listed(state: State) -> list[str]:
    check_state(state)
    assert transition(state, BrowseMarket()).refusal is None
    return [task.task_id for task in state.market_by_reward]


def test_a_slot_waits_until_its_task_is_dispatched() -> None:
    accepted = carried_out(world("dispatch"), AcceptTask("Task-1"))
    assert listed(accepted) == ["Task-2", "Task-3", "Task-4"]
    refusal = transition(accepted, AcceptTask("Task-1")).refusal
    assert refusal == "Task-1 is already accepted"
    # The task that would have come at once: Task-0 in slot 0.
    dispatched = started(world("dispatch"), "Task-1", "Emp_1")
    at_once = started(world("accept"), "Task-1", "Emp_1")
    assert dispatched.market == at_once.market
    assert listed(dispatched) == listed(at_once)


def test_a_slot_waits_until_its_task_is_completed() -> None:
    active = started(world("completion"), "Task-1", "Emp_1", "Emp_2")
    assert listed(active) == ["Task-2", "Task-3", "Task-4"]
    completed = carried_out(active, Resume())
    assert completed.tasks[0].status == "completed_success"
    assert completed.market == started(world("accept"), "Task-1", "Emp_1").market


@pytest.mark.parametrize("refill_at", ["dispatch", "completion"])
def test_a_task_given_up_comes_back_as_it_was(refill_at: str) -> None:
    state = world(refill_at)
    for copy in range(2, 5):
        before = state.market[0]
        state = carried_out(state, AcceptTask(before.task_id), CancelTask(before.task_id, "plans"))
        assert state.market[0].task_id == f"Task-1-{copy}"
        assert state.market[0].requirements == before.requirements
        assert state.market[0].reward_cents == before.reward_cents
        assert f"Task-1-{copy}" in listed(state)
    assert sum(state.slot_accepts) == 0


def test_cancelling_an_active_task_renews_nothing_by_completion() -> None:
    state = carried_out(started(world("completion"), "Task-1", "Emp_1"), CANCEL)
    assert listed(state) == ["Task-1-2", "Task-2", "Task-3", "Task-4"]


def test_a_dispatched_task_was_replaced_already_when_it_is_cancelled() -> None:
    active = started(world("dispatch"), "Task-1", "Emp_1")
    assert listed(carried_out(active, CANCEL)) == listed(active)


def test_waiting_slots_are_known_after_saving() -> None:
    state = carried_out(world("dispatch"), AcceptTask("Task-1"))
    assert listed(State.from_bytes(state.to_bytes())) == listed(state)


def test_replacements_are_numbered_by_the_episode_in_the_order_of_their_coming() -> None:
    config = tiny_config(refill_at="dispatch", replacement_numbering="episode")
    state = carried_out(tiny_state(config), AcceptTask("Task-3"))
    state = started(state, "Task-4", "Emp_1")
    assert state.market[3].task_id == "Task-0"
