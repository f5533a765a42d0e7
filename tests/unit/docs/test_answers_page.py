"""The page of answers is what the environment answers."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from ycbench_env.actions import DEFAULT_GRAMMAR

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("answers_page", ROOT / "scripts" / "answers_page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_of_answers_is_made_from_answers(script: ModuleType) -> None:
    assert script.answers_page() == script.PAGE.read_text(encoding="utf-8"), "run scripts/answers_page.py"


def test_every_command_and_every_kind_of_event_has_its_table(script: ModuleType) -> None:
    page = script.PAGE.read_text(encoding="utf-8")
    for name in [f"## `{spec.name}`" for spec in DEFAULT_GRAMMAR.commands]:
        assert f"\n{name}\n" in page
    for name in ("task_completed", "task_half", "monthly_payroll", "horizon_end"):
        assert f"\n### `{name}`\n" in page


def test_a_key_without_a_unit_stops_the_script(script: ModuleType) -> None:
    with pytest.raises(ValueError, match=r"new_figure \(integer\) needs a unit"):
        script._unit("new_figure", ["integer"])


def test_the_page_is_linked_where_readers_look() -> None:
    for page, link in (("README.md", "docs/answers.md"), ("docs/commands.md", "answers.md")):
        assert f"]({link})" in (ROOT / page).read_text(encoding="utf-8")
