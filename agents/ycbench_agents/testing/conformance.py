"""Checks that a policy keeps the contract of all policies, which a user can run on any of them.

Example:
    >>> from ycbench_agents.scripted.random import RandomPolicy
    >>> from ycbench_agents.testing import check_policy
    >>> report = check_policy(RandomPolicy, seeds=(1,), max_turns=20)
    >>> report.episodes[0].turns, report.refused_fraction
    (20, 0.0)
"""

from __future__ import annotations

import asyncio
import copy
import gc
import json
import logging
import os
import pickle
import random
import types
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, Final, NoReturn, cast

import attrs
import gymnasium as gym
import numpy as np

from ycbench_agents.base import (
    Decision,
    DeliberatingPolicy,
    Policy,
    PolicyStoppedError,
    Turn,
    TurnError,
    checked_turn,
    policy_seed,
)
from ycbench_agents.scripted.random import RandomPolicy
from ycbench_env import Config, Observation, State, YCBenchEnv, load_config, observe
from ycbench_env.actions import DEFAULT_GRAMMAR, Grammar, grammar_for, parse_turn
from ycbench_env.text import shown

_MOST_TURNS: Final = 10_000  # an episode that is longer never ends
_ODD_TURNS: Final = 25  # in each odd world
_QUESTIONS: Final = ("employee list", "task list", "client list", "client history", "market browse")
# What all of a process shares leads everywhere, also to environments of others.
_SHARED: Final = (type, types.ModuleType, types.FrameType, types.BuiltinFunctionType, logging.Logger)
_MOST_OBJECTS: Final = 200_000
_RECALLED: Final = 20  # turns

# Worlds, and turns of somebody else just before, that a policy may meet and that its author may not think of.
_IDLE: Final = {"auto_advance_after_turns": 1}  # each turn moves time, so that a year is over soon

_ODD_WORLDS: Final[tuple[tuple[str, Any], ...]] = (
    ("preset default", "default"),
    ("preset reference", "reference"),
    ("one employee, one client, ten tasks", {"world": {"num_employees": 1, "num_clients": 1, "num_market_tasks": 10}}),
    ("no employees", {"world": {"num_employees": 0}, "loop": _IDLE}),
    ("an empty market", {"world": {"num_market_tasks": 0}, "loop": _IDLE}),
    ("funds for less than a month", {"world": {"initial_funds_cents": 1}, "loop": _IDLE}),
    ("a limit of four turns", {"loop": {"max_turns": 4}}),
    ("classic rules: no clients, hidden rates", "classic-easy"),
    ("hidden rates and clients", {"world": {"skill_rates_visible": False}}),
    ("four milestones a task", {"world": {"task_progress_milestones": [0.2, 0.4, 0.6, 0.8]}}),
)

_NUISANCES: Final[tuple[str, ...]] = (
    "market browse --limit 9999\n" * 20,  # the last answers have no room: {"cut": characters}
    "company status\n" * 2_000,  # nor have all results: {"cut_results": number}
    "",
    "market browse --limit 2",
    "--help",
    "market browse --help",
    "market browse --limit x",
    "no such command",
    "company status",  # its ``tasks`` are a table, those of all others a list
    "task list\nemployee list\nclient list\nclient history\nfinance ledger\nreport monthly",
    "task accept --task-id Task-1\ntask inspect --task-id Task-1",
    "task accept --task-id Task-999999",
    "task inspect --task-id Task-2",
    'scratchpad write --content "[] {} null \\" \u202e"',
    "sim resume",
)


class PolicyConformanceError(AssertionError):
    """A policy breaks the contract; the message says where, what was got, and how to put it right."""


def _fail(message: str, cause: Exception | None = None) -> NoReturn:
    raise PolicyConformanceError(message) from cause


def _cut(value: object) -> str:
    return shown(value, 200)


@attrs.frozen
class EpisodeReport:
    """How an episode went."""

    seed: int
    turns: int
    commands: int
    refused: int  # commands, those included that the grammar does not have
    invalid: int  # commands that the grammar does not have
    final_funds_cents: int
    terminal_reason: str | None  # bankruptcy, horizon_end or max_turns; None where it was cut off from outside
    stopped: str | None = None  # why the policy could not go on, None for one that could


