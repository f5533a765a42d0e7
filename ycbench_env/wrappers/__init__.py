"""Wrappers: what stands between the environment and an agent."""

from ycbench_env.wrappers.scratchpad_memory import ScratchpadMemory

__all__ = ["ScratchpadMemory"]
