"""Linux under an NVIDIA card: containers that lose it, nouveau, Secure Boot; and a Linux driver inside WSL."""

from dataclasses import replace

import pytest

from tests.report.rules.build import UNSET, answer, answers, lacking, linux, mac, report

NO_DRIVER = {"nvidia__nvml_error": "Driver Not Loaded", "nvidia__kernel_module_version": None}


# --- nvml-unknown-container ---


@pytest.mark.parametrize(
    "error", ["Unknown Error", "nvidia-smi ended with 255: Failed to initialize NVML: Unknown Error"]
)
def test_a_container_that_lost_its_cards_is_broken(error):
    found = answer("nvml-unknown-container", linux(nvidia__nvml_error=error, machine__container="docker"))
    assert (found.severity, "docker" in found.title) == ("broken", True)


def test_where_no_container_is_reported_it_is_the_likeliest_cause():
    found = answer("nvml-unknown-container", linux(nvidia__nvml_error="Unknown Error"))
    assert (found.severity, "most likely a container" in found.title) == ("broken", True)
    assert "Less likely" in found.explanation


@pytest.mark.parametrize(
    "seen",
    [
        linux(machine__container="docker"),
        linux(nvidia__nvml_error="Unable to determine the device handle for GPU 0000:C1:00.0: Unknown Error"),
        linux(machine__container="docker", nvidia__nvml_error="Driver/library version mismatch"),
        linux(nvidia__nvml_error="Unknown Error", absent={"machine.container": UNSET}),
    ],
)
def test_another_error_or_no_container_is_no_lost_card(seen):
    assert answers("nvml-unknown-container", seen) == []


# --- nouveau ---


def test_nouveau_in_place_of_nvidia_is_broken():
    found = answer("nouveau", linux(os__modules="nouveau"))
    assert (found.severity, "blacklist nouveau" in found.advice) == ("broken", True)


def test_unloaded_driver_with_unknown_modules_is_open():
    assert lacking(answer("nouveau", linux(**NO_DRIVER))) == "os.modules"


@pytest.mark.parametrize(
    "seen",
    [
        linux(),  # most dumps tell no modules, and nothing fails
        linux(os__modules="nvidia nvidia_uvm"),
        linux(os__modules="nouveau nvidia"),  # another card's
        linux(os__modules="nouveau", os__wsl="2"),
        linux(**NO_DRIVER, absent={"os.modules": UNSET}),
        mac(),
    ],
)
def test_without_nouveau_or_trouble_there_is_no_finding(seen):
    assert answers("nouveau", seen) == []


# --- secure-boot ---

NOT_LOADED = {"nvidia__module_installed": True, "nvidia__kernel_module_version": None}


@pytest.mark.parametrize(
    "how",
    [{"os__modules": "i915"}, {"absent": {"os.modules": UNSET}}, {"absent": {"nvidia.kernel_module_version": UNSET}}],
)
def test_a_module_that_secure_boot_keeps_out_is_broken(how):
    found = answer("secure-boot", linux(os__secure_boot=True, **NOT_LOADED, **how))
    assert (found.severity, "mokutil" in found.advice) == ("broken", True)


def test_module_unloaded_for_unknown_reason_is_open():
    found = answer("secure-boot", linux(os__modules="i915", **NOT_LOADED))
    assert lacking(found) == "os.secure_boot"


@pytest.mark.parametrize(
    "seen",
    [
        linux(os__secure_boot=True),
        linux(os__secure_boot=True, nvidia__module_installed=True, os__modules="nvidia"),
        linux(os__secure_boot=False, os__modules="i915", **NOT_LOADED),
        linux(os__modules="i915", absent={"os.secure_boot": UNSET}, **NOT_LOADED),
        linux(os__secure_boot=True, os__modules="nouveau", **NOT_LOADED),
        linux(
            os__secure_boot=True, os__modules="i915", nvidia__module_installed=False, nvidia__kernel_module_version=None
        ),
        mac(),
    ],
)
def test_a_loaded_module_or_no_secure_boot_is_no_finding(seen):
    assert answers("secure-boot", seen) == []


# --- wsl2-linux-driver ---


@pytest.mark.parametrize(
    "path", ["/usr/lib/x86_64-linux-gnu/libcuda.so.535.183.01", "/usr/local/cuda/lib64/stubs/libcuda.so.1"]
)
def test_a_linux_driver_inside_wsl_is_broken(path):
    found = answer(
        "wsl2-linux-driver", linux(os__wsl="2", cuda__libcuda_path=path, cuda__available=False, cuda__init_code=100)
    )
    assert (found.severity, path in found.title) == ("broken", True)


def test_the_library_of_windows_fits():
    seen = linux(os__wsl="2", cuda__libcuda_path="/usr/lib/wsl/lib/libcuda.so.1")
    assert answer("wsl2-linux-driver", seen).severity == "fits"


@pytest.mark.parametrize("trouble", [{"cuda__available": False}, {"cuda__init_code": 100}])
def test_inside_wsl_with_trouble_the_library_is_asked_for(trouble):
    found = answer("wsl2-linux-driver", linux(os__wsl="2", **trouble))
    assert lacking(found) == "cuda.libcuda_path"


@pytest.mark.parametrize(
    "seen",
    [
        linux(os__wsl="2"),
        linux(cuda__libcuda_path="/usr/lib/x86_64-linux-gnu/libcuda.so.1"),
        linux(os__wsl="2", cuda__available=False, absent={"cuda.libcuda_path": UNSET}),
        report({"os.name": "Ubuntu", "os.wsl": "2", "cuda.available": False}),
    ],
)
def test_elsewhere_or_without_trouble_nobody_asks_for_the_library(seen):
    assert answers("wsl2-linux-driver", seen) == []


# --- docker-runtime ---


@pytest.mark.parametrize("message", ["docker-no-gpu-driver", "docker-unknown-runtime"])
def test_docker_without_the_runtime_explains_its_message(message):
    seen = linux(machine__docker_runtimes="io.containerd.runc.v2 runc", message__symptoms=f"no-torch {message}")
    assert answer("docker-runtime", seen).severity == "broken"


def test_docker_without_the_runtime_is_a_note_where_nothing_fails():
    assert answer("docker-runtime", linux(machine__docker_runtimes="runc")).severity == "note"


@pytest.mark.parametrize("runtimes", [{}, {"machine__docker_runtimes": "io.containerd.runc.v2 nvidia runc"}])
def test_docker_with_the_runtime_or_no_docker_is_no_finding(runtimes):
    assert answers("docker-runtime", linux(message__symptoms="docker-no-gpu-driver", **runtimes)) == []


def test_the_runtime_is_no_matter_on_a_machine_without_nvidia():
    seen = linux(machine__docker_runtimes="runc", nvidia__driver_version=None, absent={"nvidia.driver_version": UNSET})
    seen = replace(seen, cards=())
    assert answers("docker-runtime", seen) == []
