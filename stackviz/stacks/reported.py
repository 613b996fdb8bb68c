"""What a machine reported, as a column of the stack diagram: the stack it runs, filled with what was found on it.

Pure: takes anything shaped like a snapshot and its cards (the rooms above hand in theirs), asks no database.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from django.utils.translation import gettext as _

from stackviz.diagrams.boxes import Box, Column, Found, machine_column
from stackviz.diagrams.layers import Layer, State
from stackviz.stacks.needs import DescribedColumn, FindingLike, reported_needs
from stackviz.units import format_quantity
from stackviz.wire.systems import family


class SheetLike(Protocol):
    @property
    def name(self) -> str: ...
    def get_absolute_url(self) -> str: ...


class CardLike(Protocol):
    """A reported card. `public_sheet` is its sheet, None when its name is in no sheet."""

    @property
    def vendor(self) -> str: ...
    @property
    def reported_name(self) -> str: ...
    @property
    def memory_bytes(self) -> int | None: ...
    @property
    def facts(self) -> Mapping[str, Any]: ...
    @property
    def public_sheet(self) -> SheetLike | None: ...


class SnapshotLike(Protocol):
    @property
    def facts(self) -> Mapping[str, Any]: ...
    @property
    def software(self) -> Sequence[Mapping[str, Any]]: ...


def stack_slug(facts: Mapping[str, Any], card_vendors: Iterable[str]) -> str:
    """Which described stack a machine runs: by its cards first, then its system. The plain CPU stack fits the rest."""
    vendors = set(card_vendors)
    is_mac, is_windows = family(facts) == "macos", family(facts) == "windows"
    if "nvidia" in vendors:
        return _nvidia_stack(facts, is_windows=is_windows)
    if "apple" in vendors or (is_mac and _has_apple_chip(facts)):
        return "apple-metal"
    for vendor, slug in _STACKS_OF_VENDORS:
        if vendor in vendors and not is_mac and not (is_windows and vendor != "intel"):
            return slug
    return "cpu"


# What stands first wins where a machine has cards of several makers.
_STACKS_OF_VENDORS = (
    ("amd", "amd-rocm"),
    ("huawei", "huawei-cann"),
    ("google", "google-tpu"),
    ("intel", "intel-xpu"),
)


def _has_apple_chip(facts: Mapping[str, Any]) -> bool:
    """Whatever tells it: an Intel Python on such a Mac still reports the chip or the processor by name."""
    archs = (facts.get("os.arch"), facts.get("python.arch"))
    model = str(facts.get("cpu.model") or "").casefold()
    return bool(facts.get("apple.chip")) or "arm64" in archs or model.startswith("apple")


def _nvidia_stack(facts: Mapping[str, Any], *, is_windows: bool) -> str:
    if is_windows:
        return "nvidia-windows"
    return "nvidia-wsl2" if facts.get("os.wsl") else "nvidia-cuda"


def reported_column(
    key: str,
    title: str,
    subtitle: str,
    url: str,
    described: Column,
    snapshot: SnapshotLike,
    cards: Sequence[CardLike],
    findings: Sequence[FindingLike],
) -> Column:
    """`described` is the column of the stack `stack_slug` names."""
    found = [
        Found(str(item.get("component", "")), item.get("version"), str(item.get("found_by") or ""))
        for item in snapshot.software
    ]
    hardware = [*_card_boxes(cards), *_processor(snapshot.facts), *_memory(snapshot.facts, cards)]
    column = machine_column(key, title, subtitle, url, described, found, hardware, findings)
    if not isinstance(column, DescribedColumn):
        return column
    capabilities = [str(card.facts["compute_capability"]) for card in cards if card.facts.get("compute_capability")]
    return reported_needs(column.plain(), column.demands, snapshot.facts, capabilities, findings)


def _card_boxes(cards: Sequence[CardLike]) -> list[Box]:
    """One box for each kind of card: `8 × NVIDIA H100 80GB HBM3`."""
    alike: dict[tuple[str, int | None], list[CardLike]] = {}
    for card in cards:
        alike.setdefault((card.reported_name, card.memory_bytes), []).append(card)
    return [_card_box(group) for group in alike.values()]


def _card_box(group: Sequence[CardLike]) -> Box:
    card = group[0]
    count = f"{len(group)} × " if len(group) > 1 else ""
    sheet = card.public_sheet
    return Box(
        component="hardware",
        role="accelerator",
        layer=Layer.HARDWARE,
        name=count + card.reported_name,
        version=_card_version(card),
        state=State.REPORTED,
        summary=_("Sold as %(name)s.") % {"name": sheet.name} if sheet else _("This name is in no spec sheet yet."),
        url=sheet.get_absolute_url() if sheet else "",
    )


def _card_version(card: CardLike) -> str:
    """What tells the card apart at a glance: its memory, and what kernels are built for."""
    memory = format_quantity(card.memory_bytes, "B", binary=True, digits=3).label if card.memory_bytes else ""
    capability = card.facts.get("compute_capability")
    family = card.facts.get("metal_family")
    built_for = f"sm_{str(capability).replace('.', '')}" if capability else str(family or "")
    return " · ".join(filter(None, (memory, built_for)))


def _processor(facts: Mapping[str, Any]) -> list[Box]:
    model, cores = facts.get("cpu.model"), facts.get("cpu.cores_logical")
    threads = _("%(count)s threads") % {"count": cores} if cores else ""
    return [_reported("processor", "processor", str(model), threads)] if model else []


def _memory(facts: Mapping[str, Any], cards: Sequence[CardLike]) -> list[Box]:
    """The memory tensors live in: the cards' own, with main memory beside it, or else the machine's only one."""
    total = facts.get("memory.total_bytes")
    main = format_quantity(total, "B", binary=True, digits=3).label if total else ""
    if own := [card for card in cards if card.memory_bytes and card.facts.get("unified_memory") is not True]:
        sizes = Counter(format_quantity(card.memory_bytes or 0, "B", binary=True, digits=3).label for card in own)
        said = " + ".join(f"{count} × {size}" if count > 1 else size for size, count in sizes.items())
        boxes = [_reported("device-memory", "memory", _("Device memory"), said)]
        return boxes + ([_reported("main-memory", "host-memory", _("Main memory"), main)] if main else [])
    if not main:
        return []
    if any(card.vendor == "apple" for card in cards):
        return [_reported("unified-memory", "memory", _("Unified memory"), main)]
    return [_reported("main-memory", "memory", _("Main memory"), main)]


def _reported(component: str, role: str, name: str, version: str) -> Box:
    return Box(component, role, Layer.HARDWARE, name, version, State.REPORTED)
