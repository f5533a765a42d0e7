"""The state as a value and as bytes. Source: Y-2, Y-7; B29."""

import contextlib
import copy
import json
import random
import zlib

import attrs
import pytest

from ycbench_env.config import Config, load_config
from ycbench_env.errors import StateError
from ycbench_env.generator import initial_state
from ycbench_env.observation import encoded_answer, observe
from ycbench_env.testing.tiny import (
    ADVERSARIAL,
    carried_out,
    instant,
    started,
    tiny_client,
    tiny_config,
    tiny_employee,
    tiny_state,
    tiny_task,
)
from ycbench_env.transition import advance, transition
from ycbench_env.types.command import (
    AcceptTask,
    AssignTask,
    BrowseMarket,
    CancelTask,
    ClientHistory,
    Command,
    CompanyStatus,
    DispatchTask,
    FinanceLedger,
    ListClients,
    ListEmployees,
    ListTasks,
    ReportMonthly,
    Resume,
)
from ycbench_env.types.evolve import evolve, kept
from ycbench_env.types.state import Assignment, Calendar, Client, Employee, LedgerEntry, State, Task

# ruff: noqa: S311 -- plays are drawn, not secrets

HEAD = 9  # magic, version, checksum


def some_command(state: State, rng: random.Random) -> Command:
    """A command that is often carried out and sometimes refused."""
    names = tuple(rng.sample([e.name for e in state.employees], rng.randint(0, len(state.employees))))
    own = [task.task_id for task in state.tasks if task.status in {"planned", "active"}]
    task_id = rng.choice(own) if own else "Task-404"
    match rng.randrange(9):
        case 0 | 1:
            return AcceptTask(rng.choice([task.task_id for task in state.market] or ["Task-404"]))
        case 2 | 3:
            return AssignTask(task_id, names)
        case 4 | 5:
            return DispatchTask(task_id)
        case 6 if rng.random() < 0.3:
            return CancelTask(task_id, "")
        case _:
            return Resume()


def played(config: Config, seed: int, commands: int) -> list[State]:
    """The states of a random play, in order, each once."""
    rng = random.Random(seed)
    state = initial_state(config, seed)
    states = [state]
    for _ in range(commands):
        command = some_command(state, rng)
        state = transition(state, command).state
        if rng.random() < 0.02 and state.terminal_reason is None:
            state = advance(state).state
        if state is not states[-1]:
            states.append(state)
    return states


DEFAULT = load_config("default", environ={})
CONFIGS = {
    "default": DEFAULT,
    "reference": load_config("reference", environ={}),
    "milestones": load_config(
        DEFAULT,
        overrides={
            "sim": {"start_date": "2024-02-29", "horizon_years": 2},
            "world": {
                "task_progress_milestones": [0.25, 0.5, 1.0],
                "num_employees": 3,
                "prestige_decay_per_day": 0.01,
                "dist": {"domain_count": {"type": "uniform", "low": 1, "high": 4.9}},
            },
        },
    ),
    "tiny": tiny_config(),
    "nobody": tiny_config(num_employees=0),
}


# -------------------------------------------------------------------------------------------------------------- bytes


@pytest.mark.parametrize("name", CONFIGS)
def test_a_state_comes_back_from_its_bytes(name: str) -> None:
    for state in [*played(CONFIGS[name], 3, 150)][::6]:
        data = state.to_bytes()
        back = State.from_bytes(data)
        assert back == state
        assert back.to_bytes() == data
        assert back.digest() == state.digest()


