"""The torch build against the cards: with CUDA, with code for them, with a cuDNN that takes them."""

import re

import pytest

from stackviz.report.dumps import machines
from stackviz.report.format import Absent, Software
from stackviz.report.importers import read_all
from stackviz.report.rules import find, packaged_tables
from stackviz.report.rules.checks.builds import covers, dropped_or_newer, origin_of
from tests.report.rules.build import UNSET, answer, answers, card, lacking, linux, mac, report, stated

NONE = {"torch.cuda_version": UNSET}

# --- cpu-wheel ---


@pytest.mark.parametrize(
    ("changes", "absent"),
    [
        ({"torch__version": "2.9.0", "torch__cuda_version": None}, NONE),
        ({"torch__version": "2.9.0+cpu", "torch__cuda_version": None}, {}),
    ],
)
def test_a_cpu_only_torch_beside_an_nvidia_card_is_broken(changes, absent):
    found = answer("cpu-wheel", linux(absent=absent, **changes))
    assert found.severity == "broken"
    assert "NVIDIA H100 80GB HBM3" in found.title


@pytest.mark.parametrize(
    ("platform", "torch", "is_default"),
    [
        ({"os__name": "Windows", "os__arch": "AMD64", "python__arch": "AMD64"}, "2.13.0", True),
        ({"python__arch": "aarch64"}, "2.10.0", True),
        ({"python__arch": "aarch64"}, "2.13.0", False),
        ({}, "2.13.0", False),
    ],
)
def test_default_cpu_wheel_is_mentioned(platform, torch, is_default):
    found = answer("cpu-wheel", linux(absent=NONE, torch__version=torch, torch__cuda_version=None, **platform))
    assert ("pip installs by default" in found.explanation) is is_default


def test_a_cuda_build_fits():
    assert answer("cpu-wheel", linux()).severity == "fits"


def test_torch_of_unknown_build_is_open():
    found = answer("cpu-wheel", linux(torch__cuda_version=None))
    assert lacking(found) == "torch.cuda_version"


@pytest.mark.parametrize(
    "seen",
    [
        mac(),
        report({"os.name": "Ubuntu", "torch.version": "2.9.0+cpu"}),
        linux(torch__version=None, absent={"torch.version": Absent("not_installed")}),
        linux(absent=NONE, torch__cuda_version=None, torch__hip_version="7.2"),
    ],
)
def test_build_rule_needs_card_and_torch(seen):
    assert answers("cpu-wheel", seen) == []


# --- kernels-missing ---


@pytest.mark.parametrize(
    ("capability", "arch", "runs"),
    [
        ("8.6", "sm_86", True),
        ("8.9", "sm_86", True),
        ("8.0", "sm_86", False),
        ("9.0", "sm_86", False),
        ("6.1", "sm_60", True),
        ("12.1", "sm_120", True),
        ("12.0", "compute_90", True),
        ("8.9", "compute_90", False),
        ("9.0", "sm_90a", True),
        ("9.1", "sm_90a", False),
        ("12.0", "compute_90a", False),
        ("10.3", "sm_100f", True),
        ("12.0", "sm_100f", False),
        ("9.0", "gfx942", False),
        ("nonsense", "sm_90", False),
    ],
)
def test_code_runs_on_its_major_capability_from_its_minor_on(capability, arch, runs):
    assert covers(capability, arch) is runs


def test_card_without_code_names_a_suitable_build():
    seen = linux(card(name="Tesla P100", compute_capability="6.0"))
    found = answer("kernels-missing", seen)
    assert found.severity == "broken"
    assert "torch 2.13 for cu126" in found.advice
    assert "--index-url https://download.pytorch.org/whl/cu126" in found.advice


@pytest.mark.parametrize(
    ("torch", "cuda", "capability", "severity"),
    [
        ("2.6.0+cu124", "12.4", "12.0", "broken"),
        ("2.7.1+cu128", "12.8", "12.0", "fits"),
        ("2.8.0+cu128", "12.8", "7.0", "fits"),
        ("2.11.0+cu128", "12.8", "7.0", "broken"),
        ("2.14.1+cu126", "12.6", "6.1", "fits"),
        ("2.15.0+cu132", "13.2", "7.0", "broken"),
    ],
)
def test_report_without_arch_list_uses_tables(torch, cuda, capability, severity):
    seen = linux(
        card(compute_capability=capability), torch__version=torch, torch__cuda_version=cuda, torch__arch_list=None
    )
    assert answer("kernels-missing", seen).severity == severity


