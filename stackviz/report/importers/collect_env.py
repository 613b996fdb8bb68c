"""`python -m torch.utils.collect_env` and `vllm collect-env` -> facts, cards and software.

Layouts of torch 0.4 to 2.15, and vLLM's with sections, topology and environment variables after it.
"Could not collect", "N/A" and "No CUDA" mean three things there: asked without an answer (not_reported), has no meaning
here (not_applicable), and neither torch nor the system has any of it (not_installed; on a Mac not_applicable).
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from stackviz.base.backports import POSSESSIVE
from stackviz.base.private import without_homes
from stackviz.report.format import LIMITS
from stackviz.report.format.components import version_with_build
from stackviz.report.importers.env_report import (
    add_listed_card,
    check_torch_versions,
    component_of,
    is_given,
    number_of_bytes,
    state_platform,
    state_python,
    state_system,
    state_text,
    state_truth,
)
from stackviz.report.importers.importer import Importer, Span, end_of_line
from stackviz.report.importers.lscpu import is_processor_line, read_processor
from stackviz.report.importers.reading import CardReading, Reading, clean, vendor_of

__all__ = ["IMPORTER", "VLLM_IMPORTER", "read_collect_env"]

KIND = "collect-env"
VLLM_KIND = "vllm-env"
_TOOL = "collect_env"

_MOST_CHARS = 1024 * 1024
_MOST_LINES = 20_000
_LONGEST_LINE = 20_000
_MOST_DUMPS = 64
_MARGIN = " \t>`|"

# ---- where they lie -------------------------------------------------------------------------------------------------

_COMMON = ("PyTorch version", "GPU models and configuration")
_SPECIFIC = (
    "Is debug build", "CUDA used to build PyTorch", "ROCM used to build PyTorch", "Libc version", "Python platform",
    "Is CUDA available", "CUDA runtime version", "CUDA_MODULE_LOADING set to", "Nvidia driver version",
    "cuDNN version", "Is XPU available", "HIP runtime version", "MIOpen runtime version", "Is XNNPACK available",
    "Caching allocator config", "Versions of relevant libraries", "vLLM Version",
)  # fmt: skip
"""Labels that only these reports write; those of _COMMON are in issue templates too."""

_ANY_LABEL = "|".join(map(re.escape, _COMMON + _SPECIFIC))
_NO_COLON = r"(?=[ \t]{1,4}(?:\d|True\b|False\b|N/A|Could not))"  # it was lost on the way
_LABEL = re.compile(rf"^[{_MARGIN}]{{0,8}}({_ANY_LABEL})(?:[ \t]*:|{_NO_COLON})", re.MULTILINE)
_WITHOUT_COLON = re.compile(rf"({_ANY_LABEL}){_NO_COLON}[ \t]*")
_BEFORE = re.compile(
    r"collect[_-]env|Collecting environment|^[\s`=]*$|System Info|PyTorch Info|^\W*(?:OS|\w+ version)\s*:"
)
_PACKAGE_START = re.compile(rf"^[{_MARGIN}]{{0,8}}\[(?:pip3?|conda)\]", re.MULTILINE)
_PACKAGE = re.compile(r"\[(pip3?|conda)\]\s+([\w.-]{1,80})(?:\s*==\s*|\s+\(?)([^\s()]{1,80})")
_CONDA_TORCH = re.compile(r"\[conda\]\s+pytorch\s(?!.{0,200}\bpypi\s*$)")
_VARIABLE = re.compile(r"([A-Z][A-Z0-9_]{2,60})=(.*)$")
_CARD = re.compile(rf"GPU\s(\d{{1,4}}):\s*{POSSESSIVE}(.{{1,200}}?)\s{{0,40}}{POSSESSIVE}(?:\(UUID: [^)]*\))?$")
_INSTANCE = re.compile(r"MIG\s+(\d+c?\.?\d*g\.\d+gb\S{0,10})\s+Device\s+(\d{1,3}):")


def find_collect_env(text: str) -> list[Span]:
    return [span for span in _spans(text) if not _is_vllm(text, span)]


def find_vllm_env(text: str) -> list[Span]:
    return [span for span in _spans(text) if _is_vllm(text, span)]


def _is_vllm(text: str, span: Span) -> bool:
    return bool(re.search(r"^[^\w\n]{0,40}vLLM Version[ \t]*:", text[span.start : span.end], re.MULTILINE))


def _spans(text: str) -> list[Span]:
    groups = [group for group in _groups(text) if _is_enough(group)][:_MOST_DUMPS]
    floors = [0, *(max(group.values()) + 1 for group in groups)]
    starts = [_start(text, min(group.values()), floor) for group, floor in zip(groups, floors, strict=False)]
    spans = [
        Span(start, _end(text, start, next_start, max(group.values())))
        for group, (start, next_start) in zip(groups, pairwise([*starts, len(text)]), strict=True)
    ]
    return [span for span in spans if span.start < span.end]


def _groups(text: str) -> list[dict[str, int]]:
    """Return label -> position, for each dump: a label that comes again begins the next one."""
    groups: list[dict[str, int]] = []
    for number, match in enumerate(_LABEL.finditer(text)):
        if not groups or match[1] in groups[-1]:
            groups.append({})
        groups[-1][match[1]] = match.start()
        if number == _MOST_LINES:
            break
    return groups


def _is_enough(group: dict[str, int]) -> bool:
    """An issue template has the common labels too; half a dump has few of its own."""
    specific = len(group.keys() - set(_COMMON))
    return 2 * specific + (len(group) - specific) >= 3


def _start(text: str, at: int, floor: int) -> int:
    """Takes in the command, its warning and the headings above, as far as they are the report's."""
    start = at
    for _ in range(20):
        above = text.rfind("\n", 0, max(0, start - 1)) + 1
        if above >= start or above < floor or not _BEFORE.search(text[above:start].rstrip("\n")[:300]):
            break
        start = above
    while start < at and text[start] in "\n`":
        start += 1
    return start


