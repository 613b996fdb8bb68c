"""Environment reports of every tool and age: what they tell, and the three ways in which they do not."""

import time

import pytest

from stackviz.report.importers import Reading, read_all
from tests.report.importers import small_dumps
from tests.report.importers.own_dump import OwnDump, fixture

CLASSIC = """\
Collecting environment information...
PyTorch version: 2.7.1+cu126
Is debug build: False
CUDA used to build PyTorch: 12.6
ROCM used to build PyTorch: N/A

OS: Rocky Linux release 9.4 (Blue Onyx) (x86_64)
GCC version: (GCC) 11.4.1 20231218 (Red Hat 11.4.1-3)
Clang version: Could not collect
CMake version: version 3.26.5
Libc version: glibc-2.34

Python version: 3.11.9 | packaged by conda-forge | (main, Apr 19 2026, 18:36:13) [GCC 12.3.0] (64-bit runtime)
Python platform: Linux-5.14.0-427.el9.x86_64-x86_64-with-glibc2.34
Is CUDA available: True
CUDA runtime version: Could not collect
CUDA_MODULE_LOADING set to: LAZY
GPU models and configuration:
GPU 0: NVIDIA A100-SXM4-40GB
  MIG 3g.20gb     Device  0:
  MIG 2g.10gb     Device  1:
GPU 1: NVIDIA A100-SXM4-40GB

Nvidia driver version: 560.35.03
cuDNN version: Probably one of the following:
/usr/lib64/libcudnn.so.9.5.1
/usr/lib64/libcudnn_ops.so.9.5.1
Is XPU available: False
HIP runtime version: N/A
MIOpen runtime version: N/A
Is XNNPACK available: True
Caching allocator config: N/A

CPU:
Architecture:                         x86_64
CPU(s):                               128
Model name:                           AMD EPYC 7763 64-Core Processor
Core(s) per socket:                   64
Socket(s):                            1
CPU max MHz:                          3529,0520
Flags:                                fpu sse4_2 avx2 fma
L3 cache:                             256 MiB (8 instances)
Hypervisor vendor:                    Microsoft
Vulnerability Spectre v1:             Mitigation; usercopy/swapgs barriers

Versions of relevant libraries:
[pip3] flash-attn==2.8.1
[pip3] nvidia-cudnn-cu12==9.5.1.17
[pip3] torch==2.7.1+cu126
[pip3] torchvision==0.22.1
[conda] torch                     2.7.1+cu126              pypi_0    pypi
"""


def one(text: str) -> Reading:
    (reading,) = read_all(text).readings
    return reading


def software(reading: Reading) -> dict[str, list[str | None]]:
    told: dict[str, list[str | None]] = {}
    for found in reading.software:
        told.setdefault(found.component, []).append(found.version)
    return told


# ---- torch.utils.collect_env ----------------------------------------------------------------------------------------


def test_a_report_tells_system_python_torch_and_processor():
    reading = one(CLASSIC)
    expected = {
        "os.name": "Rocky Linux",
        "os.version": "9.4",
        "os.arch": "x86_64",
        "os.kernel": "Linux 5.14.0-427.el9.x86_64",
        "os.libc": "glibc 2.34",
        "python.version": "3.11.9",
        "torch.version": "2.7.1+cu126",
        "torch.cuda_version": "12.6",
        "cuda.available": True,
        "xpu.available": False,
        "nvidia.driver_version": "560.35.03",
        "cudnn.version": "9.5.1",
        "cudnn.libraries": "/usr/lib64/libcudnn.so.9.5.1 /usr/lib64/libcudnn_ops.so.9.5.1",
        "cpu.model": "AMD EPYC 7763 64-Core Processor",
        "cpu.cores_physical": 64,
        "cpu.cores_logical": 128,
        "cpu.clock_max_hz": 3529.052e6,
        "cpu.features": "avx2 fma sse4_2",
        "cpu.cache_last_level_bytes": 32 * 2**20,
        "machine.virtualization": "hyperv",
    }
    assert {name: reading.facts.get(name) for name in expected} == expected
    assert (reading.problems, reading.ignored, read_all(CLASSIC).not_understood) == ([], [], ())


