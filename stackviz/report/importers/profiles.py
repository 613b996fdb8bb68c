"""Profiles: the table of torch.profiler, and the summaries of `nsys stats` -> where the time goes.

Formats: torch/autograd/profiler_util.py; the reports of Nsight Systems, cuda_api_sum and cuda_gpu_mem_time_sum.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from stackviz.report.importers.importer import Importer, Span, blocks_after
from stackviz.report.importers.reading import Reading

__all__ = ["NSYS", "TORCH_PROFILER"]

_MOST_ROWS = 4_000
_GAP = re.compile(r"[ \t]{2,}")

# ---- torch.profiler -------------------------------------------------------------------------------------------------

_TORCH_HEAD = re.compile(r"^[ \t]{0,200}Name[ \t]{1,20}Self CPU %[ \t]{1,20}Self CPU[ \t][^\n]{0,400}$", re.MULTILINE)
_TORCH_ROW = re.compile(r"[ \t]{0,200}(?:-{3}|Self \w{1,8} time total: |\S[^\n]{0,600}?[ \t]{2,80}-?\d)")
_TOTAL = re.compile(r"^[ \t]{0,8}Self (\w{1,8}) time total: (\d{1,12}(?:\.\d{1,6})?)(us|ms|s)\b", re.MULTILINE)
_TIME = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)(us|ms|s)")
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
_LOADER = re.compile(r"DataLoader[^\n]{0,60}(?:__next__|next)|_next_data|enumerate\(DataLoader")
_SYNC = re.compile(r"(?:cuda|hip)(?:Stream|Device|Event)Synchronize|(?:cuda|hip)Memcpy$")
_FETCH = re.compile(r"aten::(?:_local_scalar_dense|item|is_nonzero)$")
_LAUNCH = re.compile(r"(?:cuda|hip)LaunchKernel|cuLaunchKernel")
_COPY = re.compile(r"Memcpy (?:HtoD|DtoH)|\[CUDA memcpy (?:HtoD|DtoH|Host-to-Device|Device-to-Host)\]")


def find_torch_profiler(text: str) -> list[Span]:
    return blocks_after(_TORCH_HEAD, _TORCH_ROW, text, anchor="Self CPU %")


def _seconds(written: str) -> float:
    match = _TIME.fullmatch(written)
    return float(match[1]) * _SECONDS[match[2]] if match else 0.0


def _torch_rows(text: str) -> Iterator[Mapping[str, str]]:
    columns: Sequence[str] = ()
    for line in text.split("\n", _MOST_ROWS)[:_MOST_ROWS]:
        cells = _GAP.split(line.strip()[:2_000])
        if cells[0] == "Name":
            columns = cells
        elif len(cells) == len(columns) > 1:
            yield dict(zip(columns, cells, strict=True))


def read_torch_profiler(text: str) -> Reading:
    """Never raises. Shares are of the totals below the table: a table cut to ten rows has most of the time."""
    reading = Reading(kind="torch-profiler")
    totals = {name: float(number) * _SECONDS[unit] for name, number, unit in _TOTAL.findall(text)[:8]}
    host = totals.pop("CPU", None)
    device = next(iter(totals.values()), None)
    reading.sheet.state("profile.host_s", host)
    reading.sheet.state("profile.device_s", device)
    of_host = dict.fromkeys(("loader", "sync", "launch"), 0.0)
    copied = 0.0
    fetches: list[int] = []
    for row in _torch_rows(text):
        name, spent = row["Name"], _seconds(row.get("Self CPU", ""))
        for kind, pattern in (("loader", _LOADER), ("sync", _SYNC), ("launch", _LAUNCH)):
            of_host[kind] += spent if pattern.search(name) else 0.0
        if _COPY.search(name):
            copied += next((_seconds(row[column]) for column in row if re.fullmatch(r"Self (?!CPU)\w+", column)), 0.0)
        if _FETCH.match(name) and row.get("# of Calls", "").isdecimal():
            fetches.append(int(row["# of Calls"][:9]))
    for kind, spent in of_host.items():
        reading.sheet.state(f"profile.{kind}_ratio", min(spent / host, 1.0) if host else None)
    reading.sheet.state("profile.copy_ratio", min(copied / device, 1.0) if device else None)
    reading.sheet.state("profile.syncs", max(fetches, default=0))
    return reading


TORCH_PROFILER = Importer(
    kind="torch-profiler",
    tool="torch.profiler, its table",
    tells="where the time of a step goes: data, waiting, launches, copies",
    trust=26,
    find=find_torch_profiler,
    read=read_torch_profiler,
    marks=("Self CPU %",),
)

# ---- nsys stats -----------------------------------------------------------------------------------------------------

_NSYS_HEAD = re.compile(
    r"^[ \t]{0,8}\*\* [^\n]{3,60} \((?:cuda_api_sum|cuda_gpu_kern_sum|cuda_gpu_mem_time_sum|cudaapisum|gpukernsum"
    r"|gpumemtimesum)\):?[ \t]*$",
    re.MULTILINE,
)
_NSYS_ROW = re.compile(r"[ \t]{0,12}(?:Time ?\(%\)|-{4}|\d{1,3}\.\d[ \t])")
_NSYS_CELLS = re.compile(r"[ \t]{0,12}(\d{1,3}\.\d)[ \t]{1,20}(\d[\d,]{0,20})[ \t]{1,20}(\d[\d,]{0,14})[ \t]")


def find_nsys(text: str) -> list[Span]:
    return blocks_after(_NSYS_HEAD, _NSYS_ROW, text, anchor="** ")


def read_nsys(text: str) -> Reading:
    """Never raises. One summary each: of the calls of CUDA, of the kernels, or of the copies.

    None says how long the program ran: shares are of the time in calls.
    """
    reading = Reading(kind="nsys-stats")
    lines = text.split("\n", _MOST_ROWS)[:_MOST_ROWS]
    spent: list[tuple[str, float, int]] = []
    for line in lines[1:]:
        if match := _NSYS_CELLS.match(line):
            name = _GAP.split(line.strip()[-600:])[-1]
            spent.append((name, float(match[2].replace(",", "")) / 1e9, int(match[3].replace(",", ""))))
    total = sum(seconds for _name, seconds, _calls in spent)
    if not total:
        return reading
    if "api" in lines[0].rpartition("(")[2]:
        reading.sheet.state("profile.calls_s", total)
        for kind, pattern in (("sync", _SYNC), ("launch", _LAUNCH)):
            reading.sheet.state(
                f"profile.{kind}_ratio", sum(s for name, s, _calls in spent if pattern.search(name)) / total
            )
        reading.sheet.state("profile.syncs", sum(calls for name, _s, calls in spent if _SYNC.search(name)))
    elif "kern" in lines[0].rpartition("(")[2]:
        reading.sheet.state("profile.device_s", total)
    return reading


NSYS = Importer(
    kind="nsys-stats",
    tool="nsys stats",
    tells="where the time goes: calls that wait or launch, kernels",
    trust=27,
    find=find_nsys,
    read=read_nsys,
    marks=("** ",),
    command="nsys",
)
