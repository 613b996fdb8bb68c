"""What Python prints of torch and its neighbours: an expression, as it was typed, and the value below or beside it.

Sessions of a prompt, `python -c "..."` with its output, scripts of prints above what they printed, notebooks, and
`torch.version.cuda: 12.4` in a sentence. What each expression gives: https://docs.pytorch.org/docs/stable/cuda.html,
https://docs.pytorch.org/docs/stable/backends.html, https://docs.python.org/3/library/platform.html.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from stackviz.base.backports import POSSESSIVE
from stackviz.report.format import LIMITS
from stackviz.report.importers.env_report import add_listed_card, component_of, number_of_bytes, state_platform
from stackviz.report.importers.importer import Importer, Span
from stackviz.report.importers.reading import CardReading, Reading

__all__ = ["IMPORTER", "state_cudnn_number", "state_torch_version"]

KIND = "torch-facts"
_TOOL = "Python"

_MOST_EXPRESSIONS = 2_000
_LINES_BELOW = 40  # in which the values of an expression are looked for
_LONGEST_LINE = 1_000
_GAP = 800  # characters between two facts of one span

# ---- values ---------------------------------------------------------------------------------------------------------

_TRUTH = r"\b(?:True|False)\b"
_VERSION = r"(?<![\w.])\d{1,4}\.\d{1,4}(?:\.\d{1,6})?(?:[.+]?[A-Za-z][\w.+-]{0,60})?"
_CUDA = r"\bNone\b|(?<![\w.])\d{1,2}\.\d{1,2}(?![\d.])"
_HIP = rf"\bNone\b|{_VERSION}(?:-[0-9a-f]{{4,40}})?"
_LIST = r"\[[^\[\]\n]{0,900}\]"
_NUMBER = r"(?<![\w.])\d{4,6}\b|\bNone\b"
_PAIR = r"\(\d{1,2}, ?\d{1,2}\)|\(major=\d{1,2}, minor=\d{1,2}\)"
_TRIPLE = r"\(\d{1,2}, ?\d{1,2}, ?\d{1,2}\)|(?<![\w.])2\d{3,4}\b"
_NAME = (
    r"(?!(?:True|False|None|Traceback|import|print)\b)[A-Z][^\n'\",]{2,100}?"
    r"(?=['\",)]|\s+(?:True|False|None|\(?\d+[.,] ?\d)|\s*$)"
)
_PROPERTIES = r"_CudaDeviceProperties\([^\n]{0,600}\)"
_MACHINE = r"\b(?:x86_64|AMD64|arm64|aarch64|i386|i686|x86|ppc64le|s390x|riscv64)\b"
_PLATFORM = r"\b(?:Linux|macOS|Windows|Darwin)-[\w.+-]{3,160}"
_SIZE = r"(?<![\w.])\d{7,15}\b"
_CAPABILITY = r"\b(?:AVX512(?:_VNNI)?|AVX2|NEON|SVE256|SVE|DEFAULT|NO AVX|ZVECTOR)\b"

_Take = Callable[[Reading, str, re.Match[str]], None]


class _Expression(NamedTuple):
    """How it is typed, how its value looks, what the value states."""

    code: str
    value: str
    take: _Take


def _truth(fact: str) -> _Take:
    return lambda reading, value, _code: reading.sheet.state(fact, value == "True")


def _text(fact: str) -> _Take:
    return lambda reading, value, _code: reading.sheet.state(fact, value)


def state_torch_version(reading: Reading, version: str, tool: str) -> None:
    """torch's version, and what its local part says of the build: `2.6.0+cu124`."""
    reading.sheet.state("torch.version", version)
    reading.add_software("pytorch", version, tool)


def _take_version(reading: Reading, value: str, code: re.Match[str]) -> None:
    module = code[0].partition(".")[0].strip()
    if module == "torch":
        state_torch_version(reading, value, _TOOL)
    elif component := component_of(_MODULES.get(module, module)):
        reading.add_software(component, value, _TOOL)


_MODULES = {"ort": "onnxruntime", "tf": "tensorflow", "np": "numpy", "bnb": "bitsandbytes"}


