"""How values become text: compact JSON, printable text, amounts, and a value inside an error message."""

import json
import re
from collections.abc import Callable, Iterable
from json import encoder
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
else:
    Json = Any  # neither typing.get_type_hints nor cattrs resolves a recursive alias from another module
"""A JSON value."""

JsonObject: TypeAlias = dict[str, Json]
"""A JSON object."""

text_json: Final[Callable[[str], str]] = encoder.encode_basestring
"""Return a text as a JSON string; the same as ``to_json``, without setting an encoder up."""


def _make_encoder() -> Callable[[Json], str]:
    """Return an encoder that is set up once.

    ``JSONEncoder.encode`` sets one up for each call, which takes longer than to encode most answers. The accelerator
    behind it is no documented interface, so it is used only where it does what is expected of it.
    """
    plain = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    probe: Json = {"text": "\u00e9\n", "list": [1, 2.5, None, True]}
    compiled: Any = getattr(encoder, "c_make_encoder", None)
    try:
        chunks = compiled(None, plain.default, text_json, None, ":", ",", False, False, False)  # noqa: FBT003 -- C
        if "".join(chunks(probe, 0)) == plain.encode(probe):
            return lambda value: "".join(chunks(value, 0))
    except TypeError:  # no accelerator, or one of another shape
        pass
    return plain.encode


to_json: Final[Callable[[Json], str]] = _make_encoder()
"""Return compact JSON text of a value, floats in their shortest exact form; ValueError for a NaN or an infinity."""


_UNITS: Final = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K"))
_UNPRINTABLE: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]"
)
"""Controls, direction marks, invisible characters and lone surrogates: a fixed set, equal on every Python."""


def printable(text: str) -> str:
    r"""Return a text that is safe to print: control, invisible and direction characters become escapes.

    >>> printable("a\u202eb\n")
    'a\\u202eb\\n'
    """
    return _UNPRINTABLE.sub(lambda match: match[0].encode("unicode_escape", "surrogatepass").decode("ascii"), text)


def nearest(word: str, words: Iterable[str]) -> str | None:
    """Return the word that was probably meant, None if none is similar; long texts are cut, since comparing is slow."""
    import difflib  # noqa: PLC0415 -- needed only to word an error

    return next(iter(difflib.get_close_matches(word[:80], list(words), n=1)), None)


def dollars(cents: int | None) -> str:
    """Return an amount as $1,234.56, exact; a dash for None."""
    if cents is None:
        return "-"
    whole, rest = divmod(abs(cents), 100)
    return f"{'-' if cents < 0 else ''}${whole:,}.{rest:02d}"


def short_dollars(amount: float) -> str:
    """Return an amount in dollars as $950, $84K, $1.27M: three digits at most.

    >>> [short_dollars(amount) for amount in (0, -950, 84_049.9, 999_999, 1_269_734)]
    ['$0', '-$950', '$84K', '$1M', '$1.27M']
    """
    size = float(f"{abs(amount):.3g}")  # rounded first, or 999,999 would become $1e+03K
    unit, letter = next((each for each in _UNITS if size >= each[0]), (1.0, ""))
    digits = f"{size / unit:,.0f}" if size >= 1000 * unit or not letter else f"{size / unit:.3g}"
    return f"{'-' if amount < 0 and digits != '0' else ''}${digits}{letter}"


def shown(value: object, most: int = 80) -> str:
    r"""Return a value as an error message shows it: its ASCII repr, cut after ``most`` characters.

    Look-alike letters and direction marks appear as escapes. A long text is cut before it is converted, and a value
    that Python cannot show (a number of thousands of digits, a class whose repr fails) appears as its type.

    >>> shown("caf\xe9")
    "'caf\\xe9'"
    >>> shown("x" * 1000, most=8)
    "'xxxx..."
    """
    try:
        text = ascii(value[: most + 1] if isinstance(value, str | bytes) else value)
    except Exception:  # noqa: BLE001 -- whatever a class makes of its repr
        text = f"<{type(value).__name__}>"
    return text if len(text) <= most else text[: most - 3] + "..."
