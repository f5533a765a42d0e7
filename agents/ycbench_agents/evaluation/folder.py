"""The files of an evaluation, and where each stands."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import attrs

__all__ = ["MEASURES_FILE", "EvaluationFolder"]

MEASURES_FILE: Final = "measures.json"
"""Measures of a run, beside its record."""


@attrs.frozen
class EvaluationFolder:
    """The folder of an evaluation.

    suite.json and results.json name no secret seed. Of a held-out suite everything else stays where it was played.

    Args:
        path: The folder.
    """

    path: Path = attrs.field(converter=Path)

    @property
    def suite(self) -> Path:
        """What was to be played, and where it was."""
        return self.path / "suite.json"

    @property
    def results(self) -> Path:
        """What came of it."""
        return self.path / "results.json"

    @property
    def failures(self) -> Path:
        """Why episodes failed."""
        return self.path / "failures.json"

    @property
    def lock(self) -> Path:
        """Held by whoever plays."""
        return self.path / "evaluation.lock"

    @property
    def runs(self) -> Path:
        """Folder of the runs."""
        return self.path / "runs"

    @property
    def playing(self) -> Path:
        """Folder of markers: the episodes that are being played, or were when their process was killed."""
        return self.path / "playing"
