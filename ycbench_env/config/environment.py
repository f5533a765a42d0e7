"""Settings from environment variables: ``YCBENCH_<TABLE>__<KEY>``, with two underscores for each dot of the key.

A setting at the top level (``name``, ``description``, ``extends``) has no variable.
"""

from collections.abc import Mapping
from typing import Final

from ycbench_env.config.kind import ChoiceKind, TextKind
from ycbench_env.config.layer import Layer
from ycbench_env.config.origin import Origin
from ycbench_env.config.schema import LEAVES, NO_EFFECT, nearest
from ycbench_env.config.setting import show

__all__ = ["RESERVED_VARIABLES", "VARIABLES", "environment_layers"]

_PREFIX: Final = "YCBENCH_"

RESERVED_VARIABLES: Final = ("YCBENCH_API_KEY", "YCBENCH_HELDOUT_SEEDS")
"""Variables with the prefix that are no settings; other parts of the project read them."""

VARIABLES: Final = {
    _PREFIX + key.upper().replace(".", "__"): key for key in sorted({*LEAVES, *NO_EFFECT}) if "." in key
}
"""Dotted key of each variable's setting."""


def environment_layers(environ: Mapping[str, str]) -> tuple[list[Layer], list[str]]:
    """Returns a layer for each variable that is a setting, and a problem for each that looks like one but is none."""
    names = sorted(name for name in environ if name.startswith(_PREFIX) and name not in RESERVED_VARIABLES)
    # A changed type clears the parameters of a distribution, so it goes below the variables that set them.
    names.sort(key=lambda name: not name.endswith("__TYPE"))
    layers = [_layer(name, environ[name]) for name in names if name in VARIABLES]
    return layers, [_unknown(name, environ[name]) for name in names if name not in VARIABLES]


def _layer(name: str, text: str) -> Layer:
    """Returns the layer with the one setting of a variable."""
    key = VARIABLES[name]
    *tables, setting = key.split(".")
    tree: dict[str, object] = {setting: _value(key, text)}
    for table in reversed(tables):
        tree = {table: tree}
    return Layer(Origin("environment", name), tree)


def _value(key: str, text: str) -> object:
    """Returns the raw value that a variable's text means: a TOML value where it is one, else the text itself.

    A setting that holds words takes the text itself also where it looks like a number: a company may be called 7.
    """
    import tomllib  # noqa: PLC0415 - needed only where variables are set

    try:
        table = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    value = table.pop("value")
    if table:  # a line break let further keys in
        return text
    holds_words = isinstance(LEAVES.get(key), TextKind | ChoiceKind)
    return text if holds_words and not isinstance(value, str) else value


def _unknown(name: str, text: str) -> str:
    """Returns what to say about a variable with the prefix that is no setting."""
    message = f"environment variable {name} = {show(text)}: unknown setting"
    meant = nearest(name.upper(), VARIABLES)
    if meant:
        return f"{message}; did you mean {meant}?"
    return f"{message}; settings are {_PREFIX}<TABLE>__<KEY>, listed in docs/configuration.md"
