"""Lists of an environment that a person typed: issue templates and forms filled in, bullets, tables, one line.

What a person writes has less trust than what a tool prints (dumps.merge). An empty template is reported as a problem.
The labels are those of the forms of pytorch, transformers, vLLM, ComfyUI, ollama, llama.cpp, ROCm, WSL, TensorFlow and
ONNX Runtime, as their folders .github/ISSUE_TEMPLATE have them.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from stackviz.report.format.components import PACKAGES, component_of
from stackviz.report.importers import typed_values as values
from stackviz.report.importers.env_report import is_given, state_python, state_truth
from stackviz.report.importers.importer import Importer, Span
from stackviz.report.importers.reading import Reading
from stackviz.report.importers.typed_lines import find_typed_lines, values_of

__all__ = ["IMPORTER"]

KIND = "issue-template"

# ---- labels ---------------------------------------------------------------------------------------------------------

_Take = Callable[[Reading, str], None]
_LABELS: Mapping[str, tuple[str, _Take]] = {
    "torch": (
        "pytorch version, torch version, pytorch, torch, version of pytorch, pytorch build, torch build",
        values.take_torch,
    ),
    "python": (
        "python version, python, what python version are you running on",
        lambda reading, value: state_python(reading, value, values.TOOL),
    ),
    "distro": ("distro, distribution, distro version, linux distribution", values.take_system),
    "os": (
        (
            "os, operating system, operating systems, os version, os platform and distribution, os platform, host os, "
            "windows version, macos version, ubuntu version, os/platform, os name, os type, macos, ubuntu, windows"
        ),
        values.take_system,
    ),
    "cuda": ("cuda/cudnn version, cuda version, cuda, cuda/cudnn, cuda toolkit version", values.take_cuda),
    "toolkit": ("cuda toolkit, nvcc, nvcc version", lambda reading, value: values.take_cuda(reading, f"nvcc {value}")),
    "cudnn": ("cudnn version, cudnn", values.take_cudnn),
    "gpu": (
        (
            "gpu models and configuration, gpu models, gpu model, gpu, gpus, graphics card, graphics, video card, "
            "gpu name, gpu model and memory, gpu type, nvidia gpu, gpu/accelerator, gpu card, hardware, gpu hardware, "
            "cuda device"
        ),
        values.take_cards,
    ),
    "driver": (
        (
            "nvidia driver, nvidia driver version, driver version, driver, gpu driver, gpu driver version, "
            "nvidia drivers, nvidia-driver, graphics driver, cuda driver version, nvidia drivers version"
        ),
        values.take_driver,
    ),
    "rocm": ("rocm version, rocm", values.take_rocm),
    "cpu": ("cpu, processor, cpu model, cpu name", values.take_processor),
    "memory": ("ram, system ram, system memory, total ram", values.take_memory),
    "kernel": ("kernel, kernel version, linux kernel, linux kernel version", values.take_kernel),
    "wsl": ("wsl version, wsl, are you using wsl 1 or wsl 2", values.take_wsl),
    "capability": ("compute capability, cuda compute capability, gpu compute capability", values.take_capability),
    "cuda-available": (
        "cuda available, is cuda available, cuda is available, gpu available",
        lambda reading, value: state_truth(reading, "cuda.available", value, values.TOOL),
    ),
    "mps-available": (
        "mps available, is mps available",
        lambda reading, value: state_truth(reading, "mps.available", value, values.TOOL),
    ),
    "mps-built": ("mps built", lambda reading, value: state_truth(reading, "mps.built", value, values.TOOL)),
    "note": (
        (
            "any other relevant information, gcc version, cmake version, versions of any other relevant libraries, "
            "pytorch or caffe2, build command you used, how you installed pytorch, additional context"
        ),
        lambda _reading, _value: None,
    ),
}
"""Topic -> what lists call it, and what is read of the answer, in the order in which it is read."""

_TOPICS = {label: topic for topic, (labels, _take) in _LABELS.items() for label in labels.split(", ")}
_SYSTEMS = frozenset({"macos", "ubuntu", "windows"})
"""Labels that are half of the answer: `macOS: 14.5`."""
_DECISIVE = {"cuda/cudnn version", "how you installed pytorch", "build command you used"}
_NOT_ON_TORCH = frozenset({"jax", "onnxruntime", "tensorflow"})
_STRONG = frozenset({"torch", "gpu", "driver", "rocm", "package"})
"""Topics of which one answer is enough where it stands as an item of a list: logs do not look so."""
_PROVEN: Mapping[str, re.Pattern[str]] = {
    "torch": re.compile(r"\d\.\d|nightly|master|[0-9a-f]{40}"),
    "python": re.compile(r"\d\.\d"),
    "cuda": re.compile(r"\d|\bN/?A\b|none", re.IGNORECASE),
    "toolkit": re.compile(r"\d\d?\.\d"),
    "cudnn": re.compile(r"\d"),
    "driver": re.compile(r"\d{3}\.\d|\d{3}$"),
    "rocm": re.compile(r"\d\.\d"),
    "cpu": re.compile(r"[A-Za-z]{3}"),
    "memory": re.compile(r"\d ?[KMGT]i?B", re.IGNORECASE),
    "kernel": re.compile(r"\d\.\d{1,3}\.\d"),
    "wsl": re.compile(r"[12]"),
    "capability": re.compile(r"\d"),
    "package": re.compile(r"\d\.\d"),
    "cuda-available": re.compile(r"true|false|yes|no", re.IGNORECASE),
    "mps-available": re.compile(r"true|false|yes|no", re.IGNORECASE),
    "mps-built": re.compile(r"true|false|yes|no", re.IGNORECASE),
}
"""How an answer looks that is one: of others the label stands in a sentence."""

# ---- items ----------------------------------------------------------------------------------------------------------

_BULLET = r"[ \t>]{0,8}(?P<bullet>[-*•+–][ \t]+|\d{1,2}[.)][ \t]+|(?=\*\*|\")|\|[ \t]*)?"
_ITEM = re.compile(
    rf"^{_BULLET}(?P<label>[A-Za-z*`_\"][^\n:=|]{{1,100}}?)"
    r"(?:[ \t]*[:=][ \t]*|[ \t]+[–—-][ \t]+|[ \t]*\|[ \t]*|\*\*[ \t]+)(?P<value>[^\n]{0,4000})$",
    re.MULTILINE,
)
_FIRST_WORD = re.compile(
    r"\n[ \t>]{0,8}(?:[-*•+–][ \t]+|\d{1,2}[.)][ \t]+|\|[ \t]*)?(?P<first>[A-Za-z*`_\"][\w*`?]{0,100})"
    r"(?P<is_open>[(\[]?)"
)
"""How a line of a list begins. Of `[` or `(` right behind the word, more of it may follow."""
_HEADING = re.compile(
    r"^(?:#{1,6}[ \t]{1,4}|(?=\*\*))(?P<label>[A-Za-z*][^\n:#]{1,80}?)[:?]{0,2}\**[ \t]*\n{1,3}"
    r"(?P<value>[^\n#]{1,400})$",
    re.MULTILINE,
)
_MARKS = re.compile(r"[`*_?\"]|\([^)]{0,60}\)|\[[^\]]{0,60}\]|\bthe\b|\bmy\b|\byour\b")
_NO_MARKS = str.maketrans("", "", '`*_?"')
_FIRST_WORDS = frozenset(
    {"", "the", "my", "your", *(re.split(r"\W", label)[0].replace("_", "") for label in [*_TOPICS, *PACKAGES])}
)
"""What a label begins with, without marks."""
_ELSEWHERE = re.compile(
    r"\b(?:other|another|second|old|different|friend'?s|colleague'?s) "
    r"(?:box|machine|pc|computer|laptop|server|system)\b",
    re.IGNORECASE,
)
_ANSWERED_NOT = frozenset({"_no response_", "no response"})
_GAP = 300
_FAR = 128 * 1024  # characters from the beginning or the end
_MOST_ITEMS = 4_000


class _Item(NamedTuple):
    """One label with its answer. `is_listed`: a bullet, a heading or a row of a table; `is_hinted`: a template's."""

    topic: str
    label: str
    value: str
    start: int
    end: int
    is_listed: bool = False
    is_hinted: bool = False

    @property
    def is_proven(self) -> bool:
        if self.topic == "gpu":
            return values.looks_like_card(self.value)
        if self.topic in {"os", "distro"}:
            return values.looks_like_system(self.value)
        return self.topic in _PROVEN and bool(_PROVEN[self.topic].search(self.value[:200]))


