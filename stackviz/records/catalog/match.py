"""From the names cards report to accelerators of the catalogue: one query for any number of cards.

A name alone is often not enough: `NVIDIA GeForce RTX 3060` has 8 or 12 GB, `Apple M3 Max` 30 or 40 GPU cores. Memory
size, GPU core count and the model of the machine then decide; if they cannot, the match says what would.
"""

import csv
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from io import StringIO
from typing import Any, Literal

from django.utils.translation import gettext as _

from stackviz.records.catalog.bare_names import bare_names
from stackviz.records.catalog.models import Accelerator, Alias, SpecValue
from stackviz.report.rules.known_cards import COLUMNS, MEMORY_TOLERANCE, KnownCard, is_cut, memory_distance, normalized

Facts = Mapping[str, Any]
How = Literal["name", "name+memory", "name+gpu-cores", "name+machine", "ambiguous", "unknown"]


@dataclass(frozen=True, slots=True)
class CardName:
    """What a card reports about itself. `machine_model`: such as `Mac15,9`, if the machine reports it."""

    reported_name: str
    vendor: str = ""
    memory_bytes: int | None = None
    gpu_cores: int | None = None
    machine_model: str = ""


def card_name(
    reported_name: str, vendor: str, memory_bytes: int | None, card_facts: Facts, machine_facts: Facts
) -> CardName:
    """The attributes that matching uses; GPU cores, which distinguish Apple chips, from the card or the machine."""
    cores = card_facts.get("gpu_cores")
    if cores is None and vendor == "apple":
        cores = machine_facts.get("apple.gpu_cores")
    model = machine_facts.get("machine.model", "")
    return CardName(reported_name, vendor, memory_bytes, cores if isinstance(cores, int) else None, str(model))


@dataclass(frozen=True, slots=True)
class Match:
    """The accelerator a card is, or None with the candidates and what would decide between them."""

    accelerator: Accelerator | None
    how: How
    candidates: tuple[Accelerator, ...] = ()
    needs: str = ""


def match_cards(cards: Sequence[CardName], *, among_public: bool = False) -> list[Match]:
    """One Match per card, in the order given. One query however many cards (none for no card).

    `among_public`: match public sheets only, for public answers that must not reveal other names and notes.
    """
    wanted = {normalized(name) for card in cards for name in (card.reported_name, card.machine_model)} - {""}
    aliases: dict[str, list[Alias]] = defaultdict(list)
    named = Alias.objects.filter(normalized__in=sorted(wanted)).select_related("accelerator__vendor").order_by("pk")
    for alias in named.filter(accelerator__is_public=True) if among_public else named:
        aliases[alias.normalized].append(alias)
    return [decide_match(card, aliases) for card in cards]


# Words of makers and families that people leave out; what is left names the product.
_LEFT_OUT = frozenset(
    {
        "nvidia", "amd", "intel", "apple", "google", "huawei", "geforce", "radeon", "instinct", "tesla", "generation",
        "graphics", "gpu",
    }
)  # fmt: skip


def sheets_of_bare_names(names: Iterable[str]) -> dict[str, int]:
    """Name -> primary key of the public sheet it means, of names that are no alias of any.

    The reviewed table decides first; else the one sheet that has the name, or an alias, of equal words once those of
    makers and families are left out. A name that says more or less than a sheet's is not that sheet. Two queries.
    """
    public = Accelerator.objects.filter(is_public=True)
    ids = dict(public.values_list("slug", "pk"))
    named: dict[str, set[int]] = defaultdict(set)
    aliases = Alias.objects.filter(accelerator__is_public=True).exclude(kind=Alias.Kind.MACHINE)
    for name, pk in (*public.values_list("name", "pk"), *aliases.values_list("name", "accelerator")):
        named[_bare(name)].add(pk)
    sheets = ((name, _sheet_of_bare_name(name, ids, named)) for name in names)
    return {name: sheet for name, sheet in sheets if sheet is not None}


def _sheet_of_bare_name(name: str, ids: Mapping[str, int], named: Mapping[str, set[int]]) -> int | None:
    reviewed = bare_names().get(normalized(name))
    if reviewed is not None:
        return ids.get(reviewed.slugs[0]) if len(reviewed.slugs) == 1 else None
    sheets = named.get(_bare(name), set())
    return next(iter(sheets)) if len(sheets) == 1 and not is_cut(name) else None


def _bare(name: str) -> str:
    return " ".join(part for part in normalized(name).split() if part not in _LEFT_OUT)


def decide_match(card: CardName, aliases: Mapping[str, Sequence[Alias]]) -> Match:
    """The match of one card among `aliases` (by normalized name). No query.

    A name with a memory size or core count is an accelerator's only where the card reports the same.
    """
    named = [alias for alias in aliases.get(normalized(card.reported_name), ()) if _is_vendor(alias, card.vendor)]
    if not named:
        return Match(None, "unknown")
    candidates = _accelerators(named)
    if is_cut(card.reported_name):  # the name of one product may be the beginning of another's
        return Match(None, "ambiguous", candidates, _("the full name: the tool truncated it"))
    sure = [alias for alias in named if alias.kind != Alias.Kind.UNDECIDED]
    agreeing = _nearest(card, [alias for alias in sure if _says(alias, card) is True])
    if len(_accelerators(agreeing)) == 1:
        return Match(agreeing[0].accelerator, _how(agreeing[0]), candidates)
    open_ones = agreeing or [alias for alias in sure if _says(alias, card) is None]
    built_in = {alias.accelerator_id for alias in aliases.get(normalized(card.machine_model), ())}
    in_machine = [alias for alias in open_ones if alias.accelerator_id in built_in]
    if len(_accelerators(in_machine)) == 1:
        return Match(in_machine[0].accelerator, "name+machine", candidates)
    return Match(None, "ambiguous", candidates, _what_decides(open_ones, named))


