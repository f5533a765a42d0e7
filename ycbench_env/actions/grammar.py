"""The table of commands, from which the parser, the formatter, the help, the action space and the docs are made.

Source: answers (the table of commands and options); K-1.1, K-1.2, K-3.
"""

import datetime as dt
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from itertools import chain
from typing import Final, Literal, Self, cast

import attrs

from ycbench_env import vocabulary
from ycbench_env.config import WorldConfig
from ycbench_env.text import printable
from ycbench_env.types import command as commands

# ----------------------------------------------------------------------------------------------- characters and values

LINE_BREAKS: Final = "\n\r\x85\u2028\u2029"
"""End a line; ``\\r\\n`` counts once. Like all sets here built from escapes: most look like another character."""

BLANKS: Final = (
    " \t\x0b\x0c\x1c\x1d\x1e\x1f\xa0\u1680\u180e"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b\u202f\u205f\u2060\u3000\ufeff"
)
"""Separate words: all white space of Unicode 15 that ends no line, the zero-width space, joiner and byte order mark.

What a character means is decided by such fixed sets, never by the interpreter's Unicode tables: those grow, and the
same text must mean the same on every Python.
"""

_SPACE: Final = BLANKS + LINE_BREAKS
_MAX_DIGITS: Final = 18
_MAX_NAMES: Final = 5_000
_MAX_ECHO: Final = 60
_INTEGER: Final = re.compile(rf"[0-9]{{1,{_MAX_DIGITS}}}")
_ISO_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_US_DATE: Final = re.compile(r"\A([0-9]{2})/([0-9]{2})/([0-9]{4})\Z")
# Lists of names. Possessive quantifiers (++, *+) keep every pattern linear.
_PLAIN_NAMES: Final = re.compile(r"[A-Za-z0-9_.-]++(?:,[A-Za-z0-9_.-]++)*+")
_NAME_OR_COMMA: Final = re.compile(r",|(?:[^,\\]|\\.?)++", re.DOTALL)
_WITHOUT_BLANKS: Final = re.compile(rf"[{_SPACE}]*+((?:[{_SPACE}]*+(?:[^\\{_SPACE}]|\\.?)++)*+)", re.DOTALL)
_ESCAPED: Final = re.compile(rf"\\([\\,{_SPACE}])")
_TO_ESCAPE: Final = re.compile(rf"[\\,]|\A[{_SPACE}]|[{_SPACE}]\Z")
_EXPECTED: Final = {
    "text": "text, in quotes unless it is one word",
    "task": "the id of a task, like Task-3",
    "employee": "the name of an employee, like Emp_1",
    "integer": "a whole number of at least {} in plain digits, at most 18 of them",
    "date": "a date that exists, as MM/DD/YYYY or YYYY-MM-DD",
    "month": "a month that exists, as YYYY-MM",
    "names": "names with a comma between them, like Emp_1,Emp_4",
}
_METAVARS: Final = {"employee": "NAME", "integer": "N"}


class RefusedError(Exception):
    """Why a command is not understood; the message is the agent's answer. Never leaves this package."""


def echo(text: str, quote: str = '"') -> str:
    """Return at most 60 characters of the agent's text, quoted, on one line and printable."""
    return quote + printable(text if len(text) <= _MAX_ECHO else text[: _MAX_ECHO - 1] + "\u2026") + quote


@attrs.frozen
class Kind:
    """The values of an option; ``read(write(value)) == value`` for each of them.

    Args:
        name: Any text; the id of a task or the name of an employee (any text but an empty one: whether it exists is
            for the world to decide); one of ``words``; a whole number; a day; a month, whose value is its first day;
            names with commas between them.
        words: The words of a choice; case matters.
        minimum: The least integer.
    """

    name: Literal["text", "task", "employee", "choice", "integer", "date", "month", "names"]
    words: tuple[str, ...] = ()
    minimum: int = 0

    @property
    def expected(self) -> str:
        """What an error names as expected."""
        if self.name == "choice":
            return "one of " + ", ".join(self.words)
        return _EXPECTED[self.name].format(self.minimum)

    def read(self, text: str) -> str | int | dt.date | tuple[str, ...]:
        """Return the value that a text means; RefusedError names what was expected instead."""
        value = None
        match self.name:
            case "text":
                return text
            case "task" | "employee":
                value = text or None
            case "choice" if text in self.words:
                value = text
            case "integer" if _INTEGER.fullmatch(text) and (number := int(text)) >= self.minimum:
                value = number
            case "date" | "month":
                date = text + "-01" if self.name == "month" else _US_DATE.sub(r"\3-\1-\2", text)
                if _ISO_DATE.fullmatch(date):
                    with suppress(ValueError):
                        value = dt.date.fromisoformat(date)
            case "names":
                value = self.read_names([text])
            case _:
                pass
        if value is None:
            raise RefusedError(self.expected)
        return value

    def read_names(self, words: list[str]) -> tuple[str, ...]:
        r"""Return the names in several words; blanks around a name do not count.

        A name may hold a comma, a backslash or a blank at its ends after a backslash (``\,``, ``\\``). Names and commas
        must take turns (else RefusedError): a missing name or an extra comma may hide who was meant.
        """
        if len(words) == 1 and _PLAIN_NAMES.fullmatch(words[0]) and words[0].count(",") < _MAX_NAMES:
            return tuple(words[0].split(","))  # nearly always
        names: list[str] = []
        after_comma = True
        reason = ""
        for part in chain.from_iterable(map(_NAME_OR_COMMA.findall, words)):
            bare = _WITHOUT_BLANKS.match(part)
            name = "" if part == "," or bare is None else _ESCAPED.sub(r"\1", bare[1])
            if part == "," and not after_comma:
                after_comma = True
            elif not name:
                reason = "; an entry is empty: a comma too many, or a name is missing"
            elif not after_comma:
                reason = f"; there is no comma between {echo(names[-1])} and {echo(name)}"
            else:
                names.append(name)
                after_comma = False
            if len(names) > _MAX_NAMES:
                reason = f", at most {_MAX_NAMES:,} of them"
            if reason:
                raise RefusedError(self.expected + reason)
        if after_comma:
            message = f"{self.expected}; the list {'ends in a comma' if names else 'is empty'}"
            raise RefusedError(message)
        return tuple(names)

    def write(self, value: object) -> str:
        """Return the text of a value, as it stands inside quotes."""
        if isinstance(value, dt.date):
            return value.isoformat() if self.name == "date" else value.isoformat().removesuffix("-01")
        if isinstance(value, tuple):
            return ",".join(_TO_ESCAPE.sub(r"\\\g<0>", str(name)) for name in cast("tuple[object, ...]", value))
        return str(value)


