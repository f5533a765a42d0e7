"""The classic presets, figure by figure. Source: K-1 to K-4."""

from __future__ import annotations

from typing import Any

import pytest

from ycbench_env.config import Triangular, load_config

RULES: dict[str, object] = {
    "world_seed": "run",
    "accrual": "until_midnight",
    "num_clients": 0,
    "employee_skill_sampling": "gamma_budget",
    "skill_rates_visible": False,
    "market_prestige_ladder": [1, 1, 1, 1, 2, 2, 2, 3, 3, 4],
    "task_draw_order": "requirements_first",
    "task_domain_sampling": "uniform",
    "replacement_numbering": "episode",
    "replacement_prestige": "drawn",
    "prestige_gate": "highest",
    "min_task_qty": 1,
    "market_browse_scope": "all",
    "assign_by_employee_id": True,
    "resume_stops_at_payroll": False,
    "resume_requires_active_task": False,
    "efficient_team_size": "none",
    "salary_raise_basis": "current_salary",
    "salary_max_cents": "none",
    "skill_rate_max": "none",
    "prestige_qty_scale": 0.0,
    "penalty_fail_funds_pct": 0.0,
    "deadline_basis": "sum",
    "task_progress_milestones": [0.25, 0.5, 0.75],
    "initial_funds_cents": 25_000_000,
}
"""What all of them set in ``[world]``; what is not here or in the table below is as in the preset ``default``."""

# One row a preset, for comparison with the page: horizon in years, turns to a forced advance, employees, tasks; raise,
# prestige lost by a failure and a cancel, reward a prestige level, work a day of deadline.
FIGURES: dict[str, tuple[int, int, int, int, float, float, float, float, float]] = {
    "tutorial":  (1,  5,  3,  50, 0.0,   0.3, 0.5, 0.2,  100.0),
    "easy":      (1,  8,  5, 100, 0.005, 0.8, 1.2, 0.3,  150.0),
    "medium":    (1,  8,  5, 150, 0.01,  1.0, 1.5, 0.45, 200.0),
    "hard":      (1, 10,  7, 200, 0.01,  1.4, 2.0, 0.55, 280.0),
    "nightmare": (1, 10,  8, 300, 0.02,  2.0, 2.5, 0.7,  350.0),
    "default":   (3, 10, 10, 500, 0.01,  1.4, 2.0, 0.55, 320.0),
}  # fmt: skip

# Required prestige and work: low, high, mode; a number alone is a constant.
PRESTIGE: dict[str, Any] = {
    "tutorial": 1, "easy": (1, 4, 1), "medium": (1, 7, 3), "hard": (1, 8, 4), "nightmare": (1, 10, 5),
    "default": (1, 10, 4),
}  # fmt: skip
WORK: dict[str, Any] = {
    "tutorial": (200, 800, 400), "easy": (300, 1_500, 700), "medium": (400, 2_000, 900), "hard": (500, 2_500, 1_200),
    "nightmare": (600, 3_000, 1_600), "default": (500, 3_000, 1_400),
}  # fmt: skip
DOMAINS: dict[str, Any] = {"tutorial": 1, "easy": 1}
GAIN = {"type": "beta", "alpha": 1.2, "beta": 2.8, "scale": 2.0, "low": 0.0, "high": 2.0}


def spread(figures: Any) -> dict[str, object]:  # noqa: ANN401 - a number or three
    if isinstance(figures, int):
        return {"type": "constant", "value": figures}
    return {"type": "triangular", **dict(zip(("low", "high", "mode"), figures, strict=True))}


@pytest.mark.parametrize("name", FIGURES)
def test_a_classic_preset_is_the_default_preset_with_the_figures_of_the_page(name: str) -> None:
    years, turns, staff, tasks, raised, failed, cancelled, scale, per_day = FIGURES[name]
    expected = load_config("default", environ={}).to_dict()
    preset = load_config(f"classic-{name}", environ={})
    expected["name"], expected["description"] = f"classic-{name}", preset.description
    expected["sim"]["horizon_years"] = years
    expected["loop"] |= {"auto_advance_after_turns": turns, "max_turns": 500 * years}  # the limit is our own
    expected["world"] |= {
        **RULES,
        "num_employees": staff,
        "num_market_tasks": tasks,
        "salary_bump_pct": raised,
        "penalty_fail_multiplier": failed,
        "penalty_cancel_multiplier": cancelled,
        "reward_prestige_scale": scale,
        "deadline_qty_per_day": per_day,
    }
    expected["world"]["dist"] |= {
        "required_prestige": spread(PRESTIGE[name]),
        "reward_funds_cents": spread((500_000, 10_000_000, 3_000_000)),
        "domain_count": spread(DOMAINS.get(name, (1, 3, 2))),
        "required_qty": spread(WORK[name]),
        "reward_prestige_delta": GAIN | {"alpha": 1.5, "beta": 2.5, "scale": 2.5, "high": 2.5}
        if name == "nightmare"
        else GAIN,
    }
    assert preset.to_dict() == expected


def test_what_the_page_says_of_the_old_form_is_so() -> None:
    for name in FIGURES:
        config = load_config(f"classic-{name}", environ={})
        assert (config.sim.start_date.isoformat(), config.sim.company_name) == ("2025-01-01", "BenchCo")
        assert config.world.initial_funds_cents == 250_000 * 100
        assert config.agent.history_keep_rounds == 20
        assert (config.world.initial_prestige_level, config.world.prestige_min, config.world.prestige_max) == (1, 1, 10)
        assert (config.world.deadline_min_biz_days, config.world.prestige_decay_per_day) == (7, 0)
        assert config.world.market_browse_default_limit == 50


def test_the_descriptions_compare_the_presets_truly() -> None:
    worlds = {name: load_config(f"classic-{name}", environ={}).world for name in FIGURES}
    hardest, gentlest = worlds["nightmare"], worlds["tutorial"]
    for world in worlds.values():
        work, most = world.dist.required_qty, hardest.dist.required_qty
        assert isinstance(work, Triangular)
        assert isinstance(most, Triangular)
        assert work.low <= most.low
        assert work.mode <= most.mode
        assert work.high <= most.high
        assert gentlest.deadline_qty_per_day <= world.deadline_qty_per_day <= hardest.deadline_qty_per_day
        assert gentlest.salary_bump_pct <= world.salary_bump_pct <= hardest.salary_bump_pct
        assert gentlest.penalty_fail_multiplier <= world.penalty_fail_multiplier <= hardest.penalty_fail_multiplier
        assert world.penalty_cancel_multiplier <= hardest.penalty_cancel_multiplier
