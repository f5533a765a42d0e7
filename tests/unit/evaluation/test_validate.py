"""Validation: an evaluation as it was played is valid; whatever is changed afterwards is found and named."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from ycbench_agents.evaluation.evaluate import play_suite
from ycbench_agents.evaluation.report import write_report
from ycbench_agents.evaluation.suite import Suite, SuiteError, suite_of
from ycbench_agents.evaluation.validate import (
    PROVENANCE_FILE,
    Limits,
    Rules,
    SuiteRule,
    Telemetry,
    Validation,
    load_rules,
    record_digest,
    validate,
)
from ycbench_agents.files import FileError
from ycbench_agents.llm.loopback import LoopbackServer, greedy_model
from ycbench_agents.runs import RunError, read_run, same_run

SECRET = 2**62 + 12345
MIXTURE = {"policy": "greedy", "other": "random", "epsilon": 0.3}
SUITE: dict[str, Any] = {
    "name": "bench",
    "presets": ["default"],
    "seeds": [1, 2],
    "limits": {"max_turns": 6},
    "policies": [{"name": "greedy"}, {"name": "idle"}, {"name": "mixture", "parameters": MIXTURE}],
}
MODEL = {"name": "llm", "model": "scripted", "prices": ["prices.toml"]}
PRICES = "[models.scripted]\nprompt = 3\ncompletion = 15\nas_of = 2026-01-01\n"
OWN = """
class Babbler:
    def reset(self, seed):
        pass
    def act(self, observation):
        return "company status; please work harder; sim resume"
