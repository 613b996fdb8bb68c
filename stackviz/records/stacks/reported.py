"""A report as a column of the stack diagram: the described stack with the reported components.

Pure: uploaded, pasted and planned machines all come as reports; no database.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from django.utils.translation import gettext as _

from stackviz.base.units import format_count, format_counts, quantity_label
from stackviz.draw.diagrams.boxes import Box, ReportedComponent, StackColumn, copy_with
from stackviz.draw.diagrams.columns import machine_column
from stackviz.draw.diagrams.layers import Layer, State
from stackviz.records.stacks.architectures import architectures_of_cards
from stackviz.records.stacks.limits import drop_impossible
from stackviz.records.stacks.requirements import DescribedColumn, RuleFindingLike, reported_needs
from stackviz.report import format as wire
from stackviz.report.format.systems import family
from stackviz.report.messages import BY_KEY
from stackviz.report.messages.named_programs import PROGRAMS_BY_KEY


class SheetLike(Protocol):
    @property
    def name(self) -> str: ...
    def get_absolute_url(self) -> str: ...


def stack_slug(facts: Mapping[str, Any], card_vendors: Iterable[str]) -> str:
    """Slug of the described stack of a machine: by its cards, then its system; "cpu" for the rest."""
    vendors = set(card_vendors) or _vendors_of_messages(facts)
    is_mac, is_windows = family(facts) == "macos", family(facts) == "windows"
    if "nvidia" in vendors or (not vendors and _mentions_nvidia(facts)):
        return _nvidia_stack(facts, is_windows=is_windows)
    if "apple" in vendors or (is_mac and _has_apple_chip(facts)):
        return "apple-metal"
    for vendor, slug in _STACKS_OF_VENDORS:
        if vendor in vendors and not is_mac:
            return _STACKS_ON_WINDOWS.get(vendor, "cpu") if is_windows else slug
    return "cpu"


# The first entry wins where a machine has cards of several vendors.
_STACKS_OF_VENDORS = (
    ("amd", "amd-rocm"),
    ("huawei", "huawei-cann"),
    ("google", "google-tpu"),
    ("aws", "aws-neuron"),
    ("intel", "intel-xpu"),
)
_STACKS_ON_WINDOWS = {"amd": "amd-rocm-windows", "intel": "intel-xpu-windows"}
# Part of a machine's model -> the stack of that machine alone.
_STACKS_OF_BOARDS = (("jetson", "nvidia-jetson"), ("dgx spark", "nvidia-dgx-spark"))


_VENDORS_OF_COMPONENTS = {
    "nvidia": frozenset(
        {"nvidia-driver", "cuda-runtime", "cuda-driver-api", "cuda-toolkit", "cudnn", "cublas", "nccl"}
    ),
    "amd": frozenset({"rocm", "amdgpu-driver"}),
    "apple": frozenset({"mps", "metal", "mlx"}),
}


def _vendors_of_messages(facts: Mapping[str, Any]) -> set[str]:
    """Whose stack the errors of a text are of, where it lists no card: an error of CUDA is none of a plain CPU.

    Where it names no system either, asking for a device is as good.
    """
    symptoms = (BY_KEY[key] for key in str(facts.get("message.symptoms") or "").split() if key in BY_KEY)
    components = {symptom.component for symptom in symptoms}
    if program := PROGRAMS_BY_KEY.get(str(facts.get("message.program"))):
        components.add(program.component)
    if not facts.get("os.name"):
        components |= {"cuda-runtime"} if facts.get("cuda.available") is not None else set()
        components |= {"mps"} if facts.get("mps.available") else set()
    is_mac, is_known = family(facts) == "macos", bool(family(facts))
    named = [vendor for vendor, of_vendor in _VENDORS_OF_COMPONENTS.items() if components & of_vendor]
    return set([vendor for vendor in named if not is_known or (vendor == "apple") == is_mac][:1])


def _mentions_nvidia(facts: Mapping[str, Any]) -> bool:
    """Whether an NVIDIA driver was reported, or its tools failed: a machine with an inaccessible card."""
    return bool(facts.get("nvidia.driver_version") or facts.get("nvidia.nvml_error"))


def _has_apple_chip(facts: Mapping[str, Any]) -> bool:
    """Whether any fact indicates it: an x86-64 Python on such a Mac still reports the chip or processor by name."""
    archs = (facts.get("os.arch"), facts.get("python.arch"))
    model = str(facts.get("cpu.model") or "").casefold()
    return bool(facts.get("apple.chip")) or "arm64" in archs or model.startswith("apple")


def _nvidia_stack(facts: Mapping[str, Any], *, is_windows: bool) -> str:
    if is_windows:
        return "nvidia-windows"
    return "nvidia-wsl2" if facts.get("os.wsl") else _stack_of_board(facts)


def _stack_of_board(facts: Mapping[str, Any]) -> str:
    """By the model of the machine, or the kernel and release of Jetson Linux."""
    if str(facts.get("os.build") or "").startswith("L4T") or "tegra" in str(facts.get("os.kernel") or ""):
        return "nvidia-jetson"
    model = str(facts.get("machine.model") or "").casefold().replace("_", " ")
    return next((stack for part, stack in _STACKS_OF_BOARDS if part in model), "nvidia-cuda")


def reported_column(
    report: wire.Report,
    described: StackColumn,
    sheets: Sequence[SheetLike | None],
    findings: Sequence[RuleFindingLike],
    *,
    key: str,
    title: str,
    subtitle: str = "",
    url: str = "",
    printed: bool = False,
    is_brief: bool = False,
) -> StackColumn:
    """`described`: the column of the stack that `stack_slug` returns; `sheets`: one per card, None for none.

    `printed`: memory sizes are those of a data sheet (32 GB), not reported ones (31.8 GiB).
    `is_brief`: boxes do not list what their releases require.
    """
    components = _components(report)
    hardware = [
        *_card_boxes(report.cards, sheets, printed=printed),
        *_processor(report.facts),
        *_memory(report.facts, report.cards, printed=printed),
    ]
    reported = [item.component for item in components]
    base = _with_toolkit(drop_impossible(described, _known(report, components), reported), components)
    column = machine_column(base, components=components, hardware=hardware, findings=findings)
    column = copy_with(column, key=key, title=title, subtitle=subtitle, url=url)
    if not isinstance(column, DescribedColumn):
        return _mark_not_installed(column, report)
    stated = (card.facts.get("compute_capability") for card in report.cards)
    capabilities = [str(capability) for capability in stated if capability]
    column = reported_needs(column.plain(), column.demands, report.facts, capabilities, findings, is_brief=is_brief)
    return _mark_not_installed(column, report)


def _known(report: wire.Report, components: Sequence[ReportedComponent]) -> dict[str, Sequence[str]]:
    """What decides which components there can be: the releases drawn, and the architectures of the cards."""
    releases = {item.component: (item.version or "",) for item in components}
    return {**releases, **architectures_of_cards(report.cards)}


def _components(report: wire.Report) -> list[ReportedComponent]:
    """The reported software, last the torch that was imported: of several, the drawing shows that one."""
    software = [ReportedComponent(item.component, item.version, item.found_by) for item in report.software]
    runs = report.facts.get("torch.version")
    return [*software, *(item for item in software if item.component == "pytorch" and item.version == runs)]


def _with_toolkit(described: StackColumn, components: Sequence[ReportedComponent]) -> StackColumn:
    """The column with boxes of the CUDA toolkit, on any stack, if it was reported."""
    toolkit = {box.component for box in _TOOLKIT}
    if not any(item.component == "cuda-toolkit" for item in components):
        return described
    if any(box.component == "cuda-toolkit" and box.state != State.ABSENT for box in described.boxes):
        return described
    others = [box for box in described.boxes if box.component not in toolkit]
    return copy_with(described, boxes=(*others, *_TOOLKIT))


_TOOLKIT = (
    Box(component="cuda-toolkit", role="toolkit", layer=Layer.PLATFORM, name="CUDA toolkit"),
    Box(component="nvcc", role="toolkit", layer=Layer.PLATFORM, name="nvcc", part_of="cuda-toolkit"),
)
_INSTALLED = {
    "pytorch": "torch.version",
    "cuda-toolkit": "cuda.toolkit_version",
    "nvidia-driver": "nvidia.driver_version",
}


def _mark_not_installed(column: StackColumn, report: wire.Report) -> StackColumn:
    """Mark components that were probed for and not found as "not installed"."""
    return copy_with(column, boxes=tuple(_not_installed(box, report) for box in column.boxes))


def _not_installed(box: Box, report: wire.Report) -> Box:
    why = report.absent.get(_INSTALLED.get(box.component, ""))
    if why is None or why.reason != "not_installed" or box.state != State.UNKNOWN:
        return box
    return copy_with(box, name=box.name.split(" / ")[0], version=_("not installed"), state=State.REPORTED)


def _size(amount: float, *, printed: bool = False) -> str:
    return quantity_label(amount, "B", binary=not printed, digits=3)


def _card_boxes(cards: Sequence[wire.Card], sheets: Sequence[SheetLike | None], *, printed: bool) -> list[Box]:
    """One box for each kind of card: `8 × NVIDIA H100 80GB HBM3`."""
    alike: dict[tuple[str, int | None], list[tuple[wire.Card, SheetLike | None]]] = {}
    for card, sheet in zip(cards, sheets, strict=True):
        alike.setdefault((card.reported_name, card.memory_bytes), []).append((card, sheet))
    return [_card_box([card for card, _sheet in group], group[0][1], printed=printed) for group in alike.values()]


def _card_box(group: Sequence[wire.Card], sheet: SheetLike | None, *, printed: bool) -> Box:
    card = group[0]
    return Box(
        component="hardware",
        role="accelerator",
        layer=Layer.HARDWARE,
        name=format_count(card.reported_name, len(group)),
        version=_card_version(card, printed=printed),
        state=State.REPORTED,
        summary=_("Sold as %(name)s.") % {"name": sheet.name} if sheet else _("No spec sheet has this name yet."),
        url=sheet.get_absolute_url() if sheet else "",
        cards=tuple(card.index for card in group),
    )


def _card_version(card: wire.Card, *, printed: bool) -> str:
    """The memory of the card, and the compute capability that kernels are built for."""
    memory = _size(card.memory_bytes, printed=printed) if card.memory_bytes else ""
    capability = card.facts.get("compute_capability")
    family = card.facts.get("metal_family")
    built_for = f"sm_{str(capability).replace('.', '')}" if capability else str(family or "")
    return " · ".join(filter(None, (memory, built_for)))


def _processor(facts: Mapping[str, Any]) -> list[Box]:
    model, cores = facts.get("cpu.model"), facts.get("cpu.cores_logical")
    threads = _("%(count)s threads") % {"count": cores} if cores else ""
    return [_reported("processor", "processor", str(model), threads)] if model else []


def _has_memory(card: wire.Card) -> bool:
    """Of its own: an instance has a share of its card's."""
    is_whole = "mig_parent_index" not in card.facts
    return bool(card.memory_bytes) and is_whole and card.facts.get("unified_memory") is not True


def _memory(facts: Mapping[str, Any], cards: Sequence[wire.Card], *, printed: bool) -> list[Box]:
    """The memory of tensors: that of the cards and main memory, or unified memory."""
    total = facts.get("memory.total_bytes")
    main = _size(total) if total else ""
    if cards_with_memory := [card for card in cards if _has_memory(card)]:
        sizes = format_counts((_size(card.memory_bytes or 0, printed=printed) for card in cards_with_memory), " + ")
        boxes = [_reported("device-memory", "memory", _("Device memory"), sizes)]
        return boxes + ([_reported("main-memory", "host-memory", _("Main memory"), main)] if main else [])
    if not main:
        return []
    if any(card.vendor == "apple" for card in cards):
        return [_reported("unified-memory", "memory", _("Unified memory"), main)]
    return [_reported("main-memory", "memory", _("Main memory"), main)]


def _reported(component: str, role: str, name: str, version: str) -> Box:
    return Box(component=component, role=role, layer=Layer.HARDWARE, name=name, version=version, state=State.REPORTED)
