"""Files that hold no table although they are often uploaded as one: what they are, and what to do about it."""

from __future__ import annotations

import re

from lib.errors import UnreadableFile

_EXPORT = "export it as CSV, XLSX, JSON or JSONL"
_OPEN = "open it in a spreadsheet program and save it as .xlsx or CSV"
_UNPACK = "unpack it and upload what is inside, or a .zip of it"
_MAIL = "export the mailbox or the help desk's tickets as CSV or JSON"

_SAVE = "save it as Parquet or CSV"
_MAGIC = [
    (b"%PDF", "a PDF document", "export the tickets as CSV or XLSX where the PDF was made"),
    (b"\x89PNG", "a picture", _EXPORT), (b"\xff\xd8\xff", "a picture", _EXPORT),
    (b"GIF87a", "a picture", _EXPORT), (b"GIF89a", "a picture", _EXPORT),
    (b"7z\xbc\xaf", "a 7z archive", _UNPACK), (b"Rar!\x1a", "a RAR archive", _UNPACK),
    (b"BZh91AY", "a bzip2 file", _UNPACK), (b"\xfd7zXZ", "an xz file", _UNPACK),
    (b"\x28\xb5\x2f\xfd", "a zstd file", _UNPACK), (b"\x04\x22\x4d\x18", "an lz4 file", _UNPACK),
    (b"MSCF\0", "a cabinet archive", _UNPACK),
    (b"SQLite format 3", "a SQLite database, not a table", "upload it as the product database, or " + _EXPORT),
    (b"7\x7f\x06", "the write-ahead log of a SQLite database", "upload the database beside it"),
    (b"\xd0\xcf\x11\xe0", "an old or password-protected Office file (.xls, .doc, .msg)",
     "open it in the program it is from and save it as .xlsx or CSV, without a password"),
    (b"\t\x08\x10\0\0\x06\x05\0", "an old Excel file (.xls)", _OPEN),
    (b"\t\x04\x06\0", "an old Excel file (.xls)", _OPEN),
    (b"ARROW1\0\0", "a Feather or Arrow file", _SAVE), (b"Obj\x01", "an Avro file", _SAVE),
    (b"\x89HDF", "an HDF5 file", _SAVE), (b"$FL2", "an SPSS file", _SAVE), (b"<stata_dta>", "a Stata file", _SAVE),
    (b"\x80\x04\x95", "a Python pickle", _SAVE), (b"!BDN", "an Outlook mailbox (.pst)", _MAIL),
    (b"{\\rtf", "a rich text document", _EXPORT),
]
_SPACE = rb"(?:\xef\xbb\xbf)?\s*+"
_LOOKS = [
    (rb"<(\?xml|!doctype|html|head|meta|table|rss|feed)\b",
     "an HTML or XML file, which some programs name .xls or .csv",
     _OPEN + "; if it is a sign-in page, sign in and download the export again"),
    (rb"version https://git-lfs\.github\.com", "a Git LFS pointer, not the file itself",
     "fetch the file with `git lfs pull`"),
    (rb"From [^\r\n]{3,200}\d\d:\d\d[^\r\n]*\r?\n[A-Za-z-]+:", "a mailbox (.mbox)", _MAIL),
    (rb"(?:(?:[A-Za-z][\w-]*: [^\r\n]*|[ \t][^\r\n]*+)\r?\n){2,}", "an e-mail message", _MAIL),
    (rb"BEGIN:V(CARD|CALENDAR)", "a calendar or contacts file", _EXPORT),
    (rb"-----BEGIN [A-Z ]+-----", "an encrypted or signed text", "decrypt it first"),
    (rb"(--[^\r\n]*\r?\n\s*|/\*[^*]*\*/;?\s*)*(CREATE TABLE|INSERT INTO|SET [\w@ ]+=|DROP TABLE|BEGIN TRANSACTION)\b",
     "an SQL dump", "load it into a database and export the table of tickets as CSV"),
    (rb"---\s*\r?\n[\w\"' -]+:", "a YAML file", "save it as JSON"),
    (rb"- \w+: [^\r\n]*\r?\n  \w+:", "a YAML file", "save it as JSON"),
]
_LOOKS = [(re.compile(_SPACE + pattern, re.IGNORECASE), kind, advice) for pattern, kind, advice in _LOOKS]
_MAIL_HEADERS = re.compile(rb"^(received|return-path|from|to|mime-version|message-id|subject|delivered-to|x-[\w-]+):",
                           re.IGNORECASE | re.MULTILINE)


def refuse_other_kinds(name: str, data: bytes) -> None:
    """Raises UnreadableFile with the kind of file it is and what to do, when it is one that holds no table."""
    for magic, kind, advice in _MAGIC:
        if data.startswith(magic):
            raise UnreadableFile(f"{name} is {kind}: {advice}")
    head = data[:4_000]
    for looks, kind, advice in _LOOKS:
        found = looks.match(head)
        if found and (kind != "an e-mail message" or len(set(_MAIL_HEADERS.findall(found[0]))) > 2):
            raise UnreadableFile(f"{name} is {kind}: {advice}")
