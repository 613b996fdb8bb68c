"""The query of the list of accelerators, read in one place for the page, its files and the API. Needs no database."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from stackviz.records.catalog.fields import FIELDS, Field
from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.spec_table import NOT_COMPARED
from stackviz.web.http.address import MOST_NOTES, AddressReader, Note

COLUMNS = (
    "memory_gb",
    "memory_bandwidth_gb_s",
    "fp32_tflops",
    "bf16_tensor_tflops",
    "tdp_w",
    "price",
    "release_date",
)
MOST_COLUMNS = 24  # more columns make the page too heavy
FORMATS = ("csv", "json")  # of the list as a file
MOST_MEMORY_GB = 100_000.0
MOST_POWER_W = 1_000_000.0
MOST_PRICE_USD = 10_000_000.0

# A column that is no field: its figures are `costs.leading_cost`.
PRICE_COLUMN = Field(
    name="price",
    group="product",
    title=gettext_lazy("Price"),
    meaning=gettext_lazy(
        "What one costs: a dated street price, else the launch price, else an undated street price or a rent; kind "
        "and day are in the cell. Nothing is converted."
    ),
    unit="USD",
    higher_is_better=False,
)

# Format -> the field of its rate; what counts as support: `list_search.supporting`.
SUPPORTS: dict[str, str] = {
    "fp64": "fp64_tensor_tflops",
    "tf32": "tf32_tensor_tflops",
    "fp16": "fp16_tensor_tflops",
    "bf16": "bf16_tensor_tflops",
    "fp8": "fp8_tensor_tflops",
    "fp4": "fp4_tensor_tflops",
    "int8": "int8_tensor_tops",
    "int4": "int4_tensor_tops",
}
# Vendors write form factors in many words; these are the kinds people ask for.
FORMS: dict[str, str | Promise] = {
    "pcie": gettext_lazy("PCIe card"),
    "sxm": gettext_lazy("SXM module"),
    "oam": gettext_lazy("OAM module"),
    "other": gettext_lazy("other form factor"),
}
AVAILABILITY: dict[str, str | Promise] = {
    "released": pgettext_lazy("availability", "released"),
    "announced": pgettext_lazy("availability", "announced"),
}
_FIELD_NAMES = [name for name in FIELDS if name not in NOT_COMPARED]
_LAUNCH = _FIELD_NAMES.index("launch_price_usd")
COLUMN_NAMES = (*_FIELD_NAMES[:_LAUNCH], PRICE_COLUMN.name, *_FIELD_NAMES[_LAUNCH:])
_USUAL_TICKED = tuple(name for name in COLUMN_NAMES if name in COLUMNS)  # as a form sends them
SORTS = frozenset({"name", "vendor", "kind", *COLUMN_NAMES})

_SEVERAL = ("vendor", "architecture", "kind", "form", "availability", "supports")
FILTERS = ("q", *_SEVERAL, "year_from", "year_to", "memory_min", "power_max", "price_max")
_READ = frozenset({*FILTERS, "unknown", "unfolded", "sort", "cols"})
BOUNDS = ("year_from", "year_to", "memory_min", "power_max", "price_max")
OBSERVED_POWER = "power_w"  # what the filter by power reads where no board power is published


@dataclass(frozen=True, slots=True)
class FilterChoices:
    """What the filters may name: slug or name -> how it is called. Only what some public accelerator has."""

    vendors: Mapping[str, str]
    architectures: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListQuery:
    """Filters, order and columns of the list; an empty value means that it is not set.

    `unknown`: whether accelerators without the figure of a bound match it too. `unfolded`: whether each variant of a
    product has a row of its own, as all have where names are searched.
    """

    q: str = ""
    vendor: tuple[str, ...] = ()
    architecture: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    form: tuple[str, ...] = ()
    availability: tuple[str, ...] = ()
    supports: tuple[str, ...] = ()
    year_from: int | None = None
    year_to: int | None = None
    memory_min: float | None = None
    power_max: float | None = None
    price_max: float | None = None
    unknown: bool = False
    unfolded: bool = False
    sort: str = ""
    cols: tuple[str, ...] = COLUMNS
    format: str = ""
    notes: tuple[Note, ...] = ()

    @property
    def sort_key(self) -> str:
        """What it is sorted by, "" for the usual order."""
        return self.sort.removeprefix("-")

    @property
    def is_descending(self) -> bool:
        return self.sort.startswith("-")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns shown: those chosen, the figures filtered by and what is sorted by, so that all can be seen."""
        names = dict.fromkeys((*self.cols, *(SUPPORTS[name] for name in self.supports)))
        if self.power_max is not None:
            names = _with_observed_power(names)
        if self.price_max is not None:
            names |= {PRICE_COLUMN.name: None}
        key = self.sort_key
        return tuple(names | {key: None} if key in COLUMN_NAMES else names)

    @property
    def is_folded(self) -> bool:
        """Whether the variants of a product share a row."""
        return not self.unfolded and not self.q

    @property
    def is_filtered(self) -> bool:
        return any(getattr(self, name) not in ("", (), None) for name in FILTERS)

    @property
    def query(self) -> QueryDict:
        """All of it as parameters, in one order, what is not query left out: what links carry on."""
        query = QueryDict(mutable=True)
        for name in FILTERS:
            value = getattr(self, name)
            if isinstance(value, tuple):
                query.setlist(name, [*value])
            elif value not in ("", None):
                query[name] = f"{value:.12g}" if isinstance(value, float) else str(value)
        if self.unknown:
            query["unknown"] = "1"
        if self.unfolded:
            query["unfolded"] = "1"
        if self.sort:
            query["sort"] = self.sort
        if self.cols != COLUMNS:
            query["cols"] = ",".join(self.cols)
        return query

    @property
    def query_string(self) -> str:
        """The same as a query string."""
        return self.query.urlencode(safe=",")

    def address(self, **changes: object) -> str:
        """The address of this list with something changed: `?vendor=apple`, or `?` alone for everything."""
        return "?" + replace(self, **changes).query_string  # type: ignore[arg-type]


