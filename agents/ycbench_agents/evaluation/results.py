"""An evaluation in its folder: its episodes and files, the leaderboard, and results.json, which depends on no clock."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import attrs

from ycbench_agents.base import Json, JsonObject
from ycbench_agents.evaluation.suite import EpisodeKey, Suite
from ycbench_agents.files import FileError, parse_json, read_record, structure, to_json, unstructure, write_record
from ycbench_agents.runs import Run, RunError, RunIdentity, RunOrigin, RunOutcome, RunWarning, find_run
from ycbench_agents.runs.run import Tally, identity_differences, plain_json, version
from ycbench_env import MissingExtraError

if TYPE_CHECKING:
    import pandas as pd

    from ycbench_agents.evaluation.metrics import RunMetrics


SUITE_FILE: Final = "suite.json"
RESULTS_FILE: Final = "results.json"
FAILURES_FILE: Final = "failures.json"
SEEDS_FILE: Final = "seeds.json"
"""The seeds of a held-out suite; private, like the whole folder but results.json."""
EVALUATION_FORMAT: Final = 2
"""Version of the files of an evaluation."""

EpisodeStatus: TypeAlias = Literal["finished", "failed", "missing"]
"""Of a planned episode: played to its end, ended by an error, or not played to its end yet."""

_BANKRUPTCY: Final = "bankruptcy"


# ---------------------------------------------------------------- episodes


@attrs.frozen
class Failure:
    """Why an episode failed.

    Args:
        error: Class of the error, like ``TurnError``, or ``TimeLimit``, ``MemoryLimit``, ``ProcessEnded``.
        text: The error's text, on one line.
    """

    error: str
    text: str = ""

    def __str__(self) -> str:
        """Return it for people to read."""
        return f"{self.error}: {self.text}" if self.text else self.error


@attrs.frozen
class Player:
    """Who plays a row of a suite under one configuration, as the records of its runs tell.

    Args:
        policy: Label of the suite's policy.
        preset: Label of the configuration.
        settings: Its public settings.
        model: Name of its model, None for a policy without.
        deliberates: Whether it waits for answers from outside.
    """

    policy: str
    preset: str
    settings: JsonObject
    model: str | None = None
    deliberates: bool = False


@attrs.frozen
class PlannedEpisode:
    """An episode of a suite and the run that plays it.

    Args:
        key: Which episode.
        identity: Identity of its run.
        deliberates: Whether its policy waits for answers from outside.
    """

    key: EpisodeKey
    identity: RunIdentity = attrs.field(repr=False)
    deliberates: bool = False

    @property
    def folder_name(self) -> str:
        """Name of the run's folder."""
        key = self.key
        again = [f"repeat{key.repeat}"] if key.repeat > 1 else []
        return self.identity.folder_name(key.policy, self.identity.model or "", key.preset, f"seed{key.seed}", *again)


@attrs.frozen(slots=False)
class Episode:
    """A planned episode and what became of it.

    Args:
        key: Which episode.
        status: finished, failed or missing.
        reason: Why it failed; None otherwise.
        run: Its run; None where there is none. A finished episode has a finished run.
    """

    key: EpisodeKey
    status: EpisodeStatus
    reason: str | None = None
    run: Run | None = None

    @property
    def is_bankrupt(self) -> bool:
        """Whether it is finished and the company went bankrupt."""
        return self._outcome is not None and self._outcome.terminal_reason == _BANKRUPTCY

    @property
    def final_funds_cents(self) -> int | None:
        """Funds at the end, in cents, negative of a bankrupt company; None where it is not finished."""
        return None if self._outcome is None else self._outcome.final_funds_cents

    @property
    def score_cents(self) -> int | None:
        """Score in cents: final funds, at least 0; None where it is not finished."""
        funds = self.final_funds_cents
        return None if funds is None else max(0, funds)

    @property
    def _outcome(self) -> RunOutcome | None:
        return self.run.outcome if self.status == "finished" and self.run is not None else None

    @functools.cached_property
    def metrics(self) -> RunMetrics | None:
        """Metrics of the run, read from its folder or else measured in seconds; None where it is not finished.

        Raises:
            MetricsError: A turn turns out otherwise than recorded.
            RunError: The record is damaged.
        """
        from ycbench_agents.evaluation.metrics import measure_run, read_metrics  # noqa: PLC0415 -- slow to import

        if self.status != "finished" or self.run is None:
            return None
        return read_metrics(self.run.folder) or measure_run(self.run)


