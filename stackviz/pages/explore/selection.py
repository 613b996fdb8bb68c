"""Queries of the ladder, the scatter and the timeline: addresses parsed and written. No database.

An unknown value is ignored with a note, never an error.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields

from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from stackviz.records.catalog.uses import Use
from stackviz.web.http.address import AddressReader, Note

LADDER_FIELD = "memory_bandwidth_gb_s"  # of what all vendors publish, the figure that most questions are about
DECODE = "llama-bench-tg128"  # the cited setting that most people compare by
SCATTER_FIELDS = ("memory_bandwidth_gb_s", "compute-rate", "power")
NO_SIZE = "none"
NEVER_RANKED = ("released",)  # an axis of the scatter alone
# Axes of the presets: horizontal, vertical, size. The first is the default.
SCATTER_PRESETS = (
    SCATTER_FIELDS,
    ("memory_bandwidth_gb_s", DECODE, NO_SIZE),
    ("power", DECODE, "memory_gb"),
    ("launch_price_usd", DECODE, "memory_gb"),
    ("memory_gb", DECODE, "power"),
    ("power", "compute-rate", "memory_gb"),
    ("launch_price_usd", "fp32_tflops", "memory_gb"),
    ("memory_gb", "memory_bandwidth_gb_s", "power"),
    ("released", "compute-rate-per-watt", NO_SIZE),
    ("released", f"{DECODE}-per-watt", NO_SIZE),
    ("transistors", "fp32_tflops", "die_area_mm2"),
)
TIMELINE_RATES = ("memory_bandwidth_gb_s", "compute-rate", "memory_gb", "compute-rate-per-watt")  # drawn over the years
ALL_SETTINGS = "all"
EVERY_POINT = "all"
SCALES = ("log", "linear")
FORMATS = ("csv", "json")
FIGURE = "plotly"  # for plotly.js only, so notes do not offer it
_BESIDE = frozenset({"page"})  # read by the views, never part of a link


@dataclass(frozen=True, slots=True)
class ExploreOptions:
    """Valid parameter values: measures with the conditions they are published under; slug -> name of vendors, kinds.

    `of_vendors`: vendor -> the measures that at least one of its products has.
    """

    measures: Mapping[str, Collection[str]]
    vendors: Mapping[str, str]
    kinds: Mapping[str, str | Promise]
    years: Sequence[int]
    of_vendors: Mapping[str, Collection[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreFilters:
    """Filters on accelerators; "" means all. `use`: what they are sold for. `notes`: parts that were ignored."""

    use: str = ""
    vendor: str = ""
    kind: str = ""
    year: str = ""
    format: str = field(default="", compare=False)
    notes: tuple[Note, ...] = field(default=(), compare=False)

    @property
    def is_all(self) -> bool:
        return not (self.vendor or self.kind or self.year)

    @property
    def query(self) -> QueryDict:
        """The choice as parameters, without defaults."""
        query = QueryDict(mutable=True)
        for parameter in fields(self):
            value = getattr(self, parameter.name)
            if parameter.name not in ("notes", "format") and value and value != parameter.default:
                query[parameter.name] = value
        return query

    @property
    def query_string(self) -> str:
        return self.query.urlencode()


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderChoice(ExploreFilters):
    """A ranking. `condition` "": the measure's usual one; `scale` "": chosen by the spread of the values.

    `announced` "": without those that nobody can buy or rent.
    """

    announced: str = ""
    field: str = LADDER_FIELD
    condition: str = ""
    scale: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScatterChoice(ExploreFilters):
    """A plot of two measures, a third as size. `xscale`, `yscale` "": chosen by the spread of the values.

    `draw` "": as many points as can be told apart; EVERY_POINT: all.
    """

    x: str = SCATTER_FIELDS[0]
    y: str = SCATTER_FIELDS[1]
    size: str = SCATTER_FIELDS[2]
    xscale: str = ""
    yscale: str = ""
    draw: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatmapChoice(ExploreFilters):
    """`settings` "": the fullest of each benchmark; ALL_SETTINGS: every one that many accelerators have."""

    settings: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineChoice(ExploreFilters):
    """The vendors whose lanes are shown, and the `rate` drawn over the years; the other filters have no effect."""

    rate: str = TIMELINE_RATES[0]


def timeline_choice(parameters: QueryDict, vendors: Collection[str]) -> TimelineChoice:
    """Read the address."""
    reader = AddressReader(parameters)
    vendor = reader.choice("vendor", vendors, _("vendor"))
    rate = reader.choice("rate", TIMELINE_RATES, _("field"), TIMELINE_RATES[0])
    return TimelineChoice(vendor=vendor, rate=rate, notes=reader.notes({"vendor", "rate"}))


def heatmap_choice(parameters: QueryDict, known: ExploreOptions) -> HeatmapChoice:
    """Read the address."""
    reader = AddressReader(parameters)
    chosen = {
        **_filters(reader, known),
        "settings": reader.choice("settings", (ALL_SETTINGS,), _("setting")),
        "format": reader.text("format"),
    }
    return HeatmapChoice(**chosen, notes=reader.notes(_names(HeatmapChoice)))


def ladder_choice(parameters: QueryDict, known: ExploreOptions) -> LadderChoice:
    """Read the address."""
    reader = AddressReader(parameters)
    ranked = [name for name in known.measures if name not in NEVER_RANKED]
    name = reader.choice("field", ranked, _("field"), LADDER_FIELD)
    chosen = {
        **_filters(reader, known),
        "announced": reader.choice("announced", ("1",), _("value")),
        "field": name,
        "condition": reader.choice("condition", known.measures.get(name, ()), _("condition")),
        "scale": reader.choice("scale", SCALES, _("scale")),
        "format": reader.text("format"),
    }
    return LadderChoice(**chosen, notes=reader.notes(_names(LadderChoice)))


def scatter_choice(parameters: QueryDict, known: ExploreOptions) -> ScatterChoice:
    """Read the address."""
    reader = AddressReader(parameters)
    x, y, size = SCATTER_FIELDS
    chosen = {
        **_filters(reader, known),
        "x": reader.choice("x", known.measures, _("field"), x),
        "y": reader.choice("y", known.measures, _("field"), y),
        "size": reader.choice("size", (*known.measures, NO_SIZE), _("field"), size),
        "xscale": reader.choice("xscale", SCALES, _("scale")),
        "yscale": reader.choice("yscale", SCALES, _("scale")),
        "draw": reader.choice("draw", (EVERY_POINT,), _("number of points")),
        "format": reader.text("format"),
    }
    return ScatterChoice(**chosen, notes=reader.notes(_names(ScatterChoice)))


def _filters(reader: AddressReader, known: ExploreOptions) -> dict[str, str]:
    return {
        "use": reader.choice("use", Use.values, _("use")),
        "vendor": reader.choice("vendor", known.vendors, _("vendor")),
        "kind": reader.choice("kind", known.kinds, _("kind")),
        "year": reader.choice("year", {str(year) for year in known.years}, _("year")),
    }


def _names(choice: type[ExploreFilters]) -> frozenset[str]:
    return frozenset(parameter.name for parameter in fields(choice)) - {"notes"} | _BESIDE