def test_every_field_survives() -> None:
    offer = tiny_task(
        1000, {"training": 7, "research": 25_000}, client=ADVERSARIAL, prestige=9, trust=4, delta=0.123, boost=0.4
    )
    base = tiny_state(tiny_config(sim={"company_name": "Zürich 数"}))
    start = base.calendar.start_us
    task = Task(
        offer=attrs.evolve(offer, copy=12),
        status="completed_fail",
        accepted_us=start + 1,
        deadline_us=start + 10**15,
        required_e4=(1, 250_000_000),
        done_e4=(0, 3),
        team=(Assignment(1, start), Assignment(2, start + 5)),
        completed_us=start,
        milestones_reported=3,
        completion_us=start + 7,
        milestone_us=start + 2**50,
    )
    state = State(
        config=base.config,
        run_seed=10**30,
        calendar=base.calendar,
        now_us=start + 123_456_789_012_345,
        funds_cents=-(10**15),
        prestige_milli=(1000, 9999, 0, 10_000),
        employees=(tiny_employee(1, (0, 1.2345, 10, 20), tier="senior", salary_cents=0), tiny_employee(2, tier="mid")),
        clients=(tiny_client("Ω & sons", loyalty=-0.301, trust=4.999, specialties=("training", "research")),
                 attrs.evolve(tiny_client(ADVERSARIAL), tier="Enterprise", reward_multiplier_milli=2500)),
        market=(offer,),
        slot_accepts=(1234,),
        tasks=(
            task,
            Task(tiny_task(5, client=ADVERSARIAL), "planned", start, start + 9, required_e4=(5,), done_e4=(0,)),
        ),
        ledger=(
            LedgerEntry(start, "task_reward", 10**11, "Task-1000-12"),
            LedgerEntry(start, "task_fail_penalty", -7, "Task-5"),
            LedgerEntry(start + 1, "monthly_payroll", -100_000, "Emp_2"),
        ),
        payrolls_charged=11,
        terminal_reason="bankruptcy",
        turns_played=10**9,
        idle_turns=4,
    )  # fmt: skip
    assert State.from_bytes(state.to_bytes()) == state
    horizon = attrs.evolve(state, terminal_reason="horizon_end")
    assert State.from_bytes(horizon.to_bytes()) == horizon


def test_equal_states_give_equal_bytes_on_whatever_way_they_were_reached() -> None:
    one = carried_out(
        tiny_state(), AcceptTask("Task-1"), AcceptTask("Task-3"), AssignTask("Task-1", ("Emp_1", "Emp_2"))
    )
    other = carried_out(
        tiny_state(), AcceptTask("Task-1"), AssignTask("Task-1", ("Emp_2",)), AssignTask("Task-1", ("Emp_1",)),
        AcceptTask("Task-3"),
    )  # fmt: skip
    assert one == other
    assert (one.to_bytes(), one.digest()) == (other.to_bytes(), other.digest())


def test_equal_configurations_written_differently_give_equal_bytes() -> None:
    one = initial_state(load_config(DEFAULT, overrides={"world": {"trust_max": 5}}), 1)
    assert one.to_bytes() == initial_state(DEFAULT, 1).to_bytes()


@pytest.mark.parametrize(
    "change",
    [
        {"run_seed": 2},
        {"now_us": 7 + 1_735_722_000_000_000},
        {"funds_cents": 1},
        {"prestige_milli": (1000, 1000, 1000, 1001)},
        {"slot_accepts": (0, 0, 0, 1)},
        {"payrolls_charged": 1},
        {"terminal_reason": "horizon_end"},
        {"market": ()},
        {"employees": (tiny_employee(1),)},
        {"clients": (tiny_client(loyalty=0.999), tiny_client(ADVERSARIAL, loyalty=-1.0))},
    ],
    ids=lambda change: next(iter(change)),
)
def test_the_digest_and_the_bytes_follow_every_part_of_the_world(change: dict[str, object]) -> None:
    state = tiny_state()
    other = attrs.evolve(state, **change)
    assert other.digest() != state.digest()
    assert other.to_bytes() != state.to_bytes()


def test_the_digest_ignores_turn_counters_and_configuration_and_the_bytes_do_not() -> None:
    state = tiny_state()
    later = attrs.evolve(state, turns_played=7, idle_turns=3)
    assert later.digest() == state.digest()
    assert later.to_bytes() != state.to_bytes()
    renamed = attrs.evolve(state, config=tiny_config(salary_bump_pct=0.5))
    assert renamed.digest() == state.digest()
    assert renamed.to_bytes() != state.to_bytes()
    assert len(state.digest()) == 64


