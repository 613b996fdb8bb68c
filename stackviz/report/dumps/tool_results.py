"""What other tools measured, as results that a report has: of llama-bench, nccl-tests and nvbandwidth.

llama-bench has the same parameters whatever the layout: a table states a mean, JSON each sample, and each layout leaves
out other defaults. A mean stays one figure and is marked as one; no samples are made of its deviation.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from stackviz.report.format import Result, Scalar, Software
from stackviz.report.importers.llama_bench import KIND, ON_CPU
from stackviz.report.importers.nccl_tests import KIND as NCCL_TESTS
from stackviz.report.importers.nvbandwidth import KIND as NVBANDWIDTH
from stackviz.report.measuring.llama_bench import LLAMA_BENCH, compared_model

__all__ = ["MEASURING_TOOLS", "tool_results"]

# Parameters as the importer names them -> as results have them, and what a run without the option has: a table leaves
# that out, JSON states it.
_NAMES = {
    "ngl": ("n_gpu_layers", None),
    "n_batch": ("batch", 2048),
    "n_ubatch": ("micro_batch", 512),
    "type_k": ("type_k", "f16"),
    "type_v": ("type_v", "f16"),
    "sm": ("split_mode", "layer"),
    "mmap": ("mmap", 1),
}
_ELSEWHERE = frozenset({"model", "test", "size", "params", "backend", "fa", "threads"})
_FLASH_ATTENTION = {"0": "off", "1": "on", "false": "off", "true": "on", "-1": "auto", "auto": "auto"}
_TEST = re.compile(r"((?:pp|tg) ?\d{1,8}(?: ?\+ ?tg ?\d{1,8})?)(?: ?@ ?d ?(\d{1,8}))?", re.IGNORECASE)
_WORKS_BESIDE = frozenset({"BLAS"})  # a library for the processor that llama.cpp lists behind the back end


def _llama_results(results: Iterable[Result], software: Sequence[Software]) -> tuple[Result, ...]:
    """Those of llama-bench among the results of a dump, as a report has them. `software`: what the dump names."""
    versions = {item.version for item in software if item.component == "llama-cpp" and item.version}
    version = versions.pop() if len(versions) == 1 else None
    return tuple(_measured(result, version) for result in results if result.benchmark == KIND)


def _measured(result: Result, version: str | None) -> Result:
    return replace(
        result,
        benchmark=LLAMA_BENCH.key,
        version=LLAMA_BENCH.version,
        device=result.device.removesuffix(" x1"),  # a table counts a single card, JSON does not
        params=_params(result.params),
        unit=LLAMA_BENCH.sample_unit,
        conditions=_conditions(result, version),
        extra={},
    )


def _params(printed: Mapping[str, Scalar]) -> dict[str, Scalar]:
    params = _test(str(printed.get("test", "")))
    params.update(compared_model(str(printed.get("model", "")), str(printed.get("params", ""))))
    backend = _backend(str(printed.get("backend", "")))
    is_on_cpu = backend in ON_CPU
    if backend:
        params["backend"] = backend
    for name, value in printed.items():
        named, usual = _NAMES.get(name, (name, None))
        if name not in _ELSEWHERE and value != usual and not (is_on_cpu and name == "ngl"):
            params.setdefault(named, value)
    attention = _FLASH_ATTENTION.get(str(printed.get("fa", "")).casefold())
    if attention:
        params["flash_attention"] = attention
    if is_on_cpu and "threads" in printed:
        params["threads"] = printed["threads"]
    return params


def _test(printed: str) -> dict[str, Scalar]:
    """`tg 128 @ d4096` -> the test and its depth; what reads otherwise stays as it is."""
    match = _TEST.fullmatch(printed)
    if match is None:
        return {"test": printed}
    test: dict[str, Scalar] = {"test": match[1].replace(" ", "").casefold()}
    if match[2] and int(match[2]):
        test["depth"] = int(match[2])
    return test


def _backend(listed: str) -> str:
    """`MTL,BLAS` -> `Metal`: builds name the same back end differently."""
    names = [name.strip() for name in listed.split(",")]
    main = [name for name in names if name not in _WORKS_BESIDE] or names
    return ",".join("Metal" if name == "MTL" else name for name in main)


def _conditions(result: Result, version: str | None) -> dict[str, Scalar]:
    printed = [str(result.params.get(name) or "") for name in ("model", "size", "params")]
    conditions: dict[str, Scalar] = {"printed_model": ", ".join(filter(None, printed))}
    if version:
        conditions["llama_cpp_version"] = version
    threads = result.params.get("threads")
    if type(threads) is int and threads > 0:
        conditions["cpu_threads"] = threads
    mean, deviation = result.extra.get("mean"), result.extra.get("stddev")
    if isinstance(deviation, int | float) and deviation > 0 and result.samples == (mean,):
        conditions |= {"mean_of_runs": True, "mean_stddev": float(deviation)}
    return conditions


_AS_REPORTED = (NCCL_TESTS, NVBANDWIDTH)  # their importers make results that a report has
MEASURING_TOOLS = (KIND, *_AS_REPORTED)
"""Kinds of dumps whose results are stored."""


def tool_results(results: Iterable[Result], software: Sequence[Software]) -> tuple[Result, ...]:
    """Those among the results of a dump. `software`: what the dump names."""
    results = list(results)
    others = (result for result in results if result.benchmark in _AS_REPORTED)
    return (*_llama_results(results, software), *others)
