"""llama.cpp's `llama-bench` -> results: its tables, JSON, JSON lines, CSV, SQL, with the devices named before them.

A table states a mean and a deviation, JSON every sample besides. Both are kept as stated: `mean` and `stddev` of the
result's own fields. A table of llama-batched-bench is another benchmark and is left alone.
"""

import csv
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from stackviz.base.backports import UTC, time_of_iso
from stackviz.report.format import LIMITS, Result, Scalar
from stackviz.report.importers.figures import NO_DEVICE, TableColumns, first_line_above, starts_of_lines
from stackviz.report.importers.importer import Importer, Span, blocks_after
from stackviz.report.importers.reading import Reading, clean
from stackviz.report.importers.tool_result import device_label, device_of_name, devices_in, split_names

__all__ = ["IMPORTER", "KIND", "NO_DEVICE", "ON_CPU", "read_llama_bench"]

KIND = "llama-bench"

_MOST_CHARS = 1024 * 1024
_MOST_SPANS = 64
_LINES_BELOW = 12
_LONGEST_OBJECT = 64 * 1024  # a thousand samples
_MOST_BAD_OBJECTS = 20

_BUILD = re.compile(r"^.{0,60}?\bbuild: ([0-9a-f]{6,40}) \((\d{1,7})\)")
_OBJECT = re.compile(r'\{\s{0,40}"(?:build_commit|build_number|cpu_info|test_time|model_type|model_filename)"\s{0,4}:')
_LOG = re.compile(
    r"ggml_|llama_|load_backend|register_|\bDevice \d{1,3}:|Vulkan\d|WARNING|warning:|main:|system_info|build:|\[SYCL\]"
    r"|level_zero|llama-bench|found \d{1,3} \w{1,10} devices"
)
_SQL_HEAD = re.compile(r"^(?:CREATE TABLE IF NOT EXISTS|INSERT INTO) (?:llama_bench|test) \(", re.MULTILINE)
_SQL_LINE = re.compile(r" {1,8}\w{1,40} (?:TEXT|INTEGER|REAL),?\s*$|\);\s*$|INSERT INTO (?:llama_bench|test) \(")
_INSERT = re.compile(
    r"^INSERT INTO (?:llama_bench|test) \((?P<names>[^)\n]{20,4000})\) VALUES \((?P<values>[^\n]{2,20000})\);?[ \t]*$",
    re.MULTILINE,
)
_TEST = re.compile(r"(?:pp|tg) ?\d{1,8}(?: ?\+ ?tg ?\d{1,8})?(?: ?@ ?d ?\d{1,8})?", re.IGNORECASE)
_RATE = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(?:\s{0,4}[^\d\s.,]{1,4}\s{0,4}(\d{1,9}(?:\.\d{1,9})?))?")
_FAILED = re.compile(
    r"out of (?:device )?memory|OutOf(?:Device|Host)Memory|failed to (?:load model|create context|allocate)"
    r"|unable to allocate|allocation of size \d{1,20} failed|CUDA error|ROCm error|HIP error|ggml_abort|GGML_ASSERT",
    re.IGNORECASE,
)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
ON_CPU = frozenset({"CPU", "BLAS", "BLIS", "OpenBLAS", "Accelerate"})
_ACCELERATE = "Accelerate, "  # the library of Apple's that llama.cpp lists before the processor

_PARAMS = {
    "n_gpu_layers": "ngl",
    "n_threads": "threads",
    "n_batch": "n_batch",
    "n_ubatch": "n_ubatch",
    "type_k": "type_k",
    "type_v": "type_v",
    "split_mode": "sm",
    "flash_attn": "fa",
    "use_mmap": "mmap",
}
"""Keys of JSON and CSV -> the column of the table that says the same."""
_UNUSUAL = {"n_cpu_moe": "ncmoe", "tensor_buft_overrides": "ot", "no_kv_offload": "nkvo", "embeddings": "embd"}
"""Of those, what is stated only where it is set: a part of the model or of its cache computes elsewhere."""
_NOT_SET = frozenset({"", "0", "none", "false"})


