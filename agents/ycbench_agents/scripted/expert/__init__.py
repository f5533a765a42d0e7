"""The expert: a strong policy that sees only what an agent sees."""

from ycbench_agents.scripted.expert.policy import ExpertPolicy

__all__ = ["ExpertPolicy"]
