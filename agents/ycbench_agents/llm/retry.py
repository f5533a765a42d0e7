"""Whether and when a failed request is sent again: pure decisions about faults, waits and what a server asks for."""

from __future__ import annotations

import math
import re
from datetime import UTC
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from ycbench_agents.llm.settings import LLMSettings

__all__ = ["Fault", "FaultKind", "fault_kind", "is_context_length", "next_wait", "read_retry_after"]

_TOO_MANY_REQUESTS: Final = 429
_BAD_REQUEST: Final = 400
_PAYLOAD_TOO_LARGE: Final = 413
# A gateway that gives up says "context canceled" under 5xx, so only refusals of the request's content are looked at,
# and successes that hold an error without a status of its own.
_ABOUT_LENGTH: Final = frozenset({*range(200, 300), _BAD_REQUEST, _PAYLOAD_TOO_LARGE, 422})
_THROTTLED_CODE: Final = re.compile(r"throttl|rate.?limit|too.?many.?requests", re.IGNORECASE)
_THROTTLED: Final = re.compile(
    r"throttl|\brate.?limit|too many requests|please wait|\btry again later\b|\bper (second|minute|hour|day)\b",
    re.IGNORECASE,
)
_SPENT: Final = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
_MOST_DOUBLINGS: Final = 60  # far above any cap, and far below what a float can hold

# Each server words it in its own way; the names say who was seen to.
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


class FaultKind(StrEnum):
    """What a fault means for the next attempt."""

    TEMPORARY = "temporary"
    """The same request may succeed later."""
    CONTEXT_LENGTH = "context_length"
    """A shorter request may succeed."""
    PERMANENT = "permanent"
    """The server will go on refusing."""


@attrs.frozen
class Fault:
    """Why an attempt brought no reply.

    Args:
        kind: What it means for the next attempt.
        text: What happened, one short line without secrets.
        retry_after_s: Seconds that the server asks to wait, None if it does not say.
    """

    kind: FaultKind
    text: str
    retry_after_s: float | None = None


def is_context_length(texts: Iterable[str]) -> bool:
    """Return whether an error's codes or message say that the request is longer than the model's context."""
    return any(_CONTEXT_LENGTH.search(text) for text in texts)


def fault_kind(status: int, codes: Iterable[str], message: str) -> FaultKind:
    """Return what an error answer means.

    Only 429 and 5xx are temporary, and refusals whose code says that requests come too fast (Bedrock sends its
    ThrottlingException as 400); 408 and 409 are refusals like any other 4xx. A quota that is used up comes as 429, but
    no wait helps. An error under a status of success that names no status of its own is temporary: it is no reply at
    all, and such answers come from gateways whose upstream failed. Only 400, 413, 422 and errors under success can be
    about the context's length; what asks to wait is not.

    Args:
        status: HTTP status, or the status that an error inside an answer names.
        codes: Codes and types that the error names.
        message: Its wording.
    """
    named = frozenset(codes)
    throttled = any(map(_THROTTLED_CODE.search, named))
    waits = throttled or _THROTTLED.search(message) is not None
    if status == _PAYLOAD_TOO_LARGE or (status in _ABOUT_LENGTH and not waits and is_context_length((*named, message))):
        return FaultKind.CONTEXT_LENGTH
    if status == _TOO_MANY_REQUESTS:
        return FaultKind.PERMANENT if named & _SPENT else FaultKind.TEMPORARY
    if status >= 500 or status < 300 or (status == _BAD_REQUEST and throttled):  # noqa: PLR2004 -- HTTP's
        return FaultKind.TEMPORARY
    return FaultKind.PERMANENT


def read_retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the seconds that a server asks to wait, at least 0; None if it does not say or cannot be understood.

    Args:
        headers: Headers of its answer, with lower-case names or a mapping that ignores case.
        now: The time, with a zone; a date is counted from it.
    """
    milliseconds = _seconds(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    asked = headers.get("retry-after")
    seconds = _seconds(asked)
    return _seconds_until(asked, now) if seconds is None else seconds


def _seconds(text: str | None) -> float | None:
    """Return a non-negative number that is written in plain decimals, None for anything else."""
    if text is None or not re.fullmatch(r"\s*[0-9]{1,18}(\.[0-9]{0,18})?\s*", text):
        return None
    return float(text)


def _seconds_until(date: str | None, now: datetime) -> float | None:
    """Return the seconds until an HTTP date, 0 for one that has passed, None for no date."""
    try:
        moment = parsedate_to_datetime(date or "")
        # HTTP dates are in GMT; Python reads "-0000" as no zone at all.
        until = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - now
    except (ValueError, OverflowError):
        return None
    return max(until.total_seconds(), 0.0)


def next_wait(
    attempt: int, fault: Fault, settings: LLMSettings, *, elapsed_s: float = 0.0, jitter: float = 1.0
) -> float | None:
    """Return the seconds to wait before the next attempt, None if there is none.

    What the server asks for is done, up to the cap. Where it does not say, the waits double from ``backoff_s`` up to
    the same cap, and each is shortened by up to a half so that many clients do not come back at the same moment. A
    wait that would reach the deadline is not begun.

    Args:
        attempt: Number of the attempt that failed, from 1.
        fault: Why it failed.
        settings: How often and how long to try.
        elapsed_s: Seconds since the first attempt.
        jitter: A number from 0 (shortest wait) to 1 (longest).
    """
    if fault.kind is not FaultKind.TEMPORARY or attempt > settings.max_retries:
        return None
    backoff = settings.backoff_s * math.ldexp(1.0, min(attempt - 1, _MOST_DOUBLINGS))
    wait = fault.retry_after_s
    if wait is None:
        wait = min(backoff, settings.retry_after_cap_s) * (1 + jitter) / 2
    wait = min(wait, settings.retry_after_cap_s)
    return None if settings.deadline_s is not None and elapsed_s + wait >= settings.deadline_s else wait
