"""What one command did to the world."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from ycbench_env.types.event import Event
    from ycbench_env.types.state import State

__all__ = ["Outcome"]


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
