"""Texts that any file of data can hold."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["encodable"]

_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_REPLACEMENT: Final = "\ufffd"


def encodable(text: str) -> str:
    """Return a text without halves of characters, which UTF-8 does not have; each becomes U+FFFD."""
    return text if text.isascii() else _LONE_SURROGATE.sub(_REPLACEMENT, text)
