"""Reading the values of options: seeds, settings and parameters."""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Final, cast

from ycbench_agents.cli.failure import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["MAX_SEEDS", "Tables", "read_parameters", "read_seed", "read_seeds", "read_settings", "toml_value"]

MAX_SEEDS: Final = 100_000
"""Most seeds of one run; a longer range is a slip of the keyboard."""

Tables = dict[str, object]
"""Nested tables, as in a TOML file."""

_SEED: Final = re.compile(r"[0-9]{1,30}")  # Python refuses to read thousands of digits
_RANGE: Final = re.compile(r"([0-9]{1,30})-([0-9]{1,30})")
_EXPECTED_SEEDS: Final = "expected seeds like 1 2 3, or a range like 1-3"


def read_seed(text: str) -> int:
    """Return the one seed that a text names.

    Raises:
        UsageError: It names none, or several.
    """
    if not _SEED.fullmatch(text):
        msg = f"--seed: got {text!r}, expected one whole number of at least 0, like 1"
        raise UsageError(msg)
    return int(text)


def read_seeds(texts: Sequence[str]) -> tuple[int, ...]:
    """Return the seeds that the values of ``--seeds`` name, in order.

    Args:
        texts: Numbers and ranges, several in one text with commas between them.

    Raises:
        UsageError: There is none, one stands there twice, or a text is neither number nor range.
    """
    seeds: dict[int, str] = {}
    for text in (part.strip() for each in texts for part in each.split(",")):
        numbers = _numbers(text)
        if len(seeds) + len(numbers) > MAX_SEEDS:
            msg = f"--seeds: got more than {MAX_SEEDS:,} seeds with {text!r}; run them in parts"
            raise UsageError(msg)
        for number in numbers:
            if number in seeds:
                msg = f"--seeds: got seed {number} twice (in {seeds[number]!r} and {text!r}), expected each seed once"
                raise UsageError(msg)
            seeds[number] = text
    if not seeds:
        msg = f"--seeds: got none, {_EXPECTED_SEEDS}"
        raise UsageError(msg)
    return tuple(seeds)


def _numbers(text: str) -> range:
    """Return the seeds of one number or range."""
    if _SEED.fullmatch(text):
        return range(int(text), int(text) + 1)
    bounds = _RANGE.fullmatch(text)
    if bounds is None:
        msg = f"--seeds: got {text!r}, {_EXPECTED_SEEDS}; a seed is a whole number of at least 0"
        raise UsageError(msg)
    first, last = int(bounds[1]), int(bounds[2])
    if last < first:
        msg = f"--seeds: got the range {text!r}, expected the smaller seed first: {last}-{first}"
        raise UsageError(msg)
    if last - first >= MAX_SEEDS:
        msg = f"--seeds: got {text!r}, {last - first + 1:,} seeds, expected at most {MAX_SEEDS:,}; run them in parts"
        raise UsageError(msg)
    return range(first, last + 1)


def read_settings(texts: Iterable[str], words: frozenset[str]) -> Tables:
    """Return the nested tables that the values of ``--set`` describe; for a key given twice the last one counts.

    Args:
        texts: Like ``world.num_employees=9``.
        words: Dotted keys of settings that hold text, for which 7 is a text, too.

    Raises:
        UsageError: One is no assignment, or contradicts another.
    """
    tables: Tables = {}
    for text in texts:
        key, equals, value = text.partition("=")
        key = key.strip()
        if not equals or not key:
            msg = f"--set: got {text!r}, expected KEY=VALUE, like world.num_employees=9"
            raise UsageError(msg)
        _put(tables, key, _setting(value, is_text=key in words), text)
    return tables


def _setting(text: str, *, is_text: bool) -> object:
    value = toml_value(text)
    return text if is_text and not isinstance(value, str) else value


def _put(tables: Tables, key: str, value: object, text: str) -> None:
    *path, name = key.split(".")
    table = tables
    for step in path:
        below = table.setdefault(step, {})
        if not isinstance(below, dict):
            msg = (
                f"--set: got {text!r}, but {step} was set to {below!r} before, which is no table; leave one of them out"
            )
            raise UsageError(msg)
        table = cast("Tables", below)
    table[name] = value


def read_parameters(texts: Iterable[str]) -> Mapping[str, object]:
    """Return the policy parameters that the values of ``--param`` describe.

    Raises:
        UsageError: One is no assignment, or names a parameter again.
    """
    parameters: dict[str, object] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name.isidentifier():
            msg = f"--param: got {text!r}, expected NAME=VALUE, like depth=2"
            raise UsageError(msg)
        if name in parameters:
            msg = f"--param: got {name} twice, expected each parameter once"
            raise UsageError(msg)
        parameters[name] = toml_value(value)
        if not _is_strict_json(parameters[name]):
            msg = f"--param: got {text!r}, expected a finite number; put text in quotes"
            raise UsageError(msg)
    return parameters


def _is_strict_json(value: object) -> bool:
    """Return whether results can show a value; TOML knows nan and inf."""
    try:
        json.dumps(value, allow_nan=False, default=str)
    except ValueError:
        return False
    return True


def toml_value(text: str) -> object:
    """Return what a text means: a TOML value where it is one, else the text itself."""
    try:
        table = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    value = table.pop("value")
    return text if table else value  # a line break let further keys in
