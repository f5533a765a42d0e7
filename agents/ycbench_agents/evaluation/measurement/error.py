"""What can keep a run from being measured, or measures from being read."""

from __future__ import annotations

__all__ = ["MeasurementError"]


class MeasurementError(ValueError):
    """A record does not play as it was recorded, or measures are none of this version; the text says what to do."""
