"""The NVIDIA driver against torch's CUDA, against the cards, and against its end of support."""

from dataclasses import replace

import pytest

from stackviz.report.format import Absent
from stackviz.report.rules import judge, packaged_tables
from stackviz.report.rules.checks.builds import ReleasedBuild, served
from stackviz.report.rules.checks.driver_cards import ARCHITECTURES
from stackviz.report.rules.look import Look
from tests.report.rules.build import FAILED, UNSET, answer, answers, card, lacking, linux, mac, report, stated

SILENT = {"nvidia.driver_version": FAILED}
BRANCHES = packaged_tables().releases_of("nvidia-driver", "linux")
LONGEST = max(BRANCHES, key=lambda row: row.last_day)  # the branch supported longest
LAST = LONGEST.version
MOVE = f"R{LAST} ({LONGEST.line}) is supported longest, until {LONGEST.support_ends}."

# --- driver-too-old ---


@pytest.mark.parametrize(
    ("cuda", "driver", "severity"),
    [
        ("13.0", "580.65.06", "fits"),
        ("13.0", "580.65.05", "broken"),
        ("13.2", "615.20.01", "fits"),
        ("12.8", "525.60.13", "fits"),
        ("12.8", "525.60.12", "broken"),
        ("12.8", "535.183.01", "fits"),
        ("11.8", "450.80.02", "fits"),
        ("11.8", "450.80.01", "broken"),
        ("11.0", "450.51.06", "fits"),  # below the family's floor, but newer than the driver CUDA 11.0 came with
        ("11.0", "450.36.05", "broken"),
        ("10.2", "440.33", "fits"),
        ("10.2", "440.32", "broken"),
        ("10.1", "440.33.01", "fits"),
    ],
)
def test_a_driver_must_reach_the_floor_of_torchs_cuda_family(cuda, driver, severity):
    seen = linux(torch__cuda_version=cuda, nvidia__driver_version=driver, cuda__available=False)
    assert answer("driver-too-old", seen).severity == severity


def test_too_old_driver_names_versions_and_fix():
    found = answer("driver-too-old", linux(nvidia__driver_version="535.183.01", cuda__available=False))
    assert stated(found.title) == ("13.0", "580.65.06", "535.183.01")
    assert found.evidence["nvidia.driver_version"] == "535.183.01"
    assert found.evidence["torch.cuda_version"] == "13.0"
    assert "Update the NVIDIA driver" in found.advice
    assert found.source_url.startswith("https://docs.nvidia.com/")


def test_old_driver_with_working_cuda_is_a_contradiction():
    found = answer("driver-too-old", linux(nvidia__driver_version="535.183.01", cuda__available=True))
    assert found.severity == "warning"
    assert "reported as available" in found.title
    assert found.evidence["cuda.available"] == "true"


@pytest.mark.parametrize(("driver", "build"), [("535.183.01", "whl/cu126"), ("470.10", "whl/cu118")])
def test_an_old_driver_is_offered_the_newest_build_it_serves(driver, build):
    a100 = card(name="NVIDIA A100-SXM4-80GB", compute_capability="8.0")
    seen = linux(a100, nvidia__driver_version=driver, cuda__available=False)
    assert build in answer("driver-too-old", seen).advice


@pytest.mark.parametrize(("torch", "is_default"), [("2.13.0", True), ("2.9.0", False)])
def test_default_cuda_13_is_mentioned(torch, is_default):
    seen = linux(torch__version=torch, nvidia__driver_version="570.10", cuda__available=False)
    assert ("plain pip install" in answer("driver-too-old", seen).explanation) is is_default


@pytest.mark.parametrize(
    ("driver", "severity"), [("527.41", "fits"), ("527.40", "broken"), ("537.13", "fits"), ("526.0", "broken")]
)
def test_wsl_uses_the_windows_driver_floor(driver, severity):
    seen = linux(os__wsl="WSL2", torch__cuda_version="12.8", nvidia__driver_version=driver, cuda__available=False)
    assert answer("driver-too-old", seen).severity == severity


