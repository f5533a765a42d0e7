"""Figures: what is drawn is what the frames say, and the files are the same each time."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from ycbench_agents import policy_names
from ycbench_agents.evaluation.figure import (
    HOUSE_STYLE,
    Frame,
    FundsScale,
    applied,
    draw_adversarial_share,
    draw_calls,
    draw_client_policy,
    draw_failure_causes,
    draw_final_funds,
    draw_final_trust,
    draw_funds_by_context,
    draw_funds_by_month,
    draw_legend,
    draw_revenue_per_dollar,
    draw_trusted_share,
    funds_scale,
    looks,
    new_panels,
    ordered,
    png_of,
    svg_of,
)
from ycbench_agents.evaluation.figure.column import numbers, texts
from ycbench_agents.evaluation.figure.range import upper_bounds
from ycbench_agents.evaluation.figure.wording import dollars, multiple, percent, round_dollars

ROOM = Frame(2.0, 1.5, 0.6, 0.8, 0.3, 0.5)
START = {"initial_funds_cents": 20_000}


def axes() -> Axes:
    return new_panels(ROOM).axes[0]


def funds(*runs: tuple[str, str, list[int]]) -> pd.DataFrame:
    """Funds in dollars by policy and seed, from the start on."""
    return pd.DataFrame(
        [
            {"policy": p, "seed": s, "repeat": 1, "month": m, "label": f"2025-{m:02}", "funds_cents": 100 * amount}
            for p, s, amounts in runs
            for m, amount in enumerate(amounts)
        ]
    )


def curves(ax: Axes, months: int) -> list[list[float]]:
    return [ys(line) for line in ax.get_lines() if len(xs(line)) == months + 1]


def xs(line: Line2D) -> list[float]:
    return np.asarray(line.get_xdata(), dtype=float).tolist()


def ys(line: Line2D) -> list[float]:
    return np.asarray(line.get_ydata(), dtype=float).tolist()


def words(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def widths(ax: Axes) -> list[float]:
    return [round(patch.get_width(), 6) for patch in ax.patches if isinstance(patch, Rectangle)]


def test_curves_are_means_over_seeds_and_a_bankrupt_company_has_0_from_then_on() -> None:
    ax = axes()
    draw_funds_by_month(ax, funds(("a", "1", [200, 300, 400]), ("a", "2", [200, -5]), ("b", "1", [200, 250, 900])))
    assert curves(ax, 2) == [[200.0, 150.0, 200.0], [200.0, 250.0, 900.0]]
    assert words(ax) == ["a  $200", "b  $900"]
    assert ax.get_title(loc="left") == "Mean funds"
    assert [label.get_text() for label in ax.get_xticklabels()] == ["Start", "Jan", "Feb"]


def test_a_run_that_was_cut_off_keeps_what_it_had() -> None:
    ax = axes()
    draw_funds_by_month(ax, funds(("a", "1", [200, 300, 400]), ("a", "2", [200, 500])))
    assert curves(ax, 2) == [[200.0, 400.0, 450.0]]


@pytest.mark.parametrize("most", [1715, 5000])  # 1715 has two ticks alike, were none left out
def test_wide_ranges_are_drawn_on_a_square_root_scale_and_say_so(most: int) -> None:
    ax = axes()
    draw_funds_by_month(ax, funds(("a", "1", [200, 300, most])))
    assert "square-root" in ax.get_title(loc="left")
    ticks = [float(tick) for tick in ax.get_yticks()]
    assert ticks[0] == 0
    heights = [math.sqrt(tick / ax.get_ylim()[1]) for tick in ticks]
    assert min(high - low for low, high in itertools.pairwise(heights)) > 0.13


def test_labels_never_overlap_however_many_curves_end_alike() -> None:
    ax = axes()
    draw_funds_by_month(ax, funds(*[(f"policy {i}", "1", [200, 200]) for i in range(12)]))
    heights = sorted(text.get_position()[1] for text in ax.texts)
    assert all(high - low > 0.07 for low, high in itertools.pairwise(heights))
    assert heights[-1] <= 1.0


def test_panels_of_one_figure_share_a_scale() -> None:
    frame = funds(("a", "1", [200, 300]), ("a", "2", [200, 700]))
    assert funds_scale(frame) == FundsScale(735.0, is_root=False, months=1)
    ax = axes()
    draw_funds_by_month(ax, frame, scale=FundsScale(1000.0, is_root=False, months=3), labels=False)
    assert (ax.get_ylim(), ax.get_xlim(), words(ax)) == ((0, 1000), (0, 3), [])


def test_final_funds_are_scores_with_a_dot_for_each_seed() -> None:
    rows = [("a", "1", 30_000), ("a", "2", -500), ("b", "1", 60_000)]
    ax = axes()
    frame = pd.DataFrame(rows, columns=["policy", "seed", "final_funds_cents"]).assign(**START)
    draw_final_funds(ax, frame)
    assert widths(ax) == [150.0, 600.0]
    dots = [xs(line) for line in ax.get_lines() if line.get_marker() == "o"]
    assert dots == [[300.0, 0.0], [600.0]]
    assert words(ax) == ["$150", "$600", "start $200"]


def test_values_stand_on_the_line_of_their_names_and_dots_at_0_keep_clear_of_these() -> None:
    rows = [("a", "1", 30_000), ("a", "2", 0)]
    with applied():
        ax = axes()
        draw_final_funds(ax, pd.DataFrame(rows, columns=["policy", "seed", "final_funds_cents"]).assign(**START))
        figure = ax.get_figure(root=True)
        assert figure is not None
        png_of(figure)  # places the names
        [name], value = ax.get_yticklabels(), ax.texts[0]
        assert name.get_verticalalignment() == value.get_verticalalignment()
        dot = next(line for line in ax.get_lines() if line.get_marker() == "o")
        room = (ax.transData.transform((0, 0))[0] - name.get_window_extent().x1) * 72 / figure.dpi
        assert room > dot.get_markersize() / 2 + 3


@pytest.mark.parametrize(
    ("draw", "column"),
    [(draw_trusted_share, "trusted_success_fraction"), (draw_adversarial_share, "adversarial_fraction")],
)
def test_shares_leave_out_who_has_none_and_show_the_market(
    draw: Callable[[Axes, pd.DataFrame], None], column: str
) -> None:
    rows = [("a", "1", 0.25), ("a", "2", 0.75), ("b", "1", None)]
    frame = pd.DataFrame(rows, columns=["policy", "seed", column]).assign(market_adversarial_fraction=0.32)
    ax = axes()
    draw(ax, frame)
    assert widths(ax) == [0.5]
    assert words(ax) == ["50%", *["market 32%"] * (column == "adversarial_fraction")]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a"]


def test_revenue_is_drawn_a_dollar_of_cost_and_upper_bounds_are_marked() -> None:
    ax = axes()
    rows = [("a", "1", 250_000.0, 0), ("b", "1", 90_000.0, 0), ("b", "2", 70_000.0, 42), ("c", "1", None, 42)]
    frame = pd.DataFrame(rows, columns=["policy", "seed", "revenue_per_usd", "unknown_cost_turns"])
    draw_revenue_per_dollar(ax, frame)
    assert words(ax) == ["$250k", "\u2264\u2009$80.0k"]
    full, hollow = ax.patches
    assert [to_rgba(bar.get_facecolor())[3] for bar in (full, hollow)] == [0.45, 0.0]
    assert upper_bounds(frame) == {"b"}


def test_causes_are_shares_of_all_failures_of_a_policy() -> None:
    rows = [
        ("a", "adversarial_client", 2),
        ("a", "adversarial_client", 1),
        ("a", "understaffed", 1),
        ("b", "out_of_reach", 0),
    ]
    ax = axes()
    draw_failure_causes(ax, pd.DataFrame(rows, columns=["policy", "cause", "failures"]))
    in_rows = [patch for patch in ax.patches if patch.get_transform().contains_branch(ax.transData)]
    pieces = [patch for patch in in_rows if isinstance(patch, Rectangle) and to_rgba(patch.get_facecolor())[3]]
    assert [(piece.get_x(), piece.get_width()) for piece in pieces] == [(0.0, 0.75), (0.75, 0.25)]
    assert words(ax)[:3] == ["75%", "25%", "4"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a"]


def test_trust_is_a_mean_over_seeds_and_adversarial_clients_come_first() -> None:
    rows = [("a", "1", "Good", False, 2.0), ("a", "1", "Bad", True, 0.0), ("a", "2", "Good", False, 3.0)]
    ax = axes()
    draw_final_trust(ax, pd.DataFrame(rows, columns=["policy", "seed", "client", "is_adversarial", "final_trust"]))
    assert [label.get_text() for label in ax.get_xticklabels()] == ["Bad (adv.)", "Good"]
    assert {text.get_position()[0]: text.get_text() for text in ax.texts} == {0: "0.0", 1: "2.5"}


def test_client_policies_of_repeats_that_differ_stand_beside_each_other() -> None:
    rows = [("a", "2", 1, "avoid"), ("a", "10", 1, "none"), ("a", "10", 2, "select"), ("b", "2", 1, "both")]
    ax = axes()
    draw_client_policy(ax, pd.DataFrame(rows, columns=["policy", "seed", "repeat", "client_policy"]))
    assert [label.get_text() for label in ax.get_xticklabels()] == ["seed 2", "seed 10"]
    assert {text.get_position(): text.get_text() for text in ax.texts} == {
        (0, 0): "avoid",
        (1, 0): "select, none",
        (0, 1): "both",
    }


def test_a_command_that_a_run_never_said_counts_as_0_calls() -> None:
    rows = [("a", "1", 1, "sim resume", 10), ("a", "2", 1, "sim resume", 30), ("a", "2", 1, "task list", 5)]
    ax = axes()
    draw_calls(ax, pd.DataFrame(rows, columns=["policy", "seed", "repeat", "command", "calls"]))
    assert {text.get_position()[1]: text.get_text() for text in ax.texts} == {0: "20", 1: "2.5"}


def test_funds_against_the_context_window_are_a_curve_a_model() -> None:
    rows = [("a", "m", 30, "1", 500), ("b", "m", 20, "1", 100), ("b", "m", 20, "2", 300), ("c", "n", 20, "1", -5)]
    frame = pd.DataFrame(rows, columns=["policy", "model", "keep_turns", "seed", "final_funds_cents"])
    ax = axes()
    draw_funds_by_context(ax, frame)
    assert [(xs(line), ys(line)) for line in ax.get_lines() if line.get_marker() == "o"] == [
        ([20, 30], [2.0, 5.0]),
        ([20], [0.0]),
    ]
    assert sorted(words(ax)) == ["m", "n"]


def test_two_policies_are_never_averaged_into_one_point() -> None:
    rows = [("a", "m", 20, "1", 500), ("b", "m", 20, "1", 100)]
    frame = pd.DataFrame(rows, columns=["policy", "model", "keep_turns", "seed", "final_funds_cents"])
    with pytest.raises(ValueError, match="got 'b' and another policy with model 'm' and 20 turns, expected one"):
        draw_funds_by_context(axes(), frame)


def test_a_legend_names_every_policy_once() -> None:
    ax = axes()
    draw_legend(ax, ["a", "b", "c", "d"])
    assert words(ax) == ["a", "b", "c", "d"]
    assert len([line for line in ax.get_lines() if isinstance(line, Line2D)]) == 4


def svg(name: str) -> str:
    with applied(salt=name):
        panels = new_panels(ROOM, 2, 2, 0.4)
        for ax in panels.axes:
            draw_funds_by_month(ax, funds(("<b>&$x^2$ \u6f22", "1", [200, 300]), ("b", "1", [200, 100])))
        assert panels.foot is not None
        draw_legend(panels.foot, ["b"])
        return svg_of(panels.figure, name)


def test_svg_is_the_same_each_time_has_ids_of_its_own_and_keeps_text_as_text() -> None:
    one = svg("one")
    assert one == svg("one")
    assert "&lt;b&gt;&amp;$x^2$ \u6f22" in one
    assert "<metadata" not in one
    assert "http" not in one.replace("http://www.w3.org/2000/svg", "").replace("http://www.w3.org/1999/xlink", "")
    ids = [part.split('"')[0] for part in one.split(' id="')[1:]]
    assert len(ids) == len(set(ids))
    assert all(each == "one" or each.startswith("one-") for each in ids)
    assert not [part for part in one.split("url(#")[1:] if not part.startswith("one-")]


def test_every_colour_of_a_figure_has_a_dark_counterpart() -> None:
    style = HOUSE_STYLE
    own = {style.ink, style.grey, style.grid, style.paper, style.accent, style.warning, *style.colours}
    assert set(style.dark) == own
    assert not set(style.dark.values()) & own
    drawn = svg("x").split("</style>", 1)[1]
    colours = {f"#{part[:6]}" for part in drawn.replace("fill: ", "stroke: ").split("stroke: #")[1:]}
    assert colours <= own


def test_png_is_the_same_each_time() -> None:
    def drawn() -> bytes:
        with applied():
            panels = new_panels(ROOM)
            draw_funds_by_month(panels.axes[0], funds(("a", "1", [200, 300])))
            return png_of(panels.figure)

    assert drawn() == drawn()


def test_settings_of_matplotlib_are_as_before_after_drawing() -> None:
    before = dict(mpl.rcParams)
    svg("x")
    assert dict(mpl.rcParams) == before


@given(st.sets(st.sampled_from(["greedy", "expert", "idle", "market_roller", "x", "y", "model <1>", ""]), min_size=1))
def test_a_known_policy_always_looks_alike_and_no_two_look_the_same(names: set[str]) -> None:
    found = looks(names)
    assert len({(look.colour, look.dashes) for look in found.values()}) == len(names)
    for name in names & {"greedy", "expert", "idle", "market_roller"}:
        assert found[name] == looks([name])[name]


def test_each_scripted_policy_has_a_colour_of_its_own() -> None:
    ask_somebody = {"human", "llm", "replay"}  # labels of these say nothing of who plays
    found = looks({*policy_names(), "planner"} - ask_somebody)
    assert len({look.colour for look in found.values()}) == len(found) == 12
    assert [found[name].hatch for name in ("random", "adversary_chaser")] == ["", "///"]


def test_more_policies_than_looks_are_drawn_all_the_same() -> None:
    found = looks([f"policy {i}" for i in range(60)]).values()
    assert (len(found), len({(look.colour, look.dashes) for look in found})) == (60, 48)


def test_bars_of_other_hatches_than_none_are_hatched() -> None:
    frame = pd.DataFrame(
        [{"policy": p, "seed": "1", "final_funds_cents": 5, "initial_funds_cents": 2} for p in ("greedy", "prestige")]
    )
    with applied():
        ax = axes()
        draw_final_funds(ax, frame)
        assert [patch.get_hatch() for patch in ax.patches] == [None, None, "///"]
        figure = ax.get_figure(root=True)
        assert figure is not None
        drawn = svg_of(figure, "x")
    [hatch] = re.findall("<pattern.*?</pattern>", drawn, re.DOTALL)
    assert 'fill="none"' in hatch
    assert {*re.findall("#[0-9a-f]{6}", hatch)} <= set(HOUSE_STYLE.dark)


def test_figures_have_paper_unless_it_is_not_wanted() -> None:
    faces = []
    for transparent in (False, True):
        with applied(transparent=transparent):
            figure = plt.figure()
            faces.append((figure.get_facecolor(), svg_of(figure, "x").split("</style>", 1)[1].count("fill: #ffffff")))
            plt.close(figure)
    assert faces[0] == ((1.0, 1.0, 1.0, 1.0), 1)
    assert (faces[1][0][3], faces[1][1]) == (0.0, 0)


def test_rows_are_put_in_the_order_of_policies_and_what_is_not_named_comes_last() -> None:
    frame = pd.DataFrame({"policy": ["a", "c", "b", "a"], "place": [1, 2, 3, 4]})
    assert ordered(frame, ["b", "nobody", "a"])["place"].tolist() == [3, 1, 4, 2]


def test_a_frame_without_a_column_is_refused_and_missing_values_are_none() -> None:
    frame = pd.DataFrame({"a": pd.Series([1, None], dtype="Int64"), "b": [1.5, float("nan")], "c": ["x", "y"]})
    assert (numbers(frame, "a"), numbers(frame, "b"), texts(frame, "c")) == ([1.0, None], [1.5, None], ["x", "y"])
    with pytest.raises(ValueError, match="got the columns a, b, c, expected policy among them"):
        texts(frame, "policy")


def test_amounts_and_names_fit_into_little_room() -> None:
    amounts = (0, 949.6, 12_345, 999_700, 1_270_000, 13_530_000, 2.5e9, -2_500, -0.2)
    assert [dollars(amount) for amount in amounts] == [
        *("$0", "$950", "$12.3k", "$1.00M", "$1.27M", "$13.5M", "$2.50B", "\u2212$2.50k", "$0")
    ]
    rounded = [round_dollars(amount) for amount in (2.5e6, 5e6, 1e7, 200, 2e5, 100, 1000)]
    assert rounded == ["$2.5M", "$5M", "$10M", "$200", "$200k", "$100", "$1k"]
    assert [multiple(number) for number in (0.5, 3, 950.4, 1234, 2.5e6)] == ["0.5", "3", "950", "1.2k", "2.5M"]
    assert percent(0.326) == "33%"
