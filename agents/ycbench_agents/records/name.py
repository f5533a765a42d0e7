"""Names of run folders: readable, portable, different for different runs."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Final

from ycbench_agents.records.strict_json import encode

if TYPE_CHECKING:
    from ycbench_agents.records.record import RunIdentity

__all__ = ["run_name"]

_LONGEST_PART: Final = 24
_HASH_DIGITS: Final = 20
_STRANGE: Final = re.compile(r"[^a-z0-9_]+")


def run_name(identity: RunIdentity) -> str:
    """Return a name for a run's folder: at most 124 of the characters a-z, 0-9, "_" and "-", the first a letter.

    Different policies, settings, models, configurations (also of other names), seeds and limits give different names,
    also where case does not count: 20 hexadecimal digits at the end name all of them together; what stands before them
    is for people. Versions of this package do not count: a new one is refused in the folder of the old.

    Example:
        ``run-llm-meta_llama_llama_3_1_8b_-default-seed1-`` and the digits.
    """
    parts = (identity.policy, identity.model or "", str(identity.config.get("name", "")), f"seed{identity.seed}")
    readable = [part for text in parts if (part := _readable(text))]
    return "-".join(("run", *readable, _digest(identity)))


def _readable(text: str) -> str:
    """Return the portable part of a text; a reserved name such as "con" is none behind "run-"."""
    return _STRANGE.sub("_", text.lower())[:_LONGEST_PART]


def _digest(identity: RunIdentity) -> str:
    """Return the hash of all that makes a run different from another, as hex."""
    values = identity.to_json()
    named = [values["config"].get("name")] if isinstance(values["config"], dict) else []
    del values["version"], values["config"]  # the digest stands for the configuration
    text = encode([named, values], sort_keys=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:_HASH_DIGITS]
