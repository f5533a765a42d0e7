"""A prompt with history and completion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import Completer, Completion
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.shortcuts import CompleteStyle

from ycbench_agents.cli.play.completion import complete
from ycbench_agents.cli.play.history import TolerantHistory, history_path
from ycbench_agents.cli.play.meta import META

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document
    from prompt_toolkit.key_binding import KeyPressEvent

    from ycbench_agents.cli.play.session import Session

__all__ = ["Prompt", "SessionCompleter"]


class Prompt:
    """Asks a person.

    Args:
        session: The episode, for completion and the number of the turn.
        history: File that keeps what was typed, None for the user's.
    """

    def __init__(self, session: Session, history: Path | None) -> None:
        path = history or history_path()
        self._session = session
        self._prompt: PromptSession[str] = PromptSession(
            history=TolerantHistory(path) if path else InMemoryHistory(),
            completer=SessionCompleter(session),
            complete_while_typing=False,
            complete_style=CompleteStyle.COLUMN,
            key_bindings=_key_bindings(),
            multiline=True,  # so that a turn may have several lines; Enter plays it all the same
            prompt_continuation="... ",
        )

    def read(self, *, continued: bool) -> str | None:
        """Return the next input, None after Ctrl-D; Ctrl-C throws away what was typed."""
        message = "... " if continued else f"turn {int(self._session.observation['turn'])}> "
        while True:
            try:
                return self._prompt.prompt(message)
            except KeyboardInterrupt:
                continue
            except EOFError:
                return None


def _key_bindings() -> KeyBindings:
    """Return the keys: Enter plays the turn, Alt-Enter begins a new line in it."""
    keys = KeyBindings()

    def play(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    def new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    keys.add("enter")(play)
    keys.add("escape", "enter")(new_line)
    return keys


class SessionCompleter(Completer):
    """Completes from what the session knows at the time."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:  # noqa: ARG002 -- prompt_toolkit's signature
        """Yield what may stand at the cursor."""
        session = self._session
        for each in complete(document.text_before_cursor, session.space, session.knowledge, META):
            text = f"{each.text} " if each.ends else each.text
            yield Completion(text, start_position=-each.length, display=each.text, display_meta=each.meaning)
