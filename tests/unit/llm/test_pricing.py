"""What replies cost: prices by name, exact costs, unknown is never 0."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ycbench_agents.files import FileError
from ycbench_agents.llm.pricing import Price, TokenUsage, cost_usd, load_prices

DAY = "2026-01-15"
PRICE = Price(1.0, 4.0, DAY, cached_prompt=0.25)
COUNTS = st.integers(0, 10**9)


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("gpt-4.1", "gpt-4.1"),
        ("openai/gpt-4.1", "gpt-4.1"),
        ("gpt-4.1-2025-04-14", "gpt-4.1"),
        ("openai/gpt-4.1-20250414", "gpt-4.1"),
        ("gpt-4o-2024-05-13", "gpt-4o-2024-05-13"),
        ("anthropic/claude-opus-4.1", "claude-opus-4-1"),
    ],
)
def test_a_model_is_found_under_its_documented_names(name: str, model: str) -> None:
    prices = load_prices()
    assert prices.find(name) == prices.models[model]


@pytest.mark.parametrize("name", ["", "GPT-4.1", "gpt-4.1:free", "someone/gpt-4.1", "openai/openai/gpt-4.1", "gpt"])
def test_no_price_is_guessed(name: str) -> None:
    assert load_prices().find(name) is None


def test_cached_tokens_have_their_own_price_and_reasoning_costs_as_completion() -> None:
    assert cost_usd(TokenUsage(1_000_000, 500_000, 400_000, 100_000), PRICE) == 0.6 + 0.1 + 2.0
    assert cost_usd(TokenUsage(1_000_000, 0, None), Price(1.0, 4.0, DAY)) == 1.0
    assert cost_usd(TokenUsage(1, 1), Price(0.0, 0.0, DAY)) == 0.0
    assert cost_usd(TokenUsage(1, 1, 0), None) is None


@pytest.mark.parametrize(
    "usage", [TokenUsage(None, 1, 0), TokenUsage(1, None, 0), TokenUsage(1, 1, None), TokenUsage(1, 1, 2)]
)
def test_a_count_that_is_needed_and_unknown_makes_the_cost_unknown(usage: TokenUsage) -> None:
    assert cost_usd(usage, PRICE) is None


@given(COUNTS, COUNTS, st.decimals(0, 1000, places=4), st.decimals(0, 1000, places=4))
def test_a_cost_is_the_double_nearest_to_the_exact_one(
    prompt: int, completion: int, one: Decimal, two: Decimal
) -> None:
    exact = (prompt * one + completion * two) / 1_000_000
    assert cost_usd(TokenUsage(prompt, completion), Price(float(one), float(two), DAY)) == float(exact)


def test_a_price_goes_through_a_record() -> None:
    for price in (PRICE, Price(0.1, 2.5, DAY)):
        assert Price.from_json(json.loads(json.dumps(price.to_json()))) == price
    with pytest.raises(FileError, match="recorded price"):
        Price.from_json({"prompt": "much", "completion": 1, "as_of": DAY})


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_later_files_replace_whole_entries(tmp_path: Path) -> None:
    first = write(tmp_path, "a.toml", f'\ufeff[models."gpt-4.1"]\nprompt = 1\ncompletion = 2.5\nas_of = {DAY}\n')
    second = write(
        tmp_path, "b.toml", f'[models.new]\nprompt = 0.1\ncompletion = 2\nas_of = "{DAY}"\naliases = ["n"]\n'
    )
    prices = load_prices(first, write(tmp_path, "empty.toml", ""), second)
    assert prices.find("gpt-4.1") == Price(1.0, 2.5, DAY)
    assert prices.find("n") == Price(0.1, 2.0, DAY, aliases=("n",))
    assert prices.find("gpt-5") == load_prices().find("gpt-5")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[models.m", "not valid TOML"),
        ("models = 3", "models"),
        ("[model.m]", "model"),
        ("[models.m]\nprompt = 1", "missing: models['m'].completion"),
        (f'[models.m]\nprompt = "1"\ncompletion = 1\nas_of = {DAY}', "prompt"),
        (f"[models.m]\nprompt = -1\ncompletion = 1\nas_of = {DAY}", "must be >= 0: -1"),
        (f"[models.m]\nprompt = nan\ncompletion = 1\nas_of = {DAY}", "must be >= 0: nan"),
        (f"[models.m]\nprompt = 1\ncompletion = 1e7\nas_of = {DAY}", "must be <= 1000000: 10000000.0"),
        ('[models.m]\nprompt = 1\ncompletion = 1\nas_of = "today"', "'as_of' must match"),
        (f"[models.m]\nprompt = 1\ncompletion = 1\nas_of = {DAY}\ncached = 1", "cached"),
        (f"[models.my.model]\nprompt = 1\ncompletion = 1\nas_of = {DAY}", "model"),
        (f'[models.m]\nprompt = 1\ncompletion = 1\nas_of = {DAY}\naliases = ["gpt-4.1"]', 'models."gpt-4.1"'),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_its_key(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(FileError) as error:
        load_prices(write(tmp_path, "p.toml", text))
    assert problem in str(error.value)
    with pytest.raises(FileError, match="cannot be read"):
        load_prices(tmp_path / "none.toml")
