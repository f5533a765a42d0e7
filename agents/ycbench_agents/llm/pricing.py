"""What replies cost: a table of prices that users extend, and exact sums over it."""

from __future__ import annotations

import datetime as dt
import difflib
import re
import tomllib
from decimal import Decimal
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, cast

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ycbench_agents.base import JsonObject
    from ycbench_agents.llm.message import TokenUsage

__all__ = ["Price", "PriceError", "Prices", "cost_usd", "load_prices"]

_PER: Final = 1_000_000
_DATE: Final = re.compile(r"-(?:[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{8})$", re.ASCII)
_HIGHEST: Final = 1_000_000
_PLACES: Final = 12
_BUILT_IN: Final = "prices.toml"


class PriceError(ValueError):
    """A table of prices cannot be used; the message names file, key and value, one line for each problem."""


@attrs.frozen
class Price:
    """Prices of a model, in US dollars per million tokens.

    Args:
        prompt: Tokens of the prompt.
        completion: Tokens of the reply, reasoning included.
        as_of: Day on which the price was seen to hold.
        cached_prompt: Tokens of the prompt that were read from a cache; None if they cost as much as others.
        provider: Who serves the model, None if that is not said.
        aliases: Further names of the model.
    """

    prompt: Decimal
    completion: Decimal
    as_of: dt.date
    cached_prompt: Decimal | None = None
    provider: str | None = None
    aliases: tuple[str, ...] = ()

    def to_json(self) -> JsonObject:
        """Return the price for a record, amounts as text because they are exact."""
        return {
            "prompt": str(self.prompt),
            "cached_prompt": None if self.cached_prompt is None else str(self.cached_prompt),
            "completion": str(self.completion),
            "as_of": self.as_of.isoformat(),
        }

    @staticmethod
    def from_json(record: Mapping[str, object]) -> Price:
        """Return the price that ``to_json`` wrote.

        Raises:
            PriceError: It wrote none such.
        """
        try:
            fields: dict[str, object] = {
                name: Decimal(str(record[name]))
                for name in ("prompt", "cached_prompt", "completion")
                if record[name] is not None
            }
            return _price({**fields, "as_of": dt.date.fromisoformat(str(record["as_of"]))})
        except (KeyError, ValueError, ArithmeticError, _UnfitError) as error:
            msg = f"recorded price: got {_shown(dict(record))}, expected what Price.to_json writes ({error!r})"
            raise PriceError(msg) from None


@attrs.frozen
class Prices:
    """Prices by name of the model; ``load_prices`` makes one."""

    models: Mapping[str, Price] = attrs.field(factory=dict[str, Price], hash=False)

    def find(self, model: str) -> Price | None:
        """Return the price of a model, None where there is none.

        In turn: the exact name, an alias, the name without its provider's prefix, and the same without a date at its
        end. Nothing is guessed beyond that.
        """
        undated = _DATE.sub("", model)
        names = (model,) if undated == model else (model, undated)
        return next((price for name in names if (price := self._named(name)) is not None), None)

    def _named(self, name: str) -> Price | None:
        """Return the price of a name, an alias, or a name behind its provider."""
        if name in self.models:
            return self.models[name]
        for price in self.models.values():
            if name in price.aliases:
                return price
        provider, slash, rest = name.partition("/")
        price = self.models.get(rest)
        return price if slash and price is not None and price.provider == provider else None


def cost_usd(model: str, usage: TokenUsage, prices: Prices) -> float | None:
    """Return what tokens cost, in US dollars; None, never 0, where the price or a count that it needs is unknown.

    Computed exactly; the result is rounded once, to the nearest double. Cached tokens must be known where they have a
    price of their own. A price of 0 that somebody wrote down costs 0.0.
    """
    price = prices.find(model)
    if price is None or usage.prompt is None or usage.completion is None:
        return None
    cost = Fraction(price.prompt) * usage.prompt + Fraction(price.completion) * usage.completion
    if price.cached_prompt is not None and price.cached_prompt != price.prompt:
        if usage.cached is None or usage.cached > usage.prompt:
            return None
        cost -= (Fraction(price.prompt) - Fraction(price.cached_prompt)) * usage.cached
    return float(cost / _PER)


def load_prices(*paths: str | Path) -> Prices:
    """Return the built-in prices with those of TOML files laid over them; later files win, entry by entry.

    Raises:
        PriceError: A file cannot be read, or holds something else.
    """
    source = files("ycbench_agents.llm").joinpath(_BUILT_IN)
    models = _models(_BUILT_IN, source.read_text(encoding="utf-8"))
    for path in paths:
        models = {**models, **_models(str(path), _read(Path(path)))}
    _check_names(models)
    return Prices(models)


