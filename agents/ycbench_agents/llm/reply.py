"""From a model's reply to a turn: what is run, in order, and what is refused and why.

- Nothing that a model sends raises, and each of its calls is either run or refused with a text.
- Nothing is run of a reply that was cut off, or of which it is not known that it came to its end.
- Arguments are right exactly or not at all; they are never guessed.
- Each call has an id that is printable, not long, and occurs once, and arguments that are a JSON object.
- The arguments that are sent back are bounded, whatever was sent; what is run is never cut.

A model with tools calls ``run_command``; text beside its calls is not run. A model without tools writes commands as
text. Its thoughts (``<think>...</think>``) are left out first. A text that is nothing but commands is run as it stands.
Else, where there are code fences, each fenced block is run and what is outside of them is not. Else each line is run
that is a command or begins like one (``yc-bench`` or the two words of a command). If a quote goes on beyond such a
line, everything from there to the end is read as one text, so that quoted text never becomes a command.

Source: docs/commands.md.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, NoReturn

import attrs

from ycbench_agents.base import Json, JsonObject
from ycbench_agents.files import structure, unstructure
from ycbench_agents.llm.pricing import TokenUsage
from ycbench_agents.llm.settings import Mode
from ycbench_env.actions import DEFAULT_GRAMMAR, Grammar, parse_turn

RUN_COMMAND: Final = "run_command"
"""Name of the only tool."""

MAX_TEXT_LENGTH: Final = 262_144
"""Longest text or arguments that are read, in characters; longer ones are refused."""
MAX_REPLAYED_CALLS: Final = 128
"""Most calls of one message that the interface takes; further ones of a reply are left out of the conversation."""
MAX_REPLAYED_ARGUMENTS: Final = 65_536
"""Characters that the arguments of a reply's calls have in the conversation; of a call beyond them a part stays."""

# Servers name what went wrong in many ways (length, model_length, error, abort, safety) and what went well in few, so
# whatever is not known to be an end counts as none.
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
_NO_CALL: Final = (
    f"Nothing was run: your reply has no call. Call the tool {RUN_COMMAND} with a command, like "
    f'{{"command": "{_EXAMPLE}"}}; text beside calls is not run.'
)
_NO_COMMAND: Final = (
    f"Nothing was run: your reply has no command. Write one command a line and nothing else, like\n{_EXAMPLE}"
)
_NO_TOOLS: Final = "The calls in your reply were not run: there are no tools here, write commands as text."
_OPEN_FENCE: Final = (
    "Nothing was run: a code fence (```) of your reply never closes. Write commands in one code fence that closes; if "
    "a value holds three backticks, open and close the fence with four."
)
_MAX_SHOWN: Final = 80
_MAX_NAME: Final = 64
_MAX_ID: Final = 256
_MAX_REFUSED_ARGUMENTS: Final = 4_096
_MAX_CUT_COMMAND: Final = 1_000
_MAX_KEYS_SHOWN: Final = 5


# ---------------------------------------------------------------- what a model says


@attrs.frozen
class ToolCall:
    """A call as the model sent it, unchecked.

    Args:
        id: Its id, as sent; may be empty or repeated.
        name: Name of the tool, as sent.
        arguments: Arguments as sent: JSON text where the model keeps to the interface, any JSON value otherwise.
    """

    id: str
    name: str
    arguments: Any


@attrs.frozen
class ChatReply:
    """One reply of a chat model.

    Args:
        content: Its text, None without one.
        tool_calls: Its calls, in order.
        finish_reason: Why it ended: "stop", "tool_calls", "length"; None where the server gives no reason.
        reasoning: Reasoning fields of the message as they were sent, by name.
        usage: Tokens.
        model: Model that the server names.
    """

    content: str | None
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None
    reasoning: dict[str, Any] = attrs.field(factory=dict[str, Any])
    usage: TokenUsage = attrs.field(factory=TokenUsage)
    model: str | None = None


def reply_to_json(reply: ChatReply) -> JsonObject:
    """Return a reply as JSON values that strict JSON and UTF-8 can hold."""
    return clean_json(unstructure(reply))


def reply_from_json(value: Json, place: str = "recorded reply") -> ChatReply:
    """Return the reply that ``reply_to_json`` described.

    Raises:
        FileError: The value describes none; the message names the key.
    """
    return structure(clean_json(value), ChatReply, place)


