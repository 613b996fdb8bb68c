"""Benchmarks of language models: mlx_lm, vllm bench, LocalScore, club-3090's report. What a text lacks is not told."""

import json
import time

import pytest

from stackviz.report.format import LIMITS
from stackviz.report.importers import Reading, read_all
from stackviz.report.importers.figures import command_options, model_name, objects_in
from stackviz.report.importers.mlx_lm import split_quantisation
from tests.report.importers.own_dump import OwnDump, fixture

GENERATED = """$ mlx_lm.generate --model mlx-community/Qwen3-8B-4bit --prompt "Tell a story" --max-tokens 100
Fetching 9 files: 100%|##########| 9/9 [00:00<00:00, 91180.52it/s]
==========
Once upon a time a model wrote --model some/other
and ended.
==========
Prompt: 32 tokens, 150.123 tokens-per-sec
Generation: 100 tokens, 45.678 tokens-per-sec
Peak memory: 5.123 GB
"""
TIMED = """$ mlx_lm.benchmark --model mlx-community/Qwen3-4B-bf16 -p 2048 -g 128 -b 8
Running warmup..
Timing with prompt_tokens=2048, generation_tokens=128, batch_size=8.
Trial 1:  prompt_tps=3210.123, generation_tps=210.500, peak_memory=20.123, total_time=9.123
Trial 2:  prompt_tps=3212.123, generation_tps=211.500, peak_memory=20.123, total_time=9.123
Averages: prompt_tps=3211.123, generation_tps=211.000, peak_memory=20.123
"""
SERVED = """$ vllm serve Qwen/Qwen3-8B --tensor-parallel-size 2
$ vllm bench serve --model Qwen/Qwen3-8B --max-concurrency 16
Traffic request rate: inf
============ Serving Benchmark Result ============
Successful requests:                     100
Failed requests:                         0
Maximum request concurrency:             16
Benchmark duration (s):                  20.00
Total input tokens:                      102400
Total generated tokens:                  25600
Request throughput (req/s):              5.00
Output token throughput (tok/s):         1280.00
Total Token throughput (tok/s):          6400.00
---------------Time to First Token----------------
Mean TTFT (ms):                          154.82
Median TTFT (ms):                        136.70
P99 TTFT (ms):                           360.23
-----Time per Output Token (excl. 1st token)------
Mean TPOT (ms):                          11.60
---------------Inter-token Latency----------------
Mean ITL (ms):                           11.71
==================================================
"""
DOCUMENT = {
    "date": "20260801-101500",
    "backend": "vllm",
    "model_id": "Qwen/Qwen3-8B",
    "num_prompts": 100,
    "request_rate": 4.0,
    "max_concurrency": None,
    "duration": 20.0,
    "completed": 100,
    "total_input_tokens": 102400,
    "total_output_tokens": 25600,
    "output_throughput": 1280.0,
    "total_token_throughput": 6400.0,
    "mean_ttft_ms": 154.82,
    "ttfts": [0.1] * 100,
}
SCORED = {
    "runtime_info": {"name": "llamafile", "version": "0.9.2", "commit": "abc"},
    "system_info": {
        "cpu_name": "AMD Ryzen 9 7950X3D 16-Core Processor (znver4)", "cpu_arch": "x86_64", "ram_gb": 62.0,
        "kernel_type": "Linux", "kernel_release": "6.8.0-45-generic", "version": "#45-Ubuntu SMP",
    },
    "accelerator_info": {
        "name": "NVIDIA GeForce RTX 4090", "manufacturer": "NVIDIA", "memory_gb": 23.5, "type": "GPU"
    },
    "results": [
        {
            "name": "pp1024+tg16", "model_name": "Meta Llama 3.1 8B Instruct", "model_quant_str": "Q4_K - Medium",
            "n_prompt": 1024, "n_gen": 16, "prompt_tps": 5123.4, "gen_tps": 110.2, "ttft_ms": 201.2,
        },
    ],
    "results_summary": {"avg_prompt_tps": 4000.1, "avg_gen_tps": 100.2, "avg_ttft_ms": 500.5, "performance_score": 430},
}  # fmt: skip
SCORED_TABLE = """llamafile version:   0.9.2
Kernel Type:         Darwin
Kernel Release:      24.3.0
CPU:                 Apple M3 Max 12P+4E
RAM:                 128.00 GiB
+--------------------------------------------------------------------------------------------+
|                           Apple M3 Max 12P+4E+40GPU - 96.0 GiB                             |
|                           Llama 3.2 1B Instruct - Q4_K - Medium                            |
+--------------------------------------------------------------------------------------------+
|          test | run number |   avg time | tokens processed |     pp t/s |     tg t/s |       ttft |
| ------------- | ---------- | ---------- | ---------------- | ---------- | ---------- | ---------- |
|   pp1024+tg16 |        1/1 |  300.12 ms |      1040 / 1040 |    4123.40 |     150.20 |     1.25 s |
+--------------------------------------------------------------------------------------------+
Token Generation: \t 140.10 tok/s
Prompt Processing: \t 4000.20 tok/s
Time to First Token:\t 350.20 ms
"""
CLUB = fixture("dumps/tools/club-3090-report.md")
LINUX = {"os.name": "Linux", "cpu.model": "AMD Ryzen 9 7950X3D 16-Core Processor", "memory.total_bytes": 62 * 2**30}
RIG = {
    "os.name": "Ubuntu", "os.version": "24.04.4", "os.kernel": "Linux 6.17.0-29-generic",
    "cpu.model": "AMD Ryzen 5 5600 6-Core Processor", "memory.total_bytes": 62 * 2**30,
    "nvidia.driver_version": "595.71.05", "cuda.driver_api_version": "13.2", "torch.version": "2.11.0+cu130",
    "cudnn.version": "9.19.0",
}  # fmt: skip
OWN_DUMPS = (
    OwnDump(kind="mlx-lm", text=GENERATED),
    OwnDump(kind="mlx-lm", text=TIMED),
    OwnDump(kind="vllm-bench", text=SERVED),
    OwnDump(kind="vllm-bench", text=json.dumps(DOCUMENT)),
    OwnDump(kind="localscore", text=json.dumps(SCORED, indent=2), facts=LINUX, cards=1),
    OwnDump(kind="localscore", text=SCORED_TABLE, facts={"apple.chip": "Apple M3 Max", "os.name": "macOS"}, cards=1),
    OwnDump(kind="club-3090-report", text=CLUB, facts=RIG, cards=2),
)


