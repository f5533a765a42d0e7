"""LLMPolicy: a language model plays, by calling a tool or by writing commands.

The policy is a pure function of what it saw and what the model replied; only ``decide`` asks.

- Equal observations and replies give equal requests, turns and traces; ``recall`` leaves the policy as ``decide`` did.
- A decision that fails leaves the policy as it was, so it can be tried again, now or by another process.
- A request that is too long for the model is asked once more with half of the turns that it showed, never unchanged;
  the smaller window stays until ``reset`` and is part of the trace.
- Turns that no request can show again are not kept; their number is.
- Notes are shown as they stand in the observation, at every window.
- Copies and pickles hold settings and memory, and no connection.
"""

from __future__ import annotations

import asyncio
import copy
import math
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

import attrs

from ycbench_agents.base import Decision, PolicyStoppedError
from ycbench_agents.files import structure
from ycbench_agents.llm import conversation
from ycbench_agents.llm.client import ChatClient, ChatRequest, ContextLengthError, ModelError, OpenAIChat, Transport
from ycbench_agents.llm.client import api_key as required_key
from ycbench_agents.llm.conversation import Exchange, count_tokens, prompt_sha256
from ycbench_agents.llm.pricing import Price, Prices, cost_usd, load_prices
from ycbench_agents.llm.prompt import system_prompt, with_notes
from ycbench_agents.llm.reply import ChatReply, Plan, parse_reply, reply_from_json, reply_to_json, run_command_tool
from ycbench_agents.llm.settings import LLMSettings, LLMSettingsError, settings_for
from ycbench_env import Config, Observation, load_config
from ycbench_env.actions import grammar_for
from ycbench_env.text import JsonObject
from ycbench_env.wrappers import Window, window

_NO_SETTINGS: Final = frozenset({"price", "retry_after_cap_s", "backoff_s"})  # the last two: of runs in format 1


@attrs.frozen(kw_only=True)
class LLMTrace:
    """The trace of a decision, as a run's record holds it.

    ``reply``, ``messages_sha256`` and ``shrunk_to`` are what ``LLMPolicy.recall`` needs; it computes all else anew.
    """

    reply: dict[str, Any]  # see ``reply_to_json``
    messages_sha256: str = attrs.field(validator=attrs.validators.matches_re("[0-9a-f]{64}"))  # ``prompt_sha256``
    # Most earlier turns shown after the model's context had been too small; None before.
    shrunk_to: int | None = attrs.field(validator=attrs.validators.optional(attrs.validators.ge(0)))
    prompt_tokens: int | None = None  # None if unknown, like the other counts and the cost
    completion_tokens: int | None = None
    cached_tokens: int | None = None  # of the prompt, read from a cache
    reasoning_tokens: int | None = None  # of the completion
    cost_usd: float | None = None
    refused_calls: int = 0
    unusable_replies: int = 0  # 1 for a reply of which nothing was run


@attrs.frozen
class _Asked:
    """The request of a turn, with what led to it."""

    turn: int
    exchanges: Window[Exchange]  # the turns that can still be shown, and the number of those that never can be again
    status: str  # with events
    shrunk_to: int | None
    messages: tuple[JsonObject, ...]
    sha256: str
    shown: int  # how many turns the messages show


