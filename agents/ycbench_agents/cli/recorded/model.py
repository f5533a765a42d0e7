"""From options, or from the record of a run, to the policy that plays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.cli.failure import UsageError
from ycbench_agents.cli.policies import make_policy_here
from ycbench_agents.llm.message import ModelError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from ycbench_agents.base import JsonObject, Policy
    from ycbench_agents.llm.message import ChatClient, ChatRequest, Completion
    from ycbench_agents.llm.pricing import Prices
    from ycbench_agents.llm.settings import LLMSettings
    from ycbench_agents.records import RunIdentity
    from ycbench_env import Config

__all__ = ["LLM", "Cast", "ModelOptions", "cast_of", "recorded_policy"]

LLM: Final = "llm"
"""Name of the policy that asks a language model."""


@attrs.frozen
class ModelOptions:
    """What options say about a language model.

    Args:
        model: Value of ``--model``.
        base_url: Value of ``--base-url``.
        system_prompt: Value of ``--system-prompt``, a file.
        prices: Values of ``--prices``, files.
        headers: Values of ``--header``, like ``X-Title: ycbench``.
    """

    model: str | None = None
    base_url: str | None = None
    system_prompt: Path | None = None
    prices: Sequence[Path] = ()
    headers: Sequence[str] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing was said."""
        return self == ModelOptions()


@attrs.frozen
class Cast:
    """Who plays the runs of one policy under one configuration.

    Args:
        make: Returns a new policy; every run has one of its own.
        settings: What the record tells of it.
        model: Name of the model, None for a scripted policy.
    """

    make: Callable[[], Policy]
    settings: JsonObject
    model: str | None = None


def cast_of(name: str, config: Config, parameters: Mapping[str, object], options: ModelOptions) -> Cast:
    """Return who plays.

    Args:
        name: Name of the policy.
        config: Configuration of the environment.
        parameters: Parameters of the policy, values of ``--param``.
        options: What is said about a language model.

    Raises:
        UsageError: Something in them cannot be used.
    """
    if name == LLM:
        return _model_cast(config, _model_values(parameters, options), options.prices)
    try:
        make_policy_here(name, parameters)
    except (TypeError, ValueError) as error:  # PolicyError is a ValueError
        raise UsageError(str(error)) from None
    return Cast(lambda: make_policy_here(name, parameters), {"parameters": _plain(parameters)})


def recorded_policy(
    identity: RunIdentity, *, base_url: str | None = None, headers: Sequence[str] = (), offline: bool = False
) -> Policy:
    """Return a policy like the one that played a run.

    Args:
        identity: What the record says of it.
        base_url: Address with what the record leaves out.
        headers: Values of ``--header``.
        offline: Whether nobody will be asked: the record is only played again.

    Raises:
        UsageError: It cannot be made again.
    """
    try:
        if identity.policy != LLM:
            parameters = identity.settings.get("parameters", {})
            return make_policy_here(identity.policy, parameters if isinstance(parameters, dict) else {})
        from ycbench_agents.llm.making import openai_chat, recorded_settings  # noqa: PLC0415 -- slow to import
        from ycbench_agents.llm.policy import LLMPolicy  # noqa: PLC0415 -- as above
        from ycbench_env import load_config  # noqa: PLC0415 -- as above

        settings, prices = recorded_settings(identity.settings, base_url=base_url, headers=read_headers(headers))
        client: ChatClient = _Nobody() if offline else openai_chat(settings)
        return LLMPolicy(client, settings, load_config(identity.config, environ={}), prices)
    except (ModelError, TypeError, ValueError) as error:
        msg = f"the policy {identity.policy!r} of the record cannot be made again: {error}"
        raise UsageError(msg) from None


def read_headers(texts: Sequence[str]) -> dict[str, str]:
    """Return the headers that the values of ``--header`` describe; values are shown in no error.

    Raises:
        UsageError: One is no header.
    """
    headers: dict[str, str] = {}
    for number, text in enumerate(texts, 1):
        name, colon, value = text.partition(":")
        if not colon or not name.strip():
            msg = f"--header: got a text without a name and a colon (number {number}), expected 'NAME: VALUE'"
            raise UsageError(msg)
        headers[name.strip()] = value.strip()
    return headers


class _Nobody:
    """A client for policies that only recall."""

    async def complete(self, request: ChatRequest) -> Completion:
        """Refuse to ask."""
        del request
        msg = "a record is played again without asking anybody"
        raise AssertionError(msg)


def _model_values(parameters: Mapping[str, object], options: ModelOptions) -> dict[str, object]:
    """Return the settings of a model by name, as far as options give them."""
    named = {"model": options.model, "base_url": options.base_url}
    values = {**parameters, **{name: option for name, option in named.items() if option is not None}}
    if options.system_prompt is not None:
        values["system_prompt"] = _text_of(options.system_prompt)
    if options.headers:
        values["extra_headers"] = read_headers(options.headers)
    if "model" not in values:
        msg = "--model: got nothing, expected the name of a model as its server knows it, like --model gpt-4.1-mini"
        raise UsageError(msg)
    return values


def _model_cast(config: Config, values: Mapping[str, object], price_files: Sequence[Path]) -> Cast:
    from ycbench_agents.llm.making import openai_chat, public_settings, settings_for  # noqa: PLC0415 -- slow to import
    from ycbench_agents.llm.pricing import load_prices  # noqa: PLC0415 -- as above

    try:
        settings = settings_for(config, values)
        prices = load_prices(*price_files)
        client = openai_chat(settings)  # one for all runs, so that they share connections
        recorded = public_settings(settings, prices)
        _new_llm_policy(client, settings, config, recorded)
    except (ModelError, ValueError) as error:  # LLMSettingsError, PriceError and TemplateError are the latter
        raise UsageError(str(error)) from None
    return Cast(lambda: _new_llm_policy(client, settings, config, recorded), recorded, settings.model)


def _new_llm_policy(client: ChatClient, settings: LLMSettings, config: Config, recorded: JsonObject) -> Policy:
    from ycbench_agents.llm.policy import LLMPolicy  # noqa: PLC0415 -- slow to import

    return LLMPolicy(client, settings, config, _recorded_price(recorded))


def _recorded_price(recorded: JsonObject) -> Prices:
    """Return the price that a record holds: the one that a resumed run will go on with."""
    from ycbench_agents.llm.making import recorded_prices  # noqa: PLC0415 -- as above

    return recorded_prices(recorded)


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        msg = f"--system-prompt {path}: cannot be read: {reason}"
        raise UsageError(msg) from None


def _plain(parameters: Mapping[str, object]) -> JsonObject:
    """Return parameters as JSON has them."""
    import json  # noqa: PLC0415 -- needed here alone

    return json.loads(json.dumps(dict(parameters), allow_nan=False, default=str))