def _says(alias: Alias, card: CardName) -> bool | None:
    """Whether what the card reports agrees with the alias; None where it reports too little to tell."""
    verdicts: list[bool | None] = [True]
    if alias.gpu_cores:
        verdicts.append(alias.gpu_cores == card.gpu_cores if card.gpu_cores else None)
    if alias.memory_bytes:
        is_near = memory_distance(alias.memory_bytes, card.memory_bytes or 0) <= MEMORY_TOLERANCE
        verdicts.append(is_near if card.memory_bytes else None)
    if False in verdicts:
        return False
    return None if None in verdicts else True


def _nearest(card: CardName, agreeing: list[Alias]) -> list[Alias]:
    """Of aliases that agree, those that say most (a size, a core count), and of these the nearest in memory."""
    specific = [alias for alias in agreeing if alias.gpu_cores or alias.memory_bytes] or agreeing
    sized = [alias for alias in specific if alias.memory_bytes]
    if not sized or not card.memory_bytes:
        return specific
    distances = [memory_distance(alias.memory_bytes or 0, card.memory_bytes) for alias in sized]
    return [alias for alias, distance in zip(sized, distances, strict=True) if distance == min(distances)]


def _how(alias: Alias) -> How:
    if alias.gpu_cores:
        return "name+gpu-cores"
    return "name+memory" if alias.memory_bytes else "name"


def _is_vendor(alias: Alias, vendor: str) -> bool:
    return not vendor or vendor.casefold() in (alias.accelerator.vendor.slug, "unknown", "other")


def _accelerators(aliases: Iterable[Alias]) -> tuple[Accelerator, ...]:
    return tuple({alias.accelerator_id: alias.accelerator for alias in aliases}.values())


def _what_decides(open_ones: Sequence[Alias], named: Sequence[Alias]) -> str:
    """What would settle an ambiguous name; the note of a name that never decides, else what the card leaves out."""
    if any(alias.gpu_cores for alias in open_ones):
        return _("the number of GPU cores")
    if any(alias.memory_bytes for alias in open_ones):
        return _("the memory size")
    notes = [alias.note for alias in named if alias.kind == Alias.Kind.UNDECIDED and alias.note]
    if notes:
        return notes[0]
    if open_ones:
        return _("the PCI device id: several sheets share name and memory size")
    return _("a separate sheet: no sheet with this name has its memory size or GPU core count")


def describe_needs(alias: Any) -> tuple[str, ...]:  # noqa: ANN401 - an Alias or a record of one
    """What has to be reported beside the name for it to be this product's, in words; () where the name is enough."""
    needs = []
    if alias.kind == Alias.Kind.UNDECIDED:
        needs.append(_("the name alone does not decide"))
    if alias.gpu_cores:
        needs.append(_("with %(n)d GPU cores") % {"n": alias.gpu_cores})
    if alias.memory_bytes:
        needs.append(_("with %(size)s GB of memory") % {"size": f"{alias.memory_bytes / 1e9:g}"})
    return tuple(needs)


# --- the names as the rules look them up; `manage.py write_card_table` writes them into their package ---

_FIELDS = ("compute_capability", "memory_gb")


def known_cards() -> frozenset[KnownCard]:
    """Every name a device reports that is in a public sheet, with what the sheet says in public. Two queries."""
    published: dict[tuple[int, str], set[str]] = {}
    public = SpecValue.objects.filter(field__in=_FIELDS, status=SpecValue.Status.PUBLIC)
    for accelerator, field, value, amount in public.values_list("accelerator", "field", "value", "amount"):
        published.setdefault((accelerator, field), set()).add(value if field == _FIELDS[0] else str(int(amount or 0)))
    aliases = Alias.objects.filter(accelerator__is_public=True).exclude(kind=Alias.Kind.MACHINE)
    aliases = aliases.select_related("accelerator__vendor")
    return frozenset(_known(alias, published) for alias in aliases)


def _known(alias: Alias, published: dict[tuple[int, str], set[str]]) -> KnownCard:
    """Where the sheet lists several variants, a figure is not this card's."""
    capability = published.get((alias.accelerator_id, "compute_capability"), set())
    memory = published.get((alias.accelerator_id, "memory_gb"), set())
    printed = int(next(iter(memory))) if len(memory) == 1 else 0
    conditions = {"memory": alias.memory_bytes, "cores": alias.gpu_cores, "more": alias.kind == Alias.Kind.UNDECIDED}
    return KnownCard(
        reported_name=alias.name,
        vendor=alias.accelerator.vendor.slug,
        accelerator=alias.accelerator.slug,
        memory_bytes=alias.memory_bytes or printed or None,
        compute_capability=next(iter(capability)) if len(capability) == 1 else "",
        gpu_cores=alias.gpu_cores,
        needs=" ".join(name for name, is_needed in conditions.items() if is_needed),
    )


def card_table(cards: Iterable[KnownCard]) -> str:
    """The cards as the rules' file has them."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for card in sorted(cards, key=lambda card: (card.accelerator, card.reported_name, card.memory_bytes or 0)):
        writer.writerow(["" if value is None else str(value) for value in astuple(card)])
    return out.getvalue()
