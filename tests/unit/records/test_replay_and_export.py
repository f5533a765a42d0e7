"""Verifying a record by playing it again, and turning it into examples for training."""

# ruff: noqa: ANN401 -- the kit comes as a fixture, and stand-ins see anything

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from ycbench_agents import make_policy
from ycbench_agents.records import (
    RecordError,
    RecordMismatchError,
    RecordWarning,
    export_turns,
    play_run_sync,
    read_run,
    replay_run,
)


def edit(folder: Path, number: int, **changes: Any) -> None:
    path = folder / "turns.jsonl"
    listed = [json.loads(line) for line in path.read_bytes().splitlines()]
    listed[number - 1].update(changes)
    path.write_text("".join(f"{json.dumps(turn)}\n" for turn in listed), encoding="ascii")


def test_an_untouched_record_is_equal_with_and_without_its_policy(undisturbed: Path, kit: Any) -> None:
    policy = kit.thinker()
    for report in (replay_run(undisturbed), replay_run(undisturbed, policy)):
        assert report.is_equal
        assert (report.turns, report.differences, report.record) == (4, (), read_run(undisturbed))
    assert policy.asked == 0


FORGERIES: dict[str, Any] = {
    "reward": 5.0,
    "funds_cents": 7,
    "funds_delta_cents": 7,
    "results": [],
    "events": [{}],
    "invalid_commands": 42,
    "forced_advance": True,
    "terminated": True,
    "terminal_reason": "bankruptcy",
    "sim_time": "now",
    "state_hash": "",
    "notes_sha256": "",
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_field_is_found_with_its_turn(undisturbed: Path, name: str) -> None:
    edit(undisturbed, 3, **{name: FORGERIES[name]})
    report = replay_run(undisturbed)
    assert not report.is_equal
    assert report.turns == 3
    assert all(line.startswith(f"turn 3: {name}") for line in report.differences)


def test_a_forged_trace_is_found_by_the_policy_alone(undisturbed: Path, kit: Any) -> None:
    edit(undisturbed, 2, trace={"messages_sha256": "0"})
    assert replay_run(undisturbed).differences[0].startswith("run.json: outcome.totals")  # its tokens are missing
    (line,) = replay_run(undisturbed, kit.thinker()).differences
    assert line.startswith("turn 2: trace: messages_sha256: recorded 0, now ")


def test_another_policy_is_found(undisturbed: Path) -> None:
    assert "the other only acts" in replay_run(undisturbed, make_policy("greedy")).differences[0]


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        ({"final_funds_cents": 1}, "run.json: outcome.final_funds_cents: 1 |"),
        ({"total_return": 0.5}, "run.json: outcome.total_return: 0.5 |"),
        ({"terminal_reason": None}, 'run.json: outcome.terminal_reason: null | "max_turns"'),
        ({"totals": {}}, "run.json: outcome.totals.prompt_tokens: nothing |"),
    ],
)
def test_a_forged_outcome_is_found(undisturbed: Path, change: dict[str, Any], shown: str) -> None:
    path = undisturbed / "run.json"
    run = json.loads(path.read_bytes())
    run["outcome"] |= change
    path.write_text(json.dumps(run), encoding="ascii")
    assert any(line.startswith(shown) for line in replay_run(undisturbed).differences)


def test_a_finished_run_that_is_not_at_its_end_is_found(undisturbed: Path) -> None:
    path = undisturbed / "turns.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:3]))
    with pytest.warns(RecordWarning, match="tells of 4 turns"):
        report = replay_run(undisturbed)
    assert "run.json: outcome.turns: 4 | 3" in report.differences
    assert report.differences[-1] == "run.json: outcome.status: finished | the episode goes on after turn 3"


def test_a_run_that_is_not_finished_is_verified_as_far_as_it_is(tmp_path: Path, kit: Any) -> None:
    play_run_sync(kit.plan(tmp_path, kit.thinker(stops_at=3)), kit.runtime())
    report = replay_run(tmp_path, kit.thinker())
    assert (report.turns, report.differences) == (2, ())


def test_a_run_that_was_killed_is_verified_as_far_as_it_is(tmp_path: Path, kit: Any) -> None:
    with pytest.raises(kit.killed):
        play_run_sync(kit.plan(tmp_path), kit.runtime(files=kit.fatal_files(11, "after")))
    assert read_run(tmp_path).outcome.turns is None
    report = replay_run(tmp_path, kit.thinker())
    assert (report.turns, report.differences) == (3, ())


def test_a_run_cut_off_from_outside_is_verified(tmp_path: Path, kit: Any) -> None:
    play_run_sync(kit.plan(tmp_path, max_turns=2, scratchpad=False), kit.runtime())
    assert replay_run(tmp_path, kit.thinker()).is_equal


def test_a_record_of_another_version_is_verified_with_a_warning(undisturbed: Path) -> None:
    path = undisturbed / "run.json"
    run = json.loads(path.read_bytes())
    run["identity"]["version"] = "0.0.1"
    path.write_text(json.dumps(run), encoding="ascii")
    with pytest.warns(RecordWarning, match=r"was written by ycbench-env 0\.0\.1, this is "):
        assert replay_run(undisturbed).is_equal


@pytest.mark.parametrize(
    ("change", "shown"), [({"num_employees": 3}, "its digest is .*it was changed"), ({"nothing": 1}, "nothing")]
)
def test_a_changed_configuration_is_refused(undisturbed: Path, change: dict[str, Any], shown: str) -> None:
    path = undisturbed / "run.json"
    run = json.loads(path.read_bytes())
    run["identity"]["config"]["world"] |= change
    path.write_text(json.dumps(run), encoding="ascii")
    with pytest.raises(RecordError, match=rf"run\.json: config: .*{shown}"):
        replay_run(undisturbed)


