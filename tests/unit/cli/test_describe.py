"""Descriptions of worlds: what they show, and what they must not depend on."""

from __future__ import annotations

import re

import attrs
import pytest

from ycbench_agents.cli import describe as module
from ycbench_agents.cli.describe import describe
from ycbench_env import Info, Observation, State, YCBenchEnv


def _with_other_secrets(state: State) -> State:
    """A world that an agent cannot tell from this one: rates differ below the two decimals that it sees."""
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


class _TwinEnv(YCBenchEnv):
    """A world that differs in hidden figures alone."""

    secrets = False

    def reset(self, *, seed: int | None = None, options: dict[str, object] | None = None) -> tuple[Observation, Info]:
        first = super().reset(seed=seed, options=options)
        state = self.get_state()
        rounded = tuple(
            attrs.evolve(one, rates_e4=tuple(r // 100 * 100 for r in one.rates_e4)) for one in state.employees
        )
        state = attrs.evolve(state, employees=rounded)
        self.set_state(_with_other_secrets(state) if self.secrets else state)
        return first


@pytest.mark.parametrize("reveal", [False, True])
def test_only_reveal_tells_worlds_with_other_secrets_apart(
    reveal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "YCBenchEnv", _TwinEnv)
    texts: list[list[str]] = []
    for secrets in (False, True):
        monkeypatch.setattr(_TwinEnv, "secrets", secrets)
        describe(reveal=reveal)
        texts.append(capsys.readouterr().out.split("HIDDEN: "))
    one, other = texts
    assert len(one) == len(other) == (4 if reveal else 1)
    assert one[0] == other[0]
    assert all(first != second for first, second in zip(one[1:], other[1:], strict=True))


def test_inflated_tasks_are_those_of_adversarial_clients(capsys: pytest.CaptureFixture[str]) -> None:
    describe(limit=200, reveal=True)
    text = capsys.readouterr().out
    adversarial = re.findall(r"^(\S.*?)  +-0\.\d+  yes ", text, re.MULTILINE)
    offers = dict(re.findall(r"^(Task-\d+)  +[\d,]+ +[\d,]+  (yes|no) ", text, re.MULTILINE))
    clients = dict(re.findall(r"^(Task-\d+)  +(\S.*?)  +\$", text.partition("HIDDEN")[0], re.MULTILINE))
    assert adversarial
    assert {task for task, answer in offers.items() if answer == "yes"} == {
        task for task, client in clients.items() if client in adversarial
    }


def test_the_next_task_is_the_one_that_comes(capsys: pytest.CaptureFixture[str]) -> None:
    describe(limit=1, reveal=True)
    task, following = capsys.readouterr().out.splitlines()[-1].split()[0::4]
    env = YCBenchEnv("default")
    env.reset(seed=1)
    answer = env.step(f"task accept --task-id {task}")[-1]["results"][0]["output"]
    assert answer["replacement_task_id"] == following


@pytest.mark.parametrize(
    "settings",
    [
        ("world.num_employees=0", "world.num_market_tasks=0"),
        ("loop.auto_advance_after_turns=1", "world.initial_funds_cents=0"),
        ("loop.max_turns=1",),
    ],
)
def test_odd_worlds_are_described(settings: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert describe(settings=settings, limit=3, reveal=True) == 0
    assert "HIDDEN: what clients are" in capsys.readouterr().out


def test_names_are_printed_without_markup_and_direction_marks(capsys: pytest.CaptureFixture[str]) -> None:
    describe(settings=("sim.company_name=[red]Ev\u202eil[/red] \U0001f600",), limit=1)
    printed = capsys.readouterr().out
    assert "[red]Ev\\u202eil[/red] \U0001f600: 2025-01-01" in printed
    assert "HIDDEN" not in printed


def test_classic_worlds_have_no_clients_and_hidden_skills(capsys: pytest.CaptureFixture[str]) -> None:
    describe(preset="classic-hard", settings=("world.num_market_tasks=20",), limit=20, reveal=True)
    visible, rates, offers = capsys.readouterr().out.split("HIDDEN: ")
    assert "Staff (7), skills hidden" in visible
    assert not re.search("client|trust|None|research +inference", visible, re.IGNORECASE)
    assert rates.startswith("exact rates")
    prestige = re.findall(r"^Task-\S+ +\$\S+ +(\d+) ", visible, re.MULTILINE)
    assert offers.count("out of reach") == sum(level != "1" for level in prestige) > 0
