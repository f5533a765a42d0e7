"""What happens while time moves, in the order in which it happens, and what a command did to the world.

Source: answers (wake events), Y-5.3.
"""

import attrs

from ycbench_env.types.state import State


@attrs.frozen
class TaskCompleted:
    """A task's work is done, in time (success) or late.

    Args:
        task_id: Id of the task.
        client_name: Its client, None in a world without clients.
        success: Whether the deadline was met.
        funds_delta_cents: What was booked: the reward, or minus the fee.
        listed_reward_cents: The reward as listed, also on failure.
        trust_delta_milli: Change of trust with its client that was applied.
        margin_us: Deadline minus now; negative when late.
        team_size: Number of employees assigned.
        salary_bump_cents: Sum of the raises that were applied.
        bankrupt: Whether funds are negative after it.
    """

    task_id: str
    client_name: str | None
    success: bool
    funds_delta_cents: int
    listed_reward_cents: int
    trust_delta_milli: int
    margin_us: int
    team_size: int
    salary_bump_cents: int
    bankrupt: bool


@attrs.frozen
class MilestoneReached:
    """A task's summed progress has reached a milestone, given in whole percent."""

    task_id: str
    percent: int


@attrs.frozen
class PayrollPaid:
    """All salaries were paid; ``funds_after_cents`` may be negative, which is bankruptcy."""

    funds_after_cents: int


@attrs.frozen
class HorizonEnd:
    """The simulated time is over."""


Event = TaskCompleted | MilestoneReached | PayrollPaid | HorizonEnd
"""Anything that wakes the agent."""


@attrs.frozen(slots=False)
class Outcome:
    """The result of ``transition(state, command)``.

    Args:
        state: The next state; the very same object when the command was refused or only asked something.
        refusal: Why the command was refused, None when it was carried out.
        events: What happened while time moved, in order.
    """

    state: State
    refusal: str | None = None
    events: tuple[Event, ...] = ()
