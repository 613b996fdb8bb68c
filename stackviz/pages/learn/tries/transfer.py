"""Bytes over a link against bytes that need not move: PCI Express and unified memory.

Rate of a lane in one direction: PCI-SIG, transfers a second x encoding (8b/10b up to 2.0, 128b/130b from 3.0) / 8.
"""

from collections.abc import Mapping

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz.base.units import format_factor, quantity_label
from stackviz.pages.learn.quantities import WITH_PEAK, bandwidth
from stackviz.pages.learn.trying import AnswerRow, ChoiceInput, NumberInput, Text, Try, TryAnswer, TryValues
from stackviz.records.catalog.queries import PublicCatalogue

__all__ = ["LINKS", "TRY"]


def _pcie(transfers: float, encoding: float, lanes: int) -> float:
    """B/s in one direction, before the headers of packets."""
    return transfers * encoding / 8 * lanes


LINKS: Mapping[str, tuple[str, float]] = {
    "pcie3-x16": ("PCI Express 3.0 x16", _pcie(8e9, 128 / 130, 16)),
    "pcie4-x16": ("PCI Express 4.0 x16", _pcie(16e9, 128 / 130, 16)),
    "pcie4-x8": ("PCI Express 4.0 x8", _pcie(16e9, 128 / 130, 8)),
    "pcie5-x16": ("PCI Express 5.0 x16", _pcie(32e9, 128 / 130, 16)),
    "thunderbolt4": ("Thunderbolt 4 (PCI Express 3.0 x4)", _pcie(8e9, 128 / 130, 4)),
}


def _answer(values: TryValues, catalogue: PublicCatalogue) -> TryAnswer:
    slug, size = str(values["accelerator"]), float(values["gigabytes"]) * 1e9
    words, link = LINKS[str(values["link"])]
    speed = bandwidth(catalogue, slug)
    name = catalogue.by_slug[slug].name
    over_link = size / link
    rows = [
        AnswerRow(
            _("Over %(link)s, one way") % {"link": words},
            quantity_label(over_link, "s"),
            f"{quantity_label(size, 'B')} ÷ {quantity_label(link, 'B/s')}",
            1.0,
        )
    ]
    if speed is None:
        sentence = _("At least %(time)s over the link.") % {"time": quantity_label(over_link, "s")}
        return TryAnswer(sentence, tuple(rows))
    inside = size / speed
    rows.append(
        AnswerRow(
            _("Read once from the memory of the %(name)s") % {"name": name},
            quantity_label(inside, "s"),
            f"{quantity_label(size, 'B')} ÷ {quantity_label(speed, 'B/s')}",
            min(1.0, inside / over_link),
        )
    )
    rows.append(AnswerRow(_("Handed over in unified memory"), quantity_label(0, "s"), _("a pointer, no copy")))
    sentence = _("The link takes at least %(time)s, %(factor)s as long as reading the bytes from that memory.") % {
        "time": quantity_label(over_link, "s"),
        "factor": format_factor(over_link / inside),
    }
    return TryAnswer(sentence, tuple(rows))


def _links(_catalogue: PublicCatalogue) -> Mapping[str, Text]:
    return {key: words for key, (words, _rate) in LINKS.items()}


TRY = Try(
    key="transfer",
    title=gettext_lazy("Over the link, or not at all"),
    question=gettext_lazy("How long does a copy to the card take, and what does unified memory save?"),
    inputs=(
        WITH_PEAK,
        ChoiceInput(name="link", label=gettext_lazy("Link"), default="pcie4-x16", options=_links),
        NumberInput(
            name="gigabytes", label=gettext_lazy("Data"), unit="GB", default=8, low=1e-6, high=1e6, is_whole=False
        ),
    ),
    answer=_answer,
)
