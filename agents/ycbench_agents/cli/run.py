"""``ycbench run`` and ``ycbench demo``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.cli.files import replace_file, write_ascii
from ycbench_agents.cli.folder import make_out_folder
from ycbench_agents.cli.options import load_all, overrides_for_all, overrides_in_force, read_parameters, read_seeds
from ycbench_agents.cli.output import INTERRUPTED, STOPPED, UsageError, complain
from ycbench_agents.cli.policies import asks_a_person
from ycbench_agents.cli.progress import watching
from ycbench_agents.cli.recorded.model import LLM, ModelOptions
from ycbench_agents.cli.replaying import REPLAY, warn_of_other_episodes
from ycbench_agents.cli.suite import Rules, make_plans, play_suite

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ycbench_agents.cli.suite import Plan, Stop, Suite
    from ycbench_agents.figure import FundsCurve
    from ycbench_agents.rollout import Trajectory
    from ycbench_env import Config

__all__ = ["Recording", "RunRequest", "demo", "run"]

_DEMO_POLICIES: Final = ("random", "greedy")
_DEMO_PRESETS: Final = ("default", "reference")
_DEMO_SEEDS: Final = (1, 2, 3)
_RUNS: Final = Path("runs")


@attrs.frozen
class RunRequest:
    """What ``ycbench run`` is asked for: the values of its options as they were written."""

    policies: Sequence[str]
    presets: Sequence[str]
    files: Sequence[Path]
    seeds: Sequence[str]
    parameters: Sequence[str]
    settings: Sequence[str]
    max_turns: int | None
    as_json: bool
    quiet: bool


@attrs.frozen
class Recording:
    """How the runs of ``ycbench run`` are kept.

    Args:
        model: What is said about a language model.
        folder: Where the runs' folders go; None keeps only those of a language model, in ``runs``.
        concurrency: How many are played at once.
        live: Whether a terminal shows them as they go.
    """

    model: ModelOptions = attrs.field(factory=ModelOptions)
    folder: Path | None = None
    concurrency: int = 1
    live: bool = True

    def keeps(self, policies: Sequence[str]) -> bool:
        """Return whether runs of these policies are kept."""
        return self.folder is not None or LLM in policies


def run(request: RunRequest, recording: Recording | None = None) -> int:
    """Play the episodes, print their results and return the exit code.

    Raises:
        UsageError: Something in the request cannot be used; nothing was played.
    """
    twice = [name for name in request.policies if request.policies.count(name) > 1]
    if twice:
        msg = f"--policy: got {twice[0]!r} twice, expected each policy once"
        raise UsageError(msg)
    if LLM not in request.policies:
        _refuse_model_options(recording)
    if recording is not None and recording.keeps(request.policies):
        return _run_recorded(request, recording)
    configs = load_all(request.presets, request.files, request.settings)
    rules, seeds = _rules(request, configs), read_seeds(request.seeds)
    plans = make_plans(request.policies, list(configs), seeds)
    _warn(request.policies, rules, configs, seeds)
    still = request.quiet or any(asks_a_person(name, rules.parameters) for name in request.policies)
    with watching(len(plans), quiet=still) as watcher:
        suite = play_suite(plans, configs, watcher, rules)
    if request.as_json:
        from ycbench_agents.cli.report import suite_json  # noqa: PLC0415 -- imports rich

        sys.stdout.write(suite_json(suite, configs, rules) + "\n")
    else:
        _print(suite, rules)
    return _exit_code(suite)


def _rules(request: RunRequest, configs: Mapping[str, Config]) -> Rules:
    """Return what holds for all episodes of a request."""
    overrides = overrides_for_all(request.presets, request.files, request.settings, configs)
    return Rules(read_parameters(request.parameters), request.max_turns, overrides)


def _warn(policies: Sequence[str], rules: Rules, configs: Mapping[str, Config], seeds: Sequence[int]) -> None:
    """Say on stderr what is allowed and most likely not meant."""
    if REPLAY in policies:
        warn_of_other_episodes(rules.parameters, configs, seeds)


def _run_recorded(request: RunRequest, recording: Recording) -> int:
    """Play runs into folders, print what came of them and return the exit code."""
    from ycbench_agents.cli.recorded.command import Matrix, play_matrix  # noqa: PLC0415 -- slow to import
    from ycbench_agents.cli.recorded.playing import Watching  # noqa: PLC0415 -- as above
    from ycbench_agents.cli.recorded.results import print_runs, runs_json, suite_of  # noqa: PLC0415 -- as above
    from ycbench_agents.cli.report import print_overrides, suite_json  # noqa: PLC0415 -- imports rich

    configs = load_all(request.presets, request.files, request.settings)
    rules, seeds = _rules(request, configs), read_seeds(request.seeds)
    _warn(request.policies, rules, configs, seeds)
    matrix = Matrix(
        policies=request.policies,
        configs=configs,
        seeds=seeds,
        parameters=rules.parameters,
        model=recording.model,
        max_turns=request.max_turns,
        folder=recording.folder or _RUNS,
    )
    runs = play_matrix(matrix, Watching(recording.concurrency, live=recording.live, quiet=request.quiet))
    if request.as_json:
        document = json.loads(suite_json(suite_of(runs), configs, rules))
        sys.stdout.write(json.dumps({**document, "runs": runs_json(runs)}, indent=2, allow_nan=False) + "\n")
    else:
        print_overrides(rules.overrides)
        print_runs(runs)
    sys.stdout.flush()
    runs.complain()
    return runs.exit_code


def _refuse_model_options(recording: Recording | None) -> None:
    """Refuse options of a language model where none plays.

    Raises:
        UsageError: There are such options.
    """
    if recording is not None and not recording.model.is_empty:
        msg = "got options of a language model (--model, --base-url ...) and no --policy llm, which they are for"
        raise UsageError(msg)


def demo(out: Path, *, quiet: bool) -> int:
    """Play the scripted policies, print their results, write them and a picture, and return the exit code.

    Raises:
        UsageError: A file cannot be written.
    """
    make_out_folder(out)
    from ycbench_agents.figure import funds_curve, save_funds_figure  # noqa: PLC0415 -- imports matplotlib

    configs = load_all((), (), (), fallback=_DEMO_PRESETS)
    rules = Rules(overrides=overrides_in_force(_DEMO_PRESETS[0], (), configs[_DEMO_PRESETS[0]]))
    plans = make_plans(_DEMO_POLICIES, list(configs), _DEMO_SEEDS)
    curves: list[FundsCurve] = []

    def keep(plan: Plan, trajectory: Trajectory) -> None:
        curves.append(funds_curve(trajectory, plan.preset, plan.policy))

    with watching(len(plans), quiet=quiet) as watcher:
        suite = play_suite(plans, configs, watcher, keep=keep)
    _print(suite, rules)
    if curves:
        from ycbench_agents.cli.report import suite_json  # noqa: PLC0415 -- imports rich

        results, figure = out / "results.json", out / "funds.png"
        _write(out, results, lambda part: write_ascii(part, suite_json(suite, configs, rules) + "\n"))
        _write(out, figure, lambda part: save_funds_figure(curves, part))
        sys.stdout.write(f"wrote {results} and {figure}\n")
    return _exit_code(suite)


def _write(out: Path, path: Path, write: Callable[[Path], object]) -> None:
    """Replace a file in the folder of a demo.

    Raises:
        UsageError: It cannot be written.
    """
    try:
        replace_file(path, write)
    except OSError as error:
        reason = error.strerror or error
        msg = f"--out {out}: cannot write {path}: {reason}; name a folder that can be written to"
        raise UsageError(msg) from None


def _print(suite: Suite, rules: Rules) -> None:
    from ycbench_agents.cli.report import print_overrides, print_table  # noqa: PLC0415 -- imports rich

    print_overrides(rules.overrides)
    print_table(suite)


def _exit_code(suite: Suite) -> int:
    """Return the exit code, and say on stderr what is missing."""
    if not suite.interrupted and suite.stop is None:
        return 0
    from ycbench_agents.cli.report import missing_lines  # noqa: PLC0415 -- imports rich

    sys.stdout.flush()  # so that the complaint follows the results where both go to one place
    complain("\n  ".join([_why(suite.stop), *missing_lines(suite.missing)]))
    return INTERRUPTED if suite.stop is None else STOPPED


def _why(stop: Stop | None) -> str:
    """Return why a suite ended early."""
    if stop is None:
        return "interrupted"
    return f"stopped: {stop.plan.policy}, {stop.plan.preset}, seed {stop.plan.seed}: {stop.reason}"
