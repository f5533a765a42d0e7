"""The files of an evaluation, and where each stands."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, Self

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

    @classmethod
    def around(cls, path: Path) -> Self | None:
        """Return the evaluation whose folder, folder of runs, or run a path is; None where it is none's.

        That there is one is also told by the files for whoever plays, so a suite.json that is lost or cannot be read
        makes no runs public.
        """
        place = Path(os.path.realpath(path))  # unlike resolve, it takes links that lead to themselves
        own = (cls(each) for each in (place, *place.parents[:2]))
        inside = (each for each in own if place in (each.path, each.runs) or place.parent == each.runs)
        return next((each for each in inside if _is_one(each)), None)

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


def _is_one(folder: EvaluationFolder) -> bool:
    """Return whether an evaluation was ever played into a folder."""
    return folder.runs.is_dir() and any(os.path.lexists(each) for each in (folder.suite, folder.lock, folder.playing))
