"""Playing a suite from Python: with classes of one's own, language models, and in a notebook's running loop."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ycbench_agents import evaluation as face
from ycbench_agents.evaluation import (
    EpisodeKey,
    Evaluation,
    Suite,
    SuiteError,
    SuitePolicy,
    SuitePreset,
    leaderboard,
    play_suite,
    samples,
)
from ycbench_agents.evaluation.event_loop import run_coroutine
from ycbench_agents.evaluation.player import model_player
from ycbench_agents.evaluation.playing import QuietWatcher
from ycbench_agents.llm.loopback import LoopbackServer, greedy_model
from ycbench_agents.records import RecordWarning
from ycbench_env import load_config

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ycbench_env import Observation

OWN = """
class Waits:
    def reset(self, seed):
        pass

    def act(self, observation):
        return "sim resume"


class Breaks(Waits):
    def act(self, observation):
        raise ValueError("broken")
"""
LIMITS = {"max_turns": 4}
SEVEN = load_config(overrides={"world": {"num_employees": 7}}, environ={})


class Waits:
    """Says nothing."""

    def reset(self, seed: int) -> None:
        """Nothing to forget."""

    def act(self, observation: Observation) -> str:
        """Return an empty turn."""
        assert observation
        return ""


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def suite(*policies: Mapping[str, object], **changes: object) -> Mapping[str, object]:
    values = {"name": "s", "presets": ["default"], "seeds": (1,), "limits": LIMITS, "policies": policies}
    return {**values, **changes}


def statuses(evaluation: Evaluation) -> list[str]:
    return [episode.status for episode in evaluation.episodes]


def value(*policies: SuitePolicy, seeds: tuple[str, ...] = ("1",)) -> Suite:
    return Suite("v", "By hand.", policies, (SuitePreset("default", load_config(environ={})),), seeds)


def test_a_class_of_ones_own_is_found_by_the_workers_wherever_this_process_finds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "own_policies_played.py").write_text(OWN, "utf-8")
    monkeypatch.syspath_prepend(tmp_path / "elsewhere")
    rows = [{"name": "own_policies_played:Waits"}, {"name": "own_policies_played:Breaks", "label": "breaks"}]
    evaluation = play_suite(suite(*rows, seeds=range(1, 3)), "out", processes=1)
    assert statuses(evaluation) == ["finished", "finished", "failed", "failed"]
    assert evaluation.episodes[2].reason == "ValueError: broken"
    found = samples(evaluation)
    assert list(found) == ["own_policies_played:Waits", "breaks"]
    assert (found["breaks"].tally.failed, samples(evaluation, "default", [2])["breaks"].tally.failed) == (2, 1)
    [score] = [row.score_cents for row in leaderboard(evaluation) if row.is_complete]
    values = found["own_policies_played:Waits"].values
    assert (list(values), score) == (["1", "2"], round(sum(one for [one] in values.values()) / 2))
    assert list(samples(evaluation, seeds=["2"])["own_policies_played:Waits"].values) == ["2"]
    with pytest.raises(SuiteError, match="preset: got 'hard', expected one of the evaluation's: default"):
        samples(evaluation, "hard")
    with pytest.raises(SuiteError, match="seeds: got '3', expected seeds of the suite: 1, 2"):
        samples(evaluation, seeds=[3])


def test_models_are_played_also_where_a_loop_is_running_as_in_a_notebook() -> None:
    rows = [{"name": "llm", "label": "one", "model": "m"}, {"name": "llm", "parameters": {"keep_turns": 3}}]

    async def cell(url: str) -> Evaluation:
        return play_suite(suite(*rows), "out", model="other", base_url=url)

    with LoopbackServer(greedy_model) as server:
        evaluation = asyncio.run(cell(server.base_url))
        asked = len(server.requests)
        again = play_suite(suite(*rows), "out", model="other", base_url=server.base_url)
        assert len(server.requests) == asked == 8
    assert statuses(evaluation) == statuses(again) == ["finished", "finished"]
    assert [episode.record and episode.record.identity.model for episode in again.episodes] == ["m", "other"]
    # Who plays what nobody asks for now need not be said again, and what it played is still there.
    part = play_suite(suite(*rows), "out", policies=["one"], base_url=server.base_url)
    assert statuses(part) == ["finished", "finished"]


def test_a_model_that_nobody_asks_for_needs_no_name() -> None:
    rows = [{"name": "llm", "label": "one", "model": "m"}, {"name": "llm", "label": "unnamed"}]
    with LoopbackServer(greedy_model) as server:
        evaluation = play_suite(suite(*rows), "out", policies=["one"], base_url=server.base_url)
    assert [(str(each.key), each.status) for each in evaluation.episodes] == [
        ("one, default, seed 1", "finished"),
        ("unnamed, default, seed 1", "missing"),
    ]
    with pytest.raises(SuiteError, match="policy 'unnamed' of the suite: model: got nothing, expected the name"):
        play_suite(suite(*rows), "out", base_url="http://127.0.0.1:9/v1")


def test_two_rows_that_come_to_the_same_run_are_refused_before_anything_is_written() -> None:
    rows = [{"name": "llm", "label": "a", "model": "m"}, {"name": "llm", "label": "b", "parameters": {"model": "m"}}]
    with pytest.raises(SuiteError, match="a, default, seed 1 and b, default, seed 1 would be one and the same run"):
        play_suite(suite(*rows), "out", base_url="http://127.0.0.1:9/v1")
    assert not Path("out/suite.json").exists()


def test_prompts_and_what_is_said_twice() -> None:
    Path("prompt.md").write_text("Play {horizon_years} years.", "utf-8")
    config, url = load_config(environ={}), "http://127.0.0.1:9/v1"
    policy = SuitePolicy("p", "llm", model="m", base_url=url, system_prompt=Path("prompt.md"))
    with pytest.raises(SuiteError, match=r"policy 'p' of the suite: template: got \{horizon_years\}"):
        model_player(policy, config, environ={})
    twice = SuitePolicy("p", "llm", parameters={"model": "m"}, base_url=url)
    with pytest.raises(SuiteError, match="got model, which is given otherwise as well"):
        model_player(twice, config, "m", environ={})
    player = model_player(SuitePolicy("p", "llm"), config, "m", environ={"OPENAI_BASE_URL": url})
    assert (player.model, player.settings["base_url"], player.deliberates) == ("m", url, True)
    assert player.make() is not player.make()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (suite({"name": "__main__:Mine"}), "a class of a notebook or a script"),
        (suite({"name": "idle"}, {"name": "idle", "label": "b"}), "'idle' and 'b' are the same policy"),
        (suite({"name": "idle"}, seed=[1]), "suite: seed: unknown key"),
        (suite({"name": "idle"}, presets=[SEVEN, load_config(environ={})]), "two configurations are called 'default'"),
        (value(), "suite 'v': policies: got none, expected each once, at least one"),
        (value(SuitePolicy("a", "idle"), SuitePolicy("a", "greedy")), "policies: got a, a, expected each once"),
        (value(SuitePolicy("a", "idle"), SuitePolicy("b", "idle")), "'a' and 'b' are the same policy"),
        (value(SuitePolicy("a", "idle"), seeds=("x",)), "seeds: got 'x', expected whole numbers"),
    ],
)
def test_what_cannot_be_played_is_told(
    given: Suite | Mapping[str, object], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["__main__"], "Mine", Waits, raising=False)
    with pytest.raises(SuiteError) as caught:
        play_suite(given, "out")
    assert told in str(caught.value)
    assert not Path("out").exists()


@pytest.mark.parametrize("policies", [["b"], "a"])
def test_a_policy_that_the_suite_has_not_is_refused(policies: list[str] | str) -> None:
    told = "expected a list of labels of the suite: a"
    with pytest.raises(SuiteError, match=told):
        play_suite(value(SuitePolicy("a", "idle")), "out", policies=policies)


def test_a_value_and_a_file_are_played_as_they_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("YCBENCH_WORLD__NUM_EMPLOYEES", "5")
    with LoopbackServer(greedy_model) as server:
        row = SuitePolicy("m", "llm", model="m", base_url=server.base_url)
        by_value = value(row)
        played = Suite(
            by_value.name, "", (row,), (SuitePreset("seven", SEVEN),), ("1",), limits=face.Limits(60, 900, 2)
        )
        assert play_suite(played, "value").episodes[0].key == EpisodeKey("m", "seven", "1")
        text = 'name = "f"\npresets = ["default"]\nseeds = [1]\nlimits = { max_turns = 2 }\n'
        Path("s.toml").write_text(text + '[[policies]]\nname = "llm"\nmodel = "m"', "utf-8")
        from_file = play_suite("s.toml", "file", base_url=server.base_url)
        rows = {"name": "llm", "model": "m", "base_url": server.base_url}
        with_config = play_suite(suite(rows, presets=[SEVEN], limits={"max_turns": 2}), "config")
    for evaluation, employees in ((from_file, 8), (with_config, 7)):
        [record] = [episode.record for episode in evaluation.episodes]
        assert record is not None
        world = record.identity.config["world"]
        assert isinstance(world, dict)
        assert world["num_employees"] == employees


def test_what_is_odd_is_a_warning_and_a_held_out_suite_is_played_from_its_file_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SEEDS", "7")
    secret = {"variable": "SEEDS", "salt": "0123456789abcdef"}
    with LoopbackServer(greedy_model) as server:
        row = {"name": "llm", "model": "m", "base_url": server.base_url}
        with pytest.warns(RecordWarning, match="its hash can be found by trying"):
            evaluation = play_suite(suite(row, seeds=secret), "out")
    assert statuses(evaluation) == ["finished"]
    with pytest.raises(SuiteError, match="got the hashes of its seeds only; play its TOML file"):
        play_suite(evaluation.suite, "out")


def test_ctrl_c_is_raised_again_when_what_was_played_is_kept() -> None:
    class Impatient(QuietWatcher):
        def end(self, key: EpisodeKey, failure: object) -> None:
            assert (key.policy, failure) == ("llm", None)
            signal.raise_signal(signal.SIGINT)

    with LoopbackServer(greedy_model) as server:
        row = {"name": "llm", "model": "m", "base_url": server.base_url}
        with pytest.raises(KeyboardInterrupt):
            play_suite(suite(row, seeds=[1, 2], concurrency=1), "out", watcher=Impatient())
    assert statuses(face.read_evaluation("out")) == ["finished", "missing"]


@pytest.mark.parametrize("_again", range(40))  # at whatever moment it comes
def test_ctrl_c_in_a_running_loop_ends_the_coroutine_in_its_thread(_again: int) -> None:
    began, ended = threading.Event(), threading.Event()

    async def long() -> None:
        began.set()
        try:
            await asyncio.sleep(600)
        finally:
            ended.set()

    async def cell() -> None:
        main = threading.get_ident()
        threading.Thread(target=lambda: began.wait() and signal.pthread_kill(main, signal.SIGINT)).start()
        run_coroutine(long())

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    loop = asyncio.new_event_loop()
    try:
        with pytest.raises(KeyboardInterrupt):
            loop.run_until_complete(cell())
    finally:
        loop.close()
        signal.signal(signal.SIGINT, before)
    assert ended.is_set()


def test_the_package_is_cheap_to_import_and_has_all_it_names() -> None:
    heavy = {"joblib", "matplotlib", "pandas", "scipy"}
    code = "import sys, ycbench_agents.evaluation as e; print(*sys.modules, *dir(e))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 -- written above
    told = set(done.stdout.split())
    assert not told & heavy
    assert told > set(face.__all__)
    assert all(getattr(face, name) is not None for name in face.__all__)
    assert not hasattr(face, "play_suites")
