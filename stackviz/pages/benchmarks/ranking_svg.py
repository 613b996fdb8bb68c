"""One page of a ranking as an SVG file that stands alone: title, setting, rows, sources, date.

The same dots, ticks and figures as on the page (`ranking.DrawnLadder`), for a slide or a paper. No query.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from django.utils.translation import gettext as _

from stackviz.draw.diagrams.svg_marks import INK, INK_2, LINE, PAPER, Circle, Mark, Path, Sketch, TextMark, svg_text
from stackviz.draw.diagrams.text_width import Style, lines_of
from stackviz.pages.benchmarks.ranking import CitedRow, DrawnLadder, place_text

MARGIN, WIDTH, ROW, GAP = 24.0, 1160.0, 26.0, 12.0
NAMES, FIGURES, MADE = 290.0, 84.0, 390.0  # widths of the columns beside the rail
TITLE, SETTING, NAME, FIGURE, SMALL = Style(18, bold=True), Style(13), Style(12.5), Style(12.5, bold=True), Style(10.5)
LEADING = 1.4
BEST, OTHER = (5.5, 2.5), (3.5, 1.5)  # radius and stroke of a ring


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingWords:
    """The texts around the rows. `notes`: how to read them; `address`: of the page, with everything chosen."""

    title: str
    setting: str
    notes: Sequence[str]
    address: str
    day: date


def ranking_svg(drawn: DrawnLadder, rows: Sequence[CitedRow], words: RankingWords) -> str:
    """The rows on the scale of the whole ranking."""
    marks: list[Mark] = []
    y = MARGIN
    for text, style, fill in _head(drawn, words):
        for line in lines_of(text, WIDTH - 2 * MARGIN, style):
            y += style.size * LEADING
            marks.append(TextMark(x=MARGIN, y=y, text=line, style=style, fill=fill))
    top = y + 2 * GAP
    bottom = top + GAP + len(rows) * ROW
    marks += _grid(drawn, top, bottom)
    for index, row in enumerate(rows):
        marks += _row(row, top + GAP + index * ROW)
    y = bottom + GAP
    for text in _foot(rows, words):
        for line in lines_of(text, WIDTH - 2 * MARGIN, SMALL):
            y += SMALL.size * LEADING
            marks.append(TextMark(x=MARGIN, y=y, text=line, style=SMALL, fill=INK_2))
    return svg_text(Sketch(WIDTH, y + MARGIN, tuple(marks)), words.title, _description(drawn, rows, words))


def _head(drawn: DrawnLadder, words: RankingWords) -> list[tuple[str, Style, str]]:
    unit = f"{drawn.unit} ({_('logarithmic')})" if drawn.is_log else drawn.unit
    texts = ((words.title, TITLE, INK), (words.setting, SETTING, INK), (unit, SETTING, INK_2))
    return [text for text in texts if text[0]] + [(note, SMALL, INK_2) for note in words.notes]


def _foot(rows: Sequence[CitedRow], words: RankingWords) -> list[str]:
    sources = "; ".join(dict.fromkeys(f"{row.source} ({row.source_url})" for row in rows))
    as_of = _("As of %(day)s: %(address)s") % {"day": words.day.isoformat(), "address": words.address}
    return [_("Cited, not measured here. Sources: %(sources)s") % {"sources": sources}, as_of]


def _description(drawn: DrawnLadder, rows: Sequence[CitedRow], words: RankingWords) -> str:
    lines = [f"{place_text(row)}: {row.text} {drawn.unit}" for row in rows]
    return "; ".join(filter(None, (words.setting, *lines)))


def _rail() -> tuple[float, float]:
    """Left and right end of the scale."""
    return MARGIN + NAMES, WIDTH - MARGIN - MADE - FIGURES


def _at(percent: float) -> float:
    left, right = _rail()
    return left + (right - left) * percent / 100


def _grid(drawn: DrawnLadder, top: float, bottom: float) -> Iterator[Mark]:
    for at, label in drawn.ticks:
        x = _at(at)
        yield Path(f"M{x:.1f} {top}V{bottom}", stroke=LINE)
        yield TextMark(x=x, y=top - 4, text=label, style=SMALL, fill=INK_2, anchor="middle")


def _row(row: CitedRow, top: float) -> Iterator[Mark]:
    """One accelerator: name, rings on the rail, figure, what it was measured with."""
    middle, foot = top + ROW / 2, top + ROW / 2 + 4
    left, right = _rail()
    colour = row.hue.light
    yield Path(f"M{left} {middle}H{right}", stroke=LINE)
    yield TextMark(x=MARGIN + 24, y=foot, text=row.rank, style=SMALL, fill=INK_2, anchor="end")
    for line in lines_of(row.name, NAMES - 44, NAME, most=1):
        yield TextMark(x=MARGIN + 32, y=foot, text=line, style=NAME)
    if row.bound_at is not None:
        yield Path(f"M{_at(row.bound_at):.1f} {middle - 7}v14", stroke=INK_2, width=2)
    for dot in row.others:
        yield _ring(_at(dot.at), middle, colour, OTHER, opacity=0.5)
    yield _ring(_at(row.dot.at), middle, colour, BEST)
    yield TextMark(x=right + FIGURES - 8, y=foot, text=row.text, style=FIGURE, anchor="end")
    for line in lines_of(_beside(row), MADE - 8, SMALL, most=1):
        yield TextMark(x=right + FIGURES + 8, y=foot, text=line, style=SMALL, fill=INK_2)


def _ring(x: float, y: float, colour: str, size: tuple[float, float], opacity: float = 1) -> Circle:
    radius, width = size
    return Circle(x=x, y=y, radius=radius, fill=PAPER, stroke=colour, width=width, opacity=opacity)


def _beside(row: CitedRow) -> str:
    share = _("%(share)s of its bound") % {"share": row.share} if row.share else ""
    return " · ".join(filter(None, (share, row.made)))
