"""How fast accelerators that people own generate with a few models: the best rate known, and the range to expect.

Both are those of `/fit/`; nothing is computed here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _

from stackviz.base.units import format_factor, format_number
from stackviz.draw.charts.scale import Mark, Scale
from stackviz.draw.colours import hue_of
from stackviz.pages.fit.answers import FitAnswer, FitCalibrations, answers_for
from stackviz.pages.fit.calibration import ReachedRate
from stackviz.pages.fit.evidence import calibrations, fit_evidence
from stackviz.pages.fit.query import FitQuery, read_fit_query
from stackviz.pages.fit.shown import memory_text, rate_range
from stackviz.pages.fit.targets import fit_targets
from stackviz.records.catalog.queries import PublicCatalogue, public_catalogue
from stackviz.web.parts import cached_html, render_part

MODELS = (("gpt-oss-20b", "mxfp4"), ("qwen-3-32b", "q4_k_m"), ("llama-3.1-70b", "q4_k_m"))  # and the precision
SHOWN = (
    "nvidia-h100-sxm5-80gb", "nvidia-rtx-pro-6000-blackwell-ws", "nvidia-geforce-rtx-5090", "nvidia-geforce-rtx-5080",
    "nvidia-geforce-rtx-4090", "nvidia-geforce-rtx-3090", "nvidia-dgx-spark-gb10", "apple-m3-ultra-80",
    "apple-m4-max-40", "apple-m4-pro-20", "amd-rx-7900-xtx", "amd-rx-9070-xt", "intel-arc-b580",
)  # fmt: skip
LEAST_ROOM = 1.05  # beyond the longest range, so that its end is inside
CACHE_S = 600


@dataclass(frozen=True, slots=True)
class Speed:
    """One accelerator with the smallest of its memories that holds the model.

    `rate`: the best rate known for this model and precision on one of it, in tokens/s; None where there is none.
    `figure`: that rate, else the range to expect; "" where the memory is too small, which `short` says, or where no
    figure is published. `at`, `low`, `high`: per cent of the drawing, None where there is nothing to draw.
    """

    name: str
    answer: FitAnswer
    rate: ReachedRate | None
    url: str
    at: float | None
    low: float | None
    high: float | None

    @property
    def css(self) -> str:
        return hue_of(self.answer.target.rated.vendor).css

    @property
    def memory(self) -> str:
        return f"{format_number(self.answer.limit.printed_gb)} GB"

    @property
    def figure(self) -> str:
        if self.rate is not None:
            return format_number(self.rate.tokens_per_s, 3)
        return rate_range(self.answer.decode) if self.answer.decode else ""

    @property
    def short(self) -> str:
        if self.answer.fits:
            return ""
        return _("%(memory)s short") % {"memory": memory_text(self.answer.fullest - self.answer.usable)}


@dataclass(frozen=True, slots=True)
class ModelSpeeds:
    """`headline`: what the rows show in a sentence. `speeds`: the fastest first, those that cannot hold it last."""

    query: FitQuery
    headline: str
    speeds: tuple[Speed, ...]
    marks: tuple[Mark, ...]
    url: str

    @property
    def title(self) -> str:
        return self.query.model.name

    @property
    def slug(self) -> str:
        return self.query.model.slug


def speeds_html() -> str:
    """The panel; "" on a site without any of these accelerators. Cached until results or sheets change."""
    catalogue = public_catalogue()

    def draw() -> str:
        shown = [each for each in model_speeds(catalogue) if each.speeds]
        return render_part("home/_speeds.jinja", shown=shown, vendors=_vendors(shown)) if shown else ""

    return cached_html(("speeds", fit_evidence(catalogue).edition, catalogue.edition), draw, CACHE_S)


def model_speeds(catalogue: PublicCatalogue) -> list[ModelSpeeds]:
    """Return the rows of each of MODELS. The queries of `fit_evidence` and `calibrations`."""
    targets = fit_targets(catalogue)
    fitted = calibrations(fit_evidence(catalogue), catalogue)
    shown = [targets[slug] for slug in SHOWN if slug in targets]
    queries = [
        read_fit_query(QueryDict(f"model={model}&precision={precision}"), targets) for model, precision in MODELS
    ]
    names = {slug: catalogue.by_slug[slug].drawn_name for slug in targets}
    return [_model_speeds(query, answers_for(query, shown, fitted), fitted, names) for query in queries]


def _model_speeds(
    query: FitQuery, answers: Sequence[FitAnswer], fitted: FitCalibrations, names: Mapping[str, str]
) -> ModelSpeeds:
    best: dict[str, ReachedRate] = {}
    for rate in sorted(fitted.decode.rates, key=lambda rate: rate.tokens_per_s):
        if rate.model == query.model.slug and rate.work.precision == query.precision:
            best[rate.accelerator] = rate
    known = {answer.target.slug: best.get(answer.target.slug) for answer in answers if answer.fits}
    ends = [answer.decode.high for answer in answers if answer.decode] + [
        rate.tokens_per_s for rate in known.values() if rate is not None
    ]
    scale = Scale("linear", 0.0, max(ends, default=1.0) * LEAST_ROOM)
    speeds = [
        _speed(names[slug], query, answer, known.get(slug), scale)
        for answer in answers
        for slug in (answer.target.slug,)
    ]
    speeds.sort(key=lambda speed: (-_expected(speed), speed.answer.fullest - speed.answer.usable, speed.name))
    marks = tuple(Mark(scale.position(tick), format_number(tick)) for tick in scale.ticks(apart=12))
    return ModelSpeeds(query, _headline(speeds), tuple(speeds), marks, _fit_address(query))


def _fit_address(query: FitQuery, *accelerators: str) -> str:
    parameters = {"model": query.model.slug, "precision": query.precision.slug, "accelerator": accelerators}
    return f"{reverse('fit:page')}?{urlencode(parameters, doseq=True)}"


def _speed(name: str, query: FitQuery, answer: FitAnswer, rate: ReachedRate | None, scale: Scale) -> Speed:
    decode = answer.decode
    return Speed(
        name=name,
        answer=answer,
        rate=rate,
        url=_fit_address(query, answer.target.slug),
        at=scale.position(rate.tokens_per_s) if rate else None,
        low=scale.position(decode.low) if decode else None,
        high=scale.position(decode.high) if decode else None,
    )


def _expected(speed: Speed) -> float:
    if speed.rate is not None:
        return speed.rate.tokens_per_s
    return speed.answer.decode.mid if speed.answer.decode else 0.0


def _headline(speeds: Sequence[Speed]) -> str:
    """The fastest that somebody measured against the fastest Mac, at one depth; else how many can hold the model."""
    measured = [(speed, speed.rate) for speed in speeds if speed.rate is not None]
    macs = [(speed, rate) for speed, rate in measured if speed.answer.target.rated.vendor == "apple"]
    if measured and macs and measured[0] != macs[0] and measured[0][1].work == macs[0][1].work:
        (fastest, rate), (mac, rate_of_mac) = measured[0], macs[0]
        words = {
            "fastest": fastest.name,
            "rate": fastest.figure,
            "factor": format_factor(rate.tokens_per_s / rate_of_mac.tokens_per_s),
            "mac": mac.name,
        }
        return _("%(fastest)s: %(rate)s tokens/s, %(factor)s the rate of %(mac)s") % words
    fitting = sum(speed.answer.fits for speed in speeds)
    return _("%(fitting)s of %(all)s can hold it") % {"fitting": fitting, "all": len(speeds)}


def _vendors(shown: Sequence[ModelSpeeds]) -> list[tuple[str, str]]:
    """Return (class, name) of each vendor, in the order of the first rows."""
    targets = [speed.answer.target for speed in shown[0].speeds]
    return list(dict.fromkeys((hue_of(each.rated.vendor).css, each.vendor_name) for each in targets))
