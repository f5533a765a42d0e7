"""How a language model is asked: every choice of a run except the key, checked when it is made."""

# ruff: noqa: ANN401, RUF009 -- fields of attrs, made by functions, check values of any type

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, TypeAlias, cast
from urllib.parse import urlsplit

import attrs

from ycbench_agents.files import to_json
from ycbench_env import Config
from ycbench_env.text import JsonObject, nearest, printable, shown

OPENAI_URL: Final = "https://api.openai.com/v1"
"""Address that is asked where neither the settings nor the variable OPENAI_BASE_URL name one."""

REASONING_FIELDS: Final = ("reasoning_content", "reasoning", "reasoning_details")
"""Fields of a reply in which servers send reasoning, and so those that can be sent back."""

Mode: TypeAlias = Literal["tools", "text"]
"""Whether a model calls a tool, or writes commands as text."""

AGENT_KEYS: Final = {
    "keep_turns": "history_keep_rounds",
    "temperature": "temperature",
    "top_p": "top_p",
    "timeout_s": "request_timeout_seconds",
    "max_retries": "retry_max_attempts",
}
"""Keys of the configuration's table ``agent`` that give settings their defaults."""

_LARGEST: Final = 2**63 - 1
_LONGEST: Final = 1e9  # seconds
_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE: Final = re.compile(r"(?:[!-~](?:[\t -~]*[!-~])?)?")
_OWN_BODY_KEYS: Final = (  # fields of a request that come from other settings or from the policy
    *("functions", "max_completion_tokens", "max_tokens", "messages", "model", "n", "seed", "stream"),
    *("temperature", "tools", "top_p"),
)


class LLMSettingsError(ValueError):
    """A setting cannot be used; the message names it, what was got and what is expected, and shows no secret."""


def is_openai(host: str | None) -> bool:
    """Return whether a host is one of OpenAI's own."""
    return host is not None and (host == "openai.com" or host.endswith(".openai.com"))


def is_this_machine(host: str | None) -> bool:
    """Return whether a host is this machine."""
    return host in {"127.0.0.1", "::1", "localhost"}


def address_in_environment() -> str:
    """Return the address in OPENAI_BASE_URL, which the package ``openai`` itself would follow; empty without one."""
    return os.environ.get("OPENAI_BASE_URL", "").strip()


def is_address(value: object) -> bool:
    """Return whether a value is the address of a server: http or https, a host, and neither password nor query."""
    if not isinstance(value, str) or printable(value) != value or re.search(r"[\s@?#]", value):
        return False
    try:
        parts = urlsplit(value)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _setting(
    legal: str, fits: Callable[[Any], object], *, none: bool = False, secret: bool = False, **field: Any
) -> Any:
    """Return a field with its check; ``secret`` values are shown in no message.

    ``legal`` stands in the message of an error and in the table of docs/llm.md. What ``fits`` raises refuses a value.
    """
    expected = f"{legal}, or none" if none else legal

    def check(_: object, attribute: attrs.Attribute[object], value: object) -> None:
        try:
            is_legal = (none and value is None) or fits(value)
        except (AttributeError, RecursionError, TypeError, ValueError):
            is_legal = False
        if not is_legal:
            got = f"a {type(value).__name__} that is not shown, since it may hold a secret" if secret else shown(value)
            msg = f"{attribute.name}: got {got}, expected {expected}"
            raise LLMSettingsError(msg)

    return attrs.field(validator=check, metadata={"legal": expected, "none": none}, **field)


def _one_of(*words: str) -> Any:
    return _setting(f"one of {', '.join(words)}", lambda value: value in words, default=words[0])


def _whole(least: int, **field: Any) -> Any:
    legal = f"a whole number from {least} to 2^63 - 1"
    return _setting(legal, lambda value: type(value) is int and least <= value <= _LARGEST, **field)


def _number(within: str, fits: Callable[[float], object], **field: Any) -> Any:
    def as_float(value: Any) -> Any:  # whole numbers, too, and -0.0 as 0.0, so that equal settings have equal records
        return float(value) + 0.0 if type(value) in {int, float} and abs(value) <= _LARGEST else value

    legal = f"a finite number {within}"
    return _setting(legal, lambda value: isinstance(value, float) and fits(value), converter=as_float, **field)


def _seconds(**field: Any) -> Any:
    return _number("above 0 and at most 1_000_000_000", lambda value: 0 < value <= _LONGEST, **field)


def _are_headers(value: dict[str, str]) -> bool:
    legal = all(_HEADER_NAME.fullmatch(name) and _HEADER_VALUE.fullmatch(text) for name, text in value.items())
    return legal and len({name.lower() for name in value}) == len(value)


