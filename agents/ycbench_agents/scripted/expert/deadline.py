"""Which deadlines tasks will get, learned from those that were given: so many units a day, by one of two rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ycbench_agents.scripted.answer import Work

__all__ = ["Deadlines"]

_LEAST_DAYS: Final = 7.0
_UNITS_A_DAY: Final = 300.0  # until some deadline tells more
_HALF: Final = 0.5


@attrs.define
class _Rule:
    """Units a day, as far as deadlines have bounded them, if a rule holds."""

    low: float = 0.0
    high: float = float("inf")

    @property
    def holds(self) -> bool:
        return self.low <= self.high

    @property
    def units_a_day(self) -> float:
        return self.high if self.high < float("inf") else max(self.low, _UNITS_A_DAY)


class Deadlines:
    """Expects deadlines; by the largest or the summed work of a task, whichever agrees with what was seen."""

    def __init__(self) -> None:
        """Make one that has seen no deadline."""
        self._least = _LEAST_DAYS
        self._rules = (_Rule(), _Rule())

    def learn(self, work: Work, days: float) -> None:
        """Take in how many working days were given for work."""
        if not work or days <= 0:
            return
        self._least = min(self._least, days)
        for rule, units in zip(self._rules, _bases(work), strict=True):
            rule.low = max(rule.low, units / (days + 1))
            if days > self._least + _HALF:
                rule.high = min(rule.high, units / days)

    def days(self, work: Work) -> float:
        """Return the working days that work will be given at least, by the rules that hold."""
        expected = [
            int(units / rule.units_a_day) for rule, units in zip(self._rules, _bases(work), strict=True) if rule.holds
        ]
        return max(self._least, min(expected, default=0))


def _bases(work: Work) -> Iterator[float]:
    """Yield what each rule goes by."""
    yield max([units for _, units in work])
    total = 0.0
    for _, units in work:
        total += units
    yield total
