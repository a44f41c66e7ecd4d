"""CSV in any dialect: the delimiter is found, long cells come whole, a stray quote cannot swallow rows unseen."""

from __future__ import annotations

import csv
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from lib.errors import UnreadableFile
from lib.phrases import plural, some
from lib.tickets.encoding import Encoding, find_encoding, open_text
from lib.tickets.formulas import take_guards_off
from lib.tickets.table import Grid, Table, check_size, make_of, say_places, table_from_grid

DELIMITERS = ",;\t|^~"
_NONE = "\x1f"      # stands for "one column": no text file holds it, nor for the gaps of columns set with spaces
LONGEST_TEXT = 100_000      # lines in one quoted text; a quote open for longer is a stray one
MOST_REREAD = 2_000_000     # lines given back after stray quotes, in all: each may be read again from the next line


def read_csv(name: str, data: bytes, codec: str = "") -> Table:
    """The table in the bytes, whose encoding is found where none is given. Raises UnreadableFile when it is none."""
    data = data.removesuffix(b"\x1a")       # how DOS programs end a file
    encoding = find_encoding(name, data, codec)
    # process-wide in the csv module, and only ever raised: no cell is longer than its file
    csv.field_size_limit(max(csv.field_size_limit(), len(data) + 1))
    notes = [encoding.note] if encoding.note else []
    if encoding.codec in ("utf-8", "utf-8-sig", "cp1252", "latin-1") and b"\0" in data:
        notes.append(f"{plural(data.count(0), 'NUL character')} removed")
    lines: Iterable[str] = _Lines(data, encoding)
    dialect, first = _dialect(lines)
    if dialect["delimiter"] == _NONE and (cut := _cut_at_gaps(list(islice(lines, 200)))):
        lines = _Mapped(lines, cut)
        notes.append("columns are set apart by spaces, please check")
    found = _read(name, islice(lines, first, None), dialect, first)
    if found.broken and b'\\"' in data:
        again = _read(name, (line.replace('\\"', '""') for line in islice(lines, first, None)), dialect, first)
        if len(again.broken) < len(found.broken):
            found = again
            notes.append('quotes written as \\" were read as quotes')
    notes += found.notes()
    if b"=" in data and (forced := _take_excel_text(found.rows)):
        notes.append(f'written as ="…", which makes Excel keep a text: the text in it read ({plural(forced, "cell")})')
    if encoding.codec == "utf-8-sig" and (guards := take_guards_off(found.rows)):      # as our own exports begin
        notes.append(f"text that looks like a formula had an apostrophe before it, as our exports put it there: taken "
                     f"off ({plural(guards, 'cell')})")
    delimiter = "" if dialect["delimiter"] == _NONE else dialect["delimiter"]
    return table_from_grid(name, Grid(found.rows, found.places, "line", delimiter), notes)


def _take_excel_text(rows: list[list[str]]) -> int:
    """Makes ="0071" the text 0071, as a spreadsheet shows it, in place; how many cells."""
    taken = 0
    for row in rows:
        for at, cell in enumerate(row):
            if cell.startswith('="') and (text := _EXCEL_TEXT.fullmatch(cell)):
                row[at] = text[1].replace('""', '"')
                taken += 1
    return taken


_EXCEL_TEXT = re.compile(r'="((?:[^"]|"")*)"\s*')


class _Lines:
    """The file's lines, without NUL and the byte order marks of joined files, as often as they are asked for."""

    def __init__(self, data: bytes, encoding: Encoding):
        self._data, self._encoding = data, encoding

    def __iter__(self) -> Iterator[str]:
        lines = (line.lstrip("\ufeff") for line in open_text(self._data, self._encoding))
        return (line.replace("\0", "") for line in lines) if b"\0" in self._data else lines


class _Mapped:
    """Lines through a function, as often as they are asked for."""

    def __init__(self, lines: Iterable[str], change: Callable[[str], str]):
        self._lines, self._change = lines, change

    def __iter__(self) -> Iterator[str]:
        return map(self._change, self._lines)


# --- the dialect ------------------------------------------------------------------------------------------------------


def _dialect(lines: Iterable[str]) -> tuple[dict, int]:
    """(arguments for csv.reader, lines to skip at the top). Excel's own "sep=;" line decides where it stands."""
    sample = [line[:50_000] for line in islice(lines, 200)]
    hint = re.fullmatch(r'"?sep=(.)"?\s*', sample[0], re.IGNORECASE) if sample else None
    delimiter = hint[1] if hint and hint[1] not in '"\r\n' else _find_delimiter(sample)
    text = "".join(sample)
    spaced, tight = text.count(f'{delimiter} "'), text.count(f'{delimiter}"')
    return {"delimiter": delimiter, "skipinitialspace": spaced > tight and delimiter != " "}, int(bool(hint))


