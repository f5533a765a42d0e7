"""Accepting a task, and when the market replaces it. Source: Y-4.1, X-1, X-4, K-2.1."""

import pytest
from worlds import ADVERSARIAL, BOTH, finished, refusal

from ycbench_env import State, transition
from ycbench_env.testing import check_state
from ycbench_env.testing.tiny import carried_out, instant, started, tiny_client, tiny_config, tiny_state, tiny_task
from ycbench_env.types.command import AcceptTask, BrowseMarket, CancelTask, Resume
from ycbench_env.types.state import Task
from ycbench_env.units import iso_time

MONDAY = "2025-01-06 09:00"


def accept(state: State, task_id: str = "Task-1") -> Task:
    return carried_out(state, AcceptTask(task_id)).tasks[-1]


def refused(state: State, task_id: str = "Task-1") -> str:
    return refusal(state, AcceptTask(task_id))


def terms(task: Task) -> tuple[list[int], str]:
    """Its work in units and the day of its deadline."""
    return [required // 10_000 for required in task.required_e4], iso_time(task.deadline_us)[:10]


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
        (MONDAY, "2025-01-07T18:00:00"),
    ],
)
def test_the_deadline_is_counted_in_workdays_from_now(now: str, deadline: str) -> None:
    assert iso_time(accept(tiny_state(now=now)).deadline_us) == deadline


@pytest.mark.parametrize(
    ("settings", "units", "trust", "work", "deadline"),
    [
        ({"deadline_min_biz_days": 5}, 200, 0, [200], "2025-01-10"),  # Monday to Friday
        # Trust 2.5 of 5 with at most 50 % less: 800 x (1 - 0.5 x 0.5) = 600, which is 6 days.
        ({}, 800, 2.5, [600], "2025-01-13"),
        # Full trust would leave 350 / 2 = 175 and 120 / 2 = 60; never less than 200.
        ({}, {"research": 350, "training": 120}, 5, [200, 200], "2025-01-07"),
        ({"min_task_qty": 1}, {"research": 120, "training": 150}, 0, [120, 150], "2025-01-06"),  # int(1.5) = 1 day
        ({"min_task_qty": 140}, {"research": 120, "training": 150}, 0, [140, 150], "2025-01-06"),
        ({"min_task_qty": 1000}, {"research": 120, "training": 150}, 0, [1000, 1000], "2025-01-17"),  # 10 days
        ({"deadline_basis": "sum"}, {"research": 200, "training": 300}, 0, [200, 300], "2025-01-10"),
        ({"deadline_basis": "sum"}, {"research": 250, "training": 249}, 0, [250, 249], "2025-01-09"),  # int(4.99)
    ],
)
def test_work_and_deadline_follow_trust_floor_and_basis(
    settings: dict[str, object], units: dict[str, int] | int, trust: float, work: list[int], deadline: str
) -> None:
    state = tiny_state(
        tiny_config(**settings), market=[tiny_task(1, units)], clients=[tiny_client(trust=trust)], now=MONDAY
    )
    assert terms(accept(state)) == (work, deadline)
    if not trust:
        config = tiny_config(num_clients=0, **settings)
        nobodys = tiny_state(config, market=[tiny_task(1, units, client=None)], now=MONDAY)
        assert terms(accept(nobodys)) == (work, deadline)


@pytest.mark.parametrize(
    ("settings", "units", "work", "deadline"),
    [
        ({}, 200, 800, "2025-01-07"),  # 200 x (1 + 3), in the 2 days of the 200 that were listed
        ({}, 7000, 25_000, "2025-04-11"),  # 28,000 is cut
        ({"adversarial_inflation_passes": 2}, 200, 3200, "2025-01-07"),  # 200 x 4 x 4
        ({"min_task_qty": 1}, 40, 160, "2025-01-06"),
        ({"min_task_qty": 1000}, 40, 1000, "2025-01-06"),  # the floor comes after the deadline
    ],
)
def test_an_adversarial_client_makes_more_work_once_the_deadline_is_set(
    settings: dict[str, object], units: int, work: int, deadline: str
) -> None:
    market = [tiny_task(1, units, client=ADVERSARIAL)]
    task = accept(tiny_state(tiny_config(**settings), market=market, now=MONDAY))
    assert terms(task) == ([work], deadline)
    assert (task.offer.quantities, task.offer.reward_cents) == ((units,), 1_000_000)


# ------------------------------------------------------------------------------------------------------------- gates


@pytest.mark.parametrize("levels", [(2, 1, 1, 1), (1, 1, 1, 2), (2, 1, 1, 1.999), (1, 2, 2, 1)])
def test_the_prestige_of_every_required_domain_counts(levels: tuple[float, ...]) -> None:
    market = [tiny_task(1, {"training": 200, "research": 200}, prestige=2)]
    text = refused(tiny_state(market=market, prestige=levels))
    assert "requires prestige 2; got" in text
    for domain, level in (("research", levels[0]), ("training", levels[3])):
        assert (f"{domain} {float(level)}" in text) is (level < 2)
    highest = tiny_state(tiny_config(prestige_gate="highest"), market=market, prestige=levels)
    assert accept(highest).status == "planned"  # also by a domain that the task does not need


