"""Every formula names the rule that it is."""

from __future__ import annotations

import inspect
import pkgutil
import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import ycbench_env.rules

if TYPE_CHECKING:
    from collections.abc import Callable

MODULES = [import_module(f"ycbench_env.rules.{each.name}") for each in pkgutil.iter_modules(ycbench_env.rules.__path__)]
KERNELS: list[Callable[..., object]] = [
    kernel
    for module in MODULES
    for name, kernel in inspect.getmembers(module, inspect.isfunction)
    if kernel.__module__ == module.__name__ and name != "__annotate__"  # a function of the module on Python 3.14
]

PAGE = (Path(__file__).parents[3] / "docs" / "rules.md").read_text(encoding="utf-8")


def test_there_are_kernels_to_look_at() -> None:
    assert len(MODULES) == 6
    assert len(KERNELS) > 30


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_every_kernel_names_its_source(kernel: Callable[..., object]) -> None:
    assert re.search(r"Source: [KXY]-\d+(\.\d+)?\b", kernel.__doc__ or "")


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_every_source_of_a_kernel_stands_on_the_page_of_rules(kernel: Callable[..., object]) -> None:
    named = re.findall(r"\b[KXY]-\d+(?:\.\d+)?\b", (kernel.__doc__ or "").partition("Source:")[2])
    assert [source for source in named if not re.search(rf"(\*\*|## ){re.escape(source)}\b", PAGE)] == []
