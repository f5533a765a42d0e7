"""All that episodes of several worlds return, as hashes; a program prints a line for each world."""

# ruff: noqa: ANN401 -- JSON of many shapes

from __future__ import annotations

import hashlib
import json
import random
from typing import Any, Final

from ycbench_env import YCBenchEnv
from ycbench_env.testing import sample_turn
from ycbench_env.wrappers import ScratchpadMemory

WORLDS: Final[tuple[dict[str, Any], ...]] = (
    {"extends": "default"},
    {"extends": "reference", "world": {"task_progress_milestones": [0.25, 0.5], "num_employees": 11}},
    {"world": {"world_seed": "run", "num_clients": 9, "prestige_decay_per_day": 0.004}},
    {"extends": "classic-medium", "world": {"num_market_tasks": 40, "num_employees": 5}},
)


def transcript(config: dict[str, Any], seed: int, turns: int) -> str:
    """SHA-256 of all that is returned in sampled turns, of the state's bytes and the configuration."""
    env = ScratchpadMemory(YCBenchEnv(config, render_mode="ansi"))
    base: Any = env.unwrapped
    seen = hashlib.sha256()

    def look(observation: dict[str, Any], *others: Any) -> None:
        seen.update(json.dumps([{key: str(value) for key, value in observation.items()}, *others]).encode())

    look(*env.reset(seed=seed))
    rng = random.Random(seed)  # noqa: S311 -- a play, no secret
    for _ in range(turns):
        turn = f"{sample_turn(base.get_state(), rng)}\nscratchpad append --content x"
        look(*env.step(turn), env.render(), base.state_hash())
        if base.get_state().end_reason:
            look(*env.reset())
    env.action_space.seed(5)
    env.observation_space.seed(5)
    seen.update(json.dumps([env.action_space.sample() for _ in range(20)]).encode())
    seen.update(json.dumps(env.observation_space.sample()["notes"]).encode())
    return f"{seen.hexdigest()} {hashlib.sha256(base.get_state().to_bytes()).hexdigest()} {base.config.digest()}"


if __name__ == "__main__":
    for world in WORLDS:
        print(transcript(world, 11, 120))  # noqa: T201 -- what it is for
