"""OpenAIChat: asks a chat model over the network, with time limits and retries of its own."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import json
import logging
import os
import random
import re
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, cast
from urllib.parse import parse_qsl, urlsplit, urlunsplit
from weakref import WeakKeyDictionary

import attrs
import openai

from ycbench_agents.llm.message import ChatReply, Completion, ContextLengthError, ModelError, Transport
from ycbench_agents.llm.redaction import RedactingFilter, Secrets, secrets_of
from ycbench_agents.llm.response import HttpAnswer, read_answer
from ycbench_agents.llm.retry import Fault, FaultKind, next_wait

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
    from urllib.parse import SplitResult

    from ycbench_agents.base import JsonObject
    from ycbench_agents.llm.message import ChatRequest
    from ycbench_agents.llm.settings import LLMSettings

__all__ = ["OpenAIChat", "api_key"]

_OPENAI_URL: Final = "https://api.openai.com/v1"
_NO_KEY: Final = "none"  # servers that take no key want the header all the same
_CONNECT_S: Final = 30.0  # a host that does not answer is found out sooner than a slow model
_LOGGERS: Final = (
    *("httpx", "httpx2", "openai._base_client", "openai._legacy_response"),
    # These show the headers of answers, and a server may repeat in them what it was sent.
    *(
        f"{core}.{part}"
        for core in ("httpcore", "httpcore2")
        for part in ("connection", "http11", "http2", "proxy", "socks")
    ),
)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _url(settings: LLMSettings, environ: Mapping[str, str]) -> str:
    """Return the address of the server; the variable is the ``openai`` package's own."""
    return settings.base_url or environ.get("OPENAI_BASE_URL", "").strip() or _OPENAI_URL


def _is_local(url: SplitResult) -> bool:
    """Return whether an address is on this machine."""
    try:
        return url.hostname == "localhost" or ipaddress.ip_address(url.hostname or "").is_loopback
    except ValueError:  # a name
        return False


def api_key(settings: LLMSettings, environ: Mapping[str, str]) -> str:
    """Return the key to send; a placeholder for a server that is not OpenAI's own and may take none.

    Raises:
        ModelError: OpenAI's own server is to be asked and there is no key, or what the variable holds can be no key.
            The message names the variable.
    """
    key = environ.get(settings.api_key_variable, "").strip()  # a key read from a file may end in a line break
    host = urlsplit(_url(settings, environ)).hostname or ""
    if not key and (host == "openai.com" or host.endswith(".openai.com")):
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
    return key or _NO_KEY


@attrs.frozen(eq=False)
class _Session:
    """Connections of one event loop, and what belongs to them.

    Args:
        client: The package's client.
        slots: Lets a limited number of requests through.
        secrets: What must not be shown.
        closing: Closes the connections when it is closed, which an event loop does before it ends.
    """

    client: openai.AsyncOpenAI
    slots: contextlib.AbstractAsyncContextManager[object]
    secrets: Secrets
    closing: AsyncGenerator[None]


async def _closing(
    client: openai.AsyncOpenAI,
    secrets: Secrets,
    held: list[object],  # noqa: ARG001 -- being an argument is its use
) -> AsyncGenerator[None]:
    """Yield once, with secrets kept out of the libraries' logs; close the connections in the end.

    Event loops close their asynchronous generators before they end (``asyncio.run`` does), so that connections are
    closed in the loop that opened them even if nobody calls ``aclose``.

    Args:
        client: Whose connections are closed.
        secrets: What is not to be logged.
        held: The generator itself is put in here: the loop does not keep it alive, and a client that is dropped just
            before its loop ends would take it along before the loop comes to it.
    """
    redacting = RedactingFilter(secrets)
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    for logger in loggers:
        logger.addFilter(redacting)
    try:
        yield
    finally:
        try:
            await client.close()
        finally:
            for logger in loggers:
                logger.removeFilter(redacting)


def _sendable(messages: Iterable[JsonObject]) -> list[JsonObject]:
    """Return messages that can be written as UTF-8: lone surrogates, which an agent may produce, become U+FFFD."""
    text = json.dumps(list(messages), ensure_ascii=False)
    return cast("list[JsonObject]", json.loads(_SURROGATE.sub("\ufffd", text)))


