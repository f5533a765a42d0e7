"""Playing a run into its folder, resuming one that was killed or stopped, and playing recorded turns again."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import hashlib
import warnings
from collections.abc import Callable, Coroutine, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

import attrs
import gymnasium as gym

from ycbench_agents.base import (
    Decision,
    DeliberatingPolicy,
    Policy,
    PolicyStoppedError,
    TurnError,
    checked_turn,
    policy_seed,
)
from ycbench_agents.runs.run import (
    FORMAT,
    TURNS_FILE,
    Run,
    RunError,
    RunIdentity,
    RunMismatchError,
    RunOrigin,
    RunOutcome,
    RunWarning,
    Tally,
    TurnRecord,
    find_run,
    json_differences,
    plain_json,
)
from ycbench_agents.runs.store import RunStore
from ycbench_env import Observation, YCBenchEnv
from ycbench_env.text import Json, JsonObject
from ycbench_env.wrappers import ScratchpadMemory

_RUNNING: Final = RunOutcome("running")
_Wait: TypeAlias = Callable[[Coroutine[Any, Any, object]], object]


class Driver:
    """A run's environment, turn by turn from its reset: what playing, resuming, replaying and measuring share."""

    def __init__(self, run: Run) -> None:
        self.world = YCBenchEnv(run.config())
        self._env: gym.Env[Any, Any] = ScratchpadMemory(self.world) if run.identity.scratchpad else self.world
        self.observation: Observation = self._env.reset(seed=run.identity.seed)[0]
        self.initial_funds_cents = int(self.observation["funds_cents"])
        self.turns = 0
        self.is_over = False

    def play(
        self,
        action: str | list[str],
        trace: JsonObject | None = None,
        transport: JsonObject | None = None,
        time: str = "",
    ) -> TurnRecord:
        """Play a turn and return its record; ``time`` is the wall-clock time, ISO 8601."""
        self.observation, reward, terminated, truncated, info = self._env.step(action)
        self.turns += 1
        self.is_over = terminated or truncated
        notes = cast("dict[str, object]", self.observation).get("notes")
        noted = notes.encode("utf-8", "surrogatepass") if isinstance(notes, str) else b""
        return TurnRecord(
            turn=self.turns,
            action=action,
            trace=trace,
            results=info["results"],
            events=info["events"],
            reward=float(reward),
            funds_cents=int(self.observation["funds_cents"]),
            funds_delta_cents=info["funds_delta_cents"],
            invalid_commands=info["invalid_commands"],
            forced_advance=info["forced_advance"],
            terminated=terminated,
            truncated=truncated,
            terminal_reason=info["terminal_reason"],
            sim_time=self.observation["sim_time"],
            state_hash=self.world.state_hash(),
            notes_sha256=hashlib.sha256(noted).hexdigest() if noted else None,
            transport=transport,
            time=time,
        )


