"""nccl-tests: a result for each size and place, of an operation that the text names or that its bandwidths tell."""

import time

import pytest

from stackviz.report.format import LIMITS, Result
from stackviz.report.importers import Reading, read_all
from stackviz.report.importers.nccl_tests import read_nccl_tests
from stackviz.report.measuring.nccl_tests import NCCL_TESTS
from tests.report.importers.own_dump import OwnDump, fixture

NEW, OLD = fixture("dumps/tools/nccl_tests.txt"), fixture("dumps/tools/nccl_tests_old.txt")
UNNAMED = "\n".join(line for line in NEW.splitlines() if "all_reduce" not in line)
OWN_DUMPS = (
    OwnDump(kind="nccl-tests", text=NEW, cards=4),
    OwnDump(kind="nccl-tests", text=OLD),
)
HEAD = """\
# nThread 1 nGpus 2 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
# Using devices
#  Rank  0 Group  0 Pid   7 on lab device  0 [0x07] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid   7 on lab device  1 [0x0a] NVIDIA H100 80GB HBM3
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
"""


def read(text: str) -> Reading:
    (reading,) = (one for one in read_all(text).readings if one.kind == "nccl-tests")
    return reading


def rate(result: Result) -> float:
    found = NCCL_TESTS.rate(result.params, result.samples[0])
    assert found is not None
    return found


def test_each_size_has_a_result_for_both_places_on_all_cards():
    results = read(NEW).results
    assert [(result.params["bytes"], result.params.get("place")) for result in results] == [
        (size, place) for size in (2**20, 2**25, 2**30) for place in ("out-of-place", "in-place")
    ]  # fmt: skip
    largest = results[4]
    assert largest.params == {"op": "all-reduce", "dtype": "fp32", "cards": 4, "bytes": 2**30, "place": "out-of-place"}
    assert (largest.device, largest.card, largest.cards) == ("NVIDIA A100-SXM4-40GB x4", None, (0, 1, 2, 3))
    assert largest.samples == pytest.approx((0.0176125,))
    assert largest.conditions == {"mean_of_runs": True, "nccl_version": "2.28.9"}


def test_rate_is_the_printed_bus_bandwidth():
    assert [round(rate(result) / 1e9, 1) for result in read(NEW).results] == [54.0, 54.0, 89.5, 90.0, 91.4, 91.6]
    assert rate(read(OLD).results[0]) == pytest.approx(22.5e9, rel=1e-3)


def test_cards_of_two_machines_are_none_of_this_one():
    (first, second) = read(OLD).results
    assert (first.params["hosts"], first.params["cards"], first.cards) == (2, 4, ())
    assert second.params["place"] == "in-place"
    masked = read(OLD.replace("lab-node-7", "host").replace("lab-node-8", "host"))
    assert masked.results[0].params["hosts"] == 2
    assert masked.cards == []


@pytest.mark.parametrize("host", ["lab-node-7", "host"])
def test_processes_that_see_one_card_each_are_on_one_machine(host):
    """A launcher that binds cards to ranks shows each process one card, number 0; the bus tells them apart."""
    bound = NEW.replace("lab-node-7", host)
    for number in (1, 2, 3):
        bound = bound.replace(f"device  {number} ", "device  0 ")
    reading = read(bound)
    assert [(card.index, card.reported_name) for card in reading.cards] == [
        (number, "NVIDIA A100-SXM4-40GB") for number in range(4)
    ]
    assert {(result.cards, result.params.get("hosts")) for result in reading.results} == {((0, 1, 2, 3), None)}


@pytest.mark.parametrize("between", ["", "\n", "# Avg bus bandwidth    : 71.0402\n#\n"])
def test_runs_of_a_loop_are_apart(between):
    """Together they were one run on twice the cards, of the last operation."""
    first = NEW.partition("\n")[2]
    text = first + between + first.replace("all_reduce", "all_gather")
    readings = [reading for reading in read_all(text).readings if reading.kind == "nccl-tests"]
    assert [(reading.results[0].params["op"], reading.results[0].cards) for reading in readings] == [
        ("all-reduce", (0, 1, 2, 3)), ("all-gather", (0, 1, 2, 3)),
    ]  # fmt: skip
    assert [len(reading.results) for reading in readings] == [6, 6]
    old = [reading for reading in read_all(OLD * 3).readings if reading.kind == "nccl-tests"]
    assert [reading.results[0].params["cards"] for reading in old] == [4, 4, 4]


