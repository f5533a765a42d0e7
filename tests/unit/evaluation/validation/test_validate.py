"""Validation: an evaluation as it was played is valid; whatever is changed afterwards breaks a rule that names it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import attrs
import pytest

from ycbench_agents.evaluation.evaluation_file import EvaluationFile
from ycbench_agents.evaluation.validation import (
    Limits,
    Replay,
    Rules,
    SuiteRule,
    record_digest,
    validate,
)
from ycbench_agents.records import RecordError, read_run, same_run

if TYPE_CHECKING:
    from conftest import Bench, Judge

    from ycbench_agents.evaluation.episode import EpisodeKey
    from ycbench_env import Observation

SALT = "0123456789abcdef"
SECRET = 2**62 + 12345


class Babbler:
    """Says something grammatical, and something that is not."""

    def reset(self, seed: int) -> None:
        pass

    def act(self, observation: Observation) -> str:
        del observation
        return "company status; please work harder; sim resume"


def set_to(*path: str | int, to: object) -> Callable[[Any], None]:
    """A change of one value."""

    def change(value: Any) -> None:  # noqa: ANN401 -- whatever JSON has
        for step in path[:-1]:
            value = value[step]
        value[path[-1]] = to

    return change


class Counting:
    """Counts what it is told."""

    def __init__(self) -> None:
        self.plays = 0
        self.played: list[str] = []

    def begin(self, plays: int) -> None:
        """Remember how many there are to be."""
        self.plays = plays

    def play(self, key: EpisodeKey) -> None:
        """Remember which it is."""
        self.played.append(str(key))


@pytest.mark.parametrize(("runs", "plays"), [(None, 8), (1, 2), (0, 0)])
def test_whoever_waits_is_told_of_each_run_that_is_played_again(judge: Judge, runs: int | None, plays: int) -> None:
    watcher = Counting()
    validate(judge.folder, attrs.evolve(judge.rules, replay=Replay(runs)), watcher)
    assert watcher.plays == len(watcher.played) == plays
    assert all(watcher.played.count(key) == 2 for key in watcher.played)


def test_what_was_played_is_valid_and_every_rule_is_told(judge: Judge) -> None:
    validation = judge.validate()
    assert validation.is_valid
    assert {check.rule: check.status for check in validation.checks} == {
        **dict.fromkeys(("suite", "seeds", "presets", "version", "episodes", "runs", "copies", "outcomes"), "passed"),
        **dict.fromkeys(("results", "replay", "measures"), "passed"),
        **dict.fromkeys(("checkout", "invalid_commands", "telemetry", "held_out", "provenance"), "not applicable"),
    }
    [check] = [check for check in validation.checks if check.rule == "replay"]
    assert check.got == "4 runs played again"
    assert json.dumps(validation.to_dict(), allow_nan=False)


def tamper_amount(judge: Judge) -> None:
    judge.edit_turn("greedy", 1, 4, set_to("funds_delta_cents", to=500_000))


def tamper_reward(judge: Judge) -> None:
    judge.edit_turn("greedy", 2, 6, set_to("reward", to=99.5))


def tamper_last_funds(judge: Judge) -> None:
    judge.edit_turn("idle", 1, 6, set_to("funds_cents", to=10**9))


def tamper_answer(judge: Judge) -> None:
    judge.edit_turn("greedy", 1, 2, set_to("results", 0, "ok", to=False))


def tamper_line(judge: Judge) -> None:
    path = judge.run("greedy", 1) / "turns.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[1:]))


def lose_turns(judge: Judge) -> None:
    path = judge.run("greedy", 1) / "turns.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))


def tamper_outcome(judge: Judge) -> None:
    judge.edit(judge.run("idle", 1) / "run.json", set_to("outcome", "final_funds_cents", to=10**9))


def swap_folders(judge: Judge) -> None:
    first, second = judge.run("greedy", 1), judge.run("idle", 2)
    first.rename(judge.folder / "elsewhere")
    second.rename(first)
    (judge.folder / "elsewhere").rename(second)


def double_folder(judge: Judge) -> None:
    shutil.copytree(judge.run("greedy", 1), judge.run("greedy", 1).with_name("run-copy"))


def empty_folder(judge: Judge) -> None:
    (judge.run("idle", 1) / "run.json").unlink()


def damage_run(judge: Judge) -> None:
    (judge.run("idle", 1) / "run.json").write_text("{", "ascii")


def remove_run(judge: Judge) -> None:
    shutil.rmtree(judge.run("idle", 2))


def drop_seed(judge: Judge) -> None:
    judge.edit("suite.json", set_to("suite", "seeds", to=["1"]))
    suite = EvaluationFile.read(judge.bench.out).suite
    judge.edit("suite.json", set_to("digest", to=suite.digest()))


def add_seed(judge: Judge) -> None:
    judge.edit("suite.json", set_to("suite", "seeds", to=["1", "2", "3"]))


def repeat_more(judge: Judge) -> None:
    judge.edit("suite.json", set_to("suite", "repeats", to=2))


def other_version_of_a_run(judge: Judge) -> None:
    judge.edit(judge.run("idle", 1) / "run.json", set_to("identity", "version", to="0.0.1"))


def other_version_of_all(judge: Judge) -> None:
    judge.edit("suite.json", set_to("provenance", "version", to="0.0.1"))
    for path in judge.bench.out.runs.glob("*/run.json"):
        judge.edit(path, set_to("identity", "version", to="0.0.1"))


def edit_config_of_a_run(judge: Judge) -> None:
    judge.edit(judge.run("greedy", 1) / "run.json", set_to("identity", "config", "world", "num_employees", to=99))


def edit_config_of_the_suite(judge: Judge) -> None:
    judge.edit("suite.json", set_to("suite", "presets", 0, "config", "world", "num_employees", to=99))


def lose_players(judge: Judge) -> None:
    judge.edit("suite.json", set_to("players", to=[]))


def odd_seed(judge: Judge) -> None:
    judge.edit("suite.json", set_to("suite", "seeds", to=["1", "two"]))


def forge_results(judge: Judge) -> None:
    judge.edit("results.json", set_to("leaderboard", 0, "score_cents", to=10**12))


def remove_results(judge: Judge) -> None:
    (judge.folder / "results.json").unlink()


def forge_measures(judge: Judge) -> None:
    judge.edit(judge.run("greedy", 2) / "measures.json", set_to("tasks", "accepted", to=77))


def remove_measures(judge: Judge) -> None:
    (judge.run("greedy", 2) / "measures.json").unlink()


def claim_another_policy(judge: Judge) -> None:
    """Put the turns of one policy under the name of another."""
    worse, better = judge.run("idle", 1), judge.run("greedy", 1)
    shutil.copy(better / "turns.jsonl", worse / "turns.jsonl")
    outcome = json.loads((better / "run.json").read_bytes())["outcome"]
    judge.edit(worse / "run.json", set_to("outcome", to=outcome))
    shutil.copy(better / "measures.json", worse / "measures.json")


@pytest.mark.parametrize(
    ("tamper", "broken", "told"),
    [
        (tamper_amount, "outcomes replay", "greedy, default, seed 1: turns.jsonl: sum of funds_delta_cents"),
        (tamper_reward, "outcomes replay", "greedy, default, seed 2: turns.jsonl: sum of rewards in cents: got "),
        (tamper_last_funds, "outcomes replay measures", "idle, default, seed 1: turn 6: funds_cents: 1000000000 | "),
        (tamper_answer, "replay measures", "greedy, default, seed 1: turn 2: results[0].ok: false | true"),
        (tamper_line, "outcomes replay measures", "got turn 2, expected turn 1; lines are lost or doubled"),
        (lose_turns, "outcomes replay measures", "greedy, default, seed 1: turns.jsonl: turns: got 5, expected 6"),
        (tamper_outcome, "outcomes results replay", "idle, default, seed 1: run.json: final_funds_cents: got 10000"),
        (swap_folders, "episodes runs results", 'greedy, default, seed 1: run.json: policy: "idle" | "greedy"'),
        (double_folder, "runs", "run-copy: the folder belongs to no planned episode; remove it"),
        (empty_folder, "episodes runs results", "idle, default, seed 1: it holds no run"),
        (damage_run, "episodes runs results", "idle-default-seed1-"),
        (remove_run, "episodes results", "idle, default, seed 2: missing"),
        (drop_seed, "suite seeds runs results", "seed 2 is missing"),
        (add_seed, "suite seeds episodes results", "seed 3 is none of the suite"),
        (repeat_more, "suite seeds episodes results", "repeats: got 2, expected 1"),
        (other_version_of_a_run, "version episodes runs results", "idle, default, seed 1: got 0.0.1, expected "),
        (other_version_of_all, "version", "suite.json: got 0.0.1, expected "),
        (
            edit_config_of_a_run,
            "episodes runs results",
            "greedy, default, seed 1: run.json: config.world.num_employees",
        ),
        (edit_config_of_the_suite, "readable", "the digest of its configuration; the file was changed"),
        (lose_players, "readable", "players: got nothing, expected who plays each policy of the suite"),
        (odd_seed, "readable", 'seeds: got ["1","two"], expected a list of seeds as texts'),
        (forge_results, "results", "results.json: leaderboard[0].score_cents: 1000000000000 | "),
        (remove_results, "results", "results.json: cannot be read: No such file or directory"),
        (forge_measures, "measures", "greedy, default, seed 2: measures.json: tasks.accepted: 77 | "),
        (remove_measures, "measures", "greedy, default, seed 2: no measures of this version"),
        (claim_another_policy, "copies results replay", "idle, default, seed 1: turn 1: action: "),
    ],
)
def test_tampering_breaks_the_rules_that_see_it(
    judge: Judge, tamper: Callable[[Judge], None], broken: str, told: str
) -> None:
    tamper(judge)
    places = judge.broken()
    assert set(places) >= set(broken.split())
    assert told in "\n".join(line for where in places.values() for line in where)


def test_only_a_policy_that_is_asked_again_shows_turns_of_another(judge: Judge) -> None:
    claim_another_policy(judge)
    judge.rules = attrs.evolve(judge.rules, replay=Replay(policies=False))
    assert "replay" not in judge.broken()


def test_a_sample_of_the_records_is_played_again_and_the_seed_draws_it(judge: Judge) -> None:
    tamper_answer(judge)
    statuses = set()
    for seed in (1, 2, 3):
        judge.rules = attrs.evolve(judge.rules, replay=Replay(runs=1, seed=seed))
        statuses.add(judge.status("replay"))
    assert statuses == {"passed", "failed"}


def test_a_repetition_that_was_copied_is_found(bench: Bench, judge: Judge) -> None:
    bench.text = bench.text.replace("limits", "repeats = 2\nlimits")
    bench.play()
    judge.rules = attrs.evolve(judge.rules, suite=SuiteRule(bench.load().suite))
    assert judge.validate().is_valid
    first = judge.run("greedy", 1)
    for name in ("run.json", "turns.jsonl"):
        shutil.copy(first / name, first.with_name(f"{first.name}-repeat2") / name)
    assert judge.broken()["copies"] == (
        "greedy, default, seed 1; greedy, default, seed 1, repeat 2: their turns.jsonl is the same file",
    )


def test_other_policies_may_play_the_same_episodes_where_the_rules_let_them(bench: Bench, judge: Judge) -> None:
    bench.text = bench.text.replace('{ name = "idle" }', '{ name = "random" }')
    bench.play()
    shutil.rmtree(judge.run("idle", 1))
    shutil.rmtree(judge.run("idle", 2))
    assert set(judge.broken()) == {"suite"}
    suite = judge.rules.suite
    assert suite is not None
    judge.rules = attrs.evolve(judge.rules, suite=attrs.evolve(suite, policies="any"))
    assert judge.validate().is_valid
    judge.rules = attrs.evolve(judge.rules, suite=attrs.evolve(suite, policies="any", digest="0" * 64))
    assert "which the rules name" in judge.broken()["suite"][0]


def test_a_configuration_that_only_is_called_like_a_preset_is_found(bench: Bench) -> None:
    (bench.folder / "mine.toml").write_text('name = "default"\n[world]\nnum_employees = 3\n', "ascii")
    bench.text = bench.text.replace('"default"', '"mine.toml"').replace('{ name = "greedy" },', "")
    bench.play()
    rules = Rules("any suite", "")
    [check] = [check for check in validate(bench.out.path, rules).checks if check.is_failed]
    assert (check.rule, check.where[0][:24]) == ("presets", "default: got the digest ")
    (bench.folder / "mine.toml").write_text('name = "easy"\n', "ascii")
    bench.play()
    told = validate(bench.out.path, attrs.evolve(rules, runs="any"))
    assert [check.where[0][:21] for check in told.checks if check.is_failed] == ["easy: is no preset; e"]
    assert validate(bench.out.path, attrs.evolve(rules, runs="any", presets="any")).is_valid


def begun_at(judge: Judge, name: str, commit: str | None, *, dirty: bool = False) -> None:
    """Let the runs whose folders are called so have been begun at a commit."""
    state = None if commit is None else {"commit": commit, "dirty": dirty}
    for path in judge.bench.out.runs.glob(f"run-{name}-*/run.json"):
        judge.edit(path, set_to("origin", "git", to=state))


def got(judge: Judge, rule: str) -> str:
    [found] = [check.got for check in judge.validate().checks if check.rule == rule]
    return found


def test_a_checkout_with_changed_files_is_named(judge: Judge) -> None:
    judge.rules = attrs.evolve(judge.rules, checkout="clean", replay=Replay(runs=1))
    begun_at(judge, "*", None)
    assert (judge.status("checkout"), got(judge, "checkout")) == ("passed", "an installed package")
    begun_at(judge, "*", "0123456789abcdef")
    assert (judge.status("checkout"), got(judge, "checkout")) == ("passed", "commit 0123456789ab")
    judge.edit("suite.json", set_to("provenance", "origin", "git", to={"commit": "ffff", "dirty": True}))
    assert judge.validate().is_valid  # where the evaluation was begun says nothing of its runs
    begun_at(judge, "idle-default-seed2", "0123456789abcdef", dirty=True)
    assert judge.broken() == {"checkout": ("idle, default, seed 2: commit 0123456789ab, with changed files",)}


def test_runs_of_several_commits_are_told_and_come_from_no_clean_checkout(judge: Judge) -> None:
    judge.rules = attrs.evolve(judge.rules, replay=Replay(runs=1))
    begun_at(judge, "*", "a" * 40)
    assert got(judge, "version").endswith(", 1 commit")
    begun_at(judge, "idle-default-seed2", "b" * 40)
    assert (judge.status("version"), got(judge, "version").split(", ")[1]) == ("passed", "2 commits")
    provenance = judge.validate().provenance
    assert provenance is not None
    assert [(each["git"], each["runs"]) for each in cast("list[Any]", provenance["origins"])] == [
        ({"commit": "a" * 40, "dirty": False}, 3),
        ({"commit": "b" * 40, "dirty": False}, 1),
    ]
    judge.rules = attrs.evolve(judge.rules, checkout="clean")
    assert got(judge, "checkout") == "commit aaaaaaaaaaaa (3 runs); commit bbbbbbbbbbbb (1 run)"
    assert judge.broken() == {
        "checkout": (
            "commit aaaaaaaaaaaa: 3 runs, the first of them greedy, default, seed 1",
            "commit bbbbbbbbbbbb: 1 run, the first of them idle, default, seed 2",
        )
    }
    begun_at(judge, "idle-default-seed2", None)
    assert judge.broken()["checkout"][1].startswith("an installed package: 1 run")


def test_failed_and_missing_episodes_are_allowed_up_to_a_fraction(judge: Judge) -> None:
    remove_run(judge)
    judge.rules = attrs.evolve(judge.rules, limits=Limits(missing=0.25))
    assert "episodes" not in judge.broken()
    judge.rules = attrs.evolve(judge.rules, limits=Limits(missing=0.24))
    assert judge.broken()["episodes"] == ("idle, default, seed 2: missing",)


def test_commands_that_are_no_commands_are_counted_by_policy(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(bench.folder)
    bench.text = bench.text.replace('{ name = "greedy" }', f'{{ name = "{__name__}:Babbler", label = "babbler" }}')
    bench.play()
    rules = Rules("rules", "")
    [check] = [each for each in validate(bench.out.path, rules).checks if each.rule == "invalid_commands"]
    assert (check.status, check.got) == ("not applicable", "at most 33.33%, by babbler")
    rules = attrs.evolve(rules, limits=Limits(invalid_commands=0.3), replay=Replay(policies=True))
    failed = [each for each in validate(bench.out.path, rules).checks if each.is_failed]
    assert [(each.rule, each.where) for each in failed] == [
        ("invalid_commands", ("babbler: 12 of 36 commands (33.33%)",))  # and nobody runs the babbler's code again
    ]


def test_a_provenance_block_that_is_there_must_be_that_of_the_records(judge: Judge) -> None:
    provenance = judge.validate().provenance
    assert provenance is not None
    assert str(provenance["records"]).count("digest") == 4
    path = judge.folder / "provenance.json"
    path.write_text(json.dumps(provenance), "ascii")
    assert judge.status("provenance") == "passed"
    judge.rules = attrs.evolve(judge.rules, name="looser", replay=Replay(runs=1))
    assert judge.status("provenance") == "passed"  # other rules are no other evaluation
    judge.edit("suite.json", set_to("provenance", "origin", "git", to={"commit": "ffff", "dirty": True}))
    assert judge.status("provenance") == "passed"  # nor is another place in suite.json
    judge.edit("provenance.json", set_to("records", 2, "digest", to="0" * 64))
    assert judge.broken()["provenance"][0].startswith('provenance.json: records[2].digest: "000')
    judge.edit("provenance.json", set_to("format", to=1))
    assert judge.broken()["provenance"] == (
        "provenance.json: got the format 1, expected 2; remove the file and validate again",
    )
    path.write_text("{", "ascii")
    assert judge.broken()["provenance"][0].startswith("cannot be read: provenance.json: got no JSON")


def test_equal_runs_have_equal_digests_whatever_the_clock_said(judge: Judge) -> None:
    first = read_run(judge.run("greedy", 1))
    digest = record_digest(first)
    judge.edit_turn("greedy", 1, 3, set_to("time", to="2031-01-01T00:00:00+00:00"))
    judge.edit(first.folder / "run.json", set_to("origin", "python", to="3.99"))
    again = read_run(first.folder)
    assert (record_digest(again), same_run(first, again)) == (digest, [])
    judge.edit_turn("greedy", 1, 3, set_to("funds_cents", to=1))
    assert record_digest(again) != digest


def held_out(bench: Bench, seed: int) -> Rules:
    bench.text = bench.text.replace(
        "seeds = [1, 2]", f'seeds = {{ variable = "YCBENCH_HELDOUT_SEEDS", salt = "{SALT}" }}'
    )
    bench.play(YCBENCH_HELDOUT_SEEDS=str(seed))
    return Rules("heldout", "", SuiteRule(bench.load(YCBENCH_HELDOUT_SEEDS=str(seed)).suite))


def test_of_a_held_out_evaluation_nothing_that_is_told_names_a_seed_or_tells_of_a_world(
    bench: Bench, judge: Judge
) -> None:
    shutil.rmtree(bench.out.path)
    rules = held_out(bench, SECRET)
    valid = validate(bench.out.path, rules)
    assert valid.is_valid
    judge.edit_turn("greedy", SECRET, 2, set_to("results", 0, "ok", to=False))
    double_folder_of(judge)
    broken = validate(bench.out.path, rules)
    assert {check.rule for check in broken.checks if check.is_failed} == {"runs", "replay", "measures"}
    told = json.dumps([valid.to_dict(), broken.to_dict()])
    assert str(SECRET) not in told
    assert "results[0]" not in told
    (judge.run("idle", SECRET) / "run.json").write_text("{", "ascii")
    damaged = validate(bench.out.path, rules)
    assert {"episodes", "runs"} <= {check.rule for check in damaged.checks if check.is_failed}
    assert str(SECRET) not in json.dumps(damaged.to_dict())


def double_folder_of(judge: Judge) -> None:
    source = judge.run("greedy", SECRET)
    shutil.copytree(source, source.with_name(f"{source.name}-copy"))


def test_a_file_that_names_a_secret_seed_or_a_seed_that_can_be_guessed_is_found(bench: Bench) -> None:
    rules = held_out(bench, 777)
    places = {check.rule: check.where for check in validate(bench.out.path, rules).checks if check.is_failed}
    assert places == {
        "held_out": ("1 seeds are below 2^40, so that their hashes can be found by trying; draw larger ones",)
    }
    (bench.out.path / "report.md").write_text("| greedy | seed 777 |", "ascii")
    (bench.out.path / "notes.txt").write_text("$77777", "ascii")
    places = {check.rule: check.where for check in validate(bench.out.path, rules).checks if check.is_failed}
    assert places["held_out"][0] == "report.md: names a secret seed"
    assert len(places["held_out"]) == 2


def test_a_folder_without_an_evaluation_is_refused(bench: Bench) -> None:
    with pytest.raises(RecordError, match=r"there is no suite\.json; expected the folder that ycbench evaluate wrote"):
        validate(bench.folder, Rules("rules", ""))
