"""Keys are found in a record however they are written there."""

from __future__ import annotations

import json

import pytest

from ycbench_agents.records.secret import secrets_in, variable_found_in

KEY = "sk-abc/def+ghi-0123456789"


def test_blanks_around_a_value_are_no_part_of_the_key() -> None:
    environ = {"A_API_KEY": f" {KEY}\r\n", "MINE": f"{KEY}2\r", "B_API_KEY": "short" + " " * 20, "OTHER": KEY}
    assert secrets_in(environ, {"api_key_variable": "MINE"}) == {"A_API_KEY": KEY, "MINE": f"{KEY}2"}


@pytest.mark.parametrize(
    "inner",
    [
        KEY,
        KEY.replace("/", "\\/"),
        KEY.replace("+", "\\u002B"),
        "".join(f"\\u{ord(sign):04x}" for sign in KEY),
        json.dumps(json.dumps("".join(f"\\u{ord(sign):04x}" for sign in KEY))),
    ],
)
def test_a_key_is_found_however_deep_it_is_escaped(inner: str) -> None:
    text = json.dumps({"arguments": f'{{"command": "{inner}"}}'})
    assert variable_found_in(text, {"A_API_KEY": KEY}) == "A_API_KEY"
    assert variable_found_in(text, {"A_API_KEY": KEY[::-1]}) is None
    assert variable_found_in(text, {}) is None
