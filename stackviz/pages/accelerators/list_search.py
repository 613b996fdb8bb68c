"""The accelerators that match a query: filtered, searched and sorted in memory, from the public catalogue.

A figure is filtered and sorted by as `queries.headline` shows it: under the first of its field's usual conditions that
is published, the plain figure before those of variants, of variants the largest.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from stackviz.pages.accelerators.list_query import (
    BOUNDS,
    COLUMN_NAMES,
    OBSERVED_POWER,
    PRICE_COLUMN,
    SUPPORTS,
    ListQuery,
    column_field,
    form_of,
)
from stackviz.records.catalog.absences import MIXED, architectures_with, capabilities_with, is_mixed
from stackviz.records.catalog.asked_for import by_request
from stackviz.records.catalog.conditions import KEYS
from stackviz.records.catalog.costs import costs_with_memory, dollars_to_buy
from stackviz.records.catalog.fields import FIELDS, POWER, Field
from stackviz.records.catalog.figures import base_condition
from stackviz.records.catalog.models import Accelerator, Alias, SpecValue
from stackviz.records.catalog.queries import PublicCatalogue, is_announced, public_catalogue
from stackviz.report.rules.known_cards import normalized

VARYING = tuple(key.name for key in KEYS if key.varies)
# Texts that sort as numbers: 9.0 before 12.0.
_NUMBERED = frozenset({"compute_capability", "metal_gpu_family"})
_GIGABYTES = re.compile(r"(\d{1,5}) ?gb\b")
# A card of "80 GB" is published as 80 GB by one source and as 80 GiB by the next.
_NEAR = (0.99, 1.08)

Test = Callable[[Accelerator], bool]
Amounts = Mapping[int, float]  # accelerator id -> the figure shown, in SI
Texts = Mapping[int, str]
_Figure = TypeVar("_Figure", float, str)


@dataclass(frozen=True, slots=True)
class Counted:
    """How many match; `known`: how many of them publish the field sorted by."""

    matching: int
    known: int

    @property
    def unknown(self) -> int:
        return self.matching - self.known


class Search:
    """One query on one edition of the catalogue. Each filter is applied once to every accelerator."""

    def __init__(self, query: ListQuery, catalogue: PublicCatalogue | None = None) -> None:
        self.query = query
        self.catalogue = catalogue or public_catalogue()
        self._answering = {
            name: frozenset(row.pk for row in self.catalogue.accelerators if test(row))
            for name, test in _tests(query, self.catalogue).items()
        }

    def filtered(self, without: str = "") -> list[Accelerator]:
        """The matches by name; `without` ignores one filter, to count the matches of each of its choices."""
        sets = [pks for name, pks in self._answering.items() if name != without]
        return [row for row in self.catalogue.accelerators if all(row.pk in pks for pks in sets)]

    def ordered(self) -> list[Accelerator]:
        """The matches in the order of the query."""
        return _ordered(self.filtered(), self.query, self.catalogue)

    def folded(self) -> list[list[Accelerator]]:
        """The matches in the order of the query, those of one family together where its first stands."""
        if not self.query.is_folded:
            return [[row] for row in self.ordered()]
        together: dict[tuple[str, int | str], list[Accelerator]] = {}
        for row in self.ordered():
            together.setdefault((row.vendor.slug, row.family or row.pk), []).append(row)
        return list(together.values())

    def lacking_figures(self) -> list[Accelerator]:
        """Those that only a bound leaves out, because they publish no figure that it could be held against."""
        if self.query.unknown or all(getattr(self.query, name) is None for name in BOUNDS):
            return []
        matching = {row.pk for row in self.filtered()}
        everything = Search(replace(self.query, unknown=True), self.catalogue).filtered()
        return [row for row in everything if row.pk not in matching]

    def counted(self) -> Counted:
        """How many match, and how many of them have a value to sort by."""
        matching = self.filtered()
        if self.query.sort_key not in COLUMN_NAMES:
            return Counted(len(matching), len(matching))
        known = sorted_by(column_field(self.query.sort_key), self.catalogue, self.query.memory_min)
        return Counted(len(matching), sum(row.pk in known for row in matching))


def sorted_by(field: Field, catalogue: PublicCatalogue, memory_min: float | None = None) -> Mapping[int, float | str]:
    """Accelerator id -> what the list sorts and filters by: its figure's amount, or its text."""
    if field is PRICE_COLUMN:
        return dollars_shown(catalogue, memory_min)
    return texts_shown(field, catalogue) if field.is_text else amounts_shown(field, catalogue)


