"""How a language model is asked: every choice of a run except the key, checked when it is made."""

from __future__ import annotations

import math
import numbers
import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, Self, cast
from urllib.parse import urlsplit, urlunsplit

import attrs

from ycbench_agents.llm.characters import is_utf8

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from ycbench_agents.base import Json, JsonObject

__all__ = ["REASONING_FIELDS", "LLMSettings", "LLMSettingsError"]

REASONING_FIELDS: Final = ("reasoning_content", "reasoning", "reasoning_details")
"""Fields of a reply in which servers send reasoning, and so those that can be replayed."""

_MOST_SHOWN: Final = 80
_LARGEST: Final = 2**63 - 1
_LONGEST_S: Final = 1_000_000_000
_VARIABLE: Final = re.compile(r"[A-Z_][A-Z0-9_]{0,127}")
_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE: Final = re.compile(r"(?:[!-~](?:[\t -~]*[!-~])?)?")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
# A request has these from the settings or from the policy; the body would silently win over them.
_OWN_BODY_KEYS: Final = frozenset(
    {
        "functions",
        "max_completion_tokens",
        "max_tokens",
        "messages",
        "model",
        "n",
        "seed",
        "stream",
        "temperature",
        "tools",
        "top_p",
    }
)


class LLMSettingsError(ValueError):
    """Settings cannot be used; the message has one line for each problem and shows no secret."""


class _UnfitError(Exception):
    """A value is not what was expected; the text says what was.

    Args:
        expected: What was expected.
        got: What was got, where the value itself must not be shown.
    """

    def __init__(self, expected: str, got: str | None = None) -> None:
        super().__init__(expected)
        self.got = got


def _shown(value: object) -> str:
    """Return a value for a message, cut if it is long."""
    try:
        text = repr(value)
    except ValueError:  # an int of thousands of digits
        return f"a huge {type(value).__name__}"
    return text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "..."


def _text(value: object) -> str:
    """Return a text of any length."""
    if isinstance(value, str) and is_utf8(value):
        return str(value)
    expected = "a text"
    raise _UnfitError(expected)


def _model(value: object) -> str:
    """Return the name of a model."""
    if isinstance(value, str) and value.strip() == value != "" and is_utf8(value) and not _CONTROL.search(value):
        return str(value)
    expected = "the name of a model as its server knows it, without blanks around it"
    raise _UnfitError(expected)


def _variable(value: object) -> str:
    """Return the name of an environment variable; keys have small letters or dashes, so one put here is refused."""
    if isinstance(value, str) and _VARIABLE.fullmatch(value):
        return str(value)
    expected = "the name of an environment variable (A-Z, 0-9 and _) such as OPENAI_API_KEY, never the key itself"
    raise _UnfitError(expected, "something else, not shown here because it may be a key")


def _base_url(value: object) -> str:
    """Return the address of a server."""
    expected = "an address such as http://127.0.0.1:8000/v1"
    if not isinstance(value, str):
        raise _UnfitError(expected, f"a {type(value).__name__}")
    # A password may stand anywhere in a text that is no address, so none of it is shown.
    if re.search(r"\s", value) or _CONTROL.search(value) or not is_utf8(value):
        raise _UnfitError(expected, "a text with a blank or a control character")
    try:
        parts = urlsplit(value)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise _UnfitError(expected, "a text that is no address") from None
    if not usable:
        raise _UnfitError(expected, "a text without http:// or https://, or without a host")
    if "@" in parts.path:
        # "https://user:1/2@host" has its password in the path, where nothing would hide it.
        raise _UnfitError(
            expected + "; write an @ in its path, or a / in a password, as %40 or %2F", "an @ in the path"
        )
    return str(value)


def _public_url(url: str) -> str:
    """Return an address without user, password, query and fragment."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _integer(least: int) -> Callable[[object], int]:
    """Return the reader of a whole number of at least ``least``."""

    def read(value: object) -> int:
        whole = int(value) if isinstance(value, numbers.Integral) else -1
        if not isinstance(value, bool) and least <= whole <= _LARGEST:
            return whole
        expected = f"a whole number from {least} to 2^63 - 1"
        raise _UnfitError(expected)

    return read


def _number(least: int, most: int | None = None, *, above: bool = False) -> Callable[[object], float]:
    """Return the reader of a finite number from ``least`` to ``most``, or above ``least``."""

    def read(value: object) -> float:
        number = _finite(value)
        fits = number is not None and (number > least if above else number >= least)
        if number is not None and fits and (most is None or number <= most):
            return number
        start = f"above {least}" if above else f"of at least {least}"
        expected = f"a finite number {start}" + ("" if most is None else f" and at most {most:_}")
        raise _UnfitError(expected)

    return read


def _finite(value: object) -> float | None:
    """Return a finite number as a float, so that equal settings have equal records; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number + 0.0 if math.isfinite(number) else None  # 0.0 for -0.0


