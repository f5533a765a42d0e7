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
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, cast

import attrs

from ycbench_env.config.kinds import SettingValue, UnfitError, setting_of
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
from ycbench_env.text import printable, shown
from ycbench_env.vocabulary import DOMAINS, TIERS

ConfigSource = str | os.PathLike[str] | Mapping[str, object] | Config
"""Whatever a configuration can be loaded from."""

_ROOT: Final = "default"
_SUFFIX: Final = ".toml"
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
    merged = _merge(source, overrides, environ, base_dir)
    for message in merged.ignored.values():
        warnings.warn(message, ConfigWarning, stacklevel=2)
    return merged.config()


def config_origins(
    source: ConfigSource = "default",
    *,
    overrides: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
    base_dir: str | os.PathLike[str] | None = None,
) -> dict[str, Origin]:
    """Return where each value of ``load_config`` with the same arguments comes from: the strongest that gives it.

    Args:
        source: As of ``load_config``, and so are all arguments.
        overrides: Tables that go before everything else.
        environ: Environment variables; None for those of the process, ``{}`` for none.
        base_dir: Where relative paths in ``source`` start; None for the working directory.

    Returns:
        The place of each single value by its dotted key, such as ``world.dist.required_qty.low``, in the order of the
        list of settings.

    Raises:
        ConfigError: As ``load_config`` does; it alone warns of keys without effect.
    """
    merged = _merge(source, overrides, environ, base_dir)
    merged.config()
    return {key: merged.leaves[key].origin for key in LEAVES if key in merged.leaves}


def config_of(tables: Mapping[str, object]) -> Config:
    """Return the configuration that ``Config.to_dict`` wrote; see ``Config.from_dict``."""
    merged = _Merged()
    for document in (_preset(_ROOT), _Document(_ARGUMENT, "", Path(), tables)):
        merged.lay(document.origin, document.tree)
    return merged.config()


def check_config(config: Config) -> None:
    """Check that the settings of an instance agree with each other.

    Raises:
        ConfigError: They do not; the message lists all that is wrong.
    """
    merged = _Merged()
    merged.lay(_ARGUMENT, config.to_dict())
    merged.checked_values()


@attrs.frozen
class Difference:
    """One setting that differs, with plain values as in ``Config.to_dict``.

    Attributes:
        key: Dotted key.
        left: Value in the first configuration; None where its distribution has no such parameter.
        right: Value in the second, likewise.
    """

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


@attrs.frozen
class _Document:
    """Settings as one preset, file or mapping declares them.

    Attributes:
        origin: The place.
        identity: Equal for two ways to name the same preset or file.
        directory: Where relative paths in it start.
        tree: Its tables, ``extends`` included.
    """

    origin: Origin
    identity: str
    directory: Path
    tree: Mapping[str, object]


@cache
def preset_names() -> tuple[str, ...]:
    """Return the names of the presets, ``default`` first, then by name."""
    folder = resources.files("ycbench_env").joinpath("presets")
    names = [entry.name.removesuffix(_SUFFIX) for entry in folder.iterdir() if entry.name.endswith(_SUFFIX)]
    return tuple(sorted(names, key=lambda name: (name != _ROOT, name)))


@cache
def _preset(name: str) -> _Document:
    data = resources.files("ycbench_env").joinpath("presets").joinpath(name + _SUFFIX).read_bytes()
    origin = Origin("preset", name)
    return _Document(origin, str(origin), Path(), _parse(data, str(origin), name))


def _open_document(reference: str | os.PathLike[str], directory: Path) -> _Document:
    """Return the preset or file that a reference names; text that names a preset is never taken for a path.

    Args:
        reference: Preset name or path; an object of ``os.PathLike`` is always a path.
        directory: Where a relative path starts.

    Raises:
        ConfigError: There is no such preset or file, or it is no TOML; the message says which, and where.
    """
    if isinstance(reference, str) and reference in preset_names():
        return _preset(reference)
    written = os.fspath(reference)
    if not isinstance(written, str) or not written:  # pyright: ignore[reportUnnecessaryIsInstance] -- a path of bytes
        raise ConfigError(_nothing_there(reference, None))
    path = directory / written
    label = printable(str(path))
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise ConfigError(_nothing_there(reference, label)) from None
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the path
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        message = f"{label}: cannot be read as a configuration file: {reason}"
        raise ConfigError(message) from None
    return _Document(Origin("file", str(path)), str(path.resolve()), path.parent, _parse(data, label, path.stem))


