"""``ycbench run``, ``resume``, ``replay`` and ``demo``: an evaluation of a suite that options describe."""

from __future__ import annotations

import contextlib
import datetime as dt
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

import attrs
from cyclopts import Parameter
from rich.console import RenderableType
from rich.text import Text

from ycbench_agents.base import JsonObject
from ycbench_agents.cli.live import watch
from ycbench_agents.cli.options import (
    NO_DEFAULT,
    SEVERAL,
    Count,
    Files,
    Headers,
    JsonFlag,
    Parameters,
    Presets,
    Quiet,
    Seeds,
    Settings,
    TrustedPolicy,
    load_all,
    overrides_in_force,
    print_overrides,
    read_parameters,
    read_seeds,
)
from ycbench_agents.cli.output import (
    INTERRUPTED,
    STOPPED,
    UsageError,
    amount,
    cell,
    complain,
    new_table,
    print_json,
    print_parts,
    telling_warnings,
    warn,
)
from ycbench_agents.evaluation.evaluate import play_suite, resume_evaluation, resume_runs
from ycbench_agents.evaluation.factory import Trusted, asks_a_person, replaying_policy
from ycbench_agents.evaluation.results import (
    RESULTS_FILE,
    SUITE_FILE,
    Episode,
    Evaluation,
    leaderboard,
    read_evaluation,
    results_document,
    usage_of,
)
from ycbench_agents.evaluation.suite import DEFAULT_CONCURRENCY, LLM, Limits, Suite, SuitePolicy, SuitePreset
from ycbench_agents.files import read_file, to_json, write_file
from ycbench_agents.registry import policy_names
from ycbench_agents.runs import Run, RunError, read_run, replay_run
from ycbench_agents.runs.run import RUN_FILE, plain_json
from ycbench_env import Config
from ycbench_env.text import printable

if TYPE_CHECKING:
    from ycbench_agents.figure import FundsCurve

__all__ = [
    "demo",
    "import_from_here",
    "played",
    "print_evaluation",
    "read_headers",
    "replay",
    "report_failures",
    "resume",
    "run",
]

_RUNS: Final = Path("runs")
_SHOWN: Final = 20  # lines about one matter
_ENDINGS: Final = {"horizon_end": "survived", "bankruptcy": "bankrupt"}
_DEMO_POLICIES: Final = ("random", "greedy")
_DEMO_PRESETS: Final = ("default", "reference")
_DEMO_SEEDS: Final = (1, 2, 3)

_Policies = Annotated[
    tuple[str, ...],
    SEVERAL,
    Parameter(
        name="--policy",
        metavar="NAME...",
        help=f"Names of policies: {', '.join(policy_names())}; or module:Class of your own.",
    ),
]
_Model = Annotated[str | None, Parameter(metavar="NAME", help="Model of policy llm, as its server knows it.")]
_Url = Annotated[str | None, Parameter(name="--base-url", metavar="URL", help="Address of the model's server.")]
_Workers = Annotated[
    Count | None, NO_DEFAULT, Parameter(help="Episodes to play at once; one a processor if none is given.")
]
_Concurrency = Annotated[Count, Parameter(help="Episodes of language models to play at once.")]
_Live = Annotated[bool, Parameter(help="Show episodes as they go; --no-live writes a line a turn.")]
_Folders = Annotated[Path, Parameter(help="Folders of runs, or folders with runs in them.")]


