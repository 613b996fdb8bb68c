"""Cards in sentences: which ones a finding is about, grouped by what they have in common; which ones are silent."""

from collections.abc import Iterator, Sequence

from stackviz.base.sentence import say
from stackviz.report.rules.look import CardLook
from stackviz.report.rules.versions import numbers


def named(cards: Sequence[CardLook]) -> str:
    """What to call these cards in a sentence: the name once, and which ones they are, unless there is one only."""
    names = dict.fromkeys(card.name for card in cards)
    if len(cards) == 1 and cards[0].is_only:
        return cards[0].name
    numbers_text = ", ".join(str(card.index) for card in cards)
    return (
        say("{names} (cards {numbers_text})", " / ".join(names), numbers_text)
        if len(cards) > 1
        else say("{names} (card {numbers_text})", " / ".join(names), numbers_text)
    )


def indexes(cards: Sequence[CardLook]) -> tuple[int, ...]:
    return tuple(card.index for card in cards)


def by_capability(cards: Sequence[CardLook]) -> Iterator[tuple[str, list[CardLook]]]:
    """The cards grouped by compute capability, lowest first; after them NotReported if one did not say."""
    groups: dict[str, list[CardLook]] = {}
    for card in cards:
        groups.setdefault(card.get("compute_capability") or "", []).append(card)
    silent = groups.pop("", [])
    yield from sorted(groups.items(), key=lambda item: numbers(item[0]))
    if silent:
        silent[0].need("compute_capability")


def stating(cards: Sequence[CardLook], *names: str) -> list[CardLook]:
    """The cards that state all of these facts."""
    return [card for card in cards if all(card.get(name) is not None for name in names)]


def require_if_mentioned(cards: Sequence[CardLook], *names: str) -> None:
    """Raises NotReported for a card that was asked for one of these facts and did not answer.

    A source that never speaks of it (a list of names) leaves no question open, nor does a card that cannot have it.
    """
    for card in cards:
        for name in names:
            if card.mentions(name) and card.get(name) is None and not card.states_none(name):
                card.need(name)
