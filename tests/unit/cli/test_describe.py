"""Descriptions of worlds: what they show, and what they must not depend on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import attrs
import pytest

from ycbench_agents.cli.console import print_parts
from ycbench_agents.cli.describe import describe
from ycbench_agents.cli.describe.tables import hidden_parts, visible_parts
from ycbench_agents.cli.describe.world import look_around, reveal
from ycbench_env import YCBenchEnv, load_config

if TYPE_CHECKING:
    from ycbench_env import State


def _text(env: YCBenchEnv, capsys: pytest.CaptureFixture[str], *, hidden: bool) -> str:
    view = look_around(env.clone(), 10)
    print_parts(*visible_parts(view), *(hidden_parts(reveal(env, view)) if hidden else ()))
    return capsys.readouterr().out


def _with_other_secrets(state: State) -> State:
    """A world that an agent cannot tell from this one: rates differ below the two places that it sees."""
    clients = tuple(
        attrs.evolve(client, loyalty_milli=-client.loyalty_milli - 1, reward_multiplier_milli=700)
        for client in state.clients
    )
    employees = tuple(
        attrs.evolve(one, rates_e4=tuple(rate // 100 * 100 + 1 for rate in one.rates_e4)) for one in state.employees
    )
    return attrs.evolve(
        state, clients=clients, employees=employees, run_seed=99, slot_accepts=(1,) * len(state.slot_accepts)
    )


@pytest.fixture
def env() -> YCBenchEnv:
    env = YCBenchEnv("default")
    env.reset(seed=1)
    state = env.get_state()
    rounded = tuple(
        attrs.evolve(one, rates_e4=tuple(rate // 100 * 100 for rate in one.rates_e4)) for one in state.employees
    )
    env.set_state(attrs.evolve(state, employees=rounded))
    return env


@pytest.fixture
def twin(env: YCBenchEnv) -> YCBenchEnv:
    twin = env.clone()
    twin.set_state(_with_other_secrets(env.get_state()))
    return twin


def test_worlds_that_differ_in_hidden_figures_alone_are_described_alike(
    env: YCBenchEnv, twin: YCBenchEnv, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _text(env, capsys, hidden=False) == _text(twin, capsys, hidden=False)


def test_reveal_tells_such_worlds_apart(env: YCBenchEnv, twin: YCBenchEnv, capsys: pytest.CaptureFixture[str]) -> None:
    ours, theirs = _text(env, capsys, hidden=True), _text(twin, capsys, hidden=True)
    assert ours != theirs
    parts = [text.split("HIDDEN: ") for text in (ours, theirs)]
    assert len(parts[0]) == len(parts[1]) == 4
    assert parts[0][0] == parts[1][0]
    assert all(one != other for one, other in zip(*(part[1:] for part in parts), strict=True))


def test_adversarial_clients_are_those_whose_tasks_are_inflated(env: YCBenchEnv) -> None:
    view = look_around(env.clone(), 200)
    hidden = reveal(env, view)
    inflated = {offer.task_id for offer in hidden.offers if (offer.real_work or 0) > offer.listed_work}
    adversarial = {client.name for client in hidden.clients if client.loyalty_milli < -300}
    assert inflated
    assert inflated == {row["task_id"] for row in view.market if row["client_name"] in adversarial}


def test_the_next_task_is_the_one_that_comes(env: YCBenchEnv) -> None:
    view = look_around(env.clone(), 3)
    offer = reveal(env, view).offers[0]
    accepted = env.step(f"task accept --task-id {offer.task_id}")[-1]["results"][0]["output"]
    assert offer.replacement is not None
    assert accepted["replacement_task_id"] == offer.replacement.task_id


def test_looking_and_revealing_leave_the_world_as_it_is(env: YCBenchEnv) -> None:
    before = env.get_state()
    reveal(env, look_around(env.clone(), 5))
    assert env.get_state() == before


def test_the_market_is_listed_by_reward_up_to_the_limit(env: YCBenchEnv) -> None:
    rewards = [row["reward_funds_cents"] for row in look_around(env, 7).market]
    assert len(rewards) == 7
    assert rewards == sorted(rewards, reverse=True)


@pytest.mark.parametrize(
    "settings",
    [
        {"world": {"num_employees": 0, "num_market_tasks": 0}},
        {"loop": {"auto_advance_after_turns": 1}},
        {"loop": {"max_turns": 1}},
        {"world": {"initial_funds_cents": 0}, "loop": {"auto_advance_after_turns": 1}},
    ],
)
def test_odd_worlds_are_described(settings: dict[str, object], capsys: pytest.CaptureFixture[str]) -> None:
    assert describe(load_config("default", overrides=settings, environ={}), 1, limit=3, hidden=True) == 0
    assert "HIDDEN: what clients are" in capsys.readouterr().out


def test_names_are_printed_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    config = load_config("default", overrides={"sim": {"company_name": "[red]Ev\u202eil[/red] \U0001f600"}}, environ={})
    describe(config, 1, limit=1, hidden=False)
    printed = capsys.readouterr().out
    assert "[red]Ev\\u202eil[/red] \U0001f600: 2025-01-01" in printed
    assert "HIDDEN" not in printed


def test_a_world_without_clients_and_with_hidden_skills_is_described_without_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    env = YCBenchEnv({"extends": "classic-hard", "world": {"num_market_tasks": 20}})
    env.reset(seed=1)
    text = _text(env, capsys, hidden=False)
    assert "Staff (7), skills hidden" in text
    assert not re.search("client|trust|None|research +inference", text, re.IGNORECASE)
    revealed = _text(env, capsys, hidden=True)
    assert "HIDDEN: exact rates" in revealed
    assert "HIDDEN: what clients are" not in revealed


def test_a_listed_task_that_is_out_of_reach_is_said_to_be(capsys: pytest.CaptureFixture[str]) -> None:
    env = YCBenchEnv({"extends": "classic-hard", "world": {"num_market_tasks": 20}})
    env.reset(seed=1)
    view = look_around(env.clone(), 20)
    offers = {offer.task_id: offer for offer in reveal(env, view).offers}
    assert len(offers) == 20
    for row in view.market:
        offer = offers[row["task_id"]]
        assert (offer.real_work is None) == (offer.replacement is None) == (row["required_prestige"] > 1)
        assert offer.real_work in (None, offer.listed_work)
    assert "out of reach" in _text(env, capsys, hidden=True)
