"""What tests of language models share."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from strict_server import request_problems

from ycbench_agents.llm.reply import ToolCall


def call(command: str, call_id: str = "") -> ToolCall:
    """A call of the tool with a command."""
    return ToolCall(call_id, "run_command", json.dumps({"command": command}))


def problems(messages: Iterable[Any]) -> list[str]:
    """What strict servers would refuse in a conversation."""
    return request_problems({"model": "m", "messages": list(messages)})
