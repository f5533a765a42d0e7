"""The page of answers is what the environment answers."""

from pathlib import Path

import answers_page
import pytest

from ycbench_env.actions import DEFAULT_GRAMMAR

ROOT = Path(__file__).resolve().parents[3]
PAGE = answers_page.PAGE.read_text(encoding="utf-8")


def test_the_page_of_answers_is_made_from_answers() -> None:
    assert answers_page.answers_page() == PAGE, "run scripts/answers_page.py"


def test_every_command_and_every_kind_of_event_has_its_table() -> None:
    commands = [f"## `{spec.name}`" for spec in DEFAULT_GRAMMAR.commands]
    events = [f"### `{name}`" for name in ("task_completed", "task_half", "monthly_payroll", "horizon_end")]
    assert [heading for heading in (*commands, *events) if f"\n{heading}\n" not in PAGE] == []


def test_a_key_without_a_unit_stops_the_script() -> None:
    with pytest.raises(ValueError, match=r"new_figure \(integer\) needs a unit"):
        answers_page._unit("new_figure", "integer")


@pytest.mark.parametrize(("page", "link"), [("README.md", "docs/answers.md"), ("docs/commands.md", "answers.md")])
def test_the_page_is_linked_where_readers_look(page: str, link: str) -> None:
    assert f"]({link})" in (ROOT / page).read_text(encoding="utf-8")
