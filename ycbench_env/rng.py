"""Named random streams, so that no part of the world can disturb what another one draws.

Source: Y-1.1.
"""

import random
from hashlib import sha256


def stream(seed: int, key: str) -> random.Random:
    """Return a fresh generator for one purpose, equal for equal (seed, key) on every machine.

    Args:
        seed: World or run seed, a non-negative integer.
        key: What is drawn, for instance ``"task_17"``.

    Source: Y-1.1.
    """
    digest = sha256(f"{seed}:{key}".encode()).digest()
    return random.Random(int.from_bytes(digest[:8], "big"))  # noqa: S311 -- a simulation, not a secret