def test_a_state_after_a_busy_year_is_small() -> None:
    # Every event is answered by five more tasks, two of which are worked on by four people each.
    state = initial_state(load_config(DEFAULT, overrides={"world": {"trust_gating_fraction": 0.0}}), 1)
    names = [employee.name for employee in state.employees]
    while state.terminal_reason is None:
        for slot in range(5):
            task_id = state.market[slot].task_id
            state = carried_out(state, AcceptTask(task_id))
            if slot < 2:
                state = carried_out(state, AssignTask(task_id, tuple(names[4 * slot :][:4])), DispatchTask(task_id))
        state = advance(attrs.evolve(state, funds_cents=10**8)).state
    assert state.now_us == state.calendar.horizon_us
    assert len(state.tasks) > 100
    assert len(state.ledger) > 100
    assert len(state.to_bytes()) < 50_000


def reachable() -> bytes:
    return carried_out(started(tiny_state(), "Task-1", "Emp_1", "Emp_2"), Resume(), AcceptTask("Task-3")).to_bytes()


@pytest.mark.parametrize(
    "data", [b"", b"Y", b"YCBS", b"YCBS\x01", b"hello, world, this is no state", b"\x00" * 100, b"{}"]
)
def test_foreign_bytes_are_no_state(data: bytes) -> None:
    with pytest.raises(StateError):
        State.from_bytes(data)


def test_every_shortened_state_is_refused() -> None:
    data = reachable()
    for length in range(len(data)):
        with pytest.raises(StateError):
            State.from_bytes(data[:length])


def test_every_damaged_byte_is_noticed() -> None:
    data = reachable()
    for place in range(len(data)):
        for flip in (0x01, 0x80):
            damaged = bytearray(data)
            damaged[place] ^= flip
            with pytest.raises(StateError):
                State.from_bytes(bytes(damaged))


def test_bytes_behind_a_state_are_noticed() -> None:
    with pytest.raises(StateError):
        State.from_bytes(reachable() + b"\x00")


def test_another_version_is_refused_with_both_versions() -> None:
    data = bytearray(reachable())
    data[4] = 77
    with pytest.raises(StateError, match=r"version 77, expected 1\b"):
        State.from_bytes(bytes(data))


def sealed(body: bytes) -> bytes:
    """Bytes whose checksum is right whatever they hold."""
    return b"YCBS\x01" + zlib.crc32(body).to_bytes(4, "big") + body


