"""Playing a suite into the folder of its evaluation: finished episodes are kept, the rest is played."""

from __future__ import annotations

import contextlib
import datetime as dt
import sys
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import attrs

from ycbench_agents.base import JsonObject
from ycbench_agents.evaluation.factory import (
    Trusted,
    asks_a_person,
    has_own_code,
    model_player,
    require_trust,
    waits_for_answers,
)
from ycbench_agents.evaluation.progress import Progress
from ycbench_agents.evaluation.results import (
    FAILURES_FILE,
    Episode,
    Evaluation,
    Failure,
    PlannedEpisode,
    Player,
    planned_episodes,
    read_evaluation,
    read_failures,
    run_of,
    write_evaluation,
    write_failures,
    write_results,
)
from ycbench_agents.evaluation.suite import (
    LLM,
    EpisodeKey,
    Limits,
    Suite,
    SuiteError,
    SuitePolicy,
    SuitePreset,
    load_suite,
    suite_of,
)
from ycbench_agents.evaluation.workers import BackendName, Job, check_policy_apart, play_jobs, processors
from ycbench_agents.registry import PolicyError, make_policy
from ycbench_agents.runs import Run, RunBusyError, RunError, RunOrigin, RunWarning, read_run
from ycbench_agents.runs.run import plain_json, version
from ycbench_agents.runs.store import locked

_LOCK_FILE: Final = "evaluation.lock"
_SECONDS: Final = {
    "accept_all": 0.6,
    "adversary_chaser": 0.4,
    "conservative": 0.5,
    "expert": 4.0,
    "greedy": 0.3,
    "idle": 0.1,
    "market_roller": 40.0,
    "prestige": 0.6,
    "random": 0.8,
    "throughput": 0.9,
}
"""Roughly how long an episode takes: the longest are begun first."""
_UNKNOWN_SECONDS: Final = 20.0


class _Warning(Progress):
    """Progress that only warns."""

    def warn(self, message: str) -> None:
        """Warn."""
        warnings.warn(message, RunWarning, stacklevel=2)


@attrs.define
class _Session:
    """One process's part in an evaluation; ``folder`` is ``given``, absolute."""

    suite: Suite
    given: Path
    folder: Path
    progress: Progress
    chosen: frozenset[str]
    headers: Mapping[str, str] = attrs.field(repr=False)
    import_path: tuple[str, ...]
    measure: bool
    failures: dict[EpisodeKey, Failure] = attrs.field(factory=dict[EpisodeKey, Failure])

    def play(self, players: Sequence[Player], workers: int, backend: BackendName, address: str | None) -> None:
        """Play what is missing."""
        keys = set(self.suite.episodes())
        self.failures = {key: why for key, why in self._failures_before().items() if key in keys}
        asked = [each for each in planned_episodes(self.suite, players, version()) if each.key.policy in self.chosen]
        left = [each for each in asked if each.key in self.failures or not self._is_done(each)]
        left.sort(key=lambda each: -_SECONDS.get(each.identity.policy, _UNKNOWN_SECONDS))  # the sort is stable
        jobs = [self._job(each) for each in left]
        self.progress.begin(len(jobs), len(asked) - len(jobs))
        reports = play_jobs(
            jobs,
            workers=workers,
            concurrency=self.suite.concurrency,
            progress=self.progress,
            backend=backend,
            address=address,
        )
        with contextlib.closing(reports):
            for report in reports:
                for message in report.warnings:
                    self.progress.warn(f"{report.job.key}: {message}")
                self._end(report.job.planned, report.failure)

    def _failures_before(self) -> dict[EpisodeKey, Failure]:
        try:
            return read_failures(self.folder)
        except RunError as error:
            self.progress.warn(f"{error}; begun anew")
            (self.folder / FAILURES_FILE).unlink(missing_ok=True)
            return {}

    def _is_done(self, planned: PlannedEpisode) -> bool:
        """Return whether an episode is played, and measured where that is wanted, and no turn of it is lost."""
        run = run_of(self.folder, planned)
        if run is None or not run.is_finished or run.lost_turns():
            return False
        if not self.measure:
            return True
        from ycbench_agents.evaluation.metrics import read_metrics  # noqa: PLC0415 -- not every command needs it

        return read_metrics(run.folder) is not None

    def _job(self, planned: PlannedEpisode) -> Job:
        parameters = planned.identity.settings.get("parameters")
        return Job(
            planned=planned,
            root=self.folder,
            limits=self.suite.limits,
            headers=self.headers,
            import_path=self.import_path,
            measure=self.measure,
            asks_a_person=isinstance(parameters, dict) and asks_a_person(planned.identity.policy, parameters),
        )

    def _end(self, planned: PlannedEpisode, failure: Failure | None) -> None:
        """Keep what came of an episode."""
        key = planned.key
        before = self.failures.pop(key, None)
        if failure is not None:
            self.failures[key] = failure
        if failure != before:
            write_failures(self.folder, self.failures)
        run = run_of(self.folder, planned)
        self.progress.finished(key, Episode(key, "failed" if failure else "finished", failure and str(failure), run))


