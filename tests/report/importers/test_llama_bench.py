"""llama-bench's tables, JSON, JSON lines and CSV become results; every row of the samples is right."""

import json
from pathlib import Path

import pytest

from stackviz.report.dumps.answer import answer
from stackviz.report.dumps.machines import machines
from stackviz.report.format import Result, parse_report, to_json
from stackviz.report.importers import Reading, read_all
from stackviz.report.importers.llama_bench import NO_DEVICE, find_llama_bench, read_llama_bench
from stackviz.report.rules import packaged_tables
from tests.report.importers.own_dump import OwnDump
from tests.samples import SAMPLES, Row, benchmark_rows, text_of

HEADER = """\
| model                          |       size |     params | backend    | ngl |            test |                  t/s |
| ------------------------------ | ---------: | ---------: | ---------- | --: | --------------: | -------------------: |
"""
DEVICES = """\
ggml_cuda_init: GGML_CUDA_FORCE_MMQ:    no
ggml_cuda_init: found 2 CUDA devices:
  Device 0: NVIDIA GeForce RTX 4090, compute capability 8.9, VMM: yes
  Device 1: NVIDIA GeForce RTX 4090, compute capability 8.9, VMM: yes
"""
ROWS = """\
| llama 8B Q4_K - Medium         |   4.58 GiB |     8.03 B | CUDA       |  99 |           pp512 |      8125.45 ± 23.37 |
| llama 8B Q4_K - Medium         |   4.58 GiB |     8.03 B | CUDA       |  99 |   tg128 @ d4096 |        145.55 ± 0.80 |
"""
BUILD = "\nbuild: e8496488 (2843)\n"
TABLE = DEVICES + HEADER + ROWS + BUILD
OBJECT = {
    "build_commit": "8cf427ff", "build_number": 5163, "cpu_info": "Accelerate, Apple M4", "gpu_info": "Apple M4",
    "backends": "MTL,BLAS", "model_type": "llama 3B Q8_0", "model_size": 3414061312, "model_n_params": 3212749888,
    "n_threads": 4, "n_gpu_layers": 99, "flash_attn": True, "n_prompt": 512, "n_gen": 0, "n_depth": 1024,
    "test_time": "2026-07-21T18:53:15Z", "avg_ts": 568.141096, "stddev_ts": 11.428976,
    "samples_ts": [576.453, 575.976, 551.994],
}  # fmt: skip


def read(text: str) -> Reading:
    (reading,) = (one for one in read_all(text).readings if one.kind == "llama-bench")
    return reading


def told(results: list[Result]) -> list[tuple]:
    return [(r.params["model"], r.params["test"], r.extra.get("mean"), r.extra.get("stddev")) for r in results]


def test_table_has_model_test_rate_and_devices():
    reading = read(TABLE)
    assert told(reading.results) == [
        ("llama 8B Q4_K - Medium", "pp512", 8125.45, 23.37),
        ("llama 8B Q4_K - Medium", "tg128 @ d4096", 145.55, 0.80),
    ]
    assert {(r.device, r.card, r.unit) for r in reading.results} == {("NVIDIA GeForce RTX 4090 x2", None, "t/s")}
    assert reading.results[0].params["ngl"] == 99
    assert [card.facts["compute_capability"] for card in reading.cards] == ["8.9", "8.9"]
    assert [(s.component, s.version) for s in reading.software] == [("llama-cpp", "b2843 (e8496488)")]
    assert (reading.problems, reading.ignored) == ([], [])


@pytest.mark.parametrize("wrap", ["2026-01-02 03:04:05 {}", "llama-1  | {}", "> {}"])
def test_a_prefix_before_every_line_is_passed_over(wrap):
    wrapped = "\n".join(wrap.format(line) if line else line for line in TABLE.splitlines())
    assert told(read(wrapped).results) == told(read(TABLE).results)


@pytest.mark.parametrize(
    ("head", "row", "expected", "params"),
    [
        ("test | t/s | backend | my_fork | model", "tg 128 | 12.5 | Metal | 1 | llama 7B",
         ("llama 7B", "tg 128", 12.5), {"my_fork": 1}),
        ("cpu_info | model_filename | test | t/s", "AMD Ryzen 9 | tiny.Q8_0 | pp512 | 9.1",
         ("tiny.Q8_0", "pp512", 9.1), {}),
    ],
    ids=["other columns", "file and processor"],
)  # fmt: skip
def test_columns_may_be_others_in_any_order(head, row, expected, params):
    reading = read(f"| {head} |\n{'| --- ' * (head.count('|') + 1)}|\n| {row} |\n")
    assert told(reading.results) == [(*expected, None)]
    assert params.items() <= reading.results[0].params.items()
    assert "AMD" not in row or reading.facts["cpu.model"] == "AMD Ryzen 9"
    assert "AMD" in row or reading.results[0].device == NO_DEVICE


def test_a_table_of_another_benchmark_is_left_alone():
    batched = (
        "|    PP |     TG |    B |   S_PP t/s |\n|-------|--------|------|----------|\n| 512 | 32 | 1 | 2381.35 |\n"
    )
    assert find_llama_bench(batched) == []
    assert len(read(f"{batched}\n\n{TABLE}").results) == 2


def test_out_of_memory_is_a_failed_result():
    failed = (
        "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 9000 MiB on device 0: cudaMalloc failed: out of memory"
    )
    reading = read(f"{DEVICES}{HEADER}{ROWS}{failed}\nmain: error: failed to load model 'x.gguf'\n")
    assert [r.state for r in reading.results] == ["ok", "ok", "failed"]
    assert "out of memory" in reading.results[-1].reason
    assert reading.results[-1].params == {"model": "llama 8B Q4_K - Medium", "test": NO_DEVICE}


