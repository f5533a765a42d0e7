"""The contract of an environment, as checks that a user can run on any of them.

Example:
    >>> import gymnasium, ycbench_env
    >>> from ycbench_env.testing import check_conformance
    >>> check_conformance(lambda: gymnasium.make("YCBench-v0"), seeds=(1,), turns=10)
"""

from __future__ import annotations

import copy
import json
import math
import pickle
import random
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final, TypeAlias, cast

import gymnasium as gym
import numpy as np
from gymnasium.error import ResetNeeded

from ycbench_env.errors import SeedError
from ycbench_env.observation.info import Info
from ycbench_env.testing.invariants import acceptable, require, require_equal
from ycbench_env.types.state import State

EnvFactory: TypeAlias = "Callable[[], gym.Env[Any, Any]]"
"""Makes a fresh environment of the contract, wrapped or not."""

_INFO_KEYS: Final = frozenset(Info.__annotations__)
_NO_SEEDS: Final[tuple[Any, ...]] = (-1, 1.5, "7", True, np.bool_(False))  # noqa: FBT003 -- bools are what is tried
_GARBAGE: Final[tuple[object, ...]] = (
    *(None, 5, 1.5, b"sim resume", object(), {"command": "sim resume"}, ["sim resume", 3], [None], {1, 2}),
)
_MOST_TURNS: Final = 20_000  # an episode that is longer never ends
_COPY_AFTER: Final = 12  # turns played before copies are taken


def check_conformance(make_env: EnvFactory, *, seeds: Sequence[int] = (0, 1, 2), turns: int = 60) -> None:
    """Plays an environment and raises AssertionError, with what is wrong, where it breaks the contract.

    Checked: nothing works before ``reset``; seeds; two fresh instances agree field by field; every observation is in
    its space; ``info`` has its keys and JSON values; nothing returned is shared with a later call; refused
    commands leave ``state_hash`` alone; clones, deep copies, pickles and saved states are equal and independent; after
    the end nothing changes until ``reset``, which leaves no trace of the old episode.

    A wrapper may add keys of its own to ``info``, also to that of some turns only: their values must be JSON, and the
    same whenever the same is played. An environment without wrappers must have the same keys in every ``info``.

    Args:
        make_env: Makes a fresh environment, wrapped or not, each time it is called.
        seeds: Run seeds to play.
        turns: Turns to play with each.
    """
    _refuses(lambda: make_env().step("company status"), ResetNeeded, "step before reset")
    _check_seeds(make_env)
    for seed in seeds:
        script = _check_play(make_env, seed, turns)
        _check_determinism(make_env, seed, script)
        _check_no_sharing(make_env, seed, script)
        _check_copies(make_env, seed, script)
    _check_refusals(make_env, seeds[0])
    _check_end(make_env, seeds[0])


def _base(env: gym.Env[Any, Any]) -> Any:  # noqa: ANN401 -- gymnasium types it without our methods
    return env.unwrapped


def _refuses(call: Callable[[], object], errors: type[Exception] | tuple[type[Exception], ...], what: str) -> None:
    try:
        call()
    except errors:
        return
    message = f"{what}: expected an error, got an answer"
    raise AssertionError(message)


# ---- seeds


def _check_seeds(make_env: EnvFactory) -> None:
    env = make_env()
    for seed in (0, 7, 2**40):
        info = env.reset(seed=seed)[1]
        require_equal(info["run_seed"], seed, f"run_seed after reset(seed={seed})")
    plain = env.reset(seed=7)
    require_equal(env.reset(seed=np.int64(7)), plain, "reset(seed=numpy.int64(7)) against reset(seed=7)")  # pyright: ignore[reportArgumentType] -- numpy's integers must work too
    kept = _base(env).state_hash()
    for seed in _NO_SEEDS:
        _refuses(partial(env.reset, seed=seed), (SeedError, TypeError), f"reset(seed={seed!r})")
    require_equal(_base(env).state_hash(), kept, "state_hash after refused seeds")
    require_equal(_unseeded(env), _unseeded(make_env()), "run seeds of unseeded resets after reset(seed=5)")
    require(len(set(_unseeded(env))) > 1, "unseeded resets repeat one world for ever")
    env.close()


