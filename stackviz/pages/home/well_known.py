"""Well-known accelerators on the front page: published bandwidth beside cited decode rates, and a sentence of them."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Count
from django.urls import reverse
from django.utils.translation import gettext as _

from stackviz.base.units import format_factor, format_number
from stackviz.draw.charts.vendors import css, vendor_slot
from stackviz.pages.home.decode_picture import BANDWIDTH, BENCHMARK, CACHE_S, CASE, GIGA
from stackviz.records.catalog.asked_for import requested_by_vendor
from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.queries import PublicCatalogue, peaks, public_catalogue, usual_peak
from stackviz.records.cited.cases import edition_of_cases, public_results
from stackviz.records.cited.queries import cited_of_benchmark
from stackviz.web.http.address import comparison_query
from stackviz.web.parts import cached_html, render_part

WELL_KNOWN = (
    "nvidia-h100-sxm5-80gb", "amd-mi300x", "nvidia-geforce-rtx-5090", "nvidia-geforce-rtx-4090", "apple-m3-ultra-80",
    "apple-m4-max-40", "apple-m3-max-40", "nvidia-t4",
)  # fmt: skip
COMPARED = ("nvidia-h100-sxm5-80gb", "apple-m3-max-40")
# Models the form offers, one of a size, as `/fit/` names them; it knows fifty.
MODELS = (
    ("llama-3.1-8b", "Llama 3.1 8B"),
    ("qwen-3-32b", "Qwen 3 32B"),
    ("llama-3.1-70b", "Llama 3.1 70B"),
    ("gpt-oss-120b", "gpt-oss 120B"),
    ("deepseek-v3", "DeepSeek V3 / R1 671B"),
)
EXAMPLE_MODEL, EXAMPLE_ACCELERATORS = "llama-3.1-70b", ("apple-m4-max-40", "nvidia-geforce-rtx-5090")


def well_known_html() -> str:
    """The bars with their sentence; "" without any of them. Cached until results or sheets change."""

    def draw() -> str:
        shown = well_known(public_catalogue())
        return render_part("home/_well_known.jinja", **shown) if shown["rows"] else ""

    return cached_html(("well known", edition_of_cases()), draw, CACHE_S)


def well_known(catalogue: PublicCatalogue) -> dict[str, Any]:
    """Return a row for each of WELL_KNOWN with a published bandwidth, widest first, and a sentence of a pair.

    Lengths are in per cent of the longest bar, "" where there is no figure; `others`: how many results of other kinds
    are cited of what has no rate. Three queries, and those of the benchmark's cases.
    """
    items = [catalogue.by_slug[slug] for slug in WELL_KNOWN if slug in catalogue.by_slug]
    bandwidths = bandwidths_of(items)
    rates: dict[int, float] = {}
    for result in cited_of_benchmark(BENCHMARK, CASE).results if items else ():  # best first
        if result.accelerator_id is not None:
            rates.setdefault(result.accelerator_id, result.amount_per_device)
    shown = [item for item in items if item.pk in bandwidths]
    shown.sort(key=lambda item: -bandwidths[item.pk])
    widest = max((bandwidths[item.pk] for item in shown), default=0.0)
    fastest = max((rates[item.pk] for item in shown if item.pk in rates), default=0.0)
    others = _other_results([item.pk for item in shown if item.pk not in rates])
    rows = [
        {
            "name": item.drawn_name,
            "url": item.get_absolute_url(),
            "css": css(vendor_slot(item.vendor.slug)),
            "bandwidth": format_number(bandwidths[item.pk] / GIGA),
            "bandwidth_length": f"{bandwidths[item.pk] / widest * 100:.1f}",
            "rate": format_number(rates[item.pk], 3) if item.pk in rates else "",
            "rate_length": f"{rates[item.pk] / fastest * 100:.1f}" if item.pk in rates else "",
            "others": others.get(item.pk, 0),
            "others_label": format_number(others.get(item.pk, 0)),
        }
        for item in shown
    ]
    results_url = reverse("benchmarks:benchmark", args=[BENCHMARK])
    return {"rows": rows, "pair": _pair(catalogue, bandwidths), "results_url": results_url}


def bandwidths_of(items: list[Accelerator]) -> dict[int, float]:
    """Accelerator pk -> published memory bandwidth in B/s."""
    published = peaks(item.pk for item in items)
    usual = {item.pk: usual_peak(published, item.pk, BANDWIDTH) for item in items}
    return {pk: peak[1] for pk, peak in usual.items() if peak is not None}


def _other_results(pks: list[int]) -> dict[int, int]:
    """Accelerator pk -> its public cited results, of any benchmark."""
    rows = public_results().filter(accelerator_id__in=pks).order_by().values_list("accelerator_id")
    return dict(rows.annotate(results=Count("pk"))) if pks else {}


def _pair(catalogue: PublicCatalogue, bandwidths: Mapping[int, float]) -> tuple[str, str] | None:
    """Return a sentence of two accelerators, with the address that compares them."""
    pair = [catalogue.by_slug[slug] for slug in COMPARED if slug in catalogue.by_slug]
    if len(pair) < len(COMPARED) or any(item.pk not in bandwidths for item in pair):
        return None
    more, less = pair
    words = {
        "more": more.short_name,
        "factor": format_factor(bandwidths[more.pk] / bandwidths[less.pk]),
        "less": less.short_name,
    }
    text = _("%(more)s has %(factor)s the memory bandwidth of %(less)s") % words
    return text, f"{reverse('compare:page')}?{comparison_query(COMPARED)}"


def fit_question(catalogue: PublicCatalogue) -> dict[str, object]:
    """Return what the form "What runs on my machine?" offers: models, accelerators by vendor, an example's address."""
    names = [catalogue.by_slug[slug].short_name for slug in EXAMPLE_ACCELERATORS if slug in catalogue.by_slug]
    example = ""
    if len(names) == len(EXAMPLE_ACCELERATORS):
        words = {"model": dict(MODELS)[EXAMPLE_MODEL], "first": names[0], "second": names[1]}
        example = _("%(model)s in 4 bits on %(first)s or %(second)s") % words
    query = "&".join([f"model={EXAMPLE_MODEL}", *(f"accelerator={slug}" for slug in EXAMPLE_ACCELERATORS)])
    return {
        "models": MODELS,
        "accelerators": requested_by_vendor(catalogue),
        "example": example,
        "example_url": f"{reverse('fit:page')}?{query}",
    }
