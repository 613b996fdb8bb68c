"""How well the headline figures of the accelerators most asked for are sourced: by their vendor's own document, by two.

A cell is one headline field of one accelerator that has a figure: the one that lists show, of several variants the
largest. A source supports it if it states the same figure, rounded or not, under the same condition. One query.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from stackviz.records.catalog.fields import FIELDS, HEADLINES
from stackviz.records.catalog.figures import usual_values
from stackviz.records.catalog.models import Source, SpecValue

# Two printed figures this near are the same one: 989 and 989.4 TFLOPS, 1.3 and 1,307.4.
ROUNDED = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcedCell:
    """A headline figure. `makers` and `documents` count the vendors' and all documents that state it.

    `is_makers`: whether the preferred value itself has a vendor's document as its source.
    """

    slug: str
    field: str
    makers: int
    documents: int
    is_makers: bool


@dataclass(frozen=True, slots=True)
class Shares:
    """Of `cells` headline figures, how many are stated by a vendor's document, by two documents, preferred from one."""

    cells: int
    by_maker: int
    preferred_from_maker: int
    by_two: int

    def lines(self) -> Iterator[str]:
        yield f"{self.cells} headline figures"
        yield f"{self._percent(self.by_maker)} stated by a document of the vendor (goal 80 %)"
        yield f"{self._percent(self.preferred_from_maker)} shown from a document of the vendor"
        yield f"{self._percent(self.by_two)} stated by two documents or more (goal 95 %)"

    def _percent(self, count: int) -> str:
        return f"{100 * count / self.cells if self.cells else 0:5.1f} % ({count})"


def sourced_cells(slugs: Collection[str]) -> list[SourcedCell]:
    """The headline figures of these accelerators, in the order of `slugs` and fields. One query."""
    fields = [field.name for field in HEADLINES]
    rows = SpecValue.objects.filter(
        status=SpecValue.Status.PUBLIC, accelerator__is_public=True, accelerator__slug__in=slugs, field__in=fields
    ).select_related("source", "accelerator")
    by_cell: dict[tuple[str, str], list[SpecValue]] = defaultdict(list)
    for value in rows:
        by_cell[value.accelerator.slug, value.field].append(value)
    cells = (_cell(slug, field, by_cell[slug, field]) for slug in slugs for field in fields)
    return [cell for cell in cells if cell is not None]


def _cell(slug: str, field: str, values: Sequence[SpecValue]) -> SourcedCell | None:
    shown = usual_values(FIELDS[field], [value for value in values if value.is_preferred])
    if not shown:
        return None
    headline = shown[-1]
    alike = [value for value in values if value.condition == headline.condition and _is_same(value, headline)]
    sources = {value.source.url: value.source for value in alike if value.source}
    return SourcedCell(
        slug=slug,
        field=field,
        makers=sum(source.kind == Source.Kind.MAKER for source in sources.values()),
        documents=len(sources),
        is_makers=headline.source is not None and headline.source.kind == Source.Kind.MAKER,
    )


def _is_same(value: SpecValue, other: SpecValue) -> bool:
    """Whether two figures are one, rounded differently; a date is the same as its month."""
    if value.amount is None or other.amount is None:
        return value.value.startswith(other.value) or other.value.startswith(value.value)
    return abs(value.amount - other.amount) <= ROUNDED * other.amount


def shares(cells: Sequence[SourcedCell]) -> Shares:
    return Shares(
        len(cells),
        sum(cell.makers > 0 for cell in cells),
        sum(cell.is_makers for cell in cells),
        sum(cell.documents > 1 for cell in cells),
    )
