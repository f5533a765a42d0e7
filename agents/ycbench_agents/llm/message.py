"""What is said to a chat model and what it says: plain values between client, history and records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import attrs

if TYPE_CHECKING:
    from ycbench_agents.base import Json, JsonObject

__all__ = [
    "ChatClient",
    "ChatReply",
    "ChatRequest",
    "Completion",
    "ContextLengthError",
    "ModelError",
    "TokenUsage",
    "ToolCall",
    "Transport",
]


@attrs.frozen
class ToolCall:
    """A call as the model sent it, unchecked.

    Args:
        id: Its id, as sent; may be empty or repeated.
        name: Name of the tool, as sent.
        arguments: Arguments as sent: JSON text where the model keeps to the interface, anything else otherwise.
    """

    id: str
    name: str
    arguments: Json


@attrs.frozen
class TokenUsage:
    """Tokens of one completion; None is unknown, never 0.

    Args:
        prompt: Tokens of the prompt, cached ones included.
        completion: Tokens of the reply, reasoning included.
        cached: Those of the prompt that were read from a cache.
        reasoning: Those of the reply that were reasoning.
    """

    prompt: int | None = None
    completion: int | None = None
    cached: int | None = None
    reasoning: int | None = None


@attrs.frozen
class ChatReply:
    """One reply of a chat model.

    Args:
        content: Its text, None without one.
        tool_calls: Its calls, in order.
        finish_reason: Why it ended: "stop", "tool_calls", "length"; None where the server does not say.
        reasoning: Reasoning fields of the message as they were sent, by name (``reasoning_content``, ``reasoning``,
            ``reasoning_details``); empty without any.
        usage: Tokens.
        model: Model that the server says has answered.
    """

    content: str | None
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None
    reasoning: JsonObject = attrs.field(factory=dict)  # pyright: ignore[reportUnknownVariableType] -- attrs' factory
    usage: TokenUsage = attrs.field(factory=TokenUsage)
    model: str | None = None


@attrs.frozen
class ChatRequest:
    """One request for a reply.

    Args:
        messages: Messages in the interface's own form.
        tools: Tools in the interface's own form, empty for a model without.
    """

    messages: tuple[JsonObject, ...]
    tools: tuple[JsonObject, ...] = ()


@attrs.frozen
class Transport:
    """How a reply was got; differs between equal runs.

    Args:
        latency_s: Seconds from the first attempt to the reply, waits included.
        attempts: Requests that were sent, at least 1.
        faults: What went wrong on the way, one short text each, without secrets.
    """

    latency_s: float
    attempts: int
    faults: tuple[str, ...] = ()


@attrs.frozen
class Completion:
    """A reply and how it was got."""

    reply: ChatReply
    transport: Transport


class ModelError(Exception):
    """There is no reply to be had; the text says why and holds no secret.

    Args:
        message: Why.
        transport: What was tried.
    """

    def __init__(self, message: str, transport: Transport) -> None:
        super().__init__(message)
        self.transport = transport


class ContextLengthError(ModelError):
    """The messages are longer than the model's context."""


class ChatClient(Protocol):
    """Asks a chat model."""

    async def complete(self, request: ChatRequest) -> Completion:
        """Return the model's reply.

        Raises:
            ContextLengthError: The messages are too long for the model.
            ModelError: The server refuses for good, or no attempt succeeded.
        """
        ...
