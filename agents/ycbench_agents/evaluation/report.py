"""The report of an evaluation as one HTML page, Markdown and figures: a pure function of its data (docs/report.md).

Whatever an evaluation holds (names, reasons, descriptions) is text: each of the two templates escapes every value.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

import attrs
import pandas as pd
from matplotlib.figure import Figure

from ycbench_agents.evaluation import tables
from ycbench_agents.evaluation.figures import FIGURES, FigurePlan
from ycbench_agents.evaluation.metrics import metrics_table
from ycbench_agents.evaluation.published import Published
from ycbench_agents.evaluation.published import published as published_results
from ycbench_agents.evaluation.results import Evaluation, loophole_notes, read_evaluation, usage_of
from ycbench_agents.evaluation.tables import DEFAULT_BASELINE, Column, Table, make_table
from ycbench_agents.figure import png_of, svg_of
from ycbench_agents.files import FileError, write_record
from ycbench_env.errors import needs_extra
from ycbench_env.text import printable

with needs_extra("evaluation", "reports need jinja2"):
    from jinja2 import Environment, PackageLoader
    from markupsafe import Markup

_SPECIAL: Final = re.compile(r"[\\`*\[\]|~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_LEADING: Final = re.compile(r"\A([#+=>-]|\d+(?=[.)](?:\s|\Z)))")
_NONE: Final = "\u2013"
_TO_SECONDS: Final = len("2025-01-01T09:00:00")
_DIGITS: Final = 12  # of a digest in a table


class ReportError(ValueError):
    """A report cannot be made as asked for; the message names what was got and expected."""


@attrs.frozen
class _Drawing:
    """A figure."""

    name: str  # of its file
    title: str
    note: str  # how to read it
    svg: bytes


_Block: TypeAlias = str | Table | _Drawing  # a string is a paragraph


def render_report(
    evaluation: Evaluation, *, baseline: str | None = None, published: bool = False, png: bool = False
) -> dict[str, bytes]:
    """Return the files of a report: ``report.html``, which holds everything, ``report.md`` and ``figures/NAME.svg``.

    Equal evaluations give equal bytes with the same versions of pandas, scipy, matplotlib and jinja2.

    Args:
        evaluation: The evaluation, finished or not.
        baseline: Label of the policy to compare with; greedy by default.
        published: Whether to show published results of language models as well.
        png: Whether to return each figure as PNG, too.

    Raises:
        ReportError: The suite has no such baseline.
    """
    labels = [policy.label for policy in evaluation.suite.policies]
    if baseline is not None and baseline not in labels:
        msg = f"--baseline: got {printable(baseline)}, expected a policy of the suite: {printable(', '.join(labels))}"
        raise ReportError(msg)
    usual = baseline or DEFAULT_BASELINE
    frame, files = evaluation.frame(), dict[str, bytes]()
    boards = tables.leaderboard_frame(frame, usual)
    sections = defaultdict[str, list[_Block]](list)  # texts.jinja orders and explains them
    sections["origin"] += _origin(evaluation, frame)
    sections["times"] += _time_span(evaluation)
    sections["episodes"].append(_unfinished(evaluation, frame))
    names = frame["preset"].unique()
    for place, name in enumerate(names, 1):
        board = boards[boards["preset"] == name]
        rows = {policy: row for row, policy in enumerate(board["policy"])}
        part = frame[frame["preset"] == name].sort_values("policy", key=lambda column: column.map(rows), kind="stable")
        done = part[part["status"] == "finished"]
        sections["leaderboard"] += _leaderboard(name, part, board)
        if baseline is not None or len(labels) > 1:
            sections["comparison"].append(_comparison(name, part, usual))
        sections["conduct"] += _conduct(evaluation, name, part)
        keys = [column.keys[0] for column in tables.RELIABILITY[1:]]
        sums = done.groupby("policy", sort=False)[keys].sum(min_count=1).reset_index()
        sections["reliability"].append(make_table(f"Sums, preset {name}", sums, tables.RELIABILITY))
        means = tables.means_frame(part, ["wall_s", "latency_s", "retries", "faults"])
        sections["times"].append(make_table(f"Times, preset {name}", means, tables.TIMES))
        slug = (f"{place}-" if len(names) > 1 else "") + re.sub(r"[^A-Za-z0-9-]+", "-", name)[:40]
        for plan, figure in _figures(evaluation, done):
            file = f"{slug}-{plan.name}"
            files[f"figures/{file}.svg"] = svg = svg_of(figure)  # before the PNG, which lays the figure out anew
            if png:
                files[f"figures/{file}.png"] = png_of(figure)
            sections["figures"].append(_Drawing(file, f"{plan.title}, preset {name}", plan.note, svg))
    if not files:
        sections["figures"].append("No episode is finished, so there is nothing to draw.")
    results, suite = published_results(), evaluation.suite
    if published:
        sections["published"].append(_published(results))
    digests = [f"The whole digest of {preset.label}: {preset.config.digest()}." for preset in suite.presets]
    values = {
        "title": f"YC-Bench evaluation: {suite.name}",
        "sections": dict(sections),
        "baseline": usual,
        "digests": [f"The suite's whole digest: {suite.digest()}.", *digests],
        "published": results,
    }
    markdown = re.sub(r"\n{3,}", "\n\n", _rendered("report.md", values)).strip() + "\n"
    return {"report.html": _rendered("report.html", values).encode(), "report.md": markdown.encode(), **files}


def write_report(
    folder: Path | str,
    out: Path | str | None = None,
    *,
    baseline: str | None = None,
    published: bool = False,
    png: bool = False,
) -> tuple[Path, ...]:
    """Write the report of the evaluation in a folder, there or into ``out``, and return its files, report.html first.

    Options are those of ``render_report``.

    Raises:
        FileError: A file cannot be written.
        ReportError: The suite has no such baseline.
        RunError: There is no evaluation, or a file of it is damaged.
    """
    target = Path(folder if out is None else out)
    if (target / "figures").is_symlink():  # of a folder that may come from anybody
        msg = f"{target / 'figures'}: is a symbolic link; remove it, or choose another folder with --out"
        raise FileError(msg)
    files = render_report(read_evaluation(folder), baseline=baseline, published=published, png=png)
    for name, content in files.items():
        write_record(target / name, content)
    return tuple(target / name for name in files)


def _rendered(template: str, values: Mapping[str, object]) -> str:
    is_html = template.endswith(".html")

    def finalize(value: object) -> object:
        if not isinstance(value, str) or isinstance(value, Markup):
            return value
        return printable(value) if is_html else _escaped(value)

    loader = PackageLoader("ycbench_agents.evaluation")
    found = Environment(autoescape=is_html, finalize=finalize, loader=loader, trim_blocks=True, lstrip_blocks=True)  # noqa: S701 -- Markdown has escapes of its own
    script = found.get_template("report.js").render()
    digest = _base64(hashlib.sha256(f"\n{script}\n".encode()).digest())
    return found.get_template(template).render(values, script_hash=f"sha256-{digest}", base64=_base64, terms_of=_terms)


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _terms(blocks: Iterable[_Block]) -> dict[str, str]:
    """Return the notes of the columns of tables, by title."""
    columns = [column for block in blocks if isinstance(block, Table) for column in block.columns]
    return {column.title: column.note for column in columns if column.note}


def _escaped(text: str) -> str:
    """Return a text that Markdown shows as it is, on one line."""
    entities = printable(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    special = _SPECIAL.sub(r"\\\g<0>", entities)
    return _LEADING.sub(lambda found: f"{found[0]}\\" if found[0].isdigit() else f"\\{found[0]}", special)


# ---------------------------------------------------------------- what was evaluated


def _facts(title: str, rows: Iterable[Sequence[str]], *headings: str) -> Table:
    """Return a table of texts."""
    frame = pd.DataFrame([*rows]).rename(columns=str)
    return make_table(title, frame, [Column(heading, str(place)) for place, heading in enumerate(headings)])


def _origin(evaluation: Evaluation, frame: pd.DataFrame) -> Iterator[_Block]:
    suite = evaluation.suite
    if suite.description:
        yield suite.description
    status = frame["status"].value_counts()
    counted = ", ".join(f"{status.get(name, 0)} {name}" for name in ("finished", "failed", "missing"))
    yield f"{len(frame)} episodes planned: {counted}."
    yield _facts("Suite", _suite_facts(evaluation), "What", "Value")
    policies: list[Sequence[str]] = []
    for row in suite.policies:
        models = dict.fromkeys(each.model for each in evaluation.players if each.policy == row.label and each.model)
        parameters = [f"{key}={json.dumps(value)}" for key, value in sorted(row.parameters.items())]
        model = ", ".join(models) or row.model or _NONE
        policies.append((row.label, row.name, model, ", ".join(parameters) or _NONE))
    yield _facts("Policies", policies, "Policy", "Plays", "Model", "Parameters")
    presets: list[Sequence[str]] = []
    for preset in suite.presets:
        world, limits = preset.config.world, (suite.limits.max_turns, preset.config.loop.max_turns)
        most = min((limit for limit in limits if limit is not None), default=None)
        numbers = (preset.config.sim.horizon_years, world.initial_funds_cents // 100, world.num_clients)
        shown = [f"{number:,}" for number in numbers] + [_NONE if most is None else f"{most:,}"]
        presets.append((preset.label, preset.config.digest()[:_DIGITS], *shown))
    yield _facts("Configurations", presets, "Preset", "Digest", "Years", "Start, $", "Clients", "Turn limit")


def _suite_facts(evaluation: Evaluation) -> Iterator[tuple[str, str]]:
    suite = evaluation.suite
    yield "Seeds", f"{', '.join(suite.seeds)} ({len(suite.seeds)} in all)"
    if suite.is_held_out:
        yield "Held out", "the seeds are named h1, h2, ...; their numbers are private"
    yield "Repeats", str(suite.repeats)
    yield "ycbench-env", evaluation.version
    yield "Digest", suite.digest()[:_DIGITS]
    if evaluation.overrides:
        yield "Settings in force", "; ".join(json.dumps(each, sort_keys=True) for each in evaluation.overrides)
    origins = [each.run.origin for each in evaluation.episodes if each.run is not None and each.status == "finished"]
    for name, values in (
        ("Git commit", [f"{o.git.commit}{', files changed' * o.git.dirty}" if o.git else "none" for o in origins]),
        ("Python", [o.python for o in origins]),
        ("Packages", [", ".join(f"{k} {v or 'unknown'}" for k, v in sorted(o.packages.items())) for o in origins]),
    ):
        if values:
            yield name, "; ".join(sorted(set(values)))


def _time_span(evaluation: Evaluation) -> Iterator[_Block]:
    runs = [each.run for each in evaluation.episodes if each.run is not None and each.status == "finished"]
    if not runs:
        yield "No episode is finished."
        return
    first = min(run.origin.started for run in runs)
    last = max(run.outcome.ended or run.origin.started for run in runs)
    yield f"The first finished run began at {first[:_TO_SECONDS]}, the last one ended at {last[:_TO_SECONDS]} (UTC)."


def _unfinished(evaluation: Evaluation, frame: pd.DataFrame) -> _Block:
    """Return the episodes that failed or are missing, with the reasons; of a held-out suite the error's class alone."""
    rows: list[tuple[str, str, str]] = []
    for episode, status, why in zip(evaluation.episodes, frame["status"], frame["reason"], strict=True):
        reason = "not known" if pd.isna(why) else str(why)
        if status == "missing":
            reason = "not begun" if episode.run is None else episode.run.outcome.reason or episode.run.outcome.status
        if status != "finished":
            rows.append((str(episode.key), status, reason.split(":")[0] if evaluation.suite.is_held_out else reason))
    return _facts("Episodes", rows, "Episode", "Status", "Reason") if rows else "Every planned episode is finished."


