"""The list of accelerators: what was asked for, and the rows that answer it. Three queries for a page of any length."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Count, Q
from django.http import QueryDict
from django.utils.translation import gettext as _

from stackviz.catalog.fields import FIELDS
from stackviz.catalog.figures import printed_unit
from stackviz.catalog.models import Accelerator, SpecValue, Vendor
from stackviz.catalog.queries import Headline, headline, preferred_values
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
MOST_NOTES = 3
_KNOWN = ("q", "vendor", "kind", "page")


@dataclass(frozen=True, slots=True)
class Choice:
    """One option of a filter, with how many accelerators it finds."""

    value: str
    label: str
    count: int


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address asks for. `notes`: what of it was not understood and so left out."""

    q: str = ""
    vendor: str = ""
    kind: str = ""
    notes: tuple[str, ...] = ()

    @property
    def query_string(self) -> str:
        """The filters as they stand in an address, empty ones left out."""
        return self.query.urlencode()

    @property
    def query(self) -> QueryDict:
        """The filters as parameters, empty ones left out: what links to other pages carry on."""
        query = QueryDict(mutable=True)
        query.update({name: value for name in ("q", "vendor", "kind") if (value := getattr(self, name))})
        return query


@dataclass(frozen=True, slots=True)
class Column:
    field: str
    title: str
    unit: str
    condition: str
    is_number: bool


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure in a row; `remark` is said where it holds under another condition than the column's head says."""

    text: str
    exact: str
    remark: str
    is_number: bool


@dataclass(frozen=True, slots=True)
class ListRow:
    accelerator: Accelerator
    kind: str
    cells: tuple[Cell, ...]


def asked(parameters: QueryDict, vendors: Sequence[Choice]) -> Asked:
    """Read the address. Filters and values we do not know are left out with a note, never an error."""
    notes: list[str] = []
    vendor = _one_of(parameters.get("vendor", ""), {choice.value for choice in vendors}, _("vendor"), notes)
    kind = _one_of(parameters.get("kind", ""), set(Accelerator.Kind.values), _("kind"), notes)
    q = parameters.get("q", "")
    if len(q.strip()) > LONGEST_TEXT:
        notes.append(_("The search was cut to its first %(n)d characters.") % {"n": LONGEST_TEXT})
    unknown = sorted(name for name in parameters if name not in _KNOWN)
    notes += [_("There is no filter %(name)r here: it was left out.") % {"name": name[:40]} for name in unknown]
    return Asked(clean_text(q), vendor, kind, tuple(notes[:MOST_NOTES]))


def _one_of(value: str, known: set[str], what: str, notes: list[str]) -> str:
    if value in known or not value:
        return value
    notes.append(_("There is no %(what)s %(value)r: all are shown.") % {"what": what, "value": value[:40]})
    return ""


def vendor_choices() -> list[Choice]:
    """Vendors that have a public accelerator, by name. One query."""
    public = Count("accelerators", filter=Q(accelerators__is_public=True))
    return [
        Choice(vendor.slug, vendor.name, vendor.public_count)
        for vendor in Vendor.objects.annotate(public_count=public).filter(public_count__gt=0).order_by("name")
    ]


def kind_choices() -> list[tuple[str, str]]:
    return [(value, str(label)) for value, label in Accelerator.Kind.choices]


def columns() -> tuple[Column, ...]:
    """The heads of the list, with the condition all figures of a column hold under unless they say otherwise."""
    found = []
    for name in COLUMNS:
        field = FIELDS[name]
        condition = _("dense") if field.group == "rates" else ""
        found.append(Column(name, field.words[0], printed_unit(field.unit), condition, not field.is_text))
    return tuple(found)


def list_rows(accelerators: Sequence[Accelerator]) -> list[ListRow]:
    """The rows for these accelerators. One query."""
    values: dict[tuple[int, str], list[SpecValue]] = defaultdict(list)
    for value in preferred_values(item.pk for item in accelerators).filter(field__in=COLUMNS).select_related(None):
        values[value.accelerator_id, value.field].append(value)
    kinds = dict(kind_choices())
    return [
        ListRow(
            item,
            kinds[item.kind],
            tuple(_cell(name, headline(FIELDS[name], values[item.pk, name])) for name in COLUMNS),
        )
        for item in accelerators
    ]


def _cell(name: str, found: Headline) -> Cell:
    field = FIELDS[name]
    exact = found.exact if found.exact != found.number else ""
    if found.basis not in ("", "published", "probed"):
        exact = f"{exact} · {SpecValue.Basis(found.basis).label}"
    return Cell(found.number, exact, _remark(name, found), not field.is_text)


def _remark(name: str, found: Headline) -> str:
    """The condition, unless it goes without saying: every rate in the list is a dense one."""
    if not found.condition or name == "release_date" or found.condition == _("dense"):
        return ""
    return found.condition


def found_text(count: int, choices: Iterable[Choice], what: Asked) -> str:
    """How many were found and how many there are, for people and screen readers."""
    everything = sum(choice.count for choice in choices)
    if not what.query_string:
        return _("%(n)d accelerators") % {"n": count}
    return _("%(n)d of %(all)d accelerators") % {"n": count, "all": everything}