def read(text: str, kind: str) -> Reading:
    (reading,) = (one for one in read_all(text).readings if one.kind == kind)
    return reading


def told(reading: Reading, *names: str) -> list[tuple]:
    return [
        (result.benchmark, *(result.params.get(name) for name in names), result.samples[0], result.unit)
        for result in reading.results
    ]


# ---- mlx_lm ----


def test_a_generation_has_a_rate_of_prompt_and_answer():
    reading = read(GENERATED, "mlx-lm")
    assert told(reading, "test", "model", "quant") == [
        ("mlx-lm", "pp32", "Qwen3-8B", "4bit", 150.123, "token/s"),
        ("mlx-lm", "tg100", "Qwen3-8B", "4bit", 45.678, "token/s"),
    ]
    assert reading.results[0].conditions == {"peak_memory_gb": 5.123}
    assert reading.problems == []


def test_averages_of_trials_count_and_a_batch_is_named():
    assert told(read(TIMED, "mlx-lm"), "test", "batch") == [
        ("mlx-lm", "pp2048", 8, 3211.123, "token/s"),
        ("mlx-lm", "tg128", 8, 211.0, "token/s"),
    ]
    torn = TIMED.partition("Averages")[0]
    assert told(read(torn, "mlx-lm"), "test")[0] == ("mlx-lm", "pp2048", 3211.123, "token/s")


def test_averages_alone_take_their_lengths_from_the_command():
    text = "mlx_lm.benchmark --model a/B-4bit -p 128 -g 64\n\nAverages: prompt_tps=469.910, generation_tps=65.284\n"
    assert [row[1] for row in told(read(text, "mlx-lm"), "test")] == ["pp128", "tg64"]


def test_a_print_without_counts_or_command_tells_neither():
    reading = read("Prompt: 412.1 tokens-per-sec\nGeneration: 33.5 tokens-per-sec\n", "mlx-lm")
    assert [result.params for result in reading.results] == [{"test": "pp"}, {"test": "tg"}]


@pytest.mark.parametrize(
    ("name", "model", "quant"),
    [
        ("Qwen3-8B-4bit", "Qwen3-8B", "4bit"),
        ("Qwen3-30B-A3B-4bit-DWQ", "Qwen3-30B-A3B", "4bit-DWQ"),
        ("Qwen3.5-4B-MLX-4bit", "Qwen3.5-4B", "4bit"),
        ("gpt-oss-20b-MXFP4-Q8", "gpt-oss-20b-MXFP4-Q8", None),
        ("Llama-3.2-1B-Instruct", "Llama-3.2-1B-Instruct", None),
    ],
)
def test_a_quantisation_is_split_off_where_it_is_one(name, model, quant):
    assert split_quantisation(name) == ({"model": model, "quant": quant} if quant else {"model": model})


