"""Playing a suite into the folder of its evaluation: what is there is kept, the rest is played."""

from __future__ import annotations

import contextlib
import functools
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import attrs

from ycbench_agents.evaluation.cost import expected_cost
from ycbench_agents.evaluation.earlier import changed_models, changed_rows, mixed_models, unused_runs
from ycbench_agents.evaluation.evaluation_file import EvaluationFile, forget_failures, read_failures, store_failures
from ycbench_agents.evaluation.event_loop import run_coroutine
from ycbench_agents.evaluation.job import Job, import_folders
from ycbench_agents.evaluation.measured import read_measures
from ycbench_agents.evaluation.planned import PlannedEpisode, planned_episodes
from ycbench_agents.evaluation.probing import is_own
from ycbench_agents.evaluation.provenance import Provenance
from ycbench_agents.evaluation.reading import Evaluation, read_evaluation, recorded_run
from ycbench_agents.evaluation.results import results_document
from ycbench_agents.evaluation.settings_table import SuiteError
from ycbench_agents.evaluation.storing import store_json
from ycbench_agents.evaluation.sweep import play_jobs
from ycbench_agents.evaluation.waiting import WaitingEpisode, play_waiting
from ycbench_agents.records import RecordError, RunPlan, Runtime
from ycbench_agents.records.origin import package_version
from ycbench_agents.records.reading import TURNS_FILE, whole_lines
from ycbench_env import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping, Sequence

    from ycbench_agents.base import Json
    from ycbench_agents.evaluation.backend import Pool
    from ycbench_agents.evaluation.episode import EpisodeKey
    from ycbench_agents.evaluation.failure import EpisodeFailure
    from ycbench_agents.evaluation.folder import EvaluationFolder
    from ycbench_agents.evaluation.player import Player, PlayerIdentity
    from ycbench_agents.evaluation.suite import Suite
    from ycbench_agents.evaluation.suite_file import LoadedSuite
    from ycbench_agents.records import RunRecord

__all__ = ["EvaluationBusyError", "EvaluationPlan", "EvaluationWatcher", "PlayedEvaluation", "evaluate"]


class EvaluationBusyError(RecordError):
    """Another process is playing into the folder."""


class EvaluationWatcher(Protocol):
    """Is told how far an evaluation is."""

    def begin(self, costs: Mapping[EpisodeKey, float], *, reused: int, tried_again: int) -> None:
        """These episodes are to be played, each with what it is expected to cost."""
        ...

    def end(self, key: EpisodeKey, failure: EpisodeFailure | None) -> None:
        """An episode is over."""
        ...

    def tell(self, message: str) -> None:
        """Something was odd."""
        ...


@attrs.frozen
class EvaluationPlan:
    """What is to be played.

    Args:
        loaded: The suite.
        players: Who plays, by label of the policy and label of the configuration; of policies that are not chosen they
            may be left out.
        folder: Folder of the evaluation.
        chosen: Labels of the policies that are played now; None for all.
        overrides: Settings that options and variables decided, as JSON objects.
        import_path: Folders in which a policy of one's own may lie.
    """

    loaded: LoadedSuite
    players: Mapping[tuple[str, str], Player]
    folder: EvaluationFolder
    chosen: frozenset[str] | None = None
    overrides: tuple[Json, ...] = ()
    import_path: tuple[str, ...] = attrs.field(default=(), converter=import_folders)

    def player(self, key: EpisodeKey) -> Player:
        """Return who plays an episode."""
        return self.players[key.policy, key.preset]


@attrs.frozen
class PlayedEvaluation:
    """An evaluation after ``evaluate``.

    Args:
        evaluation: What is there now.
        interrupted: Whether Ctrl-C ended it.
    """

    evaluation: Evaluation
    interrupted: bool


_RUNTIME = Runtime()


def evaluate(
    plan: EvaluationPlan, pool: Pool, watcher: EvaluationWatcher, runtime: Runtime = _RUNTIME
) -> PlayedEvaluation:
    """Play what is missing of a suite, write suite.json, failures.json and results.json, and return what is there then.

    Finished episodes of the same configuration, seed, policy, settings and version are left alone. What failed before
    is tried again. Ctrl-C ends the playing, not the program; whatever ends it, the same call goes on.

    Args:
        plan: What to play.
        pool: Where policies are played; language models are asked in this process.
        watcher: Is told how far it is.
        runtime: Clock and environment.

    Raises:
        EvaluationBusyError: Another process is playing into the folder.
        SuiteError: Two rows of the suite would play the same run.
        RecordError: A file in the folder is damaged, or nothing can be written there.
        WorkerLostError: Processes cannot be had.
    """
    folder = plan.folder
    for path in (folder.runs, folder.playing):
        path.mkdir(parents=True, exist_ok=True)
    with _locked(folder):
        session = _Session.begun(plan, watcher, runtime)
        interrupted = False
        try:
            session.play(pool)
        except KeyboardInterrupt:
            interrupted = True
        evaluation = read_evaluation(folder.path)
        store_json(folder.results, results_document(evaluation))
    return PlayedEvaluation(evaluation, interrupted)


