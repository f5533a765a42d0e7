"""Metrics of records whose figures are worked out by hand; conftest.py describes the tiny world."""

# ruff: noqa: ANN401 -- the kit comes as a fixture

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ycbench_agents import make_policy
from ycbench_agents.evaluation import metrics as module
from ycbench_agents.evaluation.metrics import (
    METRICS_FILE,
    Meter,
    MetricsError,
    RunMetrics,
    measure_run,
    metrics_dtypes,
    metrics_row,
    metrics_table,
    open_offers,
    read_metrics,
    store_metrics,
)
from ycbench_agents.evaluation.suite import EpisodeKey
from ycbench_agents.runs import Run, RunWarning, read_run
from ycbench_env import transition
from ycbench_env.actions import parse_turn
from ycbench_env.testing import tiny_config

TURNS = (
    # Task-1 takes 200 / 20 = 10 hours: Wednesday 9, one on Thursday. Trust with Equinox Labs becomes 1.0.
    """task inspect --task-id Task-1
    task accept --task-id Task-1
    task assign --task-id Task-1 --employees Emp_1,Emp_2
    task dispatch --task-id Task-1
    sim resume""",
    "market browse\nscratchpad write --content 'Avoid Vanguard.'",
    # The second is no command, so the third is skipped.
    "task accept --task-id Task-2 && bogus && task inspect --task-id Task-1",
    # Task-2 grows to 800 units: 80 hours of Emp_1 from Thursday 10:00 are 8 + 8 x 9, until Tuesday 14 January 18:00.
    # Its deadline is 18 hours after Thursday 10:00: Monday 6 January 10:00. It is late by 200 hours.
    "task assign --task-id Task-2 --employees Emp_1\ntask dispatch --task-id Task-2\nsim resume",
    "task inspect --task-id Task-99\ntask cancel --task-id Task-1 --reason late",
    "task accept --task-id Task-3\nsim resume",
    "",
    "task cancel --task-id Task-3 --reason no",
    "",  # the fifth turn without time passing: forced on to the payroll of 3 February, 200,000 cents
)
"""Nine turns: a success, a failure of an adversarial client, a cancel, and some mistakes."""

# Of 33 days there was an active task from 1 January 09:00 to 2 January 10:00 and on to 14 January 18:00.
BUSY_HOURS, ALL_HOURS = 25 + 296, 33 * 24
ROW = {  # names of columns, and their values
    "status is_complete ending": ("finished", True, None),  # cut off from outside
    "is_bankrupt bankruptcy_time bankruptcy_cause": (False, None, None),
    "sim_time survived_months horizon_months": ("2025-02-03T09:00:00", 12 * (33 / 365), 12),
    # 10,000,000 + 1,220,000 - 1,875,000 / 2 - 200,000
    "initial_funds_cents final_funds_cents": (10_000_000, 10_082_500),
    "revenue_cents fees_cents payroll_cents": (1_220_000, 937_500, 200_000),
    "tasks_accepted tasks_succeeded tasks_failed tasks_cancelled tasks_unfinished": (3, 1, 1, 1, 0),
    "tasks_overdue tasks_never_dispatched tasks_trusted tasks_adversarial": (0, 1, 0, 1),
    "win_rate_fraction trusted_success_fraction adversarial_fraction": (0.5, 0.0, 1 / 3),
    "market_adversarial_fraction open_adversarial_fraction": (0.5, 0.5),
    "failed_adversarial_client failed_over_committed failed_late_dispatch": (1, 0, 0),
    "failed_understaffed failed_out_of_reach failed_incapable_team": (0, 0, 0),
    "client_policy selected_clients avoided_clients": ("avoid", "", "Vanguard ML"),
    "final_client_policy final_selected_clients final_avoided_clients": ("avoid", "", "Vanguard ML"),
    "notes_length turns commands scratchpad_writes inspects accepts": (15, 9, 16, 1, 2, 3),
    "writes_per_100_turns inspects_per_accept commands_per_turn": (100 / 9, 2 / 3, 16 / 9),
    "mean_concurrency mean_concurrency_by_turn max_concurrency": (1.0, 2 / 9, 1),
    "mean_concurrency_by_time": (BUSY_HOURS / ALL_HOURS,),
    "invalid_commands skipped_commands refused_actions failed_queries": (1, 1, 2, 1),
    "empty_turns forced_advances": (2, 1),
    "refused_calls unusable_replies retries faults latency_s cost_usd revenue_per_usd": (None,) * 7,
    "prompt_tokens completion_tokens cached_tokens reasoning_tokens total_tokens": (None,) * 5,
    "unknown_token_turns unknown_cost_turns wall_s": (None, None, 8.0),
}

