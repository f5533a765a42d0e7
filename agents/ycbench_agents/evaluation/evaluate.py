"""Playing a suite into the folder of its evaluation: finished episodes are kept, the rest is played."""

from __future__ import annotations

import contextlib
import datetime as dt
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import attrs

from ycbench_agents.evaluation.factory import (
    Trusted,
    model_player,
    own_modules,
    parameters_of,
    require_trust,
    waits_for_answers,
)
from ycbench_agents.evaluation.results import (
    SUITE_FILE,
    Episode,
    Evaluation,
    Player,
    read_evaluation,
    run_folder,
    run_of,
    write_evaluation,
    write_failures,
    write_results,
)
from ycbench_agents.evaluation.suite import LLM, EpisodeKey, Limits, Suite, SuiteError, load_suite
from ycbench_agents.evaluation.workers import BackendName, Job, Progress, check_policy_apart, play_jobs
from ycbench_agents.registry import PolicyError, make_policy, policy_names
from ycbench_agents.runs import Run, RunError, RunIdentity, RunMismatchError, RunOrigin, read_run
from ycbench_agents.runs.run import plain_json, version
from ycbench_agents.runs.store import explained, locked
from ycbench_env.text import JsonObject


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
    players: Sequence[Player] | None = None,
) -> Evaluation:
    """Play what is missing of a suite, measure it, and return the evaluation; as ``ycbench evaluate`` does.

    Finished episodes of the same configuration, seed, policy, settings and version are left alone, failed ones tried
    again. A failed episode is in the evaluation and raises nothing. Whatever ends this process, the same call resumes.

    Args:
        suite: Path of a TOML file; the keys and values of one, where ``presets`` may hold configurations too; or a
            suite. Environment variables change no setting of it.
        out: Folder of the evaluation.
        policies: Labels of the policies to play now; all by default.
        workers: How many episodes at once that need the processor; by default one a processor.
        concurrency: How many episodes at once that wait for a language model; by default the suite's number.
        backend: ``processes``, ``ray`` or ``dask``.
        address: Of the cluster.
        model: Model of the policies ``llm`` for which the suite names none.
        base_url: Address of its server, likewise.
        headers: HTTP headers for it; values are recorded nowhere.
        progress: Progress callbacks; None for warnings alone.
        measure: Whether metrics are stored beside each run.
        overrides: Settings that options decided, for suite.json: key, value and origin.
        players: Who plays each row, as suite.json records it; by default what the rows of the suite describe.

    Raises:
        SuiteError: The suite is not valid, or has no such policy.
        PolicyError: There is no such policy, or it refuses a parameter; nothing was played.
        ConfigError: A configuration cannot be used.
        RunBusyError: Another process is playing into the folder.
        RunError: A file in the folder is damaged, or nothing can be written there.
        WorkersError: Processes are unavailable.
        KeyboardInterrupt: Ctrl-C, or the notebook's stop button; what is played is kept, the same call resumes.
    """
    suite = suite if isinstance(suite, Suite) else load_suite(suite)
    suite = attrs.evolve(suite, concurrency=concurrency or suite.concurrency)
    if suite.is_held_out and not suite.secret_seeds:
        msg = f"suite {suite.name!r}: got the names of its seeds only; play its TOML file, whose variable holds them"
        raise SuiteError(msg)
    labels = [policy.label for policy in suite.policies]
    chosen = [policies] if isinstance(policies, str) else [*policies]
    if unknown := [each for each in chosen if each not in labels or isinstance(policies, str)]:
        msg = f"policies: got {unknown[0]!r}, expected labels of the suite: {', '.join(labels)}"
        raise SuiteError(msg)
    chosen, progress = chosen or labels, progress or Progress()
    if players is None:
        players = _players(suite, chosen, model, base_url, headers)
    folder = _absolute(Path(out))
    with explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / "evaluation.lock"):
        begun = _begin(folder, suite, players, overrides, progress)
        failures = {each.key: each.reason for each in begun.episodes}
        write_failures(folder, failures)
        try:
            jobs: list[Job] = []
            kept: list[RunIdentity] = []
            for each in begun.episodes:
                key, identity = each.key, each.identity
                if identity is None or key.policy not in chosen:
                    continue
                if each.reason is None and _is_done(each.run, measure=measure):
                    kept.append(identity)
                    continue
                place = folder / run_folder(key, identity)
                jobs.append(Job(key, identity, place, suite.limits, each.deliberates, headers or {}, measure))
            own = Counter(each.policy for each in kept if own_modules(each.policy, parameters_of(each)))
            for name, count in own.items():
                what = "finished episodes are" if count > 1 else "finished episode is"
                progress.warn(f"{name}: {count} {what} kept; after changing the class use another --out or label")
            jobs.sort(key=_rank)  # the sort is stable
            progress.begin(len(jobs), len(kept))
            reports = play_jobs(jobs, workers, suite.concurrency, progress, backend, address)
            with contextlib.closing(reports):
                for report in reports:
                    job, reason = report.job, report.failure
                    if failures[job.key] != reason:
                        failures[job.key] = reason
                        write_failures(folder, failures)
                    progress.finished(job.key, Episode(job.key, reason, run_of(job.folder, job.identity)))
        finally:  # also after Ctrl-C
            evaluation = read_evaluation(out)
            write_results(evaluation)
    return evaluation


