"""Names of run folders: different for different runs, portable everywhere (B39)."""

from __future__ import annotations

import re
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ycbench_agents.records import RunIdentity, run_name
from ycbench_agents.records.strict_json import encode

RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
IDENTITY = RunIdentity(
    version="1",
    config={"name": "default"},
    config_digest="0" * 64,
    seed=1,
    policy="llm",
    settings={},
    model="meta-llama/Llama-3.1-8B:free",
    max_turns=None,
    scratchpad=True,
)

texts = st.text(max_size=40) | st.sampled_from(
    ["", "con", "NUL", "a.b", "a_b", "a/b:free", "a_b_free", "..", "~", "é", "É"]
)
identities = st.builds(
    RunIdentity,
    version=st.just("1"),
    config=st.builds(lambda name: {"name": name}, texts),
    config_digest=st.sampled_from(["0" * 64, "0" * 63 + "1"]),
    seed=st.integers(0, 3) | st.integers(0, 2**4096 - 1),
    policy=texts,
    settings=st.dictionaries(texts, st.integers(0, 2) | st.booleans() | texts, max_size=2),
    model=st.none() | texts,
    max_turns=st.none() | st.integers(1, 3),
    scratchpad=st.booleans(),
)


@given(identities, identities)
def test_different_runs_have_different_names_also_where_case_does_not_count(
    one: RunIdentity, other: RunIdentity
) -> None:
    equal = encode(one.to_json(), sort_keys=True) == encode(other.to_json(), sort_keys=True)
    assert (run_name(one).casefold() == run_name(other).casefold()) == equal


@given(identities)
def test_a_name_is_portable(identity: RunIdentity) -> None:
    name = run_name(identity)
    assert re.fullmatch(r"run-[a-z0-9_-]+", name)
    assert len(name) <= 124
    assert name.split(".")[0] not in RESERVED
    assert name == run_name(attrs.evolve(identity))


CHANGES: list[dict[str, Any]] = [
    {"model": "meta-llama/llama-3.1-8b:free"},
    {"model": "meta-llama_Llama-3.1-8B_free"},
    {"model": None},
    {"model": ""},
    {"policy": "LLM"},
    {"seed": 2},
    {"settings": {"temperature": 0}},
    {"config": {"name": "./default.toml"}},
    {"config_digest": "1" * 64},
    {"max_turns": 5},
    {"scratchpad": False},
]


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_each_part_of_a_run_counts(change: dict[str, Any]) -> None:
    assert run_name(attrs.evolve(IDENTITY, **change)) != run_name(IDENTITY)


def test_names_stay_the_same_from_version_to_version_and_can_be_read() -> None:
    expected = "run-llm-meta_llama_llama_3_1_8b_-default-seed1-27a9d8604239c2140cf9"
    assert run_name(IDENTITY) == run_name(attrs.evolve(IDENTITY, version="2")) == expected
