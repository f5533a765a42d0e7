"""The floor, idle, and the paper's baseline, greedy."""

from __future__ import annotations

from typing import Final

from ycbench_agents.scripted import answers
from ycbench_agents.scripted.commands import WAIT, start
from ycbench_agents.scripted.one_at_a_time import WIDE_LOOK, Baseline, everybody, take
from ycbench_env import Observation

_LOOK: Final = "market browse --limit 1"  # the market is listed by reward, best first


class IdlePolicy:
    """Plays empty turns: the environment moves time on, payroll after payroll, until the funds are gone."""

    def reset(self, seed: int) -> None:
        """Nothing to forget and nothing to draw."""

    def act(self, observation: Observation) -> str:  # noqa: ARG002 -- it looks at nothing
        """Return an empty turn."""
        return ""


class GreedyPolicy(Baseline):
    """Takes the highest-reward task on the market, puts everybody on it and waits; one task at a time.

    It falls for adversarial clients, whose market rewards are high. Where the market lists everything, it asks for the
    company's prestige, too, and takes the best-paid task that this opens.
    """

    def act(self, observation: Observation) -> str:
        """Return the next turn; every turn ends with a look at the market for the next decision."""
        if self._gate.lists_everything is not False:
            self._gate.learn(observation)
        wide = bool(self._gate.lists_everything)
        look = WIDE_LOOK if wide else _LOOK
        if observation["active_tasks"] > 0:
            return f"{WAIT}\n{look}"
        team = everybody(observation)
        if wide:
            offers = self._gate.opened(observation) if answers.prestige(observation) else ()
            return take(observation, offers[0].task_id, team, doubtful=True, looks=[look]) if offers and team else look
        last = ({}, *answers.results(observation))[-1]
        listed = last["output"].get("tasks") if last.get("command", "").startswith("market browse") else None
        if not listed or not team:
            return look  # the first turn, or nothing to take: the environment moves time on after some such turns
        return "\n".join((*start(listed[0]["task_id"], team), WAIT, look))
