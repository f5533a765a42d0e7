"""Hypothesis strategies: commands, turns and hostile text; legal configurations."""

import datetime as dt
import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple, cast

import attrs
from hypothesis import strategies as st

from ycbench_env.actions import DEFAULT_GRAMMAR, CommandSpec, Grammar, Kind, OptionSpec, format_command
from ycbench_env.config import FIELDS, Config, Setting, load_config
from ycbench_env.config.settings import KNOB_PARAMETERS, PARAMETERS
from ycbench_env.types.command import Command, Help
from ycbench_env.vocabulary import DOMAINS, TIERS

# ---- commands, turns whose meaning is known, and hostile text

_LARGEST: Final = 10**18 - 1
# Characters and runs of them that mean something to the lexer, or look as if they did.
_SIGNS: Final = (
    *"\"'`\\;|&<>$#-=, \n\r\t",
    *"\u201c\u201d\u2018\u2019\xab\uff02\u2014\u2011\u2212\xa0\u200b\u2028\x85\ufeff\u3000\x00\x1f",
    *("```", "```bash\n", "\n```", "$ ", "$(", "&&", "||", "\r\n", "\\\n", '\\"', "\\\\", " # ", "--", "\u2014a"),
)
_FRAGMENTS: Final = (
    *_SIGNS,
    *("yc-bench ", "task ", "accept ", "sim resume", "task list", "scratchpad write ", "--content ", "--task-id=T-1 "),
    *("--employees ", "Emp_1", "Emp_4", "--help", "help", "market browse --limit ", "1.5", "-3", "client's"),
    "\U0001f642",
)


class Turn(NamedTuple):
    """A turn's text and what it must mean."""

    text: str
    commands: tuple[Command, ...]


def any_texts() -> st.SearchStrategy[str]:
    """Texts that UTF-8 can hold, many of them full of quotes, separators and blanks."""
    anything = st.text(st.characters(codec="utf-8"), max_size=20)
    return anything | st.lists(st.sampled_from(_SIGNS) | anything, max_size=6).map("".join)


def hostile_texts() -> st.SearchStrategy[str]:
    """Texts made of pieces of commands and of everything that could upset a parser, lone surrogates included."""
    return st.lists(st.sampled_from(_FRAGMENTS) | st.text(max_size=4), max_size=12).map("".join) | st.text()


def hostile_actions() -> st.SearchStrategy[object]:
    """Any object as an action."""
    atoms = st.none() | st.booleans() | st.integers() | st.floats() | st.binary(max_size=5) | hostile_texts()
    nested = st.recursive(
        atoms, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    )
    return nested | st.lists(hostile_texts(), max_size=4) | st.lists(hostile_texts(), max_size=4).map(tuple)


def valid_commands(grammar: Grammar = DEFAULT_GRAMMAR) -> st.SearchStrategy[Command]:
    """Every command of the grammar, ``Help`` included."""
    topics = [(), *((noun,) for noun in grammar.entries), *(spec.verb for spec in grammar.commands)]
    return st.one_of(*map(_commands_of, grammar.commands), st.sampled_from(topics).map(Help))


@st.composite
def turns(draw: st.DrawFn, grammar: Grammar = DEFAULT_GRAMMAR) -> Turn:
    """Turns in which each command is spelt in some valid way: order, ``=``, blanks, quotes, prompts, comments."""
    commands = draw(st.lists(valid_commands(grammar), max_size=4))
    text = draw(_BLANKS)
    for place, command in enumerate(commands):
        if place:
            text += draw(_SEPARATORS)
        text += draw(st.sampled_from(["", "", " ", "$ ", "yc-bench ", "$ yc-bench\xa0"]))
        text += draw(_spelling(command, grammar))
    return Turn(text + draw(_BLANKS), tuple(commands))


_SEPARATORS: Final = st.sampled_from(["\n", "\r\n", ";", " && ", "&&", " # it's; a note\n", " \\\n\n", "\u2028;\n"])
_BLANKS: Final = st.sampled_from(["", " ", "\t ", "\xa0", "\n", "\ufeff"])


