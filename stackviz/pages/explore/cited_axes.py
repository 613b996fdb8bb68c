"""Cited benchmarks as axes: the best result of each accelerator in one setting, of one device, with who measured it.

Which settings there are is decided by rule (`cited.filled_cases`).
"""

from functools import lru_cache

from django.utils.translation import get_language
from django.utils.translation import gettext as _

from stackviz.base.units import format_in, quantity_label, unit, unit_label
from stackviz.pages.explore.measures import Axis, AxisBound, AxisFigure, CitedRun, Measure
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.cited.benchmark import CitedBenchmark
from stackviz.records.cited.bounds import CaseBound, case_bound
from stackviz.records.cited.cases import edition_of_cases
from stackviz.records.cited.filled_cases import ComparedCase, FilledCase, compared_case, filled_cases
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.ranking import readable_symbol
from stackviz.records.cited.words import (
    benchmark_address,
    devices_text,
    other_params,
    parameter_text,
    result_address,
    software_text,
)
from stackviz.web.i18n.words import joined

AXES_CACHED = 128  # settings, in two languages


def cited_names() -> tuple[str, ...]:
    """Names of the cited measures, as addresses have them."""
    return tuple(filled_cases())


def cited_title(case: FilledCase) -> str:
    """`llama-bench: tg128 · Llama 2 7B · Q4_0`"""
    return _("%(benchmark)s: %(setting)s") % {"benchmark": case.benchmark.title, "setting": case.setting}


def cited_axis(name: str) -> Axis:
    """The axis of a cited measure. One query in a process that has not drawn it in this edition and language yet.

    Raises KeyError for a name that is not of `cited_names`.
    """
    return _axis(edition_of_cases(), get_language() or "", name)


@lru_cache(maxsize=AXES_CACHED)
def _axis(_edition: str, _language: str, name: str) -> Axis:
    compared = compared_case(filled_cases()[name])
    case = compared.case
    symbol = readable_symbol(compared.rows, case.case.si)
    bound = case_bound(case.benchmark, case.case.params)
    return Axis(
        measure=_measure(compared, symbol),
        condition="",
        choices=(),
        figures={row.accelerator.pk: _figure(row.best, case.benchmark, symbol) for row in compared.rows},
        elsewhere={},
        lead=compared.lead,
        ranking_url=f"{benchmark_address(case.benchmark.key)}?case={case.case.params_key}",
        bound=_bound(bound, case.case.si) if bound else None,
    )


def _measure(compared: ComparedCase, symbol: str) -> Measure:
    case = compared.case
    return Measure(
        name=case.name,
        title=cited_title(case),
        meaning=f"{case.benchmark.measures} {_devices(compared)}",
        unit=unit_label(symbol),
        si=case.case.si,
        factor=unit(symbol).factor,
        better=case.benchmark.higher_is_better if case.benchmark.has_first else None,
        kind="cited",
        is_hollow=True,
    )


def _devices(compared: ComparedCase) -> str:
    if compared.case.benchmark.adds_up:
        return _("Each figure is of one device: where several worked together, the sum is divided by their number.")
    if compared.devices is None or compared.devices == 1:
        return _("Each figure is of one device.")
    return _("Each figure is of %(devices)s together.") % {"devices": devices_text(compared.devices)}


def _figure(result: CitedResult, benchmark: CitedBenchmark, symbol: str) -> AxisFigure:
    shown = format_in(result.amount_per_device, symbol)
    others = other_params(benchmark, result.params)
    made = joined([*(parameter_text(*item) for item in others.items()), software_text(result.software)])
    date = result.date.isoformat() if result.date else ""
    several = devices_text(result.count) if result.count > 1 else ""
    return AxisFigure(
        amount=result.amount_per_device,
        text=shown.text,
        exact=shown.exact,
        basis_name="cited",
        remark=joined([several, made, date]),
        source_title=result.source.title,
        source_url=result.source.url,
        run=CitedRun(devices=result.count, made=made, date=date, url=result_address(result)),
    )


def _bound(bound: CaseBound, si: str) -> AxisBound:
    words = ""
    if bound.is_weights:
        weights = quantity_label(bound.divisor, "B", binary=True, digits=3)
        words = _("%(size)s of weights that each token reads") % {"size": weights}
    elif bound.divisor != 1:
        limited = unit(FIELDS[bound.fields[0]].unit).si.removesuffix("/s")
        words = _("%(size)s for each %(what)s") % {
            "size": quantity_label(bound.divisor, limited),
            "what": si.removesuffix("/s"),
        }
    return AxisBound(bound.fields, bound.divisor, words)
