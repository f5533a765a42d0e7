"""A suite: which policies play which configurations with which seeds; its TOML file and its JSON form."""

from __future__ import annotations

import hashlib
import os
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn, Self, TypeAlias, cast
from urllib.parse import urlsplit

import attrs

from ycbench_agents.base import Json, JsonObject
from ycbench_agents.files import FileError, read_file, structure, to_json, unstructure
from ycbench_env import Config, ConfigError, load_config
from ycbench_env.text import shown

LLM: Final = "llm"
"""Name of the policy that asks a language model."""
DEFAULT_CONCURRENCY: Final = 4
"""How many episodes of language models are played at once where nothing is said."""

_HUMAN: Final = "human"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_SEED: Final = re.compile(r"[0-9]{1,30}")
_RANGE: Final = re.compile(r"([0-9]{1,30})-([0-9]{1,30})")
_VARIABLE: Final = re.compile(r"[A-Z][A-Z0-9_]*")
_MOST_SEEDS: Final = 100_000
_MOST_EPISODES: Final = 1_000_000
_YEAR_S: Final = 366 * 24 * 3600


class SuiteError(ValueError):
    """A suite cannot be used; the message names file, key and value, what was expected, and how to put it right."""


def _within(first: int, last: int) -> Callable[[object, attrs.Attribute[Any], int | None], None]:
    """Return a validator of whole numbers in a range; None passes."""

    def check(_: object, field: attrs.Attribute[Any], value: int | None) -> None:
        if value is not None and (type(value) is not int or not first <= value <= last):
            msg = f"{field.name}: got {shown(value)}, expected a whole number from {first:,} to {last:,}"
            raise ValueError(msg)

    return check


@attrs.frozen(order=True)
class EpisodeKey:
    """Which episode of an evaluation; no two have the same.

    Args:
        policy: Label of the policy, as the suite has it.
        preset: Label of the configuration.
        seed: Name of the run seed: its digits, or h1, h2, ... of a held-out suite.
        repeat: Which repetition, from 1.
    """

    policy: str
    preset: str
    seed: str
    repeat: int = 1

    def __str__(self) -> str:
        """Return it for people to read."""
        again = f", repeat {self.repeat}" if self.repeat > 1 else ""
        return f"{self.policy}, {self.preset}, seed {self.seed}{again}"


@attrs.frozen
class SuitePolicy:
    """A row of a suite: a policy with its parameters.

    Args:
        label: Its name in tables; no two of a suite are alike.
        name: Name of the policy, or ``module:Class``.
        parameters: Its parameters, plain JSON; of ``llm`` the fields of ``LLMSettings``.
        model: Name of its language model, None where it has none, or the command line names it.
        base_url: Address of the model's server, None for the usual one; without a password.
        prices: Files with prices of models; a suite that was read from suite.json has their names alone.
    """

    label: str
    name: str
    parameters: JsonObject = attrs.field(factory=dict[str, Json])
    model: str | None = None
    base_url: str | None = None
    prices: tuple[Path, ...] = attrs.field(default=(), eq=lambda paths: [path.name for path in paths])


@attrs.frozen
class SuitePreset:
    """A configuration that a suite plays.

    Args:
        label: Its name in tables; no two of a suite are alike.
        config: The resolved configuration.
    """

    label: str
    config: Config


@attrs.frozen
class Limits:
    """Limits of one episode; one of ``llm`` has budgets of its own, and heeds ``max_turns`` and ``waiting_seconds``.

    Args:
        seconds: Wall-clock time of an episode and its measurement.
        memory_mib: Address space beyond that of the process that starts it, in MiB.
        max_turns: Turns after which an episode is cut off, for every policy; None for no limit.
        waiting_seconds: Wall-clock time of an episode of a policy that waits for answers from outside.
    """

    seconds: int = attrs.field(default=600, validator=_within(1, _YEAR_S))
    memory_mib: int = attrs.field(default=4096, validator=_within(1, 2**24))
    max_turns: int | None = attrs.field(default=None, validator=_within(1, 10**18))
    waiting_seconds: int = attrs.field(default=24 * 3600, validator=_within(1, _YEAR_S))


