"""`vllm bench serve`, `latency` and `throughput`, and SGLang's bench_serving -> rates and times, printed or as JSON.

Formats: vllm-project/vllm, vllm/benchmarks/serve.py, latency.py and throughput.py (benchmarks/benchmark_serving.py
before 0.9); sgl-project/sglang, python/sglang/bench_serving.py, which prints the same table and names its back end.
The client may ask any server: which engine answers is known only where the text says so.
"""

import re
from collections.abc import Iterator, Mapping

from stackviz.report.format import Scalar
from stackviz.report.importers.figures import (
    CitedKind,
    Figure,
    add_figures,
    command_options,
    finite_number,
    first_line_above,
    model_name,
    objects_in,
    positive_count,
    starts_of_lines,
)
from stackviz.report.importers.importer import MOST_BLOCKS, Importer, Span
from stackviz.report.importers.reading import Reading

__all__ = ["ENGINES", "IMPORTER", "KIND", "parallelism"]

KIND = "vllm-bench"
THROUGHPUT = CitedKind("llm-throughput", "token/s")
FIRST_TOKEN = CitedKind("llm-time-to-first-token", "ms")
BETWEEN_TOKENS = CitedKind("llm-inter-token-latency", "ms")
# Shown and not published: the site has no cited benchmark of either.
LATENCY = CitedKind("llm-latency", "s")  # of a whole batch, from its beginning to its last token
TOTAL_THROUGHPUT = CitedKind("llm-total-throughput", "token/s")  # of tokens read and generated

ENGINES = {"vllm": "vLLM", "sglang": "SGLang", "trt": "TensorRT-LLM", "lmdeploy": "LMDeploy", "tgi": "TGI"}
"""How a client calls the server it asks -> the engine. `openai` may be any."""

_OUTPUT = {"counted": "output tokens"}
_STATISTICS = {"Mean": "mean", "Median": "p50", "P90": "p90", "P99": "p99"}
# Time per output token is of a request: its mean is the mean of requests. Inter-token latency is of each two pieces.
_TIMES = {"TTFT": (FIRST_TOKEN, ""), "TPOT": (BETWEEN_TOKENS, " of requests"), "ITL": (BETWEEN_TOKENS, "")}


def _times() -> Iterator[tuple[Figure, Figure]]:
    """The figures of times as the table and as the JSON name them."""
    for name, (kind, of) in _TIMES.items():
        for statistic, value in _STATISTICS.items():
            params = {"statistic": f"{value}{of}"}
            key = f"{statistic.lower()}_{name.lower()}_ms"
            yield Figure(f"{statistic} {name} (ms)", kind, params), Figure(key, kind, params)


_PRINTED = (
    Figure("Output token throughput (tok/s)", THROUGHPUT, _OUTPUT),
    Figure("Total token throughput (tok/s)", TOTAL_THROUGHPUT),
    *(printed for printed, _key in _times()),
)
_OF_JSON = (
    Figure("output_throughput", THROUGHPUT, _OUTPUT),
    Figure("total_token_throughput", TOTAL_THROUGHPUT),
    *(key for _printed, key in _times()),
)
_KEYS = {
    "Successful requests": "completed",
    "Benchmark duration (s)": "duration",
    "Total input tokens": "total_input_tokens",
    "Total generated tokens": "total_output_tokens",
    "Maximum request concurrency": "max_concurrency",
    "Max request concurrency": "max_concurrency",
    "Request rate configured (RPS)": "request_rate",
    "Traffic request rate": "request_rate",
    "Acceptance rate (%)": "spec_decode_acceptance_rate",
    "Backend": "backend",
}
"""Labels of the table -> the key of the JSON that says the same."""
_SERVE_KEYS = frozenset({"output_throughput", "total_output_tokens"})
_LATENCY_KEYS = frozenset({"avg_latency", "percentiles"})
_OFFLINE_KEYS = frozenset({"tokens_per_second", "num_requests"})

_HEAD = re.compile(r"^=+ {0,2}(?:Serving Benchmark Result|Offline Throughput Benchmark Result) {0,2}=+")
_ROW = re.compile(r"^ {0,12}([A-Z][A-Za-z0-9 .%/()-]{2,60}?):(?: {1,60}(\S[^\n]{0,60}?))?[ \t]*$")
_RULE = re.compile(r"^[-=]{3,80}(?:[A-Za-z][\w .()/-]{2,60}[-=]{3,80})?$")
_LATENCY = re.compile(r"^(Avg|Std|\d{1,2}%(?: percentile)?) latency: (\S{1,40}) seconds", re.MULTILINE)
_OFFLINE = re.compile(
    r"^Throughput: \S{1,30} requests/s, (?P<total>\S{1,30}) (?:total )?tokens/s"
    r"(?:, (?P<output>\S{1,30}) output tokens/s)?",
    re.MULTILINE,
)
_TOKENS = re.compile(r"^Total num (prompt|output) tokens: {1,8}(\d{1,15})", re.MULTILINE)
_LOG = re.compile(
    r"\bvllm (?:bench|serve)|bench(?:mark)?_(?:serving|latency|throughput)|Namespace\(|server_args|^\s{0,20}--?[a-zA-Z]"
    r"|\b(?:INFO|WARNING)\b|\d%\||it/s\]|s/it\]|^(?:Starting|Initial|Traffic|Burstiness|Maximum request|Warm|Main|Probe"
    r"|Total num|Throughput:|\#Input|\#Output|Processed prompts|Reading|Loading|Avg|Std|\d\d% perc|Skipping|tip:)"
)
_SERVER = re.compile(r"\bvllm serve (?!-)(\S{1,200})")
_LONGEST_TABLE = 100
_TOLERANCE = 0.05  # of what rounded figures come to


