"""What was read wrong once: new labels, lost marks, systems inside systems, cards that do not answer."""

import pytest

from stackviz.report.importers import read_all
from tests.report.importers import nvidia_dumps as dumps
from tests.report.importers.own_dump import reading_of

ENV = """\
PyTorch version: 2.6.0
Is debug build: False
CUDA used to build PyTorch: Could not collect
ROCM used to build PyTorch: N/A
OS: Microsoft Windows 11 Pro (10.0.22631 64-bit)
Python version: 3.11.9 (tags/v3.11.9:de54cf5, Apr  2 2024, 10:12:12) [MSC v.1938 64 bit (AMD64)] (64-bit runtime)
Is CUDA available: False
CUDA runtime version: 12.4.131
GPU models and configuration: GPU 0: NVIDIA GeForce RTX 4090
Nvidia driver version: 566.03
cuDNN version: Could not collect
"""
R610 = """\
| NVIDIA-SMI 610.22                 KMD Version: 610.22            CUDA UMD Version: 13.3   |
|                                   Driver Version: Deprecated     CUDA Version: Deprecated |
+-----------------------------------------+------------------------+------------------------+
|   0  NVIDIA GeForce RTX 5090      WDDM  |   00000000:01:00.0  On |                    N/A |
|  0%   41C    P8             12W /  575W |    1024MiB /  32607MiB |      0%     Prohibited |
+-----------------------------------------+------------------------+------------------------+
"""
R610_Q = (
    "==============NVSMI LOG==============\n\nDriver Version : Deprecated\nCUDA Version : Deprecated\n"
    "KMD Version : 610.22\nCUDA UMD Version : 13.3\n\nAttached GPUs : 1\nGPU 00000000:01:00.0\n"
    "    Product Name : NVIDIA L4\n    Compute Mode : Prohibited\n"
)
R610_VERSION = (
    "NVIDIA-SMI version  : 610.22\nNVML version        : 610.22\nDRIVER version      : Deprecated\n"
    "KMD Version         : 610.22\nCUDA Version        : Deprecated\nCUDA UMD Version    : 13.3\n"
)
INTERNAL_DTD = """\
<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log [
<!ELEMENT nvidia_smi_log (timestamp, driver_version, attached_gpus, gpu*)>
<!ELEMENT timestamp (#PCDATA)>
<!ATTLIST gpu id CDATA "none">
]>
<nvidia_smi_log>
 <driver_version>304.64</driver_version><attached_gpus>1</attached_gpus>
 <gpu id="0000:01:00.0"><product_name>Tesla K20c</product_name><compute_mode>Prohibited</compute_mode>
  <fb_memory_usage><total>4799 MB</total></fb_memory_usage>
  <retired_pages><pending_retirement>Yes</pending_retirement></retired_pages></gpu>
</nvidia_smi_log>
"""
LINUX_ENV = (
    "PyTorch version: 2.6.0+cu124\nIs debug build: False\nOS: {}\nPython platform: {}\nIs CUDA available: False\n"
)


@pytest.mark.parametrize("text", [R610, R610_Q, R610_VERSION], ids=["table", "q", "version"])
def test_r610_driver_line_and_deprecated_versions_are_read(text):
    facts = reading_of(text).facts
    assert (facts["nvidia.driver_version"], facts["cuda.driver_api_version"]) == ("610.22", "13.3")
    assert "os.wsl" not in facts


@pytest.mark.parametrize("text", [R610, R610_Q, INTERNAL_DTD], ids=["table", "q", "xml"])
def test_a_card_that_is_closed_to_programs(text):
    assert reading_of(text).cards[0].facts["compute_mode"] == "prohibited"


