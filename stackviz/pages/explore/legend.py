"""The legend of a drawing: which vendor has which colour."""

from collections import defaultdict
from collections.abc import Iterable

from django.utils.translation import gettext as _

from stackviz.draw.colours import OTHER, TOWARD_INK, VENDORS, Hue, hue_of
from stackviz.pages.explore.measures import Axis, PlottedAccelerator
from stackviz.records.catalog.fields import PRICE


def legend(subjects: Iterable[PlottedAccelerator], shape: str) -> list[tuple[str, str, str]]:
    """Return (CSS classes, `shape`, words) of the vendors of these accelerators, large ones first."""
    names: dict[Hue, set[str]] = defaultdict(set)
    for subject in subjects:
        names[hue_of(subject.vendor)].add(subject.vendor_name)
    greys = (Hue(OTHER, step) for step in range(len(TOWARD_INK)))
    hues = [hue for hue in (*map(hue_of, VENDORS), *greys) if hue in names]
    return [(hue.css, shape, ", ".join(sorted(names[hue]))) for hue in hues]


def price_texts(axes: Iterable[Axis | None]) -> list[str]:
    """Why no Mac is drawn by price, where an axis is the price of a card."""
    card = PRICE.members[0].field
    if not any(axis and axis.measure.name == card for axis in axes):
        return []
    return [
        _(
            "No Apple chip is drawn by price: Apple sells them in whole Macs only. What those cost at launch, by "
            "memory, is on their spec sheets."
        )
    ]
