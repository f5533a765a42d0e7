"""Language-model policies hold their promises for any reply: a scripted model plays the real environment."""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
from typing import Any, Final

from chats import call, problems
from gymnasium import Env
from hypothesis import given, settings
from hypothesis import strategies as st

from ycbench_agents.base import Decision
from ycbench_agents.llm.client import ChatRequest, Completion, ContextLengthError, Transport
from ycbench_agents.llm.conversation import Exchange, answers_by_call, messages, prompt_sha256
from ycbench_agents.llm.policy import LLMPolicy
from ycbench_agents.llm.pricing import TokenUsage
from ycbench_agents.llm.reply import (
    MAX_REPLAYED_ARGUMENTS,
    ChatReply,
    Plan,
    ToolCall,
    parse_reply,
    reply_from_json,
    reply_to_json,
)
from ycbench_agents.llm.settings import LLMSettings, Mode
from ycbench_env import YCBenchEnv
from ycbench_env.actions import format_command, parse_turn
from ycbench_env.testing import hostile_texts
from ycbench_env.testing.conformance import QUERIES, REFUSED
from ycbench_env.types.command import AppendScratchpad, WriteScratchpad
from ycbench_env.wrappers import ScratchpadMemory, Window, window

MODES: Final[tuple[Mode, ...]] = ("tools", "text")
COMMANDS: Final = (
    *("sim resume", "market browse --limit 3", "task list && company status; client list", "# nothing"),
    *("scratchpad write --content 'a\nb'", "```\ntask list\nsim resume\n```", "`task list`", "task list \\", ""),
    "task accept --task-id Task-8\ntask assign --task-id Task-8 --employees Emp_1\ntask dispatch --task-id Task-8",
)
BROKEN: Final = ("", "null", "[]", '"x"', "{", '{"command": null}', '{"cmd": "sim resume"}', "{}{}", '{}""', "\ud800")
WHOLE: Final = ("stop", "tool_calls", None, "Tool_Use")
FINISHES: Final = (*WHOLE, "length", "content_filter", "model_length", "\ud800")

TEXTS = hostile_texts() | st.sampled_from(COMMANDS) | st.sampled_from(REFUSED)
ARGUMENTS: st.SearchStrategy[Any] = (
    TEXTS.map(lambda text: json.dumps({"command": text}))
    | st.sampled_from(BROKEN)
    | TEXTS
    | st.sampled_from(["task list", "scratchpad append --content ", "\x01\ud800", "\U0001f642"]).map(
        lambda text: json.dumps({"command": f"task list # {text * 5000}"})
    )
    | st.sampled_from([None, {"command": "sim resume"}, ["sim resume"], 3, float("nan")])
)
CALLS = st.builds(
    ToolCall,
    id=st.sampled_from(["", "call_0", "call_1", "call_2", " ", "\ud800", "\ud83d\ude42", "x", "a\n", "x" * 999]),
    name=st.sampled_from(["run_command", "run_command", "run_command", "bash", "", "a b\ud800"]),
    arguments=ARGUMENTS,
)
PIECES = TEXTS | st.sampled_from(["```\n", "\n```\n", "<think>", "</think>", "I look.\n", "yc-bench ", "\n"])
REPLIES = st.builds(
    ChatReply,
    content=st.none() | st.lists(PIECES, max_size=4).map("".join),
    tool_calls=st.lists(CALLS, max_size=5).map(tuple),
    finish_reason=st.sampled_from(FINISHES),
    reasoning=st.sampled_from([{}, {"reasoning_content": "a\ud800"}, {"reasoning": ["x"], "reasoning_content": ""}]),
)


