"""``ycbench plan`` and ``ycbench bound`` as programs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from ycbench_agents.cli import main
from ycbench_agents.planner import Plan, load_plan, replay_plan, save_plan
from ycbench_env import load_config
from ycbench_env.text import dollars

SMALL = ("--set", "world.num_market_tasks=4")


def planned(out: Path | str, *more: str) -> int:
    return main(["plan", "--rollouts", "1", "--out", str(out), *SMALL, *more])


def test_plan_saves_what_it_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "new" / "plans"
    assert planned(folder, "--preset", "default", "honest", "--seeds", "2", "--honest") == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "privileged" in out
    for preset in ("default", "honest"):
        found = load_plan(folder / f"{preset}-honest-seed2.plan")
        config = load_config(preset, overrides={"world": {"num_market_tasks": 4}}, environ={})
        assert replay_plan(config, found) == found.final_funds_cents
        assert dollars(found.final_funds_cents) in out


def test_one_plan_goes_to_standard_output_or_a_device(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert planned("-") == 0
    (tmp_path / "a.plan").write_bytes(capsysbinary.readouterr().out)
    assert load_plan(tmp_path / "a.plan").seed == 1
    assert planned("/dev/null") == 0
    assert not Path("/dev/null").is_file()
    assert planned("-", "--seeds", "1", "2") == 2
    assert b"expected a folder for several plans" in capsysbinary.readouterr().err


def test_ctrl_c_before_any_plan_is_exit_code_130(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ycbench_agents.planner.search.roll_out", interrupted)
    assert planned(tmp_path) == 130
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
        (["bound", "--most-accepts", "1", "--most-unfinished", "1"], "expected at most one number"),
        (["bound", "--set", "world.task_progress_milestones=[0.0001]"], "milestones"),
    ],
)
def test_bad_arguments_are_named(
    arguments: list[str], named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--out", str(tmp_path)] if arguments[0] == "plan" else []
    assert main([*arguments, *where]) == 2
    assert named in capsys.readouterr().err


@pytest.mark.parametrize(("cents_more", "stays"), [(0, True), (-1, False)])
def test_better_plan_replaces_the_one_that_is_there(
    cents_more: int, stays: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert planned(tmp_path) == 0
    path = tmp_path / "default-seed1.plan"
    found = load_plan(path)
    old = attrs.evolve(found, final_funds_cents=found.final_funds_cents + cents_more, interrupted=True)
    save_plan(path, old)
    monkeypatch.setattr("ycbench_agents.cli.plan.replay_plan", lambda *_: 0)
    capsys.readouterr()
    assert planned(tmp_path) == 0
    assert load_plan(path) == (old if stays else found)
    assert ("kept" in capsys.readouterr().out) is stays


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda plan: attrs.evolve(plan, config_digest="0" * 64), "expected 000000000000"),
        (lambda plan: attrs.evolve(plan, seed=2), "it is a plan for another seed than 1"),
        (lambda plan: attrs.evolve(plan, final_funds_cents=7), "cents when replayed, expected 7"),
    ],
)
def test_file_of_something_else_is_refused_before_any_search(
    change: Callable[[Plan], Plan], named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert planned(tmp_path) == 0
    path = tmp_path / "default-seed1.plan"
    save_plan(path, change(load_plan(path)))
    content = path.read_bytes()
    capsys.readouterr()
    assert planned(tmp_path, "--seeds", "3", "1") == 2
    err = capsys.readouterr().err
    assert named in err
    assert "name another --out" in err
    assert path.read_bytes() == content
    assert not (tmp_path / "default-seed3.plan").exists()


def test_settings_in_force_stand_above_the_table(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("YCBENCH_WORLD__NUM_CLIENTS", "3")
    assert main(["bound", *SMALL]) == 0
    out = capsys.readouterr().out
    table = out.index("preset")
    assert 0 <= out.index("world.num_market_tasks = 4 (--set)") < table
    assert 0 <= out.index("world.num_clients = 3 (YCBENCH_WORLD__NUM_CLIENTS)") < table


def test_bound_prints_three_bounds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bound", "--preset", "default", "published-bot", *SMALL]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith(("default", "published"))]
    assert [row[:2] for row in rows] == [[name, seed] for name, seed in (("default", "1"), ("published-bot", "1"))]
    everybody, accepting, finishing = (float(cell.strip("$").replace(",", "")) for cell in rows[0][2:5])
    assert everybody > accepting > finishing
    assert rows[1][3:5] == ["-", "-"]  # its replacements depend on the whole episode


def test_bound_names_whom_it_binds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bound", "--most-accepts", "3", *SMALL]) == 0
    assert "accepts at most 3 tasks" in capsys.readouterr().out
    assert main(["bound", "--most-unfinished", "2", *SMALL]) == 0
    assert "all but 2 of its tasks" in capsys.readouterr().out
