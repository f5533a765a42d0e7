"""An episode from its reset on, turn by turn: what playing, resuming, replaying and exporting have in common."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, cast

import attrs

from ycbench_agents.base import DeliberatingPolicy
from ycbench_agents.records.difference import json_differences
from ycbench_agents.records.error import RecordError, RecordMismatchError
from ycbench_agents.records.record import TurnRecord, turn_differences
from ycbench_agents.records.strict_json import plain
from ycbench_env import YCBenchEnv
from ycbench_env.wrappers import ScratchpadMemory

if TYPE_CHECKING:
    import gymnasium as gym

    from ycbench_agents.base import Json, JsonObject, Policy, Turn
    from ycbench_env import Config, Observation

__all__ = ["Episode", "Said", "ask", "replay_turn", "require_equal"]


@attrs.frozen
class Said:
    """What a policy said, as plain JSON values.

    Args:
        action: A text or several.
        trace: How it came about, None for a policy that only acts.
        transport: What may differ between equal runs, None for a policy that only acts.
    """

    action: str | list[Json]
    trace: JsonObject | None = None
    transport: JsonObject | None = None


class Episode:
    """An environment and how far it is.

    Args:
        config: Its configuration.
        seed: Run seed.
        scratchpad: Whether there is a scratchpad.

    Raises:
        SeedError: The seed is no non-negative integer.
    """

    def __init__(self, config: Config, seed: int, *, scratchpad: bool) -> None:
        self._base = YCBenchEnv(config)
        self._env: gym.Env[Any, Any] = ScratchpadMemory(self._base) if scratchpad else self._base
        self.observation: Observation = self._env.reset(seed=seed)[0]
        self.initial_funds_cents = int(self.observation["funds_cents"])
        self.turns = 0
        self.is_over = False

    def play(self, said: Said, time: str = "") -> TurnRecord:
        """Play a turn and return its record.

        Args:
            said: What the policy said.
            time: Wall-clock time, ISO 8601.
        """
        self.observation, reward, terminated, truncated, info = self._env.step(said.action)
        self.turns += 1
        self.is_over = terminated or truncated
        return TurnRecord(
            turn=self.turns,
            action=said.action,
            trace=said.trace,
            results=info["results"],
            events=info["events"],
            reward=float(reward),
            funds_cents=int(self.observation["funds_cents"]),
            funds_delta_cents=info["funds_delta_cents"],
            invalid_commands=info["invalid_commands"],
            forced_advance=info["forced_advance"],
            terminated=terminated,
            truncated=truncated,
            terminal_reason=info["terminal_reason"],
            sim_time=self.observation["sim_time"],
            state_hash=self._base.state_hash(),
            notes_sha256=_notes_hash(self.observation),
            transport=said.transport,
            time=time,
        )


def _notes_hash(observation: Observation) -> str | None:
    """Return the SHA-256 of the notes, None without any."""
    notes = cast("dict[str, object]", observation).get("notes")
    if not isinstance(notes, str) or not notes:
        return None
    return hashlib.sha256(notes.encode("utf-8", "surrogatepass")).hexdigest()


async def ask(policy: Policy, observation: Observation) -> Said:
    """Return what a policy says next.

    Raises:
        PolicyStoppedError: It cannot go on.
        RecordError: What it says is none that a record can hold.
    """
    if not isinstance(policy, DeliberatingPolicy):
        return Said(_action(policy.act(observation)))
    decision = await policy.decide(observation)
    return Said(
        _action(decision.turn),
        cast("JsonObject", plain(dict(decision.trace), "a decision's trace")),
        cast("JsonObject", plain(dict(decision.transport), "a decision's transport")),
    )


def _action(turn: object) -> str | list[Json]:
    """Return a turn as a record holds it, which is also how it is played.

    Raises:
        RecordError: It is neither a text nor a sequence of texts.
    """
    value = plain(turn, "a turn")
    if isinstance(value, str) or (isinstance(value, list) and all(isinstance(item, str) for item in value)):
        return value
    msg = f"a turn: cannot be recorded: got a {type(turn).__name__}, expected a text or a sequence of texts"
    raise RecordError(msg)


def replay_turn(episode: Episode, turn: TurnRecord, policy: Policy | None) -> list[str]:
    """Play a recorded turn again and return what differs, one line each.

    Args:
        episode: The episode up to the turn; afterwards the turn is played in it.
        turn: The record.
        policy: A policy that has been reset and has played the turns before; it is brought to the end of this turn.
            None replays the environment alone.
    """
    differences: list[str] = []
    if episode.is_over:
        differences.append("it comes after the end of the episode")
    if policy is not None:
        differences.extend(_policy_differences(policy, episode.observation, turn))
    played = episode.play(Said(turn.action, turn.trace, turn.transport))
    return [*differences, *turn_differences(turn, played)]


def _policy_differences(policy: Policy, observation: Observation, turn: TurnRecord) -> list[str]:
    """Bring a policy to the end of a recorded turn and return what it would have said otherwise."""
    if isinstance(policy, DeliberatingPolicy) != (turn.trace is not None):
        return ["trace: one of the recorded and the present policy deliberates, the other only acts"]
    try:
        said = _said_again(policy, observation, turn)
    except ValueError as error:
        return [f"trace: {error}"]
    told: object = getattr(policy, "last_trace", turn.trace)  # what a record says of a reply follows from the reply
    return [
        *json_differences(turn.action, _action(said), "action"),
        *json_differences(turn.trace, cast("Json", told), "trace"),
    ]


def _said_again(policy: Policy, observation: Observation, turn: TurnRecord) -> Turn:
    if isinstance(policy, DeliberatingPolicy) and turn.trace is not None:
        return policy.recall(observation, turn.trace)
    return policy.act(observation)


def require_equal(differences: list[str], folder: object, number: int) -> None:
    """Refuse a turn that differs from its record.

    Raises:
        RecordMismatchError: It does.
    """
    if differences:
        msg = f"{folder}: turn {number} is not as it was recorded (recorded | now); start anew in another folder"
        raise RecordMismatchError(msg, differences)
