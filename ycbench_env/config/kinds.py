"""Which values a setting takes, and the description that each setting has.

A kind reads what TOML, JSON or Python give it and returns the normal form, so that equal settings are equal values
(``1`` and ``1.0`` for a float, ``0.0`` for ``-0.0``, a date for ISO text). It refuses everything else, booleans for
numbers above all, because in Python ``True`` is an ``int``.
"""

import datetime as dt
import itertools
import numbers
import re
from collections.abc import Sequence
from types import EllipsisType
from typing import Any, Final, Literal, TypeVar, cast, dataclass_transform

import attrs

from ycbench_env.errors import ConfigError
from ycbench_env.text import shown

SettingValue = int | float | str | dt.date | tuple[float, ...] | None
"""Every form that a setting can have once it is read."""

_Class = TypeVar("_Class", bound=type)
_ISO_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
# Line breaks and other control characters would break one-line displays, tables and file names.
_UNFIT_FOR_A_LINE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_EARLIEST_YEAR: Final = 1900
_NOUNS: Final = {"int": "a whole number", "float": "a finite number", "text": "text", "date": "a date"}


class UnfitError(ValueError):
    """A value is not of the kind; the message says what was expected."""


@attrs.frozen
class Kind:
    """The legal values of a setting; made by the functions below.

    Attributes:
        type: What the values are.
        low: Least number, or length of the shortest text.
        high: Largest number, or length of the longest text.
        above: Whether ``low`` itself is excluded.
        below: Whether ``high`` itself is excluded.
        decimals: Most decimal places, or None for any; set where the rules compute exactly with the number as written,
            so that its numerator and denominator stay within 64-bit arithmetic.
        words: The words of a choice; of a number, a word that may stand in its place.
        note: What the word, or the number 0, stands for.
        element: Of a list, the type of its numbers, whose range is that of the list.
        longest: Of a list, most numbers.
        ascending: Of a list, whether each element must be above the one before.
        zero_is_none: Whether 0 and None both mean no limit and are read as None.
    """

    type: Literal["int", "float", "bool", "text", "choice", "date", "list"]
    low: float = 0
    high: float = 0
    above: bool = False
    below: bool = False
    decimals: int | None = None
    words: tuple[str, ...] = ()
    note: str = ""
    element: Literal["int", "float", ""] = ""
    longest: int = 0
    ascending: bool = False
    zero_is_none: bool = False

    @property
    def label(self) -> str:
        """The type in a reader's words."""
        if self.element:
            return f"list of {self.element}"
        return f'{self.type} or "{self.words[0]}"' if self.words and self.type != "choice" else self.type

    @property
    def interval(self) -> str:
        """The range of a number in words, such as ``above 0, up to 10``."""
        low, high = (f"{bound:_}" if isinstance(bound, int) else f"{bound:g}" for bound in (self.low, self.high))
        if self.above:
            return f"above {low}, below {high}" if self.below else f"above {low}, up to {high}"
        return f"from {low} to below {high}" if self.below else f"{low} to {high}"

    @property
    def range_text(self) -> str:
        """The legal values in a reader's words."""
        match self.type:
            case "text":
                return f"{self.low} to {self.high} characters, one line"
            case "choice" | "bool":
                return ", ".join(f'"{word}"' for word in self.words) or "true, false"
            case "date":
                return f"YYYY-MM-DD, from {_EARLIEST_YEAR}-01-01"
            case "list":
                order = "strictly ascending, " if self.ascending else ""
                return f"{order}each {self._numbers}; at most {self.longest:_} of them; empty = none"
            case "int" | "float":
                return self._numbers + "".join(f', or "{word}"' for word in self.words) + self.note

    @property
    def _numbers(self) -> str:
        return self.interval + ("" if self.decimals is None else f"; at most {self.decimals} decimals")

    def contains(self, value: float) -> bool:
        """Return whether a number lies in the range and has few enough decimals; NaN lies in none.

        Decimals are exact below about 10^9: a double has 15 sure digits, so there the shortest text of a rounded number
        is unique.
        """
        over = value > self.low if self.above else value >= self.low
        under = value < self.high if self.below else value <= self.high
        return over and under and (self.decimals is None or round(value, self.decimals) == value)

    def read(self, value: object) -> SettingValue:
        """Return the normal form of a value.

        Raises:
            UnfitError: The value is not of this kind; the message says what was expected.
        """
        if self.zero_is_none and value is None:
            return None
        if isinstance(value, str) and value in self.words:
            return self.words[self.words.index(value)]  # a plain str, whatever class the value has
        match self.type:
            case "int" | "float":
                found = self._read_number(value, self.type)
            case "bool":
                # NumPy's booleans are no bools, and configurations can come from arrays; "bool_" is NumPy 1.
                found = bool(value) if isinstance(value, bool) or type(value).__name__ in {"bool", "bool_"} else None
            case "text":
                found = self._read_text(value)
            case "date":
                found = _read_date(value)
            case "list":
                found = self._read_list(value)
            case "choice":
                found = None
        if found is None:
            message = f"expected {self._noun}{self.range_text}"
            raise UnfitError(message)
        return None if self.zero_is_none and not found else found

    @property
    def _noun(self) -> str:
        if self.element:
            return f"a list of {'fractions' if self.element == 'float' else 'whole numbers'}, "
        return f"{_NOUNS[self.type]}, " if self.type in _NOUNS else "one of "

    def _read_number(self, value: object, type_: str) -> float | None:
        # Booleans are no numbers here; NumPy's integers are, by their abstract class.
        is_whole = not isinstance(value, bool) and isinstance(value, numbers.Integral)
        if is_whole and self.contains(whole := int(cast("int", value))):
            return whole if type_ == "int" else float(whole)
        if type_ == "float" and isinstance(value, float) and self.contains(value):
            return float(value) + 0.0  # turns -0.0 into 0.0: equal configurations must have equal digests
        return None

    def _read_text(self, value: object) -> str | None:
        if isinstance(value, str) and self.low <= len(value) <= self.high and not _UNFIT_FOR_A_LINE.search(value):
            return str.__str__(value)
        return None

    def _read_list(self, value: object) -> tuple[float, ...] | None:
        if not isinstance(value, list | tuple) or len(value) > self.longest:
            return None
        elements = [self._read_number(each, self.element) for each in cast("Sequence[object]", value)]
        found = tuple(each for each in elements if each is not None)
        falls = self.ascending and any(left >= right for left, right in itertools.pairwise(found))
        return None if falls or len(found) < len(elements) else found


