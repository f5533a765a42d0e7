"""Playing a run into its folder: what is written, what is refused, what can stop it (B33, B39, B40)."""

# ruff: noqa: ANN401, ARG002 -- the kit comes as a fixture, and stand-ins see anything

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import attrs
import pytest

from ycbench_agents import make_policy, rollout
from ycbench_agents.base import Decision, PolicyStoppedError
from ycbench_agents.records import (
    RecordError,
    RecordMismatchError,
    RunBusyError,
    RunPlan,
    TurnRecord,
    play_run,
    play_run_sync,
    read_run,
    resume_plan,
    same_run,
)
from ycbench_env import MissingExtraError, SeedError, YCBenchEnv, load_config
from ycbench_env.wrappers import ScratchpadMemory

KEY = "sk-test-0123456789abcdef0123"


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "turns.jsonl").read_bytes().splitlines()]


def test_a_finished_run_tells_what_it_was_and_what_came_of_it(tmp_path: Path, kit: Any) -> None:
    folder = tmp_path / "deep" / "run"
    played = play_run_sync(kit.plan(folder), kit.runtime())
    written = json.loads((folder / "run.json").read_text(encoding="ascii"))
    turns = lines(folder)
    plan = kit.plan(folder)
    assert written["format"] == 1
    assert written["identity"]["config"] == plan.config.to_dict()
    assert written["identity"]["config_digest"] == plan.config.digest()
    assert written["identity"] | {"config": 0, "config_digest": 0, "version": 0} == {
        "version": 0, "config": 0, "config_digest": 0, "seed": 3, "policy": "thinker", "settings": {"depth": 2},
        "model": "test/model:free", "max_turns": None, "scratchpad": True,
    }  # fmt: skip
    assert written["origin"] == {
        "python": "3.11.0", "packages": {}, "git": None, "started": "2026-01-01T00:00:00+00:00"
    }  # fmt: skip
    assert written["outcome"] == {
        "status": "finished",
        "ended": "2026-01-01T00:00:05+00:00",
        "terminal_reason": "max_turns",
        "reason": None,
        "turns": 4,
        "final_funds_cents": turns[-1]["funds_cents"],
        "total_return": (turns[-1]["funds_cents"] - 10_000_000) / 100,
        "totals": {
            "cached_tokens": {
                "sum": sum(turn["trace"]["cached_tokens"] or 0 for turn in turns),
                "unknown_turns": sum(turn["trace"]["cached_tokens"] is None for turn in turns),
            },
            "cost_usd": {"sum": 0.4, "unknown_turns": 0},
            "prompt_tokens": {"sum": sum(turn["trace"]["prompt_tokens"] for turn in turns), "unknown_turns": 0},
        },
    }
    assert played.record == read_run(folder)
    assert (played.replayed_turns, played.played_turns, played.was_finished) == (0, 4, False)
    assert {path.name for path in folder.iterdir()} == {"run.json", "turns.jsonl", "run.lock"}


def test_each_line_is_what_the_environment_gave_for_the_turn(tmp_path: Path) -> None:
    plan = RunPlan(tmp_path, "default", 3, make_policy("greedy"), "greedy")
    play_run_sync(plan)
    trajectory = rollout(ScratchpadMemory(YCBenchEnv("default")), make_policy("greedy"), 3)
    turns = lines(tmp_path)
    assert [turn["action"] for turn in turns] == list(trajectory.actions)
    assert [turn["reward"] for turn in turns] == list(trajectory.rewards)
    assert [turn["turn"] for turn in turns] == list(range(1, trajectory.turns + 1))
    for turn, info, observation in zip(turns, trajectory.infos[1:], trajectory.observations[1:], strict=True):
        assert {key: turn[key] for key in info if key != "run_seed"} == {
            k: v for k, v in info.items() if k != "run_seed"
        }
        assert (turn["funds_cents"], turn["sim_time"]) == (int(observation["funds_cents"]), observation["sim_time"])
    assert turns[-1]["terminated"] is trajectory.terminated is True
    outcome = read_run(tmp_path).outcome
    assert outcome.total_return == trajectory.total_return
    assert outcome.terminal_reason == trajectory.terminal_reason == "bankruptcy"
    assert all(turn["trace"] is turn["transport"] is turn["notes_sha256"] is None for turn in turns)


