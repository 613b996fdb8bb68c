"""Settings in what people paste that keep programs off the card, whatever the machine has."""

from stackviz.report.messages.commands import COLLECT_ENV
from stackviz.report.messages.symptom import Cause, Symptom

SYMPTOMS = (
    Symptom(
        key="accelerate-use-cpu",
        message="- use_cpu: True",
        patterns=(r"\buse_cpu:\s{0,4}True\b",),
        anchors=("use_cpu:",),
        component="hf-accelerate",
        severity="warning",
        meaning="The default configuration of Accelerate says use_cpu: True, so that it leaves the GPU unused.",
        causes=(
            Cause(
                text="The answer in accelerate config was to train on the CPU only.",
                remedy="Run accelerate config again, or set use_cpu: false in the file that it names (to undo: true).",
            ),
        ),
        ask="accelerate env",
        source_title="huggingface/accelerate pull request 263: a flag to use the CPU only",
        source_url="https://github.com/huggingface/accelerate/pull/263",
    ),
    Symptom(
        key="cuda-index-never-existed",
        message="pip install torch --extra-index-url https://download.pytorch.org/whl/cu114",
        patterns=(
            r"download\.pytorch\.org/whl/(?:test/|nightly/)?(?P<detail>cu(?:112|114|119|120|122|123|125|127|131))\b",
            r"\btorch==\d\.\d{1,2}\.\d{1,2}\+(?P<detail>cu(?:112|114|119|120|122|123|125|127|131))\b",
        ),
        anchors=("download.pytorch.org/whl/", "torch=="),
        component="pytorch",
        meaning=(
            "No torch was ever published for this CUDA version: cu114 and its like do not exist. With "
            "--extra-index-url pip takes the wheel from its usual index instead, which may be built without CUDA."
        ),
        causes=(
            Cause(
                text="The CUDA version was taken from nvidia-smi or nvcc; torch brings its own and need not match it.",
                remedy=(
                    "Choose a published one that the driver supports: "
                    "https://pytorch.org/get-started/previous-versions/ lists them for each release."
                ),
            ),
        ),
        ask=COLLECT_ENV,
        source_title="PyTorch, Previous Versions",
        source_url="https://pytorch.org/get-started/previous-versions/",
    ),
)