def test_a_build_no_table_knows_cannot_be_told():
    seen = linux(torch__version="9.9.0", torch__cuda_version="19.0", torch__arch_list=None)
    assert lacking(answer("kernels-missing", seen)) == "torch.arch_list"


def test_each_kind_of_card_gets_its_own_answer():
    cards = (card(0), card(1, "GeForce GTX 1080", compute_capability="6.1"))
    severities = [found.severity for found in answers("kernels-missing", linux(*cards))]
    assert severities == ["broken", "fits"]


def test_unsupported_card_needs_a_source_build():
    seen = linux(card(name="Jetson T5000", compute_capability="11.0"))
    assert "from source" in answer("kernels-missing", seen).advice


# --- cudnn-drops-old-card ---


@pytest.mark.parametrize(
    ("cudnn", "capability", "severity"),
    [
        ("9.11.0", "7.0", "broken"),
        ("9.20.0", "6.1", "broken"),
        ("9.10.2", "7.0", "fits"),
        ("9.20.0", "7.5", "fits"),
        ("8.9.5", "3.7", "broken"),
    ],
)
def test_cudnn_from_9_11_on_takes_turing_and_newer_only(cudnn, capability, severity):
    found = answer("cudnn-drops-old-card", linux(card(compute_capability=capability), cudnn__version=cudnn))
    assert found.severity == severity


@pytest.mark.parametrize(
    ("capability", "build"),
    [("7.0", "torch 2.14.1 for cu126, with cuDNN 9.10.2.21"), ("2.0", "a torch build that ships an older cuDNN.")],
)
def test_cudnn_advice_names_newest_fitting_build(capability, build):
    found = answer("cudnn-drops-old-card", linux(card(compute_capability=capability), cudnn__version="9.20.0"))
    assert build in found.advice


def test_without_the_cudnn_version_nobody_can_tell():
    old = card(name="Tesla P4", compute_capability="6.1")
    seen = linux(old, cudnn__version=None, torch__version="2.9.0")
    assert answer("cudnn-drops-old-card", seen).severity == "cannot-tell"


def test_a_wheel_that_names_its_cuda_has_a_known_cudnn():
    kepler = card(name="Tesla K80", compute_capability="3.7")
    seen = linux(kepler, cudnn__version=None, torch__version="2.7.1+cu118", torch__cuda_version="11.8")
    found = answer("cudnn-drops-old-card", seen)
    assert found.severity == "broken"
    assert "torch 2.3.1 for cu118" in found.advice
    assert "torch 2.7" not in answer("kernels-missing", linux(kepler, torch__version="2.8.0+cu126")).advice


def test_cudnn_version_matters_if_one_drops_card():
    old = card(name="Tesla P4", compute_capability="6.1")
    assert answers("cudnn-drops-old-card", linux(cudnn__version=None)) == []
    assert answers("cudnn-drops-old-card", linux(old, cudnn__version=None, torch__version="1.12.1")) == []


def test_a_torch_without_cudnn_has_no_such_question():
    assert answers("cudnn-drops-old-card", linux(cudnn__version=None, absent={"cudnn.version": UNSET})) == []


PACKAGES, FILES = "collect_env, packages of pip", "collect_env, names of libraries"


