"""Strict JSON: everything comes back, and nothing else is let in."""

# ruff: noqa: ANN401 -- the kit comes as a fixture

import json
from collections.abc import Callable
from typing import Any, get_type_hints

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ycbench_agents.evaluation.measurement import (
    Behaviour,
    FailedTask,
    MeasurementError,
    MonthEnd,
    NotesMeasures,
    RunMeasures,
    TokenUse,
    measure_run,
)
from ycbench_agents.evaluation.measurement.json_form import from_json, to_json

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
MAYBE = st.none() | NUMBERS


def parts(kind: type, **given: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Values of a class, drawn by the types of its fields."""
    hints = get_type_hints(kind)
    fields = {field.name: given.get(field.name, st.from_type(hints[field.name])) for field in attrs.fields(kind)}
    return st.builds(kind, **fields)


PARTS = st.one_of(
    parts(Behaviour, mean_concurrency_by_turn=MAYBE, mean_concurrency_by_time=MAYBE),
    parts(FailedTask, late_hours=NUMBERS),
    parts(MonthEnd),
    parts(NotesMeasures),
    parts(TokenUse, cost_usd=MAYBE),
)


@given(PARTS)
def test_each_part_comes_back_as_it_was(part: Any) -> None:
    text = json.dumps(to_json(part), allow_nan=False)
    assert from_json(type(part), json.loads(text), "part") == part


@pytest.fixture
def written(kit: Any, start: Callable[..., str]) -> dict[str, Any]:
    return measure_run(kit.record(start("Task-1", "Emp_1"), "sim resume")).to_json()


@pytest.mark.parametrize(
    ("path", "value", "error"),
    [
        (("format",), 0, "measures: got format 0, expected 2; measure the run anew"),
        (("format",), 1, "measures: got format 1, expected 2; measure the run anew"),
        (("format",), True, "measures: got format True, expected 2"),
        (("status",), "lost", "measures.status: got 'lost', expected one of running, stopped, finished"),
        (("is_complete",), 1, "measures.is_complete: got 1, expected true or false"),
        (("money",), [], r"measures.money: got \[\], expected an object"),
        (("money", "fees_cents"), 1.0, "measures.money.fees_cents: got 1.0, expected a whole number"),
        (("money", "fees_cents"), True, "measures.money.fees_cents: got True, expected a whole number"),
        (("money", "gifts_cents"), 1, r"measures.money: .*unknown: \['gifts_cents'\]"),
        (("months", 1, "label"), None, r"measures.months\[1\].label: got None, expected a text"),
        (
            ("months", 1, "trust_milli"),
            "x" * 99,
            r"measures.months\[1\].trust_milli: got 'x{79}\.\.\., expected a list",
        ),
        (("failures", 0, "cause"), "rain", r"measures.failures\[0\].cause: got 'rain', expected one of adversarial"),
        (("failures", 0, "team_alone"), "no", r"measures.failures\[0\].team_alone: got 'no', expected true or false"),
        (("tokens", "cost_usd"), "1", "measures.tokens.cost_usd: got '1', expected a number with a point"),
    ],
)
def test_what_is_no_measure_is_refused_with_its_place(
    written: Any, path: tuple[Any, ...], value: object, error: str
) -> None:
    *way, last = path
    place = written
    for step in way:
        place = place[step]
    place[last] = value
    with pytest.raises(MeasurementError, match=error):
        RunMeasures.from_json(written)


def test_a_missing_field_is_named(written: Any) -> None:
    del written["money"]["fees_cents"]
    with pytest.raises(MeasurementError, match=r"measures.money: .*missing: \['fees_cents'\]"):
        RunMeasures.from_json(written)


@pytest.mark.parametrize("value", [None, [], "measures", {}])
def test_what_is_no_object_of_this_version_is_refused(value: object) -> None:
    with pytest.raises(MeasurementError, match="measures: got format None, expected 2"):
        RunMeasures.from_json(value)
