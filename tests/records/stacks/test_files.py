"""The curated files: complete, sourced, and refused with the line when they contradict themselves."""

import re
import shutil
import tomllib

import pytest

from stackviz.draw.diagrams.layers import ROLE_TITLES, Layer
from stackviz.records.curated.rows import CuratedDataError
from stackviz.records.stacks.files import DATA, FILES, read_stack_files, stacks_data_version
from stackviz.report.format import COMPONENTS
from stackviz.report.rules import packaged_tables
from tests.records.catalog.fixtures import change


@pytest.fixture
def folder(tmp_path):
    """A copy of the files that a test may spoil."""
    return shutil.copytree(DATA, tmp_path / "data")


def test_the_files_are_right():
    files = read_stack_files()
    assert list(files.stacks) == [
        "nvidia-cuda", "apple-metal", "nvidia-windows", "nvidia-wsl2", "nvidia-jetson", "nvidia-dgx-spark", "apple-mlx",
        "amd-rocm", "amd-rocm-windows", "intel-xpu", "intel-xpu-windows", "google-tpu", "huawei-cann", "aws-neuron",
        "cpu",
    ]  # fmt: skip


def test_every_stack_has_something_on_all_eight_layers():
    files = read_stack_files()
    for stack, placements in files.placements.items():
        assert {files.components[slug]["layer"] for slug, *_ in placements} == set(Layer), stack


def test_every_component_is_two_sentences_that_are_no_essay():
    for slug, line in read_stack_files().components.items():
        for text in (line["is"], line["does"]):
            assert 20 < len(text) < 260, (slug, text)
            assert not re.search(r"[.!?] [A-Z]", text), (slug, text)


def test_every_component_stands_somewhere():
    files = read_stack_files()
    standing = {slug for placements in files.placements.values() for slug, *_ in placements}
    around = {slug for of_stack in (files.tools, files.beside) for slugs in of_stack.values() for slug in slugs}
    assert files.components.keys() == standing | around


def test_software_shows_version_and_install_commands():
    untold = {
        slug
        for slug, line in read_stack_files().components.items()
        if line["layer"] != "hardware" and not (line.get("see") and line.get("install"))
    }
    assert untold == {"program"}


def test_no_index_of_packages_is_named():
    for name in FILES:
        assert not re.search(r"pypi\.org|files\.pythonhosted|index-url http", (DATA / name).read_text())


def test_every_stack_is_watched_by_something():
    files = read_stack_files()
    assert [stack for stack in files.stacks if not files.tools[stack]] == []
    assert files.tools["nvidia-cuda"]["nvidia-smi"] == ["nvml"]


@pytest.mark.parametrize(
    ("stack", "wanted"),
    [
        ("nvidia-cuda", ("nvidia-driver cuda-runtime cuda-toolkit cuda-driver-api nvcc cublas cudnn nccl cutlass tensorrt triton nvml "
         "torchdynamo aotautograd primtorch torchinductor xla tvm mlir glow pytorch tensorflow jax onnxruntime nvidia-smi dcgm gpustat nvitop "
         "nsight-systems nsight-compute pytorch-profiler")),
        ("apple-metal", ("metal mps mpsgraph mps-kernels accelerate bnns core-ml neural-engine mlx ml-compute coremltools tensorflow-metal "
         "jax-metal instruments powermetrics macmon")),
        ("nvidia-windows", "windows wddm gloo"),
        ("nvidia-wsl2", "wsl dxg windows nvidia-driver cuda-driver-api"),
        ("amd-rocm", "rocm rocr amdgpu-driver miopen rocblas rccl composable-kernel migraphx amd-smi rocm-smi"),
        ("intel-xpu", "sycl level-zero onednn oneccl intel-gpu-driver xpu-smi ipex"),
        ("google-tpu", "libtpu pjrt xla torch-xla tpu-info"),
        ("nvidia-jetson", "jetpack jetson-linux soc-memory dla tensorrt cudnn tegrastats jtop"),
        ("nvidia-dgx-spark", "dgx-os soc-memory nvlink-c2c nccl vllm nvidia-smi dgx-dashboard"),
        ("apple-mlx", "mlx mlx-lm mlx-compile mlx-kernels mlx-distributed metal unified-memory pytorch"),
        ("amd-rocm-windows", "amd-windows-driver hip-sdk hipinfo rocm hipcc miopen rocblas wddm"),
        ("intel-xpu-windows", "intel-windows-driver level-zero sycl onednn xpu-smi wddm"),
        ("aws-neuron", ("torch-neuronx torch-neuron-native jax-neuronx neuronx-cc nki nki-library neuron-collectives nrt neuron-driver "
         "neuron-device neuron-core neuronlink neuron-ls neuron-monitor neuron-top neuron-explorer nxd vllm-neuron efa")),
        ("huawei-cann", "cann torch-npu npu-driver npu-firmware aclnn hccl npu-smi dcmi"),
    ],
)  # fmt: skip
def test_what_people_ask_for_is_on_its_stack(stack, wanted):
    files = read_stack_files()
    there = {slug for slug, *_ in files.placements[stack]} | files.tools[stack].keys() | set(files.beside[stack])
    assert set(wanted.split()) - there == set()


