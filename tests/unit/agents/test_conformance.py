"""The kit for policies: those of this package pass, and each check finds the policy that it is there for."""

# ruff: noqa: ANN401, ARG002 -- policies here see anything, and most of them ignore it

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Final

import attrs
import numpy as np
import pytest
from lookalikes import HIDDEN_FIELDS, HIDDEN_UNLESS

from ycbench_agents import (
    Decision,
    DeliberatingPolicy,
    PolicyStoppedError,
    make_policy,
    policy_names,
    policy_seed,
    rollout,
)
from ycbench_agents.scripted.mixture import MixturePolicy
from ycbench_agents.scripted.random import RandomPolicy
from ycbench_agents.scripted.replay import ReplayPolicy
from ycbench_agents.testing import (
    PolicyConformanceError,
    PolicyReport,
    check_policy,
    check_policy_in_processes,
    check_sees_only_observations,
)
from ycbench_agents.testing.conformance import _NUISANCES as NUISANCES
from ycbench_agents.testing.conformance import _ODD_WORLDS as ODD_WORLDS
from ycbench_agents.testing.conformance import Student, play, with_other_hidden_fields
from ycbench_env import YCBenchEnv, load_config, observe


class Steady:
    """Keeps the contract; the faulty policies below change one thing."""

    def reset(self, seed: int) -> None:
        self.seed = seed

    def act(self, observation: Any) -> Any:
        return "sim resume" if observation["active_tasks"] else "market browse --limit 1"


class Deliberates(Steady):
    async def decide(self, observation: Any) -> Decision:
        return Decision(self.act(observation), {})

    def recall(self, observation: Any, trace: Any) -> str:
        return self.act(observation)


class Stops(Steady):
    """Plays two turns."""

    def reset(self, seed: int) -> None:
        self.turns = ["sim resume\ntask list", "task list"]

    def act(self, observation: Any) -> Any:
        if not self.turns:
            msg = "all turns are played"
            raise PolicyStoppedError(msg)
        return self.turns.pop(0)


PASSING: Final[dict[str, Callable[[], Any]]] = {
    "steady": Steady,
    "random": RandomPolicy,
    "replay": lambda: ReplayPolicy(turns=["task list", ["market browse", "task accept --task-id Task-8"], ""]),
    "stops": Stops,
    "deliberating": Deliberates,
    "mixture": lambda: MixturePolicy("random", ReplayPolicy(turns=["company status"]), 0.5),
    "mixture that deliberates": lambda: MixturePolicy("random", Deliberates(), 0.2),
}


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name in {"market_roller", "mixture", "prestige"} else [])
        for name in policy_names()
        if name not in {"llm", "replay"}
    ],
)
def test_named_policies_keep_the_contract(name: str) -> None:
    """Those left out need somebody to ask, or a list; they are below."""
    check_policy(lambda: make_policy(name), seeds=(1,), max_turns=12)
    check_sees_only_observations(lambda: make_policy(name), turns=(0, 6), variants=1)


@pytest.mark.parametrize("name", PASSING)
def test_other_policies_keep_the_contract(name: str) -> None:
    report = check_policy(PASSING[name], max_turns=5)
    assert [episode.seed for episode in report.episodes] == [1, 2]
    check_sees_only_observations(PASSING[name], turns=(0, 4), variants=1)


def test_report_shows_how_episodes_went() -> None:
    config = {"extends": "reference", "loop": {"max_turns": 12}}
    report = check_policy(RandomPolicy, seeds=(3,), config=config)
    trajectory = rollout(YCBenchEnv(config), RandomPolicy(), 3)
    (episode,) = report.episodes
    assert episode.final_funds_cents == trajectory.final_funds_cents
    assert episode.terminal_reason == trajectory.terminal_reason
    assert episode.turns == trajectory.turns
    assert episode.commands == sum(len(info["results"]) for info in trajectory.infos)
    assert (episode.refused, episode.invalid, episode.stopped) == (0, 0, None)


