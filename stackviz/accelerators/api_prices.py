"""The HTTP API of dated prices, for reading: street prices and rents, each with its day, place and source."""

from datetime import date
from typing import Annotated

from django.http import HttpRequest
from ninja import Query, Router, Schema
from ninja.decorators import decorate_view

from stackviz.accelerators.api_query import page_links
from stackviz.accelerators.api_schemas import AcceleratorBrief, Paged, SourceBrief, brief, source_brief
from stackviz.catalog.models import CatalogueEdition, Price
from stackviz.web.address import clean_text
from stackviz.web.conditional import unless_changed
from stackviz.web.errors import ErrorBody, Refusal, refuse_others

router = Router()

Limit = Annotated[int, Query(ge=1, le=1000, description="maximum number of items")]
Offset = Annotated[int, Query(ge=0, le=100_000, description="number of items to skip")]


class PriceOut(Schema):
    """`amount` in `currency` for `cards` together, as printed: nothing is converted.

    `day`: 2025-11-30, or 2026-02 where only the month is known. Exactly one of those of one place, offer and day
    `is_preferred`.
    """

    accelerator: AcceleratorBrief
    kind: str
    amount: float
    currency: str
    cards: int
    day: str
    place: str
    offer: str
    is_preferred: bool
    source: SourceBrief
    note: str


class PricePage(Paged):
    items: list[PriceOut]


@router.get(
    "/prices/",
    operation_id="stackviz_catalog_api_list_prices",
    response={200: PricePage, 422: ErrorBody},
    summary="Street prices and rents, dated",
)
@decorate_view(unless_changed(CatalogueEdition.current))
def list_prices(
    request: HttpRequest,
    accelerator: Annotated[str, Query(description="slug")] = "",
    kind: Annotated[str, Query(description="street or rent")] = "",
    currency: Annotated[str, Query(description="code of ISO 4217, such as USD")] = "",
    since: Annotated[str, Query(description="2025-11-30: not earlier")] = "",
    until: Annotated[str, Query(description="2026-02-28: not later")] = "",
    limit: Limit = 100,
    offset: Offset = 0,
) -> PricePage:
    """The newest first. Launch prices are values: `/api/v1/values/?field=launch_price_usd`."""
    refuse_others(request, {"accelerator", "kind", "currency", "since", "until", "limit", "offset"})
    if kind and kind not in Price.Kind.values:
        raise Refusal(422, f"kind must be one of {', '.join(Price.Kind.values)}, not {kind[:40]!r}", "kind")
    wanted: dict[str, object] = {
        "accelerator__slug": clean_text(accelerator),
        "kind": kind,
        "currency": clean_text(currency),
        "day__gte": _day(since, "since"),
        "day__lte": _day(until, "until"),
    }
    rows = Price.objects.filter(status=Price.Status.PUBLIC, accelerator__is_public=True)
    rows = rows.filter(**{name: value for name, value in wanted.items() if value})
    ordered = rows.order_by("-day", "accelerator__slug", "place", "offer", "-is_preferred", "pk")
    shown = ordered.select_related("source", "accelerator__vendor")[offset : offset + limit]
    return PricePage(**page_links(request, rows.count(), limit, offset), items=[_out(row) for row in shown])


def _day(text: str, parameter: str) -> date | None:
    """Raises Refusal for what is no day."""
    if not text:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise Refusal(422, f"{text[:40]!r} is not a day such as 2025-11-30", parameter) from None


def _out(price: Price) -> PriceOut:
    return PriceOut(
        accelerator=brief(price.accelerator),
        kind=price.kind,
        amount=float(price.amount),
        currency=price.currency,
        cards=price.cards,
        day=price.day_text,
        place=price.place,
        offer=price.offer,
        is_preferred=price.is_preferred,
        source=source_brief(price.source),
        note=price.note,
    )
