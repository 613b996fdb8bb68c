"""How an accelerator's headline figures stand: against the others of its kind, its predecessor, and on the ladder.

Figures are compared under one condition only. All is prepared once for each edition; no query.
"""

import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from stackviz.base.units import format_factor, format_in, unit_label
from stackviz.draw.charts.ladder import RUNGS_PER_PAGE, Rung, rank_rungs
from stackviz.records.catalog.fields import ACCUMULATE_MATTERS, HEADLINES, UNNAMED_ACCUMULATE, Field
from stackviz.records.catalog.figures import base_condition, join_unnamed, variant_of
from stackviz.records.catalog.models import Accelerator, SpecValue
from stackviz.records.catalog.queries import PublicCatalogue, is_announced
from stackviz.records.catalog.uses import can_be_had

FEWEST = 5  # of a kind: a median of fewer says nothing
NO_CONDITION = "none"  # how the ladder's address names the empty condition

_Amounts = Mapping[str, Mapping[int, float]]  # condition -> accelerator pk -> amount in SI


@dataclass(frozen=True, slots=True)
class LadderPlace:
    """`rank`: equal figures share one, None: cannot be had, without a place; `count`: of all that have one.

    `row`: on the ladder, from 0; of what cannot be had on the ladder of everything.
    """

    rank: int | None
    count: int
    row: int


def standings(
    accelerator: Accelerator, predecessor: Accelerator | None, catalogue: PublicCatalogue
) -> dict[str, dict[str, str]]:
    """Field -> how its figure compares, of the headline figures that have an amount.

    `length`, `median_at`, `before_at`: per cent of the largest of its kind; "" unknown. `largest`: of its kind;
    `before`: of its predecessor, with the factor since, `2,039 GB/s (1.6×)`.
    """
    by_field = {}
    for field in HEADLINES:
        if field.is_text:
            continue
        condition = _usual_condition(field, accelerator, catalogue)
        if condition is not None:
            by_field[field.name] = _standing(field, condition, accelerator, predecessor, catalogue)
    return by_field


def ladder_place(field: Field, accelerator: Accelerator, catalogue: PublicCatalogue) -> LadderPlace | None:
    """Under the first of the field's usual conditions in which the accelerator has a figure; None without one."""
    condition = _usual_condition(field, accelerator, catalogue)
    return None if condition is None else _ladder_place(field, condition, accelerator, catalogue)


def _usual_condition(field: Field, accelerator: Accelerator, catalogue: PublicCatalogue) -> str | None:
    amounts = _amounts(field, catalogue)
    return next((usual for usual in field.usual if accelerator.pk in amounts.get(usual, {})), None)


def _standing(
    field: Field, condition: str, accelerator: Accelerator, predecessor: Accelerator | None, catalogue: PublicCatalogue
) -> dict[str, str]:
    amounts = _amounts(field, catalogue)[condition]
    mine = amounts[accelerator.pk]
    kin = [pk for pk in amounts if catalogue.by_pk[pk].kind == accelerator.kind]
    peers = [amounts[pk] for pk in kin if not is_announced(catalogue.by_pk[pk], catalogue)] or [mine]
    top = max(peers)
    before = amounts.get(predecessor.pk) if predecessor else None
    median = statistics.median(peers) if len(peers) >= FEWEST else None
    rank, url = _rank(field, condition, accelerator, catalogue)
    return {
        "length": _percent(min(mine, top), top),
        "median_at": "" if median is None else _percent(median, top),
        "median": "" if median is None else _text(field, median),
        "largest": _text(field, top),
        "before_at": "" if before is None else _percent(before, top),
        "before": "" if before is None else _before_text(field, before, mine),
        "rank": rank,
        "url": url,
    }


def _before_text(field: Field, before: float, mine: float) -> str:
    return f"{_text(field, before)} ({format_factor(mine / before)})" if before else _text(field, before)


def _rank(field: Field, condition: str, accelerator: Accelerator, catalogue: PublicCatalogue) -> tuple[str, str]:
    """Its place among all accelerators under this condition, and the address of that place on the ladder."""
    ranked = _ladder_place(field, condition, accelerator, catalogue)
    query = {"field": field.name}
    if ranked.rank is None:
        query["announced"] = "1"
    if condition != field.usual[0]:
        query["condition"] = condition or NO_CONDITION
    page = ranked.row // RUNGS_PER_PAGE + 1
    if page > 1:
        query["page"] = str(page)
    figures = {"place": ranked.rank, "all": ranked.count}
    absent = _("announced") if is_announced(accelerator, catalogue) else _("in-house")
    words = _("place %(place)d of %(all)d") % figures if ranked.rank else absent
    return words, f"{reverse('explore:ladder')}?{urlencode(query)}#{accelerator.slug}"


def _ladder_place(field: Field, condition: str, accelerator: Accelerator, catalogue: PublicCatalogue) -> LadderPlace:
    """On the ladder, which lists equal ones by name; what cannot be had stands on the ladder of everything only."""
    is_listed = can_be_had(accelerator, catalogue)

    def rank() -> dict[int, LadderPlace]:
        amounts = _amounts(field, catalogue)[condition]
        rungs = [
            Rung(pk, amounts[pk], takes_place=has_place)
            for pk in sorted(amounts, key=lambda pk: catalogue.by_pk[pk].name)
            if (has_place := can_be_had(catalogue.by_pk[pk], catalogue)) or not is_listed
        ]
        steps, _ticks = rank_rungs(rungs, "linear", lower_is_better=field.higher_is_better is False)
        count = sum(step.rank is not None for step in steps)
        return {step.key: LadderPlace(step.rank, count, row) for row, step in enumerate(steps)}

    return catalogue.once(("ladder places", field.name, condition, is_listed), rank)[accelerator.pk]


def _amounts(field: Field, catalogue: PublicCatalogue) -> _Amounts:
    return catalogue.once(("amounts by condition", field.name), lambda: _amounts_of(field, catalogue))


def _amounts_of(field: Field, catalogue: PublicCatalogue) -> _Amounts:
    under: dict[str, dict[int, list[SpecValue]]] = defaultdict(lambda: defaultdict(list))
    for pk in catalogue.by_pk:
        for value in catalogue.preferred(pk, field.name):
            if value.amount is not None:
                under[base_condition(value)][pk].append(value)
    if field.name in ACCUMULATE_MATTERS:
        for plain, named in UNNAMED_ACCUMULATE.items():
            join_unnamed(under[plain], under[named])
    return {
        condition: {pk: _largest(values) for pk, values in by_pk.items()} for condition, by_pk in under.items() if by_pk
    }


def _largest(values: Sequence[SpecValue]) -> float:
    """The figure without a variant, else the largest of all variants."""
    plain = [value for value in values if not variant_of(value)] or values
    return max(value.amount or 0.0 for value in plain)


def _percent(amount: float, top: float) -> str:
    return f"{amount / top * 100:.1f}" if top else ""


def _text(field: Field, amount: float) -> str:
    shown = format_in(amount, field.unit, digits=3)
    return f"{shown.text} {unit_label(field.unit)}".rstrip()