@pytest.mark.parametrize(("serves", "severity"), [("13.0", "fits"), ("12.9", "broken"), ("14.0", "fits")])
def test_driver_api_version_stands_in_for_floor(serves, severity):
    seen = linux(
        os__name="Windows", nvidia__driver_version="581.29", cuda__driver_api_version=serves, cuda__available=False
    )
    assert answer("driver-too-old", seen).severity == severity


@pytest.mark.parametrize(
    ("driver", "severity"), [("581.29", "fits"), ("573.06", "broken"), ("580", "fits"), ("391.35", "broken")]
)
def test_driver_branch_stands_in_for_api_version(driver, severity):
    windows = {"os__name": "Windows", "cuda__driver_api_version": None, "cuda__available": False}
    assert answer("driver-too-old", linux(nvidia__driver_version=driver, **windows)).severity == severity


def test_driver_without_evidence_is_open():
    found = answer(
        "driver-too-old", linux(os__name=None, nvidia__driver_version="581.29", cuda__driver_api_version=None)
    )
    assert found.severity == "cannot-tell"
    assert lacking(found) == "cuda.driver_api_version"


@pytest.mark.parametrize(
    ("system", "cuda", "driver", "severity"),
    [
        ("Ubuntu", "13.0", "580", "cannot-tell"),
        ("Ubuntu", "13.0", "575", "broken"),
        ("Ubuntu", "13.0", "590", "fits"),
        ("Ubuntu", "12.8", "580", "fits"),
        ("Ubuntu", "12.8", "525.60", "cannot-tell"),
        ("Windows", "12.8", "525", "cannot-tell"),  # 527.41 is of R525
        ("Windows", "12.8", "527", "cannot-tell"),
        ("Windows", "12.8", "520", "broken"),
    ],
)
def test_partial_driver_versions_compare_partly(system, cuda, driver, severity):
    seen = linux(os__name=system, torch__cuda_version=cuda, nvidia__driver_version=driver, cuda__available=False)
    found = answer("driver-too-old", seen)
    assert found.severity == severity
    if severity == "cannot-tell":
        assert driver in found.title
        assert "nvidia-smi" in found.advice


@pytest.mark.parametrize(("system", "driver"), [("Linux", "450.51.06"), ("Windows", "451.48")])
def test_check_and_advice_agree_on_drivers(system, driver):
    cuda_11 = {"torch__cuda_version": "11.0", "torch__version": "1.7.1"}
    seen = linux(card(compute_capability="8.0"), os__name=system, nvidia__driver_version=driver, **cuda_11)
    assert answer("driver-too-old", seen).severity == "fits"
    look = Look(seen, packaged_tables())
    assert served(look, packaged_tables(), [ReleasedBuild("1.7", "cu110")]) == [ReleasedBuild("1.7", "cu110")]


def test_uncertain_build_is_advised_only_as_fallback():
    look = Look(linux(nvidia__driver_version="580"), packaged_tables())
    sure, perhaps = ReleasedBuild("2.14", "cu126"), ReleasedBuild("2.14", "cu130")
    assert served(look, packaged_tables(), [sure, perhaps]) == [sure]
    assert served(look, packaged_tables(), [perhaps]) == [perhaps]


@pytest.mark.parametrize("missing", ["nvidia.driver_version", "torch.cuda_version"])
def test_without_one_of_the_two_versions_nobody_can_tell(missing):
    found = answer("driver-too-old", linux(**{missing.replace(".", "__"): None}))
    assert lacking(found) == missing


@pytest.mark.parametrize(
    "seen",
    [
        mac(),
        linux(torch__cuda_version=None, absent={"torch.cuda_version": UNSET}),
        linux(torch__version=None, absent={"torch.version": Absent("not_installed")}),
        report({"os.name": "Debian"}),
    ],
)
def test_driver_rule_needs_torch_cuda_and_card(seen):
    assert answers("driver-too-old", seen) == []


