"""A suite: which policies play which configurations with which seeds; a frozen value without secrets."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self, cast

import attrs

from ycbench_agents.evaluation.episode import EpisodeKey
from ycbench_agents.evaluation.heldout import SeedHash
from ycbench_agents.records import RecordError
from ycbench_agents.records.strict_json import Table, encode
from ycbench_env import Config, ConfigError, load_config

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ycbench_agents.base import Json, JsonObject

__all__ = ["DEFAULT_CONCURRENCY", "LIMITS_MOST", "Limits", "Suite", "SuitePolicy", "SuitePreset"]

_DEFAULT_SECONDS: Final = 600
_DEFAULT_WAITING_SECONDS: Final = 24 * 3600
_DEFAULT_MEMORY_MIB: Final = 2048
_MOST: Final = 10**18
_PUBLIC: Final = re.compile(r"0|[1-9][0-9]{0,29}")
_HASHED: Final = re.compile(r"[0-9a-f]{20}")
DEFAULT_CONCURRENCY: Final = 4


def _name_of(path: Path | None) -> str | None:
    return None if path is None else path.name


def _names_of(paths: Sequence[Path]) -> list[Json]:
    return [path.name for path in paths]


@attrs.frozen
class SuitePolicy:
    """A row of a suite: a policy with its parameters.

    Args:
        label: What tables call it; no two of a suite are alike.
        name: Name of the policy, or ``module:Class``.
        parameters: Its parameters, plain JSON.
        model: Name of its language model, None where it has none, or the command line names it.
        base_url: Address of the model's server, None for the usual one; without a password.
        system_prompt: File with a template of the system prompt; of a suite that was read back its name alone.
        prices: Files with prices of models, likewise.
        system_prompt_sha256: SHA-256 of the template's text, as hex; None where nobody has read it.
        prices_sha256: SHA-256 of the text of each file of prices; () where nobody has read them.

    What the files say makes the policy what it is; where they lie does not.
    """

    label: str
    name: str
    parameters: JsonObject = attrs.field(factory=dict)  # pyright: ignore[reportUnknownVariableType] -- attrs' factory
    model: str | None = None
    base_url: str | None = None
    system_prompt: Path | None = attrs.field(default=None, eq=_name_of)
    prices: tuple[Path, ...] = attrs.field(default=(), eq=_names_of)
    system_prompt_sha256: str | None = None
    prices_sha256: tuple[str, ...] = ()

    def to_dict(self) -> JsonObject:
        """Return it as JSON values; files, which are found where the suite is played, by their names and digests."""
        digests: JsonObject = {  # only where there are files, so that the digest of a suite without them is as it was
            "system_prompt_sha256": self.system_prompt_sha256,
            "prices_sha256": list(self.prices_sha256),
        }
        return {
            "label": self.label,
            "name": self.name,
            "parameters": self.parameters,
            "model": self.model,
            "base_url": self.base_url,
            "system_prompt": _name_of(self.system_prompt),
            "prices": _names_of(self.prices),
            **{key: value for key, value in digests.items() if value},
        }

    @classmethod
    def from_table(cls, table: Table) -> Self:
        """Return what ``to_dict`` wrote; of files the names and digests.

        Raises:
            RecordError: A value is missing or of another type.
        """
        prompt = table.optional("system_prompt", str)
        has_prompt, has_prices = (f"{key}_sha256" in table.values for key in ("system_prompt", "prices"))
        return cls(
            label=table.get("label", str),
            name=table.get("name", str),
            parameters=table.table("parameters").values,
            model=table.optional("model", str),
            base_url=table.optional("base_url", str),
            system_prompt=None if prompt is None else Path(Path(prompt).name),
            prices=tuple(Path(Path(name).name) for name in _texts(table, "prices")),
            system_prompt_sha256=table.get("system_prompt_sha256", str) if has_prompt else None,
            prices_sha256=_texts(table, "prices_sha256") if has_prices else (),
        )


@attrs.frozen
class SuitePreset:
    """A configuration that a suite plays.

    Args:
        label: What tables call it; no two of a suite are alike.
        config: The resolved configuration.
    """

    label: str
    config: Config

    def to_dict(self) -> JsonObject:
        """Return it as JSON values."""
        config = cast("JsonObject", self.config.to_dict())
        return {"label": self.label, "digest": self.config.digest(), "config": config}

    @classmethod
    def from_table(cls, table: Table) -> Self:
        """Return what ``to_dict`` wrote.

        Raises:
            RecordError: A value is missing, or it is no configuration of this version.
        """
        try:
            config = load_config(table.table("config").values, environ={})
        except ConfigError as error:
            msg = f"{table.place}: config: {error}"
            raise RecordError(msg) from None
        if config.digest() != table.get("digest", str):
            table.refuse("digest", f"{config.digest()}, the digest of its configuration; the file was changed")
        return cls(table.get("label", str), config)


@attrs.frozen
class Limits:
    """What one episode may use; one of ``llm`` has budgets of its own, and heeds ``max_turns`` alone.

    Args:
        seconds: Wall-clock time of an episode and its measurement.
        memory_mib: Address space beyond what its process had before, in MiB.
        max_turns: Turns after which an episode is cut off, for every policy; None for no limit.
        waiting_seconds: Wall-clock time of an episode, and its measurement, of a policy of one's own that waits for
            answers.
    """

    seconds: int = _DEFAULT_SECONDS
    memory_mib: int = _DEFAULT_MEMORY_MIB
    max_turns: int | None = None
    waiting_seconds: int = _DEFAULT_WAITING_SECONDS

    def to_dict(self) -> JsonObject:
        """Return them as JSON values."""
        return attrs.asdict(self)

    @classmethod
    def from_table(cls, table: Table) -> Self:
        """Return what ``to_dict`` wrote.

        Raises:
            RecordError: A value is missing or of another type.
        """
        max_turns = table.optional("max_turns", int)
        return cls(
            _positive(table, "seconds", LIMITS_MOST.seconds),
            _positive(table, "memory_mib", LIMITS_MOST.memory_mib),
            None if max_turns is None else _positive(table, "max_turns"),
            # Older files have none.
            _positive(table, "waiting_seconds", LIMITS_MOST.waiting_seconds)
            if "waiting_seconds" in table.values
            else _DEFAULT_WAITING_SECONDS,
        )


LIMITS_MOST: Final = Limits(seconds=366 * 24 * 3600, memory_mib=2**24, waiting_seconds=366 * 24 * 3600)
"""A year and 16 TiB: beyond them, timers and limits of the system overflow."""


@attrs.frozen
class Suite:
    """Which episodes an evaluation plays: every policy under every configuration with every seed, so many times.

    Args:
        name: Name of the suite.
        description: What it is for.
        policies: Who plays.
        presets: Configurations.
        seeds: Run seeds as text; of a held-out suite their salted hashes.
        seed_hash: How seeds were hashed; None where they are public.
        repeats: How often each episode is played.
        limits: What an episode may use.
        concurrency: How many runs of language models are played at once.
    """

    name: str
    description: str
    policies: tuple[SuitePolicy, ...]
    presets: tuple[SuitePreset, ...]
    seeds: tuple[str, ...]
    seed_hash: SeedHash | None = None
    repeats: int = 1
    limits: Limits = attrs.field(factory=Limits)
    concurrency: int = DEFAULT_CONCURRENCY

    @property
    def is_held_out(self) -> bool:
        """Whether its seeds are secret."""
        return self.seed_hash is not None

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
        return {
            "name": self.name,
            "description": self.description,
            "policies": [policy.to_dict() for policy in self.policies],
            "presets": [preset.to_dict() for preset in self.presets],
            "seeds": list(self.seeds),
            "seed_hash": None if self.seed_hash is None else self.seed_hash.to_dict(),
            "repeats": self.repeats,
            "limits": self.limits.to_dict(),
            "concurrency": self.concurrency,
        }

    @classmethod
    def from_table(cls, table: Table) -> Self:
        """Return what ``to_dict`` wrote.

        Raises:
            RecordError: A value is missing or of another type, or no suite has it.
        """
        hashed = table.optional_table("seed_hash")
        suite = cls(
            name=table.get("name", str),
            description=table.get("description", str),
            policies=tuple(SuitePolicy.from_table(row) for row in _rows(table, "policies")),
            presets=tuple(SuitePreset.from_table(row) for row in _rows(table, "presets")),
            seeds=_seeds(table, _PUBLIC if hashed is None else _HASHED),
            seed_hash=None if hashed is None else SeedHash.from_table(hashed),
            repeats=_positive(table, "repeats"),
            limits=Limits.from_table(table.table("limits")),
            concurrency=_positive(table, "concurrency"),
        )
        for key, labels in (("policies", suite.policies), ("presets", suite.presets), ("seeds", suite.seeds)):
            _require_each_once(table, key, [each if isinstance(each, str) else each.label for each in labels])
        return suite

    def digest(self) -> str:
        """Return the SHA-256, as hex, of all that decides what is played.

        Names, descriptions, time, memory and concurrency change no result, so they do not count; what prompts and
        prices say does.
        """
        values = self.to_dict()
        for name in ("name", "description", "limits", "concurrency"):
            del values[name]
        presets: list[Json] = [[preset.label, preset.config.digest()] for preset in self.presets]
        decisive = {**values, "presets": presets, "max_turns": self.limits.max_turns}
        return hashlib.sha256(encode(decisive, sort_keys=True).encode("ascii")).hexdigest()


def _rows(table: Table, key: str) -> list[Table]:
    """Return the objects of a list."""
    return [Table.of(item, f"{table.place}: {key}[{place}]") for place, item in enumerate(table.items(key))]


def _texts(table: Table, key: str) -> tuple[str, ...]:
    """Return the texts of a list."""
    texts = [item for item in table.items(key) if isinstance(item, str)]
    return tuple(texts) if len(texts) == len(table.items(key)) else table.refuse(key, "a list of texts")


def _positive(table: Table, key: str, most: int = _MOST) -> int:
    value = table.get(key, int)
    return value if 1 <= value <= most else table.refuse(key, f"a whole number from 1 to {most}")


def _seeds(table: Table, form: re.Pattern[str]) -> tuple[str, ...]:
    """Return the names of seeds, as a suite writes them."""
    seeds = [seed for seed in table.items("seeds") if isinstance(seed, str) and form.fullmatch(seed)]
    if len(seeds) < len(table.items("seeds")):
        kind = "seeds as texts" if form is _PUBLIC else "hashes of seeds, of 20 hexadecimal digits"
        table.refuse("seeds", f"a list of {kind}, as ycbench evaluate writes them")
    return tuple(seeds)


def _require_each_once(table: Table, key: str, labels: Sequence[str]) -> None:
    if not labels or len(set(labels)) < len(labels):
        msg = f"{table.place}: {key}: got {encode(labels)[:80]}, expected at least one, and each once"
        raise RecordError(msg)
