"""Options that several commands take alike."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

from cyclopts import Parameter

__all__ = ["NO_DEFAULT", "SEVERAL", "Files", "Presets", "Seeds", "Settings"]

SEVERAL: Final = Parameter(consume_multiple=(1, None), negative=(), show_default=" ".join)
NO_DEFAULT: Final = Parameter(show_default=False)

Presets = Annotated[tuple[str, ...], SEVERAL, NO_DEFAULT, Parameter(name="--preset", metavar="NAME...")]
Files = Annotated[tuple[Path, ...], SEVERAL, NO_DEFAULT, Parameter(name="--config", metavar="FILE...")]
Seeds = Annotated[tuple[str, ...], SEVERAL, Parameter(metavar="SEED...")]
Settings = Annotated[tuple[str, ...], SEVERAL, NO_DEFAULT, Parameter(name="--set", metavar="KEY=VALUE...")]