def _choice(*choices: str) -> Callable[[object], str]:
    """Return the reader of one of a few words."""

    def read(value: object) -> str:
        if isinstance(value, str) and value in choices:
            return str(value)
        expected = "one of " + ", ".join(choices)
        raise _UnfitError(expected)

    return read


def _reasoning_fields(value: object) -> tuple[str, ...]:
    """Return the names of reasoning fields, each once."""
    if isinstance(value, list | tuple):
        names = cast("tuple[object, ...]", tuple(value))  # pyright: ignore[reportUnknownArgumentType] -- read here
        if all(isinstance(name, str) and name in REASONING_FIELDS for name in names):
            return tuple(dict.fromkeys(str(name) for name in names))
    expected = f"a list of names out of {', '.join(REASONING_FIELDS)}"
    raise _UnfitError(expected)


def _headers(value: object) -> dict[str, str]:
    """Return HTTP headers; their values are shown nowhere."""
    expected = "a table of HTTP header names and their values, printable ASCII text without blanks around it"
    if not isinstance(value, dict | MappingProxyType):
        raise _UnfitError(expected, f"a {type(value).__name__}")
    headers: dict[str, str] = {}
    for name, content in cast("Mapping[object, object]", value).items():
        if not isinstance(name, str) or not _HEADER_NAME.fullmatch(name):
            raise _UnfitError(expected, "a name that no header can have")
        if not isinstance(content, str) or not _HEADER_VALUE.fullmatch(content):
            raise _UnfitError(expected, f"a value that no header can have (not shown) for {name}")
        headers[str(name)] = str(content)
    if len({name.lower() for name in headers}) < len(headers):
        raise _UnfitError(expected, "names that differ in nothing but case")
    return headers


def _body(value: object) -> JsonObject:
    """Return a JSON object, copied, so that nobody can change it afterwards."""
    expected = "a table of JSON values that the server takes beside the usual ones"
    if not isinstance(value, dict | MappingProxyType):
        raise _UnfitError(expected, f"a {type(value).__name__}")
    table = dict(cast("Mapping[object, object]", value))
    if own := sorted(key for key in table if isinstance(key, str) and key in _OWN_BODY_KEYS):
        raise _UnfitError(expected + "; these are set otherwise", ", ".join(own))
    try:
        return _json_table(table)
    except (RecursionError, TypeError):
        got = "a value or key that JSON does not have, such as NaN or a date"
        raise _UnfitError(expected, got) from None


