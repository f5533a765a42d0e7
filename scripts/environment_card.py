"""Writes docs/environment.md from the docstrings of the environment, the observation and the info.

Run it after a change of one of them: ``.venv/bin/python scripts/environment_card.py``.
"""

import inspect
import re

from pages import DOCS, table, write

from ycbench_env import Info, Observation, YCBenchEnv
from ycbench_env.registration import PRESET_OF_ID

PAGE = DOCS / "environment.md"


def environment_card() -> str:
    """Return the page."""
    ids = [(f"`{env_id}`", f"`{preset}`") for env_id, preset in PRESET_OF_ID.items()]
    return f"""# Environment card

<!-- Made by scripts/environment_card.py from the docstrings; change those. -->

{table(("id", "preset"), ids)}
{inspect.cleandoc(YCBenchEnv.__doc__ or "")}

## Pure functions

The POMDP without the class around it, for search, planning and proofs. States are immutable.

```python
from ycbench_env import initial_state, is_terminated, load_config, observe, reward, transition
from ycbench_env.types.command import AcceptTask

state = initial_state(load_config("default"), seed=1)
outcome = transition(state, AcceptTask("Task-8"))
print(reward(state, outcome.state), is_terminated(outcome.state))
print(observe(outcome.state)["text"])
```

`YCBenchEnv` itself, which `gymnasium.make(...).unwrapped` is, has `clone()`, `get_state()`, `set_state(state)` and
`state_hash()`; `State.to_bytes()` saves a world. Where a type checker reads along, build `YCBenchEnv(...)` directly:
gymnasium types `unwrapped` as a plain `Env`.

## Observation

{_fields(Observation)}
## Info

{_fields(Info)}"""


def _fields(typed_dict: type) -> str:
    """Return a typed dict's docstring with its Args as a table."""
    text, _, arguments = inspect.cleandoc(typed_dict.__doc__ or "").partition("\nArgs:\n")
    entries = re.findall(r"^ {4}(\w+): (.+(?:\n {8}.+)*)", arguments, re.MULTILINE)
    rows = [(f"`{name}`", " ".join(words.split())) for name, words in entries]
    return f"{text.strip()}\n\n{table(('key', 'what'), rows)}"


if __name__ == "__main__":
    write(PAGE, environment_card())
