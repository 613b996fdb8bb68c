"""What people type themselves: bullets, bold labels, forms, tables, one line; and what only looks like it."""

import pytest

from stackviz.report.dumps import answer, machines
from stackviz.report.importers import read_all
from stackviz.report.rules import packaged_tables
from tests.report.importers.own_dump import OwnDump, reading_of

BOLD = "**PyTorch Version**: 2.2.0+cu121\n**GPU**: RTX 5090\n**OS**: Win 11\n"
BULLETS = "- GPU: RTX 3060 12GB\n- OS = Win 11\n- Driver：576.02\n"
ONE_LINE = "Environment: Ubuntu 22.04, CUDA 12.4, PyTorch 2.5.1+cu124, 2x RTX 4090\n"
TABLE = "| Item | Value |\n|---|---|\n| OS | Windows 11 |\n| GPU | RTX 3090 |\n| torch | 2.1.0 (cpu) |\n"
BARE = "- Ubuntu 22.04\n- RTX 3090 24GB\n- PyTorch 2.6.0\n- CUDA 12.4\n"
ROCM_FORM = (
    "### Operating System\n\nUbuntu 24.04.1 LTS\n\n### CPU\n\nAMD Ryzen 9 7950X\n\n### GPU\n\nAMD Radeon RX 7900 XTX\n\n"
    "### ROCm Version\n\nROCm 6.2.3\n"
)
WSL_FORM = (
    "### Windows Version\n\n10.0.22631.4460\n\n### WSL Version\n\n2.3.26.0\n\n"
    "### Kernel Version\n\n5.15.167.4-1\n\n### Distro Version\n\nUbuntu 22.04\n"
)
OWN_DUMPS = (
    OwnDump(
        kind="issue-template",
        text=BOLD,
        facts={"torch.version": "2.2.0+cu121", "torch.cuda_version": "12.1", "os.name": "Windows", "os.version": "11"},
        cards=1,
        rules=("kernels-missing",),
    ),
)


@pytest.mark.parametrize(
    ("text", "facts", "cards"),
    [
        (BULLETS, {"os.name": "Windows", "nvidia.driver_version": "576.02"}, ["NVIDIA GeForce RTX 3060"]),
        (ONE_LINE, {"os.version": "22.04", "torch.version": "2.5.1+cu124"}, ["NVIDIA GeForce RTX 4090"] * 2),
        (TABLE, {"os.name": "Windows", "torch.version": "2.1.0"}, ["NVIDIA GeForce RTX 3090"]),
        (
            BARE,
            {"torch.cuda_version": "12.4", "torch.version": "2.6.0", "os.name": "Ubuntu"},
            ["NVIDIA GeForce RTX 3090"],
        ),
        (ROCM_FORM, {"rocm.version": "6.2.3", "cpu.model": "AMD Ryzen 9 7950X"}, ["AMD Radeon RX 7900 XTX"]),
        (WSL_FORM, {"os.wsl": "2", "os.name": "Ubuntu", "os.kernel": "Linux 5.15.167.4-1"}, []),
    ],
    ids=["bullets", "one-line", "table", "bare", "rocm-form", "wsl-form"],
)
def test_a_list_in_any_shape_is_read(text, facts, cards):
    reading = reading_of(text)
    assert reading.kind == "issue-template"
    assert {name: reading.facts.get(name) for name in facts} == facts
    assert [card.reported_name for card in reading.cards] == cards


TENSORFLOW = (
    "- TensorFlow version: 2.16.1\n- CUDA/cuDNN version: CUDA 12.3, cuDNN 8.9\n- GPU model and memory: RTX 3090\n"
)


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (TENSORFLOW, {"cuda.toolkit_version": "12.3"}),
        ("### JAX version\n\n0.4.30\n\n### CUDA/cuDNN version\n\n12.3\n", {"cuda.toolkit_version": "12.3"}),
        (f"{TENSORFLOW}- PyTorch version: 2.4.0\n", {"torch.cuda_version": "12.3", "torch.version": "2.4.0"}),
        (TENSORFLOW.replace("CUDA 12.3, cuDNN 8.9", "N/A"), {}),
    ],
    ids=["tensorflow", "jax", "both", "no answer"],
)
def test_cuda_of_another_framework_is_not_of_torch(text, facts):
    told = reading_of(text).facts
    assert {name: told[name] for name in told if name.startswith(("cuda.", "torch."))} == facts


@pytest.mark.parametrize(
    ("written", "name", "version", "wsl"),
    [
        ("Win 11", "Windows", "11", None),
        ("windows10", "Windows", "10", None),
        ("Windows 11 Pro", "Windows", "11 Pro", None),
        ("ubuntu22.04", "Ubuntu", "22.04", None),
        ("Ubuntu 24.04 LTS (x86_64)", "Ubuntu", "24.04", None),
        ("WSL2 (Ubuntu 22.04) on Windows 11", "Ubuntu", "22.04", "2"),
        ("Windows 11, WSL 1", "Linux", None, "1"),
        ("macOS Sequoia", "macOS", "15", None),
        ("MacOS 14.5", "macOS", "14.5", None),
        ("Arch Linux", "Arch Linux", None, None),
    ],
)
def test_a_system_as_people_write_it(written, name, version, wsl):
    facts = reading_of(f"- OS: {written}\n- PyTorch: 2.6.0\n").facts
    assert (facts.get("os.name"), facts.get("os.version"), facts.get("os.wsl")) == (name, version, wsl)


