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

import pytest
from chats import call, problems

from ycbench_agents import DeliberatingPolicy, PolicyStoppedError
from ycbench_agents.files import FileError
from ycbench_agents.llm.client import ChatRequest, Completion, ContextLengthError, ModelError, Transport
from ycbench_agents.llm.loopback import LoopbackServer, greedy_model
from ycbench_agents.llm.policy import LLMPolicy, make_llm_policy, recorded_settings
from ycbench_agents.llm.pricing import Price, Prices, TokenUsage
from ycbench_agents.llm.prompt import TemplateError
from ycbench_agents.llm.reply import ChatReply
from ycbench_agents.llm.settings import LLMSettings, LLMSettingsError
from ycbench_env import ConfigError, YCBenchEnv
from ycbench_env.text import JsonObject
from ycbench_env.wrappers import ContextTruncation, ScratchpadMemory, TextObservation, gone_marker

REFUSED = ModelError("HTTP 401: the key is refused", Transport(0.5, 1))


class Script:
    """A client that replies as a function of the request says (it may raise), and keeps what it was asked."""

    def __init__(self, reply: Callable[[ChatRequest], ChatReply]) -> None:
        self.requests: list[ChatRequest] = []
        self.reply = reply

    async def complete(self, request: ChatRequest) -> Completion:
        self.requests.append(copy.deepcopy(request))
        await asyncio.sleep(0)
        return Completion(self.reply(request), Transport(0.5, 1))

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


def made(
    client: Script | None = None, config: str = "default", prices: Prices | None = None, **changes: Any
) -> LLMPolicy:
    return LLMPolicy(LLMSettings(model="m", **changes), config, prices, client or saying("task list"))


def play(env: Any, policy: LLMPolicy, turns: int) -> list[Any]:
    """Observations before each turn and after the last."""
    observations = [env.reset(seed=1)[0]]
    policy.reset(1)
    for _ in range(turns):
        observations.append(env.step(policy.act(observations[-1]))[0])
    return observations


def first_observation(config: str = "default") -> Any:
    return YCBenchEnv(config).reset(seed=1)[0]


# ---- what is asked


def test_a_request_holds_the_prompt_the_turns_and_the_tool() -> None:
    client = saying("market browse --limit 1", "sim resume")
    policy = made(client)
    assert isinstance(policy, DeliberatingPolicy)
    observations = play(YCBenchEnv(), policy, 3)
    last: Any = client.requests[-1]
    turn = ["user", "assistant", "tool", "tool"]
    assert [message["role"] for message in last.messages] == ["system", *turn, *turn, "user"]
    assert "market browse" in last.messages[0]["content"]
    assert "your last 20 turns" in last.messages[0]["content"]
    assert last.messages[1]["content"] == observations[0]["text"]
    assert json.loads(last.messages[3]["content"]) == json.loads(observations[1]["results"])[0]["output"]
    assert last.messages[-1]["content"] == observations[2]["text"].partition("\n>")[0]
    assert last.tools[0]["function"]["name"] == "run_command"


def test_a_policy_knows_the_commands_of_its_configuration_and_offers_no_tools_in_text_mode() -> None:
    said = "market browse --limit 1\n\ntask assign --task-id Task-1 --employee-id Emp_1"
    client = saying(content=said)
    assert made(client, "classic-hard", mode="text").act(first_observation("classic-hard")) == (said,)
    system = str(client.requests[-1].messages[0]["content"])
    assert "\ntask assign --task-id TASK (--employees NAMES | --employee-id NAME)\n" in system
    assert "client" not in system
    assert client.requests[-1].tools == ()


@pytest.mark.parametrize(("keep", "budget"), [(0, None), (1, None), (3, None), (3, 6000), (None, 4000), (50, None)])
def test_the_last_turns_are_shown_within_both_limits_and_only_they_are_kept(
    keep: int | None, budget: int | None
) -> None:
    client = saying("market browse --limit 3")
    policy = made(client, keep_turns=keep, token_budget=budget)
    kept: list[int] = []
    env, observation = YCBenchEnv(), first_observation()
    env.reset(seed=1)
    for number in range(1, 31):
        observation = env.step(policy.act(observation))[0]
        assert policy._last is not None
        kept.append(len(policy._last[0].exchanges.turns))
        request = client.requests[-1]
        assert problems(request.messages) == []
        said = [str(message["content"]) for message in request.messages if message["role"] == "user"]
        turns = [int(text.partition("Turn ")[2].partition(" ")[0]) for text in said]
        gone = number - len(turns)
        assert turns == list(range(gone + 1, number + 1))
        assert said[0].startswith(gone_marker(gone))
        assert sum(" gone]" in text for text in said) == (gone > 0)
        if budget is None:
            assert gone == max(0, number - 1 - (keep or 0))
        else:
            assert len(json.dumps([*request.messages, *request.tools], ensure_ascii=False)) <= 4 * budget
    assert max(kept) <= (16 if keep is None else keep)


