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
from lookalikes import HIDDEN_FIELDS, HIDDEN_UNLESS, reshuffled_clients, with_other_hidden_fields, with_other_rates

from ycbench_env import State, YCBenchEnv, load_config, observe
from ycbench_env.actions import DEFAULT_GRAMMAR
from ycbench_env.testing import sample_turn
from ycbench_env.testing.conformance import QUERIES, REFUSED, sample_contract
from ycbench_env.testing.invariants import acceptable
from ycbench_env.types import state as state_types
from ycbench_env.types.state import evolve
from ycbench_env.units import iso_time
from ycbench_env.wrappers import ScratchpadMemory

_TABLES: Final[dict[str, Any]] = {
    "world": {"task_progress_milestones": [0.4, 0.8], "loyalty_rat_fraction": 0.5},
    "sim": {"horizon_years": 4},
}
CONFIG: Final = load_config(_TABLES, environ={})
HIDING: Final = {
    "classic": load_config(
        {"extends": "classic-hard", "world": {"num_market_tasks": 60, "initial_prestige_level": 3.0}}, environ={}
    ),
    "with clients": load_config(CONFIG, overrides={"world": {"skill_rates_visible": False}}),
}
"""Worlds in which skills are hidden."""

HELP: Final = ("--help", *(f"{spec.name} --help" for spec in DEFAULT_GRAMMAR.commands))


@cache
def played(seed: int, turns: int, rules: str = "") -> State:
    """A state of an episode, reached by sampled turns; always with work under way."""
    env = YCBenchEnv(HIDING.get(rules, CONFIG))
    env.reset(seed=seed)
    rng = random.Random(f"{seed} {turns}")
    for _ in range(turns):
        kept = env.get_state()
        env.step(sample_turn(kept, rng))
        if env.get_state().end_reason is not None:
            env.set_state(kept)
    for _ in range(2):
        env.step(sample_contract(env.get_state(), rng))
    assert env.get_state().status_counts["active"] > 1
    return evolve(env.get_state(), idle_turns=0)  # so that a turn of questions moves no time


STATES: Final = st.builds(played, st.integers(0, 3), st.sampled_from([0, 8, 30]))