def clean_json(value: Any, depth: int = 100) -> Any:  # noqa: ANN401 -- JSON values in, JSON values out
    """Return a copy that a file can hold: no lone surrogates, no NaN or infinity, no endless nesting."""
    if isinstance(value, str):
        return _utf8(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list | dict) and depth == 0:
        return "[nested too deep to be kept]"
    if isinstance(value, list):
        return [clean_json(item, depth - 1) for item in value]
    if isinstance(value, dict):
        return {_utf8(str(key)): clean_json(item, depth - 1) for key, item in value.items()}
    return value


def _utf8(text: str) -> str:
    """Return a text that UTF-8 can hold: two halves of a character joined, a lone half replaced by U+FFFD."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


# ---------------------------------------------------------------- what becomes of it


@attrs.frozen
class PlannedCall:
    """One call, and what is done with it.

    Args:
        id: Its id, as sent unless that was empty, taken, long or not printable.
        name: Name of the tool, as sent where the interface allows it.
        arguments: A JSON object to send back: the arguments as sent, or a shorter one where they are long or none.
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
        note: A message for the model besides the answers to its calls, None for none.
    """

    calls: tuple[PlannedCall, ...]
    note: str | None = None

    @property
    def turn(self) -> tuple[str, ...]:
        """The texts to run, in order: the action of the turn."""
        return tuple(text for call in self.calls for text in call.texts)


def run_command_tool() -> JsonObject:
    """Return the tool, in the interface's own form."""
    command = {"type": "string", "description": f"One or several commands, one a line, for instance: {_EXAMPLE}"}
    function: dict[str, Any] = {
        "name": RUN_COMMAND,
        "description": "Run commands of the company's command line and return their answers. It is not a shell.",
        "parameters": {
            "type": "object",
            "properties": {"command": command},
            "required": ["command"],
            "additionalProperties": False,
        },
    }
    return {"type": "function", "function": function}


def parse_reply(reply: ChatReply, *, mode: Mode, max_calls: int, grammar: Grammar = DEFAULT_GRAMMAR) -> Plan:
    """Return what becomes of a reply; never raises. Equal replies give equal plans.

    Args:
        reply: What the model sent.
        mode: Whether the model calls a tool, or writes commands as text.
        max_calls: Most calls, or blocks of text, that are run; further ones are refused.
        grammar: Commands of the environment (``grammar_for(config.world)``), which tell a command from other words.
    """
    reason = reply.finish_reason or ""
    cut_off = None
    if reason.strip().lower() not in _WHOLE:
        cut_off = f"our reply was cut off or broken off (finish_reason {_shown(reason)}), so nothing in it was run. "
        cut_off += "Reply again, more briefly"
    if mode == "tools" and reply.tool_calls:
        return _plan_calls(reply.tool_calls, cut_off and f"y{cut_off}", max_calls)
    if cut_off:
        return Plan((), f"Y{cut_off}.")
    if mode == "tools":
        return Plan((), _NO_CALL)
    unheard = _NO_TOOLS if reply.tool_calls else None
    try:
        blocks = _command_blocks(reply.content or "", grammar)
    except ValueError as unreadable:
        return Plan((), str(unreadable))
    calls: list[PlannedCall] = []
    for number, block in enumerate(blocks, start=1):
        refusal = _over_limit(number, max_calls)
        calls.append(PlannedCall(f"block_{number}", RUN_COMMAND, "{}", () if refusal else block, refusal))
    return Plan(tuple(calls), unheard if calls else unheard or _NO_COMMAND)


def _over_limit(number: int, max_calls: int) -> str | None:
    if number <= max_calls:
        return None
    return f"this is number {number}, and only the first {max_calls} of a reply are run; send it again in the next one"


# ---------------------------------------------------------------- models with tools


