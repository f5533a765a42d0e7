"""Settings of a language model: legal or refused with all that is wrong, and no secret shown (B35, B37, B38)."""

from __future__ import annotations

import copy
import json
import pickle
import re
from typing import Any, Final

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ycbench_agents.llm.settings import REASONING_FIELDS, LLMSettings, LLMSettingsError

SECRET: Final = "s3cret"  # noqa: S105 -- no real one
URL: Final = f"https://user:{SECRET}@host.example:8443/v1?key={SECRET}#{SECRET}"
PUBLIC_URL: Final = "https://host.example:8443/v1"

FULL: Final[dict[str, Any]] = {
    "model": "vendor/model-1:free",
    "base_url": "http://127.0.0.1:8000/v1",
    "api_key_variable": "MY_KEY_2",
    "keep_turns": 0,
    "token_budget": 8_000,
    "mode": "text",
    "replay_reasoning": ("reasoning", "reasoning_details"),
    "max_calls_a_reply": 3,
    "temperature": 0.0,
    "top_p": 0.5,
    "max_tokens": 512,
    "max_tokens_field": "max_tokens",
    "seed": 0,
    "system_prompt": "",
    "extra_headers": {"X-Title": "bench"},
    "extra_body": {"provider": {"order": ["a", "b"]}, "cache_prompt": False, "x": None, "min_p": 0.05},
    "timeout_s": 0.5,
    "max_retries": 0,
    "retry_after_cap_s": 0.0,
    "backoff_s": 0.0,
    "deadline_s": 30.0,
}
"""Every setting, each with another value than its default, and with every legal zero."""

BAD: Final[dict[str, list[Any]]] = {
    "model": ["", " ", " m", "m\n", "a\x00b", "\ud800", None, 7, b"m"],
    "base_url": ["", "host/v1", "ftp://h/v1", "http://", "http://h:99999", "http://[", "http://h /v1", "http://h\n", 7],
    "api_key_variable": ["", "sk-abc", "gsk_abc", "1A", "A B", "A=B", "A\n", None, 7, "A" * 129],
    "keep_turns": [-1, True, 1.0, "20", float("nan"), 2**63],
    "token_budget": [0, -1, True, 1.5, "1"],
    "mode": ["tool", "", "Tools", None, 1],
    "replay_reasoning": ["reasoning", ["thoughts"], [1], [""], None, {"reasoning"}, {"reasoning": 1}],
    "max_calls_a_reply": [0, -1, True, 1.0, None],
    "temperature": [-0.1, float("nan"), float("inf"), -float("inf"), True, "0", 10**400],
    "top_p": [-0.1, 1.01, float("nan"), False],
    "max_tokens": [0, -1, True, 2.0],
    "max_tokens_field": ["tokens", None],
    "seed": [-1, True, 0.0, 2**63],
    "system_prompt": [7, b"x", "\ud800"],
    "extra_headers": [
        None,
        [],
        "X: y",
        {"X Y": "v"},
        {"": "v"},
        {"X": 1},
        {"X": "a\r\nb"},
        {"X": "\xe9"},
        {"a": "", "A": ""},
    ],
    "extra_body": [
        None,
        [],
        "{}",
        {1: 2},
        {"a": float("nan")},
        {"a": [float("inf")]},
        {"a": {"b": {None: 1}}},
        {"a": object()},
        {"a": "\ud800"},
        {"\ud800": 1},
        {"a": (1, {2})},
        {"a": 2**80},
        {"messages": []},
        {"model": "x"},
        {"stream": True},
        {"max_tokens": 1},
        {"n": 2},
    ],
    "timeout_s": [0, -1, True, float("nan"), float("inf"), None, "600", 1e12],
    "max_retries": [-1, True, 1.0, None],
    "retry_after_cap_s": [-1, True, float("nan"), None],
    "backoff_s": [-1, True, float("inf"), None],
    "deadline_s": [0, -1, True, float("nan")],
}

NAMES: Final = [field.name for field in attrs.fields(LLMSettings)]


def test_only_the_model_has_to_be_given() -> None:
    settings = LLMSettings(model="m")
    assert settings.keep_turns == 20
    assert settings.mode == "tools"
    assert settings.api_key_variable == "OPENAI_API_KEY"
    assert settings.base_url is None
    assert (settings.timeout_s, settings.max_retries, settings.retry_after_cap_s) == (600, 8, 120)


def test_the_samples_cover_every_setting() -> None:
    assert list(FULL) == list(BAD) == NAMES
    default = LLMSettings(model="m")
    assert all(getattr(default, name) != value for name, value in FULL.items())


@pytest.mark.parametrize("name", NAMES)
def test_a_legal_value_is_kept_zeros_and_empty_texts_included(name: str) -> None:
    """B38: 0 and "" are values, not "not given"."""
    settings = LLMSettings(**{"model": "m", name: FULL[name]})
    assert getattr(settings, name) == FULL[name]
    assert type(getattr(settings, name)) is type(FULL[name])


