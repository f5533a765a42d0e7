"""From a reply to a plan: what is run and what is refused, for models with tools and without (B06, B14, B43)."""

from __future__ import annotations

import json

import pytest

from ycbench_agents.llm.reply import (
    MAX_REPLAYED_ARGUMENTS,
    MAX_REPLAYED_CALLS,
    MAX_TEXT_LENGTH,
    ChatReply,
    Plan,
    ToolCall,
    parse_reply,
    without_thoughts,
)
from ycbench_env import load_config
from ycbench_env.actions import grammar_for
from ycbench_env.text import Json

GOOD = json.dumps({"command": "task list"})


def call(arguments: Json = GOOD, *, name: str = "run_command", call_id: str = "call_a") -> ToolCall:
    return ToolCall(call_id, name, arguments)


def planned(*calls: ToolCall, content: str | None = None, finish_reason: str = "tool_calls", most: int = 50) -> Plan:
    return parse_reply(ChatReply(content, calls, finish_reason), mode="tools", max_calls=most)


def said(content: str | None, *, finish_reason: str = "stop", most: int = 50) -> Plan:
    return parse_reply(ChatReply(content, finish_reason=finish_reason), mode="text", max_calls=most)


def test_a_right_call_is_run_and_sent_back_as_it_came() -> None:
    spaced = '{ "command" :  "task list\\nsim resume" }'
    plan = planned(call(spaced))
    assert plan.turn == ("task list\nsim resume",)
    assert plan.calls[0].arguments == spaced
    assert (plan.calls[0].refusal, plan.note) == (None, None)
    assert planned(call(), content="```\nsim resume\n```").turn == ("task list",)  # text beside calls is not run


