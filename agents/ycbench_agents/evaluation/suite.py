"""A suite: which policies play which configurations with which seeds; its TOML file and its JSON form."""

from __future__ import annotations

import functools
import hashlib
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Self, TypeVar, cast

import attrs

from ycbench_agents.files import FileError, read_file, read_toml, structure, to_json, unstructure
from ycbench_agents.llm.settings import is_address
from ycbench_agents.runs.run import RunError, plain_json, recorded_config
from ycbench_env import Config, load_config
from ycbench_env.errors import whole_number
from ycbench_env.text import Json, JsonObject, shown

LLM: Final = "llm"
"""Name of the policy that asks a language model."""
DEFAULT_CONCURRENCY: Final = 4
"""How many episodes of language models are played at once by default."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_SEEDS: Final = re.compile(r"([0-9]{1,30})(?:-([0-9]{1,30}))?")
_VARIABLE: Final = re.compile(r"[A-Z][A-Z0-9_]*")
_MOST_SEEDS: Final = 100_000
_MOST_EPISODES: Final = 1_000_000
_YEAR_S: Final = 366 * 24 * 3600
_T = TypeVar("_T")


class SuiteError(ValueError):
    """A suite cannot be used; the message names file, key and value, what was expected, and how to put it right."""


def _check(ok: object, key: str, got: object, expected: str) -> None:
    if not ok:
        msg = f"{key}: got {shown(got)}, expected {expected}"
        raise SuiteError(msg)


def _within(first: int, last: int) -> Callable[[object, attrs.Attribute[Any], int | None], None]:
    """Return a validator of whole numbers in a range; None passes."""

    def check(_: object, field: attrs.Attribute[Any], value: int | None) -> None:
        if value is not None:
            whole_number(field.name, value, first, last, SuiteError)

    return check


def _repeated(values: Iterable[_T]) -> _T | None:
    return next((value for value, count in Counter(values).items() if count > 1), None)


@attrs.frozen(order=True)
class EpisodeKey:
    """Which episode of an evaluation; no two have the same."""

    policy: str  # label of the policy
    preset: str  # label of the configuration
    seed: str  # digits of the run seed, or h1, h2, ... of a held-out suite
    repeat: int = 1

    def __str__(self) -> str:
        """Return it for people to read."""
        again = f", repeat {self.repeat}" if self.repeat > 1 else ""
        return f"{self.policy}, {self.preset}, seed {self.seed}{again}"


def _is_address(policy: SuitePolicy, field: attrs.Attribute[Any], value: str | None) -> None:
    key = f"policy {shown(policy.label)}: {field.name}"
    ok = value is None or is_address(value)
    _check(ok, key, "another text", "an address like http://127.0.0.1:8080/v1, without user, password and query")


@attrs.frozen
class SuitePolicy:
    """A row of a suite: a policy with its parameters."""

    label: str  # its name in tables
    name: str  # name of the policy, or module:Class
    parameters: JsonObject = attrs.field(factory=dict[str, Json])  # JSON values; of llm: LLMSettings
    model: str | None = None  # None where it has none, or the command line names it
    base_url: str | None = attrs.field(default=None, validator=_is_address)
    # Files with prices of models; a suite that was read from suite.json has their names alone.
    prices: tuple[Path, ...] = attrs.field(default=(), eq=lambda paths: [path.name for path in paths])


@attrs.frozen
class SuitePreset:
    """A configuration that a suite plays, and its name in tables."""

    label: str
    config: Config

    @classmethod
    def from_json_values(cls, values: object) -> Self:
        """Return what ``to_json_values`` gave."""
        row = structure(values, _PresetRow, "preset")
        return cls(row.label, recorded_config(row.config, row.digest, row.label))

    def to_json_values(self) -> JsonObject:
        """Return it as suite.json has it."""
        return {"label": self.label, "digest": self.config.digest(), "config": self.config.to_dict()}


@attrs.frozen
class _PresetRow:
    label: str
    digest: str
    config: JsonObject


@attrs.frozen
class Limits:
    """Limits of one episode; one of ``llm`` has budgets of its own, and heeds ``max_turns`` and ``waiting_seconds``."""

    seconds: int = attrs.field(default=600, validator=_within(1, _YEAR_S))  # wall-clock time, measurement included
    memory_mib: int = attrs.field(default=4096, validator=_within(1, 2**24))  # beyond that of the parent process
    max_turns: int | None = attrs.field(default=None, validator=_within(1, 10**18))  # cuts off every policy's episodes
    waiting_seconds: int = attrs.field(default=24 * 3600, validator=_within(1, _YEAR_S))  # for policies that wait


@attrs.frozen
class Suite:
    """Which episodes an evaluation plays: every policy under every configuration with every seed, so many times.

    Raises:
        SuiteError: A label or seed stands there twice or is none, or nothing is to be played.
    """

    name: str
    description: str
    policies: tuple[SuitePolicy, ...]
    presets: tuple[SuitePreset, ...]
    seeds: tuple[str, ...]  # digits of the run seeds, or h1, h2, ... of a held-out suite
    held_out: str | None = None  # the environment variable with the secret seeds; None where they are public
    repeats: int = attrs.field(default=1, validator=_within(1, 10**18))
    limits: Limits = attrs.field(factory=Limits)
    concurrency: int = attrs.field(default=DEFAULT_CONCURRENCY, validator=_within(1, 10**6))
    secret_seeds: tuple[int, ...] = attrs.field(default=(), repr=False, eq=False)  # as far as they are known

    def __attrs_post_init__(self) -> None:
        """Check what the fields have to do with each other."""
        labels = {
            "policies": [policy.label for policy in self.policies],
            "presets": [preset.label for preset in self.presets],
            "seeds": list(self.seeds),
        }
        for key, names in labels.items():
            twice = _repeated(names)
            got = "none" if not names else f"{twice!r} twice"
            if not names or twice is not None:
                msg = f"{key}: got {got}, expected at least one, and each once"
                raise SuiteError(msg + ("; give one another label or name" if twice is not None else ""))
        pattern = r"h[1-9][0-9]*" if self.held_out else r"0|[1-9][0-9]{0,29}"
        for seed in self.seeds:
            _check(re.fullmatch(pattern, seed), "seeds", seed, "names of seeds")
        planned = len(self.policies) * len(self.presets) * len(self.seeds) * self.repeats
        _check(planned <= _MOST_EPISODES, "episodes", planned, f"at most {_MOST_EPISODES:,}; split the suite")

    @property
    def is_held_out(self) -> bool:
        """Whether its seeds are secret."""
        return self.held_out is not None

    def seed_of(self, name: str) -> int | None:
        """Return the run seed of a name; None where it is secret and unknown."""
        if not self.is_held_out:
            return int(name)
        return dict(zip(self.seeds, self.secret_seeds, strict=False)).get(name)

    def episodes(self) -> tuple[EpisodeKey, ...]:
        """Return every planned episode, repeats fastest, then seeds, presets and policies."""
        return tuple(
            EpisodeKey(policy.label, preset.label, seed, repeat)
            for policy in self.policies
            for preset in self.presets
            for seed in self.seeds
            for repeat in range(1, self.repeats + 1)
        )

    def to_dict(self) -> JsonObject:
        """Return the suite as JSON values; it holds no secret seed."""
        policies = [
            attrs.evolve(policy, prices=tuple(Path(path.name) for path in policy.prices)) for policy in self.policies
        ]
        values = {**attrs.asdict(self, recurse=False), "policies": policies}
        return {name: unstructure(value) for name, value in values.items() if name != "secret_seeds"}

    to_json_values = to_dict

    def digest(self) -> str:
        """Return the SHA-256, as hex, of the fields that decide what is played.

        Names, descriptions, limits of time and memory, and concurrency change no result, so they do not count.
        """
        values = self.to_dict()
        decisive = {name: values[name] for name in ("policies", "seeds", "held_out", "repeats")}
        presets = [[preset.label, preset.config.digest()] for preset in self.presets]
        text = to_json({**decisive, "presets": presets, "max_turns": self.limits.max_turns}, sort_keys=True)
        return hashlib.sha256(text.encode("ascii")).hexdigest()


# ---------------------------------------------------------------- the TOML file


@attrs.frozen
class PolicyTable:
    """A table ``[[policies]]``, or what options of ``ycbench run`` describe alike."""

    name: str
    label: str | None = None
    parameters: JsonObject = attrs.field(factory=dict[str, Json])
    model: str | None = None
    base_url: str | None = None
    system_prompt: Path | None = None
    prices: tuple[Path, ...] = ()

    def policy(self, folder: Path) -> SuitePolicy:
        """Return the row of the suite; relative paths start at the folder."""
        place = f"policy {shown(self.name)}"
        for key in ("model", "base_url", "system_prompt", "prices"):
            value = getattr(self, key)
            _check(self.name == LLM or not value, f"{place}: {key}", value, f"this key only beside name = {LLM!r}")
            _check(not value or key not in self.parameters, place, key, "it once, not as a parameter too")
        parameters = cast("JsonObject", plain_json(self.parameters, f"{place}: parameters"))
        if self.system_prompt is not None:
            try:
                text = read_file(folder / self.system_prompt).decode("utf-8-sig")
            except ValueError as error:
                msg = f"{place}: system_prompt: got {shown(str(self.system_prompt))}, expected text in UTF-8 ({error})"
                raise SuiteError(msg) from None
            parameters = {**parameters, "system_prompt": text}
        label = self.name if self.label is None else self.label
        _check(self.name.strip() and label.strip(), place, label, "a name, and a label that is not empty")
        prices = tuple(folder / path for path in self.prices)
        return SuitePolicy(label, self.name, parameters, self.model, self.base_url, prices)


@attrs.frozen
class _SuiteTable:
    """The keys of a suite's file."""

    name: str
    policies: list[PolicyTable]
    presets: list[Any]  # texts, or configurations
    seeds: Any
    description: str = "no description"
    repeats: int = 1
    limits: Limits = attrs.field(factory=Limits)
    concurrency: int = DEFAULT_CONCURRENCY


