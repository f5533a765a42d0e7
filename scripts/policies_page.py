"""Measures the policies, and writes the tables and the figure of docs/policies.md from what was measured.

``.venv/bin/python scripts/policies_page.py measure`` plays every policy, replays the plans in docs/data/plans (made by
``ycbench plan``) and computes the bounds, which takes a quarter of an hour; ``... write`` makes page and figure from
docs/data/policies.json.
"""

from __future__ import annotations

import datetime as dt
import json
import statistics
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ycbench_agents import make_policy, rollout
from ycbench_agents.evaluation.figures import story
from ycbench_agents.evaluation.published import published
from ycbench_agents.figure import png_of
from ycbench_agents.planner import MOST_ACCEPTS_A_SLOT, Foresight, load_plan, replay_plan, upper_bound
from ycbench_env import Config, YCBenchEnv, initial_state, load_config

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ycbench_agents import Policy, Trajectory

ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = ROOT / "docs" / "policies.md"
FIGURE: Final = ROOT / "docs" / "images" / "policies.png"
MEASURED: Final = ROOT / "docs" / "data" / "policies.json"
PLANS: Final = ROOT / "docs" / "data" / "plans"
END: Final = "<!-- end of generated text -->\n"

PRESETS: Final = ("default", "reference")
SEEDS: Final = (1, 2, 3)
LIMITS: Final = (0, 8)  # of open tasks; 0 = none, as published
POLICIES: Final = (
    "idle",
    "accept_all",
    "adversary_chaser",
    "random",
    "greedy",
    "prestige",
    "throughput",
    "conservative",
    "expert",
    "market_roller",
)
SWEEPS: Final = ((1, 100), (101, 200))
POINTS: Final = 12  # as many as the published table has
_MILLION: Final = 1e8  # cents

Scores = dict[str, Any]  # JSON


# ---- measuring


def configured(preset: str, limit: int) -> Config:
    """Return a preset with a limit on open tasks."""
    return load_config(preset, overrides={"world": {"max_open_tasks": limit}} if limit else {}, environ={})


def plan_path(preset: str, limit: int, seed: int) -> Path:
    """Return where the planner's best plan lies."""
    return PLANS / f"{preset}{f'-max{limit}' if limit else ''}-seed{seed}.plan.gz"


def measured() -> Scores:
    """Return the scores of all policies, bounds, and funds over time under reference rules."""
    tables = (
        "final_funds_cents",
        "bound_cents",
        "planner_accepts",
        "bound_for_accepts_cents",
        "funds_dollars",
        "sweeps",
        "honest",
    )
    scores: Scores = {"seeds": list(SEEDS), **{name: {} for name in tables}}
    for preset in PRESETS:
        for limit in LIMITS:
            _measure_case(scores, preset, limit)
        scores["honest"][preset] = _honest(preset)
        scores["sweeps"][preset] = [_sweep(preset, first, last) for first, last in SWEEPS]
    return scores


def _measure_case(scores: Scores, preset: str, limit: int) -> None:
    config, case = configured(preset, limit), case_name(preset, limit)
    played: dict[str, list[Trajectory]] = {}
    for name in (*POLICIES, "planner"):
        played[name] = [_played(config, policy_for(name, preset, limit, seed), seed) for seed in SEEDS]
        funds = [episode.final_funds_cents for episode in played[name]]
        _say(f"{case} {name}: {', '.join(map(_million, funds))}")
    scores["final_funds_cents"][case] = {
        name: [episode.final_funds_cents for episode in some] for name, some in played.items()
    }
    scores["bound_cents"][case] = [upper_bound(config, seed).cents for seed in SEEDS]
    accepts = [_accepts(episode) for episode in played["planner"]]
    scores["planner_accepts"][case] = accepts
    scores["bound_for_accepts_cents"][case] = [
        upper_bound(config, seed, most_accepts=most).cents for seed, most in zip(SEEDS, accepts, strict=True)
    ]
    if (preset, limit) == ("reference", 0):  # the rules of the published scores
        scores["funds_dollars"] = {name: _mean_curve(some) for name, some in played.items()}


def honest_plan_path(preset: str, seed: int) -> Path:
    """Return where the planner's best plan lies that dispatches all it accepts."""
    return PLANS / f"{preset}-honest-seed{seed}.plan.gz"


