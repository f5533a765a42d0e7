"""``ycbench run``, ``evaluate``, ``resume`` and ``replay`` as functions: options, tables, exit codes, trust."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import attrs
import pytest

from ycbench_agents.cli import main
from ycbench_agents.cli.live import LineProgress
from ycbench_agents.cli.run import print_evaluation, report_failures
from ycbench_agents.evaluation import read_evaluation
from ycbench_agents.evaluation.factory import Trusted, require_trust
from ycbench_agents.registry import PolicyError
from ycbench_agents.runs import Run, RunIdentity, read_run
from ycbench_env.text import JsonObject

OWN = """
from pathlib import Path


class Fine:
    def reset(self, seed):
        Path("was_run").touch()

    def act(self, observation):
        return "sim resume"
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder that modules may be imported from."""
    (tmp_path / "own.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def interrupt(run: Run) -> None:
    """Make a finished run one that was killed after its second turn."""
    lines = (run.folder / "turns.jsonl").read_bytes().splitlines(keepends=True)
    (run.folder / "turns.jsonl").write_bytes(b"".join(lines[:2]))
    values = json.loads((run.folder / "run.json").read_text())
    (run.folder / "run.json").write_text(json.dumps({**values, "outcome": {"status": "running"}}))


def recorded(policy: str, *more: str) -> Run:
    """Return the run of a short command."""
    assert main(["run", "--policy", policy, "--max-turns", "4", "--records", "kept", "--quiet", *more]) == 0
    [folder] = Path("kept").glob("run-*")
    return read_run(folder)


def test_the_table_shows_score_and_raw_funds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--policy", "greedy", "idle", "--seeds", "3", "--quiet"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["greedy", "default", "3", "-$16,303.05", "10", "9", "0", "bankrupt", "on", "2025-09-01", "28"] in lines
    assert ["greedy", "default", "$0.00", "-$16,303.05", "1/1", "0", "1"] in lines
    assert ["2", "of", "2", "episodes", "finished"] in lines
    assert not list(Path().glob("*.json"))


def test_a_failed_policy_is_named_beside_the_finished_episodes(capsys: pytest.CaptureFixture[str]) -> None:
    Path("own.py").write_text(OWN.replace('return "sim resume"', "raise RuntimeError('boom')"))
    assert main(["run", "--policy", "idle", "own:Fine", "--max-turns", "3", "--quiet"]) == 1
    out, err = capsys.readouterr()
    lines = [line.split() for line in out.splitlines()]
    assert ["idle", "default", "$200,000.00", "$200,000.00", "$200,000.00", "1/1", "0", "0"] in lines
    assert ["own:Fine", "default", "(-)", "$0.00", "-", "0/1", "1", "0"] in lines
    assert re.search(r"failed: own:Fine, default, seed 1: RuntimeError: boom \(own\.py:\d+ in act, turn 1\)", err)


def test_a_failed_run_is_resumed_by_the_same_command_or_when_its_code_is_trusted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    broken = OWN.replace('return "sim resume"', "raise RuntimeError('boom')")
    words = ["run", "--policy", "own:Fine", "--max-turns", "3", "--records", "a b"]
    for again in (words, ["resume", "a b", "--policy", "own:Fine"]):
        Path("own.py").write_text(broken)
        assert main([*words, "--no-live"]) == 1
        err = capsys.readouterr().err
        assert "1/1 own:Fine, default, seed 1: failed: RuntimeError\n" in err
        assert err.count("boom") == 1
        assert "repeat the command to go on" in err
        Path("own.py").write_text(OWN)
        assert main([*again, "--quiet"]) == 0
        shutil.rmtree("a b")


def test_json_is_strict_and_names_folders_of_kept_runs(capsys: pytest.CaptureFixture[str]) -> None:
    run = recorded("greedy", "--json", "--set", "world.num_clients=3")
    document = json.loads(capsys.readouterr().out)
    [episode] = document["episodes"]
    assert episode["folder"] == str(run.folder)
    assert document["overrides"] == [{"key": "world.num_clients", "value": 3, "origin": "--set"}]
    assert json.loads(Path("kept/suite.json").read_text())["overrides"] == document["overrides"]


@pytest.mark.parametrize("target", ["kept", "kept/run-*"])
def test_resume_goes_on_with_an_evaluation_or_a_run(capsys: pytest.CaptureFixture[str], target: str) -> None:
    run = recorded("greedy")
    before = (run.folder / "turns.jsonl").read_bytes()
    interrupt(run)
    folder = str(next(Path().glob(target)))
    assert main(["resume", folder, "--quiet"]) == 0
    assert "$" in capsys.readouterr().out
    again = read_run(run.folder)
    assert again.is_finished
    assert len((run.folder / "turns.jsonl").read_bytes()) == len(before)
    assert main(["replay", "kept"]) == 0
    assert "4 turns, all as recorded" in capsys.readouterr().out


@pytest.mark.parametrize("target", ["kept", "kept/run-*"])
def test_an_interrupted_resume_is_resumed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    def press_ctrl_c(*_: object) -> None:
        raise KeyboardInterrupt

    run = recorded("greedy")
    interrupt(run)
    folder = str(next(Path().glob(target)))
    with monkeypatch.context() as patch:
        patch.setattr(LineProgress, "begin", press_ctrl_c)
        assert main(["resume", folder, "--quiet"]) == 130
    assert "interrupted" in capsys.readouterr().err
    assert main(["resume", folder, "--quiet"]) == 0
    assert read_run(run.folder).is_finished


def test_models_cost_and_useless_replies_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    recorded("idle")
    evaluation = read_evaluation("kept")
    [episode] = evaluation.episodes
    assert episode.run is not None
    sums = {"prompt_tokens": 1_000, "completion_tokens": 234, "cost_usd": 0.5, "unusable_replies": 3}
    totals: JsonObject = {name: {"sum": value, "unknown_turns": 1} for name, value in sums.items()}
    run = attrs.evolve(
        episode.run,
        outcome=attrs.evolve(episode.run.outcome, totals=totals),
        identity=attrs.evolve(episode.run.identity, settings={"mode": "tools"}),
    )
    evaluation = attrs.evolve(evaluation, episodes=(attrs.evolve(episode, run=run),))
    print_evaluation(evaluation)
    assert report_failures(evaluation.episodes, is_interrupted=False) == 0
    out, err = capsys.readouterr()
    assert "language models: 4 turns, at least 1,234 tokens, at least $0.50" in out
    assert "3 of 4 replies held nothing that could be run; a model that calls no tools needs --param mode=text" in err
    failed = attrs.evolve(episode, reason="boom")
    assert report_failures([failed] * 22, is_interrupted=False) == 1
    assert "failed: 2 more" in capsys.readouterr().err


def test_the_same_command_goes_on_to_equal_results() -> None:
    run = recorded("greedy")
    before = Path("kept/results.json").read_bytes()
    interrupt(run)
    recorded("greedy")
    assert Path("kept/results.json").read_bytes() == before


@pytest.mark.parametrize("target", ["kept", "kept/run-*"])
def test_code_that_a_record_names_runs_only_when_it_is_trusted(capsys: pytest.CaptureFixture[str], target: str) -> None:
    interrupt(recorded("own:Fine"))
    Path("was_run").unlink()
    folder = str(next(Path().glob(target)))
    assert main(["resume", folder, "--quiet"]) == 2
    assert "would run own:Fine" in capsys.readouterr().err
    assert main(["replay", folder]) == 0
    assert "the policy was not asked" in capsys.readouterr().out
    assert not Path("was_run").exists()
    assert main(["resume", folder, "--policy", "own:Fine", "--quiet"]) == 0
    assert main(["replay", folder, "--policy", "own:Fine"]) == 0


def test_keys_go_only_to_servers_that_are_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    from ycbench_agents.llm.policy import make_llm_policy  # noqa: PLC0415 -- slow to import

    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef0123")
    monkeypatch.setenv("MY_API_KEY", "sk-0123456789abcdef0123")

    def identity(**settings: Any) -> RunIdentity:  # noqa: ANN401 -- settings of a model
        return RunIdentity.of("default", 1, "llm", make_llm_policy("m", **settings))

    far = {"base_url": "http://far.example/v1"}
    require_trust(identity(), Trusted(), "x")
    require_trust(identity(base_url="http://127.0.0.1:1/v1"), Trusted(), "x")
    require_trust(identity(**far), Trusted(base_url=far["base_url"]), "x")
    for trusted in (Trusted(), Trusted(base_url="http://other.example/v1")):
        with pytest.raises(PolicyError, match=r"--base-url http://far\.example/v1"):
            require_trust(identity(**far), trusted, "x")
    with pytest.raises(PolicyError, match="--api-key-variable MY_API_KEY"):
        require_trust(identity(api_key_variable="MY_API_KEY"), Trusted(), "x")
    require_trust(identity(api_key_variable="MY_API_KEY"), Trusted(api_key_variable="MY_API_KEY"), "x")


def test_files_that_a_record_replays_are_opened_only_when_trusted() -> None:
    rows: list[tuple[str, JsonObject]] = [
        ("replay", {"path": "/etc/passwd"}),
        ("mixture", {"policy": "replay", "policy_parameters": {"path": "/etc/passwd"}}),
    ]
    for name, parameters in rows:
        identity = RunIdentity.of("default", 1, name, settings={"parameters": parameters})
        with pytest.raises(PolicyError, match="would run replay"):
            require_trust(identity, Trusted(), "x")
        require_trust(identity, Trusted(policy=name), "x")


def test_replay_shows_what_differs(capsys: pytest.CaptureFixture[str]) -> None:
    run = recorded("greedy")
    path = run.folder / "turns.jsonl"
    path.write_text(path.read_text().replace('"forced_advance":false', '"forced_advance":true', 1))
    assert main(["replay", "kept"]) == 1
    assert "turn 1: forced_advance: true | false" in capsys.readouterr().out
    path.write_text("no JSON\n{}\n")
    assert main(["replay", "kept"]) == 1
    assert "not valid JSON" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "--policy", "idle", "idle"], "each policy once"),
        (["run", "--model", "m"], "no --policy llm"),
        (["run", "--policy", "gready"], "did you mean 'greedy'"),
        (["export"], "export: got no folder"),
        (["validate", "nosuch"], "nosuch: there is no such folder"),
        (["run", "--policy", "llm"], "got no model"),
        (["run", "--policy", "llm", "--model", "m", "--param", "model=n"], "it once, not as a parameter too"),
        (["run", "--policy", "llm", "--model", "m", "--header", "secret"], "a text without a name and a colon"),
        (["run", "--policy", "llm", "--model", "m", "--system-prompt", "nowhere.md"], "nowhere.md: cannot be read"),
        (["resume"], "got no folder"),
        (["resume", "."], "a folder without run.json"),
        (["replay", "nowhere"], "not a directory"),
        (["evaluate", "nowhere"], "TOML file of a suite"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert message in err
    assert not Path("runs").exists()


def test_evaluate_prints_the_leaderboard_and_its_place(capsys: pytest.CaptureFixture[str]) -> None:
    Path("s.toml").write_text(
        'name = "s"\npresets = ["default"]\nseeds = [1]\nlimits = { max_turns = 3 }\n'
        'policies = [{ name = "idle" }, { name = "market_roller" }]\n'
    )
    assert main(["evaluate", "s.toml", "--quiet", "--set", "world.num_clients=3"]) == 0
    out = capsys.readouterr().out
    assert "in force: world.num_clients = 3 (--set)" in out
    assert "results: out/s/results.json" in out
    assert "market_roller uses a loophole" in " ".join(out.split())
    assert "idle uses" not in out
    assert main(["evaluate", "s.toml", "--policy", "idle", "--quiet"]) == 0
    assert main(["evaluate", "s.toml", "--policy", "nobody", "--quiet"]) == 2


def test_a_plan_for_another_episode_is_warned_about(capsys: pytest.CaptureFixture[str]) -> None:
    plan = Path(__file__).parents[3] / "docs/data/plans/reference-seed1.plan.gz"
    words = ["run", "--policy", "replay", "--param", f"path={plan}", "--max-turns", "2", "--seeds", "2", "--quiet"]
    assert main(words) == 0
    err = capsys.readouterr().err
    assert "is a plan for seed 1 of one configuration, not for default, seed 2: its funds will differ" in err
