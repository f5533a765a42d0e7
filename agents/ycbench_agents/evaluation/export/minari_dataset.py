"""Records as a data set of Minari: what was seen, said and paid, for offline reinforcement learning."""

from __future__ import annotations

import contextlib
import os
import pickle
import re
import shutil
import tempfile
import warnings
from typing import IO, TYPE_CHECKING, Any, Final, TypeAlias, cast

import attrs
import gymnasium as gym

from ycbench_agents.evaluation.export.error import ExportError
from ycbench_agents.evaluation.export.hiding import refuse_held_out
from ycbench_agents.evaluation.export.replayed import seen_turns
from ycbench_agents.evaluation.export.text import encodable
from ycbench_agents.records.playing import recorded_config
from ycbench_env import MissingExtraError
from ycbench_env.actions import grammar_for, parse_turn
from ycbench_env.wrappers import ScratchpadMemory

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ycbench_agents.base import Json
    from ycbench_agents.records import RunRecord
    from ycbench_env import Observation
    from ycbench_env.actions import Grammar

try:
    import minari  # pyright: ignore[reportMissingTypeStubs] -- it has none
    from minari.data_collector import EpisodeBuffer  # pyright: ignore[reportMissingTypeStubs] -- as above
except ImportError as error:
    _MISSING = "--format minari needs Minari: pip install 'ycbench-env[minari]'"
    raise MissingExtraError(_MISSING) from error

__all__ = ["DATASET_NAME", "write_minari"]

DATASET_NAME: Final = re.compile(r"(?:[a-z0-9_][a-z0-9_-]+/)*[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?-v[0-9]+")
"""Form of a data set's name, like ``ycbench/greedy-v0``; each part before a slash has two characters at least."""

_Env: TypeAlias = "gym.Env[Any, Any]"
_Columns: TypeAlias = "dict[str, list[Any]]"
_ID: Final = "YCBench-v0"
_PLACE: Final = "MINARI_DATASETS_PATH"
_FORMAT: Final = "parquet"
_PRINTABLE: Final = frozenset(map(chr, range(0x20, 0x7F))) | {"\n"}
# Minari recommends facts about authors and links, which a data set of one's own need not have.
_RECOMMENDED: Final = r"`(code_permalink|author|author_email|eval_env)` is set to None"


def write_minari(
    records: Sequence[RunRecord], folder: Path, name: str, begin: Callable[[], None] = lambda: None
) -> int:
    """Make a data set of runs and return how many steps it has.

    The records are played again on the way, so what is written is verified. Minari must be told of all texts before it
    takes the first, so the episodes wait in a temporary file; one is in memory at a time.

    Args:
        records: The runs, all of one configuration.
        folder: Folder of data sets; ``MINARI_DATASETS_PATH`` is to name it when the data set is loaded.
        name: Name of the data set, like ``ycbench/greedy-v0``.
        begin: Is called before each run is played again.

    Raises:
        ExportError: The runs cannot be one data set, are held out, or there is one of this name.
        OSError: It cannot be written.
        RecordError: A record is damaged.
        RecordMismatchError: A turn turns out differently now.

    Warns:
        RecordWarning: As in ``replay_run``.
    """
    _check(records, folder, name)
    env, texts = _environment(records[0]), _Texts()
    with tempfile.TemporaryFile() as waiting:
        for number, record in enumerate(records):
            begin()
            episode = _Episode(record, number)
            texts.add(episode)
            pickle.dump(episode, waiting, pickle.HIGHEST_PROTOCOL)
            del episode  # or it would stay while the next one is made
        waiting.seek(0)
        with _stored_in(folder), warnings.catch_warnings():
            warnings.filterwarnings("ignore", _RECOMMENDED, UserWarning)
            try:
                return _store(records, env, name, texts, _unpickled(waiting, len(records)))
            except BaseException:
                shutil.rmtree(folder / name, ignore_errors=True)
                raise


def _unpickled(file: IO[bytes], number: int) -> Iterator[_Episode]:
    """Yield so many episodes from a file."""
    for _ in range(number):
        yield pickle.load(file)  # noqa: S301 -- written above, into a file that nobody else sees


def _store(records: Sequence[RunRecord], env: _Env, name: str, texts: _Texts, episodes: Iterable[_Episode]) -> int:
    """Have Minari store episodes and return how many steps they have."""
    dataset = minari.create_dataset_from_buffers(  # pyright: ignore[reportUnknownMemberType] -- partly typed
        name,
        [],
        env=env,
        observation_space=texts.observation_space(env),
        action_space=texts.action_space(),
        algorithm_name=", ".join(sorted({record.identity.policy for record in records})),
        description="Turns of YC-Bench, replayed from run records of ycbench-env; docs/datasets.md",
        data_format=_FORMAT,
        requirements=[f"ycbench-env=={records[0].identity.version}"],
    )
    steps = 0
    for episode in episodes:
        dataset.storage.update_episodes([episode.buffer()])
        steps += len(episode.actions)
    return steps