class LLMPolicy:
    """Asks a language model for each turn.

    A turn is the tuple of the texts that the model's calls hold, in order. What is refused (see ``reply``) is answered
    in the conversation and never run.
    """

    def __init__(
        self,
        settings: LLMSettings,
        config: Config | str = "default",
        prices: Prices | None = None,
        client: ChatClient | None = None,
    ) -> None:
        """Make a policy. Nothing is opened and no key is read before the first request.

        Args:
            settings: How the model is asked.
            config: Configuration of the environment, for the system prompt; or a preset's name or a file.
            prices: Prices of models, None where no costs are wanted.
            client: Who asks the model, None for the network; it belongs to the caller.

        Raises:
            ConfigError: The configuration cannot be used.
            TemplateError: The template of the system prompt cannot be used.
            LLMSettingsError: ``token_budget`` is less than the system prompt takes.
        """
        self._settings = settings
        self._config = load_config(config)
        self._grammar = grammar_for(self._config.world)
        self._price = prices.find(settings.model) if prices else None
        self._client: ChatClient = client or OpenAIChat(settings)
        self._last: tuple[_Asked, ChatReply, Plan] | None = None  # all that it knows of the episode
        self._prompts: dict[tuple[int | None, bool], str] = {}
        self._shrunk_to: int | None = None  # most earlier turns shown, after the model's context had been too small
        self._last_trace: JsonObject | None = None
        self._runner: asyncio.Runner | None = None
        self._closing: Callable[[], object] | None = None
        system = self._system("", settings.keep_turns)  # a template that cannot be used is an error at once
        least = count_tokens([{"role": "system", "content": system}, run_command_tool()])
        if settings.token_budget is not None and settings.token_budget < least:
            msg = (
                f"token_budget: got {settings.token_budget}, expected at least {least} for the system prompt alone, "
                "and room for turns"
            )
            raise LLMSettingsError(msg)

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy holds: everything but the event loop of ``act``."""
        return {**self.__dict__, "_runner": None, "_closing": None}

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._settings.model

    @property
    def public_settings(self) -> JsonObject:
        """The settings as a run's record holds them: no secrets, and the price of the model's tokens."""
        return {**self._settings.public(), "price": self._price.to_json() if self._price else None}

    @property
    def last_trace(self) -> JsonObject | None:
        """The trace of the last decision as it follows from its reply, see ``LLMTrace``; None before the first."""
        return copy.deepcopy(self._last_trace)

    @property
    def last_messages(self) -> tuple[JsonObject, ...]:
        """The messages that the last decision was asked with, as copies; empty before the first."""
        return copy.deepcopy(self._last[0].messages) if self._last else ()

    def messages(self, observation: Observation) -> tuple[JsonObject, ...]:
        """Return what the model would be asked now, without asking; after the last turn: the conversation."""
        return self._asking(observation, self._shrunk_to).messages

    def reset(self, seed: int) -> None:
        """Forget the last episode. The seed is not used: it must reach neither prompts nor requests."""
        del seed
        self._last = self._shrunk_to = self._last_trace = None

    async def decide(self, observation: Observation) -> Decision:
        """Return the model's turn.

        Raises:
            PolicyStoppedError: The model gives no reply; the policy is as it was before.
            ValueError: The observation does not belong here; the message says why.
        """
        asked = self._asking(observation, self._shrunk_to)
        tools = (run_command_tool(),) if self._settings.mode == "tools" else ()
        tried: list[Transport] = []
        while True:
            try:
                completion = await self._client.complete(ChatRequest(asked.messages, tools))
                break
            except ContextLengthError as error:
                tried.append(error.transport)
                if len(tried) > 1 or not asked.shown:
                    msg = (
                        f"the request is too long for the model even with only {asked.shown} earlier turns in it: "
                        f"{error}. Set keep_turns or token_budget lower, or use a model with a larger context"
                    )
                    raise PolicyStoppedError(msg) from error
                asked = self._asking(observation, asked.shown // 2)
            except ModelError as error:
                raise PolicyStoppedError(str(error)) from error
        tried.append(completion.transport)
        turn = self._settle(asked, reply_from_json(reply_to_json(completion.reply)))
        transport: JsonObject = {
            "latency_s": math.fsum(each.latency_s for each in tried),
            "attempts": sum(each.attempts for each in tried),
            "faults": [fault for each in tried for fault in each.faults],
        }
        return Decision(turn, self.last_trace or {}, transport)

    def act(self, observation: Observation) -> tuple[str, ...]:
        """Return the model's turn, for callers that do not wait.

        Raises:
            PolicyStoppedError: The model gives no reply; the policy is as it was before.
            RuntimeError: An event loop runs in this thread, which this call would block.
        """
        if asyncio._get_running_loop() is not None:  # noqa: SLF001 -- documented for libraries
            msg = "act: called while an event loop runs in this thread; use `await policy.decide(observation)` there"
            raise RuntimeError(msg)
        if self._runner is None:
            # One loop for all turns: a client's connections live and die with the loop that opened them.
            self._runner = asyncio.Runner()
            self._closing = weakref.finalize(self, _close, self._runner, self._client)
        return cast("tuple[str, ...]", self._runner.run(self.decide(observation)).turn)

    def close(self) -> None:
        """End the event loop that ``act`` has opened, and its connections; they end with the policy otherwise."""
        if self._closing is not None:
            self._closing()
        self._runner = self._closing = None

    def recall(self, observation: Observation, trace: JsonObject) -> tuple[str, ...]:
        """Return the turn of a recorded decision, without asking; ``last_trace`` is then the trace computed anew.

        Raises:
            ValueError: The trace does not belong to this history; the message says what differs.
        """
        recorded = structure(trace, LLMTrace, "trace of a decision")
        asked = self._asking(observation, recorded.shrunk_to)
        if asked.sha256 != recorded.messages_sha256:
            msg = (
                f"trace of turn {asked.turn}: recorded for messages with SHA-256 {recorded.messages_sha256}, but this "
                f"history asks with {asked.sha256}; the observations, the settings, the configuration or the version "
                "of this program differ from those of the record"
            )
            raise ValueError(msg)
        return self._settle(asked, reply_from_json(recorded.reply, "trace of a decision, reply"))

    # ---- the request

    def _asking(self, observation: Observation, shrunk_to: int | None) -> _Asked:
        """Return the request for an observation; the last turn's answers have come with it."""
        seen: Any = observation  # callers may not be typed
        fields: dict[str, Any] = seen if isinstance(seen, dict) else {}
        if "window" in fields or not {"turn", "text", "results"} <= fields.keys():
            got = f"a dict with the keys {', '.join(map(str, fields))}" if fields else f"a {type(seen).__name__}"
            msg = (
                f"observation: got {got}, expected the environment's own dict; this policy keeps a conversation "
                "itself, so use it without ContextTruncation and TextObservation"
            )
            raise ValueError(msg)
        turn = int(fields["turn"])
        exchanges = Window[Exchange]((), 0)
        last: Exchange | None = None
        if self._last is not None:
            before, reply, plan = self._last
            if turn < before.turn:
                msg = f"observation: got turn {turn} after turn {before.turn} was decided; reset the policy first"
                raise ValueError(msg)
            last = Exchange(before.status, reply, plan, conversation.answers_by_call(plan, fields["results"]))
            exchanges = Window((*before.exchanges.turns, last), before.exchanges.dropped)
        keep_turns = self._settings.keep_turns if shrunk_to is None else shrunk_to
        system = self._system(fields.get("notes"), keep_turns)
        status, mode = conversation.status_text(observation), self._settings.mode
        budget = self._settings.token_budget
        if budget is not None:
            gone = Window[Exchange]((), exchanges.dropped + len(exchanges.turns))
            bare = conversation.messages(system, gone, status, last, mode=mode)
            budget = max(0, budget - count_tokens([*bare, run_command_tool()]))
        view = self._view(exchanges, keep_turns, budget)
        reasoning = self._settings.replay_reasoning
        listed = conversation.messages(system, view, status, last, mode=mode, replay_reasoning=reasoning)
        return _Asked(turn, exchanges, status, shrunk_to, listed, prompt_sha256(listed), len(view.turns))

    def _system(self, notes: str | None, keep_turns: int | None) -> str:
        """Return the system prompt, with the notes where there is a scratchpad."""
        key = (keep_turns, notes is not None)
        if key not in self._prompts:  # nothing else in it changes from turn to turn
            self._prompts[key] = system_prompt(
                self._config,
                keep_turns=keep_turns,
                token_budget=self._settings.token_budget,
                tools=self._settings.mode == "tools",
                notes=notes is not None,
                template=self._settings.system_prompt,
            )
        return self._prompts[key] if notes is None else with_notes(self._prompts[key], notes)

    def _view(self, exchanges: Window[Exchange], keep_turns: int | None, budget: int | None) -> Window[Exchange]:
        """Return the last turns within both limits."""
        mode, reasoning = self._settings.mode, self._settings.replay_reasoning
        view = window(
            exchanges.turns,
            keep_turns=keep_turns,
            token_budget=budget,
            count_tokens=lambda exchange: conversation.exchange_tokens(exchange, mode, reasoning),
        )
        return Window(view.turns, exchanges.dropped + view.dropped)

    # ---- the reply

    def _settle(self, asked: _Asked, reply: ChatReply) -> tuple[str, ...]:
        """Keep a reply in memory and make its trace; returns the turn."""
        settings, usage = self._settings, reply.usage
        plan = parse_reply(reply, mode=settings.mode, max_calls=settings.max_calls_a_reply, grammar=self._grammar)
        # What is older than all that a request can ever hold again is let go, or an episode's memory would only grow.
        keep_turns = settings.keep_turns if asked.shrunk_to is None else asked.shrunk_to
        kept = self._view(asked.exchanges, keep_turns, settings.token_budget if keep_turns is None else None)
        self._last = attrs.evolve(asked, exchanges=kept), reply, plan
        self._shrunk_to = asked.shrunk_to
        trace = LLMTrace(
            reply=reply_to_json(reply),
            messages_sha256=asked.sha256,
            shrunk_to=asked.shrunk_to,
            prompt_tokens=usage.prompt,
            completion_tokens=usage.completion,
            cached_tokens=usage.cached,
            reasoning_tokens=usage.reasoning,
            cost_usd=cost_usd(usage, self._price),
            refused_calls=sum(call.refusal is not None for call in plan.calls),
            unusable_replies=int(not plan.turn),
        )
        self._last_trace = cast("JsonObject", attrs.asdict(trace))
        return plan.turn