def find_llama_bench(text: str) -> list[Span]:
    in_sql = blocks_after(_SQL_HEAD, _SQL_LINE, text, anchor="build_commit")
    spans = [*_tables(text), *_objects_at(text), *_csv_at(text), *in_sql]
    chosen: list[Span] = []
    for span in sorted(spans):
        if not chosen or span.start >= chosen[-1].end:
            chosen.append(span)
    return chosen[:_MOST_SPANS]


def read_llama_bench(text: str) -> Reading:
    """Never raises. A row that cannot be read is listed; a run that ended for want of memory is a failed result."""
    reading = Reading(kind=KIND)
    if len(text) > _MOST_CHARS:
        reading.problem(f"longer than {_MOST_CHARS} characters; the rest was not read")
    text = text[:_MOST_CHARS]
    if _OBJECT.search(text):
        _read_rows(reading, _objects(reading, text))
    elif any(map(_is_csv_header, text.splitlines())):
        _read_rows(reading, _csv_rows(reading, text))
    elif _SQL_HEAD.search(text):
        _read_rows(reading, _sql_rows(reading, text))
    else:
        _read_table(reading, text)
    if not reading.results:
        reading.problem("no row could be read")
    return reading


# ---- the table ------------------------------------------------------------------------------------------------------


def _header(line: str) -> TableColumns | None:
    if "t/s" not in line or "test" not in line or "|" not in line:
        return None
    columns = TableColumns.of_header(line)
    is_ours = {"test", "t/s"} <= columns.names.keys() and bool(columns.names.keys() & {"model", "model_filename"})
    return columns if is_ours else None


def _tables(text: str) -> Iterator[Span]:
    """Each table from the first line about its devices to its line `build:`."""
    if "t/s" not in text:
        return
    lines = text.splitlines(keepends=True)
    starts = starts_of_lines(lines)
    floor = 0
    for number, line in enumerate(lines):
        if number >= floor and _header(line):
            top, bottom = first_line_above(lines, number, floor, _LOG), _bottom(lines, number)
            yield Span(starts[top], starts[bottom])
            floor = bottom


def _bottom(lines: Sequence[str], header: int) -> int:
    """One past the last line of the table: its last row, its build, or how the run failed."""
    bottom = header + 1
    for number in range(header + 1, len(lines)):
        line = lines[number]
        if number - bottom > _LINES_BELOW or _header(line):
            break
        if _BUILD.search(line[:200]):
            return number + 1
        if line.count("|") > 2 or _FAILED.search(line[:500]):
            bottom = number + 1
        elif line.startswith("#"):
            break
    return bottom


def _read_table(reading: Reading, text: str) -> None:
    lines = text.splitlines()
    number = next((number for number, line in enumerate(lines) if _header(line)), None)
    header = _header(lines[number]) if number is not None else None
    if number is None or header is None:
        return
    devices = devices_in("\n".join(lines[:number]))
    reading.cards.extend(device.card() for device in devices)
    label = device_label([card.reported_name for card in reading.cards], count_one=True)
    card = reading.cards[0].index if len(reading.cards) == 1 else None
    for line in lines[number + 1 :]:
        _read_line(reading, header, line, label, card)
    _read_build(reading, lines)