def test_packages_are_software_with_who_said_so():
    told = software(one(CLASSIC.replace("torchvision==0.22.1", "scipy==1.16.0\n[pip] numpy (1.15.0)")))
    assert told["numpy"] == ["1.15.0"]  # as torch 0.4 wrote it
    assert (told["flash-attn"], told["gcc"], told["cmake"]) == (["2.8.1"], ["11.4.1"], ["3.26.5"])
    assert told["cudnn"] == ["9.5.1", "9.5.1.17"]
    assert told["pytorch"] == ["2.7.1+cu126"]
    assert "clang" not in told


def test_instances_stand_after_the_whole_cards():
    cards = one(CLASSIC).cards
    assert [card.reported_name for card in cards] == [
        "NVIDIA A100-SXM4-40GB",
        "NVIDIA A100-SXM4-40GB",
        "NVIDIA A100-SXM4-40GB MIG 3g.20gb",
        "NVIDIA A100-SXM4-40GB MIG 2g.10gb",
    ]
    assert [card.facts.get("mig_parent_index") for card in cards] == [None, None, 0, 0]


@pytest.mark.parametrize(
    ("written", "system", "reason"),
    [
        ("Could not collect", "Ubuntu 24.04 LTS (x86_64)", "not_reported"),
        ("N/A", "Ubuntu 24.04 LTS (x86_64)", "not_applicable"),
        ("No CUDA", "Ubuntu 24.04 LTS (x86_64)", "not_installed"),
        ("No CUDA", "macOS 15.3 (arm64)", "not_applicable"),
    ],
)
def test_three_ways_of_not_telling_are_three_reasons(written, system, reason):
    text = CLASSIC.replace("Nvidia driver version: 560.35.03", f"Nvidia driver version: {written}")
    text = text.replace("Rocky Linux release 9.4 (Blue Onyx) (x86_64)", system)
    absent = one(text).absent["nvidia.driver_version"]
    assert (absent.reason, absent.detail) == (reason, f"collect_env says {written}")


@pytest.mark.parametrize(
    ("written", "name", "version", "arch"),
    [
        ("Mac OSX 10.14.1", "macOS", "10.14.1", None),
        ("macOS 15.3.1 (arm64)", "macOS", "15.3.1", "arm64"),
        ("Microsoft Windows 10 Pro", "Windows", "10 Pro", None),
        ("Microsoft Windows 11 Pro (10.0.22631 64-bit)", "Windows", "11 Pro", None),
        ("Майкрософт Windows 11 Домашняя", "Windows", "11 Домашняя", None),
        ("Fedora release 34 (Thirty Four) (x86_64)", "Fedora", "34", "x86_64"),
        ("Debian GNU/Linux 12 (bookworm) (aarch64)", "Debian GNU/Linux", "12", "aarch64"),
        ("Arch Linux (x86_64)", "Arch Linux", None, "x86_64"),
        ("openSUSE Leap 15.5 (x86_64)", "openSUSE Leap", "15.5", "x86_64"),
        ("CentOS Linux release 7.5.1804 (Core)", "CentOS Linux", "7.5.1804", None),
        ("Red Hat Enterprise Linux 9.2 (Plow) (ppc64le)", "Red Hat Enterprise Linux", "9.2", "ppc64le"),
    ],
)
def test_systems_are_named_without_what_surrounds_them(written, name, version, arch):
    facts = one(CLASSIC.replace("Rocky Linux release 9.4 (Blue Onyx) (x86_64)", written)).facts
    assert (facts["os.name"], facts.get("os.version"), facts.get("os.arch")) == (name, version, arch)


@pytest.mark.parametrize(
    ("listed", "problems"),
    [
        ("2.7.1", []),  # without the local part it is the same release
        ("2.7.1+cu128", ["torch versions disagree: 2.7.1+cu126, 2.7.1+cu128"]),
        ("2.6.0", ["torch versions disagree: 2.6.0, 2.7.1+cu126"]),
    ],
)
def test_torch_versions_disagree_by_release_or_build(listed, problems):
    assert one(CLASSIC.replace("[pip3] torch==2.7.1+cu126", f"[pip3] torch=={listed}")).problems == problems


ROCM = """\
PyTorch version: 2.6.0+rocm6.2.4
Is debug build: False
CUDA used to build PyTorch: N/A
ROCM used to build PyTorch: 6.2.41134-65d174c3e
OS: Ubuntu 24.04.1 LTS (x86_64)
Is CUDA available: True
CUDA runtime version: Could not collect
GPU models and configuration: AMD Radeon RX 7900 XTX (gfx1100)
Nvidia driver version: Could not collect
cuDNN version: Could not collect
HIP runtime version: 6.2.41134
MIOpen runtime version: 3.2.0
"""


