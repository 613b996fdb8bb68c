"""JAX, TensorFlow, ONNX Runtime and NVML's binding beside an NVIDIA card."""

import pytest

from stackviz.report.format import Software
from tests.report.rules.build import answer, answers, card, lacking, linux, mac, report

WINDOWS = {"os__name": "Windows", "os__version": "10.0.26100"}


def packages(found_by="package metadata", **versions):
    """Packages by name, an underscore for each hyphen."""
    return tuple(Software(name.replace("_", "-"), version, found_by) for name, version in versions.items())


# --- jax-cpu ---


def test_jax_is_advised_in_the_package_that_the_driver_runs():
    usual = packages(jax="0.12.0.1")
    newest = answer("jax-cpu", linux(software=usual))
    assert newest.advice.startswith('pip install -U "jax[cuda13]==0.12.0.1"')
    older = answer("jax-cpu", linux(software=usual, nvidia__driver_version="535.183.01"))
    assert older.advice.startswith('pip install -U "jax[cuda12]==0.12.0.1"')
    oldest = answer("jax-cpu", linux(software=usual, nvidia__driver_version="520.61.05"))
    assert "needs driver 525 or newer: has 520.61.05" in oldest.advice


def test_jax_without_plugin_runs_on_the_cpu():
    found = answer("jax-cpu", linux(software=packages(jax="0.12.0.1")))
    assert (found.severity, "jax[cuda13]" in found.advice) == ("warning", True)
    runtime = linux(software=packages(onnxruntime_gpu="1.22.0"), onnxruntime__providers="CPUExecutionProvider")
    assert answer("ort-silent-cpu", runtime).severity == found.severity


def test_jax_with_its_plugin_fits():
    assert answer("jax-cpu", linux(software=packages(jax="0.12.0.1", jax_cuda_plugin="0.12.0.1"))).severity == "fits"


def test_a_list_that_may_leave_the_plugin_out_cannot_tell():
    found = answer("jax-cpu", linux(software=packages("transformers-cli env", jax="0.6.0")))
    assert lacking(found) == "jax-cuda-plugin"


@pytest.mark.parametrize(
    "seen",
    [
        linux(),
        mac(software=packages(jax="0.5.0")),
        report({"os.name": "Ubuntu"}, software=packages(jax="0.5.0")),
        linux(software=packages(jax="0.4.13+cuda11.cudnn86")),
    ],
)
def test_jax_rule_needs_card_without_cuda(seen):
    assert answers("jax-cpu", seen) == []


# --- tf-windows ---


@pytest.mark.parametrize(("version", "severity"), [("2.11.0", "broken"), ("2.20.0", "broken"), ("2.10.1", "fits")])
def test_tensorflow_on_windows_itself_lost_its_cards(version, severity):
    finding = answer("tf-windows", linux(software=packages(tensorflow=version), **WINDOWS))
    assert finding.severity == severity
    assert any("card" in fact for fact in finding.evidence)


def test_a_tensorflow_of_unknown_version_cannot_be_told():
    found = answer("tf-windows", linux(software=packages(tensorflow=None), **WINDOWS))
    assert lacking(found) == "tensorflow"


@pytest.mark.parametrize(
    "seen",
    [
        linux(software=packages(tensorflow="2.20.0")),
        linux(software=packages(tensorflow="2.20.0"), os__wsl="2"),
        linux(**WINDOWS),
        report({"os.name": "Windows"}, software=packages(tensorflow="2.20.0")),
    ],
)
def test_elsewhere_or_without_a_card_tensorflow_is_not_judged(seen):
    assert answers("tf-windows", seen) == []


# --- ort-two-packages ---

BOTH = packages(onnxruntime="1.22.0", onnxruntime_gpu="1.22.0")


@pytest.mark.parametrize(
    ("providers", "severity"),
    [(None, "warning"), ("CPUExecutionProvider", "broken"), ("CUDAExecutionProvider CPUExecutionProvider", "warning")],
)
def test_both_packages_of_onnx_runtime_hide_the_card(providers, severity):
    assert answer("ort-two-packages", linux(software=BOTH, onnxruntime__providers=providers)).severity == severity


def test_both_packages_hide_no_card_where_none_is():
    seen = report({"os.name": "Ubuntu", "onnxruntime.providers": "CPUExecutionProvider"}, software=BOTH)
    assert answer("ort-two-packages", seen).severity == "warning"


@pytest.mark.parametrize("software", [(), packages(onnxruntime="1.22.0"), packages(onnxruntime_gpu="1.22.0")])
def test_one_package_of_onnx_runtime_or_none_is_no_finding(software):
    assert answers("ort-two-packages", linux(software=software)) == []


# --- ort-cudnn-major ---


@pytest.mark.parametrize(
    ("version", "cudnn", "severity"),
    [("1.22.0", "9.20.0", "fits"), ("1.22.0", "8.9.2", "broken"), ("1.17.0", "9.1.0", "broken"), ("1.17.0", "8.9.2", "fits")],
)  # fmt: skip
def test_each_onnx_runtime_asks_for_its_cudnn(version, cudnn, severity):
    seen = linux(software=packages(onnxruntime_gpu=version), cudnn__version=cudnn)
    assert answer("ort-cudnn-major", seen).severity == severity


def test_a_cudnn_among_the_packages_counts_too():
    software = packages(onnxruntime_gpu="1.22.0", cudnn="9.5.1.17")
    assert answer("ort-cudnn-major", linux(software=software, cudnn__version=None)).severity == "fits"


