"""AMD cards and torch built for them."""

from dataclasses import replace

import pytest

from stackviz.report.dumps.machines import machines
from stackviz.report.format import Absent, Card
from stackviz.report.importers import read_all
from stackviz.report.rules.checks.rocm import has_code_for, override_for
from tests.report.rules.build import UNSET, answer, answers, lacking, linux, mac, report, stated

NO_HIP = {"torch.hip_version": Absent("not_applicable", "built without HIP")}


def amd(index=0, name="AMD Instinct MI300X", **facts):
    return Card(
        index=index,
        kind="gpu",
        vendor="amd",
        reported_name=name,
        memory_bytes=206_141_652_992,
        facts={"gfx_target": "gfx942"} | facts,
    )


def rocm(*cards, absent=None, **changes):
    facts = {
        "os.name": "Ubuntu", "os.arch": "x86_64", "torch.version": "2.13.0+rocm7.2", "torch.hip_version": "7.2.26015",
        "torch.arch_list": "gfx90a gfx942 gfx1100", "cuda.available": True,
    }  # fmt: skip
    return report(facts, cards, {"torch.cuda_version": UNSET} if absent is None else absent, **changes)


# --- rocm-wheel ---


def test_a_build_for_amd_with_its_card_fits():
    assert answer("rocm-wheel", rocm(amd())).severity == "fits"


def test_a_build_for_amd_on_a_machine_of_nvidia_is_broken():
    hip = {"torch__version": "2.13.0+rocm7.2", "torch__hip_version": "7.2", "torch__cuda_version": None}
    found = answer("rocm-wheel", linux(cuda__available=False, **hip))
    assert (found.severity, "NVIDIA H100" in found.title) == ("broken", True)
    assert answer("rocm-wheel", linux(cuda__available=True, **hip)).severity == "note"


def test_a_build_for_amd_that_finds_no_card_is_a_warning():
    assert answer("rocm-wheel", rocm(cuda__available=False)).severity == "warning"


@pytest.mark.parametrize("seen", [linux(), mac(), rocm(), rocm(amd(), torch__version=None)])
def test_other_builds_and_builds_nobody_tried_are_no_finding(seen):
    assert answers("rocm-wheel", seen) == []


# --- amd-card-unused ---


@pytest.mark.parametrize("torch", ["2.13.0+cu130", "2.13.0+cpu"])
def test_an_amd_card_with_a_torch_for_something_else_is_broken(torch):
    found = answer("amd-card-unused", rocm(amd(), torch__version=torch, torch__hip_version=None))
    assert (found.severity, "rocm<version>" in found.advice) == ("broken", True)


def test_a_build_that_says_it_has_no_hip_is_broken_too():
    assert (
        answer("amd-card-unused", rocm(amd(), absent=NO_HIP, torch__version="2.13.0", torch__hip_version=None)).severity
        == "broken"
    )


@pytest.mark.parametrize("missing", ["torch.version", "torch.hip_version"])
def test_without_what_torch_was_built_with_nobody_can_tell(missing):
    changes = {"torch__version": "2.13.0", "torch__hip_version": None} | {missing.replace(".", "__"): None}
    assert lacking(answer("amd-card-unused", rocm(amd(), absent={}, **changes))) == missing


@pytest.mark.parametrize(
    "seen",
    [
        rocm(amd()),
        rocm(amd(), torch__hip_version=None),  # the version itself says rocm
        rocm(
            Card(index=0, kind="gpu", vendor="amd", reported_name="AMD Radeon Graphics", memory_bytes=None),
            torch__version="2.13.0+cpu",
            torch__hip_version=None,
        ),
        rocm(amd(), absent={"torch.version": Absent("not_installed")}, torch__version=None),
        rocm(amd(), os__name="macOS", torch__version="2.2.2", torch__hip_version=None, absent=NO_HIP),
        linux(),
    ],
)
def test_a_display_a_mac_or_the_right_build_is_no_finding(seen):
    assert answers("amd-card-unused", seen) == []


def test_integrated_graphics_are_at_most_a_note():
    def seen(target):
        card = amd(name="AMD Radeon Graphics", gfx_target=target)
        return rocm(card, torch__version="2.13.0+cu130", torch__hip_version=None)

    assert [one.severity for one in answers("amd-card-unused", seen("gfx1103"))] == ["note"]
    assert answers("amd-card-unused", seen("gfx1036")) == []
    assert answer("amd-card-unused", seen("gfx1101")).severity == "broken"


# --- rocm-kernels-missing ---


def test_a_target_in_the_list_fits():
    assert answer("rocm-kernels-missing", rocm(amd())).severity == "fits"


def test_a_target_that_is_not_in_the_list_is_broken():
    seen = rocm(amd(0, "AMD Radeon RX 6700 XT", gfx_target="gfx1031"), torch__arch_list="gfx942 gfx1030 gfx1100")
    found = answer("rocm-kernels-missing", seen)
    assert (found.severity, "HSA_OVERRIDE_GFX_VERSION=10.3.0" in found.advice) == ("broken", True)


def test_unlisted_target_beside_served_card_is_note():
    graphics = amd(1, "AMD Radeon Graphics", gfx_target="gfx1036")
    found = answers("rocm-kernels-missing", rocm(amd(0, "AMD Radeon RX 7900 XTX", gfx_target="gfx1100"), graphics))
    assert {(one.severity, "gfx1036" in one.title) for one in found} == {("note", True), ("fits", False)}
    assert any("HIP_VISIBLE_DEVICES=0" in one.advice for one in found)


