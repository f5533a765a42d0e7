"""What was evaluated: the suite, who played, where, and what of it is not there."""

from __future__ import annotations

import json
from collections import Counter
from importlib import metadata
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.evaluation.old_results import told_reason
from ycbench_agents.evaluation.provenance import counted_commits, run_origins
from ycbench_agents.evaluation.report.cell import count_cell, text_cell
from ycbench_agents.evaluation.report.ending import turn_limit
from ycbench_agents.evaluation.report.part import Part, Table, figures, words
from ycbench_agents.evaluation.report.result import tally_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ycbench_agents.evaluation.episode import Episode
    from ycbench_agents.evaluation.old_suite import Suite, SuitePolicy
    from ycbench_agents.evaluation.player import PlayerIdentity
    from ycbench_agents.evaluation.provenance import Provenance
    from ycbench_agents.records import RunOrigin
    from ycbench_agents.records.record import GitState

__all__ = ["episode_part", "origin_part"]

_MAKERS: Final = ("jinja2", "matplotlib", "numpy", "pandas", "scipy")  # of its statistics, figures and pages
_NOTHING: Final = "\u2013"
_NO_LIMIT: Final = "neither the suite nor the configuration has a limit"
_SHORT: Final = 8  # digits of a digest, to tell files apart
_KEY_VALUE: Final = (words("What"), words("Value"))


