"""Values of options: seeds, settings, parameters."""

from __future__ import annotations

import datetime as dt

import pytest

from ycbench_agents.cli.failure import UsageError
from ycbench_agents.cli.values import MAX_SEEDS, read_parameters, read_seed, read_seeds, read_settings, toml_value


@pytest.mark.parametrize(
    ("texts", "seeds"),
    [
        (["1", "2", "3"], (1, 2, 3)),
        (["1-3"], (1, 2, 3)),
        (["1,2", "5-6"], (1, 2, 5, 6)),
        (["3", "1"], (3, 1)),
        (["0"], (0,)),
        (["007"], (7,)),
        ([str(2**63)], (2**63,)),
        (["4-4"], (4,)),
    ],
)
def test_seeds_are_read_in_the_order_in_which_they_stand(texts: list[str], seeds: tuple[int, ...]) -> None:
    assert read_seeds(texts) == seeds


@pytest.mark.parametrize("texts", [["1", "1"], ["1-3", "2"], ["2,02"]])
def test_a_seed_that_stands_twice_is_refused_with_its_places(texts: list[str]) -> None:
    with pytest.raises(UsageError, match=r"twice .*expected each seed once"):
        read_seeds(texts)


@pytest.mark.parametrize("text", ["-1", "x", "", "1.5", "1-", "-", "1-2-3", "1e3", "0x1", "\u0661", "1 2", "9" * 40])
def test_what_is_no_seed_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match="expected seeds like 1 2 3") as caught:
        read_seeds([text])
    assert repr(text) in str(caught.value)


def test_a_range_that_runs_backwards_is_shown_the_right_way_round() -> None:
    with pytest.raises(UsageError, match="the smaller seed first: 1-3"):
        read_seeds(["3-1"])


@pytest.mark.parametrize("texts", [["0-999999999999999999"], [f"1-{MAX_SEEDS}", str(MAX_SEEDS + 1)]])
def test_more_seeds_than_anybody_means_are_refused_before_they_are_made(texts: list[str]) -> None:
    with pytest.raises(UsageError, match="run them in parts"):
        read_seeds(texts)


def test_as_many_seeds_as_the_limit_are_read() -> None:
    assert len(read_seeds([f"1-{MAX_SEEDS}"])) == MAX_SEEDS


def test_no_seed_at_all_is_refused() -> None:
    with pytest.raises(UsageError, match="got none"):
        read_seeds([])


def test_one_seed_is_read() -> None:
    assert read_seed("12") == 12


@pytest.mark.parametrize("text", ["1-2", "-1", "", "one"])
def test_one_seed_is_refused_where_it_is_none(text: str) -> None:
    with pytest.raises(UsageError, match="expected one whole number"):
        read_seed(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("9", 9),
        ("0.5", 0.5),
        ("true", True),
        ("until_midnight", "until_midnight"),
        ('"quoted"', "quoted"),
        ("[0.5, 1.0]", [0.5, 1.0]),
        ("2025-02-03", dt.date(2025, 2, 3)),
        ("", ""),
        ("1\nother = 2", "1\nother = 2"),
        ("[" * 10_000, "[" * 10_000),
        ("9" * 5_000, "9" * 5_000),
    ],
)
def test_a_value_is_toml_where_it_can_be_and_text_where_not(text: str, value: object) -> None:
    assert toml_value(text) == value


def test_settings_nest_at_their_dots_and_the_last_one_counts() -> None:
    texts = ["world.num_employees=9", "sim.company_name=7", "world.num_employees=4", "world.dist.skill_boost.mean=0.2"]
    assert read_settings(texts, frozenset({"sim.company_name"})) == {
        "world": {"num_employees": 4, "dist": {"skill_boost": {"mean": 0.2}}},
        "sim": {"company_name": "7"},
    }


def test_a_quoted_text_for_a_setting_of_words_loses_its_quotes() -> None:
    assert read_settings(['sim.company_name="A = B"'], frozenset({"sim.company_name"})) == {
        "sim": {"company_name": "A = B"}
    }


@pytest.mark.parametrize("text", ["world.num_employees", "=9", " =9", ""])
def test_what_is_no_setting_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected KEY=VALUE, like world\.num_employees=9"):
        read_settings([text], frozenset())


def test_a_setting_inside_what_was_set_to_a_value_is_refused() -> None:
    with pytest.raises(UsageError, match="which is no table"):
        read_settings(["world=5", "world.num_employees=9"], frozenset())


def test_parameters_are_read_by_name() -> None:
    assert read_parameters(["depth=2", "team-size=3", "name=x"]) == {"depth": 2, "team_size": 3, "name": "x"}


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["depth"], "expected NAME=VALUE"),
        (["a b=1"], "expected NAME=VALUE"),
        (["x=1", "x=2"], "expected each parameter once"),
        (["x=nan"], "expected a finite number"),
        (["x=[inf]"], "expected a finite number"),
    ],
)
def test_what_is_no_parameter_is_refused(texts: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_parameters(texts)