def _read_date(value: object) -> dt.date | None:
    """Return the date that ISO text or a date names, None for anything else."""
    if isinstance(value, dt.datetime):
        message = "expected a date without a time of day, such as 2025-01-01"
        raise UnfitError(message)
    found = value if isinstance(value, dt.date) else None
    # fromisoformat alone also takes 20250101 and week dates.
    if isinstance(value, str) and _ISO_DATE.fullmatch(value):
        try:
            found = dt.date.fromisoformat(value)
        except ValueError:
            return None
    return found if found and found.year >= _EARLIEST_YEAR else None


def whole(low: int, high: int, *, word: str = "", note: str = "", zero_is_none: bool = False) -> Kind:
    """Return the kind of whole numbers, or of a word in their place; ``note`` explains the word or the 0."""
    return Kind("int", low, high, words=(word,) if word else (), note=note, zero_is_none=zero_is_none)


def number(  # noqa: PLR0913 -- each is one property of a range
    low: float,
    high: float,
    *,
    above: bool = False,
    below: bool = False,
    decimals: int | None = None,
    word: str = "",
    note: str = "",
) -> Kind:
    """Return the kind of finite numbers, or of a word in their place."""
    return Kind("float", low, high, above, below, decimals, (word,) if word else (), note)


def text(shortest: int, longest: int) -> Kind:
    """Return the kind of one line of text, counted in characters."""
    return Kind("text", shortest, longest)


def choice(*words: str) -> Kind:
    """Return the kind of one of a few words."""
    return Kind("choice", words=words)


def boolean() -> Kind:
    """Return the kind of true and false; no number stands for either."""
    return Kind("bool")


def date() -> Kind:
    """Return the kind of calendar dates, never a moment of the day."""
    return Kind("date")


def many(numbers: Kind, longest: int, *, ascending: bool = False) -> Kind:
    """Return the kind of lists of numbers of a kind."""
    element = "float" if numbers.type == "float" else "int"
    return attrs.evolve(numbers, type="list", element=element, longest=longest, ascending=ascending)


@attrs.frozen
class Setting:
    """What is known of a setting.

    Attributes:
        kind: Legal values; of a distribution, the legal draws.
        description: One line for the reader, with the unit.
        source: Section of the rules page, or empty where the rules do not know the setting.
        neutral: Of a setting that came later, the value with which all is as it was before; ``...`` for the others. A
            digest leaves it out, so that records of earlier versions still have theirs.
        is_distribution: Whether it holds a table with ``type`` and that type's parameters.
        key: In the list of settings, its dotted key, such as ``world.num_employees``.
    """

    kind: Kind
    description: str
    source: str = ""
    neutral: SettingValue | EllipsisType = ...
    is_distribution: bool = False
    key: str = ""


def setting(kind: Kind, description: str, source: str = "", *, neutral: SettingValue | EllipsisType = ...) -> Any:  # noqa: ANN401 -- an attrs field, which a type checker takes for the value
    """Return the class field of a setting; its kind reads whatever an instance is given."""
    described = Setting(kind, description, source, neutral)
    return attrs.field(converter=attrs.Converter(_read, takes_field=True), metadata={"setting": described})


def distribution(kind: Kind, description: str, source: str) -> Any:  # noqa: ANN401 -- as above
    """Return the class field of a distribution; ``kind`` says which numbers it may draw."""
    return attrs.field(metadata={"setting": Setting(kind, description, source, is_distribution=True)})


def setting_of(field: Any) -> Setting | None:  # noqa: ANN401 -- attrs.Attribute, which has no parameter at run time
    """Return what is known of a class field, None where the field holds a whole table."""
    return field.metadata.get("setting")


@dataclass_transform(frozen_default=True, field_specifiers=(setting, distribution))
def value_class(cls: _Class) -> _Class:
    """Make a frozen attrs class of settings: no instance holds a value that the loader would refuse."""
    return attrs.frozen(cls)


def _read(value: object, field: "attrs.Attribute[Any]") -> SettingValue:
    """Return the normal form of the value of one field.

    Raises:
        ConfigError: The value is not legal; the message shows the field, the value and what was expected.
    """
    try:
        return cast("Setting", setting_of(field)).kind.read(value)
    except UnfitError as error:
        message = f"argument: {field.name} = {shown(value)}: {error}"
        raise ConfigError(message) from None
