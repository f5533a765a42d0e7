"""``ycbench plan``: search for privileged plans, save them and print what they bring."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.cli.options import load_all, overrides_for_all, read_seeds
from ycbench_agents.cli.output import INTERRUPTED, UsageError, complain

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from pathlib import Path

    from rich.table import Table

    from ycbench_agents.planner import Plan
    from ycbench_agents.planner import Progress as SearchProgress
    from ycbench_env import Config

__all__ = ["DEFAULT_BUDGET_SECONDS", "PlanRequest", "plan"]

DEFAULT_BUDGET_SECONDS: Final = 600.0
"""How long is searched for each plan where neither a time nor a number of rollouts is given."""

_NOTE: Final = "privileged: these plans were made knowing all that is hidden and all that is to come"


@attrs.frozen
class _Job:
    """One plan to be searched for.

    Args:
        label: Name of the configuration.
        config: The configuration.
        seed: Run seed.
        path: File for the plan.
        old: The plan that is there already, None for none.
    """

    label: str
    config: Config
    seed: int
    path: Path
    old: Plan | None


@attrs.frozen
class _Row:
    """What came of a job: the plan found now, and whether the one that was there stays."""

    job: _Job
    found: Plan
    kept: bool


@attrs.frozen
class PlanRequest:
    """What ``ycbench plan`` is asked for: the values of its options as they were written."""

    presets: Sequence[str]
    files: Sequence[Path]
    settings: Sequence[str]
    seeds: Sequence[str]
    budget: float | None
    rollouts: int | None
    out: Path


def plan(request: PlanRequest) -> int:
    """Search, save and print; Ctrl-C keeps the best plan so far and ends the rest. Return the exit code.

    A plan that is there and as good stays.

    Raises:
        UsageError: Something in the request cannot be used, what is there for a plan's file is no plan for the same
            episode, or a plan cannot be written.
    """
    from ycbench_agents.cli.options import print_overrides  # noqa: PLC0415 -- as above
    from ycbench_agents.cli.output import cell, print_parts  # noqa: PLC0415 -- imports rich

    if request.budget is not None and request.rollouts is not None:
        msg = f"got --budget {request.budget:g} and --rollouts {request.rollouts}, expected one of them; leave out "
        msg += "--budget for the same plan on any machine, or --rollouts to search for a time"
        raise UsageError(msg)

    configs, seeds = load_all(request.presets, request.files, request.settings), read_seeds(request.seeds)
    request.out.mkdir(parents=True, exist_ok=True)
    # All of them before the first search, so that nobody searches for what cannot be saved.
    jobs = [_job(request.out, label, config, seed) for label, config in configs.items() for seed in seeds]
    rows: list[_Row] = []
    for job in jobs:
        found = _found(request, f"{job.label}, seed {job.seed}", job.config, job.seed)
        if found is not None:
            rows.append(_Row(job, found, kept=_keeps(job, found)))
        if found is None or found.interrupted:
            break
    if rows:
        print_overrides(overrides_for_all(request.presets, request.files, request.settings, configs))
        print_parts(_table(rows), cell(_NOTE))
    if len(rows) == len(jobs) and not rows[-1].found.interrupted:
        return 0
    sys.stdout.flush()
    complain(f"interrupted: {len(rows)} of {len(jobs)} plans are there, the last one as good as it was by then")
    return INTERRUPTED


def _job(folder: Path, label: str, config: Config, seed: int) -> _Job:
    """Return the job of planning one episode.

    Raises:
        UsageError: Something else than a plan for this episode is there.
    """
    path = folder / f"{label}-seed{seed}.plan"
    try:
        old = _old_plan(path, config, seed)
    except (OSError, ValueError) as error:  # PlanError is a ValueError
        reason = getattr(error, "strerror", None) or error
        msg = f"--out {folder}: {path} is there and stays: {reason}; name another --out, or move the file away"
        raise UsageError(msg) from None
    return _Job(label, config, seed, path, old)


def _old_plan(path: Path, config: Config, seed: int) -> Plan | None:
    """Return the plan in a file, None where there is no file.

    Raises:
        OSError: It cannot be read.
        PlanError: It is no plan, one for another episode, or does not bring what it says.
    """
    from ycbench_agents.planner import PlanError, load_plan, replay_plan  # noqa: PLC0415 -- slow to import

    try:
        old = load_plan(path)
    except FileNotFoundError:
        return None
    if old.seed != seed:
        msg = f"got a plan for seed {old.seed}, expected one for seed {seed}"
        raise PlanError(msg)
    if old.config_digest != config.digest():
        msg = f"got a plan for configuration {old.config_digest[:12]}, expected one for {config.digest()[:12]}"
        raise PlanError(msg)
    replay_plan(config, old)
    return old


def _found(request: PlanRequest, title: str, config: Config, seed: int) -> Plan | None:
    """Return the plan for one episode, None when Ctrl-C came before there was any.

    Raises:
        UsageError: The planner cannot plan this configuration, or the budget allows nothing.
    """
    from ycbench_agents.planner import plan as search  # noqa: PLC0415 -- slow to import

    # A number of rollouts alone makes the search the same on any machine.
    seconds = (request.budget or DEFAULT_BUDGET_SECONDS) if request.rollouts is None else None
    try:
        with _watching(title, seconds, request.rollouts) as show:
            return search(config, seed, budget_seconds=seconds, budget_rollouts=request.rollouts, on_progress=show)
    except KeyboardInterrupt:
        return None
    except ValueError as error:
        raise UsageError(str(error)) from None


@contextlib.contextmanager
def _watching(
    title: str, seconds: float | None, rollouts: int | None
) -> Generator[Callable[[SearchProgress], None] | None]:
    """Give what shows a search on a terminal's stderr; None where there is none."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415 -- slow to import

    from ycbench_agents.cli.output import dollars, progress_output  # noqa: PLC0415 -- imports rich

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=progress_output(), transient=True) as bar:
        task = bar.add_task(title, total=seconds or rollouts)

        def show(so_far: SearchProgress) -> None:
            text = f"{title}: {dollars(so_far.best_cents)} after {so_far.rollouts} rollouts"
            bar.update(task, completed=so_far.seconds if seconds else so_far.rollouts, description=text)

        yield show


