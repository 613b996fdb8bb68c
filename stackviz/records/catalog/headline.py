"""How many headline fields are filled, and how well those of the most requested accelerators are sourced.

A cell is one headline field of one accelerator that has a figure: the one that lists show, of several variants the
largest. A source supports it if it states the same figure, rounded or not, under the same condition. Fields that do not
apply or are proven absent are not counted.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from stackviz.records.catalog.absences import absences_of
from stackviz.records.catalog.fields import FIELDS, HEADLINES
from stackviz.records.catalog.figures import base_condition, usual_values
from stackviz.records.catalog.models import Source, SpecValue
from stackviz.records.catalog.queries import public_catalogue

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


GOAL_PERCENT = 85


@dataclass(frozen=True, slots=True)
class HeadlineShare:
    """Of `fields` headline fields that accelerators can have `filled` are published.

    `absent`: fields beside these of which a rule proves that the accelerator cannot have them. `missing`: field ->
    slugs of the accelerators that lack it, the field that most lack first.
    """

    filled: int
    fields: int
    absent: int
    missing: Mapping[str, Sequence[str]]

    def lines(self) -> Iterator[str]:
        yield f"{self.fields} headline fields that accelerators can have, {self.absent} more are proven absent"
        yield f"{_percent(self.filled, self.fields)} filled (goal {GOAL_PERCENT} %)"
        yield f"{_percent(self.filled, self.fields + self.absent)} filled, those proven absent counted as missing"

    def missing_lines(self) -> Iterator[str]:
        for field, slugs in self.missing.items():
            yield f"{field}: {len(slugs)} missing: {', '.join(slugs)}"


def headline_share() -> HeadlineShare:
    """The share of all public accelerators."""
    catalogue = public_catalogue()
    counts: Counter[str] = Counter()
    missing: dict[str, list[str]] = defaultdict(list)
    for slug, accelerator in sorted(catalogue.by_slug.items()):
        values: dict[tuple[str, str], list[SpecValue]] = defaultdict(list)
        for value in catalogue.preferred_values(accelerator.pk):
            values[value.field, base_condition(value)].append(value)
        published = {name for name, _condition in values}
        absences = absences_of(accelerator, values)
        for field in HEADLINES:
            if not field.applies_to(accelerator.vendor.slug, accelerator.kind):
                continue
            state = "filled" if field.name in published else "absent" if field.name in absences else "missing"
            counts[state] += 1
            if state == "missing":
                missing[field.name].append(slug)
    most_first = dict(sorted(missing.items(), key=lambda item: -len(item[1])))
    return HeadlineShare(counts["filled"], counts["filled"] + counts["missing"], counts["absent"], most_first)


def _percent(count: int, total: int) -> str:
    return f"{100 * count / total if total else 0:5.1f} % ({count})"
