"""`python -m detectron2.utils.collect_env` -> Python, torch, CUDA and cards."""

import re
from collections.abc import Callable
from itertools import pairwise

from stackviz.report.importers.env_report import (
    add_listed_card,
    component_of,
    state_python,
    state_system,
    state_text,
    state_truth,
)
from stackviz.report.importers.importer import Importer, Span
from stackviz.report.importers.reading import Reading

__all__ = ["IMPORTER"]

KIND = "detectron2-env"
_TOOL = "detectron2"

_START = re.compile(r"^[ \t>]{0,8}(?:[-*•][ \t]+)?sys\.platform[ \t]{2,}\S", re.MULTILINE)
_ROW = re.compile(r"^[ \t>]{0,8}(?:[-*•][ \t]+)?(\S(?: ?\S){0,60}?)[ \t]{2,80}(\S[^\n]{0,2000})$", re.MULTILINE)
_BUILD = re.compile(r"^[ \t>]{0,8}PyTorch built with:[ \t]*$(?:\n[ \t>]{0,8}-[^\n]{0,8000}){0,40}", re.MULTILINE)
_CARDS = re.compile(r"GPU (\d{1,3}(?:,\d{1,3}){0,63})$")


def find_detectron2_env(text: str) -> list[Span]:
    starts = [match.start() for match in _START.finditer(text)][:64]
    return [_span(text, start, limit) for start, limit in pairwise([*starts, len(text)])]


def _span(text: str, start: int, limit: int) -> Span:
    """Rows without a gap, and the paragraph on how torch was built."""
    at = end = start
    while at < limit:
        line_end = text.find("\n", at, limit)
        line_end = limit if line_end < 0 else line_end
        line = text[at:line_end]
        if not (_ROW.match(line) or line.strip().startswith("-----") or line.startswith(" " * 12)):
            break
        end = line_end
        at = line_end + 1
    build = _BUILD.search(text, start, limit)
    return Span(start, max(end, build.end() if build else 0))


def read_detectron2_env(text: str) -> Reading:
    reading = Reading(kind=KIND)
    build = _BUILD.search(text)
    rows: dict[str, str] = {}
    for match in _ROW.finditer(text[: build.start() if build else None]):
        rows.setdefault(match[1], match[2].strip())
    if not rows:
        reading.problem("nothing to read")
    for label, value in rows.items():
        _take(reading, label, value)
        if value.lower() == "failed to import":
            reading.problem(f"{label} {value}")
    _take_build(reading, build[0] if build else "")
    return reading


def _take(reading: Reading, label: str, value: str) -> None:
    cards = _CARDS.match(label)
    if cards:
        _take_cards(reading, [int(number) for number in cards[1].split(",")], value)
    elif label in _TAKERS:
        _TAKERS[label](reading, value)
    elif component_of(label) and re.match(r"\d", value):
        reading.add_software(str(component_of(label)), value.split(maxsplit=1)[0], _TOOL)


def _take_torch(reading: Reading, value: str) -> None:
    text = state_text(reading, "torch.version", value.partition(" @")[0], _TOOL)
    reading.sheet.state("torch.version", text)
    if text:
        reading.add_software("pytorch", text, _TOOL)


def _take_cards(reading: Reading, numbers: list[int], value: str) -> None:
    match = re.fullmatch(r"(.{1,150}?)\s*(?:\(arch=(\d{1,2}\.\d)\))?", value)
    if match is None:
        return
    for number in numbers:
        add_listed_card(reading, number, match[1], _TOOL, "nvidia", compute_capability=match[2])


def _take_driver(reading: Reading, value: str) -> None:
    match = re.match(r"\d{3}\.\d{1,3}(?:\.\d{1,3})?", value)
    if match:
        reading.sheet.state("nvidia.driver_version", match[0])
        reading.add_software("nvidia-driver", match[0], _TOOL)


def _take_available(reading: Reading, value: str) -> None:
    """`No: torch.cuda.is_available() == False`, `True`."""
    state_truth(reading, "cuda.available", value.partition(":")[0].strip(), _TOOL)


def _take_build(reading: Reading, paragraph: str) -> None:
    """The paragraph of torch.__config__.show()."""
    runtime = re.search(r"CUDA Runtime (\d+\.\d+)", paragraph)
    cudnn = re.search(r"CuDNN (\d+(?:\.\d+){1,3})", paragraph)
    level = re.search(r"CPU capability usage: (\w{2,20})", paragraph)
    reading.sheet.state("torch.cpu_capability", level[1] if level else None)
    reading.sheet.state("torch.cuda_version", runtime[1] if runtime else None)
    if "USE_CUDA=0" in paragraph:
        reading.sheet.mark_missing("torch.cuda_version", "not_applicable", "torch says USE_CUDA=0")
    if cudnn:
        reading.sheet.state("cudnn.version", cudnn[1])
        reading.add_software("cudnn", cudnn[1], _TOOL)


_TAKERS: dict[str, Callable[[Reading, str], None]] = {
    "sys.platform": lambda reading, value: state_system(reading, value, _TOOL),
    "Python": lambda reading, value: state_python(reading, value, _TOOL),
    "PyTorch": _take_torch,
    "PyTorch debug build": lambda reading, value: state_truth(reading, "torch.debug", value, _TOOL),
    "GPU available": _take_available,
    "CUDA available": _take_available,
    "Driver version": _take_driver,
}

IMPORTER = Importer(
    kind=KIND,
    tool="python -m detectron2.utils.collect_env",
    tells="torch, cards with their compute capability, driver",
    trust=50,
    find=find_detectron2_env,
    marks=("sys.platform",),
    read=read_detectron2_env,
)
