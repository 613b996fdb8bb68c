"""Figures of the catalogue inside a text: `nvidia-h100-sxm5-80gb:memory_bandwidth_gb_s`, or the quotient of two.

    {{ apple-m4-max-40:memory_bandwidth_gb_s }}                                         546 GB/s
    {{ nvidia-jetson-nano:launch_price_usd[price=kit] }}                                99 USD
    {{ nvidia-h100-sxm5-80gb:bf16_tensor_tflops / nvidia-a100-sxm4-80gb:bf16_tensor_tflops }}         3.17
    {{ nvidia-h100-sxm5-80gb:bf16_tensor_tflops / nvidia-h100-sxm5-80gb:memory_bandwidth_gb_s }}      295 FLOP/B

A figure is the preferred one under the field's usual condition or the one in brackets, of several variants the largest;
a link leads to it.
"""

import re
from dataclasses import dataclass, replace

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from stackviz.base.units import UNITS, format_number
from stackviz.records.catalog.conditions import describe_condition
from stackviz.records.catalog.costs import CostKind, costs_now
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.catalog.figures import Headline, choose_headline
from stackviz.records.catalog.queries import PublicCatalogue
from stackviz.web.templatetags.web import missing

__all__ = [
    "SpecName",
    "UnreadableFigure",
    "amount_of_spec",
    "draw_figure",
    "draw_street_price",
    "priced_accelerator",
    "read_figure",
]

QUOTIENT_DIGITS = 3
_NAME = re.compile(r"([a-z0-9-]+):([a-z0-9_]+)(?:\[([^\]]+)\])?")


class UnreadableFigure(ValueError):
    """Not `accelerator:field`, nor the quotient of two such; or no such field."""


@dataclass(frozen=True, slots=True)
class SpecName:
    """`condition`: "" for the field's usual one."""

    accelerator: str
    field: str
    condition: str = ""


def read_figure(text: str) -> tuple[SpecName, ...]:
    """One name, or two where the second divides the first. Raises UnreadableFigure."""
    names = []
    for part in text.split(" / "):
        matched = _NAME.fullmatch(part.strip())
        if not matched or matched[2] not in FIELDS:
            raise UnreadableFigure(f"'{part}' is not accelerator:field with a field of the catalogue")
        names.append(SpecName(matched[1], matched[2], matched[3] or ""))
    if len(names) > 2:
        raise UnreadableFigure(f"'{text}' divides more than two figures")
    return tuple(names)


def draw_figure(text: str, catalogue: PublicCatalogue) -> SafeString:
    """The figure as a link to its sheet; where nothing is published, that. Raises UnreadableFigure."""
    names = read_figure(text)
    headlines = [_headline(name, catalogue) for name in names]
    if any(headline is None or headline.amount is None for headline in headlines):
        return missing("not_published")
    address = reverse("accelerators:sheet", args=[names[0].accelerator]) + f"#f-{names[0].field}"
    shown = [headline for headline in headlines if headline is not None]
    if len(shown) == 1:
        words = describe_condition(shown[0].condition)
        title = f"{shown[0].title}, {words}" if words else shown[0].title
        return format_html('<a class="spec" href="{}" title="{}">{}</a>', address, title, shown[0].text)
    title = _("%(above)s ÷ %(below)s") % {"above": _named(names[0], catalogue), "below": _named(names[1], catalogue)}
    return format_html('<a class="spec" href="{}" title="{}">{}</a>', address, title, _quotient(names, shown))


def amount_of_spec(name: SpecName, catalogue: PublicCatalogue) -> float | None:
    """In SI base units; None where nothing is published."""
    headline = _headline(name, catalogue)
    return headline.amount if headline else None


def _headline(name: SpecName, catalogue: PublicCatalogue) -> Headline | None:
    accelerator = catalogue.by_slug.get(name.accelerator)
    if accelerator is None:
        return None
    field = FIELDS[name.field]
    if name.condition:
        field = replace(field, usual=(name.condition,))
    return choose_headline(field, catalogue.preferred(accelerator.pk, name.field))


def _named(name: SpecName, catalogue: PublicCatalogue) -> str:
    return f"{catalogue.by_slug[name.accelerator].name}, {FIELDS[name.field].words[0]}"


def _quotient(names: tuple[SpecName, ...], shown: list[Headline]) -> str:
    above, below = (headline.amount or 0.0 for headline in shown)
    number = format_number(above / below, digits=QUOTIENT_DIGITS)
    units = [UNITS[FIELDS[name.field].unit].si for name in names]
    if units[0] == units[1]:
        return number
    return f"{number} {units[0].removesuffix('/s')}/{units[1].removesuffix('/s')}"


# --- street prices: `{{ nvidia-h100-sxm5-80gb:street_price }}` ---


def priced_accelerator(text: str) -> str:
    """The accelerator whose street price the text names; "" where it names something else."""
    slug, _colon, field = text.strip().partition(":")
    return slug if field == "street_price" else ""


def draw_street_price(slug: str, catalogue: PublicCatalogue) -> SafeString:
    """For one card, as a link to the prices of the sheet; where none is published, that."""
    accelerator = catalogue.by_slug.get(slug)
    costs = costs_now(accelerator.pk, catalogue) if accelerator else ()
    newest = next((cost for cost in costs if cost.kind == CostKind.STREET), None)
    if newest is None:
        return missing("not_published")
    address = reverse("accelerators:sheet", args=[slug]) + "#prices"
    words = '<a class="spec" href="{}" title="{}">{}, {}</a>'
    return format_html(words, address, newest.sentence, newest.text, newest.day_words)
