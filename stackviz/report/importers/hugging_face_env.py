"""`accelerate env`, `transformers-cli env` (`transformers env`) and `diffusers-cli env` -> facts, cards and software.

They name the kernel instead of the distribution, and cards without numbers.
"""

import re
from collections.abc import Callable, Iterator

from stackviz.report.format.systems import cuda_of, is_cpu_build
from stackviz.report.importers.env_report import (
    add_listed_card,
    check_torch_versions,
    component_of,
    is_given,
    number_of_bytes,
    state_platform,
    state_python,
    state_text,
    state_truth,
)
from stackviz.report.importers.importer import Importer, Span
from stackviz.report.importers.reading import Reading, clean

__all__ = ["ACCELERATE_IMPORTER", "DIFFUSERS_IMPORTER", "TRANSFORMERS_IMPORTER"]

_TOOLS = {"accelerate-env": "accelerate env", "transformers-env": "transformers env", "diffusers-env": "diffusers env"}
_ITEM = re.compile(r"^[ \t>]{0,8}[-*•][ \t]+([^\n:]{2,80}):[ \t]*([^\n]{0,4000})$", re.MULTILINE)
_MARKS = re.compile(r"[`*🤗]|\([^)]{0,40}\)")
_FIRST = {"accelerate version", "transformers version", "diffusers version"}
_KNOWN = _FIRST | {
    "platform", "running on google colab", "python version", "numpy version", "pytorch version", "flax version",
    "jax version", "jaxlib version", "tensorflow version", "huggingface_hub version", "safetensors version",
    "peft version", "bitsandbytes version", "xformers version", "deepspeed version", "accelerate config",
    "accelerate bash location", "accelerate default config", "pytorch accelerator", "pytorch xpu available",
    "pytorch npu available", "pytorch mlu available", "pytorch sdaa available", "pytorch musa available",
    "system ram", "gpu type", "xpu type", "npu type", "cann version", "accelerator", "using gpu in script",
    "using distributed or parallel set-up in script", "using gpu type", "using gpu", "using xpu in script",
}  # fmt: skip
_INDENTED = re.compile(r"(?:\n[ \t]+\S[^\n]{0,300}){1,60}")
_GAP = 1200
"""Characters between two items that still belong together: accelerate's configuration, a wrapped line."""


def _items(text: str) -> Iterator[tuple[str, str, int, int]]:
    """Label without its marks, value, start and end, of each item that one of the tools writes."""
    for number, match in enumerate(_ITEM.finditer(text)):
        label = " ".join(_MARKS.sub("", match[1]).lower().rstrip("? ").split())
        if label in _KNOWN:
            yield label, match[2].strip(), match.start(), match.end()
        if number > 50_000:
            return


def _finder(kind: str) -> Callable[[str], list[Span]]:
    def find(text: str) -> list[Span]:
        if "Platform" not in text:
            return []
        return [Span(start, end) for first, start, end in _blocks(text) if f"{first.split()[0]}-env" == kind]

    return find


def _blocks(text: str) -> list[tuple[str, int, int]]:
    """First label, start and end: a block begins with the version of the tool itself, before the platform."""
    blocks: list[list[tuple[str, int, int]]] = []
    for label, _value, start, end in _items(text):
        old = blocks[-1] if blocks else []
        is_near = bool(old) and start - old[-1][2] < _GAP
        repeats = any(label == known for known, _start, _end in old)
        if not is_near or repeats:
            blocks.append([])
        blocks[-1].append((label, start, end))
    return [
        (block[0][0], _with_heading(text, block[0][1]), _with_configuration(text, block[-1][2]))
        for block in blocks[:64]
        if block[0][0] in _FIRST and len(block) >= 3 and any(label == "platform" for label, *_ in block)
    ]


def _with_heading(text: str, at: int) -> int:
    """The tools ask to copy what follows."""
    heading = text.rfind("Copy-and-paste the text below", max(0, at - 120), at)
    return heading if heading >= 0 else at


def _with_configuration(text: str, at: int) -> int:
    """The indented lines after the last item."""
    match = _INDENTED.match(text, at)
    return match.end() if match else at


