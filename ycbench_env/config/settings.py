"""The settings: frozen attrs classes that mirror the TOML tables, and the values derived from them.

There are no defaults here: the preset ``default`` is their one home. A setting's range, description and rule stand
beside it; validation, environment variables and the table in the documentation all read them from here.

To add a setting, add a field to its class and its value to the preset ``default``; give it the ``neutral`` value with
which all is as before, so that digests stay. A further table is a further class as a field of ``Config`` or
``WorldConfig``.

Invariants:
    * No instance holds an illegal value, and no ``Config`` holds inconsistent ones.
    * Equal configurations have equal hashes, digests and TOML, however their numbers were written.

Source: Y-1.2 (distributions).
"""

import datetime as dt
import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, ClassVar, Final, Literal, Self, cast

import attrs

from ycbench_env.config.kinds import (
    Kind,
    Setting,
    boolean,
    choice,
    date,
    distribution,
    many,
    number,
    setting,
    setting_of,
    text,
    value_class,
    whole,
)
from ycbench_env.rules.economy import HIGHEST_RATE_E4, HIGHEST_SALARY_CENTS, tier_midpoint
from ycbench_env.units import decimal_ratio
from ycbench_env.vocabulary import CLIENT_NAMES, DOMAINS, TIERS

_MOST_EMPLOYEES: Final = 1_000

_ANY: Final = number(-(10**12), 10**12)
_SHAPE: Final = number(0.001, 1_000_000)  # far smaller ones make Python's sampler divide by zero or overflow
_SCALE: Final = number(0, 10**12)
_FRACTION: Final = number(0, 1)
_FACTOR: Final = number(0, 10)
# Stored prestige and trust have 3 places and stored rates 4, so their bounds have no more either.
_PRESTIGE: Final = number(0, 100, decimals=3)
_MULTIPLIER: Final = number(0, 100, decimals=6)
_PRESSURE: Final = number(0, 100)
_RATE: Final = number(0, 100)
_CENTS: Final = whole(0, 10**10)


@value_class
class Triangular:
    """A triangular draw, then clamped to [low, high]."""

    type: ClassVar[Literal["triangular"]] = "triangular"
    low: float = setting(_ANY, "smallest draw")
    high: float = setting(_ANY, "largest draw")
    mode: float = setting(_ANY, "most likely draw, from low to high")


@value_class
class Beta:
    """``scale`` times a beta draw, clamped to [low, high], rounded to 4 places."""

    type: ClassVar[Literal["beta"]] = "beta"
    alpha: float = setting(_SHAPE, "first shape parameter")
    beta: float = setting(_SHAPE, "second shape parameter")
    scale: float = setting(_SCALE, "factor of the draw")
    low: float = setting(_ANY, "smallest draw")
    high: float = setting(_ANY, "largest draw")


@value_class
class Normal:
    """A normal draw, clamped to [low, high], rounded to 4 places."""

    type: ClassVar[Literal["normal"]] = "normal"
    mean: float = setting(_ANY, "mean before clamping")
    stdev: float = setting(_SCALE, "standard deviation before clamping; 0 = always the mean")
    low: float = setting(_ANY, "smallest draw")
    high: float = setting(_ANY, "largest draw")


@value_class
class Uniform:
    """A uniform draw from [low, high]."""

    type: ClassVar[Literal["uniform"]] = "uniform"
    low: float = setting(_ANY, "smallest draw")
    high: float = setting(_ANY, "largest draw")


@value_class
class Constant:
    """Always the same number; consumes no draw."""

    type: ClassVar[Literal["constant"]] = "constant"
    value: float = setting(_ANY, "the number")


Distribution = Triangular | Beta | Normal | Uniform | Constant
"""Any of the five. Drawing is the generator's business."""

DISTRIBUTION_TYPES: Final[dict[str, type[Distribution]]] = {
    cls.type: cls for cls in (Triangular, Beta, Normal, Uniform, Constant)
}
"""The class of each ``type`` word."""


