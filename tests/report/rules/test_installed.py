"""JAX, TensorFlow, vLLM and MLX as people paste them, under drivers, Pythons and systems that run them or do not."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from stackviz.report.dumps.machines import machines
from stackviz.report.format import Software
from stackviz.report.importers import read_all
from stackviz.report.rules import find, packaged_tables
from tests.report.rules.build import answer, answers, card, linux, mac

TABLES = packaged_tables()
NVIDIA_SMI = """\
Tue Nov 24 10:01:12 2026
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI {driver:<23}Driver Version: {driver:<15}CUDA Version: {cuda:<9}|
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
|   0  {card:<34} On  |   00000000:01:00.0 Off |                  N/A |
|  0%   34C    P8              20W / 350W |       0MiB /  24576MiB |      0%      Default |
|                                         |                        |                  N/A |
+-----------------------------------------+------------------------+----------------------+
"""
FRAMEWORKS = ("jax-", "tensorflow-", "vllm-", "mlx-")


def smi(driver, cuda, name="NVIDIA GeForce RTX 3090"):
    return NVIDIA_SMI.format(driver=driver, cuda=cuda, card=name)


def pip_list(**versions):
    rows = {name.replace("_", "-"): version for name, version in versions.items()}
    lines = [f"{name:<25} {version}" for name, version in rows.items()]
    return "\n".join(["Package                   Version", "------------------------- -----------", *lines, "", ""])


def pip_freeze(**versions):
    return "".join(f"{name.replace('_', '-')}=={version}\n" for name, version in versions.items())


def problems_of(text):
    """Rule -> (severity, title) of what the diagnosis says of the frameworks in a paste."""
    [machine] = machines(read_all(text))
    report = replace(machine.report(), created_at=datetime(2026, 11, 29, tzinfo=UTC))
    findings = find(report, TABLES)
    return {each.rule: (each.severity, each.title) for each in findings if each.rule.startswith(FRAMEWORKS)}


JAX_13 = pip_list(
    jax="0.12.0.1", jax_cuda13_pjrt="0.12.0.1", jax_cuda13_plugin="0.12.0.1", jaxlib="0.12.0.1",
    nvidia_cublas="13.1.0.3", nvidia_cuda_runtime="13.0.96", nvidia_cudnn_cu13="9.14.0.64",
)  # fmt: skip
JAX_12 = pip_list(jax="0.12.0.1", jax_cuda12_plugin="0.12.0.1", jaxlib="0.12.0.1", nvidia_cuda_runtime_cu12="12.9.79")
JAX_OLD = pip_freeze(jax="0.4.30", jax_cuda12_pjrt="0.4.30", jax_cuda12_plugin="0.4.30", jaxlib="0.4.30")
VLLM = pip_freeze(vllm="0.33.0", torch="2.14.0", transformers="4.60.0", nvidia_cuda_runtime="13.0.96")
VLLM_12 = pip_freeze(vllm="0.19.1", torch="2.10.0", triton="3.6.0", nvidia_cuda_runtime_cu12="12.8.90")
TENSORFLOW = pip_list(
    keras="3.5.0", numpy="1.26.4", tensorflow="2.18.0", nvidia_cuda_runtime_cu12="12.5.82", nvidia_cudnn_cu12="9.3.0.75"
)
TENSORFLOW_CPU = pip_list(keras="3.5.0", numpy="1.26.4", tensorflow_cpu="2.18.0", torch="1.13.1+cu116")
MLX_13 = pip_list(mlx="0.32.4", mlx_cuda_13="0.32.4", numpy="2.3.4", nvidia_cublas="13.1.0.3")
MLX_12 = pip_list(mlx="0.31.1", mlx_cuda_12="0.31.1", numpy="2.3.4")
MLX_CPU = pip_list(mlx="0.32.4", mlx_cpu="0.32.4", numpy="2.3.4")


@pytest.mark.parametrize(
    ("text", "rule", "title"),
    [
        (
            JAX_13 + smi("550.54.14", "12.4", "NVIDIA A100-SXM4-80GB"),
            "jax-driver",
            "JAX 0.12.0.1 [cuda13] for CUDA 13.0 needs driver 580 or newer: has 550.54.14",
        ),
        (
            JAX_OLD + smi("470.239.06", "11.4"),
            "jax-driver",
            "JAX 0.4.30 [cuda12] for CUDA 12.1 needs driver 525.60.13 or newer: has 470.239.06",
        ),
        (
            JAX_13 + smi("580.95.05", "13.0", "Tesla V100-SXM2-32GB"),
            "jax-card",
            "JAX 0.12.0.1 [cuda13] needs compute capability 7.5 or newer: Tesla V100-SXM2-32GB has 7.0",
        ),
        (
            VLLM + smi("535.183.01", "12.2", "NVIDIA GeForce RTX 4090"),
            "vllm-driver",
            "vLLM 0.33.0 for CUDA 13.0 needs driver 580.65.06 or newer: has 535.183.01",
        ),
        (
            VLLM_12 + smi("470.239.06", "11.4"),
            "vllm-driver",
            "vLLM 0.19.1 for CUDA 12.8 needs driver 525.60.13 or newer: has 470.239.06",
        ),
        (
            TENSORFLOW + smi("470.239.06", "11.4", "Tesla T4"),
            "tensorflow-driver",
            "TensorFlow 2.18.0 for CUDA 12.5 needs driver 525.60.13 or newer: has 470.239.06",
        ),
        (
            TENSORFLOW + smi("550.54.14", "12.4", "NVIDIA GeForce GTX TITAN X"),
            "tensorflow-card",
            "TensorFlow 2.18.0 needs compute capability 6.0 or newer: NVIDIA GeForce GTX TITAN X has 5.2",
        ),
        (
            MLX_13 + smi("570.86.15", "12.8"),
            "mlx-driver",
            "MLX 0.32.4 [cuda13] for CUDA 13 needs driver 580 or newer: has 570.86.15",
        ),
        (
            MLX_12 + smi("470.239.06", "11.4"),
            "mlx-driver",
            "MLX 0.31.1 [cuda12] for CUDA 12 needs driver 525.60.13 or newer: has 470.239.06",
        ),
    ],
)
def test_a_release_that_a_plan_refuses_is_broken(text, rule, title):
    assert problems_of(text)[rule] == ("broken", title)


@pytest.mark.parametrize(
    "text",
    [
        JAX_13 + smi("580.95.05", "13.0"),
        JAX_12 + smi("550.54.14", "12.4"),
        JAX_12 + smi("580.95.05", "13.0", "Tesla V100-SXM2-32GB"),
        JAX_OLD + smi("535.183.01", "12.2"),
        "Python 3.10.12\n" + JAX_OLD + smi("535.183.01", "12.2"),
        VLLM + smi("580.95.05", "13.0", "NVIDIA GeForce RTX 4090"),
        VLLM_12 + smi("535.183.01", "12.2"),
        pip_freeze(vllm="0.33.0", torch="2.14.0+cu126") + smi("535.183.01", "12.2"),
        pip_freeze(vllm="0.33.0+cu129", torch="2.14.0") + smi("535.183.01", "12.2"),
        TENSORFLOW + smi("535.183.01", "12.2", "Tesla T4"),
        "Python 3.12.4\n" + TENSORFLOW + smi("535.183.01", "12.2", "Tesla T4"),
        TENSORFLOW_CPU + smi("470.239.06", "11.4", "Tesla T4"),
        MLX_13 + smi("580.95.05", "13.0"),
        MLX_12 + smi("550.90.07", "12.4"),
        MLX_CPU + smi("470.239.06", "11.4"),
        pip_list(mlx="0.32.4", mlx_metal="0.32.4") + "ProductName: macOS\nProductVersion: 15.5\nBuildVersion: 24F74\n",
        pip_list(jax="0.12.0.1", jaxlib="0.12.0.1", mlx="0.32.4"),
    ],
)
def test_a_release_that_runs_has_no_finding(text):
    assert problems_of(text) == {}


def packages(found_by="package metadata", **versions):
    return tuple(Software(name.replace("_", "-"), version, found_by) for name, version in versions.items())


JAX_13_ALONE = packages(jax="0.12.0.1", jax_cuda_plugin="0.12.0.1+cuda13")


def test_the_advice_is_the_release_that_a_plan_names():
    seen = linux(card(), software=JAX_13_ALONE, nvidia__driver_version="550.54.14", cuda__available=None)
    found = answer("jax-driver", seen)
    assert 'A release for this driver: pip install "jax[cuda12]==0.12.0.1"' in found.advice
    assert found.advice.startswith("Update the NVIDIA driver to 580 or newer.")


def test_a_torch_that_uses_the_card_with_that_cuda_speaks_against_it():
    seen = linux(card(), software=JAX_13_ALONE, nvidia__driver_version="550.54.14")
    assert answer("jax-driver", seen).severity == "warning"


def test_a_driver_without_its_system_may_not_decide():
    windows_only = linux(
        software=packages(jax="0.5.0", jax_cuda_plugin="0.5.0+cuda12"), os__name=None, nvidia__driver_version="526.98"
    )
    assert answer("jax-driver", windows_only).severity == "cannot-tell"


@pytest.mark.parametrize(
    "changes",
    [
        {"software": packages(jax="0.12.0.1", jax_cuda_plugin="0.12.0.1")},
        {"software": JAX_13_ALONE, "env__ld_library_path": "/usr/local/cuda/compat"},
        {"software": packages(tensorflow="2.18.0"), "os__name": "Windows"},
    ],
)
def test_what_is_not_known_to_fail_is_not_judged(changes):
    seen = linux(card(), nvidia__driver_version="470.239.06", **changes)
    assert [*answers("jax-driver", seen), *answers("tensorflow-driver", seen)] == []


def test_two_plug_ins_are_judged_by_the_older_cuda():
    both = (*packages(jax="0.12.0.1", jax_cuda_plugin="0.12.0.1+cuda13"), *packages(jax_cuda_plugin="0.12.0.1+cuda12"))
    assert answer("jax-driver", linux(software=both, nvidia__driver_version="550.54.14")).severity == "fits"


# --- Python ---


@pytest.mark.parametrize(
    ("text", "rule", "title"),
    [
        ("Python 3.14.0\n" + TENSORFLOW.replace("2.18.0", "2.18.1"), "tensorflow-python", "Python 3.14"),
        ("Python 3.11.9\n" + JAX_13, "jax-python", "JAX 0.12.0.1 has no wheel for Python 3.11"),
        ("Python 3.9.21\n" + VLLM, "vllm-python", "vLLM 0.33.0 has no wheel for Python 3.9"),
        ("Python 3.9.21\n" + MLX_13, "mlx-python", "MLX 0.32.4 has no wheel for Python 3.9"),
    ],
)
def test_a_python_without_a_wheel_is_noted(text, rule, title):
    severity, words = problems_of(text)[rule]
    assert (severity, title in words) == ("note", True)


def test_an_agent_that_imports_it_is_not_doubted():
    seen = linux(software=packages(tensorflow="2.18.1"), python__version="3.14.0")
    assert answers("tensorflow-python", seen) == []


# --- the toolkit ---


@pytest.mark.parametrize(("toolkit", "severity"), [("13.0.88", "fits"), ("12.4.131", "note")])
def test_a_plug_in_without_libraries_needs_the_toolkit(toolkit, severity):
    seen = linux(software=JAX_13_ALONE, cuda__toolkit_version=toolkit)
    assert answer("jax-toolkit", seen).severity == severity


def test_libraries_of_pip_need_no_toolkit():
    seen = linux(software=(*JAX_13_ALONE, *packages(cuda_runtime="13.0.96")), cuda__toolkit_version="12.4.131")
    assert answers("jax-toolkit", seen) == []


# --- macOS ---


def test_the_advice_names_the_last_release_for_this_macos():
    found = answer("mlx-old-macos", mac(software=packages(mlx="0.32.4"), os__version="13.6.1"))
    assert found.advice == "Update macOS, or install a release of MLX before 0.30.0."
