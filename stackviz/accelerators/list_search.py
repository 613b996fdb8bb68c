"""The accelerators that answer what is query: filtered, searched and sorted by the database, one query set.

A figure is filtered and sorted by as `queries.headline` shows it: under the first of its field's usual conditions that
is published, the plain figure before those of variants, of variants the largest.
"""

import re
from dataclasses import dataclass

from django.db.models import Case, Count, F, Func, IntegerField, OuterRef, Q, QuerySet, Subquery, Value, When
from django.db.models.expressions import OrderBy
from django.db.models.functions import Length, Lower, Replace
from django.db.models.lookups import GreaterThanOrEqual, LessThan, LessThanOrEqual

from stackviz.accelerators.list_query import SUPPORTS, ListQuery
from stackviz.catalog.capabilities import MIXED, architectures_with, capabilities_with, is_mixed
from stackviz.catalog.conditions import KEYS
from stackviz.catalog.fields import FIELDS, Field
from stackviz.catalog.models import Accelerator, Alias, SpecValue
from stackviz.catalog.names import normalized
from stackviz.catalog.queries import public_accelerators

VARYING = tuple(key.name for key in KEYS if key.varies)
# Texts that are numbers in truth: 9.0 comes before 12.0.
_NUMBERED = frozenset({"compute_capability", "metal_gpu_family"})
_GIGABYTES = re.compile(r"(\d{1,5}) ?gb\b")
# A card of "80 GB" is published as 80 GB by one source and as 80 GiB by the next.
_NEAR = (0.99, 1.08)
_BY_NAME = (Lower("name"), "pk")  # AMD, Apple, AWS


@dataclass(frozen=True, slots=True)
class Counted:
    """How many were found; `known`: how many of them publish what they are sorted by."""

    found: int
    known: int

    @property
    def unknown(self) -> int:
        return self.found - self.known


def found_accelerators(query: ListQuery) -> QuerySet[Accelerator]:
    """The public accelerators asked for, in the order asked for, with their vendors."""
    return _ordered(filtered(query), query)


def filtered(query: ListQuery, without: str = "") -> QuerySet[Accelerator]:
    """The same without an order; `without` one of the filters, to count what each of its choices would find."""
    found = public_accelerators()
    for name, condition in _conditions(query).items():
        if name != without:
            found = found.filter(condition)
    return found


def counted(query: ListQuery) -> Counted:
    """How many answer, and how many of them have what they are sorted by. One query."""
    found = filtered(query)
    if query.sort_key not in FIELDS or query.sort_key == "vendor":
        count = found.count()
        return Counted(count, count)
    sorted_by = shown(FIELDS[query.sort_key])
    counts = found.annotate(sorted_by=sorted_by).aggregate(found=Count("pk"), known=Count("sorted_by"))
    return Counted(counts["found"], counts["known"])


def public_values(**given: object) -> QuerySet[SpecValue]:
    """Preferred public values, of accelerators that need not be public themselves."""
    return SpecValue.objects.filter(is_preferred=True, status=SpecValue.Status.PUBLIC, **given)


def shown(field: Field) -> Subquery:
    """The figure the list shows of a field: its amount, or its text; null where nothing is published."""
    ranks = [
        When(condition, then=Value(rank))
        for rank, condition in enumerate(both for usual in field.usual for both in _plain_and_variants(usual))
    ]
    values = public_values(accelerator=OuterRef("pk"), field=field.name)
    values = values.alias(rank=Case(*ranks, default=None, output_field=IntegerField())).filter(rank__isnull=False)
    values = values.order_by("rank", F("amount").desc(nulls_last=True), "value")
    return Subquery(values.values("value" if field.is_text else "amount")[:1])


def _plain_and_variants(usual: str) -> tuple[Q, Q]:
    """The condition itself, and itself with variants: the keys that vary stand last in a canonical text."""
    start = f"{usual}; " if usual else ""
    variants = Q()
    for key in VARYING:
        variants |= Q(condition__startswith=f"{start}{key}=")
    return Q(condition=usual), variants


def _conditions(query: ListQuery) -> dict[str, Q]:
    """By filter: what an accelerator must be."""
    found: dict[str, Q] = {}
    if query.q:
        found["q"] = named(query.q)
    if query.vendor:
        found["vendor"] = Q(vendor__slug__in=query.vendor)
    if query.kind:
        found["kind"] = Q(kind__in=query.kind)
    if query.architecture:
        found["architecture"] = _having(field="architecture", value__in=query.architecture)
    if query.form:
        found["form"] = _of_form(query.form)
    for name in query.supports:
        found[f"supports {name}"] = supporting(SUPPORTS[name])
    return found | _bounds(query)


