"""What a spec sheet says of itself where it is linked to: its headline figures, and the same as structured data."""

from collections.abc import Mapping

from django.utils.translation import get_language
from django.utils.translation import gettext as _

from stackviz.records.catalog.fields import FIELDS, Field
from stackviz.records.catalog.figures import Headline, choose_headline
from stackviz.records.catalog.models import Accelerator, SpecValue
from stackviz.records.catalog.queries import PublicCatalogue
from stackviz.web.preview import Introduction

# What most people come for, in this order; of several rates the first that is published stands for the others.
INTRODUCING: tuple[tuple[str, ...], ...] = (
    ("memory_gb", "memory_gb_max"),
    ("memory_bandwidth_gb_s",),
    ("bf16_tensor_tflops", "fp16_tensor_tflops", "int8_tensor_tops"),
    ("fp32_tflops",),
    ("tdp_w", "power_w"),
    ("release_date",),
)
_IN_TITLE = 3


def headlines_of(accelerator: Accelerator, catalogue: PublicCatalogue) -> tuple[Headline, ...]:
    """The published figures of INTRODUCING, in its order. No query."""

    def choose() -> tuple[Headline, ...]:
        chosen = []
        for names in INTRODUCING:
            figures = (headline_of(accelerator, FIELDS[name], catalogue) for name in names if name in FIELDS)
            published = next((figure for figure in figures if figure.is_published), None)
            if published is not None:
                chosen.append(published)
        return tuple(chosen)

    return catalogue.once(("introduction", accelerator.pk, get_language()), choose)


def headline_of(accelerator: Accelerator, field: Field, catalogue: PublicCatalogue) -> Headline:
    """The figure of this field to show first. No query."""
    return choose_headline(field, catalogue.preferred(accelerator.pk, field.name))


def marks_of(figure: Headline) -> str:
    """`dense, derived`: its condition, and how it came about where that is not published; "" for neither."""
    is_plain = figure.basis in ("", SpecValue.Basis.PUBLISHED, SpecValue.Basis.PROBED)
    kind = "" if is_plain else str(SpecValue.Basis(figure.basis).label)
    return ", ".join(filter(None, (figure.condition, kind)))


def marked_text(figure: Headline) -> str:
    """`14.1 TFLOPS (derived)`; without its condition, which a short text has no room for."""
    kind = marks_of(figure).removeprefix(figure.condition).strip(", ")
    return f"{figure.text} ({kind})" if kind else figure.text


def introduce_sheet(accelerator: Accelerator, catalogue: PublicCatalogue) -> Introduction:
    """`NVIDIA T4: 16 GB, 320 GB/s, 65 TFLOPS`, and every figure of INTRODUCING with its name."""
    figures = headlines_of(accelerator, catalogue)
    if not figures:
        return Introduction(accelerator.name, _("Nothing is published yet of what this spec sheet would hold."))
    named = {figure.field: f"{figure.title} {marked_text(figure)}" for figure in figures}
    # A figure is understood by its unit, a date only by its name.
    short = ", ".join(marked_text(each) if each.unit else named[each.field] for each in figures[:_IN_TITLE])
    full = ", ".join(named.values())
    words = {"name": accelerator.name, "figures": short}
    answer = _("%(name)s: %(figures)s. Every value with its condition and source.")
    return Introduction(_("%(name)s: %(figures)s") % words, answer % {**words, "figures": full})


def sheet_data(accelerator: Accelerator, catalogue: PublicCatalogue, url: str) -> Mapping[str, object]:
    """The sheet as a `Product` of schema.org, with its headline figures; nothing is offered for sale."""
    figures = headlines_of(accelerator, catalogue)
    return {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": accelerator.name,
        "brand": {"@type": "Brand", "name": accelerator.vendor.name},
        "category": str(accelerator.get_kind_display()),
        "productID": accelerator.slug,
        "url": url,
        "additionalProperty": [
            {
                "@type": "PropertyValue",
                "name": figure.title,
                "value": figure.number,
                **({"unitText": figure.unit} if figure.unit else {}),
                **({"description": marks_of(figure)} if marks_of(figure) else {}),
            }
            for figure in figures
        ],
    }
