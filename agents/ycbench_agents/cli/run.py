"""``ycbench run``, ``resume``, ``replay`` and ``demo``: an evaluation of a suite that options describe."""

from __future__ import annotations

import contextlib
import datetime as dt
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, cast

from cyclopts import Parameter
from rich.console import RenderableType
from rich.text import Text

from ycbench_agents.cli import options, output
from ycbench_agents.cli.live import watch
from ycbench_agents.evaluation import results
from ycbench_agents.evaluation.evaluate import play_suite, resume_evaluation, resume_runs
from ycbench_agents.evaluation.factory import Trusted, replaying_policy
from ycbench_agents.evaluation.results import Episode, Evaluation
from ycbench_agents.evaluation.suite import (
    DEFAULT_CONCURRENCY,
    LLM,
    Limits,
    PolicyTable,
    Suite,
    SuitePolicy,
    SuitePreset,
)
from ycbench_agents.files import to_json, write_file
from ycbench_agents.registry import policy_names
from ycbench_agents.runs import Run, RunError, read_run, replay_run
from ycbench_agents.runs.run import RUN_FILE
from ycbench_env.text import dollars, printable

_RUNS: Final = Path("runs")
_SHOWN: Final = 20  # lines about one matter
_TASKS: Final = ("tasks_completed", "tasks_failed", "tasks_cancelled")
_ENDINGS: Final = {"horizon_end": "survived", "bankruptcy": "bankrupt"}

_Policies = Annotated[
    tuple[str, ...],
    options.SEVERAL,
    Parameter(
        name="--policy",
        metavar="NAME...",
        help=f"Names of policies: {', '.join(policy_names())}; or module:Class of your own.",
    ),
]
_Concurrency = Annotated[options.Count, Parameter(help="Episodes of language models to play at once.")]
_Folders = Annotated[Path, Parameter(help="Folders of runs, or folders with runs in them.")]


def run(  # noqa: PLR0913 -- one argument an option
    *,
    policy: _Policies = ("greedy",),
    preset: options.Presets = (),
    config: options.Files = (),
    seeds: options.Seeds = ("1",),
    param: options.Parameters = (),
    settings: options.Settings = (),
    max_turns: Annotated[
        options.Count | None, options.NO_DEFAULT, Parameter(help="End each episode after this many turns.")
    ] = None,
    timeout: Annotated[
        options.Count, Parameter(metavar="SECONDS", help="Most time of an episode of a scripted policy.")
    ] = 600,
    model: options.Model = None,
    base_url: options.BaseUrl = None,
    system_prompt: Annotated[
        Path | None, Parameter(metavar="FILE", help="File with a template of the model's system prompt.")
    ] = None,
    prices: options.Prices = (),
    header: options.Headers = (),
    records: Annotated[
        Path | None, Parameter(metavar="DIR", help="Keep the runs and their results there; llm always does, in runs.")
    ] = None,
    workers: options.Workers = None,
    concurrency: _Concurrency = DEFAULT_CONCURRENCY,
    live: options.Live = True,
    as_json: options.JsonFlag = False,
    quiet: options.Quiet = False,
) -> int:
    """Play every combination of policies, configurations and seeds, print the results and return the exit code."""
    if twice := [name for name in policy if policy.count(name) > 1]:
        msg = f"--policy: got {twice[0]!r} twice, expected each policy once"
        raise output.UsageError(msg)
    of_llm: dict[str, Any] = {
        "model": model,
        "base_url": base_url,
        "system_prompt": system_prompt,
        "prices": prices,
    }
    if LLM not in policy and (header or any(of_llm.values())):
        msg = "got options of a language model (--model, --base-url ...) and no --policy llm, which they are for"
        raise output.UsageError(msg)
    import_from_here()
    configs = options.load_all(preset, config, settings)
    overrides = options.overrides_in_force([*preset, *config], settings, configs.values())
    parameters = options.read_parameters(param)
    rows = [PolicyTable(name, None, parameters, **(of_llm if name == LLM else {})) for name in policy]
    suite = Suite(
        name="run",
        description="ycbench run",
        policies=tuple(row.policy(Path()) for row in rows),
        presets=tuple(SuitePreset(label, each) for label, each in configs.items()),
        seeds=tuple(map(str, options.read_seeds(seeds))),
        limits=Limits(seconds=timeout, max_turns=max_turns),
        concurrency=concurrency,
    )
    if "replay" in policy:
        _warn_of_other_episodes(parameters.get("path"), suite)
    kept = records or (_RUNS if LLM in policy else None)
    with _temporary() if kept is None else contextlib.nullcontext(kept) as place:
        folder = Path(place)
        play = partial(
            play_suite,
            suite,
            folder,
            workers=workers,
            headers=options.read_headers(header),
            measure=False,
            overrides=overrides,
        )
        evaluation, interrupted = played(play, folder, live=live, quiet=quiet, turns=not live)
        if as_json:
            document = {**results.results_document(evaluation), "overrides": overrides, "interrupted": interrupted}
            for row, episode in zip(cast("Any", document["episodes"]), evaluation.episodes, strict=True):
                row |= {**_course(episode), "folder": str(episode.run.folder) if kept and episode.run else None}
            output.print_json(document)
        else:
            options.print_overrides(overrides)
            print_evaluation(evaluation, with_episodes=True, is_kept=kept is not None)
        return report_failures(evaluation.episodes, is_interrupted=interrupted, is_kept=kept is not None)


