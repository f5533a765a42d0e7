"""From a model's reply to a plan: what is run, in order, and what is refused and why.

Invariants, each of them a test:

- Nothing that a model sends raises, and each of its calls is either run or refused with a text.
- Nothing is run of a reply that did not come to its end, or of which it is not known that it did.
- What is refused is never run; arguments are right exactly or not at all, and are never guessed.
- Each call of a plan has an id that is printable, not long, and occurs once, and arguments that are a JSON object.
- The arguments that are sent back have at most ``MAX_REPLAYED_ARGUMENTS`` characters and a few more for each call,
  whatever was sent; what is run is never cut.

A model with tools calls ``run_command``; text beside its calls is not run. A model without writes commands as text, see
``text_commands``.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, Literal, NoReturn

import attrs

from ycbench_agents.llm.characters import utf8_text
from ycbench_agents.llm.text_commands import MAX_TEXT_LENGTH, UnreadableTextError, command_blocks
from ycbench_env.actions import DEFAULT_GRAMMAR, parse_turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ycbench_agents.base import Json, JsonObject
    from ycbench_agents.llm.message import ChatReply, ToolCall
    from ycbench_env.actions import Grammar

__all__ = [
    "MAX_REPLAYED_ARGUMENTS",
    "MAX_REPLAYED_CALLS",
    "RUN_COMMAND",
    "Plan",
    "PlannedCall",
    "plan_reply",
    "run_command_tool",
]

RUN_COMMAND: Final = "run_command"
"""Name of the only tool."""

MAX_REPLAYED_CALLS: Final = 128
"""Most calls of one message that the interface takes; further ones of a reply are left out of the conversation."""

MAX_REPLAYED_ARGUMENTS: Final = 65_536
"""Characters that the arguments of a reply's calls have in the conversation; what no longer fits is counted."""

# Servers name what went wrong in many ways (length, model_length, max_output_tokens, error, abort, safety) and what
# went well in few, so whatever is not known to be an end counts as none.
_WHOLE: Final = frozenset(
    {
        *("", "stop", "stopped", "stop_sequence", "eos", "eos_token", "end_turn", "complete", "completed"),
        *("tool_calls", "tool_call", "tool_use", "function_call", "function_calls"),
    }
)
_EXAMPLE: Final = "market browse --limit 5"
_SCHEMA: Final = (
    f'expected one JSON object with the only key "command", a text, like {{"command": "{_EXAMPLE}"}}. Nothing of this '
    "call was run"
)
_CUT_OFF_REPLY: Final = (
    "your reply was cut off or broken off (finish_reason {reason}), so nothing in it was run. Reply again, more briefly"
)
_NO_CALL: Final = (
    f"Nothing was run: your reply has no call. Call the tool {RUN_COMMAND} with a command, like "
    f'{{"command": "{_EXAMPLE}"}}; text beside calls is not run.'
)
_NO_COMMAND: Final = (
    f"Nothing was run: your reply has no command. Write one command a line and nothing else, like\n{_EXAMPLE}"
)
_NO_TOOLS: Final = "The calls in your reply were not run: there are no tools here, write commands as text."
_MAX_SHOWN: Final = 80
_MAX_NAME: Final = 64
_MAX_ID: Final = 256
_MAX_REFUSED_ARGUMENTS: Final = 4_096
_ROOM_FOR_CUT: Final = 64  # for what is said of a cut, and the JSON around it
_MAX_KEYS_SHOWN: Final = 5
_NAME: Final = re.compile(r"[^A-Za-z0-9_-]")


class _RefusedError(Exception):
    """A call or a reply is refused; the text says why. Never leaves this module."""


@attrs.frozen
class PlannedCall:
    """One call, and what is done with it.

    Args:
        id: Its id, as sent unless that was empty, taken, long or not printable.
        name: Name of the tool, as sent where the interface allows it.
        arguments: Its arguments as they are sent back: as sent where they are a JSON object that is not too long, a
            shorter one otherwise.
        texts: Texts to run, each with at least one command; empty for a refused call.
        refusal: Why it is refused, None for a call that is run.
    """

    id: str
    name: str
    arguments: str
    texts: tuple[str, ...]
    refusal: str | None


@attrs.frozen
class Plan:
    """What becomes of a reply.

    Args:
        calls: Its calls, in order; those of a model without tools are its blocks of commands.
        note: What the model is told besides the answers to its calls, None for nothing.
    """

    calls: tuple[PlannedCall, ...]
    note: str | None = None

    @property
    def turn(self) -> tuple[str, ...]:
        """The texts to run, in order."""
        return tuple(text for call in self.calls for text in call.texts)


