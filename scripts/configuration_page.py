"""Writes the tables of docs/configuration.md from the list of settings.

Run it after a change of a setting: ``.venv/bin/python scripts/configuration_page.py``.
"""

from functools import reduce
from pathlib import Path
from typing import Any, Final, cast

from ycbench_env.config import FIELDS, Setting, load_config
from ycbench_env.config.settings import KNOB_PARAMETERS, PARAMETERS

PAGE: Final = Path(__file__).resolve().parent.parent / "docs" / "configuration.md"
_BEGIN: Final = "<!-- generated: {} -->\n"
_END: Final = "<!-- end of generated text -->\n"


def settings_table() -> str:
    """Return the Markdown table of all settings: key, type, range, value in the preset ``default``, meaning, rule."""
    rows = ["| key | type | legal values | `default` | meaning | rule |", "|---|---|---|---|---|---|"]
    preset = load_config("default", environ={}).to_dict()
    return "\n".join([*rows, *(_row(field, preset) for field in FIELDS)]) + "\n"


def _row(field: Setting, preset: dict[str, Any]) -> str:
    """Return one row of the table of settings."""
    value = reduce(lambda table, name: table[name], field.key.split("."), preset)
    label = "distribution" if field.is_distribution else field.kind.label
    cells = (f"`{field.key}`", label, field.kind.range_text, f"`{_toml(value)}`", field.description, field.source)
    return "| " + " | ".join(cells) + " |"


def _toml(value: Any) -> str:  # noqa: ANN401 - any plain value
    """Return a plain value as TOML; a distribution as an inline table."""
    if isinstance(value, dict):
        pairs = cast("dict[str, Any]", value).items()
        return "{ " + ", ".join(f"{name} = {_toml(each)}" for name, each in pairs) + " }"
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


def distribution_table() -> str:
    """Return the Markdown table of the types of distributions and their parameters."""
    rows = ["| type | parameter | legal values | meaning |", "|---|---|---|---|"]
    for word, parameters in PARAMETERS.items():
        for name, setting in parameters.items():
            legal = "as its setting says" if name in KNOB_PARAMETERS else setting.kind.range_text
            rows.append(f"| `{word}` | `{name}` | {legal} | {setting.description} |")
    return "\n".join(rows) + "\n"


def updated_page(page: str) -> str:
    """Return a page of documentation with its generated parts made anew."""
    for title, table in (("settings", settings_table()), ("distributions", distribution_table())):
        before, begin, rest = page.partition(_BEGIN.format(title))
        _, end, after = rest.partition(_END)
        page = f"{before}{begin}\n{table}\n{end}{after}"
    return page


if __name__ == "__main__":
    PAGE.write_text(updated_page(PAGE.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")
