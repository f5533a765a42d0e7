"""Tables over many runs: their rows worked out by hand, the same columns for any input."""

# ruff: noqa: ANN401 -- the kit comes as a fixture

import importlib.util
import sys
from collections.abc import Callable
from typing import Any

import pytest

from ycbench_agents.evaluation.episode import EpisodeKey
from ycbench_agents.evaluation.measurement import RunMeasures, frames, measure_run
from ycbench_env import MissingExtraError
from ycbench_env.testing import tiny_config
from ycbench_env.vocabulary import DOMAINS

KEYS = ["policy", "preset", "seed", "repeat"]
ALL = [getattr(frames, name) for name in frames.__all__]


@pytest.fixture
def runs(kit: Any, start: Callable[..., str]) -> dict[EpisodeKey, RunMeasures]:
    """Runs in no order: one that fails for its staff, one without clients, a bankrupt one without tasks."""
    failing = kit.record(start("Task-1", "Emp_1"), "sim resume", "scratchpad write --content 'Avoid Vanguard'")
    alone = kit.record(start("Task-1", "Emp_1", "Emp_2"), "sim resume", config=tiny_config(num_clients=0))
    poor = kit.record(*[""] * 5, config=tiny_config(initial_funds_cents=150_000), scratchpad=False)
    return {
        EpisodeKey("says", "tiny", "10"): measure_run(failing),
        EpisodeKey("says", "tiny", "9", 2): measure_run(alone),
        EpisodeKey("idle", "tiny", "9"): measure_run(poor),
    }


@pytest.mark.parametrize("frame", ALL, ids=frames.__all__)
def test_an_empty_input_gives_the_same_columns_and_types(runs: dict[EpisodeKey, RunMeasures], frame: Any) -> None:
    full, empty = frame(runs), frame({})
    assert list(full.columns[:4]) == list(empty.columns[:4]) == KEYS
    assert list(full.columns) == list(empty.columns)
    assert list(full.dtypes) == list(empty.dtypes)
    assert (len(full) > 0, len(empty)) == (True, 0)
    assert {str(kind) for kind in empty.dtypes} <= {"string", "Int64", "Float64", "boolean"}


@pytest.mark.parametrize("frame", ALL, ids=frames.__all__)
def test_the_order_of_the_input_does_not_matter(runs: dict[EpisodeKey, RunMeasures], frame: Any) -> None:
    assert frame(runs).equals(frame(dict(reversed(runs.items()))))


def rows(frame: Any, *columns: str) -> list[tuple[Any, ...]]:
    """Rows of some columns, missing values as None."""
    part = frame[list(columns)].astype(object)
    return [tuple(row) for row in part.where(part.notna(), None).itertuples(index=False)]


def test_outcomes_come_sorted_by_policy_and_by_seeds_as_numbers(runs: dict[EpisodeKey, RunMeasures]) -> None:
    columns = ("policy", "seed", "repeat", "is_bankrupt", "bankruptcy_time", "final_funds_cents", "win_rate_fraction")
    assert rows(frames.outcomes(runs), *columns) == [
        ("idle", "9", 1, True, "2025-02-03T09:00:00", -50_000, None),
        ("says", "9", 2, False, None, 11_000_000, 1.0),
        ("says", "10", 1, False, None, 9_390_000, 0.0),
    ]


def test_seeds_that_are_hashes_come_after_numbers(runs: dict[EpisodeKey, RunMeasures]) -> None:
    measured = next(iter(runs.values()))
    seeds = ["f00d", "10", "\u00b2", "2"]
    table = frames.outcomes({EpisodeKey("p", "q", seed): measured for seed in seeds})
    assert list(table["seed"]) == ["2", "10", "f00d", "\u00b2"]


def test_funds_have_a_row_for_the_start_and_each_month_until_the_end(runs: dict[EpisodeKey, RunMeasures]) -> None:
    assert rows(
        frames.funds_by_month(runs), "policy", "month", "label", "is_complete", "funds_cents", "payroll_cents"
    ) == [
        ("idle", 0, "start", True, 150_000, 0),
        ("idle", 1, "2025-01", True, 150_000, 0),
        ("idle", 2, "2025-02", False, -50_000, 200_000),
        ("says", 0, "start", True, 10_000_000, 0),
        ("says", 1, "2025-01", False, 11_000_000, 0),
        ("says", 0, "start", True, 10_000_000, 0),
        ("says", 1, "2025-01", False, 9_390_000, 0),
    ]


