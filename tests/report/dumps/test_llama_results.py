"""What llama-bench printed becomes results with the same parameters, whatever the layout."""

import json
from dataclasses import replace

import pytest

from stackviz.report.dumps.tool_results import tool_results
from stackviz.report.format import Result
from stackviz.report.importers import read_all
from stackviz.report.measuring.llama_bench import LLAMA_BENCH
from tests.report.importers.test_llama_bench import DEVICES, HEADER, OBJECT
from tests.samples import SAMPLES, text_of

ONE_CARD = DEVICES.replace("found 2", "found 1").rsplit("  Device 1", 1)[0]
ROW = "| llama 7B Q4_0 | 3.56 GiB | 6.74 B | CUDA | 99 | {test} | {rate} |\n"
RUN = OBJECT | {
    "gpu_info": "NVIDIA GeForce RTX 4090", "backends": "CUDA", "cpu_info": "AMD Ryzen 9", "model_type": "llama 7B Q4_0",
    "model_size": 3825065984, "model_n_params": 6738415616, "n_batch": 2048, "n_ubatch": 512, "type_k": "f16",
    "type_v": "f16", "split_mode": "layer", "use_mmap": True, "flash_attn": False, "n_prompt": 0, "n_gen": 128,
    "n_depth": 0, "avg_ts": 189.5, "stddev_ts": 0.4, "samples_ts": [189.1, 189.3, 189.6, 189.7, 189.8],
}  # fmt: skip


def results_of(text: str) -> list[Result]:
    return [result for reading in read_all(text).readings for result in tool_results(reading.results, reading.software)]


def table(test="tg128", rate="189.50 ± 0.40") -> str:
    return ONE_CARD + HEADER + ROW.format(test=test, rate=rate) + "\nbuild: e8496488 (2843)\n"


def test_a_table_has_one_figure_that_is_said_to_be_a_mean():
    (result,) = results_of(table())
    assert (result.benchmark, result.version, result.unit, result.card) == ("llama-bench", 1, "token/s", 0)
    assert result.samples == (189.5,)
    assert result.params == {
        "test": "tg128", "model": "Llama 2 7B", "quant": "Q4_0", "backend": "CUDA", "n_gpu_layers": 99,
    }  # fmt: skip
    assert result.conditions == {
        "printed_model": "llama 7B Q4_0, 3.56 GiB, 6.74 B", "llama_cpp_version": "b2843 (e8496488)",
        "mean_of_runs": True, "mean_stddev": 0.4,
    }  # fmt: skip
    assert result.extra == {}
    for rate in ("189.50", "189.50 ± 0.00"):  # one run
        assert "mean_of_runs" not in results_of(table(rate=rate))[0].conditions


def test_json_has_every_sample_and_the_parameters_of_the_table():
    (result,) = results_of(json.dumps([RUN]))
    assert result.samples == (189.1, 189.3, 189.6, 189.7, 189.8)
    assert result.params == results_of(table())[0].params | {"flash_attention": "off"}
    assert result.conditions["llama_cpp_version"] == "b5163 (8cf427ff)"
    assert result.conditions["cpu_threads"] == 4
    assert "mean_of_runs" not in result.conditions


def test_csv_has_a_mean_too():
    row = {name: int(value) if isinstance(value, bool) else value for name, value in RUN.items()}
    del row["samples_ts"]
    values = ",".join(f'"{value}"' for value in row.values())
    (result,) = results_of(f"{','.join(row)}\n{values}\n")
    (of_json,), (of_table,) = results_of(json.dumps([RUN])), results_of(table())
    assert (result.samples, result.conditions["mean_of_runs"]) == ((189.5,), True)
    assert (result.params, result.extra) == (of_json.params, of_json.extra)
    assert result.device == of_json.device == of_table.device == "NVIDIA GeForce RTX 4090"


@pytest.mark.parametrize(
    ("change", "params"),
    [
        ({"flash_attn": True}, {"flash_attention": "on"}),
        ({"flash_attn": -1}, {"flash_attention": "auto"}),
        ({"n_ubatch": 2048}, {"micro_batch": 2048}),
        ({"type_k": "q8_0"}, {"type_k": "q8_0"}),
        ({"n_depth": 4096}, {"depth": 4096}),
        ({"n_prompt": 512}, {"test": "pp512+tg128"}),
        ({"n_cpu_moe": 8}, {"ncmoe": 8}),
        ({"no_kv_offload": True}, {"nkvo": 1}),
        ({"tensor_buft_overrides": "exps=CPU"}, {"ot": "exps=CPU"}),
        ({"backends": "MTL,BLAS"}, {"backend": "Metal"}),
    ],
)
def test_what_is_not_usual_is_a_parameter(change, params):
    (result,) = results_of(json.dumps([RUN | change]))
    assert result.params.items() >= params.items()


def test_on_a_processor_threads_count_and_layers_do_not():
    (result,) = results_of(json.dumps([RUN | {"backends": "CPU", "gpu_info": ""}]))
    assert (result.device, result.card, result.params["threads"]) == ("AMD Ryzen 9", None, 4)
    assert "n_gpu_layers" not in result.params


def test_rows_of_two_devices_are_on_no_single_card():
    both = DEVICES + HEADER + ROW.format(test="tg128", rate="200.00 ± 1.00")
    (result,) = results_of(both)
    assert (result.device, result.card) == ("NVIDIA GeForce RTX 4090 x2", None)
    (result,) = results_of(json.dumps([RUN | {"gpu_info": "NVIDIA GeForce RTX 4090, NVIDIA GeForce RTX 4090"}]))
    assert result.card is None


@pytest.mark.parametrize("rate", ["-189.50 ± 0.40", "nan ± nan", "inf", "1000000000.00 ± 1.00", "fast"])
def test_a_cell_that_states_no_rate_is_a_failed_run(rate):
    (result,) = results_of(table(rate=rate))
    assert (result.state, result.samples, result.reason) == ("failed", (), f"it states {rate}")


@pytest.mark.parametrize("average", [-5, 0, 1e16, "many", None])
def test_a_run_without_a_rate_is_a_failed_one(average):
    (result,) = results_of(json.dumps([RUN | {"avg_ts": average, "samples_ts": []}]))
    assert (result.state, result.samples) == ("failed", ())


def test_a_test_that_nobody_knows_is_listed_and_no_result():
    (reading,) = read_all(table() + "\n" + table(test="sing128")).readings[1:]
    assert tool_results(reading.results, reading.software) == ()
    assert any("sing128" in line for line in reading.ignored)
    (result,) = read_all(table()).readings[0].results
    assert tool_results([replace(result, benchmark="gemm")], []) == ()


def test_a_column_of_a_fork_changes_no_parameter_of_ours():
    text = table().replace("| ngl |", "| quant |").replace("| 99 |", "| 7 |")
    (result,) = results_of(text)
    assert result.params["quant"] == "Q4_0"


@pytest.mark.parametrize("folder", SAMPLES)
def test_every_row_of_the_real_dumps_is_a_case_with_a_rate(folder):
    files = sorted((folder / "llama_bench").iterdir())
    results = [result for file in files for result in results_of(text_of(folder, f"llama_bench/{file.name}"))]
    rated = [result for result in results if result.state == "ok"]
    assert len(rated) > 30
    for result in rated:
        assert LLAMA_BENCH.rate(result.params, result.samples[0]) == result.samples[0], result.params
        assert "quant" in result.params, result.params
    models = {result.params["model"] for result in rated}
    assert {"Llama 2 7B", "Llama 3 8B", "qwen2 7B"} <= models
