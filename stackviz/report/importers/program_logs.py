"""What programs say of the machine when they start: ComfyUI, ollama, llama.cpp, unsloth, TensorFlow.

Formats: comfy/model_management.py and app/logger.py of ComfyUI, discover/types.go of ollama, ggml-cuda.cu of llama.cpp,
unsloth/models/_utils.py, gpu_device.cc of TensorFlow.
"""

import re

from stackviz.report.format import LIMITS
from stackviz.report.importers.env_report import add_listed_card, number_of_bytes, state_python
from stackviz.report.importers.importer import MOST_BLOCKS, Importer, Span, runs_of
from stackviz.report.importers.reading import CardReading, Reading, vendor_of
from stackviz.report.importers.tool_result import device_of_name, devices_in
from stackviz.report.importers.torch_facts import state_torch_version

__all__ = ["COMFYUI", "GGML", "NCCL", "OLLAMA", "TENSORFLOW", "UNSLOTH"]

# ---- ComfyUI: its log, and the block in its error reports -----------------------------------------------------------

_COMFY_LINE = re.compile(
    r"^[ \t*-]{0,12}(?:Total VRAM \d{1,7} MB|pytorch version: \d|xformers version: \d|Set vram state to: "
    r"|Device: (?:cuda|cpu|mps|xpu|privateuse)"
    r"|(?:\*\*)?(?:ComfyUI|Python|PyTorch|OS|Platform|Embedded Python|Arguments|Name|Type|VRAM Total|VRAM Free"
    r"|Torch VRAM Total"
    r"|Torch VRAM Free|Python version|ComfyUI version|ComfyUI frontend version|Platform|RAM Total|RAM Free"
    r"|ComfyUI Version"
    r"|Python Version|PyTorch Version)(?:\*\*)?:|(?:## )?(?:System Information|Devices)$|Using \w{3,12} attention"
    r"|VAE dtype"
    r"|Enabled pinned memory|Using async weight)[^\n]{0,400}$",
    re.MULTILINE,
)
_COMFY_MARKS = ("Total VRAM ", "ComfyUI Version", "Set vram state")
_COMFY_GAP = 1_500
_COMFY_CARD = re.compile(
    r"(?:Device: |\*\*Name:\*\* |Name: )(?P<kind>cuda"
    r"|xpu):(?P<index>\d{1,2}) (?P<name>[^\n:]{2,120}?)(?: : \w{2,40})?[ \t]*$",
    re.MULTILINE,
)


def find_comfyui(text: str) -> list[Span]:
    if not any(mark in text for mark in _COMFY_MARKS):
        return []
    spans: list[Span] = []
    for span in runs_of(_COMFY_LINE, text):
        if spans and span.start - spans[-1].end <= _COMFY_GAP:
            spans[-1] = Span(spans[-1].start, span.end)
        else:
            spans.append(span)
    return [span for span in spans if any(mark in text[span.start : span.end] for mark in _COMFY_MARKS)]


def read_comfyui(text: str) -> Reading:
    """Never raises. The VRAM that it states is of the first device."""
    reading, tool = Reading(kind="comfyui"), "ComfyUI"
    torch = re.search(r"pytorch version:(?:\*\*)? (\d\S{2,40})", text, re.IGNORECASE)
    if torch:
        state_torch_version(reading, torch[1], tool)
    xformers = re.search(r"xformers version: (\d\S{2,40})", text)
    if xformers:
        reading.add_software("xformers", xformers[1], tool)
    python = re.search(r"Python version:(?:\*\*)? ([^\n]{3,200})", text, re.IGNORECASE)
    if python:
        state_python(reading, python[1], tool)
    system = re.search(
        r"^[ \t*-]{0,12}(?:OS|Platform):(?:\*\*)? (nt|win32|windows|linux"
        r"|darwin)\b",
        text,
        re.IGNORECASE | re.MULTILINE,
    )
    is_windows = bool(python and "MSC v." in python[1])
    names = {"nt": "Windows", "win32": "Windows", "windows": "Windows", "linux": "Linux", "darwin": "macOS"}
    reading.sheet.state("os.name", names[system[1].lower()] if system else "Windows" if is_windows else None)
    _take_comfy_devices(reading, text, tool)
    ram = re.search(r"total RAM (\d{1,8}) MB", text)
    reading.sheet.state("memory.total_bytes", int(ram[1]) * 2**20 if ram else None)
    return reading


