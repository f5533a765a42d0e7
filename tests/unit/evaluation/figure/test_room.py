"""Figures have room for their texts, whatever policies are called and however many there are."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Sequence
from typing import Literal, Protocol

import attrs
import numpy as np
import pandas as pd
import pytest
from matplotlib.backend_bases import GraphicsContextBase, RendererBase
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import Transform
from matplotlib.typing import ColorType
from numpy.typing import ArrayLike

from ycbench_agents.evaluation.episode import EpisodeKey
from ycbench_agents.evaluation.figure import applied, draw_calls, figure_plans, funds_by_seed, new_panels
from ycbench_agents.evaluation.figure.canvas import Frame
from ycbench_agents.evaluation.figure.cells import Grid, grid_room
from ycbench_agents.evaluation.figure.lettering import text_width
from ycbench_agents.evaluation.measurement import RunMeasures
from ycbench_agents.evaluation.old_suite import Suite

MODELS = ("claude-opus-4.6", "gemini-3-flash-preview", "gpt-5.4-mini", "gpt-5.4-nano")
LONG = tuple(f"a policy of forty letters for {one:>02} ingredients"[:40] for one in range(12))
SHORT = tuple("abcdefghijkl")
SLACK = 1.0  # dots
SMALLEST = 6.0  # points


class Played(Protocol):
    """What conftest makes."""

    runs: dict[EpisodeKey, RunMeasures]

    @property
    def suite(self) -> Suite: ...


class MakePlayed(Protocol):
    """How it is made."""

    def __call__(self, names: Sequence[str], seeds: int) -> Played: ...


@attrs.frozen
class Drawn:
    """A text as it was drawn: its height in points, and its corners, around it."""

    text: str
    points: float
    corners: tuple[tuple[float, float], ...]

    def is_clear_of(self, other: Drawn) -> bool:
        """Whether a line along a side of either lies between the two."""
        for one in (self, other):
            for (x0, y0), (x1, y1) in itertools.pairwise(one.corners[:3]):
                length = math.hypot(x1 - x0, y1 - y0)
                axis = ((x1 - x0) / length, (y1 - y0) / length)
                spans = [[x * axis[0] + y * axis[1] for x, y in each.corners] for each in (self, other)]
                if max(spans[0]) < min(spans[1]) + SLACK or max(spans[1]) < min(spans[0]) + SLACK:
                    return True
        return False


class TextRecorder(RendererBase):
    """A renderer that draws nothing and notes where each text would be."""

    def __init__(self, figure: Figure) -> None:
        super().__init__()
        self.size, self.dpi = figure.bbox.size, figure.dpi
        self.drawn: list[Drawn] = []

    def points_to_pixels(self, points: ArrayLike) -> ArrayLike:
        return np.asarray(points) * self.dpi / 72

    def get_canvas_width_height(self) -> tuple[float, float]:
        return float(self.size[0]), float(self.size[1])

    def draw_path(
        self,
        gc: GraphicsContextBase,
        path: Path,
        transform: Transform,
        rgbFace: ColorType | None = None,  # noqa: N803
    ) -> None:
        pass

    def draw_text(  # noqa: PLR0913 -- as matplotlib calls it
        self,
        gc: GraphicsContextBase,
        x: float,
        y: float,
        s: str,
        prop: FontProperties,
        angle: float,
        ismath: bool | Literal["TeX"] = False,  # noqa: FBT002 -- as above
        mtext: Text | None = None,
    ) -> None:
        del gc, mtext
        width, height, descent = self.get_text_width_height_descent(s, prop, ismath)
        cosine, sine = math.cos(math.radians(angle)), math.sin(math.radians(angle))
        box = ((0, -descent), (width, -descent), (width, height - descent), (0, height - descent))
        up = self.size[1] - y
        corners = tuple((x + u * cosine - v * sine, up + u * sine + v * cosine) for u, v in box)
        self.drawn.append(Drawn(s, prop.get_size_in_points(), corners))


def drawn_texts(figure: Figure) -> list[Drawn]:
    recorder = TextRecorder(figure)
    figure.draw(recorder)
    return [each for each in recorder.drawn if each.text.strip()]


def faults(figure: Figure) -> list[str]:
    """Texts that lie on others, reach out of the figure, or are too small to read."""
    texts, (width, height) = drawn_texts(figure), figure.bbox.size
    assert len(texts) > 2
    out = [
        each.text
        for each in texts
        if not all(-SLACK < x < width + SLACK and -SLACK < y < height + SLACK for x, y in each.corners)
    ]
    out += [f"small: {each.text}" for each in texts if each.points < SMALLEST]
    pairs = itertools.combinations(texts, 2)
    return out + [f"{one.text} on {other.text}" for one, other in pairs if not one.is_clear_of(other)]


@pytest.mark.parametrize(
    ("names", "seeds"),
    [
        *[(LONG[:1], 1), (SHORT[:2], 2), (LONG[:2], 3), (MODELS, 3), (SHORT[:4], 2)],
        *[(LONG[:6], 2), (SHORT[:6], 7), (LONG, 2), (SHORT, 3)],
    ],
    ids=lambda value: f"{len(value)} x {value[0][:8]}" if isinstance(value, tuple) else f"{value} seeds",
)
def test_no_text_of_a_figure_lies_on_another_or_is_cut_off(
    make_played: MakePlayed, names: tuple[str, ...], seeds: int
) -> None:
    found = faults_by_figure(make_played(names, seeds))
    assert len(found) >= 9
    assert not any(found.values()), found


def test_many_seeds_have_room_too(make_played: MakePlayed) -> None:
    found = faults_by_figure(make_played(LONG[:2], 24), {"funds-by-seed", "client-policy"})
    assert found == {"funds-by-seed": [], "client-policy": []}


def faults_by_figure(played: Played, only: Collection[str] = ()) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for plan in figure_plans(played.suite, played.runs):
        if plan.has_values and (not only or plan.name in only):
            with applied():
                found[plan.name] = faults(plan.make(plan.frame))
    return found


def test_headings_are_tilted_where_they_are_too_wide_and_take_no_room_else() -> None:
    level, tilted = (grid_room(Grid(("row",), names, ())) for names in (SHORT[:4], MODELS))
    assert level.top < 0.3
    assert 0.8 < tilted.top < 1.0
    assert level.left + level.width + level.right == pytest.approx(4.97)


def test_headings_in_axes_of_any_size_are_tilted_by_their_width_alone() -> None:
    rows = [{"policy": p, "seed": "1", "repeat": 1, "command": "sim resume", "calls": 3} for p in MODELS]
    tilts: list[float] = []
    for width in (2.0, 8.0):
        ax = new_panels(Frame(width, 1.0, 1.0, 1.0, 1.0, 1.0)).axes[0]
        draw_calls(ax, pd.DataFrame(rows))
        tilts.append(ax.get_xticklabels()[0].get_rotation())
    assert tilts == [35.0, 0.0]


def funds(seeds: int) -> pd.DataFrame:
    rows = [(str(seed), month, 100 * (month + 1)) for seed in range(seeds) for month in range(13)]
    frame = pd.DataFrame(rows, columns=["seed", "month", "funds_cents"]).assign(policy="a", repeat=1)
    return frame.assign(label=[f"2025-{max(month, 1):02}" for month in frame["month"]])


def test_titles_of_panels_are_cut_with_dots_and_differ() -> None:
    frame, seeds = funds(4), ["12345678901234567890123", "12345678", "5a226680de7db6301234", "5a226680ffffffffffff"]
    frame["seed"] = [seeds[int(seed)] for seed in frame["seed"]]
    with applied():
        titles = [ax.get_title(loc="left") for ax in funds_by_seed(frame).axes[:4]]
    assert titles[0] == "Seed 12345678"
    assert len(set(titles)) == 4
    for title, seed in zip(titles, ["12345678", seeds[0], *seeds[2:]], strict=True):
        assert title == f"Seed {seed}" or "\u2026" in title


@pytest.mark.parametrize(("seeds", "across"), [(2, 2), (4, 2), (7, 3), (24, 4), (30, 5)])
def test_the_more_seeds_the_more_panels_stand_beside_each_other(seeds: int, across: int) -> None:
    with applied():
        figure = funds_by_seed(funds(seeds))
    panels = figure.axes[:seeds]
    assert len({round(ax.get_position().x0, 3) for ax in panels}) == across
    width, height = figure.get_size_inches()
    assert width == pytest.approx(4.97)
    assert height < 2 * width


def test_signs_of_other_scripts_count_as_wide_as_they_are_drawn() -> None:
    assert text_width("\u6f22" * 4, 9.5) == pytest.approx(4 * 9.5 / 72, rel=0.02)
    assert text_width("iiii", 9.5) < text_width("WWWW", 9.5) / 3
