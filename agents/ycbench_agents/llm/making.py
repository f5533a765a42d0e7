"""From names and plain values to a language model's policy."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ycbench_agents.llm.policy import LLMPolicy
from ycbench_agents.llm.pricing import load_prices
from ycbench_agents.llm.settings import LLMSettings
from ycbench_env import Config, MissingExtraError, load_config

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ycbench_agents.llm.message import ChatClient

__all__ = ["make_llm_policy", "openai_chat", "settings_for"]


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
    model: str | None = None,
    *,
    config: Config | str = "default",
    client: ChatClient | None = None,
    prices: Sequence[str | Path] = (),
    **settings: object,
) -> LLMPolicy:
    """Return a policy that asks a language model.

    Args:
        model: Name of the model, as its server knows it; it is needed.
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
    named = {} if model is None else {"model": model}
    chosen = settings_for(resolved, {**named, **settings})
    return LLMPolicy(client or openai_chat(chosen), chosen, resolved, load_prices(*prices))
