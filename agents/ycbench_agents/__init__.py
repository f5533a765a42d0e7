"""Whoever plays YC-Bench, and what runs and judges them; uses the public face of ``ycbench_env`` only."""

from ycbench_agents.base import Decision, DeliberatingPolicy, Policy, PolicyStoppedError, TurnError, policy_seed
from ycbench_agents.registry import PolicyError, make_policy, policy_names
from ycbench_agents.rollout import Trajectory, rollout

__all__ = [
    "Decision",
    "DeliberatingPolicy",
    "Policy",
    "PolicyError",
    "PolicyStoppedError",
    "Trajectory",
    "TurnError",
    "make_policy",
    "policy_names",
    "policy_seed",
    "rollout",
]
