"""The command that measures a result again: the same benchmark, device and setting. No queries."""

import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any

from stackviz.records.series.measurement import Measurement
from stackviz.report.measuring import BENCHMARKS
from stackviz.report.measuring.in_mlx import DEVICE_KINDS, cases_on
from stackviz.report.measuring.llama_bench import LLAMA_BENCH
from stackviz.report.measuring.nccl_tests import NCCL_TESTS, NVBANDWIDTH, PROGRAMS, TYPES

# Of what a sender wrote nothing else stands in a command that people paste: quotes of one shell are none in another.
_DEVICE = re.compile(r"[a-z]{1,10}(?::\d{1,3})?")
_PLAIN_NAME = re.compile(r"[A-Za-z0-9]\w{0,80}", re.ASCII)
_LLAMA_TEST = re.compile(r"(?:pp(?P<prompt>\d+))?(?P<both>\+)?(?:tg(?P<generated>\d+))?")
# Parameters of llama-bench -> its options.
_LLAMA_OPTIONS = {
    "depth": "-d", "n_gpu_layers": "-ngl", "batch": "-b", "micro_batch": "-ub", "type_k": "-ctk", "type_v": "-ctv",
    "split_mode": "-sm", "mmap": "-mmp", "threads": "-t",
}  # fmt: skip
_NO_OPTION = frozenset({"test", "model", "quant", "parameters", "backend", "flash_attention"})


def reproduce_command(measured: Measurement) -> str:
    """`python3 accelweb-agent.pyz bench --benchmark gemm --device cuda:0 --case dtype=bf16,m=8192,n=8192,k=8192`.

    "" for what today's agent does not run: another version of the benchmark, parameters in none of its plans, an
    unknown device.
    """
    known, kind = BENCHMARKS.get(measured.benchmark_key), measured.device.partition(":")[0]
    if known is None or known.version != measured.version:
        return ""
    if known.key in _COMMANDS_OF_TOOLS:
        return _COMMANDS_OF_TOOLS[known.key](measured.params)
    if kind not in DEVICE_KINDS or not _DEVICE.fullmatch(measured.device):
        return ""
    if dict(measured.params) not in cases_on(known, kind, quick=False):
        return ""
    case = ",".join(f"{name}={value}" for name, value in measured.params.items())
    quick = " --quick" if measured.conditions.get("quick") is True else ""
    used = known.devices_used(measured.device, dict(measured.params))
    devices = " ".join(f"--device {shlex.quote(name)}" for name in used)
    what = f"--benchmark {known.key} {devices} --case {shlex.quote(case)}"
    return f"python3 accelweb-agent.pyz bench {what}{quick}"


def _llama_command(params: Mapping[str, Any]) -> str:
    """`llama-bench -m MODEL.gguf -p 0 -n 128 -ngl 99 -fa 1 -o json`: which file the model is, its name says.

    "" where a parameter has no option that we know.
    """
    test = _LLAMA_TEST.fullmatch(str(params.get("test", "")))
    if not LLAMA_BENCH.work(params) or test is None or not params.keys() <= _NO_OPTION | _LLAMA_OPTIONS.keys():
        return ""
    prompt, generated = test["prompt"] or "0", test["generated"] or "0"
    words = ["-pg", f"{prompt},{generated}", "-p", "0", "-n", "0"] if test["both"] else ["-p", prompt, "-n", generated]
    for name, option in _LLAMA_OPTIONS.items():
        if name in params:
            words += [option, str(params[name])]
    if params.get("flash_attention") in ("on", "off"):
        words += ["-fa", "1" if params["flash_attention"] == "on" else "0"]
    return shlex.join(["llama-bench", "-m", "MODEL.gguf", *words, "-o", "json"])


_NCCL_OPTIONS = {"op", "dtype", "cards", "bytes", "place"}  # what the command below says, or needs no option


def _nccl_command(params: Mapping[str, Any]) -> str:
    """`all_reduce_perf -b 1073741824 -e 1073741824 -d float -g 8`; "" where several machines took part."""
    program = PROGRAMS.get(str(params.get("op")))
    if program is None or not NCCL_TESTS.work(params) or not params.keys() <= _NCCL_OPTIONS:
        return ""
    dtype = str(params.get("dtype", ""))
    name = TYPES.get(dtype, dtype)
    if not _PLAIN_NAME.fullmatch(name):
        return ""
    size, cards = str(int(params["bytes"])), str(int(params["cards"]))
    return shlex.join([program, "-b", size, "-e", size, "-d", name, "-g", cards])


def _nvbandwidth_command(params: Mapping[str, Any]) -> str:
    test = str(params.get("test", ""))
    return f"nvbandwidth -t {test}" if NVBANDWIDTH.work(params) and _PLAIN_NAME.fullmatch(test) else ""


_COMMANDS_OF_TOOLS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    LLAMA_BENCH.key: _llama_command,
    NCCL_TESTS.key: _nccl_command,
    NVBANDWIDTH.key: _nvbandwidth_command,
}
"""Benchmark that another tool runs -> its command for these parameters."""
