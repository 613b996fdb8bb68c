"""What the addresses of the ladder and the scatter ask for, read and written. No database.

What is not understood is ignored with a note, never an error.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields

from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from stackviz.web.address import AddressReader, Note

LADDER_FIELD = "bf16_tensor_tflops"
SCATTER_FIELDS = ("memory_bandwidth_gb_s", "bf16_tensor_tflops", "tdp_w")
# Of the drawings offered by name: across, up, size. The first is the one without a choice.
SCATTER_PRESETS = (
    SCATTER_FIELDS,
    ("tdp_w", "bf16_tensor_tflops", "memory_gb"),
    ("launch_price_usd", "fp32_tflops", "memory_gb"),
    ("memory_gb", "memory_bandwidth_gb_s", "tdp_w"),
    ("transistors", "fp32_tflops", "die_area_mm2"),
)
NO_SIZE = "none"
COLOURS = ("vendor", "kind", "era")
SCALES = ("log", "linear")
FORMATS = ("csv", "json")
FIGURE = "plotly"  # the drawing as a figure for plotly.js; no file for people, so no note names it
_BESIDE = frozenset({"page"})  # read by the views, part of no link


@dataclass(frozen=True, slots=True)
class Known:
    """What may be asked for: measures with the conditions they are published under; vendors and kinds in words.

    `of_vendors`: vendor -> the measures that some product of theirs has.
    """

    measures: Mapping[str, Collection[str]]
    vendors: Mapping[str, str]
    kinds: Mapping[str, str | Promise]
    years: Collection[int]
    of_vendors: Mapping[str, Collection[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Which accelerators are shown; empty means all. `notes`: what of the address was left out."""

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
        """The choice as parameters, what goes without saying left out."""
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
class LadderChoice(Filters):
    """A ranking. `condition` empty: the measure's usual one; `scale` empty: as the figures want it."""

    field: str = LADDER_FIELD
    condition: str = ""
    scale: str = ""

    @property
    def is_plain(self) -> bool:
        """Whether many people ask for just this, so that what was rendered is worth keeping: one choice at most."""
        return len(self.query) <= 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ScatterChoice(Filters):
    """A drawing of two measures, a third as size. `xscale`, `yscale` empty: as the figures want it."""

    x: str = SCATTER_FIELDS[0]
    y: str = SCATTER_FIELDS[1]
    size: str = SCATTER_FIELDS[2]
    colour: str = COLOURS[0]
    xscale: str = ""
    yscale: str = ""

    @property
    def is_plain(self) -> bool:
        """Whether many people ask for just this: a drawing offered by name, with one more choice at most."""
        more = self.query.keys() - {"x", "y", "size"}
        return (self.x, self.y, self.size) in SCATTER_PRESETS and len(more) <= 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineChoice(Filters):
    """Which makers' lanes are shown; the other filters say nothing here."""


def timeline_choice(parameters: QueryDict, vendors: Collection[str]) -> TimelineChoice:
    """Read the address."""
    reader = AddressReader(parameters)
    vendor = reader.choice("vendor", vendors, _("vendor"))
    return TimelineChoice(vendor=vendor, notes=reader.notes({"vendor"}))


def ladder_choice(parameters: QueryDict, known: Known) -> LadderChoice:
    """Read the address."""
    reader = AddressReader(parameters)
    name = reader.choice("field", known.measures, _("field"), LADDER_FIELD)
    chosen = {
        **_filters(reader, known),
        "field": name,
        "condition": reader.choice("condition", known.measures.get(name, ()), _("condition")),
        "scale": reader.choice("scale", SCALES, _("scale")),
        "format": reader.file_format(FORMATS),
    }
    return LadderChoice(**chosen, notes=reader.notes(_names(LadderChoice)))


def scatter_choice(parameters: QueryDict, known: Known) -> ScatterChoice:
    """Read the address."""
    reader = AddressReader(parameters)
    x, y, size = SCATTER_FIELDS
    chosen = {
        **_filters(reader, known),
        "x": reader.choice("x", known.measures, _("field"), x),
        "y": reader.choice("y", known.measures, _("field"), y),
        "size": reader.choice("size", (*known.measures, NO_SIZE), _("field"), size),
        "colour": reader.choice("colour", COLOURS, _("colouring"), COLOURS[0]),
        "xscale": reader.choice("xscale", SCALES, _("scale")),
        "yscale": reader.choice("yscale", SCALES, _("scale")),
        "format": reader.file_format(FORMATS, FIGURE),
    }
    return ScatterChoice(**chosen, notes=reader.notes(_names(ScatterChoice)))


def _filters(reader: AddressReader, known: Known) -> dict[str, str]:
    return {
        "vendor": reader.choice("vendor", known.vendors, _("vendor")),
        "kind": reader.choice("kind", known.kinds, _("kind")),
        "year": reader.choice("year", {str(year) for year in known.years}, _("year")),
    }


def _names(choice: type[Filters]) -> frozenset[str]:
    return frozenset(parameter.name for parameter in fields(choice)) - {"notes"} | _BESIDE
