"""The words and figures that every view writes in the same way."""

from __future__ import annotations

import datetime as dt
import unicodedata
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_env.rules.clock import DAY_US, HOUR_US
from ycbench_env.units import CENTS_PER_DOLLAR, EPOCH

if TYPE_CHECKING:
    from ycbench_env.observation.dashboard import Dashboard

__all__ = ["clean", "dollars", "ending", "moment", "presentable", "runway", "short_dollars", "shortened", "time_left"]

_NAME_LENGTH: Final = 60
_ELLIPSIS: Final = "..."
_LONG_RUNWAY: Final = 1000  # months; beyond it figures would only take room
_BAD_CATEGORIES: Final = frozenset("CMZ")  # control and format, combining marks, separators
_SUFFIXES: Final = ((10**12, "T"), (10**9, "B"), (10**6, "M"), (10**3, "K"))
_LARGE: Final = 1000  # where %g would turn to powers of ten
_ENDINGS: Final = {"bankruptcy": "Bankrupt", "horizon_end": "Horizon reached", "max_turns": "Turn limit reached"}


def presentable(board: Dashboard) -> Dashboard:
    """Return the dashboard with every free text made safe to show; it may come from a stranger's configuration."""
    return attrs.evolve(
        board,
        company_name=clean(board.company_name) or "(unnamed company)",
        clients=tuple(attrs.evolve(client, name=clean(client.name)) for client in board.clients),
        tasks=tuple(
            task if task.client_name is None else attrs.evolve(task, client_name=clean(task.client_name))
            for task in board.tasks
        ),
    )


def clean(text: str, limit: int = _NAME_LENGTH) -> str:
    """Return a text as one short line: control characters, marks and odd blanks become "?".

    Escape sequences, line breaks, right-to-left overrides and piles of accents could otherwise break the layout.
    """
    composed = unicodedata.normalize("NFC", text)
    return shortened("".join(sign if _harmless(sign) else "?" for sign in composed).strip(), limit)


def _harmless(sign: str) -> bool:
    return sign == " " or unicodedata.category(sign)[0] not in _BAD_CATEGORIES


def shortened(text: str, limit: int) -> str:
    """Return a text cut to so many characters, the cut marked."""
    return text if len(text) <= limit else text[: limit - len(_ELLIPSIS)].rstrip() + _ELLIPSIS


def dollars(cents: int) -> str:
    """Return an amount as whole dollars, $1,234; rounded down, so that a debt of cents still shows as one."""
    whole = cents // CENTS_PER_DOLLAR
    return f"{'-' if whole < 0 else ''}${abs(whole):,}"


def short_dollars(cents: int) -> str:
    """Return an amount with 3 digits at most behind the sign: $950, $12.5K, $1.25M."""
    amount = float(f"{abs(cents) / CENTS_PER_DOLLAR:.3g}")  # rounded first, or 999,999 would become 1e+03K
    size, suffix = next((one for one in _SUFFIXES if amount >= one[0]), (1, ""))
    figure = f"{amount / size:,.0f}" if amount >= _LARGE * size else f"{amount / size:.3g}"
    return f"{'-' if cents < 0 else ''}${figure}{suffix}"


def moment(time_us: int) -> str:
    """Return simulated time as YYYY-MM-DD HH:MM, the same in every locale."""
    return (EPOCH + dt.timedelta(microseconds=time_us)).isoformat(" ", "minutes")


def time_left(deadline_us: int, now_us: int) -> str:
    """Return how far a deadline is: "in 10 d", "in 5 h", "late 2 d"; at the very instant it is not late."""
    days, rest = divmod(abs(deadline_us - now_us), DAY_US)
    hours = rest // HOUR_US
    amount = f"{days} d" if days else f"{hours} h" if hours else "<1 h"
    return f"{'late' if now_us > deadline_us else 'in'} {amount}"


def runway(board: Dashboard) -> str:
    """Return the runway in words."""
    months = board.runway_months
    if months is None:
        return "endless"
    return f"{months:.1f} months" if months < _LONG_RUNWAY else f"{_LONG_RUNWAY}+ months"


def ending(board: Dashboard) -> str | None:
    """Return why the episode is over in words, None while it goes on."""
    return None if board.end_reason is None else _ENDINGS.get(board.end_reason, board.end_reason)