@contextlib.contextmanager
def _locked(folder: EvaluationFolder) -> Generator[None]:
    """Keep everybody else from playing into a folder; the system gives it free when the process ends in any way."""
    try:
        import filelock  # noqa: PLC0415 -- an optional library
    except ImportError as error:
        msg = "playing a suite needs filelock: pip install 'ycbench-env[evaluation]'"
        raise MissingExtraError(msg) from error
    lock = filelock.FileLock(folder.lock, timeout=0, thread_local=False)
    try:
        lock.acquire()
    except filelock.Timeout:
        msg = f"{folder.path}: another ycbench evaluate is playing there; wait for it, or choose another --out"
        raise EvaluationBusyError(msg) from None
    try:
        yield
    finally:
        lock.release()


@attrs.define
class _Session:
    """One process's part in an evaluation."""

    plan: EvaluationPlan
    watcher: EvaluationWatcher
    runtime: Runtime
    planned: tuple[PlannedEpisode, ...]
    failures: dict[EpisodeKey, EpisodeFailure]

    @classmethod
    def begun(cls, plan: EvaluationPlan, watcher: EvaluationWatcher, runtime: Runtime) -> _Session:
        """Write suite.json, forget what a killed process left, and return the session."""
        suite, version = plan.loaded.suite, package_version()
        failures = _failures_before(plan, watcher)
        before = _file_before(plan.folder)
        players = tuple(_identities(plan, before))
        planned = planned_episodes(suite, players, plan.loaded.seeds, version)
        _refuse_twins(planned)
        for line in _changes(plan, before, players):
            watcher.tell(line)
        provenance = _provenance(plan, before, version, runtime)
        store_json(plan.folder.suite, EvaluationFile(suite, players, provenance).to_dict())
        for marker in plan.folder.playing.iterdir():
            marker.unlink(missing_ok=True)
        return cls(plan, watcher, runtime, planned, failures)

    @property
    def _is_secret(self) -> bool:
        """Whether nothing may be told that names a run's folder, in which its seed stands."""
        return self.plan.loaded.suite.is_held_out

    def play(self, pool: Pool) -> None:
        """Play what is missing."""
        chosen = self.plan.chosen
        asked = [each for each in self.planned if chosen is None or each.key.policy in chosen]
        left = [each for each in asked if each.key in self.failures or not _is_done(self.plan.folder, each)]
        left.sort(key=lambda each: -expected_cost(each.identity.policy))  # the longest first; the sort is stable
        waiting = [each for each in left if self.plan.player(each.key).deliberates]
        for line in unused_runs(self.plan.folder, self.planned, waiting):
            self.watcher.tell(line)
        costs = {each.key: expected_cost(each.identity.policy) for each in left}
        tried_again = sum(each.key in self.failures for each in left)
        self.watcher.begin(costs, reused=len(asked) - len(left), tried_again=tried_again)
        of_modules = {policy.label for policy in self.plan.loaded.suite.policies if is_own(policy)}
        own = [each for each in waiting if each.key.policy in of_modules]
        self._play_jobs([each for each in left if each not in waiting], pool)
        self._play_jobs(own, attrs.evolve(pool, processes=self.plan.loaded.suite.concurrency))
        if here := [each for each in waiting if each not in own]:
            episodes = [WaitingEpisode(each.key, functools.partial(self._run_plan, each)) for each in here]
            suite, root = self.plan.loaded.suite, self.plan.folder.path
            run_coroutine(play_waiting(episodes, suite.concurrency, root, self._end, self.runtime))

    def _play_jobs(self, planned: Sequence[PlannedEpisode], pool: Pool) -> None:
        if not planned:
            return
        jobs = [self._job(each) for each in planned]
        with pool.connected(), contextlib.closing(play_jobs(jobs, pool)) as reports:
            for report in reports:
                for message in report.warnings:
                    self.watcher.tell(
                        f"{report.key}: its record is damaged; played again" if self._is_secret else message
                    )
                self._end(report.key, report.failure)

    def _job(self, planned: PlannedEpisode) -> Job:
        parameters = planned.identity.settings["parameters"]
        configs = {preset.label: preset.config for preset in self.plan.loaded.suite.presets}
        return Job(
            key=planned.key,
            root=Path(self.plan.folder.path).absolute(),
            name=planned.name,
            config=configs[planned.key.preset],
            seed=planned.identity.seed,
            policy=planned.identity.policy,
            parameters=parameters if isinstance(parameters, dict) else {},
            limits=self.plan.loaded.suite.limits,
            import_path=self.plan.import_path,
            waits=self.plan.player(planned.key).deliberates,
        )

    def _end(self, key: EpisodeKey, failure: EpisodeFailure | None) -> None:
        """Keep what came of an episode."""
        before = self.failures.get(key)
        if failure is None:
            self.failures.pop(key, None)
        else:
            self.failures[key] = failure
        if failure != before:
            store_failures(self.plan.folder, self.failures)
        self.watcher.end(key, failure and failure.without_text() if self._is_secret else failure)

    def _run_plan(self, planned: PlannedEpisode) -> RunPlan:
        player = self.plan.player(planned.key)
        return RunPlan(
            folder=self.plan.folder.runs / planned.name,
            config=planned.identity.config,
            seed=planned.identity.seed,
            policy=player.make(),
            name=planned.identity.policy,
            settings=player.settings,
            model=player.model,
            max_turns=planned.identity.max_turns,
        )


