"""``ycbench play``: a person, or lines from a pipe, in the place of an agent."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

from cyclopts import Parameter
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from rich.highlighter import JSONHighlighter
from rich.text import Text

from ycbench_agents.cli.options import File, Preset, Seed, Settings, load_one, read_seed
from ycbench_agents.cli.output import INTERRUPTED, Output, print_message, printable_lines
from ycbench_agents.files import FileError, from_json, read_file, write_file
from ycbench_env import Config, Observation, YCBenchEnv
from ycbench_env.text import dollars
from ycbench_env.wrappers import ScratchpadMemory

_META: Final = {
    ":help": "this list",
    ":multi": "begin a turn of several lines",
    ":end": "end such a turn and play it",
    ":pretty": "show the last answers again, laid out for reading",
    ":save": "write the turns played so far to a file: :save FILE",
    ":quit": "leave; so does Ctrl-D",
}
_HELP: Final = (
    "\n".join(f"{name:<8} {meaning}" for name, meaning in _META.items())
    + """
Everything else is a turn. Several commands in one turn: separate them by
; or &&, begin a new line with Alt-Enter (or Esc, then Enter), or write them
between :multi and :end. The game's own commands: --help (takes a turn), then
:pretty to read it.
Tab completes, Up brings back what was typed before."""
)
_HINTS: Final = {  # for a person who types the usual words of other prompts; an agent's turn is not spared
    **dict.fromkeys(("exit", "quit", "q", "bye", "exit()", "quit()"), ":quit leaves; so does Ctrl-D."),
    **dict.fromkeys(("help", "?", "h"), ":help lists what this prompt understands; the game's own help is --help."),
}
_STYLES: Final = {
    "> ": "bold cyan",
    '{"error":': "red",
    "The episode is over": "bold yellow",
    "Time was moved on": "bold yellow",
}
_STATUSES: Final = {  # the tasks that a command takes; others take any
    "task accept": ("market",),
    "task assign": ("planned", "active"),
    "task dispatch": ("planned",),
    "task cancel": ("planned", "active"),
}
_TASK: Final = re.compile(r'"(?:replacement_)?task_id":"([^"]+)"(?:,"status":"(\w+)")?')
Reader = Callable[[str], str | None]
"""Returns the next input after a prompt; None at the end."""


def play(  # noqa: PLR0913 -- one argument an option
    *,
    preset: Preset = None,
    config: File = None,
    settings: Settings = (),
    seed: Seed = "1",
    scratchpad: Annotated[
        bool, Parameter(help="Give notes that the scratchpad commands write and every answer shows.")
    ] = True,
    history: Annotated[
        Path | None, Parameter(metavar="FILE", help="File that keeps what was typed; by default one of the user's own.")
    ] = None,
    replay: Annotated[Path | None, Parameter(metavar="FILE", help="File that :save wrote, to be played first.")] = None,
) -> int:
    """Play one episode turn by turn and return the exit code."""
    game = Game(load_one(preset, config, settings), read_seed(seed), scratchpad=scratchpad)
    lines = enumerate(read_file(replay).splitlines() if replay else (), 1)
    turns = [from_json(line, str, f"{replay}:{number}") for number, line in lines if line.strip()]
    # A prompt needs both: keys from one, a place to draw on in the other.
    by_hand = sys.stdin.isatty() and sys.stdout.isatty()
    stdin: object = sys.stdin
    if not by_hand and isinstance(stdin, io.TextIOWrapper):  # UTF-8 whatever the locale; no byte ends the game
        stdin.reconfigure(encoding="utf-8-sig", errors="replace")
    code = 0
    try:
        if by_hand:
            _say("Each line is a turn. :help lists what this prompt understands, :quit leaves.")
        _show(game.observation["text"])
        for turn in turns:
            _step(game, turn)
        _play_turns(game, _prompt(game, history) if by_hand else _read_pipe, is_by_hand=by_hand)
    except KeyboardInterrupt:
        print_message("interrupted")
        code = INTERRUPTED
    _say(game.summary)
    return code


class Game:
    """An episode: the turns that were played, the last observation, and the tasks that answers have named.

    Attributes:
        tasks: Status in which each task was seen last, by id; market for one on offer. From observations alone.
    """

    def __init__(self, config: Config, seed: int, *, scratchpad: bool = True) -> None:
        env = YCBenchEnv(config)
        self.commands = env.action_space.grammar.commands
        self.turns: list[str] = []
        self.tasks: dict[str, str] = {}
        self.reason: str | None = None
        self._env: Any = ScratchpadMemory(env) if scratchpad else env
        self.observation: Observation
        self.observation, _ = self._env.reset(seed=seed)

    def step(self, turn: str) -> None:
        """Play a turn."""
        self.observation, _, terminated, truncated, info = self._env.step(turn)
        self.turns.append(turn)
        for task, status in _TASK.findall(self.observation["results"]):
            self.tasks[task] = status or self.tasks.get(task, "market")
        if terminated or truncated:
            self.reason = info["terminal_reason"]

    @property
    def results(self) -> list[dict[str, Any]]:
        """The answers to the last turn's commands."""
        return json.loads(self.observation["results"])

    @property
    def summary(self) -> str:
        """What became of the company, in a sentence."""
        date, funds = self.observation["sim_time"][:10], dollars(int(self.observation["funds_cents"]))
        ends = {
            None: f"You left the company on {date}",
            "horizon_end": f"The company survived until {date}",
            "bankruptcy": f"The company went bankrupt on {date}",
        }
        end = ends.get(self.reason, f"The episode was truncated ({self.reason}) on {date}")
        return f"{end}: after {_count(self.turns)}, funds {funds}."