GATED = tiny_config(
    trust_gating_fraction=0.5,
    num_market_tasks=8,
    dist={"reward_funds_cents": {"type": "uniform", "low": 1_000_000, "high": 4_000_000}},
)
"""Half of the tasks require trust."""

ONE_MOVE = tiny_config(resume_stops_at_payroll=False, resume_requires_active_task=False)
"""A world that ends with the first move of its clock."""

NOTE = "scratchpad append --content hello"


@pytest.fixture
def metrics(kit: Any) -> RunMetrics:
    return measure_run(kit.record(*TURNS))


def test_every_column_of_a_run(metrics: RunMetrics) -> None:
    row = metrics_row(metrics)
    assert {names: tuple(row[name] for name in names.split()) for names in ROW} == ROW
    assert sorted(row) == sorted(name for names in ROW for name in names.split())
    assert list(row) == list(metrics_dtypes())
    assert {type(value) for name, value in row.items() if metrics_dtypes()[name] == "Int64"} == {int, type(None)}


def test_each_client_has_its_trust_and_its_tasks(metrics: RunMetrics) -> None:
    assert [attrs.astuple(client) for client in metrics.clients] == [
        ("Equinox Labs", False, 1000, 2, 1, 0, 1, (0, 1000, 1000)),
        ("Vanguard ML", True, 0, 1, 0, 1, 0, (0, 0, 0)),
    ]


def test_months_have_their_funds_bookings_and_levels(metrics: RunMetrics) -> None:
    level, done = (1000, 1000, 1000, 1000), (1000, 1100, 1000, 1000)
    assert [attrs.astuple(month) for month in metrics.months] == [
        (0, "start", True, 10_000_000, 0, 0, 0, 200_000, level),
        (1, "2025-01", True, 10_282_500, 1_220_000, 937_500, 0, 200_000, level),
        (2, "2025-02", False, 10_082_500, 0, 0, 200_000, 200_000, level),
    ]
    # The cancel of Task-3 in January costs 0.2, down to the least: what Task-1 had brought shows by turn only.
    assert [(point.turn, point.prestige_milli) for point in metrics.prestige] == [(0, level), (1, done), (8, level)]


def test_calls_are_counted_by_command_and_skipped_ones_are_not(metrics: RunMetrics) -> None:
    assert [attrs.astuple(call) for call in metrics.calls] == [
        ("market browse", 1, 0),
        ("scratchpad write", 1, 0),
        ("sim resume", 3, 1),
        ("task accept", 3, 0),
        ("task assign", 2, 0),
        ("task cancel", 2, 1),
        ("task dispatch", 2, 0),
        ("task inspect", 2, 1),
    ]


# ---------------------------------------------------------------- commands


def counted(metrics: RunMetrics) -> tuple[int, int, int, int]:
    """Commands that were invalid, skipped, refused, and carried out."""
    refused = metrics.refused_actions + metrics.failed_queries
    return metrics.invalid_commands, metrics.skipped_commands, refused, metrics.commands - refused


def recorded(run: Run) -> tuple[int, int, int, int]:
    """The same from the answers of a record."""
    turns = list(run.turns())
    answers: list[Any] = [answer for turn in turns for answer in turn.results]
    invalid = sum(turn.invalid_commands for turn in turns)
    skipped = sum("skipped: " in str(answer["output"].get("error")) for answer in answers)
    done = sum(answer["ok"] for answer in answers)
    return invalid, skipped, len(answers) - invalid - skipped - done, done


def test_commands_after_an_end_in_mid_turn_are_skipped_as_before_it(kit: Any) -> None:
    run = kit.record("sim resume\nsim resume && bogus && sim resume\nbogus", config=ONE_MOVE)
    assert counted(measure_run(run)) == recorded(run) == (1, 2, 1, 1)


