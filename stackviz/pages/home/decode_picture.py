"""The picture of the front page: decode rates that others measured, against published memory bandwidth."""

from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from stackviz.base.units import format_number, quantity_label
from stackviz.draw.charts.scatter import DISC, Dot, Iso, Spot, place_scatter
from stackviz.draw.colours import hue_of
from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.queries import peaks, usual_peak
from stackviz.records.cited.bounds import CaseBound, case_bound
from stackviz.records.cited.cases import edition_of_cases
from stackviz.records.cited.queries import cited_of_benchmark
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.web.parts import cached_html, render_part

BENCHMARK, CASE = "llama-bench", {"model": "Llama 2 7B", "quant": "Q4_0", "test": "tg128"}
BANDWIDTH = "memory_bandwidth_gb_s"
EXPLORED = "x=memory_bandwidth_gb_s&y=llama-bench-tg128&size=none"  # the same, with any other axes, in the scatter
GIGA = 1e9
FEWEST_POINTS = 5  # fewer are no picture
# Named in the picture where there is room: cards and Macs that visitors know.
NAMED = frozenset(
    {
        "apple-m1-8", "apple-m2-ultra-76", "apple-m3-max-40", "apple-m4-10", "apple-m4-max-40", "apple-m4-pro-20",
        "amd-rx-7900-xtx", "nvidia-a100-pcie-80gb", "nvidia-a30", "nvidia-geforce-rtx-3090", "nvidia-geforce-rtx-4090",
        "nvidia-geforce-rtx-5080", "nvidia-geforce-rtx-5090", "nvidia-l40", "nvidia-t4",
        "nvidia-titan-v",
    }
)  # fmt: skip
CACHE_S = 600  # the key moves with cited results and sheets


def decode_picture_html() -> str:
    """The picture with its table; "" where there are too few results. Cached until results or sheets change."""

    def draw() -> str:
        picture = decode_picture()
        return render_part("home/_decode.jinja", **picture) if picture else ""

    return cached_html(("decode picture", edition_of_cases()), draw, CACHE_S)


def decode_picture() -> dict[str, Any] | None:
    """Return a point for each accelerator: its best result, of what its published bandwidth allows.

    One query, and those of the benchmark's cases.
    """
    best: dict[int, tuple[Accelerator, float]] = {}
    for result in cited_of_benchmark(BENCHMARK, CASE).results:  # best first
        if result.accelerator is not None:
            best.setdefault(result.accelerator.pk, (result.accelerator, result.amount_per_device))
    published = peaks(best)
    bandwidths = {pk: peak[1] for pk in best if (peak := usual_peak(published, pk, BANDWIDTH)) is not None}
    bound = case_bound(CITED_BENCHMARKS[BENCHMARK], CASE)
    if bound is None or len(bandwidths) < FEWEST_POINTS:
        return None
    dots = [
        Dot(
            key=pk,
            label=accelerator.drawn_name,
            x=bandwidths[pk] / GIGA,
            y=rate,
            hue=hue_of(accelerator.vendor.slug),
        )
        for pk, (accelerator, rate) in best.items()
        if pk in bandwidths
    ]
    line = Iso(bound.most(GIGA), _("what the bandwidth allows"), is_bound=True)
    scatter = place_scatter(dots, "log", "log", [line])
    vendors = {dot.hue.css: best[dot.key][0].vendor.name for dot in dots}
    named = {dot.label for dot in dots if best[dot.key][0].slug in NAMED}
    return {
        "points": [_point(*best[spot.key], bandwidths[spot.key], bound, spot) for spot in scatter.spots],
        "labels": [label for label in scatter.labels if label.text in named],
        "scatter": scatter,
        "legend": [(css, DISC, name) for css, name in vendors.items()],
        "weights": quantity_label(bound.divisor, "B", binary=True, digits=3),
        "explore_url": f"{reverse('explore:scatter')}?{EXPLORED}",
    }


def _point(accelerator: Accelerator, rate: float, bandwidth: float, bound: CaseBound, spot: Spot) -> dict[str, object]:
    return {
        "accelerator": accelerator,
        "css": spot.hue.css,
        "spot": spot,
        "bandwidth": format_number(bandwidth / GIGA),
        "rate": format_number(rate),
        "share": f"{rate / bound.most(bandwidth) * 100:.0f} %",
    }