# ---- vllm bench ----


def test_a_served_run_has_its_rate_and_its_times():
    names = ("statistic", "model", "concurrency", "input_tokens", "output_tokens", "engine", "parallel")
    same = ("Qwen3-8B", 16, 1024, 256, "vLLM", "TP2")
    assert told(read(SERVED, "vllm-bench"), *names) == [
        ("llm-throughput", None, *same, 1280.0, "token/s"),
        ("llm-total-throughput", None, *same, 6400.0, "token/s"),
        ("llm-time-to-first-token", "mean", *same, 154.82, "ms"),
        ("llm-time-to-first-token", "p50", *same, 136.7, "ms"),
        ("llm-time-to-first-token", "p99", *same, 360.23, "ms"),
        ("llm-inter-token-latency", "mean of requests", *same, 11.6, "ms"),
        ("llm-inter-token-latency", "mean", *same, 11.71, "ms"),
    ]


@pytest.mark.parametrize("text", [json.dumps(DOCUMENT), json.dumps([DOCUMENT], indent=2)])
def test_its_json_says_the_same_and_its_rate_of_requests(text):
    rows = told(read(text, "vllm-bench"), "model", "request_rate", "concurrency", "engine")
    assert rows == [
        ("llm-throughput", "Qwen3-8B", "4", None, "vLLM", 1280.0, "token/s"),
        ("llm-total-throughput", "Qwen3-8B", "4", None, "vLLM", 6400.0, "token/s"),
        ("llm-time-to-first-token", "Qwen3-8B", "4", None, "vLLM", 154.82, "ms"),
    ]


def test_a_table_alone_says_neither_model_nor_engine():
    reading = read(SERVED[SERVED.index("=") :], "vllm-bench")
    assert {frozenset(result.params) & {"model", "engine", "parallel"} for result in reading.results} == {frozenset()}


def test_sglang_names_itself_in_the_same_table():
    table = SERVED[SERVED.index("====") :].replace("Successful", "Backend: sglang-oai\nSuccessful")
    assert {row[1] for row in told(read(table, "vllm-bench"), "engine")} == {"SGLang"}


def test_a_batch_of_latency_and_a_run_offline_are_read():
    latency = "vllm bench latency --model a/B --input-len 32 --output-len 128 --batch-size 8\n"
    latency += "Avg latency: 1.25 seconds\nStd latency: 0.01 seconds\n99% percentile latency: 1.5 seconds\n"
    assert told(read(latency, "vllm-bench"), "model", "batch", "statistic") == [
        ("llm-latency", "B", 8, "mean", 1.25, "s"),
        ("llm-latency", "B", 8, "p99", 1.5, "s"),
    ]
    offline = (
        "vllm bench throughput --model a/B --num-prompts 100\nThroughput: 12.34 requests/s, 2400.00 total tokens/s, "
    )
    offline += "800.00 output tokens/s\nTotal num prompt tokens:  12800\nTotal num output tokens:  6400\n"
    assert told(read(offline, "vllm-bench"), "model", "input_tokens", "output_tokens") == [
        ("llm-total-throughput", "B", 128, 64, 2400.0, "token/s"),
        ("llm-throughput", "B", 128, 64, 800.0, "token/s"),
    ]


def test_a_table_whose_rate_contradicts_its_tokens_loses_the_rate():
    reading = read(SERVED.replace("1280.00", "12800.00"), "vllm-bench")
    assert "llm-throughput" not in {result.benchmark for result in reading.results}
    assert reading.problems[0].startswith("Output token throughput (tok/s) does not follow")


# ---- LocalScore ----


def test_localscore_has_its_means_and_each_test():
    assert told(read(json.dumps(SCORED), "localscore"), "test", "model", "quant") == [
        ("localscore", "pp", "Llama-3.1-8B", "Q4_K_M", 4000.1, "token/s"),
        ("localscore", "tg", "Llama-3.1-8B", "Q4_K_M", 100.2, "token/s"),
        ("llm-time-to-first-token", None, "Llama-3.1-8B", None, 500.5, "ms"),
        ("localscore", "pp of pp1024+tg16", "Llama-3.1-8B", "Q4_K_M", 5123.4, "token/s"),
        ("localscore", "tg of pp1024+tg16", "Llama-3.1-8B", "Q4_K_M", 110.2, "token/s"),
        ("llm-time-to-first-token", None, "Llama-3.1-8B", None, 201.2, "ms"),
    ]


