"""Suites of episodes: what is planned, played, missing, and the figures over it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from ycbench_agents import PolicyStoppedError
from ycbench_agents.cli import main
from ycbench_agents.cli.options import Override
from ycbench_agents.cli.output import UsageError
from ycbench_agents.cli.report import group_line, missing_lines, print_table, suite_json
from ycbench_agents.cli.statistic import groups
from ycbench_agents.cli.suite import Episode, Plan, Rules, Suite, make_plans, play_suite
from ycbench_env import Config, load_config

if TYPE_CHECKING:
    from ycbench_agents.rollout import Trajectory
    from ycbench_env import Observation


class Recorder:
    """Writes down what it is told; raises where a test wants Ctrl-C."""

    def __init__(self, interrupt_at: int | None = None) -> None:
        self.begun: list[Plan] = []
        self.fractions: list[float] = []
        self.ended = 0
        self.interrupt_at = interrupt_at

    def begin(self, plan: Plan) -> None:
        self.begun.append(plan)

    def advance(self, fraction: float) -> None:
        self.fractions.append(fraction)
        if len(self.begun) == self.interrupt_at and fraction > 0:
            raise KeyboardInterrupt

    def end(self) -> None:
        self.ended += 1


@pytest.fixture(scope="module")
def configs() -> dict[str, Config]:
    return {"default": load_config("default", environ={})}


@pytest.fixture(scope="module")
def greedy(configs: dict[str, Config]) -> Suite:
    return play_suite(make_plans(["greedy"], ["default"], [1, 2, 3]), configs, Recorder())


def test_plans_are_every_combination_with_seeds_fastest() -> None:
    plans = make_plans(["a", "b"], ["x"], [2, 1])
    assert plans == (Plan("a", "x", 2), Plan("a", "x", 1), Plan("b", "x", 2), Plan("b", "x", 1))


def test_the_baseline_ends_as_published(greedy: Suite) -> None:
    assert [episode.final_funds_cents for episode in greedy.episodes] == [42_029_521, 27_129_705, -1_630_305]
    assert [(e.completed, e.failed, e.cancelled) for e in greedy.episodes] == [(42, 10, 0), (39, 11, 0), (10, 9, 0)]
    assert [episode.fate for episode in greedy.episodes] == ["survived", "survived", "bankrupt on 2025-09-01"]
    assert not greedy.interrupted
    assert greedy.missing == ()


def test_the_watcher_sees_time_run_from_0_forwards(configs: dict[str, Config]) -> None:
    watcher = Recorder()
    play_suite(make_plans(["greedy"], ["default"], [1]), configs, watcher)
    assert watcher.fractions[0] == 0
    assert watcher.fractions == sorted(watcher.fractions)
    assert 0.9 < watcher.fractions[-1] <= 1
    assert watcher.ended == 1


def test_an_interrupt_keeps_what_is_done_and_names_what_is_not(configs: dict[str, Config]) -> None:
    plans = make_plans(["greedy"], ["default"], [3, 4, 5])
    suite = play_suite(plans, configs, Recorder(interrupt_at=2))
    assert suite.interrupted
    assert [episode.plan for episode in suite.episodes] == [plans[0]]
    assert suite.missing == plans[1:]


class Leaver:
    """Plays its first episode and stops in the second one."""

    def __init__(self) -> None:
        self.episodes = 0

    def reset(self, seed: int) -> None:  # noqa: ARG002 -- it plays alike with any
        self.episodes += 1

    def act(self, observation: Observation) -> str:
        if self.episodes == 2 and observation["turn"] == 3:
            msg = "had enough"
            raise PolicyStoppedError(msg)
        return "sim resume"


@pytest.mark.parametrize("as_json", [False, True])
def test_a_policy_that_cannot_go_on_costs_no_finished_episode(
    as_json: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    name = f"{Leaver.__module__}:Leaver"
    arguments = ["run", "--policy", name, "idle", "--seeds", "1-3", "--max-turns", "5"]
    assert main([*arguments, *["--json"] * as_json]) == 1
    out, err = capsys.readouterr()
    assert err == (
        f"ycbench: stopped: {name}, default, seed 2: had enough\n"
        f"  not run: {name}, default: seed 2-3\n  not run: idle, default: seed 1-3\n"
    )
    if as_json:
        document = json.loads(out)
        assert document["stopped"] == {"policy": name, "preset": "default", "seed": 2, "reason": "had enough"}
        assert [each["seed"] for each in document["episodes"]] == [1]
    else:
        assert out.splitlines()[-1] == "1 of 6 episodes run"


def test_a_turn_limit_cuts_an_episode_off(configs: dict[str, Config]) -> None:
    suite = play_suite(make_plans(["greedy"], ["default"], [1]), configs, Recorder(), Rules(max_turns=4))
    assert suite.episodes[0].turns == 4
    assert suite.episodes[0].outcome == "truncated"


def test_each_trajectory_is_handed_over(configs: dict[str, Config]) -> None:
    kept: list[tuple[Plan, Trajectory]] = []

    def keep(plan: Plan, trajectory: Trajectory) -> None:
        kept.append((plan, trajectory))

    plans = make_plans(["greedy"], ["default"], [1, 2])
    play_suite(plans, configs, Recorder(), Rules(max_turns=2), keep)
    assert [(plan, trajectory.seed, trajectory.turns) for plan, trajectory in kept] == [
        (plans[0], 1, 2),
        (plans[1], 2, 2),
    ]


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [("gredy", {}, "did you mean 'greedy'"), ("greedy", {"depth": 2}, "got parameter depth")],
)
def test_a_policy_that_cannot_be_made_is_refused_before_anything_is_played(
    name: str, parameters: dict[str, object], message: str, configs: dict[str, Config]
) -> None:
    watcher = Recorder()
    with pytest.raises(UsageError, match=message):
        play_suite(make_plans(["random", name], ["default"], [1]), configs, watcher, Rules(parameters))
    assert watcher.begun == []


def _episode(plan: Plan, cents: int) -> Episode:
    return Episode(plan, cents, 1, 2, 3, "survived", "2026-01-01T09:00:00", 7)


def test_figures_are_counted_by_policy_and_configuration() -> None:
    plans = make_plans(["a", "b"], ["x"], [1, 2])
    suite = Suite(plans, (_episode(plans[0], 100), _episode(plans[1], 201), _episode(plans[2], -50)), interrupted=True)
    first, second = groups(suite)
    assert (first.planned, first.run, first.mean_cents, first.deviation_cents) == (2, 2, 150, 71)
    assert (second.planned, second.run, second.mean_cents, second.deviation_cents) == (2, 1, -50, None)
    assert group_line(first) == "a, x: 2 of 2 run, mean final funds $1.50, sd $0.71"
    assert group_line(second) == "b, x: 1 of 2 run, mean final funds -$0.50"


def test_a_group_of_which_nothing_was_run_has_no_mean() -> None:
    (group,) = groups(Suite((Plan("a", "x", 1),), (), interrupted=True))
    assert group.mean_cents is None
    assert group_line(group) == "a, x: 0 of 1 run"


def test_missing_seeds_are_named_as_seeds_takes_them() -> None:
    plans = make_plans(["a"], ["x"], [1, 2, 3, 7, 9, 10])
    assert missing_lines(plans) == ["not run: a, x: seed 1-3 7 9-10"]


def test_names_with_markup_and_control_characters_are_printed_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    plans = (Plan("[red]greedy[/red]", ":smile: [/] \x1b[31m\n", 1),)
    print_table(Suite(plans, (_episode(plans[0], 100),), interrupted=False))
    printed = capsys.readouterr().out
    assert "[red]greedy[/red] :smile: [/] \\x1b[31m\\n" in printed
    assert "\x1b" not in printed


def test_a_table_for_a_pipe_has_no_blanks_at_line_ends_and_no_folded_cells(capsys: pytest.CaptureFixture[str]) -> None:
    plans = (Plan("greedy", "x" * 200, 1),)
    print_table(Suite(plans, (_episode(plans[0], 100),), interrupted=False))
    lines = capsys.readouterr().out.splitlines()
    assert all(line == line.rstrip() for line in lines)
    assert sum("x" * 200 in line for line in lines) == 2


def test_json_is_strict_and_complete(greedy: Suite, configs: dict[str, Config]) -> None:
    def refuse(constant: str) -> None:
        pytest.fail(f"{constant} is no JSON")

    overrides = (Override("world.num_employees", 9, "--set"), Override("sim.company_name", "é", "YCBENCH_X"))
    text = suite_json(greedy, configs, Rules({"depth": 2}, 5, overrides))
    document = json.loads(text, parse_constant=refuse)
    assert text.isascii()
    assert list(document) == [
        "version",
        "planned",
        "run",
        "interrupted",
        "stopped",
        "parameters",
        "max_turns",
        "overrides",
        "configurations",
        "episodes",
        "missing",
        "groups",
    ]
    assert document["parameters"] == {"depth": 2}
    assert document["max_turns"] == 5
    assert document["overrides"] == [
        {"key": "world.num_employees", "value": 9, "origin": "--set"},
        {"key": "sim.company_name", "value": "é", "origin": "YCBENCH_X"},
    ]
    assert document["configurations"] == {"default": {"digest": configs["default"].digest()}}
    assert document["episodes"][2] == {
        "policy": "greedy",
        "preset": "default",
        "seed": 3,
        "final_funds_cents": -1_630_305,
        "tasks_completed": 10,
        "tasks_failed": 9,
        "tasks_cancelled": 0,
        "outcome": "bankrupt",
        "ended_at": "2025-09-01T09:00:00",
        "turns": 28,
    }
    assert document["groups"][0]["mean_final_funds_cents"] == 22_509_640