def _unseeded(env: gym.Env[Any, Any]) -> list[int]:
    env.reset(seed=5)
    return [env.reset()[1]["run_seed"] for _ in range(4)]


# ---- play


def _check_play(make_env: EnvFactory, seed: int, turns: int) -> list[object]:
    """Play an episode of sampled and of hostile turns, check every step, and return the turns."""
    env = make_env()
    rng = random.Random(f"conformance {seed}")  # noqa: S311 -- a simulation, not a secret
    observation, info = env.reset(seed=seed)
    _check_observation(env, observation, "after reset")
    _check_info(info, "after reset")
    keys = set(info)
    script: list[object] = []
    for number in range(1, turns + 1):
        turn = rng.choice(_GARBAGE) if number % 10 == 0 else sample_turn(_base(env).get_state(), rng)
        before: State = _base(env).get_state()
        transition = env.step(turn)
        where = f"seed {seed}, turn {number} ({turn!r})"
        _check_transition(env, before, transition, where)
        if env is env.unwrapped:  # a wrapper may add keys in some turns only
            changed = sorted(keys ^ set(transition[4]))
            require(not changed, f"{where}: info differs in {changed} from the info of reset")
        script.append(turn)
        if transition[2] or transition[3]:
            break
    env.close()
    return script


def _check_transition(
    env: gym.Env[Any, Any], before: State, transition: tuple[Any, Any, Any, Any, dict[str, Any]], where: str
) -> None:
    observation, reward, terminated, truncated, info = transition
    state: State = _base(env).get_state()
    _check_observation(env, observation, where)
    _check_info(info, where)
    require(isinstance(reward, float) and math.isfinite(reward), f"{where}: reward is {reward!r}, expected a float")
    require(isinstance(terminated, bool) and isinstance(truncated, bool), f"{where}: the flags are no bools")
    require(not (terminated and truncated), f"{where}: terminated and truncated at once")
    require_equal(info["funds_delta_cents"], state.funds_cents - before.funds_cents, f"{where}: funds_delta_cents")
    require_equal(reward, info["funds_delta_cents"] / 100, f"{where}: reward in dollars")
    require_equal(terminated or truncated, info["terminal_reason"] is not None, f"{where}: flags and terminal_reason")


def _check_observation(env: gym.Env[Any, Any], observation: Any, where: str) -> None:  # noqa: ANN401 -- any env's
    spaces: dict[str, gym.Space[Any]] = getattr(env.observation_space, "spaces", {})
    wrong = [key for key, space in spaces.items() if key not in observation or not space.contains(observation[key])]
    require(
        env.observation_space.contains(observation),
        f"{where}: the observation is outside observation_space, wrong or missing: {wrong or 'no single key'}",
    )


def _check_info(info: dict[str, Any], where: str) -> None:
    require(set(info) >= _INFO_KEYS, f"{where}: info lacks {sorted(_INFO_KEYS - set(info))}")
    try:
        again = json.loads(json.dumps(info, allow_nan=False))
    except (TypeError, ValueError) as error:
        message = f"{where}: info holds what is no JSON: {error}"
        raise AssertionError(message) from error
    require_equal(again, dict(info), f"{where}: info against itself through JSON")
    for result in info["results"]:
        require_equal(list(result), ["command", "ok", "output"], f"{where}: keys of a result")
        require_equal("error" in result["output"], not result["ok"], f"{where}: ok and error of {result['command']!r}")


# ---- two instances


def _check_determinism(make_env: EnvFactory, seed: int, script: Iterable[object]) -> None:
    one, other = make_env(), make_env()
    require_equal(one.reset(seed=seed), other.reset(seed=seed), f"seed {seed}: reset of two instances")
    for number, turn in enumerate(script, 1):
        where = f"seed {seed}, turn {number} ({turn!r}): two instances"
        require_equal(one.step(turn), other.step(turn), where)
        require_equal(_base(one).state_hash(), _base(other).state_hash(), f"{where}, state_hash")


