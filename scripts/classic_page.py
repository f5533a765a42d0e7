"""Measures the policies under the classic presets, and writes the table and the figure of docs/classic.md.

``.venv/bin/python scripts/classic_page.py measure`` plays every policy on every classic preset, seeds 1 to 20, which
takes an hour; names of presets after it measure only those. What docs/data/classic.json has already is kept: remove
from it, or remove the file, what is to be measured anew.
``... write`` makes tables and figure from that file.
"""

from __future__ import annotations

import json
import statistics
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ycbench_agents import make_policy, policy_seed, rollout
from ycbench_agents.scripted.expert import ExpertPolicy
from ycbench_env import YCBenchEnv, load_config
from ycbench_env.vocabulary import DOMAINS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from matplotlib.axes import Axes

ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = ROOT / "docs" / "classic.md"
FIGURE: Final = ROOT / "docs" / "images" / "classic-estimates.png"
MEASURED: Final = ROOT / "docs" / "data" / "classic.json"
END: Final = "<!-- end of generated text -->\n"

PRESETS: Final = tuple(f"classic-{name}" for name in ("tutorial", "easy", "medium", "hard", "nightmare", "default"))
SEEDS: Final = tuple(range(1, 21))
POLICIES: Final = (
    "idle",
    "accept_all",
    "random",
    "adversary_chaser",
    "conservative",
    "prestige",
    "throughput",
    "greedy",
    "expert",
)
WATCHED: Final = ("classic-hard", 1)  # the run that the figure follows
SHOWN: Final = ("research", ("Emp_1", "Emp_2", "Emp_4", "Emp_6"))

Scores = dict[str, Any]  # JSON


# ---- measuring


def measure(presets: Sequence[str]) -> None:
    """Play everything and write down what came of it, after each preset."""
    scores: Scores = json.loads(MEASURED.read_text(encoding="utf-8")) if MEASURED.exists() else {"results": {}}
    scores |= {"seeds": list(SEEDS)}
    with ProcessPoolExecutor() as processes:
        for preset in presets:
            for name in reversed(POLICIES):
                if name in scores["results"].get(preset, {}):
                    continue
                cases = [(preset, name, seed) for seed in SEEDS]
                rows = list(processes.map(_played, cases))
                scores["results"].setdefault(preset, {})[name] = rows
                sys.stderr.write(f"{preset} {name}: {_row(name, rows)}\n")
                _save(scores)
            if preset == WATCHED[0] and "run" not in scores:
                scores["errors"] = _median_errors(list(processes.map(_errors, SEEDS)))
                scores["run"] = _watched_run()
                _save(scores)


def _save(scores: Scores) -> None:
    MEASURED.write_text(json.dumps(scores, indent=1) + "\n", encoding="utf-8", newline="\n")


def _played(case: tuple[str, str, int]) -> list[int | str | None]:
    """Return final funds, how an episode ended, and its successes and failures."""
    preset, name, seed = case
    episode = rollout(YCBenchEnv(load_config(preset, environ={})), make_policy(name), seed)
    events = [event for info in episode.infos for event in info["events"] if event["type"] == "task_completed"]
    done = sum(event["success"] is True for event in events)
    return [episode.final_funds_cents, episode.terminal_reason, done, len(events) - done]


def _moments(seed: int) -> Iterator[tuple[str, list[tuple[str, str, float, float]]]]:
    """Yield the time after each turn of the expert, and each rate: of whom, in what, as it is and as it is believed."""
    env, policy = YCBenchEnv(load_config(WATCHED[0], environ={})), ExpertPolicy()
    observation, _ = env.reset(seed=seed)
    policy.reset(policy_seed(seed))
    ended = False
    while not ended:
        turn = policy.act(observation)
        yield (
            str(observation["sim_time"]),
            [
                (employee.name, domain, rate / 10_000, policy.believed_rate(employee.name, domain).rate)
                for employee in env.get_state().employees
                for domain, rate in zip(DOMAINS, employee.rates_e4, strict=True)
            ],
        )
        observation, _, terminated, truncated, _ = env.step(turn)
        ended = terminated or truncated


def _errors(seed: int) -> dict[str, list[float]]:
    """Return the relative errors of all estimates at the last moment of each month in which the expert played."""
    months: dict[str, list[float]] = {}
    for time, rates in _moments(seed):
        months.setdefault("start", [abs(believed / true - 1) for _, _, true, believed in rates])
        months[time[:7]] = [abs(believed / true - 1) for _, _, true, believed in rates]
    return months


