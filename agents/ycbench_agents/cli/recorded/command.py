"""``ycbench run`` into folders, ``ycbench resume``, ``ycbench replay`` and ``ycbench export``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.cli.files import replace_file
from ycbench_agents.cli.output import STOPPED, UsageError, complain, printable_lines
from ycbench_agents.cli.recorded.model import Cast, ModelOptions, Trusted, cast_of, recorded_policy, replaying_policy
from ycbench_agents.cli.recorded.playing import PlayedRuns, Watching, play_runs
from ycbench_agents.cli.recorded.results import print_runs
from ycbench_agents.cli.telling import telling_of
from ycbench_agents.evaluation.redaction import NOT_SHOWN
from ycbench_agents.records import (
    RecordError,
    RunPlan,
    export_turns,
    read_run,
    replay_run,
    resume_plan,
    run_name,
)
from ycbench_agents.records.reading import RUN_FILE
from ycbench_agents.registry import make_policy
from ycbench_env import ConfigError, SeedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ycbench_agents.evaluation.redaction import Redaction
    from ycbench_agents.records import RunRecord
    from ycbench_env import Config

__all__ = ["Matrix", "export", "play_matrix", "records_in", "replay", "resume"]

_SHOWN_DIFFERENCES: Final = 10
_UNUSABLE: Final = (ConfigError, RecordError, SeedError, UsageError)


@attrs.frozen
class Matrix:
    """Runs to be played: every policy under every configuration with every seed.

    Args:
        policies: Names of policies.
        configs: Configurations by label.
        seeds: Run seeds.
        parameters: Parameters of the policies.
        model: What is said about a language model.
        max_turns: Turns after which a run is cut off, None for no limit.
        folder: Where the runs' folders go.
    """

    policies: Sequence[str]
    configs: Mapping[str, Config]
    seeds: Sequence[int]
    parameters: Mapping[str, object]
    model: ModelOptions
    max_turns: int | None
    folder: Path


def play_matrix(matrix: Matrix, watching: Watching) -> PlayedRuns:
    """Play runs into folders; those that are there are gone on with, and finished ones left alone.

    Raises:
        UsageError: Something in the matrix cannot be used; nothing was played.
    """
    return play_runs([*_plans(matrix)], watching)


def _plans(matrix: Matrix) -> Iterator[RunPlan]:
    for policy in matrix.policies:
        for config in matrix.configs.values():
            players = cast_of(policy, config, matrix.parameters, matrix.model)
            for seed in matrix.seeds:
                yield _plan(matrix, policy, config, players, seed)


def _plan(matrix: Matrix, policy: str, config: Config, players: Cast, seed: int) -> RunPlan:
    plan = RunPlan(
        folder=matrix.folder,
        config=config,
        seed=seed,
        policy=players.make(),
        name=policy,
        settings=players.settings,
        model=players.model,
        max_turns=matrix.max_turns,
    )
    return attrs.evolve(plan, folder=matrix.folder / run_name(plan.identity))


def resume(folders: Sequence[Path], trusted: Trusted, watching: Watching) -> int:
    """Go on with runs, print what came of them and return the exit code.

    Raises:
        UsageError: A folder holds no run, or held-out ones, or its policy cannot be made again; nothing was played.
    """
    with telling_of(folders) as redaction:
        if redaction.is_needed:
            msg = (
                "resume: got runs of a held-out evaluation, or of one without a readable suite.json, of which it would "
                "show seeds and worlds; expected runs with public seeds; ycbench evaluate goes on with those"
            )
            raise UsageError(msg)
        plans = [_resumed(record, trusted) for record in records_in(folders, "resume")]
    runs = play_runs(plans, watching)
    print_runs(runs)
    sys.stdout.flush()
    runs.complain()
    return runs.exit_code


def _resumed(record: RunRecord, trusted: Trusted) -> RunPlan:
    """Return the plan of a run, with the settings as they are now, so that what differs is refused."""
    policy = replaying_policy(record, trusted) if record.is_finished else recorded_policy(record, trusted)
    if policy is None:  # finished, and not to be played: whose code it was does not matter
        policy = make_policy("random")
    plan = resume_plan(record.folder, policy)
    told: object = getattr(policy, "public_settings", None)
    return plan if told is None or record.is_finished else attrs.evolve(plan, settings=told)


def replay(folders: Sequence[Path], trusted: Trusted) -> int:
    """Play records again, say for each whether everything is as it was recorded, and return the exit code.

    Raises:
        UsageError: A folder holds no run.
    """
    with telling_of(folders) as redaction:
        return max([_replay_one(record, trusted, redaction) for record in records_in(folders, "replay")])


def _replay_one(record: RunRecord, trusted: Trusted, redaction: Redaction) -> int:
    name = printable_lines(redaction.told(record.folder))
    try:
        policy = replaying_policy(record, trusted)
        report = replay_run(record.folder, policy)
    except _UNUSABLE as error:
        complain(f"error: {redaction.told(error)}")
        return STOPPED
    if not report.is_equal:
        sys.stdout.write(f"{name}: differs (recorded | now)\n")
        differences = [NOT_SHOWN] if redaction.is_needed else report.differences[:_SHOWN_DIFFERENCES]
        sys.stdout.writelines(f"  {printable_lines(line)}\n" for line in differences)
        return STOPPED
    alone = (
        "" if policy is not None else f"; the policy was not asked, --policy {record.identity.policy} trusts its code"
    )
    sys.stdout.write(f"{name}: {report.turns} turns, all as recorded{printable_lines(alone)}\n")
    return 0


def export(
    records: Sequence[RunRecord], out: Path | None, trusted: Trusted, begin: Callable[[], None] = lambda: None
) -> int:
    """Write the turns of runs as lines of JSON, to a file or to stdout, and return how many there are.

    Args:
        records: The runs.
        out: The file, None for stdout.
        trusted: Policies whose code may run.
        begin: Is called before each run is played again.

    Raises:
        RecordError: A record is damaged, or turns turn out differently now.
        UsageError: Its policy cannot be made again, or the file cannot be written.
    """
    written = 0

    def lines() -> Iterator[str]:
        nonlocal written
        for record in records:
            begin()
            for turn in export_turns(record.folder, replaying_policy(record, trusted)):
                yield turn.to_line() + "\n"
                written += 1

    if out is None:
        sys.stdout.writelines(lines())
        return written
    try:
        replace_file(out, lambda part: _write(part, lines()))
    except OSError as error:
        msg = f"--out {out}: cannot be written: {error.strerror or error}"
        raise UsageError(msg) from None
    return written


def _write(path: Path, lines: Iterator[str]) -> None:
    with path.open("w", encoding="ascii", newline="\n") as file:
        file.writelines(lines)


def records_in(folders: Sequence[Path], verb: str) -> Iterator[RunRecord]:
    """Yield the records in folders of runs, or in the folders right below.

    Raises:
        RecordError: One is damaged.
        UsageError: A folder holds none.
    """
    if not folders:
        msg = f"{verb}: got no folder, expected at least one, like ycbench {verb} runs"
        raise UsageError(msg)
    for folder in folders:
        found = (
            [folder] if (folder / RUN_FILE).exists() else sorted(path.parent for path in folder.glob(f"*/{RUN_FILE}"))
        )
        if not found:
            got = f"a folder without {RUN_FILE}" if folder.is_dir() else "what is no folder"
            msg = f"{folder}: got {got}, expected the folder of a run, or one that runs are in"
            raise UsageError(msg)
        yield from map(read_run, found)
