"""Measures the policies under the classic presets, and writes the table and the figure of docs/classic.md.

``.venv/bin/python scripts/classic_page.py measure`` plays every policy on every classic preset, seeds 1 to 20, which
takes an hour; names of presets after it measure only those. What docs/data/classic.json has already is kept: remove
from it, or remove the file, what is to be measured anew.
``... write`` makes tables and figure from that file.
"""

from __future__ import annotations

import datetime as dt
import json
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pages import DOCS, dollars, table, update, write

from ycbench_agents import make_policy, policy_seed, rollout
from ycbench_agents.figure import COLOURS, figure_style, label_ends, png_of
from ycbench_agents.scripted.expert import ExpertPolicy
from ycbench_env import YCBenchEnv, load_config
from ycbench_env.vocabulary import DOMAINS

PAGE: Final = DOCS / "classic.md"
FIGURE: Final = DOCS / "images" / "classic-estimates.png"
MEASURED: Final = DOCS / "data" / "classic.json"

PRESETS: Final = tuple(f"classic-{name}" for name in ("tutorial", "easy", "medium", "hard", "nightmare", "default"))
SEEDS: Final = tuple(range(1, 21))
POLICIES: Final = (
    *("idle", "accept_all", "random", "adversary_chaser", "conservative"),
    *("prestige", "throughput", "greedy", "expert"),
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
                sys.stderr.write(f"{preset} {name}: {' '.join(_summary(rows))}\n")
                _save(scores)
            if preset == WATCHED[0] and "run" not in scores:
                scores["errors"] = _median_errors(list(processes.map(_errors, SEEDS)))
                scores["run"] = _watched_run()
                _save(scores)


def _save(scores: Scores) -> None:
    write(MEASURED, json.dumps(scores, indent=1) + "\n")


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


def _results(scores: Scores) -> str:
    """Return a table for each preset; in a mean a bankrupt company counts as nothing."""
    note = (
        "*Cut* counts the episodes that the limit of turns ended before the horizon: their company is solvent, and "
        "has not paid the payrolls that were still to come.\n"
    )
    parts = [note]
    for preset in PRESETS:
        if played := scores["results"].get(preset):
            rows = [[f"`{name}`", *_summary(played[name])] for name in POLICIES if name in played]
            parts.append(table((f"`{preset}`", "mean", "median", "bankrupt", "cut", "tasks done", "late"), rows, 1))
    return "\n".join(parts)


def _summary(rows: Sequence[Sequence[Any]]) -> list[str]:
    funds, ends, done, late = zip(*rows, strict=True)
    return [
        dollars(statistics.mean([max(0, each) for each in funds])),
        dollars(statistics.median(funds)),
        str(ends.count("bankruptcy")),
        str(ends.count("max_turns")),
        f"{statistics.mean(done):.0f}",
        f"{statistics.mean(late):.1f}",
    ]


def _convergence(scores: Scores) -> str:
    rows = [[month, *(f"{each:.3%}" for each in quartiles)] for month, quartiles in scores["errors"].items()]
    return (
        f"![Estimated against true rates](images/{FIGURE.name})\n\n"
        f"Errors of the expert's estimates, as a part of the true rate, over all employees and domains of "
        f"`{WATCHED[0]}`, seeds {SEEDS[0]} to {SEEDS[-1]}, at its last turn of each month:\n\n"
        + table(("after", "a quarter within", "half within", "three quarters within"), rows, 1)
    )


# ---- drawing


def draw(scores: Scores) -> None:
    """Draw the rates of a run, as they are and as they are believed, beside the errors of all estimates by month."""
    with figure_style():
        figure = Figure((11.0, 4.4))
        rates, errors = figure.subplots(1, 2)
        _draw_rates(rates, [moment for moment in scores["run"] if moment[0] < "2025-03-01"])
        _draw_errors(errors, scores["errors"])
        for axes in (rates, errors):
            axes.tick_params(which="minor", length=0)
    FIGURE.write_bytes(png_of(figure, dpi=160))


def _draw_rates(axes: Axes, moments: Sequence[tuple[str, Sequence[tuple[float, float]]]]) -> None:
    start = dt.datetime.fromisoformat(moments[0][0])
    days = [(dt.datetime.fromisoformat(time) - start) / dt.timedelta(days=1) for time, _ in moments]
    for (name, pairs), colour in zip(
        zip(SHOWN[1], zip(*(pairs for _, pairs in moments), strict=True), strict=True), COLOURS, strict=False
    ):
        true, believed = zip(*pairs, strict=True)
        axes.plot(days, true, color=colour, linewidth=1.1, linestyle="dashed", drawstyle="steps-post")
        axes.plot(days, believed, color=colour, linewidth=2.2, linestyle="solid", drawstyle="steps-post", label=name)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda rate, _: f"{rate:g}")
    axes.set_title(f"Rates in {SHOWN[0]}, {WATCHED[0]}, seed {WATCHED[1]}")
    axes.set_xlabel("days since the start")
    axes.set_ylabel("units an hour (solid: believed, dashed: true)")
    axes.margins(x=0)
    label_ends(axes)


def _draw_errors(axes: Axes, errors: Mapping[str, Sequence[float]]) -> None:
    places = range(len(errors))
    low, middle, high = zip(*errors.values(), strict=True)
    axes.fill_between(places, low, high, color=COLOURS[0], alpha=0.18, linewidth=0)
    axes.plot(places, middle, color=COLOURS[0], linewidth=2.2, linestyle="solid", marker="o", markersize=4)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda part, _: f"{part * 100:g}%")
    axes.set_xticks(places, [month.removeprefix("2025-") for month in errors])
    axes.set_title(f"Errors of all estimates, seeds {SEEDS[0]} to {SEEDS[-1]}")
    axes.set_xlabel("month of 2025")
    axes.set_ylabel("part of the true rate (median, quartiles)")


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"] and set(sys.argv[2:]) <= set(PRESETS):
        measure(sys.argv[2:] or PRESETS)
    elif sys.argv[1:] == ["write"]:
        kept = json.loads(MEASURED.read_text(encoding="utf-8"))
        update(PAGE, {"results": _results(kept), "convergence": _convergence(kept)})
        draw(kept)
    else:
        sys.exit(f"expected measure [{' '.join(PRESETS)}] or write")
