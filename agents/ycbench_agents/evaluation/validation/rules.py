"""Rules for what may be published; a frozen value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import attrs

from ycbench_agents.evaluation.validation.digest import json_digest

if TYPE_CHECKING:
    from ycbench_agents.base import JsonObject
    from ycbench_agents.evaluation.old_suite import Suite

__all__ = ["Limits", "Replay", "Rules", "SuiteRule", "Telemetry"]


@attrs.frozen
class SuiteRule:
    """Which suite must have been played.

    Args:
        suite: The suite.
        policies: same: by the very policies of the suite; any: by any, on its presets and seeds, as often.
        digest: What the digest of the evaluation's suite must be, besides; None for no such pin.
    """

    suite: Suite
    policies: Literal["same", "any"] = "same"
    digest: str | None = None

    def digest_of(self, suite: Suite) -> str:
        """Return the digest of what of a suite must be the same."""
        return suite.digest() if self.policies == "same" else attrs.evolve(suite, policies=()).digest()

    def to_dict(self) -> JsonObject:
        """Return it as JSON values."""
        return {"digest": self.digest_of(self.suite), "policies": self.policies, "pinned": self.digest}


@attrs.frozen
class Replay:
    """Which records are played again.

    Args:
        runs: How many, drawn at random; None for all.
        seed: Seed of the draw.
        policies: Whether policies of this package are asked again, too, and must say the same.
    """

    runs: int | None = None
    seed: int = 1
    policies: bool = False


@attrs.frozen
class Limits:
    """How much may be amiss, as fractions from 0 to 1.

    Args:
        failed: Failed episodes among the planned ones.
        missing: Episodes among the planned ones that were not played.
        invalid_commands: Ungrammatical commands among all commands of a policy; None only reports them.
    """

    failed: float = 0.0
    missing: float = 0.0
    invalid_commands: float | None = None


@attrs.frozen
class Telemetry:
    """What must be known of language models.

    Args:
        tokens: Tokens of every turn.
        cost: Cost of every turn.
    """

    tokens: bool = False
    cost: bool = False


@attrs.frozen
class Rules:
    """What an evaluation must be like to be valid.

    Args:
        name: Name of the rules.
        description: What they are for.
        suite: Which suite must have been played; None for any.
        version: this: all is of the version that validates; one: of any one version.
        presets: named: a configuration is the preset that it is called after; any: anything goes.
        runs: planned: there are runs of planned episodes alone; any: others may lie beside them.
        checkout: clean: all runs are of one commit, with no tracked file changed; any: that does not matter.
        replay: Which records are played again.
        limits: How much may be amiss.
        telemetry: What must be known of language models.
    """

    name: str
    description: str
    suite: SuiteRule | None = None
    version: Literal["this", "one"] = "this"
    presets: Literal["named", "any"] = "named"
    runs: Literal["planned", "any"] = "planned"
    checkout: Literal["clean", "any"] = "any"
    replay: Replay = attrs.field(factory=Replay)
    limits: Limits = attrs.field(factory=Limits)
    telemetry: Telemetry = attrs.field(factory=Telemetry)

    def digest(self) -> str:
        """Return the SHA-256, as hex, of all that decides what is valid; name and description do not count."""
        return json_digest(
            {
                "suite": None if self.suite is None else self.suite.to_dict(),
                "version": self.version,
                "presets": self.presets,
                "runs": self.runs,
                "checkout": self.checkout,
                "replay": attrs.asdict(self.replay),
                "limits": attrs.asdict(self.limits),
                "telemetry": attrs.asdict(self.telemetry),
            }
        )
