"""LLMPolicy: asks, remembers, shrinks, stops and recalls (B06, B09, B22, B28, B41, B42)."""

# ruff: noqa: ANN401 -- wrapped environments and messages are of many shapes

from __future__ import annotations

import asyncio
import copy
import gc
import json
import pickle
from collections.abc import Callable
from typing import Any

import gymnasium
import pytest

from ycbench_agents import DeliberatingPolicy, PolicyStoppedError, rollout
from ycbench_agents.base import JsonObject
from ycbench_agents.files import FileError
from ycbench_agents.llm.client import ChatClient, ChatRequest, Completion, ContextLengthError, ModelError, Transport
from ycbench_agents.llm.loopback import LoopbackServer, greedy_model, request_problems
from ycbench_agents.llm.policy import LLMPolicy, make_llm_policy, recorded_settings
from ycbench_agents.llm.pricing import Price, Prices, TokenUsage
from ycbench_agents.llm.prompt import TemplateError
from ycbench_agents.llm.reply import ChatReply, ToolCall
from ycbench_agents.llm.settings import LLMSettings, LLMSettingsError
from ycbench_env import ConfigError, YCBenchEnv
from ycbench_env.wrappers import ContextTruncation, ScratchpadMemory, TextObservation, estimate_tokens, gone_marker

TRANSPORT = Transport(0.5, 1)
REFUSED = ModelError("HTTP 401: the key is refused", TRANSPORT)


def call(command: str, call_id: str = "call_0") -> ToolCall:
    return ToolCall(call_id, "run_command", json.dumps({"command": command}))


class Script:
    """A client that replies as a function of the request says (it may raise), and keeps what it was asked."""

    def __init__(self, reply: Callable[[ChatRequest], ChatReply]) -> None:
        self.requests: list[ChatRequest] = []
        self._reply = reply

    async def complete(self, request: ChatRequest) -> Completion:
        self.requests.append(copy.deepcopy(request))
        await asyncio.sleep(0)
        return Completion(self._reply(request), TRANSPORT)

    @property
    def sizes(self) -> list[int]:
        return [len(request.messages) for request in self.requests]


def saying(*commands: str, content: str | None = None) -> Script:
    calls = tuple(call(command, str(number)) for number, command in enumerate(commands))
    return Script(lambda _: ChatReply(content, calls, usage=TokenUsage(10, 5)))


def failing(error: BaseException) -> Script:
    def fail(_: ChatRequest) -> ChatReply:
        raise error

    return Script(fail)


def limited(most: list[int]) -> Script:
    """A client whose model takes at most so many messages."""

    def reply(request: ChatRequest) -> ChatReply:
        if len(request.messages) > most[0]:
            msg = f"at most {most[0]} messages"
            raise ContextLengthError(msg, Transport(1.0, 2, ("too long",)))
        return ChatReply(None, (call("task list"),))

    return Script(reply)


def settings(**changes: Any) -> LLMSettings:
    values: dict[str, Any] = {"model": "m", **changes}
    return LLMSettings(**values)


def made(client: ChatClient, chosen: LLMSettings, config: str = "default", prices: Prices | None = None) -> LLMPolicy:
    return LLMPolicy(chosen, config, prices, client)


def problems(messages: Any) -> list[str]:
    return request_problems({"model": "m", "messages": list(messages)})


def asked_turns(request: ChatRequest) -> list[int]:
    """The turns that a request shows, by the turn numbers that its user messages begin with."""
    said = [str(message["content"]) for message in request.messages if message["role"] == "user"]
    return [int(text.partition("Turn ")[2].partition(" ")[0]) for text in said]


def play(env: Any, policy: LLMPolicy, turns: int) -> list[Any]:
    observations = [env.reset(seed=1)[0]]
    policy.reset(1)
    for _ in range(turns):
        observations.append(env.step(policy.act(observations[-1]))[0])
    return observations


def test_the_policy_follows_the_protocol_and_plays_a_whole_episode() -> None:
    policy = made(saying("market browse --limit 1", "sim resume"), settings())
    trajectory = rollout(gymnasium.make("YCBench-v0"), policy, 1)
    assert isinstance(policy, DeliberatingPolicy)
    assert trajectory.terminal_reason == "bankruptcy"
    assert set(trajectory.actions) == {("market browse --limit 1", "sim resume")}


