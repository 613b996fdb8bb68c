"""All cited benchmarks by key, and what their parameters are called. No query."""

from collections.abc import Iterable, Mapping

from stackviz.base.discovery import modules_of
from stackviz.records.cited import definitions
from stackviz.records.cited.benchmark import CitedBenchmark, Params, Words
from stackviz.records.cited.parameters import PARAMETERS

__all__ = ["CITED_BENCHMARKS", "cited_benchmark", "parameter_titles"]


def _declared() -> Iterable[CitedBenchmark]:
    declared = [benchmark for module in modules_of(definitions) for benchmark in module.BENCHMARKS]
    return sorted(declared, key=lambda benchmark: benchmark.order)


CITED_BENCHMARKS: Mapping[str, CitedBenchmark] = {benchmark.key: benchmark for benchmark in _declared()}


def cited_benchmark(key: str) -> CitedBenchmark | None:
    """The benchmark of this key; None if nobody defined it."""
    return CITED_BENCHMARKS.get(key)


def parameter_titles(params: Params) -> list[tuple[Words, str | int]]:
    """Title and value of each parameter, in the order given."""
    return [(PARAMETERS[name].title if name in PARAMETERS else name, value) for name, value in params.items()]
