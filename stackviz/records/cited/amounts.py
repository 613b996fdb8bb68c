"""A cited result typed by a person: its parameters, value and unit -> amount and key, or what is wrong. Pure."""

import math
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from stackviz.base.units import UNITS
from stackviz.records.cited.benchmark import CitedBenchmark
from stackviz.records.cited.parameters import MOST_PARAMETERS, PARAMETERS, comparison_key
from stackviz.records.cited.registry import CITED_BENCHMARKS


def amount_and_key(key: str, params: Any, value: str, unit: str) -> tuple[float, str]:  # noqa: ANN401 - typed JSON
    """Amount in the base unit, and the key of the case. Raises ValidationError with the message of each wrong field."""
    benchmark = CITED_BENCHMARKS.get(key)
    if benchmark is None:
        raise ValidationError({"benchmark": _("%(name)r is not a cited benchmark.") % {"name": key}})
    problems: dict[str, str] = {}
    known = UNITS.get(unit)
    if known is None or known.si not in benchmark.units:
        problems["unit"] = _("This benchmark has %(units)s.") % {"units": ", ".join(benchmark.units)}
    if problem := _params_problem(benchmark, params):
        problems["params"] = problem
    amount = number_of(value)
    if amount is None or not 0 <= amount < math.inf:
        problems["value"] = _("A number is needed: finite and not negative.")
    if problems or known is None or amount is None:
        raise ValidationError(problems)
    return amount * known.factor, comparison_key(benchmark, params, known.si)


def number_of(text: str) -> float | None:
    """The number as printed, NaN and infinity too; None for what is none. Python reads １２ and 1_000, nobody else."""
    try:
        return float(text if text.isascii() and "_" not in text else "")
    except ValueError:
        return None


def _params_problem(benchmark: CitedBenchmark, params: Any) -> str:  # noqa: ANN401
    if not isinstance(params, dict) or len(params) > MOST_PARAMETERS:
        return _("A JSON object of at most %(n)d parameters is needed.") % {"n": MOST_PARAMETERS}
    for name, value in params.items():
        if name not in benchmark.parameters:
            return _("%(benchmark)s has no parameter %(name)r.") % {"benchmark": benchmark.key, "name": name}
        is_right = type(value) is int and value >= 0 if PARAMETERS[name].is_count else isinstance(value, str) and value
        if not is_right:
            return _("%(name)s must be %(kind)s.") % {
                "name": name,
                "kind": _("a whole number") if PARAMETERS[name].is_count else _("text"),
            }
    return ""
