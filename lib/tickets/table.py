"""A table of text, and how the rows of a file become one: header, blanks, repeated headers, footers, ragged rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from lib.errors import UnreadableFile
from lib.phrases import plural, some
from lib.tickets.visible import visible

MAX_COLUMNS = 2_000         # what SQLite takes
MAX_ROWS = 1_048_576        # what a spreadsheet holds; blank ones count
MAX_CELLS = 20_000_000      # rows x columns; short rows are filled up, so a small file could ask for far more


@dataclass(frozen=True)
class Table:
    """Every cell is text as it stood in the file; every row has as many cells as there are columns."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()     # what the reader did, one short line each
    left_out: int = 0               # rows of the file that are not in `rows`; the notes say which and why

    @property
    def found(self) -> int:
        """Rows below the header in the file, blank ones and footers too."""
        return len(self.rows) + self.left_out


@dataclass
class Grid:
    """Rows as found, before anything is known of them. `places[i]` is the line or sheet row where `rows[i]` begins."""

    rows: list[list[str]]
    places: list[int]
    unit: str = "line"              # what a place is called
    delimiter: str = ""             # set where an unquoted one may have split a cell; empty: extra cells are columns
    left_out: int = 0               # rows taken out, each told in a note


def table_from_grid(name: str, grid: Grid, notes: Iterable[str] = ()) -> Table:
    """The table in the grid. Raises UnreadableFile when there is no row, or no honest way to fit rows to columns."""
    told = list(notes)
    closing = _drop_closing_words(grid)
    _drop_blanks(grid, told)
    header = _take_header(name, grid, told)
    if not grid.rows:
        raise UnreadableFile(f"{name} has a header but no row below it: export it again with its tickets or rows")
    _drop_repeats(grid, header, told)
    if not grid.rows:
        raise UnreadableFile(f"{name} holds its header again and again, but no row: export it again with its tickets")
    told += closing
    _drop_footer(grid, len(header), told)
    _fit(name, grid, header, told)
    return build_table(name, _without_ghosts(header, grid.rows), told, grid.left_out)


def build_table(name: str, columns_and_rows: tuple[list[str], list], notes: Iterable[str], left_out: int = 0) -> Table:
    """A Table with usable, unique column names, within the limits on columns and cells."""
    columns, rows = columns_and_rows
    check_size(name, len(columns), len(rows))
    if not rows:
        raise UnreadableFile(f"{name} holds no rows: export it again with its tickets or rows")
    return Table(name, unique_names(columns), tuple(map(tuple, rows)), tuple(map(one_line, notes)), left_out)


def join_tables(tables: Sequence[Table]) -> Table:
    """Tables of the same columns, in whatever order, below each other; each one's notes say whose they are."""
    first = tables[0]
    if len(tables) == 1:
        return first
    rows: list[tuple[str, ...]] = []
    for table in tables:
        if table.columns == first.columns:
            rows += table.rows
        else:
            order = [table.columns.index(column) for column in first.columns]
            rows += [tuple(row[i] for i in order) for row in table.rows]
    name = " + ".join(table.name for table in tables)
    check_size(name, len(first.columns), len(rows))
    parts = ", ".join(f"{table.name} ({plural(len(table.rows), 'row')})" for table in tables[:8])
    return Table(name, first.columns, tuple(rows), (
        f"added up: {parts}" + (f" and {len(tables) - 8:,} more" if len(tables) > 8 else ""),
        *(f"{table.name}: {note}" for table in tables for note in table.notes)),
        sum(table.left_out for table in tables))


def check_size(name: str, columns: int, rows: int) -> None:
    if rows > MAX_ROWS:
        raise UnreadableFile(f"{name} has more than {MAX_ROWS:,} rows, blank ones counted: split it")
    if columns > MAX_COLUMNS:
        raise UnreadableFile(f"{name} has {columns:,} columns, at most {MAX_COLUMNS:,} are read: remove the empty ones")
    if columns * rows > MAX_CELLS:
        raise UnreadableFile(f"{name} would fill {columns:,} x {rows:,} cells, {MAX_CELLS:,} are the limit: split it")


def unique_names(names: Sequence[str], same: Callable[[str], str] = str, reserved: Iterable[str] = (),
                 noun: str = "column") -> tuple[str, ...]:
    """The names, trimmed; a nameless one is called by its position, a repeated or reserved one gets " #2", " #3" …

    `same` maps a name to what it is compared by, for instance str.casefold.
    """
    taken = set(map(same, reserved))
    counts: dict[str, int] = {}
    found = []
    for position, raw in enumerate(names, start=1):
        name = base = one_line(raw) or f"{noun} {position}"
        counts.setdefault(same(base), 1)
        while same(name) in taken:
            counts[same(base)] += 1
            name = f"{base} #{counts[same(base)]}"
        taken.add(same(name))
        found.append(name)
    return tuple(found)


