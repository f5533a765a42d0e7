"""``ycbench evaluate``."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs
from rich.text import Text

from ycbench_agents.cli.evaluation_progress import watching_evaluation
from ycbench_agents.cli.folder import make_out_folder
from ycbench_agents.cli.options import load, named_file, overrides_in_force, read_overrides
from ycbench_agents.cli.output import INTERRUPTED, STOPPED, UsageError, cell, complain, dollars, new_table, print_parts
from ycbench_agents.cli.recorded.model import LLM, ModelOptions, cast_of
from ycbench_agents.cli.report import print_overrides
from ycbench_agents.cli.telling import warn
from ycbench_agents.evaluation.backend import Pool, WorkerLostError, processors
from ycbench_agents.evaluation.folder import EvaluationFolder
from ycbench_agents.evaluation.player import Player, waits_for_answers
from ycbench_agents.evaluation.probing import own_players
from ycbench_agents.evaluation.redaction import Redaction
from ycbench_agents.evaluation.results import leaderboard, results_document, told_reason
from ycbench_agents.evaluation.running import EvaluationPlan, evaluate
from ycbench_agents.evaluation.settings_table import SuiteError
from ycbench_agents.evaluation.suite_file import LoadedSuite, load_suite
from ycbench_agents.records import RecordError
from ycbench_agents.records.strict_json import encode, plain
from ycbench_agents.registry import PolicyError

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from rich.table import Table

    from ycbench_agents.cli.options import Override
    from ycbench_agents.evaluation.backend import BackendName
    from ycbench_agents.evaluation.episode import Episode
    from ycbench_agents.evaluation.reading import Evaluation
    from ycbench_agents.evaluation.running import PlayedEvaluation
    from ycbench_agents.evaluation.suite import SuitePolicy
    from ycbench_env import Config

__all__ = ["EvaluateRequest", "evaluate_suite"]

_CONFIGS: Final = Path("configs")
_OUT: Final = Path("out")
_SHOWN: Final = 20  # lines about one matter


@attrs.frozen
class EvaluateRequest:
    """What ``ycbench evaluate`` is asked for: the values of its options as they were written."""

    suite: str
    out: Path | None
    policies: Sequence[str]
    settings: Sequence[str]
    processes: int | None
    backend: BackendName
    address: str | None
    model: str | None
    base_url: str | None
    as_json: bool
    quiet: bool


def evaluate_suite(request: EvaluateRequest) -> int:
    """Play what is missing of a suite, print its results and return the exit code.

    Raises:
        UsageError: Something in the request cannot be used; nothing was played.
    """
    try:
        loaded = _loaded(request)
    except SuiteError as error:
        raise UsageError(str(error)) from None
    with _telling(loaded), watching_evaluation(quiet=request.quiet) as watcher:
        plan = _plan(request, loaded)
        make_out_folder(plan.folder.path)
        pool = Pool(request.processes or processors(), request.backend, request.address)
        played = evaluate(plan, pool, watcher)
    if request.as_json:
        sys.stdout.write(encode(results_document(played.evaluation), indent=2) + "\n")
    else:
        print_overrides(_overrides(request, loaded))
        _print(played.evaluation)
    sys.stdout.flush()
    return _exit_code(played, plan)


def _loaded(request: EvaluateRequest) -> LoadedSuite:
    overrides = read_overrides(request.settings)
    loaded = load_suite(
        named_file(request.suite, _CONFIGS, "evaluate", "a suite"), lambda source: load(source, overrides), os.environ
    )
    for warning in loaded.warnings:
        warn(warning)
    return loaded


@contextlib.contextmanager
def _telling(loaded: LoadedSuite) -> Generator[None]:
    """Say warnings and errors in a line each; those of a held-out suite without its seeds, which name the runs.

    Raises:
        UsageError: There was an error.
    """
    redaction = Redaction.of_suite(loaded)
    try:
        with redaction.telling(warn, Warning):
            yield
    except (RecordError, SuiteError, WorkerLostError) as error:
        raise UsageError(redaction.told(error)) from None
    except BrokenPipeError:
        raise
    except OSError as error:
        msg = f"{error.filename or 'a file'}: {error.strerror or error}; {_advice(error)}"
        raise UsageError(msg) from None


def _advice(error: OSError) -> str:
    """Return what to do about a file of an evaluation that cannot be used."""
    if isinstance(error, IsADirectoryError | NotADirectoryError | FileExistsError):
        return "ycbench evaluate has not made it: remove it, or choose another --out"
    return "put that right and give the same command again; what is finished is kept"


def _plan(request: EvaluateRequest, loaded: LoadedSuite) -> EvaluationPlan:
    suite = loaded.suite
    labels = [policy.label for policy in suite.policies]
    if unknown := [label for label in request.policies if label not in labels]:
        msg = f"--policy: got {unknown[0]!r}, expected policies of the suite: {', '.join(labels)}"
        raise UsageError(msg)
    here = str(Path.cwd())
    try:
        own = own_players(suite, [here])
    except PolicyError as error:
        raise UsageError(str(error)) from None
    players = {
        (policy.label, preset.label): own.get(policy.label) or _player(request, policy, preset.config)
        for policy in suite.policies
        if policy.name != LLM or not request.policies or policy.label in request.policies  # no model, no key needed
        for preset in suite.presets
    }
    return EvaluationPlan(
        loaded=loaded,
        players=players,
        folder=EvaluationFolder(request.out or _OUT / suite.name),
        chosen=frozenset(request.policies) or None,
        overrides=tuple(
            {"key": each.key, "value": plain(each.value, each.key), "origin": each.place}
            for each in _overrides(request, loaded)
        ),
        import_path=here,
    )


def _overrides(request: EvaluateRequest, loaded: LoadedSuite) -> tuple[Override, ...]:
    label, source = next(iter(loaded.sources.items()))
    config = next(preset.config for preset in loaded.suite.presets if preset.label == label)
    return overrides_in_force(source, request.settings, config)


def _player(request: EvaluateRequest, policy: SuitePolicy, config: Config) -> Player:
    options = ModelOptions()
    if policy.name == LLM:
        options = ModelOptions(
            model=policy.model or request.model,
            base_url=policy.base_url or request.base_url,
            system_prompt=policy.system_prompt,
            prices=policy.prices,
        )
    try:
        cast = cast_of(policy.name, config, policy.parameters, options)
    except UsageError as error:
        msg = f"policy {policy.label!r} of the suite: {error}"
        raise UsageError(msg) from None
    return Player(cast.make, cast.settings, cast.model, waits_for_answers(cast.make()))


def _print(evaluation: Evaluation) -> None:
    """Print the leaderboard and how much of the suite it rests on."""
    statuses = [episode.status for episode in evaluation.episodes]
    counts = ", ".join(f"{statuses.count(status)} {status}" for status in ("failed", "missing") if status in statuses)
    line = f"{statuses.count('finished')} of {len(statuses)} episodes finished{counts and f', {counts}'}"
    print_parts(
        _table(evaluation), Text("\n").join([cell(line), cell(f"results: {evaluation.folder / 'results.json'}")])
    )


def _table(evaluation: Evaluation) -> Table:
    headings = ("policy", "preset", ">score", ">planned", ">run", ">failed", ">missing", ">bankrupt")
    table = new_table(*headings, gap=1)  # so that it fits into 80 columns
    for row in leaderboard(evaluation):
        score = "-" if row.score_cents is None else dollars(row.score_cents)
        shown = score if row.is_complete else f"({score})"
        counts = (row.planned, row.finished, row.failed, row.missing, row.bankrupt)
        table.add_row(*[cell(value) for value in (row.policy, row.preset, shown, *counts)])
    return table


def _exit_code(played: PlayedEvaluation, plan: EvaluationPlan) -> int:
    """Return the exit code, and say on stderr what failed and what is missing of what was asked for."""
    asked = [each for each in played.evaluation.episodes if plan.chosen is None or each.key.policy in plan.chosen]
    secret = played.evaluation.suite.is_held_out
    failed = [f"failed: {each.key}: {told_reason(each, is_secret=secret)}" for each in asked if each.status == "failed"]
    _complain(failed, "failed")
    missing = [each for each in asked if each.status == "missing"]
    if played.interrupted:
        _complain(["interrupted; the same command goes on", *_missing_lines(missing)], "not finished or not played")
        return INTERRUPTED
    return STOPPED if failed or missing else 0


def _complain(lines: Sequence[str], what: str) -> None:
    for line in lines[:_SHOWN]:
        complain(line)
    if len(lines) > _SHOWN:
        complain(f"{what}: {len(lines) - _SHOWN} more; failures.json and results.json have all")


def _missing_lines(missing: Sequence[Episode]) -> list[str]:
    groups: dict[tuple[str, str, str], list[str]] = {}
    for episode in missing:
        became = "not played" if episode.record is None else "not finished"
        groups.setdefault((episode.key.policy, episode.key.preset, became), []).append(episode.key.seed)
    return [
        f"{became}: {policy}, {preset}: seed {' '.join(dict.fromkeys(seeds))}"
        for (policy, preset, became), seeds in groups.items()
    ]
