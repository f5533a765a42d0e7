"""The same transcript in every process, thread and Python version (B30, B31)."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import transcripts
from transcripts import WORLDS, transcript

pytestmark = pytest.mark.no_cover  # slow under coverage, and other tests reach the same lines

ROOT = Path(__file__).parents[2]
NEEDED = ("attrs", "gymnasium", "numpy", "tomli_w")


def printed(variables: dict[str, str], *options: str, python: str = sys.executable) -> list[str]:
    """What the program prints in a process of its own with these environment variables."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "LC_", "LANG"))}
    done = subprocess.run(
        [python, *options, transcripts.__file__],
        env={**environment, "PYTHONPATH": str(ROOT), **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def usual() -> list[str]:
    """The transcripts of this process."""
    lines = [transcript(world, 11, 120) for world in WORLDS]
    assert len(set(lines)) == len(WORLDS)
    return lines


@pytest.mark.parametrize(
    ("variables", "options"),
    [
        ({"PYTHONHASHSEED": "1", "TZ": "America/New_York", "LC_ALL": "C", "PYTHONUTF8": "0", "NO_COLOR": "1"}, ["-O"]),
        ({"PYTHONHASHSEED": "random", "TZ": "Pacific/Apia", "LC_ALL": "tr_TR.UTF-8", "COLUMNS": "20"}, []),
    ],
    ids=["New York, no assertions", "Apia"],
)
def test_another_process_says_the_same(variables: dict[str, str], options: list[str], usual: list[str]) -> None:
    assert printed(variables, *options) == usual


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
    assert printed({}, python=python) == usual


def test_six_threads_and_a_chatty_printer_do_not_disturb_each_other(capfd: pytest.CaptureFixture[str]) -> None:
    jobs = [(WORLDS[number % len(WORLDS)], number, 30) for number in range(6)]
    alone = [transcript(*job) for job in jobs]
    before = random.getstate(), repr(np.random.get_state()), dict(os.environ)  # noqa: NPY002 -- the global one
    together: dict[int, str] = {}
    stop = threading.Event()

    def chatter() -> None:
        while not stop.wait(0.001):
            sys.stdout.write("chatter\n")

    def play(number: int) -> None:
        together[number] = transcript(*jobs[number])

    threads = [threading.Thread(target=play, args=(number,)) for number in range(6)]
    printer = threading.Thread(target=chatter)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in (printer, *threads):
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        stop.set()
        printer.join()
        sys.setswitchinterval(interval)
    assert [together[number] for number in range(6)] == alone
    assert (random.getstate(), repr(np.random.get_state()), dict(os.environ)) == before  # noqa: NPY002 -- the global one
    out, err = capfd.readouterr()
    assert set(out.splitlines()) <= {"chatter"}
    assert err == ""
