"""From a row of a suite, or the record of a run, to the policy that plays."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

import attrs

from ycbench_agents.base import DeliberatingPolicy, Policy
from ycbench_agents.evaluation.results import Player
from ycbench_agents.evaluation.suite import LLM, SuiteError, SuitePolicy, SuitePreset
from ycbench_agents.registry import PolicyError, make_policy
from ycbench_agents.runs import Run, RunIdentity
from ycbench_agents.scripted.mixture import MixturePolicy, named_policies
from ycbench_env import load_config
from ycbench_env.text import JsonObject

_USUAL_KEY: Final = "OPENAI_API_KEY"


def _inner(name: str, parameters: Mapping[str, object]) -> tuple[str, ...]:
    """Return the policies that a policy plays: itself, and those within a mixture."""
    return (name, *named_policies(parameters)) if name == "mixture" else (name,)


def own_modules(name: str, parameters: Mapping[str, object]) -> set[str]:
    """Return the modules of the classes of one's own that a policy is or plays."""
    return {each.partition(":")[0] for each in _inner(name, parameters) if ":" in each}


def waits_for_answers(policy: Policy) -> bool:
    """Return whether a policy waits for answers from outside; a mixture does where one of its policies does."""
    return policy.waits if isinstance(policy, MixturePolicy) else isinstance(policy, DeliberatingPolicy)


def model_player(
    policy: SuitePolicy,
    preset: SuitePreset,
    model: str | None = None,
    base_url: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Player:
    """Return who plays a policy that asks a language model; SuiteError if something in it cannot be used.

    Args:
        policy: Row of the suite.
        preset: Configuration that it plays.
        model: Name of the model where the row has none.
        base_url: Address of its server, likewise; None for OPENAI_BASE_URL, or OpenAI's.
        headers: HTTP headers; only their names are recorded.
    """
    from ycbench_agents.llm.client import ModelError, api_key  # noqa: PLC0415 -- slow to import
    from ycbench_agents.llm.policy import LLMPolicy  # noqa: PLC0415 -- as above
    from ycbench_agents.llm.pricing import load_prices  # noqa: PLC0415 -- as above
    from ycbench_agents.llm.settings import address_in_environment, settings_for  # noqa: PLC0415 -- as above

    given: dict[str, object] = {
        "model": policy.model or model,
        "base_url": policy.base_url or base_url or address_in_environment(),  # a run records which server it asks
        "extra_headers": dict(headers or {}),
    }
    given = {name: value for name, value in given.items() if value} | policy.parameters
    place = f"policy {policy.label!r}"
    if "model" not in given:
        msg = f"{place}: got no model, expected the name of one as its server knows it, like --model gpt-4.1-mini"
        raise SuiteError(msg)
    try:
        settings = settings_for(preset.config, given)
        api_key(settings)  # a missing key is an error before anything is played
        one = LLMPolicy(settings, preset.config, load_prices(*policy.prices))
    except (ModelError, ValueError) as error:
        msg = f"{place}: {error}"
        raise SuiteError(msg) from None
    return Player(policy.label, preset.label, one.public_settings, one.model, deliberates=True)


def build_policy(identity: RunIdentity, headers: Mapping[str, str] | None = None) -> Policy:
    """Return a new policy for a run; PolicyError or FileError if there is no such policy or settings."""
    if identity.policy != LLM:
        return make_policy(identity.policy, **parameters_of(identity))
    from ycbench_agents.llm.policy import LLMPolicy, recorded_settings  # noqa: PLC0415 -- slow to import

    settings, prices = recorded_settings(identity.settings, headers=headers)
    return LLMPolicy(settings, load_config(identity.config, environ={}), prices)


def parameters_of(identity: RunIdentity) -> JsonObject:
    """Return the recorded parameters of a scripted policy."""
    parameters = identity.settings.get("parameters", {})
    return parameters if isinstance(parameters, dict) else {}


# ---------------------------------------------------------------- records from anybody


@attrs.frozen
class Trusted:
    """What the operator repeats to resume a record: a record is data, and may come from anybody."""

    policy: str | None = None  # whose code may run: a class of one's own, a mixture with one, replay of a file
    base_url: str | None = None  # server that a key may be sent to
    api_key_variable: str | None = None  # whose key may be sent, besides OPENAI_API_KEY
    headers: Mapping[str, str] = attrs.field(factory=dict[str, str], repr=False)  # records hold their names only


def _foreign(identity: RunIdentity, trusted: Trusted) -> list[str]:
    """Return which code, server or file a record names that is not trusted."""
    name, parameters = identity.policy, parameters_of(identity)
    if name in {trusted.policy, LLM}:
        return []
    first, *others = _inner(name, parameters)
    found = [each for each in (first, *others) if ":" in each] + [each for each in others if each in {LLM, "replay"}]
    return [*found, "replay"] if name == "replay" and "path" in parameters else found


def require_trust(identity: RunIdentity, trusted: Trusted, place: object) -> None:
    """Refuse to run code, to open files and to send keys that only a record names.

    OpenAI's own server gets its usual key, and a server on this machine any. PolicyError names the options to write.
    """
    if foreign := _foreign(identity, trusted):
        msg = (
            f"{place}: its policy {identity.policy!r} would run {' and '.join(foreign)}, which may be anything; "
            f"--policy {identity.policy} trusts it"
        )
        raise PolicyError(msg)
    if identity.policy != LLM:
        return
    from ycbench_agents.llm.policy import recorded_settings  # noqa: PLC0415 -- slow to import
    from ycbench_agents.llm.settings import OPENAI_URL, is_openai, is_this_machine  # noqa: PLC0415 -- as above

    settings, _ = recorded_settings(identity.settings, headers=trusted.headers)
    variable, address = settings.api_key_variable, settings.base_url or OPENAI_URL
    host = urlsplit(address).hostname or ""
    if is_this_machine(host) or not os.environ.get(variable):
        return
    needed = [] if variable in {_USUAL_KEY, trusted.api_key_variable} else [f"--api-key-variable {variable}"]
    if trusted.base_url != address and not is_openai(host):
        needed.append(f"--base-url {address}")
    if needed:
        msg = f"{place}: would send the key in {variable} to {host}; {' '.join(needed)} trusts it"
        raise PolicyError(msg)


def replaying_policy(run: Run, trusted: Trusted) -> Policy | None:
    """Return a policy that recalls what a run recorded; None where its code would have to be trusted."""
    if _foreign(run.identity, trusted):
        return None
    try:
        return build_policy(run.identity)  # one that recalls sends nothing
    except (TypeError, ValueError) as error:
        msg = f"{run.folder}: its policy {run.identity.policy!r} cannot be made again: {error}"
        raise PolicyError(msg) from None
