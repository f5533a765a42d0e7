"""Suites: TOML files, JSON form, labels, seeds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import attrs
import pytest

from ycbench_agents.evaluation.suite import EpisodeKey, Limits, Suite, SuiteError, load_suite, read_seeds
from ycbench_agents.files import FileError, structure
from ycbench_env import load_config

CONFIGS = Path(__file__).parents[3] / "configs"


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.toml")), ids=lambda path: path.stem)
def test_the_suites_of_the_checkout_load_and_survive_their_json(path: Path) -> None:
    suite = load_suite(path, environ={"YCBENCH_HELDOUT_SEEDS": "123456789,42"})
    again = structure(json.loads(json.dumps(suite.to_dict())), Suite, "suite.json")
    assert again == suite
    assert again.digest() == suite.digest()
    assert len(suite.episodes()) == len(suite.policies) * len(suite.presets) * len(suite.seeds)


def test_episodes_come_repeats_first(small: dict[str, Any]) -> None:
    suite = load_suite({**small, "repeats": 2})
    assert suite.episodes()[:3] == (
        EpisodeKey("greedy", "default", "1", 1),
        EpisodeKey("greedy", "default", "1", 2),
        EpisodeKey("greedy", "default", "2", 1),
    )
    assert str(suite.episodes()[1]) == "greedy, default, seed 1, repeat 2"


def test_held_out_seeds_are_named_and_never_shown(small: dict[str, Any]) -> None:
    secret = 987654321987654321
    values = {**small, "seeds": {"variable": "SECRETS"}}
    suite = load_suite(values, environ={"SECRETS": f"{secret}, 5"})
    assert suite.seeds == ("h1", "h2")
    assert suite.seed_of("h1") == secret
    assert attrs.evolve(suite, secret_seeds=()).seed_of("h1") is None
    assert str(secret) not in f"{suite!r} {suite.to_dict()} {suite.episodes()}"


@pytest.mark.parametrize("words", ["", "1,1", "12,x987", "-5"])
def test_errors_of_held_out_seeds_show_none(small: dict[str, Any], words: str) -> None:
    with pytest.raises(SuiteError, match="environment variable SECRETS") as caught:
        load_suite({**small, "seeds": {"variable": "SECRETS"}}, environ={"SECRETS": words})
    assert "987" not in str(caught.value)


def test_what_decides_nothing_does_not_change_the_digest(small: dict[str, Any]) -> None:
    digest = load_suite(small).digest()
    same = {"name": "other", "description": "x", "concurrency": 9, "limits": {"max_turns": 6, "seconds": 5}}
    assert load_suite({**small, **same}).digest() == digest
    for other in ({"seeds": [1]}, {"repeats": 2}, {"limits": {"max_turns": 7}}, {"presets": ["reference"]}):
        assert load_suite({**small, **other}).digest() != digest


def test_presets_may_be_configurations(small: dict[str, Any]) -> None:
    config = load_config("default", overrides={"name": "mine", "world": {"num_employees": 9}})
    suite = load_suite({**small, "presets": [config, "reference"], "seeds": range(3)})
    assert [preset.label for preset in suite.presets] == ["mine", "reference"]
    assert suite.seeds == ("0", "1", "2")


def test_relative_paths_start_at_the_file(tmp_path: Path) -> None:
    (tmp_path / "my.toml").write_text('extends = "default"\nname = "mine"\n')
    (tmp_path / "prompt.md").write_text("\ufeffPlay well.")
    text = """
    name = "s"
    presets = ["./my.toml"]
    seeds = ["1-2"]
    [[policies]]
    name = "llm"
    model = "m"
    system_prompt = "prompt.md"
    prices = ["prices.toml"]
    """
    (tmp_path / "s.toml").write_text(text)
    suite = load_suite(tmp_path / "s.toml")
    assert suite.presets[0].label == "mine"
    assert suite.policies[0].parameters == {"system_prompt": "Play well."}
    assert suite.policies[0].prices == (tmp_path / "prices.toml",)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"policies": []}, "policies: got none"),
        ({"policies": [{"name": "idle"}, {"name": "idle"}]}, "policies: got 'idle' twice"),
        ({"policies": [{"name": " "}]}, "that is not empty"),
        ({"policies": [{"name": "idle", "model": "m"}]}, "only beside name = 'llm'"),
        ({"policies": [{"name": "llm", "base_url": "http://user:pass@host/v1"}]}, "without user, password"),
        ({"policies": [{"name": "llm", "base_url": "http://["}]}, "without user, password"),
        ({"policies": [{"name": "llm", "system_prompt": "nowhere.md"}]}, "text in UTF-8"),
        ({"policies": [{"name": "idle", "parameters": {"a": float("nan")}}]}, "plain JSON values"),
        ({"policies": [{"label": "idle"}]}, "missing: policies[0].name"),
        ({"policy": "x"}, "unknown keys: 'policy', did you mean policies? (known: name, policies, presets, seeds, "),
        ({"policies": "idle"}, "expected a list"),
        ({"presets": []}, "presets: got none"),
        ({"presets": ["default", "default"]}, "presets: got 'default' twice"),
        ({"seeds": []}, "at least one seed"),
        ({"seeds": [1, "1-2"]}, "got 1 twice"),
        ({"seeds": [-1]}, "seeds like"),
        ({"seeds": ["2-1"]}, "seeds like"),
        ({"seeds": ["1-1000000"]}, "at most"),
        ({"seeds": 7}, "a list like"),
        ({"seeds": {"variable": "lower"}}, "ENVIRONMENT_VARIABLE"),
        ({"repeats": 0}, "repeats: got 0"),
        ({"repeats": 10**7}, "expected at most 1,000,000"),
        ({"concurrency": "4"}, "concurrency"),
        ({"limits": {"seconds": 0}}, "seconds: got 0"),
        ({"limits": {"hours": 1}}, "hours"),
        ({"name": "../up"}, "names a folder"),
        ({"nam": "x"}, "nam"),
    ],
)
def test_what_is_wrong_with_a_suite_is_named(small: dict[str, Any], change: dict[str, Any], message: str) -> None:
    with pytest.raises(SuiteError) as caught:
        load_suite({**small, **change})
    assert message in str(caught.value)


@pytest.mark.parametrize("text", ["name = ", "x = \xff"])
def test_a_file_that_is_no_toml_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "s.toml").write_bytes(text.encode("latin-1"))
    with pytest.raises(SuiteError, match="not valid TOML"):
        load_suite(tmp_path / "s.toml")
    with pytest.raises(SuiteError, match="cannot be read"):
        load_suite(tmp_path / "nowhere.toml")


@pytest.mark.parametrize(
    "change",
    [
        {"presets": [{"label": "x", "digest": "0", "config": load_config("default").to_dict()}]},
        {"presets": [{"label": "x", "digest": "0", "config": {"extends": "/etc/passwd"}}]},
        {"presets": [{"label": "x", "digest": "0", "config": {"world": 7}}]},
        {"seeds": ["h1"]},
        {"seeds": []},
        {"seeds": ["01"]},
        {"more": 1},
    ],
)
def test_a_damaged_json_form_is_refused(small: dict[str, Any], change: dict[str, Any]) -> None:
    values = {**load_suite(small).to_dict(), **change}
    with pytest.raises(FileError, match=r"suite\.json"):
        structure(values, Suite, "suite.json")


def test_seeds_are_numbers_and_ranges() -> None:
    assert read_seeds(["3", "1-2,7"]) == (3, 1, 2, 7)


def test_limits_have_generous_defaults() -> None:
    assert (Limits().seconds, Limits().waiting_seconds) == (600, 86_400)
