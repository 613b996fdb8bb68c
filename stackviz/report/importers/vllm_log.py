"""What vLLM says when it starts and every ten seconds: its version, memory of the model and the cache, requests.

Format: vllm/v1/metrics/loggers.py, vllm/v1/core/kv_cache_utils.py, vllm/v1/worker/gpu_model_runner.py; before 0.8
vllm/engine/metrics.py and vllm/core/scheduler.py.
"""

import re

from stackviz.report.importers.importer import Importer, Span
from stackviz.report.importers.reading import Reading

__all__ = ["IMPORTER"]

KIND = "vllm-log"

_LINE = re.compile(
    r"^[^\n]{0,160}?(?:vLLM API server version |Initializing an? (?:V1 )?LLM engine \(v|Model loading took \d"
    r"|Loading model weights took \d|GPU KV cache size: \d|Available KV cache memory: |Maximum concurrency for "
    r"|Avg prompt throughput: \d|is preempted by PreemptionMode)[^\n]{0,1600}$",
    re.MULTILINE,
)
_MARKS = (
    *("vLLM API server version", "LLM engine (v", "Model loading took", "Loading model weights took"),
    *("GPU KV cache size:", "Avg prompt throughput:", "is preempted by PreemptionMode"),
)
_VERSION = re.compile(r"(?:server version |engine \(v)(\d\.\d{1,3}[\w.+-]{0,40}?)(?=[\s):]|$)", re.MULTILINE)
_MODEL = re.compile(r"(?:Model loading|Loading model weights) took (\d{1,4}(?:\.\d{1,6})?) (Gi?B)")
_CACHE = re.compile(r"GPU KV cache size: ([\d,]{1,16}) tokens")
_REQUESTS = re.compile(r"Running: (\d{1,7}) reqs, (?:Swapped: \d{1,7} reqs, )?(?:Waiting|Pending): (\d{1,7}) reqs")
_USED = re.compile(r"KV cache usage: (\d{1,3}(?:\.\d)?)%")
_RATE = re.compile(r"Avg generation throughput: (\d{1,9}(?:\.\d)?) tokens/s")
_PREEMPTED = re.compile(r"total_(?:num_)?cumulative_preemption(?:_cnt)?=(\d{1,9})")
_MOST_LINES = 4_000


def find_vllm_log(text: str) -> list[Span]:
    """From the first line of vLLM's to the last: what other programs print stands between."""
    if not any(mark in text for mark in _MARKS):
        return []
    first = _LINE.search(text)
    if first is None:
        return []
    last = first
    for last in _LINE.finditer(text, first.end()):  # noqa: B007 - the last one counts
        pass
    return [Span(first.start(), last.end())]


def read_vllm_log(text: str) -> Reading:
    """Never raises. Of the lines that come again the most of each figure."""
    reading = Reading(kind=KIND)
    lines = "\n".join(match[0] for match in list(_LINE.finditer(text))[-_MOST_LINES:])
    if version := _VERSION.search(text):
        reading.add_software("vllm", version[1], "vLLM")
    if model := _MODEL.search(text):
        reading.sheet.state("vllm.model_bytes", int(float(model[1]) * (2**30 if model[2] == "GiB" else 10**9)))
    if cache := _CACHE.search(text):
        reading.sheet.state("vllm.cache_tokens", int(cache[1].replace(",", "") or 0))
    requests = _REQUESTS.findall(lines)
    if requests:
        reading.sheet.state("vllm.requests_running", max(int(running) for running, _waiting in requests))
        reading.sheet.state("vllm.requests_waiting", max(int(waiting) for _running, waiting in requests))
    used, rates = _USED.findall(lines), _RATE.findall(lines)
    reading.sheet.state("vllm.cache_ratio", min(max(map(float, used)) / 100, 1.0) if used else None)
    reading.sheet.state("vllm.tokens_per_s", max(map(float, rates)) if rates else None)
    preempted = [int(count) for count in _PREEMPTED.findall(lines)]
    counted = max(preempted, default=lines.count("is preempted by PreemptionMode"))
    reading.sheet.state("vllm.preemptions", counted if counted or requests else None)
    return reading


IMPORTER = Importer(
    kind=KIND,
    tool="vLLM, its log",
    tells="version, memory of the model and its cache, requests that run and wait",
    trust=33,
    find=find_vllm_log,
    read=read_vllm_log,
    marks=_MARKS,
    command="vllm",
    yields=True,
)