def test_the_hash_of_the_notes_and_of_the_world_are_those_after_the_turn(undisturbed: Path, kit: Any) -> None:
    env = ScratchpadMemory(base := YCBenchEnv(kit.plan(undisturbed).config))
    env.reset(seed=3)
    for turn in lines(undisturbed):
        observation = env.step(turn["action"])[0]
        assert turn["state_hash"] == base.state_hash()
        assert turn["notes_sha256"] == hashlib.sha256(observation["notes"].encode()).hexdigest()


def test_a_turn_is_recorded_and_played_alike_whatever_its_characters(tmp_path: Path, kit: Any) -> None:
    said = "scratchpad append --content '\ud83d\ude00 \udc00 \U0001f600 \u2028 \x00'"

    class Odd(kit.thinker):
        async def decide(self, observation: Any) -> Decision:
            return attrs.evolve(await super().decide(observation), turn=said)

        def recall(self, observation: Any, trace: Any) -> str:
            super().recall(observation, trace)
            return said

    play_run_sync(kit.plan(tmp_path, Odd()), kit.runtime())
    (tmp_path / "turns.jsonl").read_text(encoding="ascii")
    run = tmp_path / "run.json"
    run.write_text(run.read_text().replace('"finished"', '"stopped"'), encoding="ascii")
    assert play_run_sync(kit.plan(tmp_path, Odd()), kit.runtime()).replayed_turns == 4


def test_an_answer_of_two_megabytes_and_numbers_that_json_lacks_are_kept(tmp_path: Path, kit: Any) -> None:
    class Loud(kit.thinker):
        async def decide(self, observation: Any) -> Decision:
            decision = await super().decide(observation)
            return attrs.evolve(decision, trace={**decision.trace, "raw": [float("nan"), "x" * 2_000_000]})

    play_run_sync(kit.plan(tmp_path, Loud(), max_turns=2), kit.runtime())
    assert [turn["trace"]["raw"] for turn in lines(tmp_path)] == [["NaN", "x" * 2_000_000]] * 2


@pytest.mark.parametrize("action", [7, None, {"a": "b"}, ["x", 1], object()])
def test_a_turn_that_is_no_text_is_refused_and_nothing_of_it_is_written(tmp_path: Path, kit: Any, action: Any) -> None:
    class Mute:
        def reset(self, seed: int) -> None:
            pass

        def act(self, observation: Any) -> Any:
            return action

    with pytest.raises(RecordError, match="a turn: cannot be recorded"):
        play_run_sync(kit.plan(tmp_path, Mute()), kit.runtime())
    assert (tmp_path / "turns.jsonl").read_bytes() == b""


def test_a_finished_run_is_not_run_again(undisturbed: Path, kit: Any) -> None:
    before = {path.name: path.read_bytes() for path in undisturbed.iterdir()}
    policy = kit.thinker()
    again = play_run_sync(kit.plan(undisturbed, policy), kit.runtime())
    assert again.was_finished
    assert (again.played_turns, policy.asked) == (0, 0)
    assert again.record == read_run(undisturbed)
    assert {path.name: path.read_bytes() for path in undisturbed.iterdir()} == before


CHANGES = [
    ({"seed": 4}, "seed: 3 | 4"),
    ({"config": {"loop": {"max_turns": 5}}}, "config.loop.max_turns: 4 | 5"),
    ({"name": "other"}, 'policy: "thinker" | "other"'),
    ({"settings": {"depth": 3}}, "settings.depth: 2 | 3"),
    ({"settings": {"depth": 2.0}}, "settings.depth: 2 | 2.0"),
    ({"settings": {"depth": 2, "wide": True}}, "settings.wide: nothing | true"),
    ({"model": None}, 'model: "test/model:free" | null'),
    ({"max_turns": 9}, "max_turns: null | 9"),
    ({"scratchpad": False}, "scratchpad: true | false"),
]


@pytest.mark.parametrize("status", ["finished", "running"])
@pytest.mark.parametrize(("change", "shown"), CHANGES, ids=[line for _, line in CHANGES])
def test_a_folder_of_another_run_is_refused_with_what_differs(
    undisturbed: Path, kit: Any, change: dict[str, Any], shown: str, status: str
) -> None:
    run = undisturbed / "run.json"
    run.write_text(run.read_text().replace('"finished"', f'"{status}"'), encoding="ascii")
    before = run.read_bytes()
    if isinstance(change.get("config"), dict):
        change = {"config": load_config(kit.plan(undisturbed).config, overrides=change["config"])}
    with pytest.raises(RecordMismatchError, match="holds another run") as caught:
        play_run_sync(kit.plan(undisturbed, **change), kit.runtime())
    assert shown in caught.value.differences
    assert shown in str(caught.value)
    assert run.read_bytes() == before


