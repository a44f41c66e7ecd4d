"""Zip archives and .gz files: what is inside, as files of their own. Nothing is written to disk, and how much it would
unpack to is known, or watched, before it is unpacked."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator

from lib.errors import UnreadableFile
from lib.phrases import plural, some
from lib.tickets.table import one_line

MAX_MEMBERS = 1_000
MAX_RATIO = 200             # unpacked : packed, of what is larger than SMALL; exports stay below 50, padding is 1000
SMALL = 10 * 2**20
NAMELESS = "(nameless)"
TABLE_NAMES = (".csv", ".tsv", ".tab", ".psv", ".json", ".jsonl", ".ndjson", ".xlsx", ".xlsm", ".parquet")
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError,
           OverflowError)
_OUTSIDE = re.compile(r"[/\\]|[A-Za-z]:|(.*[/\\])?\.\.([/\\]|$)", re.DOTALL)
_WORKBOOK = {"xl/workbook.xml", "xl/workbook.bin"}
_DOCUMENTS = {      # a member that tells what kind of file the zip really is
    "word/document.xml": ("a Word document", "copy its table into a spreadsheet and save that as .xlsx or CSV"),
    "ppt/presentation.xml": ("a presentation", "copy its table into a spreadsheet and save that as .xlsx or CSV"),
    "content.xml": ("an OpenDocument file", "save it as .xlsx or CSV"),
    "Index/Document.iwa": ("an Apple Numbers, Pages or Keynote file", "export it as Excel (.xlsx) or CSV"),
    "META-INF/MANIFEST.MF": ("a Java archive", "upload an export of tickets"),
    "AndroidManifest.xml": ("an Android app", "upload an export of tickets"),
}


def is_zip(data: bytes) -> bool:
    return data.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08"))


def is_gzip(data: bytes) -> bool:
    return data.startswith(b"\x1f\x8b")


def is_workbook(data: bytes) -> bool:
    """Whether a zip is to be read as an XLSX workbook; a damaged one is, by whoever reads workbooks."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return not _WORKBOOK.isdisjoint(archive.NameToInfo)
    except _DAMAGE:
        return b"xl/work" in data or b"[Content_Types].xml" in data[:100]


