"""Measures the policies, and writes the tables and the figure of docs/policies.md from what was measured.

``.venv/bin/python scripts/policies_page.py measure`` plays every policy, replays the plans in docs/data/plans (made by
``ycbench plan``) and computes the bounds, which takes a quarter of an hour; ``... write`` makes page and figure from
docs/data/policies.json.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
from matplotlib.figure import Figure
from pages import DOCS, dollars, table, update, write

from ycbench_agents import Policy, Trajectory, make_policy, rollout
from ycbench_agents.evaluation.published import published
from ycbench_agents.figure import COLOURS, GREY, INK, figure_style, label_ends, png_of, root_scale
from ycbench_agents.figure import dollars as short
from ycbench_agents.planner import MOST_ACCEPTS_A_SLOT, Foresight, load_plan, replay_plan, upper_bound
from ycbench_env import Config, YCBenchEnv, initial_state, load_config

PAGE: Final = DOCS / "policies.md"
FIGURE: Final = DOCS / "images" / "policies.png"
MEASURED: Final = DOCS / "data" / "policies.json"
PLANS: Final = DOCS / "data" / "plans"

PRESETS: Final = ("default", "reference")
SEEDS: Final = (1, 2, 3)
LIMITS: Final = (0, 8)  # of open tasks; 0 = none, as published
POLICIES: Final = (
    *("idle", "accept_all", "adversary_chaser", "random", "greedy"),
    *("prestige", "throughput", "conservative", "expert", "market_roller"),
)
SWEEPS: Final = ((1, 100), (101, 200))

Scores = dict[str, Any]  # JSON


# ---- measuring


def configured(preset: str, limit: int) -> Config:
    """Return a preset with a limit on open tasks."""
    return load_config(preset, overrides={"world": {"max_open_tasks": limit}} if limit else {}, environ={})


def case_name(preset: str, limit: int) -> str:
    """Return the name of a preset with a limit, as the JSON has it."""
    return f"{preset}, max_open_tasks {limit or 'none'}"


def policy_for(name: str, preset: str, limit: int, seed: int) -> Policy:
    """Return a policy; the planner is its plan of this case and seed, replayed."""
    if name != "planner":
        return make_policy(name)
    return make_policy("replay", turns=load_plan(plan_path(preset, limit, seed)).turns)


def plan_path(preset: str, limit: int, seed: int) -> Path:
    """Return where the planner's best plan lies."""
    return PLANS / f"{preset}{f'-max{limit}' if limit else ''}-seed{seed}.plan.gz"


def honest_plan_path(preset: str, seed: int) -> Path:
    """Return where the planner's best plan lies that dispatches all it accepts."""
    return PLANS / f"{preset}-honest-seed{seed}.plan.gz"


def measured() -> Scores:
    """Return the scores of all policies, bounds, and funds over time under reference rules."""
    names = ("final_funds_cents", "bound_cents", "planner_accepts", "bound_for_accepts_cents", "sweeps", "honest")
    scores: Scores = {"seeds": list(SEEDS), **{name: {} for name in names}}
    for preset in PRESETS:
        for limit in LIMITS:
            config, case = configured(preset, limit), case_name(preset, limit)
            played = {
                name: [rollout(YCBenchEnv(config), policy_for(name, preset, limit, seed), seed) for seed in SEEDS]
                for name in (*POLICIES, "planner")
            }
            funds = {name: [episode.final_funds_cents for episode in some] for name, some in played.items()}
            sys.stderr.write(f"{case}: {funds}\n")
            results = [[each for info in episode.infos for each in info["results"]] for episode in played["planner"]]
            accepts = [
                sum(each["ok"] and each["command"].startswith("task accept") for each in some) for some in results
            ]
            scores["final_funds_cents"][case], scores["planner_accepts"][case] = funds, accepts
            scores["bound_cents"][case] = [upper_bound(config, seed).cents for seed in SEEDS]
            scores["bound_for_accepts_cents"][case] = [
                upper_bound(config, seed, most_accepts=most).cents for seed, most in zip(SEEDS, accepts, strict=True)
            ]
            if (preset, limit) == ("reference", 0):  # the rules of the published scores
                scores["funds_dollars"] = {name: _mean_curve(some) for name, some in played.items()}
        scores["honest"][preset] = _honest(preset)
        with ProcessPoolExecutor() as processes:  # some ten minutes of one
            for first, last in SWEEPS:
                seeds = range(first, last + 1)
                expert = list(processes.map(_expert_funds, [preset] * len(seeds), seeds))
                scores["sweeps"].setdefault(preset, []).append(
                    {
                        "seeds": [first, last],
                        "mean_cents": round(statistics.mean(expert)),
                        "lowest_cents": min(expert),
                        "highest_cents": max(expert),
                        "bankrupt": sum(each < 0 for each in expert),
                    }
                )
    return scores


