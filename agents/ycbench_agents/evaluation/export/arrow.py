"""The little of Arrow that is used here, with types, of which pyarrow has none."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from ycbench_env import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence
    from pathlib import Path

try:
    import pyarrow as pa  # pyright: ignore[reportMissingTypeStubs] -- it has none
    from pyarrow import parquet as pq  # pyright: ignore[reportMissingTypeStubs] -- as above
except ImportError as error:
    _MISSING = "Parquet needs pyarrow, which is not installed; install it with: pip install 'ycbench-env[evaluation]'"
    raise MissingExtraError(_MISSING) from error

__all__ = ["TEXTS", "RowWriter", "writing_rows"]

TEXTS: Final = "list<string>"
"""Type of a column of lists of texts, for which Arrow has no alias."""

_ARROW: Final = cast("Any", pa)
_PARQUET: Final = cast("Any", pq)


class RowWriter(Protocol):
    """Writes rows."""

    def __call__(self, rows: Sequence[Mapping[str, object]]) -> None:
        """Write rows as one group; columns that they have beyond the schema are left out."""
        ...


@contextlib.contextmanager
def writing_rows(path: Path, columns: Mapping[str, str], metadata: Mapping[str, str]) -> Generator[RowWriter]:
    """Give a function that writes rows to a file of Parquet, which is whole at the end.

    Args:
        path: The file.
        columns: Arrow's name of the type of each column.
        metadata: Metadata of the schema.

    Raises:
        OSError: The file cannot be written.
    """
    types = [
        (name, _ARROW.list_(_ARROW.string()) if kind == TEXTS else _ARROW.type_for_alias(kind))
        for name, kind in columns.items()
    ]
    schema = _ARROW.schema(types, metadata=dict(metadata))
    with path.open("wb") as file, _PARQUET.ParquetWriter(file, schema, compression="zstd") as writer:
        yield lambda rows: writer.write_batch(_ARROW.RecordBatch.from_pylist(list(rows), schema=schema))
