"""What keeps secrets out of texts: replies, error messages, and the log records of the libraries that send them."""

from __future__ import annotations

import base64
import itertools
import json
import logging
import re
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote, urlsplit

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from urllib.parse import SplitResult

    from ycbench_agents.base import Json
    from ycbench_agents.llm.message import ChatReply
    from ycbench_agents.llm.settings import LLMSettings

__all__ = ["REDACTED", "RedactingFilter", "Secrets", "basic_credentials", "secrets_of"]

REDACTED: Final = "[redacted]"
"""What stands where a secret stood."""

_SHORTEST: Final = 4  # a shorter value is no secret, and hiding it would hide half of a message
_SHORTEST_WORD: Final = 8  # of a header's value ("Bearer" tells nothing), and of a secret that is hidden in replies
_SHORTEST_ANYWHERE: Final = 16  # of a secret that is hidden in replies where it is a part of a word, too
_PIECE: Final = 10  # a server may show a part of a key; this much of it is hidden, too

# What people write where a server takes no key; a model may well say these.
_NO_KEYS: Final = frozenset({"lm-studio", "no-key-required", "not-needed", "sk-no-key-required"})
# "Author" and "tokenizer" are no secrets; "authorization" is.
_SECRET_HEADER: Final = re.compile(
    r"key|\bapi\b|token(?!i)|secret|auth(?!or(?!i))|passw|signature|cookie|credential|session", re.IGNORECASE
)
_PUBLIC_HEADER: Final = re.compile(
    r"(http-)?referer|(x-(openrouter-)?)?title|x-app|user-agent|openai-(organization|project|beta)|anthropic-\w+"
    "|accept(-\\w+)?|content-\\w+|origin|host",
    re.IGNORECASE,
)
_TOKEN: Final = re.compile(r"(?=\S*[0-9])(?=\S*[A-Za-z])[^\s/:.]{16,}")  # no address and no word
_PUBLIC_QUERY: Final = frozenset({"api-version"})  # Azure's

_WORD_STARTS: Final = r"(?:(?<![0-9A-Za-z_-])|(?<=\\[bfnrt]))"  # after an escaped line break, too
_WORD_ENDS: Final = r"(?![0-9A-Za-z_-])"


def basic_credentials(parts: SplitResult) -> str:
    """Return what an address' user and password are in an ``Authorization: Basic`` header, empty without any."""
    if parts.username is None and parts.password is None:
        return ""
    return _base64(f"{unquote(parts.username or '')}:{unquote(parts.password or '')}")


def _base64(text: str) -> str:
    return base64.b64encode(text.encode("utf-8", "replace")).decode("ascii")


def _forms(secret: str) -> Iterator[str]:
    """Yield a secret as it may be written: plain, in an address, in JSON, in a header for a user and a password."""
    yield secret
    yield quote(secret, safe="")
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret)[1:-1].replace("/", "\\/")
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield _base64(secret).rstrip("=")


def _pieces(secret: str) -> Iterator[str]:
    """Yield every part of a secret that is long enough to give it away, the whole first."""
    yield secret
    for start in range(len(secret) - _PIECE + 1):
        yield secret[start : start + _PIECE]


def _escaped(secret: str) -> str:
    r"""Return the pattern of a secret in which any sign may be escaped, as often as JSON in JSON in JSON needs.

    ``/`` may be ``\/``, ``\u002f`` or ``%2F``. The number of backslashes is bounded, and a run of them in the secret is
    one run in the pattern, so that no text makes the search slow.
    """
    return "".join(
        r"\\{1,99}" if sign == "\\" else "".join(_escaped_sign(sign) for _ in run)
        for sign, run in itertools.groupby(secret)
    )


def _escaped_sign(sign: str) -> str:
    code = ord(sign)
    percent = "".join(f"%{byte:02x}" for byte in sign.encode("utf-8", "replace"))
    return rf"(?:\\{{0,8}}{re.escape(sign)}|(?i:\\{{1,8}}u{code:04x}|{percent}))"


def _spoken(secret: str) -> str:
    """Return the pattern of a secret in a reply: a short one is hidden where it is a word of its own."""
    pattern = _escaped(secret)
    return pattern if len(secret) >= _SHORTEST_ANYWHERE else f"{_WORD_STARTS}{pattern}{_WORD_ENDS}"


def _any_of(patterns: Iterable[str]) -> re.Pattern[str] | None:
    """Return the pattern of any of these, the longest first; None for none."""
    listed = sorted(set(patterns), key=len, reverse=True)
    return re.compile("|".join(listed)) if listed else None


