"""The program as a function: exit codes and messages."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING

import pytest

from ycbench_agents.cli import main
from ycbench_agents.cli.progress import watching
from ycbench_agents.cli.suite import Plan
from ycbench_env import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


def _raise_in_dispatch(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def dispatch(_arguments: object) -> int:
        raise error

    monkeypatch.setattr("ycbench_agents.cli.app.dispatch", dispatch)


@pytest.mark.parametrize("library", ["cyclopts", "rich", "prompt_toolkit", "matplotlib"])
def test_a_missing_extra_is_one_line_and_exit_code_2(
    library: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    error = ModuleNotFoundError("No module", name=f"{library}.part")
    _raise_in_dispatch(monkeypatch, error)
    assert main(["run"]) == 2
    expected = (
        f"ycbench: error: {library} is not installed; the command line needs it: pip install 'ycbench-env[cli]'\n"
    )
    assert capsys.readouterr() == ("", expected)


def test_the_message_of_a_missing_extra_of_the_environment_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _raise_in_dispatch(monkeypatch, MissingExtraError("pip install x"))
    assert main(["run"]) == 2
    assert capsys.readouterr().err == "ycbench: error: pip install x\n"


def test_a_fault_of_the_program_itself_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    _raise_in_dispatch(
        monkeypatch, ModuleNotFoundError("No module named 'ycbench_agents.nothing'", name="ycbench_agents")
    )
    with pytest.raises(ModuleNotFoundError):
        main(["run"])


def test_ctrl_c_outside_a_suite_is_exit_code_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _raise_in_dispatch(monkeypatch, KeyboardInterrupt())
    assert main(["run"]) == 130
    assert capsys.readouterr().err == "ycbench: interrupted\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["rum"], 'Unknown command "rum". Did you mean "run"?'),
        (["run", "--seed", "1"], "Did you mean --seeds?"),
        (["run", "--seeds", "1", "1"], "got seed 1 twice"),
        (["run", "--seeds", "x"], "expected seeds like 1 2 3"),
        (["run", "extra"], "got 'extra', expected nothing more here"),
        (["run", "--policy", "gredy"], "did you mean 'greedy'?"),
        (["run", "--policy", "planner"], "ycbench plan searches for plans, and --policy replay plays them"),
        (["run", "--policy", "replay"], "got neither path nor turns, expected one of them; say --param path=FILE"),
        (["run", "--policy", "replay", "--records", "/dev/null/x"], "say --param path=FILE"),
        (["run", "--policy", "greedy", "greedy"], "got 'greedy' twice, expected each policy once"),
        (["run", "--param", "depth=1"], "got parameter depth, expected no parameters"),
        (["run", "--set", "world.num_employes=9"], "did you mean world.num_employees?"),
        (["run", "--preset", "defalt"], "did you mean the preset default?"),
        (["run", "--config", "/no/such.toml"], "there is no file /no/such.toml"),
        (["run", "--max-turns", "0"], "Must be >= 1"),
        (["run", "--max-turns", "many"], "--max-turns"),
        (["play", "--seed", "-1"], "expected one whole number"),
        (["play", "--preset", "default", "--config", "x"], "expected one of them"),
        (["play", "--replay", "/no/such"], "cannot be read"),
        (["run", "--policy", "mine.py:Careful"], "did you mean 'mine:Careful'?"),
        (["describe", "--limit", "=", "2"], "got --limit = with a blank beside the =; write --limit=2 or --limit 2"),
        (["describe", "--limit", "=2"], "write --limit=2 or --limit 2"),
        (["describe", "--limit=", "2"], "got --limit= 2 with a blank beside the =; write --limit=2 or --limit 2"),
        (["run", "--seeds", "="], "write --seeds and its value"),
        (["run", "--policy", "=", "greedy"], "write --policy=greedy or --policy greedy"),
        (["describe", "--limit", "0"], "Must be >= 1"),
        (["describe", "--limit", "99999999999999999999"], "Must be <= 10000"),
        (["run", "--preset"], "--preset"),
        (["config", "validate"], "got no file"),
        (["config", "diff", "default"], "parameter RIGHT requires an argument"),
        (["config", "show", "nowhere.toml"], "there is no file nowhere.toml"),
        (["demo", "--out", "/dev/null/x"], "cannot make this folder"),
    ],
)
def test_wrong_usage_is_explained_on_stderr_with_exit_code_2(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("ycbench: error: ")
    assert words in printed.err.replace("\n", " ")


def test_a_disk_without_room_is_exit_code_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _raise_in_dispatch(monkeypatch, OSError(28, "No space left on device"))
    monkeypatch.setattr("ycbench_agents.cli.drop_output", lambda: None)
    assert main(["run"]) == 2
    assert capsys.readouterr().err == "ycbench: error: standard output: No space left on device\n"


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["play", "--help"], ["config", "--help"], []])
def test_help_fits_into_80_columns(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Usage: ycbench")
    assert all(len(line) <= 80 for line in lines)


def test_the_help_on_demo_says_what_is_played_and_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    assert "Play the policies random and greedy, and draw their funds" in capsys.readouterr().out


def test_run_prints_its_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--seeds", "3", "--preset", "default", "reference", "--quiet"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == [
        "policy",
        "preset",
        "seed",
        "final",
        "funds",
        "done",
        "fail",
        "cancel",
        "outcome",
        "turns",
    ]
    assert lines[2].split() == [
        "greedy",
        "default",
        "3",
        "-$16,303.05",
        "10",
        "9",
        "0",
        *["bankrupt", "on", "2025-09-01", "28"],
    ]
    assert all(len(line) <= 80 for line in lines)
    assert lines[-1] == "2 of 2 episodes run"


def test_run_says_which_options_and_variables_changed_its_settings(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("YCBENCH_WORLD__NUM_CLIENTS", "3")
    request = ["run", "--max-turns", "1", "--set", "world.initial_funds_cents=100", "sim.company_name=[b]A[/b]"]
    assert main(request) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:5] == [
        'in force: sim.company_name = "[b]A[/b]" (--set)',
        "in force: world.initial_funds_cents = 100 (--set)",
        "in force: world.num_clients = 3 (YCBENCH_WORLD__NUM_CLIENTS)",
        "",
        lines[4],
    ]
    assert lines[4].startswith("policy preset")
    assert main([*request, "--json"]) == 0
    overrides = json.loads(capsys.readouterr().out)["overrides"]
    assert [(each["key"], each["value"]) for each in overrides] == [
        ("sim.company_name", "[b]A[/b]"),
        ("world.initial_funds_cents", 100),
        ("world.num_clients", 3),
    ]


def test_a_key_without_effect_is_warned_of_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('[agent]\nmodel = "x"\n', encoding="utf-8")
    assert main(["run", "--config", str(path), "--max-turns", "1"]) == 0
    assert capsys.readouterr().err.count("agent.model has no effect here") == 1


def test_settings_and_files_reach_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("[loop]\nmax_turns = 3\n", encoding="utf-8")
    assert main(["run", "--config", str(path), "--set", "world.initial_funds_cents=100"]) == 0
    assert "greedy mine" in (printed := capsys.readouterr().out)
    assert "truncated on " in printed or "bankrupt on " in printed


@pytest.fixture
def own_policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A policy of the user's own, in the working directory."""
    code = "class Idle:\n    def reset(self, seed): pass\n    def act(self, observation): return ''\n"
    (tmp_path / "policy_in_the_folder.py").write_text(code, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield "policy_in_the_folder:Idle"
    sys.modules.pop("policy_in_the_folder", None)


def test_a_policy_of_ones_own_is_found_in_the_working_directory(
    own_policy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--policy", own_policy, "greedy", "--max-turns", "1"]) == 0
    assert f"{own_policy} default" in capsys.readouterr().out
    assert sys.path.index(str(tmp_path)) == len(sys.path) - 1


def test_a_recorded_run_of_a_policy_of_ones_own_can_be_replayed(
    own_policy: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--policy", own_policy, "--max-turns", "2", "--records", "kept", "--no-live"]) == 0
    assert main(["replay", "kept"]) == 0
    assert "Traceback" not in capsys.readouterr().err


def test_config_list_is_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "list"]) == 0
    assert capsys.readouterr().out.startswith("preset ")


@pytest.fixture
def short_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ycbench_agents.cli.run._DEMO_POLICIES", ("greedy",))
    monkeypatch.setattr("ycbench_agents.cli.run._DEMO_PRESETS", ("default",))
    monkeypatch.setattr("ycbench_agents.cli.run._DEMO_SEEDS", (3,))


@pytest.mark.usefixtures("short_demo")
@pytest.mark.parametrize("name", ["results.json", "funds.png"])
def test_a_demo_that_cannot_write_shows_its_results_and_says_what_it_could_not_write(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).mkdir()
    assert main(["demo", "--out", str(tmp_path)]) == 2
    printed = capsys.readouterr()
    assert "1 of 1 episodes run" in printed.out
    assert f"cannot write {tmp_path / name}: " in printed.err


@pytest.mark.usefixtures("short_demo")
def test_a_demo_interrupted_before_its_first_episode_ends_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ycbench_agents.cli.suite.rollout", interrupt)
    assert main(["demo", "--out", str(tmp_path)]) == 130
    assert list(tmp_path.iterdir()) == []
    assert "not run: greedy, default: seed 3" in capsys.readouterr().err


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("make", "quiet"), [(Terminal, True), (io.StringIO, False), (io.StringIO, True)])
def test_no_progress_is_shown_to_a_file_or_when_quiet(
    make: Callable[[], io.StringIO], quiet: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = make()
    monkeypatch.setattr(sys, "stderr", stream)
    _watch(quiet=quiet)
    assert stream.getvalue() == ""


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("who", [["human"], ["mixture", "--param", "policy=human", "epsilon=0"]])
def test_nothing_moves_on_the_terminal_on_which_a_person_is_asked(
    who: list[str],
    kept: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(sys, "stdin", io.StringIO("task list\n\n"))
    monkeypatch.setenv("TERM", "xterm")
    records = ["--records", str(tmp_path)] if kept else []
    assert main(["run", "--policy", *who, "--max-turns", "1", "--json", *records]) == 0
    assert json.loads(capsys.readouterr().out)["run"] == 1
    assert "turn 1> ... " in stream.getvalue()
    assert "\x1b" not in stream.getvalue()


def test_progress_on_a_terminal_names_the_episode_its_share_and_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "140")
    _watch(quiet=False)
    printed = stream.getvalue()
    for words in ("2/2 [red]p, default, seed 2", "100%", "left"):
        assert words in printed


def _watch(*, quiet: bool) -> None:
    with watching(2, quiet=quiet) as watcher:
        for seed in (1, 2):
            watcher.begin(Plan("[red]p", "default", seed))
            watcher.advance(0.5)
            watcher.end()
