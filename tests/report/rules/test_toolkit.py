"""The CUDA toolkit beside torch, and whether the versions around torch agree."""

from dataclasses import replace

import pytest

from stackviz.report.format import Absent, Software
from stackviz.report.rules import Requirement, RuleSource, judge, packaged_tables
from tests.report.rules.build import FAILED, UNSET, answer, answers, card, lacking, linux, mac, report

NO_TORCH = {"torch.version": Absent("not_installed")}


def found_by_pip(**versions: str) -> tuple[Software, ...]:
    return tuple(Software(component, version, "pip") for component, version in versions.items())


# --- nvcc-differs ---


@pytest.mark.parametrize(
    ("nvcc", "severity", "words"),
    [
        ("13.0.48", "fits", "both use CUDA 13.0"),
        ("13.1.80", "note", "nvcc is from CUDA 13.1.80"),
        ("12.8.93", "note", "differs in its major version"),
    ],
)
def test_an_nvcc_of_another_cuda_matters_for_extensions_alone(nvcc, severity, words):
    found = answer("nvcc-differs", linux(cuda__toolkit_version=nvcc))
    assert (found.severity, words in found.title) == (severity, True)


def test_nvcc_rule_needs_both_versions():
    unknown = answer("nvcc-differs", linux(torch__cuda_version=None))
    assert unknown.severity == "cannot-tell"
    assert lacking(unknown) == "torch.cuda_version"
    assert answers("nvcc-differs", linux(cuda__toolkit_version=None)) == []
    assert answers("nvcc-differs", linux(torch__version=None, absent=NO_TORCH)) == []
    assert answers("nvcc-differs", linux(torch__cuda_version=None, absent={"torch.cuda_version": UNSET})) == []


# --- toolkit-alone ---


def test_toolkit_without_card_is_a_note():
    seen = report({"os.name": "Debian", "cuda.toolkit_version": "13.0.88"}, absent=NO_TORCH)
    found = answer("toolkit-alone", seen)
    assert (found.severity, "torch is not installed" in found.title) == ("note", True)
    asked = {"nvidia.driver_version": Absent("not_installed")}
    assert "torch" not in answer("toolkit-alone", report({"cuda.toolkit_version": "13.0.88"}, absent=asked)).title


def test_nvcc_alone_raises_no_card_question():
    assert answers("toolkit-alone", report({"cuda.toolkit_version": "13.0.88"})) == []


def test_toolkit_beside_card_is_normal():
    assert answers("toolkit-alone", linux()) == []
    seen = report({"cuda.toolkit_version": "13.0.88", "cuda.available": True, "torch.version": "2.13.0"})
    assert answer("toolkit-alone", seen).severity == "cannot-tell"


# --- triton-ptxas ---


@pytest.mark.parametrize(
    ("triton", "capability", "severity"),
    [("3.5.1", "12.1", "broken"), ("3.5.0", "11.0", "broken"), ("3.6.0", "12.1", "fits")],
)
def test_tritons_ptxas_learnt_of_these_cards_late(triton, capability, severity):
    seen = linux(card(compute_capability=capability), software=found_by_pip(triton=triton))
    assert answer("triton-ptxas", seen).severity == severity


def test_a_triton_nobody_listed_is_the_one_torch_brings():
    seen = linux(card(compute_capability="12.1"), torch__version="2.9.1", software=())
    assert answer("triton-ptxas", seen).severity == "broken"


def test_triton_rule_needs_a_version():
    seen = linux(card(compute_capability="12.1"), torch__version="9.9.0", software=())
    assert answer("triton-ptxas", seen).severity == "cannot-tell"
    assert answers("triton-ptxas", linux(software=found_by_pip(triton="3.5.0"))) == []


def test_triton_support_is_a_table_row():
    tables = packaged_tables()
    later = {replace(row, version="3.7.0") if row.part == "new in its ptxas" else row for row in tables.requirements}
    seen = linux(card(compute_capability="12.1"), software=found_by_pip(triton="3.6.0"))
    found = judge(seen, type(tables)(tables.releases, frozenset(later), tables.cards))
    [broken] = [one for one in found if one.rule == "triton-ptxas"]
    assert (broken.severity, "3.7.0 or newer" in broken.advice) == ("broken", True)


# --- cuda1322-fix ---


@pytest.mark.parametrize(
    ("torch", "severity"),
    [
        ("2.13.0+cu132", "warning"),
        ("2.14.0+cu132", "warning"),
        ("2.14.1+cu132", "fits"),
        ("2.14.2+cu132", "cannot-tell"),
        ("2.15.0+cu132", "fits"),
    ],
)
def test_cuda_13_2_is_mended_from_torch_2_14_1_on(torch, severity):
    seen = linux(torch__version=torch, torch__cuda_version="13.2", nvidia__driver_version="595.45.04")
    assert answer("cuda1322-fix", seen).severity == severity


def test_cuda_fault_needs_exact_versions():
    assert answers("cuda1322-fix", linux()) == []
    assert answer("cuda1322-fix", linux(torch__version=None, torch__cuda_version="13.2")).severity == "cannot-tell"


# --- torch-versions-disagree ---