def test_its_table_says_seconds_where_it_prints_them():
    reading = read(SCORED_TABLE, "localscore")
    times = [row for row in told(reading, "model") if row[0] == "llm-time-to-first-token"]
    assert times == [
        ("llm-time-to-first-token", "Llama-3.2-1B", 350.2, "ms"),
        ("llm-time-to-first-token", "Llama-3.2-1B", 1250.0, "ms"),
    ]
    assert reading.cards[0].facts["gpu_cores"] == 40


def test_a_unit_that_was_swapped_is_named_and_not_read():
    reading = read(SCORED_TABLE.replace("350.20 ms", "350.20 s"), "localscore")
    assert reading.problems == ["time to first token: in s, not in ms"]


COPIED = """| Metric | Value |
|--------|-------|
| Token Generation | 797.70 tok/s |
| Prompt Processing | 36,811.14 tok/s |

Full test breakdown

| TEST NAME    | PROMPT (tokens/s) | GENERATION (tokens/s) | TTFT     |
|--------------|------------------:|----------------------:|----------|
| pp1024+tg16  |               136 |                   3.9 | 7.82 sec |
| pp16+tg1536  |             4,907 |                   776 | 4.55 ms  |
"""


def test_a_table_copied_from_the_site_is_read_without_a_model():
    assert told(read(COPIED, "localscore"), "test", "model") == [
        ("localscore", "pp", None, 36811.14, "token/s"),
        ("localscore", "tg", None, 797.7, "token/s"),
        ("localscore", "pp of pp1024+tg16", None, 136.0, "token/s"),
        ("localscore", "tg of pp1024+tg16", None, 3.9, "token/s"),
        ("llm-time-to-first-token", None, None, 7820.0, "ms"),
        ("localscore", "pp of pp16+tg1536", None, 4907.0, "token/s"),
        ("localscore", "tg of pp16+tg1536", None, 776.0, "token/s"),
        ("llm-time-to-first-token", None, None, 4.55, "ms"),
    ]


def test_a_processor_is_no_card():
    document = {**SCORED, "accelerator_info": {"name": "AMD Ryzen", "type": "CPU", "memory_gb": 62}}
    assert read(json.dumps(document), "localscore").cards == []


# ---- club-3090 ----


def test_a_rig_report_has_its_cards_with_limits_and_lanes():
    cards = read(CLUB, "club-3090-report").cards
    assert [(card.reported_name, card.memory_bytes, card.facts["power_limit_w"]) for card in cards] == [
        ("NVIDIA GeForce RTX 3090", 24576 * 2**20, 300.0)
    ] * 2
    assert (cards[0].facts["pcie_width"], cards[0].facts["pcie_generation_max"]) == (4, 4)


def test_a_rig_report_has_its_rates_with_what_was_served():
    reading = read(CLUB, "club-3090-report")
    assert told(reading, "task", "counted", "statistic", "input_tokens") == [
        ("llm-decode", "narrative", "whole request", None, None, 92.55, "token/s"),
        ("llm-decode", "narrative", "decode only", None, None, 93.56, "token/s"),
        ("llm-time-to-first-token", "narrative", None, "mean", None, 117.0, "ms"),
        ("llm-prefill", None, None, None, 10367, 1195.35, "token/s"),
        ("llm-time-to-first-token", None, None, "mean", 10367, 8569.0, "ms"),
    ]
    served = {"engine": "vLLM", "parallel": "TP2", "speculative": "mtp", "context": 262144, "power_limit_w": 300}
    assert served.items() <= reading.results[0].params.items()
    assert [item.version for item in reading.software if item.component == "vllm"] == ["0.20.2rc1.dev129+g1acd67a79"]


def test_a_rate_that_the_benchmark_did_not_measure_is_none():
    text = CLUB.replace(
        "  TTFT          mean=   117ms", "  ⚠ decode_TPS above is DERIVED, NOT MEASURED\n  TTFT mean= 117ms"
    )
    counted = {row[1] for row in told(read(text, "club-3090-report"), "counted") if row[0] == "llm-decode"}
    assert counted == {"whole request"}


