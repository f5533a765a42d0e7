"""The program: its commands, one file each, and how it ends."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

from cyclopts import App, CycloptsError, UnusedCliTokensError

import ycbench_env
from ycbench_agents.cli.output import (
    INTERRUPTED,
    USAGE,
    Output,
    UsageError,
    drop_output,
    explanation,
    make_output_total,
    print_message,
)

# Help stands here and beside the options, not in docstrings, which `python -OO` drops.
_COMMANDS: Final = {
    "run": """Play episodes with policies and print the results.

Plays every combination of policy, configuration and seed. Ctrl-C keeps what is done.
Policy llm asks a language model; its API key comes from the environment.""",
    "demo": """Play the policies random and greedy, and draw their funds over the year.

Each plays the presets default and reference with seeds 1 to 3; prints the results and writes them, too.""",
    "resume": """Resume recorded runs that were killed or stopped; finished ones stay as they are.

A record may come from anybody: code and keys that it names are used only if you name them, too.""",
    "replay": """Play recorded runs again, without a model, and check that every turn is as recorded.

The exit code is 1 if something differs.""",
    "play": """Play by hand, seeing what an agent would see.

Each line is a turn. Reads turns from a pipe, too. :help lists what the prompt itself understands.""",
    "describe": "Show a world at its start: staff, clients and market.",
    "plan": """Search for the best plan of each episode, knowing all that is hidden: a yardstick, no policy.

Saves each plan as a list of commands that replays to its score. Ctrl-C keeps the best so far.""",
    "bound": "Print an upper bound on the final funds: no policy ends with more, whatever it sees.",
    "evaluate": """Play every episode of a suite, measure it, and print the leaderboard.

Finished episodes are kept: the same command resumes after a kill or Ctrl-C, and tries again what failed.""",
    "report": """Write the report of an evaluation: report.html, which holds all, report.md and figures.

An unfinished evaluation is reported as far as it goes.""",
    "validate": """Check whether an evaluation may be published, rule by rule.

Writes provenance.json if it is valid. The exit code is 1 if a rule is broken.""",
    "export": """Write recorded turns as data: lines of JSON for training, a Parquet table, or a Minari data set.

A line of JSON has prompt, completion and reward. Every record is played again and must turn out as recorded.""",
}
_FILES: Final = {  # of commands that have no file of their own name
    **dict.fromkeys(("demo", "resume", "replay"), "run"),
    "bound": "plan",
    **dict.fromkeys(("report", "validate", "export"), "results"),
}
_CONFIG_COMMANDS: Final = {
    "show": "Print a resolved configuration: every setting, as a TOML file.",
    "validate": """Check configuration files and name every problem in them.

Environment variables do not count here. The exit code is 2 if a file cannot be used.""",
    "diff": "Print the settings in which two configurations differ.",
    "list": "Print the names of the presets.",
}


def make_app() -> App:
    """Return the program; the file of a command is imported when the command runs."""
    app = App(
        name="ycbench",
        help="Run a simulated startup under partial observation: with policies, or by hand.",
        version=lambda: f"ycbench {ycbench_env.__version__}",
        help_format="plaintext",
        suppress_keyboard_interrupt=False,
    )
    for name, text in _COMMANDS.items():
        place = f"ycbench_agents.cli.{_FILES.get(name, name)}:{name}"
        usage = f"ycbench {name} [OPTIONS] FOLDER..." if name in {"resume", "replay", "export"} else None
        app.command(place, name=name, help=text, usage=usage)  # cyclopts itself would show [ARGS...]
    config = App(name="config", help="Show, check and compare configurations.", help_format="plaintext")
    for name, text in _CONFIG_COMMANDS.items():
        usage = "ycbench config validate FILE..." if name == "validate" else None
        config.command(f"ycbench_agents.cli.config:{name}_config", name=name, help=text, usage=usage)
    app.command(config)
    return app


def run_command(arguments: Sequence[str]) -> int:
    """Run one command and return the exit code; what an operator did wrong is one message on stderr.

    Args:
        arguments: The words after ``ycbench``.
    """
    make_output_total()
    try:
        code = _dispatch(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print_message("interrupted")
        return INTERRUPTED
    except BrokenPipeError:  # the reader, like head, has seen enough
        drop_output()
        return 0
    except Exception as error:
        text = explanation(error)
        if text is None:
            raise
        drop_output()
        print_message(f"error: {text}")
        return USAGE
    return code


def _dispatch(arguments: Sequence[str]) -> int:
    try:
        code: object = make_app()(
            arguments, console=Output(sys.stdout), exit_on_error=False, print_error=False, result_action="return_value"
        )
    except CycloptsError as error:
        unused = error.unused_tokens if isinstance(error, UnusedCliTokensError) else None
        text = f"got {' '.join(unused)!r}, expected nothing more here" if unused else str(error)
        msg = f"{text}\nycbench --help lists the commands, ycbench COMMAND --help the options of one"
        raise UsageError(msg) from None
    return code if isinstance(code, int) else 0
