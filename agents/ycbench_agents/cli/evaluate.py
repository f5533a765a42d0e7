"""``ycbench evaluate``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ycbench_agents.cli import options, output
from ycbench_agents.cli.run import import_from_here, played, print_evaluation, report_failures
from ycbench_agents.evaluation.evaluate import play_suite
from ycbench_agents.evaluation.results import results_document
from ycbench_agents.evaluation.suite import load_suite
from ycbench_agents.evaluation.workers import BackendName
from ycbench_env import Config


def evaluate(  # noqa: PLR0913 -- one argument an option
    suite: Annotated[str, Parameter(help="TOML file of a suite, or the name of one in configs.")],
    /,
    *,
    out: Annotated[
        Path | None,
        Parameter(metavar="DIR", help="Folder of the evaluation; out/ and the suite's name if none is given."),
    ] = None,
    policy: Annotated[
        tuple[str, ...],
        options.SEVERAL,
        options.NO_DEFAULT,
        Parameter("--policy", metavar="NAME...", help="Labels of the policies to play now; all if none is given."),
    ] = (),
    settings: options.Settings = (),
    workers: options.Workers = None,
    concurrency: Annotated[
        options.Count | None,
        options.NO_DEFAULT,
        Parameter(help="Episodes of language models to play at once; the suite's number if none is given."),
    ] = None,
    backend: Annotated[
        BackendName, Parameter(help="Where to play: processes of this machine, or a cluster of Ray or Dask.")
    ] = "processes",
    address: Annotated[
        str | None, Parameter(metavar="ADDRESS", help="Address of the cluster; a new one here if none is known.")
    ] = None,
    model: options.Model = None,
    base_url: options.BaseUrl = None,
    header: options.Headers = (),
    live: options.Live = True,
    as_json: options.JsonFlag = False,
    quiet: options.Quiet = False,
) -> int:
    """Play what is missing of a suite, print its results and return the exit code."""
    import_from_here()
    tables = options.read_overrides(settings)
    sources: list[str | Path] = []

    def load_preset(source: str | Path) -> Config:
        sources.append(source)
        return options.load(source, tables)

    loaded = load_suite(options.named_file(suite, Path("configs"), "evaluate", "a suite"), load_preset)
    overrides = options.overrides_in_force(sources, settings, [loaded.presets[0].config])
    folder = out or Path("out") / loaded.name
    play = partial(
        play_suite,
        loaded,
        folder,
        policies=policy,
        workers=workers,
        concurrency=concurrency,
        backend=backend,
        address=address,
        model=model,
        base_url=base_url,
        headers=options.read_headers(header),
        overrides=overrides,
    )
    evaluation, interrupted = played(play, folder, live=live, quiet=quiet)
    if as_json:
        output.print_json(results_document(evaluation))
    else:
        options.print_overrides(overrides)
        print_evaluation(evaluation)
    asked = [each for each in evaluation.episodes if not policy or each.key.policy in policy]
    return report_failures(asked, is_interrupted=interrupted)
