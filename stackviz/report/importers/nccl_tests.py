"""`all_reduce_perf` and the others of nccl-tests -> a result for each size: seconds of an operation on so many cards.

The table alone names no operation in releases before 2.17: it is told by the command above it, or else by the ratio
that the two bandwidths have. Formats: NVIDIA/nccl-tests, src/util.cu, and src/common.cu of earlier releases.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from stackviz.report.format import LIMITS, Scalar
from stackviz.report.importers.env_report import add_listed_card
from stackviz.report.importers.importer import Importer, Span, blocks_after
from stackviz.report.importers.reading import Reading
from stackviz.report.importers.tool_result import add_result, device_label
from stackviz.report.measuring.nccl_tests import BUS_FACTORS, NCCL_TESTS, PROGRAMS, TYPES

__all__ = ["IMPORTER", "KIND", "read_nccl_tests"]

KIND = NCCL_TESTS.key

_HEAD = re.compile(
    r"^[ \t]{0,20}#?[ \t]{0,4}(?:nccl-tests version \d|nThread \d{1,4} nGpus \d)[^\n]{0,400}$", re.MULTILINE
)
_INSIDE = re.compile(
    r"\s{0,20}#|\s{0,30}\d{1,18}\s{1,20}\d{1,18}\s{1,20}[a-z]|\s{0,80}(?:Rank\s{1,4}\d|Using devices"
    r"|size\s{1,20}count|\(B\)|out-of-place|nThread \d|Out of bounds|Avg bus|Collective test)"
    r"|[^\n]{0,160}NCCL (?:INFO|WARN|version)"
)
_LISTED = "Using devices"
_ABOVE_CHARS = 400
_MOST_LINES = 4000
_PROGRAM = re.compile(r"(?<![a-z])([a-z]{3,10}(?:_[a-z]{3,10}){0,2}_perf)(?:_mpi)?\b")
_OPERATIONS = {program: operation for operation, program in PROGRAMS.items()}
_TYPES = {name: dtype for dtype, name in TYPES.items()} | {"fp8_e4m3": "fp8", "fp8_e5m2": "fp8-e5m2"}
_RANK = re.compile(
    r"\bRank\s{1,6}(\d{1,6})\s{1,4}(?:Group\s{1,6}\d{1,6}\s{1,4})?Pid\s{1,8}\d{1,9} on\s{1,80}(\S{1,200})"
    r" device\s{1,4}(\d{1,3}) \[([0-9a-fA-Fx:.]{2,20})\] ([^\n]{2,120})"
)
_LIBRARY = re.compile(r"\bnccl-library=(\d{4,6})\b|\bNCCL version (\d\.\d{1,2}\.\d{1,2})\+cuda")
_NUMBER = re.compile(r"\d{1,18}(?:\.\d{1,9})?(?:e[+-]?\d{1,3})?")
_BUFFERS = ("out-of-place", "in-place")  # the columns stand twice: first for results in a buffer of their own
_TELLING_GB_S = 1.0  # from here on the ratio of two bandwidths of two decimals is known to 1 %


class _Rank(NamedTuple):
    """One card that took part. `device`: its number in its process, which may see this card alone."""

    host: str
    device: int
    bus: str
    name: str


class _Row(NamedTuple):
    """One line of the table in one buffer. `time_us` None where there is none; `wrong` None where nobody looked."""

    size: int
    dtype: str
    reduction: str
    root: int
    buffer: str
    time_us: float | None
    algorithm_gb_s: float
    bus_gb_s: float
    wrong: float | None


class _Run(NamedTuple):
    """What all rows of a run share: how many cards (`ranks`) and machines took part; `label` names the cards."""

    operation: str
    ranks: int
    hosts: int
    label: str


def find_nccl_tests(text: str) -> list[Span]:
    """Yield each run with the command above it, if there is one."""
    spans: list[Span] = []
    for span in _runs(text, blocks_after(_HEAD, _INSIDE, text, anchor=" nGpus ")):
        floor = max(spans[-1].end if spans else 0, span.start - _ABOVE_CHARS)
        command = list(_PROGRAM.finditer(text, floor, span.start))
        start = text.rfind("\n", floor, command[-1].start()) + 1 if command else span.start
        spans.append(Span(max(start, floor), span.end))
    return spans


def _runs(text: str, blocks: Sequence[Span]) -> Iterator[Span]:
    """Those that a loop printed one below the other, apart: a head behind a list of devices begins another run."""
    for start, end in blocks:
        begun, listed = start, text.find(_LISTED, start, end)
        for head in _HEAD.finditer(text, start, end):
            if 0 <= listed < head.start():
                yield Span(begun, head.start())
                begun, listed = head.start(), text.find(_LISTED, head.start(), end)
        yield Span(begun, end)


def read_nccl_tests(text: str) -> Reading:
    """Never raises. Sizes at which values were wrong are failed results; a run on one card measures no link."""
    reading = Reading(kind=KIND)
    ranks = [_Rank(match[2], int(match[3]), match[4], match[5].strip()) for match in _RANK.finditer(text)]
    conditions: dict[str, Scalar] = {}
    if version := _library(text):
        reading.add_software("nccl", version, "nccl-tests")
        conditions["nccl_version"] = version
    if _hosts(ranks) == 1:
        for number, rank in zip(_numbers(ranks), ranks, strict=True):
            add_listed_card(reading, number, rank.name, "nccl-tests")
    rows = list(_rows(text))
    operation = _operation(text, rows, len(ranks))
    problem = _why_not_read(rows, ranks, operation)
    if problem:
        reading.problem(problem)
    else:
        run = _Run(operation, len(ranks), _hosts(ranks), device_label([rank.name for rank in ranks], count_one=False))
        cards = _numbers(ranks) if run.hosts == 1 and len(ranks) <= LIMITS.cards else []
        for row in rows:
            _add(reading, row, run, cards, conditions)
    return reading


def _hosts(ranks: Sequence[_Rank]) -> int:
    """On how many machines they were, also where one word stands for all their names: on one machine no two cards share
    a bus address."""
    most_in_one_place = max(Counter((rank.device, rank.bus) for rank in ranks).values(), default=0)
    return max(len({rank.host for rank in ranks}), most_in_one_place)


def _numbers(ranks: Sequence[_Rank]) -> list[int]:
    """Of the cards of one machine; in the order of the text where processes that see one card each call theirs 0."""
    numbers = [rank.device for rank in ranks]
    return numbers if len(set(numbers)) == len(numbers) else list(range(len(ranks)))


def _why_not_read(rows: Sequence[_Row], ranks: Sequence[_Rank], operation: str) -> str:
    if not rows:
        return "no row could be read"
    if not ranks:
        return "the lines that say which cards took part are missing"
    if len(ranks) == 1:
        return "one card took part: nothing crossed a link"
    return "" if operation else "which operation it was is not in the text: paste the command too"


def _library(text: str) -> str:
    """The version of NCCL as the tests state it, or NCCL itself where it was told to (NCCL_DEBUG); "" for neither."""
    match = _LIBRARY.search(text)
    return (match[2] or _version(int(match[1]))) if match else ""


def _version(code: int) -> str:
    """22809 -> 2.28.9, before 2.9 2708 -> 2.7.8: nccl.h, NCCL_VERSION."""
    major, rest = divmod(code, 10_000 if code >= 10_000 else 1000)
    return f"{major}.{rest // 100}.{rest % 100}"


def _rows(text: str) -> Iterator[_Row]:
    columns: list[str] = []
    for line in text.split("\n", _MOST_LINES)[:_MOST_LINES]:
        words = line[:400].replace("#", " ").split() if "size" in line else line[:400].split()
        if words[:2] == ["size", "count"]:
            columns = [name for name in words if name != "timestamp"]
        elif columns and words and words[0].isdecimal() and len(words) >= len(columns):
            yield from _row(columns, words)


def _row(columns: Sequence[str], words: Sequence[str]) -> Iterator[_Row]:
    """What the line says of both buffers. A cell is told by its column: releases differ in which there are."""
    starts = [number for number, name in enumerate(columns) if name in {"time", "cputime"}]
    first = dict(zip(columns[: starts[0]] if starts else columns, words, strict=False))
    if not first.get("size", "").isdecimal() or len(first["size"]) > 18:
        return
    root = first.get("root", "-1")
    for buffer, start in zip(_BUFFERS, starts, strict=False):
        end = next((other for other in starts if other > start), len(columns))
        cells = dict(zip(columns[start:end], words[start:end], strict=False))
        yield _Row(
            size=int(first["size"]),
            dtype=first.get("type", "")[:40],
            reduction=first.get("redop", "none")[:40],
            root=int(root) if re.fullmatch(r"-?\d{1,6}", root) else -1,
            buffer=buffer,
            time_us=_number(cells.get("time") or cells.get("cputime")),
            algorithm_gb_s=_number(cells.get("algbw")) or 0.0,
            bus_gb_s=_number(cells.get("busbw")) or 0.0,
            wrong=_number(cells.get("wrong")),
        )


def _number(written: str | None) -> float | None:
    return float(written) if written and _NUMBER.fullmatch(written) else None


def _operation(text: str, rows: Sequence[_Row], cards: int) -> str:
    """The operation that the last named program does, else the only one whose bandwidths have this ratio; "" for
    unknown."""
    named = [_OPERATIONS[name] for name in _PROGRAM.findall(text) if name in _OPERATIONS]
    if named:
        return named[-1]
    telling = max(rows, key=lambda row: row.bus_gb_s, default=None)
    if telling is None or cards < 2 or min(telling.algorithm_gb_s, telling.bus_gb_s) < _TELLING_GB_S:
        return ""
    if telling.reduction == "none":
        return ""  # all-gather and all-to-all have one ratio, broadcast and send-receive another
    possible = ("all-reduce", "reduce-scatter") if telling.root < 0 else ("reduce",)
    ratio = telling.bus_gb_s / telling.algorithm_gb_s
    fitting = [name for name in possible if abs(ratio / BUS_FACTORS[name](cards) - 1) < 0.02]
    return fitting[0] if len(fitting) == 1 else ""


def _add(reading: Reading, row: _Row, run: _Run, cards: Sequence[int], conditions: Mapping[str, Scalar]) -> None:
    if not row.size:  # fewer elements than cards
        return
    params: dict[str, Scalar] = {
        "op": run.operation,
        "dtype": _TYPES.get(row.dtype, row.dtype),
        "cards": run.ranks,
        "bytes": row.size,
        "place": row.buffer,
    }
    if run.hosts > 1:
        params["hosts"] = run.hosts
    if row.reduction not in {"none", "sum"}:
        params["reduction"] = row.reduction
    add_result(
        reading,
        NCCL_TESTS,
        params,
        None if row.time_us is None or row.wrong else row.time_us * 1e-6,
        device=run.label,
        cards=cards,
        conditions=conditions,
        why=f"{row.wrong:.0f} values were wrong" if row.wrong else "",
    )


IMPORTER = Importer(
    kind=KIND,
    tool="nccl-tests",
    tells="benchmark results between cards, the cards that took part, the version of NCCL",
    trust=31,
    find=find_nccl_tests,
    read=read_nccl_tests,
    marks=(" nGpus ",),
    command=r"(?:\S{0,80}/)?[a-z_]{4,20}_perf\b",
    lists_all_cards=False,
)