def test_xml_entities_are_refused_declarations_skipped():
    reading = reading_of(INTERNAL_DTD)
    (card,) = reading.cards
    assert (reading.facts["nvidia.driver_version"], card.reported_name) == ("304.64", "Tesla K20c")
    assert (card.memory_bytes, card.facts["remap_pending"]) == (4799 * 2**20, True)
    for entity in ('<!ENTITY x "y">', '<!ENTITY % x "y">', '<!ENTITY x SYSTEM "file:///etc/passwd">'):
        (reading,) = read_all(INTERNAL_DTD.replace("<!ATTLIST", f"{entity}<!ATTLIST")).readings
        assert (reading.cards, dict(reading.facts)) == ([], {})
        assert "entity" in reading.problems[0]


def test_defaults_of_attributes_are_not_multiplied():
    default = f'<!ATTLIST gpu id CDATA "{"x" * 100_000}">'
    text = INTERNAL_DTD.replace('<!ATTLIST gpu id CDATA "none">', default).replace(
        "</gpu>", "</gpu>" + "<gpu/>" * 50_000
    )
    assert len(reading_of(text).cards) <= 64  # 5 GB if each of them had it


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace("version: 2", "version 2").replace("available: F", "available F"),
        lambda text: text.replace("driver version: ", "driver version  ").replace("version: 2.6", "version   2.6"),
        lambda text: text.replace(": ", "：").replace("(", "（").replace(")", "）"),
        lambda text: f"Collecting environment information...{text}",
        lambda text: f"Collecting environment information... {text}",
    ],
    ids=["no-colon", "no-colon-blanks", "full-width", "joined", "joined-blank"],
)
def test_marks_that_got_lost_change_nothing(damage):
    whole, damaged = reading_of(ENV), reading_of(damage(ENV))
    assert damaged.kind == "collect-env"
    assert {**damaged.facts} == {**whole.facts}
    assert [card.reported_name for card in damaged.cards] == ["NVIDIA GeForce RTX 4090"]


@pytest.mark.parametrize(
    ("system", "platform", "arch", "wsl"),
    [
        ("macOS 14.5 (arm64)", "macOS-14.5-arm64-arm-64bit", "arm64", None),
        ("macOS 14.5 (arm64)", "macOS-14.5-x86_64-i386-64bit", "x86_64", None),
        ("Ubuntu 20.04.6 LTS (x86_64)", "Linux-4.4.0-19041-Microsoft-x86_64-with-glibc2.31", "x86_64", "1"),
        ("Ubuntu 22.04 LTS (x86_64)", "Linux-5.15.167.4-microsoft-standard-WSL2-x86_64-with-glibc2.35", "x86_64", "2"),
        ("Ubuntu 22.04 LTS (x86_64)", "Linux-3.10.0-1160.el7.x86_64-x86_64-with-glibc2.35", "x86_64", None),
        ("Ubuntu 22.04 LTS (aarch64)", "Linux-6.8.0-1015-nvidia-aarch64-with-glibc2.35", "aarch64", None),
    ],
)
def test_architecture_and_wsl_follow_from_the_platform(system, platform, arch, wsl):
    reading = reading_of(LINUX_ENV.format(system, platform))
    assert (reading.facts["python.arch"], reading.facts.get("os.wsl")) == (arch, wsl)
    assert [found.version for found in reading.software if found.component == "wsl"] == ([wsl] if wsl else [])


def test_card_without_answer_counts_as_lost():
    reading = reading_of(
        dumps.TABLE.replace("NVIDIA H100 80GB HBM3          On ", "ERR!                         ERR! ")
    )
    assert reading.facts["nvidia.cards_lost"] == 1
    assert [card.reported_name for card in reading.cards] == ["NVIDIA RTX 6000 Ada Gene..."]


@pytest.mark.parametrize("text", ["torch==2.6.0+cpu\n", "2.6.0+cpu\n", "- PyTorch: 2.6.0+cpu\n- OS: Win 11\n"])
def test_the_build_for_the_processor_is_one_thing_in_any_shape(text):
    assert reading_of(text).absent["torch.cuda_version"].reason == "not_applicable"
