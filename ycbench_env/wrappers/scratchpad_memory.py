"""ScratchpadMemory: notes that survive the loss of context."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import attrs
import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs

from ycbench_env.errors import ConfigError, whole_number
from ycbench_env.spaces import UnicodeText
from ycbench_env.text import JsonObject
from ycbench_env.types.command import AppendScratchpad, MemoryCommand, ReadScratchpad, WriteScratchpad
from ycbench_env.wrappers.text_observation import spaces_with_text

DEFAULT_MAX_LENGTH: Final = 32_768
"""Longest notes by default, in characters."""

_HEADING: Final = "\nScratchpad:\n"


def notes_section(notes: str) -> str:
    """Return the part of an observation's text that shows the notes, its last one; nothing without notes."""
    return f"{_HEADING}{notes}" if notes else ""


@attrs.define
class Scratchpad:
    """Notes of at most ``max_length`` characters; answers the scratchpad's commands in their place within a turn."""

    max_length: int
    notes: str = ""

    def answer(self, command: MemoryCommand) -> JsonObject:
        """Carry a command out; one that would make the notes too long is refused and changes nothing."""
        match command:
            case ReadScratchpad():
                notes = self.notes
            case WriteScratchpad():
                notes = command.content
            case AppendScratchpad():
                notes = f"{self.notes}\n{command.content}" if self.notes else command.content
            case _:  # ClearScratchpad
                notes = ""
        if len(notes) > self.max_length:
            msg = (
                f"notes would be {len(notes)} characters long, at most {self.max_length} are kept; nothing was changed"
            )
            return {"error": msg}
        self.notes = notes
        return {"ok": True, "content": notes}


class ScratchpadMemory(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Answers ``scratchpad read|write|append|clear`` and puts the notes into every observation.

    The notes come as ``observation["notes"]`` and at the end of ``observation["text"]``, as they stand at the end of
    the turn. ``reset`` clears them unless called with ``options={"keep_scratchpad": True}``, the benchmark's setting
    of several episodes with one memory. Around a clone of an environment with notes it takes those notes over.
    """

    def __init__(self, env: gym.Env[Any, Any], max_length: int = DEFAULT_MAX_LENGTH) -> None:
        """Wrap an environment.

        Args:
            env: A YCBenchEnv, or one wrapped in anything that keeps its observation a dict.
            max_length: Longest notes, in characters; a longer text is refused.

        Raises:
            ConfigError: There is a scratchpad already, ``max_length`` is no positive integer or too small for the notes
                that a clone has, or the observation is no dict.
        """
        whole_number("max_length", max_length, 1)
        RecordConstructorArgs.__init__(self, max_length=max_length)
        gym.Wrapper.__init__(self, env)
        spaces, text_length = spaces_with_text(env, "ScratchpadMemory")
        base: Any = env.unwrapped
        pad = base.scratchpad or Scratchpad(max_length)
        if base.scratchpad and not (base.scratchpad_is_free and isinstance(pad, Scratchpad)):
            msg = "this environment has a scratchpad already; wrap it in ScratchpadMemory once"
            raise ConfigError(msg)
        if len(pad.notes) > max_length:
            msg = f"max_length: got {max_length}, expected at least {len(pad.notes)}, the length of the clone's notes"
            raise ConfigError(msg)
        base.scratchpad = self._pad = Scratchpad(max_length, pad.notes)
        base.scratchpad_is_free = False
        spaces["text"] = UnicodeText(text_length + len(_HEADING) + max_length)
        spaces["notes"] = UnicodeText(max_length)
        self.observation_space = gym.spaces.Dict(spaces)

    @property
    def notes(self) -> str:
        """The notes as they stand."""
        return self._pad.notes

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start a new episode; notes are cleared unless ``options`` has a true ``keep_scratchpad``."""
        rest = dict(options or {})
        keep = rest.pop("keep_scratchpad", False)
        if not isinstance(keep, bool):
            msg = f"reset option keep_scratchpad: got {keep!r}, expected True or False"
            raise ConfigError(msg)
        observation, info = self.env.reset(seed=seed, options=rest or None)
        if not keep:
            self._pad.notes = ""
        return self._with_notes(observation), info

    def step(self, action: str | Sequence[str]) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Play one turn; see YCBenchEnv.step."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._with_notes(observation), reward, terminated, truncated, info

    def _with_notes(self, observation: dict[str, Any]) -> dict[str, Any]:
        return {**observation, "text": observation["text"] + notes_section(self.notes), "notes": self.notes}
