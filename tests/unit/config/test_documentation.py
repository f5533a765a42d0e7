"""The list of settings and the page that shows it."""

from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from ycbench_env.config import FIELDS, RESERVED_VARIABLES, Config, Field, load_config
from ycbench_env.config.documentation import distribution_table, settings_table, updated_page
from ycbench_env.config.environment import VARIABLES
from ycbench_env.config.schema import LEAVES, NO_EFFECT, TABLES

_PAGE = Path(__file__).parents[3] / "docs" / "configuration.md"


def test_the_pages_tables_are_the_generated_ones() -> None:
    page = _PAGE.read_text(encoding="utf-8")
    assert settings_table() in page
    assert distribution_table() in page
    assert updated_page(page) == page, "run python -m ycbench_env.config.documentation docs/configuration.md"


def test_the_page_names_everything_that_the_tables_do_not() -> None:
    page = _PAGE.read_text(encoding="utf-8")
    assert all(name in page for name in RESERVED_VARIABLES)
    assert all(key.rpartition(".")[2] in page for key in NO_EFFECT)


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.key)
def test_every_setting_is_described(field: Field) -> None:
    assert field.description
    assert field.kind.label
    assert field.kind.range_text
    assert "|" not in field.description + field.kind.range_text + field.kind.label


def test_every_value_of_a_configuration_is_in_the_list() -> None:
    def keys(instance: object, prefix: str = "") -> Iterator[str]:
        for each in attrs.fields(type(instance)):
            value = getattr(instance, each.name)
            if attrs.has(type(value)) and not hasattr(type(value), "type"):
                yield from keys(value, f"{prefix}{each.name}.")
            else:
                yield prefix + each.name

    assert list(keys(load_config(environ={}))) == [field.key for field in FIELDS]


def test_every_setting_in_a_table_has_one_environment_variable() -> None:
    assert set(VARIABLES.values()) == {key for key in {*LEAVES, *NO_EFFECT} if "." in key}
    assert len(VARIABLES) == len(set(VARIABLES))


def test_no_setting_is_a_table_or_without_effect_as_well() -> None:
    assert not set(LEAVES) & TABLES
    assert not set(LEAVES) & set(NO_EFFECT)


def test_the_configuration_class_shows_its_tables() -> None:
    assert [field.name for field in attrs.fields(Config)] == ["name", "description", "sim", "loop", "agent", "world"]
