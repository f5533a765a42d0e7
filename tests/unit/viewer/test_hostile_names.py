from __future__ import annotations

import copy
import re
import unicodedata

import attrs
import numpy as np
import pytest

from ycbench_env.types.state import State
from ycbench_env.viewer import render_state

HOSTILE = {
    "escape sequence": "\x1b[31mred\x1b[0m\x07",
    "line breaks": "a\nb\r\nc\u2028d",
    "tab and null": "a\tb\x00c",
    "markup": "[red]x[/red] [/] [bold",
    "mathtext": r"$\frac{1}{0}$ $mathtext$ 100% $",
    "right to left": "\u202eevil\u202c \u200f",
    "emoji": "\U0001f680 \U0001f9d1\u200d\U0001f4bb :smile:",
    "accents": "Z" + "\u0301" * 50,
    "wide": "漢字" * 30,
    "long": "W" * 5000,
    "surrogate": "\ud800",
    "empty": "",
}
_ANSI_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def _named(state: State, name: str) -> State:
    """Return the state of a company of that name, past the checks of a configuration."""
    sim, config = copy.copy(state.config.sim), copy.copy(state.config)
    object.__setattr__(sim, "company_name", name)
    object.__setattr__(config, "sim", sim)
    return attrs.evolve(state, config=config)


@pytest.fixture(params=list(HOSTILE.values()), ids=list(HOSTILE))
def hostile(busy: State, request: pytest.FixtureRequest) -> State:
    return _named(busy, request.param)


def test_the_text_stays_plain_and_in_shape(busy: State, hostile: State) -> None:
    text = str(render_state(hostile, "ansi"))
    assert not [sign for sign in text if sign != "\n" and unicodedata.category(sign)[0] == "C"]
    name, *rest = text.split("\n")
    assert rest == str(render_state(busy, "ansi")).split("\n")[1:]
    assert len(name) <= 60


def test_the_terminal_shows_the_same_lines(busy: State, hostile: State, capsys: pytest.CaptureFixture[str]) -> None:
    render_state(busy, "human")
    expected = capsys.readouterr().out.split("\n")
    render_state(hostile, "human")
    lines = capsys.readouterr().out.split("\n")
    assert len(lines) == len(expected)
    assert lines[2:] == expected[2:]  # the name stands in the second line
    assert "\x1b" not in _ANSI_COLOURS.sub("", lines[1])


def test_markup_is_shown_and_not_followed(busy: State, capsys: pytest.CaptureFixture[str]) -> None:
    render_state(_named(busy, HOSTILE["markup"]), "human")
    assert "[red]x[/red] [/] [bold" in capsys.readouterr().out


def test_only_the_head_of_the_picture_differs(busy: State, hostile: State) -> None:
    pixels, expected = render_state(hostile, "rgb_array"), render_state(busy, "rgb_array")
    assert isinstance(pixels, np.ndarray)
    assert isinstance(expected, np.ndarray)
    differs = np.argwhere((pixels != expected).any(axis=2))
    assert len(differs)
    (top, left), (bottom, right) = differs.min(axis=0), differs.max(axis=0)
    assert top > 10
    assert bottom < 60
    assert left > 10
    assert right < 430


def test_a_hostile_client_breaks_no_view(busy: State) -> None:
    name = "[red]\x1b[31m\n$x$"
    tasks = tuple(attrs.evolve(task, offer=attrs.evolve(task.offer, client_name=name)) for task in busy.tasks)
    state = attrs.evolve(busy, clients=tuple(attrs.evolve(one, name=name) for one in busy.clients), tasks=tasks)
    text = str(render_state(state, "ansi"))
    assert len(text.split("\n")) == len(str(render_state(busy, "ansi")).split("\n"))
    assert "[red]?[31m?$x$" in text
    assert render_state(state, "human") is None
    assert render_state(state, "rgb_array") is not None
