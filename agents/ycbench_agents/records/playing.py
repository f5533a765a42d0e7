"""Playing a run into its folder, and going on with one that was killed or stopped."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.base import PolicyStoppedError, policy_seed
from ycbench_agents.records.episode import Episode, ask, replay_turn, require_equal
from ycbench_agents.records.error import RecordError, RecordMismatchError, system_told
from ycbench_agents.records.journal import Journal, SecretError
from ycbench_agents.records.plan import RunPlan, Runtime
from ycbench_agents.records.reading import RUN_FILE, TURNS_FILE, RunRecord, find_run, read_run, whole_lines
from ycbench_agents.records.record import RunOutcome, identity_differences
from ycbench_agents.records.secret import secrets_in
from ycbench_agents.records.tally import Tally
from ycbench_env import ConfigError, load_config

if TYPE_CHECKING:
    from pathlib import Path

    from ycbench_agents.base import Policy
    from ycbench_env import Config

__all__ = ["REAL_RUNTIME", "PlayedRun", "play_run", "play_run_sync", "recorded_config", "resume_plan"]

REAL_RUNTIME: Final = Runtime()
"""The real clock, files and environment; nobody watches."""

_RUNNING: Final = RunOutcome("running")
_ASKED_TO_STOP: Final = "the caller asked to stop"


@attrs.frozen
class PlayedRun:
    """A run after ``play_run``.

    Args:
        record: Its record.
        replayed_turns: Turns that were on the disk before and were replayed to go on.
        played_turns: Turns that were played now.
        was_finished: Whether it had been finished before, so that nothing was done.
    """

    record: RunRecord
    replayed_turns: int = 0
    played_turns: int = 0
    was_finished: bool = False


async def play_run(plan: RunPlan, runtime: Runtime = REAL_RUNTIME) -> PlayedRun:
    """Play a run into its folder, or go on with the one that is there, and return what is there then.

    A finished run is left alone (``was_finished``), also where nothing can be written, unless lines of it are lost. Any
    other is replayed from its record, nobody being asked, and each turn compared with its record; then it goes on. A
    cancellation or a kill at any moment leaves a run that can be resumed; a policy that stops leaves one with the
    status "stopped" and the reason.

    Args:
        plan: What to play.
        runtime: Clock, files, and who watches.

    Raises:
        SeedError: The seed is no non-negative integer; nothing was written.
        RunBusyError: Another process or task is writing the run.
        RecordMismatchError: The folder holds another run, or its turns turn out differently now; nothing was changed.
        RecordError: The record is damaged, or cannot hold what the policy says or is set to; or the system refuses to
            write it, or somebody removed the folder meanwhile. What is on the disk can be resumed.
        MissingExtraError: The extra that brings filelock is not installed.

    Warns:
        RecordWarning: The last line was not written to its end, or turns are lost; they are played again.
    """
    episode = Episode(plan.config, plan.seed, scratchpad=plan.scratchpad)
    done = _finished_before(plan)
    if done is not None:
        return PlayedRun(done, was_finished=True)
    journal = Journal(plan.folder, runtime.files, secrets_in(runtime.environ, plan.settings))
    with journal.locked():
        record = _open(plan, runtime, journal)
        lost = record.warn_of_lost_turns()
        if record.is_finished and not lost:
            return PlayedRun(record, was_finished=True)
        journal.open_turns()
        plan.policy.reset(policy_seed(plan.seed))
        return await _Session(plan, runtime, journal, record, episode).play()


def play_run_sync(plan: RunPlan, runtime: Runtime = REAL_RUNTIME) -> PlayedRun:
    """Return what ``play_run`` returns, for callers that do not wait.

    Raises:
        RuntimeError: It is called where an event loop runs, as in a notebook; there, ``await play_run(plan)``.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(play_run(plan, runtime))
    msg = "play_run_sync was called inside an event loop; write `await play_run(plan)` there"
    raise RuntimeError(msg)


def recorded_config(record: RunRecord) -> Config:
    """Return the configuration of a recorded run.

    Raises:
        RecordError: This version cannot read it, or it is not the one that its digest names.
    """
    place = f"{record.folder / RUN_FILE}: config"
    try:
        config = load_config(record.identity.config, environ={})
    except ConfigError as error:
        msg = f"{place}: {error}"
        raise RecordError(msg) from None
    if config.digest() != record.identity.config_digest:
        msg = f"{place}: its digest is {config.digest()}, expected {record.identity.config_digest}; it was changed"
        raise RecordError(msg)
    return config


