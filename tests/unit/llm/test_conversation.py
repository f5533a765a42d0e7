"""The conversation: valid messages at every window, each answer with the call it belongs to (B11, B42, B43)."""

from __future__ import annotations

import json
from typing import Any, Literal, TypeAlias

import pytest

from ycbench_agents.base import Json, JsonObject
from ycbench_agents.llm.conversation import (
    MAX_ANSWERS_LENGTH,
    CommandAnswer,
    Exchange,
    answers_by_call,
    exchange_tokens,
    messages,
    prompt_sha256,
    status_text,
)
from ycbench_agents.llm.loopback import request_problems
from ycbench_agents.llm.reply import ChatReply, Plan, ToolCall, parse_reply
from ycbench_env import YCBenchEnv
from ycbench_env.actions import MAX_WORDS, parse_turn
from ycbench_env.wrappers import ScratchpadMemory, Window, estimate_tokens, window

Mode: TypeAlias = Literal["tools", "text"]


def problems(listed: tuple[Any, ...]) -> list[str]:
    return request_problems({"model": "m", "messages": list(listed)})


def call(command: str, call_id: str = "") -> ToolCall:
    return ToolCall(call_id, "run_command", json.dumps({"command": command}))


def plan_of(*commands: str) -> Plan:
    return parse_reply(ChatReply(None, tuple(map(call, commands))), mode="tools", max_calls=50)


def results_of(turn: tuple[str, ...], env: YCBenchEnv | None = None) -> str:
    env = env or YCBenchEnv()
    env.reset(seed=1)
    return env.step(turn)[0]["results"]


def exchange(number: int, reply: ChatReply, mode: Mode = "tools") -> Exchange:
    plan = parse_reply(reply, mode=mode, max_calls=50)
    return Exchange(f"status {number}", reply, plan, answers_by_call(plan, results_of(plan.turn)))


REPLIES = (
    ChatReply("one", (call("task list", "call_0"),), "tool_calls", {"reasoning_content": "deep"}),
    ChatReply(None, (call("market browse"), call("dance", "b"), ToolCall("b", "bash", "{"))),
    ChatReply("only text", (), "stop"),
    ChatReply("", (ToolCall("call_0", "run_command", '{"command": '),), "length"),
    ChatReply("  ", ()),
    ChatReply("a", (call("task list; company status && sim resume", "\n"),), reasoning={"reasoning": "hm"}),
)
PRESENT = "status now"


def conversation(mode: Mode = "tools") -> list[Exchange]:
    return [exchange(number, reply, mode) for number, reply in enumerate(REPLIES)]


def shown(mode: Mode, keep: int | None, replay: tuple[str, ...] = ()) -> tuple[Any, ...]:
    turns = conversation(mode)
    return messages("system", window(turns, keep_turns=keep), PRESENT, turns[-1], mode=mode, replay_reasoning=replay)


@pytest.mark.parametrize("mode", ["tools", "text"])
@pytest.mark.parametrize("keep", [*range(8), None])
def test_messages_are_valid_at_every_window(mode: Mode, keep: int | None) -> None:
    listed = shown(mode, keep)
    kept = min(len(REPLIES), len(REPLIES) if keep is None else keep)
    assert problems(listed) == []
    assert sum(message["role"] == "assistant" for message in listed) == kept
    assert sum("are gone]" in json.dumps(message) or "is gone]" in json.dumps(message) for message in listed) == (
        kept < len(REPLIES)
    )
    for number in range(len(REPLIES)):
        assert (f"status {number}" in json.dumps(listed)) == (number >= len(REPLIES) - kept)


def test_a_turn_is_the_user_the_model_and_an_answer_for_each_call_in_order() -> None:
    listed = shown("tools", 5)
    assert [message["role"] for message in listed[:6]] == ["system", "user", "assistant", "tool", "tool", "tool"]
    assert listed[1]["content"] == "[1 earlier turn is gone]\n\nstatus 1"
    assert listed[2]["content"] is None
    assert [each["id"] for each in listed[2]["tool_calls"]] == ["call_1", "b", "call_3"]
    assert [message["tool_call_id"] for message in listed[3:6]] == ["call_1", "b", "call_3"]
    assert json.loads(listed[3]["content"])["total"] > 0
    assert "dance" in json.loads(listed[4]["content"])["error"]
    assert "there is no tool" in json.loads(listed[5]["content"])["error"]


def test_several_commands_of_a_call_are_answered_in_one_message_with_each_command() -> None:
    last = shown("tools", 1)[3]
    lines = last["content"].splitlines()
    assert lines[::2] == ["> task list", "> company status", "> sim resume"]
    assert "tasks" in json.loads(lines[1])
    assert "no active task" in json.loads(lines[5])["error"]


