"""Addresses of chat servers: which is asked, and which are OpenAI's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ycbench_agents.llm.settings import LLMSettings

__all__ = ["OPENAI_URL", "is_openai", "server_url"]

OPENAI_URL: Final = "https://api.openai.com/v1"
"""Address that is asked where nothing else is said."""


def server_url(settings: LLMSettings, environ: Mapping[str, str]) -> str:
    """Return the address of the server; the variable is the ``openai`` package's own."""
    return settings.base_url or environ.get("OPENAI_BASE_URL", "").strip() or OPENAI_URL


def is_openai(host: str | None) -> bool:
    """Return whether a host is one of OpenAI's own."""
    return host is not None and (host == "openai.com" or host.endswith(".openai.com"))
