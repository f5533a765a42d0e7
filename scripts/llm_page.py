"""Writes the tables of docs/llm.md: the settings of a language model and the placeholders of its system prompt.

Run it after a change of one of them: ``.venv/bin/python scripts/llm_page.py``.
"""

import inspect
import json
import re

import attrs
from pages import DOCS, table, update

from ycbench_agents.llm.prompt import PLACEHOLDERS
from ycbench_agents.llm.settings import LLMSettings, settings_for
from ycbench_env import Config, load_config
from ycbench_env.text import JsonObject

PAGE = DOCS / "llm.md"


def tables() -> dict[str, str]:
    """Return the tables of the settings (default under the preset ``default``) and of the placeholders."""
    defaults = settings_for(load_config("default", environ={}), {"model": "m"})
    text = inspect.cleandoc(LLMSettings.__doc__ or "").partition("Args:\n")[2].partition("\n\n")[0]
    entries = re.findall(r"^ {4}(\w+): (.+(?:\n {8}.+)*)", text, re.MULTILINE)
    described = {name: " ".join(words.split()).replace("``", "`").rstrip(".") for name, words in entries}
    configured = _configured()
    settings = [
        (
            f"`{field.name}`",
            "" if field.name == "model" else f"`{_toml(getattr(defaults, field.name))}`",
            f"`{configured[field.name]}`" if field.name in configured else "",
            field.metadata["legal"],
            described[field.name],
        )
        for field in attrs.fields(LLMSettings)
    ]
    return {
        "settings": table(("setting", "default", "from `[agent]`", "legal values", "meaning"), settings),
        "placeholders": table(
            ("placeholder", "stands for"), [(f"`{{{name}}}`", text) for name, text in PLACEHOLDERS.items()]
        ),
    }


def _configured() -> dict[str, str]:
    """Return the key of the table ``agent`` that gives a setting its default, found out by changing each."""
    base = load_config("default", environ={})
    settings = _settings(base)
    found: dict[str, str] = {}
    for field in attrs.fields(type(base.agent)):
        value = getattr(base.agent, field.name)
        other = 0.5 if isinstance(value, float) and value <= 1 and value != 0.5 else value + 1  # noqa: PLR2004 -- any other
        changed = load_config(base, overrides={"agent": {field.name: other}}, environ={})
        found |= {name: str(field.name) for name, value in _settings(changed).items() if value != settings[name]}
    return found


def _settings(config: Config) -> JsonObject:
    return settings_for(config, {"model": "m"}).public()


def _toml(value: object) -> str:
    """Return a default as it is written in TOML; what TOML has not is none."""
    if value is None:
        return "none"
    return json.dumps(list(value) if isinstance(value, tuple) else value)


if __name__ == "__main__":
    update(PAGE, tables())
