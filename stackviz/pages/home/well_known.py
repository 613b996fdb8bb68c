"""Well-known accelerators on the front page: published bandwidth beside cited decode rates, and a sentence of them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

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
from stackviz.web.address import comparison_query
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


@dataclass(frozen=True, slots=True, kw_only=True)
class WellKnownRow:
    """One accelerator: lengths in per cent of the longest bar, "" where there is no figure.

    `others`: how many results of other kinds are cited of it, where there is no rate; `others_url`: where they stand.
    """

    name: str
    url: str
    css: str
    bandwidth: str
    bandwidth_length: str
    rate: str
    rate_length: str
    others: int = 0
    others_label: str = ""
    others_url: str = ""


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """A sentence of two accelerators, with the address that compares them."""

    text: str
    url: str


@dataclass(frozen=True, slots=True)
class WellKnown:
    rows: tuple[WellKnownRow, ...]
    pair: ComparedPair | None
    results_url: str


@dataclass(frozen=True, slots=True)
class FitQuestion:
    """What the form "What runs on my machine?" offers. `accelerators`: (vendor, ((slug, name), ...)); an example."""

    models: tuple[tuple[str, str], ...]
    accelerators: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    example: str
    example_url: str


def well_known_html() -> str:
    """The bars with their sentence; "" without any of them. Cached until results or sheets change."""

    def draw() -> str:
        shown = well_known(public_catalogue())
        return render_part("home/_well_known.jinja", shown=shown) if shown.rows else ""

    return cached_html(("well known", edition_of_cases()), draw, CACHE_S)


def well_known(catalogue: PublicCatalogue) -> WellKnown:
    """Three queries beside the cases of the benchmark."""
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
    rows = (_row(item, bandwidths[item.pk], widest, rates.get(item.pk), fastest) for item in shown)
    return WellKnown(
        tuple(_with_others(row, item, others.get(item.pk, 0)) for row, item in zip(rows, shown, strict=True)),
        _pair(catalogue, bandwidths),
        reverse("benchmarks:benchmark", args=[BENCHMARK]),
    )


def bandwidths_of(items: list[Accelerator]) -> dict[int, float]:
    """Accelerator pk -> published memory bandwidth in B/s."""
    published = peaks(item.pk for item in items)
    usual = {item.pk: usual_peak(published, item.pk, BANDWIDTH) for item in items}
    return {pk: peak[1] for pk, peak in usual.items() if peak is not None}


def _row(item: Accelerator, bandwidth: float, widest: float, rate: float | None, fastest: float) -> WellKnownRow:
    return WellKnownRow(
        name=item.drawn_name,
        url=item.get_absolute_url(),
        css=css(vendor_slot(item.vendor.slug)),
        bandwidth=format_number(bandwidth / GIGA),
        bandwidth_length=f"{bandwidth / widest * 100:.1f}",
        rate="" if rate is None else format_number(rate, 3),
        rate_length="" if rate is None else f"{rate / fastest * 100:.1f}",
    )


def _other_results(pks: list[int]) -> dict[int, int]:
    """Accelerator pk -> its public cited results, of any benchmark."""
    rows = public_results().filter(accelerator_id__in=pks).order_by().values_list("accelerator_id")
    return dict(rows.annotate(results=Count("pk"))) if pks else {}


def _with_others(row: WellKnownRow, item: Accelerator, others: int) -> WellKnownRow:
    url = f"{item.get_absolute_url()}#cited"
    return replace(row, others=others, others_label=format_number(others), others_url=url) if others else row


def _pair(catalogue: PublicCatalogue, bandwidths: Mapping[int, float]) -> ComparedPair | None:
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
    return ComparedPair(text, f"{reverse('compare:page')}?{comparison_query(COMPARED)}")


def fit_question(catalogue: PublicCatalogue) -> FitQuestion:
    """The most asked-for accelerators by vendor, and a question that many have, with its answer's address."""
    names = [catalogue.by_slug[slug].short_name for slug in EXAMPLE_ACCELERATORS if slug in catalogue.by_slug]
    example = ""
    if len(names) == len(EXAMPLE_ACCELERATORS):
        words = {"model": dict(MODELS)[EXAMPLE_MODEL], "first": names[0], "second": names[1]}
        example = _("%(model)s in 4 bits on %(first)s or %(second)s") % words
    query = "&".join([f"model={EXAMPLE_MODEL}", *(f"accelerator={slug}" for slug in EXAMPLE_ACCELERATORS)])
    return FitQuestion(
        MODELS,
        tuple(
            (vendor, tuple((item.slug, item.short_name) for item in items))
            for vendor, items in requested_by_vendor(catalogue)
        ),
        example,
        f"{reverse('fit:page')}?{query}",
    )
