"""Figures of an evaluation: what is drawn, from frames made by hand."""

from __future__ import annotations

from collections.abc import Iterable

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ycbench_agents.evaluation import figures
from ycbench_agents.evaluation.figures import FIGURES, FigurePlan
from ycbench_agents.evaluation.published import published
from ycbench_agents.figure import svg_of


def months(rows: Iterable[tuple[str, str, list[int]]]) -> pd.DataFrame:
    """Funds in cents by month of policy and seed."""
    return pd.DataFrame(
        [(p, s, 1, month, cents) for p, s, funds in rows for month, cents in enumerate(funds)],
        columns=["policy", "seed", "repeat", "month", "funds_cents"],
    )


EPISODES = pd.DataFrame(
    {
        "policy": ["b", "b", "a", "<a>\u202e"],
        "seed": ["1", "2", "1", "1"],
        "repeat": 1,
        "status": "finished",
        "score_cents": [100, 300, 50, 0],
        "revenue_per_usd": [2.0, 4.0, None, 9.0],
        "unknown_cost_turns": [0, 1, 0, 0],
        "trusted_success_fraction": [0.5, 1.0, None, 0.0],
        "adversarial_fraction": [0.5, 0.25, 0.1, None],
        "market_adversarial_fraction": [0.3, 0.35, 0.3, 0.3],
        "client_policy": ["both", "none", None, "avoid"],
        "scratchpad_writes": [3, 4, 0, 1],
        "tasks_failed": [1, 0, 3, 0],
        **{f"failed_{cause}": [1, 0, 3, 0] for cause in figures.FAILURE_CAUSES},
        "model": ["m", "m", "m", "other"],
        "keep_turns": [20, 20, 10, 10],
        "line": ["m", "m", "m", "other"],
    }
)
CLIENTS = pd.DataFrame(
    {
        "policy": ["a", "a", "b", "b"],
        "seed": ["1", "1", "1", "2"],
        "repeat": 1,
        "is_adversarial": [True, False, False, False],
        "final_trust_milli": [500, 2500, 1000, 3000],
    }
)
CALLS = pd.DataFrame(
    [("a", "1", 1, "sim resume", 4), ("b", "1", 1, "sim resume", 6), ("b", "2", 1, "task accept", 3)],
    columns=["policy", "seed", "repeat", "command", "calls"],
)
MONTHS = months([("b", "1", [200, 400, 800]), ("b", "2", [200, -50]), ("a", "1", [200, 300])])
SOURCES = {"episodes": EPISODES, "months": MONTHS, "clients": CLIENTS, "calls": CALLS}


@pytest.fixture(scope="module")
def drawn() -> dict[str, Figure]:
    """Every figure by its name."""
    return {plan.name: plan.draw(SOURCES[plan.source]) for plan in FIGURES}


def words(axes: Axes) -> list[str]:
    return [text.get_text() for text in (*axes.get_yticklabels(), *axes.texts)]


def lines(figure: Figure) -> list[list[float]]:
    return [np.asarray(line.get_ydata()).tolist() for line in figure.axes[0].get_lines()]


@pytest.mark.parametrize("plan", FIGURES, ids=lambda plan: plan.name)
def test_every_figure_is_the_same_bytes_whatever_the_user_has_set(plan: FigurePlan, drawn: dict[str, Figure]) -> None:
    plain = svg_of(drawn[plan.name])
    with mpl.rc_context({"text.usetex": True, "font.size": 30, "axes.grid": False}):
        assert svg_of(plan.draw(SOURCES[plan.source])) == plain
    assert b"\xe2\x80\xae" not in plain  # the direction mark in a name
    assert b"<a>" not in plain


