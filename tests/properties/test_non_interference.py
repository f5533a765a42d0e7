"""What an agent must not see does not reach it, by any channel (B47)."""

# ruff: noqa: ANN401, S311 -- answers are JSON of many shapes; plays are drawn, not secrets

from __future__ import annotations

import inspect
import json
import random
import re
from functools import cache
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ycbench_env import State, YCBenchEnv, load_config, observe
from ycbench_env.actions import DEFAULT_GRAMMAR
from ycbench_env.testing import HIDDEN_FIELDS, reshuffled_clients, sample_turn, with_other_hidden_fields
from ycbench_env.testing.play import QUERIES, REFUSED
from ycbench_env.types import state as state_types
from ycbench_env.types.evolve import evolve
from ycbench_env.units import iso_time
from ycbench_env.wrappers import ScratchpadMemory

CONFIG: Final = load_config(
    {"world": {"task_progress_milestones": [0.4, 0.8], "loyalty_rat_fraction": 0.5}, "sim": {"horizon_years": 4}},
    environ={},
)
HELP: Final = ("--help", *(f"{spec.name} --help" for spec in DEFAULT_GRAMMAR.commands))


@cache
def played(seed: int, turns: int) -> State:
    """A state of an episode, reached by sampled turns; always with work under way."""
    env = YCBenchEnv(CONFIG)
    env.reset(seed=seed)
    rng = random.Random(f"{seed} {turns}")
    for _ in range(turns):
        kept = env.get_state()
        env.step(sample_turn(kept, rng))
        if env.get_state().end_reason is not None:
            env.set_state(kept)
    for slot in (3, 8):
        task_id = env.get_state().market[slot].task_id
        one = f"--task-id {task_id}"
        env.step(f"task accept {one} && task assign {one} --employees Emp_1,Emp_2 && task dispatch {one}")
    return evolve(env.get_state(), idle_turns=0)  # so that a turn of questions moves no time


STATES: Final = st.builds(played, st.integers(0, 3), st.sampled_from([0, 8, 30]))


def questions(state: State) -> list[str]:
    """Every question, and commands of every kind that this state refuses."""
    ids = [task.task_id for task in (*state.tasks, *state.market[:10])]
    done = [task.task_id for task in state.tasks if task.status not in {"planned", "active"}] or ["Task-999999"]
    planned = [task.task_id for task in state.tasks if task.status == "planned" and not task.team]
    demanding = [task.task_id for task in state.market if task.required_prestige * 1000 > max(state.prestige_milli)]
    trusting = [
        task.task_id for task in state.market if task.required_trust * 1000 > state.client(task.client_name).trust_milli
    ]
    return [
        *QUERIES,
        "market browse --limit 9999",
        *(f"task inspect --task-id {task_id}" for task_id in ids),
        *HELP,
        *REFUSED,
        *(f"task accept --task-id {task_id}" for task_id in [*demanding[:5], *trusting[:5], *done]),
        *(f"task cancel --task-id {task_id} --reason x" for task_id in [*done, state.market[0].task_id]),
        *(f"task dispatch --task-id {task_id}" for task_id in [*done, *planned, state.market[0].task_id]),
        f"task assign --task-id {ids[0]} --employees Emp_1,Emp_99,Client",
    ]


def seen(state: State) -> tuple[Any, ...]:
    """All that an agent can see of a state without changing it."""
    env = YCBenchEnv(state.config, render_mode="ansi")
    env.set_state(state)
    picture = env.render()
    info: Any
    observation, reward, terminated, truncated, info = env.step(questions(state))
    assert env.get_state().digest() == state.digest()  # only questions and refusals
    del info["run_seed"]  # for records; "no agent should be told"
    return _plain(observe(state)), picture, _plain(observation), reward, terminated, truncated, info


def _plain(observation: Any) -> dict[str, str]:
    return {key: str(value) for key, value in observation.items()}


@settings(max_examples=40)
@given(data=st.data())
def test_states_that_differ_in_hidden_fields_only_look_the_same(data: st.DataObject) -> None:
    state = data.draw(STATES)
    other = data.draw(with_other_hidden_fields(state))
    assert seen(other) == seen(state)


@settings(max_examples=20)
@given(data=st.data())
def test_the_order_of_clients_in_the_world_shows_nowhere(data: st.DataObject) -> None:
    state = data.draw(STATES)
    assert seen(data.draw(reshuffled_clients(state))) == seen(state)