@pytest.mark.parametrize(
    ("target", "archs", "expected"),
    [
        ("gfx1031", "gfx900 gfx1030 gfx1100", "10.3.0"),
        ("gfx1103", "gfx1100 gfx1101 gfx1102", "11.0.0"),
        ("gfx1036", "gfx1030:xnack-", "10.3.0"),
        ("gfx1010", "gfx1030 gfx1100", ""),
        ("gfx90c", "gfx900 gfx906", ""),
        ("gfx90a", "gfx900 gfx942", ""),
        ("anything", "gfx1030", ""),
    ],
)
def test_override_stays_in_the_family(target, archs, expected):
    assert override_for(target, archs.split()) == expected


def test_without_the_list_or_the_target_nobody_can_tell():
    seen = rocm(amd(), torch__version="2.12.0+rocm7.1", torch__arch_list=None, cuda__available=False)
    assert lacking(answer("rocm-kernels-missing", seen)) == "torch.arch_list"
    assert answer("rocm-kernels-missing", rocm(amd(name="AMD of tomorrow", gfx_target=""))).title.endswith(
        "gfx_target not reported"
    )


@pytest.mark.parametrize(
    "seen",
    [
        linux(),
        rocm(),
        rocm(amd(), torch__version="2.12.0+rocm7.1", torch__arch_list=None),
        rocm(amd(), torch__version="2.13.0+cpu", torch__hip_version=None),
    ],
)
def test_arch_list_is_needed_on_trouble_only(seen):
    assert answers("rocm-kernels-missing", seen) == []


@pytest.mark.parametrize(("target", "severity"), [("gfx1100", "fits"), ("gfx1151", "broken")])
def test_what_a_release_was_published_with_decides_where_no_list_is_told(target, severity):
    seen = rocm(amd(gfx_target=target), torch__version="2.7.1+rocm6.3", torch__arch_list=None)
    found = answer("rocm-kernels-missing", seen)
    assert found.severity == severity
    assert severity == "fits" or "whl/rocm7.14" in found.advice  # the newest build with code for it


def test_hip_itself_proves_that_code_is_missing():
    laptop = amd(name="AMD Radeon 8060S Graphics")
    laptop = replace(laptop, facts={})
    seen = report({"message.symptoms": "hip-invalid-device-function"}, (laptop,))
    found = answer("rocm-kernels-missing", seen)
    assert stated(found.title) == ("AMD Radeon 8060S Graphics", " (gfx1151)")
    assert "'torch==2.14.*' --index-url https://download.pytorch.org/whl/rocm7.14" in found.advice
    assert answers("error-message", seen) == []


@pytest.mark.parametrize(
    ("target", "built_for", "expected"),
    [
        ("gfx942", "gfx942", True),
        ("gfx90a", "gfx90a:sramecc+:xnack-", True),
        ("gfx1103", "gfx11-generic", True),
        ("gfx942", "gfx9-4-generic", True),
        ("gfx1031", "gfx1030", False),
        ("gfx90a", "gfx9-4-generic", False),
        ("gfx110", "gfx1100", False),
    ],
)
def test_code_runs_on_target_or_family(target, built_for, expected):
    assert has_code_for(target, built_for) is expected


# --- gfx-override ---

RADEON_VII, VEGA_64, RENOIR = ("AMD Radeon VII", "gfx906"), ("Radeon RX Vega 64", "gfx900"), ("Graphics", "gfx90c")
RX_6700, RX_7900 = ("AMD Radeon RX 6700 XT", "gfx1031"), ("AMD Radeon RX 7900 XTX", "gfx1100")


@pytest.mark.parametrize(
    ("card", "override", "severity"),
    [
        (RADEON_VII, "10.3.0", "broken"),
        (VEGA_64, "10.3.0", "broken"),
        (RX_7900, "10.3.0", "broken"),
        (VEGA_64, "9.0.6", "warning"),
        (RADEON_VII, "9.0.0", "warning"),
        (RADEON_VII, "9.0.10", "warning"),
        (RENOIR, "9.0.0", "fits"),
        (RX_6700, "10.3.0", "fits"),
        (RADEON_VII, "9.0.6", "fits"),
    ],
)
def test_an_override_is_judged_by_the_target_it_names(card, override, severity):
    name, target = card
    found = answer("gfx-override", rocm(amd(name=name, gfx_target=target), rocm__gfx_override=override))
    assert found.severity == severity
    assert found.source_url


def test_a_tool_that_was_let_pass_too_is_not_believed():
    seen = rocm(amd(name="AMD Radeon VII", gfx_target="gfx1030"), rocm__gfx_override="10.3.0")
    found = answer("gfx-override", seen)
    assert found.severity == "broken"
    assert "(gfx906) pass for gfx1030" in found.title


@pytest.mark.parametrize(
    ("card", "changes"),
    [
        (RADEON_VII, {}),
        (RADEON_VII, {"rocm__gfx_override": "gfx1030"}),
        (RADEON_VII, {"rocm__gfx_override": "10.3.0", "os__name": "Windows"}),
        (("Graphics", "gfx1030"), {"rocm__gfx_override": "10.3.0"}),
        (("AMD Radeon RX 5700 XT", "gfx1010"), {"rocm__gfx_override": "10.3.0"}),
    ],
)
def test_what_no_source_says_of_an_override_is_no_finding(card, changes):
    name, target = card
    assert answers("gfx-override", rocm(amd(name=name, gfx_target=target), **changes)) == []


@pytest.mark.parametrize(
    "line",
    [
        "export HSA_OVERRIDE_GFX_VERSION=10.3.0",
        "HSA_OVERRIDE_GFX_VERSION=10.3.0 python main.py --listen",
        "$ echo $HSA_OVERRIDE_GFX_VERSION\n10.3.0",
    ],
)
def test_the_override_is_read_where_a_shell_sets_it(line):
    [machine] = machines(read_all(line))
    assert machine.report().facts["rocm.gfx_override"] == "10.3.0"