@attrs.frozen
class PolicyReport:
    """What a policy did while it was checked: an episode for each seed, in order."""

    episodes: tuple[EpisodeReport, ...]

    @property
    def refused_fraction(self) -> float:
        """Share of all commands that were refused, 0 without any command."""
        commands = sum(episode.commands for episode in self.episodes)
        return sum(episode.refused for episode in self.episodes) / commands if commands else 0.0


@attrs.frozen
class Played:
    """An episode: what the policy saw, its turn for each observation, and how it went."""

    observations: tuple[Observation, ...]
    turns: tuple[Turn, ...]
    report: EpisodeReport


def check_policy(
    make: Callable[[], Policy],
    *,
    seeds: Sequence[int] = (1, 2),
    config: Any = "default",  # noqa: ANN401 -- anything that load_config takes
    max_turns: int | None = None,
    allow_invalid: bool = False,
) -> PolicyReport:
    """Play a policy and return what it did; raise an AssertionError, with what is wrong, where it breaks the contract.

    Checked: the protocol; turns are texts, their commands in the grammar; a fresh policy and one that is reset return
    the same to the same observations, pickled and copied; it edits no observation; it leaves the random generators and
    the environment variables of the process alone; it holds no environment and no state; it copes with worlds without
    staff, market or money, with observations after the end, with a turn of somebody else before each of its own, and
    with being asked first in the middle of an episode; one that waits for somebody outside (``DeliberatingPolicy``)
    recalls what it decided. See also ``check_policy_in_processes``.

    Args:
        make: Makes a fresh policy each time it is called; a class without arguments, or a function.
        seeds: Run seeds to play.
        config: Anything that ``load_config`` takes.
        max_turns: Turns to play of each seed, None for whole episodes.
        allow_invalid: Whether commands may be outside the grammar, as those of a language model may.

    Raises:
        PolicyConformanceError: The policy breaks the contract.
        ConfigError: The configuration cannot be used.
    """
    world = load_config(config)
    if not seeds:
        msg = "seeds: got none, expected at least one run seed, like (1, 2)"
        raise ValueError(msg)

    def student(world: Config = world) -> Student:
        return Student(make, grammar_for(world.world), allow_invalid=allow_invalid)

    first, veteran = student(), student()
    if first.policy is veteran.policy:
        _fail("make returned the same policy twice, expected a fresh one each time, like lambda: MyPolicy()")
    for seed in (0, 2**40):
        first.reset(seed, "before an episode")
    episodes = [play(veteran, world, seed, max_turns) for seed in seeds]
    if (path := reached_environment(veteran.policy)) is not None:
        _fail(f"the policy holds an environment or a state ({path}); decide from observations alone")
    for played in episodes:
        remedy = "turns depend on seed and observations alone: seed all draws in reset, sort sets, read no clock"
        _check_again(student(), played, "a fresh policy", remedy)
    for played in episodes:
        remedy = "reset(seed) must forget everything and seed all draws anew"
        _check_again(veteran, played, "the same policy after another reset", remedy)
    _check_recall(make, seeds[0], episodes[0].observations)
    for name, odd in _ODD_WORLDS:
        other = load_config(odd, environ={})
        play(student(other), other, 1, _ODD_TURNS, place=f"a world with {name}", past_end=True)
    _check_among_others(student, world, seeds[0])
    return PolicyReport(tuple(played.report for played in episodes))


# ---- episodes