def unzip(name: str, data: bytes, limit: int, also: tuple[str, ...] = ()) -> tuple[list[tuple[str, bytes]], list[str]]:
    """The files inside that may hold a table, and notes on the others. Raises UnreadableFile for an archive that holds
    none, one that is damaged or encrypted, and, from its directory alone, for one that no honest program makes. `also`
    are endings of files that hold tables beside TABLE_NAMES."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = [info for info in archive.infolist() if not info.filename.endswith("/")]
            _check_directory(name, archive, infos, limit)
            wanted, notes = _sort(name, infos, (*TABLE_NAMES, *also))
            return [(one_line(info.filename) or NAMELESS, archive.read(info)) for info in wanted], notes
    except _DAMAGE as error:
        raise UnreadableFile(f"{name} is damaged, or cut off ({error}): zip its files again") from error


def _check_directory(name: str, archive: zipfile.ZipFile, infos: list[zipfile.ZipInfo], limit: int) -> None:
    for telling, (kind, advice) in _DOCUMENTS.items():
        if telling in archive.NameToInfo:
            raise UnreadableFile(f"{name} is {kind}: {advice}")
    if len(infos) > MAX_MEMBERS:
        raise UnreadableFile(f"{name} holds {len(infos):,} files, {MAX_MEMBERS:,} are the limit: split it")
    for info in infos:
        if _OUTSIDE.match(info.orig_filename):
            raise UnreadableFile(f"{name} holds a file whose path leads out of the archive ({_short(info.filename)}): "
                                 "zip the files again")
        if info.file_size > SMALL and info.file_size > MAX_RATIO * info.compress_size:
            raise UnreadableFile(f"{name} looks like a zip bomb: {_short(info.filename)} unpacks to "
                                 f"{info.file_size // max(info.compress_size, 1):,} times its size")
    total = sum(info.file_size for info in infos)
    if total > limit:
        raise UnreadableFile(f"{name} unpacks to {total / 2**20:,.0f} MB, at most {limit / 2**20:,.0f} MB are read: "
                             "split it")


def _sort(name: str, infos: list[zipfile.ZipInfo], endings: tuple[str, ...]) -> tuple[list[zipfile.ZipInfo], list[str]]:
    """(members to read, notes on those that are not)."""
    hidden = [info for info in infos if _is_hidden(info.filename)]
    seen = [info for info in infos if not _is_hidden(info.filename)]
    locked = [info for info in seen if info.flag_bits & 1]
    nested = [info for info in seen if _ends(info, ".zip", ".7z", ".rar", ".tar", ".tgz", ".gz", ".bz2", ".xz")]
    open_ = [info for info in seen if info not in locked and info not in nested]
    tables = [info for info in open_ if _ends(info, *endings)]
    wanted = tables or [info for info in open_ if _ends(info, ".txt", ".xls") or "." not in _last(info.filename)]
    others = [info for info in open_ if info not in wanted]
    if not wanted:
        why = ("its files are encrypted: unpack it with its password and upload what is inside" if locked else
               f"only archives inside ({_names(nested)}): unpack it and upload what is inside" if nested else
               f"no table in it ({_names(others)})" if others else "there is no file in it")
        raise UnreadableFile(f"{name} cannot be read: {why}")
    told = [("encrypted", locked), ("an archive inside the archive", nested), ("no table", others),
            ("hidden", hidden)]
    return wanted, [f"{name}: {plural(len(files), 'file')} not read, {why} ({_names(files)})"
                    for why, files in told if files]


def _is_hidden(path: str) -> bool:
    parts = path.split("/")
    return "__MACOSX" in parts or any(part.startswith(".") for part in parts) or parts[-1].lower() in (
        "thumbs.db", "desktop.ini") or parts[-1].startswith("~$")


def _ends(info: zipfile.ZipInfo, *endings: str) -> bool:
    return info.filename.lower().endswith(endings)


def _last(path: str) -> str:
    return path.rpartition("/")[2]


def _names(infos: list[zipfile.ZipInfo]) -> str:
    return some([_short(info.filename) for info in infos], 5)


def _short(path: str) -> str:
    path = one_line(path) or NAMELESS
    return path if len(path) <= 80 else f"{path[:40]}…{path[-38:]}"


def gunzip(name: str, data: bytes, limit: int) -> tuple[str, bytes]:
    """The one file inside, and its name. Raises UnreadableFile, for a bomb as soon as it shows."""
    pieces, size = [], 0
    try:
        for piece in _inflated(data):
            size += len(piece)
            if size > limit:
                raise UnreadableFile(f"{name} unpacks to more than {limit / 2**20:,.0f} MB, which is the limit: split "
                                     "it")
            if size > SMALL and size > MAX_RATIO * len(data):
                raise UnreadableFile(f"{name} looks like a zip bomb: it unpacks to more than {MAX_RATIO} times its "
                                     "size")
            pieces.append(piece)
    except (zlib.error, EOFError) as error:
        raise UnreadableFile(f"{name} is damaged, or cut off ({error}): pack it again, or upload what is inside"
                             ) from error
    inside = b"".join(pieces)
    if inside[257:262] == b"ustar":
        raise UnreadableFile(f"{name} is a tar archive: unpack it and upload what is inside, or a zip of it")
    return re.sub(r"\.gz$", "", name, flags=re.IGNORECASE), inside


def _inflated(data: bytes) -> Iterator[bytes]:
    """A .gz file may be several joined ones; zeros after the last are padding."""
    rest = data
    while rest.strip(b"\0"):
        stream = zlib.decompressobj(wbits=31)
        piece = rest
        while not stream.eof:
            out = stream.decompress(piece, 1 << 20)
            if not out and not stream.unconsumed_tail and not stream.eof:
                raise EOFError("the end is missing")
            piece = stream.unconsumed_tail
            yield out
        rest = stream.unused_data