@attrs.frozen(slots=False)
class Evaluation:
    """An evaluation as it lies in its folder.

    Args:
        folder: The folder.
        suite: What was to be played.
        episodes: Every planned episode, in the order of the suite.
        players: Who plays each policy under each configuration, as far as it was played.
        version: Version of ycbench-env, which is part of every run's identity.
        origin: Where the first command of this version began it.
        overrides: Settings that options and environment variables decided: key, value and origin.
    """

    folder: Path
    suite: Suite
    episodes: tuple[Episode, ...]
    players: tuple[Player, ...]
    version: str
    origin: RunOrigin
    overrides: tuple[JsonObject, ...] = ()

    def model(self, policy: str, preset: str) -> str | None:
        """Return the name of the model that plays a row; None of one without, or that was not played."""
        return next((each.model for each in self.players if (each.policy, each.preset) == (policy, preset)), None)

    def frame(self) -> pd.DataFrame:
        """Return one row an episode: key, status, result, and each metric as a column.

        Columns: policy, preset, seed, repeat, status, reason, ending, final_funds_cents, score_cents (missing where the
        episode is not finished), turns, model, then the metrics. An episode that cannot be measured counts as failed.

        Raises:
            MissingExtraError: pandas is not installed.

        Warns:
            RunWarning: An episode cannot be measured.
        """
        try:
            import pandas as pd  # noqa: PLC0415 -- of an extra, slow to import
        except ImportError as error:
            msg = "a frame of an evaluation needs pandas: pip install '.[evaluation]' in the folder of this project"
            raise MissingExtraError(msg) from error
        from ycbench_agents.evaluation.metrics import metrics_dtypes, metrics_row  # noqa: PLC0415 -- slow to import

        rows: list[dict[str, object]] = []
        for episode in self.episodes:
            metrics, episode = _measured(episode)  # noqa: PLW2901 -- one that cannot be measured has failed
            outcome = episode.run.outcome if episode.status == "finished" and episode.run else None
            row = {
                **attrs.asdict(episode.key),
                "status": episode.status,
                "reason": episode.reason,
                "ending": None if outcome is None else outcome.terminal_reason or "cut_off",
                "final_funds_cents": episode.final_funds_cents,
                "score_cents": episode.score_cents,
                "turns": None if outcome is None else outcome.turns,
                "model": self.model(episode.key.policy, episode.key.preset),
            }
            rows.append({**({} if metrics is None else metrics_row(metrics)), **row})
        dtypes = {
            **dict.fromkeys(("policy", "preset", "seed", "status", "reason", "ending", "model"), "string"),
            **dict.fromkeys(("repeat", "final_funds_cents", "score_cents", "turns"), "Int64"),
        }
        columns = ["policy", "preset", "seed", "repeat", "status", "reason", "ending", "final_funds_cents"]
        columns += ["score_cents", "turns", "model"]
        of_metrics = {name: kind for name, kind in metrics_dtypes().items() if name not in columns}
        return pd.DataFrame(rows, columns=[*columns, *of_metrics]).astype({**of_metrics, **dtypes})


def _measured(episode: Episode) -> tuple[RunMetrics | None, Episode]:
    """Return the metrics of an episode, and the episode, failed where it cannot be measured."""
    try:
        return episode.metrics, episode
    except Exception as error:  # noqa: BLE001 -- a damaged turn may lead to anything; the others go on
        reason = f"cannot be measured: {type(error).__name__}: {error}"
        warnings.warn(f"{episode.key}: {reason}", RunWarning, stacklevel=3)
        return None, attrs.evolve(episode, status="failed", reason=reason)


# ---------------------------------------------------------------- files


