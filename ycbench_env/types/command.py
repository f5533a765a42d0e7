"""Commands of the agent: one frozen type each, as the parser makes them and the transition takes them.

Source: answers (the table of commands and options).
"""

import datetime as dt

import attrs


@attrs.frozen
class CompanyStatus:
    """``company status``."""


@attrs.frozen
class ListEmployees:
    """``employee list``."""


@attrs.frozen
class BrowseMarket:
    """``market browse``; None stands for an option that was not given."""

    domain: str | None = None
    reward_min_cents: int | None = None
    limit: int | None = None
    offset: int | None = None
    required_prestige_lte: int | None = None


@attrs.frozen
class ListTasks:
    """``task list``."""

    status: str | None = None


@attrs.frozen
class InspectTask:
    """``task inspect``."""

    task_id: str


@attrs.frozen
class AcceptTask:
    """``task accept``."""

    task_id: str


@attrs.frozen
class AssignTask:
    """``task assign``: names in the order given, repeats included, or one name as ``--employee-id`` gives it.

    Raises:
        ValueError: Not exactly one of both is given; the message shows them.
    """

    task_id: str
    employees: tuple[str, ...] | None = None
    employee_id: str | None = None

    def __attrs_post_init__(self) -> None:
        """Refuse a command that names nobody, or names people in two ways."""
        if (self.employees is None) == (self.employee_id is None):
            msg = (
                f"AssignTask: got employees={self.employees!r} and employee_id={self.employee_id!r}; expected exactly "
                "one of them, like employees=('Emp_1',)"
            )
            raise ValueError(msg)

    @property
    def names(self) -> tuple[str, ...]:
        """Whom it names, either way."""
        return self.employees or () if self.employee_id is None else (self.employee_id,)


@attrs.frozen
class DispatchTask:
    """``task dispatch``."""

    task_id: str


@attrs.frozen
class CancelTask:
    """``task cancel``."""

    task_id: str
    reason: str


@attrs.frozen
class ListClients:
    """``client list``."""


@attrs.frozen
class ClientHistory:
    """``client history``."""


@attrs.frozen
class FinanceLedger:
    """``finance ledger``; both days are included."""

    date_from: dt.date | None = None
    date_to: dt.date | None = None
    category: str | None = None


@attrs.frozen
class ReportMonthly:
    """``report monthly``; a month is given as its first day, both months are included."""

    month_from: dt.date | None = None
    month_to: dt.date | None = None


@attrs.frozen
class Resume:
    """``sim resume``."""


@attrs.frozen
class ReadScratchpad:
    """``scratchpad read``."""


@attrs.frozen
class WriteScratchpad:
    """``scratchpad write``: replaces the notes."""

    content: str


@attrs.frozen
class AppendScratchpad:
    """``scratchpad append``: adds a line to the notes."""

    content: str


@attrs.frozen
class ClearScratchpad:
    """``scratchpad clear``."""


@attrs.frozen
class Help:
    """``--help`` on anything; ``topic`` is the words before it: (), ("task",) or ("task", "accept")."""

    topic: tuple[str, ...] = ()


Command = (
    CompanyStatus
    | ListEmployees
    | BrowseMarket
    | ListTasks
    | InspectTask
    | AcceptTask
    | AssignTask
    | DispatchTask
    | CancelTask
    | ListClients
    | ClientHistory
    | FinanceLedger
    | ReportMonthly
    | Resume
    | ReadScratchpad
    | WriteScratchpad
    | AppendScratchpad
    | ClearScratchpad
    | Help
)
"""Any command that the grammar knows."""
