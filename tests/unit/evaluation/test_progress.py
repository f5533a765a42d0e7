"""How an evaluation is told while it goes on."""

from __future__ import annotations

import io
import sys

import pytest

from ycbench_agents.cli.evaluation_progress import watching_evaluation, watching_measuring, watching_validation
from ycbench_agents.cli.progress import watching_runs
from ycbench_agents.evaluation.episode import EpisodeKey
from ycbench_agents.evaluation.failure import EpisodeFailure
from ycbench_agents.evaluation.running import EvaluationWatcher

KEYS = [EpisodeKey("greedy", "default", str(seed)) for seed in (1, 2)]


class Terminal(io.StringIO):
    """A stderr that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def _tell(watcher: EvaluationWatcher) -> None:
    watcher.begin(dict.fromkeys(KEYS, 1.5), reused=3, tried_again=1)
    watcher.end(KEYS[0], None)
    watcher.end(KEYS[1], EpisodeFailure("raised", "KeyError", "a\nb"))
    watcher.tell("odd")


@pytest.mark.parametrize("quiet", [False, True])
def test_where_there_is_no_terminal_each_episode_is_a_line(quiet: bool, capsys: pytest.CaptureFixture[str]) -> None:
    with watching_evaluation(quiet=quiet) as watcher:
        _tell(watcher)
    lines = [
        "ycbench: to play: 2 episodes, 1 of them failed before and are tried again, 3 were finished before",
        "ycbench: 1/2 greedy, default, seed 1: finished",
        "ycbench: 2/2 greedy, default, seed 2: failed: KeyError: a\nb",
        "ycbench: warning: odd",
    ]
    assert capsys.readouterr().err == "\n".join(lines[3:] if quiet else lines) + "\n"


def test_a_terminal_shows_a_bar_and_names_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with watching_evaluation(quiet=False) as watcher:
        _tell(watcher)
    told = terminal.getvalue()
    assert "to play: 2 episodes" in told
    assert "failed: greedy, default, seed 2: KeyError: a\\nb" in told
    assert "2/2 greedy, default, seed 2" in told
    assert "100%" in told


def test_a_terminal_shows_how_far_a_validation_is_and_nothing_else_does(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with watching_validation() as nobody:
        nobody.begin(2)
        nobody.play(KEYS[0])
    assert capsys.readouterr() == ("", "")
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with watching_validation() as watcher:
        watcher.begin(2)
        for key in KEYS:
            watcher.play(key)
    assert "2/2 greedy, default, seed 2" in terminal.getvalue()
    assert "50%" in terminal.getvalue()


def test_what_is_to_be_measured_is_told_and_a_terminal_shows_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with watching_measuring() as lines:
        lines.begin(1)
        lines.play(KEYS[0])
    told = "ycbench: to measure: 1 run, which has no measures of this version; ycbench evaluate writes them\n"
    assert capsys.readouterr() == ("", told)
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with watching_measuring():
        pass
    assert terminal.getvalue() == ""  # there is nothing to measure
    with watching_measuring() as bar:
        bar.begin(2)
        for key in KEYS:
            bar.play(key)
    assert "to measure: 2 runs, which have no measures" in terminal.getvalue()
    assert "2/2 greedy, default, seed 2" in terminal.getvalue()


def test_a_terminal_shows_how_many_runs_are_exported_and_names_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with watching_runs(2) as begin:
        begin()
    assert capsys.readouterr() == ("", "")
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with watching_runs(2) as begin:
        begin()
        begin()
    assert "2/2" in terminal.getvalue()
    assert "50%" in terminal.getvalue()
