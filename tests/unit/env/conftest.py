"""Environments to look at from outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ycbench_env import YCBenchEnv
from ycbench_env.testing import tiny_config, tiny_state
from ycbench_env.types.state import State

Ask = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def env() -> YCBenchEnv:
    """The default world of seed 1, at its start."""
    made = YCBenchEnv()
    made.reset(seed=1)
    return made


@pytest.fixture
def tiny() -> Callable[..., YCBenchEnv]:
    """Makes the tiny world (200 units take 10 hours), in a given state or its first one, with settings changed."""

    def make(state: State | None = None, **overrides: object) -> YCBenchEnv:
        config = tiny_config(**overrides) if state is None else state.config
        made = YCBenchEnv(config)
        made.reset(seed=1)
        made.set_state(tiny_state(config) if state is None else state)
        return made

    return make