# ----------------------------------------------------------------------------------------------------------- the table


@attrs.frozen
class OptionSpec:
    """One option of a command: ``name`` as the agent writes it, ``field`` of the command type that takes its value."""

    name: str
    field: str
    kind: Kind
    help: str
    required: bool = False

    @property
    def usage(self) -> str:
        """The option as help shows it, like ``--task-id TASK``."""
        metavar = self.name.lstrip("-") if self.kind.name == "choice" else _METAVARS.get(self.kind.name, self.kind.name)
        return f"{self.name} {metavar.upper()}"


@attrs.frozen
class CommandSpec:
    """One command: its two words, the type it makes, its options in the order of the type's fields.

    Exactly one of the options named in ``one_of`` must be given (none of them is ``required`` by itself).
    """

    verb: tuple[str, str]
    command_type: Callable[..., commands.Command]
    summary: str
    options: tuple[OptionSpec, ...] = ()
    one_of: tuple[str, ...] = ()
    options_by_name: Mapping[str, OptionSpec] = attrs.field(init=False, eq=False, repr=False)
    _required: frozenset[str] = attrs.field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        """Prepare the options for parsing."""
        object.__setattr__(self, "_required", frozenset(option.field for option in self.options if option.required))
        object.__setattr__(self, "options_by_name", {option.name: option for option in self.options})

    @property
    def name(self) -> str:
        """The two words with a blank between them."""
        return " ".join(self.verb)

    @property
    def usage(self) -> str:
        """The command with its options, those that may be left out in brackets."""
        parts = [self.name, *(option.usage for option in self.options if option.required)]
        if self.one_of:
            parts.append("(" + " | ".join(self.options_by_name[name].usage for name in self.one_of) + ")")
        free = [option for option in self.options if not option.required and option.name not in self.one_of]
        return " ".join([*parts, *(f"[{option.usage}]" for option in free)])

    def missing(self, given: Mapping[str, object]) -> str:
        """Return what is missing or too much when values for these fields are given; the empty text if nothing is."""
        if not self._required <= given.keys():
            needed = [option.usage for option in self.options if option.field in self._required - given.keys()]
            return f"needs {' and '.join(needed)}"
        if self.one_of and sum(self.options_by_name[name].field in given for name in self.one_of) != 1:
            return f"needs exactly one of {', '.join(self.one_of)}"
        return ""


@attrs.frozen(cache_hash=True)
class Grammar:
    """All commands of one rule set, in the order in which they are listed; a frozen value.

    Args:
        commands: The commands; their words and their types differ.
        entries: The commands by first and second word; derived.
    """

    commands: tuple[CommandSpec, ...]
    entries: Mapping[str, Mapping[str, CommandSpec]] = attrs.field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        """Prepare the commands for parsing."""
        entries: dict[str, dict[str, CommandSpec]] = {}
        for spec in self.commands:
            entries.setdefault(spec.verb[0], {})[spec.verb[1]] = spec
        object.__setattr__(self, "entries", entries)

    def __deepcopy__(self, memo: object) -> Self:
        """Return itself: it cannot change."""
        return self

    def find(self, topic: tuple[str, ...]) -> tuple[CommandSpec, ...]:
        """Return the commands that begin with these words, in order; all of them for ()."""
        return tuple(spec for spec in self.commands if spec.verb[: len(topic)] == topic)

    def without_command(self, *verb: str) -> Self:
        """Return a grammar without the commands that begin with these words."""
        return type(self)(tuple(spec for spec in self.commands if spec.verb[: len(verb)] != verb))


