"""What a run's record holds of a model's settings, and the settings of such a record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ycbench_agents.llm.pricing import Price, Prices
from ycbench_agents.llm.settings import LLMSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ycbench_agents.base import JsonObject

__all__ = ["public_settings", "recorded_prices", "recorded_settings"]

_PRICE: Final = "price"  # so that a resumed run goes on with the same


def public_settings(settings: LLMSettings, prices: Prices) -> JsonObject:
    """Return what a run's record holds of a model's settings: no secrets, and the price of its tokens."""
    price = prices.find(settings.model)
    return {**settings.public(), _PRICE: None if price is None else price.to_json()}


def recorded_settings(
    recorded: JsonObject, *, base_url: str | None = None, headers: Mapping[str, str] | None = None
) -> tuple[LLMSettings, Prices]:
    """Return the settings and the price that ``public_settings`` recorded.

    Args:
        recorded: What it returned.
        base_url: Address with what the record leaves out (user, password, query); None for the recorded one.
        headers: Values of the headers, of which the record has the names.

    Raises:
        LLMSettingsError: They cannot be used.
        PriceError: The price cannot be used.
    """
    values: dict[str, object] = {name: value for name, value in recorded.items() if name != _PRICE}
    values["extra_headers"] = dict(headers or {})
    if base_url is not None:
        values["base_url"] = base_url
    return LLMSettings.from_mapping(values), recorded_prices(recorded)


def recorded_prices(recorded: JsonObject) -> Prices:
    """Return the price that ``public_settings`` recorded, under the name of its model; none where there was none.

    Raises:
        PriceError: It cannot be used.
    """
    price = recorded.get(_PRICE)
    return Prices({str(recorded["model"]): Price.from_json(price)} if isinstance(price, dict) else {})