def _file_before(folder: EvaluationFolder) -> EvaluationFile | None:
    """Return the suite.json that an earlier command left; None where there is none that can be read."""
    try:
        return EvaluationFile.read(folder)
    except RecordError:
        return None


def _provenance(plan: EvaluationPlan, file: EvaluationFile | None, version: str, runtime: Runtime) -> Provenance:
    """Return where the evaluation was begun, as the first command of this version told; runs tell for themselves."""
    if file is None or file.provenance.version != version:  # runs of another version count no more
        return Provenance(version, runtime.origin(runtime.now()), plan.overrides)
    is_same = file.suite.to_dict() == plan.loaded.suite.to_dict()  # then it is as well told where its settings are from
    return Provenance(version, file.provenance.origin, file.provenance.overrides if is_same else plan.overrides)


def _failures_before(plan: EvaluationPlan, watcher: EvaluationWatcher) -> dict[EpisodeKey, EpisodeFailure]:
    """Return why planned episodes failed before; a damaged failures.json is forgotten: what failed is tried again.

    Raises:
        RecordError: In its place is a folder with something in it.
    """
    suite = plan.loaded.suite
    try:
        before = read_failures(plan.folder)
    except RecordError as error:
        forget_failures(plan.folder)
        what = f"{plan.folder.failures}: it is damaged" if suite.is_held_out else error
        watcher.tell(f"{what}; begun anew, and what failed is tried again")
        return {}
    keys = set(suite.episodes())
    return {key: why for key, why in before.items() if key in keys}


def _changes(plan: EvaluationPlan, file: EvaluationFile | None, players: Sequence[PlayerIdentity]) -> Generator[str]:
    """Yield what of an earlier command counts no more, and who is not compared with his like."""
    suite = plan.loaded.suite
    if file is not None:
        yield from changed_rows(file.suite, suite, {label for label, _ in plan.players})
        yield from changed_models(file.players, players)
    yield from mixed_models(suite, players)


def _identities(plan: EvaluationPlan, file: EvaluationFile | None) -> Generator[PlayerIdentity]:
    """Yield who plays each row, or who played it before where nobody was asked to play it now."""
    before = {} if file is None else _players_before(file, plan.loaded.suite)
    for policy in plan.loaded.suite.policies:
        for preset in plan.loaded.suite.presets:
            row = (policy.label, preset.label)
            if row in plan.players:
                yield plan.players[row].identity(policy, preset.label)
            elif row in before:
                yield before[row]


def _players_before(file: EvaluationFile, suite: Suite) -> dict[tuple[str, str], PlayerIdentity]:
    """Return who played the rows that stand in a suite.json as they do in a suite."""
    rows = [policy.to_dict() for policy in suite.policies]
    same = {policy.label for policy in file.suite.policies if policy.to_dict() in rows}
    return {(player.policy, player.preset): player for player in file.players if player.policy in same}


def _refuse_twins(planned: Iterable[PlannedEpisode]) -> None:
    """Refuse episodes that would share a run: one of them would be counted twice.

    Raises:
        SuiteError: There are such episodes.
    """
    first: dict[str, PlannedEpisode] = {}
    for each in planned:
        other = first.setdefault(each.name, each)
        if other is not each:
            msg = (
                f"suite: {other.key} and {each.key} would be one and the same run, since their settings are the same; "
                "leave one of them out (`repeats` plays a policy several times), or give them different parameters"
            )
            raise SuiteError(msg)


def _is_done(folder: EvaluationFolder, planned: PlannedEpisode) -> bool:
    """Return whether an episode is played and measured, and no turn of it is lost."""
    record = recorded_run(folder, planned)
    return record is not None and record.is_finished and _is_whole(record) and read_measures(record.folder) is not None


def _is_whole(record: RunRecord) -> bool:
    return whole_lines(record.folder / TURNS_FILE).count >= (record.outcome.turns or 0)
