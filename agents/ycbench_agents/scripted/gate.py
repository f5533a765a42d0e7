"""Which listed tasks can be had, where a market lists more than can be accepted.

Rule sets differ: either each domain of a task must have the prestige that it requires, or the highest prestige over
all domains counts. Nothing that is read says which. A market that lists only what can be accepted leaves no question;
one that lists everything is read hopefully until a refusal shows that each domain counts. Trust is read hopefully, too:
what a client refused for want of it is not asked for again until that client has been served well.
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
    """What prestige and trust open, as far as refusals have told in one episode."""

    def __init__(self) -> None:
        """Make one that has met no refusal."""
        self._each_domain = False
        self._all_listed: bool | None = None  # None: it has seen no task yet
        self._refused_trust: dict[str, int] = {}  # the least that each client required of what it refused

    def learn(self, observation: Observation) -> None:
        """Take in refusals of tasks that only the hopeful reading opens; such tasks are still listed."""
        refused = {command.split()[-1] for command in answer.refused(observation) if command.startswith("task accept")}
        if self._all_listed is None and (first := answer.offers(observation)):
            self._all_listed = lists_everything(first)
        for done in answer.completions(observation):
            if done.success:
                self._refused_trust.pop(done.client, None)
        for offer in answer.offers(observation) if refused else ():
            if offer.task_id in refused:
                self._learn_refusal(offer, observation)

    def _learn_refusal(self, offer: Offer, observation: Observation) -> None:
        """Lay a refusal to trust if that may be lacking, else to prestige.

        Should it have been prestige all the same, tasks that ask for no trust will tell.
        """
        trust, levels = answer.trust(observation), answer.prestige(observation)
        if self._asks_trust(offer) and trust.get(offer.client, 0.0) < offer.required_trust:
            least = self._refused_trust.get(offer.client, offer.required_trust)
            self._refused_trust[offer.client] = min(least, offer.required_trust)
        elif levels:
            self._each_domain |= not _each_reaches(offer, levels) and _highest_reaches(offer, levels)

    def opened(self, observation: Observation) -> tuple[Offer, ...]:
        """Return the listed tasks that can be had; whatever prestige they require where the last turn did not ask."""
        levels = answer.prestige(observation)
        return tuple(offer for offer in answer.offers(observation) if self.opens(offer, levels))

    def opens(self, offer: Offer, levels: Mapping[str, float]) -> bool:
        """Return whether prestige and trust suffice for a task, going by what is known of the rules.

        Args:
            offer: The task.
            levels: Prestige by domain, empty where it is not known.
        """
        if offer.required_trust >= self._refused_trust.get(offer.client, offer.required_trust + 1):
            return False
        if not levels:
            return True
        return _each_reaches(offer, levels) if self._each_domain else _highest_reaches(offer, levels)

    def doubts(self, offer: Offer, levels: Mapping[str, float]) -> bool:
        """Return whether only a hopeful reading of the rules opens a task, so that it may be refused yet."""
        return self._asks_trust(offer) or (bool(levels) and not _each_reaches(offer, levels))

    def _asks_trust(self, offer: Offer) -> bool:
        """Return whether trust may be lacking for a task: where only what can be had is listed, it never is."""
        return bool(self._all_listed) and offer.required_trust > 0


def _each_reaches(offer: Offer, levels: Mapping[str, float]) -> bool:
    return all(levels.get(domain, 0.0) >= offer.required_prestige for domain, _ in offer.work)


def _highest_reaches(offer: Offer, levels: Mapping[str, float]) -> bool:
    return max(levels.values()) >= offer.required_prestige


def lists_everything(offers: Sequence[Offer]) -> bool:
    """Return whether a market seems to list more than can be accepted: it did before the company did anything.

    A market without clients belongs to a rule set that lists everything. Where there are clients, a newcomer is shown
    no task that requires more prestige than it has, or any trust, unless all are shown.

    Args:
        offers: What an episode's first look at the market lists.
    """
    return any(not offer.client or offer.required_prestige > _NEWCOMER or offer.required_trust > 0 for offer in offers)
