"""Public test kit: check that a policy keeps the contract of all policies.

Three lines check one of your own; a ``PolicyConformanceError``, an AssertionError, says what is wrong and what to do::

    from ycbench_agents.testing import check_policy

    check_policy(MyPolicy)

``check_policy_in_processes`` plays it in processes that hash differently, ``check_sees_only_observations`` beside
worlds whose hidden figures differ. See docs/policies.md.
"""

from ycbench_agents.testing.conformance import (
    EpisodeReport,
    PolicyConformanceError,
    PolicyReport,
    check_policy,
    check_sees_only_observations,
)
from ycbench_agents.testing.processes import check_policy_in_processes

__all__ = [
    "EpisodeReport",
    "PolicyConformanceError",
    "PolicyReport",
    "check_policy",
    "check_policy_in_processes",
    "check_sees_only_observations",
]
