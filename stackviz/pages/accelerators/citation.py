"""How to cite a sheet: the address of its dated version, a sentence, a BibTeX entry. No queries."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.utils.translation import gettext as _

from stackviz.web.address import write_moment
from stackviz.web.bibtex import bibtex_text

SITE = "accelweb"


@dataclass(frozen=True, slots=True)
class SheetCitation:
    """`permalink`: the sheet as of `moment`, unaffected by later changes."""

    permalink: str
    day: str
    plain: str
    bibtex: str


def cite(name: str, slug: str, address: str, changed_at: datetime, now: datetime) -> SheetCitation:
    """`address`: of the sheet, with scheme and host. `changed_at`: when it last changed, which dates its version."""
    moment = _moment(changed_at, now)
    permalink = f"{address}?at={write_moment(moment)}"
    day = f"{moment.astimezone(UTC):%Y-%m-%d}"
    plain = _("%(name)s: published figures with their sources. %(site)s, version of %(day)s. %(url)s") % {
        "name": name,
        "site": SITE,
        "day": day,
        "url": permalink,
    }
    return SheetCitation(permalink, day, plain, _bibtex(name, slug, moment.astimezone(UTC), permalink))


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