@pytest.mark.parametrize(
    ("arguments", "defect"),
    [
        ("", "no JSON"),
        ("  ", "no JSON"),
        ("null", "got null"),
        ("[]", "got a list"),
        ('"task list"', "got a text"),
        ("3", "got a number"),
        ("true", "got true"),
        ("task list", "no JSON"),
        ('{"command": null}', "command: got null"),
        ('{"command": ["yc-bench", "sim", "resume"]}', "command: got a list"),
        ('{"command": {"command": "sim resume"}}', "command: got an object"),
        ('{"command": 3}', "command: got a number"),
        ('{"command": ""}', "holds no command"),
        ('{"command": " # nothing "}', "holds no command"),
        ('{"cmd": "sim resume"}', 'the keys "cmd"'),
        ('{"command": "sim resume", "cwd": "/"}', 'the keys "command", "cwd"'),
        ("{}", "the keys none"),
        ('{"command": "sim resume"', "no JSON"),
        ('{"command": "sim resume"}{"command": "sim resume"}', "Extra data at character 26"),
        ('{"command": "sim resume"}""', "Extra data"),
        ('{"command": "sim resume", "command": "task list"}', "a key occurs twice"),
        ('{"command": NaN}', "NaN is no JSON"),
        ('{"command": "sim\nresume"}', "Invalid control character"),
        ('{"command": ' + "[" * 100_000, "nested too deep"),
        ('{"command": ' + "9" * 5000 + "}", "no JSON"),
        ('{"command": "' + "x" * MAX_TEXT_LENGTH + '"}', "at most 262144"),
        (None, "got null"),
        ([], "got a list"),
        ({"command": "sim resume"}, "got an object that is decoded already"),
        (False, "got false"),
        (3.5, "got a number"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_wrong_arguments_are_refused_with_the_defect_and_the_schema(arguments: Json, defect: str) -> None:
    plan = planned(call(arguments))
    refusal = plan.calls[0].refusal
    assert plan.turn == ()
    assert refusal is not None
    assert defect in refusal
    assert 'the only key "command", a text, like {"command": "market browse --limit 5"}' in refusal
    assert "run_command" in refusal or "Nothing of this call was run" in refusal
    assert len(refusal) < 500
    assert isinstance(json.loads(plan.calls[0].arguments), dict)  # servers decode what is sent back


def test_lone_surrogates_reach_neither_the_turn_nor_what_is_sent_back() -> None:
    plan = planned(call('{"command": "scratchpad write --content a\\ud800b"}', call_id="i\udc00"))
    assert plan.turn == ("scratchpad write --content a\ufffdb",)
    assert json.loads(plan.calls[0].arguments)["command"] == plan.turn[0]
    assert plan.calls[0].id == "call_1"


@pytest.mark.parametrize(
    ("name", "sent_back"), [("bash", "bash"), ("", "unnamed"), ("a b\ud800" * 40, ("a_b_" * 40)[:64])]
)
def test_an_unknown_tool_is_answered_with_the_only_one(name: str, sent_back: str) -> None:
    plan = planned(call(name=name))
    assert plan.turn == ()
    assert "the only one is run_command" in (plan.calls[0].refusal or "")
    assert plan.calls[0].name == sent_back


def test_ids_change_only_where_they_are_empty_or_taken_or_no_server_would_take_them() -> None:
    plan = planned(*[call(call_id=call_id) for call_id in ("x", "", "x", "call_3", " ", "call_0")])
    assert [each.id for each in plan.calls] == ["x", "call_2", "call_3_", "call_3", "call_5", "call_0"]
    for bad in ("x" * 257, "a\nb", "a\x00", "\x1b[31m", "a\u2028b", "\u202e"):
        plan = planned(call(call_id=bad), call(call_id="x" * 256), call(call_id=bad), call(call_id="call_1"))
        assert [each.id for each in plan.calls] == ["call_1_", "x" * 256, "call_3", "call_1"]


def test_long_arguments_are_run_whole_and_sent_back_cut_to_json_that_says_so() -> None:
    long = "scratchpad write --content '" + "\x01\u00e9" * 20_000 + "'"
    plan = planned(call(), call(json.dumps({"command": long})), call(json.dumps({"cmd": "x" * 5000})), call())
    assert plan.turn == ("task list", long, "task list")
    first, cut, refused, last = (each.arguments for each in plan.calls)
    assert (first, refused, last) == (GOOD, "{}", GOOD)
    assert json.loads(cut)["command"] == f"{long[:1000]}... [cut: {len(long)} characters]"


def test_the_arguments_of_a_reply_are_bounded_together() -> None:
    many = json.dumps({"command": "scratchpad append --content " + "x" * 200_000})
    plan = planned(*[call(many, call_id=str(number)) for number in range(MAX_REPLAYED_CALLS)], most=100)
    assert sum(len(each.arguments) for each in plan.calls) <= MAX_REPLAYED_ARGUMENTS + 1_100 * MAX_REPLAYED_CALLS
    assert all(isinstance(json.loads(each.arguments), dict) for each in plan.calls)
    assert all(len(text) > 200_000 for text in plan.turn)
    assert len(plan.turn) == 100


@pytest.mark.parametrize(
    "reason", ["length", "MAX_TOKENS", "content_filter", "error", "null", "no\n\ud800" + "x" * 5000]
)
def test_nothing_is_run_of_a_reply_that_was_cut_off_and_each_call_is_answered(reason: str) -> None:
    plan = planned(call(), call(call_id="b"), finish_reason=reason)
    assert plan.turn == ()
    assert [each.id for each in plan.calls] == ["call_a", "b"]
    assert all("cut off" in (each.refusal or "") for each in plan.calls)
    note = planned(content="I would", finish_reason=reason).note or ""
    assert reason[:2] in note
    assert "cut off" in note
    assert note.isprintable()
    assert len(note.encode()) < 300
    assert said("sim resume", finish_reason=reason) == Plan((), note)


@pytest.mark.parametrize("reason", [None, "", "stop", " STOP\n", "tool_calls", "function_call", "end_turn", "eos"])
def test_a_reply_that_came_to_its_end_is_run(reason: str | None) -> None:
    assert parse_reply(ChatReply(None, (call(),), reason), mode="tools", max_calls=5).turn == ("task list",)
    assert parse_reply(ChatReply("task list", (), reason), mode="text", max_calls=5).turn == ("task list",)


def test_calls_above_the_limit_are_refused_and_those_that_cannot_be_sent_back_are_counted() -> None:
    plan = planned(*[call(call_id=str(number)) for number in range(200)], most=3)
    assert len(plan.turn) == 3
    assert len(plan.calls) == MAX_REPLAYED_CALLS
    assert "number 4, and only the first 3" in (plan.calls[3].refusal or "")
    assert plan.note == "Your reply had 200 calls; the last 72 were left out and not run."


def test_a_reply_without_a_call_is_told_how_to_make_one() -> None:
    for content in (None, "", "I wonder. `sim resume`?"):
        plan = planned(content=content)
        assert (plan.calls, plan.turn) == ((), ())
        assert "Call the tool run_command" in (plan.note or "")
    for content, turn in (("task list", ("task list",)), (None, ())):  # and where there are no tools
        plan = parse_reply(ChatReply(content, (call(),)), mode="text", max_calls=50)
        assert plan.turn == turn
        assert "there are no tools here" in (plan.note or "")


# ---- models without tools


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        ("sim resume", ("sim resume",)),
        ("`task list`", ("`task list`",)),
        ("task list\n# why\nsim resume", ("task list\n# why\nsim resume",)),
        ("```bash  \ntask list\n```", ("```bash  \ntask list\n```",)),
        ("I look first.\n\n```bash  \r\ntask list\r\n```\r\nThen I wait.", ("task list\r\n",)),
        ("One:\n```\ntask list\n```\nTwo:\n```sh\nsim resume\n```", ("task list\n", "sim resume\n")),
        ("Look:\n   ```\n   task list\n   ```", ("   task list\n",)),
        ("A:\n````\nscratchpad write --content '```'\n```x\n````", ("scratchpad write --content '```'\n```x\n",)),
        ("sim resume\n```\ntask list\n```", ("task list\n",)),
        ("I will wait.\nyc-bench sim resume\nThat's it.", ("yc-bench sim resume",)),
        ("Well:\n$ yc-bench task list\n`sim resume`\nok", ("$ yc-bench task list", "`sim resume`")),
        ("So:\ntask accept\nok", ("task accept",)),
        ("<think>sim resume</think>\ntask list", ("\ntask list",)),
        ("<think>\n```\nsim resume\n```\n</think>\nI look.\n```\ntask list\n```", ("task list\n",)),
        ("sim resume\nhm</THINK>\ntask list", ("\ntask list",)),
    ],
)
def test_commands_in_a_text_are_found(content: str, texts: tuple[str, ...]) -> None:
    plan = said(content)
    assert plan.turn == texts
    assert plan.note is None
    assert len({each.id for each in plan.calls}) == len(plan.calls)


@pytest.mark.parametrize(
    "content",
    [None, "", "Let me think about it.", "- task list", "<think>sim resume", "So:\n```\n# later\n```", "\ud800\x00"],
)
def test_a_text_without_a_command_is_told_how_to_write_one(content: str | None) -> None:
    plan = said(content)
    assert plan.calls == ()
    assert "your reply has no command" in (plan.note or "")


@pytest.mark.parametrize("content", ["Now:\n```\nsim resume", "```\ntask list\n```\n```\nsim resume"])
def test_a_fence_that_never_closes_refuses_the_whole_reply(content: str) -> None:
    plan = said(content)
    assert plan.calls == ()
    assert "never closes" in (plan.note or "")


@pytest.mark.parametrize(
    "opening", ['scratchpad write --content "plan:', "scratchpad append --content \\", "task list &&"]
)
def test_a_line_that_goes_on_takes_the_rest_with_it_so_that_text_never_becomes_a_command(opening: str) -> None:
    content = f'I note:\n{opening}\nsim resume\n" and so on'
    assert said(content).turn == (f'{opening}\nsim resume\n" and so on',)


def test_huge_texts_and_blocks_above_the_limit_are_refused() -> None:
    assert "at most 262144 are read" in (said("sim resume\n" * 30_000).note or "")
    plan = said("x\n" + "```\ntask list\n```\n" * 4, most=3)
    assert plan.turn == ("task list\n",) * 3
    assert "only the first 3" in (plan.calls[3].refusal or "")


def test_a_text_of_nothing_but_commands_is_told_by_the_commands_of_its_world() -> None:
    reply = ChatReply("task list; task assign --task-id T --employee-id E\n\nsim resume")
    grammar = grammar_for(load_config("classic-hard", environ={}).world)
    assert parse_reply(reply, mode="text", max_calls=5, grammar=grammar).turn == (reply.content,)
    by_line = parse_reply(reply, mode="text", max_calls=5)  # there is an error in it, so it may be anything
    assert by_line.turn == ("task list; task assign --task-id T --employee-id E", "sim resume")


@pytest.mark.parametrize(
    ("content", "kept"),
    [
        ("<think>a</think>b", "b"),
        ("a\n  <Reasoning>b\nc</reasoning>d", "a\nd"),
        ("a\n<thinking>b", "a\n"),
        ("a</think>\nb\n</thought>c", "c"),
        ("a\r\nb</think>\r\nc", "\nc"),
        ("a <b> thinks <think>", "a <b> thinks <think>"),
        ("I say <think>x</think> and go on", "I say <think>x</think> and go on"),
        (
            'scratchpad write --content "a\n</think>\nsim resume"',
            'scratchpad write --content "a\n</think>\nsim resume"',
        ),
    ],
)
def test_thoughts_that_begin_or_end_a_line_are_left_out(content: str, kept: str) -> None:
    assert without_thoughts(content) == kept
