"""In which settings two configurations differ."""

from collections.abc import Iterator, Mapping
from typing import cast

import attrs

from ycbench_env.config.model import Config
from ycbench_env.config.schema import LEAVES

__all__ = ["Difference", "diff_configs"]


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
    """Returns the settings that differ, in the order of the list of settings; empty for equal configurations."""
    ours, theirs = dict(_leaves(left.to_dict(), "")), dict(_leaves(right.to_dict(), ""))
    pairs = ((key, ours.get(key), theirs.get(key)) for key in LEAVES)
    return tuple(Difference(key, one, other) for key, one, other in pairs if one != other)


def _leaves(table: Mapping[str, object], prefix: str) -> Iterator[tuple[str, object]]:
    """Yields dotted keys and values of nested tables."""
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _leaves(cast("Mapping[str, object]", value), f"{prefix}{name}.")
        else:
            yield prefix + name, value