def run_command_tool() -> JsonObject:
    """Return the tool, in the interface's own form."""
    command: JsonObject = {
        "type": "string",
        "description": f"One or several commands, one a line, for instance: {_EXAMPLE}",
    }
    parameters: JsonObject = {
        "type": "object",
        "properties": {"command": command},
        "required": ["command"],
        "additionalProperties": False,
    }
    description = "Run commands of the company's command line and return their answers. It is not a shell."
    return {
        "type": "function",
        "function": {"name": RUN_COMMAND, "description": description, "parameters": parameters},
    }


def plan_reply(
    reply: ChatReply, *, mode: Literal["tools", "text"], max_calls: int, grammar: Grammar = DEFAULT_GRAMMAR
) -> Plan:
    """Return what becomes of a reply; never raises.

    Args:
        reply: What the model sent.
        mode: Whether the model calls a tool, or writes commands as text.
        max_calls: Most calls, or blocks of text, that are run; further ones are refused.
        grammar: Commands of the environment, by which those in a text are told from other words.
    """
    reason = reply.finish_reason or ""
    cut_off = None if reason.strip().lower() in _WHOLE else _CUT_OFF_REPLY.format(reason=_shown(reason))
    if mode == "tools":
        return _plan_calls(reply, cut_off, max_calls)
    return _plan_text(reply, cut_off, max_calls, grammar)


# ---- models with tools


def _plan_calls(reply: ChatReply, cut_off: str | None, max_calls: int) -> Plan:
    calls = reply.tool_calls[:MAX_REPLAYED_CALLS]
    ids = _mended_ids([call.id for call in calls])
    refusals = [cut_off or _over_limit(number, max_calls) for number in range(1, len(calls) + 1)]
    planned = _with_room(map(_planned, calls, ids, refusals))
    if not planned:
        return Plan((), _sentence(cut_off) if cut_off else _NO_CALL)
    left_out = len(reply.tool_calls) - len(calls)
    note = f"Your reply had {len(reply.tool_calls)} calls; the last {left_out} were left out and not run."
    return Plan(planned, note if left_out else None)


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _over_limit(number: int, max_calls: int) -> str | None:
    if number <= max_calls:
        return None
    return f"this is number {number}, and only the first {max_calls} of a reply are run; send it again in the next one"


def _planned(call: ToolCall, call_id: str, refusal: str | None) -> PlannedCall:
    text = ""
    if refusal is None:
        try:
            text = _command(call)
        except _RefusedError as refused:
            refusal = str(refused)
    name = _NAME.sub("_", call.name)[:_MAX_NAME] or "unnamed"
    return PlannedCall(call_id, name, _replayed(call.arguments), () if refusal else (text,), refusal)


def _with_room(calls: Iterable[PlannedCall]) -> tuple[PlannedCall, ...]:
    """Return calls whose arguments can all be sent back in one request."""
    room = MAX_REPLAYED_ARGUMENTS
    fitting: list[PlannedCall] = []
    for call in calls:
        arguments = _fitting(call, room)
        fitting.append(attrs.evolve(call, arguments=arguments))
        room = max(0, room - len(arguments))
    return tuple(fitting)


def _fitting(call: PlannedCall, room: int) -> str:
    """Return the arguments of a call, cut where they are longer than the room that is left."""
    if call.refusal is not None:
        return call.arguments if len(call.arguments) <= min(room, _MAX_REFUSED_ARGUMENTS) else "{}"
    if len(call.arguments) <= room:
        return call.arguments
    command = "\n".join(call.texts)
    kept = max(0, room - _ROOM_FOR_CUT)
    while True:
        said = f"{command[:kept]}... [cut: {len(command) - kept} characters more]"
        arguments = json.dumps({"command": said}, ensure_ascii=False)
        if len(arguments) <= room or not kept:
            return arguments
        kept //= 2  # escapes take more room than what they stand for


def _mended_ids(ids: Sequence[str]) -> list[str]:
    """Return ids of which each is usable and none occurs twice; those that are right already stay."""
    sent = [utf8_text(call_id) for call_id in ids]
    taken, mended = set(sent), set[str]()
    for position, call_id in enumerate(sent):
        if not call_id.strip() or not call_id.isprintable() or len(call_id) > _MAX_ID or call_id in mended:
            sent[position] = _free_id(f"call_{position + 1}", taken)
            taken.add(sent[position])
        mended.add(sent[position])
    return sent


def _free_id(wanted: str, taken: set[str]) -> str:
    while wanted in taken:
        wanted += "_"
    return wanted