def test_a_request_holds_the_prompt_the_turns_and_the_tool() -> None:
    client = saying("market browse --limit 1", "sim resume")
    observations = play(YCBenchEnv(), made(client, settings()), 3)
    last: Any = client.requests[-1]
    assert [message["role"] for message in last.messages] == [
        "system", "user", "assistant", "tool", "tool", "user", "assistant", "tool", "tool", "user",
    ]  # fmt: skip
    assert "market browse" in last.messages[0]["content"]
    assert "your last 20 turns" in last.messages[0]["content"]
    assert last.messages[1]["content"] == observations[0]["text"]
    assert json.loads(last.messages[3]["content"]) == json.loads(observations[1]["results"])[0]["output"]
    assert last.messages[-1]["content"] == observations[2]["text"].partition("\n>")[0]
    assert last.tools[0]["function"]["name"] == "run_command"


def test_a_policy_knows_the_commands_of_its_configuration() -> None:
    said = "market browse --limit 1\n\ntask assign --task-id Task-1 --employee-id Emp_1"
    client = saying(content=said)
    policy = made(client, settings(mode="text"), "classic-hard")
    assert policy.act(YCBenchEnv("classic-hard").reset(seed=1)[0]) == (said,)
    system = str(client.requests[-1].messages[0]["content"])
    assert "\ntask assign --task-id TASK (--employees NAMES | --employee-id NAME)\n" in system
    assert "client" not in system


def test_without_tools_none_are_offered_and_the_text_is_run() -> None:
    client = saying(content="I look.\n```\nmarket browse --limit 1\nsim resume\n```")
    observations = play(YCBenchEnv(), made(client, settings(mode="text")), 2)
    assert client.requests[-1].tools == ()
    assert json.loads(observations[1]["results"])[0]["ok"]
    said: Any = client.requests[-1].messages[-1]["content"]
    assert said.startswith("Answers to your last turn:\n> market browse --limit 1\n{")
    assert "Turn 2 |" in said


@pytest.mark.parametrize("keep", [0, 1, 3, 50])
def test_exactly_the_last_turns_are_shown(keep: int) -> None:
    client = saying("task list")
    play(YCBenchEnv(), made(client, settings(keep_turns=keep)), 8)
    for number, request in enumerate(client.requests, start=1):
        assert asked_turns(request) == list(range(max(1, number - keep), number + 1))
        assert problems(request.messages) == []
        said = json.dumps(request.messages[1:])
        assert said.count(" gone]") == (number > keep + 1)


@pytest.mark.parametrize(("keep", "budget"), [(0, None), (1, None), (3, None), (3, 6000), (None, 4000)])
def test_memory_does_not_grow_with_the_episode_and_the_count_of_gone_turns_stays_true(
    keep: int | None, budget: int | None
) -> None:
    client = saying("market browse --limit 3")
    policy = made(client, settings(keep_turns=keep, token_budget=budget))
    kept: list[int] = []
    env = YCBenchEnv()
    observation = env.reset(seed=1)[0]
    for number in range(1, 31):
        observation = env.step(policy.act(observation))[0]
        assert policy._last is not None
        kept.append(len(policy._last[0].exchanges.turns))
        request = client.requests[-1]
        gone = number - len(asked_turns(request))
        said: Any = request.messages[1]["content"]
        assert said.startswith(gone_marker(gone))
        assert (" gone]" in said) == (gone > 0)
    assert max(kept) == kept[15] == kept[-1] < 16
    assert keep is None or max(kept) == keep


def test_a_budget_bounds_the_whole_request_while_any_turn_is_shown() -> None:
    client = saying("market browse --limit 3", "client list")
    play(YCBenchEnv(), made(client, settings(token_budget=4000, keep_turns=None)), 12)
    shown = [len(asked_turns(request)) for request in client.requests]
    assert 2 < max(shown) < 12
    for request in client.requests:
        everything = json.dumps([*request.messages, *request.tools], ensure_ascii=False)
        assert estimate_tokens(everything) <= 4000
        assert problems(request.messages) == []


