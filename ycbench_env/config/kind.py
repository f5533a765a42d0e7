"""What a setting may hold: one small class for each kind of value, which reads raw values into their one form.

A kind reads what TOML, JSON or Python give it and returns the normal form, so that equal settings are equal values
(``1`` and ``1.0`` for a float, ``0.0`` for ``-0.0``, a date for ISO text). It refuses everything else, booleans for
numbers above all, because in Python ``True`` is an ``int``.
"""

import datetime as dt
import numbers
import re
from typing import Protocol

import attrs

__all__ = [
    "BoolKind",
    "CapKind",
    "ChoiceKind",
    "DateKind",
    "FloatKind",
    "IntKind",
    "Interval",
    "Kind",
    "LimitKind",
    "SeedKind",
    "SettingValue",
    "TextKind",
    "UnfitError",
    "has_decimals",
]

SettingValue = int | float | str | dt.date | tuple[float, ...] | None
"""Every form that a read setting can have."""

_ISO_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
# Line breaks and other control characters would break one-line displays, tables and file names.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_EARLIEST_YEAR = 1900


class UnfitError(ValueError):
    """A value is not of the kind; the message says what was expected."""


class Kind(Protocol):
    """How a setting's raw value is read and described."""

    @property
    def label(self) -> str:
        """The type in a reader's words."""
        ...

    @property
    def range_text(self) -> str:
        """The legal values in a reader's words."""
        ...

    def read(self, value: object) -> SettingValue:
        """Returns the normal form of ``value``.

        Raises:
            UnfitError: The value is not of this kind; the message says what was expected.
        """
        ...


@attrs.frozen
class Interval:
    """A range of numbers.

    Attributes:
        low: Lower bound.
        high: Upper bound.
        above: Whether the lower bound itself is excluded.
        below: Whether the upper bound itself is excluded.
    """

    low: float
    high: float
    above: bool = False
    below: bool = False

    def __contains__(self, value: float) -> bool:
        """Returns whether ``value`` lies in the range; NaN lies in none."""
        over = value > self.low if self.above else value >= self.low
        under = value < self.high if self.below else value <= self.high
        return over and under

    def __str__(self) -> str:
        """Returns the range in words, such as ``above 0, up to 10``."""
        low, high = _number_text(self.low), _number_text(self.high)
        if self.above:
            return f"above {low}, below {high}" if self.below else f"above {low}, up to {high}"
        return f"from {low} to below {high}" if self.below else f"{low} to {high}"


def _number_text(value: float) -> str:
    """Returns a bound with digits grouped where they are many."""
    return f"{value:_}" if isinstance(value, int) else f"{value:g}"


def has_decimals(value: float, decimals: int) -> bool:
    """Returns whether ``value``, as written in decimal, has at most ``decimals`` places.

    Exact below about 10^9: a double has 15 sure digits, so there the shortest text of a rounded number is unique.
    """
    return round(value, decimals) == value


def _whole(value: object) -> int | None:
    """Returns ``value`` as an ``int`` if it is one by type, NumPy's integers included and booleans excluded."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        return None
    return int(value)


@attrs.frozen
class IntKind:
    """A whole number within an interval."""

    interval: Interval
    label: str = attrs.field(default="int", init=False)

    @property
    def range_text(self) -> str:
        """The interval in words."""
        return str(self.interval)

    def read(self, value: object) -> int:
        """Returns ``value`` as a plain ``int``; see ``Kind.read``."""
        whole = _whole(value)
        if whole is not None and whole in self.interval:
            return whole
        message = f"expected a whole number, {self.range_text}"
        raise UnfitError(message)


@attrs.frozen
class FloatKind:
    """A finite number within an interval.

    Attributes:
        interval: Legal values.
        decimals: Most decimal places, or None for any; set where the rules compute exactly with the number as written,
            so that its numerator and denominator stay within 64-bit arithmetic.
    """

    interval: Interval
    decimals: int | None = None
    label: str = attrs.field(default="float", init=False)

    @property
    def range_text(self) -> str:
        """The interval in words, with the decimal places where they are limited."""
        return str(self.interval) if self.decimals is None else f"{self.interval}; at most {self.decimals} decimals"

    def read(self, value: object) -> float:
        """Returns ``value`` as a plain ``float``; see ``Kind.read``."""
        number = self._inside(value)
        if self.decimals is not None and not has_decimals(number, self.decimals):
            raise self._unfit()
        return number + 0.0  # turns -0.0 into 0.0: equal configurations must have equal digests

    def _inside(self, value: object) -> float:
        """Returns ``value`` as a float of the interval; infinities and NaN lie in none."""
        whole = _whole(value)
        # Compared before the conversion, which overflows beyond 1e308.
        if whole is not None and whole in self.interval:
            return float(whole)
        if isinstance(value, float) and value in self.interval:
            return float(value)
        raise self._unfit()

    def _unfit(self) -> UnfitError:
        """Returns the error for any value that is not of this kind."""
        return UnfitError(f"expected a finite number, {self.range_text}")


@attrs.frozen
class TextKind:
    """One line of text, counted in characters."""

    shortest: int
    longest: int
    label: str = attrs.field(default="text", init=False)

    @property
    def range_text(self) -> str:
        """The legal lengths in words."""
        return f"{self.shortest} to {self.longest} characters, one line"

    def read(self, value: object) -> str:
        """Returns ``value`` as a plain ``str``; see ``Kind.read``."""
        if isinstance(value, str):
            text = str.__str__(value)
            if self.shortest <= len(text) <= self.longest and not _CONTROL.search(text) and _is_unicode(text):
                return text
        message = f"expected text, {self.range_text}"
        raise UnfitError(message)


def _is_unicode(text: str) -> bool:
    """Returns whether ``text`` can be written as UTF-8; lone surrogates cannot."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


