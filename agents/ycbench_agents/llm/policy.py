"""LLMPolicy: a language model plays, by calling a tool or by writing commands.

The policy is a pure function of what it saw and what the model replied; only ``decide`` asks. Invariants, each of them
a test:

- Equal observations and replies give equal requests, turns and traces; ``recall`` leaves the policy as ``decide`` did.
- A decision that fails leaves the policy as it was, so it can be tried again, now or by another process.
- A request that is too long for the model is asked once more with half of the turns that it showed, never unchanged;
  the smaller window stays until ``reset`` and is part of the trace.
- Turns that no request can show again are not kept; their number is.
- Notes are shown as they stand in the observation, at every window.
"""

from __future__ import annotations

import asyncio
import copy
import weakref
from typing import TYPE_CHECKING, cast

import attrs

from ycbench_agents.base import Decision, PolicyStoppedError
from ycbench_agents.llm.answers import answers_by_call
from ycbench_agents.llm.history import Exchange, Present, count_tokens, exchange_tokens, messages, status_text
from ycbench_agents.llm.message import ChatRequest, ContextLengthError, ModelError
from ycbench_agents.llm.pricing import Prices, cost_usd
from ycbench_agents.llm.prompt import system_prompt, with_notes
from ycbench_agents.llm.public import public_settings
from ycbench_agents.llm.reply import plan_reply, run_command_tool
from ycbench_agents.llm.settings import LLMSettings, LLMSettingsError
from ycbench_agents.llm.trace import RecordedDecision, decision_trace, messages_sha256, normalised, read_trace
from ycbench_env import load_config
from ycbench_env.actions import grammar_for
from ycbench_env.wrappers import Window, window

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ycbench_agents.base import JsonObject
    from ycbench_agents.llm.message import ChatClient, ChatReply, Completion, Transport
    from ycbench_agents.llm.reply import Plan
    from ycbench_env import Config, Observation

__all__ = ["LLMPolicy"]


@attrs.frozen
class _Pending:
    """A decision whose answers are still to come; ``turn`` is its number."""

    turn: int
    said: str
    reply: ChatReply
    plan: Plan


@attrs.frozen
class _Memory:
    """What the policy knows of the episode; replaced as a whole by each decision.

    ``exchanges`` are the turns that can still be shown, and the number of those that never can be again.
    """

    exchanges: Window[Exchange]
    pending: _Pending | None = None
    shrunk_to: int | None = None
    request: ChatRequest | None = None


@attrs.frozen
class _Asked:
    """A request, with what led to it and how many turns it shows."""

    turn: int
    exchanges: Window[Exchange]
    said: str
    shrunk_to: int | None
    request: ChatRequest
    shown: int


