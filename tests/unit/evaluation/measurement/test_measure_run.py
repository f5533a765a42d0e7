"""Every measurement on records whose figures are worked out by hand; the tiny world is told in conftest.py."""

# ruff: noqa: ANN401 -- the kit comes as a fixture

import json
from collections.abc import Callable
from typing import Any

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ycbench_agents import make_policy
from ycbench_agents.evaluation.measurement import MEASURES_VERSION, CommandCalls, RunMeasures, measure_run
from ycbench_agents.records import RecordWarning, RunRecord, read_run
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
def measures(kit: Any) -> RunMeasures:
    return measure_run(kit.record(*TURNS))


def test_money_is_what_the_ledger_says(measures: Any) -> None:
    # 10,000,000 + 1,220,000 - 1,875,000 / 2 - 200,000
    assert attrs.astuple(measures.money) == (10_000_000, 10_082_500, 1_220_000, 937_500, 200_000)


def test_tasks_are_counted_by_what_became_of_them(measures: Any) -> None:
    assert attrs.asdict(measures.tasks) == {
        "accepted": 3,
        "succeeded": 1,
        "failed": 1,
        "cancelled": 1,
        "unfinished": 0,
        "overdue": 0,
        "never_dispatched": 1,
        "trusted_successes": 0,
    }
    assert measures.tasks.win_rate_fraction == 0.5
    assert measures.tasks.trusted_success_fraction == 0.0


def test_shares_of_adversarial_tasks_are_those_of_the_accepted_and_of_the_market(measures: Any) -> None:
    assert attrs.astuple(measures.acceptance) == (3, 1, 0.5, 0.5)
    assert measures.acceptance.adversarial_fraction == 1 / 3


def test_each_client_has_its_trust_and_its_tasks(measures: Any) -> None:
    assert [attrs.astuple(client) for client in measures.clients] == [
        ("Equinox Labs", False, 1000, 2, 1, 0, 1),
        ("Vanguard ML", True, 0, 1, 0, 1, 0),
    ]


def test_months_have_their_funds_bookings_and_levels(measures: Any) -> None:
    rows = [attrs.astuple(month) for month in measures.months]
    level, done = (1000, 1000, 1000, 1000), (1000, 1100, 1000, 1000)
    assert rows == [
        (0, "start", True, 10_000_000, 0, 0, 0, 200_000, level, (0, 0)),
        (1, "2025-01", True, 10_282_500, 1_220_000, 937_500, 0, 200_000, level, (1000, 0)),
        (2, "2025-02", False, 10_082_500, 0, 0, 200_000, 200_000, level, (1000, 0)),
    ]
    # The cancel of Task-3 in January costs 0.2, down to the least: what Task-1 had brought shows by turn only.
    assert [(point.turn, point.prestige_milli) for point in measures.prestige] == [(0, level), (1, done), (8, level)]


def test_behaviour_is_counted_and_averaged(measures: Any) -> None:
    behaviour = measures.behaviour
    # Of 33 days there was an active task from 1 January 09:00 to 2 January 10:00 and on to 14 January 18:00.
    assert attrs.astuple(behaviour) == (9, 16, 1, 2, 3, 2 / 9, (25 + 296) / (33 * 24), 1)
    assert behaviour.writes_per_100_turns == 100 / 9
    assert behaviour.inspects_per_accept == 2 / 3
    assert behaviour.commands_per_turn == 16 / 9


def test_calls_are_counted_by_command_and_skipped_ones_are_not(measures: Any) -> None:
    assert measures.calls == (
        CommandCalls("market browse", 1, 0),
        CommandCalls("scratchpad write", 1, 0),
        CommandCalls("sim resume", 3, 1),
        CommandCalls("task accept", 3, 0),
        CommandCalls("task assign", 2, 0),
        CommandCalls("task cancel", 2, 1),
        CommandCalls("task dispatch", 2, 0),
        CommandCalls("task inspect", 2, 1),
    )


