"""The curated files of cited results under `data/`: read, checked, and given a version. No query.

    sources.csv                key,title,url,kind,licence,read_in     `read_in`: the copy it was read in, if one
    results/<benchmark>.csv    accelerator,reported_name,count,params,value,unit,software,date,source,doubt,note
    hosts/<benchmark>.csv      the same after `host`, the slug of the public host that it was measured on
    result_hosts.csv           host,source,reported_name,params    the host of results/, for results with all of these

One result a line. `accelerator` is a slug; empty where the source does not say which variant, so that the reported name
has to; `-` where not even that may be tried (a slice, a laptop part, one die of two). `params` and `software` are
`name=value; name=value`, sorted by name. `value` is as printed, in `unit`. `doubt` says why the figure is not charted.
A figure of a host has one line, in `hosts/` or, where it was cited before the host was, in `results/`.
"""

import csv
import hashlib
import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from functools import cache
from pathlib import Path

from django.utils.translation import gettext as _

from stackviz.base.units import UNITS
from stackviz.records.catalog.files import digest_of_csv, numbered_rows
from stackviz.records.catalog.models import LARGEST_AMOUNT
from stackviz.records.catalog.never_named import forbidden_address_in
from stackviz.records.cited.amounts import number_of
from stackviz.records.cited.benchmark import CitedBenchmark, Params
from stackviz.records.cited.parameters import ParameterError, comparison_key, read_pairs, read_params
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.curated.rows import CuratedDataError
from stackviz.records.hosts.files import DATA as HOSTS
from stackviz.records.hosts.files import slugs_of

DATA = Path(__file__).resolve().parent / "data"
# Raise it when what the loader makes of a line changes, so that the same files are loaded anew.
LOADER_VERSION = 5
KINDS = ("vendor", "project", "paper", "press", "community")
NEVER_MATCHED = "-"
MOST_DEVICES = 100_000
LONGEST = {"reported_name": 120, "value": 40, "unit": 12, "source": 80, "doubt": 200, "note": 600}


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedSourceLine:
    key: str
    title: str
    url: str
    kind: str
    licence: str
    read_in: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedLine:
    """One result as its line says it, with what follows from it; `amount` in the base unit, at least 0, finite.

    `host`: the slug of the public host it was measured on, or "". `where`: file and line, of lines of hosts.
    """

    benchmark: str
    data_key: str
    accelerator: str
    reported_name: str
    count: int
    params: dict[str, str | int]
    params_key: str
    value: str
    unit: str
    amount: float
    software: dict[str, str]
    date: date | None
    source: str
    doubt: str
    note: str
    host: str = ""
    where: str = ""


@dataclass(frozen=True, slots=True)
class CitedFiles:
    """All lines, and the version of what they say. `of_hosts`: results that are loaded with their host only."""

    version: str
    sources: tuple[CitedSourceLine, ...]
    results: tuple[CitedLine, ...]
    of_hosts: tuple[CitedLine, ...] = ()


# What readers of tables took for the name of a network: sizes of batches, headers, folders, engines, sizes alone.
NO_MODEL = re.compile(
    r"[\d.,]+|.*[/\\]|.*\.(?:md|py|csv|json|ya?ml)|(?:最优|best ?)(?:bs|batch)|docs?|readme|tensorrt|trtis\w*|triton|"
    r"onnx(?:runtime)?|pytorch|tensorflow2?|base|large|small|model|batch(?: size)?|latency|throughput",
    re.IGNORECASE,
)
SUFFIXED = re.compile(r"[\d.,]+ ?(?:[kKMGTB%]|[A-Za-zµ]+/?[A-Za-z]*)")
_ISO_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
SOURCE_HEADER = [column.name for column in fields(CitedSourceLine)]
HEADER = [
    "accelerator", "reported_name", "count", "params", "value", "unit", "software", "date", "source", "doubt", "note",
]  # fmt: skip
HOST_HEADER = ["host", *HEADER]
RESULT_HOSTS_HEADER = ["host", "source", "reported_name", "params"]


def cited_data_version(folder: Path = DATA) -> str:
    return digest_of_csv(folder, LOADER_VERSION)


def read_cited(folder: Path = DATA) -> CitedFiles:
    """Read and check all files. Raises CuratedDataError naming every file, line and field that is wrong."""
    problems: list[str] = []
    sources = tuple(_sources(folder / "sources.csv", problems))
    known = frozenset(line.key for line in sources)
    results, of_hosts = (
        [
            line
            for path in sorted((folder / name).glob("*.csv"))
            for line in _results(path, name, header, known, problems)
        ]
        for name, header in (("results", HEADER), ("hosts", HOST_HEADER))
    )
    results = _with_hosts(results, folder / "result_hosts.csv", problems)
    if problems:
        raise CuratedDataError(problems)
    return CitedFiles(cited_data_version(folder), sources, tuple(results), tuple(of_hosts))


