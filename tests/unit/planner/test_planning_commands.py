"""``ycbench plan`` and ``ycbench bound`` as programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from ycbench_agents.cli import main
from ycbench_agents.planner import load_plan, replay_plan
from ycbench_env import load_config

SMALL = ("--set", "world.num_market_tasks=4")


def test_plan_saves_what_it_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["plan", "--preset", "default", "reference", "--seeds", "2", "--rollouts", "1", *SMALL]
    assert main([*arguments, "--out", str(tmp_path / "new" / "plans")]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "privileged" in out
    for preset in ("default", "reference"):
        found = load_plan(tmp_path / "new" / "plans" / f"{preset}-seed2.plan")
        config = load_config(preset, overrides={"world": {"num_market_tasks": 4}}, environ={})
        assert replay_plan(config, found) == found.final_funds_cents
        whole, cents = divmod(found.final_funds_cents, 100)
        assert f"${whole:,}.{cents:02d}" in out


def test_ctrl_c_before_any_plan_is_exit_code_130(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ycbench_agents.planner.search.roll_out", interrupted)
    assert main(["plan", "--rollouts", "1", "--out", str(tmp_path)]) == 130
    assert "0 of 1 plans" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["plan", "--set", "world.replacement_numbering=episode"], "replacement_numbering"),
        (["plan", "--budget", "0"], "--budget"),
        (["plan", "--seeds", "x"], "--seeds"),
        (["bound", "--most-accepts", "-1"], "--most-accepts"),
        (["bound", "--set", "world.task_progress_milestones=[0.0001]"], "milestones"),
    ],
)
def test_what_cannot_be_used_is_named_with_exit_code_2(
    arguments: list[str], named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--out", str(tmp_path)] if arguments[0] == "plan" else []
    assert main([*arguments, *where]) == 2
    assert named in capsys.readouterr().err


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    assert main(["plan", "--rollouts", "1", "--out", str(tmp_path / "file")]) == 2
    assert "--out" in capsys.readouterr().err


def test_a_plan_that_cannot_be_written_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "default-seed1.plan").mkdir()
    assert main(["plan", "--rollouts", "1", "--out", str(tmp_path), *SMALL]) == 2
    assert "default-seed1.plan" in capsys.readouterr().err


def test_bound_prints_a_row_for_each_configuration_and_seed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bound", "--preset", "default", "reference", "--seeds", "1", "2", *SMALL]) == 0
    out = capsys.readouterr().out
    assert [line.split()[:2] for line in out.splitlines()[2:6]] == [
        ["default", "1"],
        ["default", "2"],
        ["reference", "1"],
        ["reference", "2"],
    ]
    assert "no policy ends with more" in out


def test_bound_says_whom_it_binds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bound", "--most-accepts", "3", *SMALL]) == 0
    assert "accepts at most 3 tasks" in capsys.readouterr().out
