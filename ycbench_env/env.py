"""``YCBenchEnv``, Gymnasium's face of the POMDP: it keeps the state, and the pure functions do the rest."""

from __future__ import annotations

import copy
import functools
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from ycbench_env.actions import grammar_for
from ycbench_env.config import Config, load_config
from ycbench_env.errors import ConfigError, StateError
from ycbench_env.generator import checked_seed, initial_state
from ycbench_env.observation import Observation, TurnReport, observe
from ycbench_env.observation.info import Info, make_info
from ycbench_env.reward import reward
from ycbench_env.spaces import CommandSpace, observation_space
from ycbench_env.termination import is_terminated, is_truncated
from ycbench_env.turn import ScratchpadHandler, play_turn
from ycbench_env.types.codec import StateDigests
from ycbench_env.types.state import State

_RENDER_MODES: Final = ["ansi", "human", "rgb_array"]
_SEED_BOUND: Final = 2**31  # seeds that an unseeded reset draws lie below


class YCBenchEnv(gym.Env["Observation", "str | Sequence[str]"]):
    """A simulated startup, run by text commands for a year.

    ## Description
    The agent takes contracts from a market, puts employees on them, lets time pass and is paid when the work is done
    before its deadline. Payroll falls due each month. Success builds prestige, which opens better contracts, and the
    trust of clients, which makes their work smaller; some clients secretly inflate the work once a contract is
    accepted. The environment is a deterministic POMDP: equal configuration, run seed and actions give equal bytes.

    ## Action space
    `CommandSpace`: one **turn**, a text with any number of commands (docs/commands.md), or a sequence of such texts.
    Any text is answered; none raises. Texts have no arrays to share between processes, so asynchronous vector
    environments need `gymnasium.make_vec(..., "async", vector_kwargs={"shared_memory": False})`.

    ## Observation space
    A `Dict`: the status summary as arrays of shape () and texts, `events` and `results` as JSON text, and `text`, all
    of it for a language model. See `ycbench_env.observation.Observation`.

    ## Rewards
    The change in funds during the turn, in dollars. `info["funds_delta_cents"]` has it in cents.

    ## Starting state
    `reset(seed=k)` makes the world of run seed k: the market follows the run seed, staff and clients the world seed of
    the configuration, which under the classic rules is the run seed. A reset without seed draws the next run seed from
    `np_random`.

    ## Episode end
    Terminated: bankruptcy (funds below 0) or the horizon. Truncated: `max_turns` of the configuration. Afterwards every
    command is answered with an error and changes nothing.

    ## Arguments
    `config`: a preset's name, the path of a TOML file, its tables as a dict, or a `Config`; `render_mode`: "ansi",
    "human" or "rgb_array". To a type checker the result of `gymnasium.make` has no `clone`, `get_state` or
    `set_state`; an environment made as `YCBenchEnv("reference")` has.

    ## Version history
    v0: first version.
    """

    metadata = {"render_modes": _RENDER_MODES, "render_fps": 4}  # noqa: RUF012 -- gymnasium declares it so

    def __init__(
        self, config: str | os.PathLike[str] | Mapping[str, object] | Config = "default", render_mode: str | None = None
    ) -> None:
        """Make an environment; the world itself is made by ``reset``.

        Raises:
            ConfigError: The configuration or the render mode cannot be used; the message shows how to put it right.
        """
        if render_mode is not None and render_mode not in _RENDER_MODES:
            msg = f"render_mode: got {render_mode!r}, expected one of {', '.join(_RENDER_MODES)} or None"
            raise ConfigError(msg)
        self.config = load_config(config)
        self.render_mode = render_mode
        self.scratchpad: ScratchpadHandler | None = None
        self.scratchpad_is_free = True  # no wrapper holds it
        self._state: State | None = None
        self._digests = StateDigests()
        self._report = TurnReport()

    @functools.cached_property
    def action_space(self) -> CommandSpace:  # pyright: ignore[reportIncompatibleVariableOverride] -- made when asked for
        """Turns that the grammar understands."""
        world = self.config.world
        return CommandSpace(task_ids=world.num_market_tasks, employees=world.num_employees, grammar=grammar_for(world))

    @functools.cached_property
    def observation_space(self) -> gym.spaces.Dict:  # pyright: ignore[reportIncompatibleVariableOverride] -- as above
        """All observations."""
        return observation_space()

    @property
    def spec(self) -> EnvSpec | None:
        """The registration's record of how this environment was made."""
        return self.__dict__.get("_spec")

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:  # pyright: ignore[reportIncompatibleVariableOverride] -- as above
        """Keep the record in a form that goes to JSON and back, whatever the configuration was given as."""
        if spec is not None and "config" in spec.kwargs:
            source: Any = spec.kwargs["config"]
            try:
                # Text of a path; of a table a copy, since the caller may go on to change it.
                source = json.loads(json.dumps(source, allow_nan=False, default=os.fspath))
            except (TypeError, ValueError):  # a Config, or a table that holds a date
                source = self.config.to_dict()
            spec = copy.copy(spec)
            spec.kwargs = {**spec.kwargs, "config": source}
        self.__dict__["_spec"] = spec

    def reset(  # pyright: ignore[reportIncompatibleMethodOverride] -- an info with known keys
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, Info]:
        """Start a new episode.

        Args:
            seed: Run seed, a non-negative integer; None draws the next one from ``np_random``.
            options: Options of wrappers (``keep_scratchpad``); this environment itself has none.

        Raises:
            SeedError: The seed is no non-negative integer.
            ConfigError: An option is unknown.
        """
        if options:
            got = sorted(map(str, options)) if isinstance(cast("object", options), dict) else type(options).__name__
            msg = f"reset options: got {got}, expected none; is a wrapper missing?"
            raise ConfigError(msg)
        run_seed = None if seed is None else checked_seed(seed)
        super().reset(seed=run_seed)
        if run_seed is None:
            run_seed = int(self.np_random.integers(_SEED_BOUND))
        self._state = initial_state(self.config, run_seed)
        self._report = TurnReport()
        self._show()
        return observe(self._state, self._report), make_info(self._state, self._state, self._report, 0)

    def step(  # pyright: ignore[reportIncompatibleMethodOverride] -- an info with known keys
        self, action: str | Sequence[str]
    ) -> tuple[Observation, float, bool, bool, Info]:
        """Play one turn: carry out every command of a text, or of a sequence of texts, and answer each.

        Returns:
            Observation, reward in dollars, terminated, truncated, info.

        Raises:
            ResetNeeded: ``reset`` was not called yet.
        """
        before = self._required_state()
        turn = play_turn(before, action, self.scratchpad)
        state = self._state = turn.state
        self._report = turn.report
        self._show()
        return (
            observe(state, turn.report),
            reward(before, state),
            is_terminated(state),
            is_truncated(state),
            make_info(before, state, turn.report, turn.invalid_commands),
        )

    def render(self) -> str | NDArray[np.uint8] | None:
        """Return the picture of the present state that ``render_mode`` names.

        Returns:
            Text for "ansi", an array (height, width, 3) of uint8 for "rgb_array"; "human" prints to the terminal and
            returns None, as does no mode at all.

        Raises:
            MissingExtraError: "human" needs rich, "rgb_array" needs matplotlib.
        """
        if self.render_mode is None:
            return None
        from ycbench_env.viewer import render_state  # noqa: PLC0415 -- optional libraries behind it

        return render_state(self._required_state(), self.render_mode)

    def get_state(self) -> State:
        """Return the state, hidden figures and turn counters included; immutable."""
        return self._required_state()

    def set_state(self, state: State) -> None:
        """Go on from a state.

        Raises:
            StateError: It is no state, or belongs to another configuration.
        """
        if not isinstance(state, State):  # pyright: ignore[reportUnnecessaryIsInstance] -- callers may not be typed
            msg = f"set_state: got {type(state).__name__}, expected a State; for bytes use State.from_bytes"
            raise StateError(msg)
        if state.config is not self.config and state.config.digest() != self.config.digest():
            msg = "set_state: the state belongs to another configuration; make an environment with config=state.config"
            raise StateError(msg)
        self._state = state
        self._report = TurnReport()

    def state_hash(self) -> str:
        """Return the SHA-256 of the world as hex: money, clock, tasks, staff, clients; no turn counters."""
        return self._digests.of(self._required_state())

    def clone(self) -> YCBenchEnv:
        """Return an independent environment in the same state, without wrappers; cheap, for planning.

        A scratchpad that a wrapper has attached comes along as a copy, so that its commands are answered alike; it is
        free for the next wrapper to take over.

        Its spaces are made anew: a seed given to a space is not copied (``copy.deepcopy`` copies everything).
        """
        twin = copy.copy(self)
        for name in ("action_space", "observation_space"):
            twin.__dict__.pop(name, None)
        twin.__dict__["_np_random"] = copy.deepcopy(self._np_random)
        twin.__dict__["_digests"] = StateDigests()  # each keeps the tasks of its own episode
        twin.scratchpad = copy.deepcopy(self.scratchpad)
        twin.scratchpad_is_free = True
        return twin

    def _required_state(self) -> State:
        if self._state is None:
            msg = "call reset() before anything else, for instance env.reset(seed=1)"
            raise ResetNeeded(msg)
        return self._state

    def _show(self) -> None:
        if self.render_mode == "human":  # gymnasium expects step and reset to print it
            self.render()