def _plan_calls(sent: Sequence[ToolCall], cut_off: str | None, max_calls: int) -> Plan:
    calls = sent[:MAX_REPLAYED_CALLS]
    room = MAX_REPLAYED_ARGUMENTS
    planned: list[PlannedCall] = []
    for number, (call, call_id) in enumerate(zip(calls, _mended_ids([call.id for call in calls]), strict=True), 1):
        refusal, text = cut_off or _over_limit(number, max_calls), ""
        if refusal is None:
            try:
                text = _command(call)
            except ValueError as refused:
                refusal = str(refused)
        arguments = _replayed(call.arguments)
        if refusal is not None and len(arguments) > min(room, _MAX_REFUSED_ARGUMENTS):
            arguments = "{}"
        elif len(arguments) > room:
            cut = f"{text[:_MAX_CUT_COMMAND]}... [cut: {len(text)} characters]"
            arguments = json.dumps({"command": cut}, ensure_ascii=False)
        room = max(0, room - len(arguments))
        name = re.sub(r"[^A-Za-z0-9_-]", "_", call.name)[:_MAX_NAME] or "unnamed"
        planned.append(PlannedCall(call_id, name, arguments, () if refusal else (text,), refusal))
    left_out = len(sent) - len(calls)
    note = f"Your reply had {len(sent)} calls; the last {left_out} were left out and not run."
    return Plan(tuple(planned), note if left_out else None)


def _mended_ids(ids: Sequence[str]) -> list[str]:
    """Return ids of which each is usable and none occurs twice; those that are right already stay."""
    taken, mended = set(ids), list[str]()
    for position, call_id in enumerate(ids, 1):
        usable = call_id
        if not call_id.strip() or not call_id.isprintable() or len(call_id) > _MAX_ID or call_id in mended:
            usable = f"call_{position}"
            while usable in taken:
                usable += "_"
            taken.add(usable)
        mended.append(usable)
    return mended


def _command(call: ToolCall) -> str:
    """Return the text to run; a ValueError names what is not exactly as it should be."""

    def refuse(defect: str, sign: str = ";") -> NoReturn:
        msg = f"{defect}{sign} {_SCHEMA}"
        raise ValueError(msg)

    sent = call.arguments
    if call.name != RUN_COMMAND:
        refuse(f"there is no tool {_shown(call.name)}; the only one is {RUN_COMMAND}", ":")
    if not isinstance(sent, str):
        refuse(f"arguments: got {_kind(sent)} where a text that holds JSON belongs")
    if len(sent) > MAX_TEXT_LENGTH:
        refuse(f"arguments: got {len(sent)} characters, at most {MAX_TEXT_LENGTH} are taken")
    try:
        arguments = _decoded(sent)
    except ValueError as fault:
        refuse(f"arguments: got {_shown(sent)}, which is no JSON ({fault})")
    if not isinstance(arguments, dict):
        refuse(f"arguments: got {_kind(arguments)}")
    if arguments.keys() != {"command"}:
        keys = ", ".join(_shown(key) for key in list(arguments)[:_MAX_KEYS_SHOWN]) or "none"
        refuse(f"arguments: got an object with the keys {keys}")
    command = arguments["command"]
    if not isinstance(command, str):
        refuse(f"command: got {_kind(command)}")
    text = _utf8(command)
    if not parse_turn(text):
        refuse(f"command: got {_shown(text)}, which holds no command")
    return text


def _decoded(arguments: str) -> Json:
    """Return the value of a JSON text, read strictly: no NaN, no key twice; a ValueError names the cause."""

    def refuse(cause: str) -> NoReturn:
        raise ValueError(cause)

    def unique(pairs: list[tuple[str, Json]]) -> JsonObject:
        return found if len(found := dict(pairs)) == len(pairs) else refuse("a key occurs twice")

    def constant(name: str) -> NoReturn:
        refuse(f"{name} is no JSON")

    try:
        return json.loads(arguments, object_pairs_hook=unique, parse_constant=constant)
    except json.JSONDecodeError as fault:
        refuse(f"{fault.msg} at character {fault.pos + 1}")
    except ValueError as fault:
        refuse(str(fault).partition(":")[0])  # of a number with thousands of digits
    except RecursionError:
        refuse("nested too deep")


def _replayed(arguments: Json) -> str:
    """Return arguments that any server can read again: servers decode them, and refuse a request where that fails."""
    try:
        if not isinstance(arguments, str) or len(arguments) > MAX_TEXT_LENGTH:
            return "{}"
        decoded = _decoded(arguments)
        again = json.dumps(decoded, ensure_ascii=False)
    except ValueError:
        return "{}"
    if not isinstance(decoded, dict):
        return "{}"
    # An escaped lone surrogate is legal in JSON's grammar, and strict decoders refuse it.
    return _utf8(arguments) if _utf8(again) == again else _utf8(again)


