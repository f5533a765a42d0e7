"""Asks a chat model over the network; the ``openai`` package retries, waits and heeds ``Retry-After``.

- An attempt takes at most ``timeout_s`` of wall time, however slowly a server sends; ``deadline_s`` bounds them all.
- An answer without a reply in it (a page, broken JSON, an error, no choice) is a fault, also under HTTP 200.
- No redirect is followed: headers and messages go to the server in the settings, and to no other.
- The key and values of headers stand in no error, reply, log record or representation; see ``base.without_secrets``.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import re
import time
from collections.abc import AsyncGenerator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, Protocol
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import attrs

from ycbench_agents.base import without_secrets
from ycbench_agents.llm.reply import ChatReply, clean_json, find, read_reply
from ycbench_agents.llm.settings import (
    OPENAI_URL,
    LLMSettings,
    address_in_environment,
    is_address,
    is_openai,
    is_this_machine,
)
from ycbench_env.errors import needs_extra
from ycbench_env.text import Json, JsonObject, printable

if TYPE_CHECKING:
    import openai

_NO_KEY: Final = "none"  # for servers that take no key; they want the header all the same
_LONGEST_MESSAGE: Final = 300
_OK: Final = range(200, 300)
_BAD_GATEWAY: Final = 502
_TOO_LARGE: Final = 413
_ABOUT_LENGTH: Final = frozenset({400, _TOO_LARGE, 422})  # a gateway that gives up speaks of contexts under 5xx, too

# Each server words it in its own way; the names are of servers that were seen to.
_CONTEXT_LENGTH: Final = re.compile(
    r"""
    context_length_exceeded | exceed_context_size           # OpenAI's code, llama.cpp's type
    | maximum\ (context|prompt|input|model)\ length          # OpenAI, vLLM, OpenRouter, DeepSeek, xAI, TensorRT-LLM
    | (exceed\w*|(larger|longer|greater)\ than|too\ (large|long)\ for)[^.]{0,60}  # llama.cpp
      \b(context\ (length|window|size)|model\ length)
    | \bcontext\ (length|window|size)[^.]{0,40}\b(exceed|overflow|too\ small|of\ only)  # LM Studio
    | \b(prompt|input|conversation)\ (is\ |was\ )?too\ (long|large)\b  # Anthropic, Bedrock, Ollama
    | too\ many\ (input\ |prompt\ )tokens\b | too\ many\ tokens:\ total  # Cohere
    | token\ count[^.]{0,40}exceeds                          # Gemini
    | tokens?\ \+\ `?max_new_tokens`?\ must\ be              # text-generation-inference
    | reduce\ the\ length\ of\ (the|your)\ (messages|prompt|input)  # OpenAI, Groq
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ADVICE: Final = (
    ((401, 403), " (the key is taken from the environment variable {variable})"),
    ((404,), " (check the settings model and base_url)"),
    ((301, 302, 307, 308), " (a redirect is not followed; set base_url to where it leads, if you trust it)"),
)


@attrs.frozen
class ChatRequest:
    """Messages and tools in the interface's own form; no tools for a model without."""

    messages: tuple[JsonObject, ...]
    tools: tuple[JsonObject, ...] = ()


@attrs.frozen
class Transport:
    """How a reply came; differs between equal runs."""

    latency_s: float  # from the first attempt to the reply, waits included
    attempts: int
    faults: tuple[str, ...] = ()  # what went wrong on the way, one short text each, without secrets


@attrs.frozen
class Completion:
    """A reply and how it came."""

    reply: ChatReply
    transport: Transport


class ModelError(Exception):
    """The model gives no reply; the message holds no secret, and ``transport`` is what was tried."""

    def __init__(self, message: str, transport: Transport | None = None) -> None:
        super().__init__(message)
        self.transport = transport or Transport(0.0, 0)


class ContextLengthError(ModelError):
    """The messages are longer than the model's context."""


class ChatClient(Protocol):
    """Asks a chat model: ``OpenAIChat``, or one of a user's own."""

    async def complete(self, request: ChatRequest) -> Completion:
        """Return the model's reply.

        Raises:
            ContextLengthError: The messages are too long for the model.
            ModelError: The server refuses for good, or no attempt succeeded.
        """
        ...


# ---------------------------------------------------------------- where to, and as whom


def server_url(settings: LLMSettings) -> str:
    """Return the address of the server: of the settings, the variable OPENAI_BASE_URL, or OpenAI's own.

    Raises:
        ModelError: The variable holds no address.
    """
    url = settings.base_url or address_in_environment() or OPENAI_URL
    if not is_address(url):
        msg = "OPENAI_BASE_URL: expected an address such as http://127.0.0.1:8000/v1, without user, password and query"
        raise ModelError(msg)
    return url


