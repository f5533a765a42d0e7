"""What a setting that is a list may hold: one small class for each kind of list."""

import itertools

import attrs

from ycbench_env.config.kind import FloatKind, Interval, IntKind, UnfitError

__all__ = ["LadderKind", "MilestonesKind"]


@attrs.frozen
class MilestonesKind:
    """Strictly ascending fractions of a task's work, each above 0 and at most 1."""

    longest: int
    decimals: int
    label: str = attrs.field(default="list of float", init=False)

    @property
    def range_text(self) -> str:
        """Order, interval, decimal places and length in words."""
        element = FloatKind(Interval(0, 1, above=True), self.decimals).range_text
        return f"strictly ascending, each {element}; at most {self.longest} of them; empty = none"

    def read(self, value: object) -> tuple[float, ...]:
        """Returns the fractions; see ``Kind.read``."""
        if isinstance(value, list | tuple) and len(value) <= self.longest:  # pyright: ignore[reportUnknownArgumentType] - elements are read below
            fractions = self._fractions(value)  # pyright: ignore[reportUnknownArgumentType] - as above
            if all(left < right for left, right in itertools.pairwise(fractions)):
                return fractions
        raise self._unfit()

    def _fractions(self, values: list[object] | tuple[object, ...]) -> tuple[float, ...]:
        """Returns each element as a fraction."""
        element = FloatKind(Interval(0, 1, above=True), self.decimals)
        try:
            return tuple(element.read(value) for value in values)
        except UnfitError:
            raise self._unfit() from None

    def _unfit(self) -> UnfitError:
        """Returns the error for any value that is not of this kind."""
        return UnfitError(f"expected a list of fractions, {self.range_text}")


@attrs.frozen
class LadderKind:
    """Whole numbers in an order of their own, one for each of the first of a row of things."""

    interval: Interval
    longest: int
    label: str = attrs.field(default="list of int", init=False)

    @property
    def range_text(self) -> str:
        """Interval and length in words."""
        return f"each {self.interval}; at most {self.longest:_} of them; empty = none"

    def read(self, value: object) -> tuple[int, ...]:
        """Returns the numbers; see ``Kind.read``."""
        if isinstance(value, list | tuple) and len(value) <= self.longest:  # pyright: ignore[reportUnknownArgumentType] - elements are read below
            return self._numbers(value)  # pyright: ignore[reportUnknownArgumentType] - as above
        raise self._unfit()

    def _numbers(self, values: list[object] | tuple[object, ...]) -> tuple[int, ...]:
        """Returns each element as a whole number."""
        element = IntKind(self.interval)
        try:
            return tuple(element.read(value) for value in values)
        except UnfitError:
            raise self._unfit() from None

    def _unfit(self) -> UnfitError:
        """Returns the error for any value that is not of this kind."""
        return UnfitError(f"expected a list of whole numbers, {self.range_text}")
