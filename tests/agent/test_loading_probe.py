"""What decides which modules, libraries and packages a program gets, on machines made of files."""

import sys

import pytest

from stackviz.agent.probing.system import probe_packages
from stackviz.base.backports import PATH_WITHOUT_FOLDER
from stackviz.report.format import FACTS
from stackviz.report.format.facts import questions_of
from stackviz.report.format.facts import torch as torch_facts
from stackviz.report.format.facts.asking import MissingFact, run_command
from stackviz.report.format.facts.torch import pip_index_url
from stackviz.report.importers import FactSheet
from tests.agent.machines_to_ask import machine

SECURE_BOOT = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
CACHE = """3 libs found in cache `/etc/ld.so.cache'
\tlibcudnn.so.9 (libc6,x86-64) => /usr/lib/x86_64-linux-gnu/libcudnn.so.9
\tlibcuda.so.1 (libc6,x86-64) => /usr/lib/x86_64-linux-gnu/libcuda.so.1
\tlibcudnn_ops.so.9 (libc6,x86-64) => /usr/lib/x86_64-linux-gnu/libcudnn_ops.so.9
"""


def told(root, **named):
    sheet = FactSheet(FACTS)
    questions_of("system").ask(machine(root, **named), sheet)
    return sheet


def answer(sheet, name):
    return sheet.facts[name] if name in sheet.facts else sheet.absent[name].reason


# --- modules and Secure Boot ---


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            {"/proc/modules": "nvidia_uvm 4 0 - Live 0x0\nnouveau 1 1 - Live 0x0\nwireguard 9 0 - Live 0x0\n"},
            "nouveau nvidia_uvm",
        ),
        ({"/proc/modules": "ext4 1 0 - Live 0x0\n"}, "not_applicable"),
        ({}, "not_reported"),
    ],
)
def test_only_modules_of_graphics_cards_are_told(tmp_path, files, expected):
    assert answer(told(tmp_path, files=files), "os.modules") == expected


@pytest.mark.parametrize(("value", "expected"), [("\x06\x00\x00\x00\x01", True), ("\x06\x00\x00\x00\x00", False)])
def test_secure_boot_is_read_from_the_firmware(tmp_path, value, expected):
    assert told(tmp_path, files={SECURE_BOOT: value}).facts["os.secure_boot"] is expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("SecureBoot enabled\n", True),
        ("SecureBoot disabled\nPlatform is in Setup Mode\n", False),
        ("odd\n", "not_reported"),
        (MissingFact("not_installed", "mokutil is not installed"), "not_installed"),
    ],
)
def test_where_the_variable_cannot_be_read_mokutil_is_asked(tmp_path, said, expected):
    files = {"/sys/firmware/efi/fw_platform_size": "64"}
    assert answer(told(tmp_path, files=files, says={"mokutil --sb-state": said}), "os.secure_boot") == expected


# --- search paths ---


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/usr/local/cuda-12.4/lib64:/home/marie/cudnn/lib:/home/marie", "/usr/local/cuda-12.4/lib64:~/cudnn/lib:~"),
        (None, "not_applicable"),
        ("", "not_applicable"),
        (":", "not_applicable"),
    ],
)
def test_the_search_path_is_told_with_its_home_folders_masked(tmp_path, path, expected):
    environ = {} if path is None else {"LD_LIBRARY_PATH": path}
    assert answer(told(tmp_path, environ=environ), "env.ld_library_path") == expected


def test_cudnn_outside_packages_is_found(tmp_path):
    files = {
        "/opt/cudnn/lib/libcudnn.so.8": "", "/opt/cudnn/lib/libcublas.so.12": "",
        "/venv/lib/python3.12/site-packages/nvidia/cudnn/lib/libcudnn.so.9": "",
    }  # fmt: skip
    environ = {"LD_LIBRARY_PATH": "/opt/cudnn/lib:/venv/lib/python3.12/site-packages/nvidia/cudnn/lib:relative:/gone"}
    sheet = told(tmp_path, files=files, environ=environ, says={"ldconfig -p": CACHE})
    assert sheet.facts["cudnn.libraries"].split() == [
        "/opt/cudnn/lib/libcudnn.so.8",
        "/usr/lib/x86_64-linux-gnu/libcudnn.so.9",
        "/usr/lib/x86_64-linux-gnu/libcudnn_ops.so.9",
    ]


def test_what_is_not_there_is_not_applicable(tmp_path):
    for says in ({"ldconfig -p": "0 libs found"}, {}):
        assert answer(told(tmp_path, says=says), "cudnn.libraries") == "not_applicable"
    assert answer(told(tmp_path), "os.secure_boot") == "not_applicable"  # without EFI
    sheet = told(tmp_path, system="Darwin", environ={"LD_LIBRARY_PATH": "/x"})
    for name in ("os.modules", "os.secure_boot", "env.ld_library_path", "cudnn.libraries", "rocm.version"):
        assert answer(sheet, name) == "not_applicable", name


