"""The settings: frozen attrs classes that mirror the TOML tables, and the values derived from them.

There are no defaults here: the preset ``default`` is their one home. A setting's type, range, description and rule
stand in its field; validation, environment variables and the table in the documentation all read them from here.

To add a setting, add a field to its class and its value to the preset ``default``; give it the ``neutral`` value with
which all is as before, so that digests stay. A further table is a further class as a field of ``Config`` or
``WorldConfig``. No instance holds an illegal value, and no ``Config`` holds inconsistent ones; equal configurations
have equal hashes, digests and TOML, however their numbers were written.

Source: Y-1.2 (distributions).
"""

import datetime as dt
import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, Self, cast

import attrs

from ycbench_env.config.kinds import Setting, derived, setting, setting_of, value_class
from ycbench_env.rules.economy import HIGHEST_RATE_E4, HIGHEST_SALARY_CENTS, tier_midpoint
from ycbench_env.units import decimal_ratio
from ycbench_env.vocabulary import CLIENT_NAMES, DOMAINS, TIERS

_ANY: Final = (-(10**12), 10**12)
# The least shape is far above those that make Python's sampler divide by zero or overflow. Stored prestige and trust
# have 3 places and stored rates 4, so their bounds have no more either. A draw is truncated, so a continuous number of
# domains needs room above the last whole number to reach it.


@value_class
class Triangular:
    """A triangular draw, then clamped to [low, high]."""

    type: Literal["triangular"] = attrs.field(init=False, default="triangular")
    low: float = setting("smallest draw", "", *_ANY)
    high: float = setting("largest draw", "", *_ANY)
    mode: float = setting("most likely draw, from low to high", "", *_ANY)


@value_class
class Beta:
    """``scale`` times a beta draw, clamped to [low, high], rounded to 4 places."""

    type: Literal["beta"] = attrs.field(init=False, default="beta")
    alpha: float = setting("first shape parameter", "", 0.001, 1_000_000)
    beta: float = setting("second shape parameter", "", 0.001, 1_000_000)
    scale: float = setting("factor of the draw", "", 0, 10**12)
    low: float = setting("smallest draw", "", *_ANY)
    high: float = setting("largest draw", "", *_ANY)


@value_class
class Normal:
    """A normal draw, clamped to [low, high], rounded to 4 places."""

    type: Literal["normal"] = attrs.field(init=False, default="normal")
    mean: float = setting("mean before clamping", "", *_ANY)
    stdev: float = setting("standard deviation before clamping; 0 = always the mean", "", 0, 10**12)
    low: float = setting("smallest draw", "", *_ANY)
    high: float = setting("largest draw", "", *_ANY)


@value_class
class Uniform:
    """A uniform draw from [low, high]."""

    type: Literal["uniform"] = attrs.field(init=False, default="uniform")
    low: float = setting("smallest draw", "", *_ANY)
    high: float = setting("largest draw", "", *_ANY)


@value_class
class Constant:
    """Always the same number; consumes no draw."""

    type: Literal["constant"] = attrs.field(init=False, default="constant")
    value: float = setting("the number", "", *_ANY)


Distribution = Triangular | Beta | Normal | Uniform | Constant
"""Any of the five. Drawing is the generator's business."""

DISTRIBUTION_TYPES: Final = {cls.__name__.lower(): cls for cls in (Triangular, Beta, Normal, Uniform, Constant)}
"""The class of each ``type`` word."""


@value_class
class DistConfig:
    """Table ``[world.dist]``: what market tasks are drawn from."""

    required_prestige: Distribution = setting("prestige that a task requires; draws are truncated", "Y-2.4", 1, 100)
    reward_funds_cents: Distribution = setting("base reward in cents; draws are truncated", "Y-2.4", 0, 10**9)
    domain_count: Distribution = setting(
        "number of domains of a task; draws are truncated", "Y-2.4", 1, len(DOMAINS) + 1, below=True
    )
    required_qty: Distribution = setting("base work in one domain; draws are truncated", "Y-2.4", 1, 100_000)
    reward_prestige_delta: Distribution = setting("prestige gained by a success", "Y-2.4", 0, 100)
    skill_boost: Distribution = setting("share by which a success raises rates", "Y-2.4", 0, 10)


