"""Read what is printed from Python: `torch.__config__.show()` and `mx.metal.device_info()`.

The first is also inside reports of MMEngine and detectron2.
"""

import re

from stackviz.report.importers.importer import Importer, Span, blocks_after
from stackviz.report.importers.reading import CardReading, Reading
from stackviz.report.importers.torch_facts import state_torch_version

__all__ = ["IMPORTER"]

KIND = "torch-config"
_TOOL = "torch.__config__"

_HEAD = re.compile(r"^[^\n]{0,60}?PyTorch built with:[ \t]*$", re.MULTILINE)
_LINE = re.compile(r"[ \t]{0,40}- \S|[ \t]{8,60}\w")
_ARCHITECTURE = re.compile(r"code=(sm_\d{2,3}[a-z]?|compute_\d{2,3}[a-z]?)")


def find_torch_config(text: str) -> list[Span]:
    return blocks_after(_HEAD, _LINE, text, anchor="PyTorch built with:")


def read_torch_config(text: str) -> Reading:
    """Never raises. The flags that kernels were compiled with are the architectures torch carries code for."""
    reading = Reading(kind=KIND)
    settings = dict(re.findall(r"\b([A-Z][A-Z_]{3,30})=([^,\n]{0,60})", text[-8_000:]))
    version = settings.get("TORCH_VERSION", "").strip()
    cuda = re.search(r"CUDA Runtime (\d{1,2}\.\d{1,2})", text)
    if version[:1].isdigit():
        state_torch_version(reading, version, _TOOL)
    reading.sheet.state("torch.cuda_version", cuda[1] if cuda else settings.get("CUDA_VERSION") or None)
    if not cuda and settings.get("USE_CUDA", "").strip() in {"0", "OFF"}:
        reading.sheet.mark_missing("torch.cuda_version", "not_applicable", "torch is built with USE_CUDA=0")
    architectures = dict.fromkeys(_ARCHITECTURE.findall(text[:100_000]))
    reading.sheet.state("torch.arch_list", " ".join(architectures) or None)
    cudnn = settings.get("CUDNN_VERSION") or next(iter(re.findall(r"CuDNN (\d\.\d{1,2}(?:\.\d{1,2})?)\b", text)), None)
    if cudnn:
        reading.sheet.state("cudnn.version", cudnn)
        reading.add_software("cudnn", cudnn, _TOOL)
    capability = re.search(r"CPU capability usage: ([A-Z][A-Z0-9_ ]{2,20})", text)
    reading.sheet.state("torch.cpu_capability", capability[1].strip() if capability else None)
    return reading


IMPORTER = Importer(
    kind=KIND,
    tool="torch.__config__.show()",
    tells="what torch was built with, for which architectures",
    trust=54,
    find=find_torch_config,
    read=read_torch_config,
    yields=True,
)


MLX_DEVICE_KIND = "mlx-device"

_INFO = re.compile(
    r"\{[^{}\n]{0,600}['\"](?:max_recommended_working_set_size|max_buffer_length)['\"]: ?\d[^{}\n]{0,600}\}"
)
_PAIR = re.compile(r"['\"](\w{4,60})['\"]: ?(?:['\"]([^'\"\n]{1,120})['\"]|(\d{1,18}))")


def find_mlx_device(text: str) -> list[Span]:
    if "max_buffer_length" not in text and "max_recommended_working_set_size" not in text:
        return []
    return [Span(*match.span()) for match in list(_INFO.finditer(text))[:16]]


def read_mlx_device(text: str) -> Reading:
    """Never raises."""
    reading = Reading(kind=MLX_DEVICE_KIND)
    values = {name: written or number for name, written, number in _PAIR.findall(text)}
    reading.sheet.state("os.name", "macOS")
    reading.sheet.mark_missing("os.version", "not_reported", "MLX does not state it")
    memory = values.get("memory_size", "")
    reading.sheet.state("memory.total_bytes", int(memory) if memory.isdigit() else None)
    name = values.get("device_name", "")
    if name:
        reading.sheet.state("apple.chip", name if name.startswith("Apple ") else None)
        card = CardReading(index=0, kind="soc", vendor="apple", reported_name=name)
        card.sheet.state("unified_memory", value=True)
        card.sheet.mark_missing("memory_bytes", "not_applicable", "the GPU uses the machine's memory")
        card.sheet.mark_missing("gpu_cores", "not_reported", "MLX does not state it")
        working_set = values.get("max_recommended_working_set_size", "")
        card.sheet.state("recommended_max_memory_bytes", int(working_set) if working_set.isdigit() else None)
        reading.cards.append(card.card())
    return reading


MLX_DEVICE_IMPORTER = Importer(
    kind=MLX_DEVICE_KIND,
    tool="mx.metal.device_info()",
    tells="the chip of a Mac, its memory and how much of it the GPU should use",
    trust=63,
    find=find_mlx_device,
    read=read_mlx_device,
    command=r"(?:import mlx|mx\.)",
)