def test_a_list_that_is_too_long_ends_at_a_whole_path(tmp_path):
    cache = "".join(
        f"\tlibcudnn_{number:04}.so.9 (x) => /{'d' * 90}/libcudnn_{number:04}.so.9\n" for number in range(500)
    )
    paths = told(tmp_path, says={"/sbin/ldconfig -p": cache}).facts["cudnn.libraries"].split()
    assert all(path.endswith(".so.9") for path in paths)
    assert 1 < len(paths) < 500


def test_rocm_is_told_without_its_build_number(tmp_path):
    assert told(tmp_path, files={"/opt/rocm/.info/version": "6.4.1-83\n"}).facts["rocm.version"] == "6.4.1"


# --- pip's index ---


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://download.pytorch.org/whl/cu128", "https://download.pytorch.org/whl/cu128"),
        ("https://me:secret@download.pytorch.org/whl/cu128?token=secret", "https://download.pytorch.org/whl/cu128"),
        ("https://me:secret@pypi.example.com/torch/cu128/simple", "(another index)/cu128"),
    ],
)
def test_the_index_is_told_without_whose_it_is(tmp_path, url, shown):
    assert pip_index_url(machine(tmp_path, environ={"PIP_INDEX_URL": url})) == shown


@pytest.mark.parametrize(
    "url", ["https://pypi.example.com/secret/simple", "https://pytorch.org.evil.example/x", "http://["]
)
def test_an_index_of_somebodys_own_is_withheld(tmp_path, url):
    with pytest.raises(MissingFact) as caught:
        pip_index_url(machine(tmp_path, environ={"PIP_INDEX_URL": url}))
    assert caught.value.reason in ("withheld", "failed")
    assert "example" not in str(caught.value.detail)


@pytest.mark.parametrize(
    ("system", "path"),
    [
        ("Linux", "/home/a/.config/pip/pip.conf"),
        ("Linux", "/etc/pip.conf"),
        ("Darwin", "/home/a/Library/Application Support/pip/pip.conf"),
    ],
)
def test_the_files_of_pip_are_read(tmp_path, system, path):
    text = "[global]\nindex_url = https://download.pytorch.org/whl/cpu\n"
    around = machine(tmp_path, {path: text}, system=system, environ={"HOME": "/home/a"})
    assert pip_index_url(around).endswith("/cpu")


@pytest.mark.parametrize("text", ["no section", "[global]\ntimeout = 3\n", "[global", "[global]\nindex-url = %(x)s"])
def test_a_file_that_says_nothing_or_is_broken_breaks_nothing(tmp_path, text):
    with pytest.raises(MissingFact):
        pip_index_url(machine(tmp_path, {"/etc/pip.conf": text}))


# --- packages that are imported in a child ---


@pytest.fixture
def probe(monkeypatch, tmp_path):
    def ask(installed, **says):
        monkeypatch.setattr(torch_facts, "is_installed", lambda name: name in installed)
        codes = {"flash_attn": "import flash_attn", "onnxruntime": torch_facts._PROVIDERS}
        said = {f"{sys.executable} -c {PATH_WITHOUT_FOLDER}{codes[name]}": text for name, text in says.items()}
        return probe_packages(machine(tmp_path, says=said)).sheet

    return ask


def test_an_import_that_fails_is_told_with_its_last_words(probe):
    assert {why.reason for why in probe(set()).absent.values()} == {"not_applicable"}  # nothing is imported
    words = f"{sys.executable} ended with 1: ImportError: flash_attn_2_cuda.so: undefined symbol: _ZN3c105Error"
    sheet = probe({"flash_attn"}, flash_attn=MissingFact("failed", words))
    assert "undefined symbol" in sheet.facts["flash_attn.import_error"]
    assert sys.executable not in sheet.facts["flash_attn.import_error"]
    late = MissingFact("timeout", "did not end in 45 s")
    for said, reason in (("", "not_applicable"), (late, "timeout")):
        assert probe({"flash_attn"}, flash_attn=said).absent["flash_attn.import_error"].reason == reason


def test_providers_are_told_whatever_else_is_printed(probe):
    said = "a warning\nproviders CUDAExecutionProvider CPUExecutionProvider\n"
    facts = probe({"onnxruntime"}, onnxruntime=said).facts
    assert facts["onnxruntime.providers"] == "CUDAExecutionProvider CPUExecutionProvider"
    assert probe({"onnxruntime"}, onnxruntime="nothing").absent["onnxruntime.providers"].reason == "not_reported"


def test_a_child_prints_and_its_failure_is_caught(tmp_path):
    around = machine(tmp_path)
    around.run_command = run_command
    assert torch_facts.in_child(around, "print('told')").strip() == "told"
    with pytest.raises(MissingFact) as caught:
        torch_facts.in_child(around, "raise ImportError('undefined symbol')")
    assert str(caught.value.detail).endswith("ImportError: undefined symbol")
