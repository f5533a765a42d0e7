"""A real language model on loopback, in a process and an environment of its own (`make real-model`)."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

collect_ignore = ["serve.py"]  # a program of the other environment

HERE = Path(__file__).parent
INTERPRETER = HERE.parents[1] / ".venv-llama" / "bin" / "python"


@pytest.fixture(scope="session")
def base_url() -> Iterator[str]:
    """Return the address of the server, which ends with the tests."""
    python = os.environ.get("LLAMA_PYTHON", str(INTERPRETER))
    if not Path(python).exists():
        pytest.fail(f"there is no {python}; `make real-model` makes it and runs these tests")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [python, str(HERE / "serve.py"), str(port)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), "the server did not come up"
        yield address
        server.kill()
