"""Libraries that hide those a package brought: cuDNN, nvJitLink, JAX's; and machine code for another torch."""

import pytest

from stackviz.report.format import Absent, Software
from tests.report.rules.build import SOFTWARE, UNSET, answer, answers, lacking, linux, mac, problems

IN_CUDNN = "ImportError: libcudnn_graph.so.9: undefined symbol: cudnnGetVersion"
IN_NVJITLINK = "ImportError: libcusparse.so.12: undefined symbol: __nvJitLinkComplete_12_4, version libnvJitLink.so.12"
TOOLKIT = "/usr/local/cuda-12.1/lib64"
SYSTEM_CUDNN = "/usr/lib/x86_64-linux-gnu/libcudnn.so.8"
JAX = (Software("jax", "0.12.0.1", "package metadata"), Software("jax-cuda-plugin", "0.12.0.1", "package metadata"))


def broken_import(error, **changes):
    return linux(torch__import_error=error, torch__version=None, **changes)


def test_a_healthy_machine_that_tells_all_this_has_no_problem():
    seen = linux(
        software=(
            *SOFTWARE, *JAX, Software("flash-attn", "2.8.3", "package metadata"),
            Software("onnxruntime-gpu", "1.31.1", "package metadata"), Software("cudnn", "9.20.0.48", "package metadata"),
            Software("nvidia-ml-py", "13.580.65", "package metadata"),
        ),
        absent={
            "torch.import_error": UNSET, "flash_attn.import_error": UNSET, "nvidia.nvml_error": UNSET,
            "machine.container": UNSET, "pip.index_url": UNSET, "torch.hip_version": UNSET,
        },
        env__ld_library_path="/opt/ros/humble/lib", os__modules="nvidia nvidia_modeset nvidia_uvm", os__secure_boot=True,
        nvidia__module_installed=True, cudnn__libraries=SYSTEM_CUDNN, cuda__libcuda_path="/usr/lib/libcuda.so.580.95.05",
        onnxruntime__providers="TensorrtExecutionProvider CUDAExecutionProvider CPUExecutionProvider",
    )  # fmt: skip
    assert problems(seen) == {}


# --- torch-import ---


def test_import_failure_quotes_torchs_error():
    found = answer("torch-import", broken_import("OSError: libc10.so: cannot open shared object file"))
    assert (found.severity, "libc10.so" in found.title) == ("broken", True)


def test_of_a_long_error_the_end_is_quoted():
    assert answer("torch-import", broken_import("x" * 5000 + " the end")).title.endswith("the end")


@pytest.mark.parametrize("seen", [linux(), mac(), linux(absent={"torch.import_error": UNSET})])
def test_a_torch_of_which_no_failure_is_told_is_no_finding(seen):
    assert answers("torch-import", seen) == []


def test_what_another_rule_explains_is_said_once():
    found = problems(broken_import(IN_NVJITLINK, env__ld_library_path=TOOLKIT))
    assert found["nvjitlink-shadow"] == "broken"
    assert "torch-import" not in found


# --- ld-library-path-cudnn ---


@pytest.mark.parametrize("fact", [{"env__ld_library_path": TOOLKIT}, {"cudnn__libraries": SYSTEM_CUDNN}])
def test_cudnn_import_failure_with_other_cudnn(fact):
    assert answer("ld-library-path-cudnn", broken_import(IN_CUDNN, **fact)).severity == "broken"


def test_cudnn_failure_without_search_path_is_open():
    found = answer("ld-library-path-cudnn", broken_import(IN_CUDNN))
    assert lacking(found) == "env.ld_library_path"


def test_cudnn_import_failure_alone_is_import_rule():
    seen = broken_import(IN_CUDNN, absent={"env.ld_library_path": UNSET, "cudnn.libraries": UNSET})
    assert answers("ld-library-path-cudnn", seen) == []
    assert answer("torch-import", seen).severity == "broken"


def test_search_path_to_other_cudnn_warns():
    seen = linux(
        env__ld_library_path="/opt/cudnn/lib/:/x", cudnn__libraries=f"{SYSTEM_CUDNN} /opt/cudnn/lib/libcudnn.so.9"
    )
    found = answer("ld-library-path-cudnn", seen)
    assert (found.severity, "/opt/cudnn/lib/libcudnn.so.9" in found.title) == ("warning", True)


@pytest.mark.parametrize(
    "seen",
    [
        linux(cudnn__libraries=SYSTEM_CUDNN),  # the loader prefers the bundled one
        linux(cudnn__libraries=SYSTEM_CUDNN, env__ld_library_path=TOOLKIT),
        linux(env__ld_library_path="/opt/ros/lib"),
        linux(
            torch__version="2.9.0a0+50eac811a6.nv25.09", env__ld_library_path="/opt/cudnn",
            cudnn__libraries="/opt/cudnn/libcudnn.so.9",
        ),
        linux(),
        linux(
            absent={"torch.cuda_version": UNSET}, torch__cuda_version=None, env__ld_library_path="/opt/cudnn",
            cudnn__libraries="/opt/cudnn/libcudnn.so.9",
        ),
        mac(),
    ],
)  # fmt: skip
def test_a_cudnn_of_the_system_alone_does_no_harm(seen):
    assert answers("ld-library-path-cudnn", seen) == []