@pytest.mark.parametrize(
    ("program", "operation"),
    [
        ("all_gather_perf", "all-gather"), ("reduce_scatter_perf", "reduce-scatter"), ("alltoall_perf", "all-to-all"),
        ("sendrecv_perf", "send-receive"), ("/opt/nccl-tests/build/broadcast_perf_mpi", "broadcast"),
    ],
)  # fmt: skip
def test_the_command_above_names_the_operation(program, operation):
    row = "        4096          1024     float    none      -1    10.00    0.41    0.20      0    10.00    0.41    0.20    N/A\n"
    results = read(f"$ {program} -g 2\n{HEAD}{row}").results
    assert {result.params["op"] for result in results} == {operation}


def test_without_a_name_the_ratio_of_the_bandwidths_tells():
    assert {result.params["op"] for result in read(UNNAMED).results} == {"all-reduce"}
    scattered = UNNAMED.replace("  60.96   91.45", "  60.96   45.72").replace("  61.07   91.60", "  61.07   45.80")
    scattered = scattered.replace("  59.64   89.46", "  59.64   44.73").replace("  59.97   89.96", "  59.97   44.98")
    scattered = scattered.replace("  35.97   53.95", "  35.97   26.98").replace("  36.01   54.01", "  36.01   27.00")
    assert {result.params["op"] for result in read(scattered).results} == {"reduce-scatter"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (UNNAMED.replace("  sum ", " none "), "which operation"),
        ("\n".join(line for line in NEW.splitlines() if "Rank" not in line), "which cards"),
        ("\n".join(line for line in NEW.splitlines() if "Rank  1" not in line and "Rank  2" not in line
                   and "Rank  3" not in line), "one card"),
        (HEAD, "no row"),
    ],
)  # fmt: skip
def test_what_cannot_be_told_is_said_and_no_result(text, problem):
    reading = read_nccl_tests(text)
    assert reading.results == []
    assert any(problem in said for said in reading.problems)


@pytest.mark.parametrize(
    ("head", "out_of_place", "in_place", "states"),
    [
        (HEAD, "10.00 0.41 0.41 0", "10.00 0.41 0.41 17", ["ok", "17 values were wrong"]),
        (HEAD.replace("#", ""), "10.00 0.41 0.41 17", "10.00 0.41 0.41 0", ["17 values were wrong", "ok"]),
        (HEAD, "1e999 0.41 0.41 0", "10.00 0.41 0.41 0", ["it states no figure", "ok"]),
        (HEAD, "0.00 0.00 0.00 0", "5.54 0.00 0.00 0", []),  # fewer elements than cards
    ],
)
def test_wrong_values_fail_the_size_they_are_in(head, out_of_place, in_place, states):
    size = "4096 1024" if states else "0 0"
    reading = read_nccl_tests(f"$ all_reduce_perf\n{head}    {size} float sum -1 {out_of_place} {in_place}\n")
    assert [result.reason or result.state for result in reading.results] == states
    assert [bool(result.samples) for result in reading.results] == [state == "ok" for state in states]
    assert bool(reading.problems) is False


def test_columns_of_per_iteration_reports_are_passed_over():
    head = HEAD.splitlines()[:-1]
    head.append("#  size  count  type  redop  root  time  algbw  busbw  #wrong  i_min  i_max  i_p99  i_cv%  time  algbw  busbw  #wrong  i_min  i_max  i_p99  i_cv%  timestamp")  # fmt: skip
    row = "4194304 1048576 float sum -1 100.0 41.94 41.94 0 99 120 119 4.1 200.0 20.97 20.97 0 99 120 119 4.1 2026-11-28T10:00:00\n"
    first, second = read_nccl_tests("$ all_reduce_perf\n" + "\n".join(head) + "\n" + row).results
    assert (*first.samples, *second.samples) == pytest.approx((1e-4, 2e-4))


def test_lines_of_nccl_between_the_rows_tell_its_version():
    line = "lab3:17:17 [0] NCCL INFO NCCL version 2.27.3+cuda12.4\n"
    noisy = NEW.replace("nccl-library=22809", "").replace("     1048576  ", f"{line}     1048576  ")
    reading = read(noisy)
    assert (len(reading.results), reading.results[0].conditions["nccl_version"]) == (6, "2.27.3")
    assert read_all(noisy).not_understood == ()


def test_thousands_of_cards_are_counted_once():
    """A line of them, and as many rows as a report holds results: 8 s of a request that may take 1.5 s."""
    cards = "".join(f"Rank  {number} Pid 7 on lab device 0 [0x07] {'x' * 120} " for number in range(4500))
    row = "  4096 1024 float sum -1 10.00 0.41 0.20 0 10.00 0.41 0.20 0\n"
    started = time.process_time()
    (reading,) = read_all(
        f"$ all_reduce_perf\n{HEAD.replace('#       size', f'# {cards}{chr(10)}# size')}{row * 3900}"
    ).readings
    assert time.process_time() - started < 2.0
    assert len(reading.results) == LIMITS.results
    assert reading.results[0].params["cards"] == 4502
