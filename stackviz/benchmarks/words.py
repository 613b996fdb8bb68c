"""Statistics of samples as text, for every page that shows a result in full."""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from stackviz.stats import Summary
from stackviz.units import quantity_label


def sample_statistics(summary: Summary | None) -> list[tuple[str, str]]:
    """(name, figure in seconds); too few samples are reported, not filled in. [] for a run without samples."""
    if summary is None:
        return []
    too_few = _("too few samples")
    return [
        (_("Median"), seconds_text(summary.median)),
        (_("95 % interval of the median"), _span([summary.low, summary.high]) or too_few),
        (_("Interquartile range"), _span([summary.q1, summary.q3]) or too_few),
        (_("Samples"), str(summary.count)),
    ]


def _span(ends: Sequence[float | None]) -> str:
    return " – ".join(seconds_text(end) for end in ends if end is not None)


def seconds_text(value: float) -> str:
    return quantity_label(value, "s", digits=4)
