"""Layers of settings: each is checked against the list of settings, then laid over those below it.

All problems of all layers are gathered, also of values that a higher layer replaces: a bad value is never silent.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import cast

import attrs

from ycbench_env.config.consistency import AGREEMENTS, Agreement
from ycbench_env.config.kind import SettingValue, UnfitError
from ycbench_env.config.model import Config
from ycbench_env.config.origin import ARGUMENT, Origin
from ycbench_env.config.schema import DERIVED, DISTRIBUTIONS, LEAVES, NO_EFFECT, PARAMETERS, TABLES, nearest_key
from ycbench_env.config.setting import show
from ycbench_env.errors import ConfigError

__all__ = ["Layer", "Merger", "check_config", "raise_problems"]


@attrs.frozen
class Layer:
    """Settings from one place.

    Attributes:
        origin: The place.
        tree: Nested tables of raw values, without ``extends``.
    """

    origin: Origin
    tree: Mapping[str, object]


@attrs.frozen
class _Leaf:
    """A legal value and where it comes from."""

    value: SettingValue
    origin: Origin


@attrs.define
class Merger:
    """Lays layers over each other, lowest first, and gathers what is wrong with them.

    Attributes:
        problems: One line for each problem.
        ignored: Message for each key that is accepted without effect.
    """

    problems: list[str] = attrs.field(factory=list[str])
    ignored: dict[str, str] = attrs.field(factory=dict[str, str])
    _leaves: dict[str, _Leaf] = attrs.field(factory=dict[str, _Leaf])
    _illegal: set[str] = attrs.field(factory=set[str])

    def add(self, layers: Iterable[Layer]) -> None:
        """Lays further layers on top, tables key by key; a distribution of another type replaces the lower one."""
        for layer in layers:
            entries = dict(self._entries(layer, "", layer.tree))
            # The type comes first, so that a changed one clears the old parameters before the new ones arrive.
            for key in sorted(entries, key=lambda key: not key.endswith(".type")):
                self._put(key, entries[key], layer.origin)

    def _entries(self, layer: Layer, table: str, tree: Mapping[str, object]) -> Iterator[tuple[str, object]]:
        """Yields dotted keys and raw values of the settings in a table of a layer; notes what is none."""
        for name, value in tree.items():
            key = f"{table}.{name}" if table else f"{name}"
            # A quoted key with a dot would look like a path into a table; a key that is no text can come from Python.
            if "." in str(name) or not isinstance(cast("object", name), str):
                self._note(layer.origin, f'"{key}"', value, "a key cannot hold a dot or be no text; nest the tables")
            elif key in TABLES:
                if isinstance(value, Mapping):
                    yield from self._entries(layer, key, cast("Mapping[str, object]", value))
                else:
                    self._note(layer.origin, key, value, "expected a table")
            elif key in LEAVES:
                yield key, value
            elif key in NO_EFFECT:
                self.ignored.setdefault(key, f"{layer.origin}: {key} has no effect here: {NO_EFFECT[key]}")
            else:
                self._note(layer.origin, key, value, _unknown(table, name, value))

    def _put(self, key: str, raw: object, origin: Origin) -> None:
        """Lays one value over the lower ones, or notes that it is illegal."""
        try:
            leaf = _Leaf(LEAVES[key].read(raw), origin)
        except UnfitError as error:
            self._note(origin, key, raw, str(error))
            self._clear_replaced(key, None)
            self._leaves.pop(key, None)
            self._illegal.add(key)
        else:
            self._clear_replaced(key, leaf.value)
            self._leaves[key] = leaf
            self._illegal.discard(key)

    def _clear_replaced(self, key: str, value: SettingValue) -> None:
        """Forgets the lower parameters of a distribution whose type changes."""
        distribution, _, name = key.rpartition(".")
        if name != "type" or distribution not in DISTRIBUTIONS:
            return
        lower = self._leaves.get(key)
        if lower is None or lower.value != value:
            for other in [other for other in self._leaves if other.startswith(distribution + ".")]:
                del self._leaves[other]

    def _note(self, origin: Origin, key: str, value: object, what: str) -> None:
        """Notes a problem with one value."""
        self.problems.append(f"{origin}: {key} = {show(value)}: {what}")

    def finish(self) -> Mapping[str, SettingValue]:
        """Returns the legal values by dotted key, after a look at the distributions and at what must agree."""
        for distribution in sorted(DISTRIBUTIONS):
            self._check_parameters(distribution)
        values = {key: leaf.value for key, leaf in self._leaves.items()}
        self.problems.extend(self._describe(broken) for broken in AGREEMENTS if broken.is_broken_by(values))
        return values

    def origins(self) -> dict[str, Origin]:
        """Returns where each legal value comes from, by dotted key in the order of the list of settings."""
        return {key: self._leaves[key].origin for key in LEAVES if key in self._leaves}

    def _check_parameters(self, distribution: str) -> None:
        """Notes parameters that the distribution's type lacks or does not have; forgets the latter."""
        kind = self._leaves.get(f"{distribution}.type")
        if kind is None:
            return
        names = PARAMETERS[str(kind.value)]
        expected = f'type = "{kind.value}" has {", ".join(names)}'
        for key in [key for key in self._leaves if key.startswith(distribution + ".")]:
            if key.rpartition(".")[2] not in {"type", *names}:
                leaf = self._leaves.pop(key)
                self._note(leaf.origin, key, leaf.value, f"unknown key; {expected}")
        for name in names:
            key = f"{distribution}.{name}"
            if key not in self._leaves and key not in self._illegal:
                self.problems.append(f"{kind.origin}: {key} is missing; {expected}")

    def _describe(self, broken: Agreement) -> str:
        """Returns the message for settings that do not agree, each with the place it comes from."""
        leaves = {key: self._leaves[key] for key in broken.keys}
        origins = {leaf.origin for leaf in leaves.values()}
        if len(origins) == 1:
            settings = ", ".join(f"{key} = {_text(leaf)}" for key, leaf in leaves.items())
            return f"{origins.pop()}: {settings}: expected {broken.expected}"
        settings = ", ".join(f"{key} = {_text(leaf)} ({leaf.origin})" for key, leaf in leaves.items())
        return f"{settings}: expected {broken.expected}"


def _text(leaf: _Leaf) -> str:
    """Returns a legal value for a message."""
    return str(leaf.value)


def _unknown(table: str, name: str, value: object) -> str:
    """Returns what to say about a key that is no setting."""
    what = "unknown table" if isinstance(value, Mapping) else "unknown key"
    if settings := DERIVED.get(f"{table}.{name}"):
        return f"{what}; it follows from {settings}, which can be set"
    meant = nearest_key(table, name)
    return f"{what}; did you mean {meant}?" if meant else f"{what}; the settings are listed in docs/configuration.md"


def raise_problems(problems: Iterable[str]) -> None:
    """Raises one error for all problems, or returns if there are none.

    Raises:
        ConfigError: There are problems; the message has one line for each.
    """
    lines = list(dict.fromkeys(problems))
    if len(lines) == 1:
        raise ConfigError(lines[0])
    if lines:
        raise ConfigError("\n- ".join([f"{len(lines)} problems in the configuration:", *lines]))


def check_config(config: Config) -> None:
    """Checks that the settings of an instance agree with each other.

    Raises:
        ConfigError: They do not; the message lists all that is wrong.
    """
    merger = Merger()
    merger.add([Layer(ARGUMENT, config.to_dict())])
    merger.finish()
    raise_problems(merger.problems)