def _shown(text: str) -> str:
    """Return the beginning of a model's text, quoted, on one line."""
    return json.dumps(_utf8(text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."), ensure_ascii=False)


def _kind(value: Json) -> str:
    names: dict[type, str] = {str: "a text", list: "a list", dict: "an object that is decoded already"}
    return json.dumps(value) if value is None or isinstance(value, bool) else names.get(type(value), "a number")


# ---------------------------------------------------------------- models without tools

_BREAKS: Final = "\n\r\x85\u2028\u2029"  # what ends a line in the commands' own grammar
_LINE: Final = re.compile(rf"[^{_BREAKS}]*+(?:\r\n|[{_BREAKS}])|[^{_BREAKS}]++")
_FENCE: Final = re.compile(r"[ \t]*+(`{3,}+)[^`]*+")
_TAG: Final = "(?:think|thinking|thought|reasoning)"
_THOUGHT: Final = re.compile(rf"^[ \t]*<{_TAG}>.*?(?:</{_TAG}>|\Z)", re.IGNORECASE | re.DOTALL | re.MULTILINE)
_END_OF_THOUGHT: Final = re.compile(
    rf"\A.*(?:^[ \t]*</{_TAG}>|</{_TAG}>[ \t\r]*$)", re.IGNORECASE | re.DOTALL | re.MULTILINE
)


def without_thoughts(content: str) -> str:
    """Return a reply's text without its thoughts.

    A block that begins a line is left out up to its closing tag, or to the end of the text if there is none. A closing
    tag alone, at the beginning or end of a line, takes all that stands before it, since servers often put the opening
    one into the prompt. Other tags are text, and so is everything in a text that is nothing but commands.
    """
    if "<" not in content or _is_commands(content):
        return content
    return _END_OF_THOUGHT.sub("", _THOUGHT.sub("", content))


def _is_commands(text: str, grammar: Grammar = DEFAULT_GRAMMAR) -> bool:
    commands = parse_turn(text, grammar)
    return bool(commands) and all(parsed.error is None for parsed in commands)


def _command_blocks(content: str, grammar: Grammar) -> list[tuple[str, ...]]:
    """Return the blocks of commands of a text, each as texts to run, each text with at least one command.

    Raises:
        ValueError: The text is too long, or a fence in it never closes.
    """
    if len(content) > MAX_TEXT_LENGTH:
        msg = f"Nothing was run: your reply has {len(content)} characters, at most {MAX_TEXT_LENGTH} are read. "
        raise ValueError(msg + "Reply more briefly.")
    content = without_thoughts(_utf8(content))
    if _is_commands(content, grammar):
        return [(content,)]
    lines: list[str] = _LINE.findall(content)
    if any(_FENCE.fullmatch(line.rstrip()) for line in lines):
        return [(block,) for block in _fenced(lines) if parse_turn(block)]
    bare = tuple(_bare(lines, grammar))
    return [bare] if bare else []


def _fenced(lines: Sequence[str]) -> list[str]:
    """Return what stands in each code fence; ValueError where one never closes."""
    blocks: list[str] = []
    body: list[str] = []
    fence = ""
    for line in lines:
        if not fence:
            opened = _FENCE.fullmatch(line.rstrip())
            fence = opened[1] if opened else ""
        elif line.strip().startswith(fence) and not line.strip().strip("`"):
            blocks.append("".join(body))
            body, fence = [], ""
        else:
            body.append(line)
    if fence:
        raise ValueError(_OPEN_FENCE)
    return blocks


def _bare(lines: Sequence[str], grammar: Grammar) -> Iterator[str]:
    """Yield the lines that are commands; from one that does not end with its line on, all the rest at once."""
    verbs = {spec.verb for spec in grammar.commands}
    for index, line in enumerate(lines):
        commands = parse_turn(line, grammar)
        if not commands:
            continue
        words = commands[0].text.split(maxsplit=2)
        if words[:1] != ["yc-bench"] and tuple(words[:2]) not in verbs and not _is_commands(line, grammar):
            continue
        # It goes on where a command on the next line would add none.
        if len(parse_turn(f"{line.rstrip(_BREAKS)}\ntask list")) <= len(parse_turn(line.rstrip(_BREAKS))):
            yield "".join(lines[index:])
            return
        yield line.strip()