def _begin(
    folder: Path, suite: Suite, players: Sequence[Player], overrides: Sequence[JsonObject], progress: Progress
) -> Evaluation:
    """Write suite.json, and return the evaluation with what an earlier command has played of it."""
    who = {(player.policy, player.preset): player for player in players}
    origin = RunOrigin.here(dt.datetime.now(dt.UTC).isoformat())
    try:
        before = read_evaluation(folder) if (folder / SUITE_FILE).exists() else None
    except RunMismatchError:  # another version of the program wrote it
        raise
    except RunError as error:
        progress.warn(f"{error}; begun anew")
        before = None
    if before is None:
        write_failures(folder, {})
    else:
        origin = before.origin if before.version == version() else origin
        same = {policy.label for policy in before.suite.policies if policy in suite.policies}
        for player in before.players:  # those of rows that are not asked for now
            if player.policy in same:
                who.setdefault((player.policy, player.preset), player)
    rows = [(policy.label, preset.label) for policy in suite.policies for preset in suite.presets]
    known = [who[row] for row in rows if row in who]
    write_evaluation(folder, suite, known, origin, overrides)
    return read_evaluation(folder)


def _players(
    suite: Suite, chosen: Sequence[str], model: str | None, base_url: str | None, headers: Mapping[str, str] | None
) -> list[Player]:
    """Return who plays the rows of a suite; each policy is made once, so that slips are found first."""
    players: list[Player] = []
    for policy in suite.policies:
        if policy.name == LLM:
            if policy.label in chosen:  # what is not played needs no model and no key
                players += [model_player(policy, each, model, base_url, headers) for each in suite.presets]
            continue
        try:
            if own_modules(policy.name, policy.parameters):
                waits = check_policy_apart(policy.name, policy.parameters, suite.limits)
            else:
                waits = waits_for_answers(make_policy(policy.name, **policy.parameters))
        except (TypeError, ValueError) as error:
            msg = str(error) if policy.label == policy.name else f"policy {policy.label!r}: {error}"
            raise PolicyError(msg) from error
        settings: JsonObject = {"parameters": plain_json(policy.parameters, "parameters")}
        players += [Player(policy.label, preset.label, settings, None, waits) for preset in suite.presets]
    return players


def resume_evaluation(
    folder: Path | str,
    trusted: Trusted,
    *,
    workers: int | None = None,
    concurrency: int | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Play what is missing of the evaluation in a folder, with the players that suite.json names, as ``play_suite``.

    Code, servers and keys that suite.json names must be trusted, or else it is a PolicyError. An evaluation of another
    version is a RunError.
    """
    there = read_evaluation(folder)
    if there.version != version():
        msg = f"{folder}: was begun by ycbench-env {there.version}, this is {version()}; play it anew in another folder"
        raise RunError(msg)
    for identity in (each.identity for each in there.episodes):
        if identity is not None:
            require_trust(identity, trusted, folder)
    return play_suite(
        there.suite,
        folder,
        workers=workers,
        concurrency=concurrency,
        headers=trusted.headers,
        progress=progress,
        measure=False,
        overrides=there.overrides,
        players=there.players,
    )


def resume_runs(
    runs: Sequence[Run],
    trusted: Trusted,
    *,
    workers: int | None = None,
    concurrency: int = 1,
    progress: Progress | None = None,
) -> tuple[Episode, ...]:
    """Resume runs that belong to no suite, and return what became of each, as ``resume_evaluation`` does."""
    progress = progress or Progress()
    given = {_absolute(run.folder): run.folder for run in runs}
    episodes: dict[Path, Episode] = {}
    jobs: list[Job] = []
    for run in runs:
        identity, folder = run.identity, _absolute(run.folder)
        key = EpisodeKey(identity.policy, str(identity.config.get("name")), str(identity.seed))
        episodes[folder] = Episode(key, None, run)
        if not _is_done(run, measure=False):
            require_trust(identity, trusted, run.folder)
            limits, deliberates = Limits(max_turns=identity.max_turns), identity.policy == LLM
            jobs.append(Job(key, identity, folder, limits, deliberates, trusted.headers, measure=False))
    progress.begin(len(jobs), len(runs) - len(jobs))
    with contextlib.closing(play_jobs(jobs, workers, concurrency, progress)) as reports:
        for report in reports:
            key, folder = report.job.key, report.job.folder
            episodes[folder] = Episode(key, report.failure, read_run(given[folder]))
            progress.finished(key, episodes[folder])
    return tuple(episodes.values())


def _absolute(folder: Path) -> Path:
    try:
        return folder.absolute()
    except FileNotFoundError as error:
        msg = f"{folder}: the working directory was removed (getcwd: {error.strerror}); change to one that exists"
        raise RunError(msg) from error


def _is_done(run: Run | None, *, measure: bool) -> bool:
    """Return whether an episode is played, and measured where that is wanted, and no turn of it is lost."""
    if run is None or not run.is_finished or run.lost_turns():
        return False
    from ycbench_agents.evaluation.metrics import read_metrics  # noqa: PLC0415 -- not every command needs it

    return not measure or read_metrics(run.folder) is not None


def _rank(job: Job) -> int:
    """Return the place of an episode by its length: the longest are begun first."""
    name = job.identity.policy
    return {"market_roller": 0, "expert": 2}.get(name, 3 if name in policy_names() else 1)
