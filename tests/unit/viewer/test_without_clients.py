"""A world without clients has no empty panel, and no client's name is missed."""

from __future__ import annotations

import re

import attrs
import numpy as np
import pytest

from ycbench_env.config import load_config
from ycbench_env.generator import initial_state
from ycbench_env.observation.dashboard import dashboard
from ycbench_env.transition import transition
from ycbench_env.types.command import AcceptTask, AssignTask, DispatchTask
from ycbench_env.types.state import State
from ycbench_env.viewer import render_state
from ycbench_env.viewer.rgb import dashboard_pixels
from ycbench_env.viewer.wording import presentable

_WORLD = {"extends": "classic-hard", "world": {"num_market_tasks": 12, "num_employees": 3}}


@pytest.fixture
def classic() -> State:
    """Two of three work on Task-1, and Task-2 is planned."""
    state = initial_state(load_config(_WORLD, environ={}), 1)
    for command in (
        AcceptTask("Task-1"),
        AssignTask("Task-1", ("Emp_1", "Emp_2")),
        DispatchTask("Task-1"),
        AcceptTask("Task-2"),
    ):
        state = transition(state, command).state
    assert [task.status for task in state.tasks] == ["active", "planned"]
    return state


@pytest.mark.parametrize("columns", [80, 160])
def test_texts_say_nothing_of_clients(
    classic: State, columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    render_state(classic, "human")
    for text in (capsys.readouterr().out, str(render_state(classic, "ansi"))):
        assert "Task-2" in text
        assert not re.search("client|trust|none", text, re.IGNORECASE)


def test_a_task_of_nobody_is_a_line_of_its_own(classic: State) -> None:
    text = str(render_state(classic, "ansi"))
    assert re.search(r"Task-1 .*\)\s+inference \+ data_environment, 2 on it\n", text)


def test_the_terminal_shows_all_columns_of_a_task_but_the_client(
    classic: State, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    render_state(classic, "human")
    text = capsys.readouterr().out
    assert re.search(r"task +work +done +due", text)
    assert re.search(r"Task-1 +inference\+\S* +░+ +0% +in 15 d", text)


def test_the_picture_lists_the_staff_where_clients_would_stand(classic: State) -> None:
    board = presentable(dashboard(classic))
    picture = dashboard_pixels(board)
    idle = dashboard_pixels(
        attrs.evolve(board, employees=tuple(attrs.evolve(each, active_tasks=0) for each in board.employees))
    )
    changed = np.argwhere((picture != idle).any(axis=2))
    assert changed.size
    (top, left), (bottom, right) = changed.min(axis=0), changed.max(axis=0)
    assert 832 < left < right < 1260
    assert 300 < top < bottom < 350  # the first two of the list


def test_the_picture_says_how_many_of_a_large_staff_it_leaves_out(classic: State) -> None:
    board = presentable(dashboard(classic))
    some = attrs.evolve(board, employees=board.employees[:1] * 14)
    more, most = (attrs.evolve(board, employees=board.employees[:1] * count) for count in (15, 40))
    title = np.s_[264:304, 832:1260]
    pictures = [dashboard_pixels(each) for each in (some, more, most)]
    assert not np.array_equal(pictures[0][title], pictures[1][title])
    assert not np.array_equal(pictures[1][title], pictures[2][title])
    assert all(np.array_equal(pictures[0][304:, 832:], each[304:, 832:]) for each in pictures)
