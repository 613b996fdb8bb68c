"""Readings of one machine -> one reading."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import zip_longest

from stackviz.report.dumps.agreement import same_card, same_version
from stackviz.report.dumps.card_series import merged_series, with_series
from stackviz.report.format import LIMITS, Card, Result, Scalar, Software
from stackviz.report.format.systems import cuda_of, family, is_cpu_build
from stackviz.report.importers import BY_KIND, Reading
from stackviz.report.importers.reading import UNNAMED, CardReading
from stackviz.report.messages import BETWEEN_QUOTES

__all__ = ["merged", "on_cards"]

_UNKNOWN_TRUST = 1
"""Of a kind that no importer reads: just above what was typed by hand."""

_SYMPTOMS, _QUOTES = "message.symptoms", "message.quotes"
"""The facts that every message adds to."""

_TYPED = frozenset(kind for kind, importer in BY_KIND.items() if importer.is_typed)
_ONE_SYSTEM = ("os.name", "os.version", "os.build")
_NAMES_NO_SYSTEM = frozenset({"linux", "unknown", ""})


def merged(readings: Sequence[Reading]) -> Reading:
    """All they tell. `kind` is that of the most trusted; lists keep the order of trust."""
    return with_series(_with_chip(_with_build(_together(readings))))


def _together(readings: Sequence[Reading]) -> Reading:
    ordered = sorted(readings, key=_trust, reverse=True)
    if len(ordered) == 1 and len({card.index for card in ordered[0].cards}) == len(ordered[0].cards):
        return ordered[0]
    whole = Reading(kind=ordered[0].kind)
    _merge_facts(whole, ordered)
    renumbered = [_merge_cards(whole, reading.cards, _vendors_listed(reading, ordered)) for reading in ordered]
    for reading, indexes in zip(ordered, renumbered, strict=True):
        _merge_results(whole, reading, indexes)
        for problem in reading.problems:
            whole.problem(problem)
        for line in reading.ignored:
            whole.ignore(line)
    whole.software.extend(_merged_software(ordered))
    whole.series = merged_series(ordered, renumbered)
    return whole


def _merge_results(whole: Reading, reading: Reading, indexes: Mapping[int, int]) -> None:
    """Its results on the cards of the whole; on none where the machine has more cards alike than the dump knew."""
    mine = Counter(card.reported_name for card in reading.cards)
    all_of_them = Counter(card.reported_name for card in whole.cards)
    name_of = {card.index: card.reported_name for card in whole.cards}
    certain = {
        index: card for index, card in indexes.items() if all_of_them[name_of[card]] <= max(1, mine[name_of[card]])
    }
    for result in reading.results[: LIMITS.results - len(whole.results)]:
        whole.results.append(on_cards(result, certain))


def on_cards(result: Result, certain: Mapping[int, int]) -> Result:
    """The result with other indexes of its cards; on none where one of them is not certain."""
    used = tuple(certain[index] for index in result.cards if index in certain)
    return replace(
        result,
        card=None if result.card is None else certain.get(result.card),
        cards=used if len(used) == len(result.cards) else (),
    )


def _trust(reading: Reading) -> int:
    return BY_KIND[reading.kind].trust if reading.kind in BY_KIND else _UNKNOWN_TRUST


def _merge_facts(whole: Reading, ordered: Sequence[Reading]) -> None:
    """A fact stated by any dump wins; reasons for absence count only if none states it."""
    together = _system(ordered)
    for name, value in {**_joined(ordered), **together}.items():
        whole.sheet.state(name, value)
    for reading in ordered:
        for name, value in reading.facts.items():
            if not together or name not in _ONE_SYSTEM:
                whole.sheet.state(name, value)
    for reading in ordered:
        for name, why in reading.absent.items():
            whole.sheet.mark_missing(name, why.reason, why.detail)


def _joined(ordered: Sequence[Reading]) -> Mapping[str, Scalar | None]:
    """The messages of all, each once, and how each is written."""
    quotes: dict[str, str] = {}
    for reading in ordered:
        written = str(reading.facts.get(_QUOTES, "")).split(BETWEEN_QUOTES)
        for key, quote in zip_longest(str(reading.facts.get(_SYMPTOMS, "")).split(), written, fillvalue=""):
            quotes.setdefault(key, quote)
    quotes.pop("", None)
    return {_SYMPTOMS: " ".join(quotes) or None, _QUOTES: BETWEEN_QUOTES.join(quotes.values()).strip() or None}


def _system(ordered: Sequence[Reading]) -> Mapping[str, Scalar]:
    """Name, version and build of the system from one dump: halves of two would name a system that does not exist."""
    telling = sorted((reading for reading in ordered if reading.facts.get("os.name")), key=_vagueness)
    return {name: telling[0].facts[name] for name in _ONE_SYSTEM if name in telling[0].facts} if telling else {}


def _vagueness(reading: Reading) -> tuple[bool, bool]:
    """nvidia-smi knows of the system what its driver model says; some tools know no more than that it is a Linux."""
    return reading.kind.startswith("nvidia-smi"), str(reading.facts["os.name"]).lower() in _NAMES_NO_SYSTEM


def _vendors_listed(typed: Reading, readings: Iterable[Reading]) -> set[str]:
    """The vendors whose cards a more trusted dump lists, so that words add none; no vendor where a tool speaks."""
    if typed.kind not in _TYPED:
        return set()
    return {card.vendor for reading in readings if _trust(reading) > _trust(typed) for card in reading.cards}


def _merge_cards(whole: Reading, cards: Iterable[Card], listed: Set[str]) -> dict[int, int]:
    """Completes the cards that are there, adds the others. -> a card's index in its own dump -> in the whole.

    `listed`: the vendors of which no card is added.
    """
    renumbered: dict[int, int] = {}
    taken: set[int] = set()
    for card in cards:
        position = _position_of(card, whole.cards, taken)
        if position is not None:
            taken.add(position)
            whole.cards[position] = _completed(whole.cards[position], card)
            renumbered[card.index] = whole.cards[position].index
        elif len(whole.cards) < LIMITS.cards and card.vendor not in listed:
            taken.add(len(whole.cards))
            index = _free_index(card.index, whole.cards)
            whole.cards.append(replace(card, index=index))
            renumbered[card.index] = index
    return renumbered


def _position_of(card: Card, cards: Sequence[Card], taken: set[int]) -> int | None:
    """Where this card is among those: the one of its number if it may be that, else the first that may."""
    fitting = [
        position for position, candidate in enumerate(cards) if position not in taken and same_card(candidate, card)
    ]
    return next(
        (position for position in fitting if cards[position].index == card.index), fitting[0] if fitting else None
    )


def _free_index(index: int, cards: Sequence[Card]) -> int:
    used = {card.index for card in cards}
    return index if index not in used else max(used) + 1


def _completed(card: Card, other: Card) -> Card:
    """The card with what the other dump tells of it besides; a whole name in place of one that was cut."""
    is_cut = card.reported_name == UNNAMED or (
        card.reported_name.endswith("...") and not other.reported_name.endswith("...")
    )
    facts = {**other.facts, **card.facts}
    memory_bytes = card.memory_bytes or other.memory_bytes
    stated = {*facts, *(["memory_bytes"] if memory_bytes else []), *(["uuid_hash"] if other.uuid_hash else [])}
    absent = {name: why for name, why in {**other.absent, **card.absent}.items() if name not in stated}
    return replace(
        card,
        reported_name=other.reported_name if is_cut else card.reported_name,
        memory_bytes=memory_bytes,
        uuid_hash=card.uuid_hash or other.uuid_hash,
        facts=facts,
        absent=absent,
    )


def _merged_software(ordered: Sequence[Reading]) -> Iterator[Software]:
    """A component once for each version: a lesser tool's word counts where the better ones say nothing of it.

    Two versions in one dump (pip and conda disagree) are both kept.
    """
    by_component: dict[str, list[Software]] = {}
    for reading in ordered:
        settled = {name: list(versions) for name, versions in by_component.items()}
        for software in reading.software:
            versions = by_component.setdefault(software.component, [])
            alike = next((known for known in versions if _same_software(known, software)), None)
            if alike is not None:
                versions[versions.index(alike)] = _fuller(alike, software)
            elif not settled.get(software.component):
                versions.append(software)
    everything = [software for versions in by_component.values() for software in versions]
    yield from everything[: LIMITS.software]


def _same_software(software: Software, other: Software) -> bool:
    return software.version is None or other.version is None or same_version(software.version, other.version)


def _fuller(first: Software, second: Software) -> Software:
    return max(first, second, key=lambda software: len(software.version or ""))


_BUILD = re.compile(r"\+(?:rocm(?P<rocm>\d{1,2}\.\d{1,2})|(?P<cuda>cu\d{2,3}))(?![\w])")


def _with_build(reading: Reading) -> Reading:
    """The reading itself, or one with what the name of torch's build says of it where no dump does: 2.6.0+cu124."""
    torch = str(reading.facts.get("torch.version") or "")
    stated = {"torch.cuda_version", "torch.hip_version"} & reading.facts.keys()
    match = _BUILD.search(torch)
    if stated or "+" not in torch or not (match or is_cpu_build(torch)):
        return reading
    sheet = replace(reading.sheet, facts=dict(reading.facts), absent=dict(reading.absent))
    if match is None:
        for name in ("torch.cuda_version", "torch.hip_version"):
            sheet.absent.pop(name, None)
            sheet.mark_missing(name, "not_applicable", f"{torch} is the build for the processor")
    elif match["rocm"]:
        sheet.state("torch.hip_version", match["rocm"])
    else:
        sheet.state("torch.cuda_version", cuda_of(match["cuda"]))
    return replace(reading, sheet=sheet)


_CHIP = re.compile(r"Apple M\d{1,2}(?: (?:Pro|Max|Ultra))?", re.IGNORECASE)
_NAMED_BY = "named as the processor; no dump lists the graphics"


def _with_chip(reading: Reading) -> Reading:
    """The reading itself, or one with the chip of a Mac whose dumps name it as the processor alone: it computes."""
    chip = _CHIP.fullmatch(str(reading.facts.get("cpu.model") or "").strip())
    if chip is None or family(reading.facts) != "macos" or reading.cards:
        return reading
    sheet = replace(reading.sheet, facts=dict(reading.facts), absent=dict(reading.absent))
    sheet.state("apple.chip", chip[0])
    if "torch.version" in sheet.facts:
        for name in ("mps.built", "mps.available"):
            sheet.mark_missing(name, "not_reported", "the dump does not state whether torch can use the GPU")
    card = CardReading(index=0, kind="soc", vendor="apple", reported_name=chip[0])
    card.sheet.state("unified_memory", value=True)
    card.sheet.mark_missing("memory_bytes", "not_applicable", "the GPU uses the machine's memory")
    card.sheet.mark_missing("gpu_cores", "not_reported", _NAMED_BY)
    return replace(reading, sheet=sheet, cards=[card.card()])
