"""The environment part of an issue template, filled in by hand -> what can be read of it.

Typed text has less trust than tool output (dumps.merge). An empty template is reported as a problem.
"""

import re
from collections.abc import Callable, Iterator

from stackviz.importers.env_report import add_listed_card, is_given, state_python, state_system, state_text, state_truth
from stackviz.importers.importer import Importer, Span
from stackviz.importers.reading import Reading, clean, vendor_of

__all__ = ["IMPORTER"]

KIND = "issue-template"
_TOOL = "the template"

_ITEM = re.compile(r"^[ \t>]{0,8}(?:[-*•][ \t]+)?([A-Za-z*`][^\n:]{1,100}):\**[ \t]*([^\n]{0,4000})$", re.MULTILINE)
_MARKS = re.compile(r"[`*]|\([^)]{0,60}\)")
_DECISIVE = {"cuda/cudnn version", "how you installed pytorch", "build command you used"}
_READ = {
    "pytorch version", "torch version", "os", "operating system", "python version", "cuda/cudnn version",
    "cuda version", "cudnn version", "gpu models and configuration", "gpu", "gpu model", "gpu models", "nvidia driver",
    "nvidia driver version", "driver version", "mps available", "mps built", "cuda available",
}  # fmt: skip
_OTHERS = {
    "any other relevant information", "gcc version", "cmake version", "versions of any other relevant libraries",
    "pytorch or caffe2", "build command you used", "how you installed pytorch", "additional context",
}  # fmt: skip
_GAP = 300


def _items(text: str) -> Iterator[tuple[str, str, str, int, int]]:
    """Label without its marks and hints, label as written, value, start and end."""
    for number, match in enumerate(_ITEM.finditer(text)):
        label = " ".join(_MARKS.sub("", match[1]).lower().split())
        if label in _READ or label in _OTHERS:
            yield label, match[1], match[2].strip().strip("*").strip(), match.start(), match.end()
        if number > 50_000:
            return


def find_issue_template(text: str) -> list[Span]:
    blocks: list[list[tuple[str, str, int, int]]] = []
    for label, written, _value, start, end in _items(text):
        old = blocks[-1] if blocks else []
        if not old or start - old[-1][3] > _GAP or any(label == known for known, *_ in old):
            blocks.append([])
        blocks[-1].append((label, written, start, end))
    return [Span(block[0][2], block[-1][3]) for block in blocks[:64] if _is_template(block)]


def _is_template(block: list[tuple[str, str, int, int]]) -> bool:
    """Two or more of its labels, and one that no tool prints: a hint in parentheses, or a label of the template."""
    labels = {label for label, *_ in block}
    return len(labels & _READ) >= 2 and any(label in _DECISIVE or "(e.g." in written for label, written, *_ in block)


def read_issue_template(text: str) -> Reading:
    reading = Reading(kind=KIND)
    answers: dict[str, str] = {}
    for label, _written, value, _start, _end in _items(text):
        answers.setdefault(label, value)
    for label, value in answers.items():
        if label in _TAKERS:
            _TAKERS[label](reading, value)
    _take_installation(reading, answers)
    if not reading.facts and not reading.cards:
        reading.problem("nothing to read: the template is empty")
    return reading


def _take_torch(reading: Reading, value: str) -> None:
    """A version, a commit, or the name of a branch."""
    text = state_text(reading, "torch.version", value, _TOOL)
    if text is None:
        return
    version = re.search(r"(?<![\w.])\d+\.\d+(?:\.\d+)?(?:[a-z+.][\w.+-]{0,60})?", text)
    commit = re.search(r"\b[0-9a-f]{40}\b", text)
    if version and not commit:
        reading.sheet.state("torch.version", version[0])
        reading.add_software("pytorch", version[0], "typed by hand")
        return
    reading.sheet.state("torch.git_version", commit[0] if commit else None)
    reading.sheet.mark_missing("torch.version", "not_reported", f"built from source: {text}")
    reading.add_software("pytorch", None, "typed by hand")