@attrs.frozen
class Suite:
    """Which episodes an evaluation plays: every policy under every configuration with every seed, so many times.

    Args:
        name: Name of the suite.
        description: What it is for.
        policies: Who plays.
        presets: Configurations.
        seeds: Names of the run seeds: their digits, or h1, h2, ... of a held-out suite.
        held_out: Name of the environment variable that holds the secret seeds; None where they are public.
        repeats: How often each episode is played.
        limits: Limits of one episode.
        concurrency: How many episodes of policies that wait for answers are played at once.
        secret_seeds: The seeds of a held-out suite where they are known; they are part of no file but seeds.json.
    """

    name: str
    description: str
    policies: tuple[SuitePolicy, ...]
    presets: tuple[SuitePreset, ...]
    seeds: tuple[str, ...]
    held_out: str | None = None
    repeats: int = attrs.field(default=1, validator=_within(1, 10**18))
    limits: Limits = attrs.field(factory=Limits)
    concurrency: int = attrs.field(default=DEFAULT_CONCURRENCY, validator=_within(1, 10**6))
    secret_seeds: tuple[int, ...] = attrs.field(default=(), repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        """Refuse labels that name two things, and suites without an episode.

        Raises:
            SuiteError: There are such labels, or nothing is to be played.
        """
        labels = {
            "policies": [policy.label for policy in self.policies],
            "presets": [preset.label for preset in self.presets],
            "seeds": list(self.seeds),
        }
        for key, names in labels.items():
            twice = next(
                (name for name, next_one in zip(sorted(names), sorted(names)[1:], strict=False) if name == next_one),
                None,
            )
            if not names or twice is not None:
                got = "none" if twice is None else f"{twice!r} twice"
                msg = f"suite {self.name!r}: {key}: got {got}, expected each once, and at least one"
                raise SuiteError(msg + ("; give one another label or name" if twice is not None else ""))
        planned = len(self.policies) * len(self.presets) * len(self.seeds) * self.repeats
        if planned > _MOST_EPISODES:
            msg = f"suite {self.name!r}: got {planned:,} episodes, expected at most {_MOST_EPISODES:,}; split it"
            raise SuiteError(msg)

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
        presets = [
            {"label": preset.label, "digest": preset.config.digest(), "config": preset.config.to_dict()}
            for preset in self.presets
        ]
        policies = [
            attrs.evolve(policy, prices=tuple(Path(path.name) for path in policy.prices)) for policy in self.policies
        ]
        return {
            "name": self.name,
            "description": self.description,
            "policies": unstructure(policies),
            "presets": cast("Json", presets),
            "seeds": [*self.seeds],
            "held_out": self.held_out,
            "repeats": self.repeats,
            "limits": unstructure(self.limits),
            "concurrency": self.concurrency,
        }

    @classmethod
    def from_dict(cls, values: Json, place: Path | str, secret_seeds: Sequence[int] = ()) -> Self:
        """Return the suite that ``to_dict`` wrote.

        Raises:
            FileError: A value is missing or of another type, or no suite has it.
        """
        file = structure(values, _SuiteJson, place)
        presets: list[SuitePreset] = []
        for preset in file.presets:
            where = f"{place}: preset {shown(preset.label)}"
            if "extends" in preset.config:  # records open no other file
                msg = f"{where}: got extends, expected a resolved configuration; the file was changed"
                raise FileError(msg)
            try:
                config = load_config(preset.config, environ={})
            except ConfigError as error:
                msg = f"{where}: {error}"
                raise FileError(msg) from None
            if config.digest() != preset.digest:
                msg = f"{where}: digest: got {shown(preset.digest)}, expected {config.digest()}; the file was changed"
                raise FileError(msg)
            presets.append(SuitePreset(preset.label, config))
        name = r"h[1-9][0-9]*" if file.held_out else r"0|[1-9][0-9]{0,29}"
        if wrong := [seed for seed in file.seeds if not re.fullmatch(name, seed)]:
            msg = f"{place}: seeds: got {shown(wrong[0])}, expected names of seeds"
            raise FileError(msg)
        try:
            return cls(
                name=file.name,
                description=file.description,
                policies=file.policies,
                presets=tuple(presets),
                seeds=file.seeds,
                held_out=file.held_out,
                repeats=file.repeats,
                limits=file.limits,
                concurrency=file.concurrency,
                secret_seeds=tuple(secret_seeds),
            )
        except ValueError as error:
            msg = f"{place}: {error}"
            raise FileError(msg) from None

    def digest(self) -> str:
        """Return the SHA-256, as hex, of the fields that decide what is played.

        Names, descriptions, limits of time and memory, and concurrency change no result, so they do not count.
        """
        values = self.to_dict()
        for name in ("name", "description", "limits", "concurrency"):
            del values[name]
        presets: list[Json] = [[preset.label, preset.config.digest()] for preset in self.presets]
        decisive = {**values, "presets": presets, "max_turns": self.limits.max_turns}
        return hashlib.sha256(to_json(decisive, sort_keys=True).encode("ascii")).hexdigest()


@attrs.frozen
class _PresetJson:
    label: str
    digest: str
    config: JsonObject


@attrs.frozen
class _SuiteJson:
    """A suite in suite.json."""

    name: str
    description: str
    policies: tuple[SuitePolicy, ...]
    presets: tuple[_PresetJson, ...]
    seeds: tuple[str, ...]
    held_out: str | None
    repeats: int
    limits: Limits
    concurrency: int


# ---------------------------------------------------------------- the TOML file


@attrs.frozen
class _PolicyRow:
    """A table ``[[policies]]``."""

    name: str
    label: str | None = None
    parameters: JsonObject = attrs.field(factory=dict[str, Json])
    model: str | None = None
    base_url: str | None = None
    system_prompt: str | None = None
    prices: list[str] = attrs.field(factory=list[str])


@attrs.frozen
class _SuiteTable:
    """The keys of a suite's file."""

    name: str
    policies: list[_PolicyRow]
    presets: list[str]
    seeds: Any
    description: str = "no description"
    repeats: int = attrs.field(default=1, validator=_within(1, 10**18))
    limits: Limits = attrs.field(factory=Limits)
    concurrency: int = attrs.field(default=DEFAULT_CONCURRENCY, validator=_within(1, 10**6))


def _load_without_variables(source: str | Path) -> Config:
    """Return a configuration that environment variables do not change."""
    return load_config(source, environ={})


def load_suite(
    path: Path | str,
    load: Callable[[str | Path], Config] = _load_without_variables,
    environ: Mapping[str, str] = os.environ,
) -> Suite:
    """Return the suite in a TOML file.

    Args:
        path: The file.
        load: Returns the configuration of a preset's name, or of a file's path.
        environ: Environment variables, where secret seeds stand.

    Raises:
        SuiteError: It cannot be read or is not valid; the message names file, key and value.
        ConfigError: A configuration cannot be used.
    """
    path = Path(path)
    try:
        values = tomllib.loads(read_file(path).decode("utf-8-sig"))
    except FileError as error:
        raise SuiteError(str(error)) from None
    except (ValueError, RecursionError) as error:
        msg = f"{path}: not valid TOML ({error}), expected the file of a suite"
        raise SuiteError(msg) from None
    return suite_of(values, path.parent, str(path), load, environ)


def suite_of(
    values: Mapping[str, object],
    folder: Path = Path(),
    place: str = "suite",
    load: Callable[[str | Path], Config] = _load_without_variables,
    environ: Mapping[str, str] = os.environ,
) -> Suite:
    """Return the suite that the keys and values of a suite's file describe; ``presets`` may hold configurations too.

    Args:
        values: Keys and values.
        folder: Where relative paths start.
        place: File for error messages.
        load: As for ``load_suite``.
        environ: Likewise.

    Raises:
        SuiteError: It is not valid.
        ConfigError: A configuration cannot be used.
    """
    plain = cast("dict[str, Any]", _plain(values))
    configs = plain.get("presets")
    if isinstance(configs, list):
        plain["presets"] = [each.name if isinstance(each, Config) else each for each in cast("list[object]", configs)]
    try:
        table = structure(plain, _SuiteTable, place)
    except FileError as error:
        raise SuiteError(str(error)) from None

    def refuse(key: str, got: object, expected: str) -> NoReturn:
        msg = f"{place}: {key}: got {shown(got)}, expected {expected}"
        raise SuiteError(msg)

    if not _NAME.fullmatch(table.name):
        refuse("name", table.name, "a name like my-suite, since it names a folder")
    seeds, secret, variable = _seeds(table.seeds, environ, refuse)
    presets: list[SuitePreset] = []
    for text, given in zip(table.presets, configs or [], strict=True):
        beside = folder / text if "/" in text or text.endswith(".toml") else text
        config = given if isinstance(given, Config) else load(beside)
        presets.append(SuitePreset(config.name, config))
    return Suite(
        name=table.name,
        description=table.description,
        policies=tuple(_policy(row, number, folder, refuse) for number, row in enumerate(table.policies, 1)),
        presets=tuple(presets),
        seeds=seeds,
        held_out=variable,
        repeats=table.repeats,
        limits=table.limits,
        concurrency=table.concurrency,
        secret_seeds=secret,
    )


_Refuse: TypeAlias = Callable[[str, object, str], NoReturn]


def _plain(value: object) -> object:
    """Return a value with the mappings and sequences of TOML in place of Python's other ones, like range(1, 4)."""
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in cast("Mapping[object, object]", value).items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_plain(each) for each in cast("Sequence[object]", value)]
    return str(value) if isinstance(value, Path) else value


