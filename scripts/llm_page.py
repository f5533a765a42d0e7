"""Writes the tables of docs/llm.md: the settings of a language model and the placeholders of its system prompt.

Run it after a change of one of them: ``.venv/bin/python scripts/llm_page.py``.
"""

import inspect
import json
import re

import attrs
from pages import DOCS, table, update

from ycbench_agents.llm.prompt import PLACEHOLDERS
from ycbench_agents.llm.settings import AGENT_KEYS, LLMSettings, settings_for
from ycbench_env import load_config

PAGE = DOCS / "llm.md"


def tables() -> dict[str, str]:
    """Return the tables of the settings (default under the preset ``default``) and of the placeholders."""
    defaults = settings_for(load_config("default", environ={}), {"model": "m"})
    text = inspect.cleandoc(LLMSettings.__doc__ or "").partition("Args:\n")[2].partition("\n\n")[0]
    entries = re.findall(r"^ {4}(\w+): (.+(?:\n {8}.+)*)", text, re.MULTILINE)
    described = {name: " ".join(words.split()).replace("``", "`").rstrip(".") for name, words in entries}
    settings: list[tuple[str, ...]] = []
    for field in attrs.fields(LLMSettings):
        name, value = field.name, getattr(defaults, field.name)
        # As in TOML.
        default = "none" if value is None else json.dumps(list(value) if isinstance(value, tuple) else value)
        configured = f"`{AGENT_KEYS[name]}`" if name in AGENT_KEYS else ""
        default = "" if name == "model" else f"`{default}`"
        settings.append((f"`{name}`", default, configured, field.metadata["legal"], described[name]))
    placeholders = [(f"`{{{name}}}`", text) for name, text in PLACEHOLDERS.items()]
    return {
        "settings": table(("setting", "default", "from `[agent]`", "legal values", "meaning"), settings),
        "placeholders": table(("placeholder", "stands for"), placeholders),
    }


if __name__ == "__main__":
    update(PAGE, tables())
