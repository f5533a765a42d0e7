"""One setting: which values it takes, what it means, and how its value is read.

A setting reads what TOML, JSON or Python give it and returns the normal form, so that equal settings are equal values
(``1`` and ``1.0`` for a float, ``0.0`` for ``-0.0``, a date for ISO text). It refuses everything else, booleans for
numbers above all, because in Python ``True`` is an ``int``.
"""

import datetime as dt
import itertools
import numbers
import re
from collections.abc import Callable
from types import EllipsisType
from typing import Any, Final, Literal, TypeVar, cast, dataclass_transform, get_args

import attrs

from ycbench_env.errors import ConfigError
from ycbench_env.text import shown

SettingValue = int | float | str | dt.date | tuple[float, ...] | None
"""Every form that a setting can have once it is read."""

_Class = TypeVar("_Class", bound=type)
_TYPES: Final = {int: "int", float: "float", bool: "bool", str: "text", dt.date: "date"}
_NOUNS: Final = {"int": "a whole number, ", "float": "a finite number, ", "text": "text, ", "date": "a date, "}
_ISO_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_EARLIEST_YEAR: Final = 1900
# Line breaks and other control characters would break one-line displays, tables and file names.
_UNFIT_FOR_A_LINE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


@attrs.frozen
class Setting:
    """A setting, or a parameter of a distribution.

    Attributes:
        description: One line for the reader, with the unit.
        source: Section of the rules page, or empty where the rules do not know the setting.
        low: Least number or draw, or length of the shortest text; with ``above`` excluded itself.
        high: Largest number or draw, or length of the longest text; with ``below`` excluded itself.
        decimals: Most decimal places, or None for any; set where the rules compute exactly with the number as written,
            so that its numerator and denominator stay within 64-bit arithmetic.
        longest: Of a list of numbers, how many it may hold; 0 for a single value. It may have to be ``ascending``.
        neutral: Of a setting that came later, the value with which all is as it was before; ``...`` for the others. A
            digest leaves it out, so that records of earlier versions still have theirs.
        type: Type of the value or of the numbers in a list; it and the next two come from the field's annotation.
        words: The words of a choice; of a number, a word that may stand in its place.
        optional: Whether 0 and None both mean no limit and are read as None.
        key: Dotted key, such as ``world.num_employees``.
    """

    description: str
    source: str = ""
    low: float = 0
    high: float = 0
    above: bool = False
    below: bool = False
    decimals: int | None = None
    longest: int = 0
    ascending: bool = False
    neutral: SettingValue | EllipsisType = ...
    type: Literal["int", "float", "bool", "text", "choice", "date", "distribution"] = "choice"
    words: tuple[str, ...] = ()
    optional: bool = False
    key: str = ""

    @property
    def range_text(self) -> str:
        """The legal values in a reader's words."""
        if self.type in {"choice", "bool"}:
            return ", ".join(f'"{word}"' for word in self.words) or "true, false"
        if self.type == "date":
            return f"YYYY-MM-DD, from {_EARLIEST_YEAR}-01-01"
        if self.type == "text":
            return f"{self.low} to {self.high} characters, one line"
        low, high = (f"{bound:_}" if isinstance(bound, int) else f"{bound:g}" for bound in (self.low, self.high))
        if self.above:
            text = f"above {low}, below {high}" if self.below else f"above {low}, up to {high}"
        else:
            text = f"from {low} to below {high}" if self.below else f"{low} to {high}"
        if self.decimals is not None:
            text += f"; at most {self.decimals} decimals"
        if self.longest:
            order = "strictly ascending, " if self.ascending else ""
            return f"{order}each {text}; at most {self.longest:_} of them; empty = none"
        for word in self.words:
            text += f', or "{word}"' + (" = no cap" if word == "none" else "")
        return text + ("; 0 = no limit" if self.optional else "")

    def read(self, value: object) -> SettingValue:
        """Return the normal form of a value.

        Raises:
            ValueError: The value is not legal; the message names what was expected.
        """
        if self.optional and value is None:
            return None
        if isinstance(value, str) and value in self.words:
            return self.words[self.words.index(value)]  # a plain str, whatever class the value has
        found = self._list(value) if self.longest else self._single(value)
        if found is None:
            noun = _NOUNS.get(self.type, "one of ")
            if self.longest:
                noun = f"a list of {'fractions' if self.type == 'float' else 'whole numbers'}, "
            message = f"expected {noun}{self.range_text}"
            raise ValueError(message)
        return None if self.optional and not found else found

    def _list(self, value: object) -> tuple[float, ...] | None:
        if not isinstance(value, list | tuple) or len(value) > self.longest:
            return None
        found = tuple(each for each in map(self._number, value) if each is not None)
        falls = self.ascending and any(left >= right for left, right in itertools.pairwise(found))
        return None if falls or len(found) < len(value) else found

    def _single(self, value: object) -> SettingValue:
        match self.type:
            case "int" | "float":
                return self._number(value)
            case "bool":
                # NumPy's booleans are no bools, and configurations can come from arrays; "bool_" is NumPy 1.
                return bool(value) if isinstance(value, bool) or type(value).__name__ in {"bool", "bool_"} else None
            case "text" if isinstance(value, str):
                fits = self.low <= len(value) <= self.high and not _UNFIT_FOR_A_LINE.search(value)
                return str.__str__(value) if fits else None
            case "date":
                return _date(value)
            case _:
                return None

    def _number(self, value: object) -> float | None:
        # Booleans are no numbers here; NumPy's integers are, by their abstract class.
        if not isinstance(value, bool) and isinstance(value, numbers.Integral):
            number: float = int(cast("int", value))
        elif self.type == "float" and isinstance(value, float):
            number = value
        else:
            return None
        over = number > self.low if self.above else number >= self.low
        under = number < self.high if self.below else number <= self.high
        # A double has 15 sure digits, so below about 10^9 the shortest text of a rounded number is unique.
        if not (over and under and (self.decimals is None or round(number, self.decimals) == number)):
            return None
        return int(number) if self.type == "int" else float(number) + 0.0  # 0.0 for -0.0, so that digests are equal


