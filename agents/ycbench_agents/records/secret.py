"""Keys of model servers, which must never reach a record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ycbench_agents.records.strict_json import encode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ycbench_agents.base import JsonObject

__all__ = ["secrets_in", "variable_found_in"]

_SHORTEST: Final = 20  # "EMPTY" and "sk-no-key-required" stand for no key, and may well be said
_SUFFIX: Final = "_API_KEY"
_NAMED_BY: Final = "api_key_variable"


def secrets_in(environ: Mapping[str, str], settings: JsonObject) -> dict[str, str]:
    """Return the keys in the environment by name: variables called ``*_API_KEY``, and the one that settings name.

    Values of fewer than 20 characters are no keys.
    """
    named = settings.get(_NAMED_BY)
    return {
        name: value
        for name, value in environ.items()
        if (name.upper().endswith(_SUFFIX) or name == named) and len(value) >= _SHORTEST
    }


def variable_found_in(text: str, secrets: Mapping[str, str]) -> str | None:
    """Return the name of the first variable whose value stands in a JSON text, None if there is none."""
    return next(_found(text, secrets), None)


def _found(text: str, secrets: Mapping[str, str]) -> Iterator[str]:
    for name, value in secrets.items():
        if encode(value)[1:-1] in text:
            yield name
