"""Digests of an episode's states, with the tasks of earlier ones kept: always what a digest by itself is."""

from __future__ import annotations

import copy
import pickle
from itertools import product

import attrs

from ycbench_env import YCBenchEnv
from ycbench_env.types.codec import state_digest
from ycbench_env.types.digests import StateDigests
from ycbench_env.types.evolve import evolve
from ycbench_env.types.state import State

TURNS = (
    "task accept --task-id Task-{0}",
    "task assign --task-id Task-{0} --employees Emp_1,Emp_2,Emp_3,Emp_4,Emp_5,Emp_6",
    "task dispatch --task-id Task-{0}",
    "sim resume",
)


def played(preset: str, tasks: int) -> list[State]:
    """The states of a short episode."""
    env = YCBenchEnv(preset)
    env.reset(seed=1)
    states = [env.get_state()]
    for number in range(1, tasks + 1):
        for turn in TURNS:
            env.step(turn.format(number))
            states.append(env.get_state())
    return states


def test_they_are_those_of_the_states_in_any_order_and_over_episodes() -> None:
    states = [*played("default", 4), *played("classic-easy", 3)]
    digests = StateDigests()
    expected = [state_digest(state) for state in states]
    assert [digests.of(state) for state in states] == expected
    assert [digests.of(state) for state in reversed(states)] == expected[::-1]
    assert len(set(expected)) > 10


def variants(state: State) -> list[State]:
    """A state and others that share much with it, of kinds that no episode leads to."""
    tasks, ledger = state.tasks, state.ledger
    renamed = evolve(tasks[0], offer=attrs.evolve(tasks[0].offer, number=190))
    return [
        state,
        evolve(state, tasks=(*tasks[1::-1], *tasks[2:])),  # its bookings name other places
        evolve(state, tasks=(*tasks, tasks[0])),  # a task that stands in two places
        evolve(state, tasks=(renamed, *tasks[1:], tasks[0])),
        evolve(state, ledger=(attrs.evolve(ledger[0], amount_cents=7), *ledger[1:])),
        evolve(state, ledger=ledger[1:]),
        evolve(state, market=(*state.market[1::-1], *state.market[2:])),
        evolve(state, market=state.market[:5]),
    ]


STATES = tuple(variants(played("default", 4)[-1]))
DIGESTS = tuple(map(state_digest, STATES))


def test_the_variants_are_all_different_and_have_bookings_of_two_tasks() -> None:
    assert len(set(DIGESTS)) == len(STATES)
    assert len({entry.ref_id for entry in STATES[0].ledger if entry.category != "monthly_payroll"}) >= 2


def test_whatever_state_comes_after_whatever_other_its_digest_is_its_own() -> None:
    for first, second in product(range(len(STATES)), repeat=2):
        digests = StateDigests()
        assert [digests.of(STATES[place]) for place in (0, first, second, 0)] == [
            DIGESTS[place] for place in (0, first, second, 0)
        ]


def test_the_same_tasks_for_clients_in_another_order_are_other_bytes() -> None:
    state = played("default", 4)[-1]
    other = evolve(state, clients=state.clients[::-1])
    digests = StateDigests()
    assert [digests.of(each) for each in (state, other, state)] == [
        state_digest(each) for each in (state, other, state)
    ]
    assert digests.of(state) != digests.of(other)


def test_the_environment_tells_them_also_after_it_was_copied_or_set_back() -> None:
    env = YCBenchEnv("default")
    env.reset(seed=1)
    start = env.get_state()
    for number in (1, 2, 3):
        for turn in TURNS:
            env.step(turn.format(number))
            env.state_hash()
    for twin in (env.clone(), copy.deepcopy(env), pickle.loads(pickle.dumps(env))):  # noqa: S301 -- its own
        assert twin.state_hash() == state_digest(env.get_state())
        twin.step("task accept --task-id Task-9")
        assert twin.state_hash() == state_digest(twin.get_state())
    env.set_state(start)
    assert env.state_hash() == state_digest(start)
