"""Scripted models: what they read, what they say, and that a year with them ends."""

from __future__ import annotations

import json
from collections import Counter

import gymnasium
import pytest

from ycbench_agents import make_policy, rollout
from ycbench_agents.base import JsonObject
from ycbench_agents.llm.client import OpenAIChat
from ycbench_agents.llm.loopback import (
    FaultPlan,
    LoopbackServer,
    Model,
    ScriptedReply,
    chaotic_model,
    greedy_model,
    text_model,
)
from ycbench_agents.llm.policy import LLMPolicy
from ycbench_agents.llm.settings import LLMSettings
from ycbench_agents.rollout import Trajectory

TOOL: JsonObject = {
    "type": "function",
    "function": {"name": "run", "parameters": {"type": "object", "properties": {"line": {"type": "string"}}}},
}
IDLE = "Turn 2 | 2025-01-01T09:00:00 | tasks: 0 active, 0 planned | employees: 3"
BUSY = "Turn 3 | 2025-01-01T09:00:00 | tasks: 1 active, 0 planned | employees: 3"
MARKET = '{"total":71,"offset":0,"limit":1,"tasks":[{"task_id":"Task-10","reward_funds_cents":5}]}'
TAKE = ["task accept --task-id Task-10", "task assign --task-id Task-10 --employees Emp_1,Emp_2,Emp_3"]
START = ["task dispatch --task-id Task-10", "sim resume", "market browse --limit 1"]
LOOK = ["market browse --limit 1"]


def asked(*latest: str, tools: bool = True) -> JsonObject:
    before = "An older turn: " + MARKET.replace("10", "99")
    messages = [("system", f"Example:\n{MARKET}"), ("user", f"{BUSY}\n{before}"), ("assistant", "x")]
    listed = [{"role": role, "content": text} for role, text in [*messages, *(("user", text) for text in latest)]]
    body = {"model": "m", "messages": listed, **({"tools": [TOOL]} if tools else {})}
    return json.loads(json.dumps(body))


def commands(reply: ScriptedReply | JsonObject) -> list[str]:
    assert isinstance(reply, ScriptedReply)
    assert isinstance(reply.tool_calls, list)
    functions = [call["function"] for call in json.loads(json.dumps(reply.tool_calls))]
    assert {function["name"] for function in functions} <= {"run"}
    return [json.loads(function["arguments"])["line"] for function in functions]


# ---- greedy


@pytest.mark.parametrize(
    ("latest", "expected"),
    [
        ((IDLE,), LOOK),
        ((f"> market browse --limit 1\n{MARKET}", IDLE), [*TAKE, *START]),
        ((f"{IDLE}\n{json.dumps(json.loads(MARKET), indent=2)}",), [*TAKE, *START]),
        ((json.dumps([{"command": "market browse", "ok": True, "output": json.loads(MARKET)}]), IDLE), [*TAKE, *START]),
        ((MARKET, BUSY), ["sim resume", *LOOK]),
        ((MARKET[:-20], IDLE), LOOK),
        ((MARKET.replace('{"task_id":"Task-10","reward_funds_cents":5}', ""), IDLE), LOOK),
        ((MARKET,), ["company status", *LOOK]),
        ((), ["company status", *LOOK]),
        (('{"company_name":"x","tasks":{"active":0},"employees":3}', MARKET), [*TAKE, *START]),
    ],
    ids=range(10),
)
def test_greedy_acts_on_what_came_since_its_last_reply(latest: tuple[str, ...], expected: list[str]) -> None:
    assert commands(greedy_model(asked(*latest))) == expected
    assert greedy_model(asked(*latest, tools=False)) == ScriptedReply("\n".join(expected))


@pytest.mark.parametrize("model", [greedy_model, text_model, chaotic_model(3)], ids=["greedy", "text", "chaotic"])
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"messages": None, "tools": 3},
        {"messages": [None, {"role": "user", "content": [{"text": "{" * 50_000}]}], "tools": [{"function": None}]},
        {
            "messages": [
                {"role": "user", "content": '{"total":1,"offset":0,"tasks":[{"task_id":5}]}\n99999999999 active'}
            ]
        },
    ],
    ids=range(4),
)
def test_no_request_makes_a_model_raise(model: Model, body: JsonObject) -> None:
    assert isinstance(model(body), ScriptedReply)


