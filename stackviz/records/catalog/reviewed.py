"""What the checks of the catalogue look at, and what they find: public values, names and prices, in four queries."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from stackviz.records.catalog.by_formula import NOT_BY_FORMULA, published_by
from stackviz.records.catalog.files import ExceptionLine
from stackviz.records.catalog.formula import Published
from stackviz.records.catalog.models import Accelerator, Alias, Price, SpecValue

Cell = tuple[str, str, str]  # slug, field, condition


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem: where it is, the actual content, and what was expected. `field` is empty for a name."""

    device: str
    field: str
    condition: str
    actual: str
    expected: str


@dataclass(slots=True)
class CheckFinding:
    """Result of checking one value or name: nothing, an excuse, or a problem."""

    problem: Problem | None = None
    excused_by: Cell | None = None
    is_excused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """What the database has in public: values and names of public accelerators, and what each sheet publishes."""

    accelerators: Sequence[Accelerator]
    values: Sequence[SpecValue]
    aliases: Sequence[Alias]
    exceptions: Mapping[Cell, ExceptionLine]
    published: Mapping[int, Published] = field(default_factory=dict)
    cells: Mapping[Cell, Sequence[SpecValue]] = field(default_factory=dict)
    prices: Sequence[Price] = ()


def read_reviewed(exceptions: Mapping[Cell, ExceptionLine]) -> Reviewed:
    """Everything public, in an order that does not change. `exceptions`: by their cell. Four queries."""
    accelerators = list(Accelerator.objects.filter(is_public=True).select_related("vendor"))
    known = {accelerator.pk: accelerator for accelerator in accelerators}
    rows = SpecValue.objects.filter(status=SpecValue.Status.PUBLIC, accelerator__is_public=True)
    rows = rows.select_related("source").order_by("accelerator", "field", "condition", "-is_preferred", "pk")
    names = Alias.objects.filter(accelerator__is_public=True).order_by("normalized", "accelerator", "pk")
    priced = Price.objects.filter(status=Price.Status.PUBLIC, accelerator__is_public=True).select_related("source")
    # An accelerator may become public between the queries.
    values = [value for value in rows if value.accelerator_id in known]
    aliases = [alias for alias in names if alias.accelerator_id in known]
    by_sheet: dict[int, list[SpecValue]] = defaultdict(list)
    cells: dict[Cell, list[SpecValue]] = defaultdict(list)
    for value in values:
        value.accelerator = known[value.accelerator_id]
        by_sheet[value.accelerator_id].append(value)
        cells[cell_of(value)].append(value)
    prices = [price for price in priced if price.accelerator_id in known]
    for alias in aliases:
        alias.accelerator = known[alias.accelerator_id]
    for price in prices:
        price.accelerator = known[price.accelerator_id]
    published = {pk: published_by(known[pk].slug, sheet_values) for pk, sheet_values in by_sheet.items()}
    return Reviewed(
        accelerators=accelerators,
        values=values,
        aliases=aliases,
        exceptions=exceptions,
        published=published,
        cells=cells,
        prices=prices,
    )


def cell_of(value: SpecValue) -> Cell:
    return value.accelerator.slug, value.field, value.condition


def label_of(value: SpecValue) -> str:
    """The figure as printed, with its unit."""
    return f"{value.value} {value.unit}".rstrip()


def problem_of(value: SpecValue, expected: str) -> CheckFinding:
    return CheckFinding(Problem(value.accelerator.slug, value.field, value.condition, label_of(value), expected))


def excused_or(reviewed: Reviewed, value: SpecValue, expected: str) -> CheckFinding:
    """The problem, unless the data explains why the value is correct anyway."""
    if cell_of(value) in reviewed.exceptions:
        return CheckFinding(excused_by=cell_of(value), is_excused=True)
    if value.note.startswith(NOT_BY_FORMULA) or (value.note and not value.is_preferred):
        return CheckFinding(is_excused=True)
    return problem_of(value, expected)
