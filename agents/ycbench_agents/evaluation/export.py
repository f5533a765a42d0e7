"""Data sets of runs, played again on the way: JSON lines, Parquet, Minari (docs/datasets.md).

Of a held-out evaluation only aggregates are exported, one row an episode: any turn of it, even its reward, reveals a
task of the hidden market.
"""

from __future__ import annotations

import datetime as dt
import itertools
import os
import re
import shutil
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast

import attrs
import gymnasium as gym

from ycbench_agents.base import Policy
from ycbench_agents.evaluation.factory import Trusted, build_policy, replaying_policy
from ycbench_agents.evaluation.results import SEEDS_FILE, SUITE_FILE, Evaluation, read_evaluation
from ycbench_agents.evaluation.suite import LLM
from ycbench_agents.evaluation.validate import Track, record_digest
from ycbench_agents.files import to_json, writing
from ycbench_agents.llm.reply import reply_from_json
from ycbench_agents.runs import Driver, Run, RunMismatchError, RunWarning, TurnRecord, read_run, replayed
from ycbench_agents.runs.run import RUN_FILE, plain_json, version
from ycbench_env import Observation
from ycbench_env.actions import grammar_for, parse_turn
from ycbench_env.errors import needs_extra
from ycbench_env.text import Json, JsonObject
from ycbench_env.wrappers import ScratchpadMemory

Form: TypeAlias = Literal["jsonl", "parquet", "minari"]

PARQUET_FORMAT: Final = 3
"""Version of the columns and of the metadata, which is JSON under the key ``ycbench`` of the schema."""

_DATASET_NAME: Final = re.compile(r"(?:[a-z0-9_][a-z0-9_-]+/)*[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?-v[0-9]+")
_ROWS: Final = 256  # of a turn with the longest answers, so many stay far below the 2 GiB of a column
_COUNTS: Final = ("prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens")
_MINARI_PLACE: Final = "MINARI_DATASETS_PATH"
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class ExportError(ValueError):
    """Runs cannot be exported; the message shows what was got and expected, and how to put it right."""


# ---------------------------------------------------------------- what is exported


def find_runs(folders: Sequence[Path]) -> list[Run]:
    """Return the runs in folders of runs, in folders with such in them, and in folders of evaluations.

    Raises:
        RunError: A folder holds no run, or a damaged one.
    """
    runs: list[Run] = []
    for folder in folders:
        inside = sorted(path.parent for path in folder.glob(f"*/{RUN_FILE}") if not path.parent.is_symlink())
        runs += [read_run(each) for each in ([folder] if (folder / RUN_FILE).exists() or not inside else inside)]
    return runs


def _held_out_evaluations(folders: Sequence[Path]) -> list[Evaluation]:
    """Return the held-out evaluations that folders are, or lie in; RunError where a suite.json cannot be read."""
    # Format 1 kept its runs in a folder "runs", one level further down.
    places = dict.fromkeys(place for folder in folders for place in (folder.resolve(), *folder.resolve().parents[:2]))
    kept = [place for place in places if any(os.path.lexists(place / name) for name in (SUITE_FILE, SEEDS_FILE))]
    return [evaluation for evaluation in map(read_evaluation, kept) if evaluation.suite.is_held_out]


def export(  # noqa: PLR0913 -- one an option
    folders: Sequence[Path],
    form: Form,
    out: Path,
    *,
    name: str | None = None,
    trusted: Trusted | None = None,
    progress: Track = iter,
) -> int:
    """Write the runs in folders and return the number of lines, rows or steps.

    Of held-out evaluations it is aggregates, one row an episode, with a RunWarning.

    Args:
        folders: Folders of runs, folders with such in them, or folders of evaluations.
        form: Form of the data.
        out: File to write, ``-`` for standard output; for minari the folder of data sets.
        name: Name of the data set, for minari alone.
        trusted: Policies whose code may run, to export the messages that they asked with; for jsonl alone.
        progress: Yields the runs, and may show how far they are.

    Raises:
        ExportError: The runs cannot be exported in this form.
        FileError: The file cannot be written.
        OSError: A data set of Minari cannot be written.
        RunError: A folder holds no run or a damaged one, or a turn turns out differently now.
        MissingExtraError: A library of an extra is not installed.
    """
    if (form == "minari") != (name is not None):
        msg = f"--name: got {name!r}, expected the name of a data set, like ycbench/greedy-v0, with minari alone"
        raise ExportError(msg)
    if secret := _held_out_evaluations(folders):
        if len(secret) < len({folder.resolve() for folder in folders}) or form == "minari":
            msg = "got a held-out evaluation; expected it alone, as jsonl or parquet, which hold its aggregates"
            raise ExportError(msg)
        warnings.warn("the evaluation is held out: one row of aggregates an episode", RunWarning, stacklevel=2)
        return _write_aggregates(secret, out, form)
    runs = find_runs(folders)
    if form == "parquet":
        return write_parquet(runs, out, progress)
    if name is not None:
        return write_minari(runs, out, name, progress)
    count = 0
    with writing(out) as file:
        for run in progress(runs):
            own = trusted is not None and trusted.policy == run.identity.policy
            for turn in export_turns(run, replaying_policy(run, trusted) if trusted and own else None):
                file.write(f"{to_json(turn)}\n".encode("ascii"))
                count += 1
    return count