@pytest.mark.parametrize(
    ("said", "found", "severity"),
    [
        ("9.20.0", [("9.10.2.21", "pip")], "broken"),  # what torch says that it loaded
        ("9.10.2", [("9.10.2", "torch"), ("9.20.0.48", "package metadata")], "fits"),
        ("8.9.7", [("8.9.7", FILES), ("9.11.0.98", PACKAGES)], "broken"),  # a wheel brings its own
        ("9.20.0", [("9.20.0", FILES), ("9.10.2.21", PACKAGES)], "fits"),
        ("9.20.0", [("9.20.0", FILES)], "broken"),
        (None, [("9.10.2.21", PACKAGES)], "fits"),
        (None, [("9.10.2.21", PACKAGES), ("9.20.0.48", PACKAGES)], "cannot-tell"),
        (None, [("9.10.2", FILES), ("9.20.0", FILES)], "cannot-tell"),
    ],
)
def test_cudnn_version_has_three_sources(said, found, severity):
    old = card(name="Tesla V100-SXM2-16GB", compute_capability="7.0")
    software = tuple(Software("cudnn", version, by) for version, by in found)
    assert answer("cudnn-drops-old-card", linux(old, software=software, cudnn__version=said)).severity == severity


def test_where_two_packages_of_cudnn_disagree_both_are_named():
    software = (Software("cudnn", "9.10.2.21", PACKAGES), Software("cudnn", "9.20.0.48", PACKAGES))
    seen = linux(card(compute_capability="7.0"), software=software, cudnn__version=None)
    assert "9.10.2.21 and 9.20.0.48" in answer("cudnn-drops-old-card", seen).title


@pytest.mark.parametrize(
    ("torch", "origin"),
    [
        ("2.9.1+cu128", "release"),
        ("2.5.1.post303", "release"),
        ("2.13.0+rocm6.4", "release"),
        ("2.9.1+cpu", "release"),
        ("2.10.0.dev20251101+cu130", "nightly"),
        ("1.4.0.dev20191205", "nightly"),
        ("2.1.0a0+git1234abc", "source"),
        ("2.6.0a0+ecf3bae40a.nv25.01", "source"),
        ("2.4.0+ecf3bae40a", "source"),
        ("1.8.0a0", "source"),
        ("2.10.0.dev0+gitabcdef1", "source"),
        ("2.10.0.dev0", "source"),
    ],
)
def test_a_torch_is_a_release_a_nightly_or_somebodys_own(torch, origin):
    assert origin_of(torch) == origin


OLD_AND_NEW = (
    card(0, "NVIDIA GeForce RTX 5090", compute_capability="12.0"),
    card(1, "NVIDIA GeForce GTX 1080", compute_capability="6.1"),
)


@pytest.mark.parametrize(
    ("torch", "cuda", "archs", "failing"),
    [
        ("2.9.0+cu128", "12.8", "sm_75 sm_80 sm_90 sm_100 sm_120", "6.1"),
        ("2.9.0+cu126", "12.6", "sm_50 sm_60 sm_70 sm_75 sm_80 sm_90", "12.0"),
    ],
)
def test_advice_for_one_card_does_not_break_the_other(torch, cuda, archs, failing):
    seen = linux(*OLD_AND_NEW, torch__version=torch, torch__cuda_version=cuda, torch__arch_list=archs)
    [found] = [one for one in answers("kernels-missing", seen) if one.severity == "broken"]
    assert f"capability {failing}" in found.title
    assert "6.1, 12.0" in stated(found.advice)
    assert "CUDA_VISIBLE_DEVICES" in found.advice


def test_build_for_all_cards_is_preferred():
    cards = (card(0), card(1, "Tesla V100", compute_capability="7.0"))
    archs = "sm_75 sm_80 sm_86 sm_90 sm_100 sm_120"
    [found] = [
        one for one in answers("kernels-missing", linux(*cards, torch__arch_list=archs)) if one.severity == "broken"
    ]
    assert "torch 2.13 for cu126" in found.advice
    assert "CUDA_VISIBLE_DEVICES" not in found.advice


def test_older_cudnn_covers_the_other_card():
    seen = linux(*OLD_AND_NEW, cudnn__version="9.20.0")
    [found] = [one for one in answers("cudnn-drops-old-card", seen) if one.severity == "broken"]
    assert "CUDA_VISIBLE_DEVICES" in found.advice
    assert "for cu126" in found.advice


def test_cpu_build_raises_no_cuda_question():
    seen = linux(torch__version="2.9.1+cpu", torch__cuda_version=None, software=())
    open_ones = [found for found in find(seen, packaged_tables()) if found.severity == "cannot-tell"]
    assert open_ones == []


