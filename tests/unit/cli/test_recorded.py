"""Recorded runs on the command line, with a scripted model behind a real server on this machine."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ycbench_agents.cli import main
from ycbench_agents.cli.old_live import view
from ycbench_agents.cli.output import UsageError
from ycbench_agents.cli.recorded.model import read_headers
from ycbench_agents.llm.loopback import LoopbackServer, Status, greedy_model, text_model
from ycbench_agents.records import read_run

GREEDY_SEED_3_CENTS = -1_630_305
FREE = "[models.greedy]\nprompt = 0\ncompletion = 1.5\nas_of = 2026-01-01\n"


@pytest.fixture(scope="module")
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer(greedy_model) as running:
        yield running


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    return tmp_path / "runs"


def run_llm(server: LoopbackServer, runs: Path, *more: str) -> int:
    options = ("--policy", "llm", "--model", "greedy", "--base-url", server.base_url, "--records", str(runs), "--quiet")
    return main(["run", *options, *more])


def folder_of(runs: Path) -> Path:
    (path,) = runs.glob("*/run.json")
    return path.parent


def test_a_year_of_a_model_is_played_recorded_and_told(
    server: LoopbackServer, runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text(FREE, encoding="utf-8")
    assert run_llm(server, runs, "--seeds", "3", "--prices", str(prices), "--json") == 0
    document = json.loads(capsys.readouterr().out)
    (run,) = document["runs"]
    assert (run["status"], run["final_funds_cents"]) == ("finished", GREEDY_SEED_3_CENTS)
    (episode,) = document["episodes"]
    assert (episode["tasks_completed"], episode["tasks_failed"]) == (10, 9)
    reply_tokens = run["totals"]["completion_tokens"]["sum"]
    assert run["totals"]["cost_usd"] == {"sum": pytest.approx(reply_tokens * 1.5e-6), "unknown_turns": 0}
    assert read_run(folder_of(runs)).identity.model == "greedy"


def test_a_run_that_was_cut_off_is_found_again_and_a_finished_one_not_played_again(
    server: LoopbackServer, runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_llm(server, runs, "--seeds", "1", "--max-turns", "3") == 0
    asked = len(server.requests)
    assert run_llm(server, runs, "--seeds", "1", "--max-turns", "3") == 0
    assert main(["resume", str(runs), "--quiet"]) == 0
    assert len(server.requests) == asked
    told = capsys.readouterr()
    assert "finished     3" in told.out
    assert "nothing was played: 1 of 1 runs" in told.err


def test_a_server_that_refuses_leaves_a_run_that_resume_goes_on_with(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refusal = {2: Status(401)}
    with LoopbackServer(greedy_model, faults=refusal) as server:
        assert run_llm(server, runs, "--seeds", "1", "--max-turns", "4") == 1
        told = capsys.readouterr()
        assert "HTTP 401" in told.err
        assert f"go on with: ycbench resume {folder_of(runs)}" in told.err
        assert read_run(folder_of(runs)).outcome.status == "stopped"
        assert main(["resume", str(folder_of(runs)), "--quiet"]) == 0
    assert read_run(folder_of(runs)).outcome.turns == 4
    assert main(["replay", str(runs)]) == 0
    assert "4 turns, all as recorded" in capsys.readouterr().out


def test_replay_names_what_was_changed_in_a_record(
    server: LoopbackServer, runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_llm(server, runs, "--seeds", "1", "--max-turns", "3")
    path = folder_of(runs) / "turns.jsonl"
    lines = path.read_text(encoding="ascii").splitlines(keepends=True)
    turn = json.loads(lines[1])
    turn["funds_cents"] += 1
    path.write_text("".join([lines[0], json.dumps(turn) + "\n", lines[2]]), encoding="ascii")
    capsys.readouterr()
    assert main(["replay", str(runs)]) == 1
    assert "turn 2: funds_cents" in capsys.readouterr().out


def test_export_writes_a_line_of_json_a_turn(
    server: LoopbackServer, runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_llm(server, runs, "--seeds", "1", "--max-turns", "3")
    capsys.readouterr()
    out = tmp_path / "turns.jsonl"
    assert main(["export", str(runs), "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"3 turns of 1 run: {out}\n"
    assert main(["export", str(runs)]) == 0
    assert capsys.readouterr().out == out.read_text(encoding="ascii")
    turns = [json.loads(line) for line in out.read_text(encoding="ascii").splitlines()]
    assert [turn["turn"] for turn in turns] == [1, 2, 3]
    assert turns[0]["prompt"][0]["role"] == "system"
    assert turns[0]["completion"][0]["role"] == "assistant"


def test_scripted_policies_are_recorded_where_a_folder_is_named(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--policy", "greedy", "--seeds", "3", "--records", str(runs), "--quiet"]) == 0
    assert "-$16,303.05" in capsys.readouterr().out
    assert main(["replay", str(runs)]) == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "--policy", "llm"], "--model: got nothing"),
        (["run", "--model", "m"], "no --policy llm"),
        (["run", "--records", "r", "--model", "m"], "no --policy llm"),
        (["run", "--policy", "llm", "--model", "m", "--param", "keep_turn=3"], "did you mean keep_turns?"),
        (["run", "--policy", "llm", "--model", "m", "--system-prompt", "/no/such"], "--system-prompt /no/such"),
        (["run", "--policy", "llm", "--model", "m", "--prices", "/no/such"], "/no/such: cannot be read"),
        (["run", "--policy", "llm", "--model", "m", "--header", "x"], "expected 'NAME: VALUE'"),
        (
            ["run", "--policy", "llm", "--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--concurrency", "0"],
            "Must be >= 1",
        ),
        (["run", "--policy", "llm", "--model", "m"], "OPENAI_API_KEY is not set"),
        (["resume"], "resume: got no folder"),
        (["replay", "/no/such"], "expected the folder of a run"),
        (["export", "/no/such"], "expected the folder of a run"),
    ],
)
def test_what_cannot_be_used_is_said_before_anything_is_played(
    arguments: list[str],
    words: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert main(arguments) == 2
    assert words in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_values_of_headers_stand_in_no_error() -> None:
    assert read_headers(["X-Title: a: b"]) == {"X-Title": "a: b"}
    with pytest.raises(UsageError) as error:
        read_headers(["sk-secret"])
    assert "sk-secret" not in str(error.value)


def test_a_model_that_calls_no_tools_is_told_of_with_what_to_try(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["run", "--policy", "llm", "--model", "m", "--records", str(runs), "--max-turns", "3", "--no-live"]
    with LoopbackServer(text_model) as server:
        assert main([*arguments, "--base-url", server.base_url]) == 0
        told = capsys.readouterr().err
        assert "3 of 3 replies had nothing in them that could be run" in told
        assert "--param mode=text" in told
        assert told.count("nothing in the reply to run") == 3
        assert main([*arguments, "--base-url", server.base_url, "--param", "mode=text"]) == 0
        assert "nothing in" not in capsys.readouterr().err


# ---- a record is data, whoever made it


def edited(runs: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """Change what run.json says and return the folder."""
    path = folder_of(runs) / "run.json"
    document = json.loads(path.read_text(encoding="ascii"))
    change(document)
    path.write_text(json.dumps(document), encoding="ascii")
    return path.parent


def directly(command: list[str]) -> tuple[str, dict[str, Any]]:
    return "subprocess:Popen", {"args": command}


def in_a_mixture(command: list[str]) -> tuple[str, dict[str, Any]]:
    return "mixture", {"policy": "subprocess:Popen", "policy_parameters": {"args": command}, "other": "random"}


def in_a_mixture_of_mixtures(command: list[str]) -> tuple[str, dict[str, Any]]:
    name, parameters = in_a_mixture(command)
    return name, {"policy": "greedy", "other": "mixture", "other_parameters": parameters}


@pytest.mark.parametrize("naming", [directly, in_a_mixture, in_a_mixture_of_mixtures])
def test_code_that_a_record_names_is_run_only_when_a_person_names_it_too(
    naming: Callable[[list[str]], tuple[str, dict[str, Any]]],
    runs: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["run", "--policy", "greedy", "--seeds", "3", "--records", str(runs), "--max-turns", "3", "--quiet"])
    made = tmp_path / "made"
    policy, parameters = naming(["touch", str(made)])

    def name_a_program(document: dict[str, Any]) -> None:
        document["identity"]["policy"] = policy
        document["identity"]["settings"] = {"parameters": parameters}
        document["outcome"] = {**document["outcome"], "status": "running"}

    folder = edited(runs, name_a_program)
    capsys.readouterr()
    assert main(["resume", str(folder), "--quiet"]) == 2
    told = capsys.readouterr().err
    assert "would run subprocess:Popen" in told
    assert f"--policy {policy}" in told
    assert main(["replay", str(folder)]) == 0
    assert "the policy was not asked" in capsys.readouterr().out
    assert main(["export", str(folder)]) == 0
    assert not made.exists()


@pytest.mark.parametrize("within", [False, True])
def test_a_file_that_a_record_names_is_read_only_when_a_person_names_the_policy_too(
    within: bool, runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["run", "--policy", "greedy", "--seeds", "3", "--records", str(runs), "--max-turns", "3", "--quiet"])
    secret = tmp_path / "secret"
    secret.write_text("a secret of somebody else\n", encoding="utf-8")
    parameters: dict[str, Any] = {"path": str(secret)}

    def name_a_file(document: dict[str, Any]) -> None:
        document["identity"]["policy"] = "mixture" if within else "replay"
        mixed = {"policy": "replay", "policy_parameters": parameters, "other": "random"}
        document["identity"]["settings"] = {"parameters": mixed if within else parameters}
        document["outcome"] = {**document["outcome"], "status": "running"}

    folder = edited(runs, name_a_file)
    (folder / "turns.jsonl").write_text("", encoding="ascii")
    capsys.readouterr()
    assert main(["resume", str(folder), "--quiet"]) == 2
    assert "would run replay" in capsys.readouterr().err
    main(["replay", str(folder)])
    main(["export", str(folder)])
    assert "a secret" not in capsys.readouterr().out
    assert "a secret" not in (folder / "turns.jsonl").read_text(encoding="ascii")


def test_a_key_is_sent_where_a_record_says_only_when_a_person_says_so_too(
    server: LoopbackServer, runs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run_llm(server, runs, "--seeds", "1", "--max-turns", "3")

    def name_a_server(document: dict[str, Any]) -> None:
        document["identity"]["settings"] |= {"api_key_variable": "CLOUD_SECRET", "base_url": "http://192.0.2.1/v1"}
        document["outcome"] = {**document["outcome"], "status": "running"}

    folder = edited(runs, name_a_server)
    monkeypatch.setenv("CLOUD_SECRET", "a-secret-of-another-kind")
    capsys.readouterr()
    assert main(["resume", str(folder), "--quiet"]) == 2
    assert "say so: --api-key-variable CLOUD_SECRET --base-url http://192.0.2.1/v1" in capsys.readouterr().err


def test_another_server_than_the_recorded_one_is_refused(
    server: LoopbackServer, runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refusal = {2: Status(401)}
    with LoopbackServer(greedy_model, faults=refusal) as first:
        assert run_llm(first, runs, "--seeds", "1", "--max-turns", "4") == 1
    capsys.readouterr()
    assert main(["resume", str(runs), "--base-url", server.base_url, "--quiet"]) == 1
    assert "settings.base_url" in capsys.readouterr().err
    assert main(["resume", str(runs), "--header", "X-New: 1", "--quiet"]) == 1
    assert "settings.extra_headers" in capsys.readouterr().err


def test_the_variable_of_the_address_is_part_of_the_run(
    server: LoopbackServer, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    arguments = ["run", "--policy", "llm", "--model", "greedy", "--records", str(runs), "--max-turns", "2", "--quiet"]
    assert main(arguments) == 0
    assert read_run(folder_of(runs)).identity.settings["base_url"] == server.base_url


@pytest.mark.parametrize("damage", ["garbage\n", "", "{}\n"])
def test_a_damaged_record_is_said_and_the_other_runs_are_told(
    server: LoopbackServer, runs: Path, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run_llm(server, runs, "--seeds", "1-2", "--max-turns", "4")
    path = min(runs.glob("*/turns.jsonl"))
    lines = path.read_text(encoding="ascii").splitlines(keepends=True)
    path.write_text("".join([lines[0], damage, *lines[2:]]), encoding="ascii")
    capsys.readouterr()
    assert run_llm(server, runs, "--seeds", "1-2", "--max-turns", "4") == 1
    told = capsys.readouterr()
    assert "turns.jsonl line 2" in told.err
    assert "1 of 2 episodes run" in told.out


@pytest.mark.parametrize(
    ("figure", "value"), [("prompt_tokens", 5), ("cost_usd", 0.5), ("refused_calls", 7), ("unusable_replies", 1)]
)
def test_replay_works_out_anew_what_follows_from_a_reply(
    server: LoopbackServer, runs: Path, figure: str, value: float, capsys: pytest.CaptureFixture[str]
) -> None:
    run_llm(server, runs, "--seeds", "1", "--max-turns", "3")
    path = folder_of(runs) / "turns.jsonl"
    lines = path.read_text(encoding="ascii").splitlines(keepends=True)
    turn = json.loads(lines[1])
    turn["trace"][figure] = value
    path.write_text("".join([lines[0], json.dumps(turn) + "\n", lines[2]]), encoding="ascii")
    capsys.readouterr()
    assert main(["replay", str(runs)]) == 1
    assert f"turn 2: trace.{figure}" in capsys.readouterr().out


def test_ctrl_c_tells_what_was_spent_and_which_seeds_were_not_begun(
    server: LoopbackServer, runs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = 0

    def interrupt(*_: object) -> None:
        nonlocal told
        told += 1
        if told == 3:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(view._Nobody, "on_turn", interrupt)
    assert run_llm(server, runs, "--seeds", "4-6") == 130
    shown = capsys.readouterr()
    assert "interrupted     3 " in shown.out
    assert "not begun: seed 5 6; give the same command again" in shown.err
