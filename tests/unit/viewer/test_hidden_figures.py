from __future__ import annotations

import attrs
import numpy as np
import pytest

from ycbench_env.types.state import State
from ycbench_env.viewer import render_state


def _with_other_hidden_figures(state: State) -> State:
    return attrs.evolve(
        state,
        run_seed=state.run_seed + 1,
        slot_accepts=tuple(count + 7 for count in state.slot_accepts),
        clients=tuple(
            attrs.evolve(
                client,
                loyalty_milli=-client.loyalty_milli - 1,
                reward_multiplier_milli=client.reward_multiplier_milli + 500,
            )
            for client in state.clients
        ),
        tasks=tuple(attrs.evolve(task, completion_us=1, milestone_us=None) for task in state.tasks),
    )


@pytest.mark.parametrize("mode", ["ansi", "rgb_array", "human"])
def test_hidden_figures_change_no_picture(busy: State, mode: str, capsys: pytest.CaptureFixture[str]) -> None:
    twin = _with_other_hidden_figures(busy)
    assert twin.digest() != busy.digest()
    pictures = [render_state(state, mode) for state in (busy, twin)]
    printed = capsys.readouterr().out
    assert np.array_equal(pictures[0], pictures[1])  # pyright: ignore[reportArgumentType] -- or text
    assert printed[: len(printed) // 2] == printed[len(printed) // 2 :]


def test_the_comparison_would_notice_a_visible_figure(busy: State) -> None:
    other = attrs.evolve(busy, clients=tuple(attrs.evolve(client, trust_milli=1000) for client in busy.clients))
    assert render_state(other, "ansi") != render_state(busy, "ansi")
    assert not np.array_equal(_pixels(other), _pixels(busy))


def _pixels(state: State) -> np.ndarray:
    pixels = render_state(state, "rgb_array")
    assert isinstance(pixels, np.ndarray)
    return pixels
