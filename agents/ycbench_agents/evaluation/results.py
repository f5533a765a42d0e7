"""An evaluation in its folder: its episodes and files, the leaderboard, and results.json, which depends on no clock."""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar, cast

import attrs

from ycbench_agents.evaluation.suite import EpisodeKey, Suite
from ycbench_agents.files import structure, to_json, unstructure, write_record
from ycbench_agents.runs import Run, RunError, RunIdentity, RunOrigin, RunOutcome, RunWarning, find_run
from ycbench_agents.runs.run import Tally, json_differences, plain_json, read_object, run_errors, version
from ycbench_agents.runs.store import explained
from ycbench_env.errors import needs_extra
from ycbench_env.text import Json, JsonObject

if TYPE_CHECKING:
    import pandas as pd

    from ycbench_agents.evaluation.metrics import RunMetrics
else:

    class _Pandas:
        """Imports pandas, which takes half a second, when one of its names is needed, be it by ``get_type_hints``."""

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401 -- anything of pandas
            with needs_extra("evaluation", "a frame of an evaluation needs pandas"):
                import pandas  # noqa: PLC0415, ICN001 -- see above
            return getattr(pandas, name)

    pd = _Pandas()

SUITE_FILE: Final = "suite.json"
RESULTS_FILE: Final = "results.json"
FAILURES_FILE: Final = "failures.json"
SEEDS_FILE: Final = "seeds.json"
"""The seeds of a held-out suite; private, like the whole folder but results.json."""
EVALUATION_FORMAT: Final = 2
"""Version of the files of an evaluation."""

EpisodeStatus: TypeAlias = Literal["finished", "failed", "missing"]
"""Played to its end, ended by an error, or not played to its end yet."""

_FRAME: Final = {
    **dict.fromkeys(("policy", "preset", "seed"), "string"),
    "repeat": "Int64",
    **dict.fromkeys(("status", "reason", "ending"), "string"),
    **dict.fromkeys(("final_funds_cents", "score_cents", "turns"), "Int64"),
    "model": "string",
}
"""Columns of a frame before the metrics, with their types."""

_T = TypeVar("_T")


# ---------------------------------------------------------------- episodes


@attrs.frozen
class Player:
    """Who plays a row of a suite under one configuration, as its runs record it."""

    policy: str  # label of the suite's policy
    preset: str  # label of the configuration
    settings: JsonObject  # its public settings
    model: str | None = None
    deliberates: bool = False  # whether it waits for answers from outside


@attrs.frozen(slots=False)
class Episode:
    """A planned episode and its result."""

    key: EpisodeKey
    reason: str | None = None  # why it failed: class of the error, and its text
    run: Run | None = None
    identity: RunIdentity | None = attrs.field(default=None, repr=False)  # None where its seed or player is unknown
    deliberates: bool = False  # whether its policy waits for answers from outside

    @property
    def status(self) -> EpisodeStatus:
        """Failed if there is a reason, finished if its run is."""
        if self.reason is not None:
            return "failed"
        return "finished" if self.run is not None and self.run.is_finished else "missing"

    @property
    def outcome(self) -> RunOutcome | None:
        """Outcome of its run; None if it is not finished, like all that follows."""
        return self.run.outcome if self.run is not None and self.status == "finished" else None

    @property
    def final_funds_cents(self) -> int | None:
        """Funds at the end, in cents; negative if the company is bankrupt."""
        return None if self.outcome is None else self.outcome.final_funds_cents

    @property
    def score_cents(self) -> int | None:
        """Score in cents: final funds, at least 0."""
        funds = self.final_funds_cents
        return None if funds is None else max(0, funds)

    @functools.cached_property
    def metrics(self) -> RunMetrics | None:
        """Metrics of the run, read from its folder or else measured in seconds.

        A damaged record is a RunError, or a MetricsError if a turn turns out otherwise than recorded.
        """
        from ycbench_agents.evaluation.metrics import measure_run, read_metrics  # noqa: PLC0415 -- slow to import

        if self.run is None or self.outcome is None:
            return None
        return read_metrics(self.run.folder) or measure_run(self.run)

    def row(self) -> JsonObject:
        """Return it as results.json has it."""
        outcome = self.outcome
        return {
            **attrs.asdict(self.key),
            "status": self.status,
            "reason": self.reason,
            "final_funds_cents": self.final_funds_cents,
            "score_cents": self.score_cents,
            "terminal_reason": None if outcome is None else outcome.terminal_reason,
            "turns": None if outcome is None else outcome.turns,
        }


