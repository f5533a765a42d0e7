"""Small worlds whose figures can be worked out in the head.

The tiny world, and the sum that everything else follows from: two employees do 10 units an hour each, so together
20; a task of 200 units takes them 200 / 20 = 10 business hours. A day has 9 (09:00 to 18:00). Accepted and dispatched
on Wednesday 2025-01-01 at 09:00, the task is done on Thursday at 10:00. Its deadline is 200 / 100 = 2 workdays after
acceptance, Thursday 18:00, so it is 8 hours early; it pays 1,000,000 cents.

Everything that would blur such sums is off: decay, boosts, raises, prices and work that grow with prestige, required
trust. A test switches on what it is about.

Example:
    >>> from ycbench_env.transition import transition
    >>> from ycbench_env.types.command import Resume
    >>> from ycbench_env.units import iso_time
    >>> state = started(tiny_state(), "Task-1", "Emp_1", "Emp_2")
    >>> done = transition(state, Resume()).state
    >>> iso_time(done.now_us), done.funds_cents
    ('2025-01-02T10:00:00', 11000000)
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Final

from ycbench_env.config import Config, load_config
from ycbench_env.transition import transition
from ycbench_env.types.command import AcceptTask, AssignTask, Command, DispatchTask
from ycbench_env.types.state import Calendar, Client, Employee, MarketTask, State
from ycbench_env.units import EPOCH
from ycbench_env.vocabulary import DOMAINS, TIERS

LOYAL: Final = "Nexus AI"
"""The tiny world's loyal client (loyalty 1.0)."""

ADVERSARIAL: Final = "Vertex Labs"
"""The tiny world's adversarial client: at loyalty -1.0 work is 1 + max(3, 1.0 x 1.0) = 4 times what was listed."""

_TIER: Final = {"min_cents": 100_000, "max_cents": 100_000, "rate_min": 10.0, "rate_max": 10.0}
_DRAWS: Final = {
    "required_prestige": 1,
    "reward_funds_cents": 1_000_000,
    "domain_count": 1,
    "required_qty": 200,
    "reward_prestige_delta": 0.1,
    "skill_boost": 0.0,
}
_WORLD: Final[dict[str, object]] = {
    "num_employees": 2,
    "initial_funds_cents": 10_000_000,
    "num_market_tasks": 4,
    "salary_bump_pct": 0.0,
    "salary_max_cents": 200_000,
    "skill_rate_max": 20.0,
    "prestige_qty_scale": 0.0,
    "reward_prestige_scale": 0.0,
    "penalty_fail_multiplier": 1.0,
    "penalty_fail_funds_pct": 0.5,
    "penalty_cancel_multiplier": 2.0,
    "num_clients": 2,
    "trust_build_rate": 8.0,
    "trust_fragility": 0.0,
    "trust_focus_pressure": 0.0,
    "trust_gating_fraction": 0.0,
    "deadline_qty_per_day": 100.0,
    "deadline_min_biz_days": 1,
    "dist": {name: {"type": "constant", "value": value} for name, value in _DRAWS.items()},
    **{f"salary_{tier}": _TIER for tier in TIERS},
}


def tiny_config(**overrides: object) -> Config:
    """Returns the tiny world's configuration, changed.

    Round figures: 2 employees at 10.0 units an hour and 100,000 cents a month; funds 10,000,000 cents; tasks of 200
    units in one domain that pay 1,000,000 cents and 0.1 prestige; a day of deadline for every 100 units; a first
    success brings 1.6 x 5 / 8 = 1.0 trust; a failure costs half the reward and 0.1 prestige, a cancel 2 x 0.1 = 0.2.

    Args:
        **overrides: Settings of the table ``[world]`` by name, or whole tables ``sim``, ``loop`` and ``agent``; nested
            tables merge key by key, for instance ``tiny_config(trust_fragility=0.5, sim={"horizon_years": 2})``.

    Raises:
        ConfigError: A setting is unknown or illegal; the message shows which.
    """
    tables = {name: overrides.pop(name) for name in ("sim", "loop", "agent") if name in overrides}
    base = load_config({"name": "tiny", "world": _WORLD}, environ={})
    return load_config(base, overrides={**tables, "world": overrides})


def instant(text: str) -> int:
    """Returns the simulated time, in microseconds, of ISO text such as ``2025-01-02 10:00``."""
    return (dt.datetime.fromisoformat(text) - EPOCH) // dt.timedelta(microseconds=1)


def tiny_employee(
    number: int, rate: float | Sequence[float] = 10.0, *, tier: str = "junior", salary_cents: int = 100_000
) -> Employee:
    """Returns ``Emp_<number>`` with a rate in units an hour, for all domains or one for each."""
    return Employee(number, tier, salary_cents, tuple(round(one * 10_000) for one in _for_each_domain(rate)))


