"""Running a coroutine to its end, also where an event loop is running already, as in a notebook."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Final

import attrs

if TYPE_CHECKING:
    from collections.abc import Coroutine, Generator

__all__ = ["run_coroutine"]

_LOOK_S: Final = 0.5


def run_coroutine(coroutine: Coroutine[object, object, None]) -> None:
    """Run a coroutine to its end; where a loop is running in this thread, in a thread with a loop of its own.

    Raises:
        KeyboardInterrupt: Ctrl-C; the coroutine was cancelled and has ended.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(coroutine)
    else:
        _run_apart(_Cancellable(coroutine))


@attrs.define
class _Cancellable:
    """A coroutine that another thread can cancel at any time, also before it begins."""

    coroutine: Coroutine[object, object, None]
    _tasks: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[None] | None]] = attrs.field(factory=list, init=False)  # pyright: ignore[reportUnknownVariableType] -- attrs' factory
    _is_cancelled: threading.Event = attrs.field(factory=threading.Event, init=False)

    async def run(self) -> None:
        """Run it."""
        self._tasks.append((asyncio.get_running_loop(), asyncio.current_task()))
        if self._is_cancelled.is_set():  # asked after the task is known, as cancel() tells it before it looks for tasks
            self.coroutine.close()
            raise asyncio.CancelledError
        await self.coroutine

    def cancel(self) -> None:
        """Have it end soon."""
        self._is_cancelled.set()
        for loop, task in self._tasks:
            if task is not None:
                with contextlib.suppress(RuntimeError):  # the loop was closed, so it has ended
                    loop.call_soon_threadsafe(task.cancel)


def _run_apart(work: _Cancellable) -> None:
    end: Future[None] | None = None
    with ThreadPoolExecutor(1) as threads:
        try:
            with _interrupts_held_off():  # while a thread begins: what it runs must be known before
                end = threads.submit(asyncio.run, work.run())
            while not end.done():  # a signal that comes just before a thread begins to wait does not end its waiting
                wait([end], _LOOK_S)
            end.result()
        except KeyboardInterrupt:  # it reaches this thread alone
            work.cancel()
            if end is not None:
                wait([end])
            raise


@contextlib.contextmanager
def _interrupts_held_off() -> Generator[None]:
    """Have Ctrl-C wait, in the thread that it reaches.

    Raises:
        KeyboardInterrupt: It came.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _frame: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came and callable(before):
        before(signal.SIGINT, None)
