"""What statistics come out as: frozen values that say where a number is not defined, and go to strict JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

import attrs

if TYPE_CHECKING:
    from ycbench_agents.base import Json, JsonObject

__all__ = ["Estimate", "Interval", "IntervalMethod", "Result"]

IntervalMethod: TypeAlias = Literal["bca", "student", "clopper_pearson"]


@attrs.frozen
class Result:
    """Something found, whose fields are numbers, texts, other results, and tuples or mappings of these."""

    def to_json(self) -> JsonObject:
        """Return it as strict JSON: None where a number is not defined, never NaN."""
        return {field.name: _json_of(getattr(self, field.name)) for field in attrs.fields(type(self))}


def _json_of(value: object) -> Json:
    if isinstance(value, Result):
        return value.to_json()
    if isinstance(value, tuple):
        return [_json_of(item) for item in cast("tuple[object, ...]", value)]
    if isinstance(value, Mapping):
        return {str(key): _json_of(item) for key, item in cast("Mapping[object, object]", value).items()}
    return cast("Json", value)


def _finite(_: object, attribute: attrs.Attribute[float | None], value: float | None) -> None:
    # What is not defined is None and says why; a NaN here is a fault of this package, and must not reach a file.
    if value is not None and not math.isfinite(value):
        msg = f"{attribute.name}: got {value}, expected a finite number or None"
        raise ValueError(msg)


@attrs.frozen
class Estimate(Result):
    """A number, or why there is none.

    Args:
        value: The number, None where it is not defined.
        reason: Why it is not defined, for people to read; None where it is.
    """

    value: float | None = attrs.field(validator=_finite)
    reason: str | None = None


@attrs.frozen
class Interval(Result):
    """A confidence interval, or why there is none.

    Args:
        low: Lower end, in the unit of the values; None where it is not defined.
        high: Upper end, None exactly where ``low`` is.
        confidence: Confidence that was asked for, such as 0.95.
        method: How it is made.
        reason: Why it is not defined, or what it must not be taken for; None for an ordinary one.
        coverage_limit: The most that its coverage can be for values of a symmetric distribution, whatever was asked
            for: ``1 - 2 / 2**n`` for an interval by resampling, which never reaches beyond the values. None for others.
    """

    low: float | None = attrs.field(validator=_finite)
    high: float | None = attrs.field(validator=_finite)
    confidence: float
    method: IntervalMethod
    reason: str | None = None
    coverage_limit: float | None = None