def _count(turns: Sequence[str]) -> str:
    return f"{len(turns)} {'turn' if len(turns) == 1 else 'turns'}"


# ---------------------------------------------------------------- the loop


def _play_turns(game: Game, read: Reader, *, is_by_hand: bool) -> None:
    """Play until the input ends or asks to leave; only a person gets hints."""
    while (line := read(f"turn {int(game.observation['turn'])}> ")) is not None:
        word, _, rest = line.strip().partition(" ")
        if word == ":quit":
            return
        if word == ":multi":
            lines: list[str] = []
            while (line := read("... ")) is not None and line.strip() != ":end":
                lines.append(line)
            if line is None:
                _say("The input ended before :end; that turn was not played.")
                return
            _step(game, "\n".join(lines))
        elif word.startswith(":"):
            _say(_answer(game, word, rest.strip()))
        elif is_by_hand and (hint := _HINTS.get(line.strip().lower())):
            _say(f"{hint} No turn was played.")
        elif word:
            _step(game, line)


def _step(game: Game, turn: str) -> None:
    if game.reason is None:
        game.step(turn)
        _show(game.observation["text"])
    if game.reason is not None:
        _say("The episode is over. :save FILE keeps the turns, :quit leaves.")


def _answer(game: Game, word: str, rest: str) -> str:
    """Do what a line asks of the prompt itself and return the message."""
    match word:
        case ":help":
            return _HELP
        case ":end":
            return "There is no turn to end; :multi begins one."
        case ":pretty":
            texts = [f"> {result['command']}\n{_laid_out(result['output'])}" for result in game.results]
            return "\n\n".join(texts) or "There are no answers yet; the last turn had no commands."
        case ":save":
            return _save(game, rest) if rest else ":save needs the name of a file, like :save turns.jsonl"
        case _:
            return f"There is no {word}; :help lists what there is. No turn was played."


def _save(game: Game, name: str) -> str:
    """Write the turns, one JSON string a line: a turn may have line breaks and lone surrogates."""
    try:
        write_file(Path(name).expanduser(), "".join(f"{json.dumps(turn)}\n" for turn in game.turns))
    except (FileError, RuntimeError, ValueError) as error:  # RuntimeError: ~somebody; ValueError: a zero byte
        return f"{error}. Nothing was saved."
    return f"{_count(game.turns)} saved in {name}; play --replay {name} plays them again."


