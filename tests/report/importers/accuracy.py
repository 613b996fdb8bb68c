"""What a careful reader found in a sample, cell by cell, against what the importers tell.

A cell of the index is put into the words of a report, by rules of its own, and compared whole: nothing is searched for
in anything longer. Cells that are empty, or say "not stated", count only where the importers tell something all the
same: that was made up.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from stackviz.report.format import Card
from stackviz.report.importers import Reading
from stackviz.report.importers.reading import UNNAMED

Row = Mapping[str, str]

KINDS = {
    "collect_env": ("collect-env",),
    "llama_bench": ("llama-bench",),
    "nvidia_smi_table": ("nvidia-smi-table",),
    "system_profiler": ("system-profiler-text",),
}
OTHER_KINDS = {
    ("issue-template",): "001 002 003 004 005 006",
    ("nvidia-smi-topo",): "010 013 018 021 022 023",
    ("nvidia-smi-csv",): "008 011",
    ("nvidia-smi-table", "nvcc-version", "lscpu", "meminfo"): "016 017",
    ("vllm-env", "nvidia-smi-topo"): "007",
    ("nvidia-smi-list",): "009",
    ("nvidia-smi-version",): "012",
    ("rocm-smi",): "014",
    ("rocminfo",): "015",
    ("nvidia-smi-dmon",): "019",
    ("detectron2-env",): "020",
    ("accelerate-env",): "024",
}
"""Samples of the folder other_env."""
ALSO_STATED = {"llama_bench/015.md": {"os": "macOS"}}
"""What a sample states and the index leaves empty, seen when it was read again: `uname -a` of a Mac stands there."""


class Cell(NamedTuple):
    """One cell: what was to be read, and what was. `field` is the column, or `extra: what`."""

    field: str
    expected: str
    found: str

    @property
    def is_right(self) -> bool:
        return self.expected == self.found


def cells(row: Row, kinds: tuple[str, ...], reading: Reading) -> list[Cell]:
    """All cells of a row that state something, and those that state nothing where something was told."""
    row = {**row, **ALSO_STATED.get(row["file"], {})}
    both = [Cell("kind", _words(expected_kinds(row)), _words(kinds))]
    for column, compare in COLUMNS.items():
        cell = compare(row, reading)
        if _states(row[column]) or cell.found:
            both.append(cell._replace(field=column, expected=cell.expected if _states(row[column]) else ""))
    return [*both, *extra_cells(row, reading)]


def expected_kinds(row: Row) -> tuple[str, ...]:
    folder, _, name = row["file"].partition("/")
    if folder == "nvidia_smi_q":
        return ("nvidia-smi-xml",) if name.endswith(".xml") else ("nvidia-smi-q",)
    if row["file"] == "nvidia_smi_table/030.txt":  # its log also asks for the name alone
        return ("nvidia-smi-table", "nvidia-smi-csv")
    if row["file"] == "llama_bench/015.md":
        return ("uname", "llama-bench")
    number = name.partition(".")[0]
    return KINDS.get(folder) or next((kinds for kinds, numbers in OTHER_KINDS.items() if number in numbers.split()), ())


def _words(kinds: tuple[str, ...]) -> str:
    return " ".join(kinds)


def _states(cell: str) -> bool:
    return cell.strip().lower() not in {"", "not stated"} and not cell.startswith("not in the text")


# ---- ways of saying nothing -----------------------------------------------------------------------------------------


def _reason_expected(row: Row, cell: str) -> str | None:
    """Which reason stands for a cell that says why there is no value; None for a value."""
    word = cell.strip().lower()
    if word == "could not collect":
        return "not_reported"
    if word == "no cuda":
        return "not_applicable" if row["os"].startswith(("macOS", "Mac OS")) else "not_installed"
    if word in {"n/a", "none"}:
        return "not_applicable"
    return None


def _absent(reading: Reading, fact: str) -> str:
    return f"absent: {reading.absent[fact].reason}" if fact in reading.absent else ""


def _fact(column: str, *facts: str) -> Callable[[Row, Reading], Cell]:
    """The first of the facts that is told, word for word."""

    def compare(row: Row, reading: Reading) -> Cell:
        told = next((str(reading.facts[fact]) for fact in facts if fact in reading.facts), "")
        reason = _reason_expected(row, row[column])
        if reason is None or told:
            return Cell(column, row[column], told)
        return Cell(column, f"absent: {reason}", _absent(reading, facts[-1]))

    return compare


# ---- one comparison for each column ---------------------------------------------------------------------------------


def _os(row: Row, reading: Reading) -> Cell:
    """`Fedora release 34 (Thirty Four) (x86_64)` is told as Fedora, 34, x86_64."""
    parts = re.findall(r"\(([^)]*)\)", row["os"])
    plain = re.sub(r"\s*\([^)]*\)|\s+LTS\b|\brelease\s+", "", row["os"]).strip()
    plain = re.sub(r"^(?:Mac OSX|Mac OS X)\b", "macOS", plain).removeprefix("Microsoft ")
    plain = {"win32": "Windows"}.get(plain, plain)
    arch = next((part for part in parts if part in {"x86_64", "arm64", "aarch64"}), "")
    build = next((part for part in parts if re.fullmatch(r"\d+[A-Z]\d+", part)), "")
    facts = reading.facts
    told = " ".join(str(facts[name]) for name in ("os.name", "os.version") if name in facts)
    if plain.startswith("Linux-"):  # the kernel's release in place of a distribution's name
        told = str(facts.get("os.kernel", "")).replace(" ", "-").partition("-fc")[0]
    if arch:
        told = f"{told} {facts.get('os.arch', '')}"
    if build:
        told = f"{told} {facts.get('os.build', '')}"
    return Cell("os", " ".join(part for part in (plain, arch, build) if part), told)


def _python(row: Row, reading: Reading) -> Cell:
    return Cell("python", (row["python"].split() or [""])[0], str(reading.facts.get("python.version", "")))


def _torch(row: Row, reading: Reading) -> Cell:
    """`commit 8a41... (source)` is a commit; `master (source)` no version, which is said with that word."""
    source = re.fullmatch(r"(?:commit )?(\S+) \(source\)", row["torch"])
    told = str(reading.facts.get("torch.version", ""))
    if source and not told:
        absent = reading.absent.get("torch.version")
        words = (absent.detail or "").split() if absent else []
        commit = reading.facts.get("torch.git_version") or (words[-1] if words else "")
        return Cell("torch", source[1], str(commit))
    if row["torch"] == "N/A":  # torch cannot be imported
        return Cell("torch", "absent: not_installed", told or _absent(reading, "torch.version"))
    return Cell("torch", row["torch"], told)


def _torch_cuda(row: Row, reading: Reading) -> Cell:
    cell = _fact("torch_cuda", "torch.cuda_version")(row, reading)
    if row["torch"] == "N/A" and row["torch_cuda"] == "N/A":
        return cell._replace(expected="absent: not_installed")
    return cell


def _available(row: Row, reading: Reading) -> Cell:
    truth = {"yes": "True", "no": "False"}.get(row["cuda_available"].lower(), row["cuda_available"])
    return _fact("cuda_available", "cuda.available")({**row, "cuda_available": truth}, reading)


def _cudnn(row: Row, reading: Reading) -> Cell:
    """Paths of libraries: the version in their names; several different ones are none, and a problem."""
    cell = row["cudnn"]
    told = str(reading.facts.get("cudnn.version", ""))
    if _reason_expected(row, cell):
        return _fact("cudnn", "cudnn.version")(row, reading)
    if "/" not in cell and "\\" not in cell:
        return Cell("cudnn", cell, told)
    names = re.findall(r"\.so\.(\d+\.\d+\.\d+)|cudnn64_(\d+)\.dll", cell)
    versions = sorted({dotted or major for dotted, major in names})
    if len(versions) == 1:
        return Cell("cudnn", versions[0], told)
    problems = [problem for problem in reading.problems if problem.startswith("several cuDNN libraries")]
    return Cell("cudnn", f"several cuDNN libraries: {', '.join(versions)}", told or "; ".join(problems))


def _gpus(row: Row, reading: Reading) -> Cell:
    """Whole cards by name; where the sample only counts them, their number, and where it does not, none."""
    names = Counter(card.reported_name for card in _whole(reading) if card.reported_name != UNNAMED)
    is_counted = re.search(r" x\d+$", row["gpus"]) or not _states(row["gpus"])
    told = "; ".join(f"{name} x{count}" if is_counted else name for name, count in names.items())
    counted = re.match(r"(\d+) GPU\b.*model not stated", row["gpus"])
    if counted and not told:
        return Cell("gpus", counted[1], str(reading.facts.get("nvidia.card_count", "")))
    if row["gpus"].lower() in {"no cuda", "could not collect", "n/a", "none"}:
        return Cell("gpus", "no card", told or "no card")
    return Cell("gpus", row["gpus"], told)


def _whole(reading: Reading) -> list[Card]:
    return [card for card in reading.cards if "mig_parent_index" not in card.facts]


def _memory(row: Row, reading: Reading) -> Cell:
    sizes = {card.memory_bytes / 2**20 for card in _whole(reading) if card.memory_bytes}
    told = ";".join(f"{size:.15g}" for size in sorted(sizes))
    other_column = re.search(r"VRAM \(Total\): (\d+) GB", row["extra"])
    expected = row["mem_mib"] if row["mem_mib"].isdigit() else ""
    return Cell("mem_mib", expected, "" if other_column and told == f"{int(other_column[1]) * 1024}" else told)


def _mps(row: Row, reading: Reading) -> Cell:
    told = [f"{name}={reading.facts[name]}" for name in ("mps.built", "mps.available") if name in reading.facts]
    return Cell("mps", row["mps"], " ".join(told))


def _cpu(row: Row, reading: Reading) -> Cell:
    sockets = re.search(r" \((\d+) sockets\)$", row["cpu"])
    told = str(reading.facts.get("cpu.model", ""))
    if sockets:
        told = f"{told} ({reading.facts.get('cpu.sockets', '?')} sockets)"
    return Cell("cpu", row["cpu"], told)


COLUMNS: dict[str, Callable[[Row, Reading], Cell]] = {
    "os": _os,
    "python": _python,
    "torch": _torch,
    "torch_cuda": _torch_cuda,
    "rocm": _fact("rocm", "torch.hip_version"),
    "cuda_available": _available,
    "cuda_runtime": _fact("cuda_runtime", "cuda.runtime_version", "cuda.toolkit_version"),
    "driver": _fact("driver", "nvidia.driver_version"),
    "cuda_driver": _fact("cuda_driver", "cuda.driver_api_version"),
    "cudnn": _cudnn,
    "gpus": _gpus,
    "mem_mib": _memory,
    "mps": _mps,
    "cpu": _cpu,
}


# ---- what else the index says ---------------------------------------------------------------------------------------


Told = Callable[[Reading], object]
GIB = 2**30


def extra_cells(row: Row, reading: Reading) -> Iterator[Cell]:
    """Each part of the last column that a report has a word for."""
    for part in (row["extra"] or "").split("; "):
        for pattern, name, told, expected in EXTRAS:
            if match := re.fullmatch(pattern, part.strip()):
                yield Cell(f"extra: {name}", expected(*match.groups()), str(told(reading)))


def _version_of(component: str) -> Told:
    return lambda reading: next((one.version for one in reading.software if one.component == component), "")


def _told(fact: str) -> Told:
    return lambda reading: reading.facts.get(fact, "")


def _of_card(fact: str, scale: float = 1) -> Told:
    def told(reading: Reading) -> str:
        values = [card.facts.get(fact) for card in _whole(reading)]
        return _sizes(float(value) / scale for value in values if isinstance(value, int | float))

    return told


def _sizes(values: Iterable[float | str]) -> str:
    return ";".join(f"{float(value):g}" for value in values)


def _gigabytes(reading: Reading) -> str:
    return f"{int(reading.facts.get('memory.total_bytes', 0)) / GIB:.2f}"


def _cores(reading: Reading) -> str:
    names = ("cpu.cores_physical", "apple.cpu_p_cores", "apple.cpu_e_cores")
    return " ".join(str(reading.facts[name]) for name in names if name in reading.facts)


def _two_decimals(text: str) -> str:
    return f"{float(text):.2f}"


def _list(text: str) -> str:
    return _sizes(text.split(";"))


EXTRAS: tuple[tuple[str, str, Told, Callable[..., str]], ...] = (
    (r"vLLM (\S+)", "vllm", _version_of("vllm"), str),
    (r"container \((\w+)\)", "container", _told("machine.container"), str),
    (r"accelerate (\S+)", "accelerate", _version_of("hf-accelerate"), str),
    (r"numpy (\S+)", "numpy", _version_of("numpy"), str),
    (r"System RAM ([\d.]+) GB", "memory", _gigabytes, _two_decimals),
    (r"memory=(\d+) GB", "memory", _gigabytes, _two_decimals),
    (r"MemTotal (\d+) kB", "memory", lambda reading: int(reading.facts.get("memory.total_bytes", 0)) // 1024, str),
    (r"(\d+) model name lines", "processors", _told("cpu.cores_logical"), str),
    (r"model=(\S+)", "model", _told("machine.model"), str),
    (
        r"cores=(\d+)(?: \((\d+) performance and (\d+) efficiency\))?", "cores", _cores,
        lambda *parts: " ".join(filter(None, parts)),
    ),
    (r"gpu_cores=(\d+)", "gpu cores", _told("apple.gpu_cores"), str),
    (
        r"metal=(?:Metal Family: Supported, |Metal: Supported, feature set )(.+)", "metal",
        lambda reading: "; ".join(str(card.facts.get("metal_family", "")) for card in reading.cards[:1]), str,
    ),
    (r"(gfx\w+)", "gfx", lambda reading: " ".join(sorted({str(card.facts.get("gfx_target")) for card in reading.cards})), str),
    # of the one card that has its own: what is shared with the machine is not the card's
    (
        r"VRAM \(Total\): (\d+) GB", "video memory",
        lambda reading: _sizes(card.memory_bytes / GIB for card in reading.cards if card.memory_bytes), str,
    ),
    (r"attached=(\d+)", "attached", _told("nvidia.card_count"), str),
    (r"mem_used_mib=([\d;]+)", "memory used", _of_card("memory_used_bytes", 2**20), _list),
    (r"memory used (\d+) MiB", "memory used", _of_card("memory_used_bytes", 2**20), _list),
    (r"temperature (\d+) C", "temperature", _of_card("temperature_c"), _list),
    (r"power ([\d.]+) W", "power", _of_card("power_w"), _list),
)  # fmt: skip


# ---- the table ------------------------------------------------------------------------------------------------------


def table(results: Mapping[str, list[tuple[str, Cell]]]) -> str:
    """Right cells of all, per kind of sample and field, as a Markdown table."""
    kinds = list(results)
    fields = list(dict.fromkeys(_field(cell) for found in results.values() for _file, cell in found))
    lines = [f"| field | {' | '.join(kinds)} | all |", f"|---|{'---|' * (len(kinds) + 1)}"]
    for field in [*fields, ""]:
        counts = [[cell for _file, cell in results[kind] if not field or _field(cell) == field] for kind in kinds]
        everything = [cell for count in counts for cell in count]
        shares = " | ".join(_share(count) for count in [*counts, everything])
        lines.append(f"| {field or 'all'} | {shares} |")
    return "\n".join(lines)


def _field(cell: Cell) -> str:
    return cell.field.partition(":")[0]


def _share(counted: list[Cell]) -> str:
    return f"{sum(cell.is_right for cell in counted)}/{len(counted)}" if counted else ""
