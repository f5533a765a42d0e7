"""Wrappers: what stands between the environment and an agent."""

from ycbench_env.wrappers.scratchpad_memory import ScratchpadMemory
from ycbench_env.wrappers.window import Window, estimate_tokens, gone_marker, window

__all__ = ["ScratchpadMemory", "Window", "estimate_tokens", "gone_marker", "window"]