def run(  # noqa: PLR0913 -- one argument an option
    *,
    policy: _Policies = ("greedy",),
    preset: Presets = (),
    config: Files = (),
    seeds: Seeds = ("1",),
    param: Parameters = (),
    settings: Settings = (),
    max_turns: Annotated[Count | None, NO_DEFAULT, Parameter(help="Cut episodes off after so many turns.")] = None,
    timeout: Annotated[Count, Parameter(metavar="SECONDS", help="Most time of an episode of a scripted policy.")] = 600,
    model: _Model = None,
    base_url: _Url = None,
    system_prompt: Annotated[
        Path | None, Parameter(metavar="FILE", help="File with a template of the model's system prompt.")
    ] = None,
    prices: Annotated[
        tuple[Path, ...],
        SEVERAL,
        NO_DEFAULT,
        Parameter(name="--prices", metavar="FILE...", help="TOML files with prices of models."),
    ] = (),
    header: Headers = (),
    records: Annotated[
        Path | None, Parameter(metavar="DIR", help="Keep the runs and their results there; llm always does, in runs.")
    ] = None,
    workers: _Workers = None,
    concurrency: _Concurrency = DEFAULT_CONCURRENCY,
    live: _Live = True,
    as_json: JsonFlag = False,
    quiet: Quiet = False,
) -> int:
    """Play every combination of policies, configurations and seeds, print the results and return the exit code."""
    if twice := [name for name in policy if policy.count(name) > 1]:
        msg = f"--policy: got {twice[0]!r} twice, expected each policy once"
        raise UsageError(msg)
    if LLM not in policy and (model or base_url or system_prompt or prices or header):
        msg = "got options of a language model (--model, --base-url ...) and no --policy llm, which they are for"
        raise UsageError(msg)
    import_from_here()
    configs = load_all(preset, config, settings)
    overrides = overrides_in_force([*preset, *config], settings, configs.values())
    parameters = read_parameters(param)
    plain = cast("JsonObject", plain_json(dict(parameters), "--param"))
    of_llm = _llm_policy(plain, model, base_url, system_prompt, prices) if LLM in policy else None
    suite = Suite(
        name="run",
        description="ycbench run",
        policies=tuple(of_llm if of_llm and name == LLM else SuitePolicy(name, name, plain) for name in policy),
        presets=tuple(SuitePreset(label, each) for label, each in configs.items()),
        seeds=tuple(map(str, read_seeds(seeds))),
        limits=Limits(seconds=timeout, max_turns=max_turns),
        concurrency=concurrency,
    )
    if "replay" in policy:
        _warn_of_other_episodes(parameters, configs, suite.seeds)
    at_terminal = any(asks_a_person(name, parameters) for name in policy)
    kept = records or (_RUNS if LLM in policy else None)
    with _temporary() if kept is None else contextlib.nullcontext(kept) as place:
        folder = Path(place)
        play = partial(
            play_suite,
            suite,
            folder,
            workers=1 if at_terminal else workers,
            headers=read_headers(header),
            measure=False,
            overrides=overrides,
        )
        evaluation, interrupted = played(play, folder, live=live, quiet=quiet or at_terminal, turns=not live)
        if as_json:
            rows = [_episode_json(each, is_kept=kept is not None) for each in evaluation.episodes]
            document = {**results_document(evaluation), "overrides": overrides, "interrupted": interrupted}
            print_json({**document, "episodes": rows})
        else:
            print_overrides(overrides)
            print_evaluation(evaluation, with_episodes=True, is_kept=kept is not None)
        return report_failures(evaluation.episodes, is_interrupted=interrupted, folder=kept)


def _llm_policy(
    parameters: JsonObject,
    model: str | None,
    base_url: str | None,
    system_prompt: Path | None,
    prices: tuple[Path, ...],
) -> SuitePolicy:
    given = {"model": model, "base_url": base_url, "system_prompt": system_prompt}
    if twice := sorted(name for name, value in given.items() if value is not None and name in parameters):
        msg = f"--param: got {twice[0]}, for which there is an option of its own, expected one of them"
        raise UsageError(msg)
    if system_prompt is not None:
        try:
            parameters = {**parameters, "system_prompt": read_file(system_prompt).decode("utf-8-sig")}
        except UnicodeDecodeError:
            msg = f"--system-prompt {system_prompt}: not UTF-8"
            raise UsageError(msg) from None
    return SuitePolicy(LLM, LLM, parameters, model, base_url, prices)


