"""What comes into the market in place of an accepted task (B45)."""

from __future__ import annotations

from typing import Any

from ycbench_env import YCBenchEnv


def open_market() -> YCBenchEnv:
    """A world in which every task may be accepted and time is never forced."""
    world = {"initial_prestige_level": 10.0, "trust_gating_fraction": 0.0}
    env: Any = YCBenchEnv({"world": world, "loop": {"auto_advance_after_turns": 0}})
    env.reset(seed=1)
    return env


def refill(order: list[str], between: str = "") -> dict[str, Any]:
    """The replacements that accepts in some order bring, as the market lists them."""
    env = open_market()
    replaced: dict[str, Any] = {}
    for task_id in order:
        for command in filter(None, between.splitlines()):
            env.step(command)
        output = env.step(f"task accept --task-id {task_id}")[4]["results"][0]["output"]
        new: Any = output["replacement_task_id"]
        slot = env.get_state().market_slot(new)
        assert slot is not None
        replaced[task_id] = env.get_state().market[slot]
    return replaced


def test_replacements_do_not_depend_on_the_order_of_accepts() -> None:
    assert refill(["Task-4", "Task-8"]) == refill(["Task-8", "Task-4"])


def test_questions_and_time_between_accepts_draw_nothing() -> None:
    chatter = "\n".join(["market browse; employee list; dance; sim resume"] * 50)
    assert refill(["Task-4", "Task-8"], chatter) == refill(["Task-4", "Task-8"])


def test_the_nth_replacement_of_a_slot_is_the_same_whatever_else_is_done() -> None:
    def five(others: bool) -> list[str]:
        env = open_market()
        listed = []
        for number in range(5):
            if others:
                env.step(f"task accept --task-id {env.get_state().market[30 + number].task_id}; sim resume; task list")
            env.step(f"task accept --task-id {env.get_state().market[7].task_id}")
            listed.append(env.get_state().market[7].listing_json)
        return listed

    assert five(others=False) == five(others=True)
    assert len(set(five(others=False))) == 5


def test_ids_stay_unique_where_numbers_meet() -> None:
    # Slot 0 counts up from Task-0, so that its second replacement would be the Task-1 of the start.
    env = open_market()
    ids = []
    for _ in range(6):
        ids.append(env.get_state().market[0].task_id)
        assert env.step(f"task accept --task-id {ids[-1]}")[4]["results"][0]["ok"]
    assert ids == ["Task-1", "Task-0", "Task-1-2", "Task-2-2", "Task-3-2", "Task-4-2"]