"""


@attrs.define
class Bench:
    """An evaluation that was played, and rules for it."""

    folder: Path
    suite: Suite
    rules: Rules

    def run(self, policy: str, seed: int | str = 1) -> Path:
        [path] = self.folder.glob(f"run-{policy}-*seed{seed}-" + 20 * "[0-9a-f]")
        return path

    def validate(self, **options: Any) -> Validation:  # noqa: ANN401 -- options of validate
        return validate(self.folder, self.rules, **options)

    def invalid(self) -> dict[str, str]:
        """The lines of each check that is invalid."""
        return {check.rule: "\n".join(check.where) for check in self.validate().checks if check.outcome == "invalid"}

    def edit(self, path: Path, *where: str | int, to: object) -> None:
        """Change one value in a file of JSON."""
        values = json.loads(path.read_bytes())
        set_in(values, where, to)
        path.write_text(json.dumps(values), "ascii")

    def edit_turn(self, run: Path, turn: int, *where: str | int, to: object) -> None:
        path = run / "turns.jsonl"
        lines = path.read_text("ascii").splitlines()
        values = json.loads(lines[turn - 1])
        set_in(values, where, to)
        lines[turn - 1] = json.dumps(values)
        path.write_text("".join(f"{line}\n" for line in lines), "ascii")


def set_in(values: Any, where: tuple[str | int, ...], to: object) -> None:  # noqa: ANN401 -- whatever JSON has
    for step in where[:-1]:
        values = values[step]
    values[where[-1]] = to


def played(folder: Path, **changes: object) -> tuple[Path, Suite]:
    (folder / "prices.toml").write_text(PRICES, "ascii")
    suite = suite_of({**SUITE, **changes}, folder)
    with LoopbackServer(greedy_model) as server:
        play_suite(suite, folder / "out", base_url=server.base_url)
    return folder / "out", suite


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Suite]]:
    """Evaluations that are played once, for tests to have copies of."""
    return {
        "scripted": played(tmp_path_factory.mktemp("scripted")),
        "model": played(tmp_path_factory.mktemp("model"), policies=[MODEL], seeds=[1]),
    }


def copy_of(once: dict[str, tuple[Path, Suite]], kind: str, folder: Path) -> Bench:
    shutil.copytree(once[kind][0], folder / "out")
    return Bench(folder / "out", once[kind][1], Rules("strict", suite=SuiteRule(once[kind][1])))


@pytest.fixture
def bench(once: dict[str, tuple[Path, Suite]], tmp_path: Path) -> Bench:
    return copy_of(once, "scripted", tmp_path)


@pytest.fixture
def model(once: dict[str, tuple[Path, Suite]], tmp_path: Path) -> Bench:
    return copy_of(once, "model", tmp_path)


# ---------------------------------------------------------------- scripted policies


def test_an_untouched_evaluation_is_valid_and_every_run_is_played_again_once(bench: Bench) -> None:
    seen: list[Any] = []
    validation = bench.validate(progress=lambda runs: (seen.append(run) or run for run in runs))
    assert validation.outcome == "valid"
    counts = {check.rule: (check.checked, check.unchecked) for check in validation.checks}
    assert counts == {
        **dict.fromkeys(("version", "episodes", "runs", "copies", "records", "policies", "metrics"), (6, 0)),
        "suite": (1, 0),
        "seeds": (2, 0),
        "presets": (1, 0),
        "results": (1, 0),
    }
    assert len({found.key for found in seen}) == 6
    assert json.dumps(validation.to_dict(), allow_nan=False)


def swap_folders(bench: Bench) -> None:
    first, second = bench.run("greedy"), bench.run("idle", 2)
    first.rename(bench.folder / "elsewhere")
    second.rename(first)
    (bench.folder / "elsewhere").rename(second)


def lose_a_line(bench: Bench) -> None:
    path = bench.run("greedy") / "turns.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))


def link_a_run(bench: Bench) -> None:
    path = bench.run("idle")
    path.rename(bench.folder.parent / "elsewhere")
    path.symlink_to(bench.folder.parent / "elsewhere")


def take_the_turns_of_another(bench: Bench, of: str = "greedy", under: str = "idle") -> None:
    """Put the turns, outcome and metrics of one policy under the name of another."""
    other, own = bench.run(of), bench.run(under)
    for name in ("turns.jsonl", "metrics.json"):
        shutil.copy(other / name, own / name)
    bench.edit(own / "run.json", "outcome", to=json.loads((other / "run.json").read_bytes())["outcome"])


def change_every_version(bench: Bench) -> None:
    bench.edit(bench.folder / "suite.json", "version", to="0.0.1")
    for path in bench.folder.glob("run-*/run.json"):
        bench.edit(path, "identity", "version", to="0.0.1")


CONFIG = ("suite", "presets", 0, "config", "world", "num_employees")
TAMPER: dict[str, tuple[Callable[[Bench], object], str, str]] = {
    "amount": (
        lambda b: b.edit_turn(b.run("greedy"), 4, "funds_delta_cents", to=500_000),
        "records",
        "greedy, default, seed 1: turn 4: ",
    ),
    "reward": (lambda b: b.edit_turn(b.run("greedy", 2), 6, "reward", to=99.5), "records", "turn 6: reward in cents: "),
    "last funds": (lambda b: b.edit_turn(b.run("idle"), 6, "funds_cents", to=10**9), "records", "turn 6: funds_cents"),
    "answer": (
        lambda b: b.edit_turn(b.run("greedy"), 2, "results", 0, "ok", to=False),
        "records",
        "turn 2: results[0].ok: false | true (recorded | now)",
    ),
    "lost turn": (lose_a_line, "records", "run.json: outcome.turns: 6 | 5"),
    "outcome": (
        lambda b: b.edit(b.run("idle") / "run.json", "outcome", "final_funds_cents", to=10**9),
        "records results",
        "outcome.final_funds_cents: 1000000000 | ",
    ),
    "swapped": (swap_folders, "episodes runs results", 'greedy, default, seed 1: run.json: policy: "idle" | "greedy"'),
    "doubled": (
        lambda b: shutil.copytree(b.run("greedy"), b.folder / "run-copy"),
        "runs",
        "run-copy: the folder belongs to no planned episode; remove it",
    ),
    "link": (link_a_run, "episodes runs results", "idle, default, seed 1: there is no run in it"),
    "empty": (lambda b: (b.run("idle") / "run.json").unlink(), "episodes runs", "seed 1: there is no run in it"),
    "damaged": (lambda b: (b.run("idle") / "run.json").write_text("{"), "episodes runs", "not valid JSON"),
    "removed": (lambda b: shutil.rmtree(b.run("idle", 2)), "episodes results", "idle, default, seed 2: missing"),
    "seed": (
        lambda b: b.edit(b.folder / "suite.json", "suite", "seeds", to=["1", "2", "3"]),
        "suite seeds episodes results",
        "seed 3 is none of the suite",
    ),
    "repeats": (
        lambda b: b.edit(b.folder / "suite.json", "suite", "repeats", to=2),
        "suite seeds episodes results",
        "repeats: got 2, expected 1",
    ),
    "version": (
        lambda b: b.edit(b.run("idle") / "run.json", "identity", "version", to="0.0.1"),
        "version episodes runs",
        "idle, default, seed 1: got '0.0.1', expected ",
    ),
    "versions": (change_every_version, "version", "suite.json: got '0.0.1', expected "),
    "config of a run": (
        lambda b: b.edit(b.run("greedy") / "run.json", "identity", *CONFIG[3:], to=99),
        "episodes runs results",
        "run.json: config.world.num_employees: 99 | ",
    ),
    "config": (lambda b: b.edit(b.folder / "suite.json", *CONFIG, to=99), "readable", "digest: got "),
    "seeds": (
        lambda b: b.edit(b.folder / "suite.json", "suite", "seeds", to=["two"]),
        "readable",
        "got 'two', expected",
    ),
    "results": (
        lambda b: b.edit(b.folder / "results.json", "leaderboard", 0, "score_cents", to=10**12),
        "results",
        "results.json: leaderboard[0].score_cents: 1000000000000 | ",
    ),
    "no results": (lambda b: (b.folder / "results.json").unlink(), "results", "results.json: there is no such file"),
    "metrics": (
        lambda b: b.edit(b.run("greedy", 2) / "metrics.json", "metrics", "tasks_accepted", to=77),
        "metrics",
        "greedy, default, seed 2: metrics.json: tasks_accepted: 77 | ",
    ),
    "time": (
        lambda b: b.edit(b.run("idle") / "metrics.json", "metrics", "wall_s", to=0.5),
        "metrics",
        "idle, default, seed 1: metrics.json: wall_s: 0.5 | ",
    ),
    "no metrics": (
        lambda b: (b.run("greedy", 2) / "metrics.json").unlink(),
        "metrics",
        "no metrics.json of this version",
    ),
    "policy": (take_the_turns_of_another, "copies results policies", "idle, default, seed 1: turn 1: action: "),
    "mixture": (
        lambda b: take_the_turns_of_another(b, "greedy", "mixture"),
        "copies results policies",
        "mixture, default, seed 1: turn 1: trace: one of the recorded and the present policy deliberates",
    ),
    "mixture turn": (
        lambda b: b.edit_turn(b.run("mixture"), 6, "action", to="company status"),
        "policies",
        'mixture, default, seed 1: turn 6: action: "company status" | ',
    ),
}


@pytest.mark.parametrize("what", TAMPER)
def test_tampering_makes_the_checks_invalid_that_see_it(bench: Bench, what: str) -> None:
    tamper, rules, line = TAMPER[what]
    tamper(bench)
    validation = bench.validate()
    invalid = {check.rule: check.where for check in validation.checks if check.outcome == "invalid"}
    assert set(invalid) >= set(rules.split())
    assert line in "\n".join(line for where in invalid.values() for line in where)
    assert (validation.outcome, validation.to_dict()["provenance"]) == ("invalid", None)


@pytest.mark.parametrize(
    "name", ["suite.json", "results.json", "failures.json", "run.json", "turns.jsonl", "metrics.json"]
)
@pytest.mark.parametrize("kind", ["pipe", "link"])
def test_a_file_that_is_no_regular_one_is_never_opened(bench: Bench, name: str, kind: str) -> None:
    folder = bench.run("idle") if name in {"run.json", "turns.jsonl", "metrics.json"} else bench.folder
    path = folder / name
    if path.exists():
        path.rename(bench.folder.parent / name)
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(bench.folder.parent / name)
    assert bench.validate().outcome == "invalid"


def test_a_class_of_elsewhere_is_asked_again_only_if_it_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "babbling_policies.py").write_text(OWN, "ascii")
    monkeypatch.syspath_prepend(tmp_path)
    babbler = {"name": "babbling_policies:Babbler", "label": "babbler"}
    folder, _ = played(tmp_path, policies=[babbler], seeds=[1])
    rules = Rules("any", limits=Limits(invalid_commands=0.2))
    validation = validate(folder, rules)
    outcomes = {check.rule: check for check in validation.checks}
    assert (outcomes["policies"].checked, outcomes["policies"].unchecked) == (0, 1)
    assert "babbling_policies:Babbler is code from elsewhere; --trust-policies runs it" in outcomes["policies"].where[0]
    assert outcomes["invalid_commands"].where == ("babbler: 6 of 18 commands (33.33%)",)
    trusted = {check.rule: check for check in validate(folder, rules, trust_policies=True).checks}
    assert trusted["policies"].outcome == "valid"
    del sys.modules["babbling_policies"]


def test_other_policies_may_play_the_same_episodes_where_the_rules_allow_it(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    bench.folder, _ = played(tmp_path / "other", policies=[{"name": "random"}])
    assert set(bench.invalid()) == {"suite"}
    bench.rules = Rules("any policies", suite=SuiteRule(bench.suite, "any"))
    assert bench.validate().outcome == "valid"
    bench.rules = Rules("pinned", suite=SuiteRule(bench.suite, "any", "0" * 64))
    assert "which the rules name" in bench.invalid()["suite"]


def test_a_configuration_that_is_only_called_like_a_preset_is_found(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('name = "default"\n[world]\nnum_employees = 3\n', "ascii")
    folder, _ = played(tmp_path, presets=["mine.toml"], policies=[{"name": "idle"}], seeds=[1])
    checks = {check.rule: check.outcome for check in validate(folder, Rules("named")).checks}
    assert checks["presets"] == "invalid"
    assert validate(folder, Rules("any", presets="any")).outcome == "valid"


def test_runs_of_changed_files_or_of_several_commits_are_no_clean_checkout(bench: Bench) -> None:
    bench.rules = attrs.evolve(bench.rules, checkout="clean")
    for number, path in enumerate(sorted(bench.folder.glob("run-*/run.json"))):
        bench.edit(path, "origin", "git", to={"commit": f"{number // 3}" * 40, "dirty": number == 0})
    lines = bench.invalid()["checkout"]
    assert "begun with changed files" in lines
    assert "commit '000000000000' (3 runs); commit '111111111111' (3 runs)" in lines


def test_failed_and_missing_episodes_count_against_their_limits(bench: Bench) -> None:
    shutil.rmtree(bench.run("idle"))
    bench.rules = Rules("lenient", limits=Limits(missing=0.2))
    assert set(bench.invalid()) == {"results"}
    failures = [{"policy": "idle", "preset": "default", "seed": "2", "repeat": 1, "error": "E", "text": "\u202ewhy"}]
    (bench.folder / "failures.json").write_text(json.dumps({"format": 2, "failures": failures}), "ascii")
    assert "idle, default, seed 2: failed: E: \\u202ewhy" in bench.invalid()["episodes"]


# ---------------------------------------------------------------- reports


@pytest.fixture(scope="session")
def reported(once: dict[str, tuple[Path, Suite]]) -> dict[str, tuple[Path, Suite]]:
    """The same evaluation with its report, which takes seconds to draw."""
    folder, suite = once["scripted"]
    shutil.copytree(folder, folder.parent / "reported")
    write_report(folder.parent / "reported", baseline="idle", published=True)
    return {"reported": (folder.parent / "reported", suite)}


@pytest.mark.parametrize(
    ("names", "old", "new", "outcome"),
    [
        ((), b"", b"", "valid"),
        (("report.html", "report.md"), b"6 finished", b"9 finished", "invalid"),
        (("report.html", "figures/default-funds-by-month.svg"), b"PD94", b"PDxx", "not checked"),
    ],
)
def test_a_report_is_rendered_again_and_compared(  # noqa: PLR0913 -- the fixtures
    reported: dict[str, tuple[Path, Suite]],
    tmp_path: Path,
    names: tuple[str, ...],
    old: bytes,
    new: bytes,
    outcome: str,
) -> None:
    bench = copy_of(reported, "reported", tmp_path)
    for name in names:
        path = bench.folder / name
        changed = path.read_bytes().replace(old, new, 1) if name.endswith(("html", "md")) else b"<svg/>"
        assert changed != path.read_bytes()
        path.write_bytes(changed)
    [check] = [check for check in bench.validate().checks if check.rule == "report"]
    assert check.outcome == outcome
    assert sorted(line.partition(":")[0] for line in check.where) == sorted(names)


def test_a_report_that_is_a_link_is_invalid(bench: Bench) -> None:
    (bench.folder / "report.md").symlink_to("/etc/hostname")
    assert "is a symbolic link" in bench.invalid()["report"]


# ---------------------------------------------------------------- language models


def test_replies_are_recalled_and_are_never_called_valid(model: Bench) -> None:
    model.rules = attrs.evolve(model.rules, telemetry=Telemetry(tokens=True, cost=True))
    validation = model.validate()
    counts = {check.rule: (check.outcome, check.checked, check.unchecked) for check in validation.checks}
    assert counts["replies"] == ("valid", 6, 0)
    assert counts["models"] == ("not checked", 0, 6)
    assert counts["telemetry"] == ("valid", 1, 0)
    assert "policies" not in counts
    assert validation.outcome == "not checked"


@pytest.mark.parametrize(
    ("where", "to", "rule", "line"),
    [
        (("trace", "cost_usd"), 0.0, "replies", "turn 2: trace.cost_usd: 0.0 | "),
        (("trace", "prompt_tokens"), 1, "replies", "turn 2: trace.prompt_tokens: 1 | "),
        (("trace", "reply", "usage", "prompt"), 1, "replies", "turn 2: trace.prompt_tokens: "),
        (("trace", "messages_sha256"), "0" * 64, "replies", "turn 2: trace: trace of turn 2: recorded for messages"),
        (("trace", "reply", "model"), "another", "replies", "its replies name several models: 'scripted' (5 turns), "),
        (("trace", "unusable_replies"), 1, "replies", "turn 2: trace.unusable_replies: 1 | 0"),
        (("action",), ["company status"], "replies", "turn 2: action"),
        (("trace",), None, "replies", "one of the recorded and the present policy deliberates"),
    ],
)
def test_what_follows_from_a_reply_is_computed_again(
    model: Bench, where: tuple[str, ...], to: object, rule: str, line: str
) -> None:
    model.edit_turn(model.run("llm"), 2, *where, to=to)
    assert line in model.invalid()[rule]


def test_another_price_gives_other_costs(model: Bench) -> None:
    for path in (model.folder / "suite.json", model.run("llm") / "run.json"):
        place = ("players", 0, "settings") if path.name == "suite.json" else ("identity", "settings")
        model.edit(path, *place, "price", "prompt", to=1.0)
    assert model.invalid()  # the folder's name, or the costs


# ---------------------------------------------------------------- held-out suites and provenance


@pytest.fixture
def secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setenv("YCBENCH_HELDOUT_SEEDS", str(SECRET))
    folder, suite = played(tmp_path, seeds={"variable": "YCBENCH_HELDOUT_SEEDS"}, policies=[{"name": "greedy"}])
    return Bench(folder, suite, Rules("held-out", suite=SuiteRule(suite)))


def test_a_held_out_evaluation_is_valid_where_no_published_file_names_a_seed(secret: Bench) -> None:
    validation = secret.validate()
    assert validation.outcome == "valid"
    assert str(SECRET) not in json.dumps(validation.to_dict())
    (secret.folder / "report.md").write_text(f"seed {SECRET}", "ascii")
    assert "report.md: names a secret seed" in secret.invalid()["held_out"]


def test_nothing_of_a_held_out_world_is_shown(secret: Bench) -> None:
    secret.edit_turn(secret.run("greedy", "h1"), 2, "results", 0, "ok", to=False)
    assert secret.invalid()["records"].splitlines()[0] == (
        "greedy, default, seed h1: details are shown for public seeds only"
    )
    (secret.run("greedy", "h1") / "run.json").write_text("{", "ascii")
    assert str(SECRET) not in json.dumps(secret.validate().to_dict())


def test_secret_seeds_that_can_be_guessed_or_are_others_are_invalid(tmp_path: Path) -> None:
    values = {**SUITE, "seeds": {"variable": "YCBENCH_HELDOUT_SEEDS"}, "policies": [{"name": "idle"}]}
    small = suite_of(values, tmp_path, environ={"YCBENCH_HELDOUT_SEEDS": "1234567"})
    play_suite(small, tmp_path / "out")
    large = suite_of(values, tmp_path, environ={"YCBENCH_HELDOUT_SEEDS": str(SECRET)})
    checks = {
        check.rule: check.where for check in validate(tmp_path / "out", Rules("r", suite=SuiteRule(large))).checks
    }
    assert checks["seeds"] == ("seeds.json: the seeds are not those of the rules",)
    assert checks["held_out"] == ("1 seeds are below 2^40, so that playing finds them; draw larger ones",)


def test_provenance_is_that_of_the_records(bench: Bench) -> None:
    provenance = bench.validate().provenance
    assert provenance is not None
    records: Any = provenance["records"]
    assert records[0]["digest"] == record_digest(read_run(bench.run("greedy")))
    path = bench.folder / PROVENANCE_FILE
    path.write_text(json.dumps(provenance), "ascii")
    assert bench.validate().outcome == "valid"
    bench.edit(path, "records", 0, "digest", to="0" * 64)
    assert "provenance.json: records[0].digest: " in bench.invalid()["provenance"]
    path.write_text('{"format": 2}', "ascii")
    assert "got format 2, expected 3; remove it, so that it is made anew" in bench.invalid()["provenance"]
    path.write_text("[]", "ascii")
    assert "provenance.json: expected an object" in bench.invalid()["provenance"]


def test_records_have_equal_digests_where_they_are_the_same_run(bench: Bench, tmp_path: Path) -> None:
    first = bench.run("greedy")
    shutil.copytree(first, tmp_path / "copy")
    bench.edit_turn(tmp_path / "copy", 1, "time", to="later")
    one, other = read_run(first), read_run(tmp_path / "copy")
    assert (record_digest(one) == record_digest(other), same_run(one, other)) == (True, [])
    bench.edit_turn(tmp_path / "copy", 1, "invalid_commands", to=9)
    assert record_digest(one) != record_digest(other)


def test_a_folder_without_an_evaluation_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"there is no suite\.json; expected the folder that ycbench evaluate wrote"):
        validate(tmp_path, Rules("any"))


# ---------------------------------------------------------------- files of rules


def rules_of(folder: Path, text: str) -> Rules:
    path = folder / "rules.toml"
    path.write_text(f'name = "mine"\n{text}', "ascii")
    return load_rules(path, {})


def test_rules_have_defaults_and_any_part_can_be_given(tmp_path: Path) -> None:
    assert rules_of(tmp_path, "") == Rules("mine")
    text = """
    version = "one"
    runs = "any"
    checkout = "clean"
    presets = "any"
    limits = { failed = 0.1, invalid_commands = 0.5 }
    telemetry = { tokens = true }
    """
    expected = Rules("mine", "no description", "one", "any", "any", "clean")
    expected = attrs.evolve(expected, telemetry=Telemetry(tokens=True))
    assert rules_of(tmp_path, text) == attrs.evolve(expected, limits=Limits(0.1, 0.0, 0.5))
    assert rules_of(tmp_path, text).digest() != Rules("mine").digest() == Rules("other").digest()


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("x = [", "not valid TOML"),
        ('version = "two"', "version"),
        ("colour = 1", "colour"),
        ("telemetry = { tokens = 1 }", "tokens"),
        ("limits = { failed = 2 }", "'failed' must be <= 1: 2.0 at limits"),
        ('suite = { file = "a.toml", digest = "x" }', "'digest' must match regex"),
        ('suite = { file = "a.toml", policies = "some" }', "policies"),
        ('suite = { file = "a.toml" }', "a.toml"),
    ],
)
def test_rules_that_cannot_be_used_are_an_error_with_their_place(tmp_path: Path, text: str, error: str) -> None:
    with pytest.raises((FileError, SuiteError), match=error):
        rules_of(tmp_path, text)


@pytest.mark.parametrize("name", ["development", "leaderboard", "submission"])
def test_the_rules_of_this_project_can_be_read(name: str) -> None:
    path = Path(__file__).parents[3] / "configs" / "validation" / f"{name}.toml"
    assert load_rules(path, {}).name == name
