"""Keys of model servers, which must never reach a record."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ycbench_agents.records.strict_json import encode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ycbench_agents.base import JsonObject

__all__ = ["secrets_in", "variable_found_in"]

_SHORTEST: Final = 20  # "EMPTY" and "sk-no-key-required" stand for no key, and may well be said
_SUFFIX: Final = "_API_KEY"
_NAMED_BY: Final = "api_key_variable"
_ESCAPED: Final = re.compile(r"\\{1,99}u([0-9a-fA-F]{4})")


def secrets_in(environ: Mapping[str, str], settings: JsonObject) -> dict[str, str]:
    """Return the keys in the environment by name: variables called ``*_API_KEY``, and the one that settings name.

    Blanks and line breaks around a value, as files with CRLF leave them, are no part of the key that is sent. Values of
    fewer than 20 characters are no keys.
    """
    named = settings.get(_NAMED_BY)
    stripped = ((name, value.strip()) for name, value in environ.items())
    return {
        name: value
        for name, value in stripped
        if (name.upper().endswith(_SUFFIX) or name == named) and len(value) >= _SHORTEST
    }


def variable_found_in(text: str, secrets: Mapping[str, str]) -> str | None:
    """Return the name of the first variable whose value stands in a JSON text, None if there is none.

    However the value is escaped there: arguments of a call are JSON in a text in JSON.
    """
    return next(_found(text, secrets), None)


def _found(text: str, secrets: Mapping[str, str]) -> Iterator[str]:
    plain = _unescaped(text) if secrets else ""
    for name, value in secrets.items():
        if encode(value)[1:-1] in text or _unescaped(value) in plain:
            yield name


def _unescaped(text: str) -> str:
    """Return a text with the signs that JSON's escapes stand for, at any depth, and no backslashes."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text).replace("\\", "")
