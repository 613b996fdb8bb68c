"""Shared by importers of benchmarks: the devices that llama.cpp's back ends print, and adding a result to a reading."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from stackviz.report.format import LIMITS, Result, Scalar
from stackviz.report.importers.reading import CardReading, Reading, clean, vendor_of
from stackviz.report.measuring.benchmark import Benchmark

__all__ = ["add_result", "device_label", "device_of_name", "devices_in", "split_names"]

_CUDA = re.compile(
    r"\bDevice (\d{1,3}): ([^,\n]{2,120}), (?:compute capability (\d{1,2}\.\d{1,2})|(gfx[0-9a-f]{3,5}))([^\n]{0,200})"
)
_VULKAN = re.compile(r"\b(?:ggml_vulkan: (\d{1,3}) = |Vulkan(\d{1,3}): )([^|\n]{2,160})\|([^\n]{0,300})")
_METAL = re.compile(r"\bggml_metal\w{0,40}: (?:GPU name|found device|picking default device): {1,8}([^\n]{2,80})")
_METAL_MEMORY = re.compile(r"recommendedMaxWorkingSetSize\s{0,4}= {1,4}(\d{1,8}\.\d{1,4}) MB")
_SYCL = re.compile(r"\[(?:level_zero|opencl):gpu:(\d{1,3})\]\s{0,10}\|\s{0,10}([^|\n]{3,100})\|")
_MEMORY = re.compile(r"\bVRAM: (\d{1,8}) MiB")
_NO_NAME = re.compile(r"(?:MTL|CUDA|Vulkan|GPU)\d*")


def devices_in(text: str) -> list[CardReading]:
    """The devices that the lines before a table name, at most LIMITS.cards; none where no line does."""
    devices = [*_cuda(text), *_vulkan(text), *_sycl(text)] or _metal(text)
    unique: dict[int, CardReading] = {}
    for card in devices:
        if len(unique) < LIMITS.cards:
            unique.setdefault(card.index, card)
    return list(unique.values())


def device_of_name(index: int, name: str) -> CardReading:
    """A device of which only the name is known."""
    vendor = vendor_of(name)
    card = CardReading(index=index, kind="gpu", vendor=vendor, reported_name=name)
    if vendor == "apple":
        card.sheet.state("unified_memory", value=True)
        card.sheet.mark_missing("memory_bytes", "not_applicable", "it computes in main memory")
    else:
        card.sheet.mark_missing("memory_bytes", "not_reported", "llama-bench does not state it")
    return card


def split_names(listed: str) -> list[str]:
    """`gpu_info` of the JSON and CSV layouts: names with commas between them."""
    names = [clean(_bare(part), LIMITS.name_chars) for part in listed[: LIMITS.string_chars].split(",")]
    return [name for name in names if name][: LIMITS.cards]


def device_label(names: Sequence[str], *, count_one: bool) -> str:
    """`NVIDIA GeForce RTX 4090 x8`; `count_one`: a lone one reads `... x1`."""
    counted = Counter(names).items()
    parts = (f"{name} x{count}" if count > 1 or count_one else name for name, count in counted)
    return clean(" + ".join(parts), LIMITS.name_chars)


def _bare(name: str) -> str:
    """Without the driver that Vulkan puts behind it in parentheses: `AMD Radeon 8060S Graphics (radv)`."""
    return re.sub(r"(?:\s*\([^()]{0,80}\))+\s*$", "", name).strip()


def _cuda(text: str) -> Iterable[CardReading]:
    for match in _CUDA.finditer(text):
        card = device_of_name(int(match[1]), match[2].strip())
        card.sheet.state("compute_capability", match[3] if card.vendor == "nvidia" else None)
        card.sheet.state("gfx_target", match[4])
        memory = _MEMORY.search(match[5])
        if memory and int(memory[1]):
            card.memory_bytes = int(memory[1]) * 2**20
            card.sheet.absent.pop("memory_bytes", None)
        yield card


def _vulkan(text: str) -> Iterable[CardReading]:
    for match in _VULKAN.finditer(text):
        card = device_of_name(int(match[1] or match[2]), _bare(match[3]))
        if "uma: 1" in match[4]:
            card.sheet.state("unified_memory", value=True)
        yield card


def _sycl(text: str) -> Iterable[CardReading]:
    for match in _SYCL.finditer(text):
        yield device_of_name(int(match[1]), match[2].strip())


def _metal(text: str) -> list[CardReading]:
    names = [name for name in map(str.strip, _METAL.findall(text)) if name and not _NO_NAME.fullmatch(name)]
    if not names:
        return []
    card = device_of_name(0, _bare(names[0]))
    memory = _METAL_MEMORY.search(text)
    card.sheet.state("recommended_max_memory_bytes", int(float(memory[1]) * 1e6) if memory else None)
    return [card]


def add_result(
    reading: Reading,
    benchmark: Benchmark,
    params: Mapping[str, Scalar],
    sample: float | None,
    *,
    device: str = "",
    cards: Sequence[int] = (),
    names: Sequence[str] = (),
    conditions: Mapping[str, Scalar] | None = None,
    why: str = "",
) -> None:
    """Note one figure, the mean or median of several runs.

    `cards`: indexes of the reading's cards that took part; `names`: what they are called, which is the device unless
    `device` says. `sample` None, not above 0, or beyond what a report holds: a failed run, for the reason `why`.
    """
    if len(reading.results) >= LIMITS.results:
        return
    samples = (sample,) if sample is not None and 0 < sample <= LIMITS.number_max else ()
    reading.results.append(
        Result(
            benchmark=benchmark.key,
            version=benchmark.version,
            device=device or device_label(names, count_one=False) or "not in the text",
            card=cards[0] if len(cards) == 1 else None,
            cards=tuple(cards) if len(cards) > 1 else (),
            params=dict(params),
            state="ok" if samples else "failed",
            reason=None if samples else why or "it states no figure",
            unit=benchmark.sample_unit,
            samples=samples,
            started_at=None,
            duration_s=None,
            conditions={**({"mean_of_runs": True} if samples else {}), **(conditions or {})},
            framework="other",
        )
    )
