"""`nvidia-smi --query-gpu=... --format=csv`, with any columns, with or without units -> cards and driver facts.

Rows without a header can be read only where the command that names the columns stands above them.
"""

import re
from collections.abc import Callable, Iterator

from stackviz.report.format import LIMITS
from stackviz.report.importers.importer import Importer, Span, next_line
from stackviz.report.importers.nvidia_fields import active_reasons, columns, read_fields
from stackviz.report.importers.nvidia_values import (
    add_card,
    byte_count,
    integer_of,
    new_card,
    note_cut,
    note_system,
    number,
    value,
    why,
)
from stackviz.report.importers.reading import UNNAMED, CardReading, CardSample, Reading, clean

__all__ = ["IMPORTER", "find_nvidia_smi_csv", "read_nvidia_smi_csv"]

KIND = "nvidia-smi-csv"

_NAMES = ("name", "gpu_name")
_UUIDS = ("uuid", "gpu_uuid")
_OTHER = frozenset(
    {
        *_NAMES,
        *_UUIDS,
        "index",
        "count",
        "timestamp",
        "driver_version",
        "memory.total",
        "memory.free",
        "serial",
        "pstate",
    }
)
_KNOWN = columns() | _OTHER
_OF_A_CARD = frozenset({"compute_cap", "compute_mode", "persistence_mode"})
"""Columns that advice asks for alone: the card is then the one of its number that another dump names."""
_TELLING = _KNOWN - {"name", "index", "count", "timestamp", "uuid", "serial", "addressing_mode"}
_ANCHOR = re.compile(
    r"driver_version|gpu_name|gpu_uuid|compute_(?:cap|mode)\b|persistence_mode|vbios_version|pci\.bus_id|(?:memory|utilization|temperature|power|clocks|ecc|pcie|mig|display)[._][a-z]"
    r"|^(?:index, ?)?name(?:, ?(?:uuid|index|pstate))?$",
    re.MULTILINE,
)
_ANCHOR_MARKS = (
    *("driver_version", "gpu_uuid", "compute_", "persistence_mode", "vbios_version", "pci.bus_id", "name"),
    *("memory", "utilization", "temperature", "power", "clocks", "ecc", "pcie", "mig", "display"),
)
_QUERY = re.compile(r"nvidia-smi[^\n]{0,200}?--query-gpu[= ]([\w.,]{1,8000})[^\n]{0,200}")
_MAKERS = ("NVIDIA", "Tesla", "Quadro", "GeForce", "GRID", "TITAN", "A100", "H100")
_MAKER = rf"(?:{'|'.join(_MAKERS)})\b"
_LOOKS = {
    "name": re.compile(rf"{_MAKER}|Graphics Device"),
    "gpu_name": re.compile(rf"{_MAKER}|Graphics Device"),
    "driver_version": re.compile(r"\d{3}\.\d"),
    "index": re.compile(r"\d{1,3}$"),
    "count": re.compile(r"\d{1,3}$"),
    "uuid": re.compile(r"GPU-|\["),
    "gpu_uuid": re.compile(r"GPU-|\["),
    "pci.bus_id": re.compile(r"[0-9A-Fa-f]{4,8}:"),
    "compute_cap": re.compile(r"\d{1,2}\.\d|\["),
    "compute_mode": re.compile(r"Default$|Prohibited$|Exclusive_|\["),
    "persistence_mode": re.compile(r"(?:En|Dis)abled$|\["),
    "memory.total": re.compile(r"\d{1,9}(?: MiB)?$|\["),
}
"""What stands in a column. Where no header says that a table begins, only rows that look so are rows."""

_BARE_ROW = re.compile(rf"^(?:\d{{1,3}}, )?{_MAKER}[^,\n]{{0,80}}, [^\n]{{0,400}}$", re.MULTILINE)
_BARE_CELL = re.compile(r", (?:\d{1,7} MiB|\d{3}\.\d{2,3}(?:\.\d{2})?)(?:,|$)")
_CLOCK = re.compile(r"\b(\d{1,2}):(\d\d):(\d\d(?:\.\d{1,3})?)$")
_OF_ONE_ROUND_S = 0.3
_LONGEST_LINE = 32_000
_MOST_COLUMNS = 600
_MOST_ROWS = 20_000


def _cells(line: str) -> list[str]:
    return [cell.strip().strip('"').strip() for cell in line.split(",", _MOST_COLUMNS)]


def _header(line: str) -> list[str]:
    """The columns this line names; empty if it is no header."""
    if not 0 < len(line) <= _LONGEST_LINE:
        return []
    cells = _cells(line)
    names = [_column(cell) for cell in cells]
    known = sum(name in _KNOWN for name in names)
    shaped = sum(bool(re.fullmatch(r"[a-zA-Z][\w.]{1,80}", name)) for name in names)
    if known * 8 < len(names) or shaped < len(names) - 1 or not (_TELLING & set(names) or set(_NAMES) & set(names)):
        return []
    return cells


