"""A process that plays what it is asked for on stdin and writes the turns to stdout, both as JSON."""

from __future__ import annotations

import json
import sys
from typing import Any

from ycbench_agents.registry import make_policy
from ycbench_agents.testing.asking import Student
from ycbench_agents.testing.conformance import play
from ycbench_env import load_config

__all__ = ["main"]


def main() -> None:
    """Play, and write the turns of each seed."""
    request: dict[str, Any] = json.load(sys.stdin)
    answers, sys.stdout = sys.stdout, sys.stderr  # a policy may print
    config = load_config(request["config"], environ={})
    student = Student(lambda: make_policy(request["policy"], **request["parameters"]), allow_invalid=True)
    json.dump([play(student, config, seed, request["max_turns"]).turns for seed in request["seeds"]], answers)


if __name__ == "__main__":
    main()