def _end(text: str, start: int, limit: int, last_label: int) -> int:
    """The end of the list of packages, the last of a report; where it is missing, of the last line that belongs."""
    packages = [match.start() for match in _PACKAGE_START.finditer(text, start, limit)]
    end = end_of_line(text, max([last_label, *packages[-1:]]), limit)
    at = end + 1
    for _ in range(_MOST_LINES):
        if at >= limit:
            break
        line_end = end_of_line(text, at, limit)
        line = text[at : min(line_end, at + 300)].strip(_MARGIN)
        if not _belongs(line, has_packages=bool(packages)):
            break
        end = line_end if line.strip("=") else end
        at = line_end + 1
    return end


def _belongs(line: str, *, has_packages: bool) -> bool:
    """Whether a line after the last label is still the report's: vLLM's tail, a cut list, the processor."""
    if not line.strip("= ") or _VARIABLE.match(line) or _TOPOLOGY.match(line.strip()) or line.strip() in _TITLES:
        return True
    if line.partition(":")[0].strip() in _TAIL:
        return True
    return not has_packages and bool(_CARD.match(line) or "libcudnn" in line or is_processor_line(line))


_TITLES = frozenset(
    {"System Info", "PyTorch Info", "Python Environment", "CUDA / GPU Info", "CPU Info", "vLLM Info",
     "Versions of relevant libraries", "Environment Variables", "Legend:", "NIC Legend:"}
)  # fmt: skip
_TAIL = frozenset({"ROCM Version", "Neuron SDK Version", "vLLM Version", "vLLM Build Flags", "GPU Topology"})
_TOPOLOGY = re.compile(r"(?:GPU|NIC)\d|(?:X|SYS|NODE|PHB|PXB|PIX|NV#)\s+=|CUDA Archs:|Could not collect$|CPU Affinity")


# ---- what they tell -------------------------------------------------------------------------------------------------


@dataclass(kw_only=True)
class _Parts:
    """A report in parts: the text after each label, and the lines of its lists."""

    fields: dict[str, str] = field(default_factory=dict)
    processor: list[str] = field(default_factory=list)
    packages: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    cards: list[str] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)


