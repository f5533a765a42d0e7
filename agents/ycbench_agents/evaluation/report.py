"""The report of an evaluation as one HTML page, Markdown and figures: a pure function of its data (docs/report.md).

Whatever an evaluation says (names, reasons, descriptions) is text: ``printable`` and the escaping of the two templates
are applied to every value, at one place.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Final

import attrs
import pandas as pd

from ycbench_agents.evaluation import figures, tables
from ycbench_agents.evaluation.metrics import metrics_table
from ycbench_agents.evaluation.published import published as published_results
from ycbench_agents.evaluation.results import Evaluation, Usage, read_evaluation, usage_of
from ycbench_agents.evaluation.statistics import ALPHA, BCA_NEEDS, EXACT_LIMIT
from ycbench_agents.evaluation.tables import DEFAULT_BASELINE, Column, Table, make_table
from ycbench_agents.figure import png_of, svg_of
from ycbench_agents.files import FileError, write_record
from ycbench_env import Config
from ycbench_env.errors import MissingExtraError
from ycbench_env.text import printable

try:
    from jinja2 import Environment, PackageLoader
    from markupsafe import Markup
except ImportError as error:
    _MISSING = f"reports need jinja2 ({error}): pip install '.[evaluation]' in the folder of this project"
    raise MissingExtraError(_MISSING) from error


_SPECIAL: Final = re.compile(r"[\\`*\[\]|~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_LEADING: Final = re.compile(r"\A([#+=>-]|\d+(?=[.)](?:\s|\Z)))")
_NONE: Final = "\u2013"
_KEEP_TURNS: Final = "keep_turns"


class ReportError(ValueError):
    """A report cannot be made as asked for; the message says what was got and what was expected."""


@attrs.frozen
class _Drawing:
    """A figure: name of its file, title, how to read it, SVG."""

    name: str
    title: str
    note: str
    svg: bytes
    png: bytes | None = None

    @property
    def base64(self) -> str:
        return base64.b64encode(self.svg).decode("ascii")


@attrs.frozen
class _Part:
    """What stands below one heading."""

    title: str = ""
    paragraphs: Sequence[str] = ()
    tables: Sequence[Table] = ()
    drawings: Sequence[_Drawing] = ()


@attrs.frozen
class _Section:
    """A section, with the explanation of its tables."""

    key: str
    title: str
    parts: Sequence[_Part]
    reading: Sequence[str] = ()

    @property
    def terms(self) -> list[Column]:
        """Columns of its tables that have an explanation, each once."""
        columns = [column for part in self.parts for table in part.tables for column in table.columns if column.note]
        return list({column.title: column for column in columns}.values())


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
    suite = evaluation.suite
    labels = [policy.label for policy in suite.policies]
    if baseline is not None and baseline not in labels:
        msg = f"--baseline: got {printable(baseline)}, expected a policy of the suite: {printable(', '.join(labels))}"
        raise ReportError(msg)
    frame = evaluation.frame()
    board = tables.leaderboard_frame(frame, baseline or DEFAULT_BASELINE)
    sections = [
        _Section("origin", "What was evaluated", [_origin(evaluation, frame)]),
        *_preset_sections(evaluation, frame, board, baseline or DEFAULT_BASELINE, png=png),
        _times(evaluation, frame),
        _Section("episodes", "Failed and missing episodes", [_unfinished(evaluation, frame)]),
    ]
    if published:
        sections.append(_published())
    title = f"YC-Bench evaluation: {suite.name}"
    drawings = [drawing for section in sections for part in section.parts for drawing in part.drawings]
    return {
        "report.html": _html(title, sections),
        "report.md": _markdown(title, sections),
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
    """Write the report of the evaluation in a folder and return the files, report.html and report.md first.

    Args:
        folder: Folder of the evaluation.
        out: Folder of the report; by default that of the evaluation.
        baseline: See ``render_report``; likewise the next two.
        published: Show published results.
        png: Write PNG files of the figures.

    Raises:
        FileError: A file cannot be written.
        ReportError: The suite has no such baseline.
        RunError: There is no evaluation, or a file of it is damaged.
    """
    files = render_report(read_evaluation(folder), baseline=baseline, published=published, png=png)
    target = Path(folder if out is None else out)
    if (target / "figures").is_symlink():  # of a folder that may come from anybody
        msg = f"{target / 'figures'}: is a symbolic link; remove it, or choose another folder with --out"
        raise FileError(msg)
    for name, content in files.items():
        write_record(target / name, content)
    return tuple(target / name for name in files)


# ---------------------------------------------------------------- formats


def _environment(*, html: bool) -> Environment:
    """Return the templates: HTML escapes every value by itself, Markdown by the filter ``md``."""

    def finalize(value: object) -> object:
        return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    found = Environment(
        autoescape=html,  # noqa: S701 -- Markdown has escapes of its own
        finalize=finalize if html else None,
        loader=PackageLoader("ycbench_agents.evaluation"),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["md"] = _escaped
    return found


def _escaped(text: str) -> str:
    """Return a text that Markdown shows as it is, on one line."""
    entities = printable(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    special = _SPECIAL.sub(lambda found: f"\\{found[0]}", entities)
    return _LEADING.sub(lambda found: f"{found[0]}\\" if found[0].isdigit() else f"\\{found[0]}", special)


def _markdown(title: str, sections: Sequence[_Section]) -> bytes:
    text = _environment(html=False).get_template("report.md").render(title=title, sections=sections)
    return (re.sub(r"\n{3,}", "\n\n", text).strip() + "\n").encode()


def _html(title: str, sections: Sequence[_Section]) -> bytes:
    folder = resources.files("ycbench_agents.evaluation").joinpath("templates")
    style, script = (folder.joinpath(f"report.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    digest = hashlib.sha256(f"\n{script}".encode()).digest()
    return (
        _environment(html=True)
        .get_template("report.html")
        .render(
            title=title,
            sections=sections,
            style=style,
            script=script,
            script_hash=Markup(f"sha256-{base64.b64encode(digest).decode('ascii')}"),  # noqa: S704 -- letters of base64
        )
        .encode()
    )


# ---------------------------------------------------------------- what was evaluated


def _facts(title: str, rows: Iterable[tuple[str, ...]], *headings: str) -> Table:
    """Return a table of texts."""
    frame = pd.DataFrame(list(rows), columns=list(headings))
    return make_table(title, frame, [Column(name, (name,), str) for name in headings])


def _origin(evaluation: Evaluation, frame: pd.DataFrame) -> _Part:
    suite = evaluation.suite
    status = frame["status"].value_counts()
    counted = ", ".join(f"{status.get(name, 0)} {name}" for name in ("finished", "failed", "missing"))
    models: dict[str, dict[str, None]] = {}
    for player in evaluation.players:
        if player.model is not None:
            models.setdefault(player.policy, {})[player.model] = None
    policies = [
        (row.label, row.name, ", ".join(models.get(row.label, {})) or row.model or _NONE, _settings(row.parameters))
        for row in suite.policies
    ]
    presets = [
        (preset.label, preset.config.digest(), *map(_number, _limits(evaluation, preset.config)))
        for preset in suite.presets
    ]
    return _Part(
        paragraphs=[text for text in (suite.description, f"{len(frame)} episodes planned: {counted}.") if text],
        tables=[
            _facts("Suite", _suite_facts(evaluation), "What", "Value"),
            _facts("Policies", policies, "Policy", "Plays", "Model", "Parameters"),
            _facts("Configurations", presets, "Preset", "Digest", "Years", "Start, $", "Clients", "Turn limit"),
        ],
    )


def _limits(evaluation: Evaluation, config: Config) -> tuple[int | None, ...]:
    turns = [most for most in (evaluation.suite.limits.max_turns, config.loop.max_turns) if most is not None]
    world = config.world
    return config.sim.horizon_years, world.initial_funds_cents // 100, world.num_clients, min(turns, default=None)


def _number(value: int | None) -> str:
    return _NONE if value is None else f"{value:,}"


def _settings(parameters: Mapping[str, object]) -> str:
    return ", ".join(f"{key}={json.dumps(value)}" for key, value in sorted(parameters.items())) or _NONE


def _suite_facts(evaluation: Evaluation) -> Iterator[tuple[str, str]]:
    suite = evaluation.suite
    origins = [each.run.origin for each in evaluation.episodes if each.run is not None and each.status == "finished"]
    yield "Digest", suite.digest()
    yield "Seeds", f"{', '.join(suite.seeds)} ({len(suite.seeds)} in all)"
    if suite.is_held_out:
        yield "Held out", "the seeds are named h1, h2, ...; their numbers are private"
    yield "Repeats", str(suite.repeats)
    yield "ycbench-env", evaluation.version
    if evaluation.overrides:
        yield "Settings in force", "; ".join(json.dumps(each, sort_keys=True) for each in evaluation.overrides)
    for origin_fact, values in (
        ("Git commit", [f"{o.git.commit}{', files changed' * o.git.dirty}" if o.git else "none" for o in origins]),
        ("Python", [origin.python for origin in origins]),
        ("Packages", [", ".join(f"{k} {v or 'unknown'}" for k, v in sorted(o.packages.items())) for o in origins]),
    ):
        counts = Counter(values)
        if len(counts) == 1:
            yield origin_fact, values[0]
        elif counts:
            yield origin_fact, "; ".join(f"{value} ({count} runs)" for value, count in sorted(counts.items()))


# ---------------------------------------------------------------- results of each preset


def _preset_sections(
    evaluation: Evaluation, frame: pd.DataFrame, board: pd.DataFrame, baseline: str, *, png: bool
) -> list[_Section]:
    """Return leaderboard, comparison, figures and metrics, each with a part a preset."""
    presets = frame["preset"].unique().tolist()
    found: dict[str, list[_Part]] = {key: [] for key in ("board", "against", "figures", "metrics", "reliability")}
    for place, preset in enumerate(presets, 1):
        title = f"Preset {preset}" if len(presets) > 1 else ""
        rows = board[board["preset"] == preset]
        order = {policy: row for row, policy in enumerate(rows["policy"])}
        part = frame[frame["preset"] == preset].sort_values(
            "policy", key=lambda column: column.map(order), kind="stable"
        )
        found["board"].append(_leaderboard(title, preset, part, rows))
        found["against"].append(_against(title, preset, part, baseline))
        drawings = list(_drawings(evaluation, part, f"{place}-" if len(presets) > 1 else "", preset, png=png))
        lacking = [] if drawings else ["No episode is finished, so there is nothing to draw."]
        found["figures"].append(_Part(title, paragraphs=lacking, drawings=drawings))
        found["metrics"].append(_metrics(title, evaluation, part))
        columns = [column.keys[0] for column in tables.RELIABILITY[1:]]
        sums = tables.totals_frame(part, columns)
        found["reliability"].append(_Part(title, tables=[make_table("Sums", sums, tables.RELIABILITY)]))
    return [
        _Section("leaderboard", "Leaderboard", found["board"], _LEADERBOARD_READING),
        _Section("comparison", f"Against {baseline}", found["against"], _COMPARISON_READING),
        _Section("figures", "Figures", found["figures"]),
        _Section("conduct", "Tasks, behaviour and cost", found["metrics"], _METRICS_READING),
        _Section(
            "reliability", "Reliability", found["reliability"], ("Over all finished episodes; not in the score.",)
        ),
    ]


def _leaderboard(title: str, preset: str, part: pd.DataFrame, board: pd.DataFrame) -> _Part:
    endings = tables.endings_frame(part)
    finished, cut = int(endings["finished"].sum()), int(endings["turn_limit"].sum())
    text = (
        f"A turn limit ended {cut} of {finished} finished episodes: their funds are those of that moment, not of the "
        "whole horizon."
    )
    notes = list(tables.leaderboard_notes(board))
    return _Part(
        title,
        [text] if cut else [],
        [
            make_table(f"Leaderboard, preset {preset}", board, tables.LEADERBOARD, notes),
            make_table("How episodes ended", endings, tables.ENDINGS),
        ],
    )


def _against(title: str, preset: str, part: pd.DataFrame, baseline: str) -> _Part:
    compared = tables.comparison_frame(part, baseline)
    if compared.empty:
        known = ", ".join(part["policy"].unique())
        return _Part(title, [f"There is nothing to compare with {baseline}; --baseline names another policy: {known}."])
    order = {policy: row for row, policy in enumerate(part["policy"].unique())}
    compared = compared.sort_values("policy", key=lambda column: column.map(order))
    notes = list(tables.comparison_notes(compared))
    return _Part(title, tables=[make_table(f"Against {baseline}, preset {preset}", compared, tables.COMPARISON, notes)])


def _metrics(title: str, evaluation: Evaluation, part: pd.DataFrame) -> _Part:
    shown: list[Table] = []
    for heading, columns in (("Tasks and money", tables.TASKS), ("Behaviour", tables.BEHAVIOUR), ("Cost", tables.COST)):
        means = tables.means_frame(part, [column.keys[0] for column in columns[1:]])
        if heading != "Cost" or means["total_tokens"].notna().any() or means["cost_usd"].notna().any():
            shown.append(make_table(heading, means, columns))
    keys = set(part["preset"])
    lost = usage_of([each for each in evaluation.episodes if each.key.preset in keys], with_result=False)
    return _Part(title, [] if lost is None else [_paid(lost)], shown)


def _paid(lost: Usage) -> str:
    tokens = "unknown tokens" if lost.tokens is None else f"{lost.tokens:,} tokens"
    cost = "unknown cost" if lost.cost_usd is None else f"${lost.cost_usd:,.2f}"
    at_least = "at least " if lost.unknown_turns or lost.unknown_cost_turns else ""
    return (
        f"Paid for without a result, in episodes that failed or are not finished, and in no table: {at_least}"
        f"{lost.runs} runs, {lost.turns:,} turns, {tokens}, {cost}."
    )


def _drawings(evaluation: Evaluation, part: pd.DataFrame, prefix: str, preset: str, *, png: bool) -> Iterator[_Drawing]:
    """Yield the figures of a preset, policies in the order of the leaderboard."""
    done = part[part["status"] == "finished"]
    episodes = {attrs.astuple(each.key): each for each in evaluation.episodes}
    measured = (
        episodes[key] for key in done[["policy", "preset", "seed", "repeat"]].itertuples(index=False, name=None)
    )
    runs = {each.key: found for each in measured if (found := each.metrics) is not None}
    sources = {"episodes": done, **{name: metrics_table(runs, name) for name in ("months", "clients", "calls")}}
    plans = [(plan, sources[plan.source]) for plan in figures.FIGURES]
    context = _context_frame(evaluation, done)
    if context is not None:
        plans.append((_CONTEXT, context))
    slug = prefix + re.sub(r"[^A-Za-z0-9-]+", "-", preset)[:40]
    for plan, frame in plans:
        if plan.name == "funds-by-seed" and len(set(frame["seed"])) == 1:
            continue
        may_be_zero = plan.column in {"score_cents", "funds_cents", "final_trust_milli"}
        if len(frame) and (may_be_zero or (frame[plan.column].fillna(0) > 0).any()):
            figure = plan.draw(frame)
            svg = svg_of(figure)  # before the PNG, which lays the figure out anew
            yield _Drawing(f"{slug}-{plan.name}", plan.title, plan.note, svg, png_of(figure) if png else None)


_CONTEXT: Final = figures.FigurePlan(
    "context",
    "Score against turns kept in context",
    "Means over seeds; the policies of a line differ in nothing else (paper, figure 10).",
    "episodes",
    _KEEP_TURNS,
    figures.funds_by_context,
)


def _context_frame(evaluation: Evaluation, done: pd.DataFrame) -> pd.DataFrame | None:
    """Return the episodes of policies that differ in ``keep_turns`` alone, with the name of their line, or None."""
    kept: dict[str, int] = {}
    lines: dict[str, list[str]] = {}
    models = dict(zip(done["policy"], done["model"], strict=True))
    for row in evaluation.suite.policies:
        turns = row.parameters.get(_KEEP_TURNS)
        if isinstance(turns, int) and row.label in models:
            others = {key: value for key, value in row.parameters.items() if key != _KEEP_TURNS}
            rest = attrs.asdict(attrs.evolve(row, label="", parameters=others))
            kept[row.label] = turns
            lines.setdefault(json.dumps([rest, models[row.label]], default=str, sort_keys=True), []).append(row.label)
    several = {policy: policies for policies in lines.values() if len(policies) > 1 for policy in policies}
    if not several:
        return None
    part = done[done["policy"].isin(list(several))]
    of_lines = [models[policies[0]] for policies in lines.values() if len(policies) > 1]
    names = {  # the model, unless there is none or it has two lines
        policy: policies[0] if pd.isna(models[policy]) or of_lines.count(models[policy]) > 1 else models[policy]
        for policy, policies in several.items()
    }
    return part.assign(line=part["policy"].map(names), keep_turns=part["policy"].map(kept))


# ---------------------------------------------------------------- times, failures, published results


def _times(evaluation: Evaluation, frame: pd.DataFrame) -> _Section:
    runs = [each.run for each in evaluation.episodes if each.run is not None and each.status == "finished"]
    if not runs:
        return _Section("times", "Times, retries and faults", [_Part("", ["No episode is finished."])])
    first = min(run.origin.started for run in runs)
    last = max(run.outcome.ended or run.origin.started for run in runs)
    parts = [_Part("", [f"The first finished run was begun at {first}; the last ended at {last}."])]
    for preset in frame["preset"].unique():
        means = tables.means_frame(frame[frame["preset"] == preset], ["wall_s", "latency_s", "retries", "faults"])
        parts.append(_Part("", tables=[make_table(f"Times, preset {preset}", means, tables.TIMES)]))
    reading = ("Nothing else in this report differs between two evaluations that are equal otherwise.",)
    return _Section("times", "Times, retries and faults", parts, reading)


def _unfinished(evaluation: Evaluation, frame: pd.DataFrame) -> _Part:
    """Return the episodes that failed or are missing, with the reasons; of a held-out suite the error's class alone."""
    reasons = dict(zip(map(str, (each.key for each in evaluation.episodes)), frame["reason"], strict=True))
    rows: list[tuple[str, str, str]] = []
    for episode, status in zip(evaluation.episodes, frame["status"], strict=True):
        if status == "finished":
            continue
        reason = reasons[str(episode.key)]
        if status == "missing":
            reason = "not begun" if episode.run is None else episode.run.outcome.reason or episode.run.outcome.status
        text = "not known" if pd.isna(reason) else str(reason)
        rows.append((str(episode.key), status, text.split(":")[0] if evaluation.suite.is_held_out else text))
    if not rows:
        return _Part("", ["Every planned episode is finished."])
    return _Part("", tables=[_facts("Episodes", rows, "Episode", "Status", "Reason")])