def test_commands_of_a_turn_after_the_end_are_refused_alike(kit: Any) -> None:
    run = kit.record("market browse", "bogus && bogus && market browse")
    assert counted(measure_run(run)) == (1, 2, 0, 1)
    changed(run, 1, terminal_reason="max_turns")
    changed(run, 2, invalid_commands=2)
    assert counted(measure_run(run)) == (2, 0, 1, 1)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])  # each run has its own folder
@given(
    st.lists(
        st.lists(
            st.sampled_from(
                ["sim resume", "bogus", "market browse", "task inspect --task-id Task-9", "help", NOTE]
            ).flatmap(lambda command: st.sampled_from([f"\n{command}", f" && {command}"]))
        ).map("".join),
        min_size=1,
        max_size=3,
    )
)
def test_every_command_is_in_one_counter_and_that_of_the_record(kit: Any, turns: list[str]) -> None:
    run = kit.record(*turns, config=ONE_MOVE)
    assert counted(measure_run(run)) == recorded(run)


# ---------------------------------------------------------------- notes


@pytest.mark.parametrize(
    ("turns", "policy", "final_policy"),
    [
        (
            ("write Focus on Equinox.", "append Avoid Vanguard.", "clear", "write hello"),
            ("both", "Equinox Labs", "Vanguard ML"),
            "none",
        ),
        # What is appended is read with what stood there before.
        (("write Avoid Equinox.", "append Focus on Equinox."), ("both", "Equinox Labs", "Equinox Labs"), "select"),
    ],
)
@pytest.mark.parametrize("together", [False, True])
def test_each_text_that_the_notes_ever_have_is_read(
    kit: Any, turns: tuple[str, ...], policy: tuple[str, str, str], final_policy: str, together: bool
) -> None:
    edits = [
        f"scratchpad {kind}" + (f" --content '{text}'" if text else "")
        for kind, _, text in (turn.partition(" ") for turn in turns)
    ]
    row = metrics_row(measure_run(kit.record("\n".join(edits)) if together else kit.record(*edits)))
    assert (row["client_policy"], row["selected_clients"], row["avoided_clients"]) == policy
    assert row["final_client_policy"] == final_policy


def test_without_a_scratchpad_there_are_no_notes_and_writes_are_refused(kit: Any) -> None:
    metrics = measure_run(kit.record("scratchpad write --content 'Avoid Vanguard.'", scratchpad=False))
    assert (metrics.client_policy, metrics.notes_length) == (None, None)
    assert (metrics.scratchpad_writes, metrics.refused_actions) == (0, 1)


# ---------------------------------------------------------------- time


def test_a_bankruptcy_has_its_time_and_its_last_month_is_cut_short(kit: Any) -> None:
    # 250,000 pay one payroll of 200,000 on 3 February; that of 3 March leaves -150,000.
    metrics = measure_run(kit.record(*[""] * 10, config=tiny_config(initial_funds_cents=250_000)))
    assert (metrics.ending, metrics.is_bankrupt) == ("bankruptcy", True)
    assert (metrics.bankruptcy_time, metrics.bankruptcy_cause) == ("2025-03-03T09:00:00", "no_failed_task")
    assert metrics.survived_months == pytest.approx(12 * 61 / 365)
    assert [(month.label, month.is_complete, month.funds_cents) for month in metrics.months] == [
        ("start", True, 250_000),
        ("2025-01", True, 250_000),
        ("2025-02", True, 50_000),
        ("2025-03", False, -150_000),
    ]


def test_a_bankruptcy_has_the_cause_that_lost_the_most_reward(kit: Any, start: Callable[..., str]) -> None:
    # Task-1 fails understaffed (1,220,000 not paid), then Task-2 of the adversarial client (1,875,000).
    poor = tiny_config(initial_funds_cents=1_700_000)
    first, second = f"{start('Task-1', 'Emp_1')}\nsim resume", f"{start('Task-2', 'Emp_1', 'Emp_2')}\nsim resume"
    metrics = measure_run(kit.record(first, second, *[""] * 10, config=poor))
    assert [(task.paper_cause, task.lost_cents) for task in metrics.failures] == [
        ("incapable_team", 1_220_000),
        ("adversarial_client", 1_875_000),
    ]
    assert metrics.bankruptcy_cause == "adversarial_client"
    only_first = measure_run(kit.record(first, *[""] * 40, config=poor))
    assert (only_first.is_bankrupt, only_first.bankruptcy_cause) == (True, "incapable_team")


