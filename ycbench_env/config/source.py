"""Where settings are read from: presets, TOML files, and the chain that ``extends`` makes of them."""

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

import attrs

from ycbench_env.config.layer import Layer
from ycbench_env.config.origin import Origin
from ycbench_env.config.schema import nearest
from ycbench_env.config.setting import show
from ycbench_env.errors import ConfigError

__all__ = ["Chain", "Document", "chain_of", "open_document", "preset_names"]

_ROOT: Final = "default"
_SUFFIX: Final = ".toml"


@attrs.frozen
class Document:
    """Settings as one preset, file or mapping declares them.

    Attributes:
        origin: The place.
        identity: Equal for two ways to name the same preset or file.
        directory: Where relative paths in it start.
        tree: Its tables, ``extends`` included.
    """

    origin: Origin
    identity: str
    directory: Path
    tree: Mapping[str, object]

    @property
    def layer(self) -> Layer:
        """The settings without ``extends``."""
        return Layer(self.origin, {key: value for key, value in self.tree.items() if key != "extends"})


@attrs.frozen
class Chain:
    """Layers of a document and all that it stands on, lowest first, and what is wrong with the chain itself."""

    layers: tuple[Layer, ...]
    problems: tuple[str, ...]


@cache
def preset_names() -> tuple[str, ...]:
    """Returns the names of the presets, ``default`` first, then by name."""
    from importlib import resources  # noqa: PLC0415 - slow to import, and needed once

    folder = resources.files("ycbench_env").joinpath("presets")
    names = [entry.name.removesuffix(_SUFFIX) for entry in folder.iterdir() if entry.name.endswith(_SUFFIX)]
    return tuple(sorted(names, key=lambda name: (name != _ROOT, name)))


@cache
def _preset(name: str) -> Document:
    """Returns a preset by its name."""
    from importlib import resources  # noqa: PLC0415 - as above

    data = resources.files("ycbench_env").joinpath("presets").joinpath(name + _SUFFIX).read_bytes()
    origin = Origin("preset", name)
    return Document(origin, str(origin), Path(), _parse(data, str(origin), name))


def open_document(reference: str | os.PathLike[str], directory: Path) -> Document:
    """Returns the preset or file that a reference names; text that names a preset is never taken for a path.

    Args:
        reference: Preset name or path; an object of ``os.PathLike`` is always a path.
        directory: Where a relative path starts.

    Raises:
        ConfigError: There is no such preset or file, or it is no TOML; the message says which, and where.
    """
    if isinstance(reference, str) and reference in preset_names():
        return _preset(reference)
    text = os.fspath(reference)
    if not isinstance(text, str) or not text:  # pyright: ignore[reportUnnecessaryIsInstance] - a path of bytes gets here
        raise ConfigError(_nothing_there(reference, None))
    path = directory / text
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise ConfigError(_nothing_there(reference, path)) from None
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the path
        message = f"{path}: cannot be read as a configuration file: {_reason(error)}"
        raise ConfigError(message) from None
    return Document(Origin("file", str(path)), str(path.resolve()), path.parent, _parse(data, str(path), path.stem))


def _reason(error: OSError | ValueError) -> str:
    """Returns why a file cannot be read, in words."""
    return (isinstance(error, OSError) and error.strerror) or str(error)


def _nothing_there(reference: object, path: Path | None) -> str:
    """Returns what to say where neither a preset nor a file has the name."""
    names = preset_names()
    place = f"there is no file {path}" if path else "it is no path"
    name = show(str(reference) if isinstance(reference, Path) else reference)
    message = f"{name} is not a preset ({', '.join(names)}), and {place}"
    meant = nearest(Path(str(reference)).name.lower(), names)
    return f"{message}; did you mean the preset {meant}?" if meant else message


def _parse(data: bytes, label: str, stem: str) -> Mapping[str, object]:
    """Returns the tables of a TOML file; its name is the stem unless it gives one."""
    import tomllib  # noqa: PLC0415 - needed only by those who read files

    try:
        tree: dict[str, object] = tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"{label}: not UTF-8 at byte {error.start} (line {line}); save the file as UTF-8"
        raise ConfigError(message) from None
    except (ValueError, RecursionError) as error:  # ValueError: also a number of thousands of digits
        message = f"{label}: not TOML: {error}"
        raise ConfigError(message) from None
    return {"name": stem, **tree}


def chain_of(document: Document) -> Chain:
    """Returns a document and all that it stands on; what extends nothing stands on the preset ``default``."""
    documents = [document]
    while documents[-1].identity != _preset(_ROOT).identity:
        try:
            documents.append(_parent(documents))
        except ConfigError as error:
            labels = " -> ".join(str(each.origin) for each in documents)
            return _chain(documents, (f"{labels} -> extends: {error}",))
    return _chain(documents, ())


def _chain(documents: list[Document], problems: tuple[str, ...]) -> Chain:
    """Returns documents, nearest first, as layers, lowest first."""
    return Chain(tuple(document.layer for document in reversed(documents)), problems)


def _parent(documents: list[Document]) -> Document:
    """Returns what the last document stands on.

    Raises:
        ConfigError: There is no such document, or it stands on this one.
    """
    child = documents[-1]
    reference = child.tree.get("extends", _ROOT)
    if not isinstance(reference, str):
        message = f"extends = {show(reference)}: expected the name of a preset or the path of a file"
        raise ConfigError(message)
    parent = open_document(reference, child.directory)
    if any(parent.identity == each.identity for each in documents):
        message = f"{parent.origin}: a cycle; one of them must extend something else"
        raise ConfigError(message)
    return parent
