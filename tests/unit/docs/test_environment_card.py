"""The environment card is what the docstrings say."""

from environment_card import PAGE, environment_card


def test_the_environment_card_is_made_from_the_docstrings() -> None:
    assert environment_card() == PAGE.read_text(encoding="utf-8"), "run scripts/environment_card.py"
