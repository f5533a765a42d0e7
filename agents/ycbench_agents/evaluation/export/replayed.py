"""Recorded turns together with what was seen before and after each, verified on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from ycbench_agents.records.episode import replay_turn, require_equal
from ycbench_agents.records.replaying import fresh_episode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ycbench_agents.records import RunRecord, TurnRecord
    from ycbench_env import Observation

__all__ = ["SeenTurn", "seen_turns"]


@attrs.frozen
class SeenTurn:
    """A turn and what was seen.

    Args:
        record: The turn.
        before: Observation that was answered.
        after: Observation that came of it.
        return_to_go_cents: Sum of the rewards from this turn to the end of the record, in cents.
    """

    record: TurnRecord
    before: Observation
    after: Observation
    return_to_go_cents: int


def seen_turns(record: RunRecord) -> Iterator[SeenTurn]:
    """Yield the turns of a run with what was seen, from first to last, by playing them again.

    Raises:
        RecordError: The record is damaged.
        RecordMismatchError: A turn turns out differently now.

    Warns:
        RecordWarning: The last line was cut short, turns are lost, or another version wrote the record.
    """
    to_go_cents = sum(turn.funds_delta_cents for turn in record.turns())
    episode = fresh_episode(record, None)
    for turn in record.turns():
        before = episode.observation
        require_equal(replay_turn(episode, turn, None), record.folder, turn.turn)
        yield SeenTurn(turn, before, episode.observation, to_go_cents)
        to_go_cents -= turn.funds_delta_cents
