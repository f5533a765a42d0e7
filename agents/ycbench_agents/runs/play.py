"""Playing a run into its folder, going on with one that was killed or stopped, and playing recorded turns again."""

from __future__ import annotations

import asyncio
import datetime as dt
import hashlib
import warnings
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self, TypeVar, cast

import attrs
import gymnasium as gym

from ycbench_agents.base import (
    Decision,
    DeliberatingPolicy,
    Json,
    JsonObject,
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
    identity_differences,
    json_differences,
    plain_json,
    turn_differences,
)
from ycbench_agents.runs.store import RunStore
from ycbench_env import Config, Observation, YCBenchEnv
from ycbench_env.wrappers import ScratchpadMemory

_T = TypeVar("_T")
_RUNNING = RunOutcome("running")
_NOWHERE = RunOrigin("", {}, None, "")


class Driver:
    """An environment, turn by turn from its reset: what playing, resuming, replaying and measuring have in common.

    Args:
        config: Its configuration.
        seed: Run seed.
        scratchpad: Whether there is a scratchpad.

    Raises:
        SeedError: The seed is no non-negative integer.
    """

    def __init__(self, config: Config, seed: int, *, scratchpad: bool = True) -> None:
        self.world = YCBenchEnv(config)
        self._env: gym.Env[Any, Any] = ScratchpadMemory(self.world) if scratchpad else self.world
        self.observation: Observation = self._env.reset(seed=seed)[0]
        self.initial_funds_cents = int(self.observation["funds_cents"])
        self.turns = 0
        self.is_over = False

    @classmethod
    def of_run(cls, run: Run) -> Driver:
        """Return the start of a recorded run.

        Raises:
            RunError: The record's configuration cannot be used.
        """
        return cls(run.config(), run.identity.seed, scratchpad=run.identity.scratchpad)

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
            notes_sha256=_notes_hash(self.observation),
            transport=transport,
            time=time,
        )


def _notes_hash(observation: Observation) -> str | None:
    """Return the SHA-256 of the notes, None without any."""
    notes = cast("dict[str, object]", observation).get("notes")
    if not isinstance(notes, str) or not notes:
        return None
    return hashlib.sha256(notes.encode("utf-8", "surrogatepass")).hexdigest()


def play_run(  # noqa: PLR0913 -- one an aspect of playing
    folder: Path | str,
    identity: RunIdentity,
    policy: Policy,
    *,
    on_turn: Callable[[TurnRecord], None] | None = None,
    patience_s: float = 0.0,
    begin_anew: bool = False,
) -> Run:
    """Play a run into its folder, or go on with the one that is there, and return what is there then.

    A finished run is left alone. Any other is replayed from its record, nobody being asked, and each turn compared with
    its record; then it goes on. A kill at any moment leaves a run that can be resumed. A policy that raises
    ``PolicyStoppedError`` leaves one with the status "stopped" and the reason; whatever else it raises passes through.

    Args:
        folder: Folder of the run; it is made where it is missing.
        identity: What to play, see ``RunIdentity.of``.
        policy: The policy, which is reset here.
        on_turn: Is called with each turn that was played now; not with those that a resume replays.
        patience_s: How long to wait for another process that writes the run, in seconds.
        begin_anew: Whether a damaged record, or one whose turns turn out differently now, is played anew with a
            warning; otherwise it is an error.

    Returns:
        The run, finished or stopped.

    Raises:
        SeedError: The seed is no non-negative integer; nothing was written.
        RunBusyError: Another process is writing the run.
        RunMismatchError: The folder holds another run, or its turns turn out differently now.
        RunError: The record is damaged, or the system refuses to write it.
        TurnError: The policy's turn is neither a text nor a sequence of texts.
        MissingExtraError: The extra that brings filelock is not installed.

    Warns:
        RunWarning: The last line was not written to its end, or turns are lost; they are played again.
    """
    folder = Path(folder)
    driver = Driver(Run(folder, identity, _NOWHERE, _RUNNING).config(), identity.seed, scratchpad=identity.scratchpad)
    done = _finished(folder, identity)
    if done is not None:
        return done
    store = RunStore(folder)
    with store.locked(patience_s), _Asking() as asking:
        session = _Session(store, identity, policy, asking, on_turn or (lambda _turn: None))
        try:
            return session.play(driver)
        except RunError as error:
            if not begin_anew or session.has_begun:
                raise
            first = "; ".join(line.strip() for line in str(error).splitlines()[:2])
            warnings.warn(f"begun anew: {first}", RunWarning, stacklevel=2)
            store.forget()
            return session.play(Driver.of_run(Run(folder, identity, _NOWHERE, _RUNNING)))


def _finished(folder: Path, identity: RunIdentity) -> Run | None:
    """Return the run in a folder if there is nothing to do, without writing anything."""
    try:
        run = find_run(folder)
        if run is None or not run.is_finished or run.lost_turns():
            return None
    except RunError:  # is raised again under the lock
        return None
    return None if run.format != FORMAT or identity_differences(run.identity, identity) else run