def test_several_tables_are_several_readings_of_one_machine():
    one_card = DEVICES.replace("found 2", "found 1").rsplit("  Device 1", 1)[0] + HEADER + ROWS + BUILD
    paste = read_all(f"### one\n{one_card}\n### both\n{TABLE}")
    assert [len(reading.results) for reading in paste.readings] == [2, 2]
    (machine,) = machines(paste)
    assert len(machine.reading.cards) == 2
    assert [result.card for result in machine.reading.results] == [None] * 4  # which of two alike, nobody says


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([OBJECT, OBJECT], indent=2),
        json.dumps(OBJECT) + "\n" + json.dumps(OBJECT) + "\n",
        "$ llama-bench -o json\n" + json.dumps([OBJECT, OBJECT]) + "\n$",
    ],
    ids=["json", "jsonl", "prompt"],
)
def test_json_tells_every_sample(text):
    reading = read(text)
    assert told(reading.results) == [("llama 3B Q8_0", "pp512 @ d1024", 568.141096, 11.428976)] * 2
    result = reading.results[0]
    assert (result.samples, result.device, result.card) == ((576.453, 575.976, 551.994), "Apple M4", 0)
    assert (result.params["size"], result.params["params"], result.params["fa"]) == ("3.18 GiB", "3.21 B", 1)
    assert result.started_at.isoformat() == "2026-07-21T18:53:15+00:00"
    assert (reading.facts["cpu.model"], reading.cards[0].vendor) == ("Apple M4", "apple")


def test_a_torn_list_gives_the_objects_that_are_whole():
    text = json.dumps([OBJECT, OBJECT], indent=2)
    reading = read(text[: len(text) - 300])
    assert len(reading.results) == 1
    assert reading.problems[0].startswith("an object is incomplete")


@pytest.mark.parametrize(
    ("line", "name", "vendor"),
    [
        ("ggml_vulkan: 0 = AMD Radeon RX 7900 XTX (RADV NAVI31) (radv) | uma: 0 | fp16: 1",
         "AMD Radeon RX 7900 XTX", "amd"),
        ("Vulkan0: Intel(R) Arc(TM) A770 Graphics (DG2) | uma: 0 | fp16: 1", "Intel(R) Arc(TM) A770 Graphics", "intel"),
        ("  Device 0: AMD Radeon 8060S Graphics, gfx1151 (0x1151), VMM: no, VRAM: 126976 MiB",
         "AMD Radeon 8060S Graphics", "amd"),
        ("ggml_metal_device_init: GPU name:   Apple M4 Pro", "Apple M4 Pro", "apple"),
        ("| 0| [level_zero:gpu:0]|     Intel Arc A770 Graphics|   12.55|", "Intel Arc A770 Graphics", "intel"),
    ],
)  # fmt: skip
def test_every_back_end_names_its_devices_in_its_own_way(line, name, vendor):
    reading = read(f"llama_x\n{line}\n{HEADER}{ROWS}")
    assert [(card.reported_name, card.vendor) for card in reading.cards] == [(name, vendor)]
    assert {result.device for result in reading.results} == {f"{name} x1"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{" * 5000,
        '{"build_commit":' * 5000,
        HEADER * 500,
        "| test | t/s | model |\n" + "|" * 50000,
        json.dumps({**OBJECT, "avg_ts": "9" * 5000, "samples_ts": [1e309, -1, "x"], "n_prompt": 10**4000}),
        json.dumps({"build_commit": None, "avg_ts": None, "gpu_info": 7, "model_type": []}),
        "build_commit,a,b,c,d,avg_ts\n" + "\x00,,,,,\n" * 100,
    ],
)
def test_nonsense_raises_nothing_and_fits_a_report(text):
    read_llama_bench(text)
    for machine in machines(read_all(text)):
        report = machine.report()
        assert parse_report(to_json(report)).results == report.results


def rows_by_sample(folder: Path) -> dict[str, list[Row]]:
    by_sample: dict[str, list[Row]] = {}
    for row in benchmark_rows(folder):
        by_sample.setdefault(row["sample"], []).append(row)
    return by_sample


def device_agrees(device: str, row: dict[str, str]) -> bool:
    """The truth counts the devices named in a whole file, where several tables in it ran on one of them each."""
    if not row["device"] or row["device"].startswith(NO_DEVICE):
        return device == NO_DEVICE
    if row["sample"] == "llama_bench/014.txt":
        return device in ("AMD Radeon RX 7900 XTX x1", "AMD Radeon RX 7900 XTX x2")
    return device == row["device"]


@pytest.mark.parametrize("folder", SAMPLES)
def test_every_row_of_the_samples_is_right(folder):
    wrong: list[str] = []
    rows = 0
    for name, expected in rows_by_sample(folder).items():
        (machine,) = found = machines(read_all(text_of(folder, name)))
        results = answer(found, packaged_tables())["results"]
        rows += len(expected)
        if len(results) != len(expected):
            wrong.append(f"{name}: {len(results)} rows, not {len(expected)}")
        for result, row in zip(results, expected, strict=False):
            params = result["params"]
            same = (params["model"], params["test"], result["unit"]) == (row["model"], row["test"], row["unit"])
            same &= (result["value"], result["stddev"]) == (float(row["value"]), float(row["stddev"]))
            if not same or not device_agrees(result["device"], row):
                wrong.append(f"{name}: {result} for {row}")
        assert parse_report(to_json(machine.report())).results
    print(f"llama-bench: {rows - len(wrong)} of {rows} rows right")
    assert wrong == []
    assert rows > 30


OWN_DUMPS = (OwnDump(kind="llama-bench", text=TABLE, cards=2),)
