"""Entries of the catalogue: accelerators with every name they report, and the fields of spec sheets."""

import re
from collections.abc import Iterator

from django.urls import reverse
from django.utils.translation import override

from stackviz.pages.accelerators.list_query import COLUMN_NAMES
from stackviz.pages.search.entries import SearchEntry, SearchKind
from stackviz.pages.search.proper_names import chinese_names
from stackviz.records.catalog.fields import FIELDS, Field
from stackviz.records.catalog.figures import for_people, join_variants, usual_values
from stackviz.records.catalog.models import Accelerator, Alias
from stackviz.records.catalog.queries import PublicCatalogue

ENGLISH, CHINESE = "en", "zh-hans"
_OF_DESIGN = ("chip", "architecture", "form_factor", "metal_gpu_family")
_CAPABILITY = re.compile(r"(\d+)\.(\d)")
_IS_A_MAC = re.compile(r"(?:MacBook|iMac|Mac )")


def accelerator_entries(catalogue: PublicCatalogue) -> Iterator[SearchEntry]:
    """The public accelerators. No query."""
    for row in catalogue.accelerators:
        design = [value.value for field in _OF_DESIGN for value in catalogue.preferred(row.pk, field)]
        keywords = (row.vendor.name, row.slug, str(row.get_kind_display()), *design)
        yield SearchEntry(
            kind=SearchKind.ACCELERATOR,
            title=row.name,
            url=row.get_absolute_url(),
            line=_accelerator_line(row, catalogue),
            names=tuple(dict.fromkeys(_reported_names(row, catalogue))),
            keywords=(*keywords, *_capabilities(row, catalogue), *chinese_names((row.name, row.vendor.name))),
        )


def _reported_names(row: Accelerator, catalogue: PublicCatalogue) -> Iterator[str]:
    """What cards and tools report, models of Macs, and the names these are sold under."""
    for alias in catalogue.names(row.pk):
        yield alias.name
        if alias.kind == Alias.Kind.MACHINE and _IS_A_MAC.match(alias.note):
            yield alias.note
    for value in catalogue.preferred(row.pk, "macs_shipped_in"):
        yield value.value


def _capabilities(row: Accelerator, catalogue: PublicCatalogue) -> Iterator[str]:
    """`sm_90` of the compute capability 9.0."""
    for value in catalogue.preferred(row.pk, "compute_capability"):
        if match := _CAPABILITY.fullmatch(value.value):
            yield f"sm_{match[1]}{match[2]}"
            yield value.value


def _accelerator_line(row: Accelerator, catalogue: PublicCatalogue) -> str:
    """`Hopper · 80 GB · 3,350 GB/s`"""
    texts = []
    for name in ("architecture", "memory_gb", "memory_bandwidth_gb_s"):
        values = usual_values(FIELDS[name], catalogue.preferred(row.pk, name))
        texts.append(join_variants([for_people(value).label for value in values]))
    return " · ".join(filter(None, texts)) or f"{row.vendor.name} · {row.get_kind_display()}"


def field_entries() -> Iterator[SearchEntry]:
    """Fields that the list of accelerators can show, which is where they lead."""
    for name in COLUMN_NAMES:
        field = FIELDS[name]
        yield SearchEntry(
            kind=SearchKind.FIELD,
            title=field.words[0],
            url=_column_url(field),
            line=field.words[1],
            names=tuple(_in_every_language(field)),
            keywords=(name, field.unit, *chinese_names((name.replace("_", " "),))),
        )


def _in_every_language(field: Field) -> Iterator[str]:
    """Its titles in other languages than the reader's."""
    shown = field.words[0]
    for language in (ENGLISH, CHINESE):
        with override(language):
            title = field.words[0]
        if title != shown:
            yield title


def _column_url(field: Field) -> str:
    """The list with this column, sorted by it, the better end first."""
    is_ascending = field.is_text or field.higher_is_better is False
    columns = "".join(f"&cols={name}" for name in dict.fromkeys(("memory_gb", field.name)))
    return f"{reverse('accelerators:list')}?sort={'' if is_ascending else '-'}{field.name}{columns}"