def test_the_writing_model_writes_the_same_commands_in_several_manners() -> None:
    written = [text_model(asked(f"{IDLE}\n{MARKET}\n{number}", tools=False)).content for number in range(40)]
    assert all("\n".join([*TAKE, *START]) in str(text) for text in written)
    assert len({str(text).partition("task accept")[0] for text in written}) == 4


# ---- chaotic


def test_equal_seeds_and_requests_have_equal_replies_and_others_differ() -> None:
    requests = [asked(f"{IDLE}\n{number}") for number in range(40)]
    first, again, other = ([model(body) for body in requests] for model in map(chaotic_model, (1, 1, 2)))
    assert first == again
    assert first != other


def test_chaos_has_every_kind_of_trouble() -> None:
    replies = [chaotic_model(0)(asked(f"{IDLE}\n{MARKET}\n{number}")) for number in range(400)]
    kinds: Counter[str] = Counter()
    for reply in replies:
        assert isinstance(reply, ScriptedReply)
        listed = reply.tool_calls if isinstance(reply.tool_calls, list) else []
        calls = [call for call in listed if isinstance(call, dict)]
        ids = [call.get("id") for call in calls]
        functions = [f for f in (call.get("function") for call in calls) if isinstance(f, dict)]
        kinds["several"] += len(calls) > 1
        kinds["repeated ids"] += len(set(map(repr, ids))) < len(ids) and "" not in ids
        kinds["empty ids"] += "" in ids
        kinds["unknown tool"] += any(function.get("name") == "bash" for function in functions)
        kinds["decoded"] += any(isinstance(function.get("arguments"), dict) for function in functions)
        kinds["broken"] += any(function.get("arguments") == '{"command": "sim resume"' for function in functions)
        kinds["cut off"] += reply.finish_reason == "length"
        kinds["empty"] += not calls and not str(reply.content or "").strip() and not reply.more
        kinds["huge"] += len(str(reply.content)) > 50_000
        kinds["parts"] += isinstance(reply.content, list)
        kinds["reasoning"] += "reasoning_content" in reply.more
        kinds["older call"] += "function_call" in reply.more
    assert not [kind for kind, times in kinds.items() if times == 0]


# ---- whole years, over a real connection


def played(
    model: Model, settings: dict[str, object], faults: FaultPlan | None = None
) -> tuple[Trajectory, LoopbackServer]:
    async def no_sleep(_: float) -> None:
        pass

    with LoopbackServer(model, faults) as server:
        given = LLMSettings.from_mapping({"model": "m", "base_url": server.base_url, "timeout_s": 60, **settings})
        policy = LLMPolicy(OpenAIChat(given, environ={}, sleep=no_sleep), given)
        trajectory = rollout(gymnasium.make("YCBench-v0"), policy, seed=1, max_turns=1_000)
    assert trajectory.terminal_reason in {"bankruptcy", "horizon_end"}
    assert {logged.status for logged in server.requests if logged.fault is None} == {200}
    return trajectory, server


@pytest.mark.parametrize(
    ("model", "settings"),
    [
        (greedy_model, {"keep_turns": 20}),
        (greedy_model, {"keep_turns": 1}),
        (greedy_model, {"mode": "text", "keep_turns": 1}),
        (text_model, {"mode": "text"}),
    ],
    ids=["20 turns shown", "1 turn shown", "in writing", "in several manners"],
)
def test_a_greedy_model_ends_its_year_like_the_greedy_policy(model: Model, settings: dict[str, object]) -> None:
    trajectory, _ = played(model, settings)
    expected = rollout(gymnasium.make("YCBench-v0"), make_policy("greedy"), seed=1)
    assert [obs["funds_cents"] for obs in trajectory.observations] == [
        obs["funds_cents"] for obs in expected.observations
    ]


def test_a_year_of_chaos_ends_and_faults_change_nothing_in_it() -> None:
    calm, _ = played(chaotic_model(5), {"keep_turns": 2})
    stormy, server = played(chaotic_model(5), {"keep_turns": 2}, FaultPlan(rate=0.4, seed=3))
    assert stormy.actions == calm.actions
    assert stormy.final_funds_cents == calm.final_funds_cents
    assert len({type(logged.fault) for logged in server.requests}) > 4


def test_a_year_of_chaos_in_writing_ends() -> None:
    played(chaotic_model(6), {"mode": "text", "keep_turns": 2})
