"""How to read the tables: what intervals, p-values and tiers say, and what they do not."""

from __future__ import annotations

from typing import Final

from ycbench_agents.evaluation.statistic import BCA_NEEDS, DEFAULT_SETTINGS, EXACT_LIMIT

__all__ = ["COMPARISON_READING", "CONDUCT_READING", "LEADERBOARD_READING"]

_MISSED: Final = f"{1 - DEFAULT_SETTINGS.power:.0%}"
_RANDOM_FLOOR: Final = f"1 / {DEFAULT_SETTINGS.resamples + 1:,}"
LEADERBOARD_READING: Final[tuple[str, ...]] = (
    (
        "The place is not a result, the tier is. Policies of a tier are not told apart from the one that leads "
        "it; on the same seeds they may still differ, as comparisons with the baseline show."
    ),
    (
        "A score is a mean, so one rich seed can carry it. As many seeds are below the median as above it: where "
        "the two are far apart, seeds differ much."
    ),
    (
        f"An interval can reach below $0, although no score can: below {BCA_NEEDS} seeds it is Student's, as wide "
        "on one side as on the other. It says that seeds are few or differ much, not that money may be lost. How "
        "often a company fails is told by survival, whose interval stays within its bounds."
    ),
    (
        "An interval from $0 to $0 is that of a policy that was bankrupt on every seed. Its width of 0 says that "
        "these seeds show no spread, not that there is none."
    ),
    (
        "Spread across seeds is how much the market decides. Spread within seeds, shown where episodes are "
        "repeated, is how much a policy differs from itself in the same market."
    ),
    (
        "A policy with failed or missing episodes stands below all complete ones, its score in brackets and "
        "without a tier."
    ),
)
"""Of the leaderboard."""

COMPARISON_READING: Final[tuple[str, ...]] = (
    (
        "A lift is worked out seed by seed against the baseline in the same market, which takes the luck of the "
        "market out."
    ),
    (
        "An interval of the lift can leave 0 out while p is 0.25 and Holm p is 1. Student's interval of few seeds"
        " rests on lifts that are normally distributed; flipping signs assumes no such thing, but has a floor. "
        "Where the two disagree, trust the p."
    ),
    (
        f"The floor of p is 2 / 2^n for n seeds without a tie, up to {EXACT_LIMIT} of them; of more, flips are "
        f"drawn at random, and it is {_RANDOM_FLOOR}. A p at its floor says that every seed points the same way; "
        "only more seeds could say more."
    ),
    (
        "Holm p allows for many policies being compared at once, so its floor is higher: up to their number times"
        " that of p. What cannot become significant, whatever the lift, is named below the table."
    ),
    (
        "Detectable is for planning: a t test of so many seeds would miss a smaller true lift in more than "
        f"{_MISSED} of all cases."
    ),
    (
        "Percent and factor break where funds are near 0. A factor is left out where an episode ended with less "
        "than $1; read the difference of survival then, which is in percentage points."
    ),
)
"""Of comparisons with the baseline."""

CONDUCT_READING: Final[tuple[str, ...]] = (
    (
        "Figures are means over seeds. A seed on which a figure is not defined, such as a win rate without a "
        "completed task, does not enter its mean."
    ),
    "A win rate can be raised by leaving what is late unfinished: read it beside Overdue.",
    (
        "Concurrency is the mean over turns: how much is under way while the agent decides. Concurrency over time"
        " is the mean over hours, so a long wait with one open task counts in full. Most at once is a single "
        "moment."
    ),
)
"""Of tasks, behaviour and cost."""
