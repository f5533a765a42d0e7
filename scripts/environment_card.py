"""Writes docs/environment.md from the docstrings of the environment, the observation and the info.

Run it after a change of one of them: ``.venv/bin/python scripts/environment_card.py``.
"""

from __future__ import annotations

import inspect
from pathlib import Path

from ycbench_env import Info, Observation, YCBenchEnv
from ycbench_env.registration import PRESET_OF_ID

PAGE = Path(__file__).resolve().parent.parent / "docs" / "environment.md"


def environment_card() -> str:
    """Return the page."""
    ids = "\n".join(f"| `{env_id}` | `{preset}` |" for env_id, preset in PRESET_OF_ID.items())
    return f"""# Environment card

<!-- Made by scripts/environment_card.py from the docstrings; change those. -->

| id | preset |
|---|---|
{ids}

{inspect.cleandoc(YCBenchEnv.__doc__ or "")}

## Observation

{_fields(Observation)}

## Info

{_fields(Info)}
"""


def _fields(typed_dict: type) -> str:
    """Return a typed dict's docstring with its Args as a table."""
    text, _, arguments = inspect.cleandoc(typed_dict.__doc__ or "").partition("\nArgs:\n")
    rows: list[str] = []
    for line in arguments.splitlines():
        if line.startswith("     "):
            rows[-1] += " " + line.strip()
        elif line.strip():
            rows.append(line.strip())
    table = "\n".join("| `{}` | {} |".format(*row.split(": ", 1)) for row in rows)
    return f"{text.strip()}\n\n| key | what |\n|---|---|\n{table}"


if __name__ == "__main__":
    PAGE.write_text(environment_card(), encoding="utf-8", newline="\n")
