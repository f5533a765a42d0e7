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
from ycbench_agents.evaluation.suite import Suite, SuiteError, load_suite
from ycbench_agents.evaluation.validate import (
    Check,
    Limits,
    Rules,
    SuiteRule,
    Telemetry,
    load_rules,
    record_digest,
    validate,
)
from ycbench_agents.files import FileError
from ycbench_agents.llm.loopback import LoopbackServer, greedy_model
from ycbench_agents.runs import RunError, read_run, same_run

SECRET = 2**62 + 12345
SUITE: dict[str, Any] = {
    "name": "bench",
    "presets": ["default"],
    "seeds": [1, 2],
    "limits": {"max_turns": 6},
    "policies": [
        {"name": "greedy"},
        {"name": "idle"},
        {"name": "mixture", "parameters": {"policy": "greedy", "other": "random", "epsilon": 0.3}},
    ],
}
HELD_OUT = {"variable": "YCBENCH_HELDOUT_SEEDS"}
MODEL = {"name": "llm", "model": "scripted", "prices": ["prices.toml"]}
PRICES = "[models.scripted]\nprompt = 3\ncompletion = 15\nas_of = 2026-01-01\n"
OWN = """
import os
class Babbler:
    def __init__(self):
        if os.environ.get("MOOD") == "not made":
            raise ValueError("no")
    def reset(self, seed):
        pass
    def act(self, observation):
        if os.environ.get("MOOD") == "not asked":
            raise RuntimeError("no")
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

    def checks(self, **options: Any) -> dict[str, Check]:  # noqa: ANN401 -- options of validate
        return {check.rule: check for check in validate(self.folder, self.rules, **options).checks}

    def outcome(self) -> str:
        return validate(self.folder, self.rules).outcome

    def invalid(self) -> dict[str, str]:
        """The lines of each check that is invalid."""
        return {rule: "\n".join(check.where) for rule, check in self.checks().items() if check.outcome == "invalid"}

    def edit(self, file: str, *where: str | int, to: object) -> None:
        """Change one value in a file: of the folder, or of a run as ``greedy/run.json``, ``idle2/turns.jsonl:4``."""
        run, _, name = file.rpartition("/")
        name, _, turn = name.partition(":")
        path = (self.run(run.rstrip("2"), 2 if run.endswith("2") else 1) if run else self.folder) / name
        lines = path.read_text("ascii").splitlines() if turn else [path.read_text("ascii")]
        place = int(turn or 1) - 1
        values = inner = json.loads(lines[place])
        for step in where[:-1]:
            inner = inner[step]
        inner[where[-1]] = to
        lines[place] = json.dumps(values)
        path.write_text("".join(f"{line}\n" for line in lines), "ascii")


def played(folder: Path, **changes: object) -> Bench:
    (folder / "prices.toml").write_text(PRICES, "ascii")
    values: dict[str, Any] = {**SUITE, **changes}
    prices = {"prices": [folder / "prices.toml"]}
    values["policies"] = [{**row, **(prices if "prices" in row else {})} for row in values["policies"]]
    suite = load_suite(values)
    with LoopbackServer(greedy_model) as server:
        play_suite(suite, folder / "out", base_url=server.base_url)
    return Bench(folder / "out", suite, Rules("strict", suite=SuiteRule(suite)))


def copy_of(bench: Bench, folder: Path) -> Bench:
    shutil.copytree(bench.folder, folder / "out")
    return attrs.evolve(bench, folder=folder / "out")


@pytest.fixture(scope="session")
def scripted(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return played(tmp_path_factory.mktemp("scripted"))


@pytest.fixture
def bench(scripted: Bench, tmp_path: Path) -> Bench:
    return copy_of(scripted, tmp_path)


@pytest.fixture(scope="session")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return played(tmp_path_factory.mktemp("model"), policies=[MODEL], seeds=[1])


@pytest.fixture
def model(asked: Bench, tmp_path: Path) -> Bench:
    return copy_of(asked, tmp_path)


# ---------------------------------------------------------------- scripted policies


def test_an_untouched_evaluation_is_valid_and_every_run_is_played_again_once(bench: Bench) -> None:
    seen: list[Any] = []
    checks = bench.checks(progress=lambda runs: (seen.append(run) or run for run in runs))
    assert {rule: (check.outcome, check.checked, check.unchecked) for rule, check in checks.items()} == {
        **dict.fromkeys(("version", "episodes", "runs", "copies", "records", "policies", "metrics"), ("valid", 6, 0)),
        "suite": ("valid", 1, 0),
        "seeds": ("valid", 2, 0),
        "presets": ("valid", 1, 0),
        "results": ("valid", 1, 0),
    }
    assert len({found.key for found in seen}) == 6
    assert json.dumps(validate(bench.folder, bench.rules).to_dict(), allow_nan=False)


def swap_folders(bench: Bench) -> None:
    first, second, between = bench.run("greedy"), bench.run("idle", 2), bench.folder / "elsewhere"
    for old, new in ((first, between), (second, first), (between, second)):
        old.rename(new)


def lose_a_line(bench: Bench) -> None:
    path = bench.run("greedy") / "turns.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))


def link_a_run(bench: Bench) -> None:
    path = bench.run("idle")
    path.rename(bench.folder.parent / "elsewhere")
    path.symlink_to(bench.folder.parent / "elsewhere")


def take_the_turns_of_greedy(bench: Bench, under: str) -> None:
    """Put the turns, outcome and metrics of one policy under the name of another."""
    for name in ("turns.jsonl", "metrics.json"):
        shutil.copy(bench.run("greedy") / name, bench.run(under) / name)
    bench.edit(
        f"{under}/run.json", "outcome", to=json.loads((bench.run("greedy") / "run.json").read_bytes())["outcome"]
    )


def change_every_version(bench: Bench) -> None:
    bench.edit("suite.json", "version", to="0.0.1")
    for run in ("greedy", "greedy2", "idle", "idle2", "mixture", "mixture2"):
        bench.edit(f"{run}/run.json", "identity", "version", to="0.0.1")


CONFIG = ("config", "world", "num_employees")
EDITS: list[tuple[str, tuple[str | int, ...], object, str, str]] = [
    ("greedy/turns.jsonl:4", ("funds_delta_cents",), 500_000, "records", "greedy, default, seed 1: turn 4: "),
    ("greedy2/turns.jsonl:6", ("reward",), 99.5, "records", "turn 6: reward in cents: "),
    ("idle/turns.jsonl:6", ("funds_cents",), 10**9, "records", "turn 6: funds_cents"),
    ("greedy/turns.jsonl:2", ("results", 0, "ok"), False, "records", "results[0].ok: false | true (recorded | now)"),
    ("mixture/turns.jsonl:6", ("action",), "client list", "policies", 'turn 6: action: "client list" | '),
    ("idle/run.json", ("outcome", "final_funds_cents"), 10**9, "records results", "final_funds_cents: 1000000000 | "),
    ("idle/run.json", ("identity", "version"), "0.0.1", "version episodes runs", "got '0.0.1', expected "),
    ("greedy/run.json", ("identity", *CONFIG), 99, "episodes runs results", "config.world.num_employees: 99 | "),
    ("greedy2/metrics.json", ("metrics", "tasks_accepted"), 77, "metrics", "metrics.json: tasks_accepted: 77 | "),
    ("idle/metrics.json", ("metrics", "wall_s"), 0.5, "metrics", "seed 1: metrics.json: wall_s: 0.5 | "),
    ("suite.json", ("suite", "seeds"), ["1", "2", "3"], "suite seeds episodes results", "seed 3 is none of the suite"),
    ("suite.json", ("suite", "seeds"), ["two"], "readable", "got 'two', expected"),
    ("suite.json", ("suite", "repeats"), 2, "suite seeds episodes results", "repeats: not as in"),
    ("suite.json", ("suite", "presets", 0, *CONFIG), 99, "readable", "digest: got "),
    ("results.json", ("leaderboard", 0, "score_cents"), 10**12, "results", "score_cents: 1000000000000 | "),
]
CHANGES: list[tuple[Callable[[Bench], object], str, str]] = [
    (lose_a_line, "records", "run.json: outcome.turns: 6 | 5"),
    (swap_folders, "episodes runs results", 'greedy, default, seed 1: run.json: policy: "idle" | "greedy"'),
    (link_a_run, "episodes runs results", "idle, default, seed 1: there is no run in it"),
    (change_every_version, "version", "suite.json: got '0.0.1', expected "),
    (lambda b: shutil.copytree(b.run("greedy"), b.folder / "run-copy"), "runs", "run-copy: the folder belongs to no"),
    (lambda b: (b.run("idle") / "run.json").unlink(), "episodes runs", "seed 1: there is no run in it"),
    (lambda b: (b.run("idle") / "run.json").write_text("{"), "episodes runs", "not valid JSON"),
    (lambda b: shutil.rmtree(b.run("idle", 2)), "episodes results", "idle, default, seed 2: missing"),
    (lambda b: (b.folder / "results.json").unlink(), "results", "results.json: there is no such file"),
    (lambda b: (b.run("greedy") / "metrics.json").unlink(), "metrics", "no metrics.json of this version"),
    (
        lambda b: take_the_turns_of_greedy(b, "idle"),
        "copies results policies",
        "idle, default, seed 1: turn 1: action: ",
    ),
    (
        lambda b: take_the_turns_of_greedy(b, "mixture"),
        "copies results policies",
        "mixture, default, seed 1: turn 1: trace: one of the recorded and the present policy deliberates",
    ),
    *((lambda b, f=file, w=where, to=to: b.edit(f, *w, to=to), rules, line) for file, where, to, rules, line in EDITS),
]


@pytest.mark.parametrize(("change", "rules", "line"), CHANGES)
def test_changes_make_the_checks_invalid_that_see_them(
    bench: Bench, change: Callable[[Bench], object], rules: str, line: str
) -> None:
    change(bench)
    validation = validate(bench.folder, bench.rules)
    invalid = {check.rule: check.where for check in validation.checks if check.outcome == "invalid"}
    assert set(invalid) >= set(rules.split())
    assert line in "\n".join(line for where in invalid.values() for line in where)
    assert (validation.outcome, validation.to_dict()["provenance"]) == ("invalid", None)


@pytest.mark.parametrize("name", ["suite.json", "results.json", "failures.json", "run.json", "turns.jsonl"])
@pytest.mark.parametrize("kind", ["pipe", "link"])
def test_a_file_that_is_no_regular_one_is_never_opened(bench: Bench, name: str, kind: str) -> None:
    path = (bench.run("idle") if name in {"run.json", "turns.jsonl"} else bench.folder) / name
    if path.exists():
        path.rename(bench.folder.parent / name)
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(bench.folder.parent / name)
    assert bench.outcome() == "invalid"


def test_a_policy_is_asked_again_where_that_is_safe_or_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "babbling_policies.py").write_text(OWN, "ascii")
    monkeypatch.syspath_prepend(tmp_path)
    policies = [
        {"name": "babbling_policies:Babbler", "label": "babbler"},
        {"name": "replay", "parameters": {"turns": ["sim resume"]}},
    ]
    bench = played(tmp_path, policies=policies, seeds=[1])
    bench.rules = Rules("any", limits=Limits(invalid_commands=0.2))
    checks = bench.checks()
    assert (checks["policies"].checked, checks["policies"].outcome) == (0, "not checked")
    assert checks["policies"].where == (
        "babbler: babbling_policies:Babbler is code from elsewhere; --trust-policies runs it",
        "replay: replay would ask somebody or read a file",
    )
    assert checks["invalid_commands"].where == ("babbler: 6 of 18 commands (33.33%)",)
    trusted = bench.checks(trust_policies=True)["policies"]
    assert (trusted.outcome, trusted.checked, trusted.unchecked) == ("not checked", 1, 1)
    for mood, line in (
        ("not made", "its policy cannot be made again: ValueError: no"),
        ("not asked", "turn 1: asking again failed: RuntimeError: no"),
    ):
        monkeypatch.setenv("MOOD", mood)
        assert bench.checks(trust_policies=True)["policies"].where == (f"babbler, default, seed 1: {line}",)
    del sys.modules["babbling_policies"]


def test_runs_that_a_progress_callback_passes_over_are_not_checked(bench: Bench) -> None:
    checks = bench.checks(progress=lambda runs: runs[:2])
    unchecked = {rule: (check.outcome, check.unchecked) for rule, check in checks.items() if check.unchecked}
    assert unchecked == dict.fromkeys(("records", "policies", "metrics"), ("not checked", 4))


def test_other_policies_may_play_the_same_episodes_where_the_rules_allow_it(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    bench.folder = played(tmp_path / "other", policies=[{"name": "random"}]).folder
    assert set(bench.invalid()) == {"suite"}
    bench.rules = Rules("any policies", suite=SuiteRule(bench.suite, "any"))
    assert bench.outcome() == "valid"
    bench.rules = Rules("pinned", suite=SuiteRule(bench.suite, "any", "0" * 64))
    assert "which the rules name" in bench.invalid()["suite"]


def test_a_configuration_that_is_only_called_like_a_preset_is_found(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('name = "default"\n[world]\nnum_employees = 3\n', "ascii")
    bench = played(tmp_path, presets=[tmp_path / "mine.toml"], policies=[{"name": "idle"}], seeds=[1])
    assert "settings were changed" in bench.invalid()["presets"]
    bench.rules = Rules("any", presets="any")
    assert bench.outcome() == "valid"


def test_runs_of_changed_files_or_of_several_commits_are_no_clean_checkout(bench: Bench) -> None:
    bench.rules = attrs.evolve(bench.rules, checkout="clean")
    for number, run in enumerate(("greedy", "greedy2", "idle", "idle2", "mixture", "mixture2")):
        git = {"commit": f"{number // 3}" * 40, "dirty": number == 0}
        bench.edit(f"{run}/run.json", "origin", "git", to=git)
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


def test_a_check_that_has_nothing_to_look_at_is_left_out(bench: Bench) -> None:
    for path in bench.folder.glob("run-*"):
        shutil.rmtree(path)
    bench.rules = Rules("none", limits=Limits(missing=1))
    assert set(bench.checks()) == {"suite", "presets", "results"}


# ---------------------------------------------------------------- reports


@pytest.fixture(scope="session")
def reported(scripted: Bench, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """The same evaluation with its report, which takes seconds to draw."""
    bench = copy_of(scripted, tmp_path_factory.mktemp("reported"))
    write_report(bench.folder, baseline="idle", published=True)
    return bench


def test_a_report_is_rendered_again_and_compared(reported: Bench, tmp_path: Path) -> None:
    bench = copy_of(reported, tmp_path)
    (bench.folder / "report.md").write_bytes(
        (bench.folder / "report.md").read_bytes().replace(b"6 finished", b"9 finished", 1)
    )
    (bench.folder / "figures/default-funds-by-month.svg").write_bytes(b"<svg/>")
    check = bench.checks()["report"]
    assert (check.outcome, len(check.where), check.unchecked) == ("invalid", 1, 1)
    assert check.where[0].startswith("report.md: line ")
    shutil.copy(reported.folder / "report.md", bench.folder)
    check = bench.checks()["report"]
    assert (check.outcome, check.unchecked) == ("not checked", 1)
    assert check.checked == 1 + len([*(bench.folder / "figures").iterdir()])  # the two pages, and the other figures
    assert check.where == (
        "figures/default-funds-by-month.svg: its figures differ from those that this version of matplotlib draws",
    )


def test_a_report_that_is_a_link_is_invalid(bench: Bench) -> None:
    (bench.folder / "report.md").symlink_to("/etc/hostname")
    assert "is a symbolic link" in bench.invalid()["report"]


# ---------------------------------------------------------------- language models


def test_replies_are_recalled_and_are_never_called_valid(model: Bench) -> None:
    model.rules = attrs.evolve(model.rules, telemetry=Telemetry(tokens=True, cost=True))
    counts = {rule: (check.outcome, check.checked, check.unchecked) for rule, check in model.checks().items()}
    assert counts["replies"] == ("valid", 6, 0)
    assert counts["models"] == ("not checked", 0, 6)
    assert counts["telemetry"] == ("valid", 1, 0)
    assert "policies" not in counts
    assert model.outcome() == "not checked"


@pytest.mark.parametrize(
    ("where", "to", "line"),
    [
        (("trace", "cost_usd"), 0.0, "turn 2: trace.cost_usd: 0.0 | "),
        (("trace", "prompt_tokens"), 1, "turn 2: trace.prompt_tokens: 1 | "),
        (("trace", "reply", "usage", "prompt"), 1, "turn 2: trace.prompt_tokens: "),
        (("trace", "messages_sha256"), "0" * 64, "turn 2: trace: trace of turn 2: recorded for messages"),
        (("trace", "reply", "model"), "another", "its replies name several models: 'scripted' (5 turns), "),
        (("trace", "unusable_replies"), 1, "turn 2: trace.unusable_replies: 1 | 0"),
        (("action",), ["company status"], "turn 2: action"),
        (("trace",), None, "one of the recorded and the present policy deliberates"),
    ],
)
def test_what_follows_from_a_reply_is_computed_again(
    model: Bench, where: tuple[str, ...], to: object, line: str
) -> None:
    model.edit("llm/turns.jsonl:2", *where, to=to)
    assert line in model.invalid()["replies"]


def test_another_price_or_a_lost_cost_is_found(model: Bench) -> None:
    model.rules = attrs.evolve(model.rules, telemetry=Telemetry(tokens=True, cost=True))
    model.edit("llm/metrics.json", "format", to=2)
    model.edit("llm/turns.jsonl:2", "trace", "cost_usd", to=None)
    assert "cost of 1 turns unknown" in model.invalid()["telemetry"]
    model.edit("suite.json", "players", 0, "settings", "price", "prompt", to=1.0)
    model.edit("llm/run.json", "identity", "settings", "price", "prompt", to=1.0)
    assert model.outcome() == "invalid"  # the folder's name, or the costs


# ---------------------------------------------------------------- held-out suites and provenance


def test_nothing_of_a_held_out_world_is_shown_or_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("YCBENCH_HELDOUT_SEEDS", str(SECRET))
    secret = played(tmp_path, seeds=HELD_OUT, policies=[{"name": "greedy"}])
    validation = validate(secret.folder, secret.rules)
    assert validation.outcome == "valid"
    assert str(SECRET) not in json.dumps(validation.to_dict())
    (secret.folder / "report.md").write_text(f"seed {SECRET}", "ascii")
    assert "report.md: names a secret seed" in secret.invalid()["held_out"]
    (secret.folder / "report.md").unlink()
    path = secret.run("greedy", "h1") / "turns.jsonl"
    path.write_text(path.read_text("ascii").replace('"ok":true', '"ok":false', 1), "ascii")
    hidden = "greedy, default, seed h1: details are shown for public seeds only"
    assert secret.invalid()["records"].splitlines()[0] == hidden
    (path.parent / "run.json").write_text("{", "ascii")
    assert str(SECRET) not in json.dumps(validate(secret.folder, secret.rules).to_dict())


def test_secret_seeds_that_can_be_guessed_or_are_others_are_invalid(tmp_path: Path) -> None:
    values = {**SUITE, "seeds": HELD_OUT, "policies": [{"name": "idle"}]}
    suites = [
        load_suite(values, environ={"YCBENCH_HELDOUT_SEEDS": seeds} if seeds else {})
        for seeds in ("1234567", str(SECRET))
    ]
    play_suite(suites[0], tmp_path / "out")
    checks = Bench(tmp_path / "out", suites[1], Rules("r", suite=SuiteRule(suites[1]))).checks()
    assert checks["seeds"].where == ("seeds.json: the seeds are not those of the rules",)
    assert checks["held_out"].where == ("1 seeds are below 2^40, so that playing finds them; draw larger ones",)
    unknown = attrs.evolve(suites[1], secret_seeds=())
    checks = Bench(tmp_path / "out", unknown, Rules("r", suite=SuiteRule(unknown))).checks()
    assert "nobody can compare them" in "\n".join(checks["seeds"].remarks)
    assert (checks["seeds"].checked, checks["seeds"].unchecked) == (0, 1)


def test_provenance_is_that_of_the_records(bench: Bench) -> None:
    provenance: Any = validate(bench.folder, bench.rules).provenance
    assert provenance["records"][0]["digest"] == record_digest(read_run(bench.run("greedy")))
    path = bench.folder / "provenance.json"
    path.write_text(json.dumps(provenance), "ascii")
    assert bench.outcome() == "valid"
    bench.edit("provenance.json", "records", 0, "digest", to="0" * 64)
    assert "provenance.json: records[0].digest: " in bench.invalid()["provenance"]
    for text, line in (('{"format": 2}', "got format 2, expected 3; remove it"), ("[]", "expected an object")):
        path.write_text(text, "ascii")
        assert line in bench.invalid()["provenance"]


def test_records_have_equal_digests_where_they_are_the_same_run(bench: Bench) -> None:
    first = read_run(bench.run("greedy"))
    digest = record_digest(first)
    shutil.copytree(first.folder, bench.folder.parent / "copy")
    copy = read_run(bench.folder.parent / "copy")
    bench.edit("greedy/turns.jsonl:1", "time", to="later")
    assert (record_digest(first) == digest, same_run(first, copy)) == (True, [])
    bench.edit("greedy/turns.jsonl:1", "invalid_commands", to=9)
    assert record_digest(first) != digest


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
    expected = Rules(
        "mine", "no description", "one", "any", "any", "clean", Limits(0.1, 0.0, 0.5), Telemetry(tokens=True)
    )
    assert rules_of(tmp_path, text) == expected
    assert expected.digest() != Rules("mine").digest() == Rules("other").digest()


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