def _json(value: object) -> Json:
    """Return a copy of a JSON value; TypeError if it is none."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str) and is_utf8(value):
        return str(value)
    if isinstance(value, int) and -_LARGEST <= value <= _LARGEST:
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if isinstance(value, list | tuple):
        return [_json(item) for item in cast("Iterable[object]", value)]
    if isinstance(value, dict):
        return _json_table(cast("dict[object, object]", value))
    raise TypeError


def _json_table(table: dict[object, object]) -> JsonObject:
    """Return a copy of a JSON object; TypeError if it is none."""
    if not all(isinstance(key, str) and is_utf8(key) for key in table):
        raise TypeError
    return {str(key): _json(value) for key, value in table.items()}


def _optional(read: Callable[[object], object]) -> Callable[[object], object]:
    """Return the reader of a value or None."""
    return lambda value: None if value is None else read(value)


_READERS: Final[Mapping[str, Callable[[object], object]]] = MappingProxyType(
    {
        "model": _model,
        "base_url": _optional(_base_url),
        "api_key_variable": _variable,
        "keep_turns": _optional(_integer(0)),
        "token_budget": _optional(_integer(1)),
        "mode": _choice("tools", "text"),
        "replay_reasoning": _reasoning_fields,
        "max_calls_a_reply": _integer(1),
        "temperature": _optional(_number(0)),
        "top_p": _optional(_number(0, 1)),
        "max_tokens": _optional(_integer(1)),
        "max_tokens_field": _choice("max_completion_tokens", "max_tokens"),
        "seed": _optional(_integer(0)),
        "system_prompt": _optional(_text),
        "extra_headers": _headers,
        "extra_body": _body,
        "timeout_s": _number(0, _LONGEST_S, above=True),
        "max_retries": _integer(0),
        "retry_after_cap_s": _number(0, _LONGEST_S),
        "backoff_s": _number(0, _LONGEST_S),
        "deadline_s": _optional(_number(0, _LONGEST_S, above=True)),
    }
)
"""What reads each setting; a field without a reader is an error at once."""

_LIMITS: Final = ("keep_turns", "token_budget", "temperature", "top_p", "max_tokens", "seed", "deadline_s")
"""Settings that can be none, for which a file or a command line, which have no None, may write "none"."""


@attrs.frozen(kw_only=True)
class LLMSettings:
    """How a language model is asked.

    The key is no setting: ``api_key_variable`` names the environment variable that holds it.

    Invariants: every instance is legal; neither ``repr`` nor ``public`` shows a header's value or what an address
    holds beside scheme, host, port and path.

    Args:
        model: Name of the model, as its server knows it.
        base_url: Address of the server, None for the default of the ``openai`` package.
        api_key_variable: Environment variable that holds the key.
        keep_turns: Latest turns that the model is shown, None for all of them.
        token_budget: Most tokens of a request, by estimate; None for no limit.
        mode: Whether the model calls a tool, or writes commands as text.
        replay_reasoning: Fields of reasoning that are sent back with the turns they belong to.
        max_calls_a_reply: Calls of one reply that are carried out; further ones are refused.
        temperature: Sampling temperature, None for the server's own.
        top_p: Nucleus sampling mass, 0 to 1, None for the server's own.
        max_tokens: Most tokens of a reply, None for the server's own limit.
        max_tokens_field: Name under which the server takes ``max_tokens``.
        seed: Sampling seed, for servers that take one.
        system_prompt: Template of the system prompt, None for the built-in one; see ``prompt.placeholders``.
        extra_headers: HTTP headers sent with each request; their values may be secrets.
        extra_body: JSON sent with each request beside the usual fields. It is recorded, so it must hold no secret.
        timeout_s: Longest wall time of one attempt, in seconds.
        max_retries: Attempts after the first.
        retry_after_cap_s: Longest wait between attempts, also where the server asks for more, in seconds.
        backoff_s: First wait between attempts, in seconds; each further one is twice as long, up to the cap.
        deadline_s: Longest wall time of all attempts of one turn, waits included; None for no limit.

    Raises:
        LLMSettingsError: A value cannot be used; one line for each, with what was got and what was expected.
    """

    model: str
    base_url: str | None = attrs.field(default=None, repr=lambda url: repr(url and _public_url(url)))
    api_key_variable: str = "OPENAI_API_KEY"
    keep_turns: int | None = 20
    token_budget: int | None = None
    mode: Literal["tools", "text"] = "tools"
    replay_reasoning: tuple[str, ...] = ()
    max_calls_a_reply: int = 50
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    max_tokens_field: Literal["max_completion_tokens", "max_tokens"] = "max_completion_tokens"
    seed: int | None = None
    system_prompt: str | None = None
    extra_headers: Mapping[str, str] = attrs.field(factory=dict[str, str], hash=False, repr=lambda it: repr(sorted(it)))
    extra_body: Mapping[str, Json] = attrs.field(factory=dict[str, "Json"], hash=False)
    timeout_s: float = 600.0
    max_retries: int = 8
    retry_after_cap_s: float = 120.0
    backoff_s: float = 1.0
    deadline_s: float | None = None

    def __attrs_post_init__(self) -> None:
        """Refuse values that cannot be used, and bring the others into their one form."""
        problems: list[str] = []
        for field in attrs.fields(type(self)):
            value: object = getattr(self, field.name)
            try:
                object.__setattr__(self, field.name, _READERS[field.name](value))
            except _UnfitError as unfit:
                none = ", or none" if field.name in _LIMITS else ""
                problems.append(f"{field.name}: got {unfit.got or _shown(value)}, expected {unfit}{none}")
        if problems:
            raise LLMSettingsError("\n".join(problems))

    @classmethod
    def from_mapping(cls, values: Mapping[str, object]) -> Self:
        """Return the settings that a TOML table or a command line describes.

        Args:
            values: Values by name of the setting; "none" takes a limit away, since neither of both has a None.

        Raises:
            LLMSettingsError: A key is unknown (the message names the nearest one), ``model`` is missing, or a value
                cannot be used.
        """
        problems = list(_key_problems(values))
        if problems:
            raise LLMSettingsError("\n".join(problems))
        given = {name: None if name in _LIMITS and value == "none" else value for name, value in values.items()}
        return cast("Callable[..., Self]", cls)(**given)

    def public(self) -> JsonObject:
        """Return what a run record holds: every setting, but of headers the names and of an address no secret part."""
        record = cast("JsonObject", attrs.asdict(self))
        record["base_url"] = self.base_url and _public_url(self.base_url)
        record["replay_reasoning"] = list(self.replay_reasoning)
        record["extra_headers"] = [*sorted(self.extra_headers)]
        return record


def _key_problems(values: Mapping[str, object]) -> Iterator[str]:
    """Yield what is wrong with the names of settings; values are not shown, since one of them may be a key."""
    import difflib  # noqa: PLC0415 -- needed only to word an error

    for name in values:
        if name in _READERS:
            continue
        near = next(iter(difflib.get_close_matches(str(name), _READERS, n=1, cutoff=0.4)), None)
        hint = f"did you mean {near}?" if near else f"expected one of {', '.join(_READERS)}"
        if "key" in str(name).lower():
            hint = "a key is no setting; api_key_variable names the environment variable that holds it"
        yield f"{_shown(name)}: no setting of this name; {hint}"
    if "model" not in values:
        yield "model: got nothing, expected the name of a model as its server knows it"