def _take_comfy_devices(reading: Reading, text: str, tool: str) -> None:
    total = re.search(r"Total VRAM (\d{1,7}) MB", text)
    bytes_listed = [int(size) for size in re.findall(r"(?<!Torch )VRAM Total:(?:\*\*)? (\d{6,15})", text)[:64]]
    for position, match in enumerate(list(_COMFY_CARD.finditer(text))[:64]):
        memory = bytes_listed[position] if position < len(bytes_listed) else None
        memory = memory or (int(total[1]) * 2**20 if total and not reading.cards else None)
        name = match["name"].strip()
        add_listed_card(reading, int(match["index"]), name, tool, memory_bytes=memory)
        if match["kind"] == "cuda":
            reading.sheet.state("cuda.available", value=True)
    if re.search(r"Device: mps\b|Name:(?:\*\*)? mps\b", text):
        reading.sheet.state("mps.available", value=True)
        reading.sheet.state("os.name", "macOS")


COMFYUI = Importer(
    kind="comfyui",
    tool="ComfyUI's log or error report",
    tells="torch, Python, the card with its memory, main memory",
    trust=44,
    find=find_comfyui,
    read=read_comfyui,
    command=r"python[\w.]{0,6} main\.py",
    lists_all_cards=False,
)

# ---- ollama ---------------------------------------------------------------------------------------------------------

_OLLAMA = re.compile(
    r'^[^\n]{0,200}?msg="?(?:inference compute|Listening on|amdgpu is|looking for compatible)[^\n]{0,900}$',
    re.MULTILINE,
)
_PAIR = re.compile(r'\b(\w{2,20})=(?:"([^"\n]{0,200})"|([^\s"]\S{0,200}))')


def find_ollama(text: str) -> list[Span]:
    if 'msg="inference compute"' not in text:
        return []
    hits = [Span(*match.span()) for match in _OLLAMA.finditer(text)][: MOST_BLOCKS * 4]
    return [Span(hits[0].start, hits[-1].end)] if hits else []


def read_ollama(text: str) -> Reading:
    """Never raises. Cards with library, compute capability and the CUDA that the driver serves; `cpu` is no card."""
    reading = Reading(kind="ollama-log")
    for line in [match[0] for match in _OLLAMA.finditer(text)][:256]:
        if "inference compute" in line:
            _take_ollama_card(reading, {key: quoted or bare for key, quoted, bare in _PAIR.findall(line)})
    return reading


def _take_ollama_card(reading: Reading, values: dict[str, str]) -> None:
    library = values.get("library", "").lower()
    name = values.get("description") or values.get("name") or ""
    driver = values.get("driver", "")
    if library.startswith("cuda") and re.fullmatch(r"\d{1,2}\.\d", driver):
        reading.sheet.state("cuda.driver_api_version", driver)
    if library.startswith("metal"):
        reading.sheet.state("os.name", "macOS")
    vendor = {"cuda": "nvidia", "rocm": "amd", "oneap": "intel"}.get(
        library.rstrip("0123456789_v")[:5], vendor_of(name)
    )
    if library == "cpu" or not re.search(r"[A-Za-z]{2}", name) or len(reading.cards) >= LIMITS.cards:
        return
    memory = number_of_bytes(values.get("total", ""))
    card = CardReading(index=len(reading.cards), kind="gpu", vendor=vendor, reported_name=name, memory_bytes=memory)
    compute = values.get("compute", "")
    card.sheet.state(
        "compute_capability", compute if vendor == "nvidia" and re.fullmatch(r"\d{1,2}\.\d", compute) else None
    )
    card.sheet.state("gfx_target", compute if compute.startswith("gfx") else None)
    reading.cards.append(card.card())


OLLAMA = Importer(
    kind="ollama-log",
    tool="ollama serve, its log",
    tells="cards with memory and compute capability, the CUDA that the driver serves",
    trust=38,
    find=find_ollama,
    read=read_ollama,
    command=r"(?:ollama\b|journalctl)",
)

# ---- llama.cpp without a table --------------------------------------------------------------------------------------