def test_one_move_of_the_clock_past_many_payrolls_still_gives_each_month_its_own_funds(kit: Any) -> None:
    metrics = measure_run(kit.record("sim resume", config=ONE_MOVE))
    assert (metrics.ending, metrics.survived_months) == ("horizon_end", 12.0)
    assert [month.funds_cents for month in metrics.months] == [
        10_000_000,
        *(10_000_000 - 200_000 * paid for paid in range(12)),
    ]
    assert [month.label for month in metrics.months[1:]] == [f"2025-{number:02}" for number in range(1, 13)]
    assert all(month.is_complete for month in metrics.months)
    assert (metrics.mean_concurrency, metrics.mean_concurrency_by_time) == (None, 0.0)


def test_what_falls_on_the_first_instant_of_a_month_belongs_to_it(kit: Any) -> None:
    # Days begin at midnight, so the third payroll is on Tuesday 1 April at 00:00, and the run ends there.
    metrics = measure_run(kit.record(*[""] * 15, config=tiny_config(workday_start_hour=0)))
    assert metrics.sim_time == "2025-04-01T00:00:00"
    assert [(month.label, month.is_complete, month.payroll_cents) for month in metrics.months[1:]] == [
        ("2025-01", True, 0),
        ("2025-02", True, 200_000),
        ("2025-03", True, 200_000),
        ("2025-04", False, 200_000),
    ]


def test_levels_at_a_months_end_are_those_of_the_last_stop_in_it(kit: Any, start: Callable[..., str]) -> None:
    # From Friday 31 January one move past the payroll of Monday to 10:00, when Task-1 is done and brings 0.1 and 1.0.
    config = tiny_config(sim={"start_date": "2025-01-31"}, resume_stops_at_payroll=False)
    metrics = measure_run(kit.record(f"{start('Task-1', 'Emp_1', 'Emp_2')}\nsim resume", config=config))
    assert [(month.label, month.prestige_milli[1]) for month in metrics.months] == [
        ("start", 1000),
        ("2025-01", 1000),
        ("2025-02", 1100),
    ]
    assert metrics.clients[0].trust_milli == (0, 0, 1000)


def test_months_run_from_the_start_to_the_horizon_also_across_a_new_year(kit: Any) -> None:
    config = tiny_config(
        sim={"start_date": "2025-03-15"}, resume_stops_at_payroll=False, resume_requires_active_task=False
    )
    metrics = measure_run(kit.record("sim resume", config=config))
    labels = [*(f"2025-{number:02}" for number in range(3, 13)), "2026-01", "2026-02", "2026-03"]
    assert [month.label for month in metrics.months[1:]] == labels


def test_concurrency_over_turns_over_busy_time_and_over_all_time(kit: Any, start: Callable[..., str]) -> None:
    # Two side by side at 10 units an hour each: both end after 20 hours, within the turn.
    turn = f"{start('Task-1', 'Emp_1', 'Emp_2')}\n{start('Task-3', 'Emp_1', 'Emp_2')}\nsim resume"
    both = measure_run(kit.record(turn, "company status"))
    assert (both.max_concurrency, both.mean_concurrency_by_turn) == (2, 1.0)
    assert (both.mean_concurrency, both.mean_concurrency_by_time) == (2.0, 2.0)
    idle = measure_run(kit.record(turn, *[""] * 5))  # on to 3 February with nothing in work
    assert idle.mean_concurrency == 2.0
    assert idle.mean_concurrency_by_time == 2 * (2 * 24 + 2) / (33 * 24)
    dispatched = measure_run(kit.record(start("Task-1", "Emp_1"), start("Task-3", "Emp_2")))
    assert (dispatched.max_concurrency, dispatched.mean_concurrency_by_turn) == (2, 1.5)  # 1, then 2; no time passed
    assert dispatched.mean_concurrency is None


# ---------------------------------------------------------------- tasks and clients


def test_a_world_without_clients_has_no_metrics_of_them(kit: Any, start: Callable[..., str]) -> None:
    turns = (start("Task-1", "Emp_1", "Emp_2"), "sim resume")
    metrics = measure_run(kit.record(*turns, config=tiny_config(num_clients=0)))
    shares = (metrics.adversarial_fraction, metrics.market_adversarial_fraction, metrics.open_adversarial_fraction)
    assert (metrics.clients, metrics.client_policy, shares) == ((), None, (None, None, None))
    assert metrics.tasks_succeeded == 1


