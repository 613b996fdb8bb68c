"""Bring the database to what the catalogue's files say, without touching what people have corrected since."""

from collections.abc import Mapping
from datetime import date
from pathlib import Path

from django.db import transaction
from django.db.models import Model

from stackviz.records.catalog.files import DATA, Catalogue, data_version, read_catalogue
from stackviz.records.catalog.models import (
    Accelerator,
    Alias,
    CatalogueEdition,
    CatalogueLoad,
    Source,
    SpecValue,
    Vendor,
)
from stackviz.records.curated.change import (
    BATCH,
    Change,
    Counts,
    LoadSummary,
    loading,
    wait_for_other_loads,
    with_reason,
)
from stackviz.records.prices.file import load_prices
from stackviz.report.rules.known_cards import normalized

Slot = tuple[int, str, str]  # accelerator id, field, condition: one value of these may be preferred


def load_catalogue(folder: Path = DATA, *, force: bool = False) -> LoadSummary:
    """Load the curated files in one transaction. Cheap when they are loaded already, unless `force`.

    Raises CuratedDataError, and changes nothing, when the files are wrong.
    """
    version = data_version(folder)
    if CatalogueLoad.latest_version() == version and not force:
        return LoadSummary("catalogue", version)
    catalogue = read_catalogue(folder)
    with transaction.atomic():
        wait_for_other_loads()
        if CatalogueLoad.latest_version() == version and not force:
            return LoadSummary("catalogue", version)
        with loading(version) as reason:
            summary = LoadSummary("catalogue", version, _load(catalogue, reason))
        CatalogueLoad.objects.create(version=version, summary=str(summary))
        CatalogueEdition.renew()
    return summary


def _load(catalogue: Catalogue, reason: str) -> dict[str, Counts]:
    vendors = _vendors(catalogue)
    sources, source_counts = _load_sources(catalogue, reason)
    accelerators, accelerator_counts = _load_accelerators(catalogue, vendors, reason)
    value_counts = _load_values(catalogue, accelerators, sources, reason)
    name_counts = _load_aliases(catalogue, accelerators, sources, reason)
    price_counts = load_prices(catalogue.prices, _ids(accelerators), _ids(sources), reason)
    accelerator_counts.deleted = _delete_emptied(accelerators.keys() - {line.slug for line in catalogue.accelerators})
    return {
        "sources": source_counts,
        "accelerators": accelerator_counts,
        "values": value_counts,
        "names": name_counts,
        "prices": price_counts,
    }


def _ids(rows: Mapping[str, Model]) -> dict[str, int]:
    return {key: row.pk for key, row in rows.items()}


def _delete_emptied(gone: set[str]) -> int:
    """Delete accelerators whose lines are gone, unless data about them was added here. -> how many."""
    emptied = Accelerator.objects.filter(
        data_key__in=gone, spec_values__isnull=True, aliases__isnull=True, prices__isnull=True
    )
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
        line.key: Source(
            data_key=line.key,
            key=line.key,
            title=line.title,
            url=line.url,
            kind=line.kind,
            read_as=line.read_as,
            read_on=date.fromisoformat(line.read_on) if line.read_on else None,
        )
        for line in catalogue.sources
        if line.url
    }
    change = Change(Source, wanted, is_deleting=False)
    counts = change.apply(["key", "title", "url", "kind", "read_as", "read_on"], reason)
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
        value.normalise()
        wanted[line.key] = value
    change = Change(SpecValue, wanted)
    _give_way(change)
    if change.existing:  # a first load corrects nothing
        _say_why_corrected(catalogue, wanted, reason)
    changed = ["field", "value", "unit", "amount", "condition", "basis", "source", "said_by", "note", "status"]
    # What the files changed nobody here has checked yet.
    return change.apply([*changed, "is_preferred", "checked_by", "checked_at"], reason)


def _say_why_corrected(catalogue: Catalogue, wanted: dict[str, SpecValue], reason: str) -> None:
    """Give values of a corrected field their own reason; only those that change leave it in the history."""
    reasons = {(line.device, line.field): line.reason for line in catalogue.corrections}
    for line in catalogue.specs:
        if line.key in wanted and (line.device, line.field) in reasons:
            wanted[line.key].set_change_reason(with_reason(reason, reasons[line.device, line.field]))


def _give_way(change: Change[SpecValue]) -> None:
    """A value preferred here stays preferred: the value from the files becomes an alternative."""
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