def _sources(path: Path, problems: list[str]) -> Iterator[CitedSourceLine]:
    seen: set[str] = set()
    for number, row in numbered_rows(path, path.name, SOURCE_HEADER, problems):
        line = CitedSourceLine(**dict(zip(SOURCE_HEADER, row, strict=True)))
        problems += [f"{path.name}:{number}: {problem}" for problem in _source_problems(line, seen)]
        seen.add(line.key)
        yield line


def _source_problems(line: CitedSourceLine, seen: set[str]) -> Iterator[str]:
    if line.key in seen:
        yield f"key: duplicate {line.key!r}"
    if not line.title:
        yield "title: missing"
    if not line.url.startswith(("https://", "http://")):
        yield f"url: {line.url[:80]!r} is not a web address"
    if line.kind not in KINDS:
        yield f"kind: must be one of {', '.join(KINDS)}, not {line.kind[:40]!r}"
    named = forbidden_address_in(f"{line.url} {line.read_in}")
    if named is not None:
        yield f"url: {named.address} must not be named: {named.reason}"


@cache
def _curated_hosts() -> frozenset[str]:
    """The slugs of the hosts' own files."""
    with (HOSTS / "hosts.csv").open(encoding="utf-8", newline="") as file:
        return frozenset(line["host"] for line in csv.DictReader(file))


def _results(
    path: Path, folder: str, header: list[str], sources: frozenset[str], problems: list[str]
) -> Iterator[CitedLine]:
    name = f"{folder}/{path.name}"
    benchmark = CITED_BENCHMARKS.get(path.stem)
    if benchmark is None:
        problems.append(f"{name}:1: benchmark: nobody defined {path.stem!r}")
        return
    reader = LineReader(benchmark, sources, slugs_of("accelerators.csv"))
    for number, row in numbered_rows(path, name, header, problems):
        where = f"{name}:{number}"
        try:
            yield reader.line(row) if header is HEADER else reader.line_of_host(row, where)
        except LineError as error:
            problems.append(f"{where}: {error.field}: {error}")


@dataclass(frozen=True, slots=True)
class _ResultHost:
    """A line of result_hosts.csv: which results of results/ a host has. `params`: all or some of the result's."""

    host: str
    source: str
    reported_name: str
    params: tuple[tuple[str, str], ...]

    def has(self, line: CitedLine) -> bool:
        is_of_source = (self.source, self.reported_name) == (line.source, line.reported_name)
        return is_of_source and all(str(line.params.get(name, "")) == value for name, value in self.params)


def _with_hosts(lines: list[CitedLine], path: Path, problems: list[str]) -> list[CitedLine]:
    """The lines with the hosts that result_hosts.csv, if there is one, says they have."""
    if not path.exists():
        return lines
    named: dict[int, str] = {}
    of_source: dict[str, list[int]] = {}
    for index, line in enumerate(lines):
        of_source.setdefault(line.source, []).append(index)
    for number, row in numbered_rows(path, path.name, RESULT_HOSTS_HEADER, problems):
        where = f"{path.name}:{number}"
        try:
            wanted = _ResultHost(row[0], row[1], row[2], tuple(read_pairs(row[3])))
            _check_host(wanted.host)
        except (ParameterError, LineError) as error:
            problems.append(f"{where}: {getattr(error, 'field', 'params')}: {error}")
            continue
        matching = [index for index in of_source.get(wanted.source, ()) if wanted.has(lines[index])]
        if not matching:
            problems.append(f"{where}: source: no result has this source, name and parameters")
        problems += [
            f"{where}: host: {lines[index].data_key} is of {named[index]} already"
            for index in matching
            if index in named
        ]
        named |= dict.fromkeys(matching, wanted.host)
    return [replace(line, host=named[index]) if index in named else line for index, line in enumerate(lines)]


def _check_host(slug: str) -> None:
    """Raise LineError for a host that the files of hosts do not have."""
    if slug not in _curated_hosts():
        raise LineError("host", _("unknown %(name)r") % {"name": slug[:80]} if slug else _("missing"))