def _laid_out(output: dict[str, Any]) -> str:
    if set(output) != {"help"}:
        return json.dumps(output, indent=2, ensure_ascii=False)
    wrap = textwrap.TextWrapper(80, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(map(wrap.fill, output["help"].splitlines()))


# ---------------------------------------------------------------- input and output


def _read_pipe(_prompt: str) -> str | None:
    line = sys.stdin.readline()
    return line.removesuffix("\n") if line else None


def _show(text: str) -> None:
    """Print an observation: as it is into a pipe; on a terminal with colours and without control characters."""
    if not sys.stdout.isatty():
        print(f"{text}\n", flush=True)  # noqa: T201 -- at once, for a program that waits for it
        return
    console = Output(sys.stdout)
    status, *others = printable_lines(text).split("\n")
    console.print(Text(status, style="bold"))
    for line in others:  # one line each, however long, so that they can be copied
        style = next((style for start, style in _STYLES.items() if line.startswith(start)), None)
        is_json = style is None and line.startswith(("{", "[", "Events: "))
        console.print(JSONHighlighter()(line) if is_json else Text(line, style=style or ""), soft_wrap=True)


def _say(message: str) -> None:
    """Print what is no part of an observation."""
    if sys.stdout.isatty():
        Output(sys.stdout).print(Text(printable_lines(message), style="bold blue"), soft_wrap=True)
    else:
        print(message, flush=True)  # noqa: T201 -- the command line


def _prompt(game: Game, history: Path | None) -> Reader:
    """Return what asks a person, with history and completion."""
    keys = KeyBindings()

    @keys.add("enter")
    def _play(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def _new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    past: History = InMemoryHistory()
    with contextlib.suppress(OSError, RuntimeError):  # RuntimeError: a user without a home
        state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
        path = history or Path(state) / "ycbench" / "history"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("ab").close()  # can it be written?
        past = FileHistory(path)
    session: PromptSession[str] = PromptSession(
        history=past,
        completer=_GameCompleter(game),
        complete_while_typing=False,
        key_bindings=keys,
        multiline=True,  # so that a turn may have several lines; Enter plays it all the same
        prompt_continuation="... ",
    )

    def read(prompt: str) -> str | None:
        while True:
            try:
                return session.prompt(prompt)
            except KeyboardInterrupt:
                continue
            except EOFError:
                return None

    return read


# ---------------------------------------------------------------- completion


class _GameCompleter(Completer):
    """Completes from the table of commands and from observations."""

    def __init__(self, game: Game) -> None:
        self._game = game

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:  # noqa: ARG002 -- prompt_toolkit's signature
        begun, choices = complete(document.text_before_cursor, self._game)
        for text, meaning in choices.items():
            ending = "" if text.startswith("Emp_") else " "  # names may go on in a list
            yield Completion(text + ending, start_position=-len(begun), display=text, display_meta=meaning)


def complete(before: str, game: Game) -> tuple[str, dict[str, str]]:
    """Return the word that was begun before the cursor, and what it may become, with meanings."""
    command = re.split(r"[\r\n;]|&&", before)[-1]
    if command.count('"') % 2 or command.count("'") % 2:  # within quoted text
        return "", {}
    *words, last = re.split(r"[\s=]+", command.lstrip())
    begun = last.rpartition(",")[2]
    specs = [spec for spec in game.commands if list(spec.verb[: len(words)]) == words[:2]]
    choices: dict[str, str] = {}
    if before.startswith(":"):
        choices = _META
    elif not words:
        for spec in specs:
            noun, verb = spec.verb
            choices[noun] = f"{choices[noun]}, {verb}" if noun in choices else verb
    elif len(words) == 1:
        choices = {spec.verb[1]: spec.summary for spec in specs}
    elif specs:
        options = {option.name: option for option in specs[0].options}
        if words[-1] not in options:
            gone = {*words, *(specs[0].one_of if set(specs[0].one_of) & set(words) else ())}
            left = {name: option.help for name, option in options.items() if name not in gone}
            choices = left or ({} if words[2:] else {"--help": "What this command does"})
        elif (kind := options[words[-1]].kind).name == "task":
            statuses = _STATUSES.get(specs[0].name)
            choices = {task: at for task, at in game.tasks.items() if statuses is None or at in statuses}
        elif kind.name in {"employee", "names"}:
            names = [f"Emp_{number}" for number in range(1, int(game.observation["employees"]) + 1)]
            choices = dict.fromkeys((name for name in names if name not in last.split(",")[:-1]), "")
        else:
            choices = dict.fromkeys(kind.words, "")
    return begun, {text: meaning for text, meaning in choices.items() if text.startswith(begun)}