def test_windows_driver_branch_decides_builds():
    windows = {"os__name": "Windows", "os__arch": "AMD64", "python__arch": "AMD64", "nvidia__driver_version": "581.29"}
    seen = linux(torch__version="2.9.1+cpu", torch__cuda_version=None, software=(), **windows)
    assert "whl/cu13" in answer("cpu-wheel", seen).advice


def test_the_list_in_the_warning_of_torch_decides_without_its_version():
    """What torch prints at import names the card and its own list, not its version."""
    rtx_5090 = card(name="NVIDIA GeForce RTX 5090", memory_bytes=None, compute_capability="12.0")
    warned = report({"torch.arch_list": "sm_80 sm_86 sm_90"}, (rtx_5090,))
    found = answer("kernels-missing", warned)
    assert (found.severity, found.title) == (
        "broken",
        "This torch carries no code for NVIDIA GeForce RTX 5090 (Blackwell, capability 12.0)",
    )
    assert found.advice.startswith(
        "On Linux with x86-64, the newest build known to fit is torch 2.15 for cu132: pip in"
    )


# --- builds for other GPUs, no torch, Windows ---


@pytest.mark.parametrize("torch", ["2.9.0+cpu", "2.1.0+cpu.cxx11.abi"])
def test_every_shape_of_the_cpu_build_is_one(torch):
    seen = linux(torch__version=torch, torch__cuda_version=None)
    assert answer("cpu-wheel", seen).title.startswith(f"torch {torch} is built without CUDA")
    assert answers("kernels-missing", seen) == []


@pytest.mark.parametrize("torch", ["2.6.0+xpu", "2.9.0+rocm6.4"])
def test_a_build_for_other_gpus_is_no_cpu_build(torch):
    seen = report({"os.name": "Ubuntu", "torch.version": torch}, absent=NONE)
    assert answers("cpu-only-torch", seen) == []


def test_a_build_for_intel_gpus_beside_an_nvidia_card_is_named():
    found = answer("cpu-wheel", linux(torch__version="2.6.0+xpu", torch__cuda_version=None, absent=NONE))
    assert found.title.startswith("torch 2.6.0+xpu is built for Intel GPUs, without CUDA")


def test_a_tool_that_could_not_import_torch_says_that_there_is_none():
    gone = {"torch.version": Absent("not_installed"), "torch.cuda_version": Absent("not_installed")}
    seen = linux(torch__version=None, torch__cuda_version=None, absent=gone)
    assert "torch is not installed in this Python" in answer("torch-not-installed", seen).title
    only_torch = {"torch.version": Absent("not_installed")}
    assert answers("torch-not-installed", linux(torch__version=None, absent=only_torch)) == []


WINDOWS = {"os__name": "Windows", "os__version": "11", "os__arch": None, "python__arch": "AMD64"}


@pytest.mark.parametrize(
    ("torch", "cuda", "capability", "severity"),
    [
        ("2.6.0+cu126", "12.6", "12.0", "broken"),
        ("2.5.1+cu124", "12.4", "12.0", "broken"),
        ("2.7.1+cu124", "12.4", "12.0", "broken"),  # in no table: CUDA 12.4 makes no code for it
        ("2.7.1+cu124", "12.4", "6.1", "cannot-tell"),
        ("2.7.1+cu118", "11.8", "6.1", "fits"),
        ("2.7.1+cu128", "12.8", "12.0", "fits"),
        ("2.8.0+cu126", "12.6", "5.2", "broken"),  # that release alone left Maxwell out there
        ("2.8.0+cu128", "12.8", "6.1", "fits"),
        ("2.8.0+cu129", "12.9", "6.1", "broken"),
        ("2.9.1+cu130", "13.0", "12.0", "fits"),
        ("2.7.0a0+gitabc1234", "11.8", "12.0", "cannot-tell"),  # may carry PTX
    ],
)
def test_on_windows_too_it_is_decided_whether_the_build_has_code_for_the_card(torch, cuda, capability, severity):
    changes = {**WINDOWS, "torch__version": torch, "torch__cuda_version": cuda, "torch__arch_list": None}
    seen = linux(card(name="A card", compute_capability=capability), **changes)
    assert answer("kernels-missing", seen).severity == severity


