"""What replies cost: tokens, a table of prices that users extend, and exact costs."""

from __future__ import annotations

import contextlib
import json
import re
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, cast

import attrs

from ycbench_agents.files import FileError, read_file, structure, unstructure
from ycbench_env.text import JsonObject

_DATE: Final = re.compile(r"-(?:[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{8})$", re.ASCII)
_IN_RANGE: Final = (attrs.validators.ge(0), attrs.validators.le(1_000_000))


@attrs.frozen
class TokenUsage:
    """Tokens of one reply; None is unknown, never 0."""

    prompt: int | None = None  # cached ones included
    completion: int | None = None  # reasoning included
    cached: int | None = None
    reasoning: int | None = None


@attrs.frozen
class Price:
    """Prices of a model, in US dollars per million tokens; prices.toml explains each field."""

    prompt: float = attrs.field(validator=_IN_RANGE)
    completion: float = attrs.field(validator=_IN_RANGE)
    as_of: str = attrs.field(validator=attrs.validators.matches_re("[0-9]{4}-[01][0-9]-[0-3][0-9]"))
    cached_prompt: float | None = attrs.field(default=None, validator=attrs.validators.optional(_IN_RANGE))
    provider: str | None = None
    aliases: tuple[str, ...] = ()

    def to_json(self) -> JsonObject:
        """Return the price as a run's record holds it."""
        return cast("JsonObject", unstructure(self))

    @staticmethod
    def from_json(record: Mapping[str, object]) -> Price:
        """Return the price that ``to_json`` wrote; runs in format 1 have amounts as text.

        Raises:
            FileError: It is no such price.
        """
        values = dict(record)
        for name in ("prompt", "completion", "cached_prompt"):
            if isinstance(text := values.get(name), str):
                with contextlib.suppress(ValueError):
                    values[name] = float(text)
        return structure(values, Price, "recorded price")


@attrs.frozen
class Prices:
    """Prices by name of the model; ``load_prices`` makes one."""

    models: dict[str, Price] = attrs.field(factory=dict[str, Price], hash=False)

    def find(self, model: str) -> Price | None:
        """Return the price of a model, None where there is none.

        In turn: the exact name, an alias, the name without its provider's prefix, and the same without a date at its
        end. Nothing is guessed beyond that.
        """
        for name in dict.fromkeys((model, _DATE.sub("", model))):
            if name in self.models:
                return self.models[name]
            provider, _, rest = name.partition("/")
            for known, price in self.models.items():
                if name in price.aliases or (known == rest and price.provider == provider):
                    return price
        return None


def cost_usd(usage: TokenUsage, price: Price | None) -> float | None:
    """Return what tokens cost, in US dollars; None, never 0, where the price or a count that it needs is unknown.

    Computed exactly from the decimal amounts and rounded once, to the nearest double. Cached tokens must be known where
    they have a price of their own. A price of 0 costs 0.0.

    Args:
        usage: Tokens of a reply.
        price: Price of its model: ``prices.find(settings.model)``.
    """
    if price is None or usage.prompt is None or usage.completion is None:
        return None
    prompt, completion = _exact(price.prompt), _exact(price.completion)
    cost = prompt * usage.prompt + completion * usage.completion
    if price.cached_prompt is not None and price.cached_prompt != price.prompt:
        if usage.cached is None or usage.cached > usage.prompt:
            return None
        cost -= (prompt - _exact(price.cached_prompt)) * usage.cached
    return float(cost / 1_000_000)


def _exact(amount: float) -> Fraction:
    """Return an amount as it is written: 0.1 is a tenth."""
    return Fraction(Decimal(repr(amount)))


def load_prices(*paths: str | Path) -> Prices:
    """Return the built-in prices with those of TOML files laid over them; later files win, entry by entry.

    Raises:
        FileError: A file cannot be read, or holds something else; or two models have one name.
    """
    built_in = files("ycbench_agents.llm").joinpath("prices.toml").read_bytes()
    models: dict[str, Price] = {}
    for place, data in (("prices.toml", built_in), *((str(path), read_file(path)) for path in paths)):
        try:
            # Through JSON, so that dates become texts.
            tables: Any = json.loads(json.dumps(tomllib.loads(data.decode("utf-8-sig")), default=str))
        except (ArithmeticError, RecursionError, ValueError) as error:
            msg = f"{place}: not valid TOML: {error}"
            raise FileError(msg) from None
        models |= structure(tables, Prices, place).models
    owners = {name: name for name in models}
    for model, price in models.items():
        for alias in price.aliases:
            if owners.setdefault(alias, model) != model:
                msg = f'models."{model}".aliases: got {alias!r}, a name of models."{owners[alias]}"; expected another'
                raise FileError(msg)
    return Prices(models)
