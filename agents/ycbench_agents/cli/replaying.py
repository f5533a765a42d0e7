"""Warnings about a list of turns that was made for another episode than it is played in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ycbench_agents.cli.output import complain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ycbench_agents.planner import PlanFacts
    from ycbench_env import Config

__all__ = ["REPLAY", "warn_of_other_episodes"]

REPLAY: Final = "replay"
"""The policy that plays a list of turns, without a look at where it is."""

_SHOWN: Final = 3


def warn_of_other_episodes(
    parameters: Mapping[str, object], configs: Mapping[str, Config], seeds: Sequence[int]
) -> None:
    """Say on stderr where policy ``replay`` plays a plan under a configuration or a seed that it was not made for.

    Args:
        parameters: Parameters of the policy; a list that does not say what it was made for is played silently.
        configs: Configurations by label.
        seeds: Run seeds.
    """
    from ycbench_agents.planner import plan_facts  # noqa: PLC0415 -- slow to import

    path = parameters.get("path")
    facts = plan_facts(path) if isinstance(path, str) else None
    for difference in () if facts is None else _differences(facts, configs, seeds):
        complain(f"warning: {path} is a plan for {difference}, where its funds are not what they were planned to be")


def _differences(facts: PlanFacts, configs: Mapping[str, Config], seeds: Sequence[int]) -> Iterator[str]:
    found = {label: config.digest() for label, config in configs.items()}
    other = [f"{label} ({digest[:12]})" for label, digest in found.items() if digest != facts.config_digest]
    if other:
        yield f"configuration {facts.config_digest[:12]} and is played under {_listed(other)}"
    other = [str(seed) for seed in seeds if seed != facts.seed]
    if other:
        yield f"seed {facts.seed} and is played with seed {_listed(other)}"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    return f"{', '.join(names[:_SHOWN])}{f' and {more} more' if more > 0 else ''}"