def test_bankrupt_companies_stay_at_zero_and_others_keep_what_they_had(drawn: dict[str, Figure]) -> None:
    figure = drawn["funds-by-month"]
    assert lines(figure)[:2] == [[2, 2, 4], [2, 3, 3]]  # dollars, b before a
    assert [text.get_text() for text in figure.axes[0].texts] == ["a  $3", "b  $4"]
    assert figure.axes[0].get_yscale() == "linear"


def test_wide_funds_have_a_square_root_scale() -> None:
    axes = figures.funds_by_month(months([("a", "1", [20_000_000, 900_000_000])])).axes[0]
    assert (axes.get_yscale(), axes.get_ylabel()) == ("function", "square-root scale")


def test_panels_are_seeds_to_one_scale_in_which_a_policy_keeps_its_look(drawn: dict[str, Figure]) -> None:
    figure = drawn["funds-by-seed"]
    assert [axes.get_title("left") for axes in figure.axes] == ["Seed 1", "Seed 2"]
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["b", "a"]
    one, two = ([line.get_color() for line in axes.get_lines()[:2]] for axes in figure.axes)
    assert one == two  # a has no line in the second panel
    four = figures.funds_by_seed(months([("a", str(seed), [seed, 2 * seed]) for seed in range(4)]))
    assert [axes.axison for axes in four.axes] == [True] * 4 + [False] * 2


def test_all_months_of_all_seeds_fit_into_each_panel() -> None:
    figure = figures.funds_by_seed(months([("a", "1", [1, 2, 3, 4]), ("a", "2", [1, 2])]))
    assert [axes.get_xlim() for axes in figure.axes[:2]] == [(0, 3)] * 2


def test_bars_are_means_over_seeds(drawn: dict[str, Figure]) -> None:
    axes = drawn["final-funds"].axes[0]
    assert [round(bar.get_width(), 9) for bar in axes.patches] == [2, 0.5, 0]  # pyright: ignore[reportAttributeAccessIssue] -- rectangles
    assert words(axes) == ["b", "a", "<a>\\u202e", "$2", "$0", "$0"]
    assert words(drawn["revenue-per-dollar"].axes[0]) == ["b", "<a>\\u202e", "\u2264 $3", "$9"]
    assert drawn["adversarial-share"].legends[0].get_texts()[0].get_text() == "market 31%"


def test_causes_are_shares_of_failed_tasks(drawn: dict[str, Figure]) -> None:
    axes = drawn["failure-causes"].axes[0]
    assert words(axes) == ["b", "a", "5 tasks", "15 tasks"]
    assert {round(bar.get_width(), 9) for bar in axes.patches} == {0.2}  # pyright: ignore[reportAttributeAccessIssue] -- rectangles


def test_grids_hold_means(drawn: dict[str, Figure]) -> None:
    trust = drawn["final-trust"].axes[0]
    assert words(trust) == ["a", "b", "2.5", "0.5", "2.0"]
    assert [label.get_text() for label in trust.get_xticklabels()] == ["client 1", "adv. 1"]
    assert words(drawn["calls"].axes[0]) == ["a", "b", "4", "0", "3", "2"]
    assert words(drawn["client-policy"].axes[0]) == ["b", "<a>\\u202e", "both", "none", "avoid"]


def test_context_lines_are_scores_by_turns_kept(drawn: dict[str, Figure]) -> None:
    assert lines(drawn["funds-by-context"]) == [[0.5, 2], [0]]
    assert list(drawn["funds-by-context"].axes[0].get_xticks()) == [10, 20]


def test_published_results_fit_the_papers_figure() -> None:
    found = published()
    assert len(found.models) == 19
    for model in found.models:
        assert len(model.funds_usd) == 12
        if model.figure7_usd is not None and not model.bankrupt:  # the caveat: the others differ by debts
            assert model.funds_usd[-1] == pytest.approx(model.figure7_usd, abs=5000)
        if model.bankrupt and model.figure7_usd is not None:
            assert 0 < (model.funds_usd[-1] - model.figure7_usd) * 3 / model.bankrupt < 34_200