def test_without_a_cudnn_nobody_can_tell():
    found = answer("ort-cudnn-major", linux(software=packages(onnxruntime_gpu="1.22.0"), cudnn__version=None))
    assert lacking(found) == "cudnn.version"


@pytest.mark.parametrize(
    "seen",
    [
        linux(),
        linux(software=packages(onnxruntime="1.22.0")),
        linux(software=packages(onnxruntime_gpu=None)),
        report({"os.name": "Ubuntu"}, software=packages(onnxruntime_gpu="1.22.0")),
    ],
)
def test_without_the_package_or_a_card_cudnn_is_not_asked_for(seen):
    assert answers("ort-cudnn-major", seen) == []


# --- ort-silent-cpu ---


@pytest.mark.parametrize(
    ("software", "providers", "severity"),
    [
        (packages(onnxruntime_gpu="1.22.0"), "CPUExecutionProvider", "warning"),
        (packages(onnxruntime="1.22.0"), "AzureExecutionProvider CPUExecutionProvider", "note"),
        (packages(onnxruntime_gpu="1.22.0"), "CUDAExecutionProvider CPUExecutionProvider", "fits"),
    ],
)
def test_an_onnx_runtime_that_offers_no_card_is_told(software, providers, severity):
    found = answer("ort-silent-cpu", linux(software=software, onnxruntime__providers=providers))
    assert found.severity == severity


@pytest.mark.parametrize(
    "seen",
    [
        linux(software=packages(onnxruntime_gpu="1.22.0")),  # no sign of trouble: nothing is asked
        linux(software=BOTH, onnxruntime__providers="CPUExecutionProvider"),
        linux(onnxruntime__providers="CPUExecutionProvider"),
        report({"onnxruntime.providers": "CPUExecutionProvider"}, software=packages(onnxruntime="1.22.0")),
    ],
)
def test_onnx_runtime_rule_needs_card_and_answer(seen):
    assert answers("ort-silent-cpu", seen) == []


# --- packages with code for some cards ---


@pytest.mark.parametrize(
    ("component", "version", "capability", "severity"),
    [
        ("flash-attn", "2.8.3", "7.5", "broken"),
        ("flash-attn", "2.7.4.post1", "8.0", "fits"),
        ("flash-attn", "3.0.0b1", "9.0", "fits"),
        ("flash-attn", "3.0.0b1", "8.0", "broken"),
        ("vllm", "0.23.1", "7.0", "broken"),
        ("vllm", "0.23.1", "7.5", "fits"),
        ("bitsandbytes", "0.48.1", "5.2", "broken"),
        ("bitsandbytes", "0.45.0", "5.2", "fits"),
    ],
)
def test_each_package_serves_its_cards(component, version, capability, severity):
    software = (Software(component, version, "pip"),)
    seen = linux(card(compute_capability=capability), software=software)
    assert answer(f"{component}-card", seen).severity == severity


def test_a_card_of_unknown_capability_cannot_be_told():
    seen = linux(card(name="Some Card", compute_capability=None), software=packages(vllm="0.23.1"))
    assert (
        answer("vllm-card", seen).title
        == "Cannot tell whether vLLM supports the card: card 0 compute_capability not reported"
    )


@pytest.mark.parametrize(
    "seen",
    [
        linux(),
        linux(software=packages(vllm=None)),
        report({"os.name": "Ubuntu"}, software=packages(vllm="0.23.1")),
    ],
)
def test_without_the_package_its_version_or_a_card_there_is_nothing_to_serve(seen):
    assert answers("vllm-card", seen) == []


# --- pynvml-deprecated ---


def test_the_deprecated_binding_is_a_note():
    found = answer("pynvml-deprecated", linux(software=packages(pynvml="11.5.0", nvidia_ml_py="13.580.65")))
    assert (found.severity, found.evidence["pynvml"]) == ("note", "11.5.0")


@pytest.mark.parametrize("software", [(), packages(nvidia_ml_py="13.580.65")])
def test_the_right_binding_or_none_is_no_finding(software):
    assert answers("pynvml-deprecated", linux(software=software)) == []


# --- tf-other-cuda ---

NO_CUDA = {"message.symptoms": "tensorflow-no-cuda"}


@pytest.mark.parametrize(
    ("version", "toolkit", "expected"),
    [("2.13.1", "12.4.99", "11.8"), ("2.15.0", "11.8.89", "12.2"), ("2.13.1", None, "11.8")],
)
def test_a_tensorflow_that_finds_no_cuda_is_told_which_it_was_built_for(version, toolkit, expected):
    facts = {**NO_CUDA, **({"cuda.toolkit_version": toolkit} if toolkit else {})}
    seen = report(facts, software=packages(tensorflow=version))
    found = answer("tf-other-cuda", seen)
    assert (found.severity, f"is built for CUDA {expected}" in found.title) == ("warning", True)
    assert answers("error-message", seen) == [], "the message is explained once"


@pytest.mark.parametrize(
    "seen",
    [
        report(NO_CUDA, software=packages(tensorflow="2.99.0")),
        report({**NO_CUDA, "cuda.toolkit_version": "11.8.89"}, software=packages(tensorflow="2.13.1")),
        report({**NO_CUDA, "os.name": "Windows"}, software=packages(tensorflow="2.13.1")),
        report({"cuda.toolkit_version": "12.4.99"}, software=packages(tensorflow="2.13.1")),
        report(NO_CUDA),
    ],
    ids=["unknown", "right", "windows", "no-message", "no-version"],
)
def test_a_tensorflow_nobody_can_judge_has_its_message_explained(seen):
    assert answers("tf-other-cuda", seen) == []
