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
from collections.abc import Callable, Sequence
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

_NO_SEEDS: Final[tuple[Any, ...]] = (-1, 1.5, "7", True, np.bool_(False))  # noqa: FBT003 -- bools are what is tried
_GARBAGE: Final[tuple[object, ...]] = (
    *(None, 5, 1.5, b"sim resume", object(), {"command": "sim resume"}, ["sim resume", 3], [None], {1, 2}),
)
_MOST_TURNS: Final = 20_000  # an episode that is longer never ends


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
        _check_copies(make_env, seed, _check_play(make_env, seed, turns))
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


def _check_seeds(make_env: EnvFactory) -> None:
    env, other = make_env(), make_env()
    for seed in (0, 7, 2**40):
        require_equal(env.reset(seed=seed)[1]["run_seed"], seed, f"run_seed after reset(seed={seed})")
    plain = env.reset(seed=7)
    require_equal(env.reset(seed=np.int64(7)), plain, "reset(seed=numpy.int64(7)) against reset(seed=7)")  # pyright: ignore[reportArgumentType] -- numpy's integers must work too
    kept = _base(env).state_hash()
    for seed in _NO_SEEDS:
        _refuses(partial(env.reset, seed=seed), (SeedError, TypeError), f"reset(seed={seed!r})")
    require_equal(_base(env).state_hash(), kept, "state_hash after refused seeds")
    env.reset(seed=5)
    other.reset(seed=5)
    drawn, again = ([one.reset()[1]["run_seed"] for _ in range(4)] for one in (env, other))
    require_equal(again, drawn, "run seeds of unseeded resets after reset(seed=5)")
    require(len(set(drawn)) > 1, "unseeded resets repeat one world for ever")
    env.close()


# ---- play


def _check_play(make_env: EnvFactory, seed: int, turns: int) -> list[object]:
    """Play an episode with two instances, check every step, and return the turns.

    Whatever the second one returns is spoilt at once; what the first one returned must not have changed at the end.
    """
    env, spoilt = make_env(), make_env()
    rng = random.Random(f"conformance {seed}")  # noqa: S311 -- a simulation, not a secret
    questions = "\n".join(QUERIES)
    returned: Any = env.reset(seed=seed)
    keys = set(returned[1])
    kept = [(returned, copy.deepcopy(returned))]
    again: Any = spoilt.reset(seed=seed)
    require_equal(again, returned, f"seed {seed}: reset of two instances")
    _check_returned(env, *returned, where="after reset")
    script: list[object] = []
    for number in range(1, turns + 3):
        before: State = _base(env).get_state()
        if number in {1, 2, turns + 2}:
            turn: object = questions
        else:
            turn = rng.choice(_GARBAGE) if number % 10 == 0 else sample_turn(before, rng)
        where = f"seed {seed}, turn {number} ({turn!r})"
        _spoil(again)
        returned, again = env.step(turn), spoilt.step(turn)
        kept.append((returned, copy.deepcopy(returned)))
        require_equal(again, returned, f"{where}: two instances, of which one had its earlier returns changed")
        require_equal(_base(spoilt).state_hash(), _base(env).state_hash(), f"{where}: state_hash of two instances")
        check_step(env, before, returned, where)
        changed = sorted(keys ^ set(returned[4])) if env is env.unwrapped else []  # a wrapper may add keys at times
        require(not changed, f"{where}: info differs in {changed} from the info of reset")
        script.append(turn)
        if returned[2] or returned[3]:
            break
    for number, (returned, copied) in enumerate(kept):
        require_equal(returned, copied, f"seed {seed}, turn {number}: what was returned then changed later")
    env.close()
    return script


def check_step(env: gym.Env[Any, Any], before: State, returned: tuple[Any, ...], where: str) -> None:
    """Checks what a step returned against the states before and after it."""
    observation, reward, terminated, truncated, info = returned
    _check_returned(env, observation, info, where)
    after: State = _base(env).get_state()
    require(isinstance(reward, float) and math.isfinite(reward), f"{where}: reward is {reward!r}, expected a float")
    require_equal(info["funds_delta_cents"], after.funds_cents - before.funds_cents, f"{where}: funds_delta_cents")
    require_equal(reward, info["funds_delta_cents"] / 100, f"{where}: reward in dollars")
    flags = after.terminal_reason is not None, after.truncated
    require_equal((terminated, truncated), flags, f"{where}: terminated and truncated")
    require_equal(info["terminal_reason"], after.end_reason, f"{where}: terminal_reason")


def check_after_end(env: gym.Env[Any, Any], turn: object) -> None:
    """Checks that nothing works and nothing changes when a turn is played after the end of an episode."""
    kept: State = _base(env).get_state()
    returned = env.step(turn)
    check_step(env, kept, returned, f"after the end, {turn!r}")
    require(not any(result["ok"] for result in returned[4]["results"]), f"after the end, {turn!r} was carried out")
    require(_base(env).get_state() == kept, f"after the end, {turn!r}: the state changed")


def _check_returned(env: gym.Env[Any, Any], observation: Any, info: dict[str, Any], where: str) -> None:  # noqa: ANN401 -- any env's
    spaces: dict[str, gym.Space[Any]] = getattr(env.observation_space, "spaces", {})
    wrong = [key for key, space in spaces.items() if key not in observation or not space.contains(observation[key])]
    require(
        env.observation_space.contains(observation),
        f"{where}: the observation is outside observation_space, wrong or missing: {wrong or 'no single key'}",
    )
    missing = sorted(set(Info.__annotations__) - set(info))
    require(not missing, f"{where}: info lacks {missing}")
    try:
        again = json.loads(json.dumps(info, allow_nan=False))
    except (TypeError, ValueError) as error:
        message = f"{where}: info holds what is no JSON: {error}"
        raise AssertionError(message) from error
    require_equal(again, dict(info), f"{where}: info against itself through JSON")
    for result in info["results"]:
        require_equal(list(result), ["command", "ok", "output"], f"{where}: keys of a result")
        require_equal("error" in result["output"], not result["ok"], f"{where}: ok and error of {result['command']!r}")


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


