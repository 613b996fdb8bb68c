"""The HTTP API of the catalogue: accelerators by name, and one with all its public values."""

from typing import Annotated

from django.http import HttpRequest
from ninja import Query, Router, Schema, Status

from stackviz.catalog.models import Alias, SpecValue
from stackviz.catalog.queries import matching_accelerators, public_accelerators
from stackviz.web.asked import clean_text
from stackviz.web.errors import ErrorBody

router = Router()


class AcceleratorBrief(Schema):
    slug: str
    name: str
    vendor: str
    kind: str


class AcceleratorPage(Schema):
    """`count` is of all that match, whatever `limit` and `offset` cut out of them."""

    count: int
    items: list[AcceleratorBrief]


class SourceOut(Schema):
    title: str
    url: str


class SpecOut(Schema):
    """One preferred value: a number in `unit`, or text with an empty unit. `condition` is canonical text, or empty."""

    field: str
    value: float | int | str
    unit: str
    condition: str
    basis: str
    source: SourceOut
    note: str


class AcceleratorOut(AcceleratorBrief):
    aliases: list[str]
    specs: list[SpecOut]


@router.get("/accelerators/", response=AcceleratorPage, summary="Accelerators by name, vendor and kind")
def list_accelerators(
    request: HttpRequest,  # noqa: ARG001
    q: Annotated[str, Query(max_length=100, description="words of a name, or a name that a card reports")] = "",
    vendor: Annotated[str, Query(max_length=60, description="slug, such as nvidia")] = "",
    kind: Annotated[str, Query(max_length=8, description="gpu, soc, npu or asic")] = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    offset: Annotated[int, Query(ge=0, le=100_000)] = 0,
) -> AcceleratorPage:
    """Ordered by name. A vendor or kind that does not exist finds nothing."""
    found = matching_accelerators(clean_text(q), clean_text(vendor), clean_text(kind))
    items = [
        AcceleratorBrief(slug=item.slug, name=item.name, vendor=item.vendor.slug, kind=item.kind)
        for item in found[offset : offset + limit]
    ]
    return AcceleratorPage(count=found.count(), items=items)


@router.get("/accelerators/{slug}/", response={200: AcceleratorOut, 404: ErrorBody}, summary="One accelerator's values")
def get_accelerator(request: HttpRequest, slug: str) -> Status[AcceleratorOut | ErrorBody]:  # noqa: ARG001
    """Every public value with its source, in the unit named; field names as in the curated files."""
    accelerator = public_accelerators().filter(slug=clean_text(slug)).first()
    if accelerator is None:
        return Status(404, ErrorBody(error=f"there is no accelerator {slug[:80]!r}", field="slug"))
    names = accelerator.aliases.filter(kind=Alias.Kind.REPORTED).order_by("name").values_list("name", flat=True)
    values = accelerator.spec_values.filter(status=SpecValue.Status.PUBLIC, is_preferred=True)
    answer = AcceleratorOut(
        slug=accelerator.slug,
        name=accelerator.name,
        vendor=accelerator.vendor.slug,
        kind=accelerator.kind,
        aliases=list(dict.fromkeys(names)),
        specs=[spec_out(value) for value in values.select_related("source").order_by("field", "condition")],
    )
    return Status(200, answer)


def spec_out(value: SpecValue) -> SpecOut:
    """A public value as the API gives it; it has a source, the database sees to that."""
    assert value.source is not None, "a public value has a source"  # noqa: S101
    return SpecOut(
        field=value.field,
        value=number_or_text(value),
        unit=value.unit,
        condition=value.condition,
        basis=value.basis,
        source=SourceOut(title=value.source.title, url=value.source.url),
        note=value.note,
    )


def number_or_text(value: SpecValue) -> float | int | str:
    """`3350` and `989.4` as numbers in the unit named, whole ones as integers; text as it is."""
    if value.amount is None:
        return value.value
    number = float(value.value)
    return int(number) if number.is_integer() else number