def find_vllm_bench(text: str) -> list[Span]:
    """Each result with its command, where that is above."""
    lines = text.splitlines(keepends=True)
    starts = starts_of_lines(lines)
    spans: list[Span] = []
    floor = number = 0
    while number < len(lines) and len(spans) < MOST_BLOCKS:
        end = _end_of_result(lines, number)
        if end:
            top = first_line_above(lines, number, floor, _LOG)
            spans.append(Span(starts[top], starts[end]))
            floor = end
        number = max(number + 1, floor)
    for keys in (_SERVE_KEYS, _LATENCY_KEYS, _OFFLINE_KEYS):
        if any(f'"{key}"' in text for key in keys):
            spans += [span for span, _object, _problem in objects_in(text, keys)]
    chosen: list[Span] = []
    for span in sorted(spans):
        if not chosen or span.start >= chosen[-1].end:
            chosen.append(span)
    return chosen[:MOST_BLOCKS]


def _end_of_result(lines: list[str], number: int) -> int:
    """One past the last line of the result that begins in this line; 0 where none does."""
    line = lines[number][:200].strip()
    if _HEAD.match(line):
        return _end_of_table(lines, number)
    if line.startswith("Throughput: ") and _OFFLINE.match(line):
        return _end_of_run(lines, number, _TOKENS)
    if line.startswith("Avg latency: ") and any("% percentile latency" in row for row in lines[number : number + 8]):
        return _end_of_run(lines, number, _LATENCY)
    return 0


def _end_of_run(lines: list[str], number: int, row: re.Pattern[str]) -> int:
    end = number + 1
    while end < len(lines) and row.match(lines[end][:200]):
        end += 1
    return end


def _end_of_table(lines: list[str], number: int) -> int:
    end = number + 1
    for below in range(number + 1, min(len(lines), number + _LONGEST_TABLE)):
        row = lines[below][:200].strip()
        if row and not _ROW.match(row) and not _RULE.match(row):
            break
        end = below + 1 if row else end
        if row and not row.strip("="):
            break
    return end


def read_vllm_bench(text: str) -> Reading:
    """Never raises. A figure that cannot be meant is named; what the text does not say is in no parameter."""
    reading = Reading(kind=KIND)
    lines = text.splitlines()
    head = next((number for number, line in enumerate(lines) if _HEAD.match(line[:200].strip())), None)
    commands = "\n".join(lines[:head])
    options = command_options(commands)
    if server := _SERVER.search(commands):
        options = {"model": server[1], "backend": "vllm", **options}
    if head is not None:
        rows = [match for line in lines[head:] if (match := _ROW.match(line[:200]))]
        values: dict[str, object] = {match[1].replace("Total Token", "Total token"): match[2] for match in rows}
        stated = {key: values[label] for label, key in _KEYS.items() if label in values}
        _add_served(reading, _PRINTED, values, stated, options)
    elif text.lstrip()[:1] == "{":
        _read_json(reading, text)
    elif offline := _OFFLINE.search(text):
        _add_offline(reading, offline, text, options)
    else:
        _add_latency(reading, dict(_LATENCY.findall(text)), options)
    if not reading.results and not reading.problems:
        reading.problem("no figure could be read")
    return reading


def _read_json(reading: Reading, text: str) -> None:
    for keys in (_SERVE_KEYS, _LATENCY_KEYS, _OFFLINE_KEYS):
        for _span, document, problem in objects_in(text, keys):
            if document is None:
                reading.problem(problem)
            elif keys is _SERVE_KEYS:
                _add_served(reading, _OF_JSON, document, document, {})
            elif keys is _LATENCY_KEYS:
                percentiles = document["percentiles"]
                others = percentiles if isinstance(percentiles, Mapping) else {}
                values = {"Avg": document["avg_latency"], **{f"{name}%": value for name, value in others.items()}}
                _add_latency(reading, values, {})
            else:
                add_figures(reading, (Figure("tokens_per_second", TOTAL_THROUGHPUT),), document, {})
            return