# --- the smallest step ---


def step(cards, torch, cuda, rule="kernels-missing", archs=None, **changes):
    software = changes.pop("software", (Software("pytorch", torch, "collect_env, packages of pip"),))
    changes = {"torch__version": torch, "torch__cuda_version": cuda, "torch__arch_list": archs, **changes}
    [found] = [one for one in answers(rule, linux(*cards, software=software, **changes)) if one.severity == "broken"]
    return found


RTX_5090 = card(name="NVIDIA GeForce RTX 5090", compute_capability="12.0")
GTX_1080_TI = card(name="NVIDIA GeForce GTX 1080 Ti", compute_capability="6.1")


def test_the_same_release_from_another_index_comes_first():
    advice = step([GTX_1080_TI], "2.8.0+cu129", "12.9").advice
    assert "pip install --force-reinstall torch==2.8.0 --index-url https://download.pytorch.org/whl/cu126" in advice
    assert "To undo: the same with --force-reinstall torch==2.8.0 and the index cu129" in advice
    assert "To check: python -c" in advice


def test_then_the_nearest_release():
    advice = step([RTX_5090], "2.6.0+cu124", "12.4").advice
    assert "pip install 'torch==2.7.*' --index-url https://download.pytorch.org/whl/cu128" in advice


def test_under_an_old_driver_the_release_stays_and_the_cuda_asks_least_of_it():
    old = {"nvidia__driver_version": "535.183.01", "cuda__available": False, "cuda__init_code": None}
    advice = step([card()], "2.9.1+cu130", "13.0", rule="driver-too-old", **old).advice
    assert "torch==2.9.1 --index-url https://download.pytorch.org/whl/cu126" in advice


@pytest.mark.parametrize(
    ("here", "words"),
    [
        ({"python__version": "3.8.10"}, "torch 2.7 has wheels for Python 3.9 to 3.13, and this is 3.8: make a new env"),
        ({"os__libc": "glibc 2.17"}, "need glibc 2.28, and this system has 2.17: use a container"),
        ({"os__libc": "musl 1.2"}, "torch has no wheels for musl"),
    ],
)
def test_what_cannot_be_installed_here_is_said_first(here, words):
    assert words in step([RTX_5090], "2.6.0+cu124", "12.4", **here).advice


def test_python_decides_which_release_is_the_nearest():
    advice = step([RTX_5090], "2.6.0+cu124", "12.4", python__version="3.14.0").advice
    assert "'torch==2.9.*'" in advice


def test_packages_that_are_built_for_one_torch_are_named():
    software = (
        Software("pytorch", "2.6.0", "pip"),
        Software("vllm", "0.8.5", "pip"),
        Software("flash-attn", "2.7.4", "pip"),
    )
    advice = step([RTX_5090], "2.6.0+cu124", "12.4", software=software).advice
    assert "vLLM 0.8.5, flash-attn 2.7.4: made for one release of torch" in advice
    assert "install a newer vLLM, which brings one" in advice
    same = step([GTX_1080_TI], "2.8.0+cu129", "12.9", software=software).advice
    assert "compiled for a CUDA too; install the build for cu126" in same


def test_conda_s_own_torch_is_removed_first():
    software = (Software("pytorch", "2.6.0", "collect_env, packages of conda"),)
    advice = step([RTX_5090], "2.6.0", "12.4", software=software).advice
    assert advice.index("conda remove pytorch; then: ") < advice.index("pip install")
    assert "To undo" not in advice


def test_on_windows_quotes_are_double():
    advice = step([RTX_5090], "2.6.0+cu126", "12.6", **WINDOWS).advice
    assert 'pip install "torch==2.7.*" --index-url https://download.pytorch.org/whl/cu128' in advice
    assert "'" not in advice


