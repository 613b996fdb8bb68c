"""Scaling curves of chosen accelerators, like for like: one setting, a curve for each accelerator."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _

from stackviz.base.units import format_in, format_number, from_si, readable_unit, unit_label
from stackviz.draw.charts.plane import Plane, PlaneContent, PlaneLine, PlanePoint, PlaneStep, fitting_name, place_plane
from stackviz.draw.charts.scale import ScaleKind, spans_decades
from stackviz.draw.colours import Hue
from stackviz.pages.benchmarks.best_results import measured_bests
from stackviz.pages.benchmarks.chart_page import accelerator_hues, short_label
from stackviz.pages.benchmarks.curves import (
    FEWEST_POINTS,
    KINDS,
    Curve,
    CurveKind,
    CurvePoint,
    cited_curves,
    cited_places,
    setting_key,
)
from stackviz.pages.benchmarks.selection import MOST_ACCELERATORS, ROOFLINE_ACCELERATORS, ScalingChoice
from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.queries import PublicCatalogue
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.cited.words import devices_text, setting_text
from stackviz.web.i18n.words import joined

CACHES = ("l2_cache_mb", "system_level_cache_mb")
NOTHING, NOWHERE = PlaneContent(), Plane()
LOG_RATIO = 20  # values with a larger ratio get a logarithmic axis


@dataclass(frozen=True, slots=True)
class DrawnCurve:
    """A curve with its accelerator and colour."""

    curve: Curve
    accelerator: Accelerator
    hue: Hue

    @property
    def css(self) -> str:
        return self.hue.css

    @property
    def kind(self) -> str:
        return "measured" if self.curve.is_measured else "cited"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What there is to choose: `value` in the address; `accelerators`: how many have a curve."""

    value: str
    words: str
    accelerators: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingPlot:
    """Everything the page shows. `others`: accelerators with a curve of this setting that are not drawn."""

    kind: CurveKind
    setting: Setting | None
    settings: tuple[Setting, ...]
    curves: tuple[DrawnCurve, ...]
    others: tuple[Accelerator, ...]
    unit: str
    notes: tuple[str, ...]
    content: PlaneContent = NOTHING
    plane: Plane = NOWHERE

    @property
    def y_kind(self) -> ScaleKind:
        return self.content.y_kind

    def value(self, point: CurvePoint) -> float:
        """The rate as it is drawn, in `unit`."""
        return float(f"{from_si(point.amount, self.unit):.12g}")

    def text(self, point: CurvePoint) -> str:
        return format_in(point.amount, self.unit).text

    def position(self, point: CurvePoint) -> float:
        """The place on the horizontal axis, in its unit."""
        return from_si(point.x, self.kind.x_unit) if self.kind.x_unit else float(point.x)


def assemble_scaling(catalogue: PublicCatalogue, choice: ScalingChoice) -> ScalingPlot:
    """Return the curves of the chosen kind and setting. Its queries: `cited_curves` and `measured_bests`."""
    kind = KINDS[choice.kind]
    curves = [curve for curve in all_curves(kind) if curve.accelerator_id in catalogue.by_pk]
    settings = settings_of(kind, curves)
    setting = next((known for known in settings if known.value == choice.setting), settings[0] if settings else None)
    of_setting = [curve for curve in curves if setting and curve.setting == setting.value]
    candidates = {catalogue.by_pk[curve.accelerator_id].slug: catalogue.by_pk[curve.accelerator_id] for curve in
                  of_setting}  # fmt: skip
    slugs = [slug for slug in choice.slugs if slug in candidates] or _usual(of_setting, catalogue)
    drawn = tuple(_drawn(of_setting, [candidates[slug] for slug in slugs]))
    symbol = _common_unit(drawn) if drawn else ""
    plot = ScalingPlot(
        kind=kind,
        setting=setting,
        settings=settings,
        curves=drawn,
        others=tuple(item for slug, item in sorted(candidates.items()) if slug not in slugs),
        unit=symbol,
        notes=tuple(_notes(catalogue, choice, candidates, drawn)),
    )
    content = _content(catalogue, plot)
    return replace(plot, content=content, plane=place_plane(content))