def test_a_success_that_needed_trust_is_counted(kit: Any, start: Callable[..., str]) -> None:
    # Task-3 needs no trust and brings 1.0, which opens Task-1.
    turns = (start("Task-3", "Emp_1", "Emp_2"), "sim resume", start("Task-1", "Emp_1", "Emp_2"), "sim resume")
    metrics = measure_run(kit.record(*turns, config=GATED, seed=6))
    assert (metrics.tasks_succeeded, metrics.tasks_trusted, metrics.trusted_success_fraction) == (2, 1, 0.5)
    # Open at the start: 3, 5, 7 and, of the adversarial client, 6. Then Task-1 and what came for Task-3 as well.
    assert metrics.open_adversarial_fraction == pytest.approx((1 / 4 + 1 / 5) / 2)


def test_a_task_held_past_its_deadline_at_the_end_is_overdue(kit: Any, start: Callable[..., str]) -> None:
    turns = (
        start("Task-1", "Emp_1", dispatch=False),
        *[""] * 4,  # the fifth turn is forced on to February
        "task accept --task-id Task-3\ntask accept --task-id Task-2",
    )
    metrics = measure_run(kit.record(*turns))
    assert (metrics.tasks_unfinished, metrics.tasks_overdue, metrics.tasks_never_dispatched) == (3, 1, 3)


def accepts(state: Any, offer: Any) -> bool:
    """Whether the simulator accepts a listed task."""
    command = parse_turn(f"task accept --task-id {offer.task_id}")[0].command
    return command is not None and transition(state, command).refusal is None


def test_the_gate_of_a_listed_task_is_open_where_the_simulator_accepts_it(kit: Any) -> None:
    run = kit.record(config="default", policy=make_policy("greedy"), seed=3, max_turns=24)
    meter, seen = Meter(run), {True: 0, False: 0}
    for turn in run.turns():
        meter.add(turn)
        for offer in meter.state.market if turn.turn % 8 == 0 else ():
            accepted = accepts(meter.state, offer)
            assert (offer in open_offers(meter.state)) == accepted
            seen[accepted] += 1
    assert min(seen.values()) > 50


def test_where_the_highest_prestige_counts_the_gate_is_that(kit: Any) -> None:
    config = tiny_config(prestige_gate="highest", market_prestige_ladder=[3, 3, 3, 3])
    world = Meter(kit.record("", config=config)).state
    high = attrs.evolve(world, prestige_milli=(3000, 1000, 1000, 1000))
    for state, expected in ((world, False), (high, True)):
        assert all((offer in open_offers(state)) == accepts(state, offer) == expected for offer in state.market)


# ---------------------------------------------------------------- models


def test_traces_and_transports_are_summed_and_unknown_turns_are_counted(kit: Any, start: Callable[..., str]) -> None:
    run = kit.asking(
        [start("Task-1", "Emp_1", "Emp_2"), "sim resume", ""],
        [
            {"prompt_tokens": 100, "completion_tokens": 7, "cost_usd": 0.1, "refused_calls": 2, "unusable_replies": 0},
            {"prompt_tokens": None, "completion_tokens": 5, "cost_usd": None, "refused_calls": 0},
            {"prompt_tokens": 50, "completion_tokens": 1, "cost_usd": 0.2, "unusable_replies": 1},
        ],
        [
            {"latency_s": 1.5, "attempts": 3, "faults": ["429", "timeout"]},
            {"latency_s": 0.25, "attempts": 1, "faults": []},
            {"latency_s": 0.25, "attempts": 2, "faults": ["500"]},
        ],
    )
    metrics = measure_run(run)
    assert (metrics.prompt_tokens, metrics.completion_tokens, metrics.cached_tokens) == (150, 13, None)
    assert (metrics.total_tokens, metrics.unknown_token_turns) == (163, 1)
    assert (metrics.cost_usd, metrics.unknown_cost_turns) == (0.3, 1)  # as people would add it up
    assert (metrics.refused_calls, metrics.unusable_replies) == (2, 1)
    assert (metrics.latency_s, metrics.retries, metrics.faults, metrics.wall_s) == (2.0, 3, 3, 2.0)
    assert metrics.revenue_per_usd == pytest.approx(12_200 / 0.3)