def _median_errors(runs: Sequence[Mapping[str, Sequence[float]]]) -> dict[str, list[float]]:
    """Return quartiles of the errors over all runs by month; a month that a run had no turn in is as the one before."""
    names = sorted({month for run in runs for month in run} - {"start"})
    filled: dict[str, list[float]] = {month: [] for month in ("start", *names)}
    for run in runs:
        latest: Sequence[float] = run["start"]
        for month, errors in filled.items():
            latest = run.get(month, latest)
            errors.extend(latest)
    return {month: [round(each, 6) for each in statistics.quantiles(errors, n=4)] for month, errors in filled.items()}


def _watched_run() -> list[list[Any]]:
    """Return, turn by turn of one run, the time and of those shown the rate as it is and as it is believed."""
    domain, names = SHOWN
    return [
        [
            time,
            [
                [round(true, 4), round(believed, 4)]
                for name, of, true, believed in rates
                if of == domain and name in names
            ],
        ]
        for time, rates in _moments(WATCHED[1])
    ]


# ---- writing


def updated(page: str, scores: Scores) -> str:
    """Return a page with its generated parts made anew.

    Raises:
        ValueError: The page has no place for one of them.
    """
    for title, text in {"results": _results(scores), "convergence": _convergence(scores)}.items():
        begin = f"<!-- generated: {title} -->\n"
        before, found, rest = page.partition(begin)
        _, ended, after = rest.partition(END)
        if not found or not ended:
            msg = f"{PAGE.name}: expected {begin.strip()} and {END.strip()} around the generated text"
            raise ValueError(msg)
        page = f"{before}{begin}\n{text}\n{END}{after}"
    return page


def _results(scores: Scores) -> str:
    head = (
        "*Cut* counts the episodes that the limit of turns ended before the horizon: their company is solvent, and "
        "has not paid the payrolls that were still to come.\n"
    )
    parts = [head]
    for preset in PRESETS:
        if preset in scores["results"]:
            rows = [
                f"| `{preset}` | mean | median | bankrupt | cut | tasks done | late |",
                "|---|---:|---:|---:|---:|---:|---:|",
            ]
            played = scores["results"][preset]
            rows += [_row(f"`{name}`", played[name]) for name in POLICIES if name in played]
            parts.append("\n".join(rows) + "\n")
    return "\n".join(parts)


def _row(name: str, rows: Sequence[Sequence[Any]]) -> str:
    funds = [row[0] for row in rows]
    mean = statistics.mean([max(0, each) for each in funds])
    ends = [row[1] for row in rows]
    done, late = (statistics.mean([row[place] for row in rows]) for place in (2, 3))
    return (
        f"| {name} | {_dollars(mean)} | {_dollars(statistics.median(funds))} | {ends.count('bankruptcy')} "
        f"| {ends.count('max_turns')} | {done:.0f} | {late:.1f} |"
    )


def _dollars(cents: float) -> str:
    return f"{'-' if cents < 0 else ''}${abs(round(cents)) // 100:,}"


def _convergence(scores: Scores) -> str:
    rows = ["| after | a quarter within | half within | three quarters within |", "|---|---:|---:|---:|"]
    for month, quartiles in scores["errors"].items():
        rows.append(f"| {month} | {' | '.join(f'{each:.3%}' for each in quartiles)} |")
    return (
        f"![Estimated against true rates](images/{FIGURE.name})\n\n"
        f"Errors of the expert's estimates, as a part of the true rate, over all employees and domains of "
        f"`{WATCHED[0]}`, seeds {SEEDS[0]} to {SEEDS[-1]}, at its last turn of each month:\n\n" + "\n".join(rows) + "\n"
    )


# ---- drawing

_INK: Final = "#1c252c"
_GREY: Final = "#5b6670"
_COLOURS: Final = ("#0072b2", "#d55e00", "#00795c", "#a14f80")
_PERCENT: Final = 0.01
_UNTIL: Final = "2025-03-01"
_LABEL_GAP: Final = 1.22  # least ratio of labels