def test_a_budget_below_the_system_prompt_is_refused() -> None:
    with pytest.raises(LLMSettingsError, match=r"token_budget: got 1, expected at least \d+"):
        made(saying("x"), settings(token_budget=1))


@pytest.mark.parametrize("keep", [0, 2])
def test_notes_are_shown_as_they_stand_at_every_window(keep: int) -> None:
    env = ScratchpadMemory(YCBenchEnv())
    number = iter(range(1000))
    client = Script(
        lambda _: ChatReply(
            None, (call("scratchpad write --content no"), call(f"scratchpad write --content n{next(number)}"))
        )
    )
    policy = made(client, settings(keep_turns=keep))
    observations = play(env, policy, 6)
    for turn, request in enumerate(client.requests):
        system: Any = request.messages[0]["content"]
        assert system.endswith(f"\nn{turn - 1}" if turn else "There are none yet.")
        assert json.dumps(request.messages).count("Your notes") == 1
    observation, _ = env.reset(seed=2, options={"keep_scratchpad": True})
    policy.reset(2)
    listed: Any = policy.messages(observation)
    assert listed[0]["content"].endswith("\nn5")
    assert len(listed) == 2
    assert observations[-1]["notes"] == "n5"


def test_reset_forgets_everything() -> None:
    fresh, used = saying("task list"), saying("task list")
    policy = made(used, settings())
    play(YCBenchEnv(), policy, 4)
    policy.reset(1)
    assert policy.last_messages == ()
    used.requests.clear()
    play(YCBenchEnv(), policy, 2)
    play(YCBenchEnv(), made(fresh, settings()), 2)
    assert used.requests == fresh.requests


def test_an_observation_of_another_episode_without_reset_is_an_error() -> None:
    env = YCBenchEnv()
    policy = made(saying("task list"), settings())
    play(env, policy, 3)
    with pytest.raises(ValueError, match="got turn 1 after turn 3 was decided; reset the policy"):
        policy.act(env.reset(seed=1)[0])


@pytest.mark.parametrize("wrap", [ContextTruncation, TextObservation])
def test_an_observation_that_hides_the_answers_is_an_error(wrap: Any) -> None:
    observation, _ = wrap(YCBenchEnv()).reset(seed=1)
    with pytest.raises(ValueError, match=r"got a (dict with the keys|str).*without ContextTruncation and TextObserv"):
        made(saying("task list"), settings()).act(observation)


# ---- refusals and the end


def test_what_is_wrong_is_answered_with_its_id_and_changes_nothing() -> None:
    bad = ["", "null", "[]", '"sim resume"', '{"command": null}', '{"cmd": "sim resume"}', "{", "{}{}", '{}""']
    calls = tuple(ToolCall(f"id{number}", "run_command", text) for number, text in enumerate(bad))
    calls = (*calls, ToolCall("dict", "run_command", {"command": "sim resume"}), ToolCall("x", "bash", "{}"))
    client = Script(lambda _: ChatReply(None, calls))
    env = YCBenchEnv()
    env.reset(seed=1)
    digest = env.state_hash()
    play(env, made(client, settings()), 2)
    assert env.state_hash() == digest
    answers: Any = [message for message in client.requests[-1].messages if message["role"] == "tool"]
    assert [answer["tool_call_id"] for answer in answers] == [each.id for each in calls]
    assert all("expected one JSON object" in json.loads(answer["content"])["error"] for answer in answers)
    assert problems(client.requests[-1].messages) == []


# ---- context, faults


def test_a_request_that_is_too_long_is_asked_again_with_half_of_its_turns() -> None:
    client = limited([9])  # the system, two turns of 3 and the present
    policy = made(client, settings())
    env = YCBenchEnv()
    observation = play(env, policy, 3)[-1]
    assert client.sizes == [2, 5, 8]
    decision = asyncio.run(policy.decide(observation))
    assert client.sizes[3:] == [11, 5]
    assert decision.trace["shrunk_to"] == 1
    assert decision.transport == {"latency_s": 1.5, "attempts": 3, "faults": ["too long"]}
    observation, *_ = env.step(decision.turn)
    decision = asyncio.run(policy.decide(observation))
    assert client.sizes[5:] == [5]  # the smaller window stays
    assert decision.trace["shrunk_to"] == 1
    assert decision.transport == {"latency_s": 0.5, "attempts": 1, "faults": []}
    assert "your last turn." in str(policy.last_messages[0]["content"])
    policy.reset(1)
    play(env, policy, 3)
    assert client.sizes[-1] == 8  # an episode of its own begins with the whole window


