"""What every test shares: Hypothesis profiles, and checks that a test leaves the process as it found it."""

from __future__ import annotations

import builtins
import logging
import os
import random
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import rich.style  # noqa: F401  # pyright: ignore[reportUnusedImport] -- draws a number, which no test should be charged with
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Iterator

# No deadlines: a machine's load is no property of the code.
settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True, max_examples=30)
settings.register_profile("explore", deadline=None)  # new examples each time, and more of them
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or "ci")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run tests that fork episodes first: with coverage, a fork copies all that its process has measured so far."""
    items.sort(key=lambda item: {"evaluation": 0, "cli": 1, "integration": 2}.get(item.path.parent.name, 3))


class _ErrorRecords(logging.Handler):
    """Keeps the messages of level ERROR and above."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(f"{record.name}: {record.getMessage()}")


@pytest.fixture(autouse=True, scope="session")
def programs_that_tests_start_can_be_interrupted() -> Iterator[None]:
    """Takes back that Ctrl-C is ignored, as it is by what a script starts with ``&``: children inherit that.

    A handler is not inherited, so children start with the default. ``preexec_fn`` would do the same, but warns in a
    process with threads.
    """
    if (
        signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
        or threading.current_thread() is not threading.main_thread()
    ):
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@pytest.fixture(autouse=True, scope="session")
def floats_are_not_added_by_sum() -> Iterator[None]:
    """Fails where a package adds floats by ``sum``, which Python 3.12 and later round otherwise; use ``math.fsum``."""
    plain = builtins.sum

    def checked(values: Any, /, start: Any = 0) -> Any:  # noqa: ANN401 -- any numbers
        total = plain(values, start)
        caller = sys._getframe(1)
        if isinstance(total, float) and caller.f_globals["__name__"].startswith(("ycbench_env", "ycbench_agents")):
            msg = (
                f"{caller.f_code.co_filename}:{caller.f_lineno}: a sum of floats differs between Pythons; use math.fsum"
            )
            raise AssertionError(msg)
        return total

    builtins.sum = checked
    yield
    builtins.sum = plain


@pytest.fixture(autouse=True)
def no_internal_error_is_logged(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fails a test during which the package reported a fault of its own, which an agent's reply would hide."""
    logger = logging.getLogger("ycbench_env")
    handler = _ErrorRecords()
    logger.addHandler(handler)
    yield
    logger.removeHandler(handler)
    if handler.messages and request.node.get_closest_marker("internal_errors_expected") is None:
        pytest.fail("the package logged internal errors:\n" + "\n".join(handler.messages), pytrace=False)


@pytest.fixture(autouse=True)
def process_state_is_left_alone() -> Iterator[None]:
    """Fails a test that changed YCBENCH_* variables or advanced the global random generators."""
    before = _process_state()
    yield
    for name, old, new in zip(("environment", "random", "numpy.random"), before, _process_state(), strict=True):
        if old != new:
            shown = f": {old} became {new}" if name == "environment" else ""
            pytest.fail(f"the global state of {name} changed{shown}; use a generator or monkeypatch", pytrace=False)


def _process_state() -> tuple[object, object, object]:
    variables = {name: value for name, value in os.environ.items() if name.startswith("YCBENCH_")}
    kind, keys, position, *_ = np.random.get_state()  # noqa: NPY002 - the legacy generator is what must stay untouched
    return variables, random.getstate(), (kind, np.asarray(keys).tobytes(), position)
