from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import attrs
import gymnasium as gym
import matplotlib as mpl
import numpy as np
import pytest
from gymnasium.wrappers import RecordVideo
from numpy.typing import NDArray

import ycbench_env
from ycbench_env.config import load_config
from ycbench_env.generator import initial_state
from ycbench_env.observation.dashboard import ClientLine, EmployeeLine, TaskLine, dashboard
from ycbench_env.transition import advance
from ycbench_env.types.state import State
from ycbench_env.viewer import render_state
from ycbench_env.viewer.rgb import dashboard_pixels


def _pixels(state: State) -> NDArray[np.uint8]:
    pixels = render_state(state, "rgb_array")
    assert isinstance(pixels, np.ndarray)
    return pixels


def test_the_shape_stays_the_same_over_an_episode(busy: State) -> None:
    state, frames = busy, [_pixels(busy)]
    while state.end_reason is None:
        state = advance(state).state
        frames.append(_pixels(state))
    assert len(frames) > 5
    for frame in frames:
        assert frame.shape == (720, 1280, 3)
        assert frame.dtype == np.uint8
        assert len(np.unique(frame[::4, ::4])) > 50
    assert not np.array_equal(frames[0], frames[-1])


def test_equal_states_give_equal_pictures_of_their_own(busy: State) -> None:
    first, second = _pixels(busy), _pixels(busy)
    assert np.array_equal(first, second)
    first[:] = 0
    assert second.any()


def test_other_funds_give_another_picture(busy: State) -> None:
    assert not np.array_equal(_pixels(busy), _pixels(attrs.evolve(busy, funds_cents=busy.funds_cents + 100_000)))


def test_the_axis_of_time_does_not_move_between_frames(start: State, busy: State) -> None:
    months = np.s_[366:394, 30:815]  # the line of months below the chart
    assert np.array_equal(_pixels(start)[months], _pixels(busy)[months])


def test_the_users_style_is_neither_followed_nor_changed(busy: State) -> None:
    expected = _pixels(busy)
    style = {"font.size": 40, "lines.linewidth": 20, "figure.dpi": 30, "text.usetex": True, "axes.facecolor": "black"}
    style |= {"path.sketch": (10, 10, 10), "font.family": "monospace", "path.simplify": False, "savefig.dpi": 10}
    before = dict(mpl.rcParams)
    with mpl.rc_context(style):  # pyright: ignore[reportArgumentType] -- plain texts as keys
        styled = dict(mpl.rcParams)
        assert np.array_equal(_pixels(busy), expected)
        assert dict(mpl.rcParams) == styled
    assert dict(mpl.rcParams) == before


def test_threads_draw_the_same_pictures(start: State, busy: State) -> None:
    expected = [_pixels(start), _pixels(busy)]
    with ThreadPoolExecutor(4) as pool:
        drawn = list(pool.map(_pixels, [start, busy] * 4))
    assert all(np.array_equal(one, expected[place % 2]) for place, one in enumerate(drawn))


def test_the_largest_figures_find_room(busy: State) -> None:
    board = dashboard(busy)
    full = attrs.evolve(
        board,
        turn=10**6,
        funds_cents=10**17,
        funds_history=((board.start_us, 0), (board.now_us, 10**17)),
        monthly_payroll_cents=10**12,
        runway_months=1e9,
        end_reason="max_turns",
        clients=tuple(ClientLine(f"Zenith Technologies {n}", "Premium", 5.0, 99, 99) for n in range(15)),
        employees=tuple(EmployeeLine(f"Emp_{n}", "junior", 10**7, 1) for n in range(1000)),
        tasks=tuple(
            TaskLine(
                f"Task-{n}-12", "Zenith Technologies", "active", ("data_environment",) * 4, 99.99, 0, 10**12, ("a",)
            )
            for n in range(199_000, 199_020)
        ),
    )
    for picture in (dashboard_pixels(full), dashboard_pixels(attrs.evolve(full, tasks=(), clients=(), employees=()))):
        gaps = [picture[100:390, 821:832], picture[395:405, 20:820], picture[:, :18], picture[:, 1262:], picture[704:]]
        for gap in gaps:  # nothing is drawn over the gaps between the cards, nor beside them
            assert len(np.unique(gap.reshape(-1, 3), axis=0)) == 1


def test_a_long_curve_is_drawn_in_full_whatever_the_users_style(busy: State) -> None:
    board = dashboard(busy)
    half = (board.start_us + board.horizon_us) // 2
    rising = [
        (board.start_us + (half - board.start_us) * n // 999, 10_000_000 + 777_777 * (n % 13)) for n in range(999)
    ]
    falling = [(half, 20_000_000 * (8 - n) // 8) for n in range(9)]
    long = attrs.evolve(board, now_us=half, funds_cents=0, funds_history=(*rising, *falling))
    picture = dashboard_pixels(long)
    blue = (picture[:, 436:442] == (0x00, 0x72, 0xB2)).all(axis=2).any(axis=1)
    assert blue[230:320].all()  # from the height of the curve down to the zero line
    with mpl.rc_context({"path.simplify": True, "path.simplify_threshold": 1.0}):
        assert np.array_equal(dashboard_pixels(long), picture)


@pytest.mark.parametrize("status", ["completed_success", "completed_fail", "cancelled"])
def test_tasks_that_are_over_are_drawn_below_the_open_ones(busy: State, status: str) -> None:
    over = attrs.evolve(busy, tasks=(attrs.evolve(busy.tasks[0], status=status), *busy.tasks[1:]))
    assert not np.array_equal(_pixels(over)[480:520, 30:810], _pixels(busy)[480:520, 30:810])


def test_a_company_without_anything_is_drawn() -> None:
    world = {"num_employees": 0, "num_clients": 1, "initial_funds_cents": 0, "num_market_tasks": 0}
    config = load_config({"sim": {"horizon_years": 100, "start_date": "2025-05-15"}, "world": world}, environ={})
    assert _pixels(initial_state(config, 1)).shape == (720, 1280, 3)


def test_record_video_makes_a_film(tmp_path: Path) -> None:
    pytest.importorskip("moviepy")
    assert ycbench_env.YCBenchEnv.metadata["render_fps"]
    env = gym.make("YCBench-v0", render_mode="rgb_array")
    recorder = RecordVideo(env, str(tmp_path / "film"), episode_trigger=lambda _: True, disable_logger=True)
    recorder.reset(seed=1)
    for _ in range(3):
        recorder.step("task accept --task-id Task-1")
    recorder.close()
    (film,) = tmp_path.glob("film/*.mp4")
    assert film.stat().st_size > 1000
