"""How this library reads and writes every file: bounded, strict JSON, typed by cattrs, written whole or not at all.

Two kinds of reading exist. ``read_file`` opens what the operator names, which may be a link or a pipe. ``read_record``
opens a file of a folder that may come from anybody: a regular file inside that folder and nothing else.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, NoReturn, TypeVar, get_origin

import attrs

from ycbench_agents.base import Json
from ycbench_env.errors import MissingExtraError
from ycbench_env.text import shown

if TYPE_CHECKING:
    import cattrs


_T = TypeVar("_T")
MOST_BYTES: Final = 64 * 2**20
"""Largest file that is read whole, unless a caller names another bound."""
_NO_FOLDER_SYNC: Final = (errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)
_SCALARS: Final = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


class FileError(ValueError):
    """A file cannot be read or written; the message names the file, what is wrong and how to put it right."""


# ---------------------------------------------------------------- reading


def read_file(path: Path | str, most: int = MOST_BYTES) -> bytes:
    """Return the content of a file that the operator names; links, pipes and devices are followed.

    Args:
        path: The file.
        most: Largest number of bytes that is read.

    Raises:
        FileError: It cannot be read, or is larger.
    """
    try:
        with Path(path).open("rb") as file:
            return _bounded(file.read(most + 1), path, most)
    except OSError as error:
        raise _system_error(path, "read", error) from error


def open_record(path: Path) -> int:
    """Return a descriptor of a regular file for reading; a symbolic link, a pipe or a device is refused.

    Raises:
        FileNotFoundError: There is no such file.
        FileError: It is no regular file, or cannot be opened.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        raise
    except OSError as error:
        if error.errno == errno.ELOOP:
            msg = f"{path}: is a symbolic link, expected a regular file; copy the file itself into the folder"
            raise FileError(msg) from None
        raise _system_error(path, "read", error) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        msg = f"{path}: is not a regular file; remove it, or copy the file itself into the folder"
        raise FileError(msg)
    return descriptor


def read_record(path: Path, most: int = MOST_BYTES) -> bytes:
    """Return the content of a file of a folder that may come from anybody: a regular file of bounded size.

    Raises:
        FileNotFoundError: There is no such file.
        FileError: It is no regular file, cannot be read, or is larger than ``most`` bytes.
    """
    with os.fdopen(open_record(path), "rb") as file:
        return _bounded(file.read(most + 1), path, most)


def _bounded(data: bytes, path: Path | str, most: int) -> bytes:
    if len(data) > most:
        msg = f"{path}: is larger than {most:,} bytes, the most that is read"
        raise FileError(msg)
    return data


# ---------------------------------------------------------------- JSON


def to_json(value: object, *, indent: int | None = None, sort_keys: bool = False) -> str:
    """Return strict JSON text in ASCII, compact unless indented.

    Raises:
        TypeError: JSON has no such value.
        ValueError: It holds a NaN or an infinity.
    """
    separators = (",", ":") if indent is None else None
    return json.dumps(
        value, ensure_ascii=True, allow_nan=False, separators=separators, indent=indent, sort_keys=sort_keys
    )


def parse_json(data: str | bytes, place: Path | str) -> Json:
    """Return the value of a JSON text; a byte order mark before it is ignored.

    Args:
        data: The text, bytes in UTF-8.
        place: File (and line) for error messages.

    Raises:
        FileError: It is not strict JSON: a syntax error, NaN, not UTF-8, nested too deep, or a number too long.
    """
    try:
        text = data.decode("utf-8-sig") if isinstance(data, bytes) else data.removeprefix("\ufeff")
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        msg = f"{place}: not valid JSON ({error})"
        raise FileError(msg) from None


def _refuse_constant(name: str) -> NoReturn:
    msg = f"{name} is not JSON"
    raise ValueError(msg)


# ---------------------------------------------------------------- typed values


def structure(value: object, kind: type[_T], place: Path | str) -> _T:
    """Return an attrs object (or list, dict, union of them) built from JSON values, with every type checked.

    Values are never coerced: ``"7"`` and ``true`` are no whole numbers; a whole number is a valid float. Unknown keys
    and missing keys are errors; keys with a default may be missing.

    Args:
        value: JSON values.
        kind: The type to build.
        place: File for error messages.

    Raises:
        FileError: A key is missing, unknown or of another type; the message names each.
        MissingExtraError: cattrs is not installed.
    """
    cattrs_module, converter = _converter()
    try:
        return converter.structure(value, kind)
    except Exception as error:
        if not isinstance(error, (cattrs_module.BaseValidationError, ValueError, TypeError, KeyError)):
            raise
        lines = cattrs_module.transform_error(error, path="", format_exception=_reason)
        problems = "; ".join(line.replace(" @ .", " at ").removesuffix(" @ ") for line in lines[:5])
        msg = f"{place}: {problems}"
        raise FileError(msg) from None


def from_json(data: str | bytes, kind: type[_T], place: Path | str) -> _T:
    """Return ``structure(parse_json(data))``.

    Raises:
        FileError: It is not strict JSON, or a key is missing, unknown or of another type.
    """
    return structure(parse_json(data, place), kind, place)


def unstructure(value: object) -> Any:  # noqa: ANN401 -- JSON values, whose exact type follows from the value
    """Return the JSON values of an attrs object, which ``structure`` turns back into an equal object."""
    return _converter()[1].unstructure(value)


