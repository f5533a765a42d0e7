"""``ycbench plan`` and ``ycbench bound`` as programs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from ycbench_agents.cli import main
from ycbench_agents.cli.output import dollars
from ycbench_agents.planner import Plan, load_plan, replay_plan, save_plan
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
        (["plan", "--budget", "600", "--rollouts", "1"], "leave out --budget"),
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


def planned(out: Path, *more: str) -> int:
    return main(["plan", "--rollouts", "1", "--out", str(out), *more])


def test_a_name_too_long_for_a_file_is_said_after_the_search(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert planned(tmp_path, "--set", f"name={chr(233) * 120}", *SMALL) == 2
    assert "cannot write" in capsys.readouterr().err


@pytest.mark.parametrize(("cents_more", "stays"), [(0, True), (-1, False)])
def test_a_plan_as_good_stays_and_a_worse_one_is_replaced(
    cents_more: int, stays: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert planned(tmp_path, *SMALL) == 0
    path = tmp_path / "default-seed1.plan"
    found = load_plan(path)
    old = attrs.evolve(found, final_funds_cents=found.final_funds_cents + cents_more, interrupted=True)
    save_plan(path, old)
    monkeypatch.setattr("ycbench_agents.planner.replay_plan", lambda *_: 0)
    capsys.readouterr()
    assert planned(tmp_path, *SMALL) == 0
    assert load_plan(path) == (old if stays else found)
    assert (f"kept: {dollars(found.final_funds_cents)} there already" in capsys.readouterr().out) is stays


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (
            lambda plan: attrs.evolve(plan, config_digest="0" * 64),
            "got a plan for configuration 000000000000, expected one for ",
        ),
        (lambda plan: attrs.evolve(plan, seed=2), "got a plan for seed 2, expected one for seed 1"),
        (lambda plan: attrs.evolve(plan, final_funds_cents=7), "cents when replayed, expected 7"),
    ],
)
def test_what_is_there_and_no_plan_for_this_episode_is_refused_before_any_search(
    change: Callable[[Plan], Plan],
    named: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert planned(tmp_path, *SMALL) == 0
    path = tmp_path / "default-seed1.plan"
    save_plan(path, change(load_plan(path)))
    content = path.read_bytes()

    def search(*_: object, **__: object) -> None:
        pytest.fail("it searched")

    monkeypatch.setattr("ycbench_agents.planner.plan", search)
    capsys.readouterr()
    assert planned(tmp_path, "--seeds", "3", "1", *SMALL) == 2
    err = capsys.readouterr().err
    assert named in err
    assert "name another --out" in err
    assert path.read_bytes() == content


@pytest.mark.parametrize("recorded", [False, True])
def test_a_plan_played_elsewhere_is_warned_of(
    recorded: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert planned(tmp_path, *SMALL) == 0
    path = tmp_path / "default-seed1.plan"
    arguments = ["run", "--policy", "replay", "--param", f"path={path}", "--max-turns", "1", "--quiet"]
    arguments += ["--records", str(tmp_path / "runs")] if recorded else []
    capsys.readouterr()
    assert main([*arguments, *SMALL]) == 0
    assert capsys.readouterr().err == ""
    assert main([*arguments, *SMALL, "--seeds", "2-5", "1"]) == 0
    told = f"ycbench: warning: {path} is a plan for seed 1 and is played with seed 2, 3, 4 and 1 more, where its funds"
    lines = [line for line in capsys.readouterr().err.splitlines() if "warning" in line]
    assert len(lines) == 1
    assert lines[0].startswith(told)
    assert main(arguments) == 0
    digests = [load_plan(path).config_digest[:12], load_config("default", environ={}).digest()[:12]]
    told = f"is a plan for configuration {digests[0]} and is played under default ({digests[1]}), where"
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("command", ["plan", "bound"])
def test_what_options_and_variables_decided_stands_above_the_table(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("YCBENCH_WORLD__NUM_CLIENTS", "3")
    where = ["--rollouts", "1", "--out", str(tmp_path)] if command == "plan" else []
    assert main([command, *where, *SMALL]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [
        "in force: world.num_market_tasks = 4 (--set)",
        "in force: world.num_clients = 3 (YCBENCH_WORLD__NUM_CLIENTS)",
        "",
    ]
    assert lines[3].startswith("preset")


def test_the_help_says_what_most_accepts_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bound", "--help"]) == 0
    help_text = " ".join(capsys.readouterr().out.replace("│", "").split())
    assert "at most N accepts in all, and at most 999 in one market slot" in help_text


def test_bound_prints_a_row_for_each_configuration_and_seed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bound", "--preset", "default", "reference", "--seeds", "1", "2", *SMALL]) == 0
    out = capsys.readouterr().out
    assert [line.split()[:2] for line in out.splitlines()[4:8]] == [
        ["default", "1"],
        ["default", "2"],
        ["reference", "1"],
        ["reference", "2"],
    ]
    assert "no policy ends with more" in out


def test_bound_says_whom_it_binds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bound", "--most-accepts", "3", *SMALL]) == 0
    assert "accepts at most 3 tasks" in capsys.readouterr().out
