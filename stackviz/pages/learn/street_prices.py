"""The newest street price inside a text: `{{ nvidia-h100-sxm5-80gb:street_price }}` is `30,000 USD, 2026-11-20`."""

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from stackviz.records.catalog.queries import PublicCatalogue
from stackviz.records.prices.price import Price, plain_number
from stackviz.web.templatetags.web import missing

__all__ = ["draw_street_price", "priced_accelerator"]


def priced_accelerator(text: str) -> str:
    """The accelerator whose street price the text names; "" where it names something else."""
    slug, _colon, field = text.strip().partition(":")
    return slug if field == "street_price" else ""


def draw_street_price(slug: str, catalogue: PublicCatalogue) -> SafeString:
    """For one card, as a link to the prices of the sheet; where none is published, that."""
    accelerator = catalogue.by_slug.get(slug)
    prices = catalogue.prices(accelerator.pk) if accelerator else ()
    newest = next((price for price in prices if price.kind == Price.Kind.STREET and price.is_preferred), None)
    if newest is None:
        return missing("not_published")
    address = reverse("accelerators:sheet", args=[slug]) + "#prices"
    words = '<a class="spec" href="{}" title="{}">{} {}, {}</a>'
    return format_html(words, address, str(newest), plain_number(newest.of_one), newest.currency, newest.day_text)