@given(REPLIES, st.integers(1, 4))
def test_each_call_is_run_or_refused_and_only_what_is_exactly_right_is_run(reply: ChatReply, most: int) -> None:
    plan = parse_reply(reply, mode="tools", max_calls=most)
    assert len(plan.calls) == len(reply.tool_calls)
    for number, (sent, planned) in enumerate(zip(reply.tool_calls, plan.calls, strict=True)):
        right = False
        if isinstance(sent.arguments, str) and sent.name == "run_command" and number < most:
            try:
                decoded = json.loads(sent.arguments)
            except ValueError:
                decoded = None
            right = isinstance(decoded, dict) and list(decoded) == ["command"] and isinstance(decoded["command"], str)
            right = right and bool(parse_turn(dict(decoded or {})["command"]))
        right = right and reply.finish_reason in WHOLE
        assert bool(planned.texts) == right == (planned.refusal is None)
        assert isinstance(json.loads(planned.arguments), dict)
    assert len({planned.id for planned in plan.calls}) == len(plan.calls)
    assert all(planned.id.strip() and planned.id.isprintable() and len(planned.id) <= 256 for planned in plan.calls)
    assert sum(len(planned.arguments) for planned in plan.calls) <= MAX_REPLAYED_ARGUMENTS + 64 * len(plan.calls)
    assert plan.turn == tuple(text for planned in plan.calls for text in planned.texts)
    assert all(text.encode() for text in plan.turn)


@given(REPLIES)
def test_a_model_without_tools_is_never_run_when_cut_off_and_each_of_its_texts_has_a_command(reply: ChatReply) -> None:
    plan = parse_reply(reply, mode="text", max_calls=50)
    assert all(parse_turn(text) for text in plan.turn)
    assert all(text.encode() for text in plan.turn)  # UTF-8 can hold it
    assert bool(plan.calls) or bool(plan.note)
    if reply.finish_reason not in WHOLE:
        assert plan.turn == ()


QUOTED = st.lists(hostile_texts() | st.sampled_from(["\nsim resume\n", "\n", '"', "'"]), max_size=6).map("".join)


@given(QUOTED, st.sampled_from(["write", "append"]), st.booleans(), st.booleans())
def test_quoted_text_never_becomes_a_command(text: str, verb: str, fenced: bool, thinks: bool) -> None:
    kind = WriteScratchpad if verb == "write" else AppendScratchpad
    written = format_command(kind(text))
    expected = [parsed.command for parsed in parse_turn(written)]
    content = f"I note:\n{'`' * 30}\n{written}\n{'`' * 30}\n" if fenced else written
    thought = "<think>\nsim resume\n</think>\n" if thinks else ""
    plan = parse_reply(ChatReply(thought + content), mode="text", max_calls=5)
    assert [parsed.command for parsed in parse_turn(plan.turn)] == expected


