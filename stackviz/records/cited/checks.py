"""What has to be true of every cited result in the database; two queries, whatever their number."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial

from django.core.exceptions import ValidationError
from django.utils import timezone

from stackviz.records.catalog.never_named import forbidden_address_in
from stackviz.records.cited.amounts import amount_and_key
from stackviz.records.cited.models import CitedResult, CitedSource
from stackviz.records.cited.queries import Published, above_bound, peaks_by_accelerator
from stackviz.records.curated.rows import is_web_address

TIME_ZONES = timedelta(days=1)  # a result of today in Auckland has tomorrow's date in Hawaii


@dataclass(frozen=True, slots=True)
class CitedProblem:
    """One wrong row: where it is, and what is wrong with it."""

    where: str
    problem: str


@dataclass(frozen=True, slots=True)
class CitedCheck:
    """One check over all rows."""

    name: str
    title: str
    checked: int
    problems: Sequence[CitedProblem]


def check_cited(today: date | None = None) -> list[CitedCheck]:
    """Every check. `today`: in UTC, now unless given."""
    results = list(CitedResult.objects.select_related("accelerator", "source").order_by("benchmark", "pk"))
    sources = list(CitedSource.objects.order_by("key"))
    latest = (today or timezone.now().date()) + TIME_ZONES
    published = peaks_by_accelerator()
    public = [row for row in results if row.state == CitedResult.State.PUBLIC]
    checks: list[tuple[str, str, Sequence[CitedResult], Callable[[CitedResult], str]]] = [
        ("values", "unit, parameters and amount fit the benchmark", results, _value),
        ("dates", "no date is in the future", results, lambda row: _date(row, latest)),
        ("bounds", "no public result is above its published peak", public, partial(_bound, published)),
    ]
    addresses = CitedCheck("sources", "every address may be named", len(sources), list(_addresses(sources)))
    return [
        *(CitedCheck(name, title, len(rows), _problems(rows, look)) for name, title, rows, look in checks),
        addresses,
    ]


def _problems(rows: Sequence[CitedResult], problem_of: Callable[[CitedResult], str]) -> list[CitedProblem]:
    return [CitedProblem(where_is(row), problem) for row in rows if (problem := problem_of(row))]


def where_is(row: CitedResult) -> str:
    """`gemm 4711 (H100 SXM5): 794.5 TFLOP/s`."""
    return f"{row.benchmark} {row.pk} ({row.reported_name}): {row.value} {row.unit}"


def _value(row: CitedResult) -> str:
    try:
        amount, key = amount_and_key(row.benchmark, row.params, row.value, row.unit)
    except ValidationError as error:
        return "; ".join(f"{field}: {' '.join(messages)}" for field, messages in error.message_dict.items())
    if amount != row.amount:
        return f"its amount is {row.amount!r}, not {amount!r}"
    return "" if key == row.params_key else "its key is not that of its parameters"


def _date(row: CitedResult, latest: date) -> str:
    return f"dated {row.date}" if row.date is not None and row.date > latest else ""


def _bound(published: Mapping[int, Published], row: CitedResult) -> str:
    peaks = published.get(row.accelerator_id or 0, {})
    bound = None if row.reason else above_bound(row, peaks)  # whoever made it public again says why
    if bound is None:
        return ""
    return f"{bound.share:.0%} of {bound.field} ({bound.condition or 'no condition'})"


def _addresses(sources: Sequence[CitedSource]) -> Iterator[CitedProblem]:
    for source in sources:
        try:
            is_web_address(source.url)
        except ValidationError:
            yield CitedProblem(source.key, f"{source.url[:80]!r} is not a web address")
        named = forbidden_address_in(f"{source.url} {source.read_in}")
        if named is not None:
            yield CitedProblem(source.key, f"{named.address} must not be named: {named.reason}")
