"""Secrets do not get through."""

from __future__ import annotations

import logging
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ycbench_agents.llm.redaction import RedactingFilter, Secrets, secrets_of
from ycbench_agents.llm.settings import LLMSettings

KEY = "sk-0123456789abcdef/+="


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"key {KEY}!", "key [redacted]!"),
        (f"{KEY}{KEY}", "[redacted]"),
        (f"in an address: {quote(KEY, safe='')}.", "in an address: [redacted]."),
        ("cut: sk-0123456789ab...", "cut: [redacted]..."),
        ("the end of it: 56789abcdef/+=", "the end of it: [redacted]"),
        ("sk-01 and def tell nothing", "sk-01 and def tell nothing"),
        ("", ""),
    ],
)
def test_a_key_is_hidden_whole_or_in_long_parts(text: str, expected: str) -> None:
    assert Secrets(KEY).hidden_in(text) == expected


def test_values_of_headers_and_private_parts_of_an_address_are_secrets() -> None:
    settings = LLMSettings(model="m", extra_headers={"X-A": "Token 5f3c1b77", "X-B": "yes"})
    secrets = secrets_of(settings, "", "http://user:pa%20ss@host/v1?sig=q88q88&b=#frag")
    shown = secrets.hidden_in("Token yes 5f3c1b77; pa ss, pa%20ss, q88q88, frag, user, host")
    assert shown == "Token yes [redacted]; [redacted], [redacted], [redacted], [redacted], user, host"


def test_a_representation_shows_no_secret() -> None:
    assert repr(Secrets(KEY, (KEY,))) == "Secrets()"


def test_a_reply_keeps_words_that_are_short_keys() -> None:
    assert Secrets("lm-studio").hidden_in_reply("I like lm-studio") == "I like lm-studio"
    assert Secrets(KEY).hidden_in_reply(f"I like {KEY}") == "I like [redacted]"


def test_a_log_record_is_cleaned_with_its_exception() -> None:
    record = logging.LogRecord("x", logging.INFO, "x.py", 1, "key %s", (KEY,), None)
    with pytest.raises(ValueError, match="invalid literal") as caught:
        int(KEY)
    record.exc_info = (caught.type, caught.value, caught.tb)
    assert RedactingFilter(Secrets(KEY)).filter(record)
    text = logging.Formatter().format(record)
    assert text.startswith("key [redacted]\nTraceback")
    assert KEY not in text
    assert record.exc_info is None  # handlers of other makes would write it out themselves


@given(key=st.text(st.characters(codec="ascii", exclude_characters=" "), min_size=4, max_size=60), data=st.data())
def test_no_text_shows_a_key(key: str, data: st.DataObject) -> None:
    parts = data.draw(st.lists(st.text(max_size=20) | st.just(key), max_size=6))
    shown = Secrets(key).hidden_in("".join(parts))
    assert key not in shown.replace("[redacted]", "\n")