def _honest(preset: str) -> Scores:
    """Return what the honest game brings: plans that dispatch all, bounds, and play where dispatch refills a slot."""
    config = configured(preset, 0)
    strict = load_config(preset, overrides={"world": {"refill_at": "dispatch"}}, environ={})
    markets = {seed: Foresight(initial_state(config, seed)) for seed in SEEDS}
    accepts = MOST_ACCEPTS_A_SLOT * config.world.num_market_tasks
    return {
        "planner": [replay_plan(config, honest_plan_path(preset, seed)) for seed in SEEDS],
        "completes_all_bound": [
            upper_bound(config, seed, most_unfinished=0, foresight=markets[seed]).cents for seed in SEEDS
        ],
        "accepts_bound": [
            upper_bound(config, seed, most_accepts=accepts, foresight=markets[seed]).cents for seed in SEEDS
        ],
        "refill_at_dispatch": {
            name: [_played(strict, make_policy(name), seed).final_funds_cents for seed in SEEDS]
            for name in ("greedy", "expert", "market_roller")
        },
    }


def case_name(preset: str, limit: int) -> str:
    """Return the name of a preset with a limit, as the JSON has it."""
    return f"{preset}, max_open_tasks {limit or 'none'}"


def policy_for(name: str, preset: str, limit: int, seed: int) -> Policy:
    """Return a policy; the planner is its plan of this case and seed, replayed."""
    if name == "planner":
        return make_policy("replay", turns=load_plan(plan_path(preset, limit, seed)).turns)
    return make_policy(name)


def _accepts(episode: Trajectory) -> int:
    """Return how many tasks an episode accepted."""
    results = [result for info in episode.infos for result in info["results"]]
    return sum(result["ok"] and result["command"].startswith("task accept") for result in results)


def _played(config: Config, policy: Policy, seed: int) -> Trajectory:
    return rollout(YCBenchEnv(config), policy, seed)


def _sweep(preset: str, first: int, last: int) -> Scores:
    """Return how the expert does on many seeds."""
    with ProcessPoolExecutor() as processes:  # some ten minutes of one
        funds = list(processes.map(_expert_funds, [preset] * (last - first + 1), range(first, last + 1)))
    _say(f"{preset} expert, seeds {first} to {last}: mean {_million(statistics.mean(funds))}")
    return {
        "seeds": [first, last],
        "mean_cents": round(statistics.mean(funds)),
        "lowest_cents": min(funds),
        "highest_cents": max(funds),
        "bankrupt": sum(each < 0 for each in funds),
    }


def _expert_funds(preset: str, seed: int) -> int:
    return _played(configured(preset, 0), make_policy("expert"), seed).final_funds_cents


def _mean_curve(episodes: Sequence[Trajectory]) -> list[float]:
    """Return mean funds in dollars as the published table has them, from January to December.

    Its January is the starting capital, every other month its end; after a bankruptcy funds count as nothing.
    """
    return [round(statistics.mean(each), 2) for each in zip(*map(_months, episodes), strict=True)]


