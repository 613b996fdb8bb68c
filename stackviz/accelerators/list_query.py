"""What an address asks of the accelerators: read in one place for the list, its files and the API. Needs no database.

What is not understood is left out and told in a note; a page shows the notes, the API refuses with the first.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz.catalog.fields import FIELDS
from stackviz.catalog.models import Accelerator
from stackviz.catalog.queries import NOT_COMPARED
from stackviz.web.asked import LONGEST_TEXT, clean_text

COLUMNS = (
    "architecture",
    "memory_gb",
    "memory_bandwidth_gb_s",
    "fp32_tflops",
    "bf16_tensor_tflops",
    "tdp_w",
    "release_date",
)
MOST_COLUMNS = 24  # beyond, a page of the list is heavier than its readers' patience
MOST_NOTES = 3
MOST_CHOICES = 30  # of one filter
YEARS = range(1990, 2101)
MOST_MEMORY_GB = 100_000.0
MOST_POWER_W = 1_000_000.0

# Format -> the field of its rate; what counts as support: `listed_found.supporting`.
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
# Makers write form factors in many words; these are the kinds people ask for.
FORMS: dict[str, str | Promise] = {
    "pcie": gettext_lazy("PCIe card"),
    "sxm": gettext_lazy("SXM module"),
    "oam": gettext_lazy("OAM module"),
    "other": gettext_lazy("another form"),
}
COLUMN_NAMES = tuple(name for name in FIELDS if name not in NOT_COMPARED)
_USUAL_TICKED = tuple(name for name in COLUMN_NAMES if name in COLUMNS)  # as a form sends them
SORTS = frozenset({"name", "vendor", "kind", *COLUMN_NAMES})

_LEFT_OUT = gettext_lazy("it was left out")
_SEVERAL = ("vendor", "architecture", "kind", "form", "supports")
FILTERS = ("q", *_SEVERAL, "year_from", "year_to", "memory_min", "power_max")
_READ = frozenset({*FILTERS, "sort", "cols"})


@dataclass(frozen=True, slots=True)
class Known:
    """What the filters may name: slug or name -> how it is called. Only what some public accelerator has."""

    vendors: Mapping[str, str]
    architectures: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Note:
    """What of the address was not understood: by which parameter, what is wrong, what became of it on the page."""

    parameter: str
    problem: str
    consequence: str | Promise = _LEFT_OUT

    @property
    def text(self) -> str:
        return f"{self.problem}: {self.consequence}."


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address asks for; the empty value of each means: not asked."""

    q: str = ""
    vendor: tuple[str, ...] = ()
    architecture: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    form: tuple[str, ...] = ()
    supports: tuple[str, ...] = ()
    year_from: int | None = None
    year_to: int | None = None
    memory_min: float | None = None
    power_max: float | None = None
    sort: str = ""
    cols: tuple[str, ...] = COLUMNS
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
        """The columns shown: those chosen, the rates filtered by and what is sorted by, so that both can be seen."""
        names = dict.fromkeys((*self.cols, *(SUPPORTS[name] for name in self.supports)))
        key = self.sort_key
        return tuple(names | {key: None} if key in COLUMN_NAMES else names)

    @property
    def is_filtered(self) -> bool:
        return any(getattr(self, name) not in ("", (), None) for name in FILTERS)

    @property
    def query(self) -> QueryDict:
        """All of it as parameters, in one order, what is not asked left out: what links carry on."""
        query = QueryDict(mutable=True)
        for name in FILTERS:
            value = getattr(self, name)
            if isinstance(value, tuple):
                query.setlist(name, [*value])
            elif value not in ("", None):
                query[name] = f"{value:.12g}" if isinstance(value, float) else str(value)
        if self.sort:
            query["sort"] = self.sort
        if self.cols != COLUMNS:
            query["cols"] = ",".join(self.cols)
        return query

    @property
    def query_string(self) -> str:
        """The same as it stands in an address."""
        return self.query.urlencode(safe=",")

    def address(self, **changes: object) -> str:
        """The address of this list with something changed: `?vendor=apple`, or `?` alone for everything."""
        return "?" + replace(self, **changes).query_string  # type: ignore[arg-type]


def read_asked(parameters: QueryDict, known: Known, also: frozenset[str] = frozenset()) -> Asked:
    """Read the parameters; `also` are those the caller reads itself. Never raises: see `Asked.notes`."""
    notes: list[Note] = []

    def several(name: str) -> tuple[str, ...]:
        return _choices(parameters, name, _known(name, known), notes)

    asked = Asked(
        q=_search(parameters, notes),
        vendor=several("vendor"),
        architecture=several("architecture"),
        kind=several("kind"),
        form=several("form"),
        supports=several("supports"),
        year_from=_year(parameters, "year_from", notes),
        year_to=_year(parameters, "year_to", notes),
        memory_min=_memory(parameters, notes),
        power_max=_power(parameters, notes),
        sort=_sort(parameters, notes),
        cols=_columns(parameters, notes),
    )
    unknown = sorted(set(parameters) - _READ - also)
    notes += [Note(name[:40], _("There is no filter %(name)r here") % {"name": name[:40]}) for name in unknown]
    return replace(asked, notes=tuple(notes[:MOST_NOTES]))