def test_failures_have_a_row_for_each_cause_and_shares_that_sum_to_one(runs: dict[EpisodeKey, RunMeasures]) -> None:
    table: Any = frames.failures(runs)
    one = table[table["seed"] == "10"]
    assert rows(one, "paper_cause", "cause", "failures", "fraction") == [
        ("adversarial_client", "adversarial_client", 0, 0.0),
        ("over_committed", "over_committed", 0, 0.0),
        ("incapable_team", "late_dispatch", 0, 0.0),
        ("incapable_team", "understaffed", 1, 1.0),
        ("incapable_team", "out_of_reach", 0, 0.0),
    ]
    assert table[table["policy"] == "idle"]["fraction"].isna().all()
    assert rows(frames.failed_tasks(runs), "task_id", "late_hours", "team_alone", "staff_alone") == [
        ("Task-1", 17.0, False, True)
    ]


def test_tables_of_clients_leave_runs_without_clients_out(runs: dict[EpisodeKey, RunMeasures]) -> None:
    assert rows(frames.trust(runs), "policy", "client", "is_adversarial", "final_trust", "failed") == [
        ("idle", "Equinox Labs", False, 0.0, 0),
        ("idle", "Vanguard ML", True, 0.0, 0),
        ("says", "Equinox Labs", False, 0.0, 1),
        ("says", "Vanguard ML", True, 0.0, 0),
    ]
    assert set(frames.trust_by_month(runs)["seed"]) == {"9", "10"}
    assert len(frames.trust_by_month(runs)) == 2 * 3 + 2 * 2
    assert rows(frames.acceptance(runs), "policy", "accepted", "adversarial_fraction", "open_adversarial_fraction") == [
        ("idle", 0, None, None),
        ("says", 1, 0.0, 0.5),
    ]
    assert rows(frames.client_policy(runs), "policy", "client_policy", "avoided") == [("says", "avoid", "Vanguard ML")]


def test_prestige_has_a_row_for_each_domain(runs: dict[EpisodeKey, RunMeasures]) -> None:
    table = frames.prestige(runs)
    assert list(table["domain"][:4]) == list(DOMAINS)
    alone = table[(table["seed"] == "9") & (table["policy"] == "says")]
    assert rows(alone, "turn", "domain", "prestige")[4:] == [
        (2, "research", 1.0),
        (2, "inference", 1.1),
        (2, "data_environment", 1.0),
        (2, "training", 1.0),
    ]
    assert len(frames.prestige_by_month(runs)) == 4 * (3 + 2 + 2)


def test_behaviour_calls_reliability_and_efficiency_are_those_of_the_runs(runs: dict[EpisodeKey, RunMeasures]) -> None:
    assert rows(frames.behaviour(runs), "turns", "commands", "accepts", "inspects_per_accept") == [
        (5, 0, 0, None),
        (2, 4, 1, 0.0),
        (3, 5, 1, 0.0),
    ]
    assert rows(frames.calls(runs), "seed", "command", "calls", "refused")[:2] == [
        ("9", "sim resume", 1, 0),
        ("9", "task accept", 1, 0),
    ]
    assert rows(frames.reliability(runs), "empty_turns", "forced_advances", "retries") == [
        (5, 1, None),
        (0, 0, None),
        (0, 0, None),
    ]
    assert rows(frames.efficiency(runs), "total_tokens", "unknown_token_turns", "cost_usd", "revenue_per_usd") == [
        (None, 5, None, None),
        (None, 2, None, None),
        (None, 3, None, None),
    ]


def test_frames_can_be_joined_on_the_key(runs: dict[EpisodeKey, RunMeasures]) -> None:
    joined = frames.outcomes(runs).merge(frames.behaviour(runs), on=KEYS, validate="one_to_one")
    assert len(joined) == 3


def test_without_pandas_the_extra_that_brings_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("frames_without_pandas", frames.__file__)
    assert spec is not None
    assert spec.loader is not None
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ycbench-env\[evaluation\]'"):
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
