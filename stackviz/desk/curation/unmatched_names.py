"""The queue of unmatched names, with counts and suggestions. Constant number of queries."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, Max, OuterRef, Q
from django.utils.translation import gettext as _

from stackviz.desk.curation.name_decisions import key_of
from stackviz.desk.curation.name_suggestions import CatalogueName, Suggestion, suggest
from stackviz.records.catalog.match import CardName, decide_match
from stackviz.records.catalog.models import Accelerator, Alias, SpecValue
from stackviz.records.labs.models import Card, NameDecision
from stackviz.report.rules.known_cards import normalized
from stackviz.web.paging import Page, page_as, page_of

PER_PAGE = 25
MOST_SIZES = 6  # memory sizes named of one reported name
NamePair = tuple[str, str]  # reported name, vendor


@dataclass(frozen=True, slots=True, kw_only=True)
class UnmatchedName:
    """A reported name without a sheet. `machines` counts all, `public_machines` those of public labs.

    `sizes`: memory its cards report, in bytes, the most frequent first. `known_as`: accelerators that have the name
    already, where it is not enough. `steps`: decisions about it so far. `ignored`: the one that set it aside.
    """

    name: str
    vendor: str
    why: str
    machines: int
    public_machines: int
    last: datetime | None
    sizes: tuple[int, ...]
    suggestions: tuple[tuple[Accelerator, Suggestion], ...]
    known_as: tuple[Alias, ...]
    steps: int
    ignored: NameDecision | None = None

    @property
    def sizes_text(self) -> str:
        """`79.6 GiB, 24 GiB`; bytes of a driver are binary."""
        return ", ".join(f"{size / 2**30:.4g} GiB" for size in self.sizes)

    @property
    def is_private(self) -> bool:
        """Whether only machines of private labs report it: once assigned, searching for it finds the sheet."""
        return self.public_machines == 0


def waiting_names(
    number: int = 1, q: str = "", *, ignored: bool = False, only: NamePair | None = None
) -> Page[UnmatchedName]:
    """A page of unmatched names, those on the most machines first. Nine queries."""
    page = page_of(_grouped(q, ignored=ignored, only=only), number, PER_PAGE)
    pairs = [(row["reported_name"], row["vendor"]) for row in page.items]
    sizes, known, aliases = _sizes(pairs), known_names() if pairs else [], _aliases(pairs)
    decisions = _decisions(pairs)
    accelerators = Accelerator.objects.select_related("vendor").in_bulk({name.accelerator_id for name in known})

    def shown(row: dict[str, Any]) -> UnmatchedName:
        pair = (row["reported_name"], row["vendor"])
        suggestions = suggest(pair[0], known, vendor=pair[1].casefold(), memory_bytes=sizes.get(pair, ()))
        about = decisions.get(key_of(pair[0]), [])
        return UnmatchedName(
            name=pair[0],
            vendor=pair[1],
            why=_why(pair, sizes.get(pair, ()), aliases),
            machines=row["machines"],
            public_machines=row["public_machines"],
            last=row["last"],
            sizes=sizes.get(pair, ()),
            suggestions=tuple((accelerators[item.accelerator_id], item) for item in suggestions),
            known_as=tuple(aliases.get(normalized(pair[0]), ())),
            steps=len(about),
            ignored=next((item for item in about if _sets_aside(item, pair)), None),
        )

    return page_as(page, shown)


def _why(pair: NamePair, sizes: tuple[int, ...], aliases: dict[str, list[Alias]]) -> str:
    """Why cards with this name are unmatched, and what would decide."""
    match = decide_match(CardName(pair[0], pair[1], sizes[0] if sizes else None), aliases)
    if match.how == "unknown":
        return _("no spec sheet has this name")
    needs = match.needs or _("what the card reports")
    return _("ambiguous; needs %(needs)s") % {"needs": needs}


def waiting_name(pair: NamePair) -> UnmatchedName | None:
    """One name of the queue, set aside or not; None where no card waits under it."""
    page = waiting_names(only=pair)
    return page.items[0] if page.items else None


def _grouped(q: str, *, ignored: bool, only: NamePair | None) -> Any:  # noqa: ANN401 - rows of values, which the stubs cannot name
    cards = Card.objects.filter(accelerator__isnull=True)
    if only is not None:
        cards = cards.filter(reported_name=only[0], vendor=only[1])
    else:
        aside = NameDecision.objects.filter(
            name=OuterRef("reported_name"), vendor=OuterRef("vendor"), action=NameDecision.Action.IGNORE, undone_at=None
        )
        cards = cards.filter(Exists(aside) if ignored else ~Exists(aside))
    if q:
        cards = cards.filter(reported_name__icontains=q)
    machine = "snapshot__machine"
    return (
        cards.values("reported_name", "vendor")
        .annotate(
            machines=Count(machine, distinct=True),
            public_machines=Count(machine, filter=Q(snapshot__machine__lab__is_public=True), distinct=True),
            last=Max("snapshot__taken_at"),
        )
        .order_by("-machines", "reported_name", "vendor")
    )


def _sizes(pairs: Sequence[NamePair]) -> dict[NamePair, tuple[int, ...]]:
    """The memory sizes cards report under these names. One query, none for none."""
    grouped: dict[NamePair, list[int]] = defaultdict(list)
    if pairs:
        rows = (
            Card.objects.filter(accelerator__isnull=True, reported_name__in={name for name, _vendor in pairs})
            .filter(memory_bytes__isnull=False)
            .values("reported_name", "vendor", "memory_bytes")
            .annotate(cards=Count("pk"))
            .order_by("-cards", "memory_bytes")
        )
        for row in rows:
            grouped[row["reported_name"], row["vendor"]].append(row["memory_bytes"] or 0)
    return {pair: tuple(sizes[:MOST_SIZES]) for pair, sizes in grouped.items()}


def known_names() -> list[CatalogueName]:
    """Every name of the catalogue with its product's memory sizes, to hold a reported name against. Three queries."""
    sold: dict[int, set[int]] = defaultdict(set)
    values = SpecValue.objects.filter(field__in=["memory_gb", "memory_gb_max"], status=SpecValue.Status.PUBLIC)
    for pk, amount in values.order_by().values_list("accelerator_id", "amount"):
        sold[pk].add(round(amount or 0))
    names = [
        CatalogueName(pk, name, vendor, tuple(sorted(sold[pk])))
        for pk, name, vendor in Accelerator.objects.order_by("pk").values_list("pk", "name", "vendor__slug")
    ]
    aliases = Alias.objects.exclude(kind=Alias.Kind.MACHINE).order_by("pk")
    for pk, name, vendor, size in aliases.values_list(
        "accelerator_id", "name", "accelerator__vendor__slug", "memory_bytes"
    ):
        names.append(CatalogueName(pk, name, vendor, (size,) if size else tuple(sorted(sold[pk]))))
    return names


