"""Models that play like the paper's greedy baseline, by calls or in writing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ycbench_agents.llm.loopback.scripted import ScriptedReply, digest, tool_call
from ycbench_agents.llm.loopback.situation import read_situation

if TYPE_CHECKING:
    from ycbench_agents.base import Json, JsonObject
    from ycbench_agents.llm.loopback.situation import Situation

__all__ = ["greedy_commands", "greedy_model", "text_model"]

_LOOK: Final = "market browse --limit 1"  # the market is listed by reward, best first
_STATUS: Final = "company status"
_WAIT: Final = "sim resume"


def greedy_model(request: JsonObject) -> ScriptedReply:
    """Take the best-paid task on the market, put everybody on it, let time pass until it is done.

    Reads nothing but what came since its last reply. With a tool, each command is a call of its own, all in one
    reply; without one, each is a line of text.
    """
    situation = read_situation(request)
    commands = greedy_commands(situation)
    if situation.tool is None:
        return ScriptedReply("\n".join(commands))
    tool = situation.tool
    calls: list[Json] = [
        tool_call(f"call_{number}", tool.name, {tool.argument: command})
        for number, command in enumerate(commands, start=1)
    ]
    return ScriptedReply(None, calls)


def text_model(request: JsonObject) -> ScriptedReply:
    """Play the same in writing: as bare commands, in a code fence, or in a fence with prose around it.

    Which of them is decided by the request alone.
    """
    commands = "\n".join(greedy_commands(read_situation(request)))
    fenced = f"```bash\n{commands}\n```"
    manners = (
        commands,
        fenced,
        f"Let me see what the market has and keep everybody at work.\n\n{fenced}\n\nThen I shall look again.",
        f"<think>sim resume is for later; don't waste time.</think>\n{fenced}",
    )
    return ScriptedReply(manners[int(digest(request), 16) % len(manners)])


def greedy_commands(situation: Situation) -> list[str]:
    """Return the commands of a turn; the last is a look at what the next turn needs to know."""
    if situation.active_tasks is None or situation.employees is None:
        return [_STATUS, _LOOK]
    if situation.active_tasks > 0:
        return [_WAIT, _LOOK]
    best = situation.best_task
    if best is None:
        return [_LOOK]  # the first turn, or nothing to take
    everybody = ",".join(f"Emp_{number}" for number in range(1, situation.employees + 1))
    return [
        f"task accept --task-id {best}",
        f"task assign --task-id {best} --employees {everybody}",
        f"task dispatch --task-id {best}",
        _WAIT,
        _LOOK,
    ]
