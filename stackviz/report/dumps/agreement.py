"""Whether two dumps can be of one machine: no when they contradict each other in what one machine has once."""

import re
from collections.abc import Callable, Sequence

from stackviz.base.sentence import say
from stackviz.report.format import Card, Scalar, systems
from stackviz.report.importers import IMPORTERS, Reading
from stackviz.report.importers.reading import UNNAMED

__all__ = ["agreeing", "contradiction", "same_card", "same_version", "vendors_of"]

_TYPED = frozenset(importer.kind for importer in IMPORTERS if importer.is_typed)
_LISTS_SOME_CARDS = frozenset(importer.kind for importer in IMPORTERS if not importer.lists_all_cards)
_ONE_NAME_EVERYWHERE = frozenset({"nvidia", "apple"})
"""Makers whose cards every tool calls alike. rocm-smi and rocminfo have two names for one card."""

_VENDORS_OF_BACK_ENDS = {
    "metal": "apple",
    "mtl": "apple",
    "cuda": "nvidia",
    "rocm": "amd",
    "hip": "amd",
    "cann": "huawei",
    "sycl": "intel",
}
"""Back ends of llama.cpp that run on cards of one maker; Vulkan and OpenCL run on everybody's."""

_MARKS = re.compile(r"\([^()]{0,60}\)|\b(?:nvidia|amd|corporation|inc|graphics|cpu|processor)\b|[^a-z0-9.+]+")


def contradiction(reading: Reading, other: Reading) -> str:
    """What of the two cannot be true of one machine, in words; "" if nothing. What only one of them tells is none."""
    if reading.kind in _TYPED or other.kind in _TYPED:
        return ""
    families = _family(other), _family(reading)
    if all(families) and families[0] != families[1]:
        return say("the system is {families} in one dump and {families_2} in another", families[0], families[1])
    for name, agrees in (_ONCE | _ONCE_PER_TOOL if reading.kind == other.kind else _ONCE).items():
        stated = other.facts.get(name), reading.facts.get(name)
        if None not in stated and not agrees(str(stated[0]), str(stated[1])):
            return say("{name} is {stated} in one dump and {stated_2} in another", name, stated[0], stated[1])
    return _cards_contradict(reading, other)


def agreeing(reading: Reading, other: Reading) -> int:
    """How much of what tells machines apart both say alike."""
    facts = sum(
        name in reading.facts and name in other.facts and agrees(str(reading.facts[name]), str(other.facts[name]))
        for name, agrees in (_ONCE | _ONCE_PER_TOOL).items()
    )
    cards = any(same_card(mine, theirs) for mine in reading.cards for theirs in other.cards[:1])
    return facts + cards


def same_version(version: str, other: str) -> bool:
    """Whether one is the other told in more detail: 2.1.0 and 2.1.0+cu121, 535.104 and 535.104.05."""
    short, long = sorted((version.strip(), other.strip()), key=len)
    return long == short or (bool(short) and long.startswith(short) and long[len(short)] in ".+")


def same_card(mine: Card, other: Card, *, is_one_tool: bool = False) -> bool:
    """Whether two tools may mean one card: similar names apart from the vendor and a truncated end, and no conflict in
    memory or UUID.

    `is_one_tool`: the same tool speaks twice, so that names compare even where tools have their own.
    """
    if (mine.vendor != other.vendor) or ("mig_parent_index" in mine.facts) != ("mig_parent_index" in other.facts):
        return False
    if len({card.facts["gfx_target"] for card in (mine, other) if "gfx_target" in card.facts}) > 1:
        return False
    if mine.uuid_hash and other.uuid_hash and mine.uuid_hash != other.uuid_hash:
        return False
    if mine.memory_bytes and other.memory_bytes and not 0.8 < mine.memory_bytes / other.memory_bytes < 1.25:
        return False
    if UNNAMED in (mine.reported_name, other.reported_name):
        return mine.index == other.index
    if mine.vendor not in _ONE_NAME_EVERYWHERE and not is_one_tool:
        return True
    return _same_name(mine.reported_name, other.reported_name)