def questions(state: State) -> list[str]:
    """Every question, and commands of every kind that this state refuses."""
    ids = [task.task_id for task in (*state.tasks, *state.market[:10])]
    done = [task.task_id for task in state.tasks if task.status not in {"planned", "active"}] or ["Task-999999"]
    planned = [task.task_id for task in state.tasks if task.status == "planned" and not task.team]
    demanding = [task.task_id for task in state.market if task.required_prestige * 1000 > max(state.prestige_milli)]
    trusting = [
        task.task_id
        for task in state.market
        if (client := state.client_of(task)) and task.required_trust * 1000 > client.trust_milli
    ]
    return [
        *QUERIES,
        "market browse --limit 9999",
        "market browse --required-prestige-lte 2",
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


@settings(max_examples=20)
@given(data=st.data())
def test_states_that_differ_in_hidden_fields_only_look_the_same(data: st.DataObject) -> None:
    state = data.draw(STATES)
    other = data.draw(with_other_hidden_fields(state))
    assert seen(other) == seen(state)


@settings(max_examples=10)
@given(data=st.data())
def test_the_order_of_clients_in_the_world_shows_nowhere(data: st.DataObject) -> None:
    state = data.draw(STATES)
    assert seen(data.draw(reshuffled_clients(state))) == seen(state)


# ---- skills, where a setting hides them


@settings(max_examples=12)
@given(data=st.data(), seed=st.integers(0, 3), rules=st.sampled_from(sorted(HIDING)))
def test_states_that_differ_in_hidden_skills_only_look_the_same(data: st.DataObject, seed: int, rules: str) -> None:
    state = played(seed, data.draw(st.sampled_from([0, 8, 30])), rules)
    other = data.draw(with_other_rates(state))
    assert seen(other) == seen(data.draw(with_other_hidden_fields(state))) == seen(state)
    assert spoken_of(other) == spoken_of(state)


def test_the_same_states_look_different_where_skills_are_visible() -> None:
    state = played(1, 8)
    faster = [evolve(one, rates_e4=tuple(rate * 8 // 5 + 12_345 for rate in one.rates_e4)) for one in state.employees]
    better = evolve(state, employees=tuple(faster))
    assert seen(better) != seen(state)
    assert spoken_of(better) == spoken_of(state)  # in answers about tasks there is nothing to see of skills anyway
    hiding = HIDING["with clients"]
    assert seen(evolve(better, config=hiding)) == seen(evolve(state, config=hiding))


def spoken_of(state: State) -> tuple[Any, ...]:
    """What an agent hears when it takes work on and gives it up, which passes no time; and what programs print."""
    env: Any = ScratchpadMemory(YCBenchEnv(state.config))
    env.reset(seed=0)
    env.unwrapped.set_state(state)
    shown = repr(state), repr(env), repr(env.observation_space), repr(env.action_space)
    task_id = next(task.task_id for task in state.market if acceptable(state, task))
    own_id = next(task.task_id for task in state.tasks if task.status == "active")
    commands = [
        f"accept --task-id {task_id}",
        f"assign --task-id {task_id} --employees Emp_2,Emp_1",
        f"dispatch --task-id {task_id}",
        f"inspect --task-id {task_id}",
        f"assign --task-id {own_id} --employees Emp_1,Emp_3",
        f"cancel --task-id {own_id} --reason slow",
    ]
    observation, *numbers, info = env.step("\n".join(f"task {command}" for command in commands))
    assert all(result["ok"] for result in info["results"])
    return *shown, _plain(observation), *numbers, info


def test_an_episode_of_hidden_skills_never_names_a_rate() -> None:
    env: Any = ScratchpadMemory(YCBenchEnv(HIDING["classic"], render_mode="ansi"))
    env.reset(seed=5)
    rng = random.Random(5)
    finished = 0
    for number in range(60):
        state = env.unwrapped.get_state()
        if state.end_reason is not None:
            break
        busy = f"{sample_contract(state, rng)}\nsim resume" if number % 3 else sample_turn(state, rng)
        observation, *_, info = env.step(questions(state) if number % 10 == 0 else busy)
        text = f"{_plain(observation)}\n{json.dumps(info)}\n{env.render()}"
        assert re.findall(r"skill_rates|[^_]rates\b|per hour|an hour", text) == []
        finished += text.count('"type": "task_completed"')
    assert finished > 3


def test_the_fields_that_are_varied_are_those_that_docstrings_call_hidden() -> None:
    assert marked_fields(r"Hidden\.") == HIDDEN_FIELDS
    for setting, fields in HIDDEN_UNLESS.items():
        assert marked_fields(rf"Hidden unless `{setting}`\.") == fields
    conditional = {name for fields in HIDDEN_UNLESS.values() for name in fields}
    assert set(marked_fields("Hidden unless")) == conditional


def marked_fields(mark: str) -> dict[str, tuple[str, ...]]:
    """The fields whose description begins with a mark, by type."""
    marked: dict[str, tuple[str, ...]] = {}
    for name, value in vars(state_types).items():
        text = (inspect.getdoc(value) or "") if getattr(value, "__module__", "") == state_types.__name__ else ""
        fields = tuple(re.findall(rf"^ *(\w+): {mark}", text, re.MULTILINE))
        if fields:
            marked[name] = fields
    return marked


# ---- a long run, looked through for names and values

WORDS: Final = re.compile(
    r"loyal|advers|multiplier|inflat|slot_accepts|slot|forecast|completion_us|milestone_us|_milli|_e4\b|_us\b"
    r"|run_seed|world_seed|\bseed\b|specialty_domain_bias|severity|\brat\b|Traceback|\.py\b|object at 0x"
)
SEED: Final = 918_273_645_546
LOYALTY: Final = 776_655_443
MULTIPLIER: Final = 554_433_221
VALUES: Final = re.compile("918273645546|776655443|776655[.,]443|554433221|554433[.,]221")


@pytest.fixture(scope="module")
def said() -> list[tuple[State, str]]:
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
        said.append((base.get_state(), f"{_plain(observation)}\n{json.dumps(info)}\n{env.render()}"))
        if terminated or truncated:
            break
    return said


def test_a_long_run_names_nothing_hidden(said: list[tuple[State, str]]) -> None:
    assert len(said) > 100
    assert len(said[-1][0].tasks) > 20
    for _, text in said:
        assert WORDS.findall(text) == VALUES.findall(text) == []


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
