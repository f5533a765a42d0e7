"""``load_config``: one configuration from presets, files, mappings, the environment and arguments.

Layers of settings are laid over each other, lowest first: presets and files that extend each other, environment
variables ``YCBENCH_<TABLE>__<KEY>``, then arguments. Each value is checked against the list of settings, also one that
a higher layer replaces, and all problems are reported at once.
"""

import datetime as dt
import itertools
import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache, partial
from importlib import resources
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, cast

import attrs

from ycbench_env.config.kinds import SettingValue, setting_of
from ycbench_env.config.settings import (
    DERIVED,
    DISTRIBUTION_TYPES,
    DISTRIBUTIONS,
    LEAVES,
    NO_EFFECT,
    PARAMETERS,
    TABLES,
    Config,
)
from ycbench_env.errors import ConfigError, ConfigWarning
from ycbench_env.text import nearest, printable, shown
from ycbench_env.vocabulary import DOMAINS, TIERS

ConfigSource = str | os.PathLike[str] | Mapping[str, object] | Config
"""Whatever a configuration can be loaded from."""

_ROOT: Final = "default"
_PREFIX: Final = "YCBENCH_"
_MOST_PROBLEMS: Final = 50  # a hint costs milliseconds, and nobody reads the fifty-first line
_LONGEST_NAME: Final = 80
_PLAIN_KEY: Final = re.compile(rf"[A-Za-z0-9_.-]{{1,{_LONGEST_NAME}}}")

RESERVED_VARIABLES: Final = ("YCBENCH_API_KEY", "YCBENCH_HELDOUT_SEEDS")
"""Variables with the prefix that are no settings; other parts of the project read them."""

VARIABLES: Final = {
    _PREFIX + key.upper().replace(".", "__"): key for key in sorted({*LEAVES, *NO_EFFECT}) if "." in key
}
"""Dotted key of each variable's setting; a setting at the top level has no variable."""


@attrs.frozen
class Origin:
    """The place that a setting comes from; as text, what messages call it.

    Attributes:
        kind: An argument of the call (``overrides`` or a mapping), a ``Config`` that was given, an environment
            variable, a file or a preset.
        name: Name of the variable, configuration or preset; path of the file; empty for an argument.
    """

    kind: Literal["argument", "configuration", "environment", "file", "preset"]
    name: str = ""

    def __str__(self) -> str:
        name = printable(self.name)
        if self.kind == "file":
            return name
        return f"environment variable {name}" if self.kind == "environment" else f"{self.kind} {name}".rstrip(" ")


_ARGUMENT: Final = Origin("argument")


def load_config(
    source: ConfigSource = "default",
    *,
    overrides: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
    base_dir: str | os.PathLike[str] | None = None,
) -> Config:
    """Return the checked configuration of a source.

    From the strongest to the weakest: ``overrides``, a mapping given as ``source``, environment variables
    ``YCBENCH_<TABLE>__<KEY>``, the file or preset, what it extends, and so on to the preset ``default``.

    Args:
        source: Name of a preset; path of a TOML file; nested tables as in such a file; or a configuration, which the
            environment does not touch. Text that names a preset is that preset.
        overrides: Nested tables that go before everything else.
        environ: Environment variables; None for those of the process, ``{}`` for none.
        base_dir: Where relative paths in ``source`` start; None for the working directory.

    Raises:
        ConfigError: There is no such source, or it holds illegal, unknown or inconsistent settings. The message lists
            them with place, dotted key, value and what was expected.

    Warns:
        ConfigWarning: A key of the public implementation has no effect here; one warning for each such key.
    """
    if isinstance(source, Config) and not overrides:
        return source
    layers = _layers(source, overrides, environ, base_dir)
    for message in layers.ignored.values():
        warnings.warn(message, ConfigWarning, stacklevel=2)
    return layers.config()


def config_origins(
    source: ConfigSource = "default",
    *,
    overrides: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
    base_dir: str | os.PathLike[str] | None = None,
) -> dict[str, Origin]:
    """Return the strongest place that gives each value of ``load_config`` with the same arguments, by dotted key.

    Raises:
        ConfigError: As ``load_config`` does; it alone warns of keys without effect.
    """
    layers = _layers(source, overrides, environ, base_dir)
    layers.check()
    return {key: layers.leaves[key].origin for key in LEAVES if key in layers.leaves}


