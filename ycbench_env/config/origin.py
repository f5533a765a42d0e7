"""Where a setting comes from."""

from typing import Final, Literal

import attrs

__all__ = ["ARGUMENT", "Origin"]

_WORDS: Final = {
    "argument": "argument",
    "configuration": "configuration {}",
    "environment": "environment variable {}",
    "file": "{}",
    "preset": "preset {}",
}


@attrs.frozen
class Origin:
    """The place that a setting comes from; as text, what messages call it.

    Attributes:
        kind: An argument of the call (``overrides`` or a mapping), a ``Config`` that was given, an environment
            variable, a file or a preset.
        name: Name of the variable, configuration or preset; path of the file; empty for an argument.
    """

    kind: Literal["argument", "configuration", "environment", "file", "preset"]
    name: str = ""

    def __str__(self) -> str:
        return _WORDS[self.kind].format(self.name)


ARGUMENT: Final = Origin("argument")
"""Where settings come from that a caller hands over."""