@attrs.frozen(slots=False)
class Evaluation:
    """The content of an evaluation's folder."""

    folder: Path
    suite: Suite
    episodes: tuple[Episode, ...]  # every planned one, in the order of the suite
    players: tuple[Player, ...]  # as far as rows were played
    version: str  # of ycbench-env, which is part of every run's identity
    origin: RunOrigin  # where the first command of this version began it
    overrides: tuple[JsonObject, ...] = ()  # settings from options and variables: key, value and origin

    def model(self, policy: str, preset: str) -> str | None:
        """Return the name of the model that plays a row; None of one without, or that was not played."""
        return next((each.model for each in self.players if (each.policy, each.preset) == (policy, preset)), None)

    def frame(self) -> pd.DataFrame:
        """Return one row an episode: key, status, result, and each metric as a column.

        Columns: policy, preset, seed, repeat, status, reason, ending, final_funds_cents, score_cents (missing where the
        episode is not finished), turns, model, then the metrics. An episode that cannot be measured counts as failed,
        with a RunWarning.
        """
        from ycbench_agents.evaluation.metrics import metrics_dtypes, metrics_row  # noqa: PLC0415 -- slow to import

        rows: list[dict[str, object]] = []
        for episode in self.episodes:
            try:
                metrics = episode.metrics
            except Exception as error:  # noqa: BLE001 -- a damaged turn may lead to anything; the others go on
                reason = f"cannot be measured: {type(error).__name__}: {error}"
                warnings.warn(f"{episode.key}: {reason}", RunWarning, stacklevel=2)
                metrics, episode = None, attrs.evolve(episode, reason=reason)  # noqa: PLW2901 -- as documented
            ending = None if episode.outcome is None else episode.outcome.terminal_reason or "cut_off"
            model = self.model(episode.key.policy, episode.key.preset)
            measured = {} if metrics is None else metrics_row(metrics)
            rows.append({**measured, **episode.row(), "ending": ending, "model": model})
        dtypes: dict[str, Any] = {**_FRAME, **{k: v for k, v in metrics_dtypes().items() if k not in _FRAME}}
        return pd.DataFrame(rows, columns=list(dtypes)).astype(dtypes)


# ---------------------------------------------------------------- files


@attrs.frozen
class _EvaluationFile:
    """Content of suite.json."""

    format: int
    digest: str
    suite: Suite
    players: tuple[Player, ...]
    version: str
    origin: RunOrigin
    overrides: tuple[JsonObject, ...]


@attrs.frozen
class _Failure:
    """An item of failures.json."""

    policy: str
    preset: str
    seed: str
    repeat: int
    error: str  # class of the error
    text: str


def _read(path: Path, kind: type[_T], key: str | None = None) -> _T | None:
    """Return the content of a file of an evaluation, or of one key of it; None where there is no such file."""
    try:
        with run_errors():
            content = read_object(path, (EVALUATION_FORMAT,), "play the suite into another folder")
            return structure(content if key is None else content.get(key), kind, path)
    except FileNotFoundError:
        return None


def _write(path: Path, content: object) -> None:
    write_record(path, to_json(unstructure(content), indent=2) + "\n")


def run_folder(key: EpisodeKey, identity: RunIdentity) -> str:
    """Return the name of the folder of an episode's run."""
    again = [f"repeat{key.repeat}"] if key.repeat > 1 else []
    return identity.folder_name(key.policy, identity.model or "", key.preset, f"seed{key.seed}", *again)


def read_evaluation(folder: Path | str) -> Evaluation:
    """Return the evaluation in a folder.

    Raises:
        RunError: There is none, or a file of it is damaged.
        RunMismatchError: A file of it has another format.
    """
    folder = Path(folder)
    file = _read(folder / SUITE_FILE, _EvaluationFile)
    if file is None:
        msg = f"{folder}: there is no {SUITE_FILE}; expected the folder of an evaluation"
        raise RunError(msg)
    suite = attrs.evolve(file.suite, secret_seeds=_read(folder / SEEDS_FILE, tuple[int, ...], "seeds") or ())
    failures = {
        EpisodeKey(row.policy, row.preset, row.seed, row.repeat): f"{row.error}: {row.text}" if row.text else row.error
        for row in _read(folder / FAILURES_FILE, tuple[_Failure, ...], "failures") or ()
    }
    players = {(player.policy, player.preset): player for player in file.players}
    names = {policy.label: policy.name for policy in suite.policies}
    configs = {preset.label: preset.config for preset in suite.presets}
    values = {label: cast("JsonObject", plain_json(each.to_dict(), "config")) for label, each in configs.items()}
    digests = {label: each.digest() for label, each in configs.items()}
    episodes: list[Episode] = []
    for key in suite.episodes():
        player, seed, reason = players.get((key.policy, key.preset)), suite.seed_of(key.seed), failures.get(key)
        if player is None or seed is None:
            episodes.append(Episode(key, reason))
            continue
        identity = RunIdentity(
            version=file.version,
            config=values[key.preset],
            config_digest=digests[key.preset],
            seed=seed,
            policy=names[key.policy],
            settings=player.settings,
            model=player.model,
            max_turns=suite.limits.max_turns,
        )
        run = run_of(folder / run_folder(key, identity), identity)
        episodes.append(Episode(key, reason, run, identity, player.deliberates))
    return Evaluation(folder, suite, tuple(episodes), file.players, file.version, file.origin, file.overrides)