def read_collect_env(text: str, kind: str = KIND) -> Reading:
    """Never raises. Prompts, warnings and code fences before and after the dump are passed over."""
    reading = Reading(kind=kind)
    if len(text) > _MOST_CHARS:
        reading.problem(f"longer than {_MOST_CHARS} characters; the rest was not read")
    parts = _parts(text[:_MOST_CHARS])
    if not parts.fields and not parts.packages:
        reading.problem("there is no line 'PyTorch version:'")
        return reading
    if "PyTorch version" not in parts.fields:
        reading.problem("the beginning is missing: no line 'PyTorch version:'")
    for label, take in _TAKERS.items():
        if label in parts.fields:
            take(reading, parts.fields[label])
    _read_cards(reading, parts)
    _read_processor(reading, parts.processor)
    _read_packages(reading, parts.packages)
    _read_variables(reading, parts.variables)
    check_torch_versions(reading)
    for line in parts.strange:
        reading.ignore(line)
    return reading


def read_vllm_env(text: str) -> Reading:
    reading = read_collect_env(text, VLLM_KIND)
    _take_container(reading, text)
    return reading


def _parts(text: str) -> _Parts:
    parts = _Parts()
    last = ""
    for line in _lines(text):
        label, colon, rest = _WITHOUT_COLON.sub(r"\1: ", line, count=1).partition(":")
        label = label.strip()
        if line.startswith(("[pip", "[conda]")):
            parts.packages.append(line)
            last = "Versions of relevant libraries"
        elif _CARD.match(line) or line.startswith("MIG "):
            parts.cards.append(line)
        elif (colon and label in _LABELS) or label in _SECTIONS:
            last = label
            parts.fields.setdefault(label, rest.strip())
        elif last in _PROCESSOR or (not last and is_processor_line(line)):
            parts.processor.append(line)
        elif match := _VARIABLE.match(line):
            parts.variables.setdefault(match[1], match[2])
        else:
            _continue(parts, last, line)
    return parts


def _lines(text: str) -> Iterator[str]:
    for line in text.splitlines()[:_MOST_LINES]:
        bare = line[:_LONGEST_LINE].strip(_MARGIN)
        if bare.strip("=- "):
            yield bare


def _continue(parts: _Parts, last: str, line: str) -> None:
    """A line without a label continues the one above if that has lists; otherwise it is unknown."""
    if last in _LISTS and len(parts.fields[last]) < LIMITS.string_chars:
        parts.fields[last] += f"\n{line}"
    elif not (_TOPOLOGY.match(line.strip()) or _BEFORE.search(line) or line in _TITLES or "RuntimeWarning" in line):
        parts.strange.append(line)


_PROCESSOR = frozenset({"CPU", "CPU Info"})
_LISTS = frozenset(
    {"cuDNN version", "GPU models and configuration", "Nvidia driver version", "Intel GPU driver version",
     "Intel GPU models onboard", "Intel GPU models detected", "vLLM Build Flags"}
)  # fmt: skip
_SECTIONS = frozenset({"CPU Info", "GPU Topology"})


def _take_text(fact: str, component: str = "") -> Callable[[Reading, str], None]:
    def take(reading: Reading, written: str) -> None:
        text = state_text(reading, fact, written, _TOOL)
        reading.sheet.state(fact, text)
        if text and component:
            reading.add_software(component, text, _TOOL)

    return take


def _take_truth(fact: str) -> Callable[[Reading, str], None]:
    return lambda reading, written: state_truth(reading, fact, written, _TOOL)


def _take_tool(component: str) -> Callable[[Reading, str], None]:
    """`(Ubuntu 11.4.0-1ubuntu1) 11.4.0`, `version 3.22.1`, `13.0.1 (tags/...)`: the version without what packs it."""

    def take(reading: Reading, written: str) -> None:
        match = re.search(r"(?<![\w.])\d+\.\d+(?:\.\d+)?[\w.-]{0,20}", re.sub(r"\([^)]{0,200}\)", " ", written))
        if match and is_given(written):
            reading.add_software(component, match[0], _TOOL)

    return take


