"""The table ``[world]`` as values: the company, its market and its clients, with the knobs derived from them.

The settings' descriptions are what ``ycbench_env.config.model`` says of all of them.
"""

from fractions import Fraction
from functools import cached_property
from typing import Annotated, Final, Literal

from ycbench_env.config.kind import (
    BoolKind,
    CapKind,
    ChoiceKind,
    FloatKind,
    Interval,
    IntKind,
    LimitKind,
    SeedKind,
)
from ycbench_env.config.list_kind import LadderKind, MilestonesKind
from ycbench_env.config.setting import Setting, value_class
from ycbench_env.config.world_table import CENTS, DistConfig, SalaryTier
from ycbench_env.rules.economy import HIGHEST_RATE_E4, HIGHEST_SALARY_CENTS, tier_midpoint
from ycbench_env.vocabulary import CLIENT_NAMES, TIERS

__all__ = ["WorldConfig"]

_MILLI: Final = 1_000
_MOST_EMPLOYEES: Final = 1_000
_E4: Final = 10_000

_FRACTION: Final = FloatKind(Interval(0, 1))
_FACTOR: Final = FloatKind(Interval(0, 10))
# Stored prestige and trust have 3 places and stored rates 4, so their bounds have no more either.
_PRESTIGE: Final = FloatKind(Interval(0, 100), decimals=3)
_MULTIPLIER: Final = FloatKind(Interval(0, 100), decimals=6)
_PRESSURE: Final = FloatKind(Interval(0, 100))