def test_a_build_for_rocm_names_its_first_card_and_its_target():
    reading = one(ROCM)
    assert reading.facts["torch.hip_version"] == "6.2.41134-65d174c3e"
    assert (reading.facts["rocm.hip_runtime_version"], reading.facts["rocm.miopen_version"]) == ("6.2.41134", "3.2.0")
    (card,) = reading.cards
    assert (card.vendor, card.reported_name, card.facts["gfx_target"]) == ("amd", "AMD Radeon RX 7900 XTX", "gfx1100")
    assert reading.absent["torch.cuda_version"].reason == "not_applicable"


XPU = """\
PyTorch version: 2.8.0+xpu
Is debug build: False
CUDA used to build PyTorch: None
OS: Microsoft Windows 11 Pro (10.0.26100 64-bit)
Is CUDA available: False
CUDA runtime version: No CUDA
GPU models and configuration: No CUDA
Is XPU available: True
XPU used to build PyTorch: 20250101
Intel GPU driver version:
* 32.0.101.6987 (20250708000000.******+***)
Intel GPU models onboard:
* Intel(R) Arc(TM) B580 Graphics
Intel GPU models detected:
* [0] _XpuDeviceProperties(name='Intel(R) Arc(TM) B580 Graphics', driver_version='1.6.33890', total_memory=11874MB)
HIP runtime version: N/A

CPU:
Name: 13th Gen Intel(R) Core(TM) i5-13400F
Architecture: 9
Versions of relevant libraries:
[pip3] torch==2.8.0+xpu
"""


def test_an_intel_card_comes_with_driver_and_memory():
    reading = one(XPU)
    (card,) = reading.cards
    assert (card.vendor, card.reported_name) == ("intel", "Intel(R) Arc(TM) B580 Graphics")
    assert (card.memory_bytes, card.facts["driver_version"]) == (11874 * 2**20, "1.6.33890")
    assert reading.facts["xpu.available"] is True
    assert reading.facts["cpu.model"] == "13th Gen Intel(R) Core(TM) i5-13400F"
    assert "cpu.arch" not in reading.facts  # Windows answers with a number
    assert (reading.facts["os.version"], reading.facts["os.build"]) == ("11 Pro", "10.0.26100")
    (without_size,) = one(XPU.replace(", total_memory=11874MB", "")).cards
    assert (without_size.memory_bytes, "memory_bytes" in without_size.absent) == (None, True)


def test_a_mac_tells_its_chip_as_the_processor():
    mac = CLASSIC.replace("Rocky Linux release 9.4 (Blue Onyx) (x86_64)", "macOS 15.3 (arm64)")
    start, end = mac.index("CPU:\n"), mac.index("Versions of relevant")
    facts = one(mac[:start] + "CPU:\nApple M3 Max\n\n" + mac[end:]).facts
    assert (facts["cpu.model"], facts["apple.chip"]) == ("Apple M3 Max", "Apple M3 Max")


def test_paths_tell_no_name_of_a_home_folder():
    reading = one(CLASSIC.replace("/usr/lib64/libcudnn.so", "/home/marie.curie/cuda/libcudnn.so"))
    assert "marie" not in str(reading)
    assert reading.facts["cudnn.libraries"].startswith("~/cuda/libcudnn.so.9.5.1 ")


@pytest.mark.parametrize("cut", range(60, len(CLASSIC), 97))
def test_half_a_report_is_read_as_far_as_it_goes(cut):
    head, tail = read_all(CLASSIC[:cut]), read_all(CLASSIC[cut:])
    kinds = {reading.kind for part in (head, tail) for reading in part.readings}
    assert kinds <= {"collect-env", "package-list"}  # of the tail, the packages may be all that is left
    assert head.readings or tail.readings


def test_text_around_a_report_is_not_understood():
    paste = read_all(f"My training hangs.\n\n{CLASSIC}\nPlease help, it is urgent.\n\n{ROCM}")
    assert [reading.facts["torch.version"] for reading in paste.readings] == ["2.7.1+cu126", "2.6.0+rocm6.2.4"]
    assert paste.not_understood == ("My training hangs.", "Please help, it is urgent.")


def test_a_strange_line_inside_is_listed():
    assert one(CLASSIC.replace("Is XNNPACK", "Is FLUXCAP charged\nIs XNNPACK")).ignored == ["Is FLUXCAP charged"]


# ---- vLLM -----------------------------------------------------------------------------------------------------------

