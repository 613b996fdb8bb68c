"""`python -m torch.utils.collect_env` -> facts, cards and software. The layout of torch 1.12 and later is read.

"Could not collect", "N/A" and "No CUDA" mean three things there: asked and not told, has no meaning here, and this
torch was built without CUDA. May import: wire and the standard library.
"""

import re
from collections.abc import Callable
from itertools import pairwise

from stackviz.importers.importer import Importer, Span
from stackviz.importers.reading import CardReading, Reading, clean
from stackviz.wire import LIMITS

__all__ = ["IMPORTER", "read_collect_env"]

KIND = "collect-env"

_START = re.compile(r"^.*\bPyTorch version:", re.MULTILINE)
_MOST_CHARS = 1024 * 1024
_LABEL = re.compile(r"^[\s>`]{0,6}([A-Za-z][\w .()/+-]{1,50}?)\s*:[ \t]*(.*)$")
_CARD = re.compile(r"^\s*GPU (\d{1,4}):\s*(.+?)\s*(?:\(UUID: .*\))?$")
_PACKAGE = re.compile(r"^\[(?:pip3?|conda)\]\s+([\w.-]{1,80})(?:==|\s+)(\S{1,80})")
_CUDNN_FILE = re.compile(r"libcudnn\.(?:so\.)?(\d+\.\d+\.\d+)|cudnn64_(\d+)\.dll")
_NOTHING = {
    "could not collect": "not_reported",
    "n/a": "not_applicable",
    "none": "not_applicable",
    "no cuda": "not_applicable",
    "": "not_reported",
}
_PACKAGES = {
    "torch": "pytorch",
    "pytorch": "pytorch",
    "numpy": "numpy",
    "triton": "triton",
    "pytorch-triton": "triton",
    "mkl": "mkl",
    "onnxruntime": "onnxruntime",
    "transformers": "transformers",
}


def find_collect_env(text: str) -> list[Span]:
    if "Is debug build:" not in text:
        return []
    starts = [match.start() for match in _START.finditer(text)]
    return [Span(start, end) for start, end in pairwise([*starts, len(text)])] if starts else []


def read_collect_env(text: str) -> Reading:
    """Never raises. Prompts, warnings and code fences before and after the dump are passed over."""
    reading = Reading(KIND)
    if len(text) > _MOST_CHARS:
        reading.problem(f"longer than {_MOST_CHARS} characters; the rest was not read")
    lines = text[:_MOST_CHARS].splitlines()
    fields = _fields(lines)
    if "PyTorch version" not in fields:
        reading.problem("there is no line 'PyTorch version:'")
        return reading
    for label, take in _TAKERS.items():
        if label in fields:
            take(reading, fields[label])
    _read_cards(reading, lines)
    _read_packages(reading, lines)
    _check_versions(reading)
    return reading


def _fields(lines: list[str]) -> dict[str, str]:
    """Label -> what stands after it, with the lines that continue it. The first of a label counts."""
    fields: dict[str, str] = {}
    last = ""
    for line in lines:
        match = _LABEL.match(line) if not line.startswith(("[", "GPU ")) else None
        if match:
            last = match[1]
            if last in fields:
                last = ""
            else:
                fields[last] = match[2].strip()
        elif last and line.strip() and len(fields[last]) < LIMITS.string_chars:
            fields[last] += f"\n{line.strip()}"
    return fields


def _told(reading: Reading, fact: str, written: str) -> str | None:
    """What was written; None, with the reason noted, where it is one of the ways of not telling."""
    text = clean(written.partition("\n")[0])
    reason = _NOTHING.get(text.lower())
    if reason is None:
        return text
    reading.sheet.lack(fact, reason, f"collect_env says {text}" if text else None)
    return None


def _take_text(fact: str, component: str = "") -> Callable[[Reading, str], None]:
    def take(reading: Reading, written: str) -> None:
        text = _told(reading, fact, written)
        reading.sheet.state(fact, text)
        if text and component:
            reading.found(component, text, "collect_env")

    return take


def _take_truth(fact: str) -> Callable[[Reading, str], None]:
    def take(reading: Reading, written: str) -> None:
        text = _told(reading, fact, written)
        reading.sheet.state(fact, {"true": True, "yes": True, "false": False, "no": False}.get((text or "").lower()))

    return take