@settings(max_examples=40)
@given(st.lists(REPLIES, max_size=6), st.sampled_from(MODES), st.none() | st.integers(0, 3000))
def test_messages_are_valid_at_every_window_and_budget(
    replies: list[ChatReply], mode: Mode, budget: int | None
) -> None:
    env = ScratchpadMemory(YCBenchEnv())
    env.reset(seed=1)
    exchanges: list[Exchange] = []
    for number, sent in enumerate(replies):
        reply = reply_from_json(reply_to_json(sent))
        plan = parse_reply(reply, mode=mode, max_calls=3)
        observation, *_ = env.step(plan.turn)
        answers = answers_by_call(plan, observation["results"])
        check_answers(plan, answers, json.loads(observation["results"]))
        exchanges.append(Exchange(f"status {number}", reply, plan, answers))
    last = exchanges[-1] if exchanges else None
    for keep in (*range(len(exchanges) + 1), None):
        view = window(exchanges, keep_turns=keep, token_budget=budget, count_tokens=lambda turn: len(repr(turn)) // 4)
        listed = messages("s", view, "now", last, mode=mode, replay_reasoning=("reasoning_content",))
        assert problems(listed) == []
        assert sum(message["role"] == "assistant" for message in listed) == len(view.turns)
        ids = [message["tool_call_id"] for message in listed if message["role"] == "tool"]
        assert ids == ([call.id for turn in view.turns for call in turn.plan.calls] if mode == "tools" else [])
    assert messages("s", Window((), 0), "now", mode=mode)[1]["content"] == "now"


def check_answers(plan: Plan, answers: Any, results: list[Any]) -> None:  # noqa: ANN401 -- short here
    """Each call has its own answers, and all together are those of the turn, in order."""
    assert len(answers) == len(plan.calls)
    own = iter(results)
    for planned, given_answers in zip(plan.calls, answers, strict=True):
        if planned.refusal is not None:
            assert [json.loads(answer.output) for answer in given_answers] == [{"error": planned.refusal}]
            continue
        for answer in given_answers:
            entry = next(own)
            assert (answer.command, json.loads(answer.output)) == (entry["command"], entry["output"])
    assert list(own) == []


class Model:
    """A scripted model: what it replies is a pure function of the request; too long a request is refused."""

    def __init__(self, seed: int, replies: list[ChatReply], most_messages: int) -> None:
        self.seed, self.replies, self.most = seed, replies, most_messages

    async def complete(self, request: ChatRequest) -> Completion:
        assert problems(request.messages) == []
        if len(request.messages) > self.most:
            msg = "too long"
            raise ContextLengthError(msg, Transport(0.0, 1))
        digest = hashlib.sha256(f"{self.seed} {prompt_sha256(request.messages)}".encode()).digest()
        rng = random.Random(digest)  # noqa: S311 -- a play, no secret
        if rng.random() < 0.3:
            return Completion(rng.choice(self.replies), Transport(0.1, 1))
        commands = rng.choices([*QUERIES, *COMMANDS, "sim resume", "sim resume"], k=rng.randint(1, 3))
        calls = tuple(call(text) for text in commands)
        text = "\n".join(["I act.", "```", *commands, "```"])
        return Completion(ChatReply(text, calls, usage=TokenUsage(rng.randrange(100), 1)), Transport(0.1, 1))


@settings(max_examples=8)
@given(
    seed=st.integers(0, 10**6),
    replies=st.lists(REPLIES, min_size=1, max_size=3),
    mode=st.sampled_from(MODES),
    keep=st.sampled_from([0, 1, 3, 20, None]),
    budget=st.sampled_from([None, None, 6000]),
    reasoning=st.sampled_from([(), ("reasoning_content", "reasoning")]),
)
def test_whole_episodes_are_recalled_exactly(  # noqa: PLR0913 -- drawn
    seed: int,
    replies: list[ChatReply],
    mode: Mode,
    keep: int | None,
    budget: int | None,
    reasoning: tuple[str, ...],
) -> None:
    chosen = LLMSettings(model="m", mode=mode, keep_turns=keep, token_budget=budget, replay_reasoning=reasoning)
    most = 60 if mode == "tools" else 25
    config = {"loop": {"max_turns": 40}}

    def environment() -> Env[Any, Any]:
        return ScratchpadMemory(YCBenchEnv(config))

    player = LLMPolicy(chosen, client=Model(seed, replies, most))
    again = LLMPolicy(chosen, client=Model(seed, replies, most))
    first = asyncio.run(played(environment(), player, seed))
    assert asyncio.run(played(environment(), again, seed)) == first
    reader = LLMPolicy(chosen, client=Model(seed, replies, 0))
    env = environment()
    observation, _ = env.reset(seed=seed)
    reader.reset(seed)
    for decision in first:
        turn = reader.recall(observation, json.loads(json.dumps(decision.trace)))
        assert turn == decision.turn
        observation, *_ = env.step(turn)
    assert len(first) > 3
    assert reader.last_messages == player.last_messages
    assert reader.last_trace == player.last_trace
    assert reader._last == player._last


async def played(env: Env[Any, Any], policy: LLMPolicy, seed: int) -> list[Decision]:
    """The decisions of an episode."""
    observation, _ = env.reset(seed=seed)
    policy.reset(seed)
    decisions: list[Decision] = []
    over = False
    while not over:
        decisions.append(await policy.decide(observation))
        observation, _, terminated, truncated, _ = env.step(decisions[-1].turn)
        over = terminated or truncated
    return decisions
