"""Two programs at once on one folder: the second is refused and changes nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from ycbench_agents.evaluation import read_evaluation

SUITE = """
name = "two"
presets = ["default"]
seeds = [1]
limits = { max_turns = 2 }
policies = [{ name = "held_policies:Held" }]
"""
HELD = """
import pathlib, time

class Held:
    def reset(self, seed):
        pathlib.Path("playing").touch()
        while not pathlib.Path("go").exists():
            time.sleep(0.01)

    def act(self, observation):
        return "sim resume"
"""
COMMAND = [sys.executable, "-m", "ycbench_agents.cli", "evaluate", "two.toml", "--processes", "1", "--quiet"]
PATIENCE_S = 120  # for a program that never begins; nothing is measured


def wait_for(path: Path, program: subprocess.Popen[str]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not path.exists():
        assert program.poll() is None, program.communicate()
        assert time.monotonic() < end
        time.sleep(0.01)


def test_the_second_program_is_refused_and_the_first_ends_as_if_alone(tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(SUITE, "utf-8")
    (tmp_path / "held_policies.py").write_text(HELD, "utf-8")
    environ = {key: value for key, value in os.environ.items() if not key.startswith("YCBENCH_")}
    options = {"cwd": tmp_path, "env": environ, "text": True}
    with subprocess.Popen(  # noqa: S603 -- written above
        COMMAND, **options, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as first:
        try:
            wait_for(tmp_path / "playing", first)
            suite = (tmp_path / "out/two/suite.json").read_bytes()
            second = subprocess.run(COMMAND, **options, capture_output=True, check=False)  # noqa: S603 -- written above
            assert second.returncode == 2
            assert "another ycbench evaluate is playing there; wait for it, or choose another --out" in second.stderr
            assert not (tmp_path / "out/two/results.json").exists()
            assert (tmp_path / "out/two/suite.json").read_bytes() == suite
        finally:
            (tmp_path / "go").touch()
        told, complaints = first.communicate(timeout=PATIENCE_S)
    assert (first.returncode, complaints) == (0, "")
    assert "1 of 1 episodes finished" in told
    [episode] = read_evaluation(tmp_path / "out/two").episodes
    assert episode.record is not None
    assert (episode.status, episode.record.outcome.turns) == ("finished", 2)
