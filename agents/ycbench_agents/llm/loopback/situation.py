"""What a scripted model makes of a request: how it can act, and how things stand after the last turn."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ycbench_agents.base import Json, JsonObject

__all__ = ["Situation", "Tool", "read_situation"]

_ACTIVE: Final = re.compile(r"\b(\d{1,9}) active\b")
_EMPLOYEES: Final = re.compile(r"\bemployees: (\d{1,9})\b")
_MOST_READ: Final = 400_000  # characters of the last messages, from their end


@attrs.frozen
class Tool:
    """The tool by which commands are given.

    Args:
        name: Its name.
        argument: Name of its argument that takes the commands.
    """

    name: str
    argument: str


@attrs.frozen
class Situation:
    """How things stand, as far as the messages since the model's last reply tell.

    Args:
        tool: How to act; None for a model that writes commands as text.
        active_tasks: Number of tasks being worked on, None if not told.
        employees: Number of employees, None if not told.
        best_task: First task of the market as listed last, None if none was listed.
    """

    tool: Tool | None
    active_tasks: int | None
    employees: int | None
    best_task: str | None


def read_situation(request: JsonObject) -> Situation:
    """Return what a request tells; anything that is not understood is left out, and nothing raises.

    Only what came after the model's last reply is read, so a window of any size will do.

    Args:
        request: Body of a request.
    """
    text = "\n".join(_latest_texts(request))[-_MOST_READ:]
    answers = list(_json_objects(text))
    active, employees = _status(answers)
    return Situation(
        tool=_tool(request),
        active_tasks=_last_number(_ACTIVE, text) if active is None else active,
        employees=_last_number(_EMPLOYEES, text) if employees is None else employees,
        best_task=_best_task(answers),
    )


def _dicts(value: Json) -> list[JsonObject]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _tool(request: JsonObject) -> Tool | None:
    """Return the first tool that takes a text."""
    for offered in _dicts(request.get("tools")):
        function = offered.get("function")
        if not isinstance(function, dict):
            continue
        schema = function.get("parameters")
        properties = schema.get("properties") if isinstance(schema, dict) else None
        for argument, kind in properties.items() if isinstance(properties, dict) else ():
            if isinstance(kind, dict) and kind.get("type") == "string":
                return Tool(str(function.get("name")), argument)
    return None


def _latest_texts(request: JsonObject) -> Iterator[str]:
    """Yield the texts of all messages after the model's last, without the system's, whose examples tell nothing."""
    messages = _dicts(request.get("messages"))
    last = max((place for place, message in enumerate(messages) if message.get("role") == "assistant"), default=-1)
    for message in messages[last + 1 :]:
        content = message.get("content")
        if message.get("role") != "system":
            yield from [content] if isinstance(content, str) else [str(part.get("text")) for part in _dicts(content)]


def _json_objects(text: str) -> Iterator[JsonObject]:
    """Yield the objects that stand at the beginning of a line, in order, each once."""
    decoder = json.JSONDecoder()
    for line in re.finditer(r"^\s*(?=[{\[])", text, re.MULTILINE):
        try:
            value, _ = decoder.raw_decode(text, line.end())
        except (ValueError, RecursionError):  # cut off
            continue
        yield from _objects_in(value)


def _objects_in(value: Json) -> list[JsonObject]:
    """Return the object itself, or those of a list; an answer may be wrapped as {"output": ...}."""
    objects = [value] if isinstance(value, dict) else _dicts(value)
    return objects + [inner for item in objects for inner in [item.get("output")] if isinstance(inner, dict)]


def _best_task(answers: list[JsonObject]) -> str | None:
    """Return the first task of the last list of the market."""
    for answer in reversed(answers):
        if answer.keys() >= {"total", "offset", "tasks"}:
            ids = [task.get("task_id") for task in _dicts(answer["tasks"])]
            return next((task_id for task_id in ids if isinstance(task_id, str)), None)
    return None


def _status(answers: list[JsonObject]) -> tuple[int | None, int | None]:
    """Return active tasks and employees of the last answer to ``company status``, None where there is none."""
    for answer in reversed(answers):
        tasks = answer.get("tasks")
        if "company_name" in answer and isinstance(tasks, dict):
            active, employees = tasks.get("active"), answer.get("employees")
            return (
                active if isinstance(active, int) else None,
                employees if isinstance(employees, int) else None,
            )
    return None, None


def _last_number(pattern: re.Pattern[str], text: str) -> int | None:
    found = pattern.findall(text)
    return int(found[-1]) if found else None