def _read_line(reading: Reading, header: TableColumns, line: str, label: str, card: int | None) -> None:
    cells = line[:4000].split("|")
    test = header.cell(cells, "test")
    if len(cells) >= header.width - 1 and _TEST.fullmatch(test):
        mean, stddev = _rate(header.cell(cells, "t/s"))
        params = _params_of_row(header, cells)
        device = label or _processor(reading, header.cell(cells, "cpu_info"), str(params.get("backend", "")))
        why = "" if mean else f"it states {clean(header.cell(cells, 't/s'), 100) or 'nothing'}"
        _add(reading, _Row(params=params, device=device, card=card, mean=mean, stddev=stddev, why=why))
    elif failed := _FAILED.search(line[:500]):
        last = reading.results[-1].params if reading.results else {"model": NO_DEVICE}
        params = {"model": last["model"], "test": NO_DEVICE}
        why = clean(line[max(0, failed.start() - 200) : failed.end() + 200], 400)
        if not reading.results or reading.results[-1].state == "ok":
            _add(reading, _Row(params=params, device=label or NO_DEVICE, card=card, mean=None, stddev=None, why=why))
    elif any(letter.isalnum() for letter in line) and not _BUILD.search(line[:200]) and not _LOG.search(line[:300]):
        reading.ignore(line)


def _rate(cell: str) -> tuple[float | None, float | None]:
    match = _RATE.fullmatch(cell)
    return (float(match[1]), float(match[2]) if match[2] else None) if match else (None, None)


def _params_of_row(header: TableColumns, cells: Sequence[str]) -> dict[str, Scalar]:
    params: dict[str, Scalar] = {"model": _text(header.cell(cells, "model", "model_filename")) or NO_DEVICE}
    params["test"] = _text(header.cell(cells, "test"))
    for name in islice(header.names, LIMITS.params - 4):
        value = _scalar(header.cell(cells, name))
        if name not in ("model", "model_filename", "test", "t/s", "cpu_info") and value != "":
            params[clean(name, 60)] = value
    return params


def _read_build(reading: Reading, lines: Iterable[str]) -> None:
    for line in lines:
        match = _BUILD.search(line[:200])
        if match:
            reading.add_software("llama-cpp", f"b{int(match[2])} ({match[1]})", "llama-bench")


# ---- JSON, JSON lines, CSV, SQL -------------------------------------------------------------------------------------


def _objects_at(text: str) -> Iterator[Span]:
    """Objects with nothing but brackets and commas between them, with the devices named before the first."""
    start = end = -1
    bad = 0
    for match in islice(_OBJECT.finditer(text), LIMITS.results):
        if end >= 0 and match.start() < end:
            continue
        if start >= 0 and text[end : match.start()].strip(" \t\n,[]"):
            yield Span(start, end)
            start = -1
        if start < 0:
            start = _before(text, match.start())
        end, is_torn = _after(text, match.start())
        bad += is_torn
        if bad > _MOST_BAD_OBJECTS:
            break
    if start >= 0:
        yield Span(start, end)


def _before(text: str, at: int) -> int:
    """Where the list that an object begins opens."""
    head = text[max(0, at - 200) : at].rstrip()
    return at - (len(text[max(0, at - 200) : at]) - len(head)) - 1 if head.endswith("[") else at


def _after(text: str, at: int) -> tuple[int, bool]:
    """Past an object, and whether it is torn: then it ends where the next begins, or the text."""
    try:
        _value, length = json.JSONDecoder().raw_decode(text[at : at + _LONGEST_OBJECT])
    except (ValueError, RecursionError):
        following = _OBJECT.search(text, at + 1, at + _LONGEST_OBJECT)
        return (following.start() if following else min(len(text), at + _LONGEST_OBJECT)), True
    closing = re.compile(r"\s{0,200}\]").match(text, at + length)
    return (closing.end() if closing else at + length), False


def _objects(reading: Reading, text: str) -> Iterator[Mapping[str, object]]:
    bad = 0
    at = 0
    for match in islice(_OBJECT.finditer(text), LIMITS.results):
        if match.start() < at:
            continue
        try:
            row, length = json.JSONDecoder().raw_decode(text[match.start() : match.start() + _LONGEST_OBJECT])
        except (ValueError, RecursionError):
            bad += 1
            if bad > _MOST_BAD_OBJECTS:
                return
            reading.problem(f"an object is incomplete: {text[match.start() : match.start() + 80]}")
            continue
        at = match.start() + length
        yield row


def _is_csv_header(line: str) -> bool:
    return (
        len(line) < 4000
        and "build_commit" in line
        and "avg_ts" in line
        and line.count(",") > 4
        and not re.search(r"[{(]", line)
    )


