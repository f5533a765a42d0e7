"""Asking a policy for a turn, and looking at everything that it must and must not do meanwhile."""

from __future__ import annotations

import copy
import os
import random
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from ycbench_agents.base import Policy, PolicyStoppedError
from ycbench_agents.testing.report import PolicyConformanceError
from ycbench_env.actions import DEFAULT_GRAMMAR, parse_turn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ycbench_agents.base import Turn
    from ycbench_env import Observation
    from ycbench_env.actions import Grammar

__all__ = ["Student", "shown"]

_SHOWN: Final = 200


class Student:
    """A policy under examination.

    Args:
        make: Makes it.
        grammar: The commands of the world that it plays in; the usual ones pass everywhere, since what a world lacks is
            found out by asking.
        allow_invalid: Whether it may give commands that no grammar has.

    Raises:
        PolicyConformanceError: What is made is no policy.
    """

    def __init__(
        self, make: Callable[[], Policy], grammar: Grammar = DEFAULT_GRAMMAR, *, allow_invalid: bool = False
    ) -> None:
        try:
            self.policy = make()
        except Exception as error:
            msg = f"making the policy failed: {_told(error)}; give a class or function that needs no arguments"
            raise PolicyConformanceError(msg) from error
        if not isinstance(self.policy, Policy):  # pyright: ignore[reportUnnecessaryIsInstance] -- callers may not be typed
            kind = type(cast("object", self.policy)).__name__
            msg = f"got a {kind}, expected a policy: an object with reset(seed) and act(observation)"
            raise PolicyConformanceError(msg)
        self.stopped = ""
        self._grammar = grammar
        self._allow_invalid = allow_invalid

    def reset(self, seed: int, place: str) -> None:
        """Reset the policy.

        Raises:
            PolicyConformanceError: It raises, or changes the process.
        """
        with _ProcessWatch(f"{place}: reset({seed})"):
            try:
                self.policy.reset(seed)
            except Exception as error:
                msg = f"{place}: reset({seed}) raised {_told(error)}; it must take any non-negative integer"
                raise PolicyConformanceError(msg) from error

    def act(self, observation: Observation, place: str) -> Turn | None:
        """Return the policy's turn; None where it says that it cannot go on, as it may, and ``stopped`` tells why.

        Raises:
            PolicyConformanceError: It raises, edits the observation, changes the process, or says what is no turn.
        """
        handed = copy.deepcopy(observation)
        with _ProcessWatch(f"{place}: act"):
            try:
                turn = self.policy.act(handed)
            except PolicyStoppedError as stop:
                self.stopped = str(stop)
                return None
            except Exception as error:
                msg = (
                    f"{place}: act raised {_told(error)}. A policy must cope with any observation of any world, with "
                    "turns that it did not choose, and with answers that were refused or cut. It was given: "
                    f"{shown(observation['text'])} results: {shown(observation['results'])}"
                )
                raise PolicyConformanceError(msg) from error
        _require_unchanged(observation, handed, place)
        self._check_turn(turn, place)
        return turn

    def _check_turn(self, turn: object, place: str) -> None:
        texts = cast("tuple[object, ...]", turn) if isinstance(turn, list | tuple) else (turn,)
        if not all(isinstance(text, str) for text in texts):
            msg = (
                f"{place}: act returned {shown(cast('object', turn))}, expected a text, or a list or tuple of texts "
                "('' does nothing)"
            )
            raise PolicyConformanceError(msg)
        if self._allow_invalid:
            return
        here, usual = parse_turn(texts, self._grammar), parse_turn(texts)
        wrong = next((each for each, other in zip(here, usual, strict=True) if each.error and other.error), None)
        if wrong is not None:
            msg = f"{place}: {shown(wrong.text)} is no command: {wrong.error} (docs/commands.md; or allow_invalid=True)"
            raise PolicyConformanceError(msg)


class _ProcessWatch:
    """Refuses, and takes back, changes of what a process has only one of: random generators and environment."""

    def __init__(self, place: str) -> None:
        self._place = place

    def __enter__(self) -> None:
        self._before = _process()

    def __exit__(self, *exc_info: object) -> None:
        changed = [name for name, value in _process().items() if value != self._before[name]]
        if changed:
            random.setstate(cast("Any", self._before["random"]))
            kind, keys, *rest = cast("tuple[str, bytes, Any]", self._before["numpy.random"])
            np.random.set_state((kind, np.frombuffer(keys, np.uint32), *rest))  # noqa: NPY002 -- the one that is watched
            os.environ.clear()
            os.environ.update(cast("Mapping[str, str]", self._before["os.environ"]))
            msg = (
                f"{self._place} changed {', '.join(changed)}, which all of the process shares; draw from a generator "
                "of the policy's own, made in reset, like random.Random(seed)"
            )
            raise PolicyConformanceError(msg)


def _process() -> dict[str, object]:
    kind, keys, *rest = np.random.get_state()  # noqa: NPY002 -- what is watched is the legacy generator
    return {
        "random": random.getstate(),
        "numpy.random": (kind, np.asarray(keys).tobytes(), *rest),
        "os.environ": dict(os.environ),
    }


def _require_unchanged(observation: Observation, handed: Observation, place: str) -> None:
    """Refuse an edit of an observation.

    Raises:
        PolicyConformanceError: The one that was handed over is not as it was.
    """
    before, after = cast("dict[str, object]", observation), cast("dict[str, object]", handed)
    edited = [key for key in sorted({*before, *after}) if not _equal(before.get(key), after.get(key))]
    if edited:
        msg = (
            f"{place}: act edited the observation: {', '.join(edited)}; others keep the same one, so copy what you "
            "want to change, like int(observation['funds_cents'])"
        )
        raise PolicyConformanceError(msg)


def _equal(one: object, other: object) -> bool:
    return type(one) is type(other) and bool(np.array_equal(cast("Any", one), cast("Any", other)))


def _told(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())


def shown(value: object) -> str:
    """Return a value for an error, cut."""
    text = value if isinstance(value, str) else repr(value)
    return ascii(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")
