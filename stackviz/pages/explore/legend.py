"""Colour and shape of each mark, and the legend that explains them."""

from collections.abc import Iterable

from django.utils.translation import gettext as _

from stackviz.draw.charts.scatter import SHAPES
from stackviz.draw.charts.vendors import OTHER, css, vendor_slot
from stackviz.pages.explore.measures import Axis, PlottedAccelerator
from stackviz.records.catalog.fields import PRICE
from stackviz.records.catalog.models import Accelerator

KINDS = ("gpu", "soc", "npu", "asic")
# First year of each: before, matrix units in GPUs, bf16 everywhere, fp8, fp4.
ERAS = (2017, 2020, 2022, 2024)


def slot_of(subject: PlottedAccelerator, colour: str) -> int:
    """The slot of this accelerator when marks are coloured by vendor, kind or era."""
    if colour == "kind":
        return KINDS.index(subject.kind) if subject.kind in KINDS else OTHER
    if colour == "era":
        return OTHER if subject.year is None else sum(subject.year >= first for first in ERAS)
    return vendor_slot(subject.vendor)


def legend(subjects: Iterable[PlottedAccelerator], colour: str) -> list[tuple[str, str, str]]:
    """Return (CSS class, shape as an SVG path around the origin, words) of these accelerators, by their slots."""
    shown = list(subjects)
    words = {slot_of(subject, colour): _words(subject, colour) for subject in shown}
    if colour == "vendor":
        others = sorted({subject.vendor_name for subject in shown if vendor_slot(subject.vendor) == OTHER})
        if others:
            words[OTHER] = _("others: %(names)s") % {"names": ", ".join(others)}
    return [(css(slot), SHAPES[slot], words[slot]) for slot in sorted(words)]


def _words(subject: PlottedAccelerator, colour: str) -> str:
    if colour == "kind":
        return str(Accelerator.Kind(subject.kind).label)
    return era_words(subject.year) if colour == "era" else subject.vendor_name


def era_words(year: int | None) -> str:
    """The era of this year: `2020–2021`."""
    if year is None:
        return _("year not published")
    at = sum(year >= first for first in ERAS)
    if at == 0:
        return _("before %(year)d") % {"year": ERAS[0]}
    if at == len(ERAS):
        return _("since %(year)d") % {"year": ERAS[-1]}
    return f"{ERAS[at - 1]}–{ERAS[at] - 1}"


def price_texts(axes: Iterable[Axis | None]) -> list[str]:
    """Why no Mac is drawn by price, where an axis is the price of a card."""
    card = PRICE.members[0].field
    if not any(axis and axis.measure.name == card for axis in axes):
        return []
    return [
        _(
            "No Apple chip is drawn by price: Apple sells them in whole Macs only. What those cost at launch, by "
            "memory, stands on their spec sheets."
        )
    ]