@value_class
class SalaryTier:
    """Tables ``[world.salary_*]``: pay and skill of one tier's employees."""

    min_cents: int = setting("lowest monthly salary in cents", "Y-2.2", 0, 10**10)
    max_cents: int = setting("highest monthly salary in cents", "Y-2.2", 0, 10**10)
    rate_min: float = setting("lowest rate (or average of rates), in work per business hour", "Y-2.2", 0, 100)
    rate_max: float = setting("highest rate (or average of rates), in work per business hour", "Y-2.2", 0, 100)


@value_class
class WorldConfig:
    """Table ``[world]``: the company, its market and its clients.

    The derived fields below the settings hold the doubles or exact numbers that the rules ask for.
    """

    world_seed: int | Literal["run"] = setting('seed of staff and clients; "run" = the run seed', "Y-2.1", 0, 2**63 - 1)
    accrual: Literal["business_hours", "until_midnight"] = setting("which hours count as progress", "Y-6")
    num_employees: int = setting("employees of the company", "Y-2.2", 0, 1_000)
    employee_skill_sampling: Literal["uniform", "gamma_budget"] = setting(
        "how skill is drawn: a rate a domain, or an average shared out among them", "K-1.2", neutral="uniform"
    )
    skill_rates_visible: bool = setting("whether `employee list` shows skill rates", "K-1.2", neutral=True)
    initial_funds_cents: int = setting("funds at the start, in cents", "Y-10", 0, 10**15)
    initial_prestige_level: float = setting("prestige in each domain at the start", "Y-10", 0, 100, decimals=3)
    num_market_tasks: int = setting("tasks on the market", "Y-2.4", 0, 10_000)
    market_prestige_ladder: tuple[int, ...] = setting(
        "prestige of the first tasks, instead of a draw", "K-1.3", 1, 100, longest=10_000, neutral=(1,) * 10
    )
    task_draw_order: Literal["prestige_first", "requirements_first"] = setting(
        "whether a task's prestige is drawn before or after its domains and work", "K-1.3", neutral="prestige_first"
    )
    task_domain_sampling: Literal["specialty_first", "uniform"] = setting(
        "whether the first domain of a task leans to its client's specialties", "K-1.3", neutral="specialty_first"
    )
    replacement_prestige: Literal["same", "drawn"] = setting(
        "whether a replacement requires the prestige of the accepted task or draws its own", "K-1.4", neutral="same"
    )
    replacement_numbering: Literal["slot", "episode"] = setting(
        "what counts the accepts that number a replacement and name its stream", "X-3", neutral="slot"
    )
    refill_at: Literal["accept", "dispatch", "completion"] = setting(
        "when the market replaces an accepted task", "X-4", neutral="accept"
    )
    prestige_gate: Literal["required_domains", "highest"] = setting(
        "which prestige counts: of each domain that a task requires, or the highest of all",
        "K-2.1",
        neutral="required_domains",
    )
    min_task_qty: int = setting("least work of an accepted task a domain; 1 = any", "K-2.1", 1, 25_000, neutral=200)
    max_open_tasks: int | None = setting("most tasks planned or active at once", "X-1", 0, 1_000_000, neutral=None)
    market_browse_default_limit: int = setting("tasks that `market browse` shows without `--limit`", "", 1, 10_000)
    market_browse_scope: Literal["acceptable", "all"] = setting(
        "what `market browse` shows; `all` adds `--required-prestige-lte`", "K-3", neutral="acceptable"
    )
    assign_by_employee_id: bool = setting("whether `task assign` also takes `--employee-id`", "K-3", neutral=False)
    workday_start_hour: int = setting("hour at which a business day starts", "Y-3.1", 0, 23)
    workday_end_hour: int = setting("hour at which a business day ends", "Y-3.1", 1, 24)
    resume_stops_at_payroll: bool = setting("whether `sim resume` stops at each payroll", "K-2.4", neutral=True)
    resume_requires_active_task: bool = setting("whether `sim resume` needs an active task", "K-2.4", neutral=True)
    efficient_team_size: int | Literal["none"] = setting("members of a team that count and learn", "Y-5.1", 1, 1_000)
    salary_bump_pct: float = setting("raise at a success, as a fraction of `salary_raise_basis`", "Y-5.5", 0, 10)
    salary_raise_basis: Literal["tier_midpoint", "current_salary"] = setting(
        "what a raise is a fraction of", "K-2.3", neutral="tier_midpoint"
    )
    salary_max_cents: int | Literal["none"] = setting("salary up to which raises go, in cents", "Y-5.5", 0, 10**10)
    skill_rate_max: float | Literal["none"] = setting("highest skill rate", "Y-5.5", 0, 100, above=True, decimals=4)
    prestige_min: float = setting("lowest prestige", "Y-4.4", 0, 100, decimals=3)
    prestige_max: float = setting("highest prestige", "Y-5.5", 0, 100, decimals=3)
    prestige_decay_per_day: float = setting("prestige lost a day in each domain", "Y-5.3", 0, 1, decimals=6)
    prestige_qty_scale: float = setting("growth of work per level of required prestige", "Y-2.4", 0, 10)
    reward_prestige_scale: float = setting("growth of reward per level of required prestige", "Y-2.4", 0, 10)
    penalty_fail_multiplier: float = setting("prestige lost by a failure, in deltas", "Y-5.5", 0, 100, decimals=6)
    penalty_fail_funds_pct: float = setting("fee for a failure, as a fraction of the reward", "Y-5.5", 0, 10)
    penalty_cancel_multiplier: float = setting("prestige lost by a cancel, in deltas", "Y-4.4", 0, 100, decimals=6)
    num_clients: int = setting(
        "clients on the market; 0 = nobody's tasks, without trust", "Y-2.3", 0, len(CLIENT_NAMES)
    )
    trust_max: float = setting("highest trust of a client", "Y-5.5", 0, 100, above=True, decimals=3)
    trust_build_rate: float = setting("slowness of trust; 0 = trust is never gained", "Y-5.6", 0, 1_000, decimals=6)
    trust_fragility: float = setting("trust lost by a cancel; scales failure and decay", "Y-5.6", 0, 100)
    trust_focus_pressure: float = setting("scales trust lost with all other clients", "Y-5.6", 0, 100)
    trust_work_reduction_max: float = setting("share of work saved at full trust", "Y-4.1", 0, 1)
    trust_gating_fraction: float = setting("share of tasks that require trust; 0 = none", "Y-2.4", 0, 1)
    trust_gated_reward_boost: float = setting("growth of reward per level of required trust", "Y-2.4", 0, 10)
    task_specialty_domain_bias: float = setting("chance that a client's specialty comes first", "Y-2.4", 0, 1)
    loyalty_rat_fraction: float = setting("share of adversarial clients; at least one is made", "Y-2.3", 0, 1)
    loyalty_severity: float = setting("growth of work by a client's disloyalty", "Y-4.1", 0, 1_000)
    adversarial_inflation_passes: int = setting("passes in which an adversary inflates work", "X-2", 1, 10, neutral=1)
    deadline_qty_per_day: float = setting("work that a deadline allows a business day", "Y-4.1", 0, 10**9, above=True)
    deadline_basis: Literal["largest", "sum"] = setting("which work makes a deadline", "K-2.1", neutral="largest")
    deadline_min_biz_days: int = setting("fewest business days until a deadline", "Y-4.1", 0, 10_000)
    task_progress_milestones: tuple[float, ...] = setting(
        "shares of work that stop the clock", "Y-5.2", 0, 1, above=True, ascending=True, decimals=4, longest=100
    )
    dist: DistConfig
    salary_junior: SalaryTier
    salary_mid: SalaryTier
    salary_senior: SalaryTier

    # What follows from the settings. First what decides which commands there are (K-1, K-3).
    command_rules: tuple[bool, bool, str, bool] = derived(
        lambda w: (w.num_clients > 0, w.skill_rates_visible, w.market_browse_scope, w.assign_by_employee_id)
    )
    # Trust gained by a success at no trust; 0 turns it off, and the formula would divide by it (Y-5.6).
    trust_gain_base: float = derived(lambda w: 1.6 * w.trust_max / w.trust_build_rate if w.trust_build_rate else 0.0)
    # Trust lost by a failure, by a cancel, with each client a day, and by a completion with all others (Y-5.6).
    trust_fail_penalty: float = derived(lambda w: 0.6 * w.trust_fragility)
    trust_cancel_penalty: float = derived(lambda w: w.trust_fragility)
    trust_decay_per_day: float = derived(lambda w: 0.03 * w.trust_fragility)
    trust_cross_decay: float = derived(lambda w: 0.06 * w.trust_focus_pressure)
    # Numerator and denominator of settings as they are written in decimal.
    penalty_fail_multiplier_ratio: tuple[int, int] = derived(lambda w: decimal_ratio(w.penalty_fail_multiplier))
    penalty_cancel_multiplier_ratio: tuple[int, int] = derived(lambda w: decimal_ratio(w.penalty_cancel_multiplier))
    prestige_decay_per_day_ratio: tuple[int, int] = derived(lambda w: decimal_ratio(w.prestige_decay_per_day))
    milestone_ratios: tuple[tuple[int, int], ...] = derived(
        lambda w: tuple(map(decimal_ratio, w.task_progress_milestones))
    )
    # Prestige in thousandths; exact, because the settings have 3 decimals at most.
    prestige_min_milli: int = derived(lambda w: round(w.prestige_min * 1_000))
    prestige_max_milli: int = derived(lambda w: round(w.prestige_max * 1_000))
    initial_prestige_milli: int = derived(lambda w: round(w.initial_prestige_level * 1_000))
    # Middle of each tier's salary range, in cents (Y-5.5).
    tier_midpoints_cents: dict[str, int] = derived(
        lambda w: {
            name: tier_midpoint(tier.min_cents, tier.max_cents)
            for name, tier in zip(TIERS, (w.salary_junior, w.salary_mid, w.salary_senior), strict=True)
        }
    )
    # The caps as numbers; where there is none, the largest number that the rules can store exactly.
    skill_rate_max_e4: int = derived(
        lambda w: HIGHEST_RATE_E4 if w.skill_rate_max == "none" else round(w.skill_rate_max * 10_000)
    )
    salary_cap_cents: int = derived(
        lambda w: HIGHEST_SALARY_CENTS if w.salary_max_cents == "none" else w.salary_max_cents
    )
    team_size: int = derived(lambda w: 1_000 if w.efficient_team_size == "none" else w.efficient_team_size)


