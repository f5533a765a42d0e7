"""Where two JSON values differ, in lines for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ycbench_agents.records.strict_json import encode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ycbench_agents.base import Json

__all__ = ["json_differences"]

_DEEPEST: Final = 8  # further down, the value as a whole is shown
_LONGEST: Final = 100
_ABSENT: Final = "nothing"


def json_differences(first: Json, second: Json, path: str = "", *, depth: int = 0) -> Iterator[str]:
    """Yield one line for each place where two values differ: ``results[0].ok: true | false``.

    The order of an object's keys is no difference; a number's type is one, as is that of true and 1.

    Args:
        first: One value.
        second: The other.
        path: Name of the place.
        depth: How deep the place is.
    """
    one, other = encode(first, sort_keys=True), encode(second, sort_keys=True)
    if one == other:
        return
    if depth < _DEEPEST and isinstance(first, dict) and isinstance(second, dict):
        yield from _of_tables(first, second, path, depth)
    elif depth < _DEEPEST and isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        for number, (left, right) in enumerate(zip(first, second, strict=True)):
            yield from json_differences(left, right, f"{path}[{number}]", depth=depth + 1)
    else:
        yield f"{path}: {_pair(one, other)}"


def _of_tables(first: dict[str, Json], second: dict[str, Json], path: str, depth: int) -> Iterator[str]:
    for key in dict.fromkeys((*first, *second)):
        place = f"{path}.{key}" if path else key
        if key in first and key in second:
            yield from json_differences(first[key], second[key], place, depth=depth + 1)
        else:
            one = encode(first[key]) if key in first else _ABSENT
            other = encode(second[key]) if key in second else _ABSENT
            yield f"{place}: {_pair(one, other)}"


def _pair(one: str, other: str) -> str:
    """Return two texts side by side; of long ones the part where they begin to differ."""
    same = next(
        (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    start = max(0, same - _LONGEST // 2) if max(len(one), len(other)) > _LONGEST else 0
    return f"{_cut(one, start)} | {_cut(other, start)}"


def _cut(text: str, start: int) -> str:
    end = start + _LONGEST
    return f"{'...' if start else ''}{text[start:end]}{'...' if end < len(text) else ''}"