def _take_torch(reading: Reading, written: str) -> None:
    if written.strip() == "N/A":
        reading.sheet.mark_missing("torch.version", "not_installed", "this Python cannot import torch")
    _take_text("torch.version", "pytorch")(reading, written)


def _take_cuda_build(reading: Reading, written: str) -> None:
    if reading.facts.get("torch.version") is None and written.strip() == "N/A":
        reading.sheet.mark_missing("torch.cuda_version", "not_installed", "this Python cannot import torch")
    torch = str(reading.facts.get("torch.version") or "")
    if torch and written.strip() == "Could not collect" and not re.search(r"\+(?:xpu|rocm)", torch):
        # collect_env writes so where torch.version.cuda is None, unless card, driver and nvcc are missing too.
        reading.sheet.mark_missing("torch.cuda_version", "not_applicable", "torch is built without CUDA")
    _take_text("torch.cuda_version")(reading, written)


def _take_libc(reading: Reading, written: str) -> None:
    text = state_text(reading, "os.libc", written, _TOOL)
    reading.sheet.state("os.libc", text.replace("-", " ", 1) if text else None)


def _take_driver(reading: Reading, written: str) -> None:
    """One version; torch 0.4 could list one for each card."""
    text = state_text(reading, "nvidia.driver_version", written.strip(), _TOOL)
    versions = set(re.findall(r"(?<![\w.])\d+\.\d+(?:\.\d+)?", re.sub(r"GPU \d+:", "", written))) if text else set()
    if len(versions) == 1:
        (version,) = versions
        reading.sheet.state("nvidia.driver_version", version)
        reading.add_software("nvidia-driver", version, _TOOL)
    elif text:
        reading.sheet.mark_missing("nvidia.driver_version", "not_reported", f"collect_env says {text}")


_CUDNN_FILE = re.compile(r"libcudnn[a-z_]{0,30}\.(?:so\.)?(\d+\.\d+\.\d+)(?:\.\d+)*(?:\.dylib)?|cudnn64_(\d+)\.dll")
_CUDNN_PATH = re.compile(r"(?:[A-Za-z]:\\|/)[^\n]{0,300}?cudnn[^\n/\\]{0,60}$", re.MULTILINE)


def _take_cudnn(reading: Reading, written: str) -> None:
    """The version is in the libraries' names: those of one folder mostly, of several installations sometimes."""
    files = _CUDNN_PATH.findall(written[: LIMITS.string_chars])
    paths = [clean(without_homes(file)).replace(" ", "\\ ") for file in files]
    versions = {dotted or major for dotted, major in _CUDNN_FILE.findall(written)}
    if paths:
        reading.sheet.state("cudnn.libraries", " ".join(paths))
    if not versions:
        text = state_text(reading, "cudnn.version", written, _TOOL)
        versions = {text} if text and re.fullmatch(r"\d+(\.\d+)*", text) else set()
        reading.sheet.mark_missing("cudnn.version", "not_reported", "the names of the libraries contain no version")
    if len(versions) > 1:
        reading.problem(f"several cuDNN libraries: {', '.join(sorted(versions))}")
        reading.sheet.mark_missing(
            "cudnn.version", "not_reported", "several libraries; collect_env does not state which one is used"
        )
    for version in sorted(versions):
        reading.add_software("cudnn", version, "collect_env, names of libraries")
        reading.sheet.state("cudnn.version", version if len(versions) == 1 else None)


def _take_rocm_build(reading: Reading, written: str) -> None:
    text = state_text(reading, "torch.hip_version", written, _TOOL)
    reading.sheet.state("torch.hip_version", text)
    if text:
        reading.sheet.mark_missing(
            "rocm.version", "not_reported", "it states the HIP version that torch was built with instead"
        )
        reading.add_software("rocm", text, "collect_env, what torch was built with")


_INTEL_CARD = re.compile(r"\*\s*\[(\d{1,3})\][^\n]{0,40}?name='([^'\n]{1,200})'([^\n]*)")