@pytest.mark.parametrize(
    ("running", "listed", "severity"),
    [
        ("1.12.1", ["1.12.0", "1.12.0a0+git3230a4d"], "warning"),
        ("1.5.0a0+c63c82e", ["1.2.0"], "warning"),
        ("2.6.0+cu124", ["2.6.0+cu118"], "note"),
        ("1.12.0a0+git1908433", ["1.12.0a0+git187f733"], "note"),
        ("2.13.0+cu130", ["2.13.0"], "fits"),
        ("1.0.1.post2", ["1.0.1"], "fits"),
    ],
)
def test_the_torch_that_runs_is_the_one_that_is_listed(running, listed, severity):
    software = tuple(Software("pytorch", version, "pip") for version in listed)
    found = answer("torch-versions-disagree", linux(torch__version=running, software=software))
    assert found.severity == severity
    assert all(version in found.title for version in listed) or severity == "fits"


def test_torch_list_and_version_are_needed():
    assert answers("torch-versions-disagree", linux(software=())) == []
    assert answer("torch-versions-disagree", linux(torch__version=None)).severity == "cannot-tell"


# --- torch-cuda-unpublished ---


@pytest.mark.parametrize(
    ("torch", "cuda", "severity"),
    [("1.10.1", "11.5", "note"), ("1.10.1", "11.3", "fits"), ("2.99.0", "13.0", "cannot-tell")],
)
def test_a_cuda_that_torch_was_not_published_for_is_a_note(torch, cuda, severity):
    found = answer("torch-cuda-unpublished", linux(torch__version=torch, torch__cuda_version=cuda))
    assert found.severity == severity
    assert "10.2, 11.1, 11.3" in found.title or severity != "note"


@pytest.mark.parametrize(
    ("torch", "cuda"),
    [("2.6.0a0+ecf3bae40a.nv25.01", "12.8"), ("1.4.0.dev20191205", "10.1"), ("0.4.1", "9.0"), ("2.9.1+cu129", "12.9")],
)
def test_custom_and_old_builds_are_not_judged(torch, cuda):
    assert answers("torch-cuda-unpublished", linux(torch__version=torch, torch__cuda_version=cuda)) == []


# --- companion-version ---


def test_another_triton_than_torchs_is_a_warning():
    found = answer("companion-version", linux(software=found_by_pip(triton="3.2.0")))
    assert (found.severity, found.component) == ("warning", "triton")
    assert found.advice.endswith("triton==3.7.1")


@pytest.mark.parametrize(
    ("torch", "cuda", "command"),
    [
        ("2.9.0+cu126", "12.6", "--no-deps torchvision==0.24.0 --index-url https://download.pytorch.org/whl/cu126"),
        ("2.9.0", "12.8", "--no-deps torchvision==0.24.0 --index-url https://download.pytorch.org/whl/cu128"),
        ("2.9.0+mine; rm", None, "--no-deps torchvision==0.24.0"),
        (
            "2.8.0+rocm6.4",
            None,
            "--no-deps torchvision==0.23.0 --index-url https://download.pytorch.org/whl/rocm6.4",
        ),
    ],
)
def test_the_way_out_keeps_torch_and_its_build(torch, cuda, command):
    seen = linux(torch__version=torch, torch__cuda_version=cuda, software=found_by_pip(torchvision="0.20.1"))
    found = answer("companion-version", seen)
    assert found.advice.endswith(command)
    assert " torch==" not in found.advice


@pytest.mark.parametrize(("torch", "severities"), [("2.13.0", ["warning"]), ("2.1.0+cu121", [])])
def test_torchvision_is_made_for_one_torch(torch, severities):
    source = RuleSource("x", "x", "https://example.org")
    row = Requirement(
        component="torchvision",
        version="0.16.0",
        variant="",
        platform="",
        relation="needs",
        subject="pytorch",
        part="",
        low="",
        values="2.1.0",
        confidence="high",
        source=source,
        note="made for one",
    )
    tables = packaged_tables()
    tables = type(tables)(tables.releases, tables.requirements | {row}, tables.cards)
    seen = linux(torch__version=torch, software=found_by_pip(torchvision="0.16.0+cu121"))
    found = [one for one in judge(seen, tables) if one.rule == "companion-version"]
    assert [one.severity for one in found] == severities


def test_companions_need_a_known_torch():
    assert answer("companion-version", linux(torch__version=None)).severity == "cannot-tell"
    assert answers("companion-version", linux(torch__version="2.6.0a0+git1234567")) == []
    assert answers("companion-version", linux(software=())) == []


# --- cpu-only-torch ---


@pytest.mark.parametrize(("torch", "absent"), [("2.13.0+cpu", {}), ("2.1.0", {"torch.cuda_version": UNSET})])
def test_a_torch_for_the_cpu_alone_without_a_card_is_a_note(torch, absent):
    seen = report({"os.name": "Windows", "torch.version": torch}, absent=absent)
    assert answer("cpu-only-torch", seen).severity == "note"


def test_other_vendors_raise_no_finding():
    none = {"torch.cuda_version": UNSET}
    assert answers("cpu-only-torch", mac()) == []
    assert answers("cpu-only-torch", linux(absent=none, torch__cuda_version=None)) == []
    for other in ({"torch.hip_version": "7.2"}, {"xpu.available": True}):
        seen = report({"os.name": "Ubuntu", "torch.version": "2.13.0", **other}, absent=none)
        assert answers("cpu-only-torch", seen) == []


def test_build_of_unknown_kind_is_not_called_cpu_only():
    seen = report({"os.name": "Ubuntu", "torch.version": "2.13.0"}, absent={"torch.cuda_version": FAILED})
    assert answers("cpu-only-torch", seen) == []
