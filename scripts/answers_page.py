"""Writes docs/answers.md from answers that the environment gives in three short episodes.

Run it after a change of an answer: ``.venv/bin/python scripts/answers_page.py``.
"""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

import attrs

from ycbench_env import YCBenchEnv
from ycbench_env.actions import DEFAULT_GRAMMAR
from ycbench_env.vocabulary import DOMAINS, LEDGER_CATEGORIES, OWN_STATUSES, TIERS
from ycbench_env.wrappers import ScratchpadMemory

PAGE: Final = Path(__file__).resolve().parent.parent / "docs" / "answers.md"

Say: TypeAlias = Callable[[str], Any]
"""Gives a command and returns its answer."""

_TYPES: Final = {bool: "boolean", int: "integer", float: "number", str: "text", list: "list", dict: "object"}
_CELL: Final = 60  # characters
_CENTS: Final = "cents"
_TIME: Final = "time, ISO 8601"
_TASK: Final = "id of a task"
_LEVEL: Final = "level, 3 places"
_QUANTITY: Final = "work, 4 places"
# Patterns of keys; the first that fits counts.
_UNITS: Final = {
    "error": "what was wrong, and what would be right",
    "help": "lines",
    "*status": f"market, {', '.join(OWN_STATUSES)}",
    "employees[].tier": ", ".join(TIERS),
    "clients[].tier": "Standard, Premium, Enterprise",
    "*category": ", ".join(LEDGER_CATEGORIES),
    "*ref_type": "task, employee",
    "*ref_id": "id of a task, name of an employee",
    "type": "which event it is",
    "checkpoint_event_type": "type of the last event",
    "terminal_reason": "bankruptcy, horizon_end",
    "*].domain": ", ".join(DOMAINS),
    "*specialties[]": ", ".join(DOMAINS),
    "*active_tasks[]": _TASK,
    "*task_id": _TASK,
    "*title": "the same as the id",
    "*month_start": "day, ISO 8601",
    "*_at": _TIME,
    "*_time": _TIME,
    "*deadline": _TIME,
    "horizon_end": _TIME,
    "next_payroll": _TIME,
    "deadline_margin": "hours of the calendar",
    "prestige.<domain>": _LEVEL,
    "prestige_changes.<domain>.delta": "level lost, 3 places",
    "prestige_changes.*": _LEVEL,
    "cancel_penalty_per_domain": _LEVEL,
    "*prestige_delta": _LEVEL,
    "*trust_level": _LEVEL,
    "*trust_delta": _LEVEL,
    "*required_prestige": "level",
    "*required_trust": "level",
    "*skill_boost_pct": "fraction, 4 places",
    "*skill_rates.<domain>": "work in a business hour, 2 places",
    "*progress_pct": "percent, 2 places",
    "*failure_rate_pct": "percent, 1 place",
    "*milestone_pct": "percent",
    "*months_runway": "months, 2 places",
    "*_qty": _QUANTITY,
    "*salary_cents": "cents a month",
    "monthly_payroll_cents": "cents a month",
    "*cents": _CENTS,
    "funds_delta": _CENTS,
    "listed_reward": _CENTS,
    "funds_after": _CENTS,
    "balance_delta": _CENTS,
    "count": "how many follow",
    "total": "all that match",
    "offset": "tasks left out",
    "limit": "tasks at most",
    "wake_events[]": "see Events",
    "tasks.*": "tasks",
    "*tasks_succeeded": "tasks",
    "*tasks_failed": "tasks",
    "employees": "employees",
    "assignment_count": "employees",
    "employees_assigned": "employees",
    "*_assigned[]": "name of an employee",
    "assigned_employees[]": "name of an employee",
    "*].employee": "name of an employee",
    "employees[].name": "name of an employee",
    "clients[].name": "name of a client",
    "*client_name": "name of a client",
    "company_name": "as configured",
    "reason": "as given",
    "content": "the notes",
    "events_processed": "events",
    "payrolls_applied": "payrolls",
}
_PREAMBLE: Final = """# What is answered

<!-- Made by scripts/answers_page.py from answers that the environment gave; change it, or the answers. -->

Every command is answered by one JSON object: in `info["results"]`, as JSON text in the observation, and in its `text`.
The tables show each key with its type, its unit and a value that was really answered. `[]` are the items of a list,
`<domain>` is each of the four domains; "or null" says that there may be nothing to tell. Money is whole cents,
negative where it leaves; levels are those of prestige and trust. Times are simulated ones, without a zone. What may be
asked: [commands.md](commands.md).

In a world without clients (`num_clients = 0`) every `client_name` is null, every `required_trust` 0 and every
`trust_delta` 0.0, and there are no client commands. With hidden skills (`skill_rates_visible = false`) the rows of
`employee list` have no `skill_rates`.
"""


