"""Writes docs/answers.md from answers that the environment gives in three short episodes.

Run it after a change of an answer: ``.venv/bin/python scripts/answers_page.py``.
"""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

from pages import DOCS, table, write

from ycbench_env import YCBenchEnv
from ycbench_env.actions import DEFAULT_GRAMMAR
from ycbench_env.vocabulary import DOMAINS, LEDGER_CATEGORIES, OWN_STATUSES, TIERS
from ycbench_env.wrappers import ScratchpadMemory

PAGE: Final = DOCS / "answers.md"

Answers: TypeAlias = dict[str, list[tuple[str, Mapping[str, object]]]]
"""Each command given and its answer, or the event it caused, by the title of their table."""

_TYPES: Final[dict[type, str]] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "text",
    list: "list",
    dict: "object",
}
_CELL: Final = 60  # characters
_DOMAINS: Final = ", ".join(DOMAINS)
# Unit, or words that may stand there, and patterns of its keys; the first that fits counts.
_UNITS: Final = (
    ("what was wrong, and what would be right", "error"),
    ("lines", "help"),
    (f"market, {', '.join(OWN_STATUSES)}", "*status"),
    (", ".join(TIERS), "employees[].tier"),
    ("Standard, Premium, Enterprise", "clients[].tier"),
    (", ".join(LEDGER_CATEGORIES), "*category"),
    ("task, employee", "*ref_type"),
    ("id of a task, name of an employee", "*ref_id"),
    ("which event it is", "type"),
    ("type of the last event", "checkpoint_event_type"),
    ("bankruptcy, horizon_end", "terminal_reason"),
    (_DOMAINS, "*].domain *specialties[]"),
    ("id of a task", "*active_tasks[] *task_id"),
    ("the same as the id", "*title"),
    ("day, ISO 8601", "*month_start"),
    ("time, ISO 8601", "*_at *_time *deadline horizon_end next_payroll"),
    ("hours of the calendar", "deadline_margin"),
    ("level lost, 3 places", "prestige_changes.<domain>.delta"),
    (
        "level, 3 places",
        "prestige.<domain> prestige_changes.* cancel_penalty_per_domain *prestige_delta *trust_level *trust_delta",
    ),
    ("level", "*required_prestige *required_trust"),
    ("fraction, 4 places", "*skill_boost_pct"),
    ("work in a business hour, 2 places", "*skill_rates.<domain>"),
    ("percent, 2 places", "*progress_pct"),
    ("percent, 1 place", "*failure_rate_pct"),
    ("percent", "*milestone_pct"),
    ("months, 2 places", "*months_runway"),
    ("work, 4 places", "*_qty"),
    ("cents a month", "*salary_cents monthly_payroll_cents"),
    ("cents", "*cents funds_delta listed_reward funds_after balance_delta"),
    ("how many follow", "count"),
    ("all that match", "total"),
    ("tasks left out", "offset"),
    ("tasks at most", "limit"),
    ("see Events", "wake_events[]"),
    ("tasks", "tasks.* *tasks_succeeded *tasks_failed"),
    ("employees", "employees assignment_count employees_assigned"),
    ("name of an employee", "*_assigned[] assigned_employees[] *].employee employees[].name"),
    ("name of a client", "clients[].name *client_name"),
    ("as configured", "company_name"),
    ("as given", "reason"),
    ("the notes", "content"),
    ("events", "events_processed"),
    ("payrolls", "payrolls_applied"),
)
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


_EVENTS: Final = """## Events

What happened while time passed is told in the answer to `sim resume` and in `info["events"]` of the turn.
"""


def answers_page() -> str:
    """Return the page.

    Raises:
        ValueError: A command was refused, or a key has no unit; the message names it.
    """
    answers: Answers = {}
    events: Answers = {}
    for play in (_play_contracts, _play_to_the_horizon, _ask_without_staff):
        play(answers, events)
    names = [spec.name for spec in DEFAULT_GRAMMAR.commands]
    return "\n".join(
        [
            _PREAMBLE,
            *(_section(f"## `{name}`", answers[name]) for name in names),
            _section("## Help", answers["help"]),
            _section("## A refusal", answers["refusal"]),
            _EVENTS,
            *(_section(f"### `{name}`", told) for name, told in events.items()),
        ]
    )


# ---- three episodes