@st.composite
def _spelling(draw: st.DrawFn, command: Command, grammar: Grammar) -> str:
    """Another text for a command than ``format_command`` gives."""
    spec = next((spec for spec in grammar.commands if spec.command_type is type(command)), None)
    if spec is None:
        return format_command(command, grammar)
    blank = st.sampled_from([" ", "  ", "\t", "\xa0", "\u200b", " \\\n "])
    text = spec.verb[0] + draw(blank) + spec.verb[1]
    for option in draw(st.permutations(spec.options)):
        value = getattr(command, option.field)
        if value is not None:
            name = draw(st.sampled_from([option.name, "\u2014" + option.name[2:], "--" + option.name[2:]]))
            text += draw(blank) + name + draw(st.just("=") | blank) + draw(_quoting(option, value))
    return text


def _quoting(option: OptionSpec, value: object) -> st.SearchStrategy[str]:
    """The ways to write a value."""
    text = option.kind.write(value)
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    ways = [f'"{escaped}"']
    if "'" not in text:
        ways.append(f"'{text}'")
    if not set(text) & set("\u201c\u201d\u201e\u201f\xab\xbb\u2033\u2036\u301d\u301e\u301f\uff02"):
        ways += [f"\u201c{escaped}\u201d", f"\xab{escaped}\xbb", f"\u201e{escaped}\u201c", f'\uff02{escaped}"']
    if text.isascii() and text.replace("_", "").isalnum():
        ways.append(text)
    if option.kind.name == "names" and isinstance(value, tuple):
        each = [option.kind.write((name,)) for name in cast("tuple[str, ...]", value)]
        if not any("'" in name for name in each):
            ways.append(" , ".join(f"'{name}'" for name in each))
    return st.sampled_from(ways)


def _commands_of(spec: CommandSpec) -> st.SearchStrategy[Command]:
    required = {option.field: _values(option.kind) for option in spec.options if option.required}
    free = {o.field: _values(o.kind) for o in spec.options if not o.required and o.name not in spec.one_of}
    alternatives = [{o.field: _values(o.kind)} for o in spec.options if o.name in spec.one_of] or [{}]
    return st.one_of(
        *(
            st.fixed_dictionaries({**required, **one}, optional=free).map(lambda given: spec.command_type(**given))
            for one in alternatives
        )
    )


def _values(kind: Kind) -> st.SearchStrategy[Any]:  # noqa: PLR0911 -- one for each kind
    names = any_texts().filter(bool)
    days = st.dates(min_value=dt.date(1, 1, 1))
    match kind.name:
        case "task" | "employee":
            return st.sampled_from(["Task-3", "Emp_1"]) | names
        case "names":
            return st.lists(st.sampled_from(["Emp_1", "Emp_4"]) | names, min_size=1, max_size=4).map(tuple)
        case "choice":
            return st.sampled_from(kind.words)
        case "integer":
            return st.integers(kind.minimum, _LARGEST)
        case "date":
            return days
        case "month":
            return days.map(lambda day: day.replace(day=1))
        case "text":
            return any_texts()


# ---- configurations; they follow the list of settings, so a new setting joins by itself

_SMALL: Final = {
    "sim.horizon_years": (1, 2),
    "world.num_employees": (0, 12),
    "world.num_market_tasks": (0, 30),
    "world.max_open_tasks": (0, 5),
    "world.min_task_qty": (1, 1_000),
}
"""Ranges of settings whose whole range makes worlds that take long to play."""

# Settings that must not fall, in order; drawn freely and then sorted.
_ORDERED: Final = (
    ("world.prestige_min", "world.initial_prestige_level", "world.prestige_max"),
    *((f"world.salary_{tier}.min_cents", f"world.salary_{tier}.max_cents") for tier in TIERS),
    *((f"world.salary_{tier}.rate_min", f"world.salary_{tier}.rate_max") for tier in TIERS),
)


