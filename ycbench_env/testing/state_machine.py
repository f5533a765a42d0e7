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
from typing import Any, ClassVar, Final, cast

import gymnasium as gym
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from ycbench_env.actions import grammar_for, parse_turn
from ycbench_env.config import ConfigSource
from ycbench_env.env import YCBenchEnv
from ycbench_env.observation import MAX_JSON_LENGTH, cut_text
from ycbench_env.observation.info import MAX_COMMAND_ECHO
from ycbench_env.testing.conformance import QUERIES, REFUSED
from ycbench_env.testing.invariants import acceptable, check_start, check_turn, require, require_equal, same_world
from ycbench_env.testing.strategies import hostile_actions, hostile_texts, turns
from ycbench_env.text import to_json
from ycbench_env.types.command import Command
from ycbench_env.types.state import State, evolve
from ycbench_env.wrappers import ScratchpadMemory

_SEPARATORS: Final = ("\n", ";", " && ", "\r\n", " ;\n")
_ROOM_FOR_MARK: Final = 64
_MOST_TO_CHOOSE: Final = 12  # of listed tasks
_SEEDS: Final = st.integers(0, 5) | st.integers(0, 2**64)
_QUESTIONS: Final = (
    *QUERIES,
    "market browse --required-prestige-lte 3",  # an option that only some worlds have
    "market browse --domain training --required-prestige-lte 1 --reward-min-cents 900000 --limit 50",
    *("scratchpad read", "scratchpad clear", "scratchpad write --content 'it is; a && note'"),
    'scratchpad append --content "second\nline"',
)


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
        return self.played >= 0 and self.state.end_reason is None

    def waits_briefly(self) -> bool:
        """Whether the episode goes on and time, let pass, stops somewhere before the end."""
        world = self.state.config.world
        stops = world.resume_stops_at_payroll or any(task.status == "active" for task in self.state.tasks)
        return self.goes_on() and stops

    # ---- rules

    @initialize(seed=_SEEDS)
    def start(self, seed: int) -> None:
        """Begin an episode."""
        observation, info = self.env.reset(seed=seed)
        require(self.env.observation_space.contains(observation), "the first observation is outside its space")
        require_equal(info["run_seed"], seed, "run_seed")
        self.idle = self.played = 0
        check_start(self.state)

    @precondition(goes_on)
    @rule(data=st.data())
    def take_on_work(self, data: st.DataObject) -> None:
        """Accept tasks, most of them within reach."""
        ids = [*self.reachable_ids(), *(task.task_id for task in self.state.market[-1:])]
        chosen = data.draw(st.lists(st.sampled_from(ids), min_size=1, max_size=3))
        self.play("; ".join(f"task accept --task-id {task_id}" for task_id in chosen))

    @precondition(goes_on)
    @rule(data=st.data(), waits=st.integers(0, 6))
    def start_a_contract(self, data: st.DataObject, waits: int) -> None:
        """Accept a task within reach, put some or all people on it, dispatch it, and often see it through."""
        task_id = data.draw(st.sampled_from(self.reachable_ids()))
        names = [employee.name for employee in self.state.employees] or ["Emp_1"]
        some = st.lists(st.sampled_from(names), min_size=1, max_size=4)
        team = ",".join(data.draw(st.just(names) | some))
        commands = [f"accept --task-id {task_id}", f"assign --task-id {task_id} --employees {team}"]
        commands.append(f"dispatch --task-id {task_id}")
        self.play("\n".join([*(f"task {command}" for command in commands), *["sim resume"] * waits]))

    @precondition(goes_on)
    @rule(data=st.data(), dispatch=st.booleans())
    def put_people_on(self, data: st.DataObject, dispatch: bool) -> None:  # noqa: FBT001 -- drawn
        """Assign employees to an own task, and often dispatch it in the same turn."""
        task_id = data.draw(st.sampled_from(self.own_ids(("planned", "active"))))
        names = [employee.name for employee in self.state.employees] or ["Emp_1"]
        team = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=len(names) + 1))
        by_id = self.state.config.world.assign_by_employee_id and len(team) == 1
        turn = f"task assign --task-id={task_id} {'--employee-id' if by_id else '--employees'} {', '.join(team)}"
        self.play(f"{turn} && task dispatch --task-id {task_id}" if dispatch else turn)

    @precondition(goes_on)
    @rule(data=st.data(), verb=st.sampled_from(["dispatch", "cancel"]))
    def dispatch_or_cancel(self, data: st.DataObject, verb: str) -> None:
        """Dispatch or cancel an own task, whether that is possible or not."""
        reason = ' --reason "client\'s late; \u201csorry\u201d"' if verb == "cancel" else ""
        self.play(f"task {verb} --task-id {data.draw(st.sampled_from(self.own_ids()))}{reason}")

    @precondition(waits_briefly)
    @rule(times=st.integers(1, 4))
    def wait(self, times: int) -> None:
        """Let time pass, several times in a turn."""
        self.play("\n".join(["sim resume"] * times))

    @precondition(waits_briefly)
    @rule(times=st.integers(1, 5))
    def idle_on(self, times: int) -> None:
        """Say nothing for some turns, up to forced advances."""
        for _ in range(times):
            if self.goes_on():
                self.play("")

    @precondition(lambda self: self.goes_on() and not self.waits_briefly())
    @rule(patience=st.integers(0, 7), turn=st.sampled_from(["", "sim resume"]))
    def wait_for_the_end(self, patience: int, turn: str) -> None:
        """Let time pass where nothing stops it before the end; seldom, or most episodes would be over at once."""
        self.play(turn if patience > 6 else "company status")  # noqa: PLR2004 -- one in eight

    @precondition(goes_on)
    @rule(data=st.data(), separator=st.sampled_from(_SEPARATORS))
    def ask(self, data: st.DataObject, separator: str) -> None:
        """Ask several things at once."""
        inspected = [f"task inspect --task-id {task_id}" for task_id in self.own_ids()]
        questions = st.sampled_from((*_QUESTIONS, *inspected))
        self.play(separator.join(data.draw(st.lists(questions, min_size=1, max_size=5))))

    @precondition(goes_on)
    @rule(data=st.data())
    def speak_oddly(self, data: st.DataObject) -> None:
        """Say grammatical commands in unusual spellings; most have no sense in this world."""
        self.play(data.draw(turns(grammar_for(self.state.config.world))).text)

    @precondition(goes_on)
    @rule(action=hostile_actions() | hostile_texts() | st.sampled_from(REFUSED))
    def be_hostile(self, action: object) -> None:
        """Send hostile text."""
        self.play(action)

    @precondition(goes_on)
    @rule(how=st.sampled_from(["deepcopy", "pickle", "bytes", "clone"]))
    def go_on_with_a_copy(self, how: str) -> None:
        """Replace the environment by a copy of itself; what is checked afterwards is checked on the copy."""
        kept = self.state.to_bytes()
        old = self.env
        if how == "deepcopy":
            self.env = copy.deepcopy(old)
        elif how == "pickle":
            self.env = pickle.loads(pickle.dumps(old))  # noqa: S301 -- made here
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
        kept = self.state
        _, reward, terminated, truncated, info = self.env.step(action)
        require_equal(reward, 0.0, "reward after the end")
        require_equal((terminated, truncated), (kept.terminal_reason is not None, kept.truncated), "flags")
        require_equal(info["terminal_reason"], kept.end_reason, "terminal_reason")
        require(not any(result["ok"] for result in info["results"]), "a command was carried out after the end")
        require(self.state == kept, "the state changed after the end")
        self.start(seed)

    def reachable_ids(self) -> list[str]:
        """Returns ids of listed tasks that can be accepted, one of the market when there are none."""
        ids = [task.task_id for task in self.state.market_by_reward if acceptable(self.state, task)]
        return ids[:_MOST_TO_CHOOSE] or ["Task-1"]

    def own_ids(self, statuses: tuple[str, ...] = ()) -> list[str]:
        """Returns ids of own tasks, one that there is not when there are none."""
        ids = [task.task_id for task in self.state.tasks if not statuses or task.status in statuses]
        return ids or ["Task-999999"]

    # ---- a turn and its checks

    def play(self, action: object) -> None:
        """Plays a turn and checks all that came of it."""
        before = self.state
        twin = copy.deepcopy(self.env)
        split = self.base.clone()
        result = self.env.step(action)
        after = self.state
        observation, reward, terminated, truncated, info = result
        check_turn(before, after)
        require_equal(twin.step(action), result, "what a twin answers to the same turn")
        require_equal(self.base.state_hash(), after.digest(), "state_hash")
        require(self.env.observation_space.contains(observation), "the observation is outside its space")
        require_equal(info["funds_delta_cents"], after.funds_cents - before.funds_cents, "funds_delta_cents")
        require_equal(reward, info["funds_delta_cents"] / 100, "reward in dollars")
        require_equal((terminated, truncated), (after.terminal_reason is not None, after.truncated), "flags")
        _check_texts(observation, info)
        _check_counts(observation, after)
        self._check_counters(before, after, forced=info["forced_advance"])
        self._check_one_by_one(split, action, after, info)

    def check_command(self, before: State, command: Command, after: State, result: dict[str, Any]) -> None:
        """Checks one command and its answer; does nothing unless a subclass overrides it."""

    def check_forced(self, before: State, after: State, events: list[dict[str, Any]]) -> None:
        """Checks a forced advance and its wake events; does nothing unless a subclass overrides it."""

    def _check_one_by_one(self, split: YCBenchEnv, action: object, after: State, info: dict[str, Any]) -> None:
        """Check each answer, with the commands of the turn played one a turn, and that the world becomes the same."""
        results: list[dict[str, Any]] = info["results"]
        commands = parse_turn(action, grammar_for(after.config.world))
        require_equal(len(results), len(commands), "number of results")
        events: list[dict[str, Any]] = []
        ok = True
        invalid = 0
        for parsed, result in zip(commands, results, strict=True):
            require_equal(result["command"], parsed.text, "command of a result")
            if parsed.command is None or (parsed.chained and not ok):
                require(not result["ok"], f"{parsed.text!r} was carried out")
                invalid += not (parsed.chained and not ok)
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

    class Machine(YCBenchMachine):
        pass

    Machine.config = config
    return Machine


def _check_texts(observation: Any, info: dict[str, Any]) -> None:  # noqa: ANN401 -- a wrapper's
    """Check that the JSON texts equal info, unless they are cut."""
    require_equal(json.loads(observation["events"]), info["events"], "events as text")
    require_equal(json.loads(json.dumps(info, allow_nan=False)), info, "info through JSON")
    shown = json.loads(observation["results"])
    full: Any = [{**result, "command": cut_text(result["command"], MAX_COMMAND_ECHO)} for result in info["results"]]
    if len(to_json(full)) <= MAX_JSON_LENGTH - _ROOM_FOR_MARK:
        require_equal(shown, full, "results as text")
    else:
        require("cut" in observation["results"], "results were cut without a mark")


def _check_counts(observation: Any, state: State) -> None:  # noqa: ANN401 -- a wrapper's
    statuses = [task.status for task in state.tasks]
    shown = [int(observation[key]) for key in ("active_tasks", "planned_tasks", "employees", "funds_cents", "turn")]
    counts = [statuses.count("active"), statuses.count("planned"), len(state.employees)]
    require_equal(shown, [*counts, state.funds_cents, state.turns_played + 1], "figures of the observation")
