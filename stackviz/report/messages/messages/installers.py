"""pip, uv and conda find nothing to install."""

from stackviz.report.messages.symptom import Cause, Symptom

_PYTHON_INFO = (
    'python -VV; python -m pip --version; python -c "import platform; print(platform.platform(), platform.machine())"'
)
_PREVIOUS = "PyTorch, previous versions"
_PREVIOUS_URL = "https://pytorch.org/get-started/previous-versions/"

SYMPTOMS = (
    Symptom(
        key="no-matching-torch",
        message="ERROR: No matching distribution found for torch==2.0.1+cu117",
        patterns=(
            r"No matching distribution found for (?P<detail>(?:torch|torchvision|torchaudio|triton)\b[^\s]{0,40})",
            (
                r"Could not find a version that satisfies the requirement "
                r"(?P<detail>(?:torch|torchvision|torchaudio|triton)\b[^\s]{0,40})"
            ),
            r"Because there (?:is|are) no versions? of (?P<detail>torch\w{0,10})",
            r"(?P<detail>torch\w{0,10}\S{0,30}) has no (?:wheels|usable wheels)",
        ),
        anchors=(
            "no matching distribution",
            "could not find a version that",
            "because there is no version",
            "because there are no version",
            "has no wheels",
            "has no usable",
        ),
        component="pytorch",
        meaning="The index that was asked has no wheel of torch for this Python, this system or that version.",
        causes=(
            Cause(
                text="Python is newer or older than the release has wheels for.",
                sign="python --version is not among those of the release.",
                remedy="Use another Python: each release of torch supports about five.",
            ),
            Cause(
                text="The version with this suffix exists only in PyTorch's own index, and the index was not named.",
                sign="The version ends in +cu… or +rocm….",
                remedy="Add --index-url https://download.pytorch.org/whl/cu126 with the suffix of the version.",
            ),
            Cause(
                text="The index does not exist or has no wheels for this system: cu indexes have none for Macs.",
                sign="Opening the index in a browser shows nothing, or no file for this system.",
                remedy=(
                    "On a Mac: pip install torch. Elsewhere take the line of https://pytorch.org/get-started/locally/"
                ),
            ),
            Cause(
                text="Python is 32-bit, or the system is 32-bit ARM or musl.",
                sign="python -c \"import struct; print(struct.calcsize('P'))\" prints 4.",
                remedy="Use 64-bit Python on a system with glibc.",
            ),
        ),
        ask=_PYTHON_INFO,
        rules=("mac-cu-index",),
        source_title=_PREVIOUS,
        source_url=_PREVIOUS_URL,
    ),
    Symptom(
        key="wheel-not-supported",
        message="ERROR: torch-2.1.0+cu121-cp311-cp311-linux_x86_64.whl is not a supported wheel on this platform.",
        patterns=(r"(?P<detail>[\w.+-]{5,120}\.whl) is not a supported wheel on this platform",),
        anchors=("not a supported wheel",),
        component="python",
        meaning=(
            "The wheel's name says for which Python and system it is: cp311 is Python 3.11, linux_x86_64 the system."
        ),
        causes=(
            Cause(
                text="It is for another version of Python.",
                sign="python --version is not the one of the name.",
                remedy="Take the wheel for this Python, or the Python of the wheel.",
            ),
            Cause(
                text="It is for another system or processor.",
                sign="The name ends in another system.",
                remedy="Take the wheel for this system.",
            ),
        ),
        ask=_PYTHON_INFO,
        source_title="Python Packaging User Guide, platform compatibility tags",
        source_url="https://packaging.python.org/en/latest/specifications/platform-compatibility-tags/",
    ),
    Symptom(
        key="externally-managed",
        message="error: externally-managed-environment",
        patterns=(r"externally-managed-environment",),
        anchors=("externally-managed",),
        component="python",
        meaning="The distribution's own Python takes no packages from pip.",
        causes=(
            Cause(
                text="No virtual environment is active.",
                sign="which python prints /usr/bin/python3.",
                remedy="Make one: python3 -m venv .venv && . .venv/bin/activate",
            ),
        ),
        ask=_PYTHON_INFO,
        severity="warning",
        source_title="PEP 668",
        source_url="https://peps.python.org/pep-0668/",
    ),
    Symptom(
        key="conda-unsatisfiable",
        message="LibMambaUnsatisfiableError: Encountered problems while solving",
        patterns=(r"LibMambaUnsatisfiableError", r"UnsatisfiableError: The following specifications"),
        anchors=("unsatisfiableerror",),
        component="python",
        meaning="conda finds no set of packages in which all wishes hold. The lines below it name those that collide.",
        causes=(
            Cause(
                text="The environment holds packages that pin another version.",
                sign="A new environment with only the wanted packages is solved.",
                remedy="conda create -n torch python=3.12 (then install there)",
            ),
            Cause(
                text="The channel has no such build: PyTorch's own conda channel ended with torch 2.5.",
                sign="A newer torch is asked for with -c pytorch.",
                remedy="Install torch with pip, or pytorch-gpu from conda-forge.",
            ),
            Cause(
                text="The machine shows no CUDA, so that builds for it are ruled out.",
                sign="conda info lists no __cuda.",
                remedy="export CONDA_OVERRIDE_CUDA=12.6 (with the version that nvidia-smi shows, before the command)",
            ),
        ),
        ask="conda info",
        source_title="pytorch/pytorch issue 138506: the end of the conda channel",
        source_url="https://github.com/pytorch/pytorch/issues/138506",
    ),
)