def test_environment_variables_do_not_reach_into_a_record(undisturbed: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("YCBENCH_WORLD__NUM_EMPLOYEES", "3")
        assert replay_run(undisturbed).is_equal


def test_turns_of_a_policy_with_messages_become_conversations(undisturbed: Path, kit: Any) -> None:
    turns = [turn.to_json() for turn in read_run(undisturbed).turns()]
    examples: list[Any] = list(export_turns(undisturbed, kit.thinker()))
    assert [example.turn for example in examples] == [1, 2, 3, 4]
    thoughts = [turn["trace"]["reply"]["content"] for turn in json.loads(json.dumps(turns))]
    assert [example.completion for example in examples] == [
        [{"reasoning": "hm", "role": "assistant", "content": thought}] for thought in thoughts
    ]
    assert [example.prompt[0]["content"].split(" |")[0] for example in examples] == [f"Turn {n}" for n in range(1, 5)]
    assert all(len(example.prompt) == 1 for example in examples)
    assert [example.reward for example in examples] == [turn["reward"] for turn in turns]


def test_the_return_to_go_is_the_sum_of_what_is_still_to_come(tmp_path: Path, kit: Any) -> None:
    play_run_sync(kit.plan(tmp_path, make_policy("greedy"), config="default", seed=1, max_turns=20), kit.runtime())
    deltas = [turn.funds_delta_cents for turn in read_run(tmp_path).turns()]
    assert len({delta for delta in deltas if delta}) > 2
    expected = [sum(deltas[number:]) / 100 for number in range(20)]
    assert [example.return_to_go for example in export_turns(tmp_path)] == expected


def test_each_example_is_a_line_of_strict_json(undisturbed: Path, kit: Any) -> None:
    for example in export_turns(undisturbed, kit.thinker()):
        line = example.to_line()
        assert line.isascii()
        assert "\n" not in line
        assert set(json.loads(line)) == {
                "run", "seed", "turn", "prompt", "completion", "reward", "return_to_go"
            }  # fmt: skip


def test_calls_are_exported_in_the_form_of_the_interface(tmp_path: Path, kit: Any) -> None:
    calls = [{"id": "a", "name": "run", "arguments": '{"x":1}'}, {"id": "b", "name": "run", "arguments": {"x": 1}}]

    class Caller(kit.thinker):
        async def decide(self, observation: Any) -> Any:
            decision = await super().decide(observation)
            decision.trace["reply"] = {"content": None, "tool_calls": calls, "reasoning": {}}
            return decision

    play_run_sync(kit.plan(tmp_path, Caller(), max_turns=1), kit.runtime())
    (example,) = export_turns(tmp_path, Caller())
    function = {"name": "run", "arguments": '{"x":1}'}
    assert example.completion == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "a", "type": "function", "function": function},
                {"id": "b", "type": "function", "function": function},
            ],
        }
    ]


def test_a_message_that_the_policy_shows_itself_is_taken(undisturbed: Path, kit: Any) -> None:
    class Telling(kit.thinker):
        def recall(self, observation: Any, trace: Any) -> Any:
            turn = super().recall(observation, trace)
            self.last_messages.append({"role": "assistant", "content": "mine"})
            return turn

    example: Any = next(export_turns(undisturbed, Telling()))
    assert example.completion == [{"role": "assistant", "content": "mine"}]
    assert len(example.prompt) == 1


def test_a_trace_without_a_reply_cannot_become_a_conversation(tmp_path: Path, kit: Any) -> None:
    class Bare(kit.thinker):
        async def decide(self, observation: Any) -> Any:
            decision = await super().decide(observation)
            del decision.trace["reply"]
            return decision

    play_run_sync(kit.plan(tmp_path, Bare()), kit.runtime())
    with pytest.raises(RecordError, match="turn 1: its trace has no reply"):
        list(export_turns(tmp_path, Bare()))


@pytest.mark.parametrize("with_policy", [False, True])
def test_turns_of_a_policy_that_only_acts_become_texts(tmp_path: Path, kit: Any, with_policy: bool) -> None:
    plan = kit.plan(tmp_path, make_policy("greedy"), config="default", seed=1)
    record = play_run_sync(plan, kit.runtime()).record
    examples = list(export_turns(tmp_path, make_policy("greedy") if with_policy else None))
    assert [example.completion for example in examples] == [turn.action for turn in record.turns()]
    assert str(examples[0].prompt).startswith("Turn 1 | 2025-01-01T09:00:00")
    assert str(examples[1].prompt).startswith("Turn 2 | ")
    assert examples[0].return_to_go == record.outcome.total_return
    assert sum(round(example.reward * 100) for example in examples) == 22_029_521


def test_a_record_that_differs_is_not_exported(undisturbed: Path, kit: Any) -> None:
    edit(undisturbed, 2, state_hash="")
    examples = export_turns(undisturbed, kit.thinker())
    assert next(examples).turn == 1
    with pytest.raises(RecordMismatchError, match="turn 2"):
        next(examples)


def test_verifying_and_exporting_write_nothing_and_warn_of_nothing(undisturbed: Path, kit: Any) -> None:
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in undisturbed.iterdir()}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        replay_run(undisturbed, kit.thinker())
        list(export_turns(undisturbed))
    assert {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in undisturbed.iterdir()} == before