@attrs.frozen
class Secrets:
    """The secrets of one client; its representation shows none.

    Errors and logs show none of them, nor long parts of them. A reply is what a model decided, so of it nothing is
    changed that is not clearly a secret: the key, and ``in_replies``. There they are hidden from 16 characters on
    wherever they stand, from 8 on where they are a word of their own, and never below, nor with a blank in them.

    Args:
        key: The API key, empty without one.
        others: Other texts that errors and logs must not show.
        in_replies: Those of them that replies must not show either.
    """

    key: str = attrs.field(default="", repr=False)
    others: tuple[str, ...] = attrs.field(default=(), repr=False)
    in_replies: tuple[str, ...] = attrs.field(default=(), repr=False)
    _everywhere: re.Pattern[str] | None = attrs.field(init=False, repr=False, eq=False, default=None)
    _replied: re.Pattern[str] | None = attrs.field(init=False, repr=False, eq=False, default=None)

    def __attrs_post_init__(self) -> None:
        """Make the patterns once."""
        object.__setattr__(self, "_everywhere", _any_of(map(_escaped, self._known())))
        plain = {
            secret
            for secret in (self.key, *self.in_replies)
            if len(secret) >= _SHORTEST_WORD and secret not in _NO_KEYS and not re.search(r"\s", secret)
        }
        encoded = {_base64(secret).rstrip("=") for secret in plain}
        object.__setattr__(self, "_replied", _any_of(map(_spoken, plain | encoded)))

    def _known(self) -> Iterator[str]:
        return (secret for secret in (self.key, *self.others, *self.in_replies) if len(secret) >= _SHORTEST)

    def hidden_in(self, text: str) -> str:
        """Return a text without secrets, or parts of them that are long enough to matter."""
        forms = {form for secret in self._known() for form in _forms(secret)}
        spans = [span for form in forms for piece in _pieces(form) for span in _places(piece, text)]
        if self._everywhere:
            spans += [found.span() for found in self._everywhere.finditer(text)]
        return _without(text, sorted(spans))

    def hidden_in_reply(self, reply: ChatReply) -> ChatReply:
        """Return a reply without secrets in its texts: those of its arguments and reasoning, too, and names in them.

        This is for a reply that was decoded, since JSON can write a sign in many ways. The interface's own names and
        the usage, which is numbers, are left as they are.
        """
        if self._replied is None:
            return reply
        return attrs.evolve(
            reply,
            content=self._spoken(reply.content),
            tool_calls=tuple(
                attrs.evolve(
                    call, id=self._word(call.id), name=self._word(call.name), arguments=self._value(call.arguments)
                )
                for call in reply.tool_calls
            ),
            finish_reason=self._spoken(reply.finish_reason),
            reasoning={name: self._value(value) for name, value in reply.reasoning.items()},
            model=self._spoken(reply.model),
        )

    def _word(self, text: str) -> str:
        return self._replied.sub(REDACTED, text) if self._replied else text

    def _spoken(self, text: str | None) -> str | None:
        return None if text is None else self._word(text)

    def _value(self, value: Json) -> Json:
        if isinstance(value, str):
            return self._word(value)
        if isinstance(value, list):
            return [self._value(item) for item in value]
        if isinstance(value, dict):
            return {self._word(name): self._value(item) for name, item in value.items()}
        return value


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


def secrets_of(settings: LLMSettings, key: str, url: str, more: Iterable[str] = ()) -> Secrets:
    """Return what must not be shown: the key, the values of headers, and what an address holds beside its place.

    Replies lose the key, the password and query of the address, and the values of headers whose names say that they are
    secret: authorization, api-key, cookie, and names with key, token, secret, auth, password, signature in them. Values
    of well-known public headers (User-Agent, HTTP-Referer, X-Title, OpenAI-Organization, ...) are hidden in errors and
    logs only, since a command may well hold the same word; those of unknown headers are hidden in replies, too, where
    they look like a token: 16 signs or more, with letters and digits, and no address.

    Args:
        settings: Whom to ask and how.
        key: The API key, empty without one.
        url: Address of the server.
        more: Further texts that errors and logs must not show.
    """
    parts = urlsplit(url)
    others, in_replies = [*more], [*_secrets_in(parts)]
    for name, value in settings.extra_headers.items():
        said = [value, *(word for word in value.split() if len(word) >= _SHORTEST_WORD)]
        others += said
        in_replies += (word for word in said if _is_secret(name, word))
    others += [parts.query, *(value for _, value in _query(parts))]
    return Secrets(key, tuple(others), tuple(in_replies))


def _is_secret(header: str, word: str) -> bool:
    """Return whether a word of a header's value is a secret by the header's name, or by its looks where that is new."""
    if _PUBLIC_HEADER.fullmatch(header):
        return False
    return _SECRET_HEADER.search(header) is not None or _TOKEN.fullmatch(word) is not None


def _secrets_in(parts: SplitResult) -> Iterator[str]:
    """Yield the private parts of an address, as written and as meant."""
    # A user's name beside a password is none, and hiding "user" would hide half of a message.
    private = [parts.password or parts.username, parts.fragment]
    private += [value for name, value in _query(parts) if name.lower() not in _PUBLIC_QUERY]
    for text in private:
        if text:
            yield from (text, unquote(text))
    if credentials := basic_credentials(parts):
        yield from (credentials, credentials.rstrip("="))


def _query(parts: SplitResult) -> Iterator[tuple[str, str]]:
    for pair in parts.query.split("&"):
        name, _, value = pair.partition("=")
        yield name, value


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
