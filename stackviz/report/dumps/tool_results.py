"""What other tools measured, as results that a report has: of llama-bench, nccl-tests and nvbandwidth."""

from collections.abc import Iterable, Sequence

from stackviz.report.dumps.llama_results import measured_results
from stackviz.report.format import Result, Software
from stackviz.report.importers.llama_bench import KIND as LLAMA_BENCH
from stackviz.report.importers.nccl_tests import KIND as NCCL_TESTS
from stackviz.report.importers.nvbandwidth import KIND as NVBANDWIDTH

__all__ = ["MEASURING_TOOLS", "tool_results"]

_AS_REPORTED = (NCCL_TESTS, NVBANDWIDTH)  # their importers make results that a report has
MEASURING_TOOLS = (LLAMA_BENCH, *_AS_REPORTED)
"""Kinds of dumps whose results are stored."""


def tool_results(results: Iterable[Result], software: Sequence[Software]) -> tuple[Result, ...]:
    """Those among the results of a dump. `software`: what the dump names."""
    results = list(results)
    others = (result for result in results if result.benchmark in _AS_REPORTED)
    return (*measured_results(results, software), *others)