VLLM = """\
$ docker exec -it box vllm collect-env
Collecting environment information...
==============================
        System Info
==============================
OS                           : Ubuntu 22.04.5 LTS (x86_64)
Libc version                 : glibc-2.35

==============================
       PyTorch Info
==============================
PyTorch version              : 2.9.1+cu129
Is debug build               : False
CUDA used to build PyTorch   : 12.9

==============================
       CUDA / GPU Info
==============================
Is CUDA available            : True
CUDA runtime version         : 12.9.86
GPU models and configuration :
GPU 0: NVIDIA L4
GPU 1: NVIDIA L4

Nvidia driver version        : 580.82.07
cuDNN version                : Could not collect

==============================
          CPU Info
==============================
Architecture:                            x86_64
CPU(s):                                  16
Model name:                              Intel(R) Xeon(R) CPU @ 2.20GHz

==============================
Versions of relevant libraries
==============================
[pip3] torch==2.9.1+cu129
[conda] Could not collect

==============================
         vLLM Info
==============================
ROCM Version                 : Could not collect
vLLM Version                 : 0.11.2
vLLM Build Flags:
  CUDA Archs: 8.9; ROCm: Disabled
GPU Topology:
  \tGPU0\tGPU1\tCPU Affinity
GPU0\t X \tPHB\t0-15
GPU1\tPHB\t X \t0-15

==============================
     Environment Variables
==============================
LD_LIBRARY_PATH=/usr/local/cuda/lib64:/home/ada/lib
CUDA_VISIBLE_DEVICES=0,1
"""


def test_vllms_sections_are_one_report_with_a_topology_inside():
    paste = read_all(VLLM)
    assert paste.kinds == ("vllm-env", "nvidia-smi-topo")
    reading = paste.readings[0]
    assert reading.facts["os.name"] == "Ubuntu"
    assert (reading.facts["torch.version"], reading.facts["nvidia.driver_version"]) == ("2.9.1+cu129", "580.82.07")
    assert (reading.facts["machine.container"], reading.facts["cuda.visible_devices"]) == ("docker", "0,1")
    assert reading.facts["env.ld_library_path"] == "/usr/local/cuda/lib64:~/lib"
    assert (reading.facts["cpu.model"], len(reading.cards)) == ("Intel(R) Xeon(R) CPU @ 2.20GHz", 2)
    assert software(reading)["vllm"] == ["0.11.2"]
    assert (reading.ignored, paste.not_understood) == ([], ())


# ---- Hugging Face ---------------------------------------------------------------------------------------------------

TRANSFORMERS = """\
Copy-and-paste the text below in your GitHub issue and FILL OUT the two last points.

- `transformers` version: 4.44.0
- Platform: Linux-6.5.0-41-generic-x86_64-with-glibc2.35
- Python version: 3.10.12
- Huggingface_hub version: 0.24.5
- Safetensors version: 0.4.4
- Accelerate version: 0.33.0
- Accelerate config: \tnot found
- PyTorch version (GPU?): 2.4.0+cu121 (True)
- Tensorflow version (GPU?): not installed (NA)
- Jax version: not installed
- Using distributed or parallel set-up in script?: <fill in>
- Using GPU in script?: <fill in>
- GPU type: NVIDIA RTX A6000
"""


def test_transformers_tells_torch_with_its_cuda_and_one_card():
    paste = read_all(TRANSFORMERS)
    assert (paste.kinds, paste.not_understood) == (("transformers-env",), ())
    (reading,) = paste.readings
    assert (reading.facts["torch.version"], reading.facts["torch.cuda_version"]) == ("2.4.0+cu121", "12.1")
    assert (reading.facts["cuda.available"], reading.facts["os.kernel"]) == (True, "Linux 6.5.0-41-generic")
    assert (reading.facts["os.name"], reading.absent["os.version"].reason) == ("Linux", "not_reported")
    assert [(card.vendor, card.reported_name) for card in reading.cards] == [("nvidia", "NVIDIA RTX A6000")]
    told = software(reading)
    assert (told["transformers"], told["hf-accelerate"]) == (["4.44.0"], ["0.33.0"])
    assert "jax" not in told