def draw_estimates(axes: Axes, run: Sequence[Sequence[Any]]) -> None:
    """Draw the rates of some employees over time, as they are and as they are believed.

    Args:
        axes: Where to draw.
        run: Time and pairs of rates, turn by turn.
    """
    moments = [moment for moment in run if moment[0] < _UNTIL]
    days = [_day(time) for time, _ in moments]
    for place, (name, colour) in enumerate(zip(SHOWN[1], _COLOURS, strict=True)):
        true, believed = ([pairs[place][which] for _, pairs in moments] for which in (0, 1))
        axes.plot(days, true, color=colour, linewidth=1.1, linestyle=(0, (4, 2)), drawstyle="steps-post")
        axes.plot(days, believed, color=colour, linewidth=2.2, drawstyle="steps-post")
        axes.annotate(
            name, (days[-1], believed[-1]), xytext=(6, 0), textcoords="offset points", color=colour, va="center"
        )
    height = 0.0
    for rate, name, colour in sorted(zip([pair[1] for pair in moments[-1][1]], SHOWN[1], _COLOURS, strict=True)):
        height = max(rate, height * _LABEL_GAP)
        axes.annotate(name, (days[-1], height), xytext=(6, 0), textcoords="offset points", color=colour, va="center")
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda rate, _: f"{rate:g}")
    _style(
        axes, f"Rates in {SHOWN[0]}, {WATCHED[0]}, seed {WATCHED[1]}", "solid: believed; dashed: true; units an hour"
    )
    axes.set_xlabel("days since the start", color=_GREY)


def draw_errors(axes: Axes, errors: Mapping[str, Sequence[float]]) -> None:
    """Draw the quartiles of the errors by month.

    Args:
        axes: Where to draw.
        errors: Lower quartile, median and upper quartile of relative errors by month.
    """
    places = range(len(errors))
    low, middle, high = zip(*errors.values(), strict=True)
    axes.fill_between(places, low, high, color="#0072b2", alpha=0.18, linewidth=0)
    axes.plot(places, middle, color="#0072b2", linewidth=2.2, marker="o", markersize=4)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda part, _: f"{part:.0%}" if part >= _PERCENT else f"{part * 100:g}%")
    axes.set_xticks(list(places), [month[5:] if "-" in month else month for month in errors])
    _style(axes, "Error of all estimates, seeds 1 to 20", "median and quartiles, as a part of the true rate")
    axes.set_xlabel("month of 2025", color=_GREY)


def _style(axes: Axes, title: str, note: str) -> None:
    axes.grid(visible=True, axis="y", color="#e6eaee")
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(length=0, labelcolor=_GREY)
    axes.tick_params(which="minor", length=0)
    axes.set_title(title, loc="left", size=11, color=_INK, weight="bold", pad=22)
    axes.text(0, 1.025, note, transform=axes.transAxes, size=9, color=_GREY)


def _day(time: str) -> float:
    import datetime as dt  # noqa: PLC0415 -- only drawing needs it

    return (dt.datetime.fromisoformat(time) - dt.datetime(2025, 1, 1)) / dt.timedelta(days=1)  # noqa: DTZ001 -- simulated time


def draw(scores: Scores) -> None:
    """Draw both panels and save them."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 -- only this needs it
    from matplotlib.figure import Figure  # noqa: PLC0415 -- as above

    figure = Figure((11.0, 4.4), facecolor="white")
    FigureCanvasAgg(figure)
    draw_estimates(figure.add_axes((0.05, 0.13, 0.42, 0.70)), scores["run"])
    draw_errors(figure.add_axes((0.60, 0.13, 0.38, 0.70)), scores["errors"])
    figure.savefig(FIGURE, dpi=160, facecolor="white", metadata={"Software": None})


def main(what: Sequence[str]) -> None:
    """Measure or write.

    Raises:
        SystemExit: The word is neither.
    """
    if what[:1] == ["measure"] and set(what[1:]) <= set(PRESETS):
        measure(what[1:] or PRESETS)
    elif list(what) == ["write"]:
        scores = json.loads(MEASURED.read_text(encoding="utf-8"))
        PAGE.write_text(updated(PAGE.read_text(encoding="utf-8"), scores), encoding="utf-8", newline="\n")
        draw(scores)
    else:
        known = f"measure [{' '.join(PRESETS)}] or write"
        raise SystemExit(f"{Path(__file__).name}: got {' '.join(what) or 'nothing'}, expected {known}")  # noqa: EM102, TRY003 -- a script


if __name__ == "__main__":
    main(sys.argv[1:])
