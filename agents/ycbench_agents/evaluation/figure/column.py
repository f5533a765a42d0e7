"""Columns of tidy frames as plain values."""

# pandas' own types leave parts unknown, which strict mode reports at every call:
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from ycbench_agents.evaluation.figure.lettering import DOTS
from ycbench_agents.evaluation.statistic.sample import seed_means, seed_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd  # pyright: ignore[reportMissingTypeStubs] -- it has none, and is typed all the same

__all__ = ["SeedMeans", "means_by_seed", "numbers", "seed_names", "seeds_of", "texts", "values_of"]

_SEED_LETTERS: Final = 8  # of hashes, which have twenty
_SEED_DIGITS: Final = 12  # of numbers

SeedMeans = dict[str, dict[str, float]]
"""By policy, in the order of the frame, and seed: the mean over repeats of the values that are defined."""


def values_of(frame: pd.DataFrame, name: str) -> list[object]:
    """Return a column's values, None where one is missing.

    Raises:
        ValueError: There is no such column.
    """
    if name not in frame.columns:
        msg = f"frame: got the columns {', '.join(map(str, frame.columns))}, expected {name} among them"
        raise ValueError(msg)
    return cast("list[object]", frame[name].to_numpy(dtype=object, na_value=None).tolist())


def texts(frame: pd.DataFrame, name: str) -> list[str]:
    """Return a column of texts.

    Raises:
        ValueError: There is no such column.
    """
    return [str(value) for value in values_of(frame, name)]


def numbers(frame: pd.DataFrame, name: str) -> list[float | None]:
    """Return a column of numbers, None where one is not defined.

    Raises:
        ValueError: There is no such column.
    """
    return [None if value is None else float(cast("float", value)) for value in values_of(frame, name)]


def means_by_seed(policies: Sequence[str], seeds: Sequence[str], values: Sequence[float | None]) -> SeedMeans:
    """Return the mean over repeats of each policy and seed; a policy without a value has no seeds.

    Args:
        policies: One a row.
        seeds: Likewise.
        values: Likewise, None where there is none.
    """
    rows: dict[str, dict[str, list[float]]] = {}
    for policy, seed, value in zip(policies, seeds, values, strict=True):
        rows.setdefault(policy, {}).setdefault(seed, []).extend([] if value is None else [value])
    return {policy: seed_means(by_seed) for policy, by_seed in rows.items()}


def seeds_of(frame: pd.DataFrame) -> list[str]:
    """Return the seeds of a frame in their order: numbers by size, then other texts."""
    return sorted(set(texts(frame, "seed")), key=seed_order)


def seed_names(seeds: Sequence[str]) -> list[str]:
    """Return names of seeds: long numbers without their middle, and the first letters of hashes, each with dots.

    All stay whole where that would make two alike.
    """
    short = [_seed_name(seed) for seed in seeds]
    return short if len(set(short)) == len(set(seeds)) else list(seeds)


def _seed_name(seed: str) -> str:
    if not seed.isdecimal():
        return seed if len(seed) <= _SEED_LETTERS + 1 else f"{seed[:_SEED_LETTERS]}{DOTS}"
    return seed if len(seed) <= _SEED_DIGITS else f"{seed[: _SEED_DIGITS // 2]}{DOTS}{seed[-(_SEED_DIGITS // 3) :]}"