def play(  # noqa: PLR0913 -- the last two are for odd worlds
    student: Student,
    config: Config,
    seed: int,
    max_turns: int | None = None,
    *,
    place: str | None = None,
    past_end: bool = False,
) -> Played:
    """Return an episode that a policy plays, without ever giving it a hold of the environment.

    Raises:
        PolicyConformanceError: The policy breaks the contract, or its episode does not end.
    """
    place = place or f"seed {seed}"
    env = YCBenchEnv(config)
    observation, info = env.reset(seed=seed)
    student.reset(policy_seed(seed), place)
    observations: list[Observation] = []
    turns: list[Turn] = []
    commands = refused = invalid = 0
    stopped: str | None = None
    while (past_end or info["terminal_reason"] is None) and (max_turns is None or len(turns) < max_turns):
        if len(turns) == _MOST_TURNS:
            _fail(f"{place}: the episode did not end within {_MOST_TURNS} turns; let time pass, or give max_turns")
        turn = student.act(observation, f"{place}, turn {len(turns) + 1}")
        if turn is None:
            stopped = student.stopped
            break
        observations.append(observation)
        turns.append(turn)
        observation, _, _, _, info = env.step(turn)
        commands += len(info["results"])
        refused += sum(not result["ok"] for result in info["results"])
        invalid += info["invalid_commands"]
    funds, reason = int(observation["funds_cents"]), info["terminal_reason"]
    report = EpisodeReport(seed, len(turns), commands, refused, invalid, funds, reason, stopped)
    return Played(tuple(observations), tuple(turns), report)


def _check_again(student: Student, played: Played, who: str, remedy: str) -> None:
    """Give a policy the observations of an episode again; there is no environment any more."""
    seed = played.report.seed
    student.reset(policy_seed(seed), f"seed {seed}")
    for number, (observation, before) in enumerate(zip(played.observations, played.turns, strict=True), 1):
        place = f"seed {seed}, turn {number}"
        turn = student.act(pickle.loads(pickle.dumps(observation)), f"{place}, {who}")  # noqa: S301 -- made here
        if turn is None or turn != before:
            _fail(
                f"{place}: to the same observations {who} returns {_cut(turn)}, before it was {_cut(before)}; {remedy}"
            )


def _check_among_others(make: Callable[[], Student], config: Config, seed: int) -> None:
    """Let somebody else play before each turn of the policy, and ask fresh policies in the middle, too."""
    env = YCBenchEnv(config)
    observation, _ = env.reset(seed=seed)
    student, stranger = make(), RandomPolicy()
    student.reset(policy_seed(seed), f"seed {seed}")
    stranger.reset(policy_seed(seed))
    for number, nuisance in enumerate(_NUISANCES, 1):
        turn = student.act(observation, f"seed {seed}, turn {number} among turns of others")
        for each in (turn or "", stranger.act(observation), nuisance):
            observation = env.step(each)[0]
        place = f"seed {seed}, asked for the first time in the middle of an episode, after {_cut(nuisance)}"
        late = make()
        late.reset(policy_seed(seed), place)
        late.act(observation, place)


# ---- one turn


class Student:
    """A policy under examination, in a world with a grammar; where anything is allowed, its commands may be invalid.

    The usual commands pass everywhere, since what a world lacks is found out by asking.
    """

    def __init__(
        self, make: Callable[[], Policy], grammar: Grammar = DEFAULT_GRAMMAR, *, allow_invalid: bool = False
    ) -> None:
        try:
            self.policy = make()
        except Exception as error:  # noqa: BLE001 -- whatever a policy raises is its fault
            _fail(f"making the policy failed: {_cut(error)}; give a class or function that needs no arguments", error)
        if not isinstance(self.policy, Policy):  # pyright: ignore[reportUnnecessaryIsInstance] -- callers may not be typed
            kind = type(cast("object", self.policy)).__name__
            _fail(f"got a {kind}, expected a policy: an object with reset(seed) and act(observation)")
        self.stopped = ""
        self._grammar = grammar
        self._allow_invalid = allow_invalid

    def reset(self, seed: int, place: str) -> None:
        """Reset the policy."""
        with _unchanged_process(f"{place}: reset({seed})"):
            try:
                self.policy.reset(seed)
            except Exception as error:  # noqa: BLE001 -- as above
                _fail(f"{place}: reset({seed}) raised {_cut(error)}; it must take any non-negative integer", error)

    def act(self, observation: Observation, place: str) -> Turn | None:
        """Return the policy's turn; None where it cannot go on, which is allowed: ``stopped`` has the reason."""
        handed = copy.deepcopy(observation)
        with _unchanged_process(f"{place}: act"):
            try:
                turn = self.policy.act(handed)
            except PolicyStoppedError as stop:
                self.stopped = str(stop)
                return None
            except Exception as error:  # noqa: BLE001 -- as above
                _fail(
                    f"{place}: act raised {_cut(error)}. A policy must cope with any observation of any world, with "
                    "turns that it did not choose, and with answers that were refused or cut. It was given: "
                    f"{_cut(observation['text'])} results: {_cut(observation['results'])}",
                    error,
                )
        before, after = cast("dict[str, Any]", observation), cast("dict[str, Any]", handed)
        edited = [key for key in sorted({*before, *after}) if repr(before.get(key)) != repr(after.get(key))]
        if edited:
            _fail(
                f"{place}: act edited the observation: {', '.join(edited)}; others keep the same one, so copy what you "
                "want to change, like int(observation['funds_cents'])"
            )
        try:
            turn = checked_turn(turn, self.policy)
        except TurnError as error:
            _fail(f"{place}: {error} ('' does nothing)", error)
        if not self._allow_invalid:
            for here, usual in zip(parse_turn(turn, self._grammar), parse_turn(turn), strict=True):
                if here.error and usual.error:
                    command = f"{_cut(here.text)} is no command: {here.error}"
                    _fail(f"{place}: {command} (docs/commands.md; or allow_invalid=True)")
        return turn


