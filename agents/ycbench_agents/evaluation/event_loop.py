"""Running a coroutine to its end, also where an event loop is running already, as in a notebook."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Coroutine

__all__ = ["run_coroutine"]


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
        _run_apart(coroutine)


def _run_apart(coroutine: Coroutine[object, object, None]) -> None:
    tasks: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[None] | None]] = []

    async def noted() -> None:
        tasks.append((asyncio.get_running_loop(), asyncio.current_task()))
        await coroutine

    with ThreadPoolExecutor(1) as threads:
        end = threads.submit(asyncio.run, noted())
        try:
            end.result()
        except KeyboardInterrupt:  # it reaches this thread alone
            for loop, task in tasks:
                if task is not None and not loop.is_closed():
                    loop.call_soon_threadsafe(task.cancel)
            wait([end])
            raise
