"""A sheet as a file: every public value with unit, condition and source, in JSON what follows; how to cite it."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext as _

from stackviz.base.units import UNITS
from stackviz.pages.accelerators.sheet import column_of_sheet, sheet_values
from stackviz.pages.accelerators.sheet_sources import SourceChoice
from stackviz.records.catalog.derived import Derived
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.catalog.models import Accelerator, SpecValue
from stackviz.web.escaping import bibtex_text
from stackviz.web.http.address import write_moment
from stackviz.web.http.download import Columns, table_file

FORMATS = ("csv", "json")
_COLUMNS: Columns[SpecValue] = {
    "field": lambda value: value.field,
    "title": lambda value: FIELDS[value.field].words[0],
    "value": lambda value: value.value,  # as printed
    "unit": lambda value: value.unit,
    "amount": lambda value: value.amount,  # in the SI base unit, empty for text
    "amount_unit": lambda value: UNITS[value.unit].si if value.unit else "",
    "condition": lambda value: value.condition,
    "basis": lambda value: str(value.basis),
    "is_preferred": lambda value: value.is_preferred,
    "source_title": lambda value: value.source.title if value.source else "",
    "source_url": lambda value: value.source.url if value.source else "",
    "source_read_as": lambda value: value.source.read_as if value.source else "",
    "source_read_on": lambda value: f"{value.source.read_on:%Y-%m-%d}" if value.source and value.source.read_on else "",
    "note": lambda value: value.note,
    "checked_at": lambda value: write_moment(value.checked_at) if value.checked_at else None,
}


def sheet_file(
    accelerator: Accelerator, at: datetime | None, ending: str, address: str, choice: SourceChoice
) -> HttpResponse:
    """Return the present or a past sheet as a file in this format; `address` is its permanent one. Three queries.

    `choice`: of which sources its values are; derived figures stand in the file of all sources only.
    """
    values = [value for value in sheet_values(accelerator, at) if choice.has(value)]
    rank = {name: position for position, name in enumerate(FIELDS)}
    values.sort(key=lambda value: (rank[value.field], value.condition, not value.is_preferred, value.pk))
    name = accelerator.slug if at is None else f"{accelerator.slug}-{at:%Y%m%dT%H%M%SZ}"
    about = {
        "slug": accelerator.slug,
        "name": accelerator.name,
        "vendor": accelerator.vendor.slug,
        "kind": str(accelerator.kind),
        "address": address,
        "at": write_moment(at) if at else None,
    }
    derived = () if choice or ending == "csv" else column_of_sheet(accelerator, values, at).derived
    return table_file(
        name,
        _COLUMNS,
        values,
        ending,
        document=lambda rows: {**about, "values": rows, "derived": [_derived(figure) for figure in derived]},
    )


def _derived(item: Derived) -> dict[str, Any]:
    """A derived figure: `amount` in SI, null with a reason where it cannot be derived."""
    return {
        "name": item.name,
        "title": item.title,
        "amount": item.amount,
        "text": item.label,
        "formula": item.formula,
        "condition": item.condition,
        "inputs": [{"field": part.field, "condition": part.condition, "amount": part.amount} for part in item.inputs],
        "reason": item.reason,
    }


# --- how to cite a sheet ---

SITE = "accelweb"


def cite(name: str, slug: str, address: str, changed_at: datetime, now: datetime) -> dict[str, str]:
    """`address`: of the sheet, with scheme and host. `changed_at`: when it last changed, which dates its version.

    `permalink`: the sheet as of then, unaffected by later changes.
    """
    moment = _moment(changed_at, now)
    permalink = f"{address}?at={write_moment(moment)}"
    day = f"{moment.astimezone(UTC):%Y-%m-%d}"
    plain = _("%(name)s: published figures with their sources. %(site)s, version of %(day)s. %(url)s") % {
        "name": name,
        "site": SITE,
        "day": day,
        "url": permalink,
    }
    bibtex = _bibtex(name, slug, moment.astimezone(UTC), permalink)
    return {"permalink": permalink, "day": day, "plain": plain, "bibtex": bibtex}


def _moment(changed_at: datetime, now: datetime) -> datetime:
    """The full second after the last change; the exact instant if that second is still in the future."""
    whole = changed_at.replace(microsecond=0)
    after = whole if whole == changed_at else whole + timedelta(seconds=1)
    return after if after <= now else changed_at


def _bibtex(name: str, slug: str, moment: datetime, url: str) -> str:
    """An @misc entry, which every BibTeX reads. Double braces preserve the letter case of the name."""
    lines = (
        f"@misc{{{SITE}-{slug}-{moment:%Y%m%d},",
        f"  title        = {{{{{bibtex_text(name)}: published figures with their sources}}}},",
        f"  organization = {{{SITE}}},",
        f"  year         = {{{moment:%Y}}},",
        f"  month        = {{{moment.month}}},",
        f"  note         = {{Version of {moment:%Y-%m-%d %H:%M} UTC}},",
        f"  howpublished = {{\\url{{{url}}}}}",
        "}",
    )
    return "\n".join(lines)