@pytest.mark.parametrize(("name", "value"), [(name, value) for name in NAMES for value in BAD[name]])
def test_a_value_that_cannot_be_used_is_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(LLMSettingsError, match=rf"\A{name}: got .+, expected .+\Z"):
        LLMSettings(**{"model": "m", name: value})


def test_all_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(LLMSettingsError) as caught:
        LLMSettings(**{name: values[0] for name, values in BAD.items()})
    assert [line.partition(":")[0] for line in str(caught.value).splitlines()] == NAMES


def test_the_error_says_what_was_got_and_expected() -> None:
    with pytest.raises(
        LLMSettingsError, match=r"^top_p: got 1\.5, expected a finite number of at least 0 and at most 1, or none$"
    ):
        LLMSettings(model="m", top_p=1.5)
    with pytest.raises(LLMSettingsError, match=r"^timeout_s: got 0, expected a finite number above 0 and at most"):
        LLMSettings(model="m", timeout_s=0)
    with pytest.raises(
        LLMSettingsError, match=r"extra_body: got max_tokens, seed, expected .*; these are set otherwise"
    ):
        LLMSettings(model="m", extra_body={"seed": 1, "max_tokens": 3})


def test_a_long_or_huge_value_is_not_shown_whole() -> None:
    with pytest.raises(LLMSettingsError) as caught:
        LLMSettings.from_mapping({"model": "m", "mode": "x" * 10_000, "seed": 10**5000})
    assert len(str(caught.value)) < 400
    assert "seed: got a huge int" in str(caught.value)


def test_equal_settings_are_equal_however_their_numbers_are_written() -> None:
    one = LLMSettings(model="m", timeout_s=3, temperature=-0.0, replay_reasoning=("reasoning", "reasoning"))
    other = LLMSettings.from_mapping(
        {"model": "m", "timeout_s": np.float64(3), "temperature": 0, "replay_reasoning": ["reasoning"]}
    )
    assert one == other
    assert hash(one) == hash(other)
    assert json.dumps(one.public()) == json.dumps(other.public())


def test_numbers_of_numpy_become_plain() -> None:
    settings = LLMSettings.from_mapping({"model": "m", "seed": np.int64(3), "top_p": np.float32(0.5)})
    assert type(settings.seed) is int
    assert type(settings.top_p) is float


# ---------------------------------------------------------------- secrets


def secret_settings() -> LLMSettings:
    """Return settings with secrets wherever they may be."""
    return LLMSettings(model="m", base_url=URL, extra_headers={"X-B": SECRET, "Authorization": f"Bearer {SECRET}"})


def test_no_secret_is_in_repr_or_record() -> None:
    settings = secret_settings()
    assert settings.base_url == URL
    assert settings.extra_headers["X-B"] == SECRET
    for text in (repr(settings), str(settings), f"{[settings]}", json.dumps(settings.public())):
        assert SECRET not in text
        assert "user" not in text
        assert PUBLIC_URL in text
        assert "Authorization" in text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("base_url", f"user:{SECRET}@host"),
        ("base_url", f"//user:{SECRET}@host"),
        ("base_url", f"http://user:{SECRET} @host"),
        ("base_url", f"http://user:1/{SECRET}@host"),
        ("base_url", f"http://user:{SECRET}/x@host"),
        ("base_url", f"http://user:{SECRET}@[host"),
        ("base_url", f"http://user:{SECRET}@"),
        ("base_url", f"ftp://user:{SECRET}@host?key={SECRET}"),
        ("base_url", [SECRET]),
        ("api_key_variable", SECRET),
        ("api_key_variable", f"sk-{SECRET}"),
        ("api_key_variable", [SECRET]),
        ("extra_headers", {"Authorization": f"Bearer {SECRET}\n"}),
        ("extra_headers", {f"Authorization: Bearer {SECRET}": ""}),
        ("extra_headers", {"Authorization": [SECRET]}),
        ("extra_headers", f"Authorization: {SECRET}"),
        ("extra_headers", {"a": SECRET, "A": SECRET}),
        ("extra_body", {"key": object(), "token": SECRET}),
        ("api_key", SECRET),
        ("OPENAI_API_KEY", SECRET),
        ("bearer", SECRET),
    ],
)
def test_no_secret_is_in_an_error(name: str, value: object) -> None:
    with pytest.raises(LLMSettingsError) as caught:
        LLMSettings.from_mapping({"model": "m", name: value})
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_key_among_the_settings_is_answered_with_where_it_belongs() -> None:
    with pytest.raises(
        LLMSettingsError, match="'api_key': no setting of this name; a key is no setting; api_key_variable"
    ):
        LLMSettings.from_mapping({"model": "m", "api_key": SECRET})