def test_mistakes_are_kept_apart_by_kind(measures: Any) -> None:
    assert attrs.astuple(measures.reliability) == (1, 1, 2, 1, 2, 1, None, None)


def counted(measures: RunMeasures) -> tuple[int, int, int, int]:
    """Commands that were invalid, skipped, refused, and carried out."""
    reliability = measures.reliability
    refused = reliability.refused_actions + reliability.failed_queries
    done = measures.behaviour.commands - refused
    return reliability.invalid_commands, reliability.skipped_commands, refused, done


def recorded(record: RunRecord) -> tuple[int, int, int, int]:
    """The same from the answers of a record."""
    turns = list(record.turns())
    answers: list[Any] = [answer for turn in turns for answer in turn.results]
    invalid = sum(turn.invalid_commands for turn in turns)
    skipped = sum("skipped: " in str(answer["output"].get("error")) for answer in answers)
    done = sum(answer["ok"] for answer in answers)
    return invalid, skipped, len(answers) - invalid - skipped - done, done


def test_commands_after_an_end_in_mid_turn_are_skipped_as_before_it(kit: Any) -> None:
    record = kit.record("sim resume\nsim resume && bogus && sim resume\nbogus", config=ONE_MOVE)
    assert counted(measure_run(record)) == recorded(record) == (1, 2, 1, 1)


def test_commands_of_a_turn_after_the_end_are_refused_alike(kit: Any) -> None:
    record = kit.record("market browse", "bogus && bogus && market browse")
    assert counted(measure_run(record)) == (1, 2, 0, 1)
    path = record.folder / "turns.jsonl"
    first, second = (json.loads(line) for line in path.read_text().splitlines())
    first["terminal_reason"], second["invalid_commands"] = "max_turns", 2
    path.write_text(f"{json.dumps(first)}\n{json.dumps(second)}\n")
    assert counted(measure_run(record)) == (2, 0, 1, 1)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])  # each run has its own folder
@given(
    st.lists(
        st.lists(
            st.sampled_from(
                ["sim resume", "bogus", "market browse", "task inspect --task-id Task-9", "help", NOTE]
            ).flatmap(lambda said: st.sampled_from([f"\n{said}", f" && {said}"]))
        ).map("".join),
        min_size=1,
        max_size=3,
    )
)
def test_every_command_is_in_one_counter_and_that_of_the_record(kit: Any, turns: list[str]) -> None:
    record = kit.record(*turns, config=ONE_MOVE)
    assert counted(measure_run(record)) == recorded(record)


def test_notes_are_read_for_clients(measures: Any) -> None:
    assert attrs.astuple(measures.notes) == (1, 15, (), ("Vanguard ML",), (), ("Vanguard ML",))
    assert (measures.notes.client_policy, measures.notes.final_client_policy) == ("avoid", "avoid")


def test_a_policy_of_the_past_is_kept_beside_that_of_the_end(kit: Any) -> None:
    notes = ("scratchpad write --content 'Focus on Equinox.'", "scratchpad append --content 'Avoid Vanguard.'")
    measured: Any = measure_run(kit.record(*notes, "scratchpad clear", "scratchpad write --content hello")).notes
    assert (measured.client_policy, measured.final_client_policy) == ("both", "none")
    assert (measured.writes, measured.final_length) == (3, 5)


def test_what_is_appended_is_read_with_what_stood_there_before(kit: Any) -> None:
    turns = ("scratchpad write --content 'Avoid Equinox.'", "", "scratchpad append --content 'Focus on Equinox.'")
    measured: Any = measure_run(kit.record(*turns)).notes
    assert (measured.selected, measured.avoided) == (("Equinox Labs",), ("Equinox Labs",))
    assert (measured.client_policy, measured.final_client_policy) == ("both", "select")


