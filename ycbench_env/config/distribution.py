"""The distributions that a world is drawn from: what each is called and which parameters it has.

Drawing itself is the generator's business. Whether low, mode and high agree, and which numbers a knob may draw, is
checked where a whole configuration is made.

Source: Y-1.2.
"""

from typing import Annotated, ClassVar, Final, Literal

from ycbench_env.config.kind import FloatKind, Interval
from ycbench_env.config.setting import Setting, value_class

__all__ = [
    "DISTRIBUTION_TYPES",
    "KNOB_PARAMETERS",
    "Beta",
    "Constant",
    "Distribution",
    "Normal",
    "Triangular",
    "Uniform",
]

_ANY: Final = FloatKind(Interval(-(10**12), 10**12))
# Far smaller shapes make Python's sampler divide by zero or overflow.
_SHAPE: Final = FloatKind(Interval(0.001, 1_000_000))
_SCALE: Final = FloatKind(Interval(0, 10**12))

KNOB_PARAMETERS: Final = ("low", "high", "mode", "value")
"""Parameters that are numbers a draw can be; the knob, not the distribution, says which are legal."""

_LOW: Final = Setting(_ANY, "smallest draw")
_HIGH: Final = Setting(_ANY, "largest draw")


@value_class
class Triangular:
    """A triangular draw, then clamped to [low, high]."""

    type: ClassVar[Literal["triangular"]] = "triangular"
    low: Annotated[float, _LOW]
    high: Annotated[float, _HIGH]
    mode: Annotated[float, Setting(_ANY, "most likely draw, from low to high")]


@value_class
class Beta:
    """``scale`` times a beta draw, clamped to [low, high], rounded to 4 places."""

    type: ClassVar[Literal["beta"]] = "beta"
    alpha: Annotated[float, Setting(_SHAPE, "first shape parameter")]
    beta: Annotated[float, Setting(_SHAPE, "second shape parameter")]
    scale: Annotated[float, Setting(_SCALE, "factor of the draw")]
    low: Annotated[float, _LOW]
    high: Annotated[float, _HIGH]


@value_class
class Normal:
    """A normal draw, clamped to [low, high], rounded to 4 places."""

    type: ClassVar[Literal["normal"]] = "normal"
    mean: Annotated[float, Setting(_ANY, "mean before clamping")]
    stdev: Annotated[float, Setting(_SCALE, "standard deviation before clamping; 0 = always the mean")]
    low: Annotated[float, _LOW]
    high: Annotated[float, _HIGH]


@value_class
class Uniform:
    """A uniform draw from [low, high]."""

    type: ClassVar[Literal["uniform"]] = "uniform"
    low: Annotated[float, _LOW]
    high: Annotated[float, _HIGH]


@value_class
class Constant:
    """Always the same number; consumes no draw."""

    type: ClassVar[Literal["constant"]] = "constant"
    value: Annotated[float, Setting(_ANY, "the number")]


Distribution = Triangular | Beta | Normal | Uniform | Constant
"""Any of the five."""

DISTRIBUTION_TYPES: Final[dict[str, type[Distribution]]] = {
    cls.type: cls for cls in (Triangular, Beta, Normal, Uniform, Constant)
}
"""The class of each ``type`` word."""