def _temporary() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="ycbench-", ignore_cleanup_errors=True)


def played(
    play: Callable[..., Evaluation], folder: Path, *, live: bool = True, quiet: bool, turns: bool = False
) -> tuple[Evaluation, bool]:
    """Return the evaluation that ``play(progress=...)`` plays into a folder, and whether Ctrl-C ended it early."""
    with telling_warnings(), watch(live=live, quiet=quiet, turns=turns) as progress:
        try:
            return play(progress=progress), False
        except KeyboardInterrupt:
            return read_evaluation(folder), True


def read_headers(texts: Sequence[str]) -> dict[str, str]:
    """Return the headers that the values of ``--header`` describe; values are shown in no error.

    Raises:
        UsageError: One is no header.
    """
    headers: dict[str, str] = {}
    for number, text in enumerate(texts, 1):
        name, colon, value = text.partition(":")
        if not colon or not name.strip():
            msg = f"--header: got a text without a name and a colon (number {number}), expected 'NAME: VALUE'"
            raise UsageError(msg)
        headers[name.strip()] = value.strip()
    return headers


def import_from_here() -> None:
    """Let a policy of one's own lie in the working directory, where an installed program does not look."""
    here = str(Path.cwd())
    if here not in sys.path:  # at the end, so that no file there hides a library
        sys.path.append(here)


def _warn_of_other_episodes(
    parameters: Mapping[str, object], configs: Mapping[str, Config], seeds: Sequence[str]
) -> None:
    """Warn where a plan is replayed under a configuration or with a seed that it was not made for."""
    from ycbench_agents.planner import plan_facts  # noqa: PLC0415 -- slow to import

    path = parameters.get("path")
    facts = plan_facts(path) if isinstance(path, str) else None
    if facts is None:
        return
    other = [label for label, config in configs.items() if config.digest() != facts.config_digest]
    if other:
        warn(f"{path} is a plan for another configuration than {', '.join(other[:3])}: its funds will differ")
    if other := [seed for seed in seeds if int(seed) != facts.seed]:
        warn(f"{path} is a plan for seed {facts.seed}, not for {', '.join(other[:3])}: its funds will differ")


# ---------------------------------------------------------------- results


def print_evaluation(evaluation: Evaluation, *, with_episodes: bool = False, is_kept: bool = True) -> None:
    """Print the leaderboard, on request with a table of episodes above, and how much was played."""
    statuses = [episode.status for episode in evaluation.episodes]
    counts = ", ".join(f"{statuses.count(status)} {status}" for status in ("failed", "missing") if status in statuses)
    lines = [f"{statuses.count('finished')} of {len(statuses)} episodes finished{counts and f', {counts}'}"]
    if (used := usage_of(evaluation.episodes)) is not None:
        tokens = "unknown" if used.tokens is None else f"{'at least ' * bool(used.unknown_turns)}{used.tokens:,}"
        cost = "unknown cost"
        if used.cost_usd is not None:
            cost = f"{'at least ' * bool(used.unknown_cost_turns)}${used.cost_usd:.2f}"
        lines.append(f"language models: {used.turns:,} turns, {tokens} tokens, {cost}")
    if is_kept:
        lines.append(f"results: {evaluation.folder / RESULTS_FILE}")
    rows = leaderboard(evaluation)
    with_failed = any(row.failed for row in rows)
    columns = ["policy", "preset", ">score", ">final funds", ">run", ">failed", ">bankrupt"]
    if with_failed:
        columns.insert(3, ">failed as 0")
    board = new_table(*columns, gap=1)
    for row in rows:
        score = amount(row.score_cents)
        values = [row.policy, row.preset, score if row.is_complete else f"({score})"]
        if with_failed:
            values.append(amount(row.score_failed_as_zero_cents))
        values += [amount(row.final_funds_cents), f"{row.finished}/{row.planned}"]
        board.add_row(*map(cell, [*values, row.failed, row.bankrupt]))
    parts: list[RenderableType] = [_episode_table(evaluation)] if with_episodes else []
    print_parts(*parts, board, Text("\n").join(map(cell, lines)))
    sys.stdout.flush()


