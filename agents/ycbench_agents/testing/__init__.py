"""Public test kit: check that a policy keeps the contract of all policies.

Three lines check one of your own; what is wrong comes as a ``PolicyConformanceError``, an AssertionError that says what
to do about it::

    from ycbench_agents.testing import check_policy

    check_policy(MyPolicy)

``check_policy_in_processes`` plays it in processes that hash differently, ``check_sees_only_observations`` beside
worlds whose hidden figures differ. See docs/policies.md.
"""

from ycbench_agents.testing.conformance import check_policy
from ycbench_agents.testing.non_interference import check_sees_only_observations
from ycbench_agents.testing.processes import check_policy_in_processes
from ycbench_agents.testing.report import EpisodeReport, PolicyConformanceError, PolicyReport

__all__ = [
    "EpisodeReport",
    "PolicyConformanceError",
    "PolicyReport",
    "check_policy",
    "check_policy_in_processes",
    "check_sees_only_observations",
]
