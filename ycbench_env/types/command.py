"""Commands of the agent: one frozen type each, as the parser makes them and the transition takes them.

Source: answers (the table of commands and options).
"""

import datetime as dt

import attrs


@attrs.frozen
class Command:
    """Any command that the grammar knows; None in an option stands for one that was not given."""


@attrs.frozen
class CompanyStatus(Command):
    """``company status``."""


@attrs.frozen
class ListEmployees(Command):
    """``employee list``."""


@attrs.frozen
class BrowseMarket(Command):
    """``market browse``."""

    domain: str | None = None
    reward_min_cents: int | None = None
    limit: int | None = None
    offset: int | None = None
    required_prestige_lte: int | None = None


@attrs.frozen
class ListTasks(Command):
    """``task list``."""

    status: str | None = None


@attrs.frozen
class InspectTask(Command):
    """``task inspect``."""

    task_id: str


@attrs.frozen
class AcceptTask(Command):
    """``task accept``."""

    task_id: str


@attrs.frozen
class AssignTask(Command):
    """``task assign``: names in the order given, repeats included, or the one name of ``--employee-id``; never both."""

    task_id: str
    employees: tuple[str, ...] | None = None
    employee_id: str | None = None

    def __attrs_post_init__(self) -> None:
        """Refuse a command that names nobody, or names people in two ways."""
        if (self.employees is None) == (self.employee_id is None):
            got = f"employees={self.employees!r} and employee_id={self.employee_id!r}"
            msg = f"AssignTask: got {got}; expected exactly one of them, like employees=('Emp_1',)"
            raise ValueError(msg)

    @property
    def names(self) -> tuple[str, ...]:
        """Whom it names, either way."""
        return self.employees or () if self.employee_id is None else (self.employee_id,)


@attrs.frozen
class DispatchTask(Command):
    """``task dispatch``."""

    task_id: str


@attrs.frozen
class CancelTask(Command):
    """``task cancel``."""

    task_id: str
    reason: str


@attrs.frozen
class ListClients(Command):
    """``client list``."""


@attrs.frozen
class ClientHistory(Command):
    """``client history``."""


@attrs.frozen
class FinanceLedger(Command):
    """``finance ledger``; both days are included."""

    date_from: dt.date | None = None
    date_to: dt.date | None = None
    category: str | None = None


@attrs.frozen
class ReportMonthly(Command):
    """``report monthly``; a month is given as its first day, both months are included."""

    month_from: dt.date | None = None
    month_to: dt.date | None = None


@attrs.frozen
class Resume(Command):
    """``sim resume``."""


@attrs.frozen
class MemoryCommand(Command):
    """A command that a scratchpad wrapper answers."""


@attrs.frozen
class ReadScratchpad(MemoryCommand):
    """``scratchpad read``."""


@attrs.frozen
class WriteScratchpad(MemoryCommand):
    """``scratchpad write``: replaces the notes."""

    content: str


@attrs.frozen
class AppendScratchpad(MemoryCommand):
    """``scratchpad append``: adds a line to the notes."""

    content: str


@attrs.frozen
class ClearScratchpad(MemoryCommand):
    """``scratchpad clear``."""


@attrs.frozen
class Help(Command):
    """``--help`` on anything; ``topic`` is the words before it: (), ("task",) or ("task", "accept")."""

    topic: tuple[str, ...] = ()
