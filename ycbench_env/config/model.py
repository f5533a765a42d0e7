"""The configuration as values: frozen classes that mirror the TOML tables, with the knobs derived from them.

There are no defaults here: the preset ``default`` is their one home. A setting's type, range, description and rule
stand beside it, and validation, environment variables and the documentation's table all read them from here.

Invariants:
    * No instance holds an illegal value, and no ``Config`` holds inconsistent ones.
    * Equal configurations have equal hashes, digests and TOML, however their numbers were written.
"""

import datetime as dt
from collections.abc import Iterator
from typing import Annotated, Any, cast

import attrs

from ycbench_env.config.distribution import Distribution
from ycbench_env.config.kind import DateKind, FloatKind, Interval, IntKind, LimitKind, TextKind
from ycbench_env.config.setting import Setting, annotation_of, value_class
from ycbench_env.config.world import WorldConfig

__all__ = ["AgentConfig", "Config", "LoopConfig", "SimConfig"]


@value_class
class SimConfig:
    """Table ``[sim]``: the clock and the company."""

    start_date: Annotated[dt.date, Setting(DateKind(), "first day; the clock starts at workday start", "Y-3.1")]
    horizon_years: Annotated[int, Setting(IntKind(Interval(1, 100)), "years until the horizon", "Y-3.1")]
    company_name: Annotated[str, Setting(TextKind(0, 200), "name of the company")]


@value_class
class LoopConfig:
    """Table ``[loop]``: turns."""

    auto_advance_after_turns: Annotated[
        int,
        Setting(IntKind(Interval(0, 10**6)), "turns without the clock moving before it is moved; 0 = never", "Y-9"),
    ]
    max_turns: Annotated[int | None, Setting(LimitKind(10**9), "turns after which the episode is truncated", "Y-9")]


@value_class
class AgentConfig:
    """Table ``[agent]``: what agents are given; the world does not read it."""

    history_keep_rounds: Annotated[
        int, Setting(IntKind(Interval(1, 10**6)), "latest turns of the conversation that an agent keeps")
    ]
    temperature: Annotated[float, Setting(FloatKind(Interval(0, 2)), "sampling temperature of a language model")]
    top_p: Annotated[float, Setting(FloatKind(Interval(0, 1)), "nucleus sampling mass of a language model")]
    request_timeout_seconds: Annotated[
        float, Setting(FloatKind(Interval(0, 86_400, above=True)), "longest wait for one reply, in seconds")
    ]
    retry_max_attempts: Annotated[
        int, Setting(IntKind(Interval(1, 100)), "attempts at one request, the first included")
    ]
    retry_backoff_seconds: Annotated[
        float, Setting(FloatKind(Interval(0, 3_600)), "first wait between attempts, in seconds; 0 = none")
    ]


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

    name: Annotated[str, Setting(TextKind(1, 200), "name; a file without one takes its own, without the suffix")]
    description: Annotated[str, Setting(TextKind(0, 2_000), "what the configuration is for")]
    sim: SimConfig
    loop: LoopConfig
    agent: AgentConfig
    world: WorldConfig

    def __attrs_post_init__(self) -> None:
        """Refuses settings that do not agree with each other."""
        # Imported here because checking needs the list of settings, which is derived from these classes.
        from ycbench_env.config.layer import check_config  # noqa: PLC0415

        check_config(self)

    def to_dict(self) -> dict[str, Any]:
        """Returns every setting as nested tables of plain JSON values; ``load_config`` makes an equal one of it.

        A date becomes ISO text, a missing limit 0, so that the tables stand alone whatever the preset ``default`` says.
        """
        return _table(self)

    def to_toml(self) -> str:
        """Returns every setting as TOML text; as a file, ``load_config`` makes an equal configuration of it."""
        import tomli_w  # noqa: PLC0415 - needed only by those who save

        return tomli_w.dumps(self.to_dict())

    def digest(self) -> str:
        """Returns 64 hexadecimal digits that name the settings, whatever they are called.

        SHA-256 of the compact ASCII JSON of ``to_dict()`` with sorted keys, without ``name`` and ``description``, which
        change nothing, and without the settings that came later and have their neutral value: so a configuration keeps
        its digest when the library learns new settings.
        """
        import hashlib  # noqa: PLC0415 - as above
        import json  # noqa: PLC0415 - as above

        table = _table(self, neutral=False)
        del table["name"], table["description"]
        text = json.dumps(table, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
        return hashlib.sha256(text.encode("ascii")).hexdigest()


def _table(instance: object, *, neutral: bool = True) -> dict[str, Any]:
    """Returns an attrs instance as a table of plain values, tables and distributions included.

    Args:
        instance: The instance.
        neutral: Whether settings that came later are in it also where they change nothing.
    """
    return {name: _plain(value, neutral=neutral) for name, value in _items(instance, neutral=neutral)}


def _items(instance: object, *, neutral: bool) -> Iterator[tuple[str, object]]:
    """Yields names and values of an instance's fields; a distribution's ``type`` first."""
    if isinstance(instance, Distribution):
        yield "type", instance.type
    for field in attrs.fields(cast("type[attrs.AttrsInstance]", type(instance))):
        value, setting = getattr(instance, field.name), annotation_of(field)[1]
        if neutral or not isinstance(setting, Setting) or value != setting.neutral:
            yield field.name, value


def _plain(value: object, *, neutral: bool) -> object:
    """Returns a value in the form that TOML and JSON share."""
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
