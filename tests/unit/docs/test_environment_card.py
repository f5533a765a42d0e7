"""The environment card is what the docstrings say."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_the_environment_card_is_made_from_the_docstrings() -> None:
    spec = importlib.util.spec_from_file_location("environment_card", ROOT / "scripts" / "environment_card.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.environment_card() == module.PAGE.read_text(encoding="utf-8"), "run scripts/environment_card.py"