def _converter() -> tuple[Any, cattrs.Converter]:
    try:
        import cattrs  # noqa: PLC0415 -- of an extra; the core does without
    except ImportError as error:
        msg = "reading and writing records needs cattrs: pip install '.[cli]' in the folder of this project"
        raise MissingExtraError(msg) from error
    if not _CONVERTERS:
        _CONVERTERS.append(_make_converter(cattrs))
    return cattrs, _CONVERTERS[0]


_CONVERTERS: Final[list[cattrs.Converter]] = []  # made once, when first needed


def _make_converter(module: Any) -> cattrs.Converter:  # noqa: ANN401 -- the module cattrs
    from cattrs import cols, gen  # noqa: PLC0415 -- as above

    converter = module.Converter(forbid_extra_keys=True, unstruct_collection_overrides={tuple: list})
    for kind, name in _SCALARS.items():
        converter.register_structure_hook(kind, _strict(kind, name))
    containers: tuple[
        tuple[Any, Any, type, str], ...
    ] = (  # cattrs iterates over a text, and fails with an AttributeError where it expects an object
        (lambda kind: get_origin(kind) is tuple, cols.homogenous_tuple_structure_factory, list, "a list"),
        (lambda kind: get_origin(kind) is list, cols.list_structure_factory, list, "a list"),
        (lambda kind: get_origin(kind) is dict, cols.mapping_structure_factory, dict, "an object"),
        (attrs.has, gen.make_dict_structure_fn, dict, "an object"),
    )
    for applies, factory, accepted, name in containers:
        converter.register_structure_hook_factory(applies, _refusing_others(factory, accepted, name))
    converter.register_structure_hook(Path, _to_path)
    converter.register_structure_hook(str | list[str], _to_texts)
    converter.register_unstructure_hook(Path, str)
    return converter


def _to_path(value: str, _: object) -> Path:
    return Path(value)


def _to_texts(value: Any, _: object) -> str | list[str]:  # noqa: ANN401 -- what JSON gave
    if isinstance(value, str) or (isinstance(value, list) and all(isinstance(text, str) for text in value)):
        return value
    msg = f"got {shown(value)}, expected a text or a list of texts"
    raise ValueError(msg)


def _refusing_others(factory: Callable[..., Any], accepted: type, name: str) -> Callable[..., Any]:
    """Return a hook factory that refuses values of another JSON type first."""

    def make(kind: Any, converter: cattrs.Converter) -> Callable[[Any, Any], Any]:  # noqa: ANN401 -- any type
        hook = factory(kind, converter)

        def check(value: Any, kind: Any) -> Any:  # noqa: ANN401 -- what JSON gave
            if not isinstance(value, accepted):
                msg = f"got {shown(value)}, expected {name}"
                raise TypeError(msg)
            return hook(value, kind)

        return check

    return make


def _strict(kind: type, name: str) -> Callable[[Any, object], Any]:
    def check(value: Any, _: object) -> Any:  # noqa: ANN401 -- what JSON gave
        if type(value) is kind:
            return value
        if kind is float and type(value) is int:
            return float(value)
        msg = f"got {shown(value)}, expected {name}"
        raise ValueError(msg)

    return check


def _reason(error: BaseException, _: type | None) -> str:
    if isinstance(error, KeyError):
        return f"{error.args[0]} is missing"
    return " ".join(str(error).split()) or type(error).__name__


# ---------------------------------------------------------------- writing


def write_file(path: Path | str, data: str | bytes) -> None:
    r"""Write a file whole, see ``writing``; text is written in UTF-8 with ``\n``.

    Raises:
        FileError: The system refuses; the message names the file and the reason.
    """
    with writing(path) as file:
        file.write(_encoded(data))


@contextlib.contextmanager
def writing(path: Path | str) -> Generator[IO[bytes]]:
    """Give a file to write, which is whole at the end: a kill at any moment leaves the old content or the new.

    ``-`` is standard output. What exists and is no regular file (a device, a pipe, a symbolic link) is opened and
    written; it is never replaced. Missing folders are made.

    Raises:
        FileError: The system refuses; the message names the file and the reason.
    """
    if str(path) == "-":
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(path)
    try:
        if path.is_symlink() or (path.exists() and not path.is_file()):
            with path.open("wb") as file:
                yield file
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            with _replacing(path) as file:
                yield file
    except OSError as error:
        raise _system_error(path, "written", error) from error


def write_record(path: Path, data: str | bytes) -> None:
    """Write a file of a folder that may come from anybody, whole; a link, a pipe or a device there is refused.

    Raises:
        FileError: It is no regular file, or the system refuses.
    """
    try:
        if path.is_symlink() or (path.exists() and not path.is_file()):
            msg = f"{path}: is not a regular file; remove it, or choose another folder"
            raise FileError(msg)
        path.parent.mkdir(parents=True, exist_ok=True)
        with _replacing(path) as file:
            file.write(_encoded(data))
    except OSError as error:
        raise _system_error(path, "written", error) from error


def _encoded(data: str | bytes) -> bytes:
    return data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data


@contextlib.contextmanager
def _replacing(path: Path) -> Generator[IO[bytes]]:
    """Write beside the target and rename."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name[:100]}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        Path(name).chmod(stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666 & ~umask)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk, where the file system can do that.

    Raises:
        OSError: The system refuses for another reason than that it has no such call.
    """
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_FOLDER_SYNC:
            raise
    finally:
        os.close(descriptor)


def _system_error(path: Path | str, verb: str, error: OSError) -> FileError:
    """Return the error of a file that cannot be read or written."""
    return FileError(f"{path}: cannot be {verb}: {error.strerror or error}")
