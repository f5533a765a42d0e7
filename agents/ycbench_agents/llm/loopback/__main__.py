"""``python -m ycbench_agents.llm.loopback``: serves a scripted model until it is interrupted."""

from __future__ import annotations

import argparse
import contextlib
import threading
from typing import TYPE_CHECKING, Final

from ycbench_agents.llm.loopback import FaultPlan, LoopbackServer, chaotic_model, greedy_model, text_model

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ycbench_agents.llm.loopback import Model

__all__ = ["main"]

_MODELS: Final = ("greedy", "chaotic", "text")
_LAST_PORT: Final = 65_535


def _model(name: str, seed: int) -> Model:
    return {"greedy": greedy_model, "chaotic": chaotic_model(seed), "text": text_model}[name]


def _port(text: str) -> int:
    number = int(text)
    if not 0 <= number <= _LAST_PORT:
        raise ValueError
    return number


def _rate(text: str) -> float:
    number = float(text)
    if not 0 <= number <= 1:
        raise ValueError
    return number


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m ycbench_agents.llm.loopback",
        description="Serve a scripted model on this machine, with the chat-completions interface. It takes any key.",
    )
    parser.add_argument("--model", choices=_MODELS, default="greedy", help="what answers (default: greedy)")
    parser.add_argument("--port", type=_port, default=8080, help="port to listen on, 0 for any free one")
    parser.add_argument("--seed", type=int, default=0, help="seed of the chaotic model and of the faults")
    parser.add_argument("--faults", type=_rate, default=0.0, metavar="RATE", help="share of requests that fail, 0 to 1")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until interrupted, and return the exit status.

    Args:
        arguments: The command line without the program's name, None for the process's own.
    """
    given = _parser().parse_args(arguments)
    server = LoopbackServer(
        _model(given.model, given.seed), FaultPlan(rate=given.faults, seed=given.seed), port=given.port
    )
    try:
        with server, contextlib.suppress(KeyboardInterrupt):
            print(f"{given.model} listens on {server.base_url}; Ctrl-C ends it", flush=True)  # noqa: T201 -- its output
            threading.Event().wait()
    except OSError as error:
        print(f"cannot listen on port {given.port} ({error.strerror}); choose another --port")  # noqa: T201 -- its output
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