def _add_served(
    reading: Reading,
    figures: tuple[Figure, ...],
    values: Mapping[str, object],
    stated: Mapping[str, object],
    options: Mapping[str, str],
) -> None:
    """`stated`: what the result says of its run, by the keys of the JSON."""
    counts = {name: _mean_tokens(stated, f"total_{name}_tokens") for name in ("input", "output")}
    named = stated.get("backend") or stated.get("endpoint_type") or options.get("backend") or ""
    rate = finite_number(stated.get("request_rate") or options.get("request_rate"))
    is_drafted = stated.get("spec_decode_acceptance_rate") is not None
    params: dict[str, Scalar | None] = {
        "model": model_name(stated.get("model_id") or options.get("model")),
        "concurrency": positive_count(stated.get("max_concurrency") or options.get("max_concurrency")),
        "input_tokens": counts["input"],
        "output_tokens": counts["output"],
        "request_rate": f"{rate:g}" if rate else None,
        "speculative": options.get("method") or "drafts of a kind not told" if is_drafted else None,
        **_server(str(named), options),
    }
    wrong = _contradicted(stated, values, figures)
    if wrong:
        reading.problem(f"{wrong} does not follow from the tokens and the duration: it was left out")
    add_figures(reading, [figure for figure in figures if figure.label != wrong], values, params)


def _mean_tokens(stated: Mapping[str, object], name: str) -> int | None:
    """Tokens of a request on average, to the whole one; None where the result does not say."""
    total, requests = finite_number(stated.get(name)), finite_number(stated.get("completed"))
    return round(total / requests) or None if total and requests and total > 0 and requests > 0 else None


def _contradicted(stated: Mapping[str, object], values: Mapping[str, object], figures: tuple[Figure, ...]) -> str:
    """The label of the output throughput where it is not what tokens and duration come to; "" where it is."""
    label = figures[0].label
    rate, duration = finite_number(values.get(label)), finite_number(stated.get("duration"))
    tokens = finite_number(stated.get("total_output_tokens"))
    if not rate or not duration or not tokens or abs(rate * duration / tokens - 1) <= _TOLERANCE:
        return ""
    return label


def _server(named: str, options: Mapping[str, str]) -> dict[str, Scalar | None]:
    """What the text says of the engine that answered."""
    engine = next((engine for client, engine in ENGINES.items() if named.lower().startswith(client)), None)
    return {
        "engine": engine,
        "precision": options.get("quantization") or None,
        "parallel": parallelism(options),
    }


_PARALLEL = {
    "TP": ("tensor_parallel_size", "tp", "tp_size"),
    "PP": ("pipeline_parallel_size", "pp", "pp_size"),
    "DP": ("data_parallel_size", "dp", "dp_size"),
}


def parallelism(options: Mapping[str, str]) -> str | None:
    """`TP2`, `TP4,PP2` of the options of a server; None where they do not say."""
    sizes = {
        letter: next((size for name in names if (size := positive_count(options.get(name)))), None)
        for letter, names in _PARALLEL.items()
    }
    named = [f"{letter}{size}" for letter, size in sizes.items() if size and (size > 1 or letter == "TP")]
    return ",".join(named) or None


def _add_offline(reading: Reading, offline: re.Match[str], text: str, options: Mapping[str, str]) -> None:
    figures = (
        Figure("total tokens/s", TOTAL_THROUGHPUT),
        Figure("output tokens/s", THROUGHPUT, _OUTPUT),
    )
    values = {"total tokens/s": offline["total"], "output tokens/s": offline["output"]}
    requests = positive_count(options.get("num_prompts"))
    totals = {f"total_{'input' if name == 'prompt' else name}_tokens": count for name, count in _TOKENS.findall(text)}
    stated: dict[str, object] = {**totals, "completed": requests}
    params = {
        "model": model_name(options.get("model")),
        "input_tokens": _mean_tokens(stated, "total_input_tokens") or positive_count(options.get("input_len")),
        "output_tokens": _mean_tokens(stated, "total_output_tokens") or positive_count(options.get("output_len")),
        **_server(options.get("backend", "vllm") if "model" in options else "", options),
    }
    add_figures(reading, figures, {name: value for name, value in values.items() if value}, params)


def _add_latency(reading: Reading, values: Mapping[str, object], options: Mapping[str, str]) -> None:
    """Seconds of a whole batch, first token to last."""
    params = {
        "model": model_name(options.get("model")),
        "batch": positive_count(options.get("batch_size")),
        "input_tokens": positive_count(options.get("input_len")),
        "output_tokens": positive_count(options.get("output_len")),
        **_server("vllm", options),
    }
    labels = {"Avg": "mean", **{f"{p}%{of}": f"p{p}" for p in (10, 25, 50, 75, 90, 99) for of in ("", " percentile")}}
    figures = [Figure(label, LATENCY, {"statistic": statistic}) for label, statistic in labels.items()]
    add_figures(reading, figures, values, params)


IMPORTER = Importer(
    kind=KIND,
    tool="vllm bench",
    tells="benchmark results of a server or of vLLM itself, without the cards",
    trust=28,
    find=find_vllm_bench,
    read=read_vllm_bench,
    marks=(
        "Benchmark Result", "output_throughput", "total_output_tokens", "avg_latency", "tokens_per_second",
        "num_requests", "percentiles", "Avg latency", "latency: ", "tokens/s",
    ),
    command=r"(?:python\S{0,6} )?(?:vllm bench|\S{0,80}benchmark_(?:serving|latency|throughput)\.py|-m sglang\.bench)",
    lists_all_cards=False,
)  # fmt: skip
