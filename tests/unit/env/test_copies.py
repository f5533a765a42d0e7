"""Copies at any moment, saved states, and nothing shared between calls (B32)."""

# ruff: noqa: ANN401, S301, S311 -- answers are JSON of many shapes; pickles and draws are no secrets here

from __future__ import annotations

import copy
import json
import pickle
import random
from typing import Any

import attrs
import gymnasium as gym
import pytest
from gymnasium.wrappers import RecordEpisodeStatistics, TimeLimit

from ycbench_env import State, StateError, YCBenchEnv, load_config
from ycbench_env.testing import sample_turn, tiny_config
from ycbench_env.types.state import Client, Employee, Task, evolve
from ycbench_env.wrappers import ScratchpadMemory

MOST_BYTES = 50_000


def busy(seed: int = 1, turns: int = 25) -> Any:
    """A wrapped environment in the middle of an episode, with work, history and notes."""
    env: Any = ScratchpadMemory(gym.make("YCBench-v0", config={"world": {"task_progress_milestones": [0.3]}}))
    env.reset(seed=seed)
    rng = random.Random(seed)
    for _ in range(turns):
        env.step(sample_turn(env.unwrapped.get_state(), rng))
    env.step("scratchpad write --content 'remember; this'")
    assert env.unwrapped.get_state().end_reason is None
    return env


def listed(env: Any) -> str:
    """Id of a task that can be accepted."""
    return env.clone().step("market browse --limit 1")[4]["results"][0]["output"]["tasks"][0]["task_id"]


COPIES = {"deepcopy": copy.deepcopy, "pickle": lambda env: pickle.loads(pickle.dumps(env))}


@pytest.mark.parametrize("how", COPIES)
def test_a_copy_through_wrappers_is_equal_and_independent(how: str) -> None:
    env = busy()
    twin = COPIES[how](env)
    kept, notes = twin.unwrapped.get_state(), twin.notes
    assert kept == env.unwrapped.get_state()
    env.step("scratchpad clear\ntask accept --task-id Task-1\nsim resume")
    assert (twin.unwrapped.get_state(), twin.notes) == (kept, notes)
    other = COPIES[how](twin)
    for turn in ("scratchpad append --content more", "sim resume", "", "employee list; client list"):
        assert twin.step(turn) == other.step(turn)


@pytest.mark.parametrize("how", COPIES)
def test_a_copy_draws_the_same_next_worlds_and_the_same_samples(how: str) -> None:
    env = busy()
    env.action_space.seed(3)
    twin = COPIES[how](env)
    assert [env.action_space.sample() for _ in range(5)] == [twin.action_space.sample() for _ in range(5)]
    assert [env.reset()[1]["run_seed"] for _ in range(3)] == [twin.reset()[1]["run_seed"] for _ in range(3)]


@pytest.mark.parametrize("how", COPIES)
def test_an_environment_that_was_never_reset_can_be_copied(how: str) -> None:
    assert COPIES[how](YCBenchEnv("reference")).reset(seed=2) == YCBenchEnv("reference").reset(seed=2)


def test_copies_work_inside_gymnasiums_own_wrappers() -> None:
    env = TimeLimit(RecordEpisodeStatistics(gym.make("YCBench-v0")), 9)
    env.reset(seed=1)
    env.step("task accept --task-id Task-1")
    twin = copy.deepcopy(env)
    one, other = env.step("task list"), twin.step("task list")
    assert one[:4] == other[:4]
    assert one[4]["results"] == other[4]["results"]


def test_a_clone_is_equal_and_independent_and_keeps_the_notes_apart() -> None:
    env = busy()
    base = env.unwrapped
    twin = base.clone()
    assert twin.get_state() == base.get_state()
    accept = f"task accept --task-id {listed(twin)}"
    assert twin.step(f"scratchpad write --content changed\n{accept}")[4]["results"][1]["ok"]
    assert env.notes == "remember; this"
    assert twin.state_hash() != base.state_hash()
    kept = twin.get_state()
    env.step("task accept --task-id Task-1; sim resume; sim resume")
    assert twin.get_state() is kept