def _nothing_there(reference: object, path: str | None) -> str:
    """Return what to say where neither a preset nor a file has the name."""
    names = preset_names()
    place = f"there is no file {path}" if path else "it is no path"
    name = shown(str(reference) if isinstance(reference, Path) else reference)
    message = f"{name} is not a preset ({', '.join(names)}), and {place}"
    meant = _nearest(Path(str(reference)).name.lower(), names)
    return f"{message}; did you mean the preset {meant}?" if meant else message


def _parse(data: bytes, label: str, stem: str) -> Mapping[str, object]:
    """Return the tables of a TOML file; its name is the stem unless it gives one."""
    import tomllib  # noqa: PLC0415 -- needed only by those who read files

    try:
        tree: dict[str, object] = tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"{label}: not UTF-8 at byte {error.start} (line {line}); save the file as UTF-8"
        raise ConfigError(message) from None
    except (ValueError, RecursionError) as error:  # ValueError: also a number of thousands of digits
        reason = str(error)[:200].encode("ascii", "backslashreplace").decode("ascii")
        message = f"{label}: not TOML: {reason}"
        raise ConfigError(message) from None
    return {"name": stem, **tree}


def _chain_of(document: _Document) -> tuple[list[_Document], str | None]:
    """Return a document and all that it stands on, lowest first, and what is wrong with the chain, if anything is.

    What extends nothing stands on the preset ``default``.
    """
    documents = [document]
    problem = None
    while documents[-1].identity != _preset(_ROOT).identity and problem is None:
        child = documents[-1]
        reference = child.tree.get("extends", _ROOT)
        try:
            if not isinstance(reference, str):
                message = f"extends = {shown(reference)}: expected the name of a preset or the path of a file"
                raise ConfigError(message)  # noqa: TRY301 -- becomes the problem below
            parent = _open_document(reference, child.directory)
            if any(parent.identity == each.identity for each in documents):
                message = f"{parent.origin}: a cycle; one of them must extend something else"
                raise ConfigError(message)  # noqa: TRY301 -- as above
            documents.append(parent)
        except ConfigError as error:
            problem = f"{' -> '.join(str(each.origin) for each in documents)} -> extends: {error}"
    return documents[::-1], problem


# ---------------------------------------------------------------------------------------------------------- environment


def _variable_layers(environ: Mapping[str, str]) -> tuple[list[tuple[Origin, Mapping[str, object]]], list[str]]:
    """Return a layer for each variable that is a setting, and the names of those that look like one but are none."""
    names = sorted(name for name in environ if name.startswith(_PREFIX) and name not in RESERVED_VARIABLES)
    # A changed type clears the parameters of a distribution, so it goes below the variables that set them.
    names.sort(key=lambda name: not name.endswith("__TYPE"))
    layers: list[tuple[Origin, Mapping[str, object]]] = []
    for name in names:
        if name in VARIABLES:
            *tables, last = VARIABLES[name].split(".")
            tree: dict[str, object] = {last: _variable_value(VARIABLES[name], environ[name])}
            for table in reversed(tables):
                tree = {table: tree}
            layers.append((Origin("environment", name), tree))
    return layers, [name for name in names if name not in VARIABLES]


def _variable_value(key: str, written: str) -> object:
    """Return the raw value that a variable's text means: a TOML value where it is one, else the text itself.

    A setting that holds words takes the text itself also where it looks like a number: a company may be called 7.
    """
    import tomllib  # noqa: PLC0415 -- needed only where variables are set

    try:
        table = tomllib.loads(f"value = {written}")
    except (ValueError, RecursionError):
        return written
    value = table.pop("value")
    if table:  # a line break let further keys in
        return written
    holds_words = key in LEAVES and LEAVES[key].type in {"text", "choice"}
    return written if holds_words and not isinstance(value, str) else value


def _unknown_variable(name: str) -> str:
    """Return the nearest variable, or where the settings are listed."""
    meant = _nearest(name.upper(), VARIABLES)
    if meant:
        return f"unknown setting; did you mean {meant}?"
    return f"unknown setting; settings are {_PREFIX}<TABLE>__<KEY>, listed in docs/configuration.md"


# ---------------------------------------------------------------------------------------------------------------- merge