def check_config(config: Config) -> None:
    """Raise a ConfigError that lists all that is wrong unless the settings of a configuration agree."""
    layers = _Layers()
    layers.lay(_ARGUMENT, config.to_dict())
    layers.check()


class Difference(NamedTuple):
    """One setting that differs, as plain values; None where its distribution has no such parameter."""

    key: str
    left: object
    right: object


def diff_configs(left: Config, right: Config) -> tuple[Difference, ...]:
    """Return the settings that differ, in the order of the list of settings; empty for equal configurations."""
    ours, theirs = dict(_flat(left.to_dict(), "")), dict(_flat(right.to_dict(), ""))
    pairs = ((key, ours.get(key), theirs.get(key)) for key in LEAVES)
    return tuple(Difference(key, one, other) for key, one, other in pairs if one != other)


def _flat(table: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, object]]:
    """Yield dotted keys and values of nested tables."""
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


# ------------------------------------------------------------------------------------------- presets, files and extends


class _Document(NamedTuple):
    """The tables of one preset, file or mapping, and the directory where relative paths in it start."""

    origin: Origin
    directory: Path
    tree: Mapping[str, object]

    def is_same_as(self, other: "_Document") -> bool:
        """Return whether both are the same preset or file, in whatever way it is named."""
        here, there = self.origin, other.origin
        return here.kind == there.kind and Path(here.name).resolve() == Path(there.name).resolve()


