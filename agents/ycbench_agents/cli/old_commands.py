"""The options of ``ycbench run``, ``resume``, ``replay`` and ``demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ycbench_agents.cli.options import (
    NO_DEFAULT,
    SEVERAL,
    Count,
    Files,
    Headers,
    JsonFlag,
    Parameters,
    Presets,
    Quiet,
    Seeds,
    Settings,
)
from ycbench_agents.cli.options import TrustedPolicy as _Trusted
from ycbench_agents.registry import policy_names

__all__ = ["demo", "replay", "resume", "run"]

_Policies = Annotated[
    tuple[str, ...],
    SEVERAL,
    Parameter(
        name="--policy",
        metavar="NAME...",
        help=f"Names of policies: {', '.join(policy_names())}; or module:Class of your own.",
    ),
]
_Path = Annotated[Path | None, Parameter(metavar="FILE")]
_Turns = Annotated[Count | None, NO_DEFAULT]
_Variable = Annotated[str | None, Parameter(metavar="NAME")]
_Url = Annotated[str | None, Parameter(name="--base-url", metavar="URL")]
_PriceFiles = Annotated[tuple[Path, ...], SEVERAL, NO_DEFAULT, Parameter(name="--prices", metavar="FILE...")]


def run(  # noqa: PLR0913 -- one argument an option
    *,
    policy: _Policies = ("greedy",),
    preset: Presets = (),
    config: Files = (),
    seeds: Seeds = ("1",),
    param: Parameters = (),
    settings: Settings = (),
    max_turns: _Turns = None,
    model: Annotated[str | None, Parameter(metavar="NAME")] = None,
    base_url: _Url = None,
    system_prompt: _Path = None,
    prices: _PriceFiles = (),
    header: Headers = (),
    records: Annotated[Path | None, Parameter(metavar="DIR")] = None,
    concurrency: Count = 1,
    live: bool = True,
    as_json: JsonFlag = False,
    quiet: Quiet = False,
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
    from ycbench_agents.cli.run import Recording, RunRequest  # noqa: PLC0415 -- as above
    from ycbench_agents.cli.run import run as play_runs  # noqa: PLC0415 -- as above

    request = RunRequest(policy, preset, config, seeds, param, settings, max_turns, as_json, quiet)
    options = ModelOptions(model, base_url, system_prompt, prices, header)
    return play_runs(request, Recording(options, records, concurrency, live))


def resume(  # noqa: PLR0913 -- one argument an option
    *folders: Path,
    policy: _Trusted = None,
    base_url: _Url = None,
    api_key_variable: _Variable = None,
    header: Headers = (),
    concurrency: Count = 1,
    live: bool = True,
    quiet: Quiet = False,
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
    from ycbench_agents.cli.recorded.command import resume as resume_runs  # noqa: PLC0415 -- as above
    from ycbench_agents.cli.recorded.model import Trusted  # noqa: PLC0415 -- as above
    from ycbench_agents.cli.recorded.playing import Watching  # noqa: PLC0415 -- as above

    trusted = Trusted(policy, base_url, api_key_variable, header)
    return resume_runs(folders, trusted, Watching(concurrency, live=live, quiet=quiet))


def replay(*folders: Path, policy: _Trusted = None) -> int:
    """Play recorded runs again, asking nobody, and check that everything turns out as recorded.

    The exit code is 1 where something differs.

    Args:
        folders: Folders of runs, or folders with such in them.
        policy: Policy module:Class of your own that the record names, and whose code may run.
    """
    from ycbench_agents.cli.recorded.command import replay as replay_runs  # noqa: PLC0415 -- as above
    from ycbench_agents.cli.recorded.model import Trusted  # noqa: PLC0415 -- as above

    return replay_runs(folders, Trusted(policy))


def demo(*, out: Path = Path("out"), quiet: Quiet = False) -> int:
    """Play the policies random and greedy, and draw their funds over the year.

    Each plays the presets default and reference with seeds 1 to 3; the results are printed and written, too.

    Args:
        out: Folder for funds.png and results.json.
        quiet: Show no progress.
    """
    from ycbench_agents.cli.run import demo as run_demo  # noqa: PLC0415 -- as above

    return run_demo(out, quiet=quiet)
