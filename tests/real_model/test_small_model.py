"""Turns of a real model, killed once, resumed and replayed: twenty with constrained replies where nothing else is said.

``REAL_MODEL_TURNS=40 REAL_MODEL_STYLES="constrained free" make real-model`` plays longer, and without a grammar, too.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ycbench_agents.llm.policy import LLMPolicy, recorded_settings
from ycbench_agents.runs import read_run, replay_run

pytestmark = pytest.mark.slow

TURNS = int(os.environ.get("REAL_MODEL_TURNS", "20"))
STYLES = os.environ.get("REAL_MODEL_STYLES", "constrained").split()
UNDISTURBED_TURNS = 4
KILLED_AFTER = 3
WINDOW = 3
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
SETTINGS: dict[str, Any] = {
    "model": "smollm2", "keep_turns": WINDOW, "mode": "text", "temperature": 1.5, "top_p": 1.0, "seed": 7,
    "max_tokens": 24, "max_tokens_field": "max_tokens", "system_prompt": PROMPT,
}  # fmt: skip

CHILD = """
import json, sys
from ycbench_agents import make_policy
from ycbench_agents.runs import RunIdentity, play_run
from ycbench_env import load_config
folder, turns, settings = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
config = load_config("default", overrides={"loop": {"auto_advance_after_turns": 10}})
policy = make_policy("llm", config=config, **settings)
play_run(folder, RunIdentity.of(config, 1, "llm", policy, max_turns=turns), policy)
"""


def start(folder: Path, turns: int, style: str, base_url: str) -> subprocess.Popen[bytes]:
    """Start a process that plays a run in a folder, or goes on with it."""
    settings = json.dumps({**SETTINGS, "base_url": base_url, "extra_body": BODIES[style]})
    return subprocess.Popen([sys.executable, "-c", CHILD, str(folder), str(turns), settings])


def turns_on_disk(folder: Path) -> int:
    path = folder / "turns.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


@pytest.mark.parametrize("style", STYLES)
def test_turns_of_a_real_model_survive_a_kill(style: str, base_url: str, tmp_path: Path) -> None:
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    process = start(killed, TURNS, style, base_url)
    while turns_on_disk(killed) < KILLED_AFTER:
        assert process.poll() is None, "the run ended before it could be killed"
        time.sleep(0.05)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert KILLED_AFTER <= turns_on_disk(killed) < TURNS
    assert start(killed, TURNS, style, base_url).wait() == 0
    assert start(whole, UNDISTURBED_TURNS, style, base_url).wait() == 0

    run = read_run(killed)
    turns = list(run.turns())
    assert (run.outcome.status, len(turns)) == ("finished", TURNS)
    for one, other in zip(turns, read_run(whole).turns(), strict=False):
        assert one.comparable() == other.comparable()
    # The model's own counts are known in every turn, and the window keeps the prompt in the model's context.
    for name in ("prompt_tokens", "completion_tokens"):
        total: Any = run.outcome.totals[name]
        assert total["unknown_turns"] == 0
    prompts: list[Any] = [(turn.trace or {})["prompt_tokens"] for turn in turns]
    assert all(0 < count < CONTEXT_TOKENS for count in prompts)
    settings, prices = recorded_settings(run.identity.settings)
    assert replay_run(run, LLMPolicy(settings, run.config(), prices)).is_equal