def _policy(row: _PolicyRow, number: int, folder: Path, refuse: _Refuse) -> SuitePolicy:
    place = f"policies[{number}]"
    if row.name == _HUMAN:
        refuse(f"{place}.name", row.name, "a policy that asks nobody; ycbench run --policy human does")
    if not row.name.strip() or (row.label is not None and not row.label.strip()):
        refuse(place, row.name, "a name, and a label that is not empty")
    given = [key for key in ("model", "base_url", "system_prompt", "prices") if getattr(row, key)]
    if row.name != LLM and given:
        refuse(f"{place}.{given[0]}", getattr(row, given[0]), f"this key only beside name = {LLM!r}")
    if row.base_url is not None:
        try:
            parts = urlsplit(row.base_url)
            secret = parts.username is not None or bool(parts.query)
        except ValueError:
            secret = True
        if secret:
            refuse(f"{place}.base_url", "an address", "one like http://127.0.0.1:8080/v1, without a password")
    parameters = dict(row.parameters)
    try:
        to_json(parameters)
    except (TypeError, ValueError) as error:
        msg = f"texts, finite numbers, truth values, lists and tables ({error})"
        refuse(f"{place}.parameters", parameters, msg)
    if row.system_prompt is not None:
        try:
            parameters["system_prompt"] = read_file(folder / row.system_prompt).decode("utf-8-sig")
        except ValueError as error:
            refuse(f"{place}.system_prompt", row.system_prompt, f"a text file ({error})")
    return SuitePolicy(
        label=row.label or row.name,
        name=row.name,
        parameters=parameters,
        model=row.model,
        base_url=row.base_url,
        prices=tuple(folder / text for text in row.prices),
    )


