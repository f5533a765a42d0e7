"""A Hypothesis state machine that plays whole episodes of turns, valid and hostile, and checks every one of them.

Example, a test of one configuration::

    from hypothesis import settings
    from ycbench_env.testing import machine_for

    TestMyWorld = machine_for({"extends": "default", "world": {"num_employees": 3}}).TestCase
    TestMyWorld.settings = settings(max_examples=50, stateful_step_count=40)
"""

from __future__ import annotations

import copy
import json
import pickle
import random
from typing import Any, ClassVar, Final, cast

import gymnasium as gym
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from ycbench_env.actions import grammar_for, parse_turn
from ycbench_env.config import ConfigSource
from ycbench_env.env import YCBenchEnv
from ycbench_env.observation import MAX_JSON_LENGTH, cut_text
from ycbench_env.observation.info import MAX_COMMAND_ECHO
from ycbench_env.testing.conformance import QUERIES, REFUSED, check_after_end, check_step, sample_contract, sample_turn
from ycbench_env.testing.invariants import check_turn, require, require_equal, same_world
from ycbench_env.testing.strategies import hostile_actions, hostile_texts, turns
from ycbench_env.text import to_json
from ycbench_env.types.command import Command
from ycbench_env.types.state import State, evolve
from ycbench_env.wrappers import ScratchpadMemory

_SEEDS: Final = st.integers(0, 5) | st.integers(0, 2**64)
_RANDOMS: Final = st.randoms(use_true_random=False)
_ON_A_TASK: Final = st.sampled_from(
    (
        *("accept --task-id {}", "inspect --task-id={}", "dispatch --task-id {}"),
        *("assign --task-id={} --employees Emp_1", 'cancel --task-id {} --reason "client\'s late; \u201csorry\u201d"'),
    )
)
_QUESTION: Final = st.sampled_from(
    (
        *QUERIES,
        "market browse --required-prestige-lte 3",  # an option that only some worlds have
        "market browse --domain training --required-prestige-lte 1 --reward-min-cents 900000 --limit 50",
        *("scratchpad read", "scratchpad clear", "scratchpad write --content 'it is; a && note'"),
        'scratchpad append --content "second\nline"',
    )
)
_QUESTIONS: Final = st.builds(
    str.join, st.sampled_from(["\n", ";", " && ", "\r\n", " ;\n"]), st.lists(_QUESTION, min_size=1, max_size=5)
)
_HOSTILE: Final = hostile_actions() | hostile_texts() | st.sampled_from(REFUSED)


