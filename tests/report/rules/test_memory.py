"""Out of memory: which of its causes the figures in the message make likely."""

import re

import pytest

from stackviz.report.dumps import machines
from stackviz.report.importers import read_all
from stackviz.report.rules import find, packaged_tables
from tests.report.rules.build import stated

NOW = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {asked}. GPU 0 has a total capacity of 23.64 GiB of "
    "which {free} is free. Process 4711 has 18.02 GiB memory in use. Including non-PyTorch memory, this process has "
    "{process} memory in use. Of the allocated memory {used} is allocated by PyTorch, and {unused} is reserved by "
    "PyTorch but unallocated. If reserved but unallocated memory is large try setting ...\n"
)
BEFORE_2_1 = (
    "RuntimeError: CUDA out of memory. Tried to allocate 512.00 MiB (GPU 0; 11.76 GiB total capacity; 6.10 GiB already "
    "allocated; 210.00 MiB free; 10.60 GiB reserved in total by PyTorch) If reserved memory is >> allocated memory ...\n"
)
MAC = (
    "RuntimeError: MPS backend out of memory (MPS allocated: {used}, other allocations: {others}, max allowed: 18.13 GB). "
    "Tried to allocate 256.00 MB on private pool.\n"
)
WINDOWS = "OS: Microsoft Windows 11 Pro\nPython platform: Windows-10-10.0.22631-SP0\n"


def of_memory(text):
    (machine,) = machines(read_all(text))
    found = [
        finding for finding in find(machine.report(), packaged_tables()) if finding.component in ("pytorch", "mps")
    ]
    assert len(found) == 1, "the message is explained once"
    return found[0]


@pytest.mark.parametrize(
    ("text", "cause", "advice"),
    [
        (NOW.format(asked="2.00 GiB", free="1.31 GiB", process="4.29 GiB", used="3.80 GiB", unused="91.55 MiB"),
         "other programs", "nvidia-smi"),
        (NOW.format(asked="1.00 GiB", free="0.11 GiB", process="23.29 GiB", used="17.10 GiB", unused="5.80 GiB"),
         "fragmented", "expandable_segments:True"),
        (NOW.format(asked="2.00 GiB", free="0.31 GiB", process="23.29 GiB", used="22.70 GiB", unused="91.55 MiB"),
         "too big", "smaller batch"),
        (NOW.format(asked="96.00 GiB", free="23.11 GiB", process="0.29 GiB", used="0.10 GiB", unused="5.80 MiB"),
         "more than the card has", "smaller batch"),
        (BEFORE_2_1, "fragmented", "expandable_segments:True"),
        (MAC.format(used="17.20 GB", others="1.00 GB"), "too big", "PYTORCH_MPS_HIGH_WATERMARK_RATIO"),
        (MAC.format(used="2.20 GB", others="15.90 GB"), "Other allocations", "Close other programs"),
    ],
    ids=["others", "fragmented", "too-big", "never", "fragmented-before-2.1", "mac-too-big", "mac-others"],
)  # fmt: skip
def test_the_figures_decide_which_cause_is_the_likeliest(text, cause, advice):
    found = of_memory(text)
    assert (found.rule, found.severity) == ("out-of-memory", "broken")
    assert cause.lower() in found.title.lower()
    assert advice in found.advice


def test_the_answer_names_the_figures_of_the_message():
    found = of_memory(BEFORE_2_1)
    assert found.title.startswith("Out of memory: 512 MiB asked for, 210 MiB of 11.76 GiB free.")
    assert {"6.10 GiB", "4.50 GiB"} < set(stated(found.explanation))


def test_expandable_segments_are_not_for_windows():
    (machine,) = machines(
        read_all(f"Collecting environment information...\nPyTorch version: 2.9.1\n{WINDOWS}\n{BEFORE_2_1}")
    )
    found = [finding for finding in find(machine.report(), packaged_tables()) if finding.rule == "out-of-memory"]
    assert "max_split_size_mb" in found[0].advice


@pytest.mark.parametrize("text", ["CUDA error: out of memory\n", "RuntimeError: MPS backend out of memory\n"])
def test_a_message_without_figures_has_all_its_causes(text):
    found = of_memory(text)
    assert found.rule == "error-message"
    assert "Most likely: The model" in found.explanation


# --- shared-memory-small ---

BUS_ERROR = "RuntimeError: unable to write to file </torch_1> in shared memory\n"


@pytest.mark.parametrize(
    ("text", "severities"),
    [
        (f"{BUS_ERROR}\n{{}}", ["broken"]),
        ("{}", ["note"]),
    ],
)
@pytest.mark.parametrize("row", ["shm 64M 0 64M 0% /dev/shm", "shm 65536 0 65536 0% /dev/shm"])
def test_the_shared_memory_of_a_new_container_is_named(text, severities, row):
    (machine,) = machines(read_all(text.format(row)))
    found = find(machine.report(), packaged_tables())
    assert [finding.severity for finding in found if finding.rule == "shared-memory-small"] == severities
    assert "error-message" not in [finding.rule for finding in found]


@pytest.mark.parametrize("size", ["8.0G", "65M", "7.8G"])
def test_enough_shared_memory_is_no_finding(size):
    (machine,) = machines(read_all(f"{BUS_ERROR}\nshm {size} 0 {size} 0% /dev/shm"))
    assert machine.reading.facts["memory.shared_bytes"] > 64 * 2**20
    found = find(machine.report(), packaged_tables())
    assert "shared-memory-small" not in [finding.rule for finding in found if finding.severity in ("broken", "note")]
    assert "error-message" in [finding.rule for finding in found]


@pytest.mark.parametrize("tokens", ["41936", "2048"])
def test_the_context_that_vllm_estimates_is_the_one_advised(tokens):
    text = (
        "ValueError: To serve at least one request with the models's max seq len (131072), (16.00 GiB KV cache is "
        "needed, which is larger than the available KV cache memory (5.12 GiB). Based on the available memory, the "
        f"estimated maximum model length is {tokens}. Try increasing `gpu_memory_utilization`"
    )
    [machine] = machines(read_all(text))
    [found] = [found for found in find(machine.report(), packaged_tables()) if found.rule == "out-of-memory"]
    assert re.findall(r"--max-model-len (\d+)", found.advice) == [tokens]