def _check(records: Sequence[RunRecord], folder: Path, name: str) -> None:
    """Refuse what cannot be one data set.

    Raises:
        ExportError: It cannot.
    """
    if not DATASET_NAME.fullmatch(name):
        msg = f"--name: got {name!r}, expected a name and a version, like ycbench/greedy-v0"
        raise ExportError(msg)
    if (folder / name).exists():
        msg = f"--name: got {name!r}, which is in {folder} already; expected a new name, like one with a higher version"
        raise ExportError(msg)
    refuse_held_out(records, "a data set")
    kinds = {(record.identity.config_digest, record.identity.scratchpad, record.identity.version) for record in records}
    if len(kinds) != 1:
        msg = (
            f"got runs of {len(kinds)} configurations, scratchpads or versions, expected one, since a data set has one "
            "environment; name the folders of each apart"
        )
        raise ExportError(msg)
    for record in records:
        if not record.outcome.turns:
            msg = f"{record.folder}: got a run that is not over yet, or without turns; expected one with an outcome"
            raise ExportError(msg)


def _environment(record: RunRecord) -> _Env:
    """Return the environment of a run, whose spec makes it again anywhere."""
    config = recorded_config(record).to_dict()
    env = gym.make(_ID, config=config)
    return cast("_Env", ScratchpadMemory(env)) if record.identity.scratchpad else env


class _Episode:
    """A run as columns.

    Args:
        record: Its record.
        number: Its number in the data set, from 0.
    """

    def __init__(self, record: RunRecord, number: int) -> None:
        self._number = number
        self._seed = record.identity.seed
        self.observations: _Columns = {}
        self.actions: list[str] = []
        self._rewards: list[float] = []
        self._ends: list[tuple[bool, bool]] = []
        self._infos: _Columns = {"funds_delta_cents": [0], "invalid_commands": [0], "forced_advance": [False]}
        grammar = grammar_for(recorded_config(record).world)
        for seen in seen_turns(record):
            if not self.observations:
                self._see(seen.before)
            self._see(seen.after)
            turn = seen.record
            self.actions.append(encodable(_one_text(turn.action, grammar, f"{record.folder}: turn {turn.turn}")))
            self._rewards.append(turn.reward)
            self._ends.append((turn.terminated, turn.truncated))
            for name, value in (
                ("funds_delta_cents", turn.funds_delta_cents),
                ("invalid_commands", turn.invalid_commands),
                ("forced_advance", turn.forced_advance),
            ):
                self._infos[name].append(value)

    def _see(self, observation: Observation) -> None:
        for key, value in cast("Mapping[str, Any]", observation).items():
            self.observations.setdefault(key, []).append(value)

    def buffer(self) -> EpisodeBuffer:
        """Return it as Minari takes it; an episode that was cut off from outside is truncated."""
        terminated = [each for each, _ in self._ends]
        truncated = [each for _, each in self._ends]
        truncated[-1] = truncated[-1] or not terminated[-1]
        return EpisodeBuffer(
            id=self._number,
            seed=self._seed,
            observations=self.observations,
            actions=self.actions,
            rewards=self._rewards,
            terminations=terminated,
            truncations=truncated,
            infos=self._infos,
        )


def _one_text(action: str | list[Json], grammar: Grammar, place: str) -> str:
    """Return a turn as one text with the same commands.

    Raises:
        ExportError: There is none, since a text of several ends within quotes.
    """
    if isinstance(action, str):
        return action
    text = "\n".join(str(item) for item in action)
    if len(action) > 1 and parse_turn(text, grammar) != parse_turn(action, grammar):
        msg = f"{place}: got several texts that are no turn when they are put together; export it to Parquet instead"
        raise ExportError(msg)
    return text


@attrs.define
class _TextBounds:
    """Printable ASCII and the characters of some texts, and the length of the longest."""

    _characters: set[str] = attrs.field(factory=lambda: set(_PRINTABLE))
    _longest: int = 1

    def add(self, texts: Sequence[str]) -> None:
        """Take in texts."""
        self._characters.update(*texts)
        self._longest = max(self._longest, *map(len, texts))

    def space(self) -> gym.spaces.Text:
        """Return the space of such texts."""
        return gym.spaces.Text(self._longest, min_length=0, charset=frozenset(self._characters))


@attrs.define
class _Texts:
    """What is to be said of texts of each kind: the environment's own spaces of texts Minari cannot store."""

    _observed: dict[str, _TextBounds] = attrs.field(factory=dict[str, _TextBounds])
    _said: _TextBounds = attrs.field(factory=_TextBounds)

    def add(self, episode: _Episode) -> None:
        """Take in the texts of an episode."""
        self._said.add(episode.actions)
        for key, column in episode.observations.items():
            if isinstance(column[0], str):
                self._observed.setdefault(key, _TextBounds()).add(column)

    def observation_space(self, env: _Env) -> gym.spaces.Dict:
        """Return the environment's space, with a space of texts that Minari knows for each text."""
        spaces = cast("gym.spaces.Dict", env.observation_space).spaces
        return gym.spaces.Dict(
            {
                key: space if isinstance(space, gym.spaces.Box) else self._observed[key].space()
                for key, space in spaces.items()
            }
        )

    def action_space(self) -> gym.spaces.Text:
        """Return the space of what was said."""
        return self._said.space()


@contextlib.contextmanager
def _stored_in(folder: Path) -> Generator[None]:
    """Let Minari store data sets in a folder meanwhile; it asks the environment variable alone."""
    before = os.environ.get(_PLACE)
    os.environ[_PLACE] = str(folder.absolute())  # of a relative one Minari takes the size wrongly
    try:
        yield
    finally:
        if before is None:
            del os.environ[_PLACE]
        else:
            os.environ[_PLACE] = before