_load_without_variables: Final = functools.partial(load_config, environ={})


def load_suite(
    source: Mapping[str, object] | Path | str,
    load: Callable[[str | Path], Config] = _load_without_variables,
    environ: Mapping[str, str] = os.environ,
) -> Suite:
    """Return the suite in a TOML file; SuiteError if it is not valid, ConfigError if a configuration is not.

    Args:
        source: The file, or keys and values as such a file has them, where ``presets`` may hold configurations too.
        load: Returns the configuration of a preset's name, or of a file's path; relative paths start at the file.
        environ: Environment variables, where secret seeds stand.
    """
    try:
        if isinstance(source, Mapping):
            folder, place, values = Path(), "suite", source
        else:
            folder, place, values = Path(source).parent, str(source), read_toml(source)
        table = structure(_plain(values), _SuiteTable, place)
    except FileError as error:
        raise SuiteError(str(error)) from None
    presets: list[SuitePreset] = []
    for each in table.presets:
        _check(isinstance(each, str | Config), f"{place}: presets", each, "names of presets, or paths of files")
        is_path = isinstance(each, str) and ("/" in each or each.endswith(".toml"))
        config = each if isinstance(each, Config) else load(folder / each if is_path else each)
        presets.append(SuitePreset(config.name, config))
    try:
        _check(_NAME.fullmatch(table.name), "name", table.name, "a name like my-suite, since it names a folder")
        seeds, secret_seeds, held_out = _seeds(table.seeds, environ)
        return Suite(
            name=table.name,
            description=table.description,
            policies=tuple(row.policy(folder) for row in table.policies),
            presets=tuple(presets),
            seeds=seeds,
            held_out=held_out,
            repeats=table.repeats,
            limits=table.limits,
            concurrency=table.concurrency,
            secret_seeds=secret_seeds,
        )
    except (ValueError, RunError) as error:
        msg = f"{place}: {error}"
        raise SuiteError(msg) from None