def play_suite(  # noqa: PLR0913 -- one an option of ycbench evaluate
    suite: Suite | Mapping[str, object] | Path | str,
    out: Path | str,
    *,
    policies: Collection[str] = (),
    workers: int | None = None,
    concurrency: int | None = None,
    backend: BackendName = "processes",
    address: str | None = None,
    model: str | None = None,
    base_url: str | None = None,
    headers: Mapping[str, str] | None = None,
    progress: Progress | None = None,
    measure: bool = True,
    overrides: Sequence[JsonObject] = (),
) -> Evaluation:
    """Play what is missing of a suite, measure it, and return the evaluation; as ``ycbench evaluate`` does.

    Finished episodes of the same configuration, seed, policy, settings and version are left alone, failed ones tried
    again. A failed episode is in the evaluation and raises nothing. Whatever ends this process, the same call goes on.

    Args:
        suite: Path of a TOML file; the keys and values of one, where ``presets`` may hold configurations too; or a
            suite. Environment variables change no setting of it.
        out: Folder of the evaluation.
        policies: Labels of the policies to play now; all where none is named.
        workers: How many episodes at once that need the processor; one a processor where nothing is said.
        concurrency: How many episodes at once that wait for a language model; the suite's number where nothing is said.
        backend: ``processes``, ``ray`` or ``dask``.
        address: Of the cluster.
        model: Model of the policies ``llm`` for which the suite names none.
        base_url: Address of its server, likewise.
        headers: HTTP headers for it; values are recorded nowhere.
        progress: Progress callbacks; None for warnings alone.
        measure: Whether metrics are stored beside each run.
        overrides: Settings that options decided, for suite.json: key, value and origin.

    Raises:
        SuiteError: The suite is not valid, or has no such policy.
        PolicyError: There is no such policy, or it refuses a parameter; nothing was played.
        ConfigError: A configuration cannot be used.
        RunBusyError: Another process is playing into the folder.
        RunError: A file in the folder is damaged, or nothing can be written there.
        WorkersError: Processes cannot be had.
        KeyboardInterrupt: Ctrl-C, or the notebook's stop button; what is played is kept, the same call goes on.
    """
    loaded = suite if isinstance(suite, Suite) else suite_of(suite) if isinstance(suite, Mapping) else load_suite(suite)
    if loaded.is_held_out and not loaded.secret_seeds:
        msg = f"suite {loaded.name!r}: got the names of its seeds only; play its TOML file, whose variable holds them"
        raise SuiteError(msg)
    if concurrency is not None:
        loaded = attrs.evolve(loaded, concurrency=concurrency)
    labels = [policy.label for policy in loaded.policies]
    unknown = [policies] if isinstance(policies, str) else [each for each in policies if each not in labels]
    if unknown:
        msg = f"policies: got {unknown[0]!r}, expected labels of the suite: {', '.join(labels)}"
        raise SuiteError(msg)
    chosen = frozenset(policies or labels)
    import_path = tuple(str(Path(each).absolute()) for each in sys.path)
    found = [
        player
        for policy in loaded.policies
        if policy.name != LLM or policy.label in chosen  # no model and no key are needed for what is not played
        for player in _players(policy, loaded.presets, loaded.limits, import_path, model, base_url, headers)
    ]
    session = _Session(
        loaded, Path(out), _absolute(out), progress or _Warning(), chosen, dict(headers or {}), import_path, measure
    )
    return _play(session, found, workers, backend, address, overrides)