COMPAT = "/usr/local/cuda/compat/lib.real/libcuda.so.1"


@pytest.mark.parametrize(
    ("driver", "name", "code", "severity"),
    [
        ("550.54.15", "NVIDIA H100 80GB HBM3", 0, "fits"),
        ("535.183.01", "NVIDIA H100 80GB HBM3", None, "fits"),  # a branch that NVIDIA names for it
        ("550.54.15", "NVIDIA H100 80GB HBM3", None, "note"),
        ("550.54.15", "NVIDIA H100 80GB HBM3", 803, "broken"),
        ("550.54.15", "NVIDIA GeForce RTX 4090", None, "broken"),
    ],
)
def test_forward_compatibility_stands_in_for_an_older_driver(driver, name, code, severity):
    ngc = {"cuda__libcuda_path": COMPAT, "cuda__init_code": code, "cuda__available": None}
    found = answer("driver-too-old", linux(card(name=name), nvidia__driver_version=driver, **ngc))
    assert found.severity == severity
    assert (COMPAT in found.title) is (severity in ("fits", "note"))


def test_forward_compatibility_beside_an_available_cuda_is_no_contradiction():
    ngc = {"env__ld_library_path": "/usr/local/cuda/compat/lib:/usr/lib", "cuda__init_code": None}
    seen = linux(nvidia__driver_version="550.54.15", cuda__available=True, **ngc)
    assert answer("driver-too-old", seen).severity == "fits"


# --- minor-compat-ptx ---


BEFORE_TOOLKIT = {
    "torch__version": "2.9.1+cu128",
    "torch__cuda_version": "12.8",
    "nvidia__driver_version": "535.183.01",
}


def test_older_driver_of_same_major_is_a_note():
    found = answer("minor-compat-ptx", linux(**BEFORE_TOOLKIT))
    assert found.severity == "note"
    assert "570.26" in found.title


@pytest.mark.parametrize(
    ("archs", "severity"),
    [("sm_80 compute_80", "warning"), ("sm_90 compute_80", "note"), ("sm_80 sm_86", "note"), (None, "note")],
)
def test_it_is_a_warning_where_only_ptx_runs_on_the_card(archs, severity):
    found = answer("minor-compat-ptx", linux(torch__arch_list=archs, **BEFORE_TOOLKIT))
    assert found.severity == severity
    assert ("H100" in found.title) is (severity == "warning")


@pytest.mark.parametrize("driver", ["570.26", "580.95.05", "525.60.12"])
def test_current_or_too_old_driver_gets_no_ptx_note(driver):
    assert answers("minor-compat-ptx", linux(torch__cuda_version="12.8", nvidia__driver_version=driver)) == []


def test_without_the_driver_the_note_cannot_be_told():
    assert answer("minor-compat-ptx", linux(nvidia__driver_version=None, absent=SILENT)).severity == "cannot-tell"
    assert answers("driver-branch-ended", linux(nvidia__driver_version=None)) == []  # nobody spoke of it


# --- driver-branch-ended ---


@pytest.mark.parametrize(
    ("driver", "day", "severity"),
    [
        ("535.183.01", "2026-06-30", "fits"),
        ("535.183.01", "2026-07-01", "note"),
        ("580.95.05", "2026-11-20", "fits"),
        ("580.95.05", "2028-07-01", "note"),
        ("550.163.01", "2025-06-30", "fits"),
        ("550.163.01", "2025-07-01", "note"),
        ("565.57.01", "2025-10-01", "fits"),
        ("565.57.01", "2025-10-02", "note"),
    ],
)
def test_a_branch_is_supported_up_to_and_with_its_last_day(driver, day, severity):
    assert answer("driver-branch-ended", linux(nvidia__driver_version=driver, day=day)).severity == severity


