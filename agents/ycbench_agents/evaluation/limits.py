"""Limits of time and memory around what a worker process plays, as far as the system has them."""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import os
import signal
import sys
import threading
import time
from multiprocessing import resource_tracker
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from collections.abc import Generator
    from types import FrameType

__all__ = [
    "GRACE_S",
    "EpisodeTimeoutError",
    "adopt_orphans",
    "die_with_parent",
    "end_with_parent",
    "interrupts_held_off",
    "limited_memory",
    "limited_time",
    "uninterrupted",
]

GRACE_S: Final = 5.0
"""How long after its limit an episode that does not let itself be interrupted ends its process, in seconds."""

_MIB: Final = 2**20
_AGAIN_S: Final = 1.0  # an error that somebody swallowed is raised again
_LOOK_S: Final = 0.5
_PR_SET_PDEATHSIG: Final = 1  # of linux/prctl.h
_PR_SET_CHILD_SUBREAPER: Final = 36


class EpisodeTimeoutError(BaseException):
    """An episode took too long; no policy's ``except Exception`` holds it up."""


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


@contextlib.contextmanager
def limited_time(seconds: float, dump: TextIO, grace_s: float = GRACE_S) -> Generator[None]:
    """Interrupt what takes longer, and end the process where that does not help.

    Only a main thread can be interrupted; elsewhere, and where a library does not come back, the process ends after the
    grace, having written where it was.

    Args:
        seconds: Wall-clock time from now on.
        dump: Where the end of the process is told; a real file.
        grace_s: Wall-clock time between the two, in seconds.

    Raises:
        EpisodeTimeoutError: It took longer.
    """

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        msg = f"took longer than {seconds:g} seconds"
        raise EpisodeTimeoutError(msg)

    faulthandler.dump_traceback_later(seconds + grace_s, exit=True, file=dump)
    soft = hasattr(signal, "SIGALRM") and _in_main_thread()
    before = signal.signal(signal.SIGALRM, interrupt) if soft else None
    try:
        if soft:
            signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN_S)
        yield
    finally:
        if soft:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        faulthandler.cancel_dump_traceback_later()


@contextlib.contextmanager
def limited_memory(mib: int) -> Generator[None]:
    """Refuse memory beyond what the process has now and so much more; where the system can, as Linux does.

    What is refused raises MemoryError.
    """
    if sys.platform != "linux":
        yield
        return
    import resource  # noqa: PLC0415 -- Windows has none

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = _address_space() + mib * _MIB
    bounds = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min([wanted, *bounds]), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _address_space() -> int:
    """Return the address space of this process, in bytes."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


@contextlib.contextmanager
def uninterrupted() -> Generator[None]:
    """Leave Ctrl-C, which a terminal sends to every process, to the one that hands out the episodes."""
    if not _in_main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def interrupts_held_off() -> Generator[None]:
    """Have Ctrl-C wait, where the system can; processes that are begun meanwhile, and their own, never see it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # when it begins, it unblocks the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_with_parent(parent: int) -> None:
    """End this process as soon as its parent is gone, so that nobody plays or waits behind a sweep that was killed.

    Args:
        parent: Number of the parent process.
    """
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def die_with_parent() -> None:
    """Have Linux kill this process as soon as its parent ends, also where no thread of it can run."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def adopt_orphans() -> None:
    """Have Linux make processes that descend from this one its children when their own parents end."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK_S)
    os._exit(1)