def _merge(
    source: ConfigSource,
    overrides: Mapping[str, object] | None,
    environ: Mapping[str, str] | None,
    base_dir: str | os.PathLike[str] | None,
) -> "_Merged":
    """Return all layers of a source laid over each other."""
    merged = _Merged()
    base = Path() if base_dir is None else Path(base_dir)
    if isinstance(source, Config):
        merged.lay(Origin("configuration", source.name), source.to_dict())
    else:
        if isinstance(source, str | os.PathLike):
            document = _open_document(source, base)
        else:
            document = _Document(_ARGUMENT, str(_ARGUMENT), base, _tables(source, "source"))
        documents, problem = _chain_of(document)
        if problem:
            merged.note(problem)
        layers = [
            (each.origin, {name: value for name, value in each.tree.items() if name != "extends"}) for each in documents
        ]
        environ = os.environ if environ is None else environ
        variables, unknown = _variable_layers(environ)
        for name in unknown:
            merged.note_value(Origin("environment", name), "", environ[name], lambda name=name: _unknown_variable(name))
        # A mapping is an explicit argument, so it beats the environment.
        place = len(layers) - isinstance(source, Mapping)
        for origin, tree in [*layers[:place], *variables, *layers[place:]]:
            merged.lay(origin, tree)
    if overrides is not None:
        merged.lay(_ARGUMENT, _tables(overrides, "overrides"))
    return merged


def _tables(value: object, parameter: str) -> Mapping[str, object]:
    """Return a value that must be a mapping.

    Raises:
        ConfigError: It is none.
    """
    if isinstance(value, Mapping):
        return cast("Mapping[str, object]", value)
    also = "a preset name, a path, a Config or " if parameter == "source" else ""
    message = f"argument: {parameter} = {shown(value)}: expected {also}a mapping of nested tables"
    raise ConfigError(message)


class _Leaf(NamedTuple):
    """A legal value and where it comes from."""

    value: SettingValue
    origin: Origin


