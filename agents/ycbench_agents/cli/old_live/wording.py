"""Words and figures of the screen and the log; text of models and configurations made harmless.

Invariants of ``harmless``, each of them a test, for any text: the result is one line without control, format,
combining or unassigned characters and without halves of characters, so that a terminal shows it in as many cells as
are counted for it; it has no more characters than the limit; with ``ascii_only`` it is ASCII.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

from ycbench_env.text import printable as one_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from ycbench_agents.cli.old_live.figures import CostTotal, TokenSum
    from ycbench_agents.cli.old_live.state import RunView
    from ycbench_agents.records import RunPlan

__all__ = [
    "cost",
    "cost_total",
    "dollars",
    "duration",
    "harmless",
    "remaining",
    "run_names",
    "short_count",
    "short_dollars",
    "state_word",
    "token_sum",
]

# Halves of flags, shades of skin, and parts and fillers of Korean syllables: terminals disagree on their width.
_JOINING: Final = re.compile("[\u115f-\u11ff\u3164\uffa0\ud7b0-\ud7ff\U0001f1e6-\U0001f1ff\U0001f3fb-\U0001f3ff]")
_SUFFIXES: Final = ((10**12, "T"), (10**9, "B"), (10**6, "M"), (10**3, "K"))
_LARGE: Final = 1000  # where %g would turn to powers of ten
_SMALLEST_COST: Final = 10**-4  # dollars
_MINUTE_S: Final = 60
_HOUR_S: Final = 3_600
_DAY_S: Final = 86_400
_ENDS: Final = {"bankruptcy": "bankrupt", "horizon_end": "survived", "max_turns": "cut off"}


def harmless(text: str, limit: int, *, ascii_only: bool = False) -> str:
    r"""Return the beginning of a text as one line: line breaks as ``\n``, what could disturb a terminal as ``?``."""
    line = one_line(unicodedata.normalize("NFC", text[:limit]))[:limit]
    if line.isascii():
        return line  # whatever is not printable is an escape by now
    line = "".join(sign if _is_plain(sign) else " " if unicodedata.category(sign) == "Zs" else "?" for sign in line)
    line = _JOINING.sub("?", line)
    return line.encode("ascii", "replace").decode("ascii") if ascii_only else line


def _is_plain(sign: str) -> bool:
    return sign.isprintable() and unicodedata.category(sign)[0] != "M"


def dollars(cents: int) -> str:
    """Return an amount as whole dollars, $1,234; rounded down, so that a debt of cents still shows as one."""
    whole = cents // 100
    return f"{'-' if whole < 0 else ''}${abs(whole):,}"


def short_dollars(cents: int) -> str:
    """Return an amount with about 3 digits: $950, $12.5K, $1.25M."""
    return f"{'-' if cents < 0 else ''}${_short(abs(cents) / 100)}"


def short_count(number: int) -> str:
    """Return a number with about 3 digits: 950, 12.5K, 1.25M."""
    return _short(number)


def _short(number: float) -> str:
    rounded = float(f"{number:.3g}")  # first, or 999,999 would become 1e+03K
    size, suffix = next((one for one in _SUFFIXES if rounded >= one[0]), (1, ""))
    figure = f"{rounded / size:,.0f}" if rounded >= _LARGE * size else f"{rounded / size:.3g}"
    return f"{figure}{suffix}"


def token_sum(tokens: TokenSum, turns: int) -> str:
    """Return the tokens of so many turns: ``unknown``, or with a + where some turns did not tell."""
    if tokens.unknown_turns >= turns:
        return "unknown"
    return f"{short_count(tokens.known)}{'+' if tokens.unknown_turns else ''}"


def cost(usd: Decimal | None) -> str:
    """Return what a turn cost: $1.23, $0.0123, or ``unknown``."""
    if usd is None:
        return "unknown"
    if 0 < usd < _SMALLEST_COST:
        return "<$0.0001"
    return f"${usd:,.2f}" if usd >= 1 or not usd else f"${usd:.4f}"


def cost_total(total: CostTotal, turns: int) -> str:
    """Return what so many turns cost: ``unknown``, or with a + where some turns did not tell."""
    if total.unknown_turns >= turns:
        return "unknown"
    return f"{cost(total.known_usd)}{'+' if total.unknown_turns else ''}"


def duration(seconds: float) -> str:
    """Return a time as 45s, 12m 30s, 3h 05m or 2d 4h."""
    whole = int(seconds)
    if whole < _MINUTE_S:
        return f"{whole}s"
    if whole < _HOUR_S:
        return f"{whole // _MINUTE_S}m {whole % _MINUTE_S:02d}s"
    if whole < _DAY_S:
        return f"{whole // _HOUR_S}h {whole % _HOUR_S // _MINUTE_S:02d}m"
    return f"{whole // _DAY_S:,}d {whole % _DAY_S // _HOUR_S}h"


def remaining(seconds: float) -> str:
    """Return an estimated time; one that has run out is no 0."""
    return duration(seconds) if seconds >= 1 else "soon"


def state_word(view: RunView) -> str:
    """Return what a run is doing, or what has become of it, in one or two words."""
    return _ENDS.get(view.reason or "", view.status) if view.status == "finished" else view.status


def run_names(plans: Sequence[RunPlan]) -> list[str]:
    """Return a short name for each plan: policy or model, configuration, seed; what all have in common is left out.

    Where that does not tell them apart, they are called by their folders.
    """
    several = len({plan.name for plan in plans}) > 1  # then a model's name may be that of another policy
    who = [f"{plan.name} {plan.model}" if several and plan.model else plan.model or plan.name for plan in plans]
    parts = [(name, plan.config.name, f"seed {plan.seed}") for name, plan in zip(who, plans, strict=True)]
    telling = [len(set(column)) > 1 or len(plans) == 1 for column in zip(*parts, strict=True)]
    names = [", ".join(part for part, tells in zip(row, telling, strict=True) if tells) for row in parts]
    return names if len(set(names)) == len(names) else [plan.folder.name for plan in plans]
