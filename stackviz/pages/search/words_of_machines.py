"""Words of machines and labs: written as they change, asked of the database for what a visitor may see."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.signals import post_save
from django.utils.translation import gettext as _

from stackviz.pages.search.index import SearchEntry, SearchHit, SearchKind
from stackviz.pages.search.models import LONGEST, MachineWord
from stackviz.pages.search.words import character_pairs, is_chinese, neighbours, split_words
from stackviz.records.labs.models import Lab, Machine
from stackviz.records.labs.queries import Visitor, visible_machines

MOST_WORDS = 24  # of a text
_LETTERS_OR_DIGITS = re.compile(r"\d+|\D+")


def beginnings(texts: Iterable[str], longest: int) -> frozenset[str]:
    """`Rack-07` -> r, ra, rac, rack, 0, 07, 7, rack0, rack07. Of Chinese, which has no spaces, characters and pairs."""
    return frozenset(start for text in texts for start in _beginnings(split_words(text)[:MOST_WORDS], longest))


def wanted_beginnings(query: str, longest: int) -> tuple[str, ...]:
    """What a machine must have to be found, the longest and so rarest first."""
    pieces = (piece for token in split_words(query) for piece in _pieces(token))
    return tuple(sorted({piece[:longest] for piece in pieces}, key=lambda piece: (-len(piece), piece)))


def _pieces(token: str) -> tuple[str, ...]:
    return character_pairs(token) if is_chinese(token) else (token,)


def _beginnings(words: tuple[str, ...], longest: int) -> Iterator[str]:
    for token in words:
        if is_chinese(token):
            yield from token
            yield from character_pairs(token)
        else:
            for part in _parts(token):
                yield from _starts(part, longest)
    for together in neighbours(words, most=2):  # `rack07`, as one may type it
        yield from _starts(together, longest)


def _parts(token: str) -> Iterator[str]:
    """`gpu07` -> gpu07, gpu, 07, 7."""
    yield token
    for part in _LETTERS_OR_DIGITS.findall(token):
        yield part
        if part.startswith("0") and part.strip("0"):
            yield part.lstrip("0")


def _starts(text: str, longest: int) -> Iterator[str]:
    return (text[:length] for length in range(1, min(len(text), longest) + 1))


AT_ONCE = 200  # machines
OF_A_NAME = {"name", "slug", "lab", "lab_id"}


def write_words(machines: QuerySet[Machine]) -> None:
    """Make the stored words of these machines those of their names. Two reads and at most two writes for AT_ONCE."""
    batch: list[Machine] = []
    for machine in machines.select_related("lab").iterator(chunk_size=AT_ONCE):
        batch.append(machine)
        if len(batch) == AT_ONCE:
            _write(batch)
            batch = []
    if batch:
        _write(batch)


@transaction.atomic
def _write(machines: Collection[Machine]) -> None:
    stored = {
        (machine, text): pk
        for pk, machine, text in MachineWord.objects.filter(machine__in=machines).values_list(
            "pk", "machine_id", "beginning"
        )
    }
    wanted = {(machine.pk, text) for machine in machines for text in words_of(machine)}
    outdated = [pk for key, pk in stored.items() if key not in wanted]
    if outdated:
        MachineWord.objects.filter(pk__in=outdated).delete()
    _add(wanted - stored.keys())


def _add(words: Iterable[tuple[int, str]]) -> None:
    MachineWord.objects.bulk_create(
        (MachineWord(machine_id=machine, beginning=text) for machine, text in sorted(words)),
        batch_size=2000,
        ignore_conflicts=True,  # of two requests that name a machine at once, both write the same
    )


def words_of(machine: Machine) -> frozenset[str]:
    return beginnings((machine.name, machine.slug, machine.lab.name), LONGEST)


def follow_names() -> None:
    """Called once, when Django is set up."""
    post_save.connect(_machine_saved, sender=Machine, dispatch_uid="words of a machine")
    post_save.connect(_lab_saved, sender=Lab, dispatch_uid="words of a lab")


def _machine_saved(instance: Machine, *, created: bool, update_fields: frozenset[str] | None, **_: object) -> None:
    if created:
        _add((instance.pk, text) for text in words_of(instance))
    elif update_fields is None or OF_A_NAME & update_fields:
        write_words(Machine.objects.filter(pk=instance.pk))


def _lab_saved(instance: Lab, *, created: bool, update_fields: frozenset[str] | None, **_: object) -> None:
    if not created and (update_fields is None or "name" in update_fields):
        write_words(Machine.objects.filter(lab=instance))


# --- Machines that a visitor may see, by words of their name or their lab's: asked of the database, never ---

MOST_MACHINES = 20
MOST_WORDS_OF_NAME = 5  # more is no name but a sentence
MOST_PIECES = 10  # of these words, and pairs of Chinese characters
SAME, BEGINS, HAS = 2.0, 1.25, 0.8  # scores, as those of the index


def machine_hits(visitor: Visitor, query: str) -> list[SearchHit]:
    """MOST_MACHINES at most, newest first of those alike, with a word that begins so for every word of the query.

    One query, or none: a sentence is no name.
    """
    wanted = wanted_beginnings(query, LONGEST)
    if not wanted or len(query.split()) > MOST_WORDS_OF_NAME or len(wanted) > MOST_PIECES:
        return []
    hits = [_hit(machine, query) for machine in found_machines(visible_machines(visitor), wanted)]
    return sorted(hits, key=lambda hit: (-hit.score, hit.entry.title, hit.entry.url))


def found_machines(machines: QuerySet[Machine], wanted: Sequence[str]) -> QuerySet[Machine]:
    """The newest MOST_MACHINES that have all the beginnings. One row of an index a machine and beginning is read."""
    for beginning in wanted:
        machines = machines.filter(words__beginning=beginning)
    return machines.order_by("-pk")[:MOST_MACHINES]


def _hit(machine: Machine, query: str) -> SearchHit:
    lab, wanted, name = machine.lab, query.casefold(), machine.name.casefold()
    score = SAME if wanted in (name, machine.slug) else BEGINS if name.startswith(wanted) else HAS
    line = lab.name if lab.is_public else _("%(lab)s (private)") % {"lab": lab.name}
    entry = SearchEntry(kind=SearchKind.MACHINE, title=machine.name, url=machine.get_absolute_url(), line=line)
    return SearchHit(entry, score, "", ())