def _date(value: object) -> dt.date | None:
    found = value if isinstance(value, dt.date) and not isinstance(value, dt.datetime) else None
    # fromisoformat alone also takes 20250101 and week dates.
    if isinstance(value, str) and _ISO_DATE.fullmatch(value):
        try:
            found = dt.date.fromisoformat(value)
        except ValueError:
            return None
    return found if found and found.year >= _EARLIEST_YEAR else None


def setting(description: str, source: str = "", low: float = 0, high: float = 0, **more: Any) -> Any:  # noqa: ANN401 -- an attrs field, which a type checker takes for the value
    """Return the class field of a setting, see ``Setting``; it reads whatever an instance is given."""
    described = Setting(description, source, low, high, **more)
    return attrs.field(converter=attrs.Converter(_read, takes_field=True), metadata={"setting": described})


def derived(compute: Callable[[Any], object], *, init: Literal[False] = False) -> Any:  # noqa: ANN401 -- as above
    """Return the class field of a value that follows from the settings above it and cannot be given."""
    default = attrs.Factory(compute, takes_self=True)
    return attrs.field(init=init, eq=False, repr=False, default=default, metadata={"derived": True})


def setting_of(field: Any) -> Setting | None:  # noqa: ANN401 -- attrs.Attribute, which has no parameter at run time
    """Return what is known of a class field, None where the field holds a whole table."""
    return field.metadata.get("setting")


def _with_types(_cls: type, fields: "list[attrs.Attribute[Any]]") -> "list[attrs.Attribute[Any]]":
    """Complete the settings of a class from the fields' annotations."""
    typed: list[attrs.Attribute[Any]] = []
    for field in fields:
        described, parts = setting_of(field), get_args(field.type) or (field.type,)
        if described is not None:
            words = tuple(word for part in parts for word in get_args(part) or (part,) if isinstance(word, str))
            kind: Any = next((name for cls, name in _TYPES.items() if cls in parts), None)
            described = attrs.evolve(
                described,
                type=kind or ("choice" if words else "distribution"),
                words=words,
                optional=type(None) in parts,
            )
            field = field.evolve(metadata={"setting": described})  # noqa: PLW2901 -- the same one, completed
        typed.append(field)
    return typed


@dataclass_transform(frozen_default=True, field_specifiers=(setting, derived, attrs.field))
def value_class(cls: _Class) -> _Class:
    """Make a frozen attrs class of settings: no instance holds a value that the loader would refuse."""
    return attrs.frozen(cls, field_transformer=_with_types)


def _read(value: object, field: "attrs.Attribute[Any]") -> object:
    """Return the normal form of the value of one field, or raise a ConfigError that shows what was expected."""
    described = setting_of(field)
    if described is None or described.type == "distribution":
        return value
    try:
        return described.read(value)
    except ValueError as error:
        message = f"argument: {field.name} = {shown(value)}: {error}"
        raise ConfigError(message) from None