def _course(run: Run | None) -> dict[str, Any]:
    """Return tasks by their ends, and the simulated time after the last turn, as far as turns can be read."""
    tasks = dict.fromkeys(("completed", "failed", "cancelled"), 0)
    ended_at = None
    with contextlib.suppress(RunError):
        for turn in run.turns() if run is not None else ():
            ended_at = turn.sim_time
            for event in turn.events:
                if isinstance(event, dict) and event.get("type") == "task_completed":
                    tasks["completed" if event.get("success") is True else "failed"] += 1
            for result in turn.results:
                output = result.get("output") if isinstance(result, dict) else None
                tasks["cancelled"] += isinstance(output, dict) and "cancel_penalty_per_domain" in output
    return {**tasks, "ended_at": ended_at}


def _episode_table(evaluation: Evaluation) -> RenderableType:
    columns = ("policy", "preset", ">seed", ">final funds", ">done", ">fail", ">cancel", "outcome", ">turns")
    table = new_table(*columns, gap=1)  # fits into 80 columns
    for episode in evaluation.episodes:
        if episode.status == "missing":
            continue
        key, run, course = episode.key, episode.run, _course(episode.run)
        seed = key.seed if key.repeat == 1 else f"{key.seed} ({key.repeat})"
        turns = "-" if run is None or run.outcome.turns is None else run.outcome.turns
        tasks = (course["completed"], course["failed"], course["cancelled"])
        funds, outcome = amount(episode.final_funds_cents), _outcome(episode, course["ended_at"])
        table.add_row(*map(cell, (key.policy, key.preset, seed, funds, *tasks, outcome, turns)))
    return table


def _outcome(episode: Episode, ended_at: str | None) -> str:
    if episode.status != "finished" or episode.run is None:
        return episode.status
    ending = _ENDINGS.get(episode.run.outcome.terminal_reason or "", "cut off")
    return ending if ending == "survived" or ended_at is None else f"{ending} on {ended_at[:10]}"


def _episode_json(episode: Episode, *, is_kept: bool) -> dict[str, object]:
    run = episode.run if episode.status == "finished" else None
    course: Mapping[str, Any] = _course(run) if run else {}
    return {
        **attrs.asdict(episode.key),
        "status": episode.status,
        "reason": episode.reason,
        "final_funds_cents": episode.final_funds_cents,
        "score_cents": episode.score_cents,
        **{f"tasks_{end}": course.get(end) for end in ("completed", "failed", "cancelled")},
        "terminal_reason": run.outcome.terminal_reason if run else None,
        "ended_at": course.get("ended_at"),
        "turns": run.outcome.turns if run else None,
        "folder": str(episode.run.folder) if is_kept and episode.run else None,
    }


def report_failures(episodes: Sequence[Episode], *, is_interrupted: bool, folder: Path | None) -> int:
    """Name failed and missing episodes on stderr and return the exit code.

    Args:
        episodes: The episodes that were asked for.
        is_interrupted: Whether Ctrl-C ended the playing.
        folder: Where they are kept, None for nowhere.
    """
    sys.stdout.flush()
    failed = [episode for episode in episodes if episode.status == "failed"]
    missing = [episode for episode in episodes if episode.status == "missing"]
    for episode in failed[:_SHOWN]:
        complain(f"failed: {episode.key}: {episode.reason}")
    if len(failed) > _SHOWN:
        complain(f"failed: {len(failed) - _SHOWN} more")
    if is_interrupted:
        complain("interrupted")
    groups: dict[tuple[str, str], list[str]] = {}
    for episode in missing:
        groups.setdefault((episode.key.policy, episode.key.preset), []).append(episode.key.seed)
    for (policy, preset), seeds in list(groups.items())[:_SHOWN]:
        complain(f"not finished: {policy}, {preset}: seed {_ranges(list(dict.fromkeys(seeds)))}")
    if folder is not None and (failed or missing):
        complain(f"go on with: ycbench resume {folder}")
    for episode in episodes:
        if (hint := _hint(episode)) is not None:
            complain(f"{episode.key}: {hint}")
    return INTERRUPTED if is_interrupted else STOPPED if failed or missing else 0


