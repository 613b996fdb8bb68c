"""The HTTP API of dated prices, for reading: street prices and rents, each with its day, seller and source."""

from datetime import date

from django.db.models import F
from django.http import HttpRequest
from ninja import Field as Described
from ninja import Query, Router, Schema
from ninja.decorators import decorate_view

from stackviz.pages.accelerators.api_query import PageParameters, page_links
from stackviz.pages.accelerators.api_schemas import AcceleratorBrief, Paged, SourceBrief, brief, source_brief
from stackviz.records.catalog.models import CatalogueEdition, Price
from stackviz.web.http.address import clean_text
from stackviz.web.http.conditional import unless_changed
from stackviz.web.http.errors import ErrorBody, Refusal, refuse_others
from stackviz.web.http.openapi import none_or_one_of, one_of, written_as

router = Router()

DAY = written_as(anyOf=[{"const": ""}, {"format": "date"}])


class PriceParameters(PageParameters):
    accelerator: str = Described("", description="slug")
    kind: str = Described("", description="street or rent", json_schema_extra=none_or_one_of(Price.Kind.values))
    currency: str = Described("", description="code of ISO 4217, such as USD")
    since: str = Described("", description="2025-11-30: not earlier", json_schema_extra=DAY)
    until: str = Described("", description="2026-02-28: not later", json_schema_extra=DAY)


class PriceOut(Schema):
    """`amount` in `currency` for `cards` together, as printed: nothing is converted.

    `day`: that of the offer, such as 2025-11-30; 2026-02 where only the month is known, `undated` where the source
    names neither. Exactly one of those of one seller, offer and day
    `is_preferred`.
    """

    accelerator: AcceleratorBrief
    kind: str = Described(json_schema_extra=one_of(Price.Kind.values))
    amount: float
    currency: str
    cards: int
    day: str
    seller: str
    offer: str
    is_preferred: bool
    source: SourceBrief
    note: str


class PricePage(Paged):
    items: list[PriceOut]


@router.get(
    "/prices/",
    operation_id="stackviz_catalog_api_list_prices",
    response={200: PricePage, 422: ErrorBody, 429: ErrorBody},
    summary="Street prices and rents, dated",
)
@decorate_view(unless_changed(CatalogueEdition.current))
def list_prices(request: HttpRequest, parameters: Query[PriceParameters]) -> PricePage:
    """The newest first, undated ones last: `since` and `until` leave those out.

    Launch prices are values: `/api/v1/values/?field=launch_price_usd`.
    """
    refuse_others(request, {"accelerator", "kind", "currency", "since", "until", "limit", "offset"})
    kind, limit, offset = parameters.kind, parameters.limit, parameters.offset
    if kind and kind not in Price.Kind.values:
        raise Refusal(422, f"kind must be one of {', '.join(Price.Kind.values)}, not {kind[:40]!r}", "kind")
    wanted: dict[str, object] = {
        "accelerator__slug": clean_text(parameters.accelerator),
        "kind": kind,
        "currency": clean_text(parameters.currency).upper(),
        "day__gte": _day(parameters.since, "since"),
        "day__lte": _day(parameters.until, "until"),
    }
    rows = Price.objects.filter(status=Price.Status.PUBLIC, accelerator__is_public=True)
    rows = rows.filter(**{name: value for name, value in wanted.items() if value})
    ordered = rows.order_by(
        F("day").desc(nulls_last=True), "accelerator__slug", "seller", "offer", "-is_preferred", "pk"
    )
    shown = ordered.select_related("source", "accelerator__vendor")[offset : offset + limit]
    return PricePage(**page_links(request, rows.count(), limit, offset), items=[_out(row) for row in shown])


def _day(text: str, parameter: str) -> date | None:
    """Raises Refusal for what is no day."""
    if not text:
        return None
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = None
    if day is None or day.isoformat() != text:  # 20251130 and 2025-W48-7 are read as well
        raise Refusal(422, f"{text[:40]!r} is not a day such as 2025-11-30", parameter)
    return day


def _out(price: Price) -> PriceOut:
    return PriceOut(
        accelerator=brief(price.accelerator),
        kind=price.kind,
        amount=float(price.amount),
        currency=price.currency,
        cards=price.cards,
        day=price.day_text,
        seller=price.seller,
        offer=price.offer,
        is_preferred=price.is_preferred,
        source=source_brief(price.source),
        note=price.note,
    )
