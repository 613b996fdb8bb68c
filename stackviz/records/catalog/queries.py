"""Everything public of the catalogue in memory, read once for each edition and process; what pages look up in it.

Its rows are shared by every request of the process: they are never modified. What they say is as fresh as the edition,
which each request reads; a change made with SQL by hand, which moves no edition, shows within OLDEST_S.
"""

import sys
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, TypeVar, cast

from django.db.models import QuerySet

from stackviz.records.catalog.fields import FIELDS
from stackviz.records.catalog.models import Accelerator, Alias, CatalogueEdition, Source, SpecValue
from stackviz.records.prices.price import Price, public_prices_of

EDITIONS = 2  # cached at most: the newest, and the one before it for requests in progress
OLDEST_S = 600.0

_Made = TypeVar("_Made")


class PublicCatalogue:
    """The public accelerators, what is published about them, and their names, as of one edition. Four queries.

    `accelerators`: by name, with their vendors. Values and names have their sources and accelerators loaded.
    """

    def __init__(self, edition: str) -> None:
        self.edition = edition
        self.read_at = time.monotonic()
        rows = Accelerator.objects.filter(is_public=True).select_related("vendor")
        self.accelerators = tuple(sorted(rows, key=lambda row: (row.name.lower(), row.pk)))
        self.by_pk = {row.pk: row for row in self.accelerators}
        self.by_slug = {row.slug: row for row in self.accelerators}
        self._sources = Source.objects.in_bulk()
        self._values: dict[int, list[SpecValue]] = {pk: [] for pk in self.by_pk}
        self._preferred: dict[tuple[int, str], list[SpecValue]] = {}
        for value in self._read_values():
            self._values[value.accelerator_id].append(value)
            if value.is_preferred:
                self._preferred.setdefault((value.accelerator_id, value.field), []).append(value)
        self._names: dict[int, list[Alias]] = {}
        for alias in sorted(Alias.objects.all(), key=lambda row: (row.kind, row.name, row.pk)):
            if alias.accelerator_id in self.by_pk:
                self._link(alias)
                self._names.setdefault(alias.accelerator_id, []).append(alias)
        self._made: dict[Hashable, object] = {}

    def values(self, pk: int) -> list[SpecValue]:
        """All public values of one accelerator, alternatives included, smallest first."""
        return self._values.get(pk, [])

    def preferred_values(self, pk: int) -> list[SpecValue]:
        """The preferred values of one accelerator, smallest first."""
        return [value for value in self.values(pk) if value.is_preferred]

    def preferred(self, pk: int, field: str) -> list[SpecValue]:
        """Of these the ones of one field."""
        return self._preferred.get((pk, field), [])

    def names(self, pk: int) -> list[Alias]:
        """The names of one accelerator, by kind and name."""
        return self._names.get(pk, [])

    def prices(self, pk: int) -> tuple[Price, ...]:
        """The public prices of one accelerator, newest first. One query an edition, for all accelerators."""
        return self.once("prices", lambda: public_prices_of(self.by_pk.keys())).get(pk, ())

    def cached(self, key: Hashable) -> Any:  # noqa: ANN401 (as it was stored)
        """Return what is cached for this edition under the key, or None. Keys must be few, as for `once`."""
        return self._made.get(key)

    def keep(self, key: Hashable, value: _Made) -> _Made:
        """Keep what depends on the rows alone, until there is a new edition."""
        self._made[key] = value
        return value

    def once(self, key: Hashable, make: Callable[[], _Made]) -> _Made:
        """The result of `make`, computed once per edition and `key`; it must depend on the rows alone.

        Keys must be few: fields, accelerators, languages; nothing that a visitor types.
        """
        if key not in self._made:
            self._made[key] = make()
        return cast("_Made", self._made[key])

    def _read_values(self) -> list[SpecValue]:
        public = SpecValue.objects.filter(status=SpecValue.Status.PUBLIC, accelerator__is_public=True).order_by()
        values = []
        for value in public:
            if value.accelerator_id in self.by_pk:  # it may have been published since they were read
                self._link(value)
                _share_texts(value)
                values.append(value)
        return sorted(values, key=lambda value: (value.amount or 0.0, value.value, value.pk))

    def _link(self, row: SpecValue | Alias) -> None:
        """Let the row find its source and accelerator without a query."""
        related = row._state.fields_cache  # noqa: SLF001 - what select_related fills
        related["source"] = self._sources.get(row.source_id) if row.source_id else None
        related["accelerator"] = self.by_pk[row.accelerator_id]


def _share_texts(value: SpecValue) -> None:
    """One text in memory where thousands of rows say the same."""
    attributes: dict[str, Any] = value.__dict__
    for name in ("field", "unit", "condition", "basis", "status", "said_by", "note"):
        attributes[name] = sys.intern(attributes[name])


