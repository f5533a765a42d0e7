"""The table of commands: what the parser, the formatter, the help, the action space and the docs are made from.

A grammar is a frozen value, so a variant is another value: ``DEFAULT_GRAMMAR.with_command(...)``; ``grammar_for``
gives the one of a world.

Source: answers (the table of commands and options); K-1.1, K-1.2, K-3.
"""

import datetime as dt
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, Self, cast

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

_ALL_BLANKS: Final = BLANKS + LINE_BREAKS
_MAX_DIGITS: Final = 18
_MAX_NAMES: Final = 5_000
_MAX_ECHO: Final = 60
_DIGITS: Final = re.compile(rf"[0-9]{{1,{_MAX_DIGITS}}}")
_ISO_DATE: Final = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_US_DATE: Final = re.compile(r"([0-9]{2})/([0-9]{2})/([0-9]{4})")
_MONTH: Final = re.compile(r"([0-9]{4})-([0-9]{2})")
_EXPECTED: Final = {
    "text": "text, in quotes unless it is one word",
    "task": "the id of a task, like Task-3",
    "employee": "the name of an employee, like Emp_1",
    "date": "a date that exists, as MM/DD/YYYY or YYYY-MM-DD",
    "month": "a month that exists, as YYYY-MM",
    "names": "names with a comma between them, like Emp_1,Emp_4",
}
_ENTRY: Final = re.compile(r"(?:[^,\\]++|\\.?)*+", re.DOTALL)
_ESCAPED: Final = re.compile(rf"\\([\\,{_ALL_BLANKS}])")


class RefusedError(Exception):
    """Why a command is not understood; the message is the agent's answer. Never leaves this package."""


def echo(text: str, quote: str = '"') -> str:
    """Return at most 60 characters of the agent's text, quoted, on one line and printable."""
    return quote + printable(text if len(text) <= _MAX_ECHO else text[: _MAX_ECHO - 1] + "\u2026") + quote


@attrs.frozen
class Kind:
    """What the value of an option may be: it is read from text and written back.

    For every kind ``read(write(value)) == value`` for each value that it takes; ``format_command`` relies on it.

    Attributes:
        name: Any text; the id of a task or the name of an employee (any text but an empty one: whether it exists is
            for the world to say); one of ``words``; a whole number; a day; a month, whose value is its first day; names
            with commas between them.
        words: Of a choice, the words; case matters.
        minimum: Of an integer, the least.
    """

    name: Literal["text", "task", "employee", "choice", "integer", "date", "month", "names"]
    words: tuple[str, ...] = ()
    minimum: int = 0

    @property
    def expected(self) -> str:
        """What an error says was expected."""
        if self.name == "choice":
            return "one of " + ", ".join(self.words)
        if self.name == "integer":
            return f"a whole number of at least {self.minimum} in plain digits, at most {_MAX_DIGITS} of them"
        return _EXPECTED[self.name]

    def read(self, text: str) -> str | int | dt.date | tuple[str, ...]:  # noqa: PLR0911 -- one for each name
        """Return the value that a text means.

        Raises:
            RefusedError: It means none; the message says what was expected.
        """
        match self.name:
            case "text":
                return text
            case "task" | "employee" if text:
                return text
            case "choice" if text in self.words:
                return text
            case "integer" if _DIGITS.fullmatch(text) and int(text) >= self.minimum:
                return int(text)
            case "names":
                return self.read_names([text])
            case "month" if match := _MONTH.fullmatch(text):
                return self._date(match[1], match[2], "01")
            case "date" if match := _ISO_DATE.fullmatch(text):
                return self._date(*match.groups())
            case "date" if match := _US_DATE.fullmatch(text):
                return self._date(match[3], match[1], match[2])
            case _:
                raise RefusedError(self.expected)

    def _date(self, year: str, month: str, day: str) -> dt.date:
        try:
            return dt.date(int(year), int(month), int(day))
        except ValueError:
            raise RefusedError(self.expected) from None

    def read_names(self, texts: Sequence[str]) -> tuple[str, ...]:
        r"""Return the names in several words; blanks around a name do not count.

        A name may hold a comma, a backslash or a blank at its ends after a backslash (``\,``, ``\\``).

        Raises:
            RefusedError: Commas and names do not take turns: a name too few or a comma too many may hide who was meant.
        """
        if len(texts) == 1 and _PLAIN_NAMES.fullmatch(texts[0]) and texts[0].count(",") < _MAX_NAMES:
            return tuple(texts[0].split(","))  # nearly always
        names: list[str] = []
        after_comma = True
        for entry in _entries(texts):
            if entry is None and not after_comma:
                after_comma = True
            elif not entry:
                message = f"{self.expected}; an entry is empty: a comma too many, or a name is missing"
                raise RefusedError(message)
            elif not after_comma:
                message = f"{self.expected}; there is no comma between {echo(names[-1])} and {echo(entry)}"
                raise RefusedError(message)
            else:
                names.append(entry)
                after_comma = False
            if len(names) > _MAX_NAMES:
                message = f"{self.expected}, at most {_MAX_NAMES:,} of them"
                raise RefusedError(message)
        if after_comma:
            message = f"{self.expected}; the list {'ends in a comma' if names else 'is empty'}"
            raise RefusedError(message)
        return tuple(names)

    def write(self, value: object) -> str:
        """Return the text of a value, as it stands inside quotes."""
        if isinstance(value, dt.date):
            return value.isoformat() if self.name == "date" else value.isoformat().removesuffix("-01")
        if isinstance(value, tuple):
            return ",".join(_escape(str(name)) for name in cast("tuple[object, ...]", value))
        return str(value)