# --- cudnn-wheel-incomplete ---

INCOMPLETE = (Software("cudnn", "9.20.0.48", "package metadata"),)
FOREIGN_PART = "/usr/lib/x86_64-linux-gnu/libcudnn_engines_tensor_ir.so.9"


def test_incomplete_cudnn_package_loads_the_systems():
    found = answer("cudnn-wheel-incomplete", linux(software=INCOMPLETE, cudnn__libraries=FOREIGN_PART))
    assert (found.severity, found.evidence["cudnn"]) == ("broken", "9.20.0.48")


@pytest.mark.parametrize(
    "seen",
    [
        linux(software=INCOMPLETE),  # nothing fails
        linux(software=INCOMPLETE, cudnn__libraries=SYSTEM_CUDNN),
        linux(software=INCOMPLETE, absent={"cudnn.libraries": UNSET}),
        linux(software=(Software("cudnn", "9.21.0.1", "pip"),), cudnn__libraries=FOREIGN_PART),
        linux(cudnn__libraries=FOREIGN_PART),
        mac(),
    ],
)
def test_other_releases_or_no_foreign_part_are_no_finding(seen):
    assert answers("cudnn-wheel-incomplete", seen) == []


def test_import_failure_without_libraries_is_open():
    seen = broken_import(IN_CUDNN, software=INCOMPLETE)
    assert lacking(answer("cudnn-wheel-incomplete", seen)) == "cudnn.libraries"


# --- nvjitlink-shadow ---


def test_a_toolkit_that_hides_nvjitlink_is_broken():
    found = answer("nvjitlink-shadow", broken_import(IN_NVJITLINK, env__ld_library_path=f"/x:{TOOLKIT}"))
    assert (found.severity, found.advice) == ("broken", "unset LD_LIBRARY_PATH")
    assert TOOLKIT in found.explanation


def test_nvjitlink_rule_needs_search_path():
    assert lacking(answer("nvjitlink-shadow", broken_import(IN_NVJITLINK))) == "env.ld_library_path"


@pytest.mark.parametrize(
    "seen",
    [
        linux(env__ld_library_path=TOOLKIT),
        broken_import("ImportError: something else", env__ld_library_path=TOOLKIT),
        broken_import(IN_NVJITLINK, env__ld_library_path="/opt/other"),
        broken_import(IN_NVJITLINK, absent={"env.ld_library_path": UNSET}),
    ],
)
def test_no_such_error_or_no_toolkit_is_no_hidden_nvjitlink(seen):
    assert answers("nvjitlink-shadow", seen) == []


# --- jax-ld-library-path ---


def test_a_search_path_with_a_toolkit_is_a_warning_for_jax():
    assert answer("jax-ld-library-path", linux(software=JAX, env__ld_library_path=TOOLKIT)).severity == "warning"


@pytest.mark.parametrize(
    "seen",
    [
        linux(env__ld_library_path=TOOLKIT),
        linux(software=JAX),  # a dump never tells the variable
        linux(software=JAX, env__ld_library_path="/opt/ros/lib:/usr/lib/wsl/lib"),
        linux(software=JAX, absent={"env.ld_library_path": UNSET}),
    ],
)
def test_jax_path_rule_needs_toolkit(seen):
    assert answers("jax-ld-library-path", seen) == []


# --- flash-attn-abi ---


def test_a_flash_attention_for_another_torch_is_broken():
    error = "flash_attn_2_cuda.so: undefined symbol: _ZN3c105ErrorC2ENS_14SourceLocation"
    found = answer("flash-attn-abi", linux(flash_attn__import_error=error))
    assert (found.severity, found.title) == ("broken", "flash-attn was built for a different torch")


def test_another_failure_of_flash_attention_is_told_as_it_is():
    found = answer("flash-attn-abi", linux(flash_attn__import_error="ModuleNotFoundError: No module named 'einops'"))
    assert (found.severity, "einops" in found.title) == ("broken", True)


@pytest.mark.parametrize(
    "seen",
    [
        linux(),
        linux(software=(Software("flash-attn", "2.8.3", "pip"),)),
        linux(absent={"flash_attn.import_error": Absent("not_applicable", "flash_attn can be imported")}),
    ],
)
def test_unreported_flash_attention_is_no_finding(seen):
    assert answers("flash-attn-abi", seen) == []


@pytest.mark.parametrize(("release", "count"), [("2.6.3", 1), ("2.8.3", 0)])
def test_a_flash_attn_from_before_this_torch_is_named(release, count):
    seen = linux(software=(*SOFTWARE, Software("flash-attn", release, "package metadata")), torch__version="2.9.1")
    assert len(answers("flash-attn-older", seen)) == count