@attrs.define
class _Merged:
    """Layers laid over each other, and what is wrong with them.

    Attributes:
        ignored: Message for each key that is accepted without effect.
        leaves: Legal values by dotted key.
    """

    ignored: dict[str, str] = attrs.field(factory=dict[str, str])
    leaves: dict[str, _Leaf] = attrs.field(factory=dict[str, _Leaf])
    _illegal: set[str] = attrs.field(factory=set[str])
    _problems: dict[str, None] = attrs.field(factory=dict[str, None])
    _more: int = 0

    def note(self, problem: str) -> None:
        """Note a problem; of very many only the first are kept."""
        if len(self._problems) < _MOST_PROBLEMS:
            self._problems[problem] = None
        else:
            self._more += 1

    def note_value(self, origin: Origin, key: str, value: object, what: Callable[[], str]) -> None:
        """Note a problem with one value; what is wrong with it is worded only where it will be read."""
        if len(self._problems) >= _MOST_PROBLEMS:
            self._more += 1
            return
        where = f"{origin}: {_key_text(key)}" if key else str(origin)
        self.note(f"{where} = {shown(value)}: {what()}")

    def lay(self, origin: Origin, tree: Mapping[str, object]) -> None:
        """Lay a layer on top, tables key by key; a distribution of another type replaces the lower one."""
        entries = dict(self._entries(origin, "", tree))
        # The type comes first, so that a changed one clears the old parameters before the new ones arrive.
        for key in sorted(entries, key=lambda key: not key.endswith(".type")):
            self._put(key, entries[key], origin)

    def _entries(self, origin: Origin, table: str, tree: Mapping[str, object]) -> Iterator[tuple[str, object]]:
        """Yield dotted keys and raw values of the settings in a table of a layer; note what is none."""
        for name, value in tree.items():
            # A quoted key with a dot would look like a path into a table; a key that is no text can come from Python.
            if not isinstance(cast("object", name), str) or "." in name:
                message = "a key cannot hold a dot or be no text; nest the tables"
                self.note(f"{origin}: {shown(name)} = {shown(value)}: {message}")
                continue
            key = f"{table}.{name}" if table else name
            if key in TABLES:
                if isinstance(value, Mapping):
                    yield from self._entries(origin, key, cast("Mapping[str, object]", value))
                else:
                    self.note_value(origin, key, value, lambda: "expected a table")
            elif key in LEAVES:
                yield key, value
            elif key in NO_EFFECT:
                self.ignored.setdefault(key, f"{origin}: {key} has no effect here: {NO_EFFECT[key]}")
            else:
                self.note_value(
                    origin, key, value, lambda name=name, value=value: _unknown(table, name, isinstance(value, Mapping))
                )

    def _put(self, key: str, raw: object, origin: Origin) -> None:
        """Lay one value over the lower ones, or note that it is illegal."""
        try:
            leaf = _Leaf(LEAVES[key].read(raw), origin)
        except UnfitError as error:
            expected = str(error)
            self.note_value(origin, key, raw, lambda: expected)
            self._clear_replaced(key, None)
            self.leaves.pop(key, None)
            self._illegal.add(key)
        else:
            self._clear_replaced(key, leaf.value)
            self.leaves[key] = leaf
            self._illegal.discard(key)

    def _clear_replaced(self, key: str, value: SettingValue) -> None:
        """Forget the lower parameters of a distribution whose type changes."""
        distribution, _, name = key.rpartition(".")
        if name != "type" or distribution not in DISTRIBUTIONS:
            return
        lower = self.leaves.get(key)
        if lower is None or lower.value != value:
            for other in [other for other in self.leaves if other.startswith(distribution + ".")]:
                del self.leaves[other]

    def config(self) -> Config:
        """Return the configuration.

        Raises:
            ConfigError: There are problems; the message has one line for each.
        """
        return _built(Config, "", self.checked_values())

    def checked_values(self) -> Mapping[str, SettingValue]:
        """Return the legal values by dotted key, after a look at the distributions and at what must agree.

        Raises:
            ConfigError: As of ``config``.
        """
        for distribution in DISTRIBUTIONS:
            self._check_parameters(distribution)
        values = {key: leaf.value for key, leaf in self.leaves.items()}
        for agreement in AGREEMENTS:
            known = all(key in values for key in agreement.keys)
            if known and not agreement.holds(*(values[key] for key in agreement.keys)):
                self.note(self._disagreement(agreement))
        lines = list(self._problems)
        if len(lines) == 1:
            raise ConfigError(lines[0])
        if lines:
            more = [f"... and {self._more:,} more"] if self._more else []
            total = len(lines) + self._more
            raise ConfigError("\n- ".join([f"{total} problems in the configuration:", *lines, *more]))
        return values

    def _check_parameters(self, distribution: str) -> None:
        """Note parameters that the distribution's type lacks or does not have; forget the latter."""
        kind = self.leaves.get(f"{distribution}.type")
        if kind is None:
            return
        names = PARAMETERS[str(kind.value)]
        expected = f'type = "{kind.value}" has {", ".join(names)}'
        for key in [key for key in self.leaves if key.startswith(distribution + ".")]:
            if key.rpartition(".")[2] not in {"type", *names}:
                leaf = self.leaves.pop(key)
                self.note_value(leaf.origin, key, leaf.value, lambda: f"unknown key; {expected}")
        for name in names:
            key = f"{distribution}.{name}"
            if key not in self.leaves and key not in self._illegal:
                self.note(f"{kind.origin}: {key} is missing; {expected}")

    def _disagreement(self, agreement: "Agreement") -> str:
        """Return the message for settings that do not agree, each with the place it comes from."""
        leaves = {key: self.leaves[key] for key in agreement.keys}
        origins = {leaf.origin for leaf in leaves.values()}
        if len(origins) == 1:
            settings = ", ".join(f"{key} = {leaf.value}" for key, leaf in leaves.items())
            return f"{origins.pop()}: {settings}: expected {agreement.expected}"
        settings = ", ".join(f"{key} = {leaf.value} ({leaf.origin})" for key, leaf in leaves.items())
        return f"{settings}: expected {agreement.expected}"


def _built(cls: type[Any], prefix: str, values: Mapping[str, SettingValue]) -> Any:  # noqa: ANN401 -- of that class
    """Return an instance of the class of one table; the values are complete, legal and in agreement."""
    arguments: dict[str, object] = {}
    for field in attrs.fields(cls):
        key, known = prefix + field.name, setting_of(field)
        if known is None:
            arguments[field.name] = _built(cast("type[Any]", field.type), key + ".", values)
        elif known.is_distribution:
            word = str(values[f"{key}.type"])
            parameters: dict[str, Any] = {name: values[f"{key}.{name}"] for name in PARAMETERS[word]}
            arguments[field.name] = DISTRIBUTION_TYPES[word](**parameters)
        else:
            arguments[field.name] = values[key]
    return cls(**arguments)


# ---------------------------------------------------------------------------------------------------------------- hints


def _key_text(key: str) -> str:
    """Return a dotted key for a message; one that could pass for another or is long stands in quotes, escaped."""
    return key if _PLAIN_KEY.fullmatch(key) else shown(key)


def _nearest(word: str, words: Iterable[str]) -> str | None:
    """Return the most similar of ``words``, or None if none is similar."""
    import difflib  # noqa: PLC0415 -- needed only to word an error

    return next(iter(difflib.get_close_matches(word[:_LONGEST_NAME], list(words), n=1)), None)


