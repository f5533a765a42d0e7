"""``ycbench describe``: a world's staff, clients and market; its secrets on request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, Final, cast

from cyclopts import Parameter
from cyclopts.validators import Number
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ycbench_agents.cli.options import File, Flag, Preset, Seed, Settings, load_one, read_seed
from ycbench_agents.cli.output import cell, dollars, new_table, print_parts
from ycbench_env import State, YCBenchEnv

_Row = dict[str, Any]  # an object in an answer, as JSON has it
_Limit = Annotated[
    int,
    Parameter(
        validator=Number(gte=1, lte=10_000), metavar="N", help="How many tasks of the market to list, best-paid first."
    ),
]
_Reveal = Annotated[Flag, Parameter(help="Show what no agent may see, too.")]
_MILLI: Final = 1_000
_E4: Final = 10_000


def describe(  # noqa: PLR0913 -- one argument an option
    *,
    preset: Preset = None,
    config: File = None,
    settings: Settings = (),
    seed: Seed = "1",
    limit: _Limit = 10,
    reveal: _Reveal = False,
) -> int:
    """Print the world of a seed at its start and return the exit code.

    Raises:
        ConfigError: The configuration cannot be used.
        UsageError: An option cannot be used.
    """
    env = YCBenchEnv(load_one(preset, config, settings))
    env.reset(seed=read_seed(seed))
    ask_clients = ["client list"] if "client list" in env.action_space.verbs else []
    status, staff, market, *clients = _answers(  # of a clone, since even asking takes a turn
        env.clone(), "company status", "employee list", f"market browse --limit {limit}", *ask_clients
    )
    domains = tuple(status["prestige"])
    parts = [_company(status), _staff(staff["employees"], domains)]
    if clients and clients[0]["clients"]:
        parts.append(_clients(clients[0]["clients"]))
    parts.append(_market(market, with_clients=len(parts) > 2))  # noqa: PLR2004 -- there is a table of clients
    if reveal:
        parts.extend(_hidden_parts(env, domains, market["tasks"]))
    print_parts(*parts)
    return 0


def _answers(env: YCBenchEnv, *commands: str) -> list[_Row]:
    info = env.step("\n".join(commands))[-1]
    return [cast("_Row", result["output"]) for result in info["results"]]


def _titled(title: str, table: Table, style: str = "bold") -> RenderableType:
    return Group(Text(title, style=style), table)


def _company(status: _Row) -> RenderableType:
    runway = status["risk"]["months_runway"]
    left = "endless" if runway is None else f"{runway} months"
    payroll = dollars(status["monthly_payroll_cents"])
    lines = (
        f"{status['company_name']}: {status['sim_time']} until {status['horizon_end']}",
        f"funds {dollars(status['funds_cents'])}, payroll {payroll} a month, runway {left}",
        "prestige: " + ", ".join(f"{name} {level:g}" for name, level in status["prestige"].items()),
    )
    return Text("\n").join(cell(line) for line in lines)


def _rate_headings(domains: Iterable[str]) -> list[str]:
    """Return headings for rates; a domain of two words shows both, so it takes no more room than its figures."""
    return [f">{domain.replace('_', ' ')}" for domain in domains]


def _staff(rows: Sequence[_Row], domains: Sequence[str]) -> RenderableType:
    shows_rates = all("skill_rates" in row for row in rows)
    domains = domains if shows_rates else ()
    table = new_table("employee", "tier", ">salary", *_rate_headings(domains))
    for row in rows:
        rates = [f"{row['skill_rates'][domain]:.2f}" for domain in domains]
        table.add_row(*map(cell, (row["name"], row["tier"], dollars(row["salary_cents"]), *rates)))
    return _titled(f"Staff ({len(rows)}), {'skills in work an hour' if shows_rates else 'skills hidden'}", table)


def _clients(rows: Sequence[_Row]) -> RenderableType:
    table = new_table("client", "tier", ">trust", "specialties")
    for row in rows:
        values = (row["name"], row["tier"], f"{row['trust_level']:.3f}", ", ".join(row["specialties"]))
        table.add_row(*map(cell, values))
    return _titled(f"Clients ({len(rows)})", table)


def _market(market: _Row, *, with_clients: bool) -> RenderableType:
    client, trust = (["client"], [">trust"]) if with_clients else ([], [])
    table = new_table("task", *client, ">reward", ">prestige", *trust, "work")
    for row in market["tasks"]:
        work = ", ".join(f"{need['domain']} {need['required_qty']:,.0f}" for need in row["requirements"])
        name, trusted = ([row["client_name"]], [row["required_trust"]]) if with_clients else ([], [])
        reward = dollars(row["reward_funds_cents"])
        table.add_row(*map(cell, (row["task_id"], *name, reward, row["required_prestige"], *trusted, work)))
    return _titled(f"Market (the best-paid {len(market['tasks'])} of {market['total']} on offer now)", table)


def _hidden_parts(env: YCBenchEnv, domains: Sequence[str], tasks: Iterable[_Row]) -> Iterator[RenderableType]:
    """Yield the parts of the description that no agent may see."""
    state, style = env.get_state(), "bold red"
    rates = new_table("employee", *_rate_headings(domains))
    for employee in state.employees:
        rates.add_row(cell(employee.name), *[cell(f"{rate / _E4:.4f}") for rate in employee.rates_e4])
    yield _titled("HIDDEN: exact rates", rates, style)
    if state.clients:
        yield _titled("HIDDEN: what clients are", _true_clients(state), style)
    offers = new_table("task", ">listed", ">real", "inflated", "next task", ">reward")
    for task in tasks:
        offers.add_row(*_true_offer(env.clone(), task))
    yield _titled("HIDDEN: work of a task once accepted, and what would replace it", offers, style)


def _true_clients(state: State) -> Table:
    table = new_table("client", ">loyalty", "adversarial", ">reward multiplier")
    for client in sorted(state.clients, key=lambda one: one.name):
        loyalty, multiplier = client.loyalty_milli / _MILLI, client.reward_multiplier_milli / _MILLI
        adversarial = _yes_or_no(is_so=client.is_adversarial)
        table.add_row(cell(client.name), cell(f"{loyalty:.3f}"), adversarial, cell(f"{multiplier:.2f}"))
    return table


def _true_offer(env: YCBenchEnv, task: _Row) -> Iterator[Text]:
    """Yield the cells about a listed task, from accepting it in a world of its own."""
    (accepted,) = _answers(env, f"task accept --task-id {task['task_id']}")
    listed = sum(row["required_qty"] for row in task["requirements"])
    yield cell(task["task_id"])
    yield cell(f"{listed:,.0f}")
    if "error" in accepted:  # a market may list what is out of reach
        yield from (cell(text) for text in ("out of reach", "-", "-", "-"))
        return
    state = env.get_state()
    real, slot = sum(state.tasks[-1].required_e4) / _E4, state.market_slot(accepted["replacement_task_id"])
    yield cell(f"{real:,.0f}")
    yield _yes_or_no(is_so=real > listed)
    yield cell("-" if slot is None else state.market[slot].task_id)
    yield cell("-" if slot is None else dollars(state.market[slot].reward_cents))


def _yes_or_no(*, is_so: bool) -> Text:
    return Text("yes", style="red") if is_so else Text("no")