@value_class
class SimConfig:
    """Table ``[sim]``: the clock and the company."""

    start_date: dt.date = setting("first day; the clock starts at workday start", "Y-3.1")
    horizon_years: int = setting("years until the horizon", "Y-3.1", 1, 100)
    company_name: str = setting("name of the company", "", 0, 200)


@value_class
class LoopConfig:
    """Table ``[loop]``: turns."""

    auto_advance_after_turns: int = setting("turns until an idle clock is moved on; 0 = never", "Y-9", 0, 1_000_000)
    max_turns: int | None = setting("turns after which the episode is truncated", "Y-9", 0, 10**9)


@value_class
class AgentConfig:
    """Table ``[agent]``: what agents are given; the world does not read it."""

    history_keep_rounds: int = setting("latest turns of the conversation that an agent keeps", "", 1, 1_000_000)
    temperature: float = setting("sampling temperature of a language model", "", 0, 2)
    top_p: float = setting("nucleus sampling mass of a language model", "", 0, 1)
    request_timeout_seconds: float = setting("longest wait for one reply, in seconds", "", 0, 86_400, above=True)
    retry_max_attempts: int = setting("attempts at one request, the first included", "", 1, 100)
    retry_backoff_seconds: float = setting("first wait between attempts, in seconds; 0 = none", "", 0, 3_600)


