"""ContextTruncation: the last turns stay in view, earlier ones are gone; and the window that decides which."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Generic, NamedTuple, TypeVar

import attrs
import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs

from ycbench_env.errors import ConfigError, whole_number
from ycbench_env.observation import MAX_TEXT_LENGTH, cut_text
from ycbench_env.observation.info import MAX_COMMAND_ECHO
from ycbench_env.spaces import UnicodeText
from ycbench_env.text import to_json
from ycbench_env.wrappers.scratchpad_memory import notes_section
from ycbench_env.wrappers.text_observation import spaces_with_text

T = TypeVar("T")

DEFAULT_KEEP_TURNS: Final = 20
"""Turns that stay by default."""


@attrs.frozen
class Window(Generic[T]):
    """The last whole turns, oldest first, and how many earlier ones are gone."""

    turns: tuple[T, ...]
    dropped: int


def window(
    turns: Sequence[T],
    *,
    keep_turns: int | None = DEFAULT_KEEP_TURNS,
    token_budget: int | None = None,
    count_tokens: Callable[[T], int] | None = None,
) -> Window[T]:
    """Return the longest run of last whole turns within both limits; no turn is ever kept in part.

    Args:
        turns: All turns so far, oldest first.
        keep_turns: Most turns that stay, 0 for none; None for no such limit.
        token_budget: Most tokens that the turns that stay have together, from 0; None for no such limit. A marker or
            anything else that is shown beside the turns is not counted.
        count_tokens: Tokens of one turn, from 0; needed with ``token_budget`` and called for no more turns than it
            takes to know.

    Raises:
        ConfigError: A limit is no whole number from 0, or there is a budget and nothing to count with.
    """
    for name, limit in (("keep_turns", keep_turns), ("token_budget", token_budget)):
        if limit is not None:
            whole_number(name, limit, 0)
    start = 0 if keep_turns is None else max(0, len(turns) - keep_turns)
    if token_budget is not None:
        if count_tokens is None:
            msg = "count_tokens: token_budget needs a function from a turn to its number of tokens (estimate_tokens)"
            raise ConfigError(msg)
        left, first, start = token_budget, start, len(turns)
        while start > first and (left := left - count_tokens(turns[start - 1])) >= 0:
            start -= 1
    return Window(turns=tuple(turns[start:]), dropped=start)


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a text has, where no tokenizer is at hand: its bytes in UTF-8 / 4, rounded up.

    A rule of thumb for English and JSON; a real tokenizer may find twice as many or half. Any text has an estimate,
    lone surrogates (three bytes each) included.
    """
    return -(-len(text.encode("utf-8", "surrogatepass")) // 4)


def gone_marker(dropped: int) -> str:
    """Return one line with the number of earlier turns that are gone; the empty text for 0."""
    if not dropped:
        return ""
    return "[1 earlier turn is gone]" if dropped == 1 else f"[{dropped} earlier turns are gone]"


# ---- the wrapper

MAX_TURN_LENGTH: Final = MAX_TEXT_LENGTH
"""Longest text of one turn in the window, in characters; a longer one is cut with a mark."""

MAX_WINDOW_LENGTH: Final = 64 * MAX_TURN_LENGTH
"""Longest window, in characters, whatever the limits; where turns are longer, the oldest whole ones go."""

_ROOM_FOR_MARKER: Final = 64  # for the line that counts the turns that are gone
_ANSWER_SIGN: Final = "\n> "  # begins the first answer in the text of an observation


class _TurnText(NamedTuple):
    """A turn as the window shows it, and how many tokens that has."""

    text: str
    tokens: int


def _turn_text(number: int, info: dict[str, Any]) -> str:
    """Return a turn as the window shows it: its number, each command and its answer, and a forced advance."""
    lines = [f"Turn {number}:"]
    for result in info["results"]:
        lines += f"> {cut_text(result['command'], MAX_COMMAND_ECHO)}", to_json(result["output"])
    if not info["results"]:
        lines.append("(no command)")
    if info["forced_advance"]:  # no answer contains it, and the status does for one turn only
        lines.append(f"Time was moved on by itself: {to_json(list(info['events']))}")
    return cut_text("\n".join(lines), MAX_TURN_LENGTH)


class ContextTruncation(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Shows the last whole turns, commands and answers, and counts the earlier ones that are gone.

    The window comes as ``observation["window"]``, and ``observation["text"]`` becomes the window, then the status and
    events of now, then the notes of a scratchpad. The turn just played is the window's last turn; where it is not in
    the window (``keep_turns=0``, a budget that it exceeds) its answers are nowhere: ``observation["results"]`` is
    ``"[]"``. ``info`` is for tools and stays as it is. ``reset`` empties the window.
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        keep_turns: int | None = DEFAULT_KEEP_TURNS,
        token_budget: int | None = None,
        count_tokens: Callable[[str], int] | None = None,
    ) -> None:
        """Wrap an environment.

        Args:
            env: A YCBenchEnv, or one wrapped in anything that keeps its observation a dict.
            keep_turns: Most turns in the window, from 0; None for no such limit.
            token_budget: Most tokens that the window's turns have together, the marker not counted; None for no such
                limit.
            count_tokens: Tokens of a text, None for ``estimate_tokens``. With a function of your own ``env.spec`` goes
                to no JSON, and the environment can be pickled if the function can.

        Raises:
            ConfigError: A limit is no whole number from 0, there is a window already, or the observation is no dict.
        """
        self._count_tokens = estimate_tokens if count_tokens is None else count_tokens
        window((), keep_turns=keep_turns, token_budget=token_budget, count_tokens=self._count_tokens)  # checks both
        RecordConstructorArgs.__init__(
            self, _disable_deepcopy=True, keep_turns=keep_turns, token_budget=token_budget, count_tokens=count_tokens
        )
        gym.Wrapper.__init__(self, env)
        spaces, text_length = spaces_with_text(env, "ContextTruncation")
        if "window" in spaces:
            msg = "this environment has a window already; wrap it in ContextTruncation once"
            raise ConfigError(msg)
        self._keep_turns = keep_turns
        self._token_budget = token_budget
        self._view = Window[_TurnText](turns=(), dropped=0)
        self._turn = 0  # the one to be played next, where that is known
        self._room = MAX_WINDOW_LENGTH  # characters for the turns, line ends included
        if keep_turns is not None:
            self._room = min(keep_turns * (MAX_TURN_LENGTH + 1), MAX_WINDOW_LENGTH)
        length = _ROOM_FOR_MARKER + self._room
        spaces["window"] = UnicodeText(length)
        spaces["text"] = UnicodeText(length + text_length)
        self.observation_space = gym.spaces.Dict(spaces)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start a new episode with an empty window."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._view = Window(turns=(), dropped=0)
        self._turn = int(observation["turn"])
        return {**observation, "window": ""}, info

    def step(self, action: str | Sequence[str]) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Play one turn; see YCBenchEnv.step."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        following = int(observation["turn"])
        text = _turn_text(following - (following != self._turn), info)  # after an episode's end the count stands still
        self._turn = following
        tokens = 0 if self._token_budget is None else self._count_tokens(text)
        view = window(
            (*self._view.turns, _TurnText(text, tokens)),
            keep_turns=self._keep_turns,
            token_budget=self._token_budget,
            count_tokens=lambda turn: turn.tokens,
        )
        fitting = window(
            view.turns, keep_turns=None, token_budget=self._room, count_tokens=lambda turn: len(turn.text) + 1
        )
        # What is gone once never returns.
        self._view = Window(fitting.turns, self._view.dropped + view.dropped + fitting.dropped)
        marker = gone_marker(self._view.dropped)
        shown = "\n".join([*([marker] if marker else []), *(turn.text for turn in self._view.turns)])
        notes = notes_section(observation.get("notes", ""))
        # Of the text without notes: nothing before the answers holds a line break of somebody else's.
        status = observation["text"].removesuffix(notes).partition(_ANSWER_SIGN)[0]
        observation = {
            **observation,
            "results": observation["results"] if self._view.turns else "[]",
            "text": f"{shown}\n{status}{notes}",
            "window": shown,
        }
        return observation, reward, terminated, truncated, info
