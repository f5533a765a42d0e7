"""The program as people and scripts start it: as a process, with its streams, signals and exit codes."""

from __future__ import annotations

import json
import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM = [sys.executable, "-m", "ycbench_agents.cli"]
TRACEBACK = "Traceback (most recent call last)"
SETTINGS = ("YCBENCH_", "LC_", "LANG", "PYTHONUNBUFFERED")
CLEAN = {**{name: value for name, value in os.environ.items() if not name.startswith(SETTINGS)}, "PYTHONUTF8": "1"}


def run(
    *arguments: str, stdin: bytes | None = None, environ: dict[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Start the program, without the settings that this process may have."""
    return subprocess.run(
        [*PROGRAM, *arguments],
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        check=False,
        env={**CLEAN, **(environ or {})},
        cwd=cwd,
        timeout=120,
    )


def test_the_script_and_the_module_are_the_same_program() -> None:
    script = Path(sys.executable).with_name("ycbench")
    if not script.exists():
        pytest.skip("the package is not installed with its script")
    by_script = subprocess.run([script, "--version"], capture_output=True, text=True, check=True)
    assert run("--version").stdout.decode() == by_script.stdout
    assert re.fullmatch(r"ycbench \d+\.\d+\.\d+\S*\n", by_script.stdout)


def test_any_bytes_are_a_turn() -> None:
    done = run("play", stdin=b"\xff\xfe\x00 \x1b[2J\nsim resume\n")
    assert done.returncode == 0
    assert b"after 2 turns" in done.stdout


def test_a_program_can_talk_to_the_game_line_by_line() -> None:
    with subprocess.Popen([*PROGRAM, "play"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=CLEAN) as game:
        assert game.stdin is not None
        assert game.stdout is not None
        for number in (1, 2, 3):
            assert game.stdout.readline().startswith(f"Turn {number} | ".encode())
            while game.stdout.readline() != b"\n":
                pass
            game.stdin.write(b"task list\n")
            game.stdin.flush()
        game.stdin.close()
        assert b"after 3 turns" in game.stdout.read()
        assert game.wait(timeout=60) == 0


@pytest.mark.parametrize("environ", [{}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}])
def test_hostile_names_are_printed_in_any_locale(environ: dict[str, str], tmp_path: Path) -> None:
    file = str(tmp_path / "x.toml")
    Path(file).write_text('sim.company_name = "[red]Nasty[/red] [/] 😀 :smile:"\n', encoding="utf-8")
    for arguments in (["describe", "--config", file], ["config", "show", file], ["play", "--config", file]):
        done = run(*arguments, environ=environ, stdin=b"company status; \xf0\x9f\x98\x80 --x\n")
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"[red]Nasty[/red] [/] " in done.stdout


def test_ctrl_c_in_a_piped_game_prints_the_summary() -> None:
    with subprocess.Popen(
        [*PROGRAM, "play"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=CLEAN
    ) as game:
        assert game.stdout is not None
        game.stdout.readline()
        game.send_signal(signal.SIGINT)
        out, err = game.communicate(timeout=60)
    assert game.returncode == 130
    assert err == b"ycbench: interrupted\n"
    assert b"You left the company on 2025-01-01: after 0 turns" in out


def test_a_reader_that_leaves_early_is_no_error() -> None:
    for arguments in (["config", "show"], ["run", "--max-turns", "1", "--quiet"], ["--help"]):
        command = [*PROGRAM, *arguments]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=CLEAN) as process:
            assert process.stdout is not None
            process.stdout.close()
            assert process.stderr is not None
            assert process.stderr.read() == b""
        assert process.returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_an_error() -> None:
    for arguments in (["config", "show"], ["play"]):
        with Path("/dev/full").open("wb") as full:
            done = subprocess.run(
                [*PROGRAM, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=full,
                stderr=subprocess.PIPE,
                check=False,
                env=CLEAN,
            )
        assert (done.returncode, done.stderr) == (2, b"ycbench: error: standard output: No space left on device\n")


def run_without(library: str, words: list[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    """Start the program as where a library is not installed."""
    script = f"""
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {library!r}:
            raise ModuleNotFoundError("No module named " + name, name=name)

sys.meta_path.insert(0, Refuse())
from ycbench_agents.cli import main
sys.exit(main({words!r}))
"""
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=cwd, env=CLEAN
    )


@pytest.mark.parametrize(
    ("library", "words", "extra"),
    [
        ("cyclopts", ["describe"], "cli"),
        ("rich", ["describe"], "cli"),
        ("scipy", ["bound"], "planner"),
    ],
)
def test_a_missing_extra_is_one_line_that_names_it(library: str, words: list[str], extra: str, tmp_path: Path) -> None:
    shutil.copytree(Path(__file__).parents[2] / "configs", tmp_path / "configs")
    done = run_without(library, words, tmp_path)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert done.stderr.count("\n") == 1
    assert f"pip install '.[{extra}]'" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["configs"]


def test_the_baseline_ends_as_published_under_both_presets() -> None:
    done = run("run", "--policy", "greedy", "--preset", "default", "reference", "--seeds", "1-3", "--json", "--quiet")
    assert (done.returncode, done.stderr) == (0, b"")
    document = json.loads(done.stdout)
    keys = ("seed", "final_funds_cents", "score_cents", "tasks_completed", "tasks_failed", "terminal_reason", "turns")
    rows = [[row[key] for key in keys] for row in document["episodes"]]
    published = [
        ["1", 42_029_521, 42_029_521, 42, 10, "horizon_end", 65],
        ["2", 27_129_705, 27_129_705, 39, 11, "horizon_end", 63],
        ["3", -1_630_305, 0, 10, 9, "bankruptcy", 28],
    ]
    assert rows == published * 2
    assert (document["planned"], document["finished"], document["interrupted"]) == (6, 6, False)
    assert [row["score_cents"] for row in document["leaderboard"]] == [23_053_075] * 2


def test_demo_writes_results_and_a_picture(tmp_path: Path) -> None:
    done = run("demo", "--out", "here/out", "--quiet", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    out = tmp_path / "here" / "out"
    lines = done.stdout.decode().splitlines()
    assert lines[-1] == f"wrote {Path('here/out/results.json')} and {Path('here/out/funds.png')}"
    assert "12 of 12 episodes finished" in lines
    assert (out / "funds.png").read_bytes().startswith(b"\x89PNG")
    document = json.loads((out / "results.json").read_bytes())
    assert [(row["policy"], row["preset"], row["finished"]) for row in document["leaderboard"]] == [
        ("greedy", "default", 3),
        ("random", "default", 3),
        ("greedy", "reference", 3),
        ("random", "reference", 3),
    ]


DOCUMENT = Path(__file__).parents[2] / "docs" / "cli.md"


EXAMPLES = re.findall(
    r"^```(?:console|sh\n(?=printf))\n?(.*?)^```$(?:\n\nprints\n\n```text\n(.*?)^```$)?",
    DOCUMENT.read_text(encoding="utf-8"),
    re.MULTILINE | re.DOTALL,
)


@pytest.mark.skipif(sys.platform == "win32", reason="the examples are lines for a POSIX shell")
@pytest.mark.parametrize(
    "example", [command if not text else f"$ {command}{text}" for command, text in EXAMPLES], ids=range(len(EXAMPLES))
)
def test_the_examples_of_the_documentation_print_what_they_show(example: str, tmp_path: Path) -> None:
    page = DOCUMENT.read_text(encoding="utf-8")
    for language, name in (("toml", "mine.toml"), ("python", "my_policies.py")):
        (text,) = re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
        (tmp_path / name).write_text(text, encoding="utf-8")
    for each in re.split(r"^\$ ", example, flags=re.MULTILINE)[1:]:
        command, _, expected = each.partition("\n")
        line = re.sub(r"\bycbench ", f"{shlex.join(PROGRAM)} ", command)
        done = subprocess.run(["/bin/sh", "-c", line], cwd=tmp_path, env=CLEAN, capture_output=True, check=True)
        pattern = ".*".join(re.escape(part) for part in re.split(r"^\.\.\.$", expected, flags=re.MULTILINE))
        assert re.fullmatch(pattern, done.stdout.decode(), re.DOTALL), done.stdout.decode()


needs_terminal = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")


_STARTED: list[subprocess.Popen[bytes]] = []


@pytest.fixture(autouse=True)
def nothing_goes_on_after_a_test() -> Iterator[None]:
    """Ends what a failed test has left running."""
    yield
    while _STARTED:
        process = _STARTED.pop()
        if process.poll() is None:
            process.kill()
            process.wait()


class Terminal:
    """The program in a terminal of its own."""

    def __init__(self, *arguments: str, environ: dict[str, str] | None = None, stdout: IO[bytes] | None = None) -> None:
        import pty  # noqa: PLC0415 -- there is none on Windows

        self._master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [*PROGRAM, *arguments],
            stdin=slave,
            stdout=stdout or slave,
            stderr=slave,
            env={
                **CLEAN,
                "TERM": "xterm",
                "COLUMNS": "100",
                "LINES": "40",
                "PROMPT_TOOLKIT_NO_CPR": "1",
                **(environ or {}),
            },
            start_new_session=True,
        )
        _STARTED.append(self.process)
        os.close(slave)
        self.text = ""

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._master, keys.encode())

    def wait_for(self, words: str | re.Pattern[str], seconds: float = 60) -> None:
        """Read until the words have come, then forget everything up to them."""
        pattern = re.compile(re.escape(words)) if isinstance(words, str) else words
        end = time.monotonic() + seconds
        while (found := pattern.search(self.text)) is None:
            ready, _, _ = select.select([self._master], [], [], max(0, end - time.monotonic()))
            if not ready or time.monotonic() > end:
                pytest.fail(f"{words!r} never came, but {self.text[-2_000:]!r}")
            self.text += os.read(self._master, 65_536).decode(errors="replace")
        self.text = self.text[found.end() :]

    def close(self) -> int:
        """Wait for the program's end."""
        code = self.process.wait(timeout=60)
        os.close(self._master)
        return code


@needs_terminal
def test_a_game_in_a_terminal_has_completion_colour_and_history(tmp_path: Path) -> None:
    terminal = Terminal("play", environ={"XDG_STATE_HOME": str(tmp_path)})
    terminal.wait_for("turn 1>")
    terminal.type("market browse --limit 1\r")
    terminal.wait_for('"\x1b[0m')  # a coloured string
    terminal.wait_for("turn 2>")
    terminal.type("task accept --task-id Ta\t")
    terminal.wait_for("sk-10")
    terminal.type("\r")
    terminal.wait_for("Task-9000")
    terminal.wait_for("turn 3>")
    terminal.type("\x1b[A\x1b[A\r")
    terminal.wait_for("Task-8")
    terminal.wait_for("turn 4>")
    terminal.type("\x04")
    terminal.wait_for("after 3 turns, funds $200,000.00.")
    assert terminal.close() == 0
    kept = (tmp_path / "ycbench" / "history").read_text(encoding="utf-8")
    assert re.findall(r"^\+(.*?) *$", kept, re.MULTILINE) == [
        "market browse --limit 1",
        "task accept --task-id Task-10",
        "market browse --limit 1",
    ]


@needs_terminal
def test_a_run_in_a_terminal_shows_its_episodes_and_keeps_them_on_ctrl_c(tmp_path: Path) -> None:
    with (tmp_path / "out").open("wb") as file:
        terminal = Terminal("run", "--seeds", "1-200", "--json", stdout=file)
    terminal.wait_for(re.compile(r"\d/200 episodes "))
    terminal.wait_for("prestige")
    terminal.wait_for("seed 2: finished")
    terminal.process.send_signal(signal.SIGINT)
    terminal.wait_for("ycbench: interrupted")
    terminal.wait_for("not finished: greedy, default: seed ")
    assert terminal.close() == 130
    document = json.loads((tmp_path / "out").read_bytes())
    assert document["interrupted"] is True
    assert document["finished"] + document["missing"] == document["planned"] == 200
    assert sum(each["status"] == "finished" for each in document["episodes"]) == document["finished"] >= 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_ctrl_c_during_a_fork_is_not_lost() -> None:
    script = """
import os, signal, sys
from ycbench_agents.cli import main

pressed = []
os.register_at_fork(after_in_parent=lambda: pressed or (pressed.append(1), os.kill(os.getpid(), signal.SIGINT)))
sys.exit(main(["run", "--seeds", "1-3", "--quiet"]))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False, env=CLEAN, timeout=120)
    assert done.returncode == 130
    assert b"ycbench: interrupted" in done.stderr