@attrs.define
class _Section:
    """What was answered to one kind of command, or told of one kind of event.

    Attributes:
        types: The types of each path, in the order seen.
        told: The command and the values of the answer that tells most; all examples are from that one.
    """

    types: dict[str, dict[str, None]] = attrs.field(factory=dict[str, dict[str, None]])
    told: tuple[str, dict[str, object]] = ("", {})

    def add(self, command: str, answer: Mapping[str, object]) -> None:
        """Take one more answer in."""
        values: dict[str, object] = {}
        for path, value in _leaves(answer, ""):
            self.types.setdefault(path, {})["null" if value is None else _TYPES[type(value)]] = None
            values.setdefault(path, value)
        if not self.told[0] or _weight(values) > _weight(self.told[1]):
            self.told = (command, values)


def _weight(values: Mapping[str, object]) -> int:
    """Return how many values tell something."""
    return sum(value not in (None, "", 0) for value in values.values())


def _leaves(answer: Mapping[str, object], prefix: str) -> Iterator[tuple[str, object]]:
    """Yield each path of an answer with its value; one path for all domains, and one for all items of a list."""
    for name, value in answer.items():
        path = prefix + ("<domain>" if name in DOMAINS else name)
        if isinstance(value, dict):
            yield from _leaves(value, f"{path}.")
        elif isinstance(value, list):
            yield from _items(path, value)
        else:
            yield path, value


def _items(path: str, items: list[Any]) -> Iterator[tuple[str, object]]:
    """Yield the paths of a list's items."""
    if path.endswith("wake_events"):
        yield f"{path}[]", {}
        return
    for item in items:
        if isinstance(item, dict):
            yield from _leaves(item, f"{path}[].")
        else:
            yield f"{path}[]", item


def answers_page() -> str:
    """Return the page.

    Raises:
        ValueError: A command was refused, or a key has no unit; the message names it.
    """
    answers, events = _Collected(), _Collected()
    for play in (_play_contracts, _play_to_the_horizon, _ask_without_staff):
        play(answers, events)
    names = [spec.name for spec in DEFAULT_GRAMMAR.commands]
    parts = [_PREAMBLE, *[_text(f"## `{name}`", answers.sections[name]) for name in names]]
    parts += [_text("## Help", answers.sections["help"]), _text("## A refusal", answers.sections["refusal"]), _EVENTS]
    parts += [_text(f"### `{name}`", section) for name, section in events.sections.items()]
    return "\n".join(parts)


_EVENTS: Final = """## Events

What happened while time passed is told in the answer to `sim resume` and in `info["events"]` of the turn.
"""


@attrs.define
class _Collected:
    """Sections by their name."""

    sections: dict[str, _Section] = attrs.field(factory=dict[str, _Section])

    def add(self, name: str, command: str, answer: Mapping[str, object]) -> None:
        """Take an answer in."""
        self.sections.setdefault(name, _Section()).add(command, answer)


def _player(world: Mapping[str, object], answers: _Collected, events: _Collected) -> Say:
    """Return what gives commands to a world with some settings of its own, each as a turn, and keeps what it says."""
    loop = {"auto_advance_after_turns": 0}  # so that questions make no time pass
    env = ScratchpadMemory(YCBenchEnv({"world": world, "loop": loop}))
    env.reset(seed=1)

    def say(command: str) -> Any:  # noqa: ANN401 -- JSON
        info: Any = env.step(command)[4]
        (result,) = info["results"]
        words = command.split()
        name = "refusal" if not result["ok"] else "help" if "--help" in words else " ".join(words[:2])
        answers.add(name, command, result["output"])
        for event in info["events"]:
            events.add(event["type"], command, event)
        return result["output"]

    return say