def test_a_request_that_stays_too_long_stops_the_policy_as_it_was() -> None:
    most = [99]
    client = limited(most)
    policy = made(client, settings())
    observation = play(YCBenchEnv(), policy, 6)[-1]
    before, last = policy.messages(observation), policy.last_messages
    most[0] = 3
    with pytest.raises(PolicyStoppedError, match="too long for the model even with 3 earlier turns in it: at most 3"):
        policy.act(observation)
    assert client.sizes[-2:] == [20, 11]
    assert policy.messages(observation) == before
    assert policy.last_messages == last
    most[0] = 20
    assert asyncio.run(policy.decide(observation)).trace["shrunk_to"] is None


@pytest.mark.parametrize(
    ("error", "seen"), [(REFUSED, PolicyStoppedError), (asyncio.CancelledError("ended"), asyncio.CancelledError)]
)
def test_a_decision_that_fails_leaves_the_policy_as_it_was(error: BaseException, seen: type[BaseException]) -> None:
    policy = made(saying("task list"), settings())
    observation = play(YCBenchEnv(), policy, 2)[-1]
    before, good = policy.messages(observation), policy._client
    policy._client = failing(error)
    for _ in range(2):
        with pytest.raises(seen, match=str(error)):
            asyncio.run(policy.decide(observation))
    policy._client = good
    policy.act(observation)
    assert policy.last_messages == before  # one message of the user a turn, however often it was tried


def test_act_inside_a_running_loop_names_the_way_out() -> None:
    policy = made(saying("task list"), settings())
    observation, _ = YCBenchEnv().reset(seed=1)

    async def act() -> None:
        policy.act(observation)

    with pytest.raises(RuntimeError, match=r"use `await policy\.decide"):
        asyncio.run(act())


def test_act_keeps_one_loop_for_all_turns_and_closes_it_in_the_end() -> None:
    loops: list[asyncio.AbstractEventLoop] = []

    def watch(_: ChatRequest) -> ChatReply:
        loops.append(asyncio.get_running_loop())
        return ChatReply(None, (call("task list"),))

    policy = made(Script(watch), settings())
    play(YCBenchEnv(), policy, 3)
    assert len(loops) == 3
    assert len(set(loops)) == 1
    assert not loops[0].is_closed()
    policy.close()
    policy.close()
    assert loops[0].is_closed()
    play(YCBenchEnv(), policy, 1)
    assert not loops[3].is_closed()
    del policy
    gc.collect()
    assert loops[3].is_closed()


# ---- traces


def recorded(policy: LLMPolicy, turns: int) -> tuple[list[Any], list[Any]]:
    env = YCBenchEnv()
    observations: list[Any] = [env.reset(seed=1)[0]]
    decisions: list[Any] = []
    policy.reset(1)
    for _ in range(turns):
        decisions.append(asyncio.run(policy.decide(observations[-1])))
        observations.append(env.step(decisions[-1].turn)[0])
    return observations, decisions


def test_recall_decides_the_same_and_leaves_the_same_policy_also_after_shrinking() -> None:
    policy = made(limited([9]), settings())
    observations, decisions = recorded(policy, 7)
    assert decisions[-1].trace["shrunk_to"] == 1
    reader = made(failing(REFUSED), settings())
    for observation, decision in zip(observations, decisions, strict=False):
        trace: JsonObject = json.loads(json.dumps(decision.trace))
        assert reader.recall(observation, trace) == decision.turn
    assert reader.last_messages == policy.last_messages
    assert reader.messages(observations[-1]) == policy.messages(observations[-1])
    assert reader._last == policy._last


