"""Which colour and shape a mark has, and the legend that says so in words."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.translation import gettext as _

from stackviz.catalog.models import Accelerator
from stackviz.charts.scatter import SHAPES
from stackviz.explore.axes import Subject

# The palette has six colours that the colour-blind tell apart too: every other maker shares the last.
VENDORS = ("apple", "amd", "nvidia", "intel", "google")
OTHER = len(VENDORS)
KINDS = ("gpu", "soc", "npu", "asic")
# First year of each: before, matrix units in GPUs, bf16 everywhere, fp8, fp4.
ERAS = (2017, 2020, 2022, 2024)


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """`place` decides colour and shape, from 0."""

    place: int
    words: str

    @property
    def css(self) -> str:
        return css(self.place)

    @property
    def shape(self) -> str:
        """As an SVG path around the origin, some 14 units wide."""
        return SHAPES[self.place]


def css(place: int) -> str:
    return f"s{place + 1}"


def vendor_place(vendor: str) -> int:
    return VENDORS.index(vendor) if vendor in VENDORS else OTHER


def place_of(subject: Subject, colour: str) -> int:
    """The place of this accelerator when marks are coloured by vendor, kind or era."""
    if colour == "kind":
        return KINDS.index(subject.kind) if subject.kind in KINDS else OTHER
    if colour == "era":
        return OTHER if subject.year is None else sum(subject.year >= first for first in ERAS)
    return vendor_place(subject.vendor)


def legend(subjects: Iterable[Subject], colour: str) -> tuple[LegendEntry, ...]:
    """The entries for what is shown, in the order of their places."""
    shown = list(subjects)
    words = {place_of(subject, colour): _words(subject, colour) for subject in shown}
    if colour == "vendor":
        others = sorted({one.vendor_name for one in shown if vendor_place(one.vendor) == OTHER})
        if others:
            words[OTHER] = _("others: %(names)s") % {"names": ", ".join(others)}
    return tuple(LegendEntry(place, words[place]) for place in sorted(words))


def _words(subject: Subject, colour: str) -> str:
    if colour == "kind":
        return str(Accelerator.Kind(subject.kind).label)
    return era_words(subject.year) if colour == "era" else subject.vendor_name


def era_words(year: int | None) -> str:
    """The era this year lies in, by its years: `2020–2021`."""
    if year is None:
        return _("year not published")
    at = sum(year >= first for first in ERAS)
    if at == 0:
        return _("before %(year)d") % {"year": ERAS[0]}
    if at == len(ERAS):
        return _("since %(year)d") % {"year": ERAS[-1]}
    return f"{ERAS[at - 1]}–{ERAS[at] - 1}"