def origin_part(
    suite: Suite,
    provenance: Provenance,
    episodes: Sequence[Episode],
    version_of: Callable[[str], str] = metadata.version,
    players: Sequence[PlayerIdentity] = (),
) -> Part:
    """Return what was evaluated, without any time.

    Args:
        suite: The suite.
        provenance: Where it was begun.
        episodes: Every planned episode.
        version_of: Returns the version of a package that is installed where the report is made.
        players: Who plays each policy under each configuration, as far as that is known.
    """
    tally = tally_of(episodes)
    became = f"{tally.run} run to their end, {tally.failed} failed, {tally.missing} missing"
    origins = run_origins(episodes)
    counted = f"{tally.planned} episodes planned: {became}."
    tables = (
        _table("Suite", _suite_facts(suite)),
        _policies(suite, players),
        Table(
            "Configurations",
            (
                words("Preset"),
                words("Digest"),
                figures("Years"),
                figures("Start, $"),
                figures("Clients"),
                figures("Turn limit", absent=_NO_LIMIT),
            ),
            tuple(
                (
                    text_cell(preset.label),
                    text_cell(preset.config.digest()),
                    count_cell(preset.config.sim.horizon_years),
                    count_cell(preset.config.world.initial_funds_cents // 100),
                    count_cell(preset.config.world.num_clients),
                    count_cell(turn_limit(suite, preset.config)),
                )
                for preset in suite.presets
            ),
        ),
        attrs.evolve(
            _table("Provenance", [*_provenance_facts(provenance, origins), ("Report made with", _makers(version_of))]),
            notes=tuple(_commit_notes(origins)),
        ),
    )
    return Part("", tuple(text for text in (suite.description, counted) if text), tables)


def _table(title: str, facts: Sequence[tuple[str, str]]) -> Table:
    return Table(
        title, _KEY_VALUE, tuple((text_cell(name), text_cell(value)) for name, value in facts), (), is_sortable=False
    )


def _suite_facts(suite: Suite) -> list[tuple[str, str]]:
    limits = suite.limits
    turns = "none" if limits.max_turns is None else f"{limits.max_turns:,}"
    hashed = suite.seed_hash
    secret = [] if hashed is None else [("Seeds are", f"held out, named by {hashed.method} with salt {hashed.salt}")]
    return [
        ("Name", suite.name),
        ("Digest", suite.digest()),
        ("Seeds", f"{', '.join(suite.seeds)} ({len(suite.seeds)} in all)"),
        *secret,
        ("Repeats", str(suite.repeats)),
        ("Turn limit of the suite", turns),
    ]


def _policies(suite: Suite, players: Sequence[PlayerIdentity]) -> Table:
    """Return who plays: two rows differ in what is told of them, as they do in the suite."""
    return Table(
        "Policies",
        (words("Policy"), words("Plays"), words("Model"), words("Parameters")),
        tuple(
            (
                text_cell(row.label),
                text_cell(row.name),
                text_cell(_model(row, players)),
                text_cell(", ".join(_settings(row)) or _NOTHING),
            )
            for row in suite.policies
        ),
    )


def _model(row: SuitePolicy, players: Sequence[PlayerIdentity]) -> str:
    """Return the models that play a row, of which the suite need not say anything."""
    models = dict.fromkeys(each.model for each in players if each.policy == row.label and each.model is not None)
    return ", ".join(models) or row.model or _NOTHING


def _settings(row: SuitePolicy) -> Iterator[str]:
    """Yield parameters, address and files of a row; a file by its name and the first digits of its SHA-256."""
    yield from (f"{key}={json.dumps(row.parameters[key])}" for key in sorted(row.parameters))
    if row.base_url is not None:
        yield f"base_url={row.base_url}"
    if row.system_prompt is not None:
        yield f"system_prompt={_file(row.system_prompt.name, row.system_prompt_sha256)}"
    for path, digest in zip_longest(row.prices, row.prices_sha256[: len(row.prices)]):
        yield f"prices={_file(path.name, digest)}"


def _file(name: str, digest: str | None) -> str:
    return name if digest is None else f"{name} ({digest[:_SHORT]})"


def _provenance_facts(provenance: Provenance, origins: Sequence[RunOrigin]) -> Iterator[tuple[str, str]]:
    """Yield where runs were begun; of an evaluation without a finished one, where it was begun itself."""
    if not origins:
        yield "Finished runs", "none; what follows is of the place where the evaluation was begun"
    told = origins or (provenance.origin,)
    overrides = "; ".join(json.dumps(each, sort_keys=True) for each in provenance.overrides)
    yield "ycbench-env", provenance.version
    yield "Measures version", str(provenance.measures_version)
    yield "Git commit", _counted(_commit(origin.git) for origin in told)
    yield "Python", _counted(origin.python for origin in told)
    yield "Packages", _packages(told)
    yield "Settings in force", overrides or "none"


def _commit(git: GitState | None) -> str:
    return "none" if git is None else f"{git.commit}{', files changed' if git.dirty else ''}"


def _packages(origins: Sequence[RunOrigin]) -> str:
    """Return the versions of the packages in use; not every run uses each."""
    names = sorted({name for origin in origins for name in origin.packages})
    found = (
        f"{name} {_counted(str(each.packages[name] or 'unknown') for each in origins if name in each.packages)}"
        for name in names
    )
    return ", ".join(found) or "unknown"


def _counted(values: Iterable[str]) -> str:
    """Return what runs tell, with how many tell it where they differ."""
    counts = Counter(values)
    if len(counts) == 1:
        return next(iter(counts))
    return "; ".join(f"{value} ({count} {'run' if count == 1 else 'runs'})" for value, count in counts.items())


def _commit_notes(origins: Sequence[RunOrigin]) -> Iterator[str]:
    states = len(counted_commits(origins))
    if states > 1:
        yield (
            f"The runs were begun at {states} states of the checkout, so that nobody can play all of them again with "
            "one: where it matters, play all in another folder."
        )


def _makers(version_of: Callable[[str], str]) -> str:
    """Return the versions of what makes statistics, figures and pages; where it was played they may differ."""
    return ", ".join(f"{name} {_version(name, version_of)}" for name in _MAKERS)


def _version(name: str, version_of: Callable[[str], str]) -> str:
    try:
        return version_of(name)
    except metadata.PackageNotFoundError:
        return "unknown"


def episode_part(episodes: Sequence[Episode], *, is_secret: bool = False) -> Part:
    """Return the episodes that failed or are missing, each by name and with the reason.

    Args:
        episodes: Every planned episode.
        is_secret: Whether the suite is held out, so that no reason is shown that may tell of a world.
    """
    failed = [episode for episode in episodes if episode.status == "failed"]
    missing = [episode for episode in episodes if episode.status == "missing"]
    if not failed and not missing:
        return Part("", ("Every planned episode was played to its end.",))
    tables: list[Table] = []
    if failed:
        rows = tuple(
            (text_cell(str(episode.key)), text_cell(told_reason(episode, is_secret=is_secret) or "not said"))
            for episode in failed
        )
        tables.append(Table("Failed", (words("Episode"), words("Reason")), rows))
    if missing:
        rows = tuple(
            (text_cell(str(episode.key)), text_cell(_missing(episode, is_secret=is_secret))) for episode in missing
        )
        tables.append(Table("Missing", (words("Episode"), words("State")), rows))
    return Part("", (f"{len(failed)} failed, {len(missing)} missing; none of them enters a mean.",), tuple(tables))


def _missing(episode: Episode, *, is_secret: bool) -> str:
    if episode.record is None:
        return "not begun, or its run.json cannot be read"
    reason = None if is_secret else episode.record.outcome.reason
    return f"{episode.record.outcome.status}{f': {reason}' if reason else ''}"