def amounts_shown(field: Field, catalogue: PublicCatalogue) -> Amounts:
    """Accelerator id -> amount of the figure the list shows of a field; without those that publish none."""
    return catalogue.once(
        ("amounts shown", field.name),
        lambda: {
            pk: value.amount for pk, value in _shown(field, catalogue).items() if value.amount is not None
        },
    )  # fmt: skip


def dollars_shown(catalogue: PublicCatalogue, memory_min: float | None = None) -> Amounts:
    """Accelerator id -> what buys one with so many GB, in dollars; without those of which no such price is known."""

    def amounts(least_gb: float | None = None) -> dict[int, float]:
        of_each = {pk: dollars_to_buy(costs_with_memory(pk, catalogue, least_gb)) for pk in catalogue.by_pk}
        return {pk: amount for pk, amount in of_each.items() if amount is not None}

    return amounts(memory_min) if memory_min else catalogue.once("dollars shown", amounts)


def largest_shown(field: Field, catalogue: PublicCatalogue) -> float:
    """The largest amount of what can be had that the list shows of a field, under the usual condition if any has it."""

    def find() -> float:
        shown = [
            value
            for pk, value in _shown(field, catalogue).items()
            if value.amount is not None and not is_announced(catalogue.by_pk[pk], catalogue)
        ]
        usual = [value for value in shown if base_condition(value) == listed_field(field).usual[0]]
        return max((value.amount or 0.0 for value in usual or shown), default=0.0)

    return catalogue.once(("largest shown", field.name), find)


def texts_shown(field: Field, catalogue: PublicCatalogue) -> Texts:
    """The same of a field that is text."""
    return catalogue.once(
        ("texts shown", field.name), lambda: {pk: value.value for pk, value in _shown(field, catalogue).items()}
    )


def listed_field(field: Field) -> Field:
    """The field with the conditions that the list shows it under: power was observed under several."""
    return replace(field, usual=POWER.member(OBSERVED_POWER).conditions) if field.name == OBSERVED_POWER else field


def power_shown(catalogue: PublicCatalogue) -> Amounts:
    """Accelerator id -> its published board power, else the power that was observed."""
    return catalogue.once("power shown", lambda: _power(catalogue))


def _power(catalogue: PublicCatalogue) -> dict[int, float]:
    power = dict(amounts_shown(FIELDS[POWER.members[0].field], catalogue))
    for member in POWER.members:
        for condition in member.conditions:
            for pk in catalogue.by_pk.keys() - power.keys():
                values = catalogue.preferred(pk, member.field)
                amounts = [value.amount for value in values if base_condition(value) == condition and value.amount]
                if amounts:
                    power[pk] = max(amounts)
    return power


def _shown(field: Field, catalogue: PublicCatalogue) -> dict[int, SpecValue]:
    shown = {}
    for pk in catalogue.by_pk:
        value = _shown_value(field, catalogue.preferred(pk, field.name))
        if value is not None:
            shown[pk] = value
    return shown


def _shown_value(field: Field, values: list[SpecValue]) -> SpecValue | None:
    """Of these the one under the first usual condition that has any; of variants the largest, then by text."""
    for usual in listed_field(field).usual:
        for is_under in (_is_plain, _is_variant):
            under = [value for value in values if is_under(value, usual)]
            if under:
                return min(under, key=lambda value: (-(value.amount or 0.0), value.value))
    return None


