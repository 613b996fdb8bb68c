"""Rooflines of chosen accelerators: published ceilings, and the best cited and measured results below them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from stackviz.base.units import format_number, format_quantity, quantity_label, unit
from stackviz.draw.charts.plane import Plane, PlaneContent, PlanePoint, place_plane
from stackviz.draw.charts.roofline import Roof, roof_lines
from stackviz.draw.colours import Hue
from stackviz.pages.benchmarks.best_results import (
    MeasuredBest,
    best_of_cases,
    cited_conditions,
    cited_setting,
    matmul_cases,
    measured_bests,
)
from stackviz.pages.benchmarks.chart_page import accelerator_hues
from stackviz.pages.benchmarks.intensity import (
    ATTENTION,
    BENCHMARKS,
    BYTES,
    BYTES_INTENSITY,
    DECODE,
    GEMM,
    OPERATORS,
    STREAM,
    Operation,
    operation_of,
)
from stackviz.pages.benchmarks.roofs import RoofRow, roof_notes, roofs_of
from stackviz.pages.benchmarks.selection import RooflineChoice
from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.queries import PublicCatalogue
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.cited.words import result_address
from stackviz.web.i18n.words import joined

CITED, MEASURED = "cited", "measured"
HALF_TYPES = frozenset({"bf16", "fp16"})
TERA = unit("TFLOP/s").factor
_USUAL_RIDGE = 25.0  # where a roof is a slope or a flat line alone, of the width of the others
_ROOM_RIGHT = 4.0  # the flat part of a roof is drawn at least this far beyond its ridge point


@dataclass(frozen=True, slots=True, kw_only=True)
class RoofPoint:
    """One result in the drawing and in the table. `share`: of what its roof allows at its intensity."""

    key: int
    kind: str
    accelerator: Accelerator
    hue: Hue
    operation: Operation
    setting: str
    share: float
    made: str
    source_title: str
    source_url: str
    url: str

    @property
    def css(self) -> str:
        return self.hue.css

    @property
    def share_text(self) -> str:
        return f"{format_number(self.share * 100, 2)} %"

    @property
    def rate_unit(self) -> str:
        return "B/s" if self.operation.operator == BYTES else "FLOP/s"

    @property
    def rate_text(self) -> str:
        return quantity_label(self.operation.rate, self.rate_unit)

    @property
    def intensity_text(self) -> str:
        return format_number(self.operation.intensity, 3)

    @property
    def words(self) -> str:
        """For a hover and a screen reader."""
        share = _("%(share)s of its roof") % {"share": self.share_text}
        return f"{self.accelerator.name}: {joined([self.setting, self.rate_text, share, self.kind_text])}"

    @property
    def kind_text(self) -> str:
        return _("measured") if self.kind == MEASURED else _("cited")

    @property
    def is_filled(self) -> bool:
        return self.kind == MEASURED

    @property
    def shape(self) -> int:
        return OPERATORS.index(self.operation.operator)


@dataclass(frozen=True, slots=True, kw_only=True)
class Roofline:
    """Everything the page shows. `above`: results beyond every roof that is drawn; `notes`: sentences."""

    rows: tuple[RoofRow, ...]
    points: tuple[RoofPoint, ...]
    above: tuple[RoofPoint, ...]
    content: PlaneContent
    plane: Plane
    notes: tuple[str, ...]


def assemble_roofline(catalogue: PublicCatalogue, choice: RooflineChoice) -> Roofline:
    """One query a benchmark in a process that has not read this edition yet, and those of `measured_bests`."""
    accelerators = [catalogue.by_slug[slug] for slug in choice.slugs]
    rows = tuple(
        row
        for hue, item in zip(accelerator_hues(accelerators), accelerators, strict=True)
        for row in roofs_of(catalogue, item, hue, choice.dtypes)
    )
    everything = list(_placed(accelerators, rows))
    points = _best_of_each([point for point in everything if point.share <= 1], accelerators)
    above = _best_of_each([point for point in everything if point.share > 1], accelerators)
    content = _content(rows, points)
    return Roofline(
        rows=rows,
        points=points,
        above=above,
        content=content,
        plane=place_plane(content),
        notes=(*roof_notes(accelerators, rows, choice.dtypes), *_notes(accelerators, rows, points, above)),
    )


# --- results ---


def _placed(accelerators: Sequence[Accelerator], rows: Sequence[RoofRow]) -> Iterator[RoofPoint]:
    """The best results of these accelerators, each with its share of its roof."""
    roofs: dict[str, dict[str, Roof]] = {}
    for row in rows:
        roofs.setdefault(row.slug, {})[row.dtype] = row.roof
    hues = zip(accelerator_hues(accelerators), accelerators, strict=True)
    placed = {item.pk: (item, hue) for hue, item in hues if item.slug in roofs}
    for key in BENCHMARKS:
        for result in best_of_cases(key, matmul_cases() if key == "operator-time" else ()):
            if result.accelerator_id in placed:
                accelerator, hue = placed[result.accelerator_id]
                operation = operation_of(key, result.params, result.amount_per_device)
                roof = _roof_for(operation, roofs[accelerator.slug]) if operation else None
                if operation and roof:
                    yield _cited_point(result, operation, (accelerator, hue), roof)
    for best in measured_bests():
        if best.accelerator_id in placed:
            accelerator, hue = placed[best.accelerator_id]
            roof = _roof_for(best.operation, roofs[accelerator.slug])
            if roof:
                yield _measured_point(best, (accelerator, hue), roof)


def _roof_for(operation: Operation, roofs: Mapping[str, Roof]) -> Roof | None:
    """The roof of its data type; the highest where it states none or the bandwidth alone bounds it. None: not chosen.

    Attention without a stated type runs in a type of 16 bits. Under a slope or a flat line alone stands only what that
    ceiling bounds: how much of the other is used, nobody knows.
    """
    is_of_memory = operation.operator in (DECODE, STREAM, BYTES)
    roofs = {dtype: roof for dtype, roof in roofs.items() if (roof.bandwidth if is_of_memory else roof.peak)}
    if operation.operator == GEMM or (operation.operator == ATTENTION and operation.dtype):
        return roofs.get(operation.dtype)
    allowed = [roof for dtype, roof in roofs.items() if operation.operator != ATTENTION or dtype in HALF_TYPES]
    return max(allowed, key=lambda roof: roof.peak or 0.0, default=None)


def _share(operation: Operation, roof: Roof) -> float:
    return operation.height / roof.reachable(operation.intensity)


def _cited_point(result: CitedResult, operation: Operation, of: tuple[Accelerator, Hue], roof: Roof) -> RoofPoint:
    accelerator, hue = of
    return RoofPoint(
        key=result.pk,
        kind=CITED,
        accelerator=accelerator,
        hue=hue,
        operation=operation,
        setting=cited_setting(result),
        share=_share(operation, roof),
        made=cited_conditions(result),
        source_title=result.source.title,
        source_url=result.source.url,
        url=result_address(result),
    )


def _measured_point(best: MeasuredBest, of: tuple[Accelerator, Hue], roof: Roof) -> RoofPoint:
    accelerator, hue = of
    return RoofPoint(
        key=-best.series_id,
        kind=MEASURED,
        accelerator=accelerator,
        hue=hue,
        operation=best.operation,
        setting=best.setting,
        share=_share(best.operation, roof),
        made=best.made,
        source_title=best.machine,
        source_url=best.url,
        url=best.url,
    )


def _best_of_each(points: Iterable[RoofPoint], accelerators: Sequence[Accelerator]) -> tuple[RoofPoint, ...]:
    """Of each accelerator, kind, operator and type the highest; single operators of every shape. By accelerator."""
    best: dict[tuple[object, ...], RoofPoint] = {}
    for point in points:
        operation = point.operation
        shape = f"{operation.intensity:.6g}" if point.setting.startswith(_operators_title()) else ""
        group = (point.accelerator.pk, point.kind, operation.operator, operation.dtype, operation.short, shape)
        if group not in best or best[group].operation.height < operation.height:
            best[group] = point
    order = {operator: number for number, operator in enumerate(OPERATORS)}
    places = {item.pk: number for number, item in enumerate(accelerators)}
    return tuple(
        sorted(
            best.values(),
            key=lambda point: (places[point.accelerator.pk], order[point.operation.operator], -point.operation.height),
        )
    )


def _operators_title() -> str:
    return str(CITED_BENCHMARKS["operator-time"].title)


# --- the drawing ---


def _content(rows: Sequence[RoofRow], points: Sequence[RoofPoint]) -> PlaneContent:
    if not rows:
        return PlaneContent()
    intensities = [point.operation.intensity for point in points]
    high = max([*intensities, *((row.roof.ridge or _USUAL_RIDGE) * _ROOM_RIGHT for row in rows)])
    low = min([BYTES_INTENSITY, *intensities])
    labelled = _labelled(points)
    return PlaneContent(
        lines=roof_lines([row.roof for row in rows], low, high, TERA),
        points=tuple(
            PlanePoint(
                key=point.key,
                x=point.operation.intensity,
                y=point.operation.height / TERA,
                hue=point.hue,
                shape=point.shape,
                is_filled=point.is_filled,
                label=point.operation.short if point.key in labelled else "",
                note=point.words,
                url=point.url,
            )
            for point in points
        ),
    )


def _labelled(points: Sequence[RoofPoint]) -> set[int]:
    """Keys of the highest point of each accelerator and word: the same word at ten points says nothing."""
    highest: dict[tuple[int, str], RoofPoint] = {}
    for point in points:
        group = point.accelerator.pk, point.operation.short
        if group not in highest or highest[group].operation.height < point.operation.height:
            highest[group] = point
    return {point.key for point in highest.values()}


def _notes(
    accelerators: Sequence[Accelerator],
    rows: Sequence[RoofRow],
    points: Sequence[RoofPoint],
    above: Sequence[RoofPoint],
) -> Iterator[str]:
    """Which of those with a roof have no point below it, and why."""
    for item in accelerators:
        if not any(row.slug == item.slug for row in rows) or any(point.accelerator == item for point in points):
            continue
        if any(point.accelerator == item for point in above):
            words = _("%(name)s: its results lie above this roof; the whole roofline lists them.")
        else:
            words = _("%(name)s: no public result states operations, bytes and data type, so none is placed here.")
        yield words % {"name": item.name}


def roof_sentences(roofline: Roofline) -> Iterator[str]:
    """The drawing in words: the ceilings, then the best result of each accelerator."""
    yield from (row.sentence for row in roofline.rows)
    best: dict[int, RoofPoint] = {}
    for point in roofline.points:
        if point.operation.operator == GEMM and (
            point.accelerator.pk not in best or point.operation.rate > best[point.accelerator.pk].operation.rate
        ):
            best[point.accelerator.pk] = point
    for point in best.values():
        words = _("%(name)s: its best matrix product (%(dtype)s) reaches %(rate)s, %(share)s of its roof.")
        yield words % {
            "name": point.accelerator.name,
            "dtype": point.operation.dtype,
            "rate": format_quantity(point.operation.rate, "FLOP/s").label,
            "share": point.share_text,
        }
