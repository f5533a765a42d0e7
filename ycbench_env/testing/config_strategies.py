"""A Hypothesis strategy for configurations; it follows the list of settings, so a new setting joins by itself."""

import datetime as dt
import math
from collections.abc import Iterable
from typing import Any, Final

from hypothesis import strategies as st

from ycbench_env.config import Config, load_config
from ycbench_env.config.distribution import KNOB_PARAMETERS
from ycbench_env.config.kind import (
    BoolKind,
    CapKind,
    ChoiceKind,
    DateKind,
    FloatKind,
    Interval,
    IntKind,
    Kind,
    LimitKind,
    SeedKind,
    TextKind,
)
from ycbench_env.config.list_kind import LadderKind, MilestonesKind
from ycbench_env.config.schema import FIELDS, PARAMETERS, Field
from ycbench_env.vocabulary import DOMAINS, TIERS

__all__ = ["valid_configs"]

_SMALL: Final[dict[str, Kind]] = {
    "sim.horizon_years": IntKind(Interval(1, 2)),
    "world.num_employees": IntKind(Interval(0, 12)),
    "world.num_market_tasks": IntKind(Interval(0, 30)),
    "world.max_open_tasks": LimitKind(5),
    "world.min_task_qty": IntKind(Interval(1, 1_000)),
}
"""Settings whose whole range makes worlds that take long to play, or that are never put to the test in."""

_PLAYABLE: Final[dict[str, Kind]] = {
    **_SMALL,
    "sim.horizon_years": IntKind(Interval(1, 1)),
    "loop.auto_advance_after_turns": IntKind(Interval(4, 12)),
    "loop.max_turns": LimitKind(0),
    "world.num_employees": IntKind(Interval(1, 9)),
    "world.num_market_tasks": IntKind(Interval(3, 24)),
    "world.initial_funds_cents": IntKind(Interval(10**7, 10**8)),
    "world.market_prestige_ladder": LadderKind(Interval(1, 4), longest=12),
    "world.min_task_qty": IntKind(Interval(1, 300)),
    "world.prestige_min": FloatKind(Interval(0, 2), decimals=3),
    "world.initial_prestige_level": FloatKind(Interval(2, 6), decimals=3),
    "world.prestige_max": FloatKind(Interval(5, 12), decimals=3),
    "world.prestige_decay_per_day": FloatKind(Interval(0, 0.02), decimals=6),
    "world.prestige_qty_scale": FloatKind(Interval(0, 1)),
    "world.salary_bump_pct": FloatKind(Interval(0, 0.2)),
    "world.salary_max_cents": CapKind(IntKind(Interval(0, 10**6))),
    "world.skill_rate_max": CapKind(FloatKind(Interval(1, 30), decimals=4)),
    "world.efficient_team_size": CapKind(IntKind(Interval(1, 5))),
    "world.trust_fragility": FloatKind(Interval(0, 1)),
    "world.trust_focus_pressure": FloatKind(Interval(0, 1)),
    "world.loyalty_severity": FloatKind(Interval(0, 5)),
    "world.deadline_qty_per_day": FloatKind(Interval(5, 60)),
    "world.deadline_min_biz_days": IntKind(Interval(0, 30)),
    "world.dist.required_prestige": FloatKind(Interval(1, 5)),
    "world.dist.required_qty": FloatKind(Interval(1, 1_000)),
    "world.dist.reward_prestige_delta": FloatKind(Interval(0, 1)),
    "world.dist.skill_boost": FloatKind(Interval(0, 1)),
    **{
        f"world.salary_{tier}.{name}_cents": IntKind(Interval(0, 3 * 10**5))
        for tier in TIERS
        for name in ("min", "max")
    },
    **{f"world.salary_{tier}.rate_{name}": FloatKind(Interval(0.5, 20)) for tier in TIERS for name in ("min", "max")},
}
"""Numbers of worlds in which work can be taken on, is done in weeks and pays; what is a word is left as it is."""

# Settings that must not fall, in order; drawn freely and then sorted.
_ORDERED: Final = (
    ("world.prestige_min", "world.initial_prestige_level", "world.prestige_max"),
    *((f"world.salary_{tier}.min_cents", f"world.salary_{tier}.max_cents") for tier in TIERS),
    *((f"world.salary_{tier}.rate_min", f"world.salary_{tier}.rate_max") for tier in TIERS),
)


@st.composite
def valid_configs(draw: st.DrawFn, *, small: bool = True, playable: bool = False) -> Config:
    """Draws a legal configuration, from the whole range of every setting.

    In most worlds of the whole range nothing can be accepted, or nothing is ever done.

    Args:
        draw: Given by Hypothesis.
        small: Whether to keep the horizon, the staff and the market small enough to play whole episodes.
        playable: Whether to keep the numbers such that tasks are mostly accepted and done; small then.
    """
    narrowed = _PLAYABLE if playable else _SMALL if small else {}
    values = {field.key: draw(_field(field, narrowed.get(field.key, field.kind))) for field in FIELDS}
    for keys in _ORDERED:
        values.update(zip(keys, sorted(values[key] for key in keys), strict=True))
    if draw(st.integers(0, 2)) == 0:
        values["world.num_clients"] = 0  # far more often than one in 16, because so much goes without clients
    shortest = 6 if playable else 1
    start = draw(st.integers(0, 24 - shortest))
    values["world.workday_start_hour"] = start
    values["world.workday_end_hour"] = draw(st.integers(start + shortest, 24))
    _bound_rewards(values)
    _bound_deadlines(values)
    return load_config(_nested(values), environ={})