def test_each_text_of_one_turn_is_read(kit: Any) -> None:
    turn = "scratchpad write --content 'Avoid Vanguard.'\nscratchpad write --content 'Focus on Equinox.'"
    measured: Any = measure_run(kit.record(turn)).notes
    assert (measured.client_policy, measured.final_client_policy) == ("both", "select")


def test_without_a_scratchpad_there_are_no_notes_and_writes_are_refused(kit: Any) -> None:
    measured: Any = measure_run(kit.record("scratchpad write --content 'Avoid Vanguard.'", scratchpad=False))
    assert measured.notes is None
    assert (measured.behaviour.scratchpad_writes, measured.reliability.refused_actions) == (0, 1)


def test_a_run_that_was_cut_off_has_no_reason_and_the_time_it_came_to(measures: Any) -> None:
    assert (measures.status, measures.is_complete, measures.ending.terminal_reason) == ("finished", True, None)
    assert measures.ending.sim_time == "2025-02-03T09:00:00"
    assert measures.ending.survived_months == 12 * (33 / 365)
    assert (measures.ending.is_bankrupt, measures.ending.bankruptcy_time) == (False, None)


def test_a_bankruptcy_has_its_time_and_its_last_month_is_cut_short(kit: Any) -> None:
    # 250,000 pay one payroll of 200,000 on 3 February; that of 3 March leaves -150,000.
    measured: Any = measure_run(kit.record(*[""] * 10, config=tiny_config(initial_funds_cents=250_000)))
    assert (measured.ending.terminal_reason, measured.ending.bankruptcy_time) == ("bankruptcy", "2025-03-03T09:00:00")
    assert measured.ending.survived_months == pytest.approx(12 * 61 / 365)
    assert [(month.label, month.is_complete, month.funds_cents) for month in measured.months] == [
        ("start", True, 250_000),
        ("2025-01", True, 250_000),
        ("2025-02", True, 50_000),
        ("2025-03", False, -150_000),
    ]


def test_one_move_of_the_clock_past_many_payrolls_still_gives_each_month_its_own_funds(kit: Any) -> None:
    measured: Any = measure_run(kit.record("sim resume", config=ONE_MOVE))
    assert measured.ending.terminal_reason == "horizon_end"
    assert measured.ending.survived_months == 12.0
    funds = [10_000_000, *(10_000_000 - 200_000 * paid for paid in range(12))]
    assert [month.funds_cents for month in measured.months] == funds
    assert [month.label for month in measured.months[1:]] == [f"2025-{number:02}" for number in range(1, 13)]
    assert all(month.is_complete for month in measured.months)
    assert measured.behaviour.mean_concurrency_by_time == 0.0


def test_what_falls_on_the_first_instant_of_a_month_belongs_to_it(kit: Any) -> None:
    # Days begin at midnight, so the third payroll is on Tuesday 1 April at 00:00, and the run ends there.
    measured = measure_run(kit.record(*[""] * 15, config=tiny_config(workday_start_hour=0)))
    assert measured.ending.sim_time == "2025-04-01T00:00:00"
    assert [(month.label, month.is_complete, month.payroll_cents) for month in measured.months] == [
        ("start", True, 0),
        ("2025-01", True, 0),
        ("2025-02", True, 200_000),
        ("2025-03", True, 200_000),
        ("2025-04", False, 200_000),
    ]


def test_levels_at_a_months_end_are_those_of_the_last_stop_in_it(kit: Any, start: Callable[..., str]) -> None:
    # From Friday 31 January one move past the payroll of Monday to 10:00, when Task-1 is done and brings 0.1 and 1.0.
    config = tiny_config(sim={"start_date": "2025-01-31"}, resume_stops_at_payroll=False)
    measured = measure_run(kit.record(f"{start('Task-1', 'Emp_1', 'Emp_2')}\nsim resume", config=config))
    assert [(month.label, month.prestige_milli[1], month.trust_milli[0]) for month in measured.months] == [
        ("start", 1000, 0),
        ("2025-01", 1000, 0),
        ("2025-02", 1100, 1000),
    ]


