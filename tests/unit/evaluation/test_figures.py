"""Figures of an evaluation: what is drawn, from frames made by hand and from two short runs."""

from __future__ import annotations

from collections.abc import Iterable

import matplotlib as mpl
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ycbench_agents.evaluation import figures
from ycbench_agents.evaluation.figures import FIGURES, funds_by_context, story
from ycbench_agents.evaluation.published import published
from ycbench_agents.figure import labels_of, svg_of


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
    }
)
CLIENTS = pd.DataFrame(
    [
        ("a", "1", 1, "X", True, 500),
        ("a", "1", 1, "Y", False, 2500),
        ("b", "1", 1, "Y", False, 1000),
        ("b", "2", 1, "Z", False, 3000),
    ],
    columns=["policy", "seed", "repeat", "client", "is_adversarial", "final_trust_milli"],
)
CALLS = pd.DataFrame(
    [("a", "1", 1, "sim resume", 4), ("b", "1", 1, "sim resume", 6), ("b", "2", 1, "task accept", 3)],
    columns=["policy", "seed", "repeat", "command", "calls"],
)
MONTHS = months([("b", "1", [200, 400, 800]), ("b", "2", [200, -50]), ("a", "1", [200, 300])])
SOURCES = {"episodes": EPISODES, "months": MONTHS, "clients": CLIENTS, "calls": CALLS}


def words(axes: Axes) -> list[str]:
    return [text.get_text() for text in (*axes.get_yticklabels(), *axes.texts)]


@pytest.mark.parametrize("plan", FIGURES, ids=lambda plan: plan.name)
def test_every_figure_is_the_same_bytes_whatever_the_user_has_set(plan: figures.FigurePlan) -> None:
    plain = svg_of(plan.draw(SOURCES[plan.source]))
    with mpl.rc_context({"text.usetex": True, "font.size": 30, "axes.grid": False}):
        assert svg_of(plan.draw(SOURCES[plan.source])) == plain
    assert b"\xe2\x80\xae" not in plain  # the direction mark in a name
    assert b"<a>" not in plain


def lines(figure: Figure) -> list[list[float]]:
    return [list(map(float, line.get_ydata())) for line in figure.axes[0].get_lines()[1:]]  # pyright: ignore[reportArgumentType] -- an array


def test_bankrupt_companies_stay_at_zero_and_others_keep_what_they_had() -> None:
    figure = figures.funds_by_month(MONTHS)
    assert lines(figure) == [[2, 2, 4], [2, 3, 3]]  # dollars, b before a
    assert [text.get_text() for text in figure.axes[0].texts] == ["a  $3", "b  $4"]


def test_wide_funds_have_a_square_root_scale() -> None:
    assert figures.funds_by_month(MONTHS).axes[0].get_yscale() == "linear"
    wide = figures.funds_by_month(months([("a", "1", [20_000_000, 900_000_000])])).axes[0]
    assert (wide.get_yscale(), wide.get_ylabel()) == ("function", "square-root scale")


def test_panels_are_seeds_to_one_scale() -> None:
    figure = figures.funds_by_seed(months([("a", str(seed), [seed, 2 * seed]) for seed in range(1, 5)]))
    shown = [axes for axes in figure.axes if axes.axison]
    assert [axes.get_title("left") for axes in shown] == [f"Seed {seed}" for seed in range(1, 5)]
    assert len({axes.get_ylim() for axes in shown}) == 1
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a"]


def test_bars_are_means_over_seeds() -> None:
    axes = figures.final_funds(EPISODES).axes[0]
    assert [round(bar.get_width(), 9) for bar in axes.patches] == [2, 0.5, 0]  # pyright: ignore[reportAttributeAccessIssue] -- rectangles
    assert words(axes) == ["b", "a", "<a>\\u202e", "$2", "$0", "$0"]
    cost = figures.revenue_per_dollar(EPISODES).axes[0]
    assert words(cost) == ["b", "<a>\\u202e", "\u2264 $3", "$9"]
    share = figures.adversarial_share(EPISODES)
    assert share.legends[0].get_texts()[0].get_text() == "market 31%"


def test_causes_are_shares_of_failed_tasks() -> None:
    axes = figures.failure_causes(EPISODES).axes[0]
    assert words(axes) == ["b", "a", "5 tasks", "15 tasks"]
    assert {round(bar.get_width(), 9) for bar in axes.patches} == {0.2}  # pyright: ignore[reportAttributeAccessIssue] -- rectangles


def test_grids_hold_means() -> None:
    trust = figures.final_trust(CLIENTS).axes[0]
    assert words(trust) == ["a", "b", "2.5", "0.5", "2.0"]
    assert [label.get_text() for label in trust.get_xticklabels()] == ["client 1", "adv. 1"]
    counts = figures.calls(CALLS).axes[0]
    assert words(counts) == ["a", "b", "4", "0", "3", "2"]
    notes = figures.client_policy(EPISODES).axes[0]
    assert words(notes) == ["b", "<a>\\u202e", "both", "none", "avoid"]


def test_context_lines_are_scores_by_turns_kept() -> None:
    frame = EPISODES.assign(line=["m", "m", "m", "other"], keep_turns=[20, 20, 10, 10])
    axes = funds_by_context(frame).axes[0]
    assert [list(line.get_ydata()) for line in axes.get_lines()] == [[0.5, 2], [0]]  # pyright: ignore[reportArgumentType] -- an array
    assert list(axes.get_xticks()) == [10, 20]


def test_labels_are_cut_in_the_middle_and_stay_apart() -> None:
    names = [f"{'x' * 40}{number}{'y' * 40}" for number in range(3)]
    assert list(labels_of(names, 9).values()) == ["xxxx\u2026yyyy", "xxxx\u2026yyyy (2)", "xxxx\u2026yyyy (3)"]


def test_published_results_fit_the_papers_figure() -> None:
    found = published()
    assert len(found.models) == 19
    for model in found.models:
        assert len(model.funds_usd) == 12
        if model.figure7_usd is not None and not model.bankrupt:  # the caveat: the others differ by debts
            assert model.funds_usd[-1] == pytest.approx(model.figure7_usd, abs=5000)
        if model.bankrupt and model.figure7_usd is not None:
            assert 0 < (model.funds_usd[-1] - model.figure7_usd) * 3 / model.bankrupt < 34_200


def test_the_story_names_every_line() -> None:
    models = published().models
    axes = story({"expert": [2e5] * 12, "greedy": [1e5] * 12}, models, 1e7, "A year").axes[0]
    named = {text.get_text().split("  ")[0] for text in axes.texts}
    assert named == {"upper bound", "expert", "greedy", *(model.name for model in models)}