@pytest.mark.parametrize(
    ("url", "public"),
    [
        (URL, PUBLIC_URL),
        ("http://localhost:11434/v1/", "http://localhost:11434/v1/"),
        ("https://u@h.example", "https://h.example"),
        ("https://u:a@b@h.example/v1", "https://h.example/v1"),
        ("http://[::1]:8080/v1?x=1", "http://[::1]:8080/v1"),
        ("HTTPS://Host.Example/v1;p", "https://Host.Example/v1;p"),
        ("https://h.example/%40acct/v1", "https://h.example/%40acct/v1"),
    ],
)
def test_an_address_is_recorded_without_user_password_query_and_fragment(url: str, public: str) -> None:
    assert LLMSettings(model="m", base_url=url).public()["base_url"] == public


def test_the_record_holds_every_setting_as_strict_json() -> None:
    record = LLMSettings(**FULL).public()
    again = json.loads(json.dumps(record, allow_nan=False))
    assert again == {**FULL, "replay_reasoning": list(FULL["replay_reasoning"]), "extra_headers": ["X-Title"]}


def test_settings_can_be_made_again_from_their_record_and_the_headers() -> None:
    settings = LLMSettings(**FULL)
    record = json.loads(json.dumps(settings.public()))
    assert LLMSettings.from_mapping({**record, "extra_headers": FULL["extra_headers"]}) == settings


# ---------------------------------------------------------------- values that nobody changes


def test_what_was_given_and_what_is_recorded_share_nothing_with_the_settings() -> None:
    body: dict[str, Any] = {"a": {"b": [1]}}
    headers = {"X": "1"}
    settings = LLMSettings(model="m", extra_body=body, extra_headers=headers)
    before = copy.deepcopy(settings)
    body["a"]["b"].append(2)
    headers["Y"] = "2"
    record: Any = settings.public()
    record["extra_body"]["a"]["b"].append(3)
    assert settings == before
    assert settings.extra_body == {"a": {"b": [1]}}


def test_settings_are_frozen_and_can_be_copied_and_sent_to_another_process() -> None:
    settings = LLMSettings(**FULL)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        settings.model = "other"  # pyright: ignore[reportAttributeAccessIssue] -- that is the test
    assert pickle.loads(pickle.dumps(settings)) == copy.deepcopy(settings) == settings  # noqa: S301 -- our own
    assert attrs.evolve(settings, seed=5).seed == 5


# ---------------------------------------------------------------- tables and command lines


@pytest.mark.parametrize(
    ("key", "near"),
    [
        ("max_token", "max_tokens"),
        ("keepturns", "keep_turns"),
        ("temprature", "temperature"),
        ("timeout", "timeout_s"),
        ("extra-body", "extra_body"),
        ("Model", "model"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_one(key: str, near: str) -> None:
    with pytest.raises(LLMSettingsError, match=rf"^'{key}': no setting of this name; did you mean {near}\?$"):
        LLMSettings.from_mapping({"model": "m", key: 1})


def test_a_name_like_no_other_is_refused_with_all_of_them() -> None:
    with pytest.raises(LLMSettingsError) as caught:
        LLMSettings.from_mapping({"model": "m", "zzz": 1})
    assert str(caught.value) == f"'zzz': no setting of this name; expected one of {', '.join(NAMES)}"


def test_a_missing_model_is_said() -> None:
    with pytest.raises(LLMSettingsError, match="model: got nothing, expected the name of a model"):
        LLMSettings.from_mapping({})


@pytest.mark.parametrize(
    "name", ["keep_turns", "token_budget", "temperature", "top_p", "max_tokens", "seed", "deadline_s"]
)
def test_a_limit_is_taken_away_by_the_word_none(name: str) -> None:
    assert getattr(LLMSettings.from_mapping({"model": "m", name: "none"}), name) is None


def test_the_word_none_is_an_ordinary_text_elsewhere() -> None:
    assert LLMSettings.from_mapping({"model": "none", "system_prompt": "none"}).system_prompt == "none"
    with pytest.raises(LLMSettingsError, match="timeout_s: got 'none'"):
        LLMSettings.from_mapping({"model": "m", "timeout_s": "none"})


def test_reasoning_that_can_be_replayed_is_what_servers_send() -> None:
    assert LLMSettings(model="m", replay_reasoning=REASONING_FIELDS).replay_reasoning == REASONING_FIELDS


VALUES: Final = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=9)
    | st.sampled_from(["tools", "none", URL]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=9), inner, max_size=2),
    max_leaves=4,
)


@given(st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=9), VALUES, max_size=6))
def test_any_table_makes_settings_or_a_settings_error(table: dict[str, Any]) -> None:
    try:
        settings = LLMSettings.from_mapping(table)
    except LLMSettingsError as error:
        assert re.search(r"expected|did you mean|is no setting", str(error))  # noqa: PT017 -- either is right
    else:
        record = json.dumps(settings.public(), allow_nan=False)
        record.encode("utf-8")
        assert SECRET not in record