def _temporary() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="ycbench-", ignore_cleanup_errors=True)


def played(
    play: Callable[..., Evaluation], folder: Path, *, live: bool = True, quiet: bool, turns: bool = False
) -> tuple[Evaluation, bool]:
    """Return the evaluation that ``play(progress=...)`` plays into a folder, and whether Ctrl-C ended it early."""
    with output.showing_warnings(), watch(live=live, quiet=quiet, turns=turns) as progress:
        try:
            return play(progress=progress), False
        except KeyboardInterrupt:
            return results.read_evaluation(folder), True


def import_from_here() -> None:
    """Let a policy of one's own lie in the working directory, where an installed program does not look."""
    here = str(Path.cwd())
    if here not in sys.path:  # at the end, so that no file there hides a library
        sys.path.append(here)


def _warn_of_other_episodes(path: object, suite: Suite) -> None:
    """Warn where a plan is replayed under a configuration or with a seed that it was not made for."""
    from ycbench_agents.planner import load_plan  # noqa: PLC0415 -- slow to import

    try:
        plan = load_plan(str(path))
    except (OSError, ValueError):  # no plan; playing it names the fault
        return
    others = [each.label for each in suite.presets if each.config.digest() != plan.config_digest]
    others += [f"seed {seed}" for seed in suite.seeds if int(seed) != plan.seed]
    if others:
        what = f"{path} is a plan for seed {plan.seed} of one configuration"
        output.warn(f"{what}, not for {', '.join(others[:3])}: its funds will differ")


# ---------------------------------------------------------------- results


def print_evaluation(evaluation: Evaluation, *, with_episodes: bool = False, is_kept: bool = True) -> None:
    """Print the leaderboard, on request with a table of episodes above, and how much was played."""
    statuses = [episode.status for episode in evaluation.episodes]
    counts = ", ".join(f"{statuses.count(status)} {status}" for status in ("failed", "missing") if status in statuses)
    lines = [f"{statuses.count('finished')} of {len(statuses)} episodes finished{counts and f', {counts}'}"]
    if (used := results.usage_of(evaluation.episodes)) is not None:
        lines.append(f"language models: {used}")
    from ycbench_agents.evaluation.metrics import read_metrics  # noqa: PLC0415 -- slow to import

    runs = [(each.key.policy, each.run) for each in evaluation.episodes if each.outcome and each.run]
    measured = [(policy, found) for policy, run in runs if (found := read_metrics(run.folder)) is not None]
    lines += results.loophole_notes((name, each.tasks_never_dispatched, each.tasks_accepted) for name, each in measured)
    if is_kept:
        lines.append(f"results: {evaluation.folder / results.RESULTS_FILE}")
    rows = results.leaderboard(evaluation)
    failed_as_zero = [">failed as 0"] if any(row.failed for row in rows) else []
    headings = ("policy", "preset", ">score", *failed_as_zero, ">final funds", ">finished", ">failed", ">bankrupt")
    board = output.new_table(*headings, gap=1)
    for row in rows:
        score = dollars(row.score_cents)
        values = [row.policy, row.preset, score if row.is_complete else f"({score})"]
        values += [dollars(row.score_failed_as_zero_cents)] * len(failed_as_zero)
        values += [dollars(row.final_funds_cents), f"{row.finished}/{row.planned}"]
        board.add_row(*map(output.cell, (*values, row.failed, row.bankrupt)))
    parts: list[RenderableType] = [_episode_table(evaluation)] if with_episodes else []
    output.print_parts(*parts, board, Text("\n").join(map(output.cell, lines)))
    sys.stdout.flush()


def _course(episode: Episode) -> dict[str, Any]:
    """Return how many tasks of a finished episode came to which end, and its simulated end; None of another."""
    course: dict[str, Any] = dict.fromkeys((*_TASKS, "ended_at"))
    if episode.outcome is None or episode.run is None:
        return course
    course |= dict.fromkeys(_TASKS, 0)
    with contextlib.suppress(RunError):  # as far as turns can be read
        for turn in episode.run.turns():
            course["ended_at"] = turn.sim_time
            for event in turn.events:
                if isinstance(event, dict) and event.get("type") == "task_completed":
                    course["tasks_completed" if event.get("success") is True else "tasks_failed"] += 1
            for result in turn.results:
                answer = result.get("output") if isinstance(result, dict) else None
                course["tasks_cancelled"] += isinstance(answer, dict) and "cancel_penalty_per_domain" in answer
    return course