def test_a_bench_that_ends_before_its_summary_says_so():
    reading = read(CLUB.partition("=== summary")[0], "club-3090-report")
    assert (len(reading.cards), reading.results) == (2, [])
    assert reading.problems == ["the benchmark has no summary: none of its figures was read"]


def test_a_bench_without_its_report_tells_no_model():
    text = CLUB[CLUB.index("========== NARRATIVE") :]
    assert "model" not in read(text, "club-3090-report").results[0].params


# ---- hostile texts ----


@pytest.mark.parametrize("written", ["nan", "inf", "-5", "0", "1e400", "12..3", "7.5.1", "9" * 18])
@pytest.mark.parametrize(
    ("text", "kind", "figure", "label"),
    [
        (GENERATED, "mlx-lm", "45.678", "Generation"),
        (TIMED, "mlx-lm", "211.000", "generation_tps"),
        (SERVED, "vllm-bench", "136.70", "Median TTFT (ms)"),
        (SCORED_TABLE, "localscore", "150.20", "gen_tps"),
        (CLUB, "club-3090-report", "93.56", "decode_TPS"),
    ],
)
def test_a_figure_that_cannot_be_meant_is_named(text, kind, figure, label, written):
    good, broken = read(text, kind), read(text.replace(figure, written), kind)
    assert len(broken.results) == len(good.results) - 1
    assert [problem.partition(":")[0] for problem in broken.problems] == [label]


def test_json_that_breaks_off_says_where():
    text = json.dumps(DOCUMENT)
    reading = read(text[: text.index("154.82") - 1], "vllm-bench")
    assert reading.problems == ["the JSON is broken or incomplete at mean_ttft_ms"]


FLOODS = {
    "mlx generation": GENERATED * 4000,
    "mlx trials": TIMED.partition("Averages")[0] + "Trial 1:  prompt_tps=1.0, generation_tps=2.0\n" * 20_000,
    "rules": "==========\n" * 90_000,
    "prompts": "Prompt: 1 tokens, 2.0 tokens-per-sec\n" * 27_000,
    "served": SERVED * 900,
    "served rows": SERVED.partition("=====\n")[0] + "=====\n" + "Mean TTFT (ms): 1.0\n" * 50_000,
    "objects": (json.dumps(DOCUMENT) + "\n") * 900,
    "a long object": json.dumps({**DOCUMENT, "ttfts": [0.123456] * 100_000}),
    "open objects": '{"output_throughput": 1, "total_output_tokens":\n' * 20_000,
    "brackets": '{"accelerator_info":\n' * 45_000,
    "scores": SCORED_TABLE * 700,
    "ten thousand tests": json.dumps({**SCORED, "results": SCORED["results"] * 10_000})[:1_000_000],
    "copied": COPIED * 2_000,
    "headers": "| TEST NAME | PROMPT (tokens/s) | GENERATION (tokens/s) | TTFT |\n" * 15_000 + "| pp1024+tg16 |\n",
    "club": CLUB * 220,
    "summaries": "=== summary [a] (n=1) ===\n  wall_TPS       mean= 1.00\n" * 18_000,
    "options": "vllm serve " + "--a b " * 160_000 + "\n" + SERVED,
}


@pytest.mark.parametrize("name", FLOODS)
def test_a_megabyte_of_any_of_these_is_read_in_time(name):
    text = FLOODS[name][:1_000_000]
    started = time.process_time()
    paste = read_all(text)
    assert time.process_time() - started < 1.5
    assert all(len(reading.results) <= LIMITS.results for reading in paste.readings)


def test_options_are_read_from_commands_and_settings():
    text = "vllm serve x \\\n  --max-model-len 8192 \\\n  -tp=2\nNamespace(model='a/b', seed=None, method=\"mtp\")"
    assert command_options(text) == {"max_model_len": "8192", "tp": "2", "model": "a/b", "method": "mtp"}


def test_a_model_has_no_folder_and_no_account():
    names = ["/home/marie/models/Qwen3-8B-Q4_K_M.gguf", "mlx-community/Qwen3-8B-4bit/", r"D:\models\Qwen3-8B", None]
    assert [model_name(name) for name in names] == ["Qwen3-8B-Q4_K_M", "Qwen3-8B-4bit", "Qwen3-8B", ""]


def test_objects_are_found_inside_others():
    text = '{\n "runs": [\n  {"x": 1, "y": 2},\n  {"x": 3}\n ]\n}'
    assert [found for _span, found, _problem in objects_in(text, {"x", "y"})] == [{"x": 1, "y": 2}]