_editions: dict[str, PublicCatalogue] = {}
_reading = threading.Lock()


def public_catalogue() -> PublicCatalogue:
    """The public catalogue as it is now. One query; four more in a process that has not read this edition yet."""
    edition = CatalogueEdition.current()
    catalogue = _fresh(edition)
    if catalogue is not None:
        return catalogue
    with _reading:  # of threads that come at once one reads
        catalogue = _fresh(edition)
        if catalogue is None:
            catalogue = PublicCatalogue(edition)
            _keep(catalogue)
        return catalogue


def _fresh(edition: str) -> PublicCatalogue | None:
    catalogue = _editions.get(edition)
    return catalogue if catalogue is not None and time.monotonic() - catalogue.read_at < OLDEST_S else None


def _keep(catalogue: PublicCatalogue) -> None:
    _editions.pop(catalogue.edition, None)
    _editions[catalogue.edition] = catalogue
    for old in _oldest(_editions, len(_editions) - EDITIONS):
        del _editions[old]


def _oldest(editions: Iterable[str], count: int) -> list[str]:
    return list(editions)[: max(0, count)]


def public_accelerators() -> QuerySet[Accelerator]:
    """Accelerators anybody may see, with their vendors."""
    return Accelerator.objects.filter(is_public=True).select_related("vendor")


def accelerators_by_slug(slugs: Iterable[str]) -> dict[str, Accelerator]:
    """The public accelerators with these slugs; unknown ones are absent. One query."""
    known = public_catalogue().by_slug
    return {slug: known[slug] for slug in slugs if slug in known}


def preferred_values(accelerator_ids: Iterable[int]) -> QuerySet[SpecValue]:
    """The public, preferred values of those of these accelerators that are public, with their sources."""
    return SpecValue.objects.filter(
        accelerator__in=set(accelerator_ids),
        accelerator__is_public=True,
        is_preferred=True,
        status=SpecValue.Status.PUBLIC,
    ).select_related("source")


def peaks(accelerator_ids: Iterable[int]) -> dict[tuple[int, str, str], float]:
    """(accelerator id, field, canonical condition) -> published amount in SI base units. One query.

    `usual_peak` picks the figure to compare a measurement with.
    """
    pks = set(accelerator_ids)
    if not pks:
        return {}
    catalogue = public_catalogue()
    amounts: dict[tuple[int, str, str], float] = {}
    for pk in pks:
        amounts |= _peaks(pk, catalogue)
    return amounts


def _peaks(pk: int, catalogue: PublicCatalogue) -> dict[tuple[int, str, str], float]:
    key = "peaks", pk
    return catalogue.cached(key) or catalogue.keep(key, peaks_of(catalogue.preferred_values(pk)))


def peaks_of(values: Iterable[SpecValue]) -> dict[tuple[int, str, str], float]:
    """What `peaks` finds, of these values."""
    return {
        (value.accelerator_id, value.field, value.condition): value.amount
        for value in values
        if value.amount is not None
    }


def usual_peak(
    amounts: Mapping[tuple[int, str, str], float], accelerator_id: int, field: str
) -> tuple[str, float] | None:
    """(condition, amount) under the first of the field's usual conditions that is published, or None.

    For fp16 on tensor cores that is the dense rate with fp32 accumulate, which is what cuBLAS and PyTorch do; a source
    that does not name the accumulate type (cards where it does not matter) comes next.
    """
    for condition in FIELDS[field].usual:
        amount = amounts.get((accelerator_id, field, condition))
        if amount is not None:
            return condition, amount
    return None


def successors(slug: str) -> list[Accelerator]:
    """The public sheets that a chip's name refers to: the variants of `m3-max`, the one sheet of `m6`. One query."""
    sheets = (row for row in public_catalogue().accelerators if row.family == slug or row.slug == f"apple-{slug}")
    return sorted(sheets, key=lambda row: row.slug)


# --- products that are announced and cannot be had yet ---

DATE = "release_date"
PLANNED = "event=planned"
CAME_OUT = frozenset({"", "event=launched", "event=shipped"})


def planned_date(dates: Iterable[SpecValue]) -> str:
    """When a product with these dates of release is to come out, as its source prints it; "" if it is out."""
    by_condition = {date.condition: date.value for date in dates}
    return "" if by_condition.keys() & CAME_OUT else by_condition.get(PLANNED, "")


def is_announced(accelerator: Accelerator, catalogue: PublicCatalogue) -> bool:
    """Whether it is announced only: what cannot be had takes no place and is no "largest of its kind"."""
    return bool(planned_date(catalogue.preferred(accelerator.pk, DATE)))
