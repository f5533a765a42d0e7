"""States as bytes, and their digests. Source: Y-7."""

import contextlib
import copy
import json
import pickle
import random
import zlib
from itertools import product
from pathlib import Path

import attrs
import pytest

from ycbench_env import YCBenchEnv
from ycbench_env.config import Config, load_config
from ycbench_env.errors import StateError
from ycbench_env.generator import initial_state
from ycbench_env.observation import encoded_answer, observe
from ycbench_env.testing.tiny import (
    ADVERSARIAL,
    carried_out,
    started,
    tiny_client,
    tiny_config,
    tiny_employee,
    tiny_state,
)
from ycbench_env.transition import advance, transition
from ycbench_env.turn import play_turn
from ycbench_env.types import command as c
from ycbench_env.types.codec import StateDigests, state_digest
from ycbench_env.types.state import State, evolve

# ruff: noqa: S311 -- plays are drawn, not secrets

HEAD = 9  # magic, version, checksum


def some_command(state: State, rng: random.Random) -> c.Command:
    """A command that is often carried out and sometimes refused."""
    names = tuple(rng.sample([e.name for e in state.employees], rng.randint(0, len(state.employees))))
    own = [task.task_id for task in state.tasks if task.status in {"planned", "active"}]
    task_id = rng.choice(own) if own else "Task-404"
    match rng.randrange(9):
        case 0 | 1:
            return c.AcceptTask(rng.choice([task.task_id for task in state.market] or ["Task-404"]))
        case 2 | 3:
            return c.AssignTask(task_id, names)
        case 4 | 5:
            return c.DispatchTask(task_id)
        case 6 if rng.random() < 0.3:
            return c.CancelTask(task_id, "")
        case _:
            return c.Resume()


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
    "before 1970": tiny_config(sim={"start_date": "1900-01-01"}),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_a_state_comes_back_from_its_bytes(name: str) -> None:
    for state in [*played(CONFIGS[name], 3, 150)][::6]:
        data = state.to_bytes()
        back = State.from_bytes(data)
        assert back == state
        assert back.to_bytes() == data
        assert back.digest() == state.digest()


def test_equal_states_give_equal_bytes_on_whatever_way_they_were_reached() -> None:
    accepts, both = (c.AcceptTask("Task-1"), c.AcceptTask("Task-3")), c.AssignTask("Task-1", ("Emp_1", "Emp_2"))
    singly = (c.AssignTask("Task-1", ("Emp_2",)), c.AssignTask("Task-1", ("Emp_1",)))
    one = carried_out(tiny_state(), *accepts, both)
    other = carried_out(tiny_state(), accepts[0], *singly, accepts[1])
    assert one == other
    assert (one.to_bytes(), one.digest()) == (other.to_bytes(), other.digest())


def test_the_digest_and_the_bytes_follow_every_part_of_the_world() -> None:
    state = tiny_state()
    changes: dict[str, object] = {
        "run_seed": 2,
        "now_us": 7 + 1_735_722_000_000_000,
        "funds_cents": 1,
        "prestige_milli": (1000, 1000, 1000, 1001),
        "slot_accepts": (0, 0, 0, 1),
        "payrolls_charged": 1,
        "terminal_reason": "horizon_end",
        "market": (),
        "employees": (tiny_employee(1),),
        "clients": (tiny_client(loyalty=0.999), tiny_client(ADVERSARIAL, loyalty=-1.0)),
    }
    for name, value in changes.items():
        other = attrs.evolve(state, **{name: value})
        assert other.digest() != state.digest(), name
        assert other.to_bytes() != state.to_bytes(), name


def test_the_digest_ignores_turn_counters_and_configuration_and_the_bytes_do_not() -> None:
    state = tiny_state()
    later = attrs.evolve(state, turns_played=7, idle_turns=3)
    assert later.digest() == state.digest()
    assert later.to_bytes() != state.to_bytes()
    renamed = attrs.evolve(state, config=tiny_config(salary_bump_pct=0.5))
    assert renamed.digest() == state.digest()
    assert renamed.to_bytes() != state.to_bytes()
    assert len(state.digest()) == 64