def play_run(  # noqa: PLR0913 -- one an aspect of playing
    folder: Path | str,
    identity: RunIdentity,
    policy: Policy,
    *,
    on_turn: Callable[[TurnRecord], None] | None = None,
    patience_s: float = 0.0,
    begin_anew: bool = False,
) -> Run:
    """Play a run into its folder, or resume the one that is there, and return what is there then.

    A finished run is left alone. Any other is replayed from its record without asking anybody, and each turn compared
    with its record; then it goes on. A kill at any moment leaves a run that can be resumed. A policy that raises
    ``PolicyStoppedError`` leaves one with the status "stopped" and the reason; whatever else it raises passes through.

    Args:
        folder: Folder of the run; it is made where it is missing.
        identity: What to play, see ``RunIdentity.of``.
        policy: The policy, which is reset here.
        on_turn: Called with each turn that is played now; not with those that a resume replays.
        patience_s: How long to wait for another process that writes the run, in seconds.
        begin_anew: Whether a damaged record, or one whose turns turn out differently now, is played anew with a
            warning; otherwise it is an error.

    Raises:
        SeedError: The seed is no non-negative integer; nothing was written.
        RunBusyError: Another process is writing the run.
        RunMismatchError: The folder holds another run, or its turns turn out differently now.
        RunError: The record is damaged, or the system refuses to write it.
        TurnError: The policy's turn is neither a text nor a sequence of texts.

    Warns:
        RunWarning: The last line was not written to its end, or turns are lost; they are played again.
    """
    new = Run(Path(folder), identity, RunOrigin("", {}, None, ""), _RUNNING)
    driver = Driver(new)  # refuses what cannot be played before anything is written
    with contextlib.suppress(RunError):  # is raised again under the lock
        there = find_run(folder)
        if there is not None and _is_complete(there) and not _mismatch(there, identity):
            return there
    store = RunStore(new.folder)
    with store.locked(patience_s), _event_loop() as wait:
        try:
            run, tally = _brought_back(store, new, policy, driver)
        except RunError as error:
            if not begin_anew:
                raise
            first, *more = str(error).replace("; choose another folder", "").splitlines()
            why = ": ".join([first, *(line.strip() for line in more[:1])])
            warnings.warn(f"{why}; the run is played again from its start", RunWarning, stacklevel=2)
            store.forget()
            driver = Driver(new)
            run, tally = _brought_back(store, new, policy, driver)
        reason = None
        while not driver.is_over and (identity.max_turns is None or driver.turns < identity.max_turns):
            try:
                asked = _ask(policy, driver, wait)
            except PolicyStoppedError as error:
                reason = str(error) or type(error).__name__
                break
            except BaseException as error:
                with contextlib.suppress(TypeError):  # its class is somebody's own
                    BaseException.add_note(error, f"turn {driver.turns + 1}")
                raise
            turn = driver.play(*asked, time=_now())
            store.append(turn)
            tally.add(turn)
            if on_turn is not None:
                on_turn(turn)
        if not _is_complete(run):  # another process may have finished it just before
            run = attrs.evolve(run, outcome=tally.outcome("stopped" if reason else "finished", _now(), reason))
            store.write_run(run)
        return run


def _is_complete(run: Run) -> bool:
    return run.is_finished and not run.lost_turns()


def _mismatch(run: Run, identity: RunIdentity) -> RunMismatchError | None:
    """Return why a recorded run cannot be resumed as the one that is asked for."""
    if run.format != FORMAT:
        return RunMismatchError(
            f"{run.folder}: was written by ycbench-env {run.identity.version} in format {run.format}, before policies "
            "had seeds of their own; it can be replayed, not resumed: choose another folder"
        )
    if differences := [*json_differences(run.identity.comparable(), identity.comparable())]:
        msg = f"{run.folder}: holds another run (recorded | asked for); choose another folder, or ask for the same"
        return RunMismatchError(msg, differences)
    return None


@contextlib.contextmanager
def _event_loop() -> Generator[_Wait]:
    """Give a function that runs coroutines in one event loop; where one runs here, as in Jupyter, in another thread."""
    if asyncio._get_running_loop() is None:  # noqa: SLF001 -- documented for libraries
        with asyncio.Runner() as runner:
            yield runner.run
        return
    with ThreadPoolExecutor(1) as thread:
        runner = asyncio.Runner()
        try:
            yield lambda coroutine: thread.submit(runner.run, coroutine).result()
        finally:
            thread.submit(runner.close).result()


