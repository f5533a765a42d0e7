"""The conversation: valid messages at every window, each answer with the call it belongs to (B11, B42, B43)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from chats import call, problems

from ycbench_agents.llm.conversation import (
    MAX_ANSWERS_LENGTH,
    CommandAnswer,
    Exchange,
    answers_by_call,
    count_tokens,
    exchange_tokens,
    messages,
    prompt_sha256,
    status_text,
)
from ycbench_agents.llm.reply import ChatReply, Plan, ToolCall, parse_reply
from ycbench_agents.llm.settings import Mode
from ycbench_env import YCBenchEnv
from ycbench_env.actions import parse_turn, parser
from ycbench_env.text import Json, JsonObject
from ycbench_env.wrappers import ScratchpadMemory, Window, window

MODES: tuple[Mode, ...] = ("tools", "text")
PRESENT = "status now"


def plan_of(*commands: str) -> Plan:
    return parse_reply(ChatReply(None, tuple(map(call, commands))), mode="tools", max_calls=50)


def exchange(number: int, reply: ChatReply, mode: Mode = "tools") -> Exchange:
    plan, env = parse_reply(reply, mode=mode, max_calls=50), YCBenchEnv()
    env.reset(seed=1)
    return Exchange(f"status {number}", reply, plan, answers_by_call(plan, env.step(plan.turn)[0]["results"]))


REPLIES = (
    ChatReply("one", (call("task list", "call_0"),), "tool_calls", {"reasoning_content": "deep"}),
    ChatReply(None, (call("market browse"), call("dance", "b"), ToolCall("b", "bash", "{"))),
    ChatReply("only text", (), "stop"),
    ChatReply("", (ToolCall("call_0", "run_command", '{"command": '),), "length"),
    ChatReply("  ", ()),
    ChatReply("a", (call("task list; company status && sim resume", "\n"),), reasoning={"reasoning": "hm"}),
)


def shown(mode: Mode, keep: int | None, replay: tuple[str, ...] = ()) -> tuple[Any, ...]:
    turns = [exchange(number, reply, mode) for number, reply in enumerate(REPLIES)]
    return messages("system", window(turns, keep_turns=keep), PRESENT, turns[-1], mode=mode, replay_reasoning=replay)


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
    assert [message["content"] for message in listed if message["role"] == "assistant"][1:] == [
        *("only text", None, "(nothing)", "a"),
    ]
    assert "your reply has no call" in listed[8]["content"]
    assert listed[-2]["content"].splitlines()[::2] == ["> task list", "> company status", "> sim resume"]


def test_without_tools_the_answers_come_with_the_next_words_of_the_user_or_not_at_all() -> None:
    turn = exchange(0, ChatReply("task list\nsim resume"), "text")
    listed: Any = messages("s", Window((turn,), 0), PRESENT, turn, mode="text")
    assert [message["role"] for message in listed] == ["system", "user", "assistant", "user"]
    assert listed[3]["content"].startswith("Answers to your last turn:\n> task list\n{")
    assert listed[3]["content"].endswith('accept, assign and dispatch one first"}\n\nstatus now')
    for mode in MODES:
        content = shown(mode, 0)[1]["content"]
        assert content.startswith("[6 earlier turns are gone]\n\n")
        assert content.endswith("\n\n" + PRESENT)
    assert "The answers to your last turn are not shown here." in shown("tools", 0)[1]["content"]


def test_reasoning_is_sent_back_only_where_it_is_asked_for_and_thoughts_never() -> None:
    assert not [message for message in shown("tools", None) if "reasoning" in json.dumps(list(message))]
    replayed = [message for message in shown("tools", None, ("reasoning_content",)) if "reasoning_content" in message]
    assert [(message["role"], message["reasoning_content"]) for message in replayed] == [("assistant", "deep")]
    turn = exchange(0, ChatReply("<think>secret</think>" + "x" * 100_000))
    listed: Any = messages("s", Window((turn,), 0), PRESENT, turn, mode="tools")
    assert listed[2]["content"] == "x" * 65_536 + "... [cut: 34464 characters more]"


def test_the_estimate_of_a_turn_is_never_too_small() -> None:
    for mode in MODES:
        turns = [exchange(number, reply, mode) for number, reply in enumerate(REPLIES)]
        bare = messages("system", Window((), 0), PRESENT, turns[-1], mode=mode)
        parts = sum(exchange_tokens(turn, mode, ()) for turn in turns)
        assert count_tokens(shown(mode, None)) <= parts + count_tokens(bare)


def test_a_turn_that_is_refused_as_a_whole_is_so_for_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser, "MAX_WORDS", 5)
    plan = plan_of("task list", "a b", "c d")
    (parsed,) = parse_turn(plan.turn)
    results = json.dumps([{"command": parsed.text, "ok": False, "output": {"error": "too many words"}}])
    assert [each[0].output for each in answers_by_call(plan, results)] == ['{"error":"too many words"}'] * 3


def test_answers_without_room_are_counted_and_never_given_to_another_call() -> None:
    plan = plan_of("company status", "\n".join(["market browse --limit 9999"] * 9), "client list\ntask list")
    commands = [parsed.text for parsed in parse_turn(plan.turn)]
    entries: list[Any] = [{"command": command, "ok": True, "output": "x" * 9_000} for command in commands]
    first, second, third = answers_by_call(plan, json.dumps([*entries[:-2], {"cut_results": 2}]))
    assert [answer.command for answer in first] == ["company status"]
    assert [answer.command for answer in second] == ["market browse --limit 9999"] * 9
    assert json.loads(second[-1].output) == {"cut": 9_002}
    assert third == (CommandAnswer(None, '{"cut_results":2}', commands=2),)
    assert sum(len(answer.output) for each in (first, second, third) for answer in each) <= MAX_ANSWERS_LENGTH
    many = plan_of("\n".join(["dance"] * 5_000), "task list")
    entries = [{"command": "dance", "ok": False, "output": {"error": "x"}} for _ in range(5_000)]
    first, second = answers_by_call(many, json.dumps([*entries, {"command": "task list", "output": {}}]))
    told: Any = json.loads(first[-1].output)
    assert told["cut_results"] == first[-1].commands == 5_000 - len(first) + 1
    assert second == (CommandAnswer(None, '{"cut_results":1}'),)


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