def tiny_client(
    name: str = LOYAL, *, loyalty: float = 1.0, trust: float = 0.0, specialties: Sequence[str] = ("research",)
) -> Client:
    """Returns a client of tier Standard; with a loyalty below -0.3 it is adversarial."""
    places = tuple(DOMAINS.index(domain) for domain in specialties)
    return Client(name, "Standard", places, round(trust * 1000), round(loyalty * 1000), 1000)


def tiny_task(  # noqa: PLR0913 -- what a task has
    number: int,
    work: Mapping[str, int] | int = 200,
    *,
    client: str | None = LOYAL,
    reward_cents: int = 1_000_000,
    prestige: int = 1,
    trust: int = 0,
    delta: float = 0.1,
    boost: float = 0.0,
) -> MarketTask:
    """Returns the listed task ``Task-<number>``.

    ``work`` is units in each domain by name, in the order drawn, or in research alone; ``prestige`` and ``trust`` are
    required; ``delta`` is the prestige that success brings, ``boost`` the share by which it raises rates.
    """
    units = {"research": work} if isinstance(work, int) else work
    domains = tuple(DOMAINS.index(domain) for domain in units)
    figures = reward_cents, round(delta * 1000), round(boost * 10_000)
    return MarketTask(number, 1, client, prestige, trust, domains, tuple(units.values()), *figures)


def tiny_state(  # noqa: PLR0913 -- what a world has
    config: Config | None = None,
    *,
    employees: Sequence[Employee] | None = None,
    clients: Sequence[Client] | None = None,
    market: Sequence[MarketTask] | None = None,
    now: str | None = None,
    funds_cents: int | None = None,
    prestige: float | Sequence[float] | None = None,
) -> State:
    """Returns a state in which every figure is given.

    Without arguments: Emp_1 and Emp_2 at 10.0 units an hour in every domain; a loyal and an adversarial client without
    trust; and four tasks of 1,000,000 cents: Task-1 (200 units of research), Task-2 (the same, adversarial, so in
    truth 200 x 4 = 800), Task-3 (200 of inference) and Task-4 (200 of research and 300 of training). A configuration
    with ``num_clients=0`` has no clients, and these are nobody's tasks.

    Args:
        config: Configuration, ``tiny_config()`` when None.
        employees: Staff, numbered from 1 in order; where ``efficient_team_size`` is "none", as many as the
            configuration's ``num_employees``, which then is how many of a team count.
        clients: Clients in the order of the world.
        market: Listed tasks by slot.
        now: Simulated time as ISO text, the start of the run when None.
        funds_cents: Funds, those of the configuration when None.
        prestige: Level in all domains, or one for each.
    """
    config = tiny_config() if config is None else config
    calendar = Calendar.from_config(config)
    levels = _for_each_domain(config.world.initial_prestige_level if prestige is None else prestige)
    if clients is None:
        clients = (tiny_client(), tiny_client(ADVERSARIAL, loyalty=-1.0)) if config.world.num_clients else ()
    if market is None:
        loyal, adversarial = (LOYAL, ADVERSARIAL) if clients else (None, None)
        market = (
            tiny_task(1, client=loyal),
            tiny_task(2, client=adversarial),
            tiny_task(3, {"inference": 200}, client=loyal),
            tiny_task(4, {"research": 200, "training": 300}, client=loyal),
        )
    return State(
        config=config,
        run_seed=1,
        calendar=calendar,
        now_us=calendar.start_us if now is None else instant(now),
        funds_cents=config.world.initial_funds_cents if funds_cents is None else funds_cents,
        prestige_milli=tuple(round(one * 1000) for one in levels),
        employees=(tiny_employee(1), tiny_employee(2)) if employees is None else tuple(employees),
        clients=tuple(clients),
        market=tuple(market),
        slot_accepts=(0,) * len(market),
    )


def _for_each_domain(value: float | Sequence[float]) -> Sequence[float]:
    return [value] * len(DOMAINS) if isinstance(value, int | float) else value


def carried_out(state: State, *commands: Command) -> State:
    """Returns the state after commands; ValueError, with the reason, when one is refused."""
    for command in commands:
        outcome = transition(state, command)
        if outcome.refusal is not None:
            message = f"{command!r} was refused: {outcome.refusal}"
            raise ValueError(message)
        state = outcome.state
    return state


def started(state: State, task_id: str, *names: str) -> State:
    """Returns the state after a listed task was accepted, given these employees and dispatched.

    Raises:
        ValueError: One of the commands was refused; the message shows it and the reason.
    """
    return carried_out(state, AcceptTask(task_id), AssignTask(task_id, names), DispatchTask(task_id))