def test_refused_and_stopped_episodes_are_reported() -> None:
    report = check_policy(Stops, seeds=(1,))
    (episode,) = report.episodes
    assert (episode.turns, episode.commands, episode.refused) == (2, 3, 1)
    assert report.refused_fraction == 1 / 3
    assert episode.stopped == "all turns are played"
    assert PolicyReport(()).refused_fraction == 0.0


# ---- each check fails for the policy that it is there for


class Chats(Steady):
    def act(self, observation: Any) -> Any:
        return "I think I should browse the market"


def faulty(name: str, **methods: Callable[..., Any]) -> Any:
    """Return a policy that keeps the contract but for some methods."""
    return type(name, (Steady,), methods)


def counts(policy: Any, _observation: Any) -> str:
    policy.count = getattr(policy, "count", 0) + 1
    return f"market browse --limit {policy.count}"


def edits(_policy: Any, observation: Any) -> str:
    observation["funds_cents"] += 1
    return ""


def needs_own_answers(policy: Any, observation: Any) -> str:
    if len(json.loads(observation["results"])) != policy.expected:
        raise LookupError
    policy.expected = 1
    return "market browse --limit 1"


def needs_whole_answers(_policy: Any, observation: Any) -> str:
    assert all("cut" not in result["output"] for result in json.loads(observation["results"]))
    return "market browse --limit 1"


def needs_the_first_turn(policy: Any, observation: Any) -> str:
    policy.began = observation["turn"] == 1 or vars(policy).get("began")
    assert policy.began
    return "market browse --limit 1"


def fails_after_the_end(_policy: Any, observation: Any) -> str:
    assert "The episode is over" not in observation["text"]
    return ""


def holds_a_state(policy: Any) -> None:
    env = YCBenchEnv()
    env.reset(seed=1)
    state = env.get_state()
    policy.look = lambda: state