def test_an_old_branch_is_a_warning_where_torch_needs_a_newer_driver():
    seen = linux(
        nvidia__driver_version="535.183.01",
        cuda__driver_api_version="12.2",
        cuda__available=False,
        cuda__init_code=None,
    )
    assert answer("driver-too-old", seen).severity == "broken"
    assert answer("driver-branch-ended", seen).severity == "warning"


@pytest.mark.parametrize(("driver", "branch"), [("537.13", "R535"), ("573.76", "R570"), ("582.78", "R580")])
def test_windows_numbers_a_branch_a_little_upwards(driver, branch):
    found = answer("driver-branch-ended", linux(os__name="Windows", nvidia__driver_version=driver))
    assert branch in found.title


def test_the_end_of_an_unknown_branch_cannot_be_told():
    found = answer("driver-branch-ended", linux(nvidia__driver_version="999.10"))
    assert (found.severity, "999.10" in found.title) == ("cannot-tell", True)


def test_a_card_without_a_reported_driver_cannot_be_told():
    assert answer("driver-branch-ended", linux(nvidia__driver_version=None, absent=SILENT)).severity == "cannot-tell"
    assert answers("driver-branch-ended", linux(nvidia__driver_version=None)) == []  # nobody spoke of it


def test_branch_rule_needs_the_system():
    seen = linux(os__name=None, nvidia__driver_version="440.10")  # Linux: R440 ended; Windows: no such branch
    assert answer("driver-branch-ended", seen).severity == "note"
    seen = linux(os__name=None, nvidia__driver_version="390.10", day="2022-01-01")  # Windows: over, Linux: not yet
    assert lacking(answer("driver-branch-ended", seen)) == "os.name"


def test_linux_driver_implies_the_system():
    seen = linux(os__name=None, nvidia__driver_version="535.183.01")
    assert MOVE in answer("driver-branch-ended", seen).advice


def test_windows_driver_model_tells_the_platform():
    seen = linux(card(driver_model="WDDM"), os__name=None, nvidia__driver_version="581.29")
    assert answer("driver-branch-ended", seen).severity == "fits"


def test_unsupported_driver_without_date_is_a_warning():
    assert "older than every branch" in answer("driver-branch-ended", linux(nvidia__driver_version="410.48")).title


def test_a_mac_has_no_driver_branch():
    assert answers("driver-branch-ended", mac()) == []


def test_the_branch_to_move_to_is_the_tables_longest_supported():
    seen = linux(nvidia__driver_version="535.183.01")
    assert stated(answer("driver-branch-ended", seen).advice)[:3] == ("620", " (LTS)", "2029-09")
    newer = replace(LONGEST, version="700", support_ends="2031-02")
    tables = replace(packaged_tables(), releases=packaged_tables().releases | {newer})
    [found] = [found for found in judge(seen, tables) if found.rule == "driver-branch-ended"]
    assert stated(found.advice)[:3] == ("700", " (LTS)", "2031-02")


def test_when_every_known_branch_has_ended_none_is_named():
    seen = linux(nvidia__driver_version="535.183.01", day="2099-01-01")
    assert "no branch known here" in answer("driver-branch-ended", seen).advice


@pytest.mark.parametrize(
    ("driver", "capability", "words"),
    [
        ("470.256.02", "3.7", "R470 is the last branch that supports"),
        ("460.106.00", "3.5", "The newest driver for the card is one of R470"),
        ("535.183.01", "6.1", "R580 (LTS) is supported longest"),
        ("535.183.01", "9.0", MOVE),
    ],
)
def test_no_card_is_sent_to_a_branch_that_dropped_it(driver, capability, words):
    seen = linux(card(name="A card", compute_capability=capability), nvidia__driver_version=driver)
    advice = answer("driver-branch-ended", seen).advice
    assert words in advice
    assert ("580" in advice) is (capability == "6.1")
    assert (LAST in advice) is (capability == "9.0")