def test_a_world_without_clients_has_no_measures_of_them(kit: Any, start: Callable[..., str]) -> None:
    turns = (start("Task-1", "Emp_1", "Emp_2"), "sim resume")
    measured: Any = measure_run(kit.record(*turns, config=tiny_config(num_clients=0)))
    assert (measured.acceptance, measured.clients, measured.tasks.succeeded) == (None, (), 1)
    assert measured.months[-1].trust_milli == ()


def test_a_success_that_needed_trust_is_told_apart(kit: Any, start: Callable[..., str]) -> None:
    # Task-3 needs no trust and brings 1.0, which opens Task-1.
    turns = (start("Task-3", "Emp_1", "Emp_2"), "sim resume", start("Task-1", "Emp_1", "Emp_2"), "sim resume")
    measured: Any = measure_run(kit.record(*turns, config=GATED, seed=6))
    assert (measured.tasks.succeeded, measured.tasks.trusted_successes) == (2, 1)
    assert measured.tasks.trusted_success_fraction == 0.5
    # Open at the start: 3, 5, 7 and, of the adversarial client, 6. Then Task-1 and what came for Task-3 as well.
    assert measured.acceptance.open_adversarial_fraction == pytest.approx((1 / 4 + 1 / 5) / 2)


def test_what_is_held_past_its_deadline_at_the_end_is_overdue(kit: Any, start: Callable[..., str]) -> None:
    turns = (
        start("Task-1", "Emp_1", dispatch=False),
        *[""] * 4,
        "task accept --task-id Task-3\ntask accept --task-id Task-2",
    )
    measured: Any = measure_run(kit.record(*turns))  # the fifth turn is forced on to February
    assert (measured.tasks.unfinished, measured.tasks.overdue, measured.tasks.never_dispatched) == (3, 1, 3)


def test_a_turn_that_ends_with_a_dispatch_has_that_task_active(kit: Any, start: Callable[..., str]) -> None:
    behaviour = measure_run(kit.record(start("Task-1", "Emp_1"), start("Task-3", "Emp_2"))).behaviour
    assert (behaviour.max_concurrency, behaviour.mean_concurrency_by_turn) == (2, 1.5)  # 1, then 2; no time went by


def test_concurrency_of_a_turn_is_the_most_at_one_moment(kit: Any, start: Callable[..., str]) -> None:
    # Two side by side at 10 units an hour each: both end after 20 hours, within the turn.
    turn = f"{start('Task-1', 'Emp_1', 'Emp_2')}\n{start('Task-3', 'Emp_1', 'Emp_2')}\nsim resume"
    behaviour = measure_run(kit.record(turn, "company status")).behaviour
    assert (behaviour.max_concurrency, behaviour.mean_concurrency_by_turn) == (2, 1.0)
    assert behaviour.mean_concurrency_by_time == 2.0