@value_class
class DistConfig:
    """Table ``[world.dist]``: what market tasks are drawn from."""

    required_prestige: Distribution = distribution(
        number(1, 100), "prestige that a task requires; draws are truncated", "Y-2.4"
    )
    reward_funds_cents: Distribution = distribution(
        number(0, 10**9), "base reward in cents; draws are truncated", "Y-2.4"
    )
    domain_count: Distribution = distribution(
        # A draw is truncated, so a continuous one needs room above the last whole number to reach it.
        number(1, len(DOMAINS) + 1, below=True),
        "number of domains of a task; draws are truncated",
        "Y-2.4",
    )
    required_qty: Distribution = distribution(
        number(1, 100_000), "base work in one domain; draws are truncated", "Y-2.4"
    )
    reward_prestige_delta: Distribution = distribution(number(0, 100), "prestige gained by a success", "Y-2.4")
    skill_boost: Distribution = distribution(number(0, 10), "share by which a success raises rates", "Y-2.4")


@value_class
class SalaryTier:
    """Tables ``[world.salary_*]``: pay and skill of one tier's employees."""

    min_cents: int = setting(_CENTS, "lowest monthly salary in cents", "Y-2.2")
    max_cents: int = setting(_CENTS, "highest monthly salary in cents", "Y-2.2")
    rate_min: float = setting(_RATE, "lowest rate (or average of rates), in work per business hour", "Y-2.2")
    rate_max: float = setting(_RATE, "highest rate (or average of rates), in work per business hour", "Y-2.2")