def test_a_run_recorded_before_settings_were_added_is_the_same_run(undisturbed: Path, kit: Any) -> None:
    run = undisturbed / "run.json"
    values = json.loads(run.read_text())
    del values["identity"]["config"]["world"]["max_open_tasks"]  # neutral, so the digest is as it was
    run.write_text(json.dumps(values), encoding="ascii")
    assert play_run_sync(kit.plan(undisturbed), kit.runtime()).was_finished
    run.write_text(run.read_text().replace('"finished"', '"running"'), encoding="ascii")
    assert play_run_sync(kit.plan(undisturbed), kit.runtime()).record.is_finished


def test_a_run_of_another_version_is_refused(undisturbed: Path, kit: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ycbench_agents.records.plan.package_version", lambda: "9.9")
    with pytest.raises(RecordMismatchError, match=r'version: ".+" \| "9.9"'):
        play_run_sync(kit.plan(undisturbed), kit.runtime())


def test_a_configuration_of_another_name_is_the_same_run(undisturbed: Path, kit: Any) -> None:
    config = attrs.evolve(kit.plan(undisturbed).config, name="renamed", description="otherwise equal")
    assert play_run_sync(kit.plan(undisturbed, config=config), kit.runtime()).was_finished


@pytest.mark.parametrize("seed", [-1, "1", True, 1.0])
def test_an_illegal_seed_is_refused_before_anything_is_written(tmp_path: Path, kit: Any, seed: Any) -> None:
    with pytest.raises(SeedError):
        play_run_sync(kit.plan(tmp_path / "run", seed=seed), kit.runtime())
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("limit", [0, -1, True, 1.5, "3"])
def test_an_illegal_limit_is_refused(tmp_path: Path, kit: Any, limit: Any) -> None:
    with pytest.raises(ValueError, match=r"max_turns: got .+, expected a positive whole number"):
        kit.plan(tmp_path, max_turns=limit)


@pytest.mark.parametrize("settings", [{"a": float("nan")}, {"a": object()}, [1], None])
def test_settings_that_are_no_json_object_are_refused(tmp_path: Path, kit: Any, settings: Any) -> None:
    with pytest.raises(ValueError, match=r"settings: got .*expected an object of plain JSON values"):
        kit.plan(tmp_path, settings=settings)


def test_settings_are_kept_as_a_record_holds_them(tmp_path: Path, kit: Any) -> None:
    mine: dict[str, Any] = {"names": ("a", "b")}
    plan = kit.plan(tmp_path, settings=mine)
    mine["names"] = ()
    assert plan.settings == {"names": ["a", "b"]}


def test_a_limit_from_outside_gives_exactly_so_many_turns(tmp_path: Path, kit: Any) -> None:
    played = play_run_sync(kit.plan(tmp_path, max_turns=2), kit.runtime())
    assert played.record.is_finished
    assert (played.record.outcome.turns, played.record.outcome.terminal_reason) == (2, None)
    assert [turn["truncated"] for turn in lines(tmp_path)] == [False, False]
    assert play_run_sync(kit.plan(tmp_path, max_turns=2), kit.runtime()).was_finished


def test_a_policy_that_stops_leaves_its_reason_and_a_run_that_goes_on_later(
    tmp_path: Path, undisturbed: Path, kit: Any
) -> None:
    folder = tmp_path / "run"
    stopped = play_run_sync(kit.plan(folder, kit.thinker(stops_at=3)), kit.runtime()).record
    assert stopped.outcome.status == "stopped"
    assert stopped.outcome.reason == "the quota is used up; raise it and resume"
    assert (stopped.outcome.turns, stopped.outcome.terminal_reason) == (2, None)
    policy = kit.thinker(latency_s=9.0)
    resumed = play_run_sync(kit.plan(folder, policy), kit.runtime())
    assert (resumed.replayed_turns, resumed.played_turns, policy.asked) == (2, 2, 2)
    assert resumed.record.outcome.reason is None
    assert same_run(resumed.record, read_run(undisturbed)) == []


def test_a_stopped_run_is_running_again_while_it_is_resumed(tmp_path: Path, kit: Any) -> None:
    play_run_sync(kit.plan(tmp_path, kit.thinker(stops_at=3)), kit.runtime())
    seen: list[str] = []

    def on_turn(plan: RunPlan, _turn: TurnRecord) -> None:
        outcome = read_run(plan.folder).outcome
        assert outcome.reason is None
        seen.append(outcome.status)

    play_run_sync(kit.plan(tmp_path), kit.runtime(on_turn=on_turn))
    assert seen == ["running", "running"]


def test_a_caller_can_stop_a_run_between_turns(tmp_path: Path, undisturbed: Path, kit: Any) -> None:
    answers = iter([True, True, False])
    folder = tmp_path / "run"
    stopped = play_run_sync(kit.plan(folder), kit.runtime(keep_going=lambda: next(answers)))
    assert (stopped.record.outcome.status, stopped.played_turns) == ("stopped", 2)
    assert stopped.record.outcome.reason == "the caller asked to stop"
    assert same_run(play_run_sync(kit.plan(folder), kit.runtime()).record, read_run(undisturbed)) == []


@pytest.mark.parametrize("cancelled_after", range(9))
def test_a_cancelled_run_goes_on_where_it_was(
    tmp_path: Path, kit: Any, undisturbed: Path, cancelled_after: int
) -> None:
    folder = tmp_path / "run"

    async def play_a_little() -> None:
        task = asyncio.create_task(play_run(kit.plan(folder), kit.runtime()))
        for _ in range(cancelled_after):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(play_a_little())
    if folder.exists():
        assert not (folder / "turns.jsonl").exists() or all(lines(folder))
        assert read_run(folder).outcome.status == "running"
    assert same_run(play_run_sync(kit.plan(folder), kit.runtime()).record, read_run(undisturbed)) == []


def test_ctrl_c_stops_a_policy_that_never_waits(tmp_path: Path, kit: Any) -> None:
    class Interrupted:
        def reset(self, seed: int) -> None:
            pass

        def act(self, observation: Any) -> str:
            if int(observation["turn"]) == 3:
                raise KeyboardInterrupt
            return "sim resume"

    with pytest.raises(KeyboardInterrupt):
        play_run_sync(kit.plan(tmp_path, Interrupted()), kit.runtime())
    assert len(lines(tmp_path)) == 2
    assert read_run(tmp_path).outcome.status == "running"


def test_a_second_writer_is_refused_at_once_and_changes_nothing(tmp_path: Path, kit: Any) -> None:
    async def play_twice() -> list[Any]:
        runs = (play_run(kit.plan(tmp_path), kit.runtime()) for _ in range(2))
        return await asyncio.gather(*runs, return_exceptions=True)

    first, second = asyncio.run(play_twice())
    assert isinstance(second, RunBusyError)
    assert "is writing this run" in str(second)
    assert (first.played_turns, len(lines(tmp_path))) == (4, 4)


def test_the_lock_is_free_after_a_run_that_failed(tmp_path: Path, kit: Any) -> None:
    class Broken(kit.thinker):
        async def decide(self, observation: Any) -> Decision:
            raise ZeroDivisionError(observation["turn"])

    with pytest.raises(ZeroDivisionError):
        play_run_sync(kit.plan(tmp_path, Broken()), kit.runtime())
    assert read_run(tmp_path).outcome.status == "running"
    assert play_run_sync(kit.plan(tmp_path), kit.runtime()).record.is_finished


def test_each_turn_is_told_once_when_it_is_in_the_file(tmp_path: Path, kit: Any) -> None:
    told: list[tuple[int, int]] = []

    def on_turn(plan: RunPlan, turn: Any) -> None:
        told.append((turn.turn, len(lines(plan.folder))))

    play_run_sync(kit.plan(tmp_path, kit.thinker(stops_at=3)), kit.runtime(on_turn=on_turn))
    play_run_sync(kit.plan(tmp_path), kit.runtime(on_turn=on_turn))
    assert told == [(1, 1), (2, 2), (3, 3), (4, 4)]


def test_turns_without_a_run_are_refused(kit: Any, undisturbed: Path) -> None:
    (undisturbed / "run.json").unlink()
    with pytest.raises(RecordError, match=r"turns\.jsonl without run\.json"):
        play_run_sync(kit.plan(undisturbed), kit.runtime())


@pytest.mark.parametrize("below", ["", "below"])
def test_a_folder_that_is_a_file_is_refused(tmp_path: Path, kit: Any, below: str) -> None:
    path = tmp_path / "file"
    path.write_text("mine", encoding="ascii")
    with pytest.raises(RecordError, match="is a file or lies below one"):
        play_run_sync(kit.plan(path / below), kit.runtime())
    assert path.read_text(encoding="ascii") == "mine"


def test_the_plan_of_a_recorded_run_is_the_one_it_was_begun_with(undisturbed: Path, kit: Any) -> None:
    policy = kit.thinker()
    plan = resume_plan(undisturbed, policy)
    assert plan == kit.plan(undisturbed, policy)
    assert plan.identity == kit.plan(undisturbed).identity


def test_the_synchronous_front_says_what_to_do_inside_an_event_loop(tmp_path: Path, kit: Any) -> None:
    async def call() -> None:
        play_run_sync(kit.plan(tmp_path), kit.runtime())

    with pytest.raises(RuntimeError, match="await play_run"):
        asyncio.run(call())


def test_without_filelock_the_message_names_the_extra(
    tmp_path: Path, kit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "filelock", None)
    with pytest.raises(MissingExtraError, match=r"needs filelock: pip install 'ycbench-env\[llm\]'"):
        play_run_sync(kit.plan(tmp_path / "run"), kit.runtime())
    assert not (tmp_path / "run").exists()


def test_totals_know_what_is_unknown_and_take_nothing_for_a_number(tmp_path: Path, kit: Any) -> None:
    costs: list[Any] = [None, 0.1, 0.2, True]

    class Priced(kit.thinker):
        async def decide(self, observation: Any) -> Decision:
            decision = await super().decide(observation)
            cost = costs[int(observation["turn"]) - 1]
            return attrs.evolve(decision, trace={"cost_usd": cost, "odd_tokens": "7", "none_tokens": None, "other": 3})

    assert play_run_sync(kit.plan(tmp_path, Priced()), kit.runtime()).record.outcome.totals == {
        "cost_usd": {"sum": 0.3, "unknown_turns": 2},
        "none_tokens": {"sum": None, "unknown_turns": 4},
    }


# ---- keys


@pytest.mark.parametrize("place", ["settings", "model"])
def test_a_key_in_the_plan_is_refused_by_the_name_of_its_variable(tmp_path: Path, kit: Any, place: str) -> None:
    change = {"settings": {"nested": [f"Bearer {KEY}"]}} if place == "settings" else {"model": KEY}
    with pytest.raises(RecordError, match="environment variable SOME_API_KEY") as caught:
        play_run_sync(kit.plan(tmp_path, **change), kit.runtime({"SOME_API_KEY": KEY}))
    assert KEY not in str(caught.value)
    assert KEY not in written(tmp_path)


@pytest.mark.parametrize("variable", ["SOME_API_KEY", "ODD_NAME"])
def test_a_turn_that_holds_a_key_is_not_written_and_stops_the_run(tmp_path: Path, kit: Any, variable: str) -> None:
    class Leaky(kit.thinker):
        async def decide(self, observation: Any) -> Decision:
            decision = await super().decide(observation)
            leak = KEY if int(observation["turn"]) == 2 else ""
            return attrs.evolve(decision, transport={"faults": [f"401: {leak}"]})

    settings = {"api_key_variable": "ODD_NAME"}
    played = play_run_sync(kit.plan(tmp_path, Leaky(), settings=settings), kit.runtime({variable: KEY}))
    assert played.record.outcome.status == "stopped"
    assert played.record.outcome.reason == (
        f"turn 2 holds the value of the environment variable {variable}, so it was not written"
    )
    assert len(lines(tmp_path)) == 1
    assert KEY not in written(tmp_path)


def test_a_reason_that_holds_a_key_is_withheld(tmp_path: Path, kit: Any) -> None:
    class Leaky(kit.thinker):
        async def decide(self, observation: Any) -> Decision:
            raise PolicyStoppedError(KEY)

    played = play_run_sync(kit.plan(tmp_path, Leaky()), kit.runtime({"SOME_API_KEY": KEY}))
    assert played.record.outcome.reason == "withheld: it holds the value of the environment variable SOME_API_KEY"
    assert KEY not in written(tmp_path)


def test_a_word_that_stands_for_no_key_may_be_said(tmp_path: Path, kit: Any) -> None:
    runtime = kit.runtime({"SOME_API_KEY": "think", "OTHER": "test/model:free and long"})
    assert play_run_sync(kit.plan(tmp_path), runtime).record.is_finished


def written(folder: Path) -> str:
    return "".join(path.read_text(encoding="ascii") for path in folder.iterdir())


def test_nothing_warns_in_an_undisturbed_run(tmp_path: Path, kit: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(play_run_sync(kit.plan(tmp_path), kit.runtime()).record.turns())
