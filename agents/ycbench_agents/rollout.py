"""Playing an episode from reset to its end."""

from __future__ import annotations

from typing import Any, cast

import attrs
import gymnasium as gym

from ycbench_agents.base import Policy, Turn, checked_turn, policy_seed
from ycbench_env import Info, Observation


@attrs.frozen
class Trajectory:
    """An episode as it was played."""

    seed: int  # of the run
    observations: tuple[Observation, ...]  # after reset and after each turn, so one more than actions
    actions: tuple[Turn, ...]
    rewards: tuple[float, ...]  # of each turn, in dollars
    infos: tuple[Info, ...]  # those that belong to the observations
    terminated: bool  # the world ended: bankruptcy or horizon
    truncated: bool  # a turn limit ended the episode first

    @property
    def total_return(self) -> float:
        """Sum of all rewards, in dollars, exact to the cent."""
        return sum(info["funds_delta_cents"] for info in self.infos) / 100

    @property
    def final_funds_cents(self) -> int:
        """Funds at the end, in cents; negative when bankrupt."""
        return int(self.observations[-1]["funds_cents"])

    @property
    def terminal_reason(self) -> str | None:
        """Why the episode ended: bankruptcy, horizon_end or max_turns; None when it was cut off from outside."""
        return self.infos[-1]["terminal_reason"]

    @property
    def turns(self) -> int:
        """Number of turns played."""
        return len(self.actions)


def rollout(env: gym.Env[Any, Any], policy: Policy, seed: int, *, max_turns: int | None = None) -> Trajectory:
    """Return the trajectory of one episode.

    Args:
        env: The environment; it is reset here and left at the end of the episode.
        policy: Who plays; it is reset with ``policy_seed(seed)``.
        seed: Run seed, a non-negative integer.
        max_turns: Stop after so many turns, None for no limit; needed only where the configuration turns the forced
            advance off and the policy may let time stand still for ever.

    Raises:
        SeedError: The seed is no non-negative integer.
        TurnError: The policy returned something that is no turn.
    """
    observation, info = env.reset(seed=seed)
    policy.reset(policy_seed(seed))
    observations, infos = [observation], [cast("Info", info)]
    actions: list[Turn] = []
    rewards: list[float] = []
    terminated = truncated = False
    while not (terminated or truncated) and (max_turns is None or len(actions) < max_turns):
        actions.append(checked_turn(policy.act(observation), policy, len(actions) + 1))
        observation, reward, terminated, truncated, info = env.step(actions[-1])
        observations.append(observation)
        rewards.append(float(reward))
        infos.append(cast("Info", info))
    parts = tuple(observations), tuple(actions), tuple(rewards), tuple(infos)
    return Trajectory(int(seed), *parts, terminated=terminated, truncated=truncated)