def _column(cell: str) -> str:
    return cell.partition("[")[0].strip()


# ---- where ----------------------------------------------------------------------------------------------------------


def find_nvidia_smi_csv(text: str) -> list[Span]:
    spans: list[Span] = []
    for span in sorted([*_with_header(text), *_below_a_query(text), *_bare_rows(text)]):
        if not spans or span.start >= spans[-1].end:
            spans.append(span)
    return spans


def _with_header(text: str) -> Iterator[Span]:
    if not any(mark in text for mark in _ANCHOR_MARKS):
        return
    at = 0
    while (anchor := _ANCHOR.search(text, at)) is not None:
        start = text.rfind("\n", 0, anchor.start()) + 1
        at = next_line(text, anchor.end())
        header = _header(text[start:at].strip("\r\n")) if at - start <= _LONGEST_LINE else []
        if not header:
            continue
        end = _rows_end(text, at, header)
        first = text[at : min(next_line(text, at), at + 200)]
        if end > at and (len(header) > 1 or header[0] not in _NAMES or re.match(_MAKER, first)):
            yield Span(start, end)
            at = end


def _below_a_query(text: str) -> Iterator[Span]:
    if "--query-gpu" not in text:
        return
    end = 0
    for query in _QUERY.finditer(text):
        if "noheader" in query[0] and query.start() >= end:
            start = next_line(text, query.end())
            end = _rows_end(text, start, query[1].split(","))
            if end > start:
                yield Span(text.rfind("\n", 0, query.start()) + 1, end)


def _is_row(line: str, header: list[str]) -> bool:
    """Whether every cell whose looks are known has them, and one has."""
    known = [(_LOOKS[name], cell) for name, cell in zip(header, _cells(line), strict=False) if name in _LOOKS]
    return bool(known) and all(looks.match(cell) for looks, cell in known)


def _bare_rows(text: str) -> Iterator[Span]:
    if not any(maker in text for maker in _MAKERS):
        return
    for row in _BARE_ROW.finditer(text):
        if _BARE_CELL.search(row[0]):
            yield Span(row.start(), row.end())


def _rows_end(text: str, at: int, header: list[str]) -> int:
    """Behind the last line in a row that has as many cells. A single column, or one without a header, must look so."""
    has_looks = len(header) == 1 or "[" not in "".join(header)
    names = [_column(cell) for cell in header]
    for _row in range(_MOST_ROWS):
        end = next_line(text, at)
        line = text[at:end].rstrip("\r\n")
        if not line.strip() or line.count(",") != len(header) - 1 or len(line) > _LONGEST_LINE:
            break
        if has_looks and any(name in _LOOKS for name in names) and not _is_row(line, names):
            break
        at = end
    return at


# ---- reading --------------------------------------------------------------------------------------------------------


def read_nvidia_smi_csv(text: str) -> Reading:
    """Never raises. A row that is cut off is skipped and noted as a problem."""
    reading = Reading(kind=KIND)
    lines = text.split("\n", _MOST_ROWS + 2)
    header, first_index = _columns_of(lines[0])
    if not header:
        reading.problem("the columns are not named: run the query again without noheader")
        return reading
    rows = [cells for cells in map(_cells, lines[1 : _MOST_ROWS + 1]) if any(cells)]
    whole = [
        dict(zip(map(_column, header), map(_with_unit, header, row), strict=True))
        for row in rows
        if len(row) == len(header)
    ]
    if len(whole) < len(rows):
        reading.problem(f"{len(rows) - len(whole)} rows have more or fewer cells than the header")
    _read_machine(reading, whole)
    _read_cards(reading, whole, first_index)
    return reading


def _columns_of(line: str) -> tuple[list[str], int]:
    """The columns, from the header or from the command; and the number of the first card."""
    query = _QUERY.search(line[: 2 * _LONGEST_LINE])
    if query is None:
        return _header(line.strip()), 0
    only = re.search(r"(?:--id[= ]|-i )(\d{1,3})(?!\d)", query[0])
    return query[1].split(","), int(only[1]) if only else 0


def _with_unit(column: str, cell: str) -> str:
    """The cell with the unit its column names, where `nounits` left it out."""
    unit = re.search(r"\[([A-Za-z%]{1,4})\]", column)
    return f"{cell} {unit[1]}" if unit and re.fullmatch(r"-?[\d.]{1,20}", cell) else cell