class _Asking:
    """Runs the coroutines of deliberating policies in one event loop, whether or not another one is running here."""

    def __enter__(self) -> Self:
        self._runner = asyncio.Runner()
        self._thread: ThreadPoolExecutor | None = None
        return self

    def __exit__(self, *_: object) -> None:
        if self._thread is None:
            self._runner.close()
        else:
            self._thread.submit(self._runner.close).result()
            self._thread.shutdown()

    def result(self, coroutine: Coroutine[Any, Any, _T]) -> _T:
        """Return what a coroutine returns."""
        if self._thread is None and asyncio._get_running_loop() is None:  # noqa: SLF001 -- documented for libraries
            return self._runner.run(coroutine)
        self._thread = self._thread or ThreadPoolExecutor(1)  # as in a notebook
        return self._thread.submit(self._runner.run, coroutine).result()


@attrs.define
class _Session:
    """One process's part in a run."""

    store: RunStore
    identity: RunIdentity
    policy: Policy
    asking: _Asking
    on_turn: Callable[[TurnRecord], None]
    has_begun: bool = False
    """Whether a new turn was asked for, after which an error is no fault of the record."""

    def play(self, driver: Driver) -> Run:
        """Replay what is on the disk, then play to the end, or until the policy stops."""
        run = self._opened()
        if run.is_finished and not run.lost_turns():
            return run
        self.store.open_turns()
        self.policy.reset(policy_seed(self.identity.seed))
        tally = Tally(driver.initial_funds_cents)
        for turn in run.turns():
            if differences := replay_turn(driver, turn, self.policy):
                msg = (
                    f"{run.folder}: turn {turn.turn} is not as it was recorded (recorded | now); choose another folder"
                )
                raise RunMismatchError(msg, differences)
            tally.add(turn)
        if run.outcome != _RUNNING:
            run = attrs.evolve(run, outcome=_RUNNING)
            self.store.write_run(run)
        self.has_begun = True
        reason = self._go_on(driver, tally)
        run = attrs.evolve(run, outcome=tally.outcome("stopped" if reason else "finished", _now(), reason))
        self.store.write_run(run)
        return run

    def _opened(self) -> Run:
        """Return the run in the folder, new where there is none."""
        folder = self.store.folder
        run = find_run(folder)
        if run is None:
            if (folder / TURNS_FILE).is_file() and (folder / TURNS_FILE).stat().st_size:
                msg = f"{folder}: there is {TURNS_FILE} without run.json; choose another folder"
                raise RunError(msg)
            run = Run(folder, self.identity, RunOrigin.here(_now()), _RUNNING)
            self.store.write_run(run)
        if run.format != FORMAT:
            msg = (
                f"{folder}: was written by ycbench-env {run.identity.version} in format {run.format}, before policies "
                "had seeds of their own; it can be replayed, not gone on with: choose another folder"
            )
            raise RunError(msg)
        if differences := identity_differences(run.identity, self.identity):
            msg = f"{folder}: holds another run (recorded | asked for); choose another folder, or ask for the same"
            raise RunMismatchError(msg, differences)
        return run

    def _go_on(self, driver: Driver, tally: Tally) -> str | None:
        """Play on; return why the policy stopped, None at the end."""
        limit = self.identity.max_turns
        while not driver.is_over and (limit is None or driver.turns < limit):
            try:
                action, trace, transport = self._ask(driver.observation, driver.turns + 1)
            except PolicyStoppedError as error:
                return str(error) or type(error).__name__
            turn = driver.play(action, trace, transport, _now())
            self.store.append(turn)
            tally.add(turn)
            self.on_turn(turn)
        return None

    def _ask(
        self, observation: Observation, number: int
    ) -> tuple[str | list[str], JsonObject | None, JsonObject | None]:
        if not isinstance(self.policy, DeliberatingPolicy):
            return _recorded(self.policy.act(observation), self.policy, number), None, None
        decision = cast("object", self.asking.result(self.policy.decide(observation)))
        if not isinstance(decision, Decision):
            msg = f"got a decision of the type {type(decision).__name__}, expected a Decision of ycbench_agents.base"
            raise TurnError(msg)
        trace, transport = plain_json(decision.trace, "trace"), plain_json(decision.transport, "transport")
        if not isinstance(trace, dict) or not isinstance(transport, dict):
            msg = "got a decision whose trace or transport is no object of JSON values"
            raise TurnError(msg)
        return _recorded(decision.turn, self.policy, number), trace, transport


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat()


def _recorded(turn: object, policy: Policy, number: int) -> str | list[str]:
    """Return a turn as it is read back from a record, which is also how it is played.

    Raises:
        TurnError: It is neither a text nor a sequence of texts.
    """
    return cast("str | list[str]", plain_json(checked_turn(turn, policy, number), "turn"))


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
        differences.extend(_policy_differences(policy, driver.observation, turn))
    return [*differences, *turn_differences(turn, driver.play(turn.action, turn.trace, turn.transport))]


def _policy_differences(policy: Policy, observation: Observation, turn: TurnRecord) -> list[str]:
    """Bring a policy to the end of a recorded turn and return what it would have done otherwise."""
    if isinstance(policy, DeliberatingPolicy) != (turn.trace is not None):
        return ["trace: one of the recorded and the present policy deliberates, the other only acts"]
    try:
        again = (
            policy.recall(observation, turn.trace)
            if isinstance(policy, DeliberatingPolicy) and turn.trace is not None
            else policy.act(observation)
        )
    except ValueError as error:
        return [f"trace: {error}"]
    trace: object = getattr(policy, "last_trace", turn.trace)  # what a record holds of a reply follows from the reply
    return [
        *json_differences(cast("Json", turn.action), cast("Json", _recorded(again, policy, turn.turn)), "action"),
        *json_differences(turn.trace, cast("Json", trace), "trace"),
    ]