def _ranges(seeds: Sequence[str]) -> str:
    """Return seeds as short text that ``--seeds`` takes, like 1-3 7."""
    parts: list[list[str]] = []
    for seed in seeds:
        if parts and seed.isdecimal() and parts[-1][-1].isdecimal() and int(seed) == int(parts[-1][-1]) + 1:
            parts[-1] = [parts[-1][0], seed]
        else:
            parts.append([seed])
    return " ".join("-".join(part) for part in parts)


def _hint(episode: Episode) -> str | None:
    """Return what to try where most replies of a model held nothing that could be run."""
    if episode.run is None:
        return None
    total, turns = episode.run.outcome.totals.get("unusable_replies"), episode.run.outcome.turns or 0
    useless = total.get("sum") if isinstance(total, dict) else None
    if not isinstance(useless, int) or useless == 0 or 2 * useless <= turns:
        return None
    tools = episode.run.identity.settings.get("mode") == "tools"
    advice = "; a model that calls no tools needs --param mode=text" if tools else ""
    return f"{useless} of {turns} replies held nothing that could be run{advice}"


# ---------------------------------------------------------------- resume and replay


def _runs_in(folders: Sequence[Path], command: str) -> Iterator[Run]:
    """Yield the runs in folders: those that are runs, and those that hold some."""
    if not folders:
        msg = f"{command}: got no folder, expected at least one, like ycbench {command} runs"
        raise UsageError(msg)
    for folder in folders:
        own = (folder / RUN_FILE).exists()
        found = [folder] if own else sorted(path.parent for path in folder.glob(f"*/{RUN_FILE}"))
        if not found:
            got = f"a folder without {RUN_FILE}" if folder.is_dir() else "not a directory"
            msg = f"{folder}: {got}, expected the folder of a run, or one with runs in it"
            raise UsageError(msg)
        yield from (read_run(each) for each in found)


def resume(  # noqa: PLR0913 -- one argument an option
    *folders: _Folders,
    policy: TrustedPolicy = None,
    base_url: Annotated[
        str | None, Parameter(name="--base-url", metavar="URL", help="Server that a key may be sent to.")
    ] = None,
    api_key_variable: Annotated[
        str | None, Parameter(metavar="NAME", help="Variable whose key may be sent, besides OPENAI_API_KEY.")
    ] = None,
    header: Headers = (),
    workers: _Workers = None,
    concurrency: _Concurrency = DEFAULT_CONCURRENCY,
    live: _Live = True,
    quiet: Quiet = False,
) -> int:
    """Go on with evaluations and runs that were killed or stopped, print the results and return the exit code."""
    import_from_here()
    trusted = Trusted(policy, base_url, api_key_variable, read_headers(header))
    whole = [folder for folder in folders if (folder / SUITE_FILE).exists()]
    single = [folder for folder in folders if folder not in whole]
    runs = list(_runs_in(single, "resume")) if single or not folders else []
    codes: list[int] = []
    for folder in whole:
        play = partial(resume_evaluation, folder, trusted, workers=workers, concurrency=concurrency)
        evaluation, interrupted = played(play, folder, live=live, quiet=quiet, turns=not live)
        print_evaluation(evaluation, with_episodes=True)
        codes.append(report_failures(evaluation.episodes, is_interrupted=interrupted, folder=folder))
        if interrupted:
            return INTERRUPTED
    if runs:
        interrupted, episodes = False, ()
        with telling_warnings(), watch(live=live, quiet=quiet, turns=not live) as progress:
            try:
                episodes = resume_runs(runs, trusted, workers=workers, concurrency=concurrency, progress=progress)
            except KeyboardInterrupt:
                interrupted = True
        for episode in episodes:
            if (run := episode.run) is not None:
                outcome = _outcome(episode, _course(run)["ended_at"])
                sys.stdout.write(f"{printable(str(run.folder))}: {outcome} {amount(episode.final_funds_cents)}\n")
        codes.append(report_failures(episodes, is_interrupted=interrupted, folder=None))
    return max(codes)


