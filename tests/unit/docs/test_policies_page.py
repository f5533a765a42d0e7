"""docs/policies.md says what is so: its examples run, its tables were measured, and some is played again."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import attrs
import policies_page as script
import pytest
from pages import updated

from ycbench_agents import policy_names, rollout
from ycbench_agents.evaluation.published import published
from ycbench_agents.planner import load_plan, replay_plan, upper_bound
from ycbench_env import YCBenchEnv, load_config

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def scores() -> dict[str, Any]:
    """What was measured."""
    return json.loads(script.MEASURED.read_text(encoding="utf-8"))


def test_tables_are_what_was_measured(scores: dict[str, Any]) -> None:
    page = script.PAGE.read_text(encoding="utf-8")
    assert updated(page, script.tables(scores)) == page, "run scripts/policies_page.py write"


def test_the_picture_names_every_line(scores: dict[str, Any]) -> None:
    named = {text.get_text().split("  ")[0] for text in script.picture(scores).axes[0].texts}
    models = {model.name for model in published().models}
    assert named == {"upper bound", "planner (loophole)", "expert", "greedy", *models}


def test_every_policy_has_a_place_on_the_page() -> None:
    page = script.PAGE.read_text(encoding="utf-8")
    assert [name for name in policy_names() if f"`{name}`" not in page] == []


def test_examples_give_what_the_page_says() -> None:
    examples = re.findall(r"^```python\n(.*?)^```$", script.PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(examples) > 1
    for example in examples:
        body, _, last = example.rstrip().rpartition("\n")
        expression, _, value = last.partition("#")
        names: dict[str, Any] = {}
        exec(body, names)  # noqa: S102 -- this project's own page
        assert repr(eval(expression, names)) == value.strip()  # noqa: S307 -- as above


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["default", "reference"])
def test_scores_replay_to_the_cent(scores: dict[str, Any], preset: str) -> None:
    for limit, names in ((0, script.POLICIES), (8, ("expert",))):
        config, measured = (
            script.configured(preset, limit),
            scores["final_funds_cents"][script.case_name(preset, limit)],
        )
        for name in names:
            if name != "market_roller":  # a year of it takes ten of the expert's
                funds = rollout(YCBenchEnv(config), script.policy_for(name, preset, limit, 1), 1).final_funds_cents
                assert (name, funds) == (name, measured[name][0])


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["default", "reference"])
def test_plan_replays_below_both_bounds(scores: dict[str, Any], preset: str) -> None:
    config, case = script.configured(preset, 8), script.case_name(preset, 8)
    funds = replay_plan(config, load_plan(script.plan_path(preset, 8, 3)))
    accepts = scores["planner_accepts"][case][2]
    assert funds == scores["final_funds_cents"][case]["planner"][2]
    assert upper_bound(config, 3).cents == scores["bound_cents"][case][2]
    assert funds < upper_bound(config, 3, most_accepts=accepts).cents == scores["bound_for_accepts_cents"][case][2]


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["default", "reference"])
def test_honest_plan_replays_where_dispatch_refills(scores: dict[str, Any], preset: str) -> None:
    found = load_plan(script.honest_plan_path(preset, 3))
    commands = "\n".join(found.turns)
    assert commands.count("task accept") == commands.count("task dispatch")
    strict = load_config(preset, overrides={"world": {"refill_at": "dispatch"}}, environ={})
    funds = replay_plan(strict, attrs.evolve(found, config_digest=strict.digest()))
    assert funds == scores["honest"][preset]["planner"][2]


def test_measured_scores_keep_their_order(scores: dict[str, Any]) -> None:
    for preset, least in (("default", 280_000_000), ("reference", 370_000_000)):
        funds = scores["final_funds_cents"][f"{preset}, max_open_tasks none"]
        bounds = scores["bound_cents"][f"{preset}, max_open_tasks none"]
        assert sum(funds["expert"]) >= 3 * least
        for expert, planner, bound in zip(funds["expert"], funds["planner"], bounds, strict=True):
            assert expert * 1.1 <= planner < bound
        honest = scores["honest"][preset]
        strict = honest["refill_at_dispatch"]
        assert all(map(int.__lt__, honest["planner"], honest["completes_all_bound"]))
        assert all(map(int.__lt__, honest["completes_all_bound"], honest["accepts_bound"]))
        # The loophole is closed: rolling the market is worth nothing.
        assert all(map(int.__lt__, strict["market_roller"], strict["expert"]))
        first, second = scores["sweeps"][preset]
        assert first["bankrupt"] == second["bankrupt"] == 0
        assert second["mean_cents"] == pytest.approx(first["mean_cents"], rel=0.05)


def test_the_pages_lead_to_one_another() -> None:
    for page, link in (
        ("README.md", "docs/policies.md"),
        ("docs/cli.md", "policies.md"),
        ("docs/testing.md", "policies.md"),
    ):
        assert f"]({link}" in (ROOT / page).read_text(encoding="utf-8")