def _read_machine(reading: Reading, rows: list[dict[str, str]]) -> None:
    first = rows[0] if rows else {}
    driver = value(first.get("driver_version"))
    if driver:
        reading.sheet.state("nvidia.driver_version", driver)
        reading.add_software("nvidia-driver", driver, "nvidia-smi")
    else:
        reading.sheet.mark_missing("nvidia.driver_version", *_absence(first, "driver_version"))
    reading.sheet.mark_missing("cuda.driver_api_version", "not_collected", "the nvidia-smi query does not state it")
    reading.sheet.state("nvidia.card_count", integer_of(first.get("count")))


def _read_cards(reading: Reading, rows: list[dict[str, str]], first_index: int) -> None:
    seen: dict[str, int] = {}
    key_of = _key_of_rows(rows)
    for position, row in enumerate(rows):
        name = next((text for text in (value(row.get(column)) for column in _NAMES) if text), None)
        index = integer_of(row.get("index"))
        key = key_of(row, position)
        name = name or (UNNAMED if _OF_A_CARD & row.keys() or _is_series(rows) else None)
        if name is not None and key not in seen and len(reading.cards) < LIMITS.cards:
            add_card(reading, _card(first_index + position if index is None else index, name, row))
            seen[key] = reading.cards[-1].index
        if key in seen and "utilization.gpu" in row:
            reading.series.setdefault(seen[key], []).append(_sample(row))
    if rows and not reading.cards:
        reading.problem("no column contains the names of cards")
    note_cut(reading, len(seen))
    note_system(reading, ())


def _key_of_rows(rows: list[dict[str, str]]) -> Callable[[dict[str, str], int], str]:
    """What tells the cards of rows apart: a column, or in a query in a loop their place among those of one time."""
    columns = rows[0].keys() if rows else set()
    column = next((name for name in (*_UUIDS, "pci.bus_id", "index") if name in columns), None)
    if column is not None:
        return lambda row, _position: row[column]
    if not _is_series(rows):
        return lambda _row, position: str(position)
    cards = _cards_of_a_round(rows)
    return lambda _row, position: str(position % cards)


def _is_series(rows: list[dict[str, str]]) -> bool:
    """Whether a query in a loop printed them, each card again and again."""
    return len(rows) > 1 and "utilization.gpu" in rows[0] and len({row.get("timestamp") for row in rows}) > 1


def _cards_of_a_round(rows: list[dict[str, str]]) -> int:
    """How many rows are of one time: those of a round are printed within milliseconds."""
    times = [_seconds(row.get("timestamp")) for row in rows[: LIMITS.cards + 1]]
    first = times[0]
    for count, time in enumerate(times):
        if first is None or time is None or time - first > _OF_ONE_ROUND_S:
            return max(1, count)
    return 1


def _seconds(written: str | None) -> float | None:
    """`2026/11/29 10:00:01.123` -> seconds of the day."""
    match = _CLOCK.search(written or "")
    return int(match[1]) * 3600.0 + int(match[2]) * 60 + float(match[3]) if match else None


def _sample(row: dict[str, str]) -> CardSample:
    used = byte_count(row.get("memory.used"))
    return CardSample(
        at_s=_seconds(row.get("timestamp")),
        busy_ratio=number(row.get("utilization.gpu")),
        memory_activity_ratio=number(row.get("utilization.memory")),
        memory_used_bytes=None if used is None else float(used),
        power_w=_first_number(row, "power.draw", "power.draw.instant", "power.draw.average"),
        sm_clock_hz=_first_number(row, "clocks.sm", "clocks.current.sm", "clocks.gr", "clocks.current.graphics"),
        temperature_c=number(row.get("temperature.gpu")),
        throttle_reasons=active_reasons(row.get, "csv") or "",
    )


def _first_number(row: dict[str, str], *columns: str) -> float | None:
    return next((number(row[column]) for column in columns if column in row), None)


def _card(index: int, name: str, row: dict[str, str]) -> CardReading:
    uuid = next((row[column] for column in _UUIDS if column in row), None)
    card = new_card(max(0, min(index, LIMITS.integer_max)), name, byte_count(row.get("memory.total")), uuid)
    if card.memory_bytes is None:
        card.sheet.mark_missing("memory_bytes", *_absence(row, "memory.total"))
    card.sheet.state("driver_version", value(row.get("driver_version")))
    read_fields(card, row.get, "csv", ("not_collected", "the query did not include it"))
    return card


def _absence(row: dict[str, str], column: str) -> tuple[str, str | None]:
    if column in row:
        return why(clean(row[column]))
    return "not_collected", "the query did not include it"


IMPORTER = Importer(
    kind=KIND,
    tool="nvidia-smi --query-gpu",
    tells="driver and cards, depending on the chosen columns",
    trust=92,
    find=find_nvidia_smi_csv,
    read=read_nvidia_smi_csv,
    command="nvidia-smi",
)