def _read(path: Path) -> str:
    """Return the text of a file."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        msg = f"{path}: cannot be read: {reason}; expected a TOML file of prices"
        raise PriceError(msg) from None


def _models(origin: str, text: str) -> dict[str, Price]:
    """Return the prices of a file."""
    try:
        tables = tomllib.loads(text, parse_float=Decimal)
    except (ArithmeticError, RecursionError, ValueError) as error:  # a number beyond what Decimal holds is arithmetic
        msg = f"{origin}: no valid TOML: {error}"
        raise PriceError(msg) from None
    problems: list[str] = []
    models = dict(_entries(cast("dict[str, object]", tables), problems))
    if problems:
        raise PriceError("\n".join(f"{origin}: {problem}" for problem in problems))
    return models


def _entries(tables: dict[str, object], problems: list[str]) -> Iterator[tuple[str, Price]]:
    """Yield the entries that can be used, and note the problems of the others."""
    if unknown := [key for key in tables if key != "models"]:
        problems.append(f"{unknown[0]}: unknown table, expected [models.<name>]; quote a name with a dot")
    models = tables.get("models", {})
    if not isinstance(models, dict):
        problems.append(f"models: got {_shown(models)}, expected tables [models.<name>]")
        return
    for name, fields in cast("dict[str, object]", models).items():
        try:
            yield name, _price(fields)
        except _UnfitError as unfit:
            problems.append(f'models."{name}"{unfit}')


class _UnfitError(Exception):
    """An entry cannot be used; the text goes on from its name."""


def _price(value: object) -> Price:
    """Return the price of one entry."""
    if not isinstance(value, dict):
        msg = f": got {_shown(value)}, expected a table with prompt, completion and as_of"
        raise _UnfitError(msg)
    fields = cast("dict[str, object]", value)
    for key in fields:
        if key not in _FIELDS:
            near = next(iter(difflib.get_close_matches(key, _FIELDS, n=1)), None)
            hint = f"did you mean {near}?" if near else 'a name with a dot needs quotes: [models."my.model"]'
            msg = f".{key}: unknown key, expected one of {', '.join(_FIELDS)}; {hint}"
            raise _UnfitError(msg)
    for key in ("prompt", "completion", "as_of"):
        if key not in fields:
            msg = f".{key}: missing, expected {_FIELDS[key][1]}"
            raise _UnfitError(msg)
    return cast("Callable[..., Price]", Price)(**{key: _field(key, value) for key, value in fields.items()})


def _field(key: str, value: object) -> object:
    """Return the value of a key in its own form."""
    read, expected = _FIELDS[key]
    result = read(value)
    if result is None:
        msg = f".{key}: got {_shown(value)}, expected {expected}"
        raise _UnfitError(msg)
    return result


def _amount(value: object) -> Decimal | None:
    """Return an amount; its places are limited so that exact sums stay small."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _HIGHEST:
        return Decimal(value)
    if not isinstance(value, Decimal) or not value.is_finite() or not 0 <= value <= _HIGHEST:
        return None
    exponent = value.as_tuple().exponent
    return value if isinstance(exponent, int) and -_PLACES <= exponent <= _PLACES else None


def _day(value: object) -> dt.date | None:
    """Return a date without a time of day."""
    return value if isinstance(value, dt.date) and not isinstance(value, dt.datetime) else None


def _name(value: object) -> str | None:
    """Return a name."""
    return value if isinstance(value, str) and value.strip() == value != "" else None


def _names(value: object) -> tuple[str, ...] | None:
    """Return a list of names."""
    names = [_name(item) for item in cast("list[object]", value)] if isinstance(value, list) else [None]
    return None if None in names else tuple(name for name in names if name is not None)


_AMOUNT: Final = f"US dollars per million tokens, from 0 to {_HIGHEST:_} with at most {_PLACES} decimals"
_FIELDS: Final[Mapping[str, tuple[Callable[[object], object], str]]] = MappingProxyType(
    {
        "prompt": (_amount, _AMOUNT),
        "cached_prompt": (_amount, _AMOUNT),
        "completion": (_amount, _AMOUNT),
        "as_of": (_day, "a date without quotes, such as 2025-08-07"),
        "provider": (_name, 'the word before the slash, such as "openai"'),
        "aliases": (_names, "a list of names"),
    }
)


def _check_names(models: Mapping[str, Price]) -> None:
    """Refuse two models of one name: which price counts would be a guess."""
    owners = {name: name for name in models}
    for model, price in models.items():
        for alias in price.aliases:
            owner = owners.setdefault(alias, model)
            if owner != model:
                msg = (
                    f'models."{model}".aliases: got {alias!r}, which is models."{owner}" already; expected another name'
                )
                raise PriceError(msg)


def _shown(value: object) -> str:
    """Return a value for a message, as TOML writes it where that matters."""
    text = str(value) if isinstance(value, Decimal | dt.date | dt.time) else repr(value)
    return text if len(text) <= 80 else text[:80] + "..."  # noqa: PLR2004 -- a line
