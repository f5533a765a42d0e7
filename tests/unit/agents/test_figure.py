from __future__ import annotations

import datetime as dt
import subprocess
import sys
from pathlib import Path

import attrs
import gymnasium as gym
import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.text import Text

from ycbench_agents import make_policy, rollout
from ycbench_agents.figure import FundsCurve, funds_curve, plot_funds, save_funds_figure
from ycbench_env.errors import MissingExtraError

START = dt.datetime.fromisoformat("2025-01-01T09:00:00")
END = dt.datetime.fromisoformat("2026-01-01T09:00:00")
DAYS = tuple(START + dt.timedelta(days=days) for days in (0, 40, 90))
CURVE = FundsCurve(
    label="greedy",
    preset="default",
    policy="greedy",
    seed=1,
    times=DAYS,
    funds_dollars=(200_000.0, 150_000.0, 420_000.0),
    bankrupt=False,
    horizon=END,
)
BROKE = attrs.evolve(CURVE, label="random", seed=2, funds_dollars=(200_000.0, 50_000.0, -6_500.0), bankrupt=True)


def _words(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def test_a_curve_holds_what_the_policy_saw() -> None:
    env = gym.make("YCBench-v0")
    trajectory = rollout(env, make_policy("greedy"), 1, max_turns=5)
    env.close()
    curve = funds_curve(trajectory, "default", "greedy")
    assert (curve.label, curve.preset, curve.policy, curve.seed, curve.bankrupt) == (
        "greedy",
        "default",
        "greedy",
        1,
        False,
    )
    assert curve.times[0] == START
    assert curve.horizon == END
    assert len(curve.times) == len(curve.funds_dollars) == 6
    assert curve.funds_dollars == tuple(int(seen["funds_cents"]) / 100 for seen in trajectory.observations)


def test_a_bankruptcy_is_known_from_the_trajectory() -> None:
    env = gym.make("YCBench-v0")
    trajectory = rollout(env, make_policy("random"), 1)
    env.close()
    assert funds_curve(trajectory, "default", "random").bankrupt is (trajectory.terminal_reason == "bankruptcy")


def test_the_axis_of_time_spans_the_horizon_with_a_tick_each_month() -> None:
    axes = plot_funds({"greedy": [CURVE]})
    labels = [label.get_text() for label in axes.get_xticklabels()]
    assert labels[0] == "Jan\n2025"
    assert labels[1] == "Feb"
    assert labels[-1] == "Jan\n2026"
    assert len(labels) == 13


def test_an_axis_without_a_known_horizon_ends_with_the_curves() -> None:
    axes = plot_funds({"greedy": [attrs.evolve(CURVE, horizon=None)]})
    assert [label.get_text() for label in axes.get_xticklabels()] == ["Jan\n2025", "Feb", "Mar", "Apr"]


def test_long_horizons_have_few_ticks() -> None:
    axes = plot_funds({"greedy": [attrs.evolve(CURVE, horizon=dt.datetime.fromisoformat("2055-01-01"))]})
    assert 4 <= len(axes.get_xticks()) <= 13


@pytest.mark.parametrize(
    ("dollars", "words"),
    [
        (0, "$0"),
        (950, "$950"),
        (200_000, "$200K"),
        (1e6, "$1.0M"),
        (1.25e6, "$1.25M"),
        (-5e4, "-$50K"),
        (999_600, "$1.0M"),
    ],
)
def test_amounts_are_written_short(dollars: float, words: str) -> None:
    axes = plot_funds({"greedy": [CURVE]})
    assert axes.yaxis.get_major_formatter()(dollars, 0) == words


def test_labels_say_how_the_curves_of_a_label_ended() -> None:
    worse = attrs.evolve(CURVE, seed=3, funds_dollars=(200_000.0, 1.0, 300_000.0))
    axes = plot_funds(
        {"greedy": [CURVE], "mixed": [CURVE, worse, BROKE], "two": [CURVE, worse], "broke": [BROKE], "all": [BROKE] * 2}
    )
    words = _words(axes)
    assert {"greedy", "mixed", "two", "broke", "all"} < set(words)
    assert {"$420K", "median $300K, 1 of 3 bankrupt", "median $360K", "bankrupt", "all 2 bankrupt"} < set(words)


def test_a_cross_marks_each_bankruptcy_and_only_these() -> None:
    axes = plot_funds({"greedy": [CURVE], "random": [BROKE]})
    crosses = [line for line in axes.lines if line.get_marker() == "X"]
    assert [float(np.asarray(line.get_ydata())[0]) for line in crosses] == [-6_500.0]


def test_the_starting_capital_is_drawn_where_there_is_one() -> None:
    other = attrs.evolve(CURVE, funds_dollars=(1.0, 2.0, 3.0))
    assert (
        len(plot_funds({"a": [CURVE], "b": [BROKE]}).lines) == len(plot_funds({"a": [CURVE], "b": [other]}).lines) + 2
    )


def test_labels_keep_their_distance_and_stay_inside() -> None:
    many = {f"policy-{place}": [attrs.evolve(CURVE, label=f"policy-{place}")] for place in range(8)}
    axes = plot_funds(many)
    heights = sorted(text.get_position()[1] for text in axes.texts if text.get_text().startswith("policy"))
    assert len(heights) == 8
    assert min(np.diff(heights)) > 0.1
    assert heights[0] >= 0
    assert heights[-1] <= 1


def test_a_label_has_the_same_colour_in_every_panel() -> None:
    alone = plot_funds({"greedy": [], "random": [BROKE]})
    both = plot_funds({"greedy": [CURVE], "random": [BROKE]})

    def colour(axes: Axes) -> object:
        return next(text.get_color() for text in axes.texts if text.get_text() == "random")

    assert colour(alone) == colour(both)


def test_labels_are_no_mathtext_and_no_long_lines() -> None:
    axes = plot_funds({r"$\frac{x$" + "\n" + "y" * 50: [CURVE]})
    (label,) = [text for text in axes.texts if "frac" in text.get_text()]
    assert label.get_text() == r"$\frac{x$?yyyyyyyyy..."
    assert isinstance(label, Text)
    assert label.get_parse_math() is False


def test_given_axes_are_used() -> None:
    axes = Figure().add_subplot()
    assert plot_funds({"greedy": [CURVE]}, axes) is axes


def test_a_png_has_a_panel_for_each_preset(tmp_path: Path) -> None:
    runs = [
        attrs.evolve(curve, preset=preset) for preset in ("default", "reference", "hard") for curve in (CURVE, BROKE)
    ]
    one = imread(save_funds_figure(runs[:2], tmp_path / "new" / "one.png"))
    three = imread(str(save_funds_figure(runs, str(tmp_path / "three.png"))))
    assert three.shape[0] == 2 * one.shape[0]
    assert three.shape[1] == 2 * one.shape[1]
    assert one.shape[1] > 1200
    assert one.min() < 0.2
    assert (one[0, 0] == 1).all()


def test_saving_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="got no runs"):
        save_funds_figure([], tmp_path / "none.png")


