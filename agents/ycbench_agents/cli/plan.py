"""``ycbench plan`` and ``ycbench bound``: privileged plans, and bounds that no policy can pass."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Annotated, Final

from cyclopts import Parameter
from cyclopts.validators import Number
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as ProgressBar

from ycbench_agents.cli import options, output
from ycbench_agents.planner import (
    MOST_ACCEPTS_A_SLOT,
    MOST_PASSES,
    Foresight,
    PlannerError,
    Progress,
    load_plan,
    replay_plan,
    save_plan,
    upper_bound,
)
from ycbench_agents.planner import plan as search
from ycbench_env import Config, initial_state
from ycbench_env.text import dollars

_NOTE: Final = "privileged: these plans were made knowing all that is hidden and all that is to come"
_Limit = Annotated[int | None, options.NO_DEFAULT, Parameter(validator=Number(gte=0), metavar="N")]


def plan(  # noqa: PLR0913 -- one argument an option
    *,
    preset: options.Presets = (),
    config: options.Files = (),
    settings: options.Settings = (),
    seeds: options.Seeds = ("1",),
    budget: Annotated[
        float | None,
        options.NO_DEFAULT,
        Parameter(validator=Number(gt=0), metavar="SECONDS", help="Seconds to search for each plan; 600 if not given."),
    ] = None,
    rollouts: Annotated[
        options.Count | None,
        options.NO_DEFAULT,
        Parameter(help="Rollouts for each plan instead of a time, for the same plan on any machine."),
    ] = None,
    honest: Annotated[
        options.Flag, Parameter(help="Dispatch every task that is accepted, so that the market is not re-rolled.")
    ] = False,
    out: Annotated[
        Path,
        Parameter(
            metavar="DIR",
            allow_leading_hyphen=True,
            help="Folder for the plans; for one plan also a device, a pipe, or - for stdout.",
        ),
    ] = Path("plans"),
) -> int:
    """Search for plans, save each that is better than the one in its file, and print them; return the exit code."""
    if budget is not None and rollouts is not None:
        msg = f"got --budget {budget:g} and --rollouts {rollouts}; leave out --budget for the same plan on any machine"
        raise output.UsageError(msg)
    configs, numbers = options.load_all(preset, config, settings), options.read_seeds(seeds)
    is_alone = len(configs) * len(numbers) == 1
    suffix = "-honest" if honest else ""
    jobs: list[tuple[str, Config, int, Path, int | None]] = []
    for label, each in configs.items():  # all before the first search, so that nobody searches for what cannot be saved
        for seed in numbers:
            target = _target(out, f"{label}{suffix}-seed{seed}.plan", each, seed, is_alone=is_alone)
            jobs.append((f"{label}{suffix}", each, seed, *target))
    # A number of rollouts alone makes the search the same on any machine.
    seconds = (budget or 600.0) if rollouts is None else None
    table = output.new_table("preset", ">seed", ">final funds", ">accepts", ">turns", "file", "note", gap=1)
    done = 0
    interrupted = False
    for label, each, seed, path, old_cents in jobs:
        try:
            with _progress(f"{label}, seed {seed}", seconds, rollouts) as show:
                found = search(
                    each,
                    seed,
                    budget_seconds=seconds,
                    budget_rollouts=rollouts,
                    most_passes=0 if honest else MOST_PASSES,
                    on_progress=show,
                )
        except KeyboardInterrupt:
            interrupted = True
            break
        note = ""
        if old_cents is None or old_cents < found.final_funds_cents:
            save_plan(path, found)
        else:
            note = f"kept: {dollars(old_cents)} there already"
        accepts = sum(turn.count("task accept ") for turn in found.turns)
        table.add_row(
            *map(
                output.cell,
                (label, seed, dollars(found.final_funds_cents), accepts, len(found.turns), path, note),
            )
        )
        done += 1
        interrupted = found.interrupted
        if interrupted:
            break
    if done and str(out) != "-":
        options.print_overrides(options.overrides_in_force([*preset, *config], settings, configs.values()))
        output.print_parts(table, output.cell(_NOTE))
    if not interrupted:
        return 0
    sys.stdout.flush()
    output.print_message(f"interrupted: {done} of {len(jobs)} plans are there, the last one as good as it was by then")
    return output.INTERRUPTED


def _target(out: Path, name: str, config: Config, seed: int, *, is_alone: bool) -> tuple[Path, int | None]:
    """Return the file for a plan, and the funds of the plan that is there already."""
    if str(out) == "-" or (out.exists() and not out.is_dir()):
        if not is_alone:
            msg = f"--out: got {out}, expected a folder for several plans"
            raise output.UsageError(msg)
        path = out
    else:
        path = out / name
    if not path.is_file():
        return path, None
    wrong = f"it is a plan for another seed than {seed}"
    try:
        old = load_plan(path)
        if old.seed == seed:
            replay_plan(config, old)
            return path, old.final_funds_cents
    except PlannerError as error:
        wrong = str(error)
    msg = f"--out {out}: {path} is there and stays: {wrong}; name another --out, or move the file away"
    raise output.UsageError(msg)


@contextlib.contextmanager
def _progress(title: str, seconds: float | None, rollouts: int | None) -> Generator[Callable[[Progress], None] | None]:
    """Give a callback that shows a search on a terminal's stderr; None where there is none."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with ProgressBar(*columns, console=output.Output(sys.stderr), transient=True) as bar:
        task = bar.add_task(title, total=seconds or rollouts)

        def show(so_far: Progress) -> None:
            text = f"{title}: {dollars(so_far.best_cents)} after {so_far.rollouts} rollouts"
            bar.update(task, completed=so_far.seconds if seconds else so_far.rollouts, description=text)

        yield show


