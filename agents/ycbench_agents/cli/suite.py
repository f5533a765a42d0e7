"""Playing every combination of policies, configurations and seeds, and what came of each."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Final, Protocol

import attrs

from ycbench_agents.base import PolicyStoppedError
from ycbench_agents.cli.output import UsageError
from ycbench_agents.cli.policies import make_policy_here
from ycbench_agents.rollout import rollout

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ycbench_agents.base import Policy
    from ycbench_agents.cli.options import Override
    from ycbench_agents.rollout import Trajectory
    from ycbench_env import Config, Observation, YCBenchEnv

__all__ = ["OUTCOMES", "Episode", "Plan", "Rules", "Stop", "Suite", "Watcher", "make_plans", "play_suite"]

OUTCOMES: Final = {"horizon_end": "survived", "bankruptcy": "bankrupt"}
"""What became of a company, by the reason of the end; any other end is "truncated"."""


@attrs.frozen
class Plan:
    """One episode to be played.

    Args:
        policy: Name of the policy.
        preset: Label of the configuration.
        seed: Run seed.
    """

    policy: str
    preset: str
    seed: int


@attrs.frozen
class Rules:
    """What holds for every episode of a suite.

    Args:
        parameters: Parameters of every policy.
        max_turns: Turns after which an episode is cut off, None for no limit.
        overrides: Settings that hold whatever file or preset is played.
    """

    parameters: Mapping[str, object] = attrs.field(factory=dict[str, object])
    max_turns: int | None = None
    overrides: tuple[Override, ...] = ()


_NO_RULES: Final = Rules()


@attrs.frozen
class Episode:
    """An episode that was played.

    Args:
        plan: What was to be played.
        final_funds_cents: Funds at the end.
        completed: Tasks completed in time.
        failed: Tasks completed late.
        cancelled: Tasks given up.
        outcome: survived, bankrupt or truncated.
        ended_at: Simulated time of the end, ISO 8601.
        turns: Turns played.
    """

    plan: Plan
    final_funds_cents: int
    completed: int
    failed: int
    cancelled: int
    outcome: str
    ended_at: str
    turns: int

    @property
    def fate(self) -> str:
        """What became of the company, in words."""
        return self.outcome if self.outcome == "survived" else f"{self.outcome} on {self.ended_at[:10]}"


@attrs.frozen
class Stop:
    """An episode that ended because its policy could not go on.

    Args:
        plan: What was to be played.
        reason: What the policy said.
    """

    plan: Plan
    reason: str


@attrs.frozen
class Suite:
    """What was to be played and what was played.

    Args:
        plans: All episodes that were asked for, in order.
        episodes: Those that were played to their end, in the same order.
        interrupted: Whether Ctrl-C ended it.
        stop: The policy that ended it because it could not go on, None for none.
    """

    plans: tuple[Plan, ...]
    episodes: tuple[Episode, ...]
    interrupted: bool
    stop: Stop | None = None

    @property
    def missing(self) -> tuple[Plan, ...]:
        """The episodes that were not played to their end."""
        played = {episode.plan for episode in self.episodes}
        return tuple(plan for plan in self.plans if plan not in played)


class Watcher(Protocol):
    """Is told how far the suite is."""

    def begin(self, plan: Plan) -> None:
        """An episode begins."""
        ...

    def advance(self, fraction: float) -> None:
        """So much of the episode's simulated time is over, from 0 to 1."""
        ...

    def end(self) -> None:
        """The episode is over."""
        ...


def make_plans(policies: Sequence[str], presets: Sequence[str], seeds: Sequence[int]) -> tuple[Plan, ...]:
    """Return every combination, seeds fastest."""
    return tuple(Plan(policy, preset, seed) for policy in policies for preset in presets for seed in seeds)


def new_policy(name: str, parameters: Mapping[str, object]) -> Policy:
    """Return a new policy.

    Raises:
        UsageError: There is no such policy, or it refuses a parameter.
    """
    try:
        return make_policy_here(name, parameters)
    except (TypeError, ValueError) as error:  # PolicyError is a ValueError
        raise UsageError(str(error)) from None


def play_suite(
    plans: tuple[Plan, ...],
    configs: Mapping[str, Config],
    watcher: Watcher,
    rules: Rules = _NO_RULES,
    keep: Callable[[Plan, Trajectory], None] = lambda _plan, _trajectory: None,
) -> Suite:
    """Play the episodes one after the other and return what came of them.

    Ctrl-C ends the suite, not the program; so does a policy that cannot go on.

    Args:
        plans: What to play.
        configs: Configurations by label.
        watcher: Is told how far it is.
        rules: What holds for all of them.
        keep: Is given each whole trajectory, which is forgotten afterwards.

    Raises:
        UsageError: A policy cannot be made; nothing was played.
    """
    from ycbench_env import YCBenchEnv  # noqa: PLC0415 -- slow to import, and --help does not need it

    # All of them before the first episode, so that a slip in the last name does not cost what was played.
    policies = {name: new_policy(name, rules.parameters) for name in dict.fromkeys(plan.policy for plan in plans)}
    done: list[Episode] = []
    current = plans[0]
    try:
        for plan in plans:
            current = plan
            watcher.begin(plan)
            env = YCBenchEnv(configs[plan.preset])
            trajectory = rollout(env, _Watched(policies[plan.policy], watcher), plan.seed, max_turns=rules.max_turns)
            keep(plan, trajectory)
            done.append(_episode(plan, trajectory, env))
            watcher.end()
    except KeyboardInterrupt:
        return Suite(plans, tuple(done), interrupted=True)
    except PolicyStoppedError as error:
        return Suite(plans, tuple(done), interrupted=False, stop=Stop(current, str(error)))
    return Suite(plans, tuple(done), interrupted=False)


class _Watched:
    """A policy that tells a watcher how much of the simulated time is over."""

    def __init__(self, policy: Policy, watcher: Watcher) -> None:
        self._policy = policy
        self._watcher = watcher
        self._start: dt.datetime | None = None

    def reset(self, seed: int) -> None:
        """Reset the policy."""
        self._policy.reset(seed)
        self._start = None

    def act(self, observation: Observation) -> str | Sequence[str]:
        """Return the policy's turn."""
        now = dt.datetime.fromisoformat(observation["sim_time"])
        end = dt.datetime.fromisoformat(observation["horizon_end"])
        if self._start is None:
            self._start = now
        self._watcher.advance((now - self._start) / (end - self._start) if end > self._start else 1.0)
        return self._policy.act(observation)


def _episode(plan: Plan, trajectory: Trajectory, env: YCBenchEnv) -> Episode:
    """Return what came of an episode whose end the environment shows."""
    # The state, since no answer need have listed all tasks; what is counted here reaches no policy.
    statuses = [task.status for task in env.get_state().tasks]
    return Episode(
        plan=plan,
        final_funds_cents=trajectory.final_funds_cents,
        completed=statuses.count("completed_success"),
        failed=statuses.count("completed_fail"),
        cancelled=statuses.count("cancelled"),
        outcome=OUTCOMES.get(trajectory.terminal_reason or "", "truncated"),
        ended_at=trajectory.observations[-1]["sim_time"],
        turns=trajectory.turns,
    )