ONE: Final = Steady()
NeverForgets: Final = faulty("NeverForgets", act=counts)
FAULTY: Final[list[tuple[Any, str]]] = [
    (
        faulty("Draws", act=lambda *_: f"market browse --limit {1 + int(random.random() * 50)}"),  # noqa: S311 -- what is wrong
        r"seed 1, turn 1: act changed random, which .* a generator of the policy's own, made in reset",
    ),
    (
        faulty("DrawsFromNumpy", reset=lambda _, seed: np.random.seed(seed)),  # noqa: NPY002 -- what is wrong
        r"reset\(0\) changed numpy\.random",
    ),
    (
        faulty("SetsAVariable", act=lambda *_: os.environ.update(A_POLICY_WAS_HERE="yes")),
        r"act changed os\.environ",
    ),
    (
        faulty("DrawsUnseeded", act=lambda *_: f"market browse --limit {random.Random().randint(1, 10**6)}"),  # noqa: S311 -- as above
        r"turn 1: to the same observations a fresh policy returns .*; turns depend on seed and observations",
    ),
    (NeverForgets, r"seed 2, turn 1: to the same observations a fresh policy returns .*limit 1', before .*limit 11'"),
    (faulty("Edits", act=edits), r"act edited the observation: funds_cents; .*copy what you want"),
    (
        faulty("Replaces", act=lambda _, seen: seen.update(turn=int(seen["turn"])) or ""),
        r"act edited the observation: turn",
    ),
    (
        faulty("SaysNothing", act=lambda *_: None),
        r"seed 1, turn 1: policy SaysNothing: act returned NoneType, expected a text or a sequence of texts",
    ),
    (faulty("SaysANumber", act=lambda *_: ["sim resume", 3]), r"act returned \w+ that holds int, expected a text"),
    (Chats, r"'I think I should browse the market' is no command: .*docs/commands\.md"),
    (
        faulty("RefusesASeed", reset=lambda _, seed: np.array(seed, np.int32)),
        r"reset\(1099511627776\) raised OverflowError.*any non-negative integer",
    ),
    (
        faulty("NeedsStaff", act=lambda _, seen: f"market browse --limit {12 // int(seen['employees'])}"),
        r"a world with no employees, turn 1: act raised ZeroDivisionError.*A policy must cope with",
    ),
    (
        faulty("NeedsItsAnswers", reset=lambda policy, _: setattr(policy, "expected", 0), act=needs_own_answers),
        r"in the middle of an episode, after .*: act raised LookupError",
    ),
    (
        faulty("NeedsWholeAnswers", act=needs_whole_answers),
        r"(among turns of others|in the middle of an episode).*: act raised (AssertionError|KeyError)",
    ),
    (
        faulty("NeedsTheFirstTurn", reset=lambda policy, _: vars(policy).clear(), act=needs_the_first_turn),
        r"asked for the first time in the middle of an episode, after .*: act raised AssertionError",
    ),
    (
        faulty("CannotStandTheEnd", act=fails_after_the_end),
        r"a world with no employees, turn 13: act raised AssertionError",
    ),
    (
        faulty("HoldsAWorld", __init__=lambda policy: setattr(policy, "plans", {"worlds": [YCBenchEnv()]})),
        r"holds an environment or a state \(HoldsAWorld > .*dict > list > YCBenchEnv\); decide",
    ),
    (
        faulty("HoldsAState", __init__=holds_a_state),
        r"holds an environment or a state \(HoldsAState .*function > cell > State\)",
    ),
    (lambda: ONE, "make returned the same policy twice"),
    (lambda: 7, r"got a int, expected a policy: an object with reset\(seed\) and act\(observation\)"),
    (lambda: 1 // 0, "making the policy failed: ZeroDivisionError"),
]


@pytest.mark.parametrize(("make", "message"), FAULTY, ids=lambda each: getattr(each, "__name__", None))
def test_faulty_policy_is_found(make: Any, message: str) -> None:
    with pytest.raises(PolicyConformanceError, match=message):
        check_policy(make, max_turns=10)
    assert "A_POLICY_WAS_HERE" not in os.environ


def test_policy_that_keeps_state_is_found() -> None:
    with pytest.raises(
        PolicyConformanceError, match=r"the same policy after another reset returns .*; reset\(seed\) must"
    ):
        check_policy(NeverForgets, seeds=(1,), max_turns=3)


@pytest.mark.slow
def test_an_episode_that_never_ends_is_found() -> None:
    with pytest.raises(PolicyConformanceError, match="did not end within 10000 turns; let time pass"):
        check_policy(Steady, config={"loop": {"auto_advance_after_turns": 0}})


def test_invalid_commands_may_be_allowed() -> None:
    report = check_policy(Chats, seeds=(1,), max_turns=5, allow_invalid=True)
    assert (report.episodes[0].invalid, report.refused_fraction) == (5, 1.0)


def test_no_seeds_are_refused() -> None:
    with pytest.raises(ValueError, match="seeds: got none, expected at least one"):
        check_policy(Steady, seeds=())


def test_policy_that_stops_earlier_is_found() -> None:
    class Tires(Steady):
        left: ClassVar[list[int]] = [8]

        def act(self, observation: Any) -> Any:
            self.left[0] -= 1
            if self.left[0] < 0:
                raise PolicyStoppedError
            return super().act(observation)

    with pytest.raises(PolicyConformanceError, match="a fresh policy returns None, before it was"):
        check_policy(Tires, seeds=(1,), max_turns=5)


def test_nuisances_bring_cut_answers_refusals_and_help() -> None:
    env = YCBenchEnv()
    env.reset(seed=1)
    seen = "".join(env.step(turn)[0]["results"] for turn in NUISANCES)
    for part in ('"output":{"cut":', '"cut_results":', '"error":', '"help":', '"tasks":{"active"'):
        assert part in seen


def test_odd_worlds_end_in_each_way() -> None:
    texts: list[str] = []
    for _, config in ODD_WORLDS:
        env = YCBenchEnv(config)
        env.reset(seed=1)
        texts += [env.step("")[0]["text"] for _ in range(24)]
    for reason in ("bankruptcy", "horizon_end", "max_turns"):
        assert any(f"The episode is over: {reason}" in text for text in texts)


def test_kit_gives_no_policy_the_run_seed() -> None:
    seeds: list[int] = []
    check_policy(faulty("Records", reset=lambda _, seed: seeds.append(seed)), seeds=(5,), max_turns=2)
    assert policy_seed(5) in seeds
    assert 5 not in seeds


# ---- recalling


class Thinks(Steady):
    async def decide(self, observation: Any) -> Decision:
        turn = self.act(observation)
        return Decision(turn, {"said": turn})

    def recall(self, observation: Any, trace: Any) -> Any:
        return trace["said"]


async def decides_by_sets(*_: Any) -> Decision:
    return Decision("task list", {"said": {"task list"}})  # pyright: ignore[reportArgumentType] -- wrong on purpose


class CannotBeAsked(Thinks):
    async def decide(self, observation: Any) -> Decision:
        raise PolicyStoppedError


def test_policy_that_nobody_answers_has_nothing_to_recall() -> None:
    assert check_policy(CannotBeAsked, seeds=(1,), max_turns=5).episodes[0].turns == 5


def test_policy_that_recalls_its_decisions_passes() -> None:
    assert isinstance(Thinks(), DeliberatingPolicy)
    check_policy(Thinks, seeds=(1,), max_turns=5)


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        (
            {"decide": decides_by_sets},
            r"turn 1: what decide returned cannot be recalled: .*not JSON serializable; a trace is JSON",
        ),
        (
            {"recall": lambda *_: int("another history")},
            r"turn 1: what decide returned cannot be recalled: invalid literal .*another history",
        ),
        (
            {"recall": lambda *_: ""},
            r"turn 1: recall returns '', decide 'market browse --limit 1'; keep the turn in the trace",
        ),
    ],
)
def test_policy_that_recalls_something_else_is_found(methods: dict[str, Any], message: str) -> None:
    with pytest.raises(PolicyConformanceError, match=message):
        check_policy(type("Forgets", (Thinks,), methods), seeds=(1,), max_turns=5)


