"""Response schemas of the catalogue's API, and how rows are converted to them."""

from collections.abc import Iterable
from datetime import date, datetime
from typing import Annotated, Literal

from django.contrib.auth import get_user_model
from django.http import HttpRequest
from ninja import Field as Described
from ninja import Schema
from pydantic import WithJsonSchema

from stackviz.base.units import UNITS
from stackviz.records.catalog.costs import Cost, CostKind
from stackviz.records.catalog.fields import FIELDS, Field
from stackviz.records.catalog.models import Accelerator, Source, SpecValue
from stackviz.records.catalog.people import public_name
from stackviz.records.stacks.driver_words import SheetDrivers
from stackviz.web.http.openapi import none_or_one_of, one_of

AcceleratorKind = Annotated[str, WithJsonSchema(one_of(Accelerator.Kind.values))]
Basis = Annotated[str, WithJsonSchema(one_of(SpecValue.Basis.values))]
FieldName = Annotated[str, WithJsonSchema(one_of(FIELDS))]
Reading = Annotated[str, WithJsonSchema(none_or_one_of(Source.Reading.values))]
SourceKind = Annotated[str, WithJsonSchema(one_of(Source.Kind.values))]


class AcceleratorBrief(Schema):
    slug: str
    name: str
    vendor: str
    kind: AcceleratorKind


class SourceBrief(Schema):
    """`read_as`: first-hand, copy, quote, excerpt, or empty where nobody recorded it; `read_on`: the day of it."""

    title: str
    url: str
    read_as: Reading
    read_on: date | None


class SpecOut(Schema):
    """One value: a number in `unit`, or text without a unit; `amount` is the same in `si_unit`, null for text.

    `condition` is canonical text, or empty. Exactly one value of each field and condition `is_preferred`. `corrected`:
    somebody changed it here after it was loaded; `checked_by`, `checked_at`: who approved it and when.
    """

    field: FieldName
    value: float | int | str
    unit: str
    amount: float | None
    si_unit: str
    condition: str
    basis: Basis
    source: SourceBrief
    note: str
    is_preferred: bool
    corrected: bool
    checked_by: str | None
    checked_at: datetime | None


class CostOut(Schema):
    """What one costs: `amount` of one card in `currency`, for rents an hour of it; nothing is converted.

    `kind`: the launch price, that of a whole `machine`, the newest street price or rent. `day`: of the offer, its
    month, or `undated`. `condition`: of a launch price. `seller`: empty for launch prices.
    """

    kind: str = Described(json_schema_extra=one_of(CostKind.values))
    amount: float
    currency: str
    day: str
    seller: str
    condition: str
    source: SourceBrief | None


class AcceleratorItem(AcceleratorBrief):
    """`address` is that of its sheet. `specs` has the preferred values of the fields selected with `fields`."""

    address: str
    costs: list[CostOut]
    specs: list[SpecOut]


class DriversOut(Schema):
    """The branches of the NVIDIA driver that serve it. `linux`, `windows`: the first; `last`: null where none ends yet.

    Null each where it is not on record, or where the product does not run that system.
    """

    linux: str | None
    windows: str | None
    last: str | None
    sources: list[str]


class AcceleratorOut(AcceleratorBrief):
    """`aliases` are names that cards, Macs and tools report. `at`: the requested moment, null for now.

    `drivers`: null for a moment of the past, and where no branch of the NVIDIA driver is on record.
    """

    address: str
    family: str
    aliases: list[str]
    at: datetime | None
    costs: list[CostOut]
    drivers: DriversOut | None
    specs: list[SpecOut]


class Paged(Schema):
    """`count` is of all that match, whatever `limit` and `offset` cut out; `next` and `previous` are addresses."""

    count: int
    next: str | None
    previous: str | None


class AcceleratorPage(Paged):
    """`without_figure`: how many matches have no value of the sort field; they come last."""

    without_figure: int
    items: list[AcceleratorItem]


