"""What can be measured: each benchmark in one module, what a run does and what it counts. Standard library only.

The agent runs them and sends seconds; the site works out operations, bytes and rates from the same objects.
"""

from stackviz.measuring.benchmark import Benchmark, Params, Prepared
from stackviz.measuring.registry import BENCHMARKS, VERSIONS

__all__ = ["BENCHMARKS", "VERSIONS", "Benchmark", "Params", "Prepared"]