def _common_unit(drawn: Sequence[DrawnCurve]) -> str:
    """Of operations always TFLOP/s, as people compare them; else the unit that the highest point reads best in."""
    si = drawn[0].curve.si
    return "TFLOP/s" if si == "FLOP/s" else readable_unit(max(item.curve.most for item in drawn), si)


def all_curves(kind: CurveKind) -> list[Curve]:
    """Cited ones, and those of machines here."""
    return [*cited_curves(kind), *(_measured_curves(kind) if kind.measured else ())]


def kinds_with_curves() -> list[CurveKind]:
    """Return the kinds that have at least one curve. Cached by edition and process."""
    return [kind for kind in KINDS.values() if cited_curves(kind) or (kind.measured and any(_measured_curves(kind)))]


def _measured_curves(kind: CurveKind) -> Iterator[Curve]:
    """Of each accelerator and type; best results, possibly of several machines."""
    groups: dict[tuple[int, str], dict[int, CurvePoint]] = {}
    made: dict[tuple[int, str], tuple[str, str, str]] = {}
    for best in measured_bests():
        if best.benchmark == kind.measured and best.size:
            group = best.accelerator_id, best.operation.dtype
            groups.setdefault(group, {})[best.size] = CurvePoint(best.size, best.operation.rate, best.url)
            made[group] = best.made, best.machine, best.url
    for (accelerator_id, dtype), points in groups.items():
        if len(points) >= FEWEST_POINTS:
            params = {"dtype": dtype} if dtype else {"test": "copy"}
            si = "FLOP/s" if dtype else "B/s"
            stated, machine, url = made[accelerator_id, dtype]
            yield Curve(
                accelerator_id=accelerator_id,
                count=1,
                setting=setting_key(params, 1, si),
                params=params,
                si=si,
                made=stated,
                source_title=machine,
                source_url=url,
                points=tuple(points[size] for size in sorted(points)),
                is_measured=True,
            )


def settings_of(kind: CurveKind, curves: Iterable[Curve]) -> tuple[Setting, ...]:
    """The settings of these curves, those of most accelerators first."""
    by_setting: dict[str, list[Curve]] = {}
    for curve in curves:
        by_setting.setdefault(curve.setting, []).append(curve)
    benchmark = CITED_BENCHMARKS[kind.benchmark]
    settings = [
        Setting(
            value=value,
            words=joined(
                [
                    setting_text(benchmark, group[0].params) if group[0].params else str(benchmark.title),
                    devices_text(group[0].count) if group[0].count > 1 else "",
                ]
            ),
            accelerators=len({curve.accelerator_id for curve in group}),
        )
        for value, group in by_setting.items()
    ]
    return tuple(sorted(settings, key=lambda setting: (-setting.accelerators, setting.value)))


def _usual(curves: Sequence[Curve], catalogue: PublicCatalogue) -> list[str]:
    """Those of the roofline, the best of each vendor, then the best of all: at most six."""
    best_first = sorted(curves, key=lambda curve: -curve.most)
    ordered = [catalogue.by_pk[curve.accelerator_id] for curve in best_first]
    slugs = {item.slug for item in ordered}
    usual = [slug for slug in ROOFLINE_ACCELERATORS if slug in slugs]
    of_vendors = {item.vendor_id: item.slug for item in reversed(ordered)}
    return list(dict.fromkeys([*usual, *of_vendors.values(), *(item.slug for item in ordered)]))[:MOST_ACCELERATORS]


def _drawn(curves: Sequence[Curve], accelerators: Sequence[Accelerator]) -> Iterator[DrawnCurve]:
    """Of each accelerator its cited curve with most points, of equals the highest, and its measured one."""
    for hue, accelerator in zip(accelerator_hues(accelerators), accelerators, strict=True):
        for is_measured in (False, True):
            curves_of = [
                curve for curve in curves if curve.accelerator_id == accelerator.pk and curve.is_measured == is_measured
            ]
            if curves_of:
                yield DrawnCurve(max(curves_of, key=lambda curve: (len(curve.points), curve.most)), accelerator, hue)


