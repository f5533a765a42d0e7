"""From a server's JSON to a reply, and from a reply to a turn: what is run, in order, and what is refused and why.

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

from ycbench_agents.files import structure, unstructure
from ycbench_agents.llm.pricing import TokenUsage
from ycbench_agents.llm.settings import REASONING_FIELDS, Mode
from ycbench_env.actions import DEFAULT_GRAMMAR, Grammar, parse_turn
from ycbench_env.text import Json, JsonObject

RUN_COMMAND: Final = "run_command"
"""Name of the only tool."""

MAX_TEXT_LENGTH: Final = 262_144
"""Longest text or arguments that are read, in characters; longer ones are refused."""
MAX_REPLAYED_CALLS: Final = 128
"""Most calls of one message that the interface takes; further ones of a reply are left out of the conversation."""
MAX_REPLAYED_ARGUMENTS: Final = 65_536
"""Characters that the arguments of a reply's calls have in the conversation; of a call beyond them a part stays."""

_MAX_REFUSED_ARGUMENTS: Final = 4_096
_MAX_CUT_COMMAND: Final = 1_000
_MAX_ID: Final = 256
_MAX_SHOWN: Final = 80


# ---------------------------------------------------------------- a reply, and the server's JSON that holds it


@attrs.frozen
class ToolCall:
    """One call of a reply, as sent."""

    id: str  # may be empty or repeated
    name: str
    arguments: Any  # JSON text where the model keeps to the interface, any JSON value otherwise


@attrs.frozen
class ChatReply:
    """One reply of a chat model."""

    content: str | None
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None  # "stop", "tool_calls", "length"; None where the server gives none
    reasoning: dict[str, Any] = attrs.field(factory=dict[str, Any])  # by the name of its field, as sent
    usage: TokenUsage = attrs.field(factory=TokenUsage)
    model: str | None = None  # as the server names it


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


def find(value: Json, *path: str | int) -> Any:  # noqa: ANN401 -- a JSON value
    """Return what stands at a path of keys and places, None where there is nothing."""
    for step in path:
        try:
            value = value[step] if isinstance(value, dict | list) else None  # pyright: ignore[reportArgumentType, reportCallIssue] -- an error if it does not fit
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None


def read_reply(body: Json) -> ChatReply | None:
    """Return the reply in the body of an answer, whatever its fields hold; None for an error or where there is none."""
    choice = find(body, "choices", 0)
    message = find(choice, "message")
    if not isinstance(message, dict) or find(choice, "error") or find(body, "error"):
        return None
    content: Any = message.get("content")
    if isinstance(content, list | dict):  # parts; those of other kinds, such as thoughts, have no text
        parts = content if isinstance(content, list) else [content]
        content = "".join(_text(part) or _text(find(part, "text")) or "" for part in parts)
    elif content is None:
        content = _text(message.get("refusal"))
    elif not isinstance(content, str):
        content = json.dumps(content)
    calls: Any = message.get("tool_calls")
    legacy = message.get("function_call")
    if not isinstance(calls, list):
        calls = [calls] if isinstance(calls, dict) else []
    if not calls and isinstance(legacy, dict):
        calls = [{"function": legacy}]
    return ChatReply(
        content=content,
        tool_calls=tuple(map(_read_call, calls)),
        finish_reason=_text(find(choice, "finish_reason")),
        reasoning={name: message[name] for name in REASONING_FIELDS if message.get(name) is not None},
        usage=read_usage(find(body, "usage")),
        model=_text(find(body, "model")),
    )


def _read_call(call: Json) -> ToolCall:
    """Return a call; one that is no call at all keeps its place, with what was sent as its arguments."""
    if not isinstance(call, dict):
        return ToolCall("", "", call)
    inner = call.get("function") or call.get("custom") or call
    arguments, call_id = find(inner, "arguments"), call.get("id")
    return ToolCall(
        id=str(call_id) if type(call_id) in (str, int) else "",  # some servers count
        name=_text(find(inner, "name")) or "",
        arguments=find(inner, "input") if arguments is None else arguments,
    )


