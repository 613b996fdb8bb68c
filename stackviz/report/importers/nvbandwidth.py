"""`nvbandwidth`, its tables and `-j` -> a result for each copy: card and host, or each pair of cards.

Formats: NVIDIA/nvbandwidth, output.cpp, json_output.cpp and memcpy.h.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from stackviz.report.format import LIMITS, Scalar
from stackviz.report.importers.env_report import add_listed_card
from stackviz.report.importers.importer import Importer, Span, blocks_after
from stackviz.report.importers.nvidia_values import state_driver
from stackviz.report.importers.reading import Reading, clean
from stackviz.report.importers.tool_result import add_result
from stackviz.report.measuring.nccl_tests import NVBANDWIDTH

__all__ = ["IMPORTER", "KIND", "read_nvbandwidth"]

KIND = NVBANDWIDTH.key

_HEAD = re.compile(r"^[ \t]{0,20}nvbandwidth Version: [^\n]{1,60}$", re.MULTILINE)
_INSIDE = re.compile(
    r"\s{0,40}(?:\d{1,3}\s|(?:Built from Git|MPI|CUDA (?:Runtime|Driver)|Driver) [Vv]ersion|Device \d|Process \d"
    r"|NOTE: The reported|NOTE: This tool|Performance can vary|Additional system|Running \w|memcpy |memory latency"
    r"|Device to Device|SUM |Waived|Not Found|ERROR|Invalid value|Current offset|ASSERT)"
    r"|[\w.-]{1,63}$"  # the name of the host
)
_OBJECT = re.compile(r'\{\s{0,40}"nvbandwidth"\s{0,4}:')
_MOST_CHARS = 1024 * 1024
_MOST_LINES = 20_000
_DEVICE = re.compile(r"(?:Device )?(\d{1,3}): ([^\n(]{2,120}?) \([0-9a-fA-F:.]{6,20}\)")
_PROCESS = re.compile(r"\bProcess\s{1,8}\d{1,6} \(")  # of a run on several machines, whose rows are processes
_DRIVER = re.compile(r'\bDriver Version"?\s{0,4}: "?(\d{3}\.\d{1,3}(?:\.\d{1,3})?)')
_DRIVER_API = re.compile(r'\bCUDA (?:Driver|Runtime) Version"?\s{0,4}: (\d{4,5})\b')
_RUNNING = re.compile(r"\s{0,20}Running (\w{4,80})\.")
_PART = re.compile(r"\b(Read1|Read2|Write1|Write2|Total) bandwidth")
_PAIRS = "device_to_device"  # multinode_... of a run on several machines too
_OF_ALL = frozenset({"all_to_host", "host_to_all", "all_to_one", "one_to_all"})
"""Tests in which all cards are at work at once: a figure is of one of them, and differs with how many there are."""


class _Matrix(NamedTuple):
    """One table: rates in GB/s, None where there is none."""

    test: str
    description: str
    rows: Sequence[Sequence[float | None]]


def find_nvbandwidth(text: str) -> list[Span]:
    spans = blocks_after(_HEAD, _INSIDE, text, anchor="nvbandwidth Version: ")
    for match in _OBJECT.finditer(text):
        if len(spans) < LIMITS.cards and not any(span.start <= match.start() < span.end for span in spans):
            spans.append(Span(match.start(), _end_of_object(text, match.start())))
    return sorted(spans)


def _end_of_object(text: str, start: int) -> int:
    try:
        _value, length = json.JSONDecoder().raw_decode(text[start : start + _MOST_CHARS])
    except (ValueError, RecursionError):
        return min(len(text), start + _MOST_CHARS)
    return start + length


def read_nvbandwidth(text: str) -> Reading:
    """Never raises. What takes time instead of bytes, and a test that was waived, are no results."""
    reading = Reading(kind=KIND)
    text = text[:_MOST_CHARS]
    for match in () if _PROCESS.search(text) else _DEVICE.finditer(text):
        add_listed_card(reading, int(match[1]), match[2].strip(), "nvbandwidth")
    driver = _DRIVER.search(text)
    if driver:
        state_driver(reading, driver[1], None)
    api = _DRIVER_API.search(text)  # what it prints as the version of the runtime is the driver's, too
    if api:
        code = int(api[1])
        reading.sheet.state("cuda.driver_api_version", f"{code // 1000}.{code % 1000 // 10}")
    names = {card.index: card.reported_name for card in reading.cards}
    for matrix in _of_json(reading, text) if _OBJECT.match(text) else _of_tables(text):
        if "(GB/s)" in matrix.description:
            _add(reading, matrix, names)
        else:
            reading.ignore(f"{matrix.test}: {matrix.description}")
    if not reading.results:
        reading.problem("no table of rates could be read")
    return reading


def _of_tables(text: str) -> Iterator[_Matrix]:
    test = description = ""
    rows: list[list[float | None]] = []
    for line in [*text.split("\n", _MOST_LINES)[:_MOST_LINES], ""]:
        cells = line[:2000].split()
        is_row = bool(description) and len(cells) > 1 and cells[0].isdecimal()
        is_head = is_row and not rows and all(cell.isdecimal() for cell in cells)
        if is_row and not is_head:
            rows.append([_rate(cell) for cell in cells[1:]])
        elif rows:
            yield _Matrix(test, description, rows)
            rows, description = [], ""
        if running := _RUNNING.match(line):
            test, description = running[1], ""
        elif test and line.rstrip().endswith(("(GB/s)", "(ns)")):
            description = clean(line)


def _of_json(reading: Reading, text: str) -> Iterator[_Matrix]:
    try:
        document, _length = json.JSONDecoder().raw_decode(text)
        tests = document["nvbandwidth"]["testcases"]
    except (ValueError, RecursionError, KeyError, TypeError):
        reading.problem("the JSON is incomplete")
        return
    for test in tests if isinstance(tests, list) else ():
        if isinstance(test, Mapping) and isinstance(test.get("bandwidth_matrix"), list):
            yield _Matrix(
                clean(str(test.get("name", "")), LIMITS.name_chars),
                clean(str(test.get("bandwidth_description", "")), LIMITS.name_chars),
                _last_square(
                    [[_rate(cell) for cell in row] for row in test["bandwidth_matrix"] if isinstance(row, list)]
                ),
            )


def _last_square(rows: list[list[float | None]]) -> list[list[float | None]]:
    """A test of both ways has three tables, written one below the other; the description is of the last one."""
    width = len(rows[0]) if rows else 0
    return rows[-width:] if len(rows) > width else rows


def _rate(written: object) -> float | None:
    """None for N/A, and for 0, which early releases write for a card and itself."""
    try:
        rate = float(str(written)[:40])
    except ValueError:
        return None
    return rate if 0 < rate < 1e9 else None


def _add(reading: Reading, matrix: _Matrix, names: Mapping[int, str]) -> None:
    is_of_pairs, is_of_all = _PAIRS in matrix.test, any(words in matrix.test for words in _OF_ALL)
    everyone = sorted(names) if any(len(row) == len(names) for row in matrix.rows[:1]) else []
    part = _PART.search(matrix.description)
    cells = ((row, column, rate) for row, column, rate in _cells(matrix.rows) if not is_of_pairs or row != column)
    for row, column, rate in islice(cells, LIMITS.results - len(reading.results)):
        params: dict[str, Scalar] = {"test": matrix.test}
        if part:
            params["part"] = part[1].lower()
        if is_of_pairs:
            params |= {"row": row, "column": column}
        used = [row, column] if is_of_pairs else everyone if is_of_all else [column]
        add_result(
            reading,
            NVBANDWIDTH,
            params,
            round(rate * 1e9, 3),
            device="" if is_of_pairs else f"cuda:{column}",  # alike cards are apart
            cards=used if names.keys() >= set(used) else [],
            names=[names[index] for index in used if index in names],
        )


def _cells(rows: Iterable[Sequence[float | None]]) -> Iterator[tuple[int, int, float]]:
    for row, cells in enumerate(rows):
        for column, rate in enumerate(cells):
            if rate is not None:
                yield row, column, rate


IMPORTER = Importer(
    kind=KIND,
    tool="nvbandwidth",
    tells="benchmark results of copies between cards and host, the driver, the cards",
    trust=33,
    find=find_nvbandwidth,
    read=read_nvbandwidth,
    marks=("nvbandwidth Version: ", '"nvbandwidth"'),
    command=r"(?:\S{0,80}/)?nvbandwidth\b",
)