def test_a_transport_that_tells_nothing_is_one_attempt_of_unknown_length(kit: Any) -> None:
    metrics = measure_run(kit.asking(["", ""], [{}, {}], [{}, {}]))
    assert (metrics.latency_s, metrics.retries, metrics.faults, metrics.wall_s) == (None, 0, 0, 1.0)
    assert (metrics.prompt_tokens, metrics.unknown_token_turns, metrics.unknown_cost_turns) == (None, None, None)


def test_numbers_beyond_all_bounds_are_unknown(kit: Any) -> None:
    traces = [{"prompt_tokens": value, "completion_tokens": 1, "cost_usd": value} for value in (7001, 7002, 7003)]
    run = kit.asking(["", "", ""], traces, [{"latency_s": value} for value in (7001, 7002, 7003)])
    turns = (run.folder / "turns.jsonl").read_text("ascii")
    odd = turns.replace("7001", "1e999").replace("7002", "-1e999").replace("7003", "9" * 400)
    (run.folder / "turns.jsonl").write_text(odd, "ascii")
    metrics = measure_run(run)
    assert (metrics.prompt_tokens, metrics.completion_tokens, metrics.cost_usd, metrics.latency_s) == (
        None,
        3,
        None,
        None,
    )
    assert metrics.unknown_token_turns == 3


# ---------------------------------------------------------------- damaged, unfinished and changed runs


def changed(run: Any, number: int, **fields: object) -> Any:
    """Change fields of a recorded turn."""
    path = run.folder / "turns.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[number - 1].update(fields)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return run


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"state_hash": "0" * 64}, "the world has the hash [0-9a-f]{12}, recorded is 000000000000"),
        ({"funds_cents": 1}, "funds in cents: got 11220000, recorded 1"),
        ({"sim_time": "2025-01-02T11:00:00"}, "clock: got 2025-01-02T10:00:00, recorded 2025-01-02T11:00:00"),
        ({"notes_sha256": "0" * 64}, "hash of the notes: got None, recorded 000"),
        ({"action": "sim resume\nsim resume"}, "1 answers are recorded, its action has 2 commands"),
        (
            {"action": "task cancel --task-id '\u202e' --reason x"},
            r'"task cancel --task-id .\\u202e. --reason x" is recorded as carried out, now: ',
        ),
        ({"action": "scratchpad write --content hello"}, "clock: "),
        ({"invalid_commands": 1}, "ungrammatical commands: got 0, recorded 1"),
    ],
)
def test_a_turn_that_is_not_as_recorded_is_named_with_the_difference(
    kit: Any, start: Callable[..., str], fields: dict[str, object], why: str
) -> None:
    run = changed(kit.record(start("Task-1", "Emp_1", "Emp_2"), "sim resume", "", ""), 2, **fields)
    with pytest.raises(MetricsError, match=f"run0: turn 2 is not as it was recorded: {why}.*; measure it with"):
        measure_run(run)


def test_a_hash_that_differs_while_the_world_stands_still_is_noticed(kit: Any) -> None:
    run = changed(kit.record("", "", ""), 3, state_hash="1" * 64)
    with pytest.raises(MetricsError, match="turn 3 is not as it was recorded"):
        measure_run(run)


def test_a_run_without_turns_is_measured_as_its_start(kit: Any) -> None:
    run = kit.record("company status")
    (run.folder / "turns.jsonl").write_bytes(b"")
    with pytest.warns(RunWarning, match="has 1 turns"):
        metrics = measure_run(run)
    assert (metrics.is_complete, metrics.turns, metrics.commands_per_turn, metrics.wall_s) == (False, 0, None, None)
    assert [month.funds_cents for month in metrics.months] == [10_000_000, 10_000_000]
    assert (metrics.win_rate_fraction, metrics.open_adversarial_fraction) == (None, None)


def test_an_unfinished_run_is_measured_as_far_as_it_goes(kit: Any) -> None:
    run = kit.record(*TURNS)
    lines = (run.folder / "turns.jsonl").read_bytes().splitlines(keepends=True)
    (run.folder / "turns.jsonl").write_bytes(b"".join(lines[:4]))
    values = json.loads((run.folder / "run.json").read_bytes())
    values["outcome"] |= {"status": "running", "turns": None}
    (run.folder / "run.json").write_text(json.dumps(values))
    metrics = measure_run(read_run(run.folder))
    assert (metrics.status, metrics.is_complete, metrics.turns) == ("running", False, 4)
    assert metrics.final_funds_cents == 10_282_500