def _episode_table(evaluation: Evaluation) -> RenderableType:
    columns = ("policy", "preset", ">seed", ">final funds", ">done", ">fail", ">cancel", "outcome", ">turns")
    table = output.new_table(*columns, gap=1)  # fits into 80 columns
    for episode in evaluation.episodes:
        if episode.status == "missing":
            continue
        key, course = episode.key, _course(episode)
        seed = key.seed if key.repeat == 1 else f"{key.seed} ({key.repeat})"
        counts = [course[end] for end in _TASKS] if episode.outcome else "-" * len(_TASKS)
        turns = episode.outcome.turns if episode.outcome else "-"
        funds, outcome = dollars(episode.final_funds_cents), _outcome(episode, course["ended_at"])
        table.add_row(*map(output.cell, (key.policy, key.preset, seed, funds, *counts, outcome, turns)))
    return table


def _outcome(episode: Episode, ended_at: str | None) -> str:
    if episode.outcome is None:
        return episode.status
    ending = _ENDINGS.get(episode.outcome.terminal_reason or "", "cut off")
    return ending if ending == "survived" or ended_at is None else f"{ending} on {ended_at[:10]}"


def report_failures(episodes: Sequence[Episode], *, is_interrupted: bool, is_kept: bool = True) -> int:
    """Name failed and missing episodes on stderr, and how to go on if they are kept, and return the exit code."""
    sys.stdout.flush()
    failed, missing = ([each for each in episodes if each.status == status] for status in ("failed", "missing"))
    for episode in failed[:_SHOWN]:
        output.print_message(f"failed: {episode.key}: {episode.reason}")
    if len(failed) > _SHOWN:
        output.print_message(f"failed: {len(failed) - _SHOWN} more")
    if is_interrupted:
        output.print_message("interrupted")
    groups: dict[tuple[str, str], list[str]] = {}
    for episode in missing:
        groups.setdefault((episode.key.policy, episode.key.preset), []).append(episode.key.seed)
    for (policy, preset), seeds in list(groups.items())[:_SHOWN]:
        output.print_message(f"not finished: {policy}, {preset}: seed {_ranges(list(dict.fromkeys(seeds)))}")
    if is_kept and (failed or missing):
        output.print_message("repeat the command to go on; what is finished is kept")
    for key, run in ((episode.key, episode.run) for episode in episodes):
        total = run.outcome.totals.get("unusable_replies") if run else None
        useless = total.get("sum") if isinstance(total, dict) else None
        if run and isinstance(useless, int) and 2 * useless > (turns := run.outcome.turns or 0):
            is_calling = run.identity.settings.get("mode") == "tools"
            advice = "; a model that calls no tools needs --param mode=text" if is_calling else ""
            output.print_message(f"{key}: {useless} of {turns} replies held nothing that could be run{advice}")
    return output.INTERRUPTED if is_interrupted else output.STOPPED if failed or missing else 0


def _ranges(seeds: Sequence[str]) -> str:
    """Return seeds as short text that ``--seeds`` takes, like 1-3 7."""
    parts: list[list[str]] = []
    for seed in seeds:
        if parts and seed.isdecimal() and parts[-1][-1].isdecimal() and int(seed) == int(parts[-1][-1]) + 1:
            parts[-1] = [parts[-1][0], seed]
        else:
            parts.append([seed])
    return " ".join("-".join(part) for part in parts)


# ---------------------------------------------------------------- resume and replay


def _runs_in(folders: Sequence[Path], command: str) -> Iterator[Run]:
    """Yield the runs in folders: those that are runs, and those that hold some."""
    if not folders:
        msg = f"{command}: got no folder, expected at least one, like ycbench {command} runs"
        raise output.UsageError(msg)
    for folder in folders:
        own = (folder / RUN_FILE).exists()
        found = [folder] if own else sorted(path.parent for path in folder.glob(f"*/{RUN_FILE}"))
        if not found:
            got = f"a folder without {RUN_FILE}" if folder.is_dir() else "not a directory"
            msg = f"{folder}: {got}, expected the folder of a run, or one with runs in it"
            raise output.UsageError(msg)
        yield from (read_run(each) for each in found)


