"""From a TOML file to a suite."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import attrs

from ycbench_agents.evaluation.heldout import MANY_TO_GUESS, SeedHash, secret_seeds
from ycbench_agents.evaluation.old_suite import (
    DEFAULT_CONCURRENCY,
    LIMITS_MOST,
    Limits,
    Suite,
    SuitePolicy,
    SuitePreset,
)
from ycbench_agents.evaluation.pinning import pinned
from ycbench_agents.evaluation.settings_table import SettingsTable, SuiteError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ycbench_env import Config

__all__ = ["LoadedSuite", "load_suite", "refuse_twins", "suite_of"]

_KEYS: Final = ("name", "description", "presets", "seeds", "repeats", "policies", "limits", "concurrency")
_POLICY_KEYS: Final = ("name", "label", "parameters", "model", "base_url", "system_prompt", "prices")
_LIMIT_KEYS: Final = ("seconds", "memory_mib", "max_turns", "waiting_seconds")
_MODEL_KEYS: Final = ("model", "base_url", "system_prompt", "prices")
_LLM: Final = "llm"
_PERSON: Final = "human"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_VARIABLE: Final = re.compile(r"[A-Z][A-Z0-9_]*")
_RANGE: Final = re.compile(r"([0-9]{1,30})-([0-9]{1,30})")
_MOST_SEEDS: Final = 100_000
_MOST_EPISODES: Final = 1_000_000
_SEEDS_END: Final = 10**30
_SHORTEST_SALT: Final = 16
_DEFAULTS: Final = Limits()


@attrs.frozen
class LoadedSuite:
    """A suite, and what is known where it was loaded.

    Args:
        suite: The suite.
        seeds: The seed of each of its names; of a held-out suite these are secret.
        sources: What each preset was loaded from, by label.
        warnings: What is allowed and most likely not meant, for people to read.
    """

    suite: Suite
    seeds: Mapping[str, int] = attrs.field(repr=False)
    sources: Mapping[str, str | Path]
    warnings: tuple[str, ...] = ()


def load_suite(path: Path, load: Callable[[str | Path], Config], environ: Mapping[str, str]) -> LoadedSuite:
    """Return the suite in a file.

    Args:
        path: The file.
        load: Returns the configuration of a preset's name, or of a file's path.
        environ: Environment variables, where secret seeds stand.

    Raises:
        SuiteError: It cannot be read or is not valid; the message names file, key and value.
    """
    return suite_of(SettingsTable.of_file(path, "a suite"), path.parent, load, environ)


def suite_of(
    table: SettingsTable, folder: Path, load: Callable[[str | Path], Config], environ: Mapping[str, str]
) -> LoadedSuite:
    """Return the suite that a table describes.

    Args:
        table: Keys and values as in a file.
        folder: Where relative paths in it start.
        load: As for ``load_suite``.
        environ: Likewise.

    Raises:
        SuiteError: It is not valid.
    """
    table.refuse_others(*_KEYS)
    seeds, seed_hash = _seeds(table, environ)
    names = {seed_hash.of(seed) if seed_hash else str(seed): seed for seed in seeds}
    sources = _sources(table, folder)
    suite = Suite(
        name=_name(table),
        description=table.text("description", "no description"),
        policies=_policies(table, folder),
        presets=tuple(_presets(table, sources, load)),
        seeds=tuple(names),
        seed_hash=seed_hash,
        repeats=table.positive("repeats", 1),
        limits=_limits(table.table("limits")),
        concurrency=table.positive("concurrency", DEFAULT_CONCURRENCY),
    )
    _refuse_too_many(suite, table.file)
    origins = {preset.label: source for preset, source in zip(suite.presets, sources, strict=True)}
    return LoadedSuite(suite, names, origins, tuple(_guessable(table, seeds, seed_hash)))


def _refuse_too_many(suite: Suite, file: str) -> None:
    planned = len(suite.policies) * len(suite.presets) * len(suite.seeds) * suite.repeats
    if planned > _MOST_EPISODES:
        msg = (
            f"{file}: got {planned:,} episodes (policies, presets, seeds and repeats multiplied), expected at most "
            f"{_MOST_EPISODES:,}; make several suites of it"
        )
        raise SuiteError(msg)


def _name(table: SettingsTable) -> str:
    name = table.text("name")
    return name if _NAME.fullmatch(name) else table.refuse("name", "a name like my-suite, since it names a folder")


def _seeds(table: SettingsTable, environ: Mapping[str, str]) -> tuple[Sequence[int], SeedHash | None]:
    if isinstance(table.values.get("seeds"), dict):
        return _secret(table.table("seeds"), environ)
    seeds = [seed for item in table.items("seeds") for seed in _range(table, item)]
    if not seeds:
        table.refuse("seeds", 'a list like [1, 2, 3] or ["1-20"], or a table with variable and salt')
    if twice := [seed for seed in dict.fromkeys(seeds) if seeds.count(seed) > 1][:3] if _doubles(seeds) else []:
        table.refuse("seeds", f"each seed once; {', '.join(map(str, twice))} stands there twice")
    return seeds, None


def _doubles(seeds: Sequence[int]) -> bool:
    return len(set(seeds)) < len(seeds)


def _range(table: SettingsTable, item: object) -> range:
    """Return the seeds of one item of the list: a number, or a range as text."""
    if isinstance(item, int) and not isinstance(item, bool) and 0 <= item < _SEEDS_END:
        return range(item, item + 1)
    bounds = _RANGE.fullmatch(item) if isinstance(item, str) else None
    first, last = (int(bounds[1]), int(bounds[2])) if bounds else (1, 0)
    if last < first:
        table.refuse("seeds", 'whole numbers of at least 0 and ranges like "1-20", of at most 30 digits')
    if last - first >= _MOST_SEEDS:
        table.refuse("seeds", f"at most {_MOST_SEEDS:,} seeds")
    return range(first, last + 1)


def _secret(table: SettingsTable, environ: Mapping[str, str]) -> tuple[Sequence[int], SeedHash]:
    table.refuse_others("variable", "salt")
    variable, salt = table.text("variable"), table.text("salt", "-")
    if not _VARIABLE.fullmatch(variable):
        table.refuse("variable", "the name of an environment variable, like YCBENCH_HELDOUT_SEEDS")
    if len(salt) < _SHORTEST_SALT:
        table.refuse("salt", f"at least {_SHORTEST_SALT} random characters, as secrets.token_hex(16) of Python draws")
    try:
        return secret_seeds(variable, environ), SeedHash(salt)
    except ValueError as error:
        msg = f"{table.file}: {error}"
        raise SuiteError(msg) from None


def _guessable(table: SettingsTable, seeds: Sequence[int], seed_hash: SeedHash | None) -> Iterator[str]:
    if seed_hash is not None and min(seeds) < MANY_TO_GUESS:
        yield (
            f"{table.file}: a held-out seed is so small that its hash can be found by trying; draw seeds of 64 bits, "
            "as secrets.randbits(64) of Python does"
        )


def _sources(table: SettingsTable, folder: Path) -> list[str | Path]:
    """Return what to load the presets from: names, and files beside the suite."""
    texts = table.texts("presets")
    if not texts or len(set(texts)) < len(texts):
        table.refuse("presets", "names of presets or paths of TOML files, each once, at least one")
    return [folder / text if "/" in text or text.endswith(".toml") else text for text in texts]


def _presets(
    table: SettingsTable, sources: Sequence[str | Path], load: Callable[[str | Path], Config]
) -> Iterator[SuitePreset]:
    seen: set[str] = set()
    for source in sources:
        config = load(source)
        if config.name in seen:
            table.refuse("presets", f"names that differ; two are called {config.name!r}, give one another `name`")
        seen.add(config.name)
        yield SuitePreset(config.name, config)


def _policies(table: SettingsTable, folder: Path) -> tuple[SuitePolicy, ...]:
    policies = tuple(_policy(row, folder) for row in table.tables("policies"))
    labels = [policy.label for policy in policies]
    if not policies:
        table.refuse("policies", "at least one table [[policies]] with a name")
    for label in labels:
        if labels.count(label) > 1:
            msg = f"{table.file}: policies: got {label!r} twice, expected each once; give one of them another `label`"
            raise SuiteError(msg)
    refuse_twins(policies, table.file)
    return policies


def refuse_twins(policies: Sequence[SuitePolicy], file: str) -> None:
    """Refuse policies that differ in nothing but the label: they would share their runs.

    Raises:
        SuiteError: There are such policies; the message names both.
    """
    first: dict[str, str] = {}
    for policy in policies:
        row = json.dumps({**policy.to_dict(), "label": None}, sort_keys=True)
        files = f"{policy.system_prompt} {policy.prices}"
        other = first.setdefault(row + files, policy.label)
        if other != policy.label:
            msg = (
                f"{file}: policies: {other!r} and {policy.label!r} are the same policy with the same parameters and "
                "would share their runs; leave one out (`repeats` plays a policy several times), or change a parameter"
            )
            raise SuiteError(msg)


def _policy(table: SettingsTable, folder: Path) -> SuitePolicy:
    table.refuse_others(*_POLICY_KEYS)
    name = table.text("name")
    if name == _PERSON:
        table.refuse("name", "a policy that asks nobody at a terminal; ycbench run --policy human does")
    if name != _LLM:
        for key in _MODEL_KEYS:
            if key in table.values:
                table.refuse(key, f"this key only beside name = {_LLM!r}")
    prompt = table.optional_text("system_prompt")
    policy = SuitePolicy(
        label=table.text("label", name),
        name=name,
        parameters=table.plain("parameters"),
        model=table.optional_text("model"),
        base_url=_address(table),
        system_prompt=None if prompt is None else folder / prompt,
        prices=tuple(folder / text for text in table.texts("prices")),
    )
    return pinned(policy, table.file)


def _address(table: SettingsTable) -> str | None:
    """Return the address of a model's server, which is written into results, so it may hold no secret."""
    address = table.optional_text("base_url")
    if address is None:
        return None
    try:
        parts = urlsplit(address)
    except ValueError as error:
        msg = (
            f"{table.file}: {table.path}base_url: got no address ({error}), expected one like http://127.0.0.1:8080/v1"
        )
        raise SuiteError(msg) from None
    if parts.username is not None or parts.query:
        msg = f"{table.file}: {table.path}base_url: got an address with a password or a query, expected one without"
        raise SuiteError(msg)
    return address


def _limits(table: SettingsTable) -> Limits:
    table.refuse_others(*_LIMIT_KEYS)
    return Limits(
        seconds=table.positive("seconds", _DEFAULTS.seconds, LIMITS_MOST.seconds),
        memory_mib=table.positive("memory_mib", _DEFAULTS.memory_mib, LIMITS_MOST.memory_mib),
        max_turns=table.optional_positive("max_turns"),
        waiting_seconds=table.positive("waiting_seconds", _DEFAULTS.waiting_seconds, LIMITS_MOST.waiting_seconds),
    )