def _honest(preset: str) -> Scores:
    """Return what the honest game brings: plans that dispatch all, bounds, and play where dispatch refills a slot."""
    config = configured(preset, 0)
    strict = load_config(preset, overrides={"world": {"refill_at": "dispatch"}}, environ={})
    markets = {seed: Foresight(initial_state(config, seed)) for seed in SEEDS}
    accepts = MOST_ACCEPTS_A_SLOT * config.world.num_market_tasks
    bounds = {"completes_all_bound": {"most_unfinished": 0}, "accepts_bound": {"most_accepts": accepts}}
    return {
        "planner": [replay_plan(config, load_plan(honest_plan_path(preset, seed))) for seed in SEEDS],
        **{
            name: [upper_bound(config, seed, **limit, foresight=market).cents for seed, market in markets.items()]
            for name, limit in bounds.items()
        },
        "refill_at_dispatch": {
            name: [rollout(YCBenchEnv(strict), make_policy(name), seed).final_funds_cents for seed in SEEDS]
            for name in ("greedy", "expert", "market_roller")
        },
    }


def _expert_funds(preset: str, seed: int) -> int:
    return rollout(YCBenchEnv(configured(preset, 0)), make_policy("expert"), seed).final_funds_cents


def _mean_curve(episodes: Sequence[Trajectory]) -> list[float]:
    """Return mean funds in dollars as the published table has them, from January to December.

    Its January is the starting capital, every other month its end; after a bankruptcy funds count as nothing.
    """
    curves: list[list[float]] = []
    for episode in episodes:
        seen = [(each["sim_time"][:7], int(each["funds_cents"])) for each in episode.observations]
        year = int(seen[0][0][:4])
        ends = [f"{year + month // 12}-{month % 12 + 1:02d}" for month in range(2, 13)]
        held = [seen[0][1], *([cents for month, cents in seen if month < end][-1] for end in ends)]
        curves.append([max(0, cents) / 100 for cents in held])
    return [round(statistics.mean(each), 2) for each in zip(*curves, strict=True)]


# ---- writing


def tables(scores: Scores) -> dict[str, str]:
    """Return each table by the title in the comment before it."""
    made = {f"scores {preset}": _score_table(scores, preset) for preset in PRESETS}
    return {**made, "gaps": _gap_table(scores), "honest": _honest_table(scores), "sweeps": _sweep_table(scores)}


def _score_table(scores: Scores, preset: str) -> str:
    """Return a row for each policy: final funds of each seed, and the mean without and with a limit.

    In a mean a bankrupt company counts as nothing, as in the published scores.
    """
    free, held = (
        {**scores["final_funds_cents"][case], "bound": scores["bound_cents"][case]}
        for case in (case_name(preset, limit) for limit in LIMITS)
    )
    rows: list[list[str]] = []
    for name, funds in free.items():
        means = [statistics.mean([max(0, each) for each in some]) for some in (funds, held[name])]
        rows.append(["*upper bound*" if name == "bound" else f"`{name}`", *map(dollars, [*funds, *means])])
    seeds = [f"seed {seed}" for seed in scores["seeds"]]
    return table(["policy", *seeds, "mean", f"mean with `max_open_tasks = {LIMITS[1]}`"], rows, 1)


