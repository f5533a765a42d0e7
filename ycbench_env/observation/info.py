"""The report of a turn: the answers to its commands, the events since the last turn, and the info of a step.

Source: Y-9.
"""

from __future__ import annotations

from typing import Final, TypedDict

import attrs

from ycbench_env.observation.events import wake_event, wake_json
from ycbench_env.text import JsonObject, text_json
from ycbench_env.types.event import Event
from ycbench_env.types.state import State

MAX_JSON_LENGTH: Final = 262_144
"""Longest ``events`` and ``results`` text of an observation, in characters."""

MAX_COMMAND_ECHO: Final = 400
"""Longest piece of a command that an observation repeats, in characters."""

_ROOM: Final = MAX_JSON_LENGTH - 64  # the rest is for the brackets and a mark that something was cut


def cut_text(text: str, limit: int) -> str:
    """Return a text of at most ``limit`` characters; an over-long one ends in a visible mark."""
    if len(text) <= limit:
        return text
    mark = f"… [cut: {len(text) - limit} characters and more]"
    return text[: max(0, limit - len(mark))] + mark[:limit]


@attrs.frozen(slots=False)
class Answer:
    """A command as the agent wrote it, whether it was carried out, and the answer, also as compact JSON."""

    command: str
    ok: bool
    output: JsonObject
    output_json: str

    @property
    def echo(self) -> str:
        """The command, cut."""
        return self.command if len(self.command) <= MAX_COMMAND_ECHO else cut_text(self.command, MAX_COMMAND_ECHO)


@attrs.frozen(slots=False)
class TurnReport:
    """Everything besides the state that the observation after a turn contains.

    Args:
        answers: One for each command, in order.
        events: What happened while time moved in the turn, in order.
        forced_advance: Whether the environment moved time by itself (Y-9).
    """

    answers: tuple[Answer, ...] = ()
    events: tuple[Event, ...] = ()
    forced_advance: bool = False

    def events_json(self) -> str:
        """Return the events as a JSON list; those for which there is no room are counted in a last element."""
        if not self.events:
            return "[]"
        texts = [wake_json(event) for event in self.events]
        return _fitting(texts, texts, '"type":"cut","cut_events"')

    def results_json(self) -> str:
        """Return the answers as a JSON list of {"command", "ok", "output"}.

        When the list is longer than MAX_JSON_LENGTH, outputs that no longer fit become ``{"cut": characters}``, and
        answers for which even that has no room are counted in a last element ``{"cut_results": number}``.
        """
        texts = [_result_json(answer, answer.output_json) for answer in self.answers]
        whole = ",".join(texts)
        if len(whole) <= _ROOM:
            return f"[{whole}]"
        shorter = [_result_json(answer, f'{{"cut":{len(answer.output_json)}}}') for answer in self.answers]
        return _fitting(texts, shorter, '"cut_results"')


def _result_json(answer: Answer, output_json: str) -> str:
    ok = "true" if answer.ok else "false"
    return f'{{"command":{text_json(answer.echo)},"ok":{ok},"output":{output_json}}}'


def _fitting(texts: list[str], shorter: list[str], cut: str) -> str:
    """Return a JSON list of what there is room for; in place of the rest, its number under the key ``cut``."""
    room = _ROOM
    kept: list[str] = []
    for index, text in enumerate(texts):
        one = text if len(text) <= room else shorter[index]
        if len(one) > room:
            kept.append(f"{{{cut}:{len(texts) - index}}}")
            break
        kept.append(one)
        room -= len(one) + 1
    return f"[{','.join(kept)}]"


class Result(TypedDict):
    """One command of a turn.

    Args:
        command: The command as the agent wrote it.
        ok: Whether it was carried out.
        output: The answer; ``{"error": text}`` when not ok; ``{"cut": text}`` when the turn's answers were too long.
    """

    command: str
    ok: bool
    output: JsonObject


class Info(TypedDict):
    """The same keys after every reset and step; JSON values, fresh each time.

    Args:
        results: One for each command of the turn, in order.
        events: What happened during the turn, in order, as wake events.
        funds_delta_cents: Change of funds during the turn, in cents; the reward is this in dollars.
        invalid_commands: How many of the commands were not grammatical.
        forced_advance: Whether the environment moved time by itself.
        terminal_reason: bankruptcy, horizon_end or max_turns; None while the episode goes on.
        run_seed: Seed of this episode's market, for records; keep it from agents.
    """

    results: list[Result]
    events: list[JsonObject]
    funds_delta_cents: int
    invalid_commands: int
    forced_advance: bool
    terminal_reason: str | None
    run_seed: int


def make_info(before: State, state: State, report: TurnReport, invalid_commands: int) -> Info:
    """Return the info of a turn that led from one state to another."""
    return {
        "results": [{"command": reply.command, "ok": reply.ok, "output": reply.output} for reply in report.answers],
        "events": [wake_event(event) for event in report.events],
        "funds_delta_cents": state.funds_cents - before.funds_cents,
        "invalid_commands": invalid_commands,
        "forced_advance": report.forced_advance,
        "terminal_reason": state.end_reason,
        "run_seed": state.run_seed,
    }
