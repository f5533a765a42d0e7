"""Policies that can be recalled from a record: what they decide, and what they recall of it."""

from __future__ import annotations

import asyncio
import copy
import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from ycbench_agents.base import DeliberatingPolicy, PolicyStoppedError, policy_seed
from ycbench_agents.testing.asking import Student, shown
from ycbench_agents.testing.report import PolicyConformanceError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ycbench_agents.base import Decision, Policy
    from ycbench_env import Observation

__all__ = ["check_recall"]

_TURNS: Final = 20


def check_recall(make: Callable[[], Policy], seed: int, observations: Sequence[Observation]) -> None:
    """Check that a fresh policy recalls what another one decided, where policies of this kind can.

    Raises:
        PolicyConformanceError: It recalls something else, or its trace is no JSON.
    """
    asked, recalling = Student(make).policy, Student(make).policy
    if not isinstance(asked, DeliberatingPolicy) or not isinstance(recalling, DeliberatingPolicy):
        return
    asked.reset(policy_seed(seed))
    recalling.reset(policy_seed(seed))
    with ThreadPoolExecutor(1) as worker:  # a notebook has an event loop of its own in this thread
        decisions = worker.submit(asyncio.run, _decide(asked, observations[:_TURNS])).result()
    for number, (observation, decision) in enumerate(zip(observations, decisions, strict=False), 1):
        place = f"seed {seed}, turn {number}"
        try:
            trace = json.loads(json.dumps(decision.trace, allow_nan=False))
            turn = recalling.recall(copy.deepcopy(observation), trace)
        except (TypeError, ValueError) as error:
            msg = (
                f"{place}: what decide returned cannot be recalled: {error}; a trace is JSON, and all that recall needs"
            )
            raise PolicyConformanceError(msg) from error
        if turn != decision.turn:
            msg = f"{place}: recall says {shown(turn)}, decide said {shown(decision.turn)}; keep the turn in the trace"
            raise PolicyConformanceError(msg)


async def _decide(policy: DeliberatingPolicy, observations: Sequence[Observation]) -> list[Decision]:
    """Return what a policy decides, up to where it cannot go on."""
    decisions: list[Decision] = []
    for observation in observations:
        try:
            decisions.append(await policy.decide(copy.deepcopy(observation)))
        except PolicyStoppedError:
            break
    return decisions