def _unknown(table: str, name: str, is_table: bool) -> str:  # noqa: FBT001 -- private
    """Return what to say about a key that is no setting."""
    what = "unknown table" if is_table else "unknown key"
    written = f"{table}.{name}" if table else name
    if settings := DERIVED.get(written):
        return f"{what}; it follows from {settings}, which can be set"
    meant = _nearest_key(table, name, written)
    return f"{what}; did you mean {meant}?" if meant else f"{what}; the settings are listed in docs/configuration.md"


def _nearest_key(table: str, name: str, written: str) -> str | None:
    """Return the dotted key that was probably meant by the unknown ``name`` in ``table``.

    In turn: the same name in another table, a similar name in this table, a similar name anywhere.
    """
    keys = sorted({*LEAVES, *TABLES})
    if same := [key for key in keys if key.rpartition(".")[2] == name]:
        return _nearest(written, same) or same[0]
    if sibling := _nearest(name, [key.rpartition(".")[2] for key in keys if key.rpartition(".")[0] == table]):
        return f"{table}.{sibling}" if table else sibling
    by_name = {key.rpartition(".")[2]: key for key in reversed(keys)}
    similar = _nearest(name, by_name)
    return by_name[similar] if similar else _nearest(written, keys)


# ----------------------------------------------------------------------------------------------------------- agreements

_LARGEST_REWARD_CENTS: Final = 10**12
_LARGEST_CLIENT_MULTIPLIER: Final = 2.5
_LARGEST_REQUIRED_TRUST: Final = 4


class Agreement(NamedTuple):
    """One statement about several settings.

    Args:
        keys: Dotted keys of the settings; the statement counts only where all have legal values.
        expected: The statement in words, for the message.
        holds: Whether it is true of the settings' values, given in the order of ``keys``.
    """

    keys: tuple[str, ...]
    expected: str
    holds: Callable[..., bool]


def _order(table: str, *names: str) -> Agreement:
    """Return the agreement that the named settings of a table do not fall."""

    def holds(*values: float) -> bool:
        return all(left <= right for left, right in itertools.pairwise(values))

    return Agreement(tuple(f"{table}.{name}" for name in names), " <= ".join(names), holds)


def _deadline_is_a_date(  # noqa: PLR0913 -- the settings of one statement
    start: dt.date,
    years: int,
    quantity: float,
    prestige: float,
    ladder: tuple[int, ...],
    scale: float,
    least: int,
    per_day: float,
    fewest_days: int,
) -> bool:
    """Return whether the latest deadline, of the largest task accepted just before the horizon, is in year 9999.

    The largest sum over all domains is taken, so that it holds also where a deadline is made from the sum.
    """
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


def _agreements() -> Iterator[Agreement]:
    yield _order("world", "prestige_min", "initial_prestige_level", "prestige_max")
    hours = ("world.workday_start_hour", "world.workday_end_hour")
    yield Agreement(hours, "workday_start_hour < workday_end_hour", lambda start, end: start < end)
    for tier in TIERS:
        yield _order(f"world.salary_{tier}", "min_cents", "max_cents")
        yield _order(f"world.salary_{tier}", "rate_min", "rate_max")
    for distribution in DISTRIBUTIONS:
        yield _order(distribution, "low", "high")
        yield _order(distribution, "low", "mode", "high")
    dist, world = "world.dist", "world"
    # The largest draw of a distribution is the one of these two that it has.
    for prestige in (f"{dist}.required_prestige.high", f"{dist}.required_prestige.value"):
        for quantity in (f"{dist}.required_qty.high", f"{dist}.required_qty.value"):
            keys = (quantity, prestige, f"{world}.market_prestige_ladder", f"{world}.prestige_qty_scale")
            deadline = (f"{world}.min_task_qty", f"{world}.deadline_qty_per_day", f"{world}.deadline_min_biz_days")
            yield Agreement(
                ("sim.start_date", "sim.horizon_years", *keys, *deadline),
                "the horizon and the latest possible deadline no later than year 9999",
                _deadline_is_a_date,
            )
        for reward in (f"{dist}.reward_funds_cents.high", f"{dist}.reward_funds_cents.value"):
            scales = (f"{world}.reward_prestige_scale", f"{world}.trust_gated_reward_boost")
            yield Agreement(
                (reward, prestige, f"{world}.market_prestige_ladder", *scales),
                f"the largest possible reward at most {_LARGEST_REWARD_CENTS:_} cents",
                _reward_is_exact,
            )


AGREEMENTS: Final = tuple(_agreements())
"""Every agreement between settings."""
