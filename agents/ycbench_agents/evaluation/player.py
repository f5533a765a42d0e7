"""Who plays a row of a suite under one configuration."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Self

import attrs

from ycbench_agents.base import DeliberatingPolicy
from ycbench_agents.evaluation.pinning import require_pinned
from ycbench_agents.evaluation.settings_table import SuiteError
from ycbench_agents.registry import make_policy
from ycbench_agents.scripted.mixture import MixturePolicy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ycbench_agents.base import JsonObject, Policy
    from ycbench_agents.evaluation.old_suite import SuitePolicy
    from ycbench_agents.records.strict_json import Table
    from ycbench_env import Config

__all__ = ["Casting", "Player", "PlayerIdentity", "model_player", "scripted_player", "waits_for_answers"]


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


def waits_for_answers(policy: Policy) -> bool:
    """Return whether a policy waits for answers from outside; a mixture does where one of its policies does."""
    return policy.waits if isinstance(policy, MixturePolicy) else isinstance(policy, DeliberatingPolicy)


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
        deliberates=waits_for_answers(one),
    )


def model_player(
    policy: SuitePolicy,
    config: Config,
    model: str | None = None,
    base_url: str | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Player:
    """Return who plays a policy that asks a language model; all its runs share one client.

    Args:
        policy: Row of the suite.
        config: Configuration that it plays.
        model: Name of the model where the row has none.
        base_url: Address of its server, likewise; None for OPENAI_BASE_URL, or OpenAI's.
        environ: Where address and key are looked up.

    Raises:
        SuiteError: It names no model, or something in it cannot be used.
        MissingExtraError: The package ``openai`` is not installed.
    """
    from ycbench_agents.llm.client import ModelError, OpenAIChat, api_key  # noqa: PLC0415 -- slow to import
    from ycbench_agents.llm.policy import LLMPolicy  # noqa: PLC0415 -- as above
    from ycbench_agents.llm.pricing import load_prices  # noqa: PLC0415 -- as above
    from ycbench_agents.llm.settings import settings_for  # noqa: PLC0415 -- as above

    require_pinned(policy)
    try:
        settings = settings_for(config, _model_values(policy, model, base_url, environ))
        api_key(settings)  # a missing key is an error before anything is played
        prices, client = load_prices(*policy.prices), OpenAIChat(settings)
        one = LLMPolicy(settings, config, prices, client)
    except (ModelError, OSError, ValueError) as error:
        msg = f"policy {policy.label!r} of the suite: {error}"
        raise SuiteError(msg) from None
    return Player(
        make=lambda: LLMPolicy(settings, config, prices, client),
        settings=one.public_settings,
        model=one.model,
        deliberates=True,
    )


def _model_values(
    policy: SuitePolicy, model: str | None, base_url: str | None, environ: Mapping[str, str]
) -> dict[str, object]:
    """Return the settings of a model by name, as far as they are given."""
    # The package would read the variable by itself; a run says which server it has asked.
    address = policy.base_url or base_url or environ.get("OPENAI_BASE_URL", "").strip()
    prompt = policy.system_prompt
    named: dict[str, object] = {
        "model": policy.model or model,
        "base_url": address,
        "system_prompt": None if prompt is None else prompt.read_text(encoding="utf-8-sig"),
    }
    given = {name: value for name, value in named.items() if value}
    if twice := sorted(given.keys() & policy.parameters.keys()):
        msg = f"parameters: got {twice[0]}, which is given otherwise as well, expected one of them"
        raise ValueError(msg)
    if "model" not in {*policy.parameters, *given}:
        msg = "model: got nothing, expected the name of a model as its server knows it, in the suite or as model=..."
        raise ValueError(msg)
    return {**given, **policy.parameters}
