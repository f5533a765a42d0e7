"""The part of scipy.stats that is used here, with types. The only importer of scipy in this package."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from ycbench_env import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Library", "library"]


class _Ends(Protocol):
    low: float
    high: float


class _Bootstrap(Protocol):
    confidence_interval: _Ends


class _Test(Protocol):
    pvalue: float


class _Student(Protocol):
    def ppf(self, q: float, df: float) -> float: ...


class _ChiSquare(Protocol):
    def cdf(self, x: NDArray[np.float64], df: float) -> NDArray[np.float64]: ...


class _Beta(Protocol):
    def ppf(self, q: float, a: float, b: float) -> float: ...


class Library(Protocol):
    """What is used of scipy.stats."""

    @property
    def t(self) -> _Student:
        """Student's distribution."""
        ...

    @property
    def chi2(self) -> _ChiSquare:
        """The chi-square distribution."""
        ...

    @property
    def beta(self) -> _Beta:
        """The beta distribution."""
        ...

    def binomtest(self, k: int, n: int) -> _Test:
        """Return the exact two-sided binomial test of a fair coin."""
        ...

    def bootstrap(  # noqa: PLR0913 -- scipy's
        self,
        data: tuple[NDArray[np.float64]],
        statistic: Callable[[NDArray[np.float64], int], NDArray[np.float64]],
        *,
        vectorized: bool,
        n_resamples: int,
        batch: int,
        confidence_level: float,
        method: str,
        rng: np.random.Generator,
    ) -> _Bootstrap:
        """Return the bootstrap of a statistic."""
        ...

    def permutation_test(  # noqa: PLR0913 -- scipy's
        self,
        data: tuple[NDArray[np.float64]],
        statistic: Callable[[NDArray[np.float64], int], NDArray[np.float64]],
        *,
        permutation_type: str,
        vectorized: bool,
        n_resamples: int,
        batch: int,
        alternative: str,
        rng: np.random.Generator,
    ) -> _Test:
        """Return the permutation test of a statistic."""
        ...


def library() -> Library:
    """Return scipy.stats.

    Raises:
        MissingExtraError: scipy is not installed.
    """
    try:
        found: object = import_module("scipy.stats")  # an extra without types, and slow to import
    except ImportError as error:
        msg = "statistics need scipy, which is not installed: pip install 'ycbench-env[evaluation]'"
        raise MissingExtraError(msg) from error
    return cast("Library", found)
