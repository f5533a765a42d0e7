"""Policies that wait for answers and are played here: whatever one raises costs its own episode and is named."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

import pytest

from ycbench_agents.base import Decision
from ycbench_agents.evaluation import Evaluation, play_suite
from ycbench_agents.evaluation.episode import EpisodeKey
from ycbench_agents.evaluation.event_loop import run_coroutine
from ycbench_agents.evaluation.playing import QuietWatcher
from ycbench_agents.evaluation.waiting import WaitingEpisode, contained, play_waiting
from ycbench_agents.records import RunPlan, Runtime

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from conftest import Bench

    from ycbench_agents.base import JsonObject
    from ycbench_agents.evaluation.failure import EpisodeFailure
    from ycbench_env import Observation

BAD = __name__ + ":"


class Thinks:
    """Waits a moment and says what it is told to, or raises it."""

    made = 0

    def __init__(self, *, does: str = "") -> None:
        type(self).made += 1
        self._does = does
        if does == "make" and type(self).made > 1:
            raise SystemExit(5)

    def reset(self, seed: int) -> None:
        del seed
        if self._does == "reset":
            sys.exit(4)

    def act(self, observation: Observation) -> str:
        raise NotImplementedError(observation)

    async def decide(self, observation: Observation) -> object:
        del observation
        await asyncio.sleep(0)
        match self._does:
            case "exit":
                sys.exit(3)
            case "cancel":
                raise asyncio.CancelledError
            case "base":
                raise GeneratorExit
            case "turn":
                return Decision(5, {})  # pyright: ignore[reportArgumentType] -- what it is about
            case "trace":
                return Decision("", {"text": b"no JSON"})  # pyright: ignore[reportArgumentType] -- as above
            case "none":
                return None
            case _:
                return Decision("sim resume", {"told": self._does})

    def recall(self, observation: Observation, trace: JsonObject) -> str:
        del observation, trace
        return "sim resume"


WRONG: Mapping[str, str] = {
    "exit": "SystemExit: 3",
    "cancel": "CancelledError",
    "base": "GeneratorExit",
    "reset": "SystemExit: 4",
    "turn": "TurnError: got a turn of the type int, expected a text or a sequence of texts",
    "trace": "TurnError: got a decision whose trace cannot be recorded, of the type dict, expected a dict of JSON",
    "none": "TurnError: got a decision of the type NoneType, expected a Decision of ycbench_agents.base",
}


@pytest.fixture
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the class one of a notebook, which is played in this process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys.modules["__main__"], "Thinks", Thinks, raising=False)
    monkeypatch.setattr(Thinks, "made", 0)


def played(*does: str, watcher: QuietWatcher | None = None) -> Evaluation:
    rows = [{"name": "__main__:Thinks", "label": each or "fine", "parameters": {"does": each}} for each in does]
    suite = {"name": "s", "presets": ["default"], "seeds": [1], "limits": {"max_turns": 2}, "policies": rows}
    return play_suite({**suite, "concurrency": 3}, "out", watcher=watcher)


@pytest.mark.usefixtures("_here")
def test_what_a_policy_raises_here_costs_its_own_episode_and_is_named() -> None:
    evaluation = played(*WRONG, "")
    assert {each.key.policy: each.reason for each in evaluation.episodes} == {**WRONG, "fine": None}
    assert evaluation.episodes[-1].status == "finished"


@pytest.mark.usefixtures("_here")
def test_a_policy_that_cannot_be_made_again_fails_alone() -> None:
    evaluation = played("make", "")
    assert [each.reason for each in evaluation.episodes] == ["SystemExit: 5", None]


@pytest.mark.usefixtures("_here")
def test_an_error_of_the_system_while_they_end_is_that_error(tmp_path: Path) -> None:
    class Watcher(QuietWatcher):
        def begin(self, costs: Mapping[EpisodeKey, float], *, reused: int, tried_again: int) -> None:
            del costs, reused, tried_again
            (tmp_path / "out" / "failures.json").mkdir()

    with pytest.raises(OSError, match=r"failures\.json"):
        played("exit", "turn", "", watcher=Watcher())


@pytest.mark.usefixtures("_here")
def test_what_a_watcher_raises_is_raised_as_it_is() -> None:
    class Watcher(QuietWatcher):
        def end(self, key: EpisodeKey, failure: EpisodeFailure | None) -> None:
            raise LookupError(key.policy, failure)

    with pytest.raises(LookupError, match="fine"):
        played("", watcher=Watcher())


def test_a_run_that_is_cancelled_from_outside_is_not_taken_for_a_failure(tmp_path: Path) -> None:
    ended: list[EpisodeKey] = []

    class Waits(Thinks):
        async def decide(self, observation: Observation) -> Decision:
            begun.set()
            await asyncio.sleep(3600)
            raise NotImplementedError(observation)

    async def main() -> None:
        plan = RunPlan(tmp_path / "run", "default", 1, Waits(), "waits")
        episode = WaitingEpisode(EpisodeKey("waits", "default", "1"), lambda: plan)
        task = asyncio.create_task(play_waiting([episode], 1, tmp_path, lambda key, _: ended.append(key), Runtime()))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    begun = asyncio.Event()
    run_coroutine(main())
    assert ended == []


def test_a_cancellation_passes_where_it_was_asked_for() -> None:
    async def waits() -> None:
        with contained():
            await asyncio.sleep(3600)

    async def main() -> None:
        task = asyncio.create_task(waits())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()

    run_coroutine(main())


@pytest.mark.parametrize("does", ["turn", "trace", "none"])
def test_what_is_no_decision_is_an_error_of_the_policy_also_where_a_worker_plays_it(bench: Bench, does: str) -> None:
    row = f'{{ name = "{BAD}Thinks", label = "bad", parameters = {{ does = "{does}" }} }}'
    bench.text = bench.text.replace('{ name = "greedy" }', row).replace("[1, 2]", "[1]")
    assert bench.play("bad").evaluation.episodes[0].reason == WRONG[does]
    assert bench.watcher.told == [WRONG[does]]  # and the record is not begun anew
