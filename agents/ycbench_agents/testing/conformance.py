"""What every policy must do, as checks that a user can run on any of them.

Example:
    >>> from ycbench_agents.scripted.random import RandomPolicy
    >>> from ycbench_agents.testing import check_policy
    >>> report = check_policy(RandomPolicy, seeds=(1,), max_turns=20)
    >>> report.episodes[0].turns, report.refused_fraction
    (20, 0.0)
"""

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING, Any, Final

import attrs

from ycbench_agents.base import policy_seed
from ycbench_agents.scripted.random import RandomPolicy
from ycbench_agents.testing.asking import Student, shown
from ycbench_agents.testing.reach import reached_environment
from ycbench_agents.testing.recalling import check_recall
from ycbench_agents.testing.report import EpisodeReport, PolicyConformanceError, PolicyReport
from ycbench_agents.testing.worlds import NUISANCES, ODD_WORLDS
from ycbench_env import YCBenchEnv, load_config
from ycbench_env.actions import grammar_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ycbench_agents.base import Policy, Turn
    from ycbench_env import Config, Observation

__all__ = ["Played", "check_policy", "play"]

_MOST_TURNS: Final = 10_000  # an episode that is longer never ends
_ODD_TURNS: Final = 25
_ROUNDS: Final = 2  # of all nuisances


@attrs.frozen
class Played:
    """An episode as it was seen and played.

    Args:
        observations: What the policy was given.
        turns: What it said to each.
        report: How it went.
    """

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

    Checked: the protocol; turns are texts, their commands in the grammar; a fresh policy and one that is reset say the
    same to the same observations, pickled and copied; it edits no observation; it leaves the random generators and the
    environment variables of the process alone; it holds no environment and no state; it copes with worlds without
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
    _check_fresh(make, allow_invalid=allow_invalid)
    grammar = grammar_for(world.world)
    veteran = Student(make, grammar, allow_invalid=allow_invalid)
    episodes = [play(veteran, world, seed, max_turns) for seed in seeds]
    _check_reach(veteran)
    for played in episodes:
        _check_again(Student(make, grammar, allow_invalid=allow_invalid), played, _FRESH)
    for played in episodes:
        _check_again(veteran, played, _RESET)
    check_recall(make, seeds[0], episodes[0].observations)
    for name, odd in ODD_WORLDS:
        other = load_config(odd, environ={})
        student = Student(make, grammar_for(other.world), allow_invalid=allow_invalid)
        _check_world(student, other, f"a world with {name}")
    _check_among_others(make, world, seeds[0], allow_invalid=allow_invalid)
    return PolicyReport(tuple(played.report for played in episodes))


def _check_fresh(make: Callable[[], Policy], *, allow_invalid: bool) -> None:
    first, second = (Student(make, allow_invalid=allow_invalid) for _ in range(2))
    if first.policy is second.policy:
        msg = "make returned the same policy twice, expected a fresh one each time, like lambda: MyPolicy()"
        raise PolicyConformanceError(msg)
    for seed in (0, 2**40):
        first.reset(seed, "before an episode")


# ---- episodes


def play(student: Student, config: Config, seed: int, max_turns: int | None = None) -> Played:
    """Return an episode that a policy plays, without ever giving it a hold of the environment.

    Raises:
        PolicyConformanceError: The policy breaks the contract, or its episode does not end.
    """
    env = YCBenchEnv(config)
    observation, info = env.reset(seed=seed)
    student.reset(policy_seed(seed), f"seed {seed}")
    observations: list[Observation] = []
    turns: list[Turn] = []
    report = EpisodeReport(seed, 0, 0, 0, 0, int(observation["funds_cents"]), None)
    while info["terminal_reason"] is None and (max_turns is None or len(turns) < max_turns):
        if len(turns) == _MOST_TURNS:
            msg = f"seed {seed}: the episode did not end within {_MOST_TURNS} turns; let time pass, or give max_turns"
            raise PolicyConformanceError(msg)
        turn = student.act(observation, f"seed {seed}, turn {len(turns) + 1}")
        if turn is None:
            report = attrs.evolve(report, stopped=student.stopped)
            break
        observations.append(observation)
        turns.append(turn)
        observation, _, _, _, info = env.step(turn)
        report = attrs.evolve(
            report,
            turns=len(turns),
            commands=report.commands + len(info["results"]),
            refused=report.refused + sum(not result["ok"] for result in info["results"]),
            invalid=report.invalid + info["invalid_commands"],
            final_funds_cents=int(observation["funds_cents"]),
            terminal_reason=info["terminal_reason"],
        )
    return Played(tuple(observations), tuple(turns), report)


_FRESH: Final = (
    "a fresh policy",
    "turns depend on seed and observations alone: make random.Random(seed) in reset, sort sets, read no clock",
)
_RESET: Final = ("the same policy after another reset", "reset(seed) must forget everything and seed all draws anew")


def _check_again(student: Student, played: Played, who: tuple[str, str]) -> None:
    """Give a policy the observations of an episode again; there is no environment any more."""
    seed = played.report.seed
    student.reset(policy_seed(seed), f"seed {seed}")
    copying = copy.deepcopy if who is _RESET else _pickled
    for number, (observation, before) in enumerate(zip(played.observations, played.turns, strict=True), 1):
        turn = student.act(copying(observation), f"seed {seed}, turn {number}, {who[0]}")
        if turn is None or _as_tuple(turn) != _as_tuple(before):
            msg = (
                f"seed {seed}, turn {number}: to the same observations {who[0]} says {shown(turn)}, before it was "
                f"{shown(before)}; {who[1]}"
            )
            raise PolicyConformanceError(msg)


def _pickled(observation: Observation) -> Observation:
    return pickle.loads(pickle.dumps(observation))  # noqa: S301 -- made here


def _as_tuple(turn: Turn) -> tuple[str, ...]:
    return (turn,) if isinstance(turn, str) else tuple(turn)


def _check_reach(student: Student) -> None:
    path = reached_environment(student.policy)
    if path is not None:
        msg = f"the policy holds an environment or a state ({path}); decide from observations alone"
        raise PolicyConformanceError(msg)


# ---- odd observations


def _check_world(student: Student, config: Config, place: str) -> None:
    """Play the beginning of an episode in a world, and what follows its end where it comes soon."""
    env = YCBenchEnv(config)
    observation, _ = env.reset(seed=1)
    student.reset(policy_seed(1), place)
    for number in range(1, _ODD_TURNS + 1):
        turn = student.act(observation, f"{place}, turn {number}")
        if turn is None:
            return
        observation = env.step(turn)[0]


def _check_among_others(make: Callable[[], Policy], config: Config, seed: int, *, allow_invalid: bool) -> None:
    """Let somebody else play before each turn of the policy, and ask fresh policies in the middle, too."""
    env = YCBenchEnv(config)
    observation, _ = env.reset(seed=seed)
    grammar = env.action_space.grammar
    student, stranger = Student(make, grammar, allow_invalid=allow_invalid), RandomPolicy()
    student.reset(policy_seed(seed), f"seed {seed}")
    stranger.reset(policy_seed(seed))
    for number, nuisance in enumerate(NUISANCES * _ROUNDS, 1):
        turn = student.act(observation, f"seed {seed}, turn {number} among turns of others")
        for each in (turn or "", stranger.act(observation), nuisance):
            observation = env.step(each)[0]
        place = f"seed {seed}, asked for the first time in the middle of an episode, after {shown(nuisance)}"
        late = Student(make, grammar, allow_invalid=allow_invalid)
        late.reset(policy_seed(seed), place)
        late.act(observation, place)