class YCBenchMachine(RuleBasedStateMachine):
    """Plays episodes, and checks what must hold of every turn.

    Checked besides: an identical twin and the same turn give equal bytes; playing the commands of a turn one by one
    gives the same world; time is forced exactly when it must be; ``info``, observation and answers agree with each
    other; a copy, clone, pickle or saved state goes on like the original.

    Subclasses may set ``config`` and override ``make_env``, ``check_command`` and ``check_forced``.
    """

    config: ClassVar[ConfigSource] = "default"

    def __init__(self) -> None:
        super().__init__()
        self.env = self.make_env()
        self.idle = 0
        self.played = 0

    def make_env(self) -> gym.Env[Any, Any]:
        """Returns the environment to play, one with a scratchpad."""
        return ScratchpadMemory(YCBenchEnv(self.config))

    @property
    def base(self) -> YCBenchEnv:
        """The environment without wrappers."""
        return cast("YCBenchEnv", self.env.unwrapped)

    @property
    def state(self) -> State:
        """The present state."""
        return self.base.get_state()

    def goes_on(self) -> bool:
        """Whether the episode is not over."""
        return self.state.end_reason is None

    def waits_briefly(self) -> bool:
        """Whether the episode goes on and time, let pass, stops somewhere before the end."""
        stops = self.state.config.world.resume_stops_at_payroll or bool(self.state.active_indices)
        return self.goes_on() and stops

    # ---- rules

    @initialize(seed=_SEEDS)
    def start(self, seed: int) -> None:
        """Begin an episode."""
        observation, info = self.env.reset(seed=seed)
        require(self.env.observation_space.contains(observation), "the first observation is outside its space")
        require_equal(info["run_seed"], seed, "run_seed")
        self.idle = self.played = 0

    @precondition(goes_on)
    @rule(rng=_RANDOMS, waits=st.integers(0, 6))
    def start_a_contract(self, rng: random.Random, waits: int) -> None:
        """Accept a task within reach, put some or all people on it, dispatch it, and often see it through."""
        self.play("\n".join([sample_contract(self.state, rng), *["sim resume"] * waits]))

    @precondition(goes_on)
    @rule(data=st.data())
    def act(self, data: st.DataObject) -> None:
        """Play a turn that fits the state, or a command on any task, grammatical oddities, questions, hostile text."""
        ids = [task.task_id for task in (*self.state.tasks, *self.state.market[-1:])] or ["Task-999999"]
        named = st.builds(str.format, _ON_A_TASK.map("task {}".format), st.sampled_from(ids))
        odd = turns(grammar_for(self.state.config.world)).map(lambda turn: turn.text)
        fitting = st.builds(sample_turn, st.just(self.state), _RANDOMS)
        self.play(data.draw(fitting | named | odd | _QUESTIONS | _HOSTILE))

    @precondition(waits_briefly)
    @rule(turn=st.sampled_from(["sim resume", ""]), times=st.integers(1, 5), at_once=st.booleans())
    def wait(self, turn: str, times: int, at_once: bool) -> None:  # noqa: FBT001 -- drawn
        """Let time pass, several times in a turn, or send nothing, up to forced advances."""
        for text in ["\n".join([turn] * times)] if at_once else [turn] * times:
            if self.goes_on():
                self.play(text)

    @precondition(goes_on)
    @rule(how=st.sampled_from(["deepcopy", "pickle", "bytes", "clone"]))
    def go_on_with_a_copy(self, how: str) -> None:
        """Replace the environment by a copy of itself; what is checked afterwards is checked on the copy."""
        kept = self.state.to_bytes()
        if how == "deepcopy":
            self.env = copy.deepcopy(self.env)
        elif how == "pickle":
            self.env = pickle.loads(pickle.dumps(self.env))  # noqa: S301 -- made here
        elif how == "bytes":
            self.env = self.make_env()
            self.env.reset(seed=3)
            self.base.set_state(State.from_bytes(kept))
        else:
            require_equal(self.base.clone().get_state().to_bytes(), kept, "state of a clone")
        require_equal(self.state.to_bytes(), kept, f"state after {how}")
        require(same_world(self.state, State.from_bytes(kept)), f"state after {how} and bytes")

    @precondition(lambda self: not self.goes_on())
    @rule(seed=_SEEDS, action=hostile_texts() | st.sampled_from(["sim resume", "market browse", "", "--help"]))
    def begin_again(self, seed: int, action: str) -> None:
        """After the end: nothing works, and a reset starts a new world."""
        check_after_end(self.env, action)
        self.start(seed)

    # ---- a turn and its checks

    def play(self, action: object) -> None:
        """Plays a turn and checks all that came of it."""
        before = self.state
        twin, split = copy.deepcopy(self.env), self.base.clone()
        result = self.env.step(action)
        after = self.state
        observation, *_, info = result
        check_turn(before, after)
        check_step(self.env, before, result, "a turn")
        require_equal(twin.step(action), result, "what a twin answers to the same turn")
        require_equal(self.base.state_hash(), after.digest(), "state_hash")
        _check_observation(observation, info, after)
        self._check_counters(before, after, forced=info["forced_advance"])
        self._check_one_by_one(split, action, after, info)

    def check_command(self, before: State, command: Command, after: State, result: dict[str, Any]) -> None:
        """Checks one command and its answer; does nothing unless a subclass overrides it."""

    def check_forced(self, before: State, after: State, events: list[dict[str, Any]]) -> None:
        """Checks a forced advance and its wake events; does nothing unless a subclass overrides it."""

    def _check_one_by_one(self, split: YCBenchEnv, action: object, after: State, info: dict[str, Any]) -> None:
        """Check each answer, with the commands of the turn played one a turn, and that the world becomes the same."""
        commands = parse_turn(action, grammar_for(after.config.world))
        require_equal([result["command"] for result in info["results"]], [one.text for one in commands], "commands")
        events: list[dict[str, Any]] = []
        ok, invalid = True, 0
        for parsed, result in zip(commands, info["results"], strict=True):
            skipped = parsed.chained and not ok
            if parsed.command is None or skipped:
                require(not result["ok"], f"{parsed.text!r} was carried out")
                invalid += not skipped
                ok = False
                continue
            here = split.get_state()
            split.set_state(evolve(here, turns_played=0, idle_turns=0))  # so that nothing is forced here
            alone = split.step(parsed.text)[4]
            if split.config.loop.auto_advance_after_turns == 1 and alone["forced_advance"]:
                return  # then every turn moves time, and a turn cannot be split
            require_equal(alone["results"], [result], f"{parsed.text!r} in a turn of its own")
            self.check_command(here, parsed.command, split.get_state(), result)
            events += alone["events"]
            ok = result["ok"]
        require_equal(info["invalid_commands"], invalid, "invalid_commands")
        require_equal(info["events"][: len(events)], events, "events against those of the commands one by one")
        if info["forced_advance"]:
            self.check_forced(split.get_state(), after, info["events"][len(events) :])
        else:
            require(same_world(split.get_state(), after), "the turn made another world than its commands one by one")
            require_equal(info["events"], events, "events")

    def _check_counters(self, before: State, after: State, *, forced: bool) -> None:
        """Check that time is forced in exactly the turn in which it must be. Source: Y-9."""
        limit = after.config.loop.auto_advance_after_turns
        self.played += 1
        moved = after.now_us != before.now_us and not forced
        self.idle = 0 if moved else self.idle + 1
        if forced:
            require(limit > 0 and self.idle == limit, f"time was forced after {self.idle} idle turns of {limit}")
            self.idle = 0
        require(not limit or self.idle < limit or after.terminal_reason, f"{self.idle} idle turns of {limit}")
        most = after.config.loop.max_turns
        over = bool(most) and self.played >= most and after.terminal_reason is None
        require_equal(after.truncated, over, f"truncated after {self.played} turns of {most}")


def machine_for(config: ConfigSource) -> type[YCBenchMachine]:
    """Returns a state machine that plays a configuration."""
    return cast("type[YCBenchMachine]", type("Machine", (YCBenchMachine,), {"config": config}))


def _check_observation(observation: Any, info: dict[str, Any], state: State) -> None:  # noqa: ANN401 -- a wrapper's
    """Check that texts equal info unless they are cut, and figures the state."""
    require_equal(json.loads(observation["events"]), info["events"], "events as text")
    full: Any = [{**result, "command": cut_text(result["command"], MAX_COMMAND_ECHO)} for result in info["results"]]
    if len(to_json(full)) <= MAX_JSON_LENGTH - 64:  # the rest is room for a mark
        require_equal(json.loads(observation["results"]), full, "results as text")
    else:
        require("cut" in observation["results"], "results were cut without a mark")
    statuses = [task.status for task in state.tasks]
    shown = [int(observation[key]) for key in ("active_tasks", "planned_tasks", "employees", "funds_cents", "turn")]
    counts = [statuses.count("active"), statuses.count("planned"), len(state.employees)]
    require_equal(shown, [*counts, state.funds_cents, state.turns_played + 1], "figures of the observation")
