"""Benchmarks that several cards take part in: which cases are planned where, and the cards of their results.

The whole is measured by real processes with a toy for torch, the arithmetic by a real torch where there is one.
"""

import json
import subprocess

import pytest

from stackviz.agent.assemble import _forget_lost_cards
from stackviz.agent.benchmarks.cases import plan_cases
from stackviz.agent.benchmarks.run import BenchmarkOptions, run_benchmarks
from stackviz.report.format import hashed_uuid
from stackviz.report.measuring.collectives import COLLECTIVES
from stackviz.report.measuring.host_device import PEER_COPY
from stackviz.report.measuring.nccl_tests import NCCL_TESTS
from stackviz.report.measuring.script import script_of
from tests.agent.processes import TOY_TORCH
from tests.agent.test_benchmarks import ROOT, python_with_torch

UUIDS = [f"GPU-0000000{number}-1111-2222-3333-444455556666" for number in range(3)]
KEYS = ("collectives", "peer-copy")


def cards(*numbers: int) -> list[tuple[str, str]]:
    return [(f"cuda:{number}", "cuda") for number in numbers]


def planned(devices: list[tuple[str, str]], suite: str = "quick") -> list[str]:
    return [str(case) for case in plan_cases(devices, list(KEYS), suite=suite)]


def test_each_card_copies_to_each_other():
    copies = [(1, 0), (2, 0), (0, 1), (2, 1), (0, 2), (1, 2)]
    assert planned(cards(0, 1, 2)) == [
        *(f"collectives {op} fp32 cards 2 64 MiB on cuda:0" for op in ("all-reduce", "all-gather", "reduce-scatter")),
        *(f"peer-copy to {to} cards 2 256 MiB on cuda:{card}" for to, card in copies),
    ]
    assert planned(cards(1, 2)) == [
        f"peer-copy to {to} cards 2 256 MiB on cuda:{card}" for to, card in ((2, 1), (1, 2))
    ]
    plan = planned(cards(*range(8)), "standard")
    assert len([line for line in plan if line.startswith("peer-copy")]) == 8 * 7
    assert {line.split()[4] for line in plan if line.startswith("collectives")} == {"2", "4", "8"}


@pytest.mark.parametrize("devices", [cards(0), cards(3), [("mps", "mps")], [("xpu:0", "xpu"), ("xpu:1", "xpu")]])
def test_where_no_two_cards_are_measured_nothing_is_planned(devices):
    assert planned(devices, "full") == []


def test_results_name_all_cards_and_no_energy_of_one_of_them(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(TOY_TORCH))
    monkeypatch.setenv("TOY_TORCH", json.dumps({"cards": UUIDS}))
    listed = [
        {"index": 5 + number, "vendor": "nvidia", "uuid_hash": hashed_uuid(uuid), "reported_name": "a card"}
        for number, uuid in enumerate(UUIDS)
    ]
    results = run_benchmarks(BenchmarkOptions(suite="quick", devices=("cuda",), benchmarks=KEYS), listed)
    assert {(result["state"], result["reason"]) for result in results} == {("ok", None)}
    used = {(result["benchmark"], result["device"], result["params"].get("to")): result for result in results}
    together, copied = used["collectives", "cuda:0", None], used["peer-copy", "cuda:2", 1]
    assert (together["card"], together["cards"]) == (None, [5, 6])
    assert (copied["card"], copied["cards"]) == (None, [7, 6])
    assert together["energy_j"] == []
    assert (together["conditions"]["nccl_version"], copied["conditions"]["peer_access"]) == ("2.28.9", True)


def test_a_card_that_cannot_be_sent_is_no_card_of_a_result():
    document = {"cards": [{"index": 0}], "results": [{"card": None, "cards": [0, 1]}, {"card": 0, "cards": []}]}
    _forget_lost_cards(document)
    assert [(result["card"], result["cards"]) for result in document["results"]] == [(None, []), (0, [])]


@pytest.mark.parametrize(
    ("operation", "gigabytes"), [("all-reduce", 1.75), ("all-gather", 0.875), ("reduce-scatter", 0.875)]
)
def test_a_collective_counts_what_each_of_eight_cards_sends(operation, gigabytes):
    params = {"op": operation, "dtype": "fp32", "cards": 8, "bytes": 10**9}
    assert COLLECTIVES.rate(params, 1.0) == NCCL_TESTS.rate(params, 1.0) == gigabytes * 1e9
    assert COLLECTIVES.rate(params | {"cards": 1}, 1.0) is None
    assert COLLECTIVES.bounds_of(params) == ()


def test_copy_counts_bytes_once_and_ranks_pairs_together():
    assert PEER_COPY.rate({"to": 3, "bytes": 10**9}, 0.01) == 1e11
    assert PEER_COPY.compared({"to": 3, "cards": 2, "bytes": 5}) == {"cards": 2, "bytes": 5}


@pytest.mark.parametrize("known", [COLLECTIVES, PEER_COPY], ids=lambda known: known.key)
def test_programs_are_python_for_each_case(known):
    for params in known.cases("cuda", False):
        compile(script_of(known, params, "cuda:0"), known.key, "exec")


WITH_CPU_FOR_CARDS = """
import torch
from types import SimpleNamespace
from stackviz.report.measuring import collectives as module
from stackviz.report.measuring.collectives import COLLECTIVES

def all_reduce(inputs, outputs):
    for output in outputs:
        torch.sum(torch.stack(inputs), 0, out=output)

def all_gather(inputs, outputs):
    for output in outputs:
        torch.cat(inputs, out=output)

def reduce_scatter(inputs, outputs):
    for output, part in zip(outputs, torch.stack(inputs).sum(0).chunk(len(outputs))):
        output.copy_(part)

module._devices_used = lambda device, params: ("cpu",) * int(params["cards"])
torch._C._nccl_all_reduce = None
def nothing(inputs, outputs):
    for output in outputs:
        output.zero_()

def alone(inputs, outputs):  # each card does what it can without the others
    for number, (given, output) in enumerate(zip(inputs, outputs)):
        own = given if len(output) >= len(given) else given.chunk(len(inputs))[number]
        output.zero_()[-len(own):].copy_(own) if number else output[:len(own)].copy_(own)

def told(operation, exchange):
    torch.cuda.nccl = SimpleNamespace(
        version=lambda: (2, 28, 9), all_reduce=exchange, all_gather=exchange, reduce_scatter=exchange
    )
    params = {"op": operation, "dtype": "fp32", "cards": 4, "bytes": 2**20}
    prepared = COLLECTIVES.prepare(torch, "cuda:0", params)
    prepared.run()
    return prepared.check(), prepared.conditions["relative_error"]

for operation, exchange in {"all-reduce": all_reduce, "all-gather": all_gather, "reduce-scatter": reduce_scatter}.items():
    print(operation, told(operation, exchange)[0], told(operation, nothing), told(operation, alone)[0][:21])
"""


def test_real_torch_notices_a_wrong_collective():
    done = subprocess.run(
        [python_with_torch(), "-c", WITH_CPU_FOR_CARDS], capture_output=True, text=True, timeout=120, cwd=ROOT, check=False
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        f"{operation} None ('the exchange is wrong: off by 1 of its largest value', 1.0) the exchange is wrong"
        for operation in ("all-reduce", "all-gather", "reduce-scatter")
    ]