@value_class
class Config:
    """A whole configuration: what ``load_config`` returns, and a value that can be compared, hashed and pickled.

    Raises:
        ConfigError: The settings do not agree with each other; the message lists all that is wrong.
    """

    name: str = setting("name; a file without one takes its own, without the suffix", "", 1, 200)
    description: str = setting("what the configuration is for", "", 0, 2_000)
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
        from ycbench_env.config.loading import load_config  # noqa: PLC0415 -- as above

        return cast("Self", load_config(overrides=tables, environ={}))

    def to_dict(self) -> dict[str, Any]:
        """Return every setting as nested tables of plain JSON values; ``from_dict`` makes an equal configuration of it.

        A date becomes ISO text, a missing limit 0, so that the tables do not depend on the preset ``default``.
        """
        return attrs.asdict(self, filter=lambda field, _: "derived" not in field.metadata, value_serializer=_plain)

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

        def counts(field: "attrs.Attribute[Any]", value: object) -> bool:
            known = setting_of(field)
            return "derived" not in field.metadata and (known is None or value != known.neutral)

        table = attrs.asdict(self, filter=counts, value_serializer=_plain)
        del table["name"], table["description"]
        written = json.dumps(table, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
        return hashlib.sha256(written.encode("ascii")).hexdigest()


def _plain(_instance: type, _field: "attrs.Attribute[Any]", value: Any) -> Any:  # noqa: ANN401 -- of any setting
    """Return a value in the form that TOML and JSON share."""
    if value is None:
        return 0
    if isinstance(value, tuple):
        return list(cast("tuple[float, ...]", value))
    return value.isoformat() if isinstance(value, dt.date) else value


# ------------------------------------------------------------------------------------------------- the list of settings


def _settings_of(cls: type[attrs.AttrsInstance], prefix: str) -> Iterator[Setting]:
    for field in attrs.fields(cls):
        known = setting_of(field)
        if known is not None:
            yield attrs.evolve(known, key=prefix + field.name)
        elif field.init:
            yield from _settings_of(cast("type[attrs.AttrsInstance]", field.type), f"{prefix}{field.name}.")


FIELDS: Final = tuple(_settings_of(Config, ""))
"""Every setting under its dotted key, in the order of the classes."""

PARAMETERS: Final = {
    word: {field.name: known for field in attrs.fields(cls) if (known := setting_of(field))}
    for word, cls in DISTRIBUTION_TYPES.items()
}
"""Parameters of each type of distribution, by its word."""

KNOB_PARAMETERS: Final = ("low", "high", "mode", "value")
"""Parameters that are numbers a draw can be; the setting, not the distribution, decides which are legal."""

DISTRIBUTIONS: Final = tuple(sorted(field.key for field in FIELDS if field.type == "distribution"))
"""Keys that hold a distribution."""


def _leaves_of(field: Setting) -> Iterator[tuple[str, Setting]]:
    if field.type != "distribution":
        yield field.key, field
        return
    yield f"{field.key}.type", Setting("type of the distribution", words=tuple(PARAMETERS))
    for parameters in PARAMETERS.values():
        for name, parameter in parameters.items():
            yield f"{field.key}.{name}", attrs.evolve(field, type="float") if name in KNOB_PARAMETERS else parameter


LEAVES: Final = {key: leaf for field in FIELDS for key, leaf in _leaves_of(field)}
"""The setting, or parameter of a distribution, of each dotted key that has a single value."""

TABLES: Final = frozenset(key[:index] for key in LEAVES for index, letter in enumerate(key) if letter == ".")
"""Dotted keys of all tables."""

NO_EFFECT: Final = {
    "agent.model": "a model is named by whoever runs it, so that one configuration serves all of them",
    "world.work_hours_per_day": "workday_start_hour and workday_end_hour make the working day",
    **{f"world.salary_{tier}.name": "the table's own name names the tier" for tier in TIERS},
    **{f"world.salary_{tier}.share": "the tiers are dealt from a fixed cycle (Y-2.2)" for tier in TIERS},
}
"""Keys of the public implementation that are accepted with a warning, and why they have no effect."""

DERIVED: Final = {f"world.{field.name}" for field in attrs.fields(WorldConfig) if "derived" in field.metadata}
"""Keys of values that follow from settings and cannot be set."""