def _same_name(name: str, other: str) -> bool:
    for cut, whole in ((name, other), (other, name)):
        if cut.endswith("..."):
            return _bare(whole.removesuffix("...")).startswith(_bare(cut.removesuffix("...")))
    return _bare(name) == _bare(other)


def _bare(name: str) -> str:
    """Without the vendor and its usual additions: "NVIDIA GeForce GT 1030" -> "geforcegt1030"."""
    return _MARKS.sub("", name.lower().replace("(r)", "").replace("(tm)", ""))


def _same_processor(model: str, other: str) -> bool:
    short, long = sorted((_bare(model), _bare(other)), key=len)
    return short in long


def _same_text(text: str, other: str) -> bool:
    return text.strip().casefold() == other.strip().casefold()


_ONCE: dict[str, Callable[[str, str], bool]] = {
    "cpu.model": _same_processor,
    "apple.chip": _same_text,
    "machine.model": _same_text,
    "nvidia.driver_version": same_version,
    "torch.version": same_version,
    "rocm.version": same_version,
}
"""What one machine, in one environment, has once -> whether two ways of telling it agree."""

_ONCE_PER_TOOL: dict[str, Callable[[str, str], bool]] = {
    "os.name": _same_text,
    "os.version": same_version,
    "os.kernel": _same_text,
    "python.version": same_version,
    "cpu.cores_logical": _same_text,
    "nvidia.card_count": _same_text,
    "memory.total_bytes": _same_text,
}
"""What different tools word differently, and one tool does not."""


_FAMILIES = {"linux": "Linux", "windows": "Windows", "macos": "macOS"}


def _family(reading: Reading) -> str:
    """Linux, Windows or macOS; "" where the dump does not say, or tells of a system inside another."""
    family = systems.family(reading.facts)
    if not family:
        return "macOS" if reading.facts.get("apple.chip") or vendors_of(reading) == ("apple",) else ""
    if _is_stated(reading.facts.get("os.wsl")) or "wsl" in str(reading.facts.get("os.kernel") or "").lower():
        return ""
    return _FAMILIES[family]


def vendors_of(reading: Reading) -> tuple[str, ...]:
    """The vendors of the cards, each once; those of the back ends if no card is listed."""
    if reading.cards:
        return tuple(dict.fromkeys(card.vendor for card in reading.cards))
    named = (str(result.params.get("backend") or "") for result in reading.results)
    words = (name.strip().casefold() for backend in named for name in backend.split(","))
    return tuple(dict.fromkeys(_VENDORS_OF_BACK_ENDS[name] for name in words if name in _VENDORS_OF_BACK_ENDS))


def _is_stated(value: Scalar | None) -> bool:
    return value not in (None, False, "")


def _cards_contradict(reading: Reading, other: Reading) -> str:
    """Cards of one vendor: the cards of one tool must be a subset of the cards of the other."""
    for mine, others in ((reading, other), (other, reading)):
        if "apple" in vendors_of(mine) and "nvidia" in vendors_of(others):
            return say("one dump has an Apple GPU and another an NVIDIA GPU")
    for vendor in {card.vendor for card in reading.cards} & {card.vendor for card in other.cards}:
        fewer, more = sorted((_whole(reading, vendor), _whole(other, vendor)), key=len)
        if reading.kind == other.kind and reading.kind not in _LISTS_SOME_CARDS and len(fewer) != len(more):
            return say(
                "{n_whole} cards in one dump and {n_whole_2} in another",
                len(_whole(other, vendor)),
                len(_whole(reading, vendor)),
            )
        stranger = _not_among(fewer, more, is_one_tool=reading.kind == other.kind)
        if stranger is not None:
            return say("{reported_name} is in one dump and not in another", stranger.reported_name)
    return ""


def _whole(reading: Reading, vendor: str) -> list[Card]:
    return [card for card in reading.cards if card.vendor == vendor and "mig_parent_index" not in card.facts]


def _not_among(fewer: Sequence[Card], more: Sequence[Card], *, is_one_tool: bool) -> Card | None:
    left = list(more)
    for card in fewer:
        match = next((theirs for theirs in left if same_card(card, theirs, is_one_tool=is_one_tool)), None)
        if match is None:
            return card
        left.remove(match)
    return None
