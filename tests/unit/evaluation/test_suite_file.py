"""Suites as files: what they say, and what is refused with file, key, value and remedy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ycbench_agents.evaluation.episode import EpisodeKey
from ycbench_agents.evaluation.settings_table import SuiteError
from ycbench_agents.evaluation.suite import Suite
from ycbench_agents.evaluation.suite_file import load_suite
from ycbench_agents.records import RecordError
from ycbench_agents.records.strict_json import Table
from ycbench_env import load_config

if TYPE_CHECKING:
    from conftest import Bench

    from ycbench_agents.base import JsonObject

CONFIGS = Path(__file__).parents[3] / "configs"
SALT = "0123456789abcdef"
SECRET = f'seeds = {{ variable = "YCBENCH_HELDOUT_SEEDS", salt = "{SALT}" }}'


def test_episodes_are_planned_by_policy_preset_seed_and_repeat(bench: Bench) -> None:
    text = bench.text.replace("seeds = [1, 2]", 'seeds = [7, "1-2"]\nrepeats = 2')
    episodes = bench.load(text).suite.episodes()
    assert [(key.policy, key.seed, key.repeat) for key in episodes][:6] == [
        ("greedy", "7", 1),
        ("greedy", "7", 2),
        ("greedy", "1", 1),
        ("greedy", "1", 2),
        ("greedy", "2", 1),
        ("greedy", "2", 2),
    ]
    assert episodes[-1] == EpisodeKey("idle", "default", "2", 2)


def test_presets_may_be_files_beside_the_suite(bench: Bench) -> None:
    (bench.folder / "mine.toml").write_text('extends = "default"\nname = "mine"\n[world]\nnum_employees = 3\n', "utf-8")
    loaded = bench.load(bench.text.replace('["default"]', '["mine.toml", "default"]'))
    assert [(preset.label, preset.config.world.num_employees) for preset in loaded.suite.presets] == [
        ("mine", 3),
        ("default", 8),
    ]


def test_limits_survive_json_and_those_of_older_files_get_the_time_for_answers_of_today(bench: Bench) -> None:
    text = bench.text.replace("max_turns", "seconds = 2, memory_mib = 3, waiting_seconds = 4, max_turns")
    values = bench.load(text).suite.to_dict()
    assert values["limits"] == {"seconds": 2, "memory_mib": 3, "max_turns": 6, "waiting_seconds": 4}
    assert Suite.from_table(Table(values, "suite.json")).limits == bench.load(text).suite.limits
    older = {**values, "limits": {"seconds": 2, "memory_mib": 3, "max_turns": 6}}
    assert Suite.from_table(Table(older, "suite.json")).limits.waiting_seconds == 24 * 3600


@pytest.mark.parametrize("name", ["smoke", "leaderboard", "development", "heldout", "context_ablation"])
def test_the_suites_of_this_project_are_valid_and_survive_json(name: str) -> None:
    environ = {"YCBENCH_HELDOUT_SEEDS": str(2**60)}
    loaded = load_suite(CONFIGS / f"{name}.toml", lambda source: load_config(source, environ={}), environ)
    text = json.dumps(loaded.suite.to_dict(), allow_nan=False)
    again = Suite.from_table(Table(json.loads(text), "suite.json"))
    assert again == loaded.suite
    assert again.digest() == loaded.suite.digest()
    assert (loaded.suite.name, loaded.warnings) == (name, ())


def test_the_digest_counts_what_is_played_and_nothing_else(bench: Bench) -> None:
    digest = bench.load().suite.digest()
    for same in ('name = "other"', 'description = "other"', "concurrency = 9"):
        key = same.partition(" ")[0]
        kept = [line for line in bench.text.splitlines() if not line.startswith(f"{key} ")]
        assert bench.load("\n".join([same, *kept])).suite.digest() == digest
    for changed in ("[1, 3]", "[2, 1]"):
        assert bench.load(bench.text.replace("[1, 2]", changed)).suite.digest() != digest
    assert bench.load(bench.text.replace("max_turns = 6", "max_turns = 7")).suite.digest() != digest
    assert bench.load(bench.text.replace('"idle" }', '"idle", label = "lazy" }')).suite.digest() != digest


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("seeds = [1, 2]", "seeds = []", 'seeds: got [], expected a list like [1, 2, 3] or ["1-20"], or a table'),
        ("seeds = [1, 2]", "seeds = [1, -2]", "seeds: got [1, -2], expected whole numbers of at least 0 and ranges"),
        ("seeds = [1, 2]", 'seeds = ["3-1"]', "seeds: got ['3-1'], expected whole numbers"),
        ("seeds = [1, 2]", "seeds = [true]", "seeds: got [True], expected whole numbers"),
        ("seeds = [1, 2]", 'seeds = [2, "1-3"]', "each seed once; 2 stands there twice"),
        ("seeds = [1, 2]", 'seeds = ["1-999999999"]', "at most 100,000 seeds"),
        ("seeds = [1, 2]", "seed = [1, 2]", "seed: unknown key, expected name, description"),
        ("seeds = [1, 2]", "seed = [1, 2]", "did you mean seeds?"),
        ("seeds = [1, 2]", "seeds = [1]\nrepeats = 0", "repeats: got 0, expected a whole number of at least 1"),
        ('name = "small"', 'name = "../small"', "name: got '../small', expected a name like my-suite"),
        ('name = "small"', "name = 3", "name: got 3, expected a text that is not empty"),
        ('["default"]', "[]", "presets: got [], expected names of presets or paths of TOML files"),
        ('["default"]', '["default", "default"]', "each once"),
        ('["default"]', '"default"', "presets: got 'default', expected a list"),
        ('["default"]', '["default", 3]', "presets: got ['default', 3], expected a list of texts"),
        ("max_turns = 6", "max_turn = 6", "limits.max_turn: unknown key, expected seconds, memory_mib, max_turns"),
        ("{ max_turns = 6 }", "6", "limits: got 6, expected a table [limits]"),
        ("max_turns = 6", "waiting_seconds = 0", "limits.waiting_seconds: got 0, expected a whole number"),
        ("max_turns = 6", "seconds = 1.5", "limits.seconds: got 1.5, expected a whole number"),
        (
            '[{ name = "greedy" }, { name = "idle" }]',
            "[]",
            "policies: got [], expected at least one table [[policies]]",
        ),
        ('[{ name = "greedy" }, { name = "idle" }]', "[3]", "policies: got [3], expected tables"),
        ('"idle"', '"greedy"', "policies: got 'greedy' twice, expected each once; give one of them another `label`"),
        (
            '"idle"',
            '"greedy", label = "again"',
            "policies: 'greedy' and 'again' are the same policy with the same parameters and would share their runs",
        ),
        ('"idle"', '"human"', "policies[2].name: got 'human', expected a policy that asks nobody at a terminal"),
        ('"idle"', '"idle", model = "m"', "policies[2].model: got 'm', expected this key only beside name = 'llm'"),
        ('"idle"', '"llm", base_url = "http://me:word@host/v1"', "got an address with a password or a query"),
        (
            '"idle"',
            '"idle", parameters = { a = nan }',
            "policies[2].parameters: got {'a': nan}, expected texts, finite",
        ),
        (
            "seeds = [1, 2]",
            'seeds = { variable = "lower", salt = "x" }',
            "seeds.variable: got 'lower', expected the name",
        ),
        (
            "seeds = [1, 2]",
            'seeds = { variable = "SEEDS", salt = "short" }',
            "seeds.salt: got 'short', expected at least",
        ),
        ("seeds = [1, 2]", SECRET, "environment variable YCBENCH_HELDOUT_SEEDS: got nothing, expected secret seeds"),
        ("seeds = [1, 2]", "seeds = [", "got no TOML"),
        ("seeds = [1, 2]", f"seeds = [{'9' * 5000}]", "got no TOML (Exceeds the limit"),
        ("seeds = [1, 2]", f"seeds = [0x{'f' * 5000}]", "seeds: got a number of thousands of digits, expected whole"),
        ("seeds = [1, 2]", f"seeds = [{10**30}]", "of at most 30 digits"),
        ("seeds = [1, 2]", "seeds = [1]\nrepeats = 500_001", "got 1,000,002 episodes (policies, presets, seeds and"),
        ("max_turns = 6", "seconds = 9999999999999", "limits.seconds: got 9999999999999, expected at most 31,622,400"),
        (
            "max_turns = 6",
            "memory_mib = 99999999999",
            "limits.memory_mib: got 99999999999, expected at most 16,777,216",
        ),
        ('"idle"', '"llm", base_url = "http://[bad"', "policies[2].base_url: got no address (Invalid IPv6 URL)"),
    ],
)
def test_what_is_wrong_is_named_with_file_key_value_and_remedy(bench: Bench, old: str, new: str, told: str) -> None:
    assert old in bench.text
    with pytest.raises(SuiteError) as caught:
        bench.load(bench.text.replace(old, new))
    assert told in str(caught.value)
    assert str(caught.value).startswith(str(bench.folder / "suite.toml"))


@pytest.mark.parametrize("other", ["parameters = { keep_turns = 3 }", 'model = "n"', 'system_prompt = "p.md"'])
def test_policies_that_differ_in_anything_but_the_label_are_two(bench: Bench, other: str) -> None:
    (bench.folder / "p.md").write_text("Play well.", "utf-8")
    rows = f'{{ name = "llm", model = "m" }}, {{ name = "llm", label = "other", {other} }}'
    text = bench.text.replace('{ name = "greedy" }, { name = "idle" }', rows)
    assert [policy.label for policy in bench.load(text).suite.policies] == ["llm", "other"]


def test_two_configurations_of_one_name_are_refused(bench: Bench) -> None:
    (bench.folder / "mine.toml").write_text('extends = "default"\nname = "default"\n', "utf-8")
    with pytest.raises(SuiteError, match="names that differ; two are called 'default'"):
        bench.load(bench.text.replace('["default"]', '["mine.toml", "default"]'))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match=r"nothing\.toml: cannot be read: No such file or directory"):
        load_suite(tmp_path / "nothing.toml", load_config, {})


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("12, x9, 3", "number 2 is no seed"),
        ("1 -2", "number 2 is no seed"),
        ("5 7 5", "got a seed twice"),
        (" , ", "got nothing"),
    ],
)
def test_secret_seeds_that_are_wrong_are_not_shown(bench: Bench, value: str, told: str) -> None:
    with pytest.raises(SuiteError, match=told) as caught:
        bench.load(bench.text.replace("seeds = [1, 2]", SECRET), YCBENCH_HELDOUT_SEEDS=value)
    assert "x9" not in str(caught.value)


def test_secret_seeds_are_named_by_hashes_that_depend_on_the_salt(bench: Bench) -> None:
    seeds = {"YCBENCH_HELDOUT_SEEDS": f"{2**63 + 1},{2**63 + 2}"}
    loaded = bench.load(bench.text.replace("seeds = [1, 2]", SECRET), **seeds)
    other = bench.load(bench.text.replace("seeds = [1, 2]", SECRET.replace("0123", "4567")), **seeds)
    assert loaded.suite.is_held_out
    assert list(loaded.seeds.values()) == [2**63 + 1, 2**63 + 2]
    assert len({*loaded.suite.seeds, *other.suite.seeds}) == 4
    assert str(2**63 + 1) not in json.dumps(loaded.suite.to_dict()) + repr(loaded)
    assert loaded.warnings == ()


def test_secret_seeds_that_can_be_guessed_are_warned_of(bench: Bench) -> None:
    loaded = bench.load(bench.text.replace("seeds = [1, 2]", SECRET), YCBENCH_HELDOUT_SEEDS=f"7,{2**63}")
    assert "its hash can be found by trying" in loaded.warnings[0]


def test_a_suite_that_was_changed_in_its_file_of_results_is_refused(bench: Bench) -> None:
    values = json.loads(json.dumps(bench.load().suite.to_dict()))
    values["presets"][0]["config"]["world"]["num_employees"] = 3
    with pytest.raises(RecordError, match="the digest of its configuration; the file was changed"):
        Suite.from_table(Table(values, "suite.json"))
    values["presets"][0]["config"]["world"]["num_employees"] = -3
    with pytest.raises(RecordError, match="num_employees"):
        Suite.from_table(Table(values, "suite.json"))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"seeds": ["x"]}, 'suite.json: seeds: got ["x"], expected a list of seeds as texts'),
        ({"seeds": ["9" * 5000]}, "expected a list of seeds as texts"),
        ({"seeds": [1]}, "seeds: got [1], expected a list of seeds as texts"),
        ({"seeds": ["1", "1"]}, 'suite.json: seeds: got ["1","1"], expected at least one, and each once'),
        ({"seeds": []}, "seeds: got [], expected at least one"),
        ({"policies": []}, "policies: got [], expected at least one"),
        ({"presets": []}, "presets: got [], expected at least one"),
        ({"repeats": 0}, "repeats: got 0, expected a whole number from 1 to"),
        ({"seed_hash": {"method": "scrypt-n14-r8-p1", "salt": "x"}}, "expected a list of hashes of seeds"),
        ({"limits": {"seconds": 10**9, "memory_mib": 1, "max_turns": None}}, "limits: seconds: got 1000000000"),
        ({"limits": {"seconds": 1, "memory_mib": 1, "max_turns": -5}}, "limits: max_turns: got -5"),
    ],
)
def test_what_no_suite_has_is_refused_in_its_file_of_results(bench: Bench, changes: JsonObject, told: str) -> None:
    values = {**json.loads(json.dumps(bench.load().suite.to_dict())), **changes}
    with pytest.raises(RecordError) as caught:
        Suite.from_table(Table(values, "suite.json"))
    assert told in str(caught.value)
