"""Writes the tables of docs/configuration.md from the list of settings.

Run it after a change of a setting: ``.venv/bin/python scripts/configuration_page.py``.
"""

from functools import reduce
from typing import Any, Final, cast

from pages import DOCS, table, update

from ycbench_env.config import FIELDS, Setting, load_config
from ycbench_env.config.settings import KNOB_PARAMETERS, PARAMETERS

PAGE: Final = DOCS / "configuration.md"


def tables() -> dict[str, str]:
    """Return the tables of all settings and of the distributions and their parameters."""
    preset = load_config("default", environ={}).to_dict()
    settings = [
        (
            f"`{field.key}`",
            _type(field),
            field.range_text,
            f"`{_toml(reduce(lambda table, name: table[name], field.key.split('.'), preset))}`",
            field.description,
            field.source,
        )
        for field in FIELDS
    ]
    parameters = [
        (
            f"`{word}`",
            f"`{name}`",
            "as its setting says" if name in KNOB_PARAMETERS else setting.range_text,
            setting.description,
        )
        for word, settings in PARAMETERS.items()
        for name, setting in settings.items()
    ]
    return {
        "settings": table(("key", "type", "legal values", "`default`", "meaning", "rule"), settings),
        "distributions": table(("type", "parameter", "legal values", "meaning"), parameters),
    }


def _type(field: Setting) -> str:
    """Return the type of a setting in a reader's words."""
    if field.longest:
        return f"list of {field.type}"
    return f'{field.type} or "{field.words[0]}"' if field.words and field.type != "choice" else field.type


def _toml(value: Any) -> str:  # noqa: ANN401 - any plain value
    """Return a plain value as TOML; a distribution as an inline table."""
    if isinstance(value, dict):
        pairs = cast("dict[str, Any]", value).items()
        return "{ " + ", ".join(f"{name} = {_toml(each)}" for name, each in pairs) + " }"
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


if __name__ == "__main__":
    update(PAGE, tables())