def resume_evaluation(  # noqa: PLR0913 -- one an option of ycbench resume
    folder: Path | str,
    trusted: Trusted,
    *,
    workers: int | None = None,
    concurrency: int | None = None,
    progress: Progress | None = None,
    measure: bool = False,
) -> Evaluation:
    """Play what is missing of the evaluation in a folder, with the players that suite.json names.

    Args:
        folder: Folder of an evaluation.
        trusted: Code, servers and keys that suite.json names and that may be used.
        workers: As for ``play_suite``, like all others.
        concurrency: Likewise.
        progress: Likewise.
        measure: Likewise.

    Raises:
        PolicyError: Something that suite.json names has to be trusted by name.
        RunError: A file in the folder is damaged, or of another version.
    """
    there = read_evaluation(folder)
    if there.version != version():
        msg = f"{folder}: was begun by ycbench-env {there.version}, this is {version()}; play it anew in another folder"
        raise RunError(msg)
    for planned in planned_episodes(there.suite, there.players, version()):
        require_trust(planned.identity, trusted, folder)
    suite = there.suite if concurrency is None else attrs.evolve(there.suite, concurrency=concurrency)
    session = _Session(
        suite,
        Path(folder),
        _absolute(folder),
        progress or _Warning(),
        frozenset(policy.label for policy in suite.policies),
        trusted.headers,
        tuple(str(Path(each).absolute()) for each in sys.path),
        measure,
    )
    return _play(session, there.players, workers, "processes", None, there.overrides)


def resume_runs(
    runs: Sequence[Run],
    trusted: Trusted,
    *,
    workers: int | None = None,
    concurrency: int = 1,
    progress: Progress | None = None,
) -> tuple[Episode, ...]:
    """Go on with runs that belong to no suite, and return what became of each.

    Args:
        runs: The runs; finished ones are left alone.
        trusted: Code, servers and keys that the records name and that may be used.
        workers: As for ``play_suite``, like all others.
        concurrency: Likewise.
        progress: Likewise.

    Raises:
        PolicyError: Something that a record names has to be trusted by name.
        KeyboardInterrupt: Ctrl-C; what is played is kept.
    """
    watching = progress or _Warning()
    import_path = tuple(str(Path(each).absolute()) for each in sys.path)
    jobs: list[Job] = []
    for run in runs:
        identity = run.identity
        key = EpisodeKey(identity.policy, str(identity.config.get("name")), str(identity.seed))
        if not run.is_finished or run.lost_turns():
            require_trust(identity, trusted, run.folder)
            planned = PlannedEpisode(key, identity, deliberates=identity.policy == LLM)
            folder = _absolute(run.folder)
            limits = Limits(max_turns=identity.max_turns)
            jobs.append(Job(planned, folder.parent, limits, trusted.headers, import_path, measure=False, folder=folder))
    failures: dict[Path | None, Failure | None] = {}
    watching.begin(len(jobs), len(runs) - len(jobs))
    reports = play_jobs(jobs, workers=workers or processors(), concurrency=concurrency, progress=watching)
    with contextlib.closing(reports):
        for report in reports:
            for message in report.warnings:
                watching.warn(f"{report.job.folder}: {message}")
            failures[report.job.folder] = report.failure
            watching.finished(report.job.key, _resumed(report.job.folder, report.job.key, report.failure))
    return tuple(
        _resumed(
            run.folder,
            EpisodeKey(run.identity.policy, str(run.identity.config.get("name")), str(run.identity.seed)),
            failures.get(_absolute(run.folder)),
        )
        for run in runs
    )