def test_clones_of_clones_go_their_own_ways(env: Any) -> None:
    first, second = env.clone(), env.clone()
    grandchild = first.clone()
    first.step("task accept --task-id Task-1")
    second.step("task accept --task-id Task-2")
    assert len({one.state_hash() for one in (env, first, second)}) == 3
    assert grandchild.state_hash() == env.state_hash()
    second.reset(seed=8)
    assert grandchild.reset()[1]["run_seed"] == env.reset()[1]["run_seed"]


def test_a_saved_state_goes_on_like_the_original_in_another_environment() -> None:
    env = busy()
    data = env.unwrapped.get_state().to_bytes()
    other = YCBenchEnv(env.unwrapped.config)
    other.reset(seed=77)
    other.step("sim resume")
    other.set_state(State.from_bytes(data))
    assert other.get_state().to_bytes() == data
    for turn in ("company status", "sim resume", "", "task list; finance ledger"):
        one, two = env.step(turn), other.step(turn)
        assert one[1:] == two[1:]
        assert one[0]["results"] == two[0]["results"]


def test_a_state_can_be_taken_up_without_a_reset_before() -> None:
    env = busy()
    other = YCBenchEnv(env.unwrapped.config)
    other.set_state(env.unwrapped.get_state())
    assert other.step("company status")[4]["results"] == env.step("company status")[4]["results"]


def test_undoing_by_set_state_is_complete(env: Any) -> None:
    kept = env.get_state()
    first = env.step("task accept --task-id Task-1; market browse")
    env.set_state(kept)
    assert env.step("task accept --task-id Task-1; market browse") == first


def test_a_state_of_another_configuration_is_refused(env: Any) -> None:
    kept = env.get_state()
    other = YCBenchEnv("reference")
    other.reset(seed=1)
    with pytest.raises(StateError, match=r"make an environment with config=state\.config"):
        env.set_state(other.get_state())
    with pytest.raises(StateError, match=r"got bytes, expected a State; for bytes use State\.from_bytes"):
        env.set_state(kept.to_bytes())
    assert env.get_state() is kept


def test_state_hash_is_of_the_world_and_not_of_turn_counters(env: Any) -> None:
    digest = env.state_hash()
    env.step("company status; market browse; task accept --task-id nothing")
    assert env.get_state().turns_played == 1
    assert env.state_hash() == digest
    env.step("task accept --task-id Task-1")
    assert env.state_hash() != digest


# One change of each kind; the state hash must see all of them.
CHANGES: dict[str, Any] = {
    "funds": lambda s: evolve(s, funds_cents=s.funds_cents + 1),
    "clock": lambda s: evolve(s, now_us=s.now_us + 1),
    "payrolls": lambda s: evolve(s, payrolls_charged=s.payrolls_charged + 1),
    "end": lambda s: evolve(s, terminal_reason="horizon_end"),
    "run seed": lambda s: evolve(s, run_seed=s.run_seed + 1),
    "prestige": lambda s: evolve(s, prestige_milli=(s.prestige_milli[0] + 1, *s.prestige_milli[1:])),
    "slots": lambda s: evolve(s, slot_accepts=(s.slot_accepts[0] + 1, *s.slot_accepts[1:])),
    "market": lambda s: evolve(s, market=(s.market[1], s.market[0], *s.market[2:])),
    "ledger": lambda s: evolve(s, ledger=s.ledger[:-1]),
    "clients": lambda s: evolve(s, clients=(s.clients[1], s.clients[0], *s.clients[2:])),
    "salary": lambda s: evolve(s, employees=(evolve(s.employees[0], salary_cents=1), *s.employees[1:])),
    "rates": lambda s: evolve(s, employees=(evolve(s.employees[0], rates_e4=(1, 2, 3, 4)), *s.employees[1:])),
    "tier": lambda s: evolve(s, employees=(evolve(s.employees[0], tier="senior"), *s.employees[1:])),
    "trust": lambda s: _first_client(s, trust_milli=4321),
    "loyalty": lambda s: _first_client(s, loyalty_milli=-999),
    "multiplier": lambda s: _first_client(s, reward_multiplier_milli=1),
    "specialties": lambda s: _first_client(s, specialties=(0, 1, 2, 3)),
    "client's tier": lambda s: _first_client(
        s, tier=next(t for t in ("Standard", "Premium") if t != s.clients[0].tier)
    ),
    "task's offer": lambda s: _first_task(s, offer=attrs.evolve(s.tasks[0].offer, reward_cents=5)),
    "task's status": lambda s: _first_task(s, status="cancelled"),
    "task's deadline": lambda s: _first_task(s, deadline_us=s.tasks[0].deadline_us + 1),
    "task's acceptance": lambda s: _first_task(s, accepted_us=s.tasks[0].accepted_us + 1),
    "task's completion": lambda s: _first_task(s, completed_us=s.now_us + 1),
    "task's work": lambda s: _first_task(s, required_e4=tuple(work + 1 for work in s.tasks[0].required_e4)),
    "task's progress": lambda s: _first_task(s, done_e4=tuple(work + 1 for work in s.tasks[0].done_e4)),
    "task's milestones": lambda s: _first_task(s, milestones_reported=9),
    "task's forecast": lambda s: _first_task(s, completion_us=s.now_us + 5),
    "task's next milestone": lambda s: _first_task(s, milestone_us=s.now_us + 5),
    "task's team": lambda s: _first_task(s, team=()),
}