def _gap_table(scores: Scores) -> str:
    """Return, for each case and seed, the planner against the expert and against both bounds."""
    rows: list[tuple[str, ...]] = []
    for case, funds in scores["final_funds_cents"].items():
        for place, seed in enumerate(scores["seeds"]):
            expert, planner = funds["expert"][place], funds["planner"][place]
            bounds = [scores[key][case][place] for key in ("bound_for_accepts_cents", "bound_cents")]
            reached = [f"{dollars(bound)} ({planner / bound:.0%})" for bound in bounds]
            lead, accepts = f"{planner / expert - 1:+.0%}", f"{scores['planner_accepts'][case][place]:,}"
            rows.append((case, str(seed), dollars(expert), dollars(planner), lead, accepts, *reached))
    heads = ("case", "seed", "expert", "planner", "to the expert", "accepts", "bound for these", "bound for all")
    return table(heads, rows, 1)


def _honest_table(scores: Scores) -> str:
    """Return, for each preset and seed, the honest planner, play where dispatch refills a slot, and both bounds."""
    names = ("expert", "greedy", "market_roller")
    rows: list[tuple[str, ...]] = []
    for preset, honest in scores["honest"].items():
        played = [honest["refill_at_dispatch"][name] for name in names]
        columns = (honest["planner"], *played, honest["completes_all_bound"], honest["accepts_bound"])
        for seed, *cells in zip(scores["seeds"], *columns, strict=True):
            rows.append((preset, str(seed), *map(dollars, cells)))
    heads = ("preset", "seed", "honest planner", *(f"`{name}`" for name in names), "completes all", "999 a slot")
    return table(heads, rows, 1)


def _sweep_table(scores: Scores) -> str:
    rows = [
        (
            preset,
            "{} to {}".format(*each["seeds"]),
            *(dollars(each[f"{key}_cents"]) for key in ("mean", "lowest", "highest")),
            str(each["bankrupt"]),
        )
        for preset, sweeps in scores["sweeps"].items()
        for each in sweeps
    ]
    return table(("preset", "seeds", "mean", "lowest", "highest", "bankrupt"), rows, 2)


@figure_style()
def picture(scores: Scores) -> Figure:
    """Draw published models, greedy, expert, planner and the bound over the year, every line named."""
    curves = scores["funds_dollars"]
    ours = {"planner (loophole)": curves["planner"], "expert": curves["expert"], "greedy": curves["greedy"]}
    bound = statistics.mean(scores["bound_cents"][case_name("reference", 0)]) / 100
    figure = Figure(figsize=(9.2, 6.2))
    axes = figure.subplots()
    axes.axhline(bound, color=INK, linewidth=1.2, linestyle="dashed", label=f"upper bound  {short(bound)}")
    for model in published().models:
        label = f"{model.name}  {short(model.funds_usd[-1])}"
        axes.plot(range(12), model.funds_usd, color=GREY, alpha=0.6, linewidth=1, label=label)
    for (name, funds), colour in zip(ours.items(), COLOURS, strict=False):
        axes.plot(range(12), funds, color=colour, linewidth=2.4, clip_on=False, label=f"{name}  {short(funds[-1])}")
    for line in axes.get_lines()[1:]:
        line.set_linestyle("solid")
    root_scale(axes, 1.04 * bound)
    axes.set_ylim(0, 1.04 * bound)
    axes.set_xlim(0, 11)
    axes.set_xticks(range(12), ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"])
    axes.yaxis.set_major_formatter(lambda amount, _: short(amount))
    axes.set_title("Mean funds over seeds 1 to 3, rules of the published scores (grey: published language models)")
    mpl.rcParams["font.size"] = 8
    label_ends(axes, gap=0.028)
    return figure


if __name__ == "__main__":
    if sys.argv[1:] == ["measure"]:
        write(MEASURED, json.dumps(measured(), indent=1) + "\n")
    elif sys.argv[1:] == ["write"]:
        kept = json.loads(MEASURED.read_text(encoding="utf-8"))
        update(PAGE, tables(kept))
        FIGURE.write_bytes(png_of(picture(kept), dpi=130))
    else:
        sys.exit("expected measure or write")
