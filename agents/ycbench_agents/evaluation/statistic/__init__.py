"""Statistics one can publish, as pure functions of plain numbers (docs/statistics.md)."""

from ycbench_agents.evaluation.statistic.comparison import (
    Comparison,
    FamilyComparison,
    Lift,
    LogLift,
    compare,
    compare_family,
    lift_of,
)
from ycbench_agents.evaluation.statistic.error import StatisticError
from ycbench_agents.evaluation.statistic.holm import HolmFamily, HolmMember, holm
from ycbench_agents.evaluation.statistic.interval import (
    BCA_NEEDS,
    bca_interval,
    clopper_pearson_interval,
    mean_interval,
    student_interval,
)
from ycbench_agents.evaluation.statistic.pairing import Pair, Pairing, pair_by_seed
from ycbench_agents.evaluation.statistic.permutation import (
    EXACT_LIMIT,
    SignFlipTest,
    pairs_needed,
    sign_flip_floor,
    sign_flip_test,
)
from ycbench_agents.evaluation.statistic.power import (
    DetectableDifference,
    minimal_detectable_difference,
    paired_power,
)
from ycbench_agents.evaluation.statistic.result import Estimate, Interval, Result
from ycbench_agents.evaluation.statistic.sample import Sample, SeedValues
from ycbench_agents.evaluation.statistic.scale import censored_count, log_funds, score
from ycbench_agents.evaluation.statistic.settings import DEFAULT_SETTINGS, StatisticSettings
from ycbench_agents.evaluation.statistic.spread import Spread, spread_of
from ycbench_agents.evaluation.statistic.summary import GroupSummary, Summary, group_summary, summarise
from ycbench_agents.evaluation.statistic.survival import Survival, SurvivalLift, survival_lift, survival_of
from ycbench_agents.evaluation.statistic.tally import Tally
from ycbench_agents.evaluation.statistic.tier import Tier, Tiers, tiers
from ycbench_agents.evaluation.statistic.win import WinRate, win_rate

__all__ = [
    "BCA_NEEDS",
    "DEFAULT_SETTINGS",
    "EXACT_LIMIT",
    "Comparison",
    "DetectableDifference",
    "Estimate",
    "FamilyComparison",
    "GroupSummary",
    "HolmFamily",
    "HolmMember",
    "Interval",
    "Lift",
    "LogLift",
    "Pair",
    "Pairing",
    "Result",
    "Sample",
    "SeedValues",
    "SignFlipTest",
    "Spread",
    "StatisticError",
    "StatisticSettings",
    "Summary",
    "Survival",
    "SurvivalLift",
    "Tally",
    "Tier",
    "Tiers",
    "WinRate",
    "bca_interval",
    "censored_count",
    "clopper_pearson_interval",
    "compare",
    "compare_family",
    "group_summary",
    "holm",
    "lift_of",
    "log_funds",
    "mean_interval",
    "minimal_detectable_difference",
    "pair_by_seed",
    "paired_power",
    "pairs_needed",
    "score",
    "sign_flip_floor",
    "sign_flip_test",
    "spread_of",
    "student_interval",
    "summarise",
    "survival_lift",
    "survival_of",
    "tiers",
    "win_rate",
]