def test_cards_that_newer_builds_leave_out_are_sent_to_the_oldest_cuda():
    found = step([GTX_1080_TI], "2.8.0+cu129", "12.9", nvidia__driver_version="576.80", **WINDOWS)
    assert "torch==2.8.0 --index-url https://download.pytorch.org/whl/cu126" in found.advice


def test_no_build_is_advised_that_has_ptx_only_while_another_has_machine_code():
    assert "whl/cu118" not in step([RTX_5090], "2.4.1+cu124", "12.4", **WINDOWS).advice


def test_a_jetson_gets_no_wheel_of_pytorch_org():
    orin = card(name="Orin (nvgpu)", compute_capability="8.7")
    seen = linux(orin, absent=NONE, torch__cuda_version=None, os__arch="aarch64", python__arch="aarch64",
                 os__kernel="Linux 5.15.148-tegra")  # fmt: skip
    advice = answer("cpu-wheel", seen).advice
    assert "JetPack" in advice
    assert "download.pytorch.org" not in advice


@pytest.mark.parametrize(("build", "is_jetson"), [("L4T 36.4.3", True), ("L4T 38.2.0", False), ("26100", False)])
def test_the_release_of_jetson_linux_is_a_jetson_before_thor(build, is_jetson):
    """Thor, of L4T 38, takes the wheels that servers take."""
    facts = {"os.name": "Linux", "os.arch": "aarch64", "os.build": build, "torch.version": "2.6.0+cpu"}
    found = answer("cpu-only-torch", report(facts, absent=NONE))
    assert ("JetPack" in found.advice, "Jetson" in found.explanation) == (is_jetson, is_jetson)


def test_a_shortened_list_says_so_and_holds_what_the_command_installs():
    found = step([card(name="NVIDIA GeForce RTX 3090", compute_capability="8.6")], "1.12.1+cu102", "10.2",
                 nvidia__driver_version="535.183.01")  # fmt: skip
    variant = re.search(r"whl/(cu\d+)", found.advice)[1]
    assert f"{variant} (torch" in found.explanation
    assert re.search(r", and builds for \d older versions of CUDA\.", found.explanation)


# --- what was typed: a release without its build, a machine without its system ---

TYPED_CARD = {"name": "NVIDIA GeForce RTX 5090", "compute_capability": "12.0"}


def typed_only(torch: str, **card_facts):
    """All findings of kernels-missing for a torch of unknown build on an unknown system."""
    typed = linux(
        card(**card_facts),
        torch__version=torch,
        torch__cuda_version=None,
        torch__arch_list=None,
        nvidia__driver_version=None,
        os__name=None,
        os__arch=None,
        python__arch=None,
    )
    return [finding for finding in find(typed, packaged_tables()) if finding.rule == "kernels-missing"]


def test_a_release_of_which_no_build_has_code_is_broken_without_its_build():
    (finding,) = typed_only("2.4", **TYPED_CARD)
    assert finding.severity == "broken"
    assert {"linux-x86_64", "12.0"} < set(stated(finding.explanation))
    assert "On Linux with x86-64, builds that carry it: cu128 (torch 2.7 to" in finding.explanation
    assert "torch 2.7 for cu128" in finding.advice


def test_a_release_of_which_one_build_has_code_cannot_be_told():
    assert [finding.severity for finding in typed_only("2.7", **TYPED_CARD)] == ["cannot-tell"]
    assert [finding.severity for finding in typed_only("2.4.0a0+gitabc1234", **TYPED_CARD)] == ["cannot-tell"]


def test_the_last_release_for_an_old_card_is_named_for_the_usual_system():
    (finding,) = typed_only("2.15", name="NVIDIA GeForce GTX 1080", compute_capability="6.1")
    assert "On Linux with x86-64, torch 2.14 is the last release with a build that does" in finding.explanation


def test_the_builds_of_the_explanation_are_those_of_the_advice():
    typed = linux(
        card(**TYPED_CARD),
        torch__version=None,
        torch__cuda_version=None,
        torch__arch_list="sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_37 sm_90",
        nvidia__driver_version=None,
        os__name=None,
        os__arch=None,
        python__arch=None,
    )
    finding = answer("kernels-missing", typed)
    torch, variant = re.search(r"torch (\S+) for (cu\d+)", finding.advice).groups()
    assert re.search(rf"{variant} \(torch (?:\S+ to )?{re.escape(torch)}\)", finding.explanation)


