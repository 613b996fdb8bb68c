"""What an operator costs on NVIDIA beside Apple: the fastest of each in equal settings, cited and measured here.

    operator_groups("conv2d")    (OperatorGroup, ...): a shape each, PyTorch CUDA beside PyTorch MPS and MLX

Where an operator is bound by memory, the bandwidth that both reach in one test stands beside its times. () for an
operator of which nobody published anything.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from stackviz.base.units import format_factor, quantity_label
from stackviz.draw.colours import hue_of
from stackviz.pages.benchmarks.measured_ranking import run_address
from stackviz.records.cited.cases import benchmark_cases, edition_of_cases, public_results
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.ranking import RankedAccelerator, ranked_accelerators
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.cited.words import benchmark_address, other_params, parameter_text, result_address, software_text
from stackviz.records.series.measured_settings import MeasuredAccelerator, MeasuredSetting, measured_settings
from stackviz.records.series.public_runs import measured_edition
from stackviz.records.stacks.operators import operators
from stackviz.web.http.htmx import vary_on_htmx, wants_partial
from stackviz.web.i18n.words import joined
from stackviz.web.parts import cached_html, render_part

CACHE_S = 600  # the key moves with cited results, sheets and what is measured
SHAPES = 3  # of an operator
CASES_READ = 12  # to choose those from
AVERAGE = "average of all shapes"  # no call that somebody makes
_SIZES = frozenset({"dtype", "m", "n", "k", "size"})  # shown though they are chosen
FRAMEWORKS = ("PyTorch CUDA", "PyTorch MPS", "MLX")
VENDORS = {"nvidia": "NVIDIA", "apple": "Apple"}  # in the order of the devices on an operator's page


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedFigures:
    """Where an operator's cited figures are: a benchmark and its parameters. `side`: the one that tells CUDA from MPS.

    `side` "": the vendor tells. `why`: what the figures have to do with the operator; `none`: why a side has none.
    `dtype`: of the inputs, where the results do not say it and the benchmark's program does, which is `program`.
    """

    benchmark: str
    chosen: Mapping[str, str]
    side: str = ""
    most: int = SHAPES
    why: str | Promise = ""
    none: Mapping[str, str | Promise]
    dtype: str = ""
    program: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorFigure:
    """One side of a group. `at`: per cent of the largest; `factor`: against the first with a figure, "" for itself.

    `among`: of how many accelerators it is the best; `made`: with what, and when. `missing`: why there is none; the
    rest is "" then.
    """

    side: str
    missing: str = ""
    name: str = ""
    name_url: str = ""
    css: str = ""
    value: str = ""
    url: str = ""
    at: float = 0.0
    factor: str = ""
    among: int = 0
    made: str = ""
    source: str = ""
    source_url: str = ""

    @property
    def details(self) -> str:
        """`the best of 14 · mlx 0.20.0`"""
        return joined([_("the best of %(n)s") % {"n": self.among} if self.among > 1 else "", self.made])


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorGroup:
    """One setting. `kind`: cited or measured; `url`: where everything of it is ranked.

    `dtype`: of the inputs, where `program`, the benchmark's own source, says it.
    """

    kind: str
    title: str
    setting: str
    url: str
    why: str
    lower_is_better: bool
    dtype: str = ""
    program: str = ""
    figures: tuple[OperatorFigure, ...]


_NOTHING: Mapping[str, str | Promise] = {}
# Where the suite makes its inputs, all of them float32.
_OF_SUITE = (
    "https://github.com/TristanBilot/mlx-benchmark/blob/29f92a7bad85bf458d18a093c8f9160ec59ccd38/"
    "mlx_benchmark/base_benchmark.py"
)


def _timed(name: str, **none: str | Promise) -> CitedFigures:
    of_cuda = {"PyTorch CUDA": none["cuda"]} if "cuda" in none else _NOTHING
    return CitedFigures(
        benchmark="operator-time", chosen={"op": name}, side="framework", none=of_cuda, dtype="fp32", program=_OF_SUITE
    )


_BOUND_BY_MEMORY = gettext_lazy("bound by memory: it reads and writes much and computes little")
_BANDWIDTH = CitedFigures(
    benchmark="clpeak-bandwidth",
    chosen={"test": "Global memory bandwidth"},
    most=1,
    why=_BOUND_BY_MEMORY,
    none=_NOTHING,
)
# Square matrices in PyTorch, and the best shape of each accelerator, which comes with torch's release.
_SQUARE = CitedFigures(
    benchmark="gemm", chosen={"dtype": "fp16", "m": "8000", "n": "8000", "k": "8000"}, most=1, none=_NOTHING
)
_BEST_SHAPE = CitedFigures(benchmark="gemm", chosen={"dtype": "bf16", "size": "best"}, most=1, none=_NOTHING)
_APPLE_ONLY = gettext_lazy("no cited result: this suite was run on Macs alone")
FIGURES: Mapping[str, tuple[CitedFigures, ...]] = {
    "matmul": (_SQUARE, _BEST_SHAPE, _timed("MatMul")),
    "linear": (_timed("Linear"), _SQUARE),
    "conv2d": (_timed("Conv2d"),),
    "attention": (_timed("ScaledDotProductAttention", cuda=_APPLE_ONLY),),
    "softmax": (_timed("Softmax"), _BANDWIDTH),
    "layer-norm": (_timed("LayerNorm", cuda=_APPLE_ONLY), _BANDWIDTH),
    "embedding": (_BANDWIDTH,),
    "optimizer-step": (_BANDWIDTH,),
    "all-reduce": (
        CitedFigures(
            benchmark="nccl-allreduce",
            chosen={},
            most=1,
            none={"Apple": gettext_lazy("one GPU a machine: nothing to reduce between")},
        ),
    ),
}
# What machines here measure of the same work.
MEASURED: Mapping[str, tuple[str, str | Promise]] = {
    "matmul": ("gemm", ""),
    "linear": ("gemm", gettext_lazy("bound by its matrix product")),
    **dict.fromkeys(("softmax", "layer-norm", "embedding", "optimizer-step"), ("memory-copy", _BOUND_BY_MEMORY)),
}


def operator_groups(slug: str) -> tuple[OperatorGroup, ...]:
    """Two queries for each kind of cited figure, those of `measured_settings` for what is measured."""
    cited = [group for figures in FIGURES.get(slug, ()) for group in _cited_groups(figures)]
    benchmark, why = MEASURED.get(slug, ("", ""))
    settings = measured_settings(benchmark) if benchmark else ()
    return (*_measured_group(settings, str(why)), *cited)


# --- cited ---


def _cited_groups(figures: CitedFigures) -> Iterator[OperatorGroup]:
    """The settings that most sides have a result in."""
    cases = [
        case
        for case in benchmark_cases(figures.benchmark).cases_matching(figures.chosen)
        if case.params.get("shape") != AVERAGE
    ][:CASES_READ]
    by_case: dict[str, dict[str, list[CitedResult]]] = {case.params_key: defaultdict(list) for case in cases}
    rows = public_results().filter(benchmark=figures.benchmark, params_key__in=by_case).order_by()
    for row in rows.select_related("accelerator__vendor", "source"):
        by_case[row.params_key][_side_of(figures, row)].append(row)
    sides = FRAMEWORKS if figures.side else tuple(VENDORS.values())
    fullest = sorted(by_case.values(), key=lambda by_side: -sum(side in by_side for side in sides))  # keeps their order
    for by_side in fullest[: figures.most]:
        if any(side in by_side for side in sides):
            yield _cited_group(figures, sides, by_side)


def _side_of(figures: CitedFigures, row: CitedResult) -> str:
    if figures.side:
        return str(row.params.get(figures.side, ""))
    return VENDORS.get(row.accelerator.vendor.slug, "") if row.accelerator else ""


def _cited_group(
    figures: CitedFigures, sides: Sequence[str], by_side: Mapping[str, Sequence[CitedResult]]
) -> OperatorGroup:
    benchmark = CITED_BENCHMARKS[figures.benchmark]
    ranked = {side: ranked_accelerators(benchmark, by_side[side]) for side in sides if side in by_side}
    amounts = {side: rows[0].best.amount_per_device for side, rows in ranked.items()}
    case = next(iter(by_side.values()))[0]
    first = next(iter(amounts.values()))
    compared = benchmark.compared_params(case.params)
    shown = {name: value for name, value in compared.items() if name not in figures.chosen or name in _SIZES}
    return OperatorGroup(
        kind="cited",
        title=str(benchmark.title) if not figures.side else "",
        setting=_setting_words(shown),
        url=f"{benchmark_address(benchmark.key)}?{urlencode({'case': case.params_key})}",
        why=str(figures.why),
        lower_is_better=not benchmark.higher_is_better,
        dtype=figures.dtype,
        program=figures.program,
        figures=tuple(
            _cited_figure(side, ranked[side], first, max(amounts.values()), figures)
            if side in ranked
            else OperatorFigure(side=side, missing=str(figures.none.get(side, _("no cited result"))))
            for side in sides
        ),
    )


def _setting_words(params: Mapping[str, str | int]) -> str:
    """`fp16 · 8000³`: equal sizes of a matrix product in one; `64x1000000, 1000000x32` of a suite that names shapes."""
    sizes = {params.get(name) for name in ("m", "n", "k")}
    is_square = len(sizes) == 1 and None not in sizes
    shown = {name: value for name, value in params.items() if not (is_square and name in ("m", "n", "k"))}
    words = [
        str(value).removeprefix("dim=").replace(" dim=", ", ") if name == "shape" else parameter_text(name, value)
        for name, value in shown.items()
    ]
    return joined([*words, f"{params['m']}³" if is_square else ""])


def _cited_figure(
    side: str, ranked: Sequence[RankedAccelerator], first: float, largest: float, figures: CitedFigures
) -> OperatorFigure:
    row = ranked[0]
    best, amount = row.best, row.best.amount_per_device
    others = other_params(CITED_BENCHMARKS[figures.benchmark], best.params)
    texts = [parameter_text(name, value) for name, value in others.items() if name != figures.side]
    return OperatorFigure(
        side=side,
        name=row.accelerator.name,
        name_url=row.accelerator.get_absolute_url(),
        css=hue_of(row.accelerator.vendor.slug).css,
        value=quantity_label(amount, best.si),
        url=result_address(best),
        at=round(amount / largest * 100, 1),
        factor="" if amount == first else format_factor(amount / first),
        among=len(ranked),
        made=joined([*texts, software_text(best.software), _without_torch(side, best.software), best.date]),
        source=best.source.title,
        source_url=best.source.url,
    )


def _without_torch(side: str, software: Mapping[str, str]) -> str:
    """What is said of a figure of PyTorch whose source does not name the release."""
    is_of_torch = side.startswith("PyTorch") or software.get("framework") == "PyTorch"
    return _("torch release not stated") if is_of_torch and "torch" not in software else ""


# --- measured by machines of public labs ---


def _measured_group(settings: Sequence[MeasuredSetting], why: str) -> Iterator[OperatorGroup]:
    """The setting that both vendors have a result in, else the one that most accelerators have; none without any."""
    by_vendor = [_bests(setting) for setting in settings]
    setting, bests = max(zip(settings, by_vendor, strict=True), key=lambda pair: len(pair[1]), default=(None, {}))
    if setting is None or not bests:
        return
    result = setting.example
    largest = max(row.best.rate.value for row, _count in bests.values())
    first = next(iter(bests.values()))[0].best.rate.value
    yield OperatorGroup(
        kind="measured",
        title=result.title,
        setting=setting.words,
        url=f"{benchmark_address(result.benchmark_key)}?{urlencode({'measured': setting.key})}",
        why=why,
        lower_is_better=False,
        figures=tuple(
            _measured_figure(side, *bests[slug], first=first, largest=largest)
            if slug in bests
            else OperatorFigure(side=side, missing=_("no machine here has measured it"))
            for slug, side in VENDORS.items()
        ),
    )


def _bests(setting: MeasuredSetting) -> dict[str, tuple[MeasuredAccelerator, int]]:
    """Vendor -> its best accelerator, of how many."""
    rows = {slug: [row for row in setting.rows if row.accelerator.vendor.slug == slug] for slug in VENDORS}
    return {slug: (of_vendor[0], len(of_vendor)) for slug, of_vendor in rows.items() if of_vendor}


def _measured_figure(
    side: str, row: MeasuredAccelerator, among: int, *, first: float, largest: float
) -> OperatorFigure:
    result, rate = row.best.result, row.best.rate
    software = " ".join(result.software) if result.software else ""
    return OperatorFigure(
        side=side,
        name=row.accelerator.name,
        name_url=row.accelerator.get_absolute_url(),
        css=hue_of(row.accelerator.vendor.slug).css,
        value=rate.label,
        url=run_address(result.report_id, result.position),
        at=round(rate.value / largest * 100, 1),
        factor="" if rate.value == first else format_factor(rate.value / first),
        among=among,
        made=joined([row.best.remark, software, result.measured_at.date()]),
    )


@require_safe
@vary_on_htmx
def operator_figures(request: HttpRequest, slug: str) -> HttpResponse:
    """For htmx the figures alone."""
    operator = operators().get(slug)
    if operator is None:
        raise Http404(_("There is no operator “%(slug)s”.") % {"slug": slug})
    body = _body(slug)
    if wants_partial(request):
        return HttpResponse(body)
    return render(request, "benchmarks/operator.html", {"operator": operator, "body": body})


def _body(slug: str) -> SafeString:
    def draw() -> SafeString:
        return render_part("benchmarks/_operator.jinja", groups=operator_groups(slug))

    return cached_html(("operator", slug, edition_of_cases(), *measured_edition()), draw, CACHE_S)


urlpatterns = [path("operators/<slug:slug>/figures/", operator_figures, name="operator")]