def _take_build(fact: str) -> _Take:
    def take(reading: Reading, value: str, _code: re.Match[str]) -> None:
        if value == "None":
            kind = {"torch.cuda_version": "CUDA", "torch.hip_version": "ROCm"}[fact]
            reading.sheet.mark_missing(fact, "not_applicable", f"torch is built without {kind}")
        else:
            reading.sheet.state(fact, value)

    return take


def _take_architectures(reading: Reading, value: str, _code: re.Match[str]) -> None:
    """An empty list says that the build has none, or that CUDA does not start: it proves nothing."""
    names = re.findall(r"(?:sm|compute|gfx)_?[0-9a-f]{2,4}[a-z]?", value)
    reading.sheet.state("torch.arch_list", " ".join(names) or None)


def _take_name(reading: Reading, value: str, code: re.Match[str]) -> None:
    """Without the label that the program printed in front of it."""
    value = value.rpartition(": ")[2]
    index = re.search(r"\d{1,3}", code[0].rpartition("(")[2])
    add_listed_card(reading, int(index[0]) if index else 0, value, _TOOL)


def _take_capability(reading: Reading, value: str, code: re.Match[str]) -> None:
    """Of a card that another line names; without a name nothing says which card it is."""
    index = re.search(r"\d{1,3}", code[0].rpartition("(")[2])
    digits = re.findall(r"\d+", value)
    for card in list(reading.cards):
        if card.index == (int(index[0]) if index else 0) and card.vendor == "nvidia":
            capability = f"{digits[0]}.{digits[1]}"
            reading.cards[reading.cards.index(card)] = replace(
                card, facts={**card.facts, "compute_capability": capability}
            )


def _take_properties(reading: Reading, value: str, _code: re.Match[str]) -> None:
    """`_CudaDeviceProperties(name='...', major=8, minor=6, total_memory=24259MB, multi_processor_count=82, ...)`."""
    name = re.search(r"name='([^'\n]{1,120})'", value)
    if not name or len(reading.cards) >= LIMITS.cards:
        return
    memory = re.search(r"total_memory=(\d{1,9}MB)", value)
    capability = re.search(r"major=(\d{1,2}), minor=(\d{1,2})", value)
    count = re.search(r"multi_processor_count=(\d{1,4})", value)
    target = re.search(r"gcnArchName='(gfx[0-9a-f]{3,5})", value)
    index = len(reading.cards)
    card = CardReading(
        index=index,
        kind="gpu",
        vendor="amd" if target else "nvidia",
        reported_name=name[1],
        memory_bytes=number_of_bytes(memory[1]) if memory else None,
    )
    card.sheet.state("gfx_target", target[1] if target else None)
    card.sheet.state("compute_capability", ".".join(capability.groups()) if capability and not target else None)
    card.sheet.state("multiprocessors", int(count[1]) if count else None)
    reading.cards.append(card.card())


def _take_cudnn(reading: Reading, value: str, _code: re.Match[str]) -> None:
    if value == "None":
        reading.sheet.mark_missing("cudnn.version", "not_applicable", "torch is built without cuDNN")
    else:
        state_cudnn_number(reading, int(value), _TOOL)


def state_cudnn_number(reading: Reading, number: int, tool: str) -> None:
    """90100 is cuDNN 9.1.0, 8902 is 8.9.2: CUDNN_VERSION counts otherwise since cuDNN 9."""
    step = 10_000 if number >= 90_000 else 1_000
    version = f"{number // step}.{number % step // 100}.{number % 100}"
    reading.sheet.state("cudnn.version", version)
    reading.add_software("cudnn", version, tool)


