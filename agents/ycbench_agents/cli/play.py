"""``ycbench play``: a person, or lines from a pipe, in the place of an agent."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

from cyclopts import Parameter
from rich.highlighter import JSONHighlighter
from rich.text import Text

from ycbench_agents.cli.options import File, Preset, Seed, Settings, load_one, read_seed
from ycbench_agents.cli.output import (
    INTERRUPTED,
    complain,
    dollars,
    output,
    printable_lines,
    read_turns_as_utf8,
)
from ycbench_agents.files import FileError, parse_json, read_file, write_file
from ycbench_env import CommandSpace, Config, Observation, YCBenchEnv
from ycbench_env.text import shown
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
    turns = _read_turns(replay) if replay else ()
    # A prompt needs both: keys from one, a place to draw on in the other.
    by_hand = sys.stdin.isatty() and sys.stdout.isatty()
    if not by_hand:
        read_turns_as_utf8()
    read = _prompt(game, history) if by_hand else _read_pipe
    code = 0
    try:
        if by_hand:
            _say("Each line is a turn. :help lists what this prompt understands, :quit leaves.")
        _show(game.observation["text"])
        for turn in turns:
            _step(game, turn)
        _play_turns(game, read, is_by_hand=by_hand)
    except KeyboardInterrupt:
        complain("interrupted")
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
        self.space: CommandSpace = env.action_space
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
        for result in json.loads(self.observation["results"]):
            answer = result["output"]
            rows = answer["tasks"] if isinstance(answer.get("tasks"), list) else []
            for row in (*rows, answer):
                if "task_id" in row and (row is not answer or "status" in row):
                    self.tasks[row["task_id"]] = row.get("status", "market")
            if answer.get("replacement_task_id"):
                self.tasks[answer["replacement_task_id"]] = "market"
        for event in json.loads(self.observation["events"]):
            if event.get("type") == "task_completed":
                self.tasks[event["task_id"]] = "completed_success" if event["success"] else "completed_fail"
        if terminated or truncated:
            self.reason = info["terminal_reason"]

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
            results = json.loads(game.observation["results"])
            texts = [f"> {result['command']}\n{_laid_out(result['output'])}" for result in results]
            return "\n\n".join(texts) or "There are no answers yet; the last turn had no commands."
        case ":save":
            return _save(game, rest)
        case _:
            return f"There is no {word}; :help lists what there is. No turn was played."


def _laid_out(output: Mapping[str, Any]) -> str:
    if set(output) != {"help"}:
        return json.dumps(output, indent=2, ensure_ascii=False)
    wrap = textwrap.TextWrapper(80, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(wrap.fill(line) for line in output["help"].splitlines())


def _save(game: Game, name: str) -> str:
    """Write the turns, one JSON string a line: a turn may have line breaks and lone surrogates."""
    if not name:
        return ":save needs the name of a file, like :save turns.jsonl"
    try:
        write_file(Path(name).expanduser(), "".join(f"{json.dumps(turn)}\n" for turn in game.turns))
    except (FileError, RuntimeError, ValueError) as error:  # RuntimeError: ~somebody; ValueError: a zero byte
        return f"{error}. Nothing was saved."
    return f"{_count(game.turns)} saved in {name}; play --replay {name} plays them again."


def _read_turns(path: Path) -> tuple[str, ...]:
    turns: list[str] = []
    for number, line in enumerate(read_file(path).splitlines(), 1):
        if line.strip():
            turn = parse_json(line, f"{path}:{number}")
            if not isinstance(turn, str):
                msg = f'{path}:{number}: got {shown(turn)}, expected a JSON string, like "market browse"'
                raise FileError(msg)
            turns.append(turn)
    return tuple(turns)


# ---------------------------------------------------------------- input and output


def _read_pipe(_prompt: str) -> str | None:
    line = sys.stdin.readline()
    return line.removesuffix("\n") if line else None


def _show(text: str) -> None:
    """Print an observation: as it is into a pipe; on a terminal with colours and without control characters."""
    if not sys.stdout.isatty():
        sys.stdout.write(f"{text}\n\n")
        sys.stdout.flush()  # at once, for a program that waits for it
        return
    console = output()
    status, *others = printable_lines(text).split("\n")
    console.print(Text(status, style="bold"))
    for line in others:  # one line each, however long, so that they can be copied
        console.print(_coloured(line), soft_wrap=True)


_STYLES: Final = {
    "> ": "bold cyan",
    '{"error":': "red",
    "The episode is over": "bold yellow",
    "Time was moved on": "bold yellow",
}


def _coloured(line: str) -> Text:
    for start, style in _STYLES.items():
        if line.startswith(start):
            return Text(line, style=style)
    return JSONHighlighter()(line) if line.startswith(("{", "[", "Events: ")) else Text(line)


def _say(message: str) -> None:
    """Print what is no part of an observation."""
    if sys.stdout.isatty():
        output().print(Text(printable_lines(message), style="bold blue"), soft_wrap=True)
    else:
        sys.stdout.write(f"{message}\n")
        sys.stdout.flush()


def _prompt(game: Game, history: Path | None) -> Reader:
    """Return what asks a person, with history and completion."""
    from prompt_toolkit import PromptSession  # noqa: PLC0415 -- a pipe needs none of it
    from prompt_toolkit.completion import CompleteEvent, Completer, Completion  # noqa: PLC0415 -- as above
    from prompt_toolkit.document import Document  # noqa: PLC0415 -- as above
    from prompt_toolkit.history import FileHistory, History, InMemoryHistory  # noqa: PLC0415 -- as above
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent  # noqa: PLC0415 -- as above

    class GameCompleter(Completer):
        def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:  # noqa: ARG002 -- prompt_toolkit's signature
            before = document.text_before_cursor
            for text, meaning in complete(before, game):
                ending = "" if text.startswith("Emp_") else " "  # names may go on in a list
                yield Completion(text + ending, start_position=-len(_begun(before)), display=text, display_meta=meaning)

    keys = KeyBindings()

    @keys.add("enter")
    def _play(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def _new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    past: History = InMemoryHistory()
    with contextlib.suppress(OSError, RuntimeError):  # RuntimeError: a user without a home
        path = history or _history_path()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("ab").close()  # can it be written?
        past = FileHistory(path)
    session: PromptSession[str] = PromptSession(
        history=past,
        completer=GameCompleter(),
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


def _history_path() -> Path:
    """Return where the platform keeps such a file."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return base / "ycbench" / "history"


