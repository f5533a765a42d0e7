"""Turns as examples for training: what was asked, what was said, and what it was worth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, cast, runtime_checkable

import attrs

from ycbench_agents.records.episode import replay_turn, require_equal
from ycbench_agents.records.error import RecordError
from ycbench_agents.records.reading import read_run
from ycbench_agents.records.record import fields_of
from ycbench_agents.records.replaying import fresh_episode
from ycbench_agents.records.strict_json import encode, plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ycbench_agents.base import Json, JsonObject, Policy
    from ycbench_agents.records.record import TurnRecord

__all__ = ["ConversingPolicy", "ExportedTurn", "export_turns"]

_ASSISTANT: Final = "assistant"


@runtime_checkable
class ConversingPolicy(Protocol):
    """A policy that asks with messages and can show those that led to its last turn."""

    @property
    def last_messages(self) -> Sequence[JsonObject]:
        """The messages of the turn that was decided or recalled last."""
        ...


@attrs.frozen
class ExportedTurn:
    """One example.

    Args:
        run: Name of the run's folder.
        seed: Run seed.
        turn: Number of the turn, from 1.
        prompt: The messages that were asked with; for a policy without, the text of the observation.
        completion: The assistant's message as a list of one; for a policy without, what it said.
        reward: Reward of the turn, in dollars.
        return_to_go: Sum of the rewards from this turn to the end of the record, in dollars, exact to the cent.
    """

    run: str
    seed: int
    turn: int
    prompt: Json
    completion: Json
    reward: float
    return_to_go: float

    def to_line(self) -> str:
        """Return the example as a line of JSON in ASCII, without a line break."""
        return encode(fields_of(self))


def export_turns(folder: Path | str, policy: Policy | None = None) -> Iterator[ExportedTurn]:
    """Yield the turns of a run as examples, from first to last.

    The record is played again to get at what was seen, so what is yielded is verified like in ``replay_run``.

    Args:
        folder: Folder of a run, finished or not.
        policy: A policy like the one that played. Without it, prompts are texts of observations; a run of a language
            model needs it.

    Raises:
        RecordError: There is no run, or its record is damaged.
        RecordMismatchError: A turn turns out differently now.

    Warns:
        RecordWarning: As in ``replay_run``.
    """
    record = read_run(folder)
    to_go_cents = sum(turn.funds_delta_cents for turn in record.turns())
    episode, run = fresh_episode(record, policy), record.folder.resolve().name
    for turn in record.turns():
        prompt: Json = episode.observation["text"]
        require_equal(replay_turn(episode, turn, policy), folder, turn.turn)
        completion: Json = turn.action
        if isinstance(policy, ConversingPolicy):
            prompt, completion = _conversation(policy.last_messages, turn)
        yield ExportedTurn(run, record.identity.seed, turn.turn, prompt, completion, turn.reward, to_go_cents / 100)
        to_go_cents -= turn.funds_delta_cents


def _conversation(messages: Sequence[JsonObject], turn: TurnRecord) -> tuple[Json, Json]:
    """Return the messages that were asked with, and the assistant's message as a list of one."""
    listed = cast("list[Json]", plain(list(messages), "messages"))
    last = listed[-1] if listed else None
    if isinstance(last, dict) and last.get("role") == _ASSISTANT:
        return listed[:-1], [last]
    return listed, [_assistant_message(turn)]


def _assistant_message(turn: TurnRecord) -> JsonObject:
    """Return the reply in a turn's trace in the chat interface's own form.

    Raises:
        RecordError: The trace has no reply.
    """
    reply = (turn.trace or {}).get("reply")
    if not isinstance(reply, dict):
        msg = f"turn {turn.turn}: its trace has no reply, so there is no message to export"
        raise RecordError(msg)
    message: JsonObject = {"role": _ASSISTANT, "content": reply.get("content")}
    calls = reply.get("tool_calls")
    if isinstance(calls, list) and calls:
        message["tool_calls"] = [_call(call) for call in calls if isinstance(call, dict)]
    reasoning = reply.get("reasoning")
    return {**reasoning, **message} if isinstance(reasoning, dict) else message


def _call(call: JsonObject) -> JsonObject:
    arguments = call.get("arguments")
    text = arguments if isinstance(arguments, str) else encode(arguments)
    return {"id": call.get("id"), "type": "function", "function": {"name": call.get("name"), "arguments": text}}
