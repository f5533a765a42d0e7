"""A linear programme's upper bound: prices from HiGHS, the bound by weak duality. The only importer of scipy."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

import attrs
import numpy as np

from ycbench_env import MissingExtraError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Programme", "dual_value", "upper_limit"]

_MARGIN = 1e-9  # of all that is summed up, far above what doubles lose in it


@attrs.frozen(eq=False)
class Programme:
    """Largest ``gains @ x`` with ``rows @ x <= limits`` and ``0 <= x <= most``.

    Args:
        gains: Gain of each variable.
        rows: One row of coefficients, none negative, a constraint.
        limits: Right-hand sides, none negative.
        most: Largest value of each variable, finite.
    """

    gains: NDArray[np.float64]
    rows: NDArray[np.float64]
    limits: NDArray[np.float64]
    most: NDArray[np.float64]


class _Library(Protocol):
    def linprog(
        self,
        c: NDArray[np.float64],
        *,
        A_ub: NDArray[np.float64],  # noqa: N803 -- scipy's
        b_ub: NDArray[np.float64],
        bounds: NDArray[np.float64],
        method: str,
    ) -> _Result: ...


class _Result(Protocol):
    success: bool
    message: str
    ineqlin: _Marginals


class _Marginals(Protocol):
    marginals: NDArray[np.float64]


def upper_limit(programme: Programme) -> float:
    """Return a number that no solution of a programme exceeds.

    HiGHS prices the constraints. Any prices at all make a bound by weak duality; it is worked out here, so that neither
    tolerances nor faults of the solver can make it too low.

    Raises:
        MissingExtraError: scipy is not installed.
    """
    if programme.gains.size == 0:
        return 0.0
    return dual_value(programme, _prices(programme))


def dual_value(programme: Programme, prices: NDArray[np.float64]) -> float:
    """Return the bound that prices of the constraints make, whatever they are; negative ones count as 0."""
    valid = np.maximum(prices, 0.0)
    reduced = np.maximum(programme.gains - valid @ programme.rows, 0.0)
    total = float(valid @ programme.limits) + float(reduced @ programme.most)
    return total + _MARGIN * (total + float(np.abs(programme.gains).max(initial=0.0)) + 1.0)


def _prices(programme: Programme) -> NDArray[np.float64]:
    try:
        library: object = import_module("scipy.optimize")  # an extra without types, and slow to import
    except ImportError as error:
        msg = "the bound needs scipy, which is not installed: pip install 'ycbench-env[planner]'"
        raise MissingExtraError(msg) from error
    result = cast("_Library", library).linprog(
        -programme.gains,
        A_ub=programme.rows,
        b_ub=programme.limits,
        bounds=np.column_stack([np.zeros_like(programme.most), programme.most]),
        method="highs",
    )
    if not result.success:  # any prices do; without any the bound is loose, never wrong
        return np.zeros_like(programme.limits)
    return -result.ineqlin.marginals