def _play_contracts(answers: _Collected, events: _Collected) -> None:
    """Take three tasks: one is done in time, one is late, one is given up; ask everything on the way."""
    world = {"task_progress_milestones": [0.5], "initial_funds_cents": 10**8, "initial_prestige_level": 2.0}
    say = _player(world, answers, events)
    say("company status")
    say("employee list")
    offers = [task["task_id"] for task in say("market browse --limit 3")["tasks"]]
    say(f"task inspect --task-id {offers[0]}")
    for task_id, team in zip(offers, ("Emp_1", "Emp_4,Emp_6,Emp_7,Emp_8", "Emp_2"), strict=True):
        say(f"task accept --task-id {task_id}")
        say(f"task assign --task-id {task_id} --employees {team}")
        say(f"task dispatch --task-id {task_id}")
    say(f'task cancel --task-id {offers[2]} --reason "out of time"')
    while say("task list --status active")["count"]:
        say("sim resume")
        say("employee list")
    for task_id in offers:
        say(f"task inspect --task-id {task_id}")
    for question in ("task list", "client list", "client history", "finance ledger", "report monthly"):
        say(question)
    say("report monthly --from-month 2025-02")
    for verb in ("write --content 'Emp_4 is fast.'", "append --content 'Avoid traps.'", "read", "clear"):
        say(f"scratchpad {verb}")
    say("task accept --help")
    say("task accept --task-id Task-404")


def _play_to_the_horizon(answers: _Collected, events: _Collected) -> None:
    """Work on one task that never ends, and ask after the last payroll."""
    quantity = {"type": "constant", "value": 100_000}
    world = {"initial_funds_cents": 10**9, "dist": {"required_qty": quantity}}
    say = _player(world, answers, events)
    task_id = say("market browse --limit 1")["tasks"][0]["task_id"]
    say(f"task accept --task-id {task_id}")
    say(f"task assign --task-id {task_id} --employees Emp_1")
    say(f"task dispatch --task-id {task_id}")
    while say("company status")["next_payroll"] is not None:
        say("sim resume")
    say("sim resume")


def _ask_without_staff(answers: _Collected, events: _Collected) -> None:
    """Ask a company without payroll how long its money lasts."""
    _player({"num_employees": 0}, answers, events)("company status")


def _text(heading: str, section: _Section) -> str:
    """Return a section of the page."""
    command, values = section.told
    lead = "" if heading.startswith("###") else f"Example: `{command}`\n\n"
    rows = [
        f"| `{path}` | {_type(types)} | {_unit(path, types)} | {_shown(values.get(path))} |"
        for path, types in section.types.items()
    ]
    return "\n".join([f"{heading}\n\n{lead}| key | type | unit | example |", "|---|---|---|---|", *rows, ""])


def _type(types: Iterable[str]) -> str:
    return " or ".join(sorted(types, key=lambda name: name == "null"))


def _unit(path: str, types: Iterable[str]) -> str:
    """Return the unit of a key, or the words that it may hold.

    Raises:
        ValueError: It has none and is no boolean.
    """
    for pattern, unit in _UNITS.items():
        if fnmatch.fnmatchcase(path, pattern.replace("[]", "[[]]")):
            return unit
    if "boolean" not in types:
        msg = f"{path} ({_type(types)}) needs a unit in _UNITS of {Path(__file__).name}"
        raise ValueError(msg)
    return ""


def _shown(value: object) -> str:
    """Return a value for a cell, cut where it is long; nothing for a whole event."""
    if value == {}:
        return ""
    text = json.dumps(value, ensure_ascii=False).replace("|", "\\|")
    return f"`{text}`" if len(text) <= _CELL else f"`{text[:_CELL]}`..."


if __name__ == "__main__":
    PAGE.write_text(answers_page(), encoding="utf-8", newline="\n")