def _published() -> _Section:
    found = published_results()
    frame = pd.DataFrame([attrs.asdict(model) for model in found.models])
    december = [100 * model.funds_usd[-1] for model in found.models]
    frame = frame.assign(policy=frame["name"], december=december, figure7=100 * frame["figure7_usd"])
    part = _Part("", [], [make_table("Published models", frame, tables.PUBLISHED)])
    return _Section("published", "Published results", [part], [*found.sources, *found.caveats])


_LEADERBOARD_READING: Final = (
    (
        "The place is not a result, the tier is: policies of a tier are not shown to differ from the first of it. "
        "Tiers compare policies on the same seeds, with Holm's correction over all pairs."
    ),
    (
        "A failed episode counts 0 and as not survived, so that a policy gains nothing by failing on poor seeds. The "
        "score of the finished episodes alone stands beside it, in brackets."
    ),
    "A score is a mean, so one rich seed can carry it. As many seeds are below the median as above it.",
    (
        f"An interval can reach below $0, although no score can: below {BCA_NEEDS} seeds it is Student's, which is "
        "symmetric. An interval of width 0 says that these seeds show no spread, not that there is none."
    ),
)
_COMPARISON_READING: Final = (
    "A lift is the mean of the differences to the baseline on the same seeds, so the luck of the market drops out.",
    (
        f"p is the sign-flip test's, exact up to {EXACT_LIMIT} seeds without a tie. It assumes that without a "
        "difference between the policies the lift of a seed is symmetric about 0. It cannot be below 2 / 2^n for n "
        "seeds."
    ),
    (
        "Where interval and p disagree, trust the p: Student's interval assumes a normal distribution. A Holm p of at "
        f"most {ALPHA:g} is significant among all policies of the table."
    ),
)
_METRICS_READING: Final = (
    "Means over seeds of finished episodes. A seed on which a figure is not defined does not enter its mean.",
    (
        "A win rate can be raised by leaving late tasks unfinished: read it beside Overdue. A market can be re-rolled "
        "by accepting tasks that are never worked on: see Never dispatched."
    ),
)
