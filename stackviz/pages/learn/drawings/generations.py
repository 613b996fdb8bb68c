"""How arithmetic and memory grew, generation by generation, from the figures of the catalogue."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext as _

from stackviz.base.units import format_factor, format_number
from stackviz.draw.colours import Hue, hue_of
from stackviz.pages.learn.drawing import Bar, BarGroup, Bars
from stackviz.pages.learn.quantities import bandwidth
from stackviz.pages.learn.spec_figures import SpecName, amount_of_spec
from stackviz.records.catalog.queries import PublicCatalogue
from stackviz.records.cited.benchmark import MEMORY_BANDWIDTH

__all__ = ["DRAWINGS", "CardGeneration", "generations"]

NVIDIA = ("nvidia-p100-sxm2", "nvidia-v100-sxm2", "nvidia-a100-sxm4-80gb", "nvidia-h100-sxm5-80gb", "nvidia-b200-hgx")
APPLE = ("apple-m1-max-32", "apple-m2-max-38", "apple-m3-max-40", "apple-m4-max-40", "apple-m5-max-40")
# The fastest product of 16-bit numbers that the chip has, tensor cores where there are any.
NVIDIA_RATES = ("fp16_tensor_tflops", "fp16_tflops")
APPLE_RATES = ("fp32_tflops",)


@dataclass(frozen=True, slots=True)
class CardGeneration:
    """Arithmetic in FLOP/s, from which field of the catalogue, and bandwidth in B/s."""

    slug: str
    field: str
    rate: float
    speed: float

    @property
    def ridge(self) -> float:
        """FLOP a byte, from which arithmetic is the bound."""
        return self.rate / self.speed


def generations(catalogue: PublicCatalogue, slugs: Sequence[str], fields: Sequence[str]) -> list[CardGeneration]:
    """Those that have a bandwidth and a rate, the first of the fields that is published."""
    cards = []
    for slug in slugs:
        amounts = ((field, amount_of_spec(SpecName(slug, field), catalogue)) for field in fields)
        field, rate = next(((field, amount) for field, amount in amounts if amount), ("", 0.0))
        speed = bandwidth(catalogue, slug)
        if rate and speed:
            cards.append(CardGeneration(slug, field, rate, speed))
    return cards


def _growth_bars(catalogue: PublicCatalogue, slugs: Sequence[str], fields: Sequence[str], arithmetic: str) -> Bars:
    cards = generations(catalogue, slugs, fields)
    if not cards:
        return Bars("", ())
    first, longest = cards[0], max(max(each.rate / cards[0].rate, each.speed / cards[0].speed) for each in cards)

    hue = hue_of(catalogue.by_slug[first.slug].vendor.slug)

    def bar(label: str, factor: float, hue: Hue, url: str) -> Bar:
        return Bar(label, format_factor(factor), factor / longest, hue.css, url)

    groups = tuple(
        BarGroup(
            catalogue.by_slug[each.slug].name,
            (
                bar(arithmetic, each.rate / first.rate, hue, _sheet(each.slug, each.field)),
                bar(
                    _("bandwidth"),
                    each.speed / first.speed,
                    hue._replace(step=1),
                    _sheet(each.slug, MEMORY_BANDWIDTH[0]),
                ),
            ),
        )
        for each in cards
    )
    return Bars(_("multiples of the %(name)s") % {"name": catalogue.by_slug[first.slug].name}, groups)


def _ridge_bars(catalogue: PublicCatalogue, slugs: Sequence[str], fields: Sequence[str]) -> Bars:
    cards = generations(catalogue, slugs, fields)
    longest = max((each.ridge for each in cards), default=1.0)
    bars = tuple(
        Bar(
            catalogue.by_slug[each.slug].name,
            format_number(each.ridge, 3),
            each.ridge / longest,
            hue_of(catalogue.by_slug[each.slug].vendor.slug).css,
            _sheet(each.slug, each.field),
        )
        for each in cards
    )
    return Bars(_("FLOP for each byte read, from which arithmetic is the bound"), (BarGroup("", bars),))


def _sheet(slug: str, field: str) -> str:
    return reverse("accelerators:sheet", args=[slug]) + f"#f-{field}"


def nvidia_growth(catalogue: PublicCatalogue) -> Bars:
    return _growth_bars(catalogue, NVIDIA, NVIDIA_RATES, _("fp16 arithmetic"))


def apple_growth(catalogue: PublicCatalogue) -> Bars:
    return _growth_bars(catalogue, APPLE, APPLE_RATES, _("fp32 arithmetic"))


def nvidia_ridges(catalogue: PublicCatalogue) -> Bars:
    return _ridge_bars(catalogue, NVIDIA, NVIDIA_RATES)


DRAWINGS: Mapping[str, Callable[[PublicCatalogue], Bars]] = {
    "nvidia-growth": nvidia_growth,
    "apple-growth": apple_growth,
    "nvidia-ridges": nvidia_ridges,
}
