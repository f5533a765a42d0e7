"""Named random streams: what one part of the world draws never depends on what another did.

Source: Y-1.1.
"""

import random
from hashlib import sha256

__all__ = ["stream"]


def stream(seed: int, key: str) -> random.Random:
    """Return a fresh generator for one purpose, equal for equal (seed, key) on every machine.

    Args:
        seed: World or run seed, a non-negative integer.
        key: What is drawn, for instance ``"task_17"``.

    Source: Y-1.1.
    """
    digest = sha256(f"{seed}:{key}".encode()).digest()
    return random.Random(int.from_bytes(digest[:8], "big"))  # noqa: S311 -- a simulation, not a secret
