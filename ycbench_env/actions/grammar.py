"""The table of commands: what the parser, the formatter, the help, the action space and the docs are made from.

A grammar is a frozen value, so a variant is another value: ``DEFAULT_GRAMMAR.with_command(...)``.

Source: answers (the table of commands and options).
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple, Self, cast

import attrs

from ycbench_env import vocabulary
from ycbench_env.actions.kinds import ChoiceKind, DateKind, IdKind, IntegerKind, Kind, MonthKind, NamesKind, TextKind
from ycbench_env.types import command as commands

__all__ = ["DEFAULT_GRAMMAR", "CommandSpec", "Entry", "Grammar", "OptionSpec"]


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


_TASK: Final = OptionSpec("--task-id", "task_id", IdKind("task"), "TASK", "Which task", required=True)
_EMPLOYEES: Final = OptionSpec("--employees", "employees", NamesKind(), "NAMES", "Who works on it", required=True)
_REASON: Final = OptionSpec("--reason", "reason", TextKind(), "TEXT", "Why", required=True)
_CONTENT: Final = OptionSpec("--content", "content", TextKind(), "TEXT", "What to note", required=True)
_STATUS: Final = OptionSpec(
    "--status", "status", ChoiceKind(vocabulary.OWN_STATUSES), "STATUS", "Only tasks of this status"
)
_BROWSE: Final = (
    OptionSpec("--domain", "domain", ChoiceKind(vocabulary.DOMAINS), "DOMAIN", "Only tasks that require this domain"),
    OptionSpec("--reward-min-cents", "reward_min_cents", IntegerKind(0), "N", "Only tasks that pay at least this"),
    OptionSpec("--limit", "limit", IntegerKind(1), "N", "At most this many tasks"),
    OptionSpec("--offset", "offset", IntegerKind(0), "N", "Leave out this many tasks first"),
)
_LEDGER: Final = (
    OptionSpec("--from", "date_from", DateKind(), "DATE", "First day, included"),
    OptionSpec("--to", "date_to", DateKind(), "DATE", "Last day, included"),
    OptionSpec(
        "--category", "category", ChoiceKind(vocabulary.LEDGER_CATEGORIES), "CATEGORY", "Only entries of this category"
    ),
)
_REPORT: Final = (
    OptionSpec("--from-month", "month_from", MonthKind(), "MONTH", "First month, included"),
    OptionSpec("--to-month", "month_to", MonthKind(), "MONTH", "Last month, included"),
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
