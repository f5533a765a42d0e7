"""The same transcript in every process, thread and Python version (B30, B31)."""

# ruff: noqa: ANN401, NPY002, S311 -- JSON of many shapes; global generators are looked at; draws are no secrets

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from ycbench_env.testing import sample_turn
from ycbench_env.wrappers import ScratchpadMemory

ROOT = Path(__file__).parents[2]
NEEDED = ("attrs", "gymnasium", "numpy", "tomli_w")
WORLDS: tuple[dict[str, Any], ...] = (
    {"extends": "default"},
    {"extends": "reference", "world": {"task_progress_milestones": [0.25, 0.5], "num_employees": 11}},
    {"world": {"world_seed": "run", "num_clients": 9, "prestige_decay_per_day": 0.004}},
    {"extends": "classic-medium", "world": {"num_market_tasks": 40, "num_employees": 5}},
)

# Prints one line a world: SHA-256 of all that is returned in two hundred turns, and of the state's bytes.
SCRIPT = """
import hashlib, json, random, sys
from ycbench_env import YCBenchEnv
from ycbench_env.testing import sample_turn
from ycbench_env.wrappers import ScratchpadMemory

for config in json.loads(sys.argv[1]):
    env = ScratchpadMemory(YCBenchEnv(config, render_mode="ansi"))
    base = env.unwrapped
    told = hashlib.sha256()

    def tell(observation, *others):
        told.update(json.dumps([{k: str(v) for k, v in observation.items()}, *others]).encode())

    tell(*env.reset(seed=11))
    rng = random.Random(11)
    for _ in range(200):
        turn = sample_turn(base.get_state(), rng) + "\\nscratchpad append --content x"
        tell(*env.step(turn), env.render(), base.state_hash())
        if base.get_state().end_reason:
            tell(*env.reset())
    env.action_space.seed(5)
    env.observation_space.seed(5)
    told.update(json.dumps([env.action_space.sample() for _ in range(50)]).encode())
    told.update(json.dumps([env.observation_space.sample()["notes"] for _ in range(5)]).encode())
    state = base.get_state().to_bytes()
    print(told.hexdigest(), hashlib.sha256(state).hexdigest(), base.config.digest())
"""


def transcripts(variables: dict[str, str], python: str = sys.executable, options: tuple[str, ...] = ()) -> list[str]:
    """What the script prints in a process of its own with these environment variables."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "LC_", "LANG"))}
    done = subprocess.run(
        [python, *options, "-c", SCRIPT, json.dumps(WORLDS)],
        env={**environment, "PYTHONPATH": str(ROOT), **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(set(lines)) == len(WORLDS)
    return lines


@pytest.fixture(scope="module")
def usual() -> list[str]:
    """The transcripts of a process with nothing unusual."""
    return transcripts({"PYTHONHASHSEED": "0"})


@pytest.mark.parametrize(
    "variables",
    [
        {"PYTHONHASHSEED": "1", "TZ": "America/New_York", "LC_ALL": "C"},
        {"PYTHONHASHSEED": "2", "TZ": "Asia/Kolkata", "LC_ALL": "de_DE.UTF-8", "PYTHONUTF8": "0"},
        {"PYTHONHASHSEED": "random", "TZ": "Pacific/Apia", "LC_ALL": "tr_TR.UTF-8", "COLUMNS": "20"},
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "NO_COLOR": "1", "TERM": "dumb"},
    ],
    ids=["New York", "Kolkata", "Apia", "POSIX"],
)
def test_another_process_says_the_same(variables: dict[str, str], usual: list[str]) -> None:
    assert transcripts(variables) == usual


def test_python_without_assertions_says_the_same(usual: list[str]) -> None:
    assert transcripts({}, options=("-O",)) == usual


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_another_python_says_the_same(version: str, usual: list[str]) -> None:
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        pytest.skip("the tests run on this version already")
    python = shutil.which(f"python{version}")
    if python is None:
        pytest.skip(f"there is no python{version} on PATH")
    found = subprocess.run([python, "-c", f"import {', '.join(NEEDED)}"], capture_output=True, check=False)
    if found.returncode:
        pytest.skip(f"python{version} lacks one of {', '.join(NEEDED)}")
    assert transcripts({}, python) == usual


# ---- within one process


def played(config: dict[str, Any], seed: int) -> str:
    """SHA-256 of an episode of sampled turns."""
    env: Any = ScratchpadMemory(gym.make("YCBench-v0", config=config))
    rng = random.Random(seed)
    told = [_told(env.reset(seed=seed))]
    for _ in range(60):
        told.append(_told(env.step(sample_turn(env.unwrapped.get_state(), rng))))
        if env.unwrapped.get_state().end_reason:
            told.append(_told(env.reset()))
    return hashlib.sha256("".join(told).encode()).hexdigest()


def _told(returned: Any) -> str:
    observation, *others = returned
    return json.dumps([{key: str(value) for key, value in observation.items()}, *others])


def test_six_threads_and_a_chatty_printer_do_not_disturb_each_other(capfd: pytest.CaptureFixture[str]) -> None:
    jobs = [(WORLDS[number % len(WORLDS)], number) for number in range(6)]
    alone = [played(*job) for job in jobs]
    before = random.getstate(), repr(np.random.get_state()), dict(os.environ)
    told: dict[int, str] = {}
    stop = threading.Event()

    def chatter() -> None:
        while not stop.wait(0.001):
            sys.stdout.write("chatter\n")

    def play(number: int) -> None:
        told[number] = played(*jobs[number])

    threads = [threading.Thread(target=play, args=(number,)) for number in range(6)]
    printer = threading.Thread(target=chatter)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        printer.start()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        stop.set()
        printer.join()
        sys.setswitchinterval(interval)
    assert [told[number] for number in range(6)] == alone
    assert (random.getstate(), repr(np.random.get_state()), dict(os.environ)) == before
    out, err = capfd.readouterr()
    assert set(out.splitlines()) <= {"chatter"}
    assert err == ""
