"""What can be wrong with what statistics are asked of."""

__all__ = ["StatisticError"]


class StatisticError(ValueError):
    """A value or setting is none that statistics can be made of; the message says what was got and expected."""