# ---------------------------------------------------------------- completion

_ACCEPTED_STATUSES: Final = {  # the tasks that a command takes; others take any
    "task accept": ("market",),
    "task assign": ("planned", "active"),
    "task dispatch": ("planned",),
    "task cancel": ("planned", "active"),
}


def _begun(before: str) -> str:
    """Return the beginning of the word, or of the value or list item, that is completed."""
    word = re.split(r"\s|;|&&", before)[-1]
    return re.split(r"[=,]", word)[-1] if word.startswith("--") or "," in word else word


def complete(before: str, game: Game) -> list[tuple[str, str]]:
    """Return what may stand after a text, with its meaning: from the table of commands and from observations."""
    command = re.split(r"[\r\n;]|&&", before)[-1]
    if before.startswith(":"):
        choices = list(_META.items())
    elif command.count('"') % 2 or command.count("'") % 2:
        return []  # within quoted text
    else:
        words = command.split()
        word = words.pop() if words and not command[-1].isspace() else ""
        words = words[1:] if words[:1] == ["yc-bench"] else words
        specs = [spec for spec in game.space.grammar.commands if list(spec.verb[: len(words)]) == words[:2]]
        if not words:
            nouns = dict.fromkeys(spec.verb[0] for spec in specs)
            choices = [(noun, ", ".join(spec.verb[1] for spec in specs if spec.verb[0] == noun)) for noun in nouns]
        elif len(words) == 1 or not specs:
            choices = [(spec.verb[1], spec.summary) for spec in specs]
        else:
            choices = _options(specs[0], words[2:], word, game)
    begun = _begun(before)
    return [(text, meaning) for text, meaning in choices if text.startswith(begun)]


def _options(spec: Any, words: list[str], word: str, game: Game) -> list[tuple[str, str]]:  # noqa: ANN401 -- the grammar's row
    """Return the options that are left, or the values of the one that was begun."""
    by_name = {option.name: option for option in spec.options}
    option = by_name.get(word.partition("=")[0] if "=" in word else words[-1] if words else "")
    if option is None:
        used = {each.partition("=")[0] for each in words}
        if used.intersection(spec.one_of):
            used.update(spec.one_of)
        left = [(name, each.help) for name, each in by_name.items() if name not in used]
        return left or ([] if words else [("--help", "What this command does")])
    if option.field == "task_id":
        statuses = _ACCEPTED_STATUSES.get(spec.name)
        return [(task, status) for task, status in game.tasks.items() if not statuses or status in statuses]
    if option.field in {"employees", "employee_id"}:
        named = word.rpartition("=")[2].split(",")[:-1]
        names = [f"Emp_{number}" for number in range(1, int(game.observation["employees"]) + 1)]
        return [(name, "") for name in names if name not in named]
    return [(choice, "") for choice in getattr(option.kind, "words", ())]