@pytest.mark.parametrize("keep", [0, 2])
def test_notes_are_shown_as_they_stand_at_every_window(keep: int) -> None:
    env, number = ScratchpadMemory(YCBenchEnv()), iter(range(1000))
    client = Script(lambda _: ChatReply(None, (call(f"scratchpad write --content n{next(number)}"),)))
    policy = made(client, keep_turns=keep)
    play(env, policy, 6)
    for turn, request in enumerate(client.requests):
        assert str(request.messages[0]["content"]).endswith(f"\nn{turn - 1}" if turn else "There are none yet.")
        assert json.dumps(request.messages).count("Your notes") == 1
    observation, _ = env.reset(seed=2, options={"keep_scratchpad": True})
    policy.reset(2)
    assert str(policy.messages(observation)[0]["content"]).endswith("\nn5")


def test_reset_forgets_everything_and_its_seed_reaches_no_request() -> None:
    client = saying("task list")
    policy = made(client)
    play(YCBenchEnv(), policy, 4)
    policy.reset(2**63)
    assert policy.last_messages == ()
    assert policy.act(first_observation()) == ("task list",)
    assert client.requests[0] == client.requests[-1]


@pytest.mark.parametrize("wrap", [ContextTruncation, TextObservation])
def test_an_observation_that_does_not_belong_here_is_an_error(wrap: Any) -> None:
    observation, _ = wrap(YCBenchEnv()).reset(seed=1)
    with pytest.raises(ValueError, match=r"got a (dict with the keys|str).*without ContextTruncation and TextObserv"):
        made().act(observation)
    policy = made()
    play(YCBenchEnv(), policy, 3)
    with pytest.raises(ValueError, match="got turn 1 after turn 3 was decided; reset the policy"):
        policy.act(first_observation())
    policy.close()  # an error's traceback keeps a policy alive


# ---- context, faults


def test_a_request_that_is_too_long_is_asked_again_with_half_of_its_turns() -> None:
    client = limited([9])  # the system, two turns of 3 and the present
    policy, env = made(client), YCBenchEnv()
    observation = play(env, policy, 3)[-1]
    assert client.sizes == [2, 5, 8]
    decision = asyncio.run(policy.decide(observation))
    assert client.sizes[3:] == [11, 5]
    assert decision.trace["shrunk_to"] == 1
    assert decision.transport == {"latency_s": 1.5, "attempts": 3, "faults": ["too long"]}
    observation, *_ = env.step(decision.turn)
    assert asyncio.run(policy.decide(observation)).trace["shrunk_to"] == 1
    assert client.sizes[5:] == [5]  # the smaller window stays
    assert "your last turn." in str(policy.last_messages[0]["content"])
    play(env, policy, 3)
    assert client.sizes[-1] == 8  # an episode of its own begins with the whole window


def test_a_request_that_stays_too_long_stops_the_policy_as_it_was() -> None:
    most = [99]
    client = limited(most)
    policy = made(client)
    observation = play(YCBenchEnv(), policy, 6)[-1]
    before, last = policy.messages(observation), policy.last_messages
    most[0] = 3
    with pytest.raises(
        PolicyStoppedError, match="too long for the model even with only 3 earlier turns in it: at most"
    ):
        policy.act(observation)
    assert client.sizes[-2:] == [20, 11]
    assert (policy.messages(observation), policy.last_messages) == (before, last)
    most[0] = 20
    assert asyncio.run(policy.decide(observation)).trace["shrunk_to"] is None
    policy.close()


@pytest.mark.parametrize(
    ("error", "seen"), [(REFUSED, PolicyStoppedError), (asyncio.CancelledError("ended"), asyncio.CancelledError)]
)
def test_a_decision_that_fails_leaves_the_policy_as_it_was(error: BaseException, seen: type[BaseException]) -> None:
    client = saying("task list")
    policy = made(client)
    observation = play(YCBenchEnv(), policy, 2)[-1]
    before, good = policy.messages(observation), client.reply
    client.reply = failing(error).reply
    for _ in range(2):
        with pytest.raises(seen, match=str(error)):
            asyncio.run(policy.decide(observation))
    client.reply = good
    policy.act(observation)
    assert policy.last_messages == before  # one message of the user a turn, however often it was tried
    policy.close()


