"""Bring the database to what the curated files say, without touching what people have corrected since.

Every row remembers the digest of what was last loaded into it. A row that still has it belongs to the files: it is
updated, or deleted when its line is gone. A row that differs has been corrected here: it stays, and is counted.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from django.db import connection, transaction
from django.db.models import Manager, Model
from django.utils import timezone
from simple_history.utils import bulk_create_with_history, bulk_update_with_history

from stackviz.catalog.files import DATA, Catalogue, data_version, read_catalogue
from stackviz.catalog.models import Accelerator, Alias, CatalogueLoad, Curated, Source, SpecValue, Vendor
from stackviz.catalog.names import normalized

BATCH = 500
LOADING = 0x0CA7A106  # names the lock that a load holds; any number no other lock of ours uses
Row = TypeVar("Row", bound=Curated)
Slot = tuple[int, str, str]  # accelerator id, field, condition: one value of these may be preferred


@dataclass(slots=True)
class Counts:
    """What happened to the rows of one table. `kept`: corrected or deleted here, so left as they are."""

    created: int = 0
    updated: int = 0
    deleted: int = 0
    kept: int = 0

    def __str__(self) -> str:
        parts = {
            "new": self.created,
            "updated": self.updated,
            "deleted": self.deleted,
            "kept as corrected here": self.kept,
        }
        return ", ".join(f"{number} {word}" for word, number in parts.items() if number) or "unchanged"


@dataclass(slots=True)
class Summary:
    """What a load did. `is_unchanged`: the files were loaded already, nothing was looked at."""

    version: str
    is_unchanged: bool = False
    tables: dict[str, Counts] = field(default_factory=dict)

    def __str__(self) -> str:
        if self.is_unchanged:
            return f"catalogue {self.version[:12]} is loaded already"
        return f"catalogue {self.version[:12]}: " + "; ".join(
            f"{name}: {counts}" for name, counts in self.tables.items()
        )


def load_catalogue(folder: Path = DATA, *, force: bool = False) -> Summary:
    """Load the curated files in one transaction. Cheap when they are loaded already, unless `force`.

    Raises CatalogueDataError, and changes nothing, when the files are wrong.
    """
    version = data_version(folder)
    if _latest_version() == version and not force:
        return Summary(version, is_unchanged=True)
    catalogue = read_catalogue(folder)
    with transaction.atomic():
        _wait_for_other_loads()
        if _latest_version() == version and not force:
            return Summary(version, is_unchanged=True)
        tables = _load(catalogue)
        summary = Summary(version, tables=tables)
        CatalogueLoad.objects.create(version=version, summary=str(summary))
    return summary


def _latest_version() -> str | None:
    return CatalogueLoad.objects.values_list("version", flat=True).first()


def _wait_for_other_loads() -> None:
    """Two containers that start together load one after the other. SQLite's transactions do so by themselves."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOADING])


def _load(catalogue: Catalogue) -> dict[str, Counts]:
    reason = f"Loaded from the curated files, version {catalogue.version[:12]}"
    vendors = _vendors(catalogue)
    sources, source_counts = _load_sources(catalogue, reason)
    accelerators, accelerator_counts = _load_accelerators(catalogue, vendors, reason)
    value_counts = _load_values(catalogue, accelerators, sources, reason)
    name_counts = _load_aliases(catalogue, accelerators, sources, reason)
    accelerator_counts.deleted = _delete_emptied(accelerators.keys() - {line.slug for line in catalogue.accelerators})
    return {
        "sources": source_counts,
        "accelerators": accelerator_counts,
        "values": value_counts,
        "names": name_counts,
    }


def _delete_emptied(gone: set[str]) -> int:
    """Delete accelerators whose lines are gone, unless something said about them here is left. -> how many."""
    emptied = Accelerator.objects.filter(data_key__in=gone, spec_values__isnull=True, aliases__isnull=True)
    keys = [row.pk for row in emptied if not row.is_corrected_here]
    Accelerator.objects.filter(pk__in=keys).delete()
    return len(keys)


def _vendors(catalogue: Catalogue) -> dict[str, Vendor]:
    Vendor.objects.bulk_create(
        [Vendor(slug=line.slug, name=line.name) for line in catalogue.vendors], ignore_conflicts=True, batch_size=BATCH
    )
    return {vendor.slug: vendor for vendor in Vendor.objects.all()}


def _load_sources(catalogue: Catalogue, reason: str) -> tuple[dict[str, Source], Counts]:
    wanted = {
        line.key: Source(data_key=line.key, key=line.key, title=line.title, url=line.url, kind=line.kind)
        for line in catalogue.sources
        if line.url
    }
    change = Change(Source, wanted, is_deleting=False)
    counts = change.apply(["key", "title", "url", "kind"], reason)
    return {row.data_key or "": row for row in Source.objects.filter(data_key__isnull=False)}, counts


def _load_accelerators(
    catalogue: Catalogue, vendors: dict[str, Vendor], reason: str
) -> tuple[dict[str, Accelerator], Counts]:
    wanted = {
        line.slug: Accelerator(
            data_key=line.slug,
            slug=line.slug,
            name=line.name,
            vendor=vendors[line.vendor],
            kind=line.kind,
            family=line.family,
        )
        for line in catalogue.accelerators
    }
    change = Change(Accelerator, wanted, is_deleting=False)
    counts = change.apply(["slug", "name", "vendor", "kind", "family"], reason)
    return {row.data_key or "": row for row in Accelerator.objects.filter(data_key__isnull=False)}, counts


