"""`python -m xformers.info` -> torch, CUDA build and the first card."""

import re
from itertools import pairwise

from stackviz.report.format.systems import cuda_of
from stackviz.report.importers.env_report import check_torch_versions, is_given, state_truth
from stackviz.report.importers.importer import Importer, Span
from stackviz.report.importers.reading import CardReading, Reading

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
    values: dict[str, str] = {}
    for match in _LINE.finditer(text):
        values.setdefault(match[1], match[2].strip())
    title = _TITLE.search(text)
    if title:
        reading.add_software("xformers", title[1], _TOOL)
    if "pytorch.version" in values:
        reading.sheet.state("torch.version", values["pytorch.version"])
        reading.add_software("pytorch", values["pytorch.version"], _TOOL)
    else:
        reading.problem("there is no line 'pytorch.version:'")
    if "pytorch.cuda" in values:
        state_truth(reading, "cuda.available", values["pytorch.cuda"].replace("not available", "unavailable"), _TOOL)
    _take_build(reading, values)
    _take_card(reading, values)
    check_torch_versions(reading)
    return reading


def _take_build(reading: Reading, values: dict[str, str]) -> None:
    """What xFormers itself was built with; the wheel of torch has the same CUDA or cannot load it."""
    python = values.get("build.python_version", "")
    if re.fullmatch(r"\d+\.\d+(\.\d+)?", python):
        reading.add_software("python", python, f"{_TOOL}, what it was built with")
        reading.sheet.mark_missing("python.version", "not_reported", f"xFormers was built with {python}")
    torch = values.get("build.torch_version", "")
    if torch and is_given(torch):
        reading.add_software("pytorch", torch, f"{_TOOL}, what it was built with")
    cuda = cuda_of(values.get("pytorch.version", "").partition("+")[2])
    reading.sheet.state("torch.cuda_version", cuda or None)
    reading.sheet.mark_missing(
        "torch.cuda_version", "not_reported", (f"{_TOOL} does not state what torch was built with")
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
    card.sheet.mark_missing("memory_bytes", "not_reported", f"{_TOOL} does not state it")
    reading.cards.append(card.card())


IMPORTER = Importer(
    kind=KIND,
    tool="python -m xformers.info",
    tells="torch, the first card, what xFormers was built with",
    trust=48,
    find=find_xformers_info,
    read=read_xformers_info,
)