def _command(call: ToolCall) -> str:
    """Return the text to run.

    Raises:
        _RefusedError: The call is not exactly as it should be.
    """
    if call.name != RUN_COMMAND:
        _refuse(f"there is no tool {_shown(call.name)}; the only one is {RUN_COMMAND}: {_SCHEMA}")
    if not isinstance(call.arguments, str):
        _refuse(f"arguments: got {_kind(call.arguments)} where a text that holds JSON belongs; {_SCHEMA}")
    if len(call.arguments) > MAX_TEXT_LENGTH:
        _refuse(f"arguments: got {len(call.arguments)} characters, at most {MAX_TEXT_LENGTH} are taken; {_SCHEMA}")
    try:
        decoded = _decoded(call.arguments)
    except (ValueError, RecursionError) as fault:
        _refuse(f"arguments: got {_shown(call.arguments)}, which is no JSON ({_cause(fault)}); {_SCHEMA}")
    if not isinstance(decoded, dict):
        _refuse(f"arguments: got {_kind(decoded)}; {_SCHEMA}")
    return _checked_command(decoded)


def _checked_command(arguments: JsonObject) -> str:
    if arguments.keys() != {"command"}:
        keys = ", ".join(_shown(key) for key in list(arguments)[:_MAX_KEYS_SHOWN]) or "none"
        _refuse(f"arguments: got an object with the keys {keys}; {_SCHEMA}")
    command = arguments["command"]
    if not isinstance(command, str):
        _refuse(f"command: got {_kind(command)}; {_SCHEMA}")
    text = utf8_text(command)
    if not parse_turn(text):
        _refuse(f"command: got {_shown(text)}, which holds no command; {_SCHEMA}")
    return text


def _refuse(message: str) -> NoReturn:
    raise _RefusedError(message)


def _decoded(arguments: str) -> Json:
    """Return the value of a JSON text, read strictly: no NaN, no key twice."""
    return json.loads(arguments, object_pairs_hook=_unique, parse_constant=_no_constant)


def _unique(pairs: list[tuple[str, Json]]) -> JsonObject:
    found = dict(pairs)
    if len(found) < len(pairs):
        msg = "a key occurs twice"
        raise ValueError(msg)
    return found


def _no_constant(name: str) -> NoReturn:
    msg = f"{name} is no JSON"
    raise ValueError(msg)


def _cause(fault: ValueError | RecursionError) -> str:
    if isinstance(fault, json.JSONDecodeError):
        return f"{fault.msg} at character {fault.pos + 1}"
    return "nested too deep" if isinstance(fault, RecursionError) else str(fault).partition(":")[0]


def _replayed(arguments: Json) -> str:
    """Return arguments that any server can read again: servers decode them, and refuse a request where that fails."""
    if not isinstance(arguments, str) or len(arguments) > MAX_TEXT_LENGTH:
        return "{}"
    try:
        decoded = _decoded(arguments)
        if not isinstance(decoded, dict):
            return "{}"
        again = json.dumps(decoded, ensure_ascii=False)
    except (ValueError, RecursionError):
        return "{}"
    # A lone surrogate is legal in JSON's grammar, and strict decoders refuse it.
    return arguments if utf8_text(again) == again and arguments == utf8_text(arguments) else utf8_text(again)


def _shown(text: str) -> str:
    """Return the beginning of a model's text, quoted, on one line."""
    shown = utf8_text(text)
    return json.dumps(shown if len(shown) <= _MAX_SHOWN else f"{shown[:_MAX_SHOWN]}...", ensure_ascii=False)


def _kind(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return "a text"
        case list():
            return "a list"
        case dict():
            return "an object that is decoded already"
        case _:
            return "a number"


# ---- models without


def _plan_text(reply: ChatReply, cut_off: str | None, max_calls: int, grammar: Grammar) -> Plan:
    if cut_off:
        return Plan((), _sentence(cut_off))
    unheard = _NO_TOOLS if reply.tool_calls else None
    try:
        blocks = command_blocks(reply.content or "", grammar)
    except UnreadableTextError as unreadable:
        return Plan((), str(unreadable))
    calls = tuple(_planned_block(number, block, max_calls) for number, block in enumerate(blocks, start=1))
    return Plan(calls, unheard if calls else unheard or _NO_COMMAND)


def _planned_block(number: int, texts: tuple[str, ...], max_calls: int) -> PlannedCall:
    refusal = _over_limit(number, max_calls)
    return PlannedCall(f"block_{number}", RUN_COMMAND, "{}", () if refusal else texts, refusal)