def _brought_back(store: RunStore, new: Run, policy: Policy, driver: Driver) -> tuple[Run, Tally]:
    """Return the run in the folder, or the new one, and bring policy and environment to the end of its turns."""
    run = find_run(store.folder)
    if run is None:
        turns = store.folder / TURNS_FILE
        if turns.is_file() and turns.stat().st_size:
            msg = f"{store.folder}: there is {TURNS_FILE} without run.json; choose another folder"
            raise RunError(msg)
        run = attrs.evolve(new, origin=RunOrigin.here(_now()))
        store.write_run(run)
    elif mismatch := _mismatch(run, new.identity):
        raise mismatch
    store.open_turns()
    tally = Tally(driver.initial_funds_cents)
    for turn, differences in replayed(run, driver, policy):
        if differences:
            msg = f"{run.folder}: turn {turn.turn} is not as it was recorded (recorded | now); choose another folder"
            raise RunMismatchError(msg, differences)
        tally.add(turn)
    if run.outcome != _RUNNING and not _is_complete(run):
        run = attrs.evolve(run, outcome=_RUNNING)
        store.write_run(run)
    return run, tally


def _ask(policy: Policy, driver: Driver, wait: _Wait) -> tuple[str | list[str], JsonObject | None, JsonObject | None]:
    """Return the policy's turn, and of a deliberating policy trace and transport."""
    number = driver.turns + 1
    if not isinstance(policy, DeliberatingPolicy):
        return _recorded(policy.act(driver.observation), policy, number), None, None
    decision = wait(policy.decide(driver.observation))
    if not isinstance(decision, Decision):
        msg = f"got a decision of the type {type(decision).__name__}, expected a Decision of ycbench_agents.base"
        raise TurnError(msg)
    trace, transport = plain_json(decision.trace, "trace"), plain_json(decision.transport, "transport")
    if not isinstance(trace, dict) or not isinstance(transport, dict):
        msg = "got a decision whose trace or transport is no object of JSON values"
        raise TurnError(msg)
    return _recorded(decision.turn, policy, number), trace, transport


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat()


def _recorded(turn: object, policy: Policy, number: int) -> str | list[str]:
    """Return a turn as it is read back from a record, which is also how it is played; TurnError if it is none."""
    return cast("str | list[str]", plain_json(checked_turn(turn, policy, number), "turn"))


def replayed(run: Run, driver: Driver, policy: Policy | None = None) -> Iterator[tuple[TurnRecord, list[str]]]:
    """Play the turns of a run again, and yield each with what differs; the policy is reset first, see replay_turn."""
    if policy is not None:
        is_old = run.format != FORMAT and run.identity.model is None  # its policy was reset with the run seed
        policy.reset(run.identity.seed if is_old else policy_seed(run.identity.seed))
    for turn in run.turns():
        yield turn, replay_turn(driver, turn, policy)


def replay_turn(driver: Driver, turn: TurnRecord, policy: Policy | None = None) -> list[str]:
    """Play a recorded turn again and return what differs, one line each.

    Args:
        driver: The episode up to the turn; afterwards the turn is played in it.
        turn: The record.
        policy: A policy that was reset and has played the turns before; it is brought to the end of this turn. None
            replays the environment alone.
    """
    differences = ["it comes after the end of the episode"] if driver.is_over else []
    if policy is not None:
        differences += _policy_differences(policy, driver.observation, turn)
    again = driver.play(turn.action, turn.trace, turn.transport)
    return [*differences, *json_differences(turn.comparable(), again.comparable())]


def _policy_differences(policy: Policy, observation: Observation, turn: TurnRecord) -> list[str]:
    """Bring a policy to the end of a recorded turn and return what it would have done otherwise."""
    if isinstance(policy, DeliberatingPolicy) != (turn.trace is not None):
        return ["trace: one of the recorded and the present policy deliberates, the other only acts"]
    try:
        if isinstance(policy, DeliberatingPolicy) and turn.trace is not None:
            again = policy.recall(observation, turn.trace)
        else:
            again = policy.act(observation)
    except ValueError as error:
        return [f"trace: {error}"]
    trace: object = getattr(policy, "last_trace", turn.trace)  # what a record holds of a reply follows from the reply
    action = cast("Json", _recorded(again, policy, turn.turn))
    return [
        *json_differences(cast("Json", turn.action), action, "action"),
        *json_differences(turn.trace, cast("Json", trace), "trace"),
    ]
