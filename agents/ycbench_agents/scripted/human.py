"""Human: a person at a prompt decides.

It shows what an agent is given, reads commands, one a line, and plays them as one turn at the first empty line.
``ycbench play`` is the more comfortable way to play an episode; this policy puts a person wherever a policy can stand:
in recorded runs, in comparisons, in mixtures. A recorded run can be gone on with later: what was typed is in its
record, and nobody is asked for it again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Final

from ycbench_agents.base import Decision, PolicyStoppedError
from ycbench_env import Observation
from ycbench_env.text import JsonObject, printable

_OPENING: Final = "Type commands, one a line; an empty line plays them as one turn. --help lists them, Ctrl-D leaves."
_TYPED: Final = "typed"


def _write(text: str, end: str = "\n") -> None:
    sys.stderr.write(text + end)
    sys.stderr.flush()


def _read(prompt: str) -> str:
    """Return the next line of stdin; the prompt goes to stderr, as ``input`` would not have it."""
    _write(prompt, end="")
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line


class HumanPolicy:
    """Asks a person for each turn.

    Args:
        read: Shows a prompt and returns the line that is typed; EOFError at the end. By default lines come from stdin.
        write: Shows a text. By default it and the prompts go to stderr, since stdout is for results.
    """

    def __init__(self, read: Callable[[str], str] = _read, write: Callable[[str], object] = _write) -> None:
        self._read = read
        self._write = write
        self._greeted = False

    def reset(self, seed: int) -> None:  # noqa: ARG002 -- a person has no seed
        """Explain the prompt anew with the next turn."""
        self._greeted = False

    def act(self, observation: Observation) -> str:
        """Return the commands that a person types, a line each.

        Raises:
            PolicyStoppedError: The input is at its end.
        """
        if not self._greeted:
            self._write(_OPENING)
            self._greeted = True
        self._write("\n".join(map(printable, observation["text"].split("\n"))))
        lines: list[str] = []
        while True:
            try:
                line = self._read("... " if lines else f"turn {int(observation['turn'])}> ").strip()
            except UnicodeDecodeError:
                self._write("That line is not in the terminal's encoding and was not read; type it again.")
                continue
            except EOFError:
                msg = (
                    "the input ended, so nobody decides; what was typed since the last empty line was not played. "
                    "A recorded run goes on with: ycbench resume FOLDER"
                )
                raise PolicyStoppedError(msg) from None
            if not line:
                return "\n".join(lines)
            lines.append(line)

    async def decide(self, observation: Observation) -> Decision:
        """Return the commands that a person types, and keep them for the record.

        Raises:
            PolicyStoppedError: The input is at its end.
        """
        turn = self.act(observation)
        return Decision(turn, {_TYPED: turn})

    def recall(self, observation: Observation, trace: JsonObject) -> str:  # noqa: ARG002 -- a person may decide anything
        """Return what was typed according to a record, without asking.

        Raises:
            ValueError: The record holds nothing typed.
        """
        turn = trace.get(_TYPED)
        if not isinstance(turn, str):
            msg = f"got a trace with {', '.join(trace) or 'nothing'}, expected {_TYPED}, the text of the turn"
            raise ValueError(msg)  # noqa: TRY004 -- what the protocol asks for
        return turn
