"""From a suite to the run of each planned episode, and to its folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import attrs

from ycbench_agents.records import RunIdentity, run_name
from ycbench_agents.records.strict_json import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ycbench_agents.base import JsonObject
    from ycbench_agents.evaluation.episode import EpisodeKey
    from ycbench_agents.evaluation.old_suite import Suite, SuitePreset
    from ycbench_agents.evaluation.player import PlayerIdentity

__all__ = ["PlannedEpisode", "planned_episodes"]


@attrs.frozen
class PlannedEpisode:
    """An episode of a suite and the run that plays it.

    Args:
        key: Which episode.
        identity: What its run must be.
    """

    key: EpisodeKey
    identity: RunIdentity = attrs.field(repr=False)

    @property
    def name(self) -> str:
        """Name of the run's folder; of a repetition with its number behind."""
        again = f"-repeat{self.key.repeat}" if self.key.repeat > 1 else ""
        return f"{run_name(self.identity)}{again}"


def planned_episodes(
    suite: Suite, players: Iterable[PlayerIdentity], seeds: Mapping[str, int], version: str
) -> tuple[PlannedEpisode, ...]:
    """Return the planned episodes whose seeds and players are known, in the order of the suite.

    Args:
        suite: The suite.
        players: Who plays each policy under each configuration; who plays what nobody asked for need not be known.
        seeds: Seed of each name.
        version: Version of ycbench-env that plays.
    """
    who = {(player.policy, player.preset): player for player in players}
    presets = {
        preset.label: (preset, cast("JsonObject", plain(preset.config.to_dict(), "config"))) for preset in suite.presets
    }
    return tuple(
        PlannedEpisode(
            key,
            _identity(
                who[key.policy, key.preset], *presets[key.preset], seeds[key.seed], suite.limits.max_turns, version
            ),
        )
        for key in suite.episodes()
        if key.seed in seeds and (key.policy, key.preset) in who
    )


def _identity(  # noqa: PLR0913 -- all that an identity has
    player: PlayerIdentity, preset: SuitePreset, config: JsonObject, seed: int, max_turns: int | None, version: str
) -> RunIdentity:
    return RunIdentity(
        version=version,
        config=config,
        config_digest=preset.config.digest(),
        seed=seed,
        policy=player.name,
        settings=player.settings,
        model=player.model,
        max_turns=max_turns,
        scratchpad=True,
    )