def reachable() -> bytes:
    return carried_out(started(tiny_state(), "Task-1", "Emp_1", "Emp_2"), c.Resume(), c.AcceptTask("Task-3")).to_bytes()


def test_foreign_shortened_and_damaged_bytes_are_no_state() -> None:
    data = reachable()
    foreign = [b"Y", b"YCBS\x01", b"hello, world, this is no state", b"\x00" * 100, b"{}"]
    shortened = [data[:length] for length in range(len(data))]
    flips = list(product(range(len(data)), (1, 128)))
    damaged = [data[:place] + bytes([data[place] ^ flip]) + data[place + 1 :] for place, flip in flips]
    for wrong in (*foreign, *shortened, *damaged):
        with pytest.raises(StateError):
            State.from_bytes(wrong)
    with pytest.raises(StateError, match="got str, expected the bytes"):
        State.from_bytes("YCBS")  # pyright: ignore[reportArgumentType] -- wrong on purpose


def test_another_version_is_refused_with_both_versions() -> None:
    data = reachable()
    with pytest.raises(StateError, match=r"version 77, expected 1\b"):
        State.from_bytes(data[:4] + bytes([77]) + data[5:])


def sealed(body: bytes) -> bytes:
    """Bytes whose checksum is right whatever they hold."""
    return b"YCBS\x01" + zlib.crc32(body).to_bytes(4, "big") + body


