"""Characters that UTF-8 cannot hold: lone surrogates, which models, servers and agents may produce."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["is_utf8", "utf8_text", "without_surrogates"]

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def is_utf8(text: str) -> bool:
    """Return whether a text can be written to a file; lone surrogates cannot."""
    return text.isascii() or not _SURROGATE.search(text)


def without_surrogates(text: str) -> str:
    """Return a text in which each half of a character is U+FFFD, whether its other half stands beside it or not."""
    return _SURROGATE.sub("\ufffd", text)


def utf8_text(text: str) -> str:
    """Return a text that UTF-8 can hold: two halves of a character joined, a lone half replaced by U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