def api_key(settings: LLMSettings) -> str:
    """Return the key in the environment; a placeholder for a server that is not OpenAI's own and may take none.

    Raises:
        ModelError: OpenAI's own server is to be asked and there is no key, or the variable holds what no key can be.
    """
    variable = settings.api_key_variable
    key = os.environ.get(variable, "").strip()  # a key read from a file may end in a line break
    if not key and is_openai(urlsplit(server_url(settings)).hostname):
        msg = f"no API key: the environment variable {variable} is not set or empty; set it, or set base_url"
        raise ModelError(msg)
    if not all("!" <= sign <= "~" for sign in key):
        msg = f"the environment variable {variable} holds blanks or signs beyond ASCII (not shown), which no key has"
        raise ModelError(msg)
    return key or _NO_KEY


# ---------------------------------------------------------------- asking


@attrs.define
class _Attempts:
    """What became of a request so far."""

    count: int = 0
    faults: list[str] = attrs.field(factory=list[str])
    status: int = 0
    reply: ChatReply | None = None


_ATTEMPTS: Final[ContextVar[_Attempts]] = ContextVar("attempts")  # of the request that this task has under way


class OpenAIChat:
    """A chat model behind a server with the chat-completions interface.

    One client serves any number of episodes at a time, and several event loops, each with connections of its own, which
    are closed by ``aclose`` or when the loop ends. Copies and pickles hold the settings alone.

    Args:
        settings: Whom and how to ask; the key is looked up when the first request is sent.
    """

    def __init__(self, settings: LLMSettings) -> None:
        self._settings = settings
        self._sessions = WeakKeyDictionary[
            asyncio.AbstractEventLoop, tuple["openai.AsyncOpenAI", AsyncGenerator[None]]
        ]()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(model={self._settings.model!r})"

    def __reduce__(self) -> tuple[type[OpenAIChat], tuple[LLMSettings]]:
        return type(self), (self._settings,)

    async def complete(self, request: ChatRequest) -> Completion:
        """Return the model's reply.

        Raises:
            ContextLengthError: The messages are too long for the model.
            ModelError: There is no key, the server refuses for good, or no attempt succeeded.
            MissingExtraError: The package ``openai`` is not installed.
        """
        settings = self._settings
        client = await self._client()
        attempts, started = _Attempts(), time.monotonic()
        _ATTEMPTS.set(attempts)
        options: JsonObject = {
            "tools": list(request.tools) or None,  # servers refuse an empty list
            "temperature": settings.temperature,
            "top_p": settings.top_p,
            settings.max_tokens_field: settings.max_tokens,
            "seed": settings.seed,
        }
        body: JsonObject = {name: value for name, value in options.items() if value is not None}
        body |= {"messages": list(request.messages), **settings.extra_body}
        try:
            async with asyncio.timeout(settings.deadline_s):
                # The body goes past `messages`, whose every value the package would compare with its types.
                await client.chat.completions.with_raw_response.create(
                    model=settings.model, messages=[], extra_body=body
                )
        except TimeoutError:
            attempts.faults.append(f"no reply before the deadline of {settings.deadline_s:.6g} s")
        except Exception as error:  # noqa: BLE001 -- the libraries below have no common one; its text may hold what was sent
            if not attempts.faults:
                attempts.faults.append(f"the request cannot be sent ({type(error).__name__})")
        transport = Transport(time.monotonic() - started, attempts.count, tuple(attempts.faults))
        if attempts.reply is not None:
            return Completion(attempts.reply, transport)
        last = attempts.faults[-1]
        if attempts.status == _TOO_LARGE or (attempts.status in _ABOUT_LENGTH and _CONTEXT_LENGTH.search(last)):
            msg = f"the messages are too long for {settings.model}: {last}"
            raise ContextLengthError(msg, transport)
        tried = "1 attempt" if attempts.count == 1 else f"{attempts.count} attempts"
        advice = "".join(text for statuses, text in _ADVICE if attempts.status in statuses)
        advice = advice.format(variable=settings.api_key_variable)
        msg = f"no reply of {settings.model} at {server_url(settings)} after {tried}: {last}{advice}"
        raise ModelError(msg, transport)

    async def aclose(self) -> None:
        """Close the connections of the running event loop; a later request opens new ones."""
        if session := self._sessions.pop(asyncio.get_running_loop(), None):
            await session[1].aclose()

    async def _client(self) -> openai.AsyncOpenAI:
        """Return the package's client for the running event loop."""
        # A loop that ends leaves connections open, but closes the asynchronous generators that began in it. So one that
        # yields once closes the client at that moment. It refers to itself (`held`), so that it lives until then even
        # where the last policy that uses it is dropped before.
        loop = asyncio.get_running_loop()
        if loop not in self._sessions:
            client = _new_client(self._settings)
            held: list[object] = []

            async def closing() -> AsyncGenerator[None]:
                try:
                    yield
                finally:
                    await client.close()
                    held.clear()

            generator = closing()
            held.append(generator)
            await anext(generator)  # the loop knows it from here on
            self._sessions[loop] = client, generator
        return self._sessions[loop][0]