def _resumed(folder: Path | None, key: EpisodeKey, failure: Failure | None) -> Episode:
    run = None if folder is None else read_run(folder)
    if failure is not None:
        return Episode(key, "failed", str(failure), run)
    return Episode(key, "finished" if run is not None and run.is_finished else "missing", None, run)


def _absolute(folder: Path | str) -> Path:
    try:
        return Path(folder).absolute()
    except FileNotFoundError as error:
        msg = f"{folder}: the working directory was removed (getcwd: {error.strerror}); change to one that exists"
        raise RunError(msg) from error


def _players(  # noqa: PLR0913 -- those of play_suite
    policy: SuitePolicy,
    presets: Sequence[SuitePreset],
    limits: Limits,
    import_path: tuple[str, ...],
    model: str | None,
    base_url: str | None,
    headers: Mapping[str, str] | None,
) -> Iterator[Player]:
    """Yield who plays a row under each configuration; whatever is refused is refused before anything is played."""
    if policy.name == LLM:
        for preset in presets:
            yield model_player(policy, preset, model, base_url, headers)
        return
    try:
        if has_own_code(policy.name, policy.parameters):
            waits = check_policy_apart(policy.name, policy.parameters, import_path, limits)
        else:
            waits = waits_for_answers(make_policy(policy.name, **policy.parameters))
    except (TypeError, ValueError) as error:
        msg = str(error) if policy.label == policy.name else f"policy {policy.label!r}: {error}"
        raise PolicyError(msg) from error
    settings: JsonObject = {"parameters": plain_json(policy.parameters, "parameters")}
    for preset in presets:
        yield Player(policy.label, preset.label, settings, None, waits)


def _play(  # noqa: PLR0913 -- those of play_suite
    session: _Session,
    players: Sequence[Player],
    workers: int | None,
    backend: BackendName,
    address: str | None,
    overrides: Sequence[JsonObject],
) -> Evaluation:
    """Play under the lock of the folder, write the files, and return what is there then."""
    folder, suite = session.folder, session.suite
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"{folder}: cannot be made: {error.strerror or error}; choose another folder"
        raise RunError(msg) from error
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(locked(folder / _LOCK_FILE))
        except RunBusyError:
            msg = f"{folder}: another process is playing there; wait for it, or choose another folder"
            raise RunBusyError(msg) from None
        before = _before(folder, session.progress)
        known = _with_earlier(players, before, suite)
        now = dt.datetime.now(dt.UTC).isoformat()
        same = before is not None and before.version == version()
        origin = before.origin if before is not None and same else RunOrigin.here(now)
        write_evaluation(folder, suite, known, origin, overrides)
        try:
            session.play(known, workers or processors(), backend, address)
        finally:  # also after Ctrl-C
            evaluation = read_evaluation(session.given)
            write_results(evaluation)
    return evaluation


def _before(folder: Path, progress: Progress) -> Evaluation | None:
    """Return the evaluation that an earlier command left; None where there is none that can be read.

    Raises:
        RunError: Another version of the program wrote it.
    """
    if not (folder / "suite.json").exists():
        return None
    try:
        return read_evaluation(folder)
    except RunError as error:
        if "got format" in str(error):
            raise
        progress.warn(f"{error}; begun anew")
        return None


def _with_earlier(players: Sequence[Player], before: Evaluation | None, suite: Suite) -> tuple[Player, ...]:
    """Return who plays each row, or who played it before where nobody was asked to play it now."""
    who = {(player.policy, player.preset): player for player in players}
    if before is not None:
        same = {policy.label for policy in before.suite.policies if policy in suite.policies}
        for player in before.players:
            if player.policy in same:
                who.setdefault((player.policy, player.preset), player)
    rows = [(policy.label, preset.label) for policy in suite.policies for preset in suite.presets]
    return tuple(who[row] for row in rows if row in who)
