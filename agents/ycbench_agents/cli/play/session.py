"""One episode that is played turn by turn, and what has been seen of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ycbench_agents.cli.console import dollars
from ycbench_agents.cli.play.knowledge import Knowledge

if TYPE_CHECKING:
    from ycbench_env import CommandSpace, Config, Observation

__all__ = ["Session"]


class Session:
    """An episode: the turns that were played, and the observation after the last of them.

    Args:
        config: The configuration.
        seed: Run seed.
        scratchpad: Whether there are notes.
    """

    def __init__(self, config: Config, seed: int, *, scratchpad: bool) -> None:
        from ycbench_env import YCBenchEnv  # noqa: PLC0415 -- slow to import, and --help does not need it
        from ycbench_env.wrappers import ScratchpadMemory  # noqa: PLC0415 -- as above

        env = YCBenchEnv(config)
        self.space: CommandSpace = env.action_space
        self._env: Any = ScratchpadMemory(env) if scratchpad else env
        self.turns: list[str] = []
        self.over: str | None = None
        self.observation: Observation
        self.observation, _ = self._env.reset(seed=seed)
        self.knowledge = Knowledge.of(self.observation)

    def step(self, turn: str) -> None:
        """Play a turn."""
        self.observation, _, terminated, truncated, info = self._env.step(turn)
        self.turns.append(turn)
        self.knowledge = self.knowledge.after(self.observation)
        if terminated or truncated:
            self.over = info["terminal_reason"]

    @property
    def fate(self) -> str:
        """What became of the company, in a sentence."""
        seen = self.observation
        date, funds = seen["sim_time"][:10], dollars(int(seen["funds_cents"]))
        count = len(self.turns)
        after = f"after {count} {'turn' if count == 1 else 'turns'}, funds {funds}"
        match self.over:
            case "horizon_end":
                return f"The company survived until {date}: {after}."
            case "bankruptcy":
                return f"The company went bankrupt on {date}: {after}."
            case None:
                return f"You left the company on {date}: {after}."
            case reason:
                return f"The episode was truncated ({reason}) on {date}: {after}."
