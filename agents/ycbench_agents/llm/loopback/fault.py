"""Faults that the server produces to order, and the plan that says when."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, TypeAlias

import attrs

from ycbench_agents.llm.loopback.scripted import digest

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "SOME_OF_EACH",
    "Answer",
    "Drop",
    "FaultPlan",
    "LoopbackFault",
    "Stall",
    "Status",
    "Trickle",
    "Truncate",
    "html_page",
]


@attrs.frozen
class Answer:
    """Another answer in place of the model's.

    Args:
        status: HTTP status.
        body: Body.
        headers: Further headers.
        content_type: What the body is said to be.
    """

    status: int
    body: str
    headers: Mapping[str, str] = attrs.field(factory=dict[str, str])
    content_type: str = "application/json"


@attrs.frozen
class Status:
    """An error in the interface's own form.

    Args:
        status: HTTP status.
        retry_after: Value of the header ``Retry-After``, None for no such header.
        message: What the error says.
        code: Its code.
    """

    status: int
    retry_after: str | None = None
    message: str = "a fault to order"
    code: str | None = None

    def answer(self) -> Answer:
        """Return the answer that says so."""
        error = {"message": self.message, "type": "loopback_fault", "param": None, "code": self.code}
        headers = {} if self.retry_after is None else {"Retry-After": self.retry_after}
        return Answer(self.status, json.dumps({"error": error}), headers)


@attrs.frozen
class Stall:
    """No answer for a while, then the connection is dropped.

    Args:
        seconds: How long the client is kept waiting.
    """

    seconds: float


@attrs.frozen
class Drop:
    """The connection ends before the answer does.

    Args:
        sent_fraction: How much of the body is sent before, from 0 to 1; nothing at all, not even headers, if None.
    """

    sent_fraction: float | None = None


@attrs.frozen
class Truncate:
    """A whole answer whose JSON ends in the middle."""


@attrs.frozen
class Trickle:
    """An answer that comes byte by byte and never ends.

    Args:
        interval_s: Seconds between two bytes.
    """

    interval_s: float = 0.01


LoopbackFault: TypeAlias = Answer | Status | Stall | Drop | Truncate | Trickle
"""What may happen to a request instead of a reply."""


def html_page(status: int = 200) -> Answer:
    """Return the page that a proxy shows."""
    page = f"<!DOCTYPE html><html><head><title>{status}</title></head><body>Please log in.</body></html>"
    return Answer(status, page, content_type="text/html")


SOME_OF_EACH: Final[tuple[LoopbackFault, ...]] = (
    Status(429),
    Status(429, retry_after="0"),
    Status(500),
    Status(502),
    Status(503, retry_after="0"),
    Stall(0.05),
    Drop(),
    Drop(0.5),
    Truncate(),
    html_page(),
    html_page(504),
    Answer(200, '{"choices": null}'),
    Answer(200, '{"error": {"code": 502, "message": "Provider returned error"}}'),
)
"""One or two faults of each kind that goes away when the request is sent again."""


@attrs.frozen
class FaultPlan:
    """When which fault happens; the same for the same requests in the same order, without any clock or chance.

    Args:
        by_number: Faults by the number of the request, from 1, in the order of arrival.
        rate: Share of all further requests that fail, 0 to 1, drawn by a hash of the request and of how often it has
            come before. It does not depend on other requests, so it suits episodes that run side by side.
        kinds: The faults that are drawn from.
        seed: Another seed draws others.
        most_in_a_row: How often one and the same request fails by ``rate`` at most, so that a run goes on.
    """

    by_number: Mapping[int, LoopbackFault] = attrs.field(factory=dict[int, "LoopbackFault"])
    rate: float = 0.0
    kinds: tuple[LoopbackFault, ...] = SOME_OF_EACH
    seed: int = 0
    most_in_a_row: int = 2

    def fault(self, number: int, request_digest: str, earlier: int) -> LoopbackFault | None:
        """Return what happens to a request, None for a reply.

        Args:
            number: Its number, from 1.
            request_digest: What tells it from others.
            earlier: How often the very same request has come before.
        """
        if number in self.by_number:
            return self.by_number[number]
        if earlier >= self.most_in_a_row or not self.kinds:
            return None
        draw = int(digest(self.seed, request_digest, earlier), 16)
        share, kind = divmod(draw, len(self.kinds))
        return self.kinds[kind] if share % 1_000_000 < self.rate * 1_000_000 else None