def test_bytes_with_a_right_checksum_that_hold_something_else_are_refused() -> None:
    body = reachable()[HEAD:]
    assert State.from_bytes(sealed(body)).tasks  # the seal itself is right
    for wrong in (body + b"\x00", body[:-1], body[: len(body) // 2], b"", b"\xff" * 50, b"\x04{}", body[2:]):
        with pytest.raises(StateError):
            State.from_bytes(sealed(wrong))


def parts(state: State) -> tuple[bytes, bytes]:
    """The bytes of the configuration with its length, and those of counters and world."""
    body = state.to_bytes()[HEAD:]
    length = 2 + ((body[0] & 0x7F | body[1] << 7) >> 1)
    return body[:length], body[length:]


def varint(value: int) -> bytes:
    rest, data = value << 1 if value >= 0 else ~(value << 1), b""
    while rest > 0x7F:
        data, rest = data + bytes([rest & 0x7F | 0x80]), rest >> 7
    return data + bytes([rest])


@pytest.mark.parametrize("text", ["null", "[]", '"default"', "7", '{"world": 1}', '{"nonsense": {}}', "{", "\udcff"])
def test_a_configuration_that_is_none_is_refused(text: str) -> None:
    raw = text.encode(errors="surrogateescape")
    with pytest.raises(StateError):
        State.from_bytes(sealed(varint(len(raw)) + raw + parts(tiny_state())[1]))


QUERIES = tuple(
    query()
    for query in (c.CompanyStatus, c.ListEmployees, c.BrowseMarket, c.ListTasks, c.ListClients, c.ClientHistory,
                  c.FinanceLedger, c.ReportMonthly)
)  # fmt: skip


@pytest.mark.parametrize("name", ["default", "milestones"])
def test_what_is_kept_never_grows_stale(name: str) -> None:
    # A state from bytes has nothing kept; the one that was played has answered everything after each command.
    rng = random.Random(11)
    state = initial_state(CONFIGS[name], 11)
    for number in range(60):
        answers = [encoded_answer(state, query, transition(state, query)) for query in QUERIES]
        if number % 3 == 0 and state.end_reason is None:
            fresh = State.from_bytes(state.to_bytes())
            assert observe(fresh) == observe(state)
            assert (fresh.active_indices, fresh.status_counts) == (state.active_indices, state.status_counts)
            assert fresh.trust_milli == state.trust_milli
            assert answers == [encoded_answer(fresh, query, transition(fresh, query)) for query in QUERIES]
            assert all(text == json.dumps(o, separators=(",", ":"), ensure_ascii=False) for o, text in answers)
        state = transition(state, some_command(state, rng)).state


@pytest.mark.parametrize(
    "body",
    [
        varint(-(10**6)) + b"{}",  # a text that ends before it begins
        varint(10**18) + b"{}",
        b"\x04{}" + varint(10**18),
        b"\x04{}" + b"\xff" * 400_000 + b"\x00",  # a number of 2,800,000 bits
        varint(2 * 10**5) + b"[" * 10**5 + b"]" * 10**5,
        varint(5_000) + b"9" * 5_000,
    ],
    ids=["text backwards", "long text", "many counters", "long number", "deep", "digits"],
)
def test_hostile_bytes_are_refused_in_little_time(body: bytes) -> None:
    with pytest.raises(StateError):  # they took minutes, or for ever
        State.from_bytes(sealed(body))


def test_a_saved_configuration_opens_no_file() -> None:
    settings = {**tiny_config().to_dict(), "extends": "/etc/passwd"}
    text = json.dumps(settings).encode()
    with pytest.raises(StateError, match="extends = '/etc/passwd': unknown key"):
        State.from_bytes(sealed(varint(len(text)) + text + parts(tiny_state())[1]))


IMPOSSIBLE = {
    "time": lambda state: evolve(state, now_us=10**30),
    "before the start": lambda state: evolve(state, now_us=0),
    "one level": lambda state: evolve(state, prestige_milli=state.prestige_milli[:1]),
    "prestige": lambda state: evolve(state, prestige_milli=(10**9,) * 4),
    "funds": lambda state: evolve(state, funds_cents=10**30),
    "debts": lambda state: evolve(state, funds_cents=-1),
    "seed": lambda state: evolve(state, run_seed=-1),
    "payrolls": lambda state: evolve(state, payrolls_charged=5),
    "no staff": lambda state: evolve(state, employees=()),
    "staff": lambda state: evolve(state, employees=(tiny_employee(1), tiny_employee(3))),
    "rates": lambda state: evolve(state, employees=(tiny_employee(1), tiny_employee(2, (1, 2, 3)))),
    "clients": lambda state: evolve(state, clients=(*state.clients, tiny_client("Cipher Corp"))),
    "specialties": lambda state: evolve(
        state, clients=(tiny_client(specialties=("research", "research")), tiny_client(ADVERSARIAL))
    ),
    "trust": lambda state: evolve(state, clients=(tiny_client(trust=9), tiny_client(ADVERSARIAL))),
    "slots": lambda state: evolve(state, slot_accepts=(-1, 0, 0, 0)),
    "market": lambda state: evolve(state, market=state.market[:2]),
    "the same task": lambda state: evolve(state, market=(state.market[1], *state.market[1:])),
    "listed and own": lambda state: evolve(state, market=(state.tasks[0].offer, *state.market[1:])),
    "domains": lambda state: changed(state, offer=attrs.evolve(state.tasks[0].offer, domains=(0,), quantities=(1,))),
    "done": lambda state: changed(state, done_e4=(10**12,) * 2),
    "member": lambda state: changed(state, team=(attrs.evolve(state.tasks[0].team[0], employee=7),)),
    "no team": lambda state: changed(state, team=()),
    "completed": lambda state: changed(state, status="completed_success", completion_us=None),
    "planned": lambda state: changed(state, status="planned"),
    "forecast": lambda state: changed(state, completion_us=state.now_us - 1),
    "milestones": lambda state: changed(state, milestones_reported=1),
    "deadline": lambda state: changed(state, deadline_us=state.calendar.start_us - 1),
    "year 10000": lambda state: changed(state, deadline_us=2**60),
    "future": lambda state: changed(state, accepted_us=state.now_us + 1),
    "ledger": lambda state: evolve(state, ledger=(attrs.evolve(state.ledger[0], time_us=10**18),)),
    "salary": lambda state: evolve(
        state, ledger=(attrs.evolve(state.ledger[0], category="monthly_payroll", ref_id="Emp_9"),)
    ),
    "turns": lambda state: evolve(state, turns_played=-1),
}
"""Worlds that the tiny configuration cannot have."""


def changed(state: State, **changes: object) -> State:
    return evolve(state, tasks=(evolve(state.tasks[0], **changes), *state.tasks[1:]))


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_a_world_that_its_configuration_cannot_have_is_refused(name: str) -> None:
    state = carried_out(started(tiny_state(), "Task-1", "Emp_1", "Emp_2"), c.Resume())
    state = started(state, "Task-4", "Emp_1")
    state = evolve(state, tasks=state.tasks[::-1])  # the active one first
    assert State.from_bytes(state.to_bytes()) == state
    with pytest.raises(StateError, match="does not fit"):
        State.from_bytes(IMPOSSIBLE[name](state).to_bytes())


def mutated(body: bytes, rng: random.Random) -> bytes:
    """Bytes with one to three changes: another byte, a byte more or less, an extreme number."""
    data = bytearray(body)
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(data))
        match rng.randrange(5):
            case 0:
                data[place] = rng.randrange(256)
            case 1:
                data[place] ^= 1 << rng.randrange(8)
            case 2:
                data[place : place + 1] = varint(rng.choice([-1, 0, 2**31, 2**63, -(2**63), 10**30, 2**4000]))
            case 3:
                data[place : place + rng.randint(0, 3)] = b""
            case _:
                data[place:place] = bytes([rng.randrange(256)])
    return bytes(data)


def check_mutations(count: int, seed: int) -> int:
    """Return how many of many mutated states were taken; each of those plays on."""
    rng = random.Random(seed)
    states = [state for name in CONFIGS for state in played(CONFIGS[name], seed, 120)[20::25]]
    taken = 0
    for _ in range(count):
        settings, world = parts(rng.choice(states))
        with contextlib.suppress(StateError):
            state = State.from_bytes(sealed(settings + mutated(world, rng)))
            taken += 1
            assert State.from_bytes(state.to_bytes()) == state
            for _ in range(50):
                command = some_command(state, rng)
                outcome = transition(state, command)
                state = outcome.state
            reply = play_turn(state, "task list; market browse; client history; report monthly; sim resume").report
            assert not any("internal error" in answer.output_json for answer in reply.answers)
    return taken


def test_a_mutated_state_is_refused_or_plays_on() -> None:
    assert check_mutations(120, 1) > 5


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 5))
def test_many_mutated_states_are_refused_or_play_on(seed: int) -> None:
    assert check_mutations(3_000, seed) > 100


