"""Planner and bound say which settings they do not cover, and what to set."""

from __future__ import annotations

import pytest

from ycbench_agents.planner import Foresight, PlanError, plan, upper_bound
from ycbench_agents.planner.bound import BoundError
from ycbench_agents.planner.foresight import uncovered
from ycbench_env import initial_state, load_config


@pytest.mark.parametrize("preset", ["default", "reference", "honest"])
def test_the_usual_presets_are_covered(preset: str) -> None:
    config = load_config(preset, environ={})
    assert uncovered("bound", config) is uncovered("planner", config) is None


@pytest.mark.parametrize(
    ("setting", "value", "by_bound"),
    [
        ("num_clients", 0, True),
        ("replacement_prestige", "drawn", True),
        ("task_draw_order", "requirements_first", True),
        ("min_task_qty", 1, True),
        ("salary_raise_basis", "current_salary", True),
        ("resume_stops_at_payroll", False, True),
        ("min_task_qty", 300, False),
        ("replacement_numbering", "episode", False),
        ("prestige_gate", "highest", False),
        ("deadline_basis", "sum", False),
        ("refill_at", "completion", False),
    ],
)
def test_uncovered_setting_is_named_with_a_covered_value(setting: str, value: object, *, by_bound: bool) -> None:
    config = load_config("default", overrides={"world": {setting: value}}, environ={})
    told = "false" if value is False else value
    message = uncovered("planner", config)
    assert message is not None
    assert f"world.{setting} = {told}" in message
    assert f"--set world.{setting}=" in message
    assert (uncovered("bound", config) is not None) is by_bound


def test_classic_presets_are_refused_with_all_reasons() -> None:
    config = load_config("classic-hard", environ={})
    with pytest.raises(
        BoundError, match=r"bound: it does not know the rules of 'classic-hard': got world.num_clients = 0"
    ):
        upper_bound(config, 1)
    with pytest.raises(BoundError, match=r"skill_rate_max = none.*--set world.skill_rate_max=10"):
        upper_bound(load_config("default", overrides={"world": {"skill_rate_max": "none"}}, environ={}), 1)
    with pytest.raises(ValueError, match="replacement_numbering = episode"):
        Foresight(initial_state(load_config("published-bot", environ={}), 1))
    with pytest.raises(PlanError, match=r"planner: .*deadline_basis = sum.*world.deadline_basis=largest"):
        plan(config, 1, budget_rollouts=1)


def test_hidden_rates_and_uncapped_teams_are_covered() -> None:
    """Both read the state; what is not capped can only make the bound looser."""
    open_ended = {"skill_rates_visible": False, "efficient_team_size": "none", "salary_max_cents": "none"}
    config = load_config("default", overrides={"world": open_ended}, environ={})
    assert upper_bound(config, 1).cents >= upper_bound(load_config("default", environ={}), 1).cents
    assert uncovered("planner", config) is None
