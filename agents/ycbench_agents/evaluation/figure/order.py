"""In which order figures draw policies: that of the rows of their frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ycbench_agents.evaluation.figure.column import texts

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd  # pyright: ignore[reportMissingTypeStubs] -- it has none, and is typed all the same

__all__ = ["ordered"]


def ordered(frame: pd.DataFrame, policies: Iterable[str]) -> pd.DataFrame:
    """Return a frame with its rows in the order of policies; within a policy they stay as they were.

    Args:
        frame: Rows of policy and whatever else.
        policies: Labels; those of the frame that are not among them come last, as they were. Best first is
            ``[row.policy for row in leaderboard(evaluation)]``, of one configuration.

    Raises:
        ValueError: The frame has no column policy.
    """
    named = texts(frame, "policy")
    places = {policy: place for place, policy in enumerate(dict.fromkeys([*policies, *named]))}
    # pandas' types do not tell what a list of places picks.
    return cast("pd.DataFrame", frame.iloc[sorted(range(len(named)), key=lambda row: places[named[row]])])
