"""``ycbench play``: a person, or a file of turns, in the place of an agent."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ycbench_agents.cli.failure import INTERRUPTED
from ycbench_agents.cli.play.loop import play_turns
from ycbench_agents.cli.play.record import read_turns
from ycbench_agents.cli.play.screen import ColourScreen, PlainScreen
from ycbench_agents.cli.play.session import Session
from ycbench_agents.cli.play.typist import Pipe
from ycbench_agents.cli.streams import complain

if TYPE_CHECKING:
    from pathlib import Path

    from ycbench_agents.cli.play.screen import Screen
    from ycbench_agents.cli.play.typist import Typist
    from ycbench_env import Config

__all__ = ["play"]


def play(config: Config, seed: int, *, scratchpad: bool, history: Path | None, replay: Path | None) -> int:
    """Play one episode turn by turn and return the exit code.

    Args:
        config: The configuration.
        seed: Run seed.
        scratchpad: Whether there are notes, as for a language model.
        history: File that keeps what was typed, None for the user's.
        replay: File of turns to play first, None for none.

    Raises:
        UsageError: The file of turns cannot be used.
    """
    turns = read_turns(replay) if replay else ()
    session = Session(config, seed, scratchpad=scratchpad)
    is_terminal = sys.stdout.isatty()
    screen: Screen = ColourScreen() if is_terminal else PlainScreen()
    # A prompt needs both: keys from one, a place to draw on in the other.
    by_hand = is_terminal and sys.stdin.isatty()
    typist = _prompt(session, history) if by_hand else Pipe()
    code = 0
    try:
        play_turns(session, typist, screen, turns, by_hand=by_hand)
    except KeyboardInterrupt:
        complain("interrupted")
        code = INTERRUPTED
    screen.say(session.fate)
    return code


def _prompt(session: Session, history: Path | None) -> Typist:
    from ycbench_agents.cli.play.prompt import Prompt  # noqa: PLC0415 -- imports prompt_toolkit

    return Prompt(session, history)