@pytest.mark.parametrize(
    ("accelerator", "facts"),
    [
        ("CUDA", {"cuda.available": True}),
        ("MPS", {"mps.available": True, "mps.built": True}),
        ("XPU", {"xpu.available": True}),
        ("N/A", {}),
    ],
)
def test_accelerate_names_what_torch_computes_on(accelerator, facts):
    reading = one(small_dumps.ACCELERATE.replace("MPS", accelerator))
    names = ("cuda.available", "mps.available", "mps.built", "xpu.available")
    assert {name: reading.facts[name] for name in names if name in reading.facts} == facts
    assert (reading.facts["os.name"], reading.facts["os.version"]) == ("macOS", "15.3.1")


def test_diffusers_lists_cards_with_their_memory():
    reading = one(small_dumps.DIFFUSERS)
    assert (reading.facts["os.name"], reading.facts["os.version"]) == ("Windows", "10")
    assert reading.cards[0].memory_bytes == 24564 * 2**20


# ---- templates and other tools --------------------------------------------------------------------------------------


def template(**values: str) -> str:
    labels = {
        "torch": "PyTorch Version (e.g., 1.0)",
        "os": "OS (e.g., Linux)",
        "how": "How you installed PyTorch (`conda`, `pip`, source)",
        "python": "Python version",
        "cuda": "CUDA/cuDNN version",
        "gpu": "GPU models and configuration",
    }
    return "".join(f" - {label}: {values.get(name, '')}\n" for name, label in labels.items())


def test_a_template_filled_in_by_hand_is_read():
    reading = one(
        template(torch="1.13.1 (stable)", os="Ubuntu 20.04", cuda="11.7 / 8.5", gpu="2x RTX 3090", python="3.10")
    )
    assert reading.kind == "issue-template"
    expected = {
        "torch.version": "1.13.1",
        "os.name": "Ubuntu",
        "os.version": "20.04",
        "torch.cuda_version": "11.7",
        "cudnn.version": "8.5",
        "python.version": "3.10",
    }
    assert {name: reading.facts.get(name) for name in expected} == expected
    assert [card.reported_name for card in reading.cards] == ["NVIDIA GeForce RTX 3090"] * 2


def test_an_empty_template_says_that_there_is_nothing_to_read():
    reading = one(template())
    assert (dict(reading.facts), reading.cards) == ({}, [])
    assert reading.problems == ["nothing to read: the template is empty"]


@pytest.mark.parametrize("written", ["n/a", "None", "CPU", "no GPU"])
def test_no_card_is_no_card(written):
    assert one(template(torch="2.0", gpu=written)).cards == []


XFORMERS = """\
xFormers 0.0.31
memory_efficient_attention.cutlassF-pt:            available
is_triton_available:                               True
pytorch.version:                                   2.7.1+cu128
pytorch.cuda:                                      available
gpu.compute_capability:                            8.9
gpu.name:                                          NVIDIA GeForce RTX 4090
build.info:                                        available
build.cuda_version:                                1208
build.hip_version:                                 None
build.python_version:                              3.9.21
build.torch_version:                               2.7.1+cu128
source.privacy:                                    open source
"""


def test_xformers_tells_torch_and_the_first_card():
    reading = one(XFORMERS)
    assert reading.kind == "xformers-info"
    assert (reading.facts["torch.version"], reading.facts["cuda.available"]) == ("2.7.1+cu128", True)
    assert reading.cards[0].facts["compute_capability"] == "8.9"
    assert software(reading)["xformers"] == ["0.0.31"]
    assert "python.version" not in reading.facts  # it tells what it was built with


def test_xformers_built_for_another_torch_is_a_problem():
    text = XFORMERS.replace("build.torch_version:                               2.7.1", "build.torch_version:  2.6.0")
    assert one(text).problems == ["torch versions disagree: 2.6.0+cu128, 2.7.1+cu128"]


def test_detectron2_tells_cards_of_several_numbers():
    reading = one(small_dumps.DETECTRON2.replace("0.6 @/opt", "failed to import"))
    assert reading.facts["torch.version"] == "1.10.0+cu113"
    assert [card.facts["compute_capability"] for card in reading.cards] == ["8.6", "8.6"]
    assert reading.problems == ["detectron2 failed to import"]


@pytest.mark.parametrize(("numbers", "count"), [((0,), 1), ((0, 1), 2), ((3,), None)])
def test_dmon_counts_cards_and_names_none(numbers, count):
    rows = "".join(f"    {number}    15    59     3     4     -\n" for number in numbers) * 3
    reading = one(f"# gpu   pwr  temp    sm   mem   enc\n# Idx     W     C     %     %     %\n{rows}")
    assert (reading.kind, reading.facts.get("nvidia.card_count")) == ("nvidia-smi-dmon", count)
    assert [(card.index, card.reported_name) for card in reading.cards] == [(n, "NVIDIA GPU") for n in numbers]


