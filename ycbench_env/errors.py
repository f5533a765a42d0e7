"""The errors that this package raises, and the one warning; a programmer's mistakes only.

An agent's text never raises: the environment answers it (see ``ycbench_env.env``).
"""


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
