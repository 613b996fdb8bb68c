"""Rates over size, a panel for each data type and a line for each machine: drawn from a matrix. No queries."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stackviz.base.units import from_si
from stackviz.draw.charts.panels import (
    Panel,
    PanelLine,
    PanelPoint,
    PlacedPanels,
    figure_height,
    panels_figure,
    place_panels,
)
from stackviz.pages.compare.matrix import MatrixGroup, MatrixLine, ResultMatrix
from stackviz.records.series.comparability import is_rankable

FEWEST_OF_SEVERAL, FEWEST_OF_ONE = 2, 3  # points of the longest line


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeChart:
    """The panels of one matrix. `x_names`: size -> what it is called; `height`: pixels that the Plotly figure takes."""

    id: str
    title: str
    panels: tuple[Panel, ...]
    x_names: Mapping[float, str]

    @property
    def height(self) -> int:
        return figure_height(len(self.panels))

    @property
    def placed(self) -> PlacedPanels:
        return place_panels(self.panels, self.x_names)

    @property
    def figure(self) -> dict[str, Any]:
        """The Plotly figure, as plain data."""
        return panels_figure(self.title, self.panels, self.x_names)


def size_chart(matrix: ResultMatrix) -> SizeChart | None:
    """None where no line has two points, or one panel no line of three: the matrix says as much."""
    panels = [Panel(group.title, group.unit, tuple(_lines(group, matrix.sizes))) for group in matrix.groups]
    panels = [panel for panel in panels if panel.lines]
    longest = max((len(line.points) for panel in panels for line in panel.lines), default=0)
    if longest < (FEWEST_OF_SEVERAL if len(panels) > 1 else FEWEST_OF_ONE):
        return None
    drawn = {point.x for panel in panels for line in panel.lines for point in line.points}
    names = {size: name for size, name in zip(matrix.sizes, matrix.columns, strict=True) if size in drawn}
    return SizeChart(id=f"chart-{matrix.id}", title=matrix.title, panels=tuple(panels), x_names=names)


def _lines(group: MatrixGroup, sizes: Sequence[float | None]) -> Iterator[PanelLine]:
    for line in group.lines:
        points = tuple(_points(line, group.unit, sizes)) if line.cells else ()
        if points:
            yield PanelLine(line.name, line.slot, points)


def _points(line: MatrixLine, unit: str, sizes: Sequence[float | None]) -> Iterator[PanelPoint]:
    for item, size in zip(line.cells, sizes, strict=True):
        result = item.cell.result if item else None
        if size is None or result is None or not is_rankable(result) or result.rate is None:
            continue
        rate = result.rate
        low, high = (None if end is None else from_si(end, unit) for end in (rate.low, rate.high))
        yield PanelPoint(size, from_si(rate.value, unit), low, high)
