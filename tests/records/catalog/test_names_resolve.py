"""Every name that a card, a Mac or a driver reports leads to its sheet, or is ambiguous with what would decide it.

The names are those of the curated files, and of the facts these were built from.
"""

import csv
import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from stackviz.records.catalog.files import AliasLine, Catalogue, read_catalogue
from stackviz.records.catalog.match import CardName, Match, match_cards

FACTS = Path(__file__).parents[2] / "fixtures" / "facts" / "card_names.csv"
NAME_FIELDS = ("nvml_name", "reported_name")
BYTES = {"GB": 2**30, "GiB": 2**30, "MiB": 2**20}  # cards of "80 GB" report binary sizes near 80 GiB

# Names of products that have no sheet of their own, and of several that nothing a card reports tells apart.
NEVER_ENOUGH = {
    "Tesla V100-PCIE-12GB": "12 GB variant",
    "NVIDIA A800-SXM4-40GB": "40 GB variant",
    "NVIDIA H800 NVL": "94 GB variant",
    "NVIDIA H20-3e": "141 GB of HBM3e",
    "NVIDIA H20 NVL16": "a variant of the H20",
    "NVIDIA GeForce GTX 1650": "the PCI device id decides",
}
# Names that the facts count to another product, which have a sheet of their own since.
SHEETS_SINCE = {
    "NVIDIA GeForce RTX 5090 D": "nvidia-geforce-rtx-5090-d",
    "NVIDIA RTX 4000 SFF Ada Generation": "nvidia-rtx-4000-sff-ada",
    "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition": "nvidia-rtx-pro-6000-blackwell-max-q",
}
# Names that cards of several memory sizes share, some of them without a sheet.
NEED_MEMORY = {
    "NVIDIA H100",
    "NVIDIA H800",
    "NVIDIA GeForce GTX 1050",
    "NVIDIA GeForce RTX 2060",
    "NVIDIA GeForce RTX 3050",
    "NVIDIA GeForce RTX 3050 Laptop GPU",
    "NVIDIA GeForce RTX 3060",
    "NVIDIA GeForce RTX 3080",
    "NVIDIA GeForce RTX 4060 Ti",
    "NVIDIA GeForce RTX 5060 Ti",
    "NVIDIA Tegra Orin (nvgpu)",
    "Orin (nvgpu)",
    "Xavier",
}


@cache
def curated_files() -> Catalogue:
    return read_catalogue()


def matched(*cards: CardName) -> list[Match]:
    return match_cards(cards)


def slug_of(match: Match) -> str:
    return match.accelerator.slug if match.accelerator else ""


# --- the curated files ---


def card_of(line: AliasLine) -> CardName:
    """What a card of this line reports: its name, with the memory size or core count the line asks for."""
    memory = round(float(line.memory_gb) * 2**30) if line.memory_gb else None
    return CardName(line.name, memory_bytes=memory, gpu_cores=int(line.gpu_cores) if line.gpu_cores else None)


def test_every_curated_name_leads_to_its_sheet(curated, db):
    lines = [line for line in curated_files().aliases if line.kind != "undecided"]
    found = matched(*(card_of(line) for line in lines))
    wrong = {
        line.name: slug_of(match) for line, match in zip(lines, found, strict=True) if slug_of(match) != line.device
    }
    assert len(lines) > 250
    assert wrong == {}
    undecided = [line for line in curated_files().aliases if line.kind == "undecided"]
    assert [match.needs for match in matched(*map(card_of, undecided))] == [line.note for line in undecided]


def test_ambiguous_names_say_what_would_decide(curated, db):
    lines = curated_files().aliases
    open_ones = {
        line.name: match.needs
        for line, match in zip(lines, matched(*(CardName(line.name) for line in lines)), strict=True)
        if match.accelerator is None
    }
    assert {name for name, needs in open_ones.items() if not needs} == set()
    assert {
        name: needs for name, needs in open_ones.items() if name in NEVER_ENOUGH and NEVER_ENOUGH[name] not in needs
    } == {}
    assert {name for name, needs in open_ones.items() if needs == "the memory size"} == NEED_MEMORY
    chips = {name for name, needs in open_ones.items() if needs == "the number of GPU cores"}
    assert chips == open_ones.keys() - NEED_MEMORY - NEVER_ENOUGH.keys()
    assert all(re.fullmatch(r"Apple M\d.*|[A-Za-z]+\d+,\d+", name) for name in chips)