def replay(*folders: _Folders, policy: TrustedPolicy = None) -> int:
    """Play recorded runs again, print for each whether all is as recorded, and return the exit code."""
    import_from_here()
    code = 0
    with telling_warnings():
        for run in _runs_in(folders, "replay"):
            try:
                report = replay_run(run, again := replaying_policy(run, Trusted(policy)))
            except (RunError, ValueError) as error:
                complain(f"error: {error}")
                code = STOPPED
                continue
            name = printable(str(run.folder))
            if report.is_equal:
                alone = "" if again else f"; the policy was not asked, --policy {run.identity.policy} trusts its code"
                sys.stdout.write(f"{name}: {report.turns} turns, all as recorded{printable(alone)}\n")
            else:
                sys.stdout.write(f"{name}: differs (recorded | now)\n")
                sys.stdout.writelines(f"  {printable(line)}\n" for line in report.differences[:10])
                code = STOPPED
    return code


# ---------------------------------------------------------------- demo


def demo(
    *,
    out: Annotated[Path, Parameter(metavar="DIR", help="Folder for funds.png and results.json.")] = Path("out"),
    quiet: Quiet = False,
) -> int:
    """Play two policies, print the results, write them and a picture, and return the exit code."""
    from ycbench_agents.figure import save_funds_figure  # noqa: PLC0415 -- imports matplotlib

    suite = Suite(
        name="demo",
        description="ycbench demo",
        policies=tuple(SuitePolicy(name, name) for name in _DEMO_POLICIES),
        presets=tuple(SuitePreset(label, config) for label, config in load_all(_DEMO_PRESETS, (), ()).items()),
        seeds=tuple(map(str, _DEMO_SEEDS)),
    )
    with _temporary() as folder:
        play = partial(play_suite, suite, Path(folder), measure=False)
        evaluation, interrupted = played(play, Path(folder), quiet=quiet)
        print_evaluation(evaluation, with_episodes=True, is_kept=False)
        results, figure = out / "results.json", out / "funds.png"
        write_file(results, to_json(results_document(evaluation), indent=2) + "\n")
        drawn = [each for each in evaluation.episodes if each.key.preset == _DEMO_PRESETS[0]]  # the others look alike
        if curves := [_curve(each) for each in drawn if each.status == "finished"]:
            save_funds_figure(curves, figure)
            sys.stdout.write(f"wrote {results} and {figure}\n")
        return report_failures(evaluation.episodes, is_interrupted=interrupted, folder=None)


def _curve(episode: Episode) -> FundsCurve:
    """Return the funds of a finished episode after each turn."""
    from ycbench_agents.figure import FundsCurve  # noqa: PLC0415 -- as above

    run = cast("Run", episode.run)
    turns = list(run.turns())
    start = str(cast("dict[str, object]", run.identity.config["sim"])["start_date"])
    return FundsCurve(
        label=episode.key.policy,
        preset=episode.key.preset,
        times=tuple(map(dt.datetime.fromisoformat, [start, *[turn.sim_time for turn in turns]])),
        funds_dollars=(run.config().world.initial_funds_cents / 100, *[turn.funds_cents / 100 for turn in turns]),
        bankrupt=episode.is_bankrupt,
    )
