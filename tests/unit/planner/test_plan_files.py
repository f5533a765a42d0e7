"""Plans as files: what is written, what is read back, what is refused."""

from __future__ import annotations

import gzip
from pathlib import Path

import attrs
import pytest

from ycbench_agents.planner import Plan, PlannerError, load_plan, plan, replay_plan, save_plan
from ycbench_env.testing import tiny_config

CONFIG = tiny_config(num_market_tasks=1)
PLAN = Plan("my\nworld", CONFIG.digest(), 7, ("task accept --task-id Task-1\nsim resume", "", "sim resume"), -5, True)  # noqa: FBT003 -- the last field


@pytest.mark.parametrize("name", ["a.plan", "a.plan.gz"])
def test_a_plan_is_read_back_as_it_was_written(name: str, tmp_path: Path) -> None:
    save_plan(tmp_path / name, PLAN)
    assert load_plan(tmp_path / name) == attrs.evolve(PLAN, preset="my world")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_equal_plans_make_equal_packed_files(tmp_path: Path) -> None:
    for name in ("a.gz", "b.gz"):
        save_plan(tmp_path / name, PLAN)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


def test_plan_file_is_turns_under_comments(tmp_path: Path) -> None:
    save_plan(tmp_path / "a.plan", PLAN)
    lines = (tmp_path / "a.plan").read_text(encoding="utf-8").split("\n")
    turns = "\n".join(line for line in lines if not line.startswith("#"))
    assert turns == "task accept --task-id Task-1\nsim resume\n---\n\n---\nsim resume\n"
    assert lines[0].startswith("# A privileged plan")
    assert "# seed: 7" in lines


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"", "'preset'"),
        (b"\xff\xfe", "UTF-8.*expected a plan"),
        (b"# preset: a\n# config: b\n# seed: one\n# final_funds_cents: 1\n# interrupted: False\n", "one"),
        (b"# preset: a\n# config: b\n# seed: 1\n# interrupted: False\n", "final_funds_cents"),
    ],
)
def test_file_that_is_no_plan_is_refused(content: bytes, named: str, tmp_path: Path) -> None:
    (tmp_path / "a.plan").write_bytes(content)
    with pytest.raises(PlannerError, match=named):
        load_plan(tmp_path / "a.plan")


def test_a_damaged_packed_plan_is_refused(tmp_path: Path) -> None:
    save_plan(path := tmp_path / "a.plan.gz", PLAN)
    path.write_bytes(path.read_bytes()[:-6])
    with pytest.raises(PlannerError, match=r"a\.plan\.gz.*expected a plan"):
        load_plan(path)


@pytest.mark.parametrize("name", ["a.plan", "a.plan.gz"])
def test_saved_plan_replays_to_its_score(name: str, tmp_path: Path) -> None:
    path = str(tmp_path / name)
    found = plan(CONFIG, 1, budget_rollouts=1)
    save_plan(path, found)
    assert load_plan(path) == found
    assert replay_plan(CONFIG, load_plan(path)) == found.final_funds_cents


def test_plan_of_another_score_or_configuration_is_refused() -> None:
    found = plan(CONFIG, 1, budget_rollouts=1)
    with pytest.raises(PlannerError, match=f"expected {found.final_funds_cents + 1}"):
        replay_plan(CONFIG, attrs.evolve(found, final_funds_cents=found.final_funds_cents + 1))
    with pytest.raises(PlannerError, match="configuration"):
        replay_plan(tiny_config(), PLAN)


def test_plan_of_too_many_commands_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.plan.gz").write_bytes(gzip.compress(b"a\n---\n" * 500_000))
    with pytest.raises(PlannerError, match=r"got 500,001 commands, expected at most 400,000"):
        load_plan(tmp_path / "a.plan.gz")