@attrs.frozen
class _EvaluationFile:
    """suite.json without its format."""

    digest: str
    suite: JsonObject
    players: tuple[Player, ...]
    version: str
    origin: RunOrigin
    overrides: tuple[JsonObject, ...]


@attrs.frozen
class _FailureRow:
    """An entry of failures.json."""

    policy: str
    preset: str
    seed: str
    repeat: int
    error: str
    text: str


def _read(path: Path) -> JsonObject | None:
    """Return the object in a file of an evaluation without its format, None where there is no such file.

    Raises:
        RunError: It cannot be read, or is of another format.
    """
    try:
        values = parse_json(read_record(path), path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except FileError as error:
        raise RunError(str(error)) from None
    found = values.get("format") if isinstance(values, dict) else None
    if not isinstance(values, dict) or found != EVALUATION_FORMAT:
        by = " (ycbench-env 0.1.0 before this change wrote it)" if found == 1 else ""
        msg = (
            f"{path}: got format {found!r}{by}, expected {EVALUATION_FORMAT}; play the suite again into another folder"
        )
        raise RunError(msg)
    return {key: value for key, value in values.items() if key != "format"}


def planned_episodes(suite: Suite, players: Iterable[Player], of_version: str) -> tuple[PlannedEpisode, ...]:
    """Return the planned episodes whose seeds and players are known, in the order of the suite."""
    who = {(player.policy, player.preset): player for player in players}
    names = {policy.label: policy.name for policy in suite.policies}
    configs = {
        preset.label: (plain_json(preset.config.to_dict(), "config"), preset.config.digest())
        for preset in suite.presets
    }
    planned: list[PlannedEpisode] = []
    for key in suite.episodes():
        player, seed, (config, digest) = who.get((key.policy, key.preset)), suite.seed_of(key.seed), configs[key.preset]
        if player is not None and seed is not None and isinstance(config, dict):
            identity = RunIdentity(
                version=of_version,
                config=config,
                config_digest=digest,
                seed=seed,
                policy=names[key.policy],
                settings=player.settings,
                model=player.model,
                max_turns=suite.limits.max_turns,
            )
            planned.append(PlannedEpisode(key, identity, player.deliberates))
    return tuple(planned)


def read_evaluation(folder: Path | str) -> Evaluation:
    """Return the evaluation in a folder: every planned episode and what became of it.

    Raises:
        RunError: There is none, or a file of it is damaged or of another format.
    """
    folder = Path(folder)
    path = folder / SUITE_FILE
    values = _read(path)
    if values is None:
        msg = f"{folder}: there is no {SUITE_FILE}; expected the folder of an evaluation"
        raise RunError(msg)
    try:
        file = structure(values, _EvaluationFile, path)
        suite = Suite.from_dict(file.suite, path, _read_seeds(folder))
    except FileError as error:
        raise RunError(str(error)) from None
    failures = read_failures(folder)
    planned = {each.key: each for each in planned_episodes(suite, file.players, file.version)}
    episodes = tuple(_episode(folder, key, planned.get(key), failures.get(key)) for key in suite.episodes())
    return Evaluation(folder, suite, episodes, file.players, file.version, file.origin, file.overrides)


def _read_seeds(folder: Path) -> tuple[int, ...]:
    values = _read(folder / SEEDS_FILE)
    seeds = [] if values is None else values.get("seeds")
    if not isinstance(seeds, list) or not all(type(seed) is int for seed in seeds):
        msg = f"{folder / SEEDS_FILE}: expected a list of seeds; the file was changed"
        raise RunError(msg)
    return tuple(seed for seed in seeds if isinstance(seed, int))


def _episode(folder: Path, key: EpisodeKey, planned: PlannedEpisode | None, failure: Failure | None) -> Episode:
    run = None if planned is None else run_of(folder, planned)
    if failure is not None:
        return Episode(key, "failed", str(failure), run)
    return Episode(key, "finished" if run is not None and run.is_finished else "missing", None, run)


def run_of(folder: Path, planned: PlannedEpisode) -> Run | None:
    """Return the run of an episode; None where there is none, or a damaged or different one."""
    place = folder / planned.folder_name
    try:
        run = None if place.is_symlink() else find_run(place)  # a link may lead out of the folder
    except RunError:
        return None
    return None if run is None or identity_differences(run.identity, planned.identity) else run


def write_evaluation(
    folder: Path, suite: Suite, players: Sequence[Player], origin: RunOrigin, overrides: Sequence[JsonObject]
) -> None:
    """Write suite.json, and of a held-out suite seeds.json.

    Raises:
        FileError: The system refuses.
    """
    file = _EvaluationFile(suite.digest(), suite.to_dict(), tuple(players), version(), origin, tuple(overrides))
    _write(folder / SUITE_FILE, unstructure(file))
    if suite.is_held_out:
        _write(folder / SEEDS_FILE, {"seeds": [*suite.secret_seeds]})


def _write(path: Path, values: Mapping[str, Json]) -> None:
    write_record(path, to_json({"format": EVALUATION_FORMAT, **values}, indent=2) + "\n")


def read_failures(folder: Path) -> dict[EpisodeKey, Failure]:
    """Return why episodes failed; {} where there is no failures.json.

    Raises:
        RunError: It is damaged.
    """
    path = folder / FAILURES_FILE
    values = _read(path)
    try:
        rows = [] if values is None else structure(values.get("failures"), list[_FailureRow], path)
    except FileError as error:
        msg = f"{error}; remove it, and play the suite again: what failed is tried again"
        raise RunError(msg) from None
    return {EpisodeKey(r.policy, r.preset, r.seed, r.repeat): Failure(r.error, r.text) for r in rows}


def write_failures(folder: Path, failures: Mapping[EpisodeKey, Failure]) -> None:
    """Replace failures.json; where nothing failed there is none.

    Raises:
        FileError: The system refuses.
    """
    path = folder / FAILURES_FILE
    if failures:
        rows: list[Json] = [
            {**attrs.asdict(key), **attrs.asdict(why)} for key, why in sorted(failures.items(), key=lambda row: row[0])
        ]
        _write(path, {"failures": rows})
    else:
        path.unlink(missing_ok=True)


def write_results(evaluation: Evaluation) -> None:
    """Write results.json.

    Raises:
        FileError: The system refuses.
    """
    write_record(evaluation.folder / RESULTS_FILE, to_json(results_document(evaluation), indent=2) + "\n")


# ---------------------------------------------------------------- the leaderboard


@attrs.frozen
class LeaderboardRow:
    """A policy under one configuration.

    A score is the mean over seeds, of the mean over repeats, of the final funds, where a bankrupt company counts 0.

    Args:
        policy: Label of the policy.
        preset: Label of the configuration.
        planned: Episodes that the suite has.
        finished: Those played to their end.
        failed: Those ended by an error.
        missing: Those not played to their end yet.
        bankrupt: Finished ones whose company went bankrupt.
        score_cents: Score over the finished ones, to the cent (half to even); None where nothing is finished.
        score_failed_as_zero_cents: Score where failed episodes count 0 too; None where none is finished or failed.
        final_funds_cents: Mean of the raw final funds of the finished ones, debts included.
        survived: Finished ones that did not go bankrupt; a failed one did not survive.
        model: Name of the model that plays it; None of a policy without.
    """

    policy: str
    preset: str
    planned: int
    finished: int
    failed: int
    missing: int
    bankrupt: int
    score_cents: int | None
    score_failed_as_zero_cents: int | None
    final_funds_cents: int | None
    survived: int
    model: str | None = None

    @property
    def is_complete(self) -> bool:
        """Whether its score counts: nothing failed and nothing is missing."""
        return self.finished == self.planned

    @property
    def survival_fraction(self) -> float | None:
        """Survived episodes among those finished or failed, 0 to 1; None where there are none."""
        ended = self.finished + self.failed
        return self.survived / ended if ended else None


def leaderboard(evaluation: Evaluation) -> tuple[LeaderboardRow, ...]:
    """Return a row for each configuration and policy, by score with failures as 0, those with missing episodes last."""
    groups: dict[tuple[str, str], list[Episode]] = {}
    for episode in evaluation.episodes:
        groups.setdefault((episode.key.preset, episode.key.policy), []).append(episode)
    presets = [preset.label for preset in evaluation.suite.presets]

    def place(row: LeaderboardRow) -> tuple[int, bool, bool, int, str]:
        score = row.score_failed_as_zero_cents
        return presets.index(row.preset), row.missing > 0, score is None, -(score or 0), row.policy

    rows = (
        _row(policy, preset, episodes, evaluation.model(policy, preset))
        for (preset, policy), episodes in groups.items()
    )
    return tuple(sorted(rows, key=place))


def _row(policy: str, preset: str, episodes: Sequence[Episode], model: str | None) -> LeaderboardRow:
    statuses = [episode.status for episode in episodes]
    bankrupt = sum(episode.is_bankrupt for episode in episodes)
    with_zero = [(each.key.seed, 0 if each.status == "failed" else each.score_cents) for each in episodes]
    return LeaderboardRow(
        policy=policy,
        preset=preset,
        planned=len(episodes),
        finished=statuses.count("finished"),
        failed=statuses.count("failed"),
        missing=statuses.count("missing"),
        bankrupt=bankrupt,
        score_cents=mean_over_seeds((each.key.seed, each.score_cents) for each in episodes),
        score_failed_as_zero_cents=mean_over_seeds(with_zero),
        final_funds_cents=mean_over_seeds((each.key.seed, each.final_funds_cents) for each in episodes),
        survived=statuses.count("finished") - bankrupt,
        model=model,
    )


def mean_over_seeds(values: Iterable[tuple[str, int | None]]) -> int | None:
    """Return the mean over seeds of the means over repeats, in whole cents (half to even), exact in any order.

    Args:
        values: Seed and value of each episode; None does not count.

    Returns:
        The mean, None where there are no values.
    """
    by_seed: dict[str, list[int]] = {}
    for seed, value in values:
        if value is not None:
            by_seed.setdefault(seed, []).append(value)
    means = [Fraction(sum(each), len(each)) for each in by_seed.values()]
    return round(sum(means, Fraction(0)) / len(means)) if means else None


# ---------------------------------------------------------------- usage of language models


@attrs.frozen
class Usage:
    """What some runs asked of language models; a sum is None where no turn tells.

    Args:
        runs: How many runs.
        turns: Their recorded turns; each is a reply.
        prompt_tokens: Tokens of prompts.
        completion_tokens: Tokens of replies.
        unknown_turns: Turns without a number of tokens; the sums are too low by those.
        cost_usd: Cost, in dollars.
        unknown_cost_turns: Turns without a cost.
    """

    runs: int
    turns: int
    prompt_tokens: int | None
    completion_tokens: int | None
    unknown_turns: int
    cost_usd: Decimal | None
    unknown_cost_turns: int

    @property
    def tokens(self) -> int | None:
        """Tokens of prompts and replies; None if no turn tells of both."""
        if self.prompt_tokens is None or self.completion_tokens is None:
            return None
        return self.prompt_tokens + self.completion_tokens

    def to_dict(self) -> JsonObject:
        """Return it as JSON values."""
        return {**attrs.asdict(self), "cost_usd": None if self.cost_usd is None else float(self.cost_usd)}


def usage_of(episodes: Iterable[Episode], *, with_result: bool | None = None) -> Usage | None:
    """Return token and cost totals, or None if no run called a model.

    Args:
        episodes: Planned episodes.
        with_result: Whether only finished ones count, or only the others; None for all.
    """
    parts = [
        part
        for episode in episodes
        if episode.run is not None and (with_result is None or (episode.status == "finished") == with_result)
        if (part := _usage(episode.run)) is not None
    ]
    if not parts:
        return None

    def total(name: str) -> Decimal | None:
        values = [Decimal(value) for part in parts if (value := getattr(part, name)) is not None]
        return sum(values, Decimal(0)) if values else None

    prompt, completion = total("prompt_tokens"), total("completion_tokens")
    return Usage(
        runs=len(parts),
        turns=sum(part.turns for part in parts),
        prompt_tokens=None if prompt is None else int(prompt),
        completion_tokens=None if completion is None else int(completion),
        unknown_turns=sum(part.unknown_turns for part in parts),
        cost_usd=total("cost_usd"),
        unknown_cost_turns=sum(part.unknown_cost_turns for part in parts),
    )


def _usage(run: Run) -> Usage | None:
    turns, totals = run.outcome.turns, run.outcome.totals
    if not run.is_finished:
        turns, totals = _counted(run)
    if not turns or not any(name in totals for name in ("prompt_tokens", "completion_tokens", "cost_usd")):
        return None
    sums: dict[str, tuple[Decimal | None, int]] = {}
    for name in ("prompt_tokens", "completion_tokens", "cost_usd"):
        total = totals.get(name)
        value, unknown = (total.get("sum"), total.get("unknown_turns")) if isinstance(total, dict) else (None, None)
        known = isinstance(value, int | float) and isinstance(unknown, int)
        sums[name] = (Decimal(str(value)), int(str(unknown))) if known else (None, turns)
    prompt, completion, cost = sums["prompt_tokens"], sums["completion_tokens"], sums["cost_usd"]
    return Usage(
        runs=1,
        turns=turns,
        prompt_tokens=None if prompt[0] is None else int(prompt[0]),
        completion_tokens=None if completion[0] is None else int(completion[0]),
        unknown_turns=max(prompt[1], completion[1]),
        cost_usd=cost[0],
        unknown_cost_turns=cost[1],
    )


def _counted(run: Run) -> tuple[int, JsonObject]:
    """Return the turns of a run without a result, and the sums of their traces, as far as they can be read."""
    tally = Tally(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RunWarning)  # of a last line that was cut short
        try:
            for turn in run.turns():
                if turn.trace is None:  # as of every turn of a policy that asks nobody
                    break
                tally.add(turn)
        except RunError:
            pass
    return tally.turns, tally.outcome("stopped", "").totals


# ---------------------------------------------------------------- results.json


def results_document(evaluation: Evaluation) -> JsonObject:
    """Return the content of results.json; of a held-out suite without texts of errors, which may tell of a world."""
    suite, episodes = evaluation.suite, evaluation.episodes
    statuses = [episode.status for episode in episodes]
    rows: list[Json] = []
    for row in leaderboard(evaluation):
        own = [each for each in episodes if (each.key.policy, each.key.preset) == (row.policy, row.preset)]
        rows.append(
            {
                **attrs.asdict(row),
                "is_complete": row.is_complete,
                "survival_fraction": row.survival_fraction,
                "usage": _usages(own),
            }
        )
    return {
        "format": EVALUATION_FORMAT,
        "suite": suite.name,
        "suite_digest": suite.digest(),
        "version": evaluation.version,
        "planned": len(statuses),
        "finished": statuses.count("finished"),
        "failed": statuses.count("failed"),
        "missing": statuses.count("missing"),
        "usage": _usages(episodes),
        "leaderboard": rows,
        "episodes": [_episode_json(episode, is_secret=suite.is_held_out) for episode in episodes],
    }


def _usages(episodes: Sequence[Episode]) -> JsonObject:
    """Return the usage of runs with a result, and of those that failed or are not finished."""
    parts = {"finished": usage_of(episodes, with_result=True), "without_result": usage_of(episodes, with_result=False)}
    return {name: None if part is None else part.to_dict() for name, part in parts.items()}


def _episode_json(episode: Episode, *, is_secret: bool) -> JsonObject:
    outcome = episode.run.outcome if episode.status == "finished" and episode.run is not None else None
    reason = episode.reason.partition(":")[0] if is_secret and episode.reason is not None else episode.reason
    return {
        **attrs.asdict(episode.key),
        "status": episode.status,
        "reason": reason,
        "final_funds_cents": episode.final_funds_cents,
        "score_cents": episode.score_cents,
        "terminal_reason": None if outcome is None else outcome.terminal_reason,
        "turns": None if outcome is None else outcome.turns,
    }