# -------------------------------------------------------------------------------- earlier states

SAVED = (Path(__file__).parents[2] / "data" / "state_before_later_settings.bin").read_bytes()
"""The tiny world after its first task, with two more accepted, as ``to_bytes`` wrote it before settings were added."""


def test_a_state_without_later_settings_is_read_with_those_that_change_nothing() -> None:
    for name in (b"max_open_tasks", b"adversarial_inflation_passes", b"replacement_numbering"):
        assert name not in SAVED
    state = State.from_bytes(SAVED)
    assert state.config == tiny_config()
    assert state.digest() == "094bf56be8b44b7b154a734df49640c8b769eb8c2d48938ae426ebf17efca229"
    assert State.from_bytes(state.to_bytes()) == state
    played_again = carried_out(started(tiny_state(), "Task-1", "Emp_1", "Emp_2"), c.Resume())
    assert carried_out(played_again, c.AcceptTask("Task-2"), c.AcceptTask("Task-4")) == state


def test_later_settings_survive_in_bytes() -> None:
    config = tiny_config(max_open_tasks=3, adversarial_inflation_passes=2, replacement_numbering="episode")
    state = carried_out(tiny_state(config), c.AcceptTask("Task-2"), c.AcceptTask("Task-4"))
    back = State.from_bytes(state.to_bytes())
    assert back == state
    assert [task.task_id for task in back.market] == ["Task-1", "Task-0", "Task-3", "Task-1-2"]
    assert carried_out(back, c.AcceptTask("Task-0")) == carried_out(state, c.AcceptTask("Task-0"))


