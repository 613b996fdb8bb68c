"""How many headline fields of all accelerators are filled, of those that can be: a field that does not apply or is
proven absent is not counted. One query."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from stackviz.records.catalog.absences import absences_of
from stackviz.records.catalog.fields import HEADLINES
from stackviz.records.catalog.figures import base_condition
from stackviz.records.catalog.models import SpecValue
from stackviz.records.catalog.queries import public_catalogue

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
