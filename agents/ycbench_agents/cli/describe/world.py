"""What there is to tell about a world: what commands answer, and, apart from it, what they hide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import attrs

if TYPE_CHECKING:
    from ycbench_env import YCBenchEnv
    from ycbench_env.types import Client, Employee, MarketTask

__all__ = ["HiddenOffer", "HiddenWorld", "VisibleWorld", "look_around", "reveal"]

Row = dict[str, Any]
"""An object in an answer, as JSON has it."""


@attrs.frozen
class VisibleWorld:
    """What an agent is told by commands; answers as they came.

    Args:
        status: Of ``company status``.
        employees: Of ``employee list``.
        clients: Of ``client list``; none in a world without them, which has no such command.
        market_total: How many tasks the market lists for this company.
        market: The best-paid of them.
    """

    status: Row
    employees: tuple[Row, ...]
    clients: tuple[Row, ...]
    market_total: int
    market: tuple[Row, ...]


@attrs.frozen
class HiddenOffer:
    """What would follow from accepting a listed task now.

    Args:
        task_id: The task.
        listed_work: Work that the market lists, all domains.
        real_work: Work that it would be, None for a task that cannot be accepted now.
        replacement: The task that would come in its place, None where none does.
    """

    task_id: str
    listed_work: float
    real_work: float | None
    replacement: MarketTask | None


@attrs.frozen
class HiddenWorld:
    """What no agent is told; ``domains`` names the order of rates."""

    domains: tuple[str, ...]
    employees: tuple[Employee, ...]
    clients: tuple[Client, ...]
    offers: tuple[HiddenOffer, ...]


def look_around(env: YCBenchEnv, limit: int) -> VisibleWorld:
    """Return what an agent can learn in one turn; the environment has played that turn afterwards.

    Args:
        env: An environment in any state.
        limit: How many tasks of the market to list.
    """
    asking_clients = ("client list",) if "client list" in env.action_space.verbs else ()
    commands = ("company status", "employee list", f"market browse --limit {limit}", *asking_clients)
    status, employees, market, *clients = _answers(env, *commands)
    return VisibleWorld(
        status=status,
        employees=tuple(employees["employees"]),
        clients=tuple(row for answer in clients for row in answer["clients"]),
        market_total=market["total"],
        market=tuple(market["tasks"]),
    )


def reveal(env: YCBenchEnv, view: VisibleWorld) -> HiddenWorld:
    """Return the hidden figures behind a view; the environment stays as it is."""
    state = env.get_state()
    return HiddenWorld(
        domains=tuple(view.status["prestige"]),
        employees=state.employees,
        clients=state.clients,
        offers=tuple(_accept_and_see(env.clone(), task) for task in view.market),
    )


def _accept_and_see(env: YCBenchEnv, task: Row) -> HiddenOffer:
    """Return what comes of accepting a listed task, by doing so; no rule is told a second time here."""
    (accepted,) = _answers(env, f"task accept --task-id {task['task_id']}")
    listed_work = sum(row["required_qty"] for row in task["requirements"])
    if "error" in accepted:  # a market may list what is out of reach
        return HiddenOffer(task["task_id"], listed_work, real_work=None, replacement=None)
    state = env.get_state()
    slot = state.market_slot(accepted["replacement_task_id"])
    return HiddenOffer(
        task_id=task["task_id"],
        listed_work=listed_work,
        real_work=sum(state.tasks[-1].required_e4) / 10_000,
        replacement=None if slot is None else state.market[slot],
    )


def _answers(env: YCBenchEnv, *commands: str) -> tuple[Row, ...]:
    info = env.step("\n".join(commands))[-1]
    return tuple(cast("Row", result["output"]) for result in info["results"])
