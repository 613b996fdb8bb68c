"""The row a machine's page begins with: its most asked-for result, how it moved and why, with a small line."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from stackviz.base.stats.changes import MIN_RESULTS
from stackviz.draw.charts.sparkline import Sparkline, sparkline
from stackviz.pages.machines.drawn_history import draw_history, signed_percent
from stackviz.pages.machines.history import differences_text
from stackviz.records.series.history import Trend, headline_result, trend_of
from stackviz.records.series.measurement import Measurement


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadlineRow:
    """`bf16 8192³` `531 TFLOP/s` `−25 %` `against 2026-11-15` `Power limit 700 W → 500 W`.

    `share`: of the published peak, "" without one. `moved`: "" where it did not. `note`: how far the figures reach.
    """

    what: str
    url: str
    rate: str
    share: str
    moved: str
    is_slower: bool
    against: str
    why: str
    note: str
    line: Sparkline | None


def headline_row(results: Sequence[Measurement]) -> HeadlineRow | None:
    """None where no result counts. Four queries."""
    result = headline_result(results)
    if result is None or result.rate is None:
        return None
    trend = trend_of(result)
    moved = signed_percent(trend.factor) if trend.factor is not None and not trend.is_steady else ""
    drawn = draw_history(trend.history, result.benchmark, result.params) if result.benchmark else None
    names_it = result.benchmark is not None and result.benchmark.setting_names_it
    return HeadlineRow(
        what=result.setting if names_it else f"{result.title} {result.setting}",
        url=f"series/{result.series_id}/",
        rate=result.rate.label,
        share=result.peak.label if result.peak and not result.peak.is_above_peak else "",
        moved=moved,
        is_slower=bool(moved) and trend.factor is not None and trend.factor < 1,
        against=_against(trend, moved=moved),
        why=_why(trend) if moved else "",
        note=_note(trend),
        line=sparkline(drawn.points, drawn.levels, drawn.marks) if drawn else None,
    )


def _against(trend: Trend, *, moved: str) -> str:
    if trend.before is None:
        return _("measured once so far")
    day = {"day": f"{trend.before.measured_at:%Y-%m-%d}"}
    return _("against %(day)s") % day if moved else _("as on %(day)s") % day


def _why(trend: Trend) -> str:
    return differences_text(trend.causes) or _("nothing we read changed")


def _note(trend: Trend) -> str:
    """Single results may differ by chance: a change of level needs more of them."""
    if trend.is_level or trend.before is None or trend.counted >= MIN_RESULTS:
        return ""
    return _("%(n)d results so far; %(least)d are needed to tell changes from noise") % {
        "n": trend.counted,
        "least": MIN_RESULTS,
    }