def test_nightly_has_no_code_for_a_card_newer_than_its_cuda():
    nightly = {"torch__version": "2.7.0.dev20250310+cu124", "torch__cuda_version": "12.4", "torch__arch_list": None}
    rtx_5080 = card(name="NVIDIA GeForce RTX 5080", compute_capability="12.0")
    assert answer("kernels-missing", linux(rtx_5080, **nightly)).severity == "broken"
    nightly |= {"torch__version": "2.7.0.dev20250310+cu128", "torch__cuda_version": "12.8"}
    assert answer("kernels-missing", linux(rtx_5080, **nightly)).severity == "cannot-tell"


@pytest.mark.parametrize(
    ("name", "capability", "torch", "cuda", "words"),
    [
        ("Tesla P100-PCIE-16GB", "6.0", "2.8.0+cu128", "12.8", "This build has dropped the card, which is older than"),
        ("NVIDIA GeForce RTX 5090", "12.0", "2.5.1+cu124", "12.4", "The card is newer than the newest that"),
    ],
)
def test_a_build_without_code_says_on_which_side_the_card_is(name, capability, torch, cuda, words):
    seen = linux(
        card(name=name, compute_capability=capability), torch__version=torch, torch__cuda_version=cuda,
        torch__arch_list=None, nvidia__driver_version="580.95.05",
    )  # fmt: skip
    found = answer("kernels-missing", seen)
    assert found.severity == "broken"
    assert words in found.explanation
    assert found.explanation.count("card is newer") == (capability == "12.0")


@pytest.mark.parametrize("torch", ["1.13.1+cu117", "2.0.1+cu118", "2.3.1+cu121"])
def test_ptx_of_a_build_before_the_card_is_not_enough(torch):
    """Its own code would be compiled for the card, that of the cuBLAS and cuDNN in it would not."""
    cuda = f"{torch[-3:-1]}.{torch[-1]}"
    seen = linux(
        card(name="NVIDIA GeForce RTX 5090", compute_capability="12.0"), os__name="Windows", torch__version=torch,
        torch__cuda_version=cuda, torch__arch_list=None, os__arch="AMD64", python__arch="AMD64",
        nvidia__driver_version="581.29",
    )  # fmt: skip
    found = answer("kernels-missing", seen)
    assert found.severity == "broken"
    assert "whl/cu118" not in found.advice


def test_a_build_from_source_may_rely_on_ptx():
    seen = linux(
        card(compute_capability="12.0"), torch__version="2.3.0a0+git1234abc", torch__cuda_version="12.1",
        torch__arch_list="sm_90 compute_90", nvidia__driver_version="580.95.05",
    )  # fmt: skip
    assert answer("kernels-missing", seen).severity == "fits"


@pytest.mark.parametrize("capability", ["", "X", "?.0", "９.０", "9" * 400])
def test_a_capability_that_is_none_is_neither_dropped_nor_newer(capability):
    archs = ["sm_50", "sm_90"]
    assert dropped_or_newer(archs, capability) in ("", dropped_or_newer(archs, "12.0"), dropped_or_newer(archs, "3.0"))


@pytest.mark.parametrize(
    ("listed", "explanation"),
    [
        ("torch==2.9.1", "none on linux-aarch64, CUDA 12.8 on linux-x86_64, none on windows-x86_64."),
        ("torch==2.9.1\nPython platform: Windows-10-10.0.22631-AMD64", "none on windows-x86_64."),
        ("torch==1.7.1", "is not known: no source on record lists it."),
    ],
)
def test_a_list_of_packages_leaves_the_build_of_torch_open(listed, explanation):
    [machine] = machines(read_all(f"{listed}\nGPU 0: NVIDIA GeForce RTX 3090 (UUID: GPU-1)\n"))
    found = answer("cpu-wheel", machine.report())
    assert found.severity == "cannot-tell"
    assert found.explanation.endswith(explanation)
