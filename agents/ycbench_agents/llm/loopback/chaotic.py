"""A model that does whatever models have been seen to do, and yet plays a year to its end."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.llm.loopback.greedy import greedy_commands
from ycbench_agents.llm.loopback.scripted import ScriptedReply, digest, tool_call
from ycbench_agents.llm.loopback.situation import Situation, Tool, read_situation

if TYPE_CHECKING:
    from collections.abc import Callable

    from ycbench_agents.base import Json, JsonObject
    from ycbench_agents.llm.loopback.scripted import Model

__all__ = ["chaotic_model"]

_SENSIBLE: Final = 0.4  # of the turns; the others are chaos
_HUGE: Final = 60_000
_LOOKS: Final = (
    "client list",
    "company status",
    "employee list",
    "finance ledger --limit",
    "market browse --limit 3; client history",
    "scratchpad append --content 'pay is due; don''t'",
    "task inspect --task-id Task-0",
    "task accept --task-id '; rm -rf /'",
    "task cancel --task-id Task-1 --reason \ud800\u0000\u202e",
    "yc-bench market browse --domain \u201cresearch\u201d \u2014limit 2",
    "",
)
_BROKEN_ARGUMENTS: Final[tuple[Json, ...]] = (
    "",
    "null",
    "[]",
    '"sim resume"',
    '{"command": null}',
    '{"command": ["sim", "resume"]}',
    '{"cmd": "sim resume"}',
    '{"command": "sim resume"',
    '{"command": "sim resume"}{"command": "sim resume"}',
    '{"command": "sim resume"}""',
    '{"command": NaN}',
    "[" * 100_000,
    None,
    7,
    ["sim resume"],
)


def chaotic_model(seed: int) -> Model:
    """Return a model whose manners are drawn anew for each request, from the seed and the request alone.

    It mixes sensible turns with broken arguments, unknown tools, ids that repeat or are empty, empty and huge replies,
    replies that were cut off, and contents of other shapes.

    Args:
        seed: Another seed is another model.
    """

    def model(request: JsonObject) -> ScriptedReply:
        rng = random.Random(digest(seed, request))  # noqa: S311 -- a simulation, not a secret
        situation = read_situation(request)
        turn = _Turn(rng, situation, situation.tool or Tool("run_command", "command"))
        if rng.random() < _SENSIBLE:
            return turn.sensible()
        manners = _MANNERS if situation.tool else (*_MANNERS, _Turn.prose, _Turn.open_fence)
        return rng.choice(manners)(turn)

    return model


@attrs.frozen
class _Turn:
    """One turn of the model.

    Args:
        rng: Its draws.
        situation: How things stand.
        tool: The tool it calls; one that is not there, if it should write.
    """

    rng: random.Random
    situation: Situation
    tool: Tool

    def sensible(self) -> ScriptedReply:
        """Play like the greedy model, one call a command."""
        commands = greedy_commands(self.situation)
        if self.situation.tool is None:
            return ScriptedReply("\n".join(commands))
        return ScriptedReply(self.rng.choice([None, "", "Going on."]), self._calls(commands))

    def one_id_for_all(self) -> ScriptedReply:
        """Give each call the same id, which comes back every turn."""
        return ScriptedReply(None, self._calls(greedy_commands(self.situation), ids=lambda _: "call_0"))

    def empty_ids(self) -> ScriptedReply:
        """Give no call an id."""
        return ScriptedReply("", self._calls(greedy_commands(self.situation), ids=lambda _: ""))

    def looks(self) -> ScriptedReply:
        """Ask for much at once, some of it nonsense."""
        return ScriptedReply(None, self._calls([self.rng.choice(_LOOKS) for _ in range(self.rng.randint(1, 8))]))

    def broken_arguments(self) -> ScriptedReply:
        """Send arguments that are none, among good ones."""
        calls = self._calls(greedy_commands(self.situation))
        broken = tool_call("call_broken", self.tool.name, self.rng.choice(_BROKEN_ARGUMENTS))
        calls.insert(self.rng.randint(0, len(calls)), broken)
        return ScriptedReply(None, calls)

    def unknown_tool(self) -> ScriptedReply:
        """Call a tool that is not there."""
        name = self.rng.choice(["bash", "", "functions.run_command", "run command", "x" * 300])
        return ScriptedReply("One moment.", [tool_call("call_1", name, {self.tool.argument: "sim resume"})])

    def nothing(self) -> ScriptedReply:
        """Say nothing at all."""
        return ScriptedReply(self.rng.choice([None, "", " \n"]), self.rng.choice([None, []]))

    def cut_off(self) -> ScriptedReply:
        """Stop in the middle of a call, or of a sentence."""
        calls: list[Json] = [*self._calls(["sim resume"]), tool_call("call_cut", self.tool.name, '{"command": "sim re')]
        return ScriptedReply("I was about to", self.rng.choice([None, calls]), "length")

    def huge(self) -> ScriptedReply:
        """Talk a lot, in text or in a note."""
        text = "All work and no pay \U0001f4b8. " * (_HUGE // 22)
        note = f"scratchpad write --content '{text}'"
        return ScriptedReply(text, self.rng.choice([None, self._calls([note])]))

    def parts(self) -> ScriptedReply:
        """Send the content in parts, with thoughts beside it."""
        content: Json = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "I see."}, "So."]
        return ScriptedReply(content, self._calls(greedy_commands(self.situation)))

    def thoughts(self) -> ScriptedReply:
        """Send reasoning in a field of its own."""
        more: JsonObject = {
            "reasoning_content": "Payroll is near.",
            "reasoning_details": [{"type": "reasoning.text", "text": "Payroll is near."}],
        }
        return ScriptedReply(None, self._calls(greedy_commands(self.situation)), more=more)

    def decoded_arguments(self) -> ScriptedReply:
        """Send arguments as an object instead of its text."""
        function: JsonObject = {"name": self.tool.name, "arguments": {self.tool.argument: "sim resume"}}
        return ScriptedReply(None, [{"id": "call_1", "type": "function", "function": function}])

    def older_interface(self) -> ScriptedReply:
        """Use the call of the older interface."""
        more: JsonObject = {"function_call": {"name": self.tool.name, "arguments": '{"command": "market browse"}'}}
        return ScriptedReply(None, finish_reason="function_call", more=more)

    def no_calls(self) -> ScriptedReply:
        """Send calls that are no objects."""
        return ScriptedReply("Here:", [None, "sim resume", {"id": 7}, {"function": None}])

    def prose(self) -> ScriptedReply:
        """Write two fences with prose around them."""
        return ScriptedReply("First:\n```\nclient list\n```\nthen `sim resume`:\n```sh\nsim resume\n```\nDon't panic.")

    def open_fence(self) -> ScriptedReply:
        """Write a fence that never closes."""
        return ScriptedReply("```\nsim resume\n")

    def _calls(self, commands: list[str], ids: Callable[[int], str] = lambda place: f"call_{place}") -> list[Json]:
        return [
            tool_call(ids(place), self.tool.name, {self.tool.argument: command})
            for place, command in enumerate(commands, start=1)
        ]


_MANNERS: Final[tuple[Callable[[_Turn], ScriptedReply], ...]] = (
    _Turn.one_id_for_all,
    _Turn.empty_ids,
    _Turn.looks,
    _Turn.broken_arguments,
    _Turn.unknown_tool,
    _Turn.nothing,
    _Turn.cut_off,
    _Turn.huge,
    _Turn.parts,
    _Turn.thoughts,
    _Turn.decoded_arguments,
    _Turn.older_interface,
    _Turn.no_calls,
)
