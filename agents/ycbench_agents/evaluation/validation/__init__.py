"""Whether an evaluation may be published: named rules, checked one by one (docs/validation.md)."""

from ycbench_agents.evaluation.validation.check import Check, CheckStatus
from ycbench_agents.evaluation.validation.digest import record_digest
from ycbench_agents.evaluation.validation.rules import Limits, Replay, Rules, SuiteRule, Telemetry
from ycbench_agents.evaluation.validation.rules_file import load_rules
from ycbench_agents.evaluation.validation.validating import Validation, validate

__all__ = [
    "Check",
    "CheckStatus",
    "Limits",
    "Replay",
    "Rules",
    "SuiteRule",
    "Telemetry",
    "Validation",
    "load_rules",
    "record_digest",
    "validate",
]
