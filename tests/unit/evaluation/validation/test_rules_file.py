"""Rules in files."""

from __future__ import annotations

from pathlib import Path

import pytest

from ycbench_agents.evaluation.settings_table import SuiteError
from ycbench_agents.evaluation.validation import Limits, Replay, Rules, Telemetry, load_rules

SHIPPED = Path(__file__).parents[4] / "configs" / "validation"
SEEDS = {"YCBENCH_HELDOUT_SEEDS": str(2**63 + 5)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "suite.toml").write_text(
        'name = "tiny"\npresets = ["default"]\nseeds = [1]\npolicies = [{ name = "idle" }]\n', "ascii"
    )
    return tmp_path / "rules.toml"


@pytest.mark.parametrize("name", ["leaderboard", "submission", "development", "heldout"])
def test_the_rules_that_are_shipped_are_valid(name: str) -> None:
    rules = load_rules(SHIPPED / f"{name}.toml", SEEDS)
    assert rules.name == name
    assert (rules.suite is None) == (name == "development")
    assert (rules.replay.runs is None) == (name != "development")


def test_everything_that_can_be_asked_for_is_read(path: Path) -> None:
    path.write_text(
        """
        name = "mine"
        description = "all"
        suite = { file = "suite.toml", policies = "any", digest = "DIGEST" }
        version = "one"
        presets = "any"
        runs = "any"
        checkout = "clean"
        replay = { runs = 7, seed = 3, policies = true }
        limits = { failed = 0.1, missing = 1, invalid_commands = 0.0 }
        telemetry = { tokens = true, cost = true }
        """.replace("DIGEST", 64 * "a"),
        "ascii",
    )
    rules = load_rules(path, {})
    assert rules.suite is not None
    assert (rules.suite.suite.name, rules.suite.policies, rules.suite.digest) == ("tiny", "any", 64 * "a")
    assert (rules.version, rules.presets, rules.runs, rules.checkout) == ("one", "any", "any", "clean")
    assert rules.replay == Replay(7, 3, policies=True)
    assert rules.limits == Limits(0.1, 1.0, 0.0)
    assert rules.telemetry == Telemetry(tokens=True, cost=True)


def test_a_byte_order_mark_before_the_rules_counts_nothing(path: Path) -> None:
    path.write_text('name = "short"\n', "utf-8-sig")
    assert load_rules(path, {}).name == "short"


def test_what_is_not_said_asks_for_all_but_what_not_every_evaluation_has(path: Path) -> None:
    path.write_text('name = "short"\n', "ascii")
    assert load_rules(path, {}) == Rules("short", "no description")


def test_the_digest_is_of_what_decides(path: Path) -> None:
    digests: list[str] = []
    for text in ("", 'description = "x"\n', "replay = { runs = 2 }\n", 'suite = { file = "suite.toml" }\n'):
        path.write_text(f'name = "n{len(digests)}"\n{text}', "ascii")
        digests.append(load_rules(path, {}).digest())
    assert digests[0] == digests[1]
    assert len(set(digests)) == 3


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("name = ", r"got no TOML \(.*\), expected the file of rules"),
        ("", "name: got nothing, expected a text that is not empty"),
        ('name = "n"\nreplays = 1', "replays: unknown key, expected .*; did you mean replay"),
        ('name = "n"\nversion = "two"', 'version: got \'two\', expected "this" or "one"'),
        ('name = "n"\nreplay = { runs = 0 }', r"replay\.runs: got 0, expected a whole number of at least 1"),
        ('name = "n"\nreplay = { policies = 1 }', r"replay\.policies: got 1, expected true or false"),
        ('name = "n"\nlimits = { failed = 2 }', r"limits\.failed: got 2, expected a fraction from 0 to 1"),
        (f"name = {'9' * 5000}", r"got no TOML \(Exceeds the limit .*\), expected the file of rules"),
        (f"name = 0x{'f' * 5000}", "name: got a number of thousands of digits, expected a text that is not empty"),
        ('name = "n"\nlimits = { failed = true }', r"limits\.failed: got True, expected a fraction"),
        ('name = "n"\ntelemetry = { tokens = "yes" }', r"telemetry\.tokens: got 'yes', expected true or false"),
        ('name = "n"\nsuite = { file = "none.toml" }', r"none\.toml: cannot be read"),
        ('name = "n"\nsuite = { file = "suite.toml", digest = "1" }', r"suite\.digest: got '1', expected 64 hexadec"),
        ('name = "n"\nsuite = "leaderboard"', r"suite: got 'leaderboard', expected a table \[suite\]"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(path: Path, text: str, told: str) -> None:
    path.write_text(text, "ascii")
    with pytest.raises(SuiteError, match=told):
        load_rules(path, {})


def test_a_file_that_is_not_there_is_named(path: Path) -> None:
    with pytest.raises(SuiteError, match=r"rules\.toml: cannot be read: No such file or directory; expected the TOML"):
        load_rules(path, {})
