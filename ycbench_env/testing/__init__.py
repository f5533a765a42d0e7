"""Public test kit: check an environment, play one with Hypothesis, or work sums out in a tiny world.

Three lines check any environment of this contract::

    from ycbench_env.testing import check_conformance

    check_conformance(lambda: MyWrapper(gymnasium.make("YCBench-v0")))

The strategies and the state machine need the extra `testing`, the rest needs nothing more than the package itself.
Names are imported when they are first used. See docs/testing.md.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

from ycbench_env.errors import MissingExtraError

if TYPE_CHECKING:
    from ycbench_env.testing.conformance import check_conformance, sample_command, sample_turn
    from ycbench_env.testing.invariants import check_state, check_turn
    from ycbench_env.testing.state_machine import YCBenchMachine, machine_for
    from ycbench_env.testing.strategies import (
        HIDDEN_FIELDS,
        HIDDEN_UNLESS,
        hostile_actions,
        hostile_texts,
        reshuffled_clients,
        turns,
        valid_commands,
        valid_configs,
        with_other_hidden_fields,
        with_other_rates,
    )
    from ycbench_env.testing.tiny import started, tiny_config, tiny_state

__all__ = [
    "HIDDEN_FIELDS",
    "HIDDEN_UNLESS",
    "YCBenchMachine",
    "check_conformance",
    "check_state",
    "check_turn",
    "hostile_actions",
    "hostile_texts",
    "machine_for",
    "reshuffled_clients",
    "sample_command",
    "sample_turn",
    "started",
    "tiny_config",
    "tiny_state",
    "turns",
    "valid_commands",
    "valid_configs",
    "with_other_hidden_fields",
    "with_other_rates",
]

_MODULES: Final = {
    "conformance": ("check_conformance", "sample_command", "sample_turn"),
    "invariants": ("check_state", "check_turn"),
    "strategies": (
        "HIDDEN_FIELDS",
        "HIDDEN_UNLESS",
        "hostile_actions",
        "hostile_texts",
        "reshuffled_clients",
        "turns",
        "valid_commands",
        "valid_configs",
        "with_other_hidden_fields",
        "with_other_rates",
    ),
    "state_machine": ("YCBenchMachine", "machine_for"),
    "tiny": ("started", "tiny_config", "tiny_state"),
}
_HOME: Final = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:  # noqa: ANN401 -- PEP 562
    """Import a public name from its module.

    Raises:
        MissingExtraError: It needs Hypothesis, which is not installed.
    """
    module = _HOME.get(name)
    if module is None:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    try:
        return getattr(importlib.import_module(f"{__name__}.{module}"), name)
    except ImportError as error:
        if (error.name or "").partition(".")[0] != "hypothesis":
            raise
        message = (
            f"{name} needs hypothesis ({error}); install it with pip install '.[testing]' in this project's folder"
        )
        raise MissingExtraError(message) from error


def __dir__() -> list[str]:
    """Return the public names, also those not imported yet."""
    return sorted(__all__)