def _check_no_sharing(make_env: EnvFactory, seed: int, script: Iterable[object]) -> None:
    """Keep everything that one instance returns, and spoil everything that another one does."""
    env, spoilt = make_env(), make_env()
    kept: list[tuple[object, object]] = []
    questions = "\n".join(QUERIES)
    for number, turn in enumerate([None, questions, questions, *script, questions]):
        returned = env.reset(seed=seed) if number == 0 else env.step(turn)
        kept.append((returned, copy.deepcopy(returned)))
        again = spoilt.reset(seed=seed) if number == 0 else spoilt.step(turn)
        require_equal(again, returned, f"seed {seed}, turn {number}: after the caller changed what was returned before")
        _spoil(again)
    for number, (returned, copied) in enumerate(kept):
        require_equal(returned, copied, f"seed {seed}, turn {number}: what was returned then changed later")


def _spoil(value: Any) -> None:  # noqa: ANN401 -- whatever was returned
    """Change every mutable thing within a value."""
    if isinstance(value, np.ndarray):
        array = cast("np.ndarray[Any, Any]", value)
        array += array.dtype.type(1)
    elif isinstance(value, dict):
        table = cast("dict[str, Any]", value)
        _spoil(tuple(table.values()))
        table["spoilt"] = True
    elif isinstance(value, list | tuple):
        for item in cast("list[Any]", value):
            _spoil(item)
        if isinstance(value, list):
            cast("list[Any]", value).append("spoilt")


# ---- copies


