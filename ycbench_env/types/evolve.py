"""Copies of frozen values with some fields changed, and figures that such values keep once they are computed.

``attrs.evolve`` looks all fields up and runs the initialiser, about 6 us for a state; a simulated year makes thousands
of copies. The classes it is used on are frozen with ``slots=False`` for this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Generic, Protocol, Self, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Evolving", "evolve", "kept"]


class Evolving(Protocol):
    """A frozen value; its kept figures name the field that each is computed from."""

    KEPT: ClassVar[Mapping[str, tuple[str, ...]]]
    """By field: the kept figures that depend on it; a copy keeps them while that field stays."""


_Evolving = TypeVar("_Evolving", bound=Evolving)
_Owner = TypeVar("_Owner")
_Value = TypeVar("_Value")


def evolve(value: _Evolving, **changes: object) -> _Evolving:
    """Return a copy of a frozen value with some fields changed; the names must be fields of it.

    A kept figure may be given too, where the caller knows it already.
    """
    copy = object.__new__(type(value))
    fields = copy.__dict__
    fields.update(value.__dict__)
    dependent = value.KEPT
    for name in dependent:
        if name in changes and changes[name] is not fields[name]:
            for figure in dependent[name]:
                fields.pop(figure, None)
    fields.update(changes)
    return copy


class kept(Generic[_Owner, _Value]):  # noqa: N801 -- used as a decorator
    """A property that is computed once and kept in the instance.

    Like ``functools.cached_property``, whose lock costs several microseconds on Python 3.11. Without a lock two threads
    may both compute the same value, which does no harm.
    """

    def __init__(self, compute: Callable[[_Owner], _Value]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__
        self._name = compute.__name__

    @overload
    def __get__(self, instance: None, owner: type[_Owner]) -> Self: ...

    @overload
    def __get__(self, instance: _Owner, owner: type[_Owner]) -> _Value: ...

    def __get__(self, instance: _Owner | None, owner: type[_Owner]) -> Self | _Value:
        """Return the figure; the next look finds it in the instance."""
        if instance is None:
            return self
        value = self._compute(instance)
        instance.__dict__[self._name] = value
        return value
