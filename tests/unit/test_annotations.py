"""Public signatures resolve at run time, so that tool registries, pydantic and beartype can read them."""

import importlib
import inspect
import pkgutil
import typing
from collections.abc import Callable, Iterator

import pytest

import ycbench_agents
import ycbench_env

MODULES = sorted(
    module.name
    for package in (ycbench_env, ycbench_agents)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if not module.name.endswith("__main__")
)


def public_callables(name: str) -> Iterator[Callable[..., object]]:
    """Yield the public functions of a module, and the public methods and initialisers of its public classes."""
    module = importlib.import_module(name)
    for public, value in vars(module).items():
        if public.startswith("_") or getattr(value, "__module__", None) != name:
            continue
        if inspect.isfunction(value):
            yield value
        elif inspect.isclass(value):
            for key, member in vars(value).items():
                method = member.__func__ if isinstance(member, classmethod | staticmethod) else member
                if inspect.isfunction(method) and (key == "__init__" or not key.startswith("_")):
                    yield method


@pytest.mark.parametrize("name", MODULES)
def test_annotations_of_public_callables_resolve(name: str) -> None:
    for function in public_callables(name):
        typing.get_type_hints(function)