def _csv_at(text: str) -> Iterator[Span]:
    if "build_commit" not in text:
        return
    lines = text.splitlines(keepends=True)
    starts = starts_of_lines(lines)
    number = 0
    while number < len(lines):
        first, number = number, number + 1
        if _is_csv_header(lines[first]):
            width = lines[first].count(",")
            while number < len(lines) and lines[number].count(",") >= width and not _is_csv_header(lines[number]):
                number += 1
            yield Span(starts[first], starts[number])


def _csv_rows(reading: Reading, text: str) -> Iterator[Mapping[str, object]]:
    lines = text.splitlines()
    header = next(number for number, line in enumerate(lines) if _is_csv_header(line))
    try:
        for row in islice(csv.DictReader(lines[header:], restkey="rest", restval=""), LIMITS.results):
            if row.get("avg_ts"):
                yield row
    except csv.Error as error:
        reading.problem(f"the CSV cannot be read: {error}")


def _sql_rows(reading: Reading, text: str) -> Iterator[Mapping[str, object]]:
    for match in islice(_INSERT.finditer(text), LIMITS.results):
        names = [name.strip() for name in match["names"].split(",")]
        values = next(csv.reader([match["values"]], quotechar="'", skipinitialspace=True), [])
        if len(values) == len(names):
            yield dict(zip(names, values, strict=True))
        else:
            reading.problem(f"a row has {len(values)} values for {len(names)} columns")


def _read_rows(reading: Reading, rows: Iterable[Mapping[str, object]]) -> None:
    for row in rows:
        if "avg_ts" not in row and "samples_ts" not in row:
            reading.ignore(f"a row without avg_ts: {_text(row.get('model_type'))}")
            continue
        names = split_names(_text(row.get("gpu_info"), LIMITS.string_chars))
        _add_cards(reading, names)
        backend = _text(row.get("backends") or row.get("backend"))
        processor = _processor(reading, _text(row.get("cpu_info")), backend)
        device = device_label(names, count_one=False) or processor
        samples = _samples(row.get("samples_ts"))
        mean = _number(row.get("avg_ts")) or (sum(samples) / len(samples) if samples else None)
        _add(
            reading,
            _Row(
                params=_params_of(row, backend),
                device=device,
                card=_only_card(reading, names),
                mean=mean,
                stddev=_number(row.get("stddev_ts")),
                samples=samples,
                started_at=_moment(row.get("test_time")),
                why="it states no rate",
            ),
        )
        if row.get("build_number"):
            commit = f" ({_text(row['build_commit'])[:40]})" if row.get("build_commit") else ""
            reading.add_software("llama-cpp", f"b{_text(row['build_number'])[:12]}{commit}", "llama-bench")


def _add_cards(reading: Reading, names: Sequence[str]) -> None:
    """So many cards of each name as the run with most of them had."""
    for name in dict.fromkeys(names):
        known = sum(card.reported_name == name for card in reading.cards)
        for _new in range(names.count(name) - known):
            if len(reading.cards) < LIMITS.cards:
                reading.cards.append(device_of_name(len(reading.cards), name).card())


def _only_card(reading: Reading, names: Sequence[str]) -> int | None:
    """The card of a run on one device, where no other has its name."""
    alike = [card.index for card in reading.cards if len(names) == 1 and card.reported_name == names[0]]
    return alike[0] if len(alike) == 1 else None


def _processor(reading: Reading, cpu: str, backend: str) -> str:
    """Notes the processor; -> the device of a run that names no other."""
    cpu = cpu.removeprefix(_ACCELERATE)
    reading.sheet.state("cpu.model", cpu or None)
    return (cpu or "CPU") if backend in ON_CPU else NO_DEVICE


