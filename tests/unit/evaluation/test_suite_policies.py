"""Rows of a suite and their files: what makes a row what it is survives JSON, and decides the suite's digest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ycbench_agents.evaluation.pinning import pinned
from ycbench_agents.evaluation.player import model_player
from ycbench_agents.evaluation.settings_table import SuiteError
from ycbench_agents.evaluation.suite import Suite, SuitePolicy
from ycbench_agents.records import RecordError
from ycbench_agents.records.strict_json import Table, encode
from ycbench_env import load_config

if TYPE_CHECKING:
    from conftest import Bench

PRICE = '[models."m"]\nprompt = 1.0\ncompletion = 3.0\nas_of = 2026-01-15\n'

names = st.text(st.characters(codec="utf-8", exclude_characters="/\\\0"), min_size=1).filter(lambda name: name != ".")
texts = st.text(st.characters(codec="utf-8"))
digests = st.text("0123456789abcdef", min_size=64, max_size=64)
policies = st.builds(
    SuitePolicy,
    label=texts,
    name=texts,
    parameters=st.dictionaries(texts, st.none() | st.booleans() | st.integers() | texts | st.lists(texts)),
    model=st.none() | texts,
    base_url=st.none() | texts,
    system_prompt=st.none() | names.map(Path),
    prices=st.lists(names.map(Path), max_size=3).map(tuple),
    system_prompt_sha256=st.none() | digests,
    prices_sha256=st.lists(digests, max_size=3).map(tuple),
)


def read_back(policy: SuitePolicy) -> SuitePolicy:
    return SuitePolicy.from_table(Table(json.loads(encode(policy.to_dict())), "suite.json"))


@given(policies)
def test_a_row_is_read_back_as_it_was_written(policy: SuitePolicy) -> None:
    assert read_back(policy) == policy
    assert read_back(policy).to_dict() == policy.to_dict()


def test_where_a_file_lies_is_neither_kept_nor_part_of_a_row() -> None:
    here, there = (
        SuitePolicy("p", "llm", system_prompt=Path(folder) / "p.md", prices=(Path(folder) / "q.toml",))
        for folder in ("here", "there")
    )
    assert here == there != attrs.evolve(here, system_prompt=Path("here/other.md"))
    assert here != attrs.evolve(here, prices=())
    assert (read_back(here).system_prompt, read_back(here).prices) == (Path("p.md"), (Path("q.toml"),))


@pytest.fixture
def rows(bench: Bench) -> Bench:
    """Gives a suite with a model that has a prompt and prices."""
    row = (
        '{ name = "llm", model = "m", system_prompt = "p.md", prices = ["q.toml"], base_url = "http://127.0.0.1:9/v1" }'
    )
    bench.text = bench.text.replace('{ name = "idle" }', row)
    (bench.folder / "p.md").write_text("Play well.", "utf-8")
    (bench.folder / "q.toml").write_text(PRICE, "utf-8")
    return bench


def test_the_digest_covers_what_prompts_and_prices_say_and_not_how_they_are_stored(rows: Bench) -> None:
    first = rows.load().suite
    (rows.folder / "p.md").write_bytes("\ufeffPlay well.".encode())
    (rows.folder / "q.toml").write_bytes(PRICE.replace("\n", "\r\n").encode())
    assert rows.load().suite.digest() == first.digest()
    (rows.folder / "p.md").write_text("Play better.", "utf-8")
    prompted = rows.load().suite
    (rows.folder / "q.toml").write_text(PRICE.replace("3.0", "4.0"), "utf-8")
    priced = rows.load().suite
    assert len({first.digest(), prompted.digest(), priced.digest()}) == 3
    for suite in (first, prompted, priced):
        again = Suite.from_table(Table(json.loads(encode(suite.to_dict())), "suite.json"))
        assert (again, again.digest()) == (suite, suite.digest())


def test_the_digest_of_a_suite_without_files_is_as_it_ever_was(bench: Bench) -> None:
    values = bench.load().suite.to_dict()
    assert values["policies"] == [
        {
            "label": name,
            "name": name,
            "parameters": {},
            "model": None,
            "base_url": None,
            "system_prompt": None,
            "prices": [],
        }
        for name in ("greedy", "idle")
    ]


def test_a_file_that_cannot_be_read_is_told_with_policy_and_key(rows: Bench) -> None:
    (rows.folder / "p.md").unlink()
    with pytest.raises(
        SuiteError, match=r"suite\.toml: policies: 'llm': system_prompt: .*p\.md: cannot be read: No such"
    ):
        rows.load()
    (rows.folder / "p.md").write_bytes(b"\xff")
    with pytest.raises(SuiteError, match="it is no UTF-8 text; expected a text file beside the suite"):
        rows.load()


def test_a_row_is_played_with_the_files_of_its_suite_or_not_at_all(rows: Bench) -> None:
    policy, config = rows.load().suite.policies[1], load_config(environ={})
    assert model_player(policy, config, environ={}).settings["system_prompt"] == "Play well."
    assert pinned(policy, "here") is policy
    (rows.folder / "q.toml").write_text(PRICE.replace("3.0", "4.0"), "utf-8")
    with pytest.raises(
        SuiteError, match=r"policy 'llm' of the suite: .*q\.toml: got a text with SHA-256 .* put that text"
    ):
        model_player(policy, config, environ={})
    with pytest.raises(SuiteError, match=r"policy 'llm' of the suite: p\.md: cannot be read"):
        model_player(read_back(policy), config, environ={})


@pytest.mark.parametrize("wrong", [{"prices": [1]}, {"prices_sha256": "x"}, {"system_prompt_sha256": None}])
def test_files_that_no_suite_can_have_written_are_refused(wrong: dict[str, object]) -> None:
    values = SuitePolicy("p", "llm").to_dict()
    with pytest.raises(RecordError, match=next(iter(wrong))):
        SuitePolicy.from_table(Table(json.loads(json.dumps({**values, **wrong})), "suite.json"))