def run_of(folder: Path, identity: RunIdentity) -> Run | None:
    """Return the run in a folder; None where there is none, or a damaged or different one."""
    try:
        run = None if folder.is_symlink() else find_run(folder)  # a link may lead out of the evaluation
    except RunError:
        return None
    if run is None or any(json_differences(run.identity.comparable(), identity.comparable())):
        return None
    return run


def write_evaluation(
    folder: Path, suite: Suite, players: Sequence[Player], origin: RunOrigin, overrides: Sequence[JsonObject]
) -> None:
    """Write suite.json, and of a held-out suite seeds.json; FileError where the system refuses."""
    file = _EvaluationFile(
        EVALUATION_FORMAT, suite.digest(), suite, tuple(players), version(), origin, tuple(overrides)
    )
    _write(folder / SUITE_FILE, file)
    if suite.is_held_out:
        _write(folder / SEEDS_FILE, {"format": EVALUATION_FORMAT, "seeds": suite.secret_seeds})


def write_failures(folder: Path, reasons: Mapping[EpisodeKey, str | None]) -> None:
    """Replace failures.json; where nothing failed there is none."""
    rows: list[_Failure] = []
    for key, reason in sorted(reasons.items()):
        if reason is not None:
            error, _, text = reason.partition(": ")
            rows.append(_Failure(**attrs.asdict(key), error=error, text=text))
    path = folder / FAILURES_FILE
    if rows:
        _write(path, {"format": EVALUATION_FORMAT, "failures": rows})
        return
    with explained(path):
        path.unlink(missing_ok=True)


def write_results(evaluation: Evaluation) -> None:
    """Write results.json; FileError where the system refuses."""
    _write(evaluation.folder / RESULTS_FILE, results_document(evaluation))


# ---------------------------------------------------------------- the leaderboard


@attrs.frozen
class LeaderboardRow:
    """A policy under one configuration.

    A score is the mean over seeds, of the mean over repeats, of the final funds, where a bankrupt company counts 0.
    """

    policy: str
    preset: str
    planned: int  # episodes that the suite has
    finished: int
    failed: int
    missing: int
    bankrupt: int  # finished ones whose company went bankrupt
    score_cents: int | None  # over the finished ones, to the cent (half to even); None where nothing is finished
    score_failed_as_zero_cents: int | None  # failed ones count 0 too; None where none is finished or failed
    final_funds_cents: int | None  # mean of the raw final funds of the finished ones, debts included
    survived: int  # finished ones that did not go bankrupt; a failed one did not survive
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
        groups.setdefault((episode.key.policy, episode.key.preset), []).append(episode)
    rows: list[LeaderboardRow] = []
    for (policy, preset), episodes in groups.items():
        statuses = [each.status for each in episodes]
        bankrupt = sum(each.outcome.terminal_reason == "bankruptcy" for each in episodes if each.outcome is not None)
        with_zero = [(each.key.seed, 0 if each.status == "failed" else each.score_cents) for each in episodes]
        row = LeaderboardRow(
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
            model=evaluation.model(policy, preset),
        )
        rows.append(row)
    presets = [preset.label for preset in evaluation.suite.presets]

    def place(row: LeaderboardRow) -> tuple[int, bool, bool, int, str]:
        score = row.score_failed_as_zero_cents
        return presets.index(row.preset), row.missing > 0, score is None, -(score or 0), row.policy

    return tuple(sorted(rows, key=place))


def loophole_notes(tasks: Iterable[tuple[str, int, int]]) -> Iterator[str]:
    """Yield which policies accept most tasks only to renew the market.

    Args:
        tasks: Of each episode its policy, and how many tasks it never dispatched of how many it accepted.
    """
    never, accepted = Counter[str](), Counter[str]()
    for policy, undispatched, every in tasks:
        never[policy] += undispatched
        accepted[policy] += every
    for policy, every in accepted.items():
        if 2 * never[policy] > every:
            yield (
                f"{policy} uses a loophole of the rules: it never dispatches {never[policy] / every:.0%} of the tasks "
                "that it accepts, they only renew the market. Compare its score with those of such policies alone."
            )


