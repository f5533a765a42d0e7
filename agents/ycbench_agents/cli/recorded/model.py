"""From options, or from the record of a run, to the policy that plays."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import attrs

from ycbench_agents.cli.output import UsageError
from ycbench_agents.cli.policies import make_policy_here
from ycbench_agents.llm.client import ModelError, OpenAIChat
from ycbench_agents.llm.settings import OPENAI_URL, is_openai
from ycbench_agents.records.error import RecordError
from ycbench_agents.scripted.mixture import named_policies

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from ycbench_agents.base import JsonObject, Policy
    from ycbench_agents.llm.client import ChatClient, ChatRequest, Completion
    from ycbench_agents.llm.settings import LLMSettings
    from ycbench_agents.records import RunRecord
    from ycbench_env import Config

__all__ = ["LLM", "Cast", "ModelOptions", "Trusted", "cast_of", "recorded_policy", "replaying_policy"]

LLM: Final = "llm"
"""Name of the policy that asks a language model."""

_REPLAY: Final = "replay"
_USUAL_KEY: Final = "OPENAI_API_KEY"
_THIS_MACHINE: Final = ("127.0.0.1", "::1", "localhost")


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


@attrs.frozen
class Trusted:
    """What a person says again when a record is gone on with: a record is data, and may come from anybody.

    Args:
        policy: Value of ``--policy``, needed for a class of one's own, whose code then runs, also within a mixture.
        base_url: Value of ``--base-url``, needed where a key would be sent to a server elsewhere.
        api_key_variable: Value of ``--api-key-variable``, needed for another variable than the usual one.
        headers: Values of ``--header``, of which records have the names only.
    """

    policy: str | None = None
    base_url: str | None = None
    api_key_variable: str | None = None
    headers: Sequence[str] = ()


def recorded_policy(record: RunRecord, trusted: Trusted) -> Policy:
    """Return a policy like the one that played a run, to go on with it.

    Raises:
        UsageError: It cannot be made again, or something has to be said again.
    """
    identity = record.identity
    if identity.policy != LLM:
        return _recorded_script(record, trusted)

    def client(settings: LLMSettings) -> ChatClient:
        _refuse_to_send_keys_anywhere(settings, trusted, record, os.environ)
        return OpenAIChat(settings)

    return _recorded_model(record, trusted, client)


def replaying_policy(record: RunRecord, trusted: Trusted) -> Policy | None:
    """Return a policy that only recalls; None, for the environment alone, where its code would have to be trusted.

    Raises:
        UsageError: It cannot be made again.
    """
    if record.identity.policy == LLM:
        return _recorded_model(record, trusted, lambda _settings: _Nobody())
    return None if _foreign(record, trusted) else _recorded_script(record, trusted)


def _foreign(record: RunRecord, trusted: Trusted) -> tuple[str, ...]:
    """Return what a record names that nobody has said to trust.

    That is code outside of this package, a server that a mixture asks, and a file that is replayed: any file would do.
    """
    name, parameters = record.identity.policy, _parameters(record)
    if trusted.policy == name:
        return ()
    inner = named_policies(parameters)
    named = [each for each in (name, *inner) if ":" in each] + [each for each in inner if each in {LLM, _REPLAY}]
    return tuple([*named, _REPLAY] if name == _REPLAY and "path" in parameters else named)


def _parameters(record: RunRecord) -> JsonObject:
    parameters = record.identity.settings.get("parameters", {})
    return parameters if isinstance(parameters, dict) else {}


def _recorded_script(record: RunRecord, trusted: Trusted) -> Policy:
    name = record.identity.policy
    if foreign := _foreign(record, trusted):
        msg = (
            f"{record.folder}: its policy {name!r} would run {' and '.join(foreign)}, which may be anything; say that "
            f"you trust it with --policy {name}"
        )
        raise UsageError(msg)
    try:
        return make_policy_here(name, _parameters(record))
    except (TypeError, ValueError) as error:
        raise _not_again(record, error) from None


def _recorded_model(record: RunRecord, trusted: Trusted, client: Callable[[LLMSettings], ChatClient]) -> Policy:
    from ycbench_agents.llm.policy import LLMPolicy, recorded_settings  # noqa: PLC0415 -- slow to import
    from ycbench_agents.records.playing import recorded_config  # noqa: PLC0415 -- as above

    try:
        settings, prices = recorded_settings(
            record.identity.settings, base_url=trusted.base_url, headers=read_headers(trusted.headers)
        )
        return LLMPolicy(settings, recorded_config(record), prices, client(settings))
    except (ModelError, RecordError, TypeError, ValueError) as error:
        raise _not_again(record, error) from None


def _not_again(record: RunRecord, error: Exception) -> UsageError:
    return UsageError(f"{record.folder}: its policy {record.identity.policy!r} cannot be made again: {error}")


def _refuse_to_send_keys_anywhere(
    settings: LLMSettings, trusted: Trusted, record: RunRecord, environ: Mapping[str, str]
) -> None:
    """Refuse to send a key that a record names to a server that it names, unless a person has said both.

    OpenAI's own server gets its usual key, and a server on this machine any.

    Raises:
        UsageError: Something has to be said again; the message has the options to write.
    """
    variable = settings.api_key_variable
    host = urlsplit(settings.base_url or OPENAI_URL).hostname or ""
    if not environ.get(variable) or host in _THIS_MACHINE:
        return
    needed: list[str] = []
    if variable not in {_USUAL_KEY, trusted.api_key_variable}:
        needed.append(f"--api-key-variable {variable}")
    if trusted.base_url is None and not is_openai(host):
        needed.append(f"--base-url {settings.public()['base_url']}")
    if needed:
        msg = (
            f"{record.folder}: the record says to send the key in {variable} to {host}; if that is what you want, say "
            f"so: {' '.join(needed)}"
        )
        raise UsageError(msg)


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
    named: dict[str, object] = {"model": options.model, "base_url": options.base_url}
    if options.system_prompt is not None:
        named["system_prompt"] = _text_of(options.system_prompt)
    if options.headers:
        named["extra_headers"] = read_headers(options.headers)
    given = {name: option for name, option in named.items() if option is not None}
    if twice := sorted(given.keys() & parameters.keys()):
        msg = f"--param: got {twice[0]}, for which there is an option of its own, expected one of them"
        raise UsageError(msg)
    values = {**parameters, **given}
    # The package would read it by itself; a run says which server it has asked, and is resumed with the same.
    if not values.get("base_url") and (url := os.environ.get("OPENAI_BASE_URL", "").strip()):
        values["base_url"] = url
    if "model" not in values:
        msg = "--model: got nothing, expected the name of a model as its server knows it, like --model gpt-4.1-mini"
        raise UsageError(msg)
    return values


def _model_cast(config: Config, values: Mapping[str, object], price_files: Sequence[Path]) -> Cast:
    from ycbench_agents.llm.client import api_key  # noqa: PLC0415 -- slow to import
    from ycbench_agents.llm.policy import LLMPolicy  # noqa: PLC0415 -- as above
    from ycbench_agents.llm.pricing import load_prices  # noqa: PLC0415 -- as above
    from ycbench_agents.llm.settings import settings_for  # noqa: PLC0415 -- as above

    try:
        settings = settings_for(config, values)
        prices = load_prices(*price_files)
        api_key(settings)  # a missing key is an error before anything is played
        client = OpenAIChat(settings)  # one for all runs, so that they share connections
        policy = LLMPolicy(settings, config, prices, client)
    except (ModelError, ValueError) as error:  # LLMSettingsError, PriceError and TemplateError are the latter
        raise UsageError(str(error)) from None
    return Cast(lambda: LLMPolicy(settings, config, prices, client), policy.public_settings, policy.model)


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
