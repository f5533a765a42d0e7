"""OpenAIChat: asks a chat model over the network, with time limits and retries of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import random
import re
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, cast
from weakref import WeakKeyDictionary

import attrs
import openai

from ycbench_agents.llm.address import server_url
from ycbench_agents.llm.characters import without_surrogates
from ycbench_agents.llm.connection import (
    NO_KEY,
    account_of,
    api_key,
    connection_fault,
    new_client,
    origin,
)
from ycbench_agents.llm.message import ChatReply, Completion, ContextLengthError, ModelError, Transport
from ycbench_agents.llm.redaction import RedactingFilter, Secrets, secrets_of
from ycbench_agents.llm.response import HttpAnswer, read_answer
from ycbench_agents.llm.retry import Fault, FaultKind, next_wait

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping

    from ycbench_agents.base import JsonObject
    from ycbench_agents.llm.message import ChatRequest
    from ycbench_agents.llm.settings import LLMSettings

__all__ = ["OpenAIChat", "api_key"]

_LOGGERS: Final = (
    *("httpx", "httpx2", "openai._base_client", "openai._legacy_response"),
    # These show the headers of answers, and a server may repeat in them what it was sent.
    *(
        f"{core}.{part}"
        for core in ("httpcore", "httpcore2")
        for part in ("connection", "http11", "http2", "proxy", "socks")
    ),
)


def _utc_now() -> datetime:
    return datetime.now(UTC)


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
    return cast("list[JsonObject]", json.loads(without_surrogates(text)))


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
        A redirect is not followed: headers and messages go to the server in the settings, and to no other.
        An answer is read up to 16 MiB, unpacked.
        The key is sent as the bearer, or a user and password in the address as ``Authorization: Basic``; having both is
        refused. The package's own variables for an organization and a project count for OpenAI's servers only, the one
        for further headers not at all: ``extra_headers`` is for these.
        Neither key nor header values stand in an error, its causes, the client's representation, or a log record of
        the libraries in use. The key and values of secret headers stand in no reply (``Secrets`` says which).
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
            outcome = attrs.evolve(outcome, text=session.secrets.hidden_in(outcome.text))
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
        url, key = server_url(settings, self._environ), api_key(settings, self._environ)
        client = new_client(settings, key, url, self._environ)
        slots = contextlib.nullcontext() if self._concurrency is None else asyncio.Semaphore(self._concurrency)
        account = (part for part in account_of(url, self._environ) if part)
        secrets = secrets_of(settings, "" if key == NO_KEY else key, url, account)
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

    def _limit(self, bound_s: float) -> str:
        """Return which limit an attempt met; not the time that was left, since equal runs tell equal reasons."""
        settings = self._settings
        if bound_s < settings.timeout_s and settings.deadline_s is not None:
            return f"before the deadline of {settings.deadline_s:.6g} s"
        return f"within {settings.timeout_s:.3g} s"

    async def _attempt(self, session: _Session, request: ChatRequest, bound_s: float) -> ChatReply | Fault:
        """Send a request once and return what came of it."""
        try:
            async with asyncio.timeout(bound_s):  # the package's own limits are between two bytes, not for all of them
                answer = await self._send(session, request)
        except (TimeoutError, openai.APITimeoutError):
            return Fault(FaultKind.TEMPORARY, f"no reply {self._limit(bound_s)}")
        except Exception as error:  # noqa: BLE001 -- the libraries below have no common one; cancellation is none of it
            return connection_fault(error)
        outcome = read_answer(answer, self._now())
        return session.secrets.hidden_in_reply(outcome) if isinstance(outcome, ChatReply) else outcome

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
        return HttpAnswer(response.status_code, response.headers, text)

    def _error(self, last: Fault, transport: Transport) -> ModelError:
        """Return the error after the last fault."""
        model = f"{self._settings.model} at {origin(server_url(self._settings, self._environ))}"
        if last.kind is FaultKind.CONTEXT_LENGTH:
            return ContextLengthError(f"the messages are too long for {self._settings.model}: {last.text}", transport)
        if last.kind is FaultKind.PERMANENT:
            msg = f"{model} is not to be had: {last.text}{self._advice(last)}"
            return ModelError(msg, transport)
        return ModelError(f"no reply of {model} {self._tries(transport)}; the last: {last.text}", transport)

    def _tries(self, transport: Transport) -> str:
        """Return how long it was tried, without what a clock decides; the transport tells that."""
        settings, attempts = self._settings, transport.attempts
        if attempts <= settings.max_retries and settings.deadline_s is not None:
            return f"before the deadline of {settings.deadline_s:.6g} s"
        return "after 1 attempt" if attempts == 1 else f"after {attempts} attempts"

    def _advice(self, fault: Fault) -> str:
        """Return what would help against a refusal, empty if that is not known."""
        if re.match(r"HTTP 40[13]\b", fault.text):
            return f" (the key is taken from the environment variable {self._settings.api_key_variable})"
        if re.match(r"HTTP 3[0-9]{2}\b", fault.text):
            return " (set base_url to the address that it redirects to, if you trust it)"
        if re.match(r"HTTP 404\b", fault.text):
            return " (check the settings model and base_url)"
        return ""