# --- the facts ---


@dataclass(frozen=True, slots=True)
class Reported:
    """One name of the facts: of which device, and what the facts say of its size."""

    device: str
    name: str
    gpu_cores: int | None = None


# How `system_profiler` prints a chip, as two rows quote it whole.
_PROFILED = re.compile(
    r"(?:sppci_model=|Chipset Model: )(?P<name>Apple M\d(?: \w+)?).*?(?:sppci_cores=|Cores: )(?P<cores>\d+)"
)


@pytest.fixture(scope="module")
def facts() -> list[dict[str, str]]:
    """Names and memory sizes of accelerators, as the gathered facts print them."""
    with FACTS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def reported(facts) -> list[Reported]:
    return list({_reported(row): None for row in facts if row["field"] in NAME_FIELDS})


def _reported(row: dict[str, str]) -> Reported:
    profiled = _PROFILED.match(row["value"])
    if profiled:
        return Reported(row["device_slug"], profiled["name"], int(profiled["cores"]))
    return Reported(SHEETS_SINCE.get(row["value"], row["device_slug"]), row["value"])


@pytest.fixture(scope="module")
def memories(facts) -> dict[str, set[int]]:
    """Bytes that a card of each device may report, by the memory sizes the facts print."""
    found: dict[str, set[int]] = defaultdict(set)
    for row in facts:
        if row["field"] == "memory_gb" and row["unit"] in BYTES and re.fullmatch(r"[\d.]+", row["value"]):
            found[row["device_slug"]].add(round(float(row["value"]) * BYTES[row["unit"]]))
    return found


def sheets_of(device: str) -> set[str]:
    """The sheets a device of the facts became: itself, or the variants of an Apple chip."""
    lines = curated_files().accelerators
    return {line.slug for line in lines if device in (line.slug, line.family) or line.slug == f"apple-{device}"}


def test_every_device_of_the_facts_that_has_a_name_has_a_sheet(reported):
    assert len(reported) > 200
    assert {one.device for one in reported if not sheets_of(one.device)} == set()


def test_fact_names_resolve_or_explain(curated, db, reported):
    """By the name alone."""
    wrong = {}
    for one, match in zip(reported, matched(*(CardName(r.name, gpu_cores=r.gpu_cores) for r in reported)), strict=True):
        if match.accelerator is None and match.how == "ambiguous" and _is_known_open(one.name, match.needs):
            continue
        if slug_of(match) not in sheets_of(one.device):
            wrong[one.name] = (one.device, slug_of(match), match.how, match.needs)
    assert wrong == {}


def _is_known_open(name: str, needs: str) -> bool:
    if name in NEVER_ENOUGH:
        return NEVER_ENOUGH[name] in needs
    return needs == ("the memory size" if name in NEED_MEMORY else "the number of GPU cores")


def test_card_names_resolve_with_memory(curated, db, reported, memories):
    """Of a name that several sizes share, the size decides; the others stay with their sheet whatever it says."""
    cards = [
        (one, size)
        for one in reported
        for size in memories[one.device]
        if one.name not in NEVER_ENOUGH and not one.name.startswith("Apple") and "," not in one.name
    ]
    found = matched(*(CardName(one.name, memory_bytes=size) for one, size in cards))
    wrong = {
        (one.name, size / 2**30): slug_of(match) or match.needs
        for (one, size), match in zip(cards, found, strict=True)
        if slug_of(match) != one.device
    }
    assert len(cards) > 100
    assert wrong == {}


def test_apple_names_resolve_with_core_count(curated, db, reported):
    """Chip and core count choose the sheet, and so do model of the Mac and core count."""
    cores = {line.device: int(line.value) for line in curated_files().specs if line.field == "gpu_cores"}
    sold: dict[str, set[str]] = defaultdict(set)
    for line in curated_files().aliases:
        sold[line.name].add(line.device)
    cards = [
        (one, slug)
        for one in reported
        if "," in one.name or one.name.startswith("Apple M")
        for slug in sorted(sold[one.name])
    ]
    found = matched(*(CardName(one.name, "apple", gpu_cores=cores[slug]) for one, slug in cards))
    wrong = {
        (one.name, cores[slug]): slug_of(match) or match.needs
        for (one, slug), match in zip(cards, found, strict=True)
        if slug_of(match) != slug
    }
    assert len(cards) > 80
    assert wrong == {}