@value_class
class WorldConfig:
    """Table ``[world]``: the company, its market and its clients.

    The properties below the fields are computed once an instance, in the doubles or exact numbers that the rules ask
    for, and read like fields.
    """

    world_seed: int | Literal["run"] = setting(
        whole(0, 2**63 - 1, word="run"), 'seed of employees and clients; "run" = the run seed', "Y-2.1"
    )
    accrual: Literal["business_hours", "until_midnight"] = setting(
        choice("business_hours", "until_midnight"), "which hours count as progress", "Y-6"
    )
    num_employees: int = setting(whole(0, _MOST_EMPLOYEES), "employees of the company", "Y-2.2")
    employee_skill_sampling: Literal["uniform", "gamma_budget"] = setting(
        choice("uniform", "gamma_budget"),
        "how skill is drawn: a rate a domain, or an average that is shared out among the domains",
        "K-1.2",
        neutral="uniform",
    )
    skill_rates_visible: bool = setting(boolean(), "whether `employee list` shows skill rates", "K-1.2", neutral=True)
    initial_funds_cents: int = setting(whole(0, 10**15), "funds at the start, in cents", "Y-10")
    initial_prestige_level: float = setting(_PRESTIGE, "prestige in each domain at the start", "Y-10")
    num_market_tasks: int = setting(whole(0, 10_000), "tasks on the market", "Y-2.4")
    market_prestige_ladder: tuple[int, ...] = setting(
        many(whole(1, 100), 10_000), "prestige that the first tasks require, without a draw", "K-1.3", neutral=(1,) * 10
    )
    task_draw_order: Literal["prestige_first", "requirements_first"] = setting(
        choice("prestige_first", "requirements_first"),
        "whether a task's prestige is drawn before or after its domains and work",
        "K-1.3",
        neutral="prestige_first",
    )
    task_domain_sampling: Literal["specialty_first", "uniform"] = setting(
        choice("specialty_first", "uniform"),
        "whether the first domain of a task leans to its client's specialties",
        "K-1.3",
        neutral="specialty_first",
    )
    replacement_prestige: Literal["same", "drawn"] = setting(
        choice("same", "drawn"),
        "whether a replacement requires the prestige of the accepted task or draws its own",
        "K-1.4",
        neutral="same",
    )
    replacement_numbering: Literal["slot", "episode"] = setting(
        choice("slot", "episode"),
        "what counts the accepts that number a replacement and name its stream",
        "X-3",
        neutral="slot",
    )
    refill_at: Literal["accept", "dispatch", "completion"] = setting(
        choice("accept", "dispatch", "completion"),
        "when the market replaces an accepted task",
        "X-4",
        neutral="accept",
    )
    prestige_gate: Literal["required_domains", "highest"] = setting(
        choice("required_domains", "highest"),
        "which prestige must reach what a task requires: that of each of its domains, or the highest of all four",
        "K-2.1",
        neutral="required_domains",
    )
    min_task_qty: int = setting(
        whole(1, 25_000), "least work of an accepted task in a domain; 1 = no floor", "K-2.1", neutral=200
    )
    max_open_tasks: int | None = setting(
        whole(0, 10**6, note="; 0 = no limit", zero_is_none=True),
        "most tasks planned or active at once; more are not accepted",
        "X-1",
        neutral=None,
    )
    market_browse_default_limit: int = setting(whole(1, 10_000), "tasks that `market browse` shows without `--limit`")
    market_browse_scope: Literal["acceptable", "all"] = setting(
        choice("acceptable", "all"),
        "whether `market browse` shows only what could be accepted now; `all` adds `--required-prestige-lte`",
        "K-3",
        neutral="acceptable",
    )
    assign_by_employee_id: bool = setting(
        boolean(), "whether `task assign` also takes `--employee-id`", "K-3", neutral=False
    )
    workday_start_hour: int = setting(whole(0, 23), "hour at which a business day starts", "Y-3.1")
    workday_end_hour: int = setting(whole(1, 24), "hour at which a business day ends", "Y-3.1")
    resume_stops_at_payroll: bool = setting(
        boolean(), "whether `sim resume` stops at each payroll", "K-2.4", neutral=True
    )
    resume_requires_active_task: bool = setting(
        boolean(), "whether `sim resume` is refused with nothing active", "K-2.4", neutral=True
    )
    efficient_team_size: int | Literal["none"] = setting(
        whole(1, _MOST_EMPLOYEES, word="none", note=" = no cap"),
        "members of a team that count in a domain and learn",
        "Y-5.1",
    )
    salary_bump_pct: float = setting(_FACTOR, "raise at a success, as a fraction of `salary_raise_basis`", "Y-5.5")
    salary_raise_basis: Literal["tier_midpoint", "current_salary"] = setting(
        choice("tier_midpoint", "current_salary"), "what a raise is a fraction of", "K-2.3", neutral="tier_midpoint"
    )
    salary_max_cents: int | Literal["none"] = setting(
        whole(0, 10**10, word="none", note=" = no cap"), "salary up to which raises go, in cents", "Y-5.5"
    )
    skill_rate_max: float | Literal["none"] = setting(
        number(0, 100, above=True, decimals=4, word="none", note=" = no cap"), "rate up to which skill grows", "Y-5.5"
    )
    prestige_min: float = setting(_PRESTIGE, "lowest prestige", "Y-4.4")
    prestige_max: float = setting(_PRESTIGE, "highest prestige", "Y-5.5")
    prestige_decay_per_day: float = setting(number(0, 1, decimals=6), "prestige lost a day in each domain", "Y-5.3")
    prestige_qty_scale: float = setting(_FACTOR, "growth of work per level of required prestige", "Y-2.4")
    reward_prestige_scale: float = setting(_FACTOR, "growth of reward per level of required prestige", "Y-2.4")
    penalty_fail_multiplier: float = setting(_MULTIPLIER, "prestige lost by a failure, in deltas", "Y-5.5")
    penalty_fail_funds_pct: float = setting(_FACTOR, "fee for a failure, as a fraction of the reward", "Y-5.5")
    penalty_cancel_multiplier: float = setting(_MULTIPLIER, "prestige lost by a cancel, in deltas", "Y-4.4")
    num_clients: int = setting(
        whole(0, len(CLIENT_NAMES)), "clients on the market; 0 = nobody's tasks, without trust", "Y-2.3"
    )
    trust_max: float = setting(number(0, 100, above=True, decimals=3), "highest trust of a client", "Y-5.5")
    trust_build_rate: float = setting(
        number(0, 1_000, decimals=6), "slowness of trust; 0 = trust is never gained", "Y-5.6"
    )
    trust_fragility: float = setting(_PRESSURE, "trust lost by a cancel; scales failure and decay", "Y-5.6")
    trust_focus_pressure: float = setting(_PRESSURE, "scales trust lost with all other clients", "Y-5.6")
    trust_work_reduction_max: float = setting(_FRACTION, "share of work saved at full trust", "Y-4.1")
    trust_gating_fraction: float = setting(_FRACTION, "share of tasks that require trust; 0 = none", "Y-2.4")
    trust_gated_reward_boost: float = setting(_FACTOR, "growth of reward per level of required trust", "Y-2.4")
    task_specialty_domain_bias: float = setting(
        _FRACTION, "chance that the first domain is a specialty of the client", "Y-2.4"
    )
    loyalty_rat_fraction: float = setting(
        _FRACTION, "share of adversarial draws among clients; at least one is made", "Y-2.3"
    )
    loyalty_severity: float = setting(number(0, 1_000), "growth of work by a client's disloyalty", "Y-4.1")
    adversarial_inflation_passes: int = setting(
        whole(1, 10), "how often an adversarial client inflates a task's work", "X-2", neutral=1
    )
    deadline_qty_per_day: float = setting(
        number(0, 10**9, above=True), "work that a deadline allows a business day", "Y-4.1"
    )
    deadline_basis: Literal["largest", "sum"] = setting(
        choice("largest", "sum"),
        "which work makes a deadline: the largest of the domains, or their sum",
        "K-2.1",
        neutral="largest",
    )
    deadline_min_biz_days: int = setting(whole(0, 10_000), "fewest business days until a deadline", "Y-4.1")
    task_progress_milestones: tuple[float, ...] = setting(
        many(number(0, 1, above=True, decimals=4), 100, ascending=True),
        "fractions of a task's work that stop the clock",
        "Y-5.2",
    )
    dist: DistConfig
    salary_junior: SalaryTier
    salary_mid: SalaryTier
    salary_senior: SalaryTier

    @cached_property
    def command_rules(self) -> tuple[bool, bool, str, bool]:
        """What decides which commands there are: clients, rates, scope of the market, naming by id (K-1, K-3)."""
        return self.num_clients > 0, self.skill_rates_visible, self.market_browse_scope, self.assign_by_employee_id

    @cached_property
    def trust_gain_base(self) -> float:
        """Trust gained by a success at no trust; 0.0 where ``trust_build_rate`` is 0 (Y-5.6)."""
        # Zero turns the feature off; the formula would divide by it.
        return 1.6 * self.trust_max / self.trust_build_rate if self.trust_build_rate else 0.0

    @cached_property
    def trust_fail_penalty(self) -> float:
        """Trust lost by a failure (Y-5.6)."""
        return 0.6 * self.trust_fragility

    @cached_property
    def trust_cancel_penalty(self) -> float:
        """Trust lost by a cancel (Y-5.6)."""
        return self.trust_fragility

    @cached_property
    def trust_decay_per_day(self) -> float:
        """Trust lost with each client a day (Y-5.6)."""
        return 0.03 * self.trust_fragility

    @cached_property
    def trust_cross_decay(self) -> float:
        """Trust lost with every other client by a completion (Y-5.6)."""
        return 0.06 * self.trust_focus_pressure

    @cached_property
    def penalty_fail_multiplier_ratio(self) -> tuple[int, int]:
        """Numerator and denominator of ``penalty_fail_multiplier`` as written in decimal."""
        return decimal_ratio(self.penalty_fail_multiplier)

    @cached_property
    def penalty_cancel_multiplier_ratio(self) -> tuple[int, int]:
        """Numerator and denominator of ``penalty_cancel_multiplier`` as written in decimal."""
        return decimal_ratio(self.penalty_cancel_multiplier)

    @cached_property
    def prestige_decay_per_day_ratio(self) -> tuple[int, int]:
        """Numerator and denominator of ``prestige_decay_per_day`` as written in decimal."""
        return decimal_ratio(self.prestige_decay_per_day)

    @cached_property
    def milestone_ratios(self) -> tuple[tuple[int, int], ...]:
        """Numerator and denominator of each milestone as written in decimal, ascending."""
        return tuple(decimal_ratio(milestone) for milestone in self.task_progress_milestones)

    @cached_property
    def prestige_min_milli(self) -> int:
        """``prestige_min`` in thousandths; exact, because its kind limits the decimal places."""
        return round(self.prestige_min * 1_000)

    @cached_property
    def prestige_max_milli(self) -> int:
        """``prestige_max`` in thousandths."""
        return round(self.prestige_max * 1_000)

    @cached_property
    def initial_prestige_milli(self) -> int:
        """``initial_prestige_level`` in thousandths."""
        return round(self.initial_prestige_level * 1_000)

    @cached_property
    def tier_midpoints_cents(self) -> dict[str, int]:
        """Middle of each tier's salary range, in cents; not to be changed. Source: Y-5.5."""
        tiers = (self.salary_junior, self.salary_mid, self.salary_senior)
        return {name: tier_midpoint(tier.min_cents, tier.max_cents) for name, tier in zip(TIERS, tiers, strict=True)}

    @cached_property
    def skill_rate_max_e4(self) -> int:
        """``skill_rate_max`` in ten-thousandths; without a cap, the highest rate that the rules can store."""
        return HIGHEST_RATE_E4 if self.skill_rate_max == "none" else round(self.skill_rate_max * 10_000)

    @cached_property
    def salary_cap_cents(self) -> int:
        """``salary_max_cents``; without a cap, the highest salary that the rules can store."""
        return HIGHEST_SALARY_CENTS if self.salary_max_cents == "none" else self.salary_max_cents

    @cached_property
    def team_size(self) -> int:
        """``efficient_team_size``; without a cap, the largest staff that a company can have."""
        return _MOST_EMPLOYEES if self.efficient_team_size == "none" else self.efficient_team_size