@attrs.frozen(kw_only=True)
class LLMSettings:
    """How a language model is asked.

    The key is no setting: ``api_key_variable`` names the environment variable that holds it. Neither ``repr`` nor
    ``public`` nor an error shows the value of a header, and an address can hold no password.

    Args:
        model: Name of the model, as its server knows it.
        base_url: Address of the server, without password or query; none for `OPENAI_BASE_URL`, or OpenAI's own.
        api_key_variable: Environment variable that holds the key.
        keep_turns: Latest turns that the model is shown, none for all of them.
        token_budget: Most tokens of a request, by estimate; none for no limit.
        mode: Whether the model calls a tool, or writes commands as text.
        replay_reasoning: Fields of reasoning that are sent back with the turns they belong to.
        max_calls_a_reply: Calls of one reply that are carried out; further ones are refused.
        temperature: Sampling temperature, none for the server's own.
        top_p: Nucleus sampling mass, none for the server's own.
        max_tokens: Most tokens of a reply, none for the server's own limit.
        max_tokens_field: Name under which the server takes ``max_tokens``.
        seed: Sampling seed, for servers that take one.
        system_prompt: Template of the system prompt, none for the built-in one.
        extra_headers: HTTP headers sent with each request; their values may be secrets.
        extra_body: JSON sent with each request beside the usual fields. It is recorded, so it must hold no secret.
        timeout_s: Longest wall time of one attempt, in seconds.
        max_retries: Attempts after the first.
        deadline_s: Longest wall time of all attempts of one turn, waits included, in seconds; none for no limit.

    Raises:
        LLMSettingsError: A value cannot be used.
    """

    # fmt: off
    model: str = _setting(
        "the name of a model as its server knows it, without blanks around it",
        lambda value: value.strip() == value != "" and printable(value) == value,
    )
    base_url: str | None = _setting(
        "an address such as http://127.0.0.1:8000/v1, without user, password and query", is_address,
        none=True, secret=True, default=None,
    )
    api_key_variable: str = _setting(
        "the name of an environment variable (A-Z, 0-9 and _) such as OPENAI_API_KEY, never the key itself",
        lambda value: re.fullmatch(r"[A-Z_][A-Z0-9_]{0,127}", value) is not None,
        secret=True, default="OPENAI_API_KEY",
    )
    keep_turns: int | None = _whole(0, none=True, default=20)
    token_budget: int | None = _whole(1, none=True, default=None)
    mode: Mode = _one_of("tools", "text")
    replay_reasoning: tuple[str, ...] = _setting(
        f"a list of names out of {', '.join(REASONING_FIELDS)}",
        lambda value: isinstance(value, tuple) and set(value) <= set(REASONING_FIELDS),
        converter=lambda value: tuple(value) if isinstance(value, list) else value, default=(),
    )
    max_calls_a_reply: int = _whole(1, default=50)
    temperature: float | None = _number("of at least 0", lambda value: 0 <= value < math.inf, none=True, default=None)
    top_p: float | None = _number("of at least 0 and at most 1", lambda value: 0 <= value <= 1, none=True, default=None)
    max_tokens: int | None = _whole(1, none=True, default=None)
    max_tokens_field: Literal["max_completion_tokens", "max_tokens"] = _one_of("max_completion_tokens", "max_tokens")
    seed: int | None = _whole(0, none=True, default=None)
    system_prompt: str | None = _setting("a text", lambda value: isinstance(value, str), none=True, default=None)
    extra_headers: dict[str, str] = _setting(
        "a table of HTTP header names and their values, printable ASCII text without blanks around it", _are_headers,
        secret=True, factory=dict, hash=False, repr=lambda value: repr(sorted(value)),
    )
    extra_body: dict[str, Any] = _setting(
        f"a table of JSON values without the fields that are set otherwise ({', '.join(_OWN_BODY_KEYS)})",
        lambda value: to_json(value) and value.keys().isdisjoint(_OWN_BODY_KEYS)
        and all(isinstance(key, str) for key in value),
        factory=dict, hash=False,
    )
    timeout_s: float = _seconds(default=600.0)
    max_retries: int = _whole(0, default=8)
    deadline_s: float | None = _seconds(none=True, default=None)
    # fmt: on

    def public(self) -> JsonObject:
        """Return what a run record holds: every setting as JSON, of headers the names only."""
        lists = {"replay_reasoning": list(self.replay_reasoning), "extra_headers": sorted(self.extra_headers)}
        return cast("JsonObject", attrs.asdict(self) | lists)


def settings_for(config: Config, values: Mapping[str, object]) -> LLMSettings:
    """Return the settings of a model: the given ones, else those in ``[agent]`` of the configuration.

    Args:
        config: Configuration of the environment.
        values: Settings by name, see ``LLMSettings``; ``model`` is needed. The text "none" takes a limit away, since
            neither TOML nor a command line has a None.

    Raises:
        LLMSettingsError: A name is unknown (the message shows the nearest one), or a value cannot be used.
    """
    fields = attrs.fields_dict(LLMSettings)
    if unknown := [str(name) for name in values if name not in fields]:
        meant = nearest(unknown[0], fields)
        hint = f"did you mean {meant}?" if meant else f"expected one of {', '.join(fields)}"
        if "key" in unknown[0].lower():
            hint = "a key is no setting; api_key_variable names the environment variable that holds it"
        msg = f"{shown(unknown[0])}: no setting of this name; {hint}"
        raise LLMSettingsError(msg)
    if values.get("model") is None:
        msg = "model: got nothing, expected the name of a model as its server knows it"
        raise LLMSettingsError(msg)
    chosen: dict[str, Any] = {name: getattr(config.agent, key) for name, key in AGENT_KEYS.items()}
    chosen["max_retries"] -= 1  # the key counts the first attempt
    for name, value in values.items():
        chosen[name] = None if value == "none" and fields[name].metadata["none"] else value
    return LLMSettings(**chosen)