def test_last_branch_of_a_card_takes_precedence():
    cards = (card(0), card(1, "Tesla K80", compute_capability="3.7"))
    advice = answer("driver-branch-ended", linux(*cards, nvidia__driver_version="470.256.02")).advice
    assert "Tesla K80 (card 1)" in advice
    assert "580" not in advice
    assert LAST not in advice


def test_a_card_of_an_unknown_generation_is_looked_up_first():
    seen = linux(card(name="NVIDIA of tomorrow", compute_capability=None), nvidia__driver_version="367.57")
    advice = answer("driver-branch-ended", seen).advice
    assert "First look up NVIDIA of tomorrow" in advice
    assert f"R{LAST} supports compute capability 7.5 and newer" in advice


@pytest.mark.parametrize(
    ("system", "words"),
    [
        ({"nvidia__nvswitches": 0}, f"sudo apt install nvidia-driver-{LAST}; then reboot, which ends every program"),
        ({"nvidia__nvswitches": 0}, f"nvidia-smi must show {LAST}. To undo: install 535.183.01 in the same way."),
        ({}, f"sudo apt install nvidia-driver-{LAST}-server-open nvidia-fabricmanager-{LAST};"),
        ({}, "the fabric manager in exactly the driver's version, digit for digit"),
        ({"nvidia__nvswitches": None}, "If NVSwitch joins the cards (HGX): install the fabric manager"),
        ({"os__version": "20.04"}, "Ubuntu 20.04 itself is supported only until 2025-05-31"),
        (
            {"os__version": "16.04.7 LTS"},
            f"Ubuntu 16.04 is older than every release on record, and whether its archive has R{LAST} is not known",
        ),
        ({"machine__container": "docker"}, "Its driver is the host's: update it on the host"),
        (
            {"os__version": "18.04", "os__kernel": "Linux 3.10.0-1160.71.1.el7.x86_64"},
            "Linux 3.10.0-1160.71.1.el7.x86_64 is not a kernel of Ubuntu 18.04: this is inside a container. Its driver",
        ),
        ({"os__name": "Fedora"}, "from the distribution or from https://www.nvidia.com/drivers"),
        ({"os__name": "Windows"}, "Install it in Windows, from"),
        ({"os__name": "Ubuntu", "os__wsl": "WSL2"}, "not in WSL"),
    ],
)
def test_the_advice_on_an_old_branch_names_the_step(system, words):
    assert words in answer("driver-branch-ended", linux(nvidia__driver_version="535.183.01", **system)).advice


# --- driver-older-than-card ---

STOPPED = {"cuda__available": False, "cuda__init_code": None}


@pytest.mark.parametrize(
    ("driver", "capability", "severity"),
    [
        ("550.54.15", "12.0", "broken"),
        ("570.86.16", "12.0", "fits"),
        ("550.54.15", "12.1", "broken"),  # not in NVIDIA's matrix: no driver before Blackwell knows it
        ("515.105.01", "8.9", "broken"),
        ("520.56.06", "8.9", "fits"),  # the driver of the first RTX 4090, before that of CUDA 11.8 but of its branch
        ("470.57.02", "9.0", "broken"),
        ("470.57.02", "8.6", "fits"),
        ("384", "7.5", "broken"),
    ],
)
def test_a_driver_before_the_first_branch_does_not_know_the_card(driver, capability, severity):
    seen = linux(card(name="A card", compute_capability=capability), nvidia__driver_version=driver, **STOPPED)
    found = answer("driver-older-than-card", seen)
    assert found.severity == severity
    assert found.evidence["nvidia.driver_version"] == driver
    assert found.evidence["card 0 compute_capability"] == capability


