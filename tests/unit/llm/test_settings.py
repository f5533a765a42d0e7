"""How a model is asked: legal values, defaults of the configuration, and no secret anywhere."""

from __future__ import annotations

import json
from typing import Any

import attrs
import pytest

from ycbench_agents.files import structure
from ycbench_agents.llm.settings import LLMSettings, LLMSettingsError, settings_for
from ycbench_env import load_config

CONFIG = load_config("default", environ={})
KEY = "sk-proj-0123456789abcdef"


def test_what_is_not_given_follows_the_table_agent() -> None:
    config = load_config(CONFIG, overrides={"agent": {"retry_max_attempts": 5, "temperature": 0.7}}, environ={})
    chosen = settings_for(config, {"model": "m", "top_p": "none", "keep_turns": 3})
    assert (chosen.max_retries, chosen.temperature, chosen.top_p, chosen.keep_turns) == (4, 0.7, None, 3)
    assert chosen.timeout_s == config.agent.request_timeout_seconds


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("model", ""),
        ("model", " m"),
        ("model", "a\nb"),
        ("model", 3),
        ("base_url", "127.0.0.1:8000"),
        ("base_url", "ftp://host/v1"),
        ("base_url", "http://:80/v1"),
        ("base_url", "http://host:0/v1"),
        ("base_url", "http://host:x/v1"),
        ("base_url", "http://ho st/v1"),
        ("api_key_variable", "not a name"),
        ("keep_turns", -1),
        ("keep_turns", True),
        ("keep_turns", 1.0),
        ("keep_turns", 2**63),
        ("token_budget", 0),
        ("mode", "both"),
        ("replay_reasoning", ["thoughts"]),
        ("replay_reasoning", "reasoning"),
        ("max_calls_a_reply", None),
        ("temperature", -0.1),
        ("temperature", float("nan")),
        ("temperature", float("inf")),
        ("temperature", True),
        ("temperature", 10**400),
        ("top_p", 1.1),
        ("max_tokens", "8"),
        ("max_tokens_field", "max"),
        ("seed", -1),
        ("system_prompt", 3),
        ("extra_headers", ["X-A: b"]),
        ("extra_headers", {"X A": "b"}),
        ("extra_headers", {"X-A": "b\n"}),
        ("extra_headers", {"X-A": "b", "x-a": "c"}),
        ("extra_body", {"model": "other"}),
        ("extra_body", {"a": float("nan")}),
        ("extra_body", {"a": object()}),
        ("extra_body", [1]),
        ("timeout_s", 0),
        ("timeout_s", None),
        ("max_retries", -1),
        ("deadline_s", 1e10),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_with_the_legal_ones(name: str, value: Any) -> None:  # noqa: ANN401 -- any
    with pytest.raises(LLMSettingsError) as error:
        settings_for(CONFIG, {"model": "m", name: value})
    legal = attrs.fields_dict(LLMSettings)[name].metadata["legal"]
    assert str(error.value).startswith(f"{name}: got ")
    assert str(error.value).endswith(f"expected {legal}")


@pytest.mark.parametrize(
    "values",
    [
        {"api_key_variable": KEY},
        {"base_url": f"https://user:{KEY}@host/v1"},
        {"base_url": f"https://host/v1?key={KEY}"},
        {"base_url": f"https://host/v1#{KEY}"},
        {"extra_headers": {"X-Key": f"{KEY}\n"}},
        {"api_key": KEY},
    ],
)
def test_neither_an_error_nor_a_record_nor_repr_shows_a_secret(values: dict[str, object]) -> None:
    chosen = LLMSettings(model="m", extra_headers={"X-Key": KEY})
    assert KEY not in repr(chosen)
    assert chosen.public()["extra_headers"] == ["X-Key"]
    with pytest.raises(LLMSettingsError) as error:
        settings_for(CONFIG, {"model": "m", **values})
    assert KEY not in str(error.value)


def test_an_unknown_name_shows_the_nearest_one() -> None:
    with pytest.raises(LLMSettingsError, match="'temprature': no setting of this name; did you mean temperature"):
        settings_for(CONFIG, {"model": "m", "temprature": 1})
    with pytest.raises(LLMSettingsError, match="api_key_variable names the environment variable"):
        settings_for(CONFIG, {"model": "m", "api_key": "x"})
    with pytest.raises(LLMSettingsError, match="expected one of model, base_url"):
        settings_for(CONFIG, {"model": "m", "zzzzzzzz": 1})
    with pytest.raises(LLMSettingsError, match="model: got nothing"):
        settings_for(CONFIG, {"model": None})


def test_settings_are_read_from_json_and_equal_values_are_one() -> None:
    given: dict[str, Any] = {"timeout_s": 5, "temperature": -0.0, "replay_reasoning": ["reasoning"]}
    chosen = settings_for(CONFIG, {"model": "m", "extra_body": {"k": [1]}, **given})
    values: dict[str, Any] = json.loads(json.dumps(chosen.public())) | {"extra_headers": {}}
    assert structure(values, LLMSettings, "settings") == chosen
    assert json.dumps(values["temperature"]) == "0.0"
    assert hash(chosen) == hash(structure(values, LLMSettings, "settings"))