def _first_client(state: State, **changes: object) -> State:
    return evolve(state, clients=(evolve(state.clients[0], **changes), *state.clients[1:]))


def _first_task(state: State, **changes: object) -> State:
    return evolve(state, tasks=(evolve(state.tasks[0], **changes), *state.tasks[1:]))


def one_at_work() -> State:
    """A state with a team at work, a booking and a payroll behind."""
    env = YCBenchEnv()
    env.reset(seed=1)
    env.step("task accept --task-id Task-3; task assign --task-id Task-3 --employees Emp_1,Emp_2")
    env.step("task dispatch --task-id Task-3; sim resume")
    state = env.get_state()
    assert state.ledger
    assert state.tasks[0].team
    return state


@pytest.mark.parametrize("what", CHANGES)
def test_every_part_of_the_world_is_in_the_hash_and_in_the_bytes(what: str) -> None:
    state = one_at_work()
    changed = CHANGES[what](state)
    assert changed != state
    assert changed.digest() != state.digest()
    assert changed.to_bytes() != state.to_bytes()


def test_every_field_of_the_world_is_among_those_changes() -> None:
    state = one_at_work()
    covered = {field for change in CHANGES.values() for field in _changed_fields(state, change(state))}
    every = {
        f"{kind.__name__}.{field.name}" for kind in (State, Employee, Client, Task) for field in attrs.fields(kind)
    }
    no_world = {"State.config", "State.calendar", "State.turns_played", "State.idle_turns"}
    assert every - covered == no_world | {"Employee.number"}  # by which employees are found


def _changed_fields(one: Any, other: Any) -> set[str]:
    """Which fields differ, those of the first employee, client and task among them."""
    kind = type(one).__name__
    found = {f"{kind}.{f.name}" for f in attrs.fields(type(one)) if getattr(one, f.name) != getattr(other, f.name)}
    for name in ("employees", "clients", "tasks"):
        if f"State.{name}" in found:
            found |= _changed_fields(getattr(one, name)[0], getattr(other, name)[0])
    return found


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_bytes_of_a_long_episode_stay_small(seed: int) -> None:
    env: Any = YCBenchEnv({"world": {"initial_funds_cents": 10**10}})
    env.reset(seed=seed)
    rng = random.Random(seed)
    largest = 0
    for _ in range(2_000):
        if env.get_state().end_reason is not None:
            break
        env.step(f"{sample_turn(env.get_state(), rng)}\nsim resume")
        largest = max(largest, len(env.get_state().to_bytes()))
    assert env.get_state().end_reason == "horizon_end"
    assert len(env.get_state().tasks) > 30
    assert largest < MOST_BYTES


