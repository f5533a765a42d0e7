"""What a turn reports: the answers to its commands and the events since the last turn."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_env.observation.wake import wake_event

if TYPE_CHECKING:
    from ycbench_env.observation.levels import Json, JsonObject
    from ycbench_env.types.event import Event

__all__ = ["MAX_COMMAND_ECHO", "MAX_JSON_LENGTH", "Answer", "TurnReport", "cut_text", "to_json"]

MAX_JSON_LENGTH: Final = 262_144
"""Longest ``events`` and ``results`` text of an observation, in characters."""

MAX_COMMAND_ECHO: Final = 400
"""Longest piece of a command that an observation repeats, in characters."""

_encode: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def to_json(value: Json) -> str:
    """Return compact JSON text."""
    return _encode(value)


def cut_text(text: str, limit: int) -> str:
    """Return a text of at most ``limit`` characters; an over-long one ends in a visible mark."""
    if len(text) <= limit:
        return text
    mark = f"… [cut: {len(text) - limit} characters and more]"
    return text[: max(0, limit - len(mark))] + mark[:limit]


@attrs.frozen
class Answer:
    """A command and what was answered.

    Args:
        command: The command as the agent wrote it.
        ok: Whether it was carried out.
        output: The answer; ``{"error": text}`` when not ok.
        output_json: The same as compact JSON.
    """

    command: str
    ok: bool
    output: JsonObject
    output_json: str

    @property
    def echo(self) -> str:
        """The command, cut."""
        return cut_text(self.command, MAX_COMMAND_ECHO)


@attrs.frozen
class TurnReport:
    """What the observation after a turn tells besides the state.

    Args:
        answers: One for each command, in order.
        events: What happened while time moved in the turn, in order.
        forced_advance: Whether the environment moved time by itself (Y-9).
    """

    answers: tuple[Answer, ...] = ()
    events: tuple[Event, ...] = ()
    forced_advance: bool = False

    def events_json(self) -> str:
        """Return the events as a JSON list."""
        if not self.events:
            return "[]"
        return _joined([to_json(wake_event(event)) for event in self.events])

    def results_json(self) -> str:
        """Return the answers as a JSON list of {"command", "ok", "output"}.

        When the list is longer than MAX_JSON_LENGTH, outputs that no longer fit become ``{"cut": characters}``, and
        answers for which even that has no room are counted in a last element ``{"cut_results": number}``.
        """
        return _joined(
            [
                f'{{"command":{_encode(answer.echo)},"ok":{"true" if answer.ok else "false"},"output":{answer.output_json}}}'
                for answer in self.answers
            ],
            [
                f'{{"command":{_encode(answer.echo)},"ok":{"true" if answer.ok else "false"},"output":{{"cut":{len(answer.output_json)}}}}}'
                for answer in self.answers
            ]
            if sum([len(answer.output_json) + MAX_COMMAND_ECHO for answer in self.answers]) > MAX_JSON_LENGTH
            else None,
        )


def _joined(items: list[str], shorter: list[str] | None = None) -> str:
    """Return a JSON list of encoded items that is no longer than MAX_JSON_LENGTH."""
    room = MAX_JSON_LENGTH - 64  # for the brackets and the mark
    kept: list[str] = []
    for index, item in enumerate(items):
        text = item
        if len(text) > room and shorter is not None:
            text = shorter[index]
        if len(text) > room:
            kept.append(f'{{"cut_results":{len(items) - index}}}')
            break
        kept.append(text)
        room -= len(text) + 1
    return f"[{','.join(kept)}]"