def test_the_users_settings_stay_as_they_are(tmp_path: Path) -> None:
    before = dict(mpl.rcParams)
    save_funds_figure([CURVE], tmp_path / "one.png")
    assert dict(mpl.rcParams) == before


def test_pyplot_is_never_loaded(tmp_path: Path) -> None:
    program = (
        "import datetime, sys; from ycbench_agents.figure import FundsCurve, save_funds_figure; "
        "curve = FundsCurve('a', 'b', 'c', 1, (datetime.datetime(2025, 1, 1),), (1.0,), False); "
        "assert 'matplotlib' not in sys.modules; "
        "save_funds_figure([curve], sys.argv[1]); print('matplotlib.pyplot' in sys.modules)"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "one.png")]
    done = subprocess.run(command, capture_output=True, check=True, text=True)  # noqa: S603 -- written above
    assert done.stdout == "False\n"


def test_a_missing_matplotlib_is_named_with_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*sys.modules, "matplotlib"]:
        if name.partition(".")[0] == "matplotlib":
            monkeypatch.setitem(sys.modules, name, None)  # None stops imports
    with pytest.raises(MissingExtraError, match=r"need matplotlib .*pip install 'ycbench-env\[render\]'"):
        save_funds_figure([CURVE], tmp_path / "one.png")