@cache
def preset_names() -> tuple[str, ...]:
    """Return the names of the presets, ``default`` first, then by name."""
    folder = resources.files("ycbench_env").joinpath("presets")
    names = [entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml")]
    return tuple(sorted(names, key=lambda name: (name != _ROOT, name)))


def _open(reference: str | os.PathLike[str], directory: Path) -> _Document:
    """Return the preset or file that a reference names; text that names a preset is never taken for a path."""
    names = preset_names()
    if isinstance(reference, str) and reference in names:
        data = resources.files("ycbench_env").joinpath("presets", f"{reference}.toml").read_bytes()
        return _Document(Origin("preset", reference), Path(), _tree(data, f"preset {reference}", reference))
    path = directory / reference
    label = printable(str(path))
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        meant = nearest(path.name.lower(), names)
        hint = f"; did you mean the preset {meant}?" if meant else ""
        message = f"{shown(str(reference))} is not a preset ({', '.join(names)}), and there is no file {label}{hint}"
        raise ConfigError(message) from None
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the path
        message = f"{label}: cannot be read as a configuration file: {error}"
        raise ConfigError(message) from None
    return _Document(Origin("file", str(path)), path.parent, _tree(data, label, path.stem))


@lru_cache(maxsize=32)
def _tree(data: bytes, label: str, stem: str) -> Mapping[str, object]:
    """Return the tables of a TOML file; its name is the stem unless it gives one."""
    import tomllib  # noqa: PLC0415 -- needed only by those who read files

    try:
        return {"name": stem, **tomllib.loads(data.decode("utf-8-sig"))}
    except (ValueError, RecursionError) as error:  # ValueError: no TOML, no UTF-8, a number of thousands of digits
        reason = str(error)[:200].encode("ascii", "backslashreplace").decode("ascii")
        message = f"{label}: not TOML in UTF-8: {reason}"
        raise ConfigError(message) from None


def _chain_of(document: _Document, problems: "_Problems") -> list[_Document]:
    """Return a document and all that it stands on, lowest last; what is wrong with the chain becomes a problem."""
    chain = [document]
    try:
        while chain[-1].origin != Origin("preset", _ROOT):
            reference = chain[-1].tree.get("extends", _ROOT)
            if not isinstance(reference, str):
                message = f"extends = {shown(reference)}: expected the name of a preset or the path of a file"
                raise ConfigError(message)  # noqa: TRY301 -- becomes a problem below
            parent = _open(reference, chain[-1].directory)
            if any(parent.is_same_as(each) for each in chain):
                message = f"{parent.origin}: a cycle; one of them must extend something else"
                raise ConfigError(message)  # noqa: TRY301 -- as above
            chain.append(parent)
    except ConfigError as error:
        problems.append(f"{' -> '.join(str(each.origin) for each in chain)} -> extends: {error}")
    return chain


def toml_value(text: str, key: str = "") -> object:
    """Return what a text means as a setting: a TOML value if it is one, else the text itself.

    A setting that holds words takes the text itself also where it looks like a number: a company may be called 7.
    """
    import tomllib  # noqa: PLC0415 -- needed only where variables are set

    try:
        table = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    value = table.pop("value")
    holds_words = key in LEAVES and LEAVES[key].type in {"text", "choice"}
    return text if table or (holds_words and not isinstance(value, str)) else value  # a line break let more keys in


# ---------------------------------------------------------------------------------------------------------------- merge


def _layers(
    source: ConfigSource,
    overrides: Mapping[str, object] | None,
    environ: Mapping[str, str] | None,
    base_dir: str | os.PathLike[str] | None,
) -> "_Layers":
    """Return all layers of a source laid over each other; what extends nothing stands on the preset ``default``."""
    layers = _Layers()
    environ = os.environ if environ is None else environ
    if isinstance(source, Config):
        layers.lay(Origin("configuration", source.name), source.to_dict())
    else:
        directory = Path() if base_dir is None else Path(base_dir)
        if isinstance(source, str | os.PathLike):
            document = _open(source, directory)
        else:
            document = _Document(_ARGUMENT, directory, _tables(source, "source", "a preset name, a path, a Config or "))
        for each in reversed(_chain_of(document, layers.problems)):
            if each.origin == _ARGUMENT:  # a mapping is an explicit argument, so it beats the environment
                layers.lay_variables(environ)
            layers.lay(each.origin, {name: value for name, value in each.tree.items() if name != "extends"})
        if document.origin != _ARGUMENT:
            layers.lay_variables(environ)
    if overrides is not None:
        layers.lay(_ARGUMENT, _tables(overrides, "overrides"))
    return layers


def _tables(value: object, parameter: str, also: str = "") -> Mapping[str, object]:
    if isinstance(value, Mapping):
        return cast("Mapping[str, object]", value)
    message = f"argument: {parameter} = {shown(value)}: expected {also}a mapping of nested tables"
    raise ConfigError(message)


_Problems = list[str | Callable[[], str]]


class _Leaf(NamedTuple):
    """A value, None also for an illegal one, and where it comes from."""

    value: SettingValue
    origin: Origin
    legal: bool = True


@attrs.define
class _Layers:
    """Layers laid over each other: values by dotted key, ignored keys with their message, and what is wrong."""

    leaves: dict[str, _Leaf] = attrs.field(factory=dict[str, _Leaf])
    ignored: dict[str, str] = attrs.field(factory=dict[str, str])
    problems: "_Problems" = attrs.field(factory=list[str | Callable[[], str]])

    def lay_variables(self, environ: Mapping[str, str]) -> None:
        """Lay the environment variables that are settings on top."""
        names = sorted(name for name in environ if name.startswith(_PREFIX) and name not in RESERVED_VARIABLES)
        # A changed type clears the parameters of a distribution, so it comes before the variables that set them.
        for name in sorted(names, key=lambda name: not name.endswith("__TYPE")):
            origin = Origin("environment", name)
            if name not in VARIABLES:
                self.problems.append(partial(_unknown_variable, origin, environ[name]))
            else:
                self._put(origin, {VARIABLES[name]: toml_value(environ[name], VARIABLES[name])})

    def lay(self, origin: Origin, tree: Mapping[str, object]) -> None:
        """Lay tables on top, key by key; a distribution of another type replaces the lower one."""
        self._put(origin, dict(self._entries(origin, "", tree)))

    def _put(self, origin: Origin, entries: Mapping[str, object]) -> None:
        # The type comes first, so that a changed one clears the old parameters before the new ones arrive.
        for key in sorted(entries, key=lambda key: not key.endswith(".type")):
            if key in NO_EFFECT:
                self.ignored.setdefault(key, f"{origin}: {key} has no effect here: {NO_EFFECT[key]}")
                continue
            try:
                leaf = _Leaf(LEAVES[key].read(entries[key]), origin)
            except ValueError as error:
                leaf = _Leaf(None, origin, legal=False)
                self.problems.append(f"{_where(origin, key, entries[key])}: {error}")
            if key.endswith(".type") and (key not in self.leaves or self.leaves[key].value != leaf.value):
                for other in [other for other in self.leaves if other.startswith(key.removesuffix("type"))]:
                    del self.leaves[other]
            self.leaves[key] = leaf

    def _entries(self, origin: Origin, table: str, tree: Mapping[str, object]) -> Iterator[tuple[str, object]]:
        """Yield dotted keys and raw values of the settings in a table of a layer; note unknown keys as problems."""
        for name, value in tree.items():
            # A quoted key with a dot would look like a path into a table; Python can pass keys that are not text.
            if not isinstance(cast("object", name), str) or "." in name:
                problem = "a key must be text without a dot; nest the tables"
                self.problems.append(f"{origin}: {shown(name)} = {shown(value)}: {problem}")
                continue
            key = f"{table}.{name}" if table else name
            if key in TABLES and isinstance(value, Mapping):
                yield from self._entries(origin, key, cast("Mapping[str, object]", value))
            elif key in TABLES:
                self.problems.append(f"{_where(origin, key, value)}: expected a table")
            elif key in LEAVES or key in NO_EFFECT:
                yield key, value
            else:
                self.problems.append(partial(_unknown, origin, key, value))

    def check(self) -> None:
        """Raise a ConfigError with one line for each problem, if there are any."""
        for distribution in DISTRIBUTIONS:
            self._check_parameters(distribution)
        for keys, expected, holds in _AGREEMENTS:
            # The largest draw of a distribution is its bound, or the one value that it has.
            found = [key if key in self.leaves else re.sub(r"\.high$", ".value", key) for key in keys]
            leaves = {key: self.leaves[key] for key in found if key in self.leaves and self.leaves[key].legal}
            if len(leaves) == len(keys) and not holds(*(leaf.value for leaf in leaves.values())):
                given = ", ".join(f"{key} = {leaf.value} ({leaf.origin})" for key, leaf in leaves.items())
                self.problems.append(f"{given}: expected {expected}")
        lines = [each if isinstance(each, str) else each() for each in self.problems[:_MOST_PROBLEMS]]
        more = len(self.problems) - len(lines)
        if more:
            lines.append(f"... and {more:,} more")
        if len(lines) > 1:
            lines.insert(0, f"{len(self.problems)} problems in the configuration:")
        if lines:
            raise ConfigError("\n- ".join(lines))

    def _check_parameters(self, distribution: str) -> None:
        """Note parameters that the distribution's type lacks or does not have; forget the latter."""
        kind = self.leaves.get(f"{distribution}.type")
        if kind is None or not kind.legal:
            return
        names = PARAMETERS[str(kind.value)]
        expected = f'type = "{kind.value}" has {", ".join(names)}'
        for name in dict.fromkeys(itertools.chain(*PARAMETERS.values())):
            key = f"{distribution}.{name}"
            if name in names and key not in self.leaves:
                self.problems.append(f"{kind.origin}: {key} is missing; {expected}")
            elif name not in names and key in self.leaves:
                leaf = self.leaves.pop(key)
                if leaf.legal:
                    self.problems.append(f"{_where(leaf.origin, key, leaf.value)}: unknown key; {expected}")

    def config(self) -> Config:
        """Return the configuration, or raise what ``check`` raises."""
        self.check()
        return self._built(Config, "")

    def _built(self, cls: type[Any], prefix: str) -> Any:  # noqa: ANN401 -- an instance of that class
        arguments: dict[str, object] = {}
        for field in attrs.fields(cls):
            key, known = prefix + field.name, setting_of(field)
            if known is None and field.init:
                arguments[field.name] = self._built(cast("type[Any]", field.type), key + ".")
            elif known is not None and known.type == "distribution":
                word = str(self.leaves[f"{key}.type"].value)
                arguments[field.name] = self._built(DISTRIBUTION_TYPES[word], key + ".")
            elif known is not None:
                arguments[field.name] = self.leaves[key].value
        return cls(**arguments)


# ---------------------------------------------------------------------------------------------------------------- hints


def _where(origin: Origin, key: str, value: object) -> str:
    """Return place, key and value for a message; a key that could pass for another or is long is quoted, escaped."""
    return f"{origin}: {key if _PLAIN_KEY.fullmatch(key) else shown(key)} = {shown(value)}"


def _unknown(origin: Origin, key: str, value: object) -> str:
    """Return the message about a key that is no setting, with the key that was probably meant."""
    keys = sorted({*LEAVES, *TABLES})
    same = [each for each in keys if each.rpartition(".")[2] == key.rpartition(".")[2]]
    meant = nearest(key, same or keys) or next(iter(same), None)
    hint = f"did you mean {meant}?" if meant else "the settings are listed in docs/configuration.md"
    if key in DERIVED:
        hint = "it follows from other settings"
    return f"{_where(origin, key, value)}: unknown {'table' if isinstance(value, Mapping) else 'key'}; {hint}"


def _unknown_variable(origin: Origin, value: str) -> str:
    meant = nearest(origin.name.upper(), VARIABLES)
    hint = (
        f"did you mean {meant}?" if meant else f"settings are {_PREFIX}<TABLE>__<KEY>, listed in docs/configuration.md"
    )
    return f"{origin} = {shown(value)}: unknown setting; {hint}"


# ----------------------------------------------------------------------------------------------------------- agreements

_LARGEST_REWARD_CENTS: Final = 10**12
_LARGEST_CLIENT_MULTIPLIER: Final = 2.5
_LARGEST_REQUIRED_TRUST: Final = 4


def _deadline_is_a_date(start: dt.date, years: int, *figures: Any) -> bool:  # noqa: ANN401 -- numbers, and the ladder
    """Return whether the latest deadline, of the largest task accepted just before the horizon, is in year 9999.

    The largest sum over all domains is taken, so that it holds also where a deadline is made from the sum.
    """
    quantity, prestige, ladder, scale, least, per_day, fewest_days = figures
    if start.year + years > dt.MAXYEAR:
        return False
    work = len(DOMAINS) * max(least, quantity * (1 + scale * (max(prestige, *ladder, 1) - 1)))
    business_days = max(fewest_days, work / per_day)
    # Counted from the 28th, which every February has; a week has 5 business days, and 5 more cover the ends.
    horizon = start.replace(year=start.year + years, day=min(start.day, 28)).toordinal() + 3
    return horizon + (business_days + 5) * 7 / 5 <= dt.date.max.toordinal()


def _reward_is_exact(reward: float, prestige: float, ladder: tuple[int, ...], scale: float, boost: float) -> bool:
    """Return whether the largest reward is small enough for sums of rewards to be exact."""
    growth = 1 + scale * (max(prestige, *ladder, 1) - 1)
    gated = reward * growth * (1 + boost * _LARGEST_REQUIRED_TRUST)
    return gated * _LARGEST_CLIENT_MULTIPLIER <= _LARGEST_REWARD_CENTS


def _rising(table: str, *names: str) -> "_Agreement":
    keys = tuple(f"{table}.{name}" for name in names)
    return keys, " <= ".join(names), lambda *values: list(values) == sorted(values)


_Agreement = tuple[tuple[str, ...], str, Callable[..., bool]]
_AGREEMENTS: Final[tuple[_Agreement, ...]] = (
    _rising("world", "prestige_min", "initial_prestige_level", "prestige_max"),
    (
        ("world.workday_start_hour", "world.workday_end_hour"),
        "workday_start_hour < workday_end_hour",
        lambda start, end: start < end,
    ),
    *(_rising(f"world.salary_{tier}", "min_cents", "max_cents") for tier in TIERS),
    *(_rising(f"world.salary_{tier}", "rate_min", "rate_max") for tier in TIERS),
    *(_rising(distribution, "low", "high") for distribution in DISTRIBUTIONS),
    *(_rising(distribution, "low", "mode", "high") for distribution in DISTRIBUTIONS),
    (
        (
            *("sim.start_date", "sim.horizon_years", "world.dist.required_qty.high"),
            *("world.dist.required_prestige.high", "world.market_prestige_ladder", "world.prestige_qty_scale"),
            *("world.min_task_qty", "world.deadline_qty_per_day", "world.deadline_min_biz_days"),
        ),
        "the horizon and the latest possible deadline no later than year 9999",
        _deadline_is_a_date,
    ),
    (
        (
            *("world.dist.reward_funds_cents.high", "world.dist.required_prestige.high"),
            *("world.market_prestige_ladder", "world.reward_prestige_scale", "world.trust_gated_reward_boost"),
        ),
        f"the largest possible reward at most {_LARGEST_REWARD_CENTS:_} cents",
        _reward_is_exact,
    ),
)
"""Keys, a statement about their values, and whether it is true of them, for all that must agree."""
