"""Turns of a real model, forty where nothing else is said, constrained and free, killed once and resumed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ycbench_agents.runs import Run, TurnRecord, read_run
from ycbench_agents.runs.run import turn_differences

pytestmark = pytest.mark.slow

TURNS = int(os.environ.get("REAL_MODEL_TURNS", "40"))
UNDISTURBED_TURNS = 6
KILLED_AFTER = 3
WINDOW = 5
CONTEXT_TOKENS = 8192

GRAMMAR = r"""
root ::= command
command ::= "market browse --limit 1" | "task list" | "sim resume" | on-task | assign | note
on-task ::= "task " ("accept" | "dispatch" | "inspect") " --task-id Task-" number
assign ::= "task assign --task-id Task-" number " --employees Emp_1,Emp_2,Emp_3"
note ::= "scratchpad append --content \"" [a-z ]{3,20} "\""
number ::= [1-9] [0-9]?
"""
PROMPT = """You run {company}. {acting} Commands:
market browse --limit 1
task accept --task-id Task-7
task assign --task-id Task-7 --employees Emp_1,Emp_2
task dispatch --task-id Task-7
sim resume
company status
{turns}
"""
VARIED = {"cache_prompt": False, "top_k": 0, "min_p": 0.0}
BODIES = {"constrained": {**VARIED, "grammar": GRAMMAR}, "free": {**VARIED, "stop": ["\n\n"]}}


def table(values: dict[str, object]) -> str:
    """Return an inline table of TOML, as ``--param`` takes it."""
    return "{" + ", ".join(f"{name} = {json.dumps(value)}" for name, value in values.items()) + "}"


def arguments(style: str, base_url: str, folder: Path, turns: int) -> list[str]:
    template = folder.parent / "prompt.txt"
    template.write_text(PROMPT, encoding="utf-8")
    parameters = [
        f"keep_turns={WINDOW}", "mode=text", "temperature=1.5", "top_p=1.0", "seed=7", "max_tokens=24",
        "max_tokens_field=max_tokens", f"extra_body={table(BODIES[style])}",
    ]  # fmt: skip
    return [
        sys.executable, "-m", "ycbench_agents.cli", "run", "--policy", "llm", "--model", "smollm2",
        "--base-url", base_url, "--system-prompt", str(template), "--param", *parameters,
        "--set", "loop.auto_advance_after_turns=10", "--max-turns", str(turns), "--records", str(folder), "--no-live",
    ]  # fmt: skip


def turns_on_disk(folder: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in folder.glob("*/turns.jsonl"))


def killed_run(command: list[str], folder: Path) -> None:
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        while turns_on_disk(folder) < KILLED_AFTER:
            assert process.poll() is None, "the run ended before it could be killed"
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGKILL)


def the_run(folder: Path) -> Run:
    (path,) = folder.glob("*/run.json")
    return read_run(path.parent)


@pytest.mark.parametrize("style", list(BODIES))
def test_the_turns_of_a_real_model_survive_a_kill(style: str, base_url: str, tmp_path: Path) -> None:
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    killed_run(arguments(style, base_url, killed, TURNS), killed)
    assert KILLED_AFTER <= turns_on_disk(killed) < TURNS
    subprocess.run([sys.executable, "-m", "ycbench_agents.cli", "resume", str(killed), "--no-live"], check=True)
    subprocess.run(arguments(style, base_url, whole, UNDISTURBED_TURNS), check=True)

    record = the_run(killed)
    turns = list(record.turns())
    assert (record.outcome.status, len(turns)) == ("finished", TURNS)
    undisturbed = list(the_run(whole).turns())
    assert len(undisturbed) == UNDISTURBED_TURNS
    for one, other in zip(turns, undisturbed, strict=False):
        assert turn_differences(one, other) == []
    check_usage(record, turns)
    replayed = subprocess.run(
        [sys.executable, "-m", "ycbench_agents.cli", "replay", str(killed)], check=True, capture_output=True, text=True
    )
    assert f"{TURNS} turns, all as recorded" in replayed.stdout


def check_usage(record: Run, turns: list[TurnRecord]) -> None:
    """The model's own counts are known in every turn, and the window keeps the prompt in the model's context."""
    totals = record.outcome.totals
    for name in ("prompt_tokens", "completion_tokens"):
        total = totals[name]
        assert isinstance(total, dict)
        assert total["unknown_turns"] == 0
    prompts = [turn.trace["prompt_tokens"] for turn in turns if turn.trace is not None]
    assert all(isinstance(count, int) and 0 < count < CONTEXT_TOKENS for count in prompts)
