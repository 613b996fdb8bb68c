"""The rows of the dump, table by table. All decisions on which rows are public are made here.

Rows are read in chunks; each is a tuple in the order of its table's columns. `""` becomes None: unknown is null in the
dump. Private labs, drafts, values under review, users and keys are never read.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

from django.contrib.auth.models import AnonymousUser
from django.db.models import F, OuterRef, Q, QuerySet, Subquery

from stackviz.base.units import UNITS
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.catalog.models import Accelerator, Alias, Price, Source, SpecValue, Vendor
from stackviz.records.cited.models import CitedResult, CitedSource
from stackviz.records.hosts.models import Host, HostCard, HostComponent
from stackviz.records.labs.models import Card, Machine
from stackviz.records.labs.queries import visible_machines
from stackviz.records.series.measurement import benchmark
from stackviz.records.series.models import Result, Series
from stackviz.records.stacks.models import Component, Counterpart, Placement, Release, Requirement, Stack, UnfilledRole
from stackviz.report.measuring.stated_rate import stated_rate

CHUNK = 1_000
Row = tuple[Any, ...]
Item = TypeVar("Item")


def _values(rows: QuerySet[Any], columns: Iterable[str]) -> Iterator[Row]:
    """These columns of all rows, read in chunks. One query."""
    return (_known(row) for row in rows.values_list(*columns).iterator(chunk_size=CHUNK))


def _known(row: Iterable[Any]) -> Row:
    """The row with None in place of empty texts and non-finite numbers."""
    return tuple(None if cell == "" or (isinstance(cell, float) and not math.isfinite(cell)) else cell for cell in row)


def in_chunks(rows: Iterable[Item]) -> Iterator[list[Item]]:
    """Lists of CHUNK items, the last one shorter; never an empty list."""
    left = iter(rows)
    while chunk := list(islice(left, CHUNK)):
        yield chunk


# --- the catalogue ---


def _public_accelerators() -> QuerySet[Accelerator]:
    return Accelerator.objects.filter(is_public=True)


def _public_values() -> QuerySet[SpecValue]:
    return SpecValue.objects.filter(accelerator__is_public=True, status=SpecValue.Status.PUBLIC, source__isnull=False)


def _public_aliases() -> QuerySet[Alias]:
    """Aliases with a source: one without may come from a report of a private lab."""
    return Alias.objects.filter(accelerator__is_public=True, source__isnull=False)


def _public_prices() -> QuerySet[Price]:
    return Price.objects.filter(accelerator__is_public=True, status=Price.Status.PUBLIC)


def vendor_rows() -> Iterator[Row]:
    sold = Vendor.objects.filter(pk__in=_public_accelerators().values("vendor"))
    return _values(sold.order_by("slug"), ("slug", "name"))


def source_rows() -> Iterator[Row]:
    """The sources that rows of the dump cite."""
    citing = (
        _public_values(),
        _public_aliases(),
        _public_prices(),
        Component.objects.all(),
        Counterpart.objects.all(),
        UnfilledRole.objects.filter(stack__is_public=True),
        Release.objects.all(),
        Requirement.objects.all(),
    )
    by_any = Q(pk__in=[])
    for rows in citing:
        by_any |= Q(pk__in=rows.order_by().values("source"))
    columns = ("key", "title", "url", "kind", "read_as", "read_on")
    for *row, read_on in _values(Source.objects.filter(by_any).order_by("key"), columns):
        yield (*row, read_on.isoformat() if read_on else None)


def field_rows() -> Iterator[Row]:
    for field in FIELDS.values():
        title, meaning = field.words
        yield _known((field.name, title, field.unit, field.group, meaning, field.higher_is_better, field.is_headline))


def accelerator_rows() -> Iterator[Row]:
    return _values(_public_accelerators().order_by("slug"), ("slug", "name", "vendor__slug", "kind", "family"))


def spec_value_rows() -> Iterator[Row]:
    rows = _public_values().order_by("accelerator__slug", "field", "condition", "-is_preferred", "pk")
    columns = ("accelerator__slug", "field", "value", "unit", "amount", "condition", "is_preferred", "basis")
    for row in rows.values_list(*columns, "source__key", "note", "checked_at").iterator(chunk_size=CHUNK):
        accelerator, field, value, unit, amount, condition, is_preferred, *rest = row
        si = UNITS[unit].si if unit in UNITS else ""
        status = "preferred" if is_preferred else "alternative"
        yield _known((accelerator, field, value, unit, amount, si, condition, status, *rest))


def price_rows() -> Iterator[Row]:
    rows = _public_prices().select_related("accelerator", "source")
    for price in rows.order_by("accelerator__slug", "kind", F("day").asc(nulls_last=True), "pk").iterator(
        chunk_size=CHUNK
    ):
        status = "preferred" if price.is_preferred else "alternative"
        subject = (price.accelerator.slug, str(price.kind), float(price.amount), price.currency, price.cards)
        where = (price.day_text, price.seller, price.offer)
        yield _known((*subject, *where, status, price.source.key, price.note))


def alias_rows() -> Iterator[Row]:
    rows = _public_aliases().order_by("accelerator__slug", "kind", "name", "pk")
    return _values(rows, ("accelerator__slug", "name", "kind", "memory_bytes", "gpu_cores", "source__key", "note"))


# --- the stacks ---


def stack_table_rows() -> Iterator[Row]:
    rows = Stack.objects.filter(is_public=True).order_by("slug")
    return _values(rows, ("slug", "name", "vendor", "system", "summary"))


def component_rows() -> Iterator[Row]:
    columns = (
        "slug", "name", "maker", "layer", "role", "part_of__slug", "what_it_is", "what_it_does", "see_version",
        "docs_url", "source__key",
    )  # fmt: skip
    return _values(Component.objects.order_by("slug"), columns)


def placement_rows() -> Iterator[Row]:
    rows = Placement.objects.filter(stack__is_public=True).order_by("stack__slug", "order", "pk")
    return _values(rows, ("stack__slug", "component__slug", "order", "version", "role", "note", "since", "until"))


def counterpart_rows() -> Iterator[Row]:
    rows = Counterpart.objects.order_by("component__slug", "pk")
    return _values(rows, ("component__slug", "other__slug", "relation", "differs", "source__key"))


def unfilled_role_rows() -> Iterator[Row]:
    rows = UnfilledRole.objects.filter(stack__is_public=True).order_by("stack__slug", "role")
    return _values(rows, ("stack__slug", "role", "done_by__slug", "explanation", "source__key"))


def release_rows() -> Iterator[Row]:
    columns = ("component__slug", "version", "variant", "line", "released", "support_ends", "source__key", "note")
    return _values(Release.objects.order_by("component__slug", "pk"), columns)


def requirement_table_rows() -> Iterator[Row]:
    columns = (
        "release__component__slug", "release__version", "release__variant", "platform", "relation", "subject", "part",
        "low", "values", "confidence", "source__key", "note",
    )  # fmt: skip
    return _values(Requirement.objects.order_by("release__component__slug", "release", "pk"), columns)


# --- cited results ---


def _cited_results() -> QuerySet[CitedResult]:
    """All but those that were withdrawn, each with its state."""
    return CitedResult.objects.exclude(state=CitedResult.State.WITHDRAWN)


def cited_source_rows() -> Iterator[Row]:
    rows = CitedSource.objects.filter(pk__in=_cited_results().order_by().values("source"))
    return _values(rows.order_by("key"), ("key", "title", "url", "kind", "licence", "read_in"))


def cited_result_rows() -> Iterator[Row]:
    """The accelerator is given only while its spec sheet is public."""
    columns = ("accelerator__slug", "accelerator__is_public", "reported_name", "count", "benchmark", "params", "value")
    rest = ("software", "date", "source__key", "note", "state", "reason", "host__slug", "host__state")
    rows = _cited_results().order_by("benchmark", "pk").values_list("pk", *columns, "unit", "amount", *rest)
    for (
        pk,
        slug,
        is_public,
        *figures,
        unit,
        amount,
        software,
        date,
        source,
        note,
        state,
        reason,
        host,
        host_state,
    ) in rows.iterator(chunk_size=CHUNK):
        texts = _known((source, note, state, reason))
        public_host = host if host_state == Host.State.PUBLIC else None
        sheet = slug if is_public else None
        dated = date.isoformat() if date else None
        yield (pk, sheet, *_known(figures), unit, amount, UNITS[unit].si, software, dated, *texts, public_host)


# --- public hosts ---


def _public_hosts() -> QuerySet[Host]:
    return Host.objects.filter(state=Host.State.PUBLIC)


def host_table_rows() -> Iterator[Row]:
    columns = (
        "slug", "title", "vendor__slug", "form", "system", "kernel", "cpu", "cpu_cores", "memory_bytes",
        "virtualisation", "seen_on", "is_month_only", "source_url", "source_kind", "note", "teaches",
    )  # fmt: skip
    seen_at = columns.index("seen_on")
    for row in _values(_public_hosts().order_by("slug"), columns):
        yield (*row[:seen_at], row[seen_at].isoformat(), *row[seen_at + 1 :])


def host_card_rows() -> Iterator[Row]:
    """The accelerator of a card is given only while its spec sheet is public."""
    columns = (
        "host__slug", "index", "reported_name", "accelerator__slug", "accelerator__is_public", "memory_bytes",
        "driver_version", "power_limit_w", "pcie_generation", "pcie_lanes", "compute_capability", "gpu_cores",
    )  # fmt: skip
    rows = HostCard.objects.filter(host__in=_public_hosts()).order_by("host__slug", "index")
    for host, index, reported_name, slug, is_public, *rest in _values(rows, columns):
        yield (host, index, reported_name, slug if is_public else None, *rest)


def host_component_rows() -> Iterator[Row]:
    rows = HostComponent.objects.filter(host__in=_public_hosts()).order_by("host__slug", "name")
    return _values(rows, ("host__slug", "name", "value", "state"))


# --- the machines of public labs ---


def public_machines() -> QuerySet[Machine]:
    """Machines of public labs that have reported."""
    return visible_machines(AnonymousUser()).filter(latest_snapshot__isnull=False).select_related(None)


def machine_table_rows() -> Iterator[Row]:
    rows = public_machines().order_by("lab__slug", "slug")
    snapshot_columns = ("taken_at", "report_id", "agent", "facts", "software")
    columns = [f"latest_snapshot__{name}" for name in snapshot_columns]
    for row in _values(rows, ("lab__slug", "lab__name", "slug", "name", *columns)):
        *names, taken_at, report, agent, facts, software = row
        yield (*names, taken_at, str(report), agent, facts or {}, software or [])


def card_table_rows() -> Iterator[Row]:
    """The accelerator of a card is given only while its spec sheet is public."""
    rows = Card.objects.filter(snapshot__in=public_machines().values("latest_snapshot"))
    columns = ("snapshot__machine__lab__slug", "snapshot__machine__slug", "index", "kind", "vendor", "reported_name")
    sheet = ("accelerator__slug", "accelerator__is_public", "memory_bytes", "facts")
    for row in _values(
        rows.order_by("snapshot__machine__lab__slug", "snapshot__machine__slug", "index"), (*columns, *sheet)
    ):
        *names, slug, is_public, memory, facts = row
        yield (*names, slug if is_public else None, memory, facts or {})


def result_rows() -> Iterator[Row]:
    """The newest result of each series. One query for the series, one for each CHUNK of them."""
    newest = Result.objects.filter(series=OuterRef("pk")).order_by("-measured_at").values("pk")[:1]
    series = Series.objects.filter(machine__in=public_machines().values("pk")).annotate(newest=Subquery(newest))
    ids = series.order_by("pk").values_list("newest", flat=True).iterator(chunk_size=CHUNK)
    for chunk in in_chunks(pk for pk in ids if pk is not None):
        rows = Result.objects.filter(pk__in=chunk).order_by("series__pk")
        yield from (_result(row) for row in rows.values_list(*_OF_RESULT))


_OF_RESULT = (
    "series__machine__lab__slug", "series__machine__slug", "series__benchmark", "series__version", "series__device",
    "series__card_index", "series__params", "measured_at", "state", "reason", "unit", "median", "q1", "q3", "low",
    "high", "sample_count", "flags", "standing", "report_id", "conditions",
)  # fmt: skip


def _result(row: Sequence[Any]) -> Row:
    *figures, sample_count, flags, standing, report, conditions = row
    _lab, _machine, key, version, _device, _card, params, *_rest = figures
    median, unit = row[_OF_RESULT.index("median")], row[_OF_RESULT.index("unit")]
    rate = stated_rate(benchmark(key, version), params, unit, median)
    rate_columns = (None, None) if rate is None else (rate.value, rate.unit)
    return (*_known(figures), sample_count, *_known(rate_columns), flags, standing, str(report), conditions or {})


ROWS: dict[str, Callable[[], Iterator[Row]]] = {
    "vendors": vendor_rows,
    "sources": source_rows,
    "fields": field_rows,
    "accelerators": accelerator_rows,
    "spec_values": spec_value_rows,
    "prices": price_rows,
    "aliases": alias_rows,
    "stacks": stack_table_rows,
    "components": component_rows,
    "placements": placement_rows,
    "counterparts": counterpart_rows,
    "unfilled_roles": unfilled_role_rows,
    "releases": release_rows,
    "requirements": requirement_table_rows,
    "cited_sources": cited_source_rows,
    "cited_results": cited_result_rows,
    "hosts": host_table_rows,
    "host_cards": host_card_rows,
    "host_components": host_component_rows,
    "machines": machine_table_rows,
    "cards": card_table_rows,
    "results": result_rows,
}
