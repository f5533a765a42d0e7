"""Results by hand: scores, the leaderboard, usage, the frame."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import attrs
import pandas as pd
import pytest

from ycbench_agents.evaluation.results import (
    Episode,
    Evaluation,
    Player,
    leaderboard,
    loophole_notes,
    mean_over_seeds,
    results_document,
    usage_of,
)
from ycbench_agents.evaluation.suite import EpisodeKey, load_suite
from ycbench_agents.evaluation.tables import leaderboard_frame
from ycbench_agents.runs import Run, RunIdentity, RunOrigin, RunOutcome
from ycbench_env.text import JsonObject

ORIGIN = RunOrigin("3.11", {}, None, "")


def finished(seed: str, funds: int, *, repeat: int = 1, totals: JsonObject | None = None) -> Episode:
    ending = "bankruptcy" if funds < 0 else "horizon_end"
    outcome = RunOutcome("finished", "", ending, None, 10, funds, 0.0, totals or {})
    identity = RunIdentity.of("default", 1, "greedy")
    return Episode(EpisodeKey("greedy", "default", seed, repeat), None, Run(Path("x"), identity, ORIGIN, outcome))


def failed(seed: str) -> Episode:
    return Episode(EpisodeKey("greedy", "default", seed), "RuntimeError: the market of client 7")


def missing(seed: str) -> Episode:
    return Episode(EpisodeKey("greedy", "default", seed))


def evaluation(small: dict[str, Any], episodes: Sequence[Episode], **more: Any) -> Evaluation:  # noqa: ANN401 -- keys of a suite
    suite = load_suite({**small, **more})
    players = (Player("greedy", "default", {}), Player("idle", "default", {}))
    return Evaluation(Path("x"), suite, tuple(episodes), players, "1", ORIGIN)


def test_the_score_counts_a_bankrupt_company_as_zero_and_funds_count_debts(small: dict[str, Any]) -> None:
    [row] = leaderboard(evaluation(small, [finished("1", 1001), finished("2", -500)]))
    assert (row.score_cents, row.final_funds_cents) == (500, 250)  # 500.5 and 250.5, half to even
    assert (row.bankrupt, row.survived, row.survival_fraction, row.is_complete) == (1, 1, 0.5, True)


def test_failed_episodes_did_not_survive_and_count_zero_in_the_second_score(small: dict[str, Any]) -> None:
    [row] = leaderboard(evaluation(small, [finished("1", 900), failed("2"), missing("3")]))
    assert (row.score_cents, row.score_failed_as_zero_cents) == (900, 450)
    assert (row.finished, row.failed, row.missing, row.survival_fraction) == (1, 1, 1, 0.5)
    assert not row.is_complete


def test_a_seed_weighs_the_same_whatever_its_repeats() -> None:
    assert mean_over_seeds([("1", 100), ("1", 300), ("2", 0), ("3", None)]) == 100
    assert mean_over_seeds([("1", None)]) is None


def test_the_best_score_with_failures_as_0_comes_first(small: dict[str, Any]) -> None:
    def of(policy: str, *episodes: Episode) -> list[Episode]:
        return [attrs.evolve(each, key=attrs.evolve(each.key, policy=policy)) for each in episodes]

    found = evaluation(
        small,
        [
            *of("low", finished("1", 10), finished("2", 10)),
            *of("tied", finished("1", 20), finished("2", 30)),
            *of("rich, half failed", finished("1", 99), failed("2")),
            *of("also tied", finished("1", 30), finished("2", 20)),
            *of("half missing", finished("1", 999), missing("2")),
            *of("missing", missing("1"), missing("2")),
        ],
    )
    rows = leaderboard(found)
    order = ["rich, half failed", "also tied", "tied", "low", "half missing", "missing"]
    assert [row.policy for row in rows] == order
    assert rows[-1].survival_fraction is None
    names = ("status", "final_funds_cents", "score_cents")
    frame = pd.DataFrame(
        [attrs.asdict(each.key) | {name: getattr(each, name) for name in names} for each in found.episodes]
    )
    frame = frame.assign(ending="", tasks_accepted=0, tasks_never_dispatched=0).convert_dtypes()
    assert leaderboard_frame(frame)["policy"].tolist() == order  # of the report


def test_usage_adds_up_and_counts_what_is_unknown() -> None:
    totals: JsonObject = {
        "prompt_tokens": {"sum": 70, "unknown_turns": 1},
        "completion_tokens": {"sum": 7, "unknown_turns": 0},
        "cost_usd": {"sum": 0.1, "unknown_turns": 2},
    }
    used = usage_of([finished("1", 1, totals=totals), finished("2", 1, totals=totals), finished("3", 1), missing("4")])
    assert used is not None
    assert (used.runs, used.turns, used.tokens, used.cost_usd) == (2, 20, 154, Decimal("0.2"))
    assert (used.unknown_turns, used.unknown_cost_turns) == (2, 4)
    assert used.to_dict()["cost_usd"] == 0.2
    assert usage_of([finished("3", 1)]) is None
    partial = usage_of([finished("1", 1, totals={"cost_usd": {"sum": None, "unknown_turns": 10}})])
    assert partial is not None
    assert (partial.tokens, partial.cost_usd) == (None, None)
    assert [str(used), str(partial)] == [
        "20 turns, at least 154 tokens, at least $0.20",
        "10 turns, unknown tokens, unknown cost",
    ]


def test_held_out_results_hold_no_text_of_an_error(small: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRETS", "987654321,5")
    found = evaluation(small, [finished("h1", 5), failed("h2")], seeds={"variable": "SECRETS"})
    document = str(results_document(found))
    assert "987654321" not in document
    assert "client 7" not in document
    assert "RuntimeError" in document
    assert "client 7" in str(results_document(evaluation(small, [failed("1")])))


def test_policies_that_only_renew_the_market_are_named() -> None:
    (note,) = loophole_notes([("rolls", 10, 10), ("rolls", 1, 2), ("half", 5, 10), ("idle", 0, 0)])
    assert note.startswith("rolls uses a loophole of the rules: it never dispatches 92% of the tasks")