def _months(episode: Trajectory) -> list[float]:
    seen = [(dt.datetime.fromisoformat(each["sim_time"]), int(each["funds_cents"])) for each in episode.observations]
    year = seen[0][0].year
    ends = [dt.datetime(year + month // 12, month % 12 + 1, 1) for month in range(2, POINTS + 1)]  # noqa: DTZ001 -- simulated time
    held = [seen[0][1], *([cents for at, cents in seen if at < end][-1] for end in ends)]
    return [max(0, cents) / 100 for cents in held]


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


# ---- writing


def updated(page: str, scores: Scores) -> str:
    """Return a page with its tables made anew.

    Raises:
        ValueError: The page has no place for a table.
    """
    for title, table in tables(scores).items():
        begin = f"<!-- generated: {title} -->\n"
        before, found, rest = page.partition(begin)
        _, ended, after = rest.partition(END)
        if not found or not ended:
            msg = f"{PAGE.name}: expected {begin.strip()} and {END.strip()} around the table"
            raise ValueError(msg)
        page = f"{before}{begin}\n{table}\n{END}{after}"
    return page


def tables(scores: Scores) -> dict[str, str]:
    """Return each table by the title in the comment before it."""
    made = {f"scores {preset}": _score_table(scores, preset) for preset in PRESETS}
    return {**made, "gaps": _gap_table(scores), "honest": _honest_table(scores), "sweeps": _sweep_table(scores)}


def _honest_table(scores: Scores) -> str:
    """Return, for each preset and seed, the honest planner, play where dispatch refills a slot, and both bounds."""
    heads = (
        "preset",
        "seed",
        "honest planner",
        "`expert`",
        "`greedy`",
        "`market_roller`",
        "completes all",
        "999 a slot",
    )
    rows = [f"| {' | '.join(heads)} |", f"|---|{'---:|' * (len(heads) - 1)}"]
    for preset, honest in scores["honest"].items():
        strict = honest["refill_at_dispatch"]
        columns = (
            honest["planner"],
            *(strict[name] for name in ("expert", "greedy", "market_roller")),
            honest["completes_all_bound"],
            honest["accepts_bound"],
        )
        for seed, *cells in zip(scores["seeds"], *columns, strict=True):
            rows.append(f"| {preset} | {seed} | {' | '.join(map(_dollars, cells))} |")
    return "\n".join(rows) + "\n"


def _score_table(scores: Scores, preset: str) -> str:
    """Return a row for each policy: final funds of each seed, and the mean without and with a limit."""
    free, held = (case_name(preset, limit) for limit in LIMITS)
    seeds = " | ".join(f"seed {seed}" for seed in scores["seeds"])
    rows = [
        f"| policy | {seeds} | mean | mean with `max_open_tasks = {LIMITS[1]}` |",
        f"|---|{'---:|' * (len(scores['seeds']) + 2)}",
    ]
    for name, funds in scores["final_funds_cents"][free].items():
        limited = scores["final_funds_cents"][held][name]
        rows.append(_row(f"`{name}`", funds, limited))
    rows.append(_row("*upper bound*", scores["bound_cents"][free], scores["bound_cents"][held]))
    return "\n".join(rows) + "\n"


def _row(name: str, funds: Sequence[int], limited: Sequence[int]) -> str:
    cells = " | ".join(_dollars(each) for each in funds)
    return f"| {name} | {cells} | {_dollars(_mean(funds))} | {_dollars(_mean(limited))} |"


def _mean(funds: Sequence[int]) -> int:
    """Return the mean in cents; a bankrupt company counts as nothing, as in the published scores."""
    return round(statistics.mean([max(0, each) for each in funds]))


def _gap_table(scores: Scores) -> str:
    """Return, for each case and seed, the planner against the expert and against both bounds."""
    heads = ("case", "seed", "expert", "planner", "to the expert", "accepts", "bound for these", "bound for all")
    rows = [f"| {' | '.join(heads)} |", f"|---|{'---:|' * (len(heads) - 1)}"]
    for case, funds in scores["final_funds_cents"].items():
        for place, seed in enumerate(scores["seeds"]):
            expert, planner = funds["expert"][place], funds["planner"][place]
            near, far = scores["bound_for_accepts_cents"][case][place], scores["bound_cents"][case][place]
            rows.append(
                f"| {case} | {seed} | {_dollars(expert)} | {_dollars(planner)} | {planner / expert - 1:+.0%} "
                f"| {scores['planner_accepts'][case][place]:,} | {_part(planner, near)} | {_part(planner, far)} |"
            )
    return "\n".join(rows) + "\n"


def _part(cents: int, bound: int) -> str:
    """Return a bound and how much of it was reached."""
    return f"{_dollars(bound)} ({cents / bound:.0%})"


def _sweep_table(scores: Scores) -> str:
    rows = ["| preset | seeds | mean | lowest | highest | bankrupt |", "|---|---|---:|---:|---:|---:|"]
    for preset, sweeps in scores["sweeps"].items():
        for each in sweeps:
            first, last = each["seeds"]
            figures = " | ".join(_dollars(each[f"{key}_cents"]) for key in ("mean", "lowest", "highest"))
            rows.append(f"| {preset} | {first} to {last} | {figures} | {each['bankrupt']} |")
    return "\n".join(rows) + "\n"


def _dollars(cents: int) -> str:
    return f"{'-' if cents < 0 else ''}${abs(cents) // 100:,}"


def _million(cents: float) -> str:
    return f"{cents / _MILLION:.3f} M$"


# ---- drawing


def draw(scores: Scores) -> None:
    """Draw published models, greedy, expert, planner and the bound over the year, under the published rules."""
    curves = scores["funds_dollars"]
    ours = {"planner (loophole)": curves["planner"], "expert": curves["expert"], "greedy": curves["greedy"]}
    bound = statistics.mean(scores["bound_cents"][case_name("reference", 0)]) / 100
    title = "Mean funds over seeds 1 to 3, rules of the published scores (grey: published language models)"
    FIGURE.write_bytes(png_of(story(ours, published().models, bound, title), dpi=130))


def main(what: Sequence[str]) -> None:
    """Measure or write.

    Raises:
        SystemExit: The word is neither.
    """
    if list(what) == ["measure"]:
        MEASURED.write_text(json.dumps(measured(), indent=1) + "\n", encoding="utf-8", newline="\n")
    elif list(what) == ["write"]:
        scores = json.loads(MEASURED.read_text(encoding="utf-8"))
        PAGE.write_text(updated(PAGE.read_text(encoding="utf-8"), scores), encoding="utf-8", newline="\n")
        draw(scores)
    else:
        raise SystemExit(f"{Path(__file__).name}: got {' '.join(what) or 'nothing'}, expected measure or write")  # noqa: EM102, TRY003 -- a script


if __name__ == "__main__":
    main(sys.argv[1:])