def _take_intel_cards(reading: Reading, written: str) -> None:
    for number, name, rest in _INTEL_CARD.findall(written):
        memory = re.search(r"total_memory=(\d+[KMGT]?B)", rest)
        driver = re.search(r"driver_version='([^']{1,60})'", rest)
        add_listed_card(
            reading,
            int(number),
            name,
            _TOOL,
            vendor="intel",
            memory_bytes=number_of_bytes(memory[1]) if memory else None,
            driver_version=driver[1] if driver else None,
        )


_TAKERS: dict[str, Callable[[Reading, str], None]] = {
    "PyTorch version": _take_torch,
    "Is debug build": _take_truth("torch.debug"),
    "CUDA used to build PyTorch": _take_cuda_build,
    "ROCM used to build PyTorch": _take_rocm_build,
    "OS": lambda reading, written: state_system(reading, written, _TOOL),
    "GCC version": _take_tool("gcc"),
    "Clang version": _take_tool("clang"),
    "CMake version": _take_tool("cmake"),
    "Libc version": _take_libc,
    "Python version": lambda reading, written: state_python(reading, written, _TOOL),
    "Python platform": lambda reading, written: state_platform(reading, written, _TOOL, names_system=False),
    "Is CUDA available": _take_truth("cuda.available"),
    "CUDA runtime version": _take_text("cuda.toolkit_version", "cuda-toolkit"),  # it runs nvcc
    "Nvidia driver version": _take_driver,
    "cuDNN version": _take_cudnn,
    "Is XPU available": _take_truth("xpu.available"),
    "Intel GPU models detected": _take_intel_cards,
    "HIP runtime version": _take_text("rocm.hip_runtime_version"),
    "MIOpen runtime version": _take_text("rocm.miopen_version"),
    "Is MPS available": _take_truth("mps.available"),
    "Is MPS built": _take_truth("mps.built"),
    "ROCM Version": _take_text("rocm.version", "rocm"),
    "vLLM Version": lambda reading, written: (
        reading.add_software("vllm", written.split()[0], "vllm collect-env") if is_given(written) else None
    ),
}
_LABELS = frozenset(_TAKERS) | {
    "GPU models and configuration", "CUDA_MODULE_LOADING set to", "Is XNNPACK available", "Caching allocator config",
    "XPU used to build PyTorch", "Intel GPU driver version", "Intel GPU models onboard", "CPU", "GPU Topology",
    "Versions of relevant libraries", "Neuron SDK Version", "vLLM Build Flags",
}  # fmt: skip


# ---- cards, processor, packages, variables --------------------------------------------------------------------------


def _read_cards(reading: Reading, parts: _Parts) -> None:
    models = parts.fields.get("GPU models and configuration", "")
    for line in [*models.split("\n"), *parts.cards]:
        match = _CARD.match(line.strip())
        if match:
            add_listed_card(
                reading, int(match[1]), match[2], _TOOL, "amd" if vendor_of(match[2]) == "amd" else "nvidia"
            )
    if not reading.cards and is_given(models) and not _CARD.match(models.strip()):
        _read_first_card(reading, clean(models.strip().partition("\n")[0]))
    _read_instances(reading, parts.cards)


def _read_first_card(reading: Reading, written: str) -> None:
    """Builds for ROCm name the first card only, with what kernels are built for it: `AMD Radeon (gfx1100)`."""
    match = re.fullmatch(r"(.{1,200}?)\s*(?:\((gfx[\w:+-]{3,40})\)|NoGCNArchNameOnOldPyTorch)?", written)
    if not match or not re.search(r"[A-Za-z]{2}", match[1]):
        return
    is_amd = bool(match[2]) or vendor_of(match[1]) == "amd"
    target = match[2].partition(":")[0] if match[2] else None
    add_listed_card(reading, 0, match[1], _TOOL, "amd" if is_amd else "", gfx_target=target)