@pytest.mark.parametrize(
    ("stack", "without"),
    [
        ("amd-rocm-windows", "rccl migraphx amdsmi-library amdgpu-driver"),
        ("intel-xpu-windows", "oneccl xpumd intel-gpu-driver"),
        ("nvidia-jetson", "device-memory pcie-nvlink nvml"),
        ("nvidia-dgx-spark", "device-memory pcie-nvlink jetpack"),
        ("aws-neuron", "cudnn cublas torchinductor triton"),
        ("apple-mlx", "mps mpsgraph mps-kernels"),
    ],
)
def test_what_is_missing_there_does_not_stand_on_it(stack, without):
    standing = {slug for slug, *_ in read_stack_files().placements[stack]}
    assert standing & set(without.split()) == set()


def test_every_role_has_a_title_to_translate():
    files = read_stack_files()
    roles = {line["role"] for line in files.components.values()}
    roles |= {role for placements in files.placements.values() for *_, role, _note in placements if role}
    assert roles - ROLE_TITLES.keys() == set()


def test_what_an_agent_reports_on_our_stacks_is_described():
    described = read_stack_files().components.keys()
    assert COMPONENTS.keys() - described == {"hardware"}


@pytest.mark.parametrize(
    ("stack", "driver", "component", "where", "text"),
    [
        (
            "nvidia-cuda",
            "nvidia-driver",
            "cuda-runtime",
            {"platform": "linux"},
            "≥ {12} for CUDA 12, ≥ {13} for CUDA 13",
        ),
        ("apple-metal", "macos", "pytorch", {"part": "mps"}, "≥ {2.9.0} for torch 2.9, ≥ {2.15.0} for 2.15"),
    ],
)
def test_versions_of_a_stack_match_the_tables(stack, driver, component, where, text):
    [written] = [version for slug, version, *_ in read_stack_files().placements[stack] if slug == driver]
    low = {row.version: row.low for row in packaged_tables().rows(component, "needs", driver, **where)}
    assert written == re.sub(r"{([\d.]+)}", lambda match: low[match[1]], text)


@pytest.mark.parametrize(
    ("name", "old", "new", "problem"),
    [
        ("components.toml", 'layer = "framework"', 'layer = "attic"', "unknown layer attic"),
        ("components.toml", 'source = "pytorch-docs"', 'source = "hearsay"', "no source is called hearsay"),
        ("components.toml", 'part_of = "pytorch"', 'part_of = "torch"', "part of the unknown torch"),
        ("components.toml", "data and a device.", "data and a device", "is not a sentence"),
        ("stacks.toml", '"cudnn",', '"cudnnn",', "unknown component cudnnn"),
        ("stacks.toml", '"cudnn",\n  "cublas"', '"cudnn",\n  "cudnn",\n  "cublas"', "holds a component twice"),
        ("stacks.toml", "cublas -> cuda-runtime", "cublas -> metal", "but metal does not stand there"),
        ("stacks.toml", "nvidia-smi -> nvml", "nvidia-smi -> ioreport", "reads ioreport, but ioreport does not stand"),
        ("stacks.toml", '"gpustat -> nvml",', '"nvidia-smi -> nvml",\n  "cudnn -> nvml",', "holds cudnn twice"),
        ("stacks.toml", '"torchvision", ', '"torchvision", "nothing", ', "unknown component nothing beside it"),
        (
            "stacks.toml",
            "gsp-firmware -> compute-cap",
            "gsp-software -> compute-cap",
            "gsp-software does not stand there",
        ),
        ("stacks.toml", "torchinductor -> pytorch 2.0", "torchinductor -> pytorch", "write a component and a release"),
        ("stacks.toml", "torchinductor -> pytorch 2.0", "torchinductor -> torch 2.0", "a release of the unknown torch"),
        ("counterparts.csv", "triton,mps-inductor,", "triton,hip,", "unknown component hip"),
        ("unfilled_roles.csv", "apple-metal,collectives,", "atari,collectives,", "collectives in atari: unknown stack"),
        (
            "unfilled_roles.csv",
            "apple-metal,collectives,",
            "apple-metal,ghosts,",
            "who does collectives in apple-metal?",
        ),
        ("unfilled_roles.csv", "cpu,sparse,mkl", "cpu,sparse,cusparse", "sparse in cpu: the stack has no cusparse"),
        (
            "unfilled_roles.csv",
            "cpu,sparse,mkl",
            "cpu,collectives,mkl",
            "collectives in cpu: a component has this role",
        ),
        ("unfilled_roles.csv", "cpu,sparse,mkl", "apple-mlx,sparse,mlx", "sparse in apple-mlx is listed twice"),
        ("sources.csv", "https://docs.python.org/3/", "a colleague", "has no web address"),
        ("sources.csv", "python-docs,Python documentation", "pytorch-docs,Python documentation", "is listed twice"),
    ],
)
def test_a_wrong_line_is_named(folder, name, old, new, problem):
    change(folder, name, old, new)
    with pytest.raises(CuratedDataError) as refused:
        read_stack_files(folder)
    assert problem in str(refused.value)


def test_hundreds_of_problems_are_cut_to_a_readable_number(folder):
    text = (folder / "counterparts.csv").read_text()
    (folder / "counterparts.csv").write_text(re.sub(r"(?m)^(?!component,)(\w[\w-]*),", r"no-\1,", text))
    with pytest.raises(CuratedDataError) as refused:
        read_stack_files(folder)
    assert len(str(refused.value).splitlines()) == 21


def test_any_byte_changes_the_version(folder):
    before = stacks_data_version(folder)
    assert before == stacks_data_version()
    change(folder, "stacks.toml", "order = 1", "order = 4")
    assert stacks_data_version(folder) != before


def test_text_of_the_components_holds_no_markup():
    text = (DATA / "components.toml").read_text()
    assert tomllib.loads(text)
    assert not re.search(r"<[a-z/]", text)
