"""``ycbench run`` and ``ycbench demo``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.cli.failure import INTERRUPTED, UsageError
from ycbench_agents.cli.files import replace_file, write_ascii
from ycbench_agents.cli.progress import watching
from ycbench_agents.cli.source import load_all
from ycbench_agents.cli.streams import complain
from ycbench_agents.cli.suite import Rules, make_plans, play_suite
from ycbench_agents.cli.values import read_parameters, read_seeds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from ycbench_agents.cli.suite import Plan, Suite
    from ycbench_agents.figure import FundsCurve
    from ycbench_agents.rollout import Trajectory

__all__ = ["RunRequest", "demo", "run"]

_DEMO_POLICIES: Final = ("random", "greedy")
_DEMO_PRESETS: Final = ("default", "reference")
_DEMO_SEEDS: Final = (1, 2, 3)


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


def run(request: RunRequest) -> int:
    """Play the episodes, print their results and return the exit code.

    Raises:
        UsageError: Something in the request cannot be used; nothing was played.
    """
    twice = [name for name in request.policies if request.policies.count(name) > 1]
    if twice:
        msg = f"--policy: got {twice[0]!r} twice, expected each policy once"
        raise UsageError(msg)
    configs = load_all(request.presets, request.files, request.settings)
    rules = Rules(read_parameters(request.parameters), request.max_turns)
    plans = make_plans(request.policies, list(configs), read_seeds(request.seeds))
    with watching(len(plans), quiet=request.quiet) as watcher:
        suite = play_suite(plans, configs, watcher, rules)
    if request.as_json:
        from ycbench_agents.cli.report import suite_json  # noqa: PLC0415 -- imports rich

        sys.stdout.write(suite_json(suite, configs, rules) + "\n")
    else:
        _print(suite)
    return _exit_code(suite)


def demo(out: Path, *, quiet: bool) -> int:
    """Play the scripted policies, print their results, write them and a picture, and return the exit code.

    Raises:
        UsageError: A file cannot be written.
    """
    _make_folder(out)
    from ycbench_agents.figure import funds_curve, save_funds_figure  # noqa: PLC0415 -- imports matplotlib

    configs = load_all((), (), (), fallback=_DEMO_PRESETS)
    plans = make_plans(_DEMO_POLICIES, list(configs), _DEMO_SEEDS)
    curves: list[FundsCurve] = []

    def keep(plan: Plan, trajectory: Trajectory) -> None:
        curves.append(funds_curve(trajectory, plan.preset, plan.policy))

    with watching(len(plans), quiet=quiet) as watcher:
        suite = play_suite(plans, configs, watcher, keep=keep)
    _print(suite)
    if curves:
        from ycbench_agents.cli.report import suite_json  # noqa: PLC0415 -- imports rich

        results, figure = out / "results.json", out / "funds.png"
        _write(out, results, lambda part: write_ascii(part, suite_json(suite, configs, Rules()) + "\n"))
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


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"--out {folder}: cannot make this folder: {error.strerror}; name another"
        raise UsageError(msg) from None


def _print(suite: Suite) -> None:
    from ycbench_agents.cli.report import print_table  # noqa: PLC0415 -- imports rich

    print_table(suite)


def _exit_code(suite: Suite) -> int:
    """Return the exit code, and say on stderr what is missing."""
    if not suite.interrupted:
        return 0
    from ycbench_agents.cli.report import missing_lines  # noqa: PLC0415 -- imports rich

    sys.stdout.flush()
    complain("\n  ".join(["interrupted", *missing_lines(suite.missing)]))
    return INTERRUPTED