def _body(request: ChatRequest, settings: LLMSettings) -> JsonObject:
    """Return what is sent beside the model's name; empty lists of tools, which servers refuse, are left out."""
    tools: JsonObject = {"tools": list(request.tools)} if request.tools else {}
    options: JsonObject = {
        "temperature": settings.temperature,
        "top_p": settings.top_p,
        settings.max_tokens_field: settings.max_tokens,
        "seed": settings.seed,
    }
    given = {name: value for name, value in options.items() if value is not None}
    return {"messages": list(_sendable(request.messages)), **tools, **given, **settings.extra_body}


class OpenAIChat:
    """A chat model behind a server with the chat-completions interface.

    One client serves any number of episodes at a time, and several event loops, each with connections of its own.
    They are closed by ``aclose`` or, at the latest, when their loop ends.

    Invariants:
        A request is sent at most ``max_retries`` + 1 times; only 429, 5xx, connection faults, timeouts and answers
        without a reply are tried again.
        An attempt takes at most ``timeout_s`` of wall time, however slowly a server sends.
        At most ``concurrency`` requests of one event loop are under way; those that wait to be sent again are not
        counted.
        Neither key nor header values stand in an error, its causes, the client's representation, or a log record of
        the libraries in use.
        Cancellation passes through at once.

    Args:
        settings: Whom and how to ask.
        concurrency: Most requests at a time in one event loop, None for no limit.
        environ: Where the key is looked up, when the first request is sent.
        sleep: Waits a number of seconds.
        clock: Seconds on a clock that never goes back.
        now: The time with a zone, for servers that say until when to wait.
        jitter: Numbers from 0 to 1 that spread the waits, None for random ones.

    Raises:
        ValueError: ``concurrency`` is no positive whole number.
    """

    def __init__(  # noqa: PLR0913 -- what varies is injected, by name
        self,
        settings: LLMSettings,
        *,
        concurrency: int | None = None,
        environ: Mapping[str, str] = os.environ,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = _utc_now,
        jitter: Callable[[], float] | None = None,
    ) -> None:
        given = cast("object", concurrency)  # callers may not be typed
        if given is not None and (not isinstance(given, int) or isinstance(given, bool) or given < 1):
            msg = f"concurrency: got {given!r}, expected a positive whole number of requests, or None for no limit"
            raise ValueError(msg)
        self._settings = settings
        self._concurrency = concurrency
        self._environ = environ
        self._sleep = sleep
        self._clock = clock
        self._now = now
        self._jitter = jitter or random.Random().random  # noqa: S311 -- spreads waits, no secret
        self._sessions: WeakKeyDictionary[asyncio.AbstractEventLoop, _Session] = WeakKeyDictionary()

    def __repr__(self) -> str:
        """Return the model's name; an address may hold a password."""
        return f"{type(self).__name__}(model={self._settings.model!r})"

    async def complete(self, request: ChatRequest) -> Completion:
        """Return the model's reply.

        Raises:
            ContextLengthError: The messages are too long for the model.
            ModelError: There is no key, the server refuses for good, or no attempt succeeded.
        """
        session = await self._session()
        texts: list[str] = []
        started: float | None = None
        while True:
            async with session.slots:
                started = self._clock() if started is None else started
                outcome = await self._attempt(session, request, self._bound_s(started))
            elapsed, attempt = self._clock() - started, len(texts) + 1
            if isinstance(outcome, ChatReply):
                return Completion(outcome, Transport(elapsed, attempt, tuple(texts)))
            texts.append(outcome.text)
            wait = next_wait(attempt, outcome, self._settings, elapsed_s=elapsed, jitter=self._jitter())
            if wait is None:
                raise self._error(outcome, Transport(elapsed, attempt, tuple(texts)))
            await self._sleep(wait)

    async def aclose(self) -> None:
        """Close the connections of the running event loop; a later request opens new ones."""
        session = self._sessions.pop(asyncio.get_running_loop(), None)
        if session is not None:
            await session.closing.aclose()

    async def _session(self) -> _Session:
        """Return the session of the running event loop."""
        loop = asyncio.get_running_loop()
        session = self._sessions.get(loop)
        if session is None:
            session = self._sessions[loop] = self._new_session()
            await anext(session.closing)  # from here on the loop knows it
        return session

    def _new_session(self) -> _Session:
        settings = self._settings
        url, key = _url(settings, self._environ), api_key(settings, self._environ)
        parts = urlsplit(url)
        timeout = openai.Timeout(settings.timeout_s, connect=min(_CONNECT_S, settings.timeout_s))
        client = openai.AsyncOpenAI(
            api_key=key,
            base_url=urlunsplit((parts.scheme, parts.netloc, parts.path, "", "")),
            default_query=dict(parse_qsl(parts.query, keep_blank_values=True)),
            default_headers=dict(settings.extra_headers),
            timeout=timeout,
            max_retries=0,
            # A proxy that the environment names for the world cannot reach this machine's own servers.
            http_client=openai.DefaultAsyncHttpxClient(trust_env=False, timeout=timeout) if _is_local(parts) else None,
        )
        slots = contextlib.nullcontext() if self._concurrency is None else asyncio.Semaphore(self._concurrency)
        secrets = secrets_of(settings, "" if key == _NO_KEY else key, url)
        held: list[object] = []
        closing = _closing(client, secrets, held)
        held.append(closing)
        return _Session(client, slots, secrets, closing)

    def _bound_s(self, started: float) -> float:
        """Return the most seconds that the next attempt may take."""
        if self._settings.deadline_s is None:
            return self._settings.timeout_s
        remaining = self._settings.deadline_s - (self._clock() - started)
        return max(min(self._settings.timeout_s, remaining), 0.0)

    async def _attempt(self, session: _Session, request: ChatRequest, bound_s: float) -> ChatReply | Fault:
        """Send a request once and return what came of it."""
        try:
            async with asyncio.timeout(bound_s):  # the package's own limits are between two bytes, not for all of them
                answer = await self._send(session, request)
        except (TimeoutError, openai.APITimeoutError):
            return Fault(FaultKind.TEMPORARY, f"no reply within {bound_s:.3g} s")
        except openai.APIConnectionError as error:
            cause = type(error.__cause__).__name__  # the name only: its text may hold what was sent
            return Fault(FaultKind.TEMPORARY, f"connection failed ({cause})")
        outcome = read_answer(answer, self._now())
        if isinstance(outcome, Fault):
            return attrs.evolve(outcome, text=session.secrets.hidden_in(outcome.text))
        return outcome

    async def _send(self, session: _Session, request: ChatRequest) -> HttpAnswer:
        """Return the server's answer, whatever its status."""
        try:
            # The body goes past `messages`, whose every value the package would compare with its types: 30 ms a turn.
            raw = await session.client.chat.completions.with_raw_response.create(
                model=self._settings.model, messages=[], extra_body=_body(request, self._settings)
            )
            response = raw.http_response
        except openai.APIStatusError as error:
            response = error.response
        text = response.content.decode("utf-8", errors="replace")
        return HttpAnswer(response.status_code, response.headers, session.secrets.hidden_in_reply(text))

    def _error(self, last: Fault, transport: Transport) -> ModelError:
        """Return the error after the last fault."""
        model = self._settings.model
        if last.kind is FaultKind.CONTEXT_LENGTH:
            return ContextLengthError(f"the messages are too long for {model}: {last.text}", transport)
        if last.kind is FaultKind.PERMANENT:
            msg = f"{model} is not to be had, the server refused the request: {last.text}{self._advice(last)}"
            return ModelError(msg, transport)
        tries = "1 attempt" if transport.attempts == 1 else f"{transport.attempts} attempts"
        msg = f"no reply of {model} after {tries} in {transport.latency_s:.1f} s; the last: {last.text}"
        return ModelError(msg, transport)

    def _advice(self, fault: Fault) -> str:
        """Return what would help against a refusal, empty if that is not known."""
        if re.match(r"HTTP 40[13]\b", fault.text):
            return f" (the key is taken from the environment variable {self._settings.api_key_variable})"
        if re.match(r"HTTP 404\b", fault.text):
            return " (check the settings model and base_url)"
        return ""