def _take_os(reading: Reading, written: str) -> None:
    text = _told(reading, "os.name", written)
    match = re.match(r"(.*?)\s*(?:\(([\w-]+)\))?$", text or "")
    if not text or not match:
        return
    named = re.match(r"(Microsoft Windows|macOS|Mac OS X|[A-Za-z][A-Za-z /-]*?)\s*(\d\S*)?(?:\s.*)?$", match[1])
    name = {"Microsoft Windows": "Windows", "Mac OS X": "macOS"}.get(named[1], named[1]) if named else match[1]
    reading.sheet.state("os.name", name)
    reading.sheet.state("os.version", named[2] if named else None)
    reading.sheet.state("os.arch", match[2])


def _take_python(reading: Reading, written: str) -> None:
    match = re.match(r"\d+\.\d+(?:\.\d+\S*)?", written)
    if match:
        reading.sheet.state("python.version", match[0])
        reading.found("python", match[0], "collect_env")


def _take_cudnn(reading: Reading, written: str) -> None:
    versions = {dotted or major for dotted, major in _CUDNN_FILE.findall(written)}
    if not versions:
        text = _told(reading, "cudnn.version", written)
        versions = {text} if text and re.match(r"\d+(\.\d+)*$", text) else set()
    if len(versions) > 1:
        reading.problem(f"several cuDNN libraries: {', '.join(sorted(versions))}")
        reading.sheet.lack("cudnn.version", "not_reported", "several libraries, collect_env does not say which is used")
    for version in versions if len(versions) == 1 else ():
        reading.sheet.state("cudnn.version", version)
        reading.found("cudnn", version, "collect_env")


def _take_cores(reading: Reading, written: str) -> None:
    text = written.partition("\n")[0].strip()
    reading.sheet.state("cpu.cores_logical", int(text) if re.fullmatch(r"\d{1,5}", text) else None)


def _take_driver(reading: Reading, written: str) -> None:
    text = _told(reading, "nvidia.driver_version", written)
    versions = set(re.findall(r"\d+\.\d+(?:\.\d+)?", written)) if text else set()
    if len(versions) == 1:
        reading.sheet.state("nvidia.driver_version", text)
        reading.found("nvidia-driver", text, "collect_env")
    elif text:
        reading.sheet.lack("nvidia.driver_version", "not_reported", f"collect_env says {text}")


_TAKERS: dict[str, Callable[[Reading, str], None]] = {
    "PyTorch version": _take_text("torch.version", "pytorch"),
    "Is debug build": _take_truth("torch.debug"),
    "CUDA used to build PyTorch": _take_text("torch.cuda_version"),
    "ROCM used to build PyTorch": _take_text("torch.hip_version"),
    "OS": _take_os,
    "Libc version": _take_text("os.libc"),
    "Python version": _take_python,
    "Is CUDA available": _take_truth("cuda.available"),
    "CUDA runtime version": _take_text("cuda.toolkit_version", "cuda-toolkit"),  # it runs nvcc
    "Nvidia driver version": _take_driver,
    "cuDNN version": _take_cudnn,
    "Model name": _take_text("cpu.model"),
    "CPU(s)": _take_cores,
}


def _read_cards(reading: Reading, lines: list[str]) -> None:
    for line in lines:
        match = _CARD.match(line.removeprefix("GPU models and configuration:").strip())
        if match and len(reading.cards) < LIMITS.cards and all(card.index != int(match[1]) for card in reading.cards):
            vendor = "amd" if re.search(r"\b(AMD|Radeon|Instinct)\b", match[2]) else "nvidia"
            card = CardReading(int(match[1]), "gpu", vendor, match[2])
            card.sheet.lack("memory_bytes", "not_reported", "collect_env does not tell it")
            reading.cards.append(card.card())


def _read_packages(reading: Reading, lines: list[str]) -> None:
    for line in lines:
        match = _PACKAGE.match(line.strip())
        component = _PACKAGES.get(match[1].lower()) if match else None
        if match and component:
            reading.found(component, match[2], "collect_env, list of packages")


def _check_versions(reading: Reading) -> None:
    listed = sorted({str(s.version) for s in reading.software if s.component == "pytorch"})
    if len(listed) > 1:
        reading.problem(f"torch versions disagree: {', '.join(listed)}")


IMPORTER = Importer(KIND, "python -m torch.utils.collect_env", find_collect_env, read_collect_env)