def read_usage(usage: Json) -> TokenUsage:
    """Return the tokens that an answer's ``usage`` reports; never raises.

    A figure that is missing or no count is unknown. So is a whole that is smaller than its part, or smaller than the
    total leaves for it: such a server counts in another way. Where the total shows that reasoning was counted beside
    the completion (xAI), it is added to it.
    """

    def count(*paths: str) -> int | None:
        """Return the first count among dotted paths: each server has its own name for it."""
        values = (find(usage, *path.split(".")) for path in paths)
        return next((value for value in values if type(value) is int and 0 <= value < 2**63), None)

    prompt, completion, total = count("prompt_tokens"), count("completion_tokens"), count("total_tokens")
    cached = count("prompt_tokens_details.cached_tokens", "prompt_cache_hit_tokens", "cached_tokens")
    reasoning = count("completion_tokens_details.reasoning_tokens", "reasoning_tokens")
    if prompt is not None and completion is not None and total is not None and total > prompt + completion:
        completion = completion + reasoning if reasoning and total == prompt + completion + reasoning else None
    elif completion is not None and reasoning is not None and reasoning > completion:
        completion = None
    if prompt is not None and cached is not None and cached > prompt:
        prompt = None
    return TokenUsage(prompt, completion, cached, reasoning)


# ---------------------------------------------------------------- what becomes of a reply


@attrs.frozen
class PlannedCall:
    """One call, and what is done with it."""

    id: str  # as sent unless that was empty, taken, long or not printable
    name: str  # as sent where the interface allows it
    arguments: str  # a JSON object to send back: as sent, or a shorter one where that was long or none
    texts: tuple[str, ...]  # to run, each with at least one command; empty for a refused call
    refusal: str | None


@attrs.frozen
class Plan:
    """What becomes of a reply."""

    calls: tuple[PlannedCall, ...]  # those of a model without tools are its blocks of commands
    note: str | None = None  # for the model, besides the answers to its calls

    @property
    def turn(self) -> tuple[str, ...]:
        """The texts to run, in order: the action of the turn."""
        return tuple(text for call in self.calls for text in call.texts)


# Servers name what went wrong in many ways (length, model_length, error, abort, safety) and what went well in few, so
# whatever is not known to be an end counts as none.
_WHOLE: Final = frozenset(
    {
        *("", "stop", "stopped", "stop_sequence", "eos", "eos_token", "end_turn", "complete", "completed"),
        *("tool_calls", "tool_call", "tool_use", "function_call", "function_calls"),
    }
)
_EXAMPLE: Final = "market browse --limit 5"
_CALL_EXAMPLE: Final = f'{{"command": "{_EXAMPLE}"}}'
_SCHEMA: Final = (
    f'expected one JSON object with the only key "command", a text, like {_CALL_EXAMPLE}. Nothing of this call was run'
)
_NO_CALL: Final = (
    f"Nothing was run: your reply has no call. Call the tool {RUN_COMMAND} with a command, like {_CALL_EXAMPLE}; text "
    "beside calls is not run."
)
_NO_COMMAND: Final = (
    f"Nothing was run: your reply has no command. Write one command a line and nothing else, like\n{_EXAMPLE}"
)
_NO_TOOLS: Final = "The calls in your reply were not run: there are no tools here, write commands as text."
_OPEN_FENCE: Final = (
    "Nothing was run: a code fence (```) of your reply never closes. Write commands in one code fence that closes; if "
    "a value holds three backticks, open and close the fence with four."
)


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
    reason, cut_off = reply.finish_reason or "", ""
    if reason.strip().lower() not in _WHOLE:
        cut_off = f"our reply was cut off or broken off (finish_reason {_shown(reason)}), so nothing in it was run. "
        cut_off += "Reply again, more briefly"
    if mode == "tools" and reply.tool_calls:
        return _plan_calls(reply.tool_calls, cut_off and f"y{cut_off}", max_calls)
    if cut_off:
        return Plan((), f"Y{cut_off}.")
    if mode == "tools":
        return Plan((), _NO_CALL)
    try:
        blocks = _command_blocks(reply.content or "", grammar)
    except ValueError as unreadable:
        return Plan((), str(unreadable))
    calls: list[PlannedCall] = []
    for number, block in enumerate(blocks, start=1):
        refusal = _over_limit(number, max_calls) or None
        calls.append(PlannedCall(f"block_{number}", RUN_COMMAND, "{}", () if refusal else block, refusal))
    return Plan(tuple(calls), _NO_TOOLS if reply.tool_calls else None if calls else _NO_COMMAND)


def _over_limit(number: int, max_calls: int) -> str:
    if number <= max_calls:
        return ""
    return f"this is number {number}, and only the first {max_calls} of a reply are run; send it again in the next one"


