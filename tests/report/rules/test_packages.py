"""Which release of a framework runs under a driver, on a card, with a Python: by the tables, with the reason."""

import pytest

from stackviz.report.rules import packaged_tables
from stackviz.report.rules.package_releases import PACKAGES, PackageTarget, package_pythons
from stackviz.report.rules.packages import plan_package
from stackviz.report.rules.versions import is_below

TABLES = packaged_tables()
LINUX = "linux-x86_64"


def plan(component, capability, **more):
    return plan_package(TABLES, component, PackageTarget(LINUX, "linux", capability, **more))


@pytest.mark.parametrize(
    ("component", "capability", "driver", "spec", "needed"),
    [
        ("vllm", "8.6", "", "vllm==0.33.0", "580.65.06"),
        ("vllm", "8.6", "535", "vllm==0.19.1", "525.60.13"),
        ("vllm", "12.0", "570.86", "vllm==0.19.1", "570"),
        ("sglang", "9.0", "550.54", "sglang==0.5.10.post1", "525.60.13"),
        ("jax", "8.6", "580", '"jax[cuda13]==0.12.0.1"', "580"),
        ("jax", "8.6", "579.99", '"jax[cuda12]==0.12.0.1"', "525"),
        ("jax", "6.1", "", '"jax[cuda12]==0.12.0.1"', "525"),
        ("mlx", "8.6", "550.54.14", '"mlx[cuda12]==0.32.4"', "550.54.14"),
        ("tensorflow", "5.2", "", '"tensorflow[and-cuda]==2.16.2"', "525.60.13"),
    ],
)
def test_the_newest_release_that_runs_is_planned(component, capability, driver, spec, needed):
    found = plan(component, capability, driver=driver)
    assert (found.verdict, found.spec, found.release.driver) == ("works", spec, needed)


@pytest.mark.parametrize(
    ("component", "capability", "driver", "reason"),
    [
        ("mlx", "8.6", "550.54.13", "MLX 0.32.4 [cuda12] for CUDA 12.0 needs driver 550.54.14 or newer: has 550.54.13"),
        ("jax", "8.6", "524", "JAX 0.12.0.1 [cuda12] for CUDA 12.1 needs driver 525 or newer: has 524"),
        ("vllm", "12.0", "550.54", "Compute capability 12.0 begins with R570: has 550.54"),
        ("vllm", "7.0", "595.1", "R580 is the last branch for compute capability 7.0: has 595.1"),
        ("vllm", "6.1", "", "vLLM 0.33.0 needs compute capability 7.5 or newer"),
        ("mlx", "7.0", "", "MLX 0.32.4 [cuda13] needs compute capability 7.5 or newer"),
        ("tensorflow", "3.7", "", "TensorFlow 2.21.0 [and-cuda] needs compute capability 6.0 or newer"),
    ],
)
def test_where_none_runs_the_reason_is_a_number(component, capability, driver, reason):
    found = plan(component, capability, driver=driver)
    assert (found.verdict, found.release) == ("fails", None)
    assert reason in found.passed_over


def test_what_no_source_says_is_not_known():
    blackwell = plan("tensorflow", "12.0")
    assert blackwell.verdict == "cannot-tell"
    assert "CUDA 12.8 is the first one for compute capability 12.0" in blackwell.doubts[0]
    newest = TABLES.releases_of("nvidia-driver", "linux")[-1].version
    assert f"R{newest} is the newest branch on record" in plan("jax", "9.0", driver="999.1").doubts[0]


def test_a_python_chooses_the_newest_release_with_a_wheel():
    assert plan("vllm", "8.6", python="3.10").spec == "vllm==0.31.0"
    assert plan("vllm", "8.6", python="3.10").passed_over == ("vLLM 0.33.0 has no wheel for Python 3.10",)
    mac = PackageTarget("macos-arm64", "macos", macos="13", python="3.12")
    assert plan_package(TABLES, "mlx", mac).passed_over == (
        "MLX 0.32.4 needs macOS 14.0 or newer",
        "MLX 0.30.0 needs macOS 14.0 or newer",
    )


@pytest.mark.parametrize("component", PACKAGES)
def test_a_release_brings_only_what_has_wheels_for_its_pythons(component):
    """The torch, torchvision and torchaudio that a release pins pass the same tables, for every Python it lists."""
    for python in package_pythons(TABLES, component, LINUX):
        found = plan(component, "8.6", python=python)
        if found.release is None:
            continue
        assert python in found.release.pythons
        for package, version in found.release.pins:
            name = {"torch": "pytorch"}.get(package, package)
            rows = [row for row in TABLES.rows(name, "needs", "python", platform=LINUX) if row.version == version]
            assert any(python in row.values.split() or (row.low and not is_below(python, row.low)) for row in rows), (
                component,
                python,
                package,
                version,
            )
