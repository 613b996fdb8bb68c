"""Tools that look at cards again and again: `nvidia-smi dmon` and `pmon`, `dcgmi dmon`.

Formats: nvidia-smi(1), Device Monitoring and Process Monitoring; https://docs.nvidia.com/datacenter/dcgm/latest/,
dcgmi dmon, whose columns are the short names of DCGM's fields.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from stackviz.report.format import LIMITS
from stackviz.report.importers.importer import Importer, Span, blocks_after
from stackviz.report.importers.nvidia_values import add_card, new_card
from stackviz.report.importers.reading import UNNAMED, CardSample, Reading

__all__ = ["DCGMI_DMON", "DMON", "PMON"]

_MOST_ROWS = 40_000
_PERCENT, _MHZ, _MIB, _MB = 0.01, 1e6, 2.0**20, 1e6
_NO_CARD = re.compile(r"[ \t]{0,12}(?:#|\d|I[Dd]\b)")


def _number(cell: str) -> float | None:
    """A figure; None for `-`, `N/A` and words."""
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if 0 <= value < 1e15 else None


def _seconds(clock: str) -> float | None:
    """`10:01:02` -> seconds of the day."""
    match = re.fullmatch(r"(\d{1,2}):(\d\d):(\d\d)", clock)
    return int(match[1]) * 3600.0 + int(match[2]) * 60 + int(match[3]) if match else None


_FIELDS: Mapping[str, tuple[str, float]] = {
    "sm": ("busy_ratio", _PERCENT),
    "mem": ("memory_activity_ratio", _PERCENT),
    "pwr": ("power_w", 1.0),
    "gtemp": ("temperature_c", 1.0),
    "temp": ("temperature_c", 1.0),
    "pclk": ("sm_clock_hz", _MHZ),
    "fb": ("memory_used_bytes", _MIB),
    "rxpci": ("received_bytes_per_s", _MB),
    "gputl": ("busy_ratio", _PERCENT),
    "gract": ("busy_ratio", 1.0),
    "mcutl": ("memory_activity_ratio", _PERCENT),
    "drama": ("memory_activity_ratio", 1.0),
    "power": ("power_w", 1.0),
    "powr": ("power_w", 1.0),
    "tmptr": ("temperature_c", 1.0),
    "smclk": ("sm_clock_hz", _MHZ),
    "fbusd": ("memory_used_bytes", _MIB),
    "pcirx": ("received_bytes_per_s", 1.0),
}
"""Column -> what it is of a card, and its unit. Of two that say the same, the later one counts."""
_HELD_BACK = {"pviol": "sw_power_cap", "tviol": "sw_thermal_slowdown"}
_MUCH_HELD_BACK = 1.0  # tviol is yes or no, pviol a percentage of the time


def _sample(columns: Sequence[str], cells: Sequence[str]) -> CardSample:
    values: dict[str, float] = {}
    reasons: list[str] = []
    at_s: float | None = None
    for column, cell in zip(columns, cells, strict=False):
        if column in _FIELDS:
            name, unit = _FIELDS[column]
            number = _number(cell)
            if number is not None:
                values[name] = number * unit
        elif column in _HELD_BACK:
            if (_number(cell) or 0.0) >= _MUCH_HELD_BACK:
                reasons.append(_HELD_BACK[column])
        elif column == "time":
            at_s = _seconds(cell)
    return CardSample(at_s=at_s, throttle_reasons=" ".join(reasons), **values)


def _add_cards(reading: Reading, series: Mapping[int, list[CardSample]]) -> Reading:
    """A card without a name for each number, with what was seen of it."""
    if not series:
        reading.problem("no row of measurements")
    elif sorted(series) == list(range(len(series))):
        reading.sheet.state("nvidia.card_count", len(series))
    else:
        reading.sheet.mark_missing("nvidia.card_count", "not_reported", "only some cards were measured")
    for index in sorted(series)[: LIMITS.cards]:
        card = new_card(index, UNNAMED, None)
        card.sheet.mark_missing("memory_bytes", "not_reported", f"{reading.kind} does not state it")
        add_card(reading, card)
        reading.series[index] = series[index]
    return reading


# ---- nvidia-smi dmon, dcgmi dmon ------------------------------------------------------------------------------------

_DMON_HEAD = re.compile(
    r"^[ \t]{0,8}#[ \t]{0,4}(?:Date[ \t]{1,12})?(?:Time[ \t]{1,12})?gpu[ \t]{1,12}(?!pid\b)[a-z]\w{0,12}[ \t]"
    r"[^\n]{0,400}$",
    re.MULTILINE,
)
_DCGMI_HEAD = re.compile(r"^[ \t]{0,8}#[ \t]?Entity[ \t]{1,40}[A-Z][A-Z0-9#]{1,12}\b[^\n]{0,600}$", re.MULTILINE)
_DCGMI_ROW = re.compile(r"[ \t]{0,12}(?:#|GPU \d|I[Dd][ \t]*$)")


def find_dmon(text: str) -> list[Span]:
    return blocks_after(_DMON_HEAD, _NO_CARD, text, anchor="gpu ")


def find_dcgmi_dmon(text: str) -> list[Span]:
    return blocks_after(_DCGMI_HEAD, _DCGMI_ROW, text, anchor="Entity")


def _rows(text: str, head: re.Pattern[str]) -> Iterator[tuple[list[str], list[str]]]:
    """(columns in lower case, cells) of each row; a head between the rows counts from there on."""
    columns: list[str] = []
    for line in text.split("\n", _MOST_ROWS)[:_MOST_ROWS]:
        if head.match(line):
            columns = line.replace("#", " ").lower().split()
        elif columns and not line.lstrip().startswith("#"):
            yield columns, line.split()


def _read_table(kind: str, head: re.Pattern[str], number: str, words: Sequence[str], text: str) -> Reading:
    """`number`: the column with that of the card; `words`: what stands before the first cell of a row."""
    reading = Reading(kind=kind)
    series: dict[int, list[CardSample]] = {}
    for columns, cells in _rows(text, head):
        at = columns.index(number)
        row = cells[len(words) :]
        if len(row) == len(columns) and row[at].isdecimal() and len(row[at]) < 4:
            series.setdefault(int(row[at]), []).append(_sample(columns, row))
    return _add_cards(reading, series)


def read_dmon(text: str) -> Reading:
    """Never raises. A column of dashes states nothing; a row that was cut is left out."""
    return _read_table("nvidia-smi-dmon", _DMON_HEAD, "gpu", (), text)


def read_dcgmi_dmon(text: str) -> Reading:
    """Never raises. The first column of the head is `Entity`, of a row `GPU 0`."""
    return _read_table("dcgmi-dmon", _DCGMI_HEAD, "entity", ("GPU",), text)


DMON = Importer(
    kind="nvidia-smi-dmon",
    tool="nvidia-smi dmon",
    tells="load, power, clocks, heat and PCIe traffic of each card over time",
    trust=64,
    find=find_dmon,
    read=read_dmon,
    marks=("gpu ",),
    command="nvidia-smi",
    lists_all_cards=False,
)
DCGMI_DMON = Importer(
    kind="dcgmi-dmon",
    tool="dcgmi dmon",
    tells="load, memory, power, clocks and heat of each card over time",
    trust=63,
    find=find_dcgmi_dmon,
    read=read_dcgmi_dmon,
    marks=("Entity",),
    command="dcgmi",
    lists_all_cards=False,
)

# ---- nvidia-smi pmon ------------------------------------------------------------------------------------------------

_PMON_HEAD = re.compile(
    r"^[ \t]{0,8}#[ \t]{0,4}(?:Date[ \t]{1,12})?(?:Time[ \t]{1,12})?gpu[ \t]{1,16}pid[ \t]{1,12}type[ \t][^\n]{0,400}$",
    re.MULTILINE,
)


def find_pmon(text: str) -> list[Span]:
    return blocks_after(_PMON_HEAD, _NO_CARD, text, anchor=" pid ")


def read_pmon(text: str) -> Reading:
    """Never raises. What the processes of a card take together; one that comes again begins the next reading."""
    series: dict[int, list[CardSample]] = {}
    seen: dict[int, dict[str, CardSample]] = {}
    for columns, cells in _rows(text, _PMON_HEAD):
        at = columns.index("gpu")
        if at + 1 >= len(cells) or not cells[at].isdecimal() or len(cells[at]) > 3:
            continue
        index, process = int(cells[at]), cells[at + 1]
        if process in seen.setdefault(index, {}):
            series.setdefault(index, []).append(_together(seen[index].values()))
            seen[index] = {}
        seen[index][process] = _sample(columns, cells)
    for index, samples in seen.items():
        series.setdefault(index, []).append(_together(samples.values()))
    return _add_cards(Reading(kind="nvidia-smi-pmon"), series)


def _together(parts: Collection[CardSample]) -> CardSample:
    return CardSample(
        at_s=next(iter(parts)).at_s,
        busy_ratio=min(1.0, sum(part.busy_ratio or 0.0 for part in parts)),
        memory_activity_ratio=min(1.0, sum(part.memory_activity_ratio or 0.0 for part in parts)),
        memory_used_bytes=sum(part.memory_used_bytes or 0.0 for part in parts) or None,
    )


PMON = Importer(
    kind="nvidia-smi-pmon",
    tool="nvidia-smi pmon",
    tells="load of each card over time, by process",
    trust=62,
    find=find_pmon,
    read=read_pmon,
    marks=(" pid ",),
    command="nvidia-smi",
    lists_all_cards=False,
)
