"""The loop of a game: read an input, play it or do what it asks of the prompt, show what comes back."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from ycbench_agents.cli.play import meta
from ycbench_agents.cli.play.record import write_turns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ycbench_agents.cli.play.knowledge import Row
    from ycbench_agents.cli.play.screen import Screen
    from ycbench_agents.cli.play.session import Session
    from ycbench_agents.cli.play.typist import Typist

__all__ = ["play_turns"]

_OVER: Final = f"The episode is over. {meta.SAVE} FILE keeps the turns, {meta.QUIT} leaves."
_OPEN: Final = f"The input ended before {meta.END}; that turn was not played."
_NO_ANSWERS: Final = "There are no answers yet; the last turn had no commands."
_COLUMNS: Final = 80  # of help; usual for terminals, and good to read


def play_turns(
    session: Session, typist: Typist, screen: Screen, first: Sequence[str] = (), *, by_hand: bool = False
) -> None:
    """Play until the input ends or asks to leave.

    Args:
        session: The episode.
        typist: Where input comes from.
        screen: Where answers go.
        first: Turns to play before any input.
        by_hand: Whether a person types, who is helped with the prompt; else each line counts as an agent's would.
    """
    if by_hand:
        screen.say(meta.OPENING)
    screen.show(session.observation["text"])
    for turn in first:
        if session.over is None:
            _play(session, screen, turn)
    while (line := typist.read(continued=False)) is not None:
        word = line.strip().partition(" ")[0]
        if word == meta.QUIT:
            return
        if word == meta.MULTI:
            turn = _read_block(typist)
            if turn is None:
                screen.say(_OPEN)
                return
            _play(session, screen, turn)
        elif message := _for_the_prompt(session, line, by_hand=by_hand):
            screen.say(message)
        elif word:
            _play(session, screen, line)


def _play(session: Session, screen: Screen, turn: str) -> None:
    if session.over is not None:
        screen.say(_OVER)
        return
    session.step(turn)
    screen.show(session.observation["text"])
    if session.over is not None:
        screen.say(_OVER)


def _read_block(typist: Typist) -> str | None:
    """Return the lines up to ``:end`` as one turn, None if the input ends before."""
    lines: list[str] = []
    while (line := typist.read(continued=True)) is not None:
        if line.strip() == meta.END:
            return "\n".join(lines)
        lines.append(line)
    return None


def _for_the_prompt(session: Session, line: str, *, by_hand: bool) -> str | None:
    """Return what to say to a line that the prompt answers itself, None to one for the game."""
    if line.lstrip().startswith(":"):
        return _answer(session, line.strip())
    return meta.hint(line) if by_hand else None


def _answer(session: Session, line: str) -> str:
    """Do what a line asks of the prompt itself and return what to say."""
    word, _, rest = line.partition(" ")
    match word:
        case meta.HELP:
            return meta.help_lines()
        case meta.PRETTY:
            return _pretty(session)
        case meta.SAVE:
            return _save(session, rest.strip())
        case meta.END:
            return f"There is no turn to end; {meta.MULTI} begins one."
        case _:
            return f"There is no {word}; {meta.HELP} lists what there is. No turn was played."


def _pretty(session: Session) -> str:
    results = cast("list[Row]", json.loads(session.observation["results"]))
    return "\n\n".join(f"> {result['command']}\n{_laid_out(result['output'])}" for result in results) or _NO_ANSWERS


def _laid_out(output: Row) -> str:
    """Return an answer for reading: help as its lines, all else as JSON."""
    if set(output) != {"help"}:
        return json.dumps(output, indent=2, ensure_ascii=False)
    wrap = textwrap.TextWrapper(_COLUMNS, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(wrap.fill(line) for line in cast("str", output["help"]).splitlines())


def _save(session: Session, name: str) -> str:
    if not name:
        return f"{meta.SAVE} needs the name of a file, like {meta.SAVE} turns.jsonl"
    count = len(session.turns)
    try:
        write_turns(Path(name).expanduser(), session.turns)
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: ~somebody; ValueError: a zero byte
        reason = error.strerror if isinstance(error, OSError) else error
        return f"{name} cannot be written: {reason}. Nothing was saved."
    return f"{count} {'turn' if count == 1 else 'turns'} saved in {name}; play --replay {name} plays them again."
