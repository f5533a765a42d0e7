"""The list of all settings, derived from the configuration classes: dotted keys, kinds, descriptions and rules.

A further table of switches is a further attrs class as a field of ``Config`` or ``WorldConfig``; everything here,
the environment variables and the documentation follow.
"""

from collections.abc import Iterable, Iterator
from typing import Final

import attrs

from ycbench_env.config.distribution import DISTRIBUTION_TYPES, KNOB_PARAMETERS
from ycbench_env.config.kind import ChoiceKind, Kind
from ycbench_env.config.model import Config
from ycbench_env.config.setting import DistributionSetting, Setting, annotation_of
from ycbench_env.vocabulary import TIERS

__all__ = [
    "DERIVED",
    "DISTRIBUTIONS",
    "FIELDS",
    "LEAVES",
    "NO_EFFECT",
    "PARAMETERS",
    "TABLES",
    "Field",
    "nearest",
    "nearest_key",
]


@attrs.frozen
class Field:
    """One row of the list of settings.

    Attributes:
        key: Dotted key, such as ``world.num_employees`` or ``world.dist.required_qty``.
        kind: Legal values; of a distribution, the legal draws.
        description: One line, with the unit.
        source: Section of the rules page, or empty.
        is_distribution: Whether the key holds a table with ``type`` and that type's parameters.
    """

    key: str
    kind: Kind
    description: str
    source: str
    is_distribution: bool = False


def _fields_of(cls: type, prefix: str) -> Iterator[Field]:
    """Yields the settings of a class and of the tables in it, in the order of the class."""
    for field in attrs.fields(cls):
        held, setting = annotation_of(field)
        key = prefix + field.name
        if setting is None:
            yield from _fields_of(held, key + ".")
        else:
            is_distribution = isinstance(setting, DistributionSetting)
            yield Field(key, setting.kind, setting.description, setting.source, is_distribution)


def _parameters_of(cls: type) -> dict[str, Setting]:
    """Returns the parameters of a distribution class."""
    settings = {field.name: annotation_of(field)[1] for field in attrs.fields(cls)}
    return {name: setting for name, setting in settings.items() if isinstance(setting, Setting)}


PARAMETERS: Final = {word: _parameters_of(cls) for word, cls in DISTRIBUTION_TYPES.items()}
"""Parameters of each type of distribution, by its word."""

FIELDS: Final = tuple(_fields_of(Config, ""))
"""Every setting, in the order of the configuration classes."""

DISTRIBUTIONS: Final = frozenset(field.key for field in FIELDS if field.is_distribution)
"""Keys that hold a distribution."""


def _leaves_of(field: Field) -> Iterator[tuple[str, Kind]]:
    """Yields the key-value pairs that a setting may consist of in TOML, with their kinds."""
    if not field.is_distribution:
        yield field.key, field.kind
        return
    yield f"{field.key}.type", ChoiceKind(tuple(PARAMETERS))
    for parameters in PARAMETERS.values():
        for name, setting in parameters.items():
            yield f"{field.key}.{name}", field.kind if name in KNOB_PARAMETERS else setting.kind


LEAVES: Final = {key: kind for field in FIELDS for key, kind in _leaves_of(field)}
"""Kind of each dotted key that has a single value."""

TABLES: Final = frozenset(key[:index] for key in LEAVES for index, letter in enumerate(key) if letter == ".")
"""Dotted keys of all tables."""

NO_EFFECT: Final = {
    "agent.model": "a model is named by whoever runs it, so that one configuration serves all of them",
    "world.work_hours_per_day": "workday_start_hour and workday_end_hour make the working day",
    **{f"world.salary_{tier}.name": "the table's own name names the tier" for tier in TIERS},
    **{f"world.salary_{tier}.share": "the tiers are dealt from a fixed cycle (Y-2.2)" for tier in TIERS},
}
"""Keys of the public implementation that are accepted with a warning, and why they have no effect."""

DERIVED: Final = {
    "world.trust_gain_base": "trust_max and trust_build_rate",
    "world.trust_fail_penalty": "trust_fragility",
    "world.trust_cancel_penalty": "trust_fragility",
    "world.trust_decay_per_day": "trust_fragility",
    "world.trust_cross_decay": "trust_focus_pressure",
}
"""Knobs that are no settings, and the settings that they follow from (Y-5.6)."""


def nearest(word: str, words: Iterable[str]) -> str | None:
    """Returns the most similar of ``words``, or None if none is similar."""
    import difflib  # noqa: PLC0415 - needed only to word an error

    return next(iter(difflib.get_close_matches(word, list(words), n=1)), None)


def nearest_key(table: str, name: str) -> str | None:
    """Returns the dotted key that someone may have meant who wrote the unknown ``name`` in ``table``.

    In turn: the same name in another table, a similar name in this table, a similar name anywhere.
    """
    keys = sorted(set(LEAVES) | TABLES)
    written = _join(table, name)
    same = [key for key in keys if key.rpartition(".")[2] == name or key == name]
    siblings = [key for key in keys if key.rpartition(".")[0] == table]
    by_name = {key.rpartition(".")[2]: key for key in reversed(keys)}
    sibling = nearest(name, [key.rpartition(".")[2] for key in siblings])
    if same:
        return nearest(written, same) or same[0]
    if sibling:
        return _join(table, sibling)
    if similar := nearest(name, by_name):
        return by_name[similar]
    return nearest(written, keys)


def _join(table: str, name: str) -> str:
    """Returns the dotted key of ``name`` in ``table``; the top level is the empty table."""
    return f"{table}.{name}" if table else name
