"""Browsing the market. Source: answers (market browse), Y-8; B26."""

import json

import pytest

from ycbench_env.observation import encoded_answer
from ycbench_env.testing.tiny import ADVERSARIAL, LOYAL, tiny_client, tiny_config, tiny_state, tiny_task
from ycbench_env.text import JsonObject
from ycbench_env.transition import transition
from ycbench_env.types.command import AcceptTask, BrowseMarket
from ycbench_env.types.state import State


def browse(state: State, command: BrowseMarket | None = None) -> JsonObject:
    command = command or BrowseMarket()
    output, text = encoded_answer(state, command, transition(state, command))
    assert text == json.dumps(output, separators=(",", ":"), ensure_ascii=False)
    return output


def lines(output: JsonObject) -> list[JsonObject]:
    rows = output["tasks"]
    assert isinstance(rows, list)
    return [row for row in rows if isinstance(row, dict)]


def ids(output: JsonObject) -> list[str]:
    return [str(row["task_id"]) for row in lines(output)]


def test_a_line_of_the_market() -> None:
    market = [tiny_task(3, {"training": 250, "inference": 300}, delta=0.155, boost=0.1236)]
    output = browse(tiny_state(market=market))
    assert list(output) == ["total", "offset", "limit", "tasks"]
    assert output == {
        "total": 1,
        "offset": 0,
        "limit": 50,
        "tasks": [
            {
                "task_id": "Task-3",
                "client_name": LOYAL,
                "required_prestige": 1,
                "required_trust": 0,
                "reward_funds_cents": 1_000_000,
                "reward_prestige_delta": 0.155,
                "skill_boost_pct": 0.1236,
                "requirements": [
                    {"domain": "inference", "required_qty": 300.0},
                    {"domain": "training", "required_qty": 250.0},
                ],
            }
        ],
    }
    (row,) = lines(output)
    assert list(row) == [
        "task_id", "client_name", "required_prestige", "required_trust", "reward_funds_cents", "reward_prestige_delta",
        "skill_boost_pct", "requirements",
    ]  # fmt: skip
    assert isinstance(row["requirements"], list)
    assert isinstance(row["requirements"][0], dict)
    assert list(row["requirements"][0]) == ["domain", "required_qty"]


def test_the_best_paid_come_first_and_equal_rewards_by_slot() -> None:
    rewards = (500, 900, 500, 900, 700)
    market = [tiny_task(number, reward_cents=cents) for number, cents in zip((9, 3, 2, 1, 5), rewards, strict=True)]
    assert ids(browse(tiny_state(market=market))) == ["Task-3", "Task-1", "Task-5", "Task-9", "Task-2"]


@pytest.mark.parametrize(
    ("domain", "expected"),
    [
        ("research", ["Task-1", "Task-2", "Task-4"]),
        ("inference", ["Task-3"]),
        ("training", ["Task-4"]),
        ("data_environment", []),
    ],
)
def test_a_domain_keeps_the_tasks_that_need_it(domain: str, expected: list[str]) -> None:
    output = browse(tiny_state(), BrowseMarket(domain=domain))
    assert (ids(output), output["total"]) == (expected, len(expected))


def test_the_total_counts_all_matches_of_all_filters_and_not_the_page() -> None:
    market = [tiny_task(n, {"training": 200} if n % 2 else 200, reward_cents=n) for n in range(1, 21)]
    output = browse(tiny_state(market=market), BrowseMarket(domain="training", reward_min_cents=6, limit=3, offset=2))
    # Odd numbers from 7 to 19, best first: 19, 17, then 15, 13, 11.
    assert (output["total"], ids(output)) == (7, ["Task-15", "Task-13", "Task-11"])


def test_only_what_could_be_accepted_now_is_listed() -> None:
    market = [
        tiny_task(1, {"research": 200, "training": 200}, prestige=2),
        tiny_task(2, prestige=2),
        tiny_task(3, trust=1),
        tiny_task(4, trust=1, client=ADVERSARIAL),
        tiny_task(5, prestige=3),
    ]
    clients = [tiny_client(trust=0.999), tiny_client(ADVERSARIAL, loyalty=-1.0, trust=1.0)]
    state = tiny_state(market=market, clients=clients, prestige=(2.999, 1, 1, 1.999))
    listed = ids(browse(state))
    assert listed == ["Task-2", "Task-4"]
    for task in market:
        assert (transition(state, AcceptTask(task.task_id)).refusal is None) is (task.task_id in listed)


# ------------------------------------------------------------------------------------------ a market of all (K-3)


def everything(**settings: object) -> State:
    """Tasks 1 to 6 pay 100 to 600 and require prestige 1, 3, 5, 7, 9 and 1 (with trust); the company has 1 and 5."""
    levels = (1, 3, 5, 7, 9, 1)
    market = [
        tiny_task(n, {"training": 200} if n % 2 else 200, prestige=level, reward_cents=100 * n, trust=int(n == 6))
        for n, level in enumerate(levels, 1)
    ]
    config = tiny_config(market_browse_scope="all", **settings)
    return tiny_state(config, market=market, prestige=(1, 5, 1, 1))


def test_a_market_of_all_lists_what_is_out_of_reach_too() -> None:
    output = browse(everything())
    assert (output["total"], ids(output)) == (6, [f"Task-{n}" for n in range(6, 0, -1)])
    assert ids(browse(tiny_state(tiny_config(), market=everything().market))) == ["Task-1"]


@pytest.mark.parametrize(
    ("most", "expected"), [(0, []), (1, [6, 1]), (4, [6, 2, 1]), (5, [6, 3, 2, 1]), (9, [6, 5, 4, 3, 2, 1])]
)
def test_a_largest_prestige_is_included(most: int, expected: list[int]) -> None:
    output = browse(everything(), BrowseMarket(required_prestige_lte=most))
    assert (output["total"], ids(output)) == (len(expected), [f"Task-{n}" for n in expected])


def test_a_largest_prestige_combines_with_all_filters_and_with_pages() -> None:
    command = BrowseMarket("training", 200, limit=1, offset=1, required_prestige_lte=9)
    output = browse(everything(), command)  # of 3 and 5, best paid first, the second
    assert output["total"] == 2
    assert ids(output) == ["Task-3"]
