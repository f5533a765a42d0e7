"""The packaged presets, figure by figure, and the page that lists the settings. Source: K-1 to K-4."""

import tomllib
from importlib import resources
from typing import Any

import configuration_page
import pytest
from pages import updated

from ycbench_env.config import RESERVED_VARIABLES, Difference, Origin, diff_configs, load_config, preset_names
from ycbench_env.config.loading import _Layers
from ycbench_env.config.settings import LEAVES, NO_EFFECT, PARAMETERS

DIGESTS = {
    "default": "213cda404a8a372751bb40187be8f37197f22c9bb886fbee53350480790a9304",
    "classic-default": "d0c4774dcea675746475e6430cfaf79432b817105fa3e0edff4ebf8cc684c027",
    "classic-easy": "f7e8b42c79f235fa560885d58098bfc825e81b1e6ac22491f3aaa2e317d5400b",
    "classic-hard": "3ba0fdf34590d4c67f7e295277a77c9a76bf043eab4f46842912068395dd5271",
    "classic-medium": "79ddd67cad8837957f80e81e0f638427a6899c5b328d060f7cf9bcaa25322445",
    "classic-nightmare": "6e2b52e2abdf3ef47f9a463a0a47be9ca4a81e11c7bed93d8035ec73d4759405",
    "classic-tutorial": "b91776751b82e55db6c5e6bb2ea7d99ee1faa13db52e301c327c122e9df7b29a",
    "published-bot": "de25ce98db13577b38a9d59037dbc27ae6bc4f0ad1a0d781e96e0a3b29f0c3aa",
    "reference": "f2e11c713a910827d802634d85fb12b26f3d345d58405d8f64ca239aeef22e25",
}
"""Records hold them."""


def test_presets_keep_their_digests() -> None:
    assert {name: load_config(name, environ={}).digest() for name in DIGESTS} == DIGESTS


def test_every_preset_loads_under_its_own_name_and_says_what_it_is_for() -> None:
    assert preset_names()[0] == "default"
    for name in preset_names():
        config = load_config(name, environ={})
        assert config.name == name
        assert config.description


def test_the_default_preset_is_complete_because_no_other_default_exists() -> None:
    text = resources.files("ycbench_env").joinpath("presets", "default.toml").read_text(encoding="utf-8")
    layers = _Layers()
    layers.lay(Origin("preset", "default"), tomllib.loads(text))
    parameters = {name for names in PARAMETERS.values() for name in names}
    assert {key for key in LEAVES if key.rpartition(".")[2] not in parameters} <= set(layers.leaves)
    layers.check()


def test_the_default_preset_holds_the_papers_parameters() -> None:
    config = load_config("default", environ={})
    world = config.world
    assert config.sim.start_date.isoformat() == "2025-01-01"
    assert (config.sim.horizon_years, config.loop.auto_advance_after_turns, config.loop.max_turns) == (1, 5, None)
    assert (world.world_seed, world.accrual) == (1, "business_hours")
    assert (world.num_employees, world.num_clients, world.num_market_tasks) == (8, 6, 200)
    assert (world.initial_funds_cents, world.salary_max_cents) == (20_000_000, 10_000_000)
    assert world.dist.required_qty.type == "triangular"
    assert (world.salary_senior.min_cents, world.salary_senior.rate_max) == (1_000_000, 10.0)
    assert world.task_progress_milestones == ()


def test_the_reference_preset_differs_from_the_default_in_accrual_only() -> None:
    default, reference = load_config("default", environ={}), load_config("reference", environ={})
    assert [each for each in diff_configs(default, reference) if each.key not in {"name", "description"}] == [
        Difference("world.accrual", "business_hours", "until_midnight")
    ]


# ------------------------------------------------------------------------------------------------------------ classic

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


# ------------------------------------------------------------------------------------------------------------- the page


def test_the_page_of_settings_is_the_generated_one() -> None:
    page = configuration_page.PAGE.read_text(encoding="utf-8")
    assert updated(page, configuration_page.tables()) == page, "run scripts/configuration_page.py"
    assert all(name in page for name in RESERVED_VARIABLES)
    assert all(key.rpartition(".")[2] in page for key in NO_EFFECT)
