"""Archives, workbooks and Parquet files for the readers' tests, built in memory."""

from __future__ import annotations

import io
import zipfile
from typing import Any

from openpyxl import Workbook


def zipped(files: dict[str, bytes | str], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def marked_encrypted(data: bytes) -> bytes:
    """The archive with the "encrypted" bit of each member set, in its directory and before the member itself."""
    found = bytearray(data)
    for magic, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = found.find(magic)
        while start >= 0:
            found[start + at] |= 1
            start = found.find(magic, start + 4)
    return bytes(found)


def workbook(**sheets: list[list[Any]]) -> bytes:
    book, out = Workbook(), io.BytesIO()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(out)
    return out.getvalue()


def parquet(**columns: Any) -> bytes:
    import pyarrow
    import pyarrow.parquet

    out = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), out)
    return out.getvalue()
