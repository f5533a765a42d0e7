"""A plan: the commands of an episode, turn by turn, as a text file that anybody can replay to the same score."""

from __future__ import annotations

import gzip
import os
import zlib
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.scripted.replay import read_text, read_turns, write_turns
from ycbench_env import YCBenchEnv

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ycbench_agents.planner.course import Course
    from ycbench_env import Config

__all__ = ["Plan", "PlanError", "PlanFacts", "load_plan", "plan_facts", "plan_of", "replay_plan", "save_plan"]

_TITLE: Final = "A privileged plan for YC-Bench: made knowing all that is hidden and all that is to come."
_PACKED: Final = ".gz"
_FACTS: Final = ("preset", "config", "seed", "final_funds_cents", "interrupted")


class PlanError(ValueError):
    """A file is no plan, or a plan does not replay to its score; the message shows what was got and expected."""


@attrs.frozen
class Plan:
    """What to say in each turn of one episode, found by somebody who saw all of it. Privileged.

    Args:
        preset: Name of the configuration.
        config_digest: Digest of the configuration.
        seed: Run seed of the episode.
        turns: One text a turn, a command a line; an empty text lets a turn pass.
        final_funds_cents: Funds to which it replays.
        interrupted: Whether Ctrl-C ended the search for it.
    """

    preset: str
    config_digest: str
    seed: int
    turns: tuple[str, ...]
    final_funds_cents: int
    interrupted: bool = False


@attrs.frozen
class PlanFacts:
    """The episode that a plan is for.

    Args:
        config_digest: Digest of the configuration.
        seed: Run seed.
    """

    config_digest: str
    seed: int


def plan_of(config: Config, seed: int, course: Course, *, interrupted: bool = False) -> Plan:
    """Return a course as a plan."""
    turns = tuple(["\n".join(turn) for turn in course.turns])
    return Plan(config.name, config.digest(), seed, turns, course.funds_cents, interrupted)


def replay_plan(config: Config, plan: Plan | str | os.PathLike[str]) -> int:
    """Return the final funds, in cents, of a plan played through ``YCBenchEnv.step``; checks that they are its score.

    Args:
        config: The configuration that it was made for.
        plan: The plan, or a file that ``save_plan`` wrote.

    Raises:
        OSError: There is no such file.
        PlanError: It is no plan, the configuration is another one, or the funds are; the message shows both.
    """
    if not isinstance(plan, Plan):
        plan = load_plan(plan)
    if config.digest() != plan.config_digest:
        msg = f"plan: got configuration {config.digest()[:12]}, expected {plan.config_digest[:12]} ({plan.preset})"
        raise PlanError(msg)
    env = YCBenchEnv(config)
    env.reset(seed=plan.seed)
    for turn in plan.turns:
        env.step(turn)
    funds = env.get_state().funds_cents
    if funds != plan.final_funds_cents:
        msg = f"plan: got {funds} cents when replayed, expected {plan.final_funds_cents}; make the plan anew"
        raise PlanError(msg)
    return funds


def save_plan(path: str | os.PathLike[str], plan: Plan) -> None:
    """Write a plan, packed where the name ends in ``.gz``; the policy ``replay`` reads either.

    Whatever interrupts it, the file is the old one or the new one, whole.

    Raises:
        OSError: It cannot be written.
    """
    values = (_one_line(plan.preset), plan.config_digest, plan.seed, plan.final_funds_cents, plan.interrupted)
    comments = [_TITLE, *[f"{name}: {value}" for name, value in zip(_FACTS, values, strict=True)]]
    data = write_turns(plan.turns, comments).encode("utf-8")
    file = Path(path)
    if file.suffix == _PACKED:
        data = gzip.compress(data, mtime=0)  # equal plans make equal files
    part = file.with_name(f"{file.name}.{os.getpid()}.part")
    try:
        part.write_bytes(data)
        part.replace(file)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _one_line(text: str) -> str:
    return " ".join(text.split())


def load_plan(path: str | os.PathLike[str]) -> Plan:
    """Return the plan that ``save_plan`` wrote.

    Raises:
        OSError: There is no such file.
        PlanError: It is no plan; the message shows the line that is missing or wrong.
    """
    try:
        text = read_text(Path(path))
        turns = read_turns(text)
    except (EOFError, ValueError, gzip.BadGzipFile, zlib.error) as error:
        msg = f"{path}: {error}; expected a plan that ycbench plan wrote"
        raise PlanError(msg) from None
    facts = _facts(text.split("\n"))
    try:
        return Plan(
            preset=facts["preset"],
            config_digest=facts["config"],
            seed=int(facts["seed"]),
            turns=turns,
            final_funds_cents=int(facts["final_funds_cents"]),
            interrupted=facts["interrupted"] == "True",
        )
    except (KeyError, ValueError) as error:
        msg = f"{path}: got no usable line for {error}, expected # name: value for each of {', '.join(_FACTS)}"
        raise PlanError(msg) from None


def plan_facts(path: str | os.PathLike[str]) -> PlanFacts | None:
    """Return which episode a list of turns says, at its head, that it is a plan for; None where it says nothing."""
    try:
        lines = read_text(Path(path)).split("\n")
        facts = _facts(takewhile(lambda line: line.startswith("#"), lines))
        return PlanFacts(facts["config"], int(facts["seed"]))
    except (OSError, EOFError, KeyError, ValueError, zlib.error):  # whoever plays the list says what is wrong with it
        return None


def _facts(lines: Iterable[str]) -> dict[str, str]:
    """Return what lines like ``# name: value`` say."""
    return dict([line[2:].split(": ", 1) for line in lines if line.startswith("# ") and ": " in line])