def test_bytes_stay_small_when_everything_is_accepted_and_everybody_works_on_it() -> None:
    world = {"initial_prestige_level": 10.0, "trust_gating_fraction": 0.0}
    env: Any = YCBenchEnv({"world": world, "loop": {"auto_advance_after_turns": 0}})
    env.reset(seed=1)
    everybody = ",".join(employee.name for employee in env.get_state().employees)
    for task in env.get_state().market:
        one = f"--task-id {task.task_id}"
        env.step(f"task accept {one} && task assign {one} --employees {everybody} && task dispatch {one}")
    assert [task.status for task in env.get_state().tasks] == ["active"] * 200
    assert len(env.get_state().to_bytes()) < MOST_BYTES


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda _: b"", "no saved state"),
        (lambda data: b"PK" + data[2:], "no saved state"),
        (lambda data: data[:4], "version None"),
        (lambda data: data[:4] + b"\x63" + data[5:], "version 99, expected 1"),
        (lambda data: data[:-1], "damaged"),
        (lambda data: data + b"\x00", "damaged"),
        (lambda data: data[:100] + bytes([data[100] ^ 1]) + data[101:], "damaged"),
    ],
    ids=["empty", "another format", "cut after the magic", "another version", "cut", "too long", "a bit flipped"],
)
def test_bytes_that_are_no_state_are_refused_with_the_reason(env: Any, spoil: Any, message: str) -> None:
    with pytest.raises(StateError, match=message):
        State.from_bytes(spoil(env.get_state().to_bytes()))


def test_from_bytes_does_not_depend_on_the_environment_variables(env: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    data = env.get_state().to_bytes()
    monkeypatch.setenv("YCBENCH_WORLD__NUM_EMPLOYEES", "3")
    again = State.from_bytes(data)
    monkeypatch.undo()
    assert again == env.get_state()


# ---- nothing is shared


def test_what_was_returned_never_changes_later() -> None:
    env = busy()
    rng = random.Random(5)
    kept = []
    for _ in range(30):
        observation, reward, _, _, info = env.step(sample_turn(env.unwrapped.get_state(), rng))
        snapshot = json.dumps(info), {key: str(value) for key, value in observation.items()}, reward
        kept.append((observation, info, reward, snapshot))
    for observation, info, reward, snapshot in kept:
        assert (json.dumps(info), {key: str(value) for key, value in observation.items()}, reward) == snapshot


def test_changing_what_was_returned_changes_nothing_inside(env: Any) -> None:
    clean = YCBenchEnv()  # not a clone, which may share what cannot change
    clean.reset(seed=1)
    turn = "employee list; market browse; client list; company status; task list; report monthly"
    for _ in range(3):
        observation: Any
        observation, *_, info = env.step(turn)
        for array in observation.values():
            if not isinstance(array, str):
                array[...] = 7
        for result in info["results"]:
            _clear(result["output"])
        info["results"].clear()
        info["run_seed"] = 12345
        info["events"].append({"type": "invented"})
        clean.step(turn)
    assert env.step(turn) == clean.step(turn)
    assert env.get_state().run_seed == 1


def _clear(value: Any) -> None:
    if isinstance(value, dict):
        for inner in value.values():
            _clear(inner)
        value.clear()
    elif isinstance(value, list):
        for inner in value:
            _clear(inner)
        value.clear()


def test_the_configuration_given_as_a_dict_is_not_kept_and_not_changed() -> None:
    tables = {"world": {"num_employees": 3, "dist": {"domain_count": {"type": "constant", "value": 2}}}}
    before = copy.deepcopy(tables)
    env: Any = YCBenchEnv(tables)
    tables["world"]["num_employees"] = 5
    assert int(env.reset(seed=1)[0]["employees"]) == 3
    tables["world"]["num_employees"] = 3
    assert tables == before


def test_spaces_are_not_shared_between_environments() -> None:
    one, other = YCBenchEnv(), YCBenchEnv()
    one.action_space.seed(1)
    first = [one.action_space.sample() for _ in range(3)]
    other.action_space.seed(1)
    one.clone().action_space.sample()
    assert [other.action_space.sample() for _ in range(3)] == first


def test_a_configuration_can_be_copied_and_is_equal() -> None:
    config = tiny_config()
    assert copy.deepcopy(config) == config == pickle.loads(pickle.dumps(config))
    assert load_config(config.to_dict(), environ={}) == config