def resume_plan(folder: Path | str, policy: Policy) -> RunPlan:
    """Return the plan of the run in a folder, for ``play_run`` to go on with.

    Args:
        folder: The folder.
        policy: A policy like the one that played, made from ``read_run(folder).identity``.

    Raises:
        RecordError: There is no run, or its record is damaged.
    """
    record = read_run(folder)
    identity = record.identity
    return RunPlan(
        folder=folder,
        config=recorded_config(record),
        seed=identity.seed,
        policy=policy,
        name=identity.policy,
        settings=identity.settings,
        model=identity.model,
        max_turns=identity.max_turns,
        scratchpad=identity.scratchpad,
    )


def _finished_before(plan: RunPlan) -> RunRecord | None:
    """Return the record in a plan's folder if there is nothing to do, without locking: that would have to write.

    Raises:
        RecordMismatchError: The folder holds another run, finished.
    """
    try:
        record = find_run(plan.folder)
    except RecordError:  # is told under the lock, unless it is only that somebody is beginning
        return None
    if record is None or not record.is_finished:
        return None
    _refuse_another(record, plan)
    with system_told(plan.folder / TURNS_FILE):
        lost = whole_lines(plan.folder / TURNS_FILE).count < (record.outcome.turns or 0)
    return None if lost else record


def _refuse_another(record: RunRecord, plan: RunPlan) -> None:
    differences = identity_differences(record.identity, plan.identity)
    if differences:
        msg = f"{plan.folder}: holds another run (recorded | asked for); choose another folder, or ask for the same"
        raise RecordMismatchError(msg, differences)


def _open(plan: RunPlan, runtime: Runtime, journal: Journal) -> RunRecord:
    """Return the record in a plan's folder, new where there is none.

    Raises:
        RecordMismatchError: The folder holds another run.
        RecordError: It holds turns of no run.
    """
    record = find_run(plan.folder)
    if record is None:
        if whole_lines(plan.folder / TURNS_FILE).count:
            msg = f"{plan.folder}: there is {TURNS_FILE} without {RUN_FILE}; choose another folder"
            raise RecordError(msg)
        record = RunRecord(plan.folder, plan.identity, runtime.origin(runtime.now()), _RUNNING)
        journal.write_run(record)
    _refuse_another(record, plan)
    return record


@attrs.define
class _Session:
    """One process's part in a run."""

    plan: RunPlan
    runtime: Runtime
    journal: Journal
    record: RunRecord
    episode: Episode
    tally: Tally = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.tally = Tally(self.episode.initial_funds_cents)

    async def play(self) -> PlayedRun:
        """Play to the end, or until the policy or the caller stops."""
        await self._catch_up()
        replayed = self.tally.turns
        self._set_outcome(_RUNNING)
        reason = await self._go_on()
        status = "finished" if reason is None else "stopped"
        self._set_outcome(self.tally.outcome(status, self.runtime.now(), reason))
        return PlayedRun(self.record, replayed, self.tally.turns - replayed)

    async def _catch_up(self) -> None:
        """Replay what is on the disk."""
        for turn in attrs.evolve(self.record, outcome=_RUNNING).turns():  # of lost turns was warned already
            require_equal(replay_turn(self.episode, turn, self.plan.policy), self.plan.folder, turn.turn)
            self.tally.add(turn)
            await asyncio.sleep(0)  # others' turn, and the moment at which Ctrl-C takes effect

    async def _go_on(self) -> str | None:
        """Play on; return why it stopped, None at the end."""
        try:
            while not self._is_over:
                if not self.runtime.keep_going():
                    return _ASKED_TO_STOP
                await self._play_turn()
        except (PolicyStoppedError, SecretError) as error:
            return self.journal.without_key(str(error))
        return None

    @property
    def _is_over(self) -> bool:
        limit = self.plan.max_turns
        return self.episode.is_over or (limit is not None and self.episode.turns >= limit)

    async def _play_turn(self) -> None:
        said = await ask(self.plan.policy, self.episode.observation)
        turn = self.episode.play(said, self.runtime.now())
        self.journal.append(turn)
        self.tally.add(turn)
        self.runtime.on_turn(self.plan, turn)
        await asyncio.sleep(0)  # as above

    def _set_outcome(self, outcome: RunOutcome) -> None:
        """Write what has become of the run, unless it is written already."""
        if outcome != self.record.outcome:
            self.record = attrs.evolve(self.record, outcome=outcome)
            self.journal.write_run(self.record)
