"""The colours of causes are told apart by every reader, in the light and in the dark."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from ycbench_agents.evaluation.figure import HOUSE_STYLE
from ycbench_agents.evaluation.figure.failure import cause_looks

Colour = np.ndarray[tuple[int], np.dtype[np.float64]]

# Linear RGB as people without one kind of cones see it (Machado, Oliveira and Fernandes 2009, severity 1).
SIGHTS = {
    "all cones": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
# Oklab (Ottosson 2020): distances are as large as they look.
CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def rgb(text: str) -> Colour:
    return np.array([int(text[place : place + 2], 16) / 255 for place in (1, 3, 5)])


def linear(colour: Colour) -> Colour:
    return np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)


def contrast(one: Colour, other: Colour) -> float:
    """The ratio of WCAG 2."""
    low, high = sorted(float(linear(each) @ [0.2126, 0.7152, 0.0722]) for each in (one, other))
    return (high + 0.05) / (low + 0.05)


def oklab(colour: Colour, sight: str) -> Colour:
    return LAB @ np.cbrt(CONES @ np.clip(SIGHTS[sight] @ linear(colour), 0, 1))


def fills(*, dark: bool) -> list[Colour]:
    paper = rgb(mode(HOUSE_STYLE.paper, dark=dark))
    return [
        look.strength * rgb(mode(look.colour, dark=dark)) + (1 - look.strength) * paper
        for look in cause_looks().values()
    ]


def mode(colour: str, *, dark: bool) -> str:
    return HOUSE_STYLE.dark[colour] if dark else colour


def test_contrast_and_distance_are_what_the_literature_says() -> None:
    assert contrast(rgb("#ffffff"), rgb("#000000")) == pytest.approx(21)
    assert contrast(rgb("#777777"), rgb("#ffffff")) == pytest.approx(4.48, abs=0.01)
    assert oklab(rgb("#ff0000"), "all cones") == pytest.approx([0.628, 0.2249, 0.1258], abs=1e-3)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("sight", SIGHTS)
def test_no_two_causes_look_alike(sight: str, dark: bool) -> None:
    seen = [oklab(fill, sight) for fill in fills(dark=dark)]
    distances = [float(np.linalg.norm(one - other)) for one, other in itertools.combinations(seen, 2)]
    assert min(distances) > 0.06  # three times what is just seen


@pytest.mark.parametrize("dark", [False, True])
def test_causes_stand_out_from_the_page_and_letters_from_them(dark: bool) -> None:
    paper, ink = (rgb(mode(each, dark=dark)) for each in (HOUSE_STYLE.paper, HOUSE_STYLE.ink))
    edges = [rgb(mode(look.colour, dark=dark)) for look in cause_looks().values()]
    assert min(contrast(edge, paper) for edge in edges) > 3
    assert min(contrast(fill, ink) for fill in fills(dark=dark)) > 4.5


def test_pale_causes_are_hatched_or_of_a_colour_of_their_own() -> None:
    looks = list(cause_looks().values())
    assert len({(look.colour, look.hatch) for look in looks}) == len(looks) == 5
