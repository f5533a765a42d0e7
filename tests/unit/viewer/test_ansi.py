from __future__ import annotations

import attrs
import pytest

from ycbench_env.observation.dashboard import EmployeeLine, dashboard
from ycbench_env.types.state import State
from ycbench_env.viewer import render_state
from ycbench_env.viewer.ansi import dashboard_text
from ycbench_env.viewer.wording import presentable

BUSY = """\
Acme
Turn 5 | 2025-02-03 09:00 (until 2026-01-01 09:00)
Funds $192,879 | payroll $7,120 a month, next on 2025-03-03 09:00 | runway 27.1 months
Tasks 1 active, 1 planned, 0 succeeded, 0 failed, 0 cancelled

Open tasks
  Task-1       active  [######--------------]  28.5%  due 2025-01-09 18:00 (late 24 d)  Equinox Labs, inference, 1 on it
  Task-2       planned [--------------------]   0.0%  due 2025-01-09 18:00 (late 24 d)  Vanguard ML, research, 0 on it

Trust of clients (0 to 5)
  Equinox Labs  Premium     [--------------------]  0.00  0 succeeded, 0 failed
  Vanguard ML   Premium     [--------------------]  0.00  0 succeeded, 0 failed

Prestige (up to 10)
  research          [##------------------]  1.00
  inference         [##------------------]  1.00
  data_environment  [##------------------]  1.00
  training          [##------------------]  1.00

Staff
  Emp_1     junior    $3,972 a month  on 1 active task
  Emp_2     junior    $3,147 a month  idle"""


def test_the_text_of_a_small_company_is_as_expected(busy: State) -> None:
    assert render_state(busy, "ansi") == BUSY


def test_nothing_accepted_is_said_in_so_many_words(start: State) -> None:
    text = str(render_state(start, "ansi"))
    assert "Open tasks\n  none" in text
    assert "***" not in text


@pytest.mark.parametrize(
    ("reason", "words"), [("bankruptcy", "*** BANKRUPT ***"), ("horizon_end", "*** HORIZON REACHED ***")]
)
def test_the_end_of_an_episode_is_shown(start: State, reason: str, words: str) -> None:
    assert words in str(render_state(attrs.evolve(start, terminal_reason=reason), "ansi"))


def test_long_lists_are_cut_and_say_so(busy: State) -> None:
    board = presentable(dashboard(busy))
    text = dashboard_text(
        attrs.evolve(
            board,
            tasks=board.tasks * 7,
            employees=tuple(EmployeeLine(f"Emp_{number}", "mid", 1, 2) for number in range(1, 31)),
            next_payroll_us=None,
        )
    )
    assert "and 4 more" in text
    assert "and 10 more" in text
    assert "on 2 active tasks" in text
    assert "next on" not in text


def test_a_company_without_staff_and_clients_has_a_text(start: State) -> None:
    text = dashboard_text(attrs.evolve(dashboard(start), employees=(), clients=()))
    assert "Staff\n  none" in text
    assert "Trust" not in text
