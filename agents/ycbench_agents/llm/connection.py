"""The way to a chat server: only what the settings say is sent, no redirect is followed, no answer is endless."""

from __future__ import annotations

import ipaddress
import os
import zlib
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl, urlsplit, urlunsplit

import openai

from ycbench_agents.llm.address import is_openai, server_url
from ycbench_agents.llm.message import ModelError, Transport
from ycbench_agents.llm.redaction import basic_credentials
from ycbench_agents.llm.retry import Fault, FaultKind

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping
    from urllib.parse import SplitResult

    import httpx2

    from ycbench_agents.llm.settings import LLMSettings

__all__ = [
    "NO_KEY",
    "UnfitAnswerError",
    "account_of",
    "api_key",
    "connection_fault",
    "new_client",
    "origin",
]

NO_KEY: Final = "none"
"""What is sent to servers that take no key; they want the header all the same."""

_CONNECT_S: Final = 30.0  # a host that does not answer is found out sooner than a slow model
_LONGEST_ANSWER: Final = 16 * 2**20  # bytes, above any reply of a model; JSON of this size still fits into memory
_COMPRESSED: Final = frozenset({"gzip", "x-gzip", "deflate"})
_FRAMING: Final = frozenset({"content-encoding", "content-length", "transfer-encoding"})
_ANY_ZLIB: Final = 32 + zlib.MAX_WBITS  # gzip or zlib, as the data says
# Sending the same again would fail in the same way. Names, since the library is httpx or httpx2 with their parts.
_NEVER_SENT: Final = frozenset({"InvalidURL", "LocalProtocolError", "TypeError", "UnsupportedProtocol", "ValueError"})


class UnfitAnswerError(Exception):
    """An answer was not read to its end.

    Args:
        fault: Why.
    """

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.text)
        self.fault = fault


# ---------------------------------------------------------------- where to, and as whom


def origin(url: str) -> str:
    """Return scheme, host and port of an address, without what may be secret."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _is_local(url: SplitResult) -> bool:
    """Return whether an address is on this machine."""
    try:
        return url.hostname == "localhost" or ipaddress.ip_address(url.hostname or "").is_loopback
    except ValueError:  # a name
        return False


def api_key(settings: LLMSettings, environ: Mapping[str, str]) -> str:
    """Return the key to send; a placeholder for a server that is not OpenAI's own and may take none.

    Raises:
        ModelError: OpenAI's own server is to be asked and there is no key, what the variable holds can be no key, or
            there is a user or password in the address as well. The message names the variable.
    """
    key = environ.get(settings.api_key_variable, "").strip()  # a key read from a file may end in a line break
    parts = urlsplit(server_url(settings, environ))
    if not key and is_openai(parts.hostname):
        msg = (
            f"no API key: the environment variable {settings.api_key_variable} is not set or empty; set it to the key, "
            "or set base_url to a server that takes none"
        )
        raise ModelError(msg, Transport(0.0, 0))
    if not all("!" <= sign <= "~" for sign in key):
        msg = (
            f"the environment variable {settings.api_key_variable} holds blanks, control characters or signs beyond "
            "ASCII (not shown), which no API key has; set it to the key alone"
        )
        raise ModelError(msg, Transport(0.0, 0))
    if key and basic_credentials(parts):
        msg = (
            f"the address of the server holds a user or a password, and the environment variable "
            f"{settings.api_key_variable} a key, but a request can prove itself with one of them only; take the user "
            "out of base_url, or set api_key_variable to the name of a variable that is not set"
        )
        raise ModelError(msg, Transport(0.0, 0))
    return key or NO_KEY


def account_of(url: str, environ: Mapping[str, str]) -> tuple[str | None, str | None]:
    """Return the organization and the project that OpenAI's own servers, and no others, are told."""
    if not is_openai(urlsplit(url).hostname):
        return None, None
    return environ.get("OPENAI_ORG_ID", "").strip() or None, environ.get("OPENAI_PROJECT_ID", "").strip() or None


def _foreign_headers() -> Iterator[str]:
    """Yield the names of headers that the ``openai`` package takes from the environment of the process."""
    for line in os.environ.get("OPENAI_CUSTOM_HEADERS", "").split("\n"):
        name, colon, _ = line.partition(":")
        if colon:
            yield name.strip()


def _headers(settings: LLMSettings, parts: SplitResult, key: str) -> dict[str, str]:
    """Return the headers to send beside the package's own, by name in small letters."""
    credentials = basic_credentials(parts)
    given = {
        "authorization": f"Basic {credentials}" if credentials else f"Bearer {key}",
        "accept": "application/json",
        # Other encodings can grow a thousandfold in a step; these can be unpacked up to a size.
        "accept-encoding": "gzip, deflate",
        "content-type": "application/json",
    }
    return given | {name.lower(): value for name, value in settings.extra_headers.items()}