# -------------------------------------------------------------------------------- digests in a row


TURNS = (
    "task accept --task-id Task-{0}",
    "task assign --task-id Task-{0} --employees Emp_1,Emp_2,Emp_3,Emp_4,Emp_5,Emp_6",
    "task dispatch --task-id Task-{0}",
    "sim resume",
)


def episode(preset: str, tasks: int) -> list[State]:
    """The states of a short episode."""
    env = YCBenchEnv(preset)
    env.reset(seed=1)
    states = [env.get_state()]
    for number in range(1, tasks + 1):
        for turn in TURNS:
            env.step(turn.format(number))
            states.append(env.get_state())
    return states


def test_they_are_those_of_the_states_in_any_order_and_over_episodes() -> None:
    states = [*episode("default", 4), *episode("classic-easy", 3)]
    digests = StateDigests()
    expected = [state_digest(state) for state in states]
    assert [digests.of(state) for state in states] == expected
    assert [digests.of(state) for state in reversed(states)] == expected[::-1]
    assert len(set(expected)) > 10


def test_whatever_state_comes_after_whatever_other_its_digest_is_its_own() -> None:
    state = episode("default", 4)[-1]
    tasks, ledger = state.tasks, state.ledger
    renamed = evolve(tasks[0], offer=attrs.evolve(tasks[0].offer, number=190))
    states = [  # they share much, and no episode leads to them
        state,
        evolve(state, tasks=(*tasks[1::-1], *tasks[2:])),  # its bookings name other places
        evolve(state, tasks=(*tasks, tasks[0])),  # a task that stands in two places
        evolve(state, tasks=(renamed, *tasks[1:], tasks[0])),
        evolve(state, ledger=(attrs.evolve(ledger[0], amount_cents=7), *ledger[1:])),
        evolve(state, ledger=ledger[1:]),
        evolve(state, market=(*state.market[1::-1], *state.market[2:])),
        evolve(state, market=state.market[:5]),
    ]
    expected = [state_digest(each) for each in states]
    for first, second in product(range(len(states)), repeat=2):
        digests = StateDigests()
        for place in (0, first, second, 0):
            assert digests.of(states[place]) == expected[place]


def test_a_state_that_cannot_be_written_leaves_nothing_behind() -> None:
    state, digests = episode("default", 2)[-1], StateDigests()
    digests.of(state)
    broken = evolve(state, ledger=(*state.ledger, state.ledger[-1]), tasks=(evolve(state.tasks[0], status="lost"),))
    with pytest.raises((KeyError, ValueError)):
        digests.of(broken)
    assert digests.of(state) == state_digest(state)


def test_the_environment_tells_them_also_after_it_was_copied_or_set_back() -> None:
    env = YCBenchEnv("default")
    env.reset(seed=1)
    start = env.get_state()
    for number in (1, 2, 3):
        for turn in TURNS:
            env.step(turn.format(number))
            env.state_hash()
    for twin in (env.clone(), copy.deepcopy(env), pickle.loads(pickle.dumps(env))):  # noqa: S301 -- its own
        assert twin.state_hash() == state_digest(env.get_state())
        twin.step("task accept --task-id Task-9")
        assert twin.state_hash() == state_digest(twin.get_state())
    env.set_state(start)
    assert env.state_hash() == state_digest(start)
