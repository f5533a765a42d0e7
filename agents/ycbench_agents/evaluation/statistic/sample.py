"""The values of one group: for each seed those of its repeats, and the tally of what was planned."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from statistics import fmean
from typing import TYPE_CHECKING, Final, TypeAlias

import attrs

from ycbench_agents.evaluation.statistic.error import StatisticError
from ycbench_agents.evaluation.statistic.tally import Tally

if TYPE_CHECKING:
    from ycbench_agents.evaluation.episode import EpisodeStatus

__all__ = ["Sample", "SeedValues", "checked_values", "number", "seed_means", "seed_order"]

SeedValues: TypeAlias = Mapping[str, Sequence[float]]
"""The values of a seed's repeats by seed; none of a seed that was planned and has no finished episode."""

_LARGEST: Final = 2**53


def seed_order(seed: str) -> tuple[bool, int, str]:
    """Return the key that sorts seeds: numbers by size, then other texts."""
    is_number = seed.isascii() and seed.isdecimal() and len(seed) <= len(str(_LARGEST))
    return (not is_number, int(seed) if is_number else 0, seed)


def number(value: object, place: str) -> float:
    """Return a number as a float.

    Raises:
        StatisticError: It is none, not finite, or too large for a double to hold every whole number of its size.
    """
    if not isinstance(value, bool) and isinstance(value, Real):
        try:
            found = float(value)
        except OverflowError:  # a whole number beyond all doubles
            found = math.inf
        if abs(found) <= _LARGEST:
            return found
    msg = (
        f"{place}: got {value!r}, expected a finite number of at most 2**53 in size; what failed or is missing has no "
        "value: leave it out and count it in the tally"
    )
    raise StatisticError(msg)


def checked_values(values: SeedValues) -> Mapping[str, tuple[float, ...]]:
    """Return the values as floats, seeds in their order.

    Raises:
        StatisticError: A seed is no text or a value no finite number.
    """
    for seed in values:
        # Seeds may be salted hashes, so they are texts everywhere; 1 and "1" would silently not be paired.
        if not isinstance(seed, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- callers without a type checker
            msg = f"seed {seed!r}: got a {type(seed).__name__}, expected a text such as {str(seed)!r}"
            raise StatisticError(msg)
    return {
        seed: tuple(number(value, f"seed {seed}, repeat {i}") for i, value in enumerate(values[seed], 1))
        for seed in sorted(values, key=seed_order)
    }


def seed_means(values: SeedValues) -> dict[str, float]:
    """Return the mean over its repeats of each seed that has a value, in the order of seeds."""
    return {seed: fmean(values[seed]) for seed in sorted(values, key=seed_order) if values[seed]}


def _tally_of_values(sample: Sample) -> Tally:
    return Tally(run=sum(map(len, sample.values.values())))


@attrs.frozen
class Sample:
    """What one candidate got: its values by seed, and the tally of its planned episodes.

    Args:
        values: Final funds by seed, those of its repeats; a planned seed without a finished episode has none.
        tally: What was planned; by default the episodes that have a value and no others.

    Raises:
        StatisticError: A value is no finite number, or there are not as many values as episodes were run.
    """

    values: Mapping[str, tuple[float, ...]] = attrs.field(converter=checked_values)
    tally: Tally = attrs.field(default=attrs.Factory(_tally_of_values, takes_self=True))

    def __attrs_post_init__(self) -> None:
        """Refuse a tally of other episodes than those that have a value."""
        count = sum(map(len, self.values.values()))
        if count != self.tally.run:
            msg = (
                f"got {count} values and a tally of {self.tally.run} episodes that were run, expected as many of one "
                "as of the other; make the sample with Sample.of, which counts both"
            )
            raise StatisticError(msg)

    @classmethod
    def of(cls, episodes: Iterable[tuple[str, EpisodeStatus, float | None]]) -> Sample:
        """Return the sample of planned episodes: seed, what became of it, final funds.

        Args:
            episodes: Every planned episode; a finished one has funds, another has None.

        Raises:
            StatisticError: A finished episode has no funds, or another one has.
        """
        values: dict[str, list[float]] = {}
        statuses: list[EpisodeStatus] = []
        for seed, status, funds in episodes:
            _require_funds_exactly_if_finished(seed, status, funds)
            statuses.append(status)
            values.setdefault(seed, []).extend([] if funds is None else [funds])
        return cls(values, Tally.of(statuses))


def _require_funds_exactly_if_finished(seed: str, status: EpisodeStatus, funds: float | None) -> None:
    if (status == "finished") != (funds is not None):
        expected = "its final funds" if status == "finished" else "None: it enters no mean"
        msg = f"seed {seed}, {status}: got {funds!r}, expected {expected}"
        raise StatisticError(msg)
