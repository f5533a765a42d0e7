"""The commands, their options and their help."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Final

from cyclopts import App, CycloptsError, Parameter, UnusedCliTokensError
from cyclopts.validators import Number

from ycbench_agents.cli.console import help_output
from ycbench_agents.cli.evaluating import EVALUATION_COMMANDS
from ycbench_agents.cli.exporting import EXPORTING_COMMANDS
from ycbench_agents.cli.failure import UsageError
from ycbench_agents.cli.options import NO_DEFAULT, SEVERAL, Files, Presets, Seeds, Settings
from ycbench_agents.cli.planning import PLANNING_COMMANDS
from ycbench_agents.cli.reporting import REPORTING_COMMANDS
from ycbench_agents.cli.validating import VALIDATING_COMMANDS
from ycbench_agents.registry import policy_names

__all__ = ["dispatch", "make_app"]

_HELP: Final = "Run a simulated startup under partial observation: with policies, or by hand."
_SEE_HELP: Final = "ycbench --help lists the commands, ycbench COMMAND --help the options of one"
_OPTION: Final = re.compile("(?P<name>--[a-z-]+)(?P<equals>=?)")
_POSITIVE: Final = Number(gte=1)

_Policies = Annotated[
    tuple[str, ...],
    SEVERAL,
    Parameter(
        name="--policy",
        metavar="NAME...",
        help=f"Names of policies: {', '.join(policy_names())}; or module:Class of your own.",
    ),
]
_Parameters = Annotated[tuple[str, ...], SEVERAL, NO_DEFAULT, Parameter(name="--param", metavar="KEY=VALUE...")]
_Preset = Annotated[str | None, Parameter(name="--preset", metavar="NAME")]
_File = Annotated[Path | None, Parameter(name="--config", metavar="FILE")]
_Path = Annotated[Path | None, Parameter(metavar="FILE")]
_Limit = Annotated[int, Parameter(validator=Number(gte=1, lte=10_000), metavar="N")]
_Turns = Annotated[int | None, Parameter(validator=_POSITIVE, metavar="N")]
_Seed = Annotated[str, Parameter(metavar="SEED")]
_Flag = Annotated[bool, NO_DEFAULT, Parameter(negative=())]
_Trusted = Annotated[str | None, Parameter(name="--policy", metavar="MODULE:CLASS")]
_Variable = Annotated[str | None, Parameter(metavar="NAME")]
_Url = Annotated[str | None, Parameter(name="--base-url", metavar="URL")]
_Headers = Annotated[tuple[str, ...], SEVERAL, NO_DEFAULT, Parameter(name="--header", metavar="'NAME: VALUE'...")]
_PriceFiles = Annotated[tuple[Path, ...], SEVERAL, NO_DEFAULT, Parameter(name="--prices", metavar="FILE...")]
_Count = Annotated[int, Parameter(validator=_POSITIVE, metavar="N")]
_JsonFlag = Annotated[bool, NO_DEFAULT, Parameter(name="--json", negative=())]


def dispatch(arguments: Sequence[str]) -> int:
    """Run the command that the arguments name and return its exit code.

    Raises:
        UsageError: They name none, or its options are wrong.
    """
    _refuse_blanks_around_equals(arguments)
    app = make_app()
    try:
        code: object = app(
            arguments, console=help_output(), exit_on_error=False, print_error=False, result_action="return_value"
        )
    except UnusedCliTokensError as error:
        msg = f"got {' '.join(error.unused_tokens or ())!r}, expected nothing more here\n{_SEE_HELP}"
        raise UsageError(msg) from None
    except CycloptsError as error:
        msg = f"{error}\n{_SEE_HELP}"
        raise UsageError(msg) from None
    return code if isinstance(code, int) else 0


def _refuse_blanks_around_equals(arguments: Sequence[str]) -> None:
    """Refuse ``--limit = 2``, of which no command could make sense.

    Raises:
        UsageError: An equals sign stands apart from its option or its value.
    """
    for number, (option, word) in enumerate(pairwise(arguments)):
        if not (found := _OPTION.fullmatch(option)):
            continue
        if word.startswith("=") and not found["equals"]:
            value = word[1:] or " ".join(arguments[number + 2 : number + 3])
        elif found["equals"] and not word.startswith("-"):
            value = word
        else:
            continue
        name = found["name"]
        written = f"{name}={value} or {name} {value}" if value else f"{name} and its value"
        msg = f"got {option} {word} with a blank beside the =; write {written}\n{_SEE_HELP}"
        raise UsageError(msg)


def make_app() -> App:
    """Return the program."""
    app = App(name="ycbench", help=_HELP, version=_version, help_format="plaintext", suppress_keyboard_interrupt=False)
    app.command(_run, name="run")
    app.command(_demo, name="demo")
    app.command(_resume, name="resume")
    app.command(_replay, name="replay")
    app.command(_play, name="play")
    app.command(_describe, name="describe")
    further = (*PLANNING_COMMANDS, *EVALUATION_COMMANDS, *REPORTING_COMMANDS, *VALIDATING_COMMANDS, *EXPORTING_COMMANDS)
    for function, name in further:
        app.command(function, name=name)
    config = App(name="config", help="Show, check and compare configurations.", help_format="plaintext")
    for function, name in ((_show, "show"), (_validate, "validate"), (_diff, "diff"), (_list, "list")):
        config.command(function, name=name)
    app.command(config)
    return app


def _version() -> str:
    from importlib.metadata import version  # noqa: PLC0415 -- slow to import, and needed here alone

    return f"ycbench {version('ycbench-env')}"


def _run(  # noqa: PLR0913 -- one argument an option
    *,
    policy: _Policies = ("greedy",),
    preset: Presets = (),
    config: Files = (),
    seeds: Seeds = ("1",),
    param: _Parameters = (),
    settings: Settings = (),
    max_turns: _Turns = None,
    model: Annotated[str | None, Parameter(metavar="NAME")] = None,
    base_url: _Url = None,
    system_prompt: _Path = None,
    prices: _PriceFiles = (),
    header: _Headers = (),
    records: Annotated[Path | None, Parameter(metavar="DIR")] = None,
    concurrency: _Count = 1,
    live: bool = True,
    as_json: _JsonFlag = False,
    quiet: _Flag = False,
) -> int:
    """Play episodes with policies and print the results.

    Plays every combination of policy, configuration and seed. Ctrl-C keeps what is done.
    Policy llm asks a language model; its API key comes from the environment.

    Args:
        policy: Names of policies, or module:Class of your own.
        preset: Names of presets; default where nothing is named.
        config: TOML files of configurations.
        seeds: Run seeds, like 1 2 3 or 1-3.
        param: Parameters of the policies, like depth=2, or keep_turns=10 of llm.
        settings: Settings that go before all else, like world.num_employees=9.
        max_turns: Cut an episode off after so many turns.
        model: Model of policy llm, as its server knows it.
        base_url: Address of its server, with the chat-completions interface.
        system_prompt: File with a template of its system prompt.
        prices: TOML files with prices of models.
        header: HTTP headers for its server; values are recorded nowhere.
        records: Keep each run as a folder in this one, to be resumed, replayed and exported; llm always does, in runs.
        concurrency: How many recorded runs to play at once.
        live: Show recorded runs as they go; --no-live writes a line a turn.
        as_json: Print strict JSON instead of the table.
        quiet: Show no progress.
    """
    from ycbench_agents.cli.recorded.model import ModelOptions  # noqa: PLC0415 -- each command loads what it needs
    from ycbench_agents.cli.run import Recording, RunRequest, run  # noqa: PLC0415 -- as above

    request = RunRequest(policy, preset, config, seeds, param, settings, max_turns, as_json, quiet)
    options = ModelOptions(model, base_url, system_prompt, prices, header)
    return run(request, Recording(options, records, concurrency, live))


def _resume(  # noqa: PLR0913 -- one argument an option
    *folders: Path,
    policy: _Trusted = None,
    base_url: _Url = None,
    api_key_variable: _Variable = None,
    header: _Headers = (),
    concurrency: _Count = 1,
    live: bool = True,
    quiet: _Flag = False,
) -> int:
    """Go on with recorded runs that were killed or stopped; finished ones stay as they are.

    A record is data that may come from anybody: code and keys that it names are used only if you name them, too.

    Args:
        folders: Folders of runs, or folders with such in them.
        policy: Policy module:Class of your own that the record names, and whose code may run.
        base_url: Address of the model's server, where a record leaves parts of it out, or a key goes elsewhere.
        api_key_variable: Environment variable with the key, where it is another than OPENAI_API_KEY.
        header: HTTP headers for its server, of which records have the names only.
        concurrency: How many runs to play at once.
        live: Show the runs as they go; --no-live writes a line a turn.
        quiet: Show no progress.
    """
    from ycbench_agents.cli.recorded.command import resume  # noqa: PLC0415 -- as above
    from ycbench_agents.cli.recorded.model import Trusted  # noqa: PLC0415 -- as above
    from ycbench_agents.cli.recorded.playing import Watching  # noqa: PLC0415 -- as above

    trusted = Trusted(policy, base_url, api_key_variable, header)
    return resume(folders, trusted, Watching(concurrency, live=live, quiet=quiet))


def _replay(*folders: Path, policy: _Trusted = None) -> int:
    """Play recorded runs again, asking nobody, and check that everything turns out as recorded.

    The exit code is 1 where something differs.

    Args:
        folders: Folders of runs, or folders with such in them.
        policy: Policy module:Class of your own that the record names, and whose code may run.
    """
    from ycbench_agents.cli.recorded.command import replay  # noqa: PLC0415 -- as above
    from ycbench_agents.cli.recorded.model import Trusted  # noqa: PLC0415 -- as above

    return replay(folders, Trusted(policy))


def _demo(*, out: Path = Path("out"), quiet: _Flag = False) -> int:
    """Play the policies random and greedy, and draw their funds over the year.

    Each plays the presets default and reference with seeds 1 to 3; the results are printed and written, too.

    Args:
        out: Folder for funds.png and results.json.
        quiet: Show no progress.
    """
    from ycbench_agents.cli.run import demo  # noqa: PLC0415 -- as above

    return demo(out, quiet=quiet)


def _play(  # noqa: PLR0913 -- one argument an option
    *,
    preset: _Preset = None,
    config: _File = None,
    settings: Settings = (),
    seed: _Seed = "1",
    scratchpad: bool = True,
    history: _Path = None,
    replay: _Path = None,
) -> int:
    """Play by hand, seeing what an agent would see.

    Each line is a turn. Reads turns from a pipe, too. :help lists what the prompt itself understands.

    Args:
        preset: Name of a preset; default where nothing is named.
        config: TOML file of a configuration.
        settings: Settings that go before all else, like world.num_employees=9.
        seed: Run seed.
        scratchpad: Give notes that the scratchpad commands write and every answer shows.
        history: File that keeps what was typed; by default one among the user's own.
        replay: File that :save wrote, to be played first.
    """
    from ycbench_agents.cli.play import play  # noqa: PLC0415 -- as above
    from ycbench_agents.cli.source import load_one  # noqa: PLC0415 -- as above
    from ycbench_agents.cli.values import read_seed  # noqa: PLC0415 -- as above

    world = load_one(preset, config, settings)
    return play(world, read_seed(seed), scratchpad=scratchpad, history=history, replay=replay)


def _describe(  # noqa: PLR0913 -- one argument an option
    *,
    preset: _Preset = None,
    config: _File = None,
    settings: Settings = (),
    seed: _Seed = "1",
    limit: _Limit = 10,
    reveal: _Flag = False,
) -> int:
    """Show a world at its start: staff, clients and market.

    Args:
        preset: Name of a preset; default where nothing is named.
        config: TOML file of a configuration.
        settings: Settings that go before all else, like world.num_employees=9.
        seed: Run seed.
        limit: How many tasks of the market to list, the best-paid first.
        reveal: Show what no agent may see, too.
    """
    from ycbench_agents.cli.describe import describe  # noqa: PLC0415 -- as above
    from ycbench_agents.cli.source import load_one  # noqa: PLC0415 -- as above
    from ycbench_agents.cli.values import read_seed  # noqa: PLC0415 -- as above

    return describe(load_one(preset, config, settings), read_seed(seed), limit=limit, hidden=reveal)


def _show(source: str = "default", /, *, settings: Settings = (), origin: _Flag = False) -> int:
    """Print a resolved configuration: every setting, as a TOML file.

    Args:
        source: Name of a preset, or path of a TOML file.
        settings: Settings that go before all else, like world.num_employees=9.
        origin: Say behind each setting where it comes from.
    """
    from ycbench_agents.cli.settings import show  # noqa: PLC0415 -- as above

    return show(source, settings, with_origin=origin)


def _validate(*files: str) -> int:
    """Check configuration files and name every problem in them.

    Environment variables do not count here. The exit code is 2 where a file cannot be used.

    Args:
        files: TOML files.
    """
    from ycbench_agents.cli.settings import validate  # noqa: PLC0415 -- as above

    if not files:
        msg = "config validate: got no file, expected at least one, like ycbench config validate my.toml"
        raise UsageError(msg)
    return validate(files)


def _diff(left: str, right: str, /, *, settings: Settings = (), as_json: _JsonFlag = False) -> int:
    """Print the settings in which two configurations differ.

    Args:
        left: Name of a preset, or path of a TOML file.
        right: Another one.
        settings: Settings that go before all else in both, like world.num_employees=9.
        as_json: Print strict JSON instead of the table.
    """
    from ycbench_agents.cli.settings import diff  # noqa: PLC0415 -- as above

    return diff(left, right, settings, as_json=as_json)


def _list() -> int:
    """Print the names of the presets."""
    from ycbench_agents.cli.settings import list_presets  # noqa: PLC0415 -- as above

    return list_presets()
