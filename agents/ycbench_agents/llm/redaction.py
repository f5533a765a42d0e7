"""What keeps secrets out of texts: error messages, and the log records of the libraries that send them."""

from __future__ import annotations

import json
import logging
import re
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote, urlsplit

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ycbench_agents.llm.settings import LLMSettings

__all__ = ["REDACTED", "RedactingFilter", "Secrets", "secrets_of"]

REDACTED: Final = "[redacted]"
"""What stands where a secret stood."""

_SHORTEST: Final = 4  # a shorter value is no secret, and hiding it would hide half of a message
_SHORTEST_WORD: Final = 8  # of a header's value: "Bearer" tells nothing
_PIECE: Final = 10  # a server may show a part of a key; this much of it is hidden, too
_SHORTEST_IN_REPLY: Final = 16  # of a secret that is hidden in a reply; "lm-studio" is a word


def _forms(secret: str) -> Iterator[str]:
    """Yield a secret as it may be written: plain, in an address, in JSON."""
    yield secret
    yield quote(secret, safe="")
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]


def _pieces(secret: str) -> Iterator[str]:
    """Yield every part of a secret that is long enough to give it away, the whole first."""
    yield secret
    for start in range(len(secret) - _PIECE + 1):
        yield secret[start : start + _PIECE]


@attrs.frozen
class Secrets:
    """The secrets of one client; its representation shows none.

    Args:
        key: The API key, empty without one.
        others: Other texts that must not be shown.
    """

    key: str = attrs.field(default="", repr=False)
    others: tuple[str, ...] = attrs.field(default=(), repr=False)

    def hidden_in(self, text: str) -> str:
        """Return a text without secrets, or parts of them that are long enough to matter."""
        known = {form for secret in (self.key, *self.others) if len(secret) >= _SHORTEST for form in _forms(secret)}
        spans = sorted(span for secret in known for piece in _pieces(secret) for span in _places(piece, text))
        return _without(text, spans)

    def hidden_in_reply(self, text: str) -> str:
        """Return a reply without secrets that are a word as long as a real key; others may well be said."""
        for secret in sorted({self.key, *self.others}, key=len, reverse=True):
            if len(secret) >= _SHORTEST_IN_REPLY and not re.search(r"\s", secret):
                for form in sorted(set(_forms(secret)), key=len, reverse=True):
                    text = text.replace(form, REDACTED)
        return text


def _places(piece: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield where a piece stands in a text."""
    start = text.find(piece)
    while start >= 0:
        yield start, start + len(piece)
        start = text.find(piece, start + 1)


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return a text in which each run of overlapping or touching spans, sorted, is replaced."""
    kept: list[str] = []
    end = -1
    for start, stop in spans:
        if start > end:
            kept += [text[max(end, 0) : start], REDACTED]
        end = max(end, stop)
    return "".join((*kept, text[max(end, 0) :]))


def secrets_of(settings: LLMSettings, key: str, url: str) -> Secrets:
    """Return what must not be shown: the key, the values of headers, and what an address holds beside its place."""
    others: list[str] = []
    for value in settings.extra_headers.values():
        others += [value, *(word for word in value.split() if len(word) >= _SHORTEST_WORD)]
    parts = urlsplit(url)
    # A user's name beside a password is none, and hiding "user" would hide half of a message.
    for text in (parts.password or parts.username, parts.query, parts.fragment):
        others += [text, unquote(text)] if text else []
    others += [value for _, _, value in (pair.partition("=") for pair in parts.query.split("&")) if value]
    return Secrets(key, tuple(others))


class RedactingFilter(logging.Filter):
    """Takes secrets out of log records; nothing is dropped.

    The libraries hide the header of the key by themselves, but not other headers, nor what stands in an address.
    """

    def __init__(self, secrets: Secrets) -> None:
        """Make a filter.

        Args:
            secrets: What must not be logged.
        """
        super().__init__()
        self._secrets = secrets

    def filter(self, record: logging.LogRecord) -> bool:
        """Return True, after the record's text was cleaned."""
        record.msg = self._secrets.hidden_in(record.getMessage())
        record.args = None
        if record.exc_info:  # kept as text: an exception of these libraries says which address was asked
            record.exc_text = self._secrets.hidden_in(logging.Formatter().formatException(record.exc_info))
            record.exc_info = None
        return True
