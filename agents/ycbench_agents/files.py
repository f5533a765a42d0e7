"""How this library reads and writes every file: bounded, strict JSON, typed by cattrs, written whole or not at all.

``read_file`` and ``writing`` open what the operator names, which may be a link or a pipe. ``read_record`` and
``write_record`` are for folders that may come from anybody: a regular file inside that folder and nothing else. All of
them raise a FileError where the system refuses, and reading does where a file is larger than its bound.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import json
import os
import stat
import sys
import tempfile
import tomllib
from collections.abc import Callable, Generator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, NoReturn, TypeVar, get_origin

import attrs

from ycbench_env.errors import needs_extra
from ycbench_env.text import Json, nearest, shown

if TYPE_CHECKING:
    import cattrs

_T = TypeVar("_T")
MOST_BYTES: Final = 64 * 2**20
"""Largest file that is read whole, unless a caller names another bound."""


class FileError(ValueError):
    """A file cannot be read or written; the message names the file, what is wrong and how to put it right."""


@contextlib.contextmanager
def _named(path: Path | str, verb: str) -> Generator[None]:
    """Turn an error of the system into one that names the file."""
    try:
        yield
    except OSError as error:
        reason = "it is a symbolic link, expected a regular file" if error.errno == errno.ELOOP else error.strerror
        msg = f"{path}: cannot be {verb}: {reason or error}"
        raise FileError(msg) from error


# ---------------------------------------------------------------- reading


def read_file(path: Path | str, most: int = MOST_BYTES) -> bytes:
    """Return the content of a file that the operator names; links, pipes and devices are followed."""
    with _named(path, "read"), Path(path).open("rb") as file:
        return _bounded(file, path, most)


def read_toml(path: Path | str) -> dict[str, Any]:
    """Return the tables of a TOML file that the operator names."""
    data = read_file(path)
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        msg = f"{path}: not valid TOML: {error}"
        raise FileError(msg) from None


def open_record(path: Path) -> int:
    """Return a descriptor of a regular file for reading; FileNotFoundError where there is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        raise
    except OSError as error:
        with _named(path, "read"):
            raise error from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        msg = f"{path}: is not a regular file; remove it, or copy the file itself into the folder"
        raise FileError(msg)
    return descriptor


def read_record(path: Path, most: int = MOST_BYTES) -> bytes:
    """Return the content of a regular file; FileNotFoundError where there is none."""
    with os.fdopen(open_record(path), "rb") as file:
        return _bounded(file, path, most)


def _bounded(file: IO[bytes], path: Path | str, most: int) -> bytes:
    data = file.read(most + 1)
    if len(data) > most:
        msg = f"{path}: is larger than {most:,} bytes, the most that is read"
        raise FileError(msg)
    return data


# ---------------------------------------------------------------- JSON


def to_json(value: object, *, indent: int | None = None, sort_keys: bool = False) -> str:
    """Return strict JSON text in ASCII; TypeError or ValueError for a value that JSON does not have, like NaN."""
    separators = (",", ":") if indent is None else None
    return json.dumps(value, allow_nan=False, separators=separators, indent=indent, sort_keys=sort_keys)


def parse_json(data: str | bytes, place: Path | str) -> Json:
    """Return the value of a strict JSON text (bytes in UTF-8); a byte order mark before it is ignored.

    FileError names the place: a syntax error, NaN, not UTF-8, nested too deep, or a number too long.
    """

    def refuse(name: str) -> NoReturn:
        msg = f"{name} is not JSON"
        raise ValueError(msg)

    try:
        text = data.decode("utf-8-sig") if isinstance(data, bytes) else data.removeprefix("\ufeff")
        return json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        msg = f"{place}: not valid JSON ({error})"
        raise FileError(msg) from None


# ---------------------------------------------------------------- typed values


def structure(value: object, kind: type[_T], place: Path | str) -> _T:
    """Return an attrs object (or list, dict, union of them) built from JSON values, with every type checked.

    Values are never coerced: ``"7"`` and ``true`` are no whole numbers; a whole number is a valid float. Unknown keys
    and missing keys are a FileError that names place and keys; keys with a default may be missing. A class with
    ``from_json_values`` and ``to_json_values`` reads and writes itself.
    """
    converter = _converter()
    import cattrs  # noqa: PLC0415 -- of an extra

    def reason(error: BaseException, _: type | None) -> str:
        if isinstance(error, cattrs.ForbiddenExtraKeysError):
            known = [field.name for field in attrs.fields(error.cl)]
            keys = ", ".join(
                shown(key) + (f", did you mean {meant}?" if (meant := nearest(key, known)) else "")
                for key in sorted(error.extra_fields)
            )
            return f"unknown keys: {keys} (known: {', '.join(known)})"
        return "missing" if isinstance(error, KeyError) else " ".join(str(error).split())

    try:
        return converter.structure(value, kind)
    except (cattrs.BaseValidationError, ValueError, TypeError, KeyError) as error:
        lines = cattrs.transform_error(error, path="", format_exception=reason)
        missing = ", ".join(line.removeprefix("missing @ .") for line in lines if line.startswith("missing @ ."))
        lines = [f"missing: {missing}"] * bool(missing) + [each for each in lines if not each.startswith("missing @ .")]
        problems = "; ".join(
            line.replace(" @ .", " @ ").replace(" @ ", " at ").removesuffix(" at ") for line in lines[:5]
        )
        msg = f"{place}: {problems}"
        raise FileError(msg) from None


