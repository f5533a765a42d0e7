"""The style of figures, and the figure of funds over time."""

from __future__ import annotations

import datetime as dt
from typing import Any

import gymnasium as gym
import matplotlib as mpl
import pytest
from matplotlib.figure import Figure

from ycbench_agents import make_policy, rollout
from ycbench_agents.figure import (
    FundsCurve,
    dollars,
    figure_style,
    funds_curve,
    label_ends,
    labels_of,
    plot_funds,
    png_of,
    svg_of,
)

DAYS = tuple(dt.datetime.fromisoformat("2025-01-01T09:00:00") + dt.timedelta(days=days) for days in (0, 40, 90))
CURVE: FundsCurve = (DAYS, (200_000.0, 150_000.0, 420_000.0))
BROKE: FundsCurve = (DAYS, (200_000.0, 50_000.0, -6_500.0))
WILD: Any = {"text.usetex": True, "font.size": 40, "axes.prop_cycle": "cycler('color', ['r'])", "savefig.bbox": "tight"}
"""Settings of a user's matplotlibrc that change every figure, or end in a traceback."""


def words(curves: dict[str, list[FundsCurve]]) -> list[str]:
    return [text.get_text() for text in plot_funds(curves).axes[0].texts]


def test_a_curve_holds_what_the_policy_saw() -> None:
    env = gym.make("YCBench-v0")
    trajectory = rollout(env, make_policy("greedy"), 1, max_turns=5)
    env.close()
    times, funds = funds_curve(trajectory)
    assert times[0] == DAYS[0]
    assert funds == [int(seen["funds_cents"]) / 100 for seen in trajectory.observations]


def test_labels_show_how_curves_ended() -> None:
    assert words({"greedy": [CURVE, CURVE, BROKE], "random": [BROKE, BROKE]}) == [
        "random  median \u2212$6.5K, 2 bankrupt",
        "greedy  median $420K, 1 bankrupt",
    ]
    assert words({"x" * 40: [CURVE], "_$a_b$\u202e": [BROKE]}) == [
        "_$a_b$\\u202e  \u2212$6.5K, 1 bankrupt",
        f"{'x' * 12}\u2026{'x' * 11}  $420K",
    ]


def test_a_users_matplotlibrc_changes_nothing() -> None:
    plain, empty = svg_of(plot_funds({"a": [CURVE, BROKE]}, "Funds")), png_of(Figure())
    with mpl.rc_context(WILD):
        assert svg_of(plot_funds({"a": [CURVE, BROKE]}, "Funds")) == plain
        assert png_of(Figure()) == empty
        assert mpl.rcParams["font.size"] == 40  # and nothing of the user's changes
    assert b"<dc:date>" not in plain


def test_labels_keep_their_distance_and_their_order() -> None:
    axes = Figure().subplots()
    for label, height in {"b": 50, "a": 49, "c": 50, "low": 0, "high": 99}.items():
        axes.plot([0, height], label=label)
    axes.set_ylim(0, 100)
    label_ends(axes, gap=0.1)
    heights = {text.get_text(): float(text.xyann[1]) for text in axes.texts}  # pyright: ignore[reportAttributeAccessIssue]
    assert heights == pytest.approx({"low": 0, "a": 0.395, "b": 0.495, "c": 0.595, "high": 0.99})


def test_looks_differ_beyond_seven_names() -> None:
    with figure_style():
        axes = Figure().subplots()
        lines = [line for _ in range(28) for line in axes.plot([])]
        assert len({(line.get_color(), line.get_linestyle()) for line in lines}) == 28


def test_texts_are_short_and_stay_apart() -> None:
    names = [f"{'x' * 40}{number}{'y' * 40}" for number in range(3)]
    assert list(labels_of(names, 9).values()) == ["xxxx\u2026yyyy", "xxxx\u2026yyyy (2)", "xxxx\u2026yyyy (3)"]
    assert dollars(-1_234_567) == "\u2212$1.23M"
