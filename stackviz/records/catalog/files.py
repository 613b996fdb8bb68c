"""The curated files under `data/`: read, checked, and given a version. Pure: no database.

    vendors.csv       slug,name
    accelerators.csv  slug,name,vendor,kind,family
    sources.csv       key,title,url,kind,read_as,read_on    no url: what it says stays unreviewed
    specs/<vendor>.csv  device,field,value,unit,condition,basis,status,source,note      one value a line
    aliases.csv       device,name,kind,memory_gb,gpu_cores,source,note
    exceptions.csv    device,field,condition,reason,source  why a figure does not follow its formula; not loaded
    corrections.csv   device,field,reason  why a figure changed in the files: what the log says of it
    prices.csv        dated street prices and rents: see prices/file.py

`status` is public (the preferred value of its field and condition), alternative (public, another value is preferred or
this one confirms it), unreviewed (no address known) or retired (known to be wrong).
"""

import csv
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime
from itertools import islice
from pathlib import Path
from typing import TypeVar

from stackviz.records.catalog.conditions import ConditionError, canonical
from stackviz.records.catalog.fields import FIELDS, amount_of
from stackviz.records.curated.rows import CuratedDataError
from stackviz.records.prices.file import MOST_PRICES, PriceLine, price_line_problems
from stackviz.report.rules.known_cards import normalized

DATA = Path(__file__).resolve().parent / "data"
# Raise it when what the loader makes of a line changes, so that the same files are loaded anew.
LOADER_VERSION = 1
STATUSES = ("public", "alternative", "unreviewed", "retired")
READINGS = ("", "first-hand", "copy", "quote", "excerpt")  # how a source was read; "": not recorded
BASES = ("published", "probed", "measured", "derived", "inferred")


@dataclass(frozen=True, slots=True)
class VendorLine:
    slug: str
    name: str


@dataclass(frozen=True, slots=True)
class AcceleratorLine:
    slug: str
    name: str
    vendor: str
    kind: str
    family: str


@dataclass(frozen=True, slots=True)
class SourceLine:
    key: str
    title: str
    url: str
    kind: str
    read_as: str
    read_on: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecLine:
    device: str
    field: str
    value: str
    unit: str
    condition: str
    basis: str
    status: str
    source: str
    note: str

    @property
    def key(self) -> str:
        """Identifies the line as long as it is about the same thing from the same source."""
        return f"{self.device}/{self.field}/{self.condition}/{self.source}"

    @property
    def slot(self) -> tuple[str, str, str]:
        return self.device, self.field, self.condition


@dataclass(frozen=True, slots=True, kw_only=True)
class AliasLine:
    device: str
    name: str
    kind: str
    memory_gb: str
    gpu_cores: str
    source: str
    note: str

    @property
    def key(self) -> str:
        return f"{self.device}/{normalized(self.name)}/{self.memory_gb}/{self.gpu_cores}"


@dataclass(frozen=True, slots=True)
class ExceptionLine:
    """Why the values of one cell do not agree with their formula, or look like a sparse rate, and are right."""

    device: str
    field: str
    condition: str
    reason: str
    source: str

    @property
    def slot(self) -> tuple[str, str, str]:
        return self.device, self.field, self.condition


@dataclass(frozen=True, slots=True)
class CorrectionLine:
    """Why the files say something else about a field of an accelerator than they did."""

    device: str
    field: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """Everything the curated files say, and the version of what they say."""

    version: str
    vendors: tuple[VendorLine, ...]
    accelerators: tuple[AcceleratorLine, ...]
    sources: tuple[SourceLine, ...]
    specs: tuple[SpecLine, ...]
    aliases: tuple[AliasLine, ...]
    exceptions: tuple[ExceptionLine, ...] = ()
    corrections: tuple[CorrectionLine, ...] = ()
    prices: tuple[PriceLine, ...] = ()


def data_version(folder: Path = DATA) -> str:
    return digest_of_csv(folder, LOADER_VERSION)