@pytest.mark.parametrize(("policy", "config"), [("greedy", "reference"), ("expert", "default"), ("random", "default")])
def test_sums_of_real_runs_agree(kit: Any, policy: str, config: str) -> None:
    run = kit.record(config=config, policy=make_policy(policy), seed=1, max_turns=40 if policy == "expert" else None)
    metrics = measure_run(run)
    turns = list(run.turns())
    gain = metrics.final_funds_cents - metrics.initial_funds_cents
    assert metrics.final_funds_cents == run.outcome.final_funds_cents == metrics.months[-1].funds_cents
    assert gain == metrics.revenue_cents - metrics.fees_cents - metrics.payroll_cents
    assert gain == sum(turn.funds_delta_cents for turn in turns) == round(100 * math.fsum(t.reward for t in turns))
    for name in ("revenue_cents", "fees_cents", "payroll_cents"):
        assert sum(getattr(month, name) for month in metrics.months) == getattr(metrics, name)
    fates = metrics.tasks_succeeded + metrics.tasks_failed + metrics.tasks_cancelled + metrics.tasks_unfinished
    assert metrics.tasks_accepted == fates > 0
    for name in ("accepted", "succeeded", "failed", "cancelled"):
        assert sum(getattr(client, name) for client in metrics.clients) == getattr(metrics, f"tasks_{name}")
    events: list[Any] = [event for turn in turns for event in turn.events]
    late = [each["task_id"] for each in events if each["type"] == "task_completed" and not each["success"]]
    assert late == [task.task_id for task in metrics.failures]
    given_commands = sum(len(turn.results) for turn in turns)
    assert given_commands == metrics.commands + metrics.invalid_commands + metrics.skipped_commands
    assert sum(call.calls for call in metrics.calls) == metrics.commands
    assert metrics.mean_concurrency is None or metrics.mean_concurrency >= 1


# ---------------------------------------------------------------- the file and the tables


def test_stored_metrics_come_back_and_are_kept(kit: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    run = kit.record(*TURNS)
    assert read_metrics(run.folder) is None
    stored = store_metrics(run)
    assert read_metrics(run.folder) == stored == measure_run(run)
    monkeypatch.setattr(module, "measure_run", None)
    assert store_metrics(run) == stored


DAMAGES: tuple[Callable[[Path], object], ...] = (
    lambda path: path.write_text(path.read_text().replace('"format":3', '"format":2')),
    lambda path: path.write_text(path.read_text().replace('"turns":2', '"turns":"2"')),
    lambda path: path.write_text(path.read_text().replace('"turns":2,', "")),
    lambda path: path.write_text("["),
    lambda path: path.rename(path.parent / "measures.json"),
    lambda path: path.rename(path.parent / "elsewhere") and path.symlink_to(path.parent / "elsewhere"),
    lambda path: changed(read_run(path.parent), 2, time="later"),
)


@pytest.mark.parametrize("number", range(len(DAMAGES)))
def test_metrics_of_other_turns_or_of_another_format_are_none(kit: Any, number: int) -> None:
    run = kit.record("sim resume", "")
    stored = store_metrics(run)
    DAMAGES[number](run.folder / METRICS_FILE)
    assert read_metrics(run.folder) is None
    (run.folder / METRICS_FILE).unlink(missing_ok=True)
    assert attrs.evolve(store_metrics(run), wall_s=None) == attrs.evolve(stored, wall_s=None)


@pytest.mark.parametrize("name", ["months", "clients", "failures", "calls", "prestige"])
def test_tables_list_rows_with_their_episode_and_keep_their_types_without_rows(metrics: RunMetrics, name: Any) -> None:
    table, empty = metrics_table({EpisodeKey("says", "tiny", "3", 2): metrics}, name), metrics_table({}, name)
    rows = getattr(metrics, name)
    assert list(table.columns) == ["policy", "preset", "seed", "repeat", *attrs.fields_dict(type(rows[0]))]
    first = table.astype(object).where(table.notna(), None).iloc[0]
    assert tuple(first) == ("says", "tiny", "3", 2, *attrs.astuple(rows[0], recurse=False))
    assert (len(table), len(empty)) == (len(rows), 0)
    assert list(table.dtypes) == list(empty.dtypes)