def _check_copies(make_env: EnvFactory, seed: int, script: Sequence[object]) -> None:
    """Take copies midway in all ways, play on with one, and compare."""
    env, restored = make_env(), make_env()
    env.reset(seed=seed)
    middle = min(12, len(script) // 2)
    for turn in script[:middle]:
        env.step(turn)
    digest = _base(env).state_hash()
    saved: bytes = _base(env).get_state().to_bytes()
    require_equal(State.from_bytes(saved).to_bytes(), saved, f"seed {seed}: state through bytes and back")
    restored.reset(seed=seed + 1)  # another episode
    _base(restored).set_state(State.from_bytes(saved))
    whole = {"deepcopy": copy.deepcopy(env), "pickle": pickle.loads(pickle.dumps(env))}  # noqa: S301 -- made here
    copies = {**whole, "clone": _base(env).clone(), "set_state": _base(restored)}
    continued = [env.step(turn) for turn in script[middle:]]
    for name, one in copies.items():
        where = f"seed {seed}, {name} after {middle} turns"
        require_equal(_base(one).state_hash(), digest, f"{where}: state_hash after the original played on")
        played = [one.step(turn) for turn in script[middle:]]
        if name in whole:
            require_equal(played, continued, f"{where}: what it plays against the original")
        require_equal(_base(one).state_hash(), _base(env).state_hash(), f"{where}: state_hash after the same turns")


# ---- refusals and the end


def _check_refusals(make_env: EnvFactory, seed: int) -> None:
    env = make_env()
    for turn in (*REFUSED, *_GARBAGE):
        env.reset(seed=seed)  # so that no forced advance is due
        kept = _base(env).state_hash()
        results = env.step(turn)[4]["results"]
        refused = results and not any(result["ok"] for result in results)
        require(refused, f"{turn!r}: expected refusals, got {results!r}"[:500])
        require_equal(_base(env).state_hash(), kept, f"state_hash after the refusal of {turn!r}")


def _check_end(make_env: EnvFactory, seed: int) -> None:
    env = make_env()
    env.reset(seed=seed)
    rng = random.Random("to the end")  # noqa: S311 -- a simulation, not a secret
    turns = 0
    while _base(env).get_state().end_reason is None:
        turns += 1
        require(turns <= _MOST_TURNS, f"seed {seed}: the episode did not end within {_MOST_TURNS} turns")
        env.step(f"{sample_turn(_base(env).get_state(), rng)}\nsim resume")
    for turn in ("sim resume", "company status\nmarket browse", "task accept --task-id Task-1", "--help", "", "dance"):
        check_after_end(env, turn)
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

_KINDS: Final = (
    *(*["wait"] * 9, *["accept"] * 6, *["assign"] * 3, *["dispatch"] * 6, *["ask"] * 3, *["odd"] * 3, "cancel"),
)


def sample_turn(state: State, rng: random.Random) -> str:
    """Returns a turn of no to three commands, most of which the world will carry out.

    Args:
        state: The present state; ids are taken from it.
        rng: Source of the draws.
    """
    commands = [sample_command(state, rng) for _ in range(rng.choice((0, 1, 1, 1, 1, 2, 3)))]
    return rng.choice(("\n", "; ", " && ")).join(commands)


def sample_command(state: State, rng: random.Random) -> str:
    """Returns a command that fits a state; where there is no task for it, one that accepts another."""
    held = [task for task in state.tasks if task.status in {"planned", "active"}]
    team = _some_team(state, rng)
    choices: dict[str, Sequence[str]] = {
        "wait": ["sim resume"] if state.active_indices else [],
        "accept": [],
        "assign": [f"task assign --task-id {task.task_id} {team}" for task in held],
        "dispatch": [
            f"task {'dispatch' if task.team else 'assign'} --task-id {task.task_id} {'' if task.team else team}"
            for task in held
            if task.status == "planned"
        ],
        "cancel": [f"task cancel --task-id {task.task_id} --reason 'changed plan'" for task in held],
        "ask": [*QUERIES, *(f"task inspect --task-id {task.task_id}" for task in held)],
        "odd": REFUSED,
    }
    accepts = [f"task accept --task-id {task_id}" for task_id in _reachable(state)]
    return rng.choice(choices[rng.choice(_KINDS)] or accepts or ["sim resume"])


def sample_contract(state: State, rng: random.Random) -> str:
    """Returns the commands that accept a task within reach, put a team on it and dispatch it."""
    one = f"--task-id {rng.choice(_reachable(state) or ['Task-1'])}"
    return f"task accept {one} && task assign {one} {_some_team(state, rng)} && task dispatch {one}"


def _some_team(state: State, rng: random.Random) -> str:
    names = [employee.name for employee in state.employees] or ["Emp_1"]
    team = rng.sample(names, rng.randint(1, len(names)))
    alone = state.config.world.assign_by_employee_id and len(team) == 1
    return f"{'--employee-id' if alone else '--employees'} {','.join(team)}"


def _reachable(state: State) -> list[str]:
    """Return the ids of the best paid tasks that can be accepted now."""
    return list(islice((task.task_id for task in state.market_by_reward if acceptable(state, task)), 20))
