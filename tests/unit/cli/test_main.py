"""The program as a function: exit codes, messages and help."""

from __future__ import annotations

import json
import os
import re
from importlib import metadata
from pathlib import Path

import pytest
from cyclopts import App

from ycbench_agents.cli import app, main
from ycbench_agents.files import FileError
from ycbench_agents.registry import PolicyError
from ycbench_env import ConfigError, MissingExtraError

COMMANDS = list(app._COMMANDS)


def _raise(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def dispatch(_arguments: object) -> int:
        raise error

    monkeypatch.setattr(app, "_dispatch", dispatch)
    monkeypatch.setattr(app, "drop_output", lambda: None)


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ConfigError("a\u202eb"), "a\\u202eb"),
        (FileError("x.toml: cannot be read"), "x.toml: cannot be read"),
        (PolicyError("no such policy"), "no such policy"),
        (MissingExtraError("pip install x"), "pip install x"),
        (OSError(28, "No space left on device"), "standard output: No space left on device"),
        (PermissionError(13, "Permission denied", "runs"), "runs: Permission denied"),
        (
            ModuleNotFoundError("No module", name="prompt_toolkit.history"),
            "prompt_toolkit is not installed; this needs it: pip install '.[cli]' in the folder of this project",
        ),
    ],
)
def test_an_operator_error_is_one_line_and_exit_code_2(
    error: Exception, line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _raise(monkeypatch, error)
    assert main(["run"]) == 2
    assert capsys.readouterr() == ("", f"ycbench: error: {line}\n")


@pytest.mark.parametrize(
    "error", [ModuleNotFoundError("No module named 'ycbench_agents.nothing'", name="ycbench_agents"), KeyError("x")]
)
def test_a_bug_keeps_its_traceback(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    _raise(monkeypatch, error)
    with pytest.raises(type(error)):
        main(["run"])


@pytest.mark.parametrize(
    ("error", "code", "message"), [(KeyboardInterrupt(), 130, "ycbench: interrupted\n"), (BrokenPipeError(), 0, "")]
)
def test_interrupts_and_closed_pipes_are_no_errors(
    error: BaseException,
    code: int,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    _raise(monkeypatch, error)
    assert main(["run"]) == code
    assert capsys.readouterr().err == message


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["rum"], 'Unknown command "rum". Did you mean "run"?'),
        (["run", "--seed", "1"], "Did you mean --seeds?"),
        (["run", "--seeds", "1", "1"], "got 1 twice"),
        (["run", "extra"], "got 'extra', expected nothing more here"),
        (
            ["run", "--set", "world.num_employes=9"],
            "--set world.num_employes = 9: unknown key; did you",
        ),
        (["run", "--preset", "defalt"], "did you mean the preset default?"),
        (["run", "--config", "/no/such.toml"], "there is no file /no/such.toml"),
        (["run", "--max-turns", "0"], "Must be >= 1"),
        (["run", "--max-turns", "many"], "--max-turns"),
        (["run", "--preset"], "--preset"),
        (["play", "--seed", "-1"], "expected one whole number"),
        (["play", "--preset", "default", "--config", "x"], "expected one of them"),
        (["play", "--replay", "/no/such"], "/no/such: cannot be read: No such file"),
        (["describe", "--limit", "0"], "Must be >= 1"),
        (["describe", "--limit", "99999999999999999999"], "Must be <= 10000"),
        (["config", "validate"], "got no file"),
        (["config", "diff", "default"], "parameter RIGHT requires an argument"),
        (["config", "show", "nowhere.toml"], "there is no file nowhere.toml"),
        (["export", "runs", "--format", "parquet"], "--format parquet: got no --out"),
        (["validate", ".", "--rules", "none"], "expected the TOML file of rules"),
    ],
)
def test_wrong_usage_is_explained_with_exit_code_2(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("ycbench: error: ")
    assert words in printed.err.replace("\n", " ")


def _every_command() -> list[tuple[list[str], App]]:
    program = app.make_app()
    paths = [[name] for name in (*COMMANDS, "config")] + [["config", name] for name in app._CONFIG_COMMANDS]
    return [(path, program[path[0]] if len(path) == 1 else program[path[0]][path[1]]) for path in paths]


def test_help_fits_into_80_columns_and_needs_no_docstrings(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for path, command in _every_command():
        if command.default_command is not None:
            monkeypatch.setattr(command.default_command, "__doc__", None)  # as python -OO does
        assert main([*path, "--help"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert lines[0].startswith("Usage: ycbench")
        assert lines[2]
        assert all(len(line) <= 80 for line in lines)
        if command.default_command is not None:
            for argument in command.assemble_argument_collection():
                assert argument.parameter.help, (path, argument.name)


def test_commands_need_no_package_metadata(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    installed = metadata.version

    def version(name: str) -> str:
        if name == "ycbench-env":  # it lies on the path without being installed
            raise metadata.PackageNotFoundError(name)
        return installed(name)

    monkeypatch.setattr(metadata, "version", version)
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == "ycbench unknown\n"
    assert main(["run", "--max-turns", "1", "--json", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out)["version"] == "unknown"


def test_export_writes_into_devices_and_through_links(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs, target, link = tmp_path / "runs", tmp_path / "target", tmp_path / "link"
    link.symlink_to("target")
    target.write_text("old", encoding="ascii")
    assert main(["run", "--max-turns", "1", "--records", str(runs), "--quiet"]) == 0
    capsys.readouterr()
    for out in (str(link), os.devnull, "-"):
        assert main(["export", str(runs), "--out", out]) == 0
    assert link.is_symlink()
    assert Path(os.devnull).is_char_device()
    printed = [line for line in capsys.readouterr().out.splitlines(keepends=True) if line.startswith("{")]
    assert "".join(printed) == target.read_text(encoding="ascii")


def test_the_page_lists_every_command() -> None:
    page = (Path(__file__).parents[3] / "docs" / "cli.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^\| `ycbench (\w+)`", page, re.MULTILINE)) == sorted([*COMMANDS, "config"])
