"""What is to be played, and what it takes from outside."""

from __future__ import annotations

import datetime as dt
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, cast

import attrs

from ycbench_agents.records.files import DiskFiles
from ycbench_agents.records.origin import here, package_version
from ycbench_agents.records.record import RunIdentity, RunOrigin
from ycbench_agents.records.strict_json import encode, plain
from ycbench_env import Config, load_config

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ycbench_agents.base import JsonObject, Policy
    from ycbench_agents.records.files import Files
    from ycbench_agents.records.record import TurnRecord

__all__ = ["RunPlan", "Runtime"]


def _limit(_plan: object, field: attrs.Attribute[int | None], value: object) -> None:
    """Refuse a limit that is none."""
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
        msg = f"{field.name}: got {value!r}, expected a positive whole number of turns, or None for no limit"
        raise ValueError(msg)


def _settings(value: object) -> JsonObject:
    """Return a copy of settings as they are read back from a record."""
    try:
        copy: object = json.loads(encode(value))
    except (TypeError, ValueError, RecursionError) as error:
        msg = f"settings: got what JSON does not have ({error}), expected an object of plain JSON values"
        raise ValueError(msg) from None
    if not isinstance(copy, dict):
        msg = f"settings: got {type(value).__name__}, expected an object of plain JSON values"
        raise ValueError(msg)  # noqa: TRY004 -- one kind of error for all that is wrong with a plan
    return cast("JsonObject", copy)


def _told_by_policy(plan: RunPlan) -> JsonObject:
    """Return the settings that a policy tells of itself; the field's converter checks them."""
    return cast("JsonObject", getattr(plan.policy, "public_settings", {}))


def _model_of_policy(plan: RunPlan) -> str | None:
    """Return the model that a policy tells of itself."""
    model: object = getattr(plan.policy, "model", None)
    return model if isinstance(model, str) else None


@attrs.frozen
class RunPlan:
    """One run to be played.

    Args:
        folder: Folder of the run, see ``run_name``; it is made where it is missing, and resumed where it holds a run.
        config: Anything that ``load_config`` takes.
        seed: Run seed, which also resets the policy.
        policy: Who plays; it is reset here and plays nothing else in the meantime.
        name: Name of the policy.
        settings: Its public settings, plain JSON; they are recorded, so they must hold no key. By default the policy's
            own ``public_settings``, {} where it has none.
        model: Name of its model, None without. By default the policy's own ``model``.
        max_turns: Turns after which the run is cut off, None for no limit.
        scratchpad: Whether the environment has a scratchpad.

    Raises:
        ConfigError: There is no such configuration, or it is not legal.
        ValueError: ``max_turns`` or ``settings`` cannot be used.
    """

    folder: Path = attrs.field(converter=Path)
    config: Config = attrs.field(converter=load_config)
    seed: int
    policy: Policy
    name: str
    settings: JsonObject = attrs.field(default=attrs.Factory(_told_by_policy, takes_self=True), converter=_settings)
    model: str | None = attrs.field(default=attrs.Factory(_model_of_policy, takes_self=True))
    max_turns: int | None = attrs.field(default=None, validator=_limit)
    scratchpad: bool = True

    @property
    def identity(self) -> RunIdentity:
        """What makes this run what it is."""
        return RunIdentity(
            version=package_version(),
            config=cast("JsonObject", plain(self.config.to_dict(), "config")),
            config_digest=self.config.digest(),
            seed=int(self.seed),
            policy=self.name,
            settings=self.settings,
            model=self.model,
            max_turns=self.max_turns,
            scratchpad=self.scratchpad,
        )


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


def _ignore(_plan: RunPlan, _turn: TurnRecord) -> None:
    """Watch nothing."""


def _always() -> bool:
    return True


@attrs.frozen
class Runtime:
    """What runs take from outside.

    Args:
        clock: Tells the wall-clock time.
        files: Writes.
        environ: Environment variables, whose keys must not reach a record.
        origin: Tells where a run begins, given the time.
        on_turn: Is told of each turn that was played and is on the disk; not of those that a resume replays.
        keep_going: Is asked before each turn; False stops the run, which can then be resumed.
    """

    clock: Callable[[], dt.datetime] = _now
    files: Files = attrs.field(factory=DiskFiles)
    environ: Mapping[str, str] = attrs.field(default=os.environ, repr=False)
    origin: Callable[[str], RunOrigin] = here
    on_turn: Callable[[RunPlan, TurnRecord], None] = _ignore
    keep_going: Callable[[], bool] = _always

    def now(self) -> str:
        """Return the wall-clock time, ISO 8601."""
        return self.clock().isoformat()
