"""What can be measured: each benchmark in one module, what a run does and what it counts. Standard library only.

The agent runs them and sends samples, in seconds but for accuracy; the site works out operations, bytes and rates from
the same objects. What other tools measure, in seconds or as rates, is described here too.
"""

from stackviz.report.measuring.benchmark import Benchmark, Params, Prepared, RateBound
from stackviz.report.measuring.registry import BENCHMARKS, RUNNABLE, VERSIONS

__all__ = ["BENCHMARKS", "RUNNABLE", "VERSIONS", "Benchmark", "Params", "Prepared", "RateBound"]
