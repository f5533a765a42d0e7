"""``ycbench describe``: a world's staff, clients and market; its secrets on request."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Final

from cyclopts import Parameter
from cyclopts.validators import Number
from rich.console import Group, RenderableType
from rich.text import Text

from ycbench_agents.cli.options import File, Flag, Preset, Seed, Settings, load_one, read_seed
from ycbench_agents.cli.output import cell, new_table, print_parts
from ycbench_env import YCBenchEnv
from ycbench_env.text import dollars

_Limit = Annotated[
    int,
    Parameter(
        validator=Number(gte=1, lte=10_000), metavar="N", help="How many tasks of the market to list, best-paid first."
    ),
]
_Reveal = Annotated[Flag, Parameter(help="Show what no agent may see, too.")]
_MILLI: Final = 1_000
_E4: Final = 10_000
_YES_NO: Final = {True: "yes", False: "no"}


def describe(  # noqa: PLR0913 -- one argument an option
    *,
    preset: Preset = None,
    config: File = None,
    settings: Settings = (),
    seed: Seed = "1",
    limit: _Limit = 10,
    reveal: _Reveal = False,
) -> int:
    """Print the world of a seed at its start and return the exit code."""
    env = YCBenchEnv(load_one(preset, config, settings))
    env.reset(seed=read_seed(seed))
    asked = ["company status", "employee list", f"market browse --limit {limit}"]
    asked += ["client list"] if "client list" in env.action_space.verbs else []
    status, staff, market, *lists = _answers(env.clone(), *asked)  # of a clone, since even asking takes a turn
    clients = lists[0]["clients"] if lists else []
    people, tasks, runway = staff["employees"], market["tasks"], status["risk"]["months_runway"]
    payroll, left = dollars(status["monthly_payroll_cents"]), "endless" if runway is None else f"{runway} months"
    lines = (
        f"{status['company_name']}: {status['sim_time']} until {status['horizon_end']}",
        f"funds {dollars(status['funds_cents'])}, payroll {payroll} a month, runway {left}",
        "prestige: " + ", ".join(f"{name} {level:g}" for name, level in status["prestige"].items()),
    )
    parts: list[RenderableType] = [Text("\n").join(map(cell, lines))]
    shows_rates = all("skill_rates" in row for row in people)
    domains = [*status["prestige"]]
    shown = domains if shows_rates else []
    rows: list[list[Any]] = [[row["name"], row["tier"], dollars(row["salary_cents"])] for row in people]
    for row, person in zip(rows, people, strict=True):
        row += [f"{person['skill_rates'][domain]:.2f}" for domain in shown]
    title = f"Staff ({len(people)}), {'skills in work an hour' if shows_rates else 'skills hidden'}"
    parts.append(_table(title, ["employee", "tier", ">salary", *_headings(shown)], rows))
    if clients:
        rows = [
            [row["name"], row["tier"], f"{row['trust_level']:.3f}", ", ".join(row["specialties"])] for row in clients
        ]
        parts.append(_table(f"Clients ({len(rows)})", ["client", "tier", ">trust", "specialties"], rows))
    rows = [["task", "client", ">reward", ">prestige", ">trust", "work"]]
    for row in tasks:
        work = ", ".join(f"{need['domain']} {need['required_qty']:,.0f}" for need in row["requirements"])
        reward, owner = dollars(row["reward_funds_cents"]), row.get("client_name")
        rows.append([row["task_id"], owner, reward, row["required_prestige"], row.get("required_trust"), work])
    if not clients:
        rows = [[*row[:1], *row[2:4], *row[5:]] for row in rows]
    title = f"Market (the best-paid {len(tasks)} of {market['total']} on offer now)"
    parts.append(_table(title, rows[0], rows[1:]))
    print_parts(*parts, *(_hidden_parts(env, domains, tasks) if reveal else ()))
    return 0


def _answers(env: YCBenchEnv, *commands: str) -> list[dict[str, Any]]:
    info: Any = env.step("\n".join(commands))[-1]
    return [result["output"] for result in info["results"]]


def _table(title: str, headings: Iterable[str], rows: Iterable[Iterable[object]], style: str = "bold") -> Group:
    table = new_table(*headings)
    for row in rows:
        table.add_row(*map(cell, row))
    return Group(Text(title, style=style), table)


def _headings(domains: Iterable[str]) -> list[str]:
    """Return headings of rates; two words wrap, so that a column takes no more room than its figures."""
    return [f">{domain.replace('_', ' ')}" for domain in domains]


def _hidden_parts(env: YCBenchEnv, domains: list[str], tasks: list[dict[str, Any]]) -> Iterator[Group]:
    """Yield the parts of the description that no agent may see."""
    state, style = env.get_state(), "bold red"
    rates = [[employee.name, *(f"{rate / _E4:.4f}" for rate in employee.rates_e4)] for employee in state.employees]
    yield _table("HIDDEN: exact rates", ["employee", *_headings(domains)], rates, style)
    if state.clients:
        rows: list[list[str]] = []
        for client in sorted(state.clients, key=lambda one: one.name):
            loyalty, multiplier = client.loyalty_milli / _MILLI, client.reward_multiplier_milli / _MILLI
            rows.append([client.name, f"{loyalty:.3f}", _YES_NO[client.is_adversarial], f"{multiplier:.2f}"])
        headings = ["client", ">loyalty", "adversarial", ">reward multiplier"]
        yield _table("HIDDEN: what clients are", headings, rows, style)
    rows = []
    for task in tasks:  # each is accepted in a world of its own
        world, listed = env.clone(), math.fsum(row["required_qty"] for row in task["requirements"])
        (accepted,) = _answers(world, f"task accept --task-id {task['task_id']}")
        real, following = "out of reach", ["-", "-", "-"]  # a market may list what is
        if "error" not in accepted:
            after = world.get_state()
            work, slot = sum(after.tasks[-1].required_e4) / _E4, after.market_slot(accepted["replacement_task_id"])
            offer = None if slot is None else after.market[slot]
            next_task = ["-", "-"] if offer is None else [offer.task_id, dollars(offer.reward_cents)]
            real, following = f"{work:,.0f}", [_YES_NO[work > listed], *next_task]
        rows.append([task["task_id"], f"{listed:,.0f}", real, *following])
    headings = ["task", ">listed", ">real", "inflated", "next task", ">reward"]
    yield _table("HIDDEN: work of a task once accepted, and what would replace it", headings, rows, style)