def form_of(value: str) -> str:
    """Which of FORMS a maker's words for a form factor mean."""
    words = value.casefold()
    if "sxm" in words:
        return "sxm"
    if words == "oam" or words.startswith("oam "):
        return "oam"
    return "pcie" if words.startswith("pcie") else "other"


def listed(values: Sequence[str]) -> list[str]:
    """`["a,b", "c"]` -> a, b, c: a parameter may be given several times, or once with commas."""
    return [part for value in values for part in (piece.strip() for piece in value.split(",")) if part]


def _known(name: str, known: Known) -> Iterable[str]:
    if name == "vendor":
        return known.vendors
    if name == "architecture":
        return known.architectures
    return {"kind": Accelerator.Kind.values, "form": FORMS, "supports": SUPPORTS}[name]


def _choices(parameters: QueryDict, name: str, known: Iterable[str], notes: list[Note]) -> tuple[str, ...]:
    """Those of the values given that exist, each once; case does not count."""
    by_word = {value.casefold(): value for value in known}
    given = dict.fromkeys(listed(parameters.getlist(name))[:MOST_CHOICES])
    for value in given:
        if value.casefold() not in by_word:
            words = {"what": _WORDS[name], "value": value[:40]}
            notes.append(Note(name, _("There is no %(what)s %(value)r") % words))
    return tuple(dict.fromkeys(by_word[value.casefold()] for value in given if value.casefold() in by_word))


_WORDS = {
    "vendor": gettext_lazy("vendor"),
    "architecture": gettext_lazy("architecture"),
    "kind": gettext_lazy("kind"),
    "form": gettext_lazy("form factor"),
    "supports": gettext_lazy("number format"),
}


def _search(parameters: QueryDict, notes: list[Note]) -> str:
    q = parameters.get("q", "")
    if len(q.strip()) > LONGEST_TEXT:
        problem = _("The search is longer than %(n)d characters") % {"n": LONGEST_TEXT}
        notes.append(Note("q", problem, gettext_lazy("the rest was left out")))
    return clean_text(q)


def _year(parameters: QueryDict, name: str, notes: list[Note]) -> int | None:
    text = parameters.get(name, "").strip()
    if text.isascii() and text.isdecimal() and len(text) == 4 and int(text) in YEARS:
        return int(text)
    if text:
        notes.append(Note(name, _("%(value)r is not a year") % {"value": text[:40]}))
    return None


def _memory(parameters: QueryDict, notes: list[Note]) -> float | None:
    text = parameters.get("memory_min", "").strip()
    gigabytes = _quantity(text, "gb", MOST_MEMORY_GB)
    if text and gigabytes is None:
        notes.append(Note("memory_min", _("%(value)r is not a memory size in GB") % {"value": text[:40]}))
    return gigabytes


def _power(parameters: QueryDict, notes: list[Note]) -> float | None:
    text = parameters.get("power_max", "").strip()
    watts = _quantity(text, "w", MOST_POWER_W)
    if text and watts is None:
        notes.append(Note("power_max", _("%(value)r is not a power in W") % {"value": text[:40]}))
    return watts


def _quantity(text: str, unit: str, most: float) -> float | None:
    """`80`, `80 GB` -> 80.0; None for what is no number above 0, or beyond `most`."""
    try:
        number = float(text.casefold().removesuffix(unit))
    except ValueError:
        return None
    return number if 0 < number <= most else None


def _sort(parameters: QueryDict, notes: list[Note]) -> str:
    sort = parameters.get("sort", "").strip()
    if sort == "name" and not parameters.get("q", "").strip():
        return ""  # the usual order; what is searched for comes nearest first unless told otherwise
    if not sort or sort.removeprefix("-") in SORTS:
        return sort
    problem = _("Nothing here can be sorted by %(key)r") % {"key": sort[:40]}
    notes.append(Note("sort", problem, gettext_lazy("the usual order is kept")))
    return ""


def _columns(parameters: QueryDict, notes: list[Note]) -> tuple[str, ...]:
    """The columns chosen, in the order given; the usual ones where none is."""
    given = dict.fromkeys(listed(parameters.getlist("cols")))
    unknown = [name for name in given if name not in COLUMN_NAMES]
    notes += [Note("cols", _("There is no column %(name)r") % {"name": name[:40]}) for name in unknown[:MOST_NOTES]]
    chosen = tuple(name for name in given if name in COLUMN_NAMES)
    if len(chosen) > MOST_COLUMNS:
        problem = _("A page shows at most %(n)d columns") % {"n": MOST_COLUMNS}
        notes.append(Note("cols", problem, gettext_lazy("the others were left out")))
    return COLUMNS if not chosen or chosen == _USUAL_TICKED else chosen[:MOST_COLUMNS]
