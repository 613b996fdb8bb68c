"""What a check proves: a kernel that ran, a GPU that is not used and why, a line of an article."""

import subprocess
import sys

import pytest

from stackviz.report.dumps import answer, machines
from stackviz.report.importers import read_all
from stackviz.report.importers.gpu_check import CHECK_SCRIPTS
from stackviz.report.rules import packaged_tables
from tests.report.rules.build import answers, linux

TABLES = packaged_tables()
CUDA = "check torch 2.9.1+cu130 | cuda | NVIDIA GeForce RTX 4090 | 25282281472 | float16 | True\n"


def diagnosis_of(text):
    paste = read_all(text)
    return answer(machines(paste), TABLES)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (CUDA, ("A kernel ran on cuda, NVIDIA GeForce RTX 4090, 23.55 GiB, and its result is right (torch 2.9.1+cu130, "
               "float16)")),
        ("check mlx 0.32.2 | Device(gpu, 0) | Apple M3 Max | 137438953472 | float16 | True",
         "A kernel ran on gpu, Apple M3 Max, 128 GiB, and its result is right (mlx 0.32.2, float16)"),
        ("check jax 0.12.0 | gpu | NVIDIA L4 |  | float16 | True",
         "A kernel ran on gpu, NVIDIA L4, and its result is right (jax 0.12.0, float16)"),
        ("MPS available: True", "torch reports that it can use a GPU: mps.available is true"),
        ("MPS 是否可用: True", "torch reports that it can use a GPU: mps.available is true"),
        (">>> torch.cuda.is_available()\nTrue", "torch reports that it can use a GPU: cuda.available is true"),
    ],
    ids=["cuda", "mlx", "jax", "article", "chinese", "session"],
)  # fmt: skip
def test_a_check_says_what_it_has_proven(text, verdict):
    assert diagnosis_of(text)["verdict"] == verdict


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("torch.cuda.is_available(): False", "build for processors"),
        ("torch.cuda.is_available() returns False", "build for processors"),
        (">>> torch.cuda.is_available()\nFalse", "build for processors"),
        ("CUDA available: False", "build for processors"),
        ("CUDA可用: False", "build for processors"),
        ("PyTorch是否支持GPU: False", "build for processors"),
        ("GPU是否可用：否", "build for processors"),
        ("MPS available: False", "Intel program"),
        ("check jax 0.12.0 | cpu | cpu |  | float16 | True", "plug-in for the card"),
    ],
)
def test_a_gpu_that_is_not_used_has_its_likeliest_causes(text, cause):
    [found] = [each for each in diagnosis_of(text)["findings"] if each["rule"] == "gpu-unused"]
    assert (found["severity"], cause in found["explanation"]) == ("warning", True)
    assert found["explanation"].count(": ") >= 3


def test_a_wrong_result_is_broken():
    [found] = diagnosis_of(CUDA.replace("True", "False"))["findings"]
    assert (found["severity"], "its result is wrong" in found["title"]) == ("broken", True)


def test_a_whole_report_is_left_to_the_rules_that_compare_it():
    assert answers("gpu-unused", linux(cuda__available=False)) == []


@pytest.mark.parametrize("script", CHECK_SCRIPTS.values(), ids=CHECK_SCRIPTS)
def test_a_check_script_is_one_line_for_every_shell(script):
    compile(script, "check", "exec")
    assert not set('"$`\\!\n') & set(script)


def test_what_a_check_script_prints_is_read():
    """By the script for torch itself, with a torch that only has what the script asks for."""
    torch = (
        "import types, sys; t = types.ModuleType('torch'); sys.modules['torch'] = t; t.__version__ = '2.9.1+cu130'; "
        "t.float16 = 'float16'; t.ones = lambda *a, **k: Ones(); "
        "Ones = type('Ones', (), {'__matmul__': lambda s, o: s, '__eq__': lambda s, o: s, 'all': lambda s: True}); "
        "t.cuda = types.SimpleNamespace(get_device_name=lambda: 'NVIDIA L4', get_device_properties=lambda i: "
        "types.SimpleNamespace(total_memory=24152899584)); "
    )
    printed = subprocess.run(
        [sys.executable, "-c", torch + CHECK_SCRIPTS["torch-cuda"]], capture_output=True, text=True, check=True
    ).stdout
    assert diagnosis_of(printed)["verdict"].startswith("A kernel ran on cuda, NVIDIA L4, 22.49 GiB")
