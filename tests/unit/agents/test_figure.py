"""The style of figures, and the figure of funds over time."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import attrs
import gymnasium as gym
import matplotlib as mpl
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread

from ycbench_agents import make_policy, rollout
from ycbench_agents.figure import (
    FundsCurve,
    dollars,
    figure_style,
    funds_curve,
    label_ends,
    line_looks,
    plot_funds,
    png_of,
    save_funds_figure,
    svg_of,
)

DAYS = tuple(dt.datetime.fromisoformat("2025-01-01T09:00:00") + dt.timedelta(days=days) for days in (0, 40, 90))
CURVE = FundsCurve("greedy", DAYS, (200_000.0, 150_000.0, 420_000.0), preset="default")
BROKE = attrs.evolve(CURVE, label="random", funds_dollars=(200_000.0, 50_000.0, -6_500.0), bankrupt=True)
WILD: Any = {"text.usetex": True, "font.size": 40, "axes.prop_cycle": "cycler('color', ['r'])", "savefig.bbox": "tight"}
"""Settings of a user's matplotlibrc that change every figure, or end in a traceback."""


def words(curves: dict[str, list[FundsCurve]]) -> list[str]:
    return [text.get_text() for text in plot_funds(curves).texts]


def test_a_curve_holds_what_the_policy_saw() -> None:
    env = gym.make("YCBench-v0")
    trajectory = rollout(env, make_policy("greedy"), 1, max_turns=5)
    env.close()
    curve = funds_curve(trajectory, "default", "greedy")
    assert (curve.label, curve.preset, curve.bankrupt) == ("greedy", "default", False)
    assert curve.times[0] == DAYS[0]
    assert curve.funds_dollars == tuple(int(seen["funds_cents"]) / 100 for seen in trajectory.observations)


def test_each_label_says_how_its_curves_ended() -> None:
    assert words({"greedy": [CURVE, CURVE, BROKE], "random": [BROKE, BROKE]}) == [
        "random  all 2 bankrupt",
        "greedy  median $420K, 1 of 3 bankrupt",
    ]
    assert words({"x" * 40: [CURVE], "unplayed": [], "$a_b$\u202e": [BROKE]}) == [
        "$a_b$\\u202e  bankrupt",
        f"{'x' * 12}\u2026{'x' * 11}  $420K",
    ]


def test_a_users_matplotlibrc_changes_nothing(tmp_path: Path) -> None:
    plain = save_funds_figure([CURVE, BROKE], tmp_path / "plain.png").read_bytes()
    svg = svg_of(Figure())
    with mpl.rc_context(WILD):
        assert save_funds_figure([CURVE, BROKE], tmp_path / "wild.png").read_bytes() == plain
        assert svg_of(Figure()) == svg
        assert mpl.rcParams["font.size"] == 40  # and nothing of the user's changes
    assert b"<dc:date>" not in svg
    assert png_of(Figure()) == png_of(Figure())


def test_panels_share_their_scale(tmp_path: Path) -> None:
    path = save_funds_figure([CURVE, attrs.evolve(BROKE, preset="reference")], tmp_path / "new" / "two.png")
    height, width, _ = imread(path).shape
    assert width > 2.5 * height
    with figure_style():
        axes = Figure().subplots()
        assert plot_funds({"greedy": [CURVE]}, axes) is axes
        assert axes.get_ylim()[1] == pytest.approx(1.05 * 420_000)


def test_labels_keep_their_distance_and_their_order() -> None:
    axes = Figure().subplots()
    axes.set_ylim(0, 100)
    label_ends(axes, [(50, "b", "k"), (49, "a", "k"), (50, "c", "k"), (0, "low", "k"), (99, "high", "k")], gap=0.1)
    heights = {text.get_text(): float(text.xyann[1]) for text in axes.texts}  # pyright: ignore[reportAttributeAccessIssue]
    assert list(heights) == ["low", "a", "b", "c", "high"]
    assert [heights[name] for name in "abc"] == pytest.approx([0.3967, 0.4967, 0.5967], abs=1e-3)
    assert (heights["low"], heights["high"]) == (0, pytest.approx(0.99))


def test_looks_differ_beyond_seven_names() -> None:
    assert len(set(line_looks(map(str, range(28))).values())) == 28
    assert dollars(-1_234_567) == "\u2212$1.23M"