def _take_cuda(reading: Reading, value: str) -> None:
    """`10.0/7.6.5`, `CUDA 10.1, cuDNN 7.6`: the CUDA version first."""
    if not is_given(value):
        for fact in ("torch.cuda_version", "cudnn.version"):
            state_text(reading, fact, value, _TOOL)
        return
    cudnn = re.search(r"cudnn\D{0,8}?(\d+(?:\.\d+){1,3})", value, re.IGNORECASE)
    numbers = re.findall(r"(?<![\w.])v?(\d+(?:\.\d+){0,3})(?![\w.])", value[: cudnn.start() if cudnn else None])
    reading.sheet.state("torch.cuda_version", numbers[0] if numbers else None)
    _take_cudnn(reading, cudnn[1] if cudnn else (numbers[1] if len(numbers) > 1 else ""))


def _take_cudnn(reading: Reading, value: str) -> None:
    match = re.search(r"\d+(?:\.\d+){0,3}", value)
    if match:
        reading.sheet.state("cudnn.version", match[0])
        reading.add_software("cudnn", match[0], "typed by hand")
    else:
        reading.sheet.mark_missing("cudnn.version", "not_reported", f"{_TOOL} does not state it")


def _take_cards(reading: Reading, value: str) -> None:
    """`Tesla P4`, `2x RTX 3090`, `V100 * 4`, several with commas between; "none" and "CPU" are no cards."""
    for part in re.split(r"[,;]|\band\b", value)[:16]:
        count = re.search(r"^\s*(\d{1,2})\s*[x×*]\s*|\s*[x×*]\s*(\d{1,2})\s*$", part)
        name = clean(part[: count.start()] + part[count.end() :] if count else part, 150)
        if not is_given(name) or name.lower().strip(".") in {"no", "cpu", "cpu only", "no gpu", "-", "--"}:
            continue
        vendor = vendor_of(name)
        if vendor == "unknown" and reading.facts.get("torch.cuda_version"):
            vendor = "nvidia"
        for _ in range(int(count[1] or count[2]) if count else 1):
            add_listed_card(reading, len(reading.cards), name, _TOOL, vendor)


def _take_driver(reading: Reading, value: str) -> None:
    text = state_text(reading, "nvidia.driver_version", value, _TOOL)
    match = re.search(r"(?<![\w.])\d{3}\.\d{1,3}(?:\.\d{1,3})?(?![\w.])", text or "")
    if match:
        reading.sheet.state("nvidia.driver_version", match[0])
        reading.add_software("nvidia-driver", match[0], "typed by hand")


def _take_installation(reading: Reading, answers: dict[str, str]) -> None:
    """What was built from source names no release: said where the version is missing."""
    how = answers.get("how you installed pytorch", "").lower()
    if how == "source" and "torch.version" not in reading.facts and "torch.version" not in reading.absent:
        reading.sheet.mark_missing("torch.version", "not_reported", "built from source")


_TAKERS: dict[str, Callable[[Reading, str], None]] = {
    "pytorch version": _take_torch,
    "torch version": _take_torch,
    "os": lambda reading, value: state_system(reading, value, _TOOL),
    "operating system": lambda reading, value: state_system(reading, value, _TOOL),
    "python version": lambda reading, value: state_python(reading, value, _TOOL),
    "cuda/cudnn version": _take_cuda,
    "cuda version": _take_cuda,
    "cudnn version": _take_cudnn,
    "gpu models and configuration": _take_cards,
    "gpu models": _take_cards,
    "gpu model": _take_cards,
    "gpu": _take_cards,
    "nvidia driver": _take_driver,
    "nvidia driver version": _take_driver,
    "driver version": _take_driver,
    "cuda available": lambda reading, value: state_truth(reading, "cuda.available", value, _TOOL),
    "mps available": lambda reading, value: state_truth(reading, "mps.available", value, _TOOL),
    "mps built": lambda reading, value: state_truth(reading, "mps.built", value, _TOOL),
}

IMPORTER = Importer(
    kind=KIND,
    tool="an issue template filled in by hand",
    tells="typed by a person; output of tools takes precedence",
    trust=0,
    find=find_issue_template,
    read=read_issue_template,
    is_typed=True,
)