def _published(results: Published) -> Table:
    frame = pd.DataFrame([attrs.asdict(model) for model in results.models])
    frame = frame.rename(columns={"scratchpad_writes_per_100_turns": "writes_per_100_turns"})
    december = [100 * model.funds_usd[-1] for model in results.models]
    frame = frame.assign(december=december, figure7=100 * frame["figure7_usd"])
    return make_table("Published models", frame, tables.PUBLISHED)


# ---------------------------------------------------------------- results of a preset


def _leaderboard(preset: str, episodes: pd.DataFrame, board: pd.DataFrame) -> Iterator[_Block]:
    if cut := board["cut_off"].sum():
        yield (
            f"A turn limit ended {cut} of {board['finished'].sum()} finished episodes: their funds are those of that "
            "moment, not of the whole horizon."
        )
    tasks = episodes[["policy", "tasks_never_dispatched", "tasks_accepted"]].dropna()
    notes = [*loophole_notes(tasks.itertuples(index=False, name=None)), *tables.leaderboard_notes(board)]
    yield make_table(f"Leaderboard, preset {preset}", board, tables.LEADERBOARD, notes)
    yield make_table(f"Spread and endings, preset {preset}", board, tables.SPREAD)


def _comparison(preset: str, episodes: pd.DataFrame, baseline: str) -> _Block:
    compared = tables.comparison_frame(episodes, baseline)
    if compared.empty:
        known = ", ".join(episodes["policy"].unique())
        return f"There is nothing to compare with {baseline}; --baseline names another policy: {known}."
    notes = tables.comparison_notes(compared)
    return make_table(f"Against {baseline}, preset {preset}", compared, tables.COMPARISON, notes)