def _sending(headers: Mapping[str, str]) -> Callable[[httpx2.Request], Awaitable[None]]:
    """Return what puts headers into a request, in the place of those that the environment names.

    These would go to whatever server is asked, and nobody would know that their values are secrets.
    """

    async def send(request: httpx2.Request) -> None:
        for name in _foreign_headers():
            request.headers.pop(name, None)
        request.headers.update(headers)

    return send


def new_client(settings: LLMSettings, key: str, url: str, environ: Mapping[str, str]) -> openai.AsyncOpenAI:
    """Return the package's client, which sends each request once.

    Args:
        settings: Whom and how to ask.
        key: The key.
        url: Address of the server, with its private parts.
        environ: Where the organization and the project are looked up.
    """
    parts = urlsplit(url)
    timeout = openai.Timeout(settings.timeout_s, connect=min(_CONNECT_S, settings.timeout_s))
    client = openai.AsyncOpenAI(
        api_key=key,
        base_url=urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", "")),
        default_query=dict(parse_qsl(parts.query, keep_blank_values=True)),
        timeout=timeout,
        max_retries=0,
        http_client=_BoundedClient(
            # A proxy that the environment names for the world cannot reach this machine's own servers.
            trust_env=not _is_local(parts),
            timeout=timeout,
            event_hooks={"request": [_sending(_headers(settings, parts, key))], "response": [_refuse_redirect]},
        ),
    )
    client.organization, client.project = account_of(url, environ)  # not those of the process, as by default
    return client


# ---------------------------------------------------------------- what comes back


class _BoundedClient(openai.DefaultAsyncHttpxClient):
    """The package's HTTP client, of httpx or httpx2, that reads answers up to a size and goes nowhere else."""

    async def send(
        self,
        request: httpx2.Request,
        *,
        stream: bool = False,  # noqa: ARG002 -- answers are always read here
        auth: object = None,  # noqa: ARG002 -- the headers hold it
        follow_redirects: object = False,  # noqa: ARG002 -- with them would go headers and body
    ) -> httpx2.Response:
        """Return the whole answer, unpacked.

        Raises:
            UnfitAnswerError: It is too long, broken, or a redirect.
        """
        response = await super().send(request, stream=True, auth=None, follow_redirects=False)
        try:
            body = await _body(response)
        finally:
            await response.aclose()
        headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in _FRAMING]
        return type(response)(response.status_code, headers=headers, content=body, request=request)


async def _refuse_redirect(response: httpx2.Response) -> None:
    """Stop at a redirect: headers and body, which may be secret, are for the server in the settings."""
    if 300 <= response.status_code < 400:  # noqa: PLR2004 -- HTTP's
        text = f"HTTP {response.status_code}: a redirect{_target(response.headers.get('location', ''))}, not followed"
        raise UnfitAnswerError(Fault(FaultKind.PERMANENT, text))


def _target(location: str) -> str:
    """Return where a redirect leads, by the name of the host only."""
    try:
        host = urlsplit(location).hostname
    except ValueError:
        return " to no address"
    return f" to {host[:253]}" if host and host.isprintable() else ""


async def _body(response: httpx2.Response) -> bytes:
    """Return the body, unpacked; neither packed nor unpacked is more kept than the limit."""
    raw = bytearray()
    async for chunk in response.aiter_raw():
        raw += chunk
        if len(raw) > _LONGEST_ANSWER:
            raise _too_long(response)
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in _COMPRESSED:
        return bytes(raw)
    try:
        body = _unpacked(bytes(raw))
    except zlib.error:
        text = f"HTTP {response.status_code}: a body that is not the {encoding} it is said to be"
        raise UnfitAnswerError(Fault(FaultKind.TEMPORARY, text)) from None
    if len(body) > _LONGEST_ANSWER:
        raise _too_long(response)
    return body


def _unpacked(raw: bytes) -> bytes:
    """Return data unpacked, but no more than one byte over the limit."""
    try:
        return zlib.decompressobj(_ANY_ZLIB).decompress(raw, _LONGEST_ANSWER + 1)
    except zlib.error:  # some servers send "deflate" without its header
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(raw, _LONGEST_ANSWER + 1)


def _too_long(response: httpx2.Response) -> UnfitAnswerError:
    text = f"HTTP {response.status_code}: an answer longer than {_LONGEST_ANSWER // 2**20} MiB, not read to its end"
    return UnfitAnswerError(Fault(FaultKind.TEMPORARY, text))


def connection_fault(error: Exception) -> Fault:
    """Return the fault of an attempt without an answer; of an exception the name only, its text may hold what was sent.

    Args:
        error: What the package raised: its own error around another one (2.x), or the other one itself (3.x).
    """
    cause = error.__cause__ if isinstance(error, openai.APIConnectionError) and error.__cause__ else error
    if isinstance(cause, UnfitAnswerError):
        return cause.fault
    name = type(cause).__name__
    if _NEVER_SENT & {kind.__name__ for kind in type(cause).__mro__}:
        return Fault(FaultKind.PERMANENT, f"the request cannot be sent ({name}); check base_url and extra_headers")
    return Fault(FaultKind.TEMPORARY, f"connection failed ({name})")
