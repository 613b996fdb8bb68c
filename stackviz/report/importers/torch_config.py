"""`torch.__config__.show()`: what torch was built with. Also inside reports of MMEngine and detectron2.

Format: aten/src/ATen/Context.cpp and torch/csrc/Module.cpp of PyTorch.
"""

import re

from stackviz.report.importers.blocks import blocks_after
from stackviz.report.importers.importer import Importer, Span
from stackviz.report.importers.reading import Reading
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
