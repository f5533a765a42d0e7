"""The report of an evaluation as one HTML page, Markdown and figures: a pure function of its data (docs/report.md).

Whatever an evaluation holds (names, reasons, descriptions) is text: each of the two templates escapes every value.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

import attrs
import pandas as pd

from ycbench_agents.evaluation import tables
from ycbench_agents.evaluation.figures import FIGURES
from ycbench_agents.evaluation.metrics import metrics_table
from ycbench_agents.evaluation.published import published as published_results
from ycbench_agents.evaluation.results import Evaluation, loophole_notes, read_evaluation, usage_of
from ycbench_agents.evaluation.statistics import ALPHA, BCA_NEEDS, EXACT_LIMIT
from ycbench_agents.evaluation.suite import Suite
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
    png: bytes | None  # if asked for

    @property
    def base64(self) -> str:
        return base64.b64encode(self.svg).decode("ascii")


_Block: TypeAlias = str | Table | _Drawing


@attrs.frozen
class _Section:
    """A section of the report; ``reading`` and the notes of its columns explain it."""

    key: str
    title: str
    blocks: Sequence[_Block]
    reading: Sequence[str] = ()

    @property
    def terms(self) -> list[Column]:
        """Columns of its tables that have an explanation, each once."""
        columns = [column for block in self.blocks if isinstance(block, Table) for column in block.columns]
        return list({column.title: column for column in columns if column.note}.values())


@attrs.frozen
class _Preset:
    """A preset of the suite."""

    name: str
    slug: str  # begins the names of its figures
    board: pd.DataFrame  # its leaderboard
    frame: pd.DataFrame  # its episodes, the policies in the order of the leaderboard


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
    frame = evaluation.frame()
    presets = list(_presets(frame, tables.leaderboard_frame(frame, usual)))
    drawings = [drawing for preset in presets for drawing in _drawings(evaluation, preset, png=png)]
    nothing = "No episode is finished, so there is nothing to draw."

    def of_each(make: Callable[[_Preset], Iterable[_Block]]) -> list[_Block]:
        return [block for preset in presets for block in make(preset)]

    against = _Section(
        "comparison", f"Against {usual}", of_each(partial(_against, baseline=usual)), _COMPARISON_READING
    )
    sections = [
        _Section("origin", "What was evaluated", list(_origin(evaluation, frame)), list(_digests(evaluation.suite))),
        _Section("leaderboard", "Leaderboard", of_each(_leaderboard), _LEADERBOARD_READING),
        *([against] if baseline is not None or len(labels) > 1 else []),
        _Section("figures", "Figures", drawings or [nothing]),
        _Section("conduct", "Tasks, behaviour and cost", of_each(partial(_metrics, evaluation)), _METRICS_READING),
        _Section("reliability", "Reliability", of_each(_reliability), [_RELIABILITY_READING]),
        _Section("times", "Times, retries and faults", list(_times(evaluation, presets)), [_TIMES_READING]),
        _Section("episodes", "Failed and missing episodes", [_unfinished(evaluation, frame)]),
        *([_published()] if published else []),
    ]
    title = f"YC-Bench evaluation: {evaluation.suite.name}"
    return {
        "report.html": _rendered("report.html", title, sections).encode(),
        "report.md": (re.sub(r"\n{3,}", "\n\n", _rendered("report.md", title, sections)).strip() + "\n").encode(),
        **{f"figures/{drawing.name}.svg": drawing.svg for drawing in drawings},
        **{f"figures/{drawing.name}.png": drawing.png for drawing in drawings if drawing.png is not None},
    }


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


def _rendered(template: str, title: str, sections: Sequence[_Section]) -> str:
    is_html = template.endswith(".html")

    def finalize(value: object) -> object:
        if not isinstance(value, str) or isinstance(value, Markup):
            return value
        return printable(value) if is_html else _escaped(value)

    loader = PackageLoader("ycbench_agents.evaluation")
    found = Environment(autoescape=is_html, finalize=finalize, loader=loader, trim_blocks=True, lstrip_blocks=True)  # noqa: S701 -- Markdown has escapes of its own
    script = found.get_template("report.js").render()
    digest = base64.b64encode(hashlib.sha256(f"\n{script}\n".encode()).digest()).decode("ascii")
    return found.get_template(template).render(title=title, sections=sections, script_hash=f"sha256-{digest}")


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
    policies: list[Sequence[str]] = []
    for row in suite.policies:
        models = dict.fromkeys(each.model for each in evaluation.players if each.policy == row.label and each.model)
        parameters = [f"{key}={json.dumps(value)}" for key, value in sorted(row.parameters.items())]
        model = ", ".join(models) or row.model or _NONE
        policies.append((row.label, row.name, model, ", ".join(parameters) or _NONE))
    presets: list[Sequence[str]] = []
    for preset in suite.presets:
        world, limits = preset.config.world, (suite.limits.max_turns, preset.config.loop.max_turns)
        most = min((limit for limit in limits if limit is not None), default=None)
        numbers = (preset.config.sim.horizon_years, world.initial_funds_cents // 100, world.num_clients)
        shown = [f"{number:,}" for number in numbers] + [_NONE if most is None else f"{most:,}"]
        presets.append((preset.label, preset.config.digest()[:_DIGITS], *shown))
    status = frame["status"].value_counts()
    counted = ", ".join(f"{status.get(name, 0)} {name}" for name in ("finished", "failed", "missing"))
    if suite.description:
        yield suite.description
    yield f"{len(frame)} episodes planned: {counted}."
    yield _facts("Suite", _suite_facts(evaluation), "What", "Value")
    yield _facts("Policies", policies, "Policy", "Plays", "Model", "Parameters")
    yield _facts("Configurations", presets, "Preset", "Digest", "Years", "Start, $", "Clients", "Turn limit")


def _digests(suite: Suite) -> Iterator[str]:
    yield f"The suite's whole digest: {suite.digest()}."
    for preset in suite.presets:
        yield f"The whole digest of {preset.label}: {preset.config.digest()}."


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
        counts = sorted(Counter(values).items())
        if counts:
            yield name, "; ".join(f"{each} ({count} runs)" if len(counts) > 1 else each for each, count in counts)


# ---------------------------------------------------------------- results of each preset


def _presets(frame: pd.DataFrame, boards: pd.DataFrame) -> Iterator[_Preset]:
    names = frame["preset"].unique()
    for place, name in enumerate(names, 1):
        board = boards[boards["preset"] == name]
        rows = {policy: row for row, policy in enumerate(board["policy"])}
        part = frame[frame["preset"] == name].sort_values("policy", key=lambda column: column.map(rows), kind="stable")
        prefix = f"{place}-" if len(names) > 1 else ""
        yield _Preset(name, prefix + re.sub(r"[^A-Za-z0-9-]+", "-", name)[:40], board, part)


def _leaderboard(preset: _Preset) -> Iterator[_Block]:
    board = preset.board
    if cut := board["cut_off"].sum():
        yield (
            f"A turn limit ended {cut} of {board['finished'].sum()} finished episodes: their funds are those of that "
            "moment, not of the whole horizon."
        )
    tasks = preset.frame[["policy", "tasks_never_dispatched", "tasks_accepted"]].dropna()
    notes = [*loophole_notes(tasks.itertuples(index=False, name=None)), *tables.leaderboard_notes(board)]
    yield make_table(f"Leaderboard, preset {preset.name}", board, tables.LEADERBOARD, notes)
    yield make_table(f"Spread and endings, preset {preset.name}", board, tables.SPREAD)


def _against(preset: _Preset, baseline: str) -> Iterator[_Block]:
    compared = tables.comparison_frame(preset.frame, baseline)
    if compared.empty:
        known = ", ".join(preset.board["policy"])
        yield f"There is nothing to compare with {baseline}; --baseline names another policy: {known}."
    else:
        notes = tables.comparison_notes(compared)
        yield make_table(f"Against {baseline}, preset {preset.name}", compared, tables.COMPARISON, notes)


def _metrics(evaluation: Evaluation, preset: _Preset) -> Iterator[_Block]:
    lost = usage_of([each for each in evaluation.episodes if each.key.preset == preset.name], with_result=False)
    if lost is not None:
        yield (
            f"Paid for without a result, in {lost.runs} runs of episodes that failed or are not finished, and in no "
            f"table: {lost}."
        )
    for heading, columns in (("Tasks and money", tables.TASKS), ("Behaviour", tables.BEHAVIOUR), ("Cost", tables.COST)):
        means = tables.means_frame(preset.frame, [column.keys[0] for column in columns[1:]])
        if heading != "Cost" or means[["total_tokens", "cost_usd"]].notna().any(axis=None):
            yield make_table(f"{heading}, preset {preset.name}", means, columns)


def _reliability(preset: _Preset) -> Iterator[_Block]:
    done, columns = preset.frame[preset.frame["status"] == "finished"], tables.RELIABILITY
    keys = [column.keys[0] for column in columns[1:]]
    sums = done.groupby("policy", sort=False)[keys].sum(min_count=1).reset_index()
    yield make_table(f"Sums, preset {preset.name}", sums, columns)


def _drawings(evaluation: Evaluation, preset: _Preset, *, png: bool) -> Iterator[_Drawing]:
    """Yield the figures of a preset for which there are data."""
    done = _with_lines(evaluation, preset.frame[preset.frame["status"] == "finished"])
    episodes = {attrs.astuple(each.key): each for each in evaluation.episodes}
    keys = done[["policy", "preset", "seed", "repeat"]].itertuples(index=False, name=None)
    runs = {each.key: found for each in map(episodes.__getitem__, keys) if (found := each.metrics) is not None}
    frames = {"episodes": done, **{name: metrics_table(runs, name) for name in ("months", "clients", "calls")}}
    for plan in FIGURES:
        frame = frames[plan.source]
        if frame.empty or (plan.needs and not (frame[plan.needs].fillna(0) > 0).any()):
            continue
        if plan.name == "funds-by-seed" and len(set(frame["seed"])) == 1:
            continue
        figure = plan.draw(frame)
        svg = svg_of(figure)  # before the PNG, which lays the figure out anew
        title = f"{plan.title}, preset {preset.name}"
        yield _Drawing(f"{preset.slug}-{plan.name}", title, plan.note, svg, png_of(figure) if png else None)


def _with_lines(evaluation: Evaluation, done: pd.DataFrame) -> pd.DataFrame:
    """Return episodes with ``keep_turns`` and ``line``, the names of policies that differ in keep_turns alone."""
    models = dict(zip(done["policy"], done["model"], strict=True))
    groups: dict[str, dict[str, int]] = {}
    for row in evaluation.suite.policies:
        kept = row.parameters.get("keep_turns")
        if isinstance(kept, int) and row.label in models:
            others = {key: row.parameters[key] for key in sorted(row.parameters) if key != "keep_turns"}
            same = repr((attrs.evolve(row, label="any", parameters=others), models[row.label]))
            groups.setdefault(same, {})[row.label] = kept
    rows = [
        (policy, ", ".join(group), kept)
        for group in groups.values()
        if len(group) > 1
        for policy, kept in group.items()
    ]
    lines = pd.DataFrame(rows, columns=["policy", "line", "keep_turns"]).astype({"keep_turns": "Int64"})
    return done.merge(lines, on="policy", how="left")


# ---------------------------------------------------------------- times, failures, published results


def _times(evaluation: Evaluation, presets: Sequence[_Preset]) -> Iterator[_Block]:
    runs = [each.run for each in evaluation.episodes if each.run is not None and each.status == "finished"]
    if not runs:
        yield "No episode is finished."
        return
    first = min(run.origin.started for run in runs)
    last = max(run.outcome.ended or run.origin.started for run in runs)
    yield f"The first finished run began at {first[:_TO_SECONDS]}, the last one ended at {last[:_TO_SECONDS]} (UTC)."
    for preset in presets:
        means = tables.means_frame(preset.frame, ["wall_s", "latency_s", "retries", "faults"])
        yield make_table(f"Times, preset {preset.name}", means, tables.TIMES)


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


def _published() -> _Section:
    found = published_results()
    frame = pd.DataFrame([attrs.asdict(model) for model in found.models])
    frame = frame.rename(columns={"scratchpad_writes_per_100_turns": "writes_per_100_turns"})
    december = [100 * model.funds_usd[-1] for model in found.models]
    frame = frame.assign(december=december, figure7=100 * frame["figure7_usd"])
    table = make_table("Published models", frame, tables.PUBLISHED)
    return _Section("published", "Published results", [table], [*found.sources, *found.caveats])


_LEADERBOARD_READING: Final = (
    "The place is not a result, the tier is: policies of a tier are not shown to differ from the first of it.",
    "Tiers compare policies on the same seeds, with Holm's correction over all pairs.",
    "A failed episode counts 0 and as not survived, so that a policy gains nothing by failing on poor seeds.",
    "A score is a mean, so one rich seed can carry it. As many seeds are below the median as above it.",
    f"Below {BCA_NEEDS} seeds an interval is Student's, which is symmetric: it can reach below $0, as no score can.",
    "An interval of width 0 means that these seeds show no spread, not that there is none.",
)
_COMPARISON_READING: Final = (
    "A lift is the mean of the differences to the baseline on the same seeds, so the luck of the market drops out.",
    f"p is the sign-flip test's, exact up to {EXACT_LIMIT} seeds without a tie; of n seeds it is at least 2 / 2^n.",
    "The test assumes that without a difference between the policies the lift of a seed is symmetric about 0.",
    "Where interval and p disagree, trust the p: Student's interval assumes a normal distribution.",
    f"A Holm p of at most {ALPHA:g} is significant among all policies of the table.",
)
_METRICS_READING: Final = (
    "Means over seeds of finished episodes. A seed on which a figure is not defined does not enter its mean.",
    "A win rate can be raised by leaving late tasks unfinished: read it beside Overdue.",
    "A market can be re-rolled by accepting tasks that are never worked on: see Never dispatched.",
)
_RELIABILITY_READING: Final = "Over all finished episodes; not in the score."
_TIMES_READING: Final = "Nothing else in this report differs between two evaluations that are equal otherwise."
