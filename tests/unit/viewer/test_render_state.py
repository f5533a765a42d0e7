from __future__ import annotations

import subprocess
import sys

import gymnasium as gym
import numpy as np
import pytest

import ycbench_env
from ycbench_env.errors import ConfigError, MissingExtraError
from ycbench_env.types.state import State
from ycbench_env.viewer import render_state


def _block(monkeypatch: pytest.MonkeyPatch, library: str) -> None:
    """Make every import of a library fail, also where it is loaded already."""
    for name in list(sys.modules):
        if name == library or name.startswith(f"{library}."):
            monkeypatch.setitem(sys.modules, name, None)  # None stops imports
        elif name.startswith("ycbench_env.viewer."):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)


@pytest.mark.parametrize(("mode", "library"), [("human", "rich"), ("rgb_array", "matplotlib")])
def test_a_missing_library_is_named_with_its_extra(
    start: State, mode: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _block(monkeypatch, library)
    with pytest.raises(MissingExtraError, match=rf"needs {library} .*pip install 'ycbench-env\[render\]'"):
        render_state(start, mode)


def test_text_needs_neither_library(start: State, monkeypatch: pytest.MonkeyPatch) -> None:
    _block(monkeypatch, "rich")
    _block(monkeypatch, "matplotlib")
    assert str(render_state(start, "ansi")).startswith("Acme\n")


def test_an_unknown_mode_is_refused_with_the_list_of_modes(start: State) -> None:
    with pytest.raises(ConfigError, match="got 'svg', expected one of ansi, human, rgb_array"):
        render_state(start, "svg")


def test_importing_the_viewer_loads_no_optional_library() -> None:
    program = (
        "import sys, ycbench_env.viewer; print({'rich', 'matplotlib'} & {name.split('.')[0] for name in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)  # noqa: S603 -- written above
    assert done.stdout == "set()\n"


@pytest.mark.parametrize("mode", ["ansi", "rgb_array"])
def test_the_environment_renders_its_state(mode: str) -> None:
    env = gym.make("YCBench-v0", render_mode=mode)
    env.reset(seed=1)
    inner = env.unwrapped
    assert isinstance(inner, ycbench_env.YCBenchEnv)
    assert np.array_equal(env.render(), render_state(inner.get_state(), mode))  # pyright: ignore[reportArgumentType] -- text or array
    env.close()


def test_the_environment_prints_each_turn_in_mode_human(capsys: pytest.CaptureFixture[str]) -> None:
    env = gym.make("YCBench-v0", render_mode="human")
    env.reset(seed=1)
    assert "turn 1," in capsys.readouterr().out
    env.step("company status")
    assert "turn 2," in capsys.readouterr().out
    env.close()