@attrs.frozen
class ChoiceKind:
    """One of a few words."""

    choices: tuple[str, ...]
    label: str = attrs.field(default="choice", init=False)

    @property
    def range_text(self) -> str:
        """The words, each in quotes."""
        return ", ".join(f'"{choice}"' for choice in self.choices)

    def read(self, value: object) -> str:
        """Returns the word; see ``Kind.read``."""
        for choice in self.choices:
            if isinstance(value, str) and value == choice:
                return choice
        message = f"expected one of {self.range_text}"
        raise UnfitError(message)


@attrs.frozen
class BoolKind:
    """True or false; no number stands for either."""

    label: str = attrs.field(default="bool", init=False)

    @property
    def range_text(self) -> str:
        """Both values."""
        return "true, false"

    def read(self, value: object) -> bool:
        """Returns the value as a plain ``bool``; see ``Kind.read``."""
        # NumPy's booleans are no bools, and configurations can come from its arrays; its class is "bool_" before 2.0.
        if isinstance(value, bool) or type(value).__name__ in {"bool", "bool_"}:
            return bool(value)
        message = f"expected one of {self.range_text}"
        raise UnfitError(message)


@attrs.frozen
class CapKind:
    """A number up to which something goes, or the word that takes the cap away."""

    number: IntKind | FloatKind

    @property
    def label(self) -> str:
        """The number's type and the word."""
        return f'{self.number.label} or "none"'

    @property
    def range_text(self) -> str:
        """The number's legal values and the word."""
        return f'{self.number.range_text}, or "none" = no cap'

    def read(self, value: object) -> float | str:
        """Returns the cap as a plain number, or ``"none"``; see ``Kind.read``."""
        if isinstance(value, str) and value == "none":
            return "none"
        try:
            return self.number.read(value)
        except UnfitError as error:
            message = f'{error}, or "none" = no cap'
            raise UnfitError(message) from None


@attrs.frozen
class SeedKind:
    """A non-negative seed, or the word that ties it to the run seed."""

    interval: Interval
    label: str = attrs.field(default='int or "run"', init=False)

    @property
    def range_text(self) -> str:
        """The interval and the word."""
        return f'{self.interval}, or "run"'

    def read(self, value: object) -> int | str:
        """Returns the seed as a plain ``int``, or ``"run"``; see ``Kind.read``."""
        if isinstance(value, str) and value == "run":
            return "run"
        try:
            return IntKind(self.interval).read(value)
        except UnfitError:
            message = f"expected a whole number, {self.range_text}"
            raise UnfitError(message) from None


@attrs.frozen
class LimitKind:
    """A whole number that limits something; 0 and None both mean no limit and are read as None."""

    most: int
    label: str = attrs.field(default="int", init=False)

    @property
    def range_text(self) -> str:
        """The interval, and what 0 means."""
        return f"{Interval(0, self.most)}; 0 = no limit"

    def read(self, value: object) -> int | None:
        """Returns the limit, or None for none; see ``Kind.read``."""
        if value is None:
            return None
        try:
            return IntKind(Interval(0, self.most)).read(value) or None
        except UnfitError:
            message = f"expected a whole number, {self.range_text}"
            raise UnfitError(message) from None


@attrs.frozen
class DateKind:
    """A calendar date: ISO text or a date, never a moment of the day."""

    label: str = attrs.field(default="date", init=False)

    @property
    def range_text(self) -> str:
        """The form and the first legal year."""
        return f"YYYY-MM-DD, from {_EARLIEST_YEAR}-01-01"

    def read(self, value: object) -> dt.date:
        """Returns the date; see ``Kind.read``."""
        if isinstance(value, dt.datetime):
            message = "expected a date without a time of day, such as 2025-01-01"
            raise UnfitError(message)
        date = value if isinstance(value, dt.date) else self._parse(value)
        if date is None or date.year < _EARLIEST_YEAR:
            message = f"expected a date, {self.range_text}"
            raise UnfitError(message)
        return date

    @staticmethod
    def _parse(value: object) -> dt.date | None:
        """Returns the date that ISO text names, or None."""
        # fromisoformat alone also takes 20250101 and week dates.
        if not isinstance(value, str) or not _ISO_DATE.fullmatch(value):
            return None
        try:
            return dt.date.fromisoformat(value)
        except ValueError:
            return None