class LLMPolicy:
    """Asks a language model for each turn.

    A turn is the tuple of the texts that the model's calls hold, in order. What is refused (see ``reply``) is answered
    in the conversation and never run.
    """

    def __init__(
        self,
        client: ChatClient,
        settings: LLMSettings,
        config: Config | str = "default",
        prices: Prices | None = None,
    ) -> None:
        """Make a policy; the client belongs to the caller.

        Args:
            client: Who asks the model.
            settings: How the model is asked.
            config: Configuration of the environment, for the system prompt; or a preset's name or a file.
            prices: Prices of models, None where no costs are wanted.

        Raises:
            ConfigError: The configuration cannot be used.
            TemplateError: The template of the system prompt cannot be used.
            LLMSettingsError: ``token_budget`` is less than the system prompt takes.
        """
        self._client = client
        self._settings = settings
        self._config = load_config(config)
        self._grammar = grammar_for(self._config.world)
        self._prices = prices
        self._memory = _Memory(Window((), 0))
        self._last_trace: JsonObject | None = None
        self._prompts: dict[tuple[int | None, bool], str] = {}
        self._runner: asyncio.Runner | None = None
        self._closing: Callable[[], object] | None = None
        system = self._system("", settings.keep_turns)  # a template that cannot be used is told at once
        least = count_tokens([{"role": "system", "content": system}, run_command_tool()])
        if settings.token_budget is not None and settings.token_budget < least:
            msg = (
                f"token_budget: got {settings.token_budget}, expected at least {least}, which the system prompt alone "
                "takes, and room for turns; shorten the prompt (system_prompt), or leave the budget out"
            )
            raise LLMSettingsError(msg)

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._settings.model

    @property
    def public_settings(self) -> JsonObject:
        """What a run's record holds of the settings: no secrets, and the price of the model's tokens."""
        return public_settings(self._settings, self._prices or Prices())

    @property
    def last_trace(self) -> JsonObject | None:
        """The trace of the last decision as it follows from its reply, None before the first."""
        return copy.deepcopy(self._last_trace)

    @property
    def last_messages(self) -> tuple[JsonObject, ...]:
        """The messages that the last decision was asked with, as copies; empty before the first."""
        request = self._memory.request
        return copy.deepcopy(request.messages) if request else ()

    @property
    def last_request(self) -> ChatRequest | None:
        """The request that the last decision was asked with, as a copy, None before the first."""
        return copy.deepcopy(self._memory.request)

    def messages(self, observation: Observation) -> tuple[JsonObject, ...]:
        """Return what the model would be asked now, without asking; after the last turn: all that was said."""
        return self._asking(observation, self._memory.shrunk_to).request.messages

    def reset(self, seed: int) -> None:
        """Forget the last episode; nothing is drawn here (a model's sampling seed is in the settings)."""
        del seed
        self._memory = _Memory(Window((), 0))
        self._last_trace = None

    async def decide(self, observation: Observation) -> Decision:
        """Return the model's turn.

        Raises:
            PolicyStoppedError: There is no reply to be had; the policy is as it was before.
            ValueError: The observation does not belong here; the message says why.
        """
        asked = self._asking(observation, self._memory.shrunk_to)
        sha256 = messages_sha256(asked.request.messages)
        failed: Transport | None = None
        try:
            completion = await self._client.complete(asked.request)
        except ContextLengthError as too_long:
            if not asked.shown:
                raise _stopped(too_long, asked.shown) from too_long
            failed = too_long.transport
            asked = self._asking(observation, asked.shown // 2)
            sha256 = messages_sha256(asked.request.messages)
            completion = await self._complete(asked)
        except ModelError as error:
            raise _stopped(error, asked.shown) from error
        return self._decided(asked, sha256, completion, failed)

    def act(self, observation: Observation) -> tuple[str, ...]:
        """Return the model's turn, for callers that do not wait.

        Raises:
            PolicyStoppedError: There is no reply to be had; the policy is as it was before.
            RuntimeError: An event loop runs in this thread, which this call would block.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            pass
        else:
            msg = "act: called while an event loop runs in this thread; use `await policy.decide(observation)` there"
            raise RuntimeError(msg)
        if self._runner is None:
            # One loop for all turns: a client's connections live and die with the loop that opened them.
            self._runner = asyncio.Runner()
            self._closing = weakref.finalize(self, self._runner.close)
        return cast("tuple[str, ...]", self._runner.run(self.decide(observation)).turn)

    def close(self) -> None:
        """End the event loop that ``act`` has opened, if any; it ends with the policy otherwise. The client stays."""
        if self._closing is not None:
            self._closing()
        self._runner = self._closing = None

    def recall(self, observation: Observation, trace: JsonObject) -> tuple[str, ...]:
        """Return the turn of a recorded decision, without asking.

        Raises:
            ValueError: The trace does not belong to this history; the message says what differs.
        """
        recorded = read_trace(trace)
        asked = self._asking(observation, recorded.shrunk_to)
        sha256 = messages_sha256(asked.request.messages)
        if sha256 != recorded.messages_sha256:
            msg = (
                f"trace of turn {asked.turn}: recorded for messages with SHA-256 {recorded.messages_sha256}, but this "
                f"history asks with {len(asked.request.messages)} messages of {sha256}; the observations, the "
                "settings, the configuration or the version of this program differ from those of the record"
            )
            raise ValueError(msg)
        plan = self._settle(asked, recorded.reply)
        self._last_trace = self._trace(recorded, plan)
        return plan.turn

    # ---- what is asked

    def _asking(self, observation: Observation, shrunk_to: int | None) -> _Asked:
        """Return the request for an observation, from what is known so far."""
        turn = _checked_turn(observation)
        exchanges = self._heard(observation, turn)
        keep_turns = self._keep_turns(shrunk_to)
        notes = cast("Mapping[str, object]", observation).get("notes")
        system = self._system(None if notes is None else str(notes), keep_turns)
        present = Present(status_text(observation), exchanges.turns[-1] if exchanges.turns else None)
        tools = (run_command_tool(),) if self._settings.mode == "tools" else ()
        view = self._window(system, exchanges, present, keep_turns)
        listed = messages(
            system, view, present, mode=self._settings.mode, replay_reasoning=self._settings.replay_reasoning
        )
        return _Asked(turn, exchanges, present.said, shrunk_to, ChatRequest(listed, tools), len(view.turns))

    def _keep_turns(self, shrunk_to: int | None) -> int | None:
        return self._settings.keep_turns if shrunk_to is None else shrunk_to

    def _heard(self, observation: Observation, turn: int) -> Window[Exchange]:
        """Return the turns so far; the last one's answers have come with the observation."""
        pending = self._memory.pending
        if pending is None:
            return self._memory.exchanges
        if turn < pending.turn:
            msg = (
                f"observation: got turn {turn} after turn {pending.turn} was decided; reset the policy at the start of "
                "an episode"
            )
            raise ValueError(msg)
        answers = answers_by_call(pending.plan, observation["results"])
        last = Exchange(pending.said, pending.reply, pending.plan, answers)
        known = self._memory.exchanges
        return Window((*known.turns, last), known.dropped)

    def _system(self, notes: str | None, keep_turns: int | None) -> str:
        """Return the system prompt, with the notes where there is a scratchpad."""
        asked = (keep_turns, notes is not None)
        if asked not in self._prompts:  # nothing else in it changes from turn to turn
            self._prompts[asked] = self._new_prompt(*asked)
        system = self._prompts[asked]
        return system if notes is None else with_notes(system, notes)

    def _new_prompt(self, keep_turns: int | None, notes: bool) -> str:  # noqa: FBT001 -- called by the key above
        settings = self._settings
        return system_prompt(
            self._config,
            keep_turns=keep_turns,
            token_budget=settings.token_budget,
            tools=settings.mode == "tools",
            notes=notes,
            template=settings.system_prompt,
        )

    def _window(
        self, system: str, exchanges: Window[Exchange], present: Present, keep_turns: int | None
    ) -> Window[Exchange]:
        """Return the turns that are shown: what the budget of a whole request leaves for them."""
        budget = self._settings.token_budget
        if budget is not None:
            gone = Window[Exchange]((), exchanges.dropped + len(exchanges.turns))
            bare = messages(system, gone, present, mode=self._settings.mode)
            budget = max(0, budget - count_tokens([*bare, run_command_tool()]))
        return self._last(exchanges, keep_turns, budget)

    def _last(self, exchanges: Window[Exchange], keep_turns: int | None, budget: int | None) -> Window[Exchange]:
        """Return the last turns within both limits."""
        mode, reasoning = self._settings.mode, self._settings.replay_reasoning
        view = window(
            exchanges.turns,
            keep_turns=keep_turns,
            token_budget=budget,
            count_tokens=lambda exchange: exchange_tokens(exchange, mode, reasoning),
        )
        return Window(view.turns, exchanges.dropped + view.dropped)

    # ---- what comes of it

    async def _complete(self, asked: _Asked) -> Completion:
        try:
            return await self._client.complete(asked.request)
        except ModelError as error:
            raise _stopped(error, asked.shown) from error

    def _decided(self, asked: _Asked, sha256: str, completion: Completion, failed: Transport | None) -> Decision:
        reply = normalised(completion.reply)
        plan = self._settle(asked, reply)
        trace = self._last_trace = self._trace(RecordedDecision(reply, sha256, asked.shrunk_to), plan)
        return Decision(plan.turn, trace, _transport(completion.transport, failed))

    def _trace(self, decision: RecordedDecision, plan: Plan) -> JsonObject:
        """Return the trace of a decision; all of it but the decision itself follows from the reply and the price."""
        usage = decision.reply.usage
        cost = None if self._prices is None else cost_usd(self._settings.model, usage, self._prices)
        return decision_trace(decision, plan, cost)

    def _settle(self, asked: _Asked, reply: ChatReply) -> Plan:
        """Keep a reply in memory; returns what becomes of it."""
        settings = self._settings
        plan = plan_reply(reply, mode=settings.mode, max_calls=settings.max_calls_a_reply, grammar=self._grammar)
        pending = _Pending(asked.turn, asked.said, reply, plan)
        # What is older than all that a request can ever hold again is let go, or an episode's memory would only grow.
        keep_turns = self._keep_turns(asked.shrunk_to)
        budget = self._settings.token_budget if keep_turns is None else None
        exchanges = self._last(asked.exchanges, keep_turns, budget)
        self._memory = _Memory(exchanges, pending, asked.shrunk_to, asked.request)
        return plan


def _checked_turn(observation: object) -> int:
    """Return the number of the turn to be decided.

    Raises:
        ValueError: The observation is not one of the environment's own.
    """
    fields = cast("dict[str, object]", observation) if isinstance(observation, dict) else {}
    if "window" not in fields and {"turn", "text", "results"} <= fields.keys():
        return int(cast("int", fields["turn"]))
    kind: type = type(cast("object", observation))
    got = f"a dict with the keys {', '.join(map(str, fields))}" if fields else f"a {kind.__name__}"
    msg = (
        f"observation: got {got}, expected the environment's own dict; this policy keeps a conversation itself, so use "
        "it without ContextTruncation and TextObservation"
    )
    raise ValueError(msg)


def _stopped(error: ModelError, shown: int) -> PolicyStoppedError:
    """Return why the policy cannot go on."""
    if not isinstance(error, ContextLengthError):
        return PolicyStoppedError(str(error))
    turns = "1 earlier turn" if shown == 1 else f"{shown} earlier turns"
    return PolicyStoppedError(
        f"the request is too long for the model even with {turns} in it: {error}. Keep fewer turns (keep_turns), set "
        "token_budget, or use a model with a larger context"
    )


def _transport(transport: Transport, failed: Transport | None) -> JsonObject:
    """Return how a reply was got, an attempt that was too long included."""
    tried = [transport] if failed is None else [failed, transport]
    return {
        "latency_s": sum(each.latency_s for each in tried),
        "attempts": sum(each.attempts for each in tried),
        "faults": [fault for each in tried for fault in each.faults],
    }