def _write_aggregates(evaluations: Sequence[Evaluation], path: Path, form: Form) -> int:
    """Write one row an episode of held-out evaluations, failures by their class alone; return how many there are."""
    import pandas as pd  # noqa: PLC0415 -- of an extra, slow to import

    table = pd.concat([each.frame().assign(suite=each.suite.name) for each in evaluations], ignore_index=True)
    table.insert(0, "suite", table.pop("suite"))
    table["reason"] = table["reason"].str.partition(":")[0]
    with writing(path) as file:
        if form == "parquet":
            _arrow()
            table.to_parquet(file, index=False, compression="zstd")
        else:
            rows = table.astype(object).where(table.notna(), None).to_dict("records")
            file.write("".join(f"{to_json(row)}\n" for row in rows).encode("ascii"))
    return len(table)


def _seen_turns(run: Run, policy: Policy | None = None) -> Iterator[tuple[TurnRecord, Observation, Observation, int]]:
    """Yield each turn of a run, played again, the observations before and after, and the cents from it to the end."""
    if run.identity.version != version():
        msg = f"{run.folder}: was written by ycbench-env {run.identity.version}, this is {version()}"
        warnings.warn(msg, RunWarning, stacklevel=3)
    to_go_cents = sum(turn.funds_delta_cents for turn in run.turns())
    driver = Driver(run)
    before = driver.observation
    for turn, differences in replayed(run, driver, policy):
        if differences:
            msg = f"{run.folder}: turn {turn.turn} is not as it was recorded (recorded | now)"
            raise RunMismatchError(msg, differences)
        yield turn, before, driver.observation, to_go_cents
        before, to_go_cents = driver.observation, to_go_cents - turn.funds_delta_cents


def _encodable(text: str) -> str:
    """Return a text in which each half of a character, which UTF-8 does not have, is U+FFFD."""
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)


# ---------------------------------------------------------------- lines of JSON


def export_turns(run: Run, policy: Policy | None = None) -> Iterator[JsonObject]:
    """Yield the turns of a run as examples (docs/datasets.md).

    Args:
        run: The run, finished or not.
        policy: A policy like the one that played, whose ``last_messages`` are the prompts. Without it, prompts of a
            language model's run follow from its recorded settings; any other's are texts of observations.

    Raises:
        RunError: The record is damaged, or a turn turns out differently now.
        ValueError: The recorded settings of a language model cannot be used.
    """
    run.config()  # refuses one that would open other files
    policy = build_policy(run.identity) if policy is None and run.identity.policy == LLM else policy
    for turn, before, _, to_go_cents in _seen_turns(run, policy):
        messages: object = getattr(policy, "last_messages", None)
        yield {
            "run": run.folder.resolve().name,
            "seed": run.identity.seed,
            "turn": turn.turn,
            "prompt": before["text"] if messages is None else plain_json(messages, "messages"),
            "completion": cast("Json", turn.action) if messages is None else [_message(turn)],
            "reward": turn.reward,
            "return_to_go": to_go_cents / 100,
        }