def test_act_inside_a_running_loop_names_the_way_out() -> None:
    async def act() -> None:
        made().act(first_observation())

    with pytest.raises(RuntimeError, match=r"use `await policy\.decide"):
        asyncio.run(act())


def test_act_keeps_one_loop_for_all_turns_and_closes_it_in_the_end() -> None:
    loops: list[asyncio.AbstractEventLoop] = []

    def watch(_: ChatRequest) -> ChatReply:
        loops.append(asyncio.get_running_loop())
        return ChatReply(None, (call("task list"),))

    policy = made(Script(watch))
    play(YCBenchEnv(), policy, 3)
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


def test_a_policy_that_is_dropped_while_another_loop_runs_closes_its_own(recwarn: pytest.WarningsRecorder) -> None:
    async def drop() -> None:
        policies.clear()
        gc.collect()
        while not loop.is_closed():  # noqa: ASYNC110 -- another thread closes it
            await asyncio.sleep(0.001)

    with LoopbackServer(greedy_model) as server:
        policies = [make_llm_policy("greedy", base_url=server.base_url)]
        policies[0].act(first_observation())
        loop: Any = policies[0]._runner.get_loop()  # pyright: ignore[reportOptionalMemberAccess] -- after act
        asyncio.run(drop())
        gc.collect()
    assert [str(each.message) for each in recwarn] == []


# ---- traces and records


def test_recall_refuses_a_trace_of_another_history() -> None:
    policy, env = made(), YCBenchEnv()
    observation = play(env, policy, 0)[0]
    trace = asyncio.run(policy.decide(observation)).trace
    with pytest.raises(ValueError, match=r"trace of turn 1: recorded for messages with SHA-256 [0-9a-f]{64}, but this"):
        made(keep_turns=3).recall(observation, trace)
    reader = made(failing(REFUSED))
    following = env.step(reader.recall(observation, trace))[0]
    before = reader._last
    with pytest.raises(ValueError, match="trace of turn 2"):
        reader.recall(following, trace)
    with pytest.raises(ValueError, match="missing: reply"):
        reader.recall(following, {"messages_sha256": "0" * 64, "shrunk_to": None})
    assert reader._last == before


def test_the_cost_is_that_of_the_model_that_was_asked_and_unknown_without_its_price() -> None:
    reply = ChatReply("x", usage=TokenUsage(1_000_000, 500_000), model="other")
    for prices, cost in ((Prices({"m": Price(1.0, 2.0, "2026-01-01")}), 2.0), (Prices(), None), (None, None)):
        policy = made(Script(lambda _: reply), prices=prices)
        assert asyncio.run(policy.decide(first_observation())).trace["cost_usd"] == cost


def test_what_a_caller_does_to_messages_changes_nothing() -> None:
    policy = made()
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


def test_a_record_holds_the_settings_and_the_price_and_no_header_value() -> None:
    chosen: Any = {"extra_headers": {"X-Key": "secret"}, "temperature": 1, "replay_reasoning": ["reasoning"]}
    policy = made(prices=Prices({"m": Price(0.1, 2.0, "2026-01-01", aliases=("n",))}), **chosen)
    record: JsonObject = json.loads(json.dumps(policy.public_settings))
    assert "secret" not in json.dumps(record)
    assert record["extra_headers"] == ["X-Key"]
    settings, prices = recorded_settings(record, headers={"X-Key": "secret"})
    assert settings == LLMSettings(model="m", **chosen)
    assert LLMPolicy(settings, prices=prices).public_settings == record
    old: JsonObject = {**record, "backoff_s": 1.0, "retry_after_cap_s": 120.0}
    old["price"] = {"prompt": "0.10", "cached_prompt": None, "completion": "2.00", "as_of": "2026-01-01"}
    assert recorded_settings(old)[1].find("m") == Price(0.1, 2.0, "2026-01-01")
    with pytest.raises(FileError, match="temperature"):
        recorded_settings({**record, "temperature": "hot"})


def test_what_cannot_be_used_is_refused_when_the_policy_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TemplateError, match="wrong"):
        made(system_prompt="{wrong}")
    with pytest.raises(ConfigError, match="nowhere"):
        made(config="nowhere")
    with pytest.raises(LLMSettingsError, match=r"token_budget: got 1, expected at least \d+"):
        made(token_budget=1)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ModelError, match="the environment variable OPENAI_API_KEY is not set or empty"):
        make_llm_policy("gpt-4.1-mini")
