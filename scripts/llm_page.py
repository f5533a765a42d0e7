"""Writes the tables of docs/llm.md: the settings of a language model and the placeholders of its system prompt.

Run it after a change of one of them: ``.venv/bin/python scripts/llm_page.py``.
"""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path

import attrs

from ycbench_agents.llm.prompt import placeholders
from ycbench_agents.llm.settings import LLMSettings, settings_for
from ycbench_env import Config, load_config

PAGE = Path(__file__).resolve().parent.parent / "docs" / "llm.md"
END = "<!-- end of generated text -->\n"


def tables() -> dict[str, str]:
    """Return each table by the title in the comment before it."""
    return {"settings": _settings(), "placeholders": _placeholders()}


def updated(page: str) -> str:
    """Return a page with its tables made anew.

    Raises:
        ValueError: The page has no place for a table.
    """
    for title, table in tables().items():
        begin = f"<!-- generated: {title} -->\n"
        before, found, rest = page.partition(begin)
        _, ended, after = rest.partition(END)
        if not found or not ended:
            msg = f"{PAGE.name}: expected {begin.strip()} and {END.strip()} around the table"
            raise ValueError(msg)
        page = f"{before}{begin}\n{table}\n{END}{after}"
    return page


def _settings() -> str:
    """Return a row for each setting: default under the preset ``default``, where that comes from, range, meaning."""
    defaults = settings_for(load_config("default", environ={}), {"model": "m"})
    described, configured = _described(), _configured()
    rows = ["| setting | default | from `[agent]` | legal values | meaning |", "|---|---|---|---|---|"]
    for field in attrs.fields(LLMSettings):
        name = field.name
        default = "" if name == "model" else f"`{_toml(getattr(defaults, name))}`"
        source = f"`{configured[name]}`" if name in configured else ""
        rows.append(f"| `{name}` | {default} | {source} | {field.metadata['legal']} | {described[name]} |")
    return "\n".join(rows) + "\n"


def _placeholders() -> str:
    rows = ["| placeholder | stands for |", "|---|---|"]
    return "\n".join([*rows, *(f"| `{{{name}}}` | {text} |" for name, text in placeholders().items())]) + "\n"


def _described() -> dict[str, str]:
    """Return what the docstring says of each setting."""
    text = inspect.cleandoc(LLMSettings.__doc__ or "").partition("Args:\n")[2].partition("\n\n")[0]
    entries = re.findall(r"^ {4}(\w+): (.+(?:\n {8}.+)*)", text, re.MULTILINE)
    return {name: " ".join(words.split()).replace("``", "`").rstrip(".") for name, words in entries}


def _configured() -> dict[str, str]:
    """Return the key of the table ``agent`` that gives a setting its default, found out by changing each."""
    base = load_config("default", environ={})
    found: dict[str, str] = {}
    for field in attrs.fields(type(base.agent)):
        value = getattr(base.agent, field.name)
        other = 0.5 if isinstance(value, float) and value <= 1 and value != 0.5 else value + 1  # noqa: PLR2004 -- any other
        changed = load_config(base, overrides={"agent": {field.name: other}}, environ={})
        found |= dict.fromkeys(_differing(base, changed), str(field.name))
    return found


def _differing(left: Config, right: Config) -> list[str]:
    """Return the settings that differ between two configurations."""
    first, second = (settings_for(config, {"model": "m"}).public() for config in (left, right))
    return [name for name in first if first[name] != second[name]]


def _toml(value: object) -> str:
    """Return a default as it is written in TOML; what TOML has not is none."""
    if value is None:
        return "none"
    return json.dumps(list(value) if isinstance(value, tuple) else value)


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")
