"""A world as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rich.console import Group
from rich.text import Text

from ycbench_agents.cli.console import cell, dollars, new_table
from ycbench_agents.cli.streams import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import RenderableType
    from rich.table import Table

    from ycbench_agents.cli.describe.world import HiddenOffer, HiddenWorld, VisibleWorld
    from ycbench_env.types import Client, Employee

__all__ = ["hidden_parts", "visible_parts"]

_MILLI: Final = 1_000
_WARNING: Final = "bold red"
_E4: Final = 10_000


def visible_parts(view: VisibleWorld) -> Iterator[RenderableType]:
    """Yield the parts of the description that an agent could write, too."""
    yield _company(view.status)
    skills = ", skills in work an hour" if _shows_rates(view) else ", skills hidden"
    yield _titled(f"Staff ({len(view.employees)}){skills}", _staff(view))
    if view.clients:
        yield _titled(f"Clients ({len(view.clients)})", _clients(view))
    yield _titled(f"Market (the best-paid {len(view.market)} of {view.market_total} on offer now)", _market(view))


def _titled(title: str, table: Table, style: str = "bold") -> RenderableType:
    return Group(Text(title, style=style), table)


def _company(status: dict[str, Any]) -> Text:
    runway = status["risk"]["months_runway"]
    left = "endless" if runway is None else f"{runway} months"
    payroll = dollars(status["monthly_payroll_cents"])
    prestige = ", ".join(f"{name} {level:g}" for name, level in status["prestige"].items())
    lines = (
        f"{status['company_name']}: {status['sim_time']} until {status['horizon_end']}",
        f"funds {dollars(status['funds_cents'])}, payroll {payroll} a month, runway {left}",
        f"prestige: {prestige}",
    )
    return Text("\n".join(one_line(line) for line in lines))


def _staff(view: VisibleWorld) -> Table:
    domains = tuple(view.status["prestige"]) if _shows_rates(view) else ()
    table = new_table("employee", "tier", ">salary", *_rate_headings(domains))
    for row in view.employees:
        rates = [f"{row['skill_rates'][domain]:.2f}" for domain in domains]
        table.add_row(*map(cell, (row["name"], row["tier"], dollars(row["salary_cents"]), *rates)))
    return table


def _shows_rates(view: VisibleWorld) -> bool:
    return all("skill_rates" in row for row in view.employees)


def _rate_headings(domains: Iterable[str]) -> list[str]:
    """Return headings for rates; a domain of two words shows both, so it takes no more room than its figures."""
    return [f">{domain.replace('_', ' ')}" for domain in domains]


def _clients(view: VisibleWorld) -> Table:
    table = new_table("client", "tier", ">trust", "specialties")
    for row in view.clients:
        table.add_row(
            *map(cell, (row["name"], row["tier"], f"{row['trust_level']:.3f}", ", ".join(row["specialties"])))
        )
    return table


def _market(view: VisibleWorld) -> Table:
    with_clients = bool(view.clients)
    client, trust = (["client"], [">trust"]) if with_clients else ([], [])
    table = new_table("task", *client, ">reward", ">prestige", *trust, "work")
    for row in view.market:
        work = ", ".join(f"{need['domain']} {need['required_qty']:,.0f}" for need in row["requirements"])
        name, trusted = ([row["client_name"]], [row["required_trust"]]) if with_clients else ([], [])
        reward = dollars(row["reward_funds_cents"])
        table.add_row(*map(cell, (row["task_id"], *name, reward, row["required_prestige"], *trusted, work)))
    return table


def hidden_parts(hidden: HiddenWorld) -> Iterator[RenderableType]:
    """Yield the parts of the description that no agent may see."""
    yield _titled("HIDDEN: exact rates", _exact_rates(hidden.domains, hidden.employees), _WARNING)
    if hidden.clients:
        yield _titled("HIDDEN: what clients are", _true_clients(hidden.clients), _WARNING)
    yield _titled(
        "HIDDEN: work of a task once accepted, and what would replace it", _true_offers(hidden.offers), _WARNING
    )


def _exact_rates(domains: Iterable[str], employees: Iterable[Employee]) -> Table:
    table = new_table("employee", *_rate_headings(domains))
    for employee in employees:
        table.add_row(cell(employee.name), *[cell(f"{rate / _E4:.4f}") for rate in employee.rates_e4])
    return table


def _true_clients(clients: Iterable[Client]) -> Table:
    table = new_table("client", ">loyalty", "adversarial", ">reward multiplier")
    for client in sorted(clients, key=lambda one: one.name):
        table.add_row(
            cell(client.name),
            cell(f"{client.loyalty_milli / _MILLI:.3f}"),
            _yes_or_no(client.is_adversarial),
            cell(f"{client.reward_multiplier_milli / _MILLI:.2f}"),
        )
    return table


def _true_offers(offers: Iterable[HiddenOffer]) -> Table:
    table = new_table("task", ">listed", ">real", "inflated", "next task", ">reward")
    for offer in offers:
        following, real = offer.replacement, offer.real_work
        table.add_row(
            cell(offer.task_id),
            cell(f"{offer.listed_work:,.0f}"),
            cell("out of reach" if real is None else f"{real:,.0f}"),
            cell("-") if real is None else _yes_or_no(real > offer.listed_work),
            cell(following.task_id if following else "-"),
            cell(dollars(following.reward_cents) if following else "-"),
        )
    return table


def _yes_or_no(fact: bool) -> Text:  # noqa: FBT001 -- it is what is written
    return Text("yes", style="red") if fact else Text("no")
