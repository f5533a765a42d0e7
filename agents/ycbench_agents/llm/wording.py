"""Figures in words, as the system prompt tells them."""

from __future__ import annotations

from decimal import Decimal

__all__ = ["clock", "counted", "dollars", "exact", "listed", "percent", "rounded"]


def exact(value: float) -> str:
    """Return a setting's number as it was written, without exponent."""
    return format(Decimal(repr(value)).normalize(), "f")


def rounded(value: float) -> str:
    """Return a computed number with 4 significant digits, without exponent."""
    return format(Decimal(f"{value:.4g}").normalize(), "f")


def percent(fraction: float) -> str:
    """Return a fraction as an exact percentage; in doubles 0.07 x 100 is above 7."""
    return format((Decimal(repr(fraction)) * 100).normalize(), "f") + "%"


def dollars(cents: int) -> str:
    """Return an amount as the observation writes it."""
    return f"${cents // 100:,}.{cents % 100:02d}"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural where it is not 1."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def listed(parts: list[str]) -> str:
    """Return parts as "a", "a and b" or "a, b and c"."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def clock(hour: int) -> str:
    """Return an hour of the day."""
    return f"{hour:02d}:00"