@value_class
class WorldConfig:
    """Table ``[world]``: the company, its market and its clients.

    The properties below the fields are computed once an instance, in the doubles or exact numbers that the rules ask
    for, and read like fields.
    """

    world_seed: Annotated[
        int | Literal["run"],
        Setting(SeedKind(Interval(0, 2**63 - 1)), 'seed of employees and clients; "run" = the run seed', "Y-2.1"),
    ]
    accrual: Annotated[
        Literal["business_hours", "until_midnight"],
        Setting(ChoiceKind(("business_hours", "until_midnight")), "which hours count as progress", "Y-6"),
    ]
    num_employees: Annotated[int, Setting(IntKind(Interval(0, _MOST_EMPLOYEES)), "employees of the company", "Y-2.2")]
    employee_skill_sampling: Annotated[
        Literal["uniform", "gamma_budget"],
        Setting(
            ChoiceKind(("uniform", "gamma_budget")),
            "how skill is drawn: a rate a domain, or an average that is shared out among the domains",
            "K-1.2",
            neutral="uniform",
        ),
    ]
    skill_rates_visible: Annotated[
        bool, Setting(BoolKind(), "whether `employee list` shows skill rates", "K-1.2", neutral=True)
    ]
    initial_funds_cents: Annotated[int, Setting(IntKind(Interval(0, 10**15)), "funds at the start, in cents", "Y-10")]
    initial_prestige_level: Annotated[float, Setting(_PRESTIGE, "prestige in each domain at the start", "Y-10")]
    num_market_tasks: Annotated[int, Setting(IntKind(Interval(0, 10_000)), "tasks on the market", "Y-2.4")]
    market_prestige_ladder: Annotated[
        tuple[int, ...],
        Setting(
            LadderKind(Interval(1, 100), longest=10_000),
            "prestige that the first tasks require, without a draw",
            "K-1.3",
            neutral=(1,) * 10,
        ),
    ]
    task_draw_order: Annotated[
        Literal["prestige_first", "requirements_first"],
        Setting(
            ChoiceKind(("prestige_first", "requirements_first")),
            "whether a task's prestige is drawn before or after its domains and work",
            "K-1.3",
            neutral="prestige_first",
        ),
    ]
    task_domain_sampling: Annotated[
        Literal["specialty_first", "uniform"],
        Setting(
            ChoiceKind(("specialty_first", "uniform")),
            "whether the first domain of a task leans to its client's specialties",
            "K-1.3",
            neutral="specialty_first",
        ),
    ]
    replacement_prestige: Annotated[
        Literal["same", "drawn"],
        Setting(
            ChoiceKind(("same", "drawn")),
            "whether a replacement requires the prestige of the accepted task or draws its own",
            "K-1.4",
            neutral="same",
        ),
    ]
    replacement_numbering: Annotated[
        Literal["slot", "episode"],
        Setting(
            ChoiceKind(("slot", "episode")),
            "what counts the accepts that number a replacement and name its stream",
            "X-3",
            neutral="slot",
        ),
    ]
    refill_at: Annotated[
        Literal["accept", "dispatch", "completion"],
        Setting(
            ChoiceKind(("accept", "dispatch", "completion")),
            "when the market replaces an accepted task",
            "X-4",
            neutral="accept",
        ),
    ]
    prestige_gate: Annotated[
        Literal["required_domains", "highest"],
        Setting(
            ChoiceKind(("required_domains", "highest")),
            "which prestige must reach what a task requires: that of each of its domains, or the highest of all four",
            "K-2.1",
            neutral="required_domains",
        ),
    ]
    min_task_qty: Annotated[
        int,
        Setting(
            IntKind(Interval(1, 25_000)),
            "least work of an accepted task in a domain; 1 = no floor",
            "K-2.1",
            neutral=200,
        ),
    ]
    max_open_tasks: Annotated[
        int | None,
        Setting(LimitKind(10**6), "most tasks planned or active at once; more are not accepted", "X-1", neutral=None),
    ]
    market_browse_default_limit: Annotated[
        int, Setting(IntKind(Interval(1, 10_000)), "tasks that `market browse` shows without `--limit`")
    ]
    market_browse_scope: Annotated[
        Literal["acceptable", "all"],
        Setting(
            ChoiceKind(("acceptable", "all")),
            "whether `market browse` shows only what could be accepted now; `all` adds `--required-prestige-lte`",
            "K-3",
            neutral="acceptable",
        ),
    ]
    assign_by_employee_id: Annotated[
        bool, Setting(BoolKind(), "whether `task assign` also takes `--employee-id`", "K-3", neutral=False)
    ]
    workday_start_hour: Annotated[
        int, Setting(IntKind(Interval(0, 23)), "hour at which a business day starts", "Y-3.1")
    ]
    workday_end_hour: Annotated[int, Setting(IntKind(Interval(1, 24)), "hour at which a business day ends", "Y-3.1")]
    resume_stops_at_payroll: Annotated[
        bool, Setting(BoolKind(), "whether `sim resume` stops at each payroll", "K-2.4", neutral=True)
    ]
    resume_requires_active_task: Annotated[
        bool, Setting(BoolKind(), "whether `sim resume` is refused with nothing active", "K-2.4", neutral=True)
    ]
    efficient_team_size: Annotated[
        int | Literal["none"],
        Setting(
            CapKind(IntKind(Interval(1, _MOST_EMPLOYEES))),
            "members of a team that count in a domain and learn",
            "Y-5.1",
        ),
    ]
    salary_bump_pct: Annotated[
        float, Setting(_FACTOR, "raise at a success, as a fraction of `salary_raise_basis`", "Y-5.5")
    ]
    salary_raise_basis: Annotated[
        Literal["tier_midpoint", "current_salary"],
        Setting(
            ChoiceKind(("tier_midpoint", "current_salary")),
            "what a raise is a fraction of",
            "K-2.3",
            neutral="tier_midpoint",
        ),
    ]
    salary_max_cents: Annotated[
        int | Literal["none"], Setting(CapKind(CENTS), "salary up to which raises go, in cents", "Y-5.5")
    ]
    skill_rate_max: Annotated[
        float | Literal["none"],
        Setting(CapKind(FloatKind(Interval(0, 100, above=True), decimals=4)), "rate up to which skill grows", "Y-5.5"),
    ]
    prestige_min: Annotated[float, Setting(_PRESTIGE, "lowest prestige", "Y-4.4")]
    prestige_max: Annotated[float, Setting(_PRESTIGE, "highest prestige", "Y-5.5")]
    prestige_decay_per_day: Annotated[
        float, Setting(FloatKind(Interval(0, 1), decimals=6), "prestige lost a day in each domain", "Y-5.3")
    ]
    prestige_qty_scale: Annotated[float, Setting(_FACTOR, "growth of work per level of required prestige", "Y-2.4")]
    reward_prestige_scale: Annotated[
        float, Setting(_FACTOR, "growth of reward per level of required prestige", "Y-2.4")
    ]
    penalty_fail_multiplier: Annotated[float, Setting(_MULTIPLIER, "prestige lost by a failure, in deltas", "Y-5.5")]
    penalty_fail_funds_pct: Annotated[
        float, Setting(_FACTOR, "fee for a failure, as a fraction of the reward", "Y-5.5")
    ]
    penalty_cancel_multiplier: Annotated[float, Setting(_MULTIPLIER, "prestige lost by a cancel, in deltas", "Y-4.4")]
    num_clients: Annotated[
        int,
        Setting(
            IntKind(Interval(0, len(CLIENT_NAMES))), "clients on the market; 0 = nobody's tasks, without trust", "Y-2.3"
        ),
    ]
    trust_max: Annotated[
        float, Setting(FloatKind(Interval(0, 100, above=True), decimals=3), "highest trust of a client", "Y-5.5")
    ]
    trust_build_rate: Annotated[
        float,
        Setting(FloatKind(Interval(0, 1_000), decimals=6), "slowness of trust; 0 = trust is never gained", "Y-5.6"),
    ]
    trust_fragility: Annotated[float, Setting(_PRESSURE, "trust lost by a cancel; scales failure and decay", "Y-5.6")]
    trust_focus_pressure: Annotated[float, Setting(_PRESSURE, "scales trust lost with all other clients", "Y-5.6")]
    trust_work_reduction_max: Annotated[float, Setting(_FRACTION, "share of work saved at full trust", "Y-4.1")]
    trust_gating_fraction: Annotated[float, Setting(_FRACTION, "share of tasks that require trust; 0 = none", "Y-2.4")]
    trust_gated_reward_boost: Annotated[
        float, Setting(_FACTOR, "growth of reward per level of required trust", "Y-2.4")
    ]
    task_specialty_domain_bias: Annotated[
        float, Setting(_FRACTION, "chance that the first domain is a specialty of the client", "Y-2.4")
    ]
    loyalty_rat_fraction: Annotated[
        float, Setting(_FRACTION, "share of adversarial draws among clients; at least one is made", "Y-2.3")
    ]
    loyalty_severity: Annotated[
        float, Setting(FloatKind(Interval(0, 1_000)), "growth of work by a client's disloyalty", "Y-4.1")
    ]
    adversarial_inflation_passes: Annotated[
        int,
        Setting(IntKind(Interval(1, 10)), "how often an adversarial client inflates a task's work", "X-2", neutral=1),
    ]
    deadline_qty_per_day: Annotated[
        float, Setting(FloatKind(Interval(0, 10**9, above=True)), "work that a deadline allows a business day", "Y-4.1")
    ]
    deadline_basis: Annotated[
        Literal["largest", "sum"],
        Setting(
            ChoiceKind(("largest", "sum")),
            "which work makes a deadline: the largest of the domains, or their sum",
            "K-2.1",
            neutral="largest",
        ),
    ]
    deadline_min_biz_days: Annotated[
        int, Setting(IntKind(Interval(0, 10_000)), "fewest business days until a deadline", "Y-4.1")
    ]
    task_progress_milestones: Annotated[
        tuple[float, ...],
        Setting(MilestonesKind(longest=100, decimals=4), "fractions of a task's work that stop the clock", "Y-5.2"),
    ]
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
        return _ratio(self.penalty_fail_multiplier)

    @cached_property
    def penalty_cancel_multiplier_ratio(self) -> tuple[int, int]:
        """Numerator and denominator of ``penalty_cancel_multiplier`` as written in decimal."""
        return _ratio(self.penalty_cancel_multiplier)

    @cached_property
    def prestige_decay_per_day_ratio(self) -> tuple[int, int]:
        """Numerator and denominator of ``prestige_decay_per_day`` as written in decimal."""
        return _ratio(self.prestige_decay_per_day)

    @cached_property
    def milestone_ratios(self) -> tuple[tuple[int, int], ...]:
        """Numerator and denominator of each milestone as written in decimal, ascending."""
        return tuple(_ratio(milestone) for milestone in self.task_progress_milestones)

    @cached_property
    def prestige_min_milli(self) -> int:
        """``prestige_min`` in thousandths."""
        return _scaled(self.prestige_min, _MILLI)

    @cached_property
    def prestige_max_milli(self) -> int:
        """``prestige_max`` in thousandths."""
        return _scaled(self.prestige_max, _MILLI)

    @cached_property
    def initial_prestige_milli(self) -> int:
        """``initial_prestige_level`` in thousandths."""
        return _scaled(self.initial_prestige_level, _MILLI)

    @cached_property
    def tier_midpoints_cents(self) -> dict[str, int]:
        """Middle of each tier's salary range, in cents; not to be changed. Source: Y-5.5."""
        tiers = (self.salary_junior, self.salary_mid, self.salary_senior)
        return {name: tier_midpoint(tier.min_cents, tier.max_cents) for name, tier in zip(TIERS, tiers, strict=True)}

    @cached_property
    def skill_rate_max_e4(self) -> int:
        """``skill_rate_max`` in ten-thousandths; without a cap, the highest rate that the rules can store."""
        return HIGHEST_RATE_E4 if self.skill_rate_max == "none" else _scaled(self.skill_rate_max, _E4)

    @cached_property
    def salary_cap_cents(self) -> int:
        """``salary_max_cents``; without a cap, the highest salary that the rules can store."""
        return HIGHEST_SALARY_CENTS if self.salary_max_cents == "none" else self.salary_max_cents

    @cached_property
    def team_size(self) -> int:
        """``efficient_team_size``; without a cap, the largest staff that a company can have."""
        return _MOST_EMPLOYEES if self.efficient_team_size == "none" else self.efficient_team_size


def _ratio(value: float) -> tuple[int, int]:
    """Returns numerator and denominator, in lowest terms, of the shortest decimal that reads as ``value``."""
    return Fraction(repr(value)).as_integer_ratio()


def _scaled(value: float, factor: int) -> int:
    """Returns ``value`` x ``factor``; exact, because the kinds limit the decimal places."""
    return round(value * factor)