def _message(turn: TurnRecord) -> JsonObject:
    """Return the reply of a turn as the chat interface has it."""
    reply = reply_from_json((turn.trace or {}).get("reply"), f"turn {turn.turn}: reply in its trace")
    message: JsonObject = {**reply.reasoning, "role": "assistant", "content": reply.content}
    if reply.tool_calls:
        message["tool_calls"] = functions = list[Json]()
        for call in reply.tool_calls:
            text = call.arguments if isinstance(call.arguments, str) else to_json(call.arguments)
            functions.append({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": text}})
    return message


# ---------------------------------------------------------------- Parquet


_COLUMNS: Final = {
    **dict.fromkeys(("run", "policy", "model", "preset", "config_digest", "seed"), "string"),
    "repeat": "int32",
    "turn": "int32",
    "sim_time": "timestamp[us]",
    "reward": "double",
    "return_to_go": "double",
    "funds_cents": "int64",
    "invalid_commands": "int32",
    **dict.fromkeys(("forced_advance", "terminated", "truncated"), "bool"),
    "terminal_reason": "string",
    **dict.fromkeys(_COUNTS, "int64"),
    "cost_usd": "double",
    "observation": "string",
    "action": "string",  # a list of such
    **dict.fromkeys(("results", "events", "trace", "state_hash", "notes_sha256"), "string"),
}
"""Columns of a row a turn, with Arrow's name of their type."""


def write_parquet(runs: Sequence[Run], path: Path, progress: Track = iter) -> int:
    """Write a row for each turn of runs, none of them held out, and return how many there are."""
    pa, parquet = _arrow()
    metadata = {
        "format": PARQUET_FORMAT,
        "version": version(),
        "configs": {run.identity.config_digest: run.identity.config for run in runs},
        "runs": [{**_key(run), "version": run.identity.version, "digest": record_digest(run)} for run in runs],
    }
    kinds = {name: pa.type_for_alias(kind) for name, kind in _COLUMNS.items()} | {"action": pa.list_(pa.string())}
    schema = pa.schema([*kinds.items()], metadata={"ycbench": to_json(metadata)})
    count = 0
    with writing(path) as file, parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for run in progress(runs):
            key = _key(run)
            rows = ({**key, **_row(turn, before, to_go)} for turn, before, _, to_go in _seen_turns(run))
            while batch := list(itertools.islice(rows, _ROWS)):
                writer.write_batch(pa.RecordBatch.from_pylist(batch, schema=schema))
                count += len(batch)
    return count


def _arrow() -> tuple[Any, Any]:
    with needs_extra("evaluation", "Parquet needs pyarrow"):
        import pyarrow as pa  # noqa: PLC0415 -- of an extra, slow to import
        from pyarrow import parquet  # noqa: PLC0415 -- as above
    return pa, parquet


def _key(run: Run) -> JsonObject:
    """Return the columns that all rows of a run share."""
    identity, name = run.identity, run.folder.resolve().name
    repeat = re.search(r"-repeat([0-9]{1,9})-", name)
    return {
        "run": name,
        "policy": identity.policy,
        "model": identity.model,
        "preset": str(identity.config.get("name")),
        "config_digest": identity.config_digest,
        "seed": str(identity.seed),
        "repeat": int(repeat[1]) if repeat else 1,
    }


def _row(turn: TurnRecord, before: Observation, to_go_cents: int) -> dict[str, object]:
    trace = turn.trace or {}
    return {
        **attrs.asdict(turn, recurse=False),
        "sim_time": dt.datetime.fromisoformat(turn.sim_time),
        "return_to_go": to_go_cents / 100,
        **{name: value if type(value := trace.get(name)) is int else None for name in _COUNTS},
        "cost_usd": cost if type(cost := trace.get("cost_usd")) in {int, float} else None,
        "observation": _encodable(before["text"]),
        "action": [_encodable(text) for text in ([turn.action] if isinstance(turn.action, str) else turn.action)],
        "results": to_json(turn.results),
        "events": to_json(turn.events),
        "trace": None if turn.trace is None else to_json(turn.trace),
    }


# ---------------------------------------------------------------- Minari


def write_minari(runs: Sequence[Run], folder: Path, name: str, progress: Track = iter) -> int:
    """Make a data set of complete runs of one configuration, none of them held out; return how many steps it has.

    Minari must know all texts before it takes the first, so all episodes are in memory.
    """
    with needs_extra("minari", "--format minari needs Minari"):
        import minari  # pyright: ignore[reportMissingTypeStubs]  # noqa: PLC0415 -- of an extra, slow to import; no stubs
    if not _DATASET_NAME.fullmatch(name) or (folder / name).exists():
        msg = f"--name: got {name!r}, expected a name with a version that is not in {folder}, like ycbench/greedy-v0"
        raise ExportError(msg)
    kinds = {(run.identity.config_digest, run.identity.scratchpad, run.identity.version) for run in runs}
    if len(kinds) != 1:
        msg = f"got runs of {len(kinds)} configurations, versions or uses of a scratchpad; export each kind by itself"
        raise ExportError(msg)
    if empty := [run.folder for run in runs if not run.outcome.turns]:
        msg = f"{empty[0]}: got a run that is not over; resume it, or leave it out"
        raise ExportError(msg)
    env: gym.Env[Any, Any] = gym.make("YCBench-v0", config=runs[0].config().to_dict())
    env = ScratchpadMemory(env) if runs[0].identity.scratchpad else env
    episodes = [_episode(run, number) for number, run in enumerate(progress(runs))]
    shown = cast("gym.spaces.Dict", env.observation_space).spaces
    texts = [key for key, value in episodes[0].observations.items() if isinstance(value[0], str)]
    spaces = {key: _text_space(text for each in episodes for text in each.observations[key]) for key in texts}
    place = os.environ.get(_MINARI_PLACE)
    os.environ[_MINARI_PLACE] = str(folder.absolute())  # of a relative one Minari takes the size wrongly
    try:
        with warnings.catch_warnings(action="ignore", category=UserWarning):  # about authors and links
            minari.create_dataset_from_buffers(
                name,
                episodes,
                env=env,
                observation_space=gym.spaces.Dict({**shown, **spaces}),
                action_space=_text_space(action for each in episodes for action in each.actions),
                algorithm_name=", ".join(sorted({run.identity.policy for run in runs})),
                description="Turns of YC-Bench, replayed from run records of ycbench-env; docs/datasets.md",
                data_format="parquet",
                requirements=[f"ycbench-env=={runs[0].identity.version}"],
            )
    except BaseException:
        shutil.rmtree(folder / name, ignore_errors=True)
        raise
    finally:
        del os.environ[_MINARI_PLACE]
        os.environ |= {} if place is None else {_MINARI_PLACE: place}
    return sum(len(each.actions) for each in episodes)


def _text_space(texts: Iterable[str]) -> gym.spaces.Text:
    """Return a space of these texts, which Minari can store."""
    characters, longest = {"\n", *map(chr, range(0x20, 0x7F))}, 1  # the line break and printable ASCII
    for text in texts:
        characters.update(text)
        longest = max(longest, len(text))
    return gym.spaces.Text(longest, min_length=0, charset=frozenset(characters))


def _episode(run: Run, number: int) -> Any:  # noqa: ANN401 -- a minari EpisodeBuffer, which is of an extra
    """Return a run as Minari takes it; an episode that was cut off from outside is truncated."""
    from minari.data_collector import EpisodeBuffer  # pyright: ignore[reportMissingTypeStubs]  # noqa: PLC0415 -- as above

    observations = defaultdict[str, list[Any]](list)
    infos: Any = {"funds_delta_cents": [0], "invalid_commands": [0], "forced_advance": [False]}
    episode: Any = EpisodeBuffer(number, run.identity.seed, observations=observations, actions=[], infos=infos)
    grammar = grammar_for(run.config().world)
    for turn, before, after, _ in _seen_turns(run):
        for observation in (after,) if episode.actions else (before, after):
            for key, value in cast("Mapping[str, Any]", observation).items():
                observations[key].append(value)
        text = turn.action if isinstance(turn.action, str) else "\n".join(turn.action)
        # One of several texts may end within quotes.
        if text != turn.action and parse_turn(text, grammar) != parse_turn(turn.action, grammar):
            msg = f"{run.folder}: turn {turn.turn}: got several texts that are no turn when they are put together; "
            raise ExportError(msg + "export it to Parquet instead")
        episode.actions.append(_encodable(text))
        episode.rewards.append(turn.reward)
        episode.terminations.append(turn.terminated)
        episode.truncations.append(turn.truncated)
        for key, values in infos.items():
            values.append(getattr(turn, key))
    episode.truncations[-1] |= not episode.terminations[-1]
    return episode
