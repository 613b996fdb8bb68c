"""What happens over time and over the memory bus: launches that run ahead, and a chain of operators fused."""

from collections.abc import Callable, Mapping

from django.utils.translation import gettext as _

from stackviz.draw.diagrams.svg_marks import BAD, INK, INK_2, INK_3, LINE, Mark, Path, Rect, Sketch, TextMark
from stackviz.pages.learn.drawing import SMALL, STRONG, WIDTH, LearnPicture
from stackviz.records.catalog.queries import PublicCatalogue

__all__ = ["DRAWINGS"]

HOST, DEVICE, MEMORY = INK_3, INK, "var(--l-hardware)"


def launches(_catalogue: PublicCatalogue) -> LearnPicture:
    """Two rows of time: the host launches and returns, the device works later; where a clock may be read."""
    marks: list[Mark] = [
        TextMark(x=0, y=14, text=_("Python on the processor"), style=STRONG),
        TextMark(x=0, y=78, text=_("kernels on the GPU"), style=STRONG),
    ]
    for index in range(3):
        marks.append(Rect(x=index * 34.0, y=22, width=28, height=20, fill=HOST, radius=2))
        marks.append(Rect(x=40 + index * 84.0, y=86, width=80, height=20, fill=DEVICE, radius=2))
        marks.append(Path(f"M{index * 34 + 26:.0f} 42L{42 + index * 84:.0f} 86", stroke=LINE))
    marks += [
        Rect(x=102, y=22, width=190, height=20, stroke=INK_2, dash="3 3", radius=2),
        TextMark(x=197, y=36, text="synchronize()", style=SMALL, fill=INK_2, anchor="middle"),
        Path("M99 18V126", stroke=BAD, width=2, dash="4 3"),
        TextMark(x=103, y=128, text=_("too early: only launched"), style=SMALL, fill=BAD),
        Path("M292 18V126", stroke=INK, width=2),
        TextMark(x=288, y=144, text=_("here the work is done"), style=SMALL, fill=INK, anchor="end"),
        Path("M0 156H352", stroke=LINE),
        TextMark(x=WIDTH, y=170, text=_("time →"), style=SMALL, fill=INK_2, anchor="end"),
    ]
    words = _(
        "The processor launches three kernels in a moment and is free; they run one after another on the GPU. "
        "A clock read before synchronize() measures the launches only."
    )
    return LearnPicture(Sketch(WIDTH, 176, tuple(marks)), words)


def fused_chain(_catalogue: PublicCatalogue) -> LearnPicture:
    """Three element-wise operators as three kernels and as one: the arrows to memory."""
    marks: list[Mark] = [TextMark(x=0, y=14, text=_("three kernels: six passes over memory"), style=STRONG)]
    for index, name in enumerate(("mul", "add", "gelu")):
        x = 20 + index * 114.0
        marks += [
            Rect(x=x, y=24, width=92, height=24, fill=DEVICE, radius=3),
            TextMark(x=x + 46, y=40, text=name, style=STRONG, fill="var(--surface)", anchor="middle"),
            *_arrow(x + 22, 84, 50, HOST),
            *_arrow(x + 70, 50, 84, BAD),
        ]
    marks += [
        Rect(x=0, y=86, width=WIDTH, height=22, stroke=MEMORY, radius=3),
        TextMark(x=WIDTH / 2, y=101, text=_("memory"), style=SMALL, fill=INK_2, anchor="middle"),
        TextMark(x=0, y=140, text=_("one fused kernel: two passes"), style=STRONG),
        Rect(x=20, y=150, width=320, height=24, fill=DEVICE, radius=3),
        TextMark(x=180, y=166, text="mul · add · gelu", style=STRONG, fill="var(--surface)", anchor="middle"),
        *_arrow(42, 210, 176, HOST),
        *_arrow(318, 176, 210, BAD),
        Rect(x=0, y=212, width=WIDTH, height=22, stroke=MEMORY, radius=3),
        TextMark(x=WIDTH / 2, y=227, text=_("memory"), style=SMALL, fill=INK_2, anchor="middle"),
        TextMark(x=0, y=254, text=_("blue: read, red: written"), style=SMALL, fill=INK_2),
    ]
    words = _(
        "As three kernels each operator reads its input from memory and writes its output back; fused, one reads "
        "once and writes once."
    )
    return LearnPicture(Sketch(WIDTH, 262, tuple(marks)), words)


def _arrow(x: float, start: float, end: float, colour: str) -> tuple[Mark, ...]:
    back = 5 if end < start else -5
    return (
        Path(f"M{x:.0f} {start:.0f}V{end:.0f}", stroke=colour, width=2),
        Path(f"M{x - 4:.0f} {end + back:.0f}L{x:.0f} {end:.0f}L{x + 4:.0f} {end + back:.0f}", stroke=colour, width=2),
    )


DRAWINGS: Mapping[str, Callable[[PublicCatalogue], LearnPicture]] = {"launches": launches, "fused-chain": fused_chain}