def _field(field: Field, kind: Kind) -> st.SearchStrategy[Any]:
    """Returns a strategy for the plain value of one setting."""
    if not field.is_distribution:
        return _values(kind)
    return st.sampled_from(sorted(PARAMETERS)).flatmap(lambda word: _distributions(word, kind))


def _distributions(word: str, kind: Kind) -> st.SearchStrategy[dict[str, Any]]:
    """Returns a strategy for the table of one type of distribution."""
    parameters = {
        name: _values(kind if name in KNOB_PARAMETERS else setting.kind) for name, setting in PARAMETERS[word].items()
    }
    return st.fixed_dictionaries(parameters).map(lambda drawn: {"type": word, **_sorted_bounds(drawn)})


def _sorted_bounds(drawn: dict[str, Any]) -> dict[str, Any]:
    """Returns parameters with low <= mode <= high."""
    names = [name for name in ("low", "mode", "high") if name in drawn]
    return {**drawn, **dict(zip(names, sorted(drawn[name] for name in names), strict=True))}


def _values(kind: Kind) -> st.SearchStrategy[Any]:  # noqa: C901, PLR0911 - one line for each kind
    """Returns a strategy for the raw values of a kind."""
    match kind:
        case IntKind(interval):
            return st.integers(int(interval.low), int(interval.high))
        case FloatKind(interval, decimals):
            return _floats(interval, decimals)
        case TextKind(shortest, longest):
            letters = st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp"))
            return st.text(letters, min_size=shortest, max_size=longest)
        case ChoiceKind(choices):
            return st.sampled_from(choices)
        case SeedKind(interval):
            return st.just("run") | st.integers(int(interval.low), int(interval.high))
        case BoolKind():
            return st.booleans()
        case CapKind(number):
            return st.just("none") | _values(number)
        case LadderKind(interval, longest):
            return st.lists(st.integers(int(interval.low), int(interval.high)), max_size=min(longest, 12))
        case LimitKind(most):
            return st.integers(0, most)
        case DateKind():
            # Year 3000 leaves room for any horizon and deadline below year 9999.
            return st.dates(dt.date(1900, 1, 1), dt.date(3000, 12, 31)).map(dt.date.isoformat)
        case MilestonesKind(longest, decimals):
            steps = st.lists(st.integers(1, 10**decimals), unique=True, max_size=min(longest, 5))
            return steps.map(lambda chosen: [step / 10**decimals for step in sorted(chosen)])
        case _:
            message = f"no strategy for {kind!r}; add one here"
            raise NotImplementedError(message)


def _floats(interval: Interval, decimals: int | None) -> st.SearchStrategy[float]:
    """Returns a strategy for floats of an interval."""
    if decimals is None:
        low, high = float(interval.low), float(interval.high)
        return st.floats(low, high, exclude_min=interval.above, exclude_max=interval.below)
    step = 10**decimals
    first = math.ceil(interval.low * step) + interval.above
    last = math.floor(interval.high * step) - interval.below
    return st.integers(first, last).map(lambda steps: steps / step)


def _largest(distribution: dict[str, Any]) -> float:
    """Returns the largest draw of a distribution."""
    return distribution["value"] if "value" in distribution else distribution["high"]


def _highest_prestige(values: dict[str, Any]) -> float:
    """Returns the most prestige that any task may require."""
    return max(_largest(values["world.dist.required_prestige"]), *values["world.market_prestige_ladder"], 1)


def _bound_rewards(values: dict[str, Any]) -> None:
    """Makes rewards smaller where the largest would be too large."""
    prestige = _highest_prestige(values)
    growth = 1 + values["world.reward_prestige_scale"] * (prestige - 1)
    growth *= 1 + values["world.trust_gated_reward_boost"] * 4
    bound = math.floor(10**11 / growth)
    rewards = values["world.dist.reward_funds_cents"]
    for name in KNOB_PARAMETERS:
        if name in rewards:
            rewards[name] = min(rewards[name], bound)


def _bound_deadlines(values: dict[str, Any]) -> None:
    """Makes deadlines shorter where the latest would be later than year 9999."""
    prestige = _highest_prestige(values)
    quantity = _largest(values["world.dist.required_qty"])
    work = len(DOMAINS) * max(
        values["world.min_task_qty"], quantity * (1 + values["world.prestige_qty_scale"] * (prestige - 1))
    )
    most_days = 10**6
    values["world.deadline_qty_per_day"] = max(values["world.deadline_qty_per_day"], work / most_days)


def _nested(values: dict[str, Any]) -> dict[str, Any]:
    """Returns nested tables for values by dotted key."""
    tables: dict[str, Any] = {}
    for key, value in values.items():
        *path, name = key.split(".")
        table = _table(tables, path)
        table[name] = value
    return tables


def _table(tables: dict[str, Any], path: Iterable[str]) -> dict[str, Any]:
    """Returns the table at a path, made where it is missing."""
    for part in path:
        tables = tables.setdefault(part, {})
    return tables
