"""The command on a result's page repeats exactly that result: the agent's own command line reads it."""

import shlex

import pytest

from stackviz.agent.arguments import make_parser
from stackviz.agent.benchmarks.cases import plan_cases
from stackviz.agent.cli import _COMMANDS
from stackviz.records.series.reproduce import reproduce_command
from stackviz.report.measuring import RUNNABLE
from stackviz.report.measuring.collectives import COLLECTIVES
from tests.records.series.test_measurement import CLEAN, measured


@pytest.mark.parametrize("device", ["cuda:1", "mps", "cpu"])
@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("known", RUNNABLE.values(), ids=lambda known: known.key)
def test_the_agent_runs_that_case_and_no_other(known, device, quick):
    kind = device.partition(":")[0]
    for params in known.cases(kind, False):
        used = known.devices_used(device, params)
        if used[0] == device and len(set(used)) == len(used):  # else another card begins it
            check_command(known, device, params, quick=quick)


def check_command(known, device, params, *, quick):
    result = measured(
        benchmark_key=known.key, version=known.version, device=device, params=params,
        conditions=CLEAN | {"quick": quick},
    )  # fmt: skip
    _python, _file, *arguments = shlex.split(reproduce_command(result))
    read = make_parser(_COMMANDS).parse_args(arguments)
    assert (tuple(read.device), read.benchmark) == (known.devices_used(device, params), [known.key])
    assert (read.suite == "quick") is quick
    kind = device.partition(":")[0]
    (case,) = plan_cases([(name, kind) for name in read.device], read.benchmark, suite=read.suite, wanted=read.case)
    assert (case.device, case.params) == (device, params)


def test_what_the_first_cards_do_together_begins_on_the_first():
    for params in COLLECTIVES.cases("cuda", False):
        check_command(COLLECTIVES, "cuda:0", params, quick=False)


@pytest.mark.parametrize(
    "changes",
    [
        {"version": 9},
        {"benchmark_key": "made-up"},
        {"device": "toaster"},
        {"device": "cuda:0 & calc"},
        {"params": {"dtype": "bf16", "m": 7, "n": 7, "k": 7}},
        {"params": {"dtype": "bf16; rm -rf /"}},
    ],
)
def test_what_the_agent_does_not_run_has_no_command(changes):
    assert reproduce_command(measured(**changes)) == ""


def test_an_unknown_case_ends_the_command_with_the_reason(capsys):
    with pytest.raises(SystemExit) as ended:
        make_parser(_COMMANDS).parse_args(["bench", "--case", "dtype=fp3"])
    assert ended.value.code == 2
    assert "--case: no benchmark has a case with these parameters" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("benchmark", "params", "command"),
    [
        ("nccl-tests", {"op": "all-reduce", "dtype": "fp32", "cards": 8, "bytes": 2**30, "place": "in-place"},
         "all_reduce_perf -b 1073741824 -e 1073741824 -d float -g 8"),
        ("nccl-tests", {"op": "all-to-all", "dtype": "int8", "cards": 2, "bytes": 4096}, "alltoall_perf -b 4096 -e 4096 -d int8 -g 2"),
        ("nccl-tests", {"op": "all-reduce", "dtype": "fp8", "cards": 2, "bytes": 64}, "all_reduce_perf -b 64 -e 64 -d f8e4m3 -g 2"),
        ("nccl-tests", {"op": "all-reduce", "dtype": "fp32", "cards": 8, "bytes": 4096, "hosts": 2}, ""),
        ("nccl-tests", {"op": "dance", "dtype": "fp32", "cards": 8, "bytes": 4096}, ""),
        ("nvbandwidth", {"test": "device_to_device_memcpy_read_ce", "row": 0, "column": 1},
         "nvbandwidth -t device_to_device_memcpy_read_ce"),
        ("nccl-tests", {"op": "all-gather", "dtype": "fp8", "cards": 2, "bytes": 4096}, "all_gather_perf -b 4096 -e 4096 -d f8e4m3 -g 2"),
        ("nccl-tests", {"op": "all-reduce", "cards": 8, "bytes": 4096}, ""),
        ("nccl-tests", {"op": "all-reduce", "dtype": "fp32 & calc", "cards": 8, "bytes": 4096}, ""),
        ("nvbandwidth", {"test": "x; rm -rf /"}, ""),
        ("nvbandwidth", {"test": "-h"}, ""),
        ("nvbandwidth", {"test": "x\u202e"}, ""),
        ("nvbandwidth", {}, ""),
    ],
)  # fmt: skip
def test_what_another_tool_measured_has_the_command_of_that_tool(benchmark, params, command):
    assert reproduce_command(measured(benchmark_key=benchmark, version=1, device="x", params=params)) == command
