"""What comparisons say they cannot show: too few seeds, ties, too many policies."""

from __future__ import annotations

from ycbench_agents.evaluation.report.significance import significance_notes
from ycbench_agents.evaluation.statistic import Sample, StatisticSettings, compare_family

QUICK = StatisticSettings(resamples=99)
BASELINE = 1000


def notes(**lifts: list[int]) -> tuple[str, ...]:
    """Return the notes of policies that have so much more than the baseline, seed by seed."""
    samples = {
        name: Sample({str(seed): [BASELINE + lift] for seed, lift in enumerate(found)}) for name, found in lifts.items()
    }
    longest = max(map(len, lifts.values()))
    return significance_notes(
        compare_family(samples, Sample({str(seed): [BASELINE] for seed in range(longest)}), QUICK)
    )


def test_policies_with_too_few_seeds_are_named_with_their_floors() -> None:
    [note] = notes(a=[1, 2, 3], b=[3, 2, 1], c=[1, 0, 2], d=[1])
    assert note == (
        "Too few seeds for p to reach 0.05, whatever the lift: a, b (3 seeds: at least 0.25); c (3 seeds, 1 tied: at "
        "least 0.5); d (1 seed: at least 1). It takes 6 without a tie, and 8 for Holm p with 4 policies."
    )


def test_a_policy_that_ties_on_every_seed_is_told_from_one_with_few_seeds_and_says_nothing_of_the_others() -> None:
    assert notes(good=[1, 2, 3, 4, 5, 6, 7], same=[0] * 7) == (
        "Too many ties for p to reach 0.05, since a tie has no sign to flip: same (7 seeds, 7 tied: at least 1).",
    )


def test_where_holm_alone_cannot_reach_significance_it_says_so_with_its_floor() -> None:
    seven = list(range(1, 8))
    [note] = notes(a=seven, b=seven, c=seven, d=seven, e=seven)
    assert note == (
        "Holm p cannot reach 0.05, though p can, since it allows for all 5 policies of this table: a, b, c, d, e (at "
        "least 0.07812). It takes 8 seeds without a tie."
    )
    six = seven[:6]
    assert "a, b, c, d (at least 0.125)" in notes(a=six, b=six, c=six, d=six)[0]


def test_of_one_policy_with_enough_seeds_nothing_is_said_and_of_few_seeds_nothing_of_holm() -> None:
    assert notes(a=[1, 2, 3, 4, 5, 6]) == ()
    assert notes(a=[1, -2, 3, -4, 5, 6]) == ()  # what p is does not matter, only what it could be
    assert notes(a=[1, 2, 3, 4, 5]) == (
        "Too few seeds for p to reach 0.05, whatever the lift: a (5 seeds: at least 0.0625). It takes 6 without a tie.",
    )


def test_a_policy_without_a_pair_counts_in_the_family_and_has_no_floor_of_its_own() -> None:
    samples = {"a": Sample({str(seed): [BASELINE + 1] for seed in range(6)}), "absent": Sample({"9": [1]})}
    found = compare_family(samples, Sample({str(seed): [BASELINE] for seed in range(6)}), QUICK)
    [note] = significance_notes(found)
    assert note == (
        "Holm p cannot reach 0.05, though p can, since it allows for all 2 policies of this table: a (at least "
        "0.0625). It takes 7 seeds without a tie."
    )