def _commander(world: Mapping[str, object], answers: Answers, events: Answers) -> Callable[[str], Any]:
    """Return a function that plays a command as a turn of its own, keeps its answer and events, and returns it."""
    loop = {"auto_advance_after_turns": 0}  # so that questions make no time pass
    env = ScratchpadMemory(YCBenchEnv({"world": world, "loop": loop}))
    env.reset(seed=1)

    def say(command: str) -> Any:  # noqa: ANN401 -- JSON
        info: Any = env.step(command)[4]
        (result,) = info["results"]
        words = command.split()
        name = "refusal" if not result["ok"] else "help" if "--help" in words else " ".join(words[:2])
        answers.setdefault(name, []).append((command, result["output"]))
        for event in info["events"]:
            events.setdefault(event["type"], []).append((command, event))
        return result["output"]

    return say


def _play_contracts(answers: Answers, events: Answers) -> None:
    """Take three tasks: one is done in time, one is late, one is given up; ask everything on the way."""
    world = {"task_progress_milestones": [0.5], "initial_funds_cents": 10**8, "initial_prestige_level": 2.0}
    say = _commander(world, answers, events)
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


def _play_to_the_horizon(answers: Answers, events: Answers) -> None:
    """Work on one task that never ends, and ask after the last payroll."""
    quantity = {"type": "constant", "value": 100_000}
    world = {"initial_funds_cents": 10**9, "dist": {"required_qty": quantity}}
    say = _commander(world, answers, events)
    task_id = say("market browse --limit 1")["tasks"][0]["task_id"]
    say(f"task accept --task-id {task_id}")
    say(f"task assign --task-id {task_id} --employees Emp_1")
    say(f"task dispatch --task-id {task_id}")
    while say("company status")["next_payroll"] is not None:
        say("sim resume")
    say("sim resume")


def _ask_without_staff(answers: Answers, events: Answers) -> None:
    """Ask a company without payroll how long its money lasts."""
    _commander({"num_employees": 0}, answers, events)("company status")


# ---- their tables


def _section(heading: str, told: list[tuple[str, Mapping[str, object]]]) -> str:
    """Return a heading and the table of all keys seen, with the values of the answer that has most of them."""
    types: dict[str, dict[str, None]] = {}
    examples: list[tuple[str, dict[str, object]]] = []
    for command, answer in told:
        values: dict[str, object] = {}
        for path, value in _leaves(answer, ""):
            types.setdefault(path, {})["null" if value is None else _TYPES[type(value)]] = None
            values.setdefault(path, value)
        examples.append((command, values))
    command, values = max(examples, key=lambda each: sum(value not in (None, "", 0) for value in each[1].values()))
    rows: list[tuple[str, str, str, str]] = []
    for path, found in types.items():
        kind = " or ".join(sorted(found, key=lambda name: name == "null"))
        rows.append((f"`{path}`", kind, _unit(path, kind), _shown(values.get(path))))
    lead = "" if heading.startswith("###") else f"Example: `{command}`\n\n"
    return f"{heading}\n\n{lead}{table(('key', 'type', 'unit', 'example'), rows)}"


def _leaves(answer: Mapping[str, object], prefix: str) -> Iterator[tuple[str, object]]:
    """Yield each path of an answer with its value; one path for all domains, and one for all items of a list."""
    for name, value in answer.items():
        path = prefix + ("<domain>" if name in DOMAINS else name)
        if isinstance(value, dict):
            yield from _leaves(value, f"{path}.")
        elif not isinstance(value, list):
            yield path, value
        elif name == "wake_events":
            yield f"{path}[]", {}
        else:
            for item in value:
                yield from _leaves(item, f"{path}[].") if isinstance(item, dict) else [(f"{path}[]", item)]


def _unit(path: str, kind: str) -> str:
    """Return the unit of a key, or the words that it may hold.

    Raises:
        ValueError: It has none and is no boolean.
    """
    for unit, patterns in _UNITS:
        if any(fnmatch.fnmatchcase(path, pattern.replace("[]", "[[]]")) for pattern in patterns.split()):
            return unit
    if "boolean" not in kind:
        msg = f"{path} ({kind}) needs a unit in _UNITS of {Path(__file__).name}"
        raise ValueError(msg)
    return ""


def _shown(value: object) -> str:
    """Return a value for a cell, cut where it is long; nothing for a whole event."""
    if value == {}:
        return ""
    text = json.dumps(value, ensure_ascii=False).replace("|", "\\|")
    return f"`{text}`" if len(text) <= _CELL else f"`{text[:_CELL]}`..."


if __name__ == "__main__":
    write(PAGE, answers_page())