@settings(max_examples=30)
@given(data=st.data())
def test_accepting_a_first_task_of_a_client_does_not_tell_its_loyalty(data: st.DataObject) -> None:
    state = data.draw(st.builds(played, st.integers(0, 3), st.just(0)))
    fresh = {client.name for client in state.clients if client.trust_milli == 0}
    offers = [task.task_id for task in state.market if task.client_name in fresh and task.required_prestige == 1][:8]
    loyalties = data.draw(st.lists(st.integers(-1_000, 1_000), min_size=6, max_size=6))
    clients = tuple(
        evolve(client, loyalty_milli=loyalty) for client, loyalty in zip(state.clients, loyalties, strict=True)
    )
    accepts = "\n".join(f"task accept --task-id {task_id}" for task_id in offers)
    answers: list[Any] = []
    for one in (state, evolve(state, clients=clients)):
        env = YCBenchEnv(CONFIG)
        env.set_state(one)
        observation, *_, info = env.step(f"{accepts}\ntask list\nclient list\nclient history\nmarket browse")
        answers.append((_plain(observation), info))
    assert answers[0] == answers[1]


def test_the_fields_that_are_varied_are_those_that_docstrings_call_hidden() -> None:
    marked: dict[str, tuple[str, ...]] = {}
    for name in state_types.__all__:
        text = inspect.getdoc(getattr(state_types, name)) or ""
        fields = tuple(re.findall(r"^ *(\w+): Hidden\.", text, re.MULTILINE))
        if fields:
            marked[name] = fields
    assert marked == HIDDEN_FIELDS


# ---- a long run, looked through for names and values

WORDS: Final = re.compile(
    r"loyal|advers|multiplier|inflat|slot_accepts|slot|forecast|completion_us|milestone_us|_milli|_e4\b|_us\b"
    r"|run_seed|world_seed|\bseed\b|specialty_domain_bias|severity|\brat\b|Traceback|\.py\b|object at 0x"
)
SEED: Final = 918_273_645_546
LOYALTY: Final = 776_655_443
MULTIPLIER: Final = 554_433_221
VALUES: Final = re.compile("918273645546|776655443|776655[.,]443|554433221|554433[.,]221")


def long_run() -> list[tuple[State, str]]:
    """What 300 turns of a world with unmistakable hidden values say, each with the state after it."""
    env: Any = ScratchpadMemory(YCBenchEnv(CONFIG, render_mode="ansi"))
    base: YCBenchEnv = env.unwrapped
    env.reset(seed=1)
    clients = tuple(
        evolve(client, loyalty_milli=(-LOYALTY if place % 2 else LOYALTY), reward_multiplier_milli=MULTIPLIER)
        for place, client in enumerate(base.get_state().clients)
    )
    base.set_state(evolve(base.get_state(), clients=clients, run_seed=SEED, funds_cents=10**11))
    rng = random.Random(300)
    said: list[tuple[State, str]] = []
    for number in range(300):
        turn: object = questions(base.get_state()) if number % 20 == 0 else sample_turn(base.get_state(), rng)
        observation, _, terminated, truncated, info = env.step(turn)
        del info["run_seed"]
        picture = env.render()
        said.append((base.get_state(), f"{_plain(observation)}\n{json.dumps(info)}\n{picture}"))
        if terminated or truncated:
            break
    return said


@pytest.fixture(scope="module")
def said() -> list[tuple[State, str]]:
    return long_run()


def test_a_long_run_names_nothing_hidden(said: list[tuple[State, str]]) -> None:
    assert len(said) > 100
    assert len(said[-1][0].tasks) > 20
    for _, text in said:
        assert WORDS.findall(text) == []


def test_a_long_run_shows_no_hidden_value(said: list[tuple[State, str]]) -> None:
    for _, text in said:
        assert VALUES.findall(text) == []


def test_a_long_run_announces_no_forecast(said: list[tuple[State, str]]) -> None:
    looked_for = 0
    for state, text in said:
        for task in state.tasks:
            for forecast_us in (task.completion_us, task.milestone_us):
                shown = "" if forecast_us is None or forecast_us <= state.now_us else iso_time(forecast_us)
                if "." in shown:  # with microseconds, so that nothing else has the same time
                    looked_for += 1
                    assert shown not in text
                    assert str(forecast_us) not in text
    assert looked_for > 20


def test_the_scan_itself_finds_what_it_looks_for() -> None:
    assert WORDS.search("client.loyalty_milli")
    assert WORDS.search("adversarial")
    assert VALUES.search("-776655.443")
    assert not WORDS.search(json.dumps(HELP))


def test_the_rewards_of_clients_are_the_only_trace_of_their_multipliers(said: list[tuple[State, str]]) -> None:
    # Replacements are drawn without the multiplier, so after an accept the market forgets it.
    state = said[0][0]
    env = YCBenchEnv(CONFIG)
    env.set_state(evolve(state, clients=tuple(evolve(c, reward_multiplier_milli=1) for c in state.clients)))
    other = YCBenchEnv(CONFIG)
    other.set_state(state)
    accept = f"task accept --task-id {state.market[5].task_id}\nmarket browse --limit 9999"
    assert env.step(accept)[4] == other.step(accept)[4]