def _bounds(query: ListQuery) -> dict[str, Q]:
    found: dict[str, Q] = {}
    released = shown(FIELDS["release_date"])  # dates are ISO text, as precise as the source: they sort as text
    if query.year_from is not None:
        found["year_from"] = Q(GreaterThanOrEqual(released, Value(str(query.year_from))))
    if query.year_to is not None:
        found["year_to"] = Q(LessThan(released, Value(str(query.year_to + 1))))
    if query.memory_min is not None:
        found["memory_min"] = Q(GreaterThanOrEqual(shown(FIELDS["memory_gb"]), Value(query.memory_min * 1e9)))
    if query.power_max is not None:
        found["power_max"] = Q(LessThanOrEqual(shown(FIELDS["tdp_w"]), Value(query.power_max)))
    return found


def _having(condition: Q | None = None, **given: object) -> Q:
    values = public_values(**given)
    return Q(pk__in=(values.filter(condition) if condition else values).values("accelerator"))


def supporting(rate: str) -> Q:
    """Whether it does this rate: one that is not zero is published, or its published design says so."""
    found = _having(field=rate, amount__gt=0)
    found |= _having(field="compute_capability", value__in=capabilities_with(rate))
    found |= _having(field="architecture", value__in=architectures_with(rate))
    if is_mixed(rate):
        found |= _having(field="compute_capability", value=MIXED) & _having(field="tensor_cores", amount__gt=0)
    return found


def _of_form(forms: tuple[str, ...]) -> Q:
    """As `listed_asked.form_of` tells them apart."""
    sxm = Q(value__icontains="sxm")
    oam = Q(value__iexact="oam") | Q(value__istartswith="oam ")
    pcie = Q(value__istartswith="pcie")
    each = {"sxm": sxm, "oam": oam & ~sxm, "pcie": pcie & ~sxm, "other": ~(sxm | oam | pcie)}
    wanted = Q()
    for form in forms:
        wanted |= each[form]
    return _having(wanted, field="form_factor")


def named(q: str) -> Q:
    """Accelerators by words of the name, by a name that a card, a Mac or a tool reports, or by chip and architecture.

    `rtx4090` and `m3max40` are names without their spaces; `4090 24gb` says a memory size too.
    """
    words = _GIGABYTES.sub(r"\1gb", normalized(q))
    if not words:
        return Q(pk__in=[])
    in_name = Q()
    for word in words.split():
        in_name &= Q(name__icontains=word) | _of_size(word)
    reported = Alias.objects.filter(normalized__contains=words).values("accelerator")
    of_design = _having(field__in=("chip", "architecture"), value__iexact=q.strip())
    return in_name | Q(pk__in=_run_together(words)) | Q(pk__in=reported) | of_design


def _run_together(words: str) -> QuerySet[Accelerator]:
    squeezed = words.replace(" ", "")
    return Accelerator.objects.alias(letters=_letters()).filter(letters__contains=squeezed).values("pk")  # type: ignore[return-value]


def _letters() -> Func:
    return Replace("slug", Value("-"), Value(""))


def _of_size(word: str) -> Q:
    size = _GIGABYTES.fullmatch(word)
    if size is None:
        return Q()
    least, most = (float(size[1]) * 1e9 * factor for factor in _NEAR)
    return _having(field="memory_gb", amount__gte=least, amount__lte=most)


def _ordered(found: QuerySet[Accelerator], query: ListQuery) -> QuerySet[Accelerator]:
    key = query.sort_key
    if key in FIELDS and key != "vendor":
        return _by_field(found, FIELDS[key], is_descending=query.is_descending)
    if not key and query.q:
        return found.alias(nearness=_nearness(query.q)).order_by("nearness", *_BY_NAME)
    column = Lower({"vendor": "vendor__name", "kind": "kind"}.get(key, "name"))
    return found.order_by(column.desc() if query.is_descending else column.asc(), *_BY_NAME)


def _by_field(found: QuerySet[Accelerator], field: Field, *, is_descending: bool) -> QuerySet[Accelerator]:
    """By the figure shown; where nothing is published last, whichever way."""

    def way(expression: Func | F) -> OrderBy:
        return expression.desc(nulls_last=True) if is_descending else expression.asc(nulls_last=True)

    found = found.alias(sorted_by=shown(field))
    by = [way(Length("sorted_by"))] if field.name in _NUMBERED else []
    by.append(way(Lower("sorted_by") if field.is_text else F("sorted_by")))
    return found.order_by(*by, *_BY_NAME)


def _nearness(q: str) -> Case:
    """0: a name it reports is exactly this; 1: its name has this in one piece; 2: its words are there."""
    words = normalized(q)
    exactly = Alias.objects.filter(normalized=words).exclude(kind=Alias.Kind.UNDECIDED).values("accelerator")
    return Case(
        When(pk__in=exactly, then=Value(0)),
        When(pk__in=_run_together(words), then=Value(1)),
        default=Value(2),
    )
