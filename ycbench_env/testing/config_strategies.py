"""A Hypothesis strategy for configurations; it follows the list of settings, so a new setting joins by itself."""

import datetime as dt
import math
from collections.abc import Iterable
from typing import Any, Final

from hypothesis import strategies as st

from ycbench_env.config import FIELDS, Config, Kind, Setting, load_config
from ycbench_env.config.kinds import many, number, whole
from ycbench_env.config.settings import KNOB_PARAMETERS, PARAMETERS
from ycbench_env.vocabulary import DOMAINS, TIERS

__all__ = ["valid_configs"]

_SMALL: Final[dict[str, Kind]] = {
    "sim.horizon_years": whole(1, 2),
    "world.num_employees": whole(0, 12),
    "world.num_market_tasks": whole(0, 30),
    "world.max_open_tasks": whole(0, 5, zero_is_none=True),
    "world.min_task_qty": whole(1, 1_000),
}
"""Settings whose whole range makes worlds that take long to play, or that are never put to the test in."""

_PLAYABLE: Final[dict[str, Kind]] = {
    **_SMALL,
    "sim.horizon_years": whole(1, 1),
    "loop.auto_advance_after_turns": whole(4, 12),
    "loop.max_turns": whole(0, 0, zero_is_none=True),
    "world.num_employees": whole(1, 9),
    "world.num_market_tasks": whole(3, 24),
    "world.initial_funds_cents": whole(10**7, 10**8),
    "world.market_prestige_ladder": many(whole(1, 4), 12),
    "world.min_task_qty": whole(1, 300),
    "world.prestige_min": number(0, 2, decimals=3),
    "world.initial_prestige_level": number(2, 6, decimals=3),
    "world.prestige_max": number(5, 12, decimals=3),
    "world.prestige_decay_per_day": number(0, 0.02, decimals=6),
    "world.prestige_qty_scale": number(0, 1),
    "world.salary_bump_pct": number(0, 0.2),
    "world.salary_max_cents": whole(0, 10**6, word="none"),
    "world.skill_rate_max": number(1, 30, decimals=4, word="none"),
    "world.efficient_team_size": whole(1, 5, word="none"),
    "world.trust_fragility": number(0, 1),
    "world.trust_focus_pressure": number(0, 1),
    "world.loyalty_severity": number(0, 5),
    "world.deadline_qty_per_day": number(5, 60),
    "world.deadline_min_biz_days": whole(0, 30),
    "world.dist.required_prestige": number(1, 5),
    "world.dist.required_qty": number(1, 1_000),
    "world.dist.reward_prestige_delta": number(0, 1),
    "world.dist.skill_boost": number(0, 1),
    **{f"world.salary_{tier}.{name}_cents": whole(0, 3 * 10**5) for tier in TIERS for name in ("min", "max")},
    **{f"world.salary_{tier}.rate_{name}": number(0.5, 20) for tier in TIERS for name in ("min", "max")},
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


def _field(field: Setting, kind: Kind) -> st.SearchStrategy[Any]:
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


def _values(kind: Kind) -> st.SearchStrategy[Any]:  # noqa: PLR0911 -- one for each type
    """Returns a strategy for the raw values of a kind."""
    words = [st.just(word) for word in kind.words]
    match kind.type:
        case "int":
            return st.one_of(*words, st.integers(int(kind.low), int(kind.high)))
        case "float":
            return st.one_of(*words, _floats(kind))
        case "text":
            letters = st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp"))
            return st.text(letters, min_size=int(kind.low), max_size=int(kind.high))
        case "choice":
            return st.sampled_from(kind.words)
        case "bool":
            return st.booleans()
        case "date":
            # Year 3000 leaves room for any horizon and deadline below year 9999.
            return st.dates(dt.date(1900, 1, 1), dt.date(3000, 12, 31)).map(dt.date.isoformat)
        case "list":
            assert kind.item  # noqa: S101 -- lists have one
            few = st.lists(_values(kind.item), max_size=min(int(kind.high), 12), unique=kind.ascending)
            return few.map(sorted) if kind.ascending else few


def _floats(kind: Kind) -> st.SearchStrategy[float]:
    """Returns a strategy for floats of an interval."""
    if kind.decimals is None:
        return st.floats(float(kind.low), float(kind.high), exclude_min=kind.above, exclude_max=kind.below)
    step = 10**kind.decimals
    first = math.ceil(kind.low * step) + kind.above
    last = math.floor(kind.high * step) - kind.below
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
