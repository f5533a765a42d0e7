"""From names and plain values to a language model's policy, and from the record of a run to the same again."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from ycbench_agents.llm.policy import LLMPolicy
from ycbench_agents.llm.pricing import Price, Prices, load_prices
from ycbench_agents.llm.settings import LLMSettings
from ycbench_env import Config, MissingExtraError, load_config

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ycbench_agents.base import JsonObject
    from ycbench_agents.llm.message import ChatClient

__all__ = [
    "PRICE",
    "make_llm_policy",
    "openai_chat",
    "public_settings",
    "recorded_prices",
    "recorded_settings",
    "settings_for",
]

PRICE: Final = "price"
"""Name under which a run's settings hold the price of its model, so that a resumed run goes on with the same."""


def settings_for(config: Config, values: Mapping[str, object]) -> LLMSettings:
    """Return the settings of a model: what is given, and for the rest what the configuration's ``[agent]`` says.

    Args:
        config: Configuration of the environment.
        values: Settings by name, see ``LLMSettings``; ``model`` is needed.

    Raises:
        LLMSettingsError: A value cannot be used; one line for each.
    """
    agent = config.agent
    configured = {
        "keep_turns": agent.history_keep_rounds,
        "temperature": agent.temperature,
        "top_p": agent.top_p,
        "timeout_s": agent.request_timeout_seconds,
        "max_retries": agent.retry_max_attempts - 1,
        "backoff_s": agent.retry_backoff_seconds,
    }
    return LLMSettings.from_mapping({**configured, **values})


def openai_chat(
    settings: LLMSettings, *, concurrency: int | None = None, environ: Mapping[str, str] = os.environ
) -> ChatClient:
    """Return the client that asks over the network.

    Raises:
        ModelError: There is no key where one is needed; the message names its variable.
        MissingExtraError: The package ``openai`` is not installed.
    """
    try:
        from ycbench_agents.llm.client import OpenAIChat, api_key  # noqa: PLC0415 -- an optional package behind it, slow to import
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "openai":
            raise
        msg = "openai is not installed; language models need it: pip install 'ycbench-env[llm]'"
        raise MissingExtraError(msg) from None
    api_key(settings, environ)  # a missing key is told before anything is played
    return OpenAIChat(settings, concurrency=concurrency, environ=environ)


def make_llm_policy(
    model: str,
    *,
    config: Config | str = "default",
    client: ChatClient | None = None,
    prices: Sequence[str | Path] = (),
    **settings: object,
) -> LLMPolicy:
    """Return a policy that asks a language model.

    Args:
        model: Name of the model, as its server knows it.
        config: Configuration of the environment that it plays.
        client: Who asks the model, None for the network.
        prices: Files of prices beside the built-in ones.
        **settings: Further fields of ``LLMSettings``; what is not given follows ``[agent]`` of the configuration.

    Raises:
        LLMSettingsError: A setting is unknown, or its value cannot be used.
        ConfigError: The configuration cannot be used.
        PriceError: A file of prices cannot be used.
        ModelError: There is no key where one is needed.
        MissingExtraError: The package ``openai`` is not installed.
    """
    resolved = load_config(config)
    chosen = settings_for(resolved, {"model": model, **settings})
    return LLMPolicy(client or openai_chat(chosen), chosen, resolved, load_prices(*prices))


def public_settings(settings: LLMSettings, prices: Prices) -> JsonObject:
    """Return what a run's record holds of a model's settings: no secrets, and the price of its tokens."""
    price = prices.find(settings.model)
    return {**settings.public(), PRICE: None if price is None else price.to_json()}


def recorded_settings(
    recorded: JsonObject, *, base_url: str | None = None, headers: Mapping[str, str] | None = None
) -> tuple[LLMSettings, Prices]:
    """Return the settings and the price that ``public_settings`` recorded.

    Args:
        recorded: What it returned.
        base_url: Address with what the record leaves out (user, password, query); None for the recorded one.
        headers: Values of the headers, of which the record has the names.

    Raises:
        LLMSettingsError: They cannot be used.
        PriceError: The price cannot be used.
    """
    values: dict[str, object] = {name: value for name, value in recorded.items() if name != PRICE}
    values["extra_headers"] = dict(headers or {})
    if base_url is not None:
        values["base_url"] = base_url
    return LLMSettings.from_mapping(values), recorded_prices(recorded)


def recorded_prices(recorded: JsonObject) -> Prices:
    """Return the price that ``public_settings`` recorded, under the name of its model; none where there was none.

    Raises:
        PriceError: It cannot be used.
    """
    price = recorded.get(PRICE)
    return Prices({str(recorded["model"]): Price.from_json(price)} if isinstance(price, dict) else {})