def test_trust_with_its_client_counts() -> None:
    market = [tiny_task(1, trust=2)]
    clients = [tiny_client(trust=1.999), tiny_client("Orion Data", trust=5.0)]
    assert "requires trust 2 with Nexus AI; got 1.999" in refused(tiny_state(market=market, clients=clients))
    assert accept(tiny_state(market=market, clients=[tiny_client(trust=2.0)])).status == "planned"


def test_what_is_not_on_the_market_is_refused() -> None:
    state = tiny_state()
    assert "Task-99" in refused(state, "Task-99")
    assert "already accepted" in refused(carried_out(state, AcceptTask("Task-1")))
    assert len(refused(state, "x" * 10_000)) < 200


@pytest.mark.parametrize("most", [1, 2])
def test_as_many_tasks_as_the_limit_can_be_held_and_not_one_more(most: int) -> None:
    state = tiny_state(tiny_config(max_open_tasks=most))
    for number in range(most):
        state = carried_out(state, AcceptTask(f"Task-{number + 1}"))
    assert refused(state, "Task-4") == (
        f"{most} task{' is' if most == 1 else 's are'} planned or active, and no more than {most} may be; "
        "dispatch and finish one, or give one up with task cancel"
    )


# ---------------------------------------------------------------------------------------------- a world of no clients


def test_a_task_of_nobody_is_done_or_late_or_cancelled_with_nobody_minding() -> None:
    config = tiny_config(num_clients=0, trust_fragility=1.0, trust_focus_pressure=5.0)
    state = tiny_state(config, prestige=5)
    for names, success, prestige in ((BOTH, True, 5100), (("Emp_1",), False, 4900)):  # alone 20 h of work, 18 until due
        after, event = finished(state, *names)
        assert (event.client_name, event.success, event.trust_delta_milli) == (None, success, 0)
        assert (after.prestige_milli, after.trust_milli) == ((prestige, 5000, 5000, 5000), ())
        assert after.now_us == instant("2025-01-02 10:00" if success else "2025-01-03 11:00")
        assert (after.market[0].client_name, after.market[0].required_trust) == (None, 0)
    cancelled = carried_out(state, AcceptTask("Task-1"), CancelTask("Task-1", ""))
    assert (cancelled.prestige_milli, cancelled.trust_milli) == ((4800, 5000, 5000, 5000), ())


# ------------------------------------------------------------------------------------------ when the market is refilled


def world(refill_at: str) -> State:
    return tiny_state(tiny_config(refill_at=refill_at))


def listed(state: State) -> list[str]:
    check_state(state)
    assert transition(state, BrowseMarket()).refusal is None
    assert State.from_bytes(state.to_bytes()).market_by_reward == state.market_by_reward
    return [task.task_id for task in state.market_by_reward]


def test_a_slot_waits_until_its_task_is_dispatched() -> None:
    accepted = carried_out(world("dispatch"), AcceptTask("Task-1"))
    assert listed(accepted) == ["Task-2", "Task-3", "Task-4"]
    assert refused(accepted) == "Task-1 is already accepted"
    # The task that would have come at once: Task-0 in slot 0.
    dispatched = started(world("dispatch"), "Task-1", "Emp_1")
    assert dispatched.market == started(world("accept"), "Task-1", "Emp_1").market
    assert listed(carried_out(dispatched, CancelTask("Task-1", "plans"))) == listed(dispatched)


def test_a_slot_waits_until_its_task_is_completed() -> None:
    active = started(world("completion"), "Task-1", *BOTH)
    assert listed(active) == ["Task-2", "Task-3", "Task-4"]
    assert carried_out(active, Resume()).market == started(world("accept"), "Task-1", "Emp_1").market
    assert listed(carried_out(active, CancelTask("Task-1", "plans"))) == ["Task-1-2", "Task-2", "Task-3", "Task-4"]


@pytest.mark.parametrize("refill_at", ["dispatch", "completion"])
def test_a_task_given_up_comes_back_as_it_was(refill_at: str) -> None:
    state = world(refill_at)
    for copy in range(2, 5):
        before = state.market[0]
        state = carried_out(state, AcceptTask(before.task_id), CancelTask(before.task_id, "plans"))
        again = state.market[0]
        assert (again.task_id, again.reward_cents) == (f"Task-1-{copy}", before.reward_cents)
        assert again.requirements == before.requirements
        assert again.task_id in listed(state)
    assert sum(state.slot_accepts) == 0


def test_replacements_are_numbered_by_the_episode_in_the_order_of_their_coming() -> None:
    config = tiny_config(refill_at="dispatch", replacement_numbering="episode")
    state = carried_out(tiny_state(config), AcceptTask("Task-3"))
    assert started(state, "Task-4", "Emp_1").market[3].task_id == "Task-0"
