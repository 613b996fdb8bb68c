"""`python -m xformers.info` -> torch, CUDA build and the first card."""

import re
from itertools import pairwise

from stackviz.importers.env_report import check_torch_versions, is_said, take_truth
from stackviz.importers.importer import Importer, Span
from stackviz.importers.reading import CardReading, Reading
from stackviz.wire.cuda_builds import cuda_of

__all__ = ["IMPORTER"]

KIND = "xformers-info"
_TOOL = "xformers.info"

_LINE = re.compile(r"^[ \t>]{0,8}((?:[A-Za-z_][\w@-]{0,60}\.){1,6}[\w@-]{1,60}):[ \t]+(\S[^\n]{0,2000})$", re.MULTILINE)
_TITLE = re.compile(r"^[ \t>]{0,8}xFormers (\d[\w.+-]{0,60})[ \t]*$", re.MULTILINE)


def find_xformers_info(text: str) -> list[Span]:
    if "pytorch.version:" not in text or "build." not in text:
        return []
    starts = [match.start() for match in _TITLE.finditer(text)] or [_first_line(text)]
    spans = [_span(text, start, limit) for start, limit in pairwise([*starts[:64], len(text)])]
    return [span for span in spans if span.end > span.start]


def _first_line(text: str) -> int:
    match = _LINE.search(text)
    return match.start() if match else len(text)


def _span(text: str, start: int, limit: int) -> Span:
    lines = list(_LINE.finditer(text, start, limit))
    return Span(start, lines[-1].end() if lines else start)


def read_xformers_info(text: str) -> Reading:
    reading = Reading(kind=KIND)
    told: dict[str, str] = {}
    for match in _LINE.finditer(text):
        told.setdefault(match[1], match[2].strip())
    title = _TITLE.search(text)
    if title:
        reading.found("xformers", title[1], _TOOL)
    if "pytorch.version" in told:
        reading.sheet.state("torch.version", told["pytorch.version"])
        reading.found("pytorch", told["pytorch.version"], _TOOL)
    else:
        reading.problem("there is no line 'pytorch.version:'")
    if "pytorch.cuda" in told:
        take_truth(reading, "cuda.available", told["pytorch.cuda"].replace("not available", "unavailable"), _TOOL)
    _take_build(reading, told)
    _take_card(reading, told)
    check_torch_versions(reading)
    return reading


def _take_build(reading: Reading, told: dict[str, str]) -> None:
    """What xFormers itself was built with; the wheel of torch has the same CUDA or cannot load it."""
    python = told.get("build.python_version", "")
    if re.fullmatch(r"\d+\.\d+(\.\d+)?", python):
        reading.found("python", python, f"{_TOOL}, what it was built with")
        reading.sheet.mark_missing("python.version", "not_reported", f"xFormers was built with {python}")
    torch = told.get("build.torch_version", "")
    if torch and is_said(torch):
        reading.found("pytorch", torch, f"{_TOOL}, what it was built with")
    cuda = cuda_of(told.get("pytorch.version", "").partition("+")[2])
    reading.sheet.state("torch.cuda_version", cuda or None)
    reading.sheet.mark_missing("torch.cuda_version", "not_reported", f"{_TOOL} does not tell what torch was built with")


def _take_card(reading: Reading, told: dict[str, str]) -> None:
    name = told.get("gpu.name", "")
    if not name or not is_said(name):
        return
    is_nvidia = told.get("build.hip_version", "None") == "None"
    card = CardReading(index=0, kind="gpu", vendor="nvidia" if is_nvidia else "amd", reported_name=name)
    capability = told.get("gpu.compute_capability", "")
    if is_nvidia and re.fullmatch(r"\d{1,2}\.\d", capability):
        card.sheet.state("compute_capability", capability)
    card.sheet.mark_missing("memory_bytes", "not_reported", f"{_TOOL} does not tell it")
    reading.cards.append(card.card())


IMPORTER = Importer(
    kind=KIND,
    tool="python -m xformers.info",
    tells="torch, the first card, what xFormers was built with",
    trust=48,
    find=find_xformers_info,
    read=read_xformers_info,
)
