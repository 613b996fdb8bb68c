"""An uploaded CSV or XLSX file -> rows of text under a header of known columns, or one sentence why not.

Nothing is evaluated, and a file costs no more than its limits: bytes, rows, columns, what an archive unpacks to. Pure.
"""

import csv
import io
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.utils.translation import gettext as _

MOST_BYTES = 10 * 1024 * 1024
MOST_ROWS = 20_000
MOST_UNPACKED = 50 * 1024 * 1024
MOST_PARTS = 500
MOST_TAGS = 2_000_000  # of an archive's XML; the largest table that is allowed has about a million and a half
MOST_CELLS_A_ROW = 20
MOST_LINES = 25_000  # of a sheet, empty ones included
MOST_CHARACTERS = 2_000  # of a cell
_PACKED = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})  # Python unpacks the others without a limit
_DELIMITERS = ",;\t"


class TableError(ValueError):
    """The file cannot be read as a table; the text says why and what would help."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """`number` counts the file's lines from one, the header included; `cells` are as many as the row has."""

    number: int
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows with their cells in the order of the known columns. `notes`: what was assumed about the file."""

    rows: tuple[TableRow, ...]
    notes: tuple[str, ...] = ()


def read_table(content: bytes, columns: Sequence[str]) -> Table:
    """The table in the file, whose header names these columns in any order. Raises TableError."""
    if len(content) > MOST_BYTES:
        raise TableError(_("The file is larger than %(n)d MB: split it.") % {"n": MOST_BYTES // 1024 // 1024})
    if not content.strip():
        raise TableError(_("The file is empty."))
    if content.startswith(b"PK"):
        return _table(_sheet_rows(content), columns, ())
    if content.startswith(b"\xd0\xcf\x11\xe0"):
        raise TableError(_("This is an old or encrypted Excel file: save it as .xlsx or CSV, without a password."))
    text, notes = _decoded(content)
    return _table(_csv_rows(text), columns, notes)


def formula_problems(cells: Mapping[str, str]) -> dict[str, str]:
    """What is wrong with each cell that a spreadsheet would compute."""
    text = _("Starts with “=”: formulas are not evaluated, write the value itself.")
    return {name: text for name, cell in cells.items() if cell.startswith("=")}


def _table(rows: Iterator[TableRow], columns: Sequence[str], notes: tuple[str, ...]) -> Table:
    """Arrange the columns by the header. Rows with too many or too few cells keep them and are refused later."""
    header = next(rows, None)
    if header is None:
        raise TableError(_("The file is empty."))
    order = _order([cell.strip().casefold() for cell in header.cells], columns)
    data_rows: list[TableRow] = []
    for row in rows:
        if not any(row.cells):
            continue
        if len(data_rows) == MOST_ROWS:
            raise TableError(_("The table has more than %(n)d rows: split it.") % {"n": MOST_ROWS})
        data_rows.append(_arranged(row, order))
    if not data_rows:
        raise TableError(_("The table has a header but no rows."))
    return Table(tuple(data_rows), notes)


def _order(header: Sequence[str], columns: Sequence[str]) -> list[int]:
    """Return the position of each column. Raises TableError naming what is missing, unknown or there twice."""
    while header and not header[-1]:
        header = header[:-1]
    problems = [
        (_("missing: %(names)s"), [name for name in columns if name not in header]),
        (_("unknown: %(names)s"), [name[:40] or "…" for name in header if name not in columns]),
        (_("duplicate: %(names)s"), [name for name in columns if header.count(name) > 1]),
    ]
    mistakes = [text % {"names": ", ".join(names)} for text, names in problems if names]
    if mistakes:
        expected = ",".join(columns)
        raise TableError(
            _("The first line is not the header %(header)s. %(problems)s.")
            % {"header": expected, "problems": "; ".join(mistakes)}
        )
    return [header.index(name) for name in columns]


def _arranged(row: TableRow, order: Sequence[int]) -> TableRow:
    cells = list(row.cells)
    while len(cells) > len(order) and not cells[-1]:  # spreadsheets leave empty cells behind
        cells.pop()
    if len(cells) != len(order):
        return TableRow(row.number, tuple(cells))
    return TableRow(row.number, tuple(cells[column] for column in order))


# --- CSV ---


def _decoded(content: bytes) -> tuple[str, tuple[str, ...]]:
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if content.startswith(mark):
            return _strictly(content, encoding), ()
    if b"\x00" in content:
        raise TableError(
            _("This is neither CSV nor XLSX, or it is UTF-16 without a byte order mark. Save it as CSV in UTF-8.")
        )
    try:
        return content.decode("utf-8"), ()
    except UnicodeDecodeError:
        _refuse_mixed(content)
    return _strictly(content, "cp1252"), (_("The file is not UTF-8; it was read as Windows-1252 (Latin-1)."),)


def _strictly(content: bytes, encoding: str) -> str:
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise TableError(
            _("Line %(line)d cannot be read as %(encoding)s: save the file as CSV in UTF-8.")
            % {"line": line, "encoding": encoding}
        ) from None
    if "\x00" in text:
        raise TableError(_("The file contains control characters. Save it as CSV in UTF-8."))
    return text


def _refuse_mixed(content: bytes) -> None:
    """Raise TableError if some lines are UTF-8 and others are not: either encoding would misread some of them."""
    first: dict[bool, int] = {}
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line.isascii():
            first.setdefault(_is_utf8(line), number)
    if len(first) == 2:
        raise TableError(
            _("The file mixes encodings: line %(good)d is UTF-8, line %(bad)d is not. Save it as CSV in UTF-8.")
            % {"good": first[True], "bad": first[False]}
        )


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _csv_rows(text: str) -> Iterator[TableRow]:
    first = text.split("\n", 1)[0]
    delimiter = max(_DELIMITERS, key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        number = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            problem = _("Line %(line)d is not CSV: %(problem)s. Check its quotation marks.")
            raise TableError(problem % {"line": number, "problem": error}) from None
        if cells is None:
            return
        yield TableRow(number, _bounded([cell.strip() for cell in cells[: MOST_CELLS_A_ROW + 1]], number))


def _bounded(cells: Sequence[str], line: int) -> tuple[str, ...]:
    for column, cell in enumerate(cells, start=1):
        if len(cell) > MOST_CHARACTERS:
            problem = _(
                "Line %(line)d has more than %(n)d characters in column %(column)d: a quotation mark may be missing."
            )
            raise TableError(problem % {"line": line, "n": MOST_CHARACTERS, "column": column})
    return tuple(cells)


# --- XLSX ---


def _sheet_rows(content: bytes) -> Iterator[TableRow]:
    import openpyxl  # a tenth of a process's start, and only curators upload workbooks

    archive = _checked_archive(content)
    try:
        # Formulas stay text: nothing is evaluated, and no result that the file claims is believed.
        book = openpyxl.load_workbook(archive, read_only=True, data_only=False, keep_links=False)
        for sheet in _only_sheet(book):
            yield from _rows_of(sheet)
    except (TableError, MemoryError):
        raise
    except Exception as error:  # openpyxl raises anything for files that are not spreadsheets
        raise TableError(_("The XLSX file is damaged: save it again, or as CSV.")) from error


def _only_sheet(book: Any) -> list[Any]:  # noqa: ANN401 - openpyxl has no types
    sheets = [sheet for sheet in book.worksheets if _has_cells(sheet)]
    if len(sheets) > 1:
        names = ", ".join(sheet.title for sheet in sheets[:5])
        raise TableError(
            _("The workbook has %(n)d sheets with content (%(names)s). Keep only the one to import.")
            % {"n": len(sheets), "names": names}
        )
    return sheets


def _checked_archive(content: bytes) -> io.BytesIO:
    """The parts anew, as large as they declare to be and not compressed: whoever reads them unpacks nothing more."""
    checked = io.BytesIO()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive, zipfile.ZipFile(checked, "w") as unpacked:
            parts = _parts(archive)
            tags = 0
            for part in parts:
                text = _unpacked(archive, part)
                tags += _tags(text)  # whatever its name: another part may say that it is a sheet
                if tags > MOST_TAGS:
                    raise TableError(_("The XLSX file has too many elements. Save only the values, or save it as CSV."))
                unpacked.writestr(part.filename, text)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError, OSError, zlib.error) as error:
        raise TableError(_("The XLSX file is damaged or encrypted: save it again, without a password.")) from error
    checked.seek(0)
    return checked


def _parts(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """What is in the archive. Raises TableError, BadZipFile."""
    parts = archive.infolist()
    if len(parts) > MOST_PARTS or sum(part.file_size for part in parts) > MOST_UNPACKED:
        raise TableError(_("The XLSX file is too large when unpacked. Save only the values, or save it as CSV."))
    names = {part.filename for part in parts}
    if "xl/workbook.xml" not in names:
        raise TableError(_("This archive is not an XLSX workbook."))
    if len(names) < len(parts) or not _PACKED.issuperset(part.compress_type for part in parts):
        raise zipfile.BadZipFile("two parts of one name, or one that is packed as no spreadsheet does it")
    return parts


def _unpacked(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bytes:
    """A part, at most as large as it declares. `ZipFile.read` unpacks all there is before it cuts off what is more."""
    with archive.open(part) as file:
        return file.read(part.file_size + 1)


def _tags(part: bytes) -> int:
    """How many tags a part has at most: what reading it costs. Raises TableError for what no table needs."""
    xml = part.replace(b"\x00", b"")  # UTF-16 hides nothing
    if re.search(rb"<!(?:DOCTYPE|ENTITY)", xml):
        raise TableError(_("The XLSX file declares XML entities, which are not allowed."))
    if re.search(rb"<(?:\w+:)?mergeCell\s", xml):
        raise TableError(_("The sheet has merged cells. Unmerge them so that each row holds one value."))
    return xml.count(b"<")


def _has_cells(sheet: Any) -> bool:  # noqa: ANN401
    return any(cell is not None for row in _lines_of(sheet) for cell in row)


def _rows_of(sheet: Any) -> Iterator[TableRow]:  # noqa: ANN401
    for number, cells in enumerate(_lines_of(sheet), start=1):
        texts = _bounded([_text(cell) for cell in cells], number)
        if any(texts):
            yield TableRow(number, texts)


def _lines_of(sheet: Any) -> Iterator[Sequence[Any]]:  # noqa: ANN401
    """The lines, empty ones too, and one cell more than a row may have. Raises TableError for too many."""
    sheet.reset_dimensions()  # a sheet may claim any size
    lines: Iterable[Sequence[Any]] = sheet.iter_rows(
        max_row=MOST_LINES + 1, max_col=MOST_CELLS_A_ROW + 1, values_only=True
    )
    for number, cells in enumerate(lines):
        if number == MOST_LINES:
            raise TableError(_("The table has more than %(n)d rows: split it.") % {"n": MOST_ROWS})
        yield cells


def _text(cell: object) -> str:
    """A cell as the curated files would have it."""
    if cell is None:
        return ""
    if isinstance(cell, datetime):
        return cell.date().isoformat() if cell.time() == cell.time().min else cell.isoformat(" ")
    if isinstance(cell, date):
        return cell.isoformat()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return str(int(cell))
    return str(cell).strip()