# ---- processes


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "policies_of_mine.py").write_text(
        "class Sorted:\n"
        "    names = sorted({f'Task-{number}' for number in range(1, 50)})\n"
        "    def reset(self, seed):\n"
        "        print('a policy may print')\n"
        "    def act(self, observation):\n"
        "        return f'task inspect --task-id {self.names[0]}'\n"
        "class Unsorted(Sorted):\n"
        "    names = list({f'Task-{number}' for number in range(1, 50)})\n"
        "class Local(Sorted):\n"
        "    def act(self, observation):\n"
        "        import time\n"
        "        return f'market browse --limit {1 + time.gmtime(0).tm_hour + time.localtime(0).tm_hour}'\n"
        "class Silent(Sorted):\n"
        "    def act(self, observation):\n"
        "        return None\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    return "policies_of_mine"


@pytest.mark.slow
def test_policies_play_alike_in_every_process() -> None:
    parameters = {"policy": "expert", "other": "random", "epsilon": 0.5}
    check_policy_in_processes(
        "mixture", parameters=parameters, config="reference", seeds=(1,), max_turns=25, hash_seeds=(0, 1)
    )


def test_processes_find_a_users_policy_that_prints(module: str) -> None:
    check_policy_in_processes(f"{module}:Sorted", seeds=(1,), max_turns=3, hash_seeds=(0, 1))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Unsorted", r"Unsorted, seed 1, turn 1: 'task inspect .*' with PYTHONHASHSEED=0, .* with 1; sort a set"),
        ("Local", r"Local, seed 1, turn 1: 'market browse"),
        ("Silent", r"a process with PYTHONHASHSEED=0 failed:\n(.|\n)*act returned NoneType"),
    ],
)
def test_policy_that_differs_between_processes_is_found(module: str, name: str, message: str) -> None:
    with pytest.raises(PolicyConformanceError, match=message):
        check_policy_in_processes(f"{module}:{name}", seeds=(1,), max_turns=3, hash_seeds=(0, 1))