@contextmanager
def _unchanged_process(place: str) -> Generator[None]:
    """Refuse, and take back, changes of what a process has only one of: random generators and environment."""
    before = random.getstate(), np.random.get_state(), dict(os.environ)  # noqa: NPY002 -- the legacy generator is watched
    yield
    same = {
        "random": before[0] == random.getstate(),
        "numpy.random": all(map(np.array_equal, before[1], np.random.get_state())),  # noqa: NPY002
        "os.environ": before[2] == dict(os.environ),
    }
    changed = [name for name, is_same in same.items() if not is_same]
    if changed:
        random.setstate(before[0])
        np.random.set_state(before[1])  # noqa: NPY002
        os.environ.clear()
        os.environ.update(before[2])
        _fail(
            f"{place} changed {', '.join(changed)}, which all of the process shares; draw from a generator "
            "of the policy's own, made in reset, like random.Random(seed)"
        )


# ---- policies that ask somebody


def _check_recall(make: Callable[[], Policy], seed: int, observations: Sequence[Observation]) -> None:
    """Check that a fresh policy recalls what another one decided, where policies of this kind can."""
    asked, recalling = Student(make).policy, Student(make).policy
    if not isinstance(asked, DeliberatingPolicy) or not isinstance(recalling, DeliberatingPolicy):
        return
    asked.reset(policy_seed(seed))
    recalling.reset(policy_seed(seed))

    async def decide() -> list[Decision]:
        decisions: list[Decision] = []
        with suppress(PolicyStoppedError):
            for observation in observations[:_RECALLED]:
                decisions.append(await asked.decide(copy.deepcopy(observation)))  # noqa: PERF401 -- keeps those before a stop
        return decisions

    with ThreadPoolExecutor(1) as worker:  # a notebook has an event loop of its own in this thread
        decisions = worker.submit(asyncio.run, decide()).result()
    for number, (observation, decision) in enumerate(zip(observations, decisions, strict=False), 1):
        place = f"seed {seed}, turn {number}"
        try:
            trace = json.loads(json.dumps(decision.trace, allow_nan=False))
            turn = recalling.recall(copy.deepcopy(observation), trace)
        except (TypeError, ValueError) as error:
            remedy = "a trace is JSON, and all that recall needs"
            _fail(f"{place}: what decide returned cannot be recalled: {error}; {remedy}", error)
        if turn != decision.turn:
            _fail(f"{place}: recall returns {_cut(turn)}, decide {_cut(decision.turn)}; keep the turn in the trace")


# ---- hidden fields


