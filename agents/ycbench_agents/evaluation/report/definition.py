"""What the figures mean, in short."""

from __future__ import annotations

from typing import Final

__all__ = ["DEFINITIONS"]

DEFINITIONS: Final[tuple[tuple[str, str], ...]] = (
    (
        "Score",
        (
            "Mean over seeds of the final funds, a bankrupt company counting 0; a seed's value is the mean "
            "over its repeats. Episodes that failed or are missing enter no mean and are counted beside it."
        ),
    ),
    (
        "Tier",
        (
            "Sorted by score, a policy joins the tier above unless its interval lies wholly below that of the "
            "tier's leader. Within a tier the order means nothing."
        ),
    ),
    (
        "Lift",
        (
            "Score of a policy less that of the baseline on the same seed. Its p-value is that of the two-sided "
            "sign-flip test, exact up to 32 seeds that are not tied, which cannot fall below 2 / 2^n for n of them; "
            "Holm's correction covers a whole table."
        ),
    ),
    (
        "Interval",
        (
            "Of a mean: Student's below 20 seeds, since resampling few values gives too narrow ones, BCa from "
            "there on. Of survival: Clopper and Pearson's."
        ),
    ),
    (
        "Detectable",
        ("The smallest true lift that a paired t test of so many seeds finds with a power of 80%."),
    ),
    (
        "Factor",
        (
            "exp of the mean difference of log funds: how many times the baseline's funds, as a geometric mean. "
            "Left out where an episode ended with less than a dollar."
        ),
    ),
    (
        "Adversarial share",
        (
            "Share of the accepted tasks that came from adversarial clients (paper, figure 4a); the market's "
            "share is that of the tasks on offer."
        ),
    ),
    (
        "Needed trust",
        ("Share of the tasks completed in time whose offer required trust (paper, figure 3a)."),
    ),
    (
        "Client policy",
        (
            "Whether notes named clients to work with (select), to avoid (avoid), both or none at any time "
            "(paper, figure 4b); decided by words near the clients' names."
        ),
    ),
    (
        "Failure cause",
        (
            "Adversarial client: work was inflated. Over-committed: its team alone would have been in time. "
            "Late dispatch: it would have been, had it begun when the task was accepted. Understaffed: the "
            "whole staff would have made it. Out of reach: not even that (paper, section 5 and figure 5a)."
        ),
    ),
    (
        "Reliability",
        (
            "What went wrong beside the game: commands that are not grammatical, calls that nobody could "
            "read, legal commands that were refused, queries that failed, turns in which the environment "
            "moved time. No part of the score."
        ),
    ),
)
"""Terms and what they mean; docs/measurements.md and docs/statistics.md say it exactly."""