def _content(catalogue: PublicCatalogue, plot: ScalingPlot) -> PlaneContent:
    lines: list[PlaneLine] = []
    points: list[PlanePoint] = []
    for item in plot.curves:
        places = tuple((plot.position(point), plot.value(point)) for point in item.curve.points)
        label = fitting_name(short_label(item.accelerator))
        key = f"{item.accelerator.slug} {item.kind}"
        lines.append(PlaneLine(key=key, hue=item.hue, points=places, label=label, dash=item.hue.step))
        for (x, y), point in zip(places, item.curve.points, strict=True):
            note = f"{item.accelerator.name}: {plot.text(point)} {unit_label(plot.unit)}, {format_number(x)}"
            points.append(
                PlanePoint(
                    key=len(points),
                    x=x,
                    y=y,
                    hue=item.hue,
                    is_filled=item.curve.is_measured,
                    note=note,
                    url=point.url,
                )
            )
    values = [point.y for point in points]
    return PlaneContent(
        lines=tuple(lines),
        points=tuple(points),
        steps=tuple(_cache_steps(catalogue, plot)) if plot.kind.key == "copy" else (),
        x_kind="log",
        y_kind="log" if spans_decades(values, LOG_RATIO) else "linear",
    )


def _cache_steps(catalogue: PublicCatalogue, plot: ScalingPlot) -> Iterator[PlaneStep]:
    seen: set[int] = set()
    for item in plot.curves:
        if item.accelerator.pk in seen:
            continue
        seen.add(item.accelerator.pk)
        for field in CACHES:
            for value in catalogue.preferred(item.accelerator.pk, field)[-1:]:
                if value.amount:
                    size = format_in(value.amount, "MB").label
                    words = f"{fitting_name(short_label(item.accelerator))}: {size}"
                    yield PlaneStep(from_si(value.amount, plot.kind.x_unit), item.hue, words)


def _notes(
    catalogue: PublicCatalogue, choice: ScalingChoice, candidates: dict[str, Accelerator], drawn: Sequence[DrawnCurve]
) -> Iterator[str]:
    for slug in choice.slugs:
        if slug not in candidates and slug in catalogue.by_slug:
            words = _("%(name)s has no curve of at least %(n)d points here.")
            yield words % {"name": catalogue.by_slug[slug].name, "n": FEWEST_POINTS}
    if drawn and not any(item.vendor.slug == "apple" for item in candidates.values()):
        yield _("No source has a curve of an Apple chip for this setting.")
    yield from _why_no_curve(KINDS["attention"])
    if len({item.curve.made for item in drawn}) > 1:
        yield _("Software and the parameters that need not agree differ between curves: see the sources.")


def _why_no_curve(kind: CurveKind) -> Iterator[str]:
    """Why a kind that readers look for is not offered; nothing where it is."""
    if cited_curves(kind) or (kind.measured and any(_measured_curves(kind))):
        return
    places = cited_places(kind)
    if len(places) == 1:
        words = _("Not drawn: %(title)s. All cited results with a length were measured at %(place)s.")
        yield words % {"title": kind.title, "place": format_number(places[0])}
    else:
        words = _("Not drawn: %(title)s. No source has %(n)d points or more that differ in nothing else.")
        yield words % {"title": kind.title, "n": FEWEST_POINTS}


def curve_sentences(plot: ScalingPlot) -> Iterator[str]:
    """Each curve in words: from where to where, and its highest point."""
    for item in plot.curves:
        first, last = item.curve.points[0], item.curve.points[-1]
        top = max(item.curve.points, key=lambda point: point.amount)
        words = _("%(name)s: %(first)s %(unit)s at %(low)s, %(last)s at %(high)s; most %(most)s at %(place)s.")
        yield words % {
            "name": item.accelerator.name,
            "unit": unit_label(plot.unit),
            "first": plot.text(first),
            "low": format_number(plot.position(first)),
            "last": plot.text(last),
            "high": format_number(plot.position(last)),
            "most": plot.text(top),
            "place": format_number(plot.position(top)),
        }