def _is_plain(value: SpecValue, usual: str) -> bool:
    return value.condition == usual


def _is_variant(value: SpecValue, usual: str) -> bool:
    """The keys that vary stand last in a canonical text."""
    start = f"{usual}; " if usual else ""
    return value.condition.startswith(tuple(f"{start}{key}=" for key in VARYING))


# --- filters ---


def _tests(query: ListQuery, catalogue: PublicCatalogue) -> dict[str, Test]:
    """By filter: what an accelerator must be."""
    tests: dict[str, Test] = {}
    if query.q:
        tests["q"] = match_names(query.q, catalogue)
    if query.vendor:
        tests["vendor"] = lambda row: row.vendor.slug in query.vendor
    if query.kind:
        tests["kind"] = lambda row: row.kind in query.kind
    if query.architecture:
        tests["architecture"] = _having(catalogue, "architecture", lambda value: value.value in query.architecture)
    if query.form:
        tests["form"] = _having(catalogue, "form_factor", lambda value: form_of(value.value) in query.form)
    if query.availability:
        tests["availability"] = lambda row: availability_of(row, catalogue) in query.availability
    for name in query.supports:
        tests[f"supports {name}"] = supporting(SUPPORTS[name], catalogue)
    return tests | _bounds(query, catalogue)


def _bounds(query: ListQuery, catalogue: PublicCatalogue) -> dict[str, Test]:
    tests: dict[str, Test] = {}
    # Dates are ISO text, as precise as the source: they sort as text.
    released = texts_shown(FIELDS["release_date"], catalogue)
    first, after = str(query.year_from), str((query.year_to or 0) + 1)
    if query.year_from is not None:
        tests["year_from"] = _bounded(released, query, lambda date: date >= first)
    if query.year_to is not None:
        tests["year_to"] = _bounded(released, query, lambda date: date < after)
    if query.memory_min is not None:
        least = query.memory_min * 1e9
        tests["memory_min"] = _bounded(amounts_shown(FIELDS["memory_gb"], catalogue), query, lambda size: size >= least)
    if query.power_max is not None:
        most = query.power_max
        tests["power_max"] = _bounded(power_shown(catalogue), query, lambda power: power <= most)
    if query.price_max is not None:
        dollars = query.price_max
        tests["price_max"] = _bounded(dollars_shown(catalogue, query.memory_min), query, lambda price: price <= dollars)
    return tests


def _bounded(figures: Mapping[int, _Figure], query: ListQuery, is_within: Callable[[_Figure], bool]) -> Test:
    """Whether an accelerator's figure is within a bound; without a figure as the query says."""
    return lambda row: is_within(figures[row.pk]) if row.pk in figures else query.unknown


def _having(catalogue: PublicCatalogue, field: str, is_so: Callable[[SpecValue], bool]) -> Test:
    return lambda row: any(map(is_so, catalogue.preferred(row.pk, field)))


def availability_of(row: Accelerator, catalogue: PublicCatalogue) -> str:
    """Which of `list_query.AVAILABILITY` it is; one without a published date counts as released."""
    return "announced" if is_announced(row, catalogue) else "released"


def supporting(rate: str, catalogue: PublicCatalogue) -> Test:
    """A test for support of a rate: a published rate above zero, or a design known to have it."""
    able = catalogue.once(
        ("supporting", rate),
        lambda: frozenset(row.pk for row in catalogue.accelerators if _supports(row, rate, catalogue)),
    )
    return lambda row: row.pk in able


