"""Wrappers: what stands between the environment and an agent (docs/wrappers.md)."""

from ycbench_env.wrappers.context_truncation import ContextTruncation
from ycbench_env.wrappers.scratchpad_memory import ScratchpadMemory
from ycbench_env.wrappers.text_observation import TextObservation
from ycbench_env.wrappers.turn_window import Window, estimate_tokens, gone_marker, window

__all__ = [
    "ContextTruncation",
    "ScratchpadMemory",
    "TextObservation",
    "Window",
    "estimate_tokens",
    "gone_marker",
    "window",
]