def _plain(value: object) -> object:
    """Return a value with the mappings and sequences of TOML in place of Python's other ones, like range(1, 4)."""
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in cast("Mapping[object, object]", value).items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_plain(each) for each in cast("Sequence[object]", value)]
    return str(value) if isinstance(value, Path) else value


def _seeds(value: object, environ: Mapping[str, str]) -> tuple[tuple[str, ...], tuple[int, ...], str | None]:
    """Return names of seeds, secret seeds, and the variable that holds those."""
    if isinstance(value, dict):
        variable = str(cast("dict[str, object]", value).get("variable"))
        is_one = len(cast("dict[str, object]", value)) == 1 and _VARIABLE.fullmatch(variable)
        _check(is_one, "seeds", value, '{ variable = "NAME_OF_AN_ENVIRONMENT_VARIABLE" }')
        try:
            secret = read_seeds(environ.get(variable, "").replace(",", " ").split())
        except ValueError:  # whose text may show them
            msg = f"environment variable {variable}: expected different whole numbers, like '123,456'"
            raise SuiteError(msg) from None
        return tuple(f"h{number}" for number in range(1, len(secret) + 1)), secret, variable
    _check(isinstance(value, list), "seeds", value, 'a list like [1, 2, 3] or ["1-20"], or a table with variable')
    try:
        seeds = read_seeds([str(each) for each in cast("list[object]", value)])
    except ValueError as error:
        msg = f"seeds: {error}"
        raise SuiteError(msg) from None
    return tuple(map(str, seeds)), (), None


def read_seeds(texts: Sequence[str]) -> tuple[int, ...]:
    """Return the seeds that texts like ``1``, ``1-20`` or ``1,2,3`` name, in order; ValueError if they name none."""
    seeds: list[int] = []
    msg = "got none, expected at least one seed, like 1 2 3 or 1-3"
    for text in (part.strip() for each in texts for part in each.split(",")):
        bounds = _SEEDS.fullmatch(text)
        first, last = (int(bounds[1]), int(bounds[2] or bounds[1])) if bounds else (1, 0)
        if last < first:
            msg = f"got {shown(text)}, expected seeds like 1 2 3, or a range like 1-3, the smaller seed first"
            raise ValueError(msg)
        if last - first + len(seeds) >= _MOST_SEEDS:
            msg = f"got {shown(text)}, expected at most {_MOST_SEEDS:,} seeds; run them in parts"
            raise ValueError(msg)
        seeds += range(first, last + 1)
    if (twice := _repeated(seeds)) is not None:
        msg = f"got {twice} twice, expected each seed once"
    if not seeds or twice is not None:
        raise ValueError(msg)
    return tuple(seeds)