def say_places(unit: str, places: Sequence[int]) -> str:
    """"line 4", or "lines 4, 9, 12 and 30 more"."""
    return f"{unit}{'' if len(places) == 1 else 's'} {some(places, 5)}"


# --- rows that are no data --------------------------------------------------------------------------------------------


def _drop_closing_words(grid: Grid) -> list[str]:
    """A report's last lines (Salesforce: title, copyright, who made it) stand below a blank row, in one cell each."""
    while grid.rows and not grid.rows[-1]:      # line breaks at the end of the file
        grid.rows.pop(), grid.places.pop()
    filled = [sum(1 for cell in row if cell.strip()) for row in grid.rows[-50:]]
    blank = max((i for i, n in enumerate(filled) if n == 0), default=-1)
    above, below = [n for n in filled[:blank + 1] if n], len(filled) - blank - 1
    if not above or sorted(above)[len(above) // 2] < 3 or not 0 < below <= 10 or max(filled[blank:]) > 1:
        return []
    words = " | ".join("".join(row).strip() for row in grid.rows[-below:])
    places = say_places(grid.unit, grid.places[-below:])
    _cut(grid, slice(-below, None))
    return [f"footer dropped ({places}): {_short(words)}"]


def _drop_blanks(grid: Grid, notes: list[str]) -> None:
    blank = [i for i, row in enumerate(grid.rows) if not any(map(str.strip, row))]
    if blank:
        notes.append(f"{plural(len(blank), 'blank row')} dropped ({_drop(grid, blank)})")


def _take_header(name: str, grid: Grid, notes: list[str]) -> list[str]:
    if not grid.rows:
        raise UnreadableFile(f"{name} is empty: it holds no header and no rows")
    at = header_at(grid.rows[:50])
    if at:
        above = " | ".join(cell.strip() for row in grid.rows[:at] for cell in row if cell.strip())
        places = say_places(grid.unit, grid.places[:at])
        notes.append(f"above the header, left out ({places}): {_short(above)}")
    if _is_data(grid.rows[at], grid.rows[at + 1:at + 20]):
        _cut(grid, slice(0, at))
        notes.append(f"the first row looks like data, so there is no header: columns are numbered "
                     f"({grid.unit} {grid.places[0]})")
        return [""] * Counter(map(len, grid.rows)).most_common(1)[0][0]
    header = grid.rows[at]
    _cut(grid, slice(0, at + 1))
    grid.left_out -= 1      # the header is no row
    rulers = [i for i, row in enumerate(grid.rows[:1]) if all(_RULER.fullmatch(cell.strip()) for cell in row)]
    if rulers:
        notes.append(f"a line drawn below the header, dropped ({_drop(grid, rulers)})")
    return header


_RULER = re.compile(r"[:+|]?[-=_─]{2,}[-=_─+|: ]*|")


def header_at(rows: Sequence[Sequence[str]]) -> int:
    """Which of the first rows is the header: titles and group rows above it fill few cells, so it is the first row that
    is about as full as is usual."""
    filled = [sum(1 for cell in row if cell.strip()) for row in rows]
    usual = sorted(filled)[len(filled) // 2]
    enough = max(min(2, usual), 0.6 * usual)
    at = next(i for i, n in enumerate(filled) if n >= enough)
    return at + 1 if len(rows) > at + 2 and _groups(rows[at], rows[at + 1], rows[at + 2:at + 20]) else at


def _groups(row: Sequence[str], names: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether the row stands above groups of columns (merged cells leave gaps) and the next one holds their names: no
    figure in any of them, unlike the rows below."""
    gaps = sum(1 for cell in row if not cell.strip()) + len(names) - len(row)
    if gaps < 1 or not all(0 < len(cell.strip()) < 40 and not re.search(r"[\d@]", cell) for cell in names):
        return False
    return any(all(len(other) > i and re.search(r"\d", other[i]) for other in below if any(map(str.strip, other)))
               for i in range(len(names)))


_DATA_CELL = re.compile(r"\s*(\d{4}-\d\d-\d\d[T ]?.*|[^@\s]+@[^@\s]+\.\w+)\s*", re.DOTALL)


def _is_data(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether the row that should be the header holds what only a ticket holds, or begins like the rows below it."""
    first = next((cell.strip() for cell in row if cell.strip()), "")
    if first.isdecimal() or _is_sentence(row) or any(
            len(cell) > 300 or (len(cell) > 60 and "\n" in cell) or _DATA_CELL.fullmatch(cell) for cell in row):
        return True
    makes = {make_of(other[0]) for other in below if other and other[0].strip()}
    return len(makes) == 1 and makes == {make_of(row[0])} != {""} and len(below) > 1 and len(row) > 1


def _is_sentence(row: Sequence[str]) -> bool:
    return len(row) == 1 and len(row[0].split()) > 4 and row[0].strip()[-1] not in "?:"


def make_of(cell: str) -> str:
    """"Q-118" → "Q-9": what ids of one kind have in common. Empty for a cell without a digit, and for a long one."""
    cell = cell.strip('" ')
    return re.sub(r"\d+", "9", cell) if len(cell) < 30 and re.search(r"\d", cell) else ""


def _drop_repeats(grid: Grid, header: list[str], notes: list[str]) -> None:
    names = [cell.strip() for cell in header]
    if not any(names):
        return
    repeats = [i for i, row in enumerate(grid.rows) if row[0].strip() == names[0]
               and [cell.strip() for cell in row] == names]
    if repeats:
        notes.append(f"the header repeated inside the file, dropped ({_drop(grid, repeats)})")


_FOOTER = re.compile(
    r"((grand |sub)?total|sum|summe|gesamt|insgesamt|rows?|records?|tickets?|count|exported|generated|end of)\b"
    r"[^.!?]{0,60}|\(?[\d,. ]+ (rows?|records?|tickets?|issues?)\b.{0,40}", re.IGNORECASE)


def _drop_footer(grid: Grid, width: int, notes: list[str]) -> None:
    """At the very end, a nearly empty row that begins with "Total" or "Rows exported" is no ticket."""
    while len(grid.rows) > 1 and width > 2 - grid.rows[-1][0].startswith("("):     # "(2 rows)" is how psql ends
        cells = [cell.strip() for cell in grid.rows[-1] if cell.strip()]
        if len(cells) > min(2, width - 1) or not grid.rows[-1][0].strip() or not _FOOTER.fullmatch(cells[0]):
            return
        notes.append(f"footer dropped ({grid.unit} {grid.places[-1]}): {_short(' | '.join(cells))}")
        _cut(grid, slice(-1, None))


# --- rows that do not fit ---------------------------------------------------------------------------------------------


def _fit(name: str, grid: Grid, header: list[str], notes: list[str]) -> None:
    """Every row as long as the header, and nothing lost on the way."""
    if not grid.delimiter:
        header.extend([""] * (max(map(len, grid.rows)) - len(header)))
    width = len(header)
    check_size(name, width, len(grid.rows))
    long = [i for i, row in enumerate(grid.rows) if len(row) > width and any(row[width:])]
    if long:
        _rejoin(name, grid, header, long, notes)
    short = [i for i, row in enumerate(grid.rows) if len(row) < width]
    if short and grid.delimiter:
        notes.append(f"fewer cells than the header's {width}, filled up with empty ones "
                     f"({say_places(grid.unit, [grid.places[i] for i in short])})")
    for i, row in enumerate(grid.rows):
        if len(row) != width:
            grid.rows[i] = row[:width] + [""] * (width - len(row))


def _rejoin(name: str, grid: Grid, header: list[str], long: list[int], notes: list[str]) -> None:
    """Puts cells that an unquoted delimiter split back together, in the column that holds the longest texts."""
    width, first = len(header), long[0]
    if len(long) > max(2, len(grid.rows) // 2):
        raise UnreadableFile(
            f"{name} {grid.unit} {grid.places[first]} has {len(grid.rows[first])} fields, the header has {width} "
            f"(so in {len(long)} of {len(grid.rows)} rows): give every column a name, or put texts in quotes")
    usual = [row for row in grid.rows[:2_000] if len(row) == width] or [header]
    at = max(range(width), key=lambda column: sum(len(row[column]) for row in usual))
    for i in long:
        row = grid.rows[i]
        end = len(row) - (width - at - 1)
        grid.rows[i] = [*row[:at], grid.delimiter.join(row[at:end]), *row[end:]]
    places = say_places(grid.unit, [grid.places[i] for i in long])
    notes.append(f"more cells than the header's {width}: an unquoted \"{grid.delimiter}\" was taken as part of "
                 f"\"{header[at].strip() or f'column {at + 1}'}\", please check ({places})")


def _without_ghosts(header: list[str], rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Leaves out columns that have neither a name nor a single value."""
    ghosts = {i for i, name in enumerate(header) if not name.strip() and not any(row[i] for row in rows)}
    if not ghosts:
        return header, rows
    keep = [i for i in range(len(header)) if i not in ghosts]
    names = [header[i].strip() or f"column {i + 1}" for i in keep]
    return names, [[row[i] for i in keep] for row in rows]


def _drop(grid: Grid, positions: list[int]) -> str:
    places = say_places(grid.unit, [grid.places[i] for i in positions])
    gone = set(positions)
    grid.rows[:] = [row for i, row in enumerate(grid.rows) if i not in gone]
    grid.places[:] = [place for i, place in enumerate(grid.places) if i not in gone]
    grid.left_out += len(gone)
    return places


def _cut(grid: Grid, where: slice) -> None:
    """Takes these rows out and counts them; the caller tells."""
    grid.left_out += len(grid.rows[where])
    del grid.rows[where], grid.places[where]


def one_line(text: str) -> str:
    return visible(" ".join(text.split()))


def _short(text: str) -> str:
    return text if len(text) <= 120 else text[:117] + "…"