def test_bytes_with_a_right_checksum_that_hold_something_else_are_refused() -> None:
    body = reachable()[HEAD:]
    assert State.from_bytes(sealed(body)).tasks  # the seal itself is right
    with pytest.raises(StateError, match="bytes too many"):
        State.from_bytes(sealed(body + b"\x00"))
    for wrong in (body[:-1], body[: len(body) // 2], b"", b"\xff" * 50, b"\x04{}", body[2:]):
        with pytest.raises(StateError):
            State.from_bytes(sealed(wrong))


@pytest.mark.parametrize("text", ["null", "[]", '"default"', "7", '{"world": 1}', '{"nonsense": {}}', "{", '"\udcff"'])
def test_a_configuration_that_is_none_is_refused(text: str) -> None:
    # The configuration comes first, as a text behind its length: twice the length as a number of 7-bit groups.
    raw = text.encode(errors="surrogateescape")
    assert len(raw) < 64
    body = reachable()[HEAD:]
    length = (body[0] & 0x7F | body[1] << 7) >> 1
    assert json.loads(body[2 : 2 + length])["name"] == "tiny"
    with pytest.raises(StateError):
        State.from_bytes(sealed(bytes([2 * len(raw)]) + raw + body[2 + length :]))


def test_damage_under_a_right_checksum_gives_a_state_or_a_state_error() -> None:
    # Whatever else a reader may meet, it raises nothing but StateError.
    body = reachable()[HEAD:]
    length = 2 + ((body[0] & 0x7F | body[1] << 7) >> 1)  # the configuration is tested above
    for place in range(length, len(body)):
        changed = bytearray(body)
        changed[place] = (0x00, 0x7E, 0xFF)[place % 3]
        with contextlib.suppress(StateError):
            State.from_bytes(sealed(bytes(changed)))


# ------------------------------------------------------------------------------------------------------- state as value


def test_a_state_cannot_be_changed_and_a_deep_copy_is_itself() -> None:
    state = tiny_state()
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        state.funds_cents = 1  # pyright: ignore[reportAttributeAccessIssue]
    assert copy.deepcopy(state) is state
    assert copy.deepcopy({"state": state})["state"] is state


def test_names_and_ids_are_made_from_numbers() -> None:
    assert tiny_employee(12).name == "Emp_12"
    assert tiny_task(2001).task_id == "Task-2001"
    assert attrs.evolve(tiny_task(1), copy=2).task_id == "Task-1-2"


def test_what_is_not_there_is_not_found() -> None:
    state = carried_out(tiny_state(), AcceptTask("Task-1"))
    with pytest.raises(KeyError, match="Nobody"):
        state.client("Nobody")
    assert state.market_slot("Task-1") is None
    assert state.task_index("Task-1") == 0
    assert state.task_index("Task-3") is None


@pytest.mark.parametrize(
    "task_id",
    [
        "",
        "Task-",
        "Task--1",
        "task-3",
        "Task-03",
        "Task-3-1",
        "Task-3 ",
        "Task-٣",
        "Task-³",
        "Task-9" + "9" * 5000,
        "3",
    ],
)
def test_an_id_must_be_written_exactly(task_id: str) -> None:
    state = carried_out(tiny_state(), AcceptTask("Task-1"))
    assert state.market_slot(task_id) is None
    assert state.task_index(task_id) is None


def test_a_listed_task_is_found_wherever_it_stands() -> None:
    market = [tiny_task(number) for number in (7, 3, 2000, 1, 9001, 2)]
    state = tiny_state(market=[*market, attrs.evolve(tiny_task(3), copy=2)])
    for slot, task in enumerate(state.market):
        assert state.market_slot(task.task_id) == slot


def test_the_calendar_follows_from_the_configuration() -> None:
    calendar = Calendar.from_config(
        tiny_config(sim={"start_date": "2024-02-29", "horizon_years": 3}, workday_start_hour=7)
    )
    assert (calendar.start_us, calendar.horizon_us) == (instant("2024-02-29 07:00"), instant("2027-02-28 07:00"))
    assert (calendar.open_us, calendar.close_us) == (7 * 3_600_000_000, 18 * 3_600_000_000)
    assert calendar.payrolls_us[0] == instant("2024-03-01 07:00")
    assert len(calendar.payrolls_us) == 36
    assert calendar.horizon_end == "2027-02-28T07:00:00"


@pytest.mark.parametrize(
    ("limit", "turns", "reason", "truncated"),
    [
        (3, 2, None, False),
        (3, 3, None, True),
        (3, 4, None, True),
        (3, 3, "bankruptcy", False),  # the world ended first
        (0, 99, None, False),  # no limit
    ],
)
def test_the_turn_limit_truncates_an_episode_that_has_not_ended(
    limit: int, turns: int, reason: str | None, truncated: bool
) -> None:
    state = attrs.evolve(tiny_state(tiny_config(loop={"max_turns": limit})), turns_played=turns, terminal_reason=reason)
    assert state.truncated is truncated
    assert state.end_reason == ("max_turns" if truncated else reason)


# ------------------------------------------------------------------------------------------- what is kept for speed


QUERIES = (
    CompanyStatus(), ListEmployees(), BrowseMarket(), ListTasks(), ListClients(), ClientHistory(), FinanceLedger(),
    ReportMonthly(),
)  # fmt: skip


@pytest.mark.parametrize("cls", [Employee, Client, Task, State])
def test_every_kept_value_of_a_copied_class_names_the_fields_it_comes_from(
    cls: type[Employee | Client | Task | State],
) -> None:
    figures = {name for name, value in vars(cls).items() if isinstance(value, kept)}
    fields = {field.name for field in attrs.fields(cls)}
    assert {figure for dependent in cls.KEPT.values() for figure in dependent} == figures
    assert set(cls.KEPT) <= fields


def test_a_copy_is_what_the_initialiser_would_make_and_leaves_its_source_alone() -> None:
    state = tiny_state()
    before = state.monthly_payroll_cents
    copied = evolve(state, employees=(tiny_employee(1, salary_cents=7),), funds_cents=3)
    assert copied == attrs.evolve(state, employees=(tiny_employee(1, salary_cents=7),), funds_cents=3)
    assert (copied.monthly_payroll_cents, state.monthly_payroll_cents) == (7, before)
    assert state == tiny_state()
    gates = state.gates
    assert evolve(state, now_us=7).gates is gates  # as long as the market stays


@pytest.mark.parametrize("name", ["default", "milestones"])
def test_what_is_kept_never_grows_stale(name: str) -> None:
    # A state from bytes has nothing kept; the one that was played has answered everything after each command.
    for state in played_and_asked(CONFIGS[name], 11, 120)[::3]:
        fresh = State.from_bytes(state.to_bytes())
        assert observe(fresh) == observe(state)
        assert fresh.active_indices == state.active_indices
        assert (fresh.status_counts, fresh.trust_milli) == (state.status_counts, state.trust_milli)
        for command in QUERIES:
            if state.end_reason is None:
                outcome, again = transition(state, command), transition(fresh, command)
                assert encoded_answer(state, command, outcome) == encoded_answer(fresh, command, again)
                output, text = encoded_answer(state, command, outcome)
                assert text == json.dumps(output, separators=(",", ":"), ensure_ascii=False)


@pytest.mark.parametrize("name", ["default", "milestones"])
def test_what_a_resume_tells_is_the_same_as_json_and_as_an_object(name: str) -> None:
    told = 0
    for state in played_and_asked(CONFIGS[name], 11, 120):
        if state.active_indices and state.end_reason is None:
            output, text = encoded_answer(state, Resume(), outcome := advance(state))
            assert text == json.dumps(output, separators=(",", ":"), ensure_ascii=False)
            told += len(outcome.events)
    assert told > 20


def played_and_asked(config: Config, seed: int, commands: int) -> list[State]:
    rng = random.Random(seed)
    state = initial_state(config, seed)
    states = []
    for _ in range(commands):
        for command in QUERIES:
            encoded_answer(state, command, transition(state, command))
        observe(state)
        state = transition(state, some_command(state, rng)).state
        states.append(state)
    return states


# ---- as text


def test_a_state_as_text_is_one_line_that_tells_how_the_company_stands() -> None:
    state = initial_state(load_config("default", environ={}), 1)
    assert repr(state) == (
        "<State 2025-01-01T09:00:00, funds $200,000.00, 8 employees, 6 clients, 200 tasks on the market, "
        "none of its own, turn 0>"
    )


def test_a_state_as_text_counts_its_tasks_and_says_that_the_episode_is_over() -> None:
    state = started(tiny_state(), "Task-1", "Emp_1")
    later = attrs.evolve(state, terminal_reason="bankruptcy", turns_played=7, funds_cents=-1)
    assert "funds -$0.01" in repr(later)
    assert repr(later).endswith("on the market, 1 active of its own, turn 7, over: bankruptcy>")


def test_a_state_as_text_does_not_tell_its_hidden_seed() -> None:
    config = load_config("default", environ={})
    seed = 314_159_265
    assert str(seed) not in repr(initial_state(config, seed))
    assert repr(attrs.evolve(initial_state(config, 1), run_seed=seed)) == repr(initial_state(config, 1))


@pytest.mark.parametrize(
    ("loyalty_milli", "adversarial"), [(-1_000, True), (-301, True), (-300, False), (1_000, False)]
)
def test_a_client_is_adversarial_below_a_loyalty_of_three_tenths_disloyal(
    loyalty_milli: int, adversarial: bool
) -> None:
    client = attrs.evolve(tiny_client(), loyalty_milli=loyalty_milli)
    assert client.is_adversarial is adversarial
