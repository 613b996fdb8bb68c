"""The command on a result's page repeats exactly that result: the agent's own command line reads it."""

import shlex

import pytest

from stackviz.agent.arguments import make_parser
from stackviz.agent.benchmarks.cases import plan_cases
from stackviz.agent.cli import _COMMANDS
from stackviz.benchmarks.reproduce import reproduce_command
from stackviz.measuring import RUNNABLE
from tests.benchmarks.test_measurement import CLEAN, measured


@pytest.mark.parametrize("device", ["cuda:1", "mps", "cpu"])
@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("known", RUNNABLE.values(), ids=lambda known: known.key)
def test_the_agent_runs_that_case_and_no_other(known, device, quick):
    kind = device.partition(":")[0]
    for params in known.cases(kind, False):
        result = measured(
            benchmark_key=known.key, version=known.version, device=device, params=params,
            conditions=CLEAN | {"quick": quick},
        )  # fmt: skip
        _python, _file, *arguments = shlex.split(reproduce_command(result))
        read = make_parser(_COMMANDS).parse_args(arguments)
        assert (read.device, read.benchmark, read.suite == "quick") == ([device], [known.key], quick)
        (case,) = plan_cases([(device, kind)], read.benchmark, suite=read.suite, wanted=read.case)
        assert case.params == params


@pytest.mark.parametrize(
    "changes",
    [
        {"version": 9},
        {"benchmark_key": "made-up"},
        {"device": "toaster"},
        {"params": {"dtype": "bf16", "m": 7, "n": 7, "k": 7}},
        {"params": {"dtype": "bf16; rm -rf /"}},
    ],
)
def test_what_the_agent_does_not_run_has_no_command(changes):
    assert reproduce_command(measured(**changes)) == ""


def test_a_case_that_nothing_has_ends_the_command_with_the_reason(capsys):
    with pytest.raises(SystemExit) as ended:
        make_parser(_COMMANDS).parse_args(["bench", "--case", "dtype=fp3"])
    assert ended.value.code == 2
    assert "--case: no benchmark has a case with these parameters" in capsys.readouterr().err