def _shown(text: str) -> str:
    """Return the beginning of a model's text, quoted, on one line."""
    return json.dumps(_utf8(text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."), ensure_ascii=False)


# ---------------------------------------------------------------- models with tools


def _plan_calls(sent: Sequence[ToolCall], cut_off: str, max_calls: int) -> Plan:
    taken = {call.id for call in sent[:MAX_REPLAYED_CALLS]}
    planned: dict[str, PlannedCall] = {}
    room = MAX_REPLAYED_ARGUMENTS
    for number, call in enumerate(sent[:MAX_REPLAYED_CALLS], start=1):
        call_id = call.id
        if not call_id.strip() or not call_id.isprintable() or len(call_id) > _MAX_ID or call_id in planned:
            call_id = f"call_{number}"
            while call_id in taken:
                call_id += "_"
            taken.add(call_id)
        value, arguments, defect = _read_arguments(call.arguments)
        text = ""
        refusal = cut_off or _over_limit(number, max_calls)
        if not refusal:
            text, refusal = _command(call.name, value, defect)
        if refusal and len(arguments) > min(room, _MAX_REFUSED_ARGUMENTS):
            arguments = "{}"
        elif len(arguments) > room:
            cut = f"{text[:_MAX_CUT_COMMAND]}... [cut: {len(text)} characters]"
            arguments = json.dumps({"command": cut}, ensure_ascii=False)
        room = max(0, room - len(arguments))
        name = re.sub(r"[^A-Za-z0-9_-]", "_", call.name)[:64] or "unnamed"
        planned[call_id] = PlannedCall(call_id, name, arguments, () if refusal else (text,), refusal or None)
    left_out = len(sent) - len(planned)
    note = f"Your reply had {len(sent)} calls; the last {left_out} were left out and not run."
    return Plan(tuple(planned.values()), note if left_out else None)


def _read_arguments(sent: Json) -> tuple[Json, str, str]:
    """Return arguments decoded strictly, arguments that any server can read again, and what is wrong if anything is.

    Servers decode what is sent back, and refuse a request where that fails.
    """
    if not isinstance(sent, str):
        return None, "{}", f"arguments: got {_kind(sent)} where a text that holds JSON belongs"
    if len(sent) > MAX_TEXT_LENGTH:
        return None, "{}", f"arguments: got {len(sent)} characters, at most {MAX_TEXT_LENGTH} are taken"

    def unique(pairs: list[tuple[str, Json]]) -> JsonObject:
        if len(found := dict(pairs)) < len(pairs):
            msg = "a key occurs twice"
            raise ValueError(msg)
        return found

    def constant(name: str) -> NoReturn:
        msg = f"{name} is no JSON"
        raise ValueError(msg)

    try:
        value: Json = json.loads(sent, object_pairs_hook=unique, parse_constant=constant)
        again = json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else "{}"
    except json.JSONDecodeError as fault:
        cause = f"{fault.msg} at character {fault.pos + 1}"
    except ValueError as fault:
        cause = str(fault).partition(":")[0]  # of a number with thousands of digits
    except RecursionError:
        cause = "nested too deep"
    else:
        # An escaped lone surrogate is legal in JSON's grammar, and strict decoders refuse it.
        is_plain = isinstance(value, dict) and _utf8(again) == again
        return value, _utf8(sent if is_plain else again), ""
    return None, "{}", f"arguments: got {_shown(sent)}, which is no JSON ({cause})"


def _command(tool: str, arguments: Json, defect: str) -> tuple[str, str]:
    """Return the text to run and why it is refused, one of them empty."""
    text = ""
    if tool != RUN_COMMAND:
        return "", f"there is no tool {_shown(tool)}; the only one is {RUN_COMMAND}: {_SCHEMA}"
    if not isinstance(arguments, dict):
        defect = defect or f"arguments: got {_kind(arguments)}"
    elif arguments.keys() != {"command"}:
        keys = ", ".join(_shown(key) for key in list(arguments)[:5]) or "none"
        defect = f"arguments: got an object with the keys {keys}"
    elif not isinstance(arguments["command"], str):
        defect = f"command: got {_kind(arguments['command'])}"
    elif not parse_turn(text := _utf8(arguments["command"])):
        defect = f"command: got {_shown(text)}, which holds no command"
    return ("", f"{defect}; {_SCHEMA}") if defect else (text, "")


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
