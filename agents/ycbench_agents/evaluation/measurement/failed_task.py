"""A failed task and why it failed (section 4.2, figure 5a)."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

import attrs

__all__ = ["FAILURE_CAUSES", "PAPER_CAUSES", "FailedTask", "FailureCause", "PaperCause"]

PaperCause: TypeAlias = Literal["adversarial_client", "incapable_team", "over_committed"]
"""The three causes of the paper's figure 5a."""

FailureCause: TypeAlias = Literal[
    "adversarial_client", "over_committed", "late_dispatch", "understaffed", "out_of_reach"
]
"""The same, a team that was not able to make it told apart; docs/measurements.md defines each."""

PAPER_CAUSES: Final[tuple[PaperCause, ...]] = ("adversarial_client", "incapable_team", "over_committed")
FAILURE_CAUSES: Final[tuple[FailureCause, ...]] = (
    "adversarial_client",
    "over_committed",
    "late_dispatch",
    "understaffed",
    "out_of_reach",
)


@attrs.frozen
class FailedTask:
    """A task that was completed after its deadline.

    The counterfactuals tell whether the deadline would have been met if the task had been the only one; None for an
    adversarial client's task.

    Args:
        task_id: Id of the task.
        client_name: Its client, None in a world without clients.
        turn: Turn in which it was completed.
        late_hours: By how much it was late, in hours of the calendar.
        cause: Why it failed; each failed task has one cause.
        team_alone: With its own team as it really joined, from the real dispatch.
        team_alone_from_accept: With its own team, all of it from the moment of acceptance.
        staff_alone: With the whole staff, from the real dispatch (section 5's understaffing).
        staff_alone_from_accept: With the whole staff, from the moment of acceptance.
    """

    task_id: str
    client_name: str | None
    turn: int
    late_hours: float
    cause: FailureCause
    team_alone: bool | None
    team_alone_from_accept: bool | None
    staff_alone: bool | None
    staff_alone_from_accept: bool | None

    @property
    def paper_cause(self) -> PaperCause:
        """The cause as figure 5a has it."""
        if self.cause == "adversarial_client" or self.cause == "over_committed":  # noqa: PLR1714 -- narrows the type
            return self.cause
        return "incapable_team"