def _aliases(pairs: Iterable[NamePair]) -> dict[str, list[Alias]]:
    """By normalized name: what has it already. One query."""
    wanted = {normalized(name) for name, _vendor in pairs} - {""}
    grouped: dict[str, list[Alias]] = defaultdict(list)
    for alias in Alias.objects.filter(normalized__in=wanted).select_related("accelerator__vendor").order_by("pk"):
        grouped[alias.normalized].append(alias)
    return grouped


def _decisions(pairs: Iterable[NamePair]) -> dict[str, list[NameDecision]]:
    """By name: what was decided about it, the newest first. One query."""
    grouped: dict[str, list[NameDecision]] = defaultdict(list)
    rows = NameDecision.objects.filter(normalized__in={key_of(name) for name, _vendor in pairs})
    for decision in rows.select_related("made_by").order_by("-step"):
        grouped[decision.normalized].append(decision)
    return grouped


def _sets_aside(decision: NameDecision, pair: NamePair) -> bool:
    is_about = (decision.name, decision.vendor) == pair
    return is_about and decision.action == NameDecision.Action.IGNORE and decision.undone_at is None


def latest_decisions(most: int = 20) -> list[NameDecision]:
    """The newest decisions about any name, with who made and who undid them. One query."""
    return list(NameDecision.objects.select_related("made_by", "undone_by").order_by("-made_at", "-pk")[:most])
