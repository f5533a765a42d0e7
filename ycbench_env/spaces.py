"""Spaces of texts: actions and observations. Source: docs/commands.md."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeGuard, cast

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from ycbench_env.actions import DEFAULT_GRAMMAR, Grammar, Kind, format_command, parse_turn
from ycbench_env.observation import MAX_JSON_LENGTH, MAX_RUNWAY_MONTHS, MAX_TEXT_LENGTH

_WORDS: Final = ("watch", "payroll", "deadline", "first", "team", "is", "free", "client's", "plan:", "60%", "-", "soon")
_LARGE: Final = 2**62  # far beyond any amount of cents or number of turns
_TIME_LENGTH: Final = 26  # 2025-01-01T09:00:00.123456
_MAX_SAMPLED_LENGTH: Final = 80
_SAMPLED_CHARACTERS: Final = (
    "".join(map(chr, range(0x20, 0x7F)))
    + "\xa7\xdf\xe9\xf1\u03bb\u0436\u05d0\u2014\u2018\u201d\u20ac\u4e2d\u3042\ud55c\U0001f642\U0001f680"
)


class CommandSpace(gym.Space[str]):
    """Turns that the grammar understands: a text, or a list or tuple of texts, each of any number of commands.

    An empty turn is one too: doing nothing is allowed. ``sample`` draws one command; equal seeds draw equal commands in
    every process.

    Args:
        task_ids: Number of tasks at the start; ``Task-1`` to ``Task-<task_ids>`` are drawn (``Task-1`` for 0).
        employees: Number of employees; ``Emp_1`` to ``Emp_<employees>`` are drawn (``Emp_1`` for 0).
        grammar: The table of commands.
        seed: Seed of ``sample``.
    """

    is_np_flattenable = False  # pyright: ignore[reportIncompatibleMethodOverride, reportAssignmentType] -- shorter
    __hash__ = None  # pyright: ignore[reportAssignmentType] -- like gymnasium's own

    def __init__(
        self,
        *,
        task_ids: int,
        employees: int,
        grammar: Grammar = DEFAULT_GRAMMAR,
        seed: int | np.random.Generator | None = None,
    ) -> None:
        super().__init__(seed=seed)
        self.grammar = grammar
        self.task_ids = task_ids
        self.employees = employees

    @property
    def verbs(self) -> tuple[str, ...]:
        """The commands in the order of the table, which is that of masks."""
        return tuple(spec.name for spec in self.grammar.commands)

    def sample(self, mask: NDArray[np.int8] | None = None, probability: NDArray[np.float64] | None = None) -> str:
        """Return the text of one grammatical command.

        Args:
            mask: int8 of shape (number of verbs,): 1 for commands that may be drawn, all equally likely.
            probability: float64 of shape (number of verbs,): how likely each command is; instead of a mask.

        Raises:
            ValueError: Both are given, or the shape, type or values do not fit; the message shows what was got.
        """
        count = len(self.grammar.commands)
        if mask is None and probability is None:
            number = self._below(count)
        elif probability is None and _is_array(mask, count, np.int8) and set(mask) in ({0, 1}, {1}):
            allowed = np.flatnonzero(mask)
            number = allowed[self._below(len(allowed))]
        elif mask is None and _is_array(probability, count, np.float64) and np.isclose(probability.sum(), 1):
            number = self.np_random.choice(count, p=probability)  # refuses what is below 0
        else:
            msg = (
                f"got mask={mask!r} and probability={probability!r}; expected one of them: a mask of {count} int8, all "
                f"0 or 1 and at least one 1, or probabilities of {count} float64 that add up to 1"
            )
            raise ValueError(msg)
        spec = self.grammar.commands[number]
        chosen = spec.one_of[self._below(len(spec.one_of))] if spec.one_of else None
        values = {
            option.field: self._draw_value(option.kind)
            for option in spec.options
            if option.required or option.name == chosen or (option.name not in spec.one_of and self._below(2) == 1)
        }
        return format_command(spec.command_type(**values), self.grammar)

    def contains(self, x: object) -> bool:
        """Return whether x is a text, or a list or tuple of texts, in which every command is understood."""
        return all(parsed.error is None for parsed in parse_turn(x, self.grammar))

    def to_jsonable(self, sample_n: Iterable[str | Sequence[str]]) -> list[str | list[str]]:
        """Return turns as JSON holds them: texts, and lists of texts."""
        return [str(turn) if isinstance(turn, str) else [str(text) for text in turn] for turn in sample_n]

    def from_jsonable(self, sample_n: list[Any]) -> list[Any]:
        """Return the turns that ``to_jsonable`` wrote."""
        return list(sample_n)

    def __eq__(self, other: object) -> bool:
        """Whether the other space has the same members and draws from the same ones."""
        return isinstance(other, CommandSpace) and (
            (self.grammar, self.task_ids, self.employees) == (other.grammar, other.task_ids, other.employees)
        )

    def __repr__(self) -> str:
        """Show what the space was made with."""
        grammar = "" if self.grammar == DEFAULT_GRAMMAR else f", grammar=<{len(self.grammar.commands)} commands>"
        return f"CommandSpace(task_ids={self.task_ids}, employees={self.employees}{grammar})"

    def _draw_value(self, kind: Kind) -> object:
        match kind.name:
            case "task":
                return f"Task-{1 + self._below(self.task_ids)}"
            case "employee" | "names":  # at least one employee, each once, in any order
                everyone = self.np_random.permutation(max(1, self.employees))
                team = tuple(f"Emp_{1 + number}" for number in everyone[: 1 + self._below(self.employees)])
                return team if kind.name == "names" else team[0]
            case "choice":
                return kind.words[self._below(len(kind.words))]
            case "integer":
                return kind.minimum + self._below(50)
            case "date" | "month":
                day = dt.date(2025, 1, 1) + dt.timedelta(days=self._below(365))
                return day if kind.name == "date" else day.replace(day=1)
            case "text":
                return " ".join(_WORDS[self._below(len(_WORDS))] for _ in range(self._below(6)))

    def _below(self, bound: int) -> int:
        return int(self.np_random.integers(max(1, bound)))


def _is_array(array: object, count: int, dtype: type[np.generic]) -> TypeGuard[NDArray[Any]]:
    if not isinstance(array, np.ndarray):
        return False
    numbers = cast("NDArray[Any]", array)
    return numbers.shape == (count,) and numbers.dtype == dtype


class UnicodeText(gym.Space[str]):
    """Texts of at most ``max_length`` characters that UTF-8 can hold, the empty one included.

    Gymnasium's own ``Text`` leaves out blanks and looks at each character in Python.
    """

    is_np_flattenable = False  # pyright: ignore[reportIncompatibleMethodOverride, reportAssignmentType] -- shorter
    __hash__ = None  # pyright: ignore[reportAssignmentType] -- like gymnasium's own

    def __init__(self, max_length: int, *, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(seed=seed)
        self.max_length = max_length

    def sample(self, mask: None = None, probability: None = None) -> str:
        """Return a printable text of at most 80 characters; there is nothing to mask."""
        if mask is not None or probability is not None:
            msg = f"UnicodeText takes no mask and no probability, got {mask!r} and {probability!r}"
            raise ValueError(msg)
        length = self.np_random.integers(min(self.max_length, _MAX_SAMPLED_LENGTH) + 1)
        places = self.np_random.integers(len(_SAMPLED_CHARACTERS), size=length)
        return "".join(_SAMPLED_CHARACTERS[place] for place in places)

    def contains(self, x: object) -> bool:
        """Return whether x is a text that is short enough and holds no lone surrogate."""
        if not isinstance(x, str) or len(x) > self.max_length:
            return False
        try:
            return x.isascii() or bool(x.encode())  # what is ASCII is known without looking at the characters
        except UnicodeEncodeError:
            return False

    def __eq__(self, other: object) -> bool:
        """Whether the other space has the same members."""
        return isinstance(other, UnicodeText) and self.max_length == other.max_length

    def __repr__(self) -> str:
        """Show what the space was made with."""
        return f"UnicodeText({self.max_length})"


def observation_space() -> gym.spaces.Dict:
    """Return the space of ``ycbench_env.observation.Observation``; amounts are in cents."""

    def whole(low: int) -> gym.spaces.Box:
        return gym.spaces.Box(low, _LARGE, shape=(), dtype=np.int64)

    return gym.spaces.Dict(
        {
            "turn": whole(1),
            "sim_time": UnicodeText(_TIME_LENGTH),
            "horizon_end": UnicodeText(_TIME_LENGTH),
            "funds_cents": whole(-_LARGE),
            "monthly_payroll_cents": whole(0),
            "runway_months": gym.spaces.Box(-MAX_RUNWAY_MONTHS, MAX_RUNWAY_MONTHS, shape=(), dtype=np.float64),
            "active_tasks": whole(0),
            "planned_tasks": whole(0),
            "employees": whole(0),
            "events": UnicodeText(MAX_JSON_LENGTH),
            "results": UnicodeText(MAX_JSON_LENGTH),
            "text": UnicodeText(MAX_TEXT_LENGTH),
        }
    )
