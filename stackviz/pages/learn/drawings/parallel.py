"""Few strong cores and many lanes; Amdahl's curves."""

import math
from collections.abc import Callable, Iterator, Mapping

from django.utils.translation import gettext as _

from stackviz.base.units import format_number
from stackviz.draw.charts.scale import Scale
from stackviz.draw.diagrams.svg_marks import INK, INK_2, INK_3, LINE, Mark, Path, Rect, Sketch, TextMark
from stackviz.pages.learn.drawing import SMALL, STRONG, WIDTH, LearnPicture
from stackviz.pages.learn.tries.amdahl import speedup
from stackviz.records.catalog.queries import PublicCatalogue

__all__ = ["DRAWINGS"]

LATENCY, THROUGHPUT = INK_3, INK
HALF, GAP = 168.0, 24.0
TOP, SIDE = 40.0, 168.0


def cores_and_lanes(_catalogue: PublicCatalogue) -> LearnPicture:
    """Two dies of one size: what each spends its area on."""
    left = WIDTH - HALF
    marks: list[Mark] = [
        TextMark(x=0, y=14, text=_("a processor"), style=STRONG),
        TextMark(x=0, y=30, text=_("few cores, each fast alone"), style=SMALL, fill=INK_2),
        TextMark(x=left, y=14, text=_("a GPU"), style=STRONG),
        TextMark(x=left, y=30, text=_("many lanes in step"), style=SMALL, fill=INK_2),
        *_die(0.0),
        *_die(left),
        *_processor(),
        *_lanes(left),
    ]
    foot = TOP + SIDE + 16
    for x, words in ((0.0, _("caches and control: outlined")), (left, _("each square: lanes that add"))):
        marks.append(TextMark(x=x, y=foot, text=words, style=SMALL, fill=INK_2))
    words = _("Two chips of one size: a processor with eight large cores and much cache, a GPU with hundreds of lanes.")
    return LearnPicture(Sketch(WIDTH, foot + 8, tuple(marks)), words)


def _die(x: float) -> Iterator[Mark]:
    yield Rect(x=x, y=TOP, width=HALF, height=SIDE, stroke=LINE, radius=4)


def _processor() -> Iterator[Mark]:
    for row in range(2):
        for column in range(4):
            x, y = 8 + column * 39.0, TOP + 8 + row * 116
            yield Rect(x=x, y=y, width=35, height=36, stroke=LATENCY, radius=2)
            yield Rect(x=x + 5, y=y + 5, width=25, height=12, fill=LATENCY, radius=1)
    yield Rect(x=8, y=TOP + 52, width=152, height=64, stroke=INK_2, radius=2, dash="3 3")
    yield TextMark(x=84, y=TOP + 88, text=_("cache"), style=SMALL, fill=INK_2, anchor="middle")


def _lanes(left: float) -> Iterator[Mark]:
    for row in range(17):
        for column in range(17):
            if row == 8:
                continue
            yield Rect(x=left + 8 + column * 9, y=TOP + 8 + row * 9, width=7, height=7, fill=THROUGHPUT, radius=1)
    yield Rect(x=left + 8, y=TOP + 80, width=151, height=7, stroke=INK_2, radius=1, dash="3 3")


SHARES = (0.5, 0.9, 0.95, 0.99)
DASHES = ("2 3", "8 3 2 3", "8 4", "")
PLOT_LEFT, PLOT_TOP, PLOT_HEIGHT = 36.0, 24.0, 190.0
PLOT_WIDTH = WIDTH - PLOT_LEFT - 56


def amdahl(_catalogue: PublicCatalogue) -> LearnPicture:
    """Speedup over cores, both logarithmic, for four shares of work that can be divided."""
    across, up = Scale("log", 1, 16_384), Scale("log", 1, 128)
    marks: list[Mark] = [TextMark(x=0, y=12, text=_("times as fast"), style=SMALL, fill=INK_2)]
    for tick in (1, 4, 16, 64):
        y = _up(up, tick)
        marks.append(Path(f"M{PLOT_LEFT} {y:.1f}H{PLOT_LEFT + PLOT_WIDTH:.1f}", stroke=LINE))
        marks.append(TextMark(x=PLOT_LEFT - 6, y=y + 4, text=f"{tick}", style=SMALL, fill=INK_2, anchor="end"))
    for tick in (1, 16, 256, 4_096):
        x = _across(across, tick)
        marks.append(
            TextMark(
                x=x, y=PLOT_TOP + PLOT_HEIGHT + 16, text=format_number(tick), style=SMALL, fill=INK_2, anchor="middle"
            )
        )
    marks.append(
        TextMark(
            x=PLOT_LEFT + PLOT_WIDTH, y=PLOT_TOP + PLOT_HEIGHT + 32, text=_("cores"), style=SMALL, fill=INK_2,
            anchor="end",
        )
    )  # fmt: skip
    for dash, share in zip(DASHES, SHARES, strict=True):
        points = [(2 ** (step / 4), speedup(share, 2 ** (step / 4))) for step in range(57)]
        path = "L".join(f"{_across(across, cores):.1f} {_up(up, times):.1f}" for cores, times in points)
        marks.append(Path(f"M{path}", stroke=INK, width=2, dash=dash))
        y = _up(up, points[-1][1]) + (6 if math.isclose(share, 0.9) else 2)
        marks.append(TextMark(x=PLOT_LEFT + PLOT_WIDTH + 6, y=y, text=f"{share * 100:g} %", style=STRONG))
    words = _("Curves that flatten: with half of the work divided at most twice as fast, with 99 % at most 100 times.")
    return LearnPicture(Sketch(WIDTH, PLOT_TOP + PLOT_HEIGHT + 40, tuple(marks)), words)


def _across(scale: Scale, value: float) -> float:
    return PLOT_LEFT + PLOT_WIDTH * scale.percent(value) / 100


def _up(scale: Scale, value: float) -> float:
    return PLOT_TOP + PLOT_HEIGHT * (1 - scale.percent(value) / 100)


DRAWINGS: Mapping[str, Callable[[PublicCatalogue], LearnPicture]] = {
    "cores-and-lanes": cores_and_lanes,
    "amdahl-curves": amdahl,
}