class LineError(ValueError):
    """What is wrong with one field of a line, and what would be right."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(problem)
        self.field = field


class LineReader:
    """Reads lines of one benchmark, of a file or of a table in the admin; remembers texts that repeat.

    `sources` and `accelerators`: the keys and slugs that lines may name.
    """

    def __init__(self, benchmark: CitedBenchmark, sources: Collection[str], accelerators: Collection[str]) -> None:
        self.benchmark, self.sources, self.accelerators = benchmark, sources, accelerators
        self.repeats: Counter[str] = Counter()
        self.params: dict[tuple[str, str], tuple[dict[str, str | int], str]] = {}
        self.software: dict[str, dict[str, str]] = {}

    def line_of_host(self, row: Sequence[str], where: str) -> CitedLine:
        """The line with these cells, in the order of HOST_HEADER. Raises LineError, also for a run that it read."""
        host, *cells = row
        _check_host(host)
        line = self.line(cells, host)
        if self.repeats[line.data_key.partition("/")[2]] != 1:
            raise LineError("params", _("another line has this run: name what differs, in params or software"))
        return replace(line, where=where)

    def line(self, row: Sequence[str], host: str = "") -> CitedLine:
        """The line with these cells, in the order of HEADER. Raises LineError."""
        accelerator, reported_name, count, params, value, unit, software, day, source, doubt, note = row
        self._check_texts(accelerator, reported_name, source, dict(zip(HEADER, row, strict=True)))
        si = self._si(unit)
        read, key = self._params(params, si)
        return CitedLine(
            benchmark=self.benchmark.key,
            data_key=self._data_key(
                [*filter(None, [host]), accelerator, reported_name, count, params, unit, software, day, source]
            ),
            host=host,
            accelerator=accelerator,
            reported_name=reported_name,
            count=_devices(count),
            params=read,
            params_key=key,
            value=value,
            unit=unit,
            amount=_amount(value, unit, doubt),
            software=self._software(software),
            date=_day(day),
            source=source,
            doubt=doubt,
            note=note,
        )

    def _check_texts(self, accelerator: str, reported_name: str, source: str, cells: dict[str, str]) -> None:
        if accelerator not in ("", NEVER_MATCHED) and accelerator not in self.accelerators:
            raise LineError("accelerator", _("unknown %(name)r") % {"name": accelerator[:80]})
        if not reported_name:
            raise LineError("reported_name", _("missing"))
        if source not in self.sources:
            raise LineError("source", _("unknown %(name)r") % {"name": source[:80]} if source else _("missing"))
        for name, most in LONGEST.items():
            if len(cells[name]) > most:
                raise LineError(name, _("longer than %(n)d characters") % {"n": most})

    def _si(self, unit: str) -> str:
        known = UNITS.get(unit)
        if known is None:
            raise LineError("unit", _("unknown %(name)r") % {"name": unit[:40]})
        if known.si not in self.benchmark.units:
            named = {"unit": unit, "benchmark": self.benchmark.key, "units": ", ".join(self.benchmark.units)}
            raise LineError("unit", _("%(unit)s does not belong to %(benchmark)s: %(units)s") % named)
        return known.si

    def _params(self, text: str, si: str) -> tuple[dict[str, str | int], str]:
        if (text, si) not in self.params:
            try:
                read = read_params(text, self.benchmark)
            except ParameterError as error:
                raise LineError("params", str(error)) from error
            self._check_model(read)
            self.params[text, si] = (read, comparison_key(self.benchmark, read, si))
        return self.params[text, si]

    @staticmethod
    def _check_model(read: Params) -> None:
        model = str(read.get("model", ""))
        if NO_MODEL.fullmatch(model):
            raise LineError(
                "params", _("model not known, because %(name)r is a number, folder or engine") % {"name": model}
            )

    def _software(self, text: str) -> dict[str, str]:
        if text not in self.software:
            try:
                self.software[text] = dict(read_pairs(text))
            except ParameterError as error:
                raise LineError("software", str(error)) from error
        return self.software[text]

    def _data_key(self, cells: list[str]) -> str:
        """Names the line as long as it speaks of the same run; equal ones are numbered in the order of the file."""
        key = hashlib.blake2b("\x1f".join(cells).encode(), digest_size=12).hexdigest()
        self.repeats[key] += 1
        repeat = f"-{self.repeats[key]}" if self.repeats[key] > 1 else ""
        return f"{self.benchmark.key}/{key}{repeat}"


def _devices(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= MOST_DEVICES):
        named = {"most": f"{MOST_DEVICES:,}", "text": text[:40]}
        raise LineError("count", _("must be a whole number from 1 to %(most)s, not %(text)r") % named)
    return int(text)


def _amount(value: str, unit: str, doubt: str) -> float:
    number = number_of(value)
    if number is None and SUFFIXED.fullmatch(value):
        raise LineError("value", _("not known, because %(text)r has a suffix: write it in full") % {"text": value[:40]})
    if number is None:
        raise LineError("value", _("%(text)r is not a number") % {"text": value[:40]})
    amount = number * UNITS[unit].factor
    if not 0 <= number < math.inf:
        raise LineError("value", _("must be finite and not negative, not %(text)r") % {"text": value[:40]})
    if amount > LARGEST_AMOUNT:
        largest = f"{LARGEST_AMOUNT:g} {UNITS[unit].si}"
        raise LineError("value", _("must be at most %(largest)s, not %(text)r") % {"largest": largest, "text": value})
    if amount == 0 and not doubt:
        raise LineError("value", _("a result of zero needs a doubt: it is never public"))
    return amount


def _day(text: str) -> date | None:
    if not text:
        return None
    if not _ISO_DAY.fullmatch(text):  # Python reads 20261120 and 2026-W47 too
        raise LineError("date", _("must be like 2026-11-20, not %(text)r") % {"text": text[:40]})
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise LineError("date", _("there is no day %(text)s: year, month, day") % {"text": text}) from None
