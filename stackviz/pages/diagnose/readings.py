"""Cards that a tool looked at again and again: utilization, memory and power over time, drawn for the page."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from stackviz.draw.charts.readings import ReadingsLane, readings_lane
from stackviz.report.format import Card
from stackviz.report.importers import Reading
from stackviz.report.importers.reading import CardSample

__all__ = ["CardReadings", "LabelledLane", "card_readings"]

MOST_CARDS = 8


@dataclass(frozen=True, slots=True)
class LabelledLane:
    """A lane and what it shows, in words."""

    label: str
    lane: ReadingsLane


@dataclass(frozen=True, slots=True)
class CardReadings:
    """One card: what it is called, its vendor (its hue), how often it was looked at, and its lanes."""

    label: str
    vendor: str
    count: str
    lanes: tuple[LabelledLane, ...]


def card_readings(reading: Reading) -> tuple[tuple[CardReadings, ...], int]:
    """The first cards that were looked at again and again, and how many more there are."""
    drawn = [_drawn(card, reading.series[card.index]) for card in reading.cards if card.index in reading.series]
    with_lanes = [each for each in drawn if each.lanes]
    return tuple(with_lanes[:MOST_CARDS]), len(with_lanes[MOST_CARDS:])


def _drawn(card: Card, samples: Sequence[CardSample]) -> CardReadings:
    number, seconds = len(samples), card.facts.get("watched_s")
    count = ngettext("%(n)d reading", "%(n)d readings", number) % {"n": number}
    if isinstance(seconds, float):
        count = _("%(readings)s in %(time)s") % {"readings": count, "time": f"{seconds:.0f} s"}
    limit = card.facts.get("power_limit_w")
    lanes = (
        _lane(_("Utilization"), [sample.busy_ratio for sample in samples], 1.0, ""),
        _lane(_("Memory"), [sample.memory_used_bytes for sample in samples], card.memory_bytes, "B"),
        _lane(_("Power"), [sample.power_w for sample in samples], limit if isinstance(limit, float) else None, "W"),
    )
    label = f"{card.index} · {card.reported_name}"
    return CardReadings(label, card.vendor, count, tuple(lane for lane in lanes if lane is not None))


def _lane(name: str, values: Sequence[float | None], most: float | None, unit: str) -> LabelledLane | None:
    """`most`: the top of the lane; None: the highest value. Without two values nothing is drawn."""
    stated = [value for value in values if value is not None]
    if len(stated) < 2:
        return None
    lane = readings_lane(values, max(most or 0.0, *stated))
    low, high = (_amount(value, unit) for value in (min(stated), max(stated)))
    span = low if low == high else _("%(low)s to %(high)s") % {"low": low, "high": high}
    text = _("%(name)s, %(range)s") % {"name": name, "range": span}
    if most and unit:
        text = _("%(range)s of %(most)s") % {"range": text, "most": _amount(most, unit)}
    return LabelledLane(text, lane) if lane else None


def _amount(value: float, unit: str) -> str:
    if unit == "B":
        return f"{value / 2**30:.1f} GiB"
    return f"{value:.0f} {unit}" if unit else f"{value:.0%}"
