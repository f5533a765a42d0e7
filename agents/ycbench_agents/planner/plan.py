"""A plan: the commands of an episode, turn by turn, as a text file that anybody can replay to the same score."""

from __future__ import annotations

import gzip
import itertools
import os
from pathlib import Path
from typing import Final

import attrs

from ycbench_agents.files import write_file
from ycbench_agents.planner.foresight import PlannerError
from ycbench_agents.scripted.replay import read_text, read_turns
from ycbench_env import Config, YCBenchEnv

_TITLE: Final = "A privileged plan for YC-Bench: made knowing all that is hidden and all that is to come."
_FACTS: Final = ("preset", "config", "seed", "final_funds_cents", "interrupted")


@attrs.frozen
class Plan:
    """The turns of one episode, found by a search that sees all of it. Privileged."""

    preset: str  # name of the configuration
    config_digest: str
    seed: int  # of the run
    turns: tuple[str, ...]  # a command a line; an empty text lets a turn pass
    final_funds_cents: int  # to which it replays
    interrupted: bool = False  # whether Ctrl-C ended the search for it


def replay_plan(config: Config, plan: Plan) -> int:
    """Return the final funds, in cents, of a plan played through ``YCBenchEnv.step``; checks that they are its score.

    Raises:
        PlannerError: The configuration is another than it was made for, or the funds are; the message shows both.
    """
    if config.digest() != plan.config_digest:
        msg = f"plan: got configuration {config.digest()[:12]}, expected {plan.config_digest[:12]} ({plan.preset})"
        raise PlannerError(msg)
    env = YCBenchEnv(config)
    env.reset(seed=plan.seed)
    for turn in plan.turns:
        env.step(turn)
    funds = env.get_state().funds_cents
    if funds != plan.final_funds_cents:
        msg = f"plan: got {funds} cents when replayed, expected {plan.final_funds_cents}; make the plan anew"
        raise PlannerError(msg)
    return funds


def save_plan(path: str | os.PathLike[str], plan: Plan) -> None:
    """Write a plan as a file of turns, which ``replay`` reads, packed where its name ends in ``.gz``.

    Raises:
        FileError: It cannot be written.
    """
    values = (" ".join(plan.preset.split()), plan.config_digest, plan.seed, plan.final_funds_cents, plan.interrupted)
    head = [_TITLE, *[f"{name}: {value}" for name, value in zip(_FACTS, values, strict=True)]]
    lines = [*[f"# {line}" for line in head], "\n---\n".join(plan.turns), ""]
    data = "\n".join(lines).encode()
    # Without a time in the header, so that equal plans make equal files.
    write_file(os.fspath(path), gzip.compress(data, mtime=0) if Path(path).suffix == ".gz" else data)


def load_plan(path: str | os.PathLike[str]) -> Plan:
    """Return the plan that ``save_plan`` wrote.

    Raises:
        FileNotFoundError: There is no such file.
        PlannerError: It is no plan, or too large; the message shows the line that is missing or wrong.
    """
    try:
        text = read_text(Path(path))
        turns = read_turns(text)
    except ValueError as error:
        msg = f"{path}: {error}; expected a plan that ycbench plan wrote"
        raise PlannerError(msg) from None
    head = itertools.takewhile(lambda line: line.startswith("#"), text.split("\n"))
    facts = {name: value for name, _, value in (line[2:].partition(": ") for line in head)}
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
        raise PlannerError(msg) from None
