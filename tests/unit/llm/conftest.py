"""What the tests of language models share."""

from __future__ import annotations

import openai._base_client
import pytest


@pytest.fixture
def no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the package wait next to nothing between attempts, and draw no jitter from the global generator."""
    monkeypatch.setattr(openai._base_client, "INITIAL_RETRY_DELAY", 0.001)
    monkeypatch.setattr(openai._base_client, "random", lambda: 0.0)
