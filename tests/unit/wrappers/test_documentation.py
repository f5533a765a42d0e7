"""docs/wrappers.md says what is so: its examples run, and no wrapper is left out."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import gymnasium as gym
import pytest

from ycbench_env import wrappers
from ycbench_env.observation.info import MAX_COMMAND_ECHO
from ycbench_env.wrappers.context_truncation import DEFAULT_KEEP_TURNS, MAX_TURN_LENGTH, MAX_WINDOW_LENGTH
from ycbench_env.wrappers.scratchpad_memory import DEFAULT_MAX_LENGTH

PAGE = Path(__file__).resolve().parents[3] / "docs" / "wrappers.md"
WRAPPERS = [name for name in wrappers.__all__ if isinstance(getattr(wrappers, name), type) and name != "Window"]


@pytest.fixture(scope="module")
def page() -> str:
    """The page."""
    return PAGE.read_text(encoding="utf-8")


def test_every_example_gives_what_the_page_says(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    for block in re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        exec(block, names)  # noqa: S102 -- this project's own page
    blocks = re.findall(r"^```pycon\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    example = doctest.DocTestParser().get_doctest("\n".join(blocks), names, PAGE.name, str(PAGE), 0)
    failed, attempted = doctest.DocTestRunner().run(example)
    assert attempted == page.count("\n>>> ")
    assert not failed, capsys.readouterr().out


@pytest.mark.parametrize("name", WRAPPERS)
def test_every_wrapper_has_its_chapter_and_an_example(name: str, page: str) -> None:
    assert issubclass(getattr(wrappers, name), gym.Wrapper)
    chapter = page.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    assert f"{name}(" in chapter


def test_the_limits_on_the_page_are_those_of_the_code(page: str) -> None:
    assert f"max_length={DEFAULT_MAX_LENGTH})" in page
    assert f"keep_turns={DEFAULT_KEEP_TURNS}, token_budget=None" in page
    assert f"cut after {MAX_COMMAND_ECHO} characters" in page
    assert f"{MAX_TURN_LENGTH:,} characters" in page
    assert f"{MAX_WINDOW_LENGTH // MAX_TURN_LENGTH} times as many" in page
