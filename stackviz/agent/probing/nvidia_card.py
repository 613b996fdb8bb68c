"""One NVIDIA card, read through NVML: its facts, and the reasons for missing ones."""

from stackviz.report.format import Scalar, hashed_uuid
from stackviz.report.format.facts import card_questions, reading_questions
from stackviz.report.format.facts.asking import MissingFact
from stackviz.report.format.facts.nvml import CardLost, Nvml, NvmlCard
from stackviz.report.format.facts.table import Question
from stackviz.report.importers import CardReading

__all__ = ["read_card"]


def read_card(nvml: Nvml, handle: object, index: int, name: str) -> CardReading:
    """All facts of one card. If the card is lost midway, facts read before stay and the rest are marked as missing."""
    card = CardReading(index=index, kind="gpu", vendor="nvidia", reported_name=name)
    questions = _questions()
    nvml_card = NvmlCard(nvml, handle)
    for number, (fact, question) in enumerate(questions.items()):
        try:
            value = question(nvml_card)
        except CardLost as lost:
            for rest in list(questions)[number:]:
                card.sheet.mark_missing(rest, lost.reason, lost.detail)
            break
        except MissingFact as missing:
            card.sheet.mark_missing(fact, missing.reason, missing.detail)
        except Exception as error:  # noqa: BLE001 - a binding's bug must not cost the card
            card.sheet.mark_missing(fact, "failed", f"{type(error).__name__}: {error}")
        else:
            _take(card, fact, value)
    if card.memory_bytes is None:
        _note_unified_memory(card)
    return card


def _take(card: CardReading, fact: str, value: Scalar | None) -> None:
    if fact == "memory_bytes":
        card.memory_bytes = int(value) if value else None
        if not value:
            card.sheet.mark_missing(fact, "not_reported", "NVML says 0")
    elif fact == "uuid_hash":
        card.uuid_hash = str(value)
    elif fact in card.sheet.table:
        card.sheet.state(fact, value)
        if value is None:
            card.sheet.mark_missing(fact, "not_reported")
    # else: a reading that was only tried; conditions hold its values


def _note_unified_memory(card: CardReading) -> None:
    """GB10, Jetson: NVML does not tell a memory size, because the card computes in the machine's memory."""
    why = card.sheet.absent.get("memory_bytes")
    if why and why.reason == "not_supported":
        card.sheet.state("unified_memory", value=True)


def _questions() -> dict[str, Question[NvmlCard]]:
    """The questions to a card, its identity first; each reading is tried once to find those it does not support."""
    return {
        "uuid_hash": lambda card: hashed_uuid(card.ask("nvmlDeviceGetUUID")),
        "memory_bytes": lambda card: int(card.part("nvmlDeviceGetMemoryInfo", "total")),
        **card_questions(),
        **reading_questions(),
    }
