"""Prices: which one a name has, what files may say, and costs that are exact or unknown (B46)."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ycbench_agents.llm.message import TokenUsage
from ycbench_agents.llm.pricing import Price, PriceError, Prices, cost_usd, load_prices
from ycbench_agents.llm.usage import UsageTotal

DAY: Final = dt.date(2025, 8, 7)
PRICES: Final = Prices(
    {
        "gpt-4o": Price(Decimal("2.5"), Decimal(10), DAY, Decimal("1.25"), "openai"),
        "gpt-4o-2024-05-13": Price(Decimal(5), Decimal(15), DAY, provider="openai"),
        "local": Price(Decimal(0), Decimal(0), DAY),
        "opus-4-1": Price(Decimal(15), Decimal(75), DAY, None, "anthropic", ("anthropic/opus-4.1",)),
    }
)
ENTRY: Final = "prompt = 1\ncompletion = 2\nas_of = 2025-08-07\n"


@pytest.fixture
def prices_file(tmp_path: Path) -> Path:
    return tmp_path / "my prices.toml"


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("gpt-4o", "gpt-4o"),
        ("openai/gpt-4o", "gpt-4o"),
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("gpt-4o-20240806", "gpt-4o"),
        ("openai/gpt-4o-2024-08-06", "gpt-4o"),
        ("gpt-4o-2024-05-13", "gpt-4o-2024-05-13"),
        ("openai/gpt-4o-2024-05-13", "gpt-4o-2024-05-13"),
        ("anthropic/opus-4.1", "opus-4-1"),
        ("anthropic/opus-4.1-20250805", "opus-4-1"),
        ("anthropic/opus-4-1", "opus-4-1"),
        ("local", "local"),
    ],
)
def test_a_model_is_found_under_its_documented_names(name: str, model: str) -> None:
    assert PRICES.find(name) is PRICES.models[model]


@pytest.mark.parametrize(
    "name",
    [
        "",
        "gpt-4",
        "gpt-4o-mini",
        "gpt-4o-latest",
        "GPT-4o",
        "gpt-4o:free",
        "openai/gpt-4o:free",
        "azure/gpt-4o",
        "proxy/openai/gpt-4o",
        "/gpt-4o",
        "None/local",
        "openai/local",
        "gpt-4o-2024-08",
        "gpt-4o-2024-08-06-preview",
        "gpt-4o-2024-08-06-2024-08-06",
        "opus-4.1",
        "-2024-08-06",
    ],
)
def test_no_price_is_guessed(name: str) -> None:
    assert PRICES.find(name) is None
    assert cost_usd(name, TokenUsage(1, 1, 0, 0), PRICES) is None


def test_reasoning_costs_as_completion_and_cached_tokens_have_their_own_price() -> None:
    usage = TokenUsage(prompt=1_000_000, completion=200_000, cached=400_000, reasoning=150_000)
    assert cost_usd("gpt-4o", usage, PRICES) == 0.6 * 2.5 + 0.4 * 1.25 + 0.2 * 10


@pytest.mark.parametrize(
    "usage",
    [
        TokenUsage(None, 5, 0, 0),
        TokenUsage(5, None, 0, 0),
        TokenUsage(5, 5, None, 0),
        TokenUsage(5, 5, 6, 0),
        TokenUsage(),
    ],
)
def test_a_count_that_is_needed_and_unknown_makes_the_cost_unknown(usage: TokenUsage) -> None:
    assert cost_usd("gpt-4o", usage, PRICES) is None


def test_counts_that_are_not_needed_may_be_unknown() -> None:
    assert cost_usd("gpt-4o-2024-05-13", TokenUsage(1_000_000, 0), PRICES) == 5.0
    same = Prices({"m": Price(Decimal(2), Decimal(4), DAY, Decimal("2.0"))})
    assert cost_usd("m", TokenUsage(500_000, 0), same) == 1.0


def test_a_price_of_zero_costs_nothing_and_no_price_costs_something_unknown() -> None:
    assert cost_usd("local", TokenUsage(10, 10), PRICES) == 0.0
    assert cost_usd("local", TokenUsage(10), PRICES) is None
    assert cost_usd("unlisted", TokenUsage(10, 10), PRICES) is None


AMOUNTS: Final = st.decimals(0, 1000, places=6)
COUNTS: Final = st.integers(0, 10**9)


@given(AMOUNTS, AMOUNTS, AMOUNTS, COUNTS, COUNTS, st.floats(0, 1))
def test_a_cost_is_the_double_nearest_to_the_exact_one(  # noqa: PLR0913 -- what a cost is made from
    prompt_price: Decimal, cached_price: Decimal, completion_price: Decimal, prompt: int, completion: int, share: float
) -> None:
    cached = int(prompt * share)
    prices = Prices({"m": Price(prompt_price, completion_price, DAY, cached_price)})
    exact = (
        Fraction(prompt_price) * (prompt - cached)
        + Fraction(cached_price) * cached
        + Fraction(completion_price) * completion
    ) / 10**6
    assert cost_usd("m", TokenUsage(prompt, completion, cached), prices) == float(exact)


def test_the_cost_of_many_turns_is_exact_where_a_sum_of_doubles_is_not() -> None:
    prices = Prices({"m": Price(Decimal("0.1"), Decimal(0), DAY)})
    turns = [TokenUsage(1_000_000, 0)] * 10
    assert sum(cost_usd("m", turn, prices) or 0 for turn in turns) != 1.0
    assert cost_usd("m", UsageTotal.of(turns).usage, prices) == 1.0
    assert cost_usd("m", UsageTotal.of([*turns, TokenUsage()]).usage, prices) is None


# ---------------------------------------------------------------- the built-in table


def test_every_built_in_price_is_dated_and_positive() -> None:
    models = load_prices().models
    assert len(models) >= 10
    for price in models.values():
        assert 0 < price.prompt < price.completion
        assert price.cached_prompt is None or 0 < price.cached_prompt < price.prompt
        assert dt.date(2025, 1, 1) <= price.as_of <= dt.date(2026, 11, 30)


def test_built_in_prices_are_read_exactly() -> None:
    price = load_prices().find("openai/gpt-4o-mini-2024-07-18")
    assert price == Price(Decimal("0.15"), Decimal("0.60"), DAY, Decimal("0.075"), "openai")


def test_a_price_is_recorded_exactly() -> None:
    assert load_prices().models["gpt-4o-mini"].to_json() == {
        "prompt": "0.15",
        "cached_prompt": "0.075",
        "completion": "0.60",
        "as_of": "2025-08-07",
    }


def test_every_built_in_alias_leads_to_its_model() -> None:
    prices = load_prices()
    for name, price in prices.models.items():
        assert all(prices.find(known) is price for known in (name, *price.aliases))


# ---------------------------------------------------------------- files of users


def test_a_file_adds_models_and_replaces_whole_entries(prices_file: Path) -> None:
    prices_file.write_text(f'[models.gpt-4o]\n{ENTRY}\n[models."my/model.v1"]\n{ENTRY}', encoding="utf-8")
    prices = load_prices(prices_file)
    new = Price(Decimal(1), Decimal(2), DAY)
    assert prices.find("gpt-4o") == prices.find("my/model.v1") == new
    assert prices.find("openai/gpt-4o") is None
    assert prices.find("gpt-4o-mini") == load_prices().find("gpt-4o-mini")


def test_later_files_win(tmp_path: Path) -> None:
    paths = [tmp_path / "a.toml", tmp_path / "b.toml"]
    for amount, path in enumerate(paths):
        path.write_text(f"[models.m]\nprompt = {amount}\ncompletion = 0\nas_of = 2025-08-07\n", encoding="utf-8")
    assert load_prices(*paths).models["m"].prompt == 1
    assert load_prices(*map(str, reversed(paths))).models["m"].prompt == 0


def test_a_byte_order_mark_and_an_empty_file_are_no_faults(prices_file: Path) -> None:
    prices_file.write_text(f"[models.m]\n{ENTRY}", encoding="utf-8-sig")
    assert "m" in load_prices(prices_file).models
    prices_file.write_text("", encoding="utf-8")
    assert load_prices(prices_file) == load_prices()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[models.m]\nprompt = -1\n" + ENTRY[11:],
            r'models."m".prompt: got -1, expected US dollars per million tokens',
        ),
        ("[models.m]\nprompt = true\n" + ENTRY[11:], r'models."m".prompt: got True'),
        ("[models.m]\nprompt = '1'\n" + ENTRY[11:], r"models.\"m\".prompt: got '1'"),
        ("[models.m]\nprompt = nan\n" + ENTRY[11:], r'models."m".prompt: got NaN'),
        ("[models.m]\nprompt = inf\n" + ENTRY[11:], r'models."m".prompt: got Infinity'),
        ("[models.m]\nprompt = 1e-13\n" + ENTRY[11:], r'models."m".prompt: got 1E-13, expected .* at most 12 decimals'),
        ("[models.m]\nprompt = 1e300\n" + ENTRY[11:], r'models."m".prompt: got 1E\+300, expected .* 1_000_000'),
        ("[models.m]\nprompt = 0e999999\n" + ENTRY[11:], r'models."m".prompt: got 0E\+999999'),
        ("[models.m]\nprompt = 1e99999999999999999999\n", r"no valid TOML"),
        (f"[models.m]\n{ENTRY}cached = 1\n", r'models."m".cached: unknown key, .* did you mean cached_prompt\?'),
        (f"[models.m]\n{ENTRY}cached_prompt = []\n", r'models."m".cached_prompt: got \[\]'),
        (f"[models.gpt-4.1]\n{ENTRY}", r'models."gpt-4".1: unknown key, .* a name with a dot needs quotes'),
        ("[models.m]\nprompt = 1\nas_of = 2025-08-07\n", r'models."m".completion: missing, expected US dollars'),
        ("[models.m]\nprompt = 1\ncompletion = 1\n", r'models."m".as_of: missing, expected a date'),
        ("[models.m]\nas_of = 2025-08-07T00:00:00\nprompt = 1\ncompletion = 1\n", r"as_of: got 2025-08-07 00:00:00"),
        (
            "[models.m]\nas_of = '2025-08-07'\nprompt = 1\ncompletion = 1\n",
            r"as_of: got '2025-08-07', .* without quotes",
        ),
        (f"[models.m]\n{ENTRY}provider = ''\n", r"provider: got '', expected the word before the slash"),
        (f"[models.m]\n{ENTRY}aliases = 'x'\n", r"aliases: got 'x', expected a list of names"),
        (f"[models.m]\n{ENTRY}aliases = ['x', 3]\n", r"aliases: got \['x', 3\], expected a list of names"),
        ("[models]\nm = 3\n", r'models."m": got 3, expected a table with prompt, completion and as_of'),
        ("models = 3\n", r"models: got 3, expected tables"),
        (f"[model.m]\n{ENTRY}", r"model: unknown table, expected \[models"),
        ("[models.m\n", r"no valid TOML: .*line 1"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_file_key_and_value(
    prices_file: Path, text: str, message: str
) -> None:
    prices_file.write_text(text, encoding="utf-8")
    with pytest.raises(PriceError, match=message) as caught:
        load_prices(prices_file)
    assert str(caught.value).startswith(f"{prices_file}: ")


def test_every_entry_with_a_problem_is_named(prices_file: Path) -> None:
    prices_file.write_text("[models]\na = 1\nb = 2\n", encoding="utf-8")
    with pytest.raises(PriceError) as caught:
        load_prices(prices_file)
    assert [line.split('"')[1] for line in str(caught.value).splitlines()] == ["a", "b"]


@pytest.mark.parametrize(
    "aliases",
    [
        {"m": ["gpt-4o"]},
        {"m": ["same"], "n": ["same"]},
        {"m": ["n"], "n": []},
        {"m": ["anthropic/claude-opus-4.1"]},
    ],
)
def test_two_models_of_one_name_are_refused(prices_file: Path, aliases: dict[str, list[str]]) -> None:
    text = "\n".join(f"[models.{name}]\n{ENTRY}aliases = {names}" for name, names in aliases.items())
    prices_file.write_text(text, encoding="utf-8")
    with pytest.raises(PriceError, match=r"aliases: got '.*', which is models\.\".*\" already"):
        load_prices(prices_file)


def test_a_missing_file_and_one_that_is_no_text_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PriceError, match=r"none\.toml: cannot be read: No such file"):
        load_prices(tmp_path / "none.toml")
    with pytest.raises(PriceError, match="cannot be read"):
        load_prices(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b"# caf\xe9\n")
    with pytest.raises(PriceError, match=r"latin\.toml: cannot be read: it is no UTF-8 text"):
        load_prices(tmp_path / "latin.toml")
