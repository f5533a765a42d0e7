"""The gymnasium ids of this package."""

from __future__ import annotations

from typing import Final

from gymnasium.envs.registration import register, registry

PRESET_OF_ID: Final = {
    "YCBench-v0": "default",
    "YCBenchReference-v0": "reference",
    "YCBenchClassicTutorial-v0": "classic-tutorial",
    "YCBenchClassicEasy-v0": "classic-easy",
    "YCBenchClassicMedium-v0": "classic-medium",
    "YCBenchClassicHard-v0": "classic-hard",
    "YCBenchClassicNightmare-v0": "classic-nightmare",
    "YCBenchClassicDefault-v0": "classic-default",
}
"""Each id and the preset that it plays when no config is given."""


def register_envs() -> None:
    """Register all ids; a second call changes nothing."""
    for env_id, preset in PRESET_OF_ID.items():
        if env_id not in registry:
            register(
                id=env_id,
                entry_point="ycbench_env.env:YCBenchEnv",
                # Gymnasium 1.4's passive checker counts a reset that raised (for an invalid seed) as checked, and then
                # fails in the next step. The tests of this package check the same.
                disable_env_checker=True,
                kwargs={"config": preset},
            )