_GGML = re.compile(
    r"^[^\n]{0,80}?(?:ggml_cuda_init: (?:found|GGML)|ggml_vulkan: |ggml_metal\w{0,40}: |ggml_sycl"
    r"|  Device \d{1,3}: [^,\n]{2,120}, (?:compute|gfx)"
    r"|Available devices:|  (?:CUDA|Vulkan|MTL|ROCm|SYCL)\d{1,2}: [^\n(]{2,120} \(\d{1,8} MiB"
    r"|using device (?:CUDA|Vulkan|Metal|MTL|ROCm|SYCL)\d{0,2} \()[^\n]{0,300}$",
    re.MULTILINE,
)
_LISTED = re.compile(
    r"^[ \t]{1,4}(?:CUDA|Vulkan|MTL|ROCm"
    r"|SYCL)(\d{1,2}): ([^\n(]{2,120}?) \((\d{1,8}) MiB",
    re.MULTILINE,
)
_USING = re.compile(r"using device (CUDA|Vulkan|Metal|MTL|ROCm|SYCL)(\d{0,2}) \(([^)\n]{2,120})\)")


def find_ggml(text: str) -> list[Span]:
    if not any(mark in text for mark in ("ggml_", "Available devices:", "using device ")):
        return []
    spans: list[Span] = []
    for span in runs_of(_GGML, text):
        if spans and span.start - spans[-1].end <= _COMFY_GAP:
            spans[-1] = Span(spans[-1].start, span.end)
        else:
            spans.append(span)
    return [span for span in spans if read_ggml(text[span.start : span.end]).cards]


def read_ggml(text: str) -> Reading:
    """Never raises. Devices as the back ends name them."""
    reading = Reading(kind="llama-cpp-log")
    cards = devices_in(text)
    if not cards:
        for index, name, memory in _LISTED.findall(text)[:64]:
            card = device_of_name(int(index), name.strip())
            card.memory_bytes = int(memory) * 2**20 if card.vendor != "apple" else None
            cards.append(card)
    if not cards:
        cards = [device_of_name(int(index or 0), name.strip()) for _, index, name in _USING.findall(text)[:64]]
    indexes: set[int] = set()
    for card in cards:
        if card.index not in indexes and len(indexes) < LIMITS.cards:
            indexes.add(card.index)
            reading.cards.append(card.card())
    return reading


GGML = Importer(
    kind="llama-cpp-log",
    tool="llama.cpp, its log",
    tells="cards as its back ends name them",
    trust=32,
    find=find_ggml,
    read=read_ggml,
    answers=("llama-bench --list-devices",),
    command=r"(?:\S{0,80}/)?llama-[\w-]{2,30}",
    lists_all_cards=False,
    yields=True,
)

# ---- unsloth --------------------------------------------------------------------------------------------------------

_UNSLOTH = re.compile(
    r"^[^\n]{0,40}\bUnsloth \d{4}\.\d{1,2}[^\n]{0,200}\n[^\n]{0,240}\n[^\n]{0,240}(?:\n[^\n]{0,200}){0,2}",
    re.MULTILINE,
)


def find_unsloth(text: str) -> list[Span]:
    return [Span(*match.span()) for match in _UNSLOTH.finditer(text)][:8] if "Unsloth " in text else []


def read_unsloth(text: str) -> Reading:
    """Never raises. `CUDA: 7.5` is the card's compute capability there; `CUDA Toolkit` is torch's CUDA."""
    reading, tool = Reading(kind="unsloth"), "unsloth"
    torch = re.search(r"(?:Torch|Pytorch): (\d[\w.+-]{2,40}?)\.? ", text, re.IGNORECASE)
    if torch:
        state_torch_version(reading, torch[1].rstrip("."), tool)
    transformers = re.search(r"Transformers: (\d[\w.]{2,20})\.", text)
    if transformers:
        reading.add_software("transformers", transformers[1], tool)
    triton = re.search(r"Triton: (\d[\d.]{2,12}\d)", text)
    if triton:
        reading.add_software("triton", triton[1], tool)
    cuda = re.search(r"CUDA Toolkit[:=] ?(\d{1,2}\.\d)", text)
    reading.sheet.state("torch.cuda_version", cuda[1] if cuda else None)
    system = re.search(r"Platform[:=] ?(Linux|Windows|Darwin)", text, re.IGNORECASE)
    reading.sheet.state("os.name", system[1].title().replace("Darwin", "macOS") if system else None)
    card = re.search(
        r"[|\s]{2,}(?:GPU: )?([A-Z][\w -]{2,80})\. (?:Num GPUs = (\d{1,2}))?[^\n]{0,40}?"
        r"Max memory: (\d{1,4}\.\d{1,4}) GB",
        text,
    )
    capability = re.search(r"CUDA(?: capability)?[:=] ?(\d{1,2}\.\d)", text)
    if card:
        for index in range(min(int(card[2] or 1), LIMITS.cards)):
            add_listed_card(
                reading,
                index,
                card[1],
                tool,
                memory_bytes=int(float(card[3]) * 2**30),
                compute_capability=capability[1] if capability else None,
            )
    return reading