def _new_client(settings: LLMSettings) -> openai.AsyncOpenAI:
    """Return the package's client, with attempts that are bounded and noted in ``_ATTEMPTS``."""
    with needs_extra("llm", "language models need openai"):
        import openai  # noqa: PLC0415 -- of an extra, and slow to import
    # openai 3 is built on httpx2, openai 2 on httpx.
    httpx: Any = importlib.import_module(openai.DefaultAsyncHttpxClient.__mro__[1].__module__.partition(".")[0])
    key, url = api_key(settings), server_url(settings)
    host = urlsplit(url).hostname or ""

    class Http(openai.DefaultAsyncHttpxClient):
        async def send(self, request: Any, **options: Any) -> Any:  # noqa: ANN401 -- of httpx or httpx2
            attempts = _ATTEMPTS.get()
            attempts.count += 1
            attempts.status = 0
            try:
                async with asyncio.timeout(settings.timeout_s):  # the package's limit is between two bytes
                    response: Any = await super().send(request, **options)
            except (TimeoutError, httpx.TimeoutException):
                attempts.faults.append(f"no reply within {settings.timeout_s:.6g} s")
                raise httpx.ReadTimeout(attempts.faults[-1], request=request) from None
            except Exception as error:
                attempts.faults.append(f"connection failed ({type(error).__name__})")
                raise
            text = response.content.decode("utf-8-sig", "replace")
            secrets = (key, *settings.extra_headers.values())
            outcome = read_answer(response.status_code, without_secrets(text, secrets))
            if isinstance(outcome, ChatReply):
                attempts.reply = outcome
            else:
                attempts.status = response.status_code = outcome[0]  # the package decides by it
                attempts.faults.append(outcome[1])
            return response

    client = openai.AsyncOpenAI(
        api_key=key,
        base_url=url,
        timeout=openai.Timeout(settings.timeout_s, connect=min(30.0, settings.timeout_s)),
        max_retries=settings.max_retries,
        default_headers=settings.extra_headers,
        # A proxy that the environment names for the world cannot reach this machine's own servers.
        http_client=Http(follow_redirects=False, trust_env=not is_this_machine(host)),
    )
    if not is_openai(host):
        client.organization = client.project = None  # OPENAI_ORG_ID and OPENAI_PROJECT_ID are nobody else's business
    return client


# ---------------------------------------------------------------- what comes back


def read_answer(status: int, text: str) -> ChatReply | tuple[int, str]:
    """Return the reply in an answer, or the status that fits and what is wrong; never raises.

    An answer under a status of success that holds no message has the status that its error names, 400 where that
    speaks of the context's length, else 502: such answers come from gateways.

    Args:
        status: HTTP status.
        text: Body.
    """
    try:
        body: Json = clean_json(json.loads(text, parse_constant=lambda _: None))
    except (ValueError, RecursionError):
        page = re.match(r"\s*<(!doctype|html|\?xml|head|body)", text, re.IGNORECASE)
        found = "an HTML page instead of JSON" if page else _short(text) or "an empty body"
        return _BAD_GATEWAY if status in _OK else status, f"HTTP {status}, no JSON: {found}"
    reply = read_reply(body) if status in _OK else None
    if reply is not None:
        return reply
    holder = find(body, 0) or body  # Gemini sends a list of one
    error = find(body, "choices", 0, "error") or find(holder, "error") or holder
    wording = _wording(error) or _wording(holder)
    if raw := find(error, "metadata", "raw"):  # the error of OpenRouter's upstream
        wording = f"{wording} ({raw})"
    named = [find(error, name) for name in ("code", "type", "status")]
    codes = [str(code) for code in named if isinstance(code, str | int)]
    fault = f"HTTP {status}: {_short(wording or text)}"
    if any(map(_CONTEXT_LENGTH.search, codes)):
        fault += " (context_length_exceeded)"
    if status in _OK:
        meant = next((int(code) for code in codes if re.fullmatch("[45][0-9]{2}", code)), None)
        status = meant or (400 if _CONTEXT_LENGTH.search(fault) else _BAD_GATEWAY)
        fault += f" (no reply under a status of success, taken for {status})"
    return status, fault


def _short(text: str) -> str:
    """Return a server's text for an error message: one line, printable, cut if it is long."""
    line = printable(" ".join(text[:2000].split()))
    return line if len(line) <= _LONGEST_MESSAGE else line[:_LONGEST_MESSAGE] + "..."


def _wording(error: Json) -> str:
    """Return the wording of an error: a text, or what stands where servers put one."""
    if isinstance(error, str):
        return error
    for name in ("message", "msg", "detail", "error_description"):
        found = find(error, name)
        if isinstance(found, list | dict):  # a list of problems, as validating frameworks send it
            found = _wording(find(found, 0) or found)
        if isinstance(found, str) and found:
            return found
    return ""