def test_one_process_alone_is_refused() -> None:
    with pytest.raises(ValueError, match=r"hash_seeds: got \(1, 1\), expected at least two that differ"):
        check_policy_in_processes("random", hash_seeds=(1, 1))


# ---- what is hidden


class Peeks(Steady):
    """Looks for an environment in the frames that called it."""

    def act(self, observation: Any) -> Any:
        frame: Any = sys._getframe(1)
        while frame is not None:
            for value in frame.f_locals.values():
                if isinstance(value, YCBenchEnv):
                    state = value.get_state()
                    shown = max(range(len(state.clients)), key=lambda place: state.clients[place].loyalty_milli)
                    return f"market browse --limit {1 + shown}"
            frame = frame.f_back
        return super().act(observation)


class PeeksLater(Peeks):
    def act(self, observation: Any) -> Any:
        return super().act(observation) if observation["turn"] > 3 else Steady.act(self, observation)


@pytest.mark.parametrize(("make", "count"), [(Peeks, 0), (PeeksLater, 5)])
def test_policy_that_looks_at_the_environment_is_found(make: Any, count: int) -> None:
    with pytest.raises(PolicyConformanceError, match=f"seed 1, after {count} turns: .* differs in hidden figures only"):
        check_sees_only_observations(make, turns=(count,), variants=6)


@pytest.mark.parametrize("visible", [True, False])
def test_changed_worlds_differ_in_all_hidden_fields_and_nothing_else(*, visible: bool) -> None:
    env = YCBenchEnv({"world": {"skill_rates_visible": visible, "task_progress_milestones": [0.5]}})
    env.reset(seed=1)
    task = "--task-id Task-8"
    env.step(f"task accept {task}\ntask assign {task} --employees Emp_1,Emp_2\ntask dispatch {task}")
    state = env.get_state()
    other = with_other_hidden_fields(state, random.Random(1))  # noqa: S311 -- a simulation, not a secret
    assert str(observe(other)) == str(observe(state))
    pairs = [(state, other), *zip(state.clients, other.clients, strict=True)]
    pairs += [*zip(state.tasks, other.tasks, strict=True), *zip(state.employees, other.employees, strict=True)]
    changed = {
        (type(one).__name__, field.name)
        for one, changed_one in pairs
        for field in attrs.fields(type(one))
        if getattr(one, field.name) != getattr(changed_one, field.name)
    }
    hidden = HIDDEN_FIELDS if visible else HIDDEN_FIELDS | HIDDEN_UNLESS["skill_rates_visible"]
    expected = {(kind, name) for kind, names in hidden.items() for name in names}
    assert changed - {("State", name) for name in ("clients", "tasks", "employees")} == expected


def test_policy_is_checked_where_rates_are_hidden() -> None:
    check_sees_only_observations(Steady, config="classic-easy", turns=(2,), variants=1)


# ---- the commands of the world that it plays in


class Always(Steady):
    def __init__(self, text: str) -> None:
        self._text = text

    def act(self, observation: Any) -> Any:
        return self._text


@pytest.mark.parametrize(
    ("config", "text", "known"),
    [
        ("classic-easy", "task assign --task-id Task-1 --employee-id Emp_1", True),
        ("classic-easy", "market browse --required-prestige-lte 2 && client list", True),  # what is lacking it may try
        ("classic-easy", "company status\ntask assign --task-id Task-1 --staff Emp_1", False),
        ("default", "task assign --task-id Task-1 --employee-id Emp_1", False),
        ("default", "market browse --required-prestige-lte 2", False),
    ],
)
def test_commands_of_the_worlds_grammar_are_allowed(config: str, text: str, *, known: bool) -> None:
    student = Student(lambda: Always(text), YCBenchEnv(config).action_space.grammar)
    if known:
        play(student, load_config(config), 1, 2)
    else:
        with pytest.raises(PolicyConformanceError, match="is no command"):
            play(student, load_config(config), 1, 2)