_PLAIN_NAMES: Final = re.compile(r"[A-Za-z0-9_.-]++(?:,[A-Za-z0-9_.-]++)*+")


def _entries(texts: Sequence[str]) -> Iterator[str | None]:
    """Yield the names in order, and None for each comma between them."""
    for text in texts:
        at = 0
        while True:
            match = _ENTRY.match(text, at)
            end = match.end() if match else at
            # Nothing at the ends of a word is no empty name: its comma or its name stands in the word beside it.
            if end > at or (at > 0 and end < len(text)):
                yield _unescape(text[at:end])
            if end == len(text):
                break
            yield None
            at = end + 1


def _unescape(entry: str) -> str:
    stripped = entry.strip(_ALL_BLANKS)
    backslashes = len(stripped) - len(stripped.rstrip("\\"))
    # An odd backslash at the end belongs to the blank that was stripped after it.
    if backslashes % 2 and not entry.endswith(stripped):
        stripped += entry.lstrip(_ALL_BLANKS)[len(stripped)]
    return _ESCAPED.sub(r"\1", stripped)


def _escape(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace(",", "\\,")
    if escaped and escaped[-1] in _ALL_BLANKS:
        escaped = escaped[:-1] + "\\" + escaped[-1]
    if escaped and escaped[0] in _ALL_BLANKS:
        escaped = "\\" + escaped
    return escaped


# ------------------------------------------------------------------------------------------------------------ the table


@attrs.frozen
class OptionSpec:
    """One option of a command: ``name`` as the agent writes it, ``field`` of the command type that takes its value."""

    name: str
    field: str
    kind: Kind
    metavar: str
    help: str
    required: bool = False

    @property
    def usage(self) -> str:
        """The option as help shows it, like ``--task-id TASK``."""
        return f"{self.name} {self.metavar}"


@attrs.frozen
class CommandSpec:
    """One command: its two words, the type it makes, its options.

    Exactly one of the options named in ``one_of`` must be given (none of them is ``required`` by itself).
    """

    verb: tuple[str, str]
    command_type: type[commands.Command]
    summary: str
    options: tuple[OptionSpec, ...] = ()
    one_of: tuple[str, ...] = ()

    def __attrs_post_init__(self) -> None:
        """Refuse a line of the table that cannot work."""
        fields = {attribute.name for attribute in attrs.fields(self.command_type)}
        names = [option.name for option in self.options]
        for option in self.options:
            if option.field not in fields:
                message = f"{self.name}: {option.name} fills {option.field!r}; the command type has {sorted(fields)}"
                raise ValueError(message)
            if not option.name.startswith("--") or "=" in option.name:
                message = f"{self.name}: an option is named like --task-id, got {option.name!r}"
                raise ValueError(message)
        if len(set(names)) < len(names) or not set(self.one_of) <= set(names):
            message = f"{self.name}: options must differ, and one_of must name some of them, got {names}, {self.one_of}"
            raise ValueError(message)

    @property
    def name(self) -> str:
        """The two words with a blank between them."""
        return " ".join(self.verb)

    @property
    def usage(self) -> str:
        """The command with its options, those that may be left out in brackets."""
        parts = [self.name]
        parts += [option.usage for option in self.options if option.required]
        if self.one_of:
            parts.append("(" + " | ".join(option.usage for option in self.options if option.name in self.one_of) + ")")
        free = [option for option in self.options if not option.required and option.name not in self.one_of]
        parts += [f"[{option.usage}]" for option in free]
        return " ".join(parts)


class Entry(NamedTuple):
    """A line of the table, prepared for parsing; ``required`` and ``one_of`` name fields, not options.

    ``bare`` is the command without any option, None if it needs one.
    """

    spec: CommandSpec
    options: Mapping[str, OptionSpec]
    required: frozenset[str]
    one_of: frozenset[str]
    bare: commands.Command | None

    def is_complete(self, values: Mapping[str, object]) -> bool:
        """Whether values for these fields make a command."""
        given = values.keys()
        return self.required <= given and (not self.one_of or len(self.one_of & given) == 1)

    def build(self, values: Mapping[str, object]) -> commands.Command:
        """Return the command with these values, which the kinds of its options have read."""
        return cast("Callable[..., commands.Command]", self.spec.command_type)(**values)


def _entry(spec: CommandSpec) -> Entry:
    options = MappingProxyType({option.name: option for option in spec.options})
    required = frozenset(option.field for option in spec.options if option.required)
    one_of = frozenset(options[name].field for name in spec.one_of)
    entry = Entry(spec, options, required, one_of, bare=None)
    return entry._replace(bare=entry.build({})) if entry.is_complete({}) else entry


@attrs.frozen(cache_hash=True)
class Grammar:
    """All commands of one rule set, in the order in which they are listed.

    Invariants: verbs differ; command types differ (so that a command says how it is written); nothing can be changed.
    """

    commands: tuple[CommandSpec, ...]
    entries: Mapping[str, Mapping[str, Entry]] = attrs.field(init=False, eq=False, repr=False)
    """The lines by first and second word."""

    def __attrs_post_init__(self) -> None:
        """Prepare the lines for parsing."""
        for what in ("verb", "command_type"):
            values = [getattr(spec, what) for spec in self.commands]
            if len(set(values)) < len(values):
                message = f"a grammar has each {what} once, got {values}"
                raise ValueError(message)
        entries: dict[str, dict[str, Entry]] = {}
        for spec in self.commands:
            entries.setdefault(spec.verb[0], {})[spec.verb[1]] = _entry(spec)
        frozen = {noun: MappingProxyType(verbs) for noun, verbs in entries.items()}
        # The class is frozen; this field is derived, and kept because every command is looked up in it.
        object.__setattr__(self, "entries", MappingProxyType(frozen))

    def __copy__(self) -> Self:
        """Return itself: it cannot change."""
        return self

    def __deepcopy__(self, memo: object) -> Self:
        """Return itself: it cannot change."""
        return self

    def __reduce__(self) -> tuple[type[Self], tuple[tuple[CommandSpec, ...]]]:
        """Pickle the table alone; what is derived from it is made anew."""
        return type(self), (self.commands,)

    def find(self, topic: tuple[str, ...]) -> tuple[CommandSpec, ...]:
        """Return the commands that begin with these words, in order; all of them for ()."""
        return tuple(spec for spec in self.commands if spec.verb[: len(topic)] == topic)

    def with_command(self, spec: CommandSpec) -> Self:
        """Return a grammar in which ``spec`` replaces the command of the same words, or is added at the end."""
        if self.find(spec.verb):
            return type(self)(tuple(spec if old.verb == spec.verb else old for old in self.commands))
        return type(self)((*self.commands, spec))

    def without_command(self, *verb: str) -> Self:
        """Return a grammar without the commands that begin with these words."""
        return type(self)(tuple(spec for spec in self.commands if spec.verb[: len(verb)] != verb))


_TASK: Final = OptionSpec("--task-id", "task_id", Kind("task"), "TASK", "Which task", required=True)
_EMPLOYEES: Final = OptionSpec("--employees", "employees", Kind("names"), "NAMES", "Who works on it", required=True)
_REASON: Final = OptionSpec("--reason", "reason", Kind("text"), "TEXT", "Why", required=True)
_CONTENT: Final = OptionSpec("--content", "content", Kind("text"), "TEXT", "What to note", required=True)
_STATUS: Final = OptionSpec(
    "--status", "status", Kind("choice", vocabulary.OWN_STATUSES), "STATUS", "Only tasks of this status"
)
_BROWSE: Final = (
    OptionSpec(
        "--domain", "domain", Kind("choice", vocabulary.DOMAINS), "DOMAIN", "Only tasks that require this domain"
    ),
    OptionSpec("--reward-min-cents", "reward_min_cents", Kind("integer"), "N", "Only tasks that pay at least this"),
    OptionSpec("--limit", "limit", Kind("integer", minimum=1), "N", "At most this many tasks"),
    OptionSpec("--offset", "offset", Kind("integer"), "N", "Leave out this many tasks first"),
)
_LEDGER: Final = (
    OptionSpec("--from", "date_from", Kind("date"), "DATE", "First day, included"),
    OptionSpec("--to", "date_to", Kind("date"), "DATE", "Last day, included"),
    OptionSpec(
        "--category",
        "category",
        Kind("choice", vocabulary.LEDGER_CATEGORIES),
        "CATEGORY",
        "Only entries of this category",
    ),
)
_REPORT: Final = (
    OptionSpec("--from-month", "month_from", Kind("month"), "MONTH", "First month, included"),
    OptionSpec("--to-month", "month_to", Kind("month"), "MONTH", "Last month, included"),
)

DEFAULT_GRAMMAR: Final = Grammar(
    (
        CommandSpec(("company", "status"), commands.CompanyStatus, "Funds, prestige, clock and next payroll"),
        CommandSpec(("employee", "list"), commands.ListEmployees, "The team with salaries and skill rates"),
        CommandSpec(("market", "browse"), commands.BrowseMarket, "Tasks on offer", _BROWSE),
        CommandSpec(("task", "list"), commands.ListTasks, "Accepted tasks", (_STATUS,)),
        CommandSpec(("task", "inspect"), commands.InspectTask, "One task in full", (_TASK,)),
        CommandSpec(("task", "accept"), commands.AcceptTask, "Take a task from the market", (_TASK,)),
        CommandSpec(("task", "assign"), commands.AssignTask, "Put employees on a task", (_TASK, _EMPLOYEES)),
        CommandSpec(("task", "dispatch"), commands.DispatchTask, "Start work on a planned task", (_TASK,)),
        CommandSpec(("task", "cancel"), commands.CancelTask, "Give up a task", (_TASK, _REASON)),
        CommandSpec(("client", "list"), commands.ListClients, "Clients with trust and specialties"),
        CommandSpec(("client", "history"), commands.ClientHistory, "Tasks done and failed for each client"),
        CommandSpec(("finance", "ledger"), commands.FinanceLedger, "Bookings", _LEDGER),
        CommandSpec(("report", "monthly"), commands.ReportMonthly, "Revenue, cost and funds by month", _REPORT),
        CommandSpec(("sim", "resume"), commands.Resume, "Let time pass until the next event"),
        CommandSpec(("scratchpad", "read"), commands.ReadScratchpad, "The notes"),
        CommandSpec(("scratchpad", "write"), commands.WriteScratchpad, "Replace the notes", (_CONTENT,)),
        CommandSpec(("scratchpad", "append"), commands.AppendScratchpad, "Add to the notes", (_CONTENT,)),
        CommandSpec(("scratchpad", "clear"), commands.ClearScratchpad, "Empty the notes"),
    )
)
"""The commands of the current rule set."""


# ------------------------------------------------------------------------------------------- the table of a world

_BY_PRESTIGE: Final = OptionSpec(
    "--required-prestige-lte", "required_prestige_lte", Kind("integer"), "N", "Only tasks that require at most this"
)
_BY_ID: Final = OptionSpec("--employee-id", "employee_id", Kind("employee"), "NAME", "One more who works on it")


def grammar_for(world: WorldConfig) -> Grammar:
    """Return the commands of a world; equal rules give the very same grammar, ``DEFAULT_GRAMMAR`` for the usual ones.

    Args:
        world: Its settings. Without clients there are no client commands; ``market_browse_scope`` "all" adds
            ``--required-prestige-lte``, ``assign_by_employee_id`` ``--employee-id``; hidden skills change a summary.
    """
    # Every turn asks: a key of four plain values, since to hash all settings would take longer than the turn.
    return _grammar(world.command_rules)


@cache
def _grammar(command_rules: tuple[bool, bool, str, bool]) -> Grammar:
    has_clients, rates_visible, browse_scope, by_employee_id = command_rules
    grammar = DEFAULT_GRAMMAR
    if not has_clients:
        grammar = grammar.without_command("client")
    if not rates_visible:
        (listing,) = grammar.find(("employee", "list"))
        grammar = grammar.with_command(attrs.evolve(listing, summary="The team with tiers and salaries"))
    if browse_scope == "all":
        (browse,) = grammar.find(("market", "browse"))
        grammar = grammar.with_command(attrs.evolve(browse, options=(*browse.options, _BY_PRESTIGE)))
    return _with_employee_id(grammar) if by_employee_id else grammar


def _with_employee_id(grammar: Grammar) -> Grammar:
    """Return a grammar in which ``task assign`` takes many names or one."""
    (assign,) = grammar.find(("task", "assign"))
    task, employees = assign.options
    either = (task, attrs.evolve(employees, required=False), _BY_ID)
    return grammar.with_command(attrs.evolve(assign, options=either, one_of=(employees.name, _BY_ID.name)))