def _supports(row: Accelerator, rate: str, catalogue: PublicCatalogue) -> bool:
    def texts(field: str) -> set[str]:
        return {value.value for value in catalogue.preferred(row.pk, field)}

    def is_above_zero(field: str) -> bool:
        return any((value.amount or 0.0) > 0 for value in catalogue.preferred(row.pk, field))

    capabilities = texts("compute_capability")
    return (
        is_above_zero(rate)
        or not capabilities.isdisjoint(capabilities_with(rate))
        or not texts("architecture").isdisjoint(architectures_with(rate))
        or (is_mixed(rate) and MIXED in capabilities and is_above_zero("tensor_cores"))
    )


def match_names(q: str, catalogue: PublicCatalogue) -> Test:
    """Accelerators by words of the name, by a name that a card, a Mac or a tool reports, or by chip and architecture.

    `rtx4090` and `m3max40` are names without their spaces; `4090 24gb` says a memory size too.
    """
    terms = _GIGABYTES.sub(r"\1gb", normalized(q))
    if not terms:
        return lambda _row: False
    of_design = q.strip().casefold()

    def is_named(row: Accelerator) -> bool:
        name = row.name.casefold()
        return (
            all(term in name or _is_of_size(row, term, catalogue) for term in terms.split())
            or _is_run_together(row, terms)
            or any(terms in alias.normalized for alias in catalogue.names(row.pk))
            or any(
                value.value.casefold() == of_design
                for field in ("chip", "architecture")
                for value in catalogue.preferred(row.pk, field)
            )
        )

    return is_named


def _is_run_together(row: Accelerator, terms: str) -> bool:
    return terms.replace(" ", "") in row.slug.replace("-", "")


def _is_of_size(row: Accelerator, term: str, catalogue: PublicCatalogue) -> bool:
    size = _GIGABYTES.fullmatch(term)
    if size is None:
        return False
    least, most = (float(size[1]) * 1e9 * factor for factor in _NEAR)
    return any(least <= (value.amount or 0.0) <= most for value in catalogue.preferred(row.pk, "memory_gb"))


# --- order ---


def _ordered(accelerators: list[Accelerator], query: ListQuery, catalogue: PublicCatalogue) -> list[Accelerator]:
    """Sort stably; `accelerators` is sorted by name. Without a key or a search the most asked for come first."""
    key = query.sort_key
    if key in COLUMN_NAMES:
        figures = sorted_by(column_field(key), catalogue, query.memory_min)
        return _by_field(accelerators, column_field(key), figures, is_descending=query.is_descending)
    if not key and query.q:
        return sorted(accelerators, key=lambda row: _nearness(row, query.q, catalogue))
    if key == "vendor":
        return sorted(accelerators, key=lambda row: row.vendor.name.lower(), reverse=query.is_descending)
    if key == "kind":
        return sorted(accelerators, key=lambda row: row.kind, reverse=query.is_descending)
    if key == "name":
        return accelerators[::-1] if query.is_descending else accelerators
    matching = {row.pk for row in accelerators}
    return [row for row in by_request(catalogue) if row.pk in matching]


def _by_field(
    accelerators: list[Accelerator], field: Field, figures: Mapping[int, float | str], *, is_descending: bool
) -> list[Accelerator]:
    """Sort by the figure shown; accelerators without one come last in both directions."""

    def sort_key(row: Accelerator) -> tuple[int, float | str]:
        figure = figures[row.pk]
        if isinstance(figure, str):
            return len(figure) if field.name in _NUMBERED else 0, figure.lower()
        return 0, figure

    known = sorted((row for row in accelerators if row.pk in figures), key=sort_key, reverse=is_descending)
    return [*known, *(row for row in accelerators if row.pk not in figures)]


def _nearness(row: Accelerator, q: str, catalogue: PublicCatalogue) -> int:
    """0: a name it reports is exactly this; 1: its name has this in one piece; 2: its words are there."""
    words = normalized(q)
    names = (alias for alias in catalogue.names(row.pk) if alias.kind != Alias.Kind.UNDECIDED)
    if any(alias.normalized == words for alias in names):
        return 0
    return 1 if _is_run_together(row, words) else 2