def _params_of(row: Mapping[str, object], backend: str) -> dict[str, Scalar]:
    params: dict[str, Scalar] = {
        "model": _text(row.get("model_type") or row.get("model_filename"), LIMITS.name_chars) or NO_DEVICE,
        "test": _test_of(row),
    }
    size, count = _number(row.get("model_size")), _number(row.get("model_n_params"))
    if size:
        params["size"] = f"{size / 2**30:.2f} GiB" if size >= 2**30 else f"{size / 2**20:.2f} MiB"
    if count:
        params["params"] = f"{count / 1e9:.2f} B" if count >= 1e9 else f"{count / 1e6:.2f} M"
    if backend:
        params["backend"] = backend
    for key, name in _PARAMS.items():
        value = row.get(key)
        if isinstance(value, str | int | float):
            params[name] = _scalar(str(int(value) if isinstance(value, bool) else value))
    for key, name in _UNUSUAL.items():
        value = row.get(key)
        set_to = _text(int(value) if isinstance(value, bool) else value)
        if set_to.casefold() not in _NOT_SET:
            params[name] = _scalar(set_to)
    return params


def _test_of(row: Mapping[str, object]) -> str:
    """As the table would word it: `pp512`, `tg128 @ d4096`, `pp512+tg128`."""
    prompt, generated, depth = (int(_number(row.get(key)) or 0) for key in ("n_prompt", "n_gen", "n_depth"))
    parts = [f"pp{prompt}"] * bool(prompt) + [f"tg{generated}"] * bool(generated)
    return ("+".join(parts) or NO_DEVICE) + (f" @ d{depth}" if depth else "")


def _samples(written: object) -> tuple[float, ...]:
    listed = written if isinstance(written, list) else []
    numbers = (_number(text) for text in listed[: LIMITS.samples])
    return tuple(number for number in numbers if number)


def _moment(written: object) -> datetime | None:
    text = str(written or "")
    try:
        return time_of_iso(text).astimezone(UTC) if _TIME.fullmatch(text) else None
    except (ValueError, OverflowError):
        return None


# ---- results --------------------------------------------------------------------------------------------------------


@dataclass(kw_only=True)
class _Row:
    """One line of the benchmark. `why`: what to say where it states no rate."""

    params: dict[str, Scalar]
    device: str
    card: int | None
    mean: float | None
    stddev: float | None
    samples: tuple[float, ...] = ()
    started_at: datetime | None = None
    why: str = ""


def _add(reading: Reading, row: _Row) -> None:
    if len(reading.results) >= LIMITS.results:
        return
    is_ok = row.mean is not None and row.mean > 0
    stated = {"mean": row.mean, "stddev": row.stddev} if is_ok else {}
    reading.results.append(
        Result(
            benchmark=KIND,
            version=1,
            device=row.device or NO_DEVICE,
            card=row.card,
            params=row.params,
            state="ok" if is_ok else "failed",
            reason=None if is_ok else row.why or "it states no rate",
            unit="t/s",
            samples=(row.samples or (row.mean or 0.0,)) if is_ok else (),
            started_at=row.started_at,
            duration_s=None,
            conditions={},
            extra={name: value for name, value in stated.items() if value is not None},
        )
    )


def _number(written: object) -> float | None:
    """A finite number that is not negative, of a size that can be meant; None for anything else."""
    if isinstance(written, bool) or not isinstance(written, str | int | float):
        return None
    try:
        number = float(written) if len(str(written)) < 40 else math.nan
    except (ValueError, OverflowError):
        return None
    return number if 0 <= number < 1e15 else None


def _text(written: object, longest: int = 200) -> str:
    return clean(str(written), longest) if isinstance(written, str | int | float) else ""


def _scalar(text: str) -> Scalar:
    text = clean(text, LIMITS.name_chars)
    return int(text) if re.fullmatch(r"-?\d{1,15}", text) else text


IMPORTER = Importer(
    kind=KIND,
    tool="llama-bench",
    tells="benchmark results, the cards its log names",
    trust=30,
    find=find_llama_bench,
    read=read_llama_bench,
    lists_all_cards=False,
)