def digest_of_csv(folder: Path, loader_version: int) -> str:
    """A digest of all CSV files below, names included; the same text gives the same on every machine."""
    digest = hashlib.sha256(f"loader {loader_version}".encode())
    for path in sorted(folder.rglob("*.csv")):
        digest.update(path.relative_to(folder).as_posix().encode())
        digest.update(path.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()


def read_catalogue(folder: Path = DATA) -> Catalogue:
    """Read and check all files. Raises CuratedDataError naming every file and line that is wrong."""
    vendors = _read(folder / "vendors.csv", VendorLine)
    accelerators = _read(folder / "accelerators.csv", AcceleratorLine)
    sources = _read(folder / "sources.csv", SourceLine)
    specs = {path.name: _read(path, SpecLine) for path in sorted((folder / "specs").glob("*.csv"))}
    aliases = _read(folder / "aliases.csv", AliasLine)
    excepted = folder / "exceptions.csv"
    exceptions = _read(excepted, ExceptionLine) if excepted.exists() else ()
    corrected = folder / "corrections.csv"
    corrections = _read(corrected, CorrectionLine) if corrected.exists() else ()
    priced = folder / "prices.csv"
    prices = _read(priced, PriceLine, MOST_PRICES) if priced.exists() else ()
    known = _Known({line.slug for line in accelerators}, {line.key: line.url for line in sources})
    problems = [
        *_in_file("vendors.csv", _repeated([line.slug for line in vendors])),
        *_in_file("accelerators.csv", _accelerator_problems(accelerators, {line.slug for line in vendors})),
        *_in_file("sources.csv", _source_problems(sources)),
        *(
            problem
            for name, lines in specs.items()
            for problem in _in_file(f"specs/{name}", _spec_problems(lines, known))
        ),
        *_in_file("aliases.csv", _alias_problems(aliases, known)),
        *_in_file("exceptions.csv", _exception_problems(exceptions, known)),
        *_in_file("corrections.csv", _correction_problems(corrections, known)),
        *_in_file("prices.csv", price_line_problems(prices, known.devices, known.sources, datetime.now(UTC).date())),
    ]
    if problems:
        raise CuratedDataError(problems)
    all_specs = tuple(line for lines in specs.values() for line in lines)
    return Catalogue(
        version=data_version(folder),
        vendors=vendors,
        accelerators=accelerators,
        sources=sources,
        specs=all_specs,
        aliases=aliases,
        exceptions=exceptions,
        corrections=corrections,
        prices=prices,
    )


Line = TypeVar(
    "Line", VendorLine, AcceleratorLine, SourceLine, SpecLine, AliasLine, ExceptionLine, CorrectionLine, PriceLine
)
Problem = tuple[int, str]  # position among the lines of a file, and what is wrong


@dataclass(frozen=True, slots=True)
class _Known:
    """What other files may refer to: devices, and sources with their address."""

    devices: set[str]
    sources: dict[str, str]

    def problems(self, number: int, device: str, source: str) -> Iterator[Problem]:
        if device not in self.devices:
            yield number, f"unknown accelerator {device!r}"
        if source and source not in self.sources:
            yield number, f"unknown source {source!r}"


def _read(path: Path, kind: type[Line], most: int | None = None) -> tuple[Line, ...]:
    """The lines of a file. Of one with more than `most` no further row is read, and it is refused."""
    header = [column.name for column in fields(kind)]
    problems: list[str] = []
    rows = islice(numbered_rows(path, path.name, header, problems), most + 1 if most else None)
    lines = tuple(kind(**dict(zip(header, row, strict=True))) for _number, row in rows)
    if most and len(lines) > most:
        problems.append(
            f"{path.name}:{most + 2}: more than {most:,} rows; keep the newest price of each seller and month"
        )
    if problems:
        raise CuratedDataError(problems)
    return lines


def numbered_rows(path: Path, name: str, header: list[str], problems: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of each row that has as many as the header; what is wrong is added to `problems`."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        first = next(rows, [])
        if first != header:
            problems.append(f"{name}:1: the header is {','.join(first)[:200]}, not {','.join(header)}")
            return
        try:
            for row in rows:
                if len(row) == len(header):
                    yield rows.line_num, row
                elif row:
                    problems.append(f"{name}:{rows.line_num}: {len(row)} columns, not {len(header)}")
        except csv.Error as error:
            problems.append(f"{name}:{rows.line_num}: {error}")


def _in_file(name: str, problems: Iterable[Problem]) -> list[str]:
    return [f"{name}:{number + 2}: {problem}" for number, problem in problems]


def _repeated(keys: Sequence[object]) -> Iterator[Problem]:
    seen: set[object] = set()
    for number, key in enumerate(keys):
        if key in seen:
            yield number, f"duplicate: {key}"
        seen.add(key)


def _accelerator_problems(lines: Sequence[AcceleratorLine], vendors: set[str]) -> Iterator[Problem]:
    yield from _repeated([line.slug for line in lines])
    yield from _repeated([line.name for line in lines])
    for number, line in enumerate(lines):
        if line.vendor not in vendors:
            yield number, f"unknown vendor {line.vendor!r}"


def _source_problems(lines: Sequence[SourceLine]) -> Iterator[Problem]:
    yield from _repeated([line.key for line in lines])
    yield from _repeated([(line.title, line.url) for line in lines])
    for number, line in enumerate(lines):
        if line.url and not line.url.startswith(("https://", "http://")):
            yield number, f"not a web address: {line.url}"
        if line.read_as not in READINGS:
            yield number, f"read_as must be one of {', '.join(READINGS[1:])}, or empty, not {line.read_as!r}"
        if line.read_on and not _is_day(line.read_on):
            yield number, f"read_on is a day such as 2026-11-20, not {line.read_on!r}"


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _spec_problems(lines: Sequence[SpecLine], known: _Known) -> Iterator[Problem]:
    yield from _repeated([line.key for line in lines])
    for number, key in _repeated(
        [line.slot if line.status == "public" else number for number, line in enumerate(lines)]
    ):
        yield number, f"two preferred values, {key}"
    for number, line in enumerate(lines):
        yield from known.problems(number, line.device, line.source)
        yield from ((number, problem) for problem in _line_problems(line))
        if line.status in ("public", "alternative") and not known.sources.get(line.source):
            yield number, f"{line.status}, but its source has no address"


def _line_problems(line: SpecLine) -> Iterator[str]:
    """What is wrong with one value by itself."""
    if line.status not in STATUSES:
        yield f"status must be one of {', '.join(STATUSES)}, not {line.status!r}"
    if line.basis not in BASES:
        yield f"basis must be one of {', '.join(BASES)}, not {line.basis!r}"
    if line.field not in FIELDS:
        yield f"unknown field {line.field!r}"
        return
    try:
        amount_of(FIELDS[line.field], line.value, line.unit)
        if canonical(line.condition) != line.condition:
            yield f"condition is written {canonical(line.condition)!r}"
    except ValueError as error:
        yield str(error)


def _alias_problems(lines: Sequence[AliasLine], known: _Known) -> Iterator[Problem]:
    yield from _repeated([line.key for line in lines])
    for number, line in enumerate(lines):
        yield from known.problems(number, line.device, line.source)
        if not normalized(line.name):
            yield number, f"the name {line.name!r} consists only of the vendor's"


def _exception_problems(lines: Sequence[ExceptionLine], known: _Known) -> Iterator[Problem]:
    yield from _repeated([line.slot for line in lines])
    for number, line in enumerate(lines):
        yield from known.problems(number, line.device, line.source)
        if line.field not in FIELDS:
            yield number, f"unknown field {line.field!r}"
        try:
            if canonical(line.condition) != line.condition:
                yield number, f"condition is written {canonical(line.condition)!r}"
        except ConditionError as error:
            yield number, str(error)
        if not line.reason:
            yield number, "the reason is missing"


def _correction_problems(lines: Sequence[CorrectionLine], known: _Known) -> Iterator[Problem]:
    yield from _repeated([(line.device, line.field) for line in lines])
    for number, line in enumerate(lines):
        yield from known.problems(number, line.device, "")
        if line.field not in FIELDS:
            yield number, f"unknown field {line.field!r}"
        if not line.reason:
            yield number, "the reason is missing"