def resume(  # noqa: PLR0913 -- one argument an option
    *folders: _Folders,
    policy: options.TrustedPolicy = None,
    base_url: Annotated[
        str | None, Parameter(name="--base-url", metavar="URL", help="Server that a key may be sent to.")
    ] = None,
    api_key_variable: Annotated[
        str | None, Parameter(metavar="NAME", help="Variable whose key may be sent, besides OPENAI_API_KEY.")
    ] = None,
    header: options.Headers = (),
    workers: options.Workers = None,
    concurrency: _Concurrency = DEFAULT_CONCURRENCY,
    live: options.Live = True,
    quiet: options.Quiet = False,
) -> int:
    """Go on with evaluations and runs that were killed or stopped, print the results and return the exit code."""
    import_from_here()
    trusted = Trusted(policy, base_url, api_key_variable, options.read_headers(header))
    whole = [folder for folder in folders if (folder / results.SUITE_FILE).exists()]
    single = [folder for folder in folders if folder not in whole]
    runs = list(_runs_in(single, "resume")) if single or not folders else []
    codes: list[int] = []
    for folder in whole:
        play = partial(resume_evaluation, folder, trusted, workers=workers, concurrency=concurrency)
        evaluation, interrupted = played(play, folder, live=live, quiet=quiet, turns=not live)
        print_evaluation(evaluation, with_episodes=True)
        codes.append(report_failures(evaluation.episodes, is_interrupted=interrupted))
        if interrupted:
            return output.INTERRUPTED
    if runs:
        interrupted, episodes = False, ()
        with output.showing_warnings(), watch(live=live, quiet=quiet, turns=not live) as progress:
            try:
                episodes = resume_runs(runs, trusted, workers=workers, concurrency=concurrency, progress=progress)
            except KeyboardInterrupt:
                interrupted = True
        for episode in episodes:
            if (run := episode.run) is not None:
                outcome, funds = _outcome(episode, _course(episode)["ended_at"]), dollars(episode.final_funds_cents)
                sys.stdout.write(f"{printable(str(run.folder))}: {outcome} {funds}\n")
        codes.append(report_failures(episodes, is_interrupted=interrupted))
    return max(codes)


def replay(*folders: _Folders, policy: options.TrustedPolicy = None) -> int:
    """Play recorded runs again, print for each whether all is as recorded, and return the exit code."""
    import_from_here()
    code = 0
    with output.showing_warnings():
        for run in _runs_in(folders, "replay"):
            try:
                report = replay_run(run, again := replaying_policy(run, Trusted(policy)))
            except (RunError, ValueError) as error:
                output.print_message(f"error: {error}")
                code = output.STOPPED
                continue
            name = printable(str(run.folder))
            if report.is_equal:
                alone = "" if again else f"; the policy was not asked, --policy {run.identity.policy} trusts its code"
                sys.stdout.write(f"{name}: {report.turns} turns, all as recorded{printable(alone)}\n")
            else:
                sys.stdout.write(f"{name}: differs (recorded | now)\n")
                sys.stdout.writelines(f"  {printable(line)}\n" for line in report.differences[:10])
                code = output.STOPPED
    return code


# ---------------------------------------------------------------- demo


def demo(
    *,
    out: Annotated[Path, Parameter(metavar="DIR", help="Folder for funds.png and results.json.")] = Path("out"),
    quiet: options.Quiet = False,
) -> int:
    """Play two policies, print the results, write them and a picture, and return the exit code."""
    from ycbench_agents.figure import FundsCurve, plot_funds, png_of  # noqa: PLC0415 -- imports matplotlib

    suite = Suite(
        name="demo",
        description="ycbench demo",
        policies=(SuitePolicy("random", "random"), SuitePolicy("greedy", "greedy")),
        presets=tuple(SuitePreset(*each) for each in options.load_all(("default", "reference"), (), ()).items()),
        seeds=("1", "2", "3"),
    )
    with _temporary() as folder:
        play = partial(play_suite, suite, Path(folder), measure=False)
        evaluation, interrupted = played(play, Path(folder), quiet=quiet)
        print_evaluation(evaluation, with_episodes=True, is_kept=False)
        document, figure = out / "results.json", out / "funds.png"
        write_file(document, to_json(results.results_document(evaluation), indent=2) + "\n")
        curves: dict[str, list[FundsCurve]] = {}
        for key, each in ((each.key, each.run) for each in evaluation.episodes if each.status == "finished"):
            if each is None or key.preset != "default":  # the others look alike
                continue
            turns, config = list(each.turns()), each.config()
            times = [dt.datetime.combine(config.sim.start_date, dt.time())]
            times += [dt.datetime.fromisoformat(turn.sim_time) for turn in turns]
            cents = [config.world.initial_funds_cents, *[turn.funds_cents for turn in turns]]
            curves.setdefault(key.policy, []).append((times, [amount / 100 for amount in cents]))
        if curves:
            write_file(figure, png_of(plot_funds(curves, "Funds over the year, preset default"), dpi=110))
            sys.stdout.write(f"wrote {document} and {figure}\n")
        return report_failures(evaluation.episodes, is_interrupted=interrupted, is_kept=False)