def _check_copies(make_env: EnvFactory, seed: int, script: Sequence[object]) -> None:
    """Take copies midway in all ways, play on with one, and compare."""
    env = make_env()
    env.reset(seed=seed)
    middle = min(_COPY_AFTER, len(script) // 2)
    for turn in script[:middle]:
        env.step(turn)
    saved: bytes = _base(env).get_state().to_bytes()
    copies = {"deepcopy": copy.deepcopy(env), "pickle": pickle.loads(pickle.dumps(env))}  # noqa: S301 -- made here
    restored = make_env()
    restored.reset(seed=seed + 1)  # another episode
    _base(restored).set_state(State.from_bytes(saved))
    bare = {"clone": _base(env).clone(), "set_state": _base(restored)}
    hashes = {name: _base(one).state_hash() for name, one in (copies | bare).items()}
    for name, digest in hashes.items():
        require_equal(digest, _base(env).state_hash(), f"seed {seed}, after {middle} turns: state_hash of a {name}")
    continued = [env.step(turn) for turn in script[middle:]]
    for name, one in (copies | bare).items():
        where = f"seed {seed}, after {middle} turns, {name}"
        require_equal(_base(one).state_hash(), hashes[name], f"{where}: state_hash after the original played on")
        played = [one.step(turn) for turn in script[middle:]]
        if name in copies:
            require_equal(played, continued, f"{where}: what it plays against the original")
        require_equal(_base(one).state_hash(), _base(env).state_hash(), f"{where}: state_hash after the same turns")
    require_equal(State.from_bytes(saved).to_bytes(), saved, f"seed {seed}: state through bytes and back")


# ---- refusals and the end


def _check_refusals(make_env: EnvFactory, seed: int) -> None:
    env = make_env()
    env.reset(seed=seed)
    for turn in (*REFUSED, *_GARBAGE):
        env.reset(seed=seed)  # so that no forced advance is due
        kept = _base(env).state_hash()
        results = env.step(turn)[4]["results"]
        answered = [result["output"] for result in results if not result["ok"]]
        require(results and len(answered) == len(results), f"{turn!r}: expected refusals, got {results!r}"[:500])
        require_equal(_base(env).state_hash(), kept, f"state_hash after the refusal of {turn!r}")


def _check_end(make_env: EnvFactory, seed: int) -> None:
    env = make_env()
    env.reset(seed=seed)
    rng = random.Random("to the end")  # noqa: S311 -- a simulation, not a secret
    last = None
    for _ in range(_MOST_TURNS):
        last = env.step(f"{sample_turn(_base(env).get_state(), rng)}\nsim resume")
        if last[2] or last[3]:
            break
    else:
        message = f"seed {seed}: the episode did not end within {_MOST_TURNS} turns"
        raise AssertionError(message)
    kept: State = _base(env).get_state()
    for turn in ("sim resume", "company status\nmarket browse", "task accept --task-id Task-1", "--help", "", "dance"):
        where = f"after the end, {turn!r}"
        after = env.step(turn)
        _check_transition(env, kept, after, where)
        require_equal(after[1:4], (0.0, *last[2:4]), f"{where}: reward, terminated, truncated")
        require_equal(after[4]["terminal_reason"], last[4]["terminal_reason"], f"{where}: terminal_reason")
        require(not any(result["ok"] for result in after[4]["results"]), f"{where}: a command was carried out")
        require(_base(env).get_state() == kept, f"{where}: the state changed")
    require_equal(env.reset(seed=seed), make_env().reset(seed=seed), "reset after an episode against a new instance")


# ---- busy play, drawn from the present state

QUERIES: Final = (
    *("company status", "employee list", "task list", "client list", "client history", "report monthly"),
    *("market browse", "market browse --domain research --limit 3 --offset 2"),
    *("market browse --reward-min-cents 500000", "task list --status active", "task list --status cancelled"),
    *("finance ledger", "finance ledger --category task_reward"),
    "finance ledger --category monthly_payroll --from 2025-02-01 --to 03/31/2025",
    "report monthly --from-month 2025-02 --to-month 2025-04",
)
"""Commands that only ask."""

REFUSED: Final = (
    *("task accept --task-id Task-999999", "task accept", "task accept --task-id Task-3 --task-id Task-4"),
    *("task assign --task-id Task-999999 --employees Emp_1", "task dispatch --task-id nothing"),
    "task cancel --task-id Task-1 ; task cancel --task-id Task-2 --reason",
    *("task inspect --task-id ''", "market browse --limit 0", "market browse --limit -3"),
    *("finance ledger --from yesterday", "task list --status open", "sim resume --days 3"),
    *("dance", "yc-bench", "task inspect --task-id \"won't end", "\u201c\ud800\x00"),
)
"""Turns whose commands are refused in every world that has no such tasks."""

_MOST_TO_CHOOSE: Final = 20  # of listed tasks
_KINDS: Final = ("wait", "wait", "wait", "accept", "accept", "assign", "dispatch", "dispatch", "ask", "cancel", "odd")


def sample_turn(state: State, rng: random.Random) -> str:
    """Returns a turn of no to three commands, most of which the world will carry out.

    Args:
        state: The present state; ids are taken from it.
        rng: Source of the draws.
    """
    commands = [sample_command(state, rng) for _ in range(rng.choice((0, 1, 1, 1, 1, 2, 3)))]
    return rng.choice(("\n", "; ", " && ")).join(commands)


def sample_command(state: State, rng: random.Random) -> str:  # noqa: PLR0911 -- one for each kind
    """Returns a command that fits a state; what needs a task falls back to another kind where there is none."""
    kind = rng.choice(_KINDS)
    planned = [task.task_id for task in state.tasks if task.status == "planned"]
    active = [task.task_id for task in state.tasks if task.status == "active"]
    if kind in {"assign", "dispatch"} and planned:
        task_id = rng.choice(planned)
        if kind == "dispatch" and any(task.team for task in state.tasks if task.task_id == task_id):
            return f"task dispatch --task-id {task_id}"
        names = [employee.name for employee in state.employees] or ["Emp_1"]
        team = ",".join(rng.sample(names, rng.randint(1, len(names))))
        return f"task assign --task-id {task_id} --employees {team}"
    if kind == "cancel" and rng.random() < 0.3 and planned + active:  # noqa: PLR2004 -- seldom, or nothing gets done
        return f"task cancel --task-id {rng.choice(planned + active)} --reason 'changed plan'"
    if kind == "odd":
        return rng.choice(REFUSED)
    if kind == "ask":
        return rng.choice((*QUERIES, *(f"task inspect --task-id {task_id}" for task_id in planned + active)))
    if kind == "wait" and active:
        return "sim resume"
    within_reach = (task.task_id for task in state.market_by_reward if acceptable(state, task))
    best_paid = list(islice(within_reach, _MOST_TO_CHOOSE))
    return f"task accept --task-id {rng.choice(best_paid)}" if best_paid else "sim resume"