def _read_instances(reading: Reading, lines: list[str]) -> None:
    """MIG instances stand under their card: cards of their own, numbered after the whole ones."""
    parent = None
    whole = {card.index: card for card in reading.cards}
    for line in lines:
        match, instance = _CARD.match(line), _INSTANCE.match(line)
        parent = whole.get(int(match[1])) if match else parent
        if instance and parent and len(reading.cards) < LIMITS.cards:
            number = max(card.index for card in reading.cards) + 1
            name = f"{parent.reported_name} MIG {instance[1]}"
            card = CardReading(index=number, kind="gpu", vendor=parent.vendor, reported_name=name)
            card.sheet.state("mig_parent_index", parent.index)
            card.sheet.state("mig_profile", instance[1])
            reading.cards.append(card.card())


def _read_processor(reading: Reading, lines: list[str]) -> None:
    """What lscpu prints; on a Mac the chip's name alone; on Windows a list, with "=" or ":" between name and value."""
    named = next((match[1] for line in lines if (match := re.match(r"Name\s*[:=]\s*(.+)$", line))), None)
    if named:
        reading.sheet.state("cpu.model", named)
    elif lines and ":" not in lines[0] and is_given(lines[0]) and reading.facts.get("os.name") == "macOS":
        reading.sheet.state("cpu.model", lines[0])
        reading.sheet.state("apple.chip", lines[0] if lines[0].startswith("Apple ") else None)
    read_processor(reading, lines)


def _read_packages(reading: Reading, lines: list[str]) -> None:
    # conda's own torch is listed by pip too: of the two, conda's line says who installed it.
    for line in sorted(lines, key=lambda line: not _CONDA_TORCH.match(line)):
        match = _PACKAGE.match(line)
        component = component_of(match[2]) if match else None
        if match and component and match[3][0].isdigit():
            kind = "pip" if line.rstrip().endswith(" pypi") else match[1].rstrip("3")
            version = version_with_build(match[2], match[3])
            reading.add_software(component, version, f"collect_env, packages of {kind}")


def _read_variables(reading: Reading, variables: dict[str, str]) -> None:
    """What vLLM prints of the environment. Home folders in paths are masked, UUIDs left out."""
    path = variables.get("LD_LIBRARY_PATH")
    reading.sheet.state("env.ld_library_path", without_homes(path) if path else None)
    visible = variables.get("CUDA_VISIBLE_DEVICES")
    reading.sheet.state("cuda.visible_devices", re.sub(r"(?:GPU|MIG)-[\w-]+", "<uuid>", visible) if visible else None)
    reading.sheet.state("rocm.gfx_override", variables.get("HSA_OVERRIDE_GFX_VERSION"))
    if variables.get("KUBERNETES_SERVICE_HOST"):
        reading.sheet.state("machine.container", "kubernetes")
    elif "docker" in variables.get("VLLM_USAGE_SOURCE", ""):
        reading.sheet.state("machine.container", "docker")


def _take_container(reading: Reading, text: str) -> None:
    """The command above the report says whether it ran inside one: `podman exec -it name vllm collect-env`."""
    command = re.search(r"\b(docker|podman|kubectl)\b[^\n]{0,200}collect[_-]env", text[:2000])
    if command:
        kind = {"kubectl": "kubernetes"}.get(command[1], command[1])
        reading.sheet.facts.pop("machine.container", None)
        reading.sheet.state("machine.container", kind)


IMPORTER = Importer(
    kind=KIND,
    tool="python -m torch.utils.collect_env",
    tells="torch, CUDA, ROCm or XPU, system, cards, processor, packages; layouts of torch 0.4 to 2.15",
    trust=60,
    find=find_collect_env,
    marks=(*_COMMON, *_SPECIFIC),
    read=read_collect_env,
    command=r"(?:python3?|uv run python3?) -m torch\.",
)
VLLM_IMPORTER = Importer(
    kind=VLLM_KIND,
    tool="vllm collect-env",
    tells="what collect_env tells, in sections, and vLLM's version, environment variables, container",
    trust=58,
    find=find_vllm_env,
    marks=("vLLM Version",),
    read=read_vllm_env,
    command="vllm collect-env",
)
