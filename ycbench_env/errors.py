"""The errors that this package raises, and the one warning; a programmer's mistakes only.

An agent's text never raises: the environment answers it (see ``ycbench_env.env``).
"""

from collections.abc import Generator
from contextlib import contextmanager

from ycbench_env.text import shown


class YCBenchError(Exception):
    """Base class of this package's errors."""


class ConfigError(YCBenchError, ValueError):
    """A configuration cannot be used; the message shows source, dotted key, value and how to put it right."""


class ConfigWarning(UserWarning):
    """A configuration key of the public implementation is accepted and has no effect."""


class SeedError(YCBenchError, ValueError):
    """A run seed is no non-negative integer; the message shows what was got."""


class StateError(YCBenchError, ValueError):
    """Bytes are no state of this version, or a state does not fit its configuration."""


class MissingExtraError(YCBenchError, ImportError):
    """An optional library is not installed; the message names the extra that brings it."""


def whole_number(
    name: str, value: object, least: int, most: int | None = None, error: type[Exception] = ConfigError
) -> int:
    """Return a value that is a whole number in a range; anything else is an error that shows it."""
    if type(value) is int and least <= value and (most is None or value <= most):
        return value
    bounds = f"of at least {least:,}" if most is None else f"from {least:,} to {most:,}"
    message = f"{name}: got {shown(value)}, expected a whole number {bounds}"
    raise error(message)


@contextmanager
def needs_extra(extra: str, what: str) -> Generator[None]:
    """Turn a failed import into a MissingExtraError about what needs which library, like "reports need jinja2"."""
    try:
        yield
    except ImportError as error:  # its text is quoted, for a library that is installed and broken looks the same
        message = f"{what} ({error}): pip install '.[{extra}]' in the folder of this project"
        raise MissingExtraError(message) from error
