"""Secrets do not get through."""

from __future__ import annotations

import base64
import json
import logging
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ycbench_agents.llm.message import ChatReply, TokenUsage, ToolCall
from ycbench_agents.llm.redaction import RedactingFilter, Secrets, secrets_of
from ycbench_agents.llm.settings import LLMSettings

if TYPE_CHECKING:
    from collections.abc import Callable

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


def said(secrets: Secrets, text: str) -> str | None:
    return secrets.hidden_in_reply(ChatReply(text)).content


def test_a_reply_keeps_words_that_stand_for_no_key() -> None:
    assert said(Secrets("lm-studio"), "I like lm-studio") == "I like lm-studio"
    assert said(Secrets("pass"), "I pass") == "I pass"
    assert said(Secrets(KEY), f"I like {KEY}s") == "I like [redacted]s"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("it is hunter22.", "it is [redacted]."),
        ("hunter22", "[redacted]"),
        ('{"command": "a\\nhunter22"}', '{"command": "a\\n[redacted]"}'),
        ("hunter221 and my-hunter22", "hunter221 and my-hunter22"),
    ],
)
def test_a_key_of_8_signs_is_hidden_where_it_is_a_word(text: str, expected: str) -> None:
    assert said(Secrets("hunter22"), text) == expected


ESCAPES = {
    "plain": lambda text: text,
    "PHP": lambda text: text.replace("/", "\\/"),
    ".NET": lambda text: text.replace("+", "\\u002B"),
    "every sign": lambda text: "".join(f"\\u{ord(sign):04x}" for sign in text),
    "in JSON": lambda text: json.dumps("".join(f"\\u{ord(sign):04x}" for sign in text))[1:-1],
    "address": lambda text: quote(text, safe=""),
    "small address": lambda text: quote(text, safe="").lower(),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
}


@pytest.mark.parametrize("escape", ESCAPES.values(), ids=ESCAPES)
def test_a_key_is_hidden_however_it_is_escaped_in_every_text_of_a_reply(escape: Callable[[str], str]) -> None:
    shown = escape(KEY)
    reply = ChatReply(
        content=f"a {shown} b",
        tool_calls=(
            ToolCall(shown, f"run {shown}", json.dumps({"command": "x"}).replace("x", shown)),
            ToolCall("a", "b", {shown: [{"c": shown}, 1, None]}),
        ),
        finish_reason=f"stop {shown}",
        reasoning={"reasoning_details": [{"text": shown}]},
        usage=TokenUsage(1, 2),
        model=f"m {shown}",
    )
    hidden = Secrets(KEY).hidden_in_reply(reply)
    assert shown not in repr(hidden)
    assert repr(hidden).count("[redacted]") == 9
    assert hidden.usage == reply.usage
    assert json.loads(str(hidden.tool_calls[0].arguments))
    error = Secrets(KEY).hidden_in(f"you sent {shown}")
    assert error.startswith("you sent [redacted]")
    assert len(error) < 25


def test_a_reply_loses_values_of_secret_headers_and_no_others() -> None:
    public = {
        "HTTP-Referer": "https://example.org/agent",
        "X-Title": "data_environment",
        "X-Author": "completion_tokens",
        "X-Tokenizer": "a-tokenizer-of-mine",
        "User-Agent": "a-browser-of-mine/1",
        "OpenAI-Organization": "org-0123456789abcdef",
        "X-Unknown-Too": "https://example.org/agent/0123456789",
    }
    private = {
        "Authorization": "Bearer auth-secret",
        "Proxy-Authorization": "Basic proxy-secret",
        "x-api-key": "x-api-secret",
        "Api-Key": "azure-secret",
        "Cookie": "a=cookie-secret",
        "X-My-Token": "token-secret",
        "X-Signature": "signed-secret",
        "X-Password": "password-secret",
        "X-Unknown": "looks-like-1-token",
    }
    settings = LLMSettings(model="m", extra_headers=public | private)
    secrets = secrets_of(settings, "", "https://h/v1?sig=query-secret&api-version=2024-10-21-preview")
    kept = ["2024-10-21-preview", *public.values()]
    assert said(secrets, " ".join(kept)) == " ".join(kept)
    words = [value.split()[-1] for value in private.values()]
    shown = said(secrets, " ".join((*words, "query-secret")))
    assert shown == " ".join(["[redacted]"] * 10)
    assert secrets.hidden_in(public["X-Title"]) == "[redacted]"


def test_user_and_password_are_hidden_as_the_header_that_they_become() -> None:
    url = "http://us%40er:pa%2Fss@host/v1"
    header = base64.b64encode(b"us@er:pa/ss").decode()
    secrets = secrets_of(LLMSettings(model="m"), "", url)
    assert secrets.hidden_in(f"Basic {header}!") == "Basic [redacted]!"
    assert str(said(secrets, f"Basic {header}!")).replace("=", "") == "Basic [redacted]!"  # padding tells nothing


def test_a_text_full_of_backslashes_does_not_make_the_search_slow() -> None:
    # Without bounds this would take hours: the limit of the test run is the check.
    assert said(Secrets("a" + "\\" * 30 + "b"), "a" + "\\" * 100_000) == "a" + "\\" * 100_000


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