def check_sees_only_observations(
    make: Callable[[], Policy],
    *,
    seed: int = 1,
    config: Any = "default",  # noqa: ANN401 -- anything that load_config takes
    turns: Sequence[int] = (0, 5, 20),
    variants: int = 3,
) -> None:
    """Change what is hidden in a world, and raise an AssertionError where the policy's next turn changes with it.

    Loyalties and reward multipliers of clients, forecasts of tasks, the run seed, the counts behind the market's
    replacements and, where they are hidden, the rates of the staff are changed, after the policy has played some turns;
    what it is shown stays the same to the letter.

    Args:
        make: Makes a fresh policy each time it is called.
        seed: Run seed.
        config: Anything that ``load_config`` takes.
        turns: After how many turns of the policy to look; 0 is its first one.
        variants: How many changed worlds to set beside the true one.

    Raises:
        PolicyConformanceError: It sees more than observations, or breaks the contract otherwise.
        ConfigError: The configuration cannot be used.
    """
    world = load_config(config)
    for count in turns:
        played = play(Student(make, grammar_for(world.world)), world, seed, count)
        env = YCBenchEnv(world)
        env.reset(seed=seed)
        for turn in played.turns:
            env.step(turn)
        # As if time had just passed, so that none passes while questions are asked.
        state = attrs.evolve(env.get_state(), idle_turns=0)
        rng = random.Random(f"hidden fields {seed} {count}")  # noqa: S311 -- a simulation, not a secret
        shown_first: str | None = None
        first: Turn | None = None
        for variant in range(variants + 1):  # the first is the true world
            student = Student(make, env.action_space.grammar)
            student.reset(policy_seed(seed), f"seed {seed}")
            for number, observation in enumerate(played.observations, 1):
                student.act(observation, f"seed {seed}, turn {number}")
            env.set_state(with_other_hidden_fields(state, rng) if variant else state)
            questions = [question for question in _QUESTIONS if question in env.action_space.verbs]
            observation = env.step(questions)[0] if played.turns else observe(env.get_state())
            turn = student.act(observation, f"seed {seed}, turn {len(played.turns) + 1}")
            if not variant:
                shown_first, first = str(observation), turn
            elif str(observation) == shown_first and turn != first:
                _fail(
                    f"seed {seed}, after {count} turns: {_cut(turn)} beside a world that differs in hidden figures "
                    f"only, {_cut(first)} beside the true one; what the policy was shown is the same, so it looks "
                    "elsewhere"
                )


def with_other_hidden_fields(state: State, rng: random.Random) -> State:
    """Return a state that looks the same; the docstrings of ``ycbench_env.types`` mark its hidden fields."""
    now_us, horizon_us = state.now_us, state.calendar.horizon_us
    clients = [
        attrs.evolve(client, loyalty_milli=rng.randint(-1000, 1000), reward_multiplier_milli=rng.randint(700, 2500))
        for client in state.clients
    ]
    tasks = [
        attrs.evolve(task, completion_us=rng.randint(now_us + 1, horizon_us), milestone_us=None)
        if task.status == "active" and now_us < horizon_us
        else task
        for task in state.tasks
    ]
    staff = state.employees
    if not state.config.world.skill_rates_visible:
        staff = [
            attrs.evolve(member, rates_e4=tuple(rng.randint(10_000, 100_000) for _ in member.rates_e4))
            for member in staff
        ]
    return attrs.evolve(
        state,
        run_seed=rng.randrange(2**40),
        employees=tuple(staff),
        clients=tuple(clients),
        tasks=tuple(tasks),
        slot_accepts=tuple(count + rng.randint(0, 3) for count in state.slot_accepts),
    )


# ---- what a policy holds


def reached_environment(policy: object) -> str | None:
    """Return how an environment or a state can be reached from a policy's data, None where none can.

    Attributes, containers, methods and what functions close over are followed; modules, classes and globals are not.
    """
    seen: set[int] = {id(policy)}
    queue: list[tuple[object, str]] = [(policy, type(policy).__name__)]
    for each, path in queue:  # grows while it is walked
        if isinstance(each, gym.Env | State):
            return path
        inside: list[object] = gc.get_referents(each)
        if isinstance(each, types.FunctionType):  # not its globals
            inside = [*(each.__defaults__ or ()), *(each.__kwdefaults__ or {}).values(), *(each.__closure__ or ())]
        for inner in inside:
            if id(inner) not in seen and not isinstance(inner, _SHARED) and len(seen) < _MOST_OBJECTS:
                seen.add(id(inner))
                queue.append((inner, f"{path} > {type(inner).__name__}"))
    return None
