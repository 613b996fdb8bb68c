"""What Python printed of torch: sessions, one-liners, scripts, sentences; and code that printed nothing."""

import pytest

from stackviz.report.importers import read_all
from tests.report.importers.own_dump import OwnDump, reading_of

SESSION = (
    "Python 3.11.9\n>>> import torch\n>>> torch.__version__\n'2.6.0+cpu'\n>>> torch.cuda.is_available()\nFalse\n"
    ">>> print(torch.version.cuda)\nNone\n"
)
ONE_LINER = (
    '$ python -c "import torch; print(torch.__version__, torch.version.cuda, torch.cuda.is_available())"\n'
    "2.5.1+cu124 12.4 True\n"
)
SCRIPT = (
    "import torch\nprint(torch.__version__)\nprint(torch.cuda.is_available())\nprint(torch.cuda.get_device_name(0))\n"
    "print(torch.cuda.get_device_capability(0))\n\n2.6.0+cu124\nTrue\nNVIDIA GeForce RTX 5090\n(12, 0)\n"
)
PROPERTIES = (
    "In [2]: torch.cuda.get_device_properties(0)\nOut[2]: _CudaDeviceProperties(name='NVIDIA GeForce RTX 3090', major=8, "
    "minor=6, total_memory=24259MB, multi_processor_count=82, L2_cache_size=6MB)\n"
)
OWN_DUMPS = (
    OwnDump(
        kind="torch-facts",
        text=SCRIPT,
        facts={"torch.version": "2.6.0+cu124", "torch.cuda_version": "12.4", "cuda.available": True},
        cards=1,
    ),
)


@pytest.mark.parametrize(
    ("text", "facts", "cards"),
    [
        (SESSION, {"torch.version": "2.6.0+cpu", "cuda.available": False, "torch.cuda_version": None}, []),
        (ONE_LINER, {"torch.version": "2.5.1+cu124", "torch.cuda_version": "12.4", "cuda.available": True}, []),
        (SCRIPT, {}, [("NVIDIA GeForce RTX 5090", None, {"compute_capability": "12.0"})]),
        (PROPERTIES, {}, [("NVIDIA GeForce RTX 3090", 24259 * 2**20, {"multiprocessors": 82})]),
    ],
    ids=["session", "one-liner", "script", "properties"],
)
def test_what_python_printed_is_read(text, facts, cards):
    reading = reading_of(text)
    assert {name: reading.facts.get(name) for name in facts} == facts
    assert [(card.reported_name, card.memory_bytes) for card in reading.cards] == [card[:2] for card in cards]
    assert all(told[2].items() <= card.facts.items() for told, card in zip(cards, reading.cards, strict=True))
    assert (text == SESSION) == ("torch.cuda_version" in reading.absent)


@pytest.mark.parametrize(
    ("typed", "printed", "fact", "value"),
    [
        ("torch.backends.cudnn.version()", "90100", "cudnn.version", "9.1.0"),
        ("torch.backends.cudnn.version()", "8902", "cudnn.version", "8.9.2"),
        ("torch.cuda.nccl.version()", "(2, 21, 5)", "nccl.version", "2.21.5"),
        ("torch.cuda.get_arch_list()", "['sm_50', 'sm_90']", "torch.arch_list", "sm_50 sm_90"),
        ("torch.version.hip", "'6.2.41133-dd7f95766'", "torch.hip_version", "6.2.41133-dd7f95766"),
        ("torch.backends.mps.is_built()", "True", "mps.built", True),
        ("torch.backends.mps.is_available()", "False", "mps.available", False),
        ("torch.xpu.is_available()", "True", "xpu.available", True),
        ("platform.machine()", "'arm64'", "python.arch", "arm64"),
        ("platform.platform()", "'Linux-6.8.0-45-generic-x86_64-with-glibc2.39'", "os.libc", "glibc 2.39"),
        ("ort.get_available_providers()", "['CUDAExecutionProvider', 'CPUExecutionProvider']",
         "onnxruntime.providers", "CUDAExecutionProvider CPUExecutionProvider"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("shape", [">>> {}\n{}\n", 'python -c "import torch; print({})"\n{}\n', "`{}` returns {}\n"])
def test_each_expression_in_each_shape(typed, printed, fact, value, shape):
    assert reading_of(shape.format(typed, printed)).facts[fact] == value


def test_a_list_of_architectures_needs_no_expression():
    assert reading_of("['sm_50', 'sm_60', 'sm_120']\n").facts["torch.arch_list"] == "sm_50 sm_60 sm_120"
    assert reading_of("2.6.0+cu124\n").facts["torch.cuda_version"] == "12.4"


@pytest.mark.parametrize(
    "code",
    [
        "device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\nTrue\n",
        "    if not torch.cuda.is_available():\n        raise RuntimeError\nTrue\n",
        "assert torch.cuda.is_available() == True\n",
        "torch.cuda.is_available() should be True\n",
        "x = torch.version.cuda\n12.4\n",
    ],
)
def test_code_that_prints_nothing_states_nothing(code):
    assert read_all(code).kinds == ()


def test_build_follows_from_its_name_by_default():
    assert reading_of("torch==2.6.0+rocm6.2\n").facts["torch.hip_version"] == "6.2"
    cpu = reading_of("torch==2.1.0+cpu.cxx11.abi\n")
    assert cpu.absent["torch.cuda_version"].reason == "not_applicable"
    assert reading_of("torch==2.6.0+cu124\n\n>>> torch.version.cuda\n'12.6'\n").facts["torch.cuda_version"] == "12.6"