@pytest.mark.parametrize(("system", "driver"), [("Windows", "516.94"), ("Linux", "515.65.01"), (None, "516.94")])
def test_an_rtx_4090_is_newer_than_r515_on_every_system(system, driver):
    rtx_4090 = card(name="NVIDIA GeForce RTX 4090", compute_capability=None)
    seen = linux(rtx_4090, os__name=system, nvidia__driver_version=driver, **STOPPED)
    found = answer("driver-older-than-card", seen)
    assert (found.severity, found.source_url) == ("broken", ARCHITECTURES.url)
    assert stated(found.title)[-2:] == ("8.9", "520")
    assert MOVE in found.advice


def test_a_card_that_runs_under_an_older_driver_is_a_contradiction():
    rtx_5090 = card(name="NVIDIA GeForce RTX 5090", compute_capability="12.0")
    assert answer("driver-older-than-card", linux(rtx_5090, nvidia__driver_version="550.54")).severity == "warning"
    beside = linux(rtx_5090, card(1), nvidia__driver_version="550.54")  # CUDA may start with the H100
    severities = {found.severity for found in answers("driver-older-than-card", beside)}
    assert severities == {"broken", "fits"}


def test_the_cards_of_a_silent_machine_may_be_too_new_for_an_old_driver_only():
    unknown = card(name="Unheard of", compute_capability=None)
    assert answer("driver-older-than-card", linux(unknown, nvidia__driver_version="535.54")).severity == "cannot-tell"
    assert answers("driver-older-than-card", linux(unknown, nvidia__driver_version="615.36")) == []


def test_no_driver_is_named_where_none_serves_all_cards():
    cards = (card(0, "Tesla K80", compute_capability="3.7"), card(1, "NVIDIA RTX 4090", compute_capability="8.9"))
    for rule, driver in (("driver-older-than-card", "470.57"), ("driver-dropped-card", "580.65.06")):
        [found] = [found for found in answers(rule, linux(*cards, nvidia__driver_version=driver)) if found.advice]
        assert found.advice.startswith("No driver serves all of these cards")


@pytest.mark.parametrize(
    ("capability", "cuda", "driver", "words"),
    [
        ("7.0", "13.0", "535.183.01", "to 580.65.06 or newer, up to R580, the last branch that supports"),
        ("3.7", "12.1", "470.57.02", "Use other cards, since no driver for this CUDA supports all of these"),
        ("12.0", "12.8", "470.57.02", "Update the NVIDIA driver to 570 or newer"),
        ("9.0", "13.0", "535.183.01", "to 580.65.06 or newer, or install"),
    ],
)
def test_the_advice_stays_within_the_branches_of_the_card(capability, cuda, driver, words):
    seen = linux(
        card(compute_capability=capability), nvidia__driver_version=driver, torch__cuda_version=cuda, **STOPPED
    )
    found = answer("driver-too-old", seen).advice
    assert words in found
    assert ("install an older build" in found) is (capability != "12.0")  # no build helps a card that is not known


# --- driver-dropped-card ---


@pytest.mark.parametrize(
    ("driver", "capability", "is_broken"),
    [
        ("590.48.01", "7.0", True),
        ("590.48.01", "6.1", True),
        ("590.48.01", "7.5", False),
        ("580.95.05", "7.0", False),
        ("580.95.05", "3.7", True),
        ("615.10", "7.0", True),
    ],
)
def test_drivers_after_r580_drop_old_cards(driver, capability, is_broken):
    seen = linux(card(name="Tesla V100", compute_capability=capability), nvidia__driver_version=driver)
    assert [found.severity for found in answers("driver-dropped-card", seen)] == (["broken"] if is_broken else [])


@pytest.mark.parametrize(("capability", "branch"), [("7.0", "R580"), ("6.1", "R580"), ("3.7", "R470")])
def test_fallback_branch_is_last_for_the_card(capability, branch):
    seen = linux(card(compute_capability=capability), nvidia__driver_version="590.48.01")
    assert f"the {branch} branch" in answer("driver-dropped-card", seen).advice