def _keeps(job: _Job, found: Plan) -> bool:
    """Return whether the plan that is there stays, being as good; else save the one that was found.

    Raises:
        UsageError: It cannot be written.
    """
    if job.old is not None and job.old.final_funds_cents >= found.final_funds_cents:
        return True
    _save(job.path, found)
    return False


def _save(path: Path, found: Plan) -> None:
    from ycbench_agents.planner import save_plan  # noqa: PLC0415 -- slow to import

    try:
        save_plan(path, found)
    except OSError as error:
        msg = f"--out: cannot write {path}: {error.strerror or error}; name a folder that can be written to"
        raise UsageError(msg) from None


def _table(rows: Sequence[_Row]) -> Table:
    from ycbench_agents.cli.output import cell, dollars, new_table  # noqa: PLC0415 -- imports rich

    notes = [_note(row) for row in rows]
    table = new_table("preset", ">seed", ">final funds", ">accepts", ">turns", "file", *["note"] * any(notes), gap=1)
    for row, note in zip(rows, notes, strict=True):
        found = row.found
        accepts = sum([turn.count("task accept ") for turn in found.turns])
        figures = (dollars(found.final_funds_cents), accepts, len(found.turns))
        values = (found.preset, found.seed, *figures, row.job.path, *[note] * any(notes))
        table.add_row(*[cell(value) for value in values])
    return table


def _note(row: _Row) -> str:
    from ycbench_agents.cli.output import dollars  # noqa: PLC0415 -- imports rich

    return f"kept: {dollars(row.job.old.final_funds_cents)} there already" if row.kept and row.job.old else ""
