"""docs/classic.md says what was measured, and a part of it is played again."""

from __future__ import annotations

import json
from typing import Any

import classic_page as script
import pytest
from pages import updated


@pytest.fixture(scope="module")
def scores() -> dict[str, Any]:
    return json.loads(script.MEASURED.read_text(encoding="utf-8"))


def test_tables_are_what_was_measured(scores: dict[str, Any]) -> None:
    page = script.PAGE.read_text(encoding="utf-8")
    assert updated(page, script.tables(scores)) == page, "run scripts/classic_page.py write"


@pytest.mark.slow
@pytest.mark.parametrize("preset", script.PRESETS[:-1])  # three years of the last one take long to play
def test_scores_of_the_first_seed_play_again(scores: dict[str, Any], preset: str) -> None:
    measured = scores["results"][preset]
    assert {name: script._played((preset, name, 1)) for name in measured} == {
        name: rows[0] for name, rows in measured.items()
    }


@pytest.mark.slow
def test_the_watched_run_plays_again(scores: dict[str, Any]) -> None:
    domain, names = script.SHOWN
    again = [
        [time, [[round(rate, 4) for rate in rates[name, domain]] for name in names]]
        for time, rates in script._moments(script.WATCHED[1])
    ]
    assert again == scores["run"]