def mean_over_seeds(values: Iterable[tuple[str, int | None]]) -> int | None:
    """Return the mean over seeds of the means over repeats, in whole cents (half to even), exact in any order.

    A value that is None does not count; where no value counts the mean is None.
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
    """Usage of language models in some runs; a sum is None where no turn records it."""

    runs: int
    turns: int  # recorded ones; each is a reply
    prompt_tokens: int | None
    completion_tokens: int | None
    unknown_turns: int  # turns without a number of tokens; the sums are too low by those
    cost_usd: Decimal | None
    unknown_cost_turns: int  # turns without a cost

    @property
    def tokens(self) -> int | None:
        """Tokens of prompts and replies; None if no turn records both."""
        if self.prompt_tokens is None or self.completion_tokens is None:
            return None
        return self.prompt_tokens + self.completion_tokens

    def __str__(self) -> str:
        """Return it for people to read; a sum that lacks turns is a lower bound."""
        at_least, at_least_cost = ("at least " * bool(each) for each in (self.unknown_turns, self.unknown_cost_turns))
        tokens = "unknown" if self.tokens is None else f"{at_least}{self.tokens:,}"
        cost = "unknown cost" if self.cost_usd is None else f"{at_least_cost}${self.cost_usd:,.2f}"
        return f"{self.turns:,} turns, {tokens} tokens, {cost}"

    def to_dict(self) -> JsonObject:
        """Return it as JSON values."""
        return {**attrs.asdict(self), "cost_usd": None if self.cost_usd is None else float(self.cost_usd)}


def usage_of(episodes: Iterable[Episode], *, with_result: bool | None = None) -> Usage | None:
    """Return token and cost totals of finished episodes, of the others, or of all; None if no run called a model."""
    runs = [each.run for each in episodes if each.run and with_result in {None, each.status == "finished"}]
    parts = [attrs.astuple(part) for part in map(_usage, runs) if part is not None]
    sums: list[Any] = []
    for column in zip(*parts, strict=True):
        known = [value for value in column if value is not None]
        sums.append(sum(known) if known else None)
    return Usage(*sums) if parts else None


def _usage(run: Run) -> Usage | None:
    outcome = run.outcome
    if not run.is_finished:  # it has no result yet; its turns are added up, as far as they can be read
        tally = Tally(0)
        with warnings.catch_warnings(), contextlib.suppress(RunError):
            warnings.simplefilter("ignore", RunWarning)  # of a last line that was cut short
            for turn in takewhile(lambda turn: turn.trace is not None, run.turns()):  # None if nobody is asked
                tally.add(turn)
        outcome = tally.outcome("stopped", "")
    turns, names = outcome.turns, ("prompt_tokens", "completion_tokens", "cost_usd")
    if not turns or not any(name in outcome.totals for name in names):
        return None
    sums: list[Any] = []
    unknown: list[int] = []
    for name in names:
        match outcome.totals.get(name):
            case {"sum": int() | float() as total, "unknown_turns": int() as without}:
                sums.append(Decimal(str(total)) if name == "cost_usd" else int(total))
                unknown.append(without)
            case _:
                sums.append(None)
                unknown.append(turns)
    prompt, completion, cost = sums
    return Usage(1, turns, prompt, completion, max(unknown[:2]), cost, unknown[2])


# ---------------------------------------------------------------- results.json


def results_document(evaluation: Evaluation) -> JsonObject:
    """Return the content of results.json; of a held-out suite without texts of errors, which may reveal a world."""
    suite, episodes = evaluation.suite, evaluation.episodes
    rows: list[Json] = []
    for row in leaderboard(evaluation):
        own = [each for each in episodes if (each.key.policy, each.key.preset) == (row.policy, row.preset)]
        derived = {"is_complete": row.is_complete, "survival_fraction": row.survival_fraction, "usage": _usages(own)}
        rows.append({**attrs.asdict(row), **derived})
    public = episodes
    if suite.is_held_out:
        public = tuple(attrs.evolve(each, reason=each.reason and each.reason.partition(":")[0]) for each in episodes)
    statuses = [episode.status for episode in episodes]
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
        "episodes": [episode.row() for episode in public],
    }


def _usages(episodes: Sequence[Episode]) -> JsonObject:
    """Return the usage of runs with a result, and of those that failed or are not finished."""
    parts = {"finished": usage_of(episodes, with_result=True), "without_result": usage_of(episodes, with_result=False)}
    return {name: None if part is None else part.to_dict() for name, part in parts.items()}
