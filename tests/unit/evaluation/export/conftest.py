"""Records with all that a record can hold."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

from ycbench_agents.base import Decision
from ycbench_agents.records import RunPlan, RunRecord, play_run_sync
from ycbench_env.testing import tiny_config

if TYPE_CHECKING:
    from ycbench_agents.base import JsonObject
    from ycbench_env import Config, Observation

Said = str | tuple[str, ...]
TINY = tiny_config()


class Speaker:
    """Says what it was told to say, turn by turn, then nothing more than that time may pass."""

    def __init__(self, *sayings: Said) -> None:
        self._sayings = sayings
        self.reset(0)

    def reset(self, seed: int) -> None:
        del seed
        self._left = list(self._sayings)

    def act(self, observation: Observation) -> Said:
        del observation
        return self._left.pop(0) if self._left else "sim resume"


class Thinker(Speaker):
    """Tells of tokens and cost, too."""

    async def decide(self, observation: Observation) -> Decision:
        trace: JsonObject = {"prompt_tokens": 700, "completion_tokens": None, "cost_usd": 1, "cached_tokens": True}
        return Decision(self.act(observation), trace, {"latency_s": 0.5})

    def recall(self, observation: Observation, trace: JsonObject) -> Said:
        del trace
        return self.act(observation)


class Play(Protocol):
    """Plays a run that says this, turn by turn, then that time may pass; each into a folder of its own."""

    def __call__(
        self,
        *sayings: Said,
        thinks: bool = ...,
        config: Config = ...,
        seed: int = ...,
        max_turns: int | None = ...,
        scratchpad: bool = ...,
    ) -> RunRecord: ...


@pytest.fixture
def play(tmp_path: Path) -> Play:
    count = iter(range(1, 10))

    def play_run(
        *sayings: Said,
        thinks: bool = False,
        config: Config = TINY,
        seed: int = 1,
        max_turns: int | None = None,
        scratchpad: bool = True,
    ) -> RunRecord:
        plan = RunPlan(
            folder=tmp_path / f"run{next(count)}",
            config=config,
            seed=seed,
            policy=(Thinker if thinks else Speaker)(*sayings),
            name="speaker",
            max_turns=max_turns,
            scratchpad=scratchpad,
        )
        return play_run_sync(plan).record

    return play_run