def _items(text: str) -> list[_Item]:
    items = [*_lines(text), *(_headings(text) if "#" in text or "**" in text else ()), *_in_one_line(text)]
    return sorted(items, key=lambda item: (item.start, item.end))[:_MOST_ITEMS]


def _lines(text: str) -> Iterator[_Item]:
    for number, match in enumerate(_matches(text)):
        label = _plain(match["label"])
        if topic := _topic(label):
            value = match["value"].strip(" \t|").strip("*`").strip().rstrip(",").strip('"')
            value = f"{label} {value}" if label in _SYSTEMS and value[:1].isdigit() else value
            is_hinted = "(e.g." in match["label"] or label in _DECISIVE
            yield _Item(topic, label, value, match.start(), match.end(), bool(match["bullet"] is not None), is_hinted)
        if number > 50_000:
            return


def _matches(text: str) -> Iterator[re.Match[str]]:
    """Those of `_ITEM` in the lines that begin as a label does: of a log these are few."""
    for line in _FIRST_WORD.finditer(f"\n{text}"):
        first = line["first"].translate(_NO_MARKS).lower()
        if (first in _FIRST_WORDS or line["is_open"]) and (match := _ITEM.match(text, line.start())):
            yield match


def _headings(text: str) -> Iterator[_Item]:
    for number, match in enumerate(_HEADING.finditer(text)):
        label, value = _plain(match["label"]), match["value"].strip().lstrip("-* ").strip("*`")
        topic = _topic(label)
        if topic and value.lower() not in _ANSWERED_NOT:
            yield _Item(topic, label, value, match.start(), match.end(), is_listed=True)
        if number > _MOST_ITEMS:
            return