def test_without_tools_the_answers_come_with_the_next_words_of_the_user() -> None:
    plan = parse_reply(ChatReply("task list\nsim resume"), mode="text", max_calls=5)
    answers = answers_by_call(plan, results_of(plan.turn))
    first = Exchange("status 0", ChatReply("task list\nsim resume"), plan, answers)
    listed: Any = messages("s", Window((first,), 0), PRESENT, first, mode="text")
    assert [message["role"] for message in listed] == ["system", "user", "assistant", "user"]
    assert listed[3]["content"].startswith("Answers to your last turn:\n> task list\n{")
    assert listed[3]["content"].endswith('accept, assign and dispatch one first"}\n\nstatus now')


def test_answers_of_a_turn_that_is_gone_are_gone_and_the_model_is_told() -> None:
    listed = shown("text", 0)
    assert len(listed) == 2
    assert listed[1]["content"].startswith("[6 earlier turns are gone]\n\n")
    assert listed[1]["content"].endswith("\n\n" + PRESENT)
    assert "Answers" not in shown("text", 1)[1]["content"]
    content = shown("tools", 0)[1]["content"]
    assert "The answers to your last turn are not shown here." in content


def test_what_was_wrong_with_a_reply_without_calls_is_said_next() -> None:
    listed = shown("tools", None)
    said = [message["content"] for message in listed if message["role"] == "user"]
    assert said[3].startswith("Nothing was run: your reply has no call.")
    assert said[3].endswith("\n\nstatus 3")
    assert "reply has no call" in said[5]


def test_a_model_that_says_nothing_leaves_no_empty_message() -> None:
    said = [message["content"] for message in shown("tools", None) if message["role"] == "assistant"]
    assert said == ["one", None, "only text", None, "(nothing)", "a"]


def test_reasoning_is_sent_back_only_where_it_is_asked_for() -> None:
    assert not [message for message in shown("tools", None) if "reasoning" in json.dumps(list(message))]
    told = [message for message in shown("tools", None, ("reasoning_content",)) if "reasoning_content" in message]
    assert [message["reasoning_content"] for message in told] == ["deep"]
    assert told[0]["role"] == "assistant"
    assert shown("tools", 1, ("reasoning",))[2]["reasoning"] == "hm"


def test_thoughts_in_the_text_and_huge_texts_are_not_sent_back_whole() -> None:
    turn = exchange(0, ChatReply("<think>secret</think>" + "x" * 100_000))
    listed: Any = messages("s", Window((turn,), 0), PRESENT, turn, mode="tools")
    assert listed[2]["content"] == "x" * 65_536 + "... [cut: 34464 characters more]"


def test_what_is_sent_back_of_one_reply_is_bounded_whatever_it_holds() -> None:
    commands = [call("scratchpad append --content '" + "x\n" * 60_000 + "'", "i" * 300 + str(n)) for n in range(300)]
    huge: JsonObject = {"reasoning": "x" * 10**6, "reasoning_details": [{"text": "y" * 10**6}]}
    turn = exchange(0, ChatReply("z" * 10**6, tuple(commands), None, huge))
    replay = ("reasoning_details", "reasoning", "reasoning_content")
    listed = messages("s", Window((turn,), 0), PRESENT, turn, mode="tools", replay_reasoning=replay)
    assert problems(listed) == []
    said: Any = listed[2]
    assert len(json.dumps(said, ensure_ascii=False)) <= 393_216
    assert "reasoning_details" not in said
    assert said["reasoning"].endswith("characters more]")


def test_messages_share_nothing_with_the_conversation() -> None:
    turn = exchange(0, ChatReply("x", reasoning={"reasoning_details": [{"a": 1}]}))

    def made() -> tuple[Any, ...]:
        return messages("s", Window((turn,), 0), PRESENT, turn, mode="tools", replay_reasoning=("reasoning_details",))

    first = made()
    kept = json.dumps(first)
    first[2]["reasoning_details"][0]["a"] = 2
    assert json.dumps(made()) == kept


def test_the_estimate_of_a_turn_is_never_too_small() -> None:
    modes: tuple[Mode, ...] = ("tools", "text")
    for mode in modes:
        turns = conversation(mode)
        total = estimate_tokens(json.dumps(shown(mode, None), ensure_ascii=False))
        bare = messages("system", Window((), 0), PRESENT, turns[-1], mode=mode)
        parts = sum(exchange_tokens(turn, mode, ()) for turn in turns)
        assert total <= parts + estimate_tokens(json.dumps(bare, ensure_ascii=False))


