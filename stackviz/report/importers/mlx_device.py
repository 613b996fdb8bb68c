"""`mx.metal.device_info()` of MLX -> the chip of a Mac and its memory.

Format: https://ml-explore.github.io/mlx/build/html/python/_autosummary/mlx.core.metal.device_info.html.
"""

import re

from stackviz.report.importers.importer import Importer, Span
from stackviz.report.importers.reading import CardReading, Reading

__all__ = ["IMPORTER"]

KIND = "mlx-device"

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
    reading = Reading(kind=KIND)
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


IMPORTER = Importer(
    kind=KIND,
    tool="mx.metal.device_info()",
    tells="the chip of a Mac, its memory and how much of it the GPU should use",
    trust=63,
    find=find_mlx_device,
    read=read_mlx_device,
    command=r"(?:import mlx|mx\.)",
)