def _find_delimiter(sample: list[str]) -> str:
    """The one that cuts most rows into as many fields as the header has; none, for a file of one column."""
    best, best_rank = _NONE, (False, 0.0, 0)
    for delimiter in DELIMITERS:
        widths = [len(row) for row in csv.reader(sample, delimiter=delimiter) if row]
        if not widths:
            continue
        usual, times = Counter(w for w in widths if w > 1).most_common(1)[0] if max(widths) > 1 else (1, 0)
        rank = (widths[0] == usual, times / len(widths), usual)
        if usual > 1 and rank[1] >= 0.3 and rank > best_rank:
            best, best_rank = delimiter, rank
    return best


def _cut_at_gaps(sample: list[str]) -> Callable[[str], str] | None:
    """How to mark the columns of a listing that sets them apart with spaces: below the header's own words where they
    stand below each other, else at every gap of two spaces. None for any other text."""
    sample = [line.rstrip() for line in sample if line.strip()]
    if len(sample) < 2:
        return None
    starts = [word.start() for word in re.finditer(r"\S+(?: \S+)*", sample[0])]
    if len(starts) < 2:
        return None
    if all(line[start - 1:start] in ("", " ") for line in sample for start in starts[1:]):
        places = list(zip(starts, [*starts[1:], None], strict=True))
        return lambda line: _NONE.join(line[start:end].strip() for start, end in places) + "\n"
    alike = sum(1 for line in sample if len(_GAP.split(line)) == len(starts))
    return (lambda line: _GAP.sub(_NONE, line.strip()) + "\n") if alike > 0.8 * len(sample) else None


_GAP = re.compile(r" {2,}")


# --- the rows ---------------------------------------------------------------------------------------------------------


class _Found:
    """Rows, the line each begins at, and the lines at which quotes were wrong."""

    def __init__(self) -> None:
        self.rows: list[list[str]] = []
        self.places: list[int] = []
        self.broken: list[int] = []         # lines read as they stand, quotes and all
        self.swallowed: list[str] = []      # "3-6": one row that looks like several

    def notes(self) -> list[str]:
        told = []
        if self.broken:
            told.append(f"a stray quote: read as it stands, please check ({say_places('line', self.broken)})")
        if self.swallowed:
            told.append(f"one quoted text runs over lines that look like rows of their own, please check a stray "
                        f"quote (lines {some(self.swallowed, 5)})")
        return told


def _read(name: str, lines: Iterable[str], dialect: dict, skipped: int) -> _Found:
    found, source = _Found(), _Pushback(lines, skipped)
    reader = csv.reader(source, strict=True, **dialect)
    while True:
        source.taken.clear()
        start = source.number + 1
        try:
            row = next(reader)
        except StopIteration:
            return found
        except csv.Error:           # wrong quotes: this one line is taken literally, the next ones are read anew
            first = source.taken[0]
            source.push_back()
            if source.reread > MOST_REREAD:
                raise UnreadableFile(f"{name} has quotes that are never closed in very many rows, the last one in line "
                                     f"{start:,}: export it again") from None
            row = _literally(first, dialect["delimiter"])
            found.broken.append(start)
        else:
            if len(source.taken) > 1 and _holds_rows(source.taken, dialect["delimiter"]):
                found.swallowed.append(f"{start}-{source.number}")
        found.rows.append(row)
        found.places.append(start)
        check_size(name, 0, len(found.rows))


class _Pushback:
    """Feeds lines to csv.reader and can take back all but the first that the current row used."""

    def __init__(self, lines: Iterable[str], number: int):
        self._lines = iter(lines)
        self._ahead: deque[str] = deque()
        self.taken: list[str] = []
        self.number = number        # of the last line given
        self.reread = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if len(self.taken) >= LONGEST_TEXT:
            raise StopIteration         # csv.reader takes it for the end of the file, in the middle of a text
        line = self._ahead.popleft() if self._ahead else next(self._lines)
        self.taken.append(line)
        self.number += 1
        return line

    def push_back(self) -> None:
        self._ahead.extendleft(reversed(self.taken[1:]))
        self.number -= len(self.taken) - 1
        self.reread += len(self.taken) - 1


def _literally(line: str, delimiter: str) -> list[str]:
    cells = line.rstrip("\r\n").split(delimiter)
    return [c[1:-1].replace('""', '"') if len(c) > 1 and c[0] == c[-1] == '"' else c for c in cells]


def _holds_rows(lines: list[str], delimiter: str) -> bool:
    """Whether a line inside a quoted text begins with a cell of the same make ("Q9") as the row's own first cell."""
    make = _make(lines[0], delimiter)
    return bool(make) and any(_make(line, delimiter) == make for line in lines[1:])


def _make(line: str, delimiter: str) -> str:
    end = line.find(delimiter, 0, 30)
    return make_of(line[:end]) if end > 0 else ""
