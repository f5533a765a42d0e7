"""Tables of an evaluation: one score, failed episodes as 0, notes and cells, on small frames made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import pytest

from ycbench_agents.evaluation import tables
from ycbench_agents.evaluation.tables import comparison_frame, leaderboard_frame, make_table, means_frame

Row = tuple[str, str, "int | str"]


def episodes(rows: Sequence[Row], preset: str = "default", **metrics: Sequence[float | None]) -> pd.DataFrame:
    """Episodes of policy, seed and final funds in cents, or the status of one that is not finished."""
    funds = [value if isinstance(value, int) else None for *_, value in rows]
    keys = pd.DataFrame(rows, columns=["policy", "seed", "status"])
    frame = keys.assign(
        preset=preset,
        repeat=keys.groupby(["policy", "seed"]).cumcount() + 1,
        status=["finished" if isinstance(value, int) else value for *_, value in rows],
        ending=["bankruptcy" if value is not None and value < 0 else "horizon_end" for value in funds],
        final_funds_cents=pd.array(funds, dtype="Int64"),
        score_cents=pd.array([None if value is None else max(0, value) for value in funds], dtype="Int64"),
    )
    return frame.assign(**{name: pd.array(values, dtype="Float64") for name, values in metrics.items()})


def row(table: pd.DataFrame, policy: str) -> dict[Any, Any]:
    return table.set_index("policy").loc[policy].to_dict()


def texts(frame: pd.DataFrame, columns: Sequence[tables.Column], row: int = 0) -> list[str]:
    """A row as people read it."""
    return [text for text, _ in make_table("", frame, columns).rows[row]]


def test_a_score_is_the_mean_over_seeds_of_means_over_repeats() -> None:
    frame = episodes([("a", "1", 100), ("a", "1", 300), ("a", "2", 500), ("a", "3", -30), ("a", "3", 10)])
    found = row(leaderboard_frame(frame), "a")
    assert found["score_cents"] == found["score_failed_as_zero_cents"] == (200 + 500 + 5) / 3
    assert found["final_funds_cents"] == (200 + 500 - 10) / 3
    assert found["survival_fraction"] == (1 + 1 + 0.5) / 3
    assert (found["median_cents"], found["planned"], found["finished"]) == (200, 5, 5)
    assert found["within_cents"] == pytest.approx((((100**2 + 100**2) + 2 * 5**2) / 2) ** 0.5)


def quitting() -> pd.DataFrame:
    """A policy that fails on the seeds that are poor, where the other one plays on."""
    rich, poor = range(1, 4), range(4, 7)
    steady: list[Row] = [("greedy", str(seed), 1000 if seed in rich else 100) for seed in range(1, 7)]
    quitter: list[Row] = [("quitter", str(seed), 1000) for seed in rich]
    return episodes([*steady, *quitter, *(("quitter", str(seed), "failed") for seed in poor)])


def test_quitting_on_poor_seeds_gains_nothing() -> None:
    board = leaderboard_frame(quitting())
    assert board["policy"].tolist() == ["greedy", "quitter"]
    found = row(board, "quitter")
    assert (found["score_cents"], found["score_failed_as_zero_cents"]) == (1000, 500)
    assert (found["survival_fraction"], found["lift_cents"]) == (0.5, -50)
    assert (found["failed"], found["finished"], found["missing"]) == (3, 3, 0)
    lift = row(comparison_frame(quitting()), "quitter")
    assert (lift["seeds"], lift["wins"], lift["ties"], lift["losses"]) == (6, 0, 3, 3)
    assert lift["survival_lift"] == -0.5
    assert texts(board, tables.LEADERBOARD, row=1)[:3] == ["quitter", "($10.00)", "$5.00"]


def test_missing_episodes_leave_a_policy_without_a_tier() -> None:
    board = leaderboard_frame(episodes([("a", "1", 5), ("b", "1", 9), ("b", "2", "missing"), ("a", "2", 7)]))
    assert board["policy"].tolist() == ["a", "b"]
    assert board["tier"].tolist() == [1, pd.NA]
    assert (row(board, "b")["score_cents"], row(board, "b")["survival_fraction"]) == (9, 1)


def test_nothing_finished_is_a_table_of_dashes() -> None:
    board = leaderboard_frame(episodes([("a", "1", "missing"), ("b", "1", "missing")]))
    assert board[["score_cents", "survival_fraction", "tier"]].isna().all(axis=None)
    assert texts(board, tables.LEADERBOARD) == ["a", "0 of 1"]
    assert texts(board, tables.SPREAD) == ["a", "0", "1", "0", "0"]


def many(seeds: int) -> pd.DataFrame:
    levels = {"greedy": 10, "good": 90, "best": 500}
    return episodes(
        [(name, str(s), level * 1000 + s * (7 + level)) for name, level in levels.items() for s in range(seeds)]
    )


def test_tiers_and_p_come_from_paired_comparisons() -> None:
    board = leaderboard_frame(many(8))
    assert board[["policy", "tier"]].to_numpy().tolist() == [["best", 1], ["good", 2], ["greedy", 3]]
    assert row(board, "best")["p_holm"] == 2 * 2**-7
    assert pd.isna(row(board, "greedy")["p_holm"])
    assert list(tables.leaderboard_notes(board)) == []
    assert leaderboard_frame(many(8), "nobody")["lift_cents"].isna().all()


def test_few_seeds_are_named_as_such() -> None:
    board = leaderboard_frame(many(3))
    assert set(board["tier"]) == {1}
    assert "All 3 policies share a tier" in next(tables.leaderboard_notes(board))
    (note,) = tables.comparison_notes(comparison_frame(many(3)))
    assert note.endswith("it takes 6 without a tie, and 7 for Holm p: good, best.")
    assert list(tables.comparison_notes(comparison_frame(many(6)))) == []


def test_presets_are_compared_apart() -> None:
    frame = pd.concat([episodes([("a", "1", 5)], "x"), episodes([("a", "1", 9), ("b", "1", 10)], "w")])
    board = leaderboard_frame(frame)
    assert board[["preset", "policy"]].to_numpy().tolist() == [["x", "a"], ["w", "b"], ["w", "a"]]


def test_means_are_over_seeds() -> None:
    rows: list[Row] = [("a", "1", 1), ("a", "1", 1), ("a", "2", 1), ("b", "1", 1), ("c", "1", "failed")]
    frame = episodes(rows, turns=[1, 3, 8, 5, 99], retries=[None, None, None, 4, None])
    means = means_frame(frame, ["turns", "retries"])
    assert means["policy"].tolist() == ["a", "b"]
    assert means["turns"].tolist() == [5, 5]
    assert means["turns_deviation"][0] == pytest.approx(18**0.5)
    assert means["retries"].isna().tolist() == [True, False]


def test_endings_are_counted() -> None:
    frame = episodes([("a", "1", 5), ("a", "2", -5), ("a", "3", 7), ("a", "4", 8), ("a", "5", "failed")])
    frame["ending"] = ["horizon_end", "bankruptcy", "max_turns", "cut_off", None]
    assert leaderboard_frame(frame)[["finished", "bankrupt", "cut_off"]].to_numpy().tolist() == [[4, 1, 2]]


def test_cells_show_odd_numbers() -> None:
    compared = pd.DataFrame([dict.fromkeys((key for each in tables.COMPARISON for key in each.keys), -0.00001)])
    found = texts(compared.assign(policy="a-b", p=0.00001), tables.COMPARISON)
    assert (found[0], *found[3:6], found[8]) == ("a-b", "$0", "0", "1e\u221205", "0.0%")
    times = pd.DataFrame([{"policy": "a", "wall_s": 90.0, "wall_s_deviation": 30.0, "latency_s": 0.00212}])
    times = times.assign(latency_s_deviation=None, retries=None, faults=None)
    assert texts(times, tables.TIMES) == ["a", "90.00 \u00b1 30.00", "0.00"]
    costs = pd.DataFrame([dict.fromkeys((key for each in tables.COST for key in each.keys), 0.00212)])
    assert texts(costs, tables.COST)[1] == "0.00212 \u00b1 0.00212"
