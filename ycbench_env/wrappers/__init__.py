"""Wrappers: what stands between the environment and an agent (docs/wrappers.md)."""

from ycbench_env.wrappers.context_truncation import ContextTruncation, Window, estimate_tokens, gone_marker, window
from ycbench_env.wrappers.scratchpad_memory import ScratchpadMemory
from ycbench_env.wrappers.text_observation import TextObservation

__all__ = [
    "ContextTruncation",
    "ScratchpadMemory",
    "TextObservation",
    "Window",
    "estimate_tokens",
    "gone_marker",
    "window",
]