def _load_values(
    catalogue: Catalogue, accelerators: dict[str, Accelerator], sources: dict[str, Source], reason: str
) -> Counts:
    titles = {line.key: line.title for line in catalogue.sources if not line.url}
    wanted: dict[str, SpecValue] = {}
    for line in catalogue.specs:
        if line.device not in accelerators:  # deleted here
            continue
        value = SpecValue(
            data_key=line.key,
            accelerator=accelerators[line.device],
            field=line.field,
            value=line.value,
            unit=line.unit,
            condition=line.condition,
            basis=line.basis,
            source=sources.get(line.source),
            said_by=titles.get(line.source, ""),
            note=line.note,
            status=SpecValue.Status.PUBLIC if line.status == "alternative" else line.status,
            is_preferred=line.status == "public",
        )
        value.settle()
        wanted[line.key] = value
    change = Change(SpecValue, wanted)
    _give_way(change)
    changed = ["field", "value", "unit", "amount", "condition", "basis", "source", "said_by", "note", "status"]
    return change.apply([*changed, "is_preferred"], reason)


def _give_way(change: "Change[SpecValue]") -> None:
    """A value somebody preferred here stays preferred: the files' own value becomes an alternative."""
    by_hand = SpecValue.objects.filter(is_preferred=True, data_key__isnull=True)
    taken: set[Slot] = {_slot(value) for value in [*by_hand, *change.corrected] if value.is_preferred}
    for value in change.wanted.values():
        if value.is_preferred and _slot(value) in taken:
            value.is_preferred = False


def _slot(value: SpecValue) -> Slot:
    return value.accelerator_id, value.field, value.condition


def _load_aliases(
    catalogue: Catalogue, accelerators: dict[str, Accelerator], sources: dict[str, Source], reason: str
) -> Counts:
    wanted = {
        line.key: Alias(
            data_key=line.key,
            accelerator=accelerators[line.device],
            name=line.name,
            normalized=normalized(line.name),
            kind=line.kind,
            memory_bytes=round(float(line.memory_gb) * 1e9) if line.memory_gb else None,
            gpu_cores=int(line.gpu_cores) if line.gpu_cores else None,
            source=sources.get(line.source),
            note=line.note,
        )
        for line in catalogue.aliases
        if line.device in accelerators
    }
    change = Change(Alias, wanted)
    return change.apply(["name", "normalized", "kind", "memory_bytes", "gpu_cores", "source", "note"], reason)


class Change(Generic[Row]):
    """What it takes to bring one table to the wanted rows (by data_key). Reads on creation, writes in `apply`."""

    def __init__(self, model: type[Row], wanted: dict[str, Row], *, is_deleting: bool = True) -> None:
        self.model, self.wanted, self.is_deleting = model, wanted, is_deleting
        self.rows: Manager[Row] = model._default_manager  # noqa: SLF001 - Django documents it for reusable code
        rows: Iterable[Row] = self.rows.filter(data_key__isnull=False)
        self.existing: dict[str, Row] = {row.data_key or "": row for row in rows}
        self.corrected = [row for row in self.existing.values() if row.is_corrected_here]
        self._deleted_here = self._keys_deleted_by_people() if self.existing else set()

    def _keys_deleted_by_people(self) -> set[str]:
        """Keys of rows that were deleted by hand: the loader deletes without leaving a history record."""
        history = getattr(self.model, "history", None)
        if history is None:
            return set()
        return set(history.filter(history_type="-", data_key__isnull=False).values_list("data_key", flat=True))

    def apply(self, changed: list[str], reason: str) -> Counts:
        """Delete, update, create, in the caller's transaction; `changed`: the columns a line of the files decides."""
        protected = {row.data_key for row in self.corrected}
        gone = [key for key in self.existing if key not in self.wanted and key not in protected]
        absent = self.wanted.keys() - self.existing.keys()
        new = {key: row for key, row in self.wanted.items() if key in absent - self._deleted_here}
        updated = self._updated(changed, protected)
        for row in [*new.values(), *updated]:
            row.loaded_digest = row.digest
        self._delete(gone)
        self._update(updated, changed, reason)
        self._create(list(new.values()), reason)
        kept = len(self.corrected) + len(self._deleted_here & absent)
        return Counts(len(new), len(updated), len(gone) if self.is_deleting else 0, kept)

    def _updated(self, changed: list[str], protected: set[str | None]) -> list[Row]:
        rows = []
        for key, wanted in self.wanted.items():
            row = self.existing.get(key)
            if row is None or key in protected or row.digest == wanted.digest:
                continue
            for name in changed:
                setattr(row, name, getattr(wanted, name))
            rows.append(row)
        return rows

    def _delete(self, gone: list[str]) -> None:
        if self.is_deleting and gone:
            self.rows.filter(data_key__in=gone).delete()

    def _update(self, rows: list[Row], changed: list[str], reason: str) -> None:
        if not rows:
            return
        if "is_preferred" in changed:  # free the places first: two values may swap their preference
            self.rows.filter(pk__in=[row.pk for row in rows]).update(is_preferred=False)
        columns = [*changed, "loaded_digest", "changed_at"]
        for row in rows:
            row.changed_at = timezone.now()
        if _has_history(self.model):
            bulk_update_with_history(rows, self.model, columns, batch_size=BATCH, default_change_reason=reason)
        else:
            self.rows.bulk_update(rows, columns, batch_size=BATCH)

    def _create(self, rows: list[Row], reason: str) -> None:
        if _has_history(self.model):
            bulk_create_with_history(rows, self.model, batch_size=BATCH, default_change_reason=reason)
        else:
            self.rows.bulk_create(rows, batch_size=BATCH)


def _has_history(model: type[Model]) -> bool:
    return hasattr(model, "history")
