"""The line of a text that reports an error which no message explains: which it is, and of which program."""

import time

import pytest

from stackviz.report.dumps import machines
from stackviz.report.importers import read_all
from stackviz.report.importers.error_lines import find_error_line, read_question
from tests.report.importers.own_dump import OwnDump
from tests.report.rules.build import answer, answers, report

TRACEBACK = """\
(EngineCore_0 pid=77) ERROR 11-02 12:00:00 [core.py:700] EngineCore failed to start.
Traceback (most recent call last):
  File "/home/ann/env/lib/python3.12/site-packages/vllm/engine/core.py", line 7, in run
    self.flavour = pick(7)
ValueError: 7 is no flavour
Traceback (most recent call last):
  File "/home/ann/env/lib/python3.12/site-packages/vllm/entrypoints/api.py", line 9, in main
    raise
RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}
"""
OWN_DUMPS = (
    OwnDump(
        kind="error-line",
        text=TRACEBACK.partition("\n")[2].partition("flavour\n")[0] + "flavour\n",
        facts={"message.unexplained": "ValueError: 7 is no flavour", "message.program": "vllm"},
        rules=("unexplained-error",),
    ),
)


def facts_of(text):
    (machine,) = machines(read_all(text))
    return machine.reading.facts


@pytest.mark.parametrize(
    ("text", "line", "program"),
    [
        (TRACEBACK, "ValueError: 7 is no flavour", "vllm"),
        ("x.cu(3): error: no such thing\nninja: build stopped\nerror: command '/usr/bin/nvcc' failed with exit status 1",
         "x.cu(3): error: no such thing", "build"),
        ("[   12.345678] BUG: unable to handle page fault in amdgpu", "BUG: unable to handle page fault in amdgpu", "amd-kernel"),
        ("thread 'main' panicked at src/main.rs:7: no flavour", "thread 'main' panicked at src/main.rs:7: no flavour", None),
        ("E1102 12:00:00.123456 7 pjrt_client.cc:7] no flavour", "E1102 12:00:00.123456 7 pjrt_client.cc:7] no flavour", "jax"),
        ("loading\nggml_cuda_flavour: failed to pick 7", "ggml_cuda_flavour: failed to pick 7", "llama-cpp"),
        ("Faulting module name: flavour.exe", "Faulting module name: flavour.exe", None),
        ("docker run x\nError response from daemon: no flavour", "Error response from daemon: no flavour", "container"),
        ("错误: mlx 没有这种口味", "错误: mlx 没有这种口味", "mlx"),
    ],
    ids=["traceback", "build", "kernel", "panic", "glog", "log", "windows", "daemon", "chinese"],
)  # fmt: skip
def test_the_line_that_matters_is_chosen(text, line, program):
    facts = facts_of(text)
    assert (facts["message.unexplained"], facts.get("message.program")) == (line, program)


@pytest.mark.parametrize(
    "text",
    [
        "npm ERR! code ELIFECYCLE\nnpm error Lifecycle script failed",
        "step 7: loss 0.3, error rate 0.01, 0 errors",
        "UserWarning: it may be that something failed",
        "RuntimeError: CUDA error: no kernel image is available for execution on the device",
        "GCC version: Could not collect",
        "a diary of the day",
    ],
    ids=["npm", "counter", "warning", "explained", "collect-env", "prose"],
)
def test_what_is_no_unexplained_error_is_none(text):
    assert all(reading.kind != "error-line" for reading in read_all(text).readings)


def test_a_line_is_quoted_without_personal_names():
    facts = facts_of("OSError: cannot open /home/anneliese/model.bin with token=hf_abcdefghijklmnopqrstuvwxyz123456")
    assert "anneliese" not in facts["message.unexplained"]
    assert "abcdefgh" not in facts["message.unexplained"]


def test_a_program_that_only_the_text_names_is_a_guess():
    found = answer("unexplained-error", report(facts_of("I run ollama here\n\nValueError: 7 is no flavour")))
    assert found.explanation.startswith("No rule explains this line; the text around it names ollama.")


def test_an_error_line_below_something_broken_is_not_repeated():
    facts = {"message.symptoms": "driver-too-old", "message.unexplained": "ValueError: 7 is no flavour"}
    assert answers("unexplained-error", report(facts)) == []


def test_a_question_names_the_command_that_tells_more():
    assert read_question("the RTX 4090 is slow").facts["message.program"] == "cuda"
    assert read_question("compiling the chipset driver of a torchlight") is None
    found = answer("unexplained-error", report(dict(read_question("my Radeon does not work with ROCm").facts)))
    assert (found.severity, found.advice) == ("note", "Run this and paste what it prints: rocminfo")


def test_a_log_full_of_errors_costs_a_part_of_a_second():
    """A megabyte in which each line is another error."""
    log = "\n".join(f"RuntimeError: CUDA error {number:x} in {chr(97 + number % 26) * 40}" for number in range(15_000))
    started = time.process_time()
    assert len(find_error_line(log)) == 1
    assert time.process_time() - started < 1