def bound(  # noqa: PLR0913 -- one argument an option
    *,
    preset: options.Presets = (),
    config: options.Files = (),
    settings: options.Settings = (),
    seeds: options.Seeds = ("1",),
    most_accepts: Annotated[
        _Limit,
        Parameter(help="Bound policies with at most N accepts in all, and at most 999 in one market slot."),
    ] = None,
    most_unfinished: Annotated[
        _Limit, Parameter(help="Bound policies that complete all but N of the tasks that they accept.")
    ] = None,
) -> int:
    """Print bounds on the final funds and return the exit code."""
    configs, numbers = options.load_all(preset, config, settings), options.read_seeds(seeds)
    limited = most_accepts is not None or most_unfinished is not None
    whom = ["with this limit"] if limited else ["for all", "999 accepts a slot", "completes all"]
    table = output.new_table("preset", ">seed", *[f">{each}" for each in whom], ">payrolls", ">work", ">hours", gap=1)
    for label, each in configs.items():
        for seed in numbers:
            found = upper_bound(each, seed, most_accepts=most_accepts, most_unfinished=most_unfinished)
            bounds = [found.cents]
            if not limited and each.world.replacement_numbering == "slot":
                start = initial_state(each, seed)
                market, accepts = Foresight(start), MOST_ACCEPTS_A_SLOT * len(start.market)
                bounds += [
                    upper_bound(each, seed, most_accepts=accepts, foresight=market).cents,
                    upper_bound(each, seed, most_unfinished=0, foresight=market).cents,
                ]
            money = [dollars(cents) for cents in bounds] + ["-"] * (len(whom) - len(bounds))
            units, hours = f"{found.capacity_units:,.0f}", f"{found.hours:,.0f}"
            table.add_row(*map(output.cell, (label, seed, *money, dollars(found.payroll_cents), units, hours)))
    options.print_overrides(options.overrides_in_force([*preset, *config], settings, configs.values()))
    if most_accepts is not None:
        note = (
            f"No policy that accepts at most {most_accepts:,} tasks, 999 in each slot, ends with more, whatever it sees"
        )
    elif most_unfinished is not None:
        note = f"No policy that completes all but {most_unfinished:,} of its tasks ends with more, whatever it sees"
    else:
        note = (
            "No policy ends with more than the first bound; the second holds for policies that accept "
            "at most 999 tasks in each market slot, the third for policies that complete all tasks that they accept"
        )
    output.print_parts(table, output.cell(note))
    return 0
