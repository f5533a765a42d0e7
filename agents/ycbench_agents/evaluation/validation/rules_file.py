"""From a TOML file to rules."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypeVar

from ycbench_agents.evaluation.settings_table import SettingsTable
from ycbench_agents.evaluation.suite_file import load_suite
from ycbench_agents.evaluation.validation.rules import Limits, Replay, Rules, SuiteRule, Telemetry
from ycbench_env import load_config

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["load_rules"]

_Choice = TypeVar("_Choice", bound=str)
_KEYS: Final = (
    "name",
    "description",
    "suite",
    "version",
    "presets",
    "runs",
    "checkout",
    "replay",
    "limits",
    "telemetry",
)
_ALL: Final = "all"
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


def load_rules(path: Path, environ: Mapping[str, str]) -> Rules:
    """Return the rules in a file.

    The suite that they name is resolved without settings from options or the environment, whose only part in it are the
    secret seeds of a held-out suite.

    Args:
        path: The file.
        environ: Environment variables.

    Raises:
        SuiteError: It, or its suite, cannot be read or is not valid; the message names file, key and value.
        ConfigError: A configuration of its suite cannot be used.
    """
    table = SettingsTable.of_file(path, "rules")
    table.refuse_others(*_KEYS)
    return Rules(
        name=table.text("name"),
        description=table.text("description", "no description"),
        suite=_suite(table, path.parent, environ),
        version=_choice(table, "version", "this", "one"),
        presets=_choice(table, "presets", "named", "any"),
        runs=_choice(table, "runs", "planned", "any"),
        checkout=_choice(table, "checkout", "any", "clean"),
        replay=_replay(table.table("replay")),
        limits=_limits(table.table("limits")),
        telemetry=_telemetry(table.table("telemetry")),
    )


def _suite(table: SettingsTable, folder: Path, environ: Mapping[str, str]) -> SuiteRule | None:
    if "suite" not in table.values:
        return None
    suite = table.table("suite")
    suite.refuse_others("file", "policies", "digest")
    digest = suite.optional_text("digest")
    if digest is not None and not _DIGEST.fullmatch(digest):
        suite.refuse("digest", "64 hexadecimal digits, as digest in suite.json")
    loaded = load_suite(folder / suite.text("file"), lambda source: load_config(source, environ={}), environ)
    return SuiteRule(loaded.suite, _choice(suite, "policies", "same", "any"), digest)


def _replay(table: SettingsTable) -> Replay:
    table.refuse_others("runs", "seed", "policies")
    runs = None if table.values.get("runs", _ALL) == _ALL else table.optional_positive("runs")
    return Replay(runs, table.positive("seed", 1), policies=_flag(table, "policies"))


def _limits(table: SettingsTable) -> Limits:
    table.refuse_others("failed", "missing", "invalid_commands")
    return Limits(
        failed=_fraction(table, "failed") or 0.0,
        missing=_fraction(table, "missing") or 0.0,
        invalid_commands=_fraction(table, "invalid_commands"),
    )


def _telemetry(table: SettingsTable) -> Telemetry:
    table.refuse_others("tokens", "cost")
    return Telemetry(tokens=_flag(table, "tokens"), cost=_flag(table, "cost"))


def _choice(table: SettingsTable, key: str, default: _Choice, other: _Choice) -> _Choice:
    value = table.values.get(key, default)
    return next((each for each in (default, other) if each == value), None) or table.refuse(
        key, f'"{default}" or "{other}"'
    )


def _flag(table: SettingsTable, key: str) -> bool:
    value = table.values.get(key, False)
    return value if isinstance(value, bool) else table.refuse(key, "true or false")


def _fraction(table: SettingsTable, key: str) -> float | None:
    """Return a number from 0 to 1, None where there is none."""
    value = table.values.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        return table.refuse(key, "a fraction from 0 to 1")
    return float(value)
