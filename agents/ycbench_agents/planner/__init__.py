"""A planner that sees everything, and upper bounds on what anybody can reach: yardsticks, no policies.

Both are privileged: they read the state, hidden figures included, and the future market. What they find is a score to
measure policies with, and a list of commands that anybody can replay; neither plays from observations.
"""

from ycbench_agents.planner.bound import MOST_ACCEPTS_A_SLOT, Bound, upper_bound
from ycbench_agents.planner.foresight import Foresight, PlannerError
from ycbench_agents.planner.plan import Plan, load_plan, replay_plan, save_plan
from ycbench_agents.planner.search import MOST_PASSES, Progress, plan

__all__ = [
    "MOST_ACCEPTS_A_SLOT",
    "MOST_PASSES",
    "Bound",
    "Foresight",
    "Plan",
    "PlannerError",
    "Progress",
    "load_plan",
    "plan",
    "replay_plan",
    "save_plan",
    "upper_bound",
]
