"""nvbandwidth: a result for each card and host, and for each pair of cards, from tables and from JSON."""

import json
import time

import pytest

from stackviz.report.format import LIMITS
from stackviz.report.importers import Reading, read_all
from stackviz.report.importers.nvbandwidth import read_nvbandwidth
from stackviz.report.measuring.nccl_tests import NVBANDWIDTH
from tests.report.importers.own_dump import OwnDump, fixture

TEXT = fixture("dumps/tools/nvbandwidth.txt")
A100 = "NVIDIA A100-SXM4-40GB"
DOCUMENT = {
    "nvbandwidth": {
        "CUDA Runtime Version": 12080,
        "Driver Version": "570.86.15",
        "GPU Device list": [f"0: {A100} (00000000:17:00): (lab-node-7)", f"1: {A100} (00000000:65:00): (lab-node-7)"],
        "git_version": "v0.8",
        "testcases": [
            {
                "name": "device_to_device_memcpy_read_ce", "status": "Passed", "sum": 552.01,
                "bandwidth_description": "memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)",
                "bandwidth_matrix": [["N/A", "276.07"], ["275.94", "N/A"]],
            },
            {
                "name": "device_to_device_bidirectional_memcpy_read_ce", "status": "Passed",
                "bandwidth_description": "memcpy CE GPU(row) <-> GPU(column) Total bandwidth (GB/s)",
                "bandwidth_matrix": [
                    ["N/A", "261.2"], ["261.4", "N/A"], ["N/A", "261.3"], ["261.5", "N/A"],
                    ["N/A", "522.5"], ["522.9", "N/A"],
                ],
            },
            {"name": "device_to_device_memcpy_write_sm", "status": "Waived"},
        ],
        "version": "v0.8",
    }
}  # fmt: skip
FACTS = {"nvidia.driver_version": "570.86.15", "cuda.driver_api_version": "12.8"}
OWN_DUMPS = (
    OwnDump(kind="nvbandwidth", text=TEXT, facts=FACTS, cards=2),
    OwnDump(kind="nvbandwidth", text=json.dumps(DOCUMENT, indent=3), facts=FACTS, cards=2),
)


def read(text: str) -> Reading:
    (reading,) = (one for one in read_all(text).readings if one.kind == "nvbandwidth")
    return reading


def told(reading: Reading) -> list[tuple]:
    return [
        (str(result.params["test"]), result.params.get("part"), result.card, result.cards, result.samples[0])
        for result in reading.results
    ]


def test_tables_have_a_result_for_each_card_and_each_pair():
    both = "device_to_device_bidirectional_memcpy_read_ce"
    assert told(read(TEXT)) == [
        ("host_to_device_memcpy_ce", None, 0, (), 24.61e9),
        ("host_to_device_memcpy_ce", None, 1, (), 24.58e9),
        ("device_to_device_memcpy_read_ce", None, None, (0, 1), 276.07e9),
        ("device_to_device_memcpy_read_ce", None, None, (1, 0), 275.94e9),
        (both, "read1", None, (0, 1), 261.2e9),
        (both, "read1", None, (1, 0), 261.4e9),
        (both, "total", None, (0, 1), 522.5e9),
        (both, "total", None, (1, 0), 522.9e9),
    ]


def test_alike_cards_are_devices_of_their_own():
    devices = [result.device for result in read(TEXT).results]
    assert devices[:2] == ["cuda:0", "cuda:1"]
    assert set(devices[2:]) == {f"{A100} x2"}


@pytest.mark.parametrize("test", ["host_to_all_memcpy_ce", "all_to_one_write_sm", "one_to_all_read_ce"])
def test_where_all_cards_are_at_work_a_result_is_of_all_of_them(test):
    """Two cards that share a link to the host are another setting than eight."""
    results = read(TEXT.replace("host_to_device_memcpy_ce", test)).results[:2]
    assert [(result.device, result.card, result.cards) for result in results] == [
        ("cuda:0", None, (0, 1)), ("cuda:1", None, (0, 1))
    ]  # fmt: skip


def test_pairs_of_several_machines_are_told_apart():
    text = TEXT.replace("device_to_device_memcpy", "multinode_device_to_device_memcpy")
    pairs = [result.params for result in read(text).results if "multinode" in str(result.params["test"])]
    assert [(params["row"], params["column"]) for params in pairs] == [(0, 1), (1, 0)]


def test_json_says_what_the_tables_say():
    document = read(json.dumps(DOCUMENT))
    assert told(document) == [row for row in told(read(TEXT)) if row[0].startswith("device") and row[1] != "read1"]
    assert document.results[0].params == {"test": "device_to_device_memcpy_read_ce", "row": 0, "column": 1}


def test_latencies_and_waived_tests_are_no_results():
    reading = read(TEXT)
    assert any("host_device_latency_sm" in line for line in reading.ignored)
    assert not any("latency" in str(result.params["test"]) for result in reading.results)


@pytest.mark.parametrize(
    ("test", "fields"),
    [
        ("host_to_device_memcpy_ce", ["pcie"]),
        ("device_to_host_bidirectional_memcpy_sm", ["pcie"]),
        ("device_local_copy", ["memory_bandwidth_gb_s"]),
        ("device_to_device_memcpy_read_ce", []),
    ],
)
def test_what_crosses_the_link_to_the_host_is_bounded_by_it(test, fields):
    assert [field for bound in NVBANDWIDTH.bounds_of({"test": test}) for field in bound.fields] == fields


def test_all_pairs_of_a_machine_are_ranked_together():
    compared = NVBANDWIDTH.compared({"test": "device_to_device_memcpy_read_ce", "row": 0, "column": 5})
    assert compared == {"test": "device_to_device_memcpy_read_ce"}


@pytest.mark.parametrize("cut", [40, 200, 300, 390])
def test_json_that_is_cut_off_is_said(cut):
    reading = read_nvbandwidth(json.dumps(DOCUMENT)[:cut])
    assert reading.results == []
    assert "the JSON is incomplete" in reading.problems


@pytest.mark.parametrize("matrix", [None, 7, [7], [[None, {}, [], "inf", "-3", "nan", "0", "1e99"]]])
def test_a_matrix_of_nonsense_has_no_rates(matrix):
    test = {"name": "x", "bandwidth_description": "(GB/s)", "bandwidth_matrix": matrix}
    assert read_nvbandwidth(json.dumps({"nvbandwidth": {"testcases": [test]}})).results == []


def test_a_run_on_several_machines_has_no_cards_of_this_one():
    text = TEXT.replace("Device 0:", "Process 0 (lab-node-7): device 0:").replace(
        "Device 1:", "Process 1 (lab-node-8): device 0:"
    )
    reading = read(text)
    assert reading.cards == []
    assert {(result.card, result.cards) for result in reading.results} == {(None, ())}


def test_a_card_and_itself_are_no_pair():
    """A report with such a pair is refused whole."""
    results = read(TEXT.replace("N/A", "1500.25")).results
    assert [result.cards for result in results if len(result.cards) == 2] == [(0, 1), (1, 0)] * 3


@pytest.mark.parametrize("name", ["device_to_device_x", "one_to_all_x"])
def test_of_a_table_without_end_only_what_a_report_holds_is_made(name):
    test = {"name": name, "bandwidth_description": "x (GB/s)", "bandwidth_matrix": [[1] * 400_000]}
    text = json.dumps({"nvbandwidth": {"testcases": [test]}}, separators=(",", ":"))
    started = time.process_time()
    assert len(read_nvbandwidth(text).results) == LIMITS.results
    assert time.process_time() - started < 1.2