UNSLOTH = Importer(
    kind="unsloth",
    tool="unsloth's banner",
    tells="torch, the card with its memory, CUDA",
    trust=42,
    find=find_unsloth,
    read=read_unsloth,
    lists_all_cards=False,
)

# ---- TensorFlow -----------------------------------------------------------------------------------------------------

_TENSORFLOW = re.compile(
    r"^[^\n]{0,160}?Created (?:TensorFlow )?device [^\n]{0,120}?-> (?:physical GPU \()?"
    r"device: (?P<index>\d{1,3}), name: "
    r"(?P<name>[^\n,]{2,120}), pci bus id: (?P<bus>[0-9a-f:.]{7,20}), "
    r"compute capability: (?P<capability>\d{1,2}\.\d)[^\n]{0,80}$",
    re.MULTILINE,
)


def find_tensorflow(text: str) -> list[Span]:
    return runs_of(_TENSORFLOW, text) if "pci bus id: " in text else []


def read_tensorflow(text: str) -> Reading:
    """Never raises. The lines in which TensorFlow takes a card."""
    reading = Reading(kind="tensorflow-log")
    for match in list(_TENSORFLOW.finditer(text))[: LIMITS.cards]:
        add_listed_card(
            reading,
            int(match["index"]),
            match["name"].strip(),
            "TensorFlow",
            compute_capability=match["capability"],
        )
    return reading


TENSORFLOW = Importer(
    kind="tensorflow-log",
    tool="TensorFlow, its log",
    tells="cards with their compute capability",
    trust=34,
    find=find_tensorflow,
    read=read_tensorflow,
    lists_all_cards=False,
)

# ---- NCCL -----------------------------------------------------------------------------------------------------------

_NCCL = re.compile(
    r"^[^\n]{0,160}?(?:NCCL INFO )?(?:NCCL version (?P<version>\d\.\d{1,2}\.\d{1,2})\+cuda\d{1,2}\.\d"
    r"|Channel \d{1,3}(?:/\d{1,3})? : \d{1,5}\[[0-9a-f]{1,8}\] -> \d{1,5}\[[0-9a-f]{1,8}\](?: \[(?:send|receive)\])?"
    r" via (?P<transport>[A-Z][\w/]{2,30}))[^\n]{0,80}$",
    re.MULTILINE,
)
_NCCL_MARKS = ("NCCL version ", "] via ")


def find_nccl(text: str) -> list[Span]:
    """From the first such line to the last: those of several processes mix, and others stand between."""
    if not any(mark in text for mark in _NCCL_MARKS):
        return []
    first = last = _NCCL.search(text)
    if first is None or last is None:
        return []
    for last in _NCCL.finditer(text, first.end()):  # noqa: B007 - the last one counts
        pass
    return [Span(first.start(), last.end())]


def read_nccl(text: str) -> Reading:
    """Never raises. What NCCL prints with NCCL_DEBUG=VERSION or INFO: its version, and how cards are connected."""
    reading = Reading(kind="nccl-log")
    transports: dict[str, None] = {}
    for match in _NCCL.finditer(text):
        if match["version"]:
            reading.sheet.state("nccl.version", match["version"])
            reading.add_software("nccl", match["version"], "NCCL")
        elif len(transports) < _MOST_TRANSPORTS:
            transports.setdefault(match["transport"])
    reading.sheet.state("nccl.transports", " ".join(transports) or None)
    return reading


_MOST_TRANSPORTS = 16
NCCL = Importer(
    kind="nccl-log",
    tool="NCCL_DEBUG=INFO, a log",
    tells="the version of NCCL that runs, and over what it connects cards",
    trust=36,
    find=find_nccl,
    read=read_nccl,
    command=r"NCCL_DEBUG=",
    yields=True,
)
