"""The sources of a sheet: each has a number, who stands behind it, how and when it was read, how many figures it has.

A row of the sheet names its source by number; the list below the values has titles and addresses. No query.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

from django.utils.functional import Promise
from django.utils.translation import get_language, gettext_lazy, pgettext_lazy

from stackviz.records.catalog.figures import for_people
from stackviz.records.catalog.models import Source, SpecValue

# Who stands behind a source, in a word: a reader weighs the vendor's own figure otherwise than a copy of it.
BADGES: Mapping[str, Promise] = {
    Source.Kind.MAKER: gettext_lazy("vendor"),
    Source.Kind.DEVICE: gettext_lazy("reading"),
    Source.Kind.PRESS: gettext_lazy("press"),
    Source.Kind.COMMUNITY: gettext_lazy("community"),
}
# How a source was read, in a word; nothing where nobody recorded it.
READINGS: Mapping[str, Promise] = {
    Source.Reading.FIRST_HAND: pgettext_lazy("how a source was read", "first-hand"),
    Source.Reading.COPY: pgettext_lazy("how a source was read", "copy"),
    Source.Reading.QUOTE: pgettext_lazy("how a source was read", "quoted"),
    Source.Reading.EXCERPT: pgettext_lazy("how a source was read", "excerpt"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetSource:
    """A numbered source. `badge` says who, `reading` how it was read, in a word; `read_as` the same in a sentence.

    `read_on` is a day such as 2026-11-20. Each is "" where it is not recorded. `figures`: how many figures of the sheet
    it states, preferred or not.
    """

    number: int
    title: str
    url: str
    host: str
    kind: str
    badge: str
    reading: str
    read_as: str
    read_on: str
    figures: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetFigure:
    """What one source says: the figure as text, the exact one, and the source it is from.

    `basis`: how the source came by it, in words; "" where it is simply published. `source` is None only for a figure of
    a database without its constraints.
    """

    text: str
    exact: str
    basis: str
    source: SheetSource | None
    note: str


class NumberedSources:
    """The sources of a sheet by primary key, numbered in the order in which the sheet first shows them."""

    def __init__(self, values: Iterable[SpecValue]) -> None:
        self._figures = Counter(value.source_id for value in values)
        self._sources: dict[int, SheetSource] = {}

    def of(self, source: Source) -> SheetSource:
        """The numbered source; a number is given on the first call."""
        known = self._sources.get(source.pk)
        if known is None:
            known = self._sources[source.pk] = _numbered(source, len(self._sources) + 1, self._figures[source.pk])
        return known

    def figure(self, value: SpecValue) -> SheetFigure:
        """The figure of one source, as text."""
        shown = for_people(value)
        return SheetFigure(
            text=shown.label,
            exact=shown.exact,
            basis="" if value.basis == SpecValue.Basis.PUBLISHED else value.get_basis_display(),
            source=self.of(value.source) if value.source else None,
            note=value.note,
        )

    def listed(self) -> tuple[SheetSource, ...]:
        """All that have a number, by number."""
        return tuple(self._sources.values())


def _numbered(source: Source, number: int, figures: int) -> SheetSource:
    return SheetSource(
        number=number,
        title=source.title,
        url=source.url,
        host=_host(source.url),
        kind=_kind_text(source.kind, get_language()),
        badge=str(BADGES.get(source.kind, "")),
        reading=str(READINGS.get(source.read_as, "")),
        read_as=_reading_text(source.read_as, get_language()),
        read_on=f"{source.read_on:%Y-%m-%d}" if source.read_on else "",
        figures=figures,
    )


@lru_cache(maxsize=64)
def _kind_text(kind: str, _language: str | None) -> str:
    """The kind of a source in the reader's language: the same few words on every row of a sheet."""
    return str(Source.Kind(kind).label) if kind in Source.Kind.values else kind


@lru_cache(maxsize=64)
def _reading_text(reading: str, _language: str | None) -> str:
    return str(Source.Reading(reading).label) if reading in Source.Reading.values else ""


@lru_cache(maxsize=1024)
def _host(url: str) -> str:
    return (urlsplit(url).hostname or "").removeprefix("www.")


# --- the figures of some sources only ---


@dataclass(frozen=True, slots=True)
class SourceChoice:
    """Which rows of a sheet to show: those whose preferred figure has a source of this kind, read in this way.

    "" for any.
    """

    kind: str = ""
    reading: str = ""

    def __bool__(self) -> bool:
        return bool(self.kind or self.reading)

    def has(self, value: SpecValue) -> bool:
        source = value.source
        kind, reading = (source.kind, source.read_as) if source else ("", "")
        return self.kind in ("", kind) and self.reading in ("", reading)


def source_filters(preferred: Sequence[SpecValue]) -> list[tuple[str, str, str, int]]:
    """(parameter, value, name, rows it leaves) of the filters that leave some of these rows, but not all."""
    kinds = Counter(value.source.kind for value in preferred if value.source)
    readings = Counter(value.source.read_as for value in preferred if value.source)
    named = [("kind", str(kind), str(name), kinds[kind]) for kind, name in BADGES.items()]
    named += [("read_as", str(way), str(name), readings[way]) for way, name in READINGS.items()]
    return [parts for parts in named if 0 < parts[-1] < len(preferred)]
