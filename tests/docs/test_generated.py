"""The generated parts of pages are those that their scripts make."""

from __future__ import annotations

import llm_page
from pages import updated


def test_tables_of_language_models() -> None:
    page = llm_page.PAGE.read_text(encoding="utf-8")
    assert updated(page, llm_page.tables()) == page, "run scripts/llm_page.py"
