"""Read `python -m detectron2.utils.collect_env` and `python -m xformers.info`: Python, torch, CUDA and cards."""

import re
from collections.abc import Callable
from itertools import pairwise

from stackviz.report.format.systems import cuda_of
from stackviz.report.importers.env_report import (
    add_listed_card,
    check_torch_versions,
    component_of,
    is_given,
    state_python,
    state_system,
    state_text,
    state_truth,
)
from stackviz.report.importers.importer import Importer, Span
from stackviz.report.importers.reading import CardReading, Reading

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


XFORMERS_KIND = "xformers-info"
_XFORMERS = "xformers.info"

_LINE = re.compile(r"^[ \t>]{0,8}((?:[A-Za-z_][\w@-]{0,60}\.){1,6}[\w@-]{1,60}):[ \t]+(\S[^\n]{0,2000})$", re.MULTILINE)
_TITLE = re.compile(r"^[ \t>]{0,8}xFormers (\d[\w.+-]{0,60})[ \t]*$", re.MULTILINE)


def find_xformers_info(text: str) -> list[Span]:
    if "pytorch.version:" not in text or "build." not in text:
        return []
    starts = [match.start() for match in _TITLE.finditer(text)] or [_first_line(text)]
    spans = [_xformers_span(text, start, limit) for start, limit in pairwise([*starts[:64], len(text)])]
    return [span for span in spans if span.end > span.start]


def _first_line(text: str) -> int:
    match = _LINE.search(text)
    return match.start() if match else len(text)


def _xformers_span(text: str, start: int, limit: int) -> Span:
    lines = list(_LINE.finditer(text, start, limit))
    return Span(start, lines[-1].end() if lines else start)


def read_xformers_info(text: str) -> Reading:
    reading = Reading(kind=XFORMERS_KIND)
    values: dict[str, str] = {}
    for match in _LINE.finditer(text):
        values.setdefault(match[1], match[2].strip())
    title = _TITLE.search(text)
    if title:
        reading.add_software("xformers", title[1], _XFORMERS)
    if "pytorch.version" in values:
        reading.sheet.state("torch.version", values["pytorch.version"])
        reading.add_software("pytorch", values["pytorch.version"], _XFORMERS)
    else:
        reading.problem("there is no line 'pytorch.version:'")
    if "pytorch.cuda" in values:
        state_truth(
            reading, "cuda.available", values["pytorch.cuda"].replace("not available", "unavailable"), _XFORMERS
        )
    _take_xformers_build(reading, values)
    _take_card(reading, values)
    check_torch_versions(reading)
    return reading


def _take_xformers_build(reading: Reading, values: dict[str, str]) -> None:
    """What xFormers itself was built with; the wheel of torch has the same CUDA or cannot load it."""
    python = values.get("build.python_version", "")
    if re.fullmatch(r"\d+\.\d+(\.\d+)?", python):
        reading.add_software("python", python, f"{_XFORMERS}, what it was built with")
        reading.sheet.mark_missing("python.version", "not_reported", f"xFormers was built with {python}")
    torch = values.get("build.torch_version", "")
    if torch and is_given(torch):
        reading.add_software("pytorch", torch, f"{_XFORMERS}, what it was built with")
    cuda = cuda_of(values.get("pytorch.version", "").partition("+")[2])
    reading.sheet.state("torch.cuda_version", cuda or None)
    reading.sheet.mark_missing(
        "torch.cuda_version", "not_reported", (f"{_XFORMERS} does not state what torch was built with")
    )


def _take_card(reading: Reading, values: dict[str, str]) -> None:
    name = values.get("gpu.name", "")
    if not name or not is_given(name):
        return
    is_nvidia = values.get("build.hip_version", "None") == "None"
    card = CardReading(index=0, kind="gpu", vendor="nvidia" if is_nvidia else "amd", reported_name=name)
    capability = values.get("gpu.compute_capability", "")
    if is_nvidia and re.fullmatch(r"\d{1,2}\.\d", capability):
        card.sheet.state("compute_capability", capability)
    card.sheet.mark_missing("memory_bytes", "not_reported", f"{_XFORMERS} does not state it")
    reading.cards.append(card.card())


XFORMERS_IMPORTER = Importer(
    kind=XFORMERS_KIND,
    tool="python -m xformers.info",
    tells="torch, the first card, what xFormers was built with",
    trust=48,
    find=find_xformers_info,
    read=read_xformers_info,
)