@value_class
class SimConfig:
    """Table ``[sim]``: the clock and the company."""

    start_date: dt.date = setting(date(), "first day; the clock starts at workday start", "Y-3.1")
    horizon_years: int = setting(whole(1, 100), "years until the horizon", "Y-3.1")
    company_name: str = setting(text(0, 200), "name of the company")


@value_class
class LoopConfig:
    """Table ``[loop]``: turns."""

    auto_advance_after_turns: int = setting(
        whole(0, 10**6), "turns without the clock moving before it is moved; 0 = never", "Y-9"
    )
    max_turns: int | None = setting(
        whole(0, 10**9, note="; 0 = no limit", zero_is_none=True), "turns after which the episode is truncated", "Y-9"
    )


@value_class
class AgentConfig:
    """Table ``[agent]``: what agents are given; the world does not read it."""

    history_keep_rounds: int = setting(whole(1, 10**6), "latest turns of the conversation that an agent keeps")
    temperature: float = setting(number(0, 2), "sampling temperature of a language model")
    top_p: float = setting(number(0, 1), "nucleus sampling mass of a language model")
    request_timeout_seconds: float = setting(number(0, 86_400, above=True), "longest wait for one reply, in seconds")
    retry_max_attempts: int = setting(whole(1, 100), "attempts at one request, the first included")
    retry_backoff_seconds: float = setting(number(0, 3_600), "first wait between attempts, in seconds; 0 = none")