def _conduct(evaluation: Evaluation, preset: str, episodes: pd.DataFrame) -> Iterator[_Block]:
    lost = usage_of([each for each in evaluation.episodes if each.key.preset == preset], with_result=False)
    if lost is not None:
        yield (
            f"Paid for without a result, in {lost.runs} runs of episodes that failed or are not finished, and in no "
            f"table: {lost}."
        )
    for heading, columns in (("Tasks and money", tables.TASKS), ("Behaviour", tables.BEHAVIOUR), ("Cost", tables.COST)):
        means = tables.means_frame(episodes, [column.keys[0] for column in columns[1:]])
        if heading != "Cost" or means[["total_tokens", "cost_usd"]].notna().any(axis=None):
            yield make_table(f"{heading}, preset {preset}", means, columns)


def _with_lines(evaluation: Evaluation, done: pd.DataFrame) -> pd.DataFrame:
    """Return episodes with ``keep_turns``, and ``line``: a name of the model and all its other parameters."""
    models = {policy: model for policy, model in zip(done["policy"], done["model"], strict=True) if not pd.isna(model)}
    names: dict[str, str] = {}
    rows: list[tuple[str, object, str]] = []
    for row in evaluation.suite.policies:
        if (model := models.get(row.label)) is not None:
            others = {key: value for key, value in sorted(row.parameters.items()) if key != "keep_turns"}
            shared = repr((row.name, model, row.base_url, others))
            name = f"{model} ({row.label})" if model in names.values() else model
            rows.append((row.label, row.parameters.get("keep_turns"), names.setdefault(shared, name)))
    lines = pd.DataFrame(rows, columns=["policy", "keep_turns", "line"])
    lines["keep_turns"] = pd.to_numeric(lines["keep_turns"], errors="coerce")
    return done.merge(lines, on="policy", how="left")


def _figures(evaluation: Evaluation, done: pd.DataFrame) -> Iterator[tuple[FigurePlan, Figure]]:
    """Yield the figures of the finished episodes of a preset for which there are data."""
    episodes = {attrs.astuple(each.key): each for each in evaluation.episodes}
    keys = done[["policy", "preset", "seed", "repeat"]].itertuples(index=False, name=None)
    runs = {each.key: found for each in map(episodes.__getitem__, keys) if (found := each.metrics) is not None}
    frames = {name: metrics_table(runs, name) for name in ("months", "clients", "calls")}
    frames["episodes"] = _with_lines(evaluation, done)
    for plan in FIGURES:
        frame = frames[plan.source]
        has_data = not frame.empty and (not plan.needs or (frame[plan.needs].fillna(0) > 0).any())
        if has_data and (not plan.varies or len(frame[plan.varies].dropna().unique()) > 1):
            yield plan, plan.draw(frame)
