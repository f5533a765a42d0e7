"""A table of a TOML file whose values are taken out with their types checked, until nothing unknown is left."""

from __future__ import annotations

import difflib
import json
import tomllib
from typing import TYPE_CHECKING, Final, NoReturn, Self, cast

import attrs

if TYPE_CHECKING:
    from pathlib import Path

    from ycbench_agents.base import JsonObject

__all__ = ["SettingsTable", "SuiteError"]

_LONGEST: Final = 80
_MOST: Final = 10**18


class SuiteError(ValueError):
    """A suite cannot be used; the message names file, key and value, what was expected, and how to put it right."""


@attrs.frozen
class SettingsTable:
    """A table of a file.

    Args:
        values: Its values.
        file: The file, for errors.
        path: Where the table stands in the file, with a dot behind it; empty for the file itself.
    """

    values: dict[str, object]
    file: str
    path: str = ""

    @classmethod
    def of_file(cls, path: Path, what: str) -> Self:
        """Return the table of a TOML file.

        Args:
            path: The file.
            what: What such a file holds, for errors, like ``a suite``.

        Raises:
            SuiteError: It cannot be read.
        """
        try:
            return cls(tomllib.loads(path.read_text(encoding="utf-8-sig")), str(path))
        except OSError as error:
            msg = f"{path}: cannot be read: {error.strerror or error}; expected the TOML file of {what}"
            raise SuiteError(msg) from None
        except (ValueError, RecursionError) as error:  # bytes that are no UTF-8, no TOML, or too many digits
            msg = f"{path}: got no TOML ({error}), expected the file of {what}"
            raise SuiteError(msg) from None

    def refuse_others(self, *known: str) -> None:
        """Refuse keys that mean nothing.

        Raises:
            SuiteError: There are such keys.
        """
        for key in self.values:
            if key not in known:
                near = difflib.get_close_matches(key, known, n=1)
                hint = f"; did you mean {near[0]}?" if near else ""
                self._refuse(key, f"unknown key, expected {', '.join(known)}{hint}")

    def text(self, key: str, default: str | None = None) -> str:
        """Return a text."""
        return self.optional_text(key) or default or self.refuse(key, "a text that is not empty")

    def optional_text(self, key: str) -> str | None:
        """Return a text, None where there is none."""
        value = self.values.get(key)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            self.refuse(key, "a text that is not empty")
        return value

    def positive(self, key: str, default: int, most: int = _MOST) -> int:
        """Return a whole number from 1 to a bound."""
        value = self.optional_positive(key, most)
        return default if value is None else value

    def optional_positive(self, key: str, most: int = _MOST) -> int | None:
        """Return a whole number from 1 to a bound, None where there is none."""
        value = self.values.get(key)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
            self.refuse(key, f"a whole number of at least 1 and at most {most:,}")
        if value is not None and value > most:
            self.refuse(key, f"at most {most:,}")
        return value

    def items(self, key: str) -> list[object]:
        """Return a list, [] where there is none."""
        value = self.values.get(key, [])
        if not isinstance(value, list):
            self.refuse(key, "a list")
        return cast("list[object]", value)

    def texts(self, key: str) -> list[str]:
        """Return a list of texts, [] where there is none."""
        items = self.items(key)
        if not all(isinstance(item, str) and item.strip() for item in items):
            self.refuse(key, "a list of texts")
        return cast("list[str]", items)

    def table(self, key: str) -> SettingsTable:
        """Return a table, an empty one where there is none."""
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            self.refuse(key, f"a table [{self.path}{key}]")
        return SettingsTable(cast("dict[str, object]", value), self.file, f"{self.path}{key}.")

    def tables(self, key: str) -> list[SettingsTable]:
        """Return a list of tables, [] where there is none."""
        items = self.items(key)
        if not all(isinstance(item, dict) for item in items):
            self.refuse(key, f"tables, each under [[{key}]]")
        return [
            SettingsTable(cast("dict[str, object]", item), self.file, f"{self.path}{key}[{place}].")
            for place, item in enumerate(items, 1)
        ]

    def plain(self, key: str) -> JsonObject:
        """Return a table of values that JSON has; TOML's dates, nan and inf are none."""
        values = self.table(key).values
        try:
            return json.loads(json.dumps(values, allow_nan=False))
        except (TypeError, ValueError) as error:
            return self.refuse(key, f"texts, finite numbers, truth values, lists and tables ({error})")

    def refuse(self, key: str, expected: str) -> NoReturn:
        """Refuse the value of a key.

        Raises:
            SuiteError: Always.
        """
        got = _shown(self.values[key]) if key in self.values else "nothing"
        self._refuse(key, f"got {got}, expected {expected}")

    def _refuse(self, key: str, why: str) -> NoReturn:
        msg = f"{self.file}: {self.path}{key}: {why}"
        raise SuiteError(msg)


def _shown(value: object) -> str:
    """Return a value for an error."""
    try:
        return repr(value)[:_LONGEST]
    except ValueError:  # a number in hexadecimal digits may have more than Python shows
        return "a number of thousands of digits"
