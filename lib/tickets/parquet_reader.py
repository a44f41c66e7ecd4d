"""Parquet files as a table of text. What it would unpack to is known from its footer, before anything is unpacked."""

from __future__ import annotations

import datetime
import json
import math
from typing import TYPE_CHECKING, Any

from lib.errors import UnreadableFile
from lib.phrases import plural
from lib.tickets.table import Table, build_table, check_size

if TYPE_CHECKING:
    import pyarrow

_BATCH = 1_000      # rows read at once, so that one long text repeated in all rows cannot fill the memory


def read_parquet(name: str, data: bytes, limit: int) -> Table:
    """Every cell as text: whole numbers without ".0", null as empty, lists and structs as JSON text."""
    import pyarrow
    import pyarrow.parquet

    try:
        file = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(data))
        return _table(name, file, limit)
    except (pyarrow.ArrowException, OSError, ValueError, KeyError, IndexError, OverflowError, MemoryError,
            RecursionError, TypeError) as error:
        why = " ".join(str(error).split())[:120]
        raise UnreadableFile(f"{name} is damaged or no Parquet file ({why}): export it again, or as CSV") from error


def _table(name: str, file: Any, limit: int) -> Table:
    footer, names = file.metadata, list(file.schema_arrow.names)
    check_size(name, len(names), footer.num_rows)
    unpacked = sum(footer.row_group(i).total_byte_size for i in range(footer.num_row_groups))
    if unpacked > limit:
        raise UnreadableFile(f"{name} unpacks to {unpacked / 2**20:,.0f} MB, at most {limit / 2**20:,.0f} MB are read: "
                             "split it")
    rows: list[tuple[str, ...]] = []
    left, rounded = 4 * limit, 0
    for batch in file.iter_batches(batch_size=_BATCH):
        columns = []
        for column in batch.columns:
            cells, unsure = _texts(column)
            columns.append(cells)
            rounded += unsure
            left -= sum(map(len, cells))
            if left < 0:
                raise UnreadableFile(f"{name} repeats long texts too often: save it as CSV")
        rows += zip(*columns, strict=True)
        check_size(name, len(names), len(rows))
    notes = [f"{plural(rounded, 'number')} of more than 15 digits in a column of decimal numbers, which rounds them: "
             "export such ids as text"] if rounded else []
    blank = sum(1 for row in rows if not any(map(str.strip, row)))
    if blank:
        rows = [row for row in rows if any(map(str.strip, row))]
        notes.append(f"{plural(blank, 'row')} without a value dropped")
    return build_table(name, (names, rows), notes, blank)


def _texts(column: pyarrow.Array) -> tuple[list[str], int]:
    """(the cells as text, how many of them are numbers that the file cannot hold exactly)."""
    import pyarrow

    if pyarrow.types.is_dictionary(column.type):        # each text once, however often it is used
        words, unsure = _texts(column.dictionary)
        return ["" if i is None else words[i] for i in column.indices.to_pylist()], unsure
    if isinstance(column, pyarrow.ExtensionArray):
        column = column.storage
    if pyarrow.types.is_timestamp(column.type) or pyarrow.types.is_time(column.type) \
            or pyarrow.types.is_duration(column.type):      # as written: nanoseconds do not fit Python's own
        return _stamps(column), 0
    cells = [_text(value) for value in column.to_pylist()]
    if not pyarrow.types.is_floating(column.type):
        return cells, 0
    return cells, sum(1 for cell in cells if len(cell.lstrip("-")) > 15 and cell.lstrip("-").isdecimal())


def _stamps(column: pyarrow.Array) -> list[str]:
    import pyarrow

    zone = getattr(column.type, "tz", None)
    if zone:
        column = column.cast(pyarrow.timestamp(column.type.unit))
    if pyarrow.types.is_duration(column.type):
        column = column.cast(pyarrow.int64())
    texts = column.cast(pyarrow.string()).to_pylist()
    return ["" if text is None else _trimmed(text) + ("Z" if zone else "") for text in texts]


def _trimmed(text: str) -> str:
    whole, dot, fraction = text.partition(".")
    return f"{whole}.{fraction}" if dot and fraction.strip("0") else whole


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value.replace("\0", "")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if math.isnan(value):       # how pandas writes "no number"
            return ""
        return f"{value:.0f}" if value.is_integer() and abs(value) < 1e21 else repr(value)
    if isinstance(value, bytes):
        return _decoded(value)
    if isinstance(value, list | tuple | dict):
        return json.dumps(_plain(value), ensure_ascii=False)
    if isinstance(value, datetime.date):
        return value.isoformat()
    return str(value)


def _decoded(value: bytes) -> str:
    try:
        return value.decode().replace("\0", "")
    except UnicodeDecodeError:
        return f"({len(value):,} bytes)"


def _plain(value: Any) -> Any:
    """A nested value as JSON holds it; a map comes as pairs."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value if isinstance(value, str | int | bool) or value is None else _text(value)
