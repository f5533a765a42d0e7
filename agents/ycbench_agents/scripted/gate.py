"""Which listed tasks the company's prestige opens, where a market lists more than can be accepted.

Rule sets differ: either each domain of a task must have the prestige that it requires, or the highest prestige over
all domains counts. Nothing that is read says which. A market that lists only what can be accepted leaves no question;
one that lists everything is read hopefully until a refusal shows that each domain counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ycbench_agents.scripted import answer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ycbench_agents.scripted.answer import Offer
    from ycbench_env import Observation

__all__ = ["PrestigeGate", "lists_everything"]

_NEWCOMER: Final = 1  # prestige of a company that has done nothing yet


class PrestigeGate:
    """What prestige opens, as far as refusals have told in one episode."""

    def __init__(self) -> None:
        """Make one that has met no refusal."""
        self._each_domain = False

    def learn(self, observation: Observation) -> None:
        """Take in refusals of tasks that only the hopeful reading opens; such tasks are still listed."""
        refused = {command.split()[-1] for command in answer.refused(observation) if command.startswith("task accept")}
        levels = answer.prestige(observation)
        for offer in answer.offers(observation) if refused and levels else ():
            doubted = not _each_reaches(offer, levels) and _highest_reaches(offer, levels)
            self._each_domain |= doubted and offer.task_id in refused

    def opened(self, observation: Observation) -> tuple[Offer, ...]:
        """Return the listed tasks that prestige opens; all of them where the last turn did not ask for prestige."""
        levels = answer.prestige(observation)
        return tuple(offer for offer in answer.offers(observation) if self.opens(offer, levels))

    def opens(self, offer: Offer, levels: Mapping[str, float]) -> bool:
        """Return whether prestige suffices for a task, going by what is known of the rule.

        Args:
            offer: The task.
            levels: Prestige by domain, empty where it is not known.
        """
        if not levels:
            return True
        return _each_reaches(offer, levels) if self._each_domain else _highest_reaches(offer, levels)

    def doubts(self, offer: Offer, levels: Mapping[str, float]) -> bool:
        """Return whether only the hopeful reading of the rule opens a task, so that it may be refused yet."""
        return bool(levels) and not _each_reaches(offer, levels)


def _each_reaches(offer: Offer, levels: Mapping[str, float]) -> bool:
    return all(levels.get(domain, 0.0) >= offer.required_prestige for domain, _ in offer.work)


def _highest_reaches(offer: Offer, levels: Mapping[str, float]) -> bool:
    return max(levels.values()) >= offer.required_prestige


def lists_everything(offers: Sequence[Offer]) -> bool:
    """Return whether a market seems to list more than can be accepted: it did before the company did anything.

    A market without clients belongs to a rule set that lists everything. Where there are clients, a newcomer is shown
    no task that requires more prestige than it has, unless all are shown.

    Args:
        offers: What an episode's first look at the market lists.
    """
    return any(not offer.client or offer.required_prestige > _NEWCOMER for offer in offers)
