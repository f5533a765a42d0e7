"""Runs as they are played: on a terminal a screen that moves, elsewhere a line for each turn."""

from ycbench_agents.cli.old_live.view import Watcher, live_view

__all__ = ["Watcher", "live_view"]
