"""Who plays a row of a suite under one configuration."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Self

import attrs

from ycbench_agents.base import DeliberatingPolicy
from ycbench_agents.registry import make_policy

if TYPE_CHECKING:
    from collections.abc import Callable

    from ycbench_agents.base import JsonObject, Policy
    from ycbench_agents.evaluation.suite import SuitePolicy
    from ycbench_agents.records.strict_json import Table
    from ycbench_env import Config

__all__ = ["Casting", "Player", "PlayerIdentity", "scripted_player"]


@attrs.frozen
class PlayerIdentity:
    """What the record of a run tells of who played.

    Args:
        policy: Label of the suite's policy.
        preset: Label of the configuration.
        name: Name of the policy.
        settings: Its public settings.
        model: Name of its model, None for a scripted policy.
    """

    policy: str
    preset: str
    name: str
    settings: JsonObject
    model: str | None = None

    def to_dict(self) -> JsonObject:
        """Return it as JSON values."""
        return attrs.asdict(self, recurse=False)

    @classmethod
    def from_table(cls, table: Table) -> Self:
        """Return what ``to_dict`` wrote.

        Raises:
            RecordError: A value is missing or of another type.
        """
        return cls(
            policy=table.get("policy", str),
            preset=table.get("preset", str),
            name=table.get("name", str),
            settings=table.table("settings").values,
            model=table.optional("model", str),
        )


@attrs.frozen
class Player:
    """Who plays.

    Args:
        make: Returns a new policy; every run has one of its own.
        settings: What the record tells of it.
        model: Name of the model, None for a scripted policy.
        deliberates: Whether it waits for answers, so that many play at once in one process.
    """

    make: Callable[[], Policy]
    settings: JsonObject
    model: str | None = None
    deliberates: bool = False

    def identity(self, policy: SuitePolicy, preset: str) -> PlayerIdentity:
        """Return what is told of it."""
        return PlayerIdentity(policy.label, preset, policy.name, self.settings, self.model)


Casting = "Callable[[SuitePolicy, Config], Player]"


def scripted_player(policy: SuitePolicy, config: Config) -> Player:
    """Return who plays a policy that asks no language model.

    Raises:
        PolicyError: There is no such policy, or it refuses a parameter.
    """
    del config
    one = make_policy(policy.name, **policy.parameters)
    settings: JsonObject = {"parameters": json.loads(json.dumps(policy.parameters))}
    return Player(
        make=lambda: make_policy(policy.name, **policy.parameters),
        settings=settings,
        deliberates=isinstance(one, DeliberatingPolicy),
    )