# ---- status


def test_the_status_holds_events_and_the_end_but_neither_answers_nor_notes() -> None:
    env = ScratchpadMemory(YCBenchEnv({"loop": {"auto_advance_after_turns": 1, "max_turns": 1}}))
    env.reset(seed=1)
    observation, *_ = env.step("scratchpad write --content '> not an answer'\nmarket browse")
    lines = status_text(observation).splitlines()
    assert [line.split()[0] for line in lines] == ["Turn", "The", "Time", "Events:"]
    assert status_text(env.reset(seed=1)[0]).startswith("Turn 1 | ")


# ---- answers


@pytest.mark.parametrize(
    "commands",
    [
        ("task list", "company status\nclient list", "dance && sing; employee list"),
        ('scratchpad write --content "a\nb"', "# c\n task list # d", "task list && "),
        ("```\ntask list\nclient list\n```", "`task list`", "$ client list"),
        ("task inspect --task-id " + "x" * 1000, "task inspect --task-id " + "y" * 1000),
        ("task list \\", "client list"),
    ],
)
def test_each_call_gets_the_answers_to_its_own_commands(commands: tuple[str, ...]) -> None:
    plan = plan_of(*commands)
    results = results_of(plan.turn)
    answers = answers_by_call(plan, results)
    assert [len(each) for each in answers] == [len(parse_turn(text)) for text in commands]
    flat = [answer for each in answers for answer in each]
    assert [answer.command for answer in flat] == [entry["command"] for entry in json.loads(results)]
    assert [json.loads(answer.output) for answer in flat] == [entry["output"] for entry in json.loads(results)]


def test_a_turn_that_is_refused_as_a_whole_is_so_for_each_call() -> None:
    plan = plan_of("task list", "x " * (MAX_WORDS // 2), "y " * (MAX_WORDS // 2 + 1))
    answers = answers_by_call(plan, results_of(plan.turn))
    assert len(answers) == 3
    assert all("This turn cannot be read" in each[0].output for each in answers)


def test_answers_that_had_no_room_are_counted_with_their_own_calls() -> None:
    plan = plan_of("company status", "\n".join(["market browse --limit 9999"] * 9), "client list")
    results = results_of(plan.turn)
    first, second, third = answers_by_call(plan, results)
    assert "funds_cents" in first[0].output
    assert json.loads(second[-1].output) == {"cut": 40000} or "cut" in second[-1].output
    assert [answer.command for answer in second] == ["market browse --limit 9999"] * 9
    assert third[0].command == "client list"
    assert sum(len(answer.output) for each in (first, second, third) for answer in each) <= MAX_ANSWERS_LENGTH


def test_answers_that_the_environment_cut_are_counted_and_never_given_to_another_call() -> None:
    plan = plan_of("task list", "\n".join(["dance"] * 9_000), "client list\ntask list")
    results = results_of(plan.turn)
    assert "cut_results" in json.loads(results)[-1]
    first, second, third = answers_by_call(plan, results)
    assert first[0].command == "task list"
    assert all(answer.command in {"dance", None} for answer in second)
    told: Any = json.loads(second[-1].output)
    assert told["cut_results"] + len(second) - 1 == 9_000
    assert third == (CommandAnswer(None, '{"cut_results":2}', commands=2),)
    size = sum(len(answer.output) + len(answer.command or "") for answer in (*first, *second, *third))
    assert size <= MAX_ANSWERS_LENGTH + 3 * 30


@pytest.mark.parametrize(
    "results",
    [
        [],
        [{"command": "client list", "ok": True, "output": {}}, {"command": "task list", "ok": True, "output": {}}],
        [{"command": "task list", "ok": True, "output": {}}],
        [{"command": "task list", "ok": True, "output": {}}, {"cut_results": 5}],
        [{"output": {}}, {"output": {}}],
        {},
        [1],
    ],
)
def test_answers_to_other_commands_are_an_error(results: Json) -> None:
    with pytest.raises(ValueError, match="observation: got results "):
        answers_by_call(plan_of("task list", "client list"), json.dumps(results))


def test_equal_messages_have_equal_hashes_whatever_the_order_of_their_keys() -> None:
    one: JsonObject = {"role": "user", "content": "\u00e9"}
    assert prompt_sha256([one]) == prompt_sha256([dict(reversed(one.items()))])
    assert prompt_sha256([one]) != prompt_sha256([one, one])
    assert prompt_sha256([]) == "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"