@value_class
class Config:
    """A whole configuration: what ``load_config`` returns, and a value that can be compared, hashed and pickled.

    Attributes:
        name: Name of the preset or file.
        description: What it is for.
        sim: Clock and company.
        loop: Turns.
        agent: What agents are given.
        world: The game's numbers.

    Raises:
        ConfigError: The settings do not agree with each other; the message lists all that is wrong.
    """

    name: str = setting(text(1, 200), "name; a file without one takes its own, without the suffix")
    description: str = setting(text(0, 2_000), "what the configuration is for")
    sim: SimConfig
    loop: LoopConfig
    agent: AgentConfig
    world: WorldConfig

    def __attrs_post_init__(self) -> None:
        """Refuse settings that do not agree with each other."""
        # Imported here because checking needs the list of settings, which is derived from these classes.
        from ycbench_env.config.loading import check_config  # noqa: PLC0415

        check_config(self)

    @classmethod
    def from_dict(cls, tables: Mapping[str, object]) -> Self:
        """Return the configuration that ``to_dict`` wrote; reads no file and no environment variable.

        Settings that are missing, as in what an earlier version wrote, have their values in the preset ``default``.

        Raises:
            ConfigError: The tables hold illegal, unknown or inconsistent settings, ``extends`` included.
        """
        from ycbench_env.config.loading import config_of  # noqa: PLC0415 -- as above

        return cast("Self", config_of(tables))

    def to_dict(self) -> dict[str, Any]:
        """Return every setting as nested tables of plain JSON values; ``from_dict`` makes an equal configuration of it.

        A date becomes ISO text, a missing limit 0, so that the tables stand alone whatever the preset ``default`` says.
        """
        return _table(self)

    def to_toml(self) -> str:
        """Return every setting as TOML text; as a file, ``load_config`` makes an equal configuration of it."""
        import tomli_w  # noqa: PLC0415 -- needed only by those who save

        return tomli_w.dumps(self.to_dict())

    def digest(self) -> str:
        """Return 64 hexadecimal digits that name the settings, whatever they are called.

        SHA-256 of the compact ASCII JSON of ``to_dict()`` with sorted keys, without ``name`` and ``description``, which
        change nothing, and without the settings that came later and have their neutral value: so a configuration keeps
        its digest when the library learns new settings.
        """
        table = _table(self, neutral=False)
        del table["name"], table["description"]
        written = json.dumps(table, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
        return hashlib.sha256(written.encode("ascii")).hexdigest()


def _table(instance: object, *, neutral: bool = True) -> dict[str, Any]:
    """Return an attrs instance as a table of plain values, tables and distributions included.

    Args:
        instance: The instance.
        neutral: Whether settings that came later are in it also where they change nothing.
    """
    table: dict[str, Any] = {"type": instance.type} if isinstance(instance, Distribution) else {}
    for field in attrs.fields(cast("type[attrs.AttrsInstance]", type(instance))):
        value, known = getattr(instance, field.name), setting_of(field)
        if neutral or known is None or value != known.neutral:
            table[field.name] = _plain(value, neutral=neutral)
    return table


def _plain(value: object, *, neutral: bool) -> object:
    """Return a value in the form that TOML and JSON share."""
    match value:
        case None:
            return 0
        case dt.date():
            return value.isoformat()
        case tuple():
            return list(cast("tuple[float, ...]", value))
        case int() | float() | str():
            return value
        case _:
            return _table(value, neutral=neutral)


# ------------------------------------------------------------------------------------------------- the list of settings


def _settings_of(cls: type[attrs.AttrsInstance], prefix: str) -> Iterator[Setting]:
    for field in attrs.fields(cls):
        known = setting_of(field)
        if known is None:
            yield from _settings_of(cast("type[attrs.AttrsInstance]", field.type), f"{prefix}{field.name}.")
        else:
            yield attrs.evolve(known, key=prefix + field.name)


FIELDS: Final = tuple(_settings_of(Config, ""))
"""Every setting under its dotted key, in the order of the classes."""

PARAMETERS: Final = {
    word: {field.name: known for field in attrs.fields(cls) if (known := setting_of(field))}
    for word, cls in DISTRIBUTION_TYPES.items()
}
"""Parameters of each type of distribution, by its word."""

KNOB_PARAMETERS: Final = ("low", "high", "mode", "value")
"""Parameters that are numbers a draw can be; the setting, not the distribution, says which are legal."""

DISTRIBUTIONS: Final = tuple(sorted(field.key for field in FIELDS if field.is_distribution))
"""Keys that hold a distribution."""


def _leaves_of(field: Setting) -> Iterator[tuple[str, Kind]]:
    if not field.is_distribution:
        yield field.key, field.kind
        return
    yield f"{field.key}.type", choice(*PARAMETERS)
    for parameters in PARAMETERS.values():
        for name, parameter in parameters.items():
            yield f"{field.key}.{name}", field.kind if name in KNOB_PARAMETERS else parameter.kind


LEAVES: Final = {key: kind for field in FIELDS for key, kind in _leaves_of(field)}
"""Kind of each dotted key that has a single value."""

TABLES: Final = frozenset(key[:index] for key in LEAVES for index, letter in enumerate(key) if letter == ".")
"""Dotted keys of all tables."""

NO_EFFECT: Final = {
    "agent.model": "a model is named by whoever runs it, so that one configuration serves all of them",
    "world.work_hours_per_day": "workday_start_hour and workday_end_hour make the working day",
    **{f"world.salary_{tier}.name": "the table's own name names the tier" for tier in TIERS},
    **{f"world.salary_{tier}.share": "the tiers are dealt from a fixed cycle (Y-2.2)" for tier in TIERS},
}
"""Keys of the public implementation that are accepted with a warning, and why they have no effect."""

DERIVED: Final = {
    "world.trust_gain_base": "trust_max and trust_build_rate",
    "world.trust_fail_penalty": "trust_fragility",
    "world.trust_cancel_penalty": "trust_fragility",
    "world.trust_decay_per_day": "trust_fragility",
    "world.trust_cross_decay": "trust_focus_pressure",
}
"""Values that are no settings, and the settings that they follow from (Y-5.6)."""