@lru_cache(maxsize=256)  # every line of a log has the same label
def _plain(label: str) -> str:
    return " ".join(_MARKS.sub("", label).lower().split()).strip("-| ")


def _topic(label: str) -> str:
    return _TOPICS.get(label) or ("package" if component_of(_package_of(label)) else "")


def _package_of(label: str) -> str:
    return label.removesuffix(" version").replace(" ", "-")


# ---- several in one line: "Ubuntu 22.04, CUDA 12.4, PyTorch 2.5.1" --------------------------------------------------

_PHRASES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("torch", re.compile(r"(?:py)?torch(?:==|[ @:v-]{1,3}|version ){1,2}(\d\.\d.{0,40})$", re.IGNORECASE)),
    ("python", re.compile(r"python[ :v-]{0,2}(\d\.\d{1,2}(?:\.\d{1,2})?)$", re.IGNORECASE)),
    ("cuda", re.compile(r"cuda(?: version| toolkit)?[ :v-]{0,2}(\d{1,2}\.\d(?:\.\d{1,3})?)$", re.IGNORECASE)),
    ("cudnn", re.compile(r"cudnn[ :v-]{0,2}(\d{1,2}(?:\.\d{1,2}){0,3})$", re.IGNORECASE)),
    ("rocm", re.compile(r"rocm[ :v-]{0,2}(\d\.\d(?:\.\d)?)$", re.IGNORECASE)),
    ("driver", re.compile(r"(?:nvidia |gpu )?driver(?: version)?[ :v-]{0,2}(\d{3}\.\d.{0,10})$", re.IGNORECASE)),
    ("os", re.compile(r"((?:win(?:dows)?[ -]?1[01]|wsl ?[12]?\b|ubuntu|debian|fedora|arch linux|macos|rocky|rhel)"
                      r".{0,40})$", re.IGNORECASE)),
    ("gpu", re.compile(r"((?:\d{1,2} ?[x×] ?)?(?:nvidia |amd |intel )?(?:geforce |radeon |tesla )?(?:(?:rtx|gtx|rx|arc)"
                       r"[ -]?[a-z]?\d{3,4}.{0,40}|[ahlv]\d{2,3}s?\b.{0,30}))$", re.IGNORECASE)),
)  # fmt: skip
_SETUP = re.compile(
    r"^[ \t>]{0,8}(?:[-*•][ \t]+)?\**(?:(?:my |tested on |running on |test )?"
    r"(?:environment|env|setup|set-up|system|specs?|versions?|hardware|platform|configuration|config|machine)\b"
    r"[^\n:]{0,30}:|(?:running|using|i am on|i'm on|on)\b)[ \t*]*(?P<parts>[^\n]{8,400})$",
    re.MULTILINE | re.IGNORECASE,
)
_BULLETED = re.compile(r"^[ \t>]{0,8}[-*•+][ \t]+(?P<parts>[^\n:=]{4,80})$", re.MULTILINE)
_BETWEEN = re.compile(r",|;|\||/ |\s[+&]\s|\bwith\b|\band\b")
_LEAST_PHRASES = 2


def _in_one_line(text: str) -> Iterator[_Item]:
    for pattern, least in ((_SETUP, _LEAST_PHRASES), (_BULLETED, 1)):
        for number, match in enumerate(pattern.finditer(text)):
            parts = (
                part.strip(" .*`()") for part in re.split(r",|;|\||/ |\s[+&]\s|\bwith\b|\band\b", match["parts"])[:12]
            )
            items = [item for part in parts if (item := _phrase(part, match.start(), match.end()))]
            if len(items) >= least:
                yield from items
            if number > _MOST_ITEMS:
                break


def _phrase(part: str, start: int, end: int) -> _Item | None:
    for topic, pattern in _PHRASES:
        if match := pattern.match(part):
            return _Item(topic, topic, match[1].strip(), start, end)
    return None


