"""All that is measured of one run (docs/measurements.md): a frozen value, strict JSON to and fro."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, Self, cast

import attrs

from ycbench_agents.evaluation.measurement import json_form

# The types of the fields are read at run time, see json_form.
from ycbench_agents.evaluation.measurement.company_measures import (
    Acceptance,
    ClientMeasures,
    Ending,
    Money,
    MonthEnd,
    PrestigePoint,
    TaskCounts,
)
from ycbench_agents.evaluation.measurement.conduct_measures import (
    Behaviour,
    CommandCalls,
    NotesMeasures,
    Reliability,
    TokenUse,
    Transport,
)
from ycbench_agents.evaluation.measurement.error import MeasurementError
from ycbench_agents.evaluation.measurement.failed_task import FailedTask
from ycbench_agents.evaluation.measurement.quotient import ratio

if TYPE_CHECKING:
    from ycbench_agents.base import JsonObject

__all__ = ["MEASURES_VERSION", "RunMeasures"]

MEASURES_VERSION: Final = 2
"""Version of the form and of the definitions; another one is measured anew."""

_FORMAT: Final = "format"
_CENTS: Final = 100


@attrs.frozen
class RunMeasures:
    """All that is measured of one run. Money is in cents.

    Args:
        status: running, stopped or finished, as in the record.
        is_complete: Whether the run is finished and none of its turns is lost; if not, it was measured as far as it
            goes.
        money: Revenue, fees, payroll, funds.
        ending: How and when it ended.
        tasks: What became of accepted tasks.
        acceptance: Tasks of adversarial clients; None in a world without clients.
        clients: Each client, in the order of the world.
        months: The start and the end of each month.
        prestige: Prestige by turn, where it changed.
        failures: Each failed task with its cause, in order of completion.
        notes: What the notes say of clients; None without a scratchpad.
        behaviour: Table 3.
        calls: Each command that was said, sorted by name.
        reliability: What went wrong.
        tokens: Tokens and cost.
        transport: Times and retries.
    """

    status: Literal["running", "stopped", "finished"]
    is_complete: bool
    money: Money
    ending: Ending
    tasks: TaskCounts
    acceptance: Acceptance | None
    clients: tuple[ClientMeasures, ...]
    months: tuple[MonthEnd, ...]
    prestige: tuple[PrestigePoint, ...]
    failures: tuple[FailedTask, ...]
    notes: NotesMeasures | None
    behaviour: Behaviour
    calls: tuple[CommandCalls, ...]
    reliability: Reliability
    tokens: TokenUse
    transport: Transport

    @property
    def revenue_per_usd(self) -> float | None:
        """Rewards in simulated dollars a dollar of cost (figure 5b); None without a known cost above 0."""
        return ratio(self.money.revenue_cents / _CENTS, self.tokens.cost_usd)

    def to_json(self) -> JsonObject:
        """Return the measures as a fresh JSON object, with the version of their form."""
        return {_FORMAT: MEASURES_VERSION, **json_form.to_json(self)}

    @classmethod
    def from_json(cls, value: object) -> Self:
        """Return the measures that ``to_json`` wrote.

        Raises:
            MeasurementError: They are of another version, or no measures at all.
        """
        fields = dict(cast("JsonObject", value)) if isinstance(value, dict) else {}
        version = fields.pop(_FORMAT, None)
        if type(version) is not int or version != MEASURES_VERSION:
            msg = f"measures: got format {version!r}, expected {MEASURES_VERSION}; measure the run anew"
            raise MeasurementError(msg)
        return json_form.from_json(cls, fields, "measures")
