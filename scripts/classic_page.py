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
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any, Final, TypeAlias

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

Scores: TypeAlias = dict[str, Any]  # JSON
Moment: TypeAlias = tuple[str, dict[tuple[str, str], tuple[float, float]]]
"""The time after a turn, and each rate by employee and domain: as it is, and as the expert believes it to be."""


# ---- measuring


def measure(presets: Sequence[str]) -> None:
    """Play everything and write down what came of it, after each preset."""
    scores: Scores = json.loads(MEASURED.read_text(encoding="utf-8")) if MEASURED.exists() else {"results": {}}
    scores |= {"seeds": list(SEEDS)}
    with ProcessPoolExecutor() as processes:
        for preset in presets:
            kept = scores["results"].setdefault(preset, {})
            for name in (name for name in reversed(POLICIES) if name not in kept):
                kept[name] = list(processes.map(_played, [(preset, name, seed) for seed in SEEDS]))
                sys.stderr.write(f"{preset} {name}: {' '.join(_summary(kept[name]))}\n")
                write(MEASURED, json.dumps(scores, indent=1) + "\n")
            if preset == WATCHED[0] and "run" not in scores:
                runs = list(processes.map(_moments, SEEDS))
                domain, names = SHOWN
                scores["errors"] = _quartiles_of_errors(runs)
                scores["run"] = [
                    [time, [[round(rate, 4) for rate in rates[name, domain]] for name in names]]
                    for time, rates in runs[SEEDS.index(WATCHED[1])]
                ]
                write(MEASURED, json.dumps(scores, indent=1) + "\n")


def _played(case: tuple[str, str, int]) -> list[int | str | None]:
    """Return final funds, how an episode ended, and its successes and failures."""
    preset, name, seed = case
    episode = rollout(YCBenchEnv(load_config(preset, environ={})), make_policy(name), seed)
    events = [event for info in episode.infos for event in info["events"] if event["type"] == "task_completed"]
    done = sum(event["success"] is True for event in events)
    return [episode.final_funds_cents, episode.terminal_reason, done, len(events) - done]


def _moments(seed: int) -> list[Moment]:
    """Return the rates after each turn of the expert in a watched world."""
    env, policy = YCBenchEnv(load_config(WATCHED[0], environ={})), ExpertPolicy()
    observation, _ = env.reset(seed=seed)
    policy.reset(policy_seed(seed))
    moments: list[Moment] = []
    ended = False
    while not ended:
        turn = policy.act(observation)
        rates = {
            (employee.name, domain): (rate / 10_000, policy._blind.estimate.team((employee.name,), domain).rate)  # noqa: SLF001 -- what it believes
            for employee in env.get_state().employees
            for domain, rate in zip(DOMAINS, employee.rates_e4, strict=True)
        }
        moments.append((str(observation["sim_time"]), rates))
        observation, _, terminated, truncated, _ = env.step(turn)
        ended = terminated or truncated
    return moments


def _quartiles_of_errors(runs: Sequence[Sequence[Moment]]) -> dict[str, list[float]]:
    """Return quartiles of the relative errors over all runs, at the start and at the last turn of each month.

    A month that a run had no turn in is as the one before.
    """
    last = [{"start": run[0][1], **{time[:7]: rates for time, rates in run}} for run in runs]
    months = ["start", *sorted({month for run in last for month in run} - {"start"})]
    errors: dict[str, list[float]] = {month: [] for month in months}
    for run in last:
        rates = run["start"]
        for month in months:
            rates = run.get(month, rates)
            errors[month] += [abs(believed / true - 1) for true, believed in rates.values()]
    return {month: [round(each, 6) for each in statistics.quantiles(some, n=4)] for month, some in errors.items()}


# ---- writing


def tables(scores: Scores) -> dict[str, str]:
    """Return the generated parts of the page; in a mean a bankrupt company counts as nothing."""
    note = (
        "*Cut* counts the episodes that the limit of turns ended before the horizon: their company is solvent, and "
        "has not paid the payrolls that were still to come.\n"
    )
    parts = [note]
    for preset in PRESETS:
        if played := scores["results"].get(preset):
            rows = [[f"`{name}`", *_summary(played[name])] for name in POLICIES if name in played]
            parts.append(table((f"`{preset}`", "mean", "median", "bankrupt", "cut", "tasks done", "late"), rows, 1))
    months = [[month, *(f"{each:.3%}" for each in quartiles)] for month, quartiles in scores["errors"].items()]
    convergence = (
        f"![Estimated against true rates](images/{FIGURE.name})\n\n"
        f"Errors of the expert's estimates, as a part of the true rate, over all employees and domains of "
        f"`{WATCHED[0]}`, seeds {SEEDS[0]} to {SEEDS[-1]}, at its last turn of each month:\n\n"
        + table(("after", "a quarter within", "half within", "three quarters within"), months, 1)
    )
    return {"results": "\n".join(parts), "convergence": convergence}


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


@figure_style()
def picture(scores: Scores) -> Figure:
    """Draw the rates of a run, as they are and as they are believed, beside the errors of all estimates by month."""
    figure = Figure((11.0, 4.4))
    rates, errors = figure.subplots(1, 2)
    moments = [moment for moment in scores["run"] if moment[0] < "2025-03-01"]
    start = dt.datetime.fromisoformat(moments[0][0])
    days = [(dt.datetime.fromisoformat(time) - start) / dt.timedelta(days=1) for time, _ in moments]
    for place, (name, colour) in enumerate(zip(SHOWN[1], COLOURS, strict=False)):
        true, believed = zip(*(pairs[place] for _, pairs in moments), strict=True)
        rates.plot(days, true, color=colour, linewidth=1.1, linestyle="dashed", drawstyle="steps-post")
        rates.plot(days, believed, color=colour, linewidth=2.2, linestyle="solid", drawstyle="steps-post", label=name)
    rates.set_yscale("log")
    rates.yaxis.set_major_formatter(lambda rate, _: f"{rate:g}")
    rates.set_title(f"Rates in {SHOWN[0]}, {WATCHED[0]}, seed {WATCHED[1]}")
    rates.set_xlabel("days since the start")
    rates.set_ylabel("units an hour (solid: believed, dashed: true)")
    rates.margins(x=0)
    label_ends(rates)
    places = range(len(scores["errors"]))
    low, middle, high = zip(*scores["errors"].values(), strict=True)
    errors.fill_between(places, low, high, color=COLOURS[0], alpha=0.18, linewidth=0)
    errors.plot(places, middle, color=COLOURS[0], linewidth=2.2, linestyle="solid", marker="o", markersize=4)
    errors.set_yscale("log")
    errors.yaxis.set_major_formatter(lambda part, _: f"{part * 100:g}%")
    errors.set_xticks(places, [month.removeprefix("2025-") for month in scores["errors"]])
    errors.set_title(f"Errors of all estimates, seeds {SEEDS[0]} to {SEEDS[-1]}")
    errors.set_xlabel("month of 2025")
    errors.set_ylabel("part of the true rate (median, quartiles)")
    for axes in (rates, errors):
        axes.tick_params(which="minor", length=0)
    return figure


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"] and set(sys.argv[2:]) <= set(PRESETS):
        measure(sys.argv[2:] or PRESETS)
    elif sys.argv[1:] == ["write"]:
        measured = json.loads(MEASURED.read_text(encoding="utf-8"))
        update(PAGE, tables(measured))
        FIGURE.write_bytes(png_of(picture(measured), dpi=160))
    else:
        sys.exit(f"expected measure [{' '.join(PRESETS)}] or write")