@st.composite
def valid_configs(
    draw: st.DrawFn, *, small: bool = True, ranges: Mapping[str, tuple[float, float]] = MappingProxyType({})
) -> Config:
    """Draws a legal configuration, from the whole range of every setting.

    In most worlds of the whole range nothing can be accepted, or nothing is ever done.

    Args:
        draw: Given by Hypothesis.
        small: Whether to keep the horizon, the staff and the market small enough to play whole episodes.
        ranges: Narrower ranges (lowest, highest) of numbers by dotted key, such as ``{"world.num_employees": (1, 9)}``.
    """
    ranges = {**(_SMALL if small else {}), **ranges}
    values: dict[str, Any] = {}
    for field in FIELDS:
        low, high = ranges.get(field.key, (field.low, field.high))
        narrowed = attrs.evolve(field, low=low, high=high)
        values[field.key] = draw((_distributions if field.type == "distribution" else _setting_values)(narrowed))
    for keys in _ORDERED:
        values.update(zip(keys, sorted(values[key] for key in keys), strict=True))
    if draw(st.integers(0, 2)) == 0:
        values["world.num_clients"] = 0  # far more often than one in 16, because so much goes without clients
    start = draw(st.integers(0, 23))
    values["world.workday_start_hour"], values["world.workday_end_hour"] = start, draw(st.integers(start + 1, 24))
    _bound(values)
    tables: dict[str, Any] = {}
    for key, value in values.items():
        *path, name = key.split(".")
        table = tables
        for part in path:
            table = table.setdefault(part, {})
        table[name] = value
    return load_config(tables, environ={})


def _bound(values: dict[str, Any]) -> None:
    """Make rewards smaller where the largest would be too large, and deadlines shorter that are after year 9999."""
    required, work = (
        distribution.get("value", distribution.get("high"))
        for distribution in (values["world.dist.required_prestige"], values["world.dist.required_qty"])
    )
    levels = max(required, *values["world.market_prestige_ladder"], 1) - 1  # above the first, at most
    growth = (1 + values["world.reward_prestige_scale"] * levels) * (1 + values["world.trust_gated_reward_boost"] * 4)
    rewards = values["world.dist.reward_funds_cents"]
    rewards |= {name: min(rewards[name], math.floor(10**11 / growth)) for name in rewards.keys() & set(KNOB_PARAMETERS)}
    work = max(values["world.min_task_qty"], work * (1 + values["world.prestige_qty_scale"] * levels))
    least = len(DOMAINS) * work / 10**6  # days
    values["world.deadline_qty_per_day"] = max(values["world.deadline_qty_per_day"], least)


@st.composite
def _distributions(draw: st.DrawFn, setting: Setting) -> dict[str, Any]:
    """Draw the table of a distribution, with low <= mode <= high."""
    word = draw(st.sampled_from(sorted(PARAMETERS)))
    drawn = {
        name: draw(_setting_values(setting if name in KNOB_PARAMETERS else parameter))
        for name, parameter in PARAMETERS[word].items()
    }
    names = [name for name in ("low", "mode", "high") if name in drawn]
    return {"type": word, **drawn, **dict(zip(names, sorted(drawn[name] for name in names), strict=True))}


def _setting_values(setting: Setting) -> st.SearchStrategy[Any]:  # noqa: PLR0911 -- one for each type
    if setting.longest:
        one = _setting_values(attrs.evolve(setting, longest=0))
        few = st.lists(one, max_size=min(setting.longest, 12), unique=setting.ascending)
        return few.map(sorted) if setting.ascending else few
    words = [st.just(word) for word in setting.words]
    match setting.type:
        case "int":
            return st.one_of(*words, st.integers(int(setting.low), int(setting.high)))
        case "float" | "distribution" if setting.decimals is None:
            low, high = float(setting.low), float(setting.high)
            return st.one_of(*words, st.floats(low, high, exclude_min=setting.above, exclude_max=setting.below))
        case "float" | "distribution":
            step = 10 ** (setting.decimals or 0)
            first, last = math.ceil(setting.low * step) + setting.above, math.floor(setting.high * step) - setting.below
            return st.one_of(*words, st.integers(first, last).map(lambda steps: steps / step))
        case "text":
            letters = st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp"))
            return st.text(letters, min_size=int(setting.low), max_size=int(setting.high))
        case "choice":
            return st.one_of(words)
        case "bool":
            return st.booleans()
        case "date":
            # Year 3000 leaves room for any horizon and deadline below year 9999.
            return st.dates(dt.date(1900, 1, 1), dt.date(3000, 12, 31)).map(dt.date.isoformat)
