"""How a run's view follows from its turns: tasks, sums, time that is left, and what is in the folder already."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ycbench_agents import make_policy
from ycbench_agents.base import Json, JsonObject
from ycbench_agents.cli.live.figures import CostTotal, TokenSum, TurnFigures
from ycbench_agents.cli.live.funds import FundsSeries
from ycbench_agents.cli.live.state import RunView, SaidCommand, told
from ycbench_agents.cli.live.work import Task
from ycbench_agents.llm.pricing import TokenUsage
from ycbench_agents.records import RunPlan, Runtime, TurnRecord, play_run_sync
from ycbench_agents.rollout import rollout
from ycbench_env import YCBenchEnv

TRACE: JsonObject = {
    "prompt_tokens": 1000,
    "completion_tokens": 50,
    "cached_tokens": 10,
    "reasoning_tokens": 5,
    "cost_usd": 0.1,
}
TRANSPORT: JsonObject = {"latency_s": 2.0, "attempts": 1, "faults": []}
START = RunPlan(Path("run"), "default", 1, make_policy("greedy"), "greedy")


def answer(command: str, output: JsonObject, *, ok: bool = True) -> JsonObject:
    return {"command": command, "ok": ok, "output": output}


def make_turn(number: int = 1, results: list[Json] | None = None, **changes: object) -> TurnRecord:
    turn = TurnRecord(
        turn=number,
        action="",
        trace=None,
        results=results or [],
        events=[],
        reward=0.0,
        funds_cents=20_000_000,
        funds_delta_cents=0,
        invalid_commands=0,
        forced_advance=False,
        terminated=False,
        truncated=False,
        terminal_reason=None,
        sim_time="2025-01-01T09:00:00",
        state_hash="",
        notes_sha256=None,
        transport=None,
        time="2026-01-01T00:00:00+00:00",
    )
    return attrs.evolve(turn, **changes)


def view(*turns: TurnRecord, plan: RunPlan = START) -> RunView:
    run = RunView.empty(plan, "greedy")
    for turn in turns:
        run = told(run, turn, float(turn.turn))
    return run


def completed(task_id: str, *, success: bool) -> JsonObject:
    return {"type": "task_completed", "task_id": task_id, "success": success}


ACCEPTED = answer(
    "task accept --task-id Task-8",
    {"task_id": "Task-8", "status": "planned", "deadline": "2025-01-09T18:00:00", "replacement_task_id": "Task-7000"},
)
BROWSED = answer(
    "market browse",
    {
        "tasks": [
            {"task_id": "Task-8", "client_name": "Cortex", "reward_funds_cents": 1_853_002},
            {"task_id": "Task-9", "client_name": "Prism", "reward_funds_cents": 5},
        ]
    },
)
ASSIGNED = answer(
    "task assign --task-id Task-8 --employees Emp_1,Emp_2",
    {"task_id": "Task-8", "status": "planned", "newly_assigned": ["Emp_2"], "total_assigned": ["Emp_1", "Emp_2"]},
)
DISPATCHED = answer(
    "task dispatch --task-id Task-8",
    {"task_id": "Task-8", "status": "active", "assignment_count": 2, "assigned_employees": ["Emp_1", "Emp_2"]},
)
CANCELLED = answer("task cancel --task-id Task-8 --reason x", {"task_id": "Task-8", "status": "cancelled"})


# ---- before the first turn


def test_a_run_begins_with_the_funds_and_the_calendar_of_its_configuration() -> None:
    run = RunView.empty(START, "greedy")
    assert run.funds == FundsSeries(((0.0, 20_000_000),), 20_000_000, 20_000_000)
    assert (run.horizon.start, run.horizon.end) == (dt.datetime(2025, 1, 1, 9), dt.datetime(2026, 1, 1, 9))  # noqa: DTZ001 -- simulated time has no zone
    assert (run.turn, run.fraction, run.progress, run.status) == (0, 0.0, 0.0, "waiting")


@pytest.mark.parametrize(
    ("outside", "inside", "limit"), [(None, 0, None), (7, 0, 7), (None, 9, 9), (7, 9, 7), (9, 7, 7)]
)
def test_the_nearer_of_two_turn_limits_counts(outside: int | None, inside: int, limit: int | None) -> None:
    config = attrs.evolve(START.config, loop=attrs.evolve(START.config.loop, max_turns=inside))
    assert RunView.empty(attrs.evolve(START, config=config, max_turns=outside), "").turn_limit == limit


# ---- tasks


def test_a_task_is_followed_from_the_market_to_its_end() -> None:
    known = Task("Task-8", "planned", "Cortex", 1_853_002, "2025-01-09T18:00:00", None)
    run = view(make_turn(1, [BROWSED, ACCEPTED]))
    assert run.work.open == {"Task-8": known}
    assert list(run.work.market) == ["Task-9"]
    run = told(run, make_turn(2, [ASSIGNED]), 2.0)
    assert run.work.open == {"Task-8": attrs.evolve(known, team=2)}
    run = told(run, make_turn(3, [DISPATCHED]), 3.0)
    assert run.work.open == {"Task-8": attrs.evolve(known, team=2, status="active")}
    run = told(run, make_turn(4, events=[completed("Task-8", success=True)]), 4.0)
    assert (run.work.open, run.work.succeeded, run.work.failed) == ({}, 1, 0)


def test_a_late_task_counts_as_failed_and_other_events_as_nothing() -> None:
    late: list[Json] = [{"type": "monthly_payroll", "funds_after": 1}, completed("Task-8", success=False)]
    run = view(make_turn(1, [ACCEPTED, DISPATCHED], events=late))
    assert (run.work.open, run.work.succeeded, run.work.failed) == ({}, 0, 1)


def test_a_cancelled_task_counts_once() -> None:
    again = answer("task cancel --task-id Task-8 --reason x", {"error": "Task-8 is cancelled"}, ok=False)
    run = view(make_turn(1, [ACCEPTED, CANCELLED, again]))
    assert (run.work.open, run.work.cancelled) == ({}, 1)


def test_a_refused_command_changes_no_task() -> None:
    refused = attrs.evolve(make_turn(1, [answer("task accept", {"task_id": "Task-8", "status": "planned"}, ok=False)]))
    assert view(refused).work.open == {}


def test_a_list_puts_right_what_was_missed() -> None:
    listed = answer(
        "task list",
        {
            "tasks": [
                {"task_id": "Task-8", "status": "completed_fail", "client_name": "Cortex"},
                {"task_id": "Task-5", "status": "active", "client_name": "Helix", "deadline": "2025-02-01T09:00:00"},
            ]
        },
    )
    run = view(make_turn(1, [ACCEPTED, listed]))
    assert run.work.open == {"Task-5": Task("Task-5", "active", "Helix", None, "2025-02-01T09:00:00", None)}
    assert run.work.cancelled == 0


def test_what_is_told_without_a_status_is_told_of_the_open_task() -> None:
    told_again = answer("market browse", {"tasks": [{"task_id": "Task-8", "reward_funds_cents": 7}]})
    run = view(make_turn(1, [ACCEPTED, told_again]))
    assert run.work.open == {"Task-8": Task("Task-8", "planned", None, 7, "2025-01-09T18:00:00", None)}
    assert run.work.market == {}


@pytest.mark.parametrize(("client", "shown"), [(None, "-"), (5, None)])
def test_a_task_of_nobody_has_a_dash_and_what_cannot_be_read_is_not_known(client: Json, shown: str | None) -> None:
    listed = answer("market browse", {"tasks": [{"task_id": "Task-8", "client_name": client}]})
    assert view(make_turn(1, [listed, ACCEPTED])).work.open["Task-8"].client == shown


def test_an_inspection_tells_of_team_and_reward() -> None:
    inspected = answer(
        "task inspect --task-id Task-8",
        {
            "task_id": "Task-8",
            "status": "planned",
            "client_name": "Cortex",
            "reward_funds_cents": 9,
            "assignments": [{}],
        },
    )
    run = view(make_turn(1, [ACCEPTED, inspected]))
    assert run.work.open == {"Task-8": Task("Task-8", "planned", "Cortex", 9, "2025-01-09T18:00:00", 1)}


def test_commands_whose_answers_were_left_out_are_followed_by_their_words() -> None:
    cut: JsonObject = {"cut": "too many answers"}
    words = ["yc-bench task accept --task-id=Task-8", "task accept --task-id Task-9", "sim resume"]
    run = view(make_turn(1, [answer(word, cut) for word in words]))
    assert {task.task_id: task.status for task in run.work.open.values()} == {"Task-8": "planned", "Task-9": "planned"}
    words = ["task dispatch --task-id Task-8", "task cancel --task-id Task-9 --reason 'too late'", "task 'unclosed"]
    run = told(run, make_turn(2, [answer(word, cut) for word in words]), 2.0)
    assert {task.task_id: task.status for task in run.work.open.values()} == {"Task-8": "active"}
    assert run.work.cancelled == 1


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("name", ["greedy", "random"])
def test_the_tasks_are_those_of_the_world_after_every_turn(name: str, seed: int, tmp_path: Path) -> None:
    plan = RunPlan(tmp_path, "default", seed, make_policy(name), name, max_turns=60)
    turns: list[TurnRecord] = []
    play_run_sync(plan, Runtime(on_turn=lambda _plan, turn: turns.append(turn)))
    run = RunView.empty(plan, name)
    env = YCBenchEnv(plan.config)
    env.reset(seed=seed)
    assert len(turns) > 20
    for turn in turns:
        run = told(run, turn, 0.0)
        env.step(turn.action if isinstance(turn.action, str) else [str(text) for text in turn.action])
        tasks = env.get_state().tasks
        expected = {
            task.task_id: (task.status, len(task.team)) for task in tasks if task.status in {"planned", "active"}
        }
        assert {task.task_id: (task.status, task.team or 0) for task in run.work.open.values()} == expected
        over = [task.status for task in tasks]
        assert (run.work.succeeded, run.work.failed, run.work.cancelled) == tuple(
            over.count(status) for status in ("completed_success", "completed_fail", "cancelled")
        )
    assert run.funds.now_cents == env.get_state().funds_cents
    assert all(task.client and task.deadline for task in run.work.open.values())


# ---- commands


def test_the_last_commands_are_kept_with_their_fate_and_the_reason_of_a_refusal() -> None:
    refused = answer("bogus", {"error": "Unknown command"}, ok=False)
    run = view(make_turn(1, [ACCEPTED]), make_turn(2, [refused], invalid_commands=1))
    assert run.commands == (
        SaidCommand(1, "task accept --task-id Task-8", ok=True),
        SaidCommand(2, "bogus", ok=False, error="Unknown command"),
    )
    assert (run.invalid_commands, run.totals.refused) == (1, 1)


def test_no_more_than_twelve_commands_and_the_beginning_of_each_are_kept() -> None:
    run = view(make_turn(1, [answer(f"{number} {'x' * 100_000}", {}) for number in range(20)]))
    assert [said.text[:3] for said in run.commands] == [f"{number} x"[:3] for number in range(8, 20)]
    assert max(len(said.text) for said in run.commands) == 300


def test_the_commands_of_later_turns_push_out_those_of_earlier_ones() -> None:
    run = view(*[make_turn(number, [answer("sim resume", {}) for _ in range(5)]) for number in (1, 2, 3)])
    assert [said.turn for said in run.commands] == [1] * 2 + [2] * 5 + [3] * 5


def test_a_turn_without_commands_and_time_that_moves_by_itself_are_remarked() -> None:
    run = view(make_turn(1, forced_advance=True))
    assert [(said.text, said.ok) for said in run.commands] == [
        ("(no command)", None),
        ("(the environment moved time on by itself)", None),
    ]


# ---- what it takes


def test_what_a_turn_took_is_read_from_its_record() -> None:
    transport: JsonObject = {"latency_s": 2.5, "attempts": 3, "faults": ["429", "timeout"]}
    turn = make_turn(1, [ACCEPTED, answer("x", {"error": ""}, ok=False)], trace=TRACE, transport=transport)
    assert TurnFigures.of(turn) == TurnFigures(
        ok=1,
        refused=1,
        by_model=True,
        tokens=TokenUsage(1000, 50, 10, 5),
        cost_usd=Decimal("0.1"),
        latency_s=2.5,
        attempts=3,
        faults=("429", "timeout"),
    )


@pytest.mark.parametrize("bad", [None, True, "5", -1, float("nan"), float("inf"), [], {}])
def test_what_is_no_figure_is_unknown(bad: Json) -> None:
    trace: JsonObject = dict.fromkeys(TRACE, bad)
    figures = TurnFigures.of(make_turn(trace=trace, transport={"latency_s": bad, "attempts": bad, "faults": bad}))
    assert figures == TurnFigures(ok=0, refused=0, by_model=True)
    run = view(make_turn(trace=trace, transport=None))
    assert run.totals.tokens.prompt == TokenSum(0, 1)
    assert run.totals.cost == CostTotal(Decimal(0), 1)


def test_sums_tell_how_many_turns_are_unknown() -> None:
    transport: JsonObject = {"latency_s": 1.5, "attempts": 3, "faults": ["429", "timeout"]}
    run = view(
        make_turn(1, trace=TRACE, transport=transport),
        make_turn(2, trace={**TRACE, "cached_tokens": None, "cost_usd": None}, transport=TRANSPORT),
        make_turn(3, trace=TRACE, transport=TRANSPORT),
    )
    totals = run.totals
    assert (totals.tokens.turns, totals.tokens.prompt, totals.tokens.cached) == (3, TokenSum(3000, 0), TokenSum(20, 1))
    assert totals.cost == CostTotal(Decimal("0.2"), 1)  # exact: costs are decimals
    assert (totals.model_time_s, totals.retries, totals.faults, totals.last_fault) == (5.5, 2, 2, "timeout")
    assert run.last is not None
    assert run.last.cost_usd == Decimal("0.1")


def test_a_policy_without_a_model_has_no_tokens_and_no_costs() -> None:
    run = view(make_turn(1), make_turn(2))
    assert run.totals.tokens.turns == 0
    assert run.totals.cost == CostTotal()


# ---- time


def test_the_time_left_follows_from_the_simulated_time_that_was_played() -> None:
    quarter, half = "2025-04-02T15:00:00", "2025-07-02T21:00:00"  # of the year from 2025-01-01 09:00
    run = told(RunView.empty(START, ""), make_turn(1, sim_time=quarter), 100.0)
    assert run.left_s(100.0) is None  # how long the first turn took is not known
    run = told(run, make_turn(2, sim_time=half), 110.0)
    assert run.fraction == 0.5
    assert run.left_s(110.0) == pytest.approx(20.0)
    assert run.left_s(115.0) == pytest.approx(15.0)
    assert run.left_s(1e6) == 0.0


def test_the_first_turn_is_timed_where_its_latency_is_known() -> None:
    turn = make_turn(1, sim_time="2025-04-02T15:00:00", trace=TRACE, transport=TRANSPORT)
    assert told(RunView.empty(START, ""), turn, 100.0).left_s(100.0) == pytest.approx(6.0)


def test_the_time_left_follows_from_the_turn_limit_where_that_is_nearer() -> None:
    plan = attrs.evolve(START, max_turns=5)
    run = told(RunView.empty(plan, ""), make_turn(1), 100.0)
    assert run.left_s(100.0) is None
    run = told(run, make_turn(2, sim_time="2025-01-02T09:00:00"), 110.0)
    assert run.left_s(110.0) == pytest.approx(30.0)
    assert run.progress == pytest.approx(0.4)


def test_nothing_is_estimated_while_the_simulated_time_stands_still() -> None:
    run = view(make_turn(1), make_turn(2), make_turn(3))
    assert run.left_s(3.0) is None


def test_recorded_turns_do_not_count_for_the_speed(tmp_path: Path) -> None:
    _play(tmp_path, turns=20)
    fresh = RunView.of(_plan(tmp_path, max_turns=20), "")
    assert fresh.turn == 20
    plan = _plan(tmp_path, max_turns=40)
    run = attrs.evolve(fresh, turn_limit=plan.max_turns, status="waiting")
    run = told(run, make_turn(21, trace=TRACE, transport=TRANSPORT, sim_time=run.sim_time.isoformat()), 50.0)
    assert run.left_s(50.0) == pytest.approx(2.0 * 19)


# ---- the end


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"terminated": True, "terminal_reason": "bankruptcy"}, "bankruptcy"),
        ({"terminated": True, "terminal_reason": "horizon_end"}, "horizon_end"),
        ({"truncated": True, "terminal_reason": "max_turns"}, "max_turns"),
    ],
)
def test_the_last_turn_ends_the_run(changes: dict[str, object], reason: str) -> None:
    run = view(make_turn(1), attrs.evolve(make_turn(2), **changes))
    assert (run.status, run.reason, run.is_over, run.progress, run.left_s(9.0)) == ("finished", reason, True, 1.0, None)


def test_the_turn_limit_of_the_plan_ends_the_run() -> None:
    run = view(make_turn(1), make_turn(2), plan=attrs.evolve(START, max_turns=2))
    assert (run.status, run.reason) == ("finished", "max_turns")
    assert view(make_turn(1), plan=attrs.evolve(START, max_turns=2)).status == "running"


# ---- what is in the folder


def _plan(folder: Path, **changes: object) -> RunPlan:
    plan = RunPlan(folder, "default", 1, make_policy("greedy"), "greedy", max_turns=8)
    return attrs.evolve(plan, policy=make_policy("greedy"), **changes)


def _play(folder: Path, turns: int) -> list[TurnRecord]:
    played: list[TurnRecord] = []
    play_run_sync(_plan(folder, max_turns=turns), Runtime(on_turn=lambda _plan, turn: played.append(turn)))
    return played


def _interrupt(folder: Path, keep: int) -> None:
    """Leave a run as if it had been killed in the middle of a turn."""
    path = folder / "turns.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:keep]) + lines[keep][:40])
    run = json.loads((folder / "run.json").read_text(encoding="ascii"))
    run["outcome"] = {**dict.fromkeys(run["outcome"]), "status": "running", "totals": {}}
    (folder / "run.json").write_text(json.dumps(run), encoding="ascii")


def test_an_interrupted_run_begins_with_its_recorded_turns(tmp_path: Path) -> None:
    turns = _play(tmp_path, 8)
    _interrupt(tmp_path, 5)
    run = RunView.of(_plan(tmp_path), "greedy")
    played = view(*turns[:5], plan=_plan(tmp_path))
    assert (run.recorded_turns, run.recorded_progress) == (5, 5 / 8)
    expected = attrs.evolve(played, pace=None, status="waiting", recorded_turns=5, recorded_progress=5 / 8)
    assert run == expected
    assert run.funds.now_cents == turns[4].funds_cents


def test_a_finished_run_is_over_from_the_start(tmp_path: Path) -> None:
    _play(tmp_path, 8)
    run = RunView.of(_plan(tmp_path), "greedy")
    assert (run.status, run.reason, run.turn, run.progress, run.recorded_progress) == (
        "finished", "max_turns", 8, 1.0, 1.0
    )  # fmt: skip


def test_a_finished_run_whose_turns_are_lost_is_not_over(tmp_path: Path) -> None:
    _play(tmp_path, 8)
    path = tmp_path / "turns.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:6]))
    run = RunView.of(_plan(tmp_path), "greedy")
    assert (run.status, run.turn) == ("waiting", 6)


@pytest.mark.parametrize("kind", ["nothing", "another run", "broken run.json", "broken turns"])
def test_what_cannot_be_resumed_begins_empty(kind: str, tmp_path: Path) -> None:
    plan = _plan(tmp_path)
    if kind != "nothing":
        _play(tmp_path, 8)
    if kind == "another run":
        plan = _plan(tmp_path, seed=2)
    if kind == "broken run.json":
        (tmp_path / "run.json").write_bytes(b"{")
    if kind == "broken turns":
        (tmp_path / "turns.jsonl").write_bytes(b'{"turn": "x"}\n{"turn": 2}\n')
    assert RunView.of(plan, "greedy") == RunView.empty(plan, "greedy")


# ---- funds


def test_funds_at_the_same_time_replace_each_other_and_the_extremes_stay() -> None:
    funds = FundsSeries.starting_with(100).plus(0.0, 50).plus(0.0, 120).plus(0.5, 80)
    assert funds == FundsSeries(((0.0, 100), (0.0, 120), (0.5, 80)), 50, 120)


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(-(10**12), 10**12)), max_size=60))
def test_a_series_keeps_its_order_its_extremes_and_its_last_point(points: list[tuple[float, int]]) -> None:
    points.sort(key=lambda point: point[0])
    funds = FundsSeries.starting_with(7)
    for fraction, cents in points:
        funds = funds.plus(fraction, cents)
    amounts = [7, *(cents for _, cents in points)]
    assert (funds.min_cents, funds.max_cents, funds.now_cents) == (min(amounts), max(amounts), amounts[-1])
    times = [fraction for fraction, _ in funds.points]
    assert times == sorted(times)


def test_a_long_run_takes_no_more_room_than_a_short_one() -> None:
    funds = FundsSeries.starting_with(0)
    for number in range(20_000):
        funds = funds.plus(number / 20_000, number)
    assert len(funds.points) <= 482


def test_samples_are_the_funds_at_the_end_of_each_part_and_none_in_the_future() -> None:
    funds = FundsSeries.starting_with(100).plus(0.3, 200).plus(0.6, 50)
    assert funds.samples(4) == [100, 200, 50, None]
    assert FundsSeries.starting_with(100).samples(3) == [100, None, None]
    assert FundsSeries.starting_with(100).plus(1.0, 5).samples(2) == [100, 5]


# ---- anything at all


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["task_id", "status", "tasks", "output", "ok", "command", "cut", "type"]), inner
        )
    ),
    max_leaves=12,
)


@given(
    st.lists(JSON, max_size=4), st.lists(JSON, max_size=4), st.none() | st.dictionaries(st.sampled_from([*TRACE]), JSON)
)
def test_no_record_is_so_odd_that_it_cannot_be_taken_in(
    results: list[Json], events: list[Json], trace: JsonObject
) -> None:
    run = view(make_turn(1, results, events=events, trace=trace, transport=trace, sim_time="never"))
    assert run.turn == 1
    assert run.sim_time == run.horizon.start


def test_a_view_is_what_the_environment_shows(tmp_path: Path) -> None:
    trajectory = rollout(YCBenchEnv(START.config), make_policy("greedy"), 1)
    plan = RunPlan(tmp_path, "default", 1, make_policy("greedy"), "greedy")
    runs = [RunView.empty(plan, "")]
    play_run_sync(plan, Runtime(on_turn=lambda _plan, turn: runs.append(told(runs[-1], turn, 0.0))))
    assert [run.funds.now_cents for run in runs] == [int(seen["funds_cents"]) for seen in trajectory.observations]
    assert [run.sim_time.isoformat() for run in runs] == [seen["sim_time"] for seen in trajectory.observations]
    assert runs[-1].fraction == 1.0