def _with_observed_power(names: dict[str, None]) -> dict[str, None]:
    """The columns with what was observed beside the board power."""
    before = [name for name in names if name != OBSERVED_POWER]
    at = before.index("tdp_w") + 1 if "tdp_w" in before else len(before)
    return dict.fromkeys([*before[:at], OBSERVED_POWER, *before[at:]])


def read_list_query(parameters: QueryDict, choices: FilterChoices, also: frozenset[str] = frozenset()) -> ListQuery:
    """Read the parameters; `also` are those the caller reads itself. Never raises: see `ListQuery.notes`."""
    reader = AddressReader(parameters)
    query = ListQuery(
        q=reader.text("q"),
        vendor=reader.choices("vendor", choices.vendors, _("vendor")),
        architecture=reader.choices("architecture", choices.architectures, _("architecture")),
        kind=reader.choices("kind", Accelerator.Kind.values, _("kind")),
        form=reader.choices("form", FORMS, _("form factor")),
        availability=reader.choices("availability", AVAILABILITY, _("availability")),
        supports=reader.choices("supports", SUPPORTS, _("number format")),
        year_from=reader.year("year_from"),
        year_to=reader.year("year_to"),
        memory_min=reader.quantity("memory_min", "GB", MOST_MEMORY_GB, _("“%(value)s” is not a memory size in GB")),
        power_max=reader.quantity("power_max", "W", MOST_POWER_W, _("“%(value)s” is not a power in W")),
        price_max=reader.quantity("price_max", "USD", MOST_PRICE_USD, _("“%(value)s” is not a price in USD")),
        unknown=reader.choice("unknown", ("1",), _("value")) == "1",
        unfolded=reader.choice("unfolded", ("1",), _("value")) == "1",
        sort=_sort(reader),
        cols=_columns(reader),
        format=reader.text("format") if "format" in also else "",
    )
    return replace(query, notes=reader.notes(_READ | also))


def column_field(name: str) -> Field:
    """The field of a column's name, that of the price included."""
    return PRICE_COLUMN if name == PRICE_COLUMN.name else FIELDS[name]


def form_of(value: str) -> str:
    """Which of FORMS a vendor's words for a form factor mean."""
    words = value.casefold()
    if "sxm" in words:
        return "sxm"
    if words == "oam" or words.startswith("oam "):
        return "oam"
    return "pcie" if words.startswith("pcie") else "other"


def _sort(reader: AddressReader) -> str:
    sort = reader.parameters.get("sort", "").strip()
    if not sort or sort.removeprefix("-") in SORTS:
        return sort
    reader.unknown_value("sort", _("sort key"), sort, gettext_lazy("the default order is used"))
    return ""


def _columns(reader: AddressReader) -> tuple[str, ...]:
    """The columns chosen, in the order given; the usual ones where none is."""
    given = dict.fromkeys(reader.values("cols"))
    for name in [name for name in given if name not in COLUMN_NAMES][:MOST_NOTES]:
        reader.unknown_value("cols", _("column"), name)
    chosen = tuple(name for name in given if name in COLUMN_NAMES)
    if len(chosen) > MOST_COLUMNS:
        problem = _("A page shows at most %(n)d columns") % {"n": MOST_COLUMNS}
        reader.note("cols", problem, gettext_lazy("the others were ignored"))
    return COLUMNS if not chosen or chosen == _USUAL_TICKED else chosen[:MOST_COLUMNS]