def _take_nccl(reading: Reading, value: str, _code: re.Match[str]) -> None:
    digits = re.findall(r"\d+", value)
    if len(digits) == 1:  # before torch 1.10 one number: 2708, 21003
        number = int(digits[0])
        step = 1_000 if number < 10_000 else 10_000
        digits = [str(number // step), str(number % step // 100), str(number % 100)]
    reading.sheet.state("nccl.version", ".".join(digits))


def _take_platform(reading: Reading, value: str, _code: re.Match[str]) -> None:
    state_platform(reading, value, _TOOL, names_system=True)


def _take_mac(reading: Reading, value: str, _code: re.Match[str]) -> None:
    """`('14.5', ('', '', ''), 'arm64')`. 10.16 is what a Python built for old systems is told."""
    version, *_others, machine = re.findall(r"'([^'\n]*)'", value)
    reading.sheet.state("os.name", "macOS")
    reading.sheet.state("os.version", version if version != "10.16" else None)
    reading.sheet.state("python.arch", machine or None)


def _take_pointer(reading: Reading, value: str, _code: re.Match[str]) -> None:
    """Four bytes: a Python of 32 bits, for which there is no torch. Eight say nothing of the architecture."""
    if value == "4":
        reading.sheet.state("python.arch", "x86")


def _take_providers(reading: Reading, value: str, _code: re.Match[str]) -> None:
    reading.sheet.state("onnxruntime.providers", " ".join(re.findall(r"\w{3,40}ExecutionProvider", value)) or None)


def _take_bytes(fact: str) -> _Take:
    return lambda reading, value, _code: reading.sheet.state(fact, int(value))


_CALL = r" ?\((?:[^()\n]{0,60}|[\w.]{1,40}\(\))\)"
_EXPRESSIONS = (
    _Expression(r"torch\.version\.cuda", _CUDA, _take_build("torch.cuda_version")),
    _Expression(r"torch\.version\.hip", _HIP, _take_build("torch.hip_version")),
    _Expression(r"torch\.version\.git_version", r"\b[0-9a-f]{40}\b", _text("torch.git_version")),
    _Expression(r"(?:torch|torchvision|torchaudio|triton|xformers|flash_attn|transformers|vllm|jax|jaxlib|tf"
                r"|tensorflow|onnxruntime|ort|np|numpy|bitsandbytes|bnb|accelerate)\.(?:__version__|version\.VERSION)",
                _VERSION, _take_version),
    _Expression(rf"torch\.cuda\.is_available{_CALL}", _TRUTH, _truth("cuda.available")),
    _Expression(rf"torch\.cuda\.get_arch_list{_CALL}", _LIST, _take_architectures),
    _Expression(rf"torch\.cuda\.get_device_name{_CALL}", _NAME, _take_name),
    _Expression(rf"torch\.cuda\.get_device_capability{_CALL}", _PAIR, _take_capability),
    _Expression(rf"torch\.cuda\.get_device_properties{_CALL}", _PROPERTIES, _take_properties),
    _Expression(rf"torch\.cuda\.nccl\.version{_CALL}", _TRIPLE, _take_nccl),
    _Expression(rf"torch\.backends\.cudnn\.version{_CALL}", _NUMBER, _take_cudnn),
    _Expression(r"torch\.backends\.mps\.is_available ?\(\)|torch\.mps\.is_available ?\(\)", _TRUTH,
                _truth("mps.available")),
    _Expression(r"torch\.backends\.mps\.is_built ?\(\)", _TRUTH, _truth("mps.built")),
    _Expression(r"torch\.xpu\.is_available ?\(\)", _TRUTH, _truth("xpu.available")),
    _Expression(r"torch\.mps\.recommended_max_memory ?\(\)", _SIZE, _take_bytes("mps.recommended_max_memory_bytes")),
    _Expression(r"torch\.backends\.cpu\.get_cpu_capability ?\(\)", _CAPABILITY, _text("torch.cpu_capability")),
    _Expression(r"platform\.machine ?\(\)", _MACHINE, _text("python.arch")),
    _Expression(r"platform\.mac_ver ?\(\)", r"\('\d[\d.]{1,8}', \([^()\n]{0,40}\), '\w{0,10}'\)", _take_mac),
    _Expression(r"struct\.calcsize ?\((?:'P'|\"P\")\)", r"(?<![\w.])[48]\b", _take_pointer),
    _Expression(r"platform\.platform ?\(\)", _PLATFORM, _take_platform),
    _Expression(r"(?:onnxruntime|ort)\.get_available_providers ?\(\)", _LIST, _take_providers),
)  # fmt: skip
_CODE = re.compile("|".join(f"(?P<e{number}>{expression.code})" for number, expression in enumerate(_EXPRESSIONS)))
_VALUES = tuple(re.compile(expression.value) for expression in _EXPRESSIONS)
_ANCHORS = (
    "__version__", "torch.version.", "version.VERSION", "torch.cuda.", "torch.backends.", "torch.mps.", "torch.xpu.",
    "platform.machine", "platform.platform", "platform.mac_ver", "struct.calcsize", "_available_providers",
)  # fmt: skip

# ---- where they stand -----------------------------------------------------------------------------------------------

_PRINTS = re.compile(
    r"(?:>>> ?|\.\.\. ?|In \[\d{1,4}\]: ?|!|% ?)?"
    r"(?:(?:[\w./~-]{0,80}?\bpython[\w.]{0,6}|py|uv run python3?) (?:-\w )?-c\b|import \w|from \w|f?print ?\(|\(|$)"
)
_ANSWERS = re.compile(
    r"\)?[`'\"*]{0,4}\s{0,4}(?:[:=]|==|->|=>|→|#|returns?|returned|gives|prints?|printed|shows?|says|outputs?|reports?"
    r"|is|was)(?:[:=]|\s|['\"`*])*"
)
_NO_ANSWER = re.compile(r"(?:if|elif|while|assert|return|def|class|with|not)\b|[\w.\[\]]{1,60}\s?=(?!=)")
_BARE = re.compile(
    r"(?P<version>'?[12]\.\d{1,2}\.\d(?:\.dev\d{8})?\+(?:cu\d{2,3}|cpu|rocm[\d.]{1,8}|xpu)'?)|(?P<list>\[(?:'(?:sm|gfx|"
    rf"compute)_?[0-9a-f]{{2,4}}{POSSESSIVE}"
    r"[a-z]?'(?:, )?){1,40}\])|(?P<properties>_CudaDeviceProperties\(name='[^\n]{10,600}\))"
)
_BARE_LINE = re.compile(rf"^[ \t]{{0,8}}(?:Out\[\d{{1,4}}\]: ?)?(?:{_BARE.pattern})$", re.MULTILINE)
_BARE_TAKES: Mapping[str, _Take] = {
    "version": lambda reading, value, _code: state_torch_version(reading, value.strip("'"), _TOOL),
    "list": _take_architectures,
    "properties": _take_properties,
}


@dataclass(frozen=True, slots=True)
class _Fact:
    """One value found: where its lines lie, and what to do with it."""

    start: int
    end: int
    take: _Take
    value: str
    code: re.Match[str]


def find_torch_facts(text: str) -> list[Span]:
    spans: list[Span] = []
    for fact in _facts(text):
        if spans and fact.start - spans[-1].end <= _GAP:
            spans[-1] = Span(spans[-1].start, max(spans[-1].end, fact.end))
        else:
            spans.append(Span(fact.start, fact.end))
    return spans[:64]


def read_torch_facts(text: str) -> Reading:
    """Never raises. Of two values of one expression the first counts."""
    reading = Reading(kind=KIND)
    for fact in sorted(_facts(text), key=lambda fact: fact.take is _take_capability):
        fact.take(reading, fact.value, fact.code)
    return reading


def _facts(text: str) -> list[_Fact]:
    typed = list(_typed(text))
    ends = {fact.end for fact in typed}
    bare = [fact for fact in _bare(text) if fact.end not in ends]
    return sorted([*typed, *bare], key=lambda fact: (fact.start, fact.end))


def _bare(text: str) -> Iterator[_Fact]:
    """Values that nothing else looks like, without the expression."""
    if not any(mark in text for mark in ("['sm_", "['gfx", "+cu", "+cpu", "+rocm", "+xpu", "_CudaDeviceProp")):
        return
    for number, match in enumerate(_BARE_LINE.finditer(text)):
        kind = str(match.lastgroup)
        yield _Fact(match.start(), match.end(), _BARE_TAKES[kind], match[kind], match)
        if number == LIMITS.cards:
            return


def _typed(text: str) -> Iterator[_Fact]:
    done = -1
    for start in _lines_with_anchors(text):
        if start > done:
            facts, done = _facts_from(text, start)
            yield from facts


def _lines_with_anchors(text: str) -> list[int]:
    """Where the lines begin that can hold an expression; those that are too long are passed over."""
    starts: set[int] = set()
    for anchor in _ANCHORS:
        at = text.find(anchor)
        for _ in range(_MOST_EXPRESSIONS):
            if at < 0:
                break
            start = text.rfind("\n", max(0, at - _LONGEST_LINE), at) + 1
            starts |= {start} if start or at < _LONGEST_LINE else set()
            end = text.find("\n", at)
            at = text.find(anchor, end) if end >= 0 else -1
    return sorted(starts)


def _facts_from(text: str, start: int) -> tuple[list[_Fact], int]:
    """The facts of the statements that begin with the line at `start`, and where to go on."""
    facts: list[_Fact] = []
    waiting: list[list[re.Match[str]]] = []
    at, first = start, start
    for _ in range(_LINES_BELOW):
        if at >= len(text):
            break
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[at : min(end, at + _LONGEST_LINE)]
        codes = list(_CODE.finditer(line))[:32]
        if codes and facts and waiting == []:
            return facts, at - 1
        if codes:
            beside = list(_beside(line, codes, at, end))
            facts += beside
            waiting += [] if beside else _slots(line, codes)
        elif waiting and line.strip():
            below = _below(line, waiting[0], first, end)
            facts += below
            waiting = waiting[1:] if below else waiting
        at = end + 1
        if not waiting:
            break
    return facts, at - 1


def _beside(line: str, codes: Sequence[re.Match[str]], start: int, end: int) -> Iterator[_Fact]:
    """`torch.version.cuda: 12.4`, `torch.cuda.is_available() returns False`, `print(torch.__version__)  # 2.6.0`."""
    bare = line.lstrip(" \t>*-`")
    if _NO_ANSWER.match(bare) or "should" in line:
        return
    for code in codes:
        number = _number(code)
        answer = _ANSWERS.match(line, code.end())
        value = answer and _VALUES[number].match(line, answer.end())
        if value:
            yield _Fact(start, end, _EXPRESSIONS[number].take, value[0], code)


def _slots(line: str, codes: Sequence[re.Match[str]]) -> list[list[re.Match[str]]]:
    """The expressions of each line that this statement prints: one list for each print, or for a bare expression."""
    bare = line.strip()
    if _NO_ANSWER.match(bare):
        return []
    if not (_PRINTS.match(bare) or _CODE.match(bare)):
        return []
    slots: list[list[re.Match[str]]] = []
    last = -1
    for code in codes:
        statement = line.count(";", 0, code.start()) + line.count("print(", 0, code.start())
        if statement != last:
            slots.append([])
            last = statement
        slots[-1].append(code)
    return slots


def _below(line: str, codes: Sequence[re.Match[str]], start: int, end: int) -> list[_Fact]:
    """The values of one print in a line, in the order of its expressions; none unless all are there."""
    facts: list[_Fact] = []
    at = 0
    for code in codes:
        number = _number(code)
        value = _VALUES[number].search(line, at)
        if value is None:
            return []
        facts.append(_Fact(start, end, _EXPRESSIONS[number].take, value[0], code))
        at = value.end()
    return facts


def _number(code: re.Match[str]) -> int:
    return int(str(code.lastgroup)[1:])


IMPORTER = Importer(
    kind=KIND,
    tool="torch.__version__ and others, printed",
    tells="torch, what it was built with and for, whether it sees a card, names of cards",
    trust=55,
    find=find_torch_facts,
    read=read_torch_facts,
    command=r"(?:import torch|from torch|(?:\S{0,80}/)?python[\w.]{0,6} -c|print\()",
    yields=True,
)