@pytest.mark.parametrize(
    ("written", "cards"),
    [
        ("2x RTX 3090 (24GB)", [("NVIDIA GeForce RTX 3090", 24)] * 2),
        ("dual RTX 4090", [("NVIDIA GeForce RTX 4090", None)] * 2),
        ("RTX 3090 (x4)", [("NVIDIA GeForce RTX 3090", None)] * 4),
        ("RTX 4090 + RTX 3090", [("NVIDIA GeForce RTX 4090", None), ("NVIDIA GeForce RTX 3090", None)]),
        ("4x A100 80GB, driver 550.54.14", [("A100 80GB", None)] * 4),
        ("Apple M3 Max", [("Apple M3 Max", None)]),
        ("rtx4070ti super", [("NVIDIA GeForce RTX 4070 Ti SUPER", None)]),
        ("RTX 3060 laptop", [("NVIDIA GeForce RTX 3060 Laptop GPU", None)]),
        ("RTX 4000 Ada", [("RTX 4000 Ada", None)]),
        ("NVIDIA", []),
        ("no GPU", []),
    ],
)
def test_cards_as_people_write_them(written, cards):
    reading = reading_of(f"- GPU: {written}\n- PyTorch: 2.6.0\n")
    sizes = [(card.reported_name, card.memory_bytes and card.memory_bytes / 2**30) for card in reading.cards]
    assert sizes == cards


@pytest.mark.parametrize(
    ("written", "name", "capability"),
    [
        ("NVIDIA GeForce GTX 1050 (compute capability 6.1)", "NVIDIA GeForce GTX 1050", "6.1"),
        ("RTX 3090 24GB, CC 8.6", "NVIDIA GeForce RTX 3090", "8.6"),
        ("Tesla V100 [CUDA capability: 7.0]", "Tesla V100", "7.0"),
        ("RTX 4090", "NVIDIA GeForce RTX 4090", None),
    ],
)
def test_a_capability_behind_a_name_is_the_cards(written, name, capability):
    (card,) = reading_of(f"- GPU: {written}\n- PyTorch: 2.6.0\n").cards
    assert (card.reported_name, card.facts.get("compute_capability")) == (name, capability)


def test_typed_values_give_way_to_a_tool():
    printed = "Cuda compilation tools, release 12.4, V12.4.131\n"
    (machine,) = machines(read_all(f"- CUDA toolkit: 11.8\n- PyTorch: 2.6.0\n\n{printed}"))
    assert machine.reading.facts["cuda.toolkit_version"] == "12.4.131"
    assert {item.found_by for item in machine.reading.software if item.component == "pytorch"} == {"typed by hand"}


@pytest.mark.parametrize(
    "text",
    [
        "INFO device: cuda:0\nepoch: 1\nloss = 0.5\nOS error: 3\n",
        "On my other machine it works:\nGPU: RTX 3090\nOS: Ubuntu 22.04\nPyTorch: 2.5\n",
        "The GPU: it is slow. The OS: who knows?\n",
        "step: 1\nmemory: 3 GB\npython: main.py\n",
    ],
    ids=["log", "another-machine", "prose", "no-answers"],
)
def test_what_only_looks_like_a_list_is_none(text):
    assert "issue-template" not in read_all(text).kinds


def test_the_lines_of_a_tool_are_not_read_as_typed():
    tool = "PyTorch version: 2.6.0+cu124\nIs debug build: False\nCUDA used to build PyTorch: 12.4\nOS: Ubuntu 24.04\n"
    assert read_all(tool).kinds == ("collect-env",)
    assert read_all(f"- GPU: RTX 3090\n- RAM: 64 GB\n\n{tool}").kinds == ("issue-template", "collect-env")


def test_markup_in_an_answer_stays_text():
    reading = reading_of("- GPU: RTX 3090 <img src=x onerror=alert(1)>\n- PyTorch: 2.6.0 <script>alert(1)</script>\n")
    assert reading.cards[0].reported_name == "RTX 3090 <img src=x onerror=alert(1)>"
    assert reading.facts["torch.version"] == "2.6.0"


def test_a_list_stands_above_a_long_log_or_below_it():
    log = "step 12 of 1000: loss 0.3, lr 1e-4, 12.3 it/s, 3.4 GiB\n" * 10_000
    for text in (f"{BOLD}{log}", f"{log}{BOLD}"):
        (machine,) = machines(read_all(text))
        assert machine.reading.facts["torch.version"] == "2.2.0+cu121"


def test_a_card_that_a_tool_lists_is_not_added_by_another_name():
    table = "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-1b6c0f7c-0000-0000-0000-000000000001)\n"
    (machine,) = machines(read_all(f"- GPU: A100 80GB\n- PyTorch: 2.6.0\n\n{table}"))
    assert [card.reported_name for card in machine.reading.cards] == ["NVIDIA A100-SXM4-80GB"]


def test_a_typed_card_and_build_are_enough_to_name_the_cause():
    (machine,) = machines(read_all(BOLD))
    answered = answer([machine], packaged_tables())
    assert [(f["rule"], f["severity"]) for f in answered["findings"]][:1] == [("kernels-missing", "broken")]


def test_packages_as_a_form_pastes_them_in_json_are_read():
    text = '### GPU model\nRTX 5070\n\n{\n    "dependencies": {\n        "python": "3.11.9",\n        "torch": "2.6.0+cu124"\n'
    (reading,) = read_all(text).readings
    assert reading.facts["torch.version"] == "2.6.0+cu124"
    assert [card.reported_name for card in reading.cards] == ["NVIDIA GeForce RTX 5070"]