# ---- lists ----------------------------------------------------------------------------------------------------------


def find_issue_template(text: str) -> list[Span]:
    """In a long text, its first and last part are searched: people type above a log or below it."""
    if len(text) <= 2 * _FAR:
        return _typed(text)
    end = len(text) - _FAR
    return [*_typed(text[:_FAR]), *(Span(end + span.start, end + span.end) for span in _typed(text[end:]))]


def _typed(text: str) -> list[Span]:
    """Lists, and lines of values that lie in none of them."""
    lists = _lists(text)
    lines = [
        line
        for line in find_typed_lines(text)
        if not any(line.start < span.end and span.start < line.end for span in lists)
    ]
    return sorted([*lists, *lines])


def _lists(text: str) -> list[Span]:
    blocks: list[list[_Item]] = []
    for item in _items(text):
        old = blocks[-1] if blocks else []
        is_repeated = any(item.label == known.label and item.start > known.end for known in old)
        if not old or item.start - old[-1].end > _GAP or is_repeated:
            blocks.append([])
        blocks[-1].append(item)
    lists = [block for block in blocks if _is_list(block) and not _is_elsewhere(text, block[0].start)]
    return _apart([Span(block[0].start, max(item.end for item in block)) for block in lists[:64]])


def _apart(spans: list[Span]) -> list[Span]:
    """Without what lies in the one before."""
    ends = [0, *(span.end for span in spans)]
    return [span for span, (before, _end) in zip(spans, pairwise([*ends, 0]), strict=False) if span.start >= before]


def _is_list(block: list[_Item]) -> bool:
    """A template with two labels at least; two answers that look like one; or one that is an item of a list."""
    topics = {item.topic for item in block if item.topic not in {"note", "package"}}
    if len(topics) >= _LEAST_PHRASES and any(item.is_hinted for item in block):
        return True
    proven = [item for item in block if item.is_proven]
    strong = [item for item in proven if item.topic in _STRONG]
    distinct = {item.label if item.topic == "package" else item.topic for item in proven}
    is_form = len(distinct) >= _LEAST_PHRASES and all(item.is_listed for item in proven)
    is_list = bool(strong) and (len(distinct) >= _LEAST_PHRASES or any(item.is_listed for item in strong))
    return is_form or is_list


def _is_elsewhere(text: str, start: int) -> bool:
    """Whether the words right above say that the list is of another machine."""
    return bool(_ELSEWHERE.search(text[max(0, start - 120) : start]))


def read_issue_template(text: str) -> Reading:
    """Never raises. Of two answers to one label the first counts; what does not look like an answer is left out."""
    reading = Reading(kind=KIND)
    items = _with_toolkit(_values(text) or _items(text))
    is_template = any(item.is_hinted for item in items)
    for topic, (_labels, take) in _LABELS.items():
        answers = [item for item in items if item.topic == topic and (is_template or item.is_proven)]
        for item in answers[: None if topic == "gpu" else 1]:
            take(reading, item.value)
    for item in items:
        if item.topic == "package" and item.is_proven:
            values.take_package(reading, _package_of(item.label), item.value)
    _take_installation(reading, items)
    if not reading.facts and not reading.cards and not reading.software:
        reading.problem("nothing to read: the template is empty")
    return reading


def _values(text: str) -> list[_Item]:
    """Of a line that holds nothing but values; [] for a list."""
    return [_Item(topic, topic, value, 0, len(text)) for topic, value in values_of(text)] if "\n" not in text else []


def _with_toolkit(items: list[_Item]) -> list[_Item]:
    """The CUDA version of a form without torch is that of the toolkit: TensorFlow's asks for it in torch's words."""
    others = {component_of(_package_of(item.label)) for item in items if item.topic == "package"}
    if others.isdisjoint(_NOT_ON_TORCH) or any(item.topic == "torch" for item in items):
        return items
    return [item._replace(topic="toolkit") if item.topic == "cuda" else item for item in items]


def _take_installation(reading: Reading, items: list[_Item]) -> None:
    """What was built from source names no release: said where the version is missing."""
    how = next((item.value for item in items if item.label == "how you installed pytorch"), "").lower()
    if is_given(how) and how == "source" and not {"torch.version"} & {*reading.facts, *reading.absent}:
        reading.sheet.mark_missing("torch.version", "not_reported", "built from source")


IMPORTER = Importer(
    kind=KIND,
    tool="a list or a form filled in by hand",
    tells="typed by a person; output of tools takes precedence",
    trust=0,
    find=find_issue_template,
    read=read_issue_template,
    is_typed=True,
    yields=True,
)