@cache
def _grammar(has_clients: bool, rates_visible: bool, browse_scope: str, by_employee_id: bool) -> Grammar:  # noqa: FBT001 -- a cached key of plain values
    task = OptionSpec("--task-id", "task_id", Kind("task"), "Which task", required=True)
    content = OptionSpec("--content", "content", Kind("text"), "What to note", required=True)
    status = OptionSpec("--status", "status", Kind("choice", vocabulary.OWN_STATUSES), "Only tasks of this status")
    browse = (
        OptionSpec("--domain", "domain", Kind("choice", vocabulary.DOMAINS), "Only tasks that require this domain"),
        OptionSpec("--reward-min-cents", "reward_min_cents", Kind("integer"), "Only tasks that pay at least this"),
        OptionSpec("--limit", "limit", Kind("integer", minimum=1), "At most this many tasks"),
        OptionSpec("--offset", "offset", Kind("integer"), "Leave out this many tasks first"),
    )
    by_prestige = OptionSpec(
        "--required-prestige-lte", "required_prestige_lte", Kind("integer"), "Only tasks that require at most this"
    )
    employees = OptionSpec("--employees", "employees", Kind("names"), "Who works on it", required=not by_employee_id)
    by_id = OptionSpec("--employee-id", "employee_id", Kind("employee"), "One more who works on it")
    categories = Kind("choice", vocabulary.LEDGER_CATEGORIES)
    ledger = (
        OptionSpec("--from", "date_from", Kind("date"), "First day, included"),
        OptionSpec("--to", "date_to", Kind("date"), "Last day, included"),
        OptionSpec("--category", "category", categories, "Only entries of this category"),
    )
    months = (
        OptionSpec("--from-month", "month_from", Kind("month"), "First month, included"),
        OptionSpec("--to-month", "month_to", Kind("month"), "Last month, included"),
    )
    reason = OptionSpec("--reason", "reason", Kind("text"), "Why", required=True)
    grammar = Grammar(
        (
            CommandSpec(("company", "status"), commands.CompanyStatus, "Funds, prestige, clock and next payroll"),
            CommandSpec(
                ("employee", "list"),
                commands.ListEmployees,
                "The team with salaries and skill rates" if rates_visible else "The team with tiers and salaries",
            ),
            CommandSpec(
                ("market", "browse"),
                commands.BrowseMarket,
                "Tasks on offer",
                (*browse, by_prestige) if browse_scope == "all" else browse,
            ),
            CommandSpec(("task", "list"), commands.ListTasks, "Accepted tasks", (status,)),
            CommandSpec(("task", "inspect"), commands.InspectTask, "One task in full", (task,)),
            CommandSpec(("task", "accept"), commands.AcceptTask, "Take a task from the market", (task,)),
            CommandSpec(
                ("task", "assign"),
                commands.AssignTask,
                "Put employees on a task",
                (task, employees, by_id) if by_employee_id else (task, employees),
                one_of=(employees.name, by_id.name) if by_employee_id else (),
            ),
            CommandSpec(("task", "dispatch"), commands.DispatchTask, "Start work on a planned task", (task,)),
            CommandSpec(("task", "cancel"), commands.CancelTask, "Give up a task", (task, reason)),
            CommandSpec(("client", "list"), commands.ListClients, "Clients with trust and specialties"),
            CommandSpec(("client", "history"), commands.ClientHistory, "Tasks done and failed for each client"),
            CommandSpec(("finance", "ledger"), commands.FinanceLedger, "Bookings", ledger),
            CommandSpec(("report", "monthly"), commands.ReportMonthly, "Revenue, cost and funds by month", months),
            CommandSpec(("sim", "resume"), commands.Resume, "Let time pass until the next event"),
            CommandSpec(("scratchpad", "read"), commands.ReadScratchpad, "The notes"),
            CommandSpec(("scratchpad", "write"), commands.WriteScratchpad, "Replace the notes", (content,)),
            CommandSpec(("scratchpad", "append"), commands.AppendScratchpad, "Add to the notes", (content,)),
            CommandSpec(("scratchpad", "clear"), commands.ClearScratchpad, "Empty the notes"),
        )
    )
    return grammar if has_clients else grammar.without_command("client")


def grammar_for(world: WorldConfig) -> Grammar:
    """Return the commands of a world; equal rules give the very same grammar, ``DEFAULT_GRAMMAR`` for the usual ones.

    Args:
        world: Its settings. Without clients there are no client commands; ``market_browse_scope`` "all" adds
            ``--required-prestige-lte``, ``assign_by_employee_id`` ``--employee-id``; hidden skills change a summary.
    """
    # Every turn asks: a key of four plain values, since to hash all settings would take longer than the turn.
    return _grammar(*world.command_rules)


DEFAULT_GRAMMAR: Final = _grammar(True, True, "acceptable", False)  # noqa: FBT003 -- as above
"""The commands of the usual rules."""