def test_recall_refuses_a_trace_of_another_history() -> None:
    observations, decisions = recorded(made(saying("task list"), settings()), 2)
    other = made(failing(REFUSED), settings(keep_turns=3))
    with pytest.raises(ValueError, match=r"trace of turn 1: recorded for messages with SHA-256 [0-9a-f]{64}, but this"):
        other.recall(observations[0], decisions[0].trace)
    reader = made(failing(REFUSED), settings())
    reader.recall(observations[0], decisions[0].trace)
    before = reader._last
    with pytest.raises(ValueError, match="trace of turn 2"):
        reader.recall(observations[1], decisions[0].trace)
    with pytest.raises(ValueError, match="reply is missing"):
        reader.recall(observations[1], {"messages_sha256": "0" * 64, "shrunk_to": None})
    assert reader._last == before


def test_the_cost_is_that_of_the_model_that_was_asked_and_unknown_without_its_price() -> None:
    price = Price(1.0, 2.0, "2026-01-01")
    usage = TokenUsage(1_000_000, 500_000)

    def cost(prices: Prices | None, answered: str | None) -> object:
        policy = made(Script(lambda _: ChatReply("x", usage=usage, model=answered)), settings(), prices=prices)
        return asyncio.run(policy.decide(YCBenchEnv().reset(seed=1)[0])).trace["cost_usd"]

    assert cost(Prices({"m": price}), "other") == 2.0
    assert cost(Prices({"other": price}), "other") is None  # a record keeps the price of the model that was asked
    assert cost(None, "m") is None


def test_what_a_caller_does_to_messages_changes_nothing() -> None:
    policy = made(saying("task list"), settings())
    observation = play(YCBenchEnv(), policy, 1)[-1]
    kept = json.dumps(policy.last_messages)
    policy.last_messages[0]["content"] = "changed"
    policy.messages(observation)[0]["content"] = "changed"
    assert json.dumps(policy.last_messages) == kept


def test_a_policy_can_be_copied_and_pickled_in_the_middle_of_an_episode() -> None:
    with LoopbackServer(greedy_model) as server:
        policy = make_llm_policy("greedy", base_url=server.base_url)
        observation = play(YCBenchEnv(), policy, 3)[-1]
        twins = (copy.deepcopy(policy), copy.copy(policy), pickle.loads(pickle.dumps(policy)))  # noqa: S301 -- its own
        assert len({each.act(observation) for each in (policy, *twins)}) == 1
        assert len({json.dumps(each.last_trace) for each in (policy, *twins)}) == 1
        for each in (policy, *twins):
            each.close()


def test_the_seed_of_the_episode_reaches_neither_prompt_nor_request() -> None:
    clients = [saying("task list"), saying("task list")]
    for seed, client in zip((1, 2**63), clients, strict=True):
        policy = made(client, settings())
        policy.reset(seed)
        policy.act(YCBenchEnv().reset(seed=1)[0])
    assert clients[0].requests == clients[1].requests


def test_a_record_holds_the_settings_and_the_price_and_no_header_value() -> None:
    chosen = settings(extra_headers={"X-Key": "secret"}, temperature=1, replay_reasoning=["reasoning"])
    policy = made(saying(), chosen, prices=Prices({"m": Price(0.1, 2.0, "2026-01-01", aliases=("n",))}))
    record: JsonObject = json.loads(json.dumps(policy.public_settings))
    assert "secret" not in json.dumps(record)
    assert record["extra_headers"] == ["X-Key"]
    again, prices = recorded_settings(record, headers={"X-Key": "secret"})
    assert again == chosen
    assert made(saying(), again, prices=prices).public_settings == record
    old: JsonObject = {**record, "backoff_s": 1.0, "retry_after_cap_s": 120.0}
    old["price"] = {"prompt": "0.10", "cached_prompt": None, "completion": "2.00", "as_of": "2026-01-01"}
    _, prices = recorded_settings(old)
    assert prices.find("m") == Price(0.1, 2.0, "2026-01-01")
    with pytest.raises(FileError, match="temperature"):
        recorded_settings({**record, "temperature": "hot"})


def test_openai_without_a_key_is_refused_when_the_policy_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ModelError, match="the environment variable OPENAI_API_KEY is not set or empty"):
        make_llm_policy("gpt-4.1-mini")


def test_a_template_or_configuration_that_cannot_be_used_is_told_at_once() -> None:
    with pytest.raises(TemplateError, match="wrong"):
        made(saying(), settings(system_prompt="{wrong}"))
    with pytest.raises(ConfigError, match="nowhere"):
        made(saying(), settings(), config="nowhere")