def _reader(kind: str) -> Callable[[str], Reading]:
    def read(text: str) -> Reading:
        reading = Reading(kind=kind)
        values: dict[str, str] = {}
        for label, value, _start, _end in _items(text):
            values.setdefault(label, value)
        if not values:
            reading.problem("nothing to read")
        for label, value in values.items():
            _take(reading, label, value, _TOOLS[kind])
        check_torch_versions(reading)
        return reading

    return read


def _take(reading: Reading, label: str, value: str, tool: str) -> None:
    if label in _TAKERS:
        _TAKERS[label](reading, value, tool)
    elif label.endswith(" version") and is_given(value):
        component = component_of(label.removesuffix(" version"))
        match = re.match(r"\d[\w.+-]{0,60}", value)
        if component and match:
            reading.add_software(component, match[0], tool)


def _take_torch(reading: Reading, value: str, tool: str) -> None:
    """`2.3.0+cu121 (True)`: whether CUDA is available; newer ones name the accelerator: `2.7.0 (MPS)`."""
    text = state_text(reading, "torch.version", re.sub(r"\s*\([^)]*\)\s*$", "", value), tool)
    reading.sheet.state("torch.version", text)
    if not text:
        return
    reading.add_software("pytorch", text, tool)
    if cuda := cuda_of(text.partition("+")[2]):
        reading.sheet.state("torch.cuda_version", cuda)
    elif is_cpu_build(text):
        reading.sheet.mark_missing("torch.cuda_version", "not_applicable", f"{text} is built without")
    state = re.search(r"\(([^)]{1,20})\)\s*$", value)
    if state:
        _take_accelerator(reading, state[1], tool)


def _take_accelerator(reading: Reading, value: str, tool: str) -> None:
    """What torch can compute on, as it names it; N/A is none."""
    kind = clean(value).lower()
    if kind in {"true", "false"}:
        state_truth(reading, "cuda.available", kind, tool)
    elif kind in {"cuda", "mps", "xpu"}:
        for name in ("mps", "xpu", "cuda"):
            reading.sheet.state(f"{name}.available", kind == name or None)
        reading.sheet.state("mps.built", kind == "mps" or None)
    elif kind in {"n/a", "cpu", "na", "none"}:
        reading.sheet.mark_missing("cuda.available", "not_reported", f"{tool} lists no accelerator")


def _take_gpu(reading: Reading, value: str, tool: str) -> None:
    """One card; diffusers lists them with their memory: `NVIDIA L4, 23034 MiB`."""
    if not is_given(value) or value.startswith("<"):
        return
    for name, memory in re.findall(r"([A-Za-z][^,\n]{2,150})(?:,\s*(\d{3,7}) ?MiB)?", value)[:64]:
        memory_bytes = int(memory) * 2**20 if memory else None
        add_listed_card(reading, len(reading.cards), clean(name), tool, memory_bytes=memory_bytes)


def _take_memory(reading: Reading, value: str, tool: str) -> None:
    text = state_text(reading, "memory.total_bytes", value, tool)
    reading.sheet.state("memory.total_bytes", number_of_bytes(text) if text else None)


_TAKERS: dict[str, Callable[[Reading, str, str], None]] = {
    "platform": lambda reading, value, tool: state_platform(reading, value, tool, names_system=True),
    "python version": state_python,
    "pytorch version": _take_torch,
    "pytorch accelerator": _take_accelerator,
    "pytorch xpu available": lambda reading, value, tool: state_truth(reading, "xpu.available", value, tool),
    "system ram": _take_memory,
    "gpu type": _take_gpu,
    "using gpu type": _take_gpu,
    "xpu type": _take_gpu,
    "accelerator": _take_gpu,
}

ACCELERATE_IMPORTER = Importer(
    kind="accelerate-env",
    tool="accelerate env",
    tells="torch, kernel, memory, what torch computes on",
    trust=56,
    find=_finder("accelerate-env"),
    read=_reader("accelerate-env"),
    command="accelerate env",
)
TRANSFORMERS_IMPORTER = Importer(
    kind="transformers-env",
    tool="transformers env",
    tells="torch, kernel, one card, packages",
    trust=54,
    find=_finder("transformers-env"),
    read=_reader("transformers-env"),
    command="transformers(?:-cli)? env",
)
DIFFUSERS_IMPORTER = Importer(
    kind="diffusers-env",
    tool="diffusers env",
    tells="torch, kernel, cards with their memory, packages",
    trust=52,
    find=_finder("diffusers-env"),
    read=_reader("diffusers-env"),
)