def from_json(data: str | bytes, kind: type[_T], place: Path | str) -> _T:
    """Return ``structure(parse_json(data))``."""
    return structure(parse_json(data, place), kind, place)


def unstructure(value: object) -> Any:  # noqa: ANN401 -- JSON values, whose exact type follows from the value
    """Return the JSON values of an attrs object, which ``structure`` turns back into an equal object."""
    return _converter().unstructure(value)


@functools.cache
def _converter() -> cattrs.Converter:
    with needs_extra("cli", "reading and writing records needs cattrs"):
        from cattrs import Converter, cols, gen, strategies  # noqa: PLC0415 -- of an extra; the core does without
    converter = Converter(forbid_extra_keys=True, unstruct_collection_overrides={tuple: list})
    for kind, accepted, name in (
        (str, (str,), "a text"),
        (int, (int,), "a whole number"),
        (float, (int, float), "a number"),
        (bool, (bool,), "true or false"),
    ):
        converter.register_structure_hook(kind, _checked(lambda value, kind: kind(value), accepted, name))
    containers: tuple[tuple[Any, Any, type, str], ...] = (  # cattrs itself would iterate over a text
        (lambda kind: get_origin(kind) is tuple, cols.homogenous_tuple_structure_factory, list, "a list"),
        (lambda kind: get_origin(kind) is list, cols.list_structure_factory, list, "a list"),
        (lambda kind: get_origin(kind) is dict, cols.mapping_structure_factory, dict, "an object"),
        (attrs.has, gen.make_dict_structure_fn, dict, "an object"),
    )
    for applies, factory, accepted, name in containers:
        converter.register_structure_hook_factory(applies, _container(factory, accepted, name))
    converter.register_structure_hook(str | list[str], _checked(_texts, (str, list), "a text or a list of texts"))
    strategies.use_class_methods(converter, "from_json_values", "to_json_values")
    return converter


def _container(factory: Any, accepted: type, name: str) -> Callable[..., Any]:  # noqa: ANN401 -- a factory of cattrs
    return lambda kind, converter: _checked(factory(kind, converter), (accepted,), name)


def _checked(hook: Callable[[Any, Any], Any], accepted: tuple[type, ...], name: str) -> Callable[[Any, Any], Any]:
    """Return a hook that first refuses a value of another JSON type."""

    def check(value: Any, kind: Any) -> Any:  # noqa: ANN401 -- what JSON gave
        if not isinstance(value, accepted) or (isinstance(value, bool) and bool not in accepted):
            msg = f"got {shown(value)}, expected {name}"
            raise ValueError(msg)
        return hook(value, kind)

    return check


def _texts(value: Any, _: object) -> str | list[str]:  # noqa: ANN401 -- what JSON gave
    if isinstance(value, list) and not all(isinstance(text, str) for text in value):
        msg = f"got {shown(value)}, expected a text or a list of texts"
        raise ValueError(msg)
    return value


# ---------------------------------------------------------------- writing


def write_file(path: Path | str, data: str | bytes) -> None:
    r"""Write a file whole, see ``writing``; text is written in UTF-8 with ``\n``."""
    with writing(path) as file:
        file.write(data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data)


def write_record(path: Path, data: str | bytes) -> None:
    """Write a file of a folder that may come from anybody, whole; a link, a pipe or a device there is refused."""
    if _is_special(path):
        msg = f"{path}: is not a regular file; remove it, or choose another folder"
        raise FileError(msg)
    write_file(path, data)


def _is_special(path: Path) -> bool:
    with _named(path, "written"):
        return path.is_symlink() or (path.exists() and not path.is_file())


@contextlib.contextmanager
def writing(path: Path | str) -> Generator[IO[bytes]]:
    """Give a file to write, which is whole at the end: a kill at any moment leaves the old content or the new.

    ``-`` is standard output. What exists and is no regular file (a device, a pipe, a symbolic link) is opened and
    written; it is never replaced. Missing folders are made.
    """
    if str(path) == "-":
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(path)
    with _named(path, "written"):
        if _is_special(path):
            with path.open("wb") as file:
                yield file
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name[:100]}.", suffix=".part", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                yield file
                file.flush()
                os.fsync(descriptor)
            umask = os.umask(0)
            os.umask(umask)
            Path(name).chmod(stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666 & ~umask)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk, where the file system can do that."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}:
            raise
    finally:
        os.close(descriptor)