def test_for_a_card_that_no_known_branch_serves_none_is_named():
    seen = linux(card(compute_capability="2.1"), nvidia__driver_version="590.48.01")
    assert "No driver branch known here" in answer("driver-dropped-card", seen).advice


def test_of_several_cards_the_dropped_ones_are_named():
    cards = (card(0), card(1, "Tesla V100", compute_capability="7.0"), card(2, "Tesla V100", compute_capability="7.0"))
    found = answer("driver-dropped-card", linux(*cards, nvidia__driver_version="590.48.01"))
    assert "Tesla V100 (cards 1, 2)" in found.title
    assert "card 0 compute_capability" not in found.evidence


def test_unknown_capability_leaves_the_question_open():
    found = answer(
        "driver-dropped-card",
        linux(card(name="Unheard of", compute_capability=None), nvidia__driver_version="590.48.01"),
    )
    assert lacking(found) == "card 0 compute_capability"


# --- smi-cuda-misread ---


@pytest.mark.parametrize(
    ("serves", "torch", "toolkit", "severity"),
    [("13.0", "13.0", "13.0.88", "fits"), ("13.0", "12.8", None, "note"), ("12.4", None, "12.2.140", "note")],
)
def test_nvidia_smi_cuda_version_is_explained(serves, torch, toolkit, severity):
    seen = linux(cuda__driver_api_version=serves, torch__cuda_version=torch, cuda__toolkit_version=toolkit)
    assert answer("smi-cuda-misread", seen).severity == severity


def test_single_cuda_version_is_clear():
    assert answers("smi-cuda-misread", linux(torch__cuda_version=None, cuda__toolkit_version=None)) == []
    assert answers("smi-cuda-misread", linux(cuda__driver_api_version=None)) == []


@pytest.mark.parametrize(
    "inside",
    [
        {"machine__container": "docker"},
        {"os__name": "Rocky Linux", "os__version": "9.3", "os__kernel": "Linux 5.15.0-105-generic"},
        {"os__kernel": "Linux 5.4.0-150-generic"},
        {"os__kernel": "Linux 6.1.115-126.197.amzn2023.x86_64"},
        {"os__name": "CentOS Linux", "os__version": "7 (Core)", "os__kernel": "Linux 4.18.0-425.el8.x86_64"},
        {"os__version": "20.04"},
        {"os__wsl": "2"},
        {"os__kernel": "Linux 5.15.148-tegra"},
    ],
)
def test_no_driver_package_is_advised_where_it_does_nothing_or_harm(inside):
    advice = answer("driver-branch-ended", linux(nvidia__driver_version="535.183.01", **inside)).advice
    assert "apt install" not in advice
    assert "reboot" not in advice.replace("restart", "")


@pytest.mark.parametrize(
    "system",
    [
        {"os__kernel": "Linux 6.8.0-45-generic"},
        {"os__version": "22.04.4 LTS", "os__kernel": "Linux 6.5.0-1024-aws"},
        {"os__name": "Rocky Linux", "os__version": "9.3", "os__kernel": "Linux 5.14.0-362.el9_3.x86_64"},
        {"os__name": "Linux Mint", "os__version": "21.3", "os__kernel": "Linux 5.15.0-91-generic"},
        {"os__name": "Linux", "os__version": None, "os__kernel": "Linux 4.18.0-425.el8.x86_64"},
        {"os__name": "Arch Linux", "os__version": None, "os__kernel": "Linux 6.10.5-arch1-1"},
    ],
)
def test_a_distribution_s_own_kernel_is_no_container(system):
    advice = answer("driver-branch-ended", linux(nvidia__driver_version="535.183.01", **system)).advice
    assert "container" not in advice


