"""The command that measures a result again: the same benchmark, device and setting. No queries."""

import shlex

from stackviz.benchmarks.measurement import Measurement
from stackviz.measuring import BENCHMARKS

_KINDS = ("cuda", "xpu", "mps", "cpu")


def reproduce_command(measured: Measurement) -> str:
    """`python3 accelweb-agent.pyz bench --benchmark gemm --device cuda:0 --case dtype=bf16,m=8192,n=8192,k=8192`.

    "" for what today's agent does not run: another version of the benchmark, parameters in none of its plans, an
    unknown device.
    """
    known, kind = BENCHMARKS.get(measured.benchmark_key), measured.device.partition(":")[0]
    if known is None or known.version != measured.version or kind not in _KINDS:
        return ""
    if dict(measured.params) not in known.cases(kind, False):  # noqa: FBT003 - the signature of Benchmark.cases
        return ""
    case = ",".join(f"{name}={value}" for name, value in measured.params.items())
    quick = " --quick" if measured.conditions.get("quick") is True else ""
    what = f"--benchmark {known.key} --device {shlex.quote(measured.device)} --case {shlex.quote(case)}"
    return f"python3 accelweb-agent.pyz bench {what}{quick}"
