"""All benchmarks: every Benchmark that a module of this package names. To add one: docs/recipes/benchmark.md."""

from collections.abc import Mapping
from types import MappingProxyType

from stackviz.base.discovery import modules_of
from stackviz.report import measuring
from stackviz.report.measuring.benchmark import Benchmark

__all__ = ["BENCHMARKS", "RUNNABLE", "VERSIONS"]


def _declared() -> list[Benchmark]:
    benchmarks = [
        value for module in modules_of(measuring) for value in vars(module).values() if isinstance(value, Benchmark)
    ]
    return sorted(benchmarks, key=lambda benchmark: (benchmark.order, benchmark.key, benchmark.version))


VERSIONS: Mapping[tuple[str, int], Benchmark] = MappingProxyType(
    {(benchmark.key, benchmark.version): benchmark for benchmark in _declared()}
)
"""Key and version -> benchmark: old versions are still counted, and no longer run."""

BENCHMARKS: Mapping[str, Benchmark] = MappingProxyType({benchmark.key: benchmark for benchmark in VERSIONS.values()})
"""Key -> the newest version, in the order in which they are run."""

RUNNABLE: Mapping[str, Benchmark] = MappingProxyType(
    {key: benchmark for key, benchmark in BENCHMARKS.items() if benchmark.is_run_by_agent}
)
"""Those of them that the agent runs itself; results of the others come from the tools that do."""