def _seeds(
    value: object, environ: Mapping[str, str], refuse: _Refuse
) -> tuple[tuple[str, ...], tuple[int, ...], str | None]:
    """Return names of seeds, secret seeds, and the variable that holds those."""
    if isinstance(value, dict):
        table = cast("dict[str, object]", value)
        variable = table.get("variable")
        if table.keys() - {"variable", "salt"} or not isinstance(variable, str) or not _VARIABLE.fullmatch(variable):
            refuse("seeds", table, 'a list, or { variable = "NAME_OF_AN_ENVIRONMENT_VARIABLE" }')
        words = environ.get(variable, "").replace(",", " ").split()
        if not words or not all(_SEED.fullmatch(word) for word in words):  # the words are secret
            msg = f"environment variable {variable}: expected whole numbers with commas between them, like '123,456'"
            raise SuiteError(msg)
        secret = tuple(map(int, words))
        if len(set(secret)) < len(secret):
            msg = f"environment variable {variable}: got a seed twice, expected each once"
            raise SuiteError(msg)
        return tuple(f"h{number}" for number in range(1, len(secret) + 1)), secret, variable
    if not isinstance(value, list):
        refuse("seeds", value, 'a list like [1, 2, 3] or ["1-20"], or a table with variable')
    try:
        seeds = read_seeds([each if isinstance(each, str) else str(each) for each in cast("list[object]", value)])
    except ValueError as error:
        refuse("seeds", value, str(error))
    return tuple(map(str, seeds)), (), None


def read_seeds(texts: Sequence[str]) -> tuple[int, ...]:
    """Return the seeds that numbers and ranges name, in order.

    Args:
        texts: Like ``1``, ``1-20`` or ``1,2,3``.

    Raises:
        ValueError: There is none, one stands there twice, or a text is neither number nor range.
    """
    seeds: dict[int, None] = {}
    for text in (part.strip() for each in texts for part in each.split(",")):
        bounds = _RANGE.fullmatch(text)
        first, last = (
            (int(bounds[1]), int(bounds[2])) if bounds else (int(text), int(text)) if _SEED.fullmatch(text) else (1, 0)
        )
        if last < first:
            msg = f"seeds like 1 2 3, or a range like 1-3; got {shown(text)}"
            raise ValueError(msg)
        if last - first + len(seeds) >= _MOST_SEEDS:
            msg = f"at most {_MOST_SEEDS:,} seeds; got {shown(text)}"
            raise ValueError(msg)
        for number in range(first, last + 1):
            if number in seeds:
                msg = f"each seed once; got {number} twice"
                raise ValueError(msg)
            seeds[number] = None
    if not seeds:
        msg = "at least one seed, like 1 2 3 or 1-3"
        raise ValueError(msg)
    return tuple(seeds)
