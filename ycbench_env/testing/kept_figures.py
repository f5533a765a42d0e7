"""Whether the figures that a state keeps, once computed, are still right."""

from __future__ import annotations

from typing import Any, Final, cast

import attrs

from ycbench_env.config import Config
from ycbench_env.testing.assertions import require
from ycbench_env.transition.draft import Draft
from ycbench_env.types.state import State

__all__ = ["check_kept_figures"]

_RATES: Final = "rates"


def check_kept_figures(state: State) -> None:
    """Checks that every figure that a state, or a value in it, keeps is what it would compute anew."""
    _check_value(state, _rebuilt(state), "state")
    _check_rates(state)


def _check_rates(state: State) -> None:
    """Checks the rates that active tasks keep; they depend on the staff and on all active tasks, so no task knows."""
    draft = Draft.of(state)
    load = draft.load()
    for index in state.active_indices:
        rates = state.tasks[index].rates
        if rates is not None and rates.staff is state.employees:
            require(rates == draft.rates(state.tasks[index], load), f"state.tasks[{index}] keeps outdated rates")


def _rebuilt(value: object) -> Any:  # noqa: ANN401 -- any value of a state
    """Return an equal value that keeps nothing yet."""
    if isinstance(value, tuple):
        return tuple(_rebuilt(item) for item in cast("tuple[object, ...]", value))
    names = _fields(value)
    return type(value)(**{name: _rebuilt(getattr(value, name)) for name in names}) if names else value


def _check_value(value: object, fresh: Any, path: str) -> None:  # noqa: ANN401 -- any value of a state
    if isinstance(value, tuple):
        for place, (item, other) in enumerate(zip(cast("tuple[object, ...]", value), fresh, strict=True)):
            _check_value(item, other, f"{path}[{place}]")
    elif names := _fields(value):
        for name, kept in vars(value).items():
            if name in names:
                _check_value(kept, getattr(fresh, name), f"{path}.{name}")
            elif name != _RATES:
                require(kept == getattr(fresh, name), f"{path} keeps an outdated {name}")


def _fields(value: object) -> tuple[str, ...]:
    """Return the names of the fields of a value of the state; () for plain values and the configuration."""
    kind = type(value)
    if isinstance(value, Config) or not attrs.has(kind):
        return ()
    return tuple(field.name for field in attrs.fields(kind))
