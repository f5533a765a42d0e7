"""Recorded runs of a language model: faults on the way, stops, resumes, kills, recomputing replays (B41, B42)."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import openai._base_client
import pytest
from strict_server import SOME_OF_EACH, StrictServer, error_fault, text_model

from ycbench_agents.llm.loopback import LoopbackServer, Model, ScriptedReply, greedy_model, tool_call
from ycbench_agents.llm.policy import LLMPolicy, recorded_settings
from ycbench_agents.llm.pricing import Price, Prices
from ycbench_agents.llm.settings import LLMSettings
from ycbench_agents.runs import Run, RunIdentity, play_run, read_run, replay_run, same_run
from ycbench_env.text import JsonObject

KEY = "sk-test-4f1dA9c0e7b2PLANTED83d6Zq"
PRICES = Prices({"m": Price(1.0, 2.0, "2026-01-01", cached_prompt=0.5)})


@pytest.fixture(autouse=True)
def no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai._base_client, "INITIAL_RETRY_DELAY", 0.001)
    monkeypatch.setattr(openai._base_client, "random", lambda: 0.0)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def played(
    folder: Path,
    server: LoopbackServer,
    monkeypatch: pytest.MonkeyPatch,
    turns: int = 25,
    **values: Any,  # noqa: ANN401 -- settings
) -> Run:
    """Play a run; the address comes from the environment, so that runs against two servers have one identity."""
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    policy = LLMPolicy(LLMSettings(model="m", max_retries=9, **values), prices=PRICES)
    return play_run(folder, RunIdentity.of("default", 1, "llm", policy, max_turns=turns), policy)


def lines(run: Run) -> list[str]:
    """The turns of a run without what may differ between equal runs."""
    turns: list[JsonObject] = [json.loads(line) for line in (run.folder / "turns.jsonl").read_bytes().splitlines()]
    return [
        json.dumps({name: value for name, value in turn.items() if name not in {"transport", "time"}}) for turn in turns
    ]


@pytest.mark.parametrize(("model", "mode"), [(greedy_model, "tools"), (text_model, "text")])
def test_a_run_full_of_faults_has_the_record_of_a_calm_one(
    model: Model, mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with StrictServer(model) as server:
        calm = played(tmp_path / "calm", server, monkeypatch, mode=mode, keep_turns=3)
        asked = server.requests
    storm = {2 * place + 1: fault for place, fault in enumerate(SOME_OF_EACH)}
    with StrictServer(model, storm) as server:
        stormy = played(tmp_path / "stormy", server, monkeypatch, mode=mode, keep_turns=3)
        assert [body for body, fault in zip(server.requests, server.met, strict=True) if fault is None] == asked
    assert same_run(stormy, calm) == []
    assert lines(stormy) == lines(calm)
    faults = [fault for turn in stormy.turns() for fault in (turn.transport or {})["faults"]]  # pyright: ignore[reportGeneralTypeIssues, reportOptionalIterable] -- a list
    assert len(faults) == len(SOME_OF_EACH)
    assert KEY not in "".join(path.read_text() for path in stormy.folder.iterdir())


def test_a_refusal_stops_a_run_with_its_reason_and_it_goes_on_without_asking_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with StrictServer(greedy_model) as server:
        calm = played(tmp_path / "calm", server, monkeypatch)
    with StrictServer(greedy_model, {11: error_fault(401, message="Incorrect API key provided")}) as server:
        stopped = played(tmp_path / "run", server, monkeypatch)
        assert (stopped.outcome.status, stopped.outcome.turns) == ("stopped", 10)
        assert "HTTP 401: Incorrect API key provided (the key is taken from" in (stopped.outcome.reason or "")
        resumed = played(tmp_path / "run", server, monkeypatch)
        assert len(server.requests) == 26  # the refused one once more, nothing before it
    assert same_run(resumed, calm) == []
    assert lines(resumed) == lines(calm)


def test_a_small_context_shrinks_the_window_also_through_a_resume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with StrictServer(greedy_model, context_tokens=4000) as server:
        whole = played(tmp_path / "whole", server, monkeypatch)
    windows: list[Any] = [(turn.trace or {})["shrunk_to"] for turn in whole.turns()]
    assert windows[0] is None
    assert isinstance(windows[-1], int)
    with StrictServer(greedy_model, {20: error_fault(403)}, context_tokens=4000) as server:
        assert played(tmp_path / "run", server, monkeypatch).outcome.status == "stopped"
        assert same_run(played(tmp_path / "run", server, monkeypatch), whole) == []


def test_a_model_that_never_acts_plays_to_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with StrictServer(lambda _: ScriptedReply(None, [tool_call("a", "bash", "{")], "length")) as server:
        run = played(tmp_path, server, monkeypatch, turns=1000)
    assert run.outcome.status == "finished"
    assert run.outcome.totals["unusable_replies"] == {"sum": run.outcome.turns, "unknown_turns": 0}


def test_a_replay_recomputes_action_prompt_and_cost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with StrictServer(greedy_model) as server:
        run = played(tmp_path, server, monkeypatch, turns=6)

    def differences() -> list[str]:
        settings, prices = recorded_settings(read_run(tmp_path).identity.settings)
        return list(replay_run(tmp_path, LLMPolicy(settings, run.config(), prices)).differences)

    assert differences() == []
    path = tmp_path / "turns.jsonl"
    text = path.read_text()
    third: dict[str, Any] = json.loads(text.splitlines()[2])
    assert third["trace"]["cost_usd"] > 0
    for name in ("cost_usd", "prompt_tokens", "messages_sha256", "refused_calls"):
        changed = {**third, "trace": {**third["trace"], name: "0" * 64 if name == "messages_sha256" else 77}}
        path.write_text(text.replace(text.splitlines()[2], json.dumps(changed, separators=(",", ":"))))
        assert differences(), name
        path.write_text(text)


CHILD = """
import sys
from ycbench_agents.llm.policy import LLMPolicy
from ycbench_agents.llm.settings import LLMSettings
from ycbench_agents.runs import RunIdentity, play_run
policy = LLMPolicy(LLMSettings(model="m", base_url=sys.argv[2], keep_turns=2, max_retries=9))
play_run(sys.argv[1], RunIdentity.of("default", 1, "llm", policy, max_turns=40), policy)
"""


@pytest.mark.slow
def test_a_run_killed_at_random_moments_ends_like_an_undisturbed_one(tmp_path: Path) -> None:
    rng = random.Random(1)  # noqa: S311 -- moments, not secrets

    def slow_model(request: JsonObject) -> ScriptedReply:
        time.sleep(0.02)
        return greedy_model(request)

    with LoopbackServer(slow_model) as server:

        def start(name: str) -> subprocess.Popen[bytes]:
            return subprocess.Popen([sys.executable, "-c", CHILD, str(tmp_path / name), server.base_url])

        assert start("whole").wait() == 0
        for _ in range(10):
            before = len(server.requests)
            process = start("killed")
            while len(server.requests) == before and process.poll() is None:
                time.sleep(0.001)
            time.sleep(rng.uniform(0.0, 0.1))
            process.kill()
            assert process.wait() == -signal.SIGKILL
        assert start("killed").wait() == 0
    assert same_run(read_run(tmp_path / "killed"), read_run(tmp_path / "whole")) == []
    assert lines(read_run(tmp_path / "killed")) == lines(read_run(tmp_path / "whole"))