def test_traces_and_transports_are_summed_and_what_is_unknown_is_counted(kit: Any, start: Callable[..., str]) -> None:
    record = kit.asking(
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
    measured: Any = measure_run(record)
    assert attrs.astuple(measured.tokens) == (150, 13, None, None, 1, pytest.approx(0.3), 1)
    assert measured.tokens.total == 163
    assert (measured.reliability.refused_calls, measured.reliability.unusable_replies) == (2, 1)
    assert attrs.astuple(measured.transport) == (2.0, 3, 3, 2.0)
    assert measured.revenue_per_usd == pytest.approx(12_200 / 0.3)


def test_a_transport_that_tells_nothing_is_one_attempt_of_unknown_length(kit: Any) -> None:
    measured = measure_run(kit.asking(["", ""], [{}, {}], [{}, {}]))
    assert attrs.astuple(measured.transport) == (None, 0, 0, 1.0)
    assert attrs.astuple(measured.tokens) == (None, None, None, None, 2, None, 2)


def test_a_policy_that_asks_nobody_has_no_tokens_cost_or_latency(measures: Any) -> None:
    assert attrs.astuple(measures.tokens) == (None, None, None, None, 9, None, 9)
    assert (measures.tokens.total, measures.revenue_per_usd) == (None, None)
    assert attrs.astuple(measures.transport) == (None, None, None, 8.0)


def test_a_run_without_turns_is_measured_as_its_start(kit: Any) -> None:
    record = kit.record("company status")
    (record.folder / "turns.jsonl").write_bytes(b"")
    with pytest.warns(RecordWarning, match="tells of 1 turns"):
        measured: Any = measure_run(record)
    assert not measured.is_complete
    assert (measured.behaviour.turns, measured.behaviour.commands_per_turn) == (0, None)
    assert (measured.behaviour.mean_concurrency_by_turn, measured.transport.wall_s) == (None, None)
    assert [month.funds_cents for month in measured.months] == [10_000_000, 10_000_000]
    assert measured.tasks.win_rate_fraction is None
    assert measured.acceptance.open_adversarial_fraction is None


def test_an_unfinished_run_is_measured_as_far_as_it_goes(kit: Any) -> None:
    record = kit.record(*TURNS)
    lines = (record.folder / "turns.jsonl").read_bytes().splitlines(keepends=True)
    (record.folder / "turns.jsonl").write_bytes(b"".join(lines[:4]))
    running = {**record.to_json(), "outcome": {**record.outcome.to_json(), "status": "running", "turns": None}}
    (record.folder / "run.json").write_text(json.dumps(running))
    measured: Any = measure_run(read_run(record.folder))
    assert (measured.status, measured.is_complete, measured.behaviour.turns) == ("running", False, 4)
    assert measured.money.final_funds_cents == 10_282_500


def test_measures_go_to_strict_json_and_back(measures: Any) -> None:
    text = json.dumps(measures.to_json(), allow_nan=False)
    assert json.loads(text)["format"] == MEASURES_VERSION
    assert RunMeasures.from_json(json.loads(text)) == measures


@pytest.mark.parametrize(
    ("policy", "config", "max_turns"),
    [
        ("greedy", "default", None),
        ("greedy", "reference", None),
        ("expert", "default", 40),
        ("random", "default", None),
    ],
)
def test_sums_of_real_runs_agree(kit: Any, policy: str, config: str, max_turns: int | None) -> None:
    record = kit.record(config=config, policy=make_policy(policy), seed=1, max_turns=max_turns)
    measured: Any = measure_run(record)
    money, tasks, months = measured.money, measured.tasks, measured.months
    turns = list(record.turns())
    assert money.final_funds_cents == record.outcome.final_funds_cents
    assert money.final_funds_cents - money.initial_funds_cents == sum(turn.funds_delta_cents for turn in turns)
    assert (
        round(100 * sum(turn.reward for turn in turns)) == money.revenue_cents - money.fees_cents - money.payroll_cents
    )
    assert months[-1].funds_cents == money.final_funds_cents
    for name in ("revenue_cents", "fees_cents", "payroll_cents"):
        assert sum(getattr(month, name) for month in months) == getattr(money, name)
    assert tasks.accepted == tasks.succeeded + tasks.failed + tasks.cancelled + tasks.unfinished > 0
    assert tasks.failed == len(measured.failures)
    for name in ("accepted", "succeeded", "failed", "cancelled"):
        assert sum(getattr(client, name) for client in measured.clients) == getattr(tasks, name)
    events = [event for turn in turns for event in turn.events if event["type"] == "task_completed"]
    assert [event["task_id"] for event in events if not event["success"]] == [one.task_id for one in measured.failures]
    said = sum(len(turn.results) for turn in turns)
    reliability = measured.reliability
    assert said == measured.behaviour.commands + reliability.invalid_commands + reliability.skipped_commands
    assert sum(call.calls for call in measured.calls) == measured.behaviour.commands
    assert RunMeasures.from_json(measured.to_json()) == measured