class ValueOut(SpecOut):
    accelerator: AcceleratorBrief


class ValuePage(Paged):
    items: list[ValueOut]


class SourceOut(SourceBrief):
    """`values`: how many public values it is the source of."""

    key: str
    kind: SourceKind
    values: int


class SourcePage(Paged):
    items: list[SourceOut]


class FieldOut(Schema):
    """One field of the registry. `unit` is empty for text; `better` is "higher", "lower", or null where neither is.

    `usual`: conditions of its headline figure, in order; the first published one wins. `plausible`: least and most, in
    `unit`. `formula`: the name of the formula that checks it, or empty.
    """

    name: FieldName
    title: str
    unit: str
    si_unit: str
    group: str
    meaning: str
    better: Literal["higher", "lower"] | None
    usual: list[str]
    plausible: tuple[float, float] | None
    formula: str
    glossary: str


class ConditionKeyOut(Schema):
    """One key of a condition. Without `values` any text is allowed; `varies`: it names variants of one product."""

    key: str
    meaning: str
    values: list[str]
    varies: bool


class RegistryOut(Schema):
    fields_: list[FieldOut] = Described(alias="fields", serialization_alias="fields")
    conditions: list[ConditionKeyOut]


def brief(item: Accelerator) -> AcceleratorBrief:
    return AcceleratorBrief(slug=item.slug, name=item.name, vendor=item.vendor.slug, kind=item.kind)


def address_of(request: HttpRequest, item: Accelerator) -> str:
    return request.build_absolute_uri(item.get_absolute_url())


def checkers(values: Iterable[SpecValue]) -> dict[int, str]:
    """User id -> name, for everybody who approved one of these values. One query; none if no value was approved."""
    ids = {value.checked_by_id for value in values if value.checked_by_id}
    if not ids:
        return {}
    return {pk: public_name(user) for pk, user in get_user_model().objects.in_bulk(ids).items()}


def source_brief(source: Source) -> SourceBrief:
    return SourceBrief(title=source.title, url=source.url, read_as=source.read_as, read_on=source.read_on)


def spec_out(value: SpecValue, names: dict[int, str]) -> SpecOut:
    """A public value as the API returns it. A database constraint gives it a source. `names`: of the checkers."""
    assert value.source is not None, "a public value has a source"  # noqa: S101 - for types
    return SpecOut(
        field=value.field,
        value=number_or_text(value),
        unit=value.unit,
        amount=value.amount,
        si_unit=UNITS[value.unit].si if value.unit else "",
        condition=value.condition,
        basis=value.basis,
        source=source_brief(value.source),
        note=value.note,
        is_preferred=value.is_preferred,
        corrected=value.is_corrected_here,
        checked_by=names.get(value.checked_by_id or 0),
        checked_at=value.checked_at,
    )


def drivers_out(drivers: SheetDrivers | None) -> DriversOut | None:
    if drivers is None:
        return None
    return DriversOut(
        linux=drivers.first.get("linux"),
        windows=drivers.first.get("windows"),
        last=drivers.last or None,
        sources=[source.url for source in drivers.sources],
    )


def costs_out(costs: Iterable[Cost]) -> list[CostOut]:
    return [CostOut(**cost.as_data) for cost in costs]


def number_or_text(value: SpecValue) -> float | int | str:
    """`3350` and `989.4` as numbers in the unit named, whole ones as integers; text as it is."""
    if value.amount is None:
        return value.value
    number = float(value.value)
    return int(number) if number.is_integer() else number


def field_out(field: Field) -> FieldOut:
    title, meaning = field.words
    return FieldOut(
        name=field.name,
        title=title,
        unit=field.unit,
        si_unit=UNITS[field.unit].si if field.unit else "",
        group=field.group,
        meaning=meaning,
        better={True: "higher", False: "lower", None: None}[field.higher_is_better],
        usual=list(field.usual),
        plausible=field.plausible,
        formula=field.formula_name,
        glossary=field.glossary,
    )