@pytest.mark.parametrize(
    ("name", "capability", "package"),
    [
        ("NVIDIA GeForce RTX 5090", "12.0", f"nvidia-driver-{LAST}-open;"),
        ("NVIDIA GeForce RTX 5090 Laptop GPU", None, f"nvidia-driver-{LAST}-open;"),
        ("NVIDIA GeForce RTX 4090", "8.9", f"nvidia-driver-{LAST};"),
        ("NVIDIA GeForce GTX 1080", "6.1", "nvidia-driver-580;"),
    ],
)
def test_blackwell_gets_the_open_kernel_modules(name, capability, package):
    seen = linux(card(name=name, compute_capability=capability), nvidia__driver_version="570.86.10",
                 nvidia__nvswitches=None)  # fmt: skip
    assert package in answer("driver-branch-ended", seen).advice


def test_eight_cards_on_sxm_boards_get_the_fabric_manager_too():
    seen = linux(*(card(index) for index in range(8)), nvidia__driver_version="535.183.01", nvidia__nvswitches=None)
    assert (
        f"nvidia-driver-{LAST}-server-open nvidia-fabricmanager-{LAST};" in answer("driver-branch-ended", seen).advice
    )


@pytest.mark.parametrize("system", [{"os__name": "Windows"}, {}, {"os__wsl": "2"}])
def test_nobody_is_sent_back_from_the_newest_branch(system):
    seen = linux(nvidia__driver_version="610.62" if system else "610.43.02", **system)
    assert MOVE in answer("driver-branch-ended", seen).advice
    seen = linux(nvidia__driver_version=f"{LAST}.62", day="2030-01-01", **system)
    tables = packaged_tables()
    older = replace(LONGEST, version="580", support_ends="2031-01")
    platform = replace(older, variant="windows")
    judged = judge(seen, replace(tables, releases=tables.releases | {older, platform}))
    [advice] = [found.advice for found in judged if found.rule == "driver-branch-ended"]
    assert "do not go back to an older one" in advice
    assert "R580" not in advice


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ({"os__wsl": "2"}, "Update the NVIDIA driver in Windows, not in WSL,"),
        ({"machine__container": "docker"}, "Update the NVIDIA driver on the host (this is inside a container)"),
    ],
)
def test_a_driver_that_is_too_old_is_updated_where_it_is_installed(place, words):
    seen = linux(
        nvidia__driver_version="470.57.02",
        cuda__available=False,
        cuda__driver_api_version="11.4",
        cuda__init_code=None,
        **place,
    )
    assert answer("driver-too-old", seen).advice.startswith(words)


def test_going_back_to_an_older_branch_says_where_and_what_it_ends():
    old = card(name="Tesla V100", compute_capability="7.0")
    found = answer("driver-dropped-card", linux(old, nvidia__driver_version="590.48.01", machine__container="docker"))
    assert "Go back on the host (this is inside a container) to a driver of the R580 branch" in found.advice
    assert "a reboot, which ends every program" in found.advice


@pytest.mark.parametrize(("driver", "severity"), [("410.104", "broken"), ("535.98", "fits"), ("440.80", "cannot-tell")])
def test_where_every_system_gives_the_same_answer_none_has_to_be_known(driver, severity):
    """The floors of CUDA 10.2 are 440.33 on Linux and 441.22 on Windows."""
    seen = linux(
        os__name=None, torch__version="1.5.0", torch__cuda_version="10.2", torch__arch_list=None,
        nvidia__driver_version=driver, cuda__driver_api_version=None, cuda__available=None, cuda__init_code=None,
    )  # fmt: skip
    assert answer("driver-too-old", seen).severity == severity


def test_in_a_virtual_gpu_no_driver_of_the_distribution_is_advised():
    seen = linux(card(name="GRID A40-2B", compute_capability=None), nvidia__driver_version="550.127.05")
    advice = answer("driver-branch-ended", seen).advice
    assert "vGPU release of its host" in advice
    assert "apt" not in advice