def _close(runner: asyncio.Runner, client: ChatClient) -> None:
    """Close the event loop of a policy and, with it, the connections of its client, which is kept until then."""
    if asyncio._get_running_loop() is None:  # noqa: SLF001 -- documented for libraries
        runner.close()
    else:
        # Another loop runs in this thread while it drops or collects the policy.
        threading.Thread(target=_close, args=(runner, client)).start()


def make_llm_policy(
    model: str | None = None,
    *,
    config: Config | str = "default",
    client: ChatClient | None = None,
    prices: Sequence[str | Path] = (),
    **settings: object,
) -> LLMPolicy:
    """Return a policy that asks a language model.

    Args:
        model: Name of the model, as its server knows it; it is needed.
        config: Configuration of the environment that it plays.
        client: Who asks the model, None for the network.
        prices: Files of prices beside the built-in ones.
        **settings: Further fields of ``LLMSettings``; what is not given follows ``[agent]`` of the configuration.

    Raises:
        LLMSettingsError: A setting is unknown, or its value cannot be used.
        ConfigError: The configuration cannot be used.
        FileError: A file of prices cannot be used.
        ModelError: There is no key where one is needed.
    """
    resolved = load_config(config)
    chosen = settings_for(resolved, {"model": model, **settings})
    if client is None:
        required_key(chosen)  # a missing key is an error before anything is played
    return LLMPolicy(chosen, resolved, load_prices(*prices), client)


def recorded_settings(recorded: JsonObject, headers: Mapping[str, str] | None = None) -> tuple[LLMSettings, Prices]:
    """Return the settings and the price in ``LLMPolicy.public_settings``, with values for the headers named there.

    Raises:
        FileError: They cannot be used.
    """
    values: dict[str, Any] = {name: value for name, value in recorded.items() if name not in _NO_SETTINGS}
    values["extra_headers"] = dict(headers or {})
    settings = structure(values, LLMSettings, "recorded settings of the model")
    price = recorded.get("price")
    return settings, Prices({settings.model: Price.from_json(price)} if isinstance(price, dict) else {})
