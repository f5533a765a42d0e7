"""Public test kit: check an environment, play one with Hypothesis, or work sums out in a tiny world.

Three lines check any environment of this contract::

    from ycbench_env.testing import check_conformance

    check_conformance(lambda: MyWrapper(gymnasium.make("YCBench-v0")))

The strategies and the state machine need the extra `testing` (Hypothesis). See docs/testing.md.
"""

from typing import TYPE_CHECKING, Any

from ycbench_env.errors import needs_extra
from ycbench_env.testing.conformance import check_conformance, sample_command, sample_turn
from ycbench_env.testing.invariants import check_state, check_turn
from ycbench_env.testing.tiny import started, tiny_config, tiny_state

if TYPE_CHECKING:  # imported when first used: they need Hypothesis
    from ycbench_env.testing.state_machine import YCBenchMachine, machine_for
    from ycbench_env.testing.strategies import (
        hostile_actions,
        hostile_texts,
        turns,
        valid_commands,
        valid_configs,
    )

__all__ = [
    "YCBenchMachine",
    "check_conformance",
    "check_state",
    "check_turn",
    "hostile_actions",
    "hostile_texts",
    "machine_for",
    "sample_command",
    "sample_turn",
    "started",
    "tiny_config",
    "tiny_state",
    "turns",
    "valid_commands",
    "valid_configs",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 -- PEP 562
    """Import a name that needs Hypothesis."""
    if name not in __all__:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    with needs_extra("testing", f"{name} needs hypothesis"):
        from ycbench_env.testing import state_machine, strategies  # noqa: PLC0415 -- an extra
    return getattr(state_machine if hasattr(state_machine, name) else strategies, name)
