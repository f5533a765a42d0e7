"""What came of one rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ycbench_agents.base import JsonObject

__all__ = ["Check", "CheckStatus", "judged", "not_applicable"]

CheckStatus: TypeAlias = Literal["passed", "failed", "not applicable"]
"""Whether a rule holds; a rule that asks for nothing, or that nothing can break, is not applicable."""


@attrs.frozen
class Check:
    """What came of one rule.

    Args:
        rule: Name of the rule.
        status: passed, failed or not applicable.
        got: What there is.
        expected: What the rule asks for, and how to put it right where that is not plain.
        where: Each place that breaks it, one line each; () unless it failed.
    """

    rule: str
    status: CheckStatus
    got: str
    expected: str
    where: tuple[str, ...] = ()

    @property
    def is_failed(self) -> bool:
        """Whether the evaluation breaks the rule."""
        return self.status == "failed"

    def to_dict(self) -> JsonObject:
        """Return it as JSON values."""
        return {
            "rule": self.rule,
            "status": self.status,
            "got": self.got,
            "expected": self.expected,
            "where": list(self.where),
        }


def judged(rule: str, got: str, expected: str, faults: Iterable[str]) -> Check:
    """Return the check of a rule that holds where there are no faults."""
    where = tuple(faults)
    return Check(rule, "failed" if where else "passed", got, expected, where)


def not_applicable(rule: str, got: str, expected: str) -> Check:
    """Return the check of a rule that asks for nothing here."""
    return Check(rule, "not applicable", got, expected)