# ---- hostile --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "PyTorch version: 2\nIs debug build: False\nOS: " + "a (" * 50_000,
        CLASSIC + "[pip3] " * 60_000,
        "GPU models and configuration: " + "GPU 0: x\n" * 50_000,
        "- `transformers` version: 1\n- Platform: " + "-x86_64" * 50_000 + "\n- Python version: " + "3." * 30_000,
        " - CUDA/cuDNN version: " + "1.0/" * 30_000 + "\n - GPU models and configuration: " + "x * 9," * 30_000,
        "sys.platform  linux\n" + "a  b\n" * 50_000,
        "CPU(s): 1\nArchitecture: x86_64\n" * 30_000,
        "MemTotal: 1 kB\n" * 50_000,
        "\n" * 300_000 + "Hardware Overview:\n" * 30_000,
        "Agent 1\nHSA System Attributes\n" * 30_000,
    ],
    ids=range(10),
)
def test_long_and_hostile_reports_end_in_bounded_time(text):
    started = time.monotonic()
    for reading in read_all(text).readings:
        assert len(reading.cards) <= 64
    assert time.monotonic() - started < 60


OWN_DUMPS = (
    OwnDump(
        kind="collect-env",
        text=fixture("dumps/collect_env_cuda.txt"),
        facts={"torch.version": "2.13.0+cu130", "os.name": "Ubuntu"},
        cards=2,
    ),
    OwnDump(kind="collect-env", text=CLASSIC, facts={"torch.version": "2.7.1+cu126"}, cards=4, rules=("mig-on",)),
    OwnDump(kind="collect-env", text=ROCM, facts={"torch.hip_version": "6.2.41134-65d174c3e"}, cards=1),
    OwnDump(kind="collect-env", text=XPU, facts={"os.name": "Windows", "xpu.available": True}, cards=1),
    OwnDump(kind="vllm-env", text=VLLM, facts={"torch.version": "2.9.1+cu129"}, cards=2),
    OwnDump(
        kind="transformers-env",
        text=TRANSFORMERS,
        facts={"torch.version": "2.4.0+cu121"},
        cards=1,
        rules=("driver-too-old",),
    ),
    OwnDump(
        kind="xformers-info", text=XFORMERS, facts={"torch.version": "2.7.1+cu128"}, cards=1, rules=("kernels-missing",)
    ),
)


@pytest.mark.parametrize(
    ("torch", "reason"),
    [
        ("2.2.2", "not_applicable"),
        ("2.6.0+xpu", "not_reported"),
        ("2.6.0+rocm6.2", "not_reported"),
        ("N/A", "not_installed"),
    ],
)
def test_could_not_collect_of_cuda_means_a_build_without_it(torch, reason):
    cuda = "N/A" if torch == "N/A" else "Could not collect"
    text = (
        f"PyTorch version: {torch}\nIs debug build: False\nCUDA used to build PyTorch: {cuda}\n\n"
        "OS: Microsoft Windows 11 Pro (10.0.22631 64-bit)\n"
        "Python version: 3.11.9 (tags/v3.11.9:de54cf5, Apr  2 2024, 10:12:12) [MSC v.1938 64 bit (AMD64)] "
        "(64-bit runtime)\nPython platform: Windows-10-10.0.22631-SP0\nIs CUDA available: False\n"
        "GPU models and configuration: GPU 0: NVIDIA GeForce RTX 4090\nNvidia driver version: 551.86\n"
    )
    [reading] = read_all(text).readings
    assert reading.absent["torch.cuda_version"].reason == reason
    assert ("torch.version" in reading.absent) == (torch == "N/A")
    assert reading.facts["python.arch"] == "AMD64"


def test_torch_of_conda_differs_from_one_of_pip():
    head = "PyTorch version: 2.6.0\nIs debug build: False\nCUDA used to build PyTorch: 12.4\n[pip3] torch==2.6.0\n"
    for line, by in (("pytorch  2.6.0  py3.10_cuda12.4_0  pytorch", "conda"), ("torch  2.6.0  pypi_0  pypi", "pip")):
        [reading] = read_all(f"{head}[conda] {line}\n").readings
        listed = [one for one in reading.software if one.component == "pytorch" and "packages" in one.found_by]
        assert [one.found_by for one in listed] in ([f"collect_env, packages of {by}"], [])
